//! Where the slots of a step's entry point are at each index of the loop.
//!
//! In: the arrays of the whole loop, the memory of the carried state. Out: for each slot an address that moves with the index, and what
//! is done to it before the call. Arrays of the loop are row-major without gaps, so a step's slice is at index times its bytes.

use crate::call::scratch::NoMemory;
use crate::function::repeat::memory::{Layout, StepMemory, Use};
use core_ad::CallPlan;
use core_ad::plan::{Part, Slot};
use core_ad::protocol::Entry;
use core_ad::shapes::Resolved;
use core_ad::signature::repeat::Share;
use std::ffi::c_void;

/// The arrays of a loop, one for each argument of the step; null where there is none.
#[derive(Clone, Default)]
pub(super) struct Arrays {
    pub inputs: Vec<*mut u8>,
    pub cotangents: Vec<*mut u8>,
    pub tangents: Vec<*mut u8>,
    pub directions: Vec<*mut u8>,
    /// Outputs, their tangents, or gradients of inputs: what the entry point computes. Not for the state.
    pub results: Vec<*mut u8>,
}

impl Arrays {
    pub(super) fn none(args: usize) -> Self {
        let none = || vec![std::ptr::null_mut(); args];
        Arrays { inputs: none(), cotangents: none(), tangents: none(), directions: none(), results: none() }
    }

    /// The same without results: what a sweep takes that computes states alone.
    pub(super) fn without_results(&self) -> Self {
        Arrays { results: vec![std::ptr::null_mut(); self.results.len()], ..self.clone() }
    }
}

/// The memory of the state, by part; null where an entry point has no such part.
#[derive(Clone, Copy)]
pub(super) struct StateMemory {
    pub primal: *mut u8,
    pub direction: *mut u8,
    pub shadow: *mut u8,
    pub change: *mut u8,
}

impl StateMemory {
    fn of(&self, part: Part) -> *mut u8 {
        match part {
            Part::Primal => self.primal,
            Part::Direction => self.direction,
            Part::Shadow => self.shadow,
            Part::ShadowChange => self.change,
        }
    }
}

/// What every slot of a loop has in common.
pub(super) struct Binding<'f> {
    pub plan: &'f CallPlan,
    pub shares: &'f [Share],
    pub resolved: &'f Resolved,
    pub layout: &'f Layout,
    pub memory: &'f StepMemory,
    /// Addresses of sizes; null for other arguments.
    pub sizes: &'f [*mut u8],
}

/// What is done to a slot's memory before a call.
#[derive(Clone, Copy)]
enum Prepare {
    Keep,
    Zero,
    Copy { from: *const u8, stride: usize },
}

/// A slot at every index.
#[derive(Clone, Copy)]
pub(super) struct Place {
    base: *mut u8,
    stride: usize,
    bytes: usize,
    prepare: Prepare,
}

impl Place {
    /// Prepares the slot for an index, and returns its address.
    ///
    /// # Safety
    ///
    /// The arrays that it was made of are there, and longer than the index.
    pub(super) unsafe fn at(&self, index: usize) -> *mut c_void {
        let address = self.base.wrapping_add(index * self.stride);
        // SAFETY: both are arrays with at least the argument's bytes at this index; what is written to is the loop's own.
        unsafe {
            match self.prepare {
                Prepare::Keep => {}
                Prepare::Zero => address.write_bytes(0, self.bytes),
                Prepare::Copy { from, stride } => {
                    address.copy_from_nonoverlapping(from.wrapping_add(index * stride), self.bytes);
                }
            }
        }
        address.cast()
    }
}

impl Binding<'_> {
    pub(super) fn bytes(&self, arg: usize) -> usize {
        self.resolved.elements(arg) * self.plan.args[arg].dtype.size()
    }

    /// The places of an entry point's slots.
    pub(super) fn places(
        &self,
        entry: Entry,
        mask: u64,
        arrays: &Arrays,
        state: &StateMemory,
    ) -> Result<Vec<Place>, NoMemory> {
        self.plan.slots(entry, mask).map(|slot| self.place(entry, slot, arrays, state)).collect()
    }

    fn place(&self, entry: Entry, slot: Slot, arrays: &Arrays, state: &StateMemory) -> Result<Place, NoMemory> {
        let (arg, part) = (slot.arg, slot.part);
        match self.shares[arg] {
            Share::Carried => {
                let base = state.of(part).wrapping_add(self.layout.offset(arg));
                Ok(self.fixed(arg, base, Prepare::Keep))
            }
            Share::Size => Ok(self.fixed(arg, self.sizes[arg], Prepare::Keep)),
            Share::Scratch => self.work(arg, part, Prepare::Zero),
            Share::Shared => self.input(entry, slot, arrays, 0),
            Share::Sliced => self.input(entry, slot, arrays, self.bytes(arg)),
            Share::SlicedInPlace => self.in_place(entry, slot, arrays),
            Share::Stacked => self.output(entry, slot, arrays),
        }
    }

    fn fixed(&self, arg: usize, base: *mut u8, prepare: Prepare) -> Place {
        Place { base, stride: 0, bytes: self.bytes(arg), prepare }
    }

    fn work(&self, arg: usize, part: Part, prepare: Prepare) -> Result<Place, NoMemory> {
        let memory = self.memory.of(arg, Use::Work(part), self.bytes(arg))?;
        Ok(self.fixed(arg, memory, prepare))
    }

    /// An input that is only read: all steps share it (`stride` 0), or each has its slice.
    fn input(&self, entry: Entry, slot: Slot, arrays: &Arrays, stride: usize) -> Result<Place, NoMemory> {
        let (arg, bytes) = (slot.arg, self.bytes(slot.arg));
        let row = |base: *mut u8, prepare| Place { base, stride, bytes, prepare };
        let zeros = || Ok(self.fixed(arg, self.memory.of(arg, Use::Zeros, bytes)?, Prepare::Keep));
        let read = |base: *mut u8| if base.is_null() { zeros() } else { Ok(row(base, Prepare::Keep)) };
        let is_reverse = matches!(entry, Entry::Vjp | Entry::Hvp);
        match (slot.part, is_reverse) {
            (Part::Primal, _) => Ok(row(arrays.inputs[arg], Prepare::Keep)),
            (Part::Direction, true) | (Part::Shadow, false) => read(arrays.tangents[arg]),
            (Part::Direction, false) => read(arrays.directions[arg]),
            // The input itself does not change along a second direction.
            (Part::ShadowChange, false) => zeros(),
            (Part::Shadow | Part::ShadowChange, true) => {
                let is_result = slot.part == if entry == Entry::Vjp { Part::Shadow } else { Part::ShadowChange };
                if is_result && !arrays.results[arg].is_null() {
                    // A sum over the steps begins with zeros that are there before the first one.
                    return Ok(row(arrays.results[arg], if stride == 0 { Prepare::Keep } else { Prepare::Zero }));
                }
                let sink = self.memory.of(arg, Use::Sink(slot.part), bytes)?;
                Ok(self.fixed(arg, sink, Prepare::Keep))
            }
        }
    }

    /// What an entry point computes, in a slice of the result where it is wanted.
    fn result(&self, slot: Slot, arrays: &Arrays, prepare: Prepare) -> Result<Place, NoMemory> {
        let bytes = self.bytes(slot.arg);
        match arrays.results[slot.arg] {
            base if base.is_null() => self.work(slot.arg, slot.part, prepare),
            base => Ok(Place { base, stride: bytes, bytes, prepare }),
        }
    }

    fn output(&self, entry: Entry, slot: Slot, arrays: &Arrays) -> Result<Place, NoMemory> {
        match (entry, slot.part) {
            (Entry::Primal, _) | (Entry::Jvp, Part::Shadow) | (Entry::Jvp2, Part::ShadowChange) => {
                self.result(slot, arrays, Prepare::Zero)
            }
            (Entry::Vjp | Entry::Hvp, Part::Shadow) => {
                self.work(slot.arg, slot.part, self.slice(slot.arg, arrays.cotangents[slot.arg]))
            }
            _ => self.work(slot.arg, slot.part, Prepare::Zero),
        }
    }

    fn in_place(&self, entry: Entry, slot: Slot, arrays: &Arrays) -> Result<Place, NoMemory> {
        let arg = slot.arg;
        let slice = |of: &[*mut u8]| self.slice(arg, of[arg]);
        let work = |of: &[*mut u8]| self.work(arg, slot.part, slice(of));
        let result = |of: &[*mut u8]| self.result(slot, arrays, slice(of));
        match (slot.part, entry) {
            (Part::Primal, Entry::Primal) => result(&arrays.inputs),
            (Part::Primal, _) => work(&arrays.inputs),
            (Part::Direction, Entry::Hvp) => work(&arrays.tangents),
            (Part::Direction, _) => work(&arrays.directions),
            (Part::Shadow, Entry::Jvp) => result(&arrays.tangents),
            (Part::Shadow, Entry::Jvp2) => work(&arrays.tangents),
            (Part::Shadow, Entry::Hvp) => work(&arrays.cotangents),
            (Part::Shadow, _) => result(&arrays.cotangents),
            (Part::ShadowChange, _) => self.result(slot, arrays, Prepare::Zero),
        }
    }

    /// A copy of an array's slice, zeros where there is no array.
    fn slice(&self, arg: usize, from: *mut u8) -> Prepare {
        match from.is_null() {
            true => Prepare::Zero,
            false => Prepare::Copy { from, stride: self.bytes(arg) },
        }
    }
}

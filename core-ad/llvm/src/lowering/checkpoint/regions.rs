//! The memory of a loop: which objects it reads and writes, how large they are, and what is refused since that cannot be known.
//!
//! An object is an argument of the wrapper, a variable, or what an allocation returns; two of them never overlap. What the loop writes is its
//! state. What it only reads is copied once, unless nothing that runs behind the loop writes it. A variable whose life begins inside an iteration, and what
//! an iteration allocates, belong to that iteration.

use super::sizes::reallocates;
use super::target::Target;
use super::{Refusal, refusal};
use crate::analysis::cfg::{Cfg, Dominators};
use crate::analysis::memory_objects::{Objects, allocates, origins};
use crate::ir::markers::is_type_marker;
use crate::ir::{self, Op, Value};
use crate::lowering::caught::build::Edit;
use crate::rules::lifetimes::FREEING;
use core_ad::{Arg, CallPlan, DType, Role};
use inkwell::module::Module;
use llvm_sys::core::*;
use std::collections::{HashMap, HashSet};

/// What a loop does with a region, as `runtime/checkpoint.c` numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing writes it behind the beginning of the loop.
    Constant = 0,
    /// The loop only reads it.
    Read = 1,
    /// The loop writes it.
    State = 2,
}

/// An object.
pub struct Region {
    /// What makes it: an argument, a variable, an allocation, or one of several allocations.
    pub objects: Vec<Value>,
    /// Its address before the loop: that, or a phi of several allocations, or of one and null.
    pub base: Value,
    /// Whether it is such a phi.
    pub is_merged: bool,
    /// Its size, known before the loop.
    pub bytes: Value,
    /// What the loop does with it.
    pub kind: Kind,
    /// The type of its elements, where it is an argument.
    pub dtype: Option<DType>,
}

/// The memory of a loop.
pub struct Memory {
    /// What is there before it.
    pub regions: Vec<Region>,
    /// Variables that belong to one iteration.
    pub private: Vec<Value>,
}

impl Memory {
    /// The number of the region of an object, or with this address.
    pub fn number(&self, value: Value) -> Option<usize> {
        self.regions.iter().position(|r| r.base == value || r.objects.contains(&value))
    }
}

/// Functions of libm that depend on their arguments alone.
const MATH: [&str; 50] = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "j0",
    "j1",
    "jn",
    "ldexp",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "lround",
    "pow",
    "remainder",
    "rint",
    "round",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
    "y0",
    "y1",
    "yn",
];

/// Whether a name is one of them, or of its complex kind: `cexp`, `cabs`.
fn is_math(name: &str) -> bool {
    let of_complex = |name: &str| name == "abs" || name == "arg" || MATH.contains(&name);
    MATH.contains(&name) || name.strip_prefix('c').is_some_and(of_complex)
}

/// Those that write a result through a pointer as well.
const WRITING: [&str; 3] = ["sincos", "modf", "frexp"];

/// Beginnings of names that write to a file or a terminal.
const OUTPUT: [&str; 14] = [
    "printf",
    "__printf",
    "puts",
    "putchar",
    "fprintf",
    "__fprintf",
    "fputs",
    "fputc",
    "fwrite",
    "write",
    "_ZNSo",
    "_ZSt4endl",
    "_ZStls",
    "_FortranAio",
];

const RERUN: &str = "Iterations are run again in the reverse sweep: move it out of the loop.";

/// What an access does.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    Read,
    Write,
}

/// Collects the memory of a loop.
///
/// # Errors
///
/// What cannot be known.
pub fn of<'ctx>(module: &Module<'ctx>, plan: &CallPlan, target: &Target<'ctx>, edit: &Edit) -> Result<Memory, Refusal> {
    let blocks = ir::blocks(target.function);
    let cfg = Cfg::of(&blocks);
    let finder = Finder {
        module,
        plan,
        target,
        edit,
        dominators: cfg.dominators(),
        cfg,
        touched: HashMap::new(),
        order: Vec::new(),
        private: HashSet::new(),
    };
    finder.find()
}

/// Walks through a loop.
pub(super) struct Finder<'a, 'ctx> {
    pub(super) module: &'a Module<'ctx>,
    pub(super) plan: &'a CallPlan,
    pub(super) target: &'a Target<'ctx>,
    pub(super) edit: &'a Edit,
    pub(super) cfg: Cfg,
    pub(super) dominators: Dominators,
    touched: HashMap<Value, (bool, Value)>,
    order: Vec<Value>,
    private: HashSet<Value>,
}

impl Finder<'_, '_> {
    fn find(mut self) -> Result<Memory, Refusal> {
        self.find_private();
        for i in self.target.instructions() {
            self.look_at(i)?;
        }
        // Pointers that leave the loop, or go round, lead to objects that are known.
        let phis = self.target.header().phis();
        for phi in phis.into_iter().filter(|p| p.is_pointer()) {
            self.touch(phi, phi, Does::Read)?;
        }
        let order = std::mem::take(&mut self.order);
        let merged = self.merge(&order, |object| self.touched[&object].1)?;
        let mut regions: Vec<Region> = Vec::new();
        for object in order {
            if regions.iter().any(|r| r.objects.contains(&object)) {
                continue;
            }
            let base = merged.get(&object).copied();
            let mut objects: Vec<Value> = vec![object];
            objects.extend(merged.keys().filter(|o| **o != object && base.is_some() && merged.get(o) == base.as_ref()));
            regions.push(self.region(objects, base)?);
        }
        let private = self.private.iter().copied().filter(|v| v.is(Op::LLVMAlloca) && !self.target.has(*v)).collect();
        Ok(Memory { regions, private })
    }

    /// The region of an object, or of allocations that are merged in an address.
    fn region(&self, objects: Vec<Value>, merged: Option<Value>) -> Result<Region, Refusal> {
        let (object, touched) = (objects[0], |o: &Value| self.touched.get(o).copied());
        let access = self.touched[&object].1;
        self.edit.before(self.target.before.terminator());
        let bytes = match merged {
            None => self.size(object, access)?,
            Some(base) => self.size_of_merged(base, access)?,
        };
        let kind = if objects.iter().filter_map(touched).any(|(writes, _)| writes) {
            Kind::State
        } else if objects.iter().all(|o| self.is_left_alone(*o)) {
            Kind::Constant
        } else {
            Kind::Read
        };
        let dtype = self.argument(object).map(|a| a.dtype);
        Ok(Region { base: merged.unwrap_or(object), objects, is_merged: merged.is_some(), bytes, kind, dtype })
    }

    /// Variables whose life begins in an iteration, and that nothing outside of the loop uses; blocks with the arguments of functions with
    /// derivatives of their own are written again before each call.
    fn find_private(&mut self) {
        let begins = |name: String| name.starts_with("llvm.lifetime.start") || name.starts_with("ffgrad.shim.");
        for i in self.target.instructions() {
            if i.callee().is_some_and(begins) {
                let variable = i.operands().into_iter().find(|o| o.is(Op::LLVMAlloca));
                let Some(variable) = variable else { continue };
                let fixed = variable.operand(0).constant().is_some();
                if fixed && self.is_used_inside_only(variable) {
                    self.private.insert(variable);
                }
            }
        }
    }

    fn is_used_inside_only(&self, pointer: Value) -> bool {
        let (mut open, mut seen) = (vec![pointer], HashSet::new());
        while let Some(value) = open.pop() {
            for user in value.users() {
                if !self.target.has(user) {
                    return false;
                }
                let goes_on = matches!(user.op(), Some(Op::LLVMGetElementPtr | Op::LLVMSelect | Op::LLVMPHI));
                if goes_on && seen.insert(user) {
                    open.push(user);
                }
            }
        }
        true
    }

    fn look_at(&mut self, i: Value) -> Result<(), Refusal> {
        let refuse = |what: &str, advice: &str| Err(refusal::of(self.target, i, what, advice));
        match i.op() {
            Some(Op::LLVMLoad) if i.is_special() => refuse("it reads volatile or atomic memory", RERUN),
            Some(Op::LLVMLoad) => self.touch(i, i.operand(0), Does::Read),
            Some(Op::LLVMStore) if i.is_special() => refuse("it writes to volatile or atomic memory", RERUN),
            Some(Op::LLVMStore) => {
                if i.operand(0).is_pointer() && !self.leads_inside_only(i.operand(1)) {
                    return refuse(
                        "it stores an address",
                        "Addresses may go from iteration to iteration in variables of the function, not in arrays or structures.",
                    );
                }
                self.touch(i, i.operand(1), Does::Write)
            }
            Some(Op::LLVMCall) => self.look_at_call(i),
            Some(Op::LLVMAlloca) => {
                self.private.insert(i);
                Ok(())
            }
            Some(Op::LLVMAtomicRMW | Op::LLVMAtomicCmpXchg | Op::LLVMFence) => {
                refuse("it updates memory atomically", "Let one thread do the work, or checkpoint a loop around it.")
            }
            Some(Op::LLVMInvoke | Op::LLVMLandingPad | Op::LLVMResume | Op::LLVMCallBr | Op::LLVMIndirectBr) => {
                refuse("an exception may be thrown and caught in it", "Catch exceptions outside of the loop.")
            }
            Some(Op::LLVMIntToPtr) => refuse("it computes an address from a number", RERUN),
            _ => Ok(()),
        }
    }

    fn look_at_call(&mut self, call: Value) -> Result<(), Refusal> {
        let name = call.callee().unwrap_or_default();
        let starts = |beginnings: &[&str]| beginnings.iter().any(|b| name.starts_with(b));
        if starts(&["llvm.memcpy.", "llvm.memmove."]) {
            self.touch(call, call.operand(0), Does::Write)?;
            return self.touch(call, call.operand(1), Does::Read);
        }
        if name.starts_with("llvm.memset.") {
            return self.touch(call, call.operand(0), Does::Write);
        }
        let is_neutral = starts(&[
            "llvm.lifetime.",
            "llvm.dbg.",
            "llvm.assume",
            "llvm.experimental.noalias",
            "llvm.invariant.",
            "llvm.stack",
            "llvm.prefetch",
            super::anchor::ANCHOR,
        ]) || is_type_marker(&name);
        if is_neutral || call.only_computes() {
            return Ok(());
        }
        if is_math(&name) || name.strip_suffix('f').is_some_and(is_math) {
            return Ok(());
        }
        if WRITING.contains(&name.strip_suffix('f').unwrap_or(&name)) || WRITING.contains(&name.as_str()) {
            let pointers = crate::analysis::foreign_calls::arguments(call).filter(|a| a.is_pointer());
            return pointers.into_iter().try_for_each(|p| self.touch(call, p, Does::Write));
        }
        if allocates(&name) {
            self.private.insert(call);
            return Ok(());
        }
        if FREEING.contains(&name.as_str()) {
            let own = self.leads_inside_only(call.operand(0));
            let what = "it frees memory that was allocated before it";
            let advice = "Free it behind the loop. Where a vector takes another one's place, swap the two.";
            return if own { Ok(()) } else { Err(refusal::of(self.target, call, what, advice)) };
        }
        if name.starts_with("ffgrad.shim.") {
            return self.look_at_rule(call, &name);
        }
        self.refuse_call(call, &name)
    }

    /// A function with a derivative of its own reads and writes what it is given addresses of, which stand in a block of its iteration
    /// (`rules/shim.rs`). It may use memory in the reverse sweep that the iteration frees.
    fn look_at_rule(&mut self, call: Value, name: &str) -> Result<(), Refusal> {
        let frees = |i: &Value| i.callee().is_some_and(|name| FREEING.contains(&name.as_str()));
        if let Some(free) = self.target.instructions().into_iter().find(frees) {
            let rule = core_ad::names::demangle(name.trim_start_matches("ffgrad.shim."));
            let what = format!("it frees memory, and calls `{rule}`, which has a derivative of its own");
            return Err(refusal::of(self.target, free, &what, "Allocate the memory before the loop."));
        }
        let blocks = origins(call.operand(0));
        let given: Vec<Value> = self
            .target
            .instructions()
            .into_iter()
            .filter(|i| i.is(Op::LLVMStore) && i.operand(0).is_pointer() && !origins(i.operand(1)).is_disjoint(&blocks))
            .map(|store| store.operand(0))
            .collect();
        given.into_iter().try_for_each(|pointer| self.touch(call, pointer, Does::Write))
    }

    fn refuse_call(&self, call: Value, name: &str) -> Result<(), Refusal> {
        let called = refusal::called(call);
        let (what, advice) = if OUTPUT.iter().any(|o| name.starts_with(o)) {
            (format!("it writes output ({called})"), RERUN)
        } else if name.starts_with("ffgrad.caught") || name.starts_with("ffgrad.eh.") || name.starts_with("__cxa_") {
            (
                "an exception may be thrown and caught in it".to_owned(),
                "Objects that own memory, and that an iteration makes, need that: make them before the loop.",
            )
        } else if name == "ffgrad.object" {
            (
                "it calls a function through a pointer, of an object or a virtual one".to_owned(),
                "Call it by its name, or repeat the function with `repeat=` in place of the loop.",
            )
        } else if call.calls_a_body() {
            (
                format!("it calls {called}, which cannot be made part of it"),
                "Functions that call themselves, and inactive ones, cannot stand in such a loop.",
            )
        } else {
            (format!("it calls {called}, and what that does to memory is not known"), RERUN)
        };
        Err(refusal::of(self.target, call, &what, advice))
    }

    /// Whether a pointer leads to what belongs to the iteration.
    fn leads_inside_only(&self, pointer: Value) -> bool {
        origins(pointer).iter().all(|o| self.is_own(*o))
    }

    fn is_own(&self, origin: Value) -> bool {
        self.private.contains(&origin)
            || self.target.has(origin) && origin.callee().is_some_and(|name| allocates(&name))
            || self.target.has(origin) && origin.is(Op::LLVMAlloca)
    }

    /// Notes what an access does to the objects that its address may lead to.
    fn touch(&mut self, access: Value, pointer: Value, does: Does) -> Result<(), Refusal> {
        for origin in origins(pointer) {
            if self.is_own(origin) {
                if access.is(Op::LLVMPHI) {
                    let what = "an address of memory that one iteration allocates goes to the next one";
                    let advice = "Allocate it before the loop, and swap the two, or copy.";
                    return Err(refusal::of(self.target, origin, what, advice));
                }
                continue;
            }
            if is_global(origin) {
                self.touch_global(access, origin, does)?;
                continue;
            }
            let is_object = origin.is(Op::LLVMAlloca)
                || origin.callee().is_some_and(|name| allocates(&name) || reallocates(&name))
                || self.argument(origin).is_some();
            if !is_object || self.target.has(origin) {
                return Err(refusal::unknown_memory(self.target, access, origin));
            }
            let writes = does == Does::Write;
            match self.touched.get_mut(&origin) {
                Some(known) if writes && !known.0 => *known = (true, access),
                Some(_) => {}
                None => {
                    self.touched.insert(origin, (writes, access));
                    self.order.push(origin);
                }
            }
        }
        Ok(())
    }

    fn touch_global(&self, access: Value, global: Value, does: Does) -> Result<(), Refusal> {
        // SAFETY: a live global.
        let is_constant = unsafe { !LLVMIsAFunction(global.0).is_null() || LLVMIsGlobalConstant(global.0) != 0 };
        if does == Does::Read && (is_constant || is_only_read(global)) {
            return Ok(());
        }
        let what = if does == Does::Write {
            "it writes to a global variable"
        } else {
            "it reads a global variable that is written"
        };
        Err(refusal::of(self.target, access, what, "Make it a local variable, or a parameter that is passed on."))
    }

    pub(super) fn is_before(&self, base: Value) -> bool {
        let before = self.cfg.number(self.target.before);
        !base.is_instruction() || self.dominators.dominates(self.cfg.number(base.parent()), before)
    }

    /// The argument that a pointer is.
    pub(super) fn argument(&self, value: Value) -> Option<&Arg> {
        let number = ir::arguments(self.target.function).iter().position(|a| *a == value)?;
        self.plan.args.get(number).filter(|a| !a.is_by_value())
    }

    /// Whether nothing behind the beginning of the loop writes to an object.
    fn is_left_alone(&self, base: Value) -> bool {
        // What the caller has of results is the caller's before the reverse sweep.
        if self.argument(base).is_some_and(|a| a.role != Role::Input) {
            return false;
        }
        let objects = Objects::of(self.target.function);
        let &[number] = objects.underlying(base) else { return false };
        let object = objects.get(number);
        let start = self.cfg.number(self.target.header());
        let behind = self.cfg.reached_from(start, |_| true);
        !object.escapes && !object.writes.iter().any(|w| behind[self.cfg.number(w.parent())])
    }
}

fn is_global(value: Value) -> bool {
    // SAFETY: asked of a live value.
    unsafe { !LLVMIsAGlobalValue(value.0).is_null() }
}

/// Whether every use of a global is a load.
fn is_only_read(global: Value) -> bool {
    let (mut open, mut seen) = (vec![global], HashSet::new());
    while let Some(value) = open.pop() {
        for user in value.users() {
            let is_address = user.is(Op::LLVMGetElementPtr) || !user.is_instruction();
            if is_address && seen.insert(user) {
                open.push(user);
            } else if !is_address && !user.is(Op::LLVMLoad) {
                return false;
            }
        }
    }
    true
}

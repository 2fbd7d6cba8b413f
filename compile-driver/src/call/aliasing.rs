//! Copies tangents that share memory with their primals.
//!
//! Between Enzyme and a derivative that stands for a function (`core-ad/llvm/src/rules/`) a pointer that is its own
//! shadow means: no derivative. So a tangent that the caller keeps in the memory of the input itself, as in `jvp(f, x, x)`,
//! would be taken for zero. It is copied.

use crate::call::arguments::Call;
use crate::call::copies::{COPIES, count};
use crate::error::Result;
use core_ad::Role;
use core_ad::plan::Part;
use core_ad::protocol::Entry;
use std::ffi::c_void;

impl Call<'_> {
    /// Copies the tangents in `slots` that are in the memory of their own input. Nothing else is both given by the caller
    /// and passed in place: cotangents are copied, results are written to.
    pub(crate) fn separate_aliases(&self, entry: Entry, mask: u64, slots: &mut [*mut c_void]) -> Result<()> {
        let parts: &[Part] = match entry {
            Entry::Jvp => &[Part::Shadow],
            Entry::Hvp => &[Part::Direction],
            Entry::Jvp2 => &[Part::Direction, Part::Shadow],
            Entry::Primal | Entry::Vjp | Entry::Augmented | Entry::Reverse => return Ok(()),
        };
        let mut primal = std::ptr::null_mut();
        for (slot, address) in self.plan.slots(entry, mask).zip(slots) {
            if slot.part == Part::Primal {
                primal = *address;
            } else if self.plan.args[slot.arg].role == Role::Input && parts.contains(&slot.part) {
                let bytes = self.bytes(slot.arg);
                if address.addr().abs_diff(primal.addr()) < bytes {
                    *address = self.copied(*address, bytes)?;
                }
            }
        }
        Ok(())
    }

    fn copied(&self, from: *mut c_void, bytes: usize) -> Result<*mut c_void> {
        let copy = self.memory(bytes)?;
        count(&COPIES.cotangents, bytes);
        // SAFETY: the slot has the argument's bytes, the copy is fresh.
        unsafe { copy.copy_from_nonoverlapping(from.cast(), bytes) };
        Ok(copy.cast())
    }
}

//! Lets loops over addresses count, for second derivatives.
//!
//! ```text
//! for (const double *p = q; p < q + n; p++) sum += *p * *p;
//! ```
//!
//! Inside Enzyme LLVM computes the number of iterations from the addresses (`umax(q + 8, q + 8 n) - q`). Enzyme's second run takes these integers for
//! addresses that have shadows, and makes phis without operands of them. So such a loop gets a counter of its own, and its end the distance of the
//! addresses, from a function that neither looks into ([`difference`]).

use crate::analysis::cfg::{LoopNest, NaturalLoop};
use crate::ir::markers::difference;
use crate::ir::{self, Op, Value};
use crate::lowering::caught::build::Edit;
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::values::AsValueRef;
use llvm_sys::LLVMIntPredicate::{self, *};
use llvm_sys::core::*;
use llvm_sys::target::LLVMABISizeOfType;

/// A comparison that ends a loop.
struct Ending {
    /// The comparison.
    compares: Value,
    /// The address in the header, and its first value.
    phi: Value,
    start: Value,
    /// Bytes from one iteration to the next.
    stride: i64,
    /// Whether the address of the next iteration is compared.
    is_next: bool,
    /// What it is compared with.
    end: Value,
    /// The predicate with the address on the left.
    predicate: LLVMIntPredicate,
}

/// Rewrites the comparisons of every function.
pub fn run(module: &Module<'_>) {
    let edit = Edit::of(module);
    for function in ir::functions(module) {
        let Some(nest) = LoopNest::of(function) else { continue };
        for by in &nest.loops {
            for ending in endings(module, &nest, by) {
                rewrite(module, &edit, &nest, by, &ending);
            }
        }
    }
}

fn endings(module: &Module<'_>, nest: &LoopNest, by: &NaturalLoop) -> Vec<Ending> {
    let &[latch] = &by.latches[..] else { return Vec::new() };
    let inside = |v: Value| v.is_instruction() && nest.is_in(v, by);
    let mut found = Vec::new();
    for phi in nest.blocks[by.header].phis().into_iter().filter(|phi| phi.is_pointer() && phi.incoming().len() == 2) {
        let incoming = phi.incoming();
        let Some((next, _)) = incoming.iter().find(|(_, from)| *from == nest.blocks[latch]).copied() else { continue };
        let Some((start, _)) = incoming.iter().find(|(_, from)| *from != nest.blocks[latch]).copied() else { continue };
        let Some(stride) = stride(module, next, phi) else { continue };
        for address in [phi, next] {
            for compares in address.users().into_iter().filter(|u| u.is(Op::LLVMICmp) && inside(*u)) {
                let is_left = compares.operand(0) == address;
                let end = compares.operand(u32::from(is_left));
                // SAFETY: a live comparison.
                let predicate = unsafe { LLVMGetICmpPredicate(compares.0) };
                let predicate = if is_left { predicate } else { mirrored(predicate) };
                let fits = match predicate {
                    LLVMIntEQ | LLVMIntNE => true,
                    LLVMIntULT => stride > 0,
                    LLVMIntUGT => stride < 0,
                    _ => false,
                };
                if fits && !inside(end) && !end.is_null_or_undefined() {
                    let is_next = address == next;
                    found.push(Ending { compares, phi, start, stride, is_next, end, predicate });
                }
            }
        }
    }
    found
}

fn mirrored(predicate: LLVMIntPredicate) -> LLVMIntPredicate {
    match predicate {
        LLVMIntULT => LLVMIntUGT,
        LLVMIntUGT => LLVMIntULT,
        other => other,
    }
}

/// The constant distance of an address from the one of a phi.
fn stride(module: &Module<'_>, next: Value, phi: Value) -> Option<i64> {
    if !next.is(Op::LLVMGetElementPtr) || next.operand(0) != phi || next.operands().len() != 2 {
        return None;
    }
    let layout = TargetData::create(&module.get_data_layout().as_str().to_string_lossy());
    // SAFETY: the type of a live instruction's elements.
    let size = unsafe { LLVMABISizeOfType(layout.as_mut_ptr(), LLVMGetGEPSourceElementType(next.0)) };
    let stride = next.operand(1).constant()?.checked_mul(i64::try_from(size).ok()?)?;
    (stride != 0).then_some(stride)
}

/// Compares a counter with the number of strides, rounded up, from the first address to the last.
fn rewrite(module: &Module<'_>, edit: &Edit, nest: &LoopNest, by: &NaturalLoop, ending: &Ending) {
    let (header, latch) = (nest.blocks[by.header], nest.blocks[by.latches[0]]);
    let Some((_, before)) = ending.phi.incoming().into_iter().find(|(_, from)| *from != latch) else { return };
    let size = ending.stride.unsigned_abs();
    // SAFETY: live values of one function, built where their operands are known.
    unsafe {
        edit.before(before.terminator());
        let (to, from) = if ending.stride > 0 { (ending.end, ending.start) } else { (ending.start, ending.end) };
        let distance = edit.call(difference(module).as_value_ref(), &[to.0, from.0]);
        let more = LLVMBuildAdd(edit.builder, distance, edit.number(size - 1), c"".as_ptr());
        let count = LLVMBuildSDiv(edit.builder, more, edit.number(size), c"".as_ptr());
        edit.before(header.instructions()[0]);
        let counter = LLVMBuildPhi(edit.builder, edit.i64, c"".as_ptr());
        edit.before(latch.terminator());
        let one = LLVMBuildNSWAdd(edit.builder, counter, edit.number(1), c"".as_ptr());
        LLVMAddIncoming(counter, [edit.number(0), one].as_mut_ptr(), [before.0, latch.0].as_mut_ptr(), 2);
        edit.before(ending.compares);
        let value =
            if ending.is_next { LLVMBuildNSWAdd(edit.builder, counter, edit.number(1), c"".as_ptr()) } else { counter };
        let predicate = match ending.predicate {
            LLVMIntULT | LLVMIntUGT => LLVMIntSLT,
            other => other,
        };
        let condition = LLVMBuildICmp(edit.builder, predicate, value, count, c"".as_ptr());
        LLVMReplaceAllUsesWith(ending.compares.0, condition);
    }
    ending.compares.erase();
}

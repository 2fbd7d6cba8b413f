//! Makes an offset of what a loop adds to an address on some of its paths.
//!
//! ```text
//! for (...) { sum += *p;  if (wide) p += stride[d]; }          // the step of an iterator over several dimensions
//!
//! %p = phi ptr [ %start, .. ], [ %next, .. ]            becomes   %offset = phi i64 [ 0, .. ], [ %next.offset, .. ]
//! %moved = getelementptr double, ptr %p, i64 %step                %p = getelementptr i8, ptr %start, i64 %offset
//! %next = phi ptr [ %moved, .. ], [ %p, .. ]
//! ```
//!
//! Enzyme moves the shadow of such an address along in the reverse sweep too, by steps that it does not keep for it: it crashes
//! (`eraseFictiousPHIs`, assertion `getNumUses`). An offset is an integer without a shadow, which it keeps.

use crate::ir::{self, Op, Value};
use crate::lowering::caught::build::Edit;
use inkwell::module::Module;
use inkwell::targets::TargetData;
use llvm_sys::core::*;
use llvm_sys::target::LLVMABISizeOfType;
use std::collections::{HashMap, HashSet};

/// Addresses that are looked at for one phi.
const MOST: usize = 64;

/// Addresses that all begin at one.
struct Web {
    root: Value,
    /// Phis and steps.
    members: Vec<Value>,
}

/// Rewrites the addresses of every function.
pub fn run(module: &Module<'_>) {
    let layout = TargetData::create(&module.get_data_layout().as_str().to_string_lossy());
    let edit = Edit::of(module);
    for function in ir::functions(module) {
        let phis = ir::blocks(function).into_iter().flat_map(|block| block.phis()).filter(|phi| phi.is_pointer());
        let mut done = HashSet::new();
        for phi in phis.collect::<Vec<_>>() {
            let found = if done.contains(&phi) { None } else { web(phi).filter(is_moved_on_some_paths) };
            if let Some(web) = found {
                rewrite(&edit, &layout, &web);
                done.extend(web.members);
            }
        }
    }
}

/// All that a phi may be: phis and steps behind each other, back to the one address where they begin.
fn web(phi: Value) -> Option<Web> {
    let (mut members, mut waiting, mut root) = (Vec::new(), vec![phi], None);
    let mut seen = HashSet::from([phi]);
    while let Some(member) = waiting.pop() {
        // Nothing can stand between phis and a landing pad.
        if member.is(Op::LLVMPHI) && member.parent().first_after_phis().is(Op::LLVMLandingPad) {
            return None;
        }
        members.push(member);
        for value in before(member) {
            if value.is(Op::LLVMPHI) || is_step(value) {
                if seen.insert(value) {
                    waiting.push(value);
                }
            } else if *root.get_or_insert(value) != value {
                return None;
            }
        }
        if members.len() > MOST {
            return None;
        }
    }
    root.filter(|root| !root.is_null_or_undefined()).map(|root| Web { root, members })
}

/// The addresses that a phi or a step is made of.
fn before(member: Value) -> Vec<Value> {
    match member.op() {
        Some(Op::LLVMPHI) => member.incoming().into_iter().map(|(value, _)| value).collect(),
        _ if is_step(member) => vec![member.operand(0)],
        _ => Vec::new(),
    }
}

/// Whether a value is an address so many elements behind another.
fn is_step(value: Value) -> bool {
    value.is(Op::LLVMGetElementPtr) && value.operands().len() == 2 && value.operand(0).is_pointer()
}

/// Whether one of the phis is its own successor by way of another phi, and a step is read from memory or computed.
fn is_moved_on_some_paths(web: &Web) -> bool {
    let is_computed = |v: &Value| is_step(*v) && v.operand(1).is_instruction() && !v.operand(1).is(Op::LLVMPHI);
    let phis: Vec<Value> = web.members.iter().copied().filter(|v| v.is(Op::LLVMPHI)).collect();
    phis.len() > 1 && web.members.iter().any(is_computed) && phis.iter().any(|phi| is_behind_itself(*phi))
}

/// Whether a phi's next value is a phi, or a step from one, that comes from it.
fn is_behind_itself(phi: Value) -> bool {
    let (mut waiting, mut seen) = (vec![phi], HashSet::new());
    let mut has_other = false;
    while let Some(member) = waiting.pop() {
        for value in before(member) {
            if value == phi {
                has_other |= member.is(Op::LLVMPHI) && member != phi;
            } else if seen.insert(value) {
                waiting.push(value);
            }
        }
    }
    has_other
}

/// An integer for each member, and in the member's place the address so many bytes behind the root.
fn rewrite(edit: &Edit, layout: &TargetData, web: &Web) {
    let mut offsets: HashMap<Value, Value> = HashMap::from([(web.root, Value(edit.number(0)))]);
    // SAFETY: live instructions of one function. What is built stands at a member's place, where its operands are known; the root is
    // known wherever a member is. Members are erased after all their uses are replaced.
    unsafe {
        for member in &web.members {
            edit.before(*member);
            offsets.insert(*member, Value(LLVMBuildPhi(edit.builder, edit.i64, c"".as_ptr())));
        }
        for member in &web.members {
            let phi = offsets[member];
            if member.is(Op::LLVMPHI) {
                for (value, from) in member.incoming() {
                    LLVMAddIncoming(phi.0, [offsets[&value].0].as_mut_ptr(), [from.0].as_mut_ptr(), 1);
                }
                continue;
            }
            edit.before(*member);
            let size = LLVMABISizeOfType(layout.as_mut_ptr(), LLVMGetGEPSourceElementType(member.0));
            let index = LLVMBuildSExt(edit.builder, member.operand(1).0, edit.i64, c"".as_ptr());
            let bytes = LLVMBuildMul(edit.builder, index, edit.number(size), c"".as_ptr());
            let sum = Value(LLVMBuildAdd(edit.builder, offsets[&member.operand(0)].0, bytes, c"".as_ptr()));
            LLVMReplaceAllUsesWith(phi.0, sum.0);
            phi.erase();
            offsets.values_mut().filter(|offset| **offset == phi).for_each(|offset| *offset = sum);
        }
        for member in &web.members {
            let place = if member.is(Op::LLVMPHI) { member.parent().first_after_phis() } else { *member };
            edit.before(place);
            let i8 = LLVMInt8TypeInContext(LLVMGetTypeContext(edit.i64));
            let address =
                LLVMBuildGEP2(edit.builder, i8, web.root.0, [offsets[member].0].as_mut_ptr(), 1, c"".as_ptr());
            LLVMReplaceAllUsesWith(member.0, address);
        }
        web.members.iter().for_each(|member| member.erase());
    }
}

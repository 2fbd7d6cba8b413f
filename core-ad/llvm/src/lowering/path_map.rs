//! Counts the branches that the forward sweep takes where values, or integers that are data, decide the path: the driver verifies a gradient on a new path.
//!
//! Before Enzyme ([`mark`]) each such branch, switch and choice calls a marker with its number and the edge that it takes, and so does each call of a
//! function that was chosen and is not known. The marker stands before the branch, not on its edges, so that Enzyme sees the same CFG. It has no derivative, and the memory that it writes is nobody's:
//! it runs once in each forward sweep and is never repeated by the reverse sweep.
//!
//! What one of thousands of elements may do alone is lost in a count, so it has a flag: a comparison for equality that is used as a number, and the number of iterations
//! of a loop that values end, by powers of two. An edge that a single value takes (`x == 0`) has a flag of its own: what is verified there for some arguments may be
//! wrong for others, so the driver verifies more than one such call.
//!
//! After Enzyme a marker becomes code that counts: `path_counts.rs`. Roots of zero are counted as well, whose derivative by Enzyme's rule is 0
//! ([`zero_roots`]): what is right for other arguments tells nothing about it.

use crate::analysis::cfg::LoopNest;
use crate::analysis::value_paths::is_branch;
use crate::analysis::{inactive_parts, value_paths, zero_roots};
use crate::ir::{self, Op, Result, Value, callers, path_markers};
use crate::lowering::dead_ends::{self, Checks};
use crate::lowering::{equality_tests, thread_starts, zero_powers};
use crate::optimize::shared_counts;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMContextRef, LLVMTypeRef, LLVMValueRef};
use llvm_sys::{LLVMIntPredicate, LLVMRealPredicate, LLVMTypeKind};
use std::collections::HashSet;

/// LLVM's encoding of `memory(inaccessiblemem: readwrite)`.
const MARKED: u64 = 0b1100;

/// Above so many edges a switch counts the last digits of its value instead; a power of two.
const MOST_CASES: u32 = 64;

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// Puts a marker before each instruction at which values decide, and before each root of what may be zero, except in these functions.
///
/// # Errors
///
/// None but LLVM's.
pub fn mark(module: &Module<'_>, except: &[String], second_order: bool) -> Result<()> {
    let (by_values, inactive) = (value_paths::of_calls(module), inactive_parts::all(module));
    let (mut number, mut flags) = (0, path_markers::POINT);
    let mut marked = HashSet::new();
    let stops = thread_starts::stops(module);
    for function in ir::functions(module) {
        let name = function.get_name().to_string_lossy().into_owned();
        if except.contains(&name) || inactive.contains(&function) {
            continue;
        }
        let before = (number, flags);
        let mut places = by_values.get(&name).map_or(Vec::new(), |paths| paths.places.clone());
        // Sizes may decide these.
        let starts = dead_ends::leading_to(function, &stops);
        places.extend(starts.into_iter().filter(|branch| !places.contains(branch)).collect::<Vec<_>>());
        let branches: Vec<Value> = places.iter().copied().filter(|place| is_branch(*place)).collect();
        let checks = Checks::among(&branches);
        for exit in exits(function, &branches) {
            mark_exit(module, exit, &checks);
            flags += 1;
        }
        for place in equality_tests::places(function) {
            flags += mark_point(module, place);
        }
        for &place in places.iter().filter(|place| !shared_counts::asks_for_last(**place)) {
            match place.op() {
                Some(Op::LLVMFCmp | Op::LLVMICmp) => {
                    flags += 1;
                    mark_equality(module, place, flags);
                }
                _ => number += mark_one(module, place, number, &checks),
            }
        }
        for root in zero_roots::of(function, second_order) {
            number += mark_argument(module, root, LLVMRealPredicate::LLVMRealOEQ, number);
        }
        for power in zero_powers::of_negative(function) {
            number += mark_argument(module, power, LLVMRealPredicate::LLVMRealOLT, number);
        }
        checks.leave_out(function);
        if (number, flags) != before {
            marked.insert(name);
        }
    }
    admit_effects(module, marked);
    Ok(())
}

/// A branch that may leave a loop.
struct Exit {
    branch: Value,
    /// The number of the loop in its function.
    number: u64,
    /// The first successor stays in the loop.
    stays_first: bool,
}

/// Whether a condition is, or combines, a comparison of floating-point numbers. Trip counts that depend on values in other ways (a flag, an index) have no flag: the code
/// would be slower for many loops that sizes end.
fn compares_numbers(condition: Value) -> bool {
    match condition.op() {
        Some(Op::LLVMFCmp) => true,
        Some(Op::LLVMAnd | Op::LLVMOr | Op::LLVMXor | Op::LLVMSelect) => {
            condition.operands().into_iter().any(compares_numbers)
        }
        _ => false,
    }
}

/// All branches that may leave the loops that values end, with two successors each. None of a function that is too large to look at.
fn exits(function: FunctionValue<'_>, places: &[Value]) -> Vec<Exit> {
    if places.is_empty() {
        return Vec::new();
    }
    let places: HashSet<Value> = places.iter().copied().collect();
    let Some(nest) = LoopNest::of(function) else { return Vec::new() };
    let mut found = Vec::new();
    for (number, one) in (0..).zip(&nest.loops) {
        let ends =
            nest.blocks.iter().zip(&one.body).filter(|(_, inside)| **inside).map(|(block, _)| block.terminator());
        let all: Vec<Exit> = ends
            .filter(|end| end.is(Op::LLVMBr) && is_branch(*end))
            .filter_map(|branch| {
                let stays: Vec<bool> =
                    branch.parent().successors().iter().map(|to| one.body[nest.cfg.number(*to)]).collect();
                (stays[0] != stays[1]).then(|| Exit { branch, number, stays_first: stays[0] })
            })
            .collect();
        if all.iter().any(|exit| places.contains(&exit.branch) && compares_numbers(exit.branch.operand(0))) {
            found.extend(all);
        }
    }
    found
}

/// Puts the marker of a loop before one of its exits.
fn mark_exit(module: &Module<'_>, exit: Exit, checks: &Checks) {
    // SAFETY: a live branch with a condition.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let word = LLVMInt32TypeInContext(context);
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, exit.branch.0);
        let condition = match checks.contains(exit.branch) {
            true => exit.branch.operand(0).0,
            false => dead_ends::decider(module, builder, exit.branch).0,
        };
        let leaves = if exit.stays_first { LLVMBuildNot(builder, condition, NONE) } else { condition };
        let number = LLVMConstInt(word, exit.number, 0);
        let arguments = [number, LLVMConstInt(word, 0, 0), LLVMBuildZExt(builder, leaves, word, NONE)];
        call_marker(builder, path_markers::trip_marker(module), arguments);
        LLVMDisposeBuilder(builder);
    }
}

/// Puts the flag of points before a branch or choice that tests numbers for equality; whether it has one.
fn mark_point(module: &Module<'_>, place: Value) -> u64 {
    // SAFETY: a live branch or choice of the module.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, place.0);
        let taken = equality_tests::is_taken(module, builder, place);
        if let Some(taken) = taken {
            call_flag(module, builder, path_markers::POINT, taken);
        }
        LLVMDisposeBuilder(builder);
        u64::from(taken.is_some())
    }
}

/// Puts a flag behind a comparison: whether what is compared is equal. None for vectors.
fn mark_equality(module: &Module<'_>, test: Value, number: u64) {
    // SAFETY: a live comparison of the module, which is followed by another instruction.
    unsafe {
        if LLVMGetTypeKind(test.ty()) != LLVMTypeKind::LLVMIntegerTypeKind {
            return;
        }
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(test.0));
        let (a, b) = (test.operand(0).0, test.operand(1).0);
        let equal = match test.is(Op::LLVMICmp) {
            true => LLVMBuildICmp(builder, LLVMIntPredicate::LLVMIntEQ, a, b, NONE),
            false => LLVMBuildFCmp(builder, LLVMRealPredicate::LLVMRealOEQ, a, b, NONE),
        };
        call_flag(module, builder, number, equal);
        LLVMDisposeBuilder(builder);
    }
}

/// Calls the marker of a flag.
///
/// # Safety
///
/// The builder stands in the module, where the condition is defined.
unsafe fn call_flag(module: &Module<'_>, builder: LLVMBuilderRef, number: u64, holds: LLVMValueRef) {
    // SAFETY: by this function's promise.
    unsafe {
        let word = LLVMInt32TypeInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        let holds = LLVMBuildZExt(builder, holds, word, NONE);
        let arguments = [LLVMConstInt(word, number, 0), LLVMConstInt(word, 0, 0), holds];
        call_marker(builder, path_markers::flag_marker(module), arguments);
    }
}

/// Puts the marker before one instruction and returns how many edges it has; addresses have none, nor has a check that leads to another.
fn mark_one(module: &Module<'_>, place: Value, first: u64, checks: &Checks) -> u64 {
    if checks.leads_to_another(place) {
        return 0;
    }
    // SAFETY: a live instruction of the module; each function is called on the kind of instruction that it takes.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let word = LLVMInt32TypeInContext(context);
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, place.0);
        let check = if place.is(Op::LLVMBr) { checks.fails(builder, place) } else { None };
        let edge = match place.op() {
            Some(Op::LLVMSwitch) => {
                let edges = LLVMGetNumSuccessors(place.0).min(MOST_CASES);
                Some((u64::from(edges), case_number(module, builder, place, word)))
            }
            Some(Op::LLVMSelect) if LLVMGetTypeKind(place.operand(0).ty()) != LLVMTypeKind::LLVMIntegerTypeKind => None,
            Some(Op::LLVMCall | Op::LLVMInvoke) => {
                place.called().map(|callee| (u64::from(MOST_CASES), function_number(builder, callee, context)))
            }
            Some(Op::LLVMBr) => {
                let taken = check.unwrap_or_else(|| dead_ends::decider(module, builder, place)).0;
                Some((2, LLVMBuildZExt(builder, taken, word, NONE)))
            }
            Some(Op::LLVMSelect) => Some((2, LLVMBuildZExt(builder, place.operand(0).0, word, NONE))),
            _ => None,
        };
        if let Some((edges, taken)) = edge {
            let is_number = place.is(Op::LLVMSelect) && place.holds_floats();
            let marker = match check {
                Some(_) => path_markers::check_marker(module),
                None if is_number => path_markers::choice_marker(module),
                None => path_markers::path_marker(module),
            };
            call_marker(builder, marker, [LLVMConstInt(word, first, 0), LLVMConstInt(word, edges, 0), taken]);
        }
        LLVMDisposeBuilder(builder);
        edge.map_or(0, |(edges, _)| edges)
    }
}

/// Puts the marker before a root or power: a choice with one edge, which is taken where its argument is zero, or negative.
fn mark_argument(module: &Module<'_>, root: Value, is: LLVMRealPredicate, first: u64) -> u64 {
    // SAFETY: a live call of a root in the module.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let word = LLVMInt32TypeInContext(context);
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, root.0);
        let zero = LLVMConstReal(root.ty(), 0.0);
        let holds = LLVMBuildFCmp(builder, is, root.operand(0).0, zero, NONE);
        let taken = LLVMBuildZExt(builder, holds, word, NONE);
        let marker = path_markers::choice_marker(module);
        call_marker(builder, marker, [LLVMConstInt(word, first, 0), LLVMConstInt(word, 1, 0), taken]);
        LLVMDisposeBuilder(builder);
    }
    1
}

/// Calls a marker with its number, how many edges it has, and the one taken.
///
/// # Safety
///
/// The builder stands in a function of the marker's module.
unsafe fn call_marker(builder: LLVMBuilderRef, marker: FunctionValue<'_>, mut arguments: [LLVMValueRef; 3]) {
    // SAFETY: by this function's promise; markers take three words.
    unsafe {
        let ty = LLVMGlobalGetValueType(marker.as_value_ref());
        LLVMBuildCall2(builder, ty, marker.as_value_ref(), arguments.as_mut_ptr(), 3, NONE);
    }
}

/// Which of its edges a switch takes.
///
/// # Safety
///
/// The builder stands right before a live switch.
unsafe fn case_number(module: &Module<'_>, builder: LLVMBuilderRef, switch: Value, word: LLVMTypeRef) -> LLVMValueRef {
    // SAFETY: by this function's promise; the first successor is the default's, and each other one has a value.
    unsafe {
        let given = dead_ends::decider(module, builder, switch);
        let successors = LLVMGetNumSuccessors(switch.0);
        if successors > MOST_CASES {
            let digits = LLVMConstInt(word, u64::from(MOST_CASES - 1), 0);
            return LLVMBuildAnd(builder, LLVMBuildIntCast2(builder, given.0, word, 0, NONE), digits, NONE);
        }
        let mut edge = LLVMConstInt(word, 0, 0);
        for number in 1..successors {
            let case = LLVMGetSwitchCaseValue(switch.0, number);
            let is_case = LLVMBuildICmp(builder, LLVMIntPredicate::LLVMIntEQ, given.0, case, NONE);
            edge = LLVMBuildSelect(builder, is_case, LLVMConstInt(word, u64::from(number), 0), edge, NONE);
        }
        edge
    }
}

/// A number for a function that is called by a pointer: digits of its address that are the same wherever its library is loaded.
///
/// # Safety
///
/// The builder stands before a live call of the pointer.
unsafe fn function_number(builder: LLVMBuilderRef, callee: Value, context: LLVMContextRef) -> LLVMValueRef {
    // SAFETY: by this function's promise.
    unsafe {
        let (word, wide) = (LLVMInt32TypeInContext(context), LLVMInt64TypeInContext(context));
        let address = LLVMBuildPtrToInt(builder, callee.0, wide, NONE);
        // Functions begin at multiples of 16.
        let shifted = LLVMBuildLShr(builder, address, LLVMConstInt(wide, 4, 0), NONE);
        let digits = LLVMBuildAnd(builder, shifted, LLVMConstInt(wide, u64::from(MOST_CASES - 1), 0), NONE);
        LLVMBuildTrunc(builder, digits, word, NONE)
    }
}

/// Functions with a marker, and those that call them, no longer leave all memory alone: a call of them must not be dropped or repeated.
fn admit_effects(module: &Module<'_>, marked: HashSet<String>) {
    let (marked, calls) = callers::of(module, marked);
    let kind = Attribute::get_named_enum_kind_id("memory");
    for function in marked.iter().filter_map(|name| module.get_function(name)) {
        if let Some(memory) = function.get_enum_attribute(AttributeLoc::Function, kind) {
            let more = module.get_context().create_enum_attribute(kind, memory.get_enum_value() | MARKED);
            function.remove_enum_attribute(AttributeLoc::Function, kind);
            function.add_attribute(AttributeLoc::Function, more);
        }
    }
    for call in calls {
        // SAFETY: a live call of this module.
        unsafe {
            let memory = LLVMGetCallSiteEnumAttribute(call.0, u32::MAX, kind);
            if !memory.is_null() {
                let context = LLVMGetModuleContext(module.as_mut_ptr());
                let more = LLVMCreateEnumAttribute(context, kind, LLVMGetEnumAttributeValue(memory) | MARKED);
                LLVMRemoveCallSiteEnumAttribute(call.0, u32::MAX, kind);
                LLVMAddCallSiteAttribute(call.0, u32::MAX, more);
            }
        }
    }
}

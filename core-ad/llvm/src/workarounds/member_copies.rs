//! Copies a structure that holds numbers beside something else member by member, before LLVM's pipeline.
//!
//! ```text
//! struct { double key, value; bool on; float w; long id; } t = v[i];  v[i] = v[j];  v[j] = t;      // std::sort, by another key
//! ```
//!
//! clang copies a structure by `memcpy` and says what its members are (`tbaa.struct`). LLVM's MemCpyOpt merges such copies and drops that, and
//! inlining copies an argument passed by value without it. Enzyme then takes a copy for one of the type that it knows of a part
//! (`visitMemTransferCommon` in AdjointGenerator.h): of numbers, which adds adjoints to integers, or of integers, which loses adjoints.
//! Loads and stores of the members have their types in themselves. A run of numbers (an array) is copied as one, which names its type.

use crate::analysis::member_layout::{Layouts, Part};
use crate::ir::metadata::say_what_is_copied;
use crate::ir::{self, Block, Value};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::Builder;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::LLVMTypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMTypeRef;
use llvm_sys::target::{LLVMABIAlignmentOfType, LLVMABISizeOfType, LLVMGetModuleDataLayout};

/// Loads of one structure at most.
const MOST_LOADS: usize = 32;

/// Members of one type in a row from which on they are copied as one.
const RUN: usize = 8;

/// Replaces them. `all`: whatever the members are, and what clears them, too.
pub fn run(module: &Module<'_>, all: bool) {
    let builder = module.get_context().create_builder();
    let layouts = Layouts::of(module);
    ir::functions(module).into_iter().for_each(|f| copy_arguments_by_value(module, &layouts, &builder, f, all));
    for copy in ir::all_instructions(module) {
        if all && is_clearing(copy) {
            clear(&builder, &layouts, copy);
        }
        if is_copy(copy, all) {
            by_members(&builder, &layouts, copy, |parts| all || is_mixed(parts) || holds_addresses_beside(parts));
        }
        if all && let Some(parts) = descriptor(copy) {
            replace(&builder, copy, &runs_of(&parts));
        }
    }
}

/// Behind LLVM's pipeline, where a pointer shows what it leads to once its operator is inlined: replaces copies of addresses beside something else.
pub fn of_addresses(module: &Module<'_>) {
    let copies: Vec<Value> = ir::all_instructions(module).into_iter().filter(|i| is_copy(*i, false)).collect();
    if copies.is_empty() {
        return;
    }
    let builder = module.get_context().create_builder();
    let layouts = Layouts::of(module);
    for copy in copies {
        by_members(&builder, &layouts, copy, |parts| holds_addresses_beside(parts) && !is_mixed(parts));
    }
}

/// Replaces a copy of few members that are known, and of which this holds.
fn by_members(builder: &Builder<'_>, layouts: &Layouts, copy: Value, wanted: impl Fn(&[Part]) -> bool) {
    let Some(parts) = layouts.copied(copy) else { return };
    let runs = runs_of(&parts);
    let loads: usize = runs.iter().map(|run| if run.len() > RUN { 1 } else { run.len() }).sum();
    // What memmove moves may overlap: all of it is loaded before anything is stored.
    let by_parts = loads == parts.len() || !copy.callee().is_some_and(|name| name.contains("memmove"));
    if wanted(&parts) && loads <= MOST_LOADS && by_parts {
        replace(builder, copy, &runs);
    }
}

/// Whether some members are numbers and some are not.
fn is_mixed(parts: &[Part]) -> bool {
    (1..parts.len()).contains(&parts.iter().filter(|p| p.is_float()).count())
}

/// Whether some members are addresses and some are not: of a copy that is moved on, Enzyme knows neither.
fn holds_addresses_beside(parts: &[Part]) -> bool {
    (1..parts.len()).contains(&parts.iter().filter(|p| p.name() == "pointer").count())
}

/// Whether it copies a number of bytes that is known, and not volatile.
fn is_copy(call: Value, all: bool) -> bool {
    let name = call.callee().unwrap_or_default();
    let copies = name.starts_with("llvm.memcpy.p0.p0.i64") || name.starts_with("llvm.memmove.p0.p0.i64");
    let least = if all { 0 } else { 8 };
    copies && call.operand(2).constant().is_some_and(|size| size > least) && call.operand(3).constant() == Some(0)
}

/// The fields of a Fortran descriptor that flang copies: it has 32 bits for the length of such a copy, and 64 for that of any other.
fn descriptor(copy: Value) -> Option<Vec<Part>> {
    // Bytes of an element, version, rank, type, attribute, extra.
    const FIXED: [u64; 6] = [8, 4, 1, 1, 1, 1];
    const HEAD: u64 = 24;
    const DIMENSION: u64 = 24;
    // Of an object: the address of what describes its type, and a word.
    const ADDENDUM: u64 = 16;
    if !copy.callee()?.starts_with("llvm.memcpy.p0.p0.i32") {
        return None;
    }
    let size = u64::try_from(copy.operand(2).constant()?).ok().filter(|size| *size >= HEAD)?;
    let dimensions = match (size - HEAD) % DIMENSION {
        0 => size,
        ADDENDUM => size - ADDENDUM,
        _ => return None,
    };
    // SAFETY: types of the context of a live instruction.
    let (pointer, integer) = unsafe {
        let context = LLVMGetValueContext(copy.0);
        (LLVMPointerTypeInContext(context, 0), move |bytes: u64| LLVMIntTypeInContext(context, 8 * bytes as u32))
    };
    let mut parts = vec![Part { offset: 0, size: 8, ty: Some(pointer), tag: None }];
    let words = (HEAD..dimensions).step_by(8).map(|_| 8);
    for bytes in FIXED.into_iter().chain(words) {
        parts.push(Part { offset: end_of(&parts), size: bytes, ty: Some(integer(bytes)), tag: None });
    }
    if dimensions < size {
        parts.push(Part { offset: dimensions, size: 8, ty: Some(pointer), tag: None });
        parts.push(Part { offset: dimensions + 8, size: 8, ty: Some(integer(8)), tag: None });
    }
    Some(parts)
}

fn end_of(parts: &[Part]) -> u64 {
    parts.last().map_or(0, |part| part.offset + part.size)
}

/// Members in a row that have one type and no gap between them.
fn runs_of(parts: &[Part]) -> Vec<Vec<Part>> {
    let mut runs: Vec<Vec<Part>> = Vec::new();
    for part in parts {
        match runs.last_mut() {
            Some(run) if run[0].ty == part.ty && run.last().is_some_and(|p| p.offset + p.size == part.offset) => {
                run.push(*part);
            }
            _ => runs.push(vec![*part]),
        }
    }
    runs
}

/// Loads all members, then stores them: both sides may be the same memory.
fn replace(builder: &Builder<'_>, copy: Value, runs: &[Vec<Part>]) {
    let [to, from] =
        [0, 1].map(|side| Side { pointer: copy.operand(side), align: ir::stated_alignment(copy, side).max(1) });
    // SAFETY: a live copy, before which its operands are defined; the members lie inside the bytes that it copies.
    unsafe {
        LLVMPositionBuilderBefore(builder.as_mut_ptr(), copy.0);
        let mut loaded = Vec::new();
        for part in runs.iter().filter(|run| run.len() <= RUN).flatten() {
            loaded.push((part, from.load(builder, part)));
        }
        for run in runs.iter().filter(|run| run.len() > RUN) {
            copy_run(builder, [&to, &from], run);
        }
        for (part, value) in loaded {
            to.store(builder, part, value);
        }
    }
    copy.erase();
}

/// Whether it sets a number of bytes that is known to zero.
pub fn is_clearing(call: Value) -> bool {
    let sets = call.callee().is_some_and(|name| name.starts_with("llvm.memset.p0.i64"));
    sets && call.operand(1).constant() == Some(0) && call.operand(3).constant() == Some(0)
}

/// Stores zero to each member, where the members are known; else in words: a zero has any type.
pub fn clear(builder: &Builder<'_>, layouts: &Layouts, call: Value) {
    let size = call.operand(2).constant().and_then(|size| u64::try_from(size).ok()).unwrap_or(0);
    let are_known = |parts: &Vec<Part>| parts.iter().all(|part| part.ty.is_some());
    let beside = || layouts.handled_beside(call, size).filter(are_known);
    let parts = layouts.copied(call).or_else(beside).unwrap_or_else(|| words(call, size));
    if parts.is_empty() || parts.len() > MOST_LOADS {
        return;
    }
    let side = Side { pointer: call.operand(0), align: ir::stated_alignment(call, 0).max(1) };
    // SAFETY: a live call, before which its operands are defined; the members lie inside the bytes that it sets.
    unsafe {
        LLVMPositionBuilderBefore(builder.as_mut_ptr(), call.0);
        for part in &parts {
            if let Some(ty) = part.ty {
                side.store(builder, part, Value(LLVMConstNull(ty)));
            }
        }
    }
    call.erase();
}

/// Integers of eight bytes and less in a row, from the beginning to a size.
fn words(call: Value, size: u64) -> Vec<Part> {
    let mut offset = 0;
    let mut next = || {
        let left = size.saturating_sub(offset).min(8);
        let width = if left == 0 { return None } else { 1 << left.ilog2() };
        // SAFETY: a type of the context of a live instruction.
        let ty = unsafe { LLVMIntTypeInContext(LLVMGetValueContext(call.0), 8 * width as u32) };
        let part = Part { offset, size: width, ty: Some(ty), tag: None };
        offset += width;
        Some(part)
    };
    std::iter::from_fn(&mut next).take(MOST_LOADS + 1).collect()
}

/// Where a copy reads or writes, and the alignment that it states there.
struct Side {
    pointer: Value,
    align: u64,
}

impl Side {
    /// The address of a member.
    unsafe fn place(&self, builder: &Builder<'_>, offset: u64) -> Value {
        // SAFETY: the caller's: inside the bytes that are copied.
        unsafe {
            let context = LLVMGetTypeContext(self.pointer.ty());
            let mut index = LLVMConstInt(LLVMInt64TypeInContext(context), offset, 0);
            let byte = LLVMInt8TypeInContext(context);
            let name = c"member".as_ptr();
            Value(LLVMBuildInBoundsGEP2(builder.as_mut_ptr(), byte, self.pointer.0, &mut index, 1, name))
        }
    }

    fn align_at(&self, offset: u64) -> u32 {
        let bits = (offset | self.align).trailing_zeros().min(6);
        1 << bits
    }

    unsafe fn load(&self, builder: &Builder<'_>, part: &Part) -> Value {
        // SAFETY: the caller's.
        unsafe {
            let ty = part.ty.unwrap_or_else(|| LLVMInt8TypeInContext(LLVMGetTypeContext(self.pointer.ty())));
            let place = self.place(builder, part.offset);
            let load = Value(LLVMBuildLoad2(builder.as_mut_ptr(), ty, place.0, c"value".as_ptr()));
            LLVMSetAlignment(load.0, self.align_at(part.offset));
            tag(load, part);
            load
        }
    }

    unsafe fn store(&self, builder: &Builder<'_>, part: &Part, value: Value) {
        // SAFETY: the caller's.
        unsafe {
            let place = self.place(builder, part.offset);
            let store = Value(LLVMBuildStore(builder.as_mut_ptr(), value.0, place.0));
            LLVMSetAlignment(store.0, self.align_at(part.offset));
            tag(store, part);
        }
    }
}

/// Gives an access the tag that clang gave the member.
unsafe fn tag(access: Value, part: &Part) {
    let Some(tag) = part.tag else { return };
    // SAFETY: a live load or store, and a node of its context.
    unsafe {
        let kind = LLVMGetMDKindIDInContext(LLVMGetValueContext(access.0), c"tbaa".as_ptr(), 4);
        LLVMSetMetadata(access.0, kind, tag);
    }
}

/// Copies members of one type with one call, which says what they are.
unsafe fn copy_run(builder: &Builder<'_>, [to, from]: [&Side; 2], run: &[Part]) {
    let (offset, size): (u64, u64) = (run[0].offset, run.iter().map(|p| p.size).sum());
    // SAFETY: the caller's; the nodes are of the context of the copy.
    unsafe {
        let context = LLVMGetTypeContext(to.pointer.ty());
        let length = LLVMConstInt(LLVMInt64TypeInContext(context), size, 0);
        let places = [to, from].map(|side| (side.place(builder, offset).0, side.align_at(offset)));
        let [(to, to_align), (from, from_align)] = places;
        let call = LLVMBuildMemCpy(builder.as_mut_ptr(), to, to_align, from, from_align, length);
        if let Some(name) = run[0].ty.and_then(number_name) {
            say_what_is_copied(Value(call), name, size);
        }
    }
}

/// The name of a number's type for TBAA.
fn number_name(ty: LLVMTypeRef) -> Option<&'static str> {
    // SAFETY: a live type.
    match unsafe { LLVMGetTypeKind(ty) } {
        LLVMDoubleTypeKind => Some("double"),
        LLVMFloatTypeKind => Some("float"),
        _ => None,
    }
}

/// Has callers copy what they pass by value, where all of them are known: inlining would copy it without a type.
fn copy_arguments_by_value(
    module: &Module<'_>,
    layouts: &Layouts,
    builder: &Builder<'_>,
    function: FunctionValue<'_>,
    all: bool,
) {
    let callee = Value(function.as_value_ref());
    let calls = callee.users();
    let only_called = |call: &Value| {
        let uses = call.operands().into_iter().filter(|operand| *operand == callee).count();
        call.called() == Some(callee) && uses == 1
    };
    if calls.is_empty() || !calls.iter().all(only_called) {
        return;
    }
    let kind = Attribute::get_named_enum_kind_id("byval");
    for i in 0..function.count_params() {
        let Some(by_value) = function.get_enum_attribute(AttributeLoc::Param(i), kind) else { continue };
        // SAFETY: an attribute with a type.
        let ty = unsafe { LLVMGetTypeAttributeValue(by_value.as_mut_ptr()) };
        if !layouts.members(ty).is_some_and(|parts| all || is_mixed(&parts)) {
            continue;
        }
        calls.iter().for_each(|call| copy_argument(module, builder, *call, i, ty));
        function.remove_enum_attribute(AttributeLoc::Param(i), kind);
    }
}

/// Copies an argument into memory of the caller's own, and passes that.
fn copy_argument(module: &Module<'_>, builder: &Builder<'_>, call: Value, argument: u32, ty: LLVMTypeRef) {
    // SAFETY: a live call of the module; a sized type; slots stand at the beginning of a function.
    unsafe {
        let entry = Block(LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(call.parent().0)));
        let data = LLVMGetModuleDataLayout(module.as_mut_ptr());
        let align = ir::stated_alignment(call, argument).max(u64::from(LLVMABIAlignmentOfType(data, ty)));
        LLVMPositionBuilderBefore(builder.as_mut_ptr(), entry.first_after_phis().0);
        let slot = LLVMBuildAlloca(builder.as_mut_ptr(), ty, c"by.value".as_ptr());
        LLVMSetAlignment(slot, align as u32);
        LLVMPositionBuilderBefore(builder.as_mut_ptr(), call.0);
        let context = LLVMGetTypeContext(ty);
        let size = LLVMConstInt(LLVMInt64TypeInContext(context), LLVMABISizeOfType(data, ty), 0);
        let given = call.operand(argument);
        let given_align = ir::stated_alignment(call, argument).max(1) as u32;
        LLVMBuildMemCpy(builder.as_mut_ptr(), slot, align as u32, given.0, given_align, size);
        LLVMSetOperand(call.0, argument, slot);
        let kind = Attribute::get_named_enum_kind_id("byval");
        LLVMRemoveCallSiteEnumAttribute(call.0, argument + 1, kind);
    }
}

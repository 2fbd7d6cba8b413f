//! Adds types to memory copies whose type Enzyme does not infer.
//!
//! ```text
//! double *z = malloc(2 * k * 8);  z[k] = a;  memmove(z, v->begin, k * 8);  free(v->begin);  v->begin = z;      // std::vector's growth
//! ```
//!
//! The reverse of a copy of floating-point values moves adjoints back; that of a copy of pointers does nothing.
//! Which of the two a `memmove` is, Enzyme reads from the types of what its
//! pointers lead to (`visitMemTransferCommon` in AdjointGenerator.h). A store at a variable offset gives the type of the element stored there
//! (`TypeAnalyzer::visitGetElementPtrInst` passes a type on by constant distances only) but not of the beginning of the memory. Without a type, it prints "failed to deduce type of
//! copy" as a performance remark, **and takes the memory for pointers**: adjoints of all elements that have ever been moved are lost silently
//! (`tests/cases/enzyme_bugs/vector_stack.cpp`). The smallest IR:
//!
//! ```text
//! %new = call ptr @malloc(i64 %twice)
//! %place = getelementptr i8, ptr %new, i64 %bytes
//! store double %a, ptr %place
//! call void @llvm.memmove.p0.p0.i64(ptr %new, ptr %old, i64 %bytes, i1 false)
//! ```
//!
//! So where every access through pointers into the memory is of one floating-point type, both sides of the copy are marked as that type.
//! What is copied from a constant array has the type of that array (`double first[] = {1, 2, 3}`).
//! flang copies characters by `memmove`, and fills them up with blanks.
//! And where a function of the C++ library or of Eigen's own copies, its name says of what, before LLVM's pipeline: `std::__relocate_a_1<int, int>(int*, ..)`.

use super::local_types::uniform_float;
use super::struct_copies;
use crate::analysis::characters::{is_character_member, is_character_variable, is_integer_variable};
use crate::analysis::declared_types;
use crate::analysis::member_layout::Layouts;
use crate::analysis::type_names::Kind;
use crate::ir::markers::{integer_marker, pointer_marker, type_marker};
use crate::ir::metadata::{attached, operands, say_what_is_accessed, say_what_is_copied, text};
use crate::ir::{self, Op, Value};
use core_ad::DType;
use inkwell::attributes::Attribute;
use inkwell::module::Module;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::LLVMTypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMIntegerTypeKind};
use llvm_sys::core::*;
use std::cell::LazyCell;
use std::collections::HashSet;
use std::ffi::CStr;
use std::ops::Deref;

/// Uses that are followed for one pointer at most.
const MOST: usize = 400;

/// LLVM's kind of metadata for a noted type: inlining keeps it.
const ELEMENT: &CStr = c"ffgrad.copy_element";

/// What Fortran fills characters up with.
const BLANK: i64 = 32;

/// Marks every copy. Called before Enzyme, in any order with other passes.
pub fn run(module: &Module<'_>) {
    let layouts = LazyCell::new(|| Layouts::of(module));
    for function in ir::functions(module) {
        let all = || ir::blocks(function).into_iter().flat_map(|b| b.instructions());
        all().filter(is_counter).for_each(name_counter);
        for copy in all().filter(|i| is_copy(*i) || is_set(*i)) {
            if let Some(element) = table_of(copy.operand(1)).filter(|_| is_copy(copy)) {
                // A marker of a constant does not reach the copy, where that gets a function of its own.
                match (copy.operand(2).constant().and_then(|bytes| u64::try_from(bytes).ok()), element) {
                    (Some(bytes), _) => say_what_is_copied(copy, element, bytes),
                    (None, "double") => mark_before(module, copy.operand(1), DType::F64, copy),
                    (None, "float") => mark_before(module, copy.operand(1), DType::F32, copy),
                    (None, _) => call_before(module, copy.operand(1), integer_marker(module), copy),
                }
                continue;
            }
            if copies_padding(&layouts, copy) {
                // A marker of a pointer would speak of what is behind these bytes, too.
                say_what_is_copied(copy, "long", 1);
                continue;
            }
            let sides = if is_copy(copy) { vec![copy.operand(0), copy.operand(1)] } else { vec![copy.operand(0)] };
            let noted = noted(copy);
            let noted = if noted.is_empty() { stored(copy).to_owned() } else { noted };
            let noted = if noted.is_empty() { struct_copies::uniform_number(copy) } else { noted };
            let noted = if noted.is_empty() { allocated_as(&sides) } else { noted };
            let marker = match noted.as_str() {
                "double" => type_marker(module, DType::F64),
                "float" => type_marker(module, DType::F32),
                "integer" => integer_marker(module),
                "pointer" => pointer_marker(module),
                _ => match if is_copy(copy) { element(&sides) } else { declared(sides[0]) } {
                    Some(dtype) => type_marker(module, dtype),
                    None => {
                        say_what_begins(copy);
                        continue;
                    }
                },
            };
            sides.iter().for_each(|side| call_before(module, *side, marker, copy));
            if is_copy(copy) && attached(copy, c"tbaa.struct").is_null() {
                describe(copy, &noted);
            }
        }
    }
}

/// Says of a noted copy what its first element is: all that Enzyme asks of a copy in a function of its own, where no marker of a pointer reaches it unless memory has
/// one type.
pub fn describe(copy: Value, noted: &str) {
    match noted {
        "double" => say_what_is_copied(copy, noted, 8),
        "float" => say_what_is_copied(copy, noted, 4),
        "integer" => say_what_is_copied(copy, "long", 1),
        "pointer" => say_what_is_copied(copy, "any pointer", 8),
        _ => {}
    }
}

/// Says of a copy of structures without numbers what they begin with: in Enzyme, all such copies are alike.
fn say_what_begins(copy: Value) {
    if is_copy(copy)
        && attached(copy, c"tbaa.struct").is_null()
        && let Some((name, bytes)) = struct_copies::first_of_no_numbers(copy)
    {
        say_what_is_copied(copy, name, bytes);
    }
}

/// What a `realloc` moves, by the type of the address that it is given, or by what is read and written at the new one; empty where neither tells.
pub fn element_behind(reallocation: Value) -> &'static str {
    pointed_to(reallocation.operand(0)).unwrap_or_else(|| match element(&[reallocation]) {
        Some(DType::F64) => "double",
        Some(DType::F32) => "float",
        _ => "",
    })
}

/// Notes what is copied and set, by the types of the pointers to it, or by the name of a function of the C++ library or of Eigen. Before LLVM's
/// pipeline, which inlines functions and joins pointers.
pub fn note(module: &Module<'_>) {
    for function in ir::functions(module) {
        let name = function.get_name().to_string_lossy();
        if let Some(element) = allocated_by(&name) {
            let all = ir::blocks(function).into_iter().flat_map(|b| b.instructions());
            let allocations = all.filter(|i| i.callee().is_some_and(|callee| callee.starts_with("_Znwm")));
            allocations.for_each(|allocation| note_one(module, allocation, element));
        }
        let by_name = copied_by(&name);
        let all = ir::blocks(function).into_iter().flat_map(|b| b.instructions());
        for copy in all.filter(|i| is_copy(*i) || is_set(*i)) {
            let sides = if is_copy(copy) { 2 } else { 1 };
            let by_pointer = (0..sides).find_map(|side| pointed_to(copy.operand(side)));
            let by_name = by_name.or_else(|| elements_without_numbers(copy)).filter(|_| is_copy(copy));
            let Some(element) = by_name.or(by_pointer) else { continue };
            note_one(module, copy, element);
        }
    }
}

/// The numbers that a function of the C++ library allocates memory for: a vector of so many zeros is cleared by a `memset` without a type.
fn allocated_by(symbol: &str) -> Option<&'static str> {
    const ALLOCATE: [&str; 2] = ["_ZNSt15__new_allocatorI", "_ZN9__gnu_cxx13new_allocatorI"];
    let element = ALLOCATE.iter().find_map(|start| symbol.strip_prefix(start)?.split_once("E8allocateE"));
    match element?.0 {
        "d" => Some("double"),
        "f" => Some("float"),
        _ => None,
    }
}

/// What a copy of many structures moves that have members of one kind only and no numbers, by debug information.
fn elements_without_numbers(copy: Value) -> Option<&'static str> {
    let members = declared_types::noted(copy).filter(|_| copy.operand(2).constant().is_none())?;
    let all = |kind: Kind| members.iter().all(|member| member.kind == kind);
    match () {
        () if all(Kind::Integer) => Some("integer"),
        () if all(Kind::Pointer) => Some("pointer"),
        () => None,
    }
}

/// Notes what flang copies for an assignment of characters, as long as its copies differ from those of clang.
pub fn note_characters(module: &Module<'_>) {
    let all = ir::all_instructions(module);
    all.into_iter().filter(|i| copies_characters(*i)).for_each(|copy| note_one(module, copy, "integer"));
}

/// What the memory of an address was allocated as, as was noted before LLVM's pipeline; empty where nothing was.
fn allocated_as(sides: &[Value]) -> String {
    let base = |mut address: Value| {
        while address.is(Op::LLVMGetElementPtr) {
            address = address.operand(0);
        }
        address
    };
    let is_call = |value: &Value| value.is(Op::LLVMCall) || value.is(Op::LLVMInvoke);
    let all = sides.iter().map(|side| base(*side)).filter(is_call);
    all.map(noted).find(|element| !element.is_empty()).unwrap_or_default()
}

/// What was noted for a copy, a `memset` or an allocation; empty where nothing was.
fn noted(copy: Value) -> String {
    operands(attached(copy, ELEMENT)).first().map_or_else(String::new, |name| text(*name))
}

/// Whether a copy moves no numbers, as was noted before LLVM's pipeline.
pub fn copies_integers(copy: Value) -> bool {
    is_copy(copy) && noted(copy) == "integer"
}

/// Whether it fills characters up with blanks: no number has these bytes.
pub fn fills_characters(set: Value) -> bool {
    is_set(set) && set.operand(1).constant() == Some(BLANK)
}

fn note_one(module: &Module<'_>, copy: Value, element: &str) {
    // SAFETY: a live copy of the module, and a node of its context.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let text = LLVMMDStringInContext2(context, element.as_ptr().cast(), element.len());
        let node = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, [text].as_mut_ptr(), 1));
        let kind = LLVMGetMDKindIDInContext(context, ELEMENT.as_ptr(), ELEMENT.count_bytes() as u32);
        LLVMSetMetadata(copy.0, kind, node);
    }
}

/// Whether flang made a copy of an assignment of characters. Objects are copied by constant numbers of bytes, which may be numbers; clang says
/// how its copies are aligned, and so do LLVM's passes.
pub fn copies_characters(copy: Value) -> bool {
    let moves = copy.callee().is_some_and(|name| name.starts_with("llvm.memmove."));
    let may_be_object = || copy.operand(2).constant().is_some_and(|bytes| bytes % 4 == 0);
    let of_text =
        || (0..2).map(|i| copy.operand(i)).any(|side| is_character_variable(side) || is_character_member(side));
    moves && !is_aligned(copy) && (!may_be_object() || of_text())
}

fn is_aligned(copy: Value) -> bool {
    let kind = Attribute::get_named_enum_kind_id("align");
    // SAFETY: a live call, whose first parameter has the index 1.
    unsafe { !LLVMGetCallSiteEnumAttribute(copy.0, 1, kind).is_null() }
}

/// Whether the type of what is cleared is known: by a note, or because all that reads it takes it for numbers.
pub fn is_known(set: Value) -> bool {
    let is_noted = !noted(set).is_empty() || !allocated_as(&[set.operand(0)]).is_empty();
    is_noted || !stored(set).is_empty() || element(&[set.operand(0)]).is_some()
}

/// What the loads and stores were that LLVM has made a copy or a `memset` of: it keeps their type for TBAA. Empty where that is no type of numbers.
fn stored(set: Value) -> &'static str {
    if is_set(set) && (fills_characters(set) || is_integer_variable(set.operand(0))) {
        return "integer";
    }
    let access = operands(attached(set, c"tbaa")).get(1).copied();
    let name = access.and_then(|access| operands(access).first().map(|name| text(*name)));
    match name.as_deref() {
        Some("double") => "double",
        Some("float") => "float",
        Some("int" | "long" | "long long" | "short" | "bool") => "integer",
        _ => "",
    }
}

/// What a pointer in memory leads to, by the type that clang gave its load for TBAA: `p1 int` is one pointer to integers, `p2 int` one to
/// such pointers.
fn pointed_to(mut pointer: Value) -> Option<&'static str> {
    while pointer.is(Op::LLVMGetElementPtr) && pointer.operands().len() == 2 {
        pointer = pointer.operand(0);
    }
    if !pointer.is(Op::LLVMLoad) {
        return None;
    }
    let access = operands(attached(pointer, c"tbaa")).get(1).copied()?;
    let name = operands(access).first().map(|name| text(*name))?;
    if name.starts_with("p2 ") || name.starts_with("p3 ") {
        return Some("pointer");
    }
    match name.strip_prefix("p1 ")? {
        "double" => Some("double"),
        "float" => Some("float"),
        "int" | "long" | "long long" | "short" | "bool" => Some("integer"),
        _ => None,
    }
}

/// The one type of numbers that a function of the C++ library, or of Eigen's own, has pointers to.
fn copied_by(symbol: &str) -> Option<&'static str> {
    if !["_ZSt", "_ZNSt", "_ZNKSt", "_ZN9__gnu_cxx", "_ZN5Eigen8internal"].iter().any(|start| symbol.starts_with(start))
    {
        return None;
    }
    let name = core_ad::names::demangle(symbol);
    let parameters = name.rsplit_once(')')?.0.rsplit_once('(')?.1;
    let pointed = |p: &str| p.trim().strip_suffix('*').map(|to| to.replace("const", "").trim().to_owned());
    let types: HashSet<String> = parameters.split(',').filter_map(pointed).collect();
    match types.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["double"] => Some("double"),
        ["float"] => Some("float"),
        // Not `char`: that may be bytes of anything.
        ["int" | "unsigned int" | "long" | "unsigned long" | "short" | "unsigned short" | "bool"] => Some("integer"),
        _ => None,
    }
}

/// Whether it changes an integer in one step, as `std::weak_ptr::lock` does.
fn is_counter(i: &Value) -> bool {
    // SAFETY: asked of a live instruction, and only of one with that operand.
    i.is(Op::LLVMAtomicCmpXchg) && unsafe { LLVMGetTypeKind(i.operand(1).ty()) } == LLVMIntegerTypeKind
}

/// Says of the loads of what is compared that they are of integers. Enzyme knows no type of it: the library loads it in one step, without a type.
fn name_counter(exchange: Value) {
    let expected = exchange.operand(1);
    let mut values = vec![expected];
    if expected.is(Op::LLVMPHI) {
        values.extend(expected.incoming().into_iter().map(|(value, _)| value));
    }
    values.into_iter().filter(|value| value.is(Op::LLVMLoad)).for_each(|load| say_what_is_accessed(load, "int"));
}

/// Whether it sets memory to a byte.
fn is_set(i: Value) -> bool {
    i.is(Op::LLVMCall) && i.callee().is_some_and(|name| name.starts_with("llvm.memset."))
}

/// What a pointer leads to that leads into a constant array of numbers or, as texts are, of integers.
fn table_of(pointer: Value) -> Option<&'static str> {
    // SAFETY: asked of live values; the initialiser is that of a live global.
    unsafe {
        let mut place = pointer.0;
        while !LLVMIsAConstantExpr(place).is_null() || !LLVMIsAGetElementPtrInst(place).is_null() {
            place = LLVMGetOperand(place, 0);
        }
        let is_constant = !LLVMIsAGlobalVariable(place).is_null() && LLVMIsGlobalConstant(place) != 0;
        let initialiser = if is_constant { LLVMGetInitializer(place) } else { std::ptr::null_mut() };
        // Arrays of other elements, and structures, are no such sequences.
        let sequence = if initialiser.is_null() { initialiser } else { LLVMIsAConstantDataSequential(initialiser) };
        if sequence.is_null() {
            return None;
        }
        match LLVMGetTypeKind(LLVMGetElementType(LLVMTypeOf(sequence))) {
            LLVMIntegerTypeKind => Some("long"),
            LLVMDoubleTypeKind => Some("double"),
            LLVMFloatTypeKind => Some("float"),
            _ => None,
        }
    }
}

/// Whether it copies less than a word out of a structure at file scope, where that holds no number: what follows a flag. LLVM splits the
/// copies of a structure at the members that are used.
fn copies_padding(layouts: &impl Deref<Target = Layouts>, copy: Value) -> bool {
    let bytes = if is_copy(copy) { copy.operand(2).constant() } else { None };
    bytes
        .filter(|bytes| (1..8).contains(bytes))
        .is_some_and(|bytes| layouts.holds_integers(copy.operand(1), bytes as u64))
}

/// Whether it copies memory.
fn is_copy(i: Value) -> bool {
    let moves = |name: String| name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.");
    i.is(Op::LLVMCall) && i.callee().is_some_and(moves)
}

/// Marks the type behind a pointer.
pub fn mark_before(module: &Module<'_>, pointer: Value, dtype: DType, place: Value) {
    call_before(module, pointer, type_marker(module, dtype), place);
}

fn call_before(module: &Module<'_>, pointer: Value, marker: FunctionValue<'_>, place: Value) {
    // SAFETY: live values of one function; the pointer is defined before the place.
    unsafe {
        if LLVMGetPointerAddressSpace(pointer.ty()) != 0 {
            return;
        }
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, place.0);
        let marker = marker.as_value_ref();
        LLVMBuildCall2(builder, LLVMGlobalGetValueType(marker), marker, &mut { pointer.0 }, 1, c"".as_ptr());
        LLVMDisposeBuilder(builder);
    }
}

/// The floating-point type that a local variable was declared with of which this function accesses no element: it hands it to others, as it does
/// a static variable of theirs that `written-globals` made a local one.
fn declared(pointer: Value) -> Option<DType> {
    // SAFETY: asked of a live stack slot only.
    let ty = pointer.is(Op::LLVMAlloca).then(|| unsafe { BasicTypeEnum::new(LLVMGetAllocatedType(pointer.0)) })?;
    accessed(&[pointer])?.is_empty().then(|| uniform_float(ty)).flatten()
}

/// The floating-point type of all that the function reads and writes where these pointers lead; none where there is nothing, or something else besides.
pub fn element(pointers: &[Value]) -> Option<DType> {
    match accessed(pointers)?.into_iter().collect::<Vec<_>>()[..] {
        [one] => one,
        _ => None,
    }
}

/// The types of all that the function reads and writes where these pointers lead, `None` for what is no floating-point type; none where they are
/// too many to follow.
fn accessed(pointers: &[Value]) -> Option<HashSet<Option<DType>>> {
    let (mut seen, mut open) = (HashSet::new(), pointers.to_vec());
    let mut found: HashSet<Option<DType>> = HashSet::new();
    while let Some(value) = open.pop() {
        if value.is_null_or_undefined() || !seen.insert(value) {
            continue;
        }
        if seen.len() > MOST {
            return None;
        }
        match value.op() {
            Some(Op::LLVMGetElementPtr) => open.push(value.operand(0)),
            Some(Op::LLVMSelect) => open.extend([value.operand(1), value.operand(2)]),
            Some(Op::LLVMPHI) => open.extend(value.incoming().into_iter().map(|(incoming, _)| incoming)),
            // Of a constant's users not all are in this function.
            _ if !value.is_instruction() && !ir::is_argument(value) => continue,
            _ => {}
        }
        for user in value.users() {
            match user.op() {
                Some(Op::LLVMGetElementPtr) if user.operand(0) == value => {
                    // SAFETY: a step; what it steps by is a type of the module.
                    let stepped = unsafe { BasicTypeEnum::new(LLVMGetGEPSourceElementType(user.0)) };
                    if !is_byte(stepped) {
                        found.insert(uniform_float(stepped));
                    }
                    open.push(user);
                }
                Some(Op::LLVMPHI | Op::LLVMSelect) if user.is_pointer() => open.push(user),
                Some(Op::LLVMCall) if is_copy(user) => open.extend([user.operand(0), user.operand(1)]),
                Some(Op::LLVMLoad) => drop(found.insert(dtype(user))),
                Some(Op::LLVMStore) if user.operand(1) == value => drop(found.insert(dtype(user.operand(0)))),
                _ => {}
            }
        }
    }
    Some(found)
}

fn is_byte(ty: BasicTypeEnum<'_>) -> bool {
    matches!(ty, BasicTypeEnum::IntType(ty) if ty.get_bit_width() == 8)
}

/// The element type of a floating-point value.
fn dtype(value: Value) -> Option<DType> {
    match value.is_float() {
        true if value.is_double() => Some(DType::F64),
        true => Some(DType::F32),
        false => None,
    }
}

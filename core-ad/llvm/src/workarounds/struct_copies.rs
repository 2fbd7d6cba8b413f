//! Copies arrays of structures one by one where the structures hold numbers beside something else and the length is not constant.
//!
//! ```text
//! struct { int id; double key, value; } *v;   memmove(v + 1, v, n * sizeof *v)          ; std::sort, std::vector's growth, erase, insert
//! ```
//!
//! Enzyme takes such a copy for one of the type of its first byte (`visitMemTransferCommon` in AdjointGenerator.h: "memcpy of {int, double} not
//! allowed"): of integers here, and no adjoint of the numbers moves along. A copy of one structure, whose length is constant, it does
//! part by part. So the copy becomes a call of a loop over structures, upwards or downwards as memmove does.
//!
//! The size of a structure is a divisor of the length, found in its computation (`n * 24`, `sdiv exact %length, 24`, an induction variable that steps
//! by 24). LLVM's pipeline makes a difference of addresses of it (`end - begin`), so pass `copy-sizes` notes it at the copy before. That there is such
//! a structure with numbers beside something else is taken from the TBAA tags of loads and stores.

use crate::analysis::member_layout::{Layouts, Part};
use crate::ir::metadata::{attached, number, operands, text};
use crate::ir::{self, Op, Result, Value, texts};
use crate::workarounds::member_copies;
use inkwell::module::{Linkage, Module};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::CStr;

/// Prefix of the names of the loops.
const LOOP: &str = "ffgrad.structs.";

/// The metadata of the type of what is neither a number nor a pointer.
const WORD: &str = "!9";

/// Structures of more bytes are not looked for.
const LARGEST: u64 = 4096;

/// LLVM's kind of metadata for a noted size: inlining keeps it.
const SIZE: &CStr = c"ffgrad.copy_size";

/// Such a copy, the size of a structure and the alignments of destination and source.
struct Copy {
    call: Value,
    size: u64,
    alignments: [u64; 2],
}

/// Replaces them, and the copies of one structure whose type has come to light since `member_copies.rs` looked at it.
///
/// # Errors
///
/// LLVM's own.
pub fn run(module: &Module<'_>) -> Result<()> {
    member_copies::of_addresses(module);
    let all = ir::all_instructions(module);
    let copies: Vec<Copy> = all.iter().filter_map(|i| of_unknown_length(*i)).collect();
    if copies.is_empty() {
        return Ok(());
    }
    let structures = mixed_structures(&all);
    let mut loops: HashMap<(u64, [u64; 2], Vec<Member>), String> = HashMap::new();
    for copy in copies {
        let members = match noted_members(copy.call) {
            Some(noted) => noted,
            None => match only_fitting(&structures, copy.size) {
                Some(members) => members.clone(),
                None => continue,
            },
        };
        if !is_mixed(&members) {
            continue;
        }
        let kind = (copy.size, copy.alignments, members);
        if !loops.contains_key(&kind) {
            let name = format!("{LOOP}{}.{}", copy.size, loops.len());
            define(module, &name, &kind)?;
            loops.insert(kind.clone(), name);
        }
        replace(module, &loops[&kind], &copy);
    }
    Ok(())
}

/// The structure whose last member begins in the last eight bytes of so many: the only one, or of several with numbers and pointers at the
/// same places that with the most members.
fn only_fitting(structures: &BTreeSet<Vec<Member>>, size: u64) -> Option<&Vec<Member>> {
    let fits = |s: &&Vec<Member>| s.last().is_some_and(|last| last.offset < size && last.offset + 8 >= size);
    let told_apart = |s: &Vec<Member>| s.iter().filter(|m| m.tag() != WORD).map(|m| (m.offset, m.tag())).collect();
    let fitting: Vec<&Vec<Member>> = structures.iter().filter(fits).collect();
    let kinds: HashSet<Vec<(u64, &str)>> = fitting.iter().map(|s| told_apart(s)).collect();
    fitting.into_iter().max_by_key(|s| s.len()).filter(|_| kinds.len() == 1)
}

/// After Enzyme: allows inlining of the loops and their derivatives.
pub fn undo(module: &Module<'_>) {
    ir::allow_inlining(module, LOOP);
}

/// Before LLVM's pipeline: notes the size of a structure, and its members where the function around the copy handles only one of that size. At a `realloc`, whose
/// copy is not there yet, the size alone: the structure that the function handles there may be the one that has the address.
pub fn note_sizes(module: &Module<'_>) {
    let layouts = Layouts::of(module);
    for i in ir::all_instructions(module) {
        if let Some(copy) = of_unknown_length(i) {
            let members = layouts.handled_beside(i, copy.size).unwrap_or_default();
            let are_known = members.iter().all(|m| m.ty.is_some());
            note(i, copy.size, if are_known { &members } else { &[] });
        } else if let Some(size) = reallocated(i) {
            note(i, size, &[]);
        }
    }
}

fn note(call: Value, size: u64, members: &[Part]) {
    // SAFETY: a live call, and a node of its context.
    unsafe {
        let context = LLVMGetValueContext(call.0);
        let number = |n| LLVMValueAsMetadata(LLVMConstInt(LLVMInt64TypeInContext(context), n, 0));
        let text = |text: &str| LLVMMDStringInContext2(context, text.as_ptr().cast(), text.len());
        let mut noted = vec![number(size)];
        noted.extend(members.iter().flat_map(|part| [number(part.offset), number(part.size), text(part.name())]));
        let node = LLVMMDNodeInContext2(context, noted.as_mut_ptr(), noted.len());
        LLVMSetMetadata(call.0, kind(call), LLVMMetadataAsValue(context, node));
    }
}

/// The size of the structures that a call of `realloc` moves, if it does: what their number is multiplied by. The number may have a divisor of its own
/// (`room = 2 * room`).
fn reallocated(call: Value) -> Option<u64> {
    if call.callee()? != "realloc" || call.operand(1).constant().is_some() {
        return None;
    }
    let bytes = call.operand(1);
    let size = multiplier(bytes).unwrap_or_else(|| divisor(bytes, &mut HashSet::new()));
    (size > 8 && size <= LARGEST).then_some(size)
}

/// The constant that a product ends with.
fn multiplier(product: Value) -> Option<u64> {
    let constant = |i: u32| product.operand(i).constant();
    match product.op()? {
        Op::LLVMMul => constant(1).or_else(|| constant(0)).map(i64::unsigned_abs),
        Op::LLVMShl => constant(1).filter(|by| (0..=12).contains(by)).map(|by| 1 << by),
        _ => None,
    }
}

/// Whether it was noted that a call moves structures.
pub fn is_noted(call: Value) -> bool {
    !attached(call, SIZE).is_null()
}

/// Notes at a copy what was noted at a call that it is made of.
pub fn pass_on(from: Value, copy: Value) {
    // SAFETY: a live copy, and a node of its context.
    unsafe { LLVMSetMetadata(copy.0, kind(copy), attached(from, SIZE)) };
}

fn noted_size(call: Value) -> Option<u64> {
    number(*operands(attached(call, SIZE)).first()?)
}

fn noted_members(call: Value) -> Option<Vec<Member>> {
    let noted = operands(attached(call, SIZE));
    let member = |part: &[LLVMValueRef]| {
        Some(Member { offset: number(part[0])?, bytes: Some(number(part[1])?), name: text(part[2]) })
    };
    let members: Vec<Member> = noted.get(1..)?.chunks_exact(3).map(member).collect::<Option<_>>()?;
    (!members.is_empty()).then_some(members)
}

/// The type of all members of the structures that a copy moves; empty where they have several, or no numbers.
pub fn uniform_number(copy: Value) -> String {
    let members = noted_members(copy).unwrap_or_default();
    let first = members.first().filter(|first| first.is_float() && members.iter().all(|m| m.name == first.name));
    first.map_or_else(String::new, |first| first.name.clone())
}

/// The type and size of the first member of the structures that a copy moves, where none of them is a number.
pub fn first_of_no_numbers(copy: Value) -> Option<(&'static str, u64)> {
    let members = noted_members(copy).filter(|all| !all.iter().any(Member::is_float))?;
    let first = members.first().filter(|first| first.offset == 0)?;
    Some((if first.tag() == WORD { "long" } else { "any pointer" }, first.bytes?))
}

fn kind(call: Value) -> u32 {
    // SAFETY: a live instruction's context; the name has the length given.
    unsafe { LLVMGetMDKindIDInContext(LLVMGetValueContext(call.0), SIZE.as_ptr(), SIZE.count_bytes() as u32) }
}

fn of_unknown_length(call: Value) -> Option<Copy> {
    let name = call.callee()?;
    let is_copy = name.starts_with("llvm.memcpy.p0.p0.i64") || name.starts_with("llvm.memmove.p0.p0.i64");
    if !is_copy || call.operand(2).constant().is_some() || call.operand(3).constant() != Some(0) {
        return None;
    }
    let size = noted_size(call).unwrap_or_else(|| divisor(call.operand(2), &mut HashSet::new()));
    let alignments = [ir::stated_alignment(call, 0).max(1), ir::stated_alignment(call, 1).max(1)];
    (size > 8 && size <= LARGEST).then_some(Copy { call, size, alignments })
}

/// A number that a value is a multiple of: 1 where none is known, 0 for zero.
fn divisor(value: Value, seen: &mut HashSet<Value>) -> u64 {
    if let Some(number) = value.constant() {
        return number.unsigned_abs();
    }
    if !seen.insert(value) {
        // A value that comes round again adds nothing.
        return 0;
    }
    let mut of = |i: u32| divisor(value.operand(i), seen);
    let computed = match value.op() {
        Some(Op::LLVMAdd | Op::LLVMSub) => common(of(0), of(1)),
        Some(Op::LLVMMul) => of(0).saturating_mul(of(1)),
        Some(Op::LLVMShl) => match value.operand(1).constant() {
            Some(by @ 0..=12) => of(0) << by,
            _ => 1,
        },
        Some(Op::LLVMZExt | Op::LLVMSExt | Op::LLVMFreeze) => of(0),
        Some(Op::LLVMSelect) => common(of(1), of(2)),
        Some(Op::LLVMPHI) => (0..value.incoming().len() as u32).map(of).fold(0, common),
        _ => 1,
    };
    // C++ computes the number of elements between two pointers by an exact division.
    let divided = |user: &Value| match (user.is(Op::LLVMSDiv) || user.is(Op::LLVMUDiv)) && is_exact(*user) {
        true => user.operand(1).constant().filter(|_| user.operand(0) == value).map_or(0, i64::unsigned_abs),
        false => 0,
    };
    let exact = value.users().iter().map(divided).find(|by| *by > 1);
    exact.map_or(computed, |by| if computed > 1 && computed % by == 0 { computed } else { by })
}

fn is_exact(division: Value) -> bool {
    // SAFETY: a live division.
    unsafe { LLVMGetExact(division.0) != 0 }
}

/// The greatest common divisor; 0 is a multiple of everything.
fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}

/// A scalar member: where it begins, its size where it is known, and the name of its type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Member {
    offset: u64,
    bytes: Option<u64>,
    name: String,
}

impl Member {
    fn is_float(&self) -> bool {
        ["double", "float"].contains(&self.name.as_str())
    }

    /// The metadata of its type in [`described`].
    fn tag(&self) -> &'static str {
        match self.name.as_str() {
            "double" => "!3",
            "float" => "!5",
            name if name.contains("pointer") || name.starts_with('p') => "!7",
            _ => WORD,
        }
    }
}

fn is_mixed(members: &[Member]) -> bool {
    (1..members.len()).contains(&members.iter().filter(|m| m.is_float()).count())
}

/// The members of the structures that hold numbers beside something else, in order.
fn mixed_structures(all: &[Value]) -> BTreeSet<Vec<Member>> {
    let bases: HashSet<LLVMValueRef> = all.iter().filter_map(|i| base_type(*i)).collect();
    let mixed = |base: LLVMValueRef| {
        let mut members = Vec::new();
        flatten(base, 0, &mut members);
        members.sort();
        is_mixed(&members).then_some(members)
    };
    bases.into_iter().filter_map(mixed).collect()
}

/// The structure that the TBAA tag of a load or store names.
fn base_type(i: Value) -> Option<LLVMValueRef> {
    if !i.is(Op::LLVMLoad) && !i.is(Op::LLVMStore) {
        return None;
    }
    // A tag has a base type, an access type and an offset.
    operands(attached(i, c"tbaa")).first().copied().filter(|base| !base.is_null())
}

/// The scalar members of a type of TBAA. A structure is a name, and pairs of a type and an offset; a scalar is a name, its parent and 0.
fn flatten(ty: LLVMValueRef, at: u64, members: &mut Vec<Member>) {
    const MOST: usize = 256;
    let parts = operands(ty);
    // A structure with one member looks like a scalar, and its member decides nothing.
    if parts.len() <= 3 || members.len() > MOST {
        members.push(Member {
            offset: at,
            bytes: None,
            name: parts.first().map_or_else(String::new, |first| text(*first)),
        });
        return;
    }
    for pair in parts[1..].chunks_exact(2) {
        if let Some(offset) = number(pair[1]) {
            flatten(pair[0], at + offset, members);
        }
    }
}

/// The types of the members for a copy of one structure (`tbaa.struct`), by which Enzyme knows them. Numbers and words: what is no number
/// need not be told apart, and its bytes are those up to the next member.
fn described(size: u64, members: &[Member]) -> String {
    let ends = members.iter().skip(1).map(|m| m.offset).chain([size]);
    let part = |(member, end): (&Member, u64)| {
        let bytes = match member.tag() {
            "!5" => 4,
            WORD => member.bytes.unwrap_or(end - member.offset),
            _ => 8,
        };
        format!("i64 {}, i64 {bytes}, {}", member.offset, member.tag())
    };
    let parts: Vec<String> = members.iter().zip(ends).map(part).collect();
    format!(
        "!0 = !{{{}}}
!1 = !{{!\"ffgrad TBAA\"}}
!2 = !{{!\"omnipotent char\", !1, i64 0}}
!3 = !{{!4, !4, i64 0}}
!4 = !{{!\"double\", !2, i64 0}}
!5 = !{{!6, !6, i64 0}}
!6 = !{{!\"float\", !2, i64 0}}
!7 = !{{!8, !8, i64 0}}
!8 = !{{!\"any pointer\", !2, i64 0}}
!9 = !{{!10, !10, i64 0}}
!10 = !{{!\"long\", !2, i64 0}}
",
        parts.join(", ")
    )
}

/// Adds a loop over structures of a size. No block has three predecessors, since Enzyme reverses such ones wrongly (`three_predecessors.rs`).
fn define(module: &Module<'_>, name: &str, (size, [to, from], members): &(u64, [u64; 2], Vec<Member>)) -> Result<()> {
    let copy = |at: &str| {
        format!(
            "  %{at}.offset = mul nuw i64 %{at}, {size}
  %{at}.to = getelementptr inbounds i8, ptr %dst, i64 %{at}.offset
  %{at}.from = getelementptr inbounds i8, ptr %src, i64 %{at}.offset
  call void @llvm.memcpy.p0.p0.i64(ptr align {to} %{at}.to, ptr align {from} %{at}.from, i64 {size}, i1 false), !tbaa.struct !0
"
        )
    };
    let text = format!(
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @\"{name}\"(ptr captures(address) %dst, ptr captures(address) %src, i64 %bytes) noinline nounwind willreturn {{
entry:
  %n = udiv exact i64 %bytes, {size}
  %some = icmp ne i64 %n, 0
  %above = icmp ugt ptr %dst, %src
  br i1 %above, label %last, label %first
first:
  br i1 %some, label %upwards, label %behind
upwards:
  %i = phi i64 [ 0, %first ], [ %i.next, %upwards ]
{}  %i.next = add nuw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %behind, label %upwards
behind:
  br label %end
last:
  br i1 %some, label %downwards, label %before
downwards:
  %j.behind = phi i64 [ %n, %last ], [ %j, %downwards ]
  %j = sub nuw i64 %j.behind, 1
{}  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %before, label %downwards
before:
  br label %end
end:
  ret void
}}
{}",
        copy("i"),
        copy("j"),
        described(*size, members)
    );
    texts::link(module, &text, "copies of structures")?;
    if let Some(function) = module.get_function(name) {
        function.set_linkage(Linkage::Internal);
    }
    Ok(())
}

/// Calls the loop in the place of a copy.
fn replace(module: &Module<'_>, name: &str, copy: &Copy) {
    let Some(function) = module.get_function(name) else { return };
    let builder = module.get_context().create_builder();
    let call = copy.call;
    // SAFETY: a live copy, which has no value and is not used after it is erased; the loop takes its first three operands.
    unsafe {
        use inkwell::types::AsTypeRef;
        use inkwell::values::AsValueRef;
        LLVMPositionBuilderBefore(builder.as_mut_ptr(), call.0);
        let mut given = [call.operand(0).0, call.operand(1).0, call.operand(2).0];
        let ty = function.get_type().as_type_ref();
        LLVMBuildCall2(builder.as_mut_ptr(), ty, function.as_value_ref(), given.as_mut_ptr(), 3, c"".as_ptr());
    }
    call.erase();
}

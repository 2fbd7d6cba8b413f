//! Copies structures with a union of a number and an address word by word, for the pipeline `apart`.
//!
//! ```text
//! struct Value { int tag; union { double number; const double *row; long count; }; };
//! Value t = s[1];   s.push_back(t);                 ; memcpy: Enzyme must know of each byte whether a number is copied or an address
//! ```
//!
//! What a word holds, the tag says, or something else that the program knows. Its bits say it too: those of an address, or of an integer below 2^52, are the
//! bits of a denormal number, and those of a negative integer are not a number's. So the copy becomes a call of a loop over words, which copies a word as a
//! number or as an address; Enzyme differentiates that. Zero counts as a number. An integer beyond 2^52 is taken for a number: its shadow, which
//! nothing reads, changes. Before a word is stored it is cleared as the other kind (`mixed_words.rs` says why).
//!
//! Such a copy is one of a structure in which clang's `tbaa.struct` has a word of any type, or one in a function whose name mentions a class with such a member,
//! as those of `std::vector`. Only where the module accesses numbers of unions, in double precision alone.

use crate::ir::metadata::{attached, number, operands, text};
use crate::ir::{self, Op, Result, Value, markers, texts};
use crate::workarounds::mixed_words::{ANY_TYPE, may_be_of_union};
use inkwell::module::{Linkage, Module};
use inkwell::types::AsTypeRef;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::LLVMTypeKind;
use llvm_sys::LLVMTypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;
use std::collections::BTreeSet;

/// The name of the function that copies words.
pub const WORDS: &str = "ffgrad.words";

/// Bytes of a word.
const WORD: u64 = 8;

/// The loop. It goes downwards where the destination lies behind the source, as `memmove` does. A length that is no number of words is one of characters, which such a
/// function copies too.
const LOOP: &str = "
define void @ffgrad.words(ptr %to, ptr %from, i64 %bytes) noinline nounwind {
entry:
  %t = ptrtoint ptr %to to i64
  %f = ptrtoint ptr %from to i64
  %behind = icmp ugt i64 %t, %f
  %rest = and i64 %bytes, 7
  %whole = icmp eq i64 %rest, 0
  br i1 %whole, label %words, label %byte
byte:
  %bi = phi i64 [ 0, %entry ], [ %bnext, %byte ]
  %bnext = add nuw i64 %bi, 1
  %bdown = sub i64 %bytes, %bnext
  %bk = select i1 %behind, i64 %bdown, i64 %bi
  %bsource = getelementptr inbounds i8, ptr %from, i64 %bk
  %btarget = getelementptr inbounds i8, ptr %to, i64 %bk
  %bs = call ptr @ffgrad.object(ptr %bsource, i32 2)
  %bt = call ptr @ffgrad.object(ptr %btarget, i32 2)
  %character = load i8, ptr %bs, align 1
  %b = call i8 @ffgrad.hidden.i8(i8 %character)
  store i8 %b, ptr %bt, align 1
  %bdone = icmp eq i64 %bnext, %bytes
  br i1 %bdone, label %end, label %byte
words:
  %count = lshr i64 %bytes, 3
  %last = sub i64 %count, 1
  %none = icmp eq i64 %count, 0
  br i1 %none, label %end, label %head
head:
  %i = phi i64 [ 0, %words ], [ %next, %latch ]
  %down = sub i64 %last, %i
  %k = select i1 %behind, i64 %down, i64 %i
  %at = shl i64 %k, 3
  %source = getelementptr inbounds i8, ptr %from, i64 %at
  %target = getelementptr inbounds i8, ptr %to, i64 %at
  %any = call ptr @ffgrad.object(ptr %source, i32 2)
  %word = load i64, ptr %any, align 8
  %bits = call i64 @ffgrad.hidden.i64(i64 %word)
  %high = lshr i64 %bits, 52
  %exponent = and i64 %high, 2047
  %less = sub i64 %exponent, 1
  %normal = icmp ult i64 %less, 2046
  %zero = icmp eq i64 %bits, 0
  %number = or i1 %normal, %zero
  br i1 %number, label %numbers, label %addresses
numbers:
  %ns = call ptr @ffgrad.object(ptr %source, i32 1)
  %nt = call ptr @ffgrad.object(ptr %target, i32 1)
  %n = load double, ptr %ns, align 8
  %zn = call ptr @ffgrad.object(ptr %target, i32 3)
  store ptr null, ptr %zn, align 8
  store double %n, ptr %nt, align 8
  br label %latch
addresses:
  %as = call ptr @ffgrad.object(ptr %source, i32 3)
  %a = load ptr, ptr %as, align 8
  %za = call ptr @ffgrad.object(ptr %target, i32 1)
  store double 0.0, ptr %za, align 8
  %ta = call ptr @ffgrad.object(ptr %target, i32 3)
  store ptr %a, ptr %ta, align 8
  br label %latch
latch:
  %next = add nuw i64 %i, 1
  %done = icmp eq i64 %next, %count
  br i1 %done, label %end, label %head
end:
  ret void
}
declare ptr @ffgrad.object(ptr, i32)
declare i64 @ffgrad.hidden.i64(i64)
declare i8 @ffgrad.hidden.i8(i8)
";

/// Replaces the copies. Before variables become values, and before their copies loads and stores of integers.
///
/// # Errors
///
/// LLVM's own.
pub fn run(module: &Module<'_>) -> Result<()> {
    let all = ir::all_instructions(module);
    if !all.iter().any(|i| is_number_of_union(*i, LLVMDoubleTypeKind))
        || all.iter().any(|i| is_number_of_union(*i, LLVMFloatTypeKind))
    {
        return Ok(());
    }
    let classes = classes(&all);
    let copies_of = |function: FunctionValue<'_>| {
        let name = function.get_name().to_string_lossy().into_owned();
        let is_of_class = classes.iter().any(|class| name.contains(class.as_str()));
        let all = ir::blocks(function).into_iter().flat_map(|b| b.instructions()).filter(|i| may_copy_words(*i));
        let is_wanted = |copy: &Value| match copy.operand(2).constant() {
            Some(_) => has_word_of_any_type(*copy),
            None => is_of_class,
        };
        all.filter(is_wanted).collect::<Vec<Value>>()
    };
    let copies: Vec<Value> = ir::functions(module).into_iter().flat_map(copies_of).collect();
    if copies.is_empty() {
        return Ok(());
    }
    // What the loop calls has attributes.
    markers::object(module);
    for integer in [module.get_context().i64_type(), module.get_context().i8_type()] {
        markers::hidden(module, integer.as_type_ref()).ok_or("no marker of integers")?;
    }
    texts::link(module, LOOP, "copies of words")?;
    let words = module.get_function(WORDS).ok_or("no copies of words")?;
    words.set_linkage(Linkage::Internal);
    copies.into_iter().for_each(|copy| replace(module, copy, words));
    Ok(())
}

fn replace(module: &Module<'_>, copy: Value, words: FunctionValue<'_>) {
    // SAFETY: a live call, replaced by one of a function with the first three of its operands' types.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, copy.0);
        let words = words.as_value_ref();
        let mut operands = [copy.operand(0).0, copy.operand(1).0, copy.operand(2).0];
        LLVMBuildCall2(builder, LLVMGlobalGetValueType(words), words, operands.as_mut_ptr(), 3, c"".as_ptr());
        LLVMDisposeBuilder(builder);
        LLVMInstructionEraseFromParent(copy.0);
    }
}

fn is_number_of_union(access: Value, kind: LLVMTypeKind) -> bool {
    let accessed = match access.op() {
        Some(Op::LLVMLoad) => access,
        Some(Op::LLVMStore) => access.operand(0),
        _ => return false,
    };
    // SAFETY: a live type.
    unsafe { LLVMGetTypeKind(accessed.ty()) == kind && may_be_of_union(access) }
}

/// Whether it is a copy of whole words, or of a length that is not known here.
fn may_copy_words(i: Value) -> bool {
    let is_copy = i
        .callee()
        .is_some_and(|name| name.starts_with("llvm.memcpy.p0.p0.i64") || name.starts_with("llvm.memmove.p0.p0.i64"));
    let whole = |bytes: i64| u64::try_from(bytes).is_ok_and(|bytes| bytes % WORD == 0);
    is_copy && i.operand(3).constant() == Some(0) && i.operand(2).constant().is_none_or(whole)
}

/// Whether clang's description of a copy (offset, size, tag of each part) has a word of any type.
fn has_word_of_any_type(copy: Value) -> bool {
    operands(attached(copy, c"tbaa.struct")).chunks(3).any(|part| {
        let [at, bytes, tag] = part else { return false };
        let ty = operands(*tag).get(1).map(|ty| operands(*ty)).unwrap_or_default();
        let is_any = ty.first().is_some_and(|name| text(*name) == ANY_TYPE);
        is_any && number(*bytes) == Some(WORD) && number(*at).is_some_and(|at| at % WORD == 0)
    })
}

/// The mangled names of classes with a member of any type, without their prefix.
fn classes(all: &[Value]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for access in all.iter().filter(|i| matches!(i.op(), Some(Op::LLVMLoad | Op::LLVMStore))) {
        let tag = operands(attached(*access, c"tbaa"));
        let Some(base) = tag.first().map(|base| operands(*base)) else { continue };
        let members = base.iter().skip(1).step_by(2).map(|member| operands(*member));
        let is_any = |member: Vec<LLVMValueRef>| {
            // The anonymous union itself has one such member.
            let inner = member.get(1).map(|inner| operands(*inner)).unwrap_or_default();
            member.first().is_some_and(|name| text(*name) == ANY_TYPE)
                || inner.first().is_some_and(|name| text(*name) == ANY_TYPE) && member.len() == 3
        };
        let name = base.first().map(|name| text(*name)).unwrap_or_default();
        if let Some(class) = name.strip_prefix("_ZTS")
            && members.into_iter().any(is_any)
        {
            found.insert(class.to_owned());
        }
    }
    found
}

//! Keeps apart the types of words of memory that hold a number at one time and an address or an integer at another, for the pipeline `apart`.
//!
//! ```text
//! struct Node { int kind; union { double value; const double *variable; }; };
//! %v = load double, ptr %word         becomes      %w = call ptr @ffgrad.object(ptr %word, i32 1)
//! %p = load ptr, ptr %word                         %v = load double, ptr %w
//! ```
//!
//! Enzyme's type analysis gives a word one type, and refuses nodes of expressions and other values with a tag ("Illegal updateAnalysis"). A shadow needs no type: it has
//! the adjoint of a number where the memory has a number, and the shadow's address where it has an address. So numbers of such words are accessed by
//! an address that type analysis does not know; integers by another one.
//!
//! A word is one of these where clang's tag of an access is that of any type (`omnipotent char`), as for members of a union, or where one function accesses
//! it at the same distance from the same address by several types.

use crate::ir::metadata::{attached, operands, text};
use crate::ir::{self, Op, Value, markers};
use crate::workarounds::tagged_copies;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::LLVMTypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMIntegerTypeKind, LLVMPointerTypeKind};
use llvm_sys::core::*;
use std::collections::{BTreeSet, HashMap};

/// clang's name for TBAA of what may alias with everything.
pub const ANY_TYPE: &str = "omnipotent char";

/// The view of numbers.
const NUMBERS: u32 = 1;

/// The view of addresses, where theirs must be unknown too.
const ADDRESSES: u32 = 3;

/// What an access takes a word for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Address,
    Number,
    Integer,
}

impl Kind {
    fn of(access: Value) -> Option<Kind> {
        let value = if access.is(Op::LLVMStore) { access.operand(0) } else { access };
        // SAFETY: a live type.
        match unsafe { LLVMGetTypeKind(value.ty()) } {
            LLVMPointerTypeKind => Some(Kind::Address),
            LLVMDoubleTypeKind | LLVMFloatTypeKind => Some(Kind::Number),
            LLVMIntegerTypeKind => Some(Kind::Integer),
            _ => None,
        }
    }

    /// The view of [`markers::object`]: LLVM would make one call of two with the same.
    const fn view(self) -> Option<u32> {
        match self {
            Kind::Address => None,
            Kind::Number => Some(NUMBERS),
            Kind::Integer => Some(2),
        }
    }
}

/// Hides the addresses. Before `opaque-objects`, which gives the marker its body.
pub fn run(module: &Module<'_>) {
    for function in ir::functions(module) {
        run_in(module, function);
    }
}

fn run_in(module: &Module<'_>, function: FunctionValue<'_>) {
    retype(module, function);
    let mut words: HashMap<(Value, u64), Vec<(Value, Kind)>> = HashMap::new();
    for access in ir::blocks(function).into_iter().flat_map(|b| b.instructions()).filter(|i| !i.is_special()) {
        let Some(address) = address_of(access) else { continue };
        if let (Some(kind), Some(word)) = (Kind::of(access), word(address)) {
            words.entry(word).or_default().push((access, kind));
        }
    }
    for accesses in words.into_values() {
        let kinds: BTreeSet<Kind> = accesses.iter().map(|(_, kind)| *kind).collect();
        for (access, kind) in accesses {
            if access.is(Op::LLVMStore) && (kinds.len() > 1 || may_be_of_union(access)) {
                clear(module, access, kind);
            }
            if kinds.len() > 1 || kind == Kind::Number && may_be_of_union(access) {
                hide(module, access, kind);
            }
        }
    }
}

fn address_of(access: Value) -> Option<Value> {
    match access.op() {
        Some(Op::LLVMLoad) => Some(access.operand(0)),
        Some(Op::LLVMStore) => Some(access.operand(1)),
        _ => None,
    }
}

/// What an address is at which distance from; none of a variable, which becomes a value.
fn word(mut address: Value) -> Option<(Value, u64)> {
    let mut distance = 0u64;
    while address.is(Op::LLVMGetElementPtr) && steps_by_bytes(address) {
        distance = distance.wrapping_add(u64::try_from(address.operand(1).constant()?).ok()?);
        address = address.operand(0);
    }
    (!address.is(Op::LLVMAlloca) || is_copied(address)).then_some((address, distance))
}

/// Whether a variable is one that `tagged-copies` has found: it stays in memory.
fn is_copied(variable: Value) -> bool {
    variable.users().iter().any(|user| user.callee().is_some_and(|name| name == tagged_copies::WORDS))
}

/// Whether a value has the size of an address and of a number.
fn is_word(value: Value) -> bool {
    // SAFETY: live types.
    unsafe {
        match LLVMGetTypeKind(value.ty()) {
            LLVMPointerTypeKind | LLVMDoubleTypeKind => true,
            LLVMIntegerTypeKind => LLVMGetIntTypeWidth(value.ty()) == 64,
            _ => false,
        }
    }
}

/// Gives accesses of a structure that is passed in integer registers the types that the function takes the integers for: `bitcast (load i64)` becomes
/// `load double`, `inttoptr (load i64)` becomes `load ptr`, and `store (bitcast double)` becomes `store double`.
fn retype(module: &Module<'_>, function: FunctionValue<'_>) {
    if module.get_function(tagged_copies::WORDS).is_none() {
        return;
    }
    // SAFETY: live accesses of the module, beside which the new ones are built, with the same address.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        for access in ir::blocks(function).into_iter().flat_map(|b| b.instructions()).filter(|i| !i.is_special()) {
            let is_cast = |i: &Value| matches!(i.op(), Some(Op::LLVMBitCast | Op::LLVMIntToPtr | Op::LLVMPtrToInt));
            if access.is(Op::LLVMLoad) && Kind::of(access) == Some(Kind::Integer) && is_word(access) {
                for cast in access.users().into_iter().filter(is_cast) {
                    LLVMPositionBuilderBefore(builder, access.0);
                    let typed = LLVMBuildLoad2(builder, cast.ty(), access.operand(0).0, c"".as_ptr());
                    LLVMSetAlignment(typed, LLVMGetAlignment(access.0));
                    LLVMReplaceAllUsesWith(cast.0, typed);
                    LLVMInstructionEraseFromParent(cast.0);
                }
                if access.users().is_empty() {
                    LLVMInstructionEraseFromParent(access.0);
                }
            } else if access.is(Op::LLVMStore) && is_cast(&access.operand(0)) && is_word(access.operand(0)) {
                LLVMSetOperand(access.0, 0, access.operand(0).operand(0).0);
            }
        }
        LLVMDisposeBuilder(builder);
    }
}

fn steps_by_bytes(step: Value) -> bool {
    // SAFETY: a live instruction that computes an address.
    let ty = unsafe { LLVMGetGEPSourceElementType(step.0) };
    // SAFETY: a live type.
    let is_byte = unsafe { LLVMGetTypeKind(ty) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(ty) == 8 };
    is_byte && step.operands().len() == 2
}

/// Whether clang has tagged an access as one of a member of a union.
pub fn may_be_of_union(access: Value) -> bool {
    let tag = operands(attached(access, c"tbaa"));
    tag.get(1).and_then(|ty| operands(*ty).first().copied()).is_some_and(|name| text(name) == ANY_TYPE)
}

/// Clears the shadow of a word for what is stored next. Zero as a number, before an address or an integer, does so in the reverse sweep: a number that was there
/// before takes its adjoint from the shadow. No address, before a number, does so in the forward sweep, where numbers leave the shadow as it is.
fn clear(module: &Module<'_>, store: Value, kind: Kind) {
    if !is_word(store.operand(0)) {
        return;
    }
    // SAFETY: a live store, before which its address is defined.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let (view, ty) = match kind {
            Kind::Number => (ADDRESSES, LLVMPointerTypeInContext(context, 0)),
            Kind::Address | Kind::Integer => (NUMBERS, LLVMDoubleTypeInContext(context)),
        };
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, store.0);
        let place = markers::call_object(module, builder, store.operand(1).0, view);
        let zero = LLVMBuildStore(builder, LLVMConstNull(ty), place);
        LLVMSetAlignment(zero, LLVMGetAlignment(store.0));
        LLVMDisposeBuilder(builder);
    }
}

fn hide(module: &Module<'_>, access: Value, kind: Kind) {
    let (Some(view), Some(address)) = (kind.view(), address_of(access)) else { return };
    let operand = if access.is(Op::LLVMStore) { 1 } else { 0 };
    // SAFETY: a live access, before which its address is defined.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, access.0);
        let hidden = markers::call_object(module, builder, address.0, view);
        LLVMDisposeBuilder(builder);
        LLVMSetOperand(access.0, operand, hidden);
    }
}

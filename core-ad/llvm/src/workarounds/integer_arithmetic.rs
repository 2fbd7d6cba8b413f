//! Says of integers that are computed that they are integers.
//!
//! A counter or an error code that is set to constants and comes back through memory has no type for Enzyme (0 may be a number's bits, too), and
//! a sum of two such values is refused ("cannot handle unknown binary operator"). The smallest IR:
//!
//! ```text
//! %status = load i32, ptr %s                              ; nothing but i32 0 is stored there
//! %more = add i32 %status, -100                           ; Enzyme: unknown
//! ```
//!
//! Nobody adds to the bits of a number but code that takes it apart (`frexp`, tables of exponents), where a cast between the two shows, or memory that
//! is read as both. A sum, difference or product that is computed from, and goes into, values without such a cast is an integer.
//!
//! A bit-field is read and written together with its neighbours, and clang says nothing of the type of such memory: what it loads for one is an
//! integer (`node.flag = true` is an `or` of the word that it is in).
//!
//! So is what is counted up by compare and exchange: the owners of an object, in `std::weak_ptr::lock`. Sums of numbers that threads share have a cast
//! between the two, and a floating-point addition. Enzyme has no derivative of that instruction, so an inactive function does it, and atomic sums of
//! integers as well, which Enzyme refuses where it knows no type of the memory ("Active atomic inst not yet handled").

use crate::ir::{self, Op, Value, count_markers, is_argument};
use inkwell::module::Module;
use inkwell::values::AsValueRef;
use llvm_sys::LLVMAtomicRMWBinOp::{LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpSub};
use llvm_sys::LLVMIntPredicate::LLVMIntEQ;
use llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind;
use llvm_sys::core::*;
use std::collections::HashSet;

/// Marks them.
pub fn run(module: &Module<'_>) {
    for function in ir::functions(module) {
        let all: Vec<Value> = ir::blocks(function).into_iter().flat_map(|b| b.instructions()).collect();
        let floats = Bases::of(&all);
        for i in all.iter().filter(|i| is_sum(**i) && is_word(**i)) {
            if is_integer(*i, &floats) {
                mark(*i);
            }
        }
        all.iter().filter(|i| holds_bit_field(**i)).copied().for_each(mark);
        for i in all.iter().filter(|i| i.is(Op::LLVMAtomicCmpXchg) && counts(**i)) {
            exchange(module, *i);
        }
        all.iter().filter(|i| i.is(Op::LLVMAtomicRMW)).for_each(|i| update(module, *i));
    }
}

/// Whether it is a word that clang loads for a bit-field: it has this name then, which no variable can have.
fn holds_bit_field(i: Value) -> bool {
    // SAFETY: a live type.
    let is_integer = i.is(Op::LLVMLoad) && unsafe { LLVMGetTypeKind(i.ty()) } == LLVMIntegerTypeKind;
    is_integer && i.name().starts_with("bf.load")
}

/// Whether what is exchanged for an integer is its sum with another one.
fn counts(exchange: Value) -> bool {
    let (old, new) = (exchange.operand(1), exchange.operand(2));
    let users = exchange.users();
    is_sum(new) && is_word(new) && new.operands().contains(&old) && users.iter().all(|u| u.is(Op::LLVMExtractValue))
}

/// Has a function compare and exchange, which Enzyme calls as it is; marks what is compared with and exchanged.
fn exchange(module: &Module<'_>, exchange: Value) {
    let [place, old, new] = [0, 1, 2].map(|i| exchange.operand(i));
    // SAFETY: a live instruction of the module; it is erased behind its users, which take its two results apart.
    unsafe {
        let function = count_markers::exchange(module, LLVMGetIntTypeWidth(old.ty())).as_value_ref();
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, exchange.0);
        let (ty, mut given) = (LLVMGlobalGetValueType(function), [place.0, old.0, new.0]);
        let found = LLVMBuildCall2(builder, ty, function, given.as_mut_ptr(), 3, c"".as_ptr());
        let is_done = LLVMBuildICmp(builder, LLVMIntEQ, found, old.0, c"".as_ptr());
        LLVMDisposeBuilder(builder);
        for user in exchange.users() {
            let result = if is_word(user) { found } else { is_done };
            LLVMReplaceAllUsesWith(user.0, result);
            user.erase();
        }
    }
    exchange.erase();
    [old, new].into_iter().filter(|i| i.is_instruction()).for_each(mark);
}

/// Has a function add to an integer that threads share, which Enzyme calls as it is.
fn update(module: &Module<'_>, update: Value) {
    let (place, by) = (update.operand(0), update.operand(1));
    // SAFETY: a live instruction of the module, which the call of a function with these parameters replaces.
    unsafe {
        let operation = LLVMGetAtomicRMWBinOp(update.0);
        if !is_word(update) || !matches!(operation, LLVMAtomicRMWBinOpAdd | LLVMAtomicRMWBinOpSub) {
            return;
        }
        let function = count_markers::update(module, LLVMGetIntTypeWidth(update.ty())).as_value_ref();
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, update.0);
        let by = if operation == LLVMAtomicRMWBinOpSub { LLVMBuildNeg(builder, by.0, c"".as_ptr()) } else { by.0 };
        let ty = LLVMGlobalGetValueType(function);
        let found = LLVMBuildCall2(builder, ty, function, [place.0, by].as_mut_ptr(), 2, c"".as_ptr());
        LLVMDisposeBuilder(builder);
        LLVMReplaceAllUsesWith(update.0, found);
    }
    update.erase();
}

fn is_sum(i: Value) -> bool {
    matches!(i.op(), Some(Op::LLVMAdd | Op::LLVMSub | Op::LLVMMul))
}

/// Whether it is an integer as wide as a number.
fn is_word(i: Value) -> bool {
    // SAFETY: a live type.
    unsafe { LLVMGetTypeKind(i.ty()) == LLVMIntegerTypeKind && matches!(LLVMGetIntTypeWidth(i.ty()), 32 | 64) }
}

/// The objects that are read or written as numbers, or as a whole.
struct Bases(HashSet<Value>);

impl Bases {
    fn of(all: &[Value]) -> Bases {
        let mut found = HashSet::new();
        for i in all {
            match i.op() {
                Some(Op::LLVMLoad) if i.holds_floats() => drop(found.insert(i.operand(0).base())),
                Some(Op::LLVMStore) if i.operand(0).holds_floats() => drop(found.insert(i.operand(1).base())),
                // A type marker, or any other function, knows more of the memory than we do.
                Some(Op::LLVMCall | Op::LLVMInvoke) => {
                    found.extend(i.operands().into_iter().filter(|o| o.is_pointer()).map(Value::base));
                }
                _ => {}
            }
        }
        Bases(found)
    }

    /// Whether what is read there is no number's bits: memory of this function, or given to it, which it uses for integers alone.
    fn has_integers(&self, address: Value) -> bool {
        let base = address.base();
        (base.is(Op::LLVMAlloca) || is_argument(base)) && !self.0.contains(&base)
    }
}

/// Whether all that goes into it, and all that it goes into, are integers.
fn is_integer(sum: Value, floats: &Bases) -> bool {
    let (mut seen, mut open) = (HashSet::new(), vec![sum]);
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        let sources = match value.op().filter(|_| value.is_instruction()) {
            _ if !value.is_instruction() && !is_argument(value) => continue,
            Some(
                Op::LLVMAdd
                | Op::LLVMSub
                | Op::LLVMMul
                | Op::LLVMPHI
                | Op::LLVMSelect
                | Op::LLVMAnd
                | Op::LLVMOr
                | Op::LLVMXor
                | Op::LLVMShl
                | Op::LLVMLShr
                | Op::LLVMAShr
                | Op::LLVMTrunc
                | Op::LLVMZExt
                | Op::LLVMSExt
                | Op::LLVMFreeze,
            ) => value.operands(),
            Some(Op::LLVMLoad) if floats.has_integers(value.operand(0)) => Vec::new(),
            Some(
                Op::LLVMICmp
                | Op::LLVMFPToSI
                | Op::LLVMFPToUI
                | Op::LLVMSDiv
                | Op::LLVMUDiv
                | Op::LLVMSRem
                | Op::LLVMURem,
            ) => {
                continue;
            }
            None if is_argument(value) => return false,
            _ => return false,
        };
        open.extend(sources.into_iter().filter(|s| s.is_instruction() || is_argument(*s)));
        // Where it goes to: a cast would make it a number.
        let users = value.users().into_iter();
        for user in users {
            match user.op() {
                Some(Op::LLVMBitCast) => return false,
                Some(
                    Op::LLVMAdd
                    | Op::LLVMSub
                    | Op::LLVMMul
                    | Op::LLVMPHI
                    | Op::LLVMSelect
                    | Op::LLVMAnd
                    | Op::LLVMOr
                    | Op::LLVMXor
                    | Op::LLVMShl
                    | Op::LLVMLShr
                    | Op::LLVMAShr
                    | Op::LLVMTrunc
                    | Op::LLVMZExt
                    | Op::LLVMSExt
                    | Op::LLVMFreeze,
                ) => open.push(user),
                Some(Op::LLVMStore) if !floats.has_integers(user.operand(1)) => return false,
                _ => {}
            }
        }
    }
    true
}

/// `{[-1]:Integer}`, as Enzyme reads it.
fn mark(i: Value) {
    // SAFETY: a live instruction; every node is of its context.
    unsafe {
        let context = LLVMGetValueContext(i.0);
        let text = |text: &str| LLVMMDStringInContext2(context, text.as_ptr().cast(), text.len());
        let node = |parts: &mut [_]| LLVMMDNodeInContext2(context, parts.as_mut_ptr(), parts.len());
        let everywhere = LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(context), u64::MAX, 1));
        let integer = node(&mut [text("Integer")]);
        let ty = LLVMMetadataAsValue(context, node(&mut [text("Unknown"), everywhere, integer]));
        LLVMSetMetadata(i.0, LLVMGetMDKindIDInContext(context, c"enzyme_type".as_ptr(), 11), ty);
    }
}

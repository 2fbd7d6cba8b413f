//! Makes Fortran procedures inactive that make or print text and hold no floating-point value, with all that they call.
//!
//! ```text
//! subroutine xermsg(librar, subrou, messg, nerr, level)     ! SLATEC reports every error by it
//! temp(1:15) = 'MESSAGE FROM '; temp(16:) = librar          ! memmove
//! ```
//!
//! Enzyme refuses a copy of memory of which no access says a type ("Cannot deduce type of copy"), as all copies of text are. A procedure that
//! neither loads, stores, passes nor computes a floating-point value, and reads none by the runtime library, has no derivative.

use crate::ir::{self, Op, Value};
use crate::rules::inactive;
use crate::workarounds::copy_types::{copies_characters, copies_integers, fills_characters};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::LLVMTypeKind::*;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMTypeRef;
use std::collections::HashMap;

/// Functions of flang's runtime library, and of ours, that only handle text, print, or stop: how their names begin.
const RUNTIME: [&str; 17] = [
    "_FortranAio",
    "_FortranACharacter",
    "_FortranATrim",
    "_FortranAAdjust",
    "_FortranARepeat",
    "_FortranAIndex",
    "_FortranALenTrim",
    "_FortranAScan",
    "_FortranAVerify",
    "_FortranAStop",
    "_FortranAPause",
    "_FortranAExit",
    "_FortranAAbort",
    "_FortranASystemClock",
    "_FortranADateAndTime",
    "ffgrad.silent.",
    "ffgrad_stop",
];

/// Those of them that may fill memory of numbers.
const READS: [&str; 3] = ["_FortranAioInputReal", "_FortranAioInputComplex", "_FortranAioInputDescriptor"];

/// How flang's names of constants begin.
const CONSTANT: &str = "_QQ";

/// A procedure that holds no floating-point value itself.
struct Body {
    function: FunctionValue<'static>,
    /// The functions of the module that it calls.
    calls: Vec<Value>,
    /// It calls the runtime library, or copies a constant text.
    handles_text: bool,
}

/// Marks them.
pub fn run(module: &Module<'_>) {
    let bodies = ir::functions(module).into_iter().filter_map(look);
    let mut found: HashMap<Value, Body> = bodies.map(|b| (Value(b.function.as_value_ref()), b)).collect();
    loop {
        let calls_others = |b: &Body| !b.calls.iter().all(|c| found.contains_key(c));
        let out: Vec<Value> = found.iter().filter(|(_, b)| calls_others(b)).map(|(f, _)| *f).collect();
        if out.is_empty() {
            break;
        }
        out.iter().for_each(|f| drop(found.remove(f)));
    }
    for body in found.values().filter(|b| b.handles_text) {
        inactive::mark_one(module, body.function, true);
    }
}

/// What a function does, if no floating-point value and no address that stays can pass through it.
fn look(function: FunctionValue<'_>) -> Option<Body> {
    // SAFETY: a live function, whose type outlives the pass.
    let (function, result) = unsafe {
        let same = FunctionValue::new(function.as_value_ref())?;
        (same, LLVMGetReturnType(LLVMGlobalGetValueType(same.as_value_ref())))
    };
    if function.count_basic_blocks() == 0 || !is_whole(result) || ir::arguments(function).into_iter().any(holds_number)
    {
        return None;
    }
    let mut body = Body { function, calls: Vec::new(), handles_text: false };
    for i in ir::blocks(function).into_iter().flat_map(|b| b.instructions()) {
        if holds_number(i) || i.operands().into_iter().any(holds_number) {
            return None;
        }
        match i.op() {
            Some(Op::LLVMCall) => call(i, &mut body)?,
            Some(Op::LLVMStore) if i.operand(0).is_pointer() && !is_in_variable(i.operand(1)) => return None,
            Some(Op::LLVMInvoke | Op::LLVMIntToPtr | Op::LLVMAtomicRMW | Op::LLVMAtomicCmpXchg) => return None,
            _ => {}
        }
    }
    Some(body)
}

/// Takes note of a call; `None`: a floating-point value may pass through it.
fn call(call: Value, body: &mut Body) -> Option<()> {
    let (callee, name) = (call.called()?, call.callee()?);
    if matches!(name.as_str(), "malloc" | "free") {
        return Some(());
    }
    if name.starts_with("llvm.memmove.") || name.starts_with("llvm.memcpy.") {
        // Other copies may be of objects with numbers.
        let from_text = is_text(call.operand(1));
        body.handles_text |= from_text;
        return (from_text || copies_characters(call) || copies_integers(call)).then_some(());
    }
    if fills_characters(call) {
        return Some(());
    }
    if RUNTIME.iter().any(|start| name.starts_with(start)) {
        body.handles_text = true;
        return (!READS.iter().any(|start| name.starts_with(start))).then_some(());
    }
    if name.starts_with("llvm.") {
        let may_move = ["llvm.memcpy", "llvm.memset"].iter().any(|start| name.starts_with(start));
        return (!may_move).then_some(());
    }
    // SAFETY: the live function that is called by name.
    let has_body = unsafe { LLVMCountBasicBlocks(callee.0) > 0 };
    body.calls.push(callee);
    has_body.then_some(())
}

/// Whether a constant of flang's own.
fn is_text(value: Value) -> bool {
    // SAFETY: asked of a live value.
    let is_global = unsafe { !LLVMIsAGlobalVariable(value.0).is_null() };
    is_global && value.name().starts_with(CONSTANT)
}

/// Whether a local variable is at that address.
fn is_in_variable(address: Value) -> bool {
    address.base().is(Op::LLVMAlloca)
}

fn is_whole(ty: LLVMTypeRef) -> bool {
    // SAFETY: a live type.
    matches!(unsafe { LLVMGetTypeKind(ty) }, LLVMVoidTypeKind | LLVMIntegerTypeKind)
}

/// Whether a value is, or has in it, a floating-point value.
fn holds_number(value: Value) -> bool {
    // SAFETY: a live value's type.
    unsafe { has_number(value.ty()) }
}

/// # Safety
///
/// The type is a live one.
unsafe fn has_number(ty: LLVMTypeRef) -> bool {
    // SAFETY: each question is asked of the kind of type that it is for.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMVoidTypeKind | LLVMIntegerTypeKind | LLVMPointerTypeKind | LLVMLabelTypeKind | LLVMMetadataTypeKind => {
                false
            }
            LLVMArrayTypeKind | LLVMVectorTypeKind => has_number(LLVMGetElementType(ty)),
            LLVMStructTypeKind => {
                (0..LLVMCountStructElementTypes(ty)).any(|i| has_number(LLVMStructGetTypeAtIndex(ty, i)))
            }
            LLVMFunctionTypeKind => false,
            _ => true,
        }
    }
}

//! What calls of functions without a body in the module do with integers and memory, by their arguments and names.

use crate::ir::{Op, Value};

/// Functions of the C library that write an integer or text for a floating-point number to memory.
const WRITING: [&str; 7] = ["frexp", "remquo", "lgamma", "sprintf", "snprintf", "__sprintf_chk", "__snprintf_chk"];

/// Functions whose effects on memory show nothing of what they are given, or tell only whether a call is the first one.
const SILENT: [&str; 5] = ["_Zdl", "_Zda", "__cxa_", "ffgrad.", "__enzyme"];

/// Whether a call gives an integer, or a structure with one, for a floating-point number.
pub fn makes_integer_of_float(call: Value) -> bool {
    !call.holds_floats() && !call.is_pointer() && !call.calls_a_body() && arguments(call).any(Value::holds_floats)
}

/// Whether an instruction calls one that writes an integer or text for a floating-point number.
pub fn writes_for_values(i: Value) -> bool {
    let is_call = i.is(Op::LLVMCall) || i.is(Op::LLVMInvoke);
    is_call
        && !i.calls_a_body()
        && arguments(i).any(Value::holds_floats)
        && i.callee().is_some_and(|name| WRITING.iter().any(|w| name.starts_with(w)))
}

/// Whether what a function does with memory tells nothing of what it is given.
pub fn is_silent(callee: &str) -> bool {
    callee == "free" || SILENT.iter().any(|name| callee.starts_with(name))
}

/// What a call passes.
pub fn arguments(call: Value) -> impl Iterator<Item = Value> {
    let callee = call.called();
    call.operands().into_iter().filter(move |o| Some(*o) != callee && !o.is_block())
}

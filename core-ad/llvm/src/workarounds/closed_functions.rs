//! Makes functions inactive that give back constants of the machine, or others that they keep to themselves, and read memory as numbers and as integers.
//!
//! ```text
//! double precision function d1mach(i) ... equivalence (dmach(1), small(1))   ! every routine of QUADPACK, SLATEC, PORT asks it for the precision
//! ```
//!
//! Enzyme's type analysis gives memory one type, and fails where it is read as two ("Illegal updateAnalysis", "illegal insertion"). What such a
//! function returns can have no derivative: it is given integers only, and uses memory that none but functions of this kind can reach. A
//! function that is inactive is not looked into.

use crate::analysis::memory_objects::is_neutral;
use crate::ir::{self, Op, Value, set_string_attribute};
use crate::rules::inactive;
use inkwell::attributes::AttributeLoc;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::LLVMTypeKind::*;
use llvm_sys::core::*;
use std::collections::{HashMap, HashSet};

/// What such functions are marked with.
const CLOSED: &str = "ffgrad-closed";

/// Libraries that a closed function may call with what it has: none hands back a number that depends on anything else.
const HARMLESS: [&str; 3] = ["_FortranA", "ffgrad_stop", "llvm."];

/// What a function does, as far as it matters here.
struct Body {
    function: Value,
    /// The functions here that it calls.
    calls: Vec<Value>,
    /// The global variables that it reads or writes.
    globals: HashSet<Value>,
    /// It reads or writes one object as numbers and as integers.
    mixes: bool,
}

/// Marks them.
pub fn run(module: &Module<'_>) {
    let found: Vec<Body> = ir::functions(module).into_iter().filter_map(look).collect();
    let mut closed: HashSet<Value> = found.iter().map(|b| b.function).collect();
    loop {
        let open = |b: &&Body| {
            closed.contains(&b.function)
                && !(b.calls.iter().all(|c| closed.contains(c)) && b.globals.iter().all(|g| is_among(*g, &closed)))
        };
        let out: Vec<Value> = found.iter().filter(open).map(|b| b.function).collect();
        if out.is_empty() {
            break;
        }
        closed.retain(|f| !out.contains(f));
    }
    for body in found.iter().filter(|b| b.mixes && closed.contains(&b.function)) {
        // SAFETY: a live function of the module.
        if let Some(function) = unsafe { FunctionValue::new(body.function.0) } {
            inactive::mark_one(module, function, true);
            set_string_attribute(module, function, CLOSED, "");
        }
    }
}

/// Whether only closed functions use a global.
pub fn owns(global: Value) -> bool {
    let is_closed = |user: Value| {
        // SAFETY: a live instruction of a function.
        let function = unsafe { FunctionValue::new(LLVMGetBasicBlockParent(user.parent().0)) };
        function.is_some_and(|f| f.get_string_attribute(AttributeLoc::Function, CLOSED).is_some())
    };
    // Constants may hold each other's addresses in a circle: variables that list each other.
    let (mut seen, mut next) = (HashSet::from([global]), vec![global]);
    while let Some(value) = next.pop() {
        for user in value.users() {
            if user.is_instruction() && !is_closed(user) {
                return false;
            }
            if !user.is_instruction() && seen.insert(user) {
                next.push(user);
            }
        }
    }
    !global.users().is_empty()
}

/// Whether all that use a global are functions of a set.
fn is_among(global: Value, functions: &HashSet<Value>) -> bool {
    global.users().into_iter().all(|user| {
        if user.is_instruction() {
            // SAFETY: a live instruction of a function.
            return functions.contains(&Value(unsafe { LLVMGetBasicBlockParent(user.parent().0) }));
        }
        // SAFETY: asked of a live value.
        let is_expression = unsafe { !LLVMIsAConstantExpr(user.0).is_null() };
        is_expression && is_among(user, functions)
    })
}

/// What a function does, if it may be a closed one.
fn look(function: FunctionValue<'_>) -> Option<Body> {
    let itself = Value(function.as_value_ref());
    if !ir::arguments(function).into_iter().all(gives_integers) || returns_address(itself) {
        return None;
    }
    let mut body = Body { function: itself, calls: Vec::new(), globals: HashSet::new(), mixes: false };
    let mut seen: HashMap<Value, (bool, bool)> = HashMap::new();
    for i in ir::blocks(function).into_iter().flat_map(|b| b.instructions()) {
        let access = match i.op() {
            Some(Op::LLVMLoad) if i.is_pointer() => return None,
            Some(Op::LLVMLoad) => Some((i.operand(0), i)),
            Some(Op::LLVMStore) if i.operand(0).is_pointer() => return None,
            Some(Op::LLVMStore) => Some((i.operand(1), i.operand(0))),
            Some(Op::LLVMCall) => {
                for object in call(i, &mut body)? {
                    seen.entry(object).or_default().1 = true;
                }
                None
            }
            Some(Op::LLVMInvoke | Op::LLVMAtomicRMW | Op::LLVMAtomicCmpXchg | Op::LLVMIntToPtr | Op::LLVMPtrToInt) => {
                return None;
            }
            _ => None,
        };
        if let Some((address, value)) = access {
            let object = own(address, &mut body)?;
            let kinds = seen.entry(object).or_default();
            *if value.holds_floats() { &mut kinds.0 } else { &mut kinds.1 } = true;
        }
    }
    body.mixes = seen.values().any(|(numbers, integers)| *numbers && *integers);
    Some(body)
}

/// Whether nothing but integers can pass through an argument: it is one, or the address of some.
fn gives_integers(argument: Value) -> bool {
    if !argument.is_pointer() {
        // SAFETY: a live type.
        return unsafe { LLVMGetTypeKind(argument.ty()) } == LLVMIntegerTypeKind;
    }
    argument.users().into_iter().all(|u| match u.op() {
        Some(Op::LLVMLoad) => !u.holds_floats() && !u.is_pointer(),
        Some(Op::LLVMStore) => u.operand(1) == argument && u.operand(0) != argument && !u.operand(0).holds_floats(),
        _ => false,
    })
}

fn returns_address(function: Value) -> bool {
    // SAFETY: a live function's type.
    unsafe {
        let ty = LLVMGetReturnType(LLVMGlobalGetValueType(function.0));
        !matches!(LLVMGetTypeKind(ty), LLVMVoidTypeKind | LLVMIntegerTypeKind | LLVMFloatTypeKind | LLVMDoubleTypeKind)
    }
}

/// The variable of the function, its argument, or the global that an address is in.
fn own(mut address: Value, body: &mut Body) -> Option<Value> {
    loop {
        // SAFETY: asked of a live value.
        let (is_global, is_offset) = unsafe {
            let is_expression = !LLVMIsAConstantExpr(address.0).is_null();
            (
                !LLVMIsAGlobalVariable(address.0).is_null(),
                is_expression && LLVMGetConstOpcode(address.0) == Op::LLVMGetElementPtr,
            )
        };
        if is_global {
            // SAFETY: a live global.
            let (is_constant, is_here) =
                unsafe { (LLVMIsGlobalConstant(address.0) != 0, LLVMIsDeclaration(address.0) == 0) };
            if !is_constant {
                body.globals.insert(address);
            }
            return is_here.then_some(address);
        }
        if address.is(Op::LLVMAlloca) || ir::is_argument(address) {
            return Some(address);
        }
        if !(is_offset || address.is(Op::LLVMGetElementPtr)) {
            return None;
        }
        address = address.operand(0);
    }
}

/// Takes note of a call; what a function here gets the address of, which it uses for integers. `None`: it may hand a derivative over.
fn call(call: Value, body: &mut Body) -> Option<Vec<Value>> {
    let callee = call.called()?;
    let name = call.callee()?;
    let is_harmless = HARMLESS.iter().any(|start| name.starts_with(start)) || is_neutral(&name);
    // SAFETY: a live call, and the function that it calls by name.
    let (count, has_body) = unsafe { (LLVMGetNumArgOperands(call.0), LLVMCountBasicBlocks(callee.0) > 0) };
    if !is_harmless && !has_body {
        return None;
    }
    let given = (0..count).map(|n| call.operand(n)).filter(|o| o.is_pointer() && !o.is_null_or_undefined());
    let given: Vec<Value> = given.filter(|p| !is_handle(*p)).collect();
    let objects = given.into_iter().map(|pointer| own(pointer, body)).collect::<Option<Vec<Value>>>()?;
    if is_harmless {
        return Some(Vec::new());
    }
    body.calls.push(callee);
    Some(objects)
}

/// Whether it is what the runtime library has returned: the handle of a statement that prints.
fn is_handle(pointer: Value) -> bool {
    pointer.callee().is_some_and(|name| name.starts_with(HARMLESS[0]))
}

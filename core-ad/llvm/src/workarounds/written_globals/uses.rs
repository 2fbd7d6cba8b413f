//! Finds the uses of a global: by which functions and instructions, and whether these can get its address as a parameter.

use crate::analysis::reachable::STATIC_LOCAL;
use crate::ir::{Op, Value, blocks};
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The direct calls among some functions.
pub struct Calls {
    /// For each function the indices of those that it calls.
    of: Vec<BTreeSet<usize>>,
    /// Whether some function is called by an address.
    by_address: bool,
    /// Functions that rules run: no parameter can be added to what they call.
    behind: HashSet<LLVMValueRef>,
}

impl Calls {
    /// Looks at functions. `behind`: those that rules run, which have no callers here, and may call by an address.
    pub fn of(functions: &[FunctionValue<'_>], behind: &[FunctionValue<'_>]) -> Calls {
        let numbers: HashMap<LLVMValueRef, usize> =
            functions.iter().enumerate().map(|(i, f)| (f.as_value_ref(), i)).collect();
        let behind_rules = behind.iter().map(AsValueRef::as_value_ref).collect();
        let mut calls = Calls { of: Vec::new(), by_address: false, behind: behind_rules };
        for function in functions {
            let mut called_here = BTreeSet::new();
            for call in blocks(*function).into_iter().flat_map(|b| b.instructions()).filter(|i| is_call(*i)) {
                let called = called(call);
                called_here.extend(numbers.get(&called.0));
                calls.by_address |= is_address(called);
            }
            calls.of.push(called_here);
        }
        let mut hidden = behind.iter().flat_map(|f| blocks(*f)).flat_map(|b| b.instructions());
        calls.by_address |= hidden.any(|i| is_call(i) && is_address(called(i)));
        calls
    }

    /// Whether a function can get more parameters: all of its callers are seen.
    pub fn can_move(&self, function: FunctionValue<'_>) -> bool {
        let itself = Value(function.as_value_ref());
        if function.get_name().to_bytes() == super::ROOT.as_bytes() {
            return true;
        }
        let is_seen = |user: Value| match user.op() {
            // SAFETY: a live instruction of a function.
            Some(_) if self.behind.contains(&unsafe { LLVMGetBasicBlockParent(user.parent().0) }) => false,
            Some(Op::LLVMICmp) => true,
            Some(Op::LLVMCall | Op::LLVMInvoke) => {
                let is_given = called(user) != itself || arguments(user).contains(&itself);
                // SAFETY: asked of a live call.
                let plain = unsafe { LLVMGetNumOperandBundles(user.0) } == 0;
                plain && (!is_given || !self.by_address && user.calls_a_body())
            }
            Some(_) => !self.by_address,
            // Addresses in a table that is read are compared only, where no call goes through one.
            None => !self.by_address && is_in_tables(user),
        };
        !function.get_type().is_var_arg() && itself.users().into_iter().all(is_seen)
    }
}

/// Whether what is called is known by its address alone.
fn is_address(called: Value) -> bool {
    // SAFETY: asked of a live value.
    unsafe {
        LLVMIsAFunction(called.0).is_null()
            && LLVMIsAInlineAsm(called.0).is_null()
            && LLVMIsAGlobalAlias(called.0).is_null()
    }
}

/// Whether a constant is part of constant globals alone, none of which tells LLVM or Enzyme anything.
fn is_in_tables(part: Value) -> bool {
    // SAFETY: asked of live constants.
    unsafe {
        if !LLVMIsAGlobalVariable(part.0).is_null() {
            let mut length = 0;
            let name = LLVMGetValueName2(part.0, &mut length);
            return LLVMIsGlobalConstant(part.0) != 0
                && !super::is_ours(std::slice::from_raw_parts(name.cast::<u8>(), length));
        }
        let is_aggregate = !LLVMIsAConstantArray(part.0).is_null() || !LLVMIsAConstantStruct(part.0).is_null();
        is_aggregate && part.users().into_iter().all(is_in_tables)
    }
}

/// Whether it is a call.
pub fn is_call(i: Value) -> bool {
    i.is(Op::LLVMCall) || i.is(Op::LLVMInvoke)
}

/// What a call calls.
pub fn called(call: Value) -> Value {
    // SAFETY: a live call.
    Value(unsafe { LLVMGetCalledValue(call.0) })
}

/// The arguments of a call.
pub fn arguments(call: Value) -> Vec<Value> {
    // SAFETY: a live call.
    (0..unsafe { LLVMGetNumArgOperands(call.0) }).map(|i| call.operand(i)).collect()
}

/// Whether a global is used by instructions only, directly or as the base of an address.
pub fn are_plain(address: Value) -> bool {
    let is_plain = |user: Value| user.is_instruction() || is_offset(user) && are_plain(user) || is_left_over(user);
    address.users().into_iter().all(is_plain)
}

/// Whether a constant is of no instruction and no variable any more: LLVM keeps it.
fn is_left_over(constant: Value) -> bool {
    let is_constant = |user: &Value| {
        // SAFETY: asked of live values.
        unsafe { LLVMIsAConstant(user.0) == user.0 && LLVMIsAGlobalValue(user.0).is_null() }
    };
    is_constant(&constant) && constant.users().into_iter().all(is_left_over)
}

/// Whether it is a constant address inside an object.
pub fn is_offset(value: Value) -> bool {
    // SAFETY: asked of a live value.
    unsafe { !LLVMIsAConstantExpr(value.0).is_null() && LLVMGetConstOpcode(value.0) == Op::LLVMGetElementPtr }
}

/// The global that a value is, or is a constant address in.
pub fn base(value: Value) -> Value {
    if is_offset(value) { base(value.operand(0)) } else { value }
}

/// The globals that a function uses.
pub fn in_function(function: FunctionValue<'_>) -> HashSet<Value> {
    let all = blocks(function).into_iter().flat_map(|b| b.instructions());
    all.flat_map(Value::operands).filter(|o| o.is_pointer()).map(base).collect()
}

/// The functions that use globals or call such functions, by index, with the indices of the globals.
pub fn needing(
    globals: &[Value],
    functions: &[FunctionValue<'_>],
    calls: &Calls,
) -> BTreeMap<usize, (LLVMValueRef, Vec<usize>)> {
    let of_function = |f: &FunctionValue<'_>| {
        let used = in_function(*f);
        (0..globals.len()).filter(|i| used.contains(&globals[*i])).collect()
    };
    let mut needs: Vec<BTreeSet<usize>> = functions.iter().map(of_function).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (caller, all) in calls.of.iter().enumerate() {
            let more: BTreeSet<usize> = all.iter().flat_map(|c| needs[*c].iter().copied()).collect();
            let before = needs[caller].len();
            needs[caller].extend(more);
            changed |= needs[caller].len() > before;
        }
    }
    let some = needs.into_iter().enumerate().filter(|(_, n)| !n.is_empty());
    some.map(|(f, n)| (f, (functions[f].as_value_ref(), n.into_iter().collect()))).collect()
}

/// Whether a function uses a global that fills it once: when the artifact is loaded, or when a call first comes to it.
pub fn is_used_at_load(address: Value) -> bool {
    address.users().into_iter().any(|user| {
        if !user.is_instruction() {
            return is_offset(user) && is_used_at_load(user);
        }
        // SAFETY: a live instruction of a function.
        let function = Value(unsafe { LLVMGetBasicBlockParent(user.parent().0) });
        let mut length = 0;
        // SAFETY: the name of a live function, which lives as long.
        let name = unsafe {
            let name = LLVMGetValueName2(function.0, &mut length);
            std::slice::from_raw_parts(name.cast::<u8>(), length)
        };
        // The first call that comes to a static local variable fills it for all.
        let prefixes = [&b"_GLOBAL__"[..], b"__cxx_global_var_init", STATIC_LOCAL.as_bytes()];
        prefixes.iter().any(|prefix| name.starts_with(prefix))
    })
}

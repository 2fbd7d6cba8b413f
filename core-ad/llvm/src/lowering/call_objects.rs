//! Lets objects that a call changes begin anew in each call: caches and work arrays in static and thread-local variables.
//!
//! ```text
//! static std::map<int, std::vector<double>> cache;        // filled by the first call that comes to an entry
//! static std::vector<double> work;  work.resize(n);       // at load, only the destructor is registered
//! static thread_local std::vector<double> row;
//! ```
//!
//! What such an object owns comes from the derivative's memory, which is gone after the call, and its shadow would have to follow. What earlier calls have
//! left in it is no function of the inputs (`verify/repeatable.rs` refuses functions whose results show it). So the code that makes the object
//! becomes ordinary code: guards are plain flags, nothing is registered to run at exit, and a constructor that runs at load is called first in the wrapper.
//! `written-globals` then makes local variables of the object and of its flag. Its destructor runs where the wrapper returns, by a function whose name
//! begins with [`END_OF_CALL`].
//!
//! Left alone are objects that are only read, that code at load fills, and streams of the library, which have no bodies here.

use crate::analysis::constant_objects;
use crate::analysis::global_uses::is_only_read;
use crate::analysis::memory_objects::holds_numbers_only;
use crate::analysis::reachable::reachable;
use crate::ir::markers::END_OF_CALL;
use crate::ir::{Op, Result, Value, blocks, functions};
use crate::llvm::{linkage, pipelines};
use crate::lowering::caught::build::Edit;
use crate::lowering::static_locals;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic;
use llvm_sys::LLVMLinkage::LLVMInternalLinkage;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use std::collections::HashSet;

/// The wrapper that all derivatives are of.
const ROOT: &str = "ffgrad.wrap";

/// What registers destructors: for the program's exit, and for a thread's.
const REGISTER: [&str; 2] = ["__cxa_atexit", "__cxa_thread_atexit"];

/// How the names of clang's functions begin that make one global object, and that call all of these at load.
const MAKES: &str = "__cxx_global_var_init";
const AT_LOAD: &str = "_GLOBAL__";

/// What a function that makes one object is called when a call runs it.
const MADE: &str = "made_in_call";

/// An object with a destructor.
struct Object<'ctx> {
    variable: Value,
    name: String,
    destructor: Value,
    /// The call that registers the destructor, and the function that it stands in.
    registration: Value,
    place: FunctionValue<'ctx>,
    on_thread: bool,
}

/// Lets objects that are written begin anew.
///
/// # Errors
///
/// LLVM's own.
pub fn run(module: &Module<'_>) -> Result<()> {
    let Some(root) = module.get_function(ROOT) else { return Ok(()) };
    resolve_initialisers(module);
    let mut objects = find(module);
    if objects.is_empty() {
        return Ok(());
    }
    let written = written(module, &objects)?;
    let at_load = at_load(module);
    objects.retain(|o| written.contains(&o.name) && (o.on_thread || !is_used(o, &at_load)));
    let edit = Edit::of(module);
    for object in &objects {
        let guard = guard(module, object);
        if begin(&edit, module, root, object, guard) {
            end(&edit, root, object, guard);
        }
    }
    Ok(())
}

/// Calls of a thread's initialiser go through an alias.
fn resolve_initialisers(module: &Module<'_>) {
    for alias in linkage::aliases(module).into_iter().filter(|a| a.get_name().to_bytes().starts_with(b"_ZTH")) {
        // SAFETY: a live alias, and what it stands for.
        unsafe { LLVMReplaceAllUsesWith(alias.as_value_ref(), LLVMAliasGetAliasee(alias.as_value_ref())) };
    }
}

/// Objects with addresses in them whose destructors are registered.
fn find<'ctx>(module: &Module<'ctx>) -> Vec<Object<'ctx>> {
    let mut found = Vec::new();
    for (on_thread, register) in [false, true].into_iter().zip(REGISTER) {
        let Some(register) = module.get_function(register) else { continue };
        for call in Value(register.as_value_ref()).users() {
            // SAFETY: live values of the module.
            let object = unsafe {
                if !call.is_instruction() || call.called() != Some(Value(register.as_value_ref())) {
                    continue;
                }
                let (destructor, variable) = (call.operand(0), call.operand(1));
                let is_object = !LLVMIsAGlobalVariable(variable.0).is_null()
                    && LLVMIsDeclaration(variable.0) == 0
                    && !holds_numbers_only(LLVMGlobalGetValueType(variable.0));
                let has_body =
                    !LLVMIsAFunction(destructor.0).is_null() && (on_thread || LLVMCountBasicBlocks(destructor.0) > 0);
                let place = FunctionValue::new(LLVMGetBasicBlockParent(call.parent().0));
                let Some(place) = place.filter(|_| is_object && has_body) else { continue };
                Object { variable, name: name(variable), destructor, registration: call, place, on_thread }
            };
            found.push(object);
        }
    }
    found
}

fn name(global: Value) -> String {
    let mut length = 0;
    // SAFETY: a live value's name, of this length.
    let bytes = unsafe {
        let start = LLVMGetValueName2(global.0, &mut length);
        std::slice::from_raw_parts(start.cast::<u8>(), length)
    };
    String::from_utf8_lossy(bytes).into_owned()
}

/// The names of those that the function writes to, once they are made. Asked of a copy of the module, in which variables are values.
fn written(module: &Module<'_>, objects: &[Object<'_>]) -> Result<HashSet<String>> {
    let copy = module.clone();
    static_locals::run(&copy);
    pipelines::simplify_exceptions(&copy)?;
    let Some(root) = copy.get_function(ROOT) else { return Ok(HashSet::new()) };
    // SAFETY: a live function of the copy.
    let inside = unsafe { reachable(&[root]) };
    let is_written = |object: &&Object<'_>| {
        let variable = copy.get_global(&object.name).map(|g| Value(g.as_value_ref()));
        variable.is_some_and(|v| !is_only_read(v, &inside, constant_objects::is_one(v)))
    };
    Ok(objects.iter().filter(is_written).map(|o| o.name.clone()).collect())
}

/// Functions that run when the library is loaded.
fn at_load<'ctx>(module: &Module<'ctx>) -> Vec<FunctionValue<'ctx>> {
    let first = |f: &FunctionValue<'_>| f.get_name().to_bytes().starts_with(AT_LOAD.as_bytes());
    let roots: Vec<FunctionValue<'ctx>> = functions(module).into_iter().filter(first).collect();
    // SAFETY: live functions of the module.
    let all = unsafe { reachable(&roots) };
    functions(module).into_iter().filter(|f| all.contains(&f.as_value_ref())).collect()
}

/// Whether others than the function that makes it use an object at load.
fn is_used(object: &Object<'_>, at_load: &[FunctionValue<'_>]) -> bool {
    let makes = |f: &FunctionValue<'_>| *f == object.place && is_maker(*f);
    at_load.iter().filter(|f| !makes(f)).any(|f| mentions(*f).contains(&object.variable))
}

fn is_maker(function: FunctionValue<'_>) -> bool {
    function.get_name().to_bytes().starts_with(MAKES.as_bytes())
}

/// The global variables that a function mentions.
fn mentions(function: FunctionValue<'_>) -> HashSet<Value> {
    fn of(value: Value, found: &mut HashSet<Value>) {
        // SAFETY: asked of a live value.
        let (is_variable, is_expression) =
            unsafe { (!LLVMIsAGlobalVariable(value.0).is_null(), !LLVMIsAConstantExpr(value.0).is_null()) };
        if is_variable {
            found.insert(value);
        } else if is_expression {
            value.operands().into_iter().for_each(|o| of(o, found));
        }
    }
    let mut found = HashSet::new();
    let all = blocks(function).into_iter().flat_map(|b| b.instructions());
    all.flat_map(Value::operands).for_each(|o| of(o, &mut found));
    found
}

/// The flag that says whether an object is made (Itanium C++ ABI, 5.1.4.5; clang's own for all thread-local variables of a source).
fn guard(module: &Module<'_>, object: &Object<'_>) -> Option<Value> {
    let own = object.name.strip_prefix("_Z").and_then(|rest| module.get_global(&format!("_ZGV{rest}")));
    let of_thread = || object.on_thread.then(|| module.get_global("__tls_guard")).flatten();
    own.or_else(of_thread).map(|g| Value(g.as_value_ref()))
}

/// Makes ordinary code of what makes an object. `false`: it is left as it is.
fn begin(edit: &Edit, module: &Module<'_>, root: FunctionValue<'_>, object: &Object<'_>, guard: Option<Value>) -> bool {
    if !object.on_thread && is_maker(object.place) {
        let callers: Vec<Value> = Value(object.place.as_value_ref()).users();
        let is_plain = |global: &Value| {
            // SAFETY: a live global.
            *global == object.variable
                || name(*global) == "__dso_handle"
                || unsafe { LLVMIsGlobalConstant(global.0) } != 0
        };
        let is_seen =
            callers.iter().all(|c| c.is_instruction() && c.called() == Some(Value(object.place.as_value_ref())));
        if guard.is_some() || !is_seen || !mentions(object.place).iter().all(is_plain) {
            return false;
        }
        let uses = blocks(object.place).into_iter().flat_map(|b| b.instructions());
        let is_made = uses.filter(|i| *i != object.registration).any(|i| i.operands().contains(&object.variable));
        if is_made {
            callers.into_iter().for_each(Value::erase);
            edit.before(blocks(root)[0].first_after_phis());
            edit.call(object.place.as_value_ref(), &[]);
        }
    } else if guard.is_none() {
        return false;
    }
    if let Some(guard) = guard {
        unguard(edit, module, guard);
    }
    // SAFETY: a live call of an integer, which is replaced; a live function.
    unsafe {
        LLVMReplaceAllUsesWith(object.registration.0, LLVMConstNull(object.registration.ty()));
        if is_maker(object.place) {
            LLVMSetValueName2(object.place.as_value_ref(), MADE.as_ptr().cast(), MADE.len());
        }
    }
    object.registration.erase();
    true
}

/// Makes a plain flag of a guard: no other thread knows it.
fn unguard(edit: &Edit, module: &Module<'_>, guard: Value) {
    for user in guard.users() {
        // SAFETY: live instructions, which are replaced before they are erased.
        unsafe {
            match user.callee().as_deref() {
                Some("__cxa_guard_acquire") => {
                    LLVMReplaceAllUsesWith(user.0, LLVMConstInt(user.ty(), 1, 0));
                    user.erase();
                }
                Some("__cxa_guard_release") => {
                    edit.before(user);
                    let byte = LLVMInt8TypeInContext(LLVMGetModuleContext(module.as_mut_ptr()));
                    LLVMBuildStore(edit.builder, LLVMConstInt(byte, 1, 0), guard.0);
                    user.erase();
                }
                Some("__cxa_guard_abort") => user.erase(),
                Some(name) if name.starts_with("llvm.invariant.start") && user.users().is_empty() => user.erase(),
                _ if user.is(Op::LLVMLoad) => LLVMSetOrdering(user.0, LLVMAtomicOrderingNotAtomic),
                _ => {}
            }
        }
    }
}

/// Destroys the object where the wrapper returns, if it was made.
fn end(edit: &Edit, root: FunctionValue<'_>, object: &Object<'_>, guard: Option<Value>) {
    // SAFETY: live values of the module; the new function takes the addresses of an object and of its flag.
    unsafe {
        let mut types = [edit.ptr, edit.ptr];
        let given: Vec<LLVMValueRef> = [Some(object.variable), guard].into_iter().flatten().map(|v| v.0).collect();
        let ty = LLVMFunctionType(edit.void, types.as_mut_ptr(), given.len() as u32, 0);
        let function = LLVMAddFunction(edit.module, END_OF_CALL.as_ptr(), ty);
        LLVMSetLinkage(function, LLVMInternalLinkage);
        let start = edit.block_in(function);
        let (destroy, done) = (edit.block_in(function), edit.block_in(function));
        edit.at_end(start);
        if guard.is_some() {
            let byte = LLVMInt8TypeInContext(edit.context);
            let flag = LLVMBuildLoad2(edit.builder, byte, LLVMGetParam(function, 1), c"".as_ptr());
            let is_made = LLVMBuildICmp(
                edit.builder,
                llvm_sys::LLVMIntPredicate::LLVMIntNE,
                flag,
                LLVMConstNull(byte),
                c"".as_ptr(),
            );
            LLVMBuildCondBr(edit.builder, is_made, destroy.0, done.0);
        } else {
            LLVMBuildBr(edit.builder, destroy.0);
        }
        edit.at_end(destroy);
        edit.call(object.destructor.0, &[LLVMGetParam(function, 0)]);
        LLVMBuildBr(edit.builder, done.0);
        edit.at_end(done);
        LLVMBuildRetVoid(edit.builder);
        for ret in blocks(root).into_iter().map(|b| b.terminator()).filter(|t| t.is(Op::LLVMRet)) {
            edit.before(ret);
            edit.call(function, &given);
        }
    }
}

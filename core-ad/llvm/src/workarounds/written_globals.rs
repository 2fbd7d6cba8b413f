//! Replaces globals and statics that the function writes by memory of each call: work arrays, parameters of callbacks, memo
//! structures, SAVE and COMMON.
//!
//! ```text
//! static double given;   double residual(double u) { return u * u * u + u - given; }   given = x[i];  y[i] = solve(residual);
//! ```
//!
//! Enzyme gives such a global a shadow that is a global, too (`GradientUtils::invertPointerM`), which keeps adjoints from one call to the next, and which
//! the first and second derivative have in common. And a function that is not inlined and reads nothing but the global has no active argument: Enzyme
//! takes the call for constant (`ActivityAnalyzer::isConstantInstruction` looks at the arguments of a call that writes no memory) and the
//! derivative is 0. The smallest IR:
//!
//! ```text
//! store double %x, ptr @given
//! %u = call double @solve()                               ; Enzyme: constant
//! ```
//!
//! So a global becomes a local variable of the wrapper, and the functions that use it, or that call such functions, get its address as a parameter. Its shadow is
//! then local, starts from zero, and Enzyme sees the argument. The variable begins as the global does when the artifact is loaded, in every
//! derivative: what an earlier call has left there is no function of the inputs. A global with addresses in it (the caller's parameters, a
//! work array from malloc, Fortran's allocatables) begins in the same way, where no code fills it at load: what that code has allocated the function
//! might free. Where the function also writes globals that have to stay (filled at load, or known to code that is not here), those with
//! addresses stay, too, and all others keep what they hold from call to call, as in the function itself.

mod parameters;
mod uses;

use crate::analysis::barriers::has_barriers;
use crate::analysis::constant_objects;
use crate::analysis::global_uses::{is_only_read, is_ours};
use crate::analysis::memory_objects::{contains_floats, holds_numbers_only};
use crate::analysis::reachable::reachable;
use crate::ir::markers::{END_OF_CALL, state_marker};
use crate::ir::{Op, Result, Value, blocks};
use crate::workarounds::{closed_functions, thread_addresses};
use inkwell::AddressSpace;
use inkwell::module::Module;
use inkwell::types::{AsTypeRef, FunctionType};
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::LLVMTypeKind::*;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMTypeRef, LLVMValueRef};
use llvm_sys::target::{LLVMABIAlignmentOfType, LLVMABISizeOfType, LLVMGetModuleDataLayout};
use std::collections::{BTreeMap, HashSet};

/// The wrapper that all derivatives are of.
const ROOT: &str = "ffgrad.wrap";

/// How the names of functions with rules begin, and of what their rules run.
const RULES: [&[u8]; 4] = [b"ffgrad.primal.", b"ffgrad.forward.", b"ffgrad.reverse.", b"ffgrad.save."];

/// Streams of the C and C++ libraries.
const STREAMS: [&str; 8] =
    ["stdout", "stderr", "_ZSt4cout", "_ZSt4cerr", "_ZSt4clog", "_ZSt5wcout", "_ZSt5wcerr", "_ZSt5wclog"];

/// How the names of tables of virtual functions and of types begin.
const CLASSES: [&[u8]; 4] = [b"_ZTV", b"_ZTT", b"_ZTI", b"_ZTS"];

/// Larger objects are allocated on the heap.
const MOST_ON_STACK: u64 = 1 << 16;

/// What makes them local.
struct Locals {
    /// The globals.
    globals: Vec<Value>,
    /// The functions that need their addresses, with the indices of the globals, in order.
    needs: BTreeMap<usize, (LLVMValueRef, Vec<usize>)>,
    /// Whether some written global stays one.
    keeps_state: bool,
}

/// Makes them local. To be called before LLVM's pipeline, when calls are direct. `one_thread`: thread-local ones, too.
///
/// # Errors
///
/// LLVM's own.
pub fn run(module: &Module<'_>, one_thread: bool) -> Result<()> {
    let Some(root) = module.get_function(ROOT) else { return Ok(()) };
    if has_barriers(module) {
        return Ok(());
    }
    // SAFETY: live functions of the module.
    let inside = unsafe { reachable(&[root]) };
    let functions: Vec<FunctionValue<'_>> =
        module.get_functions().filter(|f| f.count_basic_blocks() > 0 && inside.contains(&f.as_value_ref())).collect();
    functions.iter().for_each(|function| store_addresses_apart(module, *function));
    let locals = find(module, &functions, &inside, one_thread);
    use_integers_directly(module, &locals.globals);
    keep_what_stays(root, &locals.globals);
    if locals.globals.is_empty() {
        return Ok(());
    }
    locals.globals.iter().for_each(|global| use_directly(*global));
    let moved = parameters::add(module, &functions, &locals);
    let addresses = begin(module, root, &locals);
    parameters::replace(module, root, &moved, &addresses, &locals);
    parameters::keep_entries_last(module, &locals);
    Ok(())
}

/// The functions that rules run where the wrapper has a call without a body: `qsort` calls what it is given.
fn behind_rules<'ctx>(module: &Module<'ctx>) -> Vec<FunctionValue<'ctx>> {
    let all: Vec<FunctionValue<'_>> = module.get_functions().filter(|f| f.count_basic_blocks() > 0).collect();
    let begins = |f: &&FunctionValue<'_>| RULES.iter().any(|prefix| f.get_name().to_bytes().starts_with(prefix));
    let roots: Vec<FunctionValue<'_>> = all.iter().filter(begins).copied().collect();
    // SAFETY: live functions of the module.
    let inside = unsafe { reachable(&roots) };
    all.into_iter().filter(|f| inside.contains(&f.as_value_ref())).collect()
}

/// Stores the members of constant structures one by one: flang stores a whole descriptor with the address of a global in it, which has no instruction to use it.
fn store_addresses_apart(module: &Module<'_>, function: FunctionValue<'_>) {
    let is_whole = |i: &Value| i.is(Op::LLVMStore) && !i.is_special() && holds_address(i.operand(0));
    let stores: Vec<Value> = blocks(function).into_iter().flat_map(|b| b.instructions()).filter(is_whole).collect();
    // SAFETY: live stores of the module; the new ones go before them, where their operands are defined.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        for store in stores {
            let (whole, place) = (store.operand(0), store.operand(1));
            LLVMPositionBuilderBefore(builder, store.0);
            for (i, member) in (0..).zip(whole.operands()) {
                let at = LLVMBuildStructGEP2(builder, whole.ty(), place.0, i, c"".as_ptr());
                LLVMBuildStore(builder, member.0, at);
            }
            store.erase();
        }
        LLVMDisposeBuilder(builder);
    }
}

/// Whether a value is a constant structure with an address of a global variable among its members.
fn holds_address(value: Value) -> bool {
    // SAFETY: asked of live values.
    let is_global = |member: Value| unsafe { !LLVMIsAGlobalVariable(uses::base(member).0).is_null() };
    // SAFETY: as above.
    let is_structure = unsafe { !LLVMIsAConstantStruct(value.0).is_null() };
    is_structure && value.operands().into_iter().any(is_global)
}

/// Leaves objects that stay global as they are: only variables of a call are destroyed at its end.
fn keep_what_stays(root: FunctionValue<'_>, local: &[Value]) {
    for call in blocks(root).into_iter().flat_map(|b| b.instructions()) {
        let ends = call.callee().is_some_and(|name| name.as_bytes().starts_with(END_OF_CALL.to_bytes()));
        if ends && !local.contains(&call.operand(0)) {
            call.erase();
        }
    }
}

/// Enzyme takes the address of a thread-local variable, which an intrinsic returns, for one with a shadow. Integers have none.
fn use_integers_directly(module: &Module<'_>, local: &[Value]) {
    let globals = module.get_globals().map(|g| Value(g.as_value_ref())).filter(|g| is_used_by_thread(*g));
    let integers: Vec<Value> = globals.filter(|g| !local.contains(g) && has_integers_only(*g)).collect();
    integers.into_iter().for_each(use_directly);
}

/// The address of a thread-local variable is asked for by an intrinsic, which takes no other.
fn use_directly(global: Value) {
    for user in global.users() {
        if user.callee().is_some_and(|name| name.starts_with(thread_addresses::INTRINSIC)) {
            // SAFETY: a live call of the variable's address, which is replaced.
            unsafe { LLVMReplaceAllUsesWith(user.0, global.0) };
            user.erase();
        }
    }
}

/// The globals that are written, and who needs them.
fn find(
    module: &Module<'_>,
    functions: &[FunctionValue<'_>],
    inside: &HashSet<LLVMValueRef>,
    one_thread: bool,
) -> Locals {
    // What closed functions keep to themselves Enzyme does not see.
    let is_written = |g: LLVMValueRef| {
        !closed_functions::owns(Value(g))
            && (is_used_by_thread(Value(g)) || !is_only_read(Value(g), inside, constant_objects::is_one(Value(g))))
    };
    let written: Vec<Value> = module
        .get_globals()
        .filter(|g| !g.is_constant() && !is_ours(g.get_name().to_bytes()) && !is_of_library(g.get_name().to_bytes()))
        .filter(|g| is_written(g.as_value_ref()))
        .map(|g| Value(g.as_value_ref()))
        .collect();
    let calls = uses::Calls::of(functions, &behind_rules(module));
    let mut globals = Vec::new();
    for &global in written.iter().filter(|g| can_be_copied(**g, one_thread) && uses::are_plain(**g)) {
        if uses::needing(&[global], functions, &calls).keys().all(|f| calls.can_move(functions[*f])) {
            globals.push(global);
        }
    }
    let keeps_state = globals.len() < written.len();
    if keeps_state {
        // The shadow of an address that an earlier call has left is unknown.
        globals.retain(|g| has_numbers_only(*g));
    }
    // Globals that the wrapper's callees do not use stay global.
    let is_used = |g: &Value| functions.iter().any(|f| uses::in_function(*f).contains(g));
    globals.retain(is_used);
    let needs = uses::needing(&globals, functions, &calls);
    Locals { globals, needs, keeps_state }
}

fn has_integers_only(global: Value) -> bool {
    // SAFETY: a live global variable, and its type.
    has_numbers_only(global) && unsafe { !contains_floats(LLVMGlobalGetValueType(global.0)) }
}

fn has_numbers_only(global: Value) -> bool {
    // SAFETY: a live global variable, and its type.
    unsafe { holds_numbers_only(LLVMGlobalGetValueType(global.0)) }
}

/// Whether a function here asks for the address of a thread-local variable: Enzyme knows no shadow of that.
fn is_used_by_thread(global: Value) -> bool {
    // SAFETY: a live global.
    let is_thread_local = unsafe { LLVMIsThreadLocal(global.0) != 0 && LLVMIsDeclaration(global.0) == 0 };
    is_thread_local
        && global.users().iter().any(|u| u.callee().is_some_and(|name| name.starts_with(thread_addresses::INTRINSIC)))
}

/// Whether it is one of the library's streams, from which what is written there does not come back, or describes a class.
fn is_of_library(name: &[u8]) -> bool {
    STREAMS.iter().any(|stream| stream.as_bytes() == name) || CLASSES.iter().any(|start| name.starts_with(start))
}

/// Whether a global is defined here, the same for all threads, and can begin in each call as it does at load.
fn can_be_copied(global: Value, one_thread: bool) -> bool {
    // SAFETY: a live global variable, and its type.
    unsafe {
        LLVMIsDeclaration(global.0) == 0
            && (one_thread || LLVMIsThreadLocal(global.0) == 0)
            && LLVMGetPointerAddressSpace(global.ty()) == 0
            && (has_numbers_only(global) || !uses::is_used_at_load(global))
    }
}

/// Makes the variables of the wrapper, and gives them their first values; returns their addresses.
fn begin(module: &Module<'_>, root: FunctionValue<'_>, locals: &Locals) -> Vec<LLVMValueRef> {
    // SAFETY: live values of the module; instructions are added at the wrapper's beginning and before its ends.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        let behind = blocks(root)[0].first_after_phis();
        LLVMPositionBuilderBefore(builder, behind.0);
        let made: Vec<(LLVMValueRef, u64)> = locals.globals.iter().map(|g| make(module, builder, *g)).collect();
        let returns: Vec<Value> =
            blocks(root).into_iter().map(|b| b.terminator()).filter(|t| t.is(Op::LLVMRet)).collect();
        for (global, &(address, size)) in locals.globals.iter().zip(&made) {
            if locals.keeps_state {
                copy(module, builder, address, global.0, size);
            } else if is_one_number(*global) && !uses::is_used_at_load(*global) {
                // LLVM makes a store of an integer of a small copy, whatever it is of.
                LLVMBuildStore(builder, LLVMGetInitializer(global.0), address);
            } else if has_initial_values(*global) {
                // Nothing writes to the global any more: it is a constant of the derivative.
                let bytes = LLVMConstInt(LLVMInt64TypeInContext(LLVMGetModuleContext(module.as_mut_ptr())), size, 0);
                LLVMBuildMemCpy(builder, address, alignment(global.0), global.0, alignment(global.0), bytes);
            } else {
                clear(module, builder, address, *global, size);
            }
            for end in &returns {
                LLVMPositionBuilderBefore(builder, end.0);
                if locals.keeps_state {
                    copy(module, builder, global.0, address, size);
                }
                if size > MOST_ON_STACK {
                    let context = module.get_context();
                    let pointer = context.ptr_type(AddressSpace::default());
                    let free = library(module, "free", context.void_type().fn_type(&[pointer.into()], false));
                    call(builder, free, &mut [address]);
                }
            }
            LLVMPositionBuilderBefore(builder, behind.0);
        }
        LLVMDisposeBuilder(builder);
        made.into_iter().map(|(address, _)| address).collect()
    }
}

/// Memory for a global, and its size in bytes.
unsafe fn make(module: &Module<'_>, builder: LLVMBuilderRef, global: Value) -> (LLVMValueRef, u64) {
    // SAFETY: see `begin`.
    unsafe {
        let (ty, layout) = (LLVMGlobalGetValueType(global.0), LLVMGetModuleDataLayout(module.as_mut_ptr()));
        let size = LLVMABISizeOfType(layout, ty);
        if size > MOST_ON_STACK {
            let context = module.get_context();
            let (pointer, length) = (context.ptr_type(AddressSpace::default()), context.i64_type());
            let malloc = library(module, "malloc", pointer.fn_type(&[length.into()], false));
            return (call(builder, malloc, &mut [length.const_int(size, false).as_value_ref()]), size);
        }
        let bytes = LLVMArrayType2(LLVMInt8TypeInContext(LLVMGetModuleContext(module.as_mut_ptr())), size);
        let hides_floats = has_integers_only(global) && has_float_access(global);
        let place = LLVMBuildAlloca(builder, if hides_floats { bytes } else { ty }, c"".as_ptr());
        LLVMSetAlignment(place, LLVMGetAlignment(global.0).max(LLVMABIAlignmentOfType(layout, ty)));
        (place, size)
    }
}

/// Whether a number is read or written where a global stands or at a constant offset. Old programs declare integers and put numbers in their place by
/// EQUIVALENCE: then the declared type says nothing.
fn has_float_access(global: Value) -> bool {
    global.users().into_iter().any(|user| match user.op() {
        Some(Op::LLVMLoad) => user.is_float(),
        Some(Op::LLVMStore) => user.operand(0).is_float(),
        Some(Op::LLVMGetElementPtr) => has_float_access(user),
        Some(_) => false,
        // A constant expression: an offset.
        None => has_float_access(user),
    })
}

/// A function of the C library.
fn library<'ctx>(module: &Module<'ctx>, name: &str, ty: FunctionType<'ctx>) -> FunctionValue<'ctx> {
    module.get_function(name).unwrap_or_else(|| module.add_function(name, ty, None))
}

unsafe fn call(builder: LLVMBuilderRef, function: FunctionValue<'_>, given: &mut [LLVMValueRef]) -> LLVMValueRef {
    let (ty, called, count) = (function.get_type().as_type_ref(), function.as_value_ref(), given.len() as u32);
    // SAFETY: see `begin`; the arguments are those of the function's type.
    unsafe { LLVMBuildCall2(builder, ty, called, given.as_mut_ptr(), count, c"".as_ptr()) }
}

/// Whether a global is a floating-point number.
unsafe fn is_one_number(global: Value) -> bool {
    // SAFETY: a defined global.
    let kind = unsafe { LLVMGetTypeKind(LLVMGlobalGetValueType(global.0)) };
    matches!(kind, LLVMFloatTypeKind | LLVMDoubleTypeKind)
}

/// Whether a global begins with anything but zeros, or code that runs when the artifact is loaded fills it.
unsafe fn has_initial_values(global: Value) -> bool {
    // SAFETY: a defined global.
    unsafe { LLVMIsNull(LLVMGetInitializer(global.0)) == 0 || uses::is_used_at_load(global) }
}

/// What is known of the alignment of a global.
unsafe fn alignment(global: LLVMValueRef) -> u32 {
    // SAFETY: a live global.
    unsafe { LLVMGetAlignment(global) }.max(1)
}

/// Copies without a derivative.
unsafe fn copy(module: &Module<'_>, builder: LLVMBuilderRef, to: LLVMValueRef, from: LLVMValueRef, size: u64) {
    let marker = state_marker(module);
    // SAFETY: see `begin`.
    unsafe {
        let bytes = LLVMConstInt(LLVMInt64TypeInContext(LLVMGetModuleContext(module.as_mut_ptr())), size, 0);
        call(builder, marker, &mut [to, from, bytes]);
    }
}

/// The floating-point type that all accesses of a global of this size have. LLVM makes a store of an integer of a small `memset`, and what old
/// programs keep in the place of an integer array by EQUIVALENCE is a number.
fn used_as(global: Value, size: u64) -> Option<LLVMTypeRef> {
    let mut found = None;
    for user in global.users() {
        let accessed = match user.op() {
            Some(Op::LLVMLoad) => user,
            Some(Op::LLVMStore) if user.operand(1) == global => user.operand(0),
            _ => return None,
        };
        let bytes = if accessed.is_double() { 8 } else { 4 };
        if !accessed.is_float() || bytes != size || found.is_some_and(|ty| ty != accessed.ty()) {
            return None;
        }
        found = Some(accessed.ty());
    }
    found
}

/// Fills with zeros.
unsafe fn clear(module: &Module<'_>, builder: LLVMBuilderRef, address: LLVMValueRef, global: Value, size: u64) {
    // SAFETY: see `begin`.
    unsafe {
        let (ty, context) = (LLVMGlobalGetValueType(global.0), LLVMGetModuleContext(module.as_mut_ptr()));
        let ty = used_as(global, size).unwrap_or(ty);
        if matches!(LLVMGetTypeKind(ty), LLVMFloatTypeKind | LLVMDoubleTypeKind | LLVMIntegerTypeKind) {
            LLVMBuildStore(builder, LLVMConstNull(ty), address);
        } else {
            let zero = LLVMConstNull(LLVMInt8TypeInContext(context));
            let bytes = LLVMConstInt(LLVMInt64TypeInContext(context), size, 0);
            LLVMBuildMemSet(builder, address, zero, bytes, alignment(global.0));
        }
    }
}

//! Redirects the allocations of a derivative to the tape arena.
//!
//! The arena itself is C (`compile-driver/runtime/arena.c`), compiled by the driver; here calls of `malloc` and its kin are
//! redirected to it and each entry point runs inside it. This happens after the optimiser has removed the allocations it
//! could: it knows `malloc`, not the arena.

use crate::analysis::constant_objects;
use crate::analysis::reachable::is_static_local;
use crate::ir::markers::BLOCK_SIZE;
use crate::ir::{Result, Value};
use crate::lowering::trampolines;
use crate::rules::inactive;
use core_ad::names;
use core_ad::protocol::Entry;
use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::types::BasicTypeEnum;
use inkwell::values::{AsValueRef, BasicMetadataValueEnum, BasicValueEnum, FunctionValue, InstructionOpcode};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;

/// Allocation functions and what takes their place.
const BOUND: [(&str, &str); 24] = [
    (BLOCK_SIZE, "ffgrad_block_size"),
    ("malloc", "ffgrad_malloc"),
    ("calloc", "ffgrad_calloc"),
    ("realloc", "ffgrad_realloc"),
    ("free", "ffgrad_free"),
    ("posix_memalign", "ffgrad_posix_memalign"),
    ("aligned_alloc", "ffgrad_aligned_alloc"),
    ("memalign", "ffgrad_aligned_alloc"),
    ("_Znwm", "ffgrad_new"),
    ("_Znam", "ffgrad_new"),
    ("_ZdlPv", "ffgrad_free"),
    ("_ZdaPv", "ffgrad_free"),
    ("_ZdlPvm", "ffgrad_delete_sized"),
    ("_ZdaPvm", "ffgrad_delete_sized"),
    ("_ZnwmRKSt9nothrow_t", "ffgrad_new_nothrow"),
    ("_ZnamRKSt9nothrow_t", "ffgrad_new_nothrow"),
    ("_ZdlPvRKSt9nothrow_t", "ffgrad_delete_nothrow"),
    ("_ZdaPvRKSt9nothrow_t", "ffgrad_delete_nothrow"),
    ("_ZnwmSt11align_val_t", "ffgrad_new_aligned"),
    ("_ZnamSt11align_val_t", "ffgrad_new_aligned"),
    ("_ZdlPvSt11align_val_t", "ffgrad_delete_sized"),
    ("_ZdaPvSt11align_val_t", "ffgrad_delete_sized"),
    ("_ZdlPvmSt11align_val_t", "ffgrad_delete_aligned"),
    ("_ZdaPvmSt11align_val_t", "ffgrad_delete_aligned"),
];

/// Functions of the C and C++ libraries that store no pointer beyond the call (`strtok` has one to the text it is given), and return no memory to be
/// freed but their own, which the arena's `free` tells from a block of its own (`strdup`).
const HARMLESS: [&str; 39] = [
    "__errno_location",
    "strncmp",
    "freopen",
    "qsort",
    "bsearch",
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "bcmp",
    "strlen",
    "strcmp",
    "puts",
    "putchar",
    "printf",
    "fprintf",
    "snprintf",
    "fwrite",
    "abort",
    "exit",
    "_Unwind_Resume",
    "__cxa_begin_catch",
    "__cxa_end_catch",
    "__cxa_throw",
    "__cxa_allocate_exception",
    "__cxa_free_exception",
    "__cxa_rethrow",
    "__cxa_guard_acquire",
    "__cxa_guard_release",
    "__cxa_guard_abort",
    "__gxx_personality_v0",
    "__clang_call_terminate",
    "_ZSt9terminatev",
    "frexp",
    "modf",
    "sincos",
    "lgamma_r",
    "__stack_chk_fail",
    "sched_yield",
];

/// Names that begin so are functions of the C++ library that work on what they are given: on the nodes of trees and lists, on strings and on streams.
/// The memory of a string, or of a stream's text, is the library's where it has these functions, which the inlined ones call, and `free` of the arena
/// knows its own.
const LIBRARY: [&str; 26] = [
    "_ZSt11_Hash_bytes",
    "_ZSt18_Rb_tree_",
    "_ZSt28_Rb_tree_",
    "_ZSt29_Rb_tree_",
    "_ZNSt8__detail15_List_node_base",
    "_ZNKSt8__detail20_Prime_rehash_policy",
    "_ZNSt7__cxx1112basic_string",
    "_ZNKSt7__cxx1112basic_string",
    "_ZNSt8ios_base",
    "_ZNKSt8ios_base",
    "_ZNSt9basic_ios",
    "_ZNKSt9basic_ios",
    "_ZNSt6locale",
    "_ZNKSt6locale",
    "_ZNSo",
    "_ZNSi",
    "_ZSt16__ostream_insert",
    "_ZStlsI",
    "_ZSt4endl",
    "_ZSt5flush",
    "_ZNSt15basic_streambuf",
    "_ZNSt7__cxx1115basic_stringbuf",
    "_ZNKSt7__cxx1115basic_stringbuf",
    "_ZNSt7__cxx1118basic_stringstream",
    "_ZNSt7__cxx1119basic_ostringstream",
    "_ZNSt7__cxx1119basic_istringstream",
];

/// Whether the arena will be usable for the derivative of this module, as far as this is known before differentiation.
pub fn may_serve(module: &Module<'_>) -> bool {
    let names = module.get_functions().map(|f| f.get_name().to_string_lossy().into_owned());
    let markers: Vec<String> = names.filter(|n| n.starts_with("__enzyme_") || n.starts_with("ffgrad.")).collect();
    obstacle(module, &markers).is_none()
}

/// Why the arena cannot be used for this module: memory that outlives the call must not come from it. `harmless` names functions
/// that keep no pointers.
pub fn obstacle(module: &Module<'_>, harmless: &[String]) -> Option<String> {
    for function in module.get_functions().filter(|f| f.count_basic_blocks() == 0 && f.get_intrinsic_id() == 0) {
        let name = function.get_name().to_string_lossy().into_owned();
        let known = is_known(&name) || harmless.contains(&name) || inactive::is_named(function);
        if !known && touches_pointers(function) && !runs_once_only(function, NESTED) {
            return Some(format!("`{}` may keep memory", names::short(&name)));
        }
    }
    let kept = static_with_pointers(module).or_else(|| pointer_kept_in_global(module));
    kept.map(|name| format!("an address is kept in `{}`", names::short(&name)))
}

/// How the name of clang's function begins that constructs global objects when the library is loaded. It calls one function for each; others of their
/// names construct thread-local objects, which happens in a call.
const AT_LOAD: &str = "_GLOBAL__sub_I_";

/// Calls between such a function and what it comes to.
const NESTED: usize = 8;

/// Whether a function is called when the library is loaded, or where a static object is constructed, and never else: what it keeps does not come from
/// the arena.
fn runs_once_only(function: FunctionValue<'_>, nested: usize) -> bool {
    if function.get_name().to_bytes().starts_with(AT_LOAD.as_bytes()) || is_static_local(function.as_value_ref()) {
        return true;
    }
    let users = Value(function.as_value_ref()).users();
    let in_constructor = |user: &Value| {
        let around = if user.is_instruction() { around(*user) } else { None };
        around.is_some_and(|around| nested > 0 && runs_once_only(around, nested - 1))
    };
    !users.is_empty() && users.iter().all(in_constructor)
}

/// The function that a live instruction stands in.
fn around(instruction: Value) -> Option<FunctionValue<'static>> {
    // SAFETY: see above.
    unsafe { FunctionValue::new(LLVMGetBasicBlockParent(instruction.parent().0)) }
}

/// Whether a static local object is declared `const`, and constructed where the arena pauses: it never gets memory of a call.
fn is_constructed_apart(module: &Module<'_>, variable: &str, acquire: Value) -> bool {
    let Some(object) = module.get_global(variable) else { return false };
    let Some(guard) = module.get_global(&variable.replacen("_Z", "_ZGV", 1)) else { return false };
    let acquires = acquire.users().into_iter().filter(|user| user.is_instruction());
    let mut own = acquires.filter(|call| call.operands().contains(&Value(guard.as_value_ref())));
    constant_objects::is_one(Value(object.as_value_ref()))
        && own.all(|call| around(call).is_some_and(|f| is_static_local(f.as_value_ref())))
}

/// A static local variable that is initialised at its first use, and has room for an address of a call.
fn static_with_pointers(module: &Module<'_>) -> Option<String> {
    let acquire = Value(module.get_function("__cxa_guard_acquire")?.as_value_ref());
    let guards = module.get_globals().map(|g| g.get_name().to_string_lossy().into_owned());
    let variables = guards.filter_map(|name| Some(format!("_Z{}", name.strip_prefix("_ZGV")?)));
    let has_pointer = |name: &String| {
        let variable = module.get_global(name);
        // SAFETY: a type of this module.
        variable.is_some_and(|v| holds_pointer(unsafe { BasicTypeEnum::new(LLVMGlobalGetValueType(v.as_value_ref())) }))
    };
    variables.into_iter().find(|name| has_pointer(name) && !is_constructed_apart(module, name, acquire))
}

/// Whether a type has room for an address.
fn holds_pointer(ty: BasicTypeEnum<'_>) -> bool {
    match ty {
        BasicTypeEnum::PointerType(_) => true,
        BasicTypeEnum::StructType(ty) => ty.get_field_types().into_iter().any(holds_pointer),
        BasicTypeEnum::ArrayType(ty) => holds_pointer(ty.get_element_type()),
        _ => false,
    }
}

fn is_known(name: &str) -> bool {
    if name == "ffgrad.free_later" || is_blas(name) || crate::lowering::openmp::is_runtime(name) {
        return true;
    }
    let throwing = name.starts_with("_ZSt") && name.contains("__throw_");
    let exception = ["_ZNSt", "_ZNKSt", "_ZSt"].iter().any(|start| name.starts_with(start))
        && ["error", "exception", "bad_", "invalid_argument", "out_of_range"].iter().any(|part| name.contains(part));
    let harmless = HARMLESS.contains(&name)
        || inactive::OUTPUT.contains(&name)
        || LIBRARY.iter().any(|start| name.starts_with(start));
    throwing || exception || harmless || BOUND.iter().any(|(bound, _)| *bound == name)
}

/// BLAS and LAPACK work on what they are given and keep nothing.
fn is_blas(name: &str) -> bool {
    let name = name.strip_prefix("scipy_").unwrap_or(name);
    let typed = |n: &str| n.starts_with(['s', 'd']) && (4..=8).contains(&n.len());
    name.starts_with("cblas_") || name.strip_suffix('_').is_some_and(typed)
}

fn touches_pointers(function: FunctionValue<'_>) -> bool {
    // What ends the program, or throws, is not waited for.
    let kind = Attribute::get_named_enum_kind_id("noreturn");
    if function.get_enum_attribute(AttributeLoc::Function, kind).is_some() {
        return false;
    }
    let ty = function.get_type();
    let returns = ty.get_return_type().is_some_and(|t| t.is_pointer_type());
    let captures = Attribute::get_named_enum_kind_id("captures");
    // captures(none), which C calls noescape, is the number 0.
    let keeps = |i: usize| {
        function.get_enum_attribute(AttributeLoc::Param(i as u32), captures).is_none_or(|a| a.get_enum_value() != 0)
    };
    returns || ty.is_var_arg() || ty.get_param_types().iter().enumerate().any(|(i, t)| t.is_pointer_type() && keeps(i))
}

/// A global variable that an address is stored into, if there is one.
fn pointer_kept_in_global(module: &Module<'_>) -> Option<String> {
    // Constructors too: what a global container has got at load, a call may replace.
    for block in module.get_functions().flat_map(|f| f.get_basic_blocks()) {
        for instruction in block.get_instructions() {
            let raw = instruction.as_value_ref();
            // SAFETY: `raw` is a live instruction, its operands are live values.
            unsafe {
                let target = if !LLVMIsAStoreInst(raw).is_null() {
                    let stores_pointer = LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(raw, 0)))
                        == llvm_sys::LLVMTypeKind::LLVMPointerTypeKind;
                    if !stores_pointer {
                        continue;
                    }
                    LLVMGetOperand(raw, 1)
                } else if !LLVMIsAAtomicCmpXchgInst(raw).is_null() || !LLVMIsAAtomicRMWInst(raw).is_null() {
                    // The flag of a lock is no address.
                    let new = LLVMTypeOf(LLVMGetOperand(raw, LLVMGetNumOperands(raw) as u32 - 1));
                    let is_flag = LLVMGetTypeKind(new) == llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind
                        && LLVMGetIntTypeWidth(new) <= 32;
                    if is_flag {
                        continue;
                    }
                    LLVMGetOperand(raw, 0)
                } else if !LLVMIsAMemIntrinsic(raw).is_null() {
                    LLVMGetOperand(raw, 0)
                } else {
                    continue;
                };
                let object = underlying(target);
                let is_constructed = || {
                    let in_constructor = around(Value(raw)).is_some_and(|f| runs_once_only(f, NESTED));
                    in_constructor && constant_objects::is_one(Value(object))
                };
                if !LLVMIsAGlobalVariable(object).is_null() && !is_constructed() {
                    let mut length = 0;
                    let name = LLVMGetValueName2(object, &mut length);
                    let name = String::from_utf8_lossy(std::slice::from_raw_parts(name.cast::<u8>(), length));
                    if name.starts_with(trampolines::HOST) {
                        continue;
                    }
                    return Some(name.into_owned());
                }
            }
        }
    }
    None
}

/// The object a chain of address computations starts from.
unsafe fn underlying(mut value: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: see the caller.
    unsafe {
        loop {
            let is_offset = !LLVMIsAGetElementPtrInst(value).is_null()
                || (!LLVMIsAConstantExpr(value).is_null() && LLVMGetNumOperands(value) > 0);
            if !is_offset {
                return value;
            }
            value = LLVMGetOperand(value, 0);
        }
    }
}

/// Lets the arena pause in a function.
fn pause(module: &Module<'_>, function: FunctionValue<'_>) -> Result<()> {
    let of_arena = |name| module.get_function(name).ok_or_else(|| format!("the arena has no `{name}`"));
    let (pause, leave) = (of_arena("ffgrad_arena_pause")?, of_arena("ffgrad_arena_leave")?);
    let builder = module.get_context().create_builder();
    let text = |e: inkwell::builder::BuilderError| e.to_string();
    let first = function.get_first_basic_block().and_then(|block| block.get_first_instruction());
    builder.position_before(&first.ok_or("an empty initialisation")?);
    let outer = builder.build_call(pause, &[], "outer").map_err(text)?;
    let outer = outer.try_as_basic_value().basic().ok_or("the arena's pause returns nothing")?;
    let ends = function.get_basic_blocks().into_iter().filter_map(|block| block.get_terminator());
    for end in ends.filter(|end| matches!(end.get_opcode(), InstructionOpcode::Return | InstructionOpcode::Resume)) {
        builder.position_before(&end);
        builder.build_call(leave, &[outer.into()], "").map_err(text)?;
    }
    Ok(())
}

/// So many calls are inlined. The short path of an allocation has forty instructions: inlined at each of the two thousand calls in the
/// derivative of a singular value decomposition it would more than double the code.
const INLINED_CALLS: usize = 300;

/// Redirects allocations and runs the entry points inside the arena, whose module is linked in. Returns whether the calls should be
/// inlined; where they are too many they stay calls.
pub fn bind<'ctx>(module: &Module<'ctx>, arena: Module<'ctx>, entries: &[(Entry, usize)]) -> Result<bool> {
    let pointer = module.get_context().ptr_type(AddressSpace::default());
    let mut redirected = Vec::new();
    let mut calls = 0;
    for (from, to) in BOUND {
        let Some(old) = module.get_function(from).filter(|f| f.count_basic_blocks() == 0) else { continue };
        let new = module.get_function(to).unwrap_or_else(|| module.add_function(to, old.get_type(), None));
        calls += Value(old.as_value_ref()).users().len();
        redirected.push(to);
        // SAFETY: both are functions of this module with pointer type.
        unsafe { LLVMReplaceAllUsesWith(old.as_value_ref(), new.as_value_ref()) };
    }
    module.link_in_module(arena).map_err(|e| e.to_string())?;
    let is_inlined = calls <= INLINED_CALLS;
    if !is_inlined {
        let noinline = Attribute::get_named_enum_kind_id("noinline");
        let noinline = module.get_context().create_enum_attribute(noinline, 0);
        for function in redirected.iter().filter_map(|name| module.get_function(name)) {
            function.add_attribute(AttributeLoc::Function, noinline);
        }
    }
    for fork in crate::lowering::openmp::forks(module) {
        share_out(module, fork)?;
    }
    let initialisations =
        module.get_functions().filter(|f| f.count_basic_blocks() > 0 && is_static_local(f.as_value_ref()));
    initialisations.collect::<Vec<_>>().into_iter().try_for_each(|function| pause(module, function))?;
    for &(entry, slots) in entries {
        let run = match entry {
            Entry::Augmented => "ffgrad_onto_tape",
            Entry::Reverse => "ffgrad_from_tape",
            _ => "ffgrad_in_arena",
        };
        let run = module.get_function(run).ok_or("the arena has no entry")?;
        let name = entry.symbol();
        let inner = module.get_function(name).ok_or_else(|| format!("no entry point `{name}`"))?;
        inner.as_global_value().set_name(&format!("{name}.body"));
        inner.set_linkage(Linkage::Internal);
        let context = module.get_context();
        let outer = module.add_function(name, context.i32_type().fn_type(&[pointer.into()], false), None);
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(outer, ""));
        let args = outer.get_first_param().ok_or("entry parameter")?;
        let mut values: Vec<BasicMetadataValueEnum<'ctx>> =
            vec![inner.as_global_value().as_pointer_value().into(), args.into()];
        if matches!(entry, Entry::Augmented | Entry::Reverse) {
            // Behind the message buffer.
            values.push(context.i64_type().const_int(slots as u64 + 1, false).into());
        }
        let call = builder.build_call(run, &values, "").map_err(|e| e.to_string())?;
        let status: Option<BasicValueEnum<'ctx>> = call.try_as_basic_value().basic();
        let status = status.ok_or("the arena returns no status")?;
        builder.build_return(Some(&status)).map_err(|e| e.to_string())?;
    }
    Ok(is_inlined)
}

/// Lets the threads of a parallel region allocate from arenas of the call.
fn share_out(module: &Module<'_>, fork: LLVMValueRef) -> Result<()> {
    let find = |name| module.get_function(name).ok_or("the arena knows no teams").map(|f| f.as_value_ref());
    let (before, join, leave) =
        (find("ffgrad_arena_before_fork")?, find("ffgrad_arena_join")?, find("ffgrad_arena_leave")?);
    let none = c"".as_ptr();
    // SAFETY: a live fork of this module: its third operand is what the threads run, whose third parameter is the number of
    // the team; its fourth is that number.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        let call = |function, arguments: &mut [LLVMValueRef]| {
            let ty = LLVMGlobalGetValueType(function);
            LLVMBuildCall2(builder, ty, function, arguments.as_mut_ptr(), arguments.len() as u32, none)
        };
        LLVMPositionBuilderBefore(builder, fork);
        call(before, &mut [LLVMGetOperand(fork, 3)]);

        let task = LLVMGetOperand(fork, 2);
        let ty = LLVMGlobalGetValueType(task);
        let wrapper = LLVMAddFunction(module.as_mut_ptr(), c"ffgrad.in_arena".as_ptr(), ty);
        LLVMSetLinkage(wrapper, llvm_sys::LLVMLinkage::LLVMInternalLinkage);
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, wrapper, none));
        let outer = call(join, &mut [LLVMGetParam(wrapper, 2)]);
        let mut given: Vec<LLVMValueRef> = (0..LLVMCountParams(wrapper)).map(|i| LLVMGetParam(wrapper, i)).collect();
        call(task, &mut given);
        call(leave, &mut [outer]);
        LLVMBuildRetVoid(builder);
        LLVMSetOperand(fork, 2, wrapper);
        LLVMDisposeBuilder(builder);
    }
    Ok(())
}

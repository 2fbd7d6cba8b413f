//! Symbol linkage: makes everything but the entry points internal, renames declarations.
//!
//! With everything else internal, LLVM drops what is not used and specialises what is, and the shared object exports no
//! name that could clash with one of the host process.

use crate::ir::Result;
use core_ad::protocol::{
    ACCESS, AFTER_CRASH, CHECKPOINT_REPORT, Entry, FAILED_CHECK, LARGE_STACK, PATH_MAP, TAPE_BYTES, TAPE_DROP,
    UNSOLVED_NOTE,
};
use inkwell::module::{Linkage, Module};
use inkwell::types::AsTypeRef;
use inkwell::values::{AsValueRef, BasicValue, FunctionValue, GlobalValue};
use inkwell::{DLLStorageClass, GlobalVisibility};
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::{LLVMGetIntTypeWidth, LLVMGetTypeKind};
use llvm_sys::prelude::LLVMTypeRef;

/// Names Enzyme reads by convention (registered derivatives, inactive functions).
fn is_reserved(name: &str) -> bool {
    name.starts_with("__enzyme") || name.starts_with("llvm.") || name.starts_with("enzyme_")
}

/// Makes everything but the entry points internal.
pub fn keep_only(module: &Module<'_>, entries: &[Entry]) {
    let ours = [ACCESS, PATH_MAP, LARGE_STACK, AFTER_CRASH, CHECKPOINT_REPORT, UNSOLVED_NOTE, FAILED_CHECK];
    let mut kept: Vec<&str> = entries.iter().map(|e| e.symbol()).chain(ours).collect();
    if entries.contains(&Entry::Reverse) {
        kept.extend([TAPE_DROP, TAPE_BYTES]);
    }
    internalise(module, &kept);
}

/// Makes everything but one function internal, and that one visible whatever it was.
pub fn keep_only_symbol(module: &Module<'_>, symbol: &str) -> Result<()> {
    let function = module.get_function(symbol).ok_or_else(|| format!("no function `{symbol}`"))?;
    internalise(module, &[symbol]);
    drop_comdat(function.as_global_value());
    function.set_linkage(Linkage::External);
    Ok(())
}

/// Makes everything internal but some functions, so that nothing else is kept for its own sake.
pub fn keep_only_named(module: &Module<'_>, symbols: &[&str]) {
    internalise(module, symbols);
    for function in symbols.iter().filter_map(|symbol| module.get_function(symbol)) {
        if function.count_basic_blocks() > 0 {
            drop_comdat(function.as_global_value());
            function.set_linkage(Linkage::External);
        }
    }
}

fn internalise(module: &Module<'_>, kept: &[&str]) {
    for function in module.get_functions().filter(|f| f.count_basic_blocks() > 0) {
        let name = function.get_name().to_string_lossy().into_owned();
        if !kept.contains(&name.as_str()) && !is_reserved(&name) {
            make_internal(function.as_global_value());
        }
    }
    // Constructors are often aliases of one another; an alias left visible would clash between objects.
    for alias in aliases(module) {
        alias.set_visibility(GlobalVisibility::Default);
        alias.set_linkage(Linkage::Internal);
    }
    for global in module.get_globals() {
        let name = global.get_name().to_string_lossy().into_owned();
        let defined = global.get_initializer().is_some();
        if defined
            && !kept.contains(&name.as_str())
            && !is_reserved(&name)
            && global.get_linkage() != Linkage::Appending
        {
            make_internal(global);
        }
    }
}

/// Other names of functions and variables.
pub fn aliases<'ctx>(module: &Module<'ctx>) -> Vec<GlobalValue<'ctx>> {
    let mut all = Vec::new();
    // SAFETY: iterates over the live module's list of aliases; GlobalValue is a view of any global, aliases
    // included.
    unsafe {
        let mut next = llvm_sys::core::LLVMGetFirstGlobalAlias(module.as_mut_ptr());
        while !next.is_null() {
            all.push(GlobalValue::new(next));
            next = llvm_sys::core::LLVMGetNextGlobalAlias(next);
        }
    }
    all
}

fn make_internal(global: GlobalValue<'_>) {
    drop_comdat(global);
    global.set_visibility(GlobalVisibility::Default);
    global.set_dll_storage_class(DLLStorageClass::Default);
    global.set_linkage(Linkage::Internal);
}

/// Lets definitions give way to those that other modules have by the same names.
pub fn weaken(module: &Module<'_>, symbols: &[String]) {
    for name in symbols {
        let function = module.get_function(name).filter(|f| f.count_basic_blocks() > 0);
        let variable = module.get_global(name).filter(|g| !g.is_declaration());
        for value in function.map(|f| f.as_global_value()).into_iter().chain(variable) {
            value.set_linkage(Linkage::WeakAny);
        }
    }
}

fn drop_comdat(global: GlobalValue<'_>) {
    // SAFETY: the value is a live global of its module; a null comdat means "in none".
    unsafe { llvm_sys::comdat::LLVMSetComdat(global.as_value_ref(), std::ptr::null_mut()) };
}

/// Functions with a body.
pub fn defined(module: &Module<'_>) -> Vec<String> {
    let functions = module.get_functions().filter(|f| f.count_basic_blocks() > 0);
    functions.map(|f| f.get_name().to_string_lossy().into_owned()).collect()
}

/// Symbols that code of the module uses and does not define; LLVM's intrinsics are among them.
pub fn undefined(module: &Module<'_>) -> Vec<String> {
    let used = |f: &FunctionValue<'_>| {
        f.count_basic_blocks() == 0 && f.as_global_value().as_pointer_value().get_first_use().is_some()
    };
    let variable = |g: &GlobalValue<'_>| g.is_declaration() && g.as_pointer_value().get_first_use().is_some();
    let functions = module.get_functions().filter(used).map(|f| f.get_name().to_string_lossy().into_owned());
    let variables = module.get_globals().filter(variable).map(|g| g.get_name().to_string_lossy().into_owned());
    functions.chain(variables).collect()
}

/// Gives functions without a body, and variables without a value, another name, under which something else has one.
pub fn rename_declarations(module: &Module<'_>, renamed: &[(String, String)]) {
    for (old, new) in renamed {
        if let Some(variable) = module.get_global(old).filter(|g| g.is_declaration()) {
            variable.set_name(new);
        }
        if let Some(function) = module.get_function(old).filter(|f| f.count_basic_blocks() == 0) {
            match module.get_function(new) {
                // Two functions may have one replacement.
                Some(same) if same != function => function.replace_all_uses_with(same),
                _ => function.as_global_value().set_name(new),
            }
        }
    }
}

/// Whether one returns nothing and the other the integer that C translations of subroutines return.
fn is_subroutine(one: LLVMTypeRef, other: LLVMTypeRef) -> bool {
    // SAFETY: a live type.
    let kind = |ty| unsafe { LLVMGetTypeKind(ty) };
    let is_void = |ty| kind(ty) == LLVMTypeKind::LLVMVoidTypeKind;
    // SAFETY: asked of integers only.
    let is_int = |ty| kind(ty) == LLVMTypeKind::LLVMIntegerTypeKind && unsafe { LLVMGetIntTypeWidth(ty) } == 32;
    (is_void(one) && is_int(other)) || (is_int(one) && is_void(other))
}

/// Calls that pass more than the body takes (Fortran's hidden lengths of character arguments, where the routine has the text as
/// integers) lose the rest, so that they fit, can be inlined, and take the arguments that passes add.
pub fn trim_arguments(module: &Module<'_>) {
    let builder = module.get_context().create_builder();
    for function in module.get_functions().filter(|f| !f.get_type().is_var_arg()) {
        let ty = function.get_type();
        let count = ty.count_param_types();
        // SAFETY: iterates over the uses of a live function; a call is erased only after its replacement stands.
        unsafe {
            use llvm_sys::core::*;
            use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
            let raw = function.as_value_ref();
            let mut next = LLVMGetFirstUse(raw);
            while !next.is_null() {
                let call = LLVMGetUser(next);
                next = LLVMGetNextUse(next);
                let is_call = !LLVMIsACallInst(call).is_null() && LLVMGetCalledValue(call) == raw;
                let (wanted, returned) = (LLVMTypeOf(call), LLVMGetReturnType(ty.as_type_ref()));
                if !is_call || LLVMGetNumArgOperands(call) < count {
                    continue;
                }
                if LLVMGetNumArgOperands(call) == count && wanted == returned {
                    continue;
                }
                let mut arguments: Vec<_> = (0..count).map(|i| LLVMGetOperand(call, i)).collect();
                let fits = |(i, &given)| LLVMTypeOf(given) == LLVMTypeOf(LLVMGetParam(raw, i));
                if !(wanted == returned || is_subroutine(wanted, returned)) || !(0..).zip(&arguments).all(fits) {
                    continue;
                }
                LLVMPositionBuilderBefore(builder.as_mut_ptr(), call);
                let (values, ty) = (arguments.as_mut_ptr(), ty.as_type_ref());
                let new = LLVMBuildCall2(builder.as_mut_ptr(), ty, raw, values, count, c"".as_ptr());
                LLVMInstructionSetDebugLoc(new, LLVMInstructionGetDebugLoc(call));
                if wanted == returned {
                    LLVMReplaceAllUsesWith(call, new);
                } else if LLVMGetTypeKind(wanted) != LLVMTypeKind::LLVMVoidTypeKind {
                    LLVMReplaceAllUsesWith(call, LLVMConstNull(wanted));
                }
                LLVMInstructionEraseFromParent(call);
            }
        }
    }
}

/// Where MPI's handles are integers (MPICH), Enzyme declares its functions with pointer attributes, which LLVM
/// rejects; this drops them.
pub fn with_mpi_handles(text: &str) -> String {
    let line = |l: &str| match l.starts_with("declare") && l.contains("@MPI_") {
        true => l.replace("i32 noalias nonnull readonly captures(none)", "i32"),
        false => l.to_owned(),
    };
    text.lines().flat_map(|l| [line(l), "\n".to_owned()]).collect()
}

//! Gives functions of the C and C++ libraries that only pass on what they are given a body that Enzyme can look into.
//!
//! * `pthread_once` and `std::call_once` run a function at the first call. The library keeps what to run in variables of the thread.
//! * A `std::pmr::memory_resource` gives memory from a pool or a buffer of its own, by a virtual function without a body. For a derivative any memory will
//!   do, so it comes from `operator new`. Where the program has a class of resources of its own, all stay as they are.
//! * `frexp` gives a number divided by a power of two, and the power's exponent, which is a constant. Enzyme does not know LLVM's built-in for it, and its
//!   derivative of the library's function takes the bits of the number apart, which has no second derivative.

use crate::ir::{Result, texts};
use core_ad::names;
use inkwell::module::{Linkage, Module};
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::LLVMReplaceAllUsesWith;

/// What calls a function once.
const ONCE: &str = "pthread_once";

/// `std::pmr::memory_resource::allocate` and `deallocate`, and what takes their place.
const RESOURCES: [(&str, &str); 2] = [
    ("_ZNSt3pmr15memory_resource8allocateEmm", "ffgrad.resource.allocate"),
    ("_ZNSt3pmr15memory_resource10deallocateEPvmm", "ffgrad.resource.deallocate"),
];

/// The end of the name of the virtual function that gives a resource's memory.
const OF_RESOURCES: &str = "::do_allocate";

/// LLVM's built-ins for `frexp`, the library's functions, and what takes their place.
const EXPONENTS: [(&str, &str); 6] = [
    ("frexp", "ffgrad.frexp"),
    ("frexpf", "ffgrad.frexpf"),
    ("frexpl", "ffgrad.frexpl"),
    ("llvm.frexp.f64.i32", "ffgrad.frexp.f64"),
    ("llvm.frexp.f32.i32", "ffgrad.frexp.f32"),
    ("llvm.frexp.f80.i32", "ffgrad.frexp.f80"),
];

/// Has `frexp` computed by what Enzyme knows.
///
/// # Errors
///
/// LLVM's own.
pub fn replace_exponents(module: &Module<'_>) -> Result<()> {
    let is_the_librarys = |f: &FunctionValue<'_>| f.count_basic_blocks() == 0;
    put_in_place(module, &EXPONENTS, include_str!("exponents.ll"), is_the_librarys)
}

/// Replaces those of threads and of memory.
///
/// # Errors
///
/// LLVM's own.
pub fn replace(module: &Module<'_>) -> Result<()> {
    if module.get_function(ONCE).is_some_and(|f| f.count_basic_blocks() == 0) {
        texts::link(module, include_str!("once.ll"), ONCE)?;
    }
    put_in_place(module, &RESOURCES, include_str!("memory_resources.ll"), |_| !has_own_resources(module))
}

/// Has functions of a text stand where a library's did, if the module has any of these.
fn put_in_place(
    module: &Module<'_>,
    names: &[(&str, &str)],
    text: &str,
    is_replaced: impl Fn(&FunctionValue<'_>) -> bool,
) -> Result<()> {
    let replaced: Vec<_> = names.iter().map(|(name, _)| module.get_function(name).filter(&is_replaced)).collect();
    if replaced.iter().all(Option::is_none) {
        return Ok(());
    }
    texts::link(module, text, "functions of the library")?;
    for ((_, new), old) in names.iter().zip(replaced) {
        let new = module.get_function(new).ok_or("no function of ours for the library's")?;
        new.set_linkage(Linkage::Internal);
        if let Some(old) = old {
            // SAFETY: two functions of the module with the same parameters and result.
            unsafe { LLVMReplaceAllUsesWith(old.as_value_ref(), new.as_value_ref()) };
        }
    }
    Ok(())
}

fn has_own_resources(module: &Module<'_>) -> bool {
    let is_one = |f: FunctionValue<'_>| {
        let name = names::short(&f.get_name().to_string_lossy());
        f.count_basic_blocks() > 0 && name.ends_with(OF_RESOURCES) && !name.starts_with("std::pmr::")
    };
    module.get_functions().any(is_one)
}

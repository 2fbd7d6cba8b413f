//! A function together with its custom derivatives.

use inkwell::types::{BasicTypeEnum, FunctionType};
use inkwell::values::FunctionValue;

/// A function and its derivatives.
#[derive(Clone, Copy)]
pub struct Rule<'ctx> {
    /// The function.
    pub function: FunctionValue<'ctx>,
    /// Does what it does, with tangents.
    pub forward: FunctionValue<'ctx>,
    /// Adds to adjoints.
    pub reverse: FunctionValue<'ctx>,
    /// Does what it does and keeps what `reverse` needs.
    pub save: Option<FunctionValue<'ctx>>,
}

/// Types of the parameters.
pub fn fields(ty: FunctionType<'_>) -> Vec<BasicTypeEnum<'_>> {
    ty.get_param_types().into_iter().filter_map(|t| BasicTypeEnum::try_from(t).ok()).collect()
}

/// A name of LLVM's.
pub fn text(name: &std::ffi::CStr) -> String {
    name.to_string_lossy().into_owned()
}

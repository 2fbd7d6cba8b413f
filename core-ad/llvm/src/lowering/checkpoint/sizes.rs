//! The sizes of objects: of variables and allocations by their instructions, of arguments by the signature.

use super::regions::Finder;
use super::{Refusal, refusal};
use crate::ir::{self, Op, Value};
use crate::lowering::caught::build::Edit;
use core_ad::plan::Dim;
use core_ad::{Arg, CallPlan, Role};
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;
use llvm_sys::target::LLVMABISizeOfType;
use std::collections::HashMap;

/// Functions that move memory to where it has another size.
pub(super) fn reallocates(name: &str) -> bool {
    matches!(name, "realloc" | "ffgrad_realloc")
}

impl Finder<'_, '_> {
    /// The size of an object that is allocated on a condition, 0 without it, or once more in a loop (a vector that grows).
    pub(super) fn size_of_merged(&self, address: Value, access: Value) -> Result<Value, Refusal> {
        self.size_at(address, access, &mut HashMap::new())
    }

    /// Follows phis, also those that lead back to themselves: `known` has the sizes beside them.
    fn size_at(&self, address: Value, access: Value, known: &mut HashMap<Value, Value>) -> Result<Value, Refusal> {
        if let Some(size) = known.get(&address) {
            return Ok(*size);
        }
        if !address.is(Op::LLVMPHI) {
            if address.is_null_or_undefined() {
                return Ok(Value(self.edit.number(0)));
            }
            if !address.is(Op::LLVMCall) && !address.is(Op::LLVMAlloca) {
                return Err(refusal::unknown_memory(self.target, access, address));
            }
            self.edit.before(address.next());
            let size = self.size(address, access)?;
            known.insert(address, size);
            return Ok(size);
        }
        self.edit.before(address);
        // SAFETY: builds beside a live phi, from values that are there at the ends of its predecessors.
        let phi = unsafe { LLVMBuildPhi(self.edit.builder, self.edit.i64, c"".as_ptr()) };
        known.insert(address, Value(phi));
        for (value, from) in address.incoming() {
            let size = self.size_at(value, access, known)?;
            // SAFETY: as above.
            unsafe { LLVMAddIncoming(phi, &mut { size.0 }, &mut { from.0 }, 1) };
        }
        Ok(Value(phi))
    }

    /// The size of an object in bytes, computed where the builder stands.
    pub(super) fn size(&self, base: Value, access: Value) -> Result<Value, Refusal> {
        if let Some(size) = size_of_allocation(self.module, self.edit, base) {
            return Ok(Value(size));
        }
        let edit = self.edit;
        let Some(arg) = self.argument(base) else { return Err(refusal::unknown_memory(self.target, access, base)) };
        let mut bytes = edit.number(arg.dtype.size() as u64);
        for dim in arg.shape.iter().filter(|_| arg.role != Role::Return) {
            let extent =
                extent(edit, self.plan, self.target.function, dim).ok_or_else(|| self.no_extent(arg, access))?;
            // SAFETY: as above.
            bytes = unsafe { LLVMBuildMul(edit.builder, bytes, extent, c"".as_ptr()) };
        }
        Ok(Value(bytes))
    }

    fn no_extent(&self, arg: &Arg, access: Value) -> Refusal {
        let what = format!("the function does not know the size of `{}`", arg.spelled());
        let advice =
            "Give its size by numbers and integer parameters of the function: \"u[n]\" for a function that takes n.";
        refusal::of(self.target, access, &what, advice)
    }
}

/// The size of a variable, or of what an allocation returns, in bytes, computed where the builder stands: behind it.
pub(in crate::lowering) fn size_of_allocation(module: &Module<'_>, edit: &Edit, base: Value) -> Option<LLVMValueRef> {
    // SAFETY: the builder stands behind what makes the object.
    unsafe {
        if base.is(Op::LLVMAlloca) {
            let layout = TargetData::create(&module.get_data_layout().as_str().to_string_lossy());
            let one = LLVMABISizeOfType(layout.as_mut_ptr(), LLVMGetAllocatedType(base.0));
            let count = LLVMBuildIntCast2(edit.builder, base.operand(0).0, edit.i64, 0, c"".as_ptr());
            return Some(LLVMBuildMul(edit.builder, edit.number(one), count, c"".as_ptr()));
        }
        let name = base.callee()?;
        if reallocates(&name) {
            return Some(LLVMBuildIntCast2(edit.builder, base.operand(1).0, edit.i64, 0, c"".as_ptr()));
        }
        let first = LLVMBuildIntCast2(edit.builder, base.operand(0).0, edit.i64, 0, c"".as_ptr());
        if !name.contains("calloc") {
            return Some(first);
        }
        let second = LLVMBuildIntCast2(edit.builder, base.operand(1).0, edit.i64, 0, c"".as_ptr());
        Some(LLVMBuildMul(edit.builder, first, second, c"".as_ptr()))
    }
}

/// The parameter of a function that has a dimension's value.
fn parameter_of(plan: &CallPlan, function: FunctionValue<'_>, name: &str) -> Option<Value> {
    let is_it = |a: &Arg| a.role == Role::Size && matches!(&a.shape[..], [Dim::Sym(own)] if own == name);
    let number = plan.args.iter().position(is_it)?;
    ir::arguments(function).get(number).copied()
}

/// Whether a dimension is known to a function.
pub(in crate::lowering) fn extent_of(plan: &CallPlan, function: FunctionValue<'_>, dim: &Dim) -> bool {
    match dim {
        Dim::Int(_) => true,
        Dim::Sym(name) => parameter_of(plan, function, name).is_some(),
        Dim::Add(a, b) | Dim::Sub(a, b) | Dim::Mul(a, b) | Dim::FloorDiv(a, b) => {
            extent_of(plan, function, a) && extent_of(plan, function, b)
        }
    }
}

/// A dimension as a number of 64 bits, computed where the builder stands.
pub(in crate::lowering) fn extent(
    edit: &Edit,
    plan: &CallPlan,
    function: FunctionValue<'_>,
    dim: &Dim,
) -> Option<LLVMValueRef> {
    let builder = edit.builder;
    let both = |a: &Dim, b: &Dim| Some((extent(edit, plan, function, a)?, extent(edit, plan, function, b)?));
    // SAFETY: parameters of the function in which the builder stands.
    unsafe {
        Some(match dim {
            Dim::Int(n) => edit.number(*n as u64),
            Dim::Sym(name) => {
                let value = parameter_of(plan, function, name)?;
                LLVMBuildIntCast2(builder, value.0, edit.i64, 1, c"".as_ptr())
            }
            Dim::Add(a, b) => both(a, b).map(|(a, b)| LLVMBuildAdd(builder, a, b, c"".as_ptr()))?,
            Dim::Sub(a, b) => both(a, b).map(|(a, b)| LLVMBuildSub(builder, a, b, c"".as_ptr()))?,
            Dim::Mul(a, b) => both(a, b).map(|(a, b)| LLVMBuildMul(builder, a, b, c"".as_ptr()))?,
            Dim::FloorDiv(a, b) => both(a, b).map(|(a, b)| LLVMBuildSDiv(builder, a, b, c"".as_ptr()))?,
        })
    }
}

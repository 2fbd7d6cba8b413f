//! Says what arrays flang's descriptors are of, where the rules for its runtime library need to know.
//!
//! The rules (`compile-driver/rules/flang_*.c`) choose by the type code in a descriptor, which must be a constant by the time that they are inlined. That of a
//! module's allocatable, or of a component of a derived type, is set once, in the initial value, and stays; but a load of it is of memory that is written.
//! So the fields that never change are stored once more before each such call.

use super::fortran_runtime;
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use llvm_sys::LLVMTypeKind::LLVMStructTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMTypeRef, LLVMValueRef};
use std::collections::HashMap;

/// The field that says how a descriptor is laid out, and what flang 22 has there.
const VERSION: (u32, i64) = (2, 20_240_719);
/// Bytes of an element, rank, type.
const FIXED: [u32; 3] = [1, 3, 4];
const TYPE: u32 = 4;
/// Type codes of numbers and logicals: their descriptors never become those of another type.
const NUMBERS: [i64; 5] = [27, 28, 34, 35, 39];
const LAST_INTEGER: i64 = 24;

/// Stores them.
pub fn run(module: &Module<'_>) {
    let initial = initial_values(module);
    let all = ir::all_instructions(module);
    // SAFETY: live calls of `module`; the stores go before them, where their operands are defined.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        for call in all.into_iter().filter(|i| i.callee().is_some_and(|name| fortran_runtime::is_rule(&name))) {
            let given = (0..LLVMGetNumArgOperands(call.0)).map(|n| call.operand(n)).filter(|o| o.is_pointer());
            for (address, value) in given.filter_map(|g| Some((g, descriptor(g, &initial)?))) {
                LLVMPositionBuilderBefore(builder, call.0);
                for field in FIXED {
                    let place = LLVMBuildStructGEP2(builder, LLVMTypeOf(value), address.0, field, c"".as_ptr());
                    LLVMBuildStore(builder, LLVMGetAggregateElement(value, field), place);
                }
            }
        }
        LLVMDisposeBuilder(builder);
    }
}

/// The initial values of variables of derived types, by type.
fn initial_values(module: &Module<'_>) -> HashMap<LLVMTypeRef, LLVMValueRef> {
    let named = module.get_globals().filter(|g| g.get_name().to_bytes().ends_with(b"DerivedInit"));
    let with_value = named.filter_map(|g| {
        let value = ir_value(&g);
        // SAFETY: a live global variable.
        let initial = unsafe { LLVMGetInitializer(value) };
        // SAFETY: a live constant.
        (!initial.is_null()).then(|| (unsafe { LLVMTypeOf(initial) }, initial))
    });
    with_value.collect()
}

fn ir_value(global: &inkwell::values::GlobalValue<'_>) -> LLVMValueRef {
    use inkwell::values::AsValueRef;
    global.as_value_ref()
}

/// What a descriptor of numbers is at the beginning, if that is known.
fn descriptor(address: Value, initial: &HashMap<LLVMTypeRef, LLVMValueRef>) -> Option<LLVMValueRef> {
    // SAFETY: asked of live values; a constant structure is asked for elements that it may lack.
    unsafe {
        let value = if !LLVMIsAGlobalVariable(address.0).is_null() {
            LLVMGetInitializer(address.0)
        } else if address.is(Op::LLVMGetElementPtr) {
            let mut value = *initial.get(&LLVMGetGEPSourceElementType(address.0))?;
            // The first index is for an array of such variables.
            for index in address.operands().into_iter().skip(2) {
                value = LLVMGetAggregateElement(value, u32::try_from(index.constant()?).ok()?);
                if value.is_null() {
                    return None;
                }
            }
            value
        } else {
            return None;
        };
        if value.is_null() || LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMStructTypeKind {
            return None;
        }
        let field = |n: u32| {
            let element = LLVMGetAggregateElement(value, n);
            (!element.is_null()).then(|| Value(element).constant()).flatten()
        };
        let is_number = |ty: i64| NUMBERS.contains(&ty) || (1..=LAST_INTEGER).contains(&ty);
        (field(VERSION.0) == Some(VERSION.1) && field(TYPE).is_some_and(is_number)).then_some(value)
    }
}

//! Says what arrays flang's descriptors are of, where the rules for its runtime library need to know.
//!
//! The rules (`compile-driver/rules/flang_*.c`) choose by the type code in a descriptor, which must be a constant by the time that they are inlined. That of a
//! module's allocatable, or of a component of a derived type, is set once, in the initial value, and stays; but a load of it is of memory that is written.
//! That of a local descriptor is in each value that is stored to it, on the path that does so: a temporary copy of an argument is made on one branch and
//! released on another. So the fields that never change are stored once more before each such call.

use super::{derived_types, fortran_runtime};
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use llvm_sys::LLVMTypeKind::LLVMStructTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMTypeRef, LLVMValueRef};
use std::collections::HashMap;

/// The field that says how a descriptor is laid out, and what flang 22 has there.
pub const VERSION: (u32, i64) = (2, 20_240_719);
/// Bytes of an element, rank, type.
const FIXED: [u32; 3] = [1, 3, 4];
const TYPE: u32 = 4;
/// Type codes of numbers and logicals: their descriptors never become those of another type.
const NUMBERS: [i64; 5] = [27, 28, 34, 35, 39];
const LAST_INTEGER: i64 = 24;
/// The type code of objects of derived types.
const OBJECT: i64 = 42;
/// That of characters.
const TEXT: i64 = 40;

/// Stores them.
pub fn run(module: &Module<'_>) {
    let initial = initial_values(module);
    let all = ir::all_instructions(module);
    // SAFETY: live calls of `module`; the stores go before them, where their operands are defined.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        for call in all.into_iter().filter(|i| i.callee().is_some_and(|name| fortran_runtime::is_rule(&name))) {
            let given = (0..LLVMGetNumArgOperands(call.0)).map(|n| call.operand(n)).filter(|o| o.is_pointer());
            for (address, of) in given.filter_map(|g| Some((g, descriptor(module, g, &initial)?))) {
                LLVMPositionBuilderBefore(builder, call.0);
                for (field, value) in FIXED.into_iter().zip(of.fixed).filter_map(|(field, v)| Some((field, v?))) {
                    let place = LLVMBuildStructGEP2(builder, of.ty, address.0, field, c"".as_ptr());
                    LLVMBuildStore(builder, value, place);
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

/// What stays of a descriptor: its LLVM type, and the values of the fields [`FIXED`].
#[derive(Clone, Copy, PartialEq)]
struct Fixed {
    ty: LLVMTypeRef,
    fixed: [Option<LLVMValueRef>; 3],
}

/// What stays of a descriptor of numbers or objects, if that is known.
fn descriptor(module: &Module<'_>, address: Value, initial: &HashMap<LLVMTypeRef, LLVMValueRef>) -> Option<Fixed> {
    // SAFETY: asked of live values; a constant structure is asked for elements that it may lack.
    unsafe {
        if address.is(Op::LLVMAlloca) {
            return local(address, &mut Vec::new());
        }
        let value = if !LLVMIsAGlobalVariable(address.0).is_null() {
            LLVMGetInitializer(address.0)
        } else if address.is(Op::LLVMGetElementPtr) {
            let object = LLVMGetGEPSourceElementType(address.0);
            let Some(&first) = initial.get(&object) else { return fixed_component(module, address) };
            let mut value = first;
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
        (!value.is_null()).then(|| fixed(Value(value))).flatten()
    }
}

/// What stays of the descriptor of a component that is a pointer or allocatable, by the description of the object's type.
fn fixed_component(module: &Module<'_>, address: Value) -> Option<Fixed> {
    let operands = address.operands();
    let [_, _, index] = operands.as_slice() else { return None };
    let field = u32::try_from(index.constant()?).ok()?;
    // SAFETY: the type of a live instruction, asked for a member that it has; constants of the module's context.
    unsafe {
        let object = LLVMGetGEPSourceElementType(address.0);
        if LLVMGetTypeKind(object) != LLVMStructTypeKind || field >= LLVMCountStructElementTypes(object) {
            return None;
        }
        let [bytes, rank, code] = derived_types::component(module, object, field)?;
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let (long, byte) = (LLVMInt64TypeInContext(context), LLVMInt8TypeInContext(context));
        let constant = |ty, value| Some(LLVMConstInt(ty, value, 0));
        let is_sized = ![OBJECT, TEXT].contains(&(code as i64));
        let bytes = constant(long, bytes).filter(|_| is_sized);
        let ty = LLVMStructGetTypeAtIndex(object, field);
        Some(Fixed { ty, fixed: [bytes, constant(byte, rank), constant(byte, code)] })
    }
}

/// What all writes to a local descriptor agree on. What it is given to may move it to other memory, and not change its type.
fn local(address: Value, seen: &mut Vec<Value>) -> Option<Fixed> {
    if seen.contains(&address) {
        return None;
    }
    seen.push(address);
    let mut known = None;
    for user in address.users() {
        let written = if user.is(Op::LLVMStore) && user.operand(1) == address {
            fixed(user.operand(0))?
        } else if let Some(from) = copied(user, address) {
            if !from.is(Op::LLVMAlloca) {
                return None;
            }
            // Two that are copied to each other say nothing new.
            if seen.contains(&from) {
                continue;
            }
            local(from, seen)?
        } else {
            continue;
        };
        if known.is_some_and(|known| known != written) {
            return None;
        }
        known = Some(written);
    }
    known
}

/// The descriptor that a call copies to `address`, whole or with the array that it describes.
fn copied(call: Value, address: Value) -> Option<Value> {
    let name = call.callee()?;
    let copies = name.starts_with("llvm.memcpy.") || name == "ffgrad_flang_copy_in";
    (copies && call.operand(0) == address).then(|| call.operand(1))
}

/// What stays of a descriptor that has a value which is constant, but for members that are put into it.
fn fixed(value: Value) -> Option<Fixed> {
    // SAFETY: the type of a live value.
    if unsafe { LLVMGetTypeKind(LLVMTypeOf(value.0)) } != LLVMStructTypeKind {
        return None;
    }
    let number = |field: u32| member(value, field).and_then(Value::constant);
    let is_number = |ty: i64| NUMBERS.contains(&ty) || (1..=LAST_INTEGER).contains(&ty);
    // A polymorphic variable's objects are of several sizes, and so is a text of deferred length.
    let is_unsized = number(TYPE).is_some_and(|ty| [OBJECT, TEXT].contains(&ty));
    if number(VERSION.0) != Some(VERSION.1) || !(is_unsized || number(TYPE).is_some_and(is_number)) {
        return None;
    }
    let [size, rank, ty] = FIXED.map(|field| member(value, field).filter(|m| m.constant().is_some()));
    let size = if is_unsized { None } else { Some(size?.0) };
    // SAFETY: as above.
    Some(Fixed { ty: unsafe { LLVMTypeOf(value.0) }, fixed: [size, Some(rank?.0), Some(ty?.0)] })
}

/// A member of a structure, as far as instructions that insert members show it.
fn member(mut value: Value, field: u32) -> Option<Value> {
    // SAFETY: indices of a live instruction, elements of a live constant.
    unsafe {
        while value.is(Op::LLVMInsertValue) {
            let first = *LLVMGetIndices(value.0);
            if first == field {
                return (LLVMGetNumIndices(value.0) == 1).then(|| value.operand(1));
            }
            value = value.operand(0);
        }
        if LLVMIsAConstant(value.0).is_null() {
            return None;
        }
        let element = LLVMGetAggregateElement(value.0, field);
        (!element.is_null()).then_some(Value(element))
    }
}

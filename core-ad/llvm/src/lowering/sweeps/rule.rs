//! The custom derivative of a sweep.
//!
//! ```text
//! save(pointers, integers, sizes):                     tape = copies of what is kept;  sweep(..);  return tape
//! reverse(pointers, shadows, integers, sizes, tape):   the derivative of the sweep, forward and back, on the copies
//! ```
//!
//! The reverse writes the same values again to memory that the sweep only writes. Of that no reverse of earlier code reads, since the call of the sweep has told
//! Enzyme that it is overwritten.

use super::find::Shadow;
use super::outline::Outlined;
use super::{GRADIENT, WHOLE};
use crate::ir::Result;
use crate::lowering::caught::build::Edit;
use crate::rules::Rule;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMTypeRef, LLVMValueRef};
use std::ffi::CString;

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// Copies begin at multiples of this, and some way behind one another: arrays at the same distance from the start of a page evict one another.
const APART: u64 = 192;

/// Gives a sweep its body and its derivatives.
///
/// # Errors
///
/// None but LLVM's.
pub fn build<'ctx>(module: &Module<'ctx>, outlined: &Outlined, number: usize) -> Result<Rule<'ctx>> {
    let edit = Edit::of(module);
    let builder = Builder { edit: &edit, outlined, number };
    builder.body();
    let (save, forward) = (builder.save(), builder.derivative(false));
    let reverse = builder.derivative(true);
    let function = |raw: LLVMValueRef| {
        // SAFETY: a function of the module.
        unsafe { FunctionValue::new(raw) }.ok_or_else(|| "no function of a sweep".to_owned())
    };
    Ok(Rule {
        function: function(outlined.whole)?,
        forward: function(forward)?,
        reverse: function(reverse)?,
        save: Some(function(save)?),
    })
}

struct Builder<'a> {
    edit: &'a Edit,
    outlined: &'a Outlined,
    number: usize,
}

// SAFETY of every block below: values of functions that are being built; types of one context.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Builder<'_> {
    fn pointers(&self) -> usize {
        self.outlined.pointers.len()
    }

    fn integers(&self) -> usize {
        self.outlined.integers.len()
    }

    /// A new function, at whose start the builder stands.
    fn function(&self, name: &str, result: LLVMTypeRef, parameters: &[LLVMTypeRef]) -> LLVMValueRef {
        let function = self.edit.function(name, result, parameters);
        self.edit.at_end(self.edit.block_in(function));
        function
    }

    fn types(&self, function: LLVMValueRef) -> Vec<LLVMTypeRef> {
        self.edit.parameters(function).into_iter().map(|p| unsafe { LLVMTypeOf(p) }).collect()
    }

    /// What the function of the nest takes of the parameters of the whole.
    fn own(&self) -> usize {
        self.pointers() + self.integers()
    }

    fn body(&self) {
        self.edit.at_end(self.edit.block_in(self.outlined.whole));
        let given = self.edit.parameters(self.outlined.whole);
        self.edit.call(self.outlined.sweep, &given[..self.own()]);
        unsafe { LLVMBuildRetVoid(self.edit.builder) };
    }

    /// A function of the C library.
    fn library(&self, name: &std::ffi::CStr, result: LLVMTypeRef, given: &[LLVMValueRef]) -> LLVMValueRef {
        unsafe {
            let mut function = LLVMGetNamedFunction(self.edit.module, name.as_ptr());
            if function.is_null() {
                let mut types: Vec<LLVMTypeRef> = given.iter().map(|v| LLVMTypeOf(*v)).collect();
                let ty = LLVMFunctionType(result, types.as_mut_ptr(), types.len() as u32, 0);
                function = LLVMAddFunction(self.edit.module, name.as_ptr(), ty);
            }
            self.edit.call(function, given)
        }
    }

    fn free(&self, memory: LLVMValueRef) {
        self.library(c"free", self.edit.void, &[memory]);
    }

    /// Where each copy is on the tape, and the size of the tape.
    fn layout(&self, sizes: &[LLVMValueRef]) -> (Vec<LLVMValueRef>, LLVMValueRef) {
        let builder = self.edit.builder;
        let mut at = self.edit.number(0);
        let mut places = Vec::new();
        for (pointer, size) in self.outlined.pointers.iter().zip(sizes) {
            places.push(at);
            if pointer.is_kept {
                at = unsafe {
                    let sum = LLVMBuildAdd(builder, at, *size, NONE);
                    let wide = LLVMBuildAdd(builder, sum, self.edit.number(APART + 63), NONE);
                    LLVMBuildAnd(builder, wide, self.edit.number(!63), NONE)
                };
            }
        }
        (places, at)
    }

    fn step(&self, base: LLVMValueRef, mut distance: LLVMValueRef) -> LLVMValueRef {
        unsafe {
            let byte = LLVMInt8TypeInContext(self.edit.context);
            LLVMBuildGEP2(self.edit.builder, byte, base, &mut distance, 1, NONE)
        }
    }

    /// `ptr save(pointers, integers, sizes)`.
    fn save(&self) -> LLVMValueRef {
        let name = format!("ffgrad.keep.{WHOLE}{}", self.number);
        let function = self.function(&name, self.edit.ptr, &self.types(self.outlined.whole));
        let given = self.edit.parameters(function);
        let sizes = &given[self.own()..];
        let (places, total) = self.layout(sizes);
        let tape = self.library(c"malloc", self.edit.ptr, &[total]);
        for (i, _) in self.outlined.pointers.iter().enumerate().filter(|(_, p)| p.is_kept) {
            let to = self.step(tape, places[i]);
            unsafe { LLVMBuildMemCpy(self.edit.builder, to, 8, given[i], 8, sizes[i]) };
        }
        self.edit.call(self.outlined.sweep, &given[..self.own()]);
        unsafe { LLVMBuildRet(self.edit.builder, tape) };
        function
    }

    /// `void reverse(pointers with shadows, integers, sizes, tape)`, and `forward`, without a tape.
    fn derivative(&self, reverses: bool) -> LLVMValueRef {
        let edit = self.edit;
        let (pointers, own) = (self.pointers(), self.own());
        let mut types = vec![edit.ptr; 2 * pointers];
        types.extend(&self.types(self.outlined.whole)[pointers..]);
        if reverses {
            types.push(edit.ptr);
        }
        let gradient = self.gradient(reverses);
        let name = format!("ffgrad.{}.{WHOLE}{}", if reverses { "back" } else { "along" }, self.number);
        let function = self.function(&name, edit.void, &types);
        let given = self.edit.parameters(function);
        let sizes = &given[pointers + own..];
        let (places, _) = self.layout(sizes);
        let mut arguments = Vec::new();
        let mut own_shadows = Vec::new();
        for (i, pointer) in self.outlined.pointers.iter().enumerate() {
            let (address, shadow) = (given[2 * i], given[2 * i + 1]);
            let is_copy = reverses && pointer.is_kept;
            arguments.push(if is_copy { self.step(given[given.len() - 1], places[i]) } else { address });
            match pointer.shadow {
                Shadow::None => {}
                Shadow::Known => arguments.push(shadow),
                Shadow::Open => {
                    let own = self.shadow_or_own(shadow, sizes[i]);
                    arguments.push(own.0);
                    own_shadows.push(own.1);
                }
            }
        }
        arguments.extend(&given[2 * pointers..pointers + own]);
        edit.call(gradient, &arguments);
        own_shadows.into_iter().for_each(|own| self.free(own));
        if reverses {
            self.free(given[given.len() - 1]);
        }
        unsafe { LLVMBuildRetVoid(edit.builder) };
        function
    }

    /// A shadow, or memory that takes its place where Enzyme has none: zeros. The second is to be freed.
    fn shadow_or_own(&self, shadow: LLVMValueRef, size: LLVMValueRef) -> (LLVMValueRef, LLVMValueRef) {
        let edit = self.edit;
        unsafe {
            let null = LLVMConstNull(edit.ptr);
            let is_absent = LLVMBuildICmp(edit.builder, llvm_sys::LLVMIntPredicate::LLVMIntEQ, shadow, null, NONE);
            let bytes = LLVMBuildSelect(edit.builder, is_absent, size, edit.number(0), NONE);
            let own = self.library(c"calloc", edit.ptr, &[bytes, edit.number(1)]);
            (LLVMBuildSelect(edit.builder, is_absent, own, shadow, NONE), own)
        }
    }

    /// `void gradient(pointers with their shadows, integers)`: no two pointers lead to the same memory.
    fn gradient(&self, reverses: bool) -> LLVMValueRef {
        let edit = self.edit;
        let mode = if reverses { "autodiff" } else { "fwddiff" };
        let shadows = self.outlined.pointers.iter().filter(|p| p.shadow != Shadow::None).count();
        let mut types = vec![edit.ptr; self.pointers() + shadows];
        types.extend(&self.outlined.integers);
        let function = self.function(&format!("{GRADIENT}{mode}.{}", self.number), edit.void, &types);
        edit.attribute(function, "noinline", 0);
        let given = self.edit.parameters(function);
        for i in 0..self.pointers() + shadows {
            unsafe {
                let kind = LLVMGetEnumAttributeKindForName(c"noalias".as_ptr(), 7);
                LLVMAddAttributeAtIndex(function, 1 + i as u32, LLVMCreateEnumAttribute(edit.context, kind, 0));
            }
        }
        let mut arguments = vec![self.outlined.sweep];
        let mut next = given.iter();
        for pointer in &self.outlined.pointers {
            let has_shadow = pointer.shadow != Shadow::None;
            // What the nest only writes has its values already.
            let word = match pointer.is_read || !reverses {
                _ if !has_shadow => "enzyme_const",
                true => "enzyme_dup",
                false => "enzyme_dupnoneed",
            };
            arguments.push(self.word(word));
            arguments.extend(next.by_ref().take(1 + usize::from(has_shadow)));
        }
        for integer in next {
            arguments.extend([self.word("enzyme_const"), *integer]);
        }
        let name = CString::new(format!("__enzyme_{mode}_sweep")).unwrap_or_default();
        unsafe {
            let mut enzyme = LLVMGetNamedFunction(edit.module, name.as_ptr());
            if enzyme.is_null() {
                let ty = LLVMFunctionType(edit.void, std::ptr::null_mut(), 0, 1);
                enzyme = LLVMAddFunction(edit.module, name.as_ptr(), ty);
            }
            edit.call(enzyme, &arguments);
            LLVMBuildRetVoid(edit.builder);
        }
        function
    }

    /// One of Enzyme's words before an argument.
    fn word(&self, name: &str) -> LLVMValueRef {
        let text = CString::new(name).unwrap_or_default();
        unsafe {
            let mut global = LLVMGetNamedGlobal(self.edit.module, text.as_ptr());
            if global.is_null() {
                global = LLVMAddGlobal(self.edit.module, self.edit.i32, text.as_ptr());
            }
            LLVMBuildLoad2(self.edit.builder, self.edit.i32, global, NONE)
        }
    }
}

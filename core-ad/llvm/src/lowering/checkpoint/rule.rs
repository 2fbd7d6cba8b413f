//! The custom derivative of an outlined loop: functions that describe it to the runtime (`compile-driver/runtime/checkpoint.c`), and those
//! by which the runtime calls a step and its derivative.

use super::outline::{OWN, Outlined};
use super::regions;
use crate::ir::Result;
use crate::lowering::caught::build::Edit;
use crate::rules::Rule;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMTypeRef, LLVMValueRef};
use std::ffi::CString;
use std::path::Path;

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// Prefix of the functions of the runtime, as derivatives call them, and as the runtime has them.
const RUNTIME: &str = "ffgrad.checkpoint.";
const IN_C: &str = "ffgrad_checkpoint_";

/// Whether a module calls the runtime.
pub fn needs_runtime(module: &Module<'_>) -> bool {
    module.get_functions().any(|f| f.get_name().to_string_lossy().starts_with(RUNTIME) && f.count_basic_blocks() == 0)
}

/// Links the runtime, after Enzyme.
///
/// # Errors
///
/// A file that is no bitcode.
pub fn link<'ctx>(module: &Module<'ctx>, context: &'ctx Context, runtime: &Path) -> Result<()> {
    for function in module.get_functions().filter(|f| f.count_basic_blocks() == 0) {
        let name = function.get_name().to_string_lossy().into_owned();
        if let Some(rest) = name.strip_prefix(RUNTIME) {
            function.as_global_value().set_name(&format!("{IN_C}{rest}"));
        }
    }
    let runtime = Module::parse_bitcode_from_path(runtime, context).map_err(|e| e.to_string())?;
    module.link_in_module(runtime).map_err(|e| e.to_string())
}

/// Gives an outlined loop its body and its derivatives.
///
/// # Errors
///
/// None but LLVM's.
pub fn build<'ctx>(module: &Module<'ctx>, outlined: &Outlined, number: usize) -> Result<Rule<'ctx>> {
    let edit = Edit::of(module);
    let builder = Builder { edit: &edit, outlined, number };
    let step = builder.call_step();
    let (vjp, jvp) = (builder.call_derivative("autodiff"), builder.call_derivative("fwddiff"));
    builder.body(step);
    let forward = builder.forward(step, jvp);
    let save = builder.save(step);
    let reverse = builder.reverse(step, vjp);
    let function = |raw: LLVMValueRef| {
        // SAFETY: a function of the module.
        unsafe { FunctionValue::new(raw) }.ok_or_else(|| "no function of a loop".to_owned())
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

/// What a function that describes a loop is given: the arguments, and the shadows of the pointers where it has any.
struct Given {
    arguments: Vec<LLVMValueRef>,
    shadows: Vec<LLVMValueRef>,
}

// SAFETY of every block below: values of functions that are being built; types of one context.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Builder<'_> {
    /// Pointers that do not change: the control structure, the numbers, the bases, the derived.
    fn pointers(&self) -> usize {
        OWN + self.outlined.kinds.len() + self.outlined.derived
    }

    fn structure(&self, fields: &[LLVMTypeRef]) -> LLVMTypeRef {
        let mut fields = fields.to_vec();
        unsafe { LLVMStructTypeInContext(self.edit.context, fields.as_mut_ptr(), fields.len() as u32, 0) }
    }

    /// The structure with the arguments of a step.
    fn arguments_type(&self) -> LLVMTypeRef {
        let mut fields = vec![self.edit.ptr; self.pointers()];
        fields.extend(&self.outlined.others);
        self.structure(&fields)
    }

    fn function(&self, name: &str, result: LLVMTypeRef, parameters: &[LLVMTypeRef]) -> LLVMValueRef {
        self.edit.function(&format!("ffgrad.loop.{name}.{}", self.number), result, parameters)
    }

    fn begin(&self, function: LLVMValueRef) {
        self.edit.at_end(self.edit.block_in(function));
    }

    fn field(&self, ty: LLVMTypeRef, base: LLVMValueRef, i: usize) -> LLVMValueRef {
        unsafe { LLVMBuildStructGEP2(self.edit.builder, ty, base, i as u32, NONE) }
    }

    fn element(&self, ty: LLVMTypeRef, base: LLVMValueRef, i: usize) -> LLVMValueRef {
        let mut index = self.edit.number(i as u64);
        unsafe { LLVMBuildInBoundsGEP2(self.edit.builder, ty, base, &mut index, 1, NONE) }
    }

    fn load(&self, ty: LLVMTypeRef, place: LLVMValueRef) -> LLVMValueRef {
        unsafe { LLVMBuildLoad2(self.edit.builder, ty, place, NONE) }
    }

    fn store(&self, value: LLVMValueRef, place: LLVMValueRef) {
        unsafe { LLVMBuildStore(self.edit.builder, value, place) };
    }

    /// The arguments of a step from their structure: the pointers, those that change, the others.
    fn unpack(&self, memory: LLVMValueRef) -> [Vec<LLVMValueRef>; 3] {
        let (edit, ty) = (self.edit, self.arguments_type());
        let pointers: Vec<_> = (0..self.pointers()).map(|i| self.load(edit.ptr, self.field(ty, memory, i))).collect();
        let carried = (0..self.outlined.carried).map(|i| {
            let address = self.load(edit.i64, self.element(edit.i64, pointers[0], 1 + 2 * i));
            unsafe { LLVMBuildIntToPtr(edit.builder, address, edit.ptr, NONE) }
        });
        let carried = carried.collect();
        let others = self.outlined.others.iter().enumerate();
        let others = others.map(|(i, own)| self.load(*own, self.field(ty, memory, self.pointers() + i))).collect();
        [pointers, carried, others]
    }

    /// `void call(arguments)`: one iteration.
    fn call_step(&self) -> LLVMValueRef {
        let function = self.function("step", self.edit.void, &[self.edit.ptr]);
        self.begin(function);
        let given = self.unpack(self.edit.parameters(function)[0]).concat();
        self.edit.call(self.outlined.step, &given);
        unsafe { LLVMBuildRetVoid(self.edit.builder) };
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
            self.load(self.edit.i32, global)
        }
    }

    /// `void call(arguments, shadows)`: the derivative of one iteration.
    fn call_derivative(&self, mode: &str) -> LLVMValueRef {
        let edit = self.edit;
        let function = self.function(mode, edit.void, &[edit.ptr, edit.ptr]);
        self.begin(function);
        let [memory, shadows] = self.edit.parameters(function)[..] else { return function };
        let [pointers, carried, others] = self.unpack(memory);
        let mut given = vec![self.outlined.step, self.word("enzyme_const"), pointers[0]];
        let rest = pointers[1..].iter().chain(&carried).enumerate();
        for (i, pointer) in rest {
            if self.outlined.active[i] {
                given.push(self.word("enzyme_dup"));
                given.push(*pointer);
                given.push(self.load(edit.ptr, self.element(edit.ptr, shadows, i + 1)));
            } else {
                given.extend([self.word("enzyme_const"), *pointer]);
            }
        }
        for other in others {
            given.extend([self.word("enzyme_const"), other]);
        }
        let name = CString::new(format!("__enzyme_{mode}_checkpoint")).unwrap_or_default();
        unsafe {
            let mut enzyme = LLVMGetNamedFunction(edit.module, name.as_ptr());
            if enzyme.is_null() {
                let ty = LLVMFunctionType(edit.void, std::ptr::null_mut(), 0, 1);
                enzyme = LLVMAddFunction(edit.module, name.as_ptr(), ty);
            }
            edit.call(enzyme, &given);
            LLVMBuildRetVoid(edit.builder);
        }
        function
    }

    /// Types of the parameters of the whole; with `shadows` each pointer is followed by one.
    fn types(&self, shadows: bool) -> Vec<LLVMTypeRef> {
        let count = unsafe { LLVMCountParams(self.outlined.whole) };
        let own = (0..count).map(|i| unsafe { LLVMTypeOf(LLVMGetParam(self.outlined.whole, i)) });
        own.flat_map(|ty| if shadows && ty == self.edit.ptr { vec![ty, ty] } else { vec![ty] }).collect()
    }

    /// The same for the values.
    fn given(&self, function: LLVMValueRef, shadows: bool) -> Given {
        let all = self.edit.parameters(function);
        if !shadows {
            return Given { arguments: all, shadows: Vec::new() };
        }
        let (pairs, rest) = all.split_at(2 * self.pointers());
        let arguments = pairs.iter().copied().step_by(2).chain(rest.iter().copied()).collect();
        Given { arguments, shadows: pairs.iter().copied().skip(1).step_by(2).collect() }
    }

    /// A description of the loop for the runtime, on the stack.
    fn describe(&self, given: &Given, step: LLVMValueRef, derivative: Option<LLVMValueRef>) -> LLVMValueRef {
        let (edit, pointers) = (self.edit, self.pointers());
        let (regions, others) = (OWN + self.outlined.kinds.len(), self.outlined.others.len());
        let allocate =
            |ty, count: usize| unsafe { LLVMBuildAlloca(edit.builder, LLVMArrayType2(ty, count as u64), NONE) };
        let number = |n: usize| edit.number(n as u64);
        let arguments_type = self.arguments_type();
        let arguments = allocate(arguments_type, 1);
        for i in 0..pointers + others {
            self.store(given.arguments[i], self.field(arguments_type, arguments, i));
        }
        let region_type = self.structure(&[edit.ptr, edit.i64, edit.i64, edit.ptr, edit.i64]);
        let all = allocate(region_type, regions);
        let null = unsafe { LLVMConstNull(edit.ptr) };
        let sizes = pointers + others;
        for i in 0..regions {
            let region = self.element(region_type, all, i);
            let own = i.checked_sub(OWN).map(|own| self.outlined.kinds[own]);
            let (kind, is_merged) = own.unwrap_or((regions::Kind::State, false));
            let shadow = given.shadows.get(i).copied().unwrap_or(null);
            let fields = [
                given.arguments[i],
                given.arguments[sizes + i],
                number(kind as usize),
                shadow,
                number(is_merged.into()),
            ];
            for (field, value) in fields.into_iter().enumerate() {
                self.store(value, self.field(region_type, region, field));
            }
        }
        let (list, region_of) = (allocate(edit.ptr, pointers), allocate(edit.i64, pointers));
        for i in 0..pointers {
            self.store(given.arguments[i], self.element(edit.ptr, list, i));
            let region = if i < regions { number(i) } else { given.arguments[sizes + i] };
            self.store(region, self.element(edit.i64, region_of, i));
        }
        let (steps, snapshots) = (given.arguments[sizes + pointers], given.arguments[sizes + pointers + 1]);
        let fields = [
            step,
            derivative.unwrap_or(null),
            arguments,
            snapshots,
            steps,
            number(regions),
            all,
            number(pointers),
            list,
            region_of,
            number(self.outlined.carried),
            number(self.outlined.outgoing),
            given.arguments[0],
        ];
        let types: Vec<LLVMTypeRef> = fields.iter().map(|f| unsafe { LLVMTypeOf(*f) }).collect();
        let ty = self.structure(&types);
        let described = allocate(ty, 1);
        for (i, value) in fields.into_iter().enumerate() {
            self.store(value, self.field(ty, described, i));
        }
        described
    }

    /// Calls the runtime.
    fn runtime(&self, name: &str, result: LLVMTypeRef, given: &[LLVMValueRef]) -> LLVMValueRef {
        let text = CString::new(format!("{RUNTIME}{name}")).unwrap_or_default();
        unsafe {
            let mut function = LLVMGetNamedFunction(self.edit.module, text.as_ptr());
            if function.is_null() {
                let mut types = vec![self.edit.ptr; given.len()];
                let ty = LLVMFunctionType(result, types.as_mut_ptr(), types.len() as u32, 0);
                function = LLVMAddFunction(self.edit.module, text.as_ptr(), ty);
                self.edit.attribute(function, "nounwind", 0);
            }
            self.edit.call(function, given)
        }
    }

    fn body(&self, step: LLVMValueRef) {
        self.begin(self.outlined.whole);
        let described = self.describe(&self.given(self.outlined.whole, false), step, None);
        self.runtime("run", self.edit.void, &[described]);
        unsafe { LLVMBuildRetVoid(self.edit.builder) };
    }

    fn forward(&self, step: LLVMValueRef, jvp: LLVMValueRef) -> LLVMValueRef {
        let function = self.function("forward", self.edit.void, &self.types(true));
        self.begin(function);
        let described = self.describe(&self.given(function, true), step, Some(jvp));
        self.runtime("forward", self.edit.void, &[described]);
        unsafe { LLVMBuildRetVoid(self.edit.builder) };
        function
    }

    fn save(&self, step: LLVMValueRef) -> LLVMValueRef {
        let function = self.function("save", self.edit.ptr, &self.types(false));
        self.begin(function);
        let described = self.describe(&self.given(function, false), step, None);
        let saved = self.runtime("save", self.edit.ptr, &[described]);
        unsafe { LLVMBuildRet(self.edit.builder, saved) };
        function
    }

    fn reverse(&self, step: LLVMValueRef, vjp: LLVMValueRef) -> LLVMValueRef {
        let mut types = self.types(true);
        types.push(self.edit.ptr);
        let function = self.function("reverse", self.edit.void, &types);
        self.begin(function);
        let described = self.describe(&self.given(function, true), step, Some(vjp));
        let saved = self.edit.parameters(function)[types.len() - 1];
        self.runtime("reverse", self.edit.void, &[described, saved]);
        unsafe { LLVMBuildRetVoid(self.edit.builder) };
        function
    }
}

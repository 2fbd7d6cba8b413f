//! Shims: the functions that Enzyme sees in place of those with rules; `rules/mod.rs` explains why.

use super::rule::{Rule, fields, text};
use crate::ir::Result;
use inkwell::AddressSpace;
use inkwell::IntPredicate;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::{Builder, BuilderError};
use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicMetadataTypeEnum, BasicType, BasicTypeEnum, FunctionType, StructType};
use inkwell::values::{AsValueRef, BasicValueEnum, FunctionValue, PointerValue};
use llvm_sys::core::*;

const PRIMAL: &str = "ffgrad.primal.";
const REGISTERED: &str = "__enzyme_register_";

/// What is left to do for a rule when Enzyme is done.
pub struct Installed<'ctx> {
    shim: String,
    target: String,
    ty: FunctionType<'ctx>,
}

/// The functions that have rules: they keep no pointer that they are given (`docs/custom-derivatives.md`).
pub fn targets(installed: &[Installed<'_>]) -> Vec<String> {
    installed.iter().map(|rule| rule.target.clone()).collect()
}

/// Puts the shims in place and registers the derivatives with Enzyme.
pub fn install<'ctx>(module: &Module<'ctx>, rules: &[Rule<'ctx>]) -> Result<Vec<Installed<'ctx>>> {
    for part in rules.iter().flat_map(|r| [Some(r.function), Some(r.forward), Some(r.reverse), r.save]).flatten() {
        type_integers(module, part);
    }
    // All calls first: the derivatives of one function may call another that has a rule, or that one itself.
    let shims: Vec<Shim<'_, 'ctx>> = rules.iter().map(|rule| Shim::new(module, *rule)).collect::<Result<_>>()?;
    for shim in &shims {
        shim.save().and_then(|()| shim.reverse()).and_then(|()| shim.forward()).map_err(|e| e.to_string())?;
    }
    Ok(shims.into_iter().map(|s| s.installed).collect())
}

/// Keeps the functions themselves through Enzyme, which sees no call of them.
pub fn keep(module: &Module<'_>, installed: &[Installed<'_>]) {
    for rule in installed {
        if let Some(function) = module.get_function(&rule.target).filter(|f| f.count_basic_blocks() > 0) {
            function.set_linkage(Linkage::External);
        }
    }
}

/// Says that integer parameters are integers, for second derivatives: Enzyme cannot see what a number is that is only handed
/// on to other functions with rules.
fn type_integers<'ctx>(module: &Module<'ctx>, function: FunctionValue<'ctx>) {
    for (i, ty) in fields(function.get_type()).into_iter().enumerate() {
        if ty.is_int_type() {
            for (key, value) in [("enzyme_inactive", ""), ("enzyme_type", "{[-1]:Integer}")] {
                let attribute = module.get_context().create_string_attribute(key, value);
                function.add_attribute(AttributeLoc::Param(i as u32), attribute);
            }
        }
    }
}

/// What is left to do for the rules of functions whose names have this prefix, found again in Enzyme's output.
pub fn installed<'ctx>(module: &Module<'ctx>, prefix: &str) -> Vec<Installed<'ctx>> {
    let start = format!("{PRIMAL}{prefix}");
    let named = |f: &FunctionValue<'ctx>| text(f.get_name()).starts_with(&start);
    let found = module.get_functions().filter(named).map(|f| {
        let target = text(f.get_name());
        Installed { shim: format!("ffgrad.shim.{}", &target[PRIMAL.len()..]), ty: f.get_type(), target }
    });
    found.collect()
}

/// After Enzyme: the shims get their bodies, and its registrations go.
pub fn finish<'ctx>(module: &Module<'ctx>, installed: &[Installed<'ctx>]) -> Result<()> {
    for rule in installed {
        let Some(shim) = module.get_function(&rule.shim) else { continue };
        body(module, shim, rule).map_err(|e| e.to_string())?;
    }
    for global in module.get_globals().filter(|g| text(g.get_name()).starts_with(REGISTERED)) {
        // SAFETY: nothing refers to a registration; it refers to functions.
        unsafe { LLVMDeleteGlobal(global.as_value_ref()) };
    }
    Ok(())
}

fn body<'ctx>(
    module: &Module<'ctx>,
    shim: FunctionValue<'ctx>,
    rule: &Installed<'ctx>,
) -> std::result::Result<(), BuilderError> {
    let context = module.get_context();
    let target = module.get_function(&rule.target).unwrap_or_else(|| module.add_function(&rule.target, rule.ty, None));
    remove(target, &["noinline"]);
    let block = block_type(module, rule.ty);
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(shim, ""));
    let memory = pointer(shim, 0);
    let mut values = Vec::new();
    for (i, ty) in fields(rule.ty).into_iter().enumerate() {
        let place = builder.build_struct_gep(block, memory, i as u32, "")?;
        values.push(builder.build_load(ty, place, "")?.into());
    }
    let call = builder.build_call(target, &values, "")?;
    call.set_call_convention(target.get_call_conventions());
    if let Some(value) = call.try_as_basic_value().basic() {
        let place = builder.build_struct_gep(block, memory, values.len() as u32, "")?;
        builder.build_store(place, value)?;
    }
    builder.build_return(None)?;
    remove(shim, &["noinline"]);
    shim.set_linkage(Linkage::Internal);
    shim.add_attribute(AttributeLoc::Function, flag(module, "alwaysinline"));
    Ok(())
}

/// One rule under construction.
struct Shim<'m, 'ctx> {
    module: &'m Module<'ctx>,
    rule: Rule<'ctx>,
    name: String,
    shim: FunctionValue<'ctx>,
    block: StructType<'ctx>,
    tape: StructType<'ctx>,
    installed: Installed<'ctx>,
}

type Built = std::result::Result<(), BuilderError>;

impl<'m, 'ctx> Shim<'m, 'ctx> {
    /// Moves the function aside and lets all its callers go through the shim.
    fn new(module: &'m Module<'ctx>, rule: Rule<'ctx>) -> Result<Self> {
        let context = module.get_context();
        let (function, ty) = (rule.function, rule.function.get_type());
        let name = text(function.get_name());
        let any_pointer = context.ptr_type(AddressSpace::default());
        let shim_type = context.void_type().fn_type(&[any_pointer.into()], false);
        let shim = module.add_function(&format!("ffgrad.shim.{name}"), shim_type, None);
        for attribute in ["nounwind", "willreturn"] {
            let kind = Attribute::get_named_enum_kind_id(attribute);
            if function.get_enum_attribute(AttributeLoc::Function, kind).is_some() {
                shim.add_attribute(AttributeLoc::Function, flag(module, attribute));
            }
        }
        shim.add_attribute(AttributeLoc::Param(0), flag(module, "captures"));
        shim.add_attribute(AttributeLoc::Function, flag(module, "noinline"));
        // It frees nothing of the caller's, which Enzyme wants to know of a function without a body.
        shim.add_attribute(AttributeLoc::Function, flag(module, "nofree"));
        let target = if function.count_basic_blocks() > 0 {
            let aside = format!("{PRIMAL}{name}");
            function.as_global_value().set_name(&aside);
            remove(function, &["alwaysinline"]);
            function.add_attribute(AttributeLoc::Function, flag(module, "noinline"));
            aside
        } else {
            name.clone()
        };
        let shim = Shim {
            module,
            rule,
            block: block_type(module, ty),
            tape: tape_type(module, ty),
            installed: Installed { shim: format!("ffgrad.shim.{name}"), target, ty },
            name,
            shim,
        };
        shim.redirect().map_err(|e| e.to_string())?;
        Ok(shim)
    }

    /// The function that takes the place of the original in every call.
    fn redirect(&self) -> Built {
        let ty = self.installed.ty;
        let call = self.module.add_function(&format!("ffgrad.call.{}", self.name), ty, Some(Linkage::Internal));
        // SAFETY: both are functions of this module; the new one has no body that could mention the old.
        unsafe { LLVMReplaceAllUsesWith(self.rule.function.as_value_ref(), call.as_value_ref()) };
        call.set_call_conventions(self.rule.function.get_call_conventions());
        call.add_attribute(AttributeLoc::Function, flag(self.module, "alwaysinline"));
        let builder = self.start(call);
        let memory = builder.build_alloca(self.block, "")?;
        for (i, value) in call.get_params().into_iter().enumerate() {
            builder.build_store(builder.build_struct_gep(self.block, memory, i as u32, "")?, value)?;
        }
        builder.build_call(self.shim, &[memory.into()], "")?;
        match ty.get_return_type() {
            Some(value) => {
                let place = builder.build_struct_gep(self.block, memory, ty.count_param_types(), "")?;
                builder.build_return(Some(&builder.build_load(value, place, "")?))?;
            }
            None => {
                builder.build_return(None)?;
            }
        }
        Ok(())
    }

    fn start(&self, function: FunctionValue<'ctx>) -> Builder<'ctx> {
        let context = self.module.get_context();
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(function, ""));
        builder
    }

    fn add(&self, what: &str, count: usize, returns_pointer: bool) -> FunctionValue<'ctx> {
        let context = self.module.get_context();
        let any_pointer = context.ptr_type(AddressSpace::default());
        let params: Vec<BasicMetadataTypeEnum<'ctx>> = vec![any_pointer.into(); count];
        let ty = match returns_pointer {
            true => any_pointer.fn_type(&params, false),
            false => context.void_type().fn_type(&params, false),
        };
        self.module.add_function(&format!("ffgrad.{what}.{}", self.name), ty, Some(Linkage::Internal))
    }

    fn load(
        &self,
        builder: &Builder<'ctx>,
        of: StructType<'ctx>,
        memory: PointerValue<'ctx>,
        field: usize,
    ) -> std::result::Result<BasicValueEnum<'ctx>, BuilderError> {
        let ty = of.get_field_type_at_index(field as u32).unwrap_or_else(|| memory.get_type().into());
        builder.build_load(ty, builder.build_struct_gep(of, memory, field as u32, "")?, "")
    }

    /// A shadow pointer as the rule gets it: null where it is the pointer itself.
    fn shadow(
        &self,
        builder: &Builder<'ctx>,
        primal: BasicValueEnum<'ctx>,
        shadow: BasicValueEnum<'ctx>,
    ) -> std::result::Result<BasicValueEnum<'ctx>, BuilderError> {
        let (primal, shadow) = (primal.into_pointer_value(), shadow.into_pointer_value());
        let same = builder.build_int_compare(IntPredicate::EQ, primal, shadow, "")?;
        builder.build_select(same, primal.get_type().const_null(), shadow, "")
    }

    /// A function of the C library that takes one argument.
    fn library(&self, name: &str, takes: BasicMetadataTypeEnum<'ctx>, returns: bool) -> FunctionValue<'ctx> {
        let context = self.module.get_context();
        let ty = match returns {
            true => context.ptr_type(AddressSpace::default()).fn_type(&[takes], false),
            false => context.void_type().fn_type(&[takes], false),
        };
        self.module.get_function(name).unwrap_or_else(|| self.module.add_function(name, ty, None))
    }

    fn allocate(&self, builder: &Builder<'ctx>) -> std::result::Result<PointerValue<'ctx>, BuilderError> {
        let size = self.module.get_context().i64_type();
        let malloc = self.library("malloc", size.into(), true);
        // Eight bytes a field are enough for all that a block can hold.
        let bytes = size.const_int(8 * u64::from(self.tape.count_fields()), false);
        let call = builder.build_call(malloc, &[bytes.into()], "")?;
        let null = self.module.get_context().ptr_type(AddressSpace::default()).const_null();
        Ok(call.try_as_basic_value().basic().map_or(null, BasicValueEnum::into_pointer_value))
    }

    /// `void *ffgrad.save.f(block, shadow)`: runs `f`, returns what the reverse sweep needs.
    fn save(&self) -> Built {
        let function = self.add("save", 2, true);
        let builder = self.start(function);
        let (block, shadow) = (pointer(function, 0), pointer(function, 1));
        let tape = self.allocate(&builder)?;
        let mut field = 0;
        let mut keep = |value: BasicValueEnum<'ctx>| -> Built {
            builder.build_store(builder.build_struct_gep(self.tape, tape, field, "")?, value)?;
            field += 1;
            Ok(())
        };
        let mut arguments = Vec::new();
        for (i, ty) in fields(self.installed.ty).into_iter().enumerate() {
            let value = self.load(&builder, self.block, block, i)?;
            arguments.push(value.into());
            keep(value)?;
            if ty.is_pointer_type() {
                keep(self.load(&builder, self.block, shadow, i)?)?;
            }
        }
        if let Some(save) = self.rule.save {
            if self.installed.ty.get_return_type().is_some() {
                arguments.push(builder.build_struct_gep(self.block, block, arguments.len() as u32, "")?.into());
            }
            let call = builder.build_call(save, &arguments, "")?;
            if let Some(saved) = call.try_as_basic_value().basic() {
                keep(saved)?;
            }
        } else {
            builder.build_call(self.shim, &[block.into()], "")?;
        }
        builder.build_return(Some(&tape))?;
        Ok(())
    }

    /// `void ffgrad.reverse.f(block, shadow, tape)`.
    fn reverse(&self) -> Built {
        let function = self.add("reverse", 3, false);
        let builder = self.start(function);
        let (shadow, tape) = (pointer(function, 1), pointer(function, 2));
        let mut field = 0;
        let mut next = || {
            field += 1;
            self.load(&builder, self.tape, tape, field - 1)
        };
        let mut arguments = Vec::new();
        let mut adjoints = Vec::new();
        for (i, ty) in fields(self.installed.ty).into_iter().enumerate() {
            let value = next()?;
            arguments.push(value.into());
            match ty {
                BasicTypeEnum::PointerType(_) => {
                    let own = next()?;
                    arguments.push(self.shadow(&builder, value, own)?.into());
                }
                BasicTypeEnum::FloatType(float) => {
                    let adjoint = builder.build_alloca(float, "")?;
                    builder.build_store(adjoint, float.const_zero())?;
                    adjoints.push((i, float, adjoint));
                    arguments.push(adjoint.into());
                }
                _ => {}
            }
        }
        if let Some(BasicTypeEnum::FloatType(float)) = self.installed.ty.get_return_type() {
            let place = builder.build_struct_gep(self.block, shadow, self.installed.ty.count_param_types(), "")?;
            arguments.push(builder.build_load(float, place, "")?.into());
            builder.build_store(place, float.const_zero())?;
        }
        if self.rule.save.is_some() {
            arguments.push(next()?.into());
        }
        builder.build_call(self.library("free", tape.get_type().into(), false), &[tape.into()], "")?;
        builder.build_call(self.rule.reverse, &arguments, "")?;
        for (i, float, adjoint) in adjoints {
            let place = builder.build_struct_gep(self.block, shadow, i as u32, "")?;
            let sum = builder.build_float_add(
                builder.build_load(float, place, "")?.into_float_value(),
                builder.build_load(float, adjoint, "")?.into_float_value(),
                "",
            )?;
            builder.build_store(place, sum)?;
        }
        builder.build_return(None)?;
        self.register("gradient", &["save", "reverse"]);
        Ok(())
    }

    /// `void ffgrad.forward.f(block, shadow)`.
    fn forward(&self) -> Built {
        let function = self.add("forward", 2, false);
        let builder = self.start(function);
        let (block, shadow) = (pointer(function, 0), pointer(function, 1));
        let mut arguments = Vec::new();
        for (i, ty) in fields(self.installed.ty).into_iter().enumerate() {
            let value = self.load(&builder, self.block, block, i)?;
            arguments.push(value.into());
            match ty {
                BasicTypeEnum::PointerType(_) => {
                    let own = self.load(&builder, self.block, shadow, i)?;
                    arguments.push(self.shadow(&builder, value, own)?.into());
                }
                BasicTypeEnum::FloatType(_) => arguments.push(self.load(&builder, self.block, shadow, i)?.into()),
                _ => {}
            }
        }
        let last = self.installed.ty.count_param_types();
        if let Some(BasicTypeEnum::FloatType(_)) = self.installed.ty.get_return_type() {
            arguments.push(builder.build_struct_gep(self.block, shadow, last, "")?.into());
        }
        let call = builder.build_call(self.rule.forward, &arguments, "")?;
        if let Some(value) = call.try_as_basic_value().basic() {
            builder.build_store(builder.build_struct_gep(self.block, block, last, "")?, value)?;
        }
        builder.build_return(None)?;
        self.register("derivative", &["forward"]);
        Ok(())
    }

    /// Registers it with Enzyme, by a global of a name that Enzyme looks for.
    fn register(&self, kind: &str, parts: &[&str]) {
        let any_pointer = self.module.get_context().ptr_type(AddressSpace::default());
        let mut addresses = vec![self.shim.as_global_value().as_pointer_value()];
        for part in parts {
            let function = self.module.get_function(&format!("ffgrad.{part}.{}", self.name));
            addresses.extend(function.map(|f| f.as_global_value().as_pointer_value()));
        }
        let array = any_pointer.const_array(&addresses);
        let name = format!("{REGISTERED}{kind}_{}", self.name);
        let global = self.module.add_global(array.get_type(), None, &name);
        global.set_initializer(&array);
    }
}

fn block_type<'ctx>(module: &Module<'ctx>, ty: FunctionType<'ctx>) -> StructType<'ctx> {
    let mut all = fields(ty);
    all.extend(ty.get_return_type());
    module.get_context().struct_type(&all, false)
}

fn tape_type<'ctx>(module: &Module<'ctx>, ty: FunctionType<'ctx>) -> StructType<'ctx> {
    let context = module.get_context();
    let any_pointer = context.ptr_type(AddressSpace::default()).as_basic_type_enum();
    let twice = |t: BasicTypeEnum<'ctx>| if t.is_pointer_type() { vec![t, t] } else { vec![t] };
    let mut all: Vec<BasicTypeEnum<'ctx>> = fields(ty).into_iter().flat_map(twice).collect();
    all.push(any_pointer);
    context.struct_type(&all, false)
}

fn pointer<'ctx>(function: FunctionValue<'ctx>, i: u32) -> PointerValue<'ctx> {
    function.get_nth_param(i).map_or_else(
        || function.as_global_value().as_pointer_value(),
        inkwell::values::BasicValueEnum::into_pointer_value,
    )
}

fn flag(module: &Module<'_>, name: &str) -> Attribute {
    module.get_context().create_enum_attribute(Attribute::get_named_enum_kind_id(name), 0)
}

fn remove(function: FunctionValue<'_>, names: &[&str]) {
    for name in names {
        function.remove_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id(name));
    }
}

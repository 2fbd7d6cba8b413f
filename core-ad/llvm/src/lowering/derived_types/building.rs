//! Builds the functions that do the steps for each object.

use super::{Scalar, Steps, What};
use inkwell::AddressSpace;
use inkwell::IntPredicate;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::ContextRef;
use inkwell::module::Module;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum, FunctionValue, GlobalValue, IntValue, PointerValue};

pub(super) struct Building<'m, 'ctx> {
    module: &'m Module<'ctx>,
    context: ContextRef<'ctx>,
    builder: Builder<'ctx>,
}

impl<'m, 'ctx> Building<'m, 'ctx> {
    pub(super) fn of(module: &'m Module<'ctx>) -> Self {
        let context = module.get_context();
        Building { module, context, builder: context.create_builder() }
    }

    /// `if (type == A) destroy_A(..); else if ..`.
    pub(super) fn choose(
        &self,
        function: FunctionValue<'ctx>,
        each: &[(GlobalValue<'ctx>, FunctionValue<'ctx>)],
    ) -> std::result::Result<(), BuilderError> {
        let block = |name| self.context.append_basic_block(function, name);
        let given: Vec<BasicMetadataValueEnum<'_>> = function.get_param_iter().map(Into::into).collect();
        self.builder.position_at_end(block("entry"));
        for (ty, destroy) in each {
            let (own, next) = (block("own"), block("next"));
            let held = given[1].into_pointer_value();
            let is_own = self.builder.build_int_compare(IntPredicate::EQ, held, ty.as_pointer_value(), "")?;
            self.builder.build_conditional_branch(is_own, own, next)?;
            self.builder.position_at_end(own);
            self.builder.build_call(*destroy, &given, "")?;
            self.builder.build_unconditional_branch(next)?;
            self.builder.position_at_end(next);
        }
        self.builder.build_return(None)?;
        self.inline(function);
        Ok(())
    }

    fn inline(&self, function: FunctionValue<'ctx>) {
        let inline = Attribute::get_named_enum_kind_id("alwaysinline");
        function.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(inline, 0));
    }

    /// `for (k = 0; k < elements; k++)` the steps at `base + k * size`.
    pub(super) fn for_each(
        &self,
        function: FunctionValue<'ctx>,
        size: u64,
        steps: &Steps,
    ) -> std::result::Result<(), BuilderError> {
        let block = |name| self.context.append_basic_block(function, name);
        let (entry, head, body, done) = (block("entry"), block("head"), block("body"), block("done"));
        let long = self.context.i64_type();
        let parameter = |i| function.get_nth_param(i).unwrap_or_else(|| long.const_zero().into());
        let (base, elements) = (parameter(0).into_pointer_value(), parameter(2).into_int_value());
        self.builder.position_at_end(entry);
        self.builder.build_unconditional_branch(head)?;
        self.builder.position_at_end(head);
        let phi = self.builder.build_phi(long, "k")?;
        let k = phi.as_basic_value().into_int_value();
        let more = self.builder.build_int_compare(IntPredicate::SLT, k, elements, "")?;
        self.builder.build_conditional_branch(more, body, done)?;
        self.builder.position_at_end(body);
        let offset = self.builder.build_int_mul(k, long.const_int(size, false), "")?;
        let element = self.at(base, offset)?;
        let other = match function.get_nth_param(3) {
            Some(from) => self.at(from.into_pointer_value(), offset)?,
            None => element,
        };
        for (place, what) in steps {
            let place = long.const_int(*place, false);
            let (own, other) = (self.at(element, place)?, self.at(other, place)?);
            self.step(function, own, other, what)?;
        }
        let next = self.builder.build_int_add(k, long.const_int(1, false), "")?;
        self.builder.build_unconditional_branch(head)?;
        phi.add_incoming(&[(&long.const_zero(), entry), (&next, body)]);
        self.builder.position_at_end(done);
        self.builder.build_return(None)?;
        self.inline(function);
        Ok(())
    }

    fn at(
        &self,
        base: PointerValue<'ctx>,
        offset: IntValue<'ctx>,
    ) -> std::result::Result<PointerValue<'ctx>, BuilderError> {
        // SAFETY: inside the object that the caller has made of this size.
        unsafe { self.builder.build_gep(self.context.i8_type(), base, &[offset], "") }
    }

    fn read(
        &self,
        from: PointerValue<'ctx>,
        scalar: Scalar,
    ) -> std::result::Result<BasicValueEnum<'ctx>, BuilderError> {
        let ty: BasicTypeEnum<'_> = match scalar {
            Scalar::Integer(8) => self.context.i8_type().into(),
            Scalar::Integer(16) => self.context.i16_type().into(),
            Scalar::Integer(32) => self.context.i32_type().into(),
            Scalar::Integer(_) => self.context.i64_type().into(),
            Scalar::Float => self.context.f32_type().into(),
            Scalar::Double => self.context.f64_type().into(),
            Scalar::Pointer => self.context.ptr_type(AddressSpace::default()).into(),
        };
        self.builder.build_load(ty, from, "")
    }

    /// Calls what the rules copy allocatable components with: the last parameter.
    fn copy_component(
        &self,
        function: FunctionValue<'ctx>,
        to: PointerValue<'ctx>,
        from: PointerValue<'ctx>,
        [code, bytes, rank]: [u64; 3],
    ) -> std::result::Result<(), BuilderError> {
        let Some(callee) = function.get_nth_param(4) else { return Ok(()) };
        let (byte, long) = (self.context.i8_type(), self.context.i64_type());
        let pointer = self.context.ptr_type(AddressSpace::default());
        let parameters = [pointer.into(), pointer.into(), byte.into(), long.into(), byte.into()];
        let ty = self.context.void_type().fn_type(&parameters, false);
        let given: [BasicMetadataValueEnum<'_>; 5] = [
            to.into(),
            from.into(),
            byte.const_int(code, false).into(),
            long.const_int(bytes, false).into(),
            byte.const_int(rank, false).into(),
        ];
        self.builder.build_indirect_call(ty, callee.into_pointer_value(), &given, "")?;
        Ok(())
    }

    /// One step at a place of an object, and at the same place of the other one where it is copied.
    fn step(
        &self,
        function: FunctionValue<'ctx>,
        place: PointerValue<'ctx>,
        other: PointerValue<'ctx>,
        what: &What,
    ) -> std::result::Result<(), BuilderError> {
        let pointer = self.context.ptr_type(AddressSpace::default());
        let value: BasicValueEnum<'_> = match what {
            // SAFETY: a live constant that is no function's or aggregate's own type.
            What::Store(value) => unsafe { BasicValueEnum::new(value.0) },
            What::Byte(value) => self.context.i8_type().const_int(*value, false).into(),
            What::Int(value) => self.context.i32_type().const_int(*value, false).into(),
            What::Long(value) => self.context.i64_type().const_int(*value, false).into(),
            What::Null => pointer.const_null().into(),
            What::Copy(scalar) => self.read(other, *scalar)?,
            What::CopyComponent(of) => return self.copy_component(function, place, other, *of),
            What::Free => {
                let held = self.builder.build_load(pointer, place, "")?;
                let free = self.module.get_function("free").unwrap_or_else(|| {
                    let ty = self.context.void_type().fn_type(&[pointer.into()], false);
                    self.module.add_function("free", ty, None)
                });
                self.builder.build_call(free, &[held.into()], "")?;
                pointer.const_null().into()
            }
        };
        self.builder.build_store(place, value)?;
        Ok(())
    }
}

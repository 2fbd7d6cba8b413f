//! Fortran descriptors, made where a foreign procedure is called.
//!
//! An assumed-shape argument arrives as the address of a descriptor: the address of the elements, then their type and
//! the bounds of each dimension (`ISO_Fortran_binding.h` of flang 22). The wrapper makes one on its stack for each such
//! argument. Inlined, it vanishes; where it stays, the engine makes a shadow of it around the shadow of the elements.

use crate::entries::by_value;
use crate::session::Result;
use core_ad::diagnostics::Diagnosis;
use core_ad::fortran::open_symbol;
use core_ad::{CallPlan, DType};
use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::Builder;
use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicTypeEnum, StructType};
use inkwell::values::{AsValueRef, BasicValue, BasicValueEnum, FunctionValue, IntValue};

/// `CFI_VERSION` of flang 22.
const VERSION: u64 = 20240719;

/// The descriptor of `plan.args[position]`, filled in from the wrapper's parameters.
pub fn descriptor<'ctx>(
    builder: &Builder<'ctx>,
    wrapper: FunctionValue<'ctx>,
    plan: &CallPlan,
    position: usize,
) -> Result<BasicValueEnum<'ctx>> {
    let text = |e: inkwell::builder::BuilderError| e.to_string();
    let arg = &plan.args[position];
    let rank = arg.shape.len() as u32;
    let data = wrapper.get_nth_param(position as u32).ok_or("wrapper parameter")?;
    let ty = struct_type(wrapper, rank);
    let place = builder.build_alloca(ty, &arg.name).map_err(text)?;
    let context = ty.get_context();
    let (wide, byte) = (context.i64_type(), context.i8_type());
    let size = wide.const_int(arg.dtype.size() as u64, false);
    let fixed: [(u32, BasicValueEnum<'ctx>); 7] = [
        (0, data),
        (1, size.into()),
        (2, context.i32_type().const_int(VERSION, false).into()),
        (3, byte.const_int(u64::from(rank), false).into()),
        (4, byte.const_int(type_code(arg.dtype), false).into()),
        (5, byte.const_zero().into()),
        (6, byte.const_zero().into()),
    ];
    for (field, value) in fixed {
        let at = builder.build_struct_gep(ty, place, field, "").map_err(text)?;
        builder.build_store(at, value).map_err(text)?;
    }
    let mut stride = size;
    for dimension in 0..rank {
        let extent = extent(wrapper, plan, &open_symbol(&arg.name, dimension as usize + 1))?;
        let bounds = [wide.const_int(1, false), extent, stride];
        for (field, value) in bounds.into_iter().enumerate() {
            let path = [0, 7, dimension, field as u32].map(|i| context.i32_type().const_int(u64::from(i), false));
            // SAFETY: the path names a field of the descriptor's own type.
            let at = unsafe { builder.build_in_bounds_gep(ty, place, &path, "") }.map_err(text)?;
            builder.build_store(at, value).map_err(text)?;
        }
        stride = builder.build_int_mul(stride, extent, "").map_err(text)?;
    }
    Ok(place.into())
}

/// Start of the names of rules for flang's runtime (`compile-driver/rules/flang_*.c`).
const RULES: &str = "ffgrad_flang_";

/// Whether rules for flang's runtime were linked in.
pub fn uses_rules(module: &Module<'_>) -> bool {
    module.get_functions().any(|f| is_rule(&f.get_name().to_string_lossy()))
}

/// Whether a function is one of them.
pub fn is_rule(name: &str) -> bool {
    name.starts_with(RULES)
}

/// Whether a case is left for which there is no rule.
pub fn refuses(module: &Module<'_>) -> bool {
    let refuse = module.get_function("ffgrad_flang_refuse");
    refuse.is_some_and(|f| f.as_global_value().as_pointer_value().get_first_use().is_some())
}

/// What is said then, with the line of the first such place.
pub fn refusal(module: &Module<'_>, function: &str) -> Box<Diagnosis> {
    let refuse = module.get_function("ffgrad_flang_refuse").map(|f| f.as_global_value().as_pointer_value());
    let user = refuse.and_then(|f| f.get_first_use()).map(|u| u.get_user().as_value_ref());
    // SAFETY: a live value of `module`; only instructions have a place.
    let at = user.and_then(|u| unsafe {
        if llvm_sys::core::LLVMIsAInstruction(u).is_null() { None } else { crate::openmp::location(u) }
    });
    let function = function.trim_end_matches('_');
    let headline = format!(
        "`{function}` assigns, allocates or copies whole arrays of derived type or of characters, or an array of which the \
         compiler cannot tell the element type; that has no derivative"
    );
    let mut refusal = Diagnosis::new("fortran-runtime", function, headline)
        .advise("Do so component by component, with arrays of numbers (docs/fortran.md).");
    refusal.location = at;
    Box::new(refusal)
}

/// Start of the names of flang's runtime for input and output.
const IO: &str = "_FortranAio";
/// What statements that only print call.
const PRINTING: [&str; 4] =
    ["BeginExternalListOutput", "BeginExternalFormattedOutput", "EndIoStatement", "EnableHandlers"];

/// Takes what is printed out of a derivative: the primal has printed it already, and numbers that are shown change none.
/// Only where the module does nothing else with files; then a statement's calls have no effect but to print.
pub fn silence(module: &Module<'_>) -> Result<()> {
    let calls: Vec<FunctionValue<'_>> =
        module.get_functions().filter(|f| f.get_name().to_bytes().starts_with(IO.as_bytes())).collect();
    let prints = |f: &FunctionValue<'_>| {
        let name = f.get_name().to_string_lossy().into_owned();
        let rest = name.trim_start_matches(IO);
        rest.starts_with("Output") || PRINTING.contains(&rest)
    };
    if !calls.iter().all(prints) {
        return Ok(());
    }
    let context = module.get_context();
    for function in calls.into_iter().filter(|f| f.count_basic_blocks() == 0) {
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(function, ""));
        let name = function.get_name().to_string_lossy().into_owned();
        let done = match function.get_type().get_return_type() {
            // The outputs say that all went well; the statement's end gives the status 0.
            Some(BasicTypeEnum::IntType(ty)) => {
                let well = u64::from(name.contains("Output") && ty.get_bit_width() == 1);
                builder.build_return(Some(&ty.const_int(well, false)))
            }
            Some(BasicTypeEnum::PointerType(ty)) => builder.build_return(Some(&ty.const_null())),
            Some(_) => return Err(format!("`{name}` returns something unknown")),
            None => builder.build_return(None),
        };
        done.map_err(|e| e.to_string())?;
        // SAFETY: a live function; a declaration's debug information does not fit a body.
        unsafe { llvm_sys::debuginfo::LLVMSetSubprogram(function.as_value_ref(), std::ptr::null_mut()) };
        function.set_linkage(Linkage::Internal);
        let kind = Attribute::get_named_enum_kind_id("alwaysinline");
        function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
    }
    Ok(())
}

/// `{ address, element size, version, rank, type, attribute, extra, [rank x { lower bound, extent, stride in bytes }] }`
fn struct_type(wrapper: FunctionValue<'_>, rank: u32) -> StructType<'_> {
    let context = wrapper.get_type().get_context();
    let (wide, byte) = (context.i64_type(), context.i8_type());
    let pointer = context.ptr_type(AddressSpace::default());
    let bounds = wide.array_type(3).array_type(rank);
    let fields: [BasicTypeEnum<'_>; 8] = [
        pointer.into(),
        wide.into(),
        context.i32_type().into(),
        byte.into(),
        byte.into(),
        byte.into(),
        byte.into(),
        bounds.into(),
    ];
    context.struct_type(&fields, false)
}

/// The wrapper's parameter that holds an extent.
fn extent<'ctx>(wrapper: FunctionValue<'ctx>, plan: &CallPlan, name: &str) -> Result<IntValue<'ctx>> {
    let position = plan.args.iter().rposition(|a| a.name == name && by_value(a));
    let value = position.and_then(|p| wrapper.get_nth_param(p as u32)).ok_or_else(|| format!("no extent `{name}`"))?;
    Ok(value.into_int_value())
}

/// The runtime's code of an element type.
fn type_code(dtype: DType) -> u64 {
    match dtype {
        DType::Bool => 39,
        DType::I8 | DType::U8 => 7,
        DType::I16 | DType::U16 => 8,
        DType::I32 | DType::U32 => 9,
        DType::I64 | DType::U64 => 10,
        DType::F32 => 27,
        DType::F64 => 28,
    }
}

//! Expands what flang's runtime library does with an object of derived type when it is allocated and freed: default initialisation, descriptors of
//! components, and the components' own memory.
//!
//! ```text
//! allocate(s)                 call ffgrad_flang_create(base, @type, elements)
//! deallocate(s)               call ffgrad_flang_destroy(base, @type, elements)
//! ```
//!
//! The library goes through a description of the type at run time, a constant of the module (Fortran's `__fortran_type_info`, as flang 22 lays it
//! out). Enzyme cannot follow that: it copies bytes of which nothing says what they are. Here each component is one store of its own
//! type. The rules (`compile-driver/rules/flang_assign.c`) make the calls; a call whose type is no constant, or that has more than is expanded here, stays and is
//! refused.

use super::descriptors::VERSION;
use crate::ir::{Op, Result, Value};
use inkwell::AddressSpace;
use inkwell::IntPredicate;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::ContextRef;
use inkwell::module::{Linkage, Module};
use inkwell::values::{
    AsValueRef, BasicMetadataValueEnum, BasicValueEnum, FunctionValue, GlobalValue, IntValue, PointerValue,
};
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMTypeRef;
use llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout, LLVMOffsetOfElement};
use std::ffi::CStr;

/// The calls, and what is done with each element.
const CALLS: [(&str, Action); 2] = [(CREATE, Action::Create), (DESTROY, Action::Destroy)];
/// Default initialisation of objects.
pub const CREATE: &str = "ffgrad_flang_create";
/// The end of what objects own.
pub const DESTROY: &str = "ffgrad_flang_destroy";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Create,
    Destroy,
}

/// Expands the calls; returns whether there were any.
///
/// # Errors
///
/// Where LLVM refuses to build something.
pub fn run(module: &Module<'_>) -> Result<bool> {
    let mut any = false;
    let created = created(module);
    for (name, action) in CALLS {
        let Some(function) = module.get_function(name) else { continue };
        for call in Value(function.as_value_ref()).users() {
            any = true;
            let expanded = match global(module, call.operand(1)) {
                Some(ty) => expanded(module, function, ty, action)?,
                None if action == Action::Destroy => for_any(module, function, &created)?,
                None => None,
            };
            if let Some(expanded) = expanded {
                // SAFETY: a live call, whose callee stands last; both functions have the same parameters.
                unsafe { LLVMSetOperand(call.0, LLVMGetNumOperands(call.0) as u32 - 1, expanded.as_value_ref()) };
            }
        }
    }
    Ok(any)
}

/// The types of which objects are made.
fn created<'ctx>(module: &Module<'ctx>) -> Vec<GlobalValue<'ctx>> {
    let calls = module.get_function(CREATE).map_or_else(Vec::new, |f| Value(f.as_value_ref()).users());
    let mut types: Vec<GlobalValue<'_>> = calls.iter().filter_map(|call| global(module, call.operand(1))).collect();
    types.dedup();
    types
}

/// What destroys an object of any of these types, by the type that a polymorphic variable has at that time.
fn for_any<'ctx>(
    module: &Module<'ctx>,
    like: FunctionValue<'ctx>,
    types: &[GlobalValue<'ctx>],
) -> Result<Option<FunctionValue<'ctx>>> {
    const NAME: &str = "ffgrad.Destroy";
    if let Some(made) = module.get_function(NAME) {
        return Ok(Some(made));
    }
    let mut each = Vec::new();
    for ty in types {
        let Some(function) = expanded(module, like, *ty, Action::Destroy)? else { return Ok(None) };
        each.push((*ty, function));
    }
    let function = module.add_function(NAME, like.get_type(), Some(Linkage::Internal));
    Building::of(module).choose(function, &each).map_err(|e| e.to_string())?;
    Ok(Some(function))
}

/// The global variable that a value is.
fn global<'ctx>(module: &Module<'ctx>, value: Value) -> Option<GlobalValue<'ctx>> {
    module.get_globals().find(|g| g.as_value_ref() == value.0)
}

/// What is done at an offset of an element.
enum What {
    /// A constant of one number or pointer is stored.
    Store(Value),
    /// An integer of 8 bits is stored.
    Byte(u64),
    /// One of 32 bits.
    Int(u64),
    /// One of 64 bits.
    Long(u64),
    /// A pointer is null.
    Null,
    /// Memory is freed, if there is any.
    Free,
}

type Steps = Vec<(u64, What)>;

/// Places in a description of a type and in one of a component.
const SIZE: u32 = 2;
const COMPONENTS: u32 = 6;
const PROCEDURES: u32 = 7;
const NO_FINALIZATION: u32 = 13;
/// More than this is left to be refused: each is an instruction.
const MOST_STEPS: usize = 1000;

/// Type codes by a component's category and kind; `None` where descriptors of it are not made here.
fn code(category: u64, kind: u64) -> Option<u64> {
    Some(match (category, kind) {
        (0 | 1, 1) => 7,
        (0 | 1, 2) => 8,
        (0 | 1, 4) => 9,
        (0 | 1, 8) => 10,
        (2, 4) => 27,
        (2, 8) => 28,
        (3, 4) => 34,
        (3, 8) => 35,
        (4, 1) => 40,
        (5, 1) => 39,
        (5, 2) => 13,
        (5, 4) => 14,
        (5, 8) => 15,
        (6, _) => 42,
        _ => return None,
    })
}

const DERIVED: u64 = 6;
const COMPLEX: u64 = 3;
const CHARACTER: u64 = 4;
/// A component's genre.
const DATA: u64 = 1;
const POINTER: u64 = 2;
const ALLOCATABLE: u64 = 3;

/// The function that does it for any number of elements, made once for each type.
fn expanded<'ctx>(
    module: &Module<'ctx>,
    like: FunctionValue<'ctx>,
    ty: GlobalValue<'ctx>,
    action: Action,
) -> Result<Option<FunctionValue<'ctx>>> {
    let name = format!("ffgrad.{action:?}.{}", ty.get_name().to_string_lossy());
    if let Some(made) = module.get_function(&name) {
        return Ok(Some(made));
    }
    let mut steps = Vec::new();
    let of = Value(ty.as_value_ref());
    let Some(size) = steps_of(module, of, 0, action, &mut steps) else { return Ok(None) };
    let function = module.add_function(&name, like.get_type(), Some(Linkage::Internal));
    Building::of(module).for_each(function, size, &steps).map_err(|e| e.to_string())?;
    Ok(Some(function))
}

/// Adds what is done with the components of a type; returns its size. `None` where that is not known.
fn steps_of(module: &Module<'_>, ty: Value, base: u64, action: Action, steps: &mut Steps) -> Option<u64> {
    let description = initial(ty)?;
    if number(part(description, NO_FINALIZATION)?)? == 0 {
        return None;
    }
    for component in entries(part(description, COMPONENTS)?)? {
        let at = base + number(part(component, 6)?)?;
        let [genre, category, kind, rank] = [1, 2, 3, 4].map(|i| part(component, i).and_then(number));
        let (genre, category, kind, rank) = (genre?, category?, kind?, rank?);
        let value = part(part(component, 11)?, 0)?;
        let inner = part(part(component, 8)?, 0)?;
        match (genre, category, action) {
            (DATA, DERIVED, _) => {
                let count = if rank == 0 { 1 } else { count_of(part(component, 10)?)? };
                let size = number(part(initial(inner)?, SIZE)?)?;
                for k in 0..count {
                    steps_of(module, inner, at + k * size, action, steps)?;
                }
            }
            (DATA, _, Action::Create) if is_nothing(value) => {}
            (_, _, Action::Create) if !is_nothing(value) => leaves(module, initial(pointed(value)?)?, at, steps)?,
            (POINTER | ALLOCATABLE, _, Action::Create) => {
                let bytes = bytes_of(category, kind, inner)?;
                let attribute = if genre == POINTER { 1 } else { 2 };
                let ty = (category == DERIVED).then_some(inner);
                descriptor(at, [bytes, rank, code(category, kind)?, attribute], ty, steps);
            }
            (ALLOCATABLE, DERIVED, Action::Destroy) => return None,
            (ALLOCATABLE, _, Action::Destroy) => steps.push((at, What::Free)),
            (DATA | POINTER, _, Action::Destroy) => {}
            _ => return None,
        }
        if steps.len() > MOST_STEPS {
            return None;
        }
    }
    if action == Action::Create {
        for procedure in entries(part(description, PROCEDURES)?)? {
            let at = base + number(part(procedure, 1)?)?;
            let value = part(part(procedure, 2)?, 0)?;
            steps.push((at, if is_nothing(value) { What::Null } else { What::Store(pointed(value)?) }));
        }
    }
    number(part(description, SIZE)?)
}

/// Bytes of an element of a component; 0 for characters.
fn bytes_of(category: u64, kind: u64, inner: Value) -> Option<u64> {
    Some(match category {
        DERIVED => number(part(initial(inner)?, SIZE)?)?,
        COMPLEX => 2 * kind,
        CHARACTER => 0,
        _ => kind,
    })
}

/// Bytes of an element, rank and type code of a component that is a pointer or allocatable, by the LLVM type of the object: flang names it and the
/// description of the type alike, and both have the components in order.
pub fn component(module: &Module<'_>, object: LLVMTypeRef, field: u32) -> Option<[u64; 3]> {
    // SAFETY: the type of a live instruction; where it has no name, there is none to read.
    let name = unsafe {
        let name = LLVMGetStructName(object);
        if name.is_null() { return None } else { CStr::from_ptr(name).to_string_lossy().into_owned() }
    };
    let (module_name, type_name) = name.strip_prefix("_QM")?.split_once('T')?;
    let described = module.get_global(&format!("_QM{module_name}EXdtX{type_name}"))?;
    let all = entries(part(initial(Value(described.as_value_ref()))?, COMPONENTS)?)?;
    let component = *all.get(field as usize)?;
    let [genre, category, kind, rank] = [1, 2, 3, 4].map(|i| part(component, i).and_then(number));
    let inner = part(part(component, 8)?, 0)?;
    let is_apart = [POINTER, ALLOCATABLE].contains(&genre?);
    let (category, kind) = (category?, kind?);
    let (bytes, rank, code) = (bytes_of(category, kind, inner)?, rank?, code(category, kind)?);
    (is_apart && category != CHARACTER).then_some([bytes, rank, code])
}

/// The descriptor of a pointer or allocatable that is not there: bytes of an element, rank, type code, attribute.
fn descriptor(at: u64, fields: [u64; 4], ty: Option<Value>, steps: &mut Steps) {
    let [bytes, rank, code, attribute] = fields;
    steps.push((at, What::Null));
    steps.push((at + 8, What::Long(bytes)));
    steps.push((at + 16, What::Int(VERSION.1 as u64)));
    for (place, value) in [rank, code, attribute, u64::from(ty.is_some())].into_iter().enumerate() {
        steps.push((at + 20 + place as u64, What::Byte(value)));
    }
    if let Some(ty) = ty {
        // Behind the dimensions.
        let addendum = at + 24 + 24 * rank;
        steps.push((addendum, What::Store(ty)));
        steps.push((addendum + 8, What::Long(0)));
    }
}

/// The numbers and pointers of a constant, each at its offset.
fn leaves(module: &Module<'_>, value: Value, at: u64, steps: &mut Steps) -> Option<()> {
    if steps.len() > MOST_STEPS {
        return None;
    }
    // SAFETY: a live constant, and the module's own layout.
    unsafe {
        let layout = LLVMGetModuleDataLayout(module.as_mut_ptr());
        let ty = value.ty();
        let (count, is_struct) = match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMStructTypeKind => (u64::from(LLVMCountStructElementTypes(ty)), true),
            LLVMTypeKind::LLVMArrayTypeKind => (LLVMGetArrayLength2(ty), false),
            _ => {
                if LLVMIsUndef(value.0) == 0 {
                    steps.push((at, What::Store(value)));
                }
                return Some(());
            }
        };
        for i in 0..u32::try_from(count).ok()? {
            let offset = match is_struct {
                true => LLVMOffsetOfElement(layout, ty, i),
                false => u64::from(i) * LLVMABISizeOfType(layout, LLVMGetElementType(ty)),
            };
            leaves(module, part(value, i)?, at + offset, steps)?;
        }
    }
    Some(())
}

/// How many elements the bounds of a component give, if they are constants: pairs of a genre and a number.
fn count_of(bounds: Value) -> Option<u64> {
    let table = initial(part(bounds, 0)?)?;
    let mut count = 1;
    for (lower, upper) in (0..).map_while(|i| part(table, i)).map(|pair| (part(pair, 0), part(pair, 1))) {
        let value = |bound: Option<Value>| part(bound?, 2).and_then(Value::constant);
        count *= value(upper)? - value(lower)? + 1;
    }
    u64::try_from(count).ok()
}

/// The elements of a table that a descriptor is of.
fn entries(descriptor: Value) -> Option<Vec<Value>> {
    let count = number(part(part(part(descriptor, 7)?, 0)?, 1)?)?;
    let base = part(descriptor, 0)?;
    if count == 0 || is_nothing(base) {
        return Some(Vec::new());
    }
    let table = initial(base)?;
    (0..u32::try_from(count).ok()?).map(|i| part(table, i)).collect()
}

fn part(value: Value, i: u32) -> Option<Value> {
    // SAFETY: a live constant, which says null where it has no such element.
    let found = unsafe { LLVMGetAggregateElement(value.0, i) };
    (!found.is_null()).then_some(Value(found))
}

fn number(value: Value) -> Option<u64> {
    u64::try_from(value.constant()?).ok()
}

/// The value of a constant variable.
fn initial(variable: Value) -> Option<Value> {
    // SAFETY: a live value; only global variables are asked.
    unsafe {
        let is_constant = !LLVMIsAGlobalVariable(variable.0).is_null() && LLVMIsGlobalConstant(variable.0) != 0;
        let value = if is_constant { LLVMGetInitializer(variable.0) } else { std::ptr::null_mut() };
        (!value.is_null()).then_some(Value(value))
    }
}

fn is_nothing(value: Value) -> bool {
    // SAFETY: a live constant.
    unsafe { LLVMIsNull(value.0) != 0 }
}

/// What an integer constant is the address of.
fn pointed(value: Value) -> Option<Value> {
    // SAFETY: a live constant.
    let is_address =
        unsafe { !LLVMIsAConstantExpr(value.0).is_null() && LLVMGetConstOpcode(value.0) == Op::LLVMPtrToInt };
    is_address.then(|| value.operand(0))
}

struct Building<'m, 'ctx> {
    module: &'m Module<'ctx>,
    context: ContextRef<'ctx>,
    builder: Builder<'ctx>,
}

impl<'m, 'ctx> Building<'m, 'ctx> {
    fn of(module: &'m Module<'ctx>) -> Self {
        let context = module.get_context();
        Building { module, context, builder: context.create_builder() }
    }

    /// `if (type == A) destroy_A(..); else if ..`.
    fn choose(
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
    fn for_each(
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
        for (place, what) in steps {
            self.step(self.at(element, long.const_int(*place, false))?, what)?;
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

    fn step(&self, place: PointerValue<'ctx>, what: &What) -> std::result::Result<(), BuilderError> {
        let pointer = self.context.ptr_type(AddressSpace::default());
        let value: BasicValueEnum<'_> = match what {
            // SAFETY: a live constant that is no function's or aggregate's own type.
            What::Store(value) => unsafe { BasicValueEnum::new(value.0) },
            What::Byte(value) => self.context.i8_type().const_int(*value, false).into(),
            What::Int(value) => self.context.i32_type().const_int(*value, false).into(),
            What::Long(value) => self.context.i64_type().const_int(*value, false).into(),
            What::Null => pointer.const_null().into(),
            What::Free => {
                let held = self.builder.build_load(pointer, place, "")?;
                let free = self.module.get_function("free").unwrap_or_else(|| {
                    let ty = self.context.void_type().fn_type(&[pointer.into()], false);
                    self.module.add_function("free", ty, None)
                });
                self.builder.build_call(free, &[held.into()], "")?;
                return Ok(());
            }
        };
        self.builder.build_store(place, value)?;
        Ok(())
    }
}

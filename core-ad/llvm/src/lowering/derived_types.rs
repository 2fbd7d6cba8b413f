//! Expands what flang's runtime library does with an object of derived type when it is allocated, freed and assigned: default initialisation, descriptors of
//! components, the components' own memory, and their copies.
//!
//! ```text
//! allocate(s)                 call ffgrad_flang_create(base, @type, elements)
//! deallocate(s)               call ffgrad_flang_destroy(base, @type, elements)
//! s = t                       call ffgrad_flang_copy(base, @type, elements, from, copy_component)
//! ```
//!
//! The library goes through a description of the type at run time, a constant of the module (Fortran's `__fortran_type_info`, as flang 22 lays it
//! out). Enzyme cannot follow that: it copies bytes of which nothing says what they are. Here each component is one store of its own
//! type. The rules (`compile-driver/rules/flang_assign.c`) make the calls. Of a polymorphic object the type at that time chooses; a call that has more than is
//! expanded here stays and is refused.

mod building;

use self::building::Building;
use super::descriptors::VERSION;
use crate::ir::{Op, Result, Value};
use inkwell::module::{Linkage, Module};
use inkwell::values::{AsValueRef, FunctionValue, GlobalValue};
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMTypeRef;
use llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout, LLVMOffsetOfElement};
use std::ffi::CStr;

/// What the names have in common that flang gives to descriptions of types.
const DESCRIPTION: &str = "EXdtX";

/// The calls, and what is done with each element.
const CALLS: [(&str, Action); 3] = [(CREATE, Action::Create), (DESTROY, Action::Destroy), (COPY, Action::Copy)];
/// Default initialisation of objects.
pub const CREATE: &str = "ffgrad_flang_create";
/// The end of what objects own.
pub const DESTROY: &str = "ffgrad_flang_destroy";
/// Copies of the components of objects.
pub const COPY: &str = "ffgrad_flang_copy";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Create,
    Destroy,
    Copy,
}

/// Expands the calls; returns whether there were any.
///
/// # Errors
///
/// Where LLVM refuses to build something.
pub fn run(module: &Module<'_>) -> Result<bool> {
    let mut any = false;
    let types = types_of_objects(module);
    for (name, action) in CALLS {
        let Some(function) = module.get_function(name) else { continue };
        for call in Value(function.as_value_ref()).users() {
            any = true;
            let expanded = match global(module, call.operand(1)) {
                Some(ty) => expanded(module, function, ty, action)?,
                None => for_any(module, function, &types, action)?,
            };
            if let Some(expanded) = expanded {
                // SAFETY: a live call, whose callee stands last; both functions have the same parameters.
                unsafe { LLVMSetOperand(call.0, LLVMGetNumOperands(call.0) as u32 - 1, expanded.as_value_ref()) };
            }
        }
    }
    Ok(any)
}

/// The types that an object may have when it runs: those that code writes to descriptors, and of which objects are made.
fn types_of_objects<'ctx>(module: &Module<'ctx>) -> Vec<GlobalValue<'ctx>> {
    let in_code = |ty: &GlobalValue<'ctx>| is_in_code(Value(ty.as_value_ref()));
    let is_type = |global: &GlobalValue<'ctx>| global.get_name().to_string_lossy().contains(DESCRIPTION);
    module.get_globals().filter(|global| is_type(global) && in_code(global)).collect()
}

/// Whether an instruction uses a constant, or one that it is part of: flang stores descriptors whole. The descriptions of other types are variables.
fn is_in_code(constant: Value) -> bool {
    // SAFETY: asked of live values.
    let is_variable = |user: Value| unsafe { !LLVMIsAGlobalVariable(user.0).is_null() };
    let uses_it = |user: Value| user.is_instruction() || !is_variable(user) && is_in_code(user);
    constant.users().into_iter().any(uses_it)
}

/// The same for an object of any of these types, by the type that a polymorphic variable has at that time.
fn for_any<'ctx>(
    module: &Module<'ctx>,
    like: FunctionValue<'ctx>,
    types: &[GlobalValue<'ctx>],
    action: Action,
) -> Result<Option<FunctionValue<'ctx>>> {
    let name = format!("ffgrad.{action:?}");
    if let Some(made) = module.get_function(&name) {
        return Ok(Some(made));
    }
    if types.is_empty() {
        return Ok(None);
    }
    let mut each = Vec::new();
    for ty in types {
        let Some(function) = expanded(module, like, *ty, action)? else { return Ok(None) };
        each.push((*ty, function));
    }
    let function = module.add_function(&name, like.get_type(), Some(Linkage::Internal));
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
    /// Memory is freed, if there is any, and its address forgotten: an `intent(out)` argument is used again.
    Free,
    /// One number or pointer is copied from the same place of the other object.
    Copy(Scalar),
    /// So is an allocatable component, with memory of its own: type code, bytes of an element, rank.
    CopyComponent([u64; 3]),
}

/// What is copied at once.
#[derive(Clone, Copy)]
enum Scalar {
    Integer(u64),
    Float,
    Double,
    Pointer,
}

type Steps = Vec<(u64, What)>;

/// Places in a description of a type and in one of a component.
const SIZE: u32 = 2;
const COMPONENTS: u32 = 6;
const PROCEDURES: u32 = 7;
const NO_FINALIZATION: u32 = 13;
const NO_ASSIGNMENT: u32 = 14;
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
const REAL: u64 = 2;
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
    let is_simple = |flag| Some(number(part(description, flag)?)? != 0);
    if !is_simple(NO_FINALIZATION)? || action == Action::Copy && !is_simple(NO_ASSIGNMENT)? {
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
            (DATA, _, Action::Copy) => {
                let count = if rank == 0 { 1 } else { count_of(part(component, 10)?)? };
                let length = part(component, 7)?;
                copies(at, [category, kind], count * characters(category, length)?, steps)?;
            }
            (POINTER, _, Action::Copy) => copied_descriptor(at, rank, category == DERIVED, steps),
            (ALLOCATABLE, DERIVED, Action::Copy) => return None,
            (ALLOCATABLE, _, Action::Copy) => {
                let bytes = bytes_of(category, kind, inner)?;
                steps.push((at, What::CopyComponent([code(category, kind)?, bytes, rank])));
            }
            _ => return None,
        }
        if steps.len() > MOST_STEPS {
            return None;
        }
    }
    for procedure in entries(part(description, PROCEDURES)?)? {
        let at = base + number(part(procedure, 1)?)?;
        let value = part(part(procedure, 2)?, 0)?;
        match action {
            Action::Create if is_nothing(value) => steps.push((at, What::Null)),
            Action::Create => steps.push((at, What::Store(pointed(value)?))),
            Action::Copy => steps.push((at, What::Copy(Scalar::Pointer))),
            Action::Destroy => {}
        }
    }
    number(part(description, SIZE)?)
}

/// How many characters an element of a component has, 1 where it has none: a length that is a constant.
fn characters(category: u64, length: Value) -> Option<u64> {
    const EXPLICIT: u64 = 2;
    match category {
        CHARACTER => number(part(length, 0)?).filter(|genre| *genre == EXPLICIT).and(number(part(length, 2)?)),
        _ => Some(1),
    }
}

/// Copies so many numbers or characters of a category and kind.
fn copies(at: u64, [category, kind]: [u64; 2], count: u64, steps: &mut Steps) -> Option<()> {
    let scalar = match (category, kind) {
        (REAL | COMPLEX, 4) => Scalar::Float,
        (REAL | COMPLEX, 8) => Scalar::Double,
        (REAL | COMPLEX, _) => return None,
        (_, 1 | 2 | 4 | 8) => Scalar::Integer(8 * kind),
        _ => return None,
    };
    let count = if category == COMPLEX { 2 * count } else { count };
    if count > MOST_STEPS as u64 {
        return None;
    }
    steps.extend((0..count).map(|k| (at + k * kind, What::Copy(scalar))));
    Some(())
}

/// Copies the descriptor of a pointer: head, dimensions, and where it is one to objects, their type.
fn copied_descriptor(at: u64, rank: u64, is_object: bool, steps: &mut Steps) {
    let mut copy = |place: u64, scalar| steps.push((at + place, What::Copy(scalar)));
    copy(0, Scalar::Pointer);
    copy(8, Scalar::Integer(64));
    copy(16, Scalar::Integer(32));
    (20..24).for_each(|place| copy(place, Scalar::Integer(8)));
    (0..3 * rank).for_each(|k| copy(24 + 8 * k, Scalar::Integer(64)));
    if is_object {
        copy(24 + 24 * rank, Scalar::Pointer);
        copy(32 + 24 * rank, Scalar::Integer(64));
    }
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

/// Bytes of an element (0 for characters), rank and type code of a component that is a pointer or allocatable, by the LLVM type of the object: flang names it and the
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
    is_apart.then_some([bytes, rank, code])
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

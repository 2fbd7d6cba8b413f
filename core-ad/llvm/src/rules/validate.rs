//! Compares the prototypes of a rule's functions with what the convention asks, before anything is built.
//!
//! The convention (`docs/custom-derivatives.md`): in the forward and in the reverse function, every parameter that is a
//! pointer or a floating-point number is followed by its derivative; a floating-point return value of the function adds a
//! last parameter.

use super::refusals::{Refusal, refusal};
use super::rule::{Rule, fields};
use core_ad::diagnostics::Location;
use core_ad::names;
use core_ad::protocol::GivenRule;
use inkwell::types::{BasicTypeEnum, FunctionType};
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::debuginfo::*;

/// The kinds of type that a rule can have to do with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pointer,
    Double,
    Float,
    Integer(u32),
    Void,
}

impl Kind {
    fn of(ty: Option<BasicTypeEnum<'_>>) -> Option<Kind> {
        Some(match ty {
            None => Kind::Void,
            Some(BasicTypeEnum::PointerType(_)) => Kind::Pointer,
            Some(BasicTypeEnum::IntType(i)) => Kind::Integer(i.get_bit_width()),
            Some(BasicTypeEnum::FloatType(f)) => match f.get_bit_width() {
                32 => Kind::Float,
                64 => Kind::Double,
                _ => return None,
            },
            Some(_) => return None,
        })
    }

    fn is_real(self) -> bool {
        matches!(self, Kind::Double | Kind::Float)
    }

    fn text(self) -> &'static str {
        match self {
            Kind::Pointer => "pointer",
            Kind::Double => "double",
            Kind::Float => "float",
            Kind::Integer(64) => "64-bit integer",
            Kind::Integer(32) => "int",
            Kind::Integer(_) => "small integer",
            Kind::Void => "void",
        }
    }
}

struct Shape {
    value: Kind,
    params: Vec<Kind>,
}

impl Shape {
    fn of(ty: FunctionType<'_>) -> Option<Shape> {
        let count = ty.count_param_types() as usize;
        let params = fields(ty).into_iter().map(|t| Kind::of(Some(t))).collect::<Option<Vec<_>>>()?;
        (params.len() == count && !ty.is_var_arg()).then_some(())?;
        Some(Shape { value: Kind::of(ty.get_return_type())?, params })
    }

    fn text(&self, name: &str) -> String {
        let params: Vec<&str> = self.params.iter().map(|k| k.text()).collect();
        format!("{} {name}({})", self.value.text(), params.join(", "))
    }

    fn forward(&self) -> Shape {
        let follow = |&k: &Kind| if k == Kind::Pointer || k.is_real() { vec![k, k] } else { vec![k] };
        let mut params: Vec<Kind> = self.params.iter().flat_map(follow).collect();
        if self.value.is_real() {
            params.push(Kind::Pointer);
        }
        Shape { value: self.value, params }
    }

    fn reverse(&self, saves: bool) -> Shape {
        let follow = |&k: &Kind| if k == Kind::Pointer || k.is_real() { vec![k, Kind::Pointer] } else { vec![k] };
        let mut params: Vec<Kind> = self.params.iter().flat_map(follow).collect();
        if self.value.is_real() {
            params.push(self.value);
        }
        if saves {
            params.push(Kind::Pointer);
        }
        Shape { value: Kind::Void, params }
    }

    fn save(&self) -> Shape {
        let mut params = self.params.clone();
        if self.value != Kind::Void {
            params.push(Kind::Pointer);
        }
        Shape { value: Kind::Pointer, params }
    }
}

/// Checks the prototypes of a rule's functions.
pub fn prototypes(rule: &Rule<'_>) -> Result<(), Refusal> {
    let name = readable(rule.function);
    let by_memory = rule.function.get_type().get_param_types().iter().enumerate().any(|(i, _)| {
        ["byval", "sret"].iter().any(|a| {
            let kind = inkwell::attributes::Attribute::get_named_enum_kind_id(a);
            rule.function.get_enum_attribute(inkwell::attributes::AttributeLoc::Param(i as u32), kind).is_some()
        })
    });
    let Some(shape) = Shape::of(rule.function.get_type()).filter(|_| !by_memory) else {
        let headline = format!(
            "`{name}` cannot have a derivative of its own: it takes or returns a structure, or any number of arguments"
        );
        let mut diagnosis = refusal("rule-prototype", headline)
            .advise("Numbers by value and pointers are possible: put a function that takes those around it.");
        diagnosis.location = location(rule.function);
        return Err(Box::new(diagnosis));
    };
    let mut parts =
        vec![(rule.forward, shape.forward(), "forward"), (rule.reverse, shape.reverse(rule.save.is_some()), "reverse")];
    parts.extend(rule.save.map(|save| (save, shape.save(), "saving")));
    for (part, expected, what) in parts {
        let own = readable(part);
        let found = Shape::of(part.get_type());
        if found.as_ref().is_some_and(|f| f.params == expected.params && f.value == expected.value) {
            continue;
        }
        let found = found.map_or_else(|| "something with a structure".to_owned(), |f| f.text(&own));
        let headline = format!("`{own}` does not have the prototype of the {what} derivative of `{name}`");
        let mut diagnosis = refusal("rule-prototype", headline)
            .mismatch(expected.text(&own), found)
            .advise("Every parameter that is a pointer or a real number is followed by its derivative: `ffgrad explain custom-derivatives`.");
        diagnosis.location = location(part);
        return Err(Box::new(diagnosis));
    }
    Ok(())
}

/// What the driver keeps of a rule.
pub fn given(rule: &Rule<'_>) -> GivenRule {
    GivenRule {
        symbol: rule.function.get_name().to_string_lossy().into_owned(),
        forward: location(rule.forward),
        reverse: location(rule.reverse),
    }
}

fn readable(function: FunctionValue<'_>) -> String {
    let full = names::demangle(&function.get_name().to_string_lossy());
    full.split('(').next().unwrap_or(&full).to_owned()
}

/// Where a function is defined, from its debug information.
fn location(function: FunctionValue<'_>) -> Option<Location> {
    // SAFETY: a live function; LLVM returns null or live metadata, and strings with their length.
    unsafe {
        let subprogram = LLVMGetSubprogram(function.as_value_ref());
        if subprogram.is_null() {
            return None;
        }
        let file = LLVMDIScopeGetFile(subprogram);
        if file.is_null() {
            return None;
        }
        let string =
            |get: unsafe extern "C" fn(llvm_sys::prelude::LLVMMetadataRef, *mut u32) -> *const std::ffi::c_char| {
                let mut length = 0;
                let start = get(file, &mut length);
                if start.is_null() {
                    return String::new();
                }
                String::from_utf8_lossy(std::slice::from_raw_parts(start.cast(), length as usize)).into_owned()
            };
        let (folder, name) = (string(LLVMDIFileGetDirectory), string(LLVMDIFileGetFilename));
        let file = if name.starts_with('/') { name } else { format!("{folder}/{name}") };
        Some(Location { file, line: LLVMDISubprogramGetLine(subprogram), column: 0, text: None })
    }
}

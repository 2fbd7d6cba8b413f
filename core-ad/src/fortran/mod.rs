//! Fortran procedures: from flang's symbol dump to a [`Prototype`].
//!
//! Debug information knows neither `intent` nor bounds such as `x(2*n)`. `flang -fc1 -fdebug-dump-symbols` prints
//! both, in a text that [`symbols`] reads; [`bounds`] converts its bounds to dimensions of a signature. The joined
//! result is a prototype like that of a C function, with a [`Procedure`] beside it.

mod bounds;
mod scan;
mod symbols;

pub use bounds::open_symbol;
pub use scan::{Scan, looks_free, order, scan};
pub use symbols::{Entity, Found, procedures};

use crate::names::{Lookup, closest};
use crate::prototype::{Access, Param, ParamType, Prototype, ReturnType};
use crate::{DType, Dim};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The facts of a Fortran declaration beyond a C prototype.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Procedure {
    /// One per parameter of the prototype, in its order.
    pub dummies: Vec<Dummy>,
    /// Name of the function's result, in the source.
    #[serde(default)]
    pub result: Option<String>,
}

/// A dummy argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dummy {
    /// `intent(in)` and the like, where the source declares it.
    pub intent: Option<Intent>,
    /// One per dimension, the first index first; empty for scalars.
    pub extents: Vec<Extent>,
    /// Passed as the address of a descriptor, not of the first element.
    pub descriptor: bool,
    /// May be left out of a call.
    pub optional: bool,
    /// The compiled code was seen never to read it: `intent(out)` does not imply it, since what was written may be read.
    #[serde(default)]
    pub unread: bool,
}

/// `intent(...)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Intent {
    In,
    Out,
    InOut,
}

/// The number of elements along one dimension, as declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// An expression over integer arguments.
    Known(Dim),
    /// `:`, or the last `*`: whatever the caller gives.
    Open,
    /// An expression that no signature can hold, as the compiler prints it.
    Other(String),
}

/// The procedure that a user means by `wanted`, out of those whose symbol is in `defined`: `m::f`, `f`, or its symbol,
/// in any case. As [`crate::names::find`], which looks further where this finds nothing.
pub fn find<'a>(wanted: &str, found: &'a [Found], defined: &[String]) -> Lookup<'a> {
    let lower = wanted.to_lowercase();
    let there: Vec<&Found> = found.iter().filter(|f| defined.contains(&f.symbol)).collect();
    let tiers: [&dyn Fn(&Found) -> bool; 3] =
        [&|f| f.symbol == wanted, &|f| f.path() == lower, &|f| f.name == lower || f.symbol.to_lowercase() == lower];
    for matches in tiers {
        let hits: Vec<&&Found> = there.iter().filter(|f| matches(f)).collect();
        match hits.as_slice() {
            [] => {}
            [one] => return Lookup::Found(&one.symbol),
            several => return Lookup::Ambiguous(several.iter().map(|f| f.path()).collect()),
        }
    }
    let paths: Vec<String> = there.iter().map(|f| f.path()).collect();
    Lookup::Missing { closest: closest(&lower, paths.iter().map(String::as_str)) }
}

/// Joins the facts of a procedure from the compiled code (`access`, one per parameter of the object code) with its
/// declaration.
///
/// # Errors
///
/// What about the procedure cannot be called at all.
pub fn prototype(base: Prototype, found: &Found) -> Result<Prototype, String> {
    let result = found.result.as_ref();
    let returned = result.filter(|r| !r.is_array() && !r.is_descriptor());
    // The value of a function that is no scalar comes back through a hidden first argument.
    let hidden = result.filter(|r| r.is_array() || r.is_descriptor());
    let mut entities: Vec<(&Entity, Option<Intent>)> = hidden.map(|r| (r, Some(Intent::Out))).into_iter().collect();
    entities.extend(found.dummies.iter().map(|d| (d, d.intent)));
    if base.params.len() < entities.len() {
        return Err(format!(
            "it has {} arguments in the source but {} in the compiled code",
            entities.len(),
            base.params.len()
        ));
    }
    let accesses = base.params.iter().map(|p| p.access);
    let params =
        entities.iter().zip(accesses).map(|((entity, intent), access)| entity.param(*intent, access)).collect();
    let accesses = base.params.iter().map(|p| p.access);
    let dummies =
        entities.iter().zip(accesses).map(|((entity, intent), access)| entity.dummy(*intent, access)).collect();
    let returns = match returned {
        None => ReturnType::Void,
        Some(entity) => match entity.dtype() {
            Some(dtype) => ReturnType::Value { dtype },
            None => ReturnType::Unsupported { spelled: entity.spelled() },
        },
    };
    let fortran = Procedure { dummies, result: result.map(|r| r.name.clone()) };
    Ok(Prototype { params, returns, fortran: Some(fortran), ..base })
}

impl Entity {
    fn param(&self, intent: Option<Intent>, inferred: Option<Access>) -> Param {
        let is_input_text = self.text_length().is_some() && !matches!(intent, Some(Intent::Out | Intent::InOut));
        let text = is_input_text.then_some(DType::I8);
        let dtype = self.dtype().filter(|_| !self.is_beyond_reach()).or(text);
        let ty = match dtype {
            None => ParamType::Unsupported,
            Some(dtype) if self.by_value => ParamType::Value { dtype },
            Some(dtype) => ParamType::Pointer { dtype, constant: intent == Some(Intent::In) },
        };
        // What is inferred of a descriptor is not about the elements behind it.
        let inferred = inferred.filter(|_| !self.is_descriptor()).unwrap_or(Access::ReadWrite);
        let access = match intent {
            Some(Intent::In) => Access::Read,
            Some(Intent::Out) => Access::Write,
            // Declared, so that a caller may rely on it.
            Some(Intent::InOut) => Access::ReadWrite,
            None => inferred,
        };
        let access = matches!(ty, ParamType::Pointer { .. }).then_some(access);
        Param { name: self.name.clone(), ty, spelled: self.spelled(), access, adapted: None }
    }

    fn dummy(&self, intent: Option<Intent>, inferred: Option<Access>) -> Dummy {
        let extents = match self.text_length() {
            Some(length) => vec![length],
            None => self.shape.iter().map(|bounds| bounds::extent(bounds)).collect(),
        };
        let descriptor = self.is_descriptor();
        let unread = !descriptor && inferred == Some(Access::Write);
        Dummy { intent, extents, descriptor, optional: self.optional, unread }
    }

    /// Element type, where a tensor can hold it.
    fn dtype(&self) -> Option<DType> {
        Some(match self.ty.as_str() {
            "REAL(4)" => DType::F32,
            "REAL(8)" => DType::F64,
            "INTEGER(1)" => DType::I8,
            "INTEGER(2)" => DType::I16,
            "INTEGER(4)" | "LOGICAL(4)" => DType::I32,
            "INTEGER(8)" | "LOGICAL(8)" => DType::I64,
            "LOGICAL(1)" => DType::Bool,
            "LOGICAL(2)" => DType::I16,
            _ => return None,
        })
    }

    /// The length of one text: `CHARACTER(*,1)` of any, `CHARACTER(8_8,1)` of eight characters.
    fn text_length(&self) -> Option<Extent> {
        let inside = self.ty.strip_prefix("CHARACTER(")?.strip_suffix(",1)")?;
        if self.is_array() || self.is_descriptor() || self.by_value {
            return None;
        }
        match inside {
            "*" => Some(Extent::Open),
            number => number.split('_').next()?.parse().ok().map(|n| Extent::Known(Dim::Int(n))),
        }
    }

    /// The declaration as the source would spell it: `real(8), intent(in)`.
    fn spelled(&self) -> String {
        let mut text = match (self.text_length(), self.ty.to_lowercase()) {
            (Some(Extent::Open), _) => "character(*)".to_owned(),
            (Some(Extent::Known(length)), _) => format!("character({length})"),
            (_, other) => other,
        };
        for (set, word) in [(self.allocatable, "allocatable"), (self.pointer, "pointer")] {
            if set {
                text.push_str(", ");
                text.push_str(word);
            }
        }
        text
    }

    /// Whether the callee may give the array another address, so that no tensor can stand for it.
    fn is_beyond_reach(&self) -> bool {
        self.allocatable || self.pointer || self.shape.iter().any(|s| s == "..")
    }
}

impl fmt::Display for Intent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Intent::In => "in",
            Intent::Out => "out",
            Intent::InOut => "inout",
        })
    }
}

/// The head of a procedure as a Fortran programmer would write it.
pub fn declaration(prototype: &Prototype, procedure: &Procedure) -> String {
    let one = |(param, dummy): (&Param, &Dummy)| {
        let intent = dummy.intent.map(|i| format!(", intent({i})")).unwrap_or_default();
        let optional = if dummy.optional { ", optional" } else { "" };
        let extent = |e: &Extent| match e {
            Extent::Known(dim) => dim.to_string().replace("//", "/"),
            Extent::Open => ":".to_owned(),
            Extent::Other(text) => text.clone(),
        };
        let is_text = param.spelled.starts_with("character(");
        let shape: Vec<String> = dummy.extents.iter().filter(|_| !is_text).map(extent).collect();
        let mut shape = shape.join(",");
        if !dummy.descriptor && shape.ends_with(':') {
            shape.replace_range(shape.len() - 1.., "*");
        }
        let shape = if shape.is_empty() { shape } else { format!("({shape})") };
        format!("{}{intent}{optional} :: {}{shape}", param.spelled, param.name)
    };
    let dummies: Vec<String> = prototype.params.iter().zip(&procedure.dummies).map(one).collect();
    let kind = match &prototype.returns {
        ReturnType::Value { dtype } => format!("{} function", fortran_name(*dtype)),
        ReturnType::Unsupported { spelled } => format!("{spelled} function"),
        ReturnType::Void | ReturnType::Object { .. } => "subroutine".to_owned(),
    };
    format!("{kind} {}({})", prototype.function, dummies.join("; "))
}

/// The usual Fortran spelling of an element type.
pub fn fortran_name(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "real(4)",
        DType::F64 => "real(8)",
        DType::I8 | DType::U8 => "integer(1)",
        DType::I16 | DType::U16 => "integer(2)",
        DType::I32 | DType::U32 => "integer(4)",
        DType::I64 | DType::U64 => "integer(8)",
        DType::Bool => "logical(1)",
    }
}

#[cfg(test)]
mod tests;

//! The discovered C prototype of a function: what its debug information and LLVM's inferred
//! attributes describe, the same for every source language.

use crate::adapter::{Adapted, Object};
use crate::fortran::{self, Procedure};
use crate::{DType, Text};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How the optimised function uses a pointer parameter, as LLVM inferred it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Only loaded from (`readonly`).
    Read,
    /// Only stored to (`writeonly`).
    Write,
    /// Both, or unknown.
    ReadWrite,
    /// Never dereferenced (`readnone`).
    Unused,
}

/// The type of a parameter, reduced to what a binding can pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum ParamType {
    /// A scalar passed by value.
    Value {
        /// Its type.
        dtype: DType,
    },
    /// A pointer (or C++ reference) to one or more elements.
    Pointer {
        /// Element type.
        dtype: DType,
        /// Whether the pointee is declared `const`.
        constant: bool,
    },
    /// Something ffgrad cannot pass from a framework (a struct, a pointer to pointer, ...).
    Unsupported,
}

/// One parameter of the foreign function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Param {
    /// Its name in the source; `arg3` where the source gives none.
    pub name: String,
    /// Its reduced type.
    #[serde(flatten)]
    pub ty: ParamType,
    /// Its type as the source spells it, for messages.
    pub spelled: String,
    /// How the function uses the memory behind it; `None` for scalars by value.
    pub access: Option<Access>,
    /// What it is to an adapter, where the function has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapted: Option<Adapted>,
}

/// The type of the function's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum ReturnType {
    /// No value.
    Void,
    /// A scalar.
    Value {
        /// Its type.
        dtype: DType,
    },
    /// An object whose elements an adapter returns as an array.
    Object {
        /// It.
        object: Box<Object>,
    },
    /// Something ffgrad cannot return to a framework.
    Unsupported {
        /// The type as the source spells it.
        spelled: String,
    },
}

/// A function as its object code and debug information describe it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prototype {
    /// Name as the user asked for it.
    pub function: String,
    /// Symbol in the object code.
    pub symbol: String,
    /// Source file of the definition.
    pub file: String,
    /// Line of the definition.
    pub line: u32,
    /// Value of the function.
    pub returns: ReturnType,
    /// Parameters in source order.
    pub params: Vec<Param>,
    /// The facts of a Fortran declaration beyond this; `None` for other languages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fortran: Option<Procedure>,
    /// The source of the function that is called in its place, with pointers and sizes; `None` where it is called itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
}

impl Prototype {
    /// Position and parameter of the given name.
    pub fn param(&self, name: &str) -> Option<(usize, &Param)> {
        self.params.iter().enumerate().find(|(_, p)| p.name == name)
    }

    /// Whether a call may leave the parameter out.
    pub fn is_optional(&self, name: &str) -> bool {
        let dummies = self.fortran.as_ref().map(|f| f.dummies.as_slice()).unwrap_or_default();
        self.param(name).and_then(|(i, _)| dummies.get(i)).is_some_and(|d| d.optional)
    }
}

impl fmt::Display for Prototype {
    /// The prototype as a programmer of its language would write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(procedure) = &self.fortran {
            return f.write_str(&fortran::declaration(self, procedure));
        }
        let returns = match &self.returns {
            ReturnType::Void => "void".to_owned(),
            ReturnType::Value { dtype } => c_name(*dtype).to_owned(),
            ReturnType::Unsupported { spelled } => spelled.clone(),
            ReturnType::Object { object } => object.class.clone(),
        };
        // With an adapter the value is a parameter, and sizes are its own.
        let returned = self.params.iter().find(|p| p.name == "return");
        let returns = returned.map_or(returns, |p| p.spelled.clone());
        let own = |p: &&Param| p.name != "return" && !matches!(p.adapted, Some(Adapted::Size { .. }));
        let params: Vec<String> = self.params.iter().filter(own).map(Param::declaration).collect();
        write!(f, "{returns} {}({})", self.function, params.join(", "))
    }
}

impl Param {
    /// How a text can be passed as this parameter.
    pub fn text(&self) -> Option<Text> {
        let ParamType::Pointer { dtype: DType::I8, .. } = self.ty else { return None };
        let spelled = self.spelled.trim_start_matches("const ");
        match () {
            () if spelled.starts_with("character") => Some(Text::Fortran),
            () if spelled.starts_with("char ") || spelled.starts_with("char*") => Some(Text::C),
            () => None,
        }
    }

    /// Whether it is a matrix with rows of a variable length, `double u[m][n]`.
    pub fn has_variable_rows(&self) -> bool {
        self.spelled.ends_with("[]*")
    }

    fn declaration(&self) -> String {
        if let Some(element) = self.spelled.strip_suffix("[]*") {
            format!("{element} (*{})[]", self.name)
        } else if self.spelled.ends_with(['*', '&']) {
            let (base, mark) = self.spelled.split_at(self.spelled.len() - 1);
            format!("{} {mark}{}", base.trim_end(), self.name)
        } else {
            format!("{} {}", self.spelled, self.name)
        }
    }
}

/// The usual C spelling of an element type.
pub fn c_name(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "float",
        DType::F64 => "double",
        DType::I8 => "int8_t",
        DType::I16 => "int16_t",
        DType::I32 => "int",
        DType::I64 => "int64_t",
        DType::U8 => "uint8_t",
        DType::U16 => "uint16_t",
        DType::U32 => "unsigned",
        DType::U64 => "uint64_t",
        DType::Bool => "bool",
    }
}

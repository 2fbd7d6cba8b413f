//! Adapters: generated functions that take pointers and sizes, make the objects of a C++ function's parameters of them, and call it.
//!
//! In: a prototype of which some parameters are [`Object`]s (containers, views, Eigen's matrices, rows of a matrix). Out: the adapter's
//! source, and the prototype that a signature is about: the same parameters, with pointers in place of objects, and after each pointer
//! the sizes that the object needs, which follow from the shape of the argument. `class` reads the names of classes, `text` writes
//! the source, `foretold` reads plain declarations ahead of the compiler.

mod class;
pub mod foretold;
#[cfg(test)]
mod tests;
mod text;

pub use text::source;

use crate::{Access, DType, Param, ParamType, Prototype, ReturnType};
use serde::{Deserialize, Serialize};

/// The adapter's symbol.
pub const SYMBOL: &str = "ffgrad_adapter";

/// Version of the text, for cache keys.
pub const VERSION: &str = "adapter 1";

/// What a parameter is to the adapter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "adapted")]
pub enum Adapted {
    /// Passed on as it is.
    Same {
        /// Its type without typedefs, as C++ spells it in full.
        exact: String,
    },
    /// Made of a pointer and sizes.
    Object(Object),
    /// A structure: each member is a parameter of the adapter.
    Structure(Structure),
    /// A size of the object whose parameter has this name.
    Size {
        /// That parameter.
        of: String,
        /// The dimension; `None` is the number of elements.
        dim: Option<usize>,
    },
}

/// An object that the adapter makes of a pointer to its elements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// Its class without `const`, as C++ spells it in full.
    pub class: String,
    /// What it is.
    pub kind: Kind,
    /// Type of its elements.
    pub dtype: DType,
    /// The same as C++ spells it: `long long` and `long` are one type here and two there.
    pub element: String,
    /// Its extents, outermost first; `None` where a call decides. An object of one extent takes arrays of any shape, in row-major order.
    pub extents: Vec<Option<i64>>,
    /// Whether the function cannot write to its elements, or writes to a copy.
    pub constant: bool,
    /// How the function takes it.
    pub by: By,
}

/// A structure of numbers, pointers, arrays, containers and further structures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Structure {
    /// Its type without `const`, as a declaration spells it in full.
    pub class: String,
    /// Whether the function cannot write to its members, or writes to a copy.
    pub constant: bool,
    /// How the function takes it.
    pub by: By,
    /// Its members, by their own names.
    pub members: Vec<Param>,
}

/// Kinds of objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Kind {
    /// `std::vector` and `std::array`, also in each other: the classes from the outside in. An array that is a member has none.
    Container {
        /// The class of each level.
        levels: Vec<String>,
    },
    /// `std::span`.
    Span,
    /// `Eigen::Matrix` and `Eigen::Array`.
    Matrix {
        /// Whether the function's memory has rows one after another.
        row_major: bool,
    },
    /// `Eigen::Ref` and `Eigen::Map`.
    View {
        /// What it is a view of.
        plain: String,
        /// As in [`Kind::Matrix`].
        row_major: bool,
        /// `Eigen::Map`, not `Eigen::Ref`.
        is_map: bool,
    },
    /// A pointer to pointers to rows.
    Rows,
}

/// How a parameter is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// By value.
    Value,
    /// `&`
    Reference,
    /// `&&`
    Rvalue,
    /// `*`
    Pointer,
}

impl Object {
    /// The object of the class that C++ spells like this, with the `const` of its declaration; `None` where no adapter makes one.
    pub fn of_class(class: &str, constant: bool) -> Option<Object> {
        class::object(class, constant)
    }

    /// Names of the sizes that the adapter takes: of each extent that a call decides, or of all elements.
    fn sizes(&self) -> Vec<(&'static str, Option<usize>)> {
        let names: &[&str] = match self.extents.len() {
            2 => &["rows", "cols"],
            _ => &["size", "size1", "size2", "size3"],
        };
        let is_open = |(dim, extent): (usize, &Option<i64>)| extent.is_none().then_some(dim);
        let dims = self.extents.iter().enumerate().filter_map(is_open);
        dims.map(|dim| (names[dim.min(3)], (self.extents.len() > 1).then_some(dim))).collect()
    }
}

/// Whether the function can be called only by an adapter, and by one at all: no parameter is of a type that none makes.
pub fn is_needed(prototype: &Prototype) -> bool {
    let is_object = |p: &Param| matches!(p.adapted, Some(Adapted::Object(_) | Adapted::Structure(_)));
    let returns = matches!(prototype.returns, ReturnType::Object { .. });
    let objects = returns || prototype.params.iter().any(is_object);
    objects && prototype.params.iter().all(|p| p.adapted.is_some())
}

/// The prototype that a signature is about: its parameters are those of the adapter, which LLVM saw used as in `found`.
///
/// # Errors
///
/// Where `found` is of another function.
pub fn prototype(original: &Prototype, found: &Prototype) -> Result<Prototype, String> {
    let mut params: Vec<Param> = original.params.iter().flat_map(with_sizes).collect();
    let mut returns = original.returns.clone();
    if let ReturnType::Object { object } = &original.returns {
        let adapted = Some(Adapted::Object((**object).clone()));
        let spelled = object.class.clone();
        let param = Param { name: "return".to_owned(), ty: ParamType::Unsupported, spelled, access: None, adapted };
        params.extend(with_sizes(&param));
        returns = ReturnType::Void;
    }
    if params.len() != found.params.len() {
        return Err(format!("its adapter has {} parameters, not {}", found.params.len(), params.len()));
    }
    for (param, seen) in params.iter_mut().zip(&found.params) {
        let returned = param.name == "return";
        param.access = match param.ty {
            ParamType::Value { .. } => None,
            _ if returned => Some(Access::Write),
            _ => seen.access,
        };
    }
    Ok(Prototype { symbol: SYMBOL.to_owned(), returns, params, ..original.clone() })
}

/// The adapter's parameters in place of one of the function: its members, and sizes behind objects.
fn with_sizes(param: &Param) -> Vec<Param> {
    let object = match &param.adapted {
        Some(Adapted::Object(object)) => object,
        Some(Adapted::Structure(structure)) => {
            return structure.members(&param.name).iter().flat_map(with_sizes).collect();
        }
        _ => return vec![param.clone()],
    };
    let ty = ParamType::Pointer { dtype: object.dtype, constant: object.constant };
    let pointer = Param { ty, ..param.clone() };
    let size = |(name, dim): (&str, Option<usize>)| Param {
        // No signature can name it.
        name: format!("{}#{name}", param.name),
        ty: ParamType::Value { dtype: DType::I64 },
        spelled: "long".to_owned(),
        access: None,
        adapted: Some(Adapted::Size { of: param.name.clone(), dim }),
    };
    std::iter::once(pointer).chain(object.sizes().into_iter().map(size)).collect()
}

impl Structure {
    /// The members by the names that a signature has for them: `p.mass`.
    fn members(&self, name: &str) -> Vec<Param> {
        let constant = self.constant;
        let member = |member: &Param| {
            let mut member = Param { name: format!("{name}.{}", member.name), ..member.clone() };
            match (&mut member.adapted, &member.ty) {
                (Some(Adapted::Object(object)), _) => object.constant |= constant,
                (Some(Adapted::Structure(structure)), _) => structure.constant |= constant,
                // A number that may be written to is behind a pointer.
                (_, ParamType::Value { dtype }) if !constant => {
                    member.ty = ParamType::Pointer { dtype: *dtype, constant: false };
                    member.spelled.push('&');
                }
                _ => {}
            }
            member
        };
        self.members.iter().map(member).collect()
    }
}

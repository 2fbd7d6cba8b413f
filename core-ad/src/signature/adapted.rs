//! What signatures mean for functions that are called by an adapter: shapes that its objects can have, and its sizes.

use super::check::arg;
use super::did_you_write;
use crate::adapter::{Adapted, By, Kind, Object};
use crate::shapes::dims::spell;
use crate::{Arg, DType, Dim, Param, Passing, Prototype, Role};

/// The object that the adapter makes of this argument.
pub(super) fn object(param: &Param) -> Option<&Object> {
    match &param.adapted {
        Some(Adapted::Object(object)) => Some(object),
        _ => None,
    }
}

/// Whether the parameter is the adapter's own, and no signature names it.
pub(super) fn is_size(param: &Param) -> bool {
    matches!(param.adapted, Some(Adapted::Size { .. }))
}

/// The argument that holds a size, to be given its expression by [`set_sizes`].
pub(super) fn size(param: &Param) -> Arg {
    arg(&param.name, Role::Size, DType::I64, Passing::Value)
}

/// Gives each size of an object the expression that the object's shape has for it.
pub(super) fn set_sizes(prototype: &Prototype, args: &mut [Arg]) {
    for param in &prototype.params {
        let Some(Adapted::Size { of, dim }) = &param.adapted else { continue };
        let shape = args.iter().find(|a| a.name == *of).map(|a| a.shape.clone()).unwrap_or_default();
        let value = match dim {
            Some(dim) => shape.get(*dim).cloned().unwrap_or(Dim::Int(1)),
            None => product(&shape),
        };
        if let Some(size) = args.iter_mut().find(|a| a.name == param.name) {
            size.shape = vec![value];
        }
    }
}

fn product(shape: &[Dim]) -> Dim {
    let joined = shape.iter().cloned().reduce(|a, b| Dim::Mul(Box::new(a), Box::new(b)));
    joined.unwrap_or(Dim::Int(1))
}

/// Why an object cannot have this shape.
pub(super) fn misfit(param: &Param, shape: &[Dim]) -> Option<String> {
    let object = object(param)?;
    let (name, spelled) = (&param.name, &param.spelled);
    let extents = &object.extents;
    let fits = match extents.as_slice() {
        // A pointer to one vector may be one to several, which no adapter makes of a matrix.
        [None] if object.by == By::Pointer => shape.len() == 1,
        // Elements one after another: an array of any shape is that.
        [None] => !shape.is_empty(),
        [Some(count)] => number(shape) == Some(*count),
        _ => {
            let fits = |(dim, extent): (&Dim, &Option<i64>)| extent.is_none_or(|n| *dim == Dim::Int(n));
            shape.len() == extents.len() && shape.iter().zip(extents).all(fits)
        }
    };
    let example = did_you_write(&wanted(name, object));
    (!fits).then(|| {
        let has = if shape.is_empty() {
            "no dimensions".to_owned()
        } else {
            format!("the shape of `{}`", spell(name, shape, false))
        };
        format!("`{name}` is a `{spelled}`, which cannot have {has}: {example}")
    })
}

/// A spelling that fits.
fn wanted(name: &str, object: &Object) -> String {
    spell(name, &example(object), false)
}

/// A shape that fits.
pub(super) fn example(object: &Object) -> Vec<Dim> {
    let symbols: &[&str] = if object.extents.len() == 1 { &["n"] } else { &["m", "n", "k", "l"] };
    let dim = |(extent, symbol): (&Option<i64>, &&str)| extent.map_or_else(|| Dim::Sym((*symbol).to_owned()), Dim::Int);
    object.extents.iter().zip(symbols).map(dim).collect()
}

fn number(shape: &[Dim]) -> Option<i64> {
    let value = |dim: &Dim| if let Dim::Int(n) = dim { Some(*n) } else { None };
    shape.iter().map(value).product()
}

/// Whether memory in the order of rows is what the function sees: it is told of no other.
pub(super) fn is_flat(object: &Object) -> bool {
    object.extents == [None] && object.kind != Kind::Rows && object.by != By::Pointer
}

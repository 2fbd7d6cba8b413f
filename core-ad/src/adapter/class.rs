//! Reads the full names of classes: `std::vector<double, std::allocator<double> >` to an [`Object`].

use super::{By, Kind, Object};
use crate::DType;

/// The deepest nesting of containers.
const DEEPEST: usize = 4;

/// The object of a class, by value; `None` where no adapter makes one.
pub(super) fn object(class: &str, constant: bool) -> Option<Object> {
    let (name, arguments) = template(class)?;
    let object = |kind, element: &str, extents, constant| {
        let dtype = element_type(element)?;
        let element = element.to_owned();
        Some(Object { class: class.to_owned(), kind, dtype, element, extents, constant, by: By::Value })
    };
    match name.as_str() {
        "std::vector" | "std::array" => {
            let (levels, extents, element) = container(class)?;
            object(Kind::Container { levels }, &element, extents, constant)
        }
        "std::span" => {
            let (element, read_only) = without_const(arguments.first()?);
            let extent = number(arguments.get(1)?).filter(|n| *n >= 0);
            object(Kind::Span, element, vec![extent], read_only)
        }
        "Eigen::Matrix" | "Eigen::Array" => {
            let Plain { element, extents, row_major } = plain(class)?;
            object(Kind::Matrix { row_major }, &element, extents, constant)
        }
        "Eigen::Ref" | "Eigen::Map" => {
            let (viewed, read_only) = without_const(arguments.first()?);
            let Plain { element, extents, row_major } = plain(viewed)?;
            let is_map = name == "Eigen::Map";
            let has_strides = arguments.get(2).is_some_and(|stride| squeezed(stride) != "Eigen::Stride<0,0>");
            // A tensor's memory is aligned to its elements, and has no gaps.
            let is_aligned = arguments.get(1).is_none_or(|alignment| number(alignment) != Some(0));
            if is_aligned || is_map && has_strides {
                return None;
            }
            object(Kind::View { plain: viewed.to_owned(), row_major, is_map }, &element, extents, read_only)
        }
        _ => None,
    }
}

/// Classes, extents and element of nested containers. A vector inside an array would be a level that has no constructor with a size.
fn container(class: &str) -> Option<(Vec<String>, Vec<Option<i64>>, String)> {
    let (mut levels, mut extents, mut class) = (Vec::new(), Vec::new(), class.to_owned());
    let mut in_array = false;
    while levels.len() < DEEPEST {
        let Some((name, arguments)) = template(&class) else { return Some((levels, extents, class)) };
        match name.as_str() {
            "std::vector" if !in_array => extents.push(None),
            "std::array" => {
                in_array = true;
                extents.push(Some(number(arguments.get(1)?).filter(|n| *n > 0)?));
            }
            // Eigen's vectors have one subscript, its matrices none.
            "Eigen::Matrix" | "Eigen::Array" => match plain(&class)? {
                Plain { element, extents: own, .. } if own.len() == 1 && (own[0].is_some() || !in_array) => {
                    levels.push(class);
                    return Some((levels, [extents, own].concat(), element));
                }
                _ => return None,
            },
            _ => return None,
        }
        let element = arguments.first()?.clone();
        levels.push(std::mem::replace(&mut class, element));
    }
    None
}

struct Plain {
    element: String,
    extents: Vec<Option<i64>>,
    row_major: bool,
}

/// `Eigen::Matrix<double, -1, 1, 0, -1, 1>`; a vector has one extent.
fn plain(class: &str) -> Option<Plain> {
    let (name, arguments) = template(class)?;
    if name != "Eigen::Matrix" && name != "Eigen::Array" {
        return None;
    }
    let [element, rows, columns, options, most @ ..] = arguments.as_slice() else { return None };
    // Matrices with an upper bound of their own have no room for what a call brings.
    if most.iter().zip([rows, columns]).any(|(most, extent)| most != extent) {
        return None;
    }
    let extent = |text: &str| Some(Some(number(text)?).filter(|n| *n >= 0));
    let (rows, columns, row_major) = (extent(rows)?, extent(columns)?, number(options)? & 1 == 1);
    let extents = match (rows, columns) {
        (rows, Some(1)) => vec![rows],
        (Some(1), columns) => vec![columns],
        both => vec![both.0, both.1],
    };
    Some(Plain { element: element.clone(), extents, row_major })
}

/// Name and arguments of a template's instance, without inline namespaces of the library.
fn template(class: &str) -> Option<(String, Vec<String>)> {
    let (name, rest) = class.trim().split_once('<')?;
    let inner = rest.trim_end().strip_suffix('>')?;
    let (mut arguments, mut depth, mut start) = (Vec::new(), 0_i32, 0);
    for (at, mark) in inner.char_indices() {
        match mark {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                arguments.push(inner[start..at].trim().to_owned());
                start = at + 1;
            }
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    arguments.push(inner[start..].trim().to_owned());
    let name = name.replace("std::__1::", "std::").replace("std::__cxx11::", "std::");
    Some((name, arguments))
}

/// The type and whether it was `const`, on either side.
fn without_const(text: &str) -> (&str, bool) {
    let text = text.trim();
    let bare = text.strip_suffix(" const").or_else(|| text.strip_prefix("const "));
    (bare.unwrap_or(text).trim(), bare.is_some())
}

/// A number as template arguments have it: `3ul`, `-1`, `(int)-1`; the largest stands for none.
fn number(text: &str) -> Option<i64> {
    let text = text.rsplit(')').next().unwrap_or(text).trim_end_matches(['u', 'l', 'U', 'L']);
    text.parse::<i64>().ok().or_else(|| (text.parse::<u64>() == Ok(u64::MAX)).then_some(-1))
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

fn element_type(name: &str) -> Option<DType> {
    Some(match name {
        "double" => DType::F64,
        "float" => DType::F32,
        "signed char" | "char" => DType::I8,
        "short" => DType::I16,
        "int" => DType::I32,
        "long" | "long long" => DType::I64,
        "unsigned char" => DType::U8,
        "unsigned short" => DType::U16,
        "unsigned int" | "unsigned" => DType::U32,
        "unsigned long" | "unsigned long long" => DType::U64,
        "bool" => DType::Bool,
        _ => return None,
    })
}

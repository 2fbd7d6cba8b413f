//! The shapes of one call: symbols get their values from the shapes of the inputs.
//!
//! In: a [`CallPlan`], the shapes that the caller gives, the option `sizes`. Out: the shape of every
//! argument and the value of every size, or a [`ShapeError`]. This stands on the path of every call:
//! on success it allocates its result and one list of bindings, and no text.

pub mod batch;
pub(crate) mod dims;

use crate::cuda::Launch;
use crate::{Arg, CallPlan, DType, Dim, Role};
use dims::{Trouble, evaluate, solve, unknown};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the shapes of the inputs imply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolved {
    /// Shape of each of `plan.args`; empty for scalars and sizes.
    pub shapes: Vec<Vec<i64>>,
    /// Value of each of `plan.args` that is a [`Role::Size`], else 0.
    pub sizes: Vec<i64>,
    /// How a kernel is launched; `None` for other functions.
    pub launch: Option<Launch>,
}

impl Resolved {
    /// Elements of one of `plan.args`.
    pub fn elements(&self, arg: usize) -> usize {
        self.shapes[arg].iter().product::<i64>().max(0) as usize
    }
}

/// A shape that the signature does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ShapeError {
    /// The argument whose shape or value is wrong, or `sizes`, or `inputs` for their number.
    pub argument: String,
    /// What the signature and the other shapes ask for.
    pub expected: String,
    /// What was given or follows.
    pub got: String,
    message: String,
}

/// Resolves the shapes of one call; `inputs` are in the order of `plan.inputs`.
///
/// # Errors
///
/// An input whose rank or dimensions contradict the signature, `sizes` or another input, and an
/// output or size that would be negative or too large.
pub fn resolve(plan: &CallPlan, inputs: &[&[i64]], sizes: &BTreeMap<String, i64>) -> Result<Resolved, ShapeError> {
    if inputs.len() != plan.inputs.len() {
        return Err(wrong_number(plan, inputs.len()));
    }
    let mut call = Call { plan, inputs, bindings: Vec::with_capacity(sizes.len() + 4) };
    call.bindings.extend(sizes.iter().map(|(name, value)| (name.as_str(), *value, Source::Sizes)));
    call.bind_symbols()?;
    call.bind_expressions()?;
    call.check_expressions()?;
    call.resolved()
}

/// Where a symbol got its value.
#[derive(Clone, Copy)]
enum Source {
    Sizes,
    /// A dimension of an argument, or its number of elements if it is flat.
    Input {
        arg: usize,
        dim: usize,
    },
}

struct Call<'a> {
    plan: &'a CallPlan,
    inputs: &'a [&'a [i64]],
    bindings: Vec<(&'a str, i64, Source)>,
}

impl<'a> Call<'a> {
    /// Each input's index into the arguments, its argument and the given shape.
    fn given(&self) -> impl Iterator<Item = (usize, &'a Arg, &'a [i64])> + use<'a> {
        let plan = self.plan;
        plan.inputs.iter().zip(self.inputs).map(move |(&i, shape)| (i, &plan.args[i], *shape))
    }

    /// Every dimension of every input that a signature declares, with its given size.
    fn declared(&self) -> impl Iterator<Item = (usize, usize, &'a Dim, i64)> + use<'a> {
        self.given().filter(|(_, arg, _)| !arg.flat).flat_map(|(i, arg, shape)| {
            let dims = arg.shape.iter().zip(shape).enumerate();
            dims.map(move |(d, (dim, &got))| (i, d, dim, got))
        })
    }

    fn value(&self, name: &str) -> Option<i64> {
        self.binding(name).map(|(_, value, _)| *value)
    }

    fn binding(&self, name: &str) -> Option<&(&'a str, i64, Source)> {
        self.bindings.iter().find(|(bound, ..)| *bound == name)
    }

    fn bind_symbols(&mut self) -> Result<(), ShapeError> {
        for (i, arg, shape) in self.given() {
            let usable = shape.iter().all(|&d| d >= 0);
            if !usable || (!arg.flat && shape.len() != arg.shape.len()) {
                return Err(wrong_shape(arg, shape));
            }
            if arg.flat {
                let count = elements(arg.dtype, shape).ok_or_else(|| too_large(arg, shape))?;
                if let Some(symbol) = arg.shape.first() {
                    self.bind(symbol, count, i, 0)?;
                }
                continue;
            }
            for (d, dim) in arg.shape.iter().enumerate() {
                self.bind(dim, shape[d], i, d)?;
            }
        }
        Ok(())
    }

    /// Binds a dimension that is a symbol; others wait until all symbols are bound.
    fn bind(&mut self, dim: &'a Dim, got: i64, arg: usize, at: usize) -> Result<(), ShapeError> {
        let Dim::Sym(name) = dim else { return Ok(()) };
        let source = Source::Input { arg, dim: at };
        match self.binding(name) {
            None => self.bindings.push((name, got, source)),
            Some(&(_, expected, _)) if expected == got => {}
            Some(&(_, expected, first)) => {
                return Err(self.contradiction(name, (expected, first), (got, arg, at)));
            }
        }
        Ok(())
    }

    /// Solves `2*n` and the like for symbols that stand nowhere alone, until nothing new follows.
    fn bind_expressions(&mut self) -> Result<(), ShapeError> {
        loop {
            let before = self.bindings.len();
            for (arg, at, dim, got) in self.declared() {
                let Some(name) = unknown(dim, &|name| self.value(name).is_some()) else {
                    continue;
                };
                let value = solve(dim, got, &|name| self.value(name))
                    .map_err(|trouble| self.unsolved(trouble, arg, dim, got))?;
                self.bindings.push((name, value, Source::Input { arg, dim: at }));
            }
            if self.bindings.len() == before {
                return Ok(());
            }
        }
    }

    fn check_expressions(&self) -> Result<(), ShapeError> {
        for (i, at, dim, got) in self.declared() {
            if matches!(dim, Dim::Sym(_)) {
                continue;
            }
            let expected = self.evaluate(&self.plan.args[i], dim)?;
            if expected != got {
                return Err(self.wrong_dimension(i, at, dim, expected, got));
            }
        }
        Ok(())
    }

    fn evaluate(&self, arg: &Arg, dim: &Dim) -> Result<i64, ShapeError> {
        evaluate(dim, &|name| self.value(name)).map_err(|trouble| self.no_value(arg, dim, trouble))
    }

    fn resolved(&self) -> Result<Resolved, ShapeError> {
        let args = &self.plan.args;
        let mut resolved =
            Resolved { shapes: Vec::with_capacity(args.len()), sizes: vec![0; args.len()], launch: None };
        for (i, arg) in args.iter().enumerate() {
            if arg.role == Role::Size {
                resolved.sizes[i] = self.size(arg)?;
                resolved.shapes.push(Vec::new());
                continue;
            }
            let given = self.plan.inputs.iter().position(|&input| input == i);
            resolved.shapes.push(match given {
                Some(position) => self.inputs[position].to_vec(),
                None => self.computed(arg)?,
            });
        }
        Ok(resolved)
    }

    fn computed(&self, arg: &Arg) -> Result<Vec<i64>, ShapeError> {
        let first_flat = || self.given().find(|(_, input, _)| input.flat);
        if arg.flat
            && let Some((_, _, shape)) = first_flat()
        {
            return Ok(shape.to_vec());
        }
        let dims = arg.shape.iter();
        let shape = dims.map(|dim| self.evaluate(arg, dim)).collect::<Result<Vec<i64>, _>>()?;
        if let Some(at) = shape.iter().position(|&d| d < 0) {
            return Err(self.negative(arg, &arg.shape[at], shape[at]));
        }
        match elements(arg.dtype, &shape) {
            Some(_) => Ok(shape),
            None => Err(too_large(arg, &shape)),
        }
    }

    fn size(&self, arg: &Arg) -> Result<i64, ShapeError> {
        let value = match arg.shape.first() {
            Some(dim) => self.evaluate(arg, dim)?,
            None => 0,
        };
        let (low, high) = range(arg.dtype);
        if (low..=high).contains(&i128::from(value)) {
            return Ok(value);
        }
        let (name, dtype) = (&arg.name, arg.dtype);
        let message = format!(
            "`{name}` is {value}, which does not fit its type {dtype}: use smaller arrays, or a \
             wider integer in the source"
        );
        Err(error(name, format!("{low} to {high}"), value, message))
    }
}

/// The errors of a call; only built when there is one.
impl Call<'_> {
    /// `` `x[n]` (dimension 0) ``
    fn place(&self, source: Source) -> String {
        match source {
            Source::Sizes => "`sizes`".to_owned(),
            Source::Input { arg, .. } if self.plan.args[arg].flat => {
                format!("the number of elements of `{}`", self.plan.args[arg].name)
            }
            Source::Input { arg, dim } => {
                let arg = &self.plan.args[arg];
                match arg.batched {
                    true => format!("`{}` (dimension {dim} after `...`)", arg.spelled()),
                    false => format!("`{}` (dimension {dim})", arg.spelled()),
                }
            }
        }
    }

    fn contradiction(
        &self,
        name: &str,
        (expected, first): (i64, Source),
        (got, arg, dim): (i64, usize, usize),
    ) -> ShapeError {
        let argument = &self.plan.args[arg];
        let here = self.place(Source::Input { arg, dim });
        let message = match first {
            Source::Input { arg: other, .. } if argument.flat => format!(
                "`{}` has {got} elements but `{}` has {expected}: without a signature all arrays \
                 have the same number of elements; give one such as \"{}\" with the real shapes",
                argument.name, self.plan.args[other].name, self.plan.signature
            ),
            _ => format!("`{name}` is {expected} in {} but {got} in {here}: correct one of them", self.place(first)),
        };
        error(&argument.name, expected, got, message)
    }

    /// ``, where `n` is 3 in `x[n]` (dimension 0)``, or nothing if there are no symbols.
    fn where_symbols(&self, dim: &Dim) -> String {
        let mut seen: Vec<&str> = Vec::new();
        dims::each_symbol(dim, &mut |name| {
            if !seen.contains(&name) {
                seen.push(name);
            }
        });
        let known = seen.iter().filter_map(|name| self.binding(name));
        let where_text: Vec<String> =
            known.map(|(name, value, source)| format!("`{name}` is {value} in {}", self.place(*source))).collect();
        if where_text.is_empty() { String::new() } else { format!(", where {}", where_text.join(" and ")) }
    }

    fn wrong_dimension(&self, i: usize, at: usize, dim: &Dim, expected: i64, got: i64) -> ShapeError {
        let arg = &self.plan.args[i];
        let here = self.place(Source::Input { arg: i, dim: at });
        let where_text = self.where_symbols(dim);
        let expectation = match dim {
            Dim::Int(_) => format!("{expected}"),
            _ => format!("`{dim}` = {expected}{where_text}"),
        };
        let message = format!("{here} is {got}, expected {expectation}");
        error(&arg.name, expected, got, message)
    }

    fn unsolved(&self, trouble: Trouble, arg: usize, dim: &Dim, got: i64) -> ShapeError {
        let argument = &self.plan.args[arg];
        if trouble != Trouble::NoSolution {
            return self.no_value(argument, dim, trouble);
        }
        let message = format!(
            "`{dim}` = {got} in `{}` has no one integer solution{}: correct the shape, or give the \
             symbol in `sizes`",
            argument.spelled(),
            self.where_symbols(dim)
        );
        error(&argument.name, format!("`{dim}`"), got, message)
    }

    fn no_value(&self, arg: &Arg, dim: &Dim, trouble: Trouble) -> ShapeError {
        let where_text = self.where_symbols(dim);
        let (got, reason) = match trouble {
            Trouble::Unbound(name) => (
                format!("no value of `{name}`"),
                format!("needs `{name}`, which follows from no shape: give sizes={{\"{name}\": ...}}"),
            ),
            Trouble::ZeroDivisor => ("a division by zero".to_owned(), format!("divides by zero{where_text}")),
            Trouble::Overflow => ("an overflow".to_owned(), format!("exceeds 64 bits{where_text}")),
            Trouble::NoSolution => ("no solution".to_owned(), format!("has no solution{where_text}")),
        };
        let message = format!("`{dim}` of `{}` {reason}", arg.name);
        error(&arg.name, format!("`{dim}`"), got, message)
    }

    fn negative(&self, arg: &Arg, dim: &Dim, got: i64) -> ShapeError {
        let message = format!(
            "`{dim}` of `{}` is {got}{}: a dimension cannot be negative",
            arg.spelled(),
            self.where_symbols(dim)
        );
        error(&arg.name, "0 or more", got, message)
    }
}

/// Number of elements, if an array with so many can be addressed.
fn elements(dtype: DType, shape: &[i64]) -> Option<i64> {
    // An empty array is small whatever its other dimensions are.
    if shape.contains(&0) {
        return Some(0);
    }
    let count = shape.iter().try_fold(1_i64, |count, &d| count.checked_mul(d))?;
    let bytes = count.checked_mul(i64::try_from(dtype.size()).ok()?)?;
    isize::try_from(bytes).ok().map(|_| count)
}

/// The values of an integer type.
fn range(dtype: DType) -> (i128, i128) {
    let bits = dtype.size() * 8;
    match dtype {
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => (0, (1 << bits) - 1),
        DType::Bool | DType::F32 | DType::F64 => (0, 1),
    }
}

fn error(argument: &str, expected: impl ToString, got: impl ToString, message: String) -> ShapeError {
    let argument = argument.to_owned();
    ShapeError { argument, expected: expected.to_string(), got: got.to_string(), message }
}

fn wrong_number(plan: &CallPlan, got: usize) -> ShapeError {
    let expected = plan.inputs.len();
    let names: Vec<String> = plan.inputs.iter().map(|&i| format!("`{}`", plan.args[i].name)).collect();
    let list = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let message = format!("expected {} ({list}), got {got}", crate::names::counted(expected, "input"));
    error("inputs", expected, got, message)
}

fn wrong_shape(arg: &Arg, shape: &[i64]) -> ShapeError {
    let (name, got) = (&arg.name, format!("{shape:?}"));
    if shape.iter().any(|&d| d < 0) {
        let message = format!("`{name}` has the shape {got}: a dimension cannot be negative");
        return error(name, "0 or more", got, message);
    }
    let expected = match arg.shape.len() {
        0 => "it is a scalar, expected the shape []".to_owned(),
        1 => format!("expected 1 dimension, `{}`", arg.spelled()),
        rank => format!("expected {rank} dimensions, `{}`", arg.spelled()),
    };
    let message = format!("`{name}` has the shape {got}: {expected}");
    let dims: Vec<String> = arg.shape.iter().map(Dim::to_string).collect();
    error(name, format!("[{}]", dims.join(",")), got, message)
}

fn too_large(arg: &Arg, shape: &[i64]) -> ShapeError {
    let name = &arg.name;
    let message = format!("`{name}` with the shape {shape:?} is larger than any memory: use smaller arrays");
    error(name, "an array that fits memory", format!("{shape:?}"), message)
}

#[cfg(test)]
#[path = "shapes/tests.rs"]
mod tests;

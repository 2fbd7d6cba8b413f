//! Dimension expressions: evaluation, inversion for one unknown symbol, and their spelling.
//!
//! In: a [`Dim`] and the values of its symbols. Out: a number, the unknown symbol's value, or text.

use crate::Dim;
use std::fmt;

/// Why a dimension has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble<'a> {
    /// This symbol has no value.
    Unbound(&'a str),
    /// A divisor is zero.
    ZeroDivisor,
    /// The value does not fit 64 bits.
    Overflow,
    /// No integer solves the equation (`2*n` = 5), or more than one does (`0*n` = 0).
    NoSolution,
}

/// Value of `dim`, where `value` gives the values of symbols.
pub(crate) fn evaluate<'a>(dim: &'a Dim, value: &impl Fn(&str) -> Option<i64>) -> Result<i64, Trouble<'a>> {
    let both = |a: &'a Dim, b: &'a Dim| Ok((evaluate(a, value)?, evaluate(b, value)?));
    let exact = match dim {
        Dim::Int(number) => Some(*number),
        Dim::Sym(name) => return value(name).ok_or(Trouble::Unbound(name)),
        Dim::Add(a, b) => both(a, b).map(|(a, b)| a.checked_add(b))?,
        Dim::Sub(a, b) => both(a, b).map(|(a, b)| a.checked_sub(b))?,
        Dim::Mul(a, b) => both(a, b).map(|(a, b)| a.checked_mul(b))?,
        Dim::FloorDiv(a, b) => match both(a, b)? {
            (_, 0) => return Err(Trouble::ZeroDivisor),
            (a, b) => floor_div(a, b),
        },
    };
    exact.ok_or(Trouble::Overflow)
}

/// Quotient rounded towards minus infinity; `None` if it overflows. `b` is not zero.
fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

/// The one symbol of `dim` that `known` does not hold, if `dim` = number can be solved for it: it
/// occurs once, and only `+`, `-` and `*` lead to it.
pub(crate) fn unknown<'a>(dim: &'a Dim, known: &impl Fn(&str) -> bool) -> Option<&'a str> {
    match dim {
        Dim::Int(_) => None,
        Dim::Sym(name) => (!known(name)).then_some(name.as_str()),
        Dim::Add(a, b) | Dim::Sub(a, b) | Dim::Mul(a, b) => match (is_known(a, known), is_known(b, known)) {
            (false, true) => unknown(a, known),
            (true, false) => unknown(b, known),
            (false, false) => power_of(dim, known),
            (true, true) => None,
        },
        Dim::FloorDiv(..) => None,
    }
}

/// The one symbol without a value of a dimension that grows with it, `n*n*n` or `(n+1)*(n+1)`: it can be solved by bisection.
fn power_of<'a>(dim: &'a Dim, known: &impl Fn(&str) -> bool) -> Option<&'a str> {
    match dim {
        Dim::Int(_) | Dim::Sub(..) | Dim::FloorDiv(..) => None,
        Dim::Sym(name) => (!known(name)).then_some(name.as_str()),
        Dim::Add(a, b) | Dim::Mul(a, b) => {
            let grows = |side: &'a Dim| match is_known(side, known) {
                // Numbers may be negative, symbols that have a value may be 0.
                true => matches!(side, Dim::Int(n) if *n > 0).then_some(None),
                false => power_of(side, known).map(Some),
            };
            match (grows(a)?, grows(b)?) {
                (Some(one), Some(other)) => (one == other).then_some(one),
                (one, other) => one.or(other),
            }
        }
    }
}

/// The number, 0 or more, for which a dimension that grows with its one unknown symbol is `target`.
fn root<'a>(dim: &'a Dim, target: i64, value: &impl Fn(&str) -> Option<i64>) -> Result<i64, Trouble<'a>> {
    let (mut low, mut high) = (0, target.max(0));
    while low <= high {
        let middle = low + (high - low) / 2;
        let with = |name: &str| value(name).or(Some(middle));
        match evaluate(dim, &with) {
            Ok(found) if found == target => return Ok(middle),
            Ok(found) if found < target => low = middle + 1,
            Ok(_) | Err(Trouble::Overflow) => high = middle - 1,
            Err(_) => return Err(Trouble::NoSolution),
        }
    }
    Err(Trouble::NoSolution)
}

fn is_known(dim: &Dim, known: &impl Fn(&str) -> bool) -> bool {
    match dim {
        Dim::Int(_) => true,
        Dim::Sym(name) => known(name),
        Dim::Add(a, b) | Dim::Sub(a, b) | Dim::Mul(a, b) | Dim::FloorDiv(a, b) => {
            is_known(a, known) && is_known(b, known)
        }
    }
}

/// Value of the one [`unknown`] symbol of `dim` for which `dim` is `target`.
pub(crate) fn solve<'a>(dim: &'a Dim, target: i64, value: &impl Fn(&str) -> Option<i64>) -> Result<i64, Trouble<'a>> {
    let known = |name: &str| value(name).is_some();
    if let Dim::Add(a, b) | Dim::Mul(a, b) = dim
        && !is_known(a, &known)
        && !is_known(b, &known)
    {
        return root(dim, target, value);
    }
    let (unknown_side, target): (&Dim, _) = match dim {
        Dim::Sym(_) => return Ok(target),
        Dim::Add(a, b) => {
            let (side, other) = sides(a, b, &known);
            (side, target.checked_sub(evaluate(other, value)?))
        }
        Dim::Sub(a, b) if is_known(b, &known) => (a, target.checked_add(evaluate(b, value)?)),
        Dim::Sub(a, b) => (b, evaluate(a, value)?.checked_sub(target)),
        Dim::Mul(a, b) => {
            let (side, other) = sides(a, b, &known);
            match evaluate(other, value)? {
                0 => return Err(Trouble::NoSolution),
                factor if target.checked_rem(factor) == Some(0) => (side, target.checked_div(factor)),
                _ => return Err(Trouble::NoSolution),
            }
        }
        Dim::Int(_) | Dim::FloorDiv(..) => return Err(Trouble::NoSolution),
    };
    solve(unknown_side, target.ok_or(Trouble::Overflow)?, value)
}

/// The side with the unknown symbol, then the other.
fn sides<'a>(a: &'a Dim, b: &'a Dim, known: &impl Fn(&str) -> bool) -> (&'a Dim, &'a Dim) {
    if is_known(b, known) { (a, b) } else { (b, a) }
}

/// Calls `visit` with every symbol of `dim`, in order of appearance.
pub(crate) fn each_symbol<'a>(dim: &'a Dim, visit: &mut impl FnMut(&'a str)) {
    match dim {
        Dim::Int(_) => {}
        Dim::Sym(name) => visit(name),
        Dim::Add(a, b) | Dim::Sub(a, b) | Dim::Mul(a, b) | Dim::FloorDiv(a, b) => {
            each_symbol(a, visit);
            each_symbol(b, visit);
        }
    }
}

/// `A[m,n]`, `x[...,n]`, or just the name where there are no dimensions.
pub(crate) fn spell(name: &str, shape: &[Dim], batched: bool) -> String {
    let batch = batched.then(|| "...".to_owned());
    let dims: Vec<String> = batch.into_iter().chain(shape.iter().map(Dim::to_string)).collect();
    if dims.is_empty() {
        return name.to_owned();
    }
    format!("{name}[{}]", dims.join(","))
}

impl fmt::Display for Dim {
    /// As in a signature, with no more parentheses than it needs to be read back as the same tree.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (a, mark, b) = match self {
            Dim::Int(number) => return write!(f, "{number}"),
            Dim::Sym(name) => return f.write_str(name),
            Dim::Add(a, b) => (a, "+", b),
            Dim::Sub(a, b) => (a, "-", b),
            Dim::Mul(a, b) => (a, "*", b),
            Dim::FloorDiv(a, b) => (a, "//", b),
        };
        write_side(f, a, binding(a) < binding(self))?;
        f.write_str(mark)?;
        write_side(f, b, binding(b) <= binding(self))
    }
}

fn write_side(f: &mut fmt::Formatter<'_>, side: &Dim, parentheses: bool) -> fmt::Result {
    if parentheses { write!(f, "({side})") } else { write!(f, "{side}") }
}

/// How tightly the operator of `dim` binds.
fn binding(dim: &Dim) -> u8 {
    match dim {
        Dim::Add(..) | Dim::Sub(..) => 1,
        Dim::Mul(..) | Dim::FloorDiv(..) => 2,
        Dim::Int(_) | Dim::Sym(_) => 3,
    }
}

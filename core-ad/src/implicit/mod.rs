//! The rule of a solver by the implicit function theorem: from the prototypes of the solver and of its residual to a C program
//! that takes the solver's place in derivatives.
//!
//! The solver is called for its values alone. At the values x0 where it ends two chord steps x - J⁻¹ (r(x, p) - r(x0, p0)) follow, with
//! the Jacobian J = ∂r/∂x at (x0, p0) as a constant. They leave the values as they are, and they have the solution's
//! derivatives by the parameters p: after the first step x(p) is right to first order, after the second to second order.
//! So Enzyme differentiates the residual alone, and J is made by its forward mode, a column at a time.

mod text;

use crate::prototype::c_name;
use crate::{Access, DType, Param, ParamType, Prototype, ReturnType};
use serde::{Deserialize, Serialize};

/// Of the programs, for keys: a change of what [`program`] writes changes it.
pub const VERSION: &str = "3";

/// What vanishes at the solution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The function itself.
    #[default]
    Root,
    /// The function less its argument.
    FixedPoint,
    /// The function's gradient.
    Minimum,
}

/// The number of unknowns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Size {
    /// Always the same.
    Number(u32),
    /// The value of an integer parameter.
    Parameter(String),
}

/// How large a Newton step from a solution may be, relative to the scale of the unknown.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tolerance(pub f64);

impl PartialEq for Tolerance {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Tolerance {}

impl Tolerance {
    /// Where none is given. Solvers end at relative errors of 1e-6 and less, those of single precision at 1e-5; and the first gradient is
    /// compared with finite differences, which a coarser solution would spoil.
    fn usual(dtype: DType) -> Self {
        Tolerance(if dtype == DType::F32 { 1e-3 } else { 1e-4 })
    }
}

/// The rule of one solver, as the option `derivatives` has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Implicit {
    /// The function that says what is solved.
    pub implicit: String,
    /// What of it vanishes.
    #[serde(default)]
    pub kind: Kind,
    /// The parameter of the solver with the solution, where that is in doubt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// The number of unknowns, where that is in doubt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// How exact a solution has to be; as `Tolerance::usual` where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Tolerance>,
}

/// Symbols of the program for the rule of a given number.
pub struct Names {
    /// Takes the solver's place.
    pub solver: String,
    /// The program's other functions, to which calls of the solver stay what they are.
    pub inside: String,
}

/// The names of a rule.
pub fn names(number: usize) -> Names {
    Names { solver: format!("ffgrad_implicit_solver_{number}"), inside: format!("ffgrad_implicit_point_{number}") }
}

/// How the residual takes its unknowns and gives its values.
#[derive(Clone, Copy, PartialEq)]
enum Residual {
    /// The last pointer is written to.
    Written,
    /// The function's value.
    Returned,
}

/// The two prototypes, matched.
struct Matched<'a> {
    solver: &'a Prototype,
    residual: &'a Prototype,
    kind: Kind,
    dtype: DType,
    /// Position in the solver; `None` where it is its value.
    unknown: Option<usize>,
    /// Position in the residual.
    x: usize,
    /// Position in the residual, where that writes.
    r: Option<usize>,
    form: Residual,
    /// An expression over the solver's parameters.
    count: String,
    tolerance: Tolerance,
}

/// A program, and what messages about it say.
pub struct Program {
    /// In C.
    pub text: String,
    /// How exact a solution has to be.
    pub tolerance: Tolerance,
    /// The parameter of the solver with the unknowns; `None` where it is its value.
    pub unknown: Option<String>,
}

/// The program, or what does not fit.
///
/// # Errors
///
/// In the user's terms, with the names of parameters.
pub fn program(rule: &Implicit, solver: &Prototype, residual: &Prototype, number: usize) -> Result<Program, String> {
    let matched = matched(rule, solver, residual)?;
    let unknown = matched.unknown.map(|at| solver.params[at].name.clone());
    Ok(Program { text: matched.program(number), tolerance: matched.tolerance, unknown })
}

fn float(param: &Param) -> Option<DType> {
    match param.ty {
        ParamType::Value { dtype } | ParamType::Pointer { dtype, .. } if dtype.is_float() => Some(dtype),
        _ => None,
    }
}

fn is_pointer(param: &Param) -> bool {
    matches!(param.ty, ParamType::Pointer { .. })
}

fn is_integer(param: &Param) -> bool {
    matches!(param.ty, ParamType::Value { dtype } | ParamType::Pointer { dtype, .. } if !dtype.is_float() && dtype != DType::Bool)
}

fn matched<'a>(rule: &Implicit, solver: &'a Prototype, residual: &'a Prototype) -> Result<Matched<'a>, String> {
    let (s, r) = (&solver.function, &residual.function);
    for (prototype, param) in [solver, residual].iter().flat_map(|p| p.params.iter().map(move |param| (p, param))) {
        let passed_on = prototype.function == *s && param.spelled.ends_with('*');
        if param.ty == ParamType::Unsupported && !passed_on {
            return Err(format!(
                "`{}` of `{}` is a `{}`; it takes numbers and pointers to numbers",
                param.name, prototype.function, param.spelled
            ));
        }
    }
    for prototype in [solver, residual] {
        let dummies = prototype.fortran.iter().flat_map(|procedure| &procedure.dummies);
        let is_odd = |(param, dummy): &(&Param, &crate::fortran::Dummy)| {
            dummy.descriptor || dummy.optional || param.text().is_some()
        };
        if let Some((param, _)) = prototype.params.iter().zip(dummies).find(is_odd) {
            return Err(format!(
                "`{}` of `{}` is optional, a text or has an assumed shape, `x(:)`: give it an explicit shape, `x(n)`",
                param.name, prototype.function
            ));
        }
    }
    let returned = match residual.returns {
        ReturnType::Value { dtype } if dtype.is_float() => Some(dtype),
        ReturnType::Void | ReturnType::Value { .. } => None,
        _ => return Err(format!("`{r}` returns neither a number nor nothing")),
    };
    let form = if returned.is_some() { Residual::Returned } else { Residual::Written };
    if rule.kind == Kind::Minimum && form == Residual::Written {
        return Err(format!("`{r}` is to be minimised, so it returns the number that is smallest at the solution"));
    }
    // What the residual has beyond the solver's parameters: the values that it writes, and x where the solver returns that.
    let further: Vec<usize> =
        (0..residual.params.len()).filter(|&i| solver.param(&residual.params[i].name).is_none()).collect();
    let by_value = match solver.returns {
        ReturnType::Value { dtype } if dtype.is_float() => Some(dtype),
        _ => None,
    };
    let unknown = match &rule.unknown {
        Some(name) => Some(solver.param(name).ok_or_else(|| format!("`{s}` has no parameter `{name}`"))?.0),
        None if by_value.is_some() => None,
        None => Some(unknown(solver, residual)?),
    };
    let wanted = usize::from(unknown.is_none()) + usize::from(form == Residual::Written);
    if further.len() != wanted {
        let names: Vec<String> = further.iter().map(|&i| format!("`{}`", residual.params[i].name)).collect();
        return Err(format!(
            "`{r}` takes parameters of `{s}` by the same names and {}; beyond those of `{s}` it has {}",
            match (unknown.is_none(), form) {
                (true, Residual::Returned) => "one more, the unknown",
                (true, Residual::Written) => "two more, the unknown and a pointer for its value",
                (false, Residual::Written) => "one more, a pointer for its values",
                (false, Residual::Returned) => "none else",
            },
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        ));
    }
    let is_written = |&&i: &&usize| matches!(residual.params[i].access, Some(Access::Write | Access::ReadWrite));
    let values = match form {
        Residual::Returned => None,
        Residual::Written if further.len() == 1 => Some(further[0]),
        Residual::Written => further.iter().rev().find(|i| is_pointer(&residual.params[**i]) && is_written(i)).copied(),
    };
    if form == Residual::Written && values.is_none() {
        return Err(format!("`{r}` writes to none of its further parameters"));
    }
    let x = match unknown {
        Some(at) => residual.param(&solver.params[at].name).map(|(i, _)| i),
        None => further.iter().copied().find(|i| Some(*i) != values),
    };
    let Some(x) = x else { return Err(format!("`{r}` does not take the unknown of `{s}`")) };
    let dtype = match unknown {
        Some(at) => float(&solver.params[at]).filter(|_| is_pointer(&solver.params[at])),
        None => by_value,
    };
    let Some(dtype) = dtype else {
        return Err(format!("the unknown of `{s}` is neither its value nor a pointer to numbers"));
    };
    let same = [Some(x), values].into_iter().flatten().all(|i| float(&residual.params[i]) == Some(dtype));
    if !same
        || returned.is_some_and(|returned| returned != dtype)
        || values.is_some_and(|i| !is_pointer(&residual.params[i]))
    {
        return Err(format!("the unknown, and the values of `{r}`, are not all `{}`", c_name(dtype)));
    }
    for param in residual.params.iter().filter(|p| solver.param(&p.name).is_some()) {
        let own = solver.param(&param.name).map(|(_, own)| own);
        let fits = own.is_some_and(|own| is_pointer(own) == is_pointer(param) && own.ty_dtype() == param.ty_dtype());
        if !fits {
            return Err(format!("`{}` is a `{}` in `{r}` and has another type in `{s}`", param.name, param.spelled));
        }
    }
    let count = count(rule, solver, residual, unknown, form)?;
    let tolerance = rule.tolerance.unwrap_or_else(|| Tolerance::usual(dtype));
    if !(tolerance.0 > 0.0 && tolerance.0 <= 1.0) {
        return Err(format!("the tolerance is {}: it is relative, above 0 and at most 1", tolerance.0));
    }
    Ok(Matched { solver, residual, kind: rule.kind, dtype, unknown, x, r: values, form, count, tolerance })
}

/// The parameter of the solver with the solution: the only one that it writes and the residual takes.
fn unknown(solver: &Prototype, residual: &Prototype) -> Result<usize, String> {
    let is_candidate = |param: &Param| {
        let written = matches!(param.ty, ParamType::Pointer { constant: false, .. })
            && matches!(param.access, Some(Access::Write | Access::ReadWrite) | None);
        float(param).is_some() && written && residual.param(&param.name).is_some()
    };
    let found: Vec<usize> = (0..solver.params.len()).filter(|&i| is_candidate(&solver.params[i])).collect();
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(format!(
            "`{}` writes to no parameter that `{}` takes by the same name, and returns no number: the unknown has one name in both",
            solver.function, residual.function
        )),
        several => {
            let names: Vec<String> = several.iter().map(|&i| format!("`{}`", solver.params[i].name)).collect();
            Err(format!("any of {} may be the unknown of `{}`: add unknown=\"...\"", names.join(", "), solver.function))
        }
    }
}

/// The number of unknowns.
fn count(
    rule: &Implicit,
    solver: &Prototype,
    residual: &Prototype,
    unknown: Option<usize>,
    form: Residual,
) -> Result<String, String> {
    let value = |param: &Param, at: usize| match is_pointer(param) {
        true => format!("*a{at}"),
        false => format!("a{at}"),
    };
    let is_single = form == Residual::Returned && rule.kind != Kind::Minimum;
    if is_single && unknown.is_some() {
        let has_integers = solver.params.iter().any(is_integer);
        let is_one = rule.size == Some(Size::Number(1)) || (rule.size.is_none() && !has_integers);
        if !is_one {
            return Err(format!(
                "`{}` returns one number, and several unknowns need as many: write them to a further pointer, or \
                 add size=1 where there is one unknown",
                residual.function
            ));
        }
    }
    match &rule.size {
        Some(Size::Number(0)) => return Err("the number of unknowns is 0".to_owned()),
        Some(Size::Number(number)) => return Ok(number.to_string()),
        Some(Size::Parameter(name)) => {
            let found = solver.param(name).filter(|(_, param)| is_integer(param));
            let (at, param) =
                found.ok_or_else(|| format!("`{}` has no integer parameter `{name}`", solver.function))?;
            return Ok(value(param, at));
        }
        None => {}
    }
    if unknown.is_none() || is_single {
        return Ok("1".to_owned());
    }
    let both = |param: &&(usize, &Param)| is_integer(param.1) && residual.param(&param.1.name).is_some();
    let all: Vec<(usize, &Param)> = solver.params.iter().enumerate().collect();
    let found: Vec<&(usize, &Param)> = all.iter().filter(both).collect();
    match found.as_slice() {
        [(at, param)] => Ok(value(param, *at)),
        [] => Err(format!("`{}` has no integer that counts the unknowns: add size=NUMBER", solver.function)),
        several => {
            let names: Vec<String> = several.iter().map(|(_, param)| format!("`{}`", param.name)).collect();
            Err(format!(
                "any of {} may count the unknowns of `{}`: add size=\"...\"",
                names.join(", "),
                solver.function
            ))
        }
    }
}

impl Param {
    fn ty_dtype(&self) -> Option<DType> {
        match self.ty {
            ParamType::Value { dtype } | ParamType::Pointer { dtype, .. } => Some(dtype),
            ParamType::Unsupported => None,
        }
    }
}

#[cfg(test)]
mod tests;

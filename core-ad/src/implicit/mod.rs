//! The rule of a solver by the implicit function theorem: from the prototypes of the solver and of its residual to a C program
//! that takes the solver's place in derivatives.
//!
//! The solver is called for its values alone. At the values x0 where it ends two chord steps x - J⁻¹ (r(x, p) - r(x0, p0)) follow, with
//! the Jacobian J = ∂r/∂x at (x0, p0) as a constant. They leave the values as they are, and they have the solution's
//! derivatives by the parameters p: after the first step x(p) is right to first order, after the second to second order.
//! So Enzyme differentiates the residual alone, and J is made by its forward mode, a column at a time.

use crate::prototype::c_name;
use crate::{Access, DType, Param, ParamType, Prototype, ReturnType};
use serde::{Deserialize, Serialize};

/// Of the programs, for keys: a change of what [`program`] writes changes it.
pub const VERSION: &str = "2";

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
}

/// The program, or what does not fit.
///
/// # Errors
///
/// In the user's terms, with the names of parameters.
pub fn program(rule: &Implicit, solver: &Prototype, residual: &Prototype, number: usize) -> Result<String, String> {
    Ok(matched(rule, solver, residual)?.program(number))
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
    Ok(Matched { solver, residual, kind: rule.kind, dtype, unknown, x, r: values, form, count })
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
    if unknown.is_none() || (form == Residual::Returned && rule.kind != Kind::Minimum) {
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

/// A parameter as C declares it.
fn declared(param: &Param, name: &str) -> String {
    match param.ty {
        ParamType::Value { dtype } => format!("{} {name}", c_name(dtype)),
        ParamType::Pointer { dtype, .. } => format!("{} *{name}", c_name(dtype)),
        ParamType::Unsupported => format!("void *{name}"),
    }
}

fn returned(prototype: &Prototype) -> &'static str {
    match prototype.returns {
        ReturnType::Value { dtype } => c_name(dtype),
        _ => "void",
    }
}

impl Matched<'_> {
    fn declarations(prototype: &Prototype, prefix: &str) -> String {
        let each = prototype.params.iter().enumerate().map(|(i, param)| declared(param, &format!("{prefix}{i}")));
        let all = each.collect::<Vec<_>>().join(", ");
        if all.is_empty() { "void".to_owned() } else { all }
    }

    /// Parameters of the residual that are constants of the Jacobian, as the solver has them: position in the residual and
    /// expression.
    fn constants(&self) -> Vec<(usize, String)> {
        let others = (0..self.residual.params.len()).filter(|&i| i != self.x && Some(i) != self.r);
        others.filter_map(|i| Some((i, format!("a{}", self.solver.param(&self.residual.params[i].name)?.0)))).collect()
    }

    fn program(&self, number: usize) -> String {
        let Names { solver, inside } = names(number);
        let t = c_name(self.dtype);
        let constants = self.constants();
        let extra: String = constants
            .iter()
            .map(|(i, _)| format!(", {}", declared(&self.residual.params[*i], &format!("b{i}"))))
            .collect();
        let given: String = constants.iter().map(|(_, expression)| format!(", {expression}")).collect();
        let marked: String = constants.iter().map(|(_, expression)| format!(", enzyme_const, {expression}")).collect();
        let solver_params = Self::declarations(self.solver, "a");
        let has_value = self.solver.returns != ReturnType::Void;
        let value = returned(self.solver);
        let comma = if self.solver.params.is_empty() { "" } else { ", " };
        let (listed, own) = (if self.solver.params.is_empty() { "" } else { &solver_params }, self.count.clone());
        let arguments = |x: &str| {
            let each = (0..self.solver.params.len())
                .map(|i| if Some(i) == self.unknown { x.to_owned() } else { format!("a{i}") });
            each.collect::<Vec<_>>().join(", ")
        };
        let start = match self.unknown {
            Some(at) => format!("  memcpy(x, a{at}, (size_t)n * sizeof *x);\n"),
            None => String::new(),
        };
        let solve = match (self.unknown, has_value) {
            (None, _) => format!("  x[0] = ffgrad_given({});\n", arguments("")),
            (Some(_), true) => format!("  *value = ffgrad_given({});\n", arguments("x")),
            (Some(_), false) => format!("  ffgrad_given({});\n", arguments("x")),
        };
        let value_parameter =
            if self.unknown.is_some() && has_value { format!("{value} *value, ") } else { String::new() };
        let value_argument = if value_parameter.is_empty() { "" } else { "&value, " };
        let value_declared = if value_parameter.is_empty() { String::new() } else { format!("  {value} value;\n") };
        let finish = match self.unknown {
            None => format!("  {t} y = ffgrad_stepped(x, inverse, base, 0{given});\n"),
            Some(at) => format!("  for (long i = 0; i < n; i++) a{at}[i] = next[i];\n"),
        };
        let finish = match self.unknown {
            None => finish.replace(&format!("ffgrad_stepped(x, inverse, base, 0{given})"), "next[0]"),
            Some(_) => finish,
        };
        let end = match (self.unknown, has_value) {
            (None, _) => "  return y;\n",
            (Some(_), true) => "  return value;\n",
            (Some(_), false) => "",
        };
        format!(
            "/* The rule of `{s}` by the implicit function theorem, made by ffgrad; core-ad/src/implicit/mod.rs says why it is right. */\n\
             #include <ffgrad/derivatives.h>\n#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n\n\
             extern {value} ffgrad_given({solver_params}) __asm__(\"{solver_symbol}\");\n\
             extern {residual_value} ffgrad_said({residual_params}) __asm__(\"{residual_symbol}\");\n\
             extern int enzyme_dup, enzyme_const;\nextern void __enzyme_fwddiff_implicit_{number}(void *, ...);\n\n\
             {residual_function}\n\
             /* Values, the inverse of the Jacobian and the residual where the solver ends. */\n\
             __attribute__((noinline)) void {inside}({value_parameter}{t} *x, {t} *inverse, {t} *base{comma}{listed}) {{\n\
             \x20 long n = (long)({own});\n{start}{solve}\
             \x20 {t} *seed = malloc((size_t)n * sizeof *seed), *jacobian = malloc((size_t)n * (size_t)n * sizeof *jacobian);\n\
             \x20 {t} *column = malloc((size_t)n * sizeof *column);\n\
             \x20 for (long j = 0; j < n; j++) {{\n\
             \x20   for (long i = 0; i < n; i++) seed[i] = i == j, column[i] = 0;\n\
             \x20   __enzyme_fwddiff_implicit_{number}((void *)ffgrad_residual_{number}, enzyme_dup, x, seed, enzyme_dup, base, column, enzyme_const, n{marked});\n\
             \x20   for (long i = 0; i < n; i++) jacobian[i * n + j] = column[i];\n\
             \x20 }}\n\
             \x20 ffgrad_residual_{number}(x, base, n{given});\n\
             \x20 /* Gauss and Jordan, with the largest pivot of each column; a singular matrix has no inverse. */\n\
             \x20 for (long i = 0; i < n; i++)\n\
             \x20   for (long j = 0; j < n; j++) inverse[i * n + j] = i == j;\n\
             \x20 for (long k = 0; k < n; k++) {{\n\
             \x20   long p = k;\n\
             \x20   for (long i = k + 1; i < n; i++)\n\
             \x20     if (fabs(jacobian[i * n + k]) > fabs(jacobian[p * n + k])) p = i;\n\
             \x20   for (long j = 0; j < n && p != k; j++) {{\n\
             \x20     {t} s = jacobian[k * n + j];\n\
             \x20     jacobian[k * n + j] = jacobian[p * n + j], jacobian[p * n + j] = s;\n\
             \x20     s = inverse[k * n + j];\n\
             \x20     inverse[k * n + j] = inverse[p * n + j], inverse[p * n + j] = s;\n\
             \x20   }}\n\
             \x20   {t} pivot = jacobian[k * n + k] != 0 ? 1 / jacobian[k * n + k] : ({t})NAN;\n\
             \x20   for (long j = 0; j < n; j++) jacobian[k * n + j] *= pivot, inverse[k * n + j] *= pivot;\n\
             \x20   for (long i = 0; i < n; i++) {{\n\
             \x20     {t} f = jacobian[i * n + k];\n\
             \x20     if (i == k) continue;\n\
             \x20     for (long j = 0; j < n; j++) jacobian[i * n + j] -= f * jacobian[k * n + j], inverse[i * n + j] -= f * inverse[k * n + j];\n\
             \x20   }}\n\
             \x20 }}\n\
             \x20 free(seed), free(jacobian), free(column);\n}}\n\
             FFGRAD_INACTIVE({inside});\n\n\
             {value} {solver}({solver_params}) {{\n\
             \x20 long n = (long)({own});\n{value_declared}\
             \x20 /* Zeroed, and so their shadows: what only the inactive function writes to has a derivative of zero. */\n\
             \x20 {t} *x = calloc((size_t)n, sizeof *x), *inverse = calloc((size_t)n * (size_t)n, sizeof *inverse);\n\
             \x20 {t} *base = calloc((size_t)n, sizeof *base), *next = calloc((size_t)n, sizeof *next), *r = calloc((size_t)n, sizeof *r);\n\
             \x20 {inside}({value_argument}x, inverse, base{comma}{passed});\n\
             \x20 for (long i = 0; i < n; i++) next[i] = x[i];\n\
             \x20 for (int step = 0; step < 2; step++) {{\n\
             \x20   for (long i = 0; i < n; i++) r[i] = 0;\n\
             \x20   ffgrad_residual_{number}(next, r, n{given});\n\
             \x20   for (long i = 0; i < n; i++) {{\n\
             \x20     {t} sum = 0;\n\
             \x20     for (long j = 0; j < n; j++) sum += inverse[i * n + j] * (r[j] - base[j]);\n\
             \x20     next[i] -= sum;\n\
             \x20   }}\n\
             \x20 }}\n\
             {finish}\x20 free(x), free(inverse), free(base), free(next), free(r);\n{end}}}\n",
            s = self.solver.function,
            solver_symbol = self.solver.symbol,
            residual_symbol = self.residual.symbol,
            residual_value = returned(self.residual),
            residual_params = Self::declarations(self.residual, "b"),
            residual_function = self.residual_function(number, t, &extra),
            passed = arguments(&self.unknown.map(|at| format!("a{at}")).unwrap_or_default()),
        )
    }

    /// What vanishes: x, its values, n, and the other parameters of the residual.
    fn residual_function(&self, number: usize, t: &str, extra: &str) -> String {
        let by_pointer = |i: usize| is_pointer(&self.residual.params[i]);
        let call = |x: &str| {
            let each = (0..self.residual.params.len()).map(|i| match i {
                i if i == self.x && by_pointer(i) => x.to_owned(),
                i if i == self.x => format!("{x}[0]"),
                i if Some(i) == self.r => "r".to_owned(),
                i => format!("b{i}"),
            });
            format!("ffgrad_said({})", each.collect::<Vec<_>>().join(", "))
        };
        let less_x = "  for (long i = 0; i < n; i++) r[i] -= x[i];\n";
        let body = match (self.kind, self.form) {
            (Kind::Root, Residual::Written) => format!("  {};\n", call("x")),
            (Kind::FixedPoint, Residual::Written) => format!("  {};\n{less_x}", call("x")),
            (Kind::Root, Residual::Returned) => format!("  r[0] = {};\n", call("x")),
            (Kind::FixedPoint, Residual::Returned) => format!("  r[0] = {} - x[0];\n", call("x")),
            (Kind::Minimum, _) => {
                let constants: String = self.constants().iter().map(|(i, _)| format!(", enzyme_const, b{i}")).collect();
                format!(
                    "  for (long i = 0; i < n; i++) r[i] = 0;\n  \
                     __enzyme_autodiff_implicit_{number}((void *)ffgrad_objective_{number}, enzyme_dup, x, r{constants});\n"
                )
            }
        };
        let objective = match self.kind {
            Kind::Minimum => format!(
                "extern void __enzyme_autodiff_implicit_{number}(void *, ...);\n\
                 static {t} ffgrad_objective_{number}({t} *x{extra}) {{ return {}; }}\n",
                call("x")
            ),
            _ => String::new(),
        };
        format!("{objective}static void ffgrad_residual_{number}({t} *x, {t} *r, long n{extra}) {{\n{body}}}\n")
    }
}

#[cfg(test)]
mod tests;

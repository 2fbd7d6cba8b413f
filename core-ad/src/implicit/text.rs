//! The text of the program that takes a solver's place. `compile-driver/rules/include/ffgrad/implicit.h` has what all share.

use super::{Kind, Matched, Names, Residual, is_pointer, names};
use crate::prototype::c_name;
use crate::{DType, Param, ParamType, Prototype, ReturnType};

/// A parameter's type as C declares it.
fn type_of(param: &Param) -> String {
    match param.ty {
        ParamType::Value { dtype } => c_name(dtype).to_owned(),
        ParamType::Pointer { dtype, .. } => format!("{} *", c_name(dtype)),
        ParamType::Unsupported => "void *".to_owned(),
    }
}

/// A parameter as C declares it.
fn declared(param: &Param, name: &str) -> String {
    format!("{} {name}", type_of(param))
}

fn returned(prototype: &Prototype) -> &'static str {
    match prototype.returns {
        ReturnType::Value { dtype } => c_name(dtype),
        _ => "void",
    }
}

/// Each text, after what comes before it.
fn each<'t>(before: &str, texts: impl Iterator<Item = &'t String>) -> String {
    texts.map(|text| format!("{before}{text}")).collect()
}

/// What the residual takes beside the unknowns and the place of its values: constants of the Jacobian.
struct Constants {
    /// `, double b2, ...`
    declared: String,
    /// `, int, double, ...`: types for Enzyme's calls, whose arguments would else be promoted, a `float` to a `double`.
    types: String,
    /// `, a0, ...`: the solver's.
    given: String,
    /// `, enzyme_const, a0, ...`
    marked: String,
}

impl Matched<'_> {
    fn declarations(prototype: &Prototype, prefix: &str) -> String {
        let each = prototype.params.iter().enumerate().map(|(i, param)| declared(param, &format!("{prefix}{i}")));
        let all = each.collect::<Vec<_>>().join(", ");
        if all.is_empty() { "void".to_owned() } else { all }
    }

    /// Positions in the residual and expressions of the solver's.
    fn shared(&self) -> Vec<(usize, String)> {
        let others = (0..self.residual.params.len()).filter(|&i| i != self.x && Some(i) != self.r);
        others.filter_map(|i| Some((i, format!("a{}", self.solver.param(&self.residual.params[i].name)?.0)))).collect()
    }

    fn constants(&self) -> Constants {
        let shared = self.shared();
        let params = shared.iter().map(|(i, _)| &self.residual.params[*i]);
        let declarations: Vec<String> =
            shared.iter().map(|(i, _)| declared(&self.residual.params[*i], &format!("b{i}"))).collect();
        let types: Vec<String> = params.map(type_of).collect();
        Constants {
            declared: each(", ", declarations.iter()),
            types: each(", int, ", types.iter()),
            given: each(", ", shared.iter().map(|(_, expression)| expression)),
            marked: each(", enzyme_const, ", shared.iter().map(|(_, expression)| expression)),
        }
    }

    /// The solver's arguments, with another place for the unknowns.
    fn arguments(&self, x: &str) -> String {
        let count = self.solver.params.len();
        let each = (0..count).map(|i| if Some(i) == self.unknown { x.to_owned() } else { format!("a{i}") });
        each.collect::<Vec<_>>().join(", ")
    }

    pub(super) fn program(&self, number: usize) -> String {
        let constants = self.constants();
        format!(
            "/* The rule of `{solver}` by the implicit function theorem, made by ffgrad; core-ad/src/implicit/mod.rs says why it is right. */\n\
             #include <ffgrad/derivatives.h>\n#include <ffgrad/implicit.h>\n#include <stdbool.h>\n#include <stdint.h>\n\n\
             extern {value} ffgrad_given({solver_params}) __asm__(\"{solver_symbol}\");\n\
             extern {residual_value} ffgrad_said({residual_params}) __asm__(\"{residual_symbol}\");\n\
             extern int enzyme_dup, enzyme_const;\n\
             extern void __enzyme_fwddiff_implicit_{number}(void *, int, {t} *, {t} *, int, {t} *, {t} *, int, long{types});\n\n\
             {residual}\n{inside}\n{replacement}",
            solver = self.solver.function,
            value = returned(self.solver),
            solver_params = Self::declarations(self.solver, "a"),
            solver_symbol = self.solver.symbol,
            residual_value = returned(self.residual),
            residual_params = Self::declarations(self.residual, "b"),
            residual_symbol = self.residual.symbol,
            t = c_name(self.dtype),
            types = constants.types,
            residual = self.residual_function(number, &constants),
            inside = self.inside(number, &constants),
            replacement = self.replacement(number, &constants),
        )
    }

    /// What vanishes: x, its values, n, and the other parameters of the residual.
    fn residual_function(&self, number: usize, constants: &Constants) -> String {
        let t = c_name(self.dtype);
        let extra = &constants.declared;
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
                let own: String = self.shared().iter().map(|(i, _)| format!(", enzyme_const, b{i}")).collect();
                format!(
                    "  for (long i = 0; i < n; i++) r[i] = 0;\n  \
                     __enzyme_autodiff_implicit_{number}((void *)ffgrad_objective_{number}, enzyme_dup, x, r{own});\n"
                )
            }
        };
        let objective = match self.kind {
            Kind::Minimum => format!(
                "extern void __enzyme_autodiff_implicit_{number}(void *, int, {t} *, {t} *{});\n\
                 static {t} ffgrad_objective_{number}({t} *x{extra}) {{ return {}; }}\n",
                constants.types,
                call("x")
            ),
            _ => String::new(),
        };
        format!("{objective}static void ffgrad_residual_{number}({t} *x, {t} *r, long n{extra}) {{\n{body}}}\n")
    }

    /// The function that calls the solver, for values alone.
    fn inside(&self, number: usize, constants: &Constants) -> String {
        let Names { inside, .. } = names(number);
        let t = c_name(self.dtype);
        let has_value = self.solver.returns != ReturnType::Void;
        let value_parameter = match (self.unknown, has_value) {
            (Some(_), true) => format!("{} *value, ", returned(self.solver)),
            _ => String::new(),
        };
        let (comma, listed) = match self.solver.params.is_empty() {
            true => ("", String::new()),
            false => (", ", Self::declarations(self.solver, "a")),
        };
        let start = match self.unknown {
            Some(at) => format!("  memcpy(x, a{at}, (size_t)n * sizeof *x);\n"),
            None => String::new(),
        };
        let solve = match (self.unknown, has_value) {
            (None, _) => format!("  x[0] = ffgrad_given({});\n", self.arguments("")),
            (Some(_), true) => format!("  *value = ffgrad_given({});\n", self.arguments("x")),
            (Some(_), false) => format!("  ffgrad_given({});\n", self.arguments("x")),
        };
        format!(
            "/* Values, the inverse of the Jacobian and the residual where the solver ends. */\n\
             __attribute__((noinline)) void {inside}({value_parameter}{t} *x, {t} *inverse, {t} *base{comma}{listed}) {{\n\
             \x20 long n = (long)({own});\n  size_t square = (size_t)n * (size_t)n;\n{start}{solve}\
             \x20 {t} *seed = malloc((size_t)n * sizeof *seed), *column = malloc((size_t)n * sizeof *column);\n\
             \x20 double *jacobian = malloc(square * sizeof *jacobian), *inverted = malloc(square * sizeof *inverted);\n\
             \x20 double *place = malloc((size_t)n * sizeof *place), *left = malloc((size_t)n * sizeof *left);\n\
             \x20 for (long j = 0; j < n; j++) {{\n\
             \x20   for (long i = 0; i < n; i++) seed[i] = i == j, column[i] = 0;\n\
             \x20   __enzyme_fwddiff_implicit_{number}((void *)ffgrad_residual_{number}, enzyme_dup, x, seed, enzyme_dup, base, column, enzyme_const, n{marked});\n\
             \x20   for (long i = 0; i < n; i++) jacobian[i * n + j] = column[i];\n\
             \x20 }}\n\
             \x20 ffgrad_residual_{number}(x, base, n{given});\n\
             \x20 for (long i = 0; i < n; i++) place[i] = x[i], left[i] = base[i];\n\
             \x20 ffgrad_settle({number}, n, place, left, jacobian, inverted, {tolerance:e}, {epsilon});\n\
             \x20 for (size_t i = 0; i < square; i++) inverse[i] = ({t})inverted[i];\n\
             \x20 free(seed), free(column), free(jacobian), free(inverted), free(place), free(left);\n}}\n\
             FFGRAD_INACTIVE({inside});\n",
            own = self.count,
            marked = constants.marked,
            given = constants.given,
            tolerance = self.tolerance.0,
            epsilon = if self.dtype == DType::F32 { "0x1p-23" } else { "0x1p-52" },
        )
    }

    /// The function in the solver's place.
    fn replacement(&self, number: usize, constants: &Constants) -> String {
        let Names { solver, inside } = names(number);
        let (t, value) = (c_name(self.dtype), returned(self.solver));
        let is_apart = self.unknown.is_some() && self.solver.returns != ReturnType::Void;
        let (value_declared, value_argument) = match is_apart {
            true => (format!("  {value} value;\n"), "&value, "),
            false => (String::new(), ""),
        };
        let finish = match self.unknown {
            None => format!("  {t} y = next[0];\n"),
            Some(at) => format!("  for (long i = 0; i < n; i++) a{at}[i] = next[i];\n"),
        };
        let end = match (self.unknown, is_apart) {
            (None, _) => "  return y;\n",
            (Some(_), true) => "  return value;\n",
            (Some(_), false) => "",
        };
        format!(
            "{value} {solver}({params}) {{\n\
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
            params = Self::declarations(self.solver, "a"),
            own = self.count,
            comma = if self.solver.params.is_empty() { "" } else { ", " },
            passed = self.arguments(&self.unknown.map(|at| format!("a{at}")).unwrap_or_default()),
            given = constants.given,
        )
    }
}

//! Signatures of repeated steps: `u[n], q[t,n] -> u[n], obs[t]` with `repeat="t"` describes a loop whose body is the function.
//!
//! In: the text, and the dimension of the loop. Out: the signature of one step, `u[n], q[n] -> u[n], obs`, which the prototype is
//! checked against; then, from the step's plan, the plan of the whole loop ([`Repetition`]), in which the dimension is one like any other.

use super::normal_form;
use super::parser::{self, Item, Tree};
use super::symbols::items;
use crate::plan::{Arg, CallPlan, Dim, Passing, Role};
use crate::shapes::Resolved;
use crate::shapes::dims::{each_symbol, spell};
use crate::{DType, Prototype};
use std::collections::BTreeMap;

/// The signature of one step, and what of it the loop repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The dimension of the loop.
    pub symbol: String,
    /// The signature of one step.
    pub signature: String,
    /// Names that had the dimension in front.
    repeated: Vec<String>,
    /// Where the number of steps is itself an input: at which place.
    counted: Option<usize>,
}

/// What an argument of the step is to the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Updated in place from step to step: the state.
    Carried,
    /// An input of which each step has its slice.
    Sliced,
    /// Updated in place, but of its own slice only.
    SlicedInPlace,
    /// An output of which each step writes its slice.
    Stacked,
    /// An input that is the same in each step.
    Shared,
    /// Scratch, which each step has anew.
    Scratch,
    /// A size.
    Size,
}

/// A loop over steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repetition {
    /// The dimension of the loop.
    pub symbol: String,
    /// The plan of the whole loop. Its arguments are the step's, in the same order, and behind them the number of steps where that is
    /// an input.
    pub plan: CallPlan,
    /// For each argument of the step.
    pub shares: Vec<Share>,
    /// The input that is the number of steps.
    pub counted: Option<usize>,
}

/// Takes the dimension of the loop out of a signature.
///
/// # Errors
///
/// Its errors of syntax; places at which the dimension makes no sense.
pub fn step(text: &str, symbol: &str) -> Result<Step, Vec<String>> {
    if !is_name(symbol) {
        return Err(vec![format!("repeat=\"{symbol}\" is no dimension's name: write repeat=\"t\"")]);
    }
    let mut tree = parser::parse(text)?;
    let counted = tree.inputs.iter().position(|i| i.name == symbol && i.dims.is_none());
    if let Some(at) = counted {
        tree.inputs.remove(at);
    }
    let (mut repeated, mut problems) = (Vec::new(), Vec::new());
    let scratch = tree.scratch.len();
    let whole = items(&tree).count();
    for (at, item) in tree.inputs.iter_mut().chain(&mut tree.outputs).chain(&mut tree.scratch).enumerate() {
        let spelled = spell(&item.name, item.dims.as_deref().unwrap_or_default(), item.batched);
        if let Some(dims) = item.dims.as_mut().filter(|dims| dims.first() == Some(&Dim::Sym(symbol.to_owned()))) {
            dims.remove(0);
            if at >= whole - scratch {
                problems.push(format!("`{spelled}` is scratch, which each step has anew: leave out `{symbol}`"));
            }
            if dims.is_empty() && !item.batched {
                item.dims = None;
            }
            if !repeated.contains(&item.name) {
                repeated.push(item.name.clone());
            }
        }
        if item.dims.iter().flatten().any(|dim| has(dim, symbol)) {
            problems.push(format!(
                "`{symbol}` counts the steps in `{spelled}`, where it can only be the first dimension by itself"
            ));
        }
    }
    if counted.is_some() && !repeated.is_empty() {
        problems.push(format!(
            "`{symbol}` is an input and the dimension of `{}`, which could contradict each other: leave out one of them",
            repeated[0]
        ));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Step { symbol: symbol.to_owned(), signature: written(&tree), repeated, counted })
}

fn has(dim: &Dim, symbol: &str) -> bool {
    let mut found = false;
    each_symbol(dim, &mut |name| found |= name == symbol);
    found
}

fn is_name(symbol: &str) -> bool {
    let mut letters = symbol.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !["return", "const"].contains(&symbol)
}

/// A tree as a user would write it.
pub(super) fn written(tree: &Tree) -> String {
    let item = |i: &Item| {
        let word = if i.constant { "const " } else { "" };
        let lead = i.batched.then(|| "...".to_owned());
        let dims = i.dims.as_ref().map(|dims| {
            let all: Vec<String> = lead.into_iter().chain(dims.iter().map(Dim::to_string)).collect();
            format!("[{}]", all.join(","))
        });
        format!("{word}{}{}", i.name, dims.unwrap_or_default())
    };
    let list = |items: &[Item]| items.iter().map(item).collect::<Vec<_>>().join(", ");
    let scratch = if tree.scratch.is_empty() { String::new() } else { format!("; {}", list(&tree.scratch)) };
    format!("{} -> {}{scratch}", list(&tree.inputs), list(&tree.outputs)).trim_start().to_owned()
}

impl Step {
    /// Whether a parameter of the function is the dimension itself: then it cannot be.
    ///
    /// # Errors
    ///
    /// What to write instead.
    pub fn check(&self, prototype: &Prototype) -> Result<(), Vec<String>> {
        let symbol = &self.symbol;
        let is_sliced = self.repeated.contains(symbol);
        if prototype.param(symbol).is_none() || is_sliced {
            return Ok(());
        }
        match self.counted {
            Some(_) => Err(vec![format!(
                "`{symbol}` is a parameter of `{}` and the number of steps: choose another name for the dimension, \
                 repeat=\"steps\"",
                prototype.function
            )]),
            None => Ok(()),
        }
    }

    /// The loop around a step that has this plan.
    ///
    /// # Errors
    ///
    /// What of it makes no loop.
    pub fn repeat(&self, step: &CallPlan, sizes: &BTreeMap<String, i64>) -> Result<Repetition, Vec<String>> {
        let is_repeated = |arg: &Arg| self.repeated.contains(&arg.name);
        let shares: Vec<Share> = step.args.iter().map(|arg| share(arg, is_repeated(arg))).collect();
        let problems = self.problems(step, &shares, sizes);
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut args = step.args.clone();
        for arg in args.iter_mut().filter(|arg| is_repeated(arg)) {
            arg.shape.insert(0, Dim::Sym(self.symbol.clone()));
            // A row of steps, each with one dimension at most.
            arg.column_major = false;
        }
        let (mut inputs, outputs) = (step.inputs.clone(), step.outputs.clone());
        if let Some(at) = self.counted {
            inputs.insert(at, args.len());
            args.push(number_of_steps(&self.symbol));
        }
        let signature = normal_form(&args, &inputs, &outputs);
        let plan = CallPlan { args, inputs, outputs, drops_return: step.drops_return, signature };
        Ok(Repetition { symbol: self.symbol.clone(), plan, shares, counted: self.counted })
    }

    fn problems(&self, step: &CallPlan, shares: &[Share], sizes: &BTreeMap<String, i64>) -> Vec<String> {
        let symbol = &self.symbol;
        let mut problems = Vec::new();
        for (arg, share) in step.args.iter().zip(shares) {
            let (name, is_repeated) = (&arg.name, self.repeated.contains(&arg.name));
            if is_repeated && arg.column_major && arg.shape.len() > 1 {
                problems.push(format!(
                    "`{name}` has {} dimensions in Fortran's order and one for each step, which is not supported: pass it as a vector",
                    arg.shape.len()
                ));
            }
            match share {
                Share::Stacked if !is_repeated => {
                    let dims: Vec<Dim> = [Dim::Sym(symbol.clone())].into_iter().chain(arg.shape.clone()).collect();
                    problems.push(format!(
                        "each step would write over `{}`: write `{}` for the values of all steps, or name `{name}` left of \
                         `->` too, where it is carried from step to step",
                        arg.spelled(),
                        spell(name, &dims, arg.batched)
                    ));
                }
                Share::Carried if arg.constant && arg.dtype.is_float() => problems.push(format!(
                    "`{name}` is carried from step to step, so that results depend on it: leave out `const`"
                )),
                _ => {}
            }
        }
        if !shares.contains(&Share::Carried) {
            problems.push(
                "nothing is carried from step to step: an argument that is updated in place stands on both sides of `->`; \
                 for independent calls write `...`"
                    .to_owned(),
            );
        }
        let is_given = |(arg, share): (&Arg, &Share)| {
            self.repeated.contains(&arg.name) && matches!(share, Share::Sliced | Share::SlicedInPlace)
        };
        if self.counted.is_none() && !sizes.contains_key(symbol) && !step.args.iter().zip(shares).any(is_given) {
            problems.push(format!(
                "`{symbol}` follows from no input's shape: give sizes={{\"{symbol}\": ...}}, or write `{symbol}` as an input, \
                 which is the number of steps"
            ));
        }
        problems
    }
}

fn share(arg: &Arg, is_repeated: bool) -> Share {
    match (arg.role, is_repeated) {
        (Role::InOut, false) => Share::Carried,
        (Role::InOut, true) => Share::SlicedInPlace,
        (Role::Input, true) => Share::Sliced,
        (Role::Input, false) => Share::Shared,
        (Role::Output | Role::Return, _) => Share::Stacked,
        (Role::Scratch, _) => Share::Scratch,
        (Role::Size, _) => Share::Size,
    }
}

fn number_of_steps(symbol: &str) -> Arg {
    Arg {
        name: symbol.to_owned(),
        role: Role::Input,
        dtype: DType::I64,
        passing: Passing::Value,
        shape: Vec::new(),
        constant: true,
        flat: false,
        column_major: false,
        batched: false,
        text: None,
    }
}

impl Repetition {
    /// The number of steps, where shapes or sizes give it; the input that counts them is read by the caller.
    pub fn steps(&self, resolved: &Resolved, sizes: &BTreeMap<String, i64>) -> i64 {
        let dim = Dim::Sym(self.symbol.clone());
        let leads = |arg: &Arg| arg.role != Role::Size && arg.shape.first() == Some(&dim);
        let row = self.plan.args.iter().position(leads).map(|arg| resolved.shapes[arg][0]);
        row.or_else(|| sizes.get(&self.symbol).copied()).unwrap_or(0)
    }

    /// The place of an input of the step among those of the loop.
    pub fn input_of_loop(&self, position: usize) -> usize {
        position + usize::from(self.counted.is_some_and(|at| at <= position))
    }

    /// The inputs of the step among those of the loop, as bits.
    pub fn mask_of_step(&self, mask: u64) -> u64 {
        match self.counted {
            None => mask,
            Some(at) => mask & ((1 << at) - 1) | mask >> 1 & !((1 << at) - 1),
        }
    }

    /// Bit i is set where the step's input i is state with a derivative.
    pub fn carried(&self, step: &CallPlan) -> u64 {
        let is_carried = |&arg: &usize| self.shares[arg] == Share::Carried && step.args[arg].is_differentiable();
        step.inputs.iter().enumerate().filter(|(_, arg)| is_carried(arg)).map(|(p, _)| 1 << p).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::resolve;
    use crate::signature::plan;
    use crate::signature::tests::prototype;

    const HEAT: &str = "void step(double* u, const double* k, const double* q, double* w:obs, int n)";
    const SIGNATURE: &str = "u[n], const k[n], q[t,n] -> u[n], obs[t]";

    fn sizes(given: &[(&str, i64)]) -> BTreeMap<String, i64> {
        given.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    fn repeated(declaration: &str, text: &str, given: &[(&str, i64)]) -> Result<(CallPlan, Repetition), Vec<String>> {
        let step = step(text, "t")?;
        let prototype = prototype(declaration);
        step.check(&prototype)?;
        let own = plan(&prototype, Some(&step.signature), &BTreeMap::new()).map_err(|e| e.problems)?;
        let loops = step.repeat(&own, &sizes(given))?;
        Ok((own, loops))
    }

    fn problems(declaration: &str, text: &str) -> String {
        repeated(declaration, text, &[]).expect_err("refused").join("\n")
    }

    #[test]
    fn the_dimension_of_the_loop_is_one_of_the_loops_plan_and_not_of_the_steps() {
        let (own, loops) = repeated(HEAT, SIGNATURE, &[]).unwrap();
        assert_eq!(own.signature, "u[n], const k[n], q[n] -> u[n], obs[]".replace("[]", ""));
        assert_eq!(loops.plan.signature, SIGNATURE);
        use Share::{Carried, Shared, Size, Sliced, Stacked};
        assert_eq!(loops.shares, [Carried, Shared, Sliced, Stacked, Size]);
        let shapes: [&[i64]; 3] = [&[5], &[5], &[7, 5]];
        let resolved = resolve(&loops.plan, &shapes, &BTreeMap::new()).unwrap();
        assert_eq!((resolved.shapes[3].as_slice(), loops.steps(&resolved, &BTreeMap::new())), ([7].as_slice(), 7));
        assert_eq!((loops.carried(&own), loops.mask_of_step(0b111)), (1, 0b111));
    }

    #[test]
    fn scalars_by_value_and_returned_values_have_one_element_a_step() {
        let declaration = "double step(double* u, double dt, int n)";
        let (own, loops) = repeated(declaration, "u[n], dt[t] -> u[n], return[t]", &[]).unwrap();
        assert_eq!(own.signature, "u[n], dt -> u[n], return");
        assert_eq!(loops.plan.signature, "u[n], dt[t] -> u[n], return[t]");
        let (own, loops) = repeated(declaration, "u[...,n], dt[...,t] -> u[...,n], return[...,t]", &[]).unwrap();
        assert_eq!(own.signature, "u[...,n], dt[...] -> u[...,n], return[...]");
        assert_eq!(loops.plan.args[1].spelled(), "dt[...,t]");
    }

    #[test]
    fn the_number_of_steps_comes_from_sizes_or_from_an_input() {
        let declaration = "void step(double* u, const double* k, int n)";
        let (_, loops) = repeated(declaration, "u[n], k[n] -> u[n]", &[("t", 9)]).unwrap();
        let shapes: [&[i64]; 2] = [&[5], &[5]];
        let resolved = resolve(&loops.plan, &shapes, &sizes(&[("t", 9)])).unwrap();
        assert_eq!(loops.steps(&resolved, &sizes(&[("t", 9)])), 9);
        let (own, loops) = repeated(declaration, "u[n], t, k[n] -> u[n]", &[]).unwrap();
        assert_eq!(
            (own.signature.as_str(), loops.plan.signature.as_str()),
            ("u[n], k[n] -> u[n]", "u[n], t, k[n] -> u[n]")
        );
        assert_eq!((loops.counted, loops.input_of_loop(0), loops.input_of_loop(1)), (Some(1), 0, 2));
        assert_eq!(
            (loops.mask_of_step(0b101), loops.mask_of_step(0b001), loops.mask_of_step(0b110)),
            (0b11, 0b01, 0b10)
        );
        assert_eq!(loops.plan.differentiable_mask(), 0b101);
    }

    #[test]
    fn what_makes_no_loop_is_refused_with_what_to_write() {
        let declaration = "void step(double* u, const double* k, double* w:y, double* b, int n)";
        let refused = [
            problems(declaration, "u[n], k[n] -> u[n], y[n]; b[n]"),
            problems(declaration, "u[n], k[n,t] -> u[n], y[t,n]; b[t,n]"),
            problems(declaration, "u[t,n], k[n] -> u[t,n], y[t,n]; b[n]"),
            problems(declaration, "t, u[n], k[t,n] -> u[n], y[t,n]; b[n]"),
            problems("void step(double* u, double t, int n)", "u[n], t -> u[n]"),
            step("u[n] -> u[n]", "2t").expect_err("refused").join("\n"),
            step("u[n -> u[n]", "t").expect_err("refused").join("\n"),
        ];
        insta::assert_snapshot!(refused.join("\n---\n"));
    }
}

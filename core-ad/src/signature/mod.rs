//! The signature language: what a prototype cannot express (shapes, and which pointers are results).
//!
//! In: the discovered [`Prototype`], the user's signature or none, and the option `sizes`. Out: the
//! [`CallPlan`], or every problem at once. `lexer` and `parser` read the text, `check` joins it
//! with the prototype, `defaults` guesses where there is no text; `shapes` later gives the symbols
//! their values.

mod adapted;
mod check;
mod defaults;
mod fortran;
mod lexer;
mod parser;
pub mod repeat;
mod symbols;
#[cfg(test)]
pub(crate) mod tests;
mod texts;

use crate::{Arg, CallPlan, Dim, Param, ParamType, Prototype, Role};
use std::collections::BTreeMap;

/// Joins `prototype` with `signature`, or with the defaults where there is none.
///
/// # Errors
///
/// Everything that is wrong or in doubt, together with the prototype and, where one can be made, a
/// signature to start from.
pub fn plan(
    prototype: &Prototype,
    signature: Option<&str>,
    sizes: &BTreeMap<String, i64>,
) -> Result<CallPlan, SignatureError> {
    let planned = match (signature, &prototype.fortran) {
        (text, Some(procedure)) => fortran::plan(prototype, procedure, text, sizes),
        (Some(text), None) => {
            let completed = |tree| texts::completed(prototype, tree);
            parser::parse(text).map(completed).and_then(|tree| check::plan(prototype, &tree, sizes))
        }
        (None, None) => defaults::plan(prototype, sizes),
    };
    planned.map(|plan| texts::marked(prototype, plan)).and_then(few_inputs).map_err(|problems| {
        let suggestion = match &prototype.fortran {
            Some(procedure) => fortran::suggest(prototype, procedure, sizes),
            None => defaults::suggest(prototype),
        };
        let tree = suggestion.as_deref().and_then(|text| parser::parse(text).ok());
        SignatureError {
            problems,
            prototype: format!("{}:{}  |  {prototype}", prototype.file, prototype.line),
            needed_sizes: tree.map(|tree| symbols::unbound(&tree, sizes)).unwrap_or_default(),
            suggestion,
        }
    })
}

/// Reads one dimension: an integer, a symbol, or `+ - * //` over them.
///
/// # Errors
///
/// What is wrong with it, with a caret.
pub fn dimension(text: &str) -> Result<Dim, String> {
    parser::dimension(text).map_err(|problems| problems.join("; "))
}

/// The inputs to differentiate are chosen by the bits of one `u64`.
fn few_inputs(plan: CallPlan) -> Result<CallPlan, Vec<String>> {
    match plan.inputs.len() {
        0..=64 => Ok(plan),
        many => Err(vec![format!("there are {many} inputs, more than 64: join some of them into arrays")]),
    }
}

/// A signature that does not fit its function, or a function that needs one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.report())]
pub struct SignatureError {
    /// Every problem found; one with a caret has several lines.
    pub problems: Vec<String>,
    /// Where the function stands and its discovered prototype: `mv.c:3  |  void f(double *x)`.
    pub prototype: String,
    /// A signature that fits the prototype, to paste and to correct; `None` where there is none.
    pub suggestion: Option<String>,
    /// Its symbols that only the option `sizes` can give a value to.
    pub needed_sizes: Vec<String>,
}

impl SignatureError {
    fn report(&self) -> String {
        let mut lines = match self.problems.as_slice() {
            [one] => vec![one.replace('\n', "\n    ")],
            several => several_problems(several),
        };
        lines.push(format!("  {}", self.prototype));
        if let Some(suggestion) = &self.suggestion {
            let sizes: Vec<String> = self.needed_sizes.iter().map(|symbol| format!("\"{symbol}\": ...")).collect();
            let sizes = if sizes.is_empty() { String::new() } else { format!(", with sizes={{{}}}", sizes.join(", ")) };
            lines.push(format!("  a signature to start from: \"{suggestion}\"{sizes}"));
        }
        lines.join("\n")
    }
}

fn several_problems(problems: &[String]) -> Vec<String> {
    let title = format!("{} problems with the function's signature", problems.len());
    let listed = problems.iter().map(|p| format!("  - {}", p.replace('\n', "\n      ")));
    std::iter::once(title).chain(listed).collect()
}

/// The plan's signature in normal form: one spelling for all texts of the same plan.
fn normal_form(args: &[Arg], inputs: &[usize], outputs: &[usize]) -> String {
    let spelled = |i: &usize| args[*i].spelled();
    let input = |i: &usize| {
        // Integers are constant anyway; the word adds nothing to them.
        let word = if args[*i].constant && args[*i].dtype.is_float() { "const " } else { "" };
        format!("{word}{}", spelled(i))
    };
    let left: Vec<String> = inputs.iter().map(input).collect();
    let right: Vec<String> = outputs.iter().map(spelled).collect();
    let scratch: Vec<String> =
        (0..args.len()).filter(|i| args[*i].role == Role::Scratch).map(|i| spelled(&i)).collect();
    let text = format!("{} -> {}", left.join(", "), right.join(", "));
    let text = if scratch.is_empty() { text } else { format!("{text}; {}", scratch.join(", ")) };
    text.trim_start().to_owned()
}

/// How debug information has the type of a callback: it names no function type.
const UNNAMED: &str = "?*";

/// Why a parameter cannot be passed, whatever the signature.
fn unsupported(prototype: &Prototype, param: &Param) -> Option<String> {
    let Param { name, spelled, .. } = param;
    let others = prototype.params.iter().any(|p| p.ty == ParamType::Unsupported && p.adapted.is_none());
    let is_culprit = |p: &&Param| param.adapted.is_some() && !others && p.adapted.is_none();
    if let Some(culprit) = prototype.params.iter().find(is_culprit) {
        return Some(format!(
            "`{name}` has the type `{spelled}`, beside which `{}`, a `{}`, cannot be passed: wrap the function in one \
             that takes pointers to numbers, and numbers",
            culprit.name, culprit.spelled
        ));
    }
    // An adapter would take this one, were it not for others.
    (param.adapted.is_none() || !others).then(|| match spelled.as_str() {
        UNNAMED => format!(
            "`{name}` is a pointer to a function, which no tensor can be passed as: wrap the function in one that takes numbers \
             and pointers to them, and passes the callback itself"
        ),
        _ => format!(
            "`{name}` has the type `{spelled}`, which no tensor can be passed as: wrap the function in \
             one that takes pointers to numbers, and numbers"
        ),
    })
}

/// ` write ...`, the remedy.
fn did_you_write(text: &str) -> String {
    format!("write `{text}`")
}

/// Why a key of `sizes` binds nothing.
fn useless_size(name: &str, closest: &[String]) -> String {
    let hint = did_you_mean(closest);
    format!(
        "`sizes` gives `{name}`, which is neither a symbol of the signature nor an integer \
         parameter{hint}: correct it or leave it out"
    )
}

/// ` (closest: ...)`, or nothing.
fn did_you_mean(closest: &[String]) -> String {
    if closest.is_empty() {
        return String::new();
    }
    let quoted: Vec<String> = closest.iter().map(|name| format!("`{name}`")).collect();
    format!(" (closest: {})", quoted.join(", "))
}

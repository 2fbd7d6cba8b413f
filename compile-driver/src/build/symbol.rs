//! Resolves a user's function name to a symbol of the compiled sources.

use crate::error::{Error, Result};
use crate::options::Spec;
use crate::source_text;
use core_ad::diagnostics::Diagnosis;
use core_ad::fortran::Found;
use core_ad::names::{self, Lookup};
use std::path::{Path, PathBuf};

/// The symbol of the function that is asked for.
///
/// # Errors
///
/// A compile error with what the sources do define.
pub fn find(spec: &Spec, procedures: &[Found], functions: &[String], read: &[PathBuf]) -> Result<String> {
    let function = &spec.function;
    let in_fortran = core_ad::fortran::find(function, procedures, functions);
    let lookup = match (in_fortran, names::find(function, functions)) {
        (Lookup::Missing { .. }, Lookup::Missing { closest }) if procedures.is_empty() => Lookup::Missing { closest },
        (missing @ Lookup::Missing { .. }, Lookup::Missing { .. }) => missing,
        (Lookup::Missing { .. }, other) | (other, _) => other,
    };
    let diagnosis = match lookup {
        Lookup::Found(symbol) => return Ok(symbol.to_owned()),
        Lookup::Ambiguous(candidates) => {
            let headline = format!("`{function}` names {} functions", candidates.len());
            Diagnosis::new("ambiguous-function", function, headline)
                .advise(format!("Give the parameters too, as one of: {}.", quoted(&candidates)))
        }
        Lookup::Missing { closest } => {
            let headline = format!("there is no function `{function}` in {}", source_text::names(spec));
            let diagnosis = Diagnosis::new("no-such-function", function, headline);
            if let Some(macro_name) = renamed(function, read.iter().map(PathBuf::as_path)) {
                diagnosis.advise(macro_name)
            } else if closest.is_empty() {
                let paths = crate::build::frontend::flang::paths(procedures, functions);
                let names = if paths.is_empty() { visible(functions) } else { paths };
                match names.is_empty() {
                    true if is_template(spec, function) => diagnosis.advise(format!(
                        "`{function}` is a template there, and no instance of it is compiled: name one, `{function}<double>`."
                    )),
                    true => diagnosis.advise("It defines no functions."),
                    false => diagnosis.advise(format!("It defines: {}.", quoted(&names[..names.len().min(8)]))),
                }
            } else {
                diagnosis.advise(format!("The closest names are {}.", quoted(&closest)))
            }
        }
    };
    Err(Error::compile(diagnosis))
}

/// What to say of a name that a macro turns into another one: `#define rho gsw_rho`.
pub fn renamed<'p>(name: &str, files: impl Iterator<Item = &'p Path>) -> Option<String> {
    for file in files {
        let text = std::fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        for (number, line) in text.lines().enumerate() {
            let Some(rest) =
                line.trim_start().strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix("define"))
            else {
                continue;
            };
            let Some(value) = rest.trim_start().strip_prefix(name).filter(|v| v.starts_with(char::is_whitespace))
            else {
                continue;
            };
            let value = value.split("/*").next().unwrap_or_default().trim();
            if rest.starts_with(char::is_whitespace) && value.starts_with(|c: char| c.is_alphabetic() || c == '_') {
                let file = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                return Some(format!(
                    "`{name}` is a macro ({file}:{}) that expands to `{value}`: give that name.",
                    number + 1
                ));
            }
        }
    }
    None
}

/// Whether the sources have a template that seems to have this name: the word `template`, and later the name before a parenthesis.
fn is_template(spec: &Spec, function: &str) -> bool {
    let name = function.rsplit("::").next().unwrap_or(function);
    let of_text = |text: &str| {
        let declared = text.split_once("template").is_some_and(|(_, rest)| rest.contains(&format!("{name}(")));
        declared || text.split_once("template").is_some_and(|(_, rest)| rest.contains(&format!("{name} (")))
    };
    spec.sources.iter().filter_map(|path| std::fs::read_to_string(path).ok()).any(|text| of_text(&text))
}

/// The first few functions a user could have meant, by readable name. Those of the system's headers have
/// reserved names, live in `std`, or come from libc's own inline definitions.
fn visible(functions: &[String]) -> Vec<String> {
    const INLINE: [&str; 12] = [
        "atoi",
        "atol",
        "atoll",
        "atof",
        "iscanonical",
        "bsearch",
        "vprintf",
        "getchar",
        "putchar",
        "fputc_unlocked",
        "getc_unlocked",
        "putc_unlocked",
    ];
    let system = |n: &String| {
        let name = n.split(['(', '<']).next().unwrap_or(n);
        name.starts_with("std::") || name.starts_with("__") || name.starts_with("gnu_") || INLINE.contains(&name)
    };
    functions.iter().map(|f| names::demangle(f)).filter(|n| !system(n)).take(8).collect()
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

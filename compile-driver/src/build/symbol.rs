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
            let headline = match function.is_empty() {
                true => format!("no function of {} is named", source_text::names(spec)),
                false => format!("there is no function `{function}` in {}", source_text::names(spec)),
            };
            let diagnosis = Diagnosis::new("no-such-function", function, headline);
            if let Some(macro_name) = renamed(function, read.iter().map(PathBuf::as_path)) {
                diagnosis.advise(macro_name)
            } else if is_template(spec, function, read) {
                diagnosis.advise(no_instance(function))
            } else if closest.is_empty() {
                let names = readable(procedures, functions);
                match names.is_empty() {
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

/// What to say of a template of which there is no such instance.
fn no_instance(function: &str) -> String {
    match function.split_once('<') {
        None => format!(
            "`{function}` is a template there, and no instance of it is compiled: name one with all of its arguments: `{function}<double>`."
        ),
        Some((name, _)) => format!("`{name}` is a template there, and it has no instance with these arguments."),
    }
}

/// All functions that a user could mean, by readable name.
pub fn readable(procedures: &[Found], functions: &[String]) -> Vec<String> {
    let paths = crate::build::frontend::flang::paths(procedures, functions);
    if paths.is_empty() { visible(functions) } else { paths }
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

/// Whether the sources, or headers that they read, have a template that seems to have this name: the word `template` with its parameters, and
/// before the next bracket of any kind the name and a parenthesis.
fn is_template(spec: &Spec, function: &str, read: &[PathBuf]) -> bool {
    let name = function.split(['<', '(']).next().unwrap_or(function);
    let name = name.rsplit("::").next().unwrap_or(name).trim();
    if name.is_empty() {
        return false;
    }
    let of_text = |text: &str| text.split("template").skip(1).any(|rest| declares(rest, name));
    let files = spec.sources.iter().chain(read.iter().filter(|path| !path.starts_with("/usr")));
    files.filter_map(|path| std::fs::read_to_string(path).ok()).any(|text| of_text(&text))
}

/// Whether what stands behind the word `template` declares a function of this name.
fn declares(rest: &str, name: &str) -> bool {
    if !rest.trim_start().starts_with('<') {
        return false;
    }
    // The head ends where a body, another declaration or the arguments begin; the name is the last word before these.
    let head = rest.find(['{', ';']).map_or(rest, |end| &rest[..end]);
    head.match_indices('(').any(|(at, _)| {
        let before = head[..at].trim_end();
        let is_whole = |start: &str| !start.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        before.strip_suffix(name).is_some_and(is_whole)
    })
}

/// The functions a user could have meant, by readable name. Those of the system's headers have
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
    functions.iter().map(|f| names::demangle(f)).filter(|n| !system(n)).collect()
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

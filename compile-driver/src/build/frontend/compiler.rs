//! Runs a compiler, for every front end: the user's flags, its errors, its list of files read.

use crate::build::frontend::hints;
use crate::build::frontend::language::{self, Language};
use crate::error::{Error, Result};
use crate::options::Spec;
use crate::os::process::{self, ProcessError};
use crate::source_text;
use crate::toolchain;
use core_ad::diagnostics::{self, Diagnosis};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders, macros and flags that the user gave, for a source in this language.
pub fn user_flags(command: &mut Command, spec: &Spec, language: Language) {
    let options = &spec.options;
    command.args(options.include_dirs.iter().map(|d| format!("-I{}", d.display())));
    for (name, value) in &options.defines {
        command.arg(match value {
            Some(value) => format!("-D{name}={value}"),
            None => format!("-D{name}"),
        });
    }
    // Code that clang marks as not to be optimised cannot be prepared for Enzyme.
    let given = options.flags.iter().filter(|flag| *flag != "-O0");
    // C files beside Fortran ones are given the same flags.
    let mixed = language::is_fortran(spec) || options.reach.is_some();
    // So are C files beside C++ ones, and clang refuses the other's standard.
    let several = mixed || language::mixes(spec);
    let is_of_others =
        |flag: &String| mixed && language::is_of_flang_alone(flag) || several && language::is_of_other(flag, language);
    command.args(given.filter(|flag| !is_of_others(flag)));
}

/// The folders that are given with an option (`-I`), joined to it or apart, and the other flags.
pub fn by_folder<'a>(flags: &'a [String], option: &str) -> (Vec<PathBuf>, Vec<&'a String>) {
    let (mut folders, mut others, mut flags) = (Vec::new(), Vec::new(), flags.iter());
    while let Some(flag) = flags.next() {
        match flag.strip_prefix(option) {
            Some("") => folders.extend(flags.next().map(PathBuf::from)),
            Some(folder) => folders.push(PathBuf::from(folder)),
            None => others.push(flag),
        }
    }
    (folders, others)
}

/// What `__DATE__` and its kin are computed from, so that the same text is always the same program: 1 January 1970.
const DATE: &str = "0";

/// Runs a compiler.
///
/// # Errors
///
/// A compile error with its first message.
pub fn execute(spec: &Spec, command: &mut Command) -> Result<()> {
    let output = run(spec, command)?;
    if output.status.success() {
        return Ok(());
    }
    Err(rejected(spec, &String::from_utf8_lossy(&output.stderr)))
}

/// Runs clang, and returns what it says of where it looked.
///
/// # Errors
///
/// A compile error with its first message.
pub fn execute_aloud(spec: &Spec, command: &mut Command) -> Result<String> {
    let given = command.get_args().len();
    let output = run(spec, command.arg("-v"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    // Once more, for its messages alone.
    let mut plain = Command::new(command.get_program());
    plain.args(command.get_args().take(given));
    Err(rejected(spec, &String::from_utf8_lossy(&run(spec, &mut plain)?.stderr)))
}

/// Runs a compiler, whether or not it refuses the source.
///
/// # Errors
///
/// Where it does not finish.
pub fn run(spec: &Spec, command: &mut Command) -> Result<process::Output> {
    let timeout = spec.options.time_limit();
    let program = Path::new(command.get_program()).to_owned();
    let output = process::run(command.env("SOURCE_DATE_EPOCH", DATE), None, timeout);
    let may_be_damaged = match &output {
        Ok(output) => !output.status.success() && toolchain::is_of_loader(&String::from_utf8_lossy(&output.stderr)),
        Err(error) => matches!(error, ProcessError::Signal { .. } | ProcessError::Io { .. }),
    };
    if may_be_damaged && let Some(damage) = toolchain::of_compiler(&program) {
        return Err(damage.into());
    }
    output.map_err(|e| not_run(spec, e))
}

/// The error for a compiler that could not be run to its end.
pub fn not_run(spec: &Spec, error: ProcessError) -> Error {
    let failed = |error: ProcessError| {
        let headline = format!("the compiler did not finish on `{}`: {error}", spec.function);
        Error::compile(
            Diagnosis::new("compiler-failed", &spec.function, headline)
                .advise("Raise the limit with timeout=SECONDS if the source is large, or run `ffgrad doctor`."),
        )
    };
    Error::of_child(error, &spec.function, failed).while_compiling()
}

/// The error for a source that a compiler refused, from its output.
pub fn rejected(spec: &Spec, stderr: &str) -> Error {
    let first = diagnostics::compiler_error(stderr);
    let (location, message) = match first {
        Some((at, message)) => (Some(source_text::with_text(at)), message),
        None => (None, "the compiler refused the source".to_owned()),
    };
    let file = location.as_ref().map_or_else(|| source_text::names(spec), |l| l.file.clone());
    let file = file.rsplit('/').next().unwrap_or_default().to_owned();
    let mut diagnosis = Diagnosis::new("syntax", &spec.function, format!("`{file}` does not compile: {message}"));
    let names_standard = spec.options.flags.iter().any(|flag| flag.starts_with("-std="));
    let text = location.as_ref().and_then(|at| at.text.clone()).unwrap_or_default();
    let language = spec.sources.first().and_then(|source| Language::of(source, &spec.function).ok());
    let hint = language.and_then(|language| hints::of(&message, &text, language, names_standard));
    if message.ends_with("file not found") {
        diagnosis.code = "missing-header".to_owned();
        diagnosis = match message.contains("'omp.h'") {
            true => diagnosis
                .advise("OpenMP sources need flags=[\"-fopenmp\"], and a runtime with its header: `ffgrad toolchain install openmp`."),
            false if hint.is_some() => diagnosis,
            false => diagnosis.advise("Add the header's folder: include_dirs=[\"...\"]."),
        };
    }
    if let Some(hint) = hint {
        diagnosis = diagnosis.advise(hint);
    }
    if message.contains("overloaded function type") && spec.function.contains('<') {
        diagnosis.code = "no-such-function".to_owned();
        diagnosis.headline = format!("`{}` is not one function: an argument of the template is missing", spec.function);
        diagnosis = diagnosis.advise("Name all that do not follow from others, and types too: `f<3, double>`.");
    }
    if let Some(include) = include_of_user(stderr) {
        diagnosis = diagnosis.advise(format!(
            "{include} includes the header. If it is a library's, take a version that clang 22 compiles, or include less of it."
        ));
    }
    diagnosis.location = location;
    Error::compile(diagnosis.quote(said(stderr)))
}

/// How clang begins the lines that say how it came to a header, outermost first.
const INCLUDED: &str = "In file included from ";

/// What the compiler said from its first error on, without the lines that say who includes a header.
fn said(stderr: &str) -> String {
    let is_include = |line: &&str| line.starts_with(INCLUDED);
    let lines: Vec<&str> = stderr.lines().filter(|line| !is_include(line)).collect();
    let first = lines.iter().position(|line| line.contains("error: ")).unwrap_or(0);
    lines[first..].iter().take(20).copied().collect::<Vec<_>>().join("\n")
}

/// Where the file that is compiled includes what leads to the first error, by two headers or more: one alone may be the user's.
fn include_of_user(stderr: &str) -> Option<String> {
    let before: Vec<&str> = stderr.lines().take_while(|line| !line.contains("error: ")).collect();
    let begin = before.iter().rposition(|line| !line.starts_with(INCLUDED)).map_or(0, |at| at + 1);
    let (outermost, others) = before[begin..].split_first()?;
    let place = outermost.strip_prefix(INCLUDED)?.trim_end_matches(':');
    (!others.is_empty()).then(|| place.rsplit('/').next().unwrap_or(place).to_owned())
}

/// The prerequisites in a make rule written by `-MD`, or by a linker, made absolute; generated files left out.
pub fn read_dependencies(rule: &Path, staging: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(rule).unwrap_or_default();
    let text = text.replace("\\\n", " ");
    // Linkers write a rule without prerequisites for each of the files after it.
    let rule = text.lines().next().unwrap_or_default();
    let prerequisites = rule.split_once(": ").map_or("", |(_, rest)| rest);
    split_escaped(prerequisites)
        .into_iter()
        .map(PathBuf::from)
        .filter(|p| !p.starts_with(staging))
        .filter_map(|p| std::path::absolute(p).ok())
        .collect()
}

/// Words of a make rule, where `\ ` stands for a blank inside a word, `\#` for a hash and `$$` for a dollar.
fn split_escaped(text: &str) -> Vec<String> {
    let (mut words, mut word, mut chars) = (Vec::new(), String::new(), text.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '\\' if matches!(chars.peek(), Some(' ' | '#')) => word.extend(chars.next()),
            '$' if chars.peek() == Some(&'$') => word.extend(chars.next()),
            c if c.is_whitespace() => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words.retain(|w| !w.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_in_a_librarys_header_is_quoted_without_its_includes() {
        let includes = "In file included from /u/a.cpp:4:\nIn file included from /l/geometry.hpp:17:\n";
        let error = "/l/wrapper.hpp:73:31: error: not a constant expression\n   73 | typedef X;\n";
        let text = format!("/u/a.cpp:1:1: warning: old\n{includes}{error}{includes}/l/b.hpp:1:1: error: other\n");
        assert_eq!(include_of_user(&text).as_deref(), Some("a.cpp:4"));
        assert_eq!(said(&text), format!("{error}/l/b.hpp:1:1: error: other"));
        assert_eq!(include_of_user(error), None);
    }

    #[test]
    fn names_with_blanks_survive_a_make_rule() {
        assert_eq!(split_escaped(r"a\ b.c  c.h"), ["a b.c", "c.h"]);
        assert_eq!(split_escaped(r"\#a.c $$b.h"), ["#a.c", "$b.h"]);
    }
}

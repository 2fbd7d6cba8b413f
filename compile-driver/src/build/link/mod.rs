//! Runs the linker, and explains undefined and duplicate symbols to the user.

pub(crate) mod libraries;

use crate::build::mpi;
use crate::cache;
use crate::error::{Error, Result};
use crate::options::{self, Spec};
use crate::os::process::{self, ProcessError};
use crate::source_text;
use crate::toolchain::Tools;
use core_ad::diagnostics::Diagnosis;
use core_ad::names;
use std::collections::BTreeSet;
use std::process::Command;

/// clang as the linker of a shared object. `exceptions`: it is linked to the C++ library.
pub fn linker(tools: &Tools, exceptions: bool) -> Command {
    let mut command = Command::new(if exceptions { &tools.clangxx.path } else { &tools.clang.path });
    command.arg("-shared");
    if let Some(linker) = &tools.linker {
        // All that is undefined at once.
        command.arg(format!("--ld-path={}", linker.display())).arg("-Wl,--error-limit=0");
    }
    if exceptions {
        command.args(&tools.stdlib_flags).args(&tools.stdlib_link_flags);
    }
    command
}

/// The arguments for the libraries that the user asks for, and for MPI's.
///
/// # Errors
///
/// [`crate::error::CacheError::Io`] where there is no working folder; toolchain errors of MPI.
pub fn libraries(spec: &Spec) -> Result<Vec<String>> {
    let mut arguments: Vec<String> =
        libraries::folders(spec).iter().map(|folder| format!("-L{}", folder.display())).collect();
    let folders = libraries::loaded_from(spec);
    if !folders.is_empty() {
        // DT_RPATH, not DT_RUNPATH: what the libraries need themselves is looked for in these folders too.
        arguments.push("-Wl,--disable-new-dtags".to_owned());
    }
    arguments.extend(folders.iter().map(|folder| format!("-Wl,-rpath,{}", folder.display())));
    for library in &spec.options.libraries {
        arguments.push(match options::as_path(library) {
            Some(path) => std::path::absolute(path).map_err(cache::io("find", path))?.display().to_string(),
            None => format!("-l{library}"),
        });
    }
    arguments.extend(mpi::wanted(&spec.options)?.into_iter().flat_map(|mpi| mpi.link));
    Ok(arguments)
}

/// Links.
///
/// # Errors
///
/// A compile error with the linker's output.
pub fn run(spec: &Spec, command: &mut Command) -> Result<()> {
    let timeout = spec.options.time_limit();
    let unfinished = |e: ProcessError| {
        let headline = format!("the linker did not finish: {e}");
        Error::compile(Diagnosis::new("linker-failed", &spec.function, headline))
    };
    let output = process::run(command, None, timeout)
        .map_err(|e| Error::of_child(e, &spec.function, unfinished).while_compiling())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(unlinked(spec, &String::from_utf8_lossy(&output.stderr))),
    }
}

/// An error of the module linker about two definitions of a function is an error of the sources.
pub fn defined_twice(spec: &Spec, error: Error) -> Error {
    let name = error.diagnosis().and_then(|d| {
        let (_, rest) = d.headline.split_once("Linking globals named '")?;
        rest.split_once("': symbol multiply defined").map(|(name, _)| names::demangle(name))
    });
    let Some(name) = name else { return error };
    let headline = format!("`{name}` is defined by more than one of the sources: {}", source_text::names(spec));
    Error::compile(
        Diagnosis::new("defined-twice", &spec.function, headline)
            .advise("Give each source once, and make functions that are in each of several files static or inline."),
    )
}

/// Symbols in one message.
const MOST_NAMED: usize = 40;

/// The error for an artifact that does not link, from its output.
fn unlinked(spec: &Spec, stderr: &str) -> Error {
    // A linker that cannot be loaded itself speaks of symbols too.
    let of_the_program = |l: &&str| !l.contains("symbol lookup error");
    let undefined: BTreeSet<String> = stderr
        .lines()
        .filter(of_the_program)
        .filter_map(|l| {
            let (_, rest) = l.split_once("undefined symbol: ").or_else(|| l.split_once("undefined reference to "))?;
            Some(rest.trim_matches(|c| "`'".contains(c)).to_owned())
        })
        .collect();
    let diagnosis = match undefined.first() {
        Some(symbol) => {
            let named: Vec<String> = undefined.iter().take(MOST_NAMED).map(|symbol| format!("`{symbol}`")).collect();
            let more = undefined.len().saturating_sub(MOST_NAMED);
            let headline = match (named.len(), more) {
                (1, _) => format!("`{}` calls `{symbol}`, which has no body in the sources given", spec.function),
                (_, 0) => {
                    format!("`{}` needs {}, which have no body in the sources given", spec.function, named.join(", "))
                }
                _ => format!(
                    "`{}` needs {} and {more} more, which have no body in the sources given",
                    spec.function,
                    named.join(", ")
                ),
            };
            let diagnosis = Diagnosis::new("undefined-symbol", &spec.function, headline);
            if symbol.starts_with("omp_") {
                return Error::compile(
                    diagnosis.advise("It is OpenMP's: flags=[\"-fopenmp\"] (`ffgrad explain parallel`)."),
                );
            }
            diagnosis
                .advise("Give its source too: enzyme([\"FILE\", \"OTHER\"], ...), or its folder,")
                .advise("or the library that has it: libraries=[\"NAME\"].")
        }
        None => Diagnosis::new("link", &spec.function, format!("`{}` does not link", spec.function)).quote(stderr),
    };
    Error::compile(diagnosis)
}

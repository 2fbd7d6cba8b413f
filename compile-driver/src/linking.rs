//! What linkers say of sources that lack something, or have it twice, as the user is told.

use crate::error::Error;
use crate::frontend;
use crate::options::Spec;
use core_ad::diagnostics::Diagnosis;
use core_ad::names;

/// What the linker of modules says of two sources that define the same function is the sources' fault.
pub fn defined_twice(spec: &Spec, error: Error) -> Error {
    let name = error.diagnosis().and_then(|d| {
        let (_, rest) = d.headline.split_once("Linking globals named '")?;
        rest.split_once("': symbol multiply defined").map(|(name, _)| names::demangle(name))
    });
    let Some(name) = name else { return error };
    let headline = format!("`{name}` is defined by more than one of the sources: {}", frontend::source_names(spec));
    frontend::compile_error(
        Diagnosis::new("defined-twice", &spec.function, headline)
            .advise("Give each source once, and make functions that are in each of several files static or inline."),
    )
}

/// The error for an artifact that does not link, from what the linker said.
pub fn unlinked(spec: &Spec, stderr: &str) -> Error {
    // A linker that cannot be loaded itself speaks of symbols too.
    let of_the_program = |l: &&str| !l.contains("symbol lookup error");
    let undefined = stderr.lines().filter(of_the_program).find_map(|l| {
        let (_, rest) = l.split_once("undefined symbol: ").or_else(|| l.split_once("undefined reference to "))?;
        Some(rest.trim_matches(|c| "`'".contains(c)).to_owned())
    });
    let diagnosis = match undefined {
        Some(symbol) => {
            let headline = format!("`{}` calls `{symbol}`, which has no body in the sources given", spec.function);
            Diagnosis::new("undefined-symbol", &spec.function, headline)
                .advise("Give its source too: enzyme([\"FILE.c\", \"OTHER.c\"], ...),")
                .advise("or the library that has it: libraries=[\"NAME\"].")
        }
        None => Diagnosis::new("link", &spec.function, format!("`{}` does not link", spec.function)).quote(stderr),
    };
    frontend::compile_error(diagnosis)
}

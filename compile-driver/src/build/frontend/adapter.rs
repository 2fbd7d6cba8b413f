//! Adapters of C and C++ functions: written beside the build, compiled with the source that they include.

use crate::build::frontend::compiler;
use crate::build::frontend::language::Language;
use crate::error::{CacheError, Error, Result};
use crate::options::Spec;
use core_ad::diagnostics::Diagnosis;
use core_ad::{Prototype, adapter, names};
use std::path::{Path, PathBuf};

/// A function with pointers and sizes around the user's, in a file.
#[derive(PartialEq, Eq)]
pub struct Adapter {
    /// Which of the sources it includes.
    pub source: usize,
    /// The file.
    pub unit: PathBuf,
    /// Its text.
    pub text: String,
}

/// Writes the adapter of a function that needs one; `None` where it needs none, or where no adapter can take its parameters.
///
/// # Errors
///
/// Where the file cannot be written.
pub fn write(spec: &Spec, prototype: &Prototype, staging: &Path) -> Result<Option<Adapter>> {
    if !adapter::is_needed(prototype) {
        return Ok(None);
    }
    // A header's function belongs to whichever source includes it: the first is as good as any.
    let file = Path::new(&prototype.file).canonicalize().ok();
    let own = |i: &usize| {
        let read = compiler::read_dependencies(&staging.join(format!("source{i}.d")), staging);
        read.iter().any(|path| path.canonicalize().ok() == file)
    };
    let source = (0..spec.sources.len()).find(own).unwrap_or(0);
    let Some(path) = spec.sources.get(source) else { return Ok(None) };
    let (name, is_cpp) = match Language::of(path, &spec.function)? {
        Language::Cpp => ("adapter.cpp", true),
        Language::C => ("adapter.c", false),
        Language::Cuda | Language::Fortran => return Ok(None),
    };
    let callee = names::callee(&prototype.symbol);
    written(prototype, &callee, path, is_cpp, source, &staging.join(name)).map(Some)
}

/// Writes the adapter that the text of a C++ source foretells; `None` where it foretells none. Whether the function needs just this one is
/// known when it is compiled.
///
/// # Errors
///
/// Where the file cannot be written.
pub fn foretold(spec: &Spec, staging: &Path) -> Result<Option<Adapter>> {
    let [path] = &spec.sources[..] else { return Ok(None) };
    if spec.options.reach.is_some() || Language::of(path, &spec.function)? != Language::Cpp {
        return Ok(None);
    }
    let text = std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    match adapter::foretold::prototype(&text, &spec.function) {
        Some((prototype, callee)) => {
            written(&prototype, &callee, path, true, 0, &staging.join("adapter.cpp")).map(Some)
        }
        None => Ok(None),
    }
}

fn written(
    prototype: &Prototype,
    callee: &str,
    path: &Path,
    is_cpp: bool,
    source: usize,
    unit: &Path,
) -> Result<Adapter> {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let text = adapter::source(prototype, callee, &absolute.display().to_string(), is_cpp);
    let unit = unit.to_owned();
    std::fs::write(&unit, &text).map_err(|source| CacheError::Io { action: "write", path: unit.clone(), source })?;
    Ok(Adapter { source, unit, text })
}

/// The error for an adapter that does not compile, though its source does.
pub fn rejected(spec: &Spec, prototype: &Prototype, error: Error) -> Error {
    let Error::Compile(diagnosis) = error else { return error };
    let headline = format!("the adapter that ffgrad made for `{prototype}` does not compile");
    let output = diagnosis.output.clone().unwrap_or_else(|| diagnosis.headline.clone());
    Error::compile(
        Diagnosis::new("adapter", &spec.function, headline).quote(output).advise(
            "Write a function around it that takes pointers to numbers, and numbers, and give that one's name.",
        ),
    )
}

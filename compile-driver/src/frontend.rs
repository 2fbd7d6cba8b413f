//! The front ends; those for C and C++ here, that for Fortran in [`crate::fortran`]: from source files to unoptimised LLVM bitcode with debug information.
//!
//! The source is compiled once, without optimisation but with everything optimisation needs (type-based
//! aliasing, lifetimes); each rung of the ladder optimises that bitcode in its own way.

use crate::cache::Cache;
use crate::cuda;
use crate::error::{CacheError, Error, Result};
use crate::fortran;
use crate::options::Spec;
use crate::process::{self, ProcessError};
use crate::toolchain::Tools;
use core_ad::diagnostics::{self, Diagnosis, Location};
use core_ad::fortran::Found;
use core_ad::protocol::Math;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The language of a source file, by its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `.c`
    C,
    /// `.cpp`, `.cc`, `.cxx`, `.C`
    Cpp,
    /// `.f90` and later years, `.f`, `.for` (fixed form), all also in capitals (with the preprocessor)
    Fortran,
    /// `.cu`
    Cuda,
}

impl Language {
    /// The language of a file.
    ///
    /// # Errors
    ///
    /// A compile error for extensions that no front end takes.
    pub fn of(path: &Path, function: &str) -> Result<Self> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("c") => Ok(Language::C),
            Some("cpp" | "cc" | "cxx" | "C" | "c++") => Ok(Language::Cpp),
            Some(other) if FORTRAN.contains(&other.to_lowercase().as_str()) => Ok(Language::Fortran),
            _ if cuda::is_cuda(path) => Ok(Language::Cuda),
            other => {
                let found = other.map_or("no extension".to_owned(), |e| format!("`.{e}`"));
                let headline = format!("`{}` has {found}, which no front end takes", path.display());
                Err(compile_error(
                    Diagnosis::new("unknown-language", function, headline)
                        .advise("C files end in .c, C++ files in .cpp, .cc or .cxx, Fortran files in .f90 or .f,")
                        .advise("CUDA files in .cu."),
                ))
            }
        }
    }
}

/// Extensions of Fortran sources; which of them are fixed form is flang's to know.
const FORTRAN: [&str; 9] = ["f90", "f95", "f03", "f08", "f18", "f", "for", "ftn", "f77"];

/// What compiling the sources gave.
#[derive(Default)]
pub struct Compiled {
    /// One bitcode file per source.
    pub modules: Vec<PathBuf>,
    /// Every file that was read: sources and headers, absolute.
    pub dependencies: Vec<PathBuf>,
    /// The command lines.
    pub commands: Vec<String>,
    /// Procedures of the Fortran sources.
    pub procedures: Vec<Found>,
}

/// Whether any of the sources is C++.
pub fn is_cpp(spec: &Spec) -> Result<bool> {
    let languages = spec.sources.iter().map(|s| Language::of(s, &spec.function));
    Ok(languages.collect::<Result<Vec<_>>>()?.contains(&Language::Cpp))
}

/// Compiles every source into `staging`. `all_declarations` also emits functions that nothing in the
/// source uses (inline and static ones). `headers` has `ffgrad/derivatives.h`.
pub fn compile(
    tools: &Tools,
    spec: &Spec,
    cache: &Cache,
    staging: &Path,
    headers: &Path,
    all_declarations: bool,
) -> Result<Compiled> {
    let mut result = Compiled::default();
    fortran::compile(tools, spec, headers, staging, &mut result)?;
    for (i, source) in spec.sources.iter().enumerate() {
        let language = Language::of(source, &spec.function)?;
        if language == Language::Fortran {
            continue;
        }
        let on_device = language == Language::Cuda;
        let module = staging.join(format!("source{i}.{}", if on_device { "ll" } else { "bc" }));
        let deps = staging.join(format!("source{i}.d"));
        let unit = translation_unit(spec, source, language, staging, i)?;
        let mut command =
            if on_device { cuda::frontend::clang(tools, spec, cache)? } else { clang(tools, spec, language) };
        command.arg("-idirafter").arg(headers);
        user_flags(&mut command, spec);
        command.args(crate::mpi::wanted(&spec.options)?.into_iter().flat_map(|mpi| mpi.compile));
        if all_declarations {
            command.args(["-Xclang", "-femit-all-decls"]);
        }
        let form = if on_device { "-S" } else { "-c" };
        command.args([form, "-emit-llvm", "-MD", "-MF"]).arg(&deps).arg("-o").arg(&module).arg(&unit);
        result.commands.push(process::command_line(&command));
        execute(spec, &mut command)?;
        if on_device {
            cuda::frontend::make_host(spec, &module, i)?;
        }
        result.dependencies.extend(read_dependencies(&deps, staging));
        result.modules.push(module);
    }
    result.dependencies.sort();
    result.dependencies.dedup();
    Ok(result)
}

fn clang(tools: &Tools, spec: &Spec, language: Language) -> Command {
    let options = &spec.options;
    let mut command = Command::new(match language {
        Language::C | Language::Fortran => &tools.clang.path,
        Language::Cpp | Language::Cuda => &tools.clangxx.path,
    });
    // -O2 makes the front end emit what the optimiser needs; the optimiser itself is the worker.
    command.args(["-O2", "-g", "-fPIC", "-Xclang", "-disable-llvm-passes", "-fno-discard-value-names"]);
    // errno is no part of any gradient, and without it LLVM and the engine know more functions.
    command.args(["-fno-math-errno", "-fcomplex-arithmetic=improved", "-fno-color-diagnostics"]);
    command.arg(match options.math {
        Math::Strict => "-ffp-contract=off",
        Math::Contract => "-ffp-contract=on",
        Math::Fast => "-ffast-math",
    });
    if language == Language::Cpp {
        command.args(&tools.stdlib_flags);
    }
    command
}

/// Folders, macros and flags that the user gave.
pub fn user_flags(command: &mut Command, spec: &Spec) {
    let options = &spec.options;
    command.args(options.include_dirs.iter().map(|d| format!("-I{}", d.display())));
    for (name, value) in &options.defines {
        command.arg(match value {
            Some(value) => format!("-D{name}={value}"),
            None => format!("-D{name}"),
        });
    }
    command.args(&options.flags);
    command.args(crate::openmp::header_flags(options));
}

/// The file given to the compiler. A template instance must be asked for in the source's own language:
/// taking the address of `f<double>` makes the compiler emit it, of a kernel's an explicit instantiation does.
pub(crate) fn translation_unit(
    spec: &Spec,
    source: &Path,
    language: Language,
    staging: &Path,
    i: usize,
) -> Result<PathBuf> {
    if !spec.function.contains('<') || i != 0 {
        return Ok(source.to_owned());
    }
    let name = spec.function.split('(').next().unwrap_or(&spec.function);
    let (file, instance) = match language {
        Language::Cpp => {
            ("instance.cpp", format!("__attribute__((used)) static auto *const ffgrad_instance = &{name};"))
        }
        Language::Cuda => ("instance.cu", cuda::frontend::instance(source, name)),
        Language::C | Language::Fortran => return Ok(source.to_owned()),
    };
    let text = format!("#include \"{}\"\n{instance}\n", source.display());
    let path = staging.join(file);
    std::fs::write(&path, text).map_err(|source| CacheError::Io { action: "write", path: path.clone(), source })?;
    Ok(path)
}

/// Runs a compiler.
///
/// # Errors
///
/// A compile error with its first message.
pub fn execute(spec: &Spec, command: &mut Command) -> Result<()> {
    let timeout = Duration::from_secs(spec.options.timeout);
    let output = process::run(command, None, timeout).map_err(|e| not_run(spec, e))?;
    if output.status.success() {
        return Ok(());
    }
    Err(rejected(spec, &String::from_utf8_lossy(&output.stderr)))
}

/// The error for a compiler that could not be run to its end.
pub fn not_run(spec: &Spec, error: ProcessError) -> Error {
    let failed = |error: ProcessError| {
        let headline = format!("the compiler did not finish on `{}`: {error}", spec.function);
        compile_error(
            Diagnosis::new("compiler-failed", &spec.function, headline)
                .advise("Raise the limit with timeout=SECONDS if the source is large, or run `ffgrad doctor`."),
        )
    };
    Error::of_child(error, &spec.function, failed).while_compiling()
}

/// The error for a source that a compiler refused, from what it said.
pub fn rejected(spec: &Spec, stderr: &str) -> Error {
    let first = diagnostics::compiler_error(stderr);
    let (location, message) = match first {
        Some((at, message)) => (Some(with_text(at)), message),
        None => (None, "the compiler refused the source".to_owned()),
    };
    let file = location.as_ref().map_or_else(|| source_names(spec), |l| l.file.clone());
    let file = file.rsplit('/').next().unwrap_or_default().to_owned();
    let mut diagnosis = Diagnosis::new("syntax", &spec.function, format!("`{file}` does not compile: {message}"));
    if message.ends_with("file not found") {
        diagnosis.code = "missing-header".to_owned();
        diagnosis = diagnosis.advise("Add the header's folder: include_dirs=[\"...\"].");
    }
    diagnosis.location = location;
    let shown: Vec<&str> = stderr.lines().take(20).collect();
    compile_error(diagnosis.quote(shown.join("\n")))
}

/// The sources as the user gave them.
pub fn source_names(spec: &Spec) -> String {
    spec.sources.iter().map(|s| s.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Adds the text of the source line to a location.
pub fn with_text(mut at: Location) -> Location {
    let text = std::fs::read(&at.file).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default();
    at.text = (at.line as usize).checked_sub(1).and_then(|i| text.lines().nth(i)).map(str::to_owned);
    at
}

/// A compile error.
pub fn compile_error(diagnosis: Diagnosis) -> Error {
    Error::Compile(Box::new(diagnosis))
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
    fn names_with_blanks_survive_a_make_rule() {
        assert_eq!(split_escaped(r"a\ b.c  c.h"), ["a b.c", "c.h"]);
        assert_eq!(split_escaped(r"\#a.c $$b.h"), ["#a.c", "$b.h"]);
    }

    #[test]
    fn an_unknown_extension_is_refused_with_the_known_ones() {
        let error = Language::of(Path::new("f.py"), "f").unwrap_err().to_string();
        assert!(error.contains("`.py`") && error.contains(".cpp"), "{error}");
    }
}

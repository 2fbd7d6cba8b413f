//! The language of a source, by its file's extension.

use crate::build::frontend::host_code::LeftOut;
use crate::build::frontend::inputs::Inputs;
use crate::error::{Error, Result};
use crate::options::{self, Spec};
use core_ad::diagnostics::Diagnosis;
use core_ad::fortran::Found;
use std::path::{Path, PathBuf};

/// The language of a source file, by its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `.c`, and `.h` without what only C++ has
    C,
    /// `.cpp`, `.cc`, `.cxx`, `.C`; headers: `.hpp` and its kin, and `.h` with what only C++ has
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
            Some("cpp" | "cc" | "cxx" | "C" | "c++" | "hpp" | "hh" | "hxx" | "H" | "h++") => Ok(Language::Cpp),
            Some("h") => Ok(of_header(path)),
            Some(other) if FORTRAN.contains(&other.to_lowercase().as_str()) => Ok(Language::Fortran),
            _ if options::is_cuda(path) => Ok(Language::Cuda),
            other => {
                let found = other.map_or("no extension".to_owned(), |e| format!("`.{e}`"));
                let headline = format!("`{}` has {found}, which no front end takes", path.display());
                Err(Error::compile(
                    Diagnosis::new("unknown-language", function, headline)
                        .advise("C files end in .c or .h, C++ files in .cpp, .cc, .cxx, .hpp or .h, Fortran files in .f90 or .f,")
                        .advise("CUDA files in .cu."),
                ))
            }
        }
    }
}

/// Extensions of Fortran sources; which of them are fixed form is flang's to know.
const FORTRAN: [&str; 9] = ["f90", "f95", "f03", "f08", "f18", "f", "for", "ftn", "f77"];

/// Whether a flag means something to flang and nothing to clang, so that sources in both languages can be given it.
pub fn is_of_flang_alone(flag: &str) -> bool {
    const WHOLE: [&str; 12] = [
        "-ffree-form",
        "-ffixed-form",
        "-fdefault-real-8",
        "-fdefault-double-8",
        "-fdefault-integer-8",
        "-fno-automatic",
        "-fimplicit-none",
        "-fimplicit-none-ext",
        "-fbackslash",
        "-fxor-operator",
        "-flogical-abbreviations",
        "-funsigned",
    ];
    WHOLE.contains(&flag)
        || ["-ffixed-line-length", "-std=f", "-fconvert=", "-frealloc-lhs"].iter().any(|start| flag.starts_with(start))
}

/// Whether a flag means something to clang and nothing to flang.
pub fn is_of_clang_alone(flag: &str) -> bool {
    const STARTS: [&str; 7] = ["-std=c", "-std=gnu", "-stdlib=", "-fno-rtti", "-fno-exceptions", "-include", "-iquote"];
    STARTS.iter().any(|start| flag.starts_with(start))
}

/// Whether a flag means something for sources in the other of C and C++ alone: a standard, or what C lacks.
pub fn is_of_other(flag: &str, language: Language) -> bool {
    let starts = |with: &[&str]| with.iter().any(|start| flag.starts_with(start));
    let is_cpp = starts(&["-std=c++", "-std=gnu++", "-stdlib=", "-fno-rtti"]);
    match language {
        Language::C => is_cpp,
        Language::Cpp => starts(&["-std=c", "-std=gnu"]) && !is_cpp,
        Language::Fortran | Language::Cuda => false,
    }
}

/// Whether some sources are in C, and others in C++.
pub fn mixes(spec: &Spec) -> bool {
    let languages: Vec<Language> = spec.sources.iter().filter_map(|s| Language::of(s, &spec.function).ok()).collect();
    languages.contains(&Language::C) && languages.contains(&Language::Cpp)
}

/// The language of a header: words and names of headers of C++ tell it from C.
fn of_header(path: &Path) -> Language {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let is_cpp = |line: &str| {
        let line = line.trim_start();
        let included = line.strip_prefix('#').map(str::trim_start).and_then(|l| l.strip_prefix("include"));
        let is_header = included.and_then(|l| l.trim().strip_prefix('<')).is_some_and(|name| !name.contains('.'));
        let words = ["template", "namespace", "class", "using", "constexpr"];
        let starts = |word: &&str| line.strip_prefix(*word).is_some_and(|rest| rest.starts_with([' ', '<', '\t']));
        is_header || words.iter().any(starts) || (!line.starts_with(['/', '*']) && line.contains("std::"))
    };
    // C headers for both have `extern "C"` where a macro says that it is C++.
    if text.lines().any(is_cpp) { Language::Cpp } else { Language::C }
}

/// Whether a file is a header, which is a source only where it is given as one.
pub fn is_header(path: &Path) -> bool {
    path.extension().and_then(|e| e.to_str()).is_some_and(|e| e.starts_with(['h', 'H']))
}

/// What tells clang that a header is a source; nothing for other files, whose language it knows.
pub fn as_source(path: &Path, language: Language) -> &'static [&'static str] {
    match language {
        Language::Cpp if is_header(path) => &["-x", "c++"],
        Language::C if is_header(path) => &["-x", "c"],
        _ => &[],
    }
}

/// Whether any of the sources is C++.
pub fn is_cpp(spec: &Spec) -> Result<bool> {
    let languages = spec.sources.iter().map(|s| Language::of(s, &spec.function));
    Ok(languages.collect::<Result<Vec<_>>>()?.contains(&Language::Cpp))
}

/// Whether any of the sources is Fortran.
pub fn is_fortran(spec: &Spec) -> bool {
    spec.sources.iter().any(|s| matches!(Language::of(s, &spec.function), Ok(Language::Fortran)))
}

/// What compiling the sources gave.
#[derive(Default)]
pub struct Compiled {
    /// One bitcode file per source.
    pub modules: Vec<PathBuf>,
    /// Every file that was read: sources and headers, absolute.
    pub dependencies: Vec<PathBuf>,
    /// What else the compilation depends on.
    pub inputs: Inputs,
    /// The command lines.
    pub commands: Vec<String>,
    /// Procedures of the Fortran sources.
    pub procedures: Vec<Found>,
    /// Host code of CUDA sources that does not compile.
    pub left_out: LeftOut,
}

/// One source that was compiled.
pub struct Part {
    /// Its bitcode.
    pub module: PathBuf,
    /// The command line.
    pub command: String,
    /// Every file that was read.
    pub read: Vec<PathBuf>,
    /// What else the compilation depends on.
    pub inputs: Inputs,
    /// Host code of a CUDA source that does not compile.
    pub left_out: LeftOut,
}

impl Compiled {
    /// Adds a source.
    pub fn add(&mut self, part: Part) {
        self.modules.push(part.module);
        self.commands.push(part.command);
        self.dependencies.extend(part.read);
        self.inputs.extend(part.inputs);
        self.left_out.extend(part.left_out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_extension_is_refused_with_the_known_ones() {
        let error = Language::of(Path::new("f.py"), "f").unwrap_err().to_string();
        assert!(error.contains("`.py`") && error.contains(".cpp"), "{error}");
    }
}

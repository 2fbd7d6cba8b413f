//! clang for C and C++: from a source to unoptimised LLVM bitcode with debug information.

use crate::build::frontend::language::Language;
use crate::build::frontend::{compiler, cuda};
use crate::build::rules::bundled;
use crate::error::{CacheError, Result};
use crate::options::Spec;
use crate::toolchain::Tools;
use core_ad::protocol::Math;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Libraries that write vector instructions themselves are asked for plain loops. Enzyme differentiates those better, or at all (absolute
/// values by bit masks), they are a fraction of the code, and LLVM vectorises them after differentiation. `-U` in the user's flags undoes it.
pub const NO_VECTORS: [&str; 1] = ["-DEIGEN_DONT_VECTORIZE"];

/// clang's command for a source, without the user's flags.
pub fn command(tools: &Tools, spec: &Spec, language: Language) -> Command {
    let options = &spec.options;
    let mut command = Command::new(match language {
        Language::C | Language::Fortran => &tools.clang.path,
        Language::Cpp | Language::Cuda => &tools.clangxx.path,
    });
    // -O2 makes the front end emit what the optimiser needs; the optimiser itself is the worker.
    command.args(["-O2", "-g", "-fPIC", "-Xclang", "-disable-llvm-passes", "-fno-discard-value-names"]);
    // errno is no part of any gradient, and without it LLVM and Enzyme know more functions.
    command.args(["-fno-math-errno", "-fcomplex-arithmetic=improved", "-fno-color-diagnostics"]);
    command.arg(match options.math {
        Math::Strict => "-ffp-contract=off",
        Math::Contract => "-ffp-contract=on",
        Math::Fast => "-ffast-math",
    });
    if language == Language::Cpp {
        command.args(&tools.stdlib_flags).args(NO_VECTORS);
        // `x.template f(y)`, which older compilers took, is an error by default, and clear all the same.
        command.args(["-Wno-unknown-warning-option", "-Wno-missing-template-arg-list-after-template-kw"]);
    }
    command
}

/// Folders with headers of ffgrad's own that come before Eigen's and Boost's, where the compiler finds those. `headers`: where they all are.
pub fn before_libraries(spec: &Spec, headers: &Path) -> Vec<PathBuf> {
    let given = ["-I", "-isystem"].into_iter().flat_map(|option| compiler::by_folder(&spec.options.flags, option).0);
    let system = ["/usr/local/include", "/usr/include"].map(PathBuf::from);
    let all: Vec<PathBuf> = spec.options.include_dirs.iter().cloned().chain(given).chain(system).collect();
    let has = |file: &str| all.iter().any(|folder| folder.join(file).is_file());
    let eigen = bundled::BEFORE_EIGEN.into_iter().filter(|(_, prefix)| has(&format!("{prefix}Eigen/Core")));
    let boost = has("boost/version.hpp").then_some(bundled::BEFORE_BOOST);
    eigen.map(|(folder, _)| folder).chain(boost).map(|folder| headers.join(folder)).collect()
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
    // Parameters may be instances too.
    let name = spec.function.split('(').next().unwrap_or(&spec.function);
    if !name.contains('<') || i != 0 {
        return Ok(source.to_owned());
    }
    let (file, instance) = match language {
        Language::Cpp => {
            ("instance.cpp", format!("__attribute__((used)) static auto *const ffgrad_instance = &{name};"))
        }
        Language::Cuda => ("instance.cu", cuda::instance(source, name)),
        Language::C | Language::Fortran => return Ok(source.to_owned()),
    };
    // It is compiled from another folder than the one that a relative path counts from.
    let source = std::path::absolute(source).unwrap_or_else(|_| source.to_owned());
    let text = format!("#include \"{}\"\n{instance}\n", source.display());
    let path = staging.join(file);
    std::fs::write(&path, text).map_err(|source| CacheError::Io { action: "write", path: path.clone(), source })?;
    Ok(path)
}

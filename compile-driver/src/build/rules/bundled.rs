//! The rules library: derivatives and replacements of functions that Enzyme lacks or gets wrong.
//!
//! A rule is a C file in `compile-driver/rules/`. Lines of the form `FFGRAD_REPLACES(lgamma, ffgrad_lgamma)` declare which
//! functions of other code it stands for: a call of the first is made a call of the second, which the file
//! defines in terms Enzyme knows or gives a derivative with `ffgrad/derivatives.h`. Only the files that a module asks
//! for are compiled, once per tool set, and linked to it.

use crate::cache::{self, Cache, contents};
use crate::error::{Error, Result};
use crate::os::process;
use crate::toolchain::{self, Tools};
use core_ad::diagnostics::Diagnosis;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// One file of the library.
struct File {
    name: &'static str,
    text: &'static str,
}

/// The rules for assignments by the number of dimensions, which the worker calls in the place of the general one.
const RANKS: &str = "flang_ranks.c";

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(File { name: $name, text: include_str!(concat!("../../../rules/", $name)) }),*]
    };
}

/// Every rule.
const FILES: &[File] = files![
    "blas_d.c",
    "blas_s.c",
    "fftw_d.c",
    "fftw_s.c",
    "flang_arrays.c",
    "flang_assign.c",
    "flang_constructors.c",
    "flang_powers.c",
    "flang_ranks.c",
    "flang_stop.cpp",
    "gamma.c",
    "gsl_complex.c",
    "gsl_error.c",
    "gsl_factor.c",
    "gsl_fft.c",
    "gsl_integration.c",
    "gsl_interp.c",
    "gsl_interp2d.c",
    "gsl_linalg.c",
    "gsl_multimin.c",
    "gsl_multiroots.c",
    "gsl_nlinear.c",
    "gsl_numeric.c",
    "gsl_odeiv2.c",
    "gsl_ran.c",
    "gsl_roots.c",
    "gsl_sf.c",
    "gsl_stats.c",
    "lapack_environment.c",
    "lists.c",
    "math.c",
    "sort.c",
    "values.c",
];

/// Headers, by their path below the include folder. The first is for users too.
const HEADERS: &[File] = files![
    "include/ffgrad/derivatives.h",
    "include/ffgrad/double_precision.h",
    "include/ffgrad/eigen.h",
    "include/ffgrad/eigen_settings.h",
    "include/ffgrad/flang.h",
    "include/ffgrad/implicit.h",
    "include/ffgrad/rules/blas.h",
    "include/ffgrad/rules/blas_level3.h",
    "include/ffgrad/rules/blas_loops.h",
    "include/ffgrad/rules/blas_more_names.h",
    "include/ffgrad/rules/blas_names.h",
    "include/ffgrad/rules/fftw.h",
    "include/ffgrad/rules/gsl.h",
    "include/ffgrad/rules/gsl_newton.h",
    "include/ffgrad/rules/gsl_vector.h",
    "include/ffgrad/rules/lapack.h",
    "include/ffgrad/rules/lapack_band.h",
    "include/ffgrad/rules/lapack_eigen.h",
    "include/ffgrad/rules/lapack_expert.h",
    "include/ffgrad/rules/lapack_geev.h",
    "include/ffgrad/rules/lapack_inverse.h",
    "include/ffgrad/rules/lapack_norms.h",
    "include/ffgrad/rules/lapack_svd.h",
    "include/ffgrad/rules/values.h",
    "include/openmp/omp.h",
    "include/stdcxx/any",
    "include/stdcxx/bits/std_function.h",
    "include/stdcxx/variant",
];

/// Folder below the include folder whose headers come before those of the C++ library.
pub const BEFORE_STDCXX: &str = "stdcxx";

/// Folder below the include folder whose headers come before Eigen's, as `Eigen/Dense`, and the one for those who write `eigen3/Eigen/Dense`.
pub const BEFORE_EIGEN: [(&str, &str); 2] = [("eigen", ""), ("eigen-below", "eigen3/")];

/// Headers of Eigen that programs include. Before each stand its settings, behind it plain loops for its kernels.
const OF_EIGEN: [&str; 20] = [
    "Eigen/Cholesky",
    "Eigen/Core",
    "Eigen/Dense",
    "Eigen/Eigen",
    "Eigen/Eigenvalues",
    "Eigen/Geometry",
    "Eigen/Householder",
    "Eigen/IterativeLinearSolvers",
    "Eigen/Jacobi",
    "Eigen/LU",
    "Eigen/OrderingMethods",
    "Eigen/QR",
    "Eigen/SVD",
    "Eigen/Sparse",
    "Eigen/SparseCholesky",
    "Eigen/SparseCore",
    "Eigen/SparseLU",
    "Eigen/SparseQR",
    "unsupported/Eigen/CXX11/Tensor",
    "unsupported/Eigen/MatrixFunctions",
];

/// Folder below the include folder whose headers come before Boost's.
pub const BEFORE_BOOST: &str = "boost-headers";

/// Enumerations of Boost's conversions of numbers, which compute values outside of the range that C++ gives them: an error in clang 16 and later, and
/// fixed in Boost 1.81. Each is the only one of a header, which gives it all values of an `int`.
const OF_BOOST: [&str; 3] = ["int_float_mixture_enum", "sign_mixture_enum", "udt_builtin_mixture_enum"];

/// The header that stands before one of Boost.
fn around_boost(header: &str, enumeration: &str) -> String {
    let wide = format!(
        "#if BOOST_VERSION < 108100 && __cplusplus >= 201103L\n#define {enumeration} {enumeration} : int\n#endif\n"
    );
    format!(
        "#pragma GCC system_header\n#include <boost/version.hpp>\n{wide}#include_next <{header}>\n#undef {enumeration}\n"
    )
}

/// The header that stands before one of Eigen.
fn around_eigen(header: &str) -> String {
    let settings = "#pragma GCC system_header\n#include <ffgrad/eigen_settings.h>\n";
    format!("{settings}#include_next <{header}>\n#include <ffgrad/eigen.h>\n")
}

/// Folder below the include folder with OpenMP's functions for one thread.
pub const WITHOUT_OPENMP: &str = "openmp";

/// What a module needs of the library.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Names of the files.
    pub files: Vec<&'static str>,
    /// Functions that are called by another name from here on.
    pub renamed: Vec<(String, String)>,
    /// They call BLAS or LAPACK.
    pub needs_blas: bool,
}

/// Chooses rules for the functions that a module uses and does not define, and for `drivers`, which it defines as LAPACK does. Functions
/// in `except` are the user's business.
pub fn select(undefined: &[String], drivers: &[String], except: &dyn Fn(&str) -> bool) -> Selection {
    let mut selection = Selection::default();
    for file in FILES {
        let asked = |(old, _): &(&str, &str)| undefined.iter().chain(drivers).any(|u| u == old) && !except(old);
        let renamed: Vec<_> = replacements(file.text).filter(asked).collect();
        if !renamed.is_empty() {
            selection.files.push(file.name);
            selection.renamed.extend(renamed.into_iter().map(|(old, new)| (old.to_owned(), new.to_owned())));
        }
    }
    // What the chosen ones call in others.
    let mut next = 0;
    while let Some(file) = selection.files.get(next).and_then(|name| FILES.iter().find(|f| f.name == *name)) {
        selection.needs_blas |= file.text.contains("\nFFGRAD_LIBRARY(blas)\n");
        let needed: Vec<&str> = lines(file.text, "FFGRAD_NEEDS(").collect();
        let new = FILES.iter().map(|f| f.name).filter(|name| needed.contains(name) && !selection.files.contains(name));
        let new: Vec<_> = new.collect();
        selection.files.extend(new);
        next += 1;
    }
    selection
}

/// Whether a function that is called in another's place throws an exception.
pub fn throws(renamed: &[(String, String)]) -> bool {
    renamed.iter().any(|(_, new)| new.starts_with("ffgrad_stop_"))
}

/// The pairs of the `FFGRAD_REPLACES` lines of a file.
fn replacements(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    lines(text, "FFGRAD_REPLACES(").filter_map(|inside| {
        let (old, new) = inside.split_once(',')?;
        Some((old.trim(), new.trim()))
    })
}

/// What stands in parentheses on the lines that begin so.
fn lines(text: &'static str, start: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter_map(move |line| Some(line.strip_prefix(start)?.split_once(')')?.0))
}

/// Digest of the whole library, for keys.
pub fn digest() -> String {
    let mut hash = blake3::Hasher::new();
    for file in FILES.iter().chain(HEADERS) {
        hash.update(file.name.as_bytes()).update(&[0]).update(file.text.as_bytes()).update(&[0]);
    }
    for header in OF_EIGEN {
        hash.update(around_eigen(header).as_bytes());
    }
    for enumeration in OF_BOOST {
        hash.update(around_boost("", enumeration).as_bytes());
    }
    hash.update(toolchain::Component::Blas.version().as_bytes());
    hash.update(std::env::var_os("FFGRAD_BLAS").unwrap_or_default().as_encoded_bytes());
    hash.finalize().to_hex()[..16].to_owned()
}

/// The folder for `#include <ffgrad/...>`, written if it is not there.
///
/// # Errors
///
/// Where the cache cannot be written.
pub fn include_folder(cache: &Cache) -> Result<PathBuf> {
    let folder = cache.root().join("runtime").join(format!("include-{}", digest()));
    if !contents::is_whole(&folder) {
        let staging = cache.staging()?;
        let write = |below: &str, text: &str| -> Result<()> {
            let path = staging.path().join(below);
            let parent = path.parent().unwrap_or(&path);
            std::fs::create_dir_all(parent).map_err(cache::io("make", parent))?;
            Ok(std::fs::write(&path, text).map_err(cache::io("write", &path))?)
        };
        for header in HEADERS {
            write(header.name.trim_start_matches("include/"), header.text)?;
        }
        for (folder, prefix) in BEFORE_EIGEN {
            for header in OF_EIGEN {
                let header = format!("{prefix}{header}");
                write(&format!("{folder}/{header}"), &around_eigen(&header))?;
            }
        }
        for enumeration in OF_BOOST {
            let header = format!("boost/numeric/conversion/{enumeration}.hpp");
            write(&format!("{BEFORE_BOOST}/{header}"), &around_boost(&header, enumeration))?;
        }
        contents::publish(cache, staging, &folder)?;
    }
    Ok(folder)
}

/// Bitcode of the chosen files, compiled where that has not been done.
///
/// # Errors
///
/// A compile error where the C compiler cannot build one (no headers), or a cache error.
pub fn compile(tools: &Tools, cache: &Cache, names: &[&'static str]) -> Result<Vec<PathBuf>> {
    let include = include_folder(cache)?;
    FILES.iter().filter(|f| names.contains(&f.name)).map(|file| compile_one(tools, cache, file, &include)).collect()
}

fn compile_one(tools: &Tools, cache: &Cache, file: &File, include: &Path) -> Result<PathBuf> {
    let about = format!("{}\n{}\n{}\n{}", tools.clang.version, digest(), file.name, file.text);
    let digest = blake3::hash(about.as_bytes()).to_hex();
    let folder = cache.root().join("runtime").join(&digest[..16]);
    let bitcode = folder.join("rule.bc");
    if contents::is_whole(&folder) {
        return Ok(bitcode);
    }
    let staging = cache.staging()?;
    let source = staging.path().join(file.name);
    std::fs::write(&source, file.text).map_err(cache::io("write", &source))?;
    let mut command = Command::new(&tools.clang.path);
    // As the user's code is compiled, without its options: the optimiser is the worker.
    command.args(["-O2", "-fPIC", "-fno-math-errno", "-ffp-contract=off"]);
    match file.name {
        // Loops of copies stay loops: of a `memcpy` the type would not be known.
        RANKS => command.args(["-fno-vectorize", "-fno-slp-vectorize", "-mllvm", "-disable-loop-idiom-all"]),
        _ => command.args(["-Xclang", "-disable-llvm-passes"]),
    };
    command.arg("-fcomplex-arithmetic=improved");
    command.arg(format!("-I{}", include.display()));
    command.args(["-c", "-emit-llvm", "-o"]).arg(staging.path().join("rule.bc")).arg(&source);
    let failed = |text: String| {
        Error::compile(
            Diagnosis::new("rules", file.name, format!("ffgrad's own rule `{}` does not compile", file.name))
                .quote(text)
                .advise("Run `ffgrad doctor`: the C library's headers may be missing."),
        )
    };
    let output = process::run(&mut command, None, Duration::from_secs(60))
        .map_err(|e| Error::of_child(e, file.name, |e| failed(e.to_string())).while_compiling())?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    contents::publish(cache, staging, &folder)?;
    Ok(bitcode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_rules_asked_for_are_chosen() {
        let all = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        assert_eq!(select(&all(&["sin", "malloc"]), &[], &|_| false), Selection::default());
        let chosen = select(&all(&["sin", "lgamma"]), &[], &|_| false);
        assert_eq!(chosen.files, ["gamma.c"]);
        assert_eq!(chosen.renamed, [("lgamma".to_owned(), "ffgrad_lgamma".to_owned())]);
        assert_eq!(select(&all(&["lgamma"]), &[], &|n| n == "lgamma"), Selection::default());
    }

    #[test]
    fn a_rule_brings_those_that_it_calls() {
        let chosen = select(&["gsl_cdf_chisq_P".to_owned()], &[], &|_| false);
        assert_eq!(chosen.files, ["gsl_ran.c", "gsl_sf.c"]);
        assert_eq!(chosen.renamed.len(), 1);
        for needed in FILES.iter().flat_map(|f| lines(f.text, "FFGRAD_NEEDS(")) {
            assert!(FILES.iter().any(|f| f.name == needed), "{needed}");
        }
    }

    #[test]
    fn every_rule_says_whence_its_formula_comes_and_what_it_replaces() {
        let helpers: Vec<&str> = FILES.iter().flat_map(|f| lines(f.text, "FFGRAD_NEEDS(")).collect();
        for file in FILES.iter().filter(|f| !helpers.contains(&f.name) || replacements(f.text).count() > 0) {
            assert!(file.text.contains("Source:"), "{} cites nothing", file.name);
            assert!(replacements(file.text).count() > 0, "{} replaces nothing", file.name);
        }
    }

    #[test]
    fn no_function_has_two_rules() {
        let mut names: Vec<&str> = FILES.iter().flat_map(|f| replacements(f.text)).map(|(old, _)| old).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}

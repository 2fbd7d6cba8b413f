//! Sources that use OpenMP: detects them, and computes what the worker and the compiler need for them.

use crate::build::context::Context;
use crate::build::runtime;
use crate::error::Result;
use crate::options::{Options, Spec};
use crate::toolchain;
use core_ad::protocol::OpenMp;
use std::path::PathBuf;

/// Whether the source is compiled with OpenMP.
pub fn is_wanted(options: &Options) -> bool {
    let mut switches =
        options.flags.iter().filter(|f| *f == "-fopenmp" || f.starts_with("-fopenmp=") || *f == "-fno-openmp");
    switches.next_back().is_some_and(|f| f != "-fno-openmp")
}

/// What the worker needs to treat the module of such a source.
pub fn around_engine(context: &Context<'_>) -> Result<Option<OpenMp>> {
    match is_wanted(&context.spec.options) {
        true => runtime::openmp(context.tools, context.cache).map(Some),
        false => Ok(None),
    }
}

/// Compiler flags with which `omp.h` is found where the compiler has none of its own: also without OpenMP, since sources include it
/// that are compiled without.
pub fn header_flags(spec: &Spec) -> Vec<String> {
    let includes = |source: &PathBuf| std::fs::read_to_string(source).is_ok_and(|text| text.contains("omp.h"));
    let is_included = is_wanted(&spec.options) || spec.sources.iter().any(includes);
    let installed = is_included.then(toolchain::openmp_headers).flatten();
    installed.map(|folder| vec!["-idirafter".to_owned(), folder.display().to_string()]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(flags: &[&str]) -> Options {
        Options { flags: flags.iter().map(|f| (*f).to_owned()).collect(), ..Options::default() }
    }

    #[test]
    fn openmp_is_asked_for_as_the_compiler_is() {
        assert!(is_wanted(&with(&["-O2", "-fopenmp"])));
        assert!(is_wanted(&with(&["-fopenmp=libomp"])));
        assert!(!is_wanted(&with(&["-fopenmp-simd"])));
        assert!(!is_wanted(&with(&["-fopenmp", "-fno-openmp"])));
    }
}

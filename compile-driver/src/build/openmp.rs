//! Sources that use OpenMP: detects them, and computes what the worker and the compiler need for them.

use crate::build::context::Context;
use crate::build::rules::bundled;
use crate::build::runtime;
use crate::error::Result;
use crate::options::Options;
use crate::toolchain;
use core_ad::protocol::OpenMp;
use std::path::Path;

/// Whether the source is compiled with OpenMP.
pub fn is_wanted(options: &Options) -> bool {
    let mut switches =
        options.flags.iter().filter(|f| *f == "-fopenmp" || f.starts_with("-fopenmp=") || *f == "-fno-openmp");
    switches.next_back().is_some_and(|f| f != "-fno-openmp")
}

/// Whether such a source is differentiated for one thread: its derivative is that of the same loops without threads, without atomic additions.
pub fn is_for_one(options: &Options) -> bool {
    is_wanted(options) && options.threads == Some(1)
}

/// What the worker needs to treat the module of such a source.
pub fn around_engine(context: &Context<'_>) -> Result<Option<OpenMp>> {
    match is_wanted(&context.spec.options) {
        true => {
            let runtime = runtime::openmp(context.tools, context.cache)?;
            Ok(Some(OpenMp { is_for_one: is_for_one(&context.spec.options), ..runtime }))
        }
        false => Ok(None),
    }
}

/// Compiler flags with which `omp.h` is found where the compiler has none of its own. Sources that are compiled without OpenMP may include it too: then it
/// is ffgrad's, below its folder of headers.
pub fn header_flags(options: &Options, headers: &Path) -> Vec<String> {
    let (flag, folder) = match is_wanted(options) {
        true => ("-idirafter", toolchain::openmp_headers()),
        false => ("-isystem", Some(headers.join(bundled::WITHOUT_OPENMP))),
    };
    folder.map(|folder| vec![flag.to_owned(), folder.display().to_string()]).unwrap_or_default()
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

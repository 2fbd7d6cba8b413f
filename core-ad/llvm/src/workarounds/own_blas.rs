//! Gives functions of the user's own that bear the name of a BLAS or LAPACK routine another name, so that Enzyme differentiates their code.
//!
//! ```text
//! SUBROUTINE DTRSM(SIDE, UPLO, ...)    ! LAPACK compiled from its sources, together with what calls it
//! ```
//!
//! Enzyme goes by the name: it takes the types of the arguments and the derivative from its own table, also where there is a body. Its
//! derivative calls other routines of BLAS, which nobody has linked, and its types are wrong for a routine of the same name with other
//! arguments. A routine without a body keeps its name.

use crate::ir;
use inkwell::module::Module;

/// The routines of Enzyme's table, without type, prefix and suffix.
const ROUTINES: [&str; 32] = [
    "asum", "axpy", "copy", "dot", "gemm", "gemv", "ger", "getrf", "getri", "getrs", "lacpy", "lascl", "nrm2", "potrf",
    "potrs", "rot", "scal", "spmv", "spr", "spr2", "swap", "symm", "symv", "syr", "syr2", "syr2k", "syrk", "trmm",
    "trmv", "trsm", "trsv", "trtrs",
];

/// How those with a body are called from here on.
const OWN: &str = "ffgrad.own.";

/// Renames them. `kept` names functions that are looked for later.
pub fn run(module: &Module<'_>, kept: &[String]) {
    for function in ir::functions(module).into_iter().filter(|f| f.count_basic_blocks() > 0) {
        let name = function.get_name().to_string_lossy().into_owned();
        if is_routine(&name) && !kept.contains(&name) {
            function.as_global_value().set_name(&format!("{OWN}{name}"));
        }
    }
}

/// Whether a symbol is one of BLAS or LAPACK by the naming of Fortran or C.
fn is_routine(symbol: &str) -> bool {
    let name = ["cblas_", "cublas_"].iter().find_map(|prefix| symbol.strip_prefix(prefix)).unwrap_or(symbol);
    let name = ["_64_", "64_", "_"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
    name.strip_prefix(['s', 'd', 'c', 'z']).is_some_and(|routine| ROUTINES.contains(&routine))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routines_are_known_by_every_naming() {
        for symbol in ["ddot_", "dgemm_", "sgemv64_", "dpotrf_64_", "cblas_dscal", "daxpy", "zgemm_"] {
            assert!(is_routine(symbol), "{symbol}");
        }
        for symbol in ["dot_", "ddots_", "d_", "_QPddot", "gemm", "cblas_", "scaled"] {
            assert!(!is_routine(symbol), "{symbol}");
        }
    }
}

//! Procedures of ODE solvers that compute the matrix of Newton's method: inactive.
//!
//! ```text
//! R = SRUR*ABS(Y(J));  Y(J) = Y(J) + R;  CALL F(..., FTEM);  WM(I) = (FTEM(I) - SAVF(I)) / R     ! VODE, DVJAC
//! ```
//!
//! The solution of an implicit step does not depend on the matrix by which the iteration finds it: the derivative by the matrix is the
//! residual at the end, which is within the solver's tolerance. But where the matrix is made of differences, its adjoint is divided by `R`, which
//! is as small as 1e-15, and added to the adjoints of the parameters twice, with opposite signs: what is left is rounding. So reverse mode
//! treats the matrix as a constant, forward mode too, and the check compares both with differences of the solver's values.
//!
//! They are known by their names, which are those of the public sources, and by their many arguments: the state, its history, weights, work
//! arrays and two procedures. Another function of such a name is differentiated as code.

use super::inactive;
use crate::ir::{self, Result};
use inkwell::module::Module;

/// The procedures of each solver, in double and single precision.
const PROCEDURES: [(&str, &[&str]); 4] = [
    ("VODE", &["dvjac_", "svjac_"]),
    (
        "ODEPACK",
        &[
            "dprepj_", "sprepj_", "prepj_", "dprja_", "sprja_", "prja_", "dprepji_", "sprepji_", "prepji_", "dpjibt_",
            "spjibt_", "dpkset_", "spkset_",
        ],
    ),
    ("SLATEC", &["dpjac_", "pjac_", "ddpst_", "sdpst_"]),
    ("DASSL or DASPK", &["ddajac_", "sdajac_", "dajac_", "djacd_", "sjacd_"]),
];

/// The fewest arguments that one of them has (ODEPACK's PREPJ and PRJA).
const FEWEST: usize = 11;

/// Marks those that have a body, but for the function whose derivative is wanted. Returns a remark for each.
///
/// # Errors
///
/// LLVM's own.
pub fn mark(module: &Module<'_>, wanted: &str) -> Result<Vec<String>> {
    let mut remarks = Vec::new();
    for (solver, names) in PROCEDURES {
        for name in names.iter().filter(|name| **name != wanted && is_procedure(module, name)) {
            inactive::mark(module, &[(*name).to_owned()])?;
            remarks.push(format!(
                "`{name}` computes the matrix of Newton's method ({solver}): constant in the derivative"
            ));
        }
    }
    Ok(remarks)
}

fn is_procedure(module: &Module<'_>, name: &str) -> bool {
    module.get_function(name).filter(|f| f.count_basic_blocks() > 0).is_some_and(|function| {
        let addresses = ir::arguments(function).into_iter().filter(|argument| argument.is_pointer());
        addresses.count() >= FEWEST
    })
}

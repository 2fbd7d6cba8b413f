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
//! They are known by their names, which are those of the public sources of VODE, ODEPACK, SLATEC, DASSL and DASPK, and of LSODA in C.

use super::inactive;
use super::rule::text;
use crate::ir::markers::INACTIVE_BY_NAME;
use crate::ir::set_string_attribute;
use inkwell::module::Module;

/// The procedures, in double and single precision.
const PROCEDURES: [&str; 26] = [
    // VODE
    "dvjac_", "svjac_", // ODEPACK: LSODE, LSODA, LSODI, LSOIBT, LSODPK
    "dprepj_", "sprepj_", "prepj_", "dprja_", "sprja_", "prja_", "dprepji_", "sprepji_", "prepji_", "dpjibt_",
    "spjibt_", "dpkset_", "spkset_", // SLATEC: DEBDF and DRIVE
    "dpjac_", "pjac_", "ddpst_", "sdpst_", // DASSL and DASPK
    "ddajac_", "sdajac_", "dajac_", "djacd_", "sjacd_", // LSODA in C
    "prja", "prepj",
];

/// Marks those that have a body, but for the function whose derivative is wanted. Returns a remark for each.
pub fn mark(module: &Module<'_>, wanted: &str) -> Vec<String> {
    let mut remarks = Vec::new();
    for function in PROCEDURES.iter().filter(|name| **name != wanted).filter_map(|name| module.get_function(name)) {
        if function.count_basic_blocks() > 0 {
            inactive::mark_one(module, function, false);
            set_string_attribute(module, function, INACTIVE_BY_NAME, "");
            let name = text(function.get_name());
            remarks.push(format!("`{name}` computes the matrix of Newton's method: constant in the derivative"));
        }
    }
    remarks
}

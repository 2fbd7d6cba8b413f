//! Solvers with the implicit function theorem's derivative that have not solved in a call: its gradient would be wrong, so there is an error.
//!
//! The derivative judges each solution by the Newton step from it (`compile-driver/rules/include/ffgrad/implicit.h`) and keeps a report.
//! Threads of teams share one count, which is never reset: where several calls of an artifact run at once, one of them may be refused for
//! another's solver, but none is overlooked.

use crate::error::{Error, Result};
use crate::load::artifact::Artifact;
use crate::load::solver_notes::Notes;
use core_ad::diagnostics::{Diagnosis, Location};
use core_ad::protocol::{Equation, SOLVER_OF_A_LIBRARY, Unsolved};

/// Code of the error.
pub const CODE: &str = "implicit-unsolved";

/// One call, during which reports are kept for it.
pub(super) struct Listening<'a> {
    artifact: &'a Artifact,
    notes: Notes,
    of_others: u32,
}

impl<'a> Listening<'a> {
    /// Begins a call; `None` where the artifact has no such solver.
    pub(super) fn begin(artifact: &'a Artifact) -> Option<Self> {
        let notes = artifact.unsolved?;
        notes.exchange(Unsolved { listening: 1, ..Unsolved::default() });
        Some(Listening { artifact, notes, of_others: notes.others().0 })
    }

    /// Ends it.
    pub(super) fn end(self, function: &str) -> Result<()> {
        let own = self.notes.exchange(Unsolved::default());
        let (reports, other) = self.notes.others();
        let report = match own.reports {
            0 if reports == self.of_others => return Ok(()),
            0 => other,
            _ => own,
        };
        let find = |equation: &&Equation| i64::from(equation.number) == report.solver;
        let unknown = Equation::default();
        let equation = self.artifact.record.equations.iter().find(find).unwrap_or(&unknown);
        Err(Error::Differentiation(Box::new(explained(function, equation, &report))))
    }
}

/// Whether a call failed because a solver had not solved.
pub fn is_unsolved(error: &Error) -> bool {
    matches!(error, Error::Differentiation(diagnosis) if diagnosis.code == CODE)
}

fn explained(function: &str, equation: &Equation, report: &Unsolved) -> Diagnosis {
    if report.solver == SOLVER_OF_A_LIBRARY {
        let headline = format!(
            "GSL has not come near a root or a minimum in this call of `{function}`, which uses {:.6e} from there as the solution",
            report.value
        );
        let advice = "Only a solution has a derivative. Iterate until a test of GSL's (gsl_root_test_interval, gsl_multiroot_test_residual) \
                      is met, with better starting values or more iterations. A root or minimum at which the slope vanishes has none.";
        return Diagnosis::new(CODE, function, headline).advise(advice);
    }
    let Equation { solver, residual, file, line, unknown, tolerance, .. } = equation;
    let (headline, advice) = match (usize::try_from(report.unknown), unknown) {
        (Err(_), _) => (
            format!(
                "the gradient of `{function}` does not exist: the Jacobian of `{residual}` is singular where `{solver}` ends"
            ),
            "The solution is no differentiable function of the parameters there, or an unknown counts in no equation."
                .to_owned(),
        ),
        (Ok(at), unknown) => {
            let name = unknown.as_ref().map_or_else(|| "x".to_owned(), |name| format!("{name}[{at}]"));
            let headline = format!(
                "`{solver}` has not solved `{residual}` in this call of `{function}`: the Newton step from {name} = {:.6e} is {:.1e}",
                report.value, report.step
            );
            let advice = format!(
                "The implicit derivative holds at a solution alone, to a relative {tolerance}. Give `{solver}` more iterations, a \
                 smaller tolerance or wider bounds; or allow more, implicit(\"{residual}\", tolerance=...)."
            );
            (headline, advice)
        }
    };
    let mut diagnosis = Diagnosis::new(CODE, function, headline)
        .advise(advice)
        .advise("`ffgrad explain custom-derivatives` says how a solution is judged.");
    diagnosis.location =
        Some(crate::source_text::with_text(Location { file: file.clone(), line: *line, column: 0, text: None }));
    diagnosis
}

//! The double build of a function in single precision: the same source with `float` as `double`, to verify derivatives with.
//!
//! It is made where forward and reverse mode are further apart than rounding usually puts them, and always under `verify="strict"`.
//! Where the source cannot be compiled so (vector intrinsics, overloads for both types), or is another function then (the bits
//! of a float are used), there is none, and the check in single precision stands.

use crate::build::frontend::language;
use crate::call::arguments::Input;
use crate::call::scratch::Frame;
use crate::error::{Error, Result};
use crate::function::Function;
use crate::function::opened::Opened;
use crate::function::trust::Selection;
use crate::load::artifact::Artifact;
use crate::prover;
use crate::verify::precision::{self, Build};
use crate::verify::{Checked, Outcome};
use core_ad::shapes::Resolved;
use core_ad::{CallPlan, DType, DerivativeSet};

/// Identities that are off by more than this, relative to their terms, are doubtful in single precision.
const DOUBTFUL: f64 = 2e-5;

/// The header that makes `float` mean `double`.
const HEADER: &str = "ffgrad/double_precision.h";

impl Selection<'_> {
    /// Checks a derivative at a call's inputs; in single precision with the double build where that is due.
    ///
    /// # Errors
    ///
    /// What the foreign code throws, an interrupt, a full disk.
    pub(crate) fn checked(
        &self,
        wanted: DerivativeSet,
        artifact: &Artifact,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Checked> {
        self.check_bounds(artifact, inputs, resolved)?;
        let checked = self.opened.check(artifact, inputs, resolved)?;
        let Outcome::Passed(record) = &checked.outcome else { return Ok(checked) };
        if !self.is_double_build_due(&checked) {
            return Ok(checked);
        }
        let Some(double) = self.double_build()? else { return Ok(checked) };
        match compare(self.opened, &double, wanted, artifact, inputs, resolved)? {
            Some(Outcome::Wrong(_, text)) => {
                let text = format!("in double precision, {text}");
                Ok(Checked { outcome: Outcome::Wrong(record.clone(), text), ..checked })
            }
            Some(Outcome::Suspect(_, text)) => {
                Ok(Checked { outcome: Outcome::Suspect(record.clone(), text), ..checked })
            }
            _ => Ok(checked),
        }
    }

    fn is_double_build_due(&self, checked: &Checked) -> bool {
        let opened = self.opened;
        opened.manifest.plan.args.iter().any(|a| a.dtype == DType::F32)
            && (checked.coarsest > DOUBTFUL || opened.is_strict())
            && opened.pack.is_none()
            && !opened.is_kernel()
            && !opened.spec.options.mpi
    }

    /// Opened once; `None` where there is none.
    fn double_build(&self) -> Result<Option<std::sync::Arc<Function>>> {
        if let Some(known) = self.trust.double_build.get() {
            return Ok(known.clone());
        }
        let opened = match open(self.opened) {
            Err(error @ (Error::Interrupted | Error::Cache(_))) => return Err(error),
            outcome => outcome.ok().flatten().map(std::sync::Arc::new),
        };
        Ok(self.trust.double_build.get_or_init(|| opened).clone())
    }
}

fn open(single: &Opened) -> Result<Option<Function>> {
    let mut spec = single.spec.clone();
    match language::is_fortran(&spec) {
        true => spec.options.flags.push("-fdefault-real-8".to_owned()),
        false => spec.options.flags.extend(["-include".to_owned(), HEADER.to_owned()]),
    }
    spec.options.tune = false;
    spec.options.specialize = false;
    let function = Function::open(spec)?;
    Ok(is_widened(&single.manifest.plan, &function.opened.manifest.plan).then_some(function))
}

/// Whether a plan is that of the same function in double precision.
fn is_widened(single: &CallPlan, double: &CallPlan) -> bool {
    let is_wider = |a: DType, b: DType| if a.is_float() { b == DType::F64 } else { a == b };
    single.args.len() == double.args.len()
        && single.inputs == double.inputs
        && single.outputs == double.outputs
        && single.args.iter().zip(&double.args).all(|(a, b)| {
            is_wider(a.dtype, b.dtype) && a.role == b.role && a.shape == b.shape && a.passing == b.passing
        })
}

/// Checks the derivative of the double build at the same inputs, and compares both gradients. `None` where it cannot be built.
fn compare(
    single: &Opened,
    double: &Function,
    wanted: DerivativeSet,
    artifact: &Artifact,
    inputs: &[Input<'_>],
    resolved: &Resolved,
) -> Result<Option<Outcome>> {
    let Some(pipeline) = artifact.record.pipeline else { return Ok(None) };
    let fine = match double.opened.built(wanted, pipeline, double.opened.time_limit()) {
        Err(error @ (Error::Interrupted | Error::Cache(_))) => return Err(error),
        Err(_) => return Ok(None),
        Ok(fine) => fine,
    };
    let (frame, wide) = (Frame::open(), Frame::open());
    let (call, wide_call) = (single.call(resolved, &frame), double.opened.call(resolved, &wide));
    let point = single.gather(&call, inputs)?;
    let wide_point = precision::widened(&call, &point, &wide_call);
    let builds = [
        Build { call: &call, artifact, point: &point },
        Build { call: &wide_call, artifact: &fine, point: &wide_point },
    ];
    let checked = prover::check(&wide_call, &fine, wide_point.clone(), false, 1)?;
    match checked.outcome {
        Outcome::Wrong(..) if precision::are_one_function(&builds[0], &builds[1])? => Ok(Some(checked.outcome)),
        Outcome::Passed(record) => {
            Ok(precision::difference(&builds[0], &builds[1])?.map(|text| Outcome::Suspect(record, text)))
        }
        _ => Ok(None),
    }
}

//! Before its first call of a size: whether the function stays inside of the arrays that its signature gives it.
//!
//! A signature that is inferred is a guess, and one that is given can be wrong: `pos[n]` for what has three numbers a body. Such a function would write over
//! the caller's memory. So it runs once in the prover, between pages without access; where it leaves an array there is a
//! `SignatureError`. That it stayed inside is remembered in the cache.
//!
//! With `bounds="check"` that is done before every call. Then, and where an access was outside, it runs code that notes the source's lines.

use crate::call::arguments::{Call, Input};
use crate::call::copies;
use crate::call::scratch::Frame;
use crate::error::Result;
use crate::function::trust::Selection;
use crate::function::trust::checked_shapes;
use crate::load::artifact::Artifact;
use crate::options::{self, Verify};
use crate::prover::{self, Bounds, Watch};
use crate::source_text;
use crate::verify::sample::Point;
use crate::verify::stage::Access;
use core_ad::Role;
use core_ad::diagnostics::Location;
use core_ad::names;
use core_ad::protocol::Entry;
use core_ad::shapes::Resolved;
use core_ad::signature::SignatureError;
use std::sync::atomic::Ordering;

/// Arguments with more bytes are not copied for this: a later call may have less.
const MOST_BYTES: usize = 256 << 20;

/// The file of a cache entry with the sizes at which its function was seen to stay inside, one a line.
const SEEN: &str = "inside";

impl Selection<'_> {
    /// Runs the function of an artifact once where no call of this size was looked at, in this process or another.
    ///
    /// # Errors
    ///
    /// A signature error where it leaves an array.
    pub(crate) fn check_bounds(&self, artifact: &Artifact, inputs: &[Input<'_>], resolved: &Resolved) -> Result<()> {
        let opened = self.opened;
        let (is_inferred, known) = (opened.spec.signature.is_none(), &self.trust.inside);
        if known.all.load(Ordering::Acquire) {
            return Ok(());
        }
        let size = checked_shapes::digest(resolved);
        if known.last.load(Ordering::Acquire) == size {
            return Ok(());
        }
        let options = &opened.spec.options;
        if options.bounds == options::Bounds::Check {
            // Each call was looked at before.
            known.all.store(true, Ordering::Release);
            return Ok(());
        }
        if options.verify == Verify::Off || options.mpi || opened.pack.is_some() || opened.is_kernel() {
            known.all.store(true, Ordering::Release);
            return Ok(());
        }
        let file = opened.cache.entry(&opened.manifest.key).join(SEEN);
        if artifact.entry(Entry::Primal).is_none() || !known.is_due(size, &file) {
            return Ok(());
        }
        let frame = Frame::open();
        let call = opened.call(resolved, &frame);
        let plan = &opened.manifest.plan;
        if (0..plan.args.len()).map(|arg| call.bytes(arg)).sum::<usize>() > MOST_BYTES {
            return Ok(());
        }
        let values = copies::uncounted(|| opened.gather(&call, inputs))?;
        match prover::bounds(&call, artifact, &values, Watch::Briefly)? {
            Bounds::Outside(access) if access.argument.is_some() => {
                return Err(self.leaves(&self.with_line(access, &call, &values)?, resolved).into());
            }
            Bounds::Inside(written) => {
                let is_single = |arg: usize| {
                    plan.args[arg].role == Role::Output && resolved.elements(arg) > 1 && written[arg] == Some(1)
                };
                if let Some(arg) = (0..written.len()).find(|arg| is_inferred && is_single(*arg)) {
                    self.warn_of_one_number(arg, resolved);
                }
                known.add(size, Some(&file));
            }
            Bounds::Outside(_) | Bounds::Ended(_) | Bounds::Unknown | Bounds::Unwatched => known.add(size, None),
        }
        Ok(())
    }

    /// With `bounds="check"`: runs the function once, so that a call that leaves an array is an error before anything is done in this process.
    ///
    /// # Errors
    ///
    /// A signature error with the line where it accesses what is outside of its arrays; the error of its crash for another reason.
    pub(crate) fn check_call(&self, inputs: &[Input<'_>], resolved: &Resolved) -> Result<()> {
        let opened = self.opened;
        if opened.spec.options.bounds != options::Bounds::Check {
            return Ok(());
        }
        let artifact = match &opened.pack {
            Some(_) => opened.primal_artifact()?,
            None => opened.artifact_with_lines()?,
        };
        let frame = Frame::open();
        let call = opened.call(resolved, &frame);
        let values = copies::uncounted(|| opened.gather(&call, inputs))?;
        match prover::bounds(&call, &artifact, &values, Watch::Fully)? {
            Bounds::Outside(access) => Err(self.leaves(&access, resolved).into()),
            Bounds::Ended(error) => Err(error),
            Bounds::Unwatched => {
                let function = &opened.spec.function;
                opened.warn(format!(
                    "the bounds of `{function}` are not checked: that is done in another process, which does not start \
                     (FFGRAD_PROVER; `ffgrad doctor` says more)"
                ));
                Ok(())
            }
            // What it throws it throws in the call as well.
            Bounds::Inside(_) | Bounds::Unknown => Ok(()),
        }
    }

    /// The same access, seen by code that notes lines. Without it where that cannot be built, or shows nothing.
    fn with_line(&self, access: Access, call: &Call<'_>, values: &Point) -> Result<Access> {
        let Ok(artifact) = self.opened.artifact_with_lines() else { return Ok(access) };
        Ok(match prover::bounds(call, &artifact, values, Watch::Briefly)? {
            Bounds::Outside(seen) if seen.argument.is_some() => seen,
            _ => access,
        })
    }

    fn leaves(&self, access: &Access, resolved: &Resolved) -> SignatureError {
        let function = &self.opened.spec.function;
        let does = match access.is_write {
            Some(true) => "writes",
            Some(false) => "reads",
            None => "reads or writes",
        };
        let Some(arg) = access.argument else {
            let problem = format!(
                "`{function}` {does} memory that is far outside of its arrays, or none of them: an index is out of range, \
                 or a pointer leads nowhere"
            );
            return self.signature_error(problem, access);
        };
        let (name, extent) = self.spelled(arg, resolved);
        let size = i64::try_from(self.opened.manifest.plan.args[arg].dtype.size()).unwrap_or(1);
        let element = access.offset.div_euclid(size.max(1));
        let problem = match self.opened.spec.signature.is_none() {
            true => format!(
                "`{function}` {does} outside of `{name}`, which is taken for {extent} by default (element {element}, counted \
                 from 0): give a signature with the size that it has"
            ),
            false => format!(
                "`{function}` {does} outside of `{name}`, which has {extent} in this call (element {element}, counted from 0): its \
                 size in the signature is too small, or an index is out of range"
            ),
        };
        self.signature_error(problem, access)
    }

    fn warn_of_one_number(&self, arg: usize, resolved: &Resolved) {
        let function = &self.opened.spec.function;
        let (name, extent) = self.spelled(arg, resolved);
        self.opened.warn(format!(
            "`{function}` writes one number to `{name}`, which is taken for {extent} by default: `{name}` without brackets in a \
             signature is one number"
        ));
    }

    /// An argument's name, and how large it is: `3 elements`.
    fn spelled(&self, arg: usize, resolved: &Resolved) -> (String, String) {
        (self.opened.manifest.plan.args[arg].name.clone(), names::counted(resolved.elements(arg), "element"))
    }

    fn signature_error(&self, problem: String, access: &Access) -> SignatureError {
        let signature = &self.opened.manifest.plan.signature;
        let prototype = format!("signature of this call: \"{signature}\"");
        let at = access.line.as_ref().map(|(file, line)| {
            let location = Location { file: file.clone(), line: *line, column: 0, text: None };
            format!("\n  {}", source_text::with_text(location))
        });
        let problems = vec![problem + &at.unwrap_or_default()];
        SignatureError { problems, prototype, suggestion: None, needed_sizes: Vec::new() }
    }
}

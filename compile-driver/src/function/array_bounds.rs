//! Before its first call of a size: whether the function stays inside of the arrays that its signature gives it.
//!
//! A signature that is inferred is a guess, and one that is given can be wrong: `pos[n]` for what has three numbers a body. Such a function would write over
//! the caller's memory. So it runs once in the prover, between pages without access; where it leaves an array there is a
//! `SignatureError`. That it stayed inside is remembered in the cache.

use crate::call::arguments::Input;
use crate::call::copies;
use crate::call::scratch::Frame;
use crate::error::Result;
use crate::function::trust::Selection;
use crate::function::trust::checked_shapes;
use crate::load::artifact::Artifact;
use crate::options::Verify;
use crate::prover::{self, Bounds};
use core_ad::Role;
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
        match prover::bounds(&call, artifact, &values)? {
            Bounds::Outside(arg) => return Err(self.leaves(arg, resolved, is_inferred).into()),
            Bounds::Inside(written) => {
                let is_single = |arg: usize| {
                    plan.args[arg].role == Role::Output && resolved.elements(arg) > 1 && written[arg] == Some(1)
                };
                if let Some(arg) = (0..written.len()).find(|arg| is_inferred && is_single(*arg)) {
                    self.warn_of_one_number(arg, resolved);
                }
                known.add(size, Some(&file));
            }
            Bounds::Unknown => known.add(size, None),
        }
        Ok(())
    }

    fn leaves(&self, arg: usize, resolved: &Resolved, is_inferred: bool) -> SignatureError {
        let function = &self.opened.spec.function;
        let (name, extent) = self.spelled(arg, resolved);
        let problem = match is_inferred {
            true => format!(
                "`{function}` reads or writes outside of `{name}`, which is taken for {extent} by default: give a signature \
                 with the size that it has"
            ),
            false => format!(
                "`{function}` reads or writes outside of `{name}`, which has {extent} in this call: its size in the \
                 signature is too small, or an index is out of range"
            ),
        };
        self.signature_error(problem)
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

    fn signature_error(&self, problem: String) -> SignatureError {
        let signature = &self.opened.manifest.plan.signature;
        let prototype = format!("signature of this call: \"{signature}\"");
        SignatureError { problems: vec![problem], prototype, suggestion: None, needed_sizes: Vec::new() }
    }
}

//! Paths of calls: where values decide the path, a call on a path that no verified call has taken is verified before its results are returned.
//!
//! A derivative of such a function counts its branches in a map of the calling thread (the worker's `lowering/path_map.rs`), and its roots of zero. The map is
//! cleared before a call and compared afterwards with what verified calls have had ([`KnownPaths`]). What is new is verified at the
//! call's own inputs, as where a size is new: it passes and its path is remembered, here and in processes to come; or another
//! pipeline takes its place and the call is repeated; or there is a warning with numbers, or a refusal.
//!
//! A derivative that crashes on a new path, or stops where a check of the function's fails, is verified in the same way, and so replaced or refused; and so is one that gives a NaN for finite
//! arguments, whatever decides the path ([`not_a_number`]).
//!
//! So are the first calls on a known path with an edge that a single value takes (`x == 0`), and further ones ever less often.
//!
//! These checks take at most two seconds and as long as the calls themselves have taken. What is then new is returned without a check,
//! counted, and warned of once. `verify="strict"` has no such limit.
//!
//! [`KnownPaths`]: crate::function::trust::paths::KnownPaths
//! [`not_a_number`]: crate::call::not_a_number

use crate::call::arguments::Input;
use crate::call::batch_loop::{CallWatch, NewPath};
use crate::call::crash_guard;
use crate::call::not_a_number::is_finite;
use crate::call::task::Task;
use crate::error::{Error, Result};
use crate::function::Function;
use crate::function::trust::Selection;
use crate::function::trust::paths::{self, PathChecks, checks};
use crate::function::trust::status::Derivative;
use crate::load::artifact::Artifact;
use crate::options::Verify;
use core_ad::DerivativeSet;
use core_ad::path_set::PathSet;
use core_ad::protocol::Entry;
use core_ad::shapes::Resolved;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// A derivative whose calls are watched: who chooses it, and what is known of it.
pub(crate) struct Watch<'f> {
    /// The variant that serves, where one does.
    server: Option<Arc<Function>>,
    function: &'f Function,
    wanted: DerivativeSet,
    pub known: Arc<Derivative>,
}

impl Function {
    /// The watch over calls of an artifact; `None` where sizes decide the path or nothing is checked. `before`: how many checks this
    /// thread had made before the artifact was chosen for this call; a call that was just checked has no news.
    pub(crate) fn watch(
        &self,
        artifact: &Arc<Artifact>,
        entry: Entry,
        wanted: DerivativeSet,
        resolved: &Resolved,
        before: u64,
    ) -> Option<Watch<'_>> {
        artifact.paths?;
        self.watch_any(artifact, entry, wanted, resolved, before)
    }

    /// The same whatever decides the path.
    fn watch_any(
        &self,
        artifact: &Arc<Artifact>,
        entry: Entry,
        wanted: DerivativeSet,
        resolved: &Resolved,
        before: u64,
    ) -> Option<Watch<'_>> {
        let options = &self.opened.spec.options;
        let is_watched = matches!(options.verify, Verify::Once | Verify::Strict) && !options.mpi;
        if entry == Entry::Primal || !is_watched || checks() != before {
            return None;
        }
        let server = self.server(wanted, resolved);
        let serving = server.as_deref().unwrap_or(self);
        let candidates = [wanted, DerivativeSet::first(wanted.mask)].map(|w| serving.opened.served_by(w));
        let (wanted, known) = {
            let all = serving.trust.derivatives.read().unwrap_or_else(PoisonError::into_inner);
            let found = candidates.into_iter().find_map(|w| Some((w, all.get(&w)?)));
            found.filter(|(_, known)| Arc::ptr_eq(&known.artifact, artifact)).map(|(w, known)| (w, known.clone()))?
        };
        Some(Watch { server, function: self, wanted, known })
    }

    /// Verifies a derivative that gave a NaN, where all arguments of the task are finite. `before`: as for [`Function::watch`]. `true`: another takes its place, and the call is to be repeated.
    ///
    /// # Errors
    ///
    /// A differentiation error where no pipeline gives a gradient that passes.
    pub(crate) fn replaces_nan(
        &self,
        artifact: &Arc<Artifact>,
        wanted: DerivativeSet,
        task: &Task<'_>,
        resolved: &Resolved,
        before: u64,
    ) -> Result<bool> {
        if checks() != before || !is_finite(task) {
            return Ok(false);
        }
        match self.watch_any(artifact, task.entry, wanted, resolved, before) {
            Some(watch) => watch.verify_because(&Reason::NotANumber, task.inputs, resolved),
            None => Ok(false),
        }
    }

    /// What checks of new paths have done so far.
    pub fn path_checks(&self) -> PathChecks {
        if let Some(repeat) = &self.repeat {
            return repeat.step.path_checks();
        }
        let all = self.trust.derivatives.read().unwrap_or_else(PoisonError::into_inner);
        all.values().map(|known| known.paths.numbers()).fold(PathChecks::default(), |sum, one| PathChecks {
            checked: sum.checked + one.checked,
            unchecked: sum.unchecked + one.unchecked,
            time: sum.time + one.time,
        })
    }
}

impl Watch<'_> {
    /// Runs a call with an empty map. Its path, where that is new: so it is too where the derivative crashes.
    pub fn over(&self, call: impl FnOnce() -> Result<()>) -> Result<Option<NewPath>> {
        let Some(map) = self.known.artifact.paths else { return call().map(|()| None) };
        map.clear();
        let started = Instant::now();
        let crash = match call() {
            Err(error) if crash_guard::is_crash(&error) || crash_guard::is_stop(&error) => Some(error),
            outcome => {
                outcome?;
                None
            }
        };
        self.known.paths.note_calls(started.elapsed());
        let is_known = crash.is_none() && map.with_counts(|counts| self.known.paths.have(counts));
        let is_due = || map.has_met_point() && (self.known.paths.is_point_due() || self.known.sizes.has_doubts());
        if is_known && !is_due() {
            return Ok(None);
        }
        let path = map.with_counts(|counts| PathSet::of(counts));
        Ok(Some(NewPath { path, is_known, crash }))
    }

    /// Verifies a call on a new path. `true`: another derivative takes this one's place, and the call is to be repeated.
    ///
    /// # Errors
    ///
    /// A differentiation error where no pipeline gives a gradient that passes; the crash, where the call crashed and the check does not; where the call
    /// stopped at a failed check, how the function ends.
    pub fn verify(&self, new: NewPath, inputs: &[Input<'_>], resolved: &Resolved) -> Result<bool> {
        let reason = match (&new.crash, new.is_known) {
            (Some(_), _) => Reason::Crash(&new.path),
            (None, false) => Reason::Path(&new.path),
            (None, true) => Reason::Point(&new.path),
        };
        let outcome = self.verify_because(&reason, inputs, resolved);
        match new.crash {
            // The prover may have less stack than the caller, so that the function itself crashes there.
            Some(crash) if matches!(outcome, Ok(false)) => Err(crash),
            Some(crash) if matches!(outcome, Err(Error::Foreign(_))) && !crash_guard::is_stop(&crash) => Err(crash),
            _ => outcome,
        }
    }

    fn verify_because(&self, reason: &Reason<'_>, inputs: &[Input<'_>], resolved: &Resolved) -> Result<bool> {
        let serving = self.server.as_deref().unwrap_or(self.function);
        let outcome = serving.selection().check_watched(self.wanted, &self.known, reason, inputs, resolved);
        if self.server.is_some() {
            serving.take_warnings().into_iter().for_each(|text| self.function.opened.warn(text));
        }
        outcome
    }
}

/// Why a call is verified.
enum Reason<'r> {
    /// Its path is new.
    Path(&'r PathSet),
    /// Its path is known, but a single value takes an edge of it: what is right for some arguments may be wrong for others.
    Point(&'r PathSet),
    /// It crashed on a path.
    Crash(&'r PathSet),
    /// It gave a NaN for finite arguments.
    NotANumber,
}

impl Reason<'_> {
    fn path(&self) -> Option<&PathSet> {
        match self {
            Reason::Path(path) | Reason::Point(path) | Reason::Crash(path) => Some(path),
            Reason::NotANumber => None,
        }
    }
}

impl CallWatch for Watch<'_> {
    fn over_call(&self, call: &mut dyn FnMut() -> Result<()>) -> Result<Option<NewPath>> {
        self.over(call)
    }
}

impl Selection<'_> {
    fn check_watched(
        &self,
        wanted: DerivativeSet,
        known: &Arc<Derivative>,
        reason: &Reason<'_>,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<bool> {
        let is_crash = matches!(reason, Reason::Crash(_));
        if !is_crash && !known.paths.has_time() && !self.opened.is_strict() {
            if known.sizes.is_doubted(paths::digest(resolved, reason.path())) {
                self.warn_again();
            } else if !matches!(reason, Reason::Point(_)) && known.paths.note_unchecked() {
                self.warn_unchecked(reason);
            }
            return Ok(false);
        }
        // One thread checks; others wait for its outcome.
        let _building = self.trust.building.lock()?;
        let now = self.trust.derivatives.read().unwrap_or_else(PoisonError::into_inner).get(&wanted).cloned();
        if !now.is_some_and(|now| Arc::ptr_eq(&now, known)) {
            return Ok(true);
        }
        if let Reason::Path(path) = reason
            && known.paths.kept().contains(path)
        {
            return Ok(false);
        }
        let started = Instant::now();
        let outcome = self.check_again_on(wanted, known, reason.path(), inputs, resolved);
        // A search for another derivative is not repeated for each path.
        let is_kept = outcome.as_ref().is_ok_and(|chosen| Arc::ptr_eq(chosen, &known.artifact));
        known.paths.note_checked(if is_kept { started.elapsed() } else { Duration::ZERO });
        Ok(!Arc::ptr_eq(&outcome?, &known.artifact))
    }

    fn warn_unchecked(&self, reason: &Reason<'_>) {
        let function = &self.opened.spec.function;
        let why = match reason {
            Reason::NotANumber => format!("a derivative of `{function}` is NaN although its arguments are finite"),
            _ => format!(
                "values decide the path through `{function}`, and this call took a path that no verified call has taken"
            ),
        };
        self.opened.warn(format!(
            "{why}: its gradient is returned without a check, because checks have used up their time (2 s, and as long as its \
             calls); verify=\"strict\" checks without limit"
        ));
    }
}

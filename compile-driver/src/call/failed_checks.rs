//! A derivative that stops at a failed check (`crash_guard.rs`) says nothing of how the function ends: the function itself is asked.

use crate::call::arguments::Call;
use crate::call::crash_guard;
use crate::error::Result;
use crate::load::artifact::Artifact;
use core_ad::plan::Part;
use core_ad::protocol::Entry;
use std::ffi::c_void;

impl Call<'_> {
    /// [`Call::run`] for a caller's own values. Where the derivative stops at a failed check, the function itself is run: how it ends is the answer.
    pub fn run_for_caller(&self, artifact: &Artifact, entry: Entry, slots: &mut Vec<*mut c_void>) -> Result<()> {
        self.ask_function(artifact, entry, slots, |slots| self.run(artifact, entry, slots))
    }

    /// Runs something on the argument array of an entry point, and the function where that stops at a failed check.
    pub(crate) fn ask_function(
        &self,
        artifact: &Artifact,
        entry: Entry,
        slots: &mut Vec<*mut c_void>,
        run: impl FnOnce(&mut Vec<*mut c_void>) -> Result<()>,
    ) -> Result<()> {
        let places = self.plan.slots(entry, artifact.record.mask).zip(slots.iter());
        let values: Vec<*mut c_void> = match artifact.has_checks {
            true => places.filter(|(slot, _)| slot.part == Part::Primal).map(|(_, place)| *place).collect(),
            false => Vec::new(),
        };
        match run(slots) {
            Err(stop) if crash_guard::is_stop(&stop) => {
                self.run_with(artifact, Entry::Primal, &mut { values }, None)?;
                Err(stop)
            }
            outcome => outcome,
        }
    }
}

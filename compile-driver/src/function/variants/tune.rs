//! Tuning: times several variants of the derivative on the caller's own arguments and keeps the fastest.
//!
//! A candidate is the same function opened with other options (what stands before differentiation, what Enzyme
//! caches), so that each is built, verified and cached like any other. First the pipelines compete, then
//! Enzyme's options on the best of them, and last the best with the sizes at hand as constants: where that variant pays it
//! serves calls with these sizes, and the best without it all others. The outcome is kept in the function's cache entry.

use crate::cache;
use crate::call::arguments::Input;
use crate::call::scratch::Frame;
use crate::error::{Error, Result};
use crate::function::Function;
use crate::function::variants::specialize::PAYS;
use crate::load::artifact::Artifact;
use crate::options::Spec;
use crate::os::terminal;
use crate::prover;
use core_ad::DerivativeSet;
use core_ad::manifest::{FORMAT, Trial, Tuning};
use core_ad::protocol::Pipeline;
use core_ad::shapes::Resolved;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// What may stand before differentiation.
const PIPELINES: [Pipeline; 4] = [Pipeline::Inlined, Pipeline::O1, Pipeline::O2, Pipeline::Outlined];

/// Options of Enzyme for its caches, each alone; last, to let LLVM carry values from iteration to iteration of a
/// loop before differentiation (see `PIPELINE` in `build/enzyme.rs`).
const ENGINE_OPTIONS: [&[&str]; 5] = [
    &["enzyme-mincut-cache=0"],
    &["enzyme-max-cache=1"],
    &["enzyme-rematerialize=0"],
    &["enzyme-loop-invariant-cache=1"],
    &["enable-load-pre=1", "max-dependences=100"],
];

/// Time spent on measuring one candidate.
const BUDGET: Duration = Duration::from_millis(60);

/// What tuning chose: for all sizes, and for some.
pub(crate) struct Winner {
    general: Arc<Function>,
    special: Option<Special>,
}

/// A function in which some sizes are constants.
struct Special {
    /// The parameters with their sizes.
    sizes: Vec<(usize, i64)>,
    function: Arc<Function>,
}

impl Winner {
    /// What was chosen for some sizes, and for all.
    pub fn all(&self) -> Vec<Arc<Function>> {
        self.special.iter().map(|special| &special.function).chain([&self.general]).cloned().collect()
    }

    fn served_by(&self, resolved: &Resolved) -> &Arc<Function> {
        match &self.special {
            Some(special) if special.sizes.iter().all(|&(arg, size)| resolved.sizes[arg] == size) => &special.function,
            _ => &self.general,
        }
    }
}

impl Function {
    /// The fastest verified derivative for the inputs in `wanted`, found at the first call.
    pub(crate) fn tuned(
        &self,
        wanted: DerivativeSet,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Arc<Artifact>> {
        let known = self.variants.tuned.read().unwrap_or_else(PoisonError::into_inner).get(&wanted).cloned();
        let winner = match known {
            Some(winner) => winner,
            None => {
                let _tuning = self.variants.tuning.lock()?;
                let known = self.variants.tuned.read().unwrap_or_else(PoisonError::into_inner).get(&wanted).cloned();
                match known {
                    Some(winner) => winner,
                    None => self.choose(wanted, inputs, resolved)?,
                }
            }
        };
        let chosen = winner.served_by(resolved);
        let artifact = chosen.derivative(wanted, inputs, resolved)?;
        chosen.take_warnings().into_iter().for_each(|text| self.opened.warn(text));
        // A primal in which sizes are constants serves no other call.
        if Arc::ptr_eq(chosen, &winner.general) {
            self.opened.share_primal(&artifact);
        }
        Ok(artifact)
    }

    /// The function that was chosen for these sizes, if one was.
    pub(crate) fn tuned_before(&self, wanted: DerivativeSet, resolved: &Resolved) -> Option<Arc<Function>> {
        let tuned = self.variants.tuned.read().unwrap_or_else(PoisonError::into_inner);
        tuned.get(&wanted).map(|winner| winner.served_by(resolved).clone())
    }

    fn choose(&self, wanted: DerivativeSet, inputs: &[Input<'_>], resolved: &Resolved) -> Result<Arc<Winner>> {
        let file = self.tuning_file(wanted);
        let kept = cache::read_json::<Tuning>(&file).filter(|t| t.format == FORMAT);
        let tuning = match kept {
            Some(tuning) => tuning,
            None => {
                let tuning = self.compete(wanted, inputs, resolved)?;
                cache::write_json(&file, &tuning)?;
                tuning
            }
        };
        let open = |pipeline, options: &[String], sizes| {
            self.opened_with(self.candidate(pipeline, options, sizes)).map(Arc::new)
        };
        let special = tuning.special.as_ref().and_then(|trial| Some((trial, trial.sizes.as_ref()?)));
        let special = special.map(|(trial, sizes)| {
            let function = open(trial.pipeline, &trial.engine_options, Some(sizes))?;
            Ok::<_, Error>(Special { sizes: self.numbered(sizes), function })
        });
        let general = open(tuning.pipeline, &tuning.engine_options, None)?;
        let winner = Arc::new(Winner { general, special: special.transpose()? });
        self.variants.tuned.write().unwrap_or_else(PoisonError::into_inner).insert(wanted, winner.clone());
        Ok(winner)
    }

    fn tuning_file(&self, wanted: DerivativeSet) -> PathBuf {
        self.opened.cache.entry(&self.opened.manifest.key).join(format!("tuning-{}.json", wanted.name()))
    }

    /// This function with other options.
    fn candidate(&self, pipeline: Pipeline, engine_options: &[String], sizes: Option<&BTreeMap<String, i64>>) -> Spec {
        let mut spec = self.opened.spec.clone();
        spec.options.tune = false;
        spec.options.pipeline = Some(pipeline);
        spec.options.engine_options.extend(engine_options.iter().cloned());
        if let Some(sizes) = sizes {
            spec.options.fixed_sizes = sizes.clone();
        }
        spec
    }

    /// Converts sizes by parameter name to sizes by parameter index.
    fn numbered(&self, sizes: &BTreeMap<String, i64>) -> Vec<(usize, i64)> {
        let args = self.opened.manifest.plan.args.iter().enumerate();
        args.filter_map(|(i, arg)| Some((i, *sizes.get(&arg.name)?))).collect()
    }

    /// The sizes of a call, if a variant for them could be built: not of what has none, or has them as constants already, nor
    /// of a kernel, which learns its sizes from the launch.
    fn sizes_to_fix(&self, resolved: &Resolved) -> Option<BTreeMap<String, i64>> {
        let sizes = self.opened.sizes(resolved);
        (!sizes.is_empty() && self.opened.spec.options.fixed_sizes.is_empty() && !self.opened.is_kernel())
            .then_some(sizes)
    }

    /// Builds and times every candidate.
    fn compete(&self, wanted: DerivativeSet, inputs: &[Input<'_>], resolved: &Resolved) -> Result<Tuning> {
        let show = terminal::draws();
        let bar = if show { progress(&self.opened.spec.function) } else { ProgressBar::hidden() };
        let mut trials: Vec<Trial> = Vec::new();
        for pipeline in PIPELINES {
            trials.push(self.attempt(wanted, inputs, resolved, pipeline, Vec::new(), None)?);
            bar.inc(1);
        }
        let pipeline = fastest(&trials).map_or(Pipeline::Inlined, |t| t.pipeline);
        for options in ENGINE_OPTIONS {
            let options = options.iter().map(|&o| o.to_owned()).collect();
            trials.push(self.attempt(wanted, inputs, resolved, pipeline, options, None)?);
            bar.inc(1);
        }
        let best = fastest(&trials).cloned();
        let mut special = None;
        if let Some(best) = &best {
            let tried = self.attempt_with_sizes(wanted, inputs, resolved, best)?;
            bar.inc(tried.len() as u64);
            let limit = best.microseconds.map_or(0.0, |time| PAYS * time);
            special = fastest(&tried).filter(|t| t.microseconds.is_some_and(|time| time < limit)).cloned();
            trials.extend(tried);
        }
        bar.finish_and_clear();
        let Some(best) = best else {
            // None can be built: the plain search reports the reason.
            return Err(
                match self
                    .opened_with(self.candidate(Pipeline::Inlined, &[], None))?
                    .derivative(wanted, inputs, resolved)
                {
                    Err(error) => error,
                    Ok(_) => self.opened.vanished(&self.tuning_file(wanted)),
                },
            );
        };
        let (pipeline, engine_options) = (best.pipeline, best.engine_options);
        let tuning = Tuning { format: FORMAT, pipeline, engine_options, special, trials };
        if show {
            eprintln!("{}", table(&self.opened.spec.function, &tuning));
        }
        Ok(tuning)
    }

    /// The best candidate, and the default, with the sizes at hand as constants.
    fn attempt_with_sizes(
        &self,
        wanted: DerivativeSet,
        inputs: &[Input<'_>],
        resolved: &Resolved,
        best: &Trial,
    ) -> Result<Vec<Trial>> {
        let Some(sizes) = self.sizes_to_fix(resolved) else { return Ok(Vec::new()) };
        let mut candidates = vec![(best.pipeline, best.engine_options.clone()), (PIPELINES[0], Vec::new())];
        candidates.dedup();
        let attempt =
            |(pipeline, options)| self.attempt(wanted, inputs, resolved, pipeline, options, Some(sizes.clone()));
        candidates.into_iter().map(attempt).collect()
    }

    fn attempt(
        &self,
        wanted: DerivativeSet,
        inputs: &[Input<'_>],
        resolved: &Resolved,
        pipeline: Pipeline,
        engine_options: Vec<String>,
        sizes: Option<BTreeMap<String, i64>>,
    ) -> Result<Trial> {
        let spec = self.candidate(pipeline, &engine_options, sizes.as_ref());
        let measured = self.opened_with(spec).and_then(|candidate| {
            let artifact = candidate.derivative(wanted, inputs, resolved)?;
            time_vjp(&candidate, &artifact, inputs, resolved)
        });
        let (microseconds, refused) = match measured {
            Ok(time) => (Some(time.as_secs_f64() * 1e6), None),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => (None, error.to_string().lines().next().map(str::to_owned)),
        };
        Ok(Trial { pipeline, engine_options, sizes, microseconds, refused })
    }
}

/// Shortest time of one vjp at these arguments.
pub(crate) fn time_vjp(
    function: &Function,
    artifact: &Artifact,
    inputs: &[Input<'_>],
    resolved: &Resolved,
) -> Result<Duration> {
    let frame = Frame::open();
    let call = function.opened.call(resolved, &frame);
    let values = function.opened.gather(&call, inputs)?;
    prover::time_vjp(&call, artifact, &values, BUDGET)
}

fn fastest(trials: &[Trial]) -> Option<&Trial> {
    let timed = trials.iter().filter_map(|t| Some((t.microseconds?, t)));
    timed.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, trial)| trial)
}

fn progress(function: &str) -> ProgressBar {
    let bar = ProgressBar::new((PIPELINES.len() + ENGINE_OPTIONS.len() + 2) as u64);
    if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len}") {
        bar.set_style(style);
    }
    bar.set_message(format!("tuning `{function}`"));
    bar
}

/// What was tried, and what was kept of it.
fn table(function: &str, tuning: &Tuning) -> String {
    let chosen = |t: &Trial| (t.pipeline, &t.engine_options) == (tuning.pipeline, &tuning.engine_options);
    let row = |t: &Trial| {
        let sizes = t.sizes.iter().flatten().map(|(name, size)| format!("{name}={size}"));
        let options: Vec<String> = t.engine_options.iter().cloned().chain(sizes).collect();
        let options = if options.is_empty() { "-".to_owned() } else { options.join(" ") };
        let kept = match &t.sizes {
            None if chosen(t) => "  <- kept",
            Some(_) if Some(t) == tuning.special.as_ref() => "  <- kept for these sizes",
            _ => "",
        };
        let outcome = match (t.microseconds, &t.refused) {
            (Some(time), _) => format!("{time:>12.1} us{kept}"),
            (None, refused) => refused.clone().unwrap_or_default(),
        };
        format!("  {:<9} {options:<32} {outcome}", t.pipeline.name())
    };
    let rows: Vec<String> = tuning.trials.iter().map(row).collect();
    format!("tuned `{function}`:\n{}", rows.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(pipeline: Pipeline, microseconds: Option<f64>) -> Trial {
        Trial { pipeline, engine_options: Vec::new(), sizes: None, microseconds, refused: None }
    }

    #[test]
    fn the_fastest_that_could_be_built_is_kept() {
        let mut trials =
            vec![trial(Pipeline::O1, Some(3.0)), trial(Pipeline::O2, None), trial(Pipeline::Outlined, Some(2.0))];
        assert_eq!(fastest(&trials).map(|t| t.pipeline), Some(Pipeline::Outlined));
        let sizes = Some(BTreeMap::from([("n".to_owned(), 8)]));
        let special = Some(Trial { sizes, ..trial(Pipeline::Outlined, Some(1.0)) });
        trials.extend(special.clone());
        let mut tuning =
            Tuning { format: FORMAT, pipeline: Pipeline::Outlined, engine_options: Vec::new(), special, trials };
        let kept = |tuning: &Tuning| table("f", tuning).matches("kept").count();
        assert_eq!(kept(&tuning), 2);
        assert!(table("f", &tuning).ends_with("1.0 us  <- kept for these sizes"));
        tuning.special = None;
        assert_eq!(kept(&tuning), 1);
    }
}

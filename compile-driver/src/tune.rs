//! Tuning: several ways of building the derivative, timed on the caller's own arguments; the fastest stays.
//!
//! A candidate is the same function opened with other options (what stands before differentiation, what the engine
//! caches), so that each is built, proven and cached like any other. First the pipelines compete, then the
//! engine's options on the best of them. The outcome is kept in the function's cache entry.

use crate::artifact::{Artifact, Wanted};
use crate::cache;
use crate::call::Input;
use crate::error::Result;
use crate::function::Function;
use crate::options::Spec;
use crate::scratch::Frame;
use crate::verify;
use core_ad::manifest::{FORMAT, Trial, Tuning};
use core_ad::protocol::Rung;
use core_ad::shapes::Resolved;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// What may stand before differentiation.
const PIPELINES: [Rung; 4] = [Rung::Inlined, Rung::O1, Rung::O2, Rung::Outlined];

/// What the engine may be told about its caches, each alone; last, to let LLVM carry values from turn to turn of a
/// loop before differentiation (see `engine::PIPELINE`).
const ENGINE_OPTIONS: [&[&str]; 5] = [
    &["enzyme-mincut-cache=0"],
    &["enzyme-max-cache=1"],
    &["enzyme-rematerialize=0"],
    &["enzyme-loop-invariant-cache=1"],
    &["enable-load-pre=1", "max-dependences=100"],
];

/// Time spent on measuring one candidate.
const BUDGET: Duration = Duration::from_millis(60);

impl Function {
    /// The fastest proven derivative for the inputs in `wanted`, found at the first call.
    pub(crate) fn tuned(&self, wanted: Wanted, inputs: &[Input<'_>], resolved: &Resolved) -> Result<Arc<Artifact>> {
        let known = self.tuned.read().unwrap_or_else(PoisonError::into_inner).get(&wanted).cloned();
        let winner = match known {
            Some(winner) => winner,
            None => {
                let _tuning = self.tuning.lock().unwrap_or_else(PoisonError::into_inner);
                let known = self.tuned.read().unwrap_or_else(PoisonError::into_inner).get(&wanted).cloned();
                match known {
                    Some(winner) => winner,
                    None => self.choose(wanted, inputs, resolved)?,
                }
            }
        };
        let artifact = winner.derivative(wanted, inputs, resolved)?;
        winner.take_warnings().into_iter().for_each(|text| self.warn(text));
        self.share_primal(&artifact);
        Ok(artifact)
    }

    fn choose(&self, wanted: Wanted, inputs: &[Input<'_>], resolved: &Resolved) -> Result<Arc<Function>> {
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
        let winner = Arc::new(self.opened_with(self.candidate(tuning.pipeline, &tuning.engine_options))?);
        self.tuned.write().unwrap_or_else(PoisonError::into_inner).insert(wanted, winner.clone());
        Ok(winner)
    }

    fn tuning_file(&self, wanted: Wanted) -> PathBuf {
        self.cache.entry(&self.manifest.key).join(format!("tuning-{}.json", wanted.name()))
    }

    /// This function with other options.
    fn candidate(&self, pipeline: Rung, engine_options: &[String]) -> Spec {
        let mut spec = self.spec.clone();
        spec.options.tune = false;
        spec.options.pipeline = Some(pipeline);
        spec.options.engine_options.extend(engine_options.iter().cloned());
        spec
    }

    /// Builds and times every candidate.
    fn compete(&self, wanted: Wanted, inputs: &[Input<'_>], resolved: &Resolved) -> Result<Tuning> {
        let show = std::io::stderr().is_terminal();
        let bar = if show { progress(&self.spec.function) } else { ProgressBar::hidden() };
        let mut trials: Vec<Trial> = Vec::new();
        for pipeline in PIPELINES {
            trials.push(self.attempt(wanted, inputs, resolved, pipeline, Vec::new()));
            bar.inc(1);
        }
        let pipeline = fastest(&trials).map_or(Rung::Inlined, |t| t.pipeline);
        for options in ENGINE_OPTIONS {
            let options = options.iter().map(|&o| o.to_owned()).collect();
            trials.push(self.attempt(wanted, inputs, resolved, pipeline, options));
            bar.inc(1);
        }
        bar.finish_and_clear();
        let Some(best) = fastest(&trials).cloned() else {
            // None can be built: the plain ladder says why.
            return Err(
                match self.opened_with(self.candidate(Rung::Inlined, &[]))?.derivative(wanted, inputs, resolved) {
                    Err(error) => error,
                    Ok(_) => self.vanished(&self.tuning_file(wanted)),
                },
            );
        };
        if show {
            eprintln!("{}", table(&self.spec.function, &trials));
        }
        Ok(Tuning { format: FORMAT, pipeline: best.pipeline, engine_options: best.engine_options, trials })
    }

    fn attempt(
        &self,
        wanted: Wanted,
        inputs: &[Input<'_>],
        resolved: &Resolved,
        pipeline: Rung,
        engine_options: Vec<String>,
    ) -> Trial {
        let measured = self.opened_with(self.candidate(pipeline, &engine_options)).and_then(|candidate| {
            let artifact = candidate.derivative(wanted, inputs, resolved)?;
            candidate.time_vjp(&artifact, inputs, resolved)
        });
        let (microseconds, refused) = match measured {
            Ok(time) => (Some(time.as_secs_f64() * 1e6), None),
            Err(error) => (None, error.to_string().lines().next().map(str::to_owned)),
        };
        Trial { pipeline, engine_options, microseconds, refused }
    }

    /// Shortest time of one vjp at these arguments.
    pub(crate) fn time_vjp(&self, artifact: &Artifact, inputs: &[Input<'_>], resolved: &Resolved) -> Result<Duration> {
        let frame = Frame::open();
        let call = self.call(resolved, &frame);
        let values = self.gather(&call, inputs)?;
        verify::time_vjp(&call, artifact, &values, BUDGET)
    }
}

fn fastest(trials: &[Trial]) -> Option<&Trial> {
    let timed = trials.iter().filter_map(|t| Some((t.microseconds?, t)));
    timed.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, trial)| trial)
}

fn progress(function: &str) -> ProgressBar {
    let bar = ProgressBar::new((PIPELINES.len() + ENGINE_OPTIONS.len()) as u64);
    if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len}") {
        bar.set_style(style);
    }
    bar.set_message(format!("tuning `{function}`"));
    bar
}

/// What was tried, the fastest marked.
fn table(function: &str, trials: &[Trial]) -> String {
    let best = fastest(trials).and_then(|t| t.microseconds);
    let row = |t: &Trial| {
        let options = if t.engine_options.is_empty() { "-".to_owned() } else { t.engine_options.join(" ") };
        let outcome = match (t.microseconds, &t.refused) {
            (Some(time), _) => format!("{time:>12.1} us{}", if Some(time) == best { "  <- kept" } else { "" }),
            (None, refused) => refused.clone().unwrap_or_default(),
        };
        format!("  {:<9} {options:<32} {outcome}", t.pipeline.name())
    };
    let rows: Vec<String> = trials.iter().map(row).collect();
    format!("tuned `{function}`:\n{}", rows.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(pipeline: Rung, microseconds: Option<f64>) -> Trial {
        Trial { pipeline, engine_options: Vec::new(), microseconds, refused: None }
    }

    #[test]
    fn the_fastest_that_could_be_built_is_kept() {
        let trials = [trial(Rung::O1, Some(3.0)), trial(Rung::O2, None), trial(Rung::Outlined, Some(2.0))];
        assert_eq!(fastest(&trials).map(|t| t.pipeline), Some(Rung::Outlined));
        assert!(table("f", &trials).lines().last().is_some_and(|l| l.contains("outlined") && l.contains("kept")));
    }
}

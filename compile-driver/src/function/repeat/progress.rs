//! How far a reverse sweep is, on a terminal, once it has taken two seconds.

use crate::os::terminal;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// The silence before the bar.
const SILENCE: Duration = Duration::from_secs(2);

/// The bar of one sweep.
pub(super) struct Progress {
    steps: u64,
    reversed: u64,
    since: Instant,
    text: Option<String>,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Of a sweep over so many steps; draws nothing unless asked for, and on a terminal.
    pub(super) fn new(wanted: bool, function: &str, steps: usize) -> Self {
        let text = (wanted && terminal::draws()).then(|| format!("gradient of `{function}`"));
        Progress { steps: steps as u64, reversed: 0, since: Instant::now(), text, bar: None }
    }

    /// One more step is reversed.
    pub(super) fn reversed(&mut self) {
        self.reversed += 1;
        let Some(text) = &self.text else { return };
        if self.bar.is_none() && self.since.elapsed() > SILENCE {
            let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} steps, {eta} left");
            let bar = ProgressBar::new(self.steps).with_message(text.clone());
            self.bar = Some(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.reversed);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

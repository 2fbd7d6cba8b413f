//! Says what a build is at, once it has taken two seconds: a line on a terminal that is drawn again as time passes, one line to the host
//! program's log elsewhere. Nothing is said of what is done sooner.
//!
//! Builds name their steps ([`Step`]); what waits for a child calls [`tick`].

use crate::os::terminal;
use indicatif::{ProgressBar, ProgressStyle};
use std::cell::RefCell;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The silence before the first word.
const SILENCE: Duration = Duration::from_secs(2);

/// The silence before a notice of what somebody else has to end.
const PATIENCE: Duration = Duration::from_secs(4);

/// Who should read a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Who wants to know what is under way.
    Info,
    /// The user, now: without them it may take for ever.
    Notice,
}

/// Takes one line for a log.
pub type Log = fn(Level, &str);

static LOG: OnceLock<Log> = OnceLock::new();

thread_local! {
    static BUILD: RefCell<Option<Build>> = const { RefCell::new(None) };
}

/// What this thread builds.
struct Build {
    since: Instant,
    /// The steps that are under way, the outermost first.
    steps: Vec<String>,
    bar: Option<ProgressBar>,
    is_logged: bool,
}

/// Sends lines to a log of the host program. The first one counts.
pub fn log_to(log: Log) {
    let _ = LOG.set(log);
}

/// A step of a build on this thread, until it is dropped.
#[must_use]
pub struct Step(());

impl Step {
    /// Begins a step; within another it is part of that.
    pub fn begin(what: String) -> Step {
        BUILD.with_borrow_mut(|build| {
            let new = || Build { since: Instant::now(), steps: Vec::new(), bar: None, is_logged: false };
            build.get_or_insert_with(new).steps.push(what);
        });
        Step(())
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        BUILD.with_borrow_mut(|build| {
            let Some(current) = build else { return };
            current.steps.pop();
            if current.steps.is_empty() {
                if let Some(bar) = current.bar.take() {
                    bar.finish_and_clear();
                }
                *build = None;
            }
        });
    }
}

/// Says what is under way, where it is time for that.
pub fn tick() {
    let line = BUILD.with_borrow_mut(|build| build.as_mut()?.say());
    // Outside of the borrow: a log is the host's code.
    if let (Some(line), Some(log)) = (line, LOG.get()) {
        log(Level::Info, &line);
    }
}

/// Says something that the user should know now, to the host program's log; to a terminal where there is no log.
pub fn notice(line: &str) {
    // A clone, outside of the borrow: a log is the host's code.
    let bar = BUILD.with_borrow(|build| build.as_ref().and_then(|build| build.bar.clone()));
    let say = || match LOG.get() {
        Some(log) => log(Level::Notice, line),
        None if terminal::draws() => eprintln!("ffgrad: {line}"),
        None => {}
    };
    match bar {
        Some(bar) => bar.suspend(say),
        None => say(),
    }
}

/// A wait for somebody else: says after a moment, once, what is waited for.
pub struct Patience {
    since: Instant,
    is_said: bool,
}

impl Patience {
    /// The wait begins.
    pub fn begin() -> Self {
        Patience { since: Instant::now(), is_said: false }
    }

    /// Says it where it is time for that.
    pub fn tick(&mut self, what: impl FnOnce() -> String) {
        tick();
        if !self.is_said && self.since.elapsed() > PATIENCE {
            self.is_said = true;
            notice(&what());
        }
    }
}

impl Build {
    /// Draws, or returns the line for a log.
    fn say(&mut self) -> Option<String> {
        let passed = self.since.elapsed();
        if passed < SILENCE {
            return None;
        }
        if !terminal::draws() {
            return (!std::mem::replace(&mut self.is_logged, true)).then(|| self.steps.join(": "));
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
                bar.set_style(style);
            }
            bar
        });
        bar.set_message(format!("{}, {} s", self.steps.join(": "), passed.as_secs()));
        bar.tick();
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_named_from_the_outermost_once_and_not_before_it_is_time() {
        let outer = Step::begin("gradient of `f`".to_owned());
        let inner = Step::begin("pipeline o1".to_owned());
        let say = |age: Duration| {
            BUILD.with_borrow_mut(|build| {
                let build = build.as_mut().expect("a build");
                build.since = Instant::now().checked_sub(age).expect("a time");
                if terminal::draws() { None } else { build.say() }
            })
        };
        assert_eq!(say(Duration::ZERO), None);
        if !terminal::draws() {
            assert_eq!(say(SILENCE).as_deref(), Some("gradient of `f`: pipeline o1"));
            assert_eq!(say(SILENCE), None);
        }
        drop((inner, outer));
        assert!(BUILD.with_borrow(Option::is_none));
    }
}

//! How much time a child has had: what it computed, and what it slept, but not what it waited for a processor.
//!
//! A limit on wall-clock time would fail a build because other programs keep the machine busy, and a limit on CPU time alone would
//! never end a child that hangs. So while some process of the child's family runs, or could, its CPU time counts; while all of them
//! sleep, the clock on the wall does.

use std::cell::Cell;
use std::time::{Duration, Instant};

thread_local! {
    /// What children of this thread have used.
    static SPENT: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// What children that this thread waited for have used so far.
pub fn spent() -> Duration {
    SPENT.get()
}

/// The clock of one child. What it shows counts as [`spent`] when it is dropped.
pub struct Clock {
    child: u32,
    looked: Instant,
    computed: Option<Duration>,
    used: Duration,
}

impl Clock {
    /// Starts the clock of a child that runs already.
    pub fn of(child: u32) -> Self {
        Clock { child, looked: Instant::now(), computed: family(child).map(|f| f.computed), used: Duration::ZERO }
    }

    /// The time it has had; to be asked a few times a second.
    pub fn used(&mut self) -> Duration {
        let passed = self.looked.elapsed();
        self.looked += passed;
        let now = family(self.child);
        let computed = match (&now, self.computed) {
            (Some(now), Some(before)) => Some(now.computed.saturating_sub(before)),
            _ => None,
        };
        self.used += match (&now, computed) {
            (Some(now), Some(computed)) if now.runs => computed,
            (_, Some(computed)) => computed.max(passed),
            // It has ended, or this system does not tell.
            _ => passed,
        };
        self.computed = now.map(|f| f.computed).or(self.computed);
        self.used
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        SPENT.set(SPENT.get() + self.used());
    }
}

/// A process and its descendants.
struct Family {
    /// CPU time of all of them, and of those that they have waited for.
    computed: Duration,
    /// Whether one runs or waits for a processor.
    runs: bool,
}

/// `None` where the process is gone, or there is no `/proc`.
fn family(process: u32) -> Option<Family> {
    let (mut computed, mut runs) = (Duration::ZERO, false);
    let mut members = vec![process];
    let mut known = 0;
    while let Some(&member) = members.get(known) {
        known += 1;
        match stat(member) {
            Some((time, is_running)) => {
                computed += time;
                runs |= is_running;
                members.extend(children(member));
            }
            None if member == process => return None,
            None => {}
        }
    }
    Some(Family { computed, runs })
}

/// CPU time with that of children it has waited for, and whether it is running; proc(5) has the fields.
fn stat(process: u32) -> Option<(Duration, bool)> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in parentheses, may hold anything.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    let ticks: u64 = fields.skip(10).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    Some((Duration::from_millis(ticks * 1000 / ticks_a_second()), state == "R"))
}

fn children(process: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

fn ticks_a_second() -> u64 {
    // SAFETY: sysconf(3) takes a number and returns one.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).ok().filter(|&ticks| ticks > 0).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    fn sh(script: &str) -> Child {
        Command::new("/bin/sh").args(["-c", script]).spawn().expect("a shell")
    }

    fn after(mut child: Child, wait: Duration) -> Duration {
        let mut clock = Clock::of(child.id());
        let until = Instant::now() + wait;
        while Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
            clock.used();
        }
        let used = clock.used();
        let _ = child.kill();
        let _ = child.wait();
        used
    }

    #[test]
    fn sleep_counts_as_on_the_wall() {
        let used = after(sh("sleep 10"), Duration::from_millis(400));
        assert!(used >= Duration::from_millis(250), "{used:?}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn who_waits_for_a_processor_has_no_time_counted() {
        // Several that compute on one processor: each gets its share of it.
        let busy = "taskset -p -c 0 $$ >/dev/null 2>&1; while :; do :; done";
        let mut others: Vec<Child> = (0..3).map(|_| sh(busy)).collect();
        let used = after(sh(busy), Duration::from_millis(1200));
        for other in &mut others {
            let _ = other.kill();
            let _ = other.wait();
        }
        let is_pinned = Command::new("taskset").arg("--version").output().is_ok_and(|o| o.status.success());
        assert!(used > Duration::ZERO && (!is_pinned || used < Duration::from_millis(900)), "{used:?}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn children_of_the_child_count_too() {
        let used = after(sh("(i=0; while [ $i -lt 2000000 ]; do i=$((i+1)); done) & wait"), Duration::from_millis(600));
        let _ = Command::new("true").status();
        assert!(used > Duration::from_millis(50), "{used:?}");
    }

    #[test]
    fn what_a_clock_has_shown_is_spent() {
        let before = spent();
        after(sh("sleep 10"), Duration::from_millis(150));
        assert!(spent() - before >= Duration::from_millis(100));
    }
}

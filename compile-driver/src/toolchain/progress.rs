//! Progress of an installation: a bar on a terminal that can draw one, a line per step elsewhere.

use crate::os::terminal;
use std::io::Write;

use indicatif::{ProgressBar, ProgressStyle};

/// Somebody who wants to know how far an installation is.
pub trait Progress {
    /// A step begins: what it is, and how many bytes it will handle.
    fn begin(&mut self, what: &str, bytes: u64);
    /// So many bytes of the step are done.
    fn reach(&mut self, bytes: u64);
    /// The step is done.
    fn end(&mut self);
}

/// Reports nothing.
#[derive(Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&mut self, _: &str, _: u64) {}
    fn reach(&mut self, _: u64) {}
    fn end(&mut self) {}
}

/// A bar on standard error if that is a terminal that can draw one, else one line per step.
pub fn progress_on_stderr() -> Box<dyn Progress> {
    if terminal::draws() { Box::new(Bar::default()) } else { Box::new(Lines { out: std::io::stderr() }) }
}

#[derive(Debug, Default)]
struct Bar {
    bar: Option<ProgressBar>,
}

impl Progress for Bar {
    fn begin(&mut self, what: &str, bytes: u64) {
        let bar = ProgressBar::new(bytes);
        if let Ok(style) = ProgressStyle::with_template("{msg:48} {bar:24} {bytes:>10}/{total_bytes:10} {eta:>4}") {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        self.bar = Some(bar);
    }

    fn reach(&mut self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
        }
    }

    fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.set_position(bar.length().unwrap_or_default());
            bar.finish();
        }
    }
}

/// One line per step, for logs.
struct Lines<W: Write> {
    out: W,
}

impl<W: Write> Progress for Lines<W> {
    fn begin(&mut self, what: &str, bytes: u64) {
        let size = if bytes > 0 { format!(" ({} MB)", bytes.div_ceil(1 << 20)) } else { String::new() };
        // A closed standard error is no reason to stop an installation.
        let _ = writeln!(self.out, "ffgrad: {what}{size}");
    }

    fn reach(&mut self, _: u64) {}
    fn end(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_gets_one_line_per_step() {
        let mut lines = Lines { out: Vec::new() };
        lines.begin("downloading a 1.0", 3 << 20);
        lines.reach(1 << 20);
        lines.end();
        lines.begin("waiting", 0);
        assert_eq!(String::from_utf8_lossy(&lines.out), "ffgrad: downloading a 1.0 (3 MB)\nffgrad: waiting\n");
    }
}

//! Diagnoses: parses the output of compilers and Enzyme, and explains it to the user.
//!
//! A [`Diagnosis`] has what happened, where in the user's source, and what to do next. The functions
//! here read tool output; the driver adds the source line, since only it opens files.

pub mod callees;
pub mod codes;
pub mod enzyme;
pub mod messages;
pub mod worker;

use serde::{Deserialize, Serialize};
use std::fmt;

/// A place in the user's source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// File as the tool named it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 where unknown.
    pub column: u32,
    /// The text of the line, where the file could be read.
    pub text: Option<String>,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.rsplit('/').next().unwrap_or(&self.file), self.line)?;
        match &self.text {
            Some(text) => write!(f, "  |  {}", text.trim()),
            None => Ok(()),
        }
    }
}

/// The code of the refusal of a call that does not fit the function that it reaches.
pub const MISMATCHED_CALL: &str = "mismatched-call";

/// A refusal, explained.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// A stable name for the kind of problem, `missing-derivative` for instance.
    pub code: String,
    /// The user's function.
    pub function: String,
    /// What happened, in one sentence.
    pub headline: String,
    /// Where.
    pub location: Option<Location>,
    /// The calls that lead there, innermost first, where the code is inlined or reached from elsewhere.
    #[serde(default)]
    pub callers: Vec<Location>,
    /// The library's line that was reached from there, where the construct itself stands in a header.
    #[serde(default)]
    pub inside: Option<Location>,
    /// How the place was found, where the tool did not name it.
    #[serde(default)]
    pub found_by: Option<String>,
    /// The function without body and derivative that is called there, as [`crate::names::short`] writes it.
    #[serde(default)]
    pub callee: Option<String>,
    /// What was expected, for mismatches.
    pub expected: Option<String>,
    /// What was found instead.
    pub found: Option<String>,
    /// What to do next, a sentence each.
    pub advice: Vec<String>,
    /// The tool's own output.
    pub output: Option<String>,
    /// Folder with every intermediate file of the failed build.
    pub kept: Option<String>,
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline)?;
        if let Some(at) = &self.location {
            write!(f, "\n  {at}")?;
        }
        if let Some(inside) = &self.inside {
            write!(f, "\n  inside {inside}")?;
        }
        for caller in &self.callers {
            write!(f, "\n  called at {caller}")?;
        }
        if let Some(how) = &self.found_by {
            write!(f, "\n  ({how})")?;
        }
        if let (Some(expected), Some(found)) = (&self.expected, &self.found) {
            write!(f, "\n  expected {expected}\n  found    {found}")?;
        }
        if let Some(output) = &self.output {
            for line in output.trim_end().lines() {
                write!(f, "\n  > {line}")?;
            }
        }
        for advice in &self.advice {
            write!(f, "\n  {advice}")?;
        }
        if let Some(kept) = &self.kept {
            write!(f, "\n  Intermediate files: {kept}")?;
        }
        Ok(())
    }
}

impl Diagnosis {
    /// A diagnosis with its code, function and headline; the rest is filled in with struct update.
    pub fn new(code: &str, function: &str, headline: impl Into<String>) -> Self {
        Diagnosis { code: code.into(), function: function.into(), headline: headline.into(), ..Self::default() }
    }

    /// Adds a sentence on what to do next.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice.push(advice.into());
        self
    }

    /// Adds what was expected and found.
    #[must_use]
    pub fn mismatch(mut self, expected: impl Into<String>, found: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self.found = Some(found.into());
        self
    }

    /// Adds the tool's own words.
    #[must_use]
    pub fn quote(mut self, output: impl Into<String>) -> Self {
        let output: String = output.into();
        self.output = (!output.trim().is_empty()).then_some(output);
        self
    }
}

/// Drops Enzyme's harmless remarks and IR dumps' continuation, keeping what explains a failure.
pub fn without_noise(stderr: &str) -> Vec<String> {
    let noise = |line: &str| {
        let line = line.trim_start();
        line.is_empty()
            || line.starts_with("unknown tbaa call instruction")
            || line.starts_with("freeing without malloc")
    };
    stderr.lines().filter(|l| !noise(l)).map(str::to_owned).collect()
}

/// The same without what Enzyme prints about performance (`--enzyme-print-perf`): what it caches, recomputes and guesses.
pub fn without_remarks(stderr: &str) -> Vec<String> {
    const REMARKS: [&str; 9] = [
        "Load may need caching",
        "Load must be recomputed",
        "Caching instruction",
        "unknown origin may need caching",
        "Instruction could write forcing",
        "[not implemented]",
        "Cannot deduce type of",
        "cannot deduce type of",
        "failed to deduce type of",
    ];
    let is_remark = |line: &String| REMARKS.iter().any(|start| line.trim_start().starts_with(start));
    without_noise(stderr).into_iter().filter(|line| !is_remark(line)).collect()
}

/// The first error in clang's output: where, and the message.
pub fn compiler_error(stderr: &str) -> Option<(Location, String)> {
    stderr.lines().find_map(|line| {
        let (place, message) = line.split_once(": error: ").or_else(|| line.split_once(": fatal error: "))?;
        let mut parts = place.rsplitn(3, ':');
        let column = parts.next()?.parse().ok()?;
        let line = parts.next()?.parse().ok()?;
        let file = parts.next()?.to_owned();
        Some((Location { file, line, column, text: None }, message.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_about_performance_are_left_out() {
        let printed = "Load may need caching   %0 = load\n [not implemented] pointer return\nfailed to deduce type of copy %1\nerror: x\n";
        assert_eq!(without_remarks(printed), ["error: x"]);
    }

    #[test]
    fn clangs_first_error_is_found() {
        let (at, message) = compiler_error("a.c:3:7: warning: x\n/t/a.c:4:9: error: expected ';'\n").unwrap();
        assert_eq!((at.file.as_str(), at.line, at.column, message.as_str()), ("/t/a.c", 4, 9, "expected ';'"));
    }
}

//! From what compilers and the engine print to what a user needs to read.
//!
//! A [`Diagnosis`] says what happened, where in the user's source, and what to do next. The functions
//! here read tool output; the driver adds the source line, since only it opens files.

pub mod codes;

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
    /// What was expected, for mismatches.
    pub expected: Option<String>,
    /// What was found instead.
    pub found: Option<String>,
    /// What to do next, a sentence each.
    pub advice: Vec<String>,
    /// What the tool itself said.
    pub output: Option<String>,
    /// Folder with every intermediate file of the failed build.
    pub kept: Option<String>,
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline)?;
        if let Some(at) = &self.location {
            let name = at.file.rsplit('/').next().unwrap_or(&at.file);
            write!(f, "\n  {name}:{}", at.line)?;
            if let Some(text) = &at.text {
                write!(f, "  |  {}", text.trim())?;
            }
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

/// Drops the engine's harmless remarks and IR dumps' continuation, keeping what explains a failure.
pub fn without_noise(stderr: &str) -> Vec<String> {
    let noise = |line: &str| {
        let line = line.trim_start();
        line.is_empty()
            || line.starts_with("unknown tbaa call instruction")
            || line.starts_with("freeing without malloc")
    };
    stderr.lines().filter(|l| !noise(l)).map(str::to_owned).collect()
}

/// Explains a failure of the engine: exit status in words, and its error stream.
pub fn engine_failure(function: &str, status: &str, stderr: &str) -> Diagnosis {
    let lines = without_noise(stderr);
    let error = lines.iter().find_map(|l| l.split_once("error: ").map(|(_, rest)| rest)).unwrap_or("");
    let (location, message) = split_location(error);
    let mut diagnosis = explain(function, message, &lines.join("\n"));
    if diagnosis.code == "engine-refused" {
        diagnosis.headline = match status {
            "1" => diagnosis.headline,
            other => format!("the differentiation engine stopped ({other}) on `{function}`"),
        };
        // A crash prints its stack; what matters stands before that.
        let told: Vec<String> = lines
            .iter()
            .take_while(|l| !l.starts_with("Stack dump") && !l.starts_with("PLEASE submit"))
            .cloned()
            .collect();
        diagnosis = diagnosis.quote(tail(&told, 12));
    }
    diagnosis.location = location;
    diagnosis
}

fn tail(lines: &[String], count: usize) -> String {
    let shorten =
        |l: &String| if l.chars().count() > 300 { l.chars().take(300).collect::<String>() + " ..." } else { l.clone() };
    let head: Vec<String> = lines.iter().take(count).map(shorten).collect();
    head.join("\n")
}

/// `file:line:col: in function NAME type: Enzyme: message`, taken apart.
fn split_location(error: &str) -> (Option<Location>, &str) {
    let message = error.rsplit_once("Enzyme: ").map_or(error, |(_, m)| m);
    let mut parts = error.splitn(4, ':');
    let location = (|| {
        let file = parts.next()?.to_owned();
        let line = parts.next()?.parse().ok()?;
        let column = parts.next()?.parse().ok()?;
        (line > 0).then_some(Location { file, line, column, text: None })
    })();
    (location, message)
}

/// The table of known engine messages.
fn explain(function: &str, message: &str, all: &str) -> Diagnosis {
    let missing = [
        "No augmented forward pass found for ",
        "No reverse pass found for ",
        "No forward mode derivative found for ",
        "No forward pass found for ",
    ];
    for prefix in missing {
        if let Some(rest) = message.strip_prefix(prefix) {
            return missing_derivative(function, rest);
        }
    }
    if message.contains("Cannot deduce type") || all.contains("Cannot deduce type") {
        return Diagnosis::new(
            "unknown-type",
            function,
            format!("the engine cannot tell whether memory that `{function}` moves holds numbers or addresses"),
        )
        .advise("Copy the elements in a loop instead of memcpy or a union, give local arrays their element type,")
        .advise("or allow a guess with loose_types=True: the gradient is then checked before it is returned.")
        .quote(message.lines().next().unwrap_or("").trim());
    }
    if [" asm \"", " asm sideeffect", "inline asm", "InlineAsm"].iter().any(|t| all.contains(t)) {
        return Diagnosis::new("inline-assembly", function, format!("`{function}` runs inline assembly, which cannot be differentiated"))
            .advise("Write the block in C, or move it into a function of its own and mark that inactive or give its derivative.");
    }
    if all.contains("cannot handle unknown binary operator") {
        return Diagnosis::new(
            "bit-arithmetic",
            function,
            format!("`{function}` computes with the bits of a floating-point number, which has no derivative"),
        )
        .advise("Use the mathematical function (fabs, copysign, frexp) instead of bit operations.")
        .quote(message.lines().next().unwrap_or("").trim());
    }
    Diagnosis::new("engine-refused", function, format!("the differentiation engine refused `{function}`"))
        .advise("Simplify the marked line, or move it into a function that is marked inactive=[...].")
}

fn missing_derivative(function: &str, rest: &str) -> Diagnosis {
    let callee = rest.split(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("?");
    // Our BLAS has a prefix before the names that the user knows.
    let callee = crate::names::demangle(callee.strip_prefix("scipy_").unwrap_or(callee));
    let name = callee.split('(').next().unwrap_or(&callee).to_owned();
    if let Some(routine) = name.strip_prefix("_FortranA") {
        let headline = format!("`{function}` uses {}, which has no derivative", construct(routine));
        return Diagnosis::new("fortran-runtime", function, headline)
            .quote(format!("flang calls its runtime's {name}"))
            .advise("Write it another way; docs/fortran.md (\"Limits\") says what can be differentiated.")
            .advise(format!("Where no derivative flows through it: inactive=[\"{name}\"]."));
    }
    Diagnosis::new(
        "missing-derivative",
        function,
        format!("`{function}` calls `{name}`, which has no body and no known derivative"),
    )
    .advise("Give its source too: enzyme([\"FILE.c\", \"OTHER.c\"], ...),".to_owned())
    .advise(format!("or mark it inactive if no derivative flows through it: inactive=[\"{name}\"]."))
}

/// What the user wrote that became a call of flang's runtime.
fn construct(routine: &str) -> String {
    let known = [
        ("PushArrayConstructor", "an array constructor that grows, such as `[b, x]`"),
        ("InitArrayConstructor", "an array constructor that grows, such as `[b, x]`"),
        ("Random", "random numbers"),
        ("io", "input or output beyond `print` and `write`"),
        ("Findloc", "`findloc`"),
        ("Character", "operations on characters"),
        ("Trim", "operations on characters"),
        ("Initialize", "a derived type with allocatable or initialised parts"),
        ("Destroy", "a derived type with allocatable or initialised parts"),
        ("ClassIs", "`select type`"),
        ("System", "the system's clock or command line"),
        ("Date", "the system's clock or command line"),
    ];
    let found = known.iter().find(|(prefix, _)| routine.starts_with(prefix));
    found.map_or_else(|| format!("flang's runtime procedure `{routine}`"), |(_, words)| (*words).to_owned())
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
    fn what_flangs_runtime_does_is_told_in_fortrans_words() {
        let stderr = "error: f.f90:23:3: in function preprocess_f: Enzyme: No augmented forward pass found for \
                      _FortranAPushArrayConstructorSimpleScalar\n";
        let d = engine_failure("f", "1", stderr);
        assert_eq!((d.code.as_str(), d.location.map(|l| l.line)), ("fortran-runtime", Some(23)));
        assert!(d.headline.contains("an array constructor that grows"));
    }

    #[test]
    fn a_missing_body_is_named_with_its_line() {
        let stderr = " unknown tbaa call instruction user inst\nerror: sim.c:41:12: in function preprocess_ffgrad.wrap void (ptr): Enzyme: No augmented forward pass found for lookup\n declare double @lookup(double)\n";
        let d = engine_failure("simulate", "1", stderr);
        assert_eq!(d.code, "missing-derivative");
        assert_eq!(d.location.map(|l| (l.file, l.line)), Some(("sim.c".to_owned(), 41)));
        assert!(d.headline.contains("`simulate` calls `lookup`"));
    }

    #[test]
    fn an_unknown_message_is_shown_whole() {
        let d = engine_failure("f", "1", "error: <unknown>:0:0: in function x: Enzyme: something new\n more");
        assert_eq!(d.code, "engine-refused");
        assert!(d.output.is_some_and(|o| o.contains("something new") && o.contains("more")));
        assert_eq!(d.location, None);
    }

    #[test]
    fn clangs_first_error_is_found() {
        let (at, message) = compiler_error("a.c:3:7: warning: x\n/t/a.c:4:9: error: expected ';'\n").unwrap();
        assert_eq!((at.file.as_str(), at.line, at.column, message.as_str()), ("/t/a.c", 4, 9, "expected ';'"));
    }
}

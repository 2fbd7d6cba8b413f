//! Parses Enzyme's error output: the message without the IR that it prints, the source location, the meaning.

use super::messages::{self, KNOWN, Message};
use super::{Diagnosis, Location};
use crate::names;

/// Lines that are quoted of a message that is not known.
const SHOWN: usize = 40;

/// A parsed error stream.
pub struct EnzymeOutput {
    /// The location that Enzyme prints: the innermost one, which may be in a library's header.
    pub location: Option<Location>,
    /// Its words, a line each; instructions that it names stand among them.
    pub words: Vec<String>,
}

impl EnzymeOutput {
    /// Reads an error stream.
    pub fn of(stderr: &str) -> Self {
        let mut output = EnzymeOutput { location: None, words: Vec::new() };
        let mut dump = Dump::None;
        for line in stderr.lines() {
            if ["Stack dump", "PLEASE submit", " #0 0x", "#0 0x"].iter().any(|s| line.starts_with(s)) {
                // What follows a crash are the addresses where it happened.
                break;
            }
            let line = match (line.starts_with("error: "), line.split_once("Enzyme: ")) {
                (true, Some((place, rest))) => {
                    output.location = output.location.or_else(|| place_of(place));
                    dump = Dump::None;
                    rest
                }
                _ => line,
            };
            if dump.takes(line) || is_noise(line) {
                continue;
            }
            output.words.push(in_short(line));
        }
        output
    }

    /// The row of the table, and what Enzyme names after its words.
    fn known(&self) -> Option<(&'static Message, String)> {
        let text = self.words.join("\n");
        KNOWN.iter().find_map(|message| {
            let after = message.pattern.iter().find_map(|words| text.split_once(words).map(|(_, rest)| rest))?;
            Some((message, named_in(message, after)))
        })
    }
}

/// Code of what is not in the table.
pub const UNKNOWN: &str = "engine-refused";

/// The status of a process that the system has killed, nearly always for want of memory.
const KILLED: &str = "signal 9";

/// Explains a failure of Enzyme: exit status in words, and its error stream.
pub fn failure(function: &str, status: &str, stderr: &str) -> Diagnosis {
    let output = EnzymeOutput::of(stderr);
    let crashed = status.starts_with("signal");
    let mut diagnosis = match output.known() {
        Some((message, what)) => explained(function, message, &what, &output),
        None if status == KILLED => explained(function, messages::memory(), "", &output),
        None if crashed => explained(function, messages::crash(), "", &output),
        None => unknown(function, &output),
    };
    if diagnosis.code == messages::crash().code || status == KILLED {
        diagnosis.headline = format!("{} ({status})", diagnosis.headline);
    }
    diagnosis.location = output.location;
    diagnosis
}

/// Makes a diagnosis one of the named row, where that was found by other means than Enzyme's output.
pub fn is_about(diagnosis: &mut Diagnosis, row: &str) {
    let message = messages::named(row);
    let fill = |text: &str| text.replace("{f}", &diagnosis.function);
    (diagnosis.code, diagnosis.headline) = (message.code.to_owned(), fill(message.meaning));
    diagnosis.advice = message.remedies.iter().map(|text| fill(text)).collect();
}

fn explained(function: &str, message: &Message, what: &str, output: &EnzymeOutput) -> Diagnosis {
    if ["missing-derivative", "opaque-call"].contains(&message.code) {
        return super::callees::without_body(function, message, what);
    }
    if message.code == "variadic-call"
        && let Some((callee, remedy)) = output.words.iter().find_map(|line| known_callee(line))
    {
        let headline = format!("`{function}` calls `{callee}`, which has no derivative");
        return Diagnosis::new(message.code, function, headline).quote(quotation(message, output)).advise(remedy);
    }
    let readable = names::demangle(what);
    let fill = |text: &str| text.replace("{f}", function).replace("{what}", &readable);
    let mut diagnosis = Diagnosis::new(message.code, function, fill(message.meaning));
    diagnosis.advice = message.remedies.iter().map(|text| fill(text)).collect();
    diagnosis.quote(quotation(message, output))
}

/// The well-known function that an instruction calls, by its name in the source, with its remedy.
fn known_callee(line: &str) -> Option<(&str, &'static str)> {
    let (symbol, _) = line.split_once('@')?.1.split_once('(')?;
    Some((names::in_source(symbol), super::callees::remedy(symbol)?))
}

/// The line with the message, and an instruction that stands beside it.
fn quotation(message: &Message, output: &EnzymeOutput) -> String {
    let Some(at) = output.words.iter().position(|w| message.pattern.iter().any(|s| w.contains(s))) else {
        return output.words.iter().take(3).map(|w| shortened(w)).collect::<Vec<_>>().join("\n");
    };
    let is_instruction = |w: &&String| w.starts_with("  ") && w.contains(" = ") || w.trim_start().starts_with("store ");
    let beside =
        output.words[at + 1..].iter().take(2).chain(&output.words[at.saturating_sub(1)..at]).find(is_instruction);
    std::iter::once(&output.words[at]).chain(beside).map(|w| shortened(w.trim())).collect::<Vec<_>>().join("\n")
}

fn unknown(function: &str, output: &EnzymeOutput) -> Diagnosis {
    let mut shown: Vec<String> = output.words.iter().take(SHOWN).map(|w| shortened(w)).collect();
    if output.words.len() > SHOWN {
        shown.push(format!("... and {} lines more, in engine.log", output.words.len() - SHOWN));
    }
    let headline = format!("Enzyme refused `{function}`, with a message that ffgrad does not know");
    Diagnosis::new(UNKNOWN, function, headline)
        .quote(shown.join("\n"))
        .advise("Simplify the marked line, or move it into a function that is marked inactive=[...].")
}

/// `error: file:line:column: in function NAME type: `, of which the file may be unknown.
fn place_of(text: &str) -> Option<Location> {
    let (place, _) = text.strip_prefix("error: ")?.split_once(": in function ")?;
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    let file = parts.next()?.to_owned();
    (line > 0).then_some(Location { file, line, column, text: None })
}

/// What part of the printed code is being read.
enum Dump {
    None,
    /// A function, up to its closing brace.
    Function,
    /// Results of type analysis, up to the closing tag.
    Analysis,
}

impl Dump {
    /// Whether a line is printed code, not words.
    fn takes(&mut self, line: &str) -> bool {
        match self {
            Dump::Function => {
                if line == "}" {
                    *self = Dump::None;
                }
                true
            }
            Dump::Analysis => {
                if line.starts_with("</analysis>") {
                    *self = Dump::None;
                }
                true
            }
            Dump::None if line.starts_with("define ") => {
                *self = Dump::Function;
                true
            }
            Dump::None if line.starts_with("<analysis>") => {
                *self = Dump::Analysis;
                true
            }
            Dump::None => is_code(line),
        }
    }
}

/// Lines of a module outside of functions, and the state of an analysis.
fn is_code(line: &str) -> bool {
    let begins = [
        "; ModuleID",
        "; Function Attrs",
        "source_filename = ",
        "target ",
        "declare ",
        " declare ",
        "attributes #",
        "@",
        "$",
        "!",
        "uselistorder",
        "constantinst[",
        "constantarg[",
        "nonconstantinst[",
        "nonconstantarg[",
    ];
    let start = line.trim_start();
    begins.iter().any(|b| line.starts_with(b) || start.starts_with(b))
        || line.starts_with('%') && line.contains(" = type ")
}

fn is_noise(line: &str) -> bool {
    let line = line.trim();
    line.is_empty()
        || line == "}"
        || line.starts_with("unknown tbaa call instruction")
        || line.starts_with("freeing without malloc")
        || line.starts_with("warning: ")
}

/// An assertion without the compiler's own paths and types: `Instruction.cpp:170: Assertion `...' failed.`
fn in_short(line: &str) -> String {
    let Some((before, assertion)) = line.split_once("Assertion `") else { return line.to_owned() };
    let place = before.split(' ').find(|word| word.contains(".cpp:") || word.contains(".h:")).unwrap_or("");
    let place = place.rsplit('/').next().unwrap_or(place);
    format!("{place} Assertion `{assertion}").trim().to_owned()
}

/// A line that can be read.
pub(super) fn shortened(line: &str) -> String {
    const MOST: usize = 300;
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} ...", &line[..end]),
        None => line.to_owned(),
    }
}

/// What a message is about: the function behind its C++ name, a built-in in the instruction that calls it, else the first word.
fn named_in(message: &Message, after: &str) -> String {
    let line = after.lines().next().unwrap_or("").trim();
    if let Some((_, symbol)) = line.strip_suffix(')').and_then(|l| l.rsplit_once(") ")) {
        return symbol.to_owned();
    }
    let first = first_word(after);
    match after.split_once('@') {
        Some((_, name)) if message.code == "unknown-builtin" && first.starts_with('%') => first_word(name),
        _ => first,
    }
}

fn first_word(text: &str) -> String {
    let ends = |c: char| c.is_whitespace() || "(),".contains(c);
    text.trim_start_matches(ends).split(ends).next().unwrap_or("").to_owned()
}

#[cfg(test)]
#[path = "enzyme_tests.rs"]
mod tests;

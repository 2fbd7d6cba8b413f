//! Which loops are to be checkpointed beside those that a C source marks itself: the option `checkpoint`, and the directive of Fortran.

use crate::build::frontend::language::Language;
use crate::error::{Error, Result};
use crate::options::Spec;
use core_ad::diagnostics::{Diagnosis, Location};
use core_ad::protocol::CheckpointPlace;
use std::path::Path;

/// The places of all such loops.
///
/// # Errors
///
/// A place of the option, or a directive, that cannot be read.
pub fn places(spec: &Spec) -> Result<Vec<CheckpointPlace>> {
    let given = spec.options.checkpoint.iter().map(|(place, snapshots)| of_option(spec, place, *snapshots));
    let mut all: Vec<CheckpointPlace> = given.collect::<Result<_>>()?;
    for source in spec.sources.iter().filter(|s| matches!(Language::of(s, &spec.function), Ok(Language::Fortran))) {
        let text = std::fs::read(source).unwrap_or_default();
        all.extend(directives(spec, source, &String::from_utf8_lossy(&text))?);
    }
    Ok(all)
}

fn refused(spec: &Spec, headline: String, at: Option<Location>, advice: &str) -> Error {
    let mut diagnosis = Diagnosis::new("checkpoint", &spec.function, headline).advise(advice);
    diagnosis.location = at;
    Error::Differentiation(Box::new(diagnosis))
}

fn of_option(spec: &Spec, place: &str, snapshots: usize) -> Result<CheckpointPlace> {
    const ADVICE: &str = "The option takes places of loops and numbers of snapshots: checkpoint={\"heat.c:42\": 20}.";
    let line = |text: &str| text.trim().parse::<u32>().ok().filter(|line| *line > 0);
    let Some((file, line)) = place.rsplit_once(':').and_then(|(file, text)| Some((file, line(text)?))) else {
        return Err(refused(spec, format!("`checkpoint` names `{place}`, which is no file and line"), None, ADVICE));
    };
    if snapshots == 0 {
        return Err(refused(spec, format!("`checkpoint` keeps no snapshot for the loop at {place}"), None, ADVICE));
    }
    Ok(CheckpointPlace { file: file.to_owned(), line, snapshots: snapshots as u64, in_source: false })
}

/// What stands behind `!$ffgrad` in a line, where it is such a comment: in free form, or in fixed form with `c` or `*` in the first column.
fn directive(line: &str) -> Option<String> {
    let lower = line.trim().to_ascii_lowercase();
    let rest = ["!$ffgrad", "c$ffgrad", "*$ffgrad"].iter().find_map(|start| lower.strip_prefix(start))?;
    Some(rest.trim().to_owned())
}

/// The loops behind the directives `!$ffgrad checkpoint(20)` of a source.
fn directives(spec: &Spec, source: &Path, text: &str) -> Result<Vec<CheckpointPlace>> {
    const ADVICE: &str =
        "The directive is `!$ffgrad checkpoint(20)`, with the number of snapshots, in the line before a `do`.";
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let Some(given) = directive(line) else { continue };
        let file = source.display().to_string();
        let at = Location { file: file.clone(), line: i as u32 + 1, column: 0, text: Some((*line).to_owned()) };
        let number =
            given.strip_prefix("checkpoint").map(str::trim).and_then(|n| n.strip_prefix('(')?.strip_suffix(')'));
        let Some(snapshots) = number.and_then(|n| n.trim().parse::<u64>().ok()).filter(|n| *n > 0) else {
            return Err(refused(spec, "a directive of ffgrad cannot be read".to_owned(), Some(at), ADVICE));
        };
        let is_comment = |l: &str| {
            let first = l.chars().next().unwrap_or(' ');
            let is_fixed =
                source.extension().is_some_and(|e| e.eq_ignore_ascii_case("f") || e.eq_ignore_ascii_case("for"));
            l.trim().is_empty() || l.trim_start().starts_with('!') || is_fixed && matches!(first, 'c' | 'C' | '*')
        };
        let next = lines.iter().enumerate().skip(i + 1).find(|(_, l)| !is_comment(l)).map(|(n, _)| n as u32 + 1);
        let Some(line) = next else {
            return Err(refused(spec, "no loop follows a directive of ffgrad".to_owned(), Some(at), ADVICE));
        };
        found.push(CheckpointPlace { file, line, snapshots, in_source: true });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(place: &str, snapshots: usize) -> Spec {
        let text = format!(
            r#"{{"sources": ["m.f90"], "function": "f", "options": {{"checkpoint": {{"{place}": {snapshots}}}}}}}"#
        );
        serde_json::from_str(&text).expect("a specification")
    }

    #[test]
    fn places_are_a_file_and_a_line() {
        let found = of_option(&spec("", 1), "model/heat.c:42", 20).expect("a place");
        assert_eq!(
            found,
            CheckpointPlace { file: "model/heat.c".to_owned(), line: 42, snapshots: 20, in_source: false }
        );
        for (place, snapshots, told) in [
            ("heat.c", 20, "`checkpoint` names `heat.c`, which is no file and line"),
            ("heat.c:0", 20, "`checkpoint` names `heat.c:0`, which is no file and line"),
            ("heat.c:42", 0, "`checkpoint` keeps no snapshot for the loop at heat.c:42"),
        ] {
            let error = of_option(&spec("", 1), place, snapshots).expect_err("no place");
            assert!(error.to_string().contains(told), "{error}");
        }
    }

    #[test]
    fn a_directive_is_for_the_next_statement() {
        let text = "x = 0\n!$FFGRAD Checkpoint ( 7 )\n\n! steps\ndo t = 1, n\n";
        let found = directives(&spec("", 1), Path::new("m.f90"), text).expect("a directive");
        assert_eq!(found, [CheckpointPlace { file: "m.f90".to_owned(), line: 5, snapshots: 7, in_source: true }]);
        let fixed = "c$ffgrad checkpoint(3)\nC     steps\n      do 10 t = 1, n\n";
        let found = directives(&spec("", 1), Path::new("m.f"), fixed).expect("a directive");
        assert_eq!((found[0].line, found[0].snapshots), (3, 3));
        for wrong in [
            "!$ffgrad checkpoint\ndo\n",
            "!$ffgrad checkpoint(0)\ndo\n",
            "!$ffgrad tape(1)\ndo\n",
            "!$ffgrad checkpoint(1)\n",
        ] {
            directives(&spec("", 1), Path::new("m.f90"), wrong).expect_err("no directive");
        }
    }
}

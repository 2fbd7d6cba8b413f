//! How flang's driver would call its second half, `flang -fc1`, for a source file: asked once for the same options, then known for other files.
//!
//! The driver alone understands every option of a user's, but starting it takes as long as compiling most files, and a folder has a hundred.

use crate::build::frontend::compiler;
use crate::error::Result;
use crate::options::Spec;
use crate::os::process;
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Stand for a call's own files in what is kept.
const SOURCE: &str = "<source>";
const OUTPUT: &str = "<output>";
const MODULES: &str = "<modules>";

/// What flang prints the symbols for, in place of bitcode.
const BITCODE: &str = "-emit-llvm-bc";
const SYMBOLS: &str = "-fdebug-dump-symbols";

/// The files of one call.
#[derive(Clone, Copy)]
pub struct Files<'a> {
    /// Absolute.
    pub source: &'a Path,
    /// The bitcode.
    pub output: &'a Path,
    /// The folder that flang runs in, for module files.
    pub modules: &'a Path,
}

/// One call of `flang -fc1`.
#[derive(Clone)]
pub struct Call {
    /// Without the program; none where the driver refuses its options.
    words: Vec<String>,
    /// What the driver said of where it looks.
    pub said: String,
}

/// The calls that are known, by options and kind of source.
#[derive(Default)]
pub struct Calls {
    known: Mutex<HashMap<String, Call>>,
}

impl Calls {
    /// What the driver would run. `driver` has all options but the files, and runs in the folder of the modules.
    ///
    /// # Errors
    ///
    /// Where the driver cannot be run.
    pub fn of(&self, spec: &Spec, mut driver: Command, files: Files<'_>) -> Result<Call> {
        let own = files.own();
        let kind = files.source.extension().unwrap_or_default().to_string_lossy();
        let key = format!("{kind} {}", without(&process::command_line(&driver), &own));
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let general = match known {
            Some(known) => known,
            None => {
                driver.args(["-###", "-c", "-emit-llvm", "-o"]).arg(files.output).arg(files.source);
                let timeout = spec.options.time_limit();
                let output = process::run(&mut driver, None, timeout).map_err(|e| compiler::not_run(spec, e))?;
                let said = without(&String::from_utf8_lossy(&output.stderr), &own);
                let line = said.lines().rev().find(|line| line.contains("\"-fc1\""));
                // The first word is the program.
                let call = Call {
                    words: line.map(words).unwrap_or_default().into_iter().skip(1).collect(),
                    said: said.clone(),
                };
                self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, call.clone());
                call
            }
        };
        let words = general.words.iter().map(|word| with(word, &own)).collect();
        Ok(Call { words, said: with(&general.said, &own) })
    }
}

impl Files<'_> {
    /// What stands for each file.
    fn own(&self) -> [(&'static str, String); 3] {
        let text = |path: &Path| path.display().to_string();
        [(OUTPUT, text(self.output)), (SOURCE, text(self.source)), (MODULES, text(self.modules))]
    }
}

impl Call {
    /// The arguments that compile to bitcode; none where the driver refuses its options.
    pub fn to_bitcode(&self) -> Option<&[String]> {
        (!self.words.is_empty()).then_some(&self.words)
    }

    /// The arguments that print the symbols.
    pub fn to_symbols(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| if word == BITCODE { SYMBOLS } else { word })
    }
}

fn without(text: &str, own: &[(&str, String)]) -> String {
    own.iter().fold(text.to_owned(), |text, (mark, path)| text.replace(path, mark))
}

fn with(text: &str, own: &[(&str, String)]) -> String {
    own.iter().fold(text.to_owned(), |text, (mark, path)| text.replace(mark, path))
}

/// The words of a command line of which each stands in quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut chars) = (Vec::new(), line.chars());
    while chars.any(|c| c == '"') {
        let mut word = String::new();
        while let Some(c) = chars.next().filter(|c| *c != '"') {
            word.extend(if c == '\\' { chars.next() } else { Some(c) });
        }
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_command_line_is_taken_apart() {
        assert_eq!(words(r#" "flang" "-fc1" "a \"b\".f90""#), ["flang", "-fc1", "a \"b\".f90"]);
    }

    #[test]
    fn a_call_for_one_file_serves_another() {
        let at = |n| Files {
            source: Path::new(["/s/a.f", "/s/b.f"][n]),
            output: Path::new(["/o/1/a.bc", "/o/2/b.bc"][n]),
            modules: Path::new(["/o/1", "/o/2"][n]),
        };
        let line = "-J/o/1 /s/a.f -o /o/1/a.bc";
        assert_eq!(with(&without(line, &at(0).own()), &at(1).own()), "-J/o/2 /s/b.f -o /o/2/b.bc");
    }
}

//! `ffgrad`: the command line of the driver.
//!
//! Each verb is a file of its own that returns what to print; this one parses arguments, prints, and converts errors to
//! exit codes: 0 done, 1 failed, 2 used wrongly.

mod build;
mod cache;
mod check;
mod completions;
mod doctor;
mod documents;
mod explain;
mod export;
mod failure;
mod points;
mod prove;
mod show;
mod source;
mod toolchain;
mod within;
mod wording;

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use compile_driver::os::progress::Level;

/// Gradients of C, C++, Fortran and CUDA functions, from their own source.
#[derive(Parser)]
#[command(name = "ffgrad", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Verb,
}

const EXAMPLES: &str = "\
Examples:
  ffgrad toolchain install            fetch the compiler and Enzyme where they are missing
  ffgrad doctor                       try every tool, print how to fix what fails
  ffgrad show test.c f                prototype and call plan of a function
  ffgrad show test.c f --ir after     its gradient as LLVM IR
  ffgrad check test.c f               its derivatives against finite differences
  ffgrad export f.ffpack test.c f     into a pack, for machines without a compiler
  ffgrad cache list                   what is built

Every verb that prints data takes --json; then an error is JSON too, as `ffgrad explain command` describes.

Exit status: 0 done, 1 failed or something is wrong, 2 used wrongly.";

#[derive(Subcommand)]
enum Verb {
    /// Install or locate the programs that ffgrad drives
    #[command(subcommand)]
    Toolchain(toolchain::Verb),
    /// Try every tool and print a remedy for each that fails
    Doctor(doctor::Doctor),
    /// Build a function and its derivatives into the cache, ahead of the first call
    Build(Box<build::Build>),
    /// Show how a function is seen and called: prototype, plan, command lines, IR
    Show(Box<show::Show>),
    /// Compare a function's derivatives with finite differences at random arguments
    Check(Box<check::Check>),
    /// Pack functions for machines without a compiler
    Export(Box<export::Export>),
    /// What a pack has
    Contents(export::Contents),
    /// List, prune, clear or verify what is built
    #[command(subcommand)]
    Cache(cache::Verb),
    /// Explain the code of an error and what to do
    Explain(explain::Explain),
    /// Verify derivatives for another process, which starts this
    #[command(hide = true)]
    Prove,
    /// Print a completion script for a shell
    Completions(completions::Completions),
}

/// The output of a verb, and whether it succeeded.
struct Outcome {
    text: String,
    success: bool,
}

impl Outcome {
    fn success(text: String) -> Self {
        Self { text, success: true }
    }
}

impl Verb {
    /// The function, where the verb calls it.
    fn called_function(&self) -> Option<String> {
        match self {
            Self::Check(verb) => Some(verb.source.function().to_owned()),
            Self::Export(verb) if verb.check => Some(verb.source.function().to_owned()),
            _ => None,
        }
    }

    /// Whether no function was named.
    fn lacks_function(&self) -> bool {
        let source = match self {
            Self::Build(verb) => Some(&verb.source),
            Self::Show(verb) => verb.source.as_ref(),
            Self::Check(verb) => Some(&verb.source),
            Self::Export(verb) => Some(&verb.source),
            _ => None,
        };
        source.is_some_and(|source| source.function().is_empty())
    }

    fn run(self) -> Result<Outcome, Box<dyn Error>> {
        match self {
            Self::Toolchain(verb) => verb.run(),
            Self::Doctor(verb) => verb.run(),
            Self::Build(verb) => verb.run(),
            Self::Show(verb) => verb.run(),
            Self::Check(verb) => verb.run(),
            Self::Export(verb) => verb.run(),
            Self::Contents(verb) => verb.run(),
            Self::Cache(verb) => verb.run(),
            Self::Explain(verb) => verb.run(),
            // It speaks another protocol: `main` starts it.
            Self::Prove => Ok(Outcome::success(String::new())),
            Self::Completions(verb) => verb.run(),
        }
    }
}

fn main() -> ExitCode {
    // Read before the arguments are parsed, because every verb reports an error in the same format.
    let json = std::env::args_os().any(|argument| argument == "--json");
    within::begin();
    let verb = parsed().command;
    if let Verb::Prove = verb {
        return prove::run();
    }
    compile_driver::os::progress::log_to(|level, line| {
        if level == Level::Notice {
            eprintln!("note: {line}");
        }
    });
    let outside = verb.called_function().filter(|_| !within::is_inside()).map(|function| within::run(&function));
    let mut result = match outside {
        // The child has printed what there was to print.
        Some(Ok(code)) => return code,
        Some(Err(error)) => Err(error),
        None => verb.run(),
    };
    // A program that reads JSON is no person to ask.
    let offered = match &result {
        Err(error) if !json => toolchain::offer(error.as_ref()),
        _ => Ok(false),
    };
    match offered {
        Ok(true) => result = parsed().command.run(),
        Ok(false) => {}
        Err(error) => result = Err(error),
    }
    let code = match result.and_then(|outcome| Ok((print(&outcome.text)?, outcome.success))) {
        Ok(((), true)) => ExitCode::SUCCESS,
        Ok(((), false)) => ExitCode::FAILURE,
        Err(error) => {
            let message = wording::of_command(&explain(error.as_ref()));
            eprintln!("error: {message}");
            if json {
                // If the pipe is closed, only the exit status is left.
                let _ = print(&format!("{:#}\n", failure::as_json(error.as_ref(), &message)));
            }
            ExitCode::FAILURE
        }
    };
    within::done();
    code
}

/// The command line. Where only the function is missing, it is the empty name: the verb lists those that there are.
fn parsed() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| {
        let given: Vec<OsString> = std::env::args_os().collect();
        // Options may follow the last word that is none.
        let again =
            (2..=given.len()).rev().filter(|_| error.kind() == ErrorKind::MissingRequiredArgument).find_map(|at| {
                let mut words = given.clone();
                words.insert(at, OsString::new());
                Cli::try_parse_from(words).ok().filter(|cli| cli.command.lacks_function())
            });
        again.unwrap_or_else(|| error.exit())
    })
}

/// Prints to standard output. A reader that has seen enough (`| head`) is no error.
fn print(text: &str) -> io::Result<()> {
    let mut out: Box<dyn Write> = match within::output() {
        Some(file) => Box::new(file),
        None => Box::new(io::stdout().lock()),
    };
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// An error with those of its causes that its own message does not contain.
fn explain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let text_of_inner = inner.to_string();
        if !text.contains(&text_of_inner) {
            text.push_str(&format!("\n  caused by: {text_of_inner}"));
        }
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// Every verb with those below it, as typed.
    fn verbs(command: clap::Command, name: &str, found: &mut Vec<(String, clap::Command)>) {
        for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help" && !verb.is_hide_set()) {
            verbs(verb.clone(), &format!("{name} {}", verb.get_name()), found);
        }
        found.push((name.to_owned(), command));
    }

    #[test]
    fn the_help_of_every_verb_is_as_it_was_and_has_examples() {
        let mut all = Vec::new();
        let mut command = Cli::command().term_width(110).disable_help_subcommand(true);
        command.build();
        verbs(command, "ffgrad", &mut all);
        all.sort_by(|a, b| a.0.cmp(&b.0));
        let mut text = String::new();
        for (name, mut command) in all {
            let help = command.render_long_help().to_string();
            let is_group = command.has_subcommands() && name != "ffgrad";
            assert!(is_group || help.contains("Examples:"), "{name} has no examples");
            text.push_str(&format!("$ {name} --help\n{help}\n"));
        }
        insta::assert_snapshot!(text.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    }

    #[test]
    fn a_cause_is_told_once() {
        let inner = io::Error::other("no room");
        let outer = compile_driver::error::CacheError::Io { action: "write", path: "x".into(), source: inner };
        assert_eq!(explain(&outer).matches("no room").count(), 1);
    }
}

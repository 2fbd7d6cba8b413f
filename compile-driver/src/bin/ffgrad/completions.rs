//! `ffgrad completions`: prints a shell's completion script.

use std::error::Error;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::Outcome;

/// Arguments of `completions`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ffgrad completions bash > ~/.local/share/bash-completion/completions/ffgrad
  ffgrad completions fish > ~/.config/fish/completions/ffgrad.fish")]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Box<dyn Error>> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::Cli::command(), "ffgrad", &mut script);
        Ok(Outcome::success(String::from_utf8(script)?))
    }
}

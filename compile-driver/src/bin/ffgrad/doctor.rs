//! `ffgrad doctor`: runs every tool and prints the result, with a remedy for each that fails.

use std::error::Error;

use clap::Args;
use compile_driver::toolchain;

use crate::Outcome;

/// Arguments of `doctor`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ffgrad doctor
  ffgrad doctor --json

Exits with 1 where something that ffgrad needs is missing or broken.")]
pub struct Doctor {
    /// Print the checks as JSON
    #[arg(long)]
    json: bool,
}

impl Doctor {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Box<dyn Error>> {
        let checks = toolchain::doctor();
        let blocking = checks.iter().filter(|check| check.blocks()).count();
        let text = if self.json {
            format!("{}\n", serde_json::to_string_pretty(&with_older_names(&checks)?)?)
        } else {
            let verdict = match blocking {
                _ if toolchain::is_not_installed(&checks) => {
                    "The toolchain is not installed yet: run `ffgrad toolchain install`.".to_owned()
                }
                0 => "All that ffgrad needs is there.".to_owned(),
                1 => "One thing is missing; the line marked → has the remedy.".to_owned(),
                n => format!("{n} things are missing; the lines marked → have the remedies."),
            };
            format!("{}\n{verdict}\n", toolchain::render(&checks))
        };
        Ok(Outcome { text, success: blocking == 0 })
    }
}

/// The checks as JSON, in which `remedy` has its older name `mend` too.
fn with_older_names<T: serde::Serialize>(checks: &[T]) -> serde_json::Result<serde_json::Value> {
    let mut all = serde_json::to_value(checks)?;
    for check in all.as_array_mut().into_iter().flatten().filter_map(serde_json::Value::as_object_mut) {
        let remedy = check.get("remedy").cloned().unwrap_or_default();
        check.insert("mend".to_owned(), remedy);
    }
    Ok(all)
}

//! `ffgrad explain`: explains the code of an error.

use std::error::Error;

use clap::Args;
use core_ad::diagnostics::codes::{self, Code};

use crate::Outcome;
use crate::show::table;

/// Arguments of `explain`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ffgrad explain unproven-gradient
  ffgrad explain                      every code, a line each")]
pub struct Explain {
    /// The code: the attribute `code` of the exception; all where it is left out
    code: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Explain {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Box<dyn Error>> {
        let chosen: Vec<&Code> = match &self.code {
            None => codes::ALL.iter().collect(),
            Some(wanted) => match codes::ALL.iter().find(|c| c.name == wanted) {
                Some(code) => vec![code],
                None => return Err(unknown(wanted).into()),
            },
        };
        if self.json {
            return Ok(Outcome::success(format!("{}\n", serde_json::to_string_pretty(&chosen)?)));
        }
        if self.code.is_some() {
            let [code] = chosen[..] else { return Err("the table of codes is ambiguous".into()) };
            let text = format!("{} ({})\n\n{}\n\nWhat to do: {}\n", code.name, code.class, code.meaning, code.remedy);
            return Ok(Outcome::success(text));
        }
        let first = |text: &str| text.split_once(". ").map_or(text, |(sentence, _)| sentence).to_owned();
        let rows: Vec<[String; 3]> =
            chosen.iter().map(|c| [c.name.to_owned(), c.class.to_owned(), first(c.meaning)]).collect();
        Ok(Outcome::success(table(&rows)))
    }
}

fn unknown(wanted: &str) -> String {
    let close = core_ad::names::closest(wanted, codes::ALL.iter().map(|c| c.name));
    match close.is_empty() {
        true => format!("there is no code `{wanted}`; `ffgrad explain` lists all"),
        false => format!("there is no code `{wanted}`; close to it: {}", close.join(", ")),
    }
}

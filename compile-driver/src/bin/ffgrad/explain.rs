//! `ffgrad explain`: explains the code of an error, and prints the documents that messages name.

use std::error::Error;

use clap::Args;
use core_ad::diagnostics::codes::{self, Code};

use crate::Outcome;
use crate::documents;
use crate::show::table;

/// Arguments of `explain`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ffgrad explain unproven-gradient
  ffgrad explain custom-derivatives   a document: adapters, checkpointing, command, cuda,
                                      custom-derivatives, fortran, packs, parallel
  ffgrad explain                      every code, a line each")]
pub struct Explain {
    /// The code, which is the attribute `code` of the exception, or a document's name; all codes where it is left out
    code: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Explain {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Box<dyn Error>> {
        if let Some(text) = self.code.as_deref().and_then(documents::find) {
            return Ok(Outcome::success(text.to_owned()));
        }
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
    let close = core_ad::names::closest(wanted, codes::ALL.iter().map(|c| c.name).chain(documents::names()));
    match close.is_empty() {
        true => format!("there is no code or document `{wanted}`; `ffgrad explain` lists all codes"),
        false => format!("there is no code or document `{wanted}`; close to it: {}", close.join(", ")),
    }
}

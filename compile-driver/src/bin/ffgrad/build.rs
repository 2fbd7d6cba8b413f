//! `ffgrad build`: builds everything that the first call would build.

use std::error::Error;

use clap::Args;
use compile_driver::function::Function;
use core_ad::DerivativeSet;

use crate::Outcome;
use crate::source::Source;

/// Arguments of `build`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ffgrad build test.c f
  ffgrad build mv.c matvec -s 'A[m,n], x[n] -> y[m]' --second

The derivatives are proven at the first call, with real arguments; `ffgrad check` tries random ones now.")]
pub struct Build {
    #[command(flatten)]
    pub source: Source,
    /// Also build second derivatives
    #[arg(long)]
    second: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Build {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Box<dyn Error>> {
        let function = Function::open(self.source.spec())?;
        let manifest = function.manifest();
        let mask = manifest.plan.differentiable_mask();
        function.prepare(DerivativeSet::first(mask))?;
        if self.second {
            function.prepare(DerivativeSet::second(mask))?;
        }
        let text = match self.json {
            true => format!("{}\n", serde_json::json!({ "key": manifest.key, "signature": manifest.plan.signature })),
            false => format!("{}\nbuilt as {}\n", manifest.plan.signature, manifest.key),
        };
        Ok(Outcome::success(text))
    }
}

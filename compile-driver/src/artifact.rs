//! A shared object with entry points, checked and loaded.

use crate::cache::{self, Cache};
use crate::error::{CacheError, Result};
use crate::mpi::Ranks;
use crate::openmp::{self, Teams};
use core_ad::manifest::{ArtifactRecord, FORMAT};
use core_ad::protocol::{Entry, TAPE_BYTES, TAPE_DROP};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde::{Deserialize, Serialize};
use std::ffi::c_void;
use std::fs;
use std::path::{Path, PathBuf};

/// `int32_t entry(void *const *args)`.
pub type EntryPoint = unsafe extern "C" fn(*const *mut c_void) -> i32;

/// What an artifact offers for the tapes that it makes.
#[derive(Clone, Copy)]
pub struct Tapes {
    /// Gives a tape back.
    pub drop: unsafe extern "C" fn(*mut c_void),
    /// Bytes that it holds.
    pub bytes: unsafe extern "C" fn(*mut c_void) -> usize,
}

/// A loaded artifact. Its code stays mapped as long as this value lives.
pub struct Artifact {
    /// What it says about itself.
    pub record: ArtifactRecord,
    primal: EntryPoint,
    vjp: Option<EntryPoint>,
    jvp: Option<EntryPoint>,
    hvp: Option<EntryPoint>,
    jvp2: Option<EntryPoint>,
    /// How to say how many threads its parallel regions have, where it has any.
    pub teams: Option<Teams>,
    augmented: Option<EntryPoint>,
    reverse: Option<EntryPoint>,
    /// What gives tapes back, and what tells their size; none where derivatives do not allocate from an arena.
    pub tapes: Option<Tapes>,
    /// The other ranks, of an MPI program.
    pub ranks: Option<Ranks>,
    _library: Library,
}

impl Artifact {
    /// Loads the artifact in `folder`, or says `None` where there is none. A damaged one is set aside, with a warning, and
    /// so will be built again.
    ///
    /// # Errors
    ///
    /// [`CacheError::Damaged`] where it is damaged and cannot be set aside; [`CacheError::Unloadable`].
    pub fn load(cache: &Cache, folder: &Path) -> Result<Option<Self>> {
        let Some((record, path)) = whole(folder) else {
            if fs::symlink_metadata(folder).is_err() {
                return Ok(None);
            }
            let reason = "its content is not what was built".to_owned();
            let error = CacheError::Damaged { path: folder.to_owned(), reason };
            cache.set_aside(folder).map_err(|_| error)?;
            let text = format!("the cached artifact `{}` is damaged; it is built again", folder.display());
            cache.warnings().add(text);
            return Ok(None);
        };
        Self::open(record, &path).map(Some)
    }

    /// Loads a shared object that is known to be whole.
    ///
    /// # Errors
    ///
    /// [`CacheError::Unloadable`]; a toolchain error where there is no OpenMP runtime for it.
    pub fn open(record: ArtifactRecord, path: &Path) -> Result<Self> {
        let damaged = |reason: String| CacheError::Unloadable { path: path.to_owned(), reason };
        // SAFETY: the object was built by this user's ffgrad and matches its digest; its constructors
        // are those of the user's own source.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|e| damaged(explain(&e)))?;
        let teams = openmp::bind(&library)?;
        let ranks = Ranks::of(&library).map_err(damaged)?;
        let find = |entry: Entry| -> Result<EntryPoint> {
            // SAFETY: entry points of every artifact have this type.
            let symbol = unsafe { library.get::<EntryPoint>(entry.symbol()) };
            Ok(*symbol.map_err(|e| damaged(explain(&e)))?)
        };
        let optional = |entry| record.entries.contains(&entry).then(|| find(entry)).transpose();
        let (primal, vjp) = (find(Entry::Primal)?, optional(Entry::Vjp)?);
        let (jvp, hvp, jvp2) = (optional(Entry::Jvp)?, optional(Entry::Hvp)?, optional(Entry::Jvp2)?);
        let (augmented, reverse) = (optional(Entry::Augmented)?, optional(Entry::Reverse)?);
        // SAFETY: the symbols have these types in every artifact.
        let tapes = unsafe {
            let drop = library.get::<unsafe extern "C" fn(*mut c_void)>(TAPE_DROP);
            let bytes = library.get::<unsafe extern "C" fn(*mut c_void) -> usize>(TAPE_BYTES);
            drop.ok().zip(bytes.ok()).map(|(drop, bytes)| Tapes { drop: *drop, bytes: *bytes })
        };
        Ok(Artifact { record, primal, vjp, jvp, hvp, jvp2, augmented, reverse, teams, ranks, tapes, _library: library })
    }

    /// The entry point, where this artifact has it.
    pub fn entry(&self, entry: Entry) -> Option<EntryPoint> {
        match entry {
            Entry::Primal => Some(self.primal),
            Entry::Vjp => self.vjp,
            Entry::Jvp => self.jvp,
            Entry::Hvp => self.hvp,
            Entry::Jvp2 => self.jvp2,
            Entry::Augmented => self.augmented,
            Entry::Reverse => self.reverse,
        }
    }
}

/// The loader's own words.
pub fn explain(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |s| s.to_string())
}

/// Whether a folder has an artifact, as far as can be seen without loading it.
pub fn is_there(folder: &Path) -> bool {
    let record = cache::read_json::<ArtifactRecord>(&folder.join("artifact.json"));
    record.is_some_and(|record| folder.join(record.file).is_file())
}

/// Record and file of an artifact that is as it was built. No link counts, nor a file outside the folder.
pub fn whole(folder: &Path) -> Option<(ArtifactRecord, PathBuf)> {
    let is_real =
        |path: &Path, dir: bool| fs::symlink_metadata(path).is_ok_and(|m| if dir { m.is_dir() } else { m.is_file() });
    let record: ArtifactRecord = cache::read_json(&folder.join("artifact.json"))?;
    let path = folder.join(&record.file);
    let inside = Path::new(&record.file).file_name() == Some(std::ffi::OsStr::new(&record.file));
    let as_built = || cache::digest_file(&path).is_ok_and(|digest| digest == record.digest);
    let whole = record.format == FORMAT && inside && is_real(folder, true) && is_real(&path, false) && as_built();
    whole.then_some((record, path))
}

/// The folder of the artifact with the primal alone.
pub fn primal_folder(cache: &Cache, key: &str) -> PathBuf {
    cache.entry(key).join("primal")
}

/// Which derivatives an artifact has, and of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Wanted {
    /// Bit i: the i-th input is differentiated.
    pub mask: u64,
    /// Which of them.
    pub order: Order,
}

/// Sets of derivative entry points that are built together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Vjp and jvp.
    First,
    /// With hvp.
    Second,
    /// With hvp and jvp2: few callers differentiate the forward mode forwards, so only they build it.
    Forward,
    /// First, with the reverse mode in two halves.
    Taped,
}

impl Wanted {
    /// First derivatives of the inputs in `mask`.
    pub fn first(mask: u64) -> Self {
        Wanted { mask, order: Order::First }
    }

    /// First and second derivatives of the inputs in `mask`.
    pub fn second(mask: u64) -> Self {
        Wanted { mask, order: Order::Second }
    }

    /// First and second derivatives, and the forward mode of the forward mode.
    pub fn forward(mask: u64) -> Self {
        Wanted { mask, order: Order::Forward }
    }

    /// First derivatives, with the reverse mode in two halves.
    pub fn taped(mask: u64) -> Self {
        Wanted { mask, order: Order::Taped }
    }

    /// Whether what was built for this serves the other too.
    pub fn serves(self, other: Wanted) -> bool {
        self.mask & other.mask == other.mask && other.entries().iter().all(|e| self.entries().contains(e))
    }

    /// Entry points beside the primal that are compiled. With a tape the two halves are the reverse mode: [`Call::run`](crate::call::Call::run)
    /// runs one after the other for a vjp, so that a gradient has the same bits whether its tape was kept or not.
    pub fn compiled(self) -> &'static [Entry] {
        match self.order {
            Order::Taped => &[Entry::Jvp, Entry::Augmented, Entry::Reverse],
            _ => self.entries(),
        }
    }

    /// Entry points beside the primal that can be called.
    pub fn entries(self) -> &'static [Entry] {
        match self.order {
            Order::First => &[Entry::Vjp, Entry::Jvp],
            Order::Second => &[Entry::Vjp, Entry::Jvp, Entry::Hvp],
            Order::Forward => &[Entry::Vjp, Entry::Jvp, Entry::Hvp, Entry::Jvp2],
            Order::Taped => &[Entry::Vjp, Entry::Jvp, Entry::Augmented, Entry::Reverse],
        }
    }

    /// Its part of file names, `d1-3`.
    pub fn name(self) -> String {
        let order = match self.order {
            Order::First => "d1",
            Order::Second => "d2",
            Order::Forward => "f2",
            Order::Taped => "d1t",
        };
        format!("{order}-{:x}", self.mask)
    }
}

/// The name of a folder with derivatives.
pub fn folder_name(wanted: Wanted, rung: core_ad::protocol::Rung) -> String {
    format!("{}-{}", wanted.name(), rung.name())
}

/// The folder of an artifact with derivatives.
pub fn derivative_folder(cache: &Cache, key: &str, wanted: Wanted, rung: core_ad::protocol::Rung) -> PathBuf {
    cache.entry(key).join(folder_name(wanted, rung))
}

//! A shared object with entry points, checked and loaded.

use crate::cache::{Cache, layout};
use crate::error::{CacheError, Result};
use crate::load::mpi_ranks::Ranks;
use crate::load::openmp_runtime::{self, Teams};
use crate::load::solver_notes::Notes;
use core_ad::manifest::ArtifactRecord;
use core_ad::protocol::{
    ACCESS, AFTER_CRASH, CHECKPOINT_REPORT, Entry, FAILED_CHECK, LARGE_STACK, PATH_MAP, TAPE_BYTES, TAPE_DROP,
    UNSOLVED_NOTE,
};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::ffi::c_void;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicPtr, Ordering};

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

/// Where an artifact counts the branches of its derivatives, if values decide them.
#[derive(Clone, Copy)]
pub struct PathMap {
    find: unsafe extern "C" fn(*mut u64) -> *mut u32,
}

impl PathMap {
    /// Gives the counters of the calling thread to a closure that runs no derivative.
    pub fn with_counts<T>(&self, use_them: impl FnOnce(&mut [u32]) -> T) -> T {
        self.with_all(|all| {
            let counters = all.len().saturating_sub(1);
            use_them(&mut all[..counters])
        })
    }

    /// Sets all counters of the calling thread to zero.
    pub fn clear(&self) {
        self.with_all(|all| all.fill(0));
    }

    /// Whether calls since then took an edge that a single value takes (`x == 0`).
    pub fn has_met_point(&self) -> bool {
        self.with_all(|all| all.last().is_some_and(|flag| *flag != 0))
    }

    fn with_all<T>(&self, use_them: impl FnOnce(&mut [u32]) -> T) -> T {
        let mut length = 0;
        // SAFETY: the address and length of a thread-local array, which lives as long as the thread and the artifact; nobody else
        // has it while no derivative of the artifact runs on this thread.
        let counts = unsafe {
            let start = (self.find)(&mut length);
            std::slice::from_raw_parts_mut(start, length as usize)
        };
        use_them(counts)
    }
}

/// Where an artifact keeps the address of its last note before an access of memory: a line's number, and the file's name with a zero behind it.
#[derive(Clone, Copy)]
pub struct AccessNote(*const *const u8);

// SAFETY: a variable of an artifact, of which a copy may be read by any thread.
unsafe impl Send for AccessNote {}
// SAFETY: as above.
unsafe impl Sync for AccessNote {}

impl AccessNote {
    /// The last line, and each byte of its file's name. Allocates nothing: for a signal's handler.
    pub fn last(self) -> Option<(u32, impl Iterator<Item = u8>)> {
        // SAFETY: null before the first access, or a constant of the artifact, which is loaded as long as its code runs.
        unsafe {
            let note = self.0.read_volatile();
            let name = (0..).map(move |i| note.add(4 + i).read()).take_while(|byte| *byte != 0);
            (!note.is_null()).then(|| (note.cast::<u32>().read_unaligned(), name))
        }
    }
}

unsafe extern "C" {
    /// What a derivative calls where a check of the function's fails (`call/crash_guard.c`).
    fn ffgrad_failed_check();
}

/// Tells an artifact what to call where a check of the function's fails; whether it has any.
fn connect_checks(library: &Library) -> bool {
    // SAFETY: a variable of this type in every artifact that has it.
    let Ok(place) = (unsafe { library.get::<*mut *const c_void>(FAILED_CHECK) }) else { return false };
    // SAFETY: a word of the artifact, which all of its loads set to the same address.
    unsafe {
        AtomicPtr::from_ptr((*place).cast()).store((ffgrad_failed_check as *const c_void).cast_mut(), Ordering::Release)
    };
    true
}

/// A loaded artifact. Its code stays mapped as long as this value lives.
pub struct Artifact {
    /// Its manifest.
    pub record: ArtifactRecord,
    /// The shared object.
    pub path: PathBuf,
    primal: EntryPoint,
    vjp: Option<EntryPoint>,
    jvp: Option<EntryPoint>,
    hvp: Option<EntryPoint>,
    jvp2: Option<EntryPoint>,
    /// The function that sets the number of threads of its parallel regions, where it has any.
    pub teams: Option<Teams>,
    augmented: Option<EntryPoint>,
    reverse: Option<EntryPoint>,
    /// The functions that release tapes and return their size; none where derivatives do not allocate from an arena.
    pub tapes: Option<Tapes>,
    /// The other ranks, of an MPI program.
    pub ranks: Option<Ranks>,
    /// Where it counts the paths of calls; none where sizes decide them.
    pub paths: Option<PathMap>,
    /// Its derivatives may need a large stack.
    pub wants_large_stack: bool,
    /// Its derivatives stop where a check of the function's fails.
    pub has_checks: bool,
    /// Makes the thread's arena usable again after a crash; not 0 where memory was short.
    pub after_crash: Option<unsafe extern "C" fn() -> i32>,
    /// Where it reports solvers that have not solved; none where it has no implicit derivatives.
    pub unsolved: Option<Notes>,
    /// What the last reverse sweep of a checkpointed loop did; none where no loop is.
    checkpoint_report: Option<unsafe extern "C" fn(*mut i64)>,
    /// Where it notes the lines of accesses of memory.
    accesses: Option<AccessNote>,
    _library: Library,
}

impl Artifact {
    /// Loads the artifact in `folder`, or returns `None` where there is none. A damaged one is set aside, with a warning, and
    /// so will be built again.
    ///
    /// # Errors
    ///
    /// [`CacheError::Damaged`] where it is damaged and cannot be set aside; [`CacheError::Unloadable`].
    pub fn load(cache: &Cache, folder: &Path) -> Result<Option<Self>> {
        let Some((record, path)) = layout::whole(folder) else {
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
        let teams = openmp_runtime::bind(&library)?;
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
        // SAFETY: the symbol has this type in every artifact.
        let find = unsafe { library.get::<unsafe extern "C" fn(*mut u64) -> *mut u32>(PATH_MAP) };
        let paths = find.ok().map(|find| PathMap { find: *find });
        // SAFETY: of the symbol only its presence counts.
        let wants_large_stack = unsafe { library.get::<*const u8>(LARGE_STACK) }.is_ok();
        let has_checks = connect_checks(&library);
        // SAFETY: the symbol has this type in every artifact.
        let after_crash = unsafe { library.get(AFTER_CRASH) }.ok().map(|f| *f);
        // SAFETY: the symbol has this type in every artifact.
        let unsolved = unsafe { library.get(UNSOLVED_NOTE) }.ok().map(|find| Notes::new(*find));
        // SAFETY: as above.
        let checkpoint_report = unsafe { library.get(CHECKPOINT_REPORT) }.ok().map(|f| *f);
        // SAFETY: a variable of this type in every artifact; only its address is kept.
        let accesses = unsafe { library.get::<*const *const u8>(ACCESS) }.ok().map(|place| AccessNote(*place));
        let path = path.to_owned();
        Ok(Artifact {
            record,
            path,
            primal,
            vjp,
            jvp,
            hvp,
            jvp2,
            augmented,
            reverse,
            teams,
            ranks,
            tapes,
            paths,
            wants_large_stack,
            has_checks,
            after_crash,
            unsolved,
            checkpoint_report,
            accesses,
            _library: library,
        })
    }

    /// What the last reverse sweep of a checkpointed loop inside the function did; `None` before the first one.
    pub fn checkpoint_report(&self) -> Option<[i64; 7]> {
        self.read_checkpoint_report().filter(|report| report[0] > 0)
    }

    /// Whether the last call of such a loop was stopped, because two addresses lead to different blocks of one allocation.
    pub fn has_mixed_blocks(&self) -> bool {
        self.read_checkpoint_report().is_some_and(|report| report[0] < 0)
    }

    fn read_checkpoint_report(&self) -> Option<[i64; 7]> {
        let mut report = [0; 7];
        let read = self.checkpoint_report?;
        // SAFETY: the function of this artifact, which writes seven numbers.
        unsafe { read(report.as_mut_ptr()) };
        Some(report)
    }

    /// Where it notes the lines of accesses of memory; none in what is called as usual.
    pub fn accesses(&self) -> Option<AccessNote> {
        self.accesses
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

//! The content-addressed store of artifacts.
//!
//! ```text
//! <cache>/v6/
//!   requests/<digest>.json     what was asked for -> which headers it read, and the key they gave
//!   units/<key>/               one file of a folder of sources, compiled
//!   entries/<key>/
//!     manifest.json            prototype, call plan, commands
//!     source0.bc ...           the compiled sources, so that later entry points need no compiler
//!     primal/                  artifact.json and the shared object
//!     d1-<mask>-<pipeline>/        the same with vjp and jvp
//!     choice-<mask>.json       the pipeline that passed its check
//!     used                     empty; its time is when the entry was last opened
//!   runtime/<digest>/          ffgrad's own C runtime, compiled, and its digest
//!   locks/<name>.lock          OS locks: a dead owner leaves nothing behind
//!   locks/<key>.use            held shared by every process that uses the entry
//!   staging/<random>/          builds in progress, locked by their builder; renamed into place when complete
//! ```
//!
//! Keys hold content, never modification times or places. `CACHING.md` has the rest: what is hashed, what is checked, what is
//! removed when. [`sealed`] has the JSON files, [`maintenance`] listing, checking and removing, [`overlay`] what happens
//! where the folder cannot be written to.

pub(crate) mod contents;
pub mod entry;
pub(crate) mod files;
pub(crate) mod layout;
pub mod maintenance;
pub(crate) mod overlay;
pub mod request;
pub(crate) mod sealed;
pub(crate) mod unit;

use crate::error::{CacheError, Error, Result};
use crate::os::interrupt::Pauses;
use crate::os::lock_holder;
use crate::os::progress::Patience;
pub use sealed::{from_sealed, read_json, sealed, write_json};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The cache of one user.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
    warnings: Arc<Warnings>,
    /// What is read beside it, where the user's own folder cannot be written to.
    below: Option<overlay::Below>,
}

/// What a user should hear of, oldest first.
#[derive(Debug, Default)]
pub struct Warnings {
    any: AtomicBool,
    texts: Mutex<Vec<String>>,
}

impl Warnings {
    /// Adds one.
    pub fn add(&self, text: String) {
        self.any.store(true, Ordering::Release);
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    /// Whether there are any; costs next to nothing.
    pub fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Takes all.
    pub fn take(&self) -> Vec<String> {
        self.any.store(false, Ordering::Release);
        std::mem::take(&mut *self.texts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A lock, held until dropped; the OS releases it if the process dies.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing would not do: a process forked meanwhile has the file open too. Nothing can be done about a failure.
        let _ = self.file.unlock();
    }
}

/// A private folder for a build. It is locked as long as its builder lives, which distinguishes it from what a killed
/// builder left behind.
#[derive(Debug)]
pub struct Staging {
    folder: tempfile::TempDir,
    _alive: Option<File>,
}

impl Staging {
    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves the folder behind for a look.
    pub fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    /// The same under a name of its own, in the place of what was left there before: however often a function is refused,
    /// one folder stays.
    pub fn keep_as(self, name: &str) -> PathBuf {
        let kept = self.folder.keep();
        let named = kept.with_file_name(name);
        // Where another process does the same at this moment, each keeps a folder.
        let _ = fs::remove_dir_all(&named);
        match fs::rename(&kept, &named) {
            Ok(()) => named,
            Err(_) => kept,
        }
    }
}

impl Cache {
    /// Opens the cache in `FFGRAD_CACHE_DIR`, or in the platform's cache folder, creating it private to
    /// the user. Where that cannot be written to, what it lacks goes to a folder of this user in the system's temporary one.
    ///
    /// # Errors
    ///
    /// As [`Cache::open_at`].
    pub fn open() -> Result<Self> {
        overlay::open(&default_root())
    }

    /// Opens the cache in a given folder.
    ///
    /// # Errors
    ///
    /// [`CacheError::Io`] where it cannot be created, [`CacheError::Unsafe`] where others can write to it.
    pub fn open_at(folder: &Path) -> Result<Self> {
        make_private(folder)?;
        // The folder itself may be a link, which is the user's own choice; nothing inside may be one.
        must_be_ours(folder, &fs::metadata(folder).map_err(io("read", folder))?)?;
        let root = folder.join(format!("v{}", core_ad::manifest::FORMAT));
        make_private(&root)?;
        for place in [root.clone()].into_iter().chain(PLACES.iter().map(|name| root.join(name))) {
            make_private(&place)?;
            let metadata = fs::symlink_metadata(&place).map_err(io("read", &place))?;
            if !metadata.is_dir() {
                return Err(CacheError::Unsafe(place).into());
            }
            must_be_ours(&place, &metadata)?;
        }
        Ok(Cache { root, warnings: Arc::default(), below: None })
    }

    /// A cache for a function that came from a pack: it carries warnings, and nothing is read from it or written to it.
    pub(crate) fn unused() -> Self {
        Cache { root: PathBuf::new(), warnings: Arc::default(), below: None }
    }

    /// The folder of a key.
    pub fn entry(&self, key: &str) -> PathBuf {
        self.root.join("entries").join(key)
    }

    /// The folder of one file of a folder of sources, compiled.
    pub fn unit(&self, key: &str) -> PathBuf {
        self.root.join("units").join(key)
    }

    /// The file of a request.
    pub fn request(&self, digest: &str) -> PathBuf {
        self.root.join("requests").join(format!("{digest}.json"))
    }

    /// Root of the store.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What its users should hear of.
    pub fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    /// Waits for the exclusive lock of the given name.
    ///
    /// # Errors
    ///
    /// [`CacheError::Io`]; [`crate::Error::Interrupted`]. A file system without locks is no error: publication by rename stays
    /// safe, at worst a build is done twice.
    pub fn lock(&self, name: &str) -> Result<Lock> {
        let path = self.root.join("locks").join(format!("{name}.lock"));
        match locked(&path, wait_for) {
            Ok(file) => Ok(Lock { file }),
            Err(CacheError::Io { source, .. }) if source.kind() == io::ErrorKind::Interrupted => {
                Err(Error::Interrupted)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Marks an entry as in use, which keeps it from being removed, and as used now. `None` in a cache
    /// that cannot be written to, where nobody removes anything either.
    pub fn hold(&self, key: &str) -> Option<Lock> {
        let file = locked(&self.use_file(key), File::lock_shared).ok()?;
        let mark = self.entry(key).join("used");
        // Without the mark the entry counts as old, no more.
        let _ = File::options()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(mark)
            .and_then(|f| f.set_modified(std::time::SystemTime::now()));
        Some(Lock { file })
    }

    fn use_file(&self, key: &str) -> PathBuf {
        self.root.join("locks").join(format!("{key}.use"))
    }

    /// A fresh private folder for a build.
    ///
    /// # Errors
    ///
    /// [`CacheError::Io`].
    pub fn staging(&self) -> Result<Staging> {
        self.warn_of_overlay();
        self.private_folder()
    }

    fn private_folder(&self) -> Result<Staging> {
        let place = self.root.join("staging");
        let private = fs::Permissions::from_mode(0o700);
        loop {
            let made = tempfile::Builder::new().prefix("build-").permissions(private.clone()).tempdir_in(&place);
            let folder = made.map_err(io("create", &place))?;
            let alive = File::open(folder.path()).ok();
            let is_locked = alive.as_ref().is_none_or(|f| f.try_lock().is_ok() || !has_locks(f));
            // Between the two, pruning may have taken it for a leftover.
            if is_locked && folder.path().is_dir() {
                return Ok(Staging { folder, _alive: alive });
            }
        }
    }

    /// Moves a complete folder into place. Where another process was faster its folder stays, unless it lacks files that this
    /// one has: then it is what is left of a damaged one.
    ///
    /// # Errors
    ///
    /// [`CacheError::Io`].
    pub fn publish(&self, staged: Staging, target: &Path) -> Result<()> {
        let files = staged.path().to_owned();
        self.publish_unless(staged, target, |published| !lacks_files(published, &files))
    }

    /// Moves a complete folder into place, unless the one that is there is sound: it stays, and this one goes.
    ///
    /// # Errors
    ///
    /// [`CacheError::Io`].
    pub fn publish_unless(&self, staged: Staging, target: &Path, sound: impl Fn(&Path) -> bool) -> Result<()> {
        for _ in 0..8 {
            match fs::rename(staged.path(), target) {
                Ok(()) => {
                    // Renamed away: nothing is left to delete.
                    let _ = staged.keep();
                    return Ok(());
                }
                Err(_) if target.is_dir() && sound(target) => return Ok(()),
                Err(_) if fs::symlink_metadata(target).is_ok() => self.set_aside(target)?,
                Err(e) => return Err(io("publish", target)(e).into()),
            }
        }
        let reason = io::Error::other("it comes back damaged again and again");
        Err(io("publish", target)(reason).into())
    }

    /// Takes a damaged folder or file out of the store, at once for everybody, and removes it.
    ///
    /// # Errors
    ///
    /// [`CacheError::Io`] where the cache cannot be written to.
    pub fn set_aside(&self, damaged: &Path) -> Result<()> {
        let aside = self.private_folder()?;
        match fs::rename(damaged, aside.path().join("damaged")) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(io("remove", damaged)(e).into()),
            // An entry that another process set aside is gone as well.
            _ => Ok(()),
        }
    }
}

/// The name that builds hold while they read compiled files of folders, see [`Cache::hold`].
pub const UNITS: &str = "units";

const PLACES: [&str; 6] = ["requests", "entries", "units", "locks", "runtime", "staging"];

/// Refuses what others could change: then they could have this process run their code.
fn must_be_ours(folder: &Path, metadata: &fs::Metadata) -> Result<()> {
    // SAFETY: geteuid has no preconditions and cannot fail.
    let user = unsafe { libc::geteuid() };
    let foreign = metadata.uid() != user && metadata.uid() != 0;
    if foreign || metadata.permissions().mode() & 0o022 != 0 {
        return Err(CacheError::Unsafe(folder.to_owned()).into());
    }
    Ok(())
}

/// Locks a file when it is free. Asked for again and again, because a wait in the system cannot be interrupted.
fn wait_for(file: &File) -> io::Result<()> {
    let (mut pauses, mut patience) = (Pauses::default(), Patience::begin());
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(fs::TryLockError::Error(e)) => return Err(e),
            Err(fs::TryLockError::WouldBlock) if pauses.pause() => patience.tick(|| waits_for(file)),
            Err(fs::TryLockError::WouldBlock) => return Err(io::ErrorKind::Interrupted.into()),
        }
    }
}

/// What is said of a wait for another process.
fn waits_for(file: &File) -> String {
    let who = lock_holder::of(file).map_or_else(|| "another process".to_owned(), |holder| holder.to_string());
    format!(
        "waiting for {who}, which builds or verifies the same function: what it finds is used here too. If it hangs, end it, \
         and this process builds by itself; Ctrl-C ends the wait."
    )
}

/// Opens a lock's file, follows no link, and locks it. A file that pruning removed meanwhile is no lock any more.
fn locked(path: &Path, how: fn(&File) -> io::Result<()>) -> std::result::Result<File, CacheError> {
    loop {
        let mut options = File::options();
        let options = options.create(true).append(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        let file = options.open(path).map_err(io("open", path))?;
        match how(&file) {
            Ok(()) => {}
            Err(e) if no_locks(&e) => return Ok(file),
            Err(e) => return Err(io("lock", path)(e)),
        }
        if file.metadata().is_ok_and(|m| m.nlink() > 0) {
            return Ok(file);
        }
    }
}

/// Whether the reason is that the file system has no locks.
fn no_locks(error: &io::Error) -> bool {
    let known = [libc::ENOLCK, libc::ENOSYS, libc::EOPNOTSUPP];
    error.kind() == io::ErrorKind::Unsupported || error.raw_os_error().is_some_and(|e| known.contains(&e))
}

/// Whether the file system of an open file has locks at all.
fn has_locks(file: &File) -> bool {
    match file.try_lock_shared() {
        Err(fs::TryLockError::Error(e)) => !no_locks(&e),
        _ => true,
    }
}

/// Whether a published folder lacks a file of the one that was to take its place.
fn lacks_files(published: &Path, staged: &Path) -> bool {
    let files = fs::read_dir(staged).into_iter().flatten().flatten();
    files.into_iter().any(|file| !published.join(file.file_name()).exists())
}

/// The cache folder in use.
pub fn default_root() -> PathBuf {
    let given = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    if let Some(folder) = given("FFGRAD_CACHE_DIR") {
        return folder;
    }
    let home = given("HOME").unwrap_or_else(|| PathBuf::from("."));
    let platform = if cfg!(target_os = "macos") {
        home.join("Library/Caches")
    } else {
        // The XDG base directory specification: a relative path is to be ignored.
        given("XDG_CACHE_HOME").filter(|folder| folder.is_absolute()).unwrap_or_else(|| home.join(".cache"))
    };
    platform.join("ffgrad")
}

fn make_private(folder: &Path) -> std::result::Result<(), CacheError> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(io("create", folder))
}

/// Converts an I/O error to a [`CacheError`].
pub fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> CacheError {
    let path = path.to_owned();
    move |source| CacheError::Io { action, path, source }
}

/// BLAKE3 digest of a file's content, in hexadecimal.
///
/// # Errors
///
/// [`CacheError::Io`].
pub fn digest_file(path: &Path) -> Result<String> {
    let bytes = fs::read(path).map_err(io("read", path))?;
    Ok(blake3::hash(&bytes).to_hex().to_string())
}

/// One digest of the files that were read below a folder.
pub fn digest_of_sources(sources: &[core_ad::manifest::Source], folder: &Path) -> String {
    let below = sources.iter().filter_map(|s| Some((Path::new(&s.path).strip_prefix(folder).ok()?, &s.digest)));
    let mut below: Vec<String> = below.map(|(path, digest)| format!("{}\0{digest}\0", path.display())).collect();
    below.sort();
    blake3::hash(below.concat().as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = Cache::open_at(folder.path()).unwrap_err().to_string();
        assert!(error.contains("other users"), "{error}");
    }

    #[test]
    fn a_link_inside_the_cache_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (root, elsewhere) = (folder.path().join("c"), folder.path().join("e"));
        let inside = Cache::open_at(&root).unwrap().root().join("entries");
        fs::rename(&inside, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &inside).unwrap();
        assert!(Cache::open_at(&root).unwrap_err().to_string().contains("other users"));
    }

    #[test]
    fn a_lock_that_is_a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open_at(&folder.path().join("c")).unwrap();
        let target = folder.path().join("precious");
        fs::write(&target, "x").unwrap();
        std::os::unix::fs::symlink(&target, cache.root().join("locks/k.lock")).unwrap();
        assert!(cache.lock("k").is_err());
    }

    #[test]
    fn a_damaged_folder_is_replaced_by_a_whole_one() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open_at(&folder.path().join("c")).unwrap();
        let target = cache.entry("k");
        fs::create_dir(&target).unwrap();
        let staged = cache.staging().unwrap();
        fs::write(staged.path().join("x"), "whole").unwrap();
        cache.publish(staged, &target).unwrap();
        assert_eq!(fs::read_to_string(target.join("x")).unwrap(), "whole");
    }

    #[test]
    fn the_loser_of_a_race_keeps_the_winners_folder() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open_at(&folder.path().join("c")).unwrap();
        let target = cache.entry("k");
        for text in ["first", "second"] {
            let staged = cache.staging().unwrap();
            fs::write(staged.path().join("x"), text).unwrap();
            cache.publish(staged, &target).unwrap();
        }
        assert_eq!(fs::read_to_string(target.join("x")).unwrap(), "first");
        assert_eq!(fs::read_dir(cache.root().join("staging")).unwrap().count(), 0);
    }
}

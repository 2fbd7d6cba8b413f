//! The content-addressed store of artifacts.
//!
//! ```text
//! <cache>/v2/
//!   requests/<digest>.json     what was asked for -> which headers it read, and the key they gave
//!   entries/<key>/
//!     manifest.json            prototype, call plan, commands
//!     source0.bc ...           the compiled sources, so that later entry points need no compiler
//!     primal/                  artifact.json and the shared object
//!     d1-<mask>-<rung>/        the same with vjp and jvp
//!     choice-<mask>.json       the rung that passed its check
//!   runtime/<digest>/          ffgrad's own C runtime, compiled
//!   locks/<name>.lock          OS locks: a dead owner leaves nothing behind
//!   staging/<random>/          builds in progress; renamed into place when complete
//! ```
//!
//! Keys hold content, never modification times or places.

use crate::error::{CacheError, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The cache of one user.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

/// An exclusive lock, held until dropped; the OS releases it if the process dies.
pub struct Lock {
    _file: File,
}

impl Cache {
    /// Opens the cache in `FFGRAD_CACHE_DIR`, or in the platform's cache folder, creating it private to
    /// the user.
    ///
    /// # Errors
    ///
    /// [`CacheError::Io`] where it cannot be created, [`CacheError::Unsafe`] where others can write to it.
    pub fn open() -> Result<Self> {
        Self::open_at(&default_root())
    }

    /// Opens the cache in a given folder.
    ///
    /// # Errors
    ///
    /// As [`Cache::open`].
    pub fn open_at(folder: &Path) -> Result<Self> {
        make_private(folder)?;
        let metadata = fs::metadata(folder).map_err(io("read", folder))?;
        if metadata.permissions().mode() & 0o022 != 0 {
            return Err(CacheError::Unsafe(folder.to_owned()).into());
        }
        // SAFETY: geteuid has no preconditions and cannot fail.
        let user = unsafe { libc::geteuid() };
        if metadata.uid() != user && metadata.uid() != 0 {
            return Err(CacheError::Unsafe(folder.to_owned()).into());
        }
        let root = folder.join(format!("v{}", core_ad::manifest::FORMAT));
        for name in ["requests", "entries", "locks", "runtime", "staging"] {
            make_private(&root.join(name))?;
        }
        Ok(Cache { root })
    }

    /// The folder of a key.
    pub fn entry(&self, key: &str) -> PathBuf {
        self.root.join("entries").join(key)
    }

    /// The file of a request.
    pub fn request(&self, digest: &str) -> PathBuf {
        self.root.join("requests").join(format!("{digest}.json"))
    }

    /// Root of the store.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Waits for the lock of the given name.
    ///
    /// # Errors
    ///
    /// [`CacheError::Io`]. A file system without locks is no error: publication by rename stays safe,
    /// at worst a build is done twice.
    pub fn lock(&self, name: &str) -> Result<Lock> {
        let path = self.root.join("locks").join(format!("{name}.lock"));
        let file = File::options().create(true).append(true).open(&path).map_err(io("open", &path))?;
        match file.lock() {
            Ok(()) => {}
            Err(e) if e.kind() == std::io::ErrorKind::Unsupported => {}
            Err(e) => return Err(io("lock", &path)(e).into()),
        }
        Ok(Lock { _file: file })
    }

    /// A fresh private folder for a build.
    ///
    /// # Errors
    ///
    /// [`CacheError::Io`].
    pub fn staging(&self) -> Result<tempfile::TempDir> {
        let folder = self.root.join("staging");
        tempfile::Builder::new().prefix("build-").tempdir_in(&folder).map_err(|e| io("create", &folder)(e).into())
    }

    /// Moves a complete folder into place. Where another process was faster its folder stays.
    ///
    /// # Errors
    ///
    /// [`CacheError::Io`].
    pub fn publish(&self, staged: tempfile::TempDir, target: &Path) -> Result<()> {
        match fs::rename(staged.path(), target) {
            Ok(()) => {
                // Renamed away: nothing is left to delete.
                let _ = staged.keep();
                Ok(())
            }
            Err(_) if target.is_dir() => Ok(()),
            Err(e) => Err(io("publish", target)(e).into()),
        }
    }
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
        given("XDG_CACHE_HOME").unwrap_or_else(|| home.join(".cache"))
    };
    platform.join("ffgrad")
}

fn make_private(folder: &Path) -> std::result::Result<(), CacheError> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(io("create", folder))
}

/// Turns an I/O error into a [`CacheError`].
pub fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> CacheError {
    let path = path.to_owned();
    move |source| CacheError::Io { action, path, source }
}

/// Writes a JSON file so that a reader sees the old content or the new, nothing between.
///
/// # Errors
///
/// [`CacheError::Io`].
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let text = serde_json::to_vec_pretty(value).map_err(|e| io("write", path)(e.into()))?;
    let file = tempfile::NamedTempFile::new_in(folder).map_err(io("create", folder))?;
    fs::write(file.path(), text).map_err(io("write", path))?;
    file.persist(path).map_err(|e| io("publish", path)(e.error))?;
    Ok(())
}

/// Reads a JSON file; `None` where it is absent or unreadable, which both mean "build again".
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
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

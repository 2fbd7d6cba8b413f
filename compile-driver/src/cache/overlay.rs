//! Builds beside a cache folder that is read-only: an image's, another user's, a full disk's.
//!
//! Its entries are used in place. What it lacks is built in a private folder of this user below the system's temporary one, which is
//! checked as every cache is; entries that are needed are copied there first, because artifacts built from them later are stored beside them.

use crate::cache::request::Record;
use crate::cache::{Cache, PLACES, default_root, io, must_be_ours};
use crate::error::{CacheError, Error, Result};
use core_ad::manifest::ToolRecord;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The cache that is read beside the one that is written to.
#[derive(Clone, Debug)]
pub struct Below {
    /// Nothing where not even reading is possible.
    cache: Option<Arc<Cache>>,
    /// The message for a user when something has to be built elsewhere.
    notice: String,
}

/// The cache in `root`, or the next best where that cannot be written to.
pub fn open(root: &Path) -> Result<Cache> {
    let opened = Cache::open_at(root);
    let refused = match &opened {
        Ok(cache) if is_writable(cache.root()) => return opened,
        Ok(_) => None,
        Err(Error::Cache(CacheError::Io { source, .. })) if is_refusal(source) => Some(source.to_string()),
        Err(_) => return opened,
    };
    let below = opened.as_ref().ok().cloned().or_else(|| readable(root)).map(Arc::new);
    match (temporary(), below) {
        (Some(mut cache), below) => {
            let reason = refused.map_or_else(String::new, |reason| format!(" ({reason})"));
            let notice = format!(
                "the cache folder `{}` cannot be written to{reason}; what it lacks is built in `{}`. Set FFGRAD_CACHE_DIR to a \
                 folder of your own to keep it",
                root.display(),
                cache.root().display()
            );
            cache.below = Some(Below { cache: below, notice });
            Ok(cache)
        }
        (None, Some(below)) => Ok(Arc::unwrap_or_clone(below)),
        (None, None) => opened,
    }
}

impl Cache {
    /// The key that still holds for a request, here or in the cache below, from which its entry is then taken over.
    pub fn known(&self, request: &str, tools: Option<&[ToolRecord]>) -> Option<String> {
        let here = Record::current(self, request, tools).filter(|key| self.entry(key).is_dir());
        here.or_else(|| {
            let below = self.below.as_ref()?.cache.as_ref()?;
            let key = Record::current(below, request, tools)?;
            self.take_over(below, request, &key).ok().map(|()| key)
        })
    }

    /// Copies an entry and the record of its request. Damaged files are detected here too.
    fn take_over(&self, below: &Cache, request: &str, key: &str) -> Result<()> {
        let staging = self.private_folder()?;
        copy(&below.entry(key), staging.path())?;
        self.publish_unless(staging, &self.entry(key), |published| published.join("manifest.json").is_file())?;
        if !self.request(request).exists() {
            let record: Record = crate::cache::read_json(&below.request(request)).unwrap_or_default();
            crate::cache::write_json(&self.request(request), &record)?;
        }
        Ok(())
    }

    /// Prints once in the process where things are built.
    pub(super) fn warn_of_overlay(&self) {
        static PRINTED: AtomicBool = AtomicBool::new(false);
        if let Some(below) = &self.below
            && !PRINTED.swap(true, Ordering::Relaxed)
        {
            self.warnings.add(below.notice.clone());
        }
    }
}

/// Whether the reason is that this user may not write there, which is no fault of the call.
fn is_refusal(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

fn is_writable(folder: &Path) -> bool {
    let Ok(path) = std::ffi::CString::new(folder.as_os_str().as_bytes()) else { return false };
    // SAFETY: the path ends with a zero byte and is read only.
    unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::W_OK, libc::AT_EACCESS) == 0 }
}

/// A cache that lacks some of its folders, which cannot be made: only what is read has to be there.
fn readable(folder: &Path) -> Option<Cache> {
    let root = folder.join(format!("v{}", core_ad::manifest::FORMAT));
    must_be_ours(folder, &fs::metadata(folder).ok()?).ok()?;
    for place in [root.clone(), root.join(PLACES[0]), root.join(PLACES[1])] {
        let metadata = fs::symlink_metadata(&place).ok().filter(fs::Metadata::is_dir)?;
        must_be_ours(&place, &metadata).ok()?;
    }
    Some(Cache { root, warnings: Arc::default(), below: None })
}

/// This user's cache in the system's temporary folder; none where another user owns that path.
fn temporary() -> Option<Cache> {
    // SAFETY: geteuid has no preconditions and cannot fail.
    let user = unsafe { libc::geteuid() };
    let folder = std::env::temp_dir().join(format!("ffgrad-{user}"));
    let cache = Cache::open_at(&folder).ok()?;
    let is_real = fs::symlink_metadata(&folder).is_ok_and(|m| m.is_dir());
    (is_real && folder != default_root() && is_writable(cache.root())).then_some(cache)
}

/// Copies the files of a folder and of those inside. No link is followed.
fn copy(from: &Path, to: &Path) -> Result<()> {
    for file in fs::read_dir(from).map_err(io("read", from))? {
        let file = file.map_err(io("read", from))?;
        let kind = file.file_type().map_err(io("read", from))?;
        let target: PathBuf = to.join(file.file_name());
        if kind.is_dir() {
            crate::cache::make_private(&target)?;
            copy(&file.path(), &target)?;
        } else if kind.is_file() && file.file_name() != "used" {
            fs::copy(file.path(), &target).map_err(io("copy", &file.path()))?;
        }
    }
    Ok(())
}

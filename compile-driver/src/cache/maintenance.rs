//! Cache maintenance: lists, verifies, prunes and clears entries.
//!
//! Nothing that is in use is removed: an open function holds the shared lock of its entry, a build holds the lock of the staging folder,
//! and both are taken here before anything is removed.

use crate::cache::{Cache, Lock, contents, entry, io, layout, locked, no_locks, unit};
use crate::error::{CacheError, Result};
use crate::os::size;
use core_ad::manifest::{Choice, FORMAT, Manifest};
use serde::Serialize;
use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Bytes that the cache may take by default.
pub const DEFAULT_LIMIT: u64 = 10 << 30;

/// How often a build looks whether the cache has grown too large.
const TIDY_EVERY: Duration = Duration::from_secs(3600);

/// Leftovers of builds are kept this long by themselves: `FFGRAD_KEEP` leaves folders there for a look.
const LEFTOVERS: Duration = Duration::from_secs(24 * 3600);

/// An entry, as `ffgrad cache list` shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// Its key.
    pub key: String,
    /// The function; empty where the manifest cannot be read.
    pub function: String,
    /// The file that defines it.
    pub source: String,
    /// What is built of it: `primal`, `d1-1-o1`.
    pub artifacts: Vec<String>,
    /// Bytes on disk.
    pub bytes: u64,
    /// Seconds since it was opened last.
    pub unused_seconds: u64,
    /// Whether a process has it open.
    pub in_use: bool,
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// Entries.
    pub entries: usize,
    /// Staging folders of builds that did not end.
    pub leftovers: usize,
    /// Bytes of both.
    pub bytes: u64,
    /// Entries that would have gone, but are in use.
    pub in_use: usize,
}

/// Something that is not as it was built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// The entry or folder inside one that has to go.
    pub path: PathBuf,
    /// What is wrong.
    pub reason: String,
}

/// Every entry, the one used last first.
pub fn list(cache: &Cache) -> Vec<Listed> {
    let mut all: Vec<Listed> = folders(&cache.root().join("entries")).iter().map(|e| listed(cache, e)).collect();
    all.sort_by_key(|e| e.unused_seconds);
    all
}

fn listed(cache: &Cache, entry: &Path) -> Listed {
    let key = name_of(entry);
    let manifest: Option<Manifest> = crate::cache::read_json(&entry.join("manifest.json"));
    let artifacts = folders(entry).iter().map(|f| name_of(f)).collect();
    Listed {
        function: manifest.as_ref().map_or_else(String::new, |m| m.prototype.function.clone()),
        source: manifest.as_ref().map_or_else(String::new, |m| m.prototype.file.clone()),
        artifacts,
        bytes: size(entry),
        unused_seconds: age(&entry.join("used")).or_else(|| age(entry)).unwrap_or_default().as_secs(),
        in_use: claim(cache, &key).is_none(),
        key,
    }
}

/// Removes what builds left behind and, the longest unused first, entries until the cache is not larger than `limit` bytes; and
/// entries that were not used for longer than `unused`.
///
/// # Errors
///
/// Cache errors.
pub fn prune(cache: &Cache, limit: u64, unused: Option<Duration>) -> Result<Removed> {
    let mut removed = Removed::default();
    remove_leftovers(cache, Duration::ZERO, &mut removed);
    let entries = list(cache);
    let mut total: u64 = entries.iter().map(|e| e.bytes).sum::<u64>() + size(&cache.root().join("runtime"));
    total += remove_units(cache, limit.saturating_sub(total), unused, &mut removed)?;
    for entry in entries.iter().rev() {
        let is_old = unused.is_some_and(|limit| Duration::from_secs(entry.unused_seconds) > limit);
        if total <= limit && !is_old {
            continue;
        }
        if remove_entry(cache, &entry.key)? {
            total -= entry.bytes.min(total);
            removed.bytes += entry.bytes;
            removed.entries += 1;
        } else {
            removed.in_use += 1;
        }
    }
    remove_traces(cache);
    Ok(removed)
}

/// Removes all that is not in use, and what other versions of ffgrad have left.
///
/// # Errors
///
/// Cache errors.
pub fn clear(cache: &Cache) -> Result<Removed> {
    let mut removed = prune(cache, 0, None)?;
    let others = cache.root().parent().map(folders).unwrap_or_default();
    for other in others.iter().filter(|f| f.as_path() != cache.root() && is_version(&name_of(f))) {
        removed.bytes += size(other);
        fs::remove_dir_all(other).map_err(io("remove", other))?;
    }
    if removed.in_use == 0 {
        for runtime in folders(&cache.root().join("runtime")) {
            removed.bytes += size(&runtime);
            cache.set_aside(&runtime)?;
        }
    }
    Ok(removed)
}

fn is_version(name: &str) -> bool {
    name.strip_prefix('v').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Everything that is not as it was built.
pub fn verify(cache: &Cache) -> Vec<Damage> {
    let mut found: Vec<Damage> = folders(&cache.root().join("entries")).iter().flat_map(|e| damages(e)).collect();
    let damage = |path: PathBuf| Damage { path, reason: "its content is not what was built".to_owned() };
    let runtime = folders(&cache.root().join("runtime")).into_iter().filter(|f| contents::is_damaged(f));
    let units =
        folders(&cache.root().join("units")).into_iter().filter(|f| unit::is_damaged(f) || contents::is_damaged(f));
    found.extend(runtime.chain(units).map(damage));
    found
}

fn damages(entry: &Path) -> Vec<Damage> {
    let damage = |path: &Path, reason: &str| Damage { path: path.to_owned(), reason: reason.to_owned() };
    let manifest = crate::cache::read_json(&entry.join("manifest.json"));
    let Some(manifest) = manifest.filter(|m: &Manifest| m.format == FORMAT && m.key == name_of(entry)) else {
        return vec![damage(entry, "its manifest has changed since it was written")];
    };
    if let Some(module) = entry::damaged_module(entry, &manifest) {
        return vec![damage(entry, &format!("`{}` has changed since it was written", name_of(&module)))];
    }
    let of_artifacts = folders(entry).into_iter().filter(|f| name_of(f) != layout::MODULES);
    let artifacts = of_artifacts.filter(|f| layout::whole(f).is_none());
    let mut found: Vec<Damage> = artifacts.map(|f| damage(&f, "its content is not what was built")).collect();
    let files = fs::read_dir(entry).into_iter().flatten().flatten().map(|f| f.path());
    let choices = files.filter(|f| name_of(f).starts_with("choice-") && crate::cache::read_json::<Choice>(f).is_none());
    found.extend(choices.map(|f| damage(&f, "it has changed since it was written")));
    found
}

/// Called after a build: now and then, removes what is too much. Its own failure is ignored.
pub fn tidy(cache: &Cache) {
    let stamp = cache.root().join("tidied");
    if age(&stamp).is_some_and(|age| age < TIDY_EVERY) {
        return;
    }
    if fs::write(&stamp, "").is_err() {
        return;
    }
    remove_leftovers(cache, LEFTOVERS, &mut Removed::default());
    // Whoever opens a function is told of a limit that is none.
    let Ok(limit) = limit() else { return };
    if size(cache.root()) > limit {
        let _ = prune(cache, limit, None);
    }
}

/// The value of `FFGRAD_CACHE_LIMIT`, else the default.
///
/// # Errors
///
/// A value that is no size.
pub fn limit() -> Result<u64> {
    let given = size::variable("FFGRAD_CACHE_LIMIT", &[], "a size: 10G, 500M").map_err(CacheError::from)?;
    Ok(given.unwrap_or(DEFAULT_LIMIT))
}

/// The lock under which an entry may be removed; `None` while it is in use.
fn claim(cache: &Cache, key: &str) -> Option<Lock> {
    let try_lock = |file: &File| match file.try_lock() {
        Err(TryLockError::Error(e)) => Err(e),
        Err(TryLockError::WouldBlock) => Err(std::io::ErrorKind::WouldBlock.into()),
        Ok(()) => Ok(()),
    };
    let path = cache.use_file(key);
    let probe = File::options().create(true).append(true).open(&path).ok()?;
    // Without locks it is unknown whether an entry is in use: only those are removed that were not opened for a week.
    if matches!(probe.try_lock(), Err(TryLockError::Error(e)) if no_locks(&e)) {
        let old = age(&cache.entry(key).join("used")).is_some_and(|a| a > Duration::from_secs(7 * 24 * 3600));
        return old.then_some(Lock { file: probe });
    }
    drop(probe);
    locked(&path, try_lock).ok().map(|file| Lock { file })
}

/// Removes compiled files of folders, the oldest first: what was made of them is in the entries. What they still take.
fn remove_units(cache: &Cache, limit: u64, unused: Option<Duration>, removed: &mut Removed) -> Result<u64> {
    let mut units: Vec<(Duration, u64, PathBuf)> = folders(&cache.root().join("units"))
        .into_iter()
        .map(|unit| (age(&unit).unwrap_or_default(), size(&unit), unit))
        .collect();
    let mut total: u64 = units.iter().map(|(_, bytes, _)| bytes).sum();
    // Builds hold it while they read units.
    let Some(_lock) = claim(cache, crate::cache::UNITS) else { return Ok(total) };
    units.sort();
    for (age, bytes, unit) in units.into_iter().rev() {
        if total <= limit && unused.is_none_or(|limit| age <= limit) {
            continue;
        }
        cache.set_aside(&unit)?;
        total -= bytes.min(total);
        removed.bytes += bytes;
    }
    Ok(total)
}

fn remove_entry(cache: &Cache, key: &str) -> Result<bool> {
    let Some(_lock) = claim(cache, key) else { return Ok(false) };
    cache.set_aside(&cache.entry(key))?;
    // Whoever waits for it sees that its file is gone, and makes a new one.
    let _ = fs::remove_file(cache.use_file(key));
    Ok(true)
}

fn remove_leftovers(cache: &Cache, older: Duration, removed: &mut Removed) {
    for folder in folders(&cache.root().join("staging")) {
        let Ok(handle) = File::open(&folder) else { continue };
        let abandoned = match handle.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            // No locks here: a build does not take a day.
            Err(TryLockError::Error(_)) => age(&folder).is_some_and(|a| a > LEFTOVERS),
        };
        if !abandoned || age(&folder).is_none_or(|a| a < older) {
            continue;
        }
        let bytes = size(&folder);
        if fs::remove_dir_all(&folder).is_ok() {
            removed.leftovers += 1;
            removed.bytes += bytes;
        }
    }
}

/// No file takes so long to write.
const WRITING: Duration = Duration::from_secs(3600);

/// Requests that lead to no entry any more, and locks that are not held.
fn remove_traces(cache: &Cache) {
    let requests = fs::read_dir(cache.root().join("requests")).into_iter().flatten().flatten();
    for request in requests.map(|r| r.path()) {
        // One that is just being written has another name until it is whole.
        let is_whole = request.extension().is_some_and(|e| e == "json");
        if !is_whole && age(&request).is_none_or(|age| age < WRITING) {
            continue;
        }
        let record: Option<crate::cache::request::Record> = crate::cache::read_json(&request);
        let leads = |key: &str| cache.entry(key).is_dir() || cache.unit(key).is_dir();
        if !record.is_some_and(|r| r.found.iter().any(|f| leads(&f.key))) {
            let _ = fs::remove_file(&request);
        }
    }
    let locks = fs::read_dir(cache.root().join("locks")).into_iter().flatten().flatten();
    for lock in locks.map(|l| l.path()) {
        if File::open(&lock).is_ok_and(|file| file.try_lock().is_ok() && fs::remove_file(&lock).is_ok()) {
            continue;
        }
    }
}

fn folders(inside: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(inside).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries.filter(|e| e.file_type().is_ok_and(|t| t.is_dir())).map(|e| e.path()).collect();
    all.sort();
    all
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn age(path: &Path) -> Option<Duration> {
    let changed = fs::symlink_metadata(path).ok()?.modified().ok()?;
    // A clock that was set back makes files young, not old.
    Some(SystemTime::now().duration_since(changed).unwrap_or_default())
}

/// Bytes that a folder takes on disk; no link is followed.
fn size(path: &Path) -> u64 {
    let Ok(metadata) = fs::symlink_metadata(path) else { return 0 };
    let inside = if metadata.is_dir() { fs::read_dir(path).ok() } else { None };
    let below: u64 = inside.into_iter().flatten().flatten().map(|e| size(&e.path())).sum();
    metadata.blocks() * 512 + below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open_at(&folder.path().join("c")).unwrap();
        (folder, cache)
    }

    fn entry(cache: &Cache, key: &str, used: u64) {
        fs::create_dir(cache.entry(key)).unwrap();
        fs::write(cache.entry(key).join("data"), vec![0; 8192]).unwrap();
        drop(cache.hold(key));
        let mark = File::options().append(true).open(cache.entry(key).join("used")).unwrap();
        mark.set_modified(SystemTime::now() - Duration::from_secs(used)).unwrap();
    }

    #[test]
    fn the_longest_unused_entries_go_first_and_only_as_many_as_needed() {
        let (_folder, cache) = cache();
        for (key, used) in [("old", 300), ("young", 100), ("middle", 200)] {
            entry(&cache, key, used);
        }
        let two = size(&cache.entry("young")) * 2 + size(&cache.root().join("runtime"));
        let removed = prune(&cache, two, None).unwrap();
        assert_eq!((removed.entries, removed.in_use), (1, 0));
        assert_eq!(list(&cache).iter().map(|e| e.key.as_str()).collect::<Vec<_>>(), ["young", "middle"]);
        assert_eq!(prune(&cache, u64::MAX, Some(Duration::from_secs(150))).unwrap().entries, 1);
    }

    #[test]
    fn what_is_in_use_stays() {
        let (_folder, cache) = cache();
        entry(&cache, "k", 1000);
        let held = cache.hold("k");
        assert!(list(&cache)[0].in_use);
        assert_eq!(clear(&cache).unwrap(), Removed { in_use: 1, ..Removed::default() });
        assert!(cache.entry("k").is_dir());
        drop(held);
        assert_eq!(clear(&cache).unwrap().entries, 1);
        assert!(!cache.entry("k").exists());
    }

    #[test]
    fn compiled_files_of_folders_go_before_entries_unless_a_build_reads_them() {
        let (_folder, cache) = cache();
        entry(&cache, "k", 100);
        let compiled = || {
            fs::create_dir(cache.unit("u")).unwrap();
            let mut bitcode = File::create(cache.unit("u").join("source0.bc")).unwrap();
            // Some file systems count no blocks before they are written.
            std::io::Write::write_all(&mut bitcode, &[1; 8192]).and_then(|()| bitcode.sync_all()).unwrap();
        };
        compiled();
        let one = size(&cache.entry("k")) + size(&cache.root().join("runtime"));
        let removed = prune(&cache, one, None).unwrap();
        assert!(!cache.unit("u").exists() && cache.entry("k").exists() && removed.bytes >= 8192);

        compiled();
        let reading = cache.hold(crate::cache::UNITS);
        prune(&cache, 0, None).unwrap();
        assert!(cache.unit("u").is_dir());
        drop(reading);
        prune(&cache, 0, None).unwrap();
        assert!(!cache.unit("u").exists());
    }

    #[test]
    fn leftovers_go_and_builds_in_progress_stay() {
        let (_folder, cache) = cache();
        let building = cache.staging().unwrap();
        let left = cache.staging().unwrap().keep();
        assert!(left.is_dir());
        assert_eq!(prune(&cache, u64::MAX, None).unwrap().leftovers, 1);
        assert!(building.path().is_dir() && !left.exists());
    }

    #[test]
    fn an_entry_without_its_manifest_is_damaged() {
        let (_folder, cache) = cache();
        entry(&cache, "k", 1);
        let found = verify(&cache);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, cache.entry("k"));
    }
}

//! A usable cache entry: its manifest, and the bitcode that derivatives are built from.

use crate::cache::Cache;
use crate::error::{CacheError, Error};
use core_ad::manifest::{FORMAT, Manifest};
use std::path::{Path, PathBuf};

/// The manifest of an entry, if it is there and whole. One that is there and damaged is set aside, with a warning.
pub fn manifest_of(cache: &Cache, key: &str) -> Option<Manifest> {
    let entry = cache.entry(key);
    let path = entry.join("manifest.json");
    let manifest = crate::cache::read_json(&path)
        .filter(|m: &Manifest| m.format == FORMAT && m.key == key && m.plan.is_consistent());
    if manifest.is_none() && entry.is_dir() {
        give_up(cache, &entry, &path, "the function");
    }
    manifest
}

/// The manifest of an entry that derivatives can be built from. An entry whose bitcode is damaged is set aside, with a warning.
pub fn sound(cache: &Cache, key: &str) -> Option<Manifest> {
    let manifest = manifest_of(cache, key)?;
    let entry = cache.entry(key);
    let Some(path) = damaged_module(&entry, &manifest) else { return Some(manifest) };
    give_up(cache, &entry, &path, "it");
    None
}

/// Takes an entry out of use because of one of its files, and prints that something is compiled again.
fn give_up(cache: &Cache, entry: &Path, file: &Path, what: &str) {
    if cache.set_aside(entry).is_ok() {
        cache
            .warnings()
            .add(format!("the cached file `{}` is damaged or gone; {what} is compiled again", file.display()));
    }
}

/// The error for an entry that cannot be repaired.
pub fn damaged(cache: &Cache, key: &str, reason: &str) -> Error {
    CacheError::Damaged { path: cache.entry(key), reason: reason.to_owned() }.into()
}

/// A bitcode file of an entry that has changed since it was written, if there is one.
pub fn damaged_module(entry: &Path, manifest: &Manifest) -> Option<PathBuf> {
    let names = manifest.modules.iter().chain(&manifest.library);
    let whole = |name: &String| {
        let digest = crate::cache::digest_file(&entry.join(name)).ok();
        digest.is_some() && digest.as_ref() == manifest.digests.get(name)
    };
    names.into_iter().find(|name| !whole(name)).map(|name| entry.join(name))
}

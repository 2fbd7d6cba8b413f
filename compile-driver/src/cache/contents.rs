//! Folders of the cache that are written once: a record in each has the digests of its files.

use crate::cache::{Cache, Staging, digest_file, io, sealed};
use crate::error::Result;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The file with the record.
const RECORD: &str = "contents.json";

/// Path below the folder, and digest, of each file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Contents {
    files: BTreeMap<String, String>,
}

/// Records the files of a folder and moves it into place, where one that is not whole goes.
///
/// # Errors
///
/// Cache errors.
pub fn publish(cache: &Cache, staged: Staging, target: &Path) -> Result<()> {
    let mut contents = Contents::default();
    add(&mut contents, staged.path(), staged.path())?;
    sealed::write_json(&staged.path().join(RECORD), &contents)?;
    cache.publish_unless(staged, target, is_whole)
}

fn add(contents: &mut Contents, root: &Path, folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(io("read", folder))? {
        let path = entry.map_err(io("read", folder))?.path();
        if path.is_dir() {
            add(contents, root, &path)?;
        } else if let Ok(name) = path.strip_prefix(root) {
            contents.files.insert(name.display().to_string(), digest_file(&path)?);
        }
    }
    Ok(())
}

/// Whether a folder has the files that it was published with.
pub fn is_whole(folder: &Path) -> bool {
    let contents: Option<Contents> = sealed::read_json(&folder.join(RECORD));
    let is = |(name, digest): (&String, &String)| digest_file(&folder.join(name)).is_ok_and(|now| now == *digest);
    contents.is_some_and(|contents| contents.files.iter().all(is))
}

/// Whether a folder has a record, and is not as that says. Earlier versions wrote none.
pub fn is_damaged(folder: &Path) -> bool {
    folder.join(RECORD).exists() && !is_whole(folder)
}

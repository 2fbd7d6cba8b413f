//! JSON files of the cache: written at once or not at all, and sealed with a digest of their own text.
//!
//! The seal is the first member, on a line of its own, so that the file stays JSON for every other reader. It tells a file
//! that a disk or a hand has changed from one that was written here.

use super::io;
use crate::error::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::path::Path;

/// What begins a sealed file; the digest's 64 digits, [`CLOSE`] and the other members follow.
const OPEN: &str = "{\n  \"seal\": \"";
const CLOSE: &str = "\",\n";

/// Writes a JSON object so that a reader sees the old content or the new, nothing between.
///
/// # Errors
///
/// [`crate::error::CacheError::Io`].
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let text = serde_json::to_string_pretty(value).map_err(|e| io("write", path)(e.into()))?;
    let file = tempfile::NamedTempFile::new_in(folder).map_err(io("create", folder))?;
    fs::write(file.path(), sealed(&text)).map_err(io("write", path))?;
    file.persist(path).map_err(|e| io("publish", path)(e.error))?;
    Ok(())
}

/// Reads a JSON file; `None` where it is absent, unreadable or not as it was written, which all mean "build again".
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let text = fs::read_to_string(path).ok()?;
    serde_json::from_str(&unsealed(&text)?).ok()
}

fn sealed(text: &str) -> String {
    let members = text.strip_prefix("{\n").unwrap_or(text);
    format!("{OPEN}{}{CLOSE}{members}", blake3::hash(members.as_bytes()).to_hex())
}

/// The object without its seal, if that is right.
fn unsealed(text: &str) -> Option<String> {
    let (digest, members) = text.strip_prefix(OPEN)?.split_once(CLOSE)?;
    (digest == blake3::hash(members.as_bytes()).to_hex().as_str()).then(|| format!("{{\n{members}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    type Numbers = BTreeMap<String, f64>;

    fn written() -> (tempfile::TempDir, std::path::PathBuf, Numbers) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        let value = Numbers::from([("a".to_owned(), 0.1), ("b".to_owned(), 1e300)]);
        write_json(&path, &value).unwrap();
        (folder, path, value)
    }

    #[test]
    fn what_was_written_is_read_and_is_json() {
        let (_folder, path, value) = written();
        assert_eq!(read_json::<Numbers>(&path), Some(value));
        let plain: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(plain["a"], 0.1);
    }

    #[test]
    fn no_changed_byte_is_overlooked() {
        let (_folder, path, _) = written();
        let good = fs::read(&path).unwrap();
        for place in 0..good.len() {
            let mut bad = good.clone();
            bad[place] ^= 1;
            fs::write(&path, &bad).unwrap();
            assert_eq!(read_json::<Numbers>(&path), None, "byte {place}");
            fs::write(&path, &good[..place]).unwrap();
            assert_eq!(read_json::<Numbers>(&path), None, "cut at {place}");
        }
    }
}

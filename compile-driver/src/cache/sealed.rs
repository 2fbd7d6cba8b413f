//! JSON files of the cache: written atomically, and sealed with a digest of their own text.
//!
//! The seal is the first member, on a line of its own, so that the file stays JSON for every other reader. It distinguishes a file
//! that a disk or a hand has changed from one that was written here.

use crate::cache::io;
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
    from_sealed(&fs::read(path).ok()?)
}

/// The content of a sealed file, from its bytes; `None` where they are not as they were written.
pub fn from_sealed<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_str(&unsealed(std::str::from_utf8(bytes).ok()?)?).ok()
}

/// The text of a JSON object, printed over several lines, with its seal.
pub fn sealed(text: &str) -> String {
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
    use core_ad::manifest::{ArtifactRecord, Manifest};
    use proptest::prelude::*;
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

    proptest! {
        #[test]
        fn arbitrary_bytes_are_not_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(from_sealed::<serde_json::Value>(&bytes).is_none());
        }

        #[test]
        fn arbitrary_text_under_a_right_seal_is_read_or_refused(text in r#"[\[\]{}",:0-9a-z\\. \n-]{0,200}"#) {
            let bytes = sealed(&text).into_bytes();
            let _ = from_sealed::<Manifest>(&bytes);
            let _ = from_sealed::<ArtifactRecord>(&bytes);
        }

        #[test]
        fn several_changes_at_once_are_seen(changes in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..9)) {
            let good = sealed("{\n  \"format\": 3,\n  \"name\": \"a\"\n}").into_bytes();
            let mut bad = good.clone();
            for (place, by) in changes {
                bad[place.index(good.len())] ^= by;
            }
            prop_assert_eq!(from_sealed::<serde_json::Value>(&bad).is_some(), bad == good);
        }
    }

    #[test]
    fn depth_and_lengths_that_no_file_has_are_refused() {
        for text in ["[".repeat(1 << 20), format!("{{\n\"prototype\": {}", "{\"a\":".repeat(100_000))] {
            assert!(from_sealed::<Manifest>(sealed(&text).as_bytes()).is_none());
        }
    }
}

//! A cache of tools' versions, so that finding them again starts no process.
//!
//! `identities.json` in the tool folder: file identity (path, size, modification time, inode) → answer. It is only a
//! shortcut: where it is missing, damaged or cannot be written, the tools are asked again. Nothing in a cache key comes
//! from a modification time; keys take [`Identity::digest`], the content's own.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::toolchain::error::ToolchainError;

/// The identity of a tool: its version as it reports it, and the SHA-256 of its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Identity {
    pub version: String,
    pub digest: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Stored {
    format: u32,
    answers: BTreeMap<String, Identity>,
}

const FORMAT: u32 = 1;
/// More entries than any machine has tools: old ones are then dropped all at once.
const MOST: usize = 200;

/// The cache, read once per search and written back when it has new answers.
#[derive(Debug)]
pub(super) struct VersionCache {
    file: PathBuf,
    stored: Stored,
    changed: bool,
}

impl VersionCache {
    /// Reads the cache of a tool folder.
    pub fn open(tools_dir: &Path) -> Self {
        let file = tools_dir.join("identities.json");
        let stored = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice::<Stored>(&bytes).ok());
        let stored = stored.filter(|s| s.format == FORMAT && s.answers.len() < MOST);
        Self { file, stored: stored.unwrap_or_default(), changed: false }
    }

    /// An empty cache that is written afterwards: for the doctor, which asks every tool again.
    pub fn fresh(tools_dir: &Path) -> Self {
        Self { file: tools_dir.join("identities.json"), stored: Stored::default(), changed: false }
    }

    /// The answer for `path`, from the cache or from `ask`.
    pub fn identity(
        &mut self,
        path: &Path,
        ask: impl FnOnce() -> Result<String, ToolchainError>,
    ) -> Result<Identity, ToolchainError> {
        let key = stamp(path).map_err(ToolchainError::io("read", path))?;
        if let Some(known) = self.stored.answers.get(&key) {
            return Ok(known.clone());
        }
        let identity = Identity { version: ask()?, digest: digest_of(path).map_err(ToolchainError::io("read", path))? };
        self.learn(key, identity.clone());
        Ok(identity)
    }

    /// An answer about several files together, under a name.
    pub fn fact(&mut self, name: &str, about: &[&Path], ask: impl FnOnce() -> String) -> String {
        let stamps = about.iter().map(|path| stamp(path).unwrap_or_else(|_| "-".to_owned()));
        let key = std::iter::once(name.to_owned()).chain(stamps).collect::<Vec<_>>().join("|");
        if let Some(known) = self.stored.answers.get(&key) {
            return known.version.clone();
        }
        let answer = ask();
        self.learn(key, Identity { version: answer.clone(), digest: String::new() });
        answer
    }

    fn learn(&mut self, key: String, identity: Identity) {
        // An interrupted tool has not answered.
        if crate::os::interrupt::requested() {
            return;
        }
        self.stored.answers.insert(key, identity);
        self.changed = true;
    }

    /// Writes back what was changed. Failing to (a read-only folder) only costs time at the next search.
    pub fn keep(mut self) {
        if !self.changed {
            return;
        }
        self.stored.format = FORMAT;
        let write = || -> io::Result<()> {
            let dir = self.file.parent().ok_or(io::ErrorKind::NotFound)?;
            fs::create_dir_all(dir)?;
            let mut file = tempfile::NamedTempFile::new_in(dir)?;
            serde_json::to_writer(&mut file, &self.stored)?;
            file.persist(&self.file)?;
            Ok(())
        };
        let _ = write();
    }
}

fn stamp(path: &Path) -> io::Result<String> {
    let meta = fs::metadata(path)?;
    let (size, seconds, nanos, inode) = (meta.size(), meta.mtime(), meta.mtime_nsec(), meta.ino());
    Ok(format!("{}|{size}|{seconds}.{nanos:09}|{inode}", path.display()))
}

/// The SHA-256 of a file, in hexadecimal.
pub(super) fn digest_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut chunk = vec![0; 1 << 18];
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            n => hash.update(&chunk[..n]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_asked_once_and_again_when_its_file_changes() {
        let dir = tempfile::tempdir().expect("a folder");
        let tool = dir.path().join("tool");
        fs::write(&tool, "one").expect("write");
        let ask = |answer: &str| {
            let mut versions = VersionCache::open(dir.path());
            let identity = versions.identity(&tool, || Ok(answer.to_owned())).expect("an answer");
            versions.keep();
            identity
        };
        assert_eq!(ask("1.0").version, "1.0");
        assert_eq!(ask("never asked").version, "1.0");
        fs::write(&tool, "another").expect("write");
        let changed = ask("2.0");
        assert_eq!(changed.version, "2.0");
        assert_eq!(changed.digest, digest_of(&tool).expect("digest"));
    }

    #[test]
    fn a_damaged_memory_is_forgotten() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("identities.json"), "{\"format\":").expect("write");
        assert!(VersionCache::open(dir.path()).stored.answers.is_empty());
    }

    #[test]
    fn the_digest_is_sha_256_in_hexadecimal() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("abc");
        fs::write(&file, "abc").expect("write");
        assert!(digest_of(&file).expect("digest").starts_with("ba7816bf8f01cfea"));
    }
}

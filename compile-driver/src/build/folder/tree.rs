//! What is in a folder of sources: its files by name and state, nothing of their content.

use crate::build::frontend::language::{Language, is_header};
use crate::error::{Error, Result};
use crate::options::{Spec, is_cuda};
use core_ad::diagnostics::Diagnosis;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Files, sources and others together: beyond that somebody has given a whole disk.
const MOST_FILES: usize = 100_000;

/// Levels of folders.
const DEEPEST: usize = 32;

/// The files of the folders that a user gave.
pub struct Tree {
    /// Sources in C, C++ and Fortran, each with the position of what the user gave: the first counts.
    pub sources: Vec<(PathBuf, usize)>,
    /// Files that sources may include, by name without folders.
    included: BTreeMap<String, Vec<PathBuf>>,
    /// Everything that is there, so that a file that comes or goes shows.
    pub state: blake3::Hasher,
}

impl Tree {
    /// Lists the folders among the sources of a specification. Files that were given are sources as they are.
    ///
    /// # Errors
    ///
    /// A compile error where a folder cannot be read, or is too large.
    pub fn of(spec: &Spec) -> Result<Self> {
        let mut tree = Tree { sources: Vec::new(), included: BTreeMap::new(), state: blake3::Hasher::new() };
        let mut known = BTreeSet::new();
        for (given, path) in spec.sources.iter().enumerate() {
            let path = std::path::absolute(path).map_err(crate::cache::io("find", path))?;
            let mut walk = Walk { spec, tree: &mut tree, known: &mut known, given, count: 0 };
            match path.is_dir() {
                true => walk.folder(&path, 0)?,
                false => walk.file(&path),
            }
        }
        Ok(tree)
    }

    /// Whether any source is Fortran.
    pub fn has_fortran(&self, function: &str) -> bool {
        self.sources.iter().any(|(path, _)| matches!(Language::of(path, function), Ok(Language::Fortran)))
    }

    /// Every file in C or C++, headers too.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let is_text = |path: &&PathBuf| {
            let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
            ["h", "hpp", "hh", "inc", "def", "c", "cpp", "cc", "cxx"].contains(&extension)
        };
        self.included.values().flatten().filter(is_text).map(PathBuf::as_path)
    }

    /// The nearest files of the tree that an `#include` or `include` in `file` may mean, one of each content: of several nothing says which.
    pub fn included_as(&self, name: &str, file: &Path) -> Vec<&PathBuf> {
        let own = Path::new(name).file_name().and_then(|own| own.to_str()).unwrap_or_default();
        let near = |path: &PathBuf| (common(path, file), std::cmp::Reverse(path.components().count()));
        let fits: Vec<&PathBuf> =
            self.included.get(own).into_iter().flatten().filter(|path| path.ends_with(name)).collect();
        let best = fits.iter().map(|path| near(path)).max();
        let mut nearest: Vec<&PathBuf> = fits.into_iter().filter(|path| Some(near(path)) == best).collect();
        if nearest.len() > 1 {
            let mut contents = BTreeSet::new();
            nearest.retain(|path| contents.insert(fs::read(path).unwrap_or_default()));
        }
        nearest
    }
}

/// How many folders two files have in common.
pub fn common(one: &Path, other: &Path) -> usize {
    one.components().zip(other.components()).take_while(|(a, b)| a == b).count()
}

struct Walk<'a> {
    spec: &'a Spec,
    tree: &'a mut Tree,
    /// Folders and files by device and number: a link into the tree is no second file.
    known: &'a mut BTreeSet<(u64, u64)>,
    given: usize,
    count: usize,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, depth: usize) -> Result<()> {
        let Ok(own) = fs::metadata(folder) else { return Ok(()) };
        if depth > DEEPEST || !self.known.insert((own.dev(), own.ino())) {
            return Ok(());
        }
        let listed = match fs::read_dir(folder) {
            Ok(listed) => listed,
            Err(error) if depth == 0 => return Err(unreadable(self.spec, folder, &error)),
            // A folder below that cannot be read has no sources for anybody.
            Err(_) => return Ok(()),
        };
        let mut paths: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let is_hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
            if is_hidden {
                continue;
            }
            self.count += 1;
            if self.count > MOST_FILES {
                return Err(too_large(self.spec, folder));
            }
            match path.is_dir() {
                true => self.folder(&path, depth + 1)?,
                false => self.file(&path),
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) {
        let Ok(own) = fs::metadata(path) else { return };
        let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|name| !name.contains('\n')) else {
            return;
        };
        if !own.is_file() {
            return;
        }
        note(&mut self.tree.state, path, &own);
        self.tree.included.entry(name.to_owned()).or_default().push(path.to_owned());
        let is_source = Language::of(path, "").is_ok() && !is_header(path) && !is_cuda(path);
        if is_source && self.known.insert((own.dev(), own.ino())) {
            self.tree.sources.push((path.to_owned(), self.given));
        }
    }
}

/// What tells a file from what it was: the clock of its last change too, which no program can set back.
fn note(state: &mut blake3::Hasher, path: &Path, own: &Metadata) {
    state.update(path.as_os_str().as_encoded_bytes()).update(&[0]);
    for number in [own.dev(), own.ino(), own.size()] {
        state.update(&number.to_le_bytes());
    }
    for number in [own.mtime(), own.mtime_nsec(), own.ctime(), own.ctime_nsec()] {
        state.update(&number.to_le_bytes());
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    if own.ctime().saturating_add(SETTLED) >= i64::try_from(now).unwrap_or(i64::MAX) {
        // Another change in the same tick of the system's clock would not show.
        state.update(
            fs::read(path).map(|content| blake3::hash(&content)).unwrap_or_else(|_| blake3::hash(&[])).as_bytes(),
        );
    }
}

/// Seconds after which the clocks of file systems have ticked.
const SETTLED: i64 = 3;

fn unreadable(spec: &Spec, folder: &Path, error: &std::io::Error) -> Error {
    let headline = format!("the folder `{}` cannot be read: {error}", folder.display());
    Error::compile(Diagnosis::new("unreadable-source", &spec.function, headline).advise("Check its permissions."))
}

fn too_large(spec: &Spec, folder: &Path) -> Error {
    let headline =
        format!("the folder of sources has more than {MOST_FILES} files; reading stopped in `{}`", folder.display());
    let diagnosis = Diagnosis::new("large-folder", &spec.function, headline);
    Error::compile(diagnosis.advise("Give the folder below it that has the sources, or the files themselves."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(folder: &Path) -> Spec {
        Spec { sources: vec![folder.to_owned()], function: "f".into(), signature: None, options: Default::default() }
    }

    #[test]
    fn sources_are_listed_once_and_every_change_shows() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("src/.hidden")).expect("a folder");
        for name in ["src/a.c", "src/b.F90", "src/notes.txt", "src/.hidden/c.c", "a.h"] {
            fs::write(at(name), "x").expect("a file");
        }
        std::os::unix::fs::symlink(at("src"), at("src/round")).expect("a link");
        let tree = Tree::of(&spec(folder.path())).expect("reads");
        let names: Vec<_> = tree.sources.iter().map(|(path, _)| path.clone()).collect();
        assert_eq!(names, [at("src/a.c"), at("src/b.F90")]);
        assert!(tree.has_fortran("f"));
        assert_eq!(tree.included_as("a.h", &at("src/a.c")), [&at("a.h")]);
        let before = tree.state.finalize();
        assert_eq!(Tree::of(&spec(folder.path())).expect("reads").state.finalize(), before);
        fs::write(at("src/new.h"), "").expect("a file");
        assert_ne!(Tree::of(&spec(folder.path())).expect("reads").state.finalize(), before);
    }
}

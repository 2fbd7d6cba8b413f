//! Records of requests: which files an earlier build of the same request read, and the key that they gave.

use crate::cache::Cache;
use crate::cache::files;
use crate::cache::sealed::{read_json, write_json};
use crate::error::Result;
use core_ad::manifest::{Source, ToolRecord};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// What earlier builds of one request found.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// Newest first.
    pub found: Vec<Found>,
}

/// One outcome of a request.
#[derive(Debug, Serialize, Deserialize)]
pub struct Found {
    /// Files read, with their digests at the time.
    pub sources: Vec<Source>,
    /// Places that were searched before a header or a library was found elsewhere: a file there would be read instead.
    pub absent: Vec<Vacancy>,
    /// The tools used.
    pub tools: Vec<ToolRecord>,
    /// The entry.
    pub key: String,
}

/// A folder in which some names are not.
#[derive(Debug, Serialize, Deserialize, PartialEq)]
pub struct Vacancy {
    folder: PathBuf,
    names: Vec<PathBuf>,
    /// Of the folder: as long as it is the same, nothing was added to it, and no name is looked for. None of a folder that was changed
    /// just before, because another change in the same tick of the system's clock would not show.
    stamp: Option<Stamp>,
}

/// Device, number and time of the last change of a folder's entries, which no program can set back.
#[derive(Debug, Serialize, Deserialize, PartialEq)]
struct Stamp(u64, u64, i64, i64);

impl Stamp {
    fn of(folder: &Path) -> Option<Self> {
        let data = std::fs::metadata(folder).ok()?;
        Some(Stamp(data.dev(), data.ino(), data.ctime(), data.ctime_nsec()))
    }

    /// Whether a change from now on would give another one.
    fn is_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        i64::try_from(now).is_ok_and(|now| self.2 + SETTLED < now)
    }
}

/// Seconds after which the clocks of file systems have ticked.
const SETTLED: i64 = 3;

impl Vacancy {
    /// Places where nothing is, by folder.
    pub fn all(places: impl IntoIterator<Item = PathBuf>) -> Vec<Self> {
        let mut by_folder: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
        for place in places {
            if let (Some(folder), Some(name)) = (place.parent(), place.file_name()) {
                by_folder.entry(folder.to_owned()).or_default().push(PathBuf::from(name));
            }
        }
        let stamped = |(folder, names): (PathBuf, Vec<PathBuf>)| {
            // Before the names are looked at once more: what appears later gives another stamp. A link to nothing does not, when
            // there is something.
            let stamp = Stamp::of(&folder).filter(Stamp::is_settled);
            let stamp = stamp.filter(|_| names.iter().all(|name| folder.join(name).symlink_metadata().is_err()));
            Vacancy { folder, names, stamp }
        };
        by_folder.into_iter().map(stamped).collect()
    }

    /// Whether none of the names is there.
    fn holds(&self) -> bool {
        let is_same = self.stamp.is_some() && Stamp::of(&self.folder) == self.stamp;
        is_same || self.names.iter().all(|name| !self.folder.join(name).exists())
    }
}

/// Outcomes kept per request: a header edited back and forth finds its old build again.
const KEPT: usize = 8;

impl Record {
    /// The key that still holds, if there is one: every file is as it was, and the tools are the same or
    /// no longer there. Without them nothing can be compiled again, so their headers and the system's do not count then.
    pub fn current(cache: &Cache, request: &str, tools: Option<&[ToolRecord]>) -> Option<String> {
        let record: Record = read_json(&cache.request(request))?;
        let same_tools = |f: &&Found| tools.is_none_or(|t| t == f.tools.as_slice());
        let counts = |path: &Path| tools.is_some() || !is_of_a_compiler(path);
        let same = |source: &Source| {
            let is_library = source.digest.starts_with(files::BY_NAME);
            !(is_library || counts(Path::new(&source.path))) || files::unchanged(source)
        };
        let vacant = |vacancy: &Vacancy| !counts(&vacancy.folder) || vacancy.holds();
        let holds = |f: &&Found| f.sources.iter().all(same) && f.absent.iter().all(vacant);
        record.found.iter().filter(same_tools).find(holds).map(|f| f.key.clone())
    }

    /// Adds an outcome.
    ///
    /// # Errors
    ///
    /// Where the cache cannot be written.
    pub fn add(cache: &Cache, request: &str, found: Found) -> Result<()> {
        let path = cache.request(request);
        let mut record: Record = read_json(&path).unwrap_or_default();
        record.found.retain(|f| f.key != found.key);
        record.found.insert(0, found);
        record.found.truncate(KEPT);
        write_json(&path, &record)
    }
}

/// Whether a file is a header of clang, of what ffgrad installed, or of the system.
fn is_of_a_compiler(path: &Path) -> bool {
    const PLACES: [&[&str]; 2] = [&["lib", "clang"], &["ffgrad", "tools"]];
    let names: Vec<_> = path.components().map(Component::as_os_str).collect();
    let is_below = |place: &[&str]| names.windows(place.len()).any(|w| w == place);
    ["/usr/include", "/usr/lib"].iter().any(|system| path.starts_with(system)) || PLACES.iter().any(|p| is_below(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_appears_ends_a_vacancy_with_and_without_a_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let places = ["a.h", "b.h"].map(|name| folder.path().join(name));
        let mut all = Vacancy::all(places.clone());
        // The folder is new: it could change again in the same tick.
        assert!(all.len() == 1 && all[0].stamp.is_none() && all[0].holds());
        all[0].stamp = Stamp::of(folder.path());
        assert!(all[0].holds());
        std::thread::sleep(std::time::Duration::from_millis(20));
        std::fs::write(folder.path().join("other.h"), "").unwrap();
        assert!(all[0].holds() && Stamp::of(folder.path()) != all[0].stamp);
        std::fs::write(&places[1], "").unwrap();
        assert!(!all[0].holds());
        all[0].stamp = None;
        assert!(!all[0].holds());
        let gone = Vacancy { folder: folder.path().join("none"), names: vec!["a.h".into()], stamp: None };
        assert!(gone.holds());
    }

    #[test]
    fn only_a_folder_that_is_old_enough_is_told_by_its_stamp() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let of = |age: i64| Stamp(1, 1, i64::try_from(now).unwrap() - age, 0).is_settled();
        assert!(of(60) && !of(0) && !of(-60));
    }

    #[test]
    fn without_tools_headers_of_compilers_do_not_count_and_those_of_users_do() {
        let of = |path: &str| is_of_a_compiler(Path::new(path));
        assert!(of("/opt/llvm/lib/clang/22/include/stddef.h") && of("/usr/include/math.h"));
        assert!(of("/home/u/.local/share/ffgrad/tools/llvm-22.1.8/bin") && of("/usr/lib/gcc/x/12/include/c.h"));
        assert!(!of("/home/u/model/lib/step.h") && !of("/usr/local/include/own.h") && !of("/"));

        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open_at(&folder.path().join("cache")).unwrap();
        let own = folder.path().join("own.c");
        std::fs::write(&own, "1").unwrap();
        let source = |path: &Path, digest: &str| Source { path: path.display().to_string(), digest: digest.into() };
        let clangs = folder.path().join("lib/clang/22/include/stddef.h");
        let sources = vec![source(&own, &crate::cache::digest_file(&own).unwrap()), source(&clangs, "00")];
        let found = Found { sources, absent: Vec::new(), tools: Vec::new(), key: "k".into() };
        Record::add(&cache, "r", found).unwrap();
        assert_eq!(Record::current(&cache, "r", None).as_deref(), Some("k"));
        assert_eq!(Record::current(&cache, "r", Some(&[])), None);
        std::fs::write(&own, "2").unwrap();
        assert_eq!(Record::current(&cache, "r", None), None);
    }
}

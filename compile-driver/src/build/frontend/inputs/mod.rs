//! What a compilation depends on beside the headers that the compiler lists: files of options, and the places where it looked for a
//! file in vain. With these a record in the cache holds exactly as long as the same text would be compiled in the same way.
//!
//! Names come from the directives of every file read ([`directives`]), folders from the compiler itself ([`search_list`]), files of
//! options from the flags ([`named`]). Where a macro makes a name the answer is not known without preprocessing; such a function is
//! compiled anew whenever it is opened, and its derivatives are found by what was read then.

mod directives;
mod named;
mod search_list;

use crate::options::Spec;
use directives::{Directives, Kind, Lookup};
use named::Named;
pub use search_list::SearchList;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};

/// Variables of the environment by which compilers change what they compile or link, beside folders for headers and libraries.
pub const VARIABLES: [&str; 8] = [
    "CCC_OVERRIDE_OPTIONS",
    "FCC_OVERRIDE_OPTIONS",
    "CLANG_NO_DEFAULT_CONFIG",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "SDKROOT",
    "MACOSX_DEPLOYMENT_TARGET",
    "LD_RUN_PATH",
];

/// What a compilation depends on beside what the compiler listed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Inputs {
    /// Further files, by content.
    pub files: BTreeSet<PathBuf>,
    /// Places where a file would change the compilation.
    pub absent: BTreeSet<PathBuf>,
    /// Whether there may be more than these.
    pub open_ended: bool,
    /// Whether the code has the time of compiling in it.
    pub clock: bool,
}

impl Inputs {
    /// Of one source that clang compiled; `read` are the files that it listed.
    pub fn of_clang(spec: &Spec, list: &SearchList, read: &[PathBuf]) -> Self {
        let mut inputs = Inputs::default();
        let named = inputs.of_flags(spec, list, &["clang", "clang++"]);
        let mut search = Search { list, embed: &named.embed_folders, known: HashMap::new(), absent: BTreeSet::new() };
        let here = std::env::current_dir().unwrap_or_default();
        for name in named.included_first {
            search.look(&Lookup { name, kind: Kind::Quoted, next: false, optional: false }, &here);
        }
        let texts: Vec<(&Path, String)> = read.iter().map(|path| (path.as_path(), text(path))).collect();
        let wrappers = wrappers(&texts);
        for (path, text) in &texts {
            let found = Directives::of(text, &wrappers);
            let folder = path.parent().unwrap_or(path);
            for lookup in &found.lookups {
                search.look(lookup, folder);
            }
            if found.computed_include {
                search.look_for_all(read, folder);
            }
            inputs.open_ended |= found.computed_query;
            inputs.assembled(&found.assembled);
        }
        inputs.absent.extend(search.absent.iter().chain(&list.missing).map(|place| first_missing(place)));
        inputs.settle();
        inputs
    }

    /// Of the Fortran sources together: `folders` are searched for included files and modules by the names of each file.
    pub fn of_flang(spec: &Spec, printed: &str, read: &[PathBuf], places: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut inputs = Inputs::default();
        inputs.of_flags(spec, &SearchList::of_driver(printed), &["flang"]);
        inputs.absent.extend(places.into_iter().map(|place| first_missing(&place)));
        inputs.settle();
        // flang takes no date from outside.
        inputs.clock = read.iter().any(|path| Directives::of(&text(path), &[]).clock);
        inputs
    }

    fn of_flags(&mut self, spec: &Spec, list: &SearchList, programs: &[&str]) -> Named {
        let mut named = Named::default();
        let here = std::env::current_dir().unwrap_or_default();
        named.read(spec.options.flags.iter().map(String::as_str), &here);
        let overridden = overriding_words();
        named.read(overridden.iter().map(String::as_str), &here);
        let by_name = spec.options.flags.iter().chain(&overridden).filter_map(|flag| flag.strip_prefix("--config="));
        let by_name: Vec<PathBuf> =
            by_name.flat_map(|name| list.configuration_folders.iter().map(move |folder| folder.join(name))).collect();
        for file in &list.configurations {
            named.configuration(file);
        }
        let places = list.default_configurations(programs).into_iter().chain(by_name);
        self.absent.extend(places.map(|place| first_missing(&place)));
        self.files.extend(named.files.iter().cloned());
        self.open_ended |= named.open_ended;
        named
    }

    /// Leaves of the places those where nothing is, by their shortest paths: they are looked at whenever the function is opened.
    fn settle(&mut self) {
        let mut folders: HashMap<PathBuf, PathBuf> = HashMap::new();
        let mut short = |place: PathBuf| match (place.parent(), place.file_name()) {
            (Some(folder), Some(name)) => {
                folders.entry(folder.to_owned()).or_insert_with(|| without_detours(folder)).join(name)
            }
            _ => place,
        };
        let places = std::mem::take(&mut self.absent);
        // What is there already was rejected for a reason of the compiler's own.
        self.absent = places.into_iter().filter(|place| !place.exists()).map(&mut short).collect();
    }

    /// Files that the assembler takes into the code, as seen from where it runs.
    fn assembled(&mut self, names: &[String]) {
        for name in names {
            let path = Path::new(name);
            // Another working folder, or a name made by a macro, is another file.
            self.open_ended |= !path.is_absolute() || !path.is_file();
            self.files.extend(std::path::absolute(path).ok().filter(|path| path.is_file()));
        }
    }

    /// Adds those of another source.
    pub fn extend(&mut self, other: Inputs) {
        self.files.extend(other.files);
        self.absent.extend(other.absent);
        self.open_ended |= other.open_ended;
        self.clock |= other.clock;
    }
}

/// Names of files that a text includes, and whether they are looked for beside it.
pub fn included(text: &str) -> Vec<(String, bool)> {
    let lookups = Directives::of(text, &[]).lookups.into_iter();
    lookups.map(|lookup| (lookup.name, lookup.kind != Kind::Angled)).collect()
}

/// The flags in the variables that override flags, without the signs for what becomes of them.
fn overriding_words() -> Vec<String> {
    let values = ["CCC_OVERRIDE_OPTIONS", "FCC_OVERRIDE_OPTIONS"].iter().filter_map(|name| std::env::var(name).ok());
    let words = |value: String| {
        value.split_whitespace().map(|w| w.trim_start_matches(['#', '+', '^']).to_owned()).collect::<Vec<_>>()
    };
    values.flat_map(words).collect()
}

/// Macros that hand their argument to `__has_include`, or to another such macro.
fn wrappers(texts: &[(&Path, String)]) -> Vec<String> {
    let asking: Vec<&String> = texts.iter().map(|(_, text)| text).filter(|t| t.contains("__has_include")).collect();
    let mut known: Vec<String> = Vec::new();
    loop {
        let more: Vec<String> = match known.is_empty() {
            true => asking.iter().flat_map(|text| Directives::of(text, &known).wrappers).collect(),
            false => texts
                .iter()
                .filter(|(_, text)| known.iter().any(|w| text.contains(w)))
                .flat_map(|(_, text)| Directives::of(text, &known).wrappers)
                .collect(),
        };
        let before = known.len();
        known.extend(more);
        known.sort();
        known.dedup();
        if known.len() == before {
            return known;
        }
    }
}

fn text(path: &Path) -> String {
    std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// The topmost folder of a place that does not exist, or the place: one look tells of all below it.
fn first_missing(place: &Path) -> PathBuf {
    let mut missing = place;
    while let Some(folder) = missing.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
        missing = folder;
    }
    missing.to_owned()
}

/// A folder without `..`, where no link is on the way.
fn without_detours(folder: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for component in folder.components() {
        match component {
            Component::ParentDir => drop(short.pop()),
            other => short.push(other),
        }
    }
    match folder.canonicalize() {
        Ok(real) if real == short => short,
        _ => folder.to_owned(),
    }
}

/// Looks for names as clang does, and notes where they are not.
struct Search<'a> {
    list: &'a SearchList,
    embed: &'a [PathBuf],
    /// Whether there is a file: the same places are asked for by many files.
    known: HashMap<PathBuf, bool>,
    absent: BTreeSet<PathBuf>,
}

impl Search<'_> {
    fn look(&mut self, lookup: &Lookup, folder: &Path) {
        let list = self.list;
        let own = (lookup.kind != Kind::Angled).then(|| folder.to_owned());
        let quoted = (lookup.kind == Kind::Quoted).then_some(&list.quoted).into_iter().flatten();
        let angled = if lookup.kind == Kind::Embedded { self.embed } else { &list.angled };
        let mut folders: Vec<PathBuf> = own.into_iter().chain(quoted.chain(angled).cloned()).collect();
        if lookup.next {
            // The file may have been found by any spelling of its folder, so only where it surely was is skipped.
            let depth = |f: &PathBuf| folder.starts_with(f).then(|| f.components().count());
            let own = (0..folders.len()).filter(|i| depth(&folders[*i]).is_some()).max_by_key(|i| depth(&folders[*i]));
            folders.drain(..own.map_or(0, |at| at + 1));
        }
        let places: Vec<PathBuf> = folders.iter().map(|f| f.join(&lookup.name)).collect();
        let found = places.iter().position(|place| self.is_file(place));
        match found {
            Some(at) => self.absent.extend(places.into_iter().take(at)),
            None if lookup.optional => self.absent.extend(places),
            // Not reached by the compiler, or it would have been refused.
            None => {}
        }
    }

    /// Of a file whose includes a macro names: each file that was read may be meant.
    fn look_for_all(&mut self, read: &[PathBuf], folder: &Path) {
        let names: BTreeSet<PathBuf> = read
            .iter()
            .flat_map(|file| {
                let folders = self.list.quoted.iter().chain(&self.list.angled).map(PathBuf::as_path).chain([folder]);
                folders.filter_map(|f| file.strip_prefix(f).ok()).map(Path::to_owned).collect::<Vec<_>>()
            })
            .collect();
        for name in names {
            let name = name.to_string_lossy().into_owned();
            self.look(&Lookup { name, kind: Kind::Quoted, next: false, optional: false }, folder);
        }
    }

    fn is_file(&mut self, place: &Path) -> bool {
        if let Some(known) = self.known.get(place) {
            return *known;
        }
        let there = place.is_file();
        self.known.insert(place.to_owned(), there);
        there
    }
}

#[cfg(test)]
mod tests;

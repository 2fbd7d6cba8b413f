//! Which files of a folder may define a symbol, by their text: the compiler has the last word.

use crate::build::folder::tree::Tree;
use crate::build::frontend::inputs;
use crate::build::frontend::language::Language;
use crate::error::Error;
use core_ad::definitions;
use core_ad::diagnostics::Diagnosis;
use core_ad::fortran::{Scan, scan};
use core_ad::names;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// What the text of a source says.
struct Read {
    names: Vec<String>,
    scan: Option<Scan>,
}

/// Files by what they may define.
pub struct Index {
    /// By C names and C++ names without their scopes, and by symbols of external Fortran procedures.
    by_name: HashMap<String, Vec<usize>>,
    /// By Fortran module, with submodules.
    by_module: HashMap<String, Vec<usize>>,
    /// C files by their own names.
    by_file_name: HashMap<String, Vec<usize>>,
    /// By COMMON block, where a `block data` gives it values.
    by_block: HashMap<String, Vec<usize>>,
    scans: Vec<Option<Scan>>,
    files: Vec<PathBuf>,
}

impl Index {
    /// Reads every source of a tree, on several threads.
    pub fn of(tree: &Tree) -> Self {
        let files: Vec<PathBuf> = tree.sources.iter().map(|(path, _)| path.clone()).collect();
        let mut read: Vec<Option<Read>> = files.iter().map(|_| None).collect();
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
        let share = files.len().div_ceil(threads).max(1);
        std::thread::scope(|scope| {
            for (paths, places) in files.chunks(share).zip(read.chunks_mut(share)) {
                scope.spawn(move || {
                    for (path, place) in paths.iter().zip(places) {
                        *place = Some(read_file(tree, path));
                    }
                });
            }
        });
        let mut index = Index {
            by_name: HashMap::new(),
            by_module: HashMap::new(),
            by_file_name: HashMap::new(),
            by_block: HashMap::new(),
            scans: Vec::new(),
            files,
        };
        let renames = renames(tree);
        for (at, read) in read.into_iter().enumerate() {
            let mut read = read.unwrap_or(Read { names: Vec::new(), scan: None });
            let others: Vec<String> =
                read.names.iter().filter_map(|name| renames.get(name)).flatten().cloned().collect();
            read.names.extend(others);
            index.add(at, read);
        }
        index.add_file_names();
        index
    }

    /// A macro may make a function's name (`int PREFIX(lmder1)(..)`): each is looked for in the file that is named after it, too.
    fn add_file_names(&mut self) {
        for (at, file) in self.files.iter().enumerate().filter(|(at, _)| self.scans[*at].is_none()) {
            if let Some(name) = file.file_stem().and_then(|stem| stem.to_str()) {
                self.by_file_name.entry(name.to_owned()).or_default().push(at);
            }
        }
    }

    fn add(&mut self, at: usize, read: Read) {
        let add = |map: &mut HashMap<String, Vec<usize>>, name: String| {
            let known = map.entry(name).or_default();
            if known.last() != Some(&at) {
                known.push(at);
            }
        };
        read.names.into_iter().for_each(|name| add(&mut self.by_name, name));
        if let Some(scan) = &read.scan {
            for name in &scan.procedures {
                // By `bind(c)` a procedure has its own name.
                add(&mut self.by_name, format!("{}_", name.to_lowercase()));
                add(&mut self.by_name, name.clone());
            }
            scan.modules.iter().for_each(|name| add(&mut self.by_module, name.clone()));
            scan.submodule_of.iter().for_each(|name| add(&mut self.by_module, name.clone()));
            for name in scan.commons.iter().filter(|_| scan.block_data) {
                add(&mut self.by_block, format!("{name}_"));
            }
        }
        self.scans.push(read.scan);
    }

    /// Files that may define a symbol.
    pub fn of_symbol(&self, symbol: &str) -> Vec<&Path> {
        let in_module = fortran_module(symbol).and_then(|module| self.by_module.get(&module));
        let by_name = || match symbol.starts_with("_Z") {
            true => self.by_name.get(&last_name(&names::demangle(symbol))),
            false => self.by_name.get(symbol),
        };
        let found = in_module.or_else(by_name).into_iter().chain(self.by_block.get(symbol)).flatten();
        let mut all: Vec<usize> = found.chain(self.by_file_name.get(symbol).into_iter().flatten()).copied().collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(|i| self.file(i)).collect()
    }

    /// Files that may define what a user calls so.
    pub fn of_name(&self, name: &str) -> Vec<&Path> {
        let plain = name.split(['(', '<']).next().unwrap_or(name);
        if let Some((module, _)) = plain.split_once("::")
            && let Some(files) = self.by_module.get(&module.to_lowercase())
        {
            return files.iter().map(|&i| self.file(i)).collect();
        }
        let own = last_name(plain);
        let forms = [own.clone(), format!("{}_", own.to_lowercase()), own.to_lowercase()];
        let mut found: Vec<usize> = forms.iter().filter_map(|form| self.by_name.get(form)).flatten().copied().collect();
        found.extend(fortran_module(name).and_then(|module| self.by_module.get(&module)).into_iter().flatten());
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|i| self.file(i)).collect()
    }

    /// Files that define a Fortran module; submodules do not count.
    pub fn of_module(&self, module: &str) -> Vec<&Path> {
        let all = self.by_module.get(module).into_iter().flatten();
        let defines =
            |i: &&usize| self.scans[**i].as_ref().is_some_and(|scan| scan.modules.iter().any(|m| m == module));
        all.filter(defines).map(|&i| self.file(i)).collect()
    }

    /// What a Fortran source mentions.
    pub fn scan(&self, file: &Path) -> Option<&Scan> {
        let at = self.files.iter().position(|path| path == file)?;
        self.scans[at].as_ref()
    }

    /// Names that are close to one that is nowhere.
    pub fn closest(&self, name: &str) -> Vec<String> {
        let plain = name.rsplit("::").next().unwrap_or(name).to_lowercase();
        let known: BTreeMap<&str, ()> = self.by_name.keys().map(|k| (k.trim_end_matches('_'), ())).collect();
        names::closest(&plain, known.into_keys())
    }

    fn file(&self, at: usize) -> &Path {
        &self.files[at]
    }
}

fn read_file(tree: &Tree, path: &Path) -> Read {
    let text = fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    match Language::of(path, "") {
        Ok(Language::Fortran) => {
            let mut own = scan(&text);
            if own.block_data {
                // The blocks are often declared in a file that every user of them includes.
                let included = own.includes.iter().flat_map(|name| tree.included_as(name, path));
                let texts = included.filter_map(|path| fs::read(path).ok());
                own.commons.extend(texts.flat_map(|text| scan(&String::from_utf8_lossy(&text)).commons));
            }
            Read { names: Vec::new(), scan: Some(own) }
        }
        _ => Read { names: definitions::of_c(&text).into_iter().collect(), scan: None },
    }
}

/// Names that macros make others: `#define rho gsw_rho`.
fn renames(tree: &Tree) -> HashMap<String, Vec<String>> {
    let mut found: HashMap<String, Vec<String>> = HashMap::new();
    let is_name = |word: &&str| word.starts_with(|c: char| c.is_alphabetic() || c == '_') && !word.contains(['(', ')']);
    for path in tree.files() {
        let text = fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        for line in text.lines().map(str::trim_start).filter(|line| line.starts_with('#')) {
            let mut words = line[1..].split_whitespace();
            let (Some("define"), Some(name), Some(other)) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            if is_name(&name) && is_name(&other) && words.next().is_none_or(|next| next.starts_with('/')) {
                found.entry(name.to_owned()).or_default().push(other.to_owned());
            }
        }
    }
    found
}

/// The module in a symbol of flang's: `_QMgridPstep`, `_QMgridEspacing`, `_QMgridSfineFhostPinner`.
fn fortran_module(symbol: &str) -> Option<String> {
    let rest = symbol.strip_prefix("_QM")?;
    let name: String = rest.chars().take_while(|c| !c.is_ascii_uppercase()).collect();
    (!name.is_empty()).then_some(name)
}

/// `f` of `a::f(double)`, of `vtable for a::f`, of `f<double>` and of `f[abi:cxx11](int)`.
fn last_name(name: &str) -> String {
    let plain = name.split(['(', '<', '[']).next().unwrap_or(name);
    plain.rsplit([':', ' ', '~']).next().unwrap_or(plain).to_owned()
}

/// Where files are that a source includes and no folder of the compiler's has.
#[derive(Default)]
pub struct Further {
    /// Folders of the tree.
    pub folders: Vec<PathBuf>,
    /// Names that mean several files of the tree, which differ: none of them is taken.
    unclear: Vec<(String, Vec<PathBuf>)>,
}

impl Further {
    /// The error of a compiler that did not find a file, where several have its name.
    pub fn explain(&self, function: &str, error: Error) -> Error {
        let Error::Compile(said) = &error else { return error };
        let Some((name, files)) = self.unclear.iter().find(|(name, _)| said.headline.contains(name.as_str())) else {
            return error;
        };
        let listed: Vec<String> = files.iter().map(|file| format!("`{}`", file.display())).collect();
        let headline = format!("`{name}` is {} files of the folder, which differ: {}", files.len(), listed.join(", "));
        let mut diagnosis = Diagnosis::new("included-twice", function, headline)
            .advise("Say which counts: include_dirs=[\"ITS FOLDER\"],")
            .advise("or give the folder below that has only one of them.");
        diagnosis.location.clone_from(&said.location);
        Error::compile(diagnosis)
    }
}

impl Further {
    /// The file of the tree, whose folder is added; nothing where there is none, or several.
    fn in_tree(&mut self, tree: &Tree, name: &str, file: &Path) -> Option<PathBuf> {
        match tree.included_as(name, file)[..] {
            [] => None,
            [path] => {
                let levels = Path::new(name).components().count();
                self.folders.extend(path.ancestors().nth(levels).map(Path::to_owned));
                Some(path.clone())
            }
            ref several => {
                self.unclear.push((name.to_owned(), several.iter().map(|path| (*path).clone()).collect()));
                None
            }
        }
    }
}

/// Looks in the tree for the files that a source includes.
pub fn further_folders(tree: &Tree, searched: &[PathBuf], file: &Path, is_fortran: bool) -> Further {
    let mut further = Further::default();
    let (mut open, mut seen) = (vec![file.to_owned()], vec![file.to_owned()]);
    while let Some(path) = open.pop() {
        let text = fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        let named: Vec<(String, bool)> = match is_fortran {
            true => scan(&text).includes.into_iter().map(|name| (name, true)).collect(),
            false => inputs::included(&text),
        };
        for (name, looks_beside) in named {
            let beside = path.parent().map(|folder| folder.join(&name)).filter(|_| looks_beside);
            let folders = searched.iter().chain(&further.folders);
            let places = beside.into_iter().chain(folders.map(|folder| folder.join(&name)));
            let found = places.into_iter().find(|place| place.is_file());
            if let Some(found) = found.or_else(|| further.in_tree(tree, &name, file))
                && !seen.contains(&found)
            {
                seen.push(found.clone());
                open.push(found);
            }
        }
    }
    further.folders.dedup();
    further
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_and_scopes_are_read_from_symbols() {
        assert_eq!(fortran_module("_QMgrid_2Sfine_oneFhostPinner").as_deref(), Some("grid_2"));
        assert_eq!(fortran_module("_QMgridEspacing").as_deref(), Some("grid"));
        assert_eq!(fortran_module("grid_"), None);
        assert_eq!(last_name("a::b::f(double, int)"), "f");
        assert_eq!(last_name("vtable for a::Solver"), "Solver");
        assert_eq!(last_name("a::label[abi:cxx11](int)"), "label");
    }
}

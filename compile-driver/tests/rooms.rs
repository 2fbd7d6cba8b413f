//! The layout of the crates: imports between folders have no circle, circles of files stay small, files stay short.
//!
//! Reads the `use` lines and `crate::` paths of the sources, as text, and builds the graph of files from them. Tests inside
//! the sources do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Lines of the longest file.
const LONGEST: usize = 500;

/// Files of the largest import circle inside one folder.
const LARGEST_CIRCLE: usize = 10;

/// The modules of a crate, by path (`["build", "key"]`), and what each imports.
struct Crate {
    files: BTreeMap<Vec<String>, PathBuf>,
    imports: BTreeMap<Vec<String>, BTreeSet<Vec<String>>>,
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

fn is_test_file(path: &Path) -> bool {
    path.file_stem().is_some_and(|s| s == "tests" || s.to_string_lossy().ends_with("_tests"))
}

/// The source without comments, up to its own tests.
fn code_of(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..end].lines().map(|l| l.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The names that a `use` tree brings in: `a::{b, c::{self, d}}` gives `a::b`, `a::c`, `a::c::d`.
fn expand(tree: &str, before: &[String], found: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    let join = |rest: &str| {
        let words = rest.split("::").map(|w| w.split(" as ").next().unwrap_or_default().trim().to_owned());
        let words = words.filter(|w| !w.is_empty() && w != "self" && w != "*");
        before.iter().cloned().chain(words).collect::<Vec<_>>()
    };
    let Some(open) = tree.find('{') else {
        found.push(join(tree));
        return;
    };
    let (head, inside) = (join(&tree[..open]), &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())]);
    let (mut depth, mut start) = (0, 0);
    for (i, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&inside[start..i], &head, found);
                start = i + 1;
            }
            _ => {}
        }
    }
    if !inside[start..].trim().is_empty() {
        expand(&inside[start..], &head, found);
    }
}

/// The lines with the places at which they begin.
fn lines_of(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    code.split('\n').map(move |line| {
        let begin = at;
        at += line.len() + 1;
        (begin, line)
    })
}

/// Every path of the crate that a source names, with `crate`, `self` and `super` resolved.
fn paths(code: &str, module: &[String], children: &BTreeSet<String>) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (at, line) in lines_of(code) {
        let statement = line.trim_start();
        let statement = statement.strip_prefix("pub(crate) ").or(statement.strip_prefix("pub ")).unwrap_or(statement);
        if statement.starts_with("use ") {
            let tree = &code[at + line.len() - statement.len() + 4..];
            expand(&tree[..tree.find(';').unwrap_or(tree.len())], &[], &mut found);
        }
    }
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '$') {
                continue;
            }
            let end = code[at..].find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
            expand(code[at..at + end.unwrap_or(code.len() - at)].trim_end_matches(':'), &[], &mut found);
        }
    }
    let resolve = |path: Vec<String>| -> Option<Vec<String>> {
        let mut base = module.to_vec();
        let mut words = path.into_iter().peekable();
        match words.peek().map(String::as_str) {
            Some("crate") => {
                base.clear();
                words.next();
            }
            Some("self") => {
                words.next();
            }
            Some("super") => {
                while words.next_if(|w| w == "super").is_some() {
                    base.pop();
                }
            }
            Some(word) if children.contains(word) => {}
            _ => return None,
        }
        Some(base.into_iter().chain(words).collect())
    };
    found.into_iter().filter_map(resolve).collect()
}

fn read(src: &Path) -> Crate {
    let mut all = Vec::new();
    sources(src, &mut all);
    all.retain(|p| !is_test_file(p) && !p.strip_prefix(src).is_ok_and(|p| p.starts_with("bin")));
    let module = |path: &Path| -> Vec<String> {
        let below = path.strip_prefix(src).expect("inside").with_extension("");
        let mut words: Vec<String> = below.iter().map(|w| w.to_string_lossy().into_owned()).collect();
        if words.len() == 1 && ["lib", "main"].contains(&words[0].as_str()) || words.last().is_some_and(|w| w == "mod")
        {
            words.pop();
        }
        words
    };
    let files: BTreeMap<Vec<String>, PathBuf> = all.into_iter().map(|p| (module(&p), p)).collect();
    let mut imports = BTreeMap::new();
    for (module, path) in &files {
        let code = code_of(&fs::read_to_string(path).expect("readable"));
        let children = files.keys().filter(|f| f.len() == module.len() + 1 && f.starts_with(module));
        let children = children.filter_map(|f| f.last().cloned()).collect();
        let nearest =
            |path: Vec<String>| (0..=path.len()).rev().map(|n| path[..n].to_vec()).find(|p| files.contains_key(p));
        let targets: BTreeSet<_> = paths(&code, module, &children).into_iter().filter_map(nearest).collect();
        imports.insert(module.clone(), targets.into_iter().filter(|t| t != module).collect());
    }
    Crate { files, imports }
}

/// Sets of more than one node that all lead to each other.
fn circles<N: Ord + Clone>(edges: &BTreeMap<N, BTreeSet<N>>) -> Vec<BTreeSet<N>> {
    let reach = |from: &N| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(node) = open.pop() {
            for next in edges.get(&node).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        seen
    };
    let reached: BTreeMap<N, BTreeSet<N>> = edges.keys().map(|n| (n.clone(), reach(n))).collect();
    let mut found: Vec<BTreeSet<N>> = Vec::new();
    for (node, to) in &reached {
        let circle: BTreeSet<N> =
            to.iter().filter(|t| reached.get(*t).is_some_and(|r| r.contains(node))).cloned().collect();
        if circle.len() > 1 && !found.contains(&circle) {
            found.push(circle);
        }
    }
    found
}

impl Crate {
    fn name(&self, module: &[String]) -> String {
        self.files[module].display().to_string()
    }

    /// Import circles between the folders and files of one folder; of each two imports that make it. Files beside each other
    /// inside a room may form a circle, the rooms and files at the top may not.
    fn circles_between(&self, folder: &[String]) -> Vec<String> {
        // A folder that has nothing but folders is only a name for them.
        let is_name_only = |name: &str| {
            let inside =
                |m: &&Vec<String>| m.len() == folder.len() + 2 && m.starts_with(folder) && m[folder.len()] == name;
            let all: Vec<_> = self.files.keys().filter(inside).collect();
            !all.is_empty() && all.iter().all(|m| self.files[*m].ends_with("mod.rs"))
        };
        let part = |module: &[String]| -> Option<String> {
            let below = module.strip_prefix(folder).filter(|below| !below.is_empty())?;
            let take = if is_name_only(&below[0]) { 2 } else { 1 };
            below.get(..take).map(|words| words.join("/"))
        };
        let is_folder =
            |name: &str| self.files.keys().any(|f| f.len() > folder.len() + 1 && part(f).as_deref() == Some(name));
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut because: BTreeMap<(String, String), (String, String)> = BTreeMap::new();
        for (from, targets) in &self.imports {
            for to in targets {
                let (Some(a), Some(b)) = (part(from), part(to)) else { continue };
                let counts = folder.is_empty() || is_folder(&a) && is_folder(&b);
                if a != b && counts {
                    edges.entry(a.clone()).or_default().insert(b.clone());
                    because.entry((a, b)).or_insert_with(|| (self.name(from), self.name(to)));
                }
            }
        }
        let mut found = Vec::new();
        for circle in circles(&edges) {
            let inside = because.iter().filter(|((a, b), _)| circle.contains(a) && circle.contains(b));
            let imports: Vec<String> = inside.map(|(_, (a, b))| format!("  {a} imports {b}")).collect();
            let names: Vec<String> = circle.into_iter().collect();
            found.push(format!("import circle between {}:\n{}", names.join(", "), imports.join("\n")));
        }
        found
    }

    fn problems(&self) -> Vec<String> {
        let folders: BTreeSet<&[String]> = self.files.keys().filter_map(|f| Some(f.split_last()?.1)).collect();
        let mut found: Vec<String> = folders.iter().flat_map(|folder| self.circles_between(folder)).collect();
        for circle in circles(&self.imports).into_iter().filter(|c| c.len() > LARGEST_CIRCLE) {
            let names: Vec<String> = circle.iter().map(|m| self.name(m)).collect();
            found.push(format!("{} files import each other in a circle:\n  {}", names.len(), names.join("\n  ")));
        }
        found
    }
}

fn too_long(src: &Path) -> Vec<String> {
    let mut all = Vec::new();
    sources(src, &mut all);
    let lines = |path: &PathBuf| fs::read_to_string(path).expect("readable").lines().count();
    let long = all.iter().map(|path| (path, lines(path))).filter(|(_, lines)| *lines > LONGEST);
    long.map(|(path, lines)| format!("{} has {lines} lines; {LONGEST} is the most", path.display())).collect()
}

fn check(src: &Path) {
    let problems = [read(src).problems(), too_long(src)].concat();
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

#[test]
fn imports_between_the_drivers_folders_go_one_way() {
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
}

#[test]
fn imports_between_the_workers_folders_go_one_way() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core-ad/llvm/src");
    if src.join("workarounds").is_dir() {
        check(&src);
    }
}

#[test]
fn a_circle_between_folders_is_found_with_the_imports_that_make_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    };
    write("lib.rs", "mod up;\nmod down;\n");
    write("up/mod.rs", "pub mod a;\nuse crate::down::{self, b::{B, C as D}};\n");
    write("up/a.rs", "pub fn a() {}\n");
    write("down/mod.rs", "pub mod b;\n// use crate::up::a;\n");
    write("down/b.rs", "#[cfg(test)]\nmod tests {\n    use crate::up::a;\n}\n");
    assert_eq!(read(folder.path()).problems(), [] as [String; 0]);
    write("down/b.rs", "fn b() { crate::up::a::a() }\n");
    let problems = read(folder.path()).problems().join("\n");
    assert!(problems.contains("import circle between down, up"), "{problems}");
    assert!(problems.contains("down/b.rs imports") && problems.contains("up/a.rs"), "{problems}");
}

//! Finds the files of a folder that a function reaches: compiles what may define a symbol, and goes on with what that code mentions.

use crate::build::folder::index::{Index, further_folders};
use crate::build::folder::tree::{Tree, common};
use crate::build::folder::unit::{Compiler, Order, Unit};
use crate::build::frontend::flang;
use crate::build::frontend::language::Language;
use crate::build::symbol;
use crate::build::worker::Worker;
use crate::error::{Error, Result};
use crate::options::Spec;
use crate::os::interrupt;
use core_ad::diagnostics::Diagnosis;
use core_ad::names::{self, Lookup};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What a search has found.
pub struct Reached {
    /// The files, the one with the function first.
    pub files: Vec<PathBuf>,
    /// Symbols that several of them define, and the file whose definition counts.
    pub chosen: BTreeMap<String, PathBuf>,
    /// Every unit that was looked at.
    pub units: Vec<Arc<Unit>>,
}

/// Outcome of a compilation. The error is for whoever asks first.
type Outcome = std::result::Result<Arc<Unit>, Arc<Mutex<Option<Error>>>>;

/// Held by who compiles a file.
type Turn = Arc<Mutex<()>>;

/// A search in progress.
pub struct Search<'a> {
    /// The compilers.
    pub compiler: &'a Compiler<'a>,
    /// The files.
    pub tree: &'a Tree,
    /// What they may define.
    pub index: &'a Index,
    /// By file, and whether Fortran procedures were asked for.
    units: Mutex<HashMap<(PathBuf, bool), Outcome>>,
    /// One a file: two threads do not compile the same.
    turns: Mutex<HashMap<(PathBuf, bool), Turn>>,
}

/// A symbol that is needed, and the file that mentions it.
type Need = (String, Option<PathBuf>);

impl<'a> Search<'a> {
    /// A search that has found nothing yet.
    pub fn new(compiler: &'a Compiler<'a>, tree: &'a Tree, index: &'a Index) -> Self {
        Search { compiler, tree, index, units: Mutex::default(), turns: Mutex::default() }
    }

    /// Everything that a function reaches.
    ///
    /// # Errors
    ///
    /// Compile errors of files that are needed; where no file, or several, define the function or something that it calls.
    pub fn reached(&self) -> Result<Reached> {
        let (root, symbol) = self.root()?;
        let mut open: Vec<Need> = match symbol {
            Some(symbol) => vec![(symbol, Some(root.clone()))],
            None => self.emitted(&root)?,
        };
        open.extend(self.further_roots());
        let mut found = Found { files: vec![root.clone()], resolved: HashMap::new() };
        for (path, given) in &self.tree.sources {
            if self.is_given_itself(*given) && *path != root {
                found.files.push(path.clone());
            }
        }
        for file in found.files.clone() {
            open.extend(self.whole(&file, file == root)?);
        }
        while !open.is_empty() {
            open.sort();
            open.dedup();
            open.retain(|(symbol, _)| !found.resolved.contains_key(symbol));
            let wanted: BTreeSet<PathBuf> =
                open.iter().flat_map(|(symbol, _)| self.candidates(symbol)).map(Path::to_owned).collect();
            self.compile_all(&wanted.into_iter().collect::<Vec<_>>(), false);
            let mut next = Vec::new();
            for (symbol, user) in std::mem::take(&mut open) {
                if found.resolved.contains_key(&symbol) {
                    continue;
                }
                let definer = self.definer(&symbol, user.as_deref(), &found)?;
                found.resolved.insert(symbol.clone(), definer.clone());
                let Some(file) = definer else { continue };
                let unit = self.unit(&file, false)?;
                let mut named = vec![symbol.as_str()];
                if !found.files.contains(&file) {
                    found.files.push(file.clone());
                    // Constructors and marks.
                    named.push("");
                }
                let uses = unit.symbols.iter().filter(|s| named.contains(&s.name.as_str())).flat_map(|s| &s.uses);
                next.extend(uses.map(|name| (name.clone(), Some(file.clone()))));
            }
            open = next;
        }
        self.finish(found)
    }

    /// The function's file and symbol.
    fn root(&self) -> Result<(PathBuf, Option<String>)> {
        let spec = self.compiler.spec;
        let function = &spec.function;
        let candidates: Vec<PathBuf> = self.index.of_name(function).into_iter().map(Path::to_owned).collect();
        self.compile_all(&candidates, true);
        let mut found: Vec<(PathBuf, String)> = Vec::new();
        let mut failed = None;
        for file in &candidates {
            match self.unit(file, true) {
                Ok(unit) => found.extend(defined(function, &unit)?.map(|symbol| (file.clone(), symbol))),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        let rank = |file: &Path| (self.given(file), depth(file), !is_named_after(file, function));
        let best = found.iter().map(|(file, _)| rank(file)).min();
        found.retain(|(file, _)| Some(rank(file)) == best);
        match (found.len(), failed) {
            (1, _) => {
                let (file, symbol) = found.remove(0);
                Ok((file, Some(symbol)))
            }
            (0, Some(error)) => Err(error),
            (0, None) => match candidates.as_slice() {
                // A static or inline function, or a template: emitted where it is asked for.
                [file] if !matches!(Language::of(file, function), Ok(Language::Fortran)) => Ok((file.clone(), None)),
                _ => Err(self.missing(&candidates)),
            },
            _ => Err(ambiguous(spec, function, found.iter().map(|(file, _)| file.as_path()))),
        }
    }

    /// What a function needs that is emitted on request only.
    fn emitted(&self, file: &Path) -> Result<Vec<Need>> {
        let searched = flang::include_folders(&Spec { sources: Vec::new(), ..self.compiler.spec.clone() })?;
        let further = further_folders(self.tree, &searched, file, false);
        let order = Order { file, folders: &further.folders, modules: &[], procedures: false, everything: true };
        let function = &self.compiler.spec.function;
        let unit = self.compiler.unit(&order, &mut None).map_err(|error| further.explain(function, error))?;
        let symbol = defined(&self.compiler.spec.function, &unit)?;
        // A static function is no symbol of the file's: it may need whatever anything there needs.
        let fits = |s: &&core_ad::protocol::Symbol| {
            symbol.as_ref().is_none_or(|symbol| s.name == *symbol || s.name.is_empty())
        };
        let uses = unit.symbols.iter().filter(fits).flat_map(|s| &s.uses);
        Ok(uses.map(|name| (name.clone(), Some(file.to_owned()))).collect())
    }

    /// Functions that options name.
    fn further_roots(&self) -> Vec<Need> {
        let options = &self.compiler.spec.options;
        let names = options.derivatives.values().flat_map(|given| given.functions());
        let forms = |name: &String| [name.clone(), format!("{}_", name.to_lowercase())];
        names.flat_map(forms).map(|name| (name, None)).collect()
    }

    /// What a file needs that is linked as a whole, or, of the function's own file, wherever it is.
    fn whole(&self, file: &Path, constructors_only: bool) -> Result<Vec<Need>> {
        let unit = self.unit(file, false)?;
        let symbols = unit.symbols.iter().filter(|symbol| !constructors_only || symbol.name.is_empty());
        Ok(symbols.flat_map(|s| &s.uses).map(|name| (name.clone(), Some(file.to_owned()))).collect())
    }

    fn candidates(&self, symbol: &str) -> Vec<&Path> {
        if symbol.starts_with("_Fortran") || symbol.starts_with("llvm.") || symbol.is_empty() {
            return Vec::new();
        }
        self.index.of_symbol(symbol)
    }

    /// The file whose definition of a symbol counts.
    fn definer(&self, symbol: &str, user: Option<&Path>, found: &Found) -> Result<Option<PathBuf>> {
        let mut definers = Vec::new();
        let mut failed = None;
        let selected = found.files.iter().map(PathBuf::as_path);
        let all: BTreeSet<&Path> = self.candidates(symbol).into_iter().chain(selected).collect();
        for file in all {
            match self.unit(file, false) {
                Ok(unit) => {
                    let own = unit.symbols.iter().find(|s| s.name == symbol);
                    definers.extend(own.map(|own| (file, own.shared)));
                }
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        // What many may define, like a COMMON block, gives way to a definition with values.
        if definers.iter().any(|(_, shared)| !shared) {
            definers.retain(|(_, shared)| !shared);
        } else if let Some(user) = user
            && definers.iter().any(|(file, _)| *file == user)
        {
            definers.retain(|(file, _)| *file == user);
        } else {
            definers.truncate(1);
        }
        if definers.is_empty() {
            return failed.map_or(Ok(None), Err);
        }
        let name = names::demangle(symbol);
        let rank = |file: &Path| {
            let user = user.unwrap_or(Path::new("/"));
            let is_beside = file.parent() == user.parent();
            let distance = std::cmp::Reverse(common(file, user));
            (self.given(file), file != user, !is_beside, distance, depth(file), !is_named_after(file, &name))
        };
        let best = definers.iter().map(|(file, _)| rank(file)).min();
        let nearest: Vec<&Path> = definers.iter().map(|(file, _)| *file).filter(|f| Some(rank(f)) == best).collect();
        match nearest.as_slice() {
            [one] => Ok(Some((*one).to_owned())),
            [first, others @ ..] if others.iter().all(|other| same_text(first, other)) => Ok(Some((*first).to_owned())),
            several => Err(ambiguous(self.compiler.spec, name.trim_end_matches('_'), several.iter().copied())),
        }
    }

    /// The position of what the user gave that a file belongs to; files that were given themselves come first.
    fn given(&self, file: &Path) -> (bool, usize) {
        let given = self.tree.sources.iter().find(|(path, _)| path == file).map_or(usize::MAX, |(_, given)| *given);
        (!self.is_given_itself(given), given)
    }

    fn is_given_itself(&self, given: usize) -> bool {
        self.compiler.spec.sources.get(given).is_some_and(|path| path.is_file())
    }

    /// Compiles files side by side; failures are for whoever needs the file.
    fn compile_all(&self, files: &[PathBuf], procedures: bool) {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut worker = None;
            while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                let _ = self.outcome(file, procedures, &mut worker, &mut Vec::new());
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8).min(files.len());
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| {
                    interrupt::ask_nobody_here();
                    work();
                });
            }
            work();
        });
    }

    fn unit(&self, file: &Path, procedures: bool) -> Result<Arc<Unit>> {
        match self.outcome(file, procedures, &mut None, &mut Vec::new()) {
            Ok(unit) => Ok(unit),
            Err(kept) => {
                let error = kept.lock().unwrap_or_else(PoisonError::into_inner).take();
                Err(error.unwrap_or_else(|| does_not_compile(self.compiler.spec, file)))
            }
        }
    }

    /// A file compiled, with the modules that it uses before it. `above`: the files that wait for it.
    fn outcome(&self, file: &Path, procedures: bool, worker: &mut Option<Worker>, above: &mut Vec<PathBuf>) -> Outcome {
        let key = (file.to_owned(), procedures);
        let lock = |map: &Mutex<HashMap<_, Turn>>| {
            map.lock().unwrap_or_else(PoisonError::into_inner).entry(key.clone()).or_default().clone()
        };
        let turn = lock(&self.turns);
        let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.units.lock().unwrap_or_else(PoisonError::into_inner);
        // With its procedures it serves who does not ask for them.
        if let Some(known) = known.get(&key).or_else(|| known.get(&(file.to_owned(), true)).filter(|_| !procedures)) {
            return known.clone();
        }
        drop(known);
        let outcome = self.compiled(file, procedures, worker, above);
        let outcome: Outcome = outcome.map(Arc::new).map_err(|error| Arc::new(Mutex::new(Some(error))));
        self.units.lock().unwrap_or_else(PoisonError::into_inner).insert(key, outcome.clone());
        outcome
    }

    fn compiled(
        &self,
        file: &Path,
        procedures: bool,
        worker: &mut Option<Worker>,
        above: &mut Vec<PathBuf>,
    ) -> Result<Unit> {
        let spec = self.compiler.spec;
        let is_fortran = matches!(Language::of(file, &spec.function), Ok(Language::Fortran));
        let searched = flang::include_folders(&Spec { sources: Vec::new(), ..spec.clone() })?;
        let further = further_folders(self.tree, &searched, file, is_fortran);
        above.push(file.to_owned());
        let mut failed = None;
        let modules = match is_fortran {
            true => self.modules_of(file, worker, above, &mut failed),
            false => Vec::new(),
        };
        above.pop();
        let procedures = procedures && is_fortran;
        let order = Order { file, folders: &further.folders, modules: &modules, procedures, everything: false };
        let compiled = self.compiler.unit(&order, worker).map_err(|error| further.explain(&spec.function, error));
        // Where a module could not be compiled, that is the reason.
        match (compiled, failed) {
            (Err(Error::Compile(d)), Some(error)) if d.code == "missing-module" => Err(error),
            (compiled, _) => compiled,
        }
    }

    /// Units of the modules that a file uses, and of those that these use.
    fn modules_of(
        &self,
        file: &Path,
        worker: &mut Option<Worker>,
        above: &mut Vec<PathBuf>,
        failed: &mut Option<Error>,
    ) -> Vec<Arc<Unit>> {
        let (mut units, mut seen, mut open) = (Vec::<Arc<Unit>>::new(), HashSet::new(), vec![file.to_owned()]);
        while let Some(path) = open.pop() {
            for name in self.index.scan(&path).map(|scan| scan.uses.clone()).unwrap_or_default() {
                let nearest = self.index.of_module(&name).into_iter().min_by_key(|p| {
                    (self.given(p), p.parent() != path.parent(), std::cmp::Reverse(common(p, &path)), depth(p))
                });
                let Some(source) = nearest.filter(|p| *p != file && !above.iter().any(|a| a == p)) else { continue };
                if !seen.insert(source.to_owned()) {
                    continue;
                }
                open.push(source.to_owned());
                match self.outcome(source, false, worker, above) {
                    Ok(unit) => units.push(unit),
                    Err(error) => {
                        let error = error.lock().unwrap_or_else(PoisonError::into_inner).take();
                        *failed = failed.take().or(error);
                    }
                }
            }
        }
        units.sort_by(|a, b| a.file.cmp(&b.file));
        units
    }

    /// Adds the files of modules, which the compiler reads, and orders the rest.
    fn finish(&self, found: Found) -> Result<Reached> {
        let Found { files, resolved } = found;
        let mut all = files.clone();
        for file in &files {
            for unit in self.modules_of(file, &mut None, &mut vec![file.clone()], &mut None) {
                if !all.contains(&unit.file) {
                    all.push(unit.file.clone());
                }
            }
        }
        let root = all.remove(0);
        all.sort_by_key(|file| (self.given(file), file.clone()));
        all.insert(0, root);
        let mut definers: BTreeMap<String, usize> = BTreeMap::new();
        let mut units = Vec::new();
        for file in &all {
            let unit = self.unit(file, false)?;
            for symbol in unit.symbols.iter().filter(|symbol| !symbol.shared) {
                *definers.entry(symbol.name.clone()).or_default() += 1;
            }
            units.push(unit);
        }
        let several = definers.into_iter().filter(|(name, count)| *count > 1 && !name.is_empty());
        let chosen = several.filter_map(|(name, _)| {
            let file = resolved.get(&name).cloned().flatten();
            let first = || units.iter().find(|u| u.symbols.iter().any(|s| s.name == name && !s.shared));
            Some((name.clone(), file.or_else(|| first().map(|unit| unit.file.clone()))?))
        });
        let chosen = chosen.collect();
        let seen = self.units.lock().unwrap_or_else(PoisonError::into_inner);
        units.extend(seen.values().filter_map(|outcome| outcome.clone().ok()));
        Ok(Reached { files: all, chosen, units })
    }

    fn missing(&self, looked_at: &[PathBuf]) -> Error {
        let spec = self.compiler.spec;
        let count = self.tree.sources.len();
        let given: Vec<String> = spec.sources.iter().map(|path| format!("`{}`", path.display())).collect();
        let headline =
            format!("there is no function `{}` in the {count} sources of {}", spec.function, given.join(", "));
        let mut diagnosis = Diagnosis::new("no-such-function", &spec.function, headline);
        if let Some(renamed) = symbol::renamed(&spec.function, self.tree.files()) {
            return Error::compile(diagnosis.advise(renamed));
        }
        let closest = self.index.closest(&spec.function);
        if !closest.is_empty() {
            let closest: Vec<String> = closest.iter().map(|name| format!("`{name}`")).collect();
            diagnosis = diagnosis.advise(format!("The closest names are {}.", closest.join(", ")));
        }
        if let Some(file) = looked_at.first() {
            diagnosis = diagnosis.advise(format!(
                "`{}` contains the name, but defines no such function that other files can see.",
                file.display()
            ));
        }
        if count == 0 {
            diagnosis = diagnosis.advise("Sources end in .c, .cpp, .cc, .cxx, .f, .f90 and the like.");
        }
        Error::compile(diagnosis)
    }
}

/// What is known so far.
struct Found {
    files: Vec<PathBuf>,
    /// Symbols, and the files that define them.
    resolved: HashMap<String, Option<PathBuf>>,
}

/// The symbol that a unit has for the user's name.
fn defined(function: &str, unit: &Unit) -> Result<Option<String>> {
    let functions: Vec<String> = unit.symbols.iter().map(|s| s.name.clone()).filter(|n| !n.is_empty()).collect();
    let procedures = unit.procedures.as_deref().unwrap_or_default();
    let in_fortran = core_ad::fortran::find(function, procedures, &functions);
    Ok(match (in_fortran, names::find(function, &functions)) {
        (Lookup::Found(symbol), _) | (_, Lookup::Found(symbol)) => Some(symbol.to_owned()),
        // Overloads of one file: what follows says which there are.
        (Lookup::Ambiguous(_), _) | (_, Lookup::Ambiguous(_)) => Some(function.to_owned()),
        _ => None,
    })
}

/// Folders above a file. Where nothing else says which counts, what is less deep does: variants and tests are in folders below.
fn depth(file: &Path) -> usize {
    file.components().count()
}

/// Whether a file has the name of a function, as `dlamch.f` has: a file beside it that defines the function too is a copy for another use.
fn is_named_after(file: &Path, function: &str) -> bool {
    let own =
        function.split('(').next().unwrap_or_default().rsplit("::").next().unwrap_or_default().trim_end_matches('_');
    file.file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case(own))
}

fn same_text(one: &Path, other: &Path) -> bool {
    matches!((std::fs::read(one), std::fs::read(other)), (Ok(a), Ok(b)) if a == b)
}

fn ambiguous<'p>(spec: &Spec, name: &str, files: impl Iterator<Item = &'p Path>) -> Error {
    let files: Vec<String> = files.map(|file| format!("`{}`", file.display())).collect();
    let headline = format!("`{name}` is defined in {} files of the folder: {}", files.len(), files.join(", "));
    Error::compile(
        Diagnosis::new("defined-twice", &spec.function, headline)
            .advise("Put the file that counts before the folder: enzyme([\"FILE\", \"FOLDER/\"], ...),")
            .advise("or give the folder below that has only one of them."),
    )
}

fn does_not_compile(spec: &Spec, file: &Path) -> Error {
    let headline = format!("`{}` does not compile, and `{}` needs it", file.display(), spec.function);
    Error::compile(Diagnosis::new("syntax", &spec.function, headline))
}

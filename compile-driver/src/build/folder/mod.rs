//! A folder as source: the files that the function reaches take its place.
//!
//! [`expand`] turns a specification with folders into one with files, from the cache where nothing has changed: no file came or
//! went in the folder, none changed, and every header that was read is as it was. [`compile`] then gives the build the files'
//! bitcode, which the search has compiled already, one unit each ([`mod@unit`]).

mod index;
mod search;
mod tree;
pub mod unit;

use crate::build::context::Context;
use crate::build::frontend::inputs;
use crate::build::frontend::language::{Compiled, Language};
use crate::build::frontend::{ClangJob, adapter::Adapter, clang, flang, flang_calls::Calls};
use crate::build::mpi;
use crate::build::rules::bundled;
use crate::build::worker::Worker;
use crate::cache::request::{Found, Record, Vacancy};
use crate::cache::{self, Cache, UNITS, io};
use crate::error::Result;
use crate::options::{GivenDerivative, Reach, Spec};
use crate::os::progress::Step;
use crate::toolchain::Tools;
use core_ad::manifest::{FORMAT, Source, ToolRecord};
use core_ad::protocol::Request;
use index::Index;
use search::{Reached, Search};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tree::Tree;
use unit::{Compiler, Order, Unit};

/// Variables of the environment that compilers read, see `inputs`.
use inputs::VARIABLES;

/// What a search is remembered by.
#[derive(Serialize, Deserialize)]
struct Selection {
    files: Vec<PathBuf>,
    chosen: BTreeMap<String, usize>,
    folders: BTreeMap<usize, Vec<PathBuf>>,
}

/// Whether any source is a folder.
pub fn is_wanted(spec: &Spec) -> bool {
    spec.sources.iter().any(|path| path.is_dir())
}

/// The specification with the files that the function reaches in the place of folders. `tools` gives the compilers, with flang if
/// the argument says so.
///
/// # Errors
///
/// Compile errors, of what cannot be found or compiled; toolchain and cache errors.
pub fn expand(spec: &Spec, cache: &Cache, tools: impl FnOnce(bool) -> Result<Tools>) -> Result<Spec> {
    let tree = Tree::of(spec)?;
    let tools = tools(tree.has_fortran(&spec.function))?;
    let records: Vec<ToolRecord> =
        tools.identities().into_iter().map(|(name, version)| ToolRecord { name: name.to_owned(), version }).collect();
    let request = request(spec, &tree)?;
    let known = || {
        let key = Record::current(cache, &request, Some(&records))?;
        cache::read_json::<Selection>(&cache.unit(&key).join("selection.json"))
    };
    if let Some(selection) = known() {
        return Ok(expanded(spec, selection));
    }
    let _lock = cache.lock(&request)?;
    let _reading = cache.hold(UNITS);
    if let Some(selection) = known() {
        return Ok(expanded(spec, selection));
    }
    let headers = bundled::include_folder(cache)?;
    let _step = Step::begin(format!("looking for `{}`", spec.function));
    let compiler = Compiler { tools: &tools, spec, cache, headers: &headers, calls: Calls::default() };
    let index = Index::of(&tree);
    let reached = Search::new(&compiler, &tree, &index).reached()?;
    let selection = selected(spec, &tree, &reached)?;
    remember(cache, &request, &records, &reached.units, &selection)?;
    Ok(expanded(spec, selection))
}

fn expanded(spec: &Spec, selection: Selection) -> Spec {
    let Selection { files, chosen, folders } = selection;
    let mut expanded = Spec { sources: files, ..spec.clone() };
    expanded.options.reach = Some(Reach { chosen, folders });
    expanded
}

fn selected(spec: &Spec, tree: &Tree, reached: &Reached) -> Result<Selection> {
    let position = |file: &PathBuf| reached.files.iter().position(|known| known == file).unwrap_or(0);
    let chosen = reached.chosen.iter().map(|(symbol, file)| (symbol.clone(), position(file))).collect();
    let searched = flang::include_folders(&Spec { sources: Vec::new(), ..spec.clone() })?;
    let mut folders = BTreeMap::new();
    for (i, file) in reached.files.iter().enumerate() {
        let is_fortran = Language::of(file, &spec.function)? == Language::Fortran;
        let further = index::further_folders(tree, &searched, file, is_fortran).folders;
        if !further.is_empty() {
            folders.insert(i, further);
        }
    }
    Ok(Selection { files: reached.files.clone(), chosen, folders })
}

fn remember(
    cache: &Cache,
    request: &str,
    tools: &[ToolRecord],
    units: &[Arc<Unit>],
    selection: &Selection,
) -> Result<()> {
    let is_known = units.iter().all(|unit| !unit.inputs.open_ended && !unit.inputs.clock);
    if !is_known {
        return Ok(());
    }
    let mut sources: Vec<Source> = units.iter().flat_map(|unit| unit.read.clone()).collect();
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources.dedup();
    let absent = Vacancy::all(units.iter().flat_map(|unit| unit.inputs.absent.iter().cloned()));
    let staging = cache.staging()?;
    cache::write_json(&staging.path().join("selection.json"), selection)?;
    let key = cache::digest_file(&staging.path().join("selection.json"))?;
    cache::contents::publish(cache, staging, &cache.unit(&key))?;
    Record::add(cache, request, Found { sources, absent, tools: tools.to_vec(), key })
}

/// What is known before anything is compiled: the folders' files, and all that a compiler is told.
fn request(spec: &Spec, tree: &Tree) -> Result<String> {
    let mut hash = tree.state.clone();
    let mut add = |text: &[u8]| {
        hash.update(&(text.len() as u64).to_le_bytes()).update(text);
    };
    add(b"folder");
    add(&FORMAT.to_le_bytes());
    for source in &spec.sources {
        let absolute = std::path::absolute(source).map_err(io("find", source))?;
        add(absolute.as_os_str().as_encoded_bytes());
    }
    add(spec.function.as_bytes());
    let options = &spec.options;
    let told = (&options.flags, &options.include_dirs, &options.defines, options.mpi, &options.derivatives);
    add(&serde_json::to_vec(&told).unwrap_or_default());
    add(format!("{:?}", options.math).as_bytes());
    add(std::env::current_dir().unwrap_or_default().as_os_str().as_encoded_bytes());
    for name in ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"].iter().chain(&VARIABLES) {
        add(std::env::var_os(name).unwrap_or_default().as_encoded_bytes());
    }
    Ok(hash.finalize().to_hex().to_string())
}

/// Compiles the sources of an expanded specification into `staging`, from units of the cache where these are.
///
/// # Errors
///
/// Compile and cache errors.
pub fn compile(
    context: &Context<'_>,
    reach: &Reach,
    staging: &Path,
    all_declarations: bool,
    adapter: Option<&Adapter>,
) -> Result<Compiled> {
    let Context { spec, tools, cache } = *context;
    let _reading = cache.hold(UNITS);
    let headers = bundled::include_folder(cache)?;
    let compiler = Compiler { tools, spec, cache, headers: &headers, calls: Calls::default() };
    let mut build = Build { compiler, reach, staging, worker: None, compiled: Compiled::default(), units: Vec::new() };
    for i in in_order(spec)? {
        let source = std::path::absolute(&spec.sources[i]).map_err(io("find", &spec.sources[i]))?;
        let language = Language::of(&source, &spec.function)?;
        let own = match adapter.filter(|adapter| adapter.source == i) {
            Some(adapter) => Some(adapter.unit.clone()),
            // A template's instance has to be asked for.
            None if language == Language::Fortran => None,
            None => Some(clang::translation_unit(spec, &source, language, staging, i)?)
                .filter(|unit| *unit != source || (all_declarations && i == 0)),
        };
        match own {
            Some(unit) => {
                let folders = reach.folders.get(&i).map(Vec::as_slice).unwrap_or_default();
                let job = ClangJob { tools, spec, cache, headers: &headers, all_declarations, folders };
                build.compiled.add(job.compile(&unit, language, staging, i)?);
            }
            None => build.unit(i, &source)?,
        }
    }
    let mut compiled = build.compiled;
    if !build.units.is_empty() {
        compiled.modules.extend(mpi::for_fortran(tools, spec, &headers, staging)?);
    }
    compiled.dependencies.extend(compiled.inputs.files.iter().cloned());
    compiled.dependencies.sort();
    compiled.dependencies.dedup();
    Ok(compiled)
}

/// Positions of the sources, Fortran's modules before their users.
fn in_order(spec: &Spec) -> Result<Vec<usize>> {
    let mut fortran = Vec::new();
    let mut others = Vec::new();
    for (i, source) in spec.sources.iter().enumerate() {
        match Language::of(source, &spec.function)? {
            Language::Fortran => fortran.push(i),
            _ => others.push(i),
        }
    }
    let scans: Vec<_> = fortran.iter().map(|&i| core_ad::fortran::scan(&text(&spec.sources[i]))).collect();
    let sorted = core_ad::fortran::order(&scans).into_iter().map(|at| fortran[at]);
    Ok(sorted.chain(others).collect())
}

fn text(path: &Path) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

struct Build<'a> {
    compiler: Compiler<'a>,
    reach: &'a Reach,
    staging: &'a Path,
    worker: Option<Worker>,
    compiled: Compiled,
    /// Of Fortran sources, in the order of compiling.
    units: Vec<Arc<Unit>>,
}

impl Build<'_> {
    fn unit(&mut self, i: usize, source: &Path) -> Result<()> {
        let folders = self.reach.folders.get(&i).map(Vec::as_slice).unwrap_or_default();
        let modules = self.modules_of(source);
        let is_fortran = Language::of(source, "").is_ok_and(|language| language == Language::Fortran);
        // The function may be in any: the first has it, where the search put it.
        // Solvers and residuals may be in any.
        let given = self.compiler.spec.options.derivatives.values();
        let procedures = is_fortran && (i == 0 || given.into_iter().any(|d| matches!(d, GivenDerivative::Implicit(_))));
        let order = Order { file: source, folders, modules: &modules, procedures, everything: false };
        let unit = Arc::new(self.compiler.unit(&order, &mut self.worker)?);
        let module = self.staging.join(format!("source{i}.bc"));
        let gives_way =
            |s: &&core_ad::protocol::Symbol| self.reach.chosen.get(&s.name).is_some_and(|&chosen| chosen != i);
        let symbols: Vec<String> =
            unit.symbols.iter().filter(|s| !s.shared).filter(gives_way).map(|s| s.name.clone()).collect();
        if symbols.is_empty() {
            fs::copy(unit.bitcode(), &module).map_err(io("write", &module))?;
        } else {
            let worker = unit::started(&mut self.worker, self.compiler.tools, self.compiler.spec)?;
            worker.request(&Request::Weaken { module: unit.bitcode(), symbols, output: module.clone() })?;
        }
        self.compiled.modules.push(module);
        self.compiled.commands.push(unit.command.clone());
        self.compiled.dependencies.extend(unit.read.iter().map(|source| PathBuf::from(&source.path)));
        self.compiled.inputs.extend(unit.inputs.clone());
        self.compiled.procedures.extend(unit.procedures.iter().flatten().cloned());
        if is_fortran {
            self.units.push(unit);
        }
        Ok(())
    }

    /// Units of the modules that a source uses, and of those that these use.
    fn modules_of(&self, source: &Path) -> Vec<Arc<Unit>> {
        let mut wanted = core_ad::fortran::scan(&text(source)).uses;
        let mut found: Vec<Arc<Unit>> = Vec::new();
        while let Some(name) = wanted.pop() {
            let file = format!("{name}.mod");
            let Some(unit) = self.units.iter().find(|unit| unit.modules.contains_key(&file)) else { continue };
            if !found.iter().any(|known| known.file == unit.file) {
                wanted.extend(core_ad::fortran::scan(&text(&unit.file)).uses);
                found.push(unit.clone());
            }
        }
        found.sort_by(|a, b| a.file.cmp(&b.file));
        found
    }
}

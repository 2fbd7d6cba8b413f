//! One file of a folder, compiled and kept in the cache by itself: a change of another file, or of an option that its compiler
//! does not see, costs nothing here.

use crate::build::frontend::inputs::Inputs;
use crate::build::frontend::language::Language;
use crate::build::frontend::{ClangJob, clang, flang, flang_calls::Calls};
use crate::build::mpi;
use crate::build::worker::Worker;
use crate::cache::layout;
use crate::cache::request::{Found, Record, Vacancy};
use crate::cache::{self, Cache, Staging, io};
use crate::error::{Error, Result};
use crate::options::{Reach, Spec};
use crate::toolchain::Tools;
use core_ad::diagnostics::Diagnosis;
use core_ad::fortran::{self, Scan, scan};
use core_ad::manifest::{FORMAT, Source, ToolRecord};
use core_ad::protocol::{Request, Response, Symbol};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A compiled file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Unit {
    /// The source, absolute.
    pub file: PathBuf,
    /// The command line.
    pub command: String,
    /// Every file that was read, with its content then.
    pub read: Vec<Source>,
    /// What else the compilation depends on.
    pub inputs: Inputs,
    /// Fortran procedures, where they were asked for.
    pub procedures: Option<Vec<fortran::Found>>,
    /// What it defines and needs.
    pub symbols: Vec<Symbol>,
    /// Module files that it made: name and digest.
    pub modules: BTreeMap<String, String>,
    /// Of the bitcode.
    digest: String,
    /// Where the bitcode and the module files are.
    #[serde(skip)]
    folder: PathBuf,
}

/// Everything that units of one function have in common.
pub struct Compiler<'a> {
    /// The tools.
    pub tools: &'a Tools,
    /// The user's wishes, with folders for sources.
    pub spec: &'a Spec,
    /// The store.
    pub cache: &'a Cache,
    /// The folder of ffgrad's own headers.
    pub headers: &'a Path,
    /// Calls of flang that are known.
    pub calls: Calls,
}

/// One file to compile.
pub struct Order<'a> {
    /// The source, absolute.
    pub file: &'a Path,
    /// Folders for headers that are nowhere else.
    pub folders: &'a [PathBuf],
    /// Of Fortran sources: units of the modules that it uses, and of those that these use.
    pub modules: &'a [std::sync::Arc<Unit>],
    /// Whether Fortran procedures are asked for.
    pub procedures: bool,
    /// Whether a C or C++ file is to emit what nothing in it uses, and the function's instance where that is a template.
    pub everything: bool,
}

impl Unit {
    /// The bitcode.
    pub fn bitcode(&self) -> PathBuf {
        self.folder.join(cache::unit::BITCODE)
    }

    /// Copies the module files to a folder.
    ///
    /// # Errors
    ///
    /// Cache errors.
    pub fn give_modules(&self, to: &Path) -> Result<()> {
        for name in self.modules.keys() {
            let from = self.folder.join(layout::MODULES).join(name);
            fs::copy(&from, to.join(name)).map_err(io("read", &from))?;
        }
        Ok(())
    }

    /// Whether its files are as they were written.
    fn is_whole(&self) -> bool {
        cache::unit::have(&self.folder, &self.digest, &self.modules)
    }
}

impl Compiler<'_> {
    /// The unit of a file: from the cache, else compiled.
    ///
    /// # Errors
    ///
    /// Compile and cache errors.
    pub fn unit(&self, order: &Order<'_>, worker: &mut Option<Worker>) -> Result<Unit> {
        let language = Language::of(order.file, &self.spec.function)?;
        let spec = self.spec_of(order.file);
        let request = self.request(&spec, language, order)?;
        let tools = self.records(language);
        if let Some(unit) = Record::current(self.cache, &request, Some(&tools)).and_then(|key| self.kept(&key)) {
            return Ok(unit);
        }
        let staging = self.cache.staging()?;
        let mut unit = match language {
            Language::Fortran => self.fortran(&spec, order, &staging)?,
            _ => self.clang(&spec, order, language, &staging)?,
        };
        unit.symbols = self.symbols(&unit.bitcode(), worker)?;
        unit.digest = cache::digest_file(&unit.bitcode())?;
        cache::write_json(&staging.path().join(cache::unit::RECORD), &unit)?;
        let key = key(&request, &unit.read, &tools);
        unit.folder = self.cache.unit(&key);
        self.cache.publish_unless(staging, &unit.folder, |_| self.kept(&key).is_some())?;
        if !unit.inputs.open_ended && !unit.inputs.clock {
            let absent = Vacancy::all(unit.inputs.absent.iter().cloned());
            Record::add(self.cache, &request, Found { sources: unit.read.clone(), absent, tools, key })?;
        }
        Ok(unit)
    }

    fn kept(&self, key: &str) -> Option<Unit> {
        let folder = self.cache.unit(key);
        let unit: Unit = cache::read_json(&folder.join(cache::unit::RECORD))?;
        let unit = Unit { folder, ..unit };
        unit.is_whole().then_some(unit)
    }

    /// What is asked of the compiler, as if the file were the only source.
    fn spec_of(&self, file: &Path) -> Spec {
        let mut spec = Spec { sources: vec![file.to_owned()], ..self.spec.clone() };
        spec.options.reach = Some(Reach::default());
        spec
    }

    /// What can be known without compiling: all that the compiler is told, the environment that it reads, and the modules used.
    fn request(&self, spec: &Spec, language: Language, order: &Order<'_>) -> Result<String> {
        let options = &spec.options;
        let mut hash = blake3::Hasher::new();
        let mut add = |text: &[u8]| {
            hash.update(&(text.len() as u64).to_le_bytes()).update(text);
        };
        add(b"unit");
        add(&FORMAT.to_le_bytes());
        add(order.file.as_os_str().as_encoded_bytes());
        add(format!("{language:?} {:?} {}", options.math, order.procedures).as_bytes());
        add(if order.everything { spec.function.as_bytes() } else { b"" });
        let told = (&options.flags, &options.include_dirs, &options.defines, options.mpi, order.folders);
        add(&serde_json::to_vec(&told).unwrap_or_default());
        add(std::env::current_dir().unwrap_or_default().as_os_str().as_encoded_bytes());
        for name in ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"].iter().chain(&super::VARIABLES) {
            add(std::env::var_os(name).unwrap_or_default().as_encoded_bytes());
        }
        for (name, digest) in order.modules.iter().flat_map(|unit| &unit.modules) {
            add(name.as_bytes());
            add(digest.as_bytes());
        }
        Ok(hash.finalize().to_hex().to_string())
    }

    /// The tools that a unit depends on.
    fn records(&self, language: Language) -> Vec<ToolRecord> {
        let fits = |name: &str| match language {
            Language::Fortran => ["flang", "worker"].contains(&name),
            _ => ["clang", "clang++", "worker"].contains(&name),
        };
        let all = self.tools.identities().into_iter().filter(|(name, _)| fits(name));
        let ours = ("driver", env!("CARGO_PKG_VERSION").to_owned());
        all.chain([ours]).map(|(name, version)| ToolRecord { name: name.to_owned(), version }).collect()
    }

    fn clang(&self, spec: &Spec, order: &Order<'_>, language: Language, staging: &Staging) -> Result<Unit> {
        let Compiler { tools, cache, headers, .. } = *self;
        let all_declarations = order.everything;
        let file = match all_declarations {
            true => clang::translation_unit(spec, order.file, language, staging.path(), 0)?,
            false => order.file.to_owned(),
        };
        let job = ClangJob { tools, spec, cache, headers, all_declarations, folders: order.folders };
        let part = job.compile(&file, language, staging.path(), 0)?;
        let read: Vec<PathBuf> = part.read.into_iter().chain(part.inputs.files.iter().cloned()).collect();
        Ok(Unit {
            file: order.file.to_owned(),
            command: part.command,
            read: sources(read)?,
            inputs: part.inputs,
            procedures: None,
            symbols: Vec::new(),
            modules: BTreeMap::new(),
            digest: String::new(),
            folder: staging.path().to_owned(),
        })
    }

    fn fortran(&self, spec: &Spec, order: &Order<'_>, staging: &Staging) -> Result<Unit> {
        let Some(fortran) = &self.tools.fortran else { return Err(no_fortran(spec, order.file)) };
        let modules = staging.path().join(layout::MODULES);
        fs::create_dir_all(&modules).map_err(io("create", &modules))?;
        mpi::fix_header(spec, &modules)?;
        for unit in order.modules {
            unit.give_modules(&modules)?;
        }
        let before = names(&modules);
        let mut folders = flang::include_folders(spec)?;
        folders.extend(order.folders.iter().cloned());
        let one =
            flang::File { fortran, spec, source: order.file, folders: &folders, modules: &modules, calls: &self.calls };
        let module = staging.path().join("source0.bc");
        let command = one.compile(&module)?;
        let (procedures, printed) = match order.procedures {
            true => one.procedures(&module).map(|(found, printed)| (Some(found), printed))?,
            false => (None, one.driver(&module)?),
        };
        let text = fs::read(order.file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        let scanned: [(PathBuf, Scan); 1] = [(order.file.to_owned(), scan(&text))];
        let (read, mut inputs) = flang::files_read(spec, &folders, &scanned, &printed);
        // Module files of other units are in the request, by content; those of users are files like any other.
        let given: Vec<String> = order.modules.iter().flat_map(|unit| unit.modules.keys().cloned()).collect();
        inputs.absent.retain(|place| !given.iter().any(|name| place.ends_with(name)));
        for name in &before {
            fs::remove_file(modules.join(name)).map_err(io("remove", &modules))?;
        }
        let digest = |name: String| Ok((name.clone(), cache::digest_file(&modules.join(&name))?));
        Ok(Unit {
            file: order.file.to_owned(),
            command,
            read: sources(read.into_iter().chain(inputs.files.iter().cloned()).collect())?,
            inputs,
            procedures,
            symbols: Vec::new(),
            modules: names(&modules).into_iter().map(digest).collect::<Result<_>>()?,
            digest: String::new(),
            folder: staging.path().to_owned(),
        })
    }

    fn symbols(&self, bitcode: &Path, worker: &mut Option<Worker>) -> Result<Vec<Symbol>> {
        let worker = started(worker, self.tools, self.spec)?;
        match worker.request(&Request::Symbols { module: bitcode.to_owned() })? {
            Response::Symbols { symbols } => Ok(symbols),
            _ => Ok(Vec::new()),
        }
    }
}

/// The worker, started if it is not yet.
///
/// # Errors
///
/// Where it cannot be started.
pub fn started<'w>(worker: &'w mut Option<Worker>, tools: &Tools, spec: &Spec) -> Result<&'w mut Worker> {
    let running = match worker.take() {
        Some(running) => running,
        None => Worker::start(tools, &spec.function, spec.options.time_limit())?,
    };
    Ok(worker.insert(running))
}

fn key(request: &str, read: &[Source], tools: &[ToolRecord]) -> String {
    let mut hash = blake3::Hasher::new();
    hash.update(request.as_bytes());
    for part in read.iter().flat_map(|s| [&s.path, &s.digest]).chain(tools.iter().flat_map(|t| [&t.name, &t.version])) {
        hash.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hash.finalize().to_hex().to_string()
}

fn sources(mut paths: Vec<PathBuf>) -> Result<Vec<Source>> {
    paths.sort();
    paths.dedup();
    let source = |p: &PathBuf| Ok(Source { path: p.display().to_string(), digest: cache::digest_file(p)? });
    paths.iter().map(source).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let listed = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<String> = listed.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    all.sort();
    all
}

fn no_fortran(spec: &Spec, file: &Path) -> Error {
    let headline = format!("`{}` needs `{}`, and there is no flang", spec.function, file.display());
    Error::compile(
        Diagnosis::new("no-flang", &spec.function, headline).advise("Run `ffgrad toolchain install fortran`."),
    )
}

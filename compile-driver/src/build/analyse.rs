//! Analyses a function: compiles its sources, finds the prototype, makes the call plan, publishes the cache entry.

use crate::build::context::Context;
use crate::build::frontend::adapter::Adapter;
use crate::build::frontend::language::{self, Compiled};
use crate::build::implicit::{self, Program};
use crate::build::link::libraries;
use crate::build::refusal::crash::Scene;
use crate::build::rules::{Loaded, Prepared, bundled};
use crate::build::worker::Worker;
use crate::build::{checkpoint, folder, frontend, kept_worker, key, link, mpi, openmp, rules, symbol};
use crate::cache::{self, Lock, Staging, entry};
use crate::error::{Error, OUT_OF_MEMORY, Result};
use crate::options::Spec;
use crate::os::progress::Step;
use crate::source_text;
use core_ad::cuda::UNSET_CONSTANT;
use core_ad::diagnostics::{Diagnosis, MISMATCHED_CALL};
use core_ad::manifest::{FORMAT, Manifest};
use core_ad::names::{self, Lookup};
use core_ad::protocol::{OpenMp, Request, Response, Solver};
use core_ad::{Prototype, signature};
use std::path::{Path, PathBuf};

/// An entry that was made, or found to be what would be made.
pub struct Analysed {
    /// Its manifest.
    pub manifest: Manifest,
    /// Keeps it in use.
    pub held: Option<Lock>,
    /// Where a file would change what is compiled; `None` where that is not fully known.
    pub absent: Option<Vec<PathBuf>>,
}

/// Compiles the source, discovers the prototype, makes the plan and publishes the entry, which is in use as long as the lock is held.
///
/// # Errors
///
/// Compile, signature and cache errors.
pub fn analyse(context: &Context<'_>) -> Result<Analysed> {
    let Context { spec, tools, cache } = context;
    let _step = Step::begin(format!("`{}`", spec.function));
    let staging = cache.staging()?;
    let timeout = spec.options.time_limit();
    let mut worker = Worker::start(tools, &spec.function, timeout)?;
    let (written, absent) = match described(context, &staging, &mut worker) {
        Ok(described) => described,
        Err(error) => {
            let name = format!("refused-{}-source", &key::request(spec)?[..16]);
            let scene = Scene { context, modules: Vec::new(), home: None, name };
            return Err(scene.complete(&worker, &mut Some(staging), error));
        }
    };
    let key = written.key.clone();
    // Held before it is there, so that who prunes at this moment leaves it.
    let _early = cache.hold(&key);
    // The same source elsewhere has the same key, and bitcode that differs in the place it names: who was first has published
    // bitcode and manifest, which belong together.
    cache.publish_unless(staging, &cache.entry(&key), |_| entry::sound(cache, &key).is_some())?;
    match entry::sound(cache, &key) {
        // Once more: only what is there can be marked as used.
        Some(manifest) => {
            if has_loaded_all(&worker, &manifest) && !openmp::is_wanted(&spec.options) {
                kept_worker::keep(cache.entry(&key), written, tools, worker);
            }
            Ok(Analysed { manifest, held: cache.hold(&key), absent })
        }
        None => Err(entry::damaged(cache, &key, "it is damaged again as soon as it is written")),
    }
}

/// The functions that the sources define, as a person names them.
///
/// # Errors
///
/// Compile and cache errors.
pub fn functions(context: &Context<'_>) -> Result<Vec<String>> {
    let Context { spec, tools, cache } = *context;
    let staging = cache.staging()?;
    let mut worker = Worker::start(tools, &spec.function, spec.options.time_limit())?;
    let headers = bundled::include_folder(cache)?;
    let mut found = Vec::new();
    // Where nothing else is there: inline and static functions that nothing uses.
    for all_declarations in [false, true] {
        let compiled = compile(context, &staging, &headers, all_declarations, None)?;
        let loaded = load(context, &mut worker, &compiled.modules, openmp::around_engine(context)?)?;
        found = symbol::readable(&compiled.procedures, &loaded.functions);
        if !found.is_empty() {
            break;
        }
    }
    Ok(found)
}

/// Whether a worker has loaded what builds of a function start from, and nothing else.
fn has_loaded_all(worker: &Worker, manifest: &Manifest) -> bool {
    worker.loads() == 1 && manifest.library.is_empty() && manifest.renamed.is_empty() && manifest.external.is_empty()
}

/// Writes bitcode and manifest of an entry to a folder; with the places of [`Analysed::absent`].
fn described(
    context: &Context<'_>,
    staging: &Staging,
    worker: &mut Worker,
) -> Result<(Manifest, Option<Vec<PathBuf>>)> {
    let Context { spec, tools, cache } = *context;
    let headers = bundled::include_folder(cache)?;
    let Discovered { compiled, prototype, single_precision, rules, solvers } =
        discovered(context, staging, worker, &headers)?;
    let plan = signature::plan(&prototype, spec.signature.as_deref(), &spec.options.sizes)?;
    if plan.inputs.len() > 64 {
        let headline = format!("`{}` has {} inputs; 64 is the most", spec.function, plan.inputs.len());
        return Err(Error::Arity(Box::new(Diagnosis::new("too-many-inputs", &spec.function, headline))));
    }
    let tool_records = key::tool_records(tools);
    mpi::require_option(spec, &compiled.dependencies)?;
    let exceptions = language::is_cpp(spec)? || bundled::throws(&rules.renamed);
    let libraries = libraries::read(context, exceptions, staging.path())?;
    let clock = compiled.inputs.clock.then(key::clock);
    let sources = [key::sources(&compiled.dependencies)?, libraries, clock.into_iter().collect()].concat();
    let inputs = compiled.inputs;
    let absent = (!inputs.open_ended).then(|| inputs.absent.into_iter().chain(key::libraries_before(spec, &sources)));
    let absent = absent.map(Iterator::collect);
    let key = key::entry(spec, &sources, &tool_records);
    let modules: Vec<String> =
        compiled.modules.iter().filter_map(|m| Some(m.file_name()?.to_str()?.to_owned())).collect();
    let digest = |name: &String| Ok((name.clone(), cache::digest_file(&staging.path().join(name))?));
    let digests = modules.iter().chain(&rules.library).map(digest).collect::<Result<_>>()?;
    let manifest = Manifest {
        format: FORMAT,
        ffgrad: env!("CARGO_PKG_VERSION").to_owned(),
        key: key.clone(),
        sources,
        tools: tool_records,
        commands: compiled.commands,
        cpu: crate::os::cpu::target(&spec.options.cpu),
        math: spec.options.math,
        exceptions,
        single_precision,
        prototype,
        plan,
        modules,
        digests,
        library: rules.library,
        renamed: rules.renamed,
        external: rules.external,
        rules: rules.given,
        solvers,
        link: rules.link,
    };
    cache::write_json(&staging.path().join("manifest.json"), &manifest)?;
    Ok((manifest, absent))
}

/// What the sources turn out to be.
struct Discovered {
    compiled: Compiled,
    prototype: Prototype,
    single_precision: bool,
    rules: Prepared,
    solvers: Vec<Solver>,
}

/// Compiles the sources and finds out the function's prototype. A function that most likely needs an adapter is compiled together with the
/// adapter that its text foretells, which saves compiling it twice; from the start again where that is not the adapter that it needs.
fn discovered(context: &Context<'_>, staging: &Staging, worker: &mut Worker, headers: &Path) -> Result<Discovered> {
    let Context { spec, tools, .. } = *context;
    if let Some(adapter) = frontend::adapter::foretold(spec, staging.path())? {
        let step = Step::begin("compiling the source".to_owned());
        // What is wrong with the source is said of the source alone.
        let compiled = compile(context, staging, headers, false, Some(&adapter));
        drop(step);
        let unit = adapter.unit.clone();
        let found = compiled.and_then(|compiled| attempt(context, staging, worker, headers, Some((adapter, compiled))));
        match found {
            Ok(Some(discovered)) => return Ok(discovered),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            // It is an adapter's again, or nothing's.
            Ok(None) | Err(_) => std::fs::remove_file(&unit).map_err(cache::io("remove", &unit))?,
        }
        *worker = Worker::start(tools, &spec.function, spec.options.time_limit())?;
    }
    let found = attempt(context, staging, worker, headers, None)?;
    found.ok_or_else(|| undescribed(spec, "it has no adapter".to_owned()))
}

/// The same, with or without an adapter that is compiled `early`; `None` where that is not the right one.
fn attempt(
    context: &Context<'_>,
    staging: &Staging,
    worker: &mut Worker,
    headers: &Path,
    early: Option<(Adapter, Compiled)>,
) -> Result<Option<Discovered>> {
    let spec = context.spec;
    let step = Step::begin("compiling the source".to_owned());
    let (early, mut compiled) = match early {
        Some((adapter, compiled)) => (Some(adapter), compiled),
        None => (None, compile(context, staging, headers, false, None)?),
    };
    drop(step);
    let _step = Step::begin("finding out the prototype".to_owned());
    let mut loaded = load(context, worker, &compiled.modules, openmp::around_engine(context)?)
        .map_err(|e| link::defined_twice(spec, e))?;
    let mut all_declarations = false;
    let missing = || matches!(names::find(&spec.function, &loaded.functions), Lookup::Missing { .. });
    if compiled.procedures.is_empty() && missing() {
        if early.is_some() {
            return Ok(None);
        }
        // An inline or static function that nothing uses is emitted on request only.
        if let Ok(all) = compile(context, staging, headers, true, None) {
            compiled = all;
            all_declarations = true;
            loaded = load(context, worker, &compiled.modules, openmp::around_engine(context)?)?;
        }
    }
    let symbol = symbol::find(spec, &compiled.procedures, &loaded.functions, &compiled.dependencies)?;
    frontend::cuda::needs_no_host_code(spec, &compiled, &symbol)?;
    frontend::cuda::check_names(spec, &compiled)?;
    let programs =
        implicit::compile(context, worker, &loaded.functions, &compiled.procedures, headers, staging.path())?;
    let mut solvers = Vec::new();
    if !programs.is_empty() {
        loaded = add_programs(context, worker, &mut compiled, &programs)?;
        compiled.commands.extend(programs.iter().map(|program| program.command.clone()));
        solvers.extend(programs.iter().map(|program| program.solver.clone()));
    }
    let mut rules = rules::prepare(context, worker, &compiled.modules, &loaded, staging.path())?;
    let (mut prototype, mut single_precision) = describe(worker, spec, &symbol)?;
    let adapter = frontend::adapter::write(spec, &prototype, staging.path())?;
    if early.is_some() && early != adapter {
        return Ok(None);
    }
    if let Some(adapter) = adapter {
        if early.is_none() {
            let _step = Step::begin("compiling the adapter".to_owned());
            compiled = compile(context, staging, headers, all_declarations, Some(&adapter))
                .map_err(|e| frontend::adapter::rejected(spec, &prototype, e))?;
            rules = loaded_anew(context, staging, worker, &mut compiled, &programs)?;
        }
        let found;
        (found, single_precision) = describe(worker, spec, core_ad::adapter::SYMBOL)?;
        let adapted = core_ad::adapter::prototype(&prototype, &found).map_err(|e| undescribed(spec, e))?;
        prototype = Prototype { adapter: Some(adapter.text), ..adapted };
    }
    let prototype = match compiled.procedures.iter().find(|p| p.symbol == symbol) {
        Some(procedure) => core_ad::fortran::prototype(prototype, procedure).map_err(|e| undescribed(spec, e))?,
        None => prototype,
    };
    Ok(Some(Discovered { compiled, prototype, single_precision, rules, solvers }))
}

/// Loads what was compiled with an adapter. A worker that has loaded nothing else can be kept for the first build.
fn loaded_anew(
    context: &Context<'_>,
    staging: &Staging,
    worker: &mut Worker,
    compiled: &mut Compiled,
    programs: &[Program],
) -> Result<Prepared> {
    let spec = context.spec;
    *worker = Worker::start(context.tools, &spec.function, spec.options.time_limit())?;
    let loaded = match programs.is_empty() {
        true => load(context, worker, &compiled.modules, openmp::around_engine(context)?)?,
        false => add_programs(context, worker, compiled, programs)?,
    };
    rules::prepare(context, worker, &compiled.modules, &loaded, staging.path())
}

/// Compiles the sources, those of a folder from what the search for them has left.
fn compile(
    context: &Context<'_>,
    staging: &Staging,
    headers: &Path,
    all_declarations: bool,
    adapter: Option<&Adapter>,
) -> Result<Compiled> {
    let Context { spec, tools, cache } = *context;
    match &spec.options.reach {
        Some(reach) => folder::compile(context, reach, staging.path(), all_declarations, adapter),
        None => frontend::compile(tools, spec, cache, staging.path(), headers, all_declarations, adapter),
    }
}

fn load(context: &Context<'_>, worker: &mut Worker, modules: &[PathBuf], openmp: Option<OpenMp>) -> Result<Loaded> {
    let checkpoint = checkpoint::places(context.spec)?;
    let (renamed, library, external) = (Vec::new(), Vec::new(), Vec::new());
    let request = Request::Load { modules: modules.to_vec(), renamed, library, external, openmp, checkpoint };
    match worker.request(&request)? {
        Response::Loaded { functions, undefined, drivers } => Ok(Loaded { functions, undefined, drivers }),
        _ => Ok(Loaded::default()),
    }
}

/// Loads the sources together with the programs that take the places of solvers.
fn add_programs(
    context: &Context<'_>,
    worker: &mut Worker,
    compiled: &mut Compiled,
    programs: &[Program],
) -> Result<Loaded> {
    compiled.modules.extend(programs.iter().map(|program| program.module.clone()));
    let loaded = load(context, worker, &compiled.modules, openmp::around_engine(context)?)?;
    implicit::check_visible(context.spec, programs, &loaded.undefined)?;
    Ok(loaded)
}

fn describe(worker: &mut Worker, spec: &Spec, symbol: &str) -> Result<(Prototype, bool)> {
    let request = Request::Describe { symbol: symbol.to_owned(), function: spec.function.clone() };
    match worker.request(&request) {
        Ok(Response::Described { prototype, single_precision }) => Ok((prototype, single_precision)),
        Ok(_) => Err(undescribed(spec, "the worker gave no prototype".to_owned())),
        Err(Error::Differentiation(mut d)) if d.code == MISMATCHED_CALL => {
            d.location = d.location.take().map(source_text::with_text);
            Err(Error::compile(*d))
        }
        Err(Error::Differentiation(d)) if worker.failure().is_none() && !is_no_prototypes(&d) => {
            // What the worker says is about the function; that it was the worker who met it is not.
            let met = format!("the worker failed on `{}`: ", spec.function);
            match d.headline.split_once(UNSET_CONSTANT) {
                Some((_, name)) => Err(crate::build::frontend::cuda::unset_constant(spec, name)),
                None => Err(undescribed(spec, d.headline.trim_start_matches(met.as_str()).to_owned())),
            }
        }
        Err(other) => Err(other),
    }
}

/// Refusals while the prototype is found out that are not about the prototype.
fn is_no_prototypes(refusal: &Diagnosis) -> bool {
    ["openmp-construct", "checkpoint", OUT_OF_MEMORY].contains(&refusal.code.as_str())
}

fn undescribed(spec: &Spec, reason: String) -> Error {
    let headline = format!("the prototype of `{}` cannot be used: {reason}", spec.function);
    Error::compile(
        Diagnosis::new("prototype", &spec.function, headline)
            .advise("Write a small extern \"C\" function around it that takes numbers and pointers to numbers."),
    )
}

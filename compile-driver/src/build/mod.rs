//! The build: from a specification to a cache entry, and from an entry to artifacts.
//!
//! Two stages. [`analyse`] compiles the source and discovers what it is; [`primal`] and [`derivative`]
//! make shared objects from the bitcode it left, when they are first needed.

pub mod context;
pub mod enzyme;
pub mod frontend;
pub mod key;
pub(crate) mod link;
pub mod mpi;
pub mod openmp;
pub mod ptx;
pub(crate) mod refusal;
pub(crate) mod rules;
pub(crate) mod runtime;
pub(crate) mod symbol;
pub(crate) mod worker;

use crate::build::context::Context;
use crate::build::frontend::language;
use crate::build::link::libraries;
use crate::build::refusal::crash::Scene;
use crate::build::refusal::locate::Refused;
use crate::build::rules::bundled;
use crate::build::worker::Worker;
use crate::cache::{self, Lock, Staging, entry, layout};
use crate::error::{Error, OUT_OF_MEMORY, Result};
use crate::options::{self, Spec};
use crate::os::process;
use crate::source_text;
use core_ad::DerivativeSet;
use core_ad::cuda::UNSET_CONSTANT;
use core_ad::diagnostics::{Diagnosis, Location};
use core_ad::manifest::{ArtifactRecord, FORMAT, Manifest};
use core_ad::names::{self, Lookup};
use core_ad::protocol::{CodeGen, Entry, OpenMp, Request, Response, Rung};
use core_ad::{Access, Arg, Prototype, signature};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Compiles the source, discovers the prototype, makes the plan and publishes the entry, which is in use as long as the lock is held.
///
/// # Errors
///
/// Compile, signature and cache errors.
pub fn analyse(context: &Context<'_>) -> Result<(Manifest, Option<Lock>)> {
    let Context { spec, tools, cache } = context;
    let staging = cache.staging()?;
    let timeout = Duration::from_secs(spec.options.timeout);
    let mut worker = Worker::start(tools, &spec.function, timeout)?;
    let key = match described(context, &staging, &mut worker) {
        Ok(key) => key,
        Err(error) => {
            let name = format!("refused-{}-source", &key::request(spec)?[..16]);
            let scene = Scene { context, modules: Vec::new(), home: None, name };
            return Err(scene.complete(&worker, &mut Some(staging), error));
        }
    };
    // Held before it is there, so that who prunes at this moment leaves it.
    let _early = cache.hold(&key);
    // The same source elsewhere has the same key, and bitcode that differs in the place it names: who was first has published
    // bitcode and manifest, which belong together.
    cache.publish_unless(staging, &cache.entry(&key), |_| entry::sound(cache, &key).is_some())?;
    match entry::sound(cache, &key) {
        // Once more: only what is there can be marked as used.
        Some(manifest) => Ok((manifest, cache.hold(&key))),
        None => Err(entry::damaged(cache, &key, "it is damaged again as soon as it is written")),
    }
}

/// Writes bitcode and manifest of an entry to a folder; returns its key.
fn described(context: &Context<'_>, staging: &Staging, worker: &mut Worker) -> Result<String> {
    let Context { spec, tools, cache } = context;
    let headers = bundled::include_folder(cache)?;
    let mut compiled = frontend::compile(tools, spec, cache, staging.path(), &headers, false)?;
    let openmp = openmp::around_engine(context)?;
    let mut loaded = load(worker, &compiled.modules, openmp.clone()).map_err(|e| link::defined_twice(spec, e))?;
    let missing = || matches!(names::find(&spec.function, &loaded.functions), Lookup::Missing { .. });
    if compiled.procedures.is_empty() && missing() {
        // An inline or static function that nothing uses is emitted on request only.
        if let Ok(all) = frontend::compile(tools, spec, cache, staging.path(), &headers, true) {
            compiled = all;
            loaded = load(worker, &compiled.modules, openmp)?;
        }
    }
    let symbol = symbol::find(spec, &compiled.procedures, &loaded.functions)?;
    let rules = rules::prepare(context, worker, &compiled.modules, &loaded.undefined, staging.path())?;
    let (prototype, single_precision) = describe(worker, spec, &symbol)?;
    let prototype = match compiled.procedures.iter().find(|p| p.symbol == symbol) {
        Some(procedure) => core_ad::fortran::prototype(prototype, procedure).map_err(|e| undescribed(spec, e))?,
        None => prototype,
    };
    let plan = signature::plan(&prototype, spec.signature.as_deref(), &spec.options.sizes)?;
    if plan.inputs.len() > 64 {
        let headline = format!("`{}` has {} inputs; 64 is the most", spec.function, plan.inputs.len());
        return Err(Error::Arity(Box::new(Diagnosis::new("too-many-inputs", &spec.function, headline))));
    }
    let tool_records = key::tool_records(tools);
    mpi::must_be_said(spec, &compiled.dependencies)?;
    let exceptions = language::is_cpp(spec)? || bundled::throws(&rules.renamed);
    let libraries = libraries::read(context, exceptions, staging.path())?;
    let sources = [key::sources(&compiled.dependencies)?, libraries].concat();
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
        link: rules.link,
    };
    cache::write_json(&staging.path().join("manifest.json"), &manifest)?;
    Ok(key)
}

/// What the sources define and what they use without defining it.
#[derive(Default)]
struct Loaded {
    functions: Vec<String>,
    undefined: Vec<String>,
}

fn load(worker: &mut Worker, modules: &[PathBuf], openmp: Option<OpenMp>) -> Result<Loaded> {
    let (renamed, library, external) = (Vec::new(), Vec::new(), Vec::new());
    let request = Request::Load { modules: modules.to_vec(), renamed, library, external, openmp };
    match worker.request(&request)? {
        Response::Loaded { functions, undefined } => Ok(Loaded { functions, undefined }),
        _ => Ok(Loaded::default()),
    }
}

fn describe(worker: &mut Worker, spec: &Spec, symbol: &str) -> Result<(Prototype, bool)> {
    let request = Request::Describe { symbol: symbol.to_owned(), function: spec.function.clone() };
    match worker.request(&request) {
        Ok(Response::Described { prototype, single_precision }) => Ok((prototype, single_precision)),
        Ok(_) => Err(undescribed(spec, "the worker gave no prototype".to_owned())),
        Err(Error::Differentiation(d)) if worker.failure().is_none() && !is_no_prototypes(&d) => {
            match d.headline.split_once(UNSET_CONSTANT) {
                Some((_, name)) => Err(crate::build::frontend::cuda::unset_constant(spec, name)),
                None => Err(undescribed(spec, d.headline)),
            }
        }
        Err(other) => Err(other),
    }
}

/// Refusals while the prototype is found out that are not about the prototype.
fn is_no_prototypes(refusal: &Diagnosis) -> bool {
    ["openmp-construct", OUT_OF_MEMORY].contains(&refusal.code.as_str())
}

fn undescribed(spec: &Spec, reason: String) -> Error {
    let headline = format!("the prototype of `{}` cannot be used: {reason}", spec.function);
    Error::compile(
        Diagnosis::new("prototype", &spec.function, headline)
            .advise("Write a small extern \"C\" function around it that takes numbers and pointers to numbers."),
    )
}

/// Builds and publishes the artifact with the primal alone.
///
/// # Errors
///
/// Compile errors (undefined symbols) and cache errors.
pub fn primal(context: &Context<'_>, manifest: &Manifest) -> Result<PathBuf> {
    let target = layout::primal_folder(context.cache, &manifest.key);
    let mut build = Build::start(context, &manifest.key)?;
    build.primal().map_err(|e| build.failed("primal", e))?;
    build.link_and_publish(&target, vec![Entry::Primal], 0, None)?;
    Ok(target)
}

/// Builds and publishes the artifact with first derivatives on one rung of the ladder.
///
/// # Errors
///
/// Differentiation errors where the engine refuses, compile and cache errors.
pub fn derivative(context: &Context<'_>, manifest: &Manifest, wanted: DerivativeSet, rung: Rung) -> Result<PathBuf> {
    let target = layout::derivative_folder(context.cache, &manifest.key, wanted, rung);
    let mut build = Build::start(context, &manifest.key)?;
    let what = format!("{}-{}", wanted.name(), rung.name());
    build.differentiate(wanted, rung).map_err(|e| build.failed(&what, with_text(e)))?;
    build.primal().map_err(|e| build.failed(&what, e))?;
    let entries = [&[Entry::Primal], wanted.compiled()].concat();
    build.link_and_publish(&target, entries, wanted.mask, Some(rung))?;
    Ok(target)
}

/// Completes the refusal of a function that the engine took on no rung: the user's own line, for a crash too, and, where
/// ffgrad does not know the reason, a folder with every file of the build. What goes wrong here leaves the refusal as it is.
pub fn explain(context: &Context<'_>, manifest: &Manifest, wanted: DerivativeSet, rung: Rung, refusal: &mut Diagnosis) {
    if enzyme::has_run(refusal)
        && let Ok(mut build) = Build::start(context, &manifest.key)
    {
        build.explain(wanted, rung, refusal);
    }
}

fn with_text(error: Error) -> Error {
    let Error::Differentiation(mut diagnosis) = error else { return error };
    diagnosis.location = diagnosis.location.map(source_text::with_text);
    Error::Differentiation(diagnosis)
}

/// Where the user's function is defined.
fn home(manifest: &Manifest) -> Location {
    let prototype = &manifest.prototype;
    Location { file: prototype.file.clone(), line: prototype.line, column: 0, text: None }
}

/// One artifact under construction, in a staging folder of its own.
struct Build<'a> {
    context: &'a Context<'a>,
    manifest: Manifest,
    staging: Option<Staging>,
    folder: PathBuf,
    worker: Worker,
    objects: Vec<PathBuf>,
    commands: Vec<String>,
    diagnostics: Vec<String>,
    /// Functions that passes of the worker skip.
    skipped: Vec<String>,
}

impl<'a> Build<'a> {
    fn start(context: &'a Context<'a>, key: &str) -> Result<Self> {
        let staging = context.cache.staging()?;
        let folder = staging.path().to_owned();
        let timeout = Duration::from_secs(context.spec.options.timeout);
        let worker = Worker::start(context.tools, &context.spec.function, timeout)?;
        let entry = context.cache.entry(key);
        // Another process may have written the entry anew since this one read the manifest. Where it is damaged, its artifacts
        // are as good as they were, but nothing more can be built from it.
        let manifest = match entry::sound(context.cache, key) {
            Some(current) => current,
            None => analyse(context)?.0,
        };
        if manifest.key != key {
            return Err(entry::damaged(context.cache, key, "the sources have changed since it was opened"));
        }
        let inside = |names: &[String]| names.iter().map(|m| entry.join(m)).collect();
        let (modules, library) = (inside(&manifest.modules), inside(&manifest.library));
        let openmp = openmp::around_engine(context)?;
        let (renamed, external) = (manifest.renamed.clone(), manifest.external.clone());
        let mut build = Build {
            context,
            manifest,
            staging: Some(staging),
            folder,
            worker,
            objects: Vec::new(),
            commands: Vec::new(),
            diagnostics: Vec::new(),
            skipped: Vec::new(),
        };
        let request = Request::Load { modules, renamed, library, external, openmp };
        build.worker.request(&request).map_err(|e| build.failed("source", e))?;
        Ok(build)
    }

    /// The error of a build that is given up, with what a worker that failed left; `what`: was being built.
    fn failed(&mut self, what: &str, error: Error) -> Error {
        let Build { context, manifest, .. } = self;
        let entry = context.cache.entry(&manifest.key);
        let scene = Scene {
            context,
            modules: manifest.modules.iter().map(|m| entry.join(m)).collect(),
            home: Some(home(manifest)),
            name: format!("refused-{}-{what}", &manifest.key[..16]),
        };
        scene.complete(&self.worker, &mut self.staging, error)
    }

    fn codegen(&self) -> Result<CodeGen> {
        let options = &self.context.spec.options;
        let kernel = options::is_kernel(self.context.spec);
        let launch =
            kernel.then(|| crate::build::runtime::launch(self.context.tools, self.context.cache)).transpose()?;
        let constant = |(i, arg): (usize, &Arg)| Some((i, *options.constants.get(&arg.name)?));
        Ok(CodeGen {
            math: self.manifest.math,
            cpu: options.cpu.clone(),
            exceptions: self.manifest.exceptions,
            without: options.without.clone(),
            constants: self.manifest.plan.args.iter().enumerate().filter_map(constant).collect(),
            launch,
        })
    }

    fn primal(&mut self) -> Result<()> {
        let output = self.folder.join("primal.o");
        self.worker.request(&Request::Primal {
            symbol: self.manifest.prototype.symbol.clone(),
            plan: self.manifest.plan.clone(),
            codegen: self.codegen()?,
            output: output.clone(),
        })?;
        self.objects.push(output);
        Ok(())
    }

    /// Writes what the engine is to be given.
    fn derive(&mut self, wanted: DerivativeSet, rung: Rung, output: &Path) -> Result<()> {
        let derived = self.worker.request(&Request::Derive {
            symbol: self.manifest.prototype.symbol.clone(),
            plan: self.manifest.plan.clone(),
            mask: wanted.mask,
            write_only: self.write_only(),
            entries: wanted.compiled().to_vec(),
            rung,
            inactive: self.context.spec.options.inactive.clone(),
            derivatives: rules::given(self.context.spec)?,
            ignored: self.context.spec.options.ignored_derivatives.clone(),
            arena: self.context.spec.options.arena,
            codegen: self.codegen()?,
            output: output.to_owned(),
        })?;
        if let Response::Written { notes, skipped } = derived {
            self.diagnostics.extend(notes);
            self.skipped.extend(skipped);
        }
        Ok(())
    }

    fn job<'j>(&'j self, rung: Rung, input: &'j Path, output: &'j Path) -> enzyme::Job<'j> {
        let options = &self.context.spec.options;
        enzyme::Job {
            function: &self.context.spec.function,
            input,
            output,
            math: self.manifest.math,
            options: &options.engine_options,
            loose_types: rung == Rung::Loose || options.loose_types,
            timeout: Duration::from_secs(options.timeout),
        }
    }

    fn differentiate(&mut self, wanted: DerivativeSet, rung: Rung) -> Result<()> {
        let mask = wanted.mask;
        let (before, after) = (self.folder.join("before.ll"), self.folder.join("after.ll"));
        let object = self.folder.join("derivative.o");
        self.derive(wanted, rung, &before)?;
        let engine = enzyme::of(self.context.tools, &self.context.spec.function)?;
        let done = engine.differentiate(&self.job(rung, &before, &after))?;
        self.commands.push(done.command);
        self.diagnostics.extend(done.diagnostics);
        let arena = match self.context.spec.options.arena {
            true => Some(crate::build::runtime::arena(self.context.tools, self.context.cache)?),
            false => None,
        };
        let finished = self.worker.request(&Request::Finish {
            input: after,
            arena,
            entries: wanted.compiled().iter().map(|&e| (e, self.manifest.plan.slots(e, mask).count())).collect(),
            codegen: self.codegen()?,
            output: object.clone(),
            ir: Some(self.folder.join("final.ll")),
        })?;
        if let Response::Written { notes, .. } = finished {
            self.diagnostics.extend(notes);
        }
        self.objects.push(object);
        Ok(())
    }

    /// Outputs that LLVM has proven to be only written. Parameters come first in a plan, in their own order.
    fn write_only(&self) -> Vec<usize> {
        let prototype = &self.manifest.prototype;
        let unread = |i: usize| match &prototype.fortran {
            Some(procedure) => procedure.dummies[i].unread,
            None => prototype.params[i].access == Some(Access::Write),
        };
        (0..prototype.params.len()).filter(|i| unread(*i)).collect()
    }

    fn link_and_publish(mut self, target: &Path, entries: Vec<Entry>, mask: u64, rung: Option<Rung>) -> Result<()> {
        let name = format!("ffgrad-{}.so", &self.manifest.key[..16]);
        let shared = self.folder.join(&name);
        self.link(&shared)?;
        for object in &self.objects {
            fs::remove_file(object).map_err(cache::io("remove", object))?;
        }
        let record = ArtifactRecord {
            format: FORMAT,
            file: name,
            kind: "elf".to_owned(),
            digest: cache::digest_file(&shared)?,
            entries,
            mask,
            rung,
            diagnostics: std::mem::take(&mut self.diagnostics),
            skipped: std::mem::take(&mut self.skipped),
            commands: std::mem::take(&mut self.commands),
        };
        cache::write_json(&self.folder.join("artifact.json"), &record)?;
        match self.staging.take() {
            Some(staging) => self.context.cache.publish(staging, target),
            None => Ok(()),
        }
    }

    fn link(&mut self, shared: &Path) -> Result<()> {
        let Context { spec, tools, .. } = self.context;
        let mut command = link::linker(tools, self.manifest.exceptions);
        command.args(["-Wl,-z,defs", "-Wl,--build-id=none", "-Wl,-z,nodelete", "-o"]).arg(shared).args(&self.objects);
        command.args(mpi::helper(self.context, &self.folder)?).args(link::libraries(spec)?);
        command.args(tools.fortran.iter().map(|f| &f.runtime)).args(&self.manifest.link).arg("-lm");
        self.commands.push(process::command_line(&command));
        link::run(spec, &mut command)?;
        libraries::must_be_those_of(&self.manifest, self.context, &self.folder)
    }

    fn explain(&mut self, wanted: DerivativeSet, rung: Rung, refusal: &mut Diagnosis) {
        let (before, after) = (self.folder.join("before.ll"), self.folder.join("after.ll"));
        let Ok(engine) = enzyme::of(self.context.tools, &self.context.spec.function) else { return };
        if self.derive(wanted, rung, &before).is_err() {
            return;
        }
        let spec = self.context.spec;
        // One of its own: what crashes on a variant of the module takes no build along.
        let timeout = Duration::from_secs(spec.options.timeout);
        let Ok(mut worker) = Worker::start(self.context.tools, &spec.function, timeout) else { return };
        let job = self.job(rung, &before, &after);
        let costly = enzyme::is_costly(refusal);
        if !costly {
            let home = home(&self.manifest);
            Refused { spec, engine: &*engine, job: &job, worker: &mut worker, home }.locate(refusal);
        }
        if std::env::var_os("FFGRAD_KEEP").is_some() || enzyme::is_unexplained(refusal) {
            if !costly {
                // Once more, for what it says in full; that it fails is known.
                let _ = engine.differentiate(&job);
            }
            let name = format!("refused-{}-{}", &self.manifest.key[..16], wanted.name());
            refusal.kept = self.staging.take().map(|s| s.keep_as(&name).display().to_string());
        }
    }
}

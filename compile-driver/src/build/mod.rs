//! The build: from a specification to a cache entry, and from an entry to artifacts.
//!
//! Two stages. [`analyse`] compiles the source and discovers what it is; [`primal`] and [`derivative`]
//! make shared objects from the bitcode it left, when they are first needed.

pub(crate) mod analyse;
pub mod checkpoint;
pub mod context;
pub mod enzyme;
pub mod folder;
pub mod frontend;
pub(crate) mod implicit;
pub mod kept_worker;
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

pub use analyse::{Analysed, analyse};

use crate::build::context::Context;
use crate::build::link::libraries;
use crate::build::refusal::callees;
use crate::build::refusal::crash::Scene;
use crate::build::refusal::locate::Refused;
use crate::build::worker::Worker;
use crate::cache::{self, Staging, entry, layout};
use crate::error::{Error, Result};
use crate::options::{self, Verify};
use crate::os::progress::Step;
use crate::os::{interrupt, process};
use crate::source_text;
use core_ad::DerivativeSet;
use core_ad::derivative_set::Order;
use core_ad::diagnostics::{Diagnosis, Location};
use core_ad::manifest::{ArtifactRecord, FORMAT, Manifest, Paths};
use core_ad::passes::{DERIVATIVE_ARITHMETIC, PATH_MAP as PATH_MAP_PASS, PassName};
use core_ad::protocol::{CodeGen, Entry, Pipeline, Request, Response};
use core_ad::{Access, Arg};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Builds and publishes the artifact with the primal alone.
///
/// # Errors
///
/// Compile errors (undefined symbols) and cache errors.
pub fn primal(context: &Context<'_>, manifest: &Manifest) -> Result<PathBuf> {
    let target = layout::primal_folder(context.cache, &manifest.key);
    let mut build = Build::start(context, &manifest.key)?;
    build.primal(false).map_err(|e| build.failed("primal", e))?;
    build.link_and_publish(&target, vec![Entry::Primal], 0, None)?;
    Ok(target)
}

/// The same for a primal that notes the line of each access of memory.
///
/// # Errors
///
/// As [`primal`].
pub fn with_lines(context: &Context<'_>, manifest: &Manifest) -> Result<PathBuf> {
    let target = layout::lines_folder(context.cache, &manifest.key);
    let mut build = Build::start(context, &manifest.key)?;
    build.primal(true).map_err(|e| build.failed("lines", e))?;
    build.link_and_publish(&target, vec![Entry::Primal], 0, None)?;
    Ok(target)
}

/// Builds and publishes the artifact with first derivatives in one pipeline; Enzyme may take as long as `within` says.
///
/// # Errors
///
/// Differentiation errors where Enzyme refuses, compile and cache errors.
pub fn derivative(
    context: &Context<'_>,
    manifest: &Manifest,
    wanted: DerivativeSet,
    pipeline: Pipeline,
    within: Duration,
) -> Result<PathBuf> {
    let target = layout::derivative_folder(context.cache, &manifest.key, wanted, pipeline);
    let mut build = Build::start(context, &manifest.key)?;
    build.within = within;
    let what = format!("{}-{}", wanted.name(), pipeline.name());
    build.differentiate(wanted, pipeline).map_err(|e| build.failed(&what, with_text(e)))?;
    if !build.reuse_primal() {
        build.primal(false).map_err(|e| build.failed(&what, e))?;
    }
    let entries = [&[Entry::Primal], wanted.compiled()].concat();
    build.link_and_publish(&target, entries, wanted.mask, Some(pipeline))?;
    Ok(target)
}

/// Completes the refusal of a function that Enzyme took in no pipeline: the user's own line, for a crash too, and, where
/// ffgrad does not know the reason, a folder with every file of the build. What goes wrong here leaves the refusal as it is.
pub fn explain(
    context: &Context<'_>,
    manifest: &Manifest,
    wanted: DerivativeSet,
    pipeline: Pipeline,
    refusal: &mut Diagnosis,
) {
    if enzyme::has_run(refusal)
        && let Ok(mut build) = Build::start(context, &manifest.key)
    {
        build.explain(wanted, pipeline, refusal);
    }
    callees::advise_what_links(context.spec, refusal);
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

/// The primal's object file, in the folder of an artifact.
const PRIMAL_OBJECT: &str = "primal.o";

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
    /// What decides the paths through the derivatives.
    paths: Option<Paths>,
    /// The function tests numbers for equality.
    tests_equality: bool,
    /// What starts threads in code that the derivative stops at.
    threads: Option<String>,
    /// Memory has no type of its own in the derivative.
    untyped_memory: bool,
    /// Some loops are checkpointed.
    checkpoints: bool,
    /// Time limit of Enzyme.
    within: Duration,
    /// Functions that are taken for inactive beside the user's, for a search.
    also_inactive: Vec<String>,
}

impl<'a> Build<'a> {
    fn start(context: &'a Context<'a>, key: &str) -> Result<Self> {
        let staging = context.cache.staging()?;
        let folder = staging.path().to_owned();
        let timeout = context.spec.options.time_limit();
        let entry = context.cache.entry(key);
        // Another process may have rewritten the entry since this one read the manifest. Where it is damaged, its artifacts
        // are as good as they were, but nothing more can be built from it.
        let manifest = match entry::sound(context.cache, key) {
            Some(current) => current,
            None => analyse(context)?.manifest,
        };
        if manifest.key != key {
            return Err(entry::damaged(context.cache, key, "the sources have changed since it was opened"));
        }
        let kept = kept_worker::take(&entry, &manifest, context.tools, timeout);
        let is_loaded = kept.is_some();
        let worker = match kept {
            Some(worker) => worker,
            None => Worker::start(context.tools, &context.spec.function, timeout)?,
        };
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
            paths: None,
            tests_equality: false,
            threads: None,
            untyped_memory: false,
            checkpoints: false,
            within: timeout,
            also_inactive: Vec::new(),
        };
        if !is_loaded {
            build.load(&entry)?;
        }
        Ok(build)
    }

    /// Has the worker read the entry's bitcode.
    fn load(&mut self, entry: &Path) -> Result<()> {
        let inside = |names: &[String]| names.iter().map(|m| entry.join(m)).collect();
        let manifest = &self.manifest;
        let (modules, library) = (inside(&manifest.modules), inside(&manifest.library));
        let (renamed, external) = (manifest.renamed.clone(), manifest.external.clone());
        let openmp = openmp::around_engine(self.context)?;
        let checkpoint = checkpoint::places(self.context.spec)?;
        let request = Request::Load { modules, renamed, library, external, openmp, checkpoint };
        self.worker.request(&request).map_err(|e| self.failed("source", e))?;
        Ok(())
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

    fn codegen(&self, pipeline: Option<Pipeline>) -> Result<CodeGen> {
        let options = &self.context.spec.options;
        let kernel = options::is_kernel(self.context.spec);
        let launch =
            kernel.then(|| crate::build::runtime::launch(self.context.tools, self.context.cache)).transpose()?;
        let constant = |(i, arg): (usize, &Arg)| Some((i, *options.fixed_sizes.get(&arg.name)?));
        let mut without = options.without.clone();
        // Ranks would have to agree on a check: nobody reads the map.
        without.extend(options.mpi.then(|| PassName::of(PATH_MAP_PASS)).flatten());
        let keeps_order = pipeline.is_some_and(Pipeline::keeps_order);
        without.extend(keeps_order.then(|| PassName::of(DERIVATIVE_ARITHMETIC)).flatten());
        Ok(CodeGen {
            math: self.manifest.math,
            cpu: options.cpu.clone(),
            exceptions: self.manifest.exceptions,
            without,
            constants: self.manifest.plan.args.iter().enumerate().filter_map(constant).collect(),
            launch,
        })
    }

    fn primal(&mut self, lines: bool) -> Result<()> {
        let _step = Step::begin("compiling the function".to_owned());
        let output = self.folder.join(PRIMAL_OBJECT);
        self.worker.request(&Request::Primal {
            symbol: self.manifest.prototype.symbol.clone(),
            plan: self.manifest.plan.clone(),
            codegen: self.codegen(None)?,
            lines,
            output: output.clone(),
        })?;
        self.objects.push(output);
        Ok(())
    }

    /// Takes over the object file of the primal's own artifact; whether that is there, as it was built. It is the same code, and its optimisation takes as
    /// long as the derivative's in a function of many libraries.
    fn reuse_primal(&mut self) -> bool {
        let folder = layout::primal_folder(self.context.cache, &self.manifest.key);
        let digest = layout::whole(&folder).and_then(|(record, _)| record.object);
        let own = self.folder.join(PRIMAL_OBJECT);
        let is_whole = digest.is_some()
            && fs::copy(folder.join(PRIMAL_OBJECT), &own).is_ok()
            && cache::digest_file(&own).ok() == digest;
        if is_whole {
            self.objects.push(own);
        }
        is_whole
    }

    /// Writes what Enzyme is to be given; with the source's lines where a refusal is to be located.
    fn derive(&mut self, wanted: DerivativeSet, pipeline: Pipeline, lines: bool, output: &Path) -> Result<()> {
        let solvers = implicit::in_use(self.context.spec, &self.manifest);
        let derived = self.worker.request(&Request::Derive {
            symbol: implicit::differentiated(&solvers, &self.manifest.prototype.symbol),
            plan: self.manifest.plan.clone(),
            mask: wanted.mask,
            write_only: self.write_only(),
            entries: wanted.compiled().to_vec(),
            pipeline,
            inactive: [&self.context.spec.options.inactive[..], &self.also_inactive].concat(),
            derivatives: rules::given(self.context.spec)?,
            ignored: self.context.spec.options.ignored_derivatives.clone(),
            solvers,
            arena: self.context.spec.options.arena,
            codegen: self.codegen(None)?,
            lines,
            output: output.to_owned(),
        })?;
        if let Response::Written { notes, skipped, paths, tests_equality, threads, checkpoints } = derived {
            self.diagnostics.extend(notes);
            self.skipped.extend(skipped);
            self.paths = paths;
            self.tests_equality = tests_equality;
            self.threads = threads;
            self.checkpoints = checkpoints;
        }
        Ok(())
    }

    fn job<'j>(&'j self, order: Order, pipeline: Pipeline, input: &'j Path, output: &'j Path) -> enzyme::Job<'j> {
        let options = &self.context.spec.options;
        enzyme::Job {
            function: &self.context.spec.function,
            input,
            output,
            math: self.manifest.math,
            options: &options.engine_options,
            loose_types: pipeline == Pipeline::Loose || options.loose_types,
            may_be_untyped: options.verify != Verify::Off,
            is_first_order: order == Order::First,
            may_give_up: pipeline == Pipeline::Inlined && options.pipeline.is_none(),
            timeout: self.within,
            limit: options.time_limit(),
        }
    }

    fn differentiate(&mut self, wanted: DerivativeSet, pipeline: Pipeline) -> Result<()> {
        let mask = wanted.mask;
        let (before, after) = (self.folder.join("before.ll"), self.folder.join("after.ll"));
        let object = self.folder.join("derivative.o");
        let Context { spec, tools, cache } = *self.context;
        let done = std::thread::scope(|scope| {
            if spec.options.arena {
                // Compiled once for a cache, meanwhile. A failure is reported where the arena is needed.
                scope.spawn(|| {
                    interrupt::ask_nobody_here();
                    crate::build::runtime::arena(tools, cache).map(drop)
                });
            }
            let step = Step::begin("preparing".to_owned());
            self.derive(wanted, pipeline, false, &before)?;
            drop(step);
            let _step = Step::begin("differentiating".to_owned());
            enzyme::of(tools, &spec.function)?.differentiate(&self.job(wanted.order, pipeline, &before, &after))
        })?;
        self.commands.push(done.command);
        self.diagnostics.extend(done.diagnostics);
        self.untyped_memory = done.untyped_memory;
        let arena = match spec.options.arena {
            true => Some(crate::build::runtime::arena(tools, cache)?),
            false => None,
        };
        let checkpoint = self.checkpoints.then(|| crate::build::runtime::checkpoint(tools, cache)).transpose()?;
        let _step = Step::begin("compiling the derivative".to_owned());
        let finished = self.worker.request(&Request::Finish {
            input: after,
            arena,
            checkpoint,
            entries: wanted.compiled().iter().map(|&e| (e, self.manifest.plan.slots(e, mask).count())).collect(),
            codegen: self.codegen(Some(pipeline))?,
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

    fn link_and_publish(
        mut self,
        target: &Path,
        entries: Vec<Entry>,
        mask: u64,
        pipeline: Option<Pipeline>,
    ) -> Result<()> {
        let name = format!("ffgrad-{}.so", &self.manifest.key[..16]);
        let shared = self.folder.join(&name);
        let _step = Step::begin("linking".to_owned());
        self.link(&shared)?;
        let is_primal = target == layout::primal_folder(self.context.cache, &self.manifest.key);
        let object = is_primal.then(|| cache::digest_file(&self.folder.join(PRIMAL_OBJECT))).transpose()?;
        for object in self.objects.iter().filter(|_| !is_primal) {
            fs::remove_file(object).map_err(cache::io("remove", object))?;
        }
        let record = ArtifactRecord {
            format: FORMAT,
            file: name,
            kind: "elf".to_owned(),
            digest: cache::digest_file(&shared)?,
            object,
            entries,
            mask,
            pipeline,
            diagnostics: std::mem::take(&mut self.diagnostics),
            skipped: std::mem::take(&mut self.skipped),
            paths: self.paths.take(),
            tests_equality: self.tests_equality,
            threads: self.threads.take(),
            untyped_memory: self.untyped_memory,
            equations: implicit::in_use(self.context.spec, &self.manifest).into_iter().map(|s| s.equation).collect(),
            commands: std::mem::take(&mut self.commands),
        };
        cache::write_json(&self.folder.join("artifact.json"), &record)?;
        match self.staging.take() {
            Some(staging) => self.context.cache.publish_unless(staging, target, |there| layout::whole(there).is_some()),
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
        libraries::check_unchanged(&self.manifest, self.context, &self.folder)
    }

    fn explain(&mut self, wanted: DerivativeSet, pipeline: Pipeline, refusal: &mut Diagnosis) {
        let (before, after) = (self.folder.join("before.ll"), self.folder.join("after.ll"));
        let Ok(engine) = enzyme::of(self.context.tools, &self.context.spec.function) else { return };
        if self.derive(wanted, pipeline, true, &before).is_err() {
            return;
        }
        let spec = self.context.spec;
        // One of its own: what crashes on a variant of the module takes no build along.
        let timeout = spec.options.time_limit();
        let Ok(mut worker) = Worker::start(self.context.tools, &spec.function, timeout) else { return };
        let costly = enzyme::is_costly(refusal);
        let _step = Step::begin("locating the refusal".to_owned());
        let before = match refusal.callee {
            Some(_) => self.name_callees(wanted, pipeline, &*engine, refusal).unwrap_or(before),
            None => before,
        };
        let job = self.job(wanted.order, pipeline, &before, &after);
        if !costly {
            // The module that was refused had no lines. With them Enzyme says where.
            if let Err(Error::Differentiation(located)) = engine.differentiate(&job)
                && located.code == refusal.code
            {
                refusal.location = located.location;
            }
            let home = home(&self.manifest);
            Refused { spec, engine: &*engine, job: &job, worker: &mut worker, home }.locate(refusal);
        }
        if std::env::var_os("FFGRAD_KEEP").is_some() || enzyme::is_unexplained(refusal) {
            if !costly {
                // Once more, for its full output: the search may have overwritten it. It is known to fail.
                let _ = engine.differentiate(&job);
            }
            let name = format!("refused-{}-{}", &self.manifest.key[..16], wanted.name());
            refusal.kept = self.staging.take().map(|s| s.keep_as(&name).display().to_string());
        }
    }
}

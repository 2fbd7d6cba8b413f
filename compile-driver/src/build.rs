//! The build: from a specification to a cache entry, and from an entry to artifacts.
//!
//! Two stages. [`analyse`] compiles the source and discovers what it is; [`primal`] and [`derivative`]
//! make shared objects from the bitcode it left, when they are first needed.

use crate::artifact::Wanted;
use crate::cache::{self, Cache, entries};
use crate::engine;
use crate::error::{Error, Result};
use crate::frontend;
use crate::library;
use crate::linking;
use crate::locate::Refused;
use crate::mpi;
use crate::openmp;
use crate::options::{self, Spec};
use crate::process::{self, ProcessError};
use crate::rules;
use crate::toolchain::Tools;
use crate::worker::Worker;
use crate::{artifact, key};
use core_ad::cuda::UNSET_CONSTANT;
use core_ad::diagnostics::{Diagnosis, Location};
use core_ad::fortran::Found;
use core_ad::manifest::{ArtifactRecord, FORMAT, Manifest, ToolRecord};
use core_ad::names::{self, Lookup};
use core_ad::protocol::{CodeGen, Entry, OpenMp, Request, Response, Rung};
use core_ad::{Access, Arg, Prototype, signature};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What one build of an artifact works with.
pub struct Context<'a> {
    /// The user's wishes.
    pub spec: &'a Spec,
    /// The tools.
    pub tools: &'a Tools,
    /// The store.
    pub cache: &'a Cache,
}

/// Compiles the source, discovers the prototype, makes the plan and publishes the entry.
///
/// # Errors
///
/// Compile, signature and cache errors.
pub fn analyse(context: &Context<'_>) -> Result<Manifest> {
    let Context { spec, tools, cache } = context;
    let staging = cache.staging()?;
    let timeout = Duration::from_secs(spec.options.timeout);
    let mut worker = Worker::start(tools, &spec.function, timeout)?;
    let headers = library::include_folder(cache)?;
    let mut compiled = frontend::compile(tools, spec, cache, staging.path(), &headers, false)?;
    let openmp = openmp::around_engine(context)?;
    let mut loaded =
        load(&mut worker, &compiled.modules, openmp.clone()).map_err(|e| linking::defined_twice(spec, e))?;
    let missing = || matches!(names::find(&spec.function, &loaded.functions), Lookup::Missing { .. });
    if compiled.procedures.is_empty() && missing() {
        // An inline or static function that nothing uses is emitted on request only.
        if let Ok(all) = frontend::compile(tools, spec, cache, staging.path(), &headers, true) {
            compiled = all;
            loaded = load(&mut worker, &compiled.modules, openmp)?;
        }
    }
    let symbol = find_symbol(spec, &compiled.procedures, &loaded.functions)?;
    let rules = rules::prepare(context, &mut worker, &compiled.modules, &loaded.undefined, staging.path())?;
    let (prototype, single_precision) = describe(&mut worker, spec, &symbol)?;
    let prototype = match compiled.procedures.iter().find(|p| p.symbol == symbol) {
        Some(procedure) => core_ad::fortran::prototype(prototype, procedure).map_err(|e| undescribed(spec, e))?,
        None => prototype,
    };
    let plan = signature::plan(&prototype, spec.signature.as_deref(), &spec.options.sizes)?;
    if plan.inputs.len() > 64 {
        let headline = format!("`{}` has {} inputs; 64 is the most", spec.function, plan.inputs.len());
        return Err(Error::Arity(Box::new(Diagnosis::new("too-many-inputs", &spec.function, headline))));
    }
    let tool_records = records(tools);
    mpi::must_be_said(spec, &compiled.dependencies)?;
    let sources = key::sources(&[compiled.dependencies, spec.options.library_files()].concat())?;
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
        cpu: crate::cpu::target(&spec.options.cpu),
        math: spec.options.math,
        exceptions: frontend::is_cpp(spec)? || library::throws(&rules.renamed),
        single_precision,
        prototype,
        plan,
        modules,
        digests,
        library: rules.library,
        renamed: rules.renamed,
        external: rules.external,
        rules: rules.given,
        link: [link_arguments(spec, tools)?, rules.link].concat(),
    };
    cache::write_json(&staging.path().join("manifest.json"), &manifest)?;
    // The same source elsewhere has the same key, and bitcode that differs in the place it names: who was first has published
    // bitcode and manifest, which belong together.
    cache.publish_unless(staging, &cache.entry(&key), |_| entries::sound(cache, &key).is_some())?;
    entries::sound(cache, &key)
        .ok_or_else(|| entries::damaged(cache, &key, "it is damaged again as soon as it is written"))
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
        Err(Error::Differentiation(d)) if d.code != "openmp-construct" => match d.headline.split_once(UNSET_CONSTANT) {
            Some((_, name)) => Err(crate::cuda::frontend::unset_constant(spec, name)),
            None => Err(undescribed(spec, d.headline)),
        },
        Err(other) => Err(other),
    }
}

fn undescribed(spec: &Spec, reason: String) -> Error {
    let headline = format!("the prototype of `{}` cannot be used: {reason}", spec.function);
    frontend::compile_error(
        Diagnosis::new("prototype", &spec.function, headline)
            .advise("Write a small extern \"C\" function around it that takes numbers and pointers to numbers."),
    )
}

fn find_symbol(spec: &Spec, procedures: &[Found], functions: &[String]) -> Result<String> {
    let function = &spec.function;
    let in_fortran = core_ad::fortran::find(function, procedures, functions);
    let lookup = match (in_fortran, names::find(function, functions)) {
        (Lookup::Missing { .. }, Lookup::Missing { closest }) if procedures.is_empty() => Lookup::Missing { closest },
        (missing @ Lookup::Missing { .. }, Lookup::Missing { .. }) => missing,
        (Lookup::Missing { .. }, other) | (other, _) => other,
    };
    let diagnosis = match lookup {
        Lookup::Found(symbol) => return Ok(symbol.to_owned()),
        Lookup::Ambiguous(candidates) => {
            let headline = format!("`{function}` names {} functions", candidates.len());
            Diagnosis::new("ambiguous-function", function, headline)
                .advise(format!("Give the parameters too, as one of: {}.", quoted(&candidates)))
        }
        Lookup::Missing { closest } => {
            let headline = format!("there is no function `{function}` in {}", frontend::source_names(spec));
            let diagnosis = Diagnosis::new("no-such-function", function, headline);
            if closest.is_empty() {
                let paths = crate::fortran::paths(procedures, functions);
                let names = if paths.is_empty() { visible(functions) } else { paths };
                match names.is_empty() {
                    true => diagnosis.advise("It defines no functions."),
                    false => diagnosis.advise(format!("It defines: {}.", quoted(&names[..names.len().min(8)]))),
                }
            } else {
                diagnosis.advise(format!("The closest names are {}.", quoted(&closest)))
            }
        }
    };
    Err(frontend::compile_error(diagnosis))
}

/// The first few functions a user could have meant, by readable name. Those of the system's headers have
/// reserved names, live in `std`, or come from libc's own inline definitions.
fn visible(functions: &[String]) -> Vec<String> {
    const INLINE: [&str; 12] = [
        "atoi",
        "atol",
        "atoll",
        "atof",
        "iscanonical",
        "bsearch",
        "vprintf",
        "getchar",
        "putchar",
        "fputc_unlocked",
        "getc_unlocked",
        "putc_unlocked",
    ];
    let system = |n: &String| {
        let name = n.split(['(', '<']).next().unwrap_or(n);
        name.starts_with("std::") || name.starts_with("__") || name.starts_with("gnu_") || INLINE.contains(&name)
    };
    functions.iter().map(|f| names::demangle(f)).filter(|n| !system(n)).take(8).collect()
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

/// Versions and identities of the tools, as manifests and keys hold them.
pub fn records(tools: &Tools) -> Vec<ToolRecord> {
    let record = |(name, version): (&str, String)| ToolRecord { name: name.to_owned(), version };
    tools.identities().into_iter().map(record).collect()
}

fn link_arguments(spec: &Spec, tools: &Tools) -> Result<Vec<String>> {
    let mut arguments = Vec::new();
    for library in &spec.options.libraries {
        arguments.push(match options::as_path(library) {
            Some(path) => std::path::absolute(path).map_err(cache::io("find", path))?.display().to_string(),
            None => format!("-l{library}"),
        });
    }
    arguments.extend(mpi::wanted(&spec.options)?.into_iter().flat_map(|mpi| mpi.link));
    arguments.extend(tools.fortran.iter().map(|f| f.runtime.display().to_string()));
    Ok(arguments)
}

/// Builds and publishes the artifact with the primal alone.
///
/// # Errors
///
/// Compile errors (undefined symbols) and cache errors.
pub fn primal(context: &Context<'_>, manifest: &Manifest) -> Result<PathBuf> {
    let target = artifact::primal_folder(context.cache, &manifest.key);
    let mut build = Build::start(context, &manifest.key)?;
    build.primal()?;
    build.link_and_publish(&target, vec![Entry::Primal], 0, None)?;
    Ok(target)
}

/// Builds and publishes the artifact with first derivatives on one rung of the ladder.
///
/// # Errors
///
/// Differentiation errors where the engine refuses, compile and cache errors.
pub fn derivative(context: &Context<'_>, manifest: &Manifest, wanted: Wanted, rung: Rung) -> Result<PathBuf> {
    let target = artifact::derivative_folder(context.cache, &manifest.key, wanted, rung);
    let mut build = Build::start(context, &manifest.key)?;
    build.differentiate(wanted, rung).map_err(with_text)?;
    build.primal()?;
    let entries = [&[Entry::Primal], wanted.entries()].concat();
    build.link_and_publish(&target, entries, wanted.mask, Some(rung))?;
    Ok(target)
}

/// Completes the refusal of a function that the engine took on no rung: the user's own line, for a crash too, and, where
/// ffgrad does not know the reason, a folder with every file of the build. What goes wrong here leaves the refusal as it is.
pub fn explain(context: &Context<'_>, manifest: &Manifest, wanted: Wanted, rung: Rung, refusal: &mut Diagnosis) {
    if engine::has_run(refusal)
        && let Ok(mut build) = Build::start(context, &manifest.key)
    {
        build.explain(wanted, rung, refusal);
    }
}

fn with_text(error: Error) -> Error {
    let Error::Differentiation(mut diagnosis) = error else { return error };
    diagnosis.location = diagnosis.location.map(frontend::with_text);
    Error::Differentiation(diagnosis)
}

/// One artifact under construction, in a staging folder of its own.
struct Build<'a> {
    context: &'a Context<'a>,
    manifest: Manifest,
    staging: Option<cache::Staging>,
    folder: PathBuf,
    worker: Worker,
    objects: Vec<PathBuf>,
    commands: Vec<String>,
    diagnostics: Vec<String>,
}

impl<'a> Build<'a> {
    fn start(context: &'a Context<'a>, key: &str) -> Result<Self> {
        let staging = context.cache.staging()?;
        let folder = staging.path().to_owned();
        let timeout = Duration::from_secs(context.spec.options.timeout);
        let mut worker = Worker::start(context.tools, &context.spec.function, timeout)?;
        let entry = context.cache.entry(key);
        // Another process may have written the entry anew since this one read the manifest. Where it is damaged, its artifacts
        // are as good as they were, but nothing more can be built from it.
        let manifest = match entries::sound(context.cache, key) {
            Some(current) => current,
            None => analyse(context)?,
        };
        if manifest.key != key {
            return Err(entries::damaged(context.cache, key, "the sources have changed since it was opened"));
        }
        let inside = |names: &[String]| names.iter().map(|m| entry.join(m)).collect();
        let (modules, library) = (inside(&manifest.modules), inside(&manifest.library));
        let openmp = openmp::around_engine(context)?;
        let (renamed, external) = (manifest.renamed.clone(), manifest.external.clone());
        worker.request(&Request::Load { modules, renamed, library, external, openmp })?;
        Ok(Build {
            context,
            manifest,
            staging: Some(staging),
            folder,
            worker,
            objects: Vec::new(),
            commands: Vec::new(),
            diagnostics: Vec::new(),
        })
    }

    fn codegen(&self) -> Result<CodeGen> {
        let options = &self.context.spec.options;
        let kernel = crate::cuda::is_kernel(self.context.spec);
        let launch = kernel.then(|| crate::runtime::launch(self.context.tools, self.context.cache)).transpose()?;
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
    fn derive(&mut self, wanted: Wanted, rung: Rung, output: &Path) -> Result<()> {
        let derived = self.worker.request(&Request::Derive {
            symbol: self.manifest.prototype.symbol.clone(),
            plan: self.manifest.plan.clone(),
            mask: wanted.mask,
            write_only: self.write_only(),
            entries: wanted.entries().to_vec(),
            rung,
            inactive: self.context.spec.options.inactive.clone(),
            derivatives: rules::given(self.context.spec)?,
            ignored: self.context.spec.options.ignored_derivatives.clone(),
            codegen: self.codegen()?,
            output: output.to_owned(),
        })?;
        if let Response::Written { notes } = derived {
            self.diagnostics.extend(notes);
        }
        Ok(())
    }

    fn job<'j>(&'j self, rung: Rung, input: &'j Path, output: &'j Path) -> engine::Job<'j> {
        let options = &self.context.spec.options;
        engine::Job {
            function: &self.context.spec.function,
            input,
            output,
            math: self.manifest.math,
            options: &options.engine_options,
            loose_types: rung == Rung::Loose || options.loose_types,
            timeout: Duration::from_secs(options.timeout),
        }
    }

    fn differentiate(&mut self, wanted: Wanted, rung: Rung) -> Result<()> {
        let mask = wanted.mask;
        let (before, after) = (self.folder.join("before.ll"), self.folder.join("after.ll"));
        let object = self.folder.join("derivative.o");
        self.derive(wanted, rung, &before)?;
        let engine = engine::of(self.context.tools, &self.context.spec.function)?;
        let done = engine.differentiate(&self.job(rung, &before, &after))?;
        self.commands.push(done.command);
        self.diagnostics.extend(done.diagnostics);
        let arena = match self.context.spec.options.arena {
            true => Some(crate::runtime::arena(self.context.tools, self.context.cache)?),
            false => None,
        };
        let finished = self.worker.request(&Request::Finish {
            input: after,
            arena,
            entries: wanted.entries().iter().map(|&e| (e, self.manifest.plan.slots(e, mask).count())).collect(),
            codegen: self.codegen()?,
            output: object.clone(),
            ir: Some(self.folder.join("final.ll")),
        })?;
        if let Response::Written { notes } = finished {
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
            commands: std::mem::take(&mut self.commands),
        };
        cache::write_json(&self.folder.join("artifact.json"), &record)?;
        match self.staging.take() {
            Some(staging) => self.context.cache.publish(staging, target),
            None => Ok(()),
        }
    }

    fn link(&mut self, shared: &Path) -> Result<()> {
        let tools = self.context.tools;
        let mut command = Command::new(if self.manifest.exceptions { &tools.clangxx.path } else { &tools.clang.path });
        command.args(["-shared", "-Wl,-z,defs", "-Wl,--build-id=none", "-Wl,-z,nodelete"]);
        if let Some(linker) = &tools.linker {
            command.arg(format!("--ld-path={}", linker.display()));
        }
        if self.manifest.exceptions {
            command.args(&tools.stdlib_flags).args(&tools.stdlib_link_flags);
        }
        let ranks = mpi::helper(self.context, &self.folder)?;
        command.arg("-o").arg(shared).args(&self.objects).args(ranks).args(&self.manifest.link).arg("-lm");
        self.commands.push(process::command_line(&command));
        let spec = self.context.spec;
        let timeout = Duration::from_secs(spec.options.timeout);
        let unfinished = |e: ProcessError| {
            let headline = format!("the linker did not finish: {e}");
            frontend::compile_error(Diagnosis::new("linker-failed", &spec.function, headline))
        };
        let output = process::run(&mut command, None, timeout)
            .map_err(|e| Error::of_child(e, &spec.function, unfinished).while_compiling())?;
        if output.status.success() {
            return Ok(());
        }
        Err(linking::unlinked(spec, &String::from_utf8_lossy(&output.stderr)))
    }

    fn explain(&mut self, wanted: Wanted, rung: Rung, refusal: &mut Diagnosis) {
        let (before, after) = (self.folder.join("before.ll"), self.folder.join("after.ll"));
        let Ok(engine) = engine::of(self.context.tools, &self.context.spec.function) else { return };
        if self.derive(wanted, rung, &before).is_err() {
            return;
        }
        let spec = self.context.spec;
        // One of its own: what crashes on a variant of the module takes no build along.
        let timeout = Duration::from_secs(spec.options.timeout);
        let Ok(mut worker) = Worker::start(self.context.tools, &spec.function, timeout) else { return };
        let job = self.job(rung, &before, &after);
        let costly = engine::is_costly(refusal);
        if !costly {
            let prototype = &self.manifest.prototype;
            let home = Location { file: prototype.file.clone(), line: prototype.line, column: 0, text: None };
            Refused { spec, engine: &*engine, job: &job, worker: &mut worker, home }.locate(refusal);
        }
        if std::env::var_os("FFGRAD_KEEP").is_some() || engine::is_unexplained(refusal) {
            if !costly {
                // Once more, for what it says in full; that it fails is known.
                let _ = engine.differentiate(&job);
            }
            let name = format!("refused-{}-{}", &self.manifest.key[..16], wanted.name());
            refusal.kept = self.staging.take().map(|s| s.keep_as(&name).display().to_string());
        }
    }
}

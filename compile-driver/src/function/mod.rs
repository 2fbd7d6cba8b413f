//! A foreign function, opened: what a front end holds.
//!
//! Opening finds or makes the cache entry; artifacts are built when first needed; derivatives are proven
//! at the first call and then trusted. One value serves many threads.

pub(crate) mod batch;
pub(crate) mod eval;
pub(crate) mod faulty_rule;
pub mod gpu;
pub(crate) mod select;
pub(crate) mod tape;
pub(crate) mod trust;
pub(crate) mod variants;

use crate::build::context::Context;
use crate::build::frontend::language;
use crate::build::{self, key};
use crate::cache::request::{Found, Record};
use crate::cache::{Cache, Lock, entry, layout, maintenance};
use crate::call::arguments::{self, Call, Input, Results};
use crate::call::launch::{Chooser, Launcher};
use crate::call::scratch::Frame;
use crate::call::shape_cache::Recent;
use crate::call::task::Task;
use crate::error::{Error, Result};
use crate::function::trust::checked_shapes::Kept;
use crate::function::trust::status::Derivative;
use crate::function::variants::packed::PackedVariant;
use crate::function::variants::specialize::Variants;
use crate::function::variants::tune::Winner;
use crate::gpu::driver::Modules;
use crate::gpu::errors::Kernel;
use crate::load::artifact::Artifact;
use crate::options::{Spec, Verify};
use crate::os::cpu;
use crate::os::interrupt::Turn;
use crate::pack::read::{self, Loaded, Opened};
use crate::source_text;
use crate::toolchain::{self, EngineChoice, ToolchainError, Tools};
use core_ad::DerivativeSet;
use core_ad::diagnostics::Diagnosis;
use core_ad::manifest::{Manifest, Source};
use core_ad::protocol::Rung;
use core_ad::shapes::{self, Resolved};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, RwLock};

/// A foreign function ready to be called and differentiated.
pub struct Function {
    pub(crate) spec: Spec,
    pub(crate) manifest: Manifest,
    /// What every call asks of the plan.
    pub(crate) facts: Facts,
    pub(crate) cache: Cache,
    tools: OnceLock<Tools>,
    primal: OnceLock<Arc<Artifact>>,
    pub(crate) derivatives: RwLock<HashMap<DerivativeSet, Arc<Derivative>>>,
    pub(crate) building: Turn,
    pub(crate) tuned: RwLock<HashMap<DerivativeSet, Arc<Winner>>>,
    pub(crate) tuning: Turn,
    pub(crate) variants: Variants,
    pub(crate) refusals: Mutex<HashMap<DerivativeSet, Box<Diagnosis>>>,
    /// Sizes at which a first call found every rung wrong, for the rung that serves others.
    pub(crate) refused_sizes: Mutex<HashMap<DerivativeSet, Kept>>,
    /// Keeps the entry from being removed.
    _held: Option<Lock>,
    pub(crate) launcher: Option<Launcher>,
    /// There is no way to keep a tape for this function.
    pub(crate) tapeless: AtomicBool,
    pub(crate) gpu: Modules,
    recent: Recent,
    /// Where it came from a pack: all of its code. Then nothing is read from the cache, written to it, or built.
    pub(crate) pack: Option<Loaded>,
    /// What `tune` and `specialize` chose before it was packed.
    pub(crate) packed_variants: Vec<PackedVariant>,
    /// Features of the CPU that its code may use and that are not here.
    lacking: Vec<String>,
}

impl Function {
    /// Opens a function: from the cache where the sources, headers, options and tools are as they were,
    /// else by compiling.
    ///
    /// # Errors
    ///
    /// Toolchain, compile, signature and cache errors.
    pub fn open(spec: Spec) -> Result<Self> {
        Self::open_launched(spec, None)
    }

    /// Opens a CUDA kernel whose launches a callable chooses.
    ///
    /// # Errors
    ///
    /// As [`Function::open`].
    pub fn open_launched(spec: Spec, chooser: Option<Chooser>) -> Result<Self> {
        let mut spec = spec;
        if let Some(path) = read::source(&spec) {
            let path = path.to_owned();
            return Self::of_pack(read::open(spec, &path)?, chooser);
        }
        if language::is_fortran(&spec) {
            // As every name in Fortran.
            let sizes = std::mem::take(&mut spec.options.sizes);
            spec.options.sizes = sizes.into_iter().map(|(name, value)| (name.to_lowercase(), value)).collect();
        }
        source_text::check(&spec)?;
        if !cpu::is_known(&spec.options.cpu) {
            return Err(no_such_cpu(&spec));
        }
        let launcher = Launcher::of(&spec, chooser)?;
        let cache = Cache::open()?;
        let found = tools_for(&spec);
        let records = found.as_ref().ok().map(key::tool_records);
        let request = key::request(&spec)?;
        let tools = OnceLock::new();
        // Held before it is read, so that it is not removed between.
        let cached = || {
            let key = cache.known(&request, records.as_deref())?;
            let held = cache.hold(&key);
            Some((entry::manifest_of(&cache, &key)?, held))
        };
        let (manifest, held) = match cached() {
            Some(found) => found,
            None => {
                let context = Context { spec: &spec, tools: tools.get_or_init_with(found)?, cache: &cache };
                let _lock = cache.lock(&request)?;
                match cached() {
                    Some(found) => found,
                    None => {
                        let built = analyse(&context, &request)?;
                        maintenance::tidy(&cache);
                        built
                    }
                }
            }
        };
        let lacking = match spec.options.cpu.as_str() {
            core_ad::cpu::NATIVE => Vec::new(),
            level => cpu::lacking(&cpu::required(level)),
        };
        Ok(Function { tools, _held: held, lacking, ..Self::assembled(spec, manifest, cache, launcher) })
    }

    fn assembled(spec: Spec, manifest: Manifest, cache: Cache, launcher: Option<Launcher>) -> Self {
        Function {
            spec,
            facts: Facts::of(&manifest.plan),
            manifest,
            cache,
            tools: OnceLock::new(),
            primal: OnceLock::new(),
            derivatives: RwLock::default(),
            building: Turn::default(),
            tuned: RwLock::default(),
            tuning: Turn::default(),
            variants: Variants::default(),
            refusals: Mutex::default(),
            refused_sizes: Mutex::default(),
            _held: None,
            launcher,
            tapeless: AtomicBool::new(false),
            gpu: Modules::default(),
            recent: Recent::default(),
            pack: None,
            packed_variants: Vec::new(),
            lacking: Vec::new(),
        }
    }

    /// A function of a pack.
    pub(crate) fn of_pack(opened: Opened, chooser: Option<Chooser>) -> Result<Self> {
        let Opened { spec, manifest, loaded, variants } = opened;
        let launcher = Launcher::of(&spec, chooser)?;
        let variant = |(variant, opened)| Ok(PackedVariant::of(&variant, Self::of_pack(opened, None)?));
        let packed_variants = variants.into_iter().map(variant).collect::<Result<_>>()?;
        Ok(Function {
            pack: Some(loaded),
            packed_variants,
            ..Self::assembled(spec, manifest, Cache::unused(), launcher)
        })
    }

    /// Prototype, plan and everything else known of the function.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What was asked for.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The folder of the artifact with derivatives for the inputs in `mask`, built if need be. It keeps the
    /// IR before and after the engine and at the end (`before.ll`, `after.ll`, `final.ll`).
    ///
    /// # Errors
    ///
    /// Differentiation errors where the engine refuses on that rung, with the user's line; compile and cache errors.
    pub fn artifact_folder(&self, mask: u64, rung: Rung) -> Result<PathBuf> {
        if let Some(pack) = &self.pack {
            return Err(pack.needs_compiler());
        }
        let wanted = DerivativeSet::first(mask);
        let folder = layout::derivative_folder(&self.cache, &self.manifest.key, wanted, rung);
        if folder.join("artifact.json").is_file() {
            return Ok(folder);
        }
        let context = self.context()?;
        build::derivative(&context, &self.manifest, wanted, rung).map_err(|error| match error {
            Error::Differentiation(mut refusal) => {
                build::explain(&context, &self.manifest, wanted, rung, &mut refusal);
                Error::Differentiation(refusal)
            }
            other => other,
        })
    }

    /// The same source opened with other options.
    ///
    /// # Errors
    ///
    /// As [`Function::open`]; and a compile error where the source was edited meanwhile, for then it is another function.
    pub(crate) fn opened_with(&self, spec: Spec) -> Result<Function> {
        if let Some(pack) = &self.pack {
            return Err(pack.needs_compiler());
        }
        let other = Function::open(spec)?;
        if contents(&other.manifest.sources) == contents(&self.manifest.sources) {
            return Ok(other);
        }
        let headline = format!("the source of `{}` was edited after it was opened", self.spec.function);
        let refusal = Diagnosis::new("source-changed", &self.spec.function, headline);
        Err(Error::compile(refusal.advise("Open the function again: call enzyme(...) once more.")))
    }

    /// Warnings that arose since the last call of this, oldest first.
    pub fn take_warnings(&self) -> Vec<String> {
        self.cache.warnings().take()
    }

    /// Whether [`Function::take_warnings`] would return any; costs next to nothing.
    pub fn has_warnings(&self) -> bool {
        self.cache.warnings().any()
    }

    pub(crate) fn warn(&self, text: String) {
        self.cache.warnings().add(text);
    }

    pub(crate) fn context(&self) -> Result<Context<'_>> {
        if let Some(pack) = &self.pack {
            return Err(pack.needs_compiler());
        }
        let tools = match self.tools.get() {
            Some(tools) => tools,
            None => self.tools.get_or_init_with(tools_for(&self.spec))?,
        };
        Ok(Context { spec: &self.spec, tools, cache: &self.cache })
    }

    /// Builds what values need: the derivatives in the inputs of `expected`, which serve values too, where that can be done, else
    /// the function alone. Not for a program of MPI, whose ranks build in their first call together.
    ///
    /// # Errors
    ///
    /// As the first call, but for what only numbers tell.
    pub fn prepare_values(&self, expected: u64) -> Result<()> {
        if self.spec.options.mpi {
            return Ok(());
        }
        match self.prepare(DerivativeSet::first(expected)) {
            Ok(()) if expected & self.manifest.plan.differentiable_mask() != 0 => Ok(()),
            // What cannot be differentiated has values all the same.
            Ok(()) | Err(Error::Differentiation(_)) => self.primal_artifact().map(drop),
            Err(other) => Err(other),
        }
    }

    /// The artifact that serves the primal: any that is loaded, else its own.
    pub(crate) fn primal_artifact(&self) -> Result<Arc<Artifact>> {
        if let Some(artifact) = self.primal.get() {
            return Ok(artifact.clone());
        }
        if let Some(pack) = &self.pack {
            return Ok(self.primal.get_or_init(|| pack.primal()).clone());
        }
        self.must_run_here()?;
        let folder = layout::primal_folder(&self.cache, &self.manifest.key);
        let loaded = match Artifact::load(&self.cache, &folder)? {
            Some(artifact) => artifact,
            None => {
                self.build_primal(&folder)?;
                // Not under the lock: loading starts MPI, which waits for the other ranks, and they wait for the lock.
                Artifact::load(&self.cache, &folder)?.ok_or_else(|| self.vanished(&folder))?
            }
        };
        Ok(self.primal.get_or_init(|| Arc::new(loaded)).clone())
    }

    /// Code for another CPU is built, and not run.
    ///
    /// # Errors
    ///
    /// A device error that names what this machine lacks.
    pub(crate) fn must_run_here(&self) -> Result<()> {
        if self.lacking.is_empty() {
            return Ok(());
        }
        let (function, cpu) = (&self.spec.function, &self.spec.options.cpu);
        let headline = format!("`{function}` is compiled for {cpu}: this machine lacks {}", self.lacking.join(", "));
        let diagnosis = Diagnosis::new("cpu", function, headline);
        Err(Error::Device(Box::new(diagnosis.advise("It can be packed here (`ffgrad export`), and run elsewhere."))))
    }

    /// Builds the primal's artifact, where nobody else does meanwhile.
    pub(crate) fn build_primal(&self, folder: &Path) -> Result<()> {
        let _lock = self.cache.lock(&format!("{}-primal", self.manifest.key))?;
        match layout::is_there(folder) {
            true => Ok(()),
            false => build::primal(&self.context()?, &self.manifest).map(drop),
        }
    }

    /// Whether the function is a CUDA kernel, which is launched.
    pub fn is_kernel(&self) -> bool {
        self.launcher.is_some()
    }

    /// Whether an artifact with the primal is loaded.
    pub fn has_primal(&self) -> bool {
        self.primal.get().is_some()
    }

    /// Uses the primal inside a derivative artifact, so that a training loop builds one thing, not two.
    pub(crate) fn share_primal(&self, artifact: &Arc<Artifact>) {
        self.primal.get_or_init(|| artifact.clone());
    }

    pub(crate) fn vanished(&self, folder: &Path) -> Error {
        let reason = "it was removed while in use".to_owned();
        crate::error::CacheError::Damaged { path: folder.to_owned(), reason }.into()
    }

    /// Checks the inputs of a call and finds its shapes, with the batch dimensions that `...` stands for.
    ///
    /// # Errors
    ///
    /// Arity, dtype and shape errors, with the parameters' names.
    pub fn resolve(&self, inputs: &[Input<'_>]) -> Result<Arc<Resolved>> {
        match self.facts.batched {
            true => self.resolve_over(inputs).map(Arc::new),
            false => self.resolve_element(inputs),
        }
    }

    /// The shapes of one element of the batch, if there is one.
    pub(crate) fn resolve_element(&self, inputs: &[Input<'_>]) -> Result<Arc<Resolved>> {
        let plan = &self.manifest.plan;
        arguments::check_types(&self.spec.function, plan, inputs)?;
        if let Some(known) = self.recent.find(plan, inputs) {
            return Ok(known);
        }
        let shapes: Vec<&[i64]> = inputs.iter().map(Input::shape).collect();
        let mut resolved = shapes::resolve(plan, &shapes, &self.spec.options.sizes)?;
        if let Some(launcher) = &self.launcher {
            // A launch may be chosen by the user's code, which may choose another one next time.
            let launch = launcher.launch(&self.spec, plan, &resolved);
            resolved.launch = Some(launch.map_err(|e| Kernel::of(&self.spec, &self.manifest).locate(e))?);
            return Ok(Arc::new(resolved));
        }
        let resolved = Arc::new(resolved);
        self.recent.keep(&resolved);
        Ok(resolved)
    }

    pub(crate) fn call<'a>(&'a self, resolved: &'a Resolved, frame: &'a Frame) -> Call<'a> {
        // Where nobody asked, the runtime and its own variables decide.
        let threads = self.spec.options.threads.unwrap_or(0);
        Call { plan: &self.manifest.plan, resolved, function: &self.spec.function, threads, frame }
    }

    /// Computes the function. Results are written to memory from `results`, in the order of the plan's
    /// outputs.
    ///
    /// Where derivatives for the inputs in `expected` will follow, they are built (and proven) now: one
    /// build serves both, and a function without a gradient is refused before time is spent on it.
    ///
    /// # Errors
    ///
    /// Input errors, build errors at the first call, and exceptions of the foreign code.
    pub fn primal(&self, inputs: &[Input<'_>], expected: u64, results: &mut dyn Results) -> Result<()> {
        self.perform(&Task::primal(inputs, expected), results)
    }

    /// Whether gradients are checked at every call.
    pub(crate) fn verifies_always(&self) -> bool {
        self.spec.options.verify == Verify::Always
    }
}

/// Properties of a plan that every call asks for.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    /// As [`core_ad::CallPlan::is_batched`].
    pub batched: bool,
    /// As [`core_ad::CallPlan::differentiable_mask`].
    pub differentiable: u64,
}

impl Facts {
    fn of(plan: &core_ad::CallPlan) -> Self {
        Facts { batched: plan.is_batched(), differentiable: plan.differentiable_mask() }
    }
}

fn analyse(context: &Context<'_>, request: &str) -> Result<(Manifest, Option<Lock>)> {
    let (manifest, held) = build::analyse(context)?;
    let (sources, tools, key) = (manifest.sources.clone(), manifest.tools.clone(), manifest.key.clone());
    let absent = key::searched_before(context.spec, &sources);
    let found = Found { sources, absent, tools, key };
    Record::add(context.cache, request, found)?;
    Ok((manifest, held))
}

/// The tools that a function's sources need.
fn tools_for(spec: &Spec) -> std::result::Result<Tools, ToolchainError> {
    let tools = toolchain::find(&choice(&spec.options.engine))?;
    if language::is_fortran(spec) { toolchain::with_fortran(tools) } else { Ok(tools) }
}

/// The content of sources wherever they lie: a folder that was moved, or copied, is no other source.
fn contents(sources: &[Source]) -> Vec<&str> {
    let mut all: Vec<&str> = sources.iter().map(|source| source.digest.as_str()).collect();
    all.sort_unstable();
    all
}

/// The engine meant by the option's text.
fn choice(text: &str) -> EngineChoice {
    match text {
        "" | "auto" => EngineChoice::Auto,
        "catalyst" => EngineChoice::Catalyst,
        "plugin" => EngineChoice::Plugin(None),
        path => EngineChoice::Plugin(Some(PathBuf::from(path))),
    }
}

fn no_such_cpu(spec: &Spec) -> Error {
    let known: Vec<String> =
        core_ad::cpu::LEVELS.iter().filter(|l| cpu::is_known(l)).map(|l| format!("`{l}`")).collect();
    let headline = format!("code cannot be compiled for the CPU `{}`", spec.options.cpu);
    let known = if known.is_empty() { String::new() } else { format!(", {}", known.join(", ")) };
    let diagnosis = Diagnosis::new("unknown-cpu", &spec.function, headline);
    Error::compile(diagnosis.advise(format!("The option `cpu` can be `native`{known}.")))
}

/// `OnceLock::get_or_try_init`, which is not stable: an outcome computed before decides.
trait InitWith<T> {
    fn get_or_init_with<E>(&self, outcome: std::result::Result<T, E>) -> Result<&T>
    where
        Error: From<E>;
}

impl<T> InitWith<T> for OnceLock<T> {
    fn get_or_init_with<E>(&self, outcome: std::result::Result<T, E>) -> Result<&T>
    where
        Error: From<E>,
    {
        let value = outcome?;
        Ok(self.get_or_init(|| value))
    }
}

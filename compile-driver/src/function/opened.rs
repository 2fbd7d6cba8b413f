//! The immutable part of an opened function: specification, manifest, cache, tools; loads artifacts and runs calls.

use crate::build::context::Context;
use crate::build::frontend::language;
use crate::build::{self, openmp};
use crate::cache::{self, Cache, Lock, layout};
use crate::call::arguments::{Call, Input};
use crate::call::launch::Launcher;
use crate::call::scratch::Frame;
use crate::error::{Error, Result};
use crate::function::trust::checked_shapes::{self, ShapeRecord};
use crate::function::trust::paths;
use crate::load::artifact::Artifact;
use crate::options::{Spec, Verify};
use crate::os::cpu;
use crate::os::progress::Step;
use crate::pack::read::Loaded;
use crate::prover;
use crate::toolchain::{self, EngineChoice, ToolchainError, Tools};
use crate::verify::Checked;
use crate::verify::sample::Point;
use core_ad::diagnostics::Diagnosis;
use core_ad::manifest::{CheckRecord, Choice, FORMAT, Manifest};
use core_ad::protocol::Pipeline;
use core_ad::shapes::Resolved;
use core_ad::{DerivativeSet, Role};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What a function is opened with: nothing in it changes, but tools and primal are found when first needed.
pub(crate) struct Opened {
    /// What was asked for.
    pub spec: Spec,
    /// Prototype, plan and everything else known of the function.
    pub manifest: Manifest,
    /// What every call asks of the plan.
    pub plan_flags: PlanFlags,
    /// Where its entry is.
    pub cache: Cache,
    /// How a kernel is launched.
    pub launcher: Option<Launcher>,
    /// Where it came from a pack: all of its code. Then nothing is read from the cache, written to it, or built.
    pub pack: Option<Loaded>,
    tools: OnceLock<Tools>,
    primal: OnceLock<Arc<Artifact>>,
    /// The primal that notes the line of each access of memory.
    with_lines: OnceLock<Arc<Artifact>>,
    /// Features of the CPU that its code may use and that are not here.
    lacking: Vec<String>,
    /// Keeps the entry from being removed.
    _held: Option<Lock>,
}

impl Opened {
    /// A function with an entry in the cache, which `held` keeps there.
    pub fn of_entry(
        spec: Spec,
        manifest: Manifest,
        cache: Cache,
        launcher: Option<Launcher>,
        tools: OnceLock<Tools>,
        held: Option<Lock>,
    ) -> Self {
        let lacking = match spec.options.cpu.as_str() {
            core_ad::cpu::NATIVE => Vec::new(),
            level => cpu::lacking(&cpu::required(level)),
        };
        let plan_flags = PlanFlags::of(&manifest.plan);
        let (pack, primal, with_lines) = (None, OnceLock::new(), OnceLock::new());
        Opened { spec, manifest, plan_flags, cache, launcher, pack, tools, primal, with_lines, lacking, _held: held }
    }

    /// A function of a pack.
    pub fn of_pack(spec: Spec, manifest: Manifest, loaded: Loaded, launcher: Option<Launcher>) -> Self {
        Opened {
            plan_flags: PlanFlags::of(&manifest.plan),
            spec,
            manifest,
            cache: Cache::unused(),
            launcher,
            pack: Some(loaded),
            tools: OnceLock::new(),
            primal: OnceLock::new(),
            with_lines: OnceLock::new(),
            lacking: Vec::new(),
            _held: None,
        }
    }

    /// The folder of the artifact with derivatives for the inputs in `mask`, built if need be. It keeps the
    /// IR before and after Enzyme and at the end (`before.ll`, `after.ll`, `final.ll`).
    ///
    /// # Errors
    ///
    /// Differentiation errors where Enzyme refuses on that pipeline, with the user's line; compile and cache errors.
    pub(crate) fn artifact_folder(&self, mask: u64, pipeline: Pipeline) -> Result<PathBuf> {
        if let Some(pack) = &self.pack {
            return Err(pack.needs_compiler());
        }
        let wanted = DerivativeSet::first(mask);
        let folder = layout::derivative_folder(&self.cache, &self.manifest.key, wanted, pipeline);
        if folder.join("artifact.json").is_file() {
            return Ok(folder);
        }
        let context = self.context()?;
        build::derivative(&context, &self.manifest, wanted, pipeline, self.time_limit()).map_err(|error| match error {
            Error::Differentiation(mut refusal) => {
                build::explain(&context, &self.manifest, wanted, pipeline, &mut refusal);
                Error::Differentiation(refusal)
            }
            other => other,
        })
    }

    /// Warnings that arose since the last call of this, oldest first.
    pub(crate) fn take_warnings(&self) -> Vec<String> {
        self.cache.warnings().take()
    }

    /// Whether [`Function::take_warnings`] would return any; costs next to nothing.
    pub(crate) fn has_warnings(&self) -> bool {
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

    /// The primal that notes the line of each access of memory, built if need be.
    ///
    /// # Errors
    ///
    /// As [`Opened::primal_artifact`]; of a pack, that it needs a compiler.
    pub(crate) fn artifact_with_lines(&self) -> Result<Arc<Artifact>> {
        if let Some(artifact) = self.with_lines.get() {
            return Ok(artifact.clone());
        }
        let context = self.context()?;
        self.must_run_here()?;
        let folder = layout::lines_folder(&self.cache, &self.manifest.key);
        let loaded = match Artifact::load(&self.cache, &folder)? {
            Some(artifact) => artifact,
            None => {
                let _lock = self.cache.lock(&format!("{}-lines", self.manifest.key))?;
                if !layout::is_there(&folder) {
                    build::with_lines(&context, &self.manifest)?;
                }
                Artifact::load(&self.cache, &folder)?.ok_or_else(|| self.vanished(&folder))?
            }
        };
        Ok(self.with_lines.get_or_init(|| Arc::new(loaded)).clone())
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

    /// Builds the primal's artifact, unless another thread is building it.
    pub(crate) fn build_primal(&self, folder: &Path) -> Result<()> {
        let _lock = self.cache.lock(&format!("{}-primal", self.manifest.key))?;
        match layout::is_there(folder) {
            true => Ok(()),
            false => build::primal(&self.context()?, &self.manifest).map(drop),
        }
    }

    /// Whether the function is a CUDA kernel, which is launched.
    pub(crate) fn is_kernel(&self) -> bool {
        self.launcher.is_some()
    }

    /// Whether an artifact with the primal is loaded.
    pub(crate) fn has_primal(&self) -> bool {
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

    pub(crate) fn call<'a>(&'a self, resolved: &'a Resolved, frame: &'a Frame) -> Call<'a> {
        // By default the runtime and its own variables decide.
        let threads = self.spec.options.threads.unwrap_or(0);
        Call { plan: &self.manifest.plan, resolved, function: &self.spec.function, threads, frame }
    }

    /// Whether gradients are checked at every call.
    pub(crate) fn verifies_always(&self) -> bool {
        self.spec.options.verify == Verify::Always
    }

    /// The derivatives to use for those wanted: of a pack, which cannot be added to, perhaps some with more.
    pub(crate) fn served_by(&self, wanted: DerivativeSet) -> DerivativeSet {
        self.pack.as_ref().map_or(wanted, |pack| pack.served_by(wanted))
    }

    /// The cache's lock. Of an MPI program only what is built alone happens under it, see [`Self::built`]; a pack has no cache.
    pub(crate) fn lock_if_alone(&self, wanted: DerivativeSet) -> Result<Option<Lock>> {
        match self.spec.options.mpi || self.pack.is_some() {
            true => Ok(None),
            false => self.lock(wanted).map(Some),
        }
    }

    pub(crate) fn lock(&self, wanted: DerivativeSet) -> Result<Lock> {
        self.cache.lock(&format!("{}-{}", self.manifest.key, wanted.name()))
    }

    /// Whether any pipeline is built.
    pub(crate) fn has_artifact(&self, wanted: DerivativeSet) -> bool {
        let folder = |pipeline| layout::derivative_folder(&self.cache, &self.manifest.key, wanted, pipeline);
        self.pipelines(wanted).into_iter().any(|pipeline| layout::is_there(&folder(pipeline)))
    }

    /// The option `timeout`.
    pub(crate) fn time_limit(&self) -> Duration {
        self.spec.options.time_limit()
    }

    /// The artifact of one pipeline, built if it is not there, by Enzyme in at most the time given.
    pub(crate) fn built(&self, wanted: DerivativeSet, pipeline: Pipeline, within: Duration) -> Result<Arc<Artifact>> {
        if let Some(pack) = &self.pack {
            return pack.code(wanted, pipeline).ok_or_else(|| pack.lacks(wanted, &self.manifest.plan));
        }
        let folder = layout::derivative_folder(&self.cache, &self.manifest.key, wanted, pipeline);
        if let Some(artifact) = Artifact::load(&self.cache, &folder)? {
            return Ok(Arc::new(artifact));
        }
        {
            // Held by the thread that searches, except with MPI. Released before loading, which starts MPI and so waits for the other ranks.
            let _lock = if self.spec.options.mpi { Some(self.lock(wanted)?) } else { None };
            if !layout::is_there(&folder) {
                build::derivative(&self.context()?, &self.manifest, wanted, pipeline, within)?;
            }
        }
        Ok(Arc::new(Artifact::load(&self.cache, &folder)?.ok_or_else(|| self.vanished(&folder))?))
    }

    /// Every pipeline, the one that the user prefers first.
    pub(crate) fn pipelines(&self, wanted: DerivativeSet) -> Vec<Pipeline> {
        if let Some(pack) = &self.pack {
            return pack.pipelines(wanted);
        }
        let first = self.spec.options.pipeline;
        let openmp = openmp::is_wanted(&self.spec.options);
        let fits = move |r: &Pipeline| Some(*r) != first && (openmp || *r != Pipeline::Serial);
        first.into_iter().chain(Pipeline::ALL.into_iter().filter(fits)).collect()
    }

    pub(crate) fn has_small_arguments(&self, resolved: &Resolved) -> bool {
        let arguments = self.manifest.plan.args.iter().enumerate();
        checked_shapes::are_small(arguments.map(|(i, arg)| resolved.elements(i).saturating_mul(arg.dtype.size())))
    }

    pub(crate) fn choice_file(&self, wanted: DerivativeSet) -> PathBuf {
        self.cache.entry(&self.manifest.key).join(format!("choice-{}.json", wanted.name()))
    }

    pub(crate) fn record_choice(
        &self,
        wanted: DerivativeSet,
        pipeline: Pipeline,
        check: Option<CheckRecord>,
        rejected: &[String],
        sizes: &ShapeRecord,
    ) -> Result<()> {
        if self.pack.is_some() {
            return Ok(());
        }
        let (rejected, ShapeRecord { checked, refused, paths }) = (rejected.to_vec(), sizes.clone());
        let choice = Choice { format: FORMAT, pipeline, check, rejected, sizes: checked, refused, paths };
        cache::write_json(&self.choice_file(wanted), &choice)
    }

    pub(crate) fn check(&self, artifact: &Artifact, inputs: &[Input<'_>], resolved: &Resolved) -> Result<Checked> {
        static SEED: AtomicU64 = AtomicU64::new(1);
        paths::note_check();
        let frame = Frame::open();
        let call = self.call(resolved, &frame);
        let values = self.gather(&call, inputs)?;
        let seed = if self.verifies_always() { SEED.fetch_add(1, Ordering::Relaxed) } else { 1 };
        let _step = Step::begin("verifying".to_owned());
        prover::check(&call, artifact, values, self.manifest.single_precision, seed)
    }

    /// Private copies of everything the caller gave, one buffer an argument.
    pub(crate) fn gather(&self, call: &Call<'_>, inputs: &[Input<'_>]) -> Result<Point> {
        let plan = &self.manifest.plan;
        let mut values: Vec<Vec<u64>> = Vec::with_capacity(plan.args.len());
        for (arg, a) in plan.args.iter().enumerate() {
            let mut memory = call.words(call.bytes(arg))?;
            let target = memory.as_mut_ptr().cast::<u8>();
            match a.role {
                Role::Input | Role::InOut => {
                    let position = plan.inputs.iter().position(|&i| i == arg).unwrap_or(0);
                    call.copy_input(&inputs[position], arg, target)?;
                }
                Role::Size => {
                    let place = call.size(arg)?;
                    // SAFETY: both hold at least one integer of the parameter's type.
                    unsafe { target.copy_from_nonoverlapping(place, a.dtype.size()) };
                }
                Role::Output | Role::Scratch | Role::Return => {}
            }
            values.push(memory);
        }
        Ok(values)
    }

    /// Whether what would be a warning is a refusal.
    pub(crate) fn is_strict(&self) -> bool {
        self.spec.options.verify == Verify::Strict
    }

    /// The sizes of a call, by parameter name.
    pub(crate) fn sizes(&self, resolved: &Resolved) -> BTreeMap<String, i64> {
        let args = self.manifest.plan.args.iter().enumerate().filter(|(_, a)| a.role == Role::Size);
        args.map(|(i, a)| (a.name.clone(), resolved.sizes[i])).collect()
    }
}

/// Properties of a plan that every call asks for.
#[derive(Clone, Copy)]
pub(crate) struct PlanFlags {
    /// As [`core_ad::CallPlan::is_batched`].
    pub batched: bool,
    /// As [`core_ad::CallPlan::differentiable_mask`].
    pub differentiable: u64,
}

impl PlanFlags {
    fn of(plan: &core_ad::CallPlan) -> Self {
        PlanFlags { batched: plan.is_batched(), differentiable: plan.differentiable_mask() }
    }
}

/// The tools that a function's sources need.
pub(crate) fn tools_for(spec: &Spec) -> std::result::Result<Tools, ToolchainError> {
    let tools = toolchain_of(spec)?;
    if language::is_fortran(spec) { toolchain::with_fortran(tools) } else { Ok(tools) }
}

/// The tools that every build needs.
pub(crate) fn toolchain_of(spec: &Spec) -> std::result::Result<Tools, ToolchainError> {
    toolchain::find(&choice(&spec.options.engine))
}

/// The packaging of Enzyme meant by the option's text.
fn choice(text: &str) -> EngineChoice {
    match text {
        "" | "auto" => EngineChoice::Auto,
        "catalyst" => EngineChoice::Catalyst,
        "plugin" => EngineChoice::Plugin(None),
        path => EngineChoice::Plugin(Some(PathBuf::from(path))),
    }
}

/// `OnceLock::get_or_try_init`, which is not stable: an outcome computed before decides.
pub(crate) trait InitWith<T> {
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

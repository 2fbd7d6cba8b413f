//! An opened foreign function: the object that a front end holds.
//!
//! Opening finds or makes the cache entry; artifacts are built when first needed; derivatives are verified
//! at the first call and then trusted. One value serves many threads.

mod array_bounds;
pub(crate) mod batch;
pub(crate) mod eval;
pub(crate) mod faulty_rule;
pub mod gpu;
pub(crate) mod opened;
mod pipeline_queue;
pub mod repeat;
pub(crate) mod search;
pub(crate) mod select;
pub(crate) mod tape;
pub(crate) mod trust;
mod unproven;
pub(crate) mod variants;
pub(crate) mod watch;

use crate::build::context::Context;
use crate::build::frontend::{cuda, language};
use crate::build::{self, Analysed, folder, key};
use crate::cache::request::{Found, Record, Vacancy};
use crate::cache::{Cache, Lock, entry, maintenance};
use crate::call::arguments::{self, Input, Results};
use crate::call::launch::{Chooser, Launcher};
use crate::call::shape_cache::ShapeCache;
use crate::call::task::Task;
use crate::error::{Error, Result};
use crate::function::opened::{InitWith, Opened, toolchain_of, tools_for};
use crate::function::repeat::Repeat;
use crate::function::trust::{Selection, Trust};
use crate::function::variants::Variants;
use crate::function::variants::packed::PackedVariant;
use crate::gpu::driver::Modules;
use crate::gpu::errors::Kernel;
use crate::options::Spec;
use crate::os::cpu;
use crate::os::process::memory;
use crate::pack;
use crate::source_text;
use crate::toolchain::{self, ToolchainError};
use core_ad::DerivativeSet;
use core_ad::diagnostics::Diagnosis;
use core_ad::manifest::{Manifest, Source};
use core_ad::protocol::Pipeline;
use core_ad::shapes::{self, Resolved};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// The functions that sources define, or a pack has, as a person names them.
///
/// # Errors
///
/// Toolchain, compile, pack and cache errors.
pub fn functions(spec: Spec) -> Result<Vec<String>> {
    if let Some(path) = pack::read::source(&spec) {
        return Ok(pack::read::read(path)?.functions.into_keys().collect());
    }
    source_text::check(&spec)?;
    let (tools, cache) = (tools_for(&spec)?, Cache::open()?);
    build::analyse::functions(&Context { spec: &spec, tools: &tools, cache: &cache })
}

/// A foreign function ready to be called and differentiated.
pub struct Function {
    pub(crate) opened: Opened,
    pub(crate) trust: Trust,
    pub(crate) variants: Variants,
    shapes: ShapeCache,
    pub(crate) gpu: Modules,
    /// Where it is a loop over steps: what runs it.
    pub(crate) repeat: Option<Repeat>,
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
        repeat::open::check_options(&spec)?;
        if spec.options.repeat.is_some() {
            return repeat::open::open(spec, chooser);
        }
        if let Some(path) = pack::read::source(&spec) {
            let path = path.to_owned();
            return Self::of_pack(pack::read::open(spec, &path)?, chooser);
        }
        memory::check().map_err(ToolchainError::Variable)?;
        toolchain::check_prover()?;
        maintenance::limit()?;
        if folder::is_wanted(&spec) {
            let cache = Cache::open()?;
            let with_flang = |fortran: bool| {
                let tools = toolchain_of(&spec)?;
                Ok(if fortran { toolchain::with_fortran(tools.clone()).unwrap_or(tools) } else { tools })
            };
            spec = folder::expand(&spec, &cache, with_flang)?;
        }
        if language::is_fortran(&spec) {
            lower_sizes(&mut spec);
        }
        source_text::check(&spec)?;
        cuda::check_constants(&spec)?;
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
        Ok(Self::of(Opened::of_entry(spec, manifest, cache, launcher, tools, held), Vec::new()))
    }

    fn of(opened: Opened, packed: Vec<PackedVariant>) -> Self {
        let variants = Variants { packed, ..Variants::default() };
        let (shapes, gpu) = (ShapeCache::default(), Modules::default());
        Function { opened, trust: Trust::default(), variants, shapes, gpu, repeat: None }
    }

    /// What chooses and verifies its derivatives.
    pub(crate) fn selection(&self) -> Selection<'_> {
        Selection { opened: &self.opened, trust: &self.trust }
    }

    /// The folder of the artifact with derivatives for the inputs in `mask`, built if need be. It keeps the
    /// IR before and after Enzyme and at the end (`before.ll`, `after.ll`, `final.ll`).
    ///
    /// # Errors
    ///
    /// Differentiation errors where Enzyme refuses in that pipeline, with the user's line; compile and cache errors.
    pub fn artifact_folder(&self, mask: u64, pipeline: Pipeline) -> Result<PathBuf> {
        match &self.repeat {
            Some(repeat) => repeat.step.opened.artifact_folder(repeat.step_mask(mask), pipeline),
            None => self.opened.artifact_folder(mask, pipeline),
        }
    }

    /// Builds the derivatives in the first pipeline that Enzyme accepts, without verification: the first call verifies. So a
    /// function that cannot be differentiated is refused before there are input values.
    ///
    /// # Errors
    ///
    /// As the first call of the derivative, but for errors that only input values can cause.
    pub fn prepare(&self, wanted: DerivativeSet) -> Result<()> {
        match &self.repeat {
            Some(repeat) => {
                repeat.step.selection().prepare(DerivativeSet { mask: repeat.step_mask(wanted.mask), ..wanted })
            }
            None => self.selection().prepare(wanted),
        }
    }

    /// Warnings that arose since the last call of this, oldest first.
    pub fn take_warnings(&self) -> Vec<String> {
        self.opened.take_warnings()
    }

    /// Whether [`Function::take_warnings`] would return any; costs next to nothing.
    pub fn has_warnings(&self) -> bool {
        self.opened.has_warnings()
    }

    /// Whether the function is a CUDA kernel, which is launched.
    pub fn is_kernel(&self) -> bool {
        self.opened.is_kernel()
    }

    /// Whether an artifact with the primal is loaded.
    pub fn has_primal(&self) -> bool {
        self.code().has_primal()
    }

    /// What has the code: the function itself, or the step that it repeats.
    fn code(&self) -> &Opened {
        self.repeat.as_ref().map_or(&self.opened, |repeat| &repeat.step.opened)
    }

    /// A function of a pack.
    pub(crate) fn of_pack(opened: pack::read::Opened, chooser: Option<Chooser>) -> Result<Self> {
        let pack::read::Opened { spec, manifest, loaded, variants } = opened;
        let launcher = Launcher::of(&spec, chooser)?;
        let variant = |(variant, opened)| Ok(PackedVariant::of(&variant, Self::of_pack(opened, None)?));
        let variants = variants.into_iter().map(variant).collect::<Result<_>>()?;
        Ok(Self::of(Opened::of_pack(spec, manifest, loaded, launcher), variants))
    }

    /// Prototype, plan and everything else known of the function.
    pub fn manifest(&self) -> &Manifest {
        &self.opened.manifest
    }

    /// What was asked for.
    pub fn spec(&self) -> &Spec {
        &self.opened.spec
    }

    /// The same source opened with other options.
    ///
    /// # Errors
    ///
    /// As [`Function::open`]; and a compile error where the source was edited meanwhile, for then it is another function.
    pub(crate) fn opened_with(&self, spec: Spec) -> Result<Function> {
        if let Some(pack) = &self.opened.pack {
            return Err(pack.needs_compiler());
        }
        let other = Function::open(spec)?;
        if contents(&other.opened.manifest.sources) == contents(&self.opened.manifest.sources) {
            return Ok(other);
        }
        let headline = format!("the source of `{}` was edited after it was opened", self.opened.spec.function);
        let refusal = Diagnosis::new("source-changed", &self.opened.spec.function, headline);
        Err(Error::compile(refusal.advise("Open the function again: call enzyme(...) once more.")))
    }

    /// Builds what values need: the derivatives in the inputs of `expected`, which serve values too, where that can be done, else
    /// the function alone. Not for a program of MPI, whose ranks build in their first call together.
    ///
    /// # Errors
    ///
    /// As the first call, except for what depends on values.
    pub fn prepare_values(&self, expected: u64) -> Result<()> {
        if self.opened.spec.options.mpi {
            return Ok(());
        }
        match self.prepare(DerivativeSet::first(expected)) {
            Ok(()) if expected & self.opened.manifest.plan.differentiable_mask() != 0 => Ok(()),
            // What cannot be differentiated has values all the same.
            Ok(()) | Err(Error::Differentiation(_)) => self.code().primal_artifact().map(drop),
            Err(other) => Err(other),
        }
    }

    /// Checks the inputs of a call and finds its shapes, with the batch dimensions that `...` stands for.
    ///
    /// # Errors
    ///
    /// Arity, dtype and shape errors, with the parameters' names.
    pub fn resolve(&self, inputs: &[Input<'_>]) -> Result<Arc<Resolved>> {
        match self.opened.plan_flags.batched {
            true => self.resolve_over(inputs).map(Arc::new),
            false => self.resolve_element(inputs),
        }
    }

    /// The shapes of one element of the batch, if there is one.
    pub(crate) fn resolve_element(&self, inputs: &[Input<'_>]) -> Result<Arc<Resolved>> {
        let plan = &self.opened.manifest.plan;
        arguments::check_types(&self.opened.spec.function, plan, inputs)?;
        if let Some(known) = self.shapes.find(plan, inputs) {
            return Ok(known);
        }
        let shapes: Vec<&[i64]> = inputs.iter().map(Input::shape).collect();
        let mut resolved = shapes::resolve(plan, &shapes, &self.opened.spec.options.sizes)?;
        if let Some(launcher) = &self.opened.launcher {
            // A launch may be chosen by the user's code, which may choose another one next time.
            let launch = launcher.launch(&self.opened.spec, plan, &resolved);
            resolved.launch = Some(launch.map_err(|e| Kernel::of(&self.opened.spec, &self.opened.manifest).locate(e))?);
            return Ok(Arc::new(resolved));
        }
        let resolved = Arc::new(resolved);
        self.shapes.keep(&resolved);
        Ok(resolved)
    }

    /// Computes the function. Results are written to memory from `results`, in the order of the plan's
    /// outputs.
    ///
    /// Where derivatives for the inputs in `expected` will follow, they are built (and verified) now: one
    /// build serves both, and a function without a gradient is refused before time is spent on it.
    ///
    /// # Errors
    ///
    /// Input errors, build errors at the first call, and exceptions of the foreign code.
    pub fn primal(&self, inputs: &[Input<'_>], expected: u64, results: &mut dyn Results) -> Result<()> {
        self.evaluate(&Task::primal(inputs, expected), results)
    }
}

/// As every name in Fortran.
pub(crate) fn lower_sizes(spec: &mut Spec) {
    let sizes = std::mem::take(&mut spec.options.sizes);
    spec.options.sizes = sizes.into_iter().map(|(name, value)| (name.to_lowercase(), value)).collect();
}

fn analyse(context: &Context<'_>, request: &str) -> Result<(Manifest, Option<Lock>)> {
    let Analysed { manifest, held, absent } = build::analyse(context)?;
    // Where not all is known that a compilation depends on, the next one to open the function compiles it again.
    if let Some(absent) = absent {
        let (sources, tools, key) = (manifest.sources.clone(), manifest.tools.clone(), manifest.key.clone());
        Record::add(context.cache, request, Found { sources, absent: Vacancy::all(absent), tools, key })?;
    }
    Ok((manifest, held))
}

/// The content of sources without their location: a folder that was moved or copied is the same source.
fn contents(sources: &[Source]) -> Vec<&str> {
    let mut all: Vec<&str> = sources.iter().map(|source| source.digest.as_str()).collect();
    all.sort_unstable();
    all
}

fn no_such_cpu(spec: &Spec) -> Error {
    let known: Vec<String> =
        core_ad::cpu::LEVELS.iter().filter(|l| cpu::is_known(l)).map(|l| format!("`{l}`")).collect();
    let headline = format!("code cannot be compiled for the CPU `{}`", spec.options.cpu);
    let known = if known.is_empty() { String::new() } else { format!(", {}", known.join(", ")) };
    let diagnosis = Diagnosis::new("unknown-cpu", &spec.function, headline);
    Error::compile(diagnosis.advise(format!("The option `cpu` can be `native`{known}.")))
}

//! Calls of a kernel on a GPU.

use crate::build::ptx;
use crate::error::{Error, Result};
use crate::function::Function;
use crate::gpu::driver::{self, GridBatch, Target};
use crate::gpu::errors::{self, Kernel};
use crate::gpu::memory::{self, Fill};
use crate::gpu::ptx::{Ptx, PtxRequest};
use crate::options::{Bounds, Spec};
use core_ad::diagnostics::Diagnosis;
use core_ad::protocol::{Entry, Pipeline};
use core_ad::shapes;

/// A batch of calls: how many, and for each slot the distance between elements, in bytes (0: all share it).
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    /// How many.
    pub count: i64,
    /// For each slot.
    pub distances: &'a [i64],
}

impl Function {
    /// The PTX of a kernel's entry points: what would run on a GPU of the architecture `arch` (`sm_80`) or a later one.
    /// No GPU is needed to build it.
    ///
    /// # Errors
    ///
    /// As [`ptx::build`]; a device error for a function that is no kernel, or one whose shared memory differs from call
    /// to call.
    pub fn ptx(&self, entries: &[Entry], mask: u64, arch: &str, batched: Option<i64>) -> Result<Ptx> {
        let wanted = self.wanted_ptx(entries, mask, arch, batched)?;
        self.code_for_gpu(&wanted)
    }

    fn code_for_gpu(&self, wanted: &PtxRequest) -> Result<Ptx> {
        match &self.opened.pack {
            Some(pack) => pack.ptx(wanted, &self.opened.manifest.plan),
            None => ptx::build(&self.opened.spec, &self.opened.manifest, &self.opened.cache, wanted),
        }
    }

    /// The inputs to differentiate by on a GPU, to have it by those in `mask`: a pack may have code by more of them alone.
    pub fn mask_on_gpu(&self, entry: Entry, mask: u64) -> u64 {
        self.opened.pack.as_ref().filter(|_| mask != 0).map_or(mask, |pack| pack.mask_on_gpu(entry, mask))
    }

    /// What is to be built for entry points.
    ///
    /// # Errors
    ///
    /// As [`Function::ptx`], without building it.
    pub(crate) fn wanted_ptx(
        &self,
        entries: &[Entry],
        mask: u64,
        arch: &str,
        batched: Option<i64>,
    ) -> Result<PtxRequest> {
        let launcher =
            self.opened.launcher.as_ref().ok_or_else(|| crate::call::launch::no_kernel(&self.opened.spec))?;
        let shared = launcher
            .fixed_shared(&self.opened.spec)
            .map_err(|e| Kernel::of(&self.opened.spec, &self.opened.manifest).locate(e))?;
        let (entries, arch) = (entries.to_vec(), arch.to_owned());
        Ok(PtxRequest { entries, mask, arch, shared, batched, pipeline: Pipeline::O1 })
    }

    /// Fills blocks of a GPU's memory in the order of a stream, for a launch that follows.
    ///
    /// # Errors
    ///
    /// Device errors with the kernel's line and the driver's words.
    ///
    /// # Safety
    ///
    /// As [`memory::fill`].
    pub unsafe fn fill_on_gpu(&self, device: i32, stream: u64, blocks: &[Fill]) -> Result<()> {
        let kernel = Kernel::of(&self.opened.spec, &self.opened.manifest);
        // SAFETY: by contract.
        unsafe { memory::fill(kernel, device, stream, blocks) }
    }

    /// Puts an entry point of a kernel on a stream of a GPU, and returns how many bytes of the pool it asked for; waits where it asks
    /// for any ([`Modules::launch`](driver::Modules::launch)). `slots` are the plan's, in order:
    /// addresses on the device, integers by value; those of sizes are filled in here. `shapes` are the inputs', of one
    /// element where there is a batch.
    ///
    /// # Errors
    ///
    /// As [`Function::ptx`]; shape errors; device errors with the kernel's line and the driver's words.
    pub fn launch_on_gpu(
        &self,
        entry: Entry,
        mask: u64,
        target: Target,
        shapes: &[&[i64]],
        slots: &mut [u64],
        elements: Option<Elements<'_>>,
    ) -> Result<Option<u64>> {
        let kernel = Kernel::of(&self.opened.spec, &self.opened.manifest);
        let launcher =
            self.opened.launcher.as_ref().ok_or_else(|| crate::call::launch::no_kernel(&self.opened.spec))?;
        if self.opened.spec.options.bounds == Bounds::Check {
            return Err(on_cpu_only(&self.opened.spec));
        }
        let plan = &self.opened.manifest.plan;
        let resolved = shapes::resolve(plan, shapes, &self.opened.spec.options.sizes)?;
        let launch = launcher.launch(&self.opened.spec, plan, &resolved).map_err(|e| kernel.locate(e))?;
        let gpu = driver::open(kernel, target.device)?;
        let arch = errors::architecture(kernel, gpu.limits.capability)?;
        // The first derivatives are needed together, for the check.
        let entries: &[Entry] = match entry {
            Entry::Vjp | Entry::Jvp => &[Entry::Vjp, Entry::Jvp],
            Entry::Hvp => &[Entry::Hvp],
            Entry::Jvp2 => &[Entry::Jvp2],
            _ => &[Entry::Primal],
        };
        let mask = if entry == Entry::Primal { 0 } else { mask };
        let wanted = self.wanted_ptx(entries, mask, &arch, elements.map(|_| launch.grid[2].max(1)))?;
        for (slot, value) in plan.slots(entry, mask).zip(slots.iter_mut()) {
            if plan.args[slot.arg].role == core_ad::Role::Size {
                *value = resolved.sizes[slot.arg] as u64;
            }
        }
        let strides =
            elements.map(|e| GridBatch { count: e.count, distances: e.distances, layers: launch.grid[2].max(1) });
        self.gpu.launch(kernel, entry, &wanted, || self.code_for_gpu(&wanted), target, (&launch, strides), slots)
    }
}

/// The error for a call on a GPU of a kernel whose bounds are to be checked.
fn on_cpu_only(spec: &Spec) -> Error {
    let headline = format!("the bounds of `{}` are checked on the CPU only", spec.function);
    let diagnosis = Diagnosis::new("bounds-on-gpu", &spec.function, headline);
    Error::Device(Box::new(
        diagnosis
            .advise("Call it with arrays of the CPU, or leave bounds=\"check\" out.")
            .advise("On a GPU, compute-sanitizer names the line."),
    ))
}

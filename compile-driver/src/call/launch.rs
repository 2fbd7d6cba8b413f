//! The launch of a CUDA kernel: grid, block and shared memory of a call, from options or a callable.

use crate::error::{Error, Result};
use crate::options::{self, Spec};
use core_ad::CallPlan;
use core_ad::cuda::{Geometry, Launch};
use core_ad::diagnostics::Diagnosis;
use core_ad::shapes::Resolved;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Chooses the launch of a call from its dimensions: extents of the grid and of the block, bytes of shared memory.
pub type Chooser = Arc<dyn Fn(&BTreeMap<String, i64>) -> Result<([i64; 3], [i64; 3], i64)> + Send + Sync>;

/// How calls of a kernel are launched.
pub struct Launcher {
    geometry: Geometry,
    /// In place of the geometry, where the front end was given a callable.
    chooser: Option<Chooser>,
}

impl Launcher {
    /// The launcher of a function; `None` where it is no kernel.
    ///
    /// # Errors
    ///
    /// A device error for options that make no launch, or that only a kernel has.
    pub fn of(spec: &Spec, chooser: Option<Chooser>) -> Result<Option<Self>> {
        let options = &spec.options;
        if !options::is_kernel(spec) {
            let launch = [
                ("grid", chooser.is_some() || !options.grid.is_empty()),
                ("block", !options.block.is_empty()),
                ("shared", options.shared.is_some()),
            ];
            return match launch.iter().find(|(_, given)| *given) {
                Some((name, _)) => Err(refused(spec, format!("`{name}` is an option of CUDA kernels, in .cu files"))),
                None => Ok(None),
            };
        }
        let geometry = Geometry::parse(&options.grid, &options.block, options.shared.as_ref());
        let geometry = geometry.map_err(|problem| refused(spec, problem))?;
        Ok(Some(Launcher { geometry, chooser }))
    }

    /// Bytes of dynamic shared memory, which a GPU's code must know when it is compiled.
    ///
    /// # Errors
    ///
    /// A device error where they follow from the dimensions of a call.
    pub fn fixed_shared(&self, spec: &Spec) -> Result<i64> {
        let fixed = if self.chooser.is_some() { None } else { self.geometry.fixed_shared() };
        fixed.ok_or_else(|| {
            refused(spec, "on a GPU the option `shared` must be a number: the code is compiled for it".to_owned())
        })
    }

    /// Whether a callable of the front end chooses.
    pub fn is_chosen(&self) -> bool {
        self.chooser.is_some()
    }

    /// Blocks along z, where they are the same for every call.
    pub fn fixed_layers(&self) -> Option<i64> {
        if self.is_chosen() { None } else { self.geometry.fixed_layers() }
    }

    /// The launch of a call.
    ///
    /// # Errors
    ///
    /// A device error where no GPU could do it; the error of the front end's callable.
    pub fn launch(&self, spec: &Spec, plan: &CallPlan, resolved: &Resolved) -> Result<Launch> {
        let sizes = &spec.options.sizes;
        let outcome = match &self.chooser {
            Some(chooser) => {
                let (grid, block, shared) = chooser(&core_ad::cuda::geometry::dimensions(plan, resolved, sizes))?;
                Launch::checked(grid, block, shared)
            }
            None => self.geometry.launch(plan, resolved, sizes),
        };
        outcome.map_err(|problem| refused(spec, problem))
    }
}

/// The error for a function that has no kernel.
pub(crate) fn no_kernel(spec: &Spec) -> Error {
    let headline = format!("`{}` is no CUDA kernel: it runs on the CPU only", spec.function);
    Error::Device(Box::new(
        Diagnosis::new("no-kernel", &spec.function, headline).advise("Write the function as a kernel in a .cu file."),
    ))
}

fn refused(spec: &Spec, problem: String) -> Error {
    let headline = format!("`{}` cannot be launched: {problem}", spec.function);
    Error::Device(Box::new(Diagnosis::new("launch", &spec.function, headline)))
}

//! Launches on an NVIDIA GPU, through the driver's own interface (cudarc), which is loaded when first asked for: nothing
//! is needed on machines without one.
//!
//! A launch goes to the stream it is given and waits for nothing, so that it can be captured in a CUDA graph. Modules
//! are loaded once per device and code, into the device's primary context, which is the one frameworks use; the driver
//! compiles the PTX for the device then, and keeps the result in a cache of its own. The context that was current
//! before a call is current again after it.
//!
//! On a GPU `make gpu` tests it; without one `tests/cuda/fake_gpu` runs it on a driver made for tests.

use crate::error::Result;
use crate::gpu::errors::{self, Kernel, Limits, Needs, refused};
use crate::gpu::memory;
use crate::gpu::ptx::{Ptx, PtxRequest};
use core_ad::cuda::{Launch, back_end};
use core_ad::protocol::Entry;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice_attribute_enum as Attribute, CUfunction_attribute_enum as FunctionAttribute};
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A device, opened: its primary context is retained for as long as the process lives.
#[derive(Clone, Copy)]
pub struct Gpu {
    context: sys::CUcontext,
    /// What it allows.
    pub limits: Limits,
    /// The newest CUDA that the driver knows, 12080 for 12.8.
    driver: i32,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Gpu {}
// SAFETY: as above.
unsafe impl Sync for Gpu {}

/// The modules of one function, by device and code.
#[derive(Default)]
pub struct Modules {
    loaded: Mutex<HashMap<(i32, PtxRequest), Arc<Module>>>,
}

/// A module in a device's context. It stays loaded as long as the process: kernels may still run.
struct Module {
    kernels: HashMap<&'static str, (sys::CUfunction, Needs)>,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

/// Where a launch goes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Number of the device.
    pub device: i32,
    /// The framework's current stream, as a `CUstream`.
    pub stream: u64,
    /// Address and bytes of the memory that a derivative may allocate from; on the device, zero where there is none.
    pub pool: (u64, u64),
}

/// A batch: how many elements, the distance between them in each slot (bytes; 0 for what they share), and the
/// blocks along z of one element's grid.
#[derive(Clone, Copy)]
pub struct GridBatch<'a> {
    /// Elements.
    pub count: i64,
    /// For each slot.
    pub distances: &'a [i64],
    /// Along z.
    pub layers: i64,
}

/// Makes sure that there is a driver, and returns the number of devices.
///
/// # Errors
///
/// A device error that names what is missing.
pub fn devices(kernel: Kernel<'_>) -> Result<i32> {
    // SAFETY: only looks for the library.
    if !unsafe { sys::is_culib_present() } {
        return Err(errors::no_driver(kernel));
    }
    result::init().map_err(|e| refused(kernel, "start the NVIDIA driver", e))?;
    result::device::get_count().map_err(|e| refused(kernel, "count the GPUs", e))
}

/// Opens a device, once.
///
/// # Errors
///
/// A device error for one that is not there.
pub fn open(kernel: Kernel<'_>, device: i32) -> Result<Gpu> {
    static OPEN: OnceLock<Mutex<HashMap<i32, Gpu>>> = OnceLock::new();
    let mut open = OPEN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(gpu) = open.get(&device) {
        return Ok(*gpu);
    }
    let count = devices(kernel)?;
    if !(0..count).contains(&device) {
        return Err(errors::no_device(kernel, device, count));
    }
    let handle = result::device::get(device).map_err(|e| refused(kernel, "find the GPU", e))?;
    // SAFETY: the handle is the driver's own; the context is retained and never released.
    let context = unsafe { result::primary_ctx::retain(handle) }.map_err(|e| refused(kernel, "open the GPU", e))?;
    let mut driver = 0;
    // SAFETY: room for the answer.
    unsafe { sys::cuDriverGetVersion(&mut driver) }.result().map_err(|e| refused(kernel, "ask the driver", e))?;
    let limits = limits(handle).map_err(|e| refused(kernel, "ask the GPU", e))?;
    let gpu = Gpu { context, limits, driver };
    open.insert(device, gpu);
    Ok(gpu)
}

fn limits(device: sys::CUdevice) -> std::result::Result<Limits, DriverError> {
    // SAFETY: the handle is the driver's own.
    let ask = |attribute| unsafe { result::device::get_attribute(device, attribute) };
    Ok(Limits {
        capability: (
            ask(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            ask(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        threads: (
            ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            [
                ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ],
        ),
        blocks: [
            ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
            ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
            ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
        ],
    })
}

/// A device's context made current, until this is dropped.
pub struct Entered {
    before: Option<sys::CUcontext>,
}

impl Gpu {
    /// Makes its context current on this thread.
    ///
    /// # Errors
    ///
    /// Device errors.
    pub fn enter(&self, kernel: Kernel<'_>) -> Result<Entered> {
        let before = result::ctx::get_current().map_err(|e| refused(kernel, "use the GPU", e))?;
        if before == Some(self.context) {
            return Ok(Entered { before: None });
        }
        // SAFETY: a context that lives as long as the process.
        unsafe { result::ctx::set_current(self.context) }.map_err(|e| refused(kernel, "use the GPU", e))?;
        Ok(Entered { before: Some(before.unwrap_or(std::ptr::null_mut())) })
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: it was current before, or none was.
            let _ = unsafe { result::ctx::set_current(before) };
        }
    }
}

impl Modules {
    /// Puts a kernel on the stream. `slots` are its parameters: addresses on the device, or integers in the low bytes.
    /// `build` makes the code, where it is not loaded yet. Returns the bytes of the pool that it asked for, and waits for that:
    /// if they are more than there are, the results are not complete. 0 where it needs no pool; none where that is not
    /// known, because nothing was launched or a graph is captured.
    ///
    /// # Errors
    ///
    /// Device errors, with the kernel's line and the driver's own words; the errors of `build`.
    #[allow(clippy::too_many_arguments)]
    pub fn launch(
        &self,
        kernel: Kernel<'_>,
        entry: Entry,
        wanted: &PtxRequest,
        build: impl FnOnce() -> Result<Ptx>,
        target: Target,
        (launch, batch): (&Launch, Option<GridBatch<'_>>),
        slots: &mut [u64],
    ) -> Result<Option<u64>> {
        if launch.grid.contains(&0) || batch.is_some_and(|b| b.count == 0) {
            return Ok(None);
        }
        let gpu = open(kernel, target.device)?;
        let _entered = gpu.enter(kernel)?;
        let module = self.module(kernel, entry, wanted, build, (&gpu, target))?;
        let (mut pool, mut size) = target.pool;
        let reset = module.kernels.get(back_end::RESET);
        let captured = is_capturing(target.stream).map_err(|e| refused(kernel, ASK, e))?;
        if let Some((reset, _)) = reset.filter(|_| pool != 0) {
            let mut strict = u64::from(captured);
            let mut parameters = [(&raw mut pool).cast(), (&raw mut size).cast(), (&raw mut strict).cast()];
            run(kernel, *reset, ([1; 3], [1; 3]), target.stream, &mut parameters)?;
        }
        let (handle, needs) = module.kernels[entry.symbol()];
        errors::fits(kernel, entry, launch, &gpu.limits, &needs)?;
        let Some(batch) = batch else {
            let mut parameters: Vec<*mut c_void> = slots.iter_mut().map(|s| (s as *mut u64).cast()).collect();
            parameters.push((&raw mut pool).cast());
            run(kernel, handle, (launch.grid, launch.block), target.stream, &mut parameters)?;
            return asked_for(kernel, target, reset.is_some(), captured);
        };
        let mut distances = batch.distances.to_vec();
        let most = (i64::from(gpu.limits.blocks[2]) / batch.layers).max(1);
        for first in (0..batch.count).step_by(most as usize) {
            let mut own: Vec<u64> = slots.to_vec();
            for (slot, distance) in own.iter_mut().zip(&distances) {
                *slot = slot.wrapping_add((first * distance) as u64);
            }
            let [x, y, _] = launch.grid;
            let grid = [x, y, batch.layers * most.min(batch.count - first)];
            let mut parameters: Vec<*mut c_void> = own.iter_mut().map(|s| (s as *mut u64).cast()).collect();
            parameters.push((&raw mut pool).cast());
            parameters.extend(distances.iter_mut().map(|d| (d as *mut i64).cast::<c_void>()));
            run(kernel, handle, (grid, launch.block), target.stream, &mut parameters)?;
        }
        asked_for(kernel, target, reset.is_some(), captured)
    }

    fn module(
        &self,
        kernel: Kernel<'_>,
        entry: Entry,
        wanted: &PtxRequest,
        build: impl FnOnce() -> Result<Ptx>,
        (gpu, target): (&Gpu, Target),
    ) -> Result<Arc<Module>> {
        let key = (target.device, wanted.clone());
        let known = || self.loaded.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(module) = known() {
            return Ok(module);
        }
        if is_capturing(target.stream).map_err(|e| refused(kernel, ASK, e))? {
            return Err(errors::unloaded_in_capture(kernel, entry));
        }
        let ptx = build()?;
        errors::driver_takes(kernel, &ptx.text, gpu.driver)?;
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = loaded.get(&key) {
            return Ok(module.clone());
        }
        let module = Arc::new(load(kernel, wanted, &ptx)?);
        loaded.insert(key, module.clone());
        Ok(module)
    }
}

const ASK: &str = "ask the stream";

/// How many bytes of its pool a launch asked for, which waits for it: 0 where it needs none, none where it is not known because a
/// graph is captured.
fn asked_for(kernel: Kernel<'_>, target: Target, has_pool: bool, captured: bool) -> Result<Option<u64>> {
    if !has_pool {
        return Ok(Some(0));
    }
    if captured || target.pool.0 == 0 {
        return Ok(None);
    }
    let mut words = [0; 2 * size_of::<u64>()];
    // SAFETY: a pool begins with its header, which is longer.
    unsafe { memory::download(kernel, target.device, target.stream, target.pool.0, &mut words) }?;
    let asked = words.last_chunk().map(|bytes| u64::from_ne_bytes(*bytes));
    Ok(asked)
}

/// Whether a CUDA graph is captured on the stream.
pub fn is_capturing(stream: u64) -> std::result::Result<bool, DriverError> {
    let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    // SAFETY: the framework's stream, and room for the answer.
    unsafe { sys::cuStreamIsCapturing(stream as sys::CUstream, &mut status) }.result()?;
    Ok(status != sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
}

/// Loads code into the current context.
fn load(kernel: Kernel<'_>, wanted: &PtxRequest, ptx: &Ptx) -> Result<Module> {
    let image = CString::new(ptx.text.as_bytes()).unwrap_or_default();
    // SAFETY: PTX ended by a zero, which the driver copies.
    let module = unsafe { result::module::load_data(image.as_ptr().cast()) };
    let module = module.map_err(|e| refused(kernel, "load the kernel", e))?;
    let reset = back_end::needs_pool(&ptx.text).then_some(back_end::RESET);
    let names = wanted.entries.iter().map(|e| e.symbol()).chain(reset);
    let mut kernels = HashMap::new();
    for name in names {
        let found = find(module, name).map_err(|e| refused(kernel, &format!("find the kernel `{name}`"), e))?;
        kernels.insert(name, found);
    }
    Ok(Module { kernels })
}

fn find(module: sys::CUmodule, name: &str) -> std::result::Result<(sys::CUfunction, Needs), DriverError> {
    // SAFETY: a loaded module and a name ended by a zero.
    let handle = unsafe { result::module::get_function(module, CString::new(name).unwrap_or_default()) }?;
    let ask = |attribute| {
        let mut value = 0;
        // SAFETY: a live handle, and room for the answer.
        unsafe { sys::cuFuncGetAttribute(&mut value, attribute, handle) }.result()?;
        Ok::<i32, DriverError>(value)
    };
    let needs = Needs {
        threads: ask(FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        registers: ask(FunctionAttribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
        shared: ask(FunctionAttribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
        local: ask(FunctionAttribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
    };
    Ok((handle, needs))
}

fn run(
    kernel: Kernel<'_>,
    handle: sys::CUfunction,
    (grid, block): ([i64; 3], [i64; 3]),
    stream: u64,
    parameters: &mut [*mut c_void],
) -> Result<()> {
    let extents = |e: [i64; 3]| (e[0] as u32, e[1] as u32, e[2] as u32);
    // Dynamic shared memory is an array of fixed size in the code.
    // SAFETY: one parameter for each of the kernel's, of its size; the stream is the framework's.
    unsafe { result::launch_kernel(handle, extents(grid), extents(block), 0, stream as sys::CUstream, parameters) }
        .map_err(|e| refused(kernel, "launch the kernel", e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_driver_the_error_says_so_and_offers_the_cpu() {
        match devices(Kernel { function: "k", place: Some(("/s/k.cu", 3)) }) {
            Ok(count) => assert!(count >= 0),
            Err(error) => {
                let text = error.to_string();
                assert!(text.starts_with("`k`") && text.contains("NVIDIA") && text.contains("k.cu:3"), "{text}");
            }
        }
    }
}

//! Launches on an NVIDIA GPU, through the driver's own interface (cudarc), which is loaded when first asked for: nothing
//! is needed on machines without one.
//!
//! A launch goes to the stream it is given and waits for nothing, so that it can be captured in a CUDA graph. Modules
//! are loaded once per device and artifact, into the device's primary context, which is the one frameworks use; the
//! driver compiles the PTX for the device then, and keeps the result in a cache of its own.
//!
//! Nothing here has run on a GPU yet: the machines it was written on had none.

use crate::cuda::ptx::{self, Ptx, Wanted};
use crate::error::{Error, Result};
use core_ad::cuda::Launch;
use core_ad::diagnostics::Diagnosis;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::sync::{Mutex, PoisonError};

/// The modules of one function, by device and code.
#[derive(Default)]
pub struct Modules {
    loaded: Mutex<HashMap<(i32, Wanted), Module>>,
}

/// A module in a device's context. It stays loaded as long as the process: kernels may still run.
#[derive(Clone, Copy)]
struct Module {
    context: sys::CUcontext,
    module: sys::CUmodule,
    pooled: bool,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Module {}

/// Where a launch goes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Number of the device.
    pub device: i32,
    /// The framework's current stream, as a `CUstream`.
    pub stream: u64,
    /// Address and bytes of the memory that a derivative may allocate from; on the device.
    pub pool: (u64, u64),
}

/// Makes sure that there is a driver and a device, and returns the number of devices.
///
/// # Errors
///
/// A device error that says what is missing.
pub fn devices(function: &str) -> Result<i32> {
    // SAFETY: only looks for the library.
    if !unsafe { sys::is_culib_present() } {
        let headline = format!("`{function}` was called on a GPU, but this machine has no NVIDIA driver (libcuda)");
        return Err(Error::Device(Box::new(
            Diagnosis::new("no-driver", function, headline)
                .advise("Without a GPU the same kernel runs on the CPU: call it with CPU tensors."),
        )));
    }
    result::init().map_err(|e| refused(function, "start the NVIDIA driver", e))?;
    match result::device::get_count().map_err(|e| refused(function, "count the GPUs", e))? {
        0 => {
            let headline = format!("`{function}` was called on a GPU, but the NVIDIA driver finds none");
            Err(Error::Device(Box::new(Diagnosis::new("no-device", function, headline))))
        }
        count => Ok(count),
    }
}

/// The architecture to compile for, `sm_80` or older where the device is.
///
/// # Errors
///
/// A device error for a device that is not there or too old.
pub fn architecture(function: &str, device: i32) -> Result<String> {
    use sys::CUdevice_attribute_enum as Attribute;
    devices(function)?;
    let handle = result::device::get(device).map_err(|e| refused(function, "find the GPU", e))?;
    let attribute = |attribute| {
        // SAFETY: the handle is the driver's own.
        unsafe { result::device::get_attribute(handle, attribute) }.map_err(|e| refused(function, "ask the GPU", e))
    };
    let major = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    oldest(major, minor).ok_or_else(|| {
        let headline = format!("the GPU is too old for `{function}`: its compute capability is {major}.{minor}");
        let diagnosis = Diagnosis::new("architecture", function, headline);
        Error::Device(Box::new(diagnosis.mismatch("6.0 or later", format!("{major}.{minor}"))))
    })
}

/// PTX for sm_80 runs on everything later.
fn oldest(major: i32, minor: i32) -> Option<String> {
    match (major, minor) {
        (8.., _) => Some("sm_80".to_owned()),
        (6 | 7, minor) => Some(format!("sm_{major}{minor}")),
        _ => None,
    }
}

impl Modules {
    /// Puts a kernel on the stream. `slots` are its parameters: addresses on the device, or integers in the low bytes.
    ///
    /// # Errors
    ///
    /// Device errors, with the driver's own words.
    pub fn launch(
        &self,
        function: &str,
        entry: &str,
        code: (&Wanted, &Ptx),
        target: Target,
        launch: &Launch,
        slots: &mut [u64],
    ) -> Result<()> {
        if launch.grid.contains(&0) {
            return Ok(());
        }
        let module = self.module(function, code, target.device)?;
        // SAFETY: the context is the device's primary one, retained for good.
        unsafe { result::ctx::set_current(module.context) }.map_err(|e| refused(function, "use the GPU", e))?;
        if module.pooled {
            let (mut base, mut size) = target.pool;
            let mut parameters = [(&raw mut base).cast(), (&raw mut size).cast()];
            run(function, module, "ffgrad_reset", ([1; 3], [1; 3]), target.stream, &mut parameters)?;
        }
        let mut parameters: Vec<*mut c_void> = slots.iter_mut().map(|s| (s as *mut u64).cast()).collect();
        run(function, module, entry, (launch.grid, launch.block), target.stream, &mut parameters)
    }

    fn module(&self, function: &str, (wanted, ptx): (&Wanted, &Ptx), device: i32) -> Result<Module> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (device, wanted.clone());
        if let Some(module) = loaded.get(&key) {
            return Ok(*module);
        }
        devices(function)?;
        let handle = result::device::get(device).map_err(|e| refused(function, "find the GPU", e))?;
        // SAFETY: the handle is the driver's own; the context is retained and never released.
        let context =
            unsafe { result::primary_ctx::retain(handle) }.map_err(|e| refused(function, "open the GPU", e))?;
        // SAFETY: a live context.
        unsafe { result::ctx::set_current(context) }.map_err(|e| refused(function, "use the GPU", e))?;
        let image = CString::new(ptx.text.as_bytes()).unwrap_or_default();
        // SAFETY: PTX ended by a zero, which the driver copies.
        let module = unsafe { result::module::load_data(image.as_ptr().cast()) };
        let module = module.map_err(|e| refused(function, "load the kernel", e))?;
        let module = Module { context, module, pooled: ptx::needs_pool(ptx) };
        loaded.insert(key, module);
        Ok(module)
    }
}

fn run(
    function: &str,
    module: Module,
    kernel: &str,
    (grid, block): ([i64; 3], [i64; 3]),
    stream: u64,
    parameters: &mut [*mut c_void],
) -> Result<()> {
    let name = CString::new(kernel).unwrap_or_default();
    // SAFETY: a loaded module and a name ended by a zero.
    let handle = unsafe { result::module::get_function(module.module, name) };
    let handle = handle.map_err(|e| refused(function, &format!("find the kernel `{kernel}`"), e))?;
    let extents = |e: [i64; 3]| (e[0] as u32, e[1] as u32, e[2] as u32);
    // Dynamic shared memory is an array of fixed size in the code.
    // SAFETY: one parameter for each of the kernel's, of its size; the stream is the framework's.
    unsafe { result::launch_kernel(handle, extents(grid), extents(block), 0, stream as sys::CUstream, parameters) }
        .map_err(|e| refused(function, "launch the kernel", e))
}

fn refused(function: &str, action: &str, error: DriverError) -> Error {
    let words = error.error_string().map_or_else(|_| format!("{:?}", error.0), |s| s.to_string_lossy().into_owned());
    let headline = format!("`{function}`: could not {action}: {words}");
    let mut diagnosis = Diagnosis::new("cuda", function, headline);
    match error.0 {
        sys::cudaError_enum::CUDA_ERROR_OUT_OF_MEMORY => {
            diagnosis.code = "out-of-memory".to_owned();
            diagnosis = diagnosis.advise("Free tensors on the device, or call the kernel on fewer elements.");
        }
        sys::cudaError_enum::CUDA_ERROR_NO_BINARY_FOR_GPU | sys::cudaError_enum::CUDA_ERROR_INVALID_PTX => {
            diagnosis.code = "architecture".to_owned();
            diagnosis =
                diagnosis.advise("The driver may be older than the code: it needs CUDA 11.5 (PTX 7.5) or later.");
        }
        sys::cudaError_enum::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => {
            diagnosis.code = "launch-resources".to_owned();
            diagnosis =
                diagnosis.advise("The derivative needs more registers than the kernel: use smaller blocks (`block`).");
        }
        _ => {}
    }
    Error::Device(Box::new(diagnosis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_for_ampere_or_for_the_device_where_that_is_older() {
        assert_eq!(oldest(9, 0).as_deref(), Some("sm_80"));
        assert_eq!(oldest(12, 0).as_deref(), Some("sm_80"));
        assert_eq!(oldest(7, 5).as_deref(), Some("sm_75"));
        assert_eq!(oldest(5, 2), None);
    }

    #[test]
    fn without_a_driver_the_error_says_so_and_offers_the_cpu() {
        match devices("k") {
            Ok(count) => assert!(count > 0),
            Err(error) => {
                let text = error.to_string();
                assert!(matches!(error, Error::Device(_)), "{text}");
                assert!(
                    text.contains("`k`") && (text.contains("no NVIDIA driver") || text.contains("NVIDIA")),
                    "{text}"
                );
            }
        }
    }
}

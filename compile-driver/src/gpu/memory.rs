//! Memory on a device for front ends whose framework gives none: taken from the driver's own pool, in the order of a stream.

use crate::error::Result;
use crate::gpu::driver::{self, Gpu};
use crate::gpu::errors::{Kernel, refused};
use cudarc::driver::sys;

/// A block of device memory. It is freed in stream order, after the work enqueued before.
pub struct Memory {
    gpu: Gpu,
    address: u64,
    bytes: usize,
    stream: u64,
}

/// What is done, for messages.
const ALLOCATE: &str = "allocate memory on the GPU";
const COPY: &str = "copy memory of the GPU";
const ORDER: &str = "order two streams";

/// What a framework's block is to hold before a launch.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    /// Its address on the device.
    pub to: u64,
    /// Where as many bytes are copied from, on the same device; 0 for zeros.
    pub from: u64,
    /// How many bytes.
    pub bytes: usize,
}

/// Fills blocks in the order of a stream. A framework's own operators take several times as long on the host.
///
/// # Errors
///
/// Device errors.
///
/// # Safety
///
/// The blocks are on the device, of these sizes, and live until the stream has come so far.
pub unsafe fn fill(kernel: Kernel<'_>, device: i32, stream: u64, blocks: &[Fill]) -> Result<()> {
    let gpu = driver::open(kernel, device)?;
    let _entered = gpu.enter(kernel)?;
    let stream = stream as sys::CUstream;
    for block in blocks.iter().filter(|block| block.bytes > 0) {
        // SAFETY: promised by the caller.
        let done = unsafe {
            match block.from {
                0 => sys::cuMemsetD8Async(block.to, 0, block.bytes, stream),
                from => sys::cuMemcpyDtoDAsync_v2(block.to, from, block.bytes, stream),
            }
        };
        done.result().map_err(|e| refused(kernel, COPY, e))?;
    }
    Ok(())
}

impl Memory {
    /// Takes so many bytes on a device; they hold anything.
    ///
    /// # Errors
    ///
    /// Device errors; code `out-of-memory` where there is no room.
    pub fn new(kernel: Kernel<'_>, device: i32, stream: u64, bytes: usize) -> Result<Self> {
        let gpu = driver::open(kernel, device)?;
        let _entered = gpu.enter(kernel)?;
        let mut address = 0;
        if bytes > 0 {
            // SAFETY: room for the answer; the stream is the caller's.
            unsafe { sys::cuMemAllocAsync(&mut address, bytes, stream as sys::CUstream) }
                .result()
                .map_err(|e| refused(kernel, ALLOCATE, e))?;
        }
        Ok(Memory { gpu, address, bytes, stream })
    }

    /// Where it is, on the device; 0 where it is empty.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// How large it is.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Fills it with zeros.
    ///
    /// # Errors
    ///
    /// Device errors.
    pub fn zero(&self, kernel: Kernel<'_>) -> Result<()> {
        // SAFETY: all of a live block.
        self.copy(kernel, |stream| unsafe { sys::cuMemsetD8Async(self.address, 0, self.bytes, stream) })
    }

    /// Copies from another place on the same device, as many bytes as this has.
    ///
    /// # Errors
    ///
    /// Device errors.
    ///
    /// # Safety
    ///
    /// There are so many bytes at `address`.
    pub unsafe fn copy_from(&self, kernel: Kernel<'_>, address: u64) -> Result<()> {
        // SAFETY: promised by the caller.
        self.copy(kernel, |stream| unsafe { sys::cuMemcpyDtoDAsync_v2(self.address, address, self.bytes, stream) })
    }

    /// Copies from the host; a block of the same size.
    ///
    /// # Errors
    ///
    /// Device errors.
    ///
    /// # Panics
    ///
    /// Where the sizes differ.
    pub fn upload(&self, kernel: Kernel<'_>, data: &[u8]) -> Result<()> {
        assert_eq!(data.len(), self.bytes, "a block of the same size");
        // SAFETY: both have so many bytes; the driver has read pageable memory when this returns.
        self.copy(kernel, |stream| unsafe {
            sys::cuMemcpyHtoDAsync_v2(self.address, data.as_ptr().cast(), self.bytes, stream)
        })
    }

    fn copy(&self, kernel: Kernel<'_>, action: impl FnOnce(sys::CUstream) -> sys::CUresult) -> Result<()> {
        if self.bytes == 0 {
            return Ok(());
        }
        let _entered = self.gpu.enter(kernel)?;
        action(self.stream as sys::CUstream).result().map_err(|e| refused(kernel, COPY, e))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let nobody = Kernel { function: "", place: None };
        if self.bytes == 0 {
            return;
        }
        if let Ok(_entered) = self.gpu.enter(nobody) {
            // SAFETY: a live block, freed once.
            let _ = unsafe { sys::cuMemFreeAsync(self.address, self.stream as sys::CUstream) };
        }
    }
}

/// Copies from a device to the host, and waits for it.
///
/// # Errors
///
/// Device errors.
///
/// # Safety
///
/// There are so many bytes at `address`, on this device.
pub unsafe fn download(kernel: Kernel<'_>, device: i32, stream: u64, address: u64, data: &mut [u8]) -> Result<()> {
    if !data.is_empty() {
        let _entered = driver::open(kernel, device)?.enter(kernel)?;
        // SAFETY: promised by the caller.
        unsafe { sys::cuMemcpyDtoHAsync_v2(data.as_mut_ptr().cast(), address, data.len(), stream as sys::CUstream) }
            .result()
            .map_err(|e| refused(kernel, COPY, e))?;
    }
    wait(kernel, device, stream)
}

/// Waits until everything on the stream is done.
///
/// # Errors
///
/// Device errors, of anything that ran there.
pub fn wait(kernel: Kernel<'_>, device: i32, stream: u64) -> Result<()> {
    let _entered = driver::open(kernel, device)?.enter(kernel)?;
    // SAFETY: the caller's stream.
    unsafe { sys::cuStreamSynchronize(stream as sys::CUstream) }
        .result()
        .map_err(|e| refused(kernel, "wait for the GPU", e))
}

/// Lets what comes on `later` wait for what is on `earlier` now; the host waits for nothing.
///
/// # Errors
///
/// Device errors.
pub fn order(kernel: Kernel<'_>, device: i32, earlier: u64, later: u64) -> Result<()> {
    if earlier == later {
        return Ok(());
    }
    let _entered = driver::open(kernel, device)?.enter(kernel)?;
    let mut event: sys::CUevent = std::ptr::null_mut();
    let timing_off = sys::CUevent_flags_enum::CU_EVENT_DISABLE_TIMING as u32;
    // SAFETY: room for the answer; the streams are the caller's; an event may be destroyed before it has happened.
    let steps = unsafe {
        sys::cuEventCreate(&mut event, timing_off).result().and_then(|()| {
            let recorded = sys::cuEventRecord(event, earlier as sys::CUstream)
                .result()
                .and_then(|()| sys::cuStreamWaitEvent(later as sys::CUstream, event, 0).result());
            let destroyed = sys::cuEventDestroy_v2(event).result();
            recorded.and(destroyed)
        })
    };
    steps.map_err(|e| refused(kernel, ORDER, e))
}

//! Errors of the GPU, with the kernel's line: pure functions of the driver's status, so that they can
//! be tested where there is no driver.

use crate::error::{Error, NO_MEMORY};
use crate::options::Spec;
use crate::source_text;
use core_ad::cuda::Launch;
use core_ad::diagnostics::{Diagnosis, Location};
use core_ad::manifest::Manifest;
use core_ad::protocol::Entry;
use cudarc::driver::result::DriverError;
use cudarc::driver::sys::cudaError_enum as Code;
use std::path::Path;

/// A kernel as messages speak of it.
#[derive(Clone, Copy)]
pub struct Kernel<'a> {
    /// The user's function.
    pub function: &'a str,
    /// File and line of its definition, where it was found.
    pub place: Option<(&'a str, u32)>,
}

impl<'a> Kernel<'a> {
    /// The kernel of a function. Its manifest may have been made from a copy of the source elsewhere.
    pub fn of(spec: &'a Spec, manifest: &'a Manifest) -> Self {
        let prototype = &manifest.prototype;
        let name = Path::new(&prototype.file).file_name();
        let own = spec.sources.iter().find(|s| s.file_name() == name).and_then(|s| s.to_str());
        let place = (prototype.line > 0).then_some((own.unwrap_or(&prototype.file), prototype.line));
        Kernel { function: &prototype.function, place }
    }

    /// The beginning of an error about it.
    pub fn diagnosis(&self, code: &str, headline: String) -> Diagnosis {
        let mut diagnosis = Diagnosis::new(code, self.function, headline);
        diagnosis.location = self.location();
        diagnosis
    }

    fn location(&self) -> Option<Location> {
        let (file, line) = self.place?;
        Some(source_text::with_text(Location { file: file.to_owned(), line, column: 0, text: None }))
    }

    /// The same error with the kernel's line, if it has none.
    pub fn locate(&self, error: Error) -> Error {
        match error {
            Error::Device(mut diagnosis) => {
                diagnosis.location = diagnosis.location.take().or_else(|| self.location());
                Error::Device(diagnosis)
            }
            other => other,
        }
    }
}

/// What a device allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Compute capability.
    pub capability: (i32, i32),
    /// Threads of a block, in all and along x, y, z.
    pub threads: (i32, [i32; 3]),
    /// Blocks of a grid along x, y, z.
    pub blocks: [i32; 3],
}

/// A kernel's resources, as the driver reports them after it has compiled it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The most threads that a block of it can have.
    pub threads: i32,
    /// Registers of a thread.
    pub registers: i32,
    /// Bytes of shared memory of a block.
    pub shared: i32,
    /// Bytes of local memory of a thread.
    pub local: i32,
}

/// What an entry point is to the user.
pub fn called(entry: Entry) -> &'static str {
    match entry {
        Entry::Primal => "the kernel",
        Entry::Vjp | Entry::Augmented | Entry::Reverse => "its gradient",
        Entry::Jvp => "its forward derivative",
        Entry::Hvp | Entry::Jvp2 => "its second derivative",
    }
}

/// Whether a block of this launch fits the device and the kernel.
///
/// # Errors
///
/// A device error with the limit.
pub fn fits(kernel: Kernel<'_>, entry: Entry, launch: &Launch, limits: &Limits, needs: &Needs) -> Result<(), Error> {
    let spell = |e: &[i64; 3]| e.map(|n| n.to_string()).join(" x ");
    let threads: i64 = launch.block.iter().product();
    let refuse = |code: &str, headline: String, expected: String, found: String, advice: &str| {
        let diagnosis = kernel.diagnosis(code, headline).mismatch(expected, found).advise(advice);
        Err(Error::Device(Box::new(diagnosis)))
    };
    let function = kernel.function;
    if threads > i64::from(limits.threads.0) || over(&launch.block, &limits.threads.1) {
        let most = limits.threads.1.map(|n| n.to_string()).join(" x ");
        return refuse(
            "launch",
            format!("`{function}` cannot be launched: the block is larger than this GPU has"),
            format!("at most {} threads, {most} along x, y, z", limits.threads.0),
            spell(&launch.block),
            "Use a smaller `block`.",
        );
    }
    if over(&launch.grid, &limits.blocks) {
        return refuse(
            "launch",
            format!("`{function}` cannot be launched: the grid is larger than this GPU has"),
            format!("at most {} blocks along x, y, z", limits.blocks.map(|n| n.to_string()).join(" x ")),
            spell(&launch.grid),
            "Let each thread do more, or use larger blocks.",
        );
    }
    if threads > i64::from(needs.threads) {
        return refuse(
            "launch-resources",
            format!(
                "`{function}` cannot be launched: {} needs too many registers for a block of that size",
                called(entry)
            ),
            format!("at most {} threads in a block, with {} registers each", needs.threads, needs.registers),
            format!("{threads} threads"),
            "Use smaller blocks (`block`); a derivative needs more registers than its kernel.",
        );
    }
    Ok(())
}

fn over(wanted: &[i64; 3], most: &[i32; 3]) -> bool {
    wanted.iter().zip(most).any(|(&w, &m)| w > i64::from(m))
}

/// The architecture to compile for, `sm_80` or older where the device is: PTX for sm_80 runs on everything later.
///
/// # Errors
///
/// A device error for one that is too old.
pub fn architecture(kernel: Kernel<'_>, (major, minor): (i32, i32)) -> Result<String, Error> {
    match (major, minor) {
        (8.., _) => Ok("sm_80".to_owned()),
        (6 | 7, minor) => Ok(format!("sm_{major}{minor}")),
        _ => {
            let headline = format!("the GPU is too old for `{}`", kernel.function);
            let found = format!("compute capability {major}.{minor}");
            let diagnosis =
                kernel.diagnosis("architecture", headline).mismatch("compute capability 6.0 or later", found);
            Err(Error::Device(Box::new(diagnosis.advise("The same kernel runs on the CPU: call it with CPU tensors."))))
        }
    }
}

/// Whether a driver takes this PTX. `driver` is the value of `cuDriverGetVersion`: 12080 for CUDA 12.8.
///
/// # Errors
///
/// A device error with both versions.
pub fn driver_takes(kernel: Kernel<'_>, ptx: &str, driver: i32) -> Result<(), Error> {
    let Some((major, minor)) = ptx_version(ptx) else { return Ok(()) };
    // PTX 7.5 came with CUDA 11.5, PTX 8.1 with CUDA 12.1: four releases apart since CUDA 11.
    let needed = (major + 4) * 1000 + minor * 10;
    if driver >= needed {
        return Ok(());
    }
    let spell = |version: i32| format!("CUDA {}.{}", version / 1000, version % 1000 / 10);
    let headline = format!("the NVIDIA driver is too old for the code of `{}` (PTX {major}.{minor})", kernel.function);
    let diagnosis = kernel
        .diagnosis("driver-version", headline)
        .mismatch(format!("a driver for {} or later", spell(needed)), format!("a driver for {}", spell(driver)))
        .advise("Update the driver; nvidia-smi shows its version. The same kernel runs on CPU tensors.");
    Err(Error::Device(Box::new(diagnosis)))
}

/// The version that PTX declares.
fn ptx_version(ptx: &str) -> Option<(i32, i32)> {
    let line = ptx.lines().find_map(|l| l.strip_prefix(".version "))?;
    let (major, minor) = line.trim().split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// A refusal of the driver.
pub fn refused(kernel: Kernel<'_>, action: &str, error: DriverError) -> Error {
    let words = error.error_string().map_or_else(|_| format!("{:?}", error.0), |s| s.to_string_lossy().into_owned());
    let diagnosis = Box::new(explained(kernel, action, error.0, &words));
    if diagnosis.code == NO_MEMORY { Error::Memory(diagnosis) } else { Error::Device(diagnosis) }
}

fn explained(kernel: Kernel<'_>, action: &str, code: Code, words: &str) -> Diagnosis {
    let function = kernel.function;
    let plain = |code: &str| kernel.diagnosis(code, format!("`{function}`: could not {action}: {words}"));
    match code {
        Code::CUDA_ERROR_OUT_OF_MEMORY => {
            plain(NO_MEMORY).advise("Free arrays on the device, or call the kernel on fewer elements.")
        }
        Code::CUDA_ERROR_NO_BINARY_FOR_GPU => {
            plain("architecture").advise("The driver has no compiler for this GPU: update it.")
        }
        Code::CUDA_ERROR_INVALID_PTX | Code::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => plain("driver-version")
            .advise("The driver may be older than the code: it needs CUDA 11.5 (PTX 7.5) or later."),
        Code::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => plain("launch-resources")
            .advise("A derivative needs more registers than its kernel: use smaller blocks (`block`)."),
        Code::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
        | Code::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
        | Code::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT => {
            plain("capture").advise("Call the kernel once before the capture of the CUDA graph.")
        }
        Code::CUDA_ERROR_ILLEGAL_ADDRESS
        | Code::CUDA_ERROR_MISALIGNED_ADDRESS
        | Code::CUDA_ERROR_INVALID_ADDRESS_SPACE => fault(kernel.diagnosis(
            "illegal-address",
            format!("`{function}`: a kernel read or wrote outside of its arrays ({words})"),
        )),
        Code::CUDA_ERROR_LAUNCH_FAILED
        | Code::CUDA_ERROR_LAUNCH_TIMEOUT
        | Code::CUDA_ERROR_ILLEGAL_INSTRUCTION
        | Code::CUDA_ERROR_HARDWARE_STACK_ERROR
        | Code::CUDA_ERROR_INVALID_PC
        | Code::CUDA_ERROR_ASSERT => {
            fault(kernel.diagnosis("kernel-failed", format!("`{function}`: a kernel failed on the GPU ({words})")))
        }
        _ => plain("cuda"),
    }
}

/// What is known of a fault is little: the driver reports it at a later call, and the context is lost.
fn fault(diagnosis: Diagnosis) -> Diagnosis {
    diagnosis
        .advise("A GPU reports this late: it may be this kernel or one that ran before. CUDA_LAUNCH_BLOCKING=1 finds the launch,")
        .advise("compute-sanitizer the line. This process cannot use the GPU any more: start it again.")
}

/// The error for machines without a driver.
pub fn no_driver(kernel: Kernel<'_>) -> Error {
    let function = kernel.function;
    let headline = format!("`{function}` was called on a GPU, but this machine has no NVIDIA driver (libcuda)");
    let advice = "Without a GPU the same kernel runs on the CPU: call it with CPU tensors.";
    Error::Device(Box::new(kernel.diagnosis("no-driver", headline).advise(advice)))
}

/// The error for a driver without the device.
pub fn no_device(kernel: Kernel<'_>, device: i32, count: i32) -> Error {
    let function = kernel.function;
    let headline = match count {
        0 => format!("`{function}` was called on a GPU, but the NVIDIA driver finds none"),
        _ => format!("`{function}` was called on GPU {device}, but the NVIDIA driver finds only {count}"),
    };
    let advice = "nvidia-smi lists the GPUs; CUDA_VISIBLE_DEVICES may hide some.";
    Error::Device(Box::new(kernel.diagnosis("no-device", headline).advise(advice)))
}

/// The error for code that would have to be loaded while a graph is captured.
pub fn unloaded_in_capture(kernel: Kernel<'_>, entry: Entry) -> Error {
    let headline = format!(
        "the code of `{}` is not on the GPU yet ({} was never called), and cannot be loaded while a CUDA graph is captured",
        kernel.function,
        called(entry)
    );
    Error::Device(Box::new(kernel.diagnosis("capture", headline).advise("Call it once before the capture.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: Kernel<'_> = Kernel { function: "k", place: Some(("/s/k.cu", 7)) };
    const LIMITS: Limits =
        Limits { capability: (9, 0), threads: (1024, [1024, 1024, 64]), blocks: [i32::MAX, 65535, 65535] };

    fn launch(grid: [i64; 3], block: [i64; 3]) -> Launch {
        Launch { grid, block, shared: 0 }
    }

    fn diagnosis(outcome: Result<(), Error>) -> Diagnosis {
        outcome.expect_err("a refusal").diagnosis().expect("a diagnosis").clone()
    }

    #[test]
    fn a_block_with_more_registers_than_there_are_is_refused_before_it_is_launched() {
        let needs = Needs { threads: 512, registers: 128, ..Needs::default() };
        let error = diagnosis(fits(KERNEL, Entry::Vjp, &launch([1; 3], [32, 32, 1]), &LIMITS, &needs));
        assert_eq!(
            error.to_string(),
            "`k` cannot be launched: its gradient needs too many registers for a block of that size\n  k.cu:7\n  \
             expected at most 512 threads in a block, with 128 registers each\n  found    1024 threads\n  \
             Use smaller blocks (`block`); a derivative needs more registers than its kernel."
        );
        assert_eq!(error.code, "launch-resources");
        assert!(fits(KERNEL, Entry::Vjp, &launch([1; 3], [16, 32, 1]), &LIMITS, &needs).is_ok());
    }

    #[test]
    fn a_block_or_grid_that_the_device_does_not_have_is_refused() {
        let needs = Needs { threads: 1024, ..Needs::default() };
        let block = diagnosis(fits(KERNEL, Entry::Primal, &launch([1; 3], [1, 1, 65]), &LIMITS, &needs));
        assert!(
            block.code == "launch"
                && block.expected.as_deref() == Some("at most 1024 threads, 1024 x 1024 x 64 along x, y, z")
        );
        let grid = diagnosis(fits(KERNEL, Entry::Primal, &launch([1, 70_000, 1], [1; 3]), &LIMITS, &needs));
        assert!(grid.code == "launch" && grid.found.as_deref() == Some("1 x 70000 x 1") && grid.location.is_some());
    }

    #[test]
    fn code_is_for_ampere_or_for_the_device_where_that_is_older() {
        assert_eq!(architecture(KERNEL, (9, 0)).expect("new").as_str(), "sm_80");
        assert_eq!(architecture(KERNEL, (12, 0)).expect("new").as_str(), "sm_80");
        assert_eq!(architecture(KERNEL, (7, 5)).expect("old").as_str(), "sm_75");
        let error = diagnosis(architecture(KERNEL, (5, 2)).map(drop));
        assert!(error.code == "architecture" && error.found.as_deref() == Some("compute capability 5.2"));
    }

    #[test]
    fn a_driver_older_than_the_code_is_named_with_both_versions() {
        let ptx = "// generated\n.version 7.5\n.target sm_80\n";
        assert!(driver_takes(KERNEL, ptx, 11050).is_ok() && driver_takes(KERNEL, ptx, 12080).is_ok());
        let error = diagnosis(driver_takes(KERNEL, ptx, 11020));
        assert_eq!(error.code, "driver-version");
        assert_eq!(error.expected.as_deref(), Some("a driver for CUDA 11.5 or later"));
        assert_eq!(error.found.as_deref(), Some("a driver for CUDA 11.2"));
        assert_eq!(error.location.map(|l| l.line), Some(7));
        assert!(driver_takes(KERNEL, ".version 8.1\n", 12000).is_err());
    }

    #[test]
    fn what_the_driver_says_becomes_a_code_with_the_line_and_an_advice() {
        let codes = [
            (Code::CUDA_ERROR_OUT_OF_MEMORY, "out-of-memory"),
            (Code::CUDA_ERROR_NO_BINARY_FOR_GPU, "architecture"),
            (Code::CUDA_ERROR_INVALID_PTX, "driver-version"),
            (Code::CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "driver-version"),
            (Code::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "launch-resources"),
            (Code::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "capture"),
            (Code::CUDA_ERROR_ILLEGAL_ADDRESS, "illegal-address"),
            (Code::CUDA_ERROR_MISALIGNED_ADDRESS, "illegal-address"),
            (Code::CUDA_ERROR_LAUNCH_FAILED, "kernel-failed"),
        ];
        for (code, name) in codes {
            let error = explained(KERNEL, "launch the kernel", code, "the driver's words");
            assert_eq!((error.code.as_str(), error.location.map(|l| l.line)), (name, Some(7)), "{code:?}");
            assert!(error.headline.contains("the driver's words") && !error.advice.is_empty(), "{code:?}");
        }
        assert_eq!(explained(KERNEL, "launch the kernel", Code::CUDA_ERROR_UNKNOWN, "unknown").code, "cuda");
    }

    #[test]
    fn every_code_is_explained() {
        let names = ["architecture", "capture", "cuda", "driver-version", "illegal-address", "kernel-failed", "launch"];
        let more = ["launch-resources", "no-device", "no-driver", NO_MEMORY];
        for name in names.into_iter().chain(more) {
            let class = if name == NO_MEMORY { "OutOfMemoryError" } else { "DeviceError" };
            assert!(core_ad::diagnostics::codes::ALL.iter().any(|c| c.name == name && c.class == class), "{name}");
        }
    }
}

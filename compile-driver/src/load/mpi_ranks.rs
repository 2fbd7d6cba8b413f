//! Collective operations for the verification of MPI programs: sums and decisions over all ranks, by MPI as the loaded
//! artifact links it.

use libloading::os::unix::Library;
use std::ffi::c_int;

/// The ranks of the program that an artifact belongs to.
#[derive(Clone, Copy)]
pub struct Ranks {
    sum: unsafe extern "C" fn(*mut f64, c_int),
}

impl Ranks {
    /// Those of a loaded artifact, `None` where it does without MPI. Starts MPI if it is not started.
    ///
    /// # Errors
    ///
    /// MPI's number of the error where it does not start.
    pub fn of(artifact: &Library) -> std::result::Result<Option<Self>, String> {
        // SAFETY: symbols of these names are the functions of `runtime/mpi.c`.
        unsafe {
            let Ok(start) = artifact.get::<unsafe extern "C" fn() -> c_int>("ffgrad_mpi_start") else {
                return Ok(None);
            };
            let sum = *artifact.get("ffgrad_mpi_sum").map_err(|e| e.to_string())?;
            match start() {
                0 => Ok(Some(Ranks { sum })),
                error => Err(format!("MPI does not start (error {error}); run the program by mpiexec")),
            }
        }
    }

    /// Sums numbers over all ranks; every rank must call it, with as many numbers.
    pub fn sum<const N: usize>(self, mut numbers: [f64; N]) -> [f64; N] {
        // SAFETY: the array has N numbers.
        unsafe { (self.sum)(numbers.as_mut_ptr(), N as c_int) };
        numbers
    }

    /// Whether something holds on every rank.
    pub fn all(self, here: bool) -> bool {
        self.sum([f64::from(u8::from(!here))]) == [0.0]
    }
}

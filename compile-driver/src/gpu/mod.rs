//! NVIDIA GPUs through the driver's interface: launches, memory, errors, and what is known of a kernel's PTX.

pub mod driver;
pub mod errors;
pub mod memory;
pub mod ptx;

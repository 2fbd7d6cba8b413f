//! The types and constants of the C ABI. `ffgrad.h` is generated from this file and `lib.rs`.
//!
//! Any change here that is visible to an existing caller raises [`FFGRAD_ABI_VERSION`].

use core_ad::DType;
use std::ffi::c_void;

/// Version of this ABI: what `ffgrad_abi_version` of a matching library returns.
pub const FFGRAD_ABI_VERSION: u32 = 1;
/// More dimensions than an array may have.
pub const FFGRAD_MAX_DIMS: usize = 32;

/// No array: a zero cotangent or tangent, a result that is not wanted.
pub const FFGRAD_NONE: i32 = 0;
/// `float`
pub const FFGRAD_FLOAT32: i32 = 1;
/// `double`
pub const FFGRAD_FLOAT64: i32 = 2;
/// `int8_t`
pub const FFGRAD_INT8: i32 = 3;
/// `int16_t`
pub const FFGRAD_INT16: i32 = 4;
/// `int32_t`
pub const FFGRAD_INT32: i32 = 5;
/// `int64_t`
pub const FFGRAD_INT64: i32 = 6;
/// `uint8_t`
pub const FFGRAD_UINT8: i32 = 7;
/// `uint16_t`
pub const FFGRAD_UINT16: i32 = 8;
/// `uint32_t`
pub const FFGRAD_UINT32: i32 = 9;
/// `uint64_t`
pub const FFGRAD_UINT64: i32 = 10;
/// `bool`, one byte
pub const FFGRAD_BOOL: i32 = 11;
/// A number for a scalar parameter, given as a `double`; takes the parameter's type and is constant.
pub const FFGRAD_NUMBER_FLOAT: i32 = 101;
/// The same, given as an `int64_t`.
pub const FFGRAD_NUMBER_INT: i32 = 102;
/// The same, given as one byte, 0 or 1.
pub const FFGRAD_NUMBER_BOOL: i32 = 103;

/// All went well.
pub const FFGRAD_OK: i32 = 0;
/// The ABI was misused: a null pointer, a wrong count, a closed handle, text that is not JSON.
pub const FFGRAD_ERROR_MISUSE: i32 = 1;
/// A tool is missing or does not work.
pub const FFGRAD_ERROR_TOOLCHAIN: i32 = 2;
/// The source does not exist, compile or link, or has no such function.
pub const FFGRAD_ERROR_COMPILE: i32 = 3;
/// The signature does not fit the prototype, or the number of arrays does not fit the signature.
pub const FFGRAD_ERROR_SIGNATURE: i32 = 4;
/// Shapes contradict each other or the signature.
pub const FFGRAD_ERROR_SHAPE: i32 = 5;
/// An array has another element type than its parameter.
pub const FFGRAD_ERROR_DTYPE: i32 = 6;
/// An array is on a device that the function was not compiled for.
pub const FFGRAD_ERROR_DEVICE: i32 = 7;
/// Enzyme cannot differentiate the function, or its gradient was proven wrong.
pub const FFGRAD_ERROR_DIFFERENTIATION: i32 = 8;
/// The foreign function threw a C++ exception.
pub const FFGRAD_ERROR_FOREIGN: i32 = 9;
/// The cache folder cannot be used.
pub const FFGRAD_ERROR_CACHE: i32 = 10;
/// A defect of ffgrad itself; nothing was returned.
pub const FFGRAD_ERROR_INTERNAL: i32 = 11;
/// A pack is damaged, is for another machine, or lacks what is asked of it.
pub const FFGRAD_ERROR_PACK: i32 = 12;
/// The function of `ffgrad_on_interrupt` wanted the call to end. Nothing was returned, and the same call may be made again.
pub const FFGRAD_ERROR_INTERRUPTED: i32 = 13;
/// There is no memory for what a call works with.
pub const FFGRAD_ERROR_MEMORY: i32 = 14;

/// Results are added to the memory they go to; without it they replace what is there.
pub const FFGRAD_ACCUMULATE: u32 = 1;

/// An opened function; 0 is none.
pub type Handle = u64;

/// An array of the caller's, borrowed for one call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Array {
    /// First element, aligned for its type; null where there are no elements. Inputs are never written to.
    pub data: *mut c_void,
    /// One of `FFGRAD_FLOAT32`...; `FFGRAD_NONE` stands for no array, and the rest is then ignored.
    pub dtype: i32,
    /// Number of dimensions; 0 for a scalar.
    pub ndim: i32,
    /// `ndim` dimensions; null where there are none.
    pub shape: *const i64,
    /// `ndim` distances between neighbours, in elements; null for a contiguous, row-major array.
    pub strides: *const i64,
}

/// The type and shape that a result will have.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// One of `FFGRAD_FLOAT32`...
    pub dtype: i32,
    /// Number of dimensions; 0 for a scalar.
    pub ndim: i32,
    /// The first `ndim` hold the dimensions, the others 0.
    pub dims: [i64; FFGRAD_MAX_DIMS],
}

/// Bytes copied by this process so far, by reason.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// Inputs that were not contiguous, and results for memory that is not.
    pub gathered: u64,
    /// Arguments that the foreign code updates, and the arguments of checks.
    pub in_place: u64,
    /// Cotangents and tangents that the derivative consumes.
    pub cotangents: u64,
}

/// The element type behind a number of the ABI.
pub fn dtype_of(code: i32) -> Option<DType> {
    Some(match code {
        FFGRAD_FLOAT32 => DType::F32,
        FFGRAD_FLOAT64 => DType::F64,
        FFGRAD_INT8 => DType::I8,
        FFGRAD_INT16 => DType::I16,
        FFGRAD_INT32 => DType::I32,
        FFGRAD_INT64 => DType::I64,
        FFGRAD_UINT8 => DType::U8,
        FFGRAD_UINT16 => DType::U16,
        FFGRAD_UINT32 => DType::U32,
        FFGRAD_UINT64 => DType::U64,
        FFGRAD_BOOL => DType::Bool,
        _ => return None,
    })
}

/// The number of an element type.
pub fn code_of(dtype: DType) -> i32 {
    match dtype {
        DType::F32 => FFGRAD_FLOAT32,
        DType::F64 => FFGRAD_FLOAT64,
        DType::I8 => FFGRAD_INT8,
        DType::I16 => FFGRAD_INT16,
        DType::I32 => FFGRAD_INT32,
        DType::I64 => FFGRAD_INT64,
        DType::U8 => FFGRAD_UINT8,
        DType::U16 => FFGRAD_UINT16,
        DType::U32 => FFGRAD_UINT32,
        DType::U64 => FFGRAD_UINT64,
        DType::Bool => FFGRAD_BOOL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_type_has_a_number_of_its_own() {
        let codes: Vec<i32> = (1..=11).collect();
        let back: Vec<i32> = codes.iter().filter_map(|&c| dtype_of(c)).map(code_of).collect();
        assert_eq!(codes, back);
        assert_eq!(dtype_of(FFGRAD_NONE), None);
        assert_eq!(dtype_of(12), None);
    }
}

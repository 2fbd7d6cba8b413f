//! The part of XLA's FFI C API that the handler uses, declared by hand from `xla/ffi/api/c_api.h`
//! (`jax.ffi.include_dir()`); that header documents each type.
//!
//! XLA only ever adds to the ends of these structs, and each begins with its size; what is read here has been there
//! since version 0.1 of the API.

use core_ad::DType;
use std::ffi::{c_char, c_int, c_void};

/// The version that the handler announces: the lowest that has all it needs. XLA refuses handlers that need a later one
/// than its own, without a word at run time.
pub const VERSION: (c_int, c_int) = (0, 1);

/// `XLA_FFI_Extension_Metadata`.
pub const EXTENSION_METADATA: c_int = 1;
/// `XLA_FFI_ExecutionStage_EXECUTE`.
pub const STAGE_EXECUTE: c_int = 3;
/// `XLA_FFI_ArgType_BUFFER`, `XLA_FFI_RetType_BUFFER`.
pub const BUFFER: c_int = 1;
/// `XLA_FFI_AttrType_STRING`.
pub const ATTR_STRING: c_int = 4;

/// `XLA_FFI_Error`, opaque.
pub enum Error {}

#[repr(C)]
pub struct ExtensionBase {
    pub struct_size: usize,
    pub kind: c_int,
    pub next: *mut ExtensionBase,
}

#[repr(C)]
pub struct ApiVersion {
    pub struct_size: usize,
    pub extension_start: *mut ExtensionBase,
    pub major: c_int,
    pub minor: c_int,
}

/// Up to `traits`; what follows is for handlers with a state and is left as XLA set it.
#[repr(C)]
pub struct Metadata {
    pub struct_size: usize,
    pub api_version: ApiVersion,
    pub traits: u32,
}

#[repr(C)]
pub struct MetadataExtension {
    pub base: ExtensionBase,
    pub metadata: *mut Metadata,
}

#[repr(C)]
pub struct ErrorCreateArgs {
    pub struct_size: usize,
    pub extension_start: *mut ExtensionBase,
    pub message: *const c_char,
    pub code: c_int,
}

/// Up to the first function.
#[repr(C)]
pub struct Api {
    pub struct_size: usize,
    pub extension_start: *mut ExtensionBase,
    pub api_version: ApiVersion,
    pub internal_api: *const c_void,
    pub error_create: Option<unsafe extern "C" fn(*mut ErrorCreateArgs) -> *mut Error>,
}

#[repr(C)]
pub struct Buffer {
    pub struct_size: usize,
    pub extension_start: *mut ExtensionBase,
    pub dtype: c_int,
    pub data: *mut c_void,
    pub rank: i64,
    pub dims: *mut i64,
}

/// `XLA_FFI_Args` and `XLA_FFI_Rets`.
#[repr(C)]
pub struct Buffers {
    pub struct_size: usize,
    pub extension_start: *mut ExtensionBase,
    pub size: i64,
    pub types: *mut c_int,
    pub buffers: *mut *mut Buffer,
}

#[repr(C)]
pub struct ByteSpan {
    pub ptr: *const u8,
    pub len: usize,
}

#[repr(C)]
pub struct Attrs {
    pub struct_size: usize,
    pub extension_start: *mut ExtensionBase,
    pub size: i64,
    pub types: *mut c_int,
    pub names: *mut *mut ByteSpan,
    pub attrs: *mut *mut c_void,
}

/// Up to `attrs`; the `future` after it is for asynchronous handlers.
#[repr(C)]
pub struct CallFrame {
    pub struct_size: usize,
    pub extension_start: *mut ExtensionBase,
    pub api: *const Api,
    pub ctx: *mut c_void,
    pub stage: c_int,
    pub args: Buffers,
    pub rets: Buffers,
    pub attrs: Attrs,
}

/// `XLA_FFI_Error_Code`, those that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    Cancelled = 1,
    Unknown = 2,
    InvalidArgument = 3,
    ResourceExhausted = 8,
    FailedPrecondition = 9,
    Unimplemented = 12,
    Internal = 13,
}

/// The element type behind XLA's code.
pub fn dtype(code: c_int) -> Option<DType> {
    Some(match code {
        1 => DType::Bool,
        2 => DType::I8,
        3 => DType::I16,
        4 => DType::I32,
        5 => DType::I64,
        6 => DType::U8,
        7 => DType::U16,
        8 => DType::U32,
        9 => DType::U64,
        11 => DType::F32,
        12 => DType::F64,
        _ => return None,
    })
}

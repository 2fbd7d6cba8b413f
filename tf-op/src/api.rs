//! TensorFlow's C API, as far as it is used here: `tensorflow/c/{kernels,ops,tf_status,tf_tensor}.h`, declared by hand
//! and looked up in the library that the process has already loaded.

use core_ad::DType;
use libloading::os::unix::{Library, RTLD_NOW, Symbol};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::OnceLock;

macro_rules! opaque {
    ($($(#[$meta:meta])* $name:ident),* $(,)?) => {$(
        $(#[$meta])*
        #[repr(C)]
        pub struct $name {
            _private: [u8; 0],
        }
    )*};
}

opaque! {
    /// `TF_Status`.
    Status,
    /// `TF_Tensor`.
    Tensor,
    /// `TF_OpDefinitionBuilder`.
    OpBuilder,
    /// `TF_KernelBuilder`.
    KernelBuilder,
    /// `TF_ShapeInferenceContext`.
    ShapeContext,
    /// `TF_OpKernelConstruction`.
    Construction,
    /// `TF_OpKernelContext`.
    Context,
}

/// Makes a kernel of a node; what it returns reaches the other two.
pub type Create = unsafe extern "C" fn(*mut Construction) -> *mut c_void;
/// Runs a kernel.
pub type Compute = unsafe extern "C" fn(*mut c_void, *mut Context);
/// Frees a kernel.
pub type Delete = unsafe extern "C" fn(*mut c_void);
/// Infers shapes.
pub type Shapes = unsafe extern "C" fn(*mut ShapeContext, *mut Status);

macro_rules! functions {
    ($($field:ident = $symbol:literal : fn($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// The functions.
        pub struct Api {
            $(pub $field: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
        }

        impl Api {
            /// Looks all of them up.
            ///
            /// # Safety
            ///
            /// The library is TensorFlow's, version 2, and stays loaded.
            unsafe fn load(library: &Library) -> Result<Self, libloading::Error> {
                Ok(Api {
                    $($field: {
                        type Pointer = unsafe extern "C" fn($($arg),*) $(-> $ret)?;
                        let name = concat!($symbol, "\0").as_bytes();
                        // SAFETY: the type is that of the C header.
                        let symbol: Symbol<Pointer> = unsafe { library.get(name) }?;
                        *symbol
                    },)*
                })
            }
        }
    };
}

functions! {
    new_status = "TF_NewStatus": fn() -> *mut Status;
    delete_status = "TF_DeleteStatus": fn(*mut Status);
    set_status = "TF_SetStatus": fn(*mut Status, c_int, *const c_char);
    get_code = "TF_GetCode": fn(*const Status) -> c_int;
    message = "TF_Message": fn(*const Status) -> *const c_char;

    new_op = "TF_NewOpDefinitionBuilder": fn(*const c_char) -> *mut OpBuilder;
    add_attr = "TF_OpDefinitionBuilderAddAttr": fn(*mut OpBuilder, *const c_char);
    add_input = "TF_OpDefinitionBuilderAddInput": fn(*mut OpBuilder, *const c_char);
    add_output = "TF_OpDefinitionBuilderAddOutput": fn(*mut OpBuilder, *const c_char);
    set_shapes = "TF_OpDefinitionBuilderSetShapeInferenceFunction": fn(*mut OpBuilder, Shapes);
    register_op = "TF_RegisterOpDefinition": fn(*mut OpBuilder, *mut Status);
    set_unknown_shape = "TF_ShapeInferenceContextSetUnknownShape": fn(*mut ShapeContext, *mut Status);

    new_kernel = "TF_NewKernelBuilder":
        fn(*const c_char, *const c_char, Option<Create>, Compute, Option<Delete>) -> *mut KernelBuilder;
    register_kernel = "TF_RegisterKernelBuilder": fn(*const c_char, *mut KernelBuilder, *mut Status);
    attr_size = "TF_OpKernelConstruction_GetAttrSize":
        fn(*mut Construction, *const c_char, *mut i32, *mut i32, *mut Status);
    attr_string = "TF_OpKernelConstruction_GetAttrString":
        fn(*mut Construction, *const c_char, *mut c_char, usize, *mut Status);
    attr_i64 = "TF_OpKernelConstruction_GetAttrInt64": fn(*mut Construction, *const c_char, *mut i64, *mut Status);
    construction_failure = "TF_OpKernelConstruction_Failure": fn(*mut Construction, *mut Status);

    input_count = "TF_NumInputs": fn(*mut Context) -> c_int;
    output_count = "TF_NumOutputs": fn(*mut Context) -> c_int;
    output_type = "TF_ExpectedOutputDataType": fn(*mut Context, c_int) -> c_int;
    get_input = "TF_GetInput": fn(*mut Context, c_int, *mut *mut Tensor, *mut Status);
    allocate_output = "TF_AllocateOutput":
        fn(*mut Context, c_int, c_int, *const i64, c_int, usize, *mut Status) -> *mut Tensor;
    failure = "TF_OpKernelContext_Failure": fn(*mut Context, *mut Status);

    tensor_type = "TF_TensorType": fn(*const Tensor) -> c_int;
    tensor_rank = "TF_NumDims": fn(*const Tensor) -> c_int;
    tensor_dim = "TF_Dim": fn(*const Tensor, c_int) -> i64;
    tensor_data = "TF_TensorData": fn(*const Tensor) -> *mut c_void;
    delete_tensor = "TF_DeleteTensor": fn(*mut Tensor);
}

#[cfg(target_os = "macos")]
const LIBRARY: &str = "libtensorflow_framework.2.dylib";
#[cfg(not(target_os = "macos"))]
const LIBRARY: &str = "libtensorflow_framework.so.2";

/// TensorFlow's functions, if this process has loaded TensorFlow.
pub fn api() -> Option<&'static Api> {
    static API: OnceLock<Option<Api>> = OnceLock::new();
    API.get_or_init(|| {
        // SAFETY: a library that is already loaded; nothing of it runs.
        let library = unsafe { Library::open(Some(LIBRARY), RTLD_NOW | libc::RTLD_NOLOAD) }.ok()?;
        // SAFETY: it is TensorFlow's by its name, and `forget` keeps it loaded.
        let api = unsafe { Api::load(&library) };
        std::mem::forget(library);
        match api {
            Ok(api) => Some(api),
            Err(e) => {
                eprintln!("ffgrad: this TensorFlow lacks a function of its C kernel API: {e}");
                None
            }
        }
    })
    .as_ref()
}

/// `TF_Code`, the codes used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Code {
    Ok = 0,
    Cancelled = 1,
    Unknown = 2,
    InvalidArgument = 3,
    ResourceExhausted = 8,
    FailedPrecondition = 9,
    Unimplemented = 12,
    Internal = 13,
}

/// A status of our own, freed at the end.
pub struct OwnStatus<'a> {
    api: &'a Api,
    raw: *mut Status,
}

impl<'a> OwnStatus<'a> {
    /// A status of success.
    pub fn new(api: &'a Api) -> Self {
        // SAFETY: no preconditions.
        OwnStatus { api, raw: unsafe { (api.new_status)() } }
    }

    /// For calls of the API.
    pub fn raw(&self) -> *mut Status {
        self.raw
    }

    /// Sets code and text.
    pub fn set(&self, code: Code, text: &str) {
        let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
        // SAFETY: the status is live; the text is copied.
        unsafe { (self.api.set_status)(self.raw, code as c_int, text.as_ptr()) };
    }

    /// The message of the last call, if it failed.
    pub fn error(&self) -> Option<String> {
        // SAFETY: the status is live.
        if unsafe { (self.api.get_code)(self.raw) } == Code::Ok as c_int {
            return None;
        }
        // SAFETY: the text lives as long as the status.
        Some(unsafe { CStr::from_ptr((self.api.message)(self.raw)) }.to_string_lossy().into_owned())
    }
}

impl Drop for OwnStatus<'_> {
    fn drop(&mut self) {
        // SAFETY: made in `new`.
        unsafe { (self.api.delete_status)(self.raw) };
    }
}

/// `TF_DataType` of an element type.
pub const fn to_tensorflow(dtype: DType) -> c_int {
    match dtype {
        DType::F32 => 1,
        DType::F64 => 2,
        DType::I32 => 3,
        DType::U8 => 4,
        DType::I16 => 5,
        DType::I8 => 6,
        DType::I64 => 9,
        DType::Bool => 10,
        DType::U16 => 17,
        DType::U32 => 22,
        DType::U64 => 23,
    }
}

/// The element type of a `TF_DataType`, where foreign code can have it.
pub const fn from_tensorflow(code: c_int) -> Option<DType> {
    Some(match code {
        1 => DType::F32,
        2 => DType::F64,
        3 => DType::I32,
        4 => DType::U8,
        5 => DType::I16,
        6 => DType::I8,
        9 => DType::I64,
        10 => DType::Bool,
        17 => DType::U16,
        22 => DType::U32,
        23 => DType::U64,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_types_survive_the_round_trip() {
        use DType::*;
        for dtype in [F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Bool] {
            assert_eq!(from_tensorflow(to_tensorflow(dtype)), Some(dtype));
        }
        assert_eq!(from_tensorflow(7), None, "DT_STRING");
    }

    #[test]
    fn without_tensorflow_in_the_process_there_is_no_api() {
        assert!(api().is_none());
    }
}

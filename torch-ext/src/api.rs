//! LibTorch's stable C ABI, as far as it is used here: `torch/csrc/stable/c/shim.h` and
//! `torch/csrc/inductor/aoti_torch/c/shim.h`, declared by hand and looked up in the library that the process has already
//! loaded.

use core_ad::DType;
use libloading::os::unix::{Library, RTLD_NOW, Symbol};
use std::ffi::{c_char, c_int, c_void};
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
    /// `AtenTensorOpaque`.
    Tensor,
    /// `TorchLibraryOpaque`.
    Registrar,
    /// `StableListOpaque`.
    List,
    /// `StringOpaque`.
    Text,
}

/// A kernel: arguments in the slots, results from slot 0 on. It owns its arguments. `C-unwind`, because a failure is a C++
/// exception.
pub type Kernel = unsafe extern "C-unwind" fn(*mut u64, u64, u64);

macro_rules! functions {
    ($($field:ident = $symbol:literal : fn($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// The functions.
        pub struct Api {
            $(pub $field: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
            /// `torch_library_def_with_tags`, of 2.12 and later, and the tags of our operators.
            pub tagged: Option<(DefineTagged, [i32; 1])>,
            /// `torch_tensor_to_pyobject`, of 2.14 and later.
            pub to_python: Option<ToPython>,
            /// Codes of the element types.
            pub types: [(DType, i32); 11],
            /// Code of the CPU.
            pub cpu: i32,
            /// Code of dense tensors.
            pub strided: i32,
            /// How C++ exceptions are thrown.
            pub throw: Throw,
        }

        impl Api {
            /// Looks all of them up.
            ///
            /// # Safety
            ///
            /// The library is LibTorch's, 2.10 or later, and stays loaded.
            unsafe fn load(library: &Library) -> Result<Self, libloading::Error> {
                // SAFETY: the type is that of the C header.
                let to_python = unsafe { library.get::<ToPython>(b"torch_tensor_to_pyobject\0") }.ok().map(|f| *f);
                // SAFETY: passed on from the caller.
                let (tagged, types, cpu, strided, throw) = unsafe {
                    (tagged(library), types(library)?, number(library, "aoti_torch_device_type_cpu")?,
                        number(library, "aoti_torch_layout_strided")?, Throw::load(library)?)
                };
                Ok(Api {
                    $($field: {
                        type Pointer = unsafe extern "C" fn($($arg),*) $(-> $ret)?;
                        let name = concat!($symbol, "\0").as_bytes();
                        // SAFETY: the type is that of the C header.
                        let symbol: Symbol<Pointer> = unsafe { library.get(name) }?;
                        *symbol
                    },)*
                    tagged, to_python, types, cpu, strided, throw,
                })
            }
        }
    };
}

functions! {
    new_fragment = "aoti_torch_library_init_fragment":
        fn(*const c_char, *const c_char, u32, *mut *mut Registrar) -> c_int;
    new_impl = "aoti_torch_library_init_impl":
        fn(*const c_char, *const c_char, *const c_char, u32, *mut *mut Registrar) -> c_int;
    define = "aoti_torch_library_def": fn(*mut Registrar, *const c_char) -> c_int;
    implement = "torch_library_impl": fn(*mut Registrar, *const c_char, Kernel, u64) -> c_int;

    empty_strided = "aoti_torch_empty_strided":
        fn(i64, *const i64, *const i64, i32, i32, i32, *mut *mut Tensor) -> c_int;
    delete_tensor = "aoti_torch_delete_tensor_object": fn(*mut Tensor) -> c_int;
    const_data = "torch_get_const_data_ptr": fn(*mut Tensor, *mut *const c_void) -> c_int;
    mutable_data = "torch_get_mutable_data_ptr": fn(*mut Tensor, *mut *mut c_void) -> c_int;
    dim = "aoti_torch_get_dim": fn(*mut Tensor, *mut i64) -> c_int;
    sizes = "aoti_torch_get_sizes": fn(*mut Tensor, *mut *mut i64) -> c_int;
    strides = "aoti_torch_get_strides": fn(*mut Tensor, *mut *mut i64) -> c_int;
    dtype = "aoti_torch_get_dtype": fn(*mut Tensor, *mut i32) -> c_int;
    device = "aoti_torch_get_device_type": fn(*mut Tensor, *mut i32) -> c_int;
    layout = "aoti_torch_get_layout": fn(*mut Tensor, *mut i32) -> c_int;

    grad_mode = "aoti_torch_grad_mode_is_enabled": fn() -> bool;

    new_list = "torch_new_list_reserve_size": fn(usize, *mut *mut List) -> c_int;
    list_size = "torch_list_size": fn(*mut List, *mut usize) -> c_int;
    list_item = "torch_list_get_item": fn(*mut List, usize, *mut u64) -> c_int;
    list_push = "torch_list_push_back": fn(*mut List, u64) -> c_int;
    delete_list = "torch_delete_list": fn(*mut List) -> c_int;
    text_length = "torch_string_length": fn(*mut Text, *mut usize) -> c_int;
    text_bytes = "torch_string_c_str": fn(*mut Text, *mut *const c_char) -> c_int;
    delete_text = "torch_delete_string": fn(*mut Text) -> c_int;
}

/// `torch_library_def_with_tags`.
pub type DefineTagged = unsafe extern "C" fn(*mut Registrar, *const c_char, *const i32, i32) -> c_int;

/// `torch_tensor_to_pyobject`.
pub type ToPython = unsafe extern "C" fn(*mut Tensor, *mut c_void, *mut *mut c_void) -> c_int;

impl Api {
    /// PyTorch's code of an element type.
    pub fn code(&self, dtype: DType) -> i32 {
        self.types.iter().find(|(known, _)| *known == dtype).map_or(0, |(_, code)| *code)
    }
}

/// What the C++ runtime needs to throw a `std::runtime_error`, by the Itanium ABI.
pub struct Throw {
    /// `__cxa_allocate_exception`.
    pub allocate: unsafe extern "C" fn(usize) -> *mut c_void,
    /// `std::runtime_error::runtime_error(char const*)`.
    pub construct: unsafe extern "C" fn(*mut c_void, *const c_char),
    /// `std::runtime_error::~runtime_error()`.
    pub destroy: *const c_void,
    /// `typeid(std::runtime_error)`.
    pub kind: *const c_void,
    /// `__cxa_throw`.
    pub throw: unsafe extern "C-unwind" fn(*mut c_void, *const c_void, *const c_void) -> !,
}

// SAFETY: addresses of code and constants of the C++ runtime.
unsafe impl Send for Throw {}
// SAFETY: as above.
unsafe impl Sync for Throw {}

impl Throw {
    /// # Safety
    ///
    /// The library depends on the C++ runtime that its own exceptions use.
    unsafe fn load(library: &Library) -> Result<Self, libloading::Error> {
        // SAFETY: the names and types are fixed by the Itanium C++ ABI.
        unsafe {
            Ok(Throw {
                allocate: *library.get(b"__cxa_allocate_exception\0")?,
                construct: *library.get(b"_ZNSt13runtime_errorC1EPKc\0")?,
                destroy: *library.get(b"_ZNSt13runtime_errorD1Ev\0")?,
                kind: *library.get(b"_ZTISt13runtime_error\0")?,
                throw: *library.get(b"__cxa_throw\0")?,
            })
        }
    }
}

/// # Safety
///
/// The library has a function of this name that returns a code.
unsafe fn number(library: &Library, name: &str) -> Result<i32, libloading::Error> {
    let name = format!("{name}\0");
    // SAFETY: promised by the caller.
    unsafe {
        let function: Symbol<unsafe extern "C" fn() -> i32> = library.get(name.as_bytes())?;
        Ok(function())
    }
}

/// # Safety
///
/// The library is LibTorch's.
unsafe fn types(library: &Library) -> Result<[(DType, i32); 11], libloading::Error> {
    use DType::*;
    let mut codes = [F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Bool].map(|dtype| (dtype, 0));
    for (dtype, code) in &mut codes {
        // SAFETY: these functions exist for each of the types.
        *code = unsafe { number(library, &format!("aoti_torch_dtype_{}", dtype.name()))? };
    }
    Ok(codes)
}

/// # Safety
///
/// The library is LibTorch's.
unsafe fn tagged(library: &Library) -> Option<(DefineTagged, [i32; 1])> {
    // SAFETY: the type is that of the C header.
    unsafe {
        let function: Symbol<DefineTagged> = library.get(b"torch_library_def_with_tags\0").ok()?;
        Some((*function, [number(library, "torch_tag_pt2_compliant_tag").ok()?]))
    }
}

#[cfg(target_os = "macos")]
const LIBRARY: &str = "libtorch_cpu.dylib";
#[cfg(not(target_os = "macos"))]
const LIBRARY: &str = "libtorch_cpu.so";

/// PyTorch's functions, if this process has loaded a PyTorch that has them.
pub fn api() -> Option<&'static Api> {
    // That there is none is not remembered: PyTorch may be loaded later.
    static API: OnceLock<Api> = OnceLock::new();
    if let Some(api) = API.get() {
        return Some(api);
    }
    // SAFETY: a library that is already loaded; nothing of it runs.
    let library = unsafe { Library::open(Some(LIBRARY), RTLD_NOW | libc::RTLD_NOLOAD) }.ok()?;
    // SAFETY: it is LibTorch's by its name, and `forget` keeps it loaded.
    let api = unsafe { Api::load(&library) };
    std::mem::forget(library);
    let api = api.inspect_err(|e| eprintln!("ffgrad: this PyTorch is older than 2.10: {e}")).ok()?;
    Some(API.get_or_init(|| api))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_pytorch_in_the_process_there_is_no_api() {
        assert!(api().is_none());
    }
}

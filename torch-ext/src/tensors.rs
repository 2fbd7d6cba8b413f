//! PyTorch's tensors: borrowed as the driver's views, allocated as its results.
//!
//! | tensor | copies |
//! |---|---|
//! | input, cotangent, tangent | none here: the driver gets PyTorch's own memory |
//! | result | none: the driver writes to what PyTorch allocated |

use crate::api::{Api, List, Tensor, Text};
use compile_driver::{Error, NO_MEMORY, Results, View};
use core_ad::DType;
use core_ad::diagnostics::Diagnosis;
use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};

/// The ABI function failed; it printed why.
#[derive(Debug)]
pub struct Refused;

fn check(code: c_int) -> Result<(), Refused> {
    if code == 0 { Ok(()) } else { Err(Refused) }
}

/// A tensor that we own a reference of.
pub struct Held<'a> {
    api: &'a Api,
    raw: *mut Tensor,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // SAFETY: our own reference, dropped once.
        unsafe { (self.api.delete_tensor)(self.raw) };
    }
}

/// What is known of a tensor.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    data: *const u8,
    /// Its element type, where foreign code can have it.
    pub dtype: Option<DType>,
    /// Its dimensions.
    pub shape: &'a [i64],
    strides: &'a [i64],
    /// Whether it is dense and on the CPU.
    pub usable: bool,
}

impl Held<'_> {
    /// Reads the tensor's layout.
    pub fn look(&self) -> Result<Seen<'_>, Refused> {
        let api = self.api;
        let (mut rank, mut dtype, mut device, mut layout) = (0_i64, 0, 0, 0);
        // SAFETY: a live tensor, and room for the answers.
        unsafe {
            check((api.dtype)(self.raw, &mut dtype))?;
            check((api.device)(self.raw, &mut device))?;
            check((api.layout)(self.raw, &mut layout))?;
        }
        let dtype = api.types.iter().find(|(_, code)| *code == dtype).map(|(dtype, _)| *dtype);
        if (device, layout) != (api.cpu, api.strided) {
            return Ok(Seen { data: ptr::null(), dtype, shape: &[], strides: &[], usable: false });
        }
        let (mut shape, mut strides): (*mut i64, *mut i64) = (ptr::null_mut(), ptr::null_mut());
        let mut data: *const c_void = ptr::null();
        // SAFETY: as above.
        unsafe {
            check((api.dim)(self.raw, &mut rank))?;
            check((api.sizes)(self.raw, &mut shape))?;
            check((api.strides)(self.raw, &mut strides))?;
            check((api.const_data)(self.raw, &mut data))?;
        }
        let numbers = |p: *mut i64| match rank {
            0 => &[][..],
            // SAFETY: as many numbers as dimensions, which live as long as the tensor.
            _ => unsafe { std::slice::from_raw_parts(p, rank as usize) },
        };
        Ok(Seen { data: data.cast(), dtype, shape: numbers(shape), strides: numbers(strides), usable: true })
    }
}

impl Seen<'_> {
    /// As the driver sees it.
    pub fn view(&self) -> View<'_> {
        View { data: self.data, dtype: self.dtype.unwrap_or(DType::U8), shape: self.shape, strides: Some(self.strides) }
    }
}

/// Takes over the list of tensors in a slot.
///
/// # Safety
///
/// The slot holds a list of tensors, which nobody else frees.
pub unsafe fn take_list(api: &Api, slot: u64) -> Result<Vec<Held<'_>>, Refused> {
    let list = slot as *mut List;
    let mut size = 0;
    // SAFETY: a live list.
    check(unsafe { (api.list_size)(list, &mut size) })?;
    let held = (0..size).map(|i| {
        let mut item = 0;
        // SAFETY: an index within the list; the reference becomes ours.
        check(unsafe { (api.list_item)(list, i, &mut item) })?;
        Ok(Held { api, raw: item as *mut Tensor })
    });
    let held = held.collect();
    // SAFETY: the list is ours.
    check(unsafe { (api.delete_list)(list) })?;
    held
}

/// Takes over the text in a slot.
///
/// # Safety
///
/// The slot holds a string, which nobody else frees.
pub unsafe fn take_text(api: &Api, slot: u64) -> Result<String, Refused> {
    let text = slot as *mut Text;
    let (mut length, mut bytes) = (0, ptr::null());
    // SAFETY: a live string, which is ours to free after it was copied.
    unsafe {
        check((api.text_length)(text, &mut length))?;
        check((api.text_bytes)(text, &mut bytes))?;
        let copy = String::from_utf8_lossy(std::slice::from_raw_parts(bytes.cast(), length)).into_owned();
        check((api.delete_text)(text))?;
        Ok(copy)
    }
}

/// Results allocated by PyTorch: those in `mask`, by position.
pub struct Made<'a> {
    api: &'a Api,
    mask: u64,
    tensors: Vec<Option<Held<'a>>>,
}

impl<'a> Made<'a> {
    /// Room for the results in `mask`.
    pub fn new(api: &'a Api, mask: u64) -> Self {
        let tensors = (0..64 - mask.leading_zeros()).map(|_| None).collect();
        Made { api, mask, tensors }
    }

    /// All results as a list for a slot, if the driver made all of them.
    pub fn into_list(self) -> Result<u64, Refused> {
        let mut list = ptr::null_mut();
        // SAFETY: room for the answer.
        check(unsafe { (self.api.new_list)(self.mask.count_ones() as usize, &mut list) })?;
        for (position, made) in self.tensors.into_iter().enumerate() {
            if self.mask >> position & 1 == 0 {
                continue;
            }
            let tensor = made.ok_or(Refused)?;
            // SAFETY: a live list, which takes the reference over.
            check(unsafe { (self.api.list_push)(list, tensor.raw as u64) })?;
            std::mem::forget(tensor);
        }
        Ok(list as u64)
    }
}

impl Results for Made<'_> {
    fn allocate(&mut self, position: usize, dtype: DType, shape: &[i64]) -> compile_driver::Result<*mut u8> {
        if self.mask >> position & 1 == 0 {
            return Ok(ptr::null_mut());
        }
        self.make(position, dtype, shape, false)
    }

    fn allocate_column_major(
        &mut self,
        position: usize,
        dtype: DType,
        shape: &[i64],
    ) -> compile_driver::Result<Option<*mut u8>> {
        if self.mask >> position & 1 == 0 {
            return Ok(Some(ptr::null_mut()));
        }
        self.make(position, dtype, shape, true).map(Some)
    }
}

impl Made<'_> {
    fn make(
        &mut self,
        position: usize,
        dtype: DType,
        shape: &[i64],
        column_major: bool,
    ) -> compile_driver::Result<*mut u8> {
        let (raw, data) = empty(self.api, dtype, shape, column_major).map_err(|_| no_memory())?;
        self.tensors[position] = Some(Held { api: self.api, raw: raw.as_ptr() });
        // An empty array may have no address; the driver takes null for "no result wanted".
        Ok(if data.is_null() { NonNull::<u64>::dangling().as_ptr().cast() } else { data })
    }
}

/// An uninitialised tensor without gaps on the CPU, owned by the caller, and its memory.
pub fn empty(
    api: &Api,
    dtype: DType,
    shape: &[i64],
    column_major: bool,
) -> Result<(NonNull<Tensor>, *mut u8), Refused> {
    let (mut few, mut many) = ([1_i64; 8], Vec::new());
    let strides = match few.get_mut(..shape.len()) {
        Some(strides) => strides,
        None => {
            many.resize(shape.len(), 1);
            &mut many[..]
        }
    };
    let mut step = 1;
    let mut fill = |d: usize| {
        strides[d] = step;
        step *= shape[d].max(1);
    };
    match column_major {
        true => (0..shape.len()).for_each(&mut fill),
        false => (0..shape.len()).rev().for_each(&mut fill),
    }
    let (mut raw, mut data): (*mut Tensor, *mut c_void) = (ptr::null_mut(), ptr::null_mut());
    let (rank, code) = (shape.len() as i64, api.code(dtype));
    // SAFETY: as many sizes and strides as dimensions, and room for the answer.
    check(unsafe { (api.empty_strided)(rank, shape.as_ptr(), strides.as_ptr(), code, api.cpu, 0, &mut raw) })?;
    let raw = NonNull::new(raw).ok_or(Refused)?;
    // SAFETY: a live tensor, and room for the answer.
    if check(unsafe { (api.mutable_data)(raw.as_ptr(), &mut data) }).is_err() {
        drop(Held { api, raw: raw.as_ptr() });
        return Err(Refused);
    }
    Ok((raw, data.cast()))
}

fn no_memory() -> Error {
    let headline = "PyTorch could not allocate a result; it printed the reason above";
    Error::Memory(Box::new(Diagnosis::new(NO_MEMORY, "", headline)))
}

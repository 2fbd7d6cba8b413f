//! Reads XLA's call frame: arguments as the driver's views, results as memory for the driver, attributes.

use crate::api::{self, Attrs, Buffer, Buffers, CallFrame};
use compile_driver::{Error, Results, View};
use core_ad::diagnostics::Diagnosis;
use core_ad::{CallPlan, DType};
use std::ffi::c_int;
use std::ptr::NonNull;

/// The call frame of an execution, valid as long as the handler runs.
#[derive(Clone, Copy)]
pub struct Frame<'f>(&'f CallFrame);

impl<'f> Frame<'f> {
    /// # Safety
    ///
    /// `frame` is XLA's, of the stage `EXECUTE`.
    pub unsafe fn new(frame: &'f CallFrame) -> Self {
        Frame(frame)
    }

    /// Number of arguments.
    pub fn argument_count(&self) -> usize {
        self.0.args.size.max(0) as usize
    }

    /// Number of results.
    pub fn result_count(&self) -> usize {
        self.0.rets.size.max(0) as usize
    }

    /// An argument in place, or its type's code where no foreign parameter has that.
    pub fn argument(&self, index: usize) -> Result<View<'f>, c_int> {
        // SAFETY: by the promise of `new`.
        unsafe { view(&self.0.args, index) }
    }

    fn result(&self, index: usize) -> Result<View<'f>, c_int> {
        // SAFETY: by the promise of `new`.
        unsafe { view(&self.0.rets, index) }
    }

    /// A text among the attributes.
    pub fn text(&self, name: &str) -> Option<&'f str> {
        // SAFETY: by the promise of `new`.
        unsafe { text(&self.0.attrs, name) }
    }
}

/// # Safety
///
/// The arrays have the lengths beside them and live for `'f`.
unsafe fn view<'f>(buffers: &Buffers, index: usize) -> Result<View<'f>, c_int> {
    if index >= buffers.size.max(0) as usize {
        return Err(0);
    }
    // SAFETY: within the arrays.
    let (kind, buffer) = unsafe { (*buffers.types.add(index), *buffers.buffers.add(index)) };
    if kind != api::BUFFER {
        return Err(0);
    }
    // SAFETY: an argument or result of this type is a buffer.
    let buffer: &Buffer = unsafe { &*buffer };
    let shape: &[i64] = match buffer.rank {
        0 => &[],
        // SAFETY: a buffer has as many dimensions as its rank.
        rank => unsafe { std::slice::from_raw_parts(buffer.dims, rank as usize) },
    };
    let dtype = api::dtype(buffer.dtype).ok_or(buffer.dtype)?;
    Ok(View { data: buffer.data.cast(), dtype, shape, strides: None })
}

/// # Safety
///
/// As [`view`].
unsafe fn text<'f>(attrs: &Attrs, name: &str) -> Option<&'f str> {
    (0..attrs.size.max(0) as usize).find_map(|i| {
        // SAFETY: within the arrays; a string attribute is a byte span.
        unsafe {
            let found = &**attrs.names.add(i);
            let is_it = std::slice::from_raw_parts(found.ptr, found.len) == name.as_bytes();
            if !is_it || *attrs.types.add(i) != api::ATTR_STRING {
                return None;
            }
            let value = &*(*attrs.attrs.add(i)).cast::<api::ByteSpan>();
            std::str::from_utf8(std::slice::from_raw_parts(value.ptr, value.len)).ok()
        }
    })
}

/// Results where XLA wants them: those in `mask` are the custom call's, in order.
pub struct Placed<'f> {
    /// The call.
    pub frame: Frame<'f>,
    /// Positions that are results.
    pub mask: u64,
    /// The function's name, for messages.
    pub function: &'f str,
}

impl Placed<'_> {
    /// Gradients of inputs that have none (declared `const`): nobody else writes them, and XLA's memory holds anything.
    ///
    /// # Errors
    ///
    /// As [`Results::allocate`].
    pub fn clear_constant(&mut self, plan: &CallPlan) -> compile_driver::Result<()> {
        for (position, arg) in plan.inputs.iter().map(|&arg| &plan.args[arg]).enumerate() {
            if self.mask >> position & 1 == 0 || arg.is_differentiable() {
                continue;
            }
            let index = self.index(position);
            let view = self
                .frame
                .result(index)
                .map_err(|code| unexpected(self.function, arg.dtype.to_string(), format!("XLA's type {code}")))?;
            let elements = view.shape.iter().map(|&extent| extent as usize).product::<usize>();
            if elements > 0 {
                // SAFETY: XLA's memory for this result, which has this type and shape.
                unsafe { view.data.cast_mut().write_bytes(0, elements * view.dtype.size()) };
            }
        }
        Ok(())
    }

    /// Which of the custom call's results stands for a position.
    fn index(&self, position: usize) -> usize {
        (self.mask & ((1 << position) - 1)).count_ones() as usize
    }
}

impl Results for Placed<'_> {
    fn allocate(&mut self, position: usize, dtype: DType, shape: &[i64]) -> compile_driver::Result<*mut u8> {
        if self.mask >> position & 1 == 0 {
            return Ok(std::ptr::null_mut());
        }
        match self.frame.result(self.index(position)) {
            Ok(view) if view.dtype == dtype && view.shape == shape => match NonNull::new(view.data.cast_mut()) {
                Some(memory) => Ok(memory.as_ptr()),
                // An empty array may have no address; the driver takes null for "no result wanted".
                None => Ok(NonNull::<u64>::dangling().as_ptr().cast()),
            },
            other => {
                let found = other.map_or_else(|c| format!("XLA's type {c}"), |v| format!("{} {:?}", v.dtype, v.shape));
                Err(unexpected(self.function, format!("{dtype} {shape:?}"), found))
            }
        }
    }
}

/// Shapes are checked when a function is traced, so this is an executable that was made for another function.
fn unexpected(function: &str, expected: String, found: String) -> Error {
    let headline = format!("the executable was made for other results of `{function}`");
    Error::Arity(Box::new(
        Diagnosis::new("executable-outdated", function, headline)
            .mismatch(expected, found)
            .advise("Trace and compile it again from this source."),
    ))
}

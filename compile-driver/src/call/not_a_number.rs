//! Whether a result holds a number that is none (NaN) although all that was given is finite: then the derivative is verified at these arguments.
//!
//! A choice between two numbers is no path: `x < 0 ? 1 - x : sqrt(x)` runs the same instructions for all `x`. Its derivative multiplies the root's, which
//! is none for `x < 0`, by zero, and no earlier check at `x > 0` tells.

use crate::call::arguments::{Input, View};
use crate::call::task::Task;
use core_ad::DType;
use std::slice;

/// How many numbers are looked at before the first answer. The compiler vectorises a loop without an exit.
const BLOCK: usize = 4096;

/// Whether contiguous memory holds a NaN.
///
/// # Safety
///
/// `data` is null, or points to `bytes` initialised and aligned bytes of this type.
pub(crate) unsafe fn holds_nan(dtype: DType, data: *const u8, bytes: usize) -> bool {
    if data.is_null() || bytes == 0 {
        return false;
    }
    // SAFETY: by this function's promise.
    unsafe {
        match dtype {
            DType::F64 => any_block(slice::from_raw_parts(data.cast::<f64>(), bytes / 8), |v| v.is_nan()),
            DType::F32 => any_block(slice::from_raw_parts(data.cast::<f32>(), bytes / 4), |v| v.is_nan()),
            _ => false,
        }
    }
}

fn any_block<T: Copy>(all: &[T], is: impl Fn(T) -> bool) -> bool {
    all.chunks(BLOCK).any(|block| block.iter().fold(false, |found, v| found | is(*v)))
}

/// Whether all that a task was given is finite.
pub(crate) fn is_finite(task: &Task<'_>) -> bool {
    let vectors = [task.cotangents, task.tangents, task.directions];
    task.inputs.iter().all(input_is_finite) && vectors.into_iter().flatten().flatten().all(view_is_finite)
}

fn input_is_finite(input: &Input<'_>) -> bool {
    match input {
        Input::Array(view) => view_is_finite(view),
        Input::Float(value) => value.is_finite(),
        Input::Int(_) | Input::Bool(_) => true,
    }
}

fn view_is_finite(view: &View<'_>) -> bool {
    if !view.dtype.is_float() || view.shape.contains(&0) {
        return true;
    }
    let mut contiguous = vec![1; view.shape.len()];
    for dim in (1..view.shape.len()).rev() {
        contiguous[dim - 1] = contiguous[dim] * view.shape[dim];
    }
    rows_are_finite(view.data, view.dtype, view.shape, view.strides.unwrap_or(&contiguous))
}

fn rows_are_finite(data: *const u8, dtype: DType, shape: &[i64], strides: &[i64]) -> bool {
    let ([extent, shape @ ..], [stride, strides @ ..]) = (shape, strides) else {
        // SAFETY: an element of the caller's array, which need not be aligned.
        return unsafe {
            match dtype {
                DType::F32 => data.cast::<f32>().read_unaligned().is_finite(),
                _ => data.cast::<f64>().read_unaligned().is_finite(),
            }
        };
    };
    // What is repeated (stride 0) is looked at once.
    let rows = if *stride == 0 { 1 } else { *extent };
    (0..rows).all(|i| {
        rows_are_finite(data.wrapping_offset((i * stride) as isize * dtype.size() as isize), dtype, shape, strides)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nan_is_found_in_each_block() {
        let mut all = vec![1.0f64; 3 * BLOCK + 5];
        let holds = |all: &[f64]| {
            // SAFETY: a live slice.
            unsafe { holds_nan(DType::F64, all.as_ptr().cast(), 8 * all.len()) }
        };
        all[7] = f64::INFINITY;
        assert!(!holds(&all) && !holds(&[]));
        for place in [0, BLOCK, 3 * BLOCK + 4] {
            all[place] = f64::NAN;
            assert!(holds(&all));
            all[place] = 1.0;
        }
    }

    #[test]
    fn strided_arrays_are_looked_at_where_they_have_elements() {
        let all = [1.0f64, f64::NAN, 2.0, f64::INFINITY, 3.0];
        let view = |first: usize, extent, stride: &'static [i64]| View {
            data: all[first..].as_ptr().cast(),
            dtype: DType::F64,
            shape: extent,
            strides: Some(stride),
        };
        assert!(!view_is_finite(&view(0, &[2], &[1])));
        assert!(!view_is_finite(&view(2, &[2], &[1])));
        assert!(view_is_finite(&view(0, &[2], &[4])));
        assert!(view_is_finite(&view(4, &[2], &[-2])));
        assert!(view_is_finite(&view(0, &[1_000_000_000_000], &[0])));
    }
}

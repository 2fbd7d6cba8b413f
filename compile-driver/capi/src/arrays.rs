//! Checks the caller's arrays and passes them to the driver. Results go to the caller's memory directly where it is
//! contiguous and nothing else; through memory of our own where they are added to what is there, where the
//! caller's memory has gaps, or where it overlaps an argument (the compiled code was promised that it does not).

use crate::abi::{self, Array};
use crate::failure::{Failure, Outcome};
use compile_driver::call::copies::COPIES;
use compile_driver::{Input, Results, View};
use core_ad::diagnostics::Diagnosis;
use core_ad::{CallPlan, DType, names};
use std::ops::Range;
use std::sync::atomic::Ordering;

/// The arrays behind a pointer and a count.
///
/// # Safety
///
/// `pointer` is null or leads to `count` arrays that live for `'a`.
pub unsafe fn list<'a>(what: &str, pointer: *const Array, count: usize) -> Outcome<&'a [Array]> {
    if count == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() || !pointer.is_aligned() {
        let reason = if pointer.is_null() { "null" } else { "not aligned" };
        return Err(Failure::misuse("null-pointer", format!("the {what} are {reason}, and there should be {count}")));
    }
    if count > 4096 {
        return Err(Failure::misuse("count", format!("{count} {what}: no function has so many")));
    }
    // SAFETY: not null, aligned, and the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// The dimensions or strides of an array.
///
/// # Safety
///
/// `pointer` is null or leads to as many numbers as the array has dimensions, alive as long as `array`.
unsafe fn extents<'a>(array: &'a Array, pointer: *const i64, name: &str) -> Outcome<&'a [i64]> {
    let ndim = usize::try_from(array.ndim).ok().filter(|&n| n <= abi::FFGRAD_MAX_DIMS);
    let Some(ndim) = ndim else {
        let message = format!("`{name}` has {} dimensions, expected 0 to {}", array.ndim, abi::FFGRAD_MAX_DIMS);
        return Err(Failure::misuse("dimensions", message));
    };
    if ndim == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(Failure::misuse("null-pointer", format!("the shape of `{name}` is null or not aligned")));
    }
    // SAFETY: not null, aligned, and the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(pointer, ndim) })
}

/// An array as the driver sees it; `None` for `FFGRAD_NONE`.
///
/// # Safety
///
/// The array is as `ffgrad.h` describes it, for `'a`.
pub unsafe fn view<'a>(array: &'a Array, name: &str) -> Outcome<Option<View<'a>>> {
    if array.dtype == abi::FFGRAD_NONE {
        return Ok(None);
    }
    let Some(dtype) = abi::dtype_of(array.dtype) else {
        let message = format!("`{name}` has the element type {}, which ffgrad.h does not have", array.dtype);
        return Err(Failure::misuse("element-type", message));
    };
    // SAFETY: the caller's promise.
    let shape = unsafe { extents(array, array.shape, name) }?;
    let strides = match array.strides.is_null() {
        true => None,
        // SAFETY: as above.
        false => Some(unsafe { extents(array, array.strides, name) }?),
    };
    let empty = shape.contains(&0);
    if array.data.is_null() && !empty {
        return Err(Failure::misuse("null-pointer", format!("`{name}` has no data but is not empty")));
    }
    if !(array.data as usize).is_multiple_of(dtype.size()) {
        let message = format!("the data of `{name}` is not aligned for {dtype}");
        return Err(Failure::misuse("alignment", message));
    }
    Ok(Some(View { data: array.data.cast(), dtype, shape, strides }))
}

/// An input of a call: an array, or a number for a scalar.
///
/// # Safety
///
/// As [`view`].
pub unsafe fn input<'a>(array: &'a Array, name: &str) -> Outcome<Input<'a>> {
    let number = |size: usize| {
        let address = array.data as usize;
        if array.data.is_null() || !address.is_multiple_of(size) {
            return Err(Failure::misuse("null-pointer", format!("the number `{name}` is null or not aligned")));
        }
        Ok(array.data)
    };
    match array.dtype {
        abi::FFGRAD_NONE => Err(Failure::misuse("missing-input", format!("the input `{name}` is missing"))),
        // SAFETY: not null, aligned, and by the caller's promise of the announced type.
        abi::FFGRAD_NUMBER_FLOAT => Ok(Input::Float(unsafe { number(8)?.cast::<f64>().read() })),
        // SAFETY: as above.
        abi::FFGRAD_NUMBER_INT => Ok(Input::Int(unsafe { number(8)?.cast::<i64>().read() })),
        // SAFETY: as above, as a byte that need not be a valid bool.
        abi::FFGRAD_NUMBER_BOOL => Ok(Input::Bool(unsafe { number(1)?.cast::<u8>().read() } != 0)),
        // SAFETY: as above.
        _ => match unsafe { view(array, name) }? {
            Some(view) => Ok(Input::Array(view)),
            None => Err(Failure::misuse("missing-input", format!("the input `{name}` is missing"))),
        },
    }
}

/// The addresses that a view spans.
fn span(view: &View<'_>) -> Range<usize> {
    let start = view.data as usize;
    if view.shape.contains(&0) || view.shape.iter().any(|&d| d < 0) {
        return start..start;
    }
    let size = view.dtype.size() as i64;
    let (mut low, mut high) = (0_i64, 0_i64);
    match view.strides {
        Some(strides) => {
            for (&extent, &stride) in view.shape.iter().zip(strides) {
                let reach = (extent - 1).saturating_mul(stride);
                (low, high) = (low.saturating_add(reach.min(0)), high.saturating_add(reach.max(0)));
            }
        }
        None => high = view.shape.iter().fold(1_i64, |n, &d| n.saturating_mul(d)) - 1,
    }
    let at = |elements: i64| start.saturating_add_signed(elements.saturating_mul(size) as isize);
    at(low)..at(high.saturating_add(1))
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

struct Place<'a> {
    view: View<'a>,
    /// Memory of our own; empty where the result goes to the caller's at once.
    own: Vec<u64>,
    indirect: bool,
    used: bool,
}

/// What a call reads: inputs, and lists of shadows.
#[derive(Clone, Copy)]
pub struct Lent<'l, 'v> {
    /// The inputs.
    pub inputs: &'l [Input<'v>],
    /// Cotangents, tangents.
    pub shadows: [&'l [Option<View<'v>>]; 2],
}

impl Lent<'_, '_> {
    fn overlaps(&self, here: &Range<usize>) -> bool {
        let input = |input: &Input<'_>| matches!(input, Input::Array(view) if overlap(&span(view), here));
        let shadow = |view: &View<'_>| overlap(&span(view), here);
        self.inputs.iter().any(input) || self.shadows.iter().any(|list| list.iter().flatten().any(shadow))
    }
}

/// Where the results of a call go.
pub struct Places<'a> {
    function: &'a str,
    plan: &'a CallPlan,
    /// Indices into the plan's arguments: its inputs or its outputs.
    args: &'a [usize],
    places: Vec<Option<Place<'a>>>,
    accumulate: bool,
    failure: Option<Box<Failure>>,
}

impl<'a> Places<'a> {
    /// Checks the memory for results; `lent` is what the call reads.
    ///
    /// # Errors
    ///
    /// A wrong number of arrays, and arrays that are not as `ffgrad.h` specifies.
    ///
    /// # Safety
    ///
    /// As [`view`]; the memory may be written to.
    pub unsafe fn new(
        (function, plan): (&'a str, &'a CallPlan),
        args: &'a [usize],
        arrays: &'a [Array],
        flags: u32,
        lent: Lent<'_, '_>,
    ) -> Outcome<Self> {
        if arrays.len() != args.len() {
            let message = format!(
                "`{function}` has {} here, {}",
                names::counted(args.len(), "result"),
                names::given(arrays.len())
            );
            return Err(Failure::misuse("count", message));
        }
        if flags & !abi::FFGRAD_ACCUMULATE != 0 {
            return Err(Failure::misuse("flags", format!("unknown flags {flags:#x}")));
        }
        let accumulate = flags & abi::FFGRAD_ACCUMULATE != 0;
        let mut places: Vec<Option<Place<'a>>> = Vec::with_capacity(arrays.len());
        for (array, &arg) in arrays.iter().zip(args) {
            // SAFETY: passed on from the caller.
            let Some(view) = (unsafe { view(array, &plan.args[arg].name) })? else {
                places.push(None);
                continue;
            };
            let here = span(&view);
            let taken = || lent.overlaps(&here) || places.iter().flatten().any(|p| overlap(&span(&p.view), &here));
            let indirect = accumulate || !view.is_contiguous() || taken();
            places.push(Some(Place { view, own: Vec::new(), indirect, used: false }));
        }
        Ok(Places { function, plan, args, places, accumulate, failure: None })
    }

    /// Bit i is set where result i is wanted.
    pub fn mask(&self) -> u64 {
        self.places.iter().enumerate().map(|(i, p)| u64::from(p.is_some()) << i).sum()
    }

    /// Refuses results that do not exist.
    ///
    /// # Errors
    ///
    /// A place for the derivative of an argument that has none.
    pub fn only_derivatives(&self) -> Outcome<()> {
        for (place, &arg) in self.places.iter().zip(self.args) {
            let arg = &self.plan.args[arg];
            if place.is_some() && !arg.is_differentiable() {
                let reason = if arg.constant { "the signature declares it `const`" } else { "it is no float" };
                let message = format!(
                    "`{}` of `{}` has no derivative: {reason}\n  Leave its place empty (FFGRAD_NONE).",
                    arg.name, self.function
                );
                return Err(Failure::with(abi::FFGRAD_ERROR_SIGNATURE, "no-derivative", &message));
            }
        }
        Ok(())
    }

    fn place(&mut self, position: usize, dtype: DType, shape: &[i64]) -> Outcome<*mut u8> {
        let Some(place) = self.places.get_mut(position).and_then(Option::as_mut) else {
            return Ok(std::ptr::null_mut());
        };
        let (name, function) = (&self.plan.args[self.args[position]].name, self.function);
        if place.view.dtype != dtype {
            let message = format!("the memory for `{name}` of `{function}` has the wrong element type");
            let sides = (dtype.name().to_owned(), place.view.dtype.name().to_owned());
            return Err(Failure::mismatch(abi::FFGRAD_ERROR_DTYPE, function, "result-dtype", &message, sides));
        }
        if place.view.shape != shape {
            let message = format!("the memory for `{name}` of `{function}` has the wrong shape");
            let sides = (format!("{shape:?}"), format!("{:?}", place.view.shape));
            return Err(Failure::mismatch(abi::FFGRAD_ERROR_SHAPE, function, "result-shape", &message, sides));
        }
        place.used = true;
        if place.indirect {
            place.own = vec![0; (elements(shape) * dtype.size()).div_ceil(8)];
            return Ok(place.own.as_mut_ptr().cast());
        }
        // An empty array may have no address; the driver takes null for "no result wanted".
        let data = place.view.data.cast_mut();
        Ok(if data.is_null() { std::ptr::NonNull::<u64>::dangling().as_ptr().cast() } else { data })
    }

    /// Ends the call: results in our own memory are copied to the caller's. On failure nothing that is accumulated
    /// into has changed; other results may hold anything.
    ///
    /// # Errors
    ///
    /// The call's own.
    pub fn finish(self, outcome: compile_driver::Result<()>) -> Outcome<()> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        outcome?;
        for place in self.places.into_iter().flatten().filter(|p| p.used && p.indirect) {
            let view = &place.view;
            if !self.accumulate {
                COPIES.gathered.fetch_add((elements(view.shape) * view.dtype.size()) as u64, Ordering::Relaxed);
            }
            let mut strides = [0_i64; abi::FFGRAD_MAX_DIMS];
            let strides = match view.strides {
                Some(strides) => strides,
                None => row_major(view.shape, &mut strides),
            };
            let (target, source) = (view.data.cast_mut(), place.own.as_ptr().cast::<u8>());
            // SAFETY: `own` was made for the view's elements; the view's memory is the caller's promise.
            unsafe {
                match (self.accumulate, view.dtype) {
                    (true, DType::F32) => spread(target, view.shape, strides, source, 4, add::<f32>),
                    (true, DType::F64) => spread(target, view.shape, strides, source, 8, add::<f64>),
                    (_, dtype) => spread(target, view.shape, strides, source, dtype.size(), put),
                };
            }
        }
        Ok(())
    }
}

impl Results for Places<'_> {
    fn allocate(&mut self, position: usize, dtype: DType, shape: &[i64]) -> compile_driver::Result<*mut u8> {
        self.place(position, dtype, shape).map_err(|failure| {
            // `finish` returns it in place of the error that ends the driver's call.
            self.failure = Some(failure);
            compile_driver::Error::Arity(Box::new(Diagnosis::new("result", self.function, "unfit memory")))
        })
    }
}

fn elements(shape: &[i64]) -> usize {
    shape.iter().product::<i64>().max(0) as usize
}

fn row_major<'s>(shape: &[i64], strides: &'s mut [i64; abi::FFGRAD_MAX_DIMS]) -> &'s [i64] {
    let mut stride = 1;
    for (d, &extent) in shape.iter().enumerate().rev() {
        strides[d] = stride;
        stride *= extent;
    }
    &strides[..shape.len()]
}

/// Puts one element of `size` bytes.
///
/// # Safety
///
/// Both addresses hold an element.
unsafe fn put(target: *mut u8, source: *const u8, size: usize) {
    // SAFETY: the caller's promise; memory of our own overlaps none of the caller's.
    unsafe { target.copy_from_nonoverlapping(source, size) };
}

/// Adds one element.
///
/// # Safety
///
/// Both addresses hold an aligned `T`.
unsafe fn add<T: Copy + std::ops::AddAssign>(target: *mut u8, source: *const u8, _: usize) {
    // SAFETY: the caller's promise.
    unsafe { *target.cast::<T>() += *source.cast::<T>() };
}

/// Applies `each` to the elements of a strided array and those of a contiguous one; returns the position after the last.
///
/// # Safety
///
/// `shape` and `strides` describe memory that can be written to, and `source` has as many elements.
unsafe fn spread(
    target: *mut u8,
    shape: &[i64],
    strides: &[i64],
    source: *const u8,
    size: usize,
    each: unsafe fn(*mut u8, *const u8, usize),
) -> *const u8 {
    let ([extent, shape @ ..], [stride, strides @ ..]) = (shape, strides) else {
        // SAFETY: one element on both sides.
        unsafe {
            each(target, source, size);
            return source.add(size);
        }
    };
    let mut source = source;
    for i in 0..*extent {
        // SAFETY: the offset addresses an element of the array.
        unsafe {
            let row = target.offset((i * stride) as isize * size as isize);
            source = spread(row, shape, strides, source, size, each);
        }
    }
    source
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'a>(data: &[f64], shape: &'a [i64], strides: Option<&'a [i64]>) -> View<'a> {
        View { data: data.as_ptr().cast(), dtype: DType::F64, shape, strides }
    }

    #[test]
    fn a_view_spans_what_its_strides_reach_in_both_directions() {
        let data = [0.0; 12];
        let start = data.as_ptr() as usize;
        assert_eq!(span(&of(&data, &[3, 4], None)), start..start + 96);
        assert_eq!(span(&of(&data[8..], &[3], Some(&[-4]))), start..start + 72);
        assert!(span(&of(&data, &[0, 4], None)).is_empty());
        assert!(!overlap(&span(&of(&data, &[2], None)), &span(&of(&data[2..], &[2], None))));
    }

    #[test]
    fn row_major_strides_belong_to_the_first_dimensions() {
        let mut strides = [0; abi::FFGRAD_MAX_DIMS];
        assert_eq!(row_major(&[2, 3, 4], &mut strides), [12, 4, 1]);
    }

    #[test]
    fn elements_are_spread_over_gaps_and_added() {
        let mut target = [1.0_f64; 6];
        let source = [1.0, 2.0, 3.0, 4.0];
        let (to, from) = (target.as_mut_ptr().cast(), source.as_ptr().cast());
        // SAFETY: a column-major array of shape [2, 2] with a gap after each column.
        unsafe { spread(to, &[2, 2], &[1, 3], from, 8, add::<f64>) };
        assert_eq!(target, [2.0, 4.0, 1.0, 3.0, 5.0, 1.0]);
    }
}

//! Where results are written: in the framework's memory, directly or, where that cannot hold column-major arrays, transposed after
//! the call.

use crate::call::arguments::{Call, Results, gather};
use crate::call::batch_loop::add;
use crate::call::copies::{COPIES, count};
use crate::call::not_a_number::holds_nan;
use crate::error::Result;
use core_ad::protocol::Entry;
use core_ad::{Arg, DType};

/// Results of a call that may be repeated: memory is asked for once.
pub(crate) struct Repeatable<'r> {
    results: &'r mut dyn Results,
    given: Vec<Given>,
}

/// What was given for a position, in rows or columns.
struct Given {
    position: usize,
    in_columns: bool,
    memory: Option<*mut u8>,
    dtype: DType,
    bytes: usize,
}

impl<'r> Repeatable<'r> {
    pub(crate) fn new(results: &'r mut dyn Results) -> Self {
        Repeatable { results, given: Vec::new() }
    }

    fn find(&self, position: usize, in_columns: bool) -> Option<Option<*mut u8>> {
        self.given.iter().find(|one| (one.position, one.in_columns) == (position, in_columns)).map(|one| one.memory)
    }

    fn keep(&mut self, position: usize, in_columns: bool, memory: Option<*mut u8>, dtype: DType, shape: &[i64]) {
        let bytes = shape.iter().product::<i64>().max(0) as usize * dtype.size();
        self.given.push(Given { position, in_columns, memory, dtype, bytes });
    }

    /// Whether a result holds a NaN. To be asked once all are written.
    pub(crate) fn hold_nan(&self) -> bool {
        self.given.iter().any(|one| {
            // SAFETY: a front end's memory for an array of this shape, which the call has filled.
            one.memory.is_some_and(|memory| unsafe { holds_nan(one.dtype, memory, one.bytes) })
        })
    }
}

impl Results for Repeatable<'_> {
    fn allocate(&mut self, position: usize, dtype: DType, shape: &[i64]) -> Result<*mut u8> {
        if let Some(Some(memory)) = self.find(position, false) {
            return Ok(memory);
        }
        let memory = self.results.allocate(position, dtype, shape)?;
        self.keep(position, false, Some(memory), dtype, shape);
        Ok(memory)
    }

    fn allocate_column_major(&mut self, position: usize, dtype: DType, shape: &[i64]) -> Result<Option<*mut u8>> {
        if let Some(memory) = self.find(position, true) {
            return Ok(memory);
        }
        let memory = self.results.allocate_column_major(position, dtype, shape)?;
        self.keep(position, true, memory, dtype, shape);
        Ok(memory)
    }

    fn adds(&self, position: usize) -> bool {
        self.results.adds(position)
    }
}

/// The results of one call, as its slots are filled.
pub(crate) struct ResultWriter<'r> {
    results: &'r mut dyn Results,
    call: &'r Call<'r>,
    entry: Entry,
    late: Vec<PendingTranspose>,
}

/// A column-major result that the framework wants row-major.
struct PendingTranspose {
    position: usize,
    own: *const u8,
    target: *mut u8,
    shape: Vec<i64>,
    dtype: DType,
}

impl<'r> ResultWriter<'r> {
    pub(crate) fn new(results: &'r mut dyn Results, call: &'r Call<'r>, entry: Entry) -> Self {
        ResultWriter { results, call, entry, late: Vec::new() }
    }

    /// The argument that a result belongs to: an output, or an input whose gradient it is.
    fn arg(&self, position: usize) -> &'r Arg {
        let plan = self.call.plan;
        match self.entry {
            Entry::Primal | Entry::Jvp | Entry::Jvp2 | Entry::Augmented => &plan.args[plan.outputs[position]],
            Entry::Vjp | Entry::Hvp | Entry::Reverse => &plan.args[plan.inputs[position]],
        }
    }

    /// Transposes what had to wait. The frame of the call must still be open.
    pub(crate) fn finish(self) -> Result<()> {
        for late in self.late {
            let elements = late.shape.iter().product::<i64>().max(0) as usize;
            let (size, bytes) = (late.dtype.size(), elements * late.dtype.size());
            let mut strides = vec![1; late.shape.len()];
            for d in 1..strides.len() {
                strides[d] = strides[d - 1] * late.shape[d - 1];
            }
            count(&COPIES.gathered, bytes);
            let is_sum = self.results.adds(late.position);
            let place = if is_sum { self.call.memory(bytes)? } else { late.target };
            // SAFETY: all hold the result's elements; what is of the frame lives until it is closed.
            unsafe {
                gather(late.own, &late.shape, &strides, size, place);
                if is_sum {
                    add(late.dtype, place, late.target, bytes);
                }
            }
        }
        Ok(())
    }
}

impl Results for ResultWriter<'_> {
    fn allocate(&mut self, position: usize, dtype: DType, shape: &[i64]) -> Result<*mut u8> {
        if !self.arg(position).column_major {
            return self.results.allocate(position, dtype, shape);
        }
        if let Some(memory) = self.results.allocate_column_major(position, dtype, shape)? {
            return Ok(memory);
        }
        let target = self.results.allocate(position, dtype, shape)?;
        if target.is_null() {
            return Ok(target);
        }
        let own = self.call.memory((shape.iter().product::<i64>().max(0) as usize).saturating_mul(dtype.size()))?;
        self.late.push(PendingTranspose { position, own, target, shape: shape.to_vec(), dtype });
        Ok(own)
    }

    fn adds(&self, position: usize) -> bool {
        // What waits is made apart, and added when it is transposed.
        !self.late.iter().any(|l| l.position == position) && self.results.adds(position)
    }
}

//! Fingerprints of arrays: whether one that a pullback will read is still as it was when the values were computed.
//!
//! Every byte counts, because a single element may change. It is one pass over memory at its speed; it need not resist an
//! adversary.

use crate::arrays::{Few, Given};
use crate::interrupt::detached;
use compile_driver::View;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A number for each input: of an array one that its content determines, of anything else zero.
#[pyfunction]
pub fn fingerprints(py: Python<'_>, inputs: &Bound<'_, PyTuple>) -> PyResult<Vec<u64>> {
    let mut given: Few<Given<'_>> = Few::new();
    for object in inputs.iter_borrowed() {
        given.push(Given::from_object(&object, &|| "an input".to_owned())?);
    }
    detached(py, || given.iter().map(|g| g.view().map_or(0, |view| of_view(&view))).collect())
}

fn of_view(view: &View<'_>) -> u64 {
    let size = view.dtype.size();
    let extents: Vec<usize> = view.shape.iter().map(|&n| usize::try_from(n).unwrap_or(0)).collect();
    if extents.contains(&0) {
        return 0;
    }
    let strides: Vec<i64> = view.strides.map_or_else(|| row_major(&extents), <[i64]>::to_vec);
    // As the memory lies, so that columns of Fortran are read as fast as rows of C; what is broadcast counts once.
    let mut dims: Vec<(usize, i64)> =
        extents.into_iter().zip(strides).filter(|&(extent, stride)| extent > 1 && stride != 0).collect();
    dims.sort_by_key(|&(_, stride)| std::cmp::Reverse(stride.unsigned_abs()));
    let (extents, strides): (Vec<usize>, Vec<i64>) = dims.into_iter().unzip();
    let contiguous = row_major(&extents);
    // The rows that are contiguous in memory, read whole; the other dimensions are counted through.
    let inner = (0..extents.len()).rev().take_while(|&i| strides[i] == contiguous[i]).count();
    let (outer, row) = extents.split_at(extents.len() - inner);
    let bytes = row.iter().product::<usize>() * size;
    let mut hash = Hash::default();
    let mut index = vec![0usize; outer.len()];
    loop {
        let at: i64 = index.iter().zip(&strides).map(|(&i, &s)| i64::try_from(i).unwrap_or(0) * s).sum();
        // SAFETY: the index is within the array's shape, whose owner vouches for the memory at its strides; the caller keeps it
        // alive and does not write to it during the call.
        let row = unsafe {
            let begin = view.data.offset(isize::try_from(at).unwrap_or(0) * isize::try_from(size).unwrap_or(1));
            std::slice::from_raw_parts(begin, bytes)
        };
        hash.add(row);
        let Some(next) = (0..outer.len()).rev().find(|&d| index[d] + 1 < outer[d]) else { return hash.finish() };
        index[next] += 1;
        index[next + 1..].fill(0);
    }
}

fn row_major(extents: &[usize]) -> Vec<i64> {
    let mut strides = vec![1i64; extents.len()];
    for i in (1..extents.len()).rev() {
        strides[i - 1] = strides[i] * i64::try_from(extents[i]).unwrap_or(1);
    }
    strides
}

/// Independent lanes, so that the processor waits for memory and not for a multiplication.
const LANES: usize = 8;

/// Odd constants with as many ones as zeros (the fractional digits of pi).
const KEYS: [u64; LANES] = [
    0x243f_6a88_85a3_08d3,
    0x1319_8a2e_0370_7345,
    0xa409_3822_299f_31d1,
    0x082e_fa98_ec4e_6c89,
    0x4528_21e6_38d0_1377,
    0xbe54_66cf_34e9_0c6d,
    0xc0ac_29b7_c97c_50dd,
    0x3f84_d5b5_b547_0917,
];

#[derive(Default)]
struct Hash {
    lanes: [u64; LANES],
}

impl Hash {
    fn add(&mut self, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks::<{ 8 * LANES }>();
        for block in blocks {
            self.block(block);
        }
        let mut last = [0u8; 8 * LANES];
        last[..rest.len()].copy_from_slice(rest);
        self.block(&last);
        self.lanes[0] = mix(self.lanes[0] ^ bytes.len() as u64, KEYS[1]);
    }

    #[inline]
    fn block(&mut self, block: &[u8; 8 * LANES]) {
        let (words, _) = block.as_chunks::<8>();
        for ((lane, word), key) in self.lanes.iter_mut().zip(words).zip(KEYS) {
            // A bijection of the lane for each word, and of the word for each lane: one changed word is always seen.
            *lane = (*lane ^ u64::from_le_bytes(*word)).wrapping_mul(key).rotate_left(29);
        }
    }

    fn finish(&self) -> u64 {
        self.lanes.iter().zip(KEYS).fold(0, |sum, (lane, key)| mix(sum ^ lane, key))
    }
}

/// A bijection that spreads every bit.
fn mix(value: u64, key: u64) -> u64 {
    let value = (value ^ (value >> 32)).wrapping_mul(key);
    value ^ (value >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> u64 {
        let mut hash = Hash::default();
        hash.add(bytes);
        hash.finish()
    }

    #[test]
    fn every_byte_counts_and_so_does_the_order() {
        let bytes: Vec<u8> = (0..200u8).collect();
        let before = of(&bytes);
        for i in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[i] ^= 1;
            assert_ne!(of(&changed), before, "byte {i}");
        }
        let mut exchanged = bytes.clone();
        exchanged.swap(8, 72);
        assert_ne!(of(&exchanged), before);
        assert_ne!(of(&bytes[..199]), of(&[&bytes[..199], &[0]].concat()));
    }

    #[test]
    fn every_element_counts_in_any_order_of_dimensions() {
        let mut numbers: [f64; 12] = std::array::from_fn(|i| i as f64);
        let layouts: [(&[i64], &[i64]); 5] = [
            (&[3, 4], &[4, 1]),
            (&[3, 4], &[1, 3]),
            (&[2, 3, 2], &[1, 2, 6]),
            (&[12, 1], &[1, 5]),
            (&[4, 3, 12], &[0, 0, 1]),
        ];
        for (shape, strides) in layouts {
            let view = |numbers: &[f64; 12]| {
                of_view(&View {
                    data: numbers.as_ptr().cast(),
                    dtype: core_ad::DType::F64,
                    shape,
                    strides: Some(strides),
                })
            };
            for i in 0..numbers.len() {
                let before = view(&numbers);
                numbers[i] += 0.5;
                assert_ne!(view(&numbers), before, "element {i} of {shape:?} at {strides:?}");
            }
        }
    }

    #[test]
    fn elements_between_those_of_an_array_do_not_count() {
        let mut numbers = [1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0];
        let view = |numbers: &[f64; 6]| {
            of_view(&View {
                data: numbers.as_ptr().cast(),
                dtype: core_ad::DType::F64,
                shape: &[3],
                strides: Some(&[2]),
            })
        };
        let before = view(&numbers);
        numbers[1] = 0.0;
        assert_eq!(view(&numbers), before);
        numbers[2] = 0.0;
        assert_ne!(view(&numbers), before);
    }
}

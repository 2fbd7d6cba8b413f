//! Random directions for checks, and conversion of values to and from the arguments' element types.

use core_ad::DType;

/// The values of every argument at a point, in the arguments' own types.
pub type Point = Vec<Vec<u64>>;
/// Floating-point values, one list for each argument; empty where it has none.
pub type Numbers = Vec<Vec<f64>>;

/// Σ aᵢ bᵢ and Σ |aᵢ bᵢ| over arguments that have values in both.
pub fn dot(a: &Numbers, b: &Numbers) -> (f64, f64) {
    let products = a.iter().zip(b).filter(|(x, y)| x.len() == y.len()).flat_map(|(x, y)| x.iter().zip(y));
    products.fold((0.0, 0.0), |(sum, size), (x, y)| (sum + x * y, size + (x * y).abs()))
}

/// Root of the mean square; 1 where that is zero or not finite.
pub fn root_mean_square(values: &[f64]) -> f64 {
    let mean = values.iter().map(|v| v * v).sum::<f64>() / values.len().max(1) as f64;
    if mean > 0.0 && mean.is_finite() { mean.sqrt() } else { 1.0 }
}

/// The first `count` floating-point numbers in a buffer.
pub fn numbers(words: &[u64], dtype: DType, count: usize) -> Vec<f64> {
    match dtype {
        DType::F64 => words[..count].iter().map(|&w| f64::from_bits(w)).collect(),
        DType::F32 => {
            let half = |i: usize| (words[i / 2] >> (32 * (i % 2))) as u32;
            (0..count).map(|i| f64::from(f32::from_bits(half(i)))).collect()
        }
        _ => Vec::new(),
    }
}

/// Numbers packed into a buffer of the given type.
pub fn words(values: &[f64], dtype: DType) -> Vec<u64> {
    let mut words = match dtype {
        DType::F32 => values
            .chunks(2)
            .map(|pair| {
                let bits = |v: &f64| u64::from((*v as f32).to_bits());
                bits(&pair[0]) | pair.get(1).map_or(0, |v| bits(v) << 32)
            })
            .collect(),
        _ => values.iter().map(|v| v.to_bits()).collect::<Vec<u64>>(),
    };
    if words.is_empty() {
        words.push(0);
    }
    words
}

/// A small generator for test directions (splitmix64; Steele, Lea and Flood, OOPSLA 2014) with the
/// Box-Muller transform. Checks must be repeatable, so the seed is fixed by the caller.
pub struct Random(pub u64);

impl Random {
    /// A number in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An index below `count`, which is above zero.
    pub fn below(&mut self, count: usize) -> usize {
        ((self.uniform() * count as f64) as usize).min(count - 1)
    }

    /// A number of either sign, never near zero: between a half and one and a half.
    pub fn weight(&mut self) -> f64 {
        let number = self.uniform() * 2.0 - 1.0;
        number + 0.5_f64.copysign(number)
    }

    /// A standard normal number.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_their_packing() {
        let values = [1.5, -2.25, 3.0];
        assert_eq!(numbers(&words(&values, DType::F32), DType::F32, 3), values);
        assert_eq!(numbers(&words(&values, DType::F64), DType::F64, 3), values);
    }

    #[test]
    fn the_random_numbers_are_about_normal() {
        let mut random = Random(1);
        let sample: Vec<f64> = (0..10_000).map(|_| random.normal()).collect();
        let mean = sample.iter().sum::<f64>() / 1e4;
        let variance = sample.iter().map(|x| x * x).sum::<f64>() / 1e4;
        assert!(mean.abs() < 0.05 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }
    #[test]
    fn weights_have_both_signs_and_are_never_small() {
        let mut random = Random(1);
        let weights: Vec<f64> = (0..1000).map(|_| random.weight()).collect();
        assert!(weights.iter().all(|w| (0.5..=1.5).contains(&w.abs())));
        assert!((400..600).contains(&weights.iter().filter(|w| **w > 0.0).count()));
        assert!((0..1000).all(|_| random.below(3) < 3) && random.below(1) == 0);
    }
}

//! CPUs that code can be compiled for: this machine's own, or a level that many machines share.
//!
//! The levels of x86-64 are those of its psABI. Both the worker, which compiles for one, and the driver, which asks whether a
//! machine has what code needs, read them here.

/// The machine's own CPU, with all it has.
pub const NATIVE: &str = "native";

const V1: &[&str] = &["cx8", "fxsr", "mmx", "sse", "sse2"];
const V2: &[&str] = &["cx16", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"];
const V3: &[&str] = &["avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"];
const V4: &[&str] = &["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"];

/// Names of the levels, the lowest first.
pub const LEVELS: [&str; 4] = ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"];

/// What a level has, in LLVM's names; `None` where it is no level.
pub fn features(level: &str) -> Option<Vec<&'static str>> {
    let last = LEVELS.iter().position(|l| *l == level)?;
    Some([V1, V2, V3, V4][..=last].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_has_all_of_the_one_below() {
        for pair in LEVELS.windows(2) {
            let (low, high) = (features(pair[0]).unwrap(), features(pair[1]).unwrap());
            assert!(low.iter().all(|f| high.contains(f)) && low.len() < high.len(), "{pair:?}");
        }
        assert_eq!((features(NATIVE), features("x86-64-v5")), (None, None));
    }
}

//! What to do where no gradient could be proven right, by the reasons for which those of all pipelines were rejected.

/// The advice, a sentence or a part of one each.
pub(super) fn advice(rejected: &[String]) -> [&'static str; 3] {
    let all = |words: &str| !rejected.is_empty() && rejected.iter().all(|line| line.contains(words));
    if all("forward and reverse mode agree") {
        [
            "Either the function is chaotic, or jumps or wiggles near these arguments, so that no difference tells its",
            "derivative: try other arguments or fewer steps; verify=\"off\" returns Enzyme's gradient without a check.",
            "Or Enzyme is wrong in both modes alike: where the function is smooth, please report it.",
        ]
    } else if all("are finite, those of the other are not") {
        [
            "A part of the function has no finite derivative at these arguments, though the result may not use its value:",
            "the square root or logarithm of zero or less, a division by zero. Give it a harmless argument in the",
            "branch where it is not used: `r = d > 0 ? sqrt(d) : 0`, not `r = sqrt(d); d > 0 ? r : 0`.",
        ]
    } else {
        [
            "Give the part that Enzyme cannot treat as a function of its own and mark it inactive,",
            "rewrite it (copy buffers instead of swapping pointers, use real instead of complex division),",
            "or report it: a wrong gradient is a bug of Enzyme even where ffgrad detects it.",
        ]
    }
}

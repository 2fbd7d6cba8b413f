//! What to do where no gradient could be proven right, by the reasons for which those of all pipelines were rejected.

/// How a check's text begins where both modes give nothing at all.
const ZERO: [&str; 2] = ["agree (0.000000e0)", "agree (-0.000000e0)"];

/// Of a solver's result.
const SOLVER: [&str; 2] = [
    "If the function has an iterative solver, its derivative by AD is 0 (bisection), or has not converged where the solution has: use the implicit",
    "function theorem: derivatives={\"SOLVER\": implicit(\"RESIDUAL\")}, `ffgrad explain custom-derivatives`.",
];

/// In what a check says of a gradient that is wrong, where both modes give the same, and where they do not.
const WRONG: &str = "wrong gradient: ";
const AGREE: &str = "forward and reverse mode agree";
const GIVES: &str = "reverse mode gives";

/// Of modes that differ by little, though by more than rounding.
const AMPLIFIED: [&str; 2] = [
    "Both modes are derivatives of the same code and differ by little: the code divides by differences that are rounding alone, as an iteration does that",
    "goes on behind its accuracy, or one that takes differences with tiny steps. End it earlier (a larger tolerance).",
];

/// How far such modes are apart, relative to the larger.
const NEARLY: f64 = 1e-3;

/// Of arrays that are too short.
const SIZES: &str = "First look at the sizes: is a dimension of this call too small for what the function reads? Then it reads beyond an array.";

/// Of a function that has a branch for single values.
const SPECIAL: [&str; 3] = [
    "The function tests numbers for equality (`x == 0`) and treats such a value by itself: the branch's own derivative is not the function's,",
    "and beside the value the general formula cancels. Use a series for a range around it (`fabs(x) < 1e-4`), or a formula without the quotient",
    "(expm1, log1p); or give a value a little beside it. verify=\"off\" returns the branch's derivative without a check.",
];

/// Takes out the advice to allow guesses, for who has allowed them.
pub(super) fn leave_out_guesses(advice: &mut Vec<String>) {
    advice.retain(|line| !line.contains("loose_types=True"));
    if let Some(last) = advice.last_mut()
        && let Some(begun) = last.strip_suffix(',')
    {
        *last = format!("{begun}.");
    }
}

/// Whether a check says that both modes give zero where finite differences do not.
pub(crate) fn is_zero(text: &str) -> bool {
    ZERO.iter().any(|zero| text.contains(zero))
}

/// The reasons, a line each: pipelines with the same one share it.
pub(super) fn reasons(rejected: &[String]) -> String {
    let mut lines: Vec<(Vec<&str>, &str)> = Vec::new();
    for line in rejected {
        let (pipeline, text) = line.split_once(": ").unwrap_or(("", line));
        match lines.iter_mut().find(|(_, known)| *known == text) {
            Some((pipelines, _)) => pipelines.push(pipeline),
            None => lines.push((vec![pipeline], text)),
        }
    }
    let written = lines.into_iter().map(|(pipelines, text)| match pipelines.as_slice() {
        [""] => text.to_owned(),
        all => format!("{}: {text}", all.join(", ")),
    });
    written.collect::<Vec<_>>().join("\n")
}

/// The advice, a sentence or a part of one each. `equations`: solvers with the implicit function theorem's derivative, and their residuals.
/// `has_arrays`: the function takes arrays; `is_special`: it tests numbers for equality, and differences contradict its derivative.
pub(super) fn advice(
    rejected: &[String],
    equations: &[(&str, &str)],
    (has_arrays, is_special): (bool, bool),
) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (solver, residual) in equations {
        all.push(format!(
            "The derivative of `{solver}` follows from `{residual}`: does that hold where `{solver}` ends, and how exactly? A solver that ends"
        ));
        all.push(
            "at a relative error of 1e-6 spoils finite differences; its own tolerance should be 1e-9 or less."
                .to_owned(),
        );
    }
    let advice = general(rejected, !equations.is_empty());
    let is_of_bug = advice.first().is_some_and(|first| *first == SIZES);
    // A branch for one value has a derivative, though another one than the function.
    // Beside the value the general formula cancels, so that its derivatives may differ by their rounding.
    let has_numbers = |line: &String| line.contains(AGREE) || line.contains(GIVES);
    let is_amplified = advice.first().is_some_and(|first| *first == AMPLIFIED[0]);
    let is_special = is_special && rejected.iter().any(has_numbers);
    match ((is_of_bug || is_amplified) && is_special, is_of_bug && !has_arrays) {
        (true, _) => all.extend(SPECIAL.map(str::to_owned)),
        (false, true) => {
            all.extend(
                advice
                    .into_iter()
                    .skip(1)
                    .map(|line| line.replace("or, if every access is inside its array, report", "or report")),
            );
        }
        (false, false) => all.extend(advice.into_iter().map(str::to_owned)),
    }
    all
}

/// Without what the programs themselves say.
fn general(rejected: &[String], has_implicit: bool) -> Vec<&'static str> {
    let wrong: Vec<&String> = rejected.iter().filter(|line| line.contains(WRONG)).collect();
    let all = |words: &str| !wrong.is_empty() && wrong.iter().all(|line| line.contains(words));
    let any = |words: &str| rejected.iter().any(|line| line.contains(words));
    if any(AGREE) && !any(GIVES) {
        if rejected.iter().filter(|line| line.contains("mode agree")).all(|line| is_zero(line)) {
            return vec![
                "Its derivative by AD is 0 at these arguments: a branch for these values alone (`x == 0`: write it without, by a series or expm1),",
                "a result that comes from comparisons (bisection), numbers that are rounded, or that go through text or JSON and back. For a solver use the implicit function theorem: derivatives={\"SOLVER\": implicit(\"RESIDUAL\")},",
                "`ffgrad explain custom-derivatives`.",
            ];
        }
        let either = [
            "The function may be chaotic, or jump or oscillate near these arguments: then no difference confirms its",
            "derivative: try other arguments or fewer steps; verify=\"off\" returns Enzyme's gradient without a check.",
        ];
        let or = "Or Enzyme is wrong in both modes alike: where the function is smooth, please report it.";
        let solver: &[&str] = if has_implicit { &[] } else { &SOLVER };
        either.into_iter().chain(solver.iter().copied()).chain([or]).collect()
    } else if any(GIVES) && rejected.iter().filter(|line| line.contains(GIVES)).all(|line| differ_by_rounding(line)) {
        let solver: &[&str] = if has_implicit { &[] } else { &SOLVER };
        AMPLIFIED.into_iter().chain(solver.iter().copied()).collect()
    } else if all("are finite, those of the other are not") {
        vec![
            "A part of the function has no finite derivative at these arguments, though the result may not use its value:",
            "the square root or logarithm of zero or less, a division by zero. Compute it only where it is used: behind the `if`,",
            "not before it; or give it a harmless argument there.",
        ]
    } else {
        vec![
            SIZES,
            "Move the part that Enzyme cannot treat into a function of its own and mark that inactive,",
            "rewrite it (copy buffers instead of swapping pointers, use real instead of complex division),",
            "or, if every access is inside its array, report it: the wrong gradient is then a bug of Enzyme, even where ffgrad detects it.",
        ]
    }
}

/// Whether the two modes of a check's text differ by little.
fn differ_by_rounding(text: &str) -> bool {
    let number_behind = |words: &str| -> Option<f64> {
        let (_, rest) = text.split_once(words)?;
        rest.trim_start().split(',').next()?.parse().ok()
    };
    match (number_behind(GIVES), number_behind(", forward mode")) {
        (Some(reverse), Some(forward)) => (reverse - forward).abs() <= NEARLY * reverse.abs().max(forward.abs()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipelines_with_the_same_reason_share_a_line() {
        let rejected =
            ["inlined: wrong gradient: it crashed", "o1: wrong gradient: it crashed", "2 more not tried: late"];
        let text = reasons(&rejected.map(str::to_owned));
        assert_eq!(text, "inlined, o1: wrong gradient: it crashed\n2 more not tried: late");
    }

    #[test]
    fn guesses_are_not_advised_twice() {
        let mut advice =
            ["Copy in a loop,", "or allow a guess with loose_types=True: it is checked."].map(str::to_owned).to_vec();
        leave_out_guesses(&mut advice);
        assert_eq!(advice, ["Copy in a loop."]);
    }

    #[test]
    fn modes_that_are_close_are_told_apart_from_wrong_ones() {
        let line = |forward: f64| {
            format!(
                "o1: wrong gradient: reverse mode gives 1.000000e0, forward mode {forward:.6e}, finite differences 1.1e0 for the same number"
            )
        };
        let close = advice(&[line(1.0002)], &[], (true, false));
        assert!(close[0].starts_with("Both modes") && close.iter().any(|l| l.contains("implicit")), "{close:?}");
        assert!(advice(&[line(1.0002), line(2.0)], &[], (true, false))[0].contains("sizes"));
    }

    #[test]
    fn a_branch_for_one_value_is_not_blamed_for_a_crash() {
        let crashed = ["o1: wrong gradient: the derivative crashed".to_owned()];
        assert!(!advice(&crashed, &[], (true, true))[0].contains("equality"));
        let mixed = [
            "o1: wrong gradient: forward and reverse mode agree (1.0), finite differences give 2".to_owned(),
            "o2: wrong gradient: forward mode gives 1, reverse mode gives 2".to_owned(),
        ];
        assert!(advice(&mixed, &[], (true, true))[0].contains("equality"));
    }

    #[test]
    fn a_derivative_of_zero_is_told_from_chaos_and_from_a_bug() {
        let agree = |value: &str| {
            format!("o1: wrong gradient: forward and reverse mode agree ({value}), finite differences give 1")
        };
        assert!(
            advice(&[agree("0.000000e0"), agree("-0.000000e0")], &[], (true, false))[0]
                .starts_with("Its derivative by AD is 0")
        );
        let chaos = advice(&[agree("3.000000e0"), "o2: Enzyme refuses".to_owned()], &[], (true, false));
        assert!(
            chaos[0].starts_with("The function may be chaotic") && chaos.iter().any(|line| line.contains("implicit("))
        );
        let wrong =
            advice(&[agree("0.000000e0"), "o2: reverse mode gives 1, forward mode 2".to_owned()], &[], (true, false));
        assert!(wrong[0].contains("a dimension") && wrong[3].contains("bug of Enzyme"));
        let special = advice(&["o2: reverse mode gives 1, forward mode 2".to_owned()], &[], (false, true));
        assert!(special[0].contains("for equality"));
        let close = "o2: reverse mode gives 3.982198e-5, forward mode 3.982201e-5".to_owned();
        assert!(advice(std::slice::from_ref(&close), &[], (false, true))[0].contains("for equality"));
        assert!(advice(&[close], &[], (false, false))[0].contains("differ by little"));
        let scalar = advice(&["o2: reverse mode gives 1, forward mode 2".to_owned()], &[], (false, false));
        assert!(!scalar.iter().any(|line| line.contains("array")));
        let solved = advice(&[agree("3.000000e0")], &[("solve", "residual")], (true, false));
        assert!(solved[0].starts_with("The derivative of `solve` follows from `residual`"));
        assert!(!solved.iter().any(|line| line.contains("SOLVER")));
    }
}

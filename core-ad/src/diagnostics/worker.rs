//! Parses the output of a crashed worker: its crash trace and LLVM's stack trace of passes.

use super::Diagnosis;
use super::enzyme::shortened;

/// Begins the worker's own line: the step follows.
pub const AT: &str = "ffgrad-llvm: at ";

/// Separates the step and the function that it processes, where there is one.
pub const FUNCTION: &str = ", function ";

/// Code of the failures of the worker itself.
pub const FAILED: &str = "worker-failed";

/// Code of a worker that did not answer in time.
pub const TIMED_OUT: &str = "worker-timeout";

/// Whether a refusal is the worker's own failure, not a diagnosis of the user's code.
pub fn has_failed(refusal: &Diagnosis) -> bool {
    [FAILED, TIMED_OUT].contains(&refusal.code.as_str())
}

/// Lines that are quoted.
const SHOWN: usize = 12;

/// The informative lines of a crash.
pub fn words(stderr: &str) -> String {
    let noise = |line: &&str| {
        let line = line.trim();
        line.is_empty() || ["PLEASE submit", "Stack dump:"].iter().any(|n| line.starts_with(n))
    };
    let lines: Vec<String> = stderr.lines().filter(|l| !noise(l)).map(|l| shortened(l.trim())).collect();
    // The innermost pass is named last.
    let hidden = lines.len().saturating_sub(SHOWN);
    match hidden {
        0 => lines.join("\n"),
        _ => [&lines[..SHOWN / 2], &["...".to_owned()], &lines[hidden + SHOWN / 2..]].concat().join("\n"),
    }
}

/// The symbol of the function that was worked on: the innermost that LLVM names, else the worker's own.
pub fn last_function(words: &str) -> Option<String> {
    let named = |line: &str| {
        let (_, unit) = line.split_once("Running pass ")?;
        // `on function "f"`, `on loop "%for.body" in function "f"`.
        let (_, name) = unit.rsplit_once(" function ")?;
        Some(unquoted(name.trim()))
    };
    let of_trail = |line: &str| Some(line.strip_prefix(AT)?.split_once(FUNCTION)?.1.trim().to_owned());
    let passes = words.lines().filter_map(named).next_back();
    passes.or_else(|| words.lines().filter_map(of_trail).next_back()).filter(|name| !name.is_empty())
}

/// What was done last: LLVM's pass, else the worker's step.
pub fn last_step(words: &str) -> Option<String> {
    let pass = |line: &str| {
        let (_, rest) = line.split_once("Running pass ")?;
        let quote = rest.chars().next().filter(|c| "\"'".contains(*c))?;
        Some(format!("the pass `{}`", rest[1..].split(quote).next()?))
    };
    let of_trail = |line: &str| {
        let step = line.strip_prefix(AT)?;
        Some(format!("the step `{}`", step.split_once(FUNCTION).map_or(step, |(step, _)| step).trim()))
    };
    let passes = words.lines().filter_map(pass).next_back();
    passes.or_else(|| words.lines().filter_map(of_trail).next_back())
}

/// `"name"`, `'@name'` or `@name`.
fn unquoted(text: &str) -> String {
    let inner = match text.chars().next() {
        Some(quote @ ('"' | '\'')) => text[1..].split(quote).next().unwrap_or_default(),
        _ => text.split_whitespace().next().unwrap_or_default(),
    };
    inner.trim_start_matches('@').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CRASH: &str = "ffgrad-llvm: at default<O1>\n\
        PLEASE submit a bug report to https://github.com/llvm/llvm-project/issues/ and include the crash backtrace.\n\
        Stack dump:\n\
        0.\tRunning pass \"require<globals-aa>,cgscc(inline)\" on module \"source0.bc\"\n\
        1.\tRunning pass \"inline<only-mandatory>\" on (_ZN1m4stepEPdi)\n\
        2.\tRunning pass \"sroa<modify-cfg>\" on function \"_ZN1m4stepEPdi\"\n";

    #[test]
    fn the_innermost_pass_and_its_function_are_read() {
        assert_eq!(last_function(CRASH).as_deref(), Some("_ZN1m4stepEPdi"));
        assert_eq!(last_step(CRASH).as_deref(), Some("the pass `sroa<modify-cfg>`"));
        assert!(!words(CRASH).contains("PLEASE") && words(CRASH).contains("sroa"));
    }

    #[test]
    fn code_generation_quotes_otherwise() {
        let printed = "Stack dump:\n0.\tRunning pass 'X86 DAG->DAG Instruction Selection' on function '@ffgrad_vjp'\n";
        assert_eq!(last_function(printed).as_deref(), Some("ffgrad_vjp"));
        assert_eq!(last_step(printed).as_deref(), Some("the pass `X86 DAG->DAG Instruction Selection`"));
    }

    #[test]
    fn a_crash_between_passes_leaves_the_workers_own_trail() {
        let printed = "ffgrad-llvm: at stencil, function diffestep\n";
        assert_eq!(last_function(printed).as_deref(), Some("diffestep"));
        assert_eq!(last_step(printed).as_deref(), Some("the step `stencil`"));
        assert_eq!(last_function("ffgrad-llvm: at load\n"), None);
        assert_eq!((last_function(""), last_step("")), (None, None));
    }

    #[test]
    fn long_words_keep_their_end() {
        let printed: String = (0..100).map(|i| format!("{i}.\tRunning pass \"p{i}\" on function \"f{i}\"\n")).collect();
        let words = words(&printed);
        assert!(words.lines().count() <= 13 && words.contains("f99") && words.contains("f0"), "{words}");
        assert_eq!(last_function(&words).as_deref(), Some("f99"));
    }
}

//! Fuzzes the parsers of tools' output: each yields an explanation of bounded length, with a code that `ffgrad explain` knows.
#![no_main]

use core_ad::diagnostics::codes;
use core_ad::diagnostics::{compiler_error, enzyme, without_noise};
use core_ad::names;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (bool, &str)| {
    let (crashed, text) = input;
    let status = if crashed { "signal 11" } else { "1" };
    let diagnosis = enzyme::failure("f", status, text);
    assert!(codes::ALL.iter().any(|c| c.name == diagnosis.code), "{}", diagnosis.code);
    assert!(!diagnosis.headline.is_empty() && !diagnosis.advice.is_empty());
    assert!(diagnosis.output.iter().all(|o| o.lines().count() <= 41));
    let _ = diagnosis.to_string();
    let _ = compiler_error(text);
    let _ = without_noise(text);
    let _ = names::demangle(text);
});

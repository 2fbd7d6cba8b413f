//! Tests every known message of Enzyme, from its error stream to what the user reads.

use super::*;
use std::fs;
use std::path::PathBuf;

fn file(name: &str, extension: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/diagnostics/logs").join(format!("{name}.{extension}"))
}

/// The status with which Enzyme ended: that in the last line of a log, else 1.
fn rendered(log: &str) -> (Diagnosis, String) {
    let (log, status) = match log.trim_end().rsplit_once("\n[status] ") {
        Some((log, status)) => (log, status),
        None => (log, "1"),
    };
    let diagnosis = failure("f", status, log);
    let text = format!("[{}] {diagnosis}\n", diagnosis.code);
    (diagnosis, text)
}

#[test]
fn every_message_has_a_log_and_reads_as_its_golden() {
    let update = std::env::var_os("FFGRAD_UPDATE_GOLDENS").is_some();
    for message in KNOWN {
        let log =
            fs::read_to_string(file(message.name, "log")).unwrap_or_else(|_| panic!("no log of {}", message.name));
        let found = EnzymeOutput::of(&log).known().map(|(m, _)| m.name);
        assert_eq!(found, Some(message.name), "the log matches another row");
        let (_, text) = rendered(&log);
        if update {
            fs::write(file(message.name, "txt"), &text).expect("a golden can be written");
        }
        let golden = fs::read_to_string(file(message.name, "txt")).unwrap_or_default();
        assert_eq!(text, golden, "{}: FFGRAD_UPDATE_GOLDENS=1 writes it again", message.name);
    }
}

#[test]
fn no_log_or_golden_is_left_over() {
    for entry in fs::read_dir(file("x", "log").parent().expect("a folder")).expect("the logs").flatten() {
        let path = entry.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        assert!(KNOWN.iter().any(|m| m.name == stem), "{} belongs to no message", path.display());
    }
}

#[test]
fn every_way_of_saying_it_leads_to_its_row() {
    for message in KNOWN {
        for pattern in message.pattern {
            let log = format!("error: a.c:3:5: in function preprocess_f double (double): Enzyme: {pattern}x\n");
            let found = EnzymeOutput::of(&log).known().map(|(m, _)| m.name);
            assert_eq!(found, Some(message.name), "{pattern}");
        }
    }
}

#[test]
fn every_row_says_what_to_do_and_has_a_known_code() {
    for message in KNOWN {
        assert!(!message.remedies.is_empty() && message.meaning.contains("`{f}`"), "{}", message.name);
        assert!(crate::diagnostics::codes::ALL.iter().any(|c| c.name == message.code), "{}", message.code);
        let (_, text) = rendered(&format!("error: a.c:3:5: in function g: Enzyme: {}", message.pattern[0]));
        assert!(!text.contains("{what}") && !text.contains("{f}"), "{text}");
    }
}

#[test]
fn what_flangs_runtime_does_is_told_in_fortrans_words() {
    let stderr = "error: f.f90:23:3: in function preprocess_f: Enzyme: No augmented forward pass found for \
                  _FortranAPushArrayConstructorSimpleScalar\n";
    let d = failure("f", "1", stderr);
    assert_eq!((d.code.as_str(), d.location.map(|l| l.line)), ("fortran-runtime", Some(23)));
    assert!(d.headline.contains("an array constructor that grows"));
    // A type of two plain numbers comes to this, too.
    let whole = failure("f", "1", &stderr.replace("PushArrayConstructorSimpleScalar", "Destroy"));
    assert!(whole.headline.contains("a whole value of a derived type"), "{}", whole.headline);
}

#[test]
fn a_function_of_the_system_has_its_own_advice() {
    let stderr = "error: s.c:3:5: in function preprocess_f: Enzyme: No augmented forward pass found for qsort\n";
    let d = failure("f", "1", stderr);
    assert!(d.advice.len() == 1 && d.advice[0].contains("std::sort"), "{:?}", d.advice);
}

#[test]
fn an_unknown_message_is_shown_whole() {
    let log = "error: <unknown>:0:0: in function x: Enzyme: something new\n more\nat the end\n";
    let (d, text) = rendered(log);
    assert_eq!(d.code, UNKNOWN);
    for part in ["something new", "more", "at the end"] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(d.location, None);
    let long: String = (0..100).map(|i| format!("word {i}\n")).collect();
    assert!(rendered(&long).1.contains("60 lines more"));
}

#[test]
fn code_that_is_printed_with_a_message_is_left_out() {
    let log = "error: d/a.c:2:38: in function preprocess_f: Enzyme: ; Function Attrs: nounwind\n\
               define void @f() {\n  %1 = load double, ptr %x\n}\n\n<analysis>\nptr %0: {}\n</analysis>\n\
               constantinst[  ret void] = 1\n@g = global i32 0\nnew words\n  %5 = call double @g(double %4)\n";
    let output = EnzymeOutput::of(log);
    assert_eq!(output.words, ["new words", "  %5 = call double @g(double %4)"]);
    assert_eq!(output.location.map(|l| (l.file, l.line)), Some(("d/a.c".to_owned(), 2)));
}

#[test]
fn a_crash_without_words_is_one_and_names_the_signal() {
    let d = failure("f", "signal 11", " #0 0x0000 in main\nStack dump:\n");
    assert_eq!(d.code, "engine-crash");
    assert!(d.headline.contains("signal 11") && d.output.is_none());
}

#[test]
fn an_engine_that_was_killed_wanted_memory() {
    let d = failure("f", "signal 9", "");
    assert_eq!(d.code, "engine-memory");
    assert!(d.headline.contains("signal 9"));
    assert_eq!((messages::crash().name, messages::memory().name), ("engine-crash", "engine-memory"));
}

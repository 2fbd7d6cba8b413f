//! Each pass on a small module: `passes/NAME.in.ll` becomes `passes/NAME.out.ll`. `FFGRAD_BLESS=1` writes the results.

use core_ad::passes::PASSES;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes")
}

/// What `ffgrad-llvm --run` prints, without the name of the file.
fn printed(pass: &str, file: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_ffgrad-llvm")).arg("--run").arg(pass).arg(file).output();
    let output = output.expect("the worker can be started");
    assert!(output.status.success(), "{pass}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("IR is text");
    let kept = text.lines().filter(|l| !l.starts_with("; ModuleID") && !l.starts_with("source_filename"));
    kept.collect::<Vec<_>>().join("\n").trim().to_owned() + "\n"
}

#[test]
fn every_pass_does_what_its_golden_shows() {
    let mut stale = Vec::new();
    for pass in PASSES {
        if pass.name == "vector-math" && !cfg!(target_arch = "x86_64") {
            continue;
        }
        let input = folder().join(format!("{}.in.ll", pass.name));
        let golden = folder().join(format!("{}.out.ll", pass.name));
        let made = printed(pass.name, &input);
        if std::env::var_os("FFGRAD_BLESS").is_some() {
            std::fs::write(&golden, &made).expect("the golden can be written");
        }
        if std::fs::read_to_string(&golden).unwrap_or_default() != made {
            stale.push(pass.name);
        }
    }
    assert!(stale.is_empty(), "not as in core-ad/llvm/tests/passes: {stale:?}; FFGRAD_BLESS=1 writes what they do");
}

#[test]
fn every_golden_shows_a_change() {
    for pass in PASSES {
        let input = folder().join(format!("{}.in.ll", pass.name));
        let text = std::fs::read_to_string(&input).expect("there is an input for every pass");
        // A pass that does not concern the input prints it as it is.
        let other = if pass.name == "sums" { "dead-stores" } else { "sums" };
        assert_ne!(printed(pass.name, &input), printed(other, &input), "{} does nothing to\n{text}", pass.name);
    }
}

#[test]
fn an_unknown_pass_is_an_error() {
    let output = Command::new(env!("CARGO_BIN_EXE_ffgrad-llvm")).args(["--run", "nonsense", "in.ll"]).output();
    let output = output.expect("the worker can be started");
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no pass `nonsense`"));
}

//! Stress test of the tape arena, compiled with a C program: under AddressSanitizer with
//! UndefinedBehaviorSanitizer, under ThreadSanitizer, and under valgrind where there is one (`FFGRAD_REQUIRE=valgrind` makes that a must).

use std::path::{Path, PathBuf};
use std::process::Command;

fn compile(folder: &Path, flags: &[&str]) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = folder.join("arena");
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    cc.args(["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror"]).args(flags).arg("-I").arg(here.join("runtime"));
    let output = cc
        .arg(here.join("tests/arena_program.c"))
        .arg("-o")
        .arg(&program)
        .arg("-lpthread")
        .output()
        .expect("a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

fn passes(command: &mut Command) {
    let output = command.output().expect("the program starts");
    let printed = [output.stdout, output.stderr].map(|s| String::from_utf8_lossy(&s).into_owned()).concat();
    assert!(output.status.success() && printed.contains("the arena keeps its promises"), "{printed}");
}

#[test]
fn the_arena_is_clean_under_address_sanitizer() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    passes(&mut Command::new(compile(folder.path(), &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])));
}

#[test]
fn the_arena_is_clean_under_thread_sanitizer() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = compile(folder.path(), &["-fsanitize=thread"]);
    // It does not start where the kernel places memory at addresses that it does not know.
    let probe = Command::new("setarch").args(["-R", "true"]).status().is_ok_and(|s| s.success());
    let mut command = if probe { Command::new("setarch") } else { Command::new(&program) };
    passes(if probe { command.arg("-R").arg(&program) } else { &mut command });
}

#[test]
fn the_arena_is_clean_under_valgrind() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        let required = std::env::var("FFGRAD_REQUIRE").unwrap_or_default();
        assert!(!required.contains("valgrind"), "valgrind is required and missing");
        eprintln!("skipped: no valgrind");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = compile(folder.path(), &[]);
    passes(Command::new("valgrind").args(["--error-exitcode=9", "--leak-check=full", "-q"]).arg(program));
}

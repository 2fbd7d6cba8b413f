//! C programs against the built library: the suite of `suite.c` under AddressSanitizer and valgrind, and the examples of
//! `examples/c/`.
//!
//! Without the tools for differentiation or a C compiler nothing can be run: that is a failure. Without valgrind its
//! test prints that and passes, unless `FFGRAD_REQUIRE` names it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// The folder with libffgrad, built together with this test.
fn library_folder() -> PathBuf {
    let own = std::env::current_exe().expect("this test has a path");
    let deps = own.parent().expect("this test is in a folder");
    let folders = [Some(deps), deps.parent()];
    let built = folders.into_iter().flatten().find(|folder| folder.join("libffgrad.so").is_file());
    built.expect("libffgrad.so beside this test").to_owned()
}

fn printed(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Compiles `source` with `flags` and returns the program's path.
fn compile(folder: &Path, source: &Path, flags: &[&str]) -> PathBuf {
    let program = folder.join(source.file_stem().expect("a source has a name"));
    let library = library_folder();
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    cc.args(["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror"]).args(flags);
    cc.arg("-I").arg(root().join("compile-driver/capi/include")).arg(source).arg("-o").arg(&program);
    cc.arg("-L").arg(&library).arg(format!("-Wl,-rpath,{}", library.display())).args(["-lffgrad", "-lm", "-lpthread"]);
    let output = cc.output().expect("a C compiler (gcc)");
    assert!(output.status.success(), "{}", printed(&output));
    program
}

/// What LeakSanitizer prints where its own tracer crashes, after the program's last line: a known defect of its runtime
/// (google/sanitizers 1322). Nothing is known of the program's memory then.
const TRACER_CRASHED: &str = "LeakSanitizer has encountered a fatal error";

/// Runs a command with an empty cache of its own and returns what it printed.
///
/// A run whose leak check crashed is repeated; after three such runs the leak check is left to the test with valgrind.
fn run(command: &mut Command, folder: &Path) -> String {
    for attempt in 0..3 {
        let cache = folder.join(format!("cache{attempt}"));
        let output = command.env("FFGRAD_CACHE_DIR", cache).output().expect("the program starts");
        if !printed(&output).contains(TRACER_CRASHED) {
            return succeeded(command, &output);
        }
        eprintln!("LeakSanitizer's tracer crashed: {command:?} runs again");
    }
    command.env("ASAN_OPTIONS", "detect_leaks=0").env("FFGRAD_CACHE_DIR", folder.join("cache"));
    let output = command.output().expect("the program starts");
    succeeded(command, &output)
}

/// What a command printed that must have succeeded.
fn succeeded(command: &Command, output: &Output) -> String {
    assert!(output.status.success(), "{command:?}: {}\n{}", output.status, printed(output));
    printed(output)
}

fn suite() -> PathBuf {
    root().join("compile-driver/capi/tests/suite.c")
}

const SANITIZED: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

#[test]
fn the_suite_passes_under_address_sanitizer() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = compile(folder.path(), &suite(), &SANITIZED);
    let printed = run(Command::new(program).arg(root().join("tests/cases")), folder.path());
    assert!(printed.contains("the C ABI keeps its promises"), "{printed}");
}

/// A worker that compiles for a processor that valgrind knows: it has no AVX-512, which this machine's code may use.
fn modest_worker(folder: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    let real = std::env::var_os("FFGRAD_WORKER").map(PathBuf::from);
    let real = real.unwrap_or_else(|| library_folder().join("ffgrad-llvm"));
    let path = folder.join("worker");
    let script = "#!/bin/sh\n[ $# -gt 0 ] && exec \"WORKER\" \"$@\"\n\
                  sed -u 's/\"cpu\":\"native\"/\"cpu\":\"x86-64-v2\"/' | \"WORKER\"\n";
    std::fs::write(&path, script.replace("WORKER", &real.to_string_lossy())).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a program");
    Some(path)
}

#[test]
fn the_suite_passes_under_valgrind() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        let required = std::env::var("FFGRAD_REQUIRE").unwrap_or_default();
        assert!(!required.contains("valgrind"), "valgrind is missing (Debian: valgrind)");
        eprintln!("skipped: valgrind is missing (Debian: valgrind)");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = compile(folder.path(), &suite(), &[]);
    let mut valgrind = Command::new("valgrind");
    if let Some(worker) = modest_worker(folder.path()) {
        valgrind.env("FFGRAD_WORKER", worker);
    }
    valgrind.args(["-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"]);
    let printed = run(valgrind.arg(program).arg(root().join("tests/cases")), folder.path());
    assert!(printed.contains("the C ABI keeps its promises"), "{printed}");
}

#[test]
fn the_header_is_valid_cpp() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("header.cpp");
    let text = "#include <ffgrad.h>\nint main() { return ffgrad_abi_version() != FFGRAD_ABI_VERSION; }\n";
    std::fs::write(&source, text).expect("a file");
    let library = library_folder();
    let program = folder.path().join("header");
    let mut cxx = Command::new(std::env::var_os("CXX").unwrap_or_else(|| "c++".into()));
    cxx.args(["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]).arg(&source).arg("-o").arg(&program);
    cxx.arg("-I").arg(root().join("compile-driver/capi/include"));
    cxx.arg("-L").arg(&library).arg(format!("-Wl,-rpath,{}", library.display())).arg("-lffgrad");
    run(&mut cxx, folder.path());
    run(&mut Command::new(program), folder.path());
}

/// Each program of `examples/c/`, and words that it must print.
const EXAMPLES: [(&str, &str); 1] = [("descent.c", "minimum after")];

#[test]
fn every_c_example_runs_under_address_sanitizer() {
    let examples = root().join("examples/c");
    for (name, words) in EXAMPLES {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let program = compile(folder.path(), &examples.join(name), &SANITIZED);
        let printed = run(Command::new(program).arg(examples.join("valley.c")), folder.path());
        assert!(printed.contains(words), "{name}: {printed}");
    }
}

#[test]
fn no_c_example_is_forgotten() {
    // Those that include no ffgrad.h are what the programs differentiate.
    let files = std::fs::read_dir(root().join("examples/c")).expect("examples/c");
    let programs = files
        .flatten()
        .filter(|file| std::fs::read_to_string(file.path()).is_ok_and(|text| text.contains("#include <ffgrad.h>")));
    let mut names: Vec<String> = programs.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    assert_eq!(names, EXAMPLES.map(|(name, _)| name.to_owned()));
}

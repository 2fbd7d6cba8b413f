//! Compiles the guard of derivatives' calls, which needs C's `sigsetjmp` (`src/call/crash_guard.rs`), and exports the functions by which the prover
//! keeps its checks away from files (`src/bin/ffgrad/prove/files.rs`). Tells the program the digest of those of its own sources that decide what is
//! compiled, for keys (`src/build/key/mod.rs`).

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// What writes, rewrites or chooses code: programs in C and LLVM's IR, command lines, plans.
const DECIDING: [&str; 2] = ["../core-ad/src", "src/build"];

fn main() {
    let mut hasher = DefaultHasher::new();
    for folder in DECIDING {
        println!("cargo:rerun-if-changed={folder}");
        for file in sources(Path::new(folder)) {
            file.hash(&mut hasher);
            std::fs::read(&file).unwrap_or_default().hash(&mut hasher);
        }
    }
    println!("cargo:rustc-env=FFGRAD_SOURCES={:016x}", hasher.finish());
    println!("cargo:rerun-if-changed=src/call/crash_guard.c");
    cc::Build::new().file("src/call/crash_guard.c").warnings(true).compile("ffgrad_crash_guard");
    println!("cargo:rerun-if-changed=src/bin/ffgrad/prove.symbols");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        // zig knows no lists: it exports all or nothing.
        println!("cargo:rerun-if-env-changed=FFGRAD_LINKER");
        match std::env::var("FFGRAD_LINKER").as_deref() {
            Ok("zig") => println!("cargo:rustc-link-arg-bin=ffgrad=-rdynamic"),
            _ => println!("cargo:rustc-link-arg-bin=ffgrad=-Wl,--dynamic-list={folder}/src/bin/ffgrad/prove.symbols"),
        }
    }
}

/// The files below a folder, but tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut all: Vec<PathBuf> =
        entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect();
    all.retain(|path| path.file_name().is_some_and(|name| name != "tests.rs"));
    all.sort();
    all
}

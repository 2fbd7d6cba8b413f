//! Compiles the guard of derivatives' calls, which needs C's `sigsetjmp` (`src/call/crash_guard.rs`), and exports the functions by which the prover
//! keeps its checks away from files (`src/bin/ffgrad/prove.rs`).

fn main() {
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

//! Links the worker to `libLLVM.so.22.1`, Debian's or the one in the tool folder.
//!
//! No `llvm-config` and no headers are needed: inkwell's declarations are enough, so the worker
//! builds from what pip alone can install.

use std::path::{Path, PathBuf};

const LIBRARY: &str = "libLLVM.so.22.1";

fn main() {
    println!("cargo:rerun-if-env-changed=FFGRAD_LLVM_LIB_DIR");
    let Some(dir) = library_dir() else {
        panic!(
            "{LIBRARY} was not found. Run `make tools` (or `ffgrad toolchain install`), install \
             the Debian package libllvm22, or set FFGRAD_LLVM_LIB_DIR to its folder."
        );
    };
    println!("cargo:rustc-link-search=native={}", dir.display());
    println!("cargo:rustc-link-arg-bins=-l:{LIBRARY}");
    // libLLVM of the wheel needs a libc++ that lies beside it; it is found at run time.
    println!("cargo:rustc-link-arg-bins=-Wl,--allow-shlib-undefined");
    without_libffi();
}

/// inkwell and llvm-sys ask for libffi, whatever of LLVM is used, and nothing here calls it: an empty linker script of its name
/// spares the machine that builds a development package.
fn without_libffi() {
    let Some(out) = std::env::var_os("OUT_DIR").map(PathBuf::from) else { return };
    let written = std::fs::write(out.join("libffi.so"), "/* Nothing of it is used. */\n");
    if let Err(error) = written {
        panic!("cannot write to {}: {error}", out.display());
    }
    println!("cargo:rustc-link-search=native={}", out.display());
}

fn library_dir() -> Option<PathBuf> {
    let given = std::env::var_os("FFGRAD_LLVM_LIB_DIR").map(PathBuf::from);
    let system = ["/usr/lib/llvm-22/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"];
    given.into_iter().chain(system.map(PathBuf::from)).find(|d| Path::new(d).join(LIBRARY).exists())
}

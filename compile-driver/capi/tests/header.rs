//! Tests that `ffgrad.h` is what cbindgen generates from the sources. `FFGRAD_BLESS=1 cargo test -p ffgrad-capi --test header` writes it.

use std::fs;
use std::path::Path;

#[test]
fn the_header_is_what_the_sources_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_root_or_default(root);
    let sources = ["src/abi.rs", "src/failure.rs", "src/lib.rs", "src/calls.rs"].map(|file| root.join(file));
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in &sources {
        builder = builder.with_src(source);
    }
    let mut made = Vec::new();
    builder.generate().expect("cbindgen reads the sources").write(&mut made);
    let made = String::from_utf8(made).expect("a header in UTF-8");

    let path = root.join("include/ffgrad.h");
    if std::env::var_os("FFGRAD_BLESS").is_some() {
        fs::write(&path, &made).expect("the header can be written");
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == made,
        "include/ffgrad.h is not up to date: run this test with FFGRAD_BLESS=1, and look at the change"
    );
}

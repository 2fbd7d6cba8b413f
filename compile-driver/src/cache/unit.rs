//! The files of a compiled unit, one source of a folder: what they were when they were written.

use crate::cache::{layout, sealed};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The file with the record of a unit.
pub const RECORD: &str = "unit.json";

/// The bitcode of a unit.
pub const BITCODE: &str = "source0.bc";

/// The part of the record that says what the files are.
#[derive(Deserialize)]
struct Files {
    modules: BTreeMap<String, String>,
    digest: String,
}

/// Whether a folder has the record of a unit, and is not as that says.
pub fn is_damaged(folder: &Path) -> bool {
    let record = folder.join(RECORD);
    let is_whole = |files: Files| have(folder, &files.digest, &files.modules);
    record.exists() && !sealed::read_json::<Files>(&record).is_some_and(is_whole)
}

/// Whether the bitcode and the module files in a folder have these digests.
pub fn have(folder: &Path, bitcode: &str, modules: &BTreeMap<String, String>) -> bool {
    let is = |path: &Path, digest: &str| crate::cache::digest_file(path).is_ok_and(|now| now == digest);
    let module = |(name, digest): (&String, &String)| is(&folder.join(layout::MODULES).join(name), digest);
    is(&folder.join(BITCODE), bitcode) && modules.iter().all(module)
}

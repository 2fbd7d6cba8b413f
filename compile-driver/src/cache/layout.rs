//! The folders of artifacts inside an entry, and the check that one is unchanged.

use crate::cache::Cache;
use crate::cache::sealed::read_json;
use core_ad::DerivativeSet;
use core_ad::manifest::{ArtifactRecord, FORMAT};
use core_ad::protocol::Pipeline;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder inside an entry, or a unit, with the module files that flang wrote. It is no artifact.
pub const MODULES: &str = "modules";

/// Whether a folder has an artifact, as far as can be seen without loading it.
pub fn is_there(folder: &Path) -> bool {
    let record = read_json::<ArtifactRecord>(&folder.join("artifact.json"));
    record.is_some_and(|record| folder.join(record.file).is_file())
}

/// Record and file of an artifact that is as it was built. No link counts, nor a file outside the folder.
pub fn whole(folder: &Path) -> Option<(ArtifactRecord, PathBuf)> {
    let is_real =
        |path: &Path, dir: bool| fs::symlink_metadata(path).is_ok_and(|m| if dir { m.is_dir() } else { m.is_file() });
    let record: ArtifactRecord = read_json(&folder.join("artifact.json"))?;
    let path = folder.join(&record.file);
    let inside = Path::new(&record.file).file_name() == Some(std::ffi::OsStr::new(&record.file));
    let as_built = || crate::cache::digest_file(&path).is_ok_and(|digest| digest == record.digest);
    let whole = record.format == FORMAT && inside && is_real(folder, true) && is_real(&path, false) && as_built();
    whole.then_some((record, path))
}

/// The folder of the artifact with the primal alone.
pub fn primal_folder(cache: &Cache, key: &str) -> PathBuf {
    cache.entry(key).join("primal")
}

/// The folder of the artifact with the primal that notes the line of each access of memory.
pub fn lines_folder(cache: &Cache, key: &str) -> PathBuf {
    cache.entry(key).join("lines")
}

/// The name of a folder with derivatives.
pub fn folder_name(wanted: DerivativeSet, pipeline: Pipeline) -> String {
    format!("{}-{}", wanted.name(), pipeline.name())
}

/// The folder of an artifact with derivatives.
pub fn derivative_folder(cache: &Cache, key: &str, wanted: DerivativeSet, pipeline: Pipeline) -> PathBuf {
    cache.entry(key).join(folder_name(wanted, pipeline))
}

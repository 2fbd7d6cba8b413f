//! Cache keys: hashes of everything that a build depends on.
//!
//! The key of a *request* has what is known without running a compiler. The request's record in the cache lists the headers that
//! were read; with their contents they give the key of the *entry*.

use crate::build::enzyme;
use crate::build::frontend::{clang, cuda, inputs};
use crate::build::link::libraries;
use crate::build::mpi;
use crate::build::openmp;
use crate::build::rules::bundled;
use crate::build::runtime;
use crate::cache;
use crate::error::Result;
use crate::options::{self, Spec};
use crate::os::cpu;
use crate::source_text;
use crate::toolchain::Tools;
use core_ad::manifest::{FORMAT, Source, ToolRecord};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Feeds labelled, length-delimited fields to a hash, so that no two sequences of fields look alike.
struct Fields {
    hash: blake3::Hasher,
    /// For the test that compares them with `CACHING.md`.
    #[cfg(test)]
    labels: Vec<String>,
}

/// What a key holds of the program and the machine, beside what was asked for.
#[derive(Clone, Copy)]
struct Here<'a> {
    format: u32,
    cpu: &'a str,
    cuda_header: &'a str,
    environment: &'a str,
}

impl<'a> Here<'a> {
    fn now(environment: &'a str) -> Self {
        Here { format: FORMAT, cpu: cpu::identity(), cuda_header: cuda::HEADER, environment }
    }
}

/// What compilers take from the environment beside folders to search.
fn environment() -> String {
    let set = |name: &&str| Some(format!("{name}={}\0", std::env::var_os(name)?.to_string_lossy()));
    inputs::VARIABLES.iter().filter_map(set).collect()
}

impl Fields {
    fn new(kind: &str, here: Here<'_>) -> Self {
        let mut fields = Fields {
            hash: blake3::Hasher::new(),
            #[cfg(test)]
            labels: Vec::new(),
        };
        fields.add("kind", kind.as_bytes()).add("format", &here.format.to_le_bytes());
        fields
    }

    fn add(&mut self, label: &str, value: &[u8]) -> &mut Self {
        #[cfg(test)]
        self.labels.push(label.to_owned());
        for part in [label.as_bytes(), value] {
            self.hash.update(&(part.len() as u64).to_le_bytes());
            self.hash.update(part);
        }
        self
    }

    fn finish(&self) -> String {
        self.hash.finalize().to_hex().to_string()
    }
}

/// The options that change no code (`threads` does where OpenMP's regions have one): how and when the gradient and the bounds of arrays are checked, how long tools may take, how a batch is dealt out,
/// the launch, which is chosen call by call, a tape, which is a further artifact of the same entry, and the loop around a step.
pub const RUNTIME: [&str; 16] = [
    "verify",
    "bounds",
    "timeout",
    "threads",
    "mode",
    "grid",
    "block",
    "shared",
    "repeat",
    "snapshots",
    "memory",
    "schedule",
    "snapshot_dir",
    "compress",
    "until",
    "progress",
];

/// The other options, in one canonical text.
fn options_text(spec: &Spec) -> Vec<u8> {
    let mut options = serde_json::to_value(&spec.options).unwrap_or_default();
    if let Some(members) = options.as_object_mut() {
        let one_thread = openmp::is_for_one(&spec.options);
        members.retain(|name, _| !RUNTIME.contains(&name.as_str()) || one_thread && name == "threads");
    }
    serde_json::to_vec(&options).unwrap_or_default()
}

fn common(fields: &mut Fields, spec: &Spec, here: Here<'_>) {
    let native = spec.options.cpu == core_ad::cpu::NATIVE;
    fields
        .add("function", spec.function.as_bytes())
        .add("signature", spec.signature.as_deref().unwrap_or("\0none").as_bytes())
        .add("options", &options_text(spec))
        .add("cpu", if native { here.cpu } else { &spec.options.cpu }.as_bytes())
        .add("environment", here.environment.as_bytes());
    if options::is_kernel(spec) {
        fields.add("cuda-header", here.cuda_header.as_bytes());
    }
}

/// Digest of a request: sources with their folders, function, signature, options, CPU.
///
/// # Errors
///
/// Where a source cannot be read.
pub fn request(spec: &Spec) -> Result<String> {
    let environment = environment();
    let here = Here::now(&environment);
    let mut fields = Fields::new("request", here);
    for source in &spec.sources {
        let absolute = std::path::absolute(source).map_err(cache::io("find", source))?;
        fields.add("path", absolute.as_os_str().as_encoded_bytes());
        let content = std::fs::read(source).map_err(|e| source_text::unreadable(spec, source, &e))?;
        fields.add("content", blake3::hash(&content).to_hex().as_bytes());
    }
    for variable in ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH"] {
        fields.add(variable, std::env::var_os(variable).unwrap_or_default().as_encoded_bytes());
    }
    if spec.options.are_relative() {
        let folder = std::env::current_dir().unwrap_or_default();
        fields.add("folder", folder.as_os_str().as_encoded_bytes());
    }
    // Another header of the same name may be the nearest by now.
    for (source, folder) in spec.options.reach.iter().flat_map(|reach| &reach.folders) {
        fields.add("reach", format!("{source} {folder:?}").as_bytes());
    }
    common(&mut fields, spec, here);
    Ok(fields.finish())
}

/// Key of an entry: the content of everything that was read, by its place as seen from the sources.
pub fn entry(spec: &Spec, sources: &[Source], tools: &[ToolRecord]) -> String {
    fields_of(spec, sources, tools, Here::now(&environment())).finish()
}

fn fields_of(spec: &Spec, sources: &[Source], tools: &[ToolRecord], here: Here<'_>) -> Fields {
    let mut fields = Fields::new("entry", here);
    let given: Vec<PathBuf> =
        spec.sources.iter().map(|s| std::path::absolute(s).unwrap_or_else(|_| s.clone())).collect();
    let mut files: Vec<(String, &str)> =
        sources.iter().map(|s| (seen_from(&given, &s.path), s.digest.as_str())).collect();
    files.sort_unstable();
    for (place, digest) in files {
        fields.add("source", format!("{place}\0{digest}").as_bytes());
    }
    for given in &given {
        let own = sources.iter().find(|s| Path::new(&s.path) == given);
        fields.add("order", own.map_or("", |s| s.digest.as_str()).as_bytes());
    }
    for tool in tools {
        fields.add("tools", format!("{}\0{}", tool.name, tool.version).as_bytes());
    }
    common(&mut fields, spec, here);
    fields
}

/// The place of a file below the folder of one of the sources, so that a folder of sources can be moved, and else as it is.
/// Without places two headers that exchange their content would look the same, and so would the same text as C and as C++.
fn seen_from(given: &[PathBuf], path: &str) -> String {
    let below = |(i, source): (usize, &PathBuf)| {
        let below = Path::new(path).strip_prefix(source.parent()?).ok()?;
        Some(format!("{i}:{}", below.display()))
    };
    given.iter().enumerate().find_map(below).unwrap_or_else(|| path.to_owned())
}

/// Versions and identities of the tools and of what of ffgrad itself takes part in derivatives, as manifests and keys hold them.
pub fn tool_records(tools: &Tools) -> Vec<ToolRecord> {
    let record = |(name, version): (&str, String)| ToolRecord { name: name.to_owned(), version };
    let mut all: Vec<ToolRecord> = tools.identities().into_iter().map(record).collect();
    // Keys hash them in order; Fortran's compiler comes last.
    let ours = [("rules", bundled::digest()), ("driver", driver())].map(record);
    let last = all.len() - usize::from(tools.fortran.is_some());
    all.splice(last..last, ours);
    all
}

/// Digest of the driver's own sources that decide what is compiled: a program that was built of others never reads what they have made, though
/// its version is the same.
pub const SOURCES: &str = env!("FFGRAD_SOURCES");

/// The parts of ffgrad itself that affect derivatives beside the worker and the rules: its version and sources, what it asks of Enzyme, and the
/// runtime that it links.
fn driver() -> String {
    driver_of(SOURCES)
}

fn driver_of(sources: &str) -> String {
    let mut hash = blake3::Hasher::new();
    hash.update(sources.as_bytes());
    hash.update(core_ad::implicit::VERSION.as_bytes());
    hash.update(core_ad::adapter::VERSION.as_bytes()).update(core_ad::adapter::SYMBOL.as_bytes());
    hash.update(enzyme::defaults().as_bytes()).update(clang::NO_VECTORS.concat().as_bytes());
    for text in runtime::SOURCES.iter().chain(&mpi::SOURCES) {
        hash.update(text.as_bytes()).update(&[0]);
    }
    format!("{} {}", env!("CARGO_PKG_VERSION"), &hash.finalize().to_hex()[..12])
}

/// Digests of the files a compilation read.
///
/// # Errors
///
/// Where one cannot be read.
pub fn sources(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let source = |p: &PathBuf| Ok(Source { path: p.display().to_string(), digest: cache::digest_file(p)? });
    paths.iter().map(source).collect()
}

/// Stands for the time of compiling where it is part of the code: no other compilation has the same, and no file is there to hold a
/// record of a request.
pub fn clock() -> Source {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Source { path: "the time of compiling".to_owned(), digest: now.as_nanos().to_string() }
}

/// Where the linker would find a library before those that were read.
pub fn libraries_before(spec: &Spec, sources: &[Source]) -> Vec<PathBuf> {
    let mut places = libraries::searched_before(spec, sources);
    // What is there already was rejected for a reason of the linker's own.
    places.retain(|place| !place.exists());
    places
}

#[cfg(test)]
mod tests;

//! Keys: what makes two builds the same.
//!
//! A *request* is what can be known without running a compiler; its record in the cache lists the
//! headers that were read, and so leads to the *entry*, whose key is all content.

use crate::cache::{self, Cache};
use crate::cpu;
use crate::cuda;
use crate::error::Result;
use crate::options::Spec;
use crate::sources;
use core_ad::manifest::{FORMAT, Source, ToolRecord};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Feeds labelled, length-delimited fields to a hash, so that no two sequences of fields look alike.
struct Fields(blake3::Hasher);

impl Fields {
    fn new(kind: &str) -> Self {
        let mut fields = Fields(blake3::Hasher::new());
        fields.add("kind", kind.as_bytes()).add("format", &FORMAT.to_le_bytes());
        fields
    }

    fn add(&mut self, label: &str, value: &[u8]) -> &mut Self {
        for part in [label.as_bytes(), value] {
            self.0.update(&(part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
        self
    }

    fn finish(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}

/// The options that change no code: how and when the gradient is checked, how long tools may take, how a batch is dealt out,
/// the launch, which is chosen call by call, and a tape, which is a further artifact of the same entry.
pub const RUNTIME: [&str; 7] = ["verify", "timeout", "threads", "mode", "grid", "block", "shared"];

/// The other options, in one canonical text.
fn options_text(spec: &Spec) -> Vec<u8> {
    let mut options = serde_json::to_value(&spec.options).unwrap_or_default();
    if let Some(members) = options.as_object_mut() {
        members.retain(|name, _| !RUNTIME.contains(&name.as_str()));
    }
    serde_json::to_vec(&options).unwrap_or_default()
}

fn common(fields: &mut Fields, spec: &Spec) {
    fields
        .add("function", spec.function.as_bytes())
        .add("signature", spec.signature.as_deref().unwrap_or("\0none").as_bytes())
        .add("options", &options_text(spec))
        .add("cpu", cpu::target(&spec.options.cpu).as_bytes());
    if cuda::is_kernel(spec) {
        fields.add("cuda-header", cuda::frontend::HEADER.as_bytes());
    }
}

/// Digest of a request: sources with their folders, function, signature, options, CPU.
///
/// # Errors
///
/// Where a source cannot be read.
pub fn request(spec: &Spec) -> Result<String> {
    let mut fields = Fields::new("request");
    for source in &spec.sources {
        let absolute = std::path::absolute(source).map_err(cache::io("find", source))?;
        fields.add("path", absolute.as_os_str().as_encoded_bytes());
        let content = std::fs::read(source).map_err(|e| sources::unreadable(spec, source, &e))?;
        fields.add("content", blake3::hash(&content).to_hex().as_bytes());
    }
    for variable in ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"] {
        fields.add(variable, std::env::var_os(variable).unwrap_or_default().as_encoded_bytes());
    }
    common(&mut fields, spec);
    Ok(fields.finish())
}

/// Key of an entry: the content of everything that was read, whatever its place.
pub fn entry(spec: &Spec, sources: &[Source], tools: &[ToolRecord]) -> String {
    let mut fields = Fields::new("entry");
    let mut digests: Vec<&str> = sources.iter().map(|s| s.digest.as_str()).collect();
    digests.sort_unstable();
    for digest in digests {
        fields.add("source", digest.as_bytes());
    }
    for given in &spec.sources {
        let absolute = std::path::absolute(given).unwrap_or_else(|_| given.clone());
        let own = sources.iter().find(|s| Path::new(&s.path) == absolute);
        fields.add("order", own.map_or("", |s| s.digest.as_str()).as_bytes());
    }
    for tool in tools {
        fields.add(&tool.name, tool.version.as_bytes());
    }
    common(&mut fields, spec);
    fields.finish()
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

/// What earlier builds of one request found.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// Newest first.
    pub found: Vec<Found>,
}

/// One outcome of a request.
#[derive(Debug, Serialize, Deserialize)]
pub struct Found {
    /// Files read, with their digests at the time.
    pub sources: Vec<Source>,
    /// Places that the compilers searched before they found a header elsewhere: a file there would be read instead.
    #[serde(default)]
    pub absent: Vec<PathBuf>,
    /// The tools used.
    pub tools: Vec<ToolRecord>,
    /// The entry.
    pub key: String,
}

/// Where a file would hide one of those that were read: in the folder of a source, or in a folder for `#include` that is
/// searched earlier.
pub fn searched_before(spec: &Spec, sources: &[Source]) -> Vec<PathBuf> {
    let absolute = |path: &Path| std::path::absolute(path).ok();
    let own = spec.sources.iter().filter_map(|s| Some(absolute(s)?.parent()?.to_owned()));
    let given = spec.options.include_dirs.iter().filter_map(|d| absolute(d));
    let flags = spec.options.flags.iter().filter_map(|f| absolute(Path::new(f.strip_prefix("-I")?)));
    let folders: Vec<PathBuf> = own.chain(given).chain(flags).collect();
    let mut places: Vec<PathBuf> = Vec::new();
    for source in sources {
        for (i, folder) in folders.iter().enumerate() {
            if let Ok(below) = Path::new(&source.path).strip_prefix(folder) {
                places.extend(folders[..i].iter().map(|earlier| earlier.join(below)));
            }
        }
    }
    places.sort();
    places.dedup();
    // What is there already was passed over for a reason of the compiler's own.
    places.retain(|place| !place.exists());
    places
}

/// Outcomes kept per request: a header edited back and forth finds its old build again.
const KEPT: usize = 8;

impl Record {
    /// The key that still holds, if there is one: every file is as it was, and the tools are the same or
    /// no longer there.
    pub fn current(cache: &Cache, request: &str, tools: Option<&[ToolRecord]>) -> Option<String> {
        let record: Record = cache::read_json(&cache.request(request))?;
        let same_tools = |f: &&Found| tools.is_none_or(|t| t == f.tools.as_slice());
        let unchanged = |s: &Source| cache::digest_file(Path::new(&s.path)).is_ok_and(|d| d == s.digest);
        let holds = |f: &&Found| f.sources.iter().all(unchanged) && !f.absent.iter().any(|place| place.exists());
        record.found.iter().filter(same_tools).find(holds).map(|f| f.key.clone())
    }

    /// Adds an outcome.
    ///
    /// # Errors
    ///
    /// Where the cache cannot be written.
    pub fn add(cache: &Cache, request: &str, found: Found) -> Result<()> {
        let path = cache.request(request);
        let mut record: Record = cache::read_json(&path).unwrap_or_default();
        record.found.retain(|f| f.key != found.key);
        record.found.insert(0, found);
        record.found.truncate(KEPT);
        cache::write_json(&path, &record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Mode, Options, Verify};
    use core_ad::protocol::{Improvement, Math, Rung};

    fn spec() -> Spec {
        Spec { sources: vec!["/s/a.c".into()], function: "f".into(), signature: None, options: Options::default() }
    }

    fn source(path: &str, digest: &str) -> Source {
        Source { path: path.into(), digest: digest.into() }
    }

    fn key_of(spec: &Spec) -> String {
        let tools = [ToolRecord { name: "clang".into(), version: "22".into() }];
        entry(spec, &[source("/s/a.c", "aa"), source("/s/a.h", "bb")], &tools)
    }

    fn key_with(change: impl FnOnce(&mut Spec)) -> String {
        let mut changed = spec();
        change(&mut changed);
        key_of(&changed)
    }

    #[test]
    fn entry_key_function_differs() {
        assert_ne!(key_of(&spec()), key_with(|s| s.function = "g".into()));
    }

    #[test]
    fn entry_key_signature_differs_and_an_empty_one_is_not_none() {
        assert_ne!(key_of(&spec()), key_with(|s| s.signature = Some("x[n] -> y[n]".into())));
        assert_ne!(key_of(&spec()), key_with(|s| s.signature = Some(String::new())));
    }

    #[test]
    fn entry_key_differs_by_every_option_that_changes_code() {
        type Change = fn(&mut Options);
        let changes: [(&str, Change); 19] = [
            ("flags", |o| o.flags = vec!["-std=c99".into()]),
            ("include_dirs", |o| o.include_dirs = vec!["inc".into()]),
            ("defines", |o| o.defines = [("A".to_owned(), Some("1".to_owned()))].into()),
            ("libraries", |o| o.libraries = vec!["m".into()]),
            ("sizes", |o| o.sizes = [("k".to_owned(), 3)].into()),
            ("math", |o| o.math = Math::Fast),
            ("inactive", |o| o.inactive = vec!["log".into()]),
            ("derivatives", |o| o.derivatives = [("f".to_owned(), vec!["f_fwd".into(), "f_rev".into()])].into()),
            ("ignored_derivatives", |o| o.ignored_derivatives = vec!["f".into()]),
            ("loose_types", |o| o.loose_types = true),
            ("arena", |o| o.arena = false),
            ("engine_options", |o| o.engine_options = vec!["enzyme-max-cache=1".into()]),
            ("tune", |o| o.tune = true),
            ("specialize", |o| o.specialize = true),
            ("constants", |o| o.constants = [("n".to_owned(), 3)].into()),
            ("without", |o| o.without = vec![Improvement::Stencil]),
            ("pipeline", |o| o.pipeline = Some(Rung::O2)),
            ("mpi", |o| o.mpi = true),
            ("engine", |o| o.engine = "plugin".into()),
        ];
        for (name, change) in changes {
            assert_ne!(key_of(&spec()), key_with(|s| change(&mut s.options)), "{name}");
        }
    }

    #[test]
    fn entry_key_is_the_same_for_options_that_change_no_code() {
        assert_eq!(key_of(&spec()), key_with(|s| s.options.verify = Verify::Off));
        assert_eq!(key_of(&spec()), key_with(|s| s.options.timeout = 1));
        assert_eq!(key_of(&spec()), key_with(|s| s.options.threads = Some(4)));
        assert_eq!(key_of(&spec()), key_with(|s| s.options.mode = Mode::Tape));
    }

    #[test]
    fn entry_key_header_content_differs_and_its_place_does_not() {
        let of = |sources: &[Source]| entry(&spec(), sources, &[]);
        let here = of(&[source("/s/a.c", "aa"), source("/s/a.h", "bb")]);
        assert_ne!(here, of(&[source("/s/a.c", "aa"), source("/s/a.h", "cc")]));
        assert_eq!(here, of(&[source("/s/a.c", "aa"), source("/t/a.h", "bb")]));
    }

    #[test]
    fn a_header_that_would_be_found_earlier_is_looked_for() {
        let mut spec = spec();
        spec.options.include_dirs = vec!["/i/first".into(), "/i/second".into()];
        let sources = [source("/s/a.c", "aa"), source("/i/second/sub/a.h", "bb"), source("/usr/include/math.h", "cc")];
        let places = searched_before(&spec, &sources);
        assert_eq!(places, [PathBuf::from("/i/first/sub/a.h"), PathBuf::from("/s/sub/a.h")]);
    }

    #[test]
    fn entry_key_tools_differ() {
        let of = |version: &str| entry(&spec(), &[], &[ToolRecord { name: "clang".into(), version: version.into() }]);
        assert_ne!(of("22.1.8"), of("22.1.9"));
    }

    #[test]
    fn entry_key_order_of_sources_differs() {
        let mut two = spec();
        two.sources = vec!["/s/a.c".into(), "/s/b.c".into()];
        let mut reversed = two.clone();
        reversed.sources.reverse();
        let sources = [source("/s/a.c", "aa"), source("/s/b.c", "bb")];
        assert_ne!(entry(&two, &sources, &[]), entry(&reversed, &sources, &[]));
    }

    #[test]
    fn fields_cannot_run_into_each_other() {
        let of = |a: &str, b: &str| Fields::new("t").add("l", a.as_bytes()).add("l", b.as_bytes()).finish();
        assert_ne!(of("ab", "c"), of("a", "bc"));
    }
}

//! Records of requests: which files an earlier build of the same request read, and the key that they gave.

use crate::cache::Cache;
use crate::cache::files;
use crate::cache::sealed::{read_json, write_json};
use crate::error::Result;
use core_ad::manifest::{Source, ToolRecord};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

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
    /// Places that were searched before a header or a library was found elsewhere: a file there would be read instead.
    #[serde(default)]
    pub absent: Vec<PathBuf>,
    /// The tools used.
    pub tools: Vec<ToolRecord>,
    /// The entry.
    pub key: String,
}

/// Outcomes kept per request: a header edited back and forth finds its old build again.
const KEPT: usize = 8;

impl Record {
    /// The key that still holds, if there is one: every file is as it was, and the tools are the same or
    /// no longer there.
    pub fn current(cache: &Cache, request: &str, tools: Option<&[ToolRecord]>) -> Option<String> {
        let record: Record = read_json(&cache.request(request))?;
        let same_tools = |f: &&Found| tools.is_none_or(|t| t == f.tools.as_slice());
        let holds = |f: &&Found| f.sources.iter().all(files::unchanged) && !f.absent.iter().any(|place| place.exists());
        record.found.iter().filter(same_tools).find(holds).map(|f| f.key.clone())
    }

    /// Adds an outcome.
    ///
    /// # Errors
    ///
    /// Where the cache cannot be written.
    pub fn add(cache: &Cache, request: &str, found: Found) -> Result<()> {
        let path = cache.request(request);
        let mut record: Record = read_json(&path).unwrap_or_default();
        record.found.retain(|f| f.key != found.key);
        record.found.insert(0, found);
        record.found.truncate(KEPT);
        write_json(&path, &record)
    }
}

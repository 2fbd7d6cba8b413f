//! The context of a build: the request, the tools, the cache.

use crate::cache::Cache;
use crate::options::Spec;
use crate::toolchain::Tools;

/// What one build of an artifact works with.
pub struct Context<'a> {
    /// The user's wishes.
    pub spec: &'a Spec,
    /// The tools.
    pub tools: &'a Tools,
    /// The store.
    pub cache: &'a Cache,
}

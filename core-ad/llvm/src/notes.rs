//! What is noted while a derivative is prepared, for its manifest.

use core_ad::manifest::Paths;

/// Notes on a derivative.
#[derive(Clone, Default)]
pub struct Notes {
    /// How it was built.
    pub remarks: Vec<String>,
    /// Which functions are too large for which passes.
    pub skipped: Vec<String>,
    /// What decides its paths.
    pub paths: Option<Paths>,
    /// Whether the function tests numbers for equality.
    pub tests_equality: bool,
    /// What starts threads in code that was left out.
    pub threads: Option<String>,
}

impl Notes {
    /// Adds what decides the paths of one module; whether values do.
    pub fn add_paths(&mut self, paths: Paths) -> bool {
        let by_values = paths != Paths::Sizes;
        self.paths = Some(self.paths.take().unwrap_or(Paths::Sizes).and(paths));
        by_values
    }
}

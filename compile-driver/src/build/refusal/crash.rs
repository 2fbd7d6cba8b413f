//! Crashes of the worker: locates the user's line, and keeps a folder with the worker's input and output.
//!
//! A worker that crashes prints the function that it was processing, and so does one that exceeds its time limit. Another worker, which does
//! nothing with the code but read it, knows the lines of that function.

use crate::build::context::Context;
use crate::build::refusal::locate::{self, Places};
use crate::build::worker::{Failure, Worker};
use crate::cache::Staging;
use crate::error::Error;
use crate::source_text;
use core_ad::diagnostics::worker::{has_failed, last_function, last_step};
use core_ad::diagnostics::{Diagnosis, Location};
use core_ad::names;
use core_ad::protocol::{Request, Response};
use std::fs;
use std::path::{Path, PathBuf};

/// The build in which it happened.
pub struct Scene<'a> {
    /// What the build works with.
    pub context: &'a Context<'a>,
    /// Bitcode of the cache's that the worker had loaded, where it is not in the build's own folder.
    pub modules: Vec<PathBuf>,
    /// Where the user's function is defined, where that is known by then.
    pub home: Option<Location>,
    /// Name of the folder that is kept.
    pub name: String,
}

impl Scene<'_> {
    /// Completes the error of a worker that failed, for which the build's folder is kept; any other stays as it is.
    pub fn complete(&self, worker: &Worker, staging: &mut Option<Staging>, error: Error) -> Error {
        match (error, worker.failure()) {
            (Error::Differentiation(mut diagnosis), Some(failure)) if has_failed(&diagnosis) => {
                if let Some(staging) = staging.take() {
                    self.locate(failure, staging.path(), &mut diagnosis);
                    diagnosis.kept = Some(self.keep(staging, failure));
                }
                Error::Differentiation(diagnosis)
            }
            (other, _) => other,
        }
    }

    fn locate(&self, failure: &Failure, folder: &Path, diagnosis: &mut Diagnosis) {
        let symbol = last_function(&failure.words);
        let modules = self.places(folder);
        let inside = |name: &str| modules.iter().find_map(|places| Some((places, places.inside(name)?)));
        let named = symbol.as_deref().and_then(|s| inside(s).or_else(|| inside(locate::of_users(s))));
        if let Some((places, place)) = named {
            places.describe(place, diagnosis);
        }
        if diagnosis.location.is_none() {
            diagnosis.location = self.home.clone().map(source_text::with_text);
        }
        if diagnosis.location.is_none()
            && let Some((places, place)) = modules.iter().find_map(|m| Some((m, m.of_function(&diagnosis.function)?)))
        {
            places.describe(place, diagnosis);
        }
        // A wrapper of ours has the user's function in it.
        let users = |symbol: &str| match symbol.starts_with("ffgrad") {
            true => diagnosis.function.clone(),
            false => names::callee(locate::of_users(symbol)),
        };
        let at = named.and(symbol.as_deref()).map(|symbol| format!("at `{}`", users(symbol)));
        let step = last_step(&failure.words).map(|step| format!("in {step}"));
        let place: Vec<String> = at.into_iter().chain(step).collect();
        if !place.is_empty() {
            diagnosis.found_by = Some(format!("the worker was {} {}", place.join(", "), failure.when));
        }
    }

    /// The lines of the modules. A worker of its own reads them and does nothing else with them.
    fn places(&self, folder: &Path) -> Vec<Places> {
        let Context { spec, tools, .. } = self.context;
        let timeout = spec.options.time_limit();
        let Ok(mut worker) = Worker::start(tools, &spec.function, timeout) else { return Vec::new() };
        let listed = |input| match worker.request(&Request::Places { input }) {
            Ok(Response::Places { files, places }) => Some(Places::of(files, places, spec)),
            _ => None,
        };
        self.inputs(folder).into_iter().filter_map(listed).collect()
    }

    /// The modules in which a function may stand, those nearest to the user's source first.
    fn inputs(&self, folder: &Path) -> Vec<PathBuf> {
        let staged = (0..).map(|i| folder.join(format!("source{i}.bc"))).take_while(|path| path.exists());
        let prepared = ["before.ll", "after.ll"].map(|name| folder.join(name)).into_iter().filter(|path| path.exists());
        self.modules.iter().cloned().chain(staged).chain(prepared).collect()
    }

    /// Keeps the build's folder, with the worker's input and words. What cannot be written is missing there.
    fn keep(&self, staging: Staging, failure: &Failure) -> String {
        for module in &self.modules {
            if let Some(name) = module.file_name() {
                let _ = fs::copy(module, staging.path().join(name));
            }
        }
        let _ = fs::write(staging.path().join("worker.log"), format!("{}\n{}", failure.request, failure.printed));
        staging.keep_as(&self.name).display().to_string()
    }
}

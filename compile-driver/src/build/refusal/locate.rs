//! Locates a refusal of Enzyme in the user's source.
//!
//! Enzyme names the innermost line, which may be in a library's header, or none when it crashes. The worker knows the
//! lines that lead to each instruction. A crash is located by leaving out: half of the instructions on which Enzyme is known to crash,
//! then half of those, until one is left without which Enzyme does not crash.

use crate::build::enzyme::{self, CRASH, Engine, Job, TIMED_OUT};
use crate::build::worker::Worker;
use crate::error::Error;
use crate::options::Spec;
use crate::source_text;
use core_ad::diagnostics::{self, Diagnosis, Location};
use core_ad::names::{self, Lookup};
use core_ad::protocol::{Place, Request, Response};
use core_ad::source_files;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest that a search may take: the user is waiting for an error.
const PATIENCE: Duration = Duration::from_secs(10);

/// Callers that a message shows.
const MOST_CALLERS: usize = 4;

/// A module that Enzyme refused.
pub struct Refused<'a> {
    /// What was asked for.
    pub spec: &'a Spec,
    /// Enzyme.
    pub engine: &'a dyn Engine,
    /// What Enzyme was given.
    pub job: &'a Job<'a>,
    /// A worker, for the module's places.
    pub worker: &'a mut Worker,
    /// Where the user's function is defined.
    pub home: Location,
}

impl Refused<'_> {
    /// Completes a diagnosis with the user's line and the calls that lead there. What cannot be found out stays as it was.
    pub fn locate(&mut self, diagnosis: &mut Diagnosis) {
        let begin = Instant::now();
        let request = Request::Places { input: self.job.input.to_owned() };
        let Ok(Response::Places { files, places }) = self.worker.request(&request) else { return };
        let places = Places::of(files, places, self.spec);
        match diagnosis.location.clone() {
            Some(at) => {
                if let Some(place) = places.at(&at) {
                    places.describe(place, diagnosis);
                }
            }
            None => {
                if let Some(place) = self.search(&places.places, diagnosis, begin) {
                    places.describe(place, diagnosis);
                    let what = match place.callee.as_deref() {
                        Some("asm") => "inline assembly there".to_owned(),
                        Some(callee) => format!("the call of `{}` there", names::callee(callee)),
                        None => "that line".to_owned(),
                    };
                    diagnosis.found_by = Some(format!("found by bisection: without {what} Enzyme does not fail"));
                    if place.callee.as_deref() == Some("realloc") {
                        diagnostics::enzyme::is_about(diagnosis, "realloc");
                    }
                } else if diagnosis.code == CRASH {
                    self.name_function(&places, diagnosis, begin);
                }
            }
        }
    }

    /// The function that Enzyme was at when it crashed: the last one that it printed.
    fn name_function(&self, places: &Places, diagnosis: &mut Diagnosis, begin: Instant) {
        let left = self.time_left(begin);
        let printed = left.and_then(|left| self.last_processed(left));
        let inside = printed.as_deref().and_then(|name| places.inside(name));
        let name = match (inside, printed) {
            (Some(place), Some(name)) if !name.starts_with("ffgrad") => {
                places.describe(place, diagnosis);
                names::callee(&name)
            }
            _ => {
                diagnosis.location = Some(source_text::with_text(self.home.clone()));
                self.spec.function.clone()
            }
        };
        // A search that its time ended shows nothing.
        let how = left.map_or("", |_| "; no single call there makes the difference, as bisection shows");
        diagnosis.found_by = Some(format!("Enzyme was processing `{name}` when it crashed{how}"));
    }

    /// The last function that Enzyme prints in so much time.
    fn last_processed(&self, left: Duration) -> Option<String> {
        let options = [self.job.options, &["enzyme-print".to_owned()]].concat();
        let job = Job { options: &options, timeout: left, ..*self.job };
        // That it fails is known; what it printed until then is in its log.
        let _ = self.engine.differentiate(&job);
        last_printed(&std::fs::read_to_string(enzyme::log_of(&job)).ok()?)
    }

    /// How long a run of Enzyme may still take; none where the user has waited long enough.
    fn time_left(&self, begin: Instant) -> Option<Duration> {
        let left = PATIENCE.min(self.job.timeout).saturating_sub(begin.elapsed());
        (left >= Duration::from_secs(1)).then_some(left)
    }

    /// The instruction without which Enzyme does not fail as it did.
    fn search<'p>(&mut self, places: &'p [Place], diagnosis: &Diagnosis, begin: Instant) -> Option<&'p Place> {
        let mut trial = Trial {
            begin,
            code: diagnosis.code.clone(),
            output: self.job.output.with_file_name("probe.out.ll"),
            input: self.job.input.with_file_name("probe.ll"),
        };
        let candidates: Vec<usize> = (0..places.len()).filter(|&i| places[i].removable).collect();
        let found = bisect(&candidates, |left_out| trial.fails(self, left_out));
        for probe in [&trial.input, &trial.output] {
            // One that was never written is as good as removed.
            let _ = std::fs::remove_file(probe);
        }
        found.map(|i| &places[i])
    }
}

/// Runs of Enzyme on variants of a module.
struct Trial {
    begin: Instant,
    /// Enzyme's first message.
    code: String,
    input: PathBuf,
    output: PathBuf,
}

impl Trial {
    /// Whether Enzyme still fails as it did, without some instructions; `None` where that is unknown.
    fn fails(&mut self, refused: &mut Refused<'_>, left_out: &[usize]) -> Option<bool> {
        let timeout = refused.time_left(self.begin)?;
        let request = Request::Without {
            input: refused.job.input.to_owned(),
            places: left_out.to_vec(),
            output: self.input.clone(),
        };
        refused.worker.request(&request).ok()?;
        let job = Job { input: &self.input, output: &self.output, timeout, ..*refused.job };
        match refused.engine.differentiate(&job) {
            Ok(_) => Some(false),
            // Too little time was left to tell.
            Err(Error::Differentiation(d)) if d.code == TIMED_OUT && self.code != TIMED_OUT => None,
            Err(Error::Differentiation(d)) => Some(d.code == self.code && d.location.is_none()),
            Err(_) => None,
        }
    }
}

/// The name of the last function whose code stands in a log, as the user's module has it.
fn last_printed(log: &str) -> Option<String> {
    let line = log.lines().rfind(|l| l.starts_with("define "))?;
    let (_, rest) = line.split_once('@')?;
    Some(of_users(rest.split('(').next()?.trim_matches('"')).to_owned())
}

/// The name of a function of Enzyme's, as the user's module has it.
pub fn of_users(name: &str) -> &str {
    let own = ["preprocess_", "augmented_", "fwddiffe", "diffe"];
    own.iter().fold(name, |name, prefix| name.strip_prefix(prefix).unwrap_or(name))
}

/// The one of `all` that must be left out so that `fails` is not true. `None` where leaving all out does not help, or where
/// that is unknown.
fn bisect(all: &[usize], mut fails: impl FnMut(&[usize]) -> Option<bool>) -> Option<usize> {
    if all.is_empty() || fails(all)? {
        return None;
    }
    // Left out in every run: with several culprits, all but the one that is looked for.
    let mut without: Vec<usize> = Vec::new();
    let mut suspects = all;
    while suspects.len() > 1 {
        let (first, second) = suspects.split_at(suspects.len() / 2);
        let trial = |half: &[usize]| [&without, half].concat();
        if !fails(&trial(first))? {
            suspects = first;
        } else {
            if fails(&trial(second))? {
                without.extend(first);
            }
            suspects = second;
        }
    }
    suspects.first().copied()
}

/// The places of a module, and what of its files is the user's.
pub struct Places {
    files: Vec<String>,
    places: Vec<Place>,
    own: Vec<PathBuf>,
}

impl Places {
    /// What a worker has listed.
    pub fn of(files: Vec<String>, places: Vec<Place>, spec: &Spec) -> Self {
        Places { files, places, own: own_folders(spec) }
    }

    /// The first place in a function.
    pub fn inside(&self, function: &str) -> Option<&Place> {
        self.places.iter().find(|p| p.function == function && !p.lines.is_empty())
    }

    /// The first place in the function that a user names.
    pub fn of_function(&self, name: &str) -> Option<&Place> {
        let mut functions: Vec<String> = self.places.iter().map(|p| p.function.clone()).collect();
        functions.dedup();
        match names::find(name, &functions) {
            Lookup::Found(symbol) => self.inside(symbol),
            _ => None,
        }
    }

    /// The first place whose innermost line is the one that Enzyme names.
    fn at(&self, wanted: &Location) -> Option<&Place> {
        let name = |file: &str| file.rsplit('/').next().unwrap_or(file).to_owned();
        let wanted_name = name(&wanted.file);
        let matches = |place: &&Place, exactly: bool| {
            place.lines.first().is_some_and(|&(file, line, column)| {
                line == wanted.line && (!exactly || column == wanted.column) && name(&self.files[file]) == wanted_name
            })
        };
        let by = |exactly| self.places.iter().find(|p| matches(p, exactly));
        by(true).or_else(|| by(false))
    }

    /// Names the innermost line that is the user's, and those that lead there.
    pub fn describe(&self, place: &Place, diagnosis: &mut Diagnosis) {
        let line = |&(file, line, column): &(usize, u32, u32)| {
            source_text::with_text(Location { file: self.files[file].clone(), line, column, text: None })
        };
        let is_own = |&(file, ..): &(usize, u32, u32)| is_own(Path::new(&self.files[file]), &self.own);
        let Some(at) = place.lines.iter().position(is_own) else {
            diagnosis.location = place.lines.last().map(line).or(diagnosis.location.take());
            return;
        };
        let innermost = line(&place.lines[0]);
        diagnosis.location = Some(line(&place.lines[at]));
        if at > 0 {
            diagnosis.inside = Some(innermost);
        }
        let mut callers: Vec<Location> = place.lines[at + 1..].iter().filter(|l| is_own(l)).map(line).collect();
        callers.dedup();
        // The outermost call is the one that a user knows best.
        if callers.len() > MOST_CALLERS {
            callers.drain(MOST_CALLERS - 1..callers.len() - 1);
        }
        diagnosis.callers = callers;
    }
}

/// The folders of the user's own files.
fn own_folders(spec: &Spec) -> Vec<PathBuf> {
    let folder = |source: &PathBuf| Some(std::path::absolute(source).ok()?.parent()?.to_owned());
    spec.sources.iter().filter_map(folder).collect()
}

/// Whether a file is the user's: beside the sources or below, or in no folder that libraries have.
fn is_own(file: &Path, own: &[PathBuf]) -> bool {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    own.iter().any(|folder| file.starts_with(folder)) || !source_files::is_of_library(&file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_culprit_is_found_in_logarithmic_time() {
        let all: Vec<usize> = (0..1000).collect();
        for culprit in [0, 1, 499, 500, 999] {
            let mut runs = 0;
            let found = bisect(&all, |left_out| {
                runs += 1;
                Some(!left_out.contains(&culprit))
            });
            assert_eq!(found, Some(culprit));
            assert!(runs <= 22, "{runs}");
        }
    }

    #[test]
    fn of_several_culprits_one_is_found() {
        let all: Vec<usize> = (0..64).collect();
        let culprits = [3, 40, 41];
        let found = bisect(&all, |left_out| Some(!culprits.iter().all(|c| left_out.contains(c))));
        assert!(culprits.contains(&found.expect("one")));
    }

    #[test]
    fn nothing_is_named_where_leaving_all_out_does_not_help_or_time_is_up() {
        assert_eq!(bisect(&[1, 2, 3], |_| Some(true)), None);
        assert_eq!(bisect(&[], |_| Some(false)), None);
        assert_eq!(bisect(&[1, 2, 3], |left_out| (left_out.len() == 3).then_some(false)), None);
    }

    #[test]
    fn the_last_function_printed_is_named_as_in_the_source() {
        let log = "define double @a(double %x) {\n}\nprefn:\ndefine internal void @\"preprocess_b.1\"(ptr %0) #4 {\n";
        assert_eq!(last_printed(log).as_deref(), Some("b.1"));
        assert_eq!(last_printed("nothing"), None);
    }

    #[test]
    fn the_users_line_is_the_innermost_outside_of_libraries() {
        let files = ["/usr/include/c++/12/bits/stl_tree.h", "/home/u/model/step.hpp", "/home/u/model/main.cpp"];
        let lines = vec![(0, 239, 16), (0, 500, 1), (1, 7, 3), (2, 20, 5)];
        let places = Places {
            files: files.map(str::to_owned).to_vec(),
            places: vec![Place { function: "f".into(), lines, callee: None, removable: false }],
            own: vec!["/home/u/model".into()],
        };
        let printed = Location { file: "stl_tree.h".into(), line: 239, column: 16, text: None };
        let mut diagnosis = Diagnosis::new("type-conflict", "f", "x");
        places.describe(places.at(&printed).expect("a place"), &mut diagnosis);
        let line = |l: &Option<Location>| l.as_ref().map(|l| l.line);
        assert_eq!((line(&diagnosis.location), line(&diagnosis.inside)), (Some(7), Some(239)));
        assert_eq!(diagnosis.callers.iter().map(|l| l.line).collect::<Vec<_>>(), [20]);
        assert!(places.at(&Location { line: 240, ..printed }).is_none());
    }
}

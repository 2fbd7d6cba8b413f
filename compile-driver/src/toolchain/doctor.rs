//! `ffgrad doctor`: tries every tool, with a remedy for each that fails.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;

use crate::os::process::ProcessError;
use crate::toolchain::clang;
use crate::toolchain::cuda::CudaTools;
use crate::toolchain::enzyme;
use crate::toolchain::error::{INSTALL, ToolchainError};
use crate::toolchain::fault;
use crate::toolchain::pip;
use crate::toolchain::probe::{ask, lacking_library, tail};
use crate::toolchain::search_path::{Place, listed};
use crate::toolchain::stdlib;
use crate::toolchain::toolkit;
use crate::toolchain::types::{Engine, EngineChoice, Origin, Tool};
use crate::toolchain::version_cache::VersionCache;
use crate::toolchain::worker;

/// What was found out about one tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// The tool, or the ability that was tried.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// Where it is.
    pub path: Option<PathBuf>,
    /// How it was found.
    pub origin: Option<Origin>,
    /// Whether it works.
    pub status: Status,
    /// Whether ffgrad needs it. What is not required may be missing.
    pub required: bool,
    /// What to do where it does not work.
    pub remedy: Option<String>,
}

/// Whether a tool works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", content = "reason", rename_all = "lowercase")]
pub enum Status {
    /// It is there and passed its test.
    Ok,
    /// It is not there.
    Missing,
    /// It is there, and this is why it does not do.
    Unusable(String),
}

/// Tries every tool, starting each again. Takes a few seconds.
pub fn doctor() -> Vec<Check> {
    examine(&Place::here())
}

pub(super) fn examine(place: &Place) -> Vec<Check> {
    let tools_dir = match place.tools_dir() {
        Ok(dir) => dir,
        Err(error) => return vec![Check::failed("tool folder", true, &error)],
    };
    let mut versions = VersionCache::fresh(&tools_dir);
    let mut checks = Vec::new();
    compilers(place, &tools_dir, &mut versions, &mut checks);
    checks.push(match enzyme::find_engine(place, &tools_dir, &EngineChoice::Auto, &mut versions) {
        Ok(engine) => engine_check(&engine),
        Err(error) => Check::failed("engine", true, &error),
    });
    let libraries = worker::find_llvm(place, &tools_dir);
    checks.push(match &libraries {
        Ok(dirs) => {
            let path = dirs.first().cloned();
            let origin =
                path.as_ref().filter(|path| path.starts_with(&tools_dir)).map_or(Origin::System, |_| Origin::Installed);
            Check { path, origin: Some(origin), ..Check::ok("libLLVM", true) }
        }
        Err(error) => Check::failed("libLLVM", true, error),
    });
    let without_library = libraries.is_err();
    checks.push(match worker::find_worker(place, &libraries.unwrap_or_default(), &mut versions) {
        Ok(tool) => Check::of("ffgrad-llvm", &tool),
        // It is there: what it is linked to is missing, for which there is a line already.
        Err(ToolchainError::Unusable { path, .. } | ToolchainError::Probe { path, .. }) if without_library => Check {
            path: Some(path),
            status: Status::Unusable("it runs once libLLVM is there".to_owned()),
            remedy: Some(INSTALL.to_owned()),
            ..Check::ok("ffgrad-llvm", false)
        },
        Err(error) => Check::failed("ffgrad-llvm", true, &error),
    });
    checks.push(match pip::Pip::find(place) {
        Ok(pip) => Check { path: Some(PathBuf::from(pip.to_string())), ..Check::ok("pip", false) },
        Err(error) => Check::failed("pip", false, &error),
    });
    checks.extend(for_gpus(place, &tools_dir, &mut versions));
    versions.keep();
    checks
}

/// The tools for CUDA kernels, where they or a toolkit are there.
fn for_gpus(place: &Place, tools_dir: &Path, versions: &mut VersionCache) -> Vec<Check> {
    let (tools, toolkits) = match CudaTools::search(place, versions) {
        Ok((tools, toolkits)) => (Ok(tools), toolkits),
        // Without LLVM 15 it is unknown whether a toolkit fits; what is missing is reported where there is one.
        Err(error) if toolkit::is_named(place) => (Err(error), Vec::new()),
        Err(_) => return Vec::new(),
    };
    let own = tools.as_ref().map(|t| t.ptxas.starts_with(tools_dir)).unwrap_or(true);
    let mut used = false;
    let mut checks: Vec<Check> = vec![match tools {
        Ok(tools) => {
            let from = if own { "its own ptxas" } else { "a toolkit's ptxas" };
            let version = Some(format!("LLVM 15 with {from}"));
            Check {
                version,
                path: Some(tools.clang),
                origin: Some(Origin::Installed),
                ..Check::ok("CUDA tools", false)
            }
        }
        Err(error) => Check::failed("CUDA tools", false, &error),
    }];
    for toolkit in toolkits {
        checks.push(match toolkit {
            Ok(toolkit) => {
                let word = if std::mem::replace(&mut used, true) { "fits, not used" } else { "used" };
                let (path, origin) = (Some(toolkit.root), Some(toolkit.origin));
                let version = Some(format!("{} ({word})", toolkit.version));
                Check { version, path, origin, ..Check::ok("CUDA toolkit", false) }
            }
            Err(rejected) => Check {
                version: rejected.version,
                path: Some(rejected.root),
                origin: Some(rejected.origin),
                status: Status::Unusable(format!("not used: {}", rejected.reason)),
                remedy: Some("nothing: the downloaded ptxas and libdevice are used".to_owned()),
                ..Check::ok("CUDA toolkit", false)
            },
        });
    }
    checks
}

fn compilers(place: &Place, tools_dir: &Path, versions: &mut VersionCache, checks: &mut Vec<Check>) {
    let chosen = match clang::find_clang(place, tools_dir, versions) {
        Ok(clang) => clang,
        Err(error) => {
            checks.push(Check::failed("clang", true, &error));
            checks.extend(unusable_clangs(place, tools_dir, versions));
            return;
        }
    };
    let c = compiles(
        &chosen.path,
        &[],
        "c",
        C_PROGRAM,
        "run `ffgrad toolchain install headers`, or install the C library's: libc6-dev, glibc-devel or Xcode's tools",
    );
    checks.push(Check::of("clang", &chosen).and(c));
    checks.extend(unusable_clangs(place, tools_dir, versions));

    match clang::find_clangxx(place, &chosen, versions) {
        Ok(clangxx) => {
            let library = stdlib::choose(place, &clangxx, versions);
            let mut check = Check::of("clang++", &clangxx);
            check.version = Some(format!("{} with {}", clangxx.version, library.name()));
            let remedy = "install g++ (or libc++ for this clang); C sources work without";
            let test = compiles(&clangxx.path, &library.compile_flags(), "c++", stdlib::PROGRAM, remedy);
            checks.push(check.and(test));
            let cxx = links(&clangxx.path, &library, tools_dir);
            checks.push(Check { required: false, ..Check::ok("link C++", false) }.and(cxx));
        }
        Err(error) => checks.push(Check::failed("clang++", true, &error)),
    }
    checks.push(match clang::find_linker(place, tools_dir, &chosen) {
        Some(path) => Check { path: Some(path), ..Check::ok("ld.lld", false) },
        None => Check {
            status: Status::Missing,
            remedy: Some(format!("not needed where the system's ld works; else {INSTALL}")),
            ..Check::ok("ld.lld", false)
        },
    });
    checks.push(Check::ok("link", true).and(links(&chosen.path, &stdlib::Stdlib::None, tools_dir)));
}

/// The clangs that were rejected.
fn unusable_clangs(place: &Place, tools_dir: &Path, versions: &mut VersionCache) -> Vec<Check> {
    let mut passed = Vec::new();
    for candidate in clang::candidates(place, tools_dir).into_iter().filter(|c| c.origin == Origin::System) {
        let (version, reason) = match clang::identify("clang", &candidate, tools_dir, versions) {
            Ok(tool) => match clang::suits(&tool.version, tool.origin) {
                Ok(()) => continue,
                Err(reason) => (Some(tool.version), reason),
            },
            Err(error) => (None, first_line(&error)),
        };
        let (path, origin) = (Some(candidate.path), Some(candidate.origin));
        passed.push(Check {
            version,
            path,
            origin,
            status: Status::Unusable(reason),
            ..Check::ok("clang (other)", false)
        });
    }
    passed
}

const C_PROGRAM: &str = "#include <math.h>\ndouble f(double x) { return sin(x); }\n";

/// The result of a test: nothing, or the reason of its failure and a remedy.
type Verdict = Result<(), (String, String)>;

fn verdict(tool: &str, command: &mut Command, stdin: &str, remedy: &str) -> Result<Vec<u8>, (String, String)> {
    match ask(tool, command, Some(stdin.as_bytes()), remedy) {
        Ok(out) if out.status.success() => Ok(out.stdout),
        Ok(out) => {
            let reason = tail(&out.stderr);
            let remedy = match fault::is_of_loader(&reason) {
                true => fault::remedy(Path::new(command.get_program())),
                false => lacking_library(&reason).unwrap_or_else(|| remedy.to_owned()),
            };
            Err((reason, remedy))
        }
        Err(error) => {
            let is_crash = |error: &ToolchainError| matches!(error, ToolchainError::Probe { source, .. } if matches!(**source, ProcessError::Signal { .. } | ProcessError::Io { .. }));
            let remedy = match is_crash(&error) {
                true => fault::remedy(Path::new(command.get_program())),
                false => remedy.to_owned(),
            };
            Err((chain(&error), remedy))
        }
    }
}

fn compiles(compiler: &Path, flags: &[String], language: &str, program: &str, remedy: &str) -> Verdict {
    let mut command = Command::new(compiler);
    command.args(flags).args(["-O1", "-S", "-emit-llvm", "-o", "-", "-x", language, "-"]);
    verdict("the compiler", &mut command, program, remedy).map(drop)
}

/// Links a tiny shared object, as artifacts are linked.
fn links(compiler: &Path, library: &stdlib::Stdlib, tools_dir: &Path) -> Verdict {
    let remedy = "run `ffgrad toolchain install headers`, or install the C library's files to link with: libc6-dev or glibc-devel";
    let folder = tempfile::tempdir().map_err(|e| (e.to_string(), "make the temporary folder writable".to_owned()))?;
    let (language, program) = match library {
        stdlib::Stdlib::None => ("c", C_PROGRAM),
        _ => ("c++", stdlib::PROGRAM),
    };
    let mut command = Command::new(compiler);
    command.args(library.compile_flags()).args(library.link_flags(tools_dir));
    command
        .args(["-Wno-unused-command-line-argument", "-O1", "-fPIC", "-shared", "-o"])
        .arg(folder.path().join("t.so"));
    command.args(["-x", language, "-", "-lm"]);
    verdict("the linker", &mut command, program, remedy).map(drop)
}

/// Has Enzyme differentiate x².
fn engine_check(engine: &Engine) -> Check {
    let (check, mut command) = match engine {
        Engine::Catalyst(tool) => (Check::of("engine: catalyst", tool), fault::engine(&tool.path)),
        Engine::Plugin { opt, plugin, llvm_major, .. } => {
            let mut command = Command::new(&opt.path);
            let (load_pass, load) = (format!("-load-pass-plugin={}", plugin.display()), plugin.as_os_str());
            command.arg(load_pass).arg("-load").arg(load).args(["-passes=enzyme", "-S", "-", "-o", "-"]);
            let check = Check { path: Some(plugin.clone()), ..Check::of("engine: plugin", opt) };
            (Check { version: Some(format!("LLVM {llvm_major}, opt {}", opt.version)), ..check }, command)
        }
    };
    let remedy = fault::remedy(Path::new(command.get_program()));
    let out = verdict("Enzyme", &mut command, fault::AUTODIFF, &remedy);
    check.and(out.and_then(|ir| {
        let ir = String::from_utf8_lossy(&ir);
        let done =
            ir.contains("@dsquare") && !ir.lines().any(|line| line.contains("call") && line.contains("__enzyme_"));
        if done { Ok(()) } else { Err(("it left the call to Enzyme in place".to_owned(), INSTALL.to_owned())) }
    }))
}

impl Check {
    fn ok(name: &str, required: bool) -> Self {
        Self {
            name: name.to_owned(),
            version: None,
            path: None,
            origin: None,
            status: Status::Ok,
            required,
            remedy: None,
        }
    }

    fn of(name: &str, tool: &Tool) -> Self {
        let (version, path, origin) = (Some(tool.version.clone()), Some(tool.path.clone()), Some(tool.origin));
        Self { version, path, origin, ..Self::ok(name, true) }
    }

    fn failed(name: &str, required: bool, error: &ToolchainError) -> Self {
        let (status, path, remedy) = match error {
            ToolchainError::Missing { remedy, .. } => (Status::Missing, None, remedy.clone()),
            ToolchainError::Unusable { path, reason, remedy, .. } => {
                (Status::Unusable(reason.clone()), Some(path.clone()), remedy.clone())
            }
            ToolchainError::Probe { path, remedy, .. } => {
                (Status::Unusable(chain(error)), Some(path.clone()), remedy.clone())
            }
            other => {
                let text = other.to_string();
                let (reason, remedy) = text.split_once("\n  ").unwrap_or((&text, INSTALL));
                (Status::Unusable(reason.to_owned()), None, remedy.to_owned())
            }
        };
        Self { status, path, remedy: Some(remedy), ..Self::ok(name, required) }
    }

    fn and(self, verdict: Verdict) -> Self {
        match verdict {
            Ok(()) => self,
            Err((reason, remedy)) => Self { status: Status::Unusable(reason), remedy: Some(remedy), ..self },
        }
    }

    /// Whether this prevents a build.
    pub fn blocks(&self) -> bool {
        self.required && self.status != Status::Ok
    }
}

/// An error and its causes on one line, without the advice.
fn chain(error: &ToolchainError) -> String {
    let mut text = first_line(error);
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let _ = write!(text, ": {inner}");
        cause = inner.source();
    }
    text
}

fn first_line(error: &ToolchainError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// Whether the toolchain is not there yet: of what `ffgrad toolchain install` brings nothing was found.
pub fn is_not_installed(checks: &[Check]) -> bool {
    let is_missing = |name: &str| checks.iter().any(|check| check.name == name && check.status == Status::Missing);
    ["clang", "engine", "libLLVM"].into_iter().all(is_missing)
}

/// The checks as a table, with what to do below each that fails.
pub fn render(checks: &[Check]) -> String {
    let mut out = String::new();
    let cells = |check: &Check| {
        let origin = check.origin.map(|o| format!("{o:?}").to_lowercase()).unwrap_or_default();
        [check.name.clone(), check.version.clone().unwrap_or_default(), origin]
    };
    let rows: Vec<[String; 3]> = checks.iter().map(cells).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    for (check, [name, version, origin]) in checks.iter().zip(&rows) {
        let mark = match (&check.status, check.required) {
            (Status::Ok, _) => "ok",
            (Status::Missing, true) => "MISSING",
            (Status::Missing, false) => "missing",
            (Status::Unusable(_), true) => "BROKEN",
            (Status::Unusable(_), false) => "unusable",
        };
        let place = listed(&check.path.iter().map(|p| p.display().to_string()).collect::<Vec<_>>());
        let place = if check.path.is_some() { place } else { String::new() };
        let [a, b, c] = widths;
        let line = format!("{mark:8} {name:a$}  {version:b$}  {origin:c$}  {place}");
        let _ = writeln!(out, "{}", line.trim_end());
        if let Status::Unusable(reason) = &check.status {
            let _ = writeln!(out, "         {}", reason.replace('\n', "\n         "));
        }
        if let Some(remedy) = check.remedy.as_ref().filter(|_| check.status != Status::Ok) {
            let _ = writeln!(out, "         → {remedy}");
        }
    }
    out
}

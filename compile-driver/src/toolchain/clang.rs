//! Finds clang, clang++ and ld.lld.
//!
//! Of the system only clang 22 is taken: the worker and Catalyst's Enzyme read LLVM 22, and each LLVM reads what its
//! own clang writes. A person who names a clang may name an older one, whose IR LLVM 22 still reads.

use std::path::{Path, PathBuf};

use crate::toolchain::error::{INSTALL, ToolchainError};
use crate::toolchain::install;
use crate::toolchain::libc_headers;
use crate::toolchain::pins::Component;
use crate::toolchain::probe::{major, version_of};
use crate::toolchain::search_path::{Place, is_program, listed};
use crate::toolchain::types::{Origin, Tool};
use crate::toolchain::version_cache::VersionCache;

/// The LLVM of the worker and of Catalyst's Enzyme.
pub(super) const LLVM: u32 = 22;
/// The oldest LLVM whose bitcode LLVM 22 was seen to read.
const OLDEST: u32 = 15;

/// A clang that could be used, before anyone asked for its version.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub path: PathBuf,
    pub origin: Origin,
}

/// Every clang that is worth asking, best first.
pub(super) fn candidates(place: &Place, tools_dir: &Path) -> Vec<Candidate> {
    if let Some(path) = place.var("FFGRAD_CLANG") {
        // A bare name is looked for on PATH, as a shell would.
        let path = place.on_path_if_bare(path);
        return vec![Candidate { path, origin: Origin::Env }];
    }
    let mut all: Vec<Candidate> = Vec::new();
    let named = [format!("clang-{LLVM}"), "clang".to_owned()];
    let on_path = named.iter().flat_map(|name| place.on_path(name)).filter(|path| !is_wrapper(path));
    let known = [
        "/usr/lib/llvm-22/bin",
        "/usr/lib64/llvm22/bin",
        "/opt/homebrew/opt/llvm@22/bin",
        "/usr/local/opt/llvm@22/bin",
    ];
    let known = known.iter().map(|dir| place.system(dir).join("clang")).filter(|path| is_program(path));
    for path in on_path.chain(known) {
        if !all.iter().any(|c| c.path == path) {
            all.push(Candidate { path, origin: Origin::System });
        }
    }
    if install::is_installed(tools_dir, Component::Llvm) {
        all.push(Candidate { path: installed(tools_dir, "clang"), origin: Origin::Installed });
    }
    all
}

/// ccache and version managers put a program called clang on PATH that stands for another one, which can change while
/// the wrapper's file stays the same.
fn is_wrapper(path: &Path) -> bool {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    !real.file_name().is_some_and(|name| name.to_string_lossy().contains("clang"))
}

/// Whether this version can be used, and why not.
pub(super) fn suits(version: &str, origin: Origin) -> Result<(), String> {
    match (major(version), origin) {
        (Some(LLVM), _) => Ok(()),
        (Some(OLDEST..LLVM), Origin::Env | Origin::Option) => Ok(()),
        (Some(other), Origin::Env) => {
            Err(format!("it is version {other}, and LLVM {LLVM} reads what versions {OLDEST} to {LLVM} write"))
        }
        (Some(other), _) => Err(format!("it is version {other}, and ffgrad needs {LLVM}")),
        (None, _) => Err(format!("its version `{version}` is not understood")),
    }
}

pub(super) fn identify(
    name: &str,
    candidate: &Candidate,
    tools_dir: &Path,
    versions: &mut VersionCache,
) -> Result<Tool, ToolchainError> {
    let Candidate { path, origin } = candidate.clone();
    if origin == Origin::Installed {
        let tool = install::installed_tool(tools_dir, Component::Llvm, path)?;
        return Ok(libc_headers::with_headers(tools_dir, tool));
    }
    if !is_program(&path) {
        return Err(ToolchainError::Unusable {
            tool: name.to_owned(),
            path,
            reason: "there is no such program".to_owned(),
            remedy: remedy(origin),
        });
    }
    let identity = versions.identity(&path, || version_of(name, &path, &remedy(origin)))?;
    Ok(Tool { path, version: identity.version, origin, digest: identity.digest })
}

pub(super) fn remedy(origin: Origin) -> String {
    match origin {
        Origin::Env => format!("correct FFGRAD_CLANG, or unset it and {INSTALL}"),
        _ => INSTALL.to_owned(),
    }
}

pub(super) fn find_clang(place: &Place, tools_dir: &Path, versions: &mut VersionCache) -> Result<Tool, ToolchainError> {
    let mut seen = Vec::new();
    for candidate in candidates(place, tools_dir) {
        // A broken clang on PATH must not hide a good one behind it; one that a person named must be right.
        let named = candidate.origin == Origin::Env;
        let tool = match identify("clang", &candidate, tools_dir, versions) {
            Ok(tool) => tool,
            // The installed one is the last, and says what is wrong with it.
            Err(error) if named || candidate.origin == Origin::Installed => return Err(error),
            Err(_) => {
                seen.push(format!("{} (does not run)", candidate.path.display()));
                continue;
            }
        };
        match suits(&tool.version, tool.origin) {
            Ok(()) => return Ok(tool),
            Err(reason) if named => {
                return Err(ToolchainError::Unusable {
                    tool: "clang".to_owned(),
                    path: tool.path,
                    reason,
                    remedy: remedy(Origin::Env),
                });
            }
            Err(_) => seen.push(format!("{} (version {})", tool.path.display(), tool.version)),
        }
    }
    seen.extend(["PATH".to_owned(), "/usr/lib/llvm-22/bin".to_owned(), tools_dir.display().to_string()]);
    Err(ToolchainError::Missing { tool: format!("clang {LLVM}"), looked_in: listed(&seen), remedy: INSTALL.to_owned() })
}

/// Whether the clang that is taken is the installed one, or will be.
pub(super) fn is_own(place: &Place, tools_dir: &Path, versions: &mut VersionCache) -> bool {
    match find_clang(place, tools_dir, versions) {
        Ok(clang) => clang.origin == Origin::Installed,
        Err(error) => matches!(error, ToolchainError::Missing { .. }),
    }
}

/// The C++ driver of the same installation.
pub(super) fn find_clangxx(place: &Place, clang: &Tool, versions: &mut VersionCache) -> Result<Tool, ToolchainError> {
    let (path, origin) = match place.var("FFGRAD_CLANGXX") {
        Some(path) => (place.on_path_if_bare(path), Origin::Env),
        None => (sibling(&clang.path).ok_or_else(|| no_clangxx(clang))?, clang.origin),
    };
    if origin == Origin::Installed {
        return Ok(Tool { path, ..clang.clone() });
    }
    if !is_program(&path) {
        return Err(no_clangxx(&Tool { path, ..clang.clone() }));
    }
    let identity = versions.identity(&path, || version_of("clang++", &path, &remedy(origin)))?;
    if identity.version != clang.version {
        return Err(ToolchainError::Unusable {
            tool: "clang++".to_owned(),
            path,
            reason: format!("it is version {}, and clang is {}", identity.version, clang.version),
            remedy: "set FFGRAD_CLANG and FFGRAD_CLANGXX to programs of one installation".to_owned(),
        });
    }
    Ok(Tool { path, version: identity.version, origin, digest: identity.digest })
}

fn no_clangxx(clang: &Tool) -> ToolchainError {
    ToolchainError::Missing {
        tool: "clang++".to_owned(),
        looked_in: format!("beside {}", clang.path.display()),
        remedy: format!("set FFGRAD_CLANGXX, or {INSTALL}"),
    }
}

/// `clang-22` → `clang++-22` or `clang++`, beside it or beside what it is a link to.
fn sibling(clang: &Path) -> Option<PathBuf> {
    let real = clang.canonicalize().ok();
    let places = std::iter::once(clang).chain(real.as_deref());
    places.into_iter().find_map(|path| {
        let name = path.file_name()?.to_str()?;
        let names = [name.replacen("clang", "clang++", 1), "clang++".to_owned()];
        names.iter().map(|name| path.with_file_name(name)).find(|file| is_program(file))
    })
}

pub(super) fn find_linker(place: &Place, tools_dir: &Path, clang: &Tool) -> Option<PathBuf> {
    if let Some(path) = place.var("FFGRAD_LLD") {
        return Some(place.on_path_if_bare(path));
    }
    let real = clang.path.canonicalize().unwrap_or_else(|_| clang.path.clone());
    let beside = [&clang.path, &real].map(|path| path.with_file_name("ld.lld"));
    let named = format!("ld.lld-{LLVM}");
    let installed = install::is_installed(tools_dir, Component::Llvm).then(|| installed(tools_dir, "ld.lld"));
    beside.into_iter().chain(place.on_path(&named)).chain(installed).find(|path| is_program(path))
}

fn installed(tools_dir: &Path, program: &str) -> PathBuf {
    tools_dir.join(Component::Llvm.folder()).join("bin").join(program)
}

//! An installed CUDA toolkit, whose ptxas and libdevice are used in place of the downloaded ones where they fit.
//!
//! Looked for at `CUDA_HOME`, `CUDA_PATH` and `/usr/local/cuda`. Whether one fits is tried, not looked up: its ptxas must
//! assemble what LLVM 15 writes for the newest GPU that is checked for, and LLVM 15 must be able to read its libdevice.
//! Its headers are of no concern: kernels are compiled with ffgrad's own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::toolchain::error::ToolchainError;
use crate::toolchain::probe::{ask, tail};
use crate::toolchain::search_path::{Place, is_program};
use crate::toolchain::types::Origin;
use crate::toolchain::version_cache::{VersionCache, digest_of};

/// What ptxas checks for: a GPU newer than the code asks for, as the driver's own compiler will see it.
pub const CHECKED_FOR: &str = "sm_90";

/// Variables that name a toolkit, in the order in which they are asked.
pub(super) const VARIABLES: [&str; 2] = ["CUDA_HOME", "CUDA_PATH"];

/// The least that ptxas must assemble.
const TRIAL: &str = ".version 7.5\n.target sm_80\n.address_size 64\n.visible .entry trial() { ret; }\n";

/// Stands before the reason in a remembered answer.
const REFUSED: &str = "refused: ";

/// A toolkit that fits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Toolkit {
    /// Its folder.
    pub root: PathBuf,
    /// `12.4`, as its ptxas reports it.
    pub version: String,
    /// How it was found.
    pub origin: Origin,
    /// Its assembler.
    pub ptxas: PathBuf,
    /// Its device library.
    pub libdevice: PathBuf,
    /// Beginning of the SHA-256 of both files' own.
    pub digest: String,
}

/// A toolkit that cannot be used.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rejected {
    /// Its folder.
    pub root: PathBuf,
    /// The version that its ptxas reports, if any.
    pub version: Option<String>,
    /// How it was found.
    pub origin: Origin,
    /// Why.
    pub reason: String,
}

/// Whether there is a toolkit, or a variable names one.
pub(super) fn is_named(place: &Place) -> bool {
    VARIABLES.iter().any(|v| place.var(v).is_some()) || place.system("/usr/local/cuda").is_dir()
}

/// Every toolkit there is, in the order of preference. `reader` is a command for LLVM 15's opt, with the library path
/// that it needs.
pub(super) fn examine(
    place: &Place,
    reader: impl Fn() -> Command,
    versions: &mut VersionCache,
) -> Vec<Result<Toolkit, Rejected>> {
    let mut roots: Vec<(PathBuf, Origin)> = Vec::new();
    let named = VARIABLES.iter().filter_map(|v| place.var(v)).map(|path| (path, Origin::Env));
    let usual = Some((place.system("/usr/local/cuda"), Origin::System)).filter(|(path, _)| path.is_dir());
    for (root, origin) in named.chain(usual) {
        let same = |other: &(PathBuf, Origin)| real(&other.0) == real(&root);
        if !roots.iter().any(same) {
            roots.push((root, origin));
        }
    }
    roots.into_iter().map(|(root, origin)| fits(root, origin, &reader, versions)).collect()
}

/// `/usr/local/cuda` is often a link to what a variable names too.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn fits(
    root: PathBuf,
    origin: Origin,
    reader: impl Fn() -> Command,
    versions: &mut VersionCache,
) -> Result<Toolkit, Rejected> {
    let (ptxas, libdevice) = (root.join("bin/ptxas"), root.join("nvvm/libdevice/libdevice.10.bc"));
    let passed = |version: Option<String>, reason: String| Rejected { root: root.clone(), version, origin, reason };
    if !root.is_dir() {
        return Err(passed(None, "there is no such folder".to_owned()));
    }
    if !is_program(&ptxas) {
        return Err(passed(None, "it has no bin/ptxas".to_owned()));
    }
    let version = versions.fact("ptxas", &[&ptxas], || release(&ptxas).unwrap_or_else(|e| format!("{REFUSED}{e}")));
    if let Some(reason) = version.strip_prefix(REFUSED) {
        return Err(passed(None, reason.to_owned()));
    }
    if !libdevice.is_file() {
        return Err(passed(Some(version), "it has no nvvm/libdevice/libdevice.10.bc".to_owned()));
    }
    let opt = PathBuf::from(reader().get_program());
    let answer = versions.fact("toolkit", &[&ptxas, &libdevice, &opt], || match tried(&ptxas, &libdevice, reader()) {
        Ok(digest) => digest,
        Err(reason) => format!("{REFUSED}{reason}"),
    });
    match answer.strip_prefix(REFUSED) {
        Some(reason) => Err(passed(Some(version), reason.to_owned())),
        None => Ok(Toolkit { version, origin, ptxas, libdevice, digest: answer, root }),
    }
}

/// Its release, `12.4`: of `Cuda compilation tools, release 12.4, V12.4.131`.
fn release(ptxas: &Path) -> Result<String, String> {
    let mut command = Command::new(ptxas);
    let result = ask("ptxas", command.arg("--version"), None, "").map_err(|e| in_one_line(&e))?;
    let text = String::from_utf8_lossy(&result.stdout);
    let release = text.split("release ").nth(1).and_then(|rest| rest.split([',', '\n']).next());
    let words = || text.lines().next().unwrap_or_default().to_owned();
    release.map(|r| r.trim().to_owned()).ok_or_else(|| format!("its ptxas names no release: {}", words()))
}

/// Assembles for the newest GPU and has LLVM 15 read the device library. The answer is the digest of both.
fn tried(ptxas: &Path, libdevice: &Path, mut reader: Command) -> Result<String, String> {
    let file = tempfile::NamedTempFile::with_suffix(".ptx").map_err(|e| e.to_string())?;
    fs::write(file.path(), TRIAL).map_err(|e| e.to_string())?;
    let mut assemble = Command::new(ptxas);
    assemble.arg(format!("-arch={CHECKED_FOR}")).arg(file.path()).args(["-o", "/dev/null"]);
    let result = ask("ptxas", &mut assemble, None, "").map_err(|e| in_one_line(&e))?;
    if !result.status.success() {
        let words = [result.stderr, result.stdout].concat();
        return Err(format!(
            "its ptxas does not assemble for {CHECKED_FOR} (CUDA 11.8 and later do): {}",
            tail(&words)
        ));
    }
    reader.args(["-passes=verify", "-disable-output"]).arg(libdevice);
    let result = ask("opt of LLVM 15", &mut reader, None, "").map_err(|e| in_one_line(&e))?;
    if !result.status.success() {
        return Err(format!("LLVM 15 cannot read its libdevice: {}", tail(&result.stderr)));
    }
    let digest = |path: &Path| digest_of(path).map_err(|e| e.to_string());
    Ok(format!("{}{}", &digest(ptxas)?[..8], &digest(libdevice)?[..8]))
}

fn in_one_line(error: &ToolchainError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::tests::Machine;
    use super::*;

    const RELEASE: &str = "[ \"$1\" = --version ] && echo 'Cuda compilation tools, release 12.4, V12.4.131' && exit 0";

    /// A machine with a toolkit in `folder`, whose ptxas runs `body` after it was not asked for its version.
    fn with_toolkit(vars: &[(&str, &str)], folder: &str, body: &str) -> Machine {
        let machine = Machine::with(vars);
        machine.script(&format!("{folder}/bin/ptxas"), &format!("{RELEASE}\n{body}"));
        machine.file(&format!("{folder}/nvvm/libdevice/libdevice.10.bc"), "BC");
        machine
    }

    fn found(machine: &Machine, opt: &str) -> Vec<Result<Toolkit, Rejected>> {
        let mut versions = VersionCache::open(&machine.root().join("tools"));
        let old = machine.root().join("opt-15");
        let opt = if old.exists() { old } else { machine.script("opt-15", opt) };
        let found = examine(&machine.place, || Command::new(&opt), &mut versions);
        versions.keep();
        found
    }

    fn reason(found: &[Result<Toolkit, Rejected>]) -> &str {
        match found {
            [Err(passed)] => &passed.reason,
            other => panic!("one that was rejected, not {other:?}"),
        }
    }

    #[test]
    fn the_toolkit_that_a_variable_names_is_used_before_the_usual_one() {
        let machine = with_toolkit(&[("CUDA_PATH", "opt/cuda")], "opt/cuda", "exit 0");
        machine.script("usr/local/cuda/bin/ptxas", &format!("{RELEASE}\nexit 0"));
        machine.file("usr/local/cuda/nvvm/libdevice/libdevice.10.bc", "BC");
        let all = found(&machine, "exit 0");
        let toolkits: Vec<&Toolkit> = all.iter().flatten().collect();
        let origins: Vec<(Origin, &str)> = toolkits.iter().map(|t| (t.origin, t.version.as_str())).collect();
        assert_eq!(origins, [(Origin::Env, "12.4"), (Origin::System, "12.4")]);
        assert_eq!(toolkits[0].ptxas, machine.root().join("opt/cuda/bin/ptxas"));
        assert_eq!(toolkits[0].digest.len(), 16);
    }

    #[test]
    fn a_second_search_starts_nothing() {
        let machine = with_toolkit(&[], "usr/local/cuda", "exit 0");
        let first = found(&machine, "exit 0");
        let runs = machine.runs("usr/local/cuda/bin/ptxas");
        assert_eq!(found(&machine, "exit 0"), first);
        assert_eq!(machine.runs("usr/local/cuda/bin/ptxas"), runs);
    }

    #[test]
    fn one_toolkit_under_two_names_is_one() {
        let machine = with_toolkit(&[("CUDA_HOME", "opt/cuda")], "opt/cuda", "exit 0");
        fs::create_dir_all(machine.root().join("usr/local")).expect("create");
        std::os::unix::fs::symlink("../../opt/cuda", machine.root().join("usr/local/cuda")).expect("link");
        assert_eq!(found(&machine, "exit 0").len(), 1);
    }

    #[test]
    fn a_toolkit_that_does_not_fit_is_passed_over_with_the_reason() {
        let old =
            with_toolkit(&[], "usr/local/cuda", "echo 'Value sm_90 is not defined for option gpu-name' >&2; exit 1");
        let result = found(&old, "exit 0");
        assert!(reason(&result).starts_with("its ptxas does not assemble for sm_90 (CUDA 11.8"), "{result:?}");
        assert!(reason(&result).contains("Value sm_90 is not defined"), "{result:?}");
        let new = with_toolkit(&[], "usr/local/cuda", "exit 0");
        let result = found(&new, "echo 'error: Unknown attribute kind (91)' >&2; exit 1");
        assert_eq!(reason(&result), "LLVM 15 cannot read its libdevice: error: Unknown attribute kind (91)");
        let half = Machine::with(&[("CUDA_HOME", "opt/cuda")]);
        assert_eq!(reason(&found(&half, "exit 0")), "there is no such folder");
        half.file("opt/cuda/version.json", "{}");
        assert_eq!(reason(&found(&half, "exit 0")), "it has no bin/ptxas");
        half.script("opt/cuda/bin/ptxas", RELEASE);
        assert_eq!(reason(&found(&half, "exit 0")), "it has no nvvm/libdevice/libdevice.10.bc");
    }
}

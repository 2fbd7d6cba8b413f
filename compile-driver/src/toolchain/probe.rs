//! Asks a program for its version.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::os::process::{self, Output};
use crate::toolchain::error::ToolchainError;

/// Long enough for a cold network file system, short enough not to look like a hang.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Runs `command` and gives its output; where it cannot be started, returns `tool`'s error.
pub(super) fn ask(
    tool: &str,
    command: &mut Command,
    stdin: Option<&[u8]>,
    remedy: &str,
) -> Result<Output, ToolchainError> {
    command.env("LC_ALL", "C");
    process::run(command, stdin, PATIENCE).map_err(|source| ToolchainError::Probe {
        tool: tool.to_owned(),
        path: command.get_program().into(),
        remedy: remedy.to_owned(),
        source: Box::new(source),
    })
}

/// What `--version` prints.
pub(super) fn version_text(tool: &str, command: &mut Command, remedy: &str) -> Result<String, ToolchainError> {
    let out = ask(tool, command.arg("--version"), None, remedy)?;
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
    }
    Err(ToolchainError::Unusable {
        tool: tool.to_owned(),
        path: command.get_program().into(),
        reason: format!("`--version` failed ({}): {}", out.status, tail(&out.stderr)),
        remedy: lacking_library(&tail(&out.stderr)).unwrap_or_else(|| remedy.to_owned()),
    })
}

/// The version number in `… version 22.1.8 …`, as clang, opt and lld print it.
pub(super) fn version_in(text: &str) -> Option<String> {
    text.match_indices("version ").find_map(|(at, word)| {
        let rest = &text[at + word.len()..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(rest.len());
        rest.starts_with(|c: char| c.is_ascii_digit()).then(|| rest[..end].to_owned())
    })
}

/// The first number of a version.
pub(super) fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

/// A program asked for its version number.
pub(super) fn version_of(tool: &str, path: &Path, remedy: &str) -> Result<String, ToolchainError> {
    let text = version_text(tool, &mut Command::new(path), remedy)?;
    version_in(&text).ok_or_else(|| ToolchainError::Unusable {
        tool: tool.to_owned(),
        path: path.to_owned(),
        reason: format!("`--version` names no version: {}", text.lines().next().unwrap_or_default()),
        remedy: remedy.to_owned(),
    })
}

/// What to do where a program's output says that the loader found no library for it.
pub(super) fn lacking_library(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("error while loading shared libraries: ")?;
    let name = rest.split(':').next()?;
    let (debian, fedora) = match name {
        "libstdc++.so.6" => ("libstdc++6", "libstdc++"),
        "libgcc_s.so.1" => ("libgcc-s1", "libgcc"),
        "libz.so.1" => ("zlib1g", "zlib"),
        "libatomic.so.1" => ("libatomic1", "libatomic"),
        _ => return Some(format!("install the system's package that has {name}")),
    };
    Some(format!("install {name}: the package {debian} of Debian and Ubuntu, {fedora} of Fedora and RHEL"))
}

/// The last lines of a program's error output.
pub(super) fn tail(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(6)..].join("\n  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_the_system_lacks_is_named_with_its_package() {
        let advice = |library: &str| {
            lacking_library(&format!(
                "/t/clang: error while loading shared libraries: {library}: cannot open shared object file"
            ))
        };
        assert!(advice("libz.so.1").is_some_and(|text| text.contains("zlib1g of Debian")));
        assert_eq!(advice("libxyz.so.3").as_deref(), Some("install the system's package that has libxyz.so.3"));
        assert_eq!(lacking_library("undefined symbol: x"), None);
    }

    #[test]
    fn version_numbers_are_read_from_every_vendors_wording() {
        let cases = [
            ("Karellen, Inc. (https://x) v22.1.8 clang version 22.1.8 (https://y)\nTarget: x", "22.1.8"),
            ("Debian clang version 22.1.8 (++2026-1~deb12u1)\n", "22.1.8"),
            ("LLVM (http://llvm.org/):\n  LLVM version 22.0.0git\n", "22.0.0git"),
            ("Debian LLVM version 15.0.6\n", "15.0.6"),
        ];
        for (text, version) in cases {
            assert_eq!(version_in(text).as_deref(), Some(version));
        }
        assert_eq!(version_in("no version at all"), None);
        assert_eq!(major("22.0.0git"), Some(22));
    }
}

//! Tests of installation with a mock of pip and of wheels: a failure must leave nothing behind.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;

use crate::toolchain::error::INSTALL;
use crate::toolchain::install::{install_pins, is_installed, missing};
use crate::toolchain::pins::Pin;
use crate::toolchain::tests::Machine;
use crate::toolchain::{Component, Report, Silent, Supply, ToolchainError, wanted};

const CATALYST: Component = Component::Catalyst;
const FILE: &str = "fake-1.0-py3-none-any.whl";

/// A wheel with these files below its data folder, as (name, content).
fn wheel(path: &Path, files: &[(&str, &str)]) -> &'static str {
    let mut zip = zip::ZipWriter::new(fs::File::create(path).expect("create"));
    for (name, content) in files {
        zip.start_file(*name, SimpleFileOptions::default().unix_permissions(0o644)).expect("start");
        zip.write_all(content.as_bytes()).expect("write");
    }
    zip.finish().expect("finish");
    let digest = Sha256::digest(fs::read(path).expect("read"));
    String::leak(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn pin(sha256: &'static str) -> Pin {
    let (package, version, platform, python) = ("fake", "1.0", "any", "3.11");
    Pin { package, version, file: FILE, sha256, download: 1 << 20, unpacked: 1 << 20, platform, python }
}

const GOOD: &[(&str, &str)] = &[("fake-1.0.data/data/bin/catalyst", "#!/bin/sh\n"), ("fake/__init__.py", "no")];

/// A machine whose `python -m pip download` runs `body`; `$dest` is where the wheel is to go.
fn machine(body: &str) -> Machine {
    let machine = Machine::with(&[("FFGRAD_PYTHON", "bin/python")]);
    let find_dest = "while [ $# -gt 0 ]; do [ \"$1\" = -d ] && dest=$2; shift; done";
    machine.script("bin/python", &format!("[ \"$3\" = --version ] && exit 0\n{find_dest}\n{body}"));
    machine
}

/// A machine whose pip brings `wheel.whl` from the machine's root.
fn bringing() -> Machine {
    machine(&format!("cp \"$(dirname \"$0\")/../wheel.whl\" \"$dest/{FILE}\""))
}

fn install(machine: &Machine, sha256: &'static str) -> Result<Report, ToolchainError> {
    install_pins(&machine.place, &[(CATALYST, &[pin(sha256)])], &Supply::Index, &mut Silent)
}

/// Nothing but locks and empty folders is left.
fn is_clean(machine: &Machine) -> bool {
    fn files(dir: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
    }
    let is_lock = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".lock"));
    files(&machine.root().join("tools")).iter().all(is_lock)
}

#[test]
fn a_good_wheel_is_installed_once() {
    let machine = bringing();
    let sha = wheel(&machine.root().join("wheel.whl"), GOOD);
    assert!(install(&machine, sha).expect("installs").components[0].fresh);
    assert!(!install(&machine, sha).expect("is there").components[0].fresh);
    let folder = machine.root().join("tools").join(CATALYST.folder());
    assert!(crate::toolchain::search_path::is_program(&folder.join("bin/catalyst")), "the program can be started");
    assert!(!folder.join("fake").exists(), "only what is wanted is unpacked");
    assert_eq!(fs::read_dir(machine.root().join("tools/.staging")).expect("read").count(), 0);
}

#[test]
fn two_installations_at_once_download_once() {
    let machine = bringing();
    let sha = wheel(&machine.root().join("wheel.whl"), GOOD);
    let fresh = std::thread::scope(|scope| {
        let both = [0, 1].map(|_| scope.spawn(|| install(&machine, sha).expect("installs").components[0].fresh));
        both.map(|thread| thread.join().expect("ends"))
    });
    assert_eq!(fresh.iter().filter(|fresh| **fresh).count(), 1);
}

#[test]
fn an_incomplete_folder_is_replaced() {
    let machine = bringing();
    let sha = wheel(&machine.root().join("wheel.whl"), GOOD);
    install(&machine, sha).expect("installs");
    let program = machine.root().join("tools").join(CATALYST.folder()).join("bin/catalyst");
    fs::remove_file(&program).expect("remove");
    assert!(install(&machine, sha).expect("installs again").components[0].fresh && program.exists());
}

#[test]
fn what_a_killed_installation_left_is_swept() {
    let machine = bringing();
    let sha = wheel(&machine.root().join("wheel.whl"), GOOD);
    let left = machine.file(&format!("tools/.staging/{}-abc/half.whl", CATALYST.folder()), "half");
    install(&machine, sha).expect("installs");
    assert!(!left.exists());
}

#[test]
fn another_digest_is_refused_and_leaves_nothing() {
    let machine = bringing();
    wheel(&machine.root().join("wheel.whl"), GOOD);
    let zeros = "0000000000000000000000000000000000000000000000000000000000000000";
    let error = install(&machine, zeros).expect_err("refuses");
    assert!(matches!(&error, ToolchainError::DigestMismatch { expected, .. } if expected == zeros), "{error}");
    assert!(is_clean(&machine) && !is_installed(&machine.root().join("tools"), CATALYST));
}

#[test]
fn a_wheel_without_the_program_is_refused_and_leaves_nothing() {
    let machine = bringing();
    let sha = wheel(&machine.root().join("wheel.whl"), &GOOD[1..]);
    let error = install(&machine, sha).expect_err("refuses");
    assert!(error.to_string().contains("it brought no bin/catalyst"), "{error}");
    assert!(is_clean(&machine));
}

#[test]
fn a_file_that_is_no_wheel_is_refused_and_leaves_nothing() {
    let machine = bringing();
    let file = machine.file("wheel.whl", "<html>login page</html>");
    let digest = Sha256::digest(fs::read(file).expect("read"));
    let sha = String::leak(digest.iter().map(|byte| format!("{byte:02x}")).collect());
    assert!(matches!(install(&machine, sha).expect_err("refuses"), ToolchainError::Unpack { .. }));
    assert!(is_clean(&machine));
}

#[test]
fn an_interrupted_download_leaves_nothing() {
    let machine = machine(&format!("echo half > \"$dest/{FILE}\"; kill -TERM $$"));
    let error = install(&machine, "00").expect_err("fails");
    assert!(matches!(&error, ToolchainError::Download { detail, .. } if detail.contains("terminated")), "{error}");
    assert!(is_clean(&machine));
}

#[test]
fn pips_words_tell_a_full_disk_from_no_network_and_from_another_digest() {
    let fails = |words: &str| {
        let machine = machine(&format!("echo '{words}' >&2; exit 1"));
        let error = install(&machine, "00").expect_err("fails");
        assert!(is_clean(&machine));
        error
    };
    let full = fails("ERROR: Could not install: [Errno 28] No space left on device");
    assert!(matches!(full, ToolchainError::DiskFull { .. }), "{full}");
    let offline = fails("ERROR: Could not find a version that satisfies fake==1.0 (from versions: none)");
    assert!(matches!(offline, ToolchainError::NoNetwork { .. }), "{offline}");
    let other = fails("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES\n   Got   abc");
    assert!(matches!(&other, ToolchainError::DigestMismatch { got, .. } if got == "abc"), "{other}");
    let strange = fails("Traceback: KeyError");
    assert!(strange.to_string().contains("KeyError"), "{strange}");
}

#[test]
fn no_pip_is_said_with_what_to_do() {
    let error = install(&Machine::new(), "00").expect_err("fails");
    assert!(matches!(error, ToolchainError::NoPip { .. }) && error.to_string().contains("ensurepip"), "{error}");
}

/// Installs from a folder of files, on a machine without pip.
fn install_from(machine: &Machine, folder: &Path, sha256: &'static str) -> Result<Report, ToolchainError> {
    let supply = Supply::Folder(folder.to_owned());
    install_pins(&machine.place, &[(CATALYST, &[pin(sha256)])], &supply, &mut Silent)
}

#[test]
fn a_wheel_from_a_folder_needs_no_pip_and_stays_there() {
    let (machine, folder) = (Machine::new(), tempfile::tempdir().expect("a folder"));
    let file = folder.path().join(FILE);
    let sha = wheel(&file, GOOD);
    assert!(install_from(&machine, folder.path(), sha).expect("installs").components[0].fresh);
    assert!(is_installed(&machine.place.tools_dir().expect("a folder"), CATALYST) && file.is_file());
    // What is installed needs no file any more.
    fs::remove_file(&file).expect("remove");
    assert!(!install_from(&machine, folder.path(), sha).expect("is there").components[0].fresh);
}

#[test]
fn a_folder_without_the_wheel_or_with_another_is_refused_and_leaves_nothing() {
    let (machine, folder) = (Machine::new(), tempfile::tempdir().expect("a folder"));
    let error = install_from(&machine, folder.path(), "00").expect_err("refuses");
    assert!(matches!(&error, ToolchainError::Lacking { files, .. } if files == FILE), "{error}");
    wheel(&folder.path().join(FILE), GOOD);
    let error = install_from(&machine, folder.path(), "00").expect_err("refuses");
    assert!(matches!(error, ToolchainError::Altered { .. }), "{error}");
    let file = folder.path().join(FILE);
    let error = install_from(&machine, &file, "00").expect_err("refuses");
    assert!(matches!(&error, ToolchainError::NoFolder { path } if *path == file), "{error}");
    assert!(is_clean(&machine));
}

#[test]
fn a_truncated_second_wheel_is_found_before_the_first_is_installed() {
    let (machine, folder) = (Machine::new(), tempfile::tempdir().expect("a folder"));
    let first = pin(wheel(&folder.path().join(FILE), GOOD));
    let other = folder.path().join("other.whl");
    let second = Pin { file: "other.whl", sha256: wheel(&other, GOOD), ..pin("") };
    let whole = fs::read(&other).expect("read");
    fs::write(&other, &whole[..whole.len() / 2]).expect("write");
    let supply = Supply::Folder(folder.path().to_owned());
    let plan = [(CATALYST, &[first][..]), (Component::Llvm, &[second][..])];
    let error = install_pins(&machine.place, &plan, &supply, &mut Silent).expect_err("refuses");
    assert!(error.to_string().contains("other.whl is not the pinned file: truncated"), "{error}");
    assert!(is_clean(&machine) && !is_installed(&machine.root().join("tools"), CATALYST));
}

#[test]
fn an_error_about_a_missing_tool_names_the_component_that_brings_it() {
    let missing = |remedy: &str| ToolchainError::Missing {
        tool: "a tool".to_owned(),
        looked_in: "PATH".to_owned(),
        remedy: remedy.to_owned(),
    };
    assert_eq!(missing(INSTALL).component(), Some(""));
    assert_eq!(missing(crate::toolchain::fortran::INSTALL).component(), Some("fortran"));
    assert_eq!(missing("run `ffgrad toolchain install blas`, or name your own").component(), Some("blas"));
    assert_eq!(missing("correct FFGRAD_CLANG").component(), None);
    assert_eq!(ToolchainError::NoHome.component(), None);
}

#[test]
fn what_is_wanted_is_listed_with_digests() {
    let listed = wanted(&[Component::Catalyst, Component::Llvm, Component::Fortran]).expect("has pins");
    let wheels: Vec<_> = listed.iter().filter(|w| w.kind == "wheel").collect();
    assert_eq!(wheels.len(), 3);
    assert!(wheels.iter().all(|w| w.sha256.is_some_and(|digest| digest.len() == 64) && w.bytes.is_some()));
    assert!(listed.iter().any(|w| w.kind == "deb" && w.name == "flang-22"));
}

#[test]
fn an_empty_machine_misses_what_every_build_needs() {
    let machine = Machine::new();
    let [engine, llvm] = Component::ALL;
    assert_eq!(missing(&machine.place).expect("looks"), [engine, llvm, Component::LibcHeaders]);
    machine.file("usr/include/stdio.h", "");
    assert_eq!(missing(&machine.place).expect("looks"), [engine, llvm]);
}

#[test]
fn the_links_of_a_wheel_are_made_where_their_targets_are() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("w.whl");
    let top = "k-1.data/data/bin";
    let links =
        format!("{top}/clang++,clang,0\n{top}/clang,clang-22,0\n{top}/nvptx-arch,offload-arch,0\n{top}/x,../../x,0\n");
    let clang = format!("{top}/clang-22");
    wheel(&path, &[(&clang, "elf"), ("k-1.dist-info/symlinks.txt", &links)]);
    let prefix = dir.path().join("prefix");
    crate::toolchain::unpack::unpack(&path, Component::Llvm, &prefix, &mut Silent).expect("unpacks");
    assert_eq!(fs::read_to_string(prefix.join("bin/clang++")).expect("a link to a link"), "elf");
    assert!(!prefix.join("bin/nvptx-arch").exists() && prefix.join("bin/x").symlink_metadata().is_err());
}

#[test]
fn a_wheel_that_would_write_outside_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("w.whl");
    wheel(&path, &[("k-1.data/data/include/../../../evil", "x")]);
    let error = crate::toolchain::unpack::unpack(&path, Component::Llvm, &dir.path().join("p"), &mut Silent)
        .expect_err("refuses");
    assert!(error.to_string().contains("unsafe name"), "{error}");
}

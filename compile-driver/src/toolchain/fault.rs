//! Finds out whether a program of the toolchain is damaged: cut, of another machine, or without a library that is whole.
//!
//! A damaged compiler or Enzyme crashes at any source, and its crash must not be taken for a fault of the user's. So where one dies it is asked for
//! something trivial; one that has done that once in this process is not asked again.

use crate::os::process::{self, ProcessError};
use crate::toolchain::error::{INSTALL, ToolchainError};
use crate::toolchain::install;
use crate::toolchain::pins::Component;
use crate::toolchain::probe::PATIENCE;
use crate::toolchain::search_path::Place;
use crate::toolchain::types::with_libraries;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The derivative of x².
pub(super) const AUTODIFF: &str = "define double @square(double %x) {\n  %y = fmul double %x, %x\n  ret double %y\n}\n\
    declare double @__enzyme_autodiff(ptr, ...)\n\
    define double @dsquare(double %x) {\n  \
    %d = call double (ptr, ...) @__enzyme_autodiff(ptr @square, double %x)\n  ret double %d\n}\n";

/// What any C compiler compiles, without a header.
const SQUARE: &str = "double square(double x) { return x * x; }\n";

/// What the loader says of a library that is there and is none.
const OF_LOADER: [&str; 5] =
    ["file too short", "invalid ELF header", "cannot read file data", "failed to map segment", "ELF load command"];

/// Signals of a crash. A process is killed or interrupted for other reasons.
const OF_CRASH: [i32; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGABRT, libc::SIGFPE];

/// How Enzyme's driver is called.
pub(super) fn engine(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.args(["--tool=llc", "-", "-o", "-"]);
    command
}

fn compiler(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.args(["-O1", "-S", "-emit-llvm", "-o", "-", "-x", "c", "-"]);
    command
}

/// Why the driver of Enzyme at a path does not run; `None` where it does.
pub fn of_engine(path: &Path) -> Option<ToolchainError> {
    of("Enzyme", path, engine(path), AUTODIFF)
}

/// Why a compiler does not run; `None` where it does.
pub fn of_compiler(path: &Path) -> Option<ToolchainError> {
    of("the compiler", path, compiler(path), SQUARE)
}

/// Why the worker does not run; `None` where it does.
pub fn of_worker(program: &Path, libraries: &[PathBuf]) -> Option<ToolchainError> {
    let mut command = Command::new(program);
    with_libraries(&mut command, libraries);
    command.arg("--version");
    of("the worker ffgrad-llvm, or its library libLLVM,", program, command, "")
}

/// Whether a program's output, or that of a loader, says that a file is damaged.
pub fn is_of_loader(printed: &str) -> bool {
    OF_LOADER.iter().any(|words| printed.contains(words))
}

/// What is wrong with an installed component; `None` where its programs run, or it has none that are tried.
pub(super) fn of_component(tools_dir: &Path, component: Component) -> Option<ToolchainError> {
    let program = |name: &str| tools_dir.join(component.folder()).join(name);
    install::damage(tools_dir, component).or_else(|| match component {
        Component::Catalyst => of_engine(&program("bin/catalyst")),
        Component::Llvm => of_compiler(&program("bin/clang")),
        _ => None,
    })
}

/// Programs that have run in this process.
static SOUND: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn of(tool: &str, path: &Path, mut command: Command, input: &str) -> Option<ToolchainError> {
    let sound = || SOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if sound().contains(path) {
        return None;
    }
    let Some(reason) = reason(process::run(command.env("LC_ALL", "C"), Some(input.as_bytes()), PATIENCE)) else {
        sound().insert(path.to_owned());
        return None;
    };
    Some(ToolchainError::Unusable {
        tool: tool.to_owned(),
        path: path.to_owned(),
        reason: format!("{reason}, at a trivial program too: its file, or a library of it, is damaged"),
        remedy: remedy(path),
    })
}

/// What repairs a program.
pub(super) fn remedy(path: &Path) -> String {
    let is_ours = Place::here().tools_dir().is_ok_and(|folder| path.starts_with(folder));
    match is_ours || path.file_name().is_some_and(|name| name == "ffgrad-llvm") {
        true => format!("{INSTALL}, which installs again what is damaged"),
        false => format!("install it again, as it was installed; or unset the variable that names it, and {INSTALL}"),
    }
}

/// How a trivial run failed, where that shows damage. Complaints about anything else show that the program runs.
fn reason(outcome: Result<process::Output, ProcessError>) -> Option<String> {
    match outcome {
        Ok(output) => {
            let printed = String::from_utf8_lossy(&output.stderr).into_owned();
            let line = printed.lines().find(|line| is_of_loader(line))?.trim().to_owned();
            Some(format!("it does not start ({line})"))
        }
        Err(ProcessError::Signal { signal, .. }) if OF_CRASH.contains(&signal) => {
            Some(format!("it crashes{}", process::name_of(signal)))
        }
        Err(ProcessError::Io { source, .. }) => Some(format!("it does not start ({source})")),
        Err(_) => None,
    }
}

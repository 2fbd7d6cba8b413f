//! Finds the C++ standard library that clang++ can use.
//!
//! The installed clang prefers libc++ and clang's own runtime. Where g++ is installed libstdc++ is the better choice:
//! it is what the framework's process has loaded already, and with `-rtlib=libgcc` the artifact needs no libunwind.
//! Otherwise the libc++ installed beside clang is used, and found again at run time through an rpath.

use std::path::Path;
use std::process::Command;

use crate::os::process;
use crate::toolchain::pins::Component;
use crate::toolchain::probe::PATIENCE;
use crate::toolchain::search_path::Place;
use crate::toolchain::types::{Origin, Tool};
use crate::toolchain::version_cache::VersionCache;

/// The C++ standard library to compile and link with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Stdlib {
    /// g++'s.
    Libstdcxx,
    /// clang's, of the system.
    Libcxx,
    /// clang's, installed by ffgrad.
    InstalledLibcxx,
    /// None that compiles: C works, C++ does not.
    None,
}

/// What must compile.
pub(super) const PROGRAM: &str = "#include <cmath>\n#include <vector>\nextern \"C\" double f(double x) { return std::sin(std::vector<double>(3, x)[1]); }\n";

impl Stdlib {
    pub fn name(self) -> &'static str {
        match self {
            Self::Libstdcxx => "libstdc++",
            Self::Libcxx | Self::InstalledLibcxx => "libc++",
            Self::None => "none",
        }
    }

    pub fn compile_flags(self) -> Vec<String> {
        match self {
            Self::None => Vec::new(),
            known => vec![format!("-stdlib={}", known.name())],
        }
    }

    pub fn link_flags(self, tools_dir: &Path) -> Vec<String> {
        let flags: &[&str] = match self {
            Self::Libstdcxx if cfg!(target_os = "linux") => {
                &["-stdlib=libstdc++", "-rtlib=libgcc", "--unwindlib=libgcc"]
            }
            _ => &[],
        };
        let mut flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
        if flags.is_empty() {
            flags = self.compile_flags();
        }
        if self == Self::InstalledLibcxx {
            let lib = tools_dir.join(Component::Llvm.folder()).join("lib/x86_64-unknown-linux-gnu");
            flags.push(format!("-Wl,-rpath,{}", lib.display()));
        }
        flags
    }
}

/// Tries libstdc++, then libc++, once per clang++ and set of installed g++ headers.
pub(super) fn choose(place: &Place, clangxx: &Tool, versions: &mut VersionCache) -> Stdlib {
    let libcxx = if clangxx.origin == Origin::Installed { Stdlib::InstalledLibcxx } else { Stdlib::Libcxx };
    // Installing or removing a g++ changes one of these folders.
    let triple = format!("/usr/lib/gcc/{}-linux-gnu", std::env::consts::ARCH);
    let gcc = ["/usr/include/c++", "/usr/lib/gcc", triple.as_str()].map(|dir| place.system(dir));
    let about = [clangxx.path.as_path(), &gcc[0], &gcc[1], &gcc[2]];
    let answer = versions.fact("stdlib", &about, || {
        let works = |stdlib: &Stdlib| compiles(clangxx, *stdlib);
        [Stdlib::Libstdcxx, libcxx].iter().find(|s| works(s)).map_or("none", |s| s.name()).to_owned()
    });
    match answer.as_str() {
        "libstdc++" => Stdlib::Libstdcxx,
        "libc++" => libcxx,
        _ => Stdlib::None,
    }
}

fn compiles(clangxx: &Tool, stdlib: Stdlib) -> bool {
    let mut command = Command::new(&clangxx.path);
    command.args(stdlib.compile_flags()).args(["-x", "c++", "-fsyntax-only", "-"]);
    process::run(&mut command, Some(PROGRAM.as_bytes()), PATIENCE).is_ok_and(|out| out.status.success())
}

//! Finds LLVM's OpenMP runtime and its header. Nothing is started or loaded here.

use std::path::{Path, PathBuf};

use crate::toolchain::pins::Component;
use crate::toolchain::search_path::Place;

/// Libraries to try, the best first: those that the loader knows, those of an LLVM installed beside, ffgrad's own.
pub fn openmp_candidates() -> Vec<PathBuf> {
    candidates(&Place::here())
}

/// The folder of the installed `omp.h`, if there is one.
pub fn openmp_headers() -> Option<PathBuf> {
    let folder = installed(&Place::here())?.join("opt/compiler/include");
    folder.join("omp.h").is_file().then_some(folder)
}

fn candidates(place: &Place) -> Vec<PathBuf> {
    let names: &[&str] = match cfg!(target_os = "macos") {
        true => {
            &["libomp.dylib", "/opt/homebrew/opt/libomp/lib/libomp.dylib", "/usr/local/opt/libomp/lib/libomp.dylib"]
        }
        false => &["libomp.so.5", "libomp.so", "libiomp5.so"],
    };
    let mut all: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
    let mut versions = llvm_folders(&place.system("/usr/lib"));
    versions.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    all.extend(versions.into_iter().map(|(_, folder)| folder.join("lib/libomp.so.5")));
    all.extend(installed(place).map(|folder| folder.join("lib/libiomp5.so")));
    all
}

/// `llvm-14`, `llvm-22`, ... with their numbers.
fn llvm_folders(lib: &Path) -> Vec<(u32, PathBuf)> {
    let entries = std::fs::read_dir(lib).into_iter().flatten().flatten();
    let number = |e: std::fs::DirEntry| {
        let name = e.file_name().into_string().ok()?;
        Some((name.strip_prefix("llvm-")?.parse().ok()?, e.path()))
    };
    entries.filter_map(number).collect()
}

fn installed(place: &Place) -> Option<PathBuf> {
    Some(place.tools_dir().ok()?.join(Component::OpenMp.folder()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_llvm_of_the_system_comes_before_ffgrads_own() {
        let root = tempfile::tempdir().expect("a folder");
        for version in ["llvm-9", "llvm-19", "llvm-14", "llvm"] {
            std::fs::create_dir_all(root.path().join("usr/lib").join(version)).expect("a folder");
        }
        let found = candidates(&Place::imagined(root.path(), &[("FFGRAD_TOOLS_DIR", Path::new("/t"))]));
        let all: Vec<String> = found.iter().map(|p| p.display().to_string()).collect();
        let at = |part: &str| all.iter().position(|p| p.contains(part)).expect(part);
        assert!(at("llvm-19") < at("llvm-14") && at("llvm-14") < at("llvm-9/"));
        assert_eq!(at("/t/"), all.len() - 1);
    }
}

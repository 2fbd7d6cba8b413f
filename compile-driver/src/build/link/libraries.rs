//! Libraries that a function is linked to: finds their files as the linker does, and computes what a key holds of each.
//!
//! What is linked statically becomes part of the code, so its content counts. A shared library of the system is not looked into:
//! it is loaded when the code is, by the name that the linker took from it, and that name counts. Where the user gives where to
//! look (a path, `-L`, `LIBRARY_PATH`), the content of shared libraries counts too.

use crate::build::context::Context;
use crate::build::frontend::compiler;
use crate::build::link;
use crate::cache::files::{BY_NAME, loaded_as};
use crate::cache::{self, io};
use crate::error::{Error, Result};
use crate::options::{self, Spec};
use core_ad::diagnostics::Diagnosis;
use core_ad::manifest::{Manifest, Source};
use object::read::ReadCache;
use object::read::archive::ArchiveFile;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The files of the libraries that the linker reads, each with what a key holds of it.
///
/// # Errors
///
/// A compile error in the linker's words where there is no such library.
pub fn read(context: &Context<'_>, exceptions: bool, staging: &Path) -> Result<Vec<Source>> {
    let spec = context.spec;
    if spec.options.libraries.is_empty() && !spec.options.mpi {
        return Ok(Vec::new());
    }
    let (rule, probe) = (staging.join("libraries.d"), staging.join("libraries.so"));
    let mut command = link::linker(context.tools, exceptions);
    // The libraries alone: what the compiler adds by itself belongs to the tools.
    command.arg("-nostdlib").arg(format!("-Wl,--dependency-file={}", rule.display())).arg("-o").arg(&probe);
    link::run(spec, command.args(link::libraries(spec)?))?;
    let files = compiler::read_dependencies(&rule, staging);
    for made in [rule, probe] {
        std::fs::remove_file(&made).map_err(io("remove", &made))?;
    }
    let own = own_folders(spec);
    let given =
        spec.options.libraries.iter().filter_map(|library| std::path::absolute(options::as_path(library)?).ok());
    let given: Vec<PathBuf> = given.collect();
    let of = |path: PathBuf| -> Result<Vec<Source>> {
        let mine = given.contains(&path) || own.iter().any(|folder| path.starts_with(folder));
        match (!mine).then(|| loaded_as(&path)).flatten() {
            Some(name) => Ok(vec![source(&path, format!("{BY_NAME}{name}"))]),
            None => by_content(&path),
        }
    };
    Ok(files.into_iter().map(of).collect::<Result<Vec<_>>>()?.concat())
}

/// Places where a library would be found before those that were read: earlier in the folders that the user names, and the shared
/// one beside a static one.
pub fn searched_before(spec: &Spec, sources: &[Source]) -> Vec<PathBuf> {
    let own = own_folders(spec);
    let mut places = Vec::new();
    for library in spec.options.libraries.iter().filter(|l| options::as_path(l).is_none()) {
        let names = [format!("lib{library}.so"), format!("lib{library}.a")];
        let is_it = |path: &Path| path.file_name().is_some_and(|f| names.iter().any(|n| f == n.as_str()));
        let Some(found) = sources.iter().map(|s| Path::new(&s.path)).find(|path| is_it(path)) else { continue };
        let folder = found.parent().unwrap_or(found);
        let earlier = own.iter().take_while(|o| o.as_path() != folder);
        places.extend(earlier.flat_map(|o| names.iter().map(|name| o.join(name))));
        places.extend(found.extension().is_some_and(|e| e == "a").then(|| folder.join(&names[0])));
    }
    places
}

/// Refuses to publish what was linked to other libraries than those in the key.
///
/// # Errors
///
/// A compile error where one was built again since the function was opened.
pub fn check_unchanged(manifest: &Manifest, context: &Context<'_>, staging: &Path) -> Result<()> {
    let now = read(context, manifest.exceptions, staging)?;
    // By content: the entry may have been made from a copy elsewhere.
    let known = |library: &Source| manifest.sources.iter().any(|s| s.digest == library.digest);
    let Some(other) = now.iter().find(|library| !known(library)) else { return Ok(()) };
    let function = &context.spec.function;
    let headline = format!("the library `{}` has changed since `{function}` was opened", other.path);
    let refusal = Diagnosis::new("source-changed", function, headline);
    Err(Error::compile(refusal.advise("Open the function again: call enzyme(...) once more.")))
}

/// The folders of the option `-L`, absolute.
pub fn folders(spec: &Spec) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut flags = spec.options.flags.iter();
    while let Some(flag) = flags.next() {
        let folder = match flag.strip_prefix("-L") {
            Some("") => flags.next().map(String::as_str),
            other => other,
        };
        found.extend(folder.and_then(|f| std::path::absolute(f).ok()));
    }
    found
}

/// The folders that the loader has to be told of: those of the option `-L`, and those of libraries named by path. The loader finds
/// its own, which hold libc too.
pub fn loaded_from(spec: &Spec) -> Vec<PathBuf> {
    let by_path = spec.options.libraries.iter().filter_map(|library| options::as_path(library));
    let shared = by_path.filter(|path| path.to_string_lossy().contains(".so"));
    let beside = shared.filter_map(|path| Some(std::path::absolute(path).ok()?.parent()?.to_path_buf()));
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in folders(spec).into_iter().chain(beside) {
        // `-rpath` takes a list, and the loader reads `$ORIGIN` in it.
        let text = folder.to_string_lossy();
        let is_plain = !text.contains([',', ':', '$']);
        if is_plain && !is_of_the_system(&folder) && !found.contains(&folder) && folder.is_dir() {
            found.push(folder);
        }
    }
    found
}

fn is_of_the_system(folder: &Path) -> bool {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    ["/lib", "/lib64", "/usr/lib", "/usr/lib64"].iter().any(|own| real.starts_with(own))
}

/// The user's folders of libraries, in the linker's order.
fn own_folders(spec: &Spec) -> Vec<PathBuf> {
    let variable = std::env::var_os("LIBRARY_PATH").unwrap_or_default();
    let named = std::env::split_paths(&variable).filter_map(|f| std::path::absolute(f).ok());
    folders(spec).into_iter().chain(named).collect()
}

fn source(path: &Path, digest: String) -> Source {
    Source { path: path.display().to_string(), digest }
}

/// A file by its content, and what it stands for: a thin archive names its members and does not have them.
fn by_content(path: &Path) -> Result<Vec<Source>> {
    let mut files = vec![source(path, cache::digest_file(path)?)];
    for member in thin_members(path).unwrap_or_default() {
        let digest = cache::digest_file(&member)?;
        files.push(source(&member, digest));
    }
    Ok(files)
}

fn thin_members(path: &Path) -> Option<Vec<PathBuf>> {
    let file = ReadCache::new(File::open(path).ok()?);
    let archive = ArchiveFile::parse(&file).ok().filter(ArchiveFile::is_thin)?;
    let folder = path.parent()?;
    let members = archive.members().filter_map(|m| Some(folder.join(std::str::from_utf8(m.ok()?.name()).ok()?)));
    Some(members.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::files::unchanged;
    use crate::options::Options;
    use std::process::Command;

    fn spec(flags: &[&str], libraries: &[&str]) -> Spec {
        let all = |given: &[&str]| given.iter().map(|g| (*g).to_owned()).collect();
        let options = Options { flags: all(flags), libraries: all(libraries), ..Options::default() };
        Spec { sources: vec!["/s/a.c".into()], function: "f".into(), signature: None, options }
    }

    /// Compiles one function, and does more with the object file; nothing where this machine has no `cc`.
    fn built(folder: &Path, gain: u32, more: &[&str]) -> Option<()> {
        std::fs::write(folder.join("g.c"), format!("int gain(void) {{ return {gain}; }}")).unwrap();
        let run = |words: &[&str]| Command::new(words[0]).args(&words[1..]).current_dir(folder).status();
        let done = |words: &[&str]| run(words).ok().filter(|status| status.success()).map(drop);
        done(&["cc", "-c", "-fPIC", "g.c", "-o", "g.o"])?;
        done(more)
    }

    #[test]
    fn folders_are_given_in_one_word_or_two() {
        let spec = spec(&["-L/a", "-O3", "-L", "/b"], &[]);
        assert_eq!(folders(&spec), [PathBuf::from("/a"), PathBuf::from("/b")]);
    }

    #[test]
    fn the_loader_is_told_of_folders_that_are_not_its_own() {
        let own = tempfile::tempdir().unwrap();
        let at = |name: &str| own.path().join(name).display().to_string();
        let spec =
            spec(&[&format!("-L{}", at("")), "-L/usr/lib", "-L/none"], &["gain", &at("libx.so.2"), &at("liby.a")]);
        assert_eq!(loaded_from(&spec), [own.path()]);
    }

    #[test]
    fn a_library_that_would_be_found_earlier_is_looked_for() {
        let spec = spec(&["-L/first", "-L/second", "-L/third"], &["gain", "/own/libx.a"]);
        let of = |path: &str| searched_before(&spec, &[source(Path::new(path), String::new())]);
        let earlier = [PathBuf::from("/first/libgain.so"), PathBuf::from("/first/libgain.a")];
        assert_eq!(of("/second/libgain.so"), earlier);
        assert_eq!(of("/second/libgain.a"), [&earlier[..], &[PathBuf::from("/second/libgain.so")]].concat());
        assert!(of("/own/libx.a").is_empty());
    }

    #[test]
    fn of_a_shared_library_the_name_counts_and_of_others_the_content() {
        let folder = tempfile::tempdir().unwrap();
        let (shared, fixed) = (folder.path().join("libgain.so"), folder.path().join("libgain.a"));
        let link = ["cc", "-shared", "g.o", "-o", "libgain.so", "-Wl,-soname,libgain.so.7"];
        let pack = ["ar", "rcs", "libgain.a", "g.o"];
        let Some(()) = built(folder.path(), 2, &link) else { return };
        let before = source(&shared, format!("{BY_NAME}{}", loaded_as(&shared).unwrap()));
        assert_eq!(before.digest, "loaded as libgain.so.7");
        built(folder.path(), 3, &link).unwrap();
        assert!(unchanged(&before));
        built(folder.path(), 3, &["cc", "-shared", "g.o", "-o", "libgain.so"]).unwrap();
        assert!(!unchanged(&before) && loaded_as(&shared).unwrap() == "libgain.so");
        let Some(()) = built(folder.path(), 2, &pack) else { return };
        assert_eq!((loaded_as(&fixed), loaded_as(&folder.path().join("g.o"))), (None, None));
        let before = by_content(&fixed).unwrap();
        assert!(before.len() == 1 && before.iter().all(unchanged));
        built(folder.path(), 3, &pack).unwrap();
        assert!(!before.iter().all(unchanged));
    }

    #[test]
    fn members_of_a_thin_archive_count() {
        let folder = tempfile::tempdir().unwrap();
        let thin = ["ar", "rcsTD", "libgain.a", "g.o"];
        let Some(()) = built(folder.path(), 2, &thin) else { return };
        let before = by_content(&folder.path().join("libgain.a")).unwrap();
        assert!(before.len() == 2 && before.iter().all(unchanged));
        built(folder.path(), 3, &["true"]).unwrap();
        assert!(unchanged(&before[0]) && !unchanged(&before[1]));
    }
}

//! Files that flags name: files of options (`@FILE`, `--config=FILE`), which may name others, and whatever else a flag may name
//! (precompiled headers, profiles, plugins, module maps). Compilers list the headers that they read, and none of these.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What the words of a command line name.
#[derive(Debug, Default)]
pub struct Named {
    /// Every file that exists, absolute.
    pub files: BTreeSet<PathBuf>,
    /// Files that are included before the source, as written.
    pub included_first: Vec<String>,
    /// Folders of `--embed-dir`, in their order.
    pub embed_folders: Vec<PathBuf>,
    /// Whether something else takes part that cannot be listed: modules that clang finds and builds by itself.
    pub open_ended: bool,
}

/// Flags by which clang finds files that it does not list.
const OPEN_ENDED: [&str; 5] =
    ["-fmodules", "-fcxx-modules", "-fprebuilt-module-path", "-fimplicit-module", "-fprofile-use"];

impl Named {
    /// Reads the words of a command line, as seen from a folder.
    pub fn read<'a>(&mut self, words: impl IntoIterator<Item = &'a str>, folder: &Path) {
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next() {
            if let Some(file) = word.strip_prefix('@') {
                self.response(&folder.join(file), folder);
            }
            let pair = |names: &[&str]| {
                let rest = names.iter().find_map(|name| word.strip_prefix(name))?;
                Some(rest.strip_prefix('=').unwrap_or(rest).to_owned())
            };
            let or_next = |rest: String, next: Option<&&str>| match (rest.is_empty(), next) {
                (true, Some(next)) => (*next).to_owned(),
                _ => rest,
            };
            if let Some(first) = pair(&["--include", "-include-pch", "-include", "--imacros", "-imacros"]) {
                self.included_first.push(or_next(first, words.peek()));
            }
            if let Some(embed) = pair(&["--embed-dir"]) {
                self.embed_folders.push(folder.join(or_next(embed, words.peek())));
            }
            if let Some(file) = pair(&["--config"]) {
                self.configuration(&folder.join(or_next(file, words.peek())));
            }
            // A profile that is named is a file as any other.
            self.open_ended |= OPEN_ENDED.iter().any(|start| word.starts_with(start)) && !names_a_file(word, folder);
            self.files.extend(candidates(word).map(|name| folder.join(name)).filter(|path| path.is_file()));
        }
    }

    /// A file of options named by `@`; what it names is seen from the same folder.
    fn response(&mut self, path: &Path, folder: &Path) {
        self.options_in(path, folder, |text| text.to_owned());
    }

    /// A file of options that is a configuration; what it names by `@` is beside it.
    pub fn configuration(&mut self, path: &Path) {
        let beside = path.parent().unwrap_or(path).to_owned();
        self.options_in(path, &beside, |text| {
            let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
            lines.collect::<Vec<_>>().join("\n").replace("<CFGDIR>", &beside.to_string_lossy())
        });
    }

    fn options_in(&mut self, path: &Path, folder: &Path, prepare: impl Fn(&str) -> String) {
        let Ok(bytes) = std::fs::read(path) else { return };
        let Ok(path) = std::path::absolute(path) else { return };
        // Files that name each other are the compiler's to refuse.
        if !self.files.insert(path) {
            return;
        }
        let words = words(&prepare(&String::from_utf8_lossy(&bytes)));
        self.read(words.iter().map(String::as_str), folder);
        // Flags in a configuration are seen from where the compiler runs.
        let here = std::env::current_dir().unwrap_or_default();
        if here != folder {
            let plain = words.iter().map(String::as_str).filter(|w| !w.starts_with('@'));
            self.files.extend(plain.flat_map(candidates).map(|name| here.join(name)).filter(|p| p.is_file()));
        }
    }
}

fn names_a_file(word: &str, folder: &Path) -> bool {
    candidates(word).any(|name| folder.join(name).is_file())
}

/// The parts of a word that may be the name of a file: the word, what follows `=` and what stands between commas, and what follows
/// the flags that take a name without either.
fn candidates(word: &str) -> impl Iterator<Item = &str> {
    const JOINED: [&str; 6] = ["@", "-include", "-imacros", "-T", "-l", "-isysroot"];
    let joined = JOINED.iter().filter_map(move |flag| word.strip_prefix(flag));
    let parts = word.split([',', '=']);
    let behind = word.match_indices('=').map(|(at, _)| &word[at + 1..]);
    std::iter::once(word).chain(joined).chain(parts).chain(behind).filter(|name| !name.is_empty())
}

/// The words of a file of options: blanks separate, quotes and backslashes protect.
fn words(text: &str) -> Vec<String> {
    let (mut all, mut word, mut quote, mut started) = (Vec::new(), String::new(), None, false);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => word.extend(chars.next()),
            (c, Some(q)) if c == q => quote = None,
            (c, Some(_)) => word.push(c),
            ('"' | '\'', None) => quote = Some(c),
            (c, None) if c.is_whitespace() => {
                if started {
                    all.push(std::mem::take(&mut word));
                }
                started = false;
                continue;
            }
            (c, None) => word.push(c),
        }
        started = true;
    }
    if started {
        all.push(word);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(folder: &Path, flags: &[&str]) -> Named {
        let mut named = Named::default();
        named.read(flags.iter().copied(), folder);
        named
    }

    fn file_names(named: &Named) -> Vec<String> {
        named.files.iter().map(|f| f.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn files_of_options_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("a.rsp", "-DA=1 \"@b c.rsp\"\n@a.rsp");
        write("b c.rsp", "-include-pch x.pch --embed-dir=data");
        write("x.pch", "");
        write("c.cfg", "# @no.rsp\n@d.cfg");
        write("d.cfg", "-DB");
        let found = named(folder.path(), &["@a.rsp", "--config=c.cfg"]);
        assert_eq!(file_names(&found), ["a.rsp", "b c.rsp", "c.cfg", "d.cfg", "x.pch"]);
        assert_eq!(found.embed_folders, [folder.path().join("data")]);
        assert!(!found.open_ended);
    }

    #[test]
    fn files_are_found_in_each_form_of_a_flag() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["p.prof", "m.map", "x.h", "v.yaml"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let flags = ["-fprofile-use=p.prof", "-fmodule-file=M=m.map", "-includex.h", "-Wp,-ivfsoverlay,v.yaml"];
        let found = named(folder.path(), &flags);
        assert_eq!(file_names(&found), ["m.map", "p.prof", "v.yaml", "x.h"]);
        assert_eq!(found.included_first, ["x.h"]);
        assert!(!found.open_ended);
        assert!(named(folder.path(), &["-fmodules"]).open_ended);
        assert!(named(folder.path(), &["-fprofile-use"]).open_ended);
    }
}

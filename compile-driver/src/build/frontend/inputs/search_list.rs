//! Where clang looks for headers and for files of options, as it says itself with `-v`: only clang knows what flags, files of
//! options, the environment and the system make of it.

use std::path::{Path, PathBuf};

/// The folders of one compilation, each list in the order of searching.
#[derive(Debug, Default, PartialEq)]
pub struct SearchList {
    /// Folders for `#include "..."` alone, which come after that of the including file.
    pub quoted: Vec<PathBuf>,
    /// Folders for every `#include`.
    pub angled: Vec<PathBuf>,
    /// Folders that were named and do not exist.
    pub missing: Vec<PathBuf>,
    /// Files of options that clang took.
    pub configurations: Vec<PathBuf>,
    /// Folders that are searched for those.
    pub configuration_folders: Vec<PathBuf>,
    /// The target, of which such files may have the name.
    pub target: String,
}

impl SearchList {
    /// From what clang printed; `None` where it did not get as far as searching.
    pub fn parse(printed: &str) -> Option<Self> {
        let mut list = SearchList::default();
        let mut section: Option<bool> = None;
        let mut complete = false;
        for line in printed.lines() {
            match line {
                "#include \"...\" search starts here:" => section = Some(true),
                "#include <...> search starts here:" => section = Some(false),
                "End of search list." => (section, complete) = (None, true),
                _ => match (section, line.strip_prefix(' ')) {
                    (Some(quoted), Some(folder)) => {
                        let folders = if quoted { &mut list.quoted } else { &mut list.angled };
                        folders.extend(absolute(folder));
                    }
                    _ => list.heading(line),
                },
            }
        }
        complete.then_some(list)
    }

    /// What a driver prints before it compiles: files of options, and where they are looked for.
    pub fn of_driver(printed: &str) -> Self {
        let mut list = SearchList::default();
        printed.lines().for_each(|line| list.heading(line));
        list
    }

    fn heading(&mut self, line: &str) {
        let of = |start: &str| line.strip_prefix(start);
        if let Some(folder) = of("ignoring nonexistent directory \"").and_then(|rest| rest.strip_suffix('"')) {
            self.missing.extend(absolute(folder));
        } else if let Some(file) = of("Configuration file: ") {
            self.configurations.extend(absolute(file));
        } else if let Some(folder) = ["System", "User"]
            .iter()
            .find_map(|whose| of(whose)?.strip_prefix(" configuration file directory: "))
            .or_else(|| of("InstalledDir: "))
        {
            self.configuration_folders.extend(absolute(folder));
        } else if let Some(target) = of("Target: ") {
            target.clone_into(&mut self.target);
        }
    }

    /// Where a file of options would be taken without being named.
    pub fn default_configurations(&self, programs: &[&str]) -> Vec<PathBuf> {
        let of_program = |p: &&str| [format!("{}-{p}.cfg", self.target), format!("{p}.cfg")];
        let names: Vec<String> = programs.iter().flat_map(of_program).chain([format!("{}.cfg", self.target)]).collect();
        let folders = self.configuration_folders.iter();
        folders.flat_map(|folder| names.iter().map(|name| folder.join(name))).collect()
    }
}

fn absolute(path: &str) -> Option<PathBuf> {
    std::path::absolute(Path::new(path)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "clang version 22.1.8\nTarget: x86_64-unknown-linux-gnu\nThread model: posix\n\
        InstalledDir: /t/bin\nConfiguration file: /t/bin/clang.cfg\nUser configuration file directory: /home/u/.cfg\n \
        (in-process)\n \"/t/bin/clang-22\" -cc1 -v a.c\nignoring nonexistent directory \"/none\"\n\
        #include \"...\" search starts here:\n /q\n#include <...> search starts here:\n /i\n /usr/include\n\
        End of search list.\n 1 warning generated.\n";

    #[test]
    fn the_folders_are_read_in_their_order() {
        let list = SearchList::parse(PRINTED).unwrap();
        let paths = |all: &[&str]| all.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(list.quoted, paths(&["/q"]));
        assert_eq!(list.angled, paths(&["/i", "/usr/include"]));
        assert_eq!(list.missing, paths(&["/none"]));
        assert_eq!(list.configurations, paths(&["/t/bin/clang.cfg"]));
        assert_eq!(list.configuration_folders, paths(&["/t/bin", "/home/u/.cfg"]));
        let defaults = list.default_configurations(&["clang"]);
        assert!(defaults.contains(&"/home/u/.cfg/x86_64-unknown-linux-gnu-clang.cfg".into()));
        assert_eq!(SearchList::parse("clang version 22.1.8\nerror: no input files\n"), None);
    }
}

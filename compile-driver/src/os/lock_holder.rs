//! Who holds the lock of a file, for a message: the system's list of locks says so on Linux.

use std::fmt;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;

/// Shown of a command line.
const MOST: usize = 60;

/// A process that holds a lock.
#[derive(Debug, PartialEq, Eq)]
pub struct Holder {
    process: u32,
    command: String,
}

/// The process that has locked the file; `None` where the system does not tell, or it is no process of this container.
pub fn of(file: &File) -> Option<Holder> {
    let process = process_in(&fs::read_to_string("/proc/locks").ok()?, file.metadata().ok()?.ino())?;
    let command = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words: Vec<_> = command.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    Some(Holder { process, command: words.join(" ").trim().to_owned() })
}

/// The process in a list of locks, proc_locks(5): `1: FLOCK  ADVISORY  WRITE 4711 fd:01:1835 0 EOF`. The device is left out: overlays show another one.
fn process_in(locks: &str, inode: u64) -> Option<u32> {
    locks.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_held = fields.get(1) == Some(&"FLOCK") && fields.get(3) == Some(&"WRITE");
        let is_its = fields.get(5)?.rsplit(':').next()?.parse() == Ok(inode);
        fields.get(4)?.parse().ok().filter(|process| is_held && is_its && *process > 0)
    })
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = self.command.chars().take(MOST).collect();
        let rest = if shown.len() < self.command.len() { "..." } else { "" };
        match self.command.is_empty() {
            true => write!(f, "process {}", self.process),
            false => write!(f, "process {} (`{shown}{rest}`)", self.process),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_found_by_the_files_number_and_who_waits_is_none() {
        let locks = "1: POSIX  ADVISORY  WRITE 12 fd:01:77 0 EOF\n2: FLOCK  ADVISORY  WRITE 4711 fd:01:77 0 EOF\n2: -> FLOCK  ADVISORY  WRITE 9 fd:01:77 0 EOF\n";
        assert_eq!(process_in(locks, 77), Some(4711));
        assert_eq!(process_in(locks, 78), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_lock_of_this_process_is_its_own() {
        let file = tempfile::tempfile().expect("a file");
        file.lock().expect("locks");
        // Some containers hide the list.
        if let Some(holder) = of(&file) {
            assert_eq!(holder.process, std::process::id());
            assert!(holder.to_string().starts_with(&format!("process {} (`", holder.process)), "{holder}");
        }
    }
}

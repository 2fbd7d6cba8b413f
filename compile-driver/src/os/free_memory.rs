//! How much memory this process could still take, the machine's and that of the control groups that it is in; and how much a disk.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Bytes that are free, or can be freed without a swap; `None` where the system does not tell.
pub fn bytes() -> Option<u64> {
    let machine = available(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = folders(&groups).iter().filter_map(|folder| free_in(folder)).min();
    Some(own.map_or(machine, |own| own.min(machine)))
}

/// Bytes that this user could still write to the disk of a folder; `None` where the system does not tell.
pub fn on_disk(folder: &Path) -> Option<u64> {
    let path = CString::new(folder.as_os_str().as_bytes()).ok()?;
    // SAFETY: plain numbers, for which zeros are values.
    let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: a text with its end, and a struct of ours to write to.
    let code = unsafe { libc::statvfs(path.as_ptr(), &raw mut found) };
    #[allow(clippy::unnecessary_cast)]
    (code == 0).then(|| (found.f_bavail as u64).saturating_mul(found.f_frsize as u64))
}

/// `MemAvailable` of `/proc/meminfo`.
fn available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The folders of the control groups of a process, from its `cgroup` file. Inside a container the path is the host's, and the root is
/// the container's own.
fn folders(text: &str) -> Vec<PathBuf> {
    let line = |line: &str| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let root = match controllers {
            "" => "/sys/fs/cgroup",
            c if c.split(',').any(|c| c == "memory") => "/sys/fs/cgroup/memory",
            _ => return None,
        };
        let below = Path::new(path).ancestors().filter_map(|p| p.strip_prefix("/").ok());
        Some(below.map(|p| Path::new(root).join(p)).collect::<Vec<_>>())
    };
    text.lines().filter_map(line).flatten().collect()
}

/// What a group may still take; its files can be dropped from memory, and do not count.
fn free_in(folder: &Path) -> Option<u64> {
    let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    let limit = number("memory.max").or_else(|| number("memory.limit_in_bytes"))?;
    let used = number("memory.current").or_else(|| number("memory.usage_in_bytes"))?;
    let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let files = stat.lines().find_map(|line| line.strip_prefix("inactive_file ")?.trim().parse::<u64>().ok());
    Some(limit.saturating_sub(used.saturating_sub(files.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_free_memory_is_read() {
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:   12 kB\n"), Some(12 << 10));
        assert_eq!(available("MemTotal: 9 kB\n"), None);
        if cfg!(target_os = "linux") {
            assert!(bytes().is_some_and(|free| free > 1 << 20));
        }
    }

    #[test]
    fn a_disk_has_room_and_one_that_is_not_there_has_none() {
        assert!(on_disk(&std::env::temp_dir()).is_some_and(|free| free > 1 << 20));
        assert_eq!(on_disk(Path::new("/nowhere/at/all")), None);
    }

    #[test]
    fn a_group_counts_with_those_that_it_is_in() {
        let both = folders("5:cpu,memory:/a/b\n0::/c\n4:pids:/x\n");
        let paths: Vec<_> = both.iter().map(|p| p.to_string_lossy().into_owned()).collect();
        let v1 = ["/sys/fs/cgroup/memory/a/b", "/sys/fs/cgroup/memory/a", "/sys/fs/cgroup/memory/"];
        assert_eq!(paths, [v1.as_slice(), &["/sys/fs/cgroup/c", "/sys/fs/cgroup/"]].concat());
    }

    #[test]
    fn files_in_memory_are_free() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
        assert_eq!(free_in(folder.path()), None);
        write("memory.max", "1000\n");
        write("memory.current", "700\n");
        write("memory.stat", "anon 600\ninactive_file 100\n");
        assert_eq!(free_in(folder.path()), Some(400));
        write("memory.max", "max\n");
        assert_eq!(free_in(folder.path()), None);
    }
}

//! The memory limit of a child, so that a compiler out of bounds does not end the user's process.
//!
//! The limit is on private memory that can be written to (`RLIMIT_DATA`), which is what allocation takes; large mappings of files
//! and reserved addresses do not count. It holds for each process by itself, and children of a child inherit it. Linux only: other
//! systems cannot set it for a process that has started, or do not enforce it.

use crate::os::size::{self, BadVariable};
use std::process::{Child, Command};

/// Values for no limit.
const NONE: [&str; 3] = ["none", "unlimited", "0"];

/// Nothing is limited to less than this.
#[cfg(target_os = "linux")]
const LEAST: u64 = 2 << 30;

/// How a line of the system's loader ends that got no memory for a library; where it may not map it, it says more.
const LOADER: &str = "failed to map segment from shared object";

/// Words of allocators, runtimes and linkers that got no memory.
const WORDS: [&str; 8] = [
    "out of memory",
    "an instance of 'std::bad_alloc'",
    "of type std::bad_alloc",
    "memory allocation of",
    "cannot allocate memory",
    "memory exhausted",
    "failed to allocate",
    "allocation failed",
];

/// What the variable takes.
const TAKES: &str = "a size (16G, 500M), or none for no limit";

/// Refuses a value of `FFGRAD_MEMORY_LIMIT` that is no size.
///
/// # Errors
///
/// The variable with its value.
pub fn check() -> Result<(), BadVariable> {
    size::variable("FFGRAD_MEMORY_LIMIT", &NONE, TAKES).map(drop)
}

/// Bytes that each child may take: the value of `FFGRAD_MEMORY_LIMIT` (`8G`; `none`), else three quarters of the machine's or
/// the container's memory. `None`: as many as it likes.
pub fn allowed() -> Option<u64> {
    let given = std::env::var("FFGRAD_MEMORY_LIMIT").unwrap_or_default();
    match given.trim() {
        none if NONE.contains(&none) => None,
        text => size::bytes(text).filter(|&b| b > 0).or_else(default),
    }
}

/// Whether a failed child's output reports that it got no memory. Lines of LLVM IR do not count: a module has names and texts of its own.
pub fn was_short(stderr: &str) -> bool {
    let is_code =
        |l: &&str| l.starts_with(['@', '%', '!', ' ', '$']) || l.starts_with("declare ") || l.starts_with("define ");
    let mut lines = stderr.lines().filter(|l| !is_code(l)).map(str::to_ascii_lowercase);
    lines.any(|line| line.ends_with(LOADER) || WORDS.iter().any(|words| line.contains(words)))
}

/// Limits a child that has just been started.
#[cfg(target_os = "linux")]
pub fn limit(child: &Child) {
    let (Some(bytes), Ok(process)) = (allowed(), i32::try_from(child.id())) else { return };
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: reads one struct of ours and writes nothing back. The child was not reaped, so the number is its own. Where the
    // caller's own limit is lower the call fails, and that one holds.
    unsafe { libc::prlimit(process, libc::RLIMIT_DATA, &raw const limit, std::ptr::null_mut()) };
}

/// See the module's own words.
#[cfg(not(target_os = "linux"))]
pub fn limit(_: &Child) {}

#[cfg(target_os = "linux")]
fn default() -> Option<u64> {
    // SAFETY: sysconf takes and gives plain numbers.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    let machine = u64::try_from(pages).ok()?.checked_mul(u64::try_from(page).ok()?)?;
    let most = container().map_or(machine, |own| own.min(machine));
    Some((most / 4 * 3).max(LEAST))
}

#[cfg(not(target_os = "linux"))]
fn default() -> Option<u64> {
    None
}

/// The least of the limits of the control groups that this process is in.
#[cfg(target_os = "linux")]
fn container() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let limits = groups.lines().filter_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            c if c.split(',').any(|c| c == "memory") => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => return None,
        };
        // Inside a container the path is the host's, and the root is the container's own.
        let folders = std::path::Path::new(path).ancestors().filter_map(|p| p.strip_prefix("/").ok());
        let limit = |folder: &std::path::Path| {
            let text = std::fs::read_to_string(std::path::Path::new(root).join(folder).join(file)).ok()?;
            text.trim().parse::<u64>().ok()
        };
        folders.filter_map(limit).min()
    });
    limits.min()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_loader_without_memory_is_told_from_one_without_permission() {
        let line = "clang: error while loading shared libraries: libLLVM.so: failed to map segment from shared object";
        assert!(was_short(line) && !was_short(&format!("{line}: Operation not permitted")));
    }

    #[test]
    fn the_default_leaves_some_for_others() {
        let bytes = default().unwrap();
        assert!(bytes >= LEAST, "{bytes}");
    }
}
/// Where glibc reads how its allocator is to work.
const TUNABLES: &str = "GLIBC_TUNABLES";

/// How many freed blocks of a size its allocator keeps for the next ones (the usual number is 7).
const KEPT_BLOCKS: &str = "glibc.malloc.tcache_count=60000";

/// Lets a program reuse small blocks of memory at once. Enzyme builds tables of forty names for each call that it looks at, which is a fifth of its
/// time otherwise. Other C libraries ignore it; what the user has set stays.
pub fn reuse_small_blocks(command: &mut Command) {
    let known = std::env::var(TUNABLES).unwrap_or_default();
    let separator = if known.is_empty() { "" } else { ":" };
    if !known.contains("tcache") {
        command.env(TUNABLES, format!("{known}{separator}{KEPT_BLOCKS}"));
    }
}

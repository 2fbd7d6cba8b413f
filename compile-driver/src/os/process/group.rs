//! A process group that ends with the process that started it.
//!
//! A child may have children (the linker below clang), and the parent may be killed without a chance to clean up. So
//! every child joins a group whose leader is a guard: a shell that waits for the end of a pipe of which this process
//! holds the only other end. However this process ends, the pipe closes, and the guard kills the group with itself inside. In the usual case the
//! group is killed here, when it is dropped, which takes whatever the child has left behind.
//!
//! A signal on the parent's death (`PR_SET_PDEATHSIG`) would reach the child alone, and setting it takes code between fork and
//! exec, for which a process with many gigabytes has to copy its page tables; the guard is started without.

use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// The guard's program. It reads nothing: the end of its input is what it waits for.
const GUARD: &str = "read -r _; kill -KILL 0";

/// A group of processes, ended when dropped.
#[derive(Debug)]
pub struct Group {
    guard: Option<Child>,
    /// The group's id; 0 as long as it has no member.
    number: i32,
}

impl Group {
    /// A group with its guard. Without a shell there is none, and the first child is the leader.
    pub fn guarded() -> Self {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", GUARD]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let guard = shell.current_dir("/").process_group(0).spawn().ok();
        let number = guard.as_ref().map_or(0, number_of);
        Group { guard, number }
    }

    /// Starts a child in the group, with the memory that it may take. A file that another thread's fork still holds open for writing
    /// is tried again for a moment.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn spawn(&mut self, command: &mut Command) -> io::Result<Child> {
        command.process_group(self.number);
        let child = start(command)?;
        crate::os::process::memory::limit(&child);
        if self.number == 0 {
            self.number = number_of(&child);
        }
        Ok(child)
    }

    /// Kills every process of the group.
    pub fn kill(&mut self) {
        if self.number > 0 {
            // SAFETY: kill(2) takes plain numbers and touches no memory. The number is that of a group whose leader is a child of
            // ours that was not reaped yet (the guard), or was killed before it was; so nobody else has it.
            unsafe { libc::kill(-self.number, libc::SIGKILL) };
        }
        if let Some(mut guard) = self.guard.take() {
            // An error means that it has ended by itself.
            let _ = guard.kill();
            let _ = guard.wait();
            self.number = 0;
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A group without a guard may be gone already, and its number somebody else's: whoever waited for its leader killed it.
        if self.guard.is_some() {
            self.kill();
        }
    }
}

/// Starts a program; a file that another thread's fork still holds open for writing is tried again for a moment.
fn start(command: &mut Command) -> io::Result<Child> {
    for _ in 0..40 {
        match command.spawn() {
            Err(busy) if busy.kind() == ErrorKind::ExecutableFileBusy => thread::sleep(Duration::from_millis(5)),
            other => return other,
        }
    }
    command.spawn()
}

fn number_of(child: &Child) -> i32 {
    i32::try_from(child.id()).unwrap_or(0)
}

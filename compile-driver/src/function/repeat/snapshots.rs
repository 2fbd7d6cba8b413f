//! Snapshots of a state, by slot: in memory, or in a file without a name.
//!
//! The lowest slots are those of a file: a schedule takes them first and reads them least. The file has no name from the beginning, so
//! that nothing of it stays whatever ends the process. Its place on the disk is taken before the sweep, which then cannot fail for lack
//! of it.

use crate::call::scratch::NoMemory;
use crate::error::{Error, Result};
use crate::function::repeat::memory::{Meter, Room};
use core_ad::diagnostics::Diagnosis;
use std::fs::File;
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Where snapshots are.
pub(super) struct Snapshots<'s> {
    function: &'s str,
    bytes: usize,
    meter: Meter,
    rooms: Vec<Option<Room>>,
    /// Rooms that are free again.
    free: Vec<Room>,
    disk: Option<Disk<'s>>,
}

/// A file for the first slots.
struct Disk<'s> {
    file: File,
    folder: &'s Path,
    slots: usize,
}

impl<'s> Snapshots<'s> {
    /// For states of so many bytes; the first slots in a file, where a folder for it and their number are given.
    ///
    /// # Errors
    ///
    /// The folder cannot be written to, or has no room.
    pub(super) fn new(
        function: &'s str,
        bytes: usize,
        on_disk: Option<(&'s Path, usize)>,
        meter: &Meter,
    ) -> Result<Self> {
        let disk = on_disk.filter(|(_, slots)| *slots > 0 && bytes > 0);
        let disk = disk.map(|(folder, slots)| Disk::new(function, folder, slots, bytes)).transpose()?;
        Ok(Snapshots { function, bytes, meter: meter.clone(), rooms: Vec::new(), free: Vec::new(), disk })
    }

    fn on_disk(&self, slot: usize) -> Option<&Disk<'s>> {
        self.disk.as_ref().filter(|disk| slot < disk.slots)
    }

    /// Copies a state into a slot.
    ///
    /// # Errors
    ///
    /// Where the system has no memory for it, or the file cannot be written to.
    ///
    /// # Safety
    ///
    /// `state` has the bytes of a state.
    pub(super) unsafe fn store(&mut self, slot: usize, state: *const u8) -> Result<()> {
        if let Some(disk) = self.on_disk(slot) {
            // SAFETY: as of this function.
            let state = unsafe { std::slice::from_raw_parts(state, self.bytes) };
            let written = disk.file.write_all_at(state, disk.offset(slot, self.bytes));
            return written.map_err(|error| disk.error(self.function, "written to", &error));
        }
        let mut room = match self.free.pop() {
            Some(room) => room,
            None => {
                let lack = |lack: NoMemory| lack.in_call_of(self.function);
                Room::new(self.bytes, &self.meter).map_err(lack)?
            }
        };
        // SAFETY: both have the bytes of a state, and the room is nobody else's.
        unsafe { room.start().copy_from_nonoverlapping(state, self.bytes) };
        while self.rooms.len() <= slot {
            self.rooms.push(None);
        }
        self.rooms[slot] = Some(room);
        Ok(())
    }

    /// Copies a slot into a state; the slot is free afterwards where this is the last time.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read.
    ///
    /// # Safety
    ///
    /// `state` has room for a state.
    pub(super) unsafe fn restore(&mut self, slot: usize, state: *mut u8, last: bool) -> Result<()> {
        if let Some(disk) = self.on_disk(slot) {
            // SAFETY: as of this function; the state is made of numbers that were set before.
            let state = unsafe { std::slice::from_raw_parts_mut(state, self.bytes) };
            let read = disk.file.read_exact_at(state, disk.offset(slot, self.bytes));
            return read.map_err(|error| disk.error(self.function, "read from", &error));
        }
        let Some(room) = self.rooms.get_mut(slot).and_then(Option::as_mut) else { return Ok(()) };
        // SAFETY: as in `store`.
        unsafe { state.copy_from_nonoverlapping(room.start(), self.bytes) };
        if last {
            self.free.extend(self.rooms[slot].take());
        }
        Ok(())
    }
}

/// Gives a file its room on the disk now, so that no page of it is missing later.
#[cfg(target_os = "linux")]
fn reserve(file: &File, length: i64) -> io::Result<()> {
    // SAFETY: a file of ours; plain numbers.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length) } {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// Gives a file its length; a full disk is an error of the write that meets it.
#[cfg(not(target_os = "linux"))]
fn reserve(file: &File, length: i64) -> io::Result<()> {
    file.set_len(length.unsigned_abs())
}

impl<'s> Disk<'s> {
    fn new(function: &str, folder: &'s Path, slots: usize, bytes: usize) -> Result<Self> {
        let failed = |error: &io::Error| failure(function, folder, "written to", error);
        let file = tempfile::tempfile_in(folder).map_err(|error| failed(&error))?;
        let length = slots.checked_mul(bytes).and_then(|all| i64::try_from(all).ok()).unwrap_or(i64::MAX);
        reserve(&file, length).map_err(|error| failed(&error))?;
        Ok(Disk { file, folder, slots })
    }

    fn offset(&self, slot: usize, bytes: usize) -> u64 {
        (slot * bytes) as u64
    }

    fn error(&self, function: &str, what: &str, error: &io::Error) -> Error {
        failure(function, self.folder, what, error)
    }
}

fn failure(function: &str, folder: &Path, what: &str, error: &io::Error) -> Error {
    let headline = format!("snapshots of `{function}` cannot be {what} the folder `{}`: {error}", folder.display());
    Error::Differentiation(Box::new(
        Diagnosis::new("snapshot-disk", function, headline)
            .advise("Give another folder as `snapshot_dir`, or fewer `snapshots`; with fewer, more steps run again."),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(on_disk: Option<(&Path, usize)>) -> usize {
        let (meter, mut state) = (Meter::default(), [1_u8; 64]);
        let mut snapshots = Snapshots::new("f", 64, on_disk, &meter).expect("a place");
        // SAFETY: the state has 64 bytes.
        unsafe {
            snapshots.store(0, state.as_ptr()).expect("room");
            state.fill(2);
            snapshots.store(1, state.as_ptr()).expect("room");
            state.fill(3);
            snapshots.restore(1, state.as_mut_ptr(), true).expect("there");
            assert_eq!(state, [2; 64]);
            snapshots.store(1, state.as_ptr()).expect("room");
            snapshots.restore(0, state.as_mut_ptr(), false).expect("there");
        }
        assert_eq!(state, [1; 64]);
        meter.peak()
    }

    #[test]
    fn snapshots_come_back_and_their_memory_is_used_again() {
        assert_eq!(round_trip(None), 128);
    }

    #[test]
    fn the_first_slots_are_in_a_file_that_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(round_trip(Some((folder.path(), 1))), 64);
        assert_eq!(round_trip(Some((folder.path(), 2))), 0);
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn a_folder_that_is_not_there_or_too_small_is_an_error() {
        let meter = Meter::default();
        let error = |folder: &Path, slots| {
            Snapshots::new("f", 1 << 40, Some((folder, slots)), &meter).err().map(|error| error.to_string())
        };
        let gone = error(Path::new("/nowhere/at/all"), 1).expect("refused");
        assert!(gone.starts_with("snapshots of `f` cannot be written to the folder `/nowhere/at/all`: "), "{gone}");
        assert!(error(&std::env::temp_dir(), 1 << 20).is_some());
    }
}

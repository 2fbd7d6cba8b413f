//! Snapshots of a state, by slot: in memory, or on the disk (`disk.rs`), where those with the lowest numbers are: a schedule takes them
//! first and reads them least.

use crate::call::scratch::NoMemory;
use crate::error::Result;
use crate::function::repeat::budget::OnDisk;
use crate::function::repeat::disk::Disk;
use crate::function::repeat::memory::{Meter, Room};

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

impl<'s> Snapshots<'s> {
    /// For states of so many bytes; the first slots in a file, where there is a folder for it.
    ///
    /// # Errors
    ///
    /// The folder cannot be written to, or has no room.
    pub(super) fn new(function: &'s str, bytes: usize, on_disk: Option<&OnDisk<'s>>, meter: &Meter) -> Result<Self> {
        let disk = on_disk.filter(|disk| disk.slots > 0 && bytes > 0);
        let disk = disk.map(|disk| Disk::new(function, disk, bytes)).transpose()?;
        Ok(Snapshots { function, bytes, meter: meter.clone(), rooms: Vec::new(), free: Vec::new(), disk })
    }

    fn on_disk(&mut self, slot: usize) -> Option<&mut Disk<'s>> {
        self.disk.as_mut().filter(|disk| slot < disk.slots)
    }

    /// The most bytes that were in use on the disk at once.
    pub(super) fn on_disk_at_most(&self) -> usize {
        self.disk.as_ref().map_or(0, Disk::peak)
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
        let bytes = self.bytes;
        if let Some(disk) = self.on_disk(slot) {
            // SAFETY: as of this function.
            return disk.store(slot, unsafe { std::slice::from_raw_parts(state, bytes) });
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
        let bytes = self.bytes;
        if let Some(disk) = self.on_disk(slot) {
            // SAFETY: as of this function; the state is made of numbers that were set before.
            return disk.restore(slot, unsafe { std::slice::from_raw_parts_mut(state, bytes) });
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn round_trip(on_disk: Option<(&Path, usize)>) -> usize {
        let (meter, mut state) = (Meter::default(), [1_u8; 64]);
        let on_disk = on_disk.map(|(folder, slots)| OnDisk { folder, slots, is_compressed: false });
        let mut snapshots = Snapshots::new("f", 64, on_disk.as_ref(), &meter).expect("a place");
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
            Snapshots::new("f", 1 << 40, Some(&OnDisk { folder, slots, is_compressed: false }), &meter)
                .err()
                .map(|error| error.to_string())
        };
        let gone = error(Path::new("/nowhere/at/all"), 1).expect("refused");
        assert!(gone.starts_with("snapshots of `f` cannot be written to the folder `/nowhere/at/all`: "), "{gone}");
        assert!(error(&std::env::temp_dir(), 1 << 20).is_some());
    }
}

//! Snapshots in a file without a name, so that nothing of it stays whatever ends the process.
//!
//! Plain: their place on the disk is taken before the sweep, which then cannot fail for lack of it. Compressed: in blocks, by LZ4 of bytes
//! that are sorted by their place in a number, since those of like numbers differ in the last ones alone; what a slot no longer uses is given
//! back to the disk, and a full disk is an error of the step that meets it.

use crate::error::{Error, Result};
use crate::function::repeat::budget::OnDisk;
use crate::os::{free_memory, size};
use core_ad::diagnostics::Diagnosis;
use std::fs::File;
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes that are compressed at once: they stay in a processor's cache.
const BLOCK: usize = 256 << 10;
/// Bytes of the numbers of which states are made.
const NUMBER: usize = 8;

/// A file for the slots with the lowest numbers.
pub(super) struct Disk<'s> {
    file: File,
    folder: &'s Path,
    function: &'s str,
    /// Bytes of a state.
    bytes: usize,
    pub(super) slots: usize,
    blocks: Option<Blocks>,
}

/// What compression keeps.
struct Blocks {
    /// Bytes of each block, by slot; a block of its full length is not compressed.
    lengths: Vec<Vec<usize>>,
    sorted: Vec<u8>,
    packed: Vec<u8>,
    /// Bytes in the file now, and the most that ever were.
    now: usize,
    peak: usize,
}

impl<'s> Disk<'s> {
    /// A file for snapshots of so many bytes.
    ///
    /// # Errors
    ///
    /// The folder cannot be written to, or has no room for them.
    pub(super) fn new(function: &'s str, on_disk: &OnDisk<'s>, bytes: usize) -> Result<Self> {
        let (folder, slots) = (on_disk.folder, on_disk.slots);
        let failed = |error: &io::Error| failure(function, folder, "written to", error);
        let file = tempfile::tempfile_in(folder).map_err(|error| failed(&error))?;
        let blocks = on_disk.is_compressed.then(|| Blocks::new(slots));
        if blocks.is_none() {
            let length = slots.checked_mul(bytes).and_then(|all| i64::try_from(all).ok()).unwrap_or(i64::MAX);
            reserve(&file, length).map_err(|error| lacking(function, on_disk, slots as u64 * bytes as u64, &error))?;
        }
        Ok(Disk { file, folder, function, bytes, slots, blocks })
    }

    /// The most bytes that were in use at once.
    pub(super) fn peak(&self) -> usize {
        self.blocks.as_ref().map_or(self.slots * self.bytes, |blocks| blocks.peak)
    }

    /// Writes a state into a slot.
    ///
    /// # Errors
    ///
    /// The file cannot be written to.
    pub(super) fn store(&mut self, slot: usize, state: &[u8]) -> Result<()> {
        let start = (slot * self.bytes) as u64;
        let written = match &mut self.blocks {
            None => self.file.write_all_at(state, start),
            Some(blocks) => blocks.store(&self.file, start, slot, state),
        };
        written.map_err(|error| failure(self.function, self.folder, "written to", &error))
    }

    /// Reads a slot into a state.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub(super) fn restore(&mut self, slot: usize, state: &mut [u8]) -> Result<()> {
        let start = (slot * self.bytes) as u64;
        let read = match &mut self.blocks {
            None => self.file.read_exact_at(state, start),
            Some(blocks) => blocks.restore(&self.file, start, slot, state),
        };
        read.map_err(|error| failure(self.function, self.folder, "read from", &error))
    }
}

impl Blocks {
    fn new(slots: usize) -> Self {
        let packed = vec![0; lz4_flex::block::get_maximum_output_size(BLOCK)];
        Blocks { lengths: vec![Vec::new(); slots], sorted: vec![0; BLOCK], packed, now: 0, peak: 0 }
    }

    fn store(&mut self, file: &File, start: u64, slot: usize, state: &[u8]) -> io::Result<()> {
        let before: usize = self.lengths[slot].drain(..).sum();
        let mut at = start;
        for block in state.chunks(BLOCK) {
            let sorted = &mut self.sorted[..block.len()];
            sort_bytes(block, sorted);
            let packed = lz4_flex::block::compress_into(sorted, &mut self.packed).map_err(io::Error::other)?;
            let bytes = if packed < block.len() { &self.packed[..packed] } else { block };
            file.write_all_at(bytes, at)?;
            self.lengths[slot].push(bytes.len());
            at += bytes.len() as u64;
        }
        let now = (at - start) as usize;
        if before > now {
            give_back(file, at, before - now);
        }
        self.now = self.now - before + now;
        self.peak = self.peak.max(self.now);
        Ok(())
    }

    fn restore(&mut self, file: &File, start: u64, slot: usize, state: &mut [u8]) -> io::Result<()> {
        let mut at = start;
        for (block, &length) in state.chunks_mut(BLOCK).zip(&self.lengths[slot]) {
            if length == block.len() {
                file.read_exact_at(block, at)?;
            } else {
                let packed = &mut self.packed[..length];
                file.read_exact_at(packed, at)?;
                let sorted = &mut self.sorted[..block.len()];
                let whole = lz4_flex::block::decompress_into(packed, sorted).map_err(io::Error::other)?;
                if whole != block.len() {
                    return Err(io::ErrorKind::InvalidData.into());
                }
                restore_bytes(sorted, block);
            }
            at += length as u64;
        }
        Ok(())
    }
}

/// Sorts bytes by their place in a number: all first bytes, all second ones, and so on; what is left behind the last number stays.
fn sort_bytes(from: &[u8], to: &mut [u8]) {
    let count = from.len() / NUMBER;
    for (i, number) in from.chunks_exact(NUMBER).enumerate() {
        for (place, byte) in number.iter().enumerate() {
            to[place * count + i] = *byte;
        }
    }
    to[count * NUMBER..].copy_from_slice(&from[count * NUMBER..]);
}

/// The inverse of [`sort_bytes`].
fn restore_bytes(from: &[u8], to: &mut [u8]) {
    let count = from.len() / NUMBER;
    for (i, number) in to.chunks_exact_mut(NUMBER).enumerate() {
        for (place, byte) in number.iter_mut().enumerate() {
            *byte = from[place * count + i];
        }
    }
    to[count * NUMBER..].copy_from_slice(&from[count * NUMBER..]);
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

/// Gives room that is not used any more back to the disk; a file system that cannot keeps it until the sweep ends.
#[cfg(target_os = "linux")]
fn give_back(file: &File, start: u64, length: usize) {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    if let (Ok(start), Ok(length)) = (i64::try_from(start), i64::try_from(length)) {
        // SAFETY: a file of ours; plain numbers.
        unsafe { libc::fallocate(file.as_raw_fd(), mode, start, length) };
    }
}

#[cfg(not(target_os = "linux"))]
fn give_back(_: &File, _: u64, _: usize) {}

/// The disk has no room: how much is needed, and what is there.
fn lacking(function: &str, on_disk: &OnDisk<'_>, bytes: u64, error: &io::Error) -> Error {
    let free = free_memory::on_disk(on_disk.folder)
        .map_or_else(String::new, |free| format!(", {} are free", size::written(free)));
    let needed = size::written(bytes);
    let headline = format!(
        "{} snapshots of `{function}` cannot be written to the folder `{}`: they need {needed}{free} ({error})",
        on_disk.slots,
        on_disk.folder.display()
    );
    Error::Differentiation(Box::new(Diagnosis::new("snapshot-disk", function, headline).advise(
        "Give another folder as `snapshot_dir`, fewer `snapshots`, or none: then there are as many as fit. `ulimit -f` bounds files, too.",
    )))
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

    fn packed(folder: &Path, bytes: usize) -> Disk<'_> {
        Disk::new("f", &OnDisk { folder, slots: 2, is_compressed: true }, bytes).expect("a file")
    }

    fn smooth(count: usize, phase: f64) -> Vec<u8> {
        (0..count).flat_map(|i| (1e-3 * i as f64 + phase).sin().to_le_bytes()).collect()
    }

    #[test]
    fn sorted_bytes_come_back() {
        for length in [0, 3, 8, 19, 64] {
            let state: Vec<u8> = (0..length).collect();
            let (mut sorted, mut back) = (vec![0; state.len()], vec![0; state.len()]);
            sort_bytes(&state, &mut sorted);
            restore_bytes(&sorted, &mut back);
            assert_eq!(state, back);
        }
    }

    #[test]
    fn compressed_snapshots_have_the_same_bits() {
        let folder = tempfile::tempdir().expect("a folder");
        let (first, second) = (smooth(100_001, 0.0), vec![0; 800_008]);
        let mut disk = packed(folder.path(), first.len());
        let mut state = vec![1; first.len()];
        disk.store(0, &first).expect("written");
        let of_first = disk.peak();
        assert!(of_first < first.len(), "{of_first}");
        disk.store(1, &second).expect("written");
        disk.restore(0, &mut state).expect("read");
        assert_eq!(state, first);
        // Less in a slot than before: the rest is given back.
        disk.store(0, &second).expect("written");
        disk.restore(1, &mut state).expect("read");
        assert_eq!(state, second);
        assert!(disk.peak() < of_first + first.len() / 20);
    }

    #[test]
    fn numbers_that_do_not_compress_take_their_own_length() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as u8
        };
        let state: Vec<u8> = (0..1000).map(|_| random()).collect();
        let (mut disk, mut back) = (packed(folder.path(), state.len()), vec![0; state.len()]);
        disk.store(1, &state).expect("written");
        disk.restore(1, &mut back).expect("read");
        assert_eq!((back, disk.peak()), (state, 1000));
    }
}

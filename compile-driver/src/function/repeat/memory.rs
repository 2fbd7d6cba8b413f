//! Memory of a loop over steps: states, snapshots, and what single steps need. Its peak is counted.

use crate::call::scratch::NoMemory;
use core_ad::plan::Part;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// A cache line: what memory is aligned to.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code)] [u64; 8]);

/// The alignment of an array inside a state.
pub(super) const ALIGN: usize = size_of::<Line>();

/// Bytes in use, and the most that ever were.
#[derive(Clone, Default)]
pub(super) struct Meter(Rc<Cell<(usize, usize)>>);

impl Meter {
    fn add(&self, bytes: usize) {
        let (now, peak) = self.0.get();
        self.0.set((now + bytes, peak.max(now + bytes)));
    }

    fn remove(&self, bytes: usize) {
        let (now, peak) = self.0.get();
        self.0.set((now - bytes, peak));
    }

    pub(super) fn peak(&self) -> usize {
        self.0.get().1
    }
}

/// A block of memory.
pub(super) struct Room {
    lines: Vec<Line>,
    meter: Meter,
}

impl Room {
    /// Zeroed memory; one cache line at least.
    ///
    /// # Errors
    ///
    /// Where the system has none.
    pub(super) fn new(bytes: usize, meter: &Meter) -> Result<Self, NoMemory> {
        let count = bytes.div_ceil(ALIGN).max(1);
        let mut lines = Vec::new();
        lines.try_reserve_exact(count).map_err(|_| NoMemory(bytes))?;
        lines.resize(count, Line([0; 8]));
        meter.add(count * ALIGN);
        Ok(Room { lines, meter: meter.clone() })
    }

    pub(super) fn start(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast()
    }

    /// The same, to read from.
    pub(super) fn get(&self) -> *const u8 {
        self.lines.as_ptr().cast()
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.meter.remove(self.lines.len() * ALIGN);
    }
}

/// What memory of a step is for. The sweeps of a loop share it: they never run at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Use {
    /// Set before each call.
    Work(Part),
    /// Never written to.
    Zeros,
    /// Added to, and never read.
    Sink(Part),
}

/// Memory of single steps, by argument and use.
pub(super) struct StepMemory {
    meter: Meter,
    rooms: RefCell<HashMap<(usize, Use), Room>>,
}

impl StepMemory {
    pub(super) fn new(meter: &Meter) -> Self {
        StepMemory { meter: meter.clone(), rooms: RefCell::default() }
    }

    /// Memory of an argument, zeroed when it is first asked for.
    ///
    /// # Errors
    ///
    /// Where the system has none.
    pub(super) fn of(&self, arg: usize, for_use: Use, bytes: usize) -> Result<*mut u8, NoMemory> {
        let mut rooms = self.rooms.borrow_mut();
        if let Some(room) = rooms.get_mut(&(arg, for_use)) {
            return Ok(room.start());
        }
        let mut room = Room::new(bytes, &self.meter)?;
        // The block stays where it is when its owner moves.
        let start = room.start();
        rooms.insert((arg, for_use), room);
        Ok(start)
    }
}

/// Where each carried array is inside a state.
pub(super) struct Layout {
    offsets: Vec<Option<usize>>,
    /// Bytes of a state.
    pub(super) bytes: usize,
}

impl Layout {
    /// Of arrays with so many bytes; `None` for arguments that are not carried.
    pub(super) fn new(carried: impl Iterator<Item = Option<usize>>) -> Self {
        let mut bytes = 0;
        let mut place = |own: usize| {
            let offset = bytes;
            bytes += own.next_multiple_of(ALIGN);
            offset
        };
        let offsets = carried.map(|own| own.map(&mut place)).collect();
        Layout { offsets, bytes }
    }

    pub(super) fn offset(&self, arg: usize) -> usize {
        self.offsets[arg].unwrap_or(0)
    }

    /// The carried arguments.
    pub(super) fn args(&self) -> impl Iterator<Item = usize> + '_ {
        self.offsets.iter().enumerate().filter(|(_, offset)| offset.is_some()).map(|(arg, _)| arg)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_counts_what_was_held_at_once() {
        let meter = Meter::default();
        let first = Room::new(100, &meter).expect("memory");
        drop(Room::new(64, &meter).expect("memory"));
        drop(first);
        drop(Room::new(1, &meter).expect("memory"));
        assert_eq!(meter.peak(), 128 + 64);
        assert_eq!(Room::new(1 << 60, &meter).err(), Some(NoMemory(1 << 60)));
    }

    #[test]
    fn arrays_of_a_state_are_aligned() {
        let layout = Layout::new([Some(8), None, Some(65), Some(0)].into_iter());
        assert_eq!((layout.bytes, layout.offset(2)), (192, 64));
        assert_eq!(layout.args().collect::<Vec<_>>(), [0, 2, 3]);
    }
}

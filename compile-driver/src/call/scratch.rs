//! Per-thread working memory for calls: shadows, copies and scratch arrays that live for one call.
//!
//! Blocks are reused by the next call, so that a call allocates nothing once warm. What goes beyond
//! [`KEEP_BYTES`] is released when the outermost call ends.

use crate::error::{Error, NO_MEMORY};
use crate::os::size;
use core_ad::diagnostics::Diagnosis;
use std::alloc::{Layout, alloc, dealloc};
use std::cell::RefCell;
use std::rc::Rc;

/// Memory a thread keeps between calls.
pub const KEEP_BYTES: usize = 64 << 20;
const ALIGN: usize = 64;
const SMALLEST: usize = 1 << 16;

/// The system has no memory of so many bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct NoMemory(pub usize);

impl NoMemory {
    /// The error of a call.
    pub(crate) fn in_call_of(&self, function: &str) -> Error {
        let bytes = size::written(self.0 as u64);
        let headline = format!("a call of `{function}` needs {bytes} more memory than there is");
        let diagnosis = Diagnosis::new(NO_MEMORY, function, headline).advise(
            "It is for a scratch array, the copy of an input, or the shadow of an argument. Call with less at a time.",
        );
        Error::Memory(Box::new(diagnosis))
    }
}

/// Zeros that outlive the call: 64-bit words for so many bytes, one at least.
///
/// # Errors
/// [`NoMemory`] where the system has none.
pub fn words(bytes: usize) -> Result<Vec<u64>, NoMemory> {
    let count = bytes.div_ceil(8).max(1);
    let mut all = Vec::new();
    all.try_reserve_exact(count).map_err(|_| NoMemory(bytes))?;
    all.resize(count, 0);
    Ok(all)
}

struct Block {
    start: *mut u8,
    size: usize,
}

impl Block {
    /// None for more bytes than an address space has.
    fn layout(size: usize) -> Option<Layout> {
        Layout::from_size_align(size, ALIGN).ok()
    }

    /// None where there is no memory for it.
    fn new(size: usize) -> Option<Self> {
        let layout = Self::layout(size).filter(|layout| layout.size() > 0)?;
        // SAFETY: the layout has a size above zero.
        let start = unsafe { alloc(layout) };
        (!start.is_null()).then_some(Block { start, size })
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(layout) = Self::layout(self.size) {
            // SAFETY: allocated in `new` with the same layout.
            unsafe { dealloc(self.start, layout) };
        }
    }
}

#[derive(Default)]
struct Pool {
    blocks: Vec<Block>,
    block: usize,
    used: usize,
    depth: usize,
}

thread_local! {
    static POOL: Rc<RefCell<Pool>> = Rc::default();
}

/// Working memory of one call. Calls nest (a check runs inside a call); each releases what it took.
pub struct Frame {
    block: usize,
    used: usize,
    // Of this thread, on which the memory must be released: an `Rc` stays there. Looked up once a frame, which is
    // cheaper than a thread's own variables are.
    pool: Rc<RefCell<Pool>>,
}

impl Frame {
    /// Opens a frame on this thread.
    pub fn open() -> Self {
        let pool = POOL.with(Rc::clone);
        let mut p = pool.borrow_mut();
        p.depth += 1;
        let (block, used) = (p.block, p.used);
        drop(p);
        Frame { block, used, pool }
    }

    /// Memory for the rest of the frame, aligned for vector code, uninitialised.
    ///
    /// # Errors
    /// [`NoMemory`] where the system has none.
    pub fn bytes(&self, count: usize) -> Result<*mut u8, NoMemory> {
        let rounded = count.max(1).checked_next_multiple_of(ALIGN).ok_or(NoMemory(count))?;
        self.pool.borrow_mut().take(rounded).ok_or(NoMemory(count))
    }

    /// Memory set to zero.
    ///
    /// # Errors
    /// As [`Frame::bytes`].
    pub fn zeroed(&self, count: usize) -> Result<*mut u8, NoMemory> {
        let start = self.bytes(count)?;
        // SAFETY: `start` has at least `count` bytes.
        unsafe { start.write_bytes(0, count) };
        Ok(start)
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        let mut p = self.pool.borrow_mut();
        p.depth -= 1;
        (p.block, p.used) = (self.block, self.used);
        if p.depth == 0 {
            let mut kept = 0;
            p.blocks.retain(|b| {
                kept += b.size;
                kept <= KEEP_BYTES
            });
        }
    }
}

impl Pool {
    fn take(&mut self, count: usize) -> Option<*mut u8> {
        while self.block < self.blocks.len() {
            let block = &self.blocks[self.block];
            if block.size - self.used >= count {
                // SAFETY: `used + count` stays within the block.
                let start = unsafe { block.start.add(self.used) };
                self.used += count;
                return Some(start);
            }
            self.block += 1;
            self.used = 0;
        }
        let grown = self.blocks.last().map_or(SMALLEST, |b| b.size.saturating_mul(2)).min(KEEP_BYTES / 2);
        let block = Block::new(grown.max(count))?;
        let start = block.start;
        self.blocks.push(block);
        (self.block, self.used) = (self.blocks.len() - 1, count);
        Some(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_call_gets_the_same_memory() {
        let first = Frame::open().bytes(1000).expect("memory");
        assert_eq!(first, Frame::open().bytes(1000).expect("memory"));
    }

    #[test]
    fn nested_frames_do_not_overlap() {
        let outer = Frame::open();
        let a = outer.zeroed(100).expect("memory");
        let inner = Frame::open();
        let b = inner.bytes(1 << 20).expect("memory");
        assert!((b as usize) >= a as usize + 128 || (b as usize) + (1 << 20) <= a as usize);
        drop(inner);
        let c = outer.bytes(8).expect("memory");
        assert_ne!(a, c);
    }

    #[test]
    fn what_the_system_does_not_have_is_an_error() {
        let frame = Frame::open();
        assert_eq!(frame.bytes(usize::MAX), Err(NoMemory(usize::MAX)));
        assert_eq!(frame.zeroed(1 << 60), Err(NoMemory(1 << 60)));
        assert_eq!(words(1 << 60), Err(NoMemory(1 << 60)));
        assert!(frame.bytes(8).is_ok(), "the frame can still be used");
    }
}

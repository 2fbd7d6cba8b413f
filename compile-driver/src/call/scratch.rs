//! Per-thread working memory for calls: shadows, copies and scratch arrays that live for one call.
//!
//! Blocks are reused by the next call, so that a call allocates nothing once warm. What goes beyond
//! [`KEEP_BYTES`] is released when the outermost call ends.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::RefCell;
use std::rc::Rc;

/// Memory a thread keeps between calls.
pub const KEEP_BYTES: usize = 64 << 20;
const ALIGN: usize = 64;
const SMALLEST: usize = 1 << 16;

struct Block {
    start: *mut u8,
    size: usize,
}

impl Block {
    fn layout(size: usize) -> Layout {
        // A size that fits no layout cannot be allocated either; both fail alike.
        Layout::from_size_align(size, ALIGN).unwrap_or(Layout::new::<u8>())
    }

    fn new(size: usize) -> Self {
        let layout = Self::layout(size);
        // SAFETY: the layout has a size above zero.
        let start = unsafe { alloc(layout) };
        if start.is_null() || layout.size() < size {
            handle_alloc_error(layout);
        }
        Block { start, size }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with the same layout.
        unsafe { dealloc(self.start, Self::layout(self.size)) };
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
    pub fn bytes(&self, count: usize) -> *mut u8 {
        let count = count.max(1).next_multiple_of(ALIGN);
        self.pool.borrow_mut().take(count)
    }

    /// Memory set to zero.
    pub fn zeroed(&self, count: usize) -> *mut u8 {
        let start = self.bytes(count);
        // SAFETY: `start` has at least `count` bytes.
        unsafe { start.write_bytes(0, count) };
        start
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
    fn take(&mut self, count: usize) -> *mut u8 {
        while self.block < self.blocks.len() {
            let block = &self.blocks[self.block];
            if block.size - self.used >= count {
                // SAFETY: `used + count` stays within the block.
                let start = unsafe { block.start.add(self.used) };
                self.used += count;
                return start;
            }
            self.block += 1;
            self.used = 0;
        }
        let grown = self.blocks.last().map_or(SMALLEST, |b| b.size.saturating_mul(2)).min(KEEP_BYTES / 2);
        let block = Block::new(grown.max(count));
        let start = block.start;
        self.blocks.push(block);
        (self.block, self.used) = (self.blocks.len() - 1, count);
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_call_gets_the_same_memory() {
        let first = Frame::open().bytes(1000);
        assert_eq!(first, Frame::open().bytes(1000));
    }

    #[test]
    fn nested_frames_do_not_overlap() {
        let outer = Frame::open();
        let a = outer.zeroed(100);
        let inner = Frame::open();
        let b = inner.bytes(1 << 20);
        assert!((b as usize) >= a as usize + 128 || (b as usize) + (1 << 20) <= a as usize);
        drop(inner);
        let c = outer.bytes(8);
        assert_ne!(a, c);
    }
}

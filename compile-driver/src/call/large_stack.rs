//! Runs a derivative on a stack several times as large as its function's: Enzyme keeps in each frame of a recursion what the reverse sweep needs, and
//! arrays on the stack have shadows.
//!
//! The worker marks the derivatives that may need it (`core-ad/llvm/src/analysis/stack_use.rs`). Only pages that are
//! touched take memory, and a thread keeps its stack: to map one for each call takes longer than many a derivative.

use libc::{c_int, c_void};
use std::cell::Cell;
use std::ptr;

/// How many times the present stack.
const TIMES: usize = 32;

/// Bytes at least: 32 times the usual 8 MiB.
const LEAST: usize = 256 << 20;

/// Bytes at most; a thread with more runs on what it has.
const MOST: usize = 1 << 30;

/// Bytes at the far end that end the process when they are touched, as below every stack of Linux: a large frame must not step over them.
const GUARD: usize = 1 << 20;

/// Bytes whose pages stay between calls; those of deeper calls are given back.
const KEPT: usize = 1 << 20;

thread_local! {
    /// The stack of this thread while no derivative is on it.
    static STACK: Cell<Option<Stack>> = const { Cell::new(None) };
}

/// Calls `run`, which must not unwind, on a large stack of this thread; on the present one where there is no memory for another.
pub fn run(run: impl FnOnce() -> i32) -> i32 {
    // Taken, so that a call inside `run` gets another one. While a thread ends it has none to take.
    let Some(stack) = STACK.try_with(Cell::take).ok().flatten().or_else(Stack::new) else { return run() };
    // SAFETY: memory of this thread that nothing runs on, aligned to pages, with a guard below it. Entry points catch exceptions, so
    // nothing unwinds through here.
    let status = unsafe { psm::on_stack(stack.start.cast(), stack.bytes, run) };
    stack.give_back_pages();
    let _ = STACK.try_with(|kept| kept.set(Some(stack)));
    status
}

/// How Linux is told what a mapping is for.
const FOR_STACKS: c_int = {
    #[cfg(target_os = "linux")]
    {
        libc::MAP_STACK
    }
    #[cfg(not(target_os = "linux"))]
    0
};

/// Memory for a stack, given back when dropped.
struct Stack {
    start: *mut c_void,
    bytes: usize,
}

impl Stack {
    /// The largest that there is address space for; `None` where the present one is as large.
    fn new() -> Option<Self> {
        let present = present_bytes();
        let halves = std::iter::successors(Some(wanted(present)), |bytes| Some(bytes / 2));
        halves.take_while(|bytes| *bytes > present.max(GUARD + KEPT)).find_map(Self::of)
    }

    fn of(bytes: usize) -> Option<Self> {
        let flags: c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | FOR_STACKS;
        // SAFETY: a new mapping.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        let stack = Stack { start, bytes };
        // SAFETY: parts of the mapping just made.
        let is_guarded = unsafe {
            // A huge page would be cleared for a few frames; kernels without huge pages refuse this.
            #[cfg(target_os = "linux")]
            libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE);
            libc::mprotect(start, GUARD, libc::PROT_NONE) == 0
        };
        is_guarded.then_some(stack)
    }

    /// Gives back the pages that only deep calls touch.
    fn give_back_pages(&self) {
        // SAFETY: memory that no live value is in.
        unsafe { libc::madvise(self.start, self.bytes - KEPT, libc::MADV_DONTNEED) };
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: a mapping of this process, which nothing runs on any more.
        unsafe { libc::munmap(self.start, self.bytes) };
    }
}

/// Bytes that the stack of this thread has.
#[cfg(target_os = "macos")]
fn present_bytes() -> usize {
    // SAFETY: asks about the thread that calls.
    unsafe { libc::pthread_get_stacksize_np(libc::pthread_self()) }
}

/// Bytes that the stack of this thread may have; the largest number where there is no limit.
#[cfg(not(target_os = "macos"))]
fn present_bytes() -> usize {
    // SAFETY: each function writes to the local variable that it is given; attributes that were got are given back.
    unsafe {
        // The first thread's stack grows up to a limit that may change; the others' are as they were made.
        if libc::syscall(libc::SYS_gettid) == libc::c_long::from(libc::getpid()) {
            let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
            libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit);
            return usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX);
        }
        let mut attributes = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return 0;
        }
        let mut bytes = 0;
        libc::pthread_attr_getstacksize(&raw const attributes, &raw mut bytes);
        libc::pthread_attr_destroy(&raw mut attributes);
        bytes
    }
}

/// Bytes for a derivative where its function has so many; whole pages.
fn wanted(present: usize) -> usize {
    present.saturating_mul(TIMES).clamp(LEAST, MOST) & !(GUARD - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes about a kilobyte of stack for each call.
    fn depth(calls: u64) -> u64 {
        let frame = std::hint::black_box([calls; 128]);
        if calls == 0 { 0 } else { depth(calls - 1) + u64::from(frame[(calls % 128) as usize] == calls) }
    }

    #[test]
    fn the_size_follows_the_present_one() {
        assert_eq!(wanted(8 << 20), 256 << 20);
        assert_eq!(wanted(16 << 20), 512 << 20);
        assert_eq!(wanted(usize::MAX), 1 << 30);
        assert_eq!(wanted(0), 256 << 20);
    }

    #[test]
    fn a_thread_with_a_larger_stack_keeps_it() {
        let on_thread = |bytes| {
            let thread = std::thread::Builder::new().stack_size(bytes);
            thread.spawn(|| Stack::new().is_some()).expect("a thread").join().expect("no panic")
        };
        assert!(on_thread(2 << 20));
        assert!(!on_thread(MOST + GUARD));
    }

    #[test]
    fn deep_calls_return_their_value() {
        // Tests run on threads of 2 MiB.
        let mut deep = 0;
        let status = run(|| {
            deep = depth(100_000);
            7
        });
        assert_eq!((status, deep), (7, 100_000));
    }

    #[test]
    fn a_call_inside_a_call_has_a_stack_of_its_own() {
        let status = run(|| run(|| i32::from(depth(20_000) == 20_000)) + i32::from(depth(20_000) == 20_000));
        assert_eq!(status, 2);
    }

    #[test]
    fn a_thread_keeps_its_stack_but_not_the_memory_of_deep_calls() {
        let place = || {
            let mut found = 0;
            run(|| {
                found = psm::stack_pointer().addr();
                i32::from(depth(100_000) == 100_000)
            });
            found
        };
        assert_eq!(place(), place());
        let stack = STACK.take().expect("a stack is kept");
        let mut pages = vec![0_u8; stack.bytes / 4096];
        // SAFETY: one byte for each page of the mapping.
        assert_eq!(unsafe { libc::mincore(stack.start, stack.bytes, pages.as_mut_ptr()) }, 0);
        assert!(pages.iter().filter(|page| **page & 1 == 1).count() <= KEPT / 4096);
    }

    #[test]
    fn without_address_space_there_is_no_stack() {
        assert!(Stack::of(1 << 60).is_none());
        assert!(Stack::of(1 << 22).is_some());
    }
}

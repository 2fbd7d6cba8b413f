//! Captures a child's output within bounds: a result whole or not at all, error text by its beginning and its end.

use std::io::{ErrorKind, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

/// What is kept of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Everything, if it is not more than this.
    All(usize),
    /// So much of its beginning and of its end.
    Ends(usize),
}

/// What was read so far.
#[derive(Debug)]
struct Held {
    keep: Keep,
    head: Vec<u8>,
    tail: Vec<u8>,
    left_out: usize,
    overflowed: bool,
    /// Words after which no more is wanted, and whether they have come.
    last_words: Option<&'static str>,
    ended: bool,
}

/// A stream that is read to its end on a thread of its own, which nobody joins: a pipe that outlives the child must not hold the
/// caller.
#[derive(Clone, Debug)]
pub struct Capture {
    held: Arc<Mutex<Held>>,
}

impl Capture {
    /// Begins to read; `done` hears of the end.
    pub fn of(pipe: impl Read + Send + 'static, keep: Keep, done: mpsc::Sender<()>) -> Self {
        Self::to_last_words(pipe, keep, None, done)
    }

    /// Begins to read, to the end or to some words; `done` hears of either.
    pub fn to_last_words(
        mut pipe: impl Read + Send + 'static,
        keep: Keep,
        last_words: Option<&'static str>,
        done: mpsc::Sender<()>,
    ) -> Self {
        let (head, tail) = (Vec::new(), Vec::new());
        let held = Held { keep, head, tail, left_out: 0, overflowed: false, last_words, ended: false };
        let capture = Capture { held: Arc::new(Mutex::new(held)) };
        let target = capture.clone();
        thread::spawn(move || {
            let mut chunk = vec![0; 1 << 16];
            loop {
                match pipe.read(&mut chunk) {
                    Ok(0) => break,
                    Ok(n) if target.lock().add(&chunk[..n]) => {}
                    Ok(_) => break,
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            // The receiver may be gone already.
            let _ = done.send(());
        });
        capture
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there was more than may be kept of what has to be whole.
    pub fn overflowed(&self) -> bool {
        self.lock().overflowed
    }

    /// Whether the words have come after which no more is wanted.
    pub fn said_last_words(&self) -> bool {
        self.lock().ended
    }

    /// Takes what was read so far.
    pub fn take(&self) -> Vec<u8> {
        let mut held = self.lock();
        let mut all = std::mem::take(&mut held.head);
        if held.left_out > 0 {
            all.extend_from_slice(format!("\n[... {} bytes left out ...]\n", held.left_out).as_bytes());
        }
        all.append(&mut held.tail);
        all
    }
}

impl Held {
    /// Adds what has come; `false` where no more is wanted.
    fn add(&mut self, bytes: &[u8]) -> bool {
        self.ended = self.last_words.is_some_and(|words| self.completes(bytes, words));
        !self.ended && self.keep(bytes)
    }

    /// Whether some words end in these bytes, or begin in those before them. They are kept up to their end.
    fn completes(&mut self, bytes: &[u8], words: &str) -> bool {
        let before = if self.tail.is_empty() { &self.head } else { &self.tail };
        let joint = before.len().min(words.len() - 1);
        let seam = [&before[before.len() - joint..], bytes].concat();
        let Some(at) = seam.windows(words.len()).position(|part| part == words.as_bytes()) else { return false };
        self.keep(&seam[joint..at + words.len()])
    }

    fn keep(&mut self, bytes: &[u8]) -> bool {
        match self.keep {
            Keep::All(most) => {
                self.overflowed = self.head.len() + bytes.len() > most;
                if self.overflowed {
                    self.head = Vec::new();
                    return false;
                }
                self.head.extend_from_slice(bytes);
            }
            Keep::Ends(each) => {
                let first = bytes.len().min(each - self.head.len());
                self.head.extend_from_slice(&bytes[..first]);
                self.tail.extend_from_slice(&bytes[first..]);
                // Moved seldom, so that it costs little a byte.
                if self.tail.len() > 2 * each {
                    let surplus = self.tail.len() - each;
                    self.tail.drain(..surplus);
                    self.left_out += surplus;
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(bytes: Vec<u8>, keep: Keep) -> Capture {
        let (done, finished) = mpsc::channel();
        let capture = Capture::of(std::io::Cursor::new(bytes), keep, done);
        finished.recv().unwrap();
        capture
    }

    #[test]
    fn both_ends_of_a_long_complaint_are_kept() {
        let text: Vec<u8> = (0..1_000_000).map(|i| b'a' + (i / 50_000) as u8).collect();
        let kept = captured(text, Keep::Ends(1000)).take();
        assert!(kept.starts_with(b"aaa") && kept.ends_with(b"ttt") && kept.len() < 4000, "{}", kept.len());
        assert!(String::from_utf8_lossy(&kept).contains("bytes left out"));
        assert_eq!(captured(b"short".to_vec(), Keep::Ends(1000)).take(), b"short");
    }

    #[test]
    fn a_result_is_whole_or_not_there() {
        let whole = captured(vec![7; 100_000], Keep::All(100_000));
        assert!(!whole.overflowed());
        assert_eq!(whole.take().len(), 100_000);
        let over = captured(vec![7; 100_001], Keep::All(100_000));
        assert!(over.overflowed() && over.take().is_empty());
    }

    /// Bytes that come one at a time.
    struct Drip(Vec<u8>);

    impl Read for Drip {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let one = self.0.len().min(1);
            self.0.drain(..one).zip(into).for_each(|(byte, place)| *place = byte);
            Ok(one)
        }
    }

    #[test]
    fn nothing_is_kept_after_the_last_words() {
        let read = |bytes: &[u8], words| {
            let (done, finished) = mpsc::channel();
            let capture = Capture::to_last_words(Drip(bytes.to_vec()), Keep::Ends(100), Some(words), done);
            finished.recv().unwrap();
            (capture.said_last_words(), capture.take())
        };
        assert_eq!(read(b"a, b. The end. More.", "end"), (true, b"a, b. The end".to_vec()));
        assert_eq!(read(b"a, b", "end"), (false, b"a, b".to_vec()));
    }
}

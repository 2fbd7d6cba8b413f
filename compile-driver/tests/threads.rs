//! Stress test of threads that open, build and call at once, over batches that have threads of their own, on one cache that is pruned meanwhile: every
//! gradient is right. A test like any other, and the one that `make tsan` runs under ThreadSanitizer.

use compile_driver::cache::{Cache, maintenance};
use compile_driver::{Function, Input, Results, View};
use core_ad::DType;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Where the inner test finds its source.
const FOLDER: &str = "FFGRAD_STRESS_FOLDER";
const THREADS: usize = 6;
const ROUNDS: usize = 8;
/// Elements, and numbers in each.
const BATCH: [i64; 2] = [64, 500];
/// Functions that differ by a macro.
const VARIANTS: usize = 3;

const SOURCE: &str = "\
static double scaled(double x) { return K * x; }
void cube(const double* x, int n, double* y) {
  for (int i = 0; i < n; i++) y[i] = scaled(x[i] * x[i] * x[i]);
}
";

#[test]
fn threads_that_build_call_and_prune_at_once_get_right_gradients() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("cube.c"), SOURCE).expect("a source");
    let mut inner = Command::new(std::env::current_exe().expect("this test has a path"));
    inner.args(["--ignored", "--exact", "inner", "--nocapture"]);
    // A separate cache: pruning removes nothing of a user's.
    inner.env("FFGRAD_CACHE_DIR", folder.path().join("cache")).env(FOLDER, folder.path());
    let output = inner.output().expect("it starts");
    let printed = [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat();
    assert!(output.status.success() && printed.contains("1 passed"), "{}\n{printed}", output.status);
    assert!(!printed.contains("WARNING: ThreadSanitizer"), "{printed}");
}

#[test]
#[ignore = "run by the test above, with a cache of its own"]
fn inner() {
    let folder = PathBuf::from(std::env::var_os(FOLDER).expect("run by the test above"));
    let cache = Cache::open().expect("a cache");
    let (over, shared) = (AtomicBool::new(false), Arc::new(open(&folder, 0)));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                maintenance::prune(&cache, 0, None).expect("prunes");
                maintenance::list(&cache);
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        let workers: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (folder, shared) = (&folder, shared.clone());
                scope.spawn(move || work(thread, folder, &shared))
            })
            .collect();
        let outcomes: Vec<_> = workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        over.store(true, Ordering::Relaxed);
        assert!(outcomes.iter().all(Result::is_ok));
    });
}

/// Calls the function that all share, and others that are opened again each time.
fn work(thread: usize, folder: &Path, shared: &Function) {
    for round in 0..ROUNDS {
        assert!(gradient(shared, 2.0).iter().all(|&g| g == 12.0));
        let variant = (thread + round) % VARIANTS;
        let own = open(folder, variant);
        assert!(gradient(&own, 2.0).iter().all(|&g| g == 12.0 * (variant + 1) as f64));
        assert!(own.take_warnings().is_empty());
    }
}

fn open(folder: &Path, variant: usize) -> Function {
    let spec = serde_json::json!({
        "sources": [folder.join("cube.c")],
        "function": "cube",
        "signature": "x[...,n] -> y[...,n]",
        "options": { "defines": { "K": (variant + 1).to_string() }, "threads": 3 },
    });
    Function::open(serde_json::from_value(spec).expect("a specification")).expect("opens")
}

/// The gradient of the sum at x everywhere, of a batch.
fn gradient(function: &Function, x: f64) -> Vec<f64> {
    let count = BATCH.iter().product::<i64>() as usize;
    let (point, ones) = (vec![x; count], vec![1.0_f64; count]);
    let view = |data: &[f64]| View { data: data.as_ptr().cast(), dtype: DType::F64, shape: &BATCH, strides: None };
    let mut made = Made(Vec::new());
    function.vjp(&[Input::Array(view(&point))], &[Some(view(&ones))], 1, &mut made).expect("has a gradient");
    assert_eq!(made.0.len(), count);
    made.0
}

/// Memory for the one result.
struct Made(Vec<f64>);

impl Results for Made {
    fn allocate(&mut self, _: usize, _: DType, shape: &[i64]) -> compile_driver::Result<*mut u8> {
        self.0 = vec![f64::NAN; shape.iter().product::<i64>() as usize];
        Ok(self.0.as_mut_ptr().cast())
    }
}

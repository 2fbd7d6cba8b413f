//! What is known of a function's derivatives: which were verified, at which shapes, and which were refused.

pub(crate) mod check;
pub(crate) mod checked_shapes;
mod double_build;
mod inside_sizes;
pub(crate) mod paths;
pub(crate) mod status;

use crate::function::Function;
use crate::function::opened::Opened;
use crate::os::interrupt::InterruptibleLock;
use checked_shapes::ShapeRecord;
use core_ad::DerivativeSet;
use core_ad::diagnostics::Diagnosis;
use inside_sizes::InsideSizes;
use status::Derivative;
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, RwLock};

/// What this process has found out about the derivatives of one function.
#[derive(Default)]
pub(crate) struct Trust {
    /// Those in use.
    pub derivatives: RwLock<HashMap<DerivativeSet, Arc<Derivative>>>,
    /// Those that cannot be built, and why.
    pub refusals: Mutex<HashMap<DerivativeSet, Box<Diagnosis>>>,
    /// Shapes at which a first call found every pipeline wrong, for the pipeline that serves other shapes.
    pub refused_sizes: Mutex<HashMap<DerivativeSet, ShapeRecord>>,
    /// One thread builds and verifies at a time.
    pub building: InterruptibleLock,
    /// The same source in double precision, for what is in single precision; `None` where there is none.
    pub double_build: OnceLock<Option<Arc<Function>>>,
    /// No tape can be kept for this function.
    pub tapeless: AtomicBool,
    /// The sizes at which the function was seen to stay inside of its arrays.
    pub inside: InsideSizes,
}

/// The choice of a derivative: what was opened, and what is known so far.
#[derive(Clone, Copy)]
pub(crate) struct Selection<'f> {
    pub opened: &'f Opened,
    pub trust: &'f Trust,
}

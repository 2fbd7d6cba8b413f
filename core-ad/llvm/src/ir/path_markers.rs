//! Markers of the paths of calls: what the forward sweep counts or flags where values decide ([`crate::lowering::path_map`]). After Enzyme they become
//! code ([`crate::lowering::path_counts`]).

use super::markers::{INACCESSIBLE_MEMORY, declare_inactive, set_flag, without_value};
use inkwell::attributes::AttributeLoc;
use inkwell::module::Module;
use inkwell::values::FunctionValue;

/// Name of the function `(first, edges, taken)` that is called where values decide a path: the number of its first edge,
/// how many there are, and which of them is taken.
pub const PATH: &str = "ffgrad.path";

/// The same for a choice between two numbers.
pub const CHOICE: &str = "ffgrad.choice";

/// The same for a branch to code that does not return, which is left out: edge 1 leads there.
pub const CHECK: &str = "ffgrad.check";

/// The markers of this file.
pub const MARKERS: [&str; 5] = [PATH, CHOICE, CHECK, FLAG, TRIP];

/// Whether a function is one of them.
pub fn is_one(name: &str) -> bool {
    MARKERS.contains(&name)
}

/// The function of one of them.
pub fn marker<'ctx>(module: &Module<'ctx>, name: &str) -> FunctionValue<'ctx> {
    counter(module, name)
}

/// The function of the name [`PATH`].
pub fn path_marker<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    counter(module, PATH)
}

/// The function of the name [`CHOICE`].
pub fn choice_marker<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    counter(module, CHOICE)
}

/// The function of the name [`CHECK`].
pub fn check_marker<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    counter(module, CHECK)
}

/// Name of the function `(number, 0, holds)`: whether something holds in some iteration, of which one is enough to make a path new.
pub const FLAG: &str = "ffgrad.flag";

/// The number of the flag for edges that a single value takes (`x == 0`).
pub const POINT: u64 = 0;

/// The function of the name [`FLAG`].
pub fn flag_marker<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    counter(module, FLAG)
}

/// Name of the function `(loop, 0, leaves)` that is called before each branch that may leave a loop where values decide: whether it does.
pub const TRIP: &str = "ffgrad.trip";

/// The function of the name [`TRIP`].
pub fn trip_marker<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    counter(module, TRIP)
}

fn counter<'ctx>(module: &Module<'ctx>, name: &str) -> FunctionValue<'ctx> {
    let ty = without_value(module, &[module.get_context().i32_type().into(); 3]);
    let function = declare_inactive(module, name, ty, INACCESSIBLE_MEMORY);
    for flag in ["nomerge", "noinline"] {
        set_flag(module, function, AttributeLoc::Function, flag, 0);
    }
    function
}

//! Variants in packs: what `tune` and `specialize` chose where a function was packed.
//!
//! Each is a function of its own, with other options, and sizes as constants where it is for those alone. A call takes the first
//! that was chosen for its derivatives and sizes, else the function as it is without either option. Times are those of the machine
//! that chose; whether the code can run is asked of every machine as always.

use crate::error::{Error, Result};
use crate::function::Function;
use crate::pack::read::{Variant, refusal};
use core_ad::CallPlan;
use core_ad::DerivativeSet;
use core_ad::shapes::Resolved;
use std::sync::{Arc, PoisonError};

/// A variant that was opened.
pub(crate) struct PackedVariant {
    wanted: DerivativeSet,
    /// Numbers of the parameters, with their sizes.
    sizes: Vec<(usize, i64)>,
    function: Arc<Function>,
}

/// What was chosen for a function in this process, that for some sizes first.
///
/// # Errors
///
/// A pack error where nothing was chosen yet.
pub(crate) fn chosen(function: &Function) -> Result<Vec<(DerivativeSet, Arc<Function>)>> {
    let mut all = function.variants.specialised.all();
    let tuned = function.variants.tuned.read().unwrap_or_else(PoisonError::into_inner);
    all.extend(tuned.iter().flat_map(|(&wanted, winner)| winner.all().into_iter().map(move |f| (wanted, f))));
    if all.is_empty() {
        let name = &function.spec().function;
        let option = if function.spec().options.tune { "tune" } else { "specialize" };
        let headline = format!("`{name}` cannot be packed with the option `{option}`: nothing was chosen yet");
        let diagnosis = refusal("pack-export", name, headline)
            .advise("Call its gradient first: what is chosen then is packed. Or open it without that option.");
        return Err(Error::Pack(Box::new(diagnosis)));
    }
    let rank = |(wanted, f): &(DerivativeSet, Arc<Function>)| {
        let sizes = &f.spec().options.fixed_sizes;
        (sizes.is_empty(), wanted.name(), sizes.values().copied().collect::<Vec<i64>>())
    };
    all.sort_by_key(rank);
    Ok(all)
}

impl PackedVariant {
    /// A variant with its function.
    pub fn of(variant: &Variant, function: Function) -> Self {
        let plan: &CallPlan = &function.manifest().plan;
        let args = plan.args.iter().enumerate();
        let sizes = args.filter_map(|(i, arg)| Some((i, *variant.sizes.get(&arg.name)?))).collect();
        PackedVariant { wanted: variant.wanted, sizes, function: Arc::new(function) }
    }

    /// The function, where it was chosen for these derivatives at these sizes.
    pub fn served_by(&self, wanted: DerivativeSet, resolved: &Resolved) -> Option<&Arc<Function>> {
        let fits = self.wanted == wanted && self.sizes.iter().all(|&(arg, size)| resolved.sizes[arg] == size);
        fits.then_some(&self.function)
    }
}

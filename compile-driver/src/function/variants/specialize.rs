//! `specialize=True`: a variant of the derivative for the sizes at hand, kept where it is faster.
//!
//! With its dimensions as constants a function's loops have known lengths: short ones are unrolled, remainders go,
//! products of sizes are folded. For long loops it brings nothing, and every set of sizes costs a build. So both are
//! built, verified and timed on the caller's arguments, and a variant is kept only where it pays; after some sets of
//! sizes the rest is left to the general code. The outcome is kept in the function's cache entry.

use crate::cache;
use crate::call::arguments::Input;
use crate::error::{Error, Result};
use crate::function::Function;
use crate::function::variants::tune;
use crate::load::artifact::Artifact;
use crate::options::Spec;
use crate::os::interrupt::InterruptibleLock;
use core_ad::DerivativeSet;
use core_ad::manifest::{FORMAT, Specialization};
use core_ad::protocol::Entry;
use core_ad::shapes::Resolved;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

/// Sets of sizes that get a variant in one process.
const MOST: usize = 16;

/// A variant must take at most this part of the general code's time.
pub(crate) const PAYS: f64 = 0.95;

/// For these inputs at these sizes.
type Case = (DerivativeSet, Vec<i64>);

fn case(wanted: DerivativeSet, sizes: &BTreeMap<String, i64>) -> Case {
    (wanted, sizes.values().copied().collect())
}

/// Variants for the sizes of calls.
#[derive(Default)]
pub(crate) struct Specialised {
    general: RwLock<Option<Arc<Function>>>,
    chosen: RwLock<HashMap<Case, Arc<Function>>>,
    choosing: InterruptibleLock,
}

impl Function {
    /// The verified derivative for the inputs in `wanted`, by the faster of general code and a variant for these sizes.
    pub(crate) fn specialised(
        &self,
        wanted: DerivativeSet,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Arc<Artifact>> {
        let sizes = self.opened.sizes(resolved);
        let key = case(wanted, &sizes);
        let function = match self.variants.specialised.chosen(&key) {
            Some(function) => function,
            None => {
                let _choosing = self.variants.specialised.choosing.lock()?;
                match self.variants.specialised.chosen(&key) {
                    Some(function) => function,
                    None => {
                        let function = self.better(wanted, inputs, resolved, &sizes)?;
                        let mut all = self.variants.specialised.chosen.write().unwrap_or_else(PoisonError::into_inner);
                        all.insert(key, function.clone());
                        function
                    }
                }
            }
        };
        let artifact = function.derivative(wanted, inputs, resolved)?;
        function.take_warnings().into_iter().for_each(|text| self.opened.warn(text));
        Ok(artifact)
    }

    /// The function that was chosen for these sizes, if one was.
    pub(crate) fn specialised_before(&self, wanted: DerivativeSet, resolved: &Resolved) -> Option<Arc<Function>> {
        self.variants.specialised.chosen(&case(wanted, &self.opened.sizes(resolved)))
    }

    fn better(
        &self,
        wanted: DerivativeSet,
        inputs: &[Input<'_>],
        resolved: &Resolved,
        sizes: &BTreeMap<String, i64>,
    ) -> Result<Arc<Function>> {
        let general = self.general()?;
        let many = self.variants.specialised.chosen.read().unwrap_or_else(PoisonError::into_inner).len() >= MOST;
        if sizes.is_empty() || many || !wanted.entries().contains(&Entry::Vjp) {
            return Ok(general);
        }
        let file = self.specialization_file(wanted, sizes);
        let kept = cache::read_json::<Specialization>(&file).filter(|s| s.format == FORMAT && s.sizes == *sizes);
        let variant = || self.opened_with(self.with_constants(sizes)).map(Arc::new);
        let (outcome, special) = match kept {
            Some(outcome) => (outcome, None),
            None => {
                let special = variant()?;
                let time = |function: &Function| -> Result<f64> {
                    let artifact = function.derivative(wanted, inputs, resolved)?;
                    Ok(tune::time_vjp(function, &artifact, inputs, resolved)?.as_secs_f64() * 1e6)
                };
                let general_microseconds = time(&general)?;
                // What cannot be built for fixed sizes is no loss.
                let special_microseconds = match time(&special) {
                    Ok(time) => time,
                    Err(Error::Interrupted) => return Err(Error::Interrupted),
                    Err(_) => f64::MAX,
                };
                let sizes = sizes.clone();
                let outcome = Specialization { format: FORMAT, sizes, general_microseconds, special_microseconds };
                cache::write_json(&file, &outcome)?;
                (outcome, Some(special))
            }
        };
        if outcome.special_microseconds > PAYS * outcome.general_microseconds {
            return Ok(general);
        }
        special.map_or_else(variant, Ok)
    }

    /// This function without the option.
    fn general(&self) -> Result<Arc<Function>> {
        let known = self.variants.specialised.general.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = known {
            return Ok(known);
        }
        let opened = Arc::new(self.opened_with(self.with_constants(&BTreeMap::new()))?);
        *self.variants.specialised.general.write().unwrap_or_else(PoisonError::into_inner) = Some(opened.clone());
        Ok(opened)
    }

    fn with_constants(&self, sizes: &BTreeMap<String, i64>) -> Spec {
        let mut spec = self.opened.spec.clone();
        spec.options.specialize = false;
        spec.options.fixed_sizes = sizes.clone();
        spec
    }

    fn specialization_file(&self, wanted: DerivativeSet, sizes: &BTreeMap<String, i64>) -> PathBuf {
        let values: Vec<String> = sizes.values().map(i64::to_string).collect();
        let name = format!("special-{}-{}.json", wanted.name(), values.join("x"));
        self.opened.cache.entry(&self.opened.manifest.key).join(name)
    }
}

impl Specialised {
    /// What serves the calls so far: variants, and the general code.
    pub fn all(&self) -> Vec<(DerivativeSet, Arc<Function>)> {
        let chosen = self.chosen.read().unwrap_or_else(PoisonError::into_inner);
        chosen.iter().map(|((wanted, _), function)| (*wanted, function.clone())).collect()
    }

    fn chosen(&self, key: &Case) -> Option<Arc<Function>> {
        self.chosen.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }
}

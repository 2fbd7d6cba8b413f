//! A cache of resolved shapes, because a loop calls with the same ones again and again.
//!
//! Shapes that are the same as those of an earlier call were checked then, and imply the same. What is kept is compared whole,
//! so that nothing is taken on trust; a few sets of shapes are, the least recent first to go.

use crate::call::arguments::Input;
use core_ad::CallPlan;
use core_ad::shapes::Resolved;
use std::sync::{Arc, PoisonError, RwLock};

/// How many sets of shapes are kept.
const KEPT: usize = 4;

/// The shapes of the last calls.
#[derive(Default)]
pub(crate) struct ShapeCache {
    last: RwLock<Vec<Arc<Resolved>>>,
}

impl ShapeCache {
    /// What the shapes of these inputs imply, if an earlier call had them.
    pub(crate) fn find(&self, plan: &CallPlan, inputs: &[Input<'_>]) -> Option<Arc<Resolved>> {
        let last = self.last.read().unwrap_or_else(PoisonError::into_inner);
        last.iter().find(|known| has_shapes(known, plan, inputs)).cloned()
    }

    /// Keeps what the shapes of a call imply.
    pub(crate) fn keep(&self, resolved: &Arc<Resolved>) {
        let mut last = self.last.write().unwrap_or_else(PoisonError::into_inner);
        last.truncate(KEPT - 1);
        last.insert(0, resolved.clone());
    }
}

fn has_shapes(known: &Resolved, plan: &CallPlan, inputs: &[Input<'_>]) -> bool {
    plan.inputs.len() == inputs.len()
        && plan.inputs.iter().zip(inputs).all(|(&arg, input)| known.shapes[arg] == input.shape())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::arguments::View;
    use core_ad::plan::Dim;
    use core_ad::shapes::resolve;
    use core_ad::{Arg, DType, Passing, Role};
    use std::collections::BTreeMap;

    fn plan() -> CallPlan {
        let arg = |name: &str, role| Arg {
            name: name.to_owned(),
            role,
            dtype: DType::F64,
            passing: Passing::Pointer,
            shape: vec![Dim::Sym("n".to_owned())],
            constant: false,
            flat: false,
            column_major: false,
            batched: false,
            text: None,
        };
        let args = vec![arg("x", Role::Input), arg("y", Role::Output)];
        CallPlan { args, inputs: vec![0], outputs: vec![1], drops_return: false, signature: "x[n] -> y[n]".to_owned() }
    }

    fn find(recent: &ShapeCache, shape: &[i64]) -> Option<Arc<Resolved>> {
        let view = View { data: std::ptr::null(), dtype: DType::F64, shape, strides: None };
        recent.find(&plan(), &[Input::Array(view)])
    }

    #[test]
    fn only_the_same_shapes_are_found() {
        let (recent, plan) = (ShapeCache::default(), plan());
        let resolved = Arc::new(resolve(&plan, &[&[3]], &BTreeMap::new()).unwrap_or_default());
        recent.keep(&resolved);
        assert_eq!(find(&recent, &[3]), Some(resolved));
        for other in [&[4][..], &[], &[3, 1]] {
            assert_eq!(find(&recent, other), None);
        }
        assert_eq!(recent.find(&plan, &[]), None);
    }

    #[test]
    fn the_least_recent_goes_first() {
        let (recent, plan) = (ShapeCache::default(), plan());
        for n in 0..=KEPT as i64 {
            recent.keep(&Arc::new(resolve(&plan, &[&[n]], &BTreeMap::new()).unwrap_or_default()));
        }
        assert_eq!(find(&recent, &[0]), None);
        assert!((1..=KEPT as i64).all(|n| find(&recent, &[n]).is_some()));
    }
}

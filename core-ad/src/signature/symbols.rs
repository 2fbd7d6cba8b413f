//! The dimension symbols of a signature, and which of them get a value.

use super::parser::{Item, Tree};
use crate::Dim;
use crate::shapes::dims::{each_symbol, unknown};
use std::collections::{BTreeMap, BTreeSet};

/// Every item, from left to right.
pub(super) fn items(tree: &Tree) -> impl Iterator<Item = &Item> {
    tree.inputs.iter().chain(&tree.outputs).chain(&tree.scratch)
}

/// Every symbol, with the item that has it first.
pub(super) fn symbols(tree: &Tree) -> BTreeMap<&str, &Item> {
    let mut symbols = BTreeMap::new();
    for item in items(tree) {
        for dim in item.dims.iter().flatten() {
            each_symbol(dim, &mut |symbol| {
                symbols.entry(symbol).or_insert(item);
            });
        }
    }
    symbols
}

/// The symbols that `sizes` and the shapes of the inputs give a value to.
pub(super) fn bound<'a>(inputs: &'a [Item], sizes: &'a BTreeMap<String, i64>) -> BTreeSet<&'a str> {
    let mut known: BTreeSet<&str> = sizes.keys().map(String::as_str).collect();
    let dims = || inputs.iter().flat_map(|item| item.dims.iter().flatten());
    loop {
        let before = known.len();
        for dim in dims() {
            if let Some(symbol) = unknown(dim, &|name| known.contains(name)) {
                known.insert(symbol);
            }
        }
        if known.len() == before {
            return known;
        }
    }
}

/// The symbols of a signature that neither `sizes` nor the shapes of its inputs give a value to, by name.
pub(super) fn unbound(tree: &Tree, sizes: &BTreeMap<String, i64>) -> Vec<String> {
    let known = bound(&tree.inputs, sizes);
    symbols(tree).into_keys().filter(|symbol| !known.contains(symbol)).map(str::to_owned).collect()
}

/// Whether a literal zero is a divisor.
pub(super) fn divides_by_zero(dim: &Dim) -> bool {
    match dim {
        Dim::Int(_) | Dim::Sym(_) => false,
        Dim::FloorDiv(_, b) if **b == Dim::Int(0) => true,
        Dim::Add(a, b) | Dim::Sub(a, b) | Dim::Mul(a, b) | Dim::FloorDiv(a, b) => {
            divides_by_zero(a) || divides_by_zero(b)
        }
    }
}

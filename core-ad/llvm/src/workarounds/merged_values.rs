//! Keeps values of merging paths that Enzyme could only recompute in exponential time.
//!
//! ```text
//! for (k = 0; k < n; k++) {
//!   if (x[0] * s > 1) s = sin(s); else s = exp(s);      // fifteen such lines: no derivative after 100 s
//! }
//! ```
//!
//! Enzyme stores least (`EnzymeMinCut`): of each iteration the first `s`, from which it recomputes all others in the reverse sweep.
//! `GradientUtils::unwrapM` recomputes a phi in new blocks: the branch condition, and in a block for each predecessor what the phi takes from there. It shares
//! what it recomputed within a block only, so each of the three depends on the `s` before, and recomputes that for itself.
//! Such a phi goes through a function that Enzyme does not repeat ([`crate::ir::identity`]), as soon as recomputing it would take more than [`MAX_PHIS`]
//! phis: it is one more number to store for each iteration. Outside of loops Enzyme has the values at hand.

use super::{exit_values, lagged_phi};
use crate::analysis::cfg::{Cfg, Dominators, LoopNest};
use crate::ir::identity::is_identity;
use crate::ir::{self, Block, Op, Result, Value};
use inkwell::module::Module;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Phis that Enzyme may recompute for one value. Three branches one after another, each with both paths, are 13; four are 40.
const MAX_PHIS: u64 = 40;

/// Functions with more blocks than this are skipped.
const MAX_BLOCKS: usize = 20_000;

/// Passes such phis through the function.
///
/// # Errors
///
/// Errors of LLVM's builder.
pub fn run(module: &Module<'_>) -> Result<()> {
    for function in ir::functions(module) {
        let Some(nest) = LoopNest::up_to(function, MAX_BLOCKS).filter(|nest| !nest.loops.is_empty()) else { continue };
        for phi in Recomputed::of(nest).too_many {
            lagged_phi::replace(module, phi).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

/// What Enzyme recomputes for each value in loops.
struct Recomputed {
    nest: LoopNest,
    dominators: Dominators,
    /// For each block, whether it is in a loop, and whether a loop begins there.
    in_loop: Vec<bool>,
    begins: Vec<bool>,
    /// The phis that a value is recomputed from, without those behind them.
    from: HashMap<Value, BTreeSet<usize>>,
    /// How many phis each takes, itself counted.
    costs: Vec<u64>,
    /// The phis that are to be kept.
    too_many: Vec<Value>,
}

impl Recomputed {
    fn of(nest: LoopNest) -> Recomputed {
        let dominators = nest.cfg.dominators();
        let in_loop = (0..nest.cfg.len()).map(|b| nest.loops.iter().any(|l| l.body[b])).collect();
        let mut begins = vec![false; nest.cfg.len()];
        nest.loops.iter().for_each(|l| begins[l.header] = true);
        let (from, costs, too_many) = (HashMap::new(), Vec::new(), Vec::new());
        let mut all = Recomputed { nest, dominators, in_loop, begins, from, costs, too_many };
        for block in all.nest.cfg.in_reverse_postorder() {
            if all.in_loop[block] {
                all.look_at(block);
            }
        }
        all
    }

    fn look_at(&mut self, number: usize) {
        let block = self.nest.blocks[number];
        let phis = block.phis();
        let merges = !self.begins[number] && !block.first_after_phis().is(Op::LLVMLandingPad);
        let merging = |phi: &Value| merges && phi.incoming().iter().any(|(value, _)| *value != phi.operand(0));
        let merging: Vec<Value> = phis.into_iter().filter(merging).collect();
        if !merging.is_empty() {
            let decided = self.cost_of(&conditions(&self.nest, &self.dominators, number));
            merging.into_iter().for_each(|phi| self.look_at_phi(phi, decided));
        }
        for value in block.instructions().into_iter().filter(|i| is_recomputed(*i)) {
            let from: BTreeSet<usize> =
                value.operands().iter().filter_map(|o| self.from.get(o)).flatten().copied().collect();
            if !from.is_empty() {
                self.from.insert(value, from);
            }
        }
    }

    fn look_at_phi(&mut self, phi: Value, decided: u64) {
        let taken = phi.incoming().into_iter().map(|(value, _)| self.cost_of(&[value]));
        let cost = taken.fold(decided.saturating_add(1), u64::saturating_add);
        if cost > MAX_PHIS && is_kept(phi) {
            return self.too_many.push(phi);
        }
        self.from.insert(phi, BTreeSet::from([self.costs.len()]));
        self.costs.push(cost);
    }

    /// The phis that take part in recomputing values in one block.
    fn cost_of(&self, values: &[Value]) -> u64 {
        let phis: BTreeSet<usize> = values.iter().filter_map(|v| self.from.get(v)).flatten().copied().collect();
        phis.into_iter().fold(0, |sum, phi| sum.saturating_add(self.costs[phi]))
    }
}

/// Whether a phi is passed through the function: addresses, which have shadows, are recomputed.
fn is_kept(phi: Value) -> bool {
    !phi.is_pointer() && exit_values::is_led(phi)
}

/// Whether Enzyme may recompute an instruction from its operands.
fn is_recomputed(value: Value) -> bool {
    match value.op() {
        Some(Op::LLVMPHI | Op::LLVMStore | Op::LLVMAlloca | Op::LLVMInvoke) => false,
        Some(Op::LLVMCall) => value.only_computes() && !value.callee().is_some_and(|name| is_identity(&name)),
        _ => !value.is_terminator(),
    }
}

/// The conditions that tell by which edge a block is reached from its immediate dominator.
fn conditions(nest: &LoopNest, dominators: &Dominators, to: usize) -> Vec<Value> {
    let leads = leading(&nest.cfg, dominators, to);
    let by = |from: usize, next: usize| {
        if next == to { BTreeSet::from([from]) } else { leads.get(&next).cloned().unwrap_or_default() }
    };
    let decides = |from: &usize| {
        let mut reached = nest.cfg.successors[*from].iter().map(|next| by(*from, *next));
        reached.next().is_some_and(|first| reached.any(|other| other != first))
    };
    leads.keys().copied().filter(decides).filter_map(|from| condition(nest.blocks[from])).collect()
}

/// The blocks between a block's immediate dominator and itself, each with the predecessors of the block that it may lead to.
fn leading(cfg: &Cfg, dominators: &Dominators, to: usize) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut leads: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for &last in cfg.predecessors[to].iter().filter(|p| dominators.is_reached(**p)) {
        let mut open = vec![last];
        while let Some(block) = open.pop() {
            if leads.entry(block).or_default().insert(last) && !dominators.dominates(block, to) {
                open.extend(cfg.predecessors[block].iter().filter(|p| dominators.is_reached(**p)));
            }
        }
    }
    leads
}

fn condition(block: Block) -> Option<Value> {
    let end = block.terminator();
    (end.is(Op::LLVMBr) || end.is(Op::LLVMSwitch)).then(|| end.operand(0))
}

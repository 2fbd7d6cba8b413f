//! The loop of an anchor, in the form in which it is outlined.

use super::{Refusal, anchor, anchored, refusal};
use crate::analysis::cfg::{LoopNest, NaturalLoop};
use crate::ir::markers::WRAPPER;
use crate::ir::{Block, Value};
use core_ad::diagnostics::Location;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use std::collections::HashSet;

/// A loop with one block before it and one latch.
pub struct Target<'ctx> {
    /// The wrapper.
    pub function: FunctionValue<'ctx>,
    /// Its blocks, the header first.
    pub blocks: Vec<Block>,
    /// The same, to ask for membership.
    pub inside: HashSet<Block>,
    /// The block before it, which goes to the header alone.
    pub before: Block,
    /// The source of the back edge.
    pub latch: Block,
    /// The edges that leave it: from which block, by which of its edges, to which block.
    pub exits: Vec<(Block, u32, Block)>,
    /// Its anchors.
    pub anchors: Vec<Value>,
    /// How many snapshots may be held.
    pub snapshots: Value,
    /// Where it stands.
    pub place: Option<Location>,
}

impl Target<'_> {
    /// Its first block.
    pub fn header(&self) -> Block {
        self.blocks[0]
    }

    /// Whether a value is computed inside.
    pub fn has(&self, value: Value) -> bool {
        value.is_instruction() && self.inside.contains(&value.parent())
    }

    /// All of its instructions.
    pub fn instructions(&self) -> Vec<Value> {
        self.blocks.iter().flat_map(|b| b.instructions()).collect()
    }
}

const PLAIN: &str = "Checkpoint one loop of a nest, in a function that does not call itself.";

/// The next loop with an anchor.
///
/// # Errors
///
/// One that has no such form.
pub fn next<'ctx>(module: &Module<'ctx>) -> Result<Option<Target<'ctx>>, Refusal> {
    let Some(function) = anchored(module) else { return Ok(None) };
    let first = anchor::in_function(function)[0];
    let place = anchor::place_of(first);
    let no = |what: &str| refusal::no_loop(format!("the loop cannot be checkpointed: {what}"), place.clone(), PLAIN);
    if function.get_name().to_string_lossy() != WRAPPER {
        return Err(no(
            "its function cannot be made part of the differentiated one: it calls itself, or is called through a pointer",
        ));
    }
    let Some(nest) = LoopNest::of(function) else { return Err(no("its function is too large")) };
    let at = nest.cfg.number(first.parent());
    let around = nest.loops.iter().filter(|l| l.body[at]);
    let size = |l: &&NaturalLoop| l.body.iter().filter(|b| **b).count();
    let Some(found) = around.min_by_key(size) else {
        // The loop is gone: it runs once, or never.
        first.erase();
        return next(module);
    };
    let numbers: Vec<usize> = (0..nest.blocks.len()).filter(|b| found.body[*b]).collect();
    let others = numbers.iter().copied().filter(|b| *b != found.header);
    let blocks: Vec<Block> = std::iter::once(found.header).chain(others).map(|b| nest.blocks[b]).collect();
    let inside: HashSet<Block> = blocks.iter().copied().collect();
    let anchors: Vec<Value> =
        anchor::in_function(function).into_iter().filter(|a| inside.contains(&a.parent())).collect();
    let own = |a: &Value| {
        let block = nest.cfg.number(a.parent());
        !nest.loops.iter().any(|l| found.is_around(l) && l.body[block])
    };
    let is_nested = nest.loops.iter().any(|l| {
        l.is_around(found) && {
            let all = anchor::in_function(function).into_iter().map(|a| nest.cfg.number(a.parent()));
            all.filter(|b| l.body[*b] && !found.body[*b])
                .any(|b| !nest.loops.iter().any(|other| l.is_around(other) && other.body[b]))
        }
    });
    if !anchors.iter().all(own) || is_nested {
        return Err(no("it stands in another loop that is to be checkpointed, or has one inside"));
    }
    let entries: Vec<usize> = nest.cfg.predecessors[found.header].iter().copied().filter(|p| !found.body[*p]).collect();
    let ([before], [latch]) = (&entries[..], &found.latches[..]) else {
        return Err(no("it has several entries"));
    };
    let (before, latch) = (nest.blocks[*before], nest.blocks[*latch]);
    if before.successors().len() != 1 {
        return Err(no("it has no block of its own before it"));
    }
    let leaving = |b: &Block| {
        let edges = (0u32..).zip(b.successors()).collect::<Vec<_>>();
        edges.into_iter().map(|(i, to)| (*b, i, to)).collect::<Vec<_>>()
    };
    let exits = blocks.iter().flat_map(leaving).filter(|(_, _, to)| !inside.contains(to)).collect();
    Ok(Some(Target { function, inside, before, latch, exits, snapshots: first.operand(0), anchors, place, blocks }))
}

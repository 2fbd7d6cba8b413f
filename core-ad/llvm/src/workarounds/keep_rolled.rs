//! Keeps LLVM from unrolling inner loops before Enzyme where that leaves loads with the same SCEV in different loops.
//!
//! ```text
//! for (i < n) for (j < 4) s += a[i][j] * a[j][i];      for (i < n) for (j < 4) t += a[i][j] * a[j][i];
//! ```
//!
//! Enzyme shares the cache of a load with loads of equal SCEVs in other loops, and where the stride is not one element it reads the wrong places
//! ([`super::distinct_addresses`]). Here all accesses are dense, or have different starts. But LLVM's passes just before Enzyme unroll the inner loops, whose
//! lengths are constants, and then there are `a[i][0]`, `a[i][1]` .. of stride 4 in both loops of `i`: `a[i][3]` of the second is read from the cache of the first at the
//! place of `i = 0` (`tests/cases/enzyme_bugs/sums_of_nests.c`). So inner loops of constant length stay loops where what they read is written, and is read in another nest, too;
//! and so do loops of constant length around them, in all pipelines but the first.
//! After Enzyme they may be unrolled.

use super::distinct_addresses::{Access, disable_unroll, is_written};
use crate::analysis::cfg::{Cfg, MAX_BLOCKS};
use crate::analysis::induction::Loops;
use crate::analysis::memory_objects::Objects;
use crate::ir::{self, Block, Op, Value, metadata};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use std::collections::BTreeSet;
use std::ffi::CStr;

/// Metadata of the ends of such loops.
const ROLLED: &CStr = c"ffgrad.rolled";

/// Marks such loops. `around`: those around them, too. What an iteration needs is then more, so that fewer of them become functions.
pub fn run(module: &Module<'_>, around: bool) {
    for function in ir::functions(module) {
        for end in find_affected(function, around) {
            disable_unroll(module, end);
            metadata::mark(end, ROLLED);
        }
    }
}

/// After Enzyme: allows unrolling.
pub fn undo(module: &Module<'_>) {
    for i in ir::all_instructions(module).into_iter().filter(|i| !metadata::attached(*i, ROLLED).is_null()) {
        metadata::remove(i, c"llvm.loop");
        metadata::remove(i, ROLLED);
    }
}

/// A load that a nest of loops runs.
struct Nested {
    /// The objects that it may read; none where they are not known.
    objects: Vec<usize>,
    /// The headers of the loops that its address depends on, the outermost first.
    headers: Vec<usize>,
    /// How many of the innermost of them may be unrolled: all but the outermost one, at most.
    short: usize,
}

/// The ends of the loops.
fn find_affected(function: FunctionValue<'_>, outer: bool) -> Vec<Value> {
    let blocks = ir::blocks(function);
    if blocks.len() < 2 || blocks.len() > MAX_BLOCKS {
        return Vec::new();
    }
    let cfg = Cfg::of(&blocks);
    let loops = Loops { all: cfg.natural_loops(&cfg.dominators()), cfg: &cfg };
    let short: BTreeSet<usize> =
        (loops.all.iter().filter(|l| is_short(&blocks, &l.body, &cfg))).map(|l| l.header).collect();
    if short.is_empty() {
        return Vec::new();
    }
    let loads = blocks.iter().flat_map(|b| b.instructions()).filter(|i| i.is(Op::LLVMLoad) && !i.is_special());
    let accesses: Vec<Access> = loads.filter_map(|load| loops.access(load)).map(|(_, access)| access).collect();
    if accesses.is_empty() {
        return Vec::new();
    }
    let objects = Objects::of(function);
    let written = accesses.into_iter().filter(|access| is_written(&objects, access.load));
    let mut nested: Vec<Nested> = written.map(|access| Nested::of(&access, &loops, &short, &objects)).collect();
    // One of a kind is enough.
    nested.sort_by(|a, b| (&a.objects, &a.headers).cmp(&(&b.objects, &b.headers)));
    nested.dedup_by(|a, b| a.objects == b.objects && a.headers == b.headers);
    let mut found = BTreeSet::new();
    for a in nested.iter().filter(|a| a.short > 0) {
        if nested.iter().any(|b| a.meets(b) && a.comes_apart_from(b)) {
            found.extend(a.headers[a.headers.len() - a.short..].iter().copied());
        }
    }
    // An outer loop that is unrolled would leave several copies of the inner one, with equal SCEVs.
    if outer {
        let around: Vec<usize> = found.iter().flat_map(|header| loops.around(*header)).collect();
        found.extend(around.into_iter().filter(|header| short.contains(header)));
    }
    let latches = loops.all.iter().filter(|l| found.contains(&l.header)).flat_map(|l| &l.latches);
    latches.map(|end| blocks[*end].terminator()).collect()
}

/// Whether a loop ends after a constant number of iterations, as far as an exit shows.
fn is_short(blocks: &[Block], body: &[bool], cfg: &Cfg) -> bool {
    let exits = blocks
        .iter()
        .zip(body)
        .filter(|(block, inside)| **inside && block.successors().iter().any(|next| !body[cfg.number(*next)]));
    let counts = |end: Value| {
        let condition = end.operands().into_iter().next().filter(|c| c.is(Op::LLVMICmp));
        condition.is_some_and(|c| c.operand(1).constant().is_some() || c.operand(0).constant().is_some())
    };
    exits.map(|(block, _)| block.terminator()).any(|end| end.is(Op::LLVMBr) && counts(end))
}

impl Nested {
    fn of(access: &Access, loops: &Loops<'_>, short: &BTreeSet<usize>, objects: &Objects) -> Nested {
        let mut headers = access.headers.clone();
        headers.sort_by_key(|header| loops.around(*header).len());
        headers.dedup();
        let last = headers.iter().rev().take_while(|header| short.contains(header)).count();
        Nested {
            objects: objects.underlying(access.load.operand(0)).to_vec(),
            short: last.min(headers.len().saturating_sub(1)),
            headers,
        }
    }

    /// Whether both may read the same memory.
    fn meets(&self, other: &Nested) -> bool {
        self.objects.is_empty() || other.objects.is_empty() || self.objects.iter().any(|o| other.objects.contains(o))
    }

    /// Whether the innermost loops of both are different ones once some of this one are unrolled.
    fn comes_apart_from(&self, other: &Nested) -> bool {
        let parts = |nest: &Nested, unrolled: usize| {
            let (left, gone) = nest.headers.split_at(nest.headers.len() - unrolled);
            (left.to_vec(), gone.to_vec())
        };
        (1..=self.short).any(|mine| {
            let (left, gone) = parts(self, mine);
            (0..=other.short).any(|its| {
                let (its_left, its_gone) = parts(other, its);
                let agree = !its_left.iter().any(|h| gone.contains(h)) && !left.iter().any(|h| its_gone.contains(h));
                agree && left.last() != its_left.last()
            })
        })
    }
}

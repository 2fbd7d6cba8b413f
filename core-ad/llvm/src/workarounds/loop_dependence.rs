//! Loads whose place a later turn of a loop writes to.
//!
//! ```text
//! for (i = 2; i <= n; i++) { a = tanh(a + t[i]);  t[i - 1] = a; }
//! ```
//!
//! In the next turn `t[i]` is overwritten. The engine looks whether the places read and those written lie apart, takes those of one
//! turn for those of all, and reads `t[i]` once more in the reverse sweep: a wrong gradient (`tests/cases/trailing_writes.c`). The other
//! way round, `t[i + 1] = tanh(t[i])` where `t` is replaced later, it keeps a copy of `t` from before the loop (`leading_writes.c`).
//! So such loads begin at an offset that the engine does not know, as those in `distinct_addresses`: then it keeps what they read.

use crate::analysis::affine_iv::Address;
use crate::analysis::cfg::Graph;
use crate::analysis::induction::Loops;
use crate::ir::{self, Block, Op, Value};
use llvm_sys::core::*;
use llvm_sys::target::{LLVMGetModuleDataLayout, LLVMTargetDataRef};
use std::cell::LazyCell;
use std::collections::BTreeMap;

/// What a store writes to.
struct Written {
    address: Address,
    /// The heads of the loops that it is in.
    around: Vec<usize>,
    block: usize,
}

/// The loads of a function whose places are written to later, as far as can be seen. Few functions have many stores to one array.
pub fn overwritten(loops: &Loops<'_>, blocks: &[Block], graph: &Graph) -> Vec<Value> {
    let Some(layout) = blocks.first().and_then(|b| layout_of(*b)) else { return Vec::new() };
    let of = |pointer: Value| Address::of(loops, layout, pointer);
    let all = || blocks.iter().flat_map(|b| b.instructions());
    let around = |i: Value| loops.around(graph.number(i.parent()));
    let mut stores: BTreeMap<usize, Vec<Written>> = BTreeMap::new();
    for store in all().filter(|i| i.is(Op::LLVMStore)) {
        let (around, block) = (around(store), graph.number(store.parent()));
        if around.is_empty() {
            continue;
        }
        if let Some(address) = of(store.operand(1)) {
            stores.entry(address.base.0 as usize).or_default().push(Written { address, around, block });
        }
    }
    let is_overwritten = |load: &Value| {
        let here = around(*load);
        let Some(read) = of(load.operand(0)).filter(|_| !here.is_empty()) else { return false };
        let written = stores.get(&(read.base.0 as usize)).map_or(&[][..], Vec::as_slice);
        let common = |loops: &[usize]| loops.iter().copied().filter(|h| here.contains(h)).collect::<Vec<_>>();
        let outside = |loops: &[usize]| here.iter().any(|head| !loops.contains(head));
        let replaced = LazyCell::new(|| {
            let after = graph.reached_from(graph.number(load.parent()), |_| true);
            ir::is_argument(read.base) || written.iter().any(|w| outside(&w.around) && after[w.block])
        });
        written.iter().any(|w| {
            w.address.comes_again(&read, &common(&w.around))
                || w.address.follows(&read)
                || w.address.leads(&read) && *replaced
        })
    };
    all().filter(|i| i.is(Op::LLVMLoad) && !i.is_special()).filter(is_overwritten).collect()
}

fn layout_of(block: Block) -> Option<LLVMTargetDataRef> {
    // SAFETY: a live block of a function in a module, whose layout lives as long.
    unsafe {
        let module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(block.0));
        (!module.is_null()).then(|| LLVMGetModuleDataLayout(module))
    }
}

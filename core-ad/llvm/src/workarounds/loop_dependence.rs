//! Makes Enzyme cache loads with a loop-carried memory dependence: a later iteration writes to their address.
//!
//! ```text
//! for (i = 2; i <= n; i++) { a = tanh(a + t[i]);  t[i - 1] = a; }
//! ```
//!
//! The next iteration overwrites `t[i]`. Enzyme compares the range that is read with the range that is written, takes those
//! of one iteration for those of all, and loads `t[i]` again in the reverse sweep: a wrong gradient
//! (`tests/cases/enzyme_bugs/trailing_writes.c`). In the other direction, `t[i + 1] = tanh(t[i])` where `t` is overwritten later, by a store or in a call, it
//! caches a copy of `t` from before the loop (`leading_writes.c`, `reused_scratch.c`). So such loads get an opaque offset, as those in
//! `distinct_addresses`: then Enzyme caches what they read.

use crate::analysis::affine_iv::Address;
use crate::analysis::cfg::Cfg;
use crate::analysis::induction::Loops;
use crate::ir::{self, Block, Op, Value};
use crate::rules::lifetimes::FREEING;
use llvm_sys::core::*;
use llvm_sys::target::{LLVMGetModuleDataLayout, LLVMTargetDataRef};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

/// A store: its address, loops and block.
struct Written {
    address: Address,
    /// The headers of the loops around it.
    around: Vec<usize>,
    block: usize,
}

/// The loads of a function whose address a later iteration writes to, as far as known. Quadratic in the stores to one array,
/// of which there are few.
pub fn later_overwritten(loops: &Loops<'_>, blocks: &[Block], cfg: &Cfg) -> Vec<Value> {
    let Some(layout) = blocks.first().and_then(|b| layout_of(*b)) else { return Vec::new() };
    let of = |pointer: Value| Address::of(loops, layout, pointer);
    let all = || blocks.iter().flat_map(|b| b.instructions());
    let around = |i: Value| loops.around(cfg.number(i.parent()));
    let mut stores: BTreeMap<usize, Vec<Written>> = BTreeMap::new();
    for store in all().filter(|i| i.is(Op::LLVMStore)) {
        let (around, block) = (around(store), cfg.number(store.parent()));
        if around.is_empty() {
            continue;
        }
        if let Some(address) = of(store.operand(1)) {
            stores.entry(address.base.0 as usize).or_default().push(Written { address, around, block });
        }
    }
    let calls: Vec<(Value, usize)> =
        all().filter(|i| may_write_through(*i)).map(|i| (i, cfg.number(i.parent()))).collect();
    let is_overwritten = |load: &Value| {
        let here = around(*load);
        let Some(read) = of(load.operand(0)).filter(|_| !here.is_empty()) else { return false };
        let written = stores.get(&(read.base.0 as usize)).map_or(&[][..], Vec::as_slice);
        let common = |loops: &[usize]| loops.iter().copied().filter(|h| here.contains(h)).collect::<Vec<_>>();
        let outside = |loops: &[usize]| here.iter().any(|header| !loops.contains(header));
        let replaced = LazyCell::new(|| {
            let after = cfg.reached_from(cfg.number(load.parent()), |_| true);
            let is_exposed = is_exposed(read.base);
            let is_passed =
                |call: Value| is_exposed || call.operands().into_iter().any(|operand| operand.base() == read.base);
            ir::is_argument(read.base)
                || written.iter().any(|w| outside(&w.around) && after[w.block])
                || calls.iter().any(|(call, block)| after[*block] && is_passed(*call))
        });
        written.iter().any(|w| {
            w.address.repeats_in_outer_loop(&read, &common(&w.around))
                || w.address.writes_behind(&read)
                || w.address.writes_ahead(&read) && *replaced
        })
    };
    all().filter(|i| i.is(Op::LLVMLoad) && !i.is_special()).filter(is_overwritten).collect()
}

/// Whether a call may write to what it is given the address of. The release of memory is none of these: Enzyme puts it off.
fn may_write_through(i: Value) -> bool {
    matches!(i.op(), Some(Op::LLVMCall | Op::LLVMInvoke)) && i.may_write_visibly() && !is_harmless(i)
}

/// Whether a call releases memory, or only says something of it.
fn is_harmless(call: Value) -> bool {
    const HARMLESS: [&str; 2] = ["llvm.lifetime.", "llvm.assume"];
    let releases = |name: &str| FREEING.contains(&name) || HARMLESS.iter().any(|start| name.starts_with(start));
    let marks = |name: &str| name.starts_with("ffgrad.") && !call.may_write_visibly();
    call.callee().is_some_and(|name| releases(&name) || marks(&name))
}

/// Whether a function may know an address that it is not given: one that is read from memory, stored in memory, or of a variable of the program.
fn is_exposed(base: Value) -> bool {
    let (mut open, mut seen) = (vec![base], BTreeSet::from([base.0 as usize]));
    while let Some(address) = open.pop() {
        for user in address.users() {
            match user.op() {
                Some(Op::LLVMStore) if user.operand(0) == address => return true,
                Some(Op::LLVMGetElementPtr | Op::LLVMPHI | Op::LLVMSelect) if seen.insert(user.0 as usize) => {
                    open.push(user)
                }
                Some(Op::LLVMCall | Op::LLVMInvoke) if !is_harmless(user) && !user.keeps_no_copy_of(address) => {
                    return true;
                }
                _ => {}
            }
        }
    }
    !base.is(Op::LLVMAlloca) && !base.is(Op::LLVMCall) && !base.is(Op::LLVMInvoke)
}

fn layout_of(block: Block) -> Option<LLVMTargetDataRef> {
    // SAFETY: a live block of a function in a module, whose layout lives as long.
    unsafe {
        let module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(block.0));
        (!module.is_null()).then(|| LLVMGetModuleDataLayout(module))
    }
}

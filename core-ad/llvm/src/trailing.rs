//! Loads whose place a later turn of a loop writes to.
//!
//! ```text
//! for (i = 2; i <= n; i++) { a = tanh(a + t[i]);  t[i - 1] = a; }
//! ```
//!
//! In the next turn `t[i]` is overwritten. The engine looks whether the places read and those written lie apart, takes those of one
//! turn for those of all, and reads `t[i]` once more in the reverse sweep: a wrong gradient (`tests/cases/trailing_writes.c`). The other
//! way round, `t[i + 1] = tanh(t[i])` where `t` is replaced later, it keeps a copy of `t` from before the loop (`leading_writes.c`).
//! So such loads begin at an offset that the engine does not know, as those in [`crate::walks`]: then it keeps what they read.

use crate::graph::Graph;
use crate::ir::{self, Block, Op, Value};
use crate::walks::Loops;
use llvm_sys::core::*;
use llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout, LLVMTargetDataRef};
use std::cell::LazyCell;
use std::collections::BTreeMap;

/// What stands in an address with a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Term {
    /// The turn of a loop, by its head.
    Turn(usize),
    /// A number that is not looked into.
    Other(usize),
}

/// An address: a beginning, and numbers of bytes.
#[derive(Debug)]
struct Address {
    base: Value,
    terms: BTreeMap<Term, i64>,
    constant: i64,
}

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

impl Address {
    fn of(loops: &Loops<'_>, layout: LLVMTargetDataRef, pointer: Value) -> Option<Address> {
        let mut address = Address { base: pointer, terms: BTreeMap::new(), constant: 0 };
        address.base = address.follow(loops, layout, pointer)?;
        address.terms.retain(|_, factor| *factor != 0);
        Some(address)
    }

    /// Whether a loop around both that neither address counts writes to the same places once more.
    fn comes_again(&self, read: &Address, common: &[usize]) -> bool {
        let counts = |address: &Address, head: &usize| address.terms.contains_key(&Term::Turn(*head));
        common.iter().any(|head| counts(self, head) && counts(read, head))
            && common.iter().any(|head| !counts(self, head) && !counts(read, head))
    }

    /// Whether this place, that of a store, is one that the load's was in an earlier turn.
    fn follows(&self, read: &Address) -> bool {
        let turns = |a: &Address| {
            a.terms.iter().filter(|(t, _)| matches!(t, Term::Turn(_))).map(|(t, f)| (*t, *f)).collect::<Vec<_>>()
        };
        let (ours, theirs) = (turns(self), turns(read));
        if !ours.iter().any(|(turn, _)| theirs.iter().any(|(other, _)| other == turn)) {
            return false;
        }
        if ours != theirs {
            return true;
        }
        let ahead = self.constant - read.constant;
        self.terms == read.terms && ours.iter().any(|(_, factor)| factor.signum() * ahead.signum() < 0)
    }

    /// Whether this place, that of a store, is one that the load's will be in in a later turn. (Where the engine has to keep what is read, it
    /// copies the array before the loop, as if the loop did not write to it.)
    fn leads(&self, read: &Address) -> bool {
        let turns = self.terms.keys().any(|t| matches!(t, Term::Turn(_)));
        turns && self.terms == read.terms && self.constant != read.constant
    }

    /// Adds the bytes from a pointer's beginning, which it returns.
    fn follow(&mut self, loops: &Loops<'_>, layout: LLVMTargetDataRef, pointer: Value) -> Option<Value> {
        match pointer.op() {
            Some(Op::LLVMGetElementPtr) => {
                let base = self.follow(loops, layout, pointer.operand(0))?;
                // SAFETY: a step; what it steps by is a type of the module.
                let mut element = unsafe { LLVMGetGEPSourceElementType(pointer.0) };
                for (place, index) in (1..).zip(pointer.operands().into_iter().skip(1)) {
                    if place > 1 {
                        // SAFETY: as above; only arrays have elements alike.
                        element = unsafe {
                            match LLVMGetTypeKind(element) {
                                llvm_sys::LLVMTypeKind::LLVMArrayTypeKind => LLVMGetElementType(element),
                                _ => return None,
                            }
                        };
                    }
                    // SAFETY: a type of the module, with a size where it is stepped by.
                    let size = unsafe { LLVMABISizeOfType(layout, element) };
                    self.add(loops, index, i64::try_from(size).ok()?, 0)?;
                }
                Some(base)
            }
            Some(Op::LLVMPHI) => match loops.counter(pointer) {
                Some((head, start, step)) => {
                    let next =
                        pointer.users().into_iter().find(|u| u.is(Op::LLVMGetElementPtr) && u.operand(1) == step)?;
                    // SAFETY: a step; what it steps by is a type of the module.
                    let size = unsafe { LLVMABISizeOfType(layout, LLVMGetGEPSourceElementType(next.0)) };
                    let bytes = i64::try_from(size).ok()?.checked_mul(step.constant()?)?;
                    *self.terms.entry(Term::Turn(head)).or_default() += bytes;
                    self.follow(loops, layout, start)
                }
                None => Some(pointer),
            },
            _ => Some(pointer),
        }
    }

    /// Adds a number, so many times.
    fn add(&mut self, loops: &Loops<'_>, value: Value, times: i64, depth: usize) -> Option<()> {
        if depth > 16 {
            return None;
        }
        if let Some(number) = value.constant() {
            self.constant = self.constant.checked_add(number.checked_mul(times)?)?;
            return Some(());
        }
        let mut part = |value: Value, times: i64| self.add(loops, value, times, depth + 1);
        match value.op() {
            Some(Op::LLVMSExt | Op::LLVMZExt | Op::LLVMTrunc) => part(value.operand(0), times),
            Some(Op::LLVMAdd) => part(value.operand(0), times).and_then(|()| part(value.operand(1), times)),
            Some(Op::LLVMOr) if value.is_disjoint() => {
                part(value.operand(0), times).and_then(|()| part(value.operand(1), times))
            }
            // The complement: -x - 1.
            Some(Op::LLVMXor) if value.operand(1).constant() == Some(-1) => {
                part(value.operand(0), -times)?;
                self.constant = self.constant.checked_sub(times)?;
                Some(())
            }
            Some(Op::LLVMSub) => part(value.operand(0), times).and_then(|()| part(value.operand(1), -times)),
            Some(Op::LLVMMul) if value.operand(1).constant().is_some() => {
                let factor = value.operand(1).constant()?;
                part(value.operand(0), times.checked_mul(factor)?)
            }
            Some(Op::LLVMShl) if value.operand(1).constant().is_some_and(|by| (0..32).contains(&by)) => {
                part(value.operand(0), times.checked_mul(1 << value.operand(1).constant()?)?)
            }
            Some(Op::LLVMPHI) if loops.counter(value).is_some_and(|(.., step)| step.constant().is_some()) => {
                let (head, start, step) = loops.counter(value)?;
                *self.terms.entry(Term::Turn(head)).or_default() += step.constant()?.checked_mul(times)?;
                self.add(loops, start, times, depth + 1)
            }
            _ => {
                *self.terms.entry(Term::Other(value.0 as usize)).or_default() += times;
                Some(())
            }
        }
    }
}

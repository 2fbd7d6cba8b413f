//! The shape of such a loop: one latch, one exit, counters that need no memory, variables of an iteration's own.

use super::{Candidate, Iteration};
use crate::analysis::cfg::Cfg;
use crate::analysis::memory_objects::Objects;
use crate::ir::{Block, Op, Value};
use std::collections::HashSet;

impl Candidate<'_> {
    /// The parts of the loop, or nothing where it has another shape.
    pub(super) fn shape(&self) -> Option<Iteration> {
        let &[latch] = &self.natural.latches[..] else { return None };
        let (header, latch) = (self.blocks[self.natural.header], self.blocks[latch]);
        let before = match header.predecessors()[..] {
            [one, other] if one == latch && other != latch => other,
            [one, other] if other == latch && one != latch => one,
            _ => return None,
        };
        let outside = |block: &Block| !self.natural.body[self.cfg.number(*block)];
        let inside: Vec<Block> = self.blocks.iter().copied().filter(|b| !outside(b)).collect();
        for block in &inside {
            let leaves = block.successors().iter().any(outside);
            let end = block.terminator();
            if leaves != (*block == latch) || !(end.is(Op::LLVMBr) || end.is(Op::LLVMSwitch)) {
                return None;
            }
        }
        let after = match latch.successors()[..] {
            [one, other] if one == header && latch.terminator().is(Op::LLVMBr) => other,
            [one, other] if other == header && latch.terminator().is(Op::LLVMBr) => one,
            _ => return None,
        };
        let (sums, counters): (Vec<Value>, Vec<Value>) = header.phis().into_iter().partition(|phi| phi.holds_floats());
        if !sums.iter().all(|sum| sum.is_float()) {
            return None;
        }
        let mut blocks = vec![header];
        blocks.extend(inside.into_iter().filter(|b| *b != header));
        let mut iteration = Iteration {
            before,
            after,
            blocks,
            latch,
            counters,
            control: Vec::new(),
            sums,
            private: Vec::new(),
            kept: 0,
            operations: 0,
            is_used: false,
            is_outermost: false,
        };
        self.collect_control(&mut iteration)?;
        self.only_sums_are_used_outside(&iteration).then_some(iteration)
    }

    /// What the next values of the counters and the exit condition are computed by.
    fn collect_control(&self, iteration: &mut Iteration) -> Option<()> {
        let mut wanted = vec![iteration.latch.terminator().operand(0)];
        for phi in &iteration.counters {
            wanted.extend(phi.incoming().into_iter().filter(|(_, from)| *from == iteration.latch).map(|(v, _)| v));
        }
        let mut seen = HashSet::new();
        wanted.into_iter().try_for_each(|value| self.add_control(value, iteration, &mut seen, 0))
    }

    fn add_control(&self, value: Value, to: &mut Iteration, seen: &mut HashSet<Value>, depth: usize) -> Option<()> {
        if !self.contains(value) || to.counters.contains(&value) || !seen.insert(value) {
            return Some(());
        }
        if depth > 64 || !can_run_early(value) {
            return None;
        }
        value.operands().into_iter().try_for_each(|operand| self.add_control(operand, to, seen, depth + 1))?;
        to.control.push(value);
        Some(())
    }

    /// Whether nothing else of an iteration is used behind the loop: its counters stay, and the sums are in memory.
    fn only_sums_are_used_outside(&self, iteration: &Iteration) -> bool {
        let next = |sum: &Value| sum.incoming().into_iter().find(|(_, from)| *from == iteration.latch).map(|(v, _)| v);
        let totals: HashSet<Value> = iteration.sums.iter().filter_map(next).collect();
        // The next value of a sum has to be computed by the iteration, and once for each sum.
        if totals.len() != iteration.sums.len() || !totals.iter().all(|t| self.contains(*t)) {
            return false;
        }
        let stays = |i: &Value| iteration.control.contains(i) || iteration.counters.contains(i);
        let mut others = self.instructions().filter(|i| !stays(i) && !totals.contains(i));
        others.all(|i| i.users().into_iter().all(|user| self.contains(user)))
    }

    /// Variables of the stack that live in one iteration only: what they hold when it begins is undefined.
    pub(super) fn private_variables(&self) -> Vec<Value> {
        let entry = self.blocks[0].instructions().into_iter().filter(|i| i.is(Op::LLVMAlloca));
        let mut all = Vec::new();
        for variable in entry {
            if let Some(addresses) = self.is_private(variable) {
                all.push(variable);
                all.extend(addresses);
            }
        }
        all
    }

    /// The addresses in a variable that are computed outside of the loop, if it lives in one iteration.
    fn is_private(&self, variable: Value) -> Option<Vec<Value>> {
        let &[number] = self.objects.underlying(variable) else { return None };
        let object = self.objects.get(number);
        let accesses: Vec<Value> = object.reads.iter().chain(&object.writes).copied().collect();
        if object.escapes || accesses.is_empty() || !accesses.iter().all(|a| self.contains(*a)) {
            return None;
        }
        let starts = variable.users().into_iter().filter(|user| is_start(*user));
        let begins = |start: Value| {
            self.contains(start)
                && accesses.iter().all(|access| comes_before(self.cfg, self.dominators, start, *access))
        };
        if !starts.into_iter().any(begins) {
            return None;
        }
        let mut outside = Vec::new();
        let mut open = vec![variable];
        while let Some(pointer) = open.pop() {
            for user in pointer.users() {
                if self.contains(user) || outside.contains(&user) {
                    continue;
                }
                let is_fixed =
                    user.is(Op::LLVMGetElementPtr) && user.operands()[1..].iter().all(|o| o.constant().is_some());
                if !is_fixed {
                    return None;
                }
                outside.push(user);
                open.push(user);
            }
        }
        only_into(self.objects, number, &outside).then_some(outside)
    }
}

fn only_into(objects: &Objects, number: usize, pointers: &[Value]) -> bool {
    pointers.iter().all(|p| objects.underlying(*p) == [number])
}

fn is_start(user: Value) -> bool {
    user.callee().is_some_and(|name| name.starts_with("llvm.lifetime.start"))
}

/// Whether one instruction runs before the other whenever that runs.
fn comes_before(cfg: &Cfg, dominators: &crate::analysis::cfg::Dominators, first: Value, second: Value) -> bool {
    if first.parent() == second.parent() {
        let all = first.parent().instructions();
        let place = |value| all.iter().position(|i| *i == value);
        return place(first) < place(second);
    }
    dominators.dominates(cfg.number(first.parent()), cfg.number(second.parent()))
}

/// Whether an instruction may run where its operands are known, though it did not run there before.
fn can_run_early(value: Value) -> bool {
    use Op::*;
    matches!(
        value.op(),
        Some(
            LLVMAdd
                | LLVMSub
                | LLVMMul
                | LLVMShl
                | LLVMLShr
                | LLVMAShr
                | LLVMAnd
                | LLVMOr
                | LLVMXor
                | LLVMICmp
                | LLVMSelect
                | LLVMSExt
                | LLVMZExt
                | LLVMTrunc
                | LLVMGetElementPtr
                | LLVMFreeze
        )
    )
}

//! Which thrown objects with numbers a handler may get, by the class hierarchy.
//!
//! Enzyme's type analysis takes memory that is reached by one pointer for memory of one type. So objects of types that no handler has in common
//! are handed over by different variables: each group of types has one.

use super::build::calls;
use super::facts::Facts;
use super::{facts, thrown};
use crate::ir::{Op, Value};
use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;

/// The groups.
pub struct Groups {
    /// Type information of thrown objects with numbers, and the group of each.
    with_numbers: Vec<(Value, usize)>,
    /// Type information of other thrown objects.
    without: Vec<Value>,
    /// How many groups there are.
    pub count: usize,
}

/// What a handler takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clause {
    /// Objects of a type, or derived from it.
    Type(Value),
    /// Everything.
    Any,
    /// It is not known.
    Unknown,
}

/// What a handler's object is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Object {
    /// An object without numbers.
    Plain,
    /// An object of a group.
    Of(usize),
    /// Either of them.
    Either(usize),
}

impl Groups {
    /// Forms the groups. None where no exception with numbers may be caught.
    pub fn of(facts: &Facts<'_>) -> Groups {
        let mut groups = Groups { with_numbers: Vec::new(), without: Vec::new(), count: 0 };
        let all: Vec<Value> = facts.functions.iter().flat_map(|f| calls(*f)).collect();
        for throw in all.iter().filter(|c| c.callee().is_some_and(|n| n == "__cxa_throw")) {
            let info = throw.operand(1);
            if !thrown::may_hold_numbers(*throw) {
                groups.without.push(info);
            } else if facts.catches_numbers() && groups.group(info).is_none() {
                groups.with_numbers.push((info, groups.count));
                groups.count += 1;
            }
        }
        for clause in all.iter().filter(|c| is_begin(**c)).map(|c| clause(*c)) {
            if let Clause::Type(wanted) = clause {
                groups.join(wanted);
            }
        }
        groups
    }

    /// Whether what a handler gets is not known well enough.
    pub fn is_unclear(&self, facts: &Facts<'_>) -> bool {
        let is_unknown = |c: &Value| is_begin(*c) && clause(*c) == Clause::Unknown;
        let of_user = |f: &&FunctionValue<'_>| !facts::is_terminate(&f.get_name().to_string_lossy());
        self.count > 1 && facts.functions.iter().filter(of_user).flat_map(|f| calls(*f)).any(|c| is_unknown(&c))
    }

    /// The group of a thrown type.
    pub fn group(&self, info: Value) -> Option<usize> {
        self.with_numbers.iter().find(|(t, _)| *t == info).map(|(_, group)| *group)
    }

    fn join(&mut self, wanted: Value) {
        let fitting: Vec<usize> =
            self.with_numbers.iter().filter(|(t, _)| derives(*t, wanted)).map(|(_, group)| *group).collect();
        if let [first, rest @ ..] = &fitting[..] {
            for (_, group) in self.with_numbers.iter_mut().filter(|(_, group)| rest.contains(group)) {
                *group = *first;
            }
        }
    }

    /// What a handler gets.
    pub fn object(&self, begin: Value) -> Object {
        match clause(begin) {
            Clause::Any => Object::Plain,
            Clause::Unknown if self.count == 0 => Object::Plain,
            Clause::Unknown => Object::Either(0),
            Clause::Type(wanted) => {
                let found = self.with_numbers.iter().find(|(t, _)| derives(*t, wanted));
                let others = is_standard(wanted) || self.without.iter().any(|t| derives(*t, wanted));
                match found {
                    None => Object::Plain,
                    Some((_, group)) if others => Object::Either(*group),
                    Some((_, group)) => Object::Of(*group),
                }
            }
        }
    }
}

/// Whether a call gives a handler its object.
pub fn is_begin(call: Value) -> bool {
    call.callee().is_some_and(|n| n == "__cxa_begin_catch" || n == "__cxa_get_exception_ptr")
}

/// Finds the handler that begins with a call, by the tests in front of it.
fn clause(begin: Value) -> Clause {
    let mut at = begin.parent();
    for _ in 0..256 {
        let first = at.first_after_phis();
        if first.is(Op::LLVMLandingPad) {
            // SAFETY: a landing pad, and its last clause.
            return unsafe {
                match LLVMGetNumClauses(first.0) {
                    0 => Clause::Unknown,
                    n if LLVMIsNull(LLVMGetClause(first.0, n - 1)) != 0 => Clause::Any,
                    _ => Clause::Unknown,
                }
            };
        }
        let [from] = at.predecessors()[..] else { return Clause::Unknown };
        let end = from.terminator();
        let next = from.successors();
        if next.len() == 2 && next[0] == at {
            let asked = end.operand(0).operands().into_iter().find(|o| is_type_id(*o));
            return asked.map_or(Clause::Unknown, |id| Clause::Type(id.operand(0)));
        }
        at = from;
    }
    Clause::Unknown
}

fn is_type_id(value: Value) -> bool {
    value.callee().is_some_and(|n| n.starts_with("llvm.eh.typeid.for"))
}

fn is_standard(info: Value) -> bool {
    thrown::name(info).is_some_and(|n| n.starts_with("St") || n.starts_with("NSt"))
}

/// Whether a class is another one or derived from it, as far as this module knows.
fn derives(info: Value, wanted: Value) -> bool {
    if info == wanted {
        return true;
    }
    if is_standard(info) {
        // The standard classes are all derived from this one; more of their hierarchy is not needed to be on the safe side.
        return is_standard(wanted);
    }
    let Some(fields) = thrown::initializer(info) else { return false };
    fields.operands().into_iter().skip(2).filter(|f| is_global(*f)).any(|base| derives(base, wanted))
}

fn is_global(value: Value) -> bool {
    let global: LLVMValueRef = value.0;
    // SAFETY: asked of a live value.
    unsafe { !LLVMIsAGlobalVariable(global).is_null() }
}

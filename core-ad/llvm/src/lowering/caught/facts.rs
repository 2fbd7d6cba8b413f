//! What exceptions do in the functions of a module: who throws, whose exceptions may be caught, who never returns.

use crate::analysis::reachable::reachable;
use crate::ir::{Block, Op, Value, blocks};
use crate::lowering::caught::{effects, thrown};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;
use std::collections::{HashMap, HashSet};

/// What stands at the end of an unwind edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pad {
    /// Handlers, and perhaps destructors.
    Try,
    /// Destructors only.
    Cleanup,
    /// `std::terminate`.
    Terminate,
    /// An exception specification of C++14.
    Filter,
}

/// The facts.
pub struct Facts<'ctx> {
    /// Functions with a body that the wrapper reaches.
    pub functions: Vec<FunctionValue<'ctx>>,
    index: HashMap<LLVMValueRef, usize>,
    /// Whether an exception may leave the function.
    throws: Vec<bool>,
    /// Whether a caller may catch what it throws.
    tried: Vec<bool>,
    /// Whether what it throws may hold numbers with derivatives.
    carries: Vec<bool>,
    /// Whether it may return.
    returns: Vec<bool>,
    /// Whether it has handlers.
    handles: Vec<bool>,
    /// New forms of functions.
    widened: HashSet<LLVMValueRef>,
}

/// Whether an instruction is a call or an invoke.
pub fn is_call(i: Value) -> bool {
    i.is(Op::LLVMCall) || i.is(Op::LLVMInvoke)
}

/// What it calls.
pub fn called(call: Value) -> LLVMValueRef {
    // SAFETY: a live call.
    unsafe { LLVMGetCalledValue(call.0) }
}

/// Where an invoke goes on when the callee throws.
pub fn unwind(call: Value) -> Option<Block> {
    // SAFETY: asked of an invoke only.
    call.is(Op::LLVMInvoke).then(|| Block(unsafe { LLVMGetUnwindDest(call.0) }))
}

/// Where an invoke goes on when the callee returns.
pub fn normal(call: Value) -> Option<Block> {
    // SAFETY: asked of an invoke only.
    call.is(Op::LLVMInvoke).then(|| Block(unsafe { LLVMGetNormalDest(call.0) }))
}

/// What kind of landing pad a block begins with.
pub fn pad(block: Block) -> Pad {
    let first = block.first_after_phis();
    if !first.is(Op::LLVMLandingPad) {
        return Pad::Cleanup;
    }
    // SAFETY: a landing pad, and its clauses.
    let clauses: Vec<Value> =
        unsafe { (0..LLVMGetNumClauses(first.0)).map(|i| Value(LLVMGetClause(first.0, i))).collect() };
    // `throw()` lets nothing pass, `throw(X)` some.
    // SAFETY: the type of a constant, an array where the clause is a filter.
    let lets_pass = |clause: &Value| !clause.is_pointer() && unsafe { LLVMGetArrayLength2(clause.ty()) } > 0;
    let ends = block.instructions().iter().filter_map(|i| i.callee()).any(|n| is_terminate(&n));
    if ends && !clauses.iter().any(lets_pass) {
        return Pad::Terminate;
    }
    match clauses[..] {
        [] => Pad::Cleanup,
        _ if clauses.iter().any(|c| !c.is_pointer()) => Pad::Filter,
        _ => Pad::Try,
    }
}

/// Whether a function ends the program because an exception is not allowed to go on: by `noexcept`, or by `throw()` before C++17.
pub fn is_terminate(name: &str) -> bool {
    ["__clang_call_terminate", "_ZSt9terminatev", "__cxa_call_unexpected"].contains(&name)
}

/// Functions of the C++ library that always throw.
pub fn always_throws(name: &str) -> bool {
    let known =
        ["__cxa_throw", "__cxa_rethrow", "__cxa_bad_cast", "__cxa_bad_typeid", "__cxa_throw_bad_array_new_length"];
    known.contains(&name)
        || (name.starts_with("_ZSt") && name.contains("__throw_"))
        || name.starts_with("_ZSt17rethrow_exception")
}

/// Functions of the C++ library without a body here, which may throw and whose results have no derivatives: strings, streams.
pub fn is_library(name: &str) -> bool {
    ["_ZNSt", "_ZNKSt", "_ZSt", "_ZNSs", "_ZNKSs", "_ZNSi", "_ZNSo"].iter().any(|p| name.starts_with(p))
}

fn is_declaration(function: LLVMValueRef) -> bool {
    // SAFETY: a live value.
    unsafe { !LLVMIsAFunction(function).is_null() && LLVMCountBasicBlocks(function) == 0 }
}

fn has_attribute(call: Value, name: &str) -> bool {
    // SAFETY: a live call, and the function that it calls by name.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        let function = called(call);
        let of_function =
            !LLVMIsAFunction(function).is_null() && !LLVMGetEnumAttributeAtIndex(function, u32::MAX, kind).is_null();
        of_function || !LLVMGetCallSiteEnumAttribute(call.0, u32::MAX, kind).is_null()
    }
}

impl<'ctx> Facts<'ctx> {
    /// Collects them for what the wrapper reaches.
    pub fn of(module: &Module<'ctx>, root: FunctionValue<'ctx>) -> Facts<'ctx> {
        // SAFETY: a live function.
        let inside = unsafe { reachable(&[root]) };
        let functions: Vec<FunctionValue<'ctx>> = module
            .get_functions()
            .filter(|f| f.count_basic_blocks() > 0 && inside.contains(&f.as_value_ref()))
            .collect();
        let index = functions.iter().enumerate().map(|(i, f)| (f.as_value_ref(), i)).collect();
        let none = vec![false; functions.len()];
        let handles = functions
            .iter()
            .map(|f| blocks(*f).into_iter().any(|b| b.first_after_phis().is(Op::LLVMLandingPad) && pad(b) == Pad::Try))
            .collect();
        let mut facts = Facts {
            functions,
            index,
            throws: none.clone(),
            tried: none.clone(),
            carries: none.clone(),
            returns: none,
            handles,
            widened: HashSet::new(),
        };
        facts.find();
        facts
    }

    fn find(&mut self) {
        let all: Vec<(usize, Value)> = (0..self.functions.len())
            .flat_map(|f| blocks(self.functions[f]).into_iter().flat_map(|b| b.instructions()).map(move |i| (f, i)))
            .filter(|(_, i)| is_call(*i))
            .collect();
        let mut changed = true;
        while changed {
            changed = false;
            let mut set = |place: &mut bool, value: bool| {
                changed |= value && !*place;
                *place |= value;
            };
            for &(caller, call) in &all {
                let pad = unwind(call).map(pad);
                let callee = self.index.get(&called(call)).copied();
                if pad != Some(Pad::Terminate) {
                    let throws = self.may_throw(call);
                    set(&mut self.throws[caller], throws);
                    let carries = thrown::may_hold_numbers(call) || callee.is_some_and(|c| self.carries[c]);
                    set(&mut self.carries[caller], carries);
                    if let Some(callee) = callee {
                        let tried = pad == Some(Pad::Try) || self.tried[caller];
                        set(&mut self.tried[callee], tried);
                    }
                }
            }
            for f in 0..self.functions.len() {
                let returns = self.reaches_return(f);
                set(&mut self.returns[f], returns);
            }
        }
    }

    /// Whether control may come back from a call that throws no exception.
    pub fn may_return(&self, call: Value) -> bool {
        if has_attribute(call, "noreturn") || call.callee().is_some_and(|n| always_throws(&n)) {
            return false;
        }
        self.is_new(called(call)) || self.index.get(&called(call)).is_none_or(|c| self.returns[*c])
    }

    /// Whether a function is a widened one, which always returns.
    fn is_new(&self, function: LLVMValueRef) -> bool {
        self.widened.contains(&function)
    }

    /// The widened form of a function.
    pub fn new_form(&self, function: LLVMValueRef) -> LLVMValueRef {
        self.index.get(&function).map_or(function, |f| self.functions[*f].as_value_ref())
    }

    /// Whether nothing comes back from a function that would have a derivative.
    pub fn is_dead_end(&self, function: LLVMValueRef) -> bool {
        let leaves = |f: usize| !self.tried[f] && !self.returns[f] && !self.handles[f];
        self.is_thrower(function) || self.index.get(&function).is_some_and(|f| leaves(*f))
    }

    fn reaches_return(&self, f: usize) -> bool {
        let Some(first) = blocks(self.functions[f]).first().copied() else { return false };
        let (mut seen, mut open) = (HashSet::from([first]), vec![first]);
        while let Some(block) = open.pop() {
            let end = block.terminator();
            if block.instructions().iter().any(|i| i.is(Op::LLVMCall) && !self.may_return(*i)) {
                continue;
            }
            if end.is(Op::LLVMRet) {
                return true;
            }
            for next in block.successors() {
                let stops = normal(end) == Some(next) && !self.may_return(end);
                if !stops && seen.insert(next) {
                    open.push(next);
                }
            }
        }
        false
    }

    /// Whether an exception may come out of a call, as far as is known here: of functions without a body, the C++ library's.
    pub fn may_throw(&self, call: Value) -> bool {
        if let Some(callee) = self.index.get(&called(call)) {
            return self.throws[*callee];
        }
        if has_attribute(call, "nounwind") && !call.callee().is_some_and(|n| always_throws(&n)) {
            return false;
        }
        call.callee().is_some_and(|n| is_declaration(called(call)) && (always_throws(&n) || is_library(&n)))
    }

    /// Whether a call is of a function that is given the pending exception's place.
    pub fn is_lowered(&self, function: LLVMValueRef) -> bool {
        let fits = |f: usize| {
            // A function with variable arguments cannot have one more; what it throws is thrown for real.
            // SAFETY: a live function.
            let varies = unsafe { LLVMIsFunctionVarArg(LLVMGlobalGetValueType(self.functions[f].as_value_ref())) } != 0;
            self.throws[f] && self.tried[f] && !varies
        };
        self.index.get(&function).is_some_and(|f| fits(*f)) && !self.is_thrower(function)
    }

    /// Whether a function only builds and throws an exception without numbers.
    pub fn is_thrower(&self, function: LLVMValueRef) -> bool {
        self.index.get(&function).is_some_and(|f| {
            self.throws[*f]
                && !self.returns[*f]
                && !self.carries[*f]
                && !self.handles[*f]
                && keeps_numbers(self.functions[*f])
        })
    }

    /// Whether a function has handlers.
    pub fn handles(&self, function: LLVMValueRef) -> bool {
        self.index.get(&function).is_some_and(|f| self.handles[*f])
    }

    /// Whether exceptions with numbers may be caught.
    pub fn catches_numbers(&self) -> bool {
        let tried = |f: usize| self.tried[f] || self.handles[f];
        (0..self.functions.len()).any(|f| self.carries[f] && tried(f))
    }

    /// Takes a function for another, its new form.
    pub fn rename(&mut self, old: LLVMValueRef, new: FunctionValue<'ctx>) {
        if let Some(f) = self.index.get(&old).copied() {
            self.functions[f] = new;
            self.index.insert(new.as_value_ref(), f);
            self.widened.insert(new.as_value_ref());
        }
    }
}

/// Whether a function changes nothing that has a derivative.
fn keeps_numbers(function: FunctionValue<'_>) -> bool {
    blocks(function).into_iter().flat_map(|b| b.instructions()).all(effects::is_harmless)
}

//! Makes tests and branches of calls that may throw to a handler, and values of landing pads.

use super::build::{Edit, calls, raw};
use super::facts::{Facts, Pad, called, is_library, normal, pad, unwind};
use super::groups::Groups;
use super::{handlers, regions, thrown};
use crate::ir::{Block, Op, Value, blocks, edges, move_body};
use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use std::collections::HashMap;

/// What the header of a thrown object takes in front of it (`__cxa_refcounted_exception` of libstdc++).
const HEADER: u64 = 128;

/// A function under work.
struct Frame<'a, 'ctx> {
    edit: &'a Edit,
    facts: &'a Facts<'ctx>,
    function: FunctionValue<'ctx>,
    /// Its exceptions go on to its callers, as pending ones.
    lowered: bool,
    /// Where the pending exception is: its address as a number, and the addresses of objects with numbers, one for each group.
    place: LLVMValueRef,
    groups: &'a Groups,
    exit: Option<Block>,
}

/// Moves the bodies of functions that throw to handlers of their callers into functions with one more parameter. What is left of
/// the old ones throws for real.
pub fn widen(edit: &Edit, facts: &mut Facts<'_>, groups: usize) -> HashMap<LLVMValueRef, LLVMValueRef> {
    let mut places = HashMap::new();
    for function in facts.functions.clone() {
        if !facts.is_lowered(raw(function)) || regions::is_root(function) {
            continue;
        }
        // SAFETY: a live function with a body.
        unsafe {
            let new = widened(edit, raw(function));
            complete(edit, raw(function), new, groups);
            places.insert(new, LLVMGetLastParam(new));
            if let Some(new) = FunctionValue::new(new) {
                facts.rename(raw(function), new);
            }
        }
    }
    places
}

unsafe fn widened(edit: &Edit, old: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: see `widen`.
    unsafe {
        let (ty, count) = (LLVMGlobalGetValueType(old), LLVMCountParams(old));
        let mut types = vec![std::ptr::null_mut(); count as usize];
        LLVMGetParamTypes(ty, types.as_mut_ptr());
        types.push(edit.ptr);
        let wide = LLVMFunctionType(LLVMGetReturnType(ty), types.as_mut_ptr(), types.len() as u32, 0);
        let mut length = 0;
        let name = LLVMGetValueName2(old, &mut length);
        let name = [std::slice::from_raw_parts(name.cast::<u8>(), length), b".throwing\0"].concat();
        let new = LLVMAddFunction(edit.module, name.as_ptr().cast(), wide);
        LLVMSetLinkage(new, llvm_sys::LLVMLinkage::LLVMInternalLinkage);
        LLVMSetFunctionCallConv(new, LLVMGetFunctionCallConv(old));
        // Not the result's: it is 0 where an exception is pending.
        for index in (1..=count).chain([u32::MAX]) {
            let mut all = vec![std::ptr::null_mut(); LLVMGetAttributeCountAtIndex(old, index) as usize];
            LLVMGetAttributesAtIndex(old, index, all.as_mut_ptr());
            all.into_iter().for_each(|a| LLVMAddAttributeAtIndex(new, index, a));
        }
        for name in ["noreturn", "memory"] {
            LLVMRemoveEnumAttributeAtIndex(
                new,
                u32::MAX,
                LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()),
            );
        }
        if LLVMHasPersonalityFn(old) != 0 {
            LLVMSetPersonalityFn(new, LLVMGetPersonalityFn(old));
        }
        move_body(old, new);
        for i in 0..count {
            LLVMReplaceAllUsesWith(LLVMGetParam(old, i), LLVMGetParam(new, i));
        }
        new
    }
}

/// Lowers one function. `place`: its last parameter, where it has been widened.
pub fn lower<'ctx>(
    edit: &Edit,
    facts: &Facts<'ctx>,
    function: FunctionValue<'ctx>,
    place: Option<LLVMValueRef>,
    groups: &Groups,
) {
    let catches = place.is_some() || facts.handles(raw(function));
    let null = std::ptr::null_mut();
    let mut frame =
        Frame { edit, facts, function, lowered: place.is_some(), place: place.unwrap_or(null), groups, exit: None };
    if catches && place.is_none() {
        frame.place = frame.new_place();
    }
    handlers::lower(edit, function, groups, frame.place);
    frame.lower();
}

// SAFETY of every block below: live values of the function under work; an instruction is erased when its uses are replaced.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Frame<'_, '_> {
    fn lower(&mut self) {
        for call in calls(self.function) {
            let matters = self.is_caught(call) && self.facts.may_throw(call);
            if call.is(Op::LLVMInvoke) && !matters {
                self.edit.make_call(call);
            }
        }
        for call in calls(self.function) {
            if call.is(Op::LLVMCall) && !self.facts.may_return(call) && !call.next().is(Op::LLVMUnreachable) {
                self.edit.end_behind(call);
                // What was behind it may have been calls.
                return self.lower();
            }
        }
        edges::delete_unreachable(self.function);
        while let Some(throw) = calls(self.function).into_iter().find(|c| self.throws(*c)) {
            self.lower_throw(throw);
            edges::delete_unreachable(self.function);
        }
        for call in calls(self.function) {
            if self.is_caught(call) && self.facts.may_throw(call) {
                if self.facts.is_lowered(called(call)) {
                    self.lower_call(call);
                } else if call.callee().is_some_and(|n| is_library(&n)) {
                    self.lower_library(call);
                } else if call.is(Op::LLVMInvoke) {
                    self.edit.make_call(call);
                }
            }
        }
        edges::delete_unreachable(self.function);
        self.lower_pads();
        edges::delete_unreachable(self.function);
    }

    /// A variable for a pending exception.
    fn new_place(&self) -> LLVMValueRef {
        let first = blocks(self.function)[0].first_after_phis();
        self.edit.before(first);
        unsafe {
            let ty = self.edit.pending(self.groups.count);
            let place = LLVMBuildAlloca(self.edit.builder, ty, c"".as_ptr());
            LLVMBuildStore(self.edit.builder, LLVMConstNull(ty), place);
            place
        }
    }

    fn is_caught(&self, call: Value) -> bool {
        match unwind(call).map(pad) {
            Some(Pad::Try) => true,
            Some(Pad::Terminate) => false,
            _ => self.lowered,
        }
    }

    /// Whether a call only throws: to a handler, or again.
    fn throws(&self, call: Value) -> bool {
        let name = call.callee().unwrap_or_default();
        let always = super::facts::always_throws(&name) || self.facts.is_thrower(called(call));
        name == "__cxa_rethrow" || (always && self.is_caught(call))
    }

    fn lower_throw(&mut self, throw: Value) {
        let caught = self.is_caught(throw);
        let pad = unwind(throw);
        let (throw, target) = self.detach(throw, caught);
        let block = throw.parent();
        if throw.callee().is_some_and(|n| n == "__cxa_rethrow") {
            self.edit.before(throw);
            let object = self.edit.runtime("rethrown", self.edit.ptr, &[]);
            match target {
                Some(_) => self.set_object(object),
                None => drop(self.edit.runtime("leave", self.edit.void, &[object])),
            }
            self.edit.erase(throw);
            self.go(block, block, target, pad.is_some());
        } else if thrown::may_hold_numbers(throw) {
            self.throw_numbers(throw);
            self.edit.erase(throw);
            self.go(block, block, target, pad.is_some());
        } else {
            let region = regions::extract(self.edit, &regions::before_throw(self.edit, throw));
            let catching = regions::catching(self.edit, region.function);
            self.edit.at_end(region.stub);
            let exception = self.edit.call(catching, &region.given);
            self.set_number(exception);
            unsafe { LLVMBuildUnreachable(self.edit.builder) };
            self.go(block, region.stub, target, pad.is_some());
        }
    }

    /// Makes a call of what never returns the last thing of its block, and tells where its exceptions go.
    fn detach(&mut self, throw: Value, caught: bool) -> (Value, Option<Block>) {
        let target = match (unwind(throw), caught) {
            (_, false) => None,
            (Some(pad), true) => Some(pad),
            (None, true) => Some(self.exit()),
        };
        let (Some(normal), Some(pad)) = (normal(throw), unwind(throw)) else {
            if !throw.next().is(Op::LLVMUnreachable) {
                self.edit.end_behind(throw);
            }
            return (throw, target);
        };
        let block = throw.parent();
        self.edit.move_edge(normal, block, None);
        if target.is_none() {
            self.edit.move_edge(pad, block, None);
        }
        self.edit.before(throw);
        let call = self.edit.like(throw, called(throw), &[]);
        self.edit.erase(throw);
        self.edit.at_end(block);
        unsafe { LLVMBuildUnreachable(self.edit.builder) };
        (call, target)
    }

    /// Ends a block, which ends the program so far, with a branch. `from`: the block whose edge it takes over.
    fn go(&self, from: Block, block: Block, target: Option<Block>, has_phis: bool) {
        let Some(target) = target else { return };
        self.edit.erase(block.terminator());
        self.edit.at_end(block);
        unsafe { LLVMBuildBr(self.edit.builder, target.0) };
        if has_phis && from != block {
            self.edit.move_edge(target, from, Some(block));
        }
    }

    /// Stores the pending exception, given as a number.
    fn set_number(&self, exception: LLVMValueRef) {
        unsafe { LLVMBuildStore(self.edit.builder, exception, self.place) };
    }

    /// Stores the pending exception.
    fn set_object(&self, object: LLVMValueRef) {
        self.set_number(self.edit.runtime("number", self.edit.i64, &[object]));
    }

    /// Allocates an object with numbers where Enzyme sees it.
    fn throw_numbers(&self, throw: Value) {
        let object = throw.operand(0);
        let size = thrown::size(throw).unwrap_or_default();
        self.edit.before(object);
        unsafe {
            let mut types = [self.edit.i64];
            let ty = LLVMFunctionType(self.edit.ptr, types.as_mut_ptr(), 1, 0);
            let mut malloc = LLVMGetNamedFunction(self.edit.module, c"malloc".as_ptr());
            if malloc.is_null() {
                malloc = LLVMAddFunction(self.edit.module, c"malloc".as_ptr(), ty);
            }
            let memory = self.edit.call(malloc, &[self.edit.number(size + HEADER)]);
            let byte = LLVMInt8TypeInContext(self.edit.context);
            let mut offset = self.edit.number(HEADER);
            let new = LLVMBuildInBoundsGEP2(self.edit.builder, byte, memory, &mut offset, 1, c"".as_ptr());
            for free in object.users().into_iter().filter(|u| u.callee().is_some_and(|n| n == "__cxa_free_exception")) {
                self.edit.erase(free);
            }
            LLVMReplaceAllUsesWith(object.0, new);
            self.edit.erase(object);
            self.edit.before(throw);
            self.edit.runtime("prepare", self.edit.void, &[new, throw.operand(1).0]);
            self.set_object(new);
            if let Some(group) = self.groups.group(throw.operand(1)) {
                LLVMBuildStore(self.edit.builder, new, self.edit.slot(self.place, group));
            }
        }
    }

    /// Where exceptions without a handler here go.
    fn exit(&mut self) -> Block {
        if let Some(exit) = self.exit {
            return exit;
        }
        let exit = self.edit.block_in(raw(self.function));
        self.edit.at_end(exit);
        unsafe {
            let result = LLVMGetReturnType(LLVMGlobalGetValueType(raw(self.function)));
            if LLVMGetTypeKind(result) == llvm_sys::LLVMTypeKind::LLVMVoidTypeKind {
                LLVMBuildRetVoid(self.edit.builder);
            } else {
                LLVMBuildRet(self.edit.builder, LLVMConstNull(result));
            }
        }
        self.exit = Some(exit);
        exit
    }

    /// Puts a call of another function in the place of a call, and a test of the exception at an address behind it.
    fn test(&mut self, call: Value, instead: Value, place: LLVMValueRef) {
        let target = unwind(call).unwrap_or_else(|| self.exit());
        let (has_pad, block, next) = match normal(call) {
            Some(next) => (true, call.parent(), next),
            None => {
                let head = self.edit.split_before(call.next());
                let next = head.successors()[0];
                self.edit.erase(head.terminator());
                (false, head, next)
            }
        };
        unsafe {
            if !call.users().is_empty() {
                LLVMReplaceAllUsesWith(call.0, instead.0);
            }
            call.erase();
            self.edit.at_end(block);
            let builder = self.edit.builder;
            let number = LLVMBuildLoad2(builder, self.edit.i64, place, c"".as_ptr());
            let not_equal = llvm_sys::LLVMIntPredicate::LLVMIntNE;
            let is_pending = LLVMBuildICmp(builder, not_equal, number, self.edit.number(0), c"".as_ptr());
            if place == self.place {
                LLVMBuildCondBr(builder, is_pending, target.0, next.0);
                return;
            }
            // The library's exceptions go on through the function's own variable.
            let thrown = self.edit.block_before(next);
            LLVMBuildCondBr(builder, is_pending, thrown.0, next.0);
            self.edit.at_end(thrown);
            self.set_number(number);
            LLVMBuildBr(builder, target.0);
            if has_pad {
                self.edit.move_edge(target, block, Some(thrown));
            }
        }
    }

    fn lower_call(&mut self, call: Value) {
        self.edit.before(call);
        let new = self.edit.like(call, self.facts.new_form(called(call)), &[self.place]);
        self.test(call, new, self.place);
    }

    fn lower_library(&mut self, call: Value) {
        let catching = regions::catching_library(self.edit, call);
        let first = blocks(self.function)[0].first_after_phis();
        self.edit.before(first);
        let place = unsafe { LLVMBuildAlloca(self.edit.builder, self.edit.i64, c"".as_ptr()) };
        self.edit.before(call);
        let new = self.edit.like(call, catching, &[place]);
        self.test(call, new, place);
    }

    /// Replaces landing pads by what they find, and their ends.
    fn lower_pads(&mut self) {
        let all: Vec<Value> = blocks(self.function).into_iter().flat_map(|b| b.instructions()).collect();
        let chosen = |is: fn(&Value) -> bool| all.iter().copied().filter(is).collect::<Vec<Value>>();
        // Found before any is erased: nothing can be asked of an instruction that is gone.
        let pads = chosen(|i| i.is(Op::LLVMLandingPad));
        let numbers = chosen(|i| i.callee().is_some_and(|n| n.starts_with("llvm.eh.typeid.for")));
        let ends = chosen(|i| i.is(Op::LLVMResume));
        let mut types: Vec<LLVMValueRef> = Vec::new();
        for pad in pads {
            self.lower_pad(pad, &mut types);
        }
        for i in numbers {
            let id = number_of(i.operand(0).0, &mut types);
            unsafe { LLVMReplaceAllUsesWith(i.0, LLVMConstInt(self.edit.i32, id, 0)) };
            self.edit.erase(i);
        }
        for end in ends {
            self.edit.before(end);
            let object = unsafe { LLVMBuildExtractValue(self.edit.builder, end.operand(0).0, 0, c"".as_ptr()) };
            if self.lowered {
                self.set_object(object);
                let exit = self.exit();
                self.edit.before(end);
                unsafe { LLVMBuildBr(self.edit.builder, exit.0) };
            } else {
                self.edit.runtime("leave", self.edit.void, &[object]);
                unsafe { LLVMBuildUnreachable(self.edit.builder) };
            }
            self.edit.erase(end);
        }
    }

    fn lower_pad(&self, pad: Value, types: &mut Vec<LLVMValueRef>) {
        self.edit.before(pad);
        unsafe {
            let number = LLVMBuildLoad2(self.edit.builder, self.edit.i64, self.place, c"".as_ptr());
            let object = LLVMBuildIntToPtr(self.edit.builder, number, self.edit.ptr, c"".as_ptr());
            LLVMBuildStore(self.edit.builder, self.edit.number(0), self.place);
            let mut found = LLVMConstInt(self.edit.i32, 0, 0);
            for clause in (0..LLVMGetNumClauses(pad.0)).map(|i| LLVMGetClause(pad.0, i)) {
                let id = LLVMConstInt(self.edit.i32, number_of(clause, types), 0);
                found = self.edit.runtime("match", self.edit.i32, &[object, clause, id, found]);
            }
            let whole = LLVMGetPoison(pad.ty());
            let whole = LLVMBuildInsertValue(self.edit.builder, whole, object, 0, c"".as_ptr());
            let whole = LLVMBuildInsertValue(self.edit.builder, whole, found, 1, c"".as_ptr());
            LLVMReplaceAllUsesWith(pad.0, whole);
        }
        pad.erase();
    }
}

/// The number of a type among those that are caught, from 1 on.
fn number_of(info: LLVMValueRef, types: &mut Vec<LLVMValueRef>) -> u64 {
    let at = types.iter().position(|t| *t == info).unwrap_or_else(|| {
        types.push(info);
        types.len() - 1
    });
    at as u64 + 1
}

/// Gives the old form of a function, whose body has moved, a body that calls the new form and throws for real.
fn complete(edit: &Edit, old: LLVMValueRef, new: LLVMValueRef, groups: usize) {
    // SAFETY: two live functions, the old one without blocks.
    unsafe {
        let block = edit.block_in(old);
        edit.at_end(block);
        let ty = edit.pending(groups);
        let place = LLVMBuildAlloca(edit.builder, ty, c"".as_ptr());
        LLVMBuildStore(edit.builder, LLVMConstNull(ty), place);
        let mut given: Vec<LLVMValueRef> = (0..LLVMCountParams(old)).map(|i| LLVMGetParam(old, i)).collect();
        given.push(place);
        let result = edit.call(new, &given);
        LLVMSetInstructionCallConv(result, LLVMGetFunctionCallConv(new));
        let number = LLVMBuildLoad2(edit.builder, edit.i64, place, c"".as_ptr());
        let none = edit.number(0);
        let is_pending = LLVMBuildICmp(edit.builder, llvm_sys::LLVMIntPredicate::LLVMIntNE, number, none, c"".as_ptr());
        let (thrown, returned) = (edit.block_in(old), edit.block_in(old));
        LLVMBuildCondBr(edit.builder, is_pending, thrown.0, returned.0);
        edit.at_end(returned);
        if LLVMGetTypeKind(LLVMTypeOf(result)) == llvm_sys::LLVMTypeKind::LLVMVoidTypeKind {
            LLVMBuildRetVoid(edit.builder);
        } else {
            LLVMBuildRet(edit.builder, result);
        }
        edit.at_end(thrown);
        let object = LLVMBuildIntToPtr(edit.builder, number, edit.ptr, c"".as_ptr());
        edit.runtime("leave", edit.void, &[object]);
        LLVMBuildUnreachable(edit.builder);
    }
}

//! Keeps large structures in memory instead of in values, in Enzyme's output.
//!
//! ```text
//! %tape = call { double, .., double } @augmented_f(ptr %x)       becomes   call void @augmented_f(ptr %slot, ptr %x)
//! store { double, .., double } %tape, ptr %cache                           call void @llvm.memcpy(ptr %cache, ptr %slot, i64 4000)
//! ```
//!
//! An augmented function returns its tape as one value, with the tapes of all that it calls in it. LLVM makes each into a chain of one `insertvalue` per
//! number, and of each chain as many nodes and registers: constant propagation, instruction selection and register allocation take time and
//! memory that grow with the square of their number (cdflib's `cdft`: 80 s and 1.4 GB for 700 numbers). In memory a tape is copied as a whole.
//!
//! Each such value gets a stack slot that its definition alone writes. A use that a definition dominates is reached from its last execution, so that the
//! slot still holds the value there. A chain of `insertvalue` of which each is used once shares a slot. A phi or a `select` is one of addresses; but a phi in
//! a loop's header may be used when what it came from has been executed again, so it has a slot of its own.

mod layout;
mod signatures;

use crate::analysis::cfg;
use crate::ir::{self, Block, Op, Value};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use layout::{defines_too_large, element, is_large, is_packed};
use llvm_sys::LLVMTypeKind::*;
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use llvm_sys::prelude::{LLVMBuilderRef, LLVMTypeRef, LLVMValueRef};
use llvm_sys::target::*;
use signatures::Moved;
use std::collections::{HashMap, HashSet};

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// What such a value is defined by, or used in, where this pass knows what to do.
const KNOWN: [Op; 9] = [
    Op::LLVMLoad,
    Op::LLVMStore,
    Op::LLVMCall,
    Op::LLVMRet,
    Op::LLVMPHI,
    Op::LLVMSelect,
    Op::LLVMFreeze,
    Op::LLVMInsertValue,
    Op::LLVMExtractValue,
];

/// Moves all large structures of a module into memory.
pub fn run(module: &Module<'_>) {
    let all: Vec<Value> = ir::all_instructions(module).into_iter().filter(|i| is_concerned(*i)).collect();
    let has_too_large = all.iter().any(|i| defines_too_large(*i));
    if !has_too_large || !all.iter().all(|i| i.op().is_some_and(|op| KNOWN.contains(&op)) && !is_volatile(*i)) {
        return;
    }
    // SAFETY: live instructions of the module, which nothing else uses meanwhile; each is erased behind the last use.
    unsafe {
        let moved = signatures::widen(module);
        ir::functions(module)
            .into_iter()
            .filter(|f| moved.results.contains_key(&f.as_value_ref()))
            .for_each(name_unused);
        for function in ir::functions(module) {
            let all = ir::blocks(function).into_iter().flat_map(|b| b.instructions());
            let concerned: Vec<Value> = all.filter(|i| is_concerned(*i)).collect();
            if !concerned.is_empty() {
                Memory::of(module, function, &moved).rewrite(concerned);
            }
        }
        moved.forget_old();
    }
}

/// Has 1 come where a phi of a number has nothing, which is what a tape has of branches that were not taken. Before each such phi whose value is
/// stored LLVM asks whether its edge is never taken, for which it looks at all instructions between: thousands, for each of thousands.
fn name_unused(function: FunctionValue<'_>) {
    for phi in ir::blocks(function).into_iter().flat_map(|b| b.phis()) {
        // SAFETY: a live phi, of a type that the constant is made of.
        unsafe {
            let one = match LLVMGetTypeKind(phi.ty()) {
                LLVMDoubleTypeKind | LLVMFloatTypeKind => LLVMConstReal(phi.ty(), 1.0),
                LLVMIntegerTypeKind => LLVMConstInt(phi.ty(), 1, 0),
                _ => continue,
            };
            for (number, (value, _)) in (0..).zip(phi.incoming()) {
                if LLVMIsUndef(value.0) != 0 {
                    LLVMSetOperand(phi.0, number, one);
                }
            }
        }
    }
}

/// Whether an instruction defines or uses a large structure.
fn is_concerned(i: Value) -> bool {
    is_large(i.ty()) || i.operands().into_iter().any(|operand| is_large(operand.ty()))
}

fn is_volatile(i: Value) -> bool {
    // SAFETY: asked of a live access only.
    (i.is(Op::LLVMLoad) || i.is(Op::LLVMStore)) && unsafe { LLVMGetVolatile(i.0) } != 0
}

/// The `insertvalue` that another one continues, and nothing else uses.
fn continued(link: Value) -> Option<Value> {
    let before = link.is(Op::LLVMInsertValue).then(|| link.operand(0))?;
    (before.is(Op::LLVMInsertValue) && before.users().len() == 1).then_some(before)
}

/// The slots of one function.
struct Memory<'a> {
    function: FunctionValue<'a>,
    moved: &'a Moved,
    layout: LLVMTargetDataRef,
    builder: LLVMBuilderRef,
    slots: HashMap<Value, LLVMValueRef>,
    headers: HashSet<Block>,
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        // SAFETY: its own builder.
        unsafe { LLVMDisposeBuilder(self.builder) };
    }
}

impl<'a> Memory<'a> {
    /// # Safety
    ///
    /// A live function of the module.
    unsafe fn of(module: &Module<'_>, function: FunctionValue<'a>, moved: &'a Moved) -> Memory<'a> {
        // SAFETY: by this function's promise.
        let (layout, builder) = unsafe {
            let raw = module.as_mut_ptr();
            (LLVMGetModuleDataLayout(raw), LLVMCreateBuilderInContext(LLVMGetModuleContext(raw)))
        };
        let headers = cfg::headers(&ir::blocks(function));
        Memory { function, moved, layout, builder, slots: HashMap::new(), headers }
    }

    /// # Safety
    ///
    /// As [`Memory::of`].
    unsafe fn rewrite(mut self, concerned: Vec<Value>) {
        // SAFETY: live instructions; a value that is erased has no user but those that are erased, too.
        unsafe {
            let done: Vec<Value> = concerned.into_iter().filter(|i| self.one(*i)).collect();
            for i in done.iter().filter(|i| !i.users().is_empty()) {
                LLVMReplaceAllUsesWith(i.0, LLVMGetUndef(i.ty()));
            }
            done.into_iter().for_each(Value::erase);
        }
    }

    /// Rewrites an instruction. Returns whether it is to be erased.
    unsafe fn one(&mut self, i: Value) -> bool {
        // SAFETY: see `rewrite`; each operand asked for is one of the kind of instruction.
        unsafe {
            LLVMPositionBuilderBefore(self.builder, i.0);
            match i.op() {
                Some(Op::LLVMLoad) if self.moved.views.contains_key(&i) => {}
                Some(Op::LLVMLoad) => {
                    let slot = self.slot(i);
                    self.copy(slot, i.operand(0).0, i.ty(), LLVMGetAlignment(i.0));
                }
                Some(Op::LLVMStore) => return self.store(i.operand(1).0, i.operand(0), LLVMGetAlignment(i.0)),
                Some(Op::LLVMInsertValue) => self.insert(i),
                Some(Op::LLVMExtractValue) => return self.extract(i),
                Some(Op::LLVMCall) => return self.call(i),
                Some(Op::LLVMRet) => return self.give_back(i),
                Some(Op::LLVMPHI) if self.headers.contains(&i.parent()) => self.carry(i),
                Some(Op::LLVMPHI | Op::LLVMSelect) => drop(self.slot(i)),
                _ => {
                    let slot = self.slot(i);
                    self.keep(slot, i.operand(0));
                }
            }
            true
        }
    }

    /// The memory of a value that an instruction defines.
    unsafe fn slot(&mut self, value: Value) -> LLVMValueRef {
        // SAFETY: see `rewrite`.
        unsafe {
            if let Some(slot) = self.slots.get(&value).or_else(|| self.moved.views.get(&value)) {
                return *slot;
            }
            match value.op() {
                Some(Op::LLVMExtractValue) => return self.part(value),
                Some(Op::LLVMSelect) => return self.choice(value),
                Some(Op::LLVMPHI) if !self.headers.contains(&value.parent()) => return self.merge(value),
                _ => {}
            }
            let mut chain = vec![value];
            let mut link = value;
            let slot = loop {
                match continued(link) {
                    None => break self.new_slot(value.ty()),
                    Some(before) if self.slots.contains_key(&before) => break self.slots[&before],
                    Some(before) => {
                        chain.push(before);
                        link = before;
                    }
                }
            };
            self.slots.extend(chain.into_iter().map(|link| (link, slot)));
            slot
        }
    }

    /// A view of a part that is large itself.
    unsafe fn part(&mut self, part: Value) -> LLVMValueRef {
        // SAFETY: an `extractvalue` of a large structure that an instruction defines.
        unsafe {
            let whole = self.slot(part.operand(0));
            let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(part.ty()));
            LLVMPositionBuilderBefore(builder, part.0);
            let view = element(builder, part.operand(0).ty(), whole, part);
            LLVMDisposeBuilder(builder);
            self.slots.insert(part, view);
            view
        }
    }

    unsafe fn new_slot(&self, ty: LLVMTypeRef) -> LLVMValueRef {
        // SAFETY: a function with a body.
        unsafe {
            let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(ty));
            let entry = LLVMGetEntryBasicBlock(self.function.as_value_ref());
            LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(entry));
            let slot = LLVMBuildAlloca(builder, ty, c"large".as_ptr());
            LLVMSetAlignment(slot, LLVMABIAlignmentOfType(self.layout, ty).max(8));
            LLVMDisposeBuilder(builder);
            slot
        }
    }

    fn alignment(&self, ty: LLVMTypeRef) -> u32 {
        // SAFETY: a live type of the module.
        unsafe { LLVMABIAlignmentOfType(self.layout, ty) }
    }

    unsafe fn copy(&self, to: LLVMValueRef, from: LLVMValueRef, ty: LLVMTypeRef, alignment: u32) {
        if to == from {
            return;
        }
        // SAFETY: the builder has a place; both lead to memory of the type.
        unsafe { LLVMBuildMemCpy(self.builder, to, alignment, from, alignment, self.bytes(ty)) };
    }

    unsafe fn bytes(&self, ty: LLVMTypeRef) -> LLVMValueRef {
        // SAFETY: a live type.
        unsafe {
            let count = LLVMStoreSizeOfType(self.layout, ty);
            LLVMConstInt(LLVMInt64TypeInContext(LLVMGetTypeContext(ty)), count, 0)
        }
    }

    /// Writes a large value to memory. Returns false where it is a constant that has to be stored as it is.
    unsafe fn store(&mut self, to: LLVMValueRef, value: Value, alignment: u32) -> bool {
        // SAFETY: the builder has a place, before which the value is defined.
        unsafe {
            let ty = value.ty();
            if value.is_instruction() {
                let slot = self.slot(value);
                self.copy(to, slot, ty, alignment);
            } else if LLVMIsUndef(value.0) == 0 {
                if LLVMIsNull(value.0) == 0 {
                    return false;
                }
                let zero = LLVMConstNull(LLVMInt8TypeInContext(LLVMGetTypeContext(ty)));
                LLVMBuildMemSet(self.builder, to, zero, self.bytes(ty), alignment);
            }
            true
        }
    }

    /// The same, of any constant.
    unsafe fn keep(&mut self, to: LLVMValueRef, value: Value) {
        // SAFETY: see `store`.
        unsafe {
            if !self.store(to, value, self.alignment(value.ty())) {
                LLVMBuildStore(self.builder, value.0, to);
            }
        }
    }

    unsafe fn insert(&mut self, i: Value) {
        // SAFETY: see `rewrite`; an `insertvalue`.
        unsafe {
            let slot = self.slot(i);
            let (whole, part) = (i.operand(0), i.operand(1));
            let shares = whole.is_instruction() && self.slots.get(&whole) == Some(&slot);
            if !shares {
                self.keep(slot, whole);
            }
            let place = element(self.builder, i.ty(), slot, i);
            if is_large(part.ty()) {
                self.keep(place, part);
            } else {
                let store = LLVMBuildStore(self.builder, part.0, place);
                LLVMSetAlignment(store, self.member_alignment(i.ty(), part.ty()));
            }
        }
    }

    unsafe fn extract(&mut self, i: Value) -> bool {
        let whole = i.operand(0);
        if !whole.is_instruction() {
            return false;
        }
        // SAFETY: see `rewrite`; an `extractvalue`.
        unsafe {
            if is_large(i.ty()) {
                self.slot(i);
                return true;
            }
            let slot = self.slot(whole);
            let place = element(self.builder, whole.ty(), slot, i);
            let load = LLVMBuildLoad2(self.builder, i.ty(), place, NONE);
            LLVMSetAlignment(load, self.member_alignment(whole.ty(), i.ty()));
            LLVMReplaceAllUsesWith(i.0, load);
        }
        true
    }

    /// How a member is aligned for sure: of a packed structure not at all.
    unsafe fn member_alignment(&self, whole: LLVMTypeRef, member: LLVMTypeRef) -> u32 {
        // SAFETY: live types.
        unsafe { if is_packed(whole) { 1 } else { LLVMABIAlignmentOfType(self.layout, member) } }
    }

    unsafe fn call(&mut self, i: Value) -> bool {
        // SAFETY: see `rewrite`; a call.
        unsafe {
            let Some(target) = self.moved.target(i) else {
                self.pass_values(i);
                return false;
            };
            let result = target.returns_large.then(|| self.slot(i));
            let mut given: Vec<LLVMValueRef> = result.into_iter().collect();
            for argument in 0..LLVMGetNumArgOperands(i.0) {
                let value = i.operand(argument);
                given.push(if is_large(value.ty()) { self.address_at(value, i.0) } else { value.0 });
            }
            let ty = LLVMGlobalGetValueType(target.new);
            let new = LLVMBuildCall2(self.builder, ty, target.new, given.as_mut_ptr(), given.len() as u32, NONE);
            LLVMSetInstructionCallConv(new, LLVMGetInstructionCallConv(i.0));
            LLVMInstructionSetDebugLoc(new, LLVMInstructionGetDebugLoc(i.0));
            if !target.returns_large {
                LLVMReplaceAllUsesWith(i.0, new);
            }
            true
        }
    }

    /// A call of a function that takes or returns the values themselves.
    unsafe fn pass_values(&mut self, i: Value) {
        // SAFETY: see `rewrite`; a call.
        unsafe {
            for argument in 0..LLVMGetNumArgOperands(i.0) {
                let value = i.operand(argument);
                if is_large(value.ty()) && value.is_instruction() {
                    let slot = self.slot(value);
                    LLVMSetOperand(i.0, argument, LLVMBuildLoad2(self.builder, value.ty(), slot, NONE));
                }
            }
            if is_large(i.ty()) {
                let slot = self.slot(i);
                LLVMPositionBuilderBefore(self.builder, i.next().0);
                LLVMBuildStore(self.builder, i.0, slot);
            }
        }
    }

    unsafe fn give_back(&mut self, i: Value) -> bool {
        let value = i.operand(0);
        // SAFETY: see `rewrite`; a `ret` of a large value.
        unsafe {
            if let Some(place) = self.moved.results.get(&self.function.as_value_ref()) {
                self.keep(*place, value);
                LLVMBuildRetVoid(self.builder);
                return true;
            }
            if value.is_instruction() {
                let slot = self.slot(value);
                LLVMSetOperand(i.0, 0, LLVMBuildLoad2(self.builder, value.ty(), slot, NONE));
            }
            false
        }
    }

    /// Each edge to a loop's header writes to memory of its own, which the header reads: the last value may be in use until then.
    unsafe fn carry(&mut self, i: Value) {
        // SAFETY: see `rewrite`; a phi.
        unsafe {
            let slot = self.slot(i);
            let coming = self.new_slot(i.ty());
            for (value, Block(from)) in i.incoming() {
                LLVMPositionBuilderBefore(self.builder, LLVMGetBasicBlockTerminator(from));
                self.keep(coming, value);
            }
            LLVMPositionBuilderBefore(self.builder, i.parent().first_after_phis().0);
            self.copy(slot, coming, i.ty(), self.alignment(i.ty()));
        }
    }

    /// The address that a phi of addresses has instead. Where nothing comes it leads to memory, too: what is copied from there is not used.
    unsafe fn merge(&mut self, phi: Value) -> LLVMValueRef {
        // SAFETY: see `rewrite`; a phi, none of whose incoming values is defined behind it.
        unsafe {
            let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(phi.ty()));
            LLVMPositionBuilderBefore(builder, phi.0);
            let addresses = LLVMBuildPhi(builder, LLVMPointerTypeInContext(LLVMGetTypeContext(phi.ty()), 0), NONE);
            LLVMDisposeBuilder(builder);
            self.slots.insert(phi, addresses);
            for (value, Block(from)) in phi.incoming() {
                let address = self.address_at(value, LLVMGetBasicBlockTerminator(from));
                LLVMAddIncoming(addresses, &mut { address }, &mut { from }, 1);
            }
            addresses
        }
    }

    unsafe fn choice(&mut self, select: Value) -> LLVMValueRef {
        // SAFETY: see `rewrite`; a `select`.
        unsafe {
            let [yes, no] = [1, 2].map(|side| self.address_at(select.operand(side), select.0));
            let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(select.ty()));
            LLVMPositionBuilderBefore(builder, select.0);
            let chosen = LLVMBuildSelect(builder, select.operand(0).0, yes, no, NONE);
            LLVMDisposeBuilder(builder);
            self.slots.insert(select, chosen);
            chosen
        }
    }

    /// An address of a large value, for a use at that place.
    unsafe fn address_at(&mut self, value: Value, place: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: a live instruction, before which the value is defined; the builder is put back where it was.
        unsafe {
            if value.is_instruction() {
                return self.slot(value);
            }
            let slot = self.new_slot(value.ty());
            let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(value.ty()));
            LLVMPositionBuilderBefore(builder, place);
            let own = std::mem::replace(&mut self.builder, builder);
            self.keep(slot, value);
            LLVMDisposeBuilder(std::mem::replace(&mut self.builder, own));
            slot
        }
    }
}

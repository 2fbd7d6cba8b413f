//! Handles of values and basic blocks that can be compared, looked up and followed in both directions.
//!
//! inkwell types values by kind, which suits building code. A pass that follows definitions and uses wants one kind of
//! handle. Handles are valid as long as the module lives and the value was not erased; a pass drops them when it ends.

use super::crash_trace;
use super::markers::INACCESSIBLE_MEMORY;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
pub use llvm_sys::LLVMOpcode as Op;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMAttributeRef, LLVMBasicBlockRef, LLVMTypeRef, LLVMValueRef};
use llvm_sys::{LLVMAtomicOrdering, LLVMTypeKind};

/// LLVM's C API: `LLVMFastMathAllowReassoc`.
pub const REASSOCIATE: u32 = 1 << 0;

/// Flag of operations that may be fused, which the user's own operations have.
pub const CONTRACT: u32 = 1 << 5;

/// Any value: an instruction, an argument, a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value(pub LLVMValueRef);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Block(pub LLVMBasicBlockRef);

/// The functions of a module that have a body.
pub fn functions<'ctx>(module: &Module<'ctx>) -> Vec<FunctionValue<'ctx>> {
    module.get_functions().filter(|f| f.count_basic_blocks() > 0).collect()
}

/// The blocks of a function, which the crash trace names from here on.
pub fn blocks(function: FunctionValue<'_>) -> Vec<Block> {
    crash_trace::function(function.get_name().to_bytes());
    function.get_basic_blocks().iter().map(|b| Block(b.as_mut_ptr())).collect()
}

/// Every instruction of a module, in order.
pub fn all_instructions(module: &Module<'_>) -> Vec<Value> {
    let bodies = module.get_functions().flat_map(|f| f.get_basic_blocks());
    bodies.flat_map(|b| Block(b.as_mut_ptr()).instructions()).collect()
}

/// Whether a value is an argument of a function.
pub fn is_argument(value: Value) -> bool {
    // SAFETY: asked of a live value.
    !unsafe { LLVMIsAArgument(value.0) }.is_null()
}

/// The arguments of a function.
pub fn arguments(function: FunctionValue<'_>) -> Vec<Value> {
    function.get_params().iter().map(|p| Value(p.as_value_ref())).collect()
}

// SAFETY of every block below: the handle is of a live value or block, by the rule of this module, and each function
// is called only on the kind of value that it takes, as the test before it ensures.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Block {
    /// The instructions, first to last.
    pub fn instructions(self) -> Vec<Value> {
        let mut all = Vec::new();
        let mut next = unsafe { LLVMGetFirstInstruction(self.0) };
        while !next.is_null() {
            all.push(Value(next));
            next = unsafe { LLVMGetNextInstruction(next) };
        }
        all
    }

    /// Its phis.
    pub fn phis(self) -> Vec<Value> {
        self.instructions().into_iter().take_while(|i| i.is(Op::LLVMPHI)).collect()
    }

    /// The last instruction.
    pub fn terminator(self) -> Value {
        Value(unsafe { LLVMGetBasicBlockTerminator(self.0) })
    }

    /// Its successors, one entry per edge.
    pub fn successors(self) -> Vec<Block> {
        let end = self.terminator().0;
        (0..unsafe { LLVMGetNumSuccessors(end) }).map(|i| Block(unsafe { LLVMGetSuccessor(end, i) })).collect()
    }

    /// Its first instruction that is no phi.
    pub fn first_after_phis(self) -> Value {
        self.instructions().into_iter().find(|i| !i.is(Op::LLVMPHI)).unwrap_or_else(|| self.terminator())
    }

    /// Its predecessors, one entry per edge.
    pub fn predecessors(self) -> Vec<Block> {
        let mut all = Vec::new();
        let mut next = unsafe { LLVMGetFirstUse(LLVMBasicBlockAsValue(self.0)) };
        while !next.is_null() {
            let user = Value(unsafe { LLVMGetUser(next) });
            if user.is_instruction() {
                all.push(user.parent());
            }
            next = unsafe { LLVMGetNextUse(next) };
        }
        all
    }
}

#[allow(clippy::undocumented_unsafe_blocks)]
impl Value {
    /// Whether it is an instruction.
    pub fn is_instruction(self) -> bool {
        !unsafe { LLVMIsAInstruction(self.0) }.is_null()
    }

    /// Whether it is an instruction of this kind.
    pub fn is(self, op: Op) -> bool {
        self.op() == Some(op)
    }

    /// The kind of instruction.
    pub fn op(self) -> Option<Op> {
        self.is_instruction().then(|| unsafe { LLVMGetInstructionOpcode(self.0) })
    }

    /// The instruction after it.
    pub fn next(self) -> Value {
        Value(unsafe { LLVMGetNextInstruction(self.0) })
    }

    /// The block that an instruction stands in.
    pub fn parent(self) -> Block {
        Block(unsafe { LLVMGetInstructionParent(self.0) })
    }

    /// Whether it is an instruction of this block.
    pub fn stands_in(self, block: Block) -> bool {
        self.is_instruction() && self.parent() == block
    }

    /// An operand.
    pub fn operand(self, i: u32) -> Value {
        Value(unsafe { LLVMGetOperand(self.0, i) })
    }

    /// All operands.
    pub fn operands(self) -> Vec<Value> {
        let count = u32::try_from(unsafe { LLVMGetNumOperands(self.0) }).unwrap_or(0);
        (0..count).map(|i| self.operand(i)).collect()
    }

    /// What an address is computed from by steps.
    pub fn base(self) -> Value {
        let mut base = self;
        while base.is(Op::LLVMGetElementPtr) {
            base = base.operand(0);
        }
        base
    }

    /// The users, one entry per use.
    pub fn users(self) -> Vec<Value> {
        let mut all = Vec::new();
        let mut next = unsafe { LLVMGetFirstUse(self.0) };
        while !next.is_null() {
            all.push(Value(unsafe { LLVMGetUser(next) }));
            next = unsafe { LLVMGetNextUse(next) };
        }
        all
    }

    /// The users inside a block.
    pub fn users_in(self, block: Block) -> Vec<Value> {
        self.users().into_iter().filter(|u| u.stands_in(block)).collect()
    }

    /// Values and edges of a phi.
    pub fn incoming(self) -> Vec<(Value, Block)> {
        let edge =
            |i| (Value(unsafe { LLVMGetIncomingValue(self.0, i) }), Block(unsafe { LLVMGetIncomingBlock(self.0, i) }));
        (0..unsafe { LLVMCountIncoming(self.0) }).map(edge).collect()
    }

    /// Its type.
    pub fn ty(self) -> LLVMTypeRef {
        unsafe { LLVMTypeOf(self.0) }
    }

    /// Whether it is a `float` or a `double`.
    pub fn is_float(self) -> bool {
        matches!(self.kind(), LLVMTypeKind::LLVMFloatTypeKind | LLVMTypeKind::LLVMDoubleTypeKind)
    }

    /// Whether it is a `double`.
    pub fn is_double(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMDoubleTypeKind
    }

    /// Whether it is a `float`, a `double`, or a vector of them.
    pub fn holds_floats(self) -> bool {
        let element = match self.kind() {
            LLVMTypeKind::LLVMVectorTypeKind => unsafe { LLVMGetTypeKind(LLVMGetElementType(self.ty())) },
            scalar => scalar,
        };
        matches!(element, LLVMTypeKind::LLVMFloatTypeKind | LLVMTypeKind::LLVMDoubleTypeKind)
    }

    /// Whether it is a pointer.
    pub fn is_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind
    }

    /// The kind of its type.
    pub fn kind(self) -> LLVMTypeKind {
        unsafe { LLVMGetTypeKind(self.ty()) }
    }

    /// The value of an integer constant.
    pub fn constant(self) -> Option<i64> {
        let known = unsafe { LLVMIsAConstantInt(self.0) };
        (!known.is_null()).then(|| unsafe { LLVMConstIntGetSExtValue(known) })
    }

    /// Whether it is a floating-point constant.
    pub fn is_number(self) -> bool {
        !unsafe { LLVMIsAConstantFP(self.0) }.is_null()
    }

    /// The name; empty where it has none.
    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: a live value's name has so many bytes.
        unsafe {
            let name = LLVMGetValueName2(self.0, &mut length);
            String::from_utf8_lossy(std::slice::from_raw_parts(name.cast(), length)).into_owned()
        }
    }

    /// The name of the function that a call calls by name.
    pub fn callee(self) -> Option<String> {
        if !self.is(Op::LLVMCall) && !self.is(Op::LLVMInvoke) {
            return None;
        }
        let callee = unsafe { LLVMGetCalledValue(self.0) };
        if unsafe { LLVMIsAFunction(callee) }.is_null() {
            return None;
        }
        Some(Value(callee).name())
    }

    /// What a call calls.
    pub fn called(self) -> Option<Value> {
        let is_call = self.is(Op::LLVMCall) || self.is(Op::LLVMInvoke);
        is_call.then(|| Value(unsafe { LLVMGetCalledValue(self.0) }))
    }

    /// Whether it is a basic block, as an operand of a terminator.
    pub fn is_block(self) -> bool {
        unsafe { LLVMValueIsBasicBlock(self.0) != 0 }
    }

    /// Whether a call may write to memory, by the attributes of the function that it calls by name.
    pub fn may_write(self) -> bool {
        self.may_write_beside(0)
    }

    /// Whether a call may write to memory that a program reads.
    pub fn may_write_visibly(self) -> bool {
        self.may_write_beside(INACCESSIBLE_MEMORY)
    }

    /// Whether a call may write to other memory than in these places.
    fn may_write_beside(self, places: u64) -> bool {
        // LLVM's encoding: two bits per location, the upper one for writes.
        const WRITES: u64 = 0xAAAA_AAAA_AAAA_AAAA;
        let memory = self.callee_attribute("memory");
        memory.is_none_or(|memory| unsafe { LLVMGetEnumAttributeValue(memory) } & WRITES & !places != 0)
    }

    /// Whether an `or` is known to be an addition.
    pub fn is_disjoint(self) -> bool {
        self.is(Op::LLVMOr) && unsafe { LLVMGetIsDisjoint(self.0) } != 0
    }

    /// Whether it is the null pointer, `undef` or `poison`.
    pub fn is_null_or_undefined(self) -> bool {
        unsafe {
            LLVMIsConstant(self.0) != 0
                && (LLVMIsNull(self.0) != 0 || LLVMIsUndef(self.0) != 0 || LLVMIsPoison(self.0) != 0)
        }
    }

    /// Whether it is the end of a block.
    pub fn is_terminator(self) -> bool {
        !unsafe { LLVMIsATerminatorInst(self.0) }.is_null()
    }

    /// Whether a load or store is volatile or atomic.
    pub fn is_special(self) -> bool {
        unsafe {
            LLVMGetVolatile(self.0) != 0 || LLVMGetOrdering(self.0) != LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
        }
    }

    /// Whether a call touches no memory and always returns.
    pub fn only_computes(self) -> bool {
        let memory = self.callee_attribute("memory");
        let untouched = memory.is_some_and(|memory| unsafe { LLVMGetEnumAttributeValue(memory) } == 0);
        untouched && self.callee_attribute("willreturn").is_some() && self.callee_attribute("nounwind").is_some()
    }

    /// Whether a call never returns: it throws, or ends the program.
    pub fn never_returns(self) -> bool {
        self.callee_attribute("noreturn").is_some()
    }

    /// Whether a call frees no memory.
    pub fn frees_nothing(self) -> bool {
        self.callee().is_some_and(|name| name.starts_with("llvm.")) || self.callee_attribute("nofree").is_some()
    }

    /// An attribute of the function that a call calls by name.
    fn callee_attribute(self, name: &str) -> Option<LLVMAttributeRef> {
        let called = unsafe { LLVMGetCalledValue(self.0) };
        if unsafe { LLVMIsAFunction(called) }.is_null() {
            return None;
        }
        let found = unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            LLVMGetEnumAttributeAtIndex(called, u32::MAX, kind)
        };
        (!found.is_null()).then_some(found)
    }

    /// Whether what a call calls has a body here.
    pub fn calls_a_body(self) -> bool {
        let called = unsafe { LLVMGetCalledValue(self.0) };
        !unsafe { LLVMIsAFunction(called) }.is_null() && unsafe { LLVMCountBasicBlocks(called) } > 0
    }

    /// The argument that a call has as memory for its result (`sret`), counted from zero.
    pub fn result_memory(self) -> Option<u32> {
        let kind = result_memory_kind();
        let arguments = unsafe { LLVMGetNumArgOperands(self.0) };
        (0..arguments).find(|i| !unsafe { LLVMGetCallSiteEnumAttribute(self.0, i + 1, kind) }.is_null())
    }

    /// Makes the memory for the result of a function an argument like others, here and in its calls.
    pub fn pass_result_memory_as_argument(self) {
        let kind = result_memory_kind();
        for index in 1..=unsafe { LLVMCountParams(self.0) } {
            unsafe { LLVMRemoveEnumAttributeAtIndex(self.0, index, kind) };
        }
        self.users().into_iter().filter(|user| user.called() == Some(self)).for_each(Value::forget_result_memory);
    }

    /// The same for a call alone.
    pub fn forget_result_memory(self) {
        let kind = result_memory_kind();
        for index in 1..=unsafe { LLVMGetNumArgOperands(self.0) } {
            unsafe { LLVMRemoveCallSiteEnumAttribute(self.0, index, kind) };
        }
    }

    /// Whether the called function promises to keep no copy of a pointer that it is given.
    pub fn keeps_no_copy_of(self, pointer: Value) -> bool {
        self.promises(pointer, "captures")
    }

    /// Whether the called function promises not to write where a pointer leads that it is given.
    pub fn only_reads(self, pointer: Value) -> bool {
        self.promises(pointer, "readonly") || self.promises(pointer, "readnone")
    }

    /// Whether the called function has an attribute, with the value 0, for all parameters that it is given a pointer for.
    fn promises(self, pointer: Value, name: &str) -> bool {
        let called = unsafe { LLVMGetCalledValue(self.0) };
        if unsafe { LLVMIsAFunction(called) }.is_null() {
            return false;
        }
        let kind = unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) };
        let promises = |i: u32| unsafe {
            let attribute = LLVMGetEnumAttributeAtIndex(called, i + 1, kind);
            !attribute.is_null() && LLVMGetEnumAttributeValue(attribute) == 0
        };
        let arguments = unsafe { LLVMGetNumArgOperands(self.0) };
        (0..arguments).filter(|i| self.operand(*i) == pointer).all(promises)
    }

    /// The floating-point flags, where the instruction has any.
    pub fn flags(self) -> Option<u32> {
        let can = self.is_instruction() && unsafe { LLVMCanValueUseFastMathFlags(self.0) } != 0;
        can.then(|| unsafe { LLVMGetFastMathFlags(self.0) })
    }

    /// Sets the floating-point flags of an instruction that has them.
    pub fn set_flags(self, flags: u32) {
        if self.flags().is_some() {
            unsafe { LLVMSetFastMathFlags(self.0, flags) };
        }
    }

    /// Has the next inliner inline a call.
    pub fn inline_always(self) {
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(c"alwaysinline".as_ptr(), 12);
            let context = LLVMGetValueContext(self.0);
            LLVMAddCallSiteAttribute(self.0, u32::MAX, LLVMCreateEnumAttribute(context, kind, 0));
        }
    }

    /// Removes an instruction that nothing uses.
    pub fn erase(self) {
        unsafe { LLVMInstructionEraseFromParent(self.0) };
    }
}

fn result_memory_kind() -> u32 {
    // SAFETY: a name and its length.
    unsafe { LLVMGetEnumAttributeKindForName(c"sret".as_ptr(), 4) }
}

//! Counts the branches that the forward sweep takes where values, or integers that are data, decide the path: the driver verifies a gradient on a new path.
//!
//! Before Enzyme ([`mark`]) each such branch, switch and choice calls a marker with its number and the edge that it takes, and so does each call of a
//! function that was chosen and is not known. The marker stands before the branch, not on its edges, so that Enzyme sees the same CFG. It has no derivative, and the memory that it writes is nobody's:
//! it runs once in each forward sweep and is never repeated by the reverse sweep.
//!
//! After Enzyme ([`lower`]) a marker becomes code that counts pairs of consecutive edges in a thread-local map; the last edge is kept for each
//! function in a register. With few edges each pair has a counter of its own; with more of them pairs may share one, as in coverage-guided fuzzers:
//!
//! ```text
//! map[last * EDGES + edge] += 1;  last = edge;          map[(last >> 1) ^ hash(edge)] += 1;  last = hash(edge);
//! ```
//!
//! A choice between two numbers by an equality test is counted without its neighbours, in registers that are added to the map where the function
//! returns: such loops can still be vectorised.

use crate::analysis::value_paths;
use crate::ir::{self, Op, Result, Value, markers};
use crate::lowering::dead_ends;
use core_ad::protocol::PATH_MAP;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMContextRef, LLVMTypeRef, LLVMValueRef};
use llvm_sys::{LLVMIntPredicate, LLVMLinkage, LLVMTailCallKind, LLVMThreadLocalMode, LLVMTypeKind};
use std::collections::HashSet;

/// LLVM's encoding of `memory(inaccessiblemem: readwrite)`.
const MARKED: u64 = 0b1100;

/// Up to so many edges each pair has a counter of its own: about a thousand counters, which are cleared and compared in each call.
const FEW: u64 = 31;

/// Counters where pairs share them.
const SHARED: u64 = 4096;

/// Above so many edges a switch counts the last digits of its value instead; a power of two.
const MOST_CASES: u32 = 64;

/// An odd number that spreads edges over the map (Knuth's multiplicative hashing).
const SPREAD: u32 = 0x9E37_79B1;

const HIGH: u32 = 15;

/// With more markers than this, a function counts the pairs: ten instructions at each of them would be half of the code that LLVM has to compile.
const MANY: usize = 1000;

/// LLVM's number of the calling convention that keeps nearly all registers.
const PRESERVE_MOST: u32 = 14;

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// Puts a marker before each instruction at which values decide, except in these functions.
///
/// # Errors
///
/// None but LLVM's.
pub fn mark(module: &Module<'_>, except: &[String]) -> Result<()> {
    let by_values = value_paths::of_calls(module);
    let mut number = 0;
    let mut marked = HashSet::new();
    for function in ir::functions(module) {
        let name = function.get_name().to_string_lossy().into_owned();
        let Some(paths) = by_values.get(&name).filter(|_| !except.contains(&name)) else { continue };
        for &place in &paths.places {
            let edges = mark_one(module, place, number);
            if edges > 0 {
                number += edges;
                marked.insert(name.clone());
            }
        }
    }
    admit_effects(module, marked);
    Ok(())
}

/// Puts the marker before one instruction and returns how many edges it has; addresses have none.
fn mark_one(module: &Module<'_>, place: Value, first: u64) -> u64 {
    // SAFETY: a live instruction of the module; each function is called on the kind of instruction that it takes.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let word = LLVMInt32TypeInContext(context);
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, place.0);
        let edge = match place.op() {
            Some(Op::LLVMSwitch) => {
                let edges = LLVMGetNumSuccessors(place.0).min(MOST_CASES);
                Some((u64::from(edges), case_number(module, builder, place, word)))
            }
            Some(Op::LLVMSelect) if LLVMGetTypeKind(place.operand(0).ty()) != LLVMTypeKind::LLVMIntegerTypeKind => None,
            Some(Op::LLVMCall | Op::LLVMInvoke) => {
                place.called().map(|callee| (u64::from(MOST_CASES), function_number(builder, callee, context)))
            }
            Some(Op::LLVMBr) => {
                let taken = dead_ends::decider(module, builder, place).0;
                Some((2, LLVMBuildZExt(builder, taken, word, NONE)))
            }
            Some(Op::LLVMSelect) => Some((2, LLVMBuildZExt(builder, place.operand(0).0, word, NONE))),
            _ => None,
        };
        if let Some((edges, taken)) = edge {
            let is_number = place.is(Op::LLVMSelect) && place.holds_floats();
            let marker = if is_number { markers::choice_marker(module) } else { markers::path_marker(module) };
            let mut arguments = [LLVMConstInt(word, first, 0), LLVMConstInt(word, edges, 0), taken];
            let ty = LLVMGlobalGetValueType(marker.as_value_ref());
            LLVMBuildCall2(builder, ty, marker.as_value_ref(), arguments.as_mut_ptr(), 3, NONE);
        }
        LLVMDisposeBuilder(builder);
        edge.map_or(0, |(edges, _)| edges)
    }
}

/// Which of its edges a switch takes.
///
/// # Safety
///
/// The builder stands right before a live switch.
unsafe fn case_number(module: &Module<'_>, builder: LLVMBuilderRef, switch: Value, word: LLVMTypeRef) -> LLVMValueRef {
    // SAFETY: by this function's promise; the first successor is the default's, and each other one has a value.
    unsafe {
        let given = dead_ends::decider(module, builder, switch);
        let successors = LLVMGetNumSuccessors(switch.0);
        if successors > MOST_CASES {
            let digits = LLVMConstInt(word, u64::from(MOST_CASES - 1), 0);
            return LLVMBuildAnd(builder, LLVMBuildIntCast2(builder, given.0, word, 0, NONE), digits, NONE);
        }
        let mut edge = LLVMConstInt(word, 0, 0);
        for number in 1..successors {
            let case = LLVMGetSwitchCaseValue(switch.0, number);
            let is_case = LLVMBuildICmp(builder, LLVMIntPredicate::LLVMIntEQ, given.0, case, NONE);
            edge = LLVMBuildSelect(builder, is_case, LLVMConstInt(word, u64::from(number), 0), edge, NONE);
        }
        edge
    }
}

/// A number for a function that is called by a pointer: digits of its address that are the same wherever its library is loaded.
///
/// # Safety
///
/// The builder stands before a live call of the pointer.
unsafe fn function_number(builder: LLVMBuilderRef, callee: Value, context: LLVMContextRef) -> LLVMValueRef {
    // SAFETY: by this function's promise.
    unsafe {
        let (word, wide) = (LLVMInt32TypeInContext(context), LLVMInt64TypeInContext(context));
        let address = LLVMBuildPtrToInt(builder, callee.0, wide, NONE);
        // Functions begin at multiples of 16.
        let shifted = LLVMBuildLShr(builder, address, LLVMConstInt(wide, 4, 0), NONE);
        let digits = LLVMBuildAnd(builder, shifted, LLVMConstInt(wide, u64::from(MOST_CASES - 1), 0), NONE);
        LLVMBuildTrunc(builder, digits, word, NONE)
    }
}

/// Functions with a marker, and those that call them, no longer leave all memory alone: a call of them must not be dropped or repeated.
fn admit_effects(module: &Module<'_>, mut marked: HashSet<String>) {
    let calls: Vec<(FunctionValue<'_>, Value, String)> = ir::functions(module)
        .into_iter()
        .flat_map(|f| ir::blocks(f).into_iter().flat_map(|b| b.instructions()).map(move |i| (f, i)))
        .filter_map(|(f, i)| Some((f, i, i.callee()?)))
        .collect();
    loop {
        let before = marked.len();
        for (caller, _, callee) in &calls {
            if marked.contains(callee) {
                marked.insert(caller.get_name().to_string_lossy().into_owned());
            }
        }
        if marked.len() == before {
            break;
        }
    }
    let kind = Attribute::get_named_enum_kind_id("memory");
    for function in marked.iter().filter_map(|name| module.get_function(name)) {
        if let Some(memory) = function.get_enum_attribute(AttributeLoc::Function, kind) {
            let more = module.get_context().create_enum_attribute(kind, memory.get_enum_value() | MARKED);
            function.remove_enum_attribute(AttributeLoc::Function, kind);
            function.add_attribute(AttributeLoc::Function, more);
        }
    }
    for (_, call, _) in calls.iter().filter(|(_, _, callee)| marked.contains(callee)) {
        // SAFETY: a live call of this module.
        unsafe {
            let memory = LLVMGetCallSiteEnumAttribute(call.0, u32::MAX, kind);
            if !memory.is_null() {
                let context = LLVMGetModuleContext(module.as_mut_ptr());
                let more = LLVMCreateEnumAttribute(context, kind, LLVMGetEnumAttributeValue(memory) | MARKED);
                LLVMRemoveCallSiteEnumAttribute(call.0, u32::MAX, kind);
                LLVMAddCallSiteAttribute(call.0, u32::MAX, more);
            }
        }
    }
}

/// Replaces the markers of a derivative by code that counts, and exports the map. A derivative without any has no map.
///
/// # Errors
///
/// None but LLVM's.
pub fn lower(module: &Module<'_>) -> Result<()> {
    let all: Vec<Marker> = ir::functions(module).into_iter().flat_map(found).collect();
    let Some(edges) = all.iter().map(|marker| marker.first + marker.edges).max() else { return Ok(()) };
    let map = Map::new(module, edges);
    let mut functions: Vec<LLVMValueRef> = all.iter().map(|marker| marker.function).collect();
    functions.dedup();
    let step = (all.len() > MANY).then(|| map.step());
    for function in functions {
        let markers: Vec<&Marker> = all.iter().filter(|marker| marker.function == function).collect();
        map.count_in(function, &markers, step);
    }
    map.export();
    Ok(())
}

/// A call of a marker.
struct Marker {
    function: LLVMValueRef,
    call: Value,
    first: u64,
    edges: u64,
    is_choice: bool,
}

fn found(function: FunctionValue<'_>) -> Vec<Marker> {
    let marker = |call: Value| {
        let is_choice = match call.callee()?.as_str() {
            markers::PATH => false,
            markers::CHOICE => true,
            _ => return None,
        };
        let number = |i| u64::try_from(call.operand(i).constant()?).ok();
        Some(Marker { function: function.as_value_ref(), call, first: number(0)?, edges: number(1)?, is_choice })
    };
    ir::blocks(function).into_iter().flat_map(|b| b.instructions()).filter_map(marker).collect()
}

/// The map of a module.
struct Map<'m, 'ctx> {
    module: &'m Module<'ctx>,
    global: LLVMValueRef,
    edges: u64,
    /// Counters.
    length: u64,
    word: LLVMTypeRef,
    wide: LLVMTypeRef,
}

impl<'m, 'ctx> Map<'m, 'ctx> {
    /// One row of counters for each edge as the last one, and one for none; choices are counted in that row too.
    fn new(module: &'m Module<'ctx>, edges: u64) -> Self {
        let length = if edges <= FEW { (edges + 1) * edges } else { SHARED };
        // SAFETY: types and a global of a live module.
        unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let (word, wide) = (LLVMInt32TypeInContext(context), LLVMInt64TypeInContext(context));
            let ty = LLVMArrayType2(word, length);
            let global = LLVMAddGlobal(module.as_mut_ptr(), ty, c"ffgrad.path.counts".as_ptr());
            LLVMSetInitializer(global, LLVMConstNull(ty));
            LLVMSetLinkage(global, LLVMLinkage::LLVMInternalLinkage);
            LLVMSetThreadLocalMode(global, LLVMThreadLocalMode::LLVMGeneralDynamicTLSModel);
            LLVMSetAlignment(global, 64);
            Map { module, global, edges, length, word, wide }
        }
    }

    /// The map of the calling thread.
    ///
    /// # Safety
    ///
    /// The builder stands in a function of the module.
    unsafe fn address(&self, builder: LLVMBuilderRef) -> LLVMValueRef {
        // SAFETY: an intrinsic that takes the address of a thread-local global.
        unsafe {
            let name = c"llvm.threadlocal.address";
            let id = LLVMLookupIntrinsicID(name.as_ptr(), name.count_bytes());
            let mut pointer = LLVMTypeOf(self.global);
            let intrinsic = LLVMGetIntrinsicDeclaration(self.module.as_mut_ptr(), id, &mut pointer, 1);
            let ty = LLVMGlobalGetValueType(intrinsic);
            LLVMBuildCall2(builder, ty, intrinsic, &mut { self.global }, 1, NONE)
        }
    }

    fn is_exact(&self) -> bool {
        self.edges <= FEW
    }

    fn constant(&self, number: u64) -> LLVMValueRef {
        // SAFETY: a type of a live context.
        unsafe { LLVMConstInt(self.word, number, 0) }
    }

    /// A function that counts a pair: `void (map, last, edge)`. It keeps nearly all registers, so that a call disturbs little.
    fn step(&self) -> LLVMValueRef {
        // SAFETY: a new function of a live module.
        unsafe {
            let module = self.module.as_mut_ptr();
            let context = LLVMGetModuleContext(module);
            let pointer = LLVMPointerTypeInContext(context, 0);
            let mut parameters = [pointer, pointer, self.word];
            let ty = LLVMFunctionType(LLVMVoidTypeInContext(context), parameters.as_mut_ptr(), 3, 0);
            let function = LLVMAddFunction(module, c"ffgrad.path.step".as_ptr(), ty);
            LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage);
            LLVMSetFunctionCallConv(function, PRESERVE_MOST);
            for name in ["noinline", "nounwind", "willreturn"] {
                let kind = Attribute::get_named_enum_kind_id(name);
                LLVMAddAttributeAtIndex(
                    function,
                    llvm_sys::LLVMAttributeFunctionIndex,
                    LLVMCreateEnumAttribute(context, kind, 0),
                );
            }
            let builder = LLVMCreateBuilderInContext(context);
            LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, function, NONE));
            let parameter = |i| LLVMGetParam(function, i);
            self.count_pair(builder, parameter(0), parameter(1), parameter(2));
            LLVMBuildRetVoid(builder);
            LLVMDisposeBuilder(builder);
            function
        }
    }

    /// Replaces the markers of one function, by calls of `step` where there is one.
    fn count_in(&self, function: LLVMValueRef, markers: &[&Marker], step: Option<LLVMValueRef>) {
        // SAFETY: a live function with a body; the values built in its first block dominate all others.
        unsafe {
            let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(self.module.as_mut_ptr()));
            let start = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
            LLVMPositionBuilderBefore(builder, start);
            let last = self.register(builder, if self.is_exact() { self.edges * self.edges } else { 0 });
            let map = self.address(builder);
            let mut choices = Vec::new();
            for marker in markers {
                LLVMPositionBuilderBefore(builder, marker.call.0);
                let taken = marker.call.operand(2).0;
                if marker.is_choice {
                    choices.push((marker.first, self.count_choice(builder, start, taken)));
                } else {
                    let edge = LLVMBuildAdd(builder, taken, self.constant(marker.first), NONE);
                    match step {
                        Some(step) => {
                            let ty = LLVMGlobalGetValueType(step);
                            let call = LLVMBuildCall2(builder, ty, step, [map, last, edge].as_mut_ptr(), 3, NONE);
                            LLVMSetInstructionCallConv(call, PRESERVE_MOST);
                        }
                        None => self.count_pair(builder, map, last, edge),
                    }
                }
                marker.call.erase();
            }
            for end in returns(function).into_iter().filter(|_| !choices.is_empty()) {
                LLVMPositionBuilderBefore(builder, end.0);
                for (first, counts) in &choices {
                    for (edge, count) in (*first..).zip(counts) {
                        let count = LLVMBuildLoad2(builder, self.word, *count, NONE);
                        let slot =
                            if self.is_exact() { self.edges * self.edges + edge } else { hash(edge) % self.length };
                        self.add(builder, map, self.constant(slot), count);
                    }
                }
            }
            LLVMDisposeBuilder(builder);
        }
    }

    /// A variable with a first value.
    unsafe fn register(&self, builder: LLVMBuilderRef, first: u64) -> LLVMValueRef {
        // SAFETY: the builder stands at the start of a function.
        unsafe {
            let variable = LLVMBuildAlloca(builder, self.word, NONE);
            LLVMBuildStore(builder, self.constant(first), variable);
            variable
        }
    }

    /// Counts the pair of an edge and the last one.
    unsafe fn count_pair(&self, builder: LLVMBuilderRef, map: LLVMValueRef, last: LLVMValueRef, edge: LLVMValueRef) {
        // SAFETY: the builder stands before a marker of a function whose map and last edge these are.
        unsafe {
            let before = LLVMBuildLoad2(builder, self.word, last, NONE);
            if self.is_exact() {
                let row = LLVMBuildMul(builder, edge, self.constant(self.edges), NONE);
                LLVMBuildStore(builder, row, last);
                self.add(builder, map, LLVMBuildAdd(builder, before, edge, NONE), self.constant(1));
                return;
            }
            let product = LLVMBuildMul(builder, edge, self.constant(u64::from(SPREAD)), NONE);
            let high = LLVMBuildLShr(builder, product, self.constant(u64::from(HIGH)), NONE);
            let spread = LLVMBuildXor(builder, product, high, NONE);
            let before = LLVMBuildLShr(builder, before, self.constant(1), NONE);
            let slot = LLVMBuildXor(builder, before, spread, NONE);
            LLVMBuildStore(builder, spread, last);
            let slot = LLVMBuildAnd(builder, slot, self.constant(self.length - 1), NONE);
            self.add(builder, map, slot, self.constant(1));
        }
    }

    /// Counts both outcomes of a choice in variables of its own.
    unsafe fn count_choice(
        &self,
        builder: LLVMBuilderRef,
        start: LLVMValueRef,
        edge: LLVMValueRef,
    ) -> [LLVMValueRef; 2] {
        // SAFETY: the builder stands before a marker of the function that begins at `start`.
        unsafe {
            let first = LLVMCreateBuilderInContext(LLVMGetModuleContext(self.module.as_mut_ptr()));
            LLVMPositionBuilderBefore(first, start);
            let variables = [self.register(first, 0), self.register(first, 0)];
            LLVMDisposeBuilder(first);
            let other = LLVMBuildSub(builder, self.constant(1), edge, NONE);
            for (variable, taken) in variables.into_iter().zip([other, edge]) {
                let count = LLVMBuildLoad2(builder, self.word, variable, NONE);
                LLVMBuildStore(builder, LLVMBuildAdd(builder, count, taken, NONE), variable);
            }
            variables
        }
    }

    unsafe fn add(&self, builder: LLVMBuilderRef, map: LLVMValueRef, slot: LLVMValueRef, count: LLVMValueRef) {
        // SAFETY: the slot is below the length of the map.
        unsafe {
            let mut slot = LLVMBuildZExt(builder, slot, self.wide, NONE);
            let place = LLVMBuildInBoundsGEP2(builder, self.word, map, &mut slot, 1, NONE);
            let before = LLVMBuildLoad2(builder, self.word, place, NONE);
            LLVMBuildStore(builder, LLVMBuildAdd(builder, before, count, NONE), place);
        }
    }

    /// `uint32_t *ffgrad_path_map(uint64_t *length)`.
    fn export(&self) {
        // SAFETY: a new function of a live module.
        unsafe {
            let module = self.module.as_mut_ptr();
            let context = LLVMGetModuleContext(module);
            let pointer = LLVMPointerTypeInContext(context, 0);
            let ty = LLVMFunctionType(pointer, &mut { pointer }, 1, 0);
            let name = std::ffi::CString::new(PATH_MAP).unwrap_or_default();
            let function = LLVMAddFunction(module, name.as_ptr(), ty);
            let builder = LLVMCreateBuilderInContext(context);
            LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, function, NONE));
            LLVMBuildStore(builder, LLVMConstInt(self.wide, self.length, 0), LLVMGetParam(function, 0));
            LLVMBuildRet(builder, self.address(builder));
            LLVMDisposeBuilder(builder);
        }
    }
}

/// Spreads edges over the map as the code in a derivative does: the high bits of the product are the good ones.
fn hash(edge: u64) -> u64 {
    let product = (edge as u32).wrapping_mul(SPREAD);
    u64::from(product ^ product >> HIGH)
}

/// Where a function returns: before a call that must stay last, where there is one.
fn returns(function: LLVMValueRef) -> Vec<Value> {
    let mut all = Vec::new();
    // SAFETY: a live function with a body.
    unsafe {
        let mut block = LLVMGetFirstBasicBlock(function);
        while !block.is_null() {
            let end = Value(LLVMGetBasicBlockTerminator(block));
            if end.is(Op::LLVMRet) {
                let before = LLVMGetPreviousInstruction(end.0);
                let must_stay = !before.is_null()
                    && Value(before).is(Op::LLVMCall)
                    && LLVMGetTailCallKind(before) == LLVMTailCallKind::LLVMTailCallKindMustTail;
                all.push(if must_stay { Value(before) } else { end });
            }
            block = LLVMGetNextBasicBlock(block);
        }
    }
    all
}

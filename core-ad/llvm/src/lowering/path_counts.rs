//! Turns the markers of a derivative ([`path_map`](super::path_map)) into code that counts the branches that the forward sweep takes.
//!
//! Pairs of consecutive edges are counted in a thread-local map; the last edge is kept for each function in a register. With few edges each
//! pair has a counter of its own; with more of them pairs may share one, as in coverage-guided fuzzers:
//!
//! ```text
//! map[last * EDGES + edge] += 1;  last = edge;          map[(last >> 1) ^ hash(edge)] += 1;  last = hash(edge);
//! ```
//!
//! A choice between two numbers by an equality test is counted without its neighbours, in registers that are added to the map where the function
//! returns: such loops can still be vectorised. So are roots of zero, of which only those are counted.
//!
//! A check that fails is the end of the derivative ([`failed_checks`](super::failed_checks)).
//!
//! Flags stand behind these counters, 1 where something was so at least once; the last of all is that of edges that a single value takes. For a loop that values end there is a flag for each
//! power of two that its iterations come to.

use crate::ir::{self, Op, Result, Value, path_markers};
use crate::lowering::failed_checks::FailedChecks;
use core_ad::protocol::PATH_MAP;
use inkwell::attributes::Attribute;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMTypeRef, LLVMValueRef};
use llvm_sys::{LLVMIntPredicate, LLVMLinkage, LLVMTailCallKind, LLVMThreadLocalMode};
use std::collections::BTreeMap;

/// Up to so many edges each pair has a counter of its own: about a thousand counters, which are cleared and compared in each call.
const FEW: u64 = 31;

/// Counters where pairs share them.
const SHARED: u64 = 4096;

/// An odd number that spreads edges over the map (Knuth's multiplicative hashing).
const SPREAD: u32 = 0x9E37_79B1;

const HIGH: u32 = 15;

/// Flags, but for the one of points. Comparisons and loops may share them.
const FLAGS: u64 = 256;

/// Flags for the iterations of a loop: 1, 2 and more, 4 and more, .. 128 and more.
const TRIPS: u64 = 8;

/// With more markers than this, a function counts the pairs: ten instructions at each of them would be half of the code that LLVM has to compile.
const MANY: usize = 1000;

/// LLVM's number of the calling convention that keeps nearly all registers.
const PRESERVE_MOST: u32 = 14;

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// Replaces the markers of a derivative by code that counts, and exports the map. A derivative without any has no map.
///
/// # Errors
///
/// None but LLVM's.
pub fn lower(module: &Module<'_>) -> Result<()> {
    let all: Vec<Marker> = ir::functions(module).into_iter().flat_map(found).collect();
    let counted = all.iter().filter(|marker| matches!(marker.kind, Kind::Pair | Kind::Choice | Kind::Check));
    let Some(edges) = counted.map(|marker| marker.first + marker.edges).max().or((!all.is_empty()).then_some(1)) else {
        return Ok(());
    };
    let map = Map::new(module, edges);
    let stops = all.iter().any(|marker| marker.kind == Kind::Check).then(|| FailedChecks::of(module)).transpose()?;
    let mut functions: Vec<LLVMValueRef> = all.iter().map(|marker| marker.function).collect();
    functions.dedup();
    let step = (all.len() > MANY).then(|| map.step());
    for function in functions {
        let markers: Vec<&Marker> = all.iter().filter(|marker| marker.function == function).collect();
        map.count_in(function, &markers, step, stops.as_ref());
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
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Pair,
    Choice,
    Check,
    Flag,
    Trip,
}

fn found(function: FunctionValue<'_>) -> Vec<Marker> {
    let marker = |call: Value| {
        let kind = match call.callee()?.as_str() {
            path_markers::PATH => Kind::Pair,
            path_markers::CHOICE => Kind::Choice,
            path_markers::CHECK => Kind::Check,
            path_markers::FLAG => Kind::Flag,
            path_markers::TRIP => Kind::Trip,
            _ => return None,
        };
        let number = |i| u64::try_from(call.operand(i).constant()?).ok();
        Some(Marker { function: function.as_value_ref(), call, first: number(0)?, edges: number(1)?, kind })
    };
    ir::blocks(function).into_iter().flat_map(|b| b.instructions()).filter_map(marker).collect()
}

/// The map of a module.
struct Map<'m, 'ctx> {
    module: &'m Module<'ctx>,
    global: LLVMValueRef,
    edges: u64,
    /// Counters; the flags stand behind them.
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
            let ty = LLVMArrayType2(word, length + FLAGS + 1);
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
    fn count_in(
        &self,
        function: LLVMValueRef,
        markers: &[&Marker],
        step: Option<LLVMValueRef>,
        stops: Option<&FailedChecks>,
    ) {
        // SAFETY: a live function with a body; the values built in its first block dominate all others.
        unsafe {
            let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(self.module.as_mut_ptr()));
            let start = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
            LLVMPositionBuilderBefore(builder, start);
            let last = self.register(builder, if self.is_exact() { self.edges * self.edges } else { 0 });
            let map = self.address(builder);
            // The first instruction may be a marker, which does not stay.
            let start = map;
            let (mut choices, mut flags, mut trips) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
            for marker in markers {
                LLVMPositionBuilderBefore(builder, marker.call.0);
                let taken = marker.call.operand(2).0;
                match marker.kind {
                    Kind::Choice => {
                        choices.push((marker.first, self.count_choice(builder, start, taken, marker.edges == 1)));
                    }
                    Kind::Pair => self.count_edge(builder, (map, last, step), marker.first, taken),
                    Kind::Check => {
                        self.count_edge(builder, (map, last, step), marker.first, taken);
                        if let Some(stops) = stops {
                            stops.at(builder, taken);
                        }
                    }
                    Kind::Flag => {
                        let flag = *flags.entry(marker.first).or_insert_with(|| self.variable_at(start));
                        self.raise(builder, flag, taken);
                    }
                    Kind::Trip => {
                        let count = *trips.entry(marker.first).or_insert_with(|| self.variable_at(start));
                        self.count_trip(builder, map, count, (function, marker.first), taken);
                    }
                }
                marker.call.erase();
            }
            for end in returns(function) {
                LLVMPositionBuilderBefore(builder, end.0);
                for (first, counts) in &choices {
                    for (edge, count) in (*first..).zip(counts) {
                        let count = LLVMBuildLoad2(builder, self.word, *count, NONE);
                        let slot =
                            if self.is_exact() { self.edges * self.edges + edge } else { hash(edge) % self.length };
                        self.add(builder, map, self.constant(slot), count);
                    }
                }
                for (number, flag) in &flags {
                    let holds = LLVMBuildLoad2(builder, self.word, *flag, NONE);
                    let slot = if *number == path_markers::POINT { FLAGS } else { hash(*number) % FLAGS };
                    self.raise(builder, self.slot(builder, map, self.constant(self.length + slot)), holds);
                }
            }
            LLVMDisposeBuilder(builder);
        }
    }

    /// Counts the edge of a marker, by `step` where there is one.
    unsafe fn count_edge(
        &self,
        builder: LLVMBuilderRef,
        (map, last, step): (LLVMValueRef, LLVMValueRef, Option<LLVMValueRef>),
        first: u64,
        taken: LLVMValueRef,
    ) {
        // SAFETY: the builder stands before a marker of a function whose map and last edge these are.
        unsafe {
            let edge = LLVMBuildAdd(builder, taken, self.constant(first), NONE);
            match step {
                Some(step) => {
                    let ty = LLVMGlobalGetValueType(step);
                    let call = LLVMBuildCall2(builder, ty, step, [map, last, edge].as_mut_ptr(), 3, NONE);
                    LLVMSetInstructionCallConv(call, PRESERVE_MOST);
                }
                None => self.count_pair(builder, map, last, edge),
            }
        }
    }

    /// Counts an iteration of a loop, and where the loop is left raises the flag of their number.
    unsafe fn count_trip(
        &self,
        builder: LLVMBuilderRef,
        map: LLVMValueRef,
        count: LLVMValueRef,
        (function, number): (LLVMValueRef, u64),
        leaves: LLVMValueRef,
    ) {
        // SAFETY: the builder stands before a marker of a function whose map and variable these are.
        unsafe {
            let before = LLVMBuildLoad2(builder, self.word, count, NONE);
            let trips = LLVMBuildAdd(builder, before, self.constant(1), NONE);
            let mut power = self.constant(0);
            for bit in 1..TRIPS {
                let is_more =
                    LLVMBuildICmp(builder, LLVMIntPredicate::LLVMIntUGE, trips, self.constant(1 << bit), NONE);
                power = LLVMBuildAdd(builder, power, LLVMBuildZExt(builder, is_more, self.word, NONE), NONE);
            }
            let first = self.length + (hash(number + name_hash(function)) % (FLAGS / TRIPS)) * TRIPS;
            let slot = LLVMBuildAdd(builder, self.constant(first), power, NONE);
            self.raise(builder, self.slot(builder, map, slot), leaves);
            let goes_on = LLVMBuildSub(builder, self.constant(1), leaves, NONE);
            LLVMBuildStore(builder, LLVMBuildMul(builder, trips, goes_on, NONE), count);
        }
    }

    /// Raises a flag in memory where this one, 0 or 1, is raised.
    unsafe fn raise(&self, builder: LLVMBuilderRef, flag: LLVMValueRef, holds: LLVMValueRef) {
        // SAFETY: the builder stands where both are defined.
        unsafe {
            let before = LLVMBuildLoad2(builder, self.word, flag, NONE);
            LLVMBuildStore(builder, LLVMBuildOr(builder, before, holds, NONE), flag);
        }
    }

    /// A variable that starts at 0, before the first instruction of a function.
    unsafe fn variable_at(&self, start: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: a live instruction of the first block.
        unsafe {
            let first = LLVMCreateBuilderInContext(LLVMGetModuleContext(self.module.as_mut_ptr()));
            LLVMPositionBuilderBefore(first, start);
            let variable = self.register(first, 0);
            LLVMDisposeBuilder(first);
            variable
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

    /// Counts both outcomes of a choice, or the second alone, in variables of their own.
    unsafe fn count_choice(
        &self,
        builder: LLVMBuilderRef,
        start: LLVMValueRef,
        edge: LLVMValueRef,
        is_alone: bool,
    ) -> Vec<LLVMValueRef> {
        // SAFETY: the builder stands before a marker of the function that begins at `start`.
        unsafe {
            let first = LLVMCreateBuilderInContext(LLVMGetModuleContext(self.module.as_mut_ptr()));
            LLVMPositionBuilderBefore(first, start);
            let all =
                if is_alone { vec![edge] } else { vec![LLVMBuildSub(builder, self.constant(1), edge, NONE), edge] };
            let count = |taken: LLVMValueRef| {
                let variable = self.register(first, 0);
                let before = LLVMBuildLoad2(builder, self.word, variable, NONE);
                LLVMBuildStore(builder, LLVMBuildAdd(builder, before, taken, NONE), variable);
                variable
            };
            let variables = all.into_iter().map(count).collect();
            LLVMDisposeBuilder(first);
            variables
        }
    }

    unsafe fn add(&self, builder: LLVMBuilderRef, map: LLVMValueRef, slot: LLVMValueRef, count: LLVMValueRef) {
        // SAFETY: the slot is below the length of the map.
        unsafe {
            let place = self.slot(builder, map, slot);
            let before = LLVMBuildLoad2(builder, self.word, place, NONE);
            LLVMBuildStore(builder, LLVMBuildAdd(builder, before, count, NONE), place);
        }
    }

    /// The address of a counter or flag.
    unsafe fn slot(&self, builder: LLVMBuilderRef, map: LLVMValueRef, slot: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: the slot is below the length of the map.
        unsafe {
            let mut slot = LLVMBuildZExt(builder, slot, self.wide, NONE);
            LLVMBuildInBoundsGEP2(builder, self.word, map, &mut slot, 1, NONE)
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
            LLVMBuildStore(builder, LLVMConstInt(self.wide, self.length + FLAGS + 1, 0), LLVMGetParam(function, 0));
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

/// A number for the name of a function: loops of two functions rarely share their flags.
fn name_hash(function: LLVMValueRef) -> u64 {
    let mut length = 0;
    // SAFETY: a live function, whose name lives as long.
    let name = unsafe {
        let name = LLVMGetValueName2(function, &mut length);
        std::slice::from_raw_parts(name.cast::<u8>(), length)
    };
    name.iter().fold(0_u64, |hash, byte| (hash * 31 + u64::from(*byte)) & 0xFFFF_FFFF)
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

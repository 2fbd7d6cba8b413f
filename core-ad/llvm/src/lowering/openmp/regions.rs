//! Rewrites parallel regions into the one form that Enzyme reverses: a fork of a loop over thread numbers.
//!
//! ```text
//! team = ffgrad_omp_team()
//! fork(task, team, arguments...)
//!     task:  for rank in this thread's share of 0..size(team):  region(&code(team, rank), arguments...)
//! ```
//!
//! What a region only reads through a pointer to a scalar variable of its caller (how shared pointers are usually passed
//! and sizes) is passed by value: Enzyme then knows which object it points to.

use super::{
    ALONE, FORK, body, callee, calls, commutativity, make_plain, mark_inactive, name_of, place, reachable,
    shared_memcpy, users,
};
use crate::ir::Result;
use inkwell::AddressSpace;
use inkwell::module::{Linkage, Module};
use inkwell::types::BasicMetadataTypeEnum;
use inkwell::values::AsValueRef;
use llvm_sys::LLVMIntPredicate::{LLVMIntSLE, LLVMIntSLT};
use llvm_sys::LLVMTypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMIntegerTypeKind, LLVMPointerTypeKind};
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use llvm_sys::prelude::{LLVMBuilderRef, LLVMTypeRef, LLVMValueRef};

const NONE: *const std::ffi::c_char = c"".as_ptr();
/// Schedule number of one piece for each thread.
const STATIC: u64 = 34;

/// Rewrites every fork of a simplified module. Returns which regions run on one thread, and why.
pub fn build(module: &Module<'_>) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    // SAFETY: every value below is a live value of `module`, which nothing else uses meanwhile; instructions are
    // erased only after their uses have been replaced.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        let forks = calls(module, FORK);
        let inside = inside_of_regions(&forks);
        for (number, fork) in forks.into_iter().enumerate() {
            let region = LLVMGetOperand(fork, 2);
            let all = reachable(&[region]);
            let nested = inside.contains(&LLVMGetBasicBlockParent(LLVMGetInstructionParent(fork)));
            let obstacle = obstacle(region, &all);
            if let Some(reason) = &obstacle {
                notes.push(format!("the parallel region at {} is reversed by one thread: {reason}", place(fork)));
                for instruction in all.iter().flat_map(|&f| body(f)) {
                    make_plain(builder, instruction);
                }
            }
            if nested || obstacle.is_some() {
                call_alone(module, builder, fork, 1);
            } else {
                shared_memcpy::expand(module, builder, &all)?;
                share(module, builder, fork, number)?;
            }
        }
        for mark in calls(module, ALONE) {
            LLVMInstructionEraseFromParent(mark);
        }
        LLVMDisposeBuilder(builder);
    }
    Ok(notes)
}

/// Expands the copies that LLVM has formed from loops since [`build`].
pub fn expand_copies(module: &Module<'_>) -> Result<()> {
    // SAFETY: see `build`.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        let done = shared_memcpy::expand(module, builder, &inside_of_regions(&calls(module, FORK)));
        LLVMDisposeBuilder(builder);
        done
    }
}

unsafe fn inside_of_regions(forks: &[LLVMValueRef]) -> Vec<LLVMValueRef> {
    // SAFETY: see `build`.
    unsafe { reachable(&forks.iter().map(|&f| LLVMGetOperand(f, 2)).collect::<Vec<_>>()) }
}

/// Why the reverse of a region depends on what its threads did first.
unsafe fn obstacle(region: LLVMValueRef, all: &[LLVMValueRef]) -> Option<String> {
    // SAFETY: see `build`.
    unsafe {
        if LLVMIsAFunction(region).is_null() {
            return Some("what it runs is not known".to_owned());
        }
        for &function in all {
            let called: Vec<String> = body(function).into_iter().map(|i| called_name(i)).collect();
            let calls = |name: &str| called.iter().any(|c| c == name);
            if calls(ALONE) {
                return Some("it has an ordered construct, a lock, a task, `copyprivate`, `threadprivate` or `flush`, or a nested region with a condition".to_owned());
            }
            if calls("ffgrad_omp_code") && function != region {
                if body(function).iter().any(|&i| commutativity::is_turn(i)) {
                    return Some("a function that it calls has a reduction of its own".to_owned());
                }
                if all.iter().any(|&f| body(f).iter().any(|&i| called_name(i) == FORK)) {
                    return Some("it has another parallel region inside".to_owned());
                }
            }
        }
        commutativity::obstacle(all).or_else(|| shared_memcpy::obstacle(all))
    }
}

unsafe fn called_name(instruction: LLVMValueRef) -> String {
    // SAFETY: see `build`.
    unsafe {
        let function = callee(instruction);
        if function.is_null() { String::new() } else { name_of(function) }
    }
}

/// Replaces a fork by a plain call, with a team of one.
pub unsafe fn call_alone(module: &Module<'_>, builder: LLVMBuilderRef, fork: LLVMValueRef, code: u64) {
    // SAFETY: see `build`.
    unsafe {
        let i32_type = LLVMInt32TypeInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        let memory = in_entry_block(builder, fork, i32_type);
        LLVMPositionBuilderBefore(builder, fork);
        LLVMBuildStore(builder, LLVMConstInt(i32_type, code, 0), memory);
        let region = LLVMGetOperand(fork, 2);
        let mut arguments = vec![memory, memory];
        arguments.extend((3..LLVMGetNumArgOperands(fork)).map(|i| LLVMGetOperand(fork, i)));
        let ty = LLVMGlobalGetValueType(region);
        let call = LLVMBuildCall2(builder, ty, region, arguments.as_mut_ptr(), arguments.len() as u32, NONE);
        LLVMInstructionSetDebugLoc(call, LLVMInstructionGetDebugLoc(fork));
        if !LLVMIsAInvokeInst(fork).is_null() {
            LLVMBuildBr(builder, LLVMGetNormalDest(fork));
        }
        LLVMInstructionEraseFromParent(fork);
    }
}

/// Memory on the stack of the function that an instruction is in.
unsafe fn in_entry_block(builder: LLVMBuilderRef, instruction: LLVMValueRef, ty: LLVMTypeRef) -> LLVMValueRef {
    // SAFETY: see `build`.
    unsafe {
        let function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
        LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
        LLVMBuildAlloca(builder, ty, NONE)
    }
}

/// Gives a fork the shape that Enzyme knows.
unsafe fn share(module: &Module<'_>, builder: LLVMBuilderRef, fork: LLVMValueRef, number: usize) -> Result<()> {
    let context = module.get_context();
    let word = context.i64_type();
    // SAFETY: see `build`.
    unsafe {
        let region = LLVMGetOperand(fork, 2);
        let given: Vec<LLVMValueRef> = (3..LLVMGetNumArgOperands(fork)).map(|i| LLVMGetOperand(fork, i)).collect();
        let passing: Vec<Passing> =
            (0..given.len()).map(|i| passing(LLVMGetParam(region, i as u32 + 2), given[i])).collect();

        LLVMPositionBuilderBefore(builder, fork);
        let team_type = word.fn_type(&[], false);
        let team = module.get_function("ffgrad_omp_team").unwrap_or_else(|| {
            let team = module.add_function("ffgrad_omp_team", team_type, None);
            mark_inactive(module, team);
            team
        });
        let team =
            LLVMBuildCall2(builder, team_type.as_type_ref_of(), team.as_value_ref(), std::ptr::null_mut(), 0, NONE);
        let mut passed = vec![team];
        for (&argument, &passing) in given.iter().zip(&passing) {
            passed.push(match passing {
                Passing::AsIs => argument,
                Passing::Read(ty) => {
                    let loaded = LLVMBuildLoad2(builder, ty, argument, NONE);
                    match LLVMGetTypeKind(ty) {
                        LLVMIntegerTypeKind => LLVMBuildZExt(builder, loaded, word.as_type_ref_of(), NONE),
                        _ => loaded,
                    }
                }
                Passing::Number(ty) => {
                    let memory = in_entry_block(builder, fork, ty);
                    LLVMPositionBuilderBefore(builder, fork);
                    let bits = LLVMIntTypeInContext(LLVMGetTypeContext(ty), bits_of(ty));
                    let fitted = LLVMBuildTruncOrBitCast(builder, argument, bits, NONE);
                    LLVMBuildStore(builder, LLVMBuildBitCast(builder, fitted, ty, NONE), memory);
                    memory
                }
            });
        }
        let pointer = context.ptr_type(AddressSpace::default());
        let mut types: Vec<BasicMetadataTypeEnum<'_>> = vec![pointer.into(), pointer.into()];
        types.extend(passed.iter().map(|&v| match LLVMGetTypeKind(LLVMTypeOf(v)) {
            LLVMPointerTypeKind => BasicMetadataTypeEnum::from(pointer),
            _ => word.into(),
        }));
        let ty = context.void_type().fn_type(&types, false);
        let task = module.add_function(&format!("ffgrad.task.{number}"), ty, Some(Linkage::Internal));
        state_aliasing(module, region, task.as_value_ref(), &given, &passing);
        loop_over_ranks(module, builder, fork, task.as_value_ref(), &passing);

        LLVMPositionBuilderBefore(builder, fork);
        let count = LLVMConstInt(context.i32_type().as_type_ref_of(), passed.len() as u64, 0);
        let mut operands = vec![LLVMGetOperand(fork, 0), count, task.as_value_ref()];
        operands.extend(passed);
        let ty = LLVMGetCalledFunctionType(fork);
        let new =
            LLVMBuildCall2(builder, ty, LLVMGetCalledValue(fork), operands.as_mut_ptr(), operands.len() as u32, NONE);
        LLVMInstructionSetDebugLoc(new, LLVMInstructionGetDebugLoc(fork));
        if !LLVMIsAInvokeInst(fork).is_null() {
            LLVMBuildBr(builder, LLVMGetNormalDest(fork));
        }
        LLVMInstructionEraseFromParent(fork);
    }
    Ok(())
}

/// How an argument reaches the task.
#[derive(Clone, Copy)]
enum Passing {
    /// As the compiler passes it.
    AsIs,
    /// What the pointer points to, of a type that fits into the word that a fork passes.
    Read(LLVMTypeRef),
    /// A floating-point number that came as the bits of a word: behind a pointer. For words Enzyme accumulates
    /// gradients in memory that it does not clear.
    Number(LLVMTypeRef),
}

unsafe fn passing(parameter: LLVMValueRef, given: LLVMValueRef) -> Passing {
    // SAFETY: see `build`.
    unsafe {
        if LLVMGetTypeKind(LLVMTypeOf(parameter)) == LLVMPointerTypeKind {
            return read_as(parameter, given).map_or(Passing::AsIs, Passing::Read);
        }
        let number = |v: LLVMValueRef| {
            let ty = LLVMTypeOf(v);
            let is_cast = !LLVMIsABitCastInst(v).is_null();
            (is_cast && matches!(LLVMGetTypeKind(ty), LLVMDoubleTypeKind | LLVMFloatTypeKind)).then_some(ty)
        };
        let direct = users(parameter);
        let through = direct.iter().filter(|&&u| !LLVMIsATruncInst(u).is_null()).flat_map(|&u| users(u));
        let found = direct.iter().copied().chain(through).find_map(number);
        found.map_or(Passing::AsIs, Passing::Number)
    }
}

unsafe fn bits_of(ty: LLVMTypeRef) -> u32 {
    // SAFETY: a live type.
    unsafe { if LLVMGetTypeKind(ty) == LLVMFloatTypeKind { 32 } else { 64 } }
}

/// The type that a region reads through a parameter, where it does nothing else with it and the type fits into the
/// word that a fork passes.
unsafe fn read_as(parameter: LLVMValueRef, given: LLVMValueRef) -> Option<LLVMTypeRef> {
    // SAFETY: see `build`.
    unsafe {
        if LLVMGetTypeKind(LLVMTypeOf(parameter)) != LLVMPointerTypeKind || LLVMIsAAllocaInst(given).is_null() {
            return None;
        }
        let loads = users(parameter);
        let ty = LLVMTypeOf(*loads.first()?);
        let fits = match LLVMGetTypeKind(ty) {
            LLVMPointerTypeKind => true,
            LLVMIntegerTypeKind => LLVMGetIntTypeWidth(ty) <= 64,
            _ => false,
        };
        let plain = loads.iter().all(|&l| {
            !LLVMIsALoadInst(l).is_null()
                && LLVMTypeOf(l) == ty
                && LLVMGetVolatile(l) == 0
                && !commutativity::is_atomic(l)
        });
        (fits && plain).then_some(ty)
    }
}

/// The body of a task.
unsafe fn loop_over_ranks(
    module: &Module<'_>,
    builder: LLVMBuilderRef,
    fork: LLVMValueRef,
    task: LLVMValueRef,
    passing: &[Passing],
) {
    // SAFETY: see `build`.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let (i32_type, i64_type) = (LLVMInt32TypeInContext(context), LLVMInt64TypeInContext(context));
        let int = |v| LLVMConstInt(i32_type, v, 0);
        let word = |v| LLVMConstInt(i64_type, v, 0);
        let block = |name: &std::ffi::CStr| LLVMAppendBasicBlockInContext(context, task, name.as_ptr());
        let (entry, body, exit) = (block(c"entry"), block(c"rank"), block(c"exit"));

        LLVMPositionBuilderAtEnd(builder, entry);
        let last = LLVMBuildAlloca(builder, i32_type, NONE);
        let [low, high, stride] = std::array::from_fn(|_| LLVMBuildAlloca(builder, i64_type, NONE));
        let code = LLVMBuildAlloca(builder, i32_type, NONE);
        let team = LLVMGetParam(task, 2);
        let top = LLVMBuildSub(builder, LLVMBuildAnd(builder, team, word(1023), NONE), word(1), NONE);
        let mut arguments = vec![code, code];
        for (i, &passing) in passing.iter().enumerate() {
            let parameter = LLVMGetParam(task, i as u32 + 3);
            arguments.push(match passing {
                Passing::AsIs => parameter,
                Passing::Read(ty) => {
                    let own = LLVMBuildAlloca(builder, ty, NONE);
                    let fitted = match LLVMGetTypeKind(ty) {
                        LLVMIntegerTypeKind => LLVMBuildTruncOrBitCast(builder, parameter, ty, NONE),
                        _ => parameter,
                    };
                    LLVMBuildStore(builder, fitted, own);
                    own
                }
                Passing::Number(ty) => {
                    let number = LLVMBuildLoad2(builder, ty, parameter, NONE);
                    let bits = LLVMIntTypeInContext(context, bits_of(ty));
                    LLVMBuildZExtOrBitCast(builder, LLVMBuildBitCast(builder, number, bits, NONE), i64_type, NONE)
                }
            });
        }
        for (value, place) in [(int(0), last), (word(0), low), (top, high), (word(1), stride)] {
            LLVMBuildStore(builder, value, place);
        }
        let thread = LLVMBuildLoad2(builder, i32_type, LLVMGetParam(task, 0), NONE);
        let source = LLVMGetOperand(fork, 0);
        let mut operands = [source, thread, int(STATIC), last, low, high, stride, word(1), word(1)];
        runtime_call(module, builder, c"__kmpc_for_static_init_8", &mut operands);
        let given = LLVMBuildLoad2(builder, i64_type, high, NONE);
        let less = LLVMBuildICmp(builder, LLVMIntSLT, given, top, NONE);
        let end = LLVMBuildSelect(builder, less, given, top, NONE);
        let first = LLVMBuildLoad2(builder, i64_type, low, NONE);
        LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntSLE, first, end, NONE), body, exit);

        LLVMPositionBuilderAtEnd(builder, body);
        let mut rank = LLVMBuildPhi(builder, i64_type, c"rank".as_ptr());
        let shifted = LLVMBuildShl(builder, rank, word(10), NONE);
        let own = LLVMBuildTrunc(builder, LLVMBuildOr(builder, team, shifted, NONE), i32_type, NONE);
        LLVMBuildStore(builder, own, code);
        let region = LLVMGetOperand(fork, 2);
        let ty = LLVMGlobalGetValueType(region);
        let call = LLVMBuildCall2(builder, ty, region, arguments.as_mut_ptr(), arguments.len() as u32, NONE);
        let mut next = LLVMBuildNSWAdd(builder, rank, word(1), NONE);
        LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntSLE, next, end, NONE), body, exit);
        let (mut entry, mut body) = (entry, body);
        let mut first = first;
        LLVMAddIncoming(rank, &mut first, &mut entry, 1);
        LLVMAddIncoming(rank, &mut next, &mut body, 1);
        let _ = (&mut rank, call);

        LLVMPositionBuilderAtEnd(builder, exit);
        runtime_call(module, builder, c"__kmpc_for_static_fini", &mut [source, thread]);
        LLVMBuildRetVoid(builder);
    }
}

/// A call of a runtime function that returns nothing, declared after its arguments.
unsafe fn runtime_call(
    module: &Module<'_>,
    builder: LLVMBuilderRef,
    name: &std::ffi::CStr,
    operands: &mut [LLVMValueRef],
) {
    // SAFETY: see `build`.
    unsafe {
        let raw = module.as_mut_ptr();
        let mut types: Vec<LLVMTypeRef> = operands.iter().map(|&o| LLVMTypeOf(o)).collect();
        let nothing = LLVMVoidTypeInContext(LLVMGetModuleContext(raw));
        let ty = LLVMFunctionType(nothing, types.as_mut_ptr(), types.len() as u32, 0);
        let mut function = LLVMGetNamedFunction(raw, name.as_ptr());
        if !function.is_null() && LLVMIsDeclaration(function) == 0 {
            // The arithmetic of before, inlined by now: this one is the real runtime's.
            LLVMSetValueName2(function, c"ffgrad.inlined".as_ptr(), "ffgrad.inlined".len());
            function = std::ptr::null_mut();
        }
        if function.is_null() {
            function = LLVMAddFunction(raw, name.as_ptr(), ty);
        }
        LLVMBuildCall2(builder, ty, function, operands.as_mut_ptr(), operands.len() as u32, NONE);
    }
}

/// Marks arrays of a region as not overlapping, where that is known of what they point to. Threads that hand each
/// other through memory what they wrote inside of the region (which takes a barrier or a lock) read what "no other
/// pointer writes", so then only what is read is marked.
unsafe fn state_aliasing(
    module: &Module<'_>,
    region: LLVMValueRef,
    task: LLVMValueRef,
    given: &[LLVMValueRef],
    passing: &[Passing],
) {
    // SAFETY: see `build`.
    unsafe {
        let mut origins: Vec<LLVMValueRef> = Vec::new();
        for (&argument, passing) in given.iter().zip(passing) {
            let is_pointer = match passing {
                Passing::AsIs => LLVMGetTypeKind(LLVMTypeOf(argument)) == LLVMPointerTypeKind,
                Passing::Read(ty) => LLVMGetTypeKind(*ty) == LLVMPointerTypeKind,
                Passing::Number(_) => false,
            };
            if !is_pointer {
                continue;
            }
            let pointer = if matches!(passing, Passing::Read(_)) { stored_once(argument) } else { Some(argument) };
            let Some(origin) = pointer.map(|p| commutativity::root(p)).filter(|&o| is_object(o)) else { return };
            if origins.contains(&origin) {
                return;
            }
            origins.push(origin);
        }
        let kind = LLVMGetEnumAttributeKindForName(c"noalias".as_ptr(), 7);
        let noalias = LLVMCreateEnumAttribute(LLVMGetModuleContext(module.as_mut_ptr()), kind, 0);
        let readonly = LLVMGetEnumAttributeKindForName(c"readonly".as_ptr(), 8);
        let all = reachable(&[region]);
        let meets = |i: LLVMValueRef| matches!(called_name(i).as_str(), "__kmpc_barrier" | "__kmpc_critical");
        let independent = !all.iter().any(|&f| body(f).into_iter().any(meets));
        // A pointer found in memory may point anywhere.
        let finds = |i: LLVMValueRef| {
            !LLVMIsALoadInst(i).is_null()
                && LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMPointerTypeKind
                && !(0..given.len()).any(|a| LLVMGetOperand(i, 0) == LLVMGetParam(region, a as u32 + 2))
        };
        if all.iter().any(|&f| body(f).into_iter().any(finds)) {
            return;
        }
        for (i, passing) in passing.iter().enumerate() {
            let is_pointer = LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(task, i as u32 + 3))) == LLVMPointerTypeKind;
            let only_read = matches!(passing, Passing::AsIs)
                && !LLVMGetEnumAttributeAtIndex(region, i as u32 + 3, readonly).is_null();
            if is_pointer && (independent || only_read) {
                LLVMAddAttributeAtIndex(task, i as u32 + 4, noalias);
            }
        }
    }
}

/// What stands in a local variable that is written once.
unsafe fn stored_once(variable: LLVMValueRef) -> Option<LLVMValueRef> {
    // SAFETY: see `build`.
    unsafe {
        let writes = |u: &LLVMValueRef| !LLVMIsAStoreInst(*u).is_null() && LLVMGetOperand(*u, 1) == variable;
        let stores: Vec<LLVMValueRef> = users(variable).into_iter().filter(writes).collect();
        let [store] = stores[..] else { return None };
        Some(LLVMGetOperand(store, 0))
    }
}

/// Whether an address is that of an object of its own: a variable, fresh memory, an argument that nothing else aliases.
unsafe fn is_object(value: LLVMValueRef) -> bool {
    // SAFETY: see `build`.
    unsafe {
        let noalias = LLVMGetEnumAttributeKindForName(c"noalias".as_ptr(), 7);
        if !LLVMIsAArgument(value).is_null() {
            let function = LLVMGetParamParent(value);
            let index = (0..LLVMCountParams(function)).find(|&i| LLVMGetParam(function, i) == value);
            return index.is_some_and(|i| !LLVMGetEnumAttributeAtIndex(function, i + 1, noalias).is_null());
        }
        let fresh = ["malloc", "calloc", "_Znwm", "_Znam", "aligned_alloc"];
        !LLVMIsAAllocaInst(value).is_null() || fresh.contains(&called_name(value).as_str())
    }
}

/// The raw type behind a safe one.
trait Raw {
    fn as_type_ref_of(&self) -> LLVMTypeRef;
}

impl<T: inkwell::types::AsTypeRef> Raw for T {
    fn as_type_ref_of(&self) -> LLVMTypeRef {
        self.as_type_ref()
    }
}

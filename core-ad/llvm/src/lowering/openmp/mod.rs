//! Lowers OpenMP to a form that Enzyme can differentiate.
//!
//! clang and flang lower OpenMP to calls of a runtime, `__kmpc_*`. Enzyme supports few of them: reverse mode handles a fork
//! whose body is one statically scheduled loop, locks and barriers; forward mode not even those. So before Enzyme sees the
//! module, one of two implementations of that runtime is linked in (`compile-driver/runtime/openmp.c`):
//!
//! * for forward mode and second derivatives, and as the last resort, one in which a single thread does everything
//!   ([`for_one_thread`]);
//! * for reverse mode one that computes each thread's share of the work from the thread number ([`for_many_threads`]). Every
//!   parallel region then becomes one loop over thread numbers ([`regions`]), the only form of fork that is left.
//!
//! After Enzyme, [`after_enzyme`] links the implementation of locks and barriers, and [`bind`] makes the remaining runtime
//! calls indirect, through pointers that the loader fills from the OpenMP runtime of the process.

mod bind;
mod commutativity;
mod flang;
mod regions;
mod shared_memcpy;

pub use bind::bind;
pub use regions::{build as regions, expand_copies};

use crate::ir::{self, Result};
use core_ad::diagnostics::{Diagnosis, Location};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic;
use llvm_sys::LLVMAtomicRMWBinOp::*;
use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use llvm_sys::prelude::{LLVMBuilderRef, LLVMValueRef};
use std::path::Path;

/// A fork of a team.
const FORK: &str = "__kmpc_fork_call";
/// A mark left by constructs that one thread alone can be reversed through.
const ALONE: &str = "ffgrad_omp_one_thread_only";

/// Whether the module asks for an OpenMP runtime.
pub fn is_used(module: &Module<'_>) -> bool {
    module.get_functions().any(|f| f.count_basic_blocks() == 0 && is_runtime(&f.get_name().to_string_lossy()))
}

/// Whether a name is one of OpenMP's, or of its runtime.
pub fn is_runtime(name: &str) -> bool {
    ["__kmpc_", "omp_", "ompc_", "kmp_", "GOMP_", "__tgt_"].iter().any(|p| name.starts_with(p))
}

/// Lets one thread do everything; nothing of OpenMP is left.
///
/// # Errors
///
/// A construct that neither runtime has, where it is reachable from `symbol` (or anywhere, where that is `None`).
pub fn for_one_thread(
    module: &Module<'_>,
    runtime: &Path,
    symbol: Option<&str>,
) -> std::result::Result<(), Box<Diagnosis>> {
    flang::as_clang(module);
    add_dispatch_state(module);
    link(module, runtime).map_err(internal)?;
    check_supported(module, symbol)?;
    // SAFETY: every value below is a live value of `module`, which nothing else uses meanwhile.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        for call in calls(module, FORK) {
            regions::call_alone(module, builder, call, 1);
        }
        for ir::Value(instruction) in ir::all_instructions(module) {
            make_plain(builder, instruction);
        }
        LLVMDisposeBuilder(builder);
    }
    Ok(())
}

/// Replaces worksharing by arithmetic on thread numbers; what is left of OpenMP are forks, locks and barriers.
///
/// # Errors
///
/// As [`for_one_thread`].
pub fn for_many_threads(
    module: &Module<'_>,
    runtime: &Path,
    symbol: Option<&str>,
) -> std::result::Result<(), Box<Diagnosis>> {
    flang::as_clang(module);
    add_dispatch_state(module);
    link(module, runtime).map_err(internal)?;
    check_supported(module, symbol)?;
    for function in module.get_functions().filter(|f| f.count_basic_blocks() == 0) {
        let name = function.get_name().to_string_lossy().into_owned();
        if name.starts_with("ffgrad_omp_") || name.starts_with("omp_get_") {
            mark_inactive(module, function);
        }
    }
    Ok(())
}

/// The forks of a module.
pub fn forks(module: &Module<'_>) -> Vec<LLVMValueRef> {
    calls(module, FORK)
}

fn internal(reason: String) -> Box<Diagnosis> {
    Box::new(Diagnosis::new("openmp-runtime", "", format!("ffgrad's own OpenMP functions do not link: {reason}")))
}

/// Marks a function of the runtime as inactive and as not accessing memory that the program sees, and
/// that what it returns is a number of threads or the like.
fn mark_inactive(module: &Module<'_>, function: FunctionValue<'_>) {
    let context = module.get_context();
    for key in ["enzyme_inactive", "enzyme_nofree"] {
        function.add_attribute(AttributeLoc::Function, context.create_string_attribute(key, ""));
    }
    let flag = |name, value| context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), value);
    // memory(inaccessiblemem: readwrite), in LLVM's encoding of two bits per location. What is the same as long as a thread
    // runs a function needs none: Enzyme then recomputes the call instead of caching its result, which it caches wrongly.
    let asks_again = ["omp_get_thread_num", "omp_get_num_threads", "omp_in_parallel", "omp_get_level"];
    let memory = if asks_again.iter().any(|n| function.get_name().to_bytes() == n.as_bytes()) { 0 } else { 0b1100 };
    function.add_attribute(AttributeLoc::Function, flag("memory", memory));
    for name in ["nounwind", "willreturn", "nofree"] {
        function.add_attribute(AttributeLoc::Function, flag(name, 0));
    }
    if function.get_type().get_return_type().is_some_and(|t| t.is_int_type()) {
        for (key, value) in [("enzyme_inactive", ""), ("enzyme_type", "{[-1]:Integer}")] {
            function.add_attribute(AttributeLoc::Return, context.create_string_attribute(key, value));
        }
    }
}

/// After Enzyme: what locks, barriers and forks do at run time.
pub fn after_enzyme(module: &Module<'_>, runtime: &Path) -> Result<()> {
    const NAMES: [(&str, &str); 3] = [
        ("__kmpc_critical", "ffgrad_omp_lock"),
        ("__kmpc_end_critical", "ffgrad_omp_unlock"),
        ("__kmpc_barrier", "ffgrad_omp_barrier"),
    ];
    // flang asks for the number of the thread before each region, even where nothing is forked any more.
    let is_left = |name: &str| module.get_function(name).is_some_and(|f| f.count_basic_blocks() == 0);
    // Locks are left without a fork where a region with a critical section is reversed by one thread: the real ones want the number of a
    // thread that the runtime knows.
    let wanted = [FORK, "ffgrad_omp_code", "ffgrad_omp_wanted"];
    if !NAMES.iter().map(|(from, _)| *from).chain(wanted).any(is_left) {
        return Ok(());
    }
    for (from, to) in NAMES {
        if let Some(function) = module.get_function(from) {
            function.as_global_value().set_name(to);
        }
    }
    let context = module.get_context();
    let ty = context.void_type().fn_type(&[context.i64_type().into()], false);
    let before = module.add_function("ffgrad_omp_before_fork", ty, None);
    // SAFETY: as in `for_one_thread`; the fourth argument of every fork is the team.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        for call in calls(module, FORK) {
            LLVMPositionBuilderBefore(builder, call);
            let mut team = LLVMGetOperand(call, 3);
            let ty = LLVMGlobalGetValueType(before.as_value_ref());
            LLVMBuildCall2(builder, ty, before.as_value_ref(), &mut team, 1, c"".as_ptr());
        }
        LLVMDisposeBuilder(builder);
    }
    link(module, runtime)
}

fn link(module: &Module<'_>, runtime: &Path) -> Result<()> {
    let runtime = Module::parse_bitcode_from_path(runtime, module.get_context()).map_err(|e| e.to_string())?;
    module.link_in_module(runtime).map_err(|e| e.to_string())
}

/// The calls of a function.
fn calls(module: &Module<'_>, name: &str) -> Vec<LLVMValueRef> {
    let Some(function) = module.get_function(name) else { return Vec::new() };
    // SAFETY: iterates over the uses of a live function.
    unsafe { users(function.as_value_ref()).into_iter().filter(|&u| callee(u) == function.as_value_ref()).collect() }
}

/// Instructions and constants that have a value as operand.
unsafe fn users(value: LLVMValueRef) -> Vec<LLVMValueRef> {
    let mut all = Vec::new();
    // SAFETY: see `for_one_thread`.
    unsafe {
        let mut next = LLVMGetFirstUse(value);
        while !next.is_null() {
            all.push(LLVMGetUser(next));
            next = LLVMGetNextUse(next);
        }
    }
    all
}

/// The function that an instruction calls, null where it calls none or one that is not known.
unsafe fn callee(instruction: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: see `for_one_thread`.
    unsafe {
        if LLVMIsACallInst(instruction).is_null() && LLVMIsAInvokeInst(instruction).is_null() {
            return std::ptr::null_mut();
        }
        LLVMIsAFunction(LLVMGetCalledValue(instruction))
    }
}

/// The name of a global value.
unsafe fn name_of(value: LLVMValueRef) -> String {
    let mut length = 0;
    // SAFETY: LLVM gives the length of the name it points to.
    unsafe {
        let name = LLVMGetValueName2(value, &mut length);
        String::from_utf8_lossy(std::slice::from_raw_parts(name.cast::<u8>(), length)).into_owned()
    }
}

/// The user's source line of an instruction.
pub(crate) unsafe fn location(instruction: LLVMValueRef) -> Option<Location> {
    let mut length = 0;
    // SAFETY: LLVM gives the length of the name it points to, null where there is none.
    unsafe {
        let file = LLVMGetDebugLocFilename(instruction, &mut length);
        if file.is_null() {
            return None;
        }
        let file = String::from_utf8_lossy(std::slice::from_raw_parts(file.cast::<u8>(), length as usize)).into_owned();
        Some(Location { file, line: LLVMGetDebugLocLine(instruction), column: 0, text: None })
    }
}

/// The same in words: `FILE:LINE`.
unsafe fn place(instruction: LLVMValueRef) -> String {
    // SAFETY: see `location`.
    let at = unsafe { location(instruction) };
    at.map_or_else(|| "the source".to_owned(), |at| format!("{}:{}", at.file, at.line))
}

/// Refuses what neither runtime has.
fn check_supported(module: &Module<'_>, symbol: Option<&str>) -> std::result::Result<(), Box<Diagnosis>> {
    // SAFETY: see `for_one_thread`.
    let reached = symbol.and_then(|s| module.get_function(s)).map(|f| unsafe { reachable(&[f.as_value_ref()]) });
    let matters = |user: LLVMValueRef| match &reached {
        // SAFETY: a live instruction of a function of `module`.
        Some(reached) => unsafe {
            LLVMIsAInstruction(user).is_null()
                || reached.contains(&LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)))
        },
        None => true,
    };
    let known = [FORK, "__kmpc_critical", "__kmpc_end_critical", "__kmpc_barrier"];
    for function in module.get_functions().filter(|f| f.count_basic_blocks() == 0) {
        let name = function.get_name().to_string_lossy().into_owned();
        let prefixes = ["__kmpc_", "__tgt_", "GOMP_"];
        if !prefixes.iter().any(|p| name.starts_with(p)) || known.contains(&name.as_str()) {
            continue;
        }
        // SAFETY: iterates over the uses of a live function.
        let at = unsafe { users(function.as_value_ref()).into_iter().find(|&u| matters(u)).map(|u| location(u)) };
        let Some(at) = at else { continue };
        let headline = format!("OpenMP's {} cannot be differentiated", construct(&name));
        let mut refusal = Diagnosis::new("openmp-construct", "", headline)
            .advise("Write that part without it: `ffgrad explain parallel` lists what can be differentiated,")
            .advise("or leave -fopenmp out: without it the pragmas are ignored and one thread runs.");
        refusal.location = at;
        return Err(Box::new(refusal));
    }
    Ok(())
}

/// What the user wrote that became a call of the runtime.
fn construct(name: &str) -> String {
    let known = [
        ("__kmpc_cancel", "`cancel`"),
        ("__kmpc_doacross", "`ordered depend`"),
        ("__kmpc_fork_teams", "`teams`"),
        ("__kmpc_dist", "`distribute`"),
        ("__tgt_", "`target`"),
        ("__kmpc_task", "task reductions and dependences"),
        ("__kmpc_omp_", "task dependences"),
        ("__kmpc_threadprivate", "`threadprivate` with a constructor"),
        ("GOMP_", "code compiled for GCC's OpenMP"),
    ];
    let found = known.iter().find(|(prefix, _)| name.starts_with(prefix));
    found.map_or_else(|| format!("`{name}`"), |(_, construct)| format!("{construct} (`{name}`)"))
}

/// Gives the calls of dynamic schedules a first argument: memory that they share, one place a function. Loops that
/// share out work cannot be nested in one function.
fn add_dispatch_state(module: &Module<'_>) {
    for kind in ["init", "next"] {
        for suffix in ["4", "4u", "8", "8u"] {
            let old = format!("__kmpc_dispatch_{kind}_{suffix}");
            let Some(function) = module.get_function(&old) else { continue };
            let new = with_state(module, function, &format!("ffgrad_dispatch_{kind}_{suffix}"));
            // SAFETY: see `for_one_thread`; a call is erased only after its uses are replaced.
            unsafe {
                let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
                for call in calls(module, &old) {
                    let mut arguments = vec![dispatch_state(builder, call)];
                    arguments.extend((0..LLVMGetNumArgOperands(call)).map(|i| LLVMGetOperand(call, i)));
                    replace_call(builder, call, new.as_value_ref(), &mut arguments);
                }
                LLVMDisposeBuilder(builder);
            }
        }
    }
}

fn with_state<'ctx>(module: &Module<'ctx>, old: FunctionValue<'ctx>, name: &str) -> FunctionValue<'ctx> {
    let context = module.get_context();
    let mut types = vec![context.ptr_type(inkwell::AddressSpace::default()).into()];
    types.extend(old.get_type().get_param_types());
    let ty = match old.get_type().get_return_type() {
        Some(_) => context.i32_type().fn_type(&types, false),
        None => context.void_type().fn_type(&types, false),
    };
    module.add_function(name, ty, None)
}

/// The memory for the dynamic loops of the function that an instruction is in.
unsafe fn dispatch_state(builder: LLVMBuilderRef, instruction: LLVMValueRef) -> LLVMValueRef {
    const NAME: &std::ffi::CStr = c"ffgrad.dispatch";
    // SAFETY: see `for_one_thread`.
    unsafe {
        let function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
        let first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
        if name_of(first) == NAME.to_string_lossy() {
            return first;
        }
        LLVMPositionBuilderBefore(builder, first);
        let words = LLVMArrayType2(LLVMInt64TypeInContext(LLVMGetTypeContext(LLVMTypeOf(function))), 6);
        LLVMBuildAlloca(builder, words, NAME.as_ptr())
    }
}

/// Puts a call of another function in the place of one.
unsafe fn replace_call(
    builder: LLVMBuilderRef,
    call: LLVMValueRef,
    function: LLVMValueRef,
    arguments: &mut [LLVMValueRef],
) -> LLVMValueRef {
    // SAFETY: see `for_one_thread`.
    unsafe {
        LLVMPositionBuilderBefore(builder, call);
        let ty = LLVMGlobalGetValueType(function);
        let count = arguments.len() as u32;
        let new = match LLVMGetInstructionOpcode(call) {
            LLVMOpcode::LLVMInvoke => {
                let (normal, unwind) = (LLVMGetNormalDest(call), LLVMGetUnwindDest(call));
                LLVMBuildInvoke2(builder, ty, function, arguments.as_mut_ptr(), count, normal, unwind, c"".as_ptr())
            }
            _ => LLVMBuildCall2(builder, ty, function, arguments.as_mut_ptr(), count, c"".as_ptr()),
        };
        LLVMInstructionSetDebugLoc(new, LLVMInstructionGetDebugLoc(call));
        LLVMReplaceAllUsesWith(call, new);
        LLVMInstructionEraseFromParent(call);
        new
    }
}

/// Makes an atomic operation a plain one: for code that one thread runs.
unsafe fn make_plain(builder: LLVMBuilderRef, instruction: LLVMValueRef) {
    // SAFETY: see `for_one_thread`; what is erased has had its uses replaced.
    unsafe {
        match LLVMGetInstructionOpcode(instruction) {
            LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore => LLVMSetOrdering(instruction, LLVMAtomicOrderingNotAtomic),
            LLVMOpcode::LLVMAtomicRMW => {
                LLVMPositionBuilderBefore(builder, instruction);
                let (address, operand) = (LLVMGetOperand(instruction, 0), LLVMGetOperand(instruction, 1));
                let old = LLVMBuildLoad2(builder, LLVMTypeOf(operand), address, c"".as_ptr());
                let Some(new) = combined(builder, instruction, old, operand) else {
                    LLVMInstructionEraseFromParent(old);
                    return;
                };
                let store = LLVMBuildStore(builder, new, address);
                for made in [old, store] {
                    LLVMInstructionSetDebugLoc(made, LLVMInstructionGetDebugLoc(instruction));
                }
                LLVMReplaceAllUsesWith(instruction, old);
                LLVMInstructionEraseFromParent(instruction);
            }
            LLVMOpcode::LLVMAtomicCmpXchg => {
                // There is no other thread: the exchange succeeds.
                LLVMPositionBuilderBefore(builder, instruction);
                let (address, expected) = (LLVMGetOperand(instruction, 0), LLVMGetOperand(instruction, 1));
                LLVMBuildStore(builder, LLVMGetOperand(instruction, 2), address);
                let ty = LLVMTypeOf(instruction);
                let yes = LLVMConstInt(LLVMInt1TypeInContext(LLVMGetTypeContext(ty)), 1, 0);
                let pair = LLVMBuildInsertValue(builder, LLVMGetUndef(ty), expected, 0, c"".as_ptr());
                let pair = LLVMBuildInsertValue(builder, pair, yes, 1, c"".as_ptr());
                LLVMReplaceAllUsesWith(instruction, pair);
                LLVMInstructionEraseFromParent(instruction);
            }
            _ => {}
        }
    }
}

/// What an atomic operation leaves in memory; `None` for those that no OpenMP construct becomes.
unsafe fn combined(
    builder: LLVMBuilderRef,
    instruction: LLVMValueRef,
    old: LLVMValueRef,
    operand: LLVMValueRef,
) -> Option<LLVMValueRef> {
    use llvm_sys::{LLVMIntPredicate as Int, LLVMRealPredicate as Real};
    let name = c"".as_ptr();
    // SAFETY: see `for_one_thread`.
    unsafe {
        let smaller = |p| LLVMBuildSelect(builder, LLVMBuildICmp(builder, p, old, operand, name), old, operand, name);
        let real = |p| LLVMBuildSelect(builder, LLVMBuildFCmp(builder, p, old, operand, name), old, operand, name);
        Some(match LLVMGetAtomicRMWBinOp(instruction) {
            LLVMAtomicRMWBinOpXchg => operand,
            LLVMAtomicRMWBinOpAdd => LLVMBuildAdd(builder, old, operand, name),
            LLVMAtomicRMWBinOpSub => LLVMBuildSub(builder, old, operand, name),
            LLVMAtomicRMWBinOpAnd => LLVMBuildAnd(builder, old, operand, name),
            LLVMAtomicRMWBinOpOr => LLVMBuildOr(builder, old, operand, name),
            LLVMAtomicRMWBinOpXor => LLVMBuildXor(builder, old, operand, name),
            LLVMAtomicRMWBinOpFAdd => LLVMBuildFAdd(builder, old, operand, name),
            LLVMAtomicRMWBinOpFSub => LLVMBuildFSub(builder, old, operand, name),
            LLVMAtomicRMWBinOpMax => smaller(Int::LLVMIntSGT),
            LLVMAtomicRMWBinOpMin => smaller(Int::LLVMIntSLT),
            LLVMAtomicRMWBinOpUMax => smaller(Int::LLVMIntUGT),
            LLVMAtomicRMWBinOpUMin => smaller(Int::LLVMIntULT),
            LLVMAtomicRMWBinOpFMax => real(Real::LLVMRealOGT),
            LLVMAtomicRMWBinOpFMin => real(Real::LLVMRealOLT),
            _ => return None,
        })
    }
}

/// Every function that some functions call or mention, themselves included.
unsafe fn reachable(roots: &[LLVMValueRef]) -> Vec<LLVMValueRef> {
    let mut found = roots.to_vec();
    let mut next = 0;
    while next < found.len() {
        // SAFETY: see `for_one_thread`.
        unsafe {
            for instruction in body(found[next]) {
                let operands = (0..LLVMGetNumOperands(instruction) as u32).map(|i| LLVMGetOperand(instruction, i));
                for function in operands.filter(|&o| !o.is_null() && !LLVMIsAFunction(o).is_null()) {
                    if !found.contains(&function) {
                        found.push(function);
                    }
                }
            }
        }
        next += 1;
    }
    found
}

/// The instructions of a function.
unsafe fn body(function: LLVMValueRef) -> Vec<LLVMValueRef> {
    let mut all = Vec::new();
    // SAFETY: see `for_one_thread`.
    unsafe {
        let mut block = LLVMGetFirstBasicBlock(function);
        while !block.is_null() {
            let mut instruction = LLVMGetFirstInstruction(block);
            while !instruction.is_null() {
                all.push(instruction);
                instruction = LLVMGetNextInstruction(instruction);
            }
            block = LLVMGetNextBasicBlock(block);
        }
    }
    all
}

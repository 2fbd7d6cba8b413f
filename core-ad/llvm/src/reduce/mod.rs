//! Lists the instructions of a module with their source lines, and simplifies chosen ones: how a refusal is located.
//!
//! Enzyme reports the innermost line, perhaps in a header, or none when it crashes. The debug information has the call
//! stack of lines. A crash is located by reduction: something simple, through which derivatives flow as before, replaces
//! instructions until Enzyme no longer crashes.

use crate::ir::Result;
use crate::ir::{self, Op, Value};
use core_ad::protocol::{Place, Response};
use inkwell::module::Module;
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMMetadataRef, LLVMTypeRef, LLVMValueRef};
use std::collections::HashMap;
use std::ffi::CStr;

/// Callers that are looked up above an instruction's own function.
const MOST_CALLERS: usize = 16;

/// All places of a module.
pub fn list(module: &Module<'_>) -> Response {
    let mut files = Files::default();
    let mut calls = HashMap::new();
    let all = instructions(module);
    for (function, instruction) in &all {
        if let Some(callee) = instruction.callee()
            && callee != *function
        {
            calls.entry(callee).or_insert((function.clone(), *instruction));
        }
    }
    let place = |(function, instruction): &(String, Value)| {
        let mut lines = lines_of(*instruction, &mut files);
        let mut at = function;
        for _ in 0..MOST_CALLERS {
            let Some((caller, call)) = calls.get(at) else { break };
            lines.extend(lines_of(*call, &mut files));
            at = caller;
        }
        Place { function: function.clone(), lines, callee: called(*instruction), removable: is_removable(*instruction) }
    };
    let places = all.iter().map(place).collect();
    Response::Places { files: files.names, places }
}

/// Puts something simple in the place of some instructions, as [`list`] numbers them.
pub fn simplify(module: &Module<'_>, chosen: &[usize]) -> Result<()> {
    let all = instructions(module);
    // SAFETY: the builder lives in the module's own context and is disposed of below.
    let builder = unsafe { LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr())) };
    for &index in chosen {
        let Some((_, instruction)) = all.get(index) else { continue };
        if is_removable(*instruction) {
            replace(module, builder, *instruction);
        }
    }
    // SAFETY: made above, and nothing refers to it any more.
    unsafe { LLVMDisposeBuilder(builder) };
    module.verify().map_err(|e| e.to_string())
}

/// Every instruction with a place in the source, and the function that it stands in.
fn instructions(module: &Module<'_>) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for function in ir::functions(module) {
        let name = function.get_name().to_string_lossy().into_owned();
        let inside = ir::blocks(function).into_iter().flat_map(|b| b.instructions());
        let placed = inside.filter(|i| !location(*i).is_null() && !is_remark(*i));
        all.extend(placed.map(|i| (name.clone(), i)));
    }
    all
}

fn location(instruction: Value) -> LLVMMetadataRef {
    // SAFETY: an instruction of a live module.
    unsafe { LLVMInstructionGetDebugLoc(instruction.0) }
}

/// What stands in the code for a reader: lifetimes, debug information.
fn is_remark(instruction: Value) -> bool {
    instruction.callee().is_some_and(|c| c.starts_with("llvm.lifetime") || c.starts_with("llvm.dbg"))
}

/// Names of files, each once.
#[derive(Default)]
struct Files {
    names: Vec<String>,
    known: HashMap<String, usize>,
}

impl Files {
    fn index(&mut self, name: String) -> usize {
        *self.known.entry(name.clone()).or_insert_with(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }
}

/// The lines of an instruction, from its own outwards.
fn lines_of(instruction: Value, files: &mut Files) -> Vec<(usize, u32, u32)> {
    let mut lines = Vec::new();
    let mut at = location(instruction);
    while !at.is_null() {
        // SAFETY: `at` is a DILocation of a live module: a debug location, or what one is inlined at.
        let (line, column, scope) =
            unsafe { (LLVMDILocationGetLine(at), LLVMDILocationGetColumn(at), LLVMDILocationGetScope(at)) };
        if let Some(file) = file_of(scope)
            && line > 0
        {
            lines.push((files.index(file), line, column));
        }
        // SAFETY: as above.
        at = unsafe { LLVMDILocationGetInlinedAt(at) };
    }
    lines
}

fn file_of(scope: LLVMMetadataRef) -> Option<String> {
    let text = |part: unsafe extern "C" fn(LLVMMetadataRef, *mut u32) -> *const std::ffi::c_char, file| {
        let mut length = 0;
        // SAFETY: `file` is a DIFile; the text belongs to it and has `length` bytes.
        unsafe {
            let start = part(file, &mut length);
            if start.is_null() {
                return String::new();
            }
            let bytes = std::slice::from_raw_parts(start.cast::<u8>(), length as usize);
            String::from_utf8_lossy(bytes).into_owned()
        }
    };
    // SAFETY: the scope of a location is a DIScope.
    let file = unsafe { LLVMDIScopeGetFile(scope) };
    if file.is_null() {
        return None;
    }
    let (folder, name) = (text(LLVMDIFileGetDirectory, file), text(LLVMDIFileGetFilename, file));
    Some(match name.starts_with('/') || folder.is_empty() {
        true => name,
        false => format!("{folder}/{name}"),
    })
}

/// What an instruction calls, for the message.
fn called(instruction: Value) -> Option<String> {
    if !instruction.is(Op::LLVMCall) {
        return None;
    }
    // SAFETY: a call; its callee is its last operand.
    let target = unsafe { LLVMGetCalledValue(instruction.0) };
    // SAFETY: any value may be asked.
    match unsafe { LLVMIsAInlineAsm(target) }.is_null() {
        true => instruction.callee(),
        false => Some("asm".to_owned()),
    }
}

/// Calls with a simple value, atomic updates, bit casts: what Enzyme often fails on.
fn is_removable(instruction: Value) -> bool {
    let simple = |ty: LLVMTypeRef| {
        // SAFETY: a type of the module.
        let kind = unsafe { LLVMGetTypeKind(ty) };
        use LLVMTypeKind::*;
        matches!(
            kind,
            LLVMVoidTypeKind | LLVMFloatTypeKind | LLVMDoubleTypeKind | LLVMIntegerTypeKind | LLVMPointerTypeKind
        )
    };
    match instruction.op() {
        // Enzyme's own calls, and markers for it, stay.
        Some(Op::LLVMCall) => {
            let own =
                |c: String| ["__enzyme", "ffgrad", "llvm.assume", "llvm.experimental"].iter().any(|p| c.starts_with(p));
            simple(instruction.ty()) && !instruction.callee().is_some_and(own)
        }
        Some(Op::LLVMAtomicRMW | Op::LLVMVAArg) => simple(instruction.ty()),
        Some(Op::LLVMBitCast) => simple(instruction.ty()) && simple(instruction.operand(0).ty()),
        _ => false,
    }
}

/// Puts a value of the same type in the place of an instruction: for a floating-point value, the sum of its floating-point operands, so
/// that the same values stay active.
fn replace(module: &Module<'_>, builder: LLVMBuilderRef, instruction: Value) {
    // SAFETY: the instruction lives until it is erased at the end, and the builder stands before it meanwhile; every value
    // that is built has the type that its user takes.
    unsafe {
        LLVMPositionBuilderBefore(builder, instruction.0);
        let ty = instruction.ty();
        let value = match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMVoidTypeKind => None,
            LLVMTypeKind::LLVMPointerTypeKind => Some(block(module, builder)),
            LLVMTypeKind::LLVMIntegerTypeKind => Some(LLVMConstNull(ty)),
            _ => Some(sum(builder, instruction, ty)),
        };
        if let Some(value) = value {
            LLVMReplaceAllUsesWith(instruction.0, value);
        }
        LLVMInstructionEraseFromParent(instruction.0);
    }
}

/// # Safety
///
/// The builder stands before `instruction`, whose type is `ty`, `float` or `double`.
unsafe fn sum(builder: LLVMBuilderRef, instruction: Value, ty: LLVMTypeRef) -> LLVMValueRef {
    let numbers = instruction.operands().into_iter().filter(|o| o.is_float());
    // SAFETY: both are floating-point values; casts between such are always allowed.
    unsafe {
        let add = |total, next: Value| {
            let cast = LLVMBuildFPCast(builder, next.0, ty, NAME.as_ptr());
            LLVMBuildFAdd(builder, total, cast, NAME.as_ptr())
        };
        numbers.fold(LLVMConstReal(ty, 1.0), add)
    }
}

/// Memory, in the place of a pointer.
///
/// # Safety
///
/// The builder stands before an instruction of the module.
unsafe fn block(module: &Module<'_>, builder: LLVMBuilderRef) -> LLVMValueRef {
    const BYTES: u64 = 1 << 16;
    // SAFETY: the types are of the module's context, and the declaration has them.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let size = LLVMInt64TypeInContext(context);
        let mut parameters = [size];
        let ty = LLVMFunctionType(LLVMPointerTypeInContext(context, 0), parameters.as_mut_ptr(), 1, 0);
        let name = c"malloc";
        let declared = LLVMGetNamedFunction(module.as_mut_ptr(), name.as_ptr());
        let malloc =
            if declared.is_null() { LLVMAddFunction(module.as_mut_ptr(), name.as_ptr(), ty) } else { declared };
        let mut arguments = [LLVMConstInt(size, BYTES, 0)];
        LLVMBuildCall2(builder, ty, malloc, arguments.as_mut_ptr(), 1, NAME.as_ptr())
    }
}

const NAME: &CStr = c"";

//! Moves the body of a function into another one, which takes its place.

use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMGetSubprogram, LLVMSetSubprogram};
use llvm_sys::prelude::LLVMValueRef;

/// Moves the blocks of a function, and what the debug information says of it, to one without blocks. Its arguments are still used in them.
///
/// # Safety
///
/// Two live functions of one module, of which nothing else uses the blocks meanwhile.
pub unsafe fn move_body(old: LLVMValueRef, new: LLVMValueRef) {
    // SAFETY: by this function's promise.
    unsafe {
        let context = LLVMGetModuleContext(LLVMGetGlobalParent(old));
        let subprogram = LLVMGetSubprogram(old);
        if !subprogram.is_null() {
            LLVMGlobalEraseMetadata(old, LLVMGetMDKindIDInContext(context, c"dbg".as_ptr(), 3));
            LLVMSetSubprogram(new, subprogram);
        }
        let mut next = LLVMGetFirstBasicBlock(old);
        while !next.is_null() {
            let block = next;
            next = LLVMGetNextBasicBlock(block);
            LLVMRemoveBasicBlockFromParent(block);
            LLVMAppendExistingBasicBlock(new, block);
        }
    }
}

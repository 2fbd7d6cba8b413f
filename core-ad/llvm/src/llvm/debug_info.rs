//! Debug information: read for the prototype and for lines of messages, and taken out before anything is optimised.
//!
//! Of a C++ source with a library's headers most of the module is debug information, and LLVM and Enzyme carry it along at every step: to
//! print one instruction in a message Enzyme numbers all metadata of the module first. So derivatives are built without it. A
//! refusal is located in a second module, which has lines and nothing else.

use crate::ir::Result;
use crate::llvm::pipelines;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;

/// Removes it, unless messages need the lines.
pub fn strip_unless(is_needed: bool, module: &Module<'_>) {
    if !is_needed {
        strip(module);
    }
}

/// Takes all debug information out.
pub fn strip(module: &Module<'_>) {
    // SAFETY: a live module; nothing holds on to its debug information.
    unsafe { LLVMStripModuleDebugInfo(module.as_mut_ptr()) };
}

/// Instructions of a small module.
const SMALL: usize = 4000;

/// Whether lines cost next to nothing in a module.
pub fn is_small(module: &Module<'_>) -> bool {
    let mut instructions =
        module.get_functions().flat_map(|f| f.get_basic_block_iter()).flat_map(|b| b.get_instructions());
    instructions.nth(SMALL).is_none()
}

/// Leaves lines where they are asked for, and in small modules, where they tell what decides the path. In large ones they would cost more
/// than the rest of the build.
pub fn reduce(module: &Module<'_>, lines: bool) -> Result<()> {
    if lines || is_small(module) {
        return pipelines::keep_lines(module);
    }
    strip(module);
    Ok(())
}

/// Operands of a compile unit that nothing reads: enumerations, types, globals, imported names, macros (`DICompileUnit` in LLVM's
/// DebugInfoMetadata.h).
const UNREAD: std::ops::RangeInclusive<u32> = 4..=8;

/// Drops the lists of a compile unit: with them every function's description leads to every name that a header declares.
pub fn trim_units(module: &Module<'_>) {
    // SAFETY: the operands of `llvm.dbg.cu` are compile units, distinct nodes with more operands than are replaced; all of those may be null.
    unsafe {
        let name = c"llvm.dbg.cu".as_ptr();
        let count = LLVMGetNamedMetadataNumOperands(module.as_mut_ptr(), name);
        let mut units = vec![std::ptr::null_mut(); count as usize];
        LLVMGetNamedMetadataOperands(module.as_mut_ptr(), name, units.as_mut_ptr());
        for unit in units {
            UNREAD.for_each(|operand| LLVMReplaceMDNodeOperandWith(unit, operand, std::ptr::null_mut()));
        }
    }
}

/// The description of a function alone, as text: `!dbg`'s number, and the nodes that it leads to. `None` where it has none.
pub fn description(module: &Module<'_>, function: FunctionValue<'_>) -> Option<(String, String)> {
    let context = module.get_context();
    let alone = context.create_module("description");
    let described = alone.add_function("described", context.void_type().fn_type(&[], false), None);
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(described, ""));
    builder.build_unreachable().ok()?;
    // SAFETY: a live function's description, given to a function that is printed and dropped.
    unsafe {
        let subprogram = LLVMGetSubprogram(function.as_value_ref());
        if subprogram.is_null() {
            return None;
        }
        LLVMSetSubprogram(described.as_value_ref(), subprogram);
    }
    let text = alone.print_to_string().to_string();
    let line = text.lines().find(|line| line.starts_with("define "))?;
    let number = line.rsplit_once("!dbg ")?.1.trim_end_matches([' ', '{']).to_owned();
    let nodes = text.lines().filter(|line| line.starts_with('!')).flat_map(|line| [line, "\n"]).collect();
    Some((number, nodes))
}

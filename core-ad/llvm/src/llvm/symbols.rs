//! What a bitcode file defines, and what each definition needs of other files: from this the driver finds the files of a folder
//! that a function reaches.

use crate::ir::Result;
use crate::llvm::linkage;
use core_ad::protocol::{Response, Symbol};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, GlobalValue};
use llvm_sys::LLVMLinkage;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

/// Every symbol that other files can see, with the names that it needs.
pub fn list(module: &Module<'_>) -> Response {
    let mut graph = Graph { mentions: HashMap::new() };
    let functions = module.get_functions().map(|f| f.as_global_value());
    let all: Vec<GlobalValue<'_>> = functions.chain(module.get_globals()).chain(linkage::aliases(module)).collect();
    let mut symbols: BTreeMap<String, Symbol> = BTreeMap::new();
    for value in all.iter().filter(|value| !value.is_declaration()) {
        let raw = value.as_value_ref();
        let name = name_of(raw);
        // A mark's array of functions has internal linkage, and `llvm.used` mentions it.
        let always = name.starts_with("llvm.") || name.starts_with("__enzyme");
        if !always && is_local(raw) {
            continue;
        }
        let symbol = Symbol {
            name: if always { String::new() } else { name },
            shared: !always && is_shared(raw),
            uses: graph.needs(raw).into_iter().collect(),
        };
        match symbols.get_mut(&symbol.name) {
            Some(known) => known.uses.extend(symbol.uses),
            None => drop(symbols.insert(symbol.name.clone(), symbol)),
        }
    }
    Response::Symbols { symbols: symbols.into_values().collect() }
}

/// Writes a module in which some definitions give way to those of other modules.
pub fn weaken(module: &Module<'_>, symbols: &[String], output: &Path) -> Result<Response> {
    linkage::weaken(module, symbols);
    match module.write_bitcode_to_path(output) {
        true => Ok(Response::Written {
            notes: Vec::new(),
            skipped: Vec::new(),
            paths: None,
            tests_equality: false,
            threads: None,
            checkpoints: false,
        }),
        false => Err(format!("{} cannot be written", output.display())),
    }
}

/// Which globals the body or the initial value of each one mentions.
struct Graph {
    mentions: HashMap<LLVMValueRef, Vec<LLVMValueRef>>,
}

impl Graph {
    /// Names that a definition needs of outside, by way of what only its own file sees.
    fn needs(&mut self, root: LLVMValueRef) -> BTreeSet<String> {
        let (mut seen, mut open, mut names) = (HashSet::from([root]), vec![root], BTreeSet::new());
        while let Some(global) = open.pop() {
            // SAFETY: a live global of the module.
            let mentioned = self.mentions.entry(global).or_insert_with(|| unsafe { mentions(global) }).clone();
            for each in mentioned {
                if !seen.insert(each) {
                    continue;
                }
                if is_local(each) {
                    open.push(each);
                } else {
                    names.insert(name_of(each));
                }
            }
        }
        names.retain(|name| !name.starts_with("llvm."));
        names
    }
}

/// The globals among the operands of a function's instructions, or in a variable's initial value.
///
/// # Safety
///
/// The value is a live global.
unsafe fn mentions(global: LLVMValueRef) -> Vec<LLVMValueRef> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    // SAFETY: walks the live function's blocks and operands; constants live as long as their context.
    unsafe {
        if LLVMIsAFunction(global).is_null() {
            for i in 0..LLVMGetNumOperands(global) as u32 {
                constant(LLVMGetOperand(global, i), &mut seen, &mut found);
            }
            return found;
        }
        let mut block = LLVMGetFirstBasicBlock(global);
        while !block.is_null() {
            let mut instruction = LLVMGetFirstInstruction(block);
            while !instruction.is_null() {
                for i in 0..LLVMGetNumOperands(instruction) as u32 {
                    constant(LLVMGetOperand(instruction, i), &mut seen, &mut found);
                }
                instruction = LLVMGetNextInstruction(instruction);
            }
            block = LLVMGetNextBasicBlock(block);
        }
        // Of a function: its personality.
        if LLVMHasPersonalityFn(global) != 0 {
            constant(LLVMGetPersonalityFn(global), &mut seen, &mut found);
        }
    }
    found
}

/// Adds the globals inside a constant.
///
/// # Safety
///
/// The value is live.
unsafe fn constant(value: LLVMValueRef, seen: &mut HashSet<LLVMValueRef>, found: &mut Vec<LLVMValueRef>) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        // SAFETY: a live value, by this function's promise, and the operands of one.
        unsafe {
            if value.is_null() || LLVMIsAConstant(value).is_null() || !seen.insert(value) {
                continue;
            }
            if !LLVMIsAGlobalValue(value).is_null() {
                found.push(value);
                continue;
            }
            open.extend((0..LLVMGetNumOperands(value).max(0) as u32).map(|i| LLVMGetOperand(value, i)));
        }
    }
}

fn linkage_of(value: LLVMValueRef) -> LLVMLinkage {
    // SAFETY: a live global.
    unsafe { LLVMGetLinkage(value) }
}

fn is_local(value: LLVMValueRef) -> bool {
    matches!(linkage_of(value), LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage)
}

fn is_shared(value: LLVMValueRef) -> bool {
    !matches!(linkage_of(value), LLVMLinkage::LLVMExternalLinkage | LLVMLinkage::LLVMDLLExportLinkage)
}

fn name_of(value: LLVMValueRef) -> String {
    let mut length = 0;
    // SAFETY: a live value's name, of this length.
    let name = unsafe {
        let start = LLVMGetValueName2(value, &mut length);
        std::slice::from_raw_parts(start.cast::<u8>(), length)
    };
    String::from_utf8_lossy(name).into_owned()
}

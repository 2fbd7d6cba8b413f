//! Finds the rules that hold for a module: those of the options, and those that the sources declare.

use super::refusals::{self, Refusal};
use super::rule::{Rule, text};
use super::validate;
use crate::analysis::reachable::reachable;
use core_ad::names::{self, Lookup};
use core_ad::protocol::Derivative;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, GlobalValue};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;

/// Start of the names of marker variables: arrays of the addresses of a function and its derivatives, made by the
/// macro `FFGRAD_DERIVATIVES` of `ffgrad/derivatives.h`.
const MARKER: &str = "ffgrad_derivatives_";
/// The same for `FFGRAD_INACTIVE`.
const MARKER_INACTIVE: &str = "ffgrad_inactive_";

/// The rules that hold for a module: those of the options first, then those that the source declares. The
/// declarations are taken out of the module.
pub fn collect<'ctx>(
    module: &Module<'ctx>,
    given: &[Derivative],
) -> std::result::Result<(Vec<Rule<'ctx>>, Vec<String>), Refusal> {
    let mut rules: Vec<Rule<'ctx>> = Vec::new();
    for derivative in given {
        rules.push(named(module, derivative)?);
    }
    let (declared, inactive) = take_markers(module);
    let declared = in_use(module, declared);
    for rule in declared {
        if !rules.iter().any(|r| r.function == rule.function) {
            rules.push(rule);
        }
    }
    for rule in &rules {
        validate::prototypes(rule)?;
    }
    Ok((rules, inactive))
}

/// Start of the names of everything in the rules library.
const LIBRARY: &str = "ffgrad_";

/// Leaves out rules of the library for functions that neither the user's code nor another rule in use calls.
fn in_use<'ctx>(module: &Module<'ctx>, mut declared: Vec<Rule<'ctx>>) -> Vec<Rule<'ctx>> {
    let of_library = |f: FunctionValue<'ctx>| text(f.get_name()).starts_with(LIBRARY);
    let mut roots: Vec<FunctionValue<'ctx>> = module.get_functions().filter(|&f| !of_library(f)).collect();
    let mut used: Vec<Rule<'ctx>> = Vec::new();
    loop {
        // SAFETY: live functions of the module.
        let reached = unsafe { reachable(&roots) };
        let (new, rest): (Vec<_>, Vec<_>) = declared
            .into_iter()
            .partition(|rule| !of_library(rule.function) || reached.contains(&rule.function.as_value_ref()));
        if new.is_empty() {
            return used;
        }
        roots.extend(new.iter().flat_map(|r| [Some(r.forward), Some(r.reverse), r.save]).flatten());
        used.extend(new);
        declared = rest;
    }
}

fn named<'ctx>(module: &Module<'ctx>, derivative: &Derivative) -> std::result::Result<Rule<'ctx>, Refusal> {
    let all: Vec<String> = module.get_functions().map(|f| text(f.get_name())).collect();
    let defined: Vec<String> =
        module.get_functions().filter(|f| f.count_basic_blocks() > 0).map(|f| text(f.get_name())).collect();
    let find = |name: &str, among: &[String]| match names::find(name, among) {
        Lookup::Found(symbol) => Ok(module.get_function(symbol)),
        Lookup::Ambiguous(candidates) => Err(refusals::ambiguous(name, &candidates)),
        Lookup::Missing { .. } => Ok(None),
    };
    let function = find(&derivative.function, &all)?;
    let function = function.ok_or_else(|| refusals::unknown_function(&derivative.function))?;
    let part =
        |name: &str| find(name, &defined)?.ok_or_else(|| refusals::missing_part(&derivative.function, name, &defined));
    Ok(Rule {
        function,
        forward: part(&derivative.forward)?,
        reverse: part(&derivative.reverse)?,
        save: derivative.save.as_deref().map(part).transpose()?,
    })
}

/// Reads the marker variables and empties them, so that they hold nothing alive.
/// Whether the sources declare rules, or inactive functions.
pub fn are_declared(module: &Module<'_>) -> bool {
    let mut names = module.get_globals().map(|global| text(global.get_name()));
    names.any(|name| name.contains(MARKER) || name.contains(MARKER_INACTIVE))
}

fn take_markers<'ctx>(module: &Module<'ctx>) -> (Vec<Rule<'ctx>>, Vec<String>) {
    let (mut rules, mut inactive) = (Vec::new(), Vec::new());
    for global in module.get_globals() {
        let name = text(global.get_name());
        let is_rule = name.contains(MARKER);
        if !is_rule && !name.contains(MARKER_INACTIVE) {
            continue;
        }
        let parts = functions_in(module, global);
        match (is_rule, parts.as_slice()) {
            (true, &[function, forward, reverse]) => rules.push(Rule { function, forward, reverse, save: None }),
            (true, &[function, forward, reverse, save]) => {
                rules.push(Rule { function, forward, reverse, save: Some(save) });
            }
            (false, &[function]) => inactive.push(text(function.get_name())),
            _ => {}
        }
        // SAFETY: a live global with an initialiser of its own type.
        unsafe {
            let raw = global.as_value_ref();
            LLVMSetInitializer(raw, LLVMConstNull(LLVMGlobalGetValueType(raw)));
        }
    }
    (rules, inactive)
}

fn functions_in<'ctx>(module: &Module<'ctx>, global: GlobalValue<'ctx>) -> Vec<FunctionValue<'ctx>> {
    let mut found = Vec::new();
    // SAFETY: iterates over the operands of a live global's initialiser.
    unsafe {
        let initialiser = LLVMGetInitializer(global.as_value_ref());
        if initialiser.is_null() {
            return found;
        }
        let single = !LLVMIsAFunction(initialiser).is_null();
        let count = if single { 1 } else { LLVMGetNumOperands(initialiser).max(0) as u32 };
        for i in 0..count {
            let operand: LLVMValueRef = if single { initialiser } else { LLVMGetOperand(initialiser, i) };
            if !LLVMIsAFunction(operand).is_null() {
                let mut length = 0;
                let name = LLVMGetValueName2(operand, &mut length);
                let bytes = std::slice::from_raw_parts(name.cast::<u8>(), length);
                found.extend(module.get_function(&String::from_utf8_lossy(bytes)));
            }
        }
    }
    found
}

/// Names of the parts of rules, the functions themselves among them.
pub fn parts(rules: &[Rule<'_>]) -> Vec<String> {
    let all = rules.iter().flat_map(|r| [Some(r.function), Some(r.forward), Some(r.reverse), r.save]);
    all.flatten().map(|f| text(f.get_name())).collect()
}

/// Takes the declarations of rules out of a module that is not differentiated.
pub fn forget(module: &Module<'_>) {
    take_markers(module);
}

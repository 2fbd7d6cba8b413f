//! Code generation: target machines, CPU attributes, static constructors, the object file.

use crate::ir::{self, Result, set_string_attribute};
use inkwell::module::{Linkage, Module};
use inkwell::targets::{
    CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetMachineOptions,
};
use inkwell::values::{AsValueRef, PointerValue};
use inkwell::{AddressSpace, OptimizationLevel};
use std::path::Path;
use std::sync::Once;

/// A target machine for a CPU as [`core_ad::cpu`] names it; `native` is this machine with all its features.
pub fn target_machine(cpu: &str) -> Result<TargetMachine> {
    machine(cpu, CodeModel::Default)
}

/// The machine of passes before differentiation, which generates no code. In the medium code model LLVM does not turn tables of
/// pointers into tables of 32-bit offsets from the table itself: Enzyme's type analysis recurses without end on an initialiser that
/// has its own address in it.
pub fn generic_machine() -> Result<TargetMachine> {
    machine("generic", CodeModel::Medium)
}

fn machine(cpu: &str, model: CodeModel) -> Result<TargetMachine> {
    initialise_targets();
    let triple = TargetMachine::get_default_triple();
    let target = Target::from_triple(&triple).map_err(|e| e.to_string())?;
    let (cpu, features) = match cpu {
        core_ad::cpu::NATIVE => {
            (TargetMachine::get_host_cpu_name().to_string(), TargetMachine::get_host_cpu_features().to_string())
        }
        other => {
            let features = core_ad::cpu::features(other).unwrap_or_default();
            // By name, for those who read the text: which vector functions fit.
            (other.to_owned(), features.iter().map(|f| format!("+{f}")).collect::<Vec<_>>().join(","))
        }
    };
    let options = TargetMachineOptions::new()
        .set_cpu(&cpu)
        .set_features(&features)
        .set_reloc_mode(RelocMode::PIC)
        .set_code_model(model)
        .set_level(OptimizationLevel::Aggressive);
    target
        .create_target_machine_from_options(&triple, options)
        .ok_or_else(|| format!("LLVM has no target machine for `{cpu}`"))
}

fn initialise_targets() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let config = InitializationConfig::default();
        #[cfg(target_arch = "x86_64")]
        Target::initialize_x86(&config);
        #[cfg(target_arch = "aarch64")]
        Target::initialize_aarch64(&config);
    });
}

/// Puts the real CPU on every function: what came from Enzyme does not carry it.
pub fn retarget(module: &Module<'_>, machine: &TargetMachine) {
    lay_out(module, machine);
    let cpu = machine.get_cpu().to_string();
    let features = machine.get_feature_string().to_string_lossy().into_owned();
    for function in module.get_functions().filter(|f| f.count_basic_blocks() > 0) {
        set_string_attribute(module, function, "target-cpu", &cpu);
        set_string_attribute(module, function, "target-features", &features);
        function.remove_string_attribute(inkwell::attributes::AttributeLoc::Function, "tune-cpu");
    }
}

/// Gives a module the machine's triple and data layout.
pub fn lay_out(module: &Module<'_>, machine: &TargetMachine) {
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
}

/// Moves constructors of static objects to `.init_array`. LLVM's default for ELF is `.ctors`, which no loader of
/// today runs, and its C interface cannot choose.
fn place_constructors<'ctx>(module: &Module<'ctx>) -> Result<()> {
    let Some(list) = module.get_global("llvm.global_ctors") else { return Ok(()) };
    let pointer = module.get_context().ptr_type(AddressSpace::default());
    let mut used = Vec::new();
    // SAFETY: `llvm.global_ctors` is an array of { i32 priority, ptr function, ptr data }; its operands are live
    // constants of the module.
    unsafe {
        let initial = llvm_sys::core::LLVMGetInitializer(list.as_value_ref());
        let count = if initial.is_null() { 0 } else { llvm_sys::core::LLVMGetNumOperands(initial) };
        for i in 0..count as u32 {
            let item = llvm_sys::core::LLVMGetOperand(initial, i);
            let priority = llvm_sys::core::LLVMConstIntGetZExtValue(llvm_sys::core::LLVMGetOperand(item, 0));
            let function = PointerValue::new(llvm_sys::core::LLVMGetOperand(item, 1));
            let entry = module.add_global(pointer, None, &format!("ffgrad.init.{i}"));
            entry.set_initializer(&function);
            entry.set_linkage(Linkage::Internal);
            entry.set_section(Some(&match priority {
                65535 => ".init_array".to_owned(),
                early => format!(".init_array.{early:05}"),
            }));
            used.push(entry.as_pointer_value());
        }
        list.delete();
    }
    keep(module, &used)
}

/// Adds globals to `llvm.used`, so that nothing drops them.
fn keep<'ctx>(module: &Module<'ctx>, globals: &[PointerValue<'ctx>]) -> Result<()> {
    if globals.is_empty() {
        return Ok(());
    }
    let pointer = module.get_context().ptr_type(AddressSpace::default());
    let mut all = globals.to_vec();
    if let Some(old) = module.get_global("llvm.used") {
        // SAFETY: `llvm.used` is an array of pointers.
        unsafe {
            let initial = llvm_sys::core::LLVMGetInitializer(old.as_value_ref());
            let count = if initial.is_null() { 0 } else { llvm_sys::core::LLVMGetNumOperands(initial) };
            all.extend((0..count as u32).map(|i| PointerValue::new(llvm_sys::core::LLVMGetOperand(initial, i))));
            old.delete();
        }
    }
    let array = pointer.const_array(&all);
    let list = module.add_global(array.get_type(), None, "llvm.used");
    list.set_initializer(&array);
    list.set_linkage(Linkage::Appending);
    list.set_section(Some("llvm.metadata"));
    Ok(())
}

/// Instructions from which a module counts as large.
const LARGE: usize = 20_000;

/// Has LLVM do without three steps of code generation, from here on, that take most of its time where functions hand over hundreds of values, as the two halves of
/// a large derivative do: it leaves instructions in the order that they have after register allocation (processors that run instructions out of order have no
/// use for another), does not merge the orders in which it knows thousands of accesses, and splits the live range of a value in regions of ten steps at most,
/// not of ten thousand (a quarter of code generation for RADAU5's derivative).
fn skip_slow_steps() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let arguments = [
            c"ffgrad-llvm",
            c"-disable-post-ra",
            c"-combiner-tokenfactor-inline-limit=0",
            c"-grow-region-complexity-budget=10",
        ];
        let arguments = arguments.map(|text| text.as_ptr());
        // SAFETY: so many C strings; the overview may be null. LLVM reads the option where it makes its passes, on this thread.
        unsafe {
            llvm_sys::support::LLVMParseCommandLineOptions(
                arguments.len() as i32,
                arguments.as_ptr(),
                std::ptr::null(),
            );
        }
    });
}

fn is_large(module: &Module<'_>) -> bool {
    let blocks = ir::functions(module).into_iter().flat_map(ir::blocks);
    blocks.flat_map(ir::Block::instructions).nth(LARGE).is_some()
}

/// Writes the object file.
pub fn object(module: &Module<'_>, machine: &TargetMachine, path: &Path) -> Result<()> {
    place_constructors(module)?;
    if is_large(module) {
        skip_slow_steps();
    }
    machine.write_to_file(module, FileType::Object, path).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;

    /// A module with a function of so many sums.
    fn sums(context: &Context, count: usize) -> Module<'_> {
        let (module, builder) = (context.create_module("sums"), context.create_builder());
        let number = context.f64_type();
        let function = module.add_function("sums", number.fn_type(&[number.into()], false), None);
        builder.position_at_end(context.append_basic_block(function, ""));
        let given = function.get_first_param().unwrap().into_float_value();
        let sum = (0..count).fold(given, |sum, _| builder.build_float_add(sum, given, "").unwrap());
        builder.build_return(Some(&sum)).unwrap();
        module
    }

    #[test]
    fn a_large_module_becomes_an_object_file_as_a_small_one_does() {
        let context = Context::create();
        let machine = target_machine("generic").unwrap();
        for (count, large) in [(10, false), (LARGE + 1, true)] {
            let module = sums(&context, count);
            assert_eq!(is_large(&module), large);
            let path = std::env::temp_dir().join(format!("ffgrad-sums-{}.o", std::process::id()));
            object(&module, &machine, &path).unwrap();
            assert!(std::fs::metadata(&path).unwrap().len() > 0);
            std::fs::remove_file(&path).unwrap();
        }
    }
}

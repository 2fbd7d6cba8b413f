//! From a module to an object file for a CPU.

use crate::linkage::set_string_attribute;
use crate::session::Result;
use core_ad::protocol::{CodeGen, Math};
use inkwell::module::Module;
use inkwell::targets::{
    CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetMachineOptions,
};
use inkwell::values::AsValueRef;
use inkwell::OptimizationLevel;
use std::path::Path;
use std::sync::Once;

/// `LLVMFastMathAllowContract` of LLVM's C API.
const CONTRACT: u32 = 1 << 5;

/// A target machine for an LLVM CPU name; `native` is this machine with all its features.
pub fn target_machine(cpu: &str) -> Result<TargetMachine> {
    initialise_targets();
    let triple = TargetMachine::get_default_triple();
    let target = Target::from_triple(&triple).map_err(|e| e.to_string())?;
    let (cpu, features) = match cpu {
        "native" => (
            TargetMachine::get_host_cpu_name().to_string(),
            TargetMachine::get_host_cpu_features().to_string(),
        ),
        other => (other.to_owned(), String::new()),
    };
    let options = TargetMachineOptions::new()
        .set_cpu(&cpu)
        .set_features(&features)
        .set_reloc_mode(RelocMode::PIC)
        .set_code_model(CodeModel::Default)
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

/// Puts the real CPU on every function, and the fusing permission on every operation: what came from
/// the engine carries neither.
pub fn retarget(module: &Module<'_>, machine: &TargetMachine, codegen: &CodeGen) {
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    let cpu = machine.get_cpu().to_string();
    let features = machine.get_feature_string().to_string_lossy().into_owned();
    for function in module.get_functions().filter(|f| f.count_basic_blocks() > 0) {
        set_string_attribute(module, function, "target-cpu", &cpu);
        set_string_attribute(module, function, "target-features", &features);
        function.remove_string_attribute(inkwell::attributes::AttributeLoc::Function, "tune-cpu");
        if codegen.math != Math::Strict {
            allow_contraction(function);
        }
    }
}

fn allow_contraction(function: inkwell::values::FunctionValue<'_>) {
    use llvm_sys::core::{LLVMCanValueUseFastMathFlags, LLVMGetFastMathFlags, LLVMSetFastMathFlags};
    for block in function.get_basic_blocks() {
        for instruction in block.get_instructions() {
            let value = instruction.as_value_ref();
            // SAFETY: `value` is a live instruction, and flags are set only where LLVM allows them.
            unsafe {
                if LLVMCanValueUseFastMathFlags(value) != 0 {
                    LLVMSetFastMathFlags(value, LLVMGetFastMathFlags(value) | CONTRACT);
                }
            }
        }
    }
}

/// Writes the object file.
pub fn object(module: &Module<'_>, machine: &TargetMachine, path: &Path) -> Result<()> {
    machine.write_to_file(module, FileType::Object, path).map_err(|e| e.to_string())
}

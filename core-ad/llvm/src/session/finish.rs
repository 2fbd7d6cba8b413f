//! From a module with its entry points to an object file.

use super::Session;
use crate::ir::markers::BLOCK_SIZE;
use crate::ir::{Result, crash_trace};
use crate::llvm::{codegen, linkage, pipelines};
use crate::lowering::{self, cuda_threads, exceptions, openmp, path_counts};
use crate::optimize::fast_math;
use crate::pipeline;
use crate::rules::{self, lifetimes};
use crate::runtime::{arena, large_stack};
use core_ad::protocol::{CodeGen, Entry, Response};
use inkwell::module::Module;
use std::path::Path;

impl<'ctx> Session<'ctx> {
    /// Completes the entry points, optimises for the target machine, and writes the object file; also its IR, where that is asked for.
    pub(super) fn finish(
        &mut self,
        module: &Module<'ctx>,
        entries: &[(Entry, usize)],
        codegen: &CodeGen,
        arena: Option<&Path>,
        output: &Path,
        ir: Option<&Path>,
    ) -> Result<Response> {
        crash_trace::step("completing entry points");
        let names: Vec<Entry> = entries.iter().map(|(entry, _)| *entry).collect();
        linkage::keep_only(module, &names);
        pipelines::drop_unused(module)?;
        if let Some(runtime) = &codegen.launch {
            cuda_threads::launch(self.context, module, runtime, entries)?;
            linkage::keep_only(module, &names);
        }
        if codegen.exceptions {
            for &(entry, slots) in entries {
                exceptions::guard(module, entry, slots)?;
            }
        }
        if lifetimes::is_extended(module) || module.get_function(BLOCK_SIZE).is_some() {
            // Only the arena can give all memory back at the end.
            let reason = match arena {
                Some(_) => arena::obstacle(module, &rules::targets(&self.installed)),
                None => Some("arena=False".to_owned()),
            };
            if let Some(reason) = reason {
                return Err(self.refuse(rules::no_arena(&reason)));
            }
            lifetimes::end(module);
        }
        crash_trace::step("counting paths");
        path_counts::lower(module)?;
        lowering::unsolved::lower(module)?;
        let machine = codegen::target_machine(&codegen.cpu)?;
        codegen::retarget(module, &machine);
        fast_math::allow_fusing(module, codegen.math);
        pipeline::run(pipeline::TARGET, module, &pipeline::Job::after_enzyme(codegen))?;
        let module = &module.clone();
        pipelines::after_differentiation(module, &machine)?;
        crash_trace::step("binding the runtime");
        pipeline::undo(pipeline::TARGET, module);
        large_stack::mark(module, &names);
        let mut notes = Vec::new();
        if let Some(path) = arena {
            match arena::obstacle(module, &rules::targets(&self.installed)) {
                Some(reason) => notes.push(format!("allocations stay on malloc: {reason}")),
                None => self.bind_arena(module, path, entries, (codegen, &machine))?,
            }
        }
        if self.openmp.is_some() {
            openmp::bind(module, core_ad::protocol::openmp_table(&names))?;
        }
        if let Some(path) = ir {
            module.print_to_file(path).map_err(|e| e.to_string())?;
        }
        crash_trace::step("generating code");
        codegen::object(module, &machine, output)?;
        Ok(Response::Written {
            notes,
            skipped: Vec::new(),
            paths: None,
            tests_equality: false,
            threads: None,
            checkpoints: false,
        })
    }

    fn bind_arena(
        &self,
        module: &Module<'ctx>,
        path: &Path,
        entries: &[(Entry, usize)],
        (codegen, machine): (&CodeGen, &inkwell::targets::TargetMachine),
    ) -> Result<()> {
        let runtime = Module::parse_bitcode_from_path(path, self.context).map_err(|e| e.to_string())?;
        let is_inlined = arena::bind(module, runtime, entries)?;
        let names: Vec<Entry> = entries.iter().map(|(entry, _)| *entry).collect();
        linkage::keep_only(module, &names);
        codegen::retarget(module, machine);
        pipeline::run(&[pipeline::THREAD_ADDRESSES], module, &pipeline::Job::after_enzyme(codegen))?;
        match is_inlined {
            true => pipelines::after_arena(module, machine),
            false => pipelines::drop_unused(module),
        }
    }
}

//! One build's worth of jobs over one linked module.

use crate::{arena, emit, entries, exceptions, globals, indirect, linkage, passes, types, vecmath};
use core_ad::metadata;
use core_ad::protocol::{CodeGen, Entry, Math, Request, Response, Rung};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::path::{Path, PathBuf};

/// Every failure of a job is a sentence; the driver adds the stage and the user's function.
pub type Result<T> = std::result::Result<T, String>;

/// The state between jobs: the user's code, linked but not optimised.
pub struct Session<'ctx> {
    context: &'ctx Context,
    module: Option<Module<'ctx>>,
}

impl<'ctx> Session<'ctx> {
    /// A session with nothing loaded.
    pub fn new(context: &'ctx Context) -> Self {
        Session { context, module: None }
    }

    /// Runs one job.
    pub fn run(&mut self, request: Request) -> Result<Response> {
        match request {
            Request::Load { modules } => self.load(&modules),
            Request::Describe { symbol, function } => self.describe(&symbol, &function),
            Request::Primal { symbol, plan, codegen, output } => {
                let module = self.module()?.clone();
                let wrapper = entries::wrapper(&module, &symbol, &plan, false)?;
                entries::primal(&module, wrapper, &plan)?;
                self.finish(&module, &[(Entry::Primal, plan.args.len())], &codegen, None, &output, None)
            }
            Request::Derive { symbol, plan, mask, write_only, entries: wanted, rung, inactive, codegen: _, output } => {
                let module = self.module()?.clone();
                indirect::make_direct(&module)?;
                let wrapper = entries::wrapper(&module, &symbol, &plan, true)?;
                for entry in &wanted {
                    entries::derivative(&module, *entry, wrapper, &plan, mask, &write_only)?;
                }
                linkage::mark_inactive(&module, &inactive)?;
                if rung == Rung::Typed {
                    types::mark_local_memory(&module);
                }
                linkage::keep_only(&module, &wanted);
                passes::before_differentiation(&module, rung)?;
                globals::mark_inactive(&module, &entries::roots(&module, &wanted));
                module.print_to_file(&output).map_err(|e| e.to_string())?;
                Ok(Response::Written { notes: Vec::new() })
            }
            Request::Finish { input, entries, codegen, arena, output, ir } => {
                let module = self.read_ir(&input)?;
                entries::define_markers(&module)?;
                self.finish(&module, &entries, &codegen, arena.as_deref(), &output, ir.as_deref())
            }
        }
    }

    fn module(&self) -> Result<&Module<'ctx>> {
        self.module.as_ref().ok_or_else(|| "no module is loaded".to_owned())
    }

    fn load(&mut self, paths: &[PathBuf]) -> Result<Response> {
        let mut linked: Option<Module<'ctx>> = None;
        for path in paths {
            let module = Module::parse_bitcode_from_path(path, self.context)
                .map_err(|e| format!("{}: {}", path.display(), e.to_string()))?;
            match &linked {
                None => linked = Some(module),
                Some(all) => all.link_in_module(module).map_err(|e| e.to_string())?,
            }
        }
        let module = linked.ok_or("no modules were given")?;
        let functions = module
            .get_functions()
            .filter(|f| f.count_basic_blocks() > 0)
            .map(|f| f.get_name().to_string_lossy().into_owned())
            .collect();
        self.module = Some(module);
        Ok(Response::Loaded { functions })
    }

    fn describe(&self, symbol: &str, function: &str) -> Result<Response> {
        let module = self.module()?.clone();
        linkage::keep_only_symbol(&module, symbol)?;
        passes::infer_attributes(&module)?;
        let text = module.print_to_string().to_string();
        let prototype = metadata::discover(&text, symbol, function).map_err(|e| e.to_string())?;
        let single_precision = text.contains(" fptrunc ") || text.contains(" x float") || text.contains("load float");
        Ok(Response::Described { prototype, single_precision })
    }

    fn read_ir(&self, path: &Path) -> Result<Module<'ctx>> {
        let buffer = MemoryBuffer::create_from_file(path).map_err(|e| e.to_string())?;
        self.context.create_module_from_ir(buffer).map_err(|e| e.to_string())
    }

    fn finish(
        &self,
        module: &Module<'ctx>,
        entries: &[(Entry, usize)],
        codegen: &CodeGen,
        arena: Option<&Path>,
        output: &Path,
        ir: Option<&Path>,
    ) -> Result<Response> {
        let names: Vec<Entry> = entries.iter().map(|(entry, _)| *entry).collect();
        linkage::keep_only(module, &names);
        if codegen.exceptions {
            for &(entry, slots) in entries {
                exceptions::guard(module, entry, slots)?;
            }
        }
        let machine = emit::target_machine(&codegen.cpu)?;
        emit::retarget(module, &machine, codegen);
        if codegen.math != Math::Strict {
            vecmath::attach(module, &machine.get_feature_string().to_string_lossy());
        }
        passes::after_differentiation(module, &machine)?;
        vecmath::release(module);
        let mut notes = Vec::new();
        if let Some(path) = arena {
            match arena::obstacle(module) {
                Some(reason) => notes.push(format!("allocations stay on malloc: {reason}")),
                None => self.bind_arena(module, path, &names, codegen, &machine)?,
            }
        }
        if let Some(path) = ir {
            module.print_to_file(path).map_err(|e| e.to_string())?;
        }
        emit::object(module, &machine, output)?;
        Ok(Response::Written { notes })
    }

    fn bind_arena(
        &self,
        module: &Module<'ctx>,
        path: &Path,
        entries: &[Entry],
        codegen: &CodeGen,
        machine: &inkwell::targets::TargetMachine,
    ) -> Result<()> {
        let runtime = Module::parse_bitcode_from_path(path, self.context).map_err(|e| e.to_string())?;
        arena::bind(module, runtime, entries)?;
        linkage::keep_only(module, entries);
        emit::retarget(module, machine, codegen);
        passes::after_arena(module, machine)
    }
}

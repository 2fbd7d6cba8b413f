//! Runs the jobs of one build on one linked module.

mod describe;
mod finish;

use crate::analysis::{constant_objects, declared_types, value_paths, zero_roots};
use crate::derive::{Derive, Team};
use crate::entry;
use crate::ir::{Result, crash_trace};
use crate::llvm::{codegen, debug_info, linkage, pipelines, symbols};
use crate::lowering::{
    self, caught, checkpoint, cuda_threads, derived_types, equality_tests, fortran_runtime, indirect_calls,
    known_ranks, openmp, sweeps, thread_starts,
};
use crate::notes::Notes;
use crate::pipeline;
use crate::reduce;
use crate::rules;
use crate::workarounds::constant_tables::Tables;
use crate::workarounds::{copy_types, local_types, variable_types, zero_stores};
use core_ad::diagnostics::Diagnosis;
use core_ad::protocol::{CheckpointPlace, Derivative, Entry, OpenMp, Pipeline, Request, Response};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::path::{Path, PathBuf};

/// How often types of objects are looked for behind each other.
const MOST_NESTED: usize = 3;

/// The state between jobs: the user's code, linked but not optimised.
pub struct Session<'ctx> {
    context: &'ctx Context,
    module: Option<Module<'ctx>>,
    /// The same for the primal, where that is to call other functions.
    plain: Option<Module<'ctx>>,
    /// Rules whose shims are in the module that Enzyme has.
    installed: Vec<rules::Installed<'ctx>>,
    /// Bodies of LAPACK's drivers, whose callers have a rule for them.
    drivers: Vec<String>,
    /// The same with what they call, where that module does not have them.
    apart: Option<Module<'ctx>>,
    /// The tables that module only declares.
    tables: Tables<'ctx>,
    /// What is wrong on the user's side, if the last job failed for that.
    refusal: Option<Box<Diagnosis>>,
    /// What takes the place of OpenMP's runtime.
    openmp: Option<OpenMp>,
    /// Loops that are to be checkpointed.
    checkpoints: Vec<CheckpointPlace>,
    /// Whether the code still has its debug information.
    has_lines: bool,
}

impl<'ctx> Session<'ctx> {
    /// A session with nothing loaded.
    pub fn new(context: &'ctx Context) -> Self {
        Session {
            context,
            module: None,
            plain: None,
            installed: Vec::new(),
            drivers: Vec::new(),
            apart: None,
            tables: Tables::default(),
            refusal: None,
            openmp: None,
            checkpoints: Vec::new(),
            has_lines: true,
        }
    }

    /// The message of the last failure.
    pub fn take_refusal(&mut self) -> Option<Box<Diagnosis>> {
        self.refusal.take()
    }

    /// Keeps what the user is to hear, and returns its headline as the job's failure.
    fn refuse(&mut self, refusal: Box<Diagnosis>) -> String {
        let headline = refusal.headline.clone();
        self.refusal = Some(refusal);
        headline
    }

    /// Runs one job.
    pub fn run(&mut self, request: Request) -> Result<Response> {
        crash_trace::step(request.name());
        match request {
            Request::Load { modules, renamed, library, external, openmp, checkpoint } => {
                self.openmp = openmp;
                self.load(&modules, &renamed, &library)?;
                self.anchor(&checkpoint)?;
                self.checkpoints = checkpoint;
                linkage::rename_declarations(self.module()?, &external);
                self.loaded()
            }
            Request::Symbols { module } => Ok(symbols::list(&self.read(&module)?)),
            Request::Weaken { module, symbols, output } => symbols::weaken(&self.read(&module)?, &symbols, &output),
            Request::CheckRules { derivatives, inactive } => self.check_rules(&derivatives, &inactive),
            Request::Describe { symbol, function } => self.describe(&symbol, &function),
            Request::Primal { symbol, plan, codegen, lines, output } => {
                if !lines {
                    self.drop_lines()?;
                }
                let module = match &self.plain {
                    Some(plain) => plain.clone(),
                    None => self.user_code(&symbol, codegen.launch.is_some())?,
                };
                rules::forget(&module);
                checkpoint::forget(&module);
                if lines {
                    lowering::access_lines::run(&module);
                }
                debug_info::strip(&module);
                let wrapper = entry::wrapper(&module, &symbol, &plan, None, &codegen.constants)?;
                entry::primal(&module, wrapper, &plan)?;
                self.finish(&module, &[(Entry::Primal, plan.args.len())], &codegen, None, &output, None)
            }
            Request::Derive {
                symbol,
                plan,
                mask,
                write_only,
                entries,
                pipeline,
                inactive,
                derivatives,
                ignored,
                solvers,
                arena,
                codegen,
                lines,
                output,
            } => {
                let job = Derive {
                    symbol: &symbol,
                    solvers: &solvers,
                    plan: &plan,
                    mask,
                    write_only: &write_only,
                    pipeline,
                    inactive: &inactive,
                    derivatives: &derivatives,
                    ignored: &ignored,
                    arena,
                    kernel: codegen.launch.is_some(),
                    without_threads: true,
                    codegen: &codegen,
                    lines,
                };
                if !lines {
                    self.drop_lines()?;
                }
                let (module, notes) = self.derive(&job, &entries)?;
                entry::declare_reverse_mode(&module);
                self.tables.take(&module);
                module.print_to_file(&output).map_err(|e| e.to_string())?;
                Ok(Response::Written {
                    notes: notes.remarks,
                    skipped: notes.skipped,
                    paths: notes.paths,
                    tests_equality: notes.tests_equality,
                    threads: notes.threads,
                    checkpoints: checkpoint::needs_runtime(&module),
                })
            }
            Request::Finish { input, entries, codegen, arena, checkpoint, output, ir } => {
                let module = self.read_ir(&input)?;
                self.tables.put_back(&module);
                if let Some(apart) = &self.apart {
                    module.link_in_module(apart.clone()).map_err(|e| e.to_string())?;
                }
                caught::finish(&module, self.context)?;
                let around = pipeline::Job::after_enzyme(&codegen);
                pipeline::after_enzyme(&module, &around)?;
                rules::finish(&module, &self.installed)?;
                rules::finish(&module, &sweeps::installed(&module))?;
                if let Some(runtime) = checkpoint.filter(|_| checkpoint::needs_runtime(&module)) {
                    crash_trace::step("linking what runs checkpointed loops");
                    checkpoint::link(&module, self.context, &runtime)?;
                }
                if let Some(runtime) = &self.openmp {
                    openmp::after_enzyme(&module, &runtime.team)?;
                }
                pipeline::optimize(&module, &around)?;
                self.finish(&module, &entries, &codegen, arena.as_deref(), &output, ir.as_deref())
            }
            Request::Places { input } => Ok(reduce::list(&self.read(&input)?)),
            Request::Without { input, places, output } => {
                let module = self.read_ir(&input)?;
                reduce::simplify(&module, &places)?;
                module.print_to_file(&output).map_err(|e| e.to_string())?;
                Ok(Response::Written {
                    notes: Vec::new(),
                    skipped: Vec::new(),
                    paths: None,
                    tests_equality: false,
                    threads: None,
                    checkpoints: false,
                })
            }
        }
    }

    fn module(&self) -> Result<&Module<'ctx>> {
        self.module.as_ref().ok_or_else(|| "no module is loaded".to_owned())
    }

    /// The loaded module; of a kernel's only what it uses, since what matters is whether that has barriers.
    fn user_code(&self, symbol: &str, kernel: bool) -> Result<Module<'ctx>> {
        let module = self.module()?.clone();
        if kernel {
            linkage::keep_only_symbol(&module, symbol)?;
            pipelines::drop_unused(&module)?;
        }
        Ok(module)
    }

    /// Takes debug information out of the loaded code for good, where no later step reports lines.
    fn drop_lines(&mut self) -> Result<()> {
        let is_large = !debug_info::is_small(self.module()?);
        if self.has_lines && is_large && !self.uses_openmp()? && !fortran_runtime::uses_rules(self.module()?) {
            self.module.iter().chain(&self.plain).for_each(debug_info::strip);
            self.has_lines = false;
        }
        Ok(())
    }

    /// Marks the loops that are to be checkpointed, as long as the code has its lines.
    fn anchor(&mut self, places: &[CheckpointPlace]) -> Result<()> {
        let anchored = self.module.iter().chain(&self.plain).try_for_each(|m| checkpoint::anchor(m, places));
        anchored.map_err(|refusal| self.refuse(refusal))
    }

    fn uses_openmp(&self) -> Result<bool> {
        Ok(self.openmp.is_some() && openmp::is_used(self.module()?))
    }

    /// Replaces OpenMP's runtime. `symbol`: the function in question, where no other one will be called.
    fn lower_openmp(&mut self, module: &Module<'ctx>, team: Team, symbol: Option<&str>) -> Result<()> {
        let lowered = match (&self.openmp, team) {
            (Some(runtime), Team::One) => openmp::for_one_thread(module, &runtime.one, symbol),
            (Some(runtime), Team::Many) => openmp::for_many_threads(module, &runtime.many, symbol),
            _ => Ok(()),
        };
        lowered.map_err(|refusal| self.refuse(refusal))
    }

    /// A module with the derivative entry points, ready for Enzyme, and remarks. Of an OpenMP program reverse mode
    /// differentiates another form than forward mode does.
    fn derive(&mut self, job: &Derive<'_>, entries: &[Entry]) -> Result<(Module<'ctx>, Notes)> {
        let mut notes = Notes::default();
        let parts: Vec<(Vec<Entry>, Team)> = if !self.uses_openmp()? {
            vec![(entries.to_vec(), Team::None)]
        } else if job.pipeline == Pipeline::Serial
            || entries.contains(&Entry::Hvp)
            || self.openmp.as_ref().is_some_and(|runtime| runtime.is_for_one)
        {
            vec![(entries.to_vec(), Team::One)]
        } else if checkpoint::is_used(self.module()?) {
            notes.remarks.push("parallel regions are reversed by one thread: a loop is checkpointed".to_owned());
            vec![(entries.to_vec(), Team::One)]
        } else if self.has_rules(job)? {
            notes.remarks.push("parallel regions are reversed by one thread: there are custom derivatives".to_owned());
            vec![(entries.to_vec(), Team::One)]
        } else {
            let (reverse, forward) = entries.iter().partition(|e| **e == Entry::Vjp);
            vec![(reverse, Team::Many), (forward, Team::One)]
        };
        let mut all: Option<Module<'ctx>> = None;
        for (entries, team) in parts.iter().filter(|(entries, _)| !entries.is_empty()) {
            let module = self.derive_part(job, entries, *team, &mut notes)?;
            match &all {
                None => all = Some(module),
                Some(first) => first.link_in_module(module).map_err(|e| e.to_string())?,
            }
        }
        Ok((all.ok_or("no entry points are wanted")?, notes))
    }

    fn has_rules(&mut self, job: &Derive<'_>) -> Result<bool> {
        let module = self.module()?.clone();
        let (given, _) = self.collect_rules(&module, job.derivatives)?;
        Ok(given.iter().any(|rule| !job.ignored.contains(&rules::text(rule.function.get_name()))))
    }

    fn derive_part(
        &mut self,
        job: &Derive<'_>,
        entries: &[Entry],
        team: Team,
        notes: &mut Notes,
    ) -> Result<Module<'ctx>> {
        let before = notes.clone();
        let module = self.prepare(job, entries, team, notes)?;
        let read = entry::read_back(&module, job.write_only);
        if read.is_empty() {
            return Ok(module);
        }
        *notes = before;
        let write_only: Vec<usize> = job.write_only.iter().filter(|i| !read.contains(i)).copied().collect();
        self.prepare(&Derive { write_only: &write_only, ..*job }, entries, team, notes)
    }

    /// The code as Enzyme gets it.
    fn prepare(&mut self, job: &Derive<'_>, entries: &[Entry], team: Team, notes: &mut Notes) -> Result<Module<'ctx>> {
        let before = notes.clone();
        let counts_paths = team != Team::Many && !job.kernel;
        let module = self.user_code(job.symbol, job.kernel)?;
        rules::solvers::replace(&module, job.solvers)?;
        rules::lapack::enter(&module, job.symbol)?;
        cuda_threads::check_entries(&module, entries)?;
        let (mut given, declared_inactive) = self.collect_rules(&module, job.derivatives)?;
        given.retain(|rule| !job.ignored.contains(&rules::text(rule.function.get_name())));
        crash_trace::step("replacing what runs threads");
        // Only a derivative that no other thread or process waits for stops at checks.
        if team == Team::None && !job.kernel && job.without_threads {
            notes.threads = thread_starts::leave_out(&module, job.symbol).or(notes.threads.take());
        }
        lowering::library_calls::replace_exponents(&module)?;
        if counts_paths {
            lowering::library_calls::replace(&module)?;
        }
        self.lower_openmp(&module, team, given.is_empty().then_some(job.symbol))?;
        let parts_of_rules = rules::parts(&given);
        let inactive = [rules::inactive::symbols(&module, job.inactive), declared_inactive].concat();
        let inactive = pipelines::drop_unreachable(&module, job.symbol, &parts_of_rules, inactive)?;
        self.apart = rules::lapack::take_apart(&module, &self.drivers)?;
        self.apart.iter().try_for_each(fortran_runtime::silence)?;
        crash_trace::step("making calls direct");
        indirect_calls::make_direct(&module, job.pipeline.is_apart())?;
        crash_trace::step("building entry points");
        let wrapper = entry::wrapper(&module, job.symbol, job.plan, Some(job.write_only), &job.codegen.constants)?;
        fortran_runtime::silence(&module)?;
        self.installed = rules::install(&module, &given)?;
        for entry in entries {
            let has_rules = !given.is_empty();
            entry::derivative(&module, *entry, wrapper, job.plan, job.mask, job.write_only, has_rules)?;
        }
        rules::inactive::mark(&module, &inactive)?;
        rules::inactive::mark_text(&module)?;
        notes.remarks.extend(rules::newton_matrices::mark(&module, job.symbol)?);
        if job.pipeline == Pipeline::Typed {
            local_types::run(&module);
        }
        linkage::keep_only(&module, entries);
        rules::keep(&module, &self.installed);
        let copies_allocatables = fortran_runtime::uses_rules(&module);
        copy_types::note_characters(&module);
        if copies_allocatables {
            lowering::descriptors::run(&module);
            pipelines::resolve_descriptors(&module)?;
            // Again where the type shows only then: that of one object may be a component of another.
            for _ in 0..MOST_NESTED {
                if derived_types::run(&module)? {
                    pipelines::resolve_descriptors(&module)?;
                }
            }
            if fortran_runtime::refuses(&module) {
                return Err(self.refuse(fortran_runtime::refusal(&module, job.symbol)));
            }
        }
        let checkpoints = checkpoint::is_used(&module);
        if job.lines || checkpoints || team != Team::Many {
            debug_info::reduce(&module, job.lines || checkpoints)?;
        }
        let with_loops;
        let mut around = pipeline::Job {
            entries,
            plan: Some((job.plan, job.mask)),
            pipeline: Some(job.pipeline),
            parts_of_rules: &parts_of_rules,
            copies_allocatables,
            arena: job.arena,
            counts_paths,
            one_thread: counts_paths,
            codegen: job.codegen,
            skipped: pipeline::Skipped::default(),
        };
        lowering::trampolines::shared(&module, || pipeline::run(pipeline::PREPARE, &module, &around))?;
        if checkpoints {
            crash_trace::step("outlining checkpointed loops");
            let done = checkpoint::install(&module, job.plan, entries, &parts_of_rules)?;
            let (installed, parts) = done.map_err(|refusal| self.refuse(refusal))?;
            self.installed.extend(installed);
            with_loops = [&parts_of_rules[..], &parts].concat();
            around.parts_of_rules = &with_loops;
        }
        if team == Team::Many {
            pipelines::before_differentiation(&module, Pipeline::O1)?;
            notes.remarks.extend(openmp::regions(&module)?);
            debug_info::strip_unless(job.lines, &module);
        }
        pipelines::inline(&module, job.pipeline)?;
        if job.codegen.runs(zero_stores::NAME) {
            // Once more: the split of a structure makes stores without marks.
            zero_stores::mark(&module);
        }
        pipelines::before_differentiation(&module, job.pipeline)?;
        zero_stores::unmark(&module);
        if job.pipeline.is_guarded() || lowering::guards::comes_first(&module, job.pipeline) {
            lowering::guards::run(&module, pipeline::second_order(&module, &around));
        }
        notes.tests_equality |= around.counts_paths && equality_tests::any(&module);
        let by_values = notes.add_paths(value_paths::record(&module));
        around.counts_paths &= by_values
            || zero_roots::any(&module, pipeline::second_order(&module, &around))
            || notes.threads.is_some()
            || lowering::zero_powers::any(&module);
        debug_info::strip_unless(job.lines, &module);
        pipeline::run(pipeline::BEFORE_ENZYME, &module, &around)?;
        if job.pipeline.is_generic() {
            // Behind the markers of paths, which keep the program's conditions.
            equality_tests::run(&module);
        }
        if notes.threads.is_some() && thread_starts::must_be_refused(&module) {
            *notes = before;
            return self.prepare(&Derive { without_threads: false, ..*job }, entries, team, notes);
        }
        notes.skipped.extend(around.skipped.notes());
        Ok(module)
    }

    fn load(&mut self, paths: &[PathBuf], renamed: &[(String, String)], library: &[PathBuf]) -> Result<()> {
        let mut linked: Option<Module<'ctx>> = None;
        for path in paths {
            let module = self.read(path)?;
            match &linked {
                None => linked = Some(module),
                Some(all) => all.link_in_module(module).map_err(|e| e.to_string())?,
            }
        }
        let module = linked.ok_or("no modules were given")?;
        variable_types::merge(&module);
        constant_objects::note(&module);
        declared_types::note(&module);
        debug_info::trim_units(&module);
        // The rules for flang's runtime are for derivatives; the primal calls the runtime itself.
        let (for_fortran, others): (Vec<_>, Vec<_>) =
            renamed.iter().cloned().partition(|(_, new)| fortran_runtime::is_rule(new));
        linkage::rename_declarations(&module, &others);
        self.drivers = rules::lapack::call_rules(&module, &others);
        let plain = (!for_fortran.is_empty()).then(|| module.clone());
        linkage::rename_declarations(&module, &for_fortran);
        known_ranks::run(&module);
        for each in std::iter::once(&module).chain(&plain) {
            for path in library {
                each.link_in_module(self.read(path)?).map_err(|e| e.to_string())?;
            }
            linkage::trim_arguments(each);
            lowering::trampolines::run(each);
        }
        (self.module, self.plain, self.has_lines) = (Some(module), plain, true);
        Ok(())
    }

    fn loaded(&self) -> Result<Response> {
        let module = self.module()?;
        Ok(Response::Loaded {
            functions: linkage::defined(module),
            undefined: linkage::undefined(module),
            drivers: rules::lapack::bodies(module),
        })
    }

    fn collect_rules(
        &mut self,
        module: &Module<'ctx>,
        derivatives: &[Derivative],
    ) -> Result<(Vec<rules::Rule<'ctx>>, Vec<String>)> {
        rules::collect(module, derivatives).map_err(|refusal| self.refuse(refusal))
    }

    /// Bitcode, or the textual IR of a device made the machine's own.
    fn read(&self, path: &Path) -> Result<Module<'ctx>> {
        if path.extension().is_some_and(|e| e == "ll") {
            let module = self.read_ir(path)?;
            codegen::lay_out(&module, &codegen::generic_machine()?);
            return Ok(module);
        }
        Module::parse_bitcode_from_path(path, self.context)
            .map_err(|e| format!("{}: {}", path.display(), e.to_string()))
    }

    fn read_ir(&self, path: &Path) -> Result<Module<'ctx>> {
        let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
        let buffer = MemoryBuffer::create_from_memory_range_copy(linkage::with_mpi_handles(&text).as_bytes(), "after");
        self.context.create_module_from_ir(buffer).map_err(|e| e.to_string())
    }
}

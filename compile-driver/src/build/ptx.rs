//! Builds a kernel's entry points as PTX.
//!
//! ```text
//! k.cu ─ clang 15 ─ core-ad: entry points ─ opt 15 with Enzyme ─ core-ad: libdevice's names ─ clang 15 ─ k.ptx ─ ptxas
//! ```
//!
//! No GPU is needed: ptxas only checks the PTX, for a current GPU, and reports its resources. The driver of the GPU that
//! runs it compiles it for itself.

use crate::build::enzyme::{self, Job};
use crate::build::frontend::clang;
use crate::build::frontend::compiler;
use crate::build::frontend::cuda;
use crate::build::frontend::host_code;
use crate::build::frontend::language::Language;
use crate::cache::{self, Cache};
use crate::error::{Error, Result};
use crate::gpu::errors::Kernel;
use crate::gpu::ptx::{FILE, Ptx, PtxRequest};
use crate::options::Spec;
use crate::os::process;
use crate::source_text;
use crate::toolchain::CudaTools;
use crate::toolchain::toolkit::CHECKED_FOR;
use core_ad::cuda::{back_end, device};
use core_ad::diagnostics::Diagnosis;
use core_ad::manifest::{ArtifactRecord, FORMAT, Manifest};
use core_ad::plan::{Part, Slot};
use core_ad::protocol::{Entry, Pipeline};
use core_ad::{Access, CallPlan, Role};
use std::fs;
use std::path::{Path, PathBuf};

/// Builds the PTX, or takes it from the cache. On a machine without the tools, one that was built with others will do.
///
/// # Errors
///
/// Toolchain errors where the tools for GPUs are not installed, compile and differentiation errors, a device error for
/// a kernel that no GPU can hold.
pub fn build(spec: &Spec, manifest: &Manifest, cache: &Cache, wanted: &PtxRequest) -> Result<Ptx> {
    let entry = cache.entry(&manifest.key);
    let tools = match CudaTools::find() {
        Ok(tools) => tools,
        Err(missing) => return of_others(&entry, wanted).ok_or_else(|| missing.into()),
    };
    let folder = entry.join(format!("ptx-{}-{}", tools.identity, wanted.name()));
    if let Some(found) = read(&folder) {
        return Ok(found);
    }
    let _lock = cache.lock(&format!("{}-{}", manifest.key, wanted.name()))?;
    if let Some(found) = read(&folder) {
        return Ok(found);
    }
    let staging = cache.staging()?;
    let job = Build { spec, cache, manifest, wanted, tools: &tools, folder: staging.path() };
    let record = job.run()?;
    cache::write_json(&staging.path().join("artifact.json"), &record)?;
    cache.publish_unless(staging, &folder, |there| read(there).is_some())?;
    read(&folder).ok_or_else(|| {
        let reason = "it was removed while in use".to_owned();
        crate::error::CacheError::Damaged { path: folder, reason }.into()
    })
}

/// What any tools made of it.
fn of_others(entry: &Path, wanted: &PtxRequest) -> Option<Ptx> {
    let ending = format!("-{}", wanted.name());
    let ours = |name: &str| name.starts_with("ptx-") && name.ends_with(&ending);
    let mut folders: Vec<PathBuf> = fs::read_dir(entry).ok()?.flatten().map(|e| e.path()).collect();
    folders.retain(|f| f.file_name().and_then(|n| n.to_str()).is_some_and(ours));
    folders.sort();
    folders.iter().find_map(|folder| read(folder))
}

/// What a folder has, if it is whole.
pub fn read(folder: &Path) -> Option<Ptx> {
    let record: ArtifactRecord = cache::read_json(&folder.join("artifact.json"))?;
    let path = folder.join(&record.file);
    let intact = record.format == FORMAT && cache::digest_file(&path).is_ok_and(|d| d == record.digest);
    let text = intact.then(|| fs::read_to_string(&path).ok()).flatten()?;
    Some(Ptx { folder: folder.to_owned(), text, needs: record.diagnostics })
}

struct Build<'a> {
    spec: &'a Spec,
    cache: &'a Cache,
    manifest: &'a Manifest,
    wanted: &'a PtxRequest,
    tools: &'a CudaTools,
    folder: &'a Path,
}

impl Build<'_> {
    fn run(&self) -> Result<ArtifactRecord> {
        let mut commands = Vec::new();
        let source = self.front_end(&mut commands)?;
        self.check_entries(&source)?;
        let ptx = self.folder.join(FILE);
        let params = self.manifest.prototype.params.iter().enumerate();
        let write_only: Vec<usize> = params.filter(|(_, p)| p.access == Some(Access::Write)).map(|(i, _)| i).collect();
        self.generate(&source, &write_only, &ptx, &mut commands)?;
        if !write_only.is_empty() && touches(&read_text(&ptx)?, &self.manifest.plan, self.wanted, &write_only) {
            self.generate(&source, &[], &ptx, &mut commands)?;
        }
        let needs = self.check(&ptx, &mut commands)?;
        Ok(ArtifactRecord {
            format: FORMAT,
            file: FILE.to_owned(),
            kind: "ptx".to_owned(),
            digest: cache::digest_file(&ptx)?,
            object: None,
            entries: self.wanted.entries.clone(),
            mask: self.wanted.mask,
            pipeline: Some(self.wanted.pipeline),
            diagnostics: needs,
            skipped: Vec::new(),
            paths: None,
            tests_equality: false,
            threads: None,
            untyped_memory: false,
            equations: Vec::new(),
            commands,
        })
    }

    /// Writes the PTX. Of outputs that are `write_only` Enzyme drops the stores in derivatives.
    fn generate(&self, source: &str, write_only: &[usize], ptx: &Path, commands: &mut Vec<String>) -> Result<()> {
        let (before, after) = (self.folder.join("before.ll"), self.folder.join("after.ll"));
        let job = device::Job {
            symbol: &self.manifest.prototype.symbol,
            plan: &self.manifest.plan,
            mask: self.wanted.mask,
            write_only,
            entries: &self.wanted.entries,
            shared: self.wanted.shared,
            batched: self.wanted.batched,
        };
        write(&before, &device::with_entries(source, &job))?;
        commands.push(self.differentiate(&before, &after)?);
        let final_ir = self.folder.join("final.ll");
        write(&final_ir, &back_end::for_back_end(&read_text(&after)?))?;
        self.back_end(&final_ir, ptx, commands)
    }

    fn front_end(&self, commands: &mut Vec<String>) -> Result<String> {
        let spec = self.spec;
        let [source] = spec.sources.as_slice() else {
            let headline =
                format!("`{}` has {} source files; for a GPU there can be one", spec.function, spec.sources.len());
            return Err(Error::compile(
                Diagnosis::new("several-sources", &spec.function, headline).advise("Include the others in it."),
            ));
        };
        let unit = clang::translation_unit(spec, source, Language::Cuda, self.folder, 0)?;
        let output = self.folder.join("source.ll");
        let mut command = self.tools.command(&self.tools.clang);
        command.args(&self.tools.clang_flags);
        cuda::common(&mut command, spec, &cuda::headers(self.cache)?, &self.wanted.arch);
        compiler::user_flags(&mut command, spec, Language::Cuda);
        command.args(["-S", "-emit-llvm", "-o"]).arg(&output).arg(unit);
        let (_, left_out) = host_code::compile(spec, &mut command, &self.folder.join("source"))?;
        commands.push(process::command_line(&command));
        let source = cuda::with_constants(spec, &read_text(&output)?)?;
        match left_out.used_by(spec, &source, &self.manifest.prototype.symbol) {
            Some(error) => Err(error),
            None => Ok(source),
        }
    }

    /// The conditions for second derivatives; the CPU as a device has the same.
    fn check_entries(&self, source: &str) -> Result<()> {
        let second = self.wanted.entries.iter().any(|e| matches!(e, Entry::Hvp | Entry::Jvp2));
        if !second || !source.lines().any(|l| l.starts_with('@') && l.contains(" addrspace(3) ")) {
            return Ok(());
        }
        let headline = format!("`{}`: {}", self.spec.function, core_ad::cuda::NO_SECOND);
        let diagnosis = Kernel::of(self.spec, self.manifest).diagnosis("shared-memory-twice", headline);
        Err(Error::Differentiation(Box::new(diagnosis.advise("Take first derivatives, or differences of them."))))
    }

    fn differentiate(&self, before: &Path, after: &Path) -> Result<String> {
        let spec = self.spec;
        let pipeline = if self.wanted.pipeline == Pipeline::O2 { "default<O2>" } else { "default<O1>" };
        let done = enzyme::for_device(self.tools, pipeline).differentiate(&Job {
            function: &spec.function,
            input: before,
            output: after,
            math: self.manifest.math,
            options: &spec.options.engine_options,
            loose_types: self.wanted.pipeline == Pipeline::Loose || spec.options.loose_types,
            may_give_up: false,
            may_be_untyped: false,
            is_first_order: false,
            timeout: spec.options.time_limit(),
            limit: spec.options.time_limit(),
        });
        done.map(|d| d.command).map_err(|error| match error {
            Error::Differentiation(mut diagnosis) => {
                diagnosis.location = diagnosis.location.take().map(source_text::with_text);
                Error::Differentiation(diagnosis)
            }
            other => other,
        })
    }

    fn back_end(&self, ir: &Path, ptx: &Path, commands: &mut Vec<String>) -> Result<()> {
        let linked = self.folder.join("linked.bc");
        let mut command = self.tools.command(&self.tools.llvm_link);
        command.args(["--internalize", "--only-needed", "--suppress-warnings"]);
        command.arg(ir).arg(&self.tools.libdevice).arg("-o").arg(&linked);
        commands.push(process::command_line(&command));
        compiler::execute(self.spec, &mut command)?;
        let mut command = self.tools.command(&self.tools.clang);
        command.args(["-x", "ir", "--target=nvptx64-nvidia-cuda", "-nocudalib", "-O3", "-S"]);
        for flag in ["-target-cpu", &self.wanted.arch, "-target-feature", "+ptx75"] {
            command.args(["-Xclang", flag]);
        }
        command.arg("-Wno-override-module").arg("-o").arg(ptx).arg(&linked);
        commands.push(process::command_line(&command));
        compiler::execute(self.spec, &mut command)
    }

    /// Has ptxas assemble the PTX, and returns its report of registers and memory.
    fn check(&self, ptx: &Path, commands: &mut Vec<String>) -> Result<Vec<String>> {
        let function = &self.spec.function;
        let mut command = std::process::Command::new(&self.tools.ptxas);
        command.args(["-v", &format!("-arch={CHECKED_FOR}"), "-o", "/dev/null"]).arg(ptx);
        commands.push(process::command_line(&command));
        let timeout = self.spec.options.time_limit();
        let device = |code: &str, headline: String| Kernel::of(self.spec, self.manifest).diagnosis(code, headline);
        let unfinished = |e: process::ProcessError| {
            Error::Device(Box::new(device("ptxas", format!("ptxas did not finish on `{function}`: {e}"))))
        };
        let output = process::run(&mut command, None, timeout).map_err(|e| Error::of_child(e, function, unfinished))?;
        let printed = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        if output.status.success() {
            let wanted = |l: &&str| l.contains("Used ") || l.contains("stack frame") || l.contains("Compiling entry");
            return Ok(printed
                .lines()
                .filter(wanted)
                .map(|l| l.trim_start_matches("ptxas info    :").trim().to_owned())
                .collect());
        }
        let diagnosis = match printed.contains("too much shared data") {
            true => device(
                "shared-memory",
                format!("`{function}` and its derivative need more shared memory than a block has"),
            )
            .advise("The shadow of shared memory is as large as shared memory itself: a gradient needs twice as much.")
            .advise(format!("Use smaller tiles, or a smaller `shared` (here {} bytes).", self.wanted.shared)),
            false => device("ptxas", format!("the GPU's assembler refused the code of `{function}`"))
                .advise("This is a bug of ffgrad: please report it with the source."),
        };
        let shown: Vec<&str> = printed.lines().filter(|l| l.contains("error") || l.contains("fatal")).take(8).collect();
        Err(Error::Device(Box::new(diagnosis.quote(shown.join("\n")))))
    }
}

/// Whether a derivative touches the values of outputs whose stores Enzyme has dropped: it would read what was there before. That they are
/// only written is known of code that another LLVM has optimised, for the CPU.
fn touches(ptx: &str, plan: &CallPlan, wanted: &PtxRequest, write_only: &[usize]) -> bool {
    let is_dropped = |slot: &Slot| {
        slot.part == Part::Primal
            && plan.args[slot.arg].role == Role::Output
            && write_only.contains(&slot.arg)
            && plan.has_shadow(slot.arg, wanted.mask)
    };
    wanted.entries.iter().filter(|entry| **entry != Entry::Primal).any(|&entry| {
        let mut slots = plan.slots(entry, wanted.mask).enumerate().filter(|(_, slot)| is_dropped(slot));
        slots.any(|(i, _)| ptx.contains(&format!("[{}_param_{i}]", entry.symbol())))
    })
}

fn read_text(path: &Path) -> Result<String> {
    Ok(fs::read_to_string(path).map_err(cache::io("read", path))?)
}

fn write(path: &Path, text: &str) -> Result<()> {
    Ok(fs::write(path, text).map_err(cache::io("write", path))?)
}

//! The front ends: from source files in C, C++, Fortran or CUDA to unoptimised LLVM bitcode with debug information.
//!
//! A source is compiled once, without optimisation but with everything optimisation needs (type-based aliasing,
//! lifetimes); each pipeline optimises that bitcode by itself.

pub mod adapter;
pub mod clang;
pub mod compiler;
pub mod cuda;
pub mod flang;
pub mod flang_calls;
mod hints;
pub mod host_code;
pub mod inputs;
pub mod language;

use crate::build::frontend::adapter::Adapter;
use crate::build::mpi;
use crate::build::openmp;
use crate::build::rules::bundled;
use crate::cache::Cache;
use crate::error::Result;
use crate::options::Spec;
use crate::os::process;
use crate::toolchain::Tools;
use host_code::LeftOut;
use inputs::{Inputs, SearchList};
use language::{Compiled, Language, Part};
use std::path::{Path, PathBuf};

/// Compiles every source into `staging`. `all_declarations` also emits functions that nothing in the
/// source uses (inline and static ones). `headers` has `ffgrad/derivatives.h`. `adapter` is compiled in place of the source that it
/// includes.
pub fn compile(
    tools: &Tools,
    spec: &Spec,
    cache: &Cache,
    staging: &Path,
    headers: &Path,
    all_declarations: bool,
    adapter: Option<&Adapter>,
) -> Result<Compiled> {
    let mut result = Compiled::default();
    flang::compile(tools, spec, headers, staging, &mut result)?;
    for (i, source) in spec.sources.iter().enumerate() {
        let language = Language::of(source, &spec.function)?;
        if language == Language::Fortran {
            continue;
        }
        let unit = match adapter.filter(|adapter| adapter.source == i) {
            Some(adapter) => adapter.unit.clone(),
            None => clang::translation_unit(spec, source, language, staging, i)?,
        };
        let job = ClangJob { tools, spec, cache, headers, all_declarations, folders: &[] };
        result.add(job.compile(&unit, language, staging, i)?);
    }
    result.dependencies.extend(result.inputs.files.iter().cloned());
    result.dependencies.sort();
    result.dependencies.dedup();
    Ok(result)
}

/// How clang compiles the sources of a build.
pub struct ClangJob<'a> {
    /// The tools.
    pub tools: &'a Tools,
    /// The user's wishes.
    pub spec: &'a Spec,
    /// The store.
    pub cache: &'a Cache,
    /// The folder of ffgrad's own headers.
    pub headers: &'a Path,
    /// Emit functions that nothing in the source uses.
    pub all_declarations: bool,
    /// Folders for headers that are nowhere else.
    pub folders: &'a [PathBuf],
}

impl ClangJob<'_> {
    /// Compiles one source to the module of the given number in `staging`.
    ///
    /// # Errors
    ///
    /// Compile errors with clang's words.
    pub fn compile(&self, unit: &Path, language: Language, staging: &Path, number: usize) -> Result<Part> {
        let ClangJob { tools, spec, cache, headers, .. } = *self;
        let on_device = language == Language::Cuda;
        let module = staging.join(format!("source{number}.{}", if on_device { "ll" } else { "bc" }));
        let deps = staging.join(format!("source{number}.d"));
        let mut command =
            if on_device { cuda::clang(tools, spec, cache)? } else { clang::command(tools, spec, language) };
        command.arg("-idirafter").arg(headers);
        if language == Language::Cpp {
            command.arg("-isystem").arg(headers.join(bundled::BEFORE_STDCXX));
            command.args(clang::before_libraries(spec, headers).iter().map(|folder| format!("-I{}", folder.display())));
        }
        compiler::user_flags(&mut command, spec, language);
        if language != Language::Cuda {
            command.args(openmp::header_flags(&spec.options, headers));
        }
        for folder in self.folders {
            command.arg("-idirafter").arg(folder);
        }
        command.args(mpi::wanted(&spec.options)?.into_iter().flat_map(|mpi| mpi.compile));
        if self.all_declarations {
            command.args(["-Xclang", "-femit-all-decls"]);
        }
        command.args(language::as_source(unit, language));
        let form = if on_device { "-S" } else { "-c" };
        command.args([form, "-emit-llvm", "-MD", "-MF"]).arg(&deps).arg("-o").arg(&module).arg(unit);
        let (printed, left_out) = if on_device {
            let compiled = host_code::compile(spec, &mut command, &staging.join(format!("source{number}")))?;
            cuda::make_host(spec, &module, number)?;
            compiled
        } else {
            (compiler::execute_aloud(spec, &mut command)?, LeftOut::default())
        };
        let line = process::command_line(&command);
        let read = compiler::read_dependencies(&deps, staging);
        let inputs = match SearchList::parse(&printed) {
            Some(list) => Inputs::of_clang(spec, &list, &read),
            None => Inputs { open_ended: true, ..Inputs::default() },
        };
        Ok(Part { module, command: line, read, inputs, left_out })
    }
}

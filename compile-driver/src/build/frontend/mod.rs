//! The front ends: from source files in C, C++, Fortran or CUDA to unoptimised LLVM bitcode with debug information.
//!
//! A source is compiled once, without optimisation but with everything optimisation needs (type-based aliasing,
//! lifetimes); each pipeline optimises that bitcode by itself.

pub mod adapter;
pub mod clang;
pub mod compiler;
pub mod cuda;
pub mod flang;
pub mod host_code;
pub mod inputs;
pub mod language;

use crate::build::frontend::adapter::Adapter;
use crate::build::mpi;
use crate::build::rules::bundled;
use crate::cache::Cache;
use crate::error::Result;
use crate::options::Spec;
use crate::os::process;
use crate::toolchain::Tools;
use inputs::{Inputs, SearchList};
use language::{Compiled, Language};
use std::path::Path;

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
        let on_device = language == Language::Cuda;
        let module = staging.join(format!("source{i}.{}", if on_device { "ll" } else { "bc" }));
        let deps = staging.join(format!("source{i}.d"));
        let unit = match adapter.filter(|adapter| adapter.source == i) {
            Some(adapter) => adapter.unit.clone(),
            None => clang::translation_unit(spec, source, language, staging, i)?,
        };
        let mut command =
            if on_device { cuda::clang(tools, spec, cache)? } else { clang::command(tools, spec, language) };
        command.arg("-idirafter").arg(headers);
        if language == Language::Cpp {
            command.arg("-isystem").arg(headers.join(bundled::BEFORE_STDCXX));
        }
        compiler::user_flags(&mut command, spec);
        command.args(mpi::wanted(&spec.options)?.into_iter().flat_map(|mpi| mpi.compile));
        if all_declarations {
            command.args(["-Xclang", "-femit-all-decls"]);
        }
        command.args(language::as_source(&unit, language));
        let form = if on_device { "-S" } else { "-c" };
        command.args([form, "-emit-llvm", "-MD", "-MF"]).arg(&deps).arg("-o").arg(&module).arg(&unit);
        let printed = if on_device {
            let (printed, left_out) = host_code::compile(spec, &mut command, &staging.join(format!("source{i}")))?;
            result.left_out.extend(left_out);
            cuda::make_host(spec, &module, i)?;
            printed
        } else {
            compiler::execute_aloud(spec, &mut command)?
        };
        result.commands.push(process::command_line(&command));
        let read = compiler::read_dependencies(&deps, staging);
        match SearchList::parse(&printed) {
            Some(list) => result.inputs.extend(Inputs::of_clang(spec, &list, &read)),
            None => result.inputs.open_ended = true,
        }
        result.dependencies.extend(read);
        result.modules.push(module);
    }
    result.dependencies.extend(result.inputs.files.iter().cloned());
    result.dependencies.sort();
    result.dependencies.dedup();
    Ok(result)
}

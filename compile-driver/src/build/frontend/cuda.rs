//! The CUDA front end: clang, from a `.cu` file to textual IR.
//!
//! clang compiles the device's side alone, with ffgrad's header (`runtime/cuda/ffgrad_cuda.h`) included first. No CUDA
//! installation takes part: the headers that a source names (`cuda_runtime.h` and its kin) are empty ones of ours.

use crate::build::frontend::language::Compiled;
use crate::cache::{self, Cache};
use crate::error::{Error, Result};
use crate::options::{self, Spec};
use crate::source_text;
use crate::toolchain::Tools;
use core_ad::cuda::constants;
use core_ad::cuda::host::{self, Unsupported};
use core_ad::diagnostics::{Diagnosis, Location};
use core_ad::protocol::Math;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The header that stands before every `.cu` file.
pub const HEADER: &str = include_str!("../../../runtime/cuda/ffgrad_cuda.h");

/// Headers that sources of this kind include by habit; the one above has what is in them.
const EMPTY: [&str; 10] = [
    "cuda.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "cuda_device_runtime_api.h",
    "device_launch_parameters.h",
    "device_functions.h",
    "math_functions.h",
    "math_constants.h",
    "vector_types.h",
    "vector_functions.h",
];

/// The folder with these headers, written once.
///
/// # Errors
///
/// Cache errors.
pub fn headers(cache: &Cache) -> Result<PathBuf> {
    let digest = blake3::hash(HEADER.as_bytes()).to_hex();
    let folder = cache.root().join("runtime").join(format!("cuda-{}", &digest[..16]));
    if cache::contents::is_whole(&folder) {
        return Ok(folder);
    }
    let staging = cache.staging()?;
    let write = |name: &str, text: &str| {
        let path = staging.path().join(name);
        fs::write(&path, text).map_err(cache::io("write", &path))
    };
    for name in EMPTY {
        write(name, "/* ffgrad_cuda.h, which is included already, has what a kernel needs of this. */\n")?;
    }
    write("ffgrad_cuda.h", HEADER)?;
    cache::contents::publish(cache, staging, &folder)?;
    Ok(folder)
}

/// The command that compiles for the CPU as a device; the output's name and the source are still missing.
pub fn clang(tools: &Tools, spec: &Spec, cache: &Cache) -> Result<Command> {
    let mut command = Command::new(&tools.clangxx.path);
    command.arg("-DFFGRAD_CPU_DEVICE");
    common(&mut command, spec, &headers(cache)?, "sm_80");
    command.args(&tools.stdlib_flags);
    Ok(command)
}

/// Flags of both devices' compilers.
pub fn common(command: &mut Command, spec: &Spec, headers: &Path, arch: &str) {
    command.args([
        "-x",
        "cuda",
        "--cuda-device-only",
        "-nocudainc",
        "-nocudalib",
        "-Wno-unknown-cuda-version",
        "-Wno-register",
    ]);
    command.arg(format!("--cuda-gpu-arch={arch}"));
    command.arg("-include").arg(headers.join("ffgrad_cuda.h")).arg("-isystem").arg(headers);
    command.args(["-O2", "-g", "-Xclang", "-disable-llvm-passes", "-fno-discard-value-names"]);
    // For a GPU clang keeps line numbers only, unless a cc1 option asks for more.
    command.args(["-Xclang", "-debug-info-kind=limited"]);
    command.args(["-fno-math-errno", "-fno-color-diagnostics", "-fno-exceptions"]);
    command.arg(match spec.options.math {
        Math::Strict => "-ffp-contract=off",
        Math::Contract => "-ffp-contract=on",
        Math::Fast => "-ffast-math",
    });
}

/// The explicit instantiation of a template, kernel or device function: `template __global__ decltype(k<float>) k<float>;`.
pub fn instance(source: &Path, name: &str) -> String {
    let text = fs::read_to_string(source).unwrap_or_default();
    let space = if is_device_function(&text, name) { "__device__" } else { "__global__" };
    format!("template {space} decltype({name}) {name};")
}

/// Whether the source declares the template as a device function; what it does not declare (a header does) counts as a kernel.
fn is_device_function(source: &str, name: &str) -> bool {
    let bare = name.split('<').next().unwrap_or(name);
    let bare = bare.rsplit("::").next().unwrap_or(bare).trim();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    source.match_indices(bare).any(|(at, _)| {
        let rest = source[at + bare.len()..].trim_start();
        let head = &source[..at];
        let begin = head.rfind([';', '{', '}']).map_or(0, |end| end + 1);
        rest.starts_with('(') && !head.ends_with(is_word) && head[begin..].contains("__device__")
    })
}

/// Rewrites clang's output for the machine, in place.
///
/// # Errors
///
/// A compile error with the line of what only a GPU has.
pub fn make_host(spec: &Spec, ir: &Path, number: usize) -> Result<()> {
    let text = fs::read_to_string(ir).map_err(cache::io("read", ir))?;
    let text = with_constants(spec, &text)?;
    let constants: String = constants::names(&text).into_iter().map(|name| format!("\n{CONSTANT}{name}")).collect();
    let text = host::from_device(&text, number).map_err(|found| unsupported(spec, found))?;
    Ok(fs::write(ir, text + &constants + "\n").map_err(cache::io("write", ir))?)
}

/// Begins the comments of a module that name what was constant memory in it.
const CONSTANT: &str = "; constant memory: ";

/// Refuses the option `constants` where no source has constant memory.
///
/// # Errors
///
/// A compile error with what to give instead.
pub fn check_constants(spec: &Spec) -> Result<()> {
    if spec.options.constants.is_empty() || spec.sources.iter().any(|source| options::is_cuda(source)) {
        return Ok(());
    }
    let headline = "`constants` are the `__constant__` variables of CUDA kernels, in .cu files".to_owned();
    Err(Error::compile(Diagnosis::new("constant-memory", &spec.function, headline).advise(
        "An input's value is given in the call, or by `buffers` of `EnzymeModule`; a dimension's by `sizes`; a macro's by `defines`.",
    )))
}

/// Gives constant memory the values of the option `constants`.
///
/// # Errors
///
/// A compile error where a value does not fit.
pub fn with_constants(spec: &Spec, ir: &str) -> Result<String> {
    if spec.options.constants.is_empty() {
        return Ok(ir.to_owned());
    }
    let (text, _) = constants::with_values(ir, &spec.options.constants)
        .map_err(|reason| refused_constant(spec, format!("constant memory {reason}")))?;
    Ok(text)
}

/// Refuses a name in the option `constants` that no source has.
///
/// # Errors
///
/// A compile error with the names that there are.
pub fn check_names(spec: &Spec, compiled: &Compiled) -> Result<()> {
    let mut known: Vec<String> = Vec::new();
    for module in device_modules(compiled) {
        let ir = fs::read_to_string(module).map_err(cache::io("read", module))?;
        known.extend(ir.lines().filter_map(|line| line.strip_prefix(CONSTANT)).map(str::to_owned));
    }
    let unknown = |name: &&String| !known.iter().any(|symbol| constants::is_of(symbol, name));
    let Some(name) = spec.options.constants.keys().find(unknown) else { return Ok(()) };
    let sources = source_text::names(spec);
    let headline = format!("`{name}` is no `__constant__` variable that the kernels of `{sources}` use");
    let mut names: Vec<String> = known.iter().map(|symbol| format!("`{}`", constants::spelled(symbol))).collect();
    names.sort();
    names.dedup();
    let there_are = match names.is_empty() {
        true => "They use none.".to_owned(),
        false => format!("They use {}.", names.join(", ")),
    };
    Err(refused_constant(spec, format!("{headline}\n  {there_are}")))
}

fn refused_constant(spec: &Spec, headline: String) -> Error {
    Error::compile(Diagnosis::new("constant-memory", &spec.function, headline).advise(
        "constants={\"name\": array} gives `__constant__` variables of numbers their values, in row-major order.",
    ))
}

/// The modules of CUDA sources, which are text.
fn device_modules(compiled: &Compiled) -> impl Iterator<Item = &PathBuf> {
    compiled.modules.iter().filter(|module| module.extension().is_some_and(|e| e == "ll"))
}

/// Checks that a kernel uses nothing that was left out.
///
/// # Errors
///
/// A compile error with what clang says of what it uses.
pub fn needs_no_host_code(spec: &Spec, compiled: &Compiled, symbol: &str) -> Result<()> {
    for module in device_modules(compiled) {
        let ir = fs::read_to_string(module).map_err(cache::io("read", module))?;
        if let Some(error) = compiled.left_out.used_by(spec, &ir, symbol) {
            return Err(error);
        }
    }
    Ok(())
}

fn unsupported(spec: &Spec, found: Unsupported) -> Error {
    let headline = format!("`{}` uses {}, which the CPU as a device does not have", spec.function, found.construct);
    let mut diagnosis = Diagnosis::new("unsupported-construct", &spec.function, headline)
        .advise("`ffgrad explain cuda` lists what a kernel may use.");
    if let Some((file, line)) = found.place {
        diagnosis.location = Some(source_text::with_text(Location { file, line, column: 0, text: None }));
    }
    Error::compile(diagnosis)
}

/// The error for constant memory that only the host's code would fill.
pub fn unset_constant(spec: &Spec, name: &str) -> Error {
    let name = core_ad::names::demangle(name.trim_matches('`'));
    let name = name.rsplit("::").next().unwrap_or(&name);
    let headline = format!("`{}` reads the constant memory `{name}`, which has no value in the source", spec.function);
    let mut diagnosis = Diagnosis::new("constant-memory", &spec.function, headline)
        .advise("ffgrad never runs the host code that would copy one there.")
        .advise(format!(
            "Give it its value, constants={{\"{name}\": array}} or where it is declared, or make it a parameter of the kernel."
        ));
    diagnosis.location = declaration(spec, name);
    Error::compile(diagnosis)
}

/// Where the source first has `__constant__` and the name.
fn declaration(spec: &Spec, name: &str) -> Option<Location> {
    for source in &spec.sources {
        let text = fs::read_to_string(source).unwrap_or_default();
        let found = text.lines().position(|line| line.contains("__constant__") && line.contains(name));
        if let Some(line) = found {
            let at = Location { file: source.display().to_string(), line: line as u32 + 1, column: 0, text: None };
            return Some(source_text::with_text(at));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_instantiated_for_the_space_that_it_is_declared_in() {
        let source = "template <class T> __device__ T cube(T x) { return x; }\n\
                      template <class T> __global__ void k(T *x) { *x = cube(*x); }\n";
        assert!(is_device_function(source, "cube<double>"));
        assert!(is_device_function(source, "ns::cube<double>"));
        assert!(!is_device_function(source, "k<double>"));
        assert!(!is_device_function(source, "elsewhere<double>"));
    }
}

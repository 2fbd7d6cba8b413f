//! Sources that use MPI: include folders and flags, the header check, `mpif.h` for flang.
//!
//! The option `mpi` declares it. It adds the flags of MPI's compiler wrapper, and it makes the checks of
//! gradients collective: of a program in which one rank's inputs move another's outputs, no rank can check anything alone,
//! and a rank that called the function once more than the others would wait for ever. So the values that a check
//! compares are summed over all ranks, and all come to the same decision; whether a kept check is trusted is decided
//! together too.

use crate::build::context::Context;
use crate::error::{Error, Result};
use crate::options::{Options, Spec};
use crate::os::process;
use crate::toolchain::{self, Mpi, Tools};
use core_ad::diagnostics::Diagnosis;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const HELPER: &str = include_str!("../../runtime/mpi.c");
const FORTRAN: &str = include_str!("../../runtime/mpi_fortran.c");

/// Both, for keys.
pub const SOURCES: [&str; 2] = [HELPER, FORTRAN];

/// MPI's flags, where the function wants them.
///
/// # Errors
///
/// A toolchain error where there is no MPI.
pub fn wanted(options: &Options) -> Result<Option<Mpi>> {
    Ok(if options.mpi { Some(toolchain::mpi()?) } else { None })
}

/// Refuses a source that includes MPI's header without the option.
///
/// # Errors
///
/// A compile error.
pub fn require_option(spec: &Spec, dependencies: &[PathBuf]) -> Result<()> {
    let uses = dependencies.iter().any(|d| d.ends_with("mpi.h") || d.ends_with(FORTRAN_HEADER));
    if uses && spec.options.mpi {
        return requests_must_be_pointers(spec, dependencies);
    }
    if !uses {
        return Ok(());
    }
    let headline = format!("`{}` uses MPI, which needs the option `mpi`", spec.function);
    Err(Error::compile(
        Diagnosis::new("mpi-option", &spec.function, headline)
            .advise("Add mpi=True: gradients are then checked by all ranks together (`ffgrad explain parallel`)."),
    ))
}

/// Enzyme stores its record of a pending message in the shadow of its request, as an address. MPICH's
/// requests are integers, too small for one.
fn requests_must_be_pointers(spec: &Spec, dependencies: &[PathBuf]) -> Result<()> {
    let text = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    let small = dependencies.iter().any(|d| d.ends_with("mpi.h") && text(d).contains("typedef int MPI_Request"));
    let calls = ["MPI_Isend", "MPI_Irecv"];
    let Some(call) = calls.iter().find(|call| spec.sources.iter().any(|s| text(s).contains(**call))) else {
        return Ok(());
    };
    if !small {
        return Ok(());
    }
    let headline = format!("`{}` calls `{call}`, which cannot be differentiated with this MPI", spec.function);
    Err(Error::compile(Diagnosis::new("mpi-requests", &spec.function, headline).advise(
        "Its requests are integers (MPICH). Use OpenMPI (FFGRAD_MPICC names its mpicc), or MPI_Send and MPI_Recv.",
    )))
}

/// The file that a Fortran source includes.
pub const FORTRAN_HEADER: &str = "mpif.h";

/// MPI's Fortran procedures, made of its C functions: bitcode in the build's folder.
///
/// # Errors
///
/// A compile error where MPI's headers are not there or do not compile.
pub fn for_fortran(tools: &Tools, spec: &Spec, headers: &Path, staging: &Path) -> Result<Option<PathBuf>> {
    let Some(mpi) = wanted(&spec.options)? else { return Ok(None) };
    let (source, bitcode) = (staging.join("mpi_fortran.c"), staging.join("mpi_fortran.bc"));
    std::fs::write(&source, FORTRAN).map_err(crate::cache::io("write", &source))?;
    let mut command = Command::new(&tools.clang.path);
    command.args(["-O2", "-fPIC", "-Xclang", "-disable-llvm-passes", "-c", "-emit-llvm", "-o"]).arg(&bitcode);
    command.arg(&source).arg("-idirafter").arg(headers).args(&mpi.compile);
    command.args(fortran_handles(&mpi).iter().map(|(name, number)| format!("-DF_{name}={number}")));
    run(&spec.function, &mut command)?;
    Ok(Some(bitcode))
}

/// OpenMPI's `mpif.h` without the part that flang does not compile (`MPI_Sizeof` for kinds of numbers that it does not distinguish
/// apart), where flang finds it first.
///
/// # Errors
///
/// Where the folder cannot be written.
pub fn fix_header(spec: &Spec, folder: &Path) -> Result<()> {
    const UNFIT: &str = "mpif-sizeof.h";
    let Some(mpi) = wanted(&spec.options)? else { return Ok(()) };
    let headers = mpi.compile.iter().filter_map(|flag| Some(Path::new(flag.strip_prefix("-I")?).join(FORTRAN_HEADER)));
    if let Some(text) = headers.filter_map(|path| std::fs::read_to_string(path).ok()).find(|t| t.contains(UNFIT)) {
        let patched: String = text.lines().filter(|l| !l.contains(UNFIT)).flat_map(|l| [l, "\n"]).collect();
        let path = folder.join(FORTRAN_HEADER);
        std::fs::write(&path, patched).map_err(crate::cache::io("write", &path))?;
    }
    Ok(())
}

/// The numbers that `mpif.h` and the files beside it give to handles: `parameter (MPI_SUM=3)`.
fn fortran_handles(mpi: &Mpi) -> Vec<(String, String)> {
    let folders = mpi.compile.iter().filter_map(|flag| flag.strip_prefix("-I"));
    let files = folders.filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten().map(|e| e.path());
    let headers = files.filter(|p| {
        let name = p.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("mpif") && name.ends_with(".h")
    });
    headers.flat_map(|path| parameters(&std::fs::read_to_string(path).unwrap_or_default())).collect()
}

/// Names and numbers of the `parameter` lines of a header.
fn parameters(text: &str) -> Vec<(String, String)> {
    let one = |line: &str| {
        let upper: String = line.to_uppercase().split_whitespace().collect();
        let (name, number) = upper.strip_prefix("PARAMETER(")?.strip_suffix(')')?.split_once('=')?;
        number.parse::<i64>().ok().map(|_| (name.to_owned(), number.to_owned()))
    };
    text.lines().filter_map(one).collect()
}

/// The object that lets the driver talk to the other ranks, compiled into the build's folder.
///
/// # Errors
///
/// A compile error where MPI's header does not compile.
pub fn helper(context: &Context<'_>, folder: &Path) -> Result<Option<PathBuf>> {
    let Some(mpi) = wanted(&context.spec.options)? else { return Ok(None) };
    compile(context, &mpi, &folder.join("mpi.c")).map(Some)
}

fn compile(context: &Context<'_>, mpi: &Mpi, source: &Path) -> Result<PathBuf> {
    std::fs::write(source, HELPER).map_err(crate::cache::io("write", source))?;
    let object = source.with_extension("o");
    let mut command = Command::new(&context.tools.clang.path);
    command.args(["-O2", "-fPIC", "-c", "-o"]).arg(&object).arg(source).args(&mpi.compile);
    run(&context.spec.function, &mut command)?;
    Ok(object)
}

fn run(function: &str, command: &mut Command) -> Result<()> {
    let failed = |text: String| {
        Error::compile(
            Diagnosis::new("mpi-header", function, "a program with MPI's header does not compile")
                .quote(text)
                .advise("Set FFGRAD_MPICC to the compiler wrapper of the MPI that the program runs with."),
        )
    };
    let output = process::run(command, None, Duration::from_secs(60))
        .map_err(|e| Error::of_child(e, function, |e| failed(e.to_string())).while_compiling())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(failed(String::from_utf8_lossy(&output.stderr).into_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_handles_are_read_from_what_openmpi_and_mpich_write() {
        let text = "        integer MPI_SUM\n        parameter (MPI_SUM=3)\n       PARAMETER (MPI_MAX=1476395009)\n        \
                    parameter (MPI_NAME='x')\n";
        let expected = [("MPI_SUM", "3"), ("MPI_MAX", "1476395009")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(parameters(text), expected);
    }
}

//! Finds MPI through its compiler wrapper: `mpicc -show` prints the command that it would run.

use std::process::Command;

use crate::os::process;
use crate::toolchain::error::ToolchainError;
use crate::toolchain::probe::PATIENCE;
use crate::toolchain::search_path::{Place, listed};

/// How to compile and link with MPI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mpi {
    /// For compiling.
    pub compile: Vec<String>,
    /// For linking.
    pub link: Vec<String>,
}

/// Asks the wrapper `FFGRAD_MPICC`, or `mpicc` on PATH.
///
/// # Errors
/// [`ToolchainError`] where there is none, or none that can be asked.
pub fn mpi() -> Result<Mpi, ToolchainError> {
    let place = Place::here();
    let named = place.var("FFGRAD_MPICC").map(|named| place.on_path_if_bare(named));
    let names = ["mpicc", "mpicc.openmpi", "mpicc.mpich"];
    let Some(wrapper) = named.or_else(|| names.iter().find_map(|name| place.on_path(name).next())) else {
        let tried: Vec<String> = names.iter().map(|n| format!("{n} on PATH")).collect();
        return Err(ToolchainError::Missing {
            tool: "MPI's compiler wrapper (mpicc)".to_owned(),
            looked_in: listed(&tried),
            remedy: "install an MPI (Debian: libopenmpi-dev or libmpich-dev), or set FFGRAD_MPICC to its mpicc"
                .to_owned(),
        });
    };
    let remedy = "set FFGRAD_MPICC to the mpicc of the MPI that the program runs with".to_owned();
    let mut command = Command::new(&wrapper);
    command.arg("-show");
    let output = process::run(&mut command, None, PATIENCE).map_err(|source| ToolchainError::Probe {
        tool: "MPI's compiler wrapper".to_owned(),
        path: wrapper.clone(),
        remedy: remedy.clone(),
        source: Box::new(source),
    })?;
    let flags = parse(&String::from_utf8_lossy(&output.stdout));
    match output.status.success() && !flags.link.is_empty() {
        true => Ok(flags),
        false => Err(ToolchainError::Unusable {
            tool: "MPI's compiler wrapper".to_owned(),
            path: wrapper,
            reason: "`-show` prints no compiler command".to_owned(),
            remedy,
        }),
    }
}

/// The flags in a compiler's command line. Folders of libraries are searched at run time too.
fn parse(line: &str) -> Mpi {
    let mut flags = Mpi { compile: Vec::new(), link: Vec::new() };
    let mut words = line.split_whitespace().skip(1);
    while let Some(word) = words.next() {
        if word == "-isystem" {
            flags.compile.extend([word.to_owned(), words.next().unwrap_or_default().to_owned()]);
        } else if word.starts_with("-I") || word.starts_with("-D") {
            flags.compile.push(word.to_owned());
        } else if let Some(folder) = word.strip_prefix("-L") {
            flags.link.extend([word.to_owned(), format!("-Wl,-rpath,{folder}")]);
        } else if word.starts_with("-l") || word.starts_with("-Wl,-rpath") {
            flags.link.push(word.to_owned());
        }
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_taken_from_what_mpich_and_openmpi_print() {
        let mpich = parse("gcc -Wl,-z,relro -I/usr/include/mpich -L/usr/lib/x -lmpich\n");
        assert_eq!(mpich.compile, ["-I/usr/include/mpich"]);
        assert_eq!(mpich.link, ["-L/usr/lib/x", "-Wl,-rpath,/usr/lib/x", "-lmpich"]);
        let openmpi = parse("gcc -I/o/include -I/o/include/openmpi -L/o/lib -lmpi\n");
        assert_eq!(openmpi.compile.len(), 2);
        assert_eq!(openmpi.link.last().map(String::as_str), Some("-lmpi"));
    }
}

//! The Fortran front end: flang, from source files to unoptimised bitcode with debug information, and the declarations
//! that debug information leaves out.
//!
//! flang lowers array expressions, `matmul`, `sum` and their kin to loops of its own at -O2; LLVM's passes are kept from
//! running (as with clang), since each pipeline optimises differently. Module files go to the staging
//! folder.

use crate::build::frontend::compiler;
use crate::build::frontend::flang_calls::{Call, Calls, Files};
use crate::build::frontend::inputs::Inputs;
use crate::build::frontend::language::{self, Compiled, Language};
use crate::build::mpi;
use crate::cache::layout;
use crate::error::{CacheError, Error, Result};
use crate::options::Spec;
use crate::os::process;
use crate::source_text;
use crate::toolchain::{Fortran, Tools};
use core_ad::diagnostics::{self, Diagnosis, Location};
use core_ad::fortran::{Found, Scan, order, procedures, scan};
use core_ad::protocol::Math;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles the Fortran sources among the others, modules before their users.
///
/// # Errors
///
/// Compile errors with flang's own words; cache errors.
pub fn compile(tools: &Tools, spec: &Spec, headers: &Path, staging: &Path, result: &mut Compiled) -> Result<()> {
    let Some(fortran) = &tools.fortran else { return Ok(()) };
    let folders = include_folders(spec)?;
    let modules = staging.join(layout::MODULES);
    std::fs::create_dir_all(&modules).map_err(io("create", &modules))?;
    mpi::fix_header(spec, &modules)?;
    let (mut sources, mut printed, calls) = (Vec::new(), String::new(), Calls::default());
    for (i, source) in spec.sources.iter().enumerate() {
        if Language::of(source, &spec.function)? == Language::Fortran {
            let source = std::path::absolute(source).map_err(io("find", source))?;
            sources.push((i, source.clone(), scan(&read(&source))));
        }
    }
    let scans: Vec<Scan> = sources.iter().map(|(_, _, scan)| scan.clone()).collect();
    for (i, source, _) in order(&scans).into_iter().map(|at| &sources[at]) {
        let module = staging.join(format!("source{i}.bc"));
        let one = File { fortran, spec, source, folders: &folders, modules: &modules, calls: &calls };
        result.commands.push(one.compile(&module)?);
        let (found, said) = one.procedures(&module)?;
        result.procedures.extend(found);
        printed = said;
        result.modules.push(module);
    }
    if !sources.is_empty() {
        result.modules.extend(mpi::for_fortran(tools, spec, headers, staging)?);
    }
    let scanned: Vec<(PathBuf, Scan)> = sources.into_iter().map(|(_, source, scan)| (source, scan)).collect();
    let (files, inputs) = files_read(spec, &folders, &scanned, &printed);
    result.inputs.extend(inputs);
    result.dependencies.extend(files);
    Ok(())
}

/// The files that a compilation of these sources reads, and what else it depends on.
pub fn files_read(
    spec: &Spec,
    folders: &[PathBuf],
    sources: &[(PathBuf, Scan)],
    printed: &str,
) -> (Vec<PathBuf>, Inputs) {
    let mut wanted = FilesRead { folders, files: Vec::new(), absent: BTreeSet::new() };
    for (source, scan) in sources {
        wanted.add(source, scan);
    }
    let inputs = match sources.is_empty() {
        true => Inputs::default(),
        false => Inputs::of_flang(spec, printed, &wanted.files, wanted.absent),
    };
    (wanted.files, inputs)
}

/// One source, and where flang looks for what it names.
pub struct File<'a> {
    /// The compiler.
    pub fortran: &'a Fortran,
    /// The user's wishes.
    pub spec: &'a Spec,
    /// Absolute.
    pub source: &'a Path,
    /// Folders for included files and module files.
    pub folders: &'a [PathBuf],
    /// Where module files are, and where those of this source go.
    pub modules: &'a Path,
    /// Calls of flang that are known.
    pub calls: &'a Calls,
}

impl File<'_> {
    /// Compiles it to bitcode; the driver's command line.
    ///
    /// # Errors
    ///
    /// Compile errors with flang's own words.
    pub fn compile(&self, module: &Path) -> Result<String> {
        let mut driver = self.command();
        driver.args(["-c", "-emit-llvm", "-o"]).arg(module).arg(self.source);
        let call = self.call(module)?;
        match call.to_bitcode() {
            Some(words) => execute(self.spec, self.source, self.second_half().args(words))?,
            None => execute(self.spec, self.source, &mut driver)?,
        };
        Ok(process::command_line(&driver))
    }

    /// The procedures that it defines, and what flang's driver said.
    ///
    /// # Errors
    ///
    /// As [`File::compile`].
    pub fn procedures(&self, module: &Path) -> Result<(Vec<Found>, String)> {
        let call = self.call(module)?;
        let dump = execute(self.spec, self.source, self.second_half().args(call.to_symbols()))?;
        Ok((procedures(&dump), call.said))
    }

    /// What flang's driver says of where it looks.
    ///
    /// # Errors
    ///
    /// Where it cannot be run.
    pub fn driver(&self, module: &Path) -> Result<String> {
        Ok(self.call(module)?.said)
    }

    fn call(&self, module: &Path) -> Result<Call> {
        let files = Files { source: self.source, output: module, modules: self.modules };
        self.calls.of(self.spec, self.command(), files)
    }

    fn second_half(&self) -> Command {
        let mut command = self.fortran.command();
        command.current_dir(self.modules);
        command
    }

    fn command(&self) -> Command {
        flang(self.fortran, self.spec, self.folders, self.modules)
    }
}

/// Folders for files that are included and for module files, absolute: the user's, MPI's where that is wanted, and those of the
/// sources, where flang itself looks for included files alone.
pub fn include_folders(spec: &Spec) -> Result<Vec<PathBuf>> {
    let options = &spec.options;
    let mpi = mpi::wanted(options)?.map(|mpi| mpi.compile).unwrap_or_default();
    let mpi = mpi.iter().filter_map(|flag| flag.strip_prefix("-I")).map(PathBuf::from);
    let (flags, _) = compiler::by_folder(&options.flags, "-I");
    let all = options.include_dirs.iter().cloned().chain(mpi).chain(flags);
    let own = spec.sources.iter().filter_map(|source| Some(std::path::absolute(source).ok()?.parent()?.to_owned()));
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in all.chain(own) {
        let folder = std::path::absolute(&folder).map_err(io("find", &folder))?;
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    Ok(folders)
}

/// flang, in the folder of the modules: before any other it looks for modules where it runs, which must not be where the user
/// happens to be.
fn flang(fortran: &Fortran, spec: &Spec, folders: &[PathBuf], modules: &Path) -> Command {
    let options = &spec.options;
    let mut command = fortran.command();
    // Quotients of complex numbers as calls, which `rules/math.c` stands in for: what flang writes in their place also computes the quotients
    // by zero and infinity, and in reverse mode the derivative of what is not taken is NaN.
    // No LLVM pass is to run, nor a message about each.
    command.args(["-mllvm", "-opt-bisect-limit=0", "-mllvm", "-opt-bisect-verbose=false"]);
    command.args(["-O2", "-g", "-fPIC", "-fcomplex-arithmetic=full", "-fno-color-diagnostics"]);
    command.args(match options.math {
        Math::Strict => ["-ffp-contract=off"].as_slice(),
        Math::Contract => &[],
        Math::Fast => &["-ffast-math"],
    });
    command.current_dir(modules).arg("-module-dir").arg(modules);
    command.args(folders.iter().map(|d| format!("-I{}", d.display())));
    for (name, value) in &options.defines {
        command.arg(match value {
            Some(value) => format!("-D{name}={value}"),
            None => format!("-D{name}"),
        });
    }
    command.args(
        compiler::by_folder(&options.flags, "-I").1.into_iter().filter(|flag| !language::is_of_clang_alone(flag)),
    );
    command
}

/// Runs flang; what it wrote on its standard output.
fn execute(spec: &Spec, source: &Path, command: &mut Command) -> Result<String> {
    let timeout = spec.options.time_limit();
    let output = process::run(command, None, timeout).map_err(|e| compiler::not_run(spec, e))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(rejected(spec, source, &String::from_utf8_lossy(&output.stderr)))
}

fn rejected(spec: &Spec, source: &Path, stderr: &str) -> Error {
    let file = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let Some((at, construct)) = unsupported(stderr) {
        let headline = format!("`{file}` uses what flang 22 does not compile yet: {construct}");
        let mut diagnosis = Diagnosis::new("unsupported-construct", &spec.function, headline)
            .advise("Rewrite that construct; the rest of the file is fine.");
        diagnosis.location = at.map(source_text::with_text);
        return Error::compile(diagnosis);
    }
    let missing = diagnostics::compiler_error(stderr).and_then(|(at, message)| Some((at, missing_module(&message)?)));
    if let Some(diagnosis) = without_mpi(spec, &file, stderr, missing.as_ref()) {
        return Error::compile(diagnosis);
    }
    if let Some((at, module)) = missing {
        let headline = format!("`{file}` uses the module `{module}`, which is in none of the sources");
        let mut diagnosis = Diagnosis::new("missing-module", &spec.function, headline)
            .advise(format!("Give its source too: enzyme([\"{module}.f90\", \"{file}\"], ...), in any order,"))
            .advise("or the folder of its module file, compiled by flang 22: include_dirs=[\"...\"].");
        diagnosis.location = Some(source_text::with_text(at));
        return Error::compile(diagnosis);
    }
    let rejected = compiler::rejected(spec, stderr);
    match (other_form(spec, source), rejected) {
        (Some(advice), Error::Compile(diagnosis)) => Error::compile(diagnosis.advise(advice)),
        (_, rejected) => rejected,
    }
}

/// What to try where a source seems to be in the other form than its name says.
fn other_form(spec: &Spec, source: &Path) -> Option<String> {
    let is_given = |flag: &&str| spec.options.flags.iter().any(|given| given == flag);
    if ["-ffree-form", "-ffixed-form"].iter().any(is_given) {
        return None;
    }
    let extension = source.extension()?.to_str()?.to_lowercase();
    let is_fixed = ["f", "for", "ftn", "f77"].contains(&extension.as_str());
    let (name, flag) = match (is_fixed, core_ad::fortran::looks_free(&read(source))) {
        (true, Some(true)) => ("fixed form, and its lines look like free form", "-ffree-form"),
        (false, Some(false)) => ("free form, and its lines look like fixed form", "-ffixed-form"),
        _ => return None,
    };
    Some(format!("`.{extension}` means {name}: try flags=[\"{flag}\"], or --flag={flag}."))
}

/// The error for a source whose MPI is not found.
fn without_mpi(spec: &Spec, file: &str, stderr: &str, missing: Option<&(Location, String)>) -> Option<Diagnosis> {
    let (at, message) = diagnostics::compiler_error(stderr)?;
    let header = message.to_lowercase().contains(mpi::FORTRAN_HEADER);
    let module = missing.map(|(_, module)| module.as_str()).filter(|m| ["mpi", "mpi_f08"].contains(m));
    let mut diagnosis = if let Some(module) = module {
        let headline =
            format!("`{file}` uses MPI's module `{module}`, which flang cannot read: other compilers made it");
        Diagnosis::new("mpi-module", &spec.function, headline).advise(
            "Write `include 'mpif.h'` in its place, below `implicit none`, and pass mpi=True (`ffgrad explain parallel`).",
        )
    } else if header && !spec.options.mpi {
        let headline = format!("`{}` uses MPI, which needs the option `mpi`", spec.function);
        Diagnosis::new("mpi-option", &spec.function, headline)
            .advise("Add mpi=True: gradients are then checked by all ranks together (`ffgrad explain parallel`).")
    } else {
        return None;
    };
    diagnosis.location = Some(source_text::with_text(at));
    Some(diagnosis)
}

/// `error: loc("/s/f.f90":3:5): /build/...: not yet implemented: something`.
fn unsupported(stderr: &str) -> Option<(Option<Location>, String)> {
    let line = stderr.lines().find(|l| l.contains("not yet implemented"))?;
    let (_, construct) = line.split_once("not yet implemented")?;
    let construct = construct.trim_start_matches(':').trim().to_owned();
    let place = line.split_once("loc(\"").and_then(|(_, rest)| {
        let (file, rest) = rest.split_once("\":")?;
        let mut numbers = rest.split(|c: char| !c.is_ascii_digit()).map(str::parse);
        let (line, column) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        Some(Location { file: file.to_owned(), line, column, text: None })
    });
    Some((place, construct))
}

/// `Cannot parse module file for module 'm': Source file 'm.mod' was not found`.
fn missing_module(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("module file for module '")?;
    let found = message.contains("was not found");
    found.then(|| rest.split('\'').next().unwrap_or_default().to_owned())
}

fn read(path: &Path) -> String {
    // A file that cannot be read is flang's to complain about.
    std::fs::read(path).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default()
}

fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |source| CacheError::Io { action, path, source }.into()
}

/// The files that a compilation reads, sources and all that they name, without the compiler's own.
struct FilesRead<'a> {
    folders: &'a [PathBuf],
    files: Vec<PathBuf>,
    /// Where files by these names are not.
    absent: BTreeSet<PathBuf>,
}

impl FilesRead<'_> {
    fn add(&mut self, file: &Path, scan: &Scan) {
        let Ok(absolute) = std::path::absolute(file) else { return };
        if self.files.contains(&absolute) {
            return;
        }
        self.files.push(absolute);
        let named = scan.includes.iter().cloned().chain(scan.uses.iter().map(|m| format!("{m}.mod")));
        for name in named {
            let beside = file.parent().map(|folder| folder.join(&name));
            let all = beside.into_iter().chain(self.folders.iter().map(|dir| dir.join(&name)));
            // Every file by that name, not just the first: which one flang takes is its affair.
            let (there, absent): (Vec<PathBuf>, Vec<PathBuf>) = all.partition(|path| path.is_file());
            self.absent.extend(absent);
            for path in there {
                let text = read(&path);
                self.add(&path, &core_ad::fortran::scan(&text));
            }
        }
    }
}

/// The procedures of a build, by the names a user may give them.
pub fn paths(found: &[Found], defined: &[String]) -> Vec<String> {
    found.iter().filter(|f| defined.contains(&f.symbol)).map(Found::path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_told_from_other_flags() {
        let flags = ["-Ia", "-O3", "-I", "b", "-DN"].map(str::to_owned);
        let (folders, others) = compiler::by_folder(&flags, "-I");
        assert_eq!(folders, [PathBuf::from("a"), PathBuf::from("b")]);
        assert_eq!(others, ["-O3", "-DN"]);
    }

    #[test]
    fn a_construct_that_flang_lacks_is_named_with_its_place() {
        let text = "error: loc(\"/t/a.f90\":12:7): /build/flang/lib/Lower/X.cpp:3: not yet implemented: coarray\nmore";
        let (at, construct) = unsupported(text).expect("found");
        assert_eq!(at.map(|l| (l.file, l.line, l.column)), Some(("/t/a.f90".to_owned(), 12, 7)));
        assert_eq!(construct, "coarray");
        assert_eq!(unsupported("a.f90:1:1: error: no"), None);
    }

    #[test]
    fn a_missing_module_is_told_by_its_name() {
        let text = "Cannot parse module file for module 'grid': Source file 'grid.mod' was not found";
        assert_eq!(missing_module(text).as_deref(), Some("grid"));
        assert_eq!(missing_module("No explicit type declared for 'grid'"), None);
    }
}

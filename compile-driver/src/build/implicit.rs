//! Derivatives of solvers by the implicit function theorem: compiles the programs that take the solvers' places
//! (`core-ad/src/implicit/mod.rs` writes them).

use crate::build::context::Context;
use crate::build::frontend::compiler;
use crate::build::worker::Worker;
use crate::cache::io;
use crate::error::{Error, Result};
use crate::options::{GivenDerivative, Spec};
use crate::source_text;
use core_ad::Prototype;
use core_ad::diagnostics::{Diagnosis, Location};
use core_ad::fortran::Found;
use core_ad::implicit::{self, Implicit};
use core_ad::manifest::Manifest;
use core_ad::names::{self, Lookup};
use core_ad::protocol::{Equation, Request, Response, Solver};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program, compiled.
pub struct Program {
    /// Its bitcode, in the build's folder.
    pub module: PathBuf,
    /// What it takes the place of.
    pub solver: Solver,
    /// Symbol of the residual.
    pub residual: String,
    /// The command line.
    pub command: String,
}

/// Refuses functions that only their own file sees: the program is another one.
///
/// # Errors
///
/// A compile error that names it.
pub fn check_visible(spec: &Spec, programs: &[Program], undefined: &[String]) -> Result<()> {
    for name in programs.iter().flat_map(|program| [&program.solver.symbol, &program.residual]) {
        // The linker gives one of two functions of a name another one.
        let is_hidden = |found: &String| {
            let rest = found.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.trim_start_matches('.').bytes().all(|b| b.is_ascii_digit()))
        };
        if undefined.iter().any(is_hidden) {
            let headline =
                format!("`{}` is static: its rule cannot call it from outside its file", names::demangle(name));
            let diagnosis = Diagnosis::new("implicit", &spec.function, headline);
            return Err(Error::compile(diagnosis.advise("Leave out `static`, or the nameless namespace around it.")));
        }
    }
    Ok(())
}

/// The programs for all solvers of the option `derivatives`. The worker has the sources loaded.
///
/// # Errors
///
/// Compile errors for what does not fit.
pub fn compile(
    context: &Context<'_>,
    worker: &mut Worker,
    functions: &[String],
    procedures: &[Found],
    headers: &Path,
    staging: &Path,
) -> Result<Vec<Program>> {
    let spec = context.spec;
    let rules = spec.options.derivatives.iter().filter_map(|(solver, given)| match given {
        GivenDerivative::Implicit(rule) => Some((solver, rule)),
        GivenDerivative::Functions(_) => None,
    });
    let mut programs = Vec::new();
    for (number, (solver, rule)) in rules.enumerate() {
        let own = described(spec, worker, solver, functions, procedures, solver)?;
        let residual = described(spec, worker, &rule.implicit, functions, procedures, solver)?;
        let made = implicit::program(rule, &own, &residual, number)
            .map_err(|reason| misfit(spec, &own, &residual, rule, &reason))?;
        let (source, module) =
            (staging.join(format!("implicit{number}.c")), staging.join(format!("implicit{number}.bc")));
        std::fs::write(&source, &made.text).map_err(io("write", &source))?;
        let mut command = Command::new(&context.tools.clang.path);
        command.args(["-O2", "-fPIC", "-std=gnu17", "-w", "-Xclang", "-disable-llvm-passes", "-fno-math-errno"]);
        command.arg("-idirafter").arg(headers).args(["-c", "-emit-llvm", "-o"]).arg(&module).arg(&source);
        let line = crate::os::process::command_line(&command);
        compiler::execute(spec, &mut command)?;
        let names = implicit::names(number);
        let equation = Equation {
            number: number as u32,
            solver: solver.clone(),
            residual: rule.implicit.clone(),
            file: residual.file,
            line: residual.line,
            unknown: made.unknown,
            tolerance: format!("{:e}", made.tolerance.0),
        };
        let solver = Solver { symbol: own.symbol, replacement: names.solver, inside: names.inside, equation };
        programs.push(Program { module, solver, residual: residual.symbol, command: line });
    }
    Ok(programs)
}

/// The solvers in whose place others are differentiated, without those whose rule is left aside.
pub fn in_use(spec: &Spec, manifest: &Manifest) -> Vec<Solver> {
    let ignored = &spec.options.ignored_derivatives;
    manifest.solvers.iter().filter(|solver| !ignored.contains(&solver.symbol)).cloned().collect()
}

/// What is differentiated for a function: another one where it is such a solver itself.
pub fn differentiated(solvers: &[Solver], symbol: &str) -> String {
    let own = solvers.iter().find(|solver| solver.symbol == symbol);
    own.map_or(symbol, |solver| &solver.replacement).to_owned()
}

/// The prototype of a function of the sources.
fn described(
    spec: &Spec,
    worker: &mut Worker,
    name: &str,
    functions: &[String],
    procedures: &[Found],
    solver: &str,
) -> Result<Prototype> {
    let in_fortran = core_ad::fortran::find(name, procedures, functions);
    let symbol = match (in_fortran, names::find(name, functions)) {
        (Lookup::Found(symbol), _) | (_, Lookup::Found(symbol)) => symbol.to_owned(),
        _ => match functions.iter().find(|f| **f == format!("{}_", name.to_lowercase())) {
            Some(symbol) => symbol.clone(),
            None => return Err(unknown(spec, name, functions, solver)),
        },
    };
    match worker.request(&Request::Describe { symbol, function: name.to_owned() })? {
        Response::Described { prototype, .. } => match procedures.iter().find(|p| p.symbol == prototype.symbol) {
            Some(found) => core_ad::fortran::prototype(prototype, found).map_err(|reason| {
                Error::compile(Diagnosis::new("implicit", &spec.function, format!("`{name}`: {reason}")))
            }),
            None => Ok(prototype),
        },
        _ => Err(unknown(spec, name, functions, solver)),
    }
}

fn unknown(spec: &Spec, name: &str, functions: &[String], solver: &str) -> Error {
    let headline = format!("`derivatives` names `{name}` for `{solver}`, and the sources define no such function");
    let mut diagnosis = Diagnosis::new("rule-parts", &spec.function, headline);
    let closest = names::closest(name, functions.iter().map(String::as_str));
    if !closest.is_empty() {
        let closest: Vec<String> = closest.iter().map(|name| format!("`{name}`")).collect();
        diagnosis = diagnosis.advise(format!("The closest names are {}.", closest.join(", ")));
    }
    let is_word = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    if spec.sources.iter().any(|path| std::fs::read_to_string(path).is_ok_and(|text| is_word(&text))) {
        let dropped = format!(
            "The name is there: where `{name}` is static and nothing calls it, it is left out. Leave out `static`."
        );
        diagnosis = diagnosis.advise(dropped);
    }
    Error::compile(diagnosis)
}

fn misfit(spec: &Spec, solver: &Prototype, residual: &Prototype, rule: &Implicit, reason: &str) -> Error {
    let headline = format!("`{}` cannot say what `{}` solves: {reason}", rule.implicit, solver.function);
    let mut diagnosis = Diagnosis::new("implicit", &spec.function, headline)
        .advise(format!("Solver: {solver}. Residual: {residual}."))
        .advise("`ffgrad explain custom-derivatives` has the prototypes that fit.");
    let at = Location { file: residual.file.clone(), line: residual.line, column: 0, text: None };
    diagnosis.location = Some(source_text::with_text(at));
    Error::compile(diagnosis)
}

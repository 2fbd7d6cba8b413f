//! Names all functions that have neither a body nor a derivative, where Enzyme names the first that it meets.
//!
//! Enzyme runs again with that one inactive, and so on until it names none. The message is about the first that takes or
//! returns floating-point numbers: a derivative may flow through it, while the others may well be inactive.

use crate::build::enzyme::Engine;
use crate::build::frontend::language::Language;
use crate::build::rules::is_blas;
use crate::build::{Build, enzyme};
use crate::error::Error;
use crate::options::Spec;
use crate::os::process::clock;
use core_ad::DerivativeSet;
use core_ad::diagnostics::Diagnosis;
use core_ad::diagnostics::callees::THREADS;
use core_ad::fortran::scan;
use core_ad::names;
use core_ad::protocol::Pipeline;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// CPU time that the search may take: the user is waiting for an error.
const PATIENCE: Duration = Duration::from_secs(10);

/// Functions that a message names.
const MOST: usize = 8;

/// A function without body and derivative.
struct Unknown {
    refusal: Diagnosis,
    name: String,
    /// The module that was refused for it.
    input: PathBuf,
    takes_numbers: bool,
}

impl Build<'_> {
    /// Names the others beside the one of a refusal, and makes the refusal one of the function that matters most. Returns the module that
    /// Enzyme refuses for that one; `None` where the search did not come to the same refusal.
    pub(in crate::build) fn name_callees(
        &mut self,
        wanted: DerivativeSet,
        pipeline: Pipeline,
        engine: &dyn Engine,
        refusal: &mut Diagnosis,
    ) -> Option<PathBuf> {
        let mut found = self.unknown_callees(wanted, pipeline, engine);
        self.also_inactive.clear();
        let of_threads = found.iter().position(|u| u.refusal.code == THREADS);
        let main = of_threads.or_else(|| found.iter().position(|u| u.takes_numbers)).unwrap_or(0);
        let Unknown { refusal: first, input, .. } = (!found.is_empty()).then(|| found.remove(main))?;
        let mut others: Vec<String> = found.iter().map(|u| u.name.clone()).collect();
        *refusal = first;
        if self.context.spec.options.libraries.is_empty()
            && let Some(main) = refusal.callee.as_ref().filter(|callee| is_fortran_symbol(callee))
        {
            others.extend(of_no_source(&input).into_iter().filter(|name| name != main));
            others.sort();
            others.dedup();
        }
        let others: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
        // What threads call beside themselves goes with them.
        if !others.is_empty() && refusal.code != THREADS {
            let text = format!("These have none either: {}.", others.join(", "));
            refusal.advice.insert(0, text);
        }
        Some(input)
    }

    fn unknown_callees(&mut self, wanted: DerivativeSet, pipeline: Pipeline, engine: &dyn Engine) -> Vec<Unknown> {
        let begun = clock::spent();
        let output = self.folder.join("callees.out.ll");
        let mut found: Vec<Unknown> = Vec::new();
        while found.len() < MOST && clock::spent().saturating_sub(begun) < PATIENCE {
            let input = self.folder.join(format!("callees.{}.ll", found.len()));
            if self.derive(wanted, pipeline, true, &input).is_err() {
                break;
            }
            let job = enzyme::Job { timeout: PATIENCE, ..self.job(wanted.order, pipeline, &input, &output) };
            let Err(Error::Differentiation(refusal)) = engine.run(&job) else { break };
            let Some(name) = refusal.callee.clone().filter(|n| found.iter().all(|u| u.name != *n)) else { break };
            self.also_inactive.push(name.clone());
            found.push(Unknown { refusal: *refusal, takes_numbers: takes_numbers(&input, &name), name, input });
        }
        found
    }
}

/// The external procedures of Fortran that a module calls and no source has, nor the system or BLAS: those that only print are no reason for Enzyme to
/// refuse, but for the linker.
fn of_no_source(module: &Path) -> Vec<String> {
    let symbols = declarations(module).into_iter().map(|(symbol, _)| symbol);
    symbols.filter(|s| is_fortran_symbol(s) && !is_blas(s) && !is_of_system(s)).collect()
}

/// The functions that a module declares: symbol and declaration.
fn declarations(module: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(module).unwrap_or_default();
    let all = text.lines().filter_map(|line| line.strip_prefix("declare "));
    let symbol = |rest: &str| rest.split_once('@')?.1.split('(').next().map(|s| s.trim_matches('"').to_owned());
    all.filter_map(|rest| Some((symbol(rest)?, rest.to_owned()))).collect()
}

/// Whether a symbol is one that flang gives to an external procedure.
fn is_fortran_symbol(symbol: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let of_runtime = ["mpi_", "omp_"].iter().any(|start| symbol.starts_with(start));
    !of_runtime
        && symbol.ends_with('_')
        && symbol.starts_with(|c: char| c.is_ascii_lowercase())
        && symbol.chars().all(plain)
}

/// Whether a function that a module declares has floating-point numbers among parameters and result.
fn takes_numbers(module: &Path, name: &str) -> bool {
    declarations(module).into_iter().any(|(symbol, declaration)| {
        names::short(&symbol) == name && ["double", "float"].iter().any(|t| declaration.contains(t))
    })
}

/// Refusals of functions without a body.
const WITHOUT_BODY: [&str; 2] = ["missing-derivative", "opaque-call"];

/// Replaces advice that ends in an error of the linker: a function that no source and no library has cannot be called, whatever its derivative.
pub(in crate::build) fn advise_what_links(spec: &Spec, refusal: &mut Diagnosis) {
    let Some(callee) = refusal.callee.as_ref().filter(|_| WITHOUT_BODY.contains(&refusal.code.as_str())) else {
        return;
    };
    if let Some(module) = fortran_module_of(spec, callee) {
        let name = callee.trim_end_matches('_');
        let remedy = match is_used(spec, &module) {
            true => ", which is used and keeps it private: declare it `public` there.".to_owned(),
            false => format!(" in the sources given: write `use {module}` where it is called."),
        };
        refusal.advice = vec![format!("`{name}` is a procedure of the module `{module}`{remedy}")];
        return;
    }
    let is_foreign = spec.options.libraries.is_empty() && spec.options.flags.iter().all(|flag| !flag.starts_with("-l"));
    if is_foreign && !callee.starts_with("std::") && !is_of_system(callee) {
        let fails =
            |line: &String| line.starts_with("register a derivative") || line.starts_with("or mark it inactive");
        refusal.advice.retain(|line| !fails(line));
        refusal.advice.push("or the library that has it: libraries=[\"NAME\"].".to_owned());
    }
}

/// The module in the sources given that has a Fortran procedure, which is called as if it were external. One without a body is external in none of them.
fn fortran_module_of(spec: &Spec, callee: &str) -> Option<String> {
    let name = callee.strip_suffix('_')?;
    let is_fortran = |path: &&PathBuf| matches!(Language::of(path, &spec.function), Ok(Language::Fortran));
    spec.sources.iter().filter(is_fortran).find_map(|path| {
        let scan = scan(&String::from_utf8_lossy(&std::fs::read(path).ok()?));
        let is_here = scan.procedures.iter().any(|procedure| procedure.eq_ignore_ascii_case(name));
        is_here.then(|| scan.modules.first().cloned()).flatten()
    })
}

/// Whether the first source, which has the function, uses a module.
fn is_used(spec: &Spec, module: &str) -> bool {
    let text = spec.sources.first().and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
    scan(&String::from_utf8_lossy(&text)).uses.iter().any(|used| used.eq_ignore_ascii_case(module))
}

/// Whether this process has the function, as it has all of the C library's.
fn is_of_system(name: &str) -> bool {
    let Ok(name) = std::ffi::CString::new(name) else { return false };
    // SAFETY: a text that ends in zero; the address is not used.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.is_null()
}

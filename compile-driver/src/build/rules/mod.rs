//! Custom derivatives (rules): the user's, by option and macro, and the rules library's.
//!
//! Here they are gathered while the source is analysed, and a wrong prototype or name is refused then, before anything is
//! built; the worker (`core-ad/llvm/src/rules/`) puts them in place.

pub mod bundled;

use crate::build::context::Context;
use crate::build::worker::Worker;
use crate::build::{checkpoint, openmp};
use crate::cache;
use crate::error::{Error, OUT_OF_MEMORY, Result};
use crate::options::{GivenDerivative, Spec};
use crate::toolchain;
use core_ad::diagnostics::Diagnosis;
use core_ad::protocol::{Derivative, GivenRule, Request, Response};
use std::path::{Path, PathBuf};

/// The part of this that goes into the manifest.
#[derive(Debug, Default)]
pub struct Prepared {
    /// Bitcode of the library's rules, copied into the entry.
    pub library: Vec<String>,
    /// Functions that are called by another name.
    pub renamed: Vec<(String, String)>,
    /// Functions of libraries that are linked by another name.
    pub external: Vec<(String, String)>,
    /// Arguments for the linker.
    pub link: Vec<String>,
    /// Functions whose derivative the user gave.
    pub given: Vec<GivenRule>,
}

/// What the sources define and what they use without defining it.
#[derive(Default)]
pub struct Loaded {
    /// What they define.
    pub functions: Vec<String>,
    /// What they do not.
    pub undefined: Vec<String>,
    /// LAPACK's drivers among what they define.
    pub drivers: Vec<String>,
}

/// The option `derivatives` as the worker takes it.
///
/// # Errors
///
/// A compile error where it names fewer than two or more than three functions.
pub fn given<'a>(spec: &'a Spec) -> Result<Vec<Derivative>> {
    let functions = |(function, given): (&'a String, &'a GivenDerivative)| match given {
        GivenDerivative::Functions(parts) => Some((function, parts)),
        GivenDerivative::Implicit(_) => None,
    };
    let derivative = |(function, parts): (&String, &Vec<String>)| match parts.as_slice() {
        [forward, reverse] => Ok(Derivative {
            function: function.clone(),
            forward: forward.clone(),
            reverse: reverse.clone(),
            save: None,
        }),
        [forward, reverse, save] => Ok(Derivative {
            function: function.clone(),
            forward: forward.clone(),
            reverse: reverse.clone(),
            save: Some(save.clone()),
        }),
        other => {
            let headline = format!("`derivatives` gives {} functions for `{function}`", other.len());
            Err(Error::compile(
                Diagnosis::new("rule-parts", &spec.function, headline)
                    .mismatch(
                        "the forward and the reverse derivative and, if need be, one that saves",
                        other.join(", "),
                    )
                    .advise("`ffgrad explain custom-derivatives` specifies their arguments and results."),
            ))
        }
    };
    spec.options.derivatives.iter().filter_map(functions).map(derivative).collect()
}

/// Checks what the user gave and adds what the library has for functions without a body, and for LAPACK's drivers (`drivers`).
///
/// # Errors
///
/// Compile errors for what does not fit; cache errors.
pub fn prepare(
    context: &Context<'_>,
    worker: &mut Worker,
    modules: &[PathBuf],
    loaded: &Loaded,
    staging: &Path,
) -> Result<Prepared> {
    let options = &context.spec.options;
    let request = Request::CheckRules { derivatives: given(context.spec)?, inactive: options.inactive.clone() };
    let given = match worker.request(&request) {
        Ok(Response::Checked { rules }) => rules,
        Ok(_) => Vec::new(),
        Err(Error::Differentiation(d)) if worker.failure().is_none() && d.code != OUT_OF_MEMORY => {
            return Err(Error::Compile(d));
        }
        Err(other) => return Err(other),
    };
    let users = |name: &str| given.iter().any(|g| g.symbol == name) || options.inactive.iter().any(|i| i == name);
    let own = options.libraries.iter().any(|l| OWN_BLAS.iter().any(|b| l.to_lowercase().contains(b)));
    let Loaded { undefined, drivers, .. } = loaded;
    // Their derivatives call BLAS; without one, their code is differentiated.
    let has_blas = || own || toolchain::find_blas().is_ok();
    let drivers = if !drivers.is_empty() && has_blas() { drivers.as_slice() } else { &[] };
    let selection = bundled::select(undefined, drivers, &users);
    let mut library = Vec::new();
    let mut paths = Vec::new();
    for (i, path) in bundled::compile(context.tools, context.cache, &selection.files)?.iter().enumerate() {
        let name = format!("rule{i}.bc");
        let copy = staging.join(&name);
        std::fs::copy(path, &copy).map_err(cache::io("copy", path))?;
        library.push(name);
        paths.push(copy);
    }
    let mut prepared = Prepared { library, renamed: selection.renamed, given, ..Prepared::default() };
    let mut undefined = undefined.clone();
    if !paths.is_empty() {
        let renamed = prepared.renamed.clone();
        let openmp = openmp::around_engine(context)?;
        let (library, external) = (paths, Vec::new());
        let checkpoint = checkpoint::places(context.spec)?;
        let request = Request::Load { modules: modules.to_vec(), renamed, library, external, openmp, checkpoint };
        if let Response::Loaded { undefined: now, .. } = worker.request(&request)? {
            undefined = now;
        }
    }
    if !own && (selection.needs_blas || undefined.iter().any(|u| is_blas(u))) {
        link_blas(&mut prepared, &undefined, selection.needs_blas)?;
    }
    Ok(prepared)
}

/// Parts of the names of libraries that have a BLAS.
const OWN_BLAS: [&str; 6] = ["blas", "lapack", "mkl", "blis", "armpl", "flexi"];

/// Whether a name looks like one of BLAS or LAPACK.
pub(in crate::build) fn is_blas(name: &str) -> bool {
    let typed = |n: &str| n.starts_with(['s', 'd', 'c', 'z', 'i']) && (4..=8).contains(&n.len()) && !n.contains('_');
    name.starts_with("cblas_") || name.starts_with("LAPACKE_") || name.strip_suffix('_').is_some_and(typed)
}

/// Links the functions that look like BLAS and are in ours to it.
fn link_blas(prepared: &mut Prepared, undefined: &[String], needed: bool) -> Result<()> {
    let blas = match toolchain::find_blas() {
        Ok(blas) => blas,
        Err(missing) if needed => return Err(missing.into()),
        // The name may not be one of BLAS at all; then the linker reports it.
        Err(_) => return Ok(()),
    };
    let ours: Vec<&String> = undefined.iter().filter(|u| is_blas(u) && blas.has(u)).collect();
    if ours.is_empty() {
        return Ok(());
    }
    if !blas.prefix.is_empty() {
        prepared.external = ours.iter().map(|u| ((*u).clone(), format!("{}{u}", blas.prefix))).collect();
    }
    prepared.link.push(blas.library.display().to_string());
    prepared.link.extend(blas.library.parent().map(|folder| format!("-Wl,-rpath,{}", folder.display())));
    Ok(())
}

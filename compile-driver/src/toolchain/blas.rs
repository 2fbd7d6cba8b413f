//! Finds and installs a BLAS with LAPACK for code that calls one: OpenBLAS, from the wheel that SciPy's makers build.
//!
//! That build gives every name a prefix, `scipy_dgemm_`, so that it cannot be mistaken for the BLAS that a framework
//! brought into the process. Integers are of 32 bits.

use std::path::PathBuf;

use crate::toolchain::error::ToolchainError;
use crate::toolchain::install;
use crate::toolchain::pins::{BLAS_LIBRARY, Component};
use crate::toolchain::search_path::Place;

/// The command that brings it.
const INSTALL: &str = "run `ffgrad toolchain install blas`";

/// The BLAS that code is linked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blas {
    /// The shared library.
    pub library: PathBuf,
    /// What its names begin with.
    pub prefix: &'static str,
    /// The names it has, as they stand in the file: each between two zeros.
    text: Vec<u8>,
}

impl Blas {
    /// Whether it has a function.
    pub fn has(&self, name: &str) -> bool {
        let wanted = [b"\0", self.prefix.as_bytes(), name.as_bytes(), b"\0"].concat();
        self.text.windows(wanted.len()).any(|w| w == wanted)
    }
}

/// Finds the library: `FFGRAD_BLAS`, or installed.
///
/// # Errors
/// [`ToolchainError`] where there is none, or the one that was named cannot be read.
pub fn find_blas() -> Result<Blas, ToolchainError> {
    let place = Place::here();
    let named = place.var("FFGRAD_BLAS");
    let is_named = named.is_some();
    let library = match named {
        Some(path) => path,
        None => {
            let tools_dir = place.tools_dir()?;
            if !install::is_installed(&tools_dir, Component::Blas) {
                return Err(ToolchainError::Missing {
                    tool: "a BLAS".to_owned(),
                    looked_in: tools_dir.display().to_string(),
                    remedy: format!("{INSTALL}, or name your own: libraries=[\"openblas\"]"),
                });
            }
            tools_dir.join(Component::Blas.folder()).join(BLAS_LIBRARY)
        }
    };
    let content = std::fs::read(&library).map_err(|source| match is_named {
        true => ToolchainError::Unusable {
            tool: "the library with BLAS".to_owned(),
            path: library.clone(),
            reason: source.to_string(),
            remedy: "correct FFGRAD_BLAS, or unset it and run `ffgrad toolchain install blas`".to_owned(),
        },
        false => ToolchainError::io("read", &library)(source),
    })?;
    let text = names_in(&content);
    let mut blas = Blas { library, prefix: "scipy_", text };
    if !blas.has("dgemm_") {
        blas.prefix = "";
    }
    Ok(blas)
}

/// The part of a shared library that holds its names: from the first zero before to a zero after all of BLAS.
fn names_in(content: &[u8]) -> Vec<u8> {
    // The dynamic names stand near the start, in one table; four megabytes hold those of LAPACK many times.
    content[..content.len().min(4 << 20)].to_vec()
}

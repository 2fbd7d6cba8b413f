//! The driver's error type. One variant for each part of the driver; each message has what happened,
//! where, and what to do next.

use crate::os::interrupt::Interrupted;
use crate::os::process::ProcessError;
use crate::os::size;
use crate::toolchain::ToolchainError;
use core_ad::SignatureError;
use core_ad::diagnostics::Diagnosis;
use core_ad::diagnostics::enzyme::EnzymeOutput;
use core_ad::shapes::ShapeError;
use std::path::PathBuf;
use thiserror::Error;

/// A failure of the driver.
#[derive(Debug, Error)]
pub enum Error {
    /// A tool is missing, or does not work.
    #[error(transparent)]
    Toolchain(ToolchainError),
    /// The source does not compile or link, or has no such function.
    #[error("{0}")]
    Compile(Box<Diagnosis>),
    /// The signature does not fit the prototype, or the call does not fit the signature.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// The number of inputs is wrong.
    #[error("{0}")]
    Arity(Box<Diagnosis>),
    /// Shapes contradict each other or the signature.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// An input has the wrong element type.
    #[error("{0}")]
    Dtype(Box<Diagnosis>),
    /// An input lives on a device the artifact is not for.
    #[error("{0}")]
    Device(Box<Diagnosis>),
    /// Enzyme refused, or verification found its gradient wrong.
    #[error("{0}")]
    Differentiation(Box<Diagnosis>),
    /// There is no memory for what a call works with, or returns.
    #[error("{0}")]
    Memory(Box<Diagnosis>),
    /// The foreign function threw an exception.
    #[error("{0}")]
    Foreign(Box<Diagnosis>),
    /// A pack cannot serve what is asked of it here.
    #[error("{0}")]
    Pack(Box<Diagnosis>),
    /// The cache cannot be read or written.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The user wanted the call to end while it was waiting for a build (`interrupt`).
    #[error("interrupted")]
    Interrupted,
}

/// The class of an [`enum@Error`], which bindings map to their exception types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Toolchain,
    Compile,
    Signature,
    Shape,
    Dtype,
    Device,
    Differentiation,
    Memory,
    Foreign,
    Pack,
    Cache,
    Interrupted,
}

impl From<ToolchainError> for Error {
    fn from(error: ToolchainError) -> Self {
        match &error {
            ToolchainError::Probe { source, .. } if matches!(**source, ProcessError::Interrupted { .. }) => {
                Error::Interrupted
            }
            _ => Error::Toolchain(error),
        }
    }
}

impl From<Interrupted> for Error {
    fn from(_: Interrupted) -> Self {
        Error::Interrupted
    }
}

impl Kind {
    /// The name that people know it by, in every language.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Toolchain => "ToolchainError",
            Kind::Compile => "CompileError",
            Kind::Signature => "SignatureError",
            Kind::Shape => "ShapeError",
            Kind::Dtype => "DtypeError",
            Kind::Device => "DeviceError",
            Kind::Differentiation => "DifferentiationError",
            Kind::Memory => "OutOfMemoryError",
            Kind::Foreign => "ForeignError",
            Kind::Pack => "PackError",
            Kind::Cache => "CacheError",
            // The interrupting host raises its own exception.
            Kind::Interrupted => "Error",
        }
    }
}

impl Error {
    /// The error for a child that could not be run to its end, at work on `function`: what is the same for every child,
    /// else what `otherwise` makes of it.
    pub fn of_child(error: ProcessError, function: &str, otherwise: impl FnOnce(ProcessError) -> Error) -> Self {
        match error {
            ProcessError::Interrupted { .. } => Error::Interrupted,
            ProcessError::OutOfMemory { program, limit, stderr } => {
                let program = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
                Error::Differentiation(Box::new(out_of_memory(&program, function, limit, &stderr)))
            }
            ProcessError::DiskFull { program, stderr } => CacheError::Full { program, stderr }.into(),
            other => otherwise(other),
        }
    }

    /// An error in the source, or in what was asked for.
    pub fn compile(diagnosis: Diagnosis) -> Self {
        Error::Compile(Box::new(diagnosis))
    }

    /// As a compile error, where the child was no part of differentiation.
    #[must_use]
    pub fn while_compiling(self) -> Self {
        match self {
            Error::Differentiation(diagnosis) if diagnosis.code == OUT_OF_MEMORY => Error::Compile(diagnosis),
            other => other,
        }
    }

    /// The code that `ffgrad explain` explains.
    pub fn code(&self) -> Option<&str> {
        match (self.diagnosis(), self.kind()) {
            (Some(diagnosis), _) => Some(&diagnosis.code),
            (None, Kind::Signature) => Some("signature"),
            (None, Kind::Shape) => Some("shape"),
            (None, Kind::Toolchain) => Some("toolchain"),
            (None, Kind::Cache) => Some("cache"),
            (None, _) => None,
        }
    }

    /// Its class.
    pub fn kind(&self) -> Kind {
        match self {
            Error::Toolchain(_) => Kind::Toolchain,
            Error::Compile(_) => Kind::Compile,
            Error::Signature(_) | Error::Arity(_) => Kind::Signature,
            Error::Shape(_) => Kind::Shape,
            Error::Dtype(_) => Kind::Dtype,
            Error::Device(_) => Kind::Device,
            Error::Differentiation(_) => Kind::Differentiation,
            Error::Memory(_) => Kind::Memory,
            Error::Foreign(_) => Kind::Foreign,
            Error::Pack(_) => Kind::Pack,
            Error::Cache(_) => Kind::Cache,
            Error::Interrupted => Kind::Interrupted,
        }
    }

    /// The structured part, where there is one.
    pub fn diagnosis(&self) -> Option<&Diagnosis> {
        match self {
            Error::Compile(d)
            | Error::Arity(d)
            | Error::Dtype(d)
            | Error::Device(d)
            | Error::Differentiation(d)
            | Error::Memory(d)
            | Error::Foreign(d)
            | Error::Pack(d) => Some(d),
            _ => None,
        }
    }
}

/// Code of the error for a call without memory for its results, copies, scratch arrays or shadows.
pub const NO_MEMORY: &str = "out-of-memory";

/// Code of the refusal of what takes more memory than it may.
pub const OUT_OF_MEMORY: &str = "memory-limit";

/// The refusal, with how to allow more. Of what a dying process prints, the line about memory says all: the rest is its module.
pub fn out_of_memory(program: &str, function: &str, limit: u64, stderr: &str) -> Diagnosis {
    let limit = size::written(limit);
    let headline = format!("`{program}` got no more memory while it worked on `{function}`: its limit is {limit}");
    let about_memory = |l: &&str| ["memory", "bad_alloc", "allocat"].iter().any(|word| l.contains(word));
    let words = EnzymeOutput::of(stderr).words;
    let line = words.iter().map(String::as_str).find(about_memory).unwrap_or_default();
    Diagnosis::new(OUT_OF_MEMORY, function, headline).quote(line).advise(
        "Set FFGRAD_MEMORY_LIMIT to more (16G; none for no limit), or split the function, or move large tables out of it.",
    )
}

/// Trouble with the cache folder.
#[derive(Debug, Error)]
pub enum CacheError {
    /// An operation on a file failed.
    #[error("cannot {action} `{path}`: {source}\n  Set FFGRAD_CACHE_DIR to a folder that you can write to and that has room{}.", if is_of_content(action) { ", or run `ffgrad cache clear` where it is damaged" } else { "" }, path = path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A variable about the cache has a value that it cannot have.
    #[error(transparent)]
    Variable(#[from] size::BadVariable),
    /// A tool found no room for a file.
    #[error(
        "`{}` found no room on the disk: {}\n  Make room, or set FFGRAD_CACHE_DIR (and TMPDIR) to folders that have some.",
        program.display(), first_line(stderr, "No space left on device")
    )]
    Full {
        /// The tool.
        program: PathBuf,
        /// Its output.
        stderr: String,
    },
    /// Others could put code there that this process would run.
    #[error("the cache folder `{}` can be written to by other users, so its content cannot be trusted\n  Run `chmod go-w` on it, or set FFGRAD_CACHE_DIR to a folder of your own.", .0.display())]
    Unsafe(PathBuf),
    /// An artifact does not match its digest.
    #[error("the cached artifact `{}` is damaged: {reason}\n  Run `ffgrad cache verify --remove`, or `ffgrad cache clear`; it is built again at the next call.", path.display())]
    Damaged {
        /// The artifact.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// An artifact is what was built, and the system's loader refuses it: a library that it needs is gone, for instance.
    #[error("the artifact `{}` cannot be loaded: {reason}\n  If a library was moved, run `ffgrad cache clear` and call again.", path.display())]
    Unloadable {
        /// The artifact.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

impl From<std::io::Error> for Error {
    fn from(source: std::io::Error) -> Self {
        Error::Cache(CacheError::Io { action: "use", path: PathBuf::from("."), source })
    }
}

/// Whether what failed reads or replaces what is there, and not only writes something new.
fn is_of_content(action: &str) -> bool {
    ["read", "remove", "publish"].contains(&action)
}

/// The line of a text that has these words, else its first one.
fn first_line<'t>(text: &'t str, words: &str) -> &'t str {
    text.lines().find(|line| line.contains(words)).or_else(|| text.lines().next()).unwrap_or_default().trim()
}

/// Result of the driver's functions.
pub type Result<T> = std::result::Result<T, Error>;

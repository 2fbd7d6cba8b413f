//! The OpenMP runtime of this process, and what of it an artifact calls.
//!
//! Code from clang and flang calls LLVM's runtime: `libomp`, or Intel's `libiomp5`, which is the same thing under
//! another name. Two of them in one process abort it, so one that is loaded already (by MKL, for example) is used, whoever
//! loaded it; only otherwise one is loaded. GCC's `libgomp`, which PyTorch's wheels bring, has other functions and may be
//! beside it: each has threads of its own, which sleep while the other's work.
//!
//! An artifact has no runtime among the libraries it was linked with. It exports tables of the functions that it calls
//! (`core-ad/llvm/src/lowering/openmp/bind.rs`), filled in here.

use crate::error::Result;
use crate::toolchain::{self, ToolchainError};
use core_ad::protocol::OPENMP_TABLES;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol};
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What code that calls the runtime needs, as packs name it.
pub const NEEDED: &str = "libomp (or libiomp5)";

/// Whether a shared object calls the runtime.
///
/// # Errors
///
/// Where the file is no shared object.
pub fn is_called_by(object: &[u8]) -> std::result::Result<bool, object::Error> {
    let file = ElfFile64::<Endianness>::parse(object)?;
    let is_table = |name: &str| OPENMP_TABLES.contains(&name);
    Ok(file.dynamic_symbols().any(|symbol| symbol.name().is_ok_and(is_table)))
}

/// A runtime in use. It is never unloaded: its threads outlive every call.
struct Runtime {
    path: PathBuf,
    library: Library,
}

static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);

/// The runtime that this process uses, once it does.
pub fn in_use() -> Option<PathBuf> {
    RUNTIME.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|runtime| runtime.path.clone())
}

/// How many threads the parallel regions of an artifact have.
#[derive(Clone, Copy)]
pub struct Teams {
    set: unsafe extern "C" fn(c_int),
    get: unsafe extern "C" fn() -> c_int,
}

impl Teams {
    /// Runs `call` with teams of `threads`, or of the runtime's own size where that is 0.
    pub fn of<T>(self, threads: usize, call: impl FnOnce() -> T) -> T {
        // The runtime learns of this thread by this: what is reversed by one thread names itself, and does not ask.
        // SAFETY: the runtime's, and concerns this thread alone.
        unsafe { (self.get)() };
        let Some(wanted) = c_int::try_from(threads).ok().filter(|&n| n > 0) else { return call() };
        // SAFETY: both are the runtime's, and concern this thread alone.
        let before = unsafe { (self.get)() };
        // SAFETY: as above.
        unsafe { (self.set)(wanted) };
        let alone = ALONE.replace(wanted == 1);
        let result = call();
        ALONE.set(alone);
        // SAFETY: as above.
        unsafe { (self.set)(before) };
        result
    }
}

/// Gives a loaded artifact the functions that it calls; `None` where it calls none.
///
/// # Errors
///
/// [`ToolchainError`] where there is no runtime, where two would meet, or where it lacks a function.
pub fn bind(artifact: &Library) -> Result<Option<Teams>> {
    let mut teams = None;
    for name in OPENMP_TABLES {
        // SAFETY: a symbol of this name is a table of the layout that the worker writes.
        let Ok(table) = (unsafe { artifact.get::<*const c_void>(name) }) else { continue };
        teams = Some(fill(table.as_raw_ptr().cast::<u64>())?);
    }
    Ok(teams)
}

thread_local! {
    /// Whether the regions that this thread comes to have one thread, whatever the source asks for.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

type Push = unsafe extern "C" fn(*mut c_void, c_int, c_int);
type Set = unsafe extern "C" fn(c_int);
type Limit = unsafe extern "C" fn() -> c_int;

/// The runtime's own functions, behind those that heed [`ALONE`].
static REAL: OnceLock<(Push, Set, Limit)> = OnceLock::new();

/// `num_threads(...)`.
unsafe extern "C" fn push_num_threads(place: *mut c_void, thread: c_int, wanted: c_int) {
    if let Some((push, ..)) = REAL.get().filter(|_| !ALONE.get()) {
        // SAFETY: what the caller passes is for this function.
        unsafe { push(place, thread, wanted) }
    }
}

unsafe extern "C" fn set_num_threads(wanted: c_int) {
    if let Some((_, set, _)) = REAL.get().filter(|_| !ALONE.get()) {
        // SAFETY: as above.
        unsafe { set(wanted) }
    }
}

unsafe extern "C" fn thread_limit() -> c_int {
    // SAFETY: as above.
    REAL.get().filter(|_| !ALONE.get()).map_or(1, |(.., limit)| unsafe { limit() })
}

/// What stands in a slot of an artifact.
fn for_artifact(runtime: &Runtime, name: &CStr) -> Result<*mut c_void> {
    let own: *const () = match name.to_bytes() {
        b"__kmpc_push_num_threads" => push_num_threads as Push as *const (),
        b"omp_set_num_threads" => set_num_threads as Set as *const (),
        b"omp_get_thread_limit" => thread_limit as Limit as *const (),
        _ => return function(runtime, name),
    };
    if REAL.get().is_none() {
        let real = |name| function(runtime, name);
        // SAFETY: the functions of these names have these types in every OpenMP runtime of LLVM's.
        let found = unsafe {
            (
                std::mem::transmute::<*mut c_void, Push>(real(c"__kmpc_push_num_threads")?),
                std::mem::transmute::<*mut c_void, Set>(real(c"omp_set_num_threads")?),
                std::mem::transmute::<*mut c_void, Limit>(real(c"omp_get_thread_limit")?),
            )
        };
        REAL.get_or_init(|| found);
    }
    Ok(own.cast_mut().cast())
}

fn fill(table: *const u64) -> Result<Teams> {
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = match &mut *runtime {
        Some(runtime) => runtime,
        empty => empty.insert(find()?),
    };
    // SAFETY: `{ u64 count, { name, slot } ... }`, see `bind.rs` of the worker. The slots are the artifact's own
    // memory, which nothing reads before its first call.
    unsafe {
        let rows =
            std::slice::from_raw_parts(table.add(1).cast::<(*const c_char, *mut *mut c_void)>(), *table as usize);
        for &(name, slot) in rows {
            *slot = for_artifact(runtime, CStr::from_ptr(name))?;
        }
        Ok(Teams {
            set: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int)>(function(
                runtime,
                c"omp_set_num_threads",
            )?),
            get: std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(function(
                runtime,
                c"omp_get_max_threads",
            )?),
        })
    }
}

fn function(runtime: &Runtime, name: &CStr) -> Result<*mut c_void> {
    // SAFETY: only the address is taken.
    let found = unsafe { runtime.library.get::<*mut c_void>(name.to_bytes_with_nul()) };
    Ok(found.map_err(|_| lacks(&runtime.path, &name.to_string_lossy()))?.as_raw_ptr())
}

fn lacks(path: &Path, function: &str) -> ToolchainError {
    ToolchainError::Unusable {
        tool: "the OpenMP runtime".to_owned(),
        path: path.to_owned(),
        reason: format!("it has no `{function}`; it is not LLVM's, or too old"),
        remedy: "start the program with LLVM's libomp 14 or later: preload it, or set FFGRAD_OPENMP".to_owned(),
    }
}

/// The runtime that this process has, else one that it can have.
fn find() -> Result<Runtime> {
    let named = std::env::var_os("FFGRAD_OPENMP").filter(|v| !v.is_empty()).map(PathBuf::from);
    if let Some(loaded) = loaded().into_iter().next() {
        if let Some(named) = &named
            && std::fs::canonicalize(named).ok() != std::fs::canonicalize(&loaded).ok()
        {
            return Err(ToolchainError::Unusable {
                tool: "the OpenMP runtime".to_owned(),
                path: named.clone(),
                reason: format!(
                    "this process has loaded {} already, and two runtimes would abort it",
                    loaded.display()
                ),
                remedy: "unset FFGRAD_OPENMP, or set it to the one that is loaded".to_owned(),
            }
            .into());
        }
        return open(&loaded).map_err(|e| unusable(&loaded, e).into());
    }
    if let Some(named) = named {
        return open(&named).map_err(|e| unusable(&named, e).into());
    }
    let candidates = toolchain::openmp_candidates();
    if let Some(runtime) = candidates.iter().find_map(|path| open(path).ok()) {
        return Ok(runtime);
    }
    let tried: Vec<String> = candidates.iter().map(|c| c.display().to_string()).collect();
    Err(ToolchainError::Missing {
        tool: "LLVM's OpenMP runtime (libomp)".to_owned(),
        looked_in: tried.join(", "),
        remedy: "install it with the system's package manager (Debian: libomp5, Fedora: libomp), run \
               `ffgrad toolchain install openmp`, or set FFGRAD_OPENMP to the library"
            .to_owned(),
    }
    .into())
}

fn unusable(path: &Path, reason: libloading::Error) -> ToolchainError {
    ToolchainError::Unusable {
        tool: "the OpenMP runtime".to_owned(),
        path: path.to_owned(),
        reason: std::error::Error::source(&reason).map_or_else(|| reason.to_string(), |s| s.to_string()),
        remedy: "set FFGRAD_OPENMP to a libomp that loads, or unset it".to_owned(),
    }
}

fn open(path: &Path) -> std::result::Result<Runtime, libloading::Error> {
    // SAFETY: the constructors are those of an OpenMP runtime; one that is loaded already has run them.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }?;
    Ok(Runtime { path: path.to_owned(), library })
}

/// Whether a library is LLVM's runtime, by its file name. Wheels rename theirs: `libomp-1234abcd.so`.
fn is_llvm_runtime(path: &Path) -> bool {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    ["libomp", "libiomp5"].iter().any(|stem| {
        name.strip_prefix(stem)
            .is_some_and(|rest| rest.starts_with(['.', '-', '5']) && name.contains(".so") || rest == ".dylib")
    })
}

/// The runtimes among the libraries that this process has loaded.
#[cfg(target_os = "linux")]
fn loaded() -> Vec<PathBuf> {
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: the loader gives a valid description, and `found` is the vector given below.
        let (name, found) = unsafe { ((*info).dlpi_name, &mut *found.cast::<Vec<PathBuf>>()) };
        if !name.is_null() {
            // SAFETY: a name is a C string.
            let path = PathBuf::from(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned());
            if is_llvm_runtime(&path) {
                found.push(path);
            }
        }
        0
    }
    let mut found: Vec<PathBuf> = Vec::new();
    // SAFETY: `visit` treats its last argument as what it is.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    found
}

/// Elsewhere the loader finds one that is loaded already by its name.
#[cfg(not(target_os = "linux"))]
fn loaded() -> Vec<PathBuf> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_is_known_by_its_file_name() {
        for name in ["libomp.so.5", "libomp5.so", "libiomp5.so", "libomp-9fdf6c1c.so.5", "libomp.dylib"] {
            assert!(is_llvm_runtime(Path::new("/x").join(name).as_path()), "{name}");
        }
        for name in ["libgomp.so.1", "libompi.so", "libompitrace.so", "libomptarget.so", "libom.so"] {
            assert!(!is_llvm_runtime(Path::new("/x").join(name).as_path()), "{name}");
        }
    }
}

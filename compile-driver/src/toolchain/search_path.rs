//! The search path for tools: the environment, PATH, the system's folders and ffgrad's own tool folder, read once
//! so that the search itself is a pure function of them (and tests can make up a machine of their own).

use std::collections::BTreeMap;
use std::env;
use std::ffi::{CStr, OsString, c_void};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use crate::toolchain::error::ToolchainError;

/// The machine as the search sees it.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    vars: BTreeMap<String, OsString>,
    /// `/`, except in tests.
    pub root: PathBuf,
    /// The folder of the running program.
    pub beside: Option<PathBuf>,
    /// Folders registered with [`add_worker_dir`].
    pub worker_dirs: Vec<PathBuf>,
}

fn worker_dirs() -> &'static Mutex<Vec<PathBuf>> {
    static DIRS: OnceLock<Mutex<Vec<PathBuf>>> = OnceLock::new();
    DIRS.get_or_init(Mutex::default)
}

/// Adds a folder in which the worker `ffgrad-llvm` is looked for: a language package calls this with its own bin folder.
pub fn add_worker_dir(dir: PathBuf) {
    let mut dirs = worker_dirs().lock().unwrap_or_else(|e| e.into_inner());
    if !dirs.contains(&dir) {
        dirs.push(dir);
    }
}

/// The same for the folder of the shared library that has an address: packages have the worker beside it.
pub fn add_worker_dir_beside(address: usize) {
    // SAFETY: all zeros is a valid `Dl_info`.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for; there is room for the answer.
    if unsafe { libc::dladdr(address as *const c_void, &mut info) } == 0 || info.dli_fname.is_null() {
        return;
    }
    // SAFETY: a C string of the loader's.
    let file = unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy().into_owned();
    if let Some(folder) = Path::new(&file).parent() {
        add_worker_dir(folder.to_owned());
    }
}

impl Place {
    /// This machine and this process's environment.
    pub fn here() -> Self {
        let vars = env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        Self {
            vars: vars.filter(|(name, _)| is_relevant(name)).collect(),
            root: PathBuf::from("/"),
            beside: env::current_exe().ok().and_then(|exe| Some(exe.parent()?.to_owned())),
            worker_dirs: worker_dirs().lock().unwrap_or_else(|e| e.into_inner()).clone(),
        }
    }

    /// A variable that is set and not empty, as a path.
    pub fn var(&self, name: &str) -> Option<PathBuf> {
        self.vars.get(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// A folder of the system: `/usr/lib` and the like.
    pub fn system(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    pub fn home(&self) -> Option<PathBuf> {
        self.var("HOME")
    }

    /// The folders of a search-path variable.
    pub fn folders(&self, variable: &str) -> Vec<PathBuf> {
        let value = self.vars.get(variable).cloned().unwrap_or_default();
        env::split_paths(&value).filter(|dir| !dir.as_os_str().is_empty()).collect()
    }

    /// All programs of this name on PATH, in order.
    pub fn on_path<'a>(&'a self, name: &'a str) -> impl Iterator<Item = PathBuf> + 'a {
        self.folders("PATH").into_iter().map(move |dir| dir.join(name)).filter(|file| is_program(file))
    }

    /// What a person named: a path as it stands, a bare name as the first program of that name on PATH.
    pub fn on_path_if_bare(&self, named: PathBuf) -> PathBuf {
        let bare = named.to_str().filter(|name| !name.contains('/'));
        bare.and_then(|name| self.on_path(name).next()).unwrap_or(named)
    }

    /// ffgrad's tool folder: `FFGRAD_TOOLS_DIR`, else `ffgrad/tools` in the platform's data folder.
    pub fn tools_dir(&self) -> Result<PathBuf, ToolchainError> {
        if let Some(dir) = self.var("FFGRAD_TOOLS_DIR") {
            // A relative folder would be another one after every chdir.
            return std::path::absolute(&dir).map_err(ToolchainError::io("resolve", &dir));
        }
        let data = if cfg!(target_os = "macos") {
            self.home().map(|home| home.join("Library/Application Support"))
        } else {
            let xdg = self.var("XDG_DATA_HOME").filter(|dir| dir.is_absolute());
            xdg.or_else(|| self.home().map(|home| home.join(".local/share")))
        };
        data.map(|data| data.join("ffgrad/tools")).ok_or(ToolchainError::NoHome)
    }

    #[cfg(test)]
    pub fn imagined(root: &Path, vars: &[(&str, &Path)]) -> Self {
        let vars = vars.iter().map(|(name, value)| ((*name).to_owned(), value.as_os_str().to_owned()));
        Self { vars: vars.collect(), root: root.to_owned(), ..Self::default() }
    }
}

fn is_relevant(name: &str) -> bool {
    const OTHERS: [&str; 6] = ["PATH", "HOME", "XDG_DATA_HOME", "LD_LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH"];
    name.starts_with("FFGRAD_") || OTHERS.contains(&name) || crate::toolchain::toolkit::VARIABLES.contains(&name)
}

/// Whether this is a file that can be started.
pub(super) fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// A list of places for an error message.
pub(super) fn listed(places: &[String]) -> String {
    if places.is_empty() { "nowhere".to_owned() } else { places.join(", ") }
}

/// `a:b` for a list of folders, before what the variable already held.
pub(super) fn joined(dirs: &[PathBuf], old: Option<OsString>) -> Option<OsString> {
    let old: Vec<_> = old.iter().flat_map(env::split_paths).collect();
    // A folder with a colon in its name cannot be put on a search path at all.
    env::join_paths(dirs.iter().chain(&old)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_folder_follows_its_variables_in_order() {
        let root = Path::new("/");
        let home = ("HOME", Path::new("/home/me"));
        let tools = |vars: &[(&str, &Path)]| Place::imagined(root, vars).tools_dir().expect("a folder");
        assert_eq!(tools(&[("FFGRAD_TOOLS_DIR", Path::new("/t")), home]), Path::new("/t"));
        if cfg!(target_os = "linux") {
            assert_eq!(tools(&[("XDG_DATA_HOME", Path::new("/d")), home]), Path::new("/d/ffgrad/tools"));
            assert_eq!(
                tools(&[("XDG_DATA_HOME", Path::new("rel")), home]),
                Path::new("/home/me/.local/share/ffgrad/tools")
            );
        }
        assert!(matches!(Place::imagined(root, &[]).tools_dir(), Err(ToolchainError::NoHome)));
    }

    #[test]
    fn a_registered_worker_folder_is_remembered_once() {
        let dir = PathBuf::from("/somewhere/of/its/own");
        add_worker_dir(dir.clone());
        add_worker_dir(dir.clone());
        assert_eq!(Place::here().worker_dirs.iter().filter(|d| **d == dir).count(), 1);
    }
}

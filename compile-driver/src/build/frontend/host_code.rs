//! Compiles a `.cu` file whose host code clang refuses: what only the host runs is left out.
//!
//! clang compiles the device's side alone, but checks all of a file, and host code asks for what is not here: NVIDIA's API, Thrust,
//! headers of an application. So where clang refuses a file, each definition with an error becomes a declaration, in a copy that clang
//! reads in place of the file (a virtual file system, so that names and lines stay), until the rest compiles. The kernel that is asked for
//! is never touched, and [`LeftOut::used_by`] refuses one that uses what was left out, with clang's own message.

use crate::build::frontend::compiler;
use crate::cache;
use crate::error::{Error, Result};
use crate::options::Spec;
use core_ad::cuda::outline::{self, Cut};
use core_ad::cuda::reach;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Attempts; each finds what errors of the one before hid.
const ROUNDS: usize = 16;

/// Beginnings of headers that belong to the host's libraries, or to parts of CUDA that no kernel here can use. One that is missing is empty:
/// what a kernel needs of it is an error where the kernel uses it.
const HOST_HEADERS: [&str; 33] = [
    "thrust/",
    "cub/",
    "cuda/",
    "cuda_",
    "cublas",
    "cufft",
    "curand",
    "cusparse",
    "cusolver",
    "cudnn",
    "cudss",
    "cutensor",
    "cutil",
    "nvtx",
    "nvTools",
    "nccl",
    "nvml",
    "nvjpeg",
    "nvgraph",
    "npp",
    "helper_",
    "drvapi_",
    "texture_",
    "surface_",
    "sm_",
    "cooperative_groups",
    "mma.h",
    "omp.h",
    "mpi.h",
    "GL/",
    "GLFW/",
    "boost/",
    "shrUtils.h",
];

/// Built-in types of the header that a source may define itself, without their numbers.
const VECTORS: [&str; 12] =
    ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong", "float", "double"];

/// What was left out of the sources of a compilation.
#[derive(Debug, Default)]
pub struct LeftOut {
    cuts: Vec<Left>,
}

/// Something that was left out.
#[derive(Debug)]
struct Left {
    cut: Cut,
    /// What clang said of it.
    error: String,
    /// The attempt before which it was there.
    round: usize,
}

impl LeftOut {
    /// The error of something that was left out and is used by the kernel after all; `ir` is the compiled module.
    pub fn used_by(&self, spec: &Spec, ir: &str, symbol: &str) -> Option<Error> {
        if self.cuts.is_empty() {
            return None;
        }
        let reached = reach::reached(ir, symbol);
        let is_of = |symbol: &String, name: &str| match name {
            // A class: what needs it does not compile.
            "" => false,
            // Their names are abbreviated: `_Zpl6float3S_`.
            "operator" => symbol.starts_with("_Z"),
            _ => symbol == name || symbol.contains(&format!("{}{name}", name.len())),
        };
        let is_used = |cut: &Cut| match cut {
            Cut::Body(_, name) => reached.declared.iter().any(|symbol| is_of(symbol, name)),
            // Another of that name would be called in its place.
            Cut::All(_, name) => reached.declared.iter().chain(&reached.defined).any(|symbol| is_of(symbol, name)),
        };
        let found = self.cuts.iter().find(|left| is_used(&left.cut))?;
        Some(compiler::rejected(spec, &found.error))
    }

    /// Adds what was left out of another source.
    pub fn extend(&mut self, other: LeftOut) {
        self.cuts.extend(other.cuts);
    }
}

/// Runs clang, and returns what it says of where it looked, with what had to be left out. Copies go to `folder`.
///
/// # Errors
///
/// A compile error with what clang says of the rest.
pub fn compile(spec: &Spec, command: &mut Command, folder: &Path) -> Result<(String, LeftOut)> {
    let given: Vec<OsString> = command.get_args().map(ToOwned::to_owned).collect();
    let program = command.get_program().to_owned();
    let mut host = HostCode::new(spec, &program, folder);
    for _ in 0..ROUNDS {
        let mut attempt = Command::new(&program);
        attempt.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        attempt.args(host.arguments()?).args(&given).arg("-v");
        let output = compiler::run(spec, &mut attempt)?;
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            *command = without_verbosity(&attempt);
            // Nothing reads them any more.
            let _ = fs::remove_dir_all(folder);
            return Ok((printed, LeftOut { cuts: host.cuts.into_values().flatten().collect() }));
        }
        let errors = errors(&printed);
        let kept: Vec<&str> = errors.iter().filter(|e| !host.is_avoided(e)).map(|e| e.text.as_str()).collect();
        if !host.has_news() {
            let causes: Vec<&str> = kept.iter().filter_map(|text| host.cause(text)).collect();
            let kept = if causes.is_empty() { kept } else { causes };
            let text = if kept.is_empty() { messages(&printed) } else { kept.join("\n") };
            return Err(compiler::rejected(spec, &text));
        }
    }
    Err(compiler::rejected(spec, &String::from_utf8_lossy(&compiler::run(spec, command)?.stderr)))
}

fn without_verbosity(attempt: &Command) -> Command {
    let mut command = Command::new(attempt.get_program());
    command.args(attempt.get_args().take(attempt.get_args().count() - 1));
    command
}

/// An error of clang with the lines that belong to it.
struct Message {
    text: String,
    /// What is wrong.
    message: String,
    /// Where, innermost first: the error itself, then what asked for the template that it is in.
    places: Vec<(String, u32, u32)>,
}

fn errors(printed: &str) -> Vec<Message> {
    let mut all: Vec<Message> = Vec::new();
    let mut is_open = false;
    for line in printed.lines() {
        let error = line.split_once(": error: ").or_else(|| line.split_once(": fatal error: "));
        if let Some((at, message)) = error.and_then(|(at, message)| Some((place(at)?, message))) {
            all.push(Message { text: line.to_owned(), message: message.to_owned(), places: vec![at] });
            is_open = true;
            continue;
        }
        is_open &= !line.contains(": warning: ") && !line.starts_with("In file included from");
        if let (true, Some(last)) = (is_open, all.last_mut()) {
            last.text.push('\n');
            last.text.push_str(line);
            if line.contains("requested here") {
                last.places.extend(line.split_once(": note: ").and_then(|(at, _)| place(at)));
            }
        }
    }
    all
}

/// What clang prints without errors of a place: of the command line, of itself.
fn messages(printed: &str) -> String {
    let lines: Vec<&str> = printed.lines().filter(|line| line.contains("error:")).collect();
    if lines.is_empty() { printed.to_owned() } else { lines.join("\n") }
}

/// `file:line:column`
fn place(text: &str) -> Option<(String, u32, u32)> {
    let mut parts = text.rsplitn(3, ':');
    let (column, line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some((parts.next()?.to_owned(), line, column))
}

/// The attempts at one source.
struct HostCode<'a> {
    function: &'a str,
    folder: &'a Path,
    /// Folders whose files are not the user's.
    foreign: Vec<PathBuf>,
    cuts: BTreeMap<PathBuf, Vec<Left>>,
    headers: BTreeSet<String>,
    types: BTreeSet<String>,
    /// The attempt.
    round: usize,
    /// How much was left out before it.
    known: usize,
}

impl<'a> HostCode<'a> {
    fn new(spec: &'a Spec, program: &std::ffi::OsStr, folder: &'a Path) -> Self {
        let toolchain = Path::new(program).parent().and_then(Path::parent);
        let foreign = [Some(Path::new("/usr/include")), Some(Path::new("/usr/lib")), toolchain, folder.parent()];
        let name = spec.function.split(['<', '(']).next().unwrap_or_default();
        HostCode {
            function: name.rsplit("::").next().unwrap_or(name).trim(),
            folder,
            foreign: foreign.into_iter().flatten().map(ToOwned::to_owned).collect(),
            cuts: BTreeMap::new(),
            headers: BTreeSet::new(),
            types: BTreeSet::new(),
            round: 0,
            known: 0,
        }
    }

    /// Whether more is left out than before; asked once an attempt.
    fn has_news(&mut self) -> bool {
        self.round += 1;
        let now = self.cuts.values().map(Vec::len).sum::<usize>() + self.headers.len() + self.types.len();
        std::mem::replace(&mut self.known, now) < now
    }

    /// Leaves out what an error is about; whether that could be done.
    fn is_avoided(&mut self, error: &Message) -> bool {
        let quoted = error.message.split('\'').nth(1).unwrap_or_default();
        if error.message.ends_with("file not found") {
            let is_hosts = HOST_HEADERS.iter().any(|start| quoted.starts_with(start)) && !quoted.contains("..");
            return is_hosts && self.headers.insert(quoted.to_owned());
        }
        if error.message.contains("redefinition") {
            let is_builtin = |name: &&str| {
                let bare = name.trim_end_matches(['1', '2', '3', '4']);
                bare.len() + 1 == name.len() && VECTORS.contains(&bare) && error.text.contains("ffgrad_cuda.h")
            };
            let words = error.message.split(|c: char| !c.is_alphanumeric() && c != '_');
            let own: Vec<&str> = words.filter(is_builtin).collect();
            self.types.extend(own.iter().map(|name| (*name).to_owned()));
            return !own.is_empty();
        }
        error.places.iter().any(|(file, line, column)| self.is_cut(file, *line, *column, &error.text))
    }

    fn is_cut(&mut self, file: &str, line: u32, column: u32, text: &str) -> bool {
        let Ok(path) = std::path::absolute(file) else { return false };
        if self.foreign.iter().any(|folder| path.starts_with(folder)) {
            return false;
        }
        let Ok(source) = fs::read_to_string(&path) else { return false };
        let Some(offset) = outline::offset(&source, line, column) else { return false };
        let left = self.cuts.entry(path).or_default();
        let tried: Vec<Cut> = left.iter().filter(|l| l.round < self.round).map(|l| l.cut.clone()).collect();
        let Some(cut) = outline::cut(&outline::items(&source), offset, &tried) else { return false };
        if cut.name() == self.function {
            return false;
        }
        if !left.iter().any(|known| known.cut == cut) {
            left.push(Left { cut, error: text.to_owned(), round: self.round });
        }
        true
    }

    /// What clang said of a declaration that an error refers to, and that is incomplete because of that.
    fn cause(&self, error: &str) -> Option<&str> {
        let notes = error.lines().filter_map(|line| line.split_once(": note: "));
        notes.filter_map(|(at, _)| place(at)).find_map(|(file, line, _)| {
            let path = std::path::absolute(file).ok()?;
            let left = self.cuts.get(&path)?;
            let source = fs::read_to_string(&path).ok()?;
            let line_of = |cut: &Cut| source[..cut.range().start].matches('\n').count() + 1;
            left.iter().find(|left| line_of(&left.cut) == line as usize).map(|left| left.error.as_str())
        })
    }

    /// The arguments that put copies, headers and types in their places.
    fn arguments(&self) -> Result<Vec<OsString>> {
        let mut arguments = Vec::new();
        if self.round > 0 {
            arguments.push("-ferror-limit=0".into());
        }
        if !self.types.is_empty() {
            arguments.extend(["-include".into(), self.prelude()?.into()]);
        }
        if !self.headers.is_empty() {
            let folder = self.folder.join("host-headers");
            for header in &self.headers {
                write(&folder.join(header), "/* A header of the host's libraries, which is not here. */\n")?;
            }
            arguments.extend(["-idirafter".into(), folder.into()]);
        }
        if self.cuts.values().any(|cuts| !cuts.is_empty()) {
            arguments.extend(["-ivfsoverlay".into(), self.overlay()?.into()]);
        }
        Ok(arguments)
    }

    /// A file that renames types of the header that the source has itself.
    fn prelude(&self) -> Result<PathBuf> {
        let lines = |line: &dyn Fn(&str) -> String| {
            let names = self.types.iter().flat_map(|name| [name.clone(), format!("make_{name}")]);
            names.map(|name| line(&name)).collect::<String>()
        };
        let text = lines(&|name| format!("#define {name} ffgrad_{name}\n"))
            + "#include <ffgrad_cuda.h>\n"
            + &lines(&|name| format!("#undef {name}\n"));
        let path = self.folder.join("own_types.h");
        write(&path, &text)?;
        Ok(path)
    }

    fn overlay(&self) -> Result<PathBuf> {
        let mut roots = Vec::new();
        for (number, (path, cuts)) in self.cuts.iter().enumerate() {
            let source = fs::read_to_string(path).map_err(cache::io("read", path))?;
            let cuts: Vec<Cut> = cuts.iter().map(|left| left.cut.clone()).collect();
            let copy = self.folder.join(format!("host-code{number}.cu"));
            write(&copy, &outline::without(&source, &cuts))?;
            roots.push(json!({"type": "file", "name": path, "external-contents": copy}));
        }
        let path = self.folder.join("host-code.json");
        let text = json!({"version": 0, "use-external-names": false, "roots": roots}).to_string();
        write(&path, &text)?;
        Ok(path)
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(cache::io("create", folder))?;
    }
    Ok(fs::write(path, text).map_err(cache::io("write", path))?)
}

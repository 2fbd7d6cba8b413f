//! Exports functions to a pack: builds what is missing in the cache, copies it, lists it.
//!
//! Derivatives that have passed their check here are packed on the pipeline that passed, with the check's record. Of others, and of those
//! that were wrong at some sizes, every pipeline that Enzyme accepts is packed, and the first call checks, from the pack, as it would
//! from the cache; so do all calls at those sizes.

use crate::build::{self, link};
use crate::cache::{self, layout};
use crate::call::launch::Launcher;
use crate::error::{Error, Result};
use crate::function::Function;
use crate::function::opened::Opened;
use crate::function::variants::packed;
use crate::load::openmp_runtime;
use crate::options::Spec;
use crate::os::cpu;
use crate::pack::read::archive::Form;
use crate::pack::read::open::Files;
use crate::pack::read::{Derivatives, ForGpus, INDEX, Index, Packed, VERSION, Variant, archive, open, refusal};
use crate::pack::write::{gpu, notices};
use core_ad::DerivativeSet;
use core_ad::manifest::{CheckRecord, Choice, FORMAT};
use core_ad::path_set::PathSet;
use core_ad::protocol::Pipeline;
use object::Endianness;
use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH, FileHeader64};
use object::read::elf::{Dyn, FileHeader};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A function to pack.
pub struct Wish<'f> {
    /// The function, opened from its source.
    pub function: &'f Function,
    /// The name to open it by; its own by default.
    pub name: Option<String>,
    /// Derivatives; inputs that have none are left out of their masks.
    pub wanted: Vec<DerivativeSet>,
    /// Architectures of GPUs to pack code for, `sm_80`, of a CUDA kernel. By default code for all of them, if it can be built here.
    pub gpu: Option<Vec<String>>,
}

/// Writes functions to a pack: a folder, or an archive where the name ends in `.zip` or `.tar`. A pack that is there already is
/// replaced or, with `add`, gets the functions too.
///
/// # Errors
///
/// Pack errors for functions that cannot be packed and for a target that is something else; what building them meets.
pub fn export(target: &Path, wishes: &[Wish<'_>], add: bool) -> Result<Index> {
    let form = Form::of(target);
    if fs::symlink_metadata(target).is_ok() && !crate::pack::read::is_pack(target) {
        let headline = format!("`{}` is there and is no pack; it is left alone", target.display());
        return Err(Error::Pack(Box::new(refusal("pack-target", "", headline).advise("Choose another name."))));
    }
    for wish in wishes {
        packable(wish.function)?;
    }
    let beside = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(beside).map_err(unwritable("create", beside))?;
    let staging =
        tempfile::Builder::new().prefix(".ffpack-").tempdir_in(beside).map_err(unwritable("create", beside))?;
    let root = staging.path().join("pack");
    fs::create_dir(&root).map_err(unwritable("create", &root))?;
    let mut index = Index {
        version: VERSION,
        format: FORMAT,
        ffgrad: env!("CARGO_PKG_VERSION").to_owned(),
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        functions: BTreeMap::new(),
    };
    if add && crate::pack::read::is_pack(target) {
        index.functions = keep(target, &root)?;
    }
    for wish in wishes {
        let name = wish.name.clone().unwrap_or_else(|| wish.function.spec().function.clone());
        let before = index.functions.remove(&name);
        index.functions.insert(name, put_all(&root, wish, before)?);
    }
    let notices = root.join("NOTICES.md");
    fs::write(&notices, notices::text(&index)).map_err(unwritable("write", &notices))?;
    cache::write_json(&root.join(INDEX), &index)?;
    readable(&root.join(INDEX))?;
    publish(&root, form, target, staging.path())?;
    Ok(index)
}

/// Whether code of a function can leave this machine.
fn packable(function: &Function) -> Result<()> {
    if let Some(pack) = &function.opened.pack {
        return Err(pack.needs_compiler());
    }
    let options = &function.spec().options;
    let reasons = [
        ("mpi", options.mpi, "an MPI library is bound to the machine that it was built for"),
        (
            "grid",
            function.opened.launcher.as_ref().is_some_and(Launcher::is_chosen),
            "a callable is part of this process",
        ),
    ];
    let Some((option, _, reason)) = reasons.iter().find(|(_, given, _)| *given) else { return Ok(()) };
    let name = &function.spec().function;
    let headline = format!("`{name}` cannot be packed with the option `{option}`: {reason}");
    Err(Error::Pack(Box::new(refusal("pack-export", name, headline).advise("Open it without that option."))))
}

/// Copies the functions of a pack that others are added to.
fn keep(old: &Path, root: &Path) -> Result<BTreeMap<String, Packed>> {
    let files = Files::of(old, "")?;
    let index = open::index(old, &files, "")?;
    if (index.os.as_str(), index.arch.as_str()) != (std::env::consts::OS, std::env::consts::ARCH) {
        let headline = format!("the pack `{}` is for {} on {}", old.display(), index.os, index.arch);
        return Err(Error::Pack(Box::new(refusal("pack-machine", "", headline).advise("Write to another pack."))));
    }
    for name in index.functions.values().flat_map(|packed| packed.files.keys()) {
        copy(&files.folder.join(name), root, name)?;
    }
    Ok(index.functions)
}

/// Packs a function; where it is tuned or specialised, as it is without that, and what was chosen.
fn put_all(root: &Path, wish: &Wish<'_>, before: Option<Packed>) -> Result<Packed> {
    let function = wish.function;
    if let Some(repeat) = &function.repeat {
        // A loop has no code of its own: it is opened again around the step.
        let mask = |wanted: &DerivativeSet| DerivativeSet { mask: repeat.step_mask(wanted.mask), ..*wanted };
        let wanted = wish.wanted.iter().map(mask).collect();
        return put_all(root, &Wish { function: &repeat.step, name: None, wanted, gpu: wish.gpu.clone() }, before);
    }
    let mut spec = function.spec().clone();
    if !spec.options.tune && !spec.options.specialize {
        return put(root, wish, before);
    }
    let chosen = packed::chosen(function)?;
    (spec.options.tune, spec.options.specialize) = (false, false);
    let plain = function.opened_with(spec)?;
    let wanted = wish.wanted.iter().copied().chain(chosen.iter().map(|(wanted, _)| *wanted)).collect();
    let mut packed = put(root, &Wish { function: &plain, name: None, wanted, gpu: wish.gpu.clone() }, before)?;
    for (wanted, function) in chosen.iter().filter(|(_, function)| function.manifest().key != packed.key) {
        let wish = Wish { function, name: None, wanted: vec![*wanted], gpu: Some(Vec::new()) };
        let mut own = Packed { gpu: None, ..put(root, &wish, None)? };
        // As an option they cannot be read again: only ffgrad sets them.
        let sizes = std::mem::take(&mut own.spec.options.fixed_sizes);
        packed.files.extend(own.files.clone());
        add_new(&mut packed.needs, &own.needs);
        add_new(&mut packed.libraries, &own.libraries);
        packed.variants.retain(|v| (v.wanted, &v.sizes) != (*wanted, &sizes));
        packed.variants.push(Variant { wanted: *wanted, sizes, function: own });
    }
    packed.variants.sort_by_key(|variant| variant.sizes.is_empty());
    Ok(packed)
}

fn add_new(all: &mut Vec<String>, more: &[String]) {
    let new: Vec<String> = more.iter().filter(|name| !all.contains(name)).cloned().collect();
    all.extend(new);
}

/// Builds what a function lacks and copies all of it.
fn put(root: &Path, wish: &Wish<'_>, before: Option<Packed>) -> Result<Packed> {
    let function = wish.function;
    let (spec, manifest) = (function.spec(), function.manifest());
    let entry = format!("entries/{}", manifest.key);
    let mut packed = Packed {
        spec: without_folders(spec),
        key: manifest.key.clone(),
        features: cpu::required(&spec.options.cpu),
        derivatives: Vec::new(),
        libraries: Vec::new(),
        needs: Vec::new(),
        gpu: None,
        variants: Vec::new(),
        files: BTreeMap::new(),
    };
    let mut needs = BTreeSet::new();
    let given = [link::libraries(spec)?, manifest.link.clone()].concat();
    let mut take = |packed: &mut Packed, folder: &Path, name: &str| -> Result<()> {
        let whole = layout::whole(folder).ok_or_else(|| function.opened.vanished(folder))?;
        for file in ["artifact.json", whole.0.file.as_str()] {
            add(packed, root, &folder.join(file), &format!("{entry}/{name}/{file}"))?;
        }
        if calls_openmp(&whole.1)? {
            needs.insert(openmp_runtime::NEEDED.to_owned());
        }
        link(packed, root, &whole.1, &given, &mut needs)
    };
    let manifest_file = function.opened.cache.entry(&manifest.key).join("manifest.json");
    add(&mut packed, root, &manifest_file, &format!("{entry}/manifest.json"))?;
    take(&mut packed, &function.opened.built_primal()?, "primal")?;
    // What the pack had of the same code stays.
    let same = before.filter(|b| b.key == packed.key);
    let (same, same_gpu, variants) = same.map(|b| (b.derivatives, b.gpu, b.variants)).unwrap_or_default();
    packed.files.extend(variants.iter().flat_map(|variant| variant.function.files.clone()));
    packed.variants = variants;
    let mut wanted: Vec<DerivativeSet> = Vec::new();
    for one in same.iter().map(|d| d.wanted).chain(wish.wanted.iter().copied()) {
        let one = DerivativeSet { mask: one.mask & manifest.plan.differentiable_mask(), ..one };
        if one.mask != 0 && !wanted.contains(&one) {
            wanted.push(one);
        }
    }
    if function.is_kernel() || wish.gpu.as_ref().is_some_and(|gpu| !gpu.is_empty()) {
        packed.gpu = Some(for_gpus(&mut packed, root, wish, &wanted, same_gpu)?);
    }
    for wanted in wanted {
        let (pipelines, check, paths) = function.opened.built_pipelines(wanted)?;
        let refused = function.selection().refused_before(wanted);
        for &pipeline in &pipelines {
            let folder = layout::derivative_folder(&function.opened.cache, &manifest.key, wanted, pipeline);
            take(&mut packed, &folder, &layout::folder_name(wanted, pipeline))?;
        }
        packed.derivatives.push(Derivatives { wanted, pipelines, check, refused, paths });
    }
    packed.needs = needs.into_iter().collect();
    Ok(packed)
}

/// Builds and copies the code for GPUs. Where it was not requested explicitly it may fail, and the pack notes the reason.
fn for_gpus(
    packed: &mut Packed,
    root: &Path,
    wish: &Wish<'_>,
    derivatives: &[DerivativeSet],
    before: Option<ForGpus>,
) -> Result<ForGpus> {
    let archs = gpu::architectures(wish.function, wish.gpu.as_deref(), before.as_ref())?;
    let made = match gpu::build(wish.function, derivatives, &archs) {
        Err(error) if wish.gpu.is_none() && !matches!(error, Error::Cache(_)) => {
            let missing = error.diagnosis().map_or_else(|| error.to_string(), |d| d.headline.clone());
            return Ok(ForGpus { kernels: Vec::new(), missing: Some(missing) });
        }
        made => made?,
    };
    for (kernel, folder) in &made {
        for file in ["artifact.json", crate::gpu::ptx::FILE] {
            let name = format!("entries/{}/{}/{file}", packed.key, kernel.folder());
            add(packed, root, &folder.join(file), &name)?;
        }
    }
    Ok(ForGpus { kernels: made.into_iter().map(|(kernel, _)| kernel).collect(), missing: None })
}

impl Opened {
    /// The folder of the primal, built if it is not there or damaged.
    fn built_primal(&self) -> Result<PathBuf> {
        let folder = layout::primal_folder(&self.cache, &self.manifest.key);
        if layout::whole(&folder).is_none() {
            self.drop_damaged(&folder)?;
            self.build_primal(&folder)?;
        }
        Ok(folder)
    }

    fn drop_damaged(&self, folder: &Path) -> Result<()> {
        if folder.exists() { self.cache.set_aside(folder) } else { Ok(()) }
    }

    /// The pipelines to pack: the verified one, with the check's record and paths, or all that Enzyme accepts, built.
    fn built_pipelines(&self, wanted: DerivativeSet) -> Result<(Vec<Pipeline>, Option<CheckRecord>, PathSet)> {
        let folder = |pipeline| layout::derivative_folder(&self.cache, &self.manifest.key, wanted, pipeline);
        let choice: Option<Choice> = cache::read_json(&self.choice_file(wanted));
        let proven = choice.filter(|c| c.format == FORMAT && c.refused.is_empty());
        if let Some(Choice { pipeline, check: Some(check), paths, .. }) = proven
            && layout::whole(&folder(pipeline)).is_some()
        {
            return Ok((vec![pipeline], Some(check), paths));
        }
        let _lock = self.lock(wanted)?;
        let (mut pipelines, mut refusal) = (Vec::new(), None);
        for pipeline in self.pipelines(wanted) {
            if layout::whole(&folder(pipeline)).is_none() {
                self.drop_damaged(&folder(pipeline))?;
                match build::derivative(&self.context()?, &self.manifest, wanted, pipeline, self.time_limit()) {
                    Err(Error::Differentiation(d)) => {
                        refusal.get_or_insert(Error::Differentiation(d));
                        continue;
                    }
                    other => other?,
                };
            }
            pipelines.push(pipeline);
        }
        match refusal {
            Some(error) if pipelines.is_empty() => Err(error),
            _ => Ok((pipelines, None, PathSet::default())),
        }
    }
}

/// What the function was made from, without the places of this machine.
fn without_folders(spec: &Spec) -> Spec {
    let name = |path: &PathBuf| path.file_name().map(PathBuf::from).unwrap_or_else(|| path.clone());
    let mut named = Spec { sources: spec.sources.iter().map(name).collect(), ..spec.clone() };
    named.options.reach = None;
    named
}

/// Copies a file into the pack and notes its digest.
fn add(packed: &mut Packed, root: &Path, file: &Path, name: &str) -> Result<()> {
    copy(file, root, name)?;
    packed.files.insert(name.to_owned(), cache::digest_file(&root.join(name))?);
    Ok(())
}

fn copy(file: &Path, root: &Path, name: &str) -> Result<()> {
    let target = root.join(name);
    let folder = target.parent().unwrap_or(root);
    fs::create_dir_all(folder).map_err(unwritable("create", folder))?;
    // What is read was read before, for its digest: it is the target that fails.
    fs::copy(file, &target).map_err(unwritable("write", &target))?;
    readable(&target)
}

/// The cache is its user's own; a pack is handed on.
fn readable(file: &Path) -> Result<()> {
    let permissions = fs::Permissions::from_mode(0o644);
    fs::set_permissions(file, permissions).map_err(unwritable("write", file))
}

/// The libraries that a shared object is linked to: those in folders named in it, or that the user named by path,
/// are packed; the others the system must have.
fn link(packed: &mut Packed, root: &Path, object: &Path, given: &[String], needs: &mut BTreeSet<String>) -> Result<()> {
    let (names, folders) = linked(object)?;
    for name in names {
        let by_path = given.iter().map(PathBuf::from).filter(|g| g.file_name().is_some_and(|f| f == name.as_str()));
        let in_folder = folders.iter().map(|folder| folder.join(&name));
        let Some(found) = by_path.chain(in_folder).find(|path| path.is_file()) else {
            needs.insert(name);
            continue;
        };
        if packed.libraries.contains(&name) {
            continue;
        }
        add(packed, root, &found, &format!("lib/{name}"))?;
        // What it needs itself is loaded before it.
        link(packed, root, &found, given, needs)?;
        packed.libraries.push(name);
    }
    Ok(())
}

fn calls_openmp(object: &Path) -> Result<bool> {
    let content = fs::read(object).map_err(cache::io("read", object))?;
    let called = openmp_runtime::is_called_by(&content);
    Ok(called.map_err(|e| cache::io("read", object)(std::io::Error::other(e.to_string())))?)
}

/// Names of the libraries that a shared object needs, and the folders in which it looks for them first.
fn linked(object: &Path) -> Result<(Vec<String>, Vec<PathBuf>)> {
    let content = fs::read(object).map_err(cache::io("read", object))?;
    let parsed = || -> std::result::Result<_, object::Error> {
        let data = content.as_slice();
        let header = FileHeader64::<Endianness>::parse(data)?;
        let endian = header.endian()?;
        let sections = header.sections(endian, data)?;
        let Some((entries, strings)) = sections.dynamic(endian, data)? else { return Ok((Vec::new(), Vec::new())) };
        let strings = sections.strings(endian, data, strings)?;
        let text = |tag: &object::elf::Dyn64<Endianness>| -> std::result::Result<String, object::Error> {
            Ok(String::from_utf8_lossy(tag.string(endian, strings)?).into_owned())
        };
        let (mut names, mut folders) = (Vec::new(), Vec::new());
        for entry in entries {
            match entry.tag(endian) {
                DT_NEEDED => names.push(text(entry)?),
                DT_RUNPATH | DT_RPATH => folders.push(text(entry)?),
                _ => {}
            }
        }
        Ok((names, folders))
    };
    let (names, folders) = parsed().map_err(|e| cache::io("read", object)(std::io::Error::other(e.to_string())))?;
    let own = object.parent().unwrap_or(Path::new("")).display().to_string();
    let folders = folders.iter().flat_map(|all| all.split(':')).map(|f| PathBuf::from(f.replace("$ORIGIN", &own)));
    Ok((names, folders.collect()))
}

/// The error for a pack that cannot be written where it is to go.
pub(crate) fn unwritable(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    move |error| {
        // The reason without the place that the library adds: it is named.
        let reason = io_reason(&error);
        let headline = format!("cannot {action} `{}`: {reason}", path.display());
        let diagnosis = refusal("pack-target", "", headline);
        Error::Pack(Box::new(
            diagnosis.advise("Give the pack a path in a folder that you can write to and that has room."),
        ))
    }
}

fn io_reason(error: &io::Error) -> String {
    error.raw_os_error().or_else(|| error.get_ref()?.source()?.downcast_ref::<io::Error>()?.raw_os_error()).map_or_else(
        || error.to_string().split(" at path ").next().unwrap_or_default().to_owned(),
        |code| io::Error::from_raw_os_error(code).to_string(),
    )
}

/// Moves what was written into place. A pack that was there is gone only then.
fn publish(root: &Path, form: Form, target: &Path, staging: &Path) -> Result<()> {
    let made = match form {
        Form::Folder => root.to_owned(),
        _ => {
            let archive = staging.join("archive");
            archive::pack(root, form, &archive)?;
            archive
        }
    };
    if form == Form::Folder && target.exists() {
        fs::rename(target, staging.join("before")).map_err(unwritable("replace", target))?;
    }
    fs::rename(&made, target).map_err(unwritable("write", target))
}

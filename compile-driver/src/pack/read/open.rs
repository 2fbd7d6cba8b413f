//! Opens a function of a pack: checks the machine, the digests and the options, then loads all of its code.

use crate::build::key;
use crate::cache::{self, layout};
use crate::error::{CacheError, Error, Result};
use crate::load::artifact::{self, Artifact};
use crate::options::{Options, Spec};
use crate::os::cpu;
use crate::pack::read::archive::Form;
use crate::pack::read::{INDEX, Index, Loaded, Opened, Packed, VERSION, archive, command, damaged, gpu, refusal};
use core_ad::diagnostics::Diagnosis;
use core_ad::manifest::{FORMAT, Manifest};
use core_ad::names;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of a pack: in place, or unpacked for as long as they are read.
pub(crate) struct Files {
    pub folder: PathBuf,
    _unpacked: Option<tempfile::TempDir>,
}

impl Files {
    pub fn of(pack: &Path, function: &str) -> Result<Self> {
        let form = Form::of(pack);
        if !pack.exists() {
            return Err(no_pack(pack, function));
        }
        if form == Form::Folder {
            return Ok(Files { folder: pack.to_owned(), _unpacked: None });
        }
        let here = std::env::temp_dir();
        let folder =
            tempfile::Builder::new().prefix("ffpack-").tempdir_in(&here).map_err(cache::io("create", &here))?;
        archive::unpack(pack, form, folder.path()).map_err(|reason| damaged(pack, &reason, function))?;
        Ok(Files { folder: folder.path().to_owned(), _unpacked: Some(folder) })
    }
}

/// The index of a pack.
///
/// # Errors
///
/// Pack errors where it is damaged or of another version.
pub fn read(pack: &Path) -> Result<Index> {
    index(pack, &Files::of(pack, "")?, "")
}

pub(crate) fn index(pack: &Path, files: &Files, function: &str) -> Result<Index> {
    let broken = || match files.folder.join(INDEX).exists() || files.folder.join("entries").exists() {
        true => damaged(pack, &format!("its index `{INDEX}` is missing or has changed since it was written"), function),
        false => no_pack(pack, function),
    };
    let value: Value = cache::read_json(&files.folder.join(INDEX)).ok_or_else(broken)?;
    let number = |name: &str| value[name].as_u64().unwrap_or_default();
    let (version, format) = (number("version"), number("format"));
    if (version, format) != (u64::from(VERSION), u64::from(FORMAT)) {
        let by = value["ffgrad"].as_str().unwrap_or("another version").to_owned();
        let headline = format!("the pack `{}` was made by another version of ffgrad", pack.display());
        let diagnosis = refusal("pack-format", function, headline).mismatch(
            format!("version {VERSION}, format {FORMAT} (ffgrad {})", env!("CARGO_PKG_VERSION")),
            format!("version {version}, format {format} (ffgrad {by})"),
        );
        return Err(Error::Pack(Box::new(diagnosis.advise("Export it again with the version that will open it."))));
    }
    serde_json::from_value(value).map_err(|_| broken())
}

/// The error for a path that is no pack's.
fn no_pack(path: &Path, function: &str) -> Error {
    let (shown, is_there) = (path.display(), path.exists());
    let headline = if is_there { format!("`{shown}` is no pack") } else { format!("there is no `{shown}`") };
    let advice = match is_there {
        true => "A pack is a folder or an archive (.zip, .tar) that `ffgrad export` has written.",
        false => "`ffgrad export PACK FILE FUNCTION` writes a pack.",
    };
    Error::Pack(Box::new(refusal("no-pack", function, headline).advise(advice)))
}

/// Opens a function of a pack.
///
/// # Errors
///
/// Pack errors: the pack is damaged or of another version, this machine lacks what its code needs, it has no such function, or
/// options were given that its code was not built with.
pub(crate) fn open(given: Spec, pack: &Path) -> Result<Opened> {
    let function = given.function.as_str();
    let files = Files::of(pack, function)?;
    let index = index(pack, &files, function)?;
    let packed = chosen(pack, &index, function)?;
    fits(pack, &index, packed, function)?;
    whole(pack, &files, packed, function)?;
    load_all(&given, pack, &files, packed)
}

/// Loads a function that is as it was written, and its variants.
fn load_all(given: &Spec, pack: &Path, files: &Files, packed: &Packed) -> Result<Opened> {
    let function = given.function.as_str();
    let entry = files.folder.join("entries").join(&packed.key);
    let mut manifest: Manifest = cache::read_json(&entry.join("manifest.json"))
        .filter(|m: &Manifest| m.key == packed.key)
        .ok_or_else(|| damaged(pack, "a manifest has changed since it was written", function))?;
    // Front ends identify functions by key, and this one is another where the pack has more of it.
    let about = serde_json::to_vec(packed).unwrap_or_default();
    manifest.key = blake3::hash(&about).to_hex().to_string();
    let spec = Spec { options: options(pack, given, packed, &manifest)?, ..packed.spec.clone() };
    let libraries = packed.libraries.iter().map(|name| {
        let path = files.folder.join("lib").join(name);
        // SAFETY: a library that came with the pack, as it was packed; its constructors are its own.
        let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) };
        library.map_err(|e| unloadable(pack, packed, function, &artifact::explain(&e)))
    });
    let libraries: Vec<Library> = libraries.collect::<Result<_>>()?;
    let load = |folder: &str| load(pack, packed, &entry.join(folder), function);
    let primal = load("primal")?;
    let mut code = HashMap::new();
    for derivatives in &packed.derivatives {
        for &pipeline in &derivatives.pipelines {
            let folder = layout::folder_name(derivatives.wanted, pipeline);
            code.insert((derivatives.wanted, pipeline), load(&folder)?);
        }
    }
    let kernels = gpu::read(packed, &entry);
    if kernels.is_none() && packed.gpu.is_some() {
        return Err(damaged(pack, "its code for GPUs has changed since it was written", function));
    }
    let variants =
        packed.variants.iter().map(|variant| Ok((variant.clone(), load_all(given, pack, files, &variant.function)?)));
    let variants = variants.collect::<Result<Vec<_>>>()?;
    let loaded = Loaded {
        path: pack.to_owned(),
        spec: packed.spec.clone(),
        derivatives: packed.derivatives.clone(),
        primal,
        code,
        gpu: kernels,
        _libraries: libraries,
    };
    Ok(Opened { spec, manifest, loaded, variants })
}

fn load(pack: &Path, packed: &Packed, folder: &Path, function: &str) -> Result<Arc<Artifact>> {
    let (record, path) =
        layout::whole(folder).ok_or_else(|| damaged(pack, "an artifact has changed since it was written", function))?;
    match Artifact::open(record, &path) {
        Ok(artifact) => Ok(Arc::new(artifact)),
        Err(Error::Cache(CacheError::Unloadable { reason, .. })) => Err(unloadable(pack, packed, function, &reason)),
        // What the code does not link to, and calls: an OpenMP runtime.
        Err(Error::Toolchain(error)) => Err(without_runtime(pack, function, &error.to_string())),
        Err(other) => Err(other),
    }
}

/// The refusal of a function whose OpenMP runtime is missing, or not fit: what was looked for, and what to install.
fn without_runtime(pack: &Path, function: &str, message: &str) -> Error {
    let headline = format!("`{function}` of the pack `{}` cannot be loaded here", pack.display());
    let (what, remedy) = message.rsplit_once("\n  ").unwrap_or((message, ""));
    let diagnosis = refusal("pack-library", function, headline).quote(what);
    Error::Pack(Box::new(diagnosis.advise(remedy)))
}

/// The system's loader refuses: a library is missing, or older than where the pack was made.
fn unloadable(pack: &Path, packed: &Packed, function: &str, reason: &str) -> Error {
    let headline = format!("`{function}` of the pack `{}` cannot be loaded here", pack.display());
    let diagnosis = refusal("pack-library", function, headline).quote(reason);
    Error::Pack(Box::new(
        diagnosis.advise(format!("It needs, at least as new as where it was made: {}.", packed.needs.join(", "))),
    ))
}

fn chosen<'i>(pack: &Path, index: &'i Index, function: &str) -> Result<&'i Packed> {
    if let Some(packed) = index.functions.get(function) {
        return Ok(packed);
    }
    let headline = format!("there is no function `{function}` in the pack `{}`", pack.display());
    let close = names::closest(function, index.functions.keys().map(String::as_str));
    let all: Vec<String> = index.functions.keys().cloned().collect();
    let (what, names) = if close.is_empty() { ("It has", all) } else { ("The closest names are", close) };
    let names: Vec<String> = names.iter().take(8).map(|n| format!("`{n}`")).collect();
    let diagnosis = refusal("pack-function", function, headline);
    Err(Error::Pack(Box::new(diagnosis.advise(format!("{what}: {}.", names.join(", "))))))
}

/// Whether this machine can run the code.
fn fits(pack: &Path, index: &Index, packed: &Packed, function: &str) -> Result<()> {
    let here = (std::env::consts::OS, std::env::consts::ARCH);
    let refused = |headline: String| refusal("pack-machine", function, headline);
    if (index.os.as_str(), index.arch.as_str()) != here {
        let diagnosis = refused(format!("the pack `{}` is for another machine", pack.display()))
            .mismatch(format!("{} on {}", here.0, here.1), format!("{} on {}", index.os, index.arch));
        return Err(Error::Pack(Box::new(diagnosis.advise("Export it on a machine of this kind."))));
    }
    let lacking = cpu::lacking(&packed.features);
    if lacking.is_empty() {
        return Ok(());
    }
    let cpu = match packed.spec.options.cpu.as_str() {
        core_ad::cpu::NATIVE => "the CPU of the machine where it was made".to_owned(),
        level => level.to_owned(),
    };
    let headline = format!(
        "`{function}` of the pack `{}` is for {cpu}: this machine lacks {}",
        pack.display(),
        lacking.join(", ")
    );
    let fitting = core_ad::cpu::LEVELS.iter().rev();
    let fitting = fitting.copied().find(|level| cpu::is_known(level) && cpu::lacking(&cpu::required(level)).is_empty());
    let mut diagnosis = refused(headline);
    if let Some(level) = fitting {
        let again = command(pack, &packed.spec, &[format!("--cpu={level}")]);
        diagnosis = diagnosis.advise(format!("Where there is a compiler, for this machine and others: {again}"));
    }
    Err(Error::Pack(Box::new(diagnosis)))
}

/// Compares every file of a function with its digest.
fn whole(pack: &Path, files: &Files, packed: &Packed, function: &str) -> Result<()> {
    for (name, digest) in &packed.files {
        let found = cache::digest_file(&files.folder.join(name)).ok();
        if found.as_ref() != Some(digest) {
            return Err(damaged(pack, &format!("`{name}` is missing or has changed since it was written"), function));
        }
    }
    Ok(())
}

/// The options in effect: those of calls as given, the rest as packed. A pack has no others.
fn options(pack: &Path, given: &Spec, packed: &Packed, manifest: &Manifest) -> Result<Options> {
    let as_map = |options: &Options| match serde_json::to_value(options) {
        Ok(Value::Object(map)) => map,
        _ => serde_json::Map::new(),
    };
    let (mine, mut theirs, default) =
        (as_map(&given.options), as_map(&packed.spec.options), as_map(&Options::default()));
    let mut odd: Vec<String> = Vec::new();
    for (name, value) in &mine {
        let is_default = default.get(name) == Some(value);
        if ["verify", "timeout"].contains(&name.as_str()) || !is_default && key::RUNTIME.contains(&name.as_str()) {
            theirs.insert(name.clone(), value.clone());
        } else if !is_default && theirs.get(name) != Some(value) {
            odd.push(format!("`{name}`"));
        }
    }
    let signature = [packed.spec.signature.as_deref(), Some(manifest.plan.signature.as_str())];
    if given.signature.is_some() && !signature.contains(&given.signature.as_deref()) {
        odd.push("the signature".to_owned());
    }
    let broken = || damaged(pack, "the options in its index are invalid", &given.function);
    if odd.is_empty() {
        return serde_json::from_value(Value::Object(theirs)).map_err(|_| broken());
    }
    let headline = format!("`{}` was packed with other options: {}", given.function, odd.join(", "));
    let mut diagnosis: Diagnosis = refusal("pack-options", &given.function, headline);
    if let Some(signature) = given.signature.as_ref().filter(|_| odd.iter().any(|o| o == "the signature")) {
        diagnosis = diagnosis.mismatch(&manifest.plan.signature, signature);
    }
    let usable: Vec<String> = key::RUNTIME.iter().map(|name| format!("`{name}`")).collect();
    Err(Error::Pack(Box::new(
        diagnosis
            .advise(format!("Leave them out. Of a pack's functions only these can be chosen: {}.", usable.join(", "))),
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn packed() -> Packed {
        Packed {
            spec: Spec {
                sources: vec!["f.c".into()],
                function: "f".into(),
                signature: Some("x[n] -> return".into()),
                options: Options { defines: [("N".into(), Some("3".into()))].into(), ..Options::default() },
            },
            key: "k".into(),
            features: Vec::new(),
            derivatives: Vec::new(),
            libraries: Vec::new(),
            needs: vec!["libc.so.6".into()],
            gpu: None,
            variants: Vec::new(),
            files: BTreeMap::new(),
        }
    }

    /// What opening a pack with this index answers.
    fn refused(change: impl FnOnce(&mut Index)) -> Diagnosis {
        let mut index = Index {
            version: VERSION,
            format: FORMAT,
            ffgrad: "0.0.1".into(),
            os: std::env::consts::OS.into(),
            arch: std::env::consts::ARCH.into(),
            functions: [("f".to_owned(), packed())].into(),
        };
        change(&mut index);
        let folder = tempfile::tempdir().unwrap();
        let pack = folder.path().join("p.ffpack");
        std::fs::create_dir(&pack).unwrap();
        cache::write_json(&pack.join(INDEX), &index).unwrap();
        let spec =
            Spec { sources: vec![pack.clone()], function: "f".into(), signature: None, options: Options::default() };
        match open(spec, &pack) {
            Err(Error::Pack(diagnosis)) => *diagnosis,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("opened"),
        }
    }

    #[test]
    fn what_the_machine_lacks_is_named_with_the_command_for_a_cpu_that_it_has() {
        let refusal = refused(|index| {
            let packed = index.functions.get_mut("f").unwrap();
            packed.features = vec!["sse2".into(), "vector-drive".into(), "warp".into()];
            packed.spec.options.cpu = "x86-64-v4".into();
        });
        assert_eq!(refusal.code, "pack-machine");
        assert!(refusal.headline.ends_with("is for x86-64-v4: this machine lacks vector-drive, warp"), "{refusal}");
        if cfg!(target_arch = "x86_64") {
            let again = refusal.advice.join(" ");
            assert!(again.contains("f.c f -s 'x[n] -> return' -DN=3 --cpu=x86-64"), "{again}");
        }
    }

    #[test]
    fn a_pack_for_another_system_or_architecture_is_refused() {
        for change in [|i: &mut Index| i.os = "plan9".into(), |i: &mut Index| i.arch = "vax".into()] {
            let refusal = refused(change);
            assert_eq!(refusal.code, "pack-machine");
            let here = format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH);
            assert_eq!(refusal.expected, Some(here));
        }
    }

    #[test]
    fn a_pack_of_another_version_is_refused_with_both() {
        for change in [|i: &mut Index| i.version += 1, |i: &mut Index| i.format += 1] {
            let refusal = refused(change);
            assert_eq!(refusal.code, "pack-format");
            assert!(refusal.found.is_some_and(|found| found.contains("ffgrad 0.0.1")));
        }
    }

    #[test]
    fn a_file_that_is_gone_is_damage() {
        let refusal = refused(|index| {
            let packed = index.functions.get_mut("f").unwrap();
            packed.files = [("entries/k/manifest.json".to_owned(), "00".to_owned())].into();
        });
        assert_eq!(refusal.code, "pack-damaged");
        assert!(refusal.headline.contains("`entries/k/manifest.json`"), "{refusal}");
    }
}

//! Finds Enzyme: the catalyst driver, or an Enzyme plugin with the `opt` it was built for.

use std::path::{Path, PathBuf};

use crate::toolchain::error::{INSTALL, ToolchainError};
use crate::toolchain::install;
use crate::toolchain::pins::Component;
use crate::toolchain::probe::{major, version_of};
use crate::toolchain::search_path::{Place, is_program, listed};
use crate::toolchain::types::{Engine, EngineChoice, Origin, Tool};
use crate::toolchain::version_cache::VersionCache;

pub(super) fn find_engine(
    place: &Place,
    tools_dir: &Path,
    choice: &EngineChoice,
    versions: &mut VersionCache,
) -> Result<Engine, ToolchainError> {
    match choice {
        EngineChoice::Catalyst => find_catalyst(place, tools_dir, versions),
        EngineChoice::Plugin(path) => find_plugin(place, path.clone(), versions),
        EngineChoice::Auto => match find_catalyst(place, tools_dir, versions) {
            Err(no_catalyst @ ToolchainError::Missing { .. }) => match find_plugin(place, None, versions) {
                Err(ToolchainError::Missing { .. }) => Err(no_catalyst),
                other => other,
            },
            other => other,
        },
    }
}

fn find_catalyst(place: &Place, tools_dir: &Path, versions: &mut VersionCache) -> Result<Engine, ToolchainError> {
    if let Some(path) = place.var("FFGRAD_CATALYST") {
        let path = place.on_path_if_bare(path);
        let remedy = format!("correct FFGRAD_CATALYST, or unset it and {INSTALL}");
        if !is_program(&path) {
            let reason = "there is no such program".to_owned();
            return Err(ToolchainError::Unusable { tool: "catalyst".to_owned(), path, reason, remedy });
        }
        let identity = versions.identity(&path, || version_of("catalyst", &path, &remedy))?;
        let tool = Tool { path, version: identity.version, origin: Origin::Env, digest: identity.digest };
        return Ok(Engine::Catalyst(tool));
    }
    if install::is_installed(tools_dir, Component::Catalyst) {
        let path = tools_dir.join(Component::Catalyst.folder()).join("bin/catalyst");
        return install::installed_tool(tools_dir, Component::Catalyst, path).map(Engine::Catalyst);
    }
    Err(ToolchainError::Missing {
        tool: "Enzyme".to_owned(),
        looked_in: format!("{}, FFGRAD_CATALYST, FFGRAD_ENZYME_PLUGIN", tools_dir.display()),
        remedy: INSTALL.to_owned(),
    })
}

fn find_plugin(place: &Place, named: Option<PathBuf>, versions: &mut VersionCache) -> Result<Engine, ToolchainError> {
    let (plugin, origin) = match (named, place.var("FFGRAD_ENZYME_PLUGIN")) {
        (Some(path), _) => (path, Origin::Option),
        (None, Some(path)) => (path, Origin::Env),
        (None, None) => return find_known_plugin(place, versions),
    };
    with_opt(place, plugin, origin, versions)
}

/// The newest plugin in a well-known folder that has an `opt` to go with it.
fn find_known_plugin(place: &Place, versions: &mut VersionCache) -> Result<Engine, ToolchainError> {
    let (found, looked_in) = known_plugins(place);
    let mut first_error = None;
    for plugin in found {
        match with_opt(place, plugin, Origin::System, versions) {
            Ok(engine) => return Ok(engine),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    Err(first_error.unwrap_or_else(|| ToolchainError::Missing {
        tool: "an Enzyme plugin (LLVMEnzyme-NN.so)".to_owned(),
        looked_in: listed(&looked_in),
        remedy:
            "set FFGRAD_ENZYME_PLUGIN to one, or use the default packaging of Enzyme: run `ffgrad toolchain install`"
                .to_owned(),
    }))
}

fn known_plugins(place: &Place) -> (Vec<PathBuf>, Vec<String>) {
    let mut dirs: Vec<PathBuf> = (15..=30).rev().map(|n| place.system(format!("/usr/lib/llvm-{n}/lib"))).collect();
    dirs.extend(["/usr/local/lib", "/opt/homebrew/lib"].map(|dir| place.system(dir)));
    dirs.extend(place.home().map(|home| home.join(".local/lib")));
    let mut looked_in = vec!["/usr/lib/llvm-NN/lib".to_owned()];
    looked_in.extend(dirs[16..].iter().map(|dir| dir.display().to_string()));
    let mut found = Vec::new();
    for dir in dirs {
        let names = std::fs::read_dir(&dir).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut here: Vec<PathBuf> = names.filter(|path| is_plugin(path)).collect();
        here.sort_by_key(|path| std::cmp::Reverse(major_of(path)));
        found.append(&mut here);
    }
    (found, looked_in)
}

fn is_plugin(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("LLVMEnzyme-") && (name.ends_with(".so") || name.ends_with(".dylib"))
}

/// NN of `LLVMEnzyme-NN.so`, `LLDEnzyme-NN.so`, `ClangEnzyme-NN.so`.
fn major_of(plugin: &Path) -> Option<u32> {
    plugin.file_stem()?.to_str()?.rsplit_once('-')?.1.split('.').next()?.parse().ok()
}

fn with_opt(
    place: &Place,
    plugin: PathBuf,
    origin: Origin,
    versions: &mut VersionCache,
) -> Result<Engine, ToolchainError> {
    let unusable = |reason: String, remedy: &str| ToolchainError::Unusable {
        tool: "the Enzyme plugin".to_owned(),
        path: plugin.clone(),
        reason,
        remedy: remedy.to_owned(),
    };
    if !plugin.is_file() {
        return Err(unusable("there is no such file".to_owned(), "correct the path (option or FFGRAD_ENZYME_PLUGIN)"));
    }
    let (opt, opt_origin) = match (place.var("FFGRAD_OPT"), major_of(&plugin)) {
        (Some(opt), _) => (place.on_path_if_bare(opt), Origin::Env),
        (None, Some(major)) => match find_opt(place, &plugin, major) {
            Some(opt) => (opt, Origin::System),
            None => {
                let reason = format!("there is no opt-{major} to load it");
                return Err(unusable(reason, &format!("install the package llvm-{major}, or set FFGRAD_OPT")));
            }
        },
        (None, None) => {
            let reason = "its name does not have the version of the LLVM that it was built for";
            return Err(unusable(reason.to_owned(), "set FFGRAD_OPT to the `opt` of that LLVM"));
        }
    };
    if !is_program(&opt) {
        return Err(unusable(format!("there is no opt at {}", opt.display()), "correct FFGRAD_OPT"));
    }
    let asked = versions.identity(&opt, || version_of("opt", &opt, "correct FFGRAD_OPT"))?;
    let llvm_major = match (major(&asked.version), major_of(&plugin)) {
        (Some(have), Some(need)) if have != need => {
            let reason = format!("it was built for LLVM {need}, and {} is LLVM {have}", opt.display());
            return Err(unusable(reason, &format!("set FFGRAD_OPT to opt-{need}")));
        }
        (have, need) => have.or(need).ok_or_else(|| unusable("its LLVM is not known".to_owned(), "set FFGRAD_OPT"))?,
    };
    let digest = versions.identity(&plugin, || Ok(llvm_major.to_string()))?.digest;
    // The pair has the plugin's origin.
    let origin = if opt_origin == Origin::Env { Origin::Env } else { origin };
    let opt = Tool { path: opt, version: asked.version, origin, digest: asked.digest };
    Ok(Engine::Plugin { opt, plugin, llvm_major, digest })
}

fn find_opt(place: &Place, plugin: &Path, major: u32) -> Option<PathBuf> {
    let beside = plugin.parent().and_then(Path::parent).map(|prefix| prefix.join("bin/opt"));
    let name = format!("opt-{major}");
    let known = [
        format!("/usr/lib/llvm-{major}/bin/opt"),
        format!("/opt/homebrew/opt/llvm@{major}/bin/opt"),
        format!("/usr/local/opt/llvm@{major}/bin/opt"),
    ];
    let known = known.into_iter().map(|path| place.system(path));
    place.on_path(&name).chain(known).chain(beside).find(|path| is_program(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plugins_llvm_is_read_from_its_name() {
        assert_eq!(major_of(Path::new("/x/LLVMEnzyme-15.so")), Some(15));
        assert_eq!(major_of(Path::new("/x/LLDEnzyme-22.dylib")), Some(22));
        assert_eq!(major_of(Path::new("/x/LLVMEnzyme.so")), None);
    }
}

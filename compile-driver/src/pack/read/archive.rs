//! The forms of a pack: a folder, or the same files in an archive, by the name of the file.

use crate::cache;
use crate::error::Result;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

/// The format of a pack on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Files in a folder.
    Folder,
    /// `NAME.tar`
    Tar,
    /// `NAME.zip`
    Zip,
}

impl Form {
    /// By the ending of its name.
    pub fn of(path: &Path) -> Self {
        match path.extension().and_then(|e| e.to_str()) {
            Some("tar") => Form::Tar,
            Some("zip") => Form::Zip,
            _ => Form::Folder,
        }
    }
}

/// Unpacks an archive into an empty folder.
///
/// # Errors
///
/// What is wrong with it, in words.
pub fn unpack(archive: &Path, form: Form, into: &Path) -> std::result::Result<(), String> {
    let file = File::open(archive).map_err(|e| e.to_string())?;
    let write = |name: &Path, content: &mut dyn Read| -> std::result::Result<(), String> {
        if !name.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(format!("it holds a file with the unsafe name `{}`", name.display()));
        }
        let target = into.join(name);
        fs::create_dir_all(target.parent().unwrap_or(into)).map_err(|e| e.to_string())?;
        let mut out = File::create_new(&target).map_err(|e| e.to_string())?;
        io::copy(content, &mut out).map(drop).map_err(|e| e.to_string())
    };
    match form {
        Form::Folder => Ok(()),
        Form::Tar => {
            let mut archive = tar::Archive::new(io::BufReader::new(file));
            for entry in archive.entries().map_err(|e| e.to_string())? {
                let mut entry = entry.map_err(|e| e.to_string())?;
                let name = entry.path().map_err(|e| e.to_string())?.into_owned();
                // Links are never written, so none is followed.
                if entry.header().entry_type().is_file() {
                    write(&name, &mut entry)?;
                }
            }
            Ok(())
        }
        Form::Zip => {
            let mut archive = zip::ZipArchive::new(io::BufReader::new(file)).map_err(|e| e.to_string())?;
            for i in 0..archive.len() {
                let mut entry = archive.by_index(i).map_err(|e| e.to_string())?;
                let name = PathBuf::from(entry.name());
                if entry.is_file() {
                    write(&name, &mut entry)?;
                }
            }
            Ok(())
        }
    }
}

/// Packs the files of a folder. The same files make the same archive.
///
/// # Errors
///
/// [`crate::error::CacheError::Io`].
pub fn pack(folder: &Path, form: Form, archive: &Path) -> Result<()> {
    let mut names = files(folder)?;
    names.sort();
    let failed = |e: io::Error| cache::io("write", archive)(e);
    let out = File::create(archive).map_err(failed)?;
    let read = |name: &Path| fs::read(folder.join(name)).map_err(cache::io("read", &folder.join(name)));
    match form {
        Form::Folder => {}
        Form::Tar => {
            let mut tar = tar::Builder::new(out);
            for name in &names {
                let content = read(name)?;
                let mut header = tar::Header::new_gnu();
                header.set_size(content.len() as u64);
                header.set_mode(0o644);
                tar.append_data(&mut header, name, content.as_slice()).map_err(failed)?;
            }
            tar.into_inner().and_then(|mut out| out.flush()).map_err(failed)?;
        }
        Form::Zip => {
            let mut zip = zip::ZipWriter::new(out);
            let options = zip::write::SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
            for name in &names {
                zip.start_file(name.to_string_lossy(), options).map_err(|e| failed(e.into()))?;
                zip.write_all(&read(name)?).map_err(failed)?;
            }
            zip.finish().map_err(|e| failed(e.into()))?;
        }
    }
    Ok(())
}

/// All files below a folder, relative to it.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        let place = folder.join(&below);
        for entry in fs::read_dir(&place).map_err(cache::io("read", &place))? {
            let entry = entry.map_err(cache::io("read", &place))?;
            let name = below.join(entry.file_name());
            if entry.path().is_dir() { open.push(name) } else { found.push(name) }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_is_unpacked_and_the_same_files_make_the_same_archive() {
        for form in [Form::Tar, Form::Zip] {
            let folder = tempfile::tempdir().unwrap();
            let place = |name: &str| folder.path().join(name);
            fs::create_dir_all(place("a/b")).unwrap();
            fs::write(place("a/b/x"), "one").unwrap();
            fs::write(place("a/y"), "two").unwrap();
            pack(&place("a"), form, &place("first")).unwrap();
            pack(&place("a"), form, &place("second")).unwrap();
            assert_eq!(fs::read(place("first")).unwrap(), fs::read(place("second")).unwrap());
            fs::create_dir(place("out")).unwrap();
            unpack(&place("first"), form, &place("out")).unwrap();
            assert_eq!(fs::read_to_string(place("out/b/x")).unwrap(), "one");
            assert_eq!(fs::read_to_string(place("out/y")).unwrap(), "two");
        }
    }

    #[test]
    fn no_archive_writes_outside_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("x.zip");
        let mut zip = zip::ZipWriter::new(File::create(&archive).unwrap());
        zip.start_file("../../out", zip::write::SimpleFileOptions::default()).unwrap();
        zip.finish().unwrap();
        let into = folder.path().join("into");
        fs::create_dir(&into).unwrap();
        assert!(unpack(&archive, Form::Zip, &into).unwrap_err().contains("unsafe name"));
        assert!(!folder.path().join("out").exists());
    }
}

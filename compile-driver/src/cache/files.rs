//! Identifies a file that was read: by the digest of its content, or a system's shared library by its name.

use crate::cache;
use core_ad::manifest::Source;
use object::Endianness;
use object::elf::{DT_SONAME, ET_DYN, FileHeader64};
use object::read::elf::{Dyn, FileHeader};
use object::read::{ReadCache, ReadRef};
use std::fs::File;
use std::path::Path;

/// How the digest of a library begins of which only the name counts.
pub const BY_NAME: &str = "loaded as ";

/// Whether a file that was read is as it was.
pub fn unchanged(source: &Source) -> bool {
    let path = Path::new(&source.path);
    match source.digest.strip_prefix(BY_NAME) {
        Some(name) => loaded_as(path).is_some_and(|now| now == name),
        None => cache::digest_file(path).is_ok_and(|now| now == source.digest),
    }
}

/// The name that a shared library is loaded by; `None` for everything else.
pub fn loaded_as(path: &Path) -> Option<String> {
    let file = ReadCache::new(File::open(path).ok()?);
    let data = &file;
    let header = FileHeader64::<Endianness>::parse(data).ok()?;
    let endian = header.endian().ok()?;
    if header.e_type(endian) != ET_DYN {
        return None;
    }
    let own = || soname(header, endian, data);
    own().or_else(|| Some(path.file_name()?.to_string_lossy().into_owned()))
}

fn soname<'d, R: ReadRef<'d>>(header: &FileHeader64<Endianness>, endian: Endianness, data: R) -> Option<String> {
    let sections = header.sections(endian, data).ok()?;
    let (entries, strings) = sections.dynamic(endian, data).ok()??;
    let strings = sections.strings(endian, data, strings).ok()?;
    let entry = entries.iter().find(|e| e.tag(endian) == DT_SONAME)?;
    Some(String::from_utf8_lossy(entry.string(endian, strings).ok()?).into_owned())
}

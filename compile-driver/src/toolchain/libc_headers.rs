//! The C library's headers, and files to link with, for machines that have the library alone: containers, and desktops without a compiler.
//!
//! Zig's wheel has the headers of glibc and of the kernel; nothing else of it is kept. The installed clang reads them by a configuration
//! file beside it, after every other folder, so that headers of the system win where they are installed later.

use std::ffi::{CStr, c_void};
use std::fs;
use std::path::{Path, PathBuf};

use object::Endianness;
use object::elf::{DT_NEEDED, FileHeader64, SHT_DYNAMIC};
use object::read::elf::{Dyn, FileHeader, SectionHeader};

use crate::toolchain::error::{INSTALL, ToolchainError};
use crate::toolchain::install::{self, Record};
use crate::toolchain::pins::{Component, TREES};
use crate::toolchain::search_path::Place;
use crate::toolchain::types::{Origin, Tool};

/// The oldest glibc that ffgrad runs on: what is compiled asks for no symbol that is newer.
const MINOR: u32 = 28;

/// What clang reads its options from, where it is beside it.
const SETTINGS: [&str; 2] = ["clang.cfg", "clang++.cfg"];

/// Whether the system has headers, or somebody has said where they are.
fn of_system(place: &Place) -> bool {
    place.system("/usr/include/stdio.h").is_file() || ["CPATH", "C_INCLUDE_PATH"].iter().any(|v| place.var(v).is_some())
}

/// Whether the installed clang finds no headers.
pub(super) fn are_lacking(place: &Place, tools_dir: &Path) -> bool {
    !of_system(place) && !install::is_installed(tools_dir, Component::LibcHeaders)
}

/// Refuses a clang that finds no headers.
///
/// # Errors
/// [`ToolchainError::Missing`], with the command that brings them. A clang of the system has its own packages for that.
pub(super) fn check(place: &Place, tools_dir: &Path, clang: &Tool) -> Result<(), ToolchainError> {
    if clang.origin != Origin::Installed || !are_lacking(place, tools_dir) {
        return Ok(());
    }
    Err(ToolchainError::Missing {
        tool: "the C library's headers".to_owned(),
        looked_in: format!("/usr/include, {}", tools_dir.display()),
        remedy: INSTALL.to_owned(),
    })
}

/// The installed clang as a part of keys: what it reads belongs to it.
pub(super) fn with_headers(tools_dir: &Path, clang: Tool) -> Tool {
    if !settings(tools_dir).iter().any(|file| file.is_file()) {
        return clang;
    }
    let wheels = install::record(tools_dir, Component::LibcHeaders).map(Record::digests).unwrap_or_default();
    Tool { digest: format!("{}+{wheels}", clang.digest), ..clang }
}

/// Adds what is no header: objects that stand for the start and the end of a library, and names that the linker looks for.
///
/// # Errors
/// [`ToolchainError::Io`].
pub(super) fn complete(prefix: &Path) -> Result<(), ToolchainError> {
    let folder = prefix.join("lib");
    fs::create_dir_all(&folder).map_err(ToolchainError::io("create", &folder))?;
    let write = |name: &str, content: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, content).map_err(ToolchainError::io("write", &path))
    };
    // A shared library needs nothing of them: the loader calls its constructors by a table.
    for object in ["crti.o", "crtn.o"] {
        write(object, &empty_object())?;
    }
    let (library, loader) = (libraries(), loader());
    write("libc.so", script(&format!("{} AS_NEEDED({loader})", library.join("libc.so.6").display())).as_bytes())?;
    write("libm.so", script(&library.join("libm.so.6").display().to_string()).as_bytes())?;
    // Older than 2.34, they are libraries of their own.
    for (name, version) in [("dl", 2), ("pthread", 0), ("rt", 1), ("util", 1)] {
        let file = library.join(format!("lib{name}.so.{version}"));
        let named = if file.is_file() { format!("AS_NEEDED({})", file.display()) } else { String::new() };
        write(&format!("lib{name}.so"), script(&named).as_bytes())?;
    }
    Ok(())
}

/// A script of the linker that stands for other files.
fn script(files: &str) -> String {
    format!("INPUT({files})\n")
}

/// The folder of the C library that this process runs with.
fn libraries() -> PathBuf {
    // SAFETY: all zeros is a valid `Dl_info`; any address may be asked for.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    let address = libc::getpid as *const c_void;
    // SAFETY: there is room for the answer.
    let known = unsafe { libc::dladdr(address, &mut info) } != 0 && !info.dli_fname.is_null();
    // SAFETY: a C string of the loader's.
    let file = known.then(|| unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy().into_owned());
    let folder = file.and_then(|file| Some(Path::new(&file).parent()?.to_owned()));
    folder
        .filter(|folder| folder.join("libc.so.6").is_file())
        .unwrap_or_else(|| PathBuf::from(format!("/lib/{}-linux-gnu", std::env::consts::ARCH)))
}

/// The loader, which has the function for variables of threads.
fn loader() -> &'static str {
    if cfg!(target_arch = "aarch64") { "/lib/ld-linux-aarch64.so.1" } else { "/lib64/ld-linux-x86-64.so.2" }
}

/// A relocatable object without sections.
fn empty_object() -> Vec<u8> {
    let machine: u16 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };
    // Identification (64 bits, little-endian, version 1), then type, machine, version, entry, tables, flags, sizes.
    let mut header = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    for half in [1, machine, 1, 0] {
        header.extend(half.to_le_bytes());
    }
    header.extend([0; 28]);
    for half in [64_u16, 0, 0, 0, 0, 0] {
        header.extend(half.to_le_bytes());
    }
    header
}

fn settings(tools_dir: &Path) -> [PathBuf; 2] {
    let programs = tools_dir.join(Component::Llvm.folder()).join("bin");
    SETTINGS.map(|name| programs.join(name))
}

/// Has the installed clang read the installed headers, or no more where the system has its own by now.
///
/// # Errors
/// [`ToolchainError::Io`].
pub(super) fn connect(place: &Place, tools_dir: &Path) -> Result<(), ToolchainError> {
    let both = [Component::Llvm, Component::LibcHeaders].iter().all(|&c| install::is_installed(tools_dir, c));
    let wanted = both && !of_system(place);
    for file in settings(tools_dir) {
        if wanted {
            let new = file.with_extension(format!("new{}", std::process::id()));
            fs::write(&new, options()).map_err(ToolchainError::io("write", &new))?;
            fs::rename(&new, &file).map_err(ToolchainError::io("rename into place", &file))?;
        } else if file.is_file() {
            fs::remove_file(&file).map_err(ToolchainError::io("remove", &file))?;
        }
    }
    Ok(())
}

/// The file beside clang; `<CFGDIR>` is its folder.
fn options() -> String {
    let here = format!("<CFGDIR>/../../{}", Component::LibcHeaders.folder());
    let trees: String =
        TREES.iter().map(|tree| format!("-idirafter {here}/{}\n", tree.trim_end_matches('/'))).collect();
    // Zig's copy serves every version of glibc, and leaves its number open.
    format!("-D__GLIBC_MINOR__={MINOR}\n{trees}-B {here}/lib\n-L {here}/lib\n")
}

/// Takes libatomic, which small systems lack, out of what the installed libc++ needs: it is linked with it and uses nothing of it.
///
/// # Errors
/// [`ToolchainError`]: the library is not there, or is no library.
pub(super) fn without_libatomic(prefix: &Path) -> Result<(), ToolchainError> {
    let path = prefix.join("lib/x86_64-unknown-linux-gnu/libc++.so.1.0");
    if !path.is_file() {
        return Ok(());
    }
    let mut data = fs::read(&path).map_err(ToolchainError::io("read", &path))?;
    let broken = |e: object::read::Error| ToolchainError::Unpack { wheel: path.clone(), detail: e.to_string() };
    if let Some((at, value)) = replacement(&data).map_err(broken)? {
        data[at..at + 8].copy_from_slice(&value.to_le_bytes());
        fs::write(&path, data).map_err(ToolchainError::io("write", &path))?;
    }
    Ok(())
}

/// Where the name of libatomic is in a library's list of what it needs, and the name of the C library, which it needs anyway.
fn replacement(data: &[u8]) -> object::read::Result<Option<(usize, u64)>> {
    let header = FileHeader64::<Endianness>::parse(data)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, data)?;
    let Some((entries, strings)) = sections.dynamic(endian, data)? else { return Ok(None) };
    let strings = sections.strings(endian, data, strings)?;
    let start = sections.iter().find(|s| s.sh_type(endian) == SHT_DYNAMIC).map(|s| s.sh_offset(endian)).unwrap_or(0);
    let named = |wanted: &[u8]| {
        let of =
            |d: &object::elf::Dyn64<Endianness>| d.tag(endian) == DT_NEEDED && d.string(endian, strings) == Ok(wanted);
        entries.iter().position(of)
    };
    let (Some(atomic), Some(c)) = (named(b"libatomic.so.1"), named(b"libc.so.6")) else { return Ok(None) };
    let value = entries[c].d_val(endian);
    // Two words each; the second is the name.
    Ok(Some((start as usize + 16 * atomic + 8, value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::tests::Machine;

    fn installed() -> Tool {
        Tool { path: PathBuf::new(), version: "22.1.8".to_owned(), origin: Origin::Installed, digest: "d".to_owned() }
    }

    #[test]
    fn a_machine_without_headers_is_told_what_brings_them() {
        let machine = Machine::new();
        let tools = machine.root().join("tools");
        let error = check(&machine.place, &tools, &installed()).expect_err("has none");
        assert_eq!(error.component(), Some(""));
        assert!(error.to_string().starts_with("the C library's headers"), "{error}");
        // Debian's clang comes with headers of Debian's choice.
        check(&machine.place, &tools, &Tool { origin: Origin::System, ..installed() }).expect("no matter of ours");
        machine.file("usr/include/stdio.h", "");
        check(&machine.place, &tools, &installed()).expect("has some");
    }

    #[test]
    fn clang_reads_the_headers_until_the_system_has_its_own() {
        let machine = Machine::new();
        let tools = machine.root().join("tools");
        for component in [Component::Llvm, Component::LibcHeaders] {
            let folder = format!("tools/{}", component.folder());
            for file in component.essential() {
                machine.file(&format!("{folder}/{file}"), "");
            }
            install::write_record(&machine.root().join(&folder), component, Vec::new()).expect("writes");
        }
        connect(&machine.place, &tools).expect("connects");
        let [c, cxx] = settings(&tools);
        let text = fs::read_to_string(c).expect("is there");
        assert!(cxx.is_file() && text.contains("/generic-glibc\n") && text.starts_with("-D__GLIBC_MINOR__=28\n"));
        assert_ne!(with_headers(&tools, installed()).digest, "d");
        machine.file("usr/include/stdio.h", "");
        connect(&machine.place, &tools).expect("connects");
        assert!(!cxx.exists());
        assert_eq!(with_headers(&tools, installed()).digest, "d");
    }

    #[test]
    fn what_is_linked_with_stands_for_the_libraries_of_this_machine() {
        let folder = tempfile::tempdir().expect("a folder");
        complete(folder.path()).expect("writes");
        let object = fs::read(folder.path().join("lib/crti.o")).expect("is there");
        let header = FileHeader64::<Endianness>::parse(&*object).expect("an object");
        assert_eq!(header.e_type(Endianness::Little), object::elf::ET_REL);
        let text = fs::read_to_string(folder.path().join("lib/libm.so")).expect("is there");
        let file = text.trim().trim_start_matches("INPUT(").trim_end_matches(')');
        assert!(!cfg!(target_os = "linux") || Path::new(file).is_file(), "{text}");
    }
}

//! Which files and which absent places a compilation depends on. What needs a compiler is in `tests/system/test_keys.py`.

use super::*;
use crate::options::Options;
use std::fs;

/// A folder with files, and a search list of two folders in it.
struct Place {
    folder: tempfile::TempDir,
    list: SearchList,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let angled = ["one", "two"].map(|name| folder.path().join(name)).to_vec();
        for f in &angled {
            fs::create_dir_all(f).unwrap();
        }
        Place { folder, list: SearchList { angled, ..SearchList::default() } }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn inputs(&self, flags: &[&str], read: &[&str]) -> Inputs {
        let flags = flags.iter().map(|f| (*f).to_owned()).collect();
        let options = Options { flags, ..Options::default() };
        let spec = Spec { sources: vec![self.path("s/a.c")], function: "f".into(), signature: None, options };
        let read: Vec<PathBuf> = read.iter().map(|name| self.path(name)).collect();
        Inputs::of_clang(&spec, &self.list, &read)
    }

    fn absent(&self, inputs: &Inputs) -> Vec<String> {
        let name = |p: &PathBuf| Some(p.strip_prefix(self.folder.path()).ok()?.display().to_string());
        inputs.absent.iter().filter_map(name).collect()
    }
}

#[test]
fn a_header_that_would_be_found_earlier_is_looked_for() {
    let place =
        Place::new(&[("s/a.c", "#include \"h.h\"\n#include <sub/g.h>\n"), ("two/h.h", ""), ("two/sub/g.h", "")]);
    let inputs = place.inputs(&[], &["s/a.c", "two/h.h", "two/sub/g.h"]);
    // Of a folder that does not exist one look tells of all below it.
    assert_eq!(place.absent(&inputs), ["one/h.h", "one/sub", "s/h.h"]);
    assert!(!inputs.open_ended);
}

#[test]
fn the_folder_of_the_including_header_comes_first() {
    let place = Place::new(&[("s/a.c", "#include <h.h>\n"), ("one/h.h", "#include \"i.h\"\n"), ("two/i.h", "")]);
    let inputs = place.inputs(&[], &["s/a.c", "one/h.h", "two/i.h"]);
    assert_eq!(place.absent(&inputs), ["one/i.h"]);
}

#[test]
fn the_next_header_of_a_name_is_looked_for_behind_its_own_folder() {
    let mut place = Place::new(&[("one/l.h", "#include_next <l.h>\n"), ("three/l.h", "")]);
    place.list.angled.push(place.path("three"));
    let inputs = place.inputs(&[], &["one/l.h", "three/l.h"]);
    assert_eq!(place.absent(&inputs), ["two/l.h"]);
}

#[test]
fn what_is_asked_for_and_nowhere_is_looked_for_everywhere() {
    let place = Place::new(&[
        (
            "s/a.c",
            "#include \"has.h\"\n#if __has_include(\"o.h\") || HAS(<p.h>)\n#endif\n#ifdef NEVER\n#include <windows.h>\n#endif\n",
        ),
        ("s/has.h", "#define HAS(x) __has_include(x)\n"),
    ]);
    let inputs = place.inputs(&[], &["s/a.c", "s/has.h"]);
    assert_eq!(place.absent(&inputs), ["one/o.h", "one/p.h", "s/o.h", "two/o.h", "two/p.h"]);
    assert!(!inputs.open_ended);
    fs::write(place.path("s/a.c"), "#if __has_include(NAME)\n#endif\n").unwrap();
    assert!(place.inputs(&[], &["s/a.c"]).open_ended);
}

#[test]
fn a_name_that_a_macro_makes_may_be_any_that_was_read() {
    let place = Place::new(&[("s/a.c", "#define H <h.h>\n#include H\n"), ("two/h.h", "")]);
    let inputs = place.inputs(&[], &["s/a.c", "two/h.h"]);
    assert!(place.absent(&inputs).contains(&"one/h.h".to_owned()), "{:?}", inputs.absent);
}

#[test]
fn folders_and_files_of_options_that_appear_are_seen() {
    let mut place = Place::new(&[("s/a.c", ""), ("cfg/own.cfg", "@more.rsp"), ("cfg/more.rsp", "-DA")]);
    place.list.missing = vec![place.path("none/include")];
    place.list.configuration_folders = vec![place.path("bin"), place.path("cfg")];
    place.list.configurations = vec![place.path("cfg/own.cfg")];
    fs::create_dir(place.path("bin")).unwrap();
    let inputs = place.inputs(&["--config=own.cfg"], &["s/a.c"]);
    let absent = place.absent(&inputs);
    for name in ["none", "bin/own.cfg", "bin/clang.cfg", "cfg/clang++.cfg"] {
        assert!(absent.contains(&name.to_owned()), "{name}: {absent:?}");
    }
    let files: BTreeSet<PathBuf> = ["cfg/own.cfg", "cfg/more.rsp"].map(|name| place.path(name)).into();
    assert_eq!(inputs.files, files);
}

#[test]
fn embedded_files_are_looked_for_in_their_own_folders() {
    let place = Place::new(&[("s/a.c", "#embed \"d.bin\"\n"), ("data/d.bin", "")]);
    let flag = format!("--embed-dir={}", place.path("data").display());
    let inputs = place.inputs(&[&flag], &["s/a.c", "data/d.bin"]);
    assert_eq!(place.absent(&inputs), ["s/d.bin"]);
}

#[test]
fn data_for_the_assembler_counts_by_content_and_holds_no_record_where_its_place_depends_on_the_folder() {
    let place = Place::new(&[("data.bin", "1")]);
    let whole = place.path("data.bin");
    fs::write(place.path("a.c"), format!("asm(\".incbin \\\"{}\\\"\");", whole.display())).unwrap();
    let inputs = place.inputs(&[], &["a.c"]);
    assert!(inputs.files.contains(&whole) && !inputs.open_ended);
    fs::write(place.path("a.c"), "asm(\".incbin \\\"data.bin\\\"\");").unwrap();
    assert!(place.inputs(&[], &["a.c"]).open_ended);
}

//! Tests of the search for tools, on mock machines of shell scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use super::*;

/// A made-up machine: a folder as `/`, with `bin` as its PATH and `tools` as its tool folder.
pub(super) struct Machine {
    folder: tempfile::TempDir,
    pub place: Place,
}

impl Machine {
    pub fn new() -> Self {
        Self::with(&[])
    }

    /// `vars`: name and path below the machine's root.
    pub fn with(vars: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().to_owned();
        let mut all = vec![("PATH", root.join("bin")), ("FFGRAD_TOOLS_DIR", root.join("tools"))];
        all.extend(vars.iter().map(|(name, path)| (*name, root.join(path))));
        let all: Vec<(&str, &Path)> = all.iter().map(|(name, path)| (*name, path.as_path())).collect();
        let place = Place::imagined(&root, &all);
        Self { folder, place }
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a shell script that counts its runs in `<name>.runs`.
    pub fn script(&self, path: &str, body: &str) -> PathBuf {
        let file = self.root().join(path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("create");
        let text = format!("#!/bin/sh\necho >> \"{}.runs\"\n{body}\n", file.display());
        fs::write(&file, text).expect("write");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("chmod");
        file
    }

    pub fn runs(&self, path: &str) -> usize {
        fs::read(self.root().join(format!("{path}.runs"))).map_or(0, |bytes| bytes.len())
    }

    pub fn file(&self, path: &str, text: &str) -> PathBuf {
        let file = self.root().join(path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("create");
        fs::write(&file, text).expect("write");
        file
    }

    fn clang(&self, path: &str, version: &str) {
        self.script(path, &format!("echo 'clang version {version} (x)'"));
    }

    /// A machine with everything on the system, except Enzyme.
    fn complete(self) -> Self {
        self.clang("bin/clang-22", "22.1.8");
        self.clang("bin/clang++-22", "22.1.8");
        self.file("usr/lib/libLLVM.so.22.1", "");
        self.script("bin/ffgrad-llvm", "echo 'ffgrad-llvm 0.1.0'");
        self
    }

    fn find(&self, choice: EngineChoice) -> Result<Tools, ToolchainError> {
        find_in(&self.place, &choice)
    }
}

fn error_of(found: Result<Tools, ToolchainError>) -> String {
    found.expect_err("must fail").to_string()
}

const CATALYST: &str = "echo 'LLVM version 22.0.0git'";

#[test]
fn everything_on_the_system_is_found_and_the_second_search_starts_nothing() {
    let machine = Machine::with(&[("FFGRAD_CATALYST", "opt/catalyst")]).complete();
    machine.script("opt/catalyst", CATALYST);
    let first = machine.find(EngineChoice::Auto).expect("finds all");
    assert_eq!((first.clang.version.as_str(), first.clang.origin), ("22.1.8", Origin::System));
    assert_eq!(first.worker.version, "0.1.0");
    assert_eq!(first.stdlib_flags, ["-stdlib=libstdc++"]);
    assert!(first.llvm_lib_dirs.is_empty(), "the loader finds /usr/lib by itself");
    assert!(matches!(&first.engine, Engine::Catalyst(tool) if tool.version == "22.0.0git"));

    let names = ["bin/clang-22", "bin/clang++-22", "bin/ffgrad-llvm", "opt/catalyst"];
    let runs = names.map(|name| machine.runs(name));
    let started = Instant::now();
    assert_eq!(machine.find(EngineChoice::Auto).expect("finds all"), first);
    assert!(started.elapsed().as_millis() < 100, "{:?}", started.elapsed());
    assert_eq!(names.map(|name| machine.runs(name)), runs);
}

#[test]
fn an_empty_machine_is_told_to_install() {
    let text = error_of(Machine::new().find(EngineChoice::Auto));
    assert!(text.starts_with("clang 22 was not found\n  looked in: PATH"), "{text}");
    assert!(text.ends_with("run `ffgrad toolchain install`"), "{text}");
}

#[test]
fn a_clang_of_another_version_is_passed_over_and_named() {
    let machine = Machine::new();
    machine.clang("bin/clang", "19.1.7");
    let text = error_of(machine.find(EngineChoice::Auto));
    assert!(text.contains("bin/clang (version 19.1.7)"), "{text}");
}

#[test]
fn a_clang_named_clang_is_taken_if_it_is_22() {
    let machine = Machine::new().complete();
    fs::remove_file(machine.root().join("bin/clang-22")).expect("remove");
    machine.clang("bin/clang", "22.1.0");
    machine.clang("bin/clang++", "22.1.0");
    let text = error_of(machine.find(EngineChoice::Catalyst));
    assert!(text.starts_with("Enzyme was not found"), "{text}");
}

#[test]
fn an_older_clang_is_taken_only_when_named_and_a_newer_one_never() {
    let older = Machine::with(&[("FFGRAD_CLANG", "own/clang"), ("FFGRAD_CATALYST", "opt/catalyst")]).complete();
    older.script("opt/catalyst", CATALYST);
    older.clang("own/clang", "19.1.7");
    older.clang("own/clang++", "19.1.7");
    assert_eq!(older.find(EngineChoice::Auto).expect("finds all").clang.origin, Origin::Env);
    older.clang("own/clang", "23.1.0 and longer");
    let text = error_of(older.find(EngineChoice::Auto));
    assert!(text.contains("cannot be used: it is version 23"), "{text}");
    assert!(text.contains("FFGRAD_CLANG"), "{text}");
}

#[test]
fn a_wrapper_called_clang_is_passed_over() {
    let machine = Machine::new();
    machine.script("bin/ccache", "echo 'clang version 22.1.8'");
    std::os::unix::fs::symlink("ccache", machine.root().join("bin/clang")).expect("link");
    assert!(error_of(machine.find(EngineChoice::Auto)).starts_with("clang 22 was not found"));
    assert_eq!(machine.runs("bin/clang"), 0);
}

#[test]
fn a_clang_that_crashes_does_not_hide_a_good_one_behind_it() {
    let machine = Machine::with(&[("FFGRAD_CATALYST", "opt/catalyst")]).complete();
    machine.script("opt/catalyst", CATALYST);
    machine.script("bin/clang-22", "kill -SEGV $$");
    machine.clang("usr/lib/llvm-22/bin/clang", "22.1.8");
    machine.clang("usr/lib/llvm-22/bin/clang++", "22.1.8");
    let tools = machine.find(EngineChoice::Auto).expect("finds all");
    assert!(tools.clang.path.ends_with("usr/lib/llvm-22/bin/clang"));
}

#[test]
fn a_changed_tool_changes_the_identities_and_nothing_else_does() {
    let machine = Machine::with(&[("FFGRAD_CATALYST", "opt/catalyst")]).complete();
    machine.script("opt/catalyst", CATALYST);
    let before = machine.find(EngineChoice::Auto).expect("finds all").identities();
    machine.script("opt/catalyst", CATALYST);
    assert_eq!(machine.find(EngineChoice::Auto).expect("finds all").identities(), before);
    machine.script("opt/catalyst", &format!("{CATALYST} # rebuilt"));
    assert_ne!(machine.find(EngineChoice::Auto).expect("finds all").identities(), before);
}

#[test]
fn without_any_cxx_headers_c_still_works() {
    let machine = Machine::with(&[("FFGRAD_CATALYST", "opt/catalyst")]).complete();
    machine.script("opt/catalyst", CATALYST);
    machine.script("bin/clang++-22", "case $1 in --version) echo 'clang version 22.1.8';; *) exit 1;; esac");
    let tools = machine.find(EngineChoice::Auto).expect("finds all");
    assert!(tools.stdlib_flags.is_empty() && tools.stdlib_link_flags.is_empty());
}

#[test]
fn libcxx_is_taken_where_libstdcxx_does_not_compile() {
    let machine = Machine::with(&[("FFGRAD_CATALYST", "opt/catalyst")]).complete();
    machine.script("opt/catalyst", CATALYST);
    let body = "case $1 in --version) echo 'clang version 22.1.8';; -stdlib=libstdc++) exit 1;; esac";
    machine.script("bin/clang++-22", body);
    assert_eq!(machine.find(EngineChoice::Auto).expect("finds all").stdlib_flags, ["-stdlib=libc++"]);
}

#[test]
fn a_plugin_is_paired_with_the_opt_of_its_llvm() {
    let machine = Machine::new().complete();
    machine.file("usr/lib/llvm-15/lib/LLVMEnzyme-15.so", "elf");
    let without = error_of(machine.find(EngineChoice::Plugin(None)));
    assert!(without.contains("there is no opt-15 to load it") && without.contains("llvm-15"), "{without}");
    machine.script("usr/lib/llvm-15/bin/opt", "echo 'Debian LLVM version 15.0.6'");
    match machine.find(EngineChoice::Auto).expect("finds the plugin").engine {
        Engine::Plugin { llvm_major, opt, .. } => assert_eq!((llvm_major, opt.version.as_str()), (15, "15.0.6")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_plugin_with_the_opt_of_another_llvm_is_refused() {
    let machine =
        Machine::with(&[("FFGRAD_ENZYME_PLUGIN", "p/LLVMEnzyme-19.so"), ("FFGRAD_OPT", "bin/opt")]).complete();
    machine.file("p/LLVMEnzyme-19.so", "elf");
    machine.script("bin/opt", "echo 'LLVM version 22.1.8'");
    let text = error_of(machine.find(EngineChoice::Plugin(None)));
    assert!(text.contains("built for LLVM 19") && text.contains("set FFGRAD_OPT to opt-19"), "{text}");
}

#[test]
fn a_plugin_named_in_the_options_that_does_not_exist_is_an_error() {
    let machine = Machine::new().complete();
    let text = error_of(machine.find(EngineChoice::Plugin(Some("/no/LLVMEnzyme-15.so".into()))));
    assert!(text.contains("/no/LLVMEnzyme-15.so cannot be used: there is no such file"), "{text}");
}

#[test]
fn a_worker_that_does_not_load_is_an_error_with_the_loaders_words() {
    let machine = Machine::with(&[("FFGRAD_CATALYST", "opt/catalyst")]).complete();
    machine.script("opt/catalyst", CATALYST);
    machine.script("bin/ffgrad-llvm", "echo 'libLLVM.so.22.1: cannot open' >&2; exit 127");
    let text = error_of(machine.find(EngineChoice::Auto));
    assert!(text.contains("libLLVM.so.22.1: cannot open") && text.contains("FFGRAD_WORKER"), "{text}");
}

#[test]
fn the_workers_folders_are_searched_before_path() {
    let mut machine = Machine::with(&[("FFGRAD_CATALYST", "opt/catalyst")]).complete();
    machine.script("opt/catalyst", CATALYST);
    let own = machine.script("site/ffgrad/bin/ffgrad-llvm", "echo 'ffgrad-llvm 0.1.1'");
    machine.place.worker_dirs.push(machine.root().join("site/ffgrad/bin"));
    assert_eq!(machine.find(EngineChoice::Auto).expect("finds all").worker.path, own);
}

#[test]
fn the_doctor_names_what_is_missing_and_how_to_mend_it() {
    let machine = Machine::new();
    machine.clang("bin/clang", "19.1.7");
    let checks = doctor::examine(&machine.place);
    let named = |name: &str| checks.iter().find(|check| check.name == name).expect("a check");
    assert_eq!(named("clang").status, Status::Missing);
    assert!(matches!(&named("clang (other)").status, Status::Unusable(why) if why.contains("version 19")));
    assert!(named("engine").blocks() && !named("pip").blocks());
    let table = render(&checks);
    assert!(table.contains("MISSING  clang"), "{table}");
    assert!(table.contains("→ run `ffgrad toolchain install`"), "{table}");
    serde_json::to_string(&checks).expect("serialises");
}

#[test]
fn the_doctor_sees_an_engine_that_leaves_the_call_in_place() {
    let machine = Machine::with(&[("FFGRAD_CATALYST", "opt/catalyst")]);
    machine.script("opt/catalyst", "case $1 in --version) echo 'LLVM version 22.0.0';; *) cat;; esac");
    let checks = doctor::examine(&machine.place);
    let engine = checks.iter().find(|check| check.name == "engine: catalyst").expect("a check");
    assert!(matches!(&engine.status, Status::Unusable(why) if why.contains("left the call")), "{engine:?}");
}

//! Every field of a key changes it, and nothing else does. What needs compilers and files is in `tests/system/test_keys.py`.

use super::*;
use crate::options::{Bounds, GivenDerivative, Mode, Options, Reach, Verify};
use core_ad::checkpoint::Placement;
use core_ad::cuda::Extent;
use core_ad::passes::PassName;
use core_ad::protocol::{Math, Pipeline};
use std::collections::BTreeSet;

const HERE: Here<'static> = Here { format: 7, cpu: "x86_64-0123", cuda_header: "// header", environment: "" };

fn spec() -> Spec {
    Spec { sources: vec!["/s/a.c".into()], function: "f".into(), signature: None, options: Options::default() }
}

fn source(path: &str, digest: &str) -> Source {
    Source { path: path.into(), digest: digest.into() }
}

fn tool(name: &str, version: &str) -> ToolRecord {
    ToolRecord { name: name.into(), version: version.into() }
}

fn read() -> [Source; 3] {
    [source("/s/a.c", "aa"), source("/s/inc/a.h", "bb"), source("/usr/include/math.h", "cc")]
}

fn tools() -> [ToolRecord; 2] {
    [tool("clang", "22.1.8 5f3a"), tool("engine", "0.0.238 77aa")]
}

fn key_of(spec: &Spec) -> String {
    fields_of(spec, &read(), &tools(), HERE).finish()
}

fn key_with(change: impl FnOnce(&mut Spec)) -> String {
    let mut changed = spec();
    change(&mut changed);
    key_of(&changed)
}

fn key_reading(sources: &[Source]) -> String {
    fields_of(&spec(), sources, &tools(), HERE).finish()
}

fn functions(names: [&str; 2]) -> GivenDerivative {
    GivenDerivative::Functions(names.map(str::to_owned).to_vec())
}

type Change = fn(&mut Options);

/// For every option a change of it. A new option does not compile here before it has a row in [`changes`].
fn every_option(options: Options) -> usize {
    let Options {
        flags: _,
        include_dirs: _,
        defines: _,
        libraries: _,
        sizes: _,
        math: _,
        cpu: _,
        inactive: _,
        derivatives: _,
        ignored_derivatives: _,
        reach: _,
        verify: _,
        bounds: _,
        loose_types: _,
        arena: _,
        tune: _,
        mode: _,
        specialize: _,
        without: _,
        threads: _,
        mpi: _,
        engine_options: _,
        pipeline: _,
        fixed_sizes: _,
        engine: _,
        timeout: _,
        grid: _,
        block: _,
        shared: _,
        repeat: _,
        snapshots: _,
        memory: _,
        schedule: _,
        snapshot_dir: _,
        compress: _,
        until: _,
        checkpoint: _,
        progress: _,
        constants: _,
    } = options;
    39
}

fn changes() -> Vec<(&'static str, Change)> {
    vec![
        ("flags", |o| o.flags = vec!["-std=c99".into()]),
        ("include_dirs", |o| o.include_dirs = vec!["inc".into()]),
        ("defines", |o| o.defines = [("A".to_owned(), Some("1".to_owned()))].into()),
        ("libraries", |o| o.libraries = vec!["m".into()]),
        ("sizes", |o| o.sizes = [("k".to_owned(), 3)].into()),
        ("math", |o| o.math = Math::Fast),
        ("cpu", |o| o.cpu = "x86-64-v3".into()),
        ("inactive", |o| o.inactive = vec!["log".into()]),
        ("derivatives", |o| o.derivatives = [("f".to_owned(), functions(["f_fwd", "f_rev"]))].into()),
        ("ignored_derivatives", |o| o.ignored_derivatives = vec!["f".into()]),
        ("reach", |o| o.reach = Some(Reach { chosen: [("g".to_owned(), 1)].into(), ..Reach::default() })),
        ("verify", |o| o.verify = Verify::Off),
        ("bounds", |o| o.bounds = Bounds::Check),
        ("loose_types", |o| o.loose_types = true),
        ("arena", |o| o.arena = false),
        ("tune", |o| o.tune = true),
        ("mode", |o| o.mode = Mode::Tape),
        ("specialize", |o| o.specialize = true),
        ("without", |o| o.without = PassName::of("scatter-to-gather").into_iter().collect()),
        ("threads", |o| o.threads = Some(4)),
        ("mpi", |o| o.mpi = true),
        ("engine_options", |o| o.engine_options = vec!["enzyme-max-cache=1".into()]),
        ("pipeline", |o| o.pipeline = Some(Pipeline::O2)),
        ("fixed_sizes", |o| o.fixed_sizes = [("n".to_owned(), 3)].into()),
        ("constants", |o| o.constants = [("c".to_owned(), serde_json::json!([1.5]))].into()),
        ("engine", |o| o.engine = "plugin".into()),
        ("timeout", |o| o.timeout = 1),
        ("grid", |o| o.grid = vec![Extent::Number(3)]),
        ("block", |o| o.block = vec![Extent::Number(3)]),
        ("shared", |o| o.shared = Some(Extent::Number(3))),
        ("repeat", |o| o.repeat = Some("t".into())),
        ("snapshots", |o| o.snapshots = Some(3)),
        ("memory", |o| o.memory = Some("2G".into())),
        ("schedule", |o| o.schedule = Placement::Periodic),
        ("snapshot_dir", |o| o.snapshot_dir = Some("snapshots".into())),
        ("compress", |o| o.compress = true),
        ("until", |o| o.until = Some("done".into())),
        ("checkpoint", |o| o.checkpoint = [("a.c:7".to_owned(), 3)].into()),
        ("progress", |o| o.progress = true),
    ]
}

#[test]
fn each_option_changes_the_key_or_is_named_as_one_that_changes_no_code() {
    let mut seen = BTreeSet::new();
    for (name, change) in changes() {
        let changed = key_with(|s| change(&mut s.options)) != key_of(&spec());
        assert_ne!(changed, RUNTIME.contains(&name), "{name}");
        assert!(seen.insert(name), "{name} stands twice");
        // The name is the one in JSON: only that member differs.
        let (mut one, other) = (Options::default(), serde_json::to_value(Options::default()).unwrap());
        change(&mut one);
        let one = serde_json::to_value(one).unwrap();
        let members = one.as_object().unwrap();
        let differ: Vec<&String> = members.iter().filter(|(k, v)| other.get(k) != Some(v)).map(|(k, _)| k).collect();
        assert_eq!(differ, [name]);
    }
    assert_eq!(seen.len(), every_option(Options::default()));
}

#[test]
fn one_thread_has_code_of_its_own_where_there_are_parallel_regions() {
    let key = |flags: &[&str], threads| {
        key_with(|s| {
            s.options.flags = flags.iter().map(|f| (*f).to_owned()).collect();
            s.options.threads = threads;
        })
    };
    assert_eq!(key(&[], Some(1)), key(&[], None));
    assert_eq!(key(&["-fopenmp"], Some(2)), key(&["-fopenmp"], None));
    assert_ne!(key(&["-fopenmp"], Some(1)), key(&["-fopenmp"], None));
}

#[test]
fn each_part_of_what_is_asked_for_changes_the_key() {
    let Spec { sources: _, function: _, signature: _, options: _ } = spec();
    let keys = [
        key_of(&spec()),
        key_with(|s| s.sources = vec!["/s/b.c".into()]),
        key_with(|s| s.function = "g".into()),
        key_with(|s| s.signature = Some("x[n] -> y[n]".into())),
        key_with(|s| s.signature = Some(String::new())),
    ];
    assert_eq!(BTreeSet::from(keys).len(), 5);
}

#[test]
fn values_and_order_within_an_option_change_the_key() {
    let lists: [fn(&mut Options, Vec<&str>); 3] = [
        |o, v| o.flags = v.into_iter().map(str::to_owned).collect(),
        |o, v| o.include_dirs = v.into_iter().map(PathBuf::from).collect(),
        |o, v| o.libraries = v.into_iter().map(str::to_owned).collect(),
    ];
    for set in lists {
        let keys =
            [vec!["a", "b"], vec!["b", "a"], vec!["ab"], vec!["a"]].map(|v| key_with(|s| set(&mut s.options, v)));
        assert_eq!(BTreeSet::from(keys).len(), 4);
    }
    let define =
        |value: Option<&str>| key_with(|s| s.options.defines = [("A".to_owned(), value.map(str::to_owned))].into());
    assert_eq!(BTreeSet::from([define(None), define(Some("")), define(Some("1")), define(Some("2"))]).len(), 4);
}

#[test]
fn each_part_of_the_program_and_the_machine_changes_the_key() {
    let kernel = Spec { sources: vec!["/s/k.cu".into()], ..spec() };
    let of = |here: Here<'_>| fields_of(&kernel, &read(), &tools(), here).finish();
    let Here { format: _, cpu: _, cuda_header: _, environment: _ } = HERE;
    let keys = [
        of(HERE),
        of(Here { format: 8, ..HERE }),
        of(Here { cpu: "x86_64-4567", ..HERE }),
        of(Here { cuda_header: "// other", ..HERE }),
        of(Here { environment: "CCC_OVERRIDE_OPTIONS=+-DN\0", ..HERE }),
    ];
    assert_eq!(BTreeSet::from(keys).len(), 5);
    // Code for a level does not depend on the machine that compiles it.
    let level = Spec { options: Options { cpu: "x86-64-v2".into(), ..Options::default() }, ..spec() };
    let of = |cpu: &str| fields_of(&level, &read(), &tools(), Here { cpu, ..HERE }).finish();
    assert_eq!(of("x86_64-0123"), of("x86_64-4567"));
}

#[test]
fn name_version_and_number_of_tools_change_the_key() {
    let of = |tools: &[ToolRecord]| fields_of(&spec(), &read(), tools, HERE).finish();
    let [clang, engine] = tools();
    let keys = [
        of(&[clang.clone(), engine.clone()]),
        of(&[tool("clang", "22.1.8 5f3b"), engine.clone()]),
        of(&[tool("clang", "22.1.9 5f3a"), engine.clone()]),
        of(&[clang.clone(), tool("plugin", "0.0.238 77aa")]),
        of(&[clang, engine, tool("flang", "22.1.8")]),
    ];
    assert_eq!(BTreeSet::from(keys).len(), 5);
}

#[test]
fn the_content_of_each_file_read_and_its_place_below_the_sources_change_the_key() {
    let [own, header, system] = read();
    let keys = [
        key_reading(&[own.clone(), header.clone(), system.clone()]),
        key_reading(&[source("/s/a.c", "a2"), header.clone(), system.clone()]),
        key_reading(&[own.clone(), source("/s/inc/a.h", "b2"), system.clone()]),
        key_reading(&[own.clone(), header.clone(), source("/usr/include/math.h", "c2")]),
        key_reading(&[own.clone(), source("/s/inc/b.h", "bb"), system.clone()]),
        // A module file that a Fortran source uses is a file as any other.
        key_reading(&[own.clone(), header.clone(), system.clone(), source("/s/grid.mod", "dd")]),
        key_reading(&[own.clone(), header.clone(), system.clone(), source("/s/grid.mod", "d2")]),
        // So is a library.
        key_reading(&[own.clone(), header.clone(), system.clone(), source("/usr/lib/libx.a", "ee")]),
        key_reading(&[own.clone(), header.clone(), system.clone(), source("/usr/lib/libx.a", "e2")]),
        key_reading(&[own.clone(), header.clone(), system.clone(), source("/usr/lib/libx.so", "loaded as libx.so.1")]),
        key_reading(&[own.clone(), header.clone(), system.clone(), source("/usr/lib/libx.so", "loaded as libx.so.2")]),
        key_reading(&[own, header]),
    ];
    assert_eq!(BTreeSet::from(keys).len(), 12);
}

#[test]
fn a_derivative_by_what_is_solved_differs_in_each_of_its_parts() {
    let of = |text: &str| {
        let given: GivenDerivative = serde_json::from_str(text).unwrap();
        key_with(|s| s.options.derivatives = [("f".to_owned(), given)].into())
    };
    let keys = [
        r#"["r", "s"]"#,
        r#"{"implicit": "r"}"#,
        r#"{"implicit": "s"}"#,
        r#"{"implicit": "r", "kind": "fixed_point"}"#,
        r#"{"implicit": "r", "unknown": "x"}"#,
        r#"{"implicit": "r", "size": "n"}"#,
        r#"{"implicit": "r", "size": 3}"#,
        r#"{"implicit": "r", "tolerance": 0.01}"#,
    ]
    .map(of);
    assert_eq!(BTreeSet::from(keys).len(), 8);
}

#[test]
fn a_driver_that_was_built_of_other_sources_differs() {
    assert_eq!(SOURCES.len(), 16);
    assert_eq!(driver(), driver_of(SOURCES));
    assert_ne!(driver(), driver_of("0123456789abcdef"));
}

#[test]
fn headers_that_exchange_their_content_are_another_program() {
    let of = |a: &str, b: &str| key_reading(&[source("/s/a.c", "aa"), source("/s/a.h", a), source("/s/b.h", b)]);
    assert_ne!(of("1", "2"), of("2", "1"));
}

#[test]
fn the_same_text_in_another_language_is_another_program() {
    let of = |path: &str| {
        fields_of(&Spec { sources: vec![path.into()], ..spec() }, &[source(path, "aa")], &tools(), HERE).finish()
    };
    assert_ne!(of("/s/a.c"), of("/s/a.cpp"));
}

#[test]
fn a_folder_of_sources_can_be_moved_and_files_be_listed_in_any_order() {
    let at = |root: &str| {
        let spec = Spec { sources: vec![format!("{root}/a.c").into()], ..spec() };
        let mut sources =
            [source(&format!("{root}/a.c"), "aa"), source(&format!("{root}/inc/a.h"), "bb"), source("/usr/x.h", "cc")];
        if root.len().is_multiple_of(2) {
            sources.reverse();
        }
        fields_of(&spec, &sources, &tools(), HERE).finish()
    };
    assert_eq!(at("/s"), at("/home/else/where"));
    assert_eq!(at("/s"), at("/other"));
}

#[test]
fn the_order_of_sources_changes_the_key() {
    let mut two = spec();
    two.sources = vec!["/s/a.c".into(), "/s/b.c".into()];
    let mut reversed = two.clone();
    reversed.sources.reverse();
    let sources = [source("/s/a.c", "aa"), source("/s/b.c", "bb")];
    let of = |spec: &Spec| fields_of(spec, &sources, &[], HERE).finish();
    assert_ne!(of(&two), of(&reversed));
}

#[test]
fn fields_cannot_run_into_each_other() {
    let of = |a: &str, b: &str| Fields::new("t", HERE).add("l", a.as_bytes()).add("l", b.as_bytes()).finish();
    assert_ne!(of("ab", "c"), of("a", "bc"));
    let labelled = |label: &str| Fields::new("t", HERE).add(label, b"x").finish();
    assert_ne!(labelled("l"), labelled("m"));
}

#[test]
fn the_table_in_caching_md_is_what_is_hashed() {
    let text = include_str!("../../../../CACHING.md");
    let table = text.split("| field | |\n|---|---|\n").nth(1).and_then(|t| t.split("\n\n").next()).unwrap();
    let rows: Vec<(&str, &str)> =
        table.lines().map(|row| row.trim_matches(['|', ' ']).split_once(" | ").unwrap()).collect();
    let written: Vec<&str> = rows.iter().flat_map(|(fields, _)| fields.split(", ")).collect();
    let kernel = Spec { sources: vec!["/s/k.cu".into()], signature: Some("x[n] -> return".into()), ..spec() };
    let mut hashed = fields_of(&kernel, &read(), &tools(), HERE).labels;
    hashed.dedup();
    assert_eq!(written, hashed);
    let (_, options) = rows.iter().find(|(field, _)| *field == "options").unwrap();
    let left_out: Vec<&str> = options.split('`').skip(1).step_by(2).collect();
    assert_eq!(left_out, RUNTIME);
}

#[test]
fn options_that_depend_on_the_working_folder_are_known() {
    let of = |change: Change| {
        let mut options = Options::default();
        change(&mut options);
        options.are_relative()
    };
    assert!(of(|o| o.include_dirs = vec!["inc".into()]));
    assert!(of(|o| o.libraries = vec!["./libown.a".into()]));
    assert!(of(|o| o.flags = vec!["-Iinc".into()]));
    assert!(of(|o| o.flags = vec!["-include".into(), "x.h".into()]));
    assert!(of(|o| o.flags = vec!["-fprofile-use=data".into()]));
    for flag in ["@own.rsp", "--config=own.cfg", "--sysroot=s", "-Wp,-include,x.h", "-T", "-isystem"] {
        assert!(Options { flags: vec![flag.into()], ..Options::default() }.are_relative(), "{flag}");
    }
    assert!(!of(|o| o.include_dirs = vec!["/inc".into()]));
    assert!(!of(|o| o.libraries = vec!["m".into(), "/lib/libown.a".into()]));
    assert!(!of(|o| o.flags = vec!["-std=c++20".into(), "-O3".into(), "-fopenmp".into(), "-DN=3".into()]));
}

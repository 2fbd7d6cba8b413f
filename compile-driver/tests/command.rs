//! Tests of the command `ffgrad`: exit statuses, the shape of what `--json` prints, no colour where no terminal is.

use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const CUBE: &str =
    "void cube(const double* x, int n, double* y) { for (int i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i]; }\n";

/// A folder with a source, where the command runs with a cache of its own.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("cube.c"), CUBE).unwrap();
        Place(folder)
    }

    fn run(&self, words: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ffgrad"));
        command.args(words.split(' ')).current_dir(self.0.path());
        command.env("FFGRAD_CACHE_DIR", self.0.path().join("cache"));
        if let Some(worker) = worker() {
            command.env("FFGRAD_WORKER", worker);
        }
        command.output().unwrap()
    }

    /// What a verb prints with `--json`, and its exit status.
    fn json(&self, words: &str) -> (Value, Option<i32>) {
        let output = self.run(&format!("{words} --json"));
        let text = String::from_utf8(output.stdout).unwrap();
        let value = serde_json::from_str(&text)
            .unwrap_or_else(|e| panic!("{words}: {e}\n{text}{}", String::from_utf8_lossy(&output.stderr)));
        (value, output.status.code())
    }
}

/// The worker that the surroundings name, or where `make tools` put it; the build of the tests has none beside it.
fn worker() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("FFGRAD_WORKER") {
        return Some(PathBuf::from(named));
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let worker = here.join("../py/python/ffgrad/bin/ffgrad-llvm");
    worker.is_file().then_some(worker)
}

/// Values by their types; of lists the first element; of maps whose names are data, that of the first name.
fn shape(value: &Value) -> Value {
    const MAPS: [&str; 4] = ["digests", "files", "functions", "sizes"];
    let of = |name: &str, inner: &Value| match inner.as_object() {
        Some(members) if MAPS.contains(&name) => {
            let first = members.iter().next().map(|(_, v)| ("...".to_owned(), shape(v)));
            Value::Object(first.into_iter().collect())
        }
        _ => shape(inner),
    };
    match value {
        Value::Null => "null".into(),
        Value::Bool(_) => "bool".into(),
        Value::Number(n) if n.is_f64() => "float".into(),
        Value::Number(_) => "integer".into(),
        Value::String(_) => "string".into(),
        Value::Array(all) => Value::Array(all.first().map(shape).into_iter().collect()),
        Value::Object(all) => Value::Object(all.iter().map(|(k, v)| (k.clone(), of(k, v))).collect::<Map<_, _>>()),
    }
}

fn shapes(place: &Place, verbs: &[&str]) -> String {
    let mut text = String::new();
    for verb in verbs {
        let (value, status) = place.json(verb);
        text.push_str(&format!("$ ffgrad {verb} --json\n{:#}\nexit {}\n\n", shape(&value), status.unwrap_or(-1)));
    }
    text
}

#[test]
fn json_keeps_its_shape_where_no_tool_is_needed() {
    let verbs = [
        "explain dtype",
        "cache list",
        "cache prune",
        "cache clear",
        "cache verify",
        "contents nothing.ffpack",
        "show nothing.c f",
        "explain nonsense",
    ];
    insta::assert_snapshot!(shapes(&Place::new(), &verbs));
}

#[test]
fn json_keeps_its_shape_where_tools_build() {
    if worker().is_none() {
        eprintln!("skipped: `make tools` has not built the worker");
        return;
    }
    let verbs = [
        "build cube.c cube",
        "show cube.c cube",
        "show cube.c cube --derivative",
        "check cube.c cube",
        "export p.ffpack cube.c cube",
        "contents p.ffpack",
        "cache list",
        "cache verify",
        "toolchain libdir",
    ];
    insta::assert_snapshot!(shapes(&Place::new(), &verbs));
}

#[test]
fn doctor_names_every_tool_in_the_same_way() {
    // What it finds depends on the machine.
    let (value, status) = Place::new().json("doctor");
    let checks = value.as_array().unwrap();
    assert!(!checks.is_empty() && matches!(status, Some(0 | 1)));
    for check in checks {
        let names: Vec<&String> = check.as_object().unwrap().keys().collect();
        assert_eq!(names, ["mend", "name", "origin", "path", "remedy", "required", "status", "version"]);
    }
}

#[test]
fn exit_statuses_are_those_of_the_help() {
    let place = Place::new();
    let status = |words: &str| place.run(words).status.code();
    assert_eq!(status("explain dtype"), Some(0));
    assert_eq!(status("--version"), Some(0));
    assert_eq!(status("show --help"), Some(0));
    assert_eq!(status("explain nonsense"), Some(1));
    assert_eq!(status("show nothing.c f"), Some(1));
    assert_eq!(status("explain --nonsense"), Some(2));
    assert_eq!(status("nonsense"), Some(2));
    assert_eq!(status("cache prune --size big"), Some(2));
}

#[test]
fn errors_go_to_standard_error_and_with_json_to_both() {
    let place = Place::new();
    let plain = place.run("show nothing.c f");
    assert!(plain.stdout.is_empty());
    let printed = String::from_utf8(plain.stderr).unwrap();
    assert!(printed.starts_with("error: there is no file `nothing.c`"), "{printed}");
    let (value, status) = place.json("show nothing.c f");
    let error = &value["error"];
    assert_eq!((&error["class"], &error["code"]), (&"CompileError".into(), &"no-such-file".into()));
    assert!(printed.contains(error["message"].as_str().unwrap()));
    assert_eq!(status, Some(1));
}

#[test]
fn no_escape_sequence_goes_where_no_terminal_is() {
    let place = Place::new();
    for words in ["--help", "doctor", "explain", "nonsense", "show nothing.c f", "completions bash"] {
        let output = place.run(words);
        let all = [output.stdout, output.stderr].concat();
        assert!(!all.contains(&0x1b), "{words}");
    }
}

#[test]
fn every_shell_gets_a_completion_that_knows_the_verbs() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = String::from_utf8(place.run(&format!("completions {shell}")).stdout).unwrap();
        for verb in ["toolchain", "doctor", "build", "show", "check", "export", "contents", "cache", "explain"] {
            assert!(script.contains(verb), "{shell} does not complete `{verb}`");
        }
    }
}

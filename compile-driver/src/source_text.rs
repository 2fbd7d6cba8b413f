//! Reads the user's source files: refuses unreadable ones, quotes lines for messages.

use crate::error::{Error, Result};
use crate::options::Spec;
use core_ad::diagnostics::{Diagnosis, Location};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Refuses sources that are no files, or that cannot be read.
///
/// # Errors
///
/// A compile error that names what is in the place of the first such file.
pub fn check(spec: &Spec) -> Result<()> {
    if spec.sources.is_empty() {
        let headline = format!("no source file was given for `{}`", spec.function);
        return Err(Error::compile(Diagnosis::new("no-source", &spec.function, headline)));
    }
    for source in &spec.sources {
        if !source.is_file() {
            return Err(no_such_file(spec, source));
        }
        if let Err(error) = fs::File::open(source) {
            return Err(unreadable(spec, source, &error));
        }
        // Compilers list the files that they read line by line.
        if source.as_os_str().as_encoded_bytes().contains(&b'\n') {
            let headline = format!("the name of the source {source:?} has a line break in it");
            let diagnosis = Diagnosis::new("unreadable-source", &spec.function, headline);
            return Err(Error::compile(diagnosis.advise("Rename the file.")));
        }
    }
    Ok(())
}

/// The error for a source that is there and cannot be read.
pub fn unreadable(spec: &Spec, source: &Path, error: &std::io::Error) -> Error {
    let headline = format!("the source `{}` cannot be read: {error}", source.display());
    let diagnosis = Diagnosis::new("unreadable-source", &spec.function, headline);
    Error::compile(diagnosis.advise("Check its permissions, and whether it is a plain file."))
}

/// The sources as the user gave them.
pub fn names(spec: &Spec) -> String {
    spec.sources.iter().map(|s| s.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Adds the text of the source line to a location.
pub fn with_text(mut at: Location) -> Location {
    let text = fs::read(&at.file).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default();
    at.text = (at.line as usize).checked_sub(1).and_then(|i| text.lines().nth(i)).map(str::to_owned);
    at
}

fn no_such_file(spec: &Spec, source: &Path) -> Error {
    if source.as_os_str().as_encoded_bytes().iter().any(|b| b"{\n".contains(b)) && !source.exists() {
        let headline = "the source is given as text, where the path of a file is expected".to_owned();
        return Error::compile(Diagnosis::new("no-such-file", &spec.function, headline).advise(
            "Write it to a file first, f.c for instance; in a notebook `%%ffgrad` compiles the text of a cell.",
        ));
    }
    let shown = source.display();
    let (headline, is_there) = match (fs::metadata(source), source.is_symlink()) {
        (Ok(found), _) if found.is_dir() => (format!("`{shown}` is a folder, not a source file"), true),
        (Ok(_), _) => (format!("`{shown}` is a pipe, a device or a socket, not a source file"), true),
        (Err(error), true) if error.kind() == ErrorKind::NotFound => {
            (format!("`{shown}` is a symbolic link to a file that does not exist"), true)
        }
        (Err(error), true) => (format!("`{shown}` is a symbolic link that leads nowhere: {error}"), true),
        (Err(error), false) if error.kind() == ErrorKind::PermissionDenied => return unreadable(spec, source, &error),
        (Err(_), false) => (format!("there is no file `{shown}`"), false),
    };
    let mut diagnosis = Diagnosis::new("no-such-file", &spec.function, headline);
    // The command takes any number of files before the function's name, so a signature behind it makes a file of that.
    if spec.function.contains("->") {
        let signature = &spec.function;
        diagnosis =
            diagnosis.advise(format!("A signature is given as an option: FUNCTION --signature \"{signature}\"."));
    }
    Error::compile(if is_there { diagnosis } else { with_closest(diagnosis, source) })
}

fn with_closest(diagnosis: Diagnosis, source: &Path) -> Diagnosis {
    let folder = source.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return diagnosis.advise(format!("The folder `{}` does not exist.", folder.display()));
    }
    let wanted = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<String> = names.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    let close = core_ad::names::closest(&wanted, names.iter().map(String::as_str));
    if close.is_empty() {
        return diagnosis;
    }
    let close: Vec<String> = close.iter().map(|c| format!("`{c}`")).collect();
    diagnosis.advise(format!("Close to it: {}.", close.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    fn text_of(source: PathBuf) -> String {
        let spec = Spec { sources: vec![source], function: "f".into(), signature: None, options: Default::default() };
        check(&spec).expect_err("is no source").to_string()
    }

    #[test]
    fn what_stands_in_the_place_of_a_file_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        symlink(at("nowhere.c"), at("dangling.c")).expect("a link");
        symlink(at("round.c"), at("round.c")).expect("a link");
        fs::write(at("a\nb.c"), "").expect("a file");
        assert!(text_of(folder.path().to_owned()).contains("is a folder"));
        assert!(text_of("/dev/null".into()).contains("a device"));
        assert!(text_of(at("dangling.c")).contains("a file that does not exist"));
        assert!(text_of(at("round.c")).contains("leads nowhere"));
        assert!(text_of(at("a\nb.c")).contains("line break"));
        assert!(text_of(at("absent.c")).contains("there is no file"));
        assert!(text_of("double f(double x) { return x; }".into()).starts_with("the source is given as text"));
    }
}

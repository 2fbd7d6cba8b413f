//! Command-line arguments that several verbs share: files, function, signature and the options of the build.

use std::path::{Path, PathBuf};

use clap::Args;
use compile_driver::options::{Options, Spec};

/// A function in source files.
#[derive(Args)]
pub struct Source {
    /// Source files; all are linked
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The function: C name, C++ name (with parameters if overloaded), or template instance
    function: String,
    /// Shapes and results, where the defaults do not fit
    #[arg(long, short)]
    signature: Option<String>,
    /// Folder for #include
    #[arg(short = 'I', value_name = "DIR")]
    include_dirs: Vec<PathBuf>,
    /// Macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = define)]
    defines: Vec<(String, Option<String>)>,
    /// Compiler flag, for instance --flag=-std=c++20
    #[arg(long = "flag", value_name = "FLAG", allow_hyphen_values = true)]
    flags: Vec<String>,
    /// Library to link: a name or a path
    #[arg(short = 'l', long = "library", value_name = "LIB")]
    libraries: Vec<String>,
    /// Value of a dimension that no input has
    #[arg(long = "size", value_name = "NAME=N", value_parser = size)]
    sizes: Vec<(String, i64)>,
    /// The CPU to compile for: native, x86-64, x86-64-v2, x86-64-v3 or x86-64-v4
    #[arg(long, default_value = "native")]
    cpu: String,
    /// The packaging of Enzyme: auto, catalyst, or the path of an Enzyme plugin
    #[arg(long, default_value = "auto")]
    engine: String,
    /// Seconds that each run of a compiler or of Enzyme may take
    #[arg(long, default_value_t = Options::default().timeout, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
}

fn define(text: &str) -> Result<(String, Option<String>), String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    if name.is_empty() { Err("a macro needs a name".to_owned()) } else { Ok((name.to_owned(), value)) }
}

/// `NAME=N`.
pub fn size(text: &str) -> Result<(String, i64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=N")?;
    let value = value.parse().map_err(|_| format!("`{value}` is not an integer"))?;
    Ok((name.to_owned(), value))
}

impl Source {
    /// The name of the function; empty where none is given.
    pub fn function(&self) -> &str {
        if let Some(name) = self.before_signature() {
            return name;
        }
        // `ffgrad show a.c b.c`: the last is a source, too.
        let is_source = Path::new(&self.function).is_file() && self.function.contains('.');
        if is_source { "" } else { &self.function }
    }

    /// The function's name where its signature follows it as a word, as in Python: `ffgrad check f.c f "x[n] -> y[n]"`.
    fn before_signature(&self) -> Option<&str> {
        let is_signature = self.function.contains("->") && !self.function.contains("operator");
        let [_, .., name] = &self.files[..] else { return None };
        name.to_str().filter(|_| is_signature && self.signature.is_none() && !name.is_file())
    }

    /// As the driver takes it.
    pub fn spec(mut self) -> Spec {
        if let Some(name) = self.before_signature().map(str::to_owned) {
            self.signature = Some(std::mem::replace(&mut self.function, name));
            self.files.pop();
        }
        if !self.function.is_empty() && self.function().is_empty() {
            self.files.push(PathBuf::from(std::mem::take(&mut self.function)));
        }
        let options = Options {
            flags: self.flags,
            include_dirs: self.include_dirs,
            defines: self.defines.into_iter().collect(),
            libraries: self.libraries,
            sizes: self.sizes.into_iter().collect(),
            cpu: self.cpu,
            engine: self.engine,
            timeout: self.timeout,
            ..Options::default()
        };
        Spec { sources: self.files, function: self.function, signature: self.signature, options }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        source: Source,
    }

    fn spec(words: &[&str]) -> (String, Spec) {
        let line = <Line as clap::Parser>::try_parse_from([&["ffgrad"], words].concat()).expect("parses");
        (line.source.function().to_owned(), line.source.spec())
    }

    #[test]
    fn a_signature_may_follow_the_function() {
        for words in [&["a.c", "b.c", "f", "x[n] -> y[n]"][..], &["a.c", "b.c", "f", "-s", "x[n] -> y[n]"]] {
            let (name, spec) = spec(words);
            assert_eq!((&*name, &*spec.function, spec.sources.len()), ("f", "f", 2));
            assert_eq!(spec.signature.as_deref(), Some("x[n] -> y[n]"));
        }
        assert_eq!(spec(&["a.cpp", "b.cpp", "it::operator->"]).0, "it::operator->");
    }

    #[test]
    fn a_macro_may_have_a_value_and_must_have_a_name() {
        assert_eq!(define("N").unwrap(), ("N".to_owned(), None));
        assert_eq!(define("N=a=b").unwrap(), ("N".to_owned(), Some("a=b".to_owned())));
        assert!(define("=1").is_err());
    }
}

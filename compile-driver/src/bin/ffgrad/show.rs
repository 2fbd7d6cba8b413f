//! `ffgrad show`: prints a function's manifest, artifacts, IR and passes.
//!
//! The description is text for people; with `--ir` every line of it begins with `;`, so that the whole output is an IR
//! file; with `--json` it is the manifest.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use clap::{Args, ValueEnum};
use compile_driver::function::Function;
use compile_driver::options::Spec;
use core_ad::manifest::{ArtifactRecord, Manifest, Paths, SourceLine};
use core_ad::protocol::Pipeline;
use core_ad::{Access, Arg, CallPlan, Passing, Role};

use crate::Outcome;
use crate::source::Source;

/// Arguments of `show`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ffgrad show test.c f
  ffgrad show test.c                  lists the functions
  ffgrad show mv.c matvec --signature 'A[m,n], x[n] -> y[m]'
  ffgrad show model.cpp rates.cpp 'ns::energy(double const*, int)' -I include -D ORDER=4 --flag=-std=c++20
  ffgrad show test.c f --derivative
  ffgrad show test.c f --ir final > f.ll
  ffgrad show --passes")]
pub struct Show {
    #[command(flatten)]
    pub source: Option<Source>,
    /// Print the passes around Enzyme: what each is for, when it runs, its program; takes no function
    #[arg(long, exclusive = true)]
    passes: bool,
    /// Also print the IR: before Enzyme, after it, or optimised
    #[arg(long, value_name = "STAGE", conflicts_with = "json")]
    ir: Option<Stage>,
    /// How the function is prepared before differentiation, for --ir and --derivative
    #[arg(long, value_enum, default_value = "o1", alias = "rung")]
    pipeline: PipelineName,
    /// Also print the commands of the derivative and Enzyme's messages; --ir does too
    #[arg(long)]
    derivative: bool,
    /// Print the manifest as JSON; with --derivative a member `derivative` is added
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Stage {
    /// As Enzyme gets it
    Before,
    /// As Enzyme returns it
    After,
    /// Optimised, as it is compiled
    Final,
}

#[derive(Clone, Copy, ValueEnum)]
enum PipelineName {
    Inlined,
    O1,
    O2,
    Outlined,
    Typed,
    Apart,
    Guarded,
    Generic,
    GuardedApart,
    GenericApart,
    Serial,
    Loose,
}

impl Show {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Box<dyn Error>> {
        let Some(source) = self.source.filter(|_| !self.passes) else {
            return Ok(Outcome::success(core_ad::passes::text()));
        };
        let (stage, pipeline, json) = (self.ir, self.pipeline.into(), self.json);
        let spec = source.spec();
        if spec.function.is_empty() {
            return listed(spec, json);
        }
        let function = Function::open(spec)?;
        let manifest = function.manifest();
        let built = self.derivative || stage.is_some();
        let folder = || function.artifact_folder(manifest.plan.differentiable_mask(), pipeline);
        let folder = built.then(folder).transpose()?;
        if json {
            let mut whole = serde_json::to_value(manifest)?;
            if let Some(folder) = &folder {
                whole["derivative"] = serde_json::to_value(record(folder)?)?;
            }
            return Ok(Outcome::success(format!("{}\n", serde_json::to_string_pretty(&whole)?)));
        }
        let mut text = describe(manifest);
        if let Some(folder) = &folder {
            text.push_str(&artifact(folder)?);
        }
        if let (Some(stage), Some(folder)) = (stage, &folder) {
            let comment: String = text.lines().map(|line| format!("; {line}").trim_end().to_owned() + "\n").collect();
            text = comment + "\n" + &read(&folder.join(stage.file()))?;
        }
        Ok(Outcome::success(text))
    }
}

/// The functions that sources define, or a pack has.
fn listed(spec: Spec, json: bool) -> Result<Outcome, Box<dyn Error>> {
    let sources = spec.sources.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ");
    let functions = compile_driver::function::functions(spec)?;
    if json {
        let text = serde_json::to_string_pretty(&serde_json::json!({ "functions": functions }))?;
        return Ok(Outcome::success(format!("{text}\n")));
    }
    let text = match functions.is_empty() {
        true => format!("{sources} defines no function; of a template name an instance: `f<double>`\n"),
        false => functions.iter().map(|name| format!("{name}\n")).collect(),
    };
    Ok(Outcome::success(text))
}

impl Stage {
    fn file(self) -> &'static str {
        match self {
            Self::Before => "before.ll",
            Self::After => "after.ll",
            Self::Final => "final.ll",
        }
    }
}

impl From<PipelineName> for Pipeline {
    fn from(name: PipelineName) -> Self {
        match name {
            PipelineName::Inlined => Pipeline::Inlined,
            PipelineName::O1 => Pipeline::O1,
            PipelineName::O2 => Pipeline::O2,
            PipelineName::Outlined => Pipeline::Outlined,
            PipelineName::Typed => Pipeline::Typed,
            PipelineName::Apart => Pipeline::Apart,
            PipelineName::Guarded => Pipeline::Guarded,
            PipelineName::Generic => Pipeline::Generic,
            PipelineName::GuardedApart => Pipeline::GuardedApart,
            PipelineName::GenericApart => Pipeline::GenericApart,
            PipelineName::Serial => Pipeline::Serial,
            PipelineName::Loose => Pipeline::Loose,
        }
    }
}

fn read(path: &Path) -> Result<String, Box<dyn Error>> {
    fs::read_to_string(path).map_err(|error| format!("cannot read `{}`: {error}", path.display()).into())
}

/// Prototype, plan and command lines.
fn describe(manifest: &Manifest) -> String {
    let (prototype, plan) = (&manifest.prototype, &manifest.plan);
    let mut rows = vec![["ARGUMENT", "ROLE", "TYPE", "SHAPE", "PASSED", "ACCESS", "GRADIENT"].map(str::to_owned)];
    rows.extend(plan.args.iter().enumerate().map(|(index, arg)| {
        let access = prototype.params.get(index).and_then(|param| param.access);
        row(plan, index, arg, access)
    }));
    let mut text = String::new();
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(text, "{prototype}");
    let _ = writeln!(text, "  defined in  {}:{}", prototype.file, prototype.line);
    if prototype.symbol != prototype.function {
        let _ = writeln!(text, "  symbol      {}", prototype.symbol);
    }
    let _ = writeln!(text, "  signature   {}", plan.signature);
    let _ = writeln!(text, "  .apply      ({}) -> {}\n", names(plan, &plan.inputs), results(plan));
    text.push_str(&table(&rows));
    if let Some(adapter) = &prototype.adapter {
        text.push_str("\nAdapter\n");
        for line in adapter.lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    text.push_str("\nTools\n");
    for tool in &manifest.tools {
        let _ = writeln!(text, "  {:<9}{}", tool.name, shortened(&tool.version));
    }
    text.push_str("\nCommands\n");
    push_commands(&mut text, &manifest.commands);
    let _ = writeln!(text, "\nKey {}", manifest.key);
    text
}

fn row(plan: &CallPlan, index: usize, arg: &Arg, access: Option<Access>) -> [String; 7] {
    let role = match arg.role {
        Role::Input if arg.constant => "const input",
        Role::Input => "input",
        Role::Output => "output",
        Role::InOut => "in place",
        Role::Scratch => "scratch",
        Role::Size => "size",
        Role::Return => "value",
    };
    // The plan writes shapes in the signature's own notation; what is behind the `;` and sizes stand only here.
    let dims: Vec<String> = arg.shape.iter().map(ToString::to_string).collect();
    let shape = match arg.role {
        Role::Size => format!("= {}", dims.join(", ")),
        _ if dims.is_empty() => "scalar".to_owned(),
        _ => format!("[{}]", dims.join(", ")),
    };
    let passed = match (arg.role, arg.passing) {
        (Role::Return, _) => "",
        (_, Passing::Pointer) => "pointer",
        (_, Passing::Value) => "value",
        (_, Passing::Descriptor) => "descriptor",
        (_, Passing::Absent) => "absent",
    };
    let access = match access {
        Some(Access::Read) => "read",
        Some(Access::Write) => "written",
        Some(Access::ReadWrite) => "read, written",
        Some(Access::Unused) => "unused",
        None => "",
    };
    let gradient = plan.inputs.contains(&index) && arg.is_differentiable();
    let gradient = if gradient { "yes" } else { "" };
    [&arg.name, role, arg.dtype.name(), &shape, passed, access, gradient].map(str::to_owned)
}

fn names(plan: &CallPlan, which: &[usize]) -> String {
    which.iter().map(|&i| plan.args[i].name.as_str()).collect::<Vec<_>>().join(", ")
}

fn results(plan: &CallPlan) -> String {
    match plan.outputs.len() {
        1 => names(plan, &plan.outputs),
        _ => format!("({})", names(plan, &plan.outputs)),
    }
}

/// Columns as wide as their widest cell.
pub fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let widths: [usize; N] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    let line = |row: &[String; N]| {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("  {}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

fn record(folder: &Path) -> Result<ArtifactRecord, Box<dyn Error>> {
    Ok(serde_json::from_str(&read(&folder.join("artifact.json"))?)?)
}

/// What an artifact adds: Enzyme's command lines and remarks.
fn artifact(folder: &Path) -> Result<String, Box<dyn Error>> {
    let record = record(folder)?;
    let mut text = String::from("\nCommands of the derivative\n");
    push_commands(&mut text, &record.commands);
    text.push_str(&paths(record.paths.as_ref()));
    for remark in record.diagnostics.iter().chain(&record.skipped) {
        let _ = writeln!(text, "  > {remark}");
    }
    Ok(text)
}

/// What decides the paths through a derivative, with the user's lines.
fn paths(paths: Option<&Paths>) -> String {
    match paths {
        None => String::new(),
        Some(Paths::Sizes) => "\nPaths: by sizes\n".to_owned(),
        Some(Paths::Values(lines)) => {
            let mut text = "\nPaths: by values\n".to_owned();
            for SourceLine { file, line } in lines {
                let _ = writeln!(text, "  {file}:{line}");
            }
            text
        }
    }
}

/// Digests cut to a distinct prefix; `--json` has them whole.
fn shortened(version: &str) -> String {
    let is_digest = |word: &str| word.len() >= 64 && word.chars().all(|c| c.is_ascii_hexdigit() || c == '+');
    let short = |word: &str| if is_digest(word) { word[..12].to_owned() } else { word.to_owned() };
    version.split(' ').map(short).collect::<Vec<_>>().join(" ")
}

fn push_commands(text: &mut String, commands: &[String]) {
    for command in commands {
        let _ = writeln!(text, "  {command}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digests_are_shortened() {
        let digest = "0123456789abcdef".repeat(4);
        assert_eq!(shortened(&format!("22.1.8 {digest}+{digest}")), "22.1.8 0123456789ab");
        assert_eq!(shortened("0.1.0 (LLVM 22.1)"), "0.1.0 (LLVM 22.1)");
    }

    #[test]
    fn paths_by_values_name_their_lines() {
        let line = |line| SourceLine { file: "f.c".to_owned(), line };
        let shown = paths(Some(&Paths::Values(vec![line(3), line(7)])));
        assert_eq!(shown, "\nPaths: by values\n  f.c:3\n  f.c:7\n");
        assert_eq!((paths(Some(&Paths::Sizes)).as_str(), paths(None).as_str()), ("\nPaths: by sizes\n", ""));
    }

    #[test]
    fn columns_are_aligned_and_lines_have_no_trailing_blanks() {
        let rows = [["a", "b"], ["long", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(table(&rows), "  a     b\n  long\n");
    }
}

//! `ffgrad cache`: lists, verifies and removes entries of the cache.

use compile_driver::os::size;
use std::error::Error;
use std::fmt::Write;
use std::time::Duration;

use clap::{Args, Subcommand};
use compile_driver::cache::Cache;
use compile_driver::cache::maintenance::{self, Damage, Listed, Removed};
use serde_json::json;

use crate::Outcome;
use crate::show::table;

/// The verbs below `cache`.
#[derive(Subcommand)]
pub enum Verb {
    /// What is built, the function used last first
    List(List),
    /// Remove what killed builds left, and the longest unused functions until the cache is small enough
    ///
    /// What a process has open stays. The limit is that of FFGRAD_CACHE_LIMIT (10G), which builds enforce by themselves.
    Prune(Prune),
    /// Remove everything that no process has open
    Clear(Clear),
    /// Check everything against the digests of what was built; exits with 1 where something is damaged
    ///
    /// Damaged things are never loaded: they are built again when they are next needed, or removed now by --remove.
    Verify(Verify),
}

/// Arguments of `cache list`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ffgrad cache list
  ffgrad cache list --json")]
pub struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `cache clear`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ffgrad cache clear
  FFGRAD_CACHE_DIR=/scratch/ffgrad ffgrad cache clear")]
pub struct Clear {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `cache prune`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ffgrad cache prune
  ffgrad cache prune --size 500M --unused 30")]
pub struct Prune {
    /// Largest size to leave: 500M, 2G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    size: Option<u64>,
    /// Also remove functions that were not opened for so many days
    #[arg(long, value_name = "DAYS")]
    unused: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `cache verify`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ffgrad cache verify
  ffgrad cache verify --remove")]
pub struct Verify {
    /// Remove what is damaged
    #[arg(long)]
    remove: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn size(text: &str) -> Result<u64, String> {
    size::bytes(text).ok_or_else(|| format!("`{text}` is no size; 500M and 2G are"))
}

impl Verb {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Box<dyn Error>> {
        let cache = Cache::open()?;
        match self {
            Self::List(given) => list(&cache, given.json),
            Self::Prune(given) => {
                let unused = given.unused.map(|days| Duration::from_secs(days.saturating_mul(24 * 3600)));
                let size = given.size.map_or_else(maintenance::limit, Ok)?;
                removed(maintenance::prune(&cache, size, unused)?, given.json)
            }
            Self::Clear(given) => removed(maintenance::clear(&cache)?, given.json),
            Self::Verify(given) => verify(&cache, given.remove, given.json),
        }
    }
}

fn list(cache: &Cache, json: bool) -> Result<Outcome, Box<dyn Error>> {
    let all = maintenance::list(cache);
    if json {
        let text = serde_json::to_string_pretty(&json!({ "folder": cache.root(), "entries": all }))?;
        return Ok(Outcome::success(format!("{text}\n")));
    }
    let mut rows = vec![["FUNCTION", "SOURCE", "BUILT", "SIZE", "UNUSED", "KEY"].map(str::to_owned)];
    rows.extend(all.iter().map(row));
    let mut text = if all.is_empty() { "nothing is built\n".to_owned() } else { table(&rows) };
    let total = all.iter().map(|e| e.bytes).sum();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{} in {}, at most {}", human(total), cache.root().display(), human(maintenance::limit()?));
    Ok(Outcome::success(text))
}

fn row(entry: &Listed) -> [String; 6] {
    let source = entry.source.rsplit('/').next().unwrap_or_default();
    let function = if entry.function.is_empty() { "(damaged)" } else { &entry.function };
    let unused = if entry.in_use { "in use".to_owned() } else { span(entry.unused_seconds) };
    let built = entry.artifacts.join(" ");
    [function, source, &built, &human(entry.bytes), &unused, &entry.key[..entry.key.len().min(12)]].map(str::to_owned)
}

fn human(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 30 => format!("{:.1} GiB", b as f64 / (1u64 << 30) as f64),
        b if b >= 1 << 20 => format!("{:.1} MiB", b as f64 / (1u64 << 20) as f64),
        b => format!("{} KiB", b.div_ceil(1 << 10)),
    }
}

fn span(seconds: u64) -> String {
    match seconds {
        s if s >= 2 * 24 * 3600 => format!("{} days", s / (24 * 3600)),
        s if s >= 2 * 3600 => format!("{} h", s / 3600),
        s if s >= 120 => format!("{} min", s / 60),
        s => format!("{s} s"),
    }
}

fn removed(what: Removed, json: bool) -> Result<Outcome, Box<dyn Error>> {
    if json {
        return Ok(Outcome::success(format!("{}\n", serde_json::to_string_pretty(&what)?)));
    }
    let mut text =
        format!("removed {} functions and what {} builds left, {}\n", what.entries, what.leftovers, human(what.bytes));
    if what.in_use > 0 {
        let _ = writeln!(text, "{} functions stay: they are in use", what.in_use);
    }
    Ok(Outcome::success(text))
}

fn verify(cache: &Cache, remove: bool, json: bool) -> Result<Outcome, Box<dyn Error>> {
    let damaged: Vec<Damage> = maintenance::verify(cache);
    if remove {
        damaged.iter().try_for_each(|d| cache.set_aside(&d.path))?;
    }
    let success = damaged.is_empty() || remove;
    if json {
        let text = serde_json::to_string_pretty(&json!({ "damaged": damaged, "removed": remove }))?;
        return Ok(Outcome { text: format!("{text}\n"), success });
    }
    let mut text: String = damaged.iter().map(|d| format!("{}: {}\n", d.path.display(), d.reason)).collect();
    text.push_str(match (damaged.is_empty(), remove) {
        (true, _) => "everything is as it was built\n",
        (false, true) => "removed; it is built again when it is next needed\n",
        (false, false) => "`ffgrad cache verify --remove` removes it; it is never loaded in any case\n",
    });
    Ok(Outcome { text, success })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_told_in_one_unit() {
        assert_eq!((human(1), human(3 << 20), human(5 << 30)), ("1 KiB".into(), "3.0 MiB".into(), "5.0 GiB".into()));
        assert_eq!((span(5), span(600), span(200_000)), ("5 s".into(), "10 min".into(), "2 days".into()));
    }
}

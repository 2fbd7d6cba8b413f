//! Functions that read the time: two evaluations at once may see the same time, and look as if nothing but their arguments decided.

use object::elf::FileHeader64;
use object::read::ReadCache;
use object::read::elf::ElfFile;
use object::{Endianness, Object, ObjectSymbol};
use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A function whose answer changes once a second. (Fortran's clocks are refused before, by name.)
const BY_SECONDS: &str = "time";
/// Functions whose answer changes a hundred times a second or more. All others that tell the time do so at every call.
const BY_TICKS: [&str; 2] = ["times", "clock"];

/// Artifacts of which two evaluations at different times were the same.
static STEADY: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);

/// Waits until a clock that an artifact reads shows another time: a second at the longest, and not again once that made no difference.
pub(super) fn let_tick(artifact: &Path) {
    if STEADY.lock().unwrap_or_else(PoisonError::into_inner).contains(artifact) {
        return;
    }
    if let Some(time) = until_another_time(&imports(artifact).unwrap_or_default()) {
        std::thread::sleep(time);
    }
}

/// Notes that the time made no difference.
pub(super) fn is_steady(artifact: &Path) {
    STEADY.lock().unwrap_or_else(PoisonError::into_inner).insert(artifact.to_owned());
}

fn until_another_time(imports: &[String]) -> Option<Duration> {
    let has = |name: &str| imports.iter().any(|import| import == name);
    if has(BY_SECONDS) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // Some systems keep that time by ticks of a few milliseconds.
        return Some(
            Duration::from_secs(1) - Duration::from_nanos(now.subsec_nanos().into()) + Duration::from_millis(20),
        );
    }
    BY_TICKS.into_iter().any(has).then_some(Duration::from_millis(20))
}

/// The functions that a shared object takes from others; `None` where it cannot be read.
fn imports(artifact: &Path) -> Option<Vec<String>> {
    let file = ReadCache::new(File::open(artifact).ok()?);
    let object = ElfFile::<FileHeader64<Endianness>, _>::parse(&file).ok()?;
    let name = |symbol: object::read::elf::ElfSymbol<'_, '_, _, _>| symbol.name().ok().map(str::to_owned);
    Some(object.dynamic_symbols().filter(ObjectSymbol::is_undefined).filter_map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_until_a_clock_ticks_depends_on_the_clock() {
        let of = |names: &[&str]| until_another_time(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["sin", "clock_gettime"]), None);
        assert_eq!(of(&["clock"]), Some(Duration::from_millis(20)));
        assert!(of(&["clock", "time"]).is_some_and(|wait| wait <= Duration::from_millis(1020)));
    }
}

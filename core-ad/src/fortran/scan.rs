//! Scans a Fortran source for the modules and files that it uses and defines, without compiling it.
//!
//! The order of compilation and the list of files behind a cache key follow from it. Taking a line for more than it is
//! does no harm (a file by that name must also exist), overlooking one would.

/// What one file mentions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Modules it defines.
    pub modules: Vec<String>,
    /// Modules it uses, parents of submodules included.
    pub uses: Vec<String>,
    /// Files it includes.
    pub includes: Vec<String>,
}

/// Reads a source, header or module file.
pub fn scan(text: &str) -> Scan {
    let mut scan = Scan::default();
    for line in text.lines() {
        for statement in line.split(';') {
            scan.statement(statement.trim());
        }
    }
    scan
}

impl Scan {
    fn statement(&mut self, statement: &str) {
        let lower = statement.to_lowercase();
        let Some(end) = lower.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '#') else {
            return;
        };
        let (word, rest) = (&lower[..end], lower[end..].trim());
        let mut names = rest.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty());
        match word {
            "include" | "#include" => self.includes.extend(file_name(&statement[end..])),
            "use" => {
                // `use, intrinsic :: m, only: f`
                let name = match rest.split_once("::") {
                    Some((_, rest)) => rest.trim().split(|c: char| !c.is_alphanumeric() && c != '_').next(),
                    None => names.next(),
                };
                self.uses.extend(name.map(str::to_owned));
            }
            "submodule" => {
                // `submodule (parent:ancestor) name`
                let all: Vec<&str> = names.collect();
                let around = all.split_last().map(|(_, around)| around).unwrap_or_default();
                self.uses.extend(around.iter().map(|n| (*n).to_owned()));
                // The module file of a submodule is named after both.
                self.uses.extend((around.len() == 2).then(|| around.join("-")));
            }
            "module" => match names.next() {
                Some("procedure" | "subroutine" | "function" | "pure" | "elemental" | "recursive") | None => {}
                Some(name) => self.modules.push(name.to_owned()),
            },
            _ => {}
        }
    }
}

/// The name between quotes or angle brackets.
fn file_name(text: &str) -> Option<String> {
    let text = text.trim_start();
    let close = match text.chars().next()? {
        '<' => '>',
        quote @ ('"' | '\'') => quote,
        _ => return None,
    };
    text[1..].split(close).next().map(str::to_owned)
}

/// The order in which to compile files so that modules come before their users; `scans` are in the given order, which
/// decides where nothing else does.
pub fn order(scans: &[Scan]) -> Vec<usize> {
    let mut done: Vec<usize> = Vec::new();
    while done.len() < scans.len() {
        let open: Vec<usize> = (0..scans.len()).filter(|i| !done.contains(i)).collect();
        let waits = |i: &usize| {
            let others = open.iter().filter(|o| *o != i);
            scans[*i].uses.iter().any(|u| others.clone().any(|o| scans[*o].modules.contains(u)))
        };
        // Modules that need each other: the compiler's error is better.
        let next = open.iter().find(|i| !waits(i)).or(open.first());
        done.extend(next.copied());
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_uses_and_includes_are_found_in_any_style() {
        let text = "      MODULE Grid\n use, intrinsic :: iso_c_binding, only: c_int\n  USE params, only: n=>m; use :: Extra\n\
                    #include \"a.h\"\n      include 'Common.inc'\nmodule procedure swap\nsubmodule (grid:fine) impl\n! use nothing\nuser = 3\nend module grid\n";
        let scan = scan(text);
        assert_eq!(scan.modules, ["grid"]);
        assert_eq!(scan.uses, ["iso_c_binding", "params", "extra", "grid", "fine", "grid-fine"]);
        assert_eq!(scan.includes, ["a.h", "Common.inc"]);
    }

    #[test]
    fn users_are_compiled_after_their_modules() {
        let files = ["use b", "module a\nuse c", "module b\nuse a", "module c"];
        let scans: Vec<Scan> = files.iter().map(|f| scan(f)).collect();
        assert_eq!(order(&scans), [3, 1, 2, 0]);
        let circle: Vec<Scan> = ["module a\nuse b", "module b\nuse a"].iter().map(|f| scan(f)).collect();
        assert_eq!(order(&circle).len(), 2);
    }
}

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
    /// Modules that its submodules belong to.
    pub submodule_of: Vec<String>,
    /// Files it includes.
    pub includes: Vec<String>,
    /// Procedures outside interfaces, by name and by `bind(c, name="...")`; internal ones among them.
    pub procedures: Vec<String>,
    /// COMMON blocks that it declares.
    pub commons: Vec<String>,
    /// Whether it has a `block data`, which gives COMMON blocks their values.
    pub block_data: bool,
}

/// Reads a source, header or module file.
pub fn scan(text: &str) -> Scan {
    let mut scan = Scan::default();
    let mut in_interface = false;
    for line in text.lines() {
        if line.starts_with(['c', 'C', '*']) && !is_free(line) {
            // A comment of fixed form.
            continue;
        }
        for statement in line.split(';') {
            let statement = statement.trim();
            scan.statement(statement);
            let lower = statement.split('!').next().unwrap_or_default().to_lowercase();
            let mut words = lower.split_whitespace();
            match (words.next().unwrap_or_default(), words.next().unwrap_or_default()) {
                ("interface", _) | ("abstract", "interface") => in_interface = true,
                ("end", "interface") | ("endinterface", _) => in_interface = false,
                ("block", "data") | ("blockdata", _) => scan.block_data = true,
                _ => {}
            }
            if !in_interface {
                scan.procedures.extend(procedure(&lower));
                scan.procedures.extend(bound_name(statement));
            }
            if lower.starts_with("common") {
                scan.commons.extend(lower.split('/').skip(1).step_by(2).map(|name| name.trim().to_owned()));
            }
        }
    }
    scan
}

/// Whether a line that begins in the first column with a letter is one of free form: it is a statement of known kind.
fn is_free(line: &str) -> bool {
    let lower = line.to_lowercase();
    ["common", "contains", "call ", "complex", "character", "class"].iter().any(|word| lower.starts_with(word))
}

/// The procedure that a statement begins: `pure real(8) function f(x) result(y)`.
fn procedure(lower: &str) -> Option<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for kind in ["subroutine", "function", "entry"] {
        for (at, _) in lower.match_indices(kind) {
            let (before, after) = (&lower[..at], &lower[at + kind.len()..]);
            let is_whole = !before.ends_with(is_word) && after.starts_with(char::is_whitespace);
            let is_end = before.trim() == "end" || before.contains(['\'', '"', '=', '%']);
            let begins = kind != "entry" || before.is_empty();
            let name: String = after.trim_start().chars().take_while(|c| is_word(*c)).collect();
            if is_whole && !is_end && begins && name.starts_with(char::is_alphabetic) {
                return Some(name);
            }
        }
    }
    None
}

/// The name in `bind(c, name="...")`.
fn bound_name(statement: &str) -> Option<String> {
    let lower = statement.to_lowercase();
    let after = lower.find("bind(").or_else(|| lower.find("bind (")).map(|at| &statement[at..])?;
    let quote = after.find(['\'', '"'])?;
    let name: String = after[quote + 1..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
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
                self.submodule_of.extend(around.first().map(|n| (*n).to_owned()));
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

/// Whether a text is in free form; `None` where nothing tells.
pub fn looks_free(text: &str) -> Option<bool> {
    let (mut free, mut fixed) = (0, 0);
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with(['#', '!'])) {
        let mut start = line.chars();
        let first = start.next().unwrap_or(' ');
        let sixth = line.chars().nth(5).unwrap_or(' ');
        let is_continuation = line.starts_with("     ") && !sixth.is_whitespace() && sixth != '!';
        let is_comment =
            matches!(first, 'c' | 'C' | '*') && !is_free(line) && procedure(&line.to_lowercase()).is_none();
        if line.split('!').next().unwrap_or_default().trim_end().ends_with('&') {
            free += 2;
        } else if is_continuation && !line.trim_start().starts_with(char::is_alphabetic) {
            fixed += 2;
        } else if is_comment {
            fixed += 1;
        } else if first.is_alphabetic() || line.trim_start() == line || (first == ' ' && !line.starts_with("     ")) {
            // A statement before the seventh column, and no label.
            free += usize::from(line.trim_start().starts_with(char::is_alphabetic));
        }
    }
    (free != fixed).then_some(free > fixed)
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
    fn procedures_are_found_outside_interfaces() {
        let text = "C     subroutine not\n      SUBROUTINE Old(x)\n      entry again(y)\n      end\ninterface\nsubroutine no(x)\nend subroutine\n\
                    end interface\npure real(8) function f(x) bind(c, name=\"c_f\")\nend function f\nmodule subroutine s(a)\n\
                    call old(x) ! the function works\n! function text\nblock data\n common /grid/ a, /flow/ b\n";
        let scan = scan(text);
        assert_eq!(scan.procedures, ["old", "again", "f", "c_f", "s"]);
        assert_eq!((scan.commons, scan.block_data), (vec!["grid".to_owned(), "flow".to_owned()], true));
    }

    #[test]
    fn the_form_of_a_text_is_told() {
        assert_eq!(looks_free("subroutine f(x)\n  x = x + &\n  1\nend\n"), Some(true));
        assert_eq!(looks_free("C     NO\n      SUBROUTINE F(X)\n      X = X +\n     1  1\n      END\n"), Some(false));
        assert_eq!(looks_free(""), None);
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

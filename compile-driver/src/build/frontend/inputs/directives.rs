//! What the preprocessor looks for, from the directives of a text: names of headers and of embedded files, and what is asked by
//! `__has_include`. Conditions are not evaluated, so names count that the compiler never came to.

use std::collections::BTreeSet;

/// A file that a directive names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lookup {
    /// As written, between the quotes or the angle brackets.
    pub name: String,
    pub kind: Kind,
    /// Whether folders up to that of the file with the directive are skipped.
    pub next: bool,
    /// Whether a file that is nowhere is an answer too.
    pub optional: bool,
}

/// How a name is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Quoted,
    Angled,
    /// `#embed`, of either kind.
    Embedded,
}

/// The lookups of one file.
#[derive(Debug, Default)]
pub struct Directives {
    pub lookups: BTreeSet<Lookup>,
    /// A name is made by a macro: `#include HEADER`.
    pub computed_include: bool,
    /// `__has_include` of a name that a macro makes.
    pub computed_query: bool,
    /// Macros with one argument that they hand to `__has_include`.
    pub wrappers: Vec<String>,
    /// The text takes part of the object code from a file by the assembler: `.incbin`.
    pub assembled: Vec<String>,
    /// The text names the time of compiling.
    pub clock: bool,
}

const QUERIES: [&str; 3] = ["__has_include", "__has_include_next", "__has_embed"];

impl Directives {
    /// Reads a text. `wrappers` are those of all files.
    pub fn of(text: &str, wrappers: &[String]) -> Self {
        let mut found = Directives::default();
        let joined;
        let text = match text.contains("\\\n") {
            true => {
                joined = text.replace("\\\n", " ");
                joined.as_str()
            }
            false => text,
        };
        for line in text.lines() {
            let line = line.trim_start();
            let Some(directive) = line.strip_prefix('#').or_else(|| line.strip_prefix("%:")) else { continue };
            found.directive(directive.trim_start(), wrappers);
        }
        found.assembled = assembled(text);
        found.clock = ["__DATE__", "__TIME__", "__TIMESTAMP__"].iter().any(|name| text.contains(name));
        found
    }

    fn directive(&mut self, directive: &str, wrappers: &[String]) {
        let (word, rest) = split_word(directive);
        match word {
            "include" | "include_next" | "import" => match name(rest) {
                Some((name, quoted)) => {
                    let kind = if quoted { Kind::Quoted } else { Kind::Angled };
                    let next = word == "include_next";
                    self.lookups.insert(Lookup { name, kind, next, optional: false });
                }
                None => self.computed_include = true,
            },
            "embed" => match name(rest) {
                Some((name, _)) => {
                    self.lookups.insert(Lookup { name, kind: Kind::Embedded, next: false, optional: false });
                }
                None => self.computed_include = true,
            },
            "define" | "if" | "elif" => self.queries(word, rest, wrappers),
            _ => {}
        }
    }

    /// The uses of `__has_include` and of macros around it.
    fn queries(&mut self, word: &str, rest: &str, wrappers: &[String]) {
        let defined = (word == "define").then(|| split_word(rest));
        let parameter = defined.and_then(|(_, rest)| rest.strip_prefix('(')?.split(')').next()).map(str::trim);
        for (identifier, argument) in calls(rest) {
            let query = QUERIES.contains(&identifier);
            if !query && !wrappers.iter().any(|w| w == identifier) {
                continue;
            }
            match name(argument) {
                Some((name, quoted)) => {
                    let kind = match (identifier, quoted) {
                        ("__has_embed", _) => Kind::Embedded,
                        (_, true) => Kind::Quoted,
                        (_, false) => Kind::Angled,
                    };
                    let next = identifier == "__has_include_next";
                    self.lookups.insert(Lookup { name, kind, next, optional: true });
                }
                None => match (defined, parameter) {
                    // Its own head, or the definition of one around it.
                    (Some((macro_name, _)), _) if macro_name == identifier => {}
                    (Some((macro_name, _)), Some(p)) if split_word(argument).0 == p && !p.is_empty() => {
                        if !wrappers.iter().any(|w| w == macro_name) {
                            self.wrappers.push(macro_name.to_owned());
                        }
                    }
                    _ => self.computed_query = true,
                },
            }
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn split_word(text: &str) -> (&str, &str) {
    text.trim_start().split_at(text.trim_start().find(|c| !is_word(c)).unwrap_or(text.trim_start().len()))
}

/// `"a.h"` or `<a.h>` at the beginning, and whether it stands in quotes.
fn name(text: &str) -> Option<(String, bool)> {
    let text = text.trim_start();
    let (end, quoted) = match text.chars().next()? {
        '"' => ('"', true),
        '<' => ('>', false),
        _ => return None,
    };
    let (name, _) = text[1..].split_once(end)?;
    (!name.is_empty()).then(|| (name.to_owned(), quoted))
}

/// Identifiers that a parenthesis follows, each with what stands behind that.
fn calls(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices('(').filter_map(|(at, _)| {
        let head = text[..at].trim_end();
        let begin = head.rfind(|c| !is_word(c)).map_or(0, |i| i + head[i..].chars().next().map_or(1, char::len_utf8));
        (begin < head.len()).then(|| (&head[begin..], &text[at + 1..]))
    })
}

/// The names behind `.incbin`, without quotes.
fn assembled(text: &str) -> Vec<String> {
    let delimiter = |c: char| c.is_whitespace() || "\"\\',;".contains(c);
    let name = |rest: &str| {
        let rest = rest.trim_start_matches(delimiter);
        rest.split(delimiter).next().unwrap_or_default().to_owned()
    };
    text.match_indices(".incbin").map(|(at, word)| name(&text[at + word.len()..])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(found: &Directives) -> Vec<(&str, Kind, bool)> {
        found.lookups.iter().map(|l| (l.name.as_str(), l.kind, l.optional)).collect()
    }

    #[test]
    fn includes_are_read_in_each_form() {
        let text = "#include \"a.h\"\n # include <b.h> // c\n#include_next <c.h>\n#if X\n#embed \"d.bin\"\n// #include \"e.h\"\nint x; ";
        let found = Directives::of(text, &[]);
        let expected = [
            ("a.h", Kind::Quoted, false),
            ("b.h", Kind::Angled, false),
            ("c.h", Kind::Angled, false),
            ("d.bin", Kind::Embedded, false),
        ];
        assert_eq!(names(&found), expected);
        assert!(found.lookups.iter().any(|l| l.next && l.name == "c.h"));
        assert!(!found.computed_include && !found.computed_query);
        assert!(Directives::of("#include HEADER\n", &[]).computed_include);
    }

    #[test]
    fn questions_are_read_with_the_macros_around_them() {
        let text =
            "#if defined(__has_include) && \\\n  __has_include ( \"o.h\" )\n#endif\n#define HAS(x) __has_include(x)\n";
        let found = Directives::of(text, &[]);
        assert_eq!(names(&found), [("o.h", Kind::Quoted, true)]);
        assert_eq!(found.wrappers, ["HAS"]);
        assert!(!found.computed_query);
        let found = Directives::of("#elif !HAS(<p.h>)\n#define HAS(x) 0\n", &found.wrappers);
        assert_eq!(names(&found), [("p.h", Kind::Angled, true)]);
        assert!(!found.computed_query && found.wrappers.is_empty());
        assert!(Directives::of("#if __has_include(NAME)\n", &[]).computed_query);
        assert!(Directives::of("#define A __has_include(NAME)\n", &[]).computed_query);
    }

    #[test]
    fn data_of_the_assembler_and_the_clock_are_seen() {
        let found = Directives::of("asm(\".incbin \\\"d.bin\\\"\\n\"); char t[] = __TIME__;", &[]);
        assert_eq!(found.assembled, ["d.bin"]);
        assert!(found.clock);
    }
}

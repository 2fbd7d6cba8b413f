//! Finds the names that a C or C++ file may define for other files, without compiling it.
//!
//! The files of a folder that may have a function's body follow from it; which of them do, the compiler says. So a name too many
//! costs time alone. Only names that macros make are overlooked.

use std::collections::BTreeSet;

/// Names at file scope, in namespaces and in `extern "C"`, in front of bodies and initial values, with their qualifiers.
pub fn of_c(text: &str) -> BTreeSet<String> {
    let mut reader = Reader { names: BTreeSet::new(), statement: Statement::default(), before: Vec::new() };
    let mut tokens = Tokens { text: text.as_bytes(), at: 0, depth: 0, conditions: Vec::new() };
    while let Some(token) = tokens.next() {
        reader.take(&mut tokens, token);
    }
    reader.names
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    /// A text or a character.
    Quoted,
    Mark(u8),
}

/// The tokens of a file outside comments and directives. Branches of `#if` after the first start where the first one did, so that
/// braces that each of them opens count once.
struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
    /// Open braces of bodies that are being skipped.
    depth: usize,
    conditions: Vec<usize>,
}

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let &byte = self.text.get(self.at)?;
            match byte {
                b'/' if self.text[self.at..].starts_with(b"//") => self.skip_line(),
                b'/' if self.text[self.at..].starts_with(b"/*") => self.skip_past(b"*/"),
                b'#' => self.directive(),
                b'"' | b'\'' => {
                    self.quoted(byte);
                    return Some(Token::Quoted);
                }
                _ if byte.is_ascii_whitespace() || byte == b'\\' => self.at += 1,
                _ if byte.is_ascii_alphanumeric() || byte == b'_' => return Some(self.word()),
                _ => {
                    self.at += 1;
                    return Some(Token::Mark(byte));
                }
            }
        }
    }

    fn word(&mut self) -> Token<'a> {
        let start = self.at;
        // With C++'s digit separators a number stays one word.
        let inside = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || !b.is_ascii();
        while self.text.get(self.at).is_some_and(inside) {
            self.at += 1;
        }
        Token::Word(std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default())
    }

    fn quoted(&mut self, quote: u8) {
        self.at += 1;
        while let Some(&byte) = self.text.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                // A quote that does not end in its line is an apostrophe in what the preprocessor leaves out.
                b'\n' => return,
                _ if byte == quote => return,
                _ => {}
            }
        }
    }

    fn skip_line(&mut self) {
        while let Some(&byte) = self.text.get(self.at) {
            let continued = self.text[..self.at].last() == Some(&b'\\');
            self.at += 1;
            if byte == b'\n' && !continued {
                return;
            }
        }
    }

    fn skip_past(&mut self, end: &[u8]) {
        self.at += 2;
        while self.at < self.text.len() && !self.text[self.at..].starts_with(end) {
            self.at += 1;
        }
        self.at = (self.at + end.len()).min(self.text.len());
    }

    fn directive(&mut self) {
        let line = self.text[self.at + 1..].split(|b| *b == b'\n').next().unwrap_or_default();
        let line = line.trim_ascii_start();
        if line.starts_with(b"if") {
            self.conditions.push(self.depth);
        } else if line.starts_with(b"el") {
            self.depth = self.conditions.last().copied().unwrap_or(self.depth);
        } else if line.starts_with(b"endif") {
            self.conditions.pop();
        }
        self.skip_line();
    }

    /// Skips to the brace that closes the one just read.
    fn skip_body(&mut self) {
        self.depth = 1;
        while self.depth > 0 {
            match self.next() {
                Some(Token::Mark(b'{')) => self.depth += 1,
                Some(Token::Mark(b'}')) => self.depth = self.depth.saturating_sub(1),
                Some(_) => {}
                None => return,
            }
        }
    }

    fn skip_parentheses(&mut self) {
        let mut open = 1;
        while open > 0 {
            match self.next() {
                Some(Token::Mark(b'(')) => open += 1,
                Some(Token::Mark(b')')) => open -= 1,
                Some(_) => {}
                None => return,
            }
        }
    }
}

/// What was read of a statement at file scope.
#[derive(Default)]
struct Statement<'a> {
    words: Vec<&'a str>,
    has_parameters: bool,
    has_value: bool,
}

struct Reader<'a> {
    names: BTreeSet<String>,
    statement: Statement<'a>,
    /// The words of the statement before: of `double f(x) double x; { ... }` it has the name.
    before: Vec<&'a str>,
}

impl<'a> Reader<'a> {
    fn take(&mut self, tokens: &mut Tokens<'a>, token: Token<'a>) {
        match token {
            Token::Word(word) => self.statement.words.push(word),
            Token::Mark(b'(') => {
                tokens.skip_parentheses();
                self.statement.has_parameters = true;
            }
            Token::Mark(b'=') => self.statement.has_value = true,
            Token::Mark(b'{') => self.brace(tokens),
            Token::Mark(b';') => self.end(),
            // Of a namespace, or of `extern "C"`.
            Token::Mark(b'}') => self.statement = Statement::default(),
            Token::Mark(_) | Token::Quoted => {}
        }
    }

    fn brace(&mut self, tokens: &mut Tokens<'a>) {
        let statement = std::mem::take(&mut self.statement);
        let has = |word: &str| statement.words.contains(&word);
        let is_linkage = statement.words == ["extern"];
        if !statement.has_value && !statement.has_parameters && (has("namespace") || is_linkage) {
            return;
        }
        tokens.skip_body();
        if statement.has_value || (!statement.has_parameters && !statement.words.is_empty()) {
            // An initial value, or a structure, behind which variables may stand.
            self.statement = Statement { has_value: true, ..statement };
            return;
        }
        let words = if statement.words.is_empty() { std::mem::take(&mut self.before) } else { statement.words };
        self.define(&words);
    }

    fn end(&mut self) {
        let statement = std::mem::take(&mut self.statement);
        let is_declaration = statement.words.first().is_some_and(|w| ["extern", "typedef", "using"].contains(w));
        let is_prototype = statement.has_parameters && !statement.has_value;
        if !is_declaration && !is_prototype {
            self.define(&statement.words);
        }
        if is_prototype {
            self.before = statement.words;
        } else if !self.before.is_empty() {
            // A further parameter of the old style.
            self.before.extend(statement.words);
        }
    }

    fn define(&mut self, words: &[&str]) {
        let is_name = |word: &&&str| !word.starts_with(|c: char| c.is_ascii_digit()) && !KEYWORDS.contains(word);
        self.names.extend(words.iter().filter(is_name).map(|word| (*word).to_owned()));
    }
}

/// Words that are no names.
const KEYWORDS: [&str; 20] = [
    "const", "static", "inline", "double", "float", "int", "void", "char", "long", "short", "unsigned", "signed",
    "struct", "union", "enum", "volatile", "restrict", "return", "template", "typename",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        of_c(text).into_iter().collect()
    }

    #[test]
    fn bodies_and_values_define_and_prototypes_do_not() {
        let text = "double f(double x);\nextern int e;\n/* double g(void) { */\nstatic const double table[] = {1, 2};\n\
                    double h(const double *x, int n) { for (;;) { q(x); } }\nint count;\ntypedef struct { int a; } T;\n";
        assert_eq!(names(text), ["count", "h", "table"]);
    }

    #[test]
    fn definitions_in_every_style_are_found() {
        let text = "double\nold(x, y)\ndouble x; int y;\n{ return x; }\nextern \"C\" { double c(void) { return 1; } }\n\
                    namespace a { namespace b {\ntemplate <class T> T t(T x) { return x; } } }\ndouble A::m() const { return 0; }\n";
        let found = names(text);
        for name in ["old", "c", "t", "A", "m"] {
            assert!(found.contains(&name.to_owned()), "{name} in {found:?}");
        }
    }

    #[test]
    fn braces_of_both_branches_of_a_condition_count_once() {
        let text = "void f(int x) {\n#ifdef A\n if (x) {\n#else\n if (!x) {\n#endif\n }\n}\nint g(void) { return '{'; }\nint h() { return 0; }";
        assert_eq!(names(text), ["f", "g", "h"]);
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_too_odd(text in r#"([a-z ]|[{}();=#"'\\/*\n]|#if|#else|#endif|extern|namespace){0,80}"#) {
            let _ = of_c(&text);
        }
    }
}

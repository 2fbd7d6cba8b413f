//! Signature text to its syntax tree; knows nothing of the function it describes.
//!
//! ```text
//! signature := items '->' items (';' items)?
//! items     := (item (',' item)*)?
//! item      := 'const'? name ('[' '...,'? dim (',' dim)* ']')?
//! dim       := term (('+' | '-') term)*
//! term      := factor (('*' | '//') factor)*
//! factor    := integer | symbol | '(' dim ')'
//! ```

use super::lexer::{Token, tokens};
use crate::Dim;

/// One name of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub constant: bool,
    /// Has the leading `...`.
    pub batched: bool,
    pub name: String,
    /// `None` without brackets.
    pub dims: Option<Vec<Dim>>,
}

/// A parsed signature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tree {
    pub inputs: Vec<Item>,
    pub outputs: Vec<Item>,
    pub scratch: Vec<Item>,
}

/// Parses a signature, or returns every error of its syntax.
pub(super) fn parse(text: &str) -> Result<Tree, Vec<String>> {
    let mut parser = Parser { text, tokens: tokens(text), next: 0, nodes: 0, problems: Vec::new() };
    let tree = parser.signature();
    if parser.problems.is_empty() { Ok(tree) } else { Err(parser.problems) }
}

/// Parses a dimension that stands alone.
pub(super) fn dimension(text: &str) -> Result<Dim, Vec<String>> {
    let mut parser = Parser { text, tokens: tokens(text), next: 0, nodes: 0, problems: Vec::new() };
    if let Ok(dim) = parser.dim() {
        if parser.at_end() {
            return Ok(dim);
        }
        parser.expected("one of `+ - * //` or the end");
    }
    Err(parser.problems)
}

/// Bounds the recursion on a dimension, here and in whoever reads it from JSON.
const MAX_NODES: usize = 48;

/// A syntax error that is already in `Parser::problems`.
struct Reported;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(usize, Token<'a>)>,
    next: usize,
    /// Nodes of the dimension being parsed.
    nodes: usize,
    problems: Vec<String>,
}

impl<'a> Parser<'a> {
    fn signature(&mut self) -> Tree {
        let inputs = self.items();
        if !self.take("->") {
            // Behind another error the arrow may just have been misread.
            if self.problems.is_empty() {
                self.expected("`,` or `->`");
            }
            return Tree::default();
        }
        let outputs = self.items();
        let scratch = if self.take(";") { self.items() } else { Vec::new() };
        if !self.at_end() {
            self.expected("`,` or the end of the signature");
        }
        Tree { inputs, outputs, scratch }
    }

    /// Items up to `->`, `;` or the end. After an error it goes on behind the next comma.
    fn items(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        if self.at_section_end() {
            return items;
        }
        loop {
            match self.item() {
                Ok(item) => items.push(item),
                Err(Reported) => self.skip_item(),
            }
            if !self.take(",") {
                return items;
            }
        }
    }

    fn item(&mut self) -> Result<Item, Reported> {
        let constant = self.take_word("const");
        let Token::Word(name) = *self.peek() else {
            return Err(self.expected("a parameter's name"));
        };
        self.next += 1;
        let mut item = Item { constant, batched: false, name: name.to_owned(), dims: None };
        if self.take("[") {
            item.batched = self.take("...");
            item.dims = Some(self.dims(item.batched)?);
        }
        let ends_here = self.at_section_end() || *self.peek() == Token::Mark(",");
        if ends_here { Ok(item) } else { Err(self.expected("`[`, `,`, `->` or `;`")) }
    }

    /// Dimensions up to and with the closing bracket.
    fn dims(&mut self, batched: bool) -> Result<Vec<Dim>, Reported> {
        let mut dims = Vec::new();
        if batched && self.take("]") {
            return Ok(dims);
        }
        if batched && !self.take(",") {
            return Err(self.expected("`,` or `]`"));
        }
        loop {
            self.nodes = 0;
            dims.push(self.dim()?);
            if self.take("]") {
                return Ok(dims);
            }
            if !self.take(",") {
                return Err(self.expected("`,`, `]` or one of `+ - * //`"));
            }
        }
    }

    fn dim(&mut self) -> Result<Dim, Reported> {
        let mut left = self.term()?;
        loop {
            let node = match self.peek() {
                Token::Mark("+") => Dim::Add,
                Token::Mark("-") => Dim::Sub,
                _ => return Ok(left),
            };
            self.next += 1;
            left = node(Box::new(left), Box::new(self.term()?));
        }
    }

    fn term(&mut self) -> Result<Dim, Reported> {
        let mut left = self.factor()?;
        loop {
            let node = match self.peek() {
                Token::Mark("*") => Dim::Mul,
                Token::Mark("//") => Dim::FloorDiv,
                _ => return Ok(left),
            };
            self.next += 1;
            left = node(Box::new(left), Box::new(self.factor()?));
        }
    }

    fn factor(&mut self) -> Result<Dim, Reported> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(self.problem("this dimension is too long"));
        }
        let dim = match *self.peek() {
            Token::Int(number) => Dim::Int(number),
            Token::Word(name) if name != "return" && name != "const" => Dim::Sym(name.to_owned()),
            Token::Mark("(") => {
                self.next += 1;
                let dim = self.dim()?;
                return if self.take(")") { Ok(dim) } else { Err(self.expected("`)`")) };
            }
            _ => return Err(self.expected("a dimension (an integer, a symbol or `(`)")),
        };
        self.next += 1;
        Ok(dim)
    }

    fn peek(&self) -> &Token<'a> {
        // `next` never passes the `End` token, since nothing consumes it.
        self.tokens.get(self.next).map_or(&Token::End, |(_, token)| token)
    }

    fn take(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(), Token::Mark(m) if *m == mark);
        self.next += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(w) if *w == word);
        self.next += usize::from(found);
        found
    }

    fn at_end(&self) -> bool {
        *self.peek() == Token::End
    }

    fn at_section_end(&self) -> bool {
        self.at_end() || matches!(self.peek(), Token::Mark("->" | ";"))
    }

    /// Skips to the comma behind the item, not to one inside its brackets.
    fn skip_item(&mut self) {
        let mut depth = self.open_brackets();
        while !self.at_section_end() {
            match self.peek() {
                Token::Mark("[" | "(") => depth += 1,
                Token::Mark("]" | ")") => depth -= 1,
                Token::Mark(",") if depth <= 0 => return,
                _ => {}
            }
            self.next += 1;
        }
    }

    /// How many brackets are open before the next token, in its section.
    fn open_brackets(&self) -> i32 {
        let mut depth = 0;
        for (_, token) in &self.tokens[..self.next] {
            match token {
                Token::Mark("[" | "(") => depth += 1,
                Token::Mark("]" | ")") => depth -= 1,
                Token::Mark("->" | ";") => depth = 0,
                _ => {}
            }
        }
        depth
    }

    fn expected(&mut self, what: &str) -> Reported {
        let found = match *self.peek() {
            Token::End => "the end of the signature".to_owned(),
            Token::Int(number) => format!("`{number}`"),
            Token::Word(text) | Token::Bad(text) => format!("`{text}`"),
            Token::Mark(mark) => format!("`{mark}`"),
        };
        self.problem(&format!("expected {what}, found {found}"))
    }

    /// Records a problem, with a caret under the next token.
    fn problem(&mut self, message: &str) -> Reported {
        let at = self.tokens.get(self.next).map_or(self.text.len(), |(at, _)| *at);
        // One character a column, whatever white space the text has.
        let line: String = self.text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let column = self.text[..at].chars().count();
        self.problems.push(format!("{message}\n{line}\n{:column$}^", ""));
        Reported
    }
}

#[cfg(test)]
mod tests {
    use super::super::repeat::written;
    use super::*;
    use proptest::prelude::*;

    fn dim(text: &str) -> Dim {
        parse(&format!("x[{text}] -> return")).unwrap().inputs.remove(0).dims.unwrap().remove(0)
    }

    #[test]
    fn dimensions_have_the_precedence_of_arithmetic_and_print_back() {
        for text in ["2*n+1", "2*(n+1)", "n-(m-1)", "n-m-1", "n//2*3", "n//(2*3)", "8"] {
            assert_eq!(dim(text).to_string(), text);
        }
        assert_eq!(dim(" ( (n) + 1 ) ").to_string(), "n+1");
    }

    #[test]
    fn inputs_outputs_and_scratch_keep_their_order() {
        let tree = parse("x[3,n], const e[4,k], dt -> K[n,n], return; work[8*n]").unwrap();
        let names = |items: &[Item]| items.iter().map(|i| i.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&tree.inputs), ["x", "e", "dt"]);
        assert_eq!(names(&tree.outputs), ["K", "return"]);
        assert_eq!(names(&tree.scratch), ["work"]);
        assert!(tree.inputs[1].constant && tree.inputs[2].dims.is_none());
    }

    #[test]
    fn every_syntax_error_has_a_caret_and_parsing_goes_on_behind_it() {
        let problems = parse("x[n,,m], 3y -> z[n; w[2**n]").unwrap_err().join("\n");
        insta::assert_snapshot!(problems, @"
    expected a dimension (an integer, a symbol or `(`), found `,`
    x[n,,m], 3y -> z[n; w[2**n]
        ^
    expected a parameter's name, found `3y`
    x[n,,m], 3y -> z[n; w[2**n]
             ^
    expected `,`, `]` or one of `+ - * //`, found `;`
    x[n,,m], 3y -> z[n; w[2**n]
                      ^
    expected a dimension (an integer, a symbol or `(`), found `*`
    x[n,,m], 3y -> z[n; w[2**n]
                            ^
    ");
    }

    #[test]
    fn a_missing_arrow_is_named() {
        insta::assert_snapshot!(parse("x[n]").unwrap_err().join("\n"), @"
    expected `,` or `->`, found the end of the signature
    x[n]
        ^
    ");
    }

    #[test]
    fn deep_and_long_dimensions_are_refused_not_overflowed() {
        let deep = format!("x[{}n{}] -> return", "(".repeat(100_000), ")".repeat(100_000));
        let long = format!("x[n{}] -> return", "+n".repeat(100_000));
        for text in [deep, long] {
            assert!(parse(&text).unwrap_err()[0].starts_with("this dimension is too long"));
        }
    }

    fn a_dim() -> impl Strategy<Value = Dim> {
        let leaf = prop_oneof![(0..=i64::MAX).prop_map(Dim::Int), "[a-z_]{1,3}".prop_map(Dim::Sym)];
        leaf.prop_recursive(4, 16, 2, |inner| {
            (inner.clone(), inner, 0..4).prop_map(|(a, b, kind)| {
                let (a, b) = (Box::new(a), Box::new(b));
                match kind {
                    0 => Dim::Add(a, b),
                    1 => Dim::Sub(a, b),
                    2 => Dim::Mul(a, b),
                    _ => Dim::FloorDiv(a, b),
                }
            })
        })
    }

    fn an_item() -> impl Strategy<Value = Item> {
        let dims = prop::option::of(prop::collection::vec(a_dim(), 1..4));
        ("[a-z_]{4,9}", any::<bool>(), any::<bool>(), dims).prop_filter_map("a word of the language", |parts| {
            let (name, constant, batched, dims) = parts;
            let batched = batched && dims.is_some();
            (name != "const").then_some(Item { constant, batched, name, dims })
        })
    }

    fn items_of(least: usize) -> impl Strategy<Value = Vec<Item>> {
        prop::collection::vec(an_item(), least..4)
    }

    proptest::proptest! {
        #[test]
        fn what_is_printed_is_read_back(inputs in items_of(0), outputs in items_of(1), scratch in items_of(0)) {
            let tree = Tree { inputs, outputs, scratch };
            prop_assert_eq!(parse(&written(&tree)), Ok(tree));
        }

        #[test]
        fn every_caret_stands_under_the_text(
            text in prop_oneof![".{0,60}", r"(const|->|//|\.\.\.|[xn2é\t, ;()\[\]+*-]){0,40}"]
        ) {
            for problem in parse(&text).err().unwrap_or_default() {
                let lines: Vec<&str> = problem.split('\n').collect();
                let [.., line, caret] = lines[..] else { panic!("no caret in {problem}") };
                prop_assert_eq!(line.chars().count(), text.chars().count());
                prop_assert!(caret.trim_start() == "^" && caret.chars().count() <= line.chars().count() + 1);
            }
        }

        #[test]
        fn the_parser_never_panics(text in ".*") {
            let _ = parse(&text);
        }

        #[test]
        fn the_parser_never_panics_on_its_own_marks(
            text in r"(const|return|\.\.\.|->|//|[xn2é, ;()\[\]+*-]){0,40}"
        ) {
            let _ = parse(&text);
        }
    }
}

//! A C++ source with everything but its code blanked: comments, literals and preprocessor lines, byte for byte.

use std::ops::Range;

/// Where the branches of `#if` begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branch {
    /// `#if` and its kin.
    If,
    /// `#else` and its kin.
    Else,
    /// `#endif`
    End,
}

/// The masked text and what was found on the way.
#[derive(Debug, Default)]
pub struct Masked {
    /// As long as the source; line ends are where they were.
    pub text: Vec<u8>,
    /// Preprocessor lines, with the lines that continue them.
    pub directives: Vec<Range<usize>>,
    /// Branches of conditional text, in order.
    pub branches: Vec<(usize, Branch)>,
}

/// Masks a source.
pub fn mask(source: &str) -> Masked {
    let bytes = source.as_bytes();
    let mut masked = Masked { text: bytes.to_vec(), ..Masked::default() };
    let (mut i, mut line_is_empty) = (0, true);
    while i < bytes.len() {
        let end = match bytes[i] {
            b'#' if line_is_empty => {
                let end = directive_end(bytes, i);
                masked.directives.push(i..end);
                masked.branches.extend(branch(&source[i..end]).map(|branch| (i, branch)));
                end
            }
            b'/' if bytes[i..].starts_with(b"//") => find(bytes, i, b"\n").unwrap_or(bytes.len()),
            b'/' if bytes[i..].starts_with(b"/*") => find(bytes, i + 2, b"*/").map_or(bytes.len(), |at| at + 2),
            b'R' if bytes[i..].starts_with(b"R\"") => raw_end(bytes, i),
            quote @ (b'"' | b'\'') => literal_end(bytes, i, quote),
            _ => i,
        };
        if end == i {
            line_is_empty = bytes[i] == b'\n' || (line_is_empty && bytes[i].is_ascii_whitespace());
            i += 1;
        } else {
            blank(&mut masked.text, i..end);
            i = end;
        }
    }
    masked
}

/// Replaces by blanks what is no line end.
pub fn blank(text: &mut [u8], range: Range<usize>) {
    text[range].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    bytes.get(from..)?.windows(what.len()).position(|w| w == what).map(|at| from + at)
}

/// The end of a preprocessor line: the first line end that no backslash escapes. A comment of several lines on it continues it.
fn directive_end(bytes: &[u8], start: usize) -> usize {
    let mut i = start;
    while i < bytes.len() && bytes[i] != b'\n' {
        i = match bytes[i..] {
            [b'\\', b'\n', ..] => i + 2,
            [b'\\', b'\r', b'\n', ..] => i + 3,
            [b'/', b'/', ..] => find(bytes, i, b"\n").unwrap_or(bytes.len()),
            [b'/', b'*', ..] => find(bytes, i + 2, b"*/").map_or(bytes.len(), |at| at + 2),
            _ => i + 1,
        };
    }
    i
}

fn branch(line: &str) -> Option<Branch> {
    let word = line[1..].trim_start();
    match word {
        _ if word.starts_with("if") => Some(Branch::If),
        _ if word.starts_with("el") => Some(Branch::Else),
        _ if word.starts_with("endif") => Some(Branch::End),
        _ => None,
    }
}

/// Behind a literal's closing quote; where the line has none, or the quote separates digits, just where it was.
fn literal_end(bytes: &[u8], start: usize, quote: u8) -> usize {
    if quote == b'\'' && start > 0 && bytes[start - 1].is_ascii_alphanumeric() && !b"LuU8".contains(&bytes[start - 1]) {
        return start;
    }
    let mut i = start + 1;
    while i < bytes.len() && bytes[i] != b'\n' {
        match bytes[i] {
            b'\\' => i += 2,
            b if b == quote => return i + 1,
            _ => i += 1,
        }
    }
    start
}

/// Behind `R"x(...)x"`; where it is none, just where it was.
fn raw_end(bytes: &[u8], start: usize) -> usize {
    let is_part_of_a_name = start > 0 && (bytes[start - 1].is_ascii_alphanumeric() || bytes[start - 1] == b'_');
    let Some(open) = find(bytes, start, b"(").filter(|open| open - start <= 18 && !is_part_of_a_name) else {
        return start;
    };
    let closing = [b")", &bytes[start + 2..open], b"\""].concat();
    find(bytes, open, &closing).map_or(start, |at| at + closing.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(source: &str) -> String {
        String::from_utf8(mask(source).text).expect("text")
    }

    #[test]
    fn comments_literals_and_directives_are_blanked_in_place() {
        assert_eq!(masked("a // {\nb /* {\n} */ c"), "a     \nb     \n     c");
        assert_eq!(masked("f(\"{\\\"\", '{') 1'000"), "f(     ,    ) 1'000");
        assert_eq!(masked("R\"x({)x\"; y"), "        ; y");
        let source = "  #define F(x) { \\\n  {\nint a;\n#if A\n#elif B\n#endif\n";
        assert!(masked(source).contains("int a;") && !masked(source).contains('{'));
        let branches: Vec<Branch> = mask(source).branches.into_iter().map(|(_, branch)| branch).collect();
        assert_eq!(branches, [Branch::If, Branch::Else, Branch::End]);
    }

    #[test]
    fn a_lone_quote_in_text_that_is_no_code_masks_nothing_else() {
        assert!(masked("#if 0\ndon't\n#endif\nint a;").ends_with("int a;"));
    }
}

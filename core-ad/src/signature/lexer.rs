//! Signature text to tokens, each with the position that an error message points at.

/// One token of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    Int(i64),
    /// Punctuation: `[ ] ( ) , ; + - * // -> ...`
    Mark(&'static str),
    /// Text that no signature contains.
    Bad(&'a str),
    End,
}

/// Longest first, so that `->` is not read as `-`.
const MARKS: [&str; 12] = ["...", "->", "//", "[", "]", "(", ")", ",", ";", "+", "-", "*"];

/// The tokens of `text` with their byte offsets; the last one is always [`Token::End`].
pub(super) fn tokens(text: &str) -> Vec<(usize, Token<'_>)> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = next(rest, first);
        tokens.push((text.len() - rest.len(), token));
        rest = rest[length..].trim_start();
    }
    tokens.push((text.trim_end().len(), Token::End));
    tokens
}

fn next(rest: &str, first: char) -> (Token<'_>, usize) {
    if let Some(mark) = MARKS.iter().find(|m| rest.starts_with(**m)) {
        return (Token::Mark(mark), mark.len());
    }
    let length = if first.is_ascii_digit() { run(rest) } else { path(rest) };
    let (word, _) = rest.split_at(length);
    if first.is_ascii_digit() {
        (word.parse().map_or(Token::Bad(word), Token::Int), length)
    } else if is_word_char(first) {
        (Token::Word(word), length)
    } else {
        (Token::Bad(&rest[..first.len_utf8()]), first.len_utf8())
    }
}

/// Length of the word characters that `text` begins with.
fn run(text: &str) -> usize {
    text.find(|c| !is_word_char(c)).unwrap_or(text.len())
}

/// The same of words joined by dots, as members of structures have them: `p.inner.mass`.
fn path(text: &str) -> usize {
    let mut length = run(text);
    while length > 0 && text[length..].starts_with('.') {
        match run(&text[length + 1..]) {
            0 => break,
            more => length += 1 + more,
        }
    }
    length
}

/// C lets identifiers hold most letters of most scripts, and compilers add `$`.
fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_two_characters_are_one_token() {
        let kinds: Vec<_> = tokens("a//2->b").into_iter().map(|(_, token)| token).collect();
        let expected = [Token::Word("a"), Token::Mark("//"), Token::Int(2), Token::Mark("->"), Token::Word("b")];
        assert_eq!(kinds[..5], expected);
    }

    #[test]
    fn a_member_is_one_word_and_dots_alone_are_none() {
        let kinds: Vec<_> = tokens("p.inner.x[...,p.n]").into_iter().map(|(_, token)| token).collect();
        let expected =
            [Token::Word("p.inner.x"), Token::Mark("["), Token::Mark("..."), Token::Mark(","), Token::Word("p.n")];
        assert_eq!(kinds[..5], expected);
        assert_eq!(tokens("p. x")[1], (1, Token::Bad(".")));
    }

    #[test]
    fn positions_are_byte_offsets_and_the_end_stands_behind_the_last_token() {
        assert_eq!(tokens("é #  "), [(0, Token::Word("é")), (3, Token::Bad("#")), (4, Token::End)]);
    }

    #[test]
    fn a_number_beyond_64_bits_is_bad() {
        assert_eq!(tokens("99999999999999999999")[0].1, Token::Bad("99999999999999999999"));
    }
}

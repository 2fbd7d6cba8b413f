//! Whether standard error is a terminal that can show a progress bar.

use std::ffi::OsStr;
use std::io::IsTerminal;

/// Whether progress may be drawn on standard error, with the codes that move a terminal's cursor.
pub fn draws() -> bool {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    std::io::stderr().is_terminal() && takes_codes(variable("TERM").as_deref(), variable("NO_COLOR").as_deref())
}

fn takes_codes(term: Option<&OsStr>, no_color: Option<&OsStr>) -> bool {
    term.is_some_and(|name| name != "dumb") && no_color.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_takes_text_alone_gets_no_codes() {
        let term = |name| Some(OsStr::new(name));
        assert!(takes_codes(term("xterm-256color"), None));
        assert!(!takes_codes(term("dumb"), None) && !takes_codes(None, None));
        assert!(!takes_codes(term("xterm"), Some(OsStr::new("1"))));
    }
}

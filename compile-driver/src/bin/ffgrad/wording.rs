//! Puts what an error says of options, which it spells as Python does, into the words of the command line.

/// Options that the command has: how Python spells the start of a value, and how the command line does.
const SPELLED: [(&str, char, &str); 5] = [
    ("sizes={", '}', "--size "),
    ("flags=[", ']', "--flag="),
    ("libraries=[", ']', "-l "),
    ("include_dirs=[", ']', "-I "),
    ("defines={", '}', "-D "),
];

/// Options with one word as a value.
const PLAIN: [(&str, &str); 3] = [("timeout=", "--timeout "), ("engine=", "--engine "), ("cpu=", "--cpu ")];

/// Options by name alone, as in "the option `sizes`".
const NAMED: [(&str, &str); 8] = [
    ("`sizes`", "`--size`"),
    ("`timeout`", "`--timeout`"),
    ("`flags`", "`--flag`"),
    ("`libraries`", "`--library`"),
    ("`include_dirs`", "`-I`"),
    ("`defines`", "`-D`"),
    ("`engine`", "`--engine`"),
    ("`cpu`", "`--cpu`"),
];

/// Options that `enzyme` has and the command has not.
const ELSEWHERE: [&str; 15] = [
    "verify=",
    "loose_types=",
    "arena=",
    "inactive=",
    "derivatives=",
    "mpi=",
    "math=",
    "without=",
    "engine_options=",
    "repeat=",
    "schedule=",
    "snapshots=",
    "memory=",
    "threads=",
    "checkpoint=",
];

const NOTE: &str = "Options written NAME=VALUE are those of `enzyme` in Python; the command has not all of them.";

/// The text with the options of the command in place of Python's.
pub fn of_command(text: &str) -> String {
    let mut text = text.to_owned();
    for (start, end, option) in SPELLED {
        text = replaced(&text, start, |rest| {
            let length = rest.find(end)?;
            Some((members(&rest[..length], option), length + 1))
        });
    }
    for (start, option) in PLAIN {
        text = replaced(&text, start, |rest| {
            let length = rest.find(|c: char| !(c.is_alphanumeric() || "\"-_".contains(c))).unwrap_or(rest.len());
            let value = rest[..length].trim_matches('"');
            (!value.is_empty()).then(|| (format!("{option}{value}"), length))
        });
    }
    for (python, command) in NAMED {
        text = text.replace(python, command);
    }
    text = replaced(&text, "a signature to start from: \"", |rest| {
        let length = rest.find('"')?;
        Some((format!("a signature to start from: -s '{}'", &rest[..length]), length + 1))
    });
    text = text.replace("', with --size ", "' --size ");
    let is_part = |c: char| c.is_alphanumeric() || "_-`".contains(c);
    if ELSEWHERE.iter().any(|&name| text.match_indices(name).any(|(at, _)| !text[..at].ends_with(is_part))) {
        text.push_str(&format!("\n  {NOTE}"));
    }
    text
}

/// Each place where `start` begins a word, replaced by what `with` makes of what follows, and of how many bytes of it.
fn replaced(text: &str, start: &str, with: impl Fn(&str) -> Option<(String, usize)>) -> String {
    let (mut done, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(start) {
        let (before, after) = (&rest[..at], &rest[at + start.len()..]);
        let begins = !before.ends_with(|c: char| c.is_alphanumeric() || "_-".contains(c));
        match with(after).filter(|_| begins) {
            Some((new, length)) => {
                done.push_str(before);
                done.push_str(&new);
                rest = &after[length..];
            }
            None => {
                done.push_str(&rest[..at + start.len()]);
                rest = after;
            }
        }
    }
    done + rest
}

/// The members of a list or dict, an option each: `"n": 8` is `--size n=8`.
fn members(inside: &str, option: &str) -> String {
    let one = |member: &str| match member.split_once(':') {
        Some((name, value)) => {
            let value = value.trim().trim_matches('"');
            let value = if value.chars().all(|c| c == '.') { "N" } else { value };
            format!("{option}{}={value}", name.trim().trim_matches('"'))
        }
        None => format!("{option}{}", member.trim().trim_matches('"')),
    };
    inside.split(", ").map(one).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_command_are_spelled_as_the_command_takes_them() {
        for (python, command) in [
            ("give sizes={\"n\": ...}, or write", "give --size n=N, or write"),
            ("with sizes={\"m\": 3, \"n\": 4}", "with --size m=3 --size n=4"),
            ("need flags=[\"-fopenmp\"], and", "need --flag=-fopenmp, and"),
            ("it: libraries=[\"NAME\"].", "it: -l NAME."),
            ("include_dirs=[\"...\"].", "-I ...."),
            ("as with timeout=480, or", "as with --timeout 480, or"),
            ("use engine=\"catalyst\".", "use --engine catalyst."),
            ("`sizes` gives `q`", "`--size` gives `q`"),
            ("a signature to start from: \"x[n] -> return\"", "a signature to start from: -s 'x[n] -> return'"),
            (
                "a signature to start from: \"x -> y[n]\", with sizes={\"n\": ...}",
                "a signature to start from: -s 'x -> y[n]' --size n=N",
            ),
            ("--cpu=x86-64 stays", "--cpu=x86-64 stays"),
        ] {
            assert_eq!(of_command(python), command);
        }
    }

    #[test]
    fn what_only_python_has_is_said_to_be_there() {
        let text = of_command("verify=\"off\" returns it");
        assert_eq!(text, format!("verify=\"off\" returns it\n  {NOTE}"));
        assert_eq!(of_command("a plain sentence"), "a plain sentence");
    }
}

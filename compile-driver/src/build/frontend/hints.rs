//! What to do about a source that a compiler refused because it is of another language, or of a newer standard than the compiler's default.

use crate::build::frontend::language::Language;

/// Headers of C++ without an ending. Those of C++ 20 and later are in the lists below.
const CPP_HEADERS: [&str; 74] = [
    "algorithm",
    "any",
    "array",
    "atomic",
    "bitset",
    "cassert",
    "ccomplex",
    "cctype",
    "cerrno",
    "cfenv",
    "cfloat",
    "charconv",
    "chrono",
    "cinttypes",
    "climits",
    "clocale",
    "cmath",
    "codecvt",
    "complex",
    "condition_variable",
    "csetjmp",
    "csignal",
    "cstdarg",
    "cstdbool",
    "cstddef",
    "cstdint",
    "cstdio",
    "cstdlib",
    "cstring",
    "ctime",
    "ctgmath",
    "cuchar",
    "cwchar",
    "cwctype",
    "deque",
    "exception",
    "execution",
    "filesystem",
    "forward_list",
    "fstream",
    "functional",
    "future",
    "initializer_list",
    "iomanip",
    "ios",
    "iosfwd",
    "iostream",
    "istream",
    "iterator",
    "limits",
    "list",
    "locale",
    "map",
    "memory",
    "memory_resource",
    "mutex",
    "new",
    "numeric",
    "optional",
    "ostream",
    "queue",
    "random",
    "ratio",
    "regex",
    "set",
    "shared_mutex",
    "sstream",
    "stack",
    "stdexcept",
    "string",
    "tuple",
    "unordered_map",
    "variant",
    "vector",
];
const CPP_20: [&str; 23] = [
    "barrier",
    "bit",
    "bit_cast",
    "compare",
    "concepts",
    "convertible_to",
    "coroutine",
    "floating_point",
    "format",
    "integral",
    "invocable",
    "jthread",
    "latch",
    "lerp",
    "midpoint",
    "numbers",
    "ranges",
    "same_as",
    "semaphore",
    "source_location",
    "span",
    "stop_token",
    "views",
];
const CPP_23: [&str; 10] = [
    "byteswap",
    "expected",
    "flat_map",
    "flat_set",
    "generator",
    "mdspan",
    "print",
    "spanstream",
    "stacktrace",
    "to_underlying",
];
/// Words that C has not, and C++ has.
const CPP_WORDS: [&str; 8] = ["class", "namespace", "operator", "private", "public", "template", "typename", "using"];
const CONCEPTS: [&str; 5] = ["'concept'", "'requires'", "'consteval'", "'constinit'", "'co_yield'"];
/// Words that clang's default C has not, and C23 has.
const C_23: [&str; 11] = [
    "bool",
    "true",
    "false",
    "nullptr",
    "nullptr_t",
    "constexpr",
    "typeof",
    "typeof_unqual",
    "static_assert",
    "thread_local",
    "alignas",
];

/// What to do about a message, in the line `text`; `has_standard`: the user has named one.
pub fn of(message: &str, text: &str, language: Language, has_standard: bool) -> Option<String> {
    let quoted = message.split('\'').nth(1).unwrap_or_default();
    let is_missing = message.ends_with("file not found");
    if language == Language::C {
        let is_header = |list: &[&str]| is_missing && list.contains(&quoted);
        if is_header(&CPP_HEADERS) || is_header(&CPP_20) || is_header(&CPP_23) {
            return Some(of_cpp(&format!("`{quoted}` is a header of C++")));
        }
        if CPP_WORDS.contains(&quoted) || text.contains("std::") {
            return Some(of_cpp("This is C++"));
        }
        let is_auto = message.starts_with("type specifier missing") && text.contains("auto ");
        let is_newer = !is_missing && C_23.contains(&quoted) || is_auto;
        let word = if is_auto { "auto" } else { quoted };
        return (is_newer && !has_standard).then(|| {
            format!("`{word}` so written is of C23, which is named by flags=[\"-std=c23\"], or --flag=-std=c23.")
        });
    }
    if language != Language::Cpp {
        return None;
    }
    if is_missing && [&CPP_20[..], &CPP_23].concat().contains(&quoted) {
        return Some(format!(
            "The C++ standard library here has no <{quoted}>: install a newer one (g++ 14 or later), or do without."
        ));
    }
    let is_of_std = message.contains("'std'") || message.contains("std::") || message.contains("no template named");
    let names = |list: &[&str]| list.iter().any(|name| is_word(text, &format!("std::{name}")) || quoted == *name);
    let year = match () {
        () if has_standard => return None,
        () if is_of_std && names(&CPP_23) => "23",
        () if is_of_std && names(&CPP_20) || CONCEPTS.iter().any(|word| message.contains(word)) => "20",
        () if message.contains("in namespace 'std'") => {
            return Some(
                "If that is newer than C++17, clang's default, name the standard: flags=[\"-std=c++20\"], or \
                 --flag=-std=c++20."
                    .to_owned(),
            );
        }
        () => return None,
    };
    Some(format!(
        "That is of C++{year}, and clang's default is C++17: name the standard, flags=[\"-std=c++{year}\"], or --flag=-std=c++{year}."
    ))
}

fn of_cpp(what: &str) -> String {
    format!(
        "{what}, and the source is compiled as C: name the file `.cpp` (in a notebook: `%%ffgrad language=c++ ..`)."
    )
}

/// Whether a text has a name, and not only the beginning of a longer one.
fn is_word(text: &str, name: &str) -> bool {
    let ends = |at: usize| !text[at + name.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    text.match_indices(name).any(|(at, _)| ends(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(message: &str, text: &str, language: Language) -> String {
        of(message, text, language, false).unwrap_or_default()
    }

    #[test]
    fn cpp_in_a_file_of_c_is_told() {
        let vector = hint("'vector' file not found", "#include <vector>", Language::C);
        assert!(vector.starts_with("`vector` is a header of C++") && vector.contains("`.cpp`"), "{vector}");
        assert!(hint("unknown type name 'class'", "class A {};", Language::C).contains("`.cpp`"));
        assert_eq!(hint("'mine.h' file not found", "#include \"mine.h\"", Language::C), "");
        assert_eq!(hint("'vector' file not found", "#include <vector>", Language::Cpp), "");
    }

    #[test]
    fn newer_standards_are_named() {
        assert!(hint("use of undeclared identifier 'bool'", "bool b = 1;", Language::C).contains("-std=c23"));
        let auto = "type specifier missing, defaults to 'int'";
        assert!(hint(auto, "auto y = x;", Language::C).contains("-std=c23"));
        assert_eq!(hint(auto, "static y = x;", Language::C), "");
        let std = "use of undeclared identifier 'std'";
        assert!(hint(std, "std::span<const double> s(x, n);", Language::Cpp).contains("-std=c++20"));
        assert!(hint(std, "std::expected<double, int> e;", Language::Cpp).contains("-std=c++23"));
        assert_eq!(hint(std, "std::vector<double> v; std::spanish s;", Language::Cpp), "");
        assert!(hint("unknown type name 'concept'", "concept C = true;", Language::Cpp).contains("-std=c++20"));
        assert_eq!(of("unknown type name 'concept'", "", Language::Cpp, true), None);
    }
}

//! Function names: resolves the user's spelling to a symbol in the object code.
//!
//! In: a wanted name and the symbols that a module defines. Out: the one symbol meant, or what the
//! user needs to choose. C names are their own symbols; C++ names are looked up by their demangled
//! text, in full (`ns::f(double const*, int)`) or without the parameters (`ns::f`, `f<double>`, or
//! `f` where only one instance of the template exists).

use cpp_demangle::{DemangleOptions, Symbol};
use wildmatch::WildMatch;

/// How many there are of something: `1 input`, `3 inputs`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// How many were given: `1 was given`, `3 were given`.
pub fn given(count: usize) -> String {
    format!("{count} {} given", if count == 1 { "was" } else { "were" })
}

/// What [`find`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup<'a> {
    /// The one symbol that the name means.
    Found(&'a str),
    /// Several functions have this name; their full demangled names, any of which is unambiguous.
    Ambiguous(Vec<String>),
    /// No function has this name.
    Missing {
        /// Up to three names that look like it, the most similar first.
        closest: Vec<String>,
    },
}

/// Finds the symbol that a user means by `wanted`.
///
/// An equal symbol wins, then an equal full C++ name, then an equal C++ name without parameters,
/// then one that also lacks the template arguments.
pub fn find<'a>(wanted: &str, symbols: &'a [String]) -> Lookup<'a> {
    if let Some(symbol) = symbols.iter().find(|s| *s == wanted) {
        return Lookup::Found(symbol);
    }
    // Parts of a function that the compiler has made functions, such as the bodies of parallel regions, are nobody's to name.
    let names: Vec<Name> =
        symbols.iter().filter_map(|s| Name::of(s)).filter(|n| !n.full.contains(" [clone ")).collect();
    let wanted_text = normalised(wanted);
    let tiers: [fn(&Name, &str) -> bool; 3] = [
        |n, w| normalised(&n.full) == w || normalised(&n.typeless) == w,
        |n, w| normalised(&n.bare) == w,
        |n, w| normalised(without_template_arguments(&n.bare)) == w,
    ];
    for matches in tiers {
        let hits: Vec<&Name> = names.iter().filter(|n| matches(n, &wanted_text)).collect();
        match hits.as_slice() {
            [] => {}
            [one] => return Lookup::Found(one.symbol),
            several => return Lookup::Ambiguous(several.iter().map(|n| n.full.clone()).collect()),
        }
    }
    Lookup::Missing { closest: closest_functions(wanted, symbols, &names) }
}

/// The name a C++ programmer would write for `symbol`; the symbol itself if it is not mangled.
pub fn demangle(symbol: &str) -> String {
    Name::of(symbol).map_or_else(|| symbol.to_owned(), |name| name.full)
}

/// The same without parameters, return type and ABI tags: `std::basic_ios<char>::init`.
pub fn short(symbol: &str) -> String {
    Name::of(symbol).map_or_else(|| symbol.to_owned(), |name| untagged(&name.bare))
}

/// All symbols that a user means by `wanted`: a function with its overloads and instances, however it is spelled; or, where there is none,
/// what a pattern with `*` matches: `fmt::*`, `*printf`.
pub fn all<'a>(wanted: &str, symbols: impl IntoIterator<Item = &'a String>) -> Vec<&'a str> {
    let wanted = normalised(wanted);
    let pattern = WildMatch::new(&wanted);
    let (mut equal, mut alike) = (Vec::new(), Vec::new());
    for symbol in symbols {
        let spellings = spellings(symbol);
        if spellings.contains(&wanted) {
            equal.push(symbol.as_str());
        } else if wanted.contains('*') && spellings.iter().any(|s| pattern.matches(s)) {
            alike.push(symbol.as_str());
        }
    }
    if equal.is_empty() { alike } else { equal }
}

/// Every way to write a symbol's name.
fn spellings(symbol: &str) -> Vec<String> {
    match Name::of(symbol) {
        Some(name) => {
            let family = without_template_arguments(&name.bare);
            let written = [name.full.as_str(), &name.typeless, &name.bare, family].map(normalised);
            [symbol.to_owned()].into_iter().chain(written).collect()
        }
        None => [symbol, in_source(symbol)].map(str::to_owned).into_iter().chain(in_fortran(symbol)).collect(),
    }
}

/// How Fortran's sources write an external procedure (`dvjac_`): in small letters or capitals.
fn in_fortran(symbol: &str) -> Vec<String> {
    let name = symbol.strip_suffix('_').filter(|name| !name.is_empty() && !name.starts_with('_'));
    name.map_or_else(Vec::new, |name| vec![name.to_owned(), name.to_uppercase()])
}

/// The name in the source of a function that the C library's headers redirect: `__isoc23_sscanf`, `__printf_chk`.
pub fn in_source(symbol: &str) -> &str {
    let versioned = ["__isoc99_", "__isoc23_", "__xpg_"].iter().find_map(|prefix| symbol.strip_prefix(prefix));
    let checked = || symbol.strip_prefix("__")?.strip_suffix("_chk");
    versioned.or_else(checked).unwrap_or(symbol)
}

/// The full name of a class, from the mangled name of its type information (`_ZTSSt6vectorIdSaIdEE`), as compilers identify it.
pub fn class(identifier: &str) -> Option<String> {
    let text = Name::of(identifier.starts_with("_ZTS").then_some(identifier)?)?.full;
    Some(text.strip_prefix("typeinfo name for ")?.to_owned())
}

/// What a source calls the function with this symbol by: `ns::f<double>`.
pub fn callee(symbol: &str) -> String {
    // What stands in a nameless namespace is called without it.
    short(symbol).replace("(anonymous namespace)::", "")
}

/// At most three of `candidates` that look like `wanted`, the most similar first.
pub fn closest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    best(candidates.into_iter().map(|c| (similarity(wanted, c), c.to_owned())).collect())
}

/// The three spellings under which a mangled symbol is known.
struct Name<'a> {
    symbol: &'a str,
    /// `double f<double>(double const*)`: only templates have their return type in the symbol.
    full: String,
    /// `f<double>(double const*)`
    typeless: String,
    /// `f<double>`
    bare: String,
}

impl<'a> Name<'a> {
    fn of(symbol: &'a str) -> Option<Self> {
        // Without this check the demangler takes the C function `f` for the mangled type `float`.
        if !symbol.starts_with("_Z") && !symbol.starts_with("__Z") {
            return None;
        }
        let parsed = Symbol::new(symbol).ok()?;
        let text = |options: DemangleOptions| parsed.demangle_with_options(&options).ok();
        Some(Name {
            symbol,
            full: text(DemangleOptions::new())?,
            typeless: text(DemangleOptions::new().no_return_type())?,
            bare: text(DemangleOptions::new().no_return_type().no_params())?,
        })
    }
}

/// `ns::f<double>` to `ns::f`; other names, `operator<` and `operator->` among them, as they are.
fn without_template_arguments(name: &str) -> &str {
    if name.contains("operator") || !name.ends_with('>') {
        return name;
    }
    let mut depth = 0_i32;
    for (at, mark) in name.char_indices().rev() {
        match mark {
            '>' => depth += 1,
            '<' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &name[..at];
        }
    }
    name
}

/// `std::to_string[abi:cxx11]` to `std::to_string`.
fn untagged(name: &str) -> String {
    let mut parts = name.split("[abi:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(']').map_or(part, |(_, rest)| rest))
}

/// A spelling of a C++ name that does not depend on spaces, on the side of a type on which `const`
/// stands, on ABI tags, on allocators, or on `(void)`.
fn normalised(name: &str) -> String {
    let name = untagged(name);
    let tokens = east_const(&tokens(&name));
    let mut text = String::with_capacity(name.len());
    for token in tokens {
        if is_word(token) && text.ends_with(is_word_char) {
            text.push(' ');
        }
        text.push_str(token);
    }
    let text = without_allocators(text);
    match text.strip_suffix("(void)") {
        Some(start) => format!("{start}()"),
        None => text,
    }
}

/// Without the arguments that nobody writes: `std::vector<double>` has `std::allocator<double>` too.
fn without_allocators(mut text: String) -> String {
    const ALLOCATOR: &str = ",std::allocator<";
    while let Some(start) = text.find(ALLOCATOR) {
        let mut depth = 0_i32;
        let closes = |(_, mark): &(usize, char)| {
            depth += i32::from(*mark == '<') - i32::from(*mark == '>');
            *mark == '>' && depth == 0
        };
        let Some((length, _)) = text[start..].char_indices().find(closes) else { break };
        text.replace_range(start..=start + length, "");
    }
    text
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn is_word(token: &str) -> bool {
    token.starts_with(is_word_char)
}

/// Words and single marks, without spaces.
fn tokens(name: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = name.trim_start();
    while let Some(first) = rest.chars().next() {
        let length =
            if is_word_char(first) { rest.find(|c| !is_word_char(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, tail) = rest.split_at(length);
        tokens.push(token);
        rest = tail.trim_start();
    }
    tokens
}

/// Moves each `const` that opens a type behind that type: `const double*` to `double const*`.
fn east_const<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    let mut moved = Vec::with_capacity(tokens.len());
    // Where a pending `const` belongs: before the mark that ends the type at this nesting depth.
    let mut pending: Vec<i32> = Vec::new();
    let mut depth = 0_i32;
    for (at, &token) in tokens.iter().enumerate() {
        let opens_type = at == 0 || matches!(tokens[at - 1], "(" | "," | "<");
        if token == "const" && opens_type {
            pending.push(depth);
            continue;
        }
        if matches!(token, "*" | "&" | "," | ")" | ">") {
            while pending.last() == Some(&depth) {
                pending.pop();
                moved.push("const");
            }
        }
        match token {
            "<" | "(" => depth += 1,
            ">" | ")" => depth -= 1,
            _ => {}
        }
        moved.push(token);
    }
    moved.extend(pending.iter().map(|_| "const"));
    moved
}

fn closest_functions(wanted: &str, symbols: &[String], names: &[Name]) -> Vec<String> {
    let cpp = names.iter().map(|n| (similarity(wanted, &n.bare), n.full.clone()));
    // A mangled symbol is shown as a C++ name only: nobody means to type the symbol.
    let c = symbols.iter().filter(|s| !names.iter().any(|n| n.symbol == s.as_str()));
    best(c.map(|s| (similarity(wanted, s), s.clone())).chain(cpp).collect())
}

/// Similarity in 0..=1 of two names, also where `candidate` has scopes or template arguments that
/// `wanted` leaves out. Case does not count.
fn similarity(wanted: &str, candidate: &str) -> f64 {
    let (wanted, candidate) = (wanted.to_lowercase(), candidate.to_lowercase());
    let last = without_template_arguments(&candidate).rsplit("::").next().unwrap_or_default();
    let whole = strsim::normalized_damerau_levenshtein(&wanted, &candidate);
    whole.max(strsim::normalized_damerau_levenshtein(&wanted, last))
}

fn best(mut scored: Vec<(f64, String)>) -> Vec<String> {
    const SIMILAR: f64 = 0.5;
    scored.retain(|(score, _)| *score >= SIMILAR);
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.truncate(3);
    scored.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const F_DOUBLE: &str = "_Z1fPKdi"; // f(double const*, int)
    const F_FLOAT: &str = "_Z1fPKfi"; // f(float const*, int)
    const NS_KERNEL: &str = "_ZN2ns6kernelEPd"; // ns::kernel(double*)
    const TEMPLATE: &str = "_Z3sqrIdET_S0_"; // double sqr<double>(double)
    const TEMPLATE_FLOAT: &str = "_Z3sqrIfET_S0_"; // float sqr<float>(float)
    const TAGGED: &str = "_ZN2ns4textB5cxx11Ei"; // ns::text[abi:cxx11](int)
    const VECTOR: &str = "_Z1gRKSt6vectorIdSaIdEE"; // g(std::vector<double, ...> const&)

    fn symbols(names: &[&str]) -> Vec<String> {
        names.iter().map(|&n| n.to_owned()).collect()
    }

    #[test]
    fn bodies_of_parallel_regions_have_no_name() {
        let symbols = ["_Z4ompdPKdi".to_owned(), "_Z4ompdPKdi.omp_outlined".to_owned()];
        assert_eq!(find("ompd", &symbols), Lookup::Found("_Z4ompdPKdi"));
    }

    #[test]
    fn an_equal_symbol_wins_over_a_cpp_name() {
        let symbols = symbols(&[F_DOUBLE, "f"]);
        assert_eq!(find("f", &symbols), Lookup::Found("f"));
        assert_eq!(find(F_DOUBLE, &symbols), Lookup::Found(F_DOUBLE));
    }

    #[test]
    fn a_cpp_name_is_found_without_its_parameters() {
        let symbols = symbols(&["main", NS_KERNEL, F_DOUBLE]);
        assert_eq!(find("ns::kernel", &symbols), Lookup::Found(NS_KERNEL));
        assert_eq!(find("f", &symbols), Lookup::Found(F_DOUBLE));
    }

    #[test]
    fn allocators_need_not_be_written() {
        const NESTED: &str = "_Z1hRKSt6vectorIS_IdSaIdEESaIS1_EEi"; // h(std::vector<std::vector<double>> const&, int)
        let symbols = symbols(&[VECTOR, "_Z1gRKSt6vectorIfSaIfEE", NESTED]);
        assert_eq!(find("g(const std::vector<double>&)", &symbols), Lookup::Found(VECTOR));
        assert_eq!(find("h(std::vector<std::vector<double>> const &, int)", &symbols), Lookup::Found(NESTED));
    }

    #[test]
    fn overloads_are_ambiguous_and_listed_in_full() {
        let symbols = symbols(&[F_DOUBLE, F_FLOAT]);
        let both = vec!["f(double const*, int)".to_owned(), "f(float const*, int)".to_owned()];
        assert_eq!(find("f", &symbols), Lookup::Ambiguous(both));
    }

    #[test]
    fn a_full_name_chooses_an_overload_however_it_is_spelled() {
        let symbols = symbols(&[F_DOUBLE, F_FLOAT, VECTOR]);
        for text in ["f(double const*, int)", "f(const double *,int)", " f( double  const * , int )"] {
            assert_eq!(find(text, &symbols), Lookup::Found(F_DOUBLE), "{text}");
        }
        for text in [
            "g(std::vector<double, std::allocator<double> > const&)",
            "g(const std::vector<double, std::allocator<double>>&)",
        ] {
            assert_eq!(find(text, &symbols), Lookup::Found(VECTOR), "{text}");
        }
    }

    #[test]
    fn a_template_is_found_with_and_without_its_return_type() {
        let symbols = symbols(&[TEMPLATE, TEMPLATE_FLOAT]);
        for text in ["sqr<double>", "sqr<double>(double)", "double sqr<double>(double)"] {
            assert_eq!(find(text, &symbols), Lookup::Found(TEMPLATE), "{text}");
        }
        assert!(matches!(find("sqr", &symbols), Lookup::Ambiguous(both) if both.len() == 2));
        assert_eq!(find("sqr", &symbols[..1]), Lookup::Found(TEMPLATE));
    }

    #[test]
    fn a_missing_name_comes_with_the_closest_ones() {
        let symbols = symbols(&["simulate", "stimulate", NS_KERNEL, "zzz"]);
        let closest = |wanted| match find(wanted, &symbols) {
            Lookup::Missing { closest } => closest,
            other => panic!("{other:?}"),
        };
        assert_eq!(closest("simulat"), ["simulate", "stimulate"]);
        assert_eq!(closest("kernal"), ["ns::kernel(double*)"]);
        assert!(closest("qqqqqqqq").is_empty());
    }

    #[test]
    fn a_c_name_that_is_also_a_mangled_type_is_not_demangled() {
        assert_eq!(demangle("f"), "f");
        assert_eq!(demangle("_Znot_mangled"), "_Znot_mangled");
        assert_eq!(demangle(NS_KERNEL), "ns::kernel(double*)");
    }

    #[test]
    fn const_inside_template_arguments_stays_with_its_type() {
        let west = "h(const pair<const double*, int>&) const";
        assert_eq!(normalised(west), normalised("h(pair<double const *,int> const &) const"));
        assert_eq!(normalised("p(void)"), "p()");
    }

    #[test]
    fn a_function_in_a_nameless_namespace_is_called_without_it() {
        assert_eq!(callee("_ZN12_GLOBAL__N_17Reducer6reduceEl"), "Reducer::reduce");
        assert_eq!(callee("dscal_"), "dscal_");
    }

    #[test]
    fn all_overloads_and_instances_have_one_name() {
        let symbols =
            symbols(&[F_DOUBLE, F_FLOAT, TEMPLATE, TEMPLATE_FLOAT, TAGGED, "__isoc23_sscanf", "__printf_chk"]);
        let found = |wanted| all(wanted, &symbols);
        assert_eq!(found("f"), [F_DOUBLE, F_FLOAT]);
        assert_eq!(found("f(const double *, int)"), [F_DOUBLE]);
        assert_eq!(found("sqr"), [TEMPLATE, TEMPLATE_FLOAT]);
        assert_eq!(found("sscanf"), ["__isoc23_sscanf"]);
        assert_eq!(found("printf"), ["__printf_chk"]);
        assert_eq!(short(TAGGED), "ns::text");
        assert_eq!(found("ns::text"), [TAGGED]);
        assert_eq!(found("ns::text[abi:cxx11]"), [TAGGED]);
        assert_eq!(found("ns::*"), [TAGGED]);
        assert_eq!(found("*"), symbols);
        assert!(found("g*").is_empty());
        let symbols = ["dvjac_", "_", "__ieee_"].map(str::to_owned);
        for wanted in ["dvjac", "DVJAC", "dvjac_"] {
            assert_eq!(all(wanted, &symbols), ["dvjac_"]);
        }
    }

    proptest::proptest! {
        #[test]
        fn looking_up_any_text_never_panics(wanted in ".*", symbol in "(_Z)?.*") {
            let symbols = vec![symbol];
            let _ = find(&wanted, &symbols);
        }
    }
}

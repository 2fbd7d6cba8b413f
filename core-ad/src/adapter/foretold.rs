//! Foretells a prototype from the text of its source, so that its adapter can be compiled at once, together with the source.
//!
//! Only the compiler knows what a declaration means. So this is a guess: the adapter that is made of it counts only where the one that is made
//! of the debug information has the same text. It reads plain declarations of numbers, standard containers and Eigen's classes by their usual
//! names, through aliases, and gives up on all else: a guess that fails costs one more run of the compiler.

use super::{Adapted, By, Kind, Object};
use crate::{DType, Param, ParamType, Prototype, ReturnType};
use std::collections::{BTreeMap, BTreeSet};

/// The prototype of the function, and its name with its namespaces; `None` where it has to be asked for, or needs no adapter.
pub fn prototype(source: &str, function: &str) -> Option<(Prototype, String)> {
    if function.contains(['<', '(']) || source.contains("R\"") {
        return None;
    }
    let tokens = tokens(source);
    let mut reader = Reader { wanted: function.rsplit("::").next()?, ..Reader::default() };
    reader.read(&tokens)?;
    let Reader { found, names, .. } = reader;
    let (callee, head, open) = found?;
    if callee != function && !callee.ends_with(&format!("::{function}")) {
        return None;
    }
    let returns = names.returns(&head[..open - 1])?;
    let close = matching(head, open)?;
    // `const` and `-> T` are of members and of types that follow.
    if head[close + 1..].iter().any(|token| *token != "noexcept") {
        return None;
    }
    let params: Vec<Param> =
        split(&head[open + 1..close]).into_iter().map(|param| names.param(param)).collect::<Option<_>>()?;
    let (symbol, file) = (callee.clone(), String::new());
    let function = function.to_owned();
    let prototype = Prototype { function, symbol, file, line: 0, returns, params, fortran: None, adapter: None };
    super::is_needed(&prototype).then_some((prototype, callee))
}

/// Words, and signs of one character but for `::`; without comments and directives, and `""` for what stands in quotes.
fn tokens(source: &str) -> Vec<&str> {
    let (mut found, mut rest, mut begins_line) = (Vec::new(), source, true);
    while let Some(first) = rest.chars().next() {
        let to = |end: &str| rest.find(end).map_or(rest.len(), |at| at + end.len());
        let length = match first {
            '\n' => 1,
            _ if first.is_whitespace() => first.len_utf8(),
            '#' if begins_line => directive(rest),
            '/' if rest.starts_with("//") => to("\n"),
            '/' if rest.starts_with("/*") => to("*/"),
            '"' | '\'' => {
                found.push("\"\"");
                quoted(rest, first)
            }
            _ => {
                let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                let length = if word > 0 {
                    word
                } else if rest.starts_with("::") {
                    2
                } else {
                    first.len_utf8()
                };
                found.push(&rest[..length]);
                length
            }
        };
        let (read, left) = rest.split_at(length);
        begins_line = read.ends_with('\n') || begins_line && (read.trim().is_empty() || read.starts_with("/*"));
        rest = left;
    }
    found
}

/// The length of a directive, over all of its lines.
fn directive(text: &str) -> usize {
    let lines = text.split_inclusive('\n');
    let ends = lines.scan(0, |at, line| {
        *at += line.len();
        Some((*at, line.trim_end_matches(['\r', '\n']).ends_with('\\')))
    });
    ends.filter(|(_, goes_on)| !goes_on).map(|(at, _)| at).next().unwrap_or(text.len())
}

/// The length of what stands between two quotes, with them.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == quote && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// The sign that closes the parenthesis at `open`.
fn matching(tokens: &[&str], open: usize) -> Option<usize> {
    let mut depth = 0;
    (open..tokens.len()).find(|i| {
        depth += match tokens[*i] {
            "(" => 1,
            ")" => -1,
            _ => 0,
        };
        depth == 0
    })
}

/// Parts between commas outside all brackets; none of nothing.
fn split<'t, 's>(tokens: &'t [&'s str]) -> Vec<&'t [&'s str]> {
    let mut depth = 0;
    let is_comma = |token: &&str| {
        depth += match *token {
            "<" | "(" | "[" | "{" => 1,
            ">" | ")" | "]" | "}" => -1,
            _ => 0,
        };
        *token == "," && depth == 0
    };
    if tokens.is_empty() { Vec::new() } else { tokens.split(is_comma).collect() }
}

/// Goes through the declarations of namespaces.
#[derive(Default)]
struct Reader<'t, 's> {
    wanted: &'t str,
    names: Names<'t, 's>,
    /// The one definition: its name, its tokens up to the brace, and where its parameters begin.
    found: Option<(String, &'t [&'s str], usize)>,
}

impl<'t, 's> Reader<'t, 's> {
    /// `None` where more than one function has the name.
    fn read(&mut self, tokens: &'t [&'s str]) -> Option<()> {
        // Names of the namespaces around; `None` for what is none.
        let mut around: Vec<Option<String>> = Vec::new();
        let mut begin = 0;
        for (i, token) in tokens.iter().enumerate() {
            let is_open = around.iter().all(Option::is_some);
            let head = &tokens[begin..i];
            match *token {
                ";" if is_open => self.names.declared(head),
                "{" => {
                    let inside = if is_open { self.scope(head, &around)? } else { None };
                    around.push(inside);
                }
                "}" => {
                    around.pop();
                }
                _ => continue,
            }
            begin = i + 1;
        }
        Some(())
    }

    /// What a brace behind these tokens opens: the name of a namespace, empty where it has none.
    #[allow(clippy::option_option, reason = "giving up, and what is no namespace")]
    fn scope(&mut self, head: &'t [&'s str], around: &[Option<String>]) -> Option<Option<String>> {
        match head {
            ["namespace", name @ ..] => return Some(Some(name.concat())),
            ["extern", "\"\""] => return Some(Some(String::new())),
            _ => {}
        }
        let is_it = |i: &usize| head[*i] == "(" && *i > 0 && head[*i - 1] == self.wanted;
        if let Some(open) = (0..head.len()).find(is_it) {
            let is_qualified = open > 1 && head[open - 2] == "::";
            if self.found.is_some() || head[0] == "template" || is_qualified {
                return None;
            }
            let names = around.iter().flatten().filter(|name| !name.is_empty());
            let callee = names.map(String::as_str).chain([self.wanted]).collect::<Vec<_>>().join("::");
            self.found = Some((callee, head, open));
        }
        Some(None)
    }
}

/// What names stand for.
#[derive(Default)]
struct Names<'t, 's> {
    aliases: BTreeMap<&'s str, &'t [&'s str]>,
    /// Namespaces whose names are used without them, and such names.
    used: BTreeSet<String>,
}

/// A type: a number, or a class as the demangler spells it.
#[derive(Clone)]
enum Type {
    Number(&'static str, DType),
    Class(String),
}

/// A declared type.
struct Declared {
    ty: Type,
    constant: bool,
    by: By,
}

impl<'t, 's> Names<'t, 's> {
    fn declared(&mut self, head: &'t [&'s str]) {
        match head {
            ["using", "namespace", name @ ..] => {
                self.used.insert(name.concat());
            }
            ["using", alias, "=", ty @ ..] => {
                self.aliases.insert(alias, ty);
            }
            ["using", name @ ..] => {
                self.used.insert(name.concat());
            }
            ["typedef", ty @ .., alias] => {
                self.aliases.insert(alias, ty);
            }
            _ => {}
        }
    }

    fn returns(&self, tokens: &[&str]) -> Option<ReturnType> {
        const SPECIFIERS: [&str; 4] = ["static", "inline", "extern", "\"\""];
        let start = tokens.iter().position(|token| !SPECIFIERS.contains(token))?;
        let tokens = &tokens[start..];
        if tokens == ["void"] {
            return Some(ReturnType::Void);
        }
        match self.read(tokens, 0)? {
            Declared { ty: Type::Number(_, dtype), by: By::Value, .. } => Some(ReturnType::Value { dtype }),
            Declared { ty: Type::Class(class), by: By::Value, .. } => {
                let object = Object::of_class(&class, false)?;
                is_owner(&object).then(|| ReturnType::Object { object: Box::new(object) })
            }
            Declared { .. } => None,
        }
    }

    fn param(&self, tokens: &[&str]) -> Option<Param> {
        let tokens = tokens.split(|token| *token == "=").next()?;
        let (name, ty) = tokens.split_last()?;
        if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') || tokens.contains(&"[") {
            return None;
        }
        let Declared { ty, constant, by } = self.read(ty, 0)?;
        let (ty, adapted) = match ty {
            Type::Number(name, dtype) => {
                let mark = match by {
                    By::Value => "",
                    By::Reference => " &",
                    By::Pointer => " *",
                    By::Rvalue => return None,
                };
                let is_value = by == By::Value;
                // A value's own `const` is no part of the function's type.
                let exact = format!("{}{name}{mark}", if constant && !is_value { "const " } else { "" });
                let pointer = ParamType::Pointer { dtype, constant };
                (if is_value { ParamType::Value { dtype } } else { pointer }, Adapted::Same { exact })
            }
            Type::Class(class) => {
                let object = Object { by, ..Object::of_class(&class, constant)? };
                let is_copied = is_owner(&object) && matches!(by, By::Value | By::Rvalue);
                let constant = object.constant || is_copied;
                (ParamType::Unsupported, Adapted::Object(Object { constant, ..object }))
            }
        };
        let name = (*name).to_owned();
        Some(Param { name, ty, spelled: String::new(), access: None, adapted: Some(adapted) })
    }

    fn read(&self, tokens: &[&str], depth: usize) -> Option<Declared> {
        let (mut tokens, mut constant, mut by) = (tokens, false, By::Value);
        match tokens {
            [rest @ .., "&", "&"] => (tokens, by) = (rest, By::Rvalue),
            [rest @ .., "&"] => (tokens, by) = (rest, By::Reference),
            [rest @ .., "*"] => (tokens, by) = (rest, By::Pointer),
            _ => {}
        }
        if let ["const", rest @ ..] | [rest @ .., "const"] = tokens {
            (tokens, constant) = (rest, true);
        }
        Some(Declared { ty: self.resolve(tokens, depth)?, constant, by })
    }

    fn resolve(&self, tokens: &[&str], depth: usize) -> Option<Type> {
        if depth > 8 {
            return None;
        }
        if let Some((name, dtype)) = number(&tokens.join(" ")) {
            return Some(Type::Number(name, dtype));
        }
        let end = tokens.iter().position(|token| *token == "<").unwrap_or(tokens.len());
        let (name, arguments) = tokens.split_at(end);
        if let ([name], true) = (name, arguments.is_empty())
            && let Some(alias) = self.aliases.get(name)
        {
            let Declared { ty, constant: false, by: By::Value } = self.read(alias, depth + 1)? else { return None };
            return Some(ty);
        }
        let arguments = match arguments {
            ["<", inner @ .., ">"] => split(inner),
            [] => Vec::new(),
            _ => return None,
        };
        let name = name.concat();
        let class = |namespace: &str| {
            let prefix = format!("{namespace}::");
            let is_used = self.used.contains(namespace) || self.used.contains(&format!("{prefix}{name}"));
            name.strip_prefix(&prefix).or_else(|| is_used.then_some(name.as_str()))
        };
        let standard = class("std").and_then(|name| self.standard(name, &arguments, depth));
        standard.or_else(|| self.eigen(class("Eigen")?, &arguments, depth)).map(Type::Class)
    }

    /// The element of a template's instance, as the demangler spells it.
    fn element(&self, tokens: &[&str], depth: usize) -> Option<String> {
        let Declared { ty, constant, by: By::Value } = self.read(tokens, depth + 1)? else { return None };
        let name = match ty {
            Type::Number(name, _) => name.to_owned(),
            Type::Class(class) => class,
        };
        Some(if constant { format!("{name} const") } else { name })
    }

    fn standard(&self, name: &str, arguments: &[&[&str]], depth: usize) -> Option<String> {
        let element = self.element(arguments.first()?, depth)?;
        match (name, arguments) {
            ("vector", [_]) => Some(instance("std::vector", &[&element, &instance("std::allocator", &[&element])])),
            ("array", [_, [count]]) => {
                let count: u64 = count.parse().ok()?;
                Some(instance("std::array", &[&element, &unsigned(count)]))
            }
            ("span", [_]) => Some(instance("std::span", &[&element, &unsigned(u64::MAX)])),
            _ => None,
        }
    }

    fn eigen(&self, name: &str, arguments: &[&[&str]], depth: usize) -> Option<String> {
        match (name, arguments) {
            ("Ref" | "Map", [viewed]) => {
                let viewed = self.element(viewed, depth)?;
                let is_vector = Object::of_class(viewed.trim_end_matches(" const"), false)?.extents.len() == 1;
                let stride = match (name, is_vector) {
                    ("Map", _) => "Eigen::Stride<0, 0>",
                    (_, true) => "Eigen::InnerStride<1>",
                    (_, false) => "Eigen::OuterStride<-1>",
                };
                Some(instance(&format!("Eigen::{name}"), &[&viewed, "0", stride]))
            }
            ("Matrix" | "Array", [element, rows, columns]) => {
                let extent = |tokens: &[&str]| match tokens {
                    ["Dynamic"] | ["Eigen", "::", "Dynamic"] | ["-", "1"] => Some(-1),
                    [count] => count.parse().ok(),
                    _ => None,
                };
                Some(matrix(name, &self.element(element, depth)?, extent(rows)?, extent(columns)?))
            }
            (name, []) => named_matrix(name),
            _ => None,
        }
    }
}

/// A number that is an argument of a template, as the demangler spells it.
fn unsigned(count: u64) -> String {
    format!("(unsigned long){count}")
}

/// `MatrixXd`, `RowVector3f`
fn named_matrix(name: &str) -> Option<String> {
    let (name, scalar) = name.split_at_checked(name.len().checked_sub(1)?)?;
    let element = match scalar {
        "d" => "double",
        "f" => "float",
        "i" => "int",
        _ => return None,
    };
    let extent = |text: &str| match text {
        "X" => Some(-1),
        _ => text.parse::<i64>().ok().filter(|n| (2..=4).contains(n)),
    };
    if let Some(n) = name.strip_prefix("Matrix") {
        return extent(n).map(|n| matrix("Matrix", element, n, n));
    }
    if let Some(n) = name.strip_prefix("RowVector") {
        return extent(n).map(|n| matrix("Matrix", element, 1, n));
    }
    if let Some(n) = name.strip_prefix("Vector") {
        return extent(n).map(|n| matrix("Matrix", element, n, 1));
    }
    let n = name.strip_prefix("Array")?;
    if n == "XX" { Some(matrix("Array", element, -1, -1)) } else { extent(n).map(|n| matrix("Array", element, n, 1)) }
}

fn matrix(name: &str, element: &str, rows: i64, columns: i64) -> String {
    let is_row = rows == 1 && columns != 1;
    format!("Eigen::{name}<{element}, {rows}, {columns}, {}, {rows}, {columns}>", u8::from(is_row))
}

/// An instance of a template as the demangler spells it: with a blank between two closing brackets.
fn instance(name: &str, arguments: &[&str]) -> String {
    let inner = arguments.join(", ");
    let blank = if inner.ends_with('>') { " " } else { "" };
    format!("{name}<{inner}{blank}>")
}

fn number(spelled: &str) -> Option<(&'static str, DType)> {
    let name = spelled.strip_prefix("std :: ").unwrap_or(spelled);
    Some(match name {
        "double" => ("double", DType::F64),
        "float" => ("float", DType::F32),
        "int" | "int32_t" => ("int", DType::I32),
        "long" | "int64_t" | "ptrdiff_t" => ("long", DType::I64),
        "unsigned" | "unsigned int" => ("unsigned int", DType::U32),
        "unsigned long" | "size_t" => ("unsigned long", DType::U64),
        "bool" => ("bool", DType::Bool),
        _ => return None,
    })
}

/// As in the metadata: whether it has its elements, and is no view of them.
fn is_owner(object: &Object) -> bool {
    matches!(object.kind, Kind::Container { .. } | Kind::Matrix { .. })
}

//! Prototype discovery: from the text of an LLVM module with debug information to a [`Prototype`].
//!
//! Every front end (C, C++, Fortran, CUDA) describes its functions in the same metadata, and LLVM's
//! optimiser adds what it inferred (`readonly`, `writeonly`) to the `define` line. Reading the
//! textual form keeps this module free of LLVM, so that it is tested without it.
//!
//! The metadata kinds are described in LLVM's "Source Level Debugging" manual.

use crate::DType;
use crate::adapter::{Adapted, By, Kind, Object, Structure};
use crate::names;
use crate::prototype::{Access, Param, ParamType, Prototype, ReturnType};
use std::collections::HashMap;
use thiserror::Error;

/// Why a prototype could not be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum DiscoverError {
    /// The module has no definition of the symbol.
    #[error("the compiled code has no definition of `{0}`")]
    NoDefinition(String),
    /// The definition carries no debug information.
    #[error("`{0}` was compiled without debug information, so its parameters are unknown")]
    NoDebugInfo(String),
    /// The function takes a variable number of arguments.
    #[error("`{0}` has a variable number of arguments (`...`), which no signature describes")]
    Variadic(String),
    /// Parameters in the source and in the object code do not correspond one to one.
    #[error(
        "`{symbol}` has {source_count} parameters in the source but {ir_count} in the compiled code: \
         a parameter or the result is a structure or a complex number passed by value"
    )]
    AbiMismatch {
        /// The symbol.
        symbol: String,
        /// Parameters in the debug information.
        source_count: usize,
        /// Parameters of the IR function.
        ir_count: usize,
    },
}

/// Reads the prototype of `symbol` out of the textual IR `module`, whose `define` line has what the optimiser inferred, and the debug
/// information `nodes`, of which `number` (`!42`) describes the function; `function` is the user's name for it.
pub fn discover(
    module: &str,
    number: &str,
    nodes: &str,
    symbol: &str,
    function: &str,
) -> Result<Prototype, DiscoverError> {
    let define = define_line(module, symbol).ok_or_else(|| DiscoverError::NoDefinition(symbol.to_owned()))?;
    let no_debug = || DiscoverError::NoDebugInfo(symbol.to_owned());
    let nodes = Nodes::index(nodes);
    let id = reference(number);
    let subprogram = nodes.get(id).ok_or_else(no_debug)?;
    let signature = nodes.field(subprogram, "type").ok_or_else(no_debug)?;
    let types = nodes.tuple(nodes.field(signature, "types").unwrap_or(""));
    let attributes = parameter_attributes(define);
    let file = field(subprogram, "file").map(reference).and_then(|f| nodes.get(f));
    let described = |returns, params| Prototype {
        function: function.to_owned(),
        symbol: symbol.to_owned(),
        file: file.map(path_of).unwrap_or_default(),
        line: field(subprogram, "line").and_then(|l| l.parse().ok()).unwrap_or(0),
        returns,
        params,
        fortran: None,
        adapter: None,
    };
    let is_fortran = |unit: &str| field(unit, "language").is_some_and(|l| l.starts_with("DW_LANG_Fortran"));
    if nodes.field(subprogram, "unit").is_some_and(is_fortran) {
        // The source's declarations have the rest (see `fortran`).
        return Ok(described(ReturnType::Void, attributes.iter().enumerate().map(unnamed).collect()));
    }
    if parameter_list(define).trim_end().ends_with("...") {
        return Err(DiscoverError::Variadic(symbol.to_owned()));
    }
    let source_params = types.get(1..).unwrap_or_default();
    // Debug information ends with an empty type where the source leaves the parameters open: `double f()` in C.
    let source_params = source_params.strip_suffix(&["null"]).unwrap_or(source_params);
    let returned = types.first().copied().unwrap_or("null");
    let returns = nodes.returns(returned);
    let is_object = |ty: &&str| matches!(nodes.adapted(ty), Some(Adapted::Object(_) | Adapted::Structure(_)));
    if source_params.iter().any(is_object) || matches!(returns, ReturnType::Object { .. }) {
        // An adapter is needed. Objects by value are none, one or two parameters in the compiled code, which says nothing of their use.
        let names = nodes.parameter_names(id, subprogram);
        let param = |(i, ty): (usize, &&str)| nodes.declared(name_of(&names, i), ty);
        return Ok(described(returns, source_params.iter().enumerate().map(param).collect()));
    }
    if source_params.len() != attributes.len() {
        return Err(DiscoverError::AbiMismatch {
            symbol: symbol.to_owned(),
            source_count: source_params.len(),
            ir_count: attributes.len(),
        });
    }
    let names = nodes.parameter_names(id, subprogram);
    let params = source_params
        .iter()
        .zip(&attributes)
        .enumerate()
        .map(|(i, (ty, attrs))| nodes.param(name_of(&names, i), ty, attrs))
        .collect();
    Ok(described(without_object(returns), params))
}

fn name_of(names: &HashMap<usize, String>, i: usize) -> String {
    names.get(&(i + 1)).cloned().unwrap_or_else(|| format!("arg{}", i + 1))
}

/// A parameter of which only its use in the object code is known.
fn unnamed((i, attributes): (usize, &&str)) -> Param {
    let access = attributes.starts_with("ptr").then(|| access(attributes));
    Param { name: format!("arg{}", i + 1), ty: ParamType::Unsupported, spelled: "?".to_owned(), access, adapted: None }
}

/// Symbols of every function defined in the module, in order.
pub fn defined_functions(module: &str) -> Vec<String> {
    module.lines().filter_map(defined_symbol).collect()
}

fn defined_symbol(line: &str) -> Option<String> {
    let rest = line.strip_prefix("define ")?;
    let at = rest.find('@')? + 1;
    let rest = &rest[at..];
    match rest.strip_prefix('"') {
        Some(quoted) => Some(quoted[..quoted.find('"')?].to_owned()),
        None => Some(rest[..rest.find('(')?].to_owned()),
    }
}

fn define_line<'a>(module: &'a str, symbol: &str) -> Option<&'a str> {
    module.lines().find(|line| defined_symbol(line).as_deref() == Some(symbol))
}

/// The attribute text of each parameter on a `define` line.
fn parameter_attributes(define: &str) -> Vec<&str> {
    split_top_level(parameter_list(define))
        .into_iter()
        .map(str::trim)
        .filter(|p| !p.is_empty() && *p != "...")
        .collect()
}

/// The text between the parentheses of a `define` line.
fn parameter_list(define: &str) -> &str {
    // The parameter list is the first parenthesis after the symbol; return attributes may hold
    // parentheses of their own before it.
    let Some(at) = define.find('@') else { return "" };
    let rest = &define[at..];
    rest.find('(').map_or("", |open| balanced(&rest[open + 1..]))
}

/// The text up to the parenthesis that closes an already opened one.
fn balanced(text: &str) -> &str {
    let mut depth = 1usize;
    let mut quoted = false;
    for (i, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return &text[..i];
                }
            }
            _ => {}
        }
    }
    text
}

/// Splits at commas outside quotes, parentheses and braces.
fn split_top_level(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut quoted, mut start) = (Vec::new(), 0i32, false, 0);
    for (i, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '(' | '{' | '[' | '<' if !quoted => depth += 1,
            ')' | '}' | ']' | '>' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// The digits of a reference such as `!42`.
fn reference(text: &str) -> &str {
    let text = text.trim_start().trim_start_matches('!');
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}

/// A field of a specialised node, `DIThing(name: value, ...)`, quotes removed.
fn field<'a>(node: &'a str, key: &str) -> Option<&'a str> {
    let open = node.find('(')?;
    let inner = balanced(&node[open + 1..]);
    split_top_level(inner).into_iter().find_map(|part| {
        let (k, v) = part.split_once(':')?;
        (k.trim() == key).then(|| v.trim().trim_matches('"'))
    })
}

/// The path of a file's node.
fn path_of(file: &str) -> String {
    let name = field(file, "filename").unwrap_or_default();
    unescaped(&match field(file, "directory") {
        Some(dir) if !name.starts_with('/') && !dir.is_empty() => format!("{dir}/{name}"),
        _ => name.to_owned(),
    })
}

/// A text as it was before LLVM wrote all but printable ASCII as `\` and two hexadecimal digits.
pub(crate) fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The numbered metadata nodes of a module.
struct Nodes<'a> {
    by_id: HashMap<&'a str, &'a str>,
}

impl<'a> Nodes<'a> {
    fn index(module: &'a str) -> Self {
        let by_id = module
            .lines()
            .filter_map(|line| line.strip_prefix('!')?.split_once(" = "))
            .filter(|(id, _)| id.bytes().all(|b| b.is_ascii_digit()))
            .map(|(id, body)| (id, body.strip_prefix("distinct ").unwrap_or(body)))
            .map(|(id, body)| (id, if body.starts_with("!{") { body } else { body.trim_start_matches('!') }))
            .collect();
        Nodes { by_id }
    }

    fn get(&self, id: &str) -> Option<&'a str> {
        self.by_id.get(id).copied()
    }

    /// The node that a field of `node` refers to.
    fn field(&self, node: &str, key: &str) -> Option<&'a str> {
        let value = field(node, key)?;
        value.starts_with('!').then(|| self.get(reference(value))).flatten()
    }

    /// The elements of a tuple node `!{null, !3, !4}`.
    fn tuple(&self, node: &'a str) -> Vec<&'a str> {
        let inner = node.strip_prefix("!{").and_then(|n| n.strip_suffix('}')).unwrap_or("");
        if inner.is_empty() {
            return Vec::new();
        }
        inner.split(',').map(str::trim).collect()
    }

    /// Parameter names by position (from 1): kept in the list of retained nodes at -O1 and above, and
    /// findable by scope otherwise.
    fn parameter_names(&self, id: &str, subprogram: &str) -> HashMap<usize, String> {
        let retained = self.field(subprogram, "retainedNodes").map(|t| self.tuple(t)).unwrap_or_default();
        let retained = retained.into_iter().filter_map(|r| self.get(reference(r)));
        let named = |node: &str| -> Option<(usize, String)> {
            let arg = field(node, "arg")?.parse().ok()?;
            Some((arg, field(node, "name")?.to_owned()))
        };
        let mut names: HashMap<usize, String> = retained.filter_map(named).collect();
        if names.is_empty() {
            let own = |n: &&&str| n.starts_with("DILocalVariable(") && field(n, "scope").map(reference) == Some(id);
            names = self.by_id.values().filter(own).filter_map(|n| named(n)).collect();
        }
        names
    }

    fn param(&self, name: String, ty: &str, attributes: &str) -> Param {
        let resolved = self.resolve(ty);
        let access = match &resolved.ty {
            ParamType::Value { .. } => None,
            _ => Some(access(attributes)),
        };
        Param { name, ty: resolved.ty, spelled: resolved.spelled, access, adapted: None }
    }

    /// A parameter of a function that needs an adapter.
    fn declared(&self, name: String, ty: &str) -> Param {
        let Resolved { ty: reduced, spelled, .. } = self.resolve(ty);
        Param { name, ty: reduced, spelled, access: None, adapted: self.adapted(ty) }
    }

    /// What an adapter makes of a parameter of this type.
    fn adapted(&self, ty: &str) -> Option<Adapted> {
        let resolved = self.resolve(ty);
        match (resolved.object, resolved.structure, &resolved.ty) {
            // What it writes to a copy is lost.
            (Some(object), ..) if is_owner(&object) && matches!(object.by, By::Value | By::Rvalue) => {
                Some(Adapted::Object(Object { constant: true, ..object }))
            }
            (Some(object), ..) => Some(Adapted::Object(object)),
            (None, Some(record), _) => self.structure(&record).map(Adapted::Structure),
            (None, None, ParamType::Unsupported) => None,
            (None, None, _) => resolved.exact.map(|exact| Adapted::Same { exact }),
        }
    }

    /// The structure, if an adapter can set all of its members.
    fn structure(&self, record: &Record<'_>) -> Option<Structure> {
        let Record { node, class, constant, by } = record;
        // Only declared here: a class whose constructors stand elsewhere, too.
        if class.is_empty() || field(node, "flags").is_some_and(|flags| flags.contains("DIFlagFwdDecl")) {
            return None;
        }
        let elements = self.tuple(self.field(node, "elements")?).into_iter();
        let elements = elements.filter_map(|e| self.get(reference(e)));
        let mut members = Vec::new();
        for element in elements {
            let flags = field(element, "flags").unwrap_or_default();
            match field(element, "tag") {
                Some("DW_TAG_member") if flags.contains("DIFlagStaticMember") => {}
                Some("DW_TAG_member") => {
                    let is_class = field(node, "tag") == Some("DW_TAG_class_type");
                    let is_open = if is_class { flags.contains("DIFlagPublic") } else { !flags.contains("DIFlagPr") };
                    if !is_open || flags.contains("DIFlagBitField") {
                        return None;
                    }
                    members.push(self.member(field(element, "name")?, field(element, "baseType")?)?);
                }
                // A base class, or a table of virtual functions.
                Some("DW_TAG_inheritance") => return None,
                _ => {}
            }
        }
        let constant = *constant || matches!(by, By::Value | By::Rvalue);
        Some(Structure { class: class.clone(), constant, by: *by, members })
    }

    fn member(&self, name: &str, ty: &str) -> Option<Param> {
        let Resolved { constant, by_array, structure, .. } = self.resolve(ty);
        // A structure may point to itself.
        let is_far = structure.is_some_and(|record| record.by != By::Value);
        if constant || is_far {
            return None;
        }
        if by_array {
            return self.array(name, ty);
        }
        let param = self.declared(name.to_owned(), ty);
        match &param.adapted {
            Some(Adapted::Same { exact }) => (!exact.ends_with('&') && !is_text(exact)).then_some(param),
            // Whether it is constant follows from what it is a member of.
            Some(Adapted::Object(object)) if object.by == By::Value && is_owner(object) => {
                let object = Object { constant: false, ..object.clone() };
                Some(Param { adapted: Some(Adapted::Object(object)), ..param })
            }
            Some(Adapted::Structure(inner)) if inner.by == By::Value => {
                let inner = Structure { constant: false, ..inner.clone() };
                Some(Param { adapted: Some(Adapted::Structure(inner)), ..param })
            }
            _ => None,
        }
    }

    /// A member that is an array of numbers.
    fn array(&self, name: &str, ty: &str) -> Option<Param> {
        let mut node = self.get(reference(ty))?;
        while field(node, "tag") != Some("DW_TAG_array_type") {
            node = self.field(node, "baseType")?;
        }
        let counts = self.tuple(self.field(node, "elements")?).into_iter();
        let counts = counts.map(|c| field(self.get(reference(c))?, "count")?.parse::<i64>().ok().filter(|n| *n > 0));
        let extents: Vec<Option<i64>> = counts.map(|count| count.map(Some)).collect::<Option<_>>()?;
        let Resolved { ty, exact: Some(element), spelled, .. } = self.resolve(field(node, "baseType")?) else {
            return None;
        };
        let ParamType::Value { dtype } = ty else { return None };
        if extents.len() > 4 {
            return None;
        }
        let kind = Kind::Container { levels: Vec::new() };
        let object = Object { class: String::new(), kind, dtype, element, extents, constant: false, by: By::Value };
        let (name, spelled) = (name.to_owned(), format!("{spelled}[]"));
        Some(Param { name, ty: ParamType::Unsupported, spelled, access: None, adapted: Some(Adapted::Object(object)) })
    }

    fn returns(&self, ty: &str) -> ReturnType {
        if ty == "null" {
            return ReturnType::Void;
        }
        let resolved = self.resolve(ty);
        match resolved.ty {
            ParamType::Value { dtype } => ReturnType::Value { dtype },
            // The class is what messages name.
            _ if resolved.object.as_ref().is_some_and(|o| o.by != By::Pointer && is_owner(o)) => {
                let own = |object| ReturnType::Object { object: Box::new(Object { constant: false, ..object }) };
                resolved.object.map_or(ReturnType::Void, own)
            }
            _ => ReturnType::Unsupported { spelled: resolved.spelled },
        }
    }

    fn resolve(&self, reference_text: &str) -> Resolved<'a> {
        self.resolve_node(self.get(reference(reference_text)), reference_text == "null", 0)
    }

    fn resolve_node(&self, node: Option<&'a str>, void: bool, depth: usize) -> Resolved<'a> {
        let Some(node) = node else {
            return Resolved::unsupported(if void { "void" } else { "?" });
        };
        // Types of a program may refer to themselves, but never through this many qualifiers.
        if depth > 64 {
            return Resolved::unsupported("?");
        }
        let name = field(node, "name").unwrap_or("?");
        let base = || {
            let text = field(node, "baseType").unwrap_or("null");
            self.resolve_node(self.get(reference(text)), text == "null", depth + 1)
        };
        // The name with its namespaces stands in the mangled name alone.
        let full = || field(node, "identifier").and_then(names::class).unwrap_or_else(|| name.to_owned());
        let class = |spelled: &str| {
            let object = Object::of_class(&full(), false);
            let named = match (field(node, "identifier").and_then(names::class), field(node, "name")) {
                (Some(full), _) => full,
                (None, Some(tag)) => format!("struct {tag}"),
                // In C its typedef names it.
                (None, None) => String::new(),
            };
            let structure = Some(Record { node, class: named, constant: false, by: By::Value });
            Resolved { object, structure, ..Resolved::unsupported(spelled) }
        };
        match field(node, "tag").unwrap_or("DW_TAG_base_type") {
            "DW_TAG_base_type" => match basic(node) {
                Some(dtype) => Resolved {
                    ty: ParamType::Value { dtype },
                    exact: Some(name.to_owned()),
                    ..Resolved::unsupported(name)
                },
                None => Resolved::unsupported(name),
            },
            "DW_TAG_const_type" => base().made_const(),
            "DW_TAG_volatile_type" | "DW_TAG_restrict_type" | "DW_TAG_atomic_type" => base(),
            "DW_TAG_typedef" => {
                let mut base = base();
                if let Some(record) = base.structure.as_mut().filter(|record| record.class.is_empty()) {
                    name.clone_into(&mut record.class);
                }
                Resolved { spelled: name.to_owned(), ..base }
            }
            "DW_TAG_enumeration_type" => {
                let exact = field(node, "identifier").and_then(names::class).or_else(|| Some(format!("enum {name}")));
                Resolved { spelled: format!("enum {name}"), exact, ..base() }
            }
            "DW_TAG_pointer_type" => pointer_to(base(), By::Pointer),
            "DW_TAG_reference_type" => pointer_to(base(), By::Reference),
            "DW_TAG_rvalue_reference_type" => pointer_to(base(), By::Rvalue),
            // Only ever met behind a pointer, or as what a parameter array has decayed from.
            "DW_TAG_array_type" => {
                let base = base();
                let spelled = format!("{}[]", base.spelled);
                Resolved { spelled, exact: None, object: None, structure: None, by_array: true, ..base }
            }
            "DW_TAG_structure_type" => class(&format!("struct {name}")),
            "DW_TAG_class_type" => class(name),
            "DW_TAG_union_type" => Resolved::unsupported(&format!("union {name}")),
            _ if node.starts_with("DISubroutineType") => Resolved::unsupported("function"),
            _ => Resolved::unsupported(name),
        }
    }
}

/// A structure as a type names it.
struct Record<'a> {
    /// Its definition.
    node: &'a str,
    class: String,
    constant: bool,
    by: By,
}

struct Resolved<'a> {
    ty: ParamType,
    spelled: String,
    constant: bool,
    /// The type without typedefs, as C++ spells it in full; only of numbers and pointers to them.
    exact: Option<String>,
    /// What an adapter makes of it.
    object: Option<Object>,
    structure: Option<Record<'a>>,
    by_array: bool,
}

impl Resolved<'_> {
    fn unsupported(spelled: &str) -> Self {
        let spelled = spelled.to_owned();
        let ty = ParamType::Unsupported;
        Resolved { ty, spelled, constant: false, exact: None, object: None, structure: None, by_array: false }
    }

    fn made_const(mut self) -> Self {
        let is_pointer = matches!(self.ty, ParamType::Pointer { .. });
        let of = |text: &str| if is_pointer { format!("{text} const") } else { format!("const {text}") };
        self.spelled = of(&self.spelled);
        self.exact = self.exact.map(|exact| of(&exact));
        self.constant = true;
        if let Some(record) = &mut self.structure {
            record.constant = true;
        }
        self.object = self.object.map(|object| match object.kind {
            // A constant view shows what can be written to.
            Kind::Span | Kind::View { .. } | Kind::Rows => object,
            Kind::Container { .. } | Kind::Matrix { .. } => Object { constant: true, ..object },
        });
        self
    }
}

/// A string, which no array of numbers stands for.
fn is_text(exact: &str) -> bool {
    exact.trim_start_matches("const ").starts_with("char ")
}

/// Whether a function can return its elements along with it.
fn is_owner(object: &Object) -> bool {
    matches!(object.kind, Kind::Container { .. } | Kind::Matrix { .. })
}

/// The value of a function that needs no adapter.
fn without_object(returns: ReturnType) -> ReturnType {
    match returns {
        ReturnType::Object { object } => ReturnType::Unsupported { spelled: object.class },
        other => other,
    }
}

fn pointer_to(base: Resolved<'_>, by: By) -> Resolved<'_> {
    let mark = match by {
        By::Value => "",
        By::Reference => "&",
        By::Rvalue => "&&",
        By::Pointer => "*",
    };
    let rows = match (&base.ty, &base.exact) {
        (ParamType::Pointer { dtype, constant }, Some(exact)) if by == By::Pointer => Some(Object {
            class: format!("{exact} *"),
            kind: Kind::Rows,
            dtype: *dtype,
            element: exact
                .replace(['*'], " ")
                .split_whitespace()
                .filter(|w| *w != "const")
                .collect::<Vec<_>>()
                .join(" "),
            extents: vec![None, None],
            constant: *constant,
            by: By::Value,
        }),
        _ => None,
    };
    let ty = match base.ty {
        ParamType::Value { dtype } if by != By::Rvalue => ParamType::Pointer { dtype, constant: base.constant },
        _ => ParamType::Unsupported,
    };
    let object = match base.object {
        Some(object) if object.by == By::Value && object.kind != Kind::Rows => Some(Object { by, ..object }),
        _ => rows,
    };
    let structure = base.structure.filter(|record| record.by == By::Value).map(|record| Record { by, ..record });
    let exact = base.exact.filter(|_| ty != ParamType::Unsupported).map(|exact| format!("{exact} {mark}"));
    Resolved {
        ty,
        spelled: format!("{}{mark}", base.spelled),
        constant: false,
        exact,
        object,
        structure,
        by_array: false,
    }
}

/// The element type of a `DIBasicType`.
fn basic(node: &str) -> Option<DType> {
    let bits: u32 = field(node, "size")?.parse().ok()?;
    Some(match (field(node, "encoding")?, bits) {
        ("DW_ATE_float", 32) => DType::F32,
        ("DW_ATE_float", 64) => DType::F64,
        ("DW_ATE_boolean", 8) => DType::Bool,
        ("DW_ATE_signed" | "DW_ATE_signed_char", 8) => DType::I8,
        ("DW_ATE_signed", 16) => DType::I16,
        ("DW_ATE_signed", 32) => DType::I32,
        ("DW_ATE_signed", 64) => DType::I64,
        ("DW_ATE_unsigned" | "DW_ATE_unsigned_char", 8) => DType::U8,
        ("DW_ATE_unsigned", 16) => DType::U16,
        ("DW_ATE_unsigned", 32) => DType::U32,
        ("DW_ATE_unsigned", 64) => DType::U64,
        _ => return None,
    })
}

fn access(attributes: &str) -> Access {
    let has = |wanted: &str| attributes.split_whitespace().any(|word| word == wanted);
    if has("readnone") {
        Access::Unused
    } else if has("readonly") {
        Access::Read
    } else if has("writeonly") {
        Access::Write
    } else {
        Access::ReadWrite
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both parts from one text.
    fn discover_in(module: &str, symbol: &str) -> Result<Prototype, DiscoverError> {
        let number = define_line(module, symbol).and_then(|line| Some(line.rsplit_once("!dbg ")?.1));
        discover(module, number.unwrap_or(""), module, symbol, symbol)
    }

    #[test]
    fn paths_keep_letters_that_are_no_ascii() {
        let file = r#"!DIFile(filename: "c\C3\BC be.c", directory: "/home/\C3\B1\5Cd")"#;
        assert_eq!(path_of(file), "/home/ñ\\d/cü be.c");
        assert_eq!(unescaped(r"a\zz"), r"a\zz");
    }

    const MODULE: &str = r#"
define dso_local void @f(ptr noundef readonly captures(none) %0, i64 noundef %1, ptr noundef writeonly captures(none) %2) local_unnamed_addr #0 !dbg !14 {
define linkonce_odr double @"odd name"(double noundef %0) !dbg !40 {
!1 = !DIFile(filename: "t.c", directory: "/home/u")
!14 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 3, type: !15, retainedNodes: !22)
!15 = !DISubroutineType(types: !16)
!16 = !{null, !17, !19, !17}
!17 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !18, size: 64)
!18 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!19 = !DIDerivedType(tag: DW_TAG_typedef, name: "size_t", file: !20, line: 18, baseType: !21)
!21 = !DIBasicType(name: "unsigned long", size: 64, encoding: DW_ATE_unsigned)
!22 = !{!23, !24, !25}
!23 = !DILocalVariable(name: "inp", arg: 1, scope: !14, file: !1, line: 3, type: !17)
!24 = !DILocalVariable(name: "n", arg: 2, scope: !14, file: !1, line: 3, type: !19)
!25 = !DILocalVariable(name: "out", arg: 3, scope: !14, file: !1, line: 3, type: !17)
"#;

    #[test]
    fn reads_names_types_and_access_of_a_plain_c_function() {
        let text = MODULE.replace("= !DI", "= DI").replace("distinct !DI", "distinct DI");
        for module in [MODULE, text.as_str()] {
            let p = discover_in(module, "f").unwrap();
            assert_eq!(p.to_string(), "void f(float *inp, size_t n, float *out)");
            let access: Vec<_> = p.params.iter().map(|p| p.access).collect();
            assert_eq!(access, [Some(Access::Read), None, Some(Access::Write)]);
            assert_eq!((p.file.as_str(), p.line), ("/home/u/t.c", 3));
        }
    }

    #[test]
    fn lists_the_defined_functions_with_quoted_names() {
        assert_eq!(defined_functions(MODULE), ["f", "odd name"]);
    }

    #[test]
    fn a_variable_number_of_arguments_is_told_from_a_struct() {
        let varied = MODULE.replace("%2) local", "%2, ...) local");
        assert_eq!(discover_in(&varied, "f"), Err(DiscoverError::Variadic("f".into())));
        // `double f()` in C: no parameters, or any.
        let open = MODULE.replace("!16 = !{null, !17, !19, !17}", "!16 = !{null, null}");
        let open = open.replace(
            "(ptr noundef readonly captures(none) %0, i64 noundef %1, ptr noundef writeonly captures(none) %2)",
            "()",
        );
        assert_eq!(discover_in(&open, "f").unwrap().params, []);
    }

    #[test]
    fn a_missing_definition_is_an_error() {
        assert_eq!(discover_in(MODULE, "g"), Err(DiscoverError::NoDefinition("g".into())));
    }
}

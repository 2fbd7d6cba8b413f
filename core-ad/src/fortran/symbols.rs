//! Parses flang's symbol dump (`flang -fc1 -fdebug-dump-symbols`).
//!
//! The dump is a tree of scopes, two blanks a level, with one symbol a line:
//!
//! ```text
//! Module scope: m size=8 ...
//!   Subprogram scope: f size=112 ...
//!     f (Function): HostAssoc => f, PUBLIC (Function): Subprogram result:REAL(8) r (REAL(8) x,INTEGER(4) n)
//!     n, INTENT(IN) size=4 offset=0: ObjectEntity dummy type: INTEGER(4)
//!     r size=8 offset=56: ObjectEntity funcResult type: REAL(8)
//!     x, INTENT(IN) size=48 offset=8: ObjectEntity dummy type: REAL(8) shape: 1_8:int(n,kind=8)
//! ```

use super::Intent;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A procedure with a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Modules and host procedures around it, the outermost first, then its own name.
    pub scopes: Vec<String>,
    /// Its name.
    pub name: String,
    /// Its symbol in the object code.
    pub symbol: String,
    /// The function's result.
    pub result: Option<Entity>,
    /// Its dummy arguments, in order.
    pub dummies: Vec<Entity>,
}

impl Found {
    /// `m::f`.
    pub fn path(&self) -> String {
        self.scopes.join("::")
    }
}

/// A dummy argument or a function's result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    /// Its name, in lower case.
    pub name: String,
    /// Its type as flang prints it: `REAL(8)`; empty for procedures.
    pub ty: String,
    /// `lower:upper`, `:` or `lower:*` per dimension.
    pub shape: Vec<String>,
    /// `intent(...)`.
    pub intent: Option<Intent>,
    /// `value`.
    pub by_value: bool,
    /// `optional`.
    pub optional: bool,
    /// `allocatable`.
    pub allocatable: bool,
    /// `pointer`.
    pub pointer: bool,
}

impl Entity {
    /// Whether it has dimensions.
    pub fn is_array(&self) -> bool {
        !self.shape.is_empty()
    }

    /// Whether it is passed as the address of a descriptor.
    pub fn is_descriptor(&self) -> bool {
        let assumed = self.shape.iter().any(|s| s == ":" || s == ".." || (s.ends_with(':')));
        self.allocatable || self.pointer || assumed
    }
}

/// An open scope while reading.
struct Scope {
    indent: usize,
    kind: ScopeKind,
    name: String,
    head: Option<Head>,
    /// The declarations of the procedures inside it: a function's own scope has its result by that name.
    inside: HashMap<String, Head>,
    entities: HashMap<String, Entity>,
    result: Option<Entity>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ScopeKind {
    Module,
    Subprogram,
    /// Of the compiler's own modules.
    Intrinsic,
    Other,
}

/// A scope's declaration of its own procedure.
struct Head {
    bind_name: Option<String>,
    dummies: Vec<String>,
}

/// Every procedure in the dump that has a body.
pub fn procedures(dump: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut open: Vec<Scope> = Vec::new();
    for line in dump.lines() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        while open.last().is_some_and(|s| indent <= s.indent) {
            close(&mut open, &mut found);
        }
        if let Some(scope) = scope_header(text, indent) {
            open.push(scope);
        } else if let Some(scope) = open.last_mut() {
            symbol(scope, text);
        }
    }
    while !open.is_empty() {
        close(&mut open, &mut found);
    }
    found
}

fn scope_header(text: &str, indent: usize) -> Option<Scope> {
    let (kind, rest) = text.split_once(" scope:")?;
    if kind.contains([',', '(']) {
        return None;
    }
    let kind = match kind {
        "Module" => ScopeKind::Module,
        "Subprogram" => ScopeKind::Subprogram,
        "IntrinsicModules" => ScopeKind::Intrinsic,
        _ => ScopeKind::Other,
    };
    let name = rest.split_whitespace().next().unwrap_or_default().to_owned();
    Some(Scope { indent, kind, name, head: None, inside: HashMap::new(), entities: HashMap::new(), result: None })
}

fn symbol(scope: &mut Scope, text: &str) {
    let Some((head, detail)) = text.split_once(": ") else { return };
    let name_end = head.find([',', ' ']).unwrap_or(head.len());
    let (name, attributes) = head.split_at(name_end);
    if detail.starts_with("HostAssoc => ") || detail.starts_with("Subprogram") {
        if detail.contains(" isInterface") {
            return;
        }
        if name == scope.name && scope.kind == ScopeKind::Subprogram {
            scope.head = head_of(detail);
        } else if detail.starts_with("Subprogram") {
            scope.inside.extend(head_of(detail).map(|head| (name.to_owned(), head)));
        }
        return;
    }
    if scope.kind != ScopeKind::Subprogram {
        return;
    }
    let is_dummy = detail.starts_with("ObjectEntity dummy") || detail.starts_with("ProcEntity");
    let is_result = detail.starts_with("ObjectEntity funcResult");
    if !is_dummy && !is_result {
        return;
    }
    let entity = entity(name, attributes, detail);
    if is_result {
        scope.result = Some(entity);
    } else {
        scope.entities.insert(name.to_owned(), entity);
    }
}

fn entity(name: &str, attributes: &str, detail: &str) -> Entity {
    let has = |word: &str| attributes.split([',', ' ']).any(|a| a == word);
    let after_type = detail.split_once("type: ").map_or("", |(_, rest)| rest);
    let after_type = after_type.split(" init:").next().unwrap_or_default();
    let (ty, shape) = after_type.split_once(" shape: ").unwrap_or((after_type, ""));
    Entity {
        name: name.to_owned(),
        ty: ty.trim().to_owned(),
        shape: split_top_level(shape.trim(), ','),
        intent: match () {
            () if has("INTENT(IN)") => Some(Intent::In),
            () if has("INTENT(OUT)") => Some(Intent::Out),
            () if has("INTENT(INOUT)") => Some(Intent::InOut),
            () => None,
        },
        by_value: has("VALUE"),
        optional: has("OPTIONAL"),
        allocatable: has("ALLOCATABLE"),
        pointer: has("POINTER"),
    }
}

/// `... Subprogram bindName:"c_name" result:REAL(8) r (REAL(8) x,INTEGER(4) n)`.
fn head_of(detail: &str) -> Option<Head> {
    let at = detail.rfind("Subprogram")?;
    let rest = &detail[at + "Subprogram".len()..];
    let bind_name = rest.split_once("bindName:").map(|(_, name)| {
        let name = name.trim_start();
        match name.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next().unwrap_or_default().to_owned(),
            None => name.split_whitespace().next().unwrap_or_default().to_owned(),
        }
    });
    // The dummies stand in the last parentheses; types have parentheses of their own.
    let list = last_parentheses(rest).unwrap_or_default();
    let name = |dummy: String| dummy.rsplit(' ').next().unwrap_or_default().to_owned();
    let dummies = split_top_level(list, ',').into_iter().map(name).filter(|n| !n.is_empty()).collect();
    Some(Head { bind_name, dummies })
}

/// The inside of the parentheses that end the text, if it ends with some.
fn last_parentheses(text: &str) -> Option<&str> {
    let inner = text.trim_end().strip_suffix(')')?;
    let mut depth = 1;
    for (at, c) in inner.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            // `REAL(8)` has no blank before its parenthesis, the list of dummies has.
            return inner[..at].ends_with(' ').then(|| &inner[at + 1..]);
        }
    }
    None
}

/// Splits at a mark outside parentheses; nothing for an empty text.
pub(super) fn split_top_level(text: &str, mark: char) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            c if c == mark && depth == 0 => {
                parts.push(text[start..at].trim().to_owned());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim().to_owned());
    parts
}

fn close(open: &mut Vec<Scope>, found: &mut Vec<Found>) {
    let Some(scope) = open.pop() else { return };
    let inside_compiler = open.iter().any(|s| s.kind == ScopeKind::Intrinsic);
    let head = scope.head.as_ref().or_else(|| open.last().and_then(|s| s.inside.get(&scope.name)));
    let (ScopeKind::Subprogram, Some(head), false) = (scope.kind, head, inside_compiler) else { return };
    let around: Vec<&Scope> =
        open.iter().filter(|s| matches!(s.kind, ScopeKind::Module | ScopeKind::Subprogram)).collect();
    let mut scopes: Vec<String> = around.iter().map(|s| s.name.clone()).collect();
    scopes.push(scope.name.clone());
    let dummy = |name: &String| {
        let unknown = Entity { name: name.clone(), ..Entity::default() };
        scope.entities.get(name).cloned().unwrap_or(unknown)
    };
    found.push(Found {
        symbol: head.bind_name.clone().unwrap_or_else(|| symbol_of(&around, &scope.name)),
        dummies: head.dummies.iter().map(dummy).collect(),
        result: scope.result,
        scopes,
        name: scope.name,
    });
}

/// The symbol flang makes: `f_` for external procedures, `_QMmPf` in module m, `_QMmFhostPf` inside another.
fn symbol_of(around: &[&Scope], name: &str) -> String {
    if around.is_empty() {
        return format!("{name}_");
    }
    let mut symbol = "_Q".to_owned();
    let mut modules = 0;
    for scope in around {
        let mark = match scope.kind {
            ScopeKind::Module if modules == 0 => 'M',
            ScopeKind::Module => 'S',
            _ => 'F',
        };
        modules += usize::from(scope.kind == ScopeKind::Module);
        symbol.push(mark);
        symbol.push_str(&scope.name);
    }
    symbol + "P" + name
}

//! Writes the source of an adapter.
//!
//! Elements are copied one by one: Enzyme learns their type from that, where a copy of bytes would tell it nothing.

use super::{Adapted, By, Kind, Object, SYMBOL, Structure};
use crate::{DType, ParamType, Prototype, ReturnType};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The adapter's source: the file that defines the function, and a function around it that takes pointers and sizes. `callee` is the
/// function's name as its source spells it.
pub fn source(prototype: &Prototype, callee: &str, file: &str, is_cpp: bool) -> String {
    let mut writer = Writer {
        taken: COUNTERS.iter().copied().chain([callee, "value", "this"]).map(str::to_owned).collect(),
        is_cpp,
        ..Writer::default()
    };
    for param in &prototype.params {
        match &param.adapted {
            Some(Adapted::Object(object)) => writer.object(&param.name, object),
            Some(Adapted::Same { exact }) => writer.same(&param.name, exact),
            Some(Adapted::Structure(structure)) => writer.structure(&param.name, structure),
            Some(Adapted::Size { .. }) | None => {}
        }
    }
    let call = match prototype.params.first() {
        // A function of a structure.
        Some(this) if is_cpp && this.name == "this" => {
            let rest = writer.arguments.get(1..).unwrap_or_default().join(", ");
            format!("{}->::{callee}({rest})", writer.arguments[0])
        }
        _ => format!("{}{callee}({})", if is_cpp { "::" } else { "" }, writer.arguments.join(", ")),
    };
    let returns = match &prototype.returns {
        ReturnType::Value { dtype } => {
            let _ = writeln!(writer.body, "  const {0} value = {call};", spelled(*dtype));
            spelled(*dtype)
        }
        ReturnType::Object { object } => {
            writer.returned(object, &call);
            "void"
        }
        ReturnType::Void | ReturnType::Unsupported { .. } => {
            let _ = writeln!(writer.body, "  {call};");
            "void"
        }
    };
    let Writer { parameters, body, after, helper, .. } = writer;
    let mut text = format!("// Made by ffgrad: `{callee}` for pointers and sizes.\n#include \"{file}\"\n");
    text.push_str(if is_cpp { "#include <stdexcept>\n#include <vector>\n\n" } else { "#include <stdlib.h>\n\n" });
    if helper {
        text.push_str(HELPER);
    }
    let linkage = if is_cpp { "extern \"C\" " } else { "" };
    let _ = writeln!(text, "{linkage}{returns} {SYMBOL}({}) {{", parameters.join(", "));
    text.push_str(&body);
    text.push_str(&after);
    if matches!(prototype.returns, ReturnType::Value { .. }) {
        text.push_str("  return value;\n");
    }
    text.push_str("}\n");
    text
}

/// What an object's size has become is known after the call only.
const HELPER: &str = "\
static inline void ffgrad_same(int same, const char *message) {
#ifdef __cpp_exceptions
  if (!same) throw std::length_error(message);
#else
  if (!same) __builtin_abort();
#endif
}

";

#[derive(Default)]
struct Writer {
    /// Names that something has.
    taken: BTreeSet<String>,
    is_cpp: bool,
    parameters: Vec<String>,
    /// Up to the call.
    body: String,
    arguments: Vec<String>,
    /// After the call.
    after: String,
    /// Whether sizes are compared after the call.
    helper: bool,
}

impl Writer {
    fn name(&mut self, wanted: &str) -> String {
        let mut name = wanted.replace('.', "_");
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        name
    }

    fn same(&mut self, name: &str, exact: &str) {
        let name = self.name(name);
        match exact.strip_suffix('&') {
            Some(pointee) => {
                self.parameters.push(format!("{}*{name}", spaced(pointee)));
                self.arguments.push(format!("*{name}"));
            }
            None => {
                self.parameters.push(format!("{}{name}", spaced(exact)));
                self.arguments.push(name);
            }
        }
    }

    /// The pointer and the sizes as parameters: the pointer's name, and each extent's.
    fn taken_as(&mut self, name: &str, object: &Object) -> (String, Vec<String>) {
        let pointer = self.name(name);
        let constant = if object.constant { "const " } else { "" };
        self.parameters.push(format!("{constant}{} *{pointer}", object.element));
        let mut open = Vec::new();
        for (size, _) in object.sizes() {
            let size = self.name(&format!("{pointer}_{size}"));
            self.parameters.push(format!("long {size}"));
            open.push(size);
        }
        let mut open = open.into_iter();
        let extents =
            object.extents.iter().map(|e| e.map_or_else(|| open.next().unwrap_or_default(), |n| n.to_string()));
        let extents = extents.collect();
        (pointer, extents)
    }

    fn object(&mut self, name: &str, object: &Object) {
        let (pointer, extents) = self.taken_as(name, object);
        let local = self.name(&format!("{pointer}_object"));
        let class = &object.class;
        let viewed = if object.constant { "const " } else { "" };
        let copied = match &object.kind {
            Kind::Span => {
                let _ = writeln!(self.body, "  {class} {local}({pointer}, {});", extents[0]);
                false
            }
            Kind::View { plain, row_major, is_map } => {
                // The tensor's memory itself, unless it has another order.
                let in_place = *row_major || extents.len() == 1;
                let held = if in_place && *is_map { local.clone() } else { self.name(&format!("{pointer}_memory")) };
                let sizes = dynamic(object, &extents, true);
                if in_place {
                    let map = if *is_map { class.clone() } else { format!("Eigen::Map<{viewed}{plain}>") };
                    let _ = writeln!(self.body, "  {map} {held}({pointer}{sizes});");
                } else {
                    let _ = writeln!(self.body, "  {plain} {held}{};", constructor(object, &extents));
                    self.copy_in(object, &held, &pointer, &extents);
                    if *is_map {
                        let _ = writeln!(self.body, "  {class} {local}({held}.data(){sizes});");
                    }
                }
                if !is_map {
                    let _ = writeln!(self.body, "  {class} {local}({held});");
                }
                if !in_place && !object.constant {
                    copy(&mut self.after, object, &extents, |at, i| format!("{pointer}[{i}] = {held}{at};"));
                }
                false
            }
            Kind::Rows => {
                let star = if object.constant { "const " } else { "" };
                let element = &object.element;
                if self.is_cpp {
                    let _ = writeln!(self.body, "  std::vector<{star}{element} *> {local}({});", extents[0]);
                } else {
                    let _ = writeln!(
                        self.body,
                        "  {star}{element} **{local} = ({star}{element} **)malloc(sizeof(void *) * {});",
                        extents[0]
                    );
                    let _ = writeln!(self.after, "  free({local});");
                }
                let (rows, columns) = (&extents[0], &extents[1]);
                let _ =
                    writeln!(self.body, "  for (long i = 0; i < {rows}; ++i) {local}[i] = {pointer} + i * {columns};");
                let data = if self.is_cpp { format!("{local}.data()") } else { local.clone() };
                self.arguments.push(format!("({class}){data}"));
                return;
            }
            Kind::Container { .. } | Kind::Matrix { .. } => {
                let _ = writeln!(self.body, "  {class} {local}{};", constructor(object, &extents));
                self.copy_in(object, &local, &pointer, &extents);
                true
            }
        };
        if copied && !object.constant {
            self.copy_out(object, name, &local, &pointer, &extents);
        }
        let constant = if object.constant && copied { " const" } else { "" };
        self.arguments.push(match object.by {
            By::Reference => format!("static_cast<{class}{constant} &>({local})"),
            By::Value | By::Rvalue => format!("static_cast<{class} &&>({local})"),
            By::Pointer => format!("static_cast<{class}{constant} *>(&{local})"),
        });
    }

    fn structure(&mut self, name: &str, structure: &Structure) {
        let Structure { class, constant, by, .. } = structure;
        let local = self.name(&format!("{name}_object"));
        let _ = writeln!(self.body, "  {class} {local};");
        self.members(name, &local, structure);
        let constant = if *constant && *by != By::Value { " const" } else { "" };
        self.arguments.push(match by {
            By::Pointer if self.is_cpp => format!("static_cast<{class}{constant} *>(&{local})"),
            By::Pointer => format!("&{local}"),
            By::Reference => format!("static_cast<{class}{constant} &>({local})"),
            By::Rvalue => format!("static_cast<{class} &&>({local})"),
            By::Value => local,
        });
    }

    fn members(&mut self, name: &str, local: &str, structure: &Structure) {
        for (own, member) in structure.members.iter().zip(structure.members(name)) {
            let place = format!("{local}.{}", own.name);
            match (&member.adapted, &member.ty) {
                (Some(Adapted::Structure(inner)), _) => self.members(&member.name, &place, inner),
                (Some(Adapted::Object(object)), _) => {
                    let (pointer, extents) = self.taken_as(&member.name, object);
                    let sizes = constructor(object, &extents);
                    if !sizes.is_empty() {
                        let _ = writeln!(self.body, "  {place} = {}{sizes};", object.class);
                    }
                    self.copy_in(object, &place, &pointer, &extents);
                    if !object.constant {
                        self.copy_out(object, &member.name, &place, &pointer, &extents);
                    }
                }
                (Some(Adapted::Same { exact }), ty) => {
                    let argument = self.name(&member.name);
                    let is_pointer = matches!(own.ty, ParamType::Pointer { .. });
                    let by_pointer = !is_pointer && matches!(ty, ParamType::Pointer { .. });
                    let star = if by_pointer { "*" } else { "" };
                    self.parameters.push(format!("{}{star}{argument}", spaced(exact)));
                    let _ = writeln!(self.body, "  {place} = {star}{argument};");
                    if by_pointer {
                        let _ = writeln!(self.after, "  *{argument} = {place};");
                    } else if !structure.constant {
                        // What it points to instead would be lost.
                        self.same_or_throw(
                            &format!("{place} == {argument}"),
                            &format!("`{}` points elsewhere after the call", member.name),
                        );
                    }
                }
                _ => {}
            }
        }
    }

    fn same_or_throw(&mut self, condition: &str, message: &str) {
        self.helper = true;
        let _ = writeln!(self.after, "  ffgrad_same({condition}, \"{message}\");");
    }

    fn copy_in(&mut self, object: &Object, local: &str, pointer: &str, extents: &[String]) {
        copy(&mut self.body, object, extents, |at, i| format!("{local}{at} = {pointer}[{i}];"));
    }

    /// Back to the tensor, if the object still has its size.
    fn copy_out(&mut self, object: &Object, name: &str, local: &str, pointer: &str, extents: &[String]) {
        let what = if name == "return" { "the result".to_owned() } else { format!("`{name}`") };
        for (prefix, same) in same_size(object, local, extents) {
            self.helper = true;
            let _ = writeln!(
                self.after,
                "  {prefix}ffgrad_same({same}, \"{what} has another size than the signature says\");"
            );
        }
        copy(&mut self.after, object, extents, |at, i| format!("{pointer}[{i}] = {local}{at};"));
    }

    fn returned(&mut self, object: &Object, call: &str) {
        let writable = Object { constant: false, ..object.clone() };
        let (pointer, extents) = self.taken_as("result", &writable);
        let local = self.name("value");
        let _ = writeln!(self.body, "  const {} &{local} = {call};", object.class);
        self.copy_out(&writable, "return", &local, &pointer, &extents);
    }
}

/// `(n, m)`, the constructor's arguments that give an object its extents; nothing where they are fixed.
fn constructor(object: &Object, extents: &[String]) -> String {
    let Kind::Container { levels } = &object.kind else {
        let sizes = dynamic(object, extents, false);
        return if sizes.is_empty() { sizes } else { format!("({sizes})") };
    };
    let mut text = String::new();
    for ((level, extent), fixed) in levels.iter().zip(extents).zip(&object.extents).rev() {
        if fixed.is_none() {
            let inner = if text.is_empty() { text } else { format!(", {text}") };
            text = format!("({extent}{inner})");
        }
        if level != &levels[0] && !text.is_empty() {
            text = format!("{level}{text}");
        }
    }
    text
}

/// Extents of a matrix as arguments, if a call decides any: Eigen takes both of a matrix, and one of a vector.
fn dynamic(object: &Object, extents: &[String], continued: bool) -> String {
    if object.extents.iter().all(Option::is_some) {
        return String::new();
    }
    format!("{}{}", if continued { ", " } else { "" }, extents.join(", "))
}

/// A copy of all elements, one by one: `assignment` has the element's subscript and its place in the array.
fn copy(text: &mut String, object: &Object, extents: &[String], assignment: impl Fn(&str, &str) -> String) {
    let used = &COUNTERS[..extents.len()];
    let place = extents.iter().zip(used).skip(1).fold("i".to_owned(), |place, (extent, counter)| {
        let place = if place.contains(' ') { format!("({place})") } else { place };
        format!("{place} * {extent} + {counter}")
    });
    let at = match object.kind {
        Kind::Matrix { .. } | Kind::View { .. } => format!("({})", used.join(", ")),
        _ => used.iter().map(|counter| format!("[{counter}]")).collect(),
    };
    let _ = writeln!(text, "  {}{}", loops(extents), assignment(&at, &place));
}

/// Whether the object has the extents that it was given, where it can have others: for each such extent a loop and a condition.
fn same_size(object: &Object, local: &str, extents: &[String]) -> Vec<(String, String)> {
    let open = object.extents.iter().zip(extents).enumerate().filter(|(_, (fixed, _))| fixed.is_none());
    let condition = |(dim, (_, extent)): (usize, (&Option<i64>, &String))| match (&object.kind, extents.len()) {
        (Kind::Container { .. }, _) => {
            let at: String = COUNTERS[..dim].iter().map(|counter| format!("[{counter}]")).collect();
            (loops(&extents[..dim]), format!("(long){local}{at}.size() == {extent}"))
        }
        (_, 1) => (String::new(), format!("{local}.size() == {extent}")),
        _ => (String::new(), format!("{local}.{}() == {extent}", if dim == 0 { "rows" } else { "cols" })),
    };
    open.map(condition).collect()
}

const COUNTERS: [&str; 4] = ["i", "j", "k", "l"];

/// Loops over indices.
fn loops(extents: &[String]) -> String {
    let each = COUNTERS.iter().zip(extents);
    each.map(|(counter, extent)| format!("for (long {counter} = 0; {counter} < {extent}; ++{counter}) ")).collect()
}

/// `double ` and `double *`: what a name can follow.
fn spaced(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with('*') { text.to_owned() } else { format!("{text} ") }
}

fn spelled(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "float",
        DType::F64 => "double",
        DType::I8 => "signed char",
        DType::I16 => "short",
        DType::I32 => "int",
        DType::I64 => "long",
        DType::U8 => "unsigned char",
        DType::U16 => "unsigned short",
        DType::U32 => "unsigned int",
        DType::U64 => "unsigned long",
        DType::Bool => "bool",
    }
}

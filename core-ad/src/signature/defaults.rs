//! The default signature of a prototype, and the signature suggested where that is ambiguous.
//!
//! Pointers only read are inputs, only written outputs, read and written updated in place; every
//! integer is the number of elements of the first input array, whose shape the outputs have.
//! Objects that know their own lengths (`std::vector`) may differ in them; where there are no other arrays, integers are constants.

use super::check::{self, arg, integer_param, is_integer};
use super::texts::length_symbol;
use super::{adapted, normal_form, parser, unsupported, useless_size};
use crate::adapter::{By, Kind, Object};
use crate::names::closest;
use crate::shapes::dims::spell;
use crate::{Access, Arg, CallPlan, Dim, Param, ParamType, Passing, Prototype, ReturnType, Role};
use std::collections::BTreeMap;

/// The plan by default, or every doubt about it.
pub(super) fn plan(prototype: &Prototype, sizes: &BTreeMap<String, i64>) -> Result<CallPlan, Vec<String>> {
    let symbol = count_symbol(prototype, sizes);
    let doubts = doubts(prototype, sizes, symbol);
    if !doubts.is_empty() {
        return Err(doubts);
    }
    let mut args: Vec<Arg> =
        prototype.params.iter().filter_map(|param| default_arg(prototype, param, symbol, sizes)).collect();
    if let Some(dtype) = float_return(prototype) {
        args.push(arg("return", Role::Return, dtype, Passing::Value));
    }
    adapted::set_sizes(prototype, &mut args);
    let having =
        |roles: &[Role]| -> Vec<usize> { (0..args.len()).filter(|i| roles.contains(&args[*i].role)).collect() };
    let inputs = having(&[Role::Input, Role::InOut]);
    let outputs = having(&[Role::Output, Role::InOut, Role::Return]);
    let drops_return = prototype.returns != ReturnType::Void && float_return(prototype).is_none();
    let signature = normal_form(&args, &inputs, &outputs);
    Ok(CallPlan { args, inputs, outputs, drops_return, signature })
}

/// A signature built by the same rules, if it fits the prototype; where there are matrices and two integers, one with those.
pub(super) fn suggest(prototype: &Prototype) -> Option<String> {
    with_matrices(prototype).or_else(|| with_one_size(prototype))
}

/// `A[m,n], x[n] -> y[m]`: arrays whose names begin with a capital letter are matrices, as in most people's formulas, and so are those
/// with rows of a variable length (`double u[m][n]`); they have both integers, vectors read the second and vectors written the first.
fn with_matrices(prototype: &Prototype) -> Option<String> {
    let counts: Vec<&str> = prototype.params.iter().filter(|p| is_count(p)).map(|p| p.name.as_str()).collect();
    let [rows, columns] = counts[..] else { return None };
    let is_matrix =
        |param: &Param| is_array(param) && (param.name.starts_with(char::is_uppercase) || param.has_variable_rows());
    if prototype.params.iter().any(|param| adapted::object(param).is_some()) || !prototype.params.iter().any(is_matrix)
    {
        return None;
    }
    let [rows_dim, columns_dim] = [rows, columns].map(|name| Dim::Sym(name.to_owned()));
    let both = [rows_dim.clone(), columns_dim.clone()];
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for param in &prototype.params {
        let role = default_role(param)?;
        let shape = |vector: &Dim| match (is_array(param), is_matrix(param)) {
            (false, _) => Vec::new(),
            (true, true) => both.to_vec(),
            (true, false) => vec![vector.clone()],
        };
        match role {
            Role::Input => left.push(spell(&param.name, &shape(&columns_dim), false)),
            Role::Output => right.push(spell(&param.name, &shape(&rows_dim), false)),
            Role::InOut => {
                left.push(spell(&param.name, &shape(&rows_dim), false));
                right.push(spell(&param.name, &shape(&rows_dim), false));
            }
            _ => {}
        }
    }
    right.extend(float_return(prototype).map(|_| "return".to_owned()));
    let text = format!("{} -> {}", left.join(", "), right.join(", ")).trim_start().to_owned();
    accepted(prototype, &text, rows).then_some(text)
}

fn with_one_size(prototype: &Prototype) -> Option<String> {
    let symbol = count_symbol(prototype, &BTreeMap::new());
    let has_arrays = prototype.params.iter().any(is_array);
    // Where nothing has a size, results are numbers.
    let counts_nothing = !prototype.params.iter().any(|param| is_array_input(param) || is_count(param));
    let dims = [Dim::Sym(symbol.to_owned())];
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for param in &prototype.params {
        if adapted::is_size(param) {
            continue;
        }
        let role = default_role(param)?;
        let own = adapted::object(param).map(|object| own_shape(prototype, param, object, symbol));
        let is_number = param.name.contains('.') && param.spelled.ends_with('&');
        let is_number = is_number || counts_nothing || param.text().is_some();
        let shape: &[Dim] = if is_array(param) && !is_number { own.as_deref().unwrap_or(&dims) } else { &[] };
        // One integer can be the dimension; the others are ambiguous.
        let is_dimension = has_arrays && param.name == symbol && counts_elements(prototype);
        if matches!(role, Role::Input | Role::InOut) || (role == Role::Size && !is_dimension) {
            left.push(spell(&param.name, shape, false));
        }
        if matches!(role, Role::Output | Role::InOut) {
            right.push(spell(&param.name, shape, false));
        }
    }
    right.extend(float_return(prototype).map(|_| "return".to_owned()));
    let text = format!("{} -> {}", left.join(", "), right.join(", ")).trim_start().to_owned();
    accepted(prototype, &text, symbol).then_some(text)
}

/// The shape of an object: what its class says, and symbols, its own where another array may have other extents.
fn own_shape(prototype: &Prototype, param: &Param, object: &Object, symbol: &str) -> Vec<Dim> {
    if adapted::is_flat(object) {
        return vec![Dim::Sym(length(prototype, param, symbol))];
    }
    let names: &[&str] = if object.extents.len() == 2 { &["rows", "cols"] } else { &["i", "j", "k", "l"] };
    let own = |(dim, name): (Dim, &&str)| match dim {
        Dim::Sym(_) if has_others(prototype) => Dim::Sym(format!("{}_{name}", param.name)),
        dim => dim,
    };
    adapted::example(object).into_iter().zip(names).map(own).collect()
}

/// Whether there are several arrays.
fn has_others(prototype: &Prototype) -> bool {
    prototype.params.iter().filter(|p| is_array(p) && p.text().is_none()).count() > 1
}

/// Whether `text` fits, perhaps with the size of arrays that follows from no input.
fn accepted(prototype: &Prototype, text: &str, symbol: &str) -> bool {
    let fits = |sizes: BTreeMap<String, i64>| {
        let completed = |tree| super::texts::completed(prototype, tree);
        parser::parse(text).map(completed).and_then(|tree| check::plan(prototype, &tree, &sizes)).is_ok()
    };
    fits(BTreeMap::new()) || fits(BTreeMap::from([(symbol.to_owned(), 1)]))
}

/// Whether the parameter is an object that knows its length, or its extents.
fn knows_length(param: &Param) -> bool {
    is_array(param) && adapted::object(param).is_some_and(takes_extents)
}

/// Whether an object has as many elements, along each dimension, as the array that it is made of.
fn takes_extents(object: &Object) -> bool {
    object.kind != Kind::Rows && object.by != By::Pointer
}

/// Whether integers count elements: of arrays that do not know their lengths.
fn counts_elements(prototype: &Prototype) -> bool {
    let is_counted = |param: &Param| is_array(param) && param.text().is_none() && adapted::object(param).is_none();
    prototype.params.iter().any(is_counted) || !prototype.params.iter().any(knows_length)
}

/// The symbol for the elements of an array: its own where another array may have another number of them.
fn length(prototype: &Prototype, param: &Param, symbol: &str) -> String {
    if knows_length(param) && has_others(prototype) { length_symbol(&param.name) } else { symbol.to_owned() }
}

fn is_array(param: &Param) -> bool {
    matches!(param.ty, ParamType::Pointer { .. })
}

/// Whether the parameter is an integer by value.
fn is_count(param: &Param) -> bool {
    matches!(param.ty, ParamType::Value { dtype } if is_integer(dtype)) && !adapted::is_size(param)
}

fn is_array_input(param: &Param) -> bool {
    is_array(param) && param.text().is_none() && matches!(default_role(param), Some(Role::Input | Role::InOut))
}

fn float_return(prototype: &Prototype) -> Option<crate::DType> {
    match prototype.returns {
        ReturnType::Value { dtype } if dtype.is_float() => Some(dtype),
        _ => None,
    }
}

/// The symbol for the number of elements: the first integer's name, preferably of one that has no
/// value in `sizes`.
fn count_symbol<'a>(prototype: &'a Prototype, sizes: &BTreeMap<String, i64>) -> &'a str {
    let is_dimension = |p: &&Param| is_count(p) && counts_elements(prototype);
    let mut counts = prototype.params.iter().filter(is_dimension).map(|p| p.name.as_str());
    let first = counts.clone().next();
    let free = ["n", "count", "elements"].into_iter().find(|s| prototype.param(s).is_none());
    counts.find(|name| !sizes.contains_key(*name)).or(first).or(free).unwrap_or("n")
}

fn default_role(param: &Param) -> Option<Role> {
    match (&param.ty, param.access) {
        (ParamType::Unsupported, _) => None,
        (ParamType::Value { dtype }, _) if is_integer(*dtype) => Some(Role::Size),
        (ParamType::Value { .. } | ParamType::Pointer { constant: true, .. }, _) => Some(Role::Input),
        (_, Some(Access::Read | Access::Unused)) => Some(Role::Input),
        (_, Some(Access::Write)) => Some(Role::Output),
        (_, Some(Access::ReadWrite) | None) => Some(Role::InOut),
    }
}

fn default_arg(prototype: &Prototype, param: &Param, symbol: &str, sizes: &BTreeMap<String, i64>) -> Option<Arg> {
    let is_constant = is_count(param) && !counts_elements(prototype) && !sizes.contains_key(&param.name);
    let role = if is_constant { Role::Input } else { default_role(param)? };
    let (dtype, passing) = match param.ty {
        ParamType::Value { dtype } => (dtype, Passing::Value),
        ParamType::Pointer { dtype, .. } => (dtype, Passing::Pointer),
        ParamType::Unsupported => return None,
    };
    let bare = arg(&param.name, role, dtype, passing);
    let symbol = if sizes.contains_key(&param.name) { &param.name } else { symbol };
    if let Some(object) = adapted::object(param).filter(|object| !adapted::is_flat(object)) {
        let constant = role == Role::Input && !dtype.is_float();
        return Some(Arg { shape: own_shape(prototype, param, object, symbol), constant, ..bare });
    }
    if param.text().is_some() {
        let shape = vec![Dim::Sym(length_symbol(&param.name))];
        return Some(Arg { shape, constant: true, ..bare });
    }
    let own = || vec![Dim::Sym(length(prototype, param, symbol))];
    let shape = if role == Role::Size || is_array(param) { own() } else { Vec::new() };
    let constant = matches!(role, Role::Input | Role::InOut) && !dtype.is_float();
    Some(Arg { shape, constant, flat: is_array(param), ..bare })
}

/// Everything that makes the defaults a guess.
fn doubts(prototype: &Prototype, sizes: &BTreeMap<String, i64>, symbol: &str) -> Vec<String> {
    let mut doubts: Vec<String> = Vec::new();
    for param in &prototype.params {
        if param.ty == ParamType::Unsupported {
            doubts.extend(unsupported(prototype, param));
        }
    }
    if let Some(member) = prototype.params.iter().find(|p| p.name.contains('.') && !adapted::is_size(p)) {
        let name = &member.name;
        doubts.push(format!("`{name}` is a member, which may be an input, an output or a size: give a signature"));
        doubts.extend(structures_doubt(prototype, name));
    }
    doubts.extend(prototype.params.iter().filter_map(object_doubt));
    doubts.extend(return_doubt(prototype));
    doubts.extend(output_doubt(prototype));
    doubts.extend(missing_shapes(prototype, sizes));
    doubts.extend(several_counts(prototype, sizes));
    for name in sizes.keys().filter(|n| *n != symbol) {
        if !prototype.param(name).is_some_and(|(_, p)| integer_param(p)) {
            let near = closest(name, prototype.params.iter().map(|p| p.name.as_str()));
            doubts.push(useless_size(name, &near));
        }
    }
    if !doubts.is_empty() {
        // A pointer that is never dereferenced is harmless by itself.
        doubts.extend(prototype.params.iter().filter(|p| is_unused(p)).map(unused));
    }
    doubts
}

/// Objects whose shape, or role, nothing says.
fn object_doubt(param: &Param) -> Option<String> {
    let object = adapted::object(param).filter(|_| is_array(param))?;
    let (name, spelled) = (&param.name, &param.spelled);
    let is_known = takes_extents(object) || object.extents.iter().all(Option::is_some);
    match (is_known, object.constant) {
        _ if name == "return" => Some("the shape of the value is not known: give a signature".to_owned()),
        (false, _) => Some(format!("the shape of `{name}`, a `{spelled}`, is not known: give a signature")),
        (true, false) => {
            Some(format!("`{name}` is a `{spelled}`, which may be an input, an output or both: give a signature"))
        }
        (true, true) => None,
    }
}

fn return_doubt(prototype: &Prototype) -> Option<String> {
    let ReturnType::Unsupported { spelled } = &prototype.returns else {
        return None;
    };
    let function = &prototype.function;
    let remedy = match prototype.params.iter().any(is_result) {
        true => "give a signature without `return` to drop it, or wrap the function",
        false => {
            "wrap the function in one that returns a number, or stores its members through pointers (`double *result`)"
        }
    };
    Some(format!("`{function}` returns a `{spelled}`, which no tensor can hold: {remedy}"))
}

/// Whether the function stores numbers through a pointer.
fn is_result(param: &Param) -> bool {
    matches!(param.ty, ParamType::Pointer { dtype, .. } if dtype.is_float())
        && matches!(default_role(param), Some(Role::Output | Role::InOut))
}

fn output_doubt(prototype: &Prototype) -> Option<String> {
    let returns_other = matches!(prototype.returns, ReturnType::Unsupported { .. });
    let returns = returns_other || float_return(prototype).is_some();
    if returns || prototype.params.iter().any(is_result) {
        return None;
    }
    let function = &prototype.function;
    Some(format!(
        "`{function}` neither returns a floating-point number nor writes to a pointer to one, so \
         that it has no derivative: choose a function that does"
    ))
}

/// A structure beside a count may be the first of an array of them, which members cannot stand for.
fn structures_doubt(prototype: &Prototype, member: &str) -> Option<String> {
    let (structure, _) = member.split_once('.')?;
    let count = prototype.params.iter().find(|p| is_count(p) && !p.name.contains('.'))?;
    let has_array = prototype.params.iter().any(is_array);
    (!has_array).then(|| {
        format!(
            "`{structure}.` is of one structure; if `{structure}` is an array of `{}` of them, wrap the function in one that takes their numbers \
             and casts the pointer: `double g(const double *{structure}, int {0})`",
            count.name
        )
    })
}

/// One integer is the number of elements; of two, the meaning is ambiguous.
fn several_counts(prototype: &Prototype, sizes: &BTreeMap<String, i64>) -> Option<String> {
    let counts = prototype.params.iter().filter(|p| is_count(p) && !sizes.contains_key(&p.name));
    let names: Vec<String> = counts.map(|p| format!("`{}`", p.name)).collect();
    (names.len() > 1 && counts_elements(prototype)).then(|| {
        format!("{} are all integers, and it is not known what each of them counts: give a signature", names.join(", "))
    })
}

/// Arrays and counts whose size follows from no input array.
fn missing_shapes(prototype: &Prototype, sizes: &BTreeMap<String, i64>) -> Vec<String> {
    if prototype.params.iter().any(is_array_input) {
        return Vec::new();
    }
    let unknown = |p: &&Param| (is_array(p) && p.text().is_none()) || (is_count(p) && !sizes.contains_key(&p.name));
    let doubt = |p: &Param| {
        let (name, remedy) = (&p.name, "give a signature, and `sizes` for what does not follow from inputs");
        if is_array(p) {
            format!("the shape of the output `{name}` follows from no input array: {remedy}")
        } else {
            format!("the value of `{name}` follows from no input array: {remedy}")
        }
    };
    prototype.params.iter().filter(unknown).map(doubt).collect()
}

fn is_unused(param: &Param) -> bool {
    is_array(param) && param.access == Some(Access::Unused)
}

fn unused(param: &Param) -> String {
    let name = &param.name;
    format!("`{name}` is never read or written, so its meaning is unclear: give a signature")
}

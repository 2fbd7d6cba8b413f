//! Gives constant memory its values, in textual IR: those that a program's host code would copy there.

use super::host::type_length;
use serde_json::Value;
use std::collections::BTreeMap;

/// The module with these values, and the names of those that were found.
///
/// # Errors
///
/// What is wrong with a value, in a sentence about the variable.
pub fn with_values(ir: &str, values: &BTreeMap<String, Value>) -> Result<(String, Vec<String>), String> {
    let mut found = Vec::new();
    let mut lines = Vec::new();
    for line in ir.lines() {
        let given = variable(line).and_then(|(name, _)| values.iter().find(|(given, _)| is_of(name, given)));
        match (given, variable(line)) {
            (Some((name, value)), Some((_, at))) => {
                found.push(name.clone());
                lines.push(with_value(line, at, value).map_err(|reason| format!("`{name}` {reason}"))?);
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines.push(String::new());
    Ok((lines.join("\n"), found))
}

/// The symbols of the variables of constant memory.
pub fn names(ir: &str) -> Vec<&str> {
    ir.lines().filter_map(variable).map(|(name, _)| name).collect()
}

/// A symbol as the option `constants` names it.
pub fn spelled(symbol: &str) -> String {
    crate::names::demangle(symbol).trim_start_matches("(anonymous namespace)::").to_owned()
}

/// The name of a variable of constant memory, and where its type begins.
fn variable(line: &str) -> Option<(&str, usize)> {
    let (name, _) = line.strip_prefix('@')?.split_once(" = ")?;
    let word = [" global ", " constant "].into_iter().filter_map(|word| Some((line.find(word)?, word.len()))).min()?;
    let at = word.0 + word.1;
    line[..at].contains("addrspace(4)").then_some((name.trim_matches('"'), at))
}

/// Whether a symbol is a variable's: by its C name, or as C++ writes `name`, `static name` or `space::name`.
pub fn is_of(symbol: &str, name: &str) -> bool {
    let (spaces, bare) = name.rsplit_once("::").map_or((None, name), |(spaces, bare)| (Some(spaces), bare));
    let part = |name: &str| format!("{}{name}", name.len());
    let nested: String = spaces.into_iter().flat_map(|s| s.split("::")).chain([bare]).map(part).collect();
    symbol == name
        || symbol == format!("_ZL{nested}")
        || symbol == format!("_ZN{nested}E")
        || symbol == format!("_ZNL{nested}E")
        || (spaces.is_none() && symbol == format!("_ZN12_GLOBAL__N_1{nested}E"))
}

fn with_value(line: &str, at: usize, value: &Value) -> Result<String, String> {
    let ty = &line[at..at + type_length(&line[at..])];
    let rest = line[at + ty.len()..].trim_start();
    let after = &rest[type_length_of_value(rest)..];
    let mut numbers = Vec::new();
    flatten(value, &mut numbers)?;
    let wanted = count(ty)?;
    if numbers.len() != wanted {
        return Err(format!("has {wanted} numbers, and {} are given", numbers.len()));
    }
    let mut text = written(ty, &mut numbers.into_iter())?;
    if array(ty).is_none() {
        // A plain zero would count as no value.
        text = format!("bitcast ({ty} {text} to {ty})");
    }
    Ok(format!("{}{ty} {text}{after}", &line[..at]))
}

/// Bytes of an initialiser: up to the comma that begins what else a variable has.
fn type_length_of_value(text: &str) -> usize {
    let mut depth = 0i32;
    for (i, c) in text.char_indices() {
        match c {
            '[' | '{' | '<' | '(' => depth += 1,
            ']' | '}' | '>' | ')' => depth -= 1,
            ',' if depth == 0 => return i,
            _ => {}
        }
    }
    text.len()
}

fn flatten<'a>(value: &'a Value, numbers: &mut Vec<&'a Value>) -> Result<(), String> {
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| flatten(item, numbers)),
        Value::Number(_) | Value::Bool(_) => {
            numbers.push(value);
            Ok(())
        }
        other => Err(format!("takes numbers, and has `{other}`")),
    }
}

/// `[3 x T]`: the number and T.
fn array(ty: &str) -> Option<(usize, &str)> {
    let (count, inner) = ty.strip_prefix('[')?.strip_suffix(']')?.split_once(" x ")?;
    Some((count.parse().ok()?, inner))
}

fn count(ty: &str) -> Result<usize, String> {
    match array(ty) {
        Some((length, inner)) => Ok(length * count(inner)?),
        None if ["float", "double", "i8", "i16", "i32", "i64"].contains(&ty) => Ok(1),
        None => Err(format!("has elements that are no plain numbers (`{ty}`): make it an array of numbers")),
    }
}

fn written<'a>(ty: &str, numbers: &mut impl Iterator<Item = &'a Value>) -> Result<String, String> {
    if let Some((length, inner)) = array(ty) {
        let items: Result<Vec<String>, String> =
            (0..length).map(|_| Ok(format!("{inner} {}", written(inner, numbers)?))).collect();
        return Ok(format!("[{}]", items?.join(", ")));
    }
    let number = numbers.next().unwrap_or(&Value::Null);
    let not_whole = || format!("holds integers, and {number} is none of its type");
    match ty {
        // A float is written as the double of the same value.
        "float" | "double" => {
            let double = number.as_f64().or_else(|| number.as_bool().map(f64::from)).unwrap_or(f64::NAN);
            let bits = if ty == "float" { f64::from(double as f32).to_bits() } else { double.to_bits() };
            Ok(format!("0x{bits:016X}"))
        }
        _ => {
            let bits: u32 = ty[1..].parse().map_err(|_| not_whole())?;
            let whole = number.as_i64().or_else(|| number.as_bool().map(i64::from)).ok_or_else(not_whole)?;
            let (least, most) = if bits == 64 { (i64::MIN, i64::MAX) } else { (-(1 << (bits - 1)), (1 << bits) - 1) };
            if (least..=most).contains(&whole) { Ok(whole.to_string()) } else { Err(not_whole()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const IR: &str = "@_ZL1c = internal addrspace(4) externally_initialized global [2 x [2 x float]] zeroinitializer, align 4, !dbg !0\n\
                      @_ZL1n = internal addrspace(4) constant i32 0, align 4\n@c = global float 0.0\n";

    fn with(values: Value) -> Result<(String, Vec<String>), String> {
        with_values(IR, &serde_json::from_value(values).expect("a map"))
    }

    #[test]
    fn variables_get_their_values_by_their_names() {
        let (text, found) = with(json!({"c": [[1, 2.5], [0.1, -1]], "n": 3})).expect("values");
        assert_eq!(found, ["c", "n"]);
        assert!(
            text.contains(
                "global [2 x [2 x float]] [[2 x float] [float 0x3FF0000000000000, float 0x4004000000000000], \
             [2 x float] [float 0x3FB99999A0000000, float 0xBFF0000000000000]], align 4, !dbg !0"
            ),
            "{text}"
        );
        assert!(
            text.contains("constant i32 bitcast (i32 3 to i32), align 4") && text.contains("@c = global float 0.0")
        );
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        assert_eq!(with(json!({"c": [1, 2, 3]})).unwrap_err(), "`c` has 4 numbers, and 3 are given");
        assert_eq!(with(json!({"n": 1.5})).unwrap_err(), "`n` holds integers, and 1.5 is none of its type");
        assert_eq!(with(json!({"n": "x"})).unwrap_err(), "`n` takes numbers, and has `\"x\"`");
    }
}

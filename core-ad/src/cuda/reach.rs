//! Which functions a function reaches, in textual IR.

use std::collections::{BTreeMap, BTreeSet};

/// What a function uses, directly and through others: functions and variables, without the `@`.
#[derive(Debug, Default)]
pub struct Reached {
    /// Those that the module defines.
    pub defined: BTreeSet<String>,
    /// Those that it only declares.
    pub declared: BTreeSet<String>,
}

/// Everything that `symbol` uses; itself included.
pub fn reached(ir: &str, symbol: &str) -> Reached {
    let uses = uses(ir);
    let (mut reached, mut left) = (Reached::default(), vec![symbol]);
    while let Some(name) = left.pop() {
        match uses.get(name) {
            Some(used) if reached.defined.insert(name.to_owned()) => left.extend(used),
            Some(_) => {}
            None => drop(reached.declared.insert(name.to_owned())),
        }
    }
    reached
}

/// The names in the definition of each function and variable.
fn uses(ir: &str) -> BTreeMap<&str, Vec<&str>> {
    let (mut uses, mut inside): (BTreeMap<&str, Vec<&str>>, Option<&str>) = (BTreeMap::new(), None);
    for line in ir.lines() {
        let mut found = names(line).into_iter();
        if line.starts_with("define ") {
            inside = found.next();
        } else if line.starts_with('@') {
            let of = found.next().unwrap_or_default();
            if !line.contains(" external ") {
                uses.entry(of).or_default().extend(found);
            }
            continue;
        }
        if let Some(function) = inside {
            uses.entry(function).or_default().extend(found);
        }
        if line == "}" {
            inside = None;
        }
    }
    uses
}

fn names(line: &str) -> Vec<&str> {
    let part_of_name = |c: char| c.is_ascii_alphanumeric() || "-$._".contains(c);
    let name = |rest: &'_ str| match rest.strip_prefix('"') {
        Some(quoted) => 1..1 + quoted.find('"').unwrap_or(0),
        None => 0..rest.find(|c| !part_of_name(c)).unwrap_or(rest.len()),
    };
    line.match_indices('@').map(|(at, _)| &line[at + 1..][name(&line[at + 1..])]).filter(|n| !n.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_function_uses_through_others_is_found() {
        let ir = "@t = constant [1 x ptr] [ptr @h]\n@e = external global i32\ndefine void @f() {\n  call void @g(ptr @t)\n}\n\
                  define void @g(ptr %x) {\n  load i32, ptr @e\n  ret void\n}\ndeclare void @h()\ndeclare void @i()\n\
                  define void @other() {\n  call void @i()\n}\n";
        let reached = reached(ir, "f");
        assert_eq!(reached.defined.iter().collect::<Vec<_>>(), ["f", "g", "t"]);
        assert_eq!(reached.declared.iter().collect::<Vec<_>>(), ["e", "h"]);
    }
}

//! What comes to a call of some function, over other functions.

use super::{Block, Value, blocks, functions};
use inkwell::module::Module;
use std::collections::HashSet;

/// The names of these functions and of all that call one of them, and the calls.
pub fn of(module: &Module<'_>, mut names: HashSet<String>) -> (HashSet<String>, Vec<Value>) {
    let calls: Vec<(String, Value, String)> = functions(module)
        .into_iter()
        .flat_map(|f| {
            let caller = f.get_name().to_string_lossy().into_owned();
            let all = blocks(f).into_iter().flat_map(Block::instructions);
            all.filter_map(|i| Some((i, i.callee()?)))
                .map(|(i, callee)| (caller.clone(), i, callee))
                .collect::<Vec<_>>()
        })
        .collect();
    loop {
        let before = names.len();
        for (caller, _, callee) in &calls {
            if names.contains(callee) && !names.contains(caller) {
                names.insert(caller.clone());
            }
        }
        if names.len() == before {
            let calls = calls.into_iter().filter(|(_, _, callee)| names.contains(callee)).map(|(_, call, _)| call);
            let calls = calls.collect();
            return (names, calls);
        }
    }
}

//! Texts as parameters: `const char *` and `character(*)`, constants that a front end passes as arrays of bytes.

use super::parser::Tree;
use crate::{CallPlan, Dim, Prototype, Role};

/// The symbol for the length of a text that a signature names without brackets.
pub(super) fn length_symbol(name: &str) -> String {
    format!("{name}_length")
}

/// A signature with the lengths of texts.
pub(super) fn completed(prototype: &Prototype, mut tree: Tree) -> Tree {
    for item in tree.inputs.iter_mut().filter(|item| item.dims.is_none()) {
        let is_text = prototype.param(&item.name).is_some_and(|(_, param)| param.text().is_some());
        if is_text {
            item.dims = Some(vec![Dim::Sym(length_symbol(&item.name))]);
        }
    }
    tree
}

/// Marks the inputs that texts can be passed for.
pub(super) fn marked(prototype: &Prototype, mut plan: CallPlan) -> CallPlan {
    for arg in plan.args.iter_mut().filter(|arg| matches!(arg.role, Role::Input | Role::InOut) && arg.shape.len() == 1)
    {
        arg.text = prototype.param(&arg.name).and_then(|(_, param)| param.text());
    }
    plan
}

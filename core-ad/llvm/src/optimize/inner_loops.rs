//! Rewrites of one-block loops, as the reverse sweep is full of them.

use super::{reverse_loop, scatter_to_gather};
use crate::analysis::inner_loop::Loop;
use crate::analysis::memory_objects::Objects;
use crate::ir;
use core_ad::protocol::{CodeGen, Improvement};
use inkwell::module::Module;
use inkwell::targets::TargetData;

/// Rewrites every such loop that gains by it.
pub fn improve(module: &Module<'_>, codegen: &CodeGen, layout: &TargetData) {
    for function in ir::functions(module) {
        let loops: Vec<Loop> = ir::blocks(function).into_iter().filter_map(Loop::of).collect();
        if loops.is_empty() {
            continue;
        }
        let objects = Objects::of(function);
        for one in loops {
            if codegen.does(Improvement::ForwardLoops) {
                reverse_loop::reverse_iteration_order(&one, &objects, layout);
            }
            if codegen.does(Improvement::Stencil) {
                scatter_to_gather::gather(&one, &objects, layout);
            }
        }
    }
}

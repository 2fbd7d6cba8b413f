//! Finds the branches that the caller's integers decide: modes, flags, types of elements, numbers of neighbours.
//!
//! Sizes are not among them: a derivative is checked at each of the first few. An integer input, or an array of them, is data, as
//! numbers are, and a call with another mode may take a path that no verified call has taken.
//!
//! The wrapper marks such parameters ([`GIVEN`]). From there integers are followed through arithmetic, phis, calls and memory (where one is
//! stored, every integer that is loaded counts). The branch of a latch is left out: the branch in front of the loop tells whether it runs at all,
//! and a counter in each iteration would cost more than it shows. Addresses (the columns of a sparse matrix) decide no path.

use super::cfg::LoopNest;
use super::value_paths::is_branch;
use crate::ir::markers::GIVEN;
use crate::ir::{self, Block, Op, Value};
use inkwell::attributes::AttributeLoc;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use std::collections::{HashMap, HashSet};

/// The branches, switches and choices of each function that such integers decide; functions without any are not in the map.
pub fn decided(module: &Module<'_>) -> HashMap<String, Vec<Value>> {
    let mut flow = Flow::from_parameters(module);
    if flow.integers.is_empty() && flow.pointers.is_empty() {
        return HashMap::new();
    }
    flow.close();
    let places = flow.functions.iter().map(|f| (name(f.value), flow.places(f)));
    places.filter(|(_, places)| !places.is_empty()).collect()
}

struct Body<'ctx> {
    value: FunctionValue<'ctx>,
    instructions: Vec<Value>,
}

/// What is known so far.
struct Flow<'ctx> {
    functions: Vec<Body<'ctx>>,
    parameters: HashMap<String, Vec<Value>>,
    /// Integers that are given, or computed from such.
    integers: HashSet<Value>,
    /// Pointers to memory that holds given integers.
    pointers: HashSet<Value>,
    /// Functions that return such an integer.
    returning: HashSet<String>,
    /// Whether such an integer is stored anywhere.
    stored: bool,
}

impl<'ctx> Flow<'ctx> {
    fn from_parameters(module: &Module<'ctx>) -> Flow<'ctx> {
        let functions: Vec<Body<'ctx>> = ir::functions(module)
            .into_iter()
            .map(|f| Body { value: f, instructions: ir::blocks(f).into_iter().flat_map(Block::instructions).collect() })
            .collect();
        let parameters: HashMap<String, Vec<Value>> =
            functions.iter().map(|f| (name(f.value), ir::arguments(f.value))).collect();
        let mut flow = Flow {
            functions,
            parameters,
            integers: HashSet::new(),
            pointers: HashSet::new(),
            returning: HashSet::new(),
            stored: false,
        };
        let given = flow.functions.iter().flat_map(|f| {
            let marked = |i: usize| f.value.get_string_attribute(AttributeLoc::Param(i as u32), GIVEN).is_some();
            ir::arguments(f.value).into_iter().enumerate().filter(move |(i, _)| marked(*i)).map(|(_, value)| value)
        });
        let (pointers, integers) = given.partition(|value: &Value| value.is_pointer());
        (flow.pointers, flow.integers) = (pointers, integers);
        flow
    }

    /// Follows them until nothing new is found.
    fn close(&mut self) {
        let functions = std::mem::take(&mut self.functions);
        loop {
            let before = self.size();
            for function in &functions {
                function.instructions.iter().for_each(|i| self.follow(*i, function.value));
            }
            if self.size() == before {
                break;
            }
        }
        self.functions = functions;
    }

    fn size(&self) -> (usize, usize, usize, bool) {
        (self.integers.len(), self.pointers.len(), self.returning.len(), self.stored)
    }

    fn follow(&mut self, i: Value, function: FunctionValue<'_>) {
        if self.gives_integer(i) {
            self.integers.insert(i);
        }
        if self.gives_pointer(i) {
            self.pointers.insert(i);
        }
        match i.op() {
            Some(Op::LLVMStore) => self.stored |= self.integers.contains(&i.operand(0)),
            Some(Op::LLVMRet) if i.operands().first().is_some_and(|v| self.integers.contains(v)) => {
                self.returning.insert(name(function));
            }
            Some(Op::LLVMCall | Op::LLVMInvoke) => self.enter(i),
            _ => {}
        }
    }

    fn gives_integer(&self, i: Value) -> bool {
        let an_operand = || i.operands().iter().any(|o| self.integers.contains(o));
        if i.holds_floats() || i.is_pointer() {
            return false;
        }
        match i.op() {
            Some(Op::LLVMLoad) => self.stored || self.pointers.contains(&i.operand(0)),
            // `llvm.smax` and its like compute.
            Some(Op::LLVMCall | Op::LLVMInvoke) => i
                .callee()
                .is_some_and(|callee| self.returning.contains(&callee) || callee.starts_with("llvm.") && an_operand()),
            _ => an_operand(),
        }
    }

    fn gives_pointer(&self, i: Value) -> bool {
        match i.op() {
            Some(Op::LLVMLoad | Op::LLVMCall | Op::LLVMInvoke) => false,
            Some(Op::LLVMGetElementPtr) => self.pointers.contains(&i.operand(0)),
            _ => i.is_pointer() && i.operands().iter().any(|o| self.pointers.contains(o)),
        }
    }

    /// Follows arguments into the called function.
    fn enter(&mut self, call: Value) {
        let Some(parameters) = call.callee().and_then(|callee| self.parameters.get(&callee)) else { return };
        for (given, &parameter) in call.operands().iter().zip(parameters) {
            if self.integers.contains(given) {
                self.integers.insert(parameter);
            }
            if self.pointers.contains(given) {
                self.pointers.insert(parameter);
            }
        }
    }

    fn places(&self, function: &Body<'_>) -> Vec<Value> {
        let decided = |i: &&Value| match i.op() {
            Some(Op::LLVMSelect) => self.integers.contains(&i.operand(0)),
            _ => is_branch(**i) && self.integers.contains(&i.operand(0)),
        };
        let all: Vec<Value> = function.instructions.iter().filter(decided).copied().collect();
        if all.is_empty() {
            return all;
        }
        let nest = LoopNest::of(function.value);
        let is_latch = |i: Value| {
            nest.as_ref().is_some_and(|nest| {
                let at = nest.cfg.number(i.parent());
                nest.loops.iter().any(|l| l.latches.contains(&at))
            })
        };
        all.into_iter().filter(|i| !is_branch(*i) || !is_latch(*i)).collect()
    }
}

fn name(function: FunctionValue<'_>) -> String {
    function.get_name().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// How many places each function has.
    fn places(ir: &str) -> Vec<(String, usize)> {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(ir.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).unwrap_or_else(|e| panic!("{e}"));
        let mut all: Vec<_> = decided(&module).into_iter().map(|(name, places)| (name, places.len())).collect();
        all.sort();
        all
    }

    #[test]
    fn a_mode_decides_a_switch_in_a_called_function_and_a_size_decides_none() {
        let mode = "
            define void @wrap(ptr %x, i32 \"ffgrad.given\" %mode, i32 %n) {
              call void @step(ptr %x, i32 %mode, i32 %n)
              ret void
            }
            define internal void @step(ptr %x, i32 %mode, i32 %n) {
              %few = icmp slt i32 %n, 3
              br i1 %few, label %a, label %end
            a:
              switch i32 %mode, label %end [ i32 1, label %b ]
            b:
              br label %end
            end:
              ret void
            }";
        assert_eq!(places(mode), [("step".to_owned(), 1)]);
    }

    #[test]
    fn flags_of_elements_decide_and_latches_and_addresses_do_not() {
        let flags = "
            define void @wrap(ptr \"ffgrad.given\" %flags, ptr %x, i64 %n) {
            start:
              br label %loop
            loop:
              %i = phi i64 [ 0, %start ], [ %next, %join ]
              %place = getelementptr i32, ptr %flags, i64 %i
              %flag = load i32, ptr %place
              %wide = sext i32 %flag to i64
              %there = getelementptr double, ptr %x, i64 %wide
              store double 1.0, ptr %there
              %set = icmp eq i32 %flag, 1
              br i1 %set, label %yes, label %join
            yes:
              br label %join
            join:
              %next = add i64 %i, 1
              %more = icmp slt i64 %next, %wide
              br i1 %more, label %loop, label %end
            end:
              ret void
            }";
        assert_eq!(places(flags), [("wrap".to_owned(), 1)]);
    }

    #[test]
    fn functions_without_given_integers_have_none() {
        assert!(places("define void @wrap(ptr %x, i64 %n) {\n  ret void\n}").is_empty());
    }
}

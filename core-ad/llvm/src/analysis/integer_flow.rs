//! Finds the branches that data decide through integers and pointers: modes, flags, types of elements, names, chosen functions.
//!
//! Two kinds of data ([`Source`]). The caller's integers: an integer input, or an array of them, is data, as numbers are, and a call with
//! another mode may take a path that no verified call has taken. The wrapper marks such parameters ([`GIVEN`]); sizes are not among them, since a
//! derivative is checked at each of the first few. And integers made of floating-point values: a comparison, a conversion.
//!
//! From there integers are followed through arithmetic, phis, calls and memory (where one is stored, every integer that is loaded counts). A
//! pointer that such an integer chooses makes what is loaded through it data, too: an entry of a table, characters, an object and its virtual
//! functions. So does a function without a body here that is given such a pointer (`strcmp`). The address of a floating-point number chooses
//! nothing but that number.
//!
//! The branch of a latch is left out: the branch in front of the loop tells whether it runs at all, and a counter in each iteration would cost
//! more than it shows. Addresses (the columns of a sparse matrix) decide no path, but the address of a function that is called does.

use super::cfg::LoopNest;
use super::foreign_calls::{self, arguments, is_silent};
use super::value_paths::is_branch;
use crate::ir::markers::GIVEN;
use crate::ir::{self, Block, Op, Value};
use inkwell::attributes::AttributeLoc;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::{LLVMGetElementType, LLVMGetGEPSourceElementType, LLVMGetTypeKind};
use llvm_sys::prelude::LLVMTypeRef;
use std::collections::{HashMap, HashSet};

/// Which data decide.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Given,
    Values,
}

/// The branches, switches, choices and indirect calls of each function that such data decide; functions without any are not in the map.
pub fn decided(module: &Module<'_>) -> HashMap<String, Vec<Value>> {
    let mut all: HashMap<String, Vec<Value>> = HashMap::new();
    for source in [Source::Given, Source::Values] {
        let Some(mut flow) = Flow::new(module, source) else { continue };
        flow.close();
        for function in &flow.functions {
            let mut places = flow.places(function);
            if !places.is_empty() {
                let known = all.entry(name(function.value)).or_default();
                places.retain(|place| !known.contains(place));
                known.append(&mut places);
            }
        }
    }
    all
}

struct Body<'ctx> {
    value: FunctionValue<'ctx>,
    instructions: Vec<Value>,
}

/// What is known so far.
struct Flow<'ctx> {
    source: Source,
    functions: Vec<Body<'ctx>>,
    parameters: HashMap<String, Vec<Value>>,
    /// Integers that are data, or computed from such.
    integers: HashSet<Value>,
    /// Pointers to memory that holds given integers.
    holding: HashSet<Value>,
    /// Pointers that such integers chose.
    chosen: HashSet<Value>,
    /// Functions that return such an integer or a chosen pointer.
    returning: HashSet<String>,
    stored: Stored,
}

/// Which kinds of data are stored anywhere.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Stored {
    integers: bool,
    holding: bool,
    chosen: bool,
}

impl<'ctx> Flow<'ctx> {
    /// `None` where the module has no such data.
    fn new(module: &Module<'ctx>, source: Source) -> Option<Flow<'ctx>> {
        let functions: Vec<Body<'ctx>> = ir::functions(module)
            .into_iter()
            .map(|f| Body { value: f, instructions: ir::blocks(f).into_iter().flat_map(Block::instructions).collect() })
            .collect();
        let parameters: HashMap<String, Vec<Value>> =
            functions.iter().map(|f| (name(f.value), ir::arguments(f.value))).collect();
        let given = functions.iter().filter(|_| source == Source::Given).flat_map(|f| {
            let marked = |i: usize| f.value.get_string_attribute(AttributeLoc::Param(i as u32), GIVEN).is_some();
            ir::arguments(f.value).into_iter().enumerate().filter(move |(i, _)| marked(*i)).map(|(_, value)| value)
        });
        let (holding, mut integers): (HashSet<Value>, HashSet<Value>) = given.partition(|value| value.is_pointer());
        if source == Source::Values {
            let all = functions.iter().flat_map(|f| &f.instructions);
            integers.extend(all.filter(|i| is_made_of_values(**i)));
        }
        let writes = |f: &Body<'_>| f.instructions.iter().any(|i| foreign_calls::writes_for_values(*i));
        let stored = Stored { integers: source == Source::Values && functions.iter().any(writes), ..Stored::default() };
        let has_data = stored.integers || !integers.is_empty() || !holding.is_empty();
        let (chosen, returning) = (HashSet::new(), HashSet::new());
        has_data.then_some(Flow { source, functions, parameters, integers, holding, chosen, returning, stored })
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

    fn size(&self) -> ([usize; 4], Stored) {
        let sets = [self.integers.len(), self.holding.len(), self.chosen.len(), self.returning.len()];
        (sets, self.stored)
    }

    fn is_data(&self, value: Value) -> bool {
        self.integers.contains(&value) || self.chosen.contains(&value)
    }

    fn follow(&mut self, i: Value, function: FunctionValue<'_>) {
        if self.gives_integer(i) {
            self.integers.insert(i);
        }
        if i.is_pointer() && self.gives_chosen(i) {
            self.chosen.insert(i);
        }
        if i.is_pointer() && self.gives_holding(i) {
            self.holding.insert(i);
        }
        match i.op() {
            Some(Op::LLVMStore) => self.store(i.operand(0), i.operand(1)),
            Some(Op::LLVMRet) if i.operands().first().is_some_and(|v| self.is_data(*v)) => {
                self.returning.insert(name(function));
            }
            Some(Op::LLVMCall | Op::LLVMInvoke) if i.calls_a_body() => self.enter(i),
            Some(Op::LLVMCall | Op::LLVMInvoke) => self.stored.integers |= self.is_written(i),
            _ => {}
        }
    }

    fn store(&mut self, value: Value, pointer: Value) {
        let by_place = self.chosen.contains(&pointer) && !value.holds_floats();
        self.stored.integers |= self.integers.contains(&value) || by_place && !value.is_pointer();
        self.stored.chosen |= self.chosen.contains(&value) || by_place && value.is_pointer();
        self.stored.holding |= self.holding.contains(&value);
    }

    fn is_through_data(&self, load: Value) -> bool {
        self.chosen.contains(&load.operand(0)) || self.holding.contains(&load.operand(0))
    }

    fn gives_integer(&self, i: Value) -> bool {
        if i.holds_floats() || i.is_pointer() {
            return false;
        }
        match i.op() {
            Some(Op::LLVMLoad) => self.stored.integers || self.is_through_data(i),
            Some(Op::LLVMCall | Op::LLVMInvoke) => self.is_returned(i),
            _ => i.operands().into_iter().any(|o| self.is_data(o)),
        }
    }

    /// Whether a call's result is data: of a function here, or of one that is given data, or memory where data may lie.
    fn is_returned(&self, call: Value) -> bool {
        if call.calls_a_body() {
            return call.callee().is_some_and(|callee| self.returning.contains(&callee));
        }
        let operands = call.operands();
        let is_given = operands.iter().any(|o| self.is_data(*o) || self.holding.contains(o));
        let name = call.callee().unwrap_or_default();
        let reads = self.stored.integers && !name.starts_with("llvm.") && arguments(call).any(Value::is_pointer);
        (is_given || reads) && !is_silent(&name)
    }

    fn gives_chosen(&self, i: Value) -> bool {
        match i.op() {
            Some(Op::LLVMLoad) => self.stored.chosen || self.chosen.contains(&i.operand(0)),
            Some(Op::LLVMGetElementPtr) => {
                let index = || i.operands()[1..].iter().any(|o| self.integers.contains(o));
                self.chosen.contains(&i.operand(0)) || !is_place_of_float(i) && index()
            }
            // As `strchr`; what is allocated by a length is not chosen.
            Some(Op::LLVMCall | Op::LLVMInvoke) if !i.calls_a_body() => {
                arguments(i).any(|o| self.chosen.contains(&o)) && !is_silent(&i.callee().unwrap_or_default())
            }
            Some(Op::LLVMCall | Op::LLVMInvoke) => self.is_returned(i),
            _ => i.operands().into_iter().any(|o| self.is_data(o)),
        }
    }

    fn gives_holding(&self, i: Value) -> bool {
        match i.op() {
            Some(Op::LLVMLoad) => self.stored.holding,
            Some(Op::LLVMCall | Op::LLVMInvoke) => false,
            Some(Op::LLVMGetElementPtr) => self.holding.contains(&i.operand(0)),
            _ => i.operands().iter().any(|o| self.holding.contains(o)),
        }
    }

    /// Whether a call of a function without a body here may write data to memory.
    fn is_written(&self, call: Value) -> bool {
        let name = call.callee().unwrap_or_default();
        if name.starts_with("llvm.mem") {
            return self.chosen.contains(&call.operand(1)) || self.integers.contains(&call.operand(1));
        }
        if name.starts_with("llvm.") || is_silent(&name) || !call.may_write() {
            return false;
        }
        arguments(call).any(|o| self.is_data(o)) && arguments(call).any(Value::is_pointer)
    }

    /// Follows arguments into the called function.
    fn enter(&mut self, call: Value) {
        let Some(parameters) = call.callee().and_then(|callee| self.parameters.get(&callee)) else { return };
        for (given, &parameter) in call.operands().iter().zip(parameters) {
            for set in [&mut self.integers, &mut self.holding, &mut self.chosen] {
                if set.contains(given) {
                    set.insert(parameter);
                }
            }
        }
    }

    fn places(&self, function: &Body<'_>) -> Vec<Value> {
        let decided = |i: &&Value| match i.op() {
            // Of two numbers that values choose between both are computed, see `value_paths`.
            Some(Op::LLVMSelect) if self.source == Source::Values && i.holds_floats() => false,
            Some(Op::LLVMSelect) => self.integers.contains(&i.operand(0)),
            Some(Op::LLVMCall | Op::LLVMInvoke) => i.called().is_some_and(|callee| self.chosen.contains(&callee)),
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

/// Whether an instruction makes an integer, or a structure with one, of a floating-point number.
fn is_made_of_values(i: Value) -> bool {
    match i.op() {
        Some(Op::LLVMFCmp | Op::LLVMFPToSI | Op::LLVMFPToUI) => true,
        Some(Op::LLVMBitCast) => i.operand(0).holds_floats() && !i.holds_floats(),
        Some(Op::LLVMCall | Op::LLVMInvoke) => foreign_calls::makes_integer_of_float(i),
        _ => false,
    }
}

/// Whether an address is computed as that of a floating-point number.
fn is_place_of_float(place: Value) -> bool {
    // SAFETY: a live `getelementptr`; the types of arrays and vectors have elements.
    unsafe {
        let mut ty: LLVMTypeRef = LLVMGetGEPSourceElementType(place.0);
        while matches!(LLVMGetTypeKind(ty), LLVMTypeKind::LLVMArrayTypeKind | LLVMTypeKind::LLVMVectorTypeKind) {
            ty = LLVMGetElementType(ty);
        }
        matches!(LLVMGetTypeKind(ty), LLVMTypeKind::LLVMFloatTypeKind | LLVMTypeKind::LLVMDoubleTypeKind)
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
    fn what_is_read_through_a_chosen_pointer_decides() {
        let tables = "
            @kinds = external global [4 x i32]
            @names = external constant [4 x ptr]
            declare i32 @strcmp(ptr captures(none), ptr captures(none))
            define void @kind(i64 \"ffgrad.given\" %mode) {
              %place = getelementptr i32, ptr @kinds, i64 %mode
              %kind = load i32, ptr %place
              switch i32 %kind, label %end [ i32 1, label %a ]
            a:
              br label %end
            end:
              ret void
            }
            define void @by_name(i64 \"ffgrad.given\" %mode) {
              %place = getelementptr ptr, ptr @names, i64 %mode
              %name = load ptr, ptr %place
              %order = call i32 @strcmp(ptr %name, ptr @kinds)
              %same = icmp eq i32 %order, 0
              br i1 %same, label %a, label %end
            a:
              br label %end
            end:
              ret void
            }
            define double @row(i64 \"ffgrad.given\" %column, ptr %x) {
              %place = getelementptr double, ptr %x, i64 %column
              %here = icmp eq ptr %place, null
              br i1 %here, label %a, label %end
            a:
              br label %end
            end:
              ret double 0.0
            }";
        assert_eq!(places(tables), [("by_name".to_owned(), 1), ("kind".to_owned(), 1)]);
    }

    #[test]
    fn functions_and_methods_that_are_chosen_decide() {
        let calls = "
            @routines = external constant [4 x ptr]
            @objects = external constant [4 x ptr]
            define double @routine(i64 \"ffgrad.given\" %mode, double %x) {
              %place = getelementptr ptr, ptr @routines, i64 %mode
              %routine = load ptr, ptr %place
              %y = call double %routine(double %x)
              ret double %y
            }
            define i1 @method(i64 \"ffgrad.given\" %mode) {
              %place = getelementptr ptr, ptr @objects, i64 %mode
              %object = load ptr, ptr %place
              %methods = load ptr, ptr %object
              %method = load ptr, ptr %methods
              %is_first = icmp eq ptr %method, @routines
              br i1 %is_first, label %a, label %end
            a:
              br label %end
            end:
              ret i1 %is_first
            }
            define double @fixed(ptr %routine, double %x) {
              %y = call double %routine(double %x)
              ret double %y
            }";
        assert_eq!(places(calls), [("method".to_owned(), 1), ("routine".to_owned(), 1)]);
    }

    #[test]
    fn text_that_is_copied_from_a_chosen_place_decides() {
        let text = "
            @names = external constant [4 x ptr]
            declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
            declare i32 @compare(ptr, ptr)
            define void @copied(i64 \"ffgrad.given\" %mode, ptr %other) {
              %own = alloca [8 x i8]
              %place = getelementptr ptr, ptr @names, i64 %mode
              %name = load ptr, ptr %place
              call void @llvm.memcpy.p0.p0.i64(ptr %own, ptr %name, i64 8, i1 false)
              %order = call i32 @compare(ptr %own, ptr %other)
              %same = icmp eq i32 %order, 0
              br i1 %same, label %a, label %end
            a:
              br label %end
            end:
              ret void
            }";
        assert_eq!(places(text), [("copied".to_owned(), 1)]);
        let unchosen = text.replace(" \"ffgrad.given\" %mode, ptr %other", " %mode, ptr \"ffgrad.given\" %other");
        let unchosen = unchosen.replace("(ptr %own, ptr %other)", "(ptr %own, ptr %name)");
        assert!(places(&unchosen).is_empty());
    }

    #[test]
    fn integers_made_of_values_are_followed_through_arguments_and_memory() {
        let made = "
            define double @caller(double %x) {
              %kind = fptosi double %x to i32
              %y = call double @callee(i32 %kind)
              ret double %y
            }
            define internal double @callee(i32 %kind) {
              switch i32 %kind, label %end [ i32 1, label %a ]
            a:
              br label %end
            end:
              ret double 0.0
            }
            define double @largest(double %x, double %y) {
              %more = fcmp ogt double %x, %y
              %z = select i1 %more, double %x, double %y
              ret double %z
            }";
        assert_eq!(places(made), [("callee".to_owned(), 1)]);
        let exponent = "
            declare double @frexp(double, ptr)
            define double @exponent(double %x) {
              %e = alloca i32
              %m = call double @frexp(double %x, ptr %e)
              %k = load i32, ptr %e
              %large = icmp sgt i32 %k, 4
              br i1 %large, label %a, label %end
            a:
              br label %end
            end:
              ret double %m
            }";
        assert_eq!(places(exponent), [("exponent".to_owned(), 1)]);
    }

    #[test]
    fn functions_without_given_integers_have_none() {
        assert!(places("define void @wrap(ptr %x, i64 %n) {\n  ret void\n}").is_empty());
    }
}

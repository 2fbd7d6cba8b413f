//! Decides whether a function's control flow depends on floating-point values, or on sizes only.
//!
//! "By sizes": branch conditions, trip counts and addresses come from integers that the caller gives, so two calls of one size take the same path.
//! "By values": some of them come from floating-point numbers, by a comparison (`fcmp`), a conversion to an integer (`fptosi`, `lround`, the
//! bits of a number), or an integer or pointer that was chosen, stored or returned on such a condition. Then a derivative that is right at one
//! point implies little about another. A choice between two floating-point numbers (`select` of `fmax` and its like) is no path: both
//! are computed, and nothing else depends on it. The exception is a choice by an equality test, or by one that is as good (`fabs(x) < 1e-9`): there one of the two is for a single value of `x`,
//! which finite differences do not see anywhere else.
//!
//! Equality may also be decided without a branch or a choice: `(x == c) * a`, `table[x != c]`, `(x > 0) - (x < 0)`. Such comparisons are places, too.
//!
//! An integer that is read from the caller's memory (the columns of a sparse matrix) counts as a size here; what integers and pointers decide
//! through calls and memory is found apart ([`integer_flow`]), for the paths of calls only.

use super::{inactive_parts, integer_flow};
use crate::ir::{self, Block, Op, Value};
use core_ad::manifest::{Paths, SourceLine};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use llvm_sys::{LLVMIntPredicate, LLVMRealPredicate};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Functions of the C library that give an integer for a floating-point number.
const ROUNDING: [&str; 8] = ["lround", "llround", "lrint", "llrint", "ilogb", "fpclassify", "__fpclassify", "__isnan"];

/// Where values decide the path of one function: branches, switches, choices and addresses, in order.
#[derive(Clone, Debug, Default)]
pub struct ValuePaths {
    /// Those instructions.
    pub places: Vec<Value>,
}

impl ValuePaths {
    /// Whether sizes decide.
    pub fn by_sizes(&self) -> bool {
        self.places.is_empty()
    }
}

/// Analyses every function of a module. Functions that are not in the map depend on sizes alone.
pub fn of(module: &Module<'_>) -> HashMap<String, ValuePaths> {
    let functions = ir::functions(module);
    let mut known = Known::default();
    // Integers that one function stores or returns are inputs of another.
    loop {
        let before = (known.memory, known.returned.len());
        for function in &functions {
            Slice::of(*function, &known).note(&mut known);
        }
        if before == (known.memory, known.returned.len()) {
            break;
        }
    }
    let name = |f: &FunctionValue<'_>| f.get_name().to_string_lossy().into_owned();
    let all = functions.iter().map(|f| (name(f), Slice::of(*f, &known).paths()));
    all.filter(|(_, paths)| !paths.by_sizes()).collect()
}

/// The same with what integers decide that are given, or made of values and passed on: all places by which one call's path differs
/// from another's of the same size. Inactive text code has none.
pub fn of_calls(module: &Module<'_>) -> HashMap<String, ValuePaths> {
    let mut all = of(module);
    for (function, places) in integer_flow::decided(module) {
        let known = &mut all.entry(function).or_default().places;
        let new: Vec<Value> = places.into_iter().filter(|place| !known.contains(place)).collect();
        known.extend(new);
    }
    for function in inactive_parts::all(module) {
        all.remove(function.get_name().to_string_lossy().as_ref());
    }
    all
}

/// The same for the record of a derivative: one answer, with the source lines. To be asked while the module has debug information.
pub fn record(module: &Module<'_>) -> Paths {
    let all = of_calls(module);
    if all.is_empty() {
        return Paths::Sizes;
    }
    let lines: BTreeSet<SourceLine> = all.values().flat_map(|p| &p.places).filter_map(|i| source_line(*i)).collect();
    Paths::Values(lines.into_iter().collect())
}

/// What is known of all functions.
#[derive(Default)]
struct Known {
    /// Whether integers in memory depend on values.
    memory: bool,
    /// Functions whose integer or pointer does.
    returned: HashSet<String>,
}

/// The parts of a function that depend on values.
struct Slice {
    blocks: Vec<Block>,
    depends: HashSet<Value>,
    /// Whether some branch does.
    branches: bool,
}

impl Slice {
    fn of(function: FunctionValue<'_>, known: &Known) -> Slice {
        let blocks = ir::blocks(function);
        let mut slice = Slice { blocks, depends: HashSet::new(), branches: false };
        let all: Vec<Value> = slice.blocks.iter().flat_map(|b| b.instructions()).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for &i in &all {
                if !slice.depends.contains(&i) && slice.depends_on_values(i, known) {
                    slice.depends.insert(i);
                    changed = true;
                    slice.branches |= is_branch(i);
                }
            }
        }
        slice
    }

    fn depends_on_values(&self, i: Value, known: &Known) -> bool {
        let an_operand = || i.operands().iter().any(|o| self.depends.contains(o));
        match i.op() {
            Some(Op::LLVMFCmp | Op::LLVMFPToSI | Op::LLVMFPToUI) => true,
            Some(Op::LLVMBitCast) => i.operand(0).holds_floats() && !i.holds_floats(),
            Some(Op::LLVMLoad) => known.memory && !i.holds_floats() && !i.is_pointer(),
            // The path to this point may depend on values: a function with such branches may choose any value by it.
            Some(Op::LLVMPHI) if !i.holds_floats() => self.branches && varies(i) || an_operand(),
            Some(Op::LLVMSelect) if i.holds_floats() => false,
            Some(Op::LLVMCall | Op::LLVMInvoke) if !i.holds_floats() => i.callee().is_none_or(|name| {
                let plain = name.strip_prefix("llvm.").unwrap_or(&name);
                known.returned.contains(&name) || ROUNDING.iter().any(|r| plain.starts_with(r))
            }),
            Some(Op::LLVMCall | Op::LLVMInvoke | Op::LLVMStore) => false,
            _ => an_operand(),
        }
    }

    fn note(&self, known: &mut Known) {
        for i in self.blocks.iter().flat_map(|b| b.instructions()) {
            match i.op() {
                Some(Op::LLVMStore) if !i.operand(0).holds_floats() => {
                    known.memory |= self.branches || self.depends.contains(&i.operand(0));
                }
                Some(Op::LLVMRet) if i.operands().first().is_some_and(|v| self.depends.contains(v)) => {
                    known.returned.insert(name_of(i.parent()));
                }
                _ => {}
            }
        }
    }

    fn paths(&self) -> ValuePaths {
        let all: Vec<Value> = self.blocks.iter().flat_map(|b| b.instructions()).collect();
        let opposite = opposites(&all);
        let is_on_path = |i: &Value| match i.op() {
            Some(Op::LLVMFCmp) => is_number(*i) && tests_equality(*i) || opposite.contains(i),
            Some(Op::LLVMICmp) => (is_number(*i) || chooses_numbers(*i)) && compares_bits(*i),
            Some(Op::LLVMGetElementPtr) => i.operands()[1..].iter().any(|o| self.depends.contains(o)),
            Some(Op::LLVMSelect) => {
                self.depends.contains(&i.operand(0)) && (!i.holds_floats() || tests_equality(i.operand(0)))
            }
            _ => is_branch(*i) && self.depends.contains(i),
        };
        ValuePaths { places: all.iter().copied().filter(is_on_path).collect() }
    }
}

/// Whether an instruction is a branch or switch with a condition.
pub fn is_branch(i: Value) -> bool {
    i.is(Op::LLVMSwitch) || i.is(Op::LLVMBr) && i.operands().len() == 3
}

/// Whether a condition is used as a number: in arithmetic, as an index, or stored.
fn is_number(condition: Value) -> bool {
    condition.users().into_iter().any(|user| match user.op() {
        Some(Op::LLVMAnd | Op::LLVMOr | Op::LLVMXor) => is_number(user),
        op => matches!(op, Some(Op::LLVMZExt | Op::LLVMSExt | Op::LLVMUIToFP | Op::LLVMSIToFP)),
    })
}

fn chooses_numbers(condition: Value) -> bool {
    condition.users().into_iter().any(|user| user.is(Op::LLVMSelect) && user.holds_floats())
}

/// Comparisons `a < b` beside `a > b` that do not only branch: where both are false, the numbers are equal. One of each pair.
fn opposites(all: &[Value]) -> HashSet<Value> {
    let direction = |test: Value| {
        // SAFETY: a live `fcmp`.
        match unsafe { LLVMGetFCmpPredicate(test.0) } {
            LLVMRealPredicate::LLVMRealOLT | LLVMRealPredicate::LLVMRealULT => Some(-1),
            LLVMRealPredicate::LLVMRealOGT | LLVMRealPredicate::LLVMRealUGT => Some(1),
            _ => None,
        }
    };
    let mut seen: HashMap<(Value, Value, i32), Value> = HashMap::new();
    let mut found = HashSet::new();
    for &test in all.iter().filter(|i| i.is(Op::LLVMFCmp) && (is_number(**i) || chooses_numbers(**i))) {
        let (Some(sign), a, b) = (direction(test), test.operand(0), test.operand(1)) else { continue };
        if seen.contains_key(&(a, b, -sign)) || seen.contains_key(&(b, a, sign)) {
            found.insert(test);
        }
        seen.insert((a, b, sign), test);
    }
    found
}

/// Whether a comparison of integers is one of the bits of two numbers.
pub fn compares_bits(test: Value) -> bool {
    let is_bits = |value: Value| {
        let is_marked = value.callee().is_some_and(|name| ir::markers::is_bits(&name));
        is_marked || value.is(Op::LLVMBitCast) && value.operand(0).is_float()
    };
    // SAFETY: a live `icmp`.
    let predicate = unsafe { LLVMGetICmpPredicate(test.0) };
    matches!(predicate, LLVMIntPredicate::LLVMIntEQ | LLVMIntPredicate::LLVMIntNE)
        && test.operands().into_iter().any(is_bits)
}

/// At most so far from zero is as good as equal to it, in a test for that.
const NARROW: f64 = 1e-6;

/// Whether a condition is, or combines, a test of floating-point numbers for equality, or for what is as good as that.
pub fn tests_equality(condition: Value) -> bool {
    match condition.op() {
        Some(Op::LLVMFCmp) => {
            // SAFETY: a live `fcmp`.
            let predicate = unsafe { LLVMGetFCmpPredicate(condition.0) };
            let is_exact = matches!(
                predicate,
                LLVMRealPredicate::LLVMRealOEQ
                    | LLVMRealPredicate::LLVMRealONE
                    | LLVMRealPredicate::LLVMRealUEQ
                    | LLVMRealPredicate::LLVMRealUNE
            );
            is_exact || is_narrow(condition)
        }
        Some(Op::LLVMAnd | Op::LLVMOr | Op::LLVMXor) => condition.operands().into_iter().any(tests_equality),
        // `a && b` and `a || b` without poison.
        Some(Op::LLVMSelect) => condition.operands().into_iter().any(tests_equality),
        _ => false,
    }
}

/// Whether a comparison is one of a magnitude with a number next to zero: `fabs(x - y) < 1e-9`.
pub fn is_narrow(test: Value) -> bool {
    let (magnitude, limit, mut loses) = (test.operand(0), test.operand(1), 0);
    // SAFETY: a live constant number.
    let mut is_small = |limit: Value| (0.0..=NARROW).contains(&unsafe { LLVMConstRealGetDouble(limit.0, &mut loses) });
    magnitude.callee().is_some_and(|name| name.starts_with("llvm.fabs.")) && limit.is_number() && is_small(limit)
}

/// Whether a phi merges different values.
fn varies(phi: Value) -> bool {
    let all = phi.incoming();
    all.iter().any(|(value, _)| *value != all[0].0)
}

/// Where an instruction stands in the user's source.
fn source_line(i: Value) -> Option<SourceLine> {
    // SAFETY: a live instruction, whose debug location, where it has one, names a file for as long.
    unsafe {
        let line = LLVMGetDebugLocLine(i.0);
        let mut length = 0;
        let file = LLVMGetDebugLocFilename(i.0, &mut length);
        if line == 0 || file.is_null() {
            return None;
        }
        let file = std::slice::from_raw_parts(file.cast::<u8>(), length as usize);
        Some(SourceLine { file: String::from_utf8_lossy(file).into_owned(), line })
    }
}

fn name_of(block: Block) -> String {
    // SAFETY: a live block of a function, whose name lives as long.
    unsafe {
        let mut length = 0;
        let name = LLVMGetValueName2(LLVMGetBasicBlockParent(block.0), &mut length);
        String::from_utf8_lossy(std::slice::from_raw_parts(name.cast::<u8>(), length)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// The functions whose path depends on values.
    fn by_values(ir: &str) -> Vec<String> {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(ir.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).unwrap_or_else(|e| panic!("{e}"));
        let mut names: Vec<String> = of(&module).into_keys().collect();
        names.sort();
        names
    }

    #[test]
    fn sizes_decide_where_only_numbers_are_chosen() {
        let loops = "
            define double @largest(ptr %x, i64 %n) {
            start:
              br label %loop
            loop:
              %i = phi i64 [ 0, %start ], [ %next, %loop ]
              %most = phi double [ 0.0, %start ], [ %more, %loop ]
              %place = getelementptr double, ptr %x, i64 %i
              %read = load double, ptr %place
              %is_more = fcmp ogt double %read, %most
              %more = select i1 %is_more, double %read, double %most
              %next = add i64 %i, 1
              %done = icmp eq i64 %next, %n
              br i1 %done, label %end, label %loop
            end:
              ret double %more
            }";
        assert!(by_values(loops).is_empty());
    }

    #[test]
    fn a_choice_by_an_equality_test_is_decided_by_a_value() {
        let guarded = "
            define double @guarded(double %x, double %y) {
              %special = fcmp oeq double %x, 2.0
              %z = select i1 %special, double 0.0, double %y
              ret double %z
            }";
        assert_eq!(by_values(guarded), ["guarded"]);
    }

    #[test]
    fn equality_that_is_a_number_is_decided_by_a_value() {
        let functions = "
            define double @mask(double %x) {
              %equal = fcmp oeq double %x, 2.0
              %one = uitofp i1 %equal to double
              ret double %one
            }
            define i32 @sign(double %x) {
              %more = fcmp ogt double %x, 0.0
              %less = fcmp olt double %x, 0.0
              %a = zext i1 %more to i32
              %b = zext i1 %less to i32
              %sign = sub i32 %a, %b
              ret i32 %sign
            }
            define i32 @positive(double %x) {
              %more = fcmp ogt double %x, 0.0
              %a = zext i1 %more to i32
              ret i32 %a
            }
            define double @bits(double %x) {
              %bits = bitcast double %x to i64
              %same = icmp eq i64 %bits, 4607182418800017408
              %y = select i1 %same, double 0.0, double %x
              ret double %y
            }";
        assert_eq!(by_values(functions), ["bits", "mask", "sign"]);
    }

    #[test]
    fn values_decide_branches_addresses_and_what_is_stored_by_them() {
        let functions = "
            define i64 @round(double %x) {
              %k = fptosi double %x to i64
              ret i64 %k
            }
            define double @look_up(ptr %t, double %x) {
              %k = call i64 @round(double %x)
              %place = getelementptr double, ptr %t, i64 %k
              %read = load double, ptr %place
              ret double %read
            }
            define void @mark(ptr %last, double %x) {
              %negative = fcmp olt double %x, 0.0
              br i1 %negative, label %yes, label %no
            yes:
              store i64 1, ptr %last
              br label %no
            no:
              ret void
            }
            define double @at_last(ptr %t, ptr %last) {
              %k = load i64, ptr %last
              %place = getelementptr double, ptr %t, i64 %k
              %read = load double, ptr %place
              ret double %read
            }
            define double @first(ptr %t) {
              %read = load double, ptr %t
              ret double %read
            }";
        assert_eq!(by_values(functions), ["at_last", "look_up", "mark"]);
    }
}

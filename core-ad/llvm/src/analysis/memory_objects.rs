//! Memory objects of a function: which one a pointer points into, and what reads and writes it.
//!
//! An object is what a `noalias` parameter points to, or what the function allocates. Two objects never overlap. An object
//! whose address is used by anything but loads, stores and their like escapes, and nothing is concluded about it.

use crate::ir::markers::{CAPTURE, CLOBBER, is_type_marker};
use crate::ir::{self, Op, Value};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::values::FunctionValue;
use llvm_sys::LLVMTypeKind::*;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMTypeRef;
use std::collections::{HashMap, HashSet};

/// One piece of memory.
#[derive(Debug)]
pub struct Object {
    /// The parameter's index.
    pub parameter: Option<u32>,
    /// What reads it: loads, copies from it, and calls that may.
    pub reads: Vec<Value>,
    /// What writes it: stores, copies to it, and calls that may.
    pub writes: Vec<Value>,
    /// Its address is used by anything that is not understood.
    pub escapes: bool,
}

/// The objects of a function.
pub struct Objects {
    all: Vec<Object>,
    of_pointer: HashMap<Value, Vec<usize>>,
}

impl Objects {
    /// Analyses a function.
    pub fn of(function: FunctionValue<'_>) -> Objects {
        let noalias = Attribute::get_named_enum_kind_id("noalias");
        let mut found = Objects { all: Vec::new(), of_pointer: HashMap::new() };
        for (i, argument) in (0u32..).zip(ir::arguments(function)) {
            if function.get_enum_attribute(AttributeLoc::Param(i), noalias).is_some() {
                found.add(argument, Some(i));
            }
        }
        for instruction in ir::blocks(function).into_iter().flat_map(ir::Block::instructions) {
            if instruction.is(Op::LLVMAlloca) || instruction.callee().is_some_and(|name| allocates(&name)) {
                found.add(instruction, None);
            }
        }
        found.give_up_mixtures();
        found
    }

    /// A pointer that may point into an object or elsewhere implies nothing about either.
    fn give_up_mixtures(&mut self) {
        let known = |value: Value| self.of_pointer.contains_key(&value) || value.is_null_or_undefined();
        let pointers = |merge: Value| match merge.is(Op::LLVMSelect) {
            true => vec![merge.operand(1), merge.operand(2)],
            false => merge.incoming().into_iter().map(|(value, _)| value).collect(),
        };
        let merges = self.of_pointer.iter().filter(|(p, _)| p.is(Op::LLVMPHI) || p.is(Op::LLVMSelect));
        let mixed =
            merges.filter(|(p, _)| !pointers(**p).into_iter().all(known)).flat_map(|(_, objects)| objects.clone());
        for number in mixed.collect::<Vec<usize>>() {
            self.all[number].escapes = true;
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Object)> {
        self.all.iter().enumerate()
    }

    /// One of them.
    pub fn get(&self, number: usize) -> &Object {
        &self.all[number]
    }

    /// The objects that a pointer may point into; empty if that is not known.
    pub fn underlying(&self, pointer: Value) -> &[usize] {
        self.of_pointer.get(&pointer).map_or(&[], Vec::as_slice)
    }

    fn add(&mut self, origin: Value, parameter: Option<u32>) {
        let number = self.all.len();
        let mut object = Object { parameter, reads: Vec::new(), writes: Vec::new(), escapes: false };
        let mut seen = HashSet::from([origin]);
        let mut open = vec![origin];
        while let Some(pointer) = open.pop() {
            self.of_pointer.entry(pointer).or_default().push(number);
            for user in pointer.users() {
                match object.note(pointer, user) {
                    Use::Derived if seen.insert(user) => open.push(user),
                    _ => {}
                }
            }
        }
        self.all.push(object);
    }
}

/// What a use does with a pointer.
enum Use {
    /// Another pointer into the same object.
    Derived,
    /// Nothing that can be followed further.
    Done,
}

impl Object {
    fn note(&mut self, pointer: Value, user: Value) -> Use {
        match user.op() {
            Some(Op::LLVMGetElementPtr | Op::LLVMPHI | Op::LLVMSelect) if user.is_pointer() => return Use::Derived,
            Some(Op::LLVMLoad) if !user.is_special() => self.reads.push(user),
            Some(Op::LLVMStore) if !user.is_special() && user.operand(0) != pointer => self.writes.push(user),
            Some(Op::LLVMICmp) => {}
            Some(Op::LLVMCall) => self.note_call(pointer, user),
            _ => self.escapes = true,
        }
        Use::Done
    }

    fn note_call(&mut self, pointer: Value, call: Value) {
        let name = call.callee().unwrap_or_default();
        if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
            if call.operand(0) == pointer {
                self.writes.push(call);
            }
            if call.operand(1) == pointer {
                self.reads.push(call);
            }
        } else if name.starts_with("llvm.memset.") {
            self.writes.push(call);
        } else if name.starts_with("llvm.lifetime.") {
            // It promises to keep no copy, too.
        } else if call.keeps_no_copy_of(pointer) {
            self.reads.push(call);
            if !call.only_reads(pointer) {
                self.writes.push(call);
            }
        } else if !is_neutral(&name) {
            self.escapes = true;
        }
    }
}

/// Functions that return memory of its own.
pub fn allocates(name: &str) -> bool {
    matches!(name, "malloc" | "calloc" | "_Znwm" | "_Znam" | "ffgrad_malloc" | "ffgrad_calloc")
}

/// Functions that neither read nor write what they are given.
pub fn is_neutral(name: &str) -> bool {
    matches!(name, "free" | "_ZdlPv" | "_ZdlPvm" | "_ZdaPv" | "_ZdaPvm" | CLOBBER | CAPTURE)
        || name.starts_with("llvm.lifetime.")
        || is_type_marker(name)
}

/// The objects that a pointer may be based on.
pub fn origins(pointer: Value) -> HashSet<Value> {
    let (mut found, mut seen, mut open) = (HashSet::new(), HashSet::new(), vec![pointer]);
    while let Some(value) = open.pop() {
        if !seen.insert(value) || value.is_null_or_undefined() {
            continue;
        }
        match value.op() {
            Some(Op::LLVMGetElementPtr) => open.push(value.operand(0)),
            Some(Op::LLVMSelect) => open.extend([value.operand(1), value.operand(2)]),
            Some(Op::LLVMPHI) => open.extend(value.incoming().into_iter().map(|(incoming, _)| incoming)),
            _ => {
                found.insert(value);
            }
        }
    }
    found
}

/// Whether an object of a type has floating-point numbers in it.
///
/// # Safety
///
/// The type is a live one.
pub unsafe fn contains_floats(ty: LLVMTypeRef) -> bool {
    // SAFETY: each question is asked of the kind of type that it is for.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMFloatTypeKind | LLVMDoubleTypeKind => true,
            LLVMArrayTypeKind | LLVMVectorTypeKind => contains_floats(LLVMGetElementType(ty)),
            LLVMStructTypeKind => {
                (0..LLVMCountStructElementTypes(ty)).any(|i| contains_floats(LLVMStructGetTypeAtIndex(ty, i)))
            }
            _ => false,
        }
    }
}

/// Whether no address is in an object of a type.
///
/// # Safety
///
/// The type is a live one.
pub unsafe fn holds_numbers_only(ty: LLVMTypeRef) -> bool {
    // SAFETY: each question is asked of the kind of type that it is for.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMFloatTypeKind | LLVMDoubleTypeKind | LLVMIntegerTypeKind => true,
            LLVMArrayTypeKind | LLVMVectorTypeKind => holds_numbers_only(LLVMGetElementType(ty)),
            LLVMStructTypeKind => {
                (0..LLVMCountStructElementTypes(ty)).all(|i| holds_numbers_only(LLVMStructGetTypeAtIndex(ty, i)))
            }
            _ => false,
        }
    }
}

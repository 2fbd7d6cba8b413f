//! The two structures with what goes from iteration to iteration: numbers, and all else.

use crate::ir::{Op, Value, metadata};
use crate::lowering::caught::build::Edit;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMTypeRef, LLVMValueRef};

/// The kinds of value that can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `float` or `double`.
    Number,
    /// An integer of at most 64 bits.
    Integer,
    /// An address.
    Pointer,
}

impl Kind {
    /// That of a value; `None` of structures, vectors and long numbers.
    pub fn of(value: Value) -> Option<Kind> {
        // SAFETY: the type of a live value.
        let (kind, ty) = unsafe { (LLVMGetTypeKind(value.ty()), value.ty()) };
        match kind {
            LLVMTypeKind::LLVMFloatTypeKind | LLVMTypeKind::LLVMDoubleTypeKind => Some(Kind::Number),
            LLVMTypeKind::LLVMPointerTypeKind => Some(Kind::Pointer),
            // SAFETY: an integer type.
            LLVMTypeKind::LLVMIntegerTypeKind if unsafe { LLVMGetIntTypeWidth(ty) } <= 64 => Some(Kind::Integer),
            _ => None,
        }
    }
}

/// A place in one of the structures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// A field of the numbers.
    Number(u32),
    /// A field of the control structure.
    Control(u32),
}

/// The structures.
pub struct Slots {
    numbers_type: LLVMTypeRef,
    control_type: LLVMTypeRef,
    /// The variable with numbers.
    pub numbers: Value,
    /// The variable with the rest: how the loop ended, then the address and the region of each pointer, then integers.
    pub control: Value,
}

/// The layout of the structures while it grows.
pub struct Layout {
    numbers: Vec<LLVMTypeRef>,
    control: Vec<LLVMTypeRef>,
}

impl Layout {
    /// With room for so many pointers.
    pub fn new(edit: &Edit, pointers: usize) -> Layout {
        Layout { numbers: Vec::new(), control: vec![edit.i64; 1 + 2 * pointers] }
    }

    /// A place for a number or an integer.
    pub fn add(&mut self, value: Value) -> Slot {
        match value.holds_floats() {
            true => {
                self.numbers.push(value.ty());
                Slot::Number(self.numbers.len() as u32 - 1)
            }
            false => {
                self.control.push(value.ty());
                Slot::Control(self.control.len() as u32 - 1)
            }
        }
    }

    /// The variables, at the beginning of a function.
    pub fn build(mut self, edit: &Edit, function: FunctionValue<'_>) -> Slots {
        // SAFETY: builds at the beginning of a live function; types of its context.
        unsafe {
            if self.numbers.is_empty() {
                self.numbers.push(LLVMDoubleTypeInContext(edit.context));
            }
            let structure = |fields: &mut [LLVMTypeRef]| {
                LLVMStructTypeInContext(edit.context, fields.as_mut_ptr(), fields.len() as u32, 0)
            };
            let (numbers_type, control_type) = (structure(&mut self.numbers), structure(&mut self.control));
            let entry = LLVMGetEntryBasicBlock(function.as_value_ref());
            LLVMPositionBuilderBefore(edit.builder, LLVMGetFirstInstruction(entry));
            let numbers = Value(LLVMBuildAlloca(edit.builder, numbers_type, c"numbers".as_ptr()));
            let control = Value(LLVMBuildAlloca(edit.builder, control_type, c"control".as_ptr()));
            Slots { numbers_type, control_type, numbers, control }
        }
    }
}

// SAFETY of every block below: the builder is positioned in a function where the address holds.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Slots {
    fn place(&self, edit: &Edit, slot: Slot) -> LLVMValueRef {
        let (ty, base, field) = match slot {
            Slot::Number(field) => (self.numbers_type, self.numbers, field),
            Slot::Control(field) => (self.control_type, self.control, field),
        };
        unsafe { LLVMBuildStructGEP2(edit.builder, ty, base.0, field, c"".as_ptr()) }
    }

    /// Loads from a slot, at the builder's position.
    pub fn load(&self, edit: &Edit, slot: Slot, ty: LLVMTypeRef) -> Value {
        let loaded = Value(unsafe { LLVMBuildLoad2(edit.builder, ty, self.place(edit, slot), c"".as_ptr()) });
        say(loaded, loaded);
        loaded
    }

    /// Stores to a slot.
    pub fn store(&self, edit: &Edit, slot: Slot, value: Value) {
        let stored = Value(unsafe { LLVMBuildStore(edit.builder, value.0, self.place(edit, slot)) });
        say(stored, value);
    }

    /// The size of both structures in bytes, numbers first.
    pub fn sizes(&self, edit: &Edit) -> [Value; 2] {
        [self.numbers_type, self.control_type]
            .map(|ty| Value(unsafe { LLVMBuildIntCast2(edit.builder, LLVMSizeOf(ty), edit.i64, 0, c"".as_ptr()) }))
    }
}

/// Tells Enzyme the type of what is accessed; an address, as a number too, it sees itself.
fn say(access: Value, value: Value) {
    if value.is_pointer() || value.is(Op::LLVMPtrToInt) {
        return;
    }
    let scalar = match (value.is_double(), value.is_float()) {
        (true, _) => "double",
        (_, true) => "float",
        _ => "long",
    };
    metadata::say_what_is_accessed(access, scalar);
}

//! Keeps apart the types of objects of several classes that one pointer may lead to.
//!
//! ```text
//! std::vector<std::unique_ptr<Term>> terms;                 // Linear: two numbers; Table: a std::vector; Power: an integer
//! terms.push_back(std::make_unique<Linear>(a, b));          // the address of an object is stored: object(address)
//! for (auto &t : terms) s += t->eval(x);                    // each of the functions that it may call has a view: eval(object(t))
//! ```
//!
//! Enzyme knows one type for all memory that a pointer may lead to, and refuses numbers at an offset where another class has an address
//! ("Illegal updateAnalysis"). [`markers::object`] returns its argument, and type analysis does not look through it. So what is stored has
//! the type of all classes, their virtual table, and only who creates an object or is called for it has its own.

use crate::analysis::virtual_tables::is_in_table;
use crate::ir::{self, Op, Value, markers};
use crate::workarounds::phi_pointers::set_active;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::types::AsTypeRef;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;

/// Number of the zero that hides from Enzyme that the result is the argument.
const ZERO: u64 = 0x0b_1ec7;

/// Calls of constructors inside of constructors that are followed.
const MOST_CALLS: usize = 6;

/// Marks the addresses of objects that are stored, where virtual calls have views. Gives the function its body for Enzyme. `active`: the objects
/// are active, whatever is done with them. Enzyme takes one that is written constants only for inactive, and keeps the adjoints of what was there;
/// where what is passed has no shadow, only runtime activity finds that out.
pub fn run(module: &Module<'_>, active: bool) {
    let Some(view) = module.get_function(markers::OBJECT) else { return };
    for new in ir::all_instructions(module).into_iter().filter(|i| i.is(Op::LLVMCall) || i.is(Op::LLVMInvoke)) {
        if new.is_pointer() && new.called() != Some(Value(view.as_value_ref())) {
            mark(module, new);
        }
    }
    define(module, view);
    for call in Value(view.as_value_ref()).users().into_iter().filter(|user| user.called().is_some()) {
        if ir::is_argument(call.operand(0)) {
            clobber(module, call);
        }
        if active {
            set_active(call);
        }
    }
}

/// Gives the function its body. Enzyme, too, would pass by a function that just returns its argument.
pub fn define(module: &Module<'_>, view: FunctionValue<'_>) {
    if view.count_basic_blocks() > 0 {
        return;
    }
    let context = module.get_context();
    let zero = markers::opaque_zero(module, ZERO);
    view.set_linkage(Linkage::Internal);
    // SAFETY: a block of a function without body; the offset is 0.
    unsafe {
        let byte = context.i8_type().as_type_ref();
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderAtEnd(builder, context.append_basic_block(view, "").as_mut_ptr());
        let name = c"".as_ptr();
        let word = context.i64_type().as_type_ref();
        let zero = LLVMBuildLoad2(builder, word, zero.as_value_ref(), name);
        // Without a use the number of the view would be left out, and calls for several views be one.
        let number = LLVMBuildZExt(builder, LLVMGetParam(view.as_value_ref(), 1), word, name);
        let mut offset = LLVMBuildMul(builder, zero, number, name);
        let object = LLVMGetParam(view.as_value_ref(), 0);
        LLVMBuildRet(builder, LLVMBuildGEP2(builder, byte, object, &mut offset, 1, name));
        LLVMDisposeBuilder(builder);
    }
    for flag in ["noinline", "optnone"] {
        let kind = Attribute::get_named_enum_kind_id(flag);
        view.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
    }
}

/// Says that a function may read and write what its argument leads to. Enzyme takes an argument for one that is not accessed where it is given
/// to a function without effects only, whatever becomes of the result: stores before and loads after the call would not see the object change.
fn clobber(module: &Module<'_>, call: Value) {
    let clobber = markers::clobber(module).as_value_ref();
    // SAFETY: a live call of the module, and a function of it with one pointer.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, call.0);
        let ty = LLVMGlobalGetValueType(clobber);
        LLVMBuildCall2(builder, ty, clobber, &mut call.operand(0).0, 1, c"".as_ptr());
        LLVMDisposeBuilder(builder);
    }
}

/// Has LLVM inline it again.
pub fn undo(module: &Module<'_>) {
    for function in
        ir::functions(module).into_iter().filter(|f| f.get_name().to_string_lossy().contains(markers::OBJECT))
    {
        for flag in ["optnone", "noinline"] {
            function.remove_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id(flag));
        }
    }
}

/// Marks the addresses of one allocation, if there is an object in it.
fn mark(module: &Module<'_>, new: Value) {
    let addresses = addresses_in(new);
    if !addresses.iter().any(|a| is_constructed(*a, MOST_CALLS)) {
        return;
    }
    for address in addresses {
        let escapes: Vec<Value> = address.users().into_iter().filter(|user| escapes(address, *user)).collect();
        if !escapes.is_empty() {
            let marked = marked(module, address);
            escapes.into_iter().for_each(|user| replace(user, address, marked));
        }
    }
}

/// An allocation and the addresses of its members.
fn addresses_in(new: Value) -> Vec<Value> {
    let mut all = vec![new];
    let mut next = 0;
    while let Some(address) = all.get(next).copied() {
        next += 1;
        let is_member = |user: &Value| {
            user.is(Op::LLVMGetElementPtr) && user.operand(0) == address && {
                user.operands().into_iter().skip(1).all(|index| index.constant().is_some())
            }
        };
        all.extend(address.users().into_iter().filter(is_member));
    }
    all
}

/// Whether the address of a virtual table is stored there, or a constructor is called that does so.
fn is_constructed(address: Value, calls: usize) -> bool {
    address.users().into_iter().any(|user| match user.op() {
        Some(Op::LLVMStore) => user.operand(1) == address && is_in_table(user.operand(0)),
        Some(Op::LLVMCall | Op::LLVMInvoke) => calls > 0 && constructs(user, address, calls - 1),
        _ => false,
    })
}

fn constructs(call: Value, address: Value, calls: usize) -> bool {
    let Some(callee) = call.called().filter(|_| call.calls_a_body()) else { return false };
    // SAFETY: a live function, with as many parameters as it says.
    unsafe {
        let parameters = LLVMCountParams(callee.0);
        let of_address = (0..parameters.min(LLVMGetNumArgOperands(call.0))).filter(|i| call.operand(*i) == address);
        of_address.map(|i| Value(LLVMGetParam(callee.0, i))).any(|p| is_constructed(p, calls))
    }
}

/// Whether a user takes an address elsewhere, rather than access what is there.
fn escapes(address: Value, user: Value) -> bool {
    match user.op() {
        Some(Op::LLVMStore) => user.operand(0) == address,
        // The result of an invoke is there on its edge, what marks it only behind that.
        Some(Op::LLVMPHI) => !address.is(Op::LLVMInvoke),
        Some(Op::LLVMSelect | Op::LLVMRet | Op::LLVMInsertValue) => true,
        _ => false,
    }
}

/// The address, marked right behind its definition.
fn marked(module: &Module<'_>, address: Value) -> Value {
    // SAFETY: a live instruction, whose value is defined at the place behind it.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        let place = match address.is(Op::LLVMInvoke) {
            true => ir::Block(LLVMGetNormalDest(address.0)).first_after_phis(),
            false => address.next(),
        };
        LLVMPositionBuilderBefore(builder, place.0);
        let call = markers::call_object(module, builder, address.0, 0);
        LLVMDisposeBuilder(builder);
        Value(call)
    }
}

fn replace(user: Value, address: Value, marked: Value) {
    for (i, operand) in user.operands().into_iter().enumerate() {
        if operand == address {
            // SAFETY: a live instruction that has this operand.
            unsafe { LLVMSetOperand(user.0, i as u32, marked.0) };
        }
    }
}

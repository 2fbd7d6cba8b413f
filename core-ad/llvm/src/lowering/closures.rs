//! Closures in `std::function`, and values in `std::any`: keeps apart the types of what several of them hold.
//!
//! A function object of libstdc++ has the address of its closure, which it keeps on the heap (`rules/include/stdcxx`), and the addresses of
//! functions that call, copy and destroy it. Those have views of their own by [`super::indirect_calls`]. Here the address that is kept is marked,
//! so that Enzyme does not take the closures that a vector of function objects leads to for objects of one type.

//!
//! The value of an object of `std::any` is on the heap as well, and its address is read and written by functions of its type only, of which each has a view.

use crate::analysis::virtual_tables::symbol;
use crate::ir::{self, Op, Value, markers};
use inkwell::module::Module;
use inkwell::values::AsValueRef;
use llvm_sys::core::*;
use std::collections::HashMap;

/// Bytes of an address.
const WORD: i64 = 8;

/// Whether a function is one that a function object of libstdc++ keeps the address of.
pub fn is_handler(symbol: &str) -> bool {
    symbol.starts_with("_ZNSt17_Function_handlerI")
}

/// What the names of functions begin with that know the type of a value in `std::any`.
const OF_VALUES: &str = "_ZNSt3any17_Manager_externalI";

/// Marks the addresses of values in `std::any` where they are read and written.
pub fn mark_values(module: &Module<'_>) {
    let of_values =
        ir::functions(module).into_iter().filter(|f| symbol(Value(f.as_value_ref())).starts_with(OF_VALUES));
    let mut views: HashMap<String, u32> = HashMap::new();
    for function in of_values {
        let name = symbol(Value(function.as_value_ref()));
        let end = ["E8_S_access", "E9_S_create", "E9_S_manage"].iter().filter_map(|member| name.find(member)).min();
        let class = end.map_or(name.as_str(), |end| &name[..end]).to_owned();
        let number = FIRST_VIEW + u32::try_from(views.len()).unwrap_or(0);
        let view = *views.entry(class).or_insert(number);
        for i in ir::blocks(function).into_iter().flat_map(|b| b.instructions()) {
            let place = match i.op() {
                Some(Op::LLVMLoad) if i.is_pointer() => i.operand(0),
                Some(Op::LLVMStore) if i.operand(0).is_pointer() => i.operand(1),
                _ => continue,
            };
            if !place.is(Op::LLVMAlloca) {
                mark_address(module, i, view);
            }
        }
    }
}

/// Gives the address that is loaded or stored a view of its own.
fn mark_address(module: &Module<'_>, i: Value, view: u32) {
    // SAFETY: a live load or store, which is no terminator.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        if i.is(Op::LLVMStore) {
            LLVMPositionBuilderBefore(builder, i.0);
            LLVMSetOperand(i.0, 0, markers::call_object(module, builder, i.operand(0).0, view));
        } else {
            LLVMPositionBuilderBefore(builder, i.next().0);
            let users = i.users();
            let marked = Value(markers::call_object(module, builder, i.0, view));
            for user in users {
                (0..)
                    .zip(user.operands())
                    .filter(|(_, operand)| *operand == i)
                    .for_each(|(n, _)| LLVMSetOperand(user.0, n, marked.0));
            }
        }
        LLVMDisposeBuilder(builder);
    }
}

/// Views below are of dispatchers.
const FIRST_VIEW: u32 = 1 << 16;

/// Whether it manages a closure: its first two parameters are function objects.
pub fn is_manager(symbol: &str) -> bool {
    is_handler(symbol) && symbol.contains("10_M_manager")
}

/// Marks the addresses of closures that are stored in function objects, and says what a copy of a function object moves.
pub fn mark(module: &Module<'_>) {
    let all = ir::all_instructions(module);
    all.iter().filter(|i| is_copy_of_object(**i)).for_each(|copy| copy_words(module, *copy));
    let is_address = |store: &&Value| store.operand(0).is_pointer() && store.operand(0).is_instruction();
    let stores = all.iter().filter(|i| i.is(Op::LLVMStore)).filter(is_address);
    stores.filter(|store| is_closure_of_object(store.operand(1))).for_each(|store| mark_address(module, *store, 0));
}

/// Whether a place is that of the closure's address in a function object.
fn is_closure_of_object(place: Value) -> bool {
    place.callee().is_some_and(|name| name.starts_with("_ZNSt9_Any_data9_M_accessI"))
}

/// Whether it copies what a function object has of its closure: the address, and a second word.
fn is_copy_of_object(copy: Value) -> bool {
    if !copy.callee().is_some_and(|name| name.starts_with("llvm.memcpy.p0.p0.i64")) {
        return false;
    }
    // SAFETY: a live instruction of a function.
    let function = symbol(Value(unsafe { LLVMGetBasicBlockParent(copy.parent().0) }));
    let of_objects = function.starts_with("_ZNSt8functionI") || function.starts_with("_ZSt4swapISt9_Any_dataE");
    of_objects && copy.operand(2).constant() == Some(2 * WORD)
}

/// Copies the address as a pointer. The second word is one only where compiled code has made the function object.
fn copy_words(module: &Module<'_>, copy: Value) {
    // SAFETY: a live copy of two words, before which its operands are defined.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, copy.0);
        let word = LLVMInt64TypeInContext(context);
        let second = |side: Value| {
            LLVMBuildGEP2(builder, word, side.0, [LLVMConstInt(word, 1, 0)].as_mut_ptr(), 1, c"".as_ptr())
        };
        let (to, from) = (copy.operand(0), copy.operand(1));
        let address = LLVMBuildLoad2(builder, LLVMPointerTypeInContext(context, 0), from.0, c"".as_ptr());
        let rest = LLVMBuildLoad2(builder, word, second(from), c"".as_ptr());
        LLVMBuildStore(builder, address, to.0);
        LLVMBuildStore(builder, rest, second(to));
        LLVMDisposeBuilder(builder);
    }
    copy.erase();
}

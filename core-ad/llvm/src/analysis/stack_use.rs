//! Whether code may need much stack: a derivative takes several times what its function does.
//!
//! Enzyme keeps what the reverse sweep needs in each frame of a recursion, and gives every array on the stack a shadow. A function that
//! just fits into the stack of its thread then has a derivative that does not.

use crate::ir::{self, Block, Op, Value};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout};
use std::collections::{HashMap, HashSet};

/// Bytes of arrays in one frame above which a function needs much stack.
const LARGE_FRAME: u64 = 256 << 10;

/// Whether the depth of calls, or the size of a frame, has no bound that is known here, or a frame is large.
pub fn may_be_large(module: &Module<'_>) -> bool {
    let functions = ir::functions(module);
    functions.iter().any(|function| has_large_frame(module, *function)) || is_recursive(&functions)
}

/// Whether a frame has arrays of a size that is known only at run time, or more than [`LARGE_FRAME`] of others.
fn has_large_frame(module: &Module<'_>, function: FunctionValue<'_>) -> bool {
    let mut bytes: u64 = 0;
    for (number, block) in ir::blocks(function).into_iter().enumerate() {
        for alloca in block.instructions().into_iter().filter(|i| i.is(Op::LLVMAlloca)) {
            let count = alloca.operand(0).constant().and_then(|count| u64::try_from(count).ok());
            // Behind the first block it is one array more each time that control comes by.
            let (0, Some(count)) = (number, count) else { return true };
            // SAFETY: the type of a live alloca is sized; the layout is its module's.
            let size = unsafe {
                LLVMABISizeOfType(LLVMGetModuleDataLayout(module.as_mut_ptr()), LLVMGetAllocatedType(alloca.0))
            };
            bytes = bytes.saturating_add(count.saturating_mul(size));
        }
    }
    bytes > LARGE_FRAME
}

/// Whether functions may call each other in a circle. One that is mentioned counts as called: the C library calls back what it is given. An
/// indirect call may go to every function whose address is taken.
fn is_recursive(functions: &[FunctionValue<'_>]) -> bool {
    let all: HashSet<Value> = functions.iter().map(|f| Value(f.as_value_ref())).collect();
    let with_address: HashSet<Value> = all.iter().copied().filter(|f| has_address_taken(*f)).collect();
    let mut callees: HashMap<Value, HashSet<Value>> =
        functions.iter().map(|f| (Value(f.as_value_ref()), mentioned(*f, &all, &with_address))).collect();
    // Takes away what calls nothing that is left; a circle stays.
    loop {
        let before = callees.len();
        let left: HashSet<Value> = callees.keys().copied().collect();
        callees.retain(|_, callees| callees.iter().any(|callee| left.contains(callee)));
        if callees.len() == before {
            return before > 0;
        }
    }
}

fn mentioned(function: FunctionValue<'_>, all: &HashSet<Value>, with_address: &HashSet<Value>) -> HashSet<Value> {
    let mut found = HashSet::new();
    for instruction in ir::blocks(function).into_iter().flat_map(Block::instructions) {
        found.extend(instruction.operands().into_iter().map(behind_alias).filter(|value| all.contains(value)));
        if is_indirect_call(instruction) {
            found.extend(with_address);
        }
    }
    found
}

/// What an alias stands for: C++ constructors are often aliases of one another.
fn behind_alias(value: Value) -> Value {
    // SAFETY: asked of a live value; an alias has an aliasee.
    unsafe { if LLVMIsAGlobalAlias(value.0).is_null() { value } else { Value(LLVMAliasGetAliasee(value.0)) } }
}

fn is_call(value: Value) -> bool {
    value.is(Op::LLVMCall) || value.is(Op::LLVMInvoke)
}

fn called(call: Value) -> Value {
    // SAFETY: a live call.
    behind_alias(Value(unsafe { LLVMGetCalledValue(call.0) }))
}

fn is_indirect_call(instruction: Value) -> bool {
    // SAFETY: asked of a live value.
    let is_known =
        |callee: Value| unsafe { !LLVMIsAFunction(callee.0).is_null() || !LLVMIsAInlineAsm(callee.0).is_null() };
    is_call(instruction) && !is_known(called(instruction))
}

/// Whether a function is used for more than being called by name.
fn has_address_taken(function: Value) -> bool {
    let is_plain_call = |user: Value| {
        let times = user.operands().into_iter().filter(|operand| *operand == function).count();
        is_call(user) && called(user) == function && times == 1
    };
    function.users().into_iter().any(|user| !user.is_instruction() || !is_plain_call(user))
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    fn is_large(ir: &str) -> bool {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(ir.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).unwrap_or_else(|e| panic!("{e}"));
        may_be_large(&module)
    }

    #[test]
    fn a_chain_of_calls_is_bounded() {
        let chain = "
            define void @last(ptr %x) {
              ret void
            }
            define void @first(ptr %x) {
              %small = alloca [1000 x double]
              call void @last(ptr %small)
              call void @last(ptr %x)
              ret void
            }";
        assert!(!is_large(chain));
    }

    #[test]
    fn a_function_that_calls_itself_directly_or_through_others_is_not() {
        let itself = "
            define void @f(ptr %x) {
              call void @f(ptr %x)
              ret void
            }";
        let others = "
            define internal void @even(ptr %x) {
              call void @odd(ptr %x)
              ret void
            }
            define internal void @odd(ptr %x) {
              call void @same(ptr %x)
              ret void
            }
            @same = internal alias void (ptr), ptr @even
            define void @f(ptr %x) {
              call void @even(ptr %x)
              ret void
            }";
        assert!(is_large(itself));
        assert!(is_large(others));
    }

    #[test]
    fn indirect_calls_may_go_wherever_an_address_is_taken() {
        let given = "
            define internal void @leaf(ptr %x) {
              ret void
            }
            define void @f(ptr %g) {
              store ptr @leaf, ptr %g
              call void %g(ptr %g)
              ret void
            }";
        let virtual_call = "
            @table = internal constant [1 x ptr] [ptr @method]
            define internal void @method(ptr %x) {
              %next = load ptr, ptr %x
              call void %next(ptr %x)
              ret void
            }
            define void @f(ptr %x) {
              store ptr @table, ptr %x
              call void @method(ptr %x)
              ret void
            }";
        assert!(!is_large(given));
        assert!(is_large(virtual_call));
    }

    #[test]
    fn what_the_c_library_calls_back_counts_as_called() {
        let compares = "
            declare void @qsort(ptr, i64, i64, ptr)
            define internal i32 @compare(ptr %a, ptr %b) {
              CALL
              ret i32 0
            }
            define void @f(ptr %x) {
              call void @qsort(ptr %x, i64 3, i64 8, ptr @compare)
              ret void
            }";
        assert!(!is_large(&compares.replace("CALL", "")));
        assert!(is_large(&compares.replace("CALL", "call void @f(ptr %a)")));
    }

    #[test]
    fn arrays_on_the_stack_count_by_their_size() {
        let array = "
            declare void @use(ptr)
            define void @f(i64 %n) {
              BEFORE
              br label %loop
            loop:
              INSIDE
              br i1 poison, label %loop, label %end
            end:
              ret void
            }";
        let with = |before: &str, inside: &str| is_large(&array.replace("BEFORE", before).replace("INSIDE", inside));
        assert!(!with("%a = alloca [32768 x double]", ""));
        assert!(with("%a = alloca [16384 x double]\n %b = alloca double, i64 16385", ""));
        assert!(with("%a = alloca double, i64 %n", ""));
        assert!(with("", "%a = alloca double"));
    }
}

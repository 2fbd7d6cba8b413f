//! Finds square roots whose argument may be zero, where Enzyme's rule gives the derivative 0 although the function's slope may be anything.
//!
//! A sum of squares is none of them in first order: 0 is a subgradient of a norm at the origin. In second order it is one: the Hessian of
//! `exp(-r * r)` there is not zero. A root that only divides is none: the quotient is not finite, which the caller sees.

use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::core::LLVMConstRealGetDouble;
use std::collections::HashSet;

/// Expressions are followed so deep.
const DEEPEST: usize = 24;

/// What is known of a number's sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    Unknown,
    /// A sum of squares: zero where all of them are.
    Squares,
    Positive,
}

/// Whether a module has such roots.
pub fn any(module: &Module<'_>, second_order: bool) -> bool {
    ir::functions(module).into_iter().any(|function| !of(function, second_order).is_empty())
}

/// The roots of one function.
pub fn of(function: FunctionValue<'_>, second_order: bool) -> Vec<Value> {
    let all = ir::blocks(function).into_iter().flat_map(|b| b.instructions());
    all.filter(|i| is_root(*i) && may_be_zero(*i, second_order)).collect()
}

fn is_root(i: Value) -> bool {
    i.is(Op::LLVMCall)
        && i.is_float()
        && i.callee().is_some_and(|name| matches!(name.as_str(), "sqrt" | "sqrtf" | "llvm.sqrt.f64" | "llvm.sqrt.f32"))
}

fn may_be_zero(root: Value, second_order: bool) -> bool {
    let known = if second_order { Sign::Positive } else { Sign::Squares };
    let divides = |user: &Value| user.is(Op::LLVMFDiv) && user.operand(1) == root && user.operand(0) != root;
    !root.users().iter().all(divides) && sign(root.operand(0), &mut HashSet::new(), 0) < known
}

fn sign(value: Value, open: &mut HashSet<Value>, depth: usize) -> Sign {
    if depth > DEEPEST {
        return Sign::Unknown;
    }
    if value.is_number() && !value.is_instruction() {
        return sign_of_constant(value);
    }
    let mut of = |operand: u32| sign(value.operand(operand), open, depth + 1);
    match value.op() {
        // What is added keeps the sum away from zero if one of both is.
        Some(Op::LLVMFAdd) => sum(of(0), of(1)),
        Some(Op::LLVMFMul) if value.operand(0) == value.operand(1) => Sign::Squares,
        Some(Op::LLVMFMul | Op::LLVMFDiv) => of(0).min(of(1)),
        Some(Op::LLVMPHI) => {
            // A sum over a loop: what the iteration before gives is what all others give.
            if !open.insert(value) {
                return Sign::Positive;
            }
            let all = value.incoming().into_iter().map(|(v, _)| sign(v, open, depth + 1)).min();
            open.remove(&value);
            all.unwrap_or(Sign::Unknown)
        }
        Some(Op::LLVMSelect) => of(1).min(of(2)),
        Some(Op::LLVMCall) => match value.callee().as_deref().map(|n| n.rsplit_once('.').map_or(n, |n| n.0)) {
            Some("llvm.fmuladd" | "llvm.fma") => {
                let product = if value.operand(0) == value.operand(1) { Sign::Squares } else { of(0).min(of(1)) };
                sum(product, of(2))
            }
            Some("exp" | "exp2" | "llvm.exp" | "llvm.exp2") => Sign::Positive,
            _ => Sign::Unknown,
        },
        _ => Sign::Unknown,
    }
}

fn sum(one: Sign, other: Sign) -> Sign {
    if one.min(other) == Sign::Unknown { Sign::Unknown } else { one.max(other) }
}

fn sign_of_constant(value: Value) -> Sign {
    let mut is_inexact = 0;
    // SAFETY: a live constant; of what is no number LLVM gives 0.
    let number = unsafe {
        if llvm_sys::core::LLVMIsAConstantFP(value.0).is_null() {
            return Sign::Unknown;
        }
        LLVMConstRealGetDouble(value.0, &mut is_inexact)
    };
    match number {
        n if n > 0.0 => Sign::Positive,
        0.0 => Sign::Squares,
        _ => Sign::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// How many roots may be zero in first and in second order.
    fn found(body: &str) -> (usize, usize) {
        let context = Context::create();
        let ir = format!(
            "declare double @llvm.sqrt.f64(double)\ndeclare double @llvm.fmuladd.f64(double, double, double)\n
             define double @f(double %x, double %y, ptr %p, i64 %n) {{\n{body}\n}}"
        );
        let buffer = MemoryBuffer::create_from_memory_range_copy(ir.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).unwrap_or_else(|e| panic!("{e}"));
        let function = module.get_function("f").unwrap_or_else(|| panic!("no function"));
        (of(function, false).len(), of(function, true).len())
    }

    #[test]
    fn a_norm_is_zero_in_second_order_only() {
        let norm = "%a = fmul double %x, %x\n %b = call double @llvm.fmuladd.f64(double %y, double %y, double %a)
            %r = call double @llvm.sqrt.f64(double %b)\n ret double %r";
        assert_eq!(found(norm), (0, 1));
        let softened = norm.replace("fmul double %x, %x", "fadd double 1.0e-3, 0.0");
        assert_eq!(found(&softened), (0, 0));
        let loops = "br label %l\nl:\n %i = phi i64 [ 0, %0 ], [ %next, %l ]\n %s = phi double [ 0.0, %0 ], [ %t, %l ]
            %q = getelementptr double, ptr %p, i64 %i\n %v = load double, ptr %q\n %w = fmul double %v, %v
            %t = fadd double %s, %w\n %next = add i64 %i, 1\n %done = icmp eq i64 %next, %n
            br i1 %done, label %e, label %l\ne:\n %r = call double @llvm.sqrt.f64(double %t)\n ret double %r";
        assert_eq!(found(loops), (0, 1));
    }

    #[test]
    fn a_plain_root_may_be_zero_unless_it_divides() {
        assert_eq!(found("%r = call double @llvm.sqrt.f64(double %x)\n ret double %r"), (1, 1));
        let quotient = "%r = call double @llvm.sqrt.f64(double %x)\n %q = fdiv double %y, %r\n ret double %q";
        assert_eq!(found(quotient), (0, 0));
        assert_eq!(found(&quotient.replace("ret double %q", "%z = fmul double %q, %r\n ret double %z")), (1, 1));
    }
}

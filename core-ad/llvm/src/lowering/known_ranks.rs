//! Chooses, for assignments of whole arrays in Fortran, the rule for as many dimensions as there are.
//!
//! ```text
//! %to = alloca { ptr, i64, i32, i8, i8, i8, i8, [1 x [3 x i64]] }        ; a descriptor with one dimension
//! call void @ffgrad_flang_assign(ptr %to, ptr %from, ..)               becomes   call void @ffgrad_flang_assign_11(ptr %to, ptr %from, ..)
//! ```
//!
//! A descriptor has its number of dimensions in memory, so the general rule is one for all numbers, and LLVM finds out which one is the case when it has
//! inlined the rule and made values of the descriptor. Sixty such rules in one function take minutes (GSW's `rr68_interp_sa_ct`), and of the component of an object that a
//! procedure gets, the number stays unknown. flang's types have it: of variables, of members, and of loads and copies of the same descriptor.
//!
//! Most values of expressions are in memory that flang allocates for them, so the variable cannot overlap them: their rule has no copy for that case, which is four of
//! six loops.
//!
//! Dozens of texts in one procedure (messages by an error code), and texts of the caller, whose descriptor does not say so here, have a rule that is not inlined.

use crate::ir::{Op, Value, blocks, functions, is_argument};
use inkwell::module::Module;
use inkwell::values::AsValueRef;
use llvm_sys::LLVMTypeKind::{LLVMArrayTypeKind, LLVMIntegerTypeKind, LLVMPointerTypeKind, LLVMStructTypeKind};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMTypeRef;

/// The general rule; the names of the others end in both numbers of dimensions.
const ASSIGN: &str = "ffgrad_flang_assign";

/// The dimensions for which there is a rule.
const MOST: u64 = 3;

/// A procedure with more assignments of texts is one that chooses messages: they are not inlined.
const MANY_TEXTS: usize = 20;

/// flang's code of characters, and where it and the address stand in a descriptor.
const CHARACTER: i64 = 40;
const TYPE: u32 = 4;
const ADDRESS: u32 = 0;

/// Uses that are looked at for one descriptor.
const MOST_USES: usize = 60;

/// Redirects the calls. To be called on flang's own code, before any pass.
pub fn run(module: &Module<'_>) {
    let Some(general) = module.get_function(ASSIGN) else { return };
    for function in functions(module) {
        let calls = blocks(function).into_iter().flat_map(|b| b.instructions());
        let calls: Vec<Value> = calls.filter(|i| i.callee().is_some_and(|name| name == ASSIGN)).collect();
        let has_many_texts =
            calls.iter().filter(|call| type_at(call.operand(1)) == Some(CHARACTER)).count() > MANY_TEXTS;
        for call in calls {
            let ty = type_at(call.operand(1));
            let from = rank(call.operand(1));
            // An array is assigned to one with as many dimensions.
            let to = from.filter(|from| *from > 0).or_else(|| rank(call.operand(0)));
            let ending = match (ty == Some(CHARACTER), to, from) {
                (true, _, Some(0)) if has_many_texts || is_argument(call.operand(0)) => "text".to_owned(),
                (false, Some(1..=MOST), Some(from @ 1..=MOST)) if ty.is_some() && is_apart(call.operand(1)) => {
                    format!("apart{from}")
                }
                (false, Some(to @ 1..=MOST), Some(from)) if ty.is_some() => {
                    format!("{to}{from}")
                }
                _ => continue,
            };
            let name = format!("{ASSIGN}_{ending}");
            let rule =
                module.get_function(&name).unwrap_or_else(|| module.add_function(&name, general.get_type(), None));
            // SAFETY: a live call; the new function has the old one's type.
            unsafe {
                let callee = LLVMGetNumOperands(call.0) as u32 - 1;
                LLVMSetOperand(call.0, callee, rule.as_value_ref());
            }
        }
    }
}

/// Whether a descriptor names memory that nothing else names: flang's array of a value, which is filled, assigned and freed.
fn is_apart(address: Value) -> bool {
    let users = address.users();
    let mut stores = users.iter().filter(|user| user.is(Op::LLVMStore));
    let (Some(store), None) = (stores.next(), stores.next()) else { return false };
    let is_only_assigned =
        |user: &Value| user.is(Op::LLVMStore) || (is_assignment(*user) && user.operand(0) != address);
    address.is(Op::LLVMAlloca)
        && store.operand(1) == address
        && users.iter().all(is_only_assigned)
        && member_at(store.operand(0), ADDRESS)
            .is_some_and(|base| base.callee().is_some_and(|name| name == "malloc") && is_private(base, *store))
}

/// Whether an address is only read and written through, freed, and put into the descriptor that one store stores.
fn is_private(address: Value, store: Value) -> bool {
    address.users().into_iter().all(|user| match user.op() {
        Some(Op::LLVMLoad) => true,
        Some(Op::LLVMStore) => user == store || user.operand(0) != address,
        Some(Op::LLVMGetElementPtr | Op::LLVMInsertValue) => is_private(user, store),
        Some(Op::LLVMCall) => user.callee().is_some_and(|name| name == "free"),
        _ => false,
    })
}

/// Whether this is one of the assignments, redirected or not.
fn is_assignment(user: Value) -> bool {
    user.callee().is_some_and(|name| name.starts_with(ASSIGN))
}

/// The code of the elements' type in the descriptor that is stored at an address.
fn type_at(address: Value) -> Option<i64> {
    let stored =
        |user: &Value| user.is(Op::LLVMStore) && user.operand(1) == address && of_type(user.operand(0).ty()).is_some();
    address.users().into_iter().take(MOST_USES).filter(stored).find_map(|store| type_code(store.operand(0)))
}

/// The code of the elements' type in a descriptor.
fn type_code(descriptor: Value) -> Option<i64> {
    member_at(descriptor, TYPE)?.constant()
}

/// A member of a descriptor that is put together member by member.
fn member_at(mut descriptor: Value, at: u32) -> Option<Value> {
    // SAFETY: live instructions that insert members, and the constant that they begin with.
    unsafe {
        while descriptor.is(Op::LLVMInsertValue) {
            if LLVMGetNumIndices(descriptor.0) == 1 && *LLVMGetIndices(descriptor.0) == at {
                return Some(descriptor.operand(1));
            }
            descriptor = descriptor.operand(0);
        }
        let member = LLVMGetAggregateElement(descriptor.0, at);
        (!member.is_null()).then_some(Value(member))
    }
}

/// The number of dimensions of the descriptor at an address.
fn rank(address: Value) -> Option<u64> {
    // SAFETY: types of live instructions.
    let own = unsafe {
        match address.op() {
            Some(Op::LLVMAlloca) => of_type(LLVMGetAllocatedType(address.0)),
            Some(Op::LLVMGetElementPtr) => member(address).and_then(of_type),
            _ => None,
        }
    };
    own.or_else(|| address.users().into_iter().take(MOST_USES).find_map(|user| by_use(address, user)))
}

/// What a use of an address says: an access to a whole descriptor, a step to one of its members, or a copy from or to a variable.
fn by_use(address: Value, user: Value) -> Option<u64> {
    // SAFETY: types of live instructions.
    unsafe {
        match user.op()? {
            Op::LLVMLoad => of_type(user.ty()),
            Op::LLVMStore if user.operand(1) == address => of_type(user.operand(0).ty()),
            Op::LLVMGetElementPtr if user.operand(0) == address => of_type(LLVMGetGEPSourceElementType(user.0)),
            Op::LLVMCall if user.callee().is_some_and(|name| name.starts_with("llvm.memcpy.")) => {
                let other = if user.operand(0) == address { user.operand(1) } else { user.operand(0) };
                let whole = other.is(Op::LLVMAlloca).then(|| LLVMGetAllocatedType(other.0)).and_then(of_type)?;
                (user.operand(2).constant() == i64::try_from(24 + 24 * whole).ok()).then_some(whole)
            }
            _ => None,
        }
    }
}

/// The type of the member that a computed address leads to.
fn member(step: Value) -> Option<LLVMTypeRef> {
    // SAFETY: a live instruction that computes an address, and the types it goes through.
    unsafe {
        let mut ty = LLVMGetGEPSourceElementType(step.0);
        for index in step.operands().into_iter().skip(2) {
            ty = match LLVMGetTypeKind(ty) {
                LLVMStructTypeKind => {
                    let at = u32::try_from(index.constant()?).ok()?;
                    (at < LLVMCountStructElementTypes(ty)).then(|| LLVMStructGetTypeAtIndex(ty, at))?
                }
                LLVMArrayTypeKind => LLVMGetElementType(ty),
                _ => return None,
            };
        }
        Some(ty)
    }
}

/// The number of dimensions in the type of a descriptor without an addendum: `{ address, size, version, rank, type, attribute, extra, dimensions }`.
fn of_type(ty: LLVMTypeRef) -> Option<u64> {
    // SAFETY: a live type.
    unsafe {
        if LLVMGetTypeKind(ty) != LLVMStructTypeKind || !matches!(LLVMCountStructElementTypes(ty), 7 | 8) {
            return None;
        }
        let widths = [None, Some(64), Some(32), Some(8), Some(8), Some(8), Some(8)];
        for (i, width) in (0..).zip(widths) {
            let member = LLVMStructGetTypeAtIndex(ty, i);
            let is_right = match width {
                None => LLVMGetTypeKind(member) == LLVMPointerTypeKind,
                Some(width) => LLVMGetTypeKind(member) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(member) == width,
            };
            if !is_right {
                return None;
            }
        }
        if LLVMCountStructElementTypes(ty) == 7 {
            return Some(0);
        }
        let dimensions = LLVMStructGetTypeAtIndex(ty, 7);
        (LLVMGetTypeKind(dimensions) == LLVMArrayTypeKind).then(|| LLVMGetArrayLength2(dimensions))
    }
}

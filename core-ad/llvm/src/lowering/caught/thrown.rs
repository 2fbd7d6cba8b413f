//! The types of thrown objects: whether an object of that type may hold numbers with derivatives.

use crate::ir::{Op, Value};
use llvm_sys::LLVMTypeKind::*;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMTypeRef;
use llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout};

/// Sizes of the bases that `<stdexcept>` and `<exception>` offer.
const STANDARD: [(&str, u64); 10] = [
    ("St9exception", 8),
    ("St13bad_exception", 8),
    ("St13runtime_error", 16),
    ("St11logic_error", 16),
    ("St16invalid_argument", 16),
    ("St12domain_error", 16),
    ("St12length_error", 16),
    ("St12out_of_range", 16),
    ("St11range_error", 16),
    ("St14overflow_error", 16),
];

/// Classes of the standard library without numbers.
const WITHOUT_NUMBERS: [&str; 9] = [
    "class.std::__cxx11::basic_",
    "class.std::exception",
    "class.std::runtime_error",
    "class.std::logic_error",
    "class.std::invalid_argument",
    "class.std::out_of_range",
    "class.std::domain_error",
    "struct.std::__cow_string",
    "class.std::range_error",
];

/// Whether a call throws an object that may hold numbers.
pub fn may_hold_numbers(call: Value) -> bool {
    call.callee().is_some_and(|n| n == "__cxa_throw") && !has_no_numbers(call)
}

/// The size of the object that is thrown.
pub fn size(throw: Value) -> Option<u64> {
    let object = throw.operand(0);
    let allocated = object.callee().is_some_and(|n| n == "__cxa_allocate_exception");
    allocated.then(|| object.operand(0).constant()).flatten().and_then(|n| u64::try_from(n).ok())
}

/// Whether the thrown object is a pointer, other than to text.
pub fn is_pointer(throw: Value) -> bool {
    name(throw.operand(1)).is_some_and(|n| n.starts_with('P') && n != "PKc" && n != "Pc")
}

fn has_no_numbers(throw: Value) -> bool {
    let info = throw.operand(1);
    let Some(name) = name(info) else { return false };
    if name.len() == 1 {
        return "bcahstijlmxynow".contains(&name);
    }
    if ["PKc", "Pc"].contains(&name.as_str()) || is_enum(info) {
        return true;
    }
    if name.starts_with("St") || name.starts_with("NSt") {
        return !name.contains('I');
    }
    let Some(size) = size(throw) else { return false };
    size < 4 || base_size(info) == Some(size) || class(throw, &name).is_some_and(|ty| fits(throw, ty, size))
}

fn fits(throw: Value, ty: LLVMTypeRef, size: u64) -> bool {
    // SAFETY: a live type; the throw stands in a function of a module.
    unsafe {
        let module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(throw.parent().0));
        LLVMABISizeOfType(LLVMGetModuleDataLayout(module), ty) == size && !holds_numbers(ty)
    }
}

/// The name of a type after `_ZTI`.
pub fn name(info: Value) -> Option<String> {
    let mut length = 0;
    // SAFETY: a live value; its name is copied.
    let bytes = unsafe {
        let start = LLVMGetValueName2(info.0, &mut length);
        std::slice::from_raw_parts(start.cast::<u8>(), length)
    };
    std::str::from_utf8(bytes).ok()?.strip_prefix("_ZTI").map(str::to_owned)
}

/// The fields of type information that is defined here.
pub fn initializer(info: Value) -> Option<Value> {
    // SAFETY: asked of global variables only.
    unsafe {
        if LLVMIsAGlobalVariable(info.0).is_null() {
            return None;
        }
        let value = LLVMGetInitializer(info.0);
        (!value.is_null()).then_some(Value(value))
    }
}

fn is_enum(info: Value) -> bool {
    let Some(fields) = initializer(info) else { return false };
    let mut table = fields.operand(0);
    // SAFETY: constants.
    while !unsafe { LLVMIsAConstantExpr(table.0) }.is_null() {
        table = table.operand(0);
    }
    let mut length = 0;
    // SAFETY: a live global; its name is read at once.
    let bytes = unsafe { std::slice::from_raw_parts(LLVMGetValueName2(table.0, &mut length).cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).contains("__enum_type_info")
}

/// The size of the standard class that a class without fields of its own is derived from.
fn base_size(info: Value) -> Option<u64> {
    let mut at = info;
    for _ in 0..16 {
        if let Some((_, size)) = name(at).and_then(|n| STANDARD.iter().find(|(s, _)| *s == n)) {
            return Some(*size);
        }
        let fields = initializer(at)?;
        if fields.operands().len() != 3 {
            return None;
        }
        at = fields.operand(2);
    }
    None
}

/// LLVM's type of a class, found by its name.
fn class(throw: Value, mangled: &str) -> Option<LLVMTypeRef> {
    let nested = mangled.strip_prefix('N').and_then(|n| n.strip_suffix('E'));
    let mut rest = nested.unwrap_or(mangled);
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let digits = rest.chars().take_while(char::is_ascii_digit).count();
        let length: usize = rest.get(..digits)?.parse().ok()?;
        let part = rest.get(digits..digits + length)?;
        parts.push(if part == "_GLOBAL__N_1" { "(anonymous namespace)" } else { part });
        rest = rest.get(digits + length..)?;
    }
    ["struct", "class"].iter().find_map(|kind| {
        let name = std::ffi::CString::new(format!("{kind}.{}", parts.join("::"))).ok()?;
        // SAFETY: a live context and a C string.
        let found = unsafe { LLVMGetTypeByName2(LLVMGetTypeContext(throw.operand(0).ty()), name.as_ptr()) };
        (!found.is_null()).then_some(found)
    })
}

/// Whether an object of a type may hold a number, or the address of one.
///
/// # Safety
///
/// The type is a live one.
pub unsafe fn holds_numbers(ty: LLVMTypeRef) -> bool {
    // SAFETY: each question is asked of the kind of type that it is for.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMIntegerTypeKind => false,
            LLVMArrayTypeKind => holds_numbers(LLVMGetElementType(ty)),
            LLVMStructTypeKind => {
                let name = LLVMGetStructName(ty);
                let name = if name.is_null() { "".into() } else { std::ffi::CStr::from_ptr(name).to_string_lossy() };
                let known = WITHOUT_NUMBERS.iter().any(|k| name.starts_with(k));
                !known && (0..LLVMCountStructElementTypes(ty)).any(|i| holds_numbers(LLVMStructGetTypeAtIndex(ty, i)))
            }
            _ => true,
        }
    }
}

/// Whether a module does with exceptions what cannot be lowered.
pub fn is_unsupported(i: Value) -> bool {
    let asks = |n: &str| {
        n.starts_with("_ZSt17current_exception")
            || n.starts_with("_ZSt18uncaught_exception")
            || n.starts_with("_ZSt19uncaught_exceptions")
            || n.starts_with("__cxa_current_exception_type")
            || n.starts_with("_ZNSt3__1")
    };
    let calls = (i.is(Op::LLVMCall) || i.is(Op::LLVMInvoke)) && i.callee().is_some_and(|n| asks(&n));
    calls || (may_hold_numbers(i) && (is_pointer(i) || size(i).is_none()))
}

//! What the members of a structure in memory are, from LLVM's types and from the types that clang gives to copies (`tbaa.struct`).
//!
//! Neither is enough alone. `tbaa.struct` calls an array "omnipotent char", as it does a union, and clang gives none to classes with bases
//! (`std::pair`). An LLVM type is known where memory is allocated or indexed only; of a union it has one member.

use crate::analysis::virtual_tables::symbol;
use crate::analysis::{declared_types, type_names};
use crate::ir::metadata::{attached, number, operands, text};
use crate::ir::{Block, Op, Value, all_instructions, callers};
use inkwell::module::Module;
use llvm_sys::LLVMTypeKind::*;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMTypeRef, LLVMValueRef};
use llvm_sys::target::*;
use std::collections::HashSet;

/// Members of one structure at most.
const MOST: usize = 256;

/// Part of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub offset: u64,
    pub size: u64,
    /// The LLVM type of a scalar; none where only the extent is known.
    pub ty: Option<LLVMTypeRef>,
    /// Its tag for `tbaa`, where clang gave one.
    pub tag: Option<LLVMValueRef>,
}

impl Part {
    /// The scalar in words of C.
    pub fn name(&self) -> &'static str {
        // SAFETY: a live type.
        match self.ty.map(|ty| unsafe { LLVMGetTypeKind(ty) }) {
            Some(LLVMDoubleTypeKind) => "double",
            Some(LLVMFloatTypeKind) => "float",
            Some(LLVMX86_FP80TypeKind) => "long double",
            Some(LLVMPointerTypeKind) => "pointer",
            _ => "integer",
        }
    }

    /// Whether it is a number that derivatives flow through.
    pub fn is_float(&self) -> bool {
        self.ty.is_some_and(is_float)
    }

    fn end(&self) -> u64 {
        self.offset + self.size
    }
}

fn is_float(ty: LLVMTypeRef) -> bool {
    // SAFETY: a live type.
    let kind = unsafe { LLVMGetTypeKind(ty) };
    matches!(kind, LLVMFloatTypeKind | LLVMDoubleTypeKind | LLVMX86_FP80TypeKind)
}

/// The structures of a module.
pub struct Layouts {
    data: LLVMTargetDataRef,
    /// Types that memory is allocated as or indexed by.
    types: Vec<LLVMTypeRef>,
}

impl Layouts {
    /// Collects the types of a module.
    pub fn of(module: &Module<'_>) -> Self {
        // SAFETY: a live module, which owns the data layout.
        let data = unsafe { LLVMGetModuleDataLayout(module.as_mut_ptr()) };
        let mut types = Vec::new();
        let mut seen = HashSet::new();
        for i in all_instructions(module) {
            if let Some(ty) = named_type(i) {
                collect(ty, &mut seen, &mut types);
            }
        }
        Self { data, types }
    }

    /// The members that a copy of one structure moves; none where they are not known.
    pub fn copied(&self, copy: Value) -> Option<Vec<Part>> {
        let size = u64::try_from(copy.operand(2).constant()?).ok()?;
        let [to, from] =
            [copy.operand(0), copy.operand(1)].map(|side| self.behind(side, size).or_else(|| self.row(side, size)));
        let sides = [to, from, self.named(copy, size)];
        let mut parts = self.described(copy).or_else(|| sides.iter().flatten().next().cloned())?;
        if !sides.iter().flatten().all(|side| refine(&mut parts, side)) {
            return None;
        }
        if parts.iter().any(|p| p.ty.is_none())
            && let Some(beside) = self.handled_beside(copy, size)
        {
            refine(&mut parts, &beside);
        }
        if parts.iter().any(|p| p.ty.is_none()) {
            parts = self.only_fitting(size, &parts)?;
        }
        parts.iter().all(|p| p.ty.is_some()).then_some(parts)
    }

    /// The members by `tbaa.struct`.
    fn described(&self, copy: Value) -> Option<Vec<Part>> {
        let entries = operands(attached(copy, c"tbaa.struct"));
        let part = |entry: &[LLVMValueRef]| {
            let (offset, size) = (number(entry[0])?, number(entry[1])?);
            let scalar = operands(entry[2]).get(1).and_then(|ty| operands(*ty).first().copied());
            let ty = self.scalar(copy, &text(scalar?), size);
            Some(Part { offset, size, ty, tag: ty.map(|_| entry[2]) })
        };
        let parts: Option<Vec<Part>> = entries.chunks_exact(3).map(part).collect();
        parts.filter(|parts| !parts.is_empty())
    }

    /// The members of a type of this size that the function around a copy has among its parameters, by its name or by debug information.
    fn named(&self, copy: Value, size: u64) -> Option<Vec<Part>> {
        let function = function_around(copy);
        let by_name = type_names::pointed_to(&symbol(function), size);
        let members = by_name.or_else(|| declared_types::noted(copy))?;
        let part = |m: &type_names::Member| {
            let ty = self.scalar(copy, m.kind.tbaa(), m.size);
            Part { offset: m.offset, size: m.size, ty, tag: None }
        };
        Some(members.iter().map(part).collect())
    }

    /// The LLVM type of a scalar type of TBAA with a size.
    fn scalar(&self, copy: Value, name: &str, size: u64) -> Option<LLVMTypeRef> {
        // SAFETY: types of the context of a live instruction.
        unsafe {
            let context = LLVMGetValueContext(copy.0);
            match (name, size) {
                ("double", 8) => Some(LLVMDoubleTypeInContext(context)),
                ("float", 4) => Some(LLVMFloatTypeInContext(context)),
                ("long double", 16) => Some(LLVMX86FP80TypeInContext(context)),
                ("double" | "float" | "long double", _) => None,
                ("omnipotent char", 1) => Some(LLVMInt8TypeInContext(context)),
                ("omnipotent char", _) => None,
                (name, 8) if is_pointer(name) => Some(LLVMPointerTypeInContext(context, 0)),
                (_, 1 | 2 | 4 | 8) => Some(LLVMIntTypeInContext(context, (size * 8) as u32)),
                _ => None,
            }
        }
    }

    /// The members of the structures of a size that the function of an instruction allocates or indexes; none where there is no such
    /// structure, or there are two kinds.
    pub fn handled_beside(&self, i: Value, size: u64) -> Option<Vec<Part>> {
        let mut types = Vec::new();
        let mut seen = HashSet::new();
        for other in function_of(i) {
            if let Some(ty) = named_type(other) {
                collect(ty, &mut seen, &mut types);
            }
        }
        let mut found = types.into_iter().filter(|ty| self.size(*ty) == Some(size)).filter_map(|ty| self.members(ty));
        let first = found.next()?;
        found.all(|other| kinds(&other) == kinds(&first)).then_some(first)
    }

    /// The members of the first `size` bytes behind a pointer, by its LLVM type.
    fn behind(&self, pointer: Value, size: u64) -> Option<Vec<Part>> {
        let mut ty = type_behind(pointer)?;
        // A structure begins where its first member begins.
        loop {
            // SAFETY: sized types of a live module.
            unsafe {
                // A base class is copied without the padding behind its last member, where a derived class may have members.
                let is_base = |s: u64| s > size && s < size + 8 && self.members(ty).is_some_and(|m| ends_at(&m, size));
                let full = LLVMABISizeOfType(self.data, ty);
                if full == size || is_base(full) {
                    break;
                }
                ty = match LLVMGetTypeKind(ty) {
                    LLVMStructTypeKind if LLVMCountStructElementTypes(ty) > 0 => LLVMStructGetTypeAtIndex(ty, 0),
                    LLVMArrayTypeKind => LLVMGetElementType(ty),
                    _ => return None,
                };
            }
        }
        self.members(ty)
    }

    /// The members of a structure from one on: its constructors copy those that need no constructor in a row.
    fn row(&self, pointer: Value, size: u64) -> Option<Vec<Part>> {
        if !pointer.is(Op::LLVMGetElementPtr)
            || pointer.operands().len() < 3
            || pointer.operand(1).constant() != Some(0)
        {
            return None;
        }
        // SAFETY: a step into a sized type of a live module.
        let (whole, begin) = unsafe {
            let whole = LLVMGetGEPSourceElementType(pointer.0);
            let (mut ty, mut begin) = (whole, 0);
            for index in pointer.operands().into_iter().skip(2) {
                let index = u32::try_from(index.constant()?).ok()?;
                if LLVMGetTypeKind(ty) != LLVMStructTypeKind {
                    return None;
                }
                begin += LLVMOffsetOfElement(self.data, ty, index);
                ty = LLVMStructGetTypeAtIndex(ty, index);
            }
            (whole, begin)
        };
        let inside = |p: &Part| begin <= p.offset && p.offset < begin + size;
        let parts: Vec<Part> = self.members(whole)?.into_iter().filter(inside).collect();
        let end = parts.iter().map(Part::end).max()?;
        // Padding may follow.
        (end <= begin + size && begin + size < end + 8)
            .then(|| parts.into_iter().map(|p| Part { offset: p.offset - begin, ..p }).collect())
    }

    /// Whether some bytes of a global hold no number and no address, by the global's type; false where that is not known.
    pub fn holds_integers(&self, place: Value, size: u64) -> bool {
        // SAFETY: asked of live values; a global has a sized type.
        unsafe {
            let is_step = |v: Value| {
                (!LLVMIsAConstantExpr(v.0).is_null() || !LLVMIsAGetElementPtrInst(v.0).is_null())
                    && v.operands().len() == 2
                    && is_byte(LLVMGetGEPSourceElementType(v.0))
            };
            let (global, begin) = match is_step(place) {
                true => (place.operand(0), place.operand(1).constant().and_then(|at| u64::try_from(at).ok())),
                false => (place, Some(0)),
            };
            let global = callers::given(global);
            let (false, Some(begin)) = (LLVMIsAGlobalVariable(global.0).is_null(), begin) else { return false };
            let Some(parts) = self.members(LLVMGlobalGetValueType(global.0)) else { return false };
            let of_integers = |ty: LLVMTypeRef| LLVMGetTypeKind(ty) == LLVMIntegerTypeKind;
            let inside: Vec<&Part> = parts.iter().filter(|p| p.offset < begin + size && begin < p.end()).collect();
            !inside.is_empty() && inside.iter().all(|part| part.ty.is_some_and(of_integers))
        }
    }

    /// The members of a type.
    pub fn members(&self, ty: LLVMTypeRef) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        self.flatten(ty, 0, &mut parts);
        (parts.len() < MOST).then_some(parts)
    }

    fn flatten(&self, ty: LLVMTypeRef, offset: u64, parts: &mut Vec<Part>) {
        if parts.len() >= MOST {
            return;
        }
        // SAFETY: sized types of a live module.
        unsafe {
            let size = LLVMABISizeOfType(self.data, ty);
            match LLVMGetTypeKind(ty) {
                LLVMStructTypeKind if !is_union(ty) => {
                    for i in 0..LLVMCountStructElementTypes(ty) {
                        let at = LLVMOffsetOfElement(self.data, ty, i);
                        self.flatten(LLVMStructGetTypeAtIndex(ty, i), offset + at, parts);
                    }
                }
                // Bytes in a row may be storage for anything.
                LLVMArrayTypeKind if !is_byte(LLVMGetElementType(ty)) => {
                    let element = LLVMGetElementType(ty);
                    let stride = LLVMABISizeOfType(self.data, element);
                    for i in 0..LLVMGetArrayLength2(ty).min(MOST as u64) {
                        self.flatten(element, offset + i * stride, parts);
                    }
                }
                LLVMVectorTypeKind if is_float(LLVMGetElementType(ty)) => {
                    let element = LLVMGetElementType(ty);
                    let stride = LLVMABISizeOfType(self.data, element);
                    for i in 0..u64::from(LLVMGetVectorSize(ty)) {
                        self.flatten(element, offset + i * stride, parts);
                    }
                }
                LLVMArrayTypeKind if is_filler(offset, size) => parts.extend(filler(ty, offset, size)),
                LLVMStructTypeKind | LLVMArrayTypeKind => parts.push(Part { offset, size, ty: None, tag: None }),
                LLVMIntegerTypeKind if !LLVMGetIntTypeWidth(ty).is_multiple_of(8) => {
                    parts.push(Part { offset, size, ty: None, tag: None });
                }
                _ => parts.push(Part { offset, size, ty: Some(ty), tag: None }),
            }
        }
    }

    /// The members that all structures of a size have that agree with what is known.
    fn only_fitting(&self, size: u64, known: &[Part]) -> Option<Vec<Part>> {
        let mut fitting = self.types.iter().filter(|ty| self.size(**ty) == Some(size)).filter_map(|ty| {
            let parts = self.members(*ty)?;
            let mut merged = known.to_vec();
            refine(&mut merged, &parts).then_some(merged)
        });
        let first = fitting.next()?;
        fitting.all(|other| kinds(&other) == kinds(&first)).then_some(first)
    }

    fn size(&self, ty: LLVMTypeRef) -> Option<u64> {
        // SAFETY: a live type.
        unsafe { (LLVMTypeIsSized(ty) != 0).then(|| LLVMABISizeOfType(self.data, ty)) }
    }
}

fn ends_at(parts: &[Part], size: u64) -> bool {
    parts.iter().map(Part::end).max() == Some(size)
}

fn kinds(parts: &[Part]) -> Vec<(u64, Option<LLVMTypeRef>)> {
    parts.iter().map(|p| (p.offset, p.ty)).collect()
}

/// Puts the members that another view of the same memory has in the place of parts whose type is not known. Says whether the views agree.
fn refine(parts: &mut Vec<Part>, other: &[Part]) -> bool {
    let agrees = |part: &Part| match part.ty {
        Some(ty) => other.iter().filter(|o| o.offset < part.end() && part.offset < o.end()).all(|o| {
            // An integer or a pointer in memory is a matter of the source's types; a number is not.
            o.ty.is_none_or(|found| is_float(found) == is_float(ty) && (!is_float(ty) || o.offset == part.offset))
        }),
        None => other.iter().all(|o| o.end() <= part.offset || part.end() <= o.offset || inside(o, part)),
    };
    if !parts.iter().all(agrees) {
        return false;
    }
    let open: Vec<Part> = parts.iter().filter(|p| p.ty.is_none()).copied().collect();
    for part in open {
        let within: Vec<Part> = other.iter().filter(|o| inside(o, &part)).copied().collect();
        if !within.is_empty() {
            parts.retain(|p| *p != part);
            parts.extend(within);
        }
    }
    parts.sort_by_key(|p| p.offset);
    true
}

fn inside(inner: &Part, outer: &Part) -> bool {
    outer.offset <= inner.offset && inner.end() <= outer.end()
}

/// Whether a type of TBAA is of pointers: `any pointer`, or the name of a pointer's type behind its depth.
fn is_pointer(name: &str) -> bool {
    let deep = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    name.contains("pointer") || name.strip_prefix('p').is_some_and(deep)
}

/// Whether bytes can be no storage for numbers: too few, and not where a number would begin, or what is left before a word. clang writes padding so, where a class has
/// members behind the end of a base class or of a member.
fn is_filler(offset: u64, size: u64) -> bool {
    size < 8 && (!offset.is_multiple_of(4) || size == 4 && !offset.is_multiple_of(8))
}

/// Such bytes as integers, each at a multiple of its size.
fn filler(bytes: LLVMTypeRef, offset: u64, size: u64) -> Vec<Part> {
    let mut parts = Vec::new();
    let (mut at, end) = (offset, offset + size);
    while at < end {
        let size = 1 << at.trailing_zeros().min((end - at).ilog2());
        // SAFETY: a live type, whose context the integer's type belongs to.
        let ty = unsafe { LLVMIntTypeInContext(LLVMGetTypeContext(bytes), 8 * size as u32) };
        parts.push(Part { offset: at, size, ty: Some(ty), tag: None });
        at += size;
    }
    parts
}

fn is_byte(ty: LLVMTypeRef) -> bool {
    // SAFETY: a live type.
    unsafe { LLVMGetTypeKind(ty) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(ty) == 8 }
}

fn is_union(ty: LLVMTypeRef) -> bool {
    // SAFETY: a live structure type; its name, where it has one, is a C string.
    unsafe {
        let name = if LLVMIsLiteralStruct(ty) == 0 { LLVMGetStructName(ty) } else { std::ptr::null() };
        if name.is_null() {
            return false;
        }
        let name = std::ffi::CStr::from_ptr(name).to_string_lossy();
        // What `rules/include/stdcxx/variant` makes of unions, and `std::optional` has: one member, and nothing or no name beside it.
        let plain = ["::__ffgrad_room", "::_Variadic_union", "union.std::_Optional_payload_base<"];
        name.starts_with("union.") && !plain.iter().any(|own| name.contains(own))
    }
}

/// The function that an instruction stands in.
fn function_around(i: Value) -> Value {
    // SAFETY: a live instruction of a function.
    Value(unsafe { LLVMGetBasicBlockParent(i.parent().0) })
}

/// The instructions of the function that an instruction stands in.
fn function_of(i: Value) -> Vec<Value> {
    let mut all = Vec::new();
    // SAFETY: a live instruction of a function.
    unsafe {
        let mut block = LLVMGetFirstBasicBlock(function_around(i).0);
        while !block.is_null() {
            all.extend(Block(block).instructions());
            block = LLVMGetNextBasicBlock(block);
        }
    }
    all
}

/// The type that an instruction names for memory.
fn named_type(i: Value) -> Option<LLVMTypeRef> {
    // SAFETY: asked of the kinds of instructions that have such a type.
    unsafe {
        match i.op()? {
            Op::LLVMAlloca => Some(LLVMGetAllocatedType(i.0)),
            Op::LLVMGetElementPtr => Some(LLVMGetGEPSourceElementType(i.0)),
            _ => None,
        }
    }
}

/// Adds a type and those of its members.
fn collect(ty: LLVMTypeRef, seen: &mut HashSet<LLVMTypeRef>, types: &mut Vec<LLVMTypeRef>) {
    if !seen.insert(ty) {
        return;
    }
    // SAFETY: live types.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMStructTypeKind => {
                types.push(ty);
                (0..LLVMCountStructElementTypes(ty))
                    .for_each(|i| collect(LLVMStructGetTypeAtIndex(ty, i), seen, types));
            }
            LLVMArrayTypeKind => collect(LLVMGetElementType(ty), seen, types),
            _ => {}
        }
    }
}

/// The type of the memory that a pointer leads to.
pub fn type_behind(pointer: Value) -> Option<LLVMTypeRef> {
    // SAFETY: asked of the kinds of values that have such a type.
    unsafe {
        match pointer.op() {
            Some(Op::LLVMAlloca) => Some(LLVMGetAllocatedType(pointer.0)),
            Some(Op::LLVMGetElementPtr) => {
                let mut ty = LLVMGetGEPSourceElementType(pointer.0);
                for index in pointer.operands().into_iter().skip(2) {
                    ty = match LLVMGetTypeKind(ty) {
                        LLVMStructTypeKind => LLVMStructGetTypeAtIndex(ty, u32::try_from(index.constant()?).ok()?),
                        _ => LLVMGetElementType(ty),
                    };
                }
                Some(ty)
            }
            _ => None,
        }
    }
}

//! The members of the structures that a function's parameters point to, by the debug information of the user's compiler. They are noted at copies where a
//! module is read: what is differentiated has no such information.
//!
//! The functions of containers copy elements through pointers. LLVM's types say nothing of these, clang's marks of a copy nothing of a class with bases
//! (`std::pair`), and the name of the function nothing of the members of the user's own types (`type_names.rs`).

use super::type_names::{Kind, Member};
use crate::ir::metadata::{attached, number, operands, text};
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::values::AsValueRef;
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::{LLVMMetadataRef, LLVMValueRef};
use std::ffi::CStr;

/// Members of one type at most.
const MOST: usize = 64;

/// Types inside one another at most: a type may name itself.
const DEEPEST: usize = 32;

/// Tags of DWARF.
const ARRAY: u16 = 0x01;
const CLASS: u16 = 0x02;
const ENUMERATION: u16 = 0x04;
const MEMBER: u16 = 0x0d;
const POINTER: u16 = 0x0f;
const REFERENCE: u16 = 0x10;
const STRUCTURE: u16 = 0x13;
const TYPEDEF: u16 = 0x16;
const UNION: u16 = 0x17;
const INHERITANCE: u16 = 0x1c;
const POINTER_TO_MEMBER: u16 = 0x1f;
const BASE: u16 = 0x24;
const CONST: u16 = 0x26;
const VOLATILE: u16 = 0x35;
const RVALUE_REFERENCE: u16 = 0x42;

/// Names of the numbers among base types.
const FLOATS: [(&str, Kind); 2] = [("double", Kind::Double), ("float", Kind::Float)];

/// The metadata of a copy whose members are known: offset, size and name of each.
const NOTE: &CStr = c"ffgrad.members";

/// Notes at each copy of a structure through pointers what it copies, while the module has its debug information.
pub fn note(module: &Module<'_>) {
    for function in ir::functions(module) {
        let copies = |i: &Value| is_copy(*i) && attached(*i, c"tbaa.struct").is_null();
        let all: Vec<Value> = ir::blocks(function).into_iter().flat_map(|b| b.instructions()).filter(copies).collect();
        for copy in all {
            let size = copy.operand(2).constant().and_then(|size| u64::try_from(size).ok());
            let function = Value(function.as_value_ref());
            let members = match size {
                Some(size) => pointed_to(function, size),
                None => element(function, copy),
            };
            if let Some(members) = members {
                attach(copy, &members);
            }
        }
    }
}

/// The members that a copy is noted to have, or each element of a copy of many.
pub fn noted(copy: Value) -> Option<Vec<Member>> {
    let entries = operands(attached(copy, NOTE));
    let member = |entry: &[LLVMValueRef]| {
        let kind = Kind::ALL.into_iter().find(|kind| kind.tbaa() == text(entry[2]))?;
        Some(Member { offset: number(entry[0])?, size: number(entry[1])?, kind })
    };
    let members: Option<Vec<Member>> = entries.chunks_exact(3).map(member).collect();
    members.filter(|members| !members.is_empty())
}

fn is_copy(i: Value) -> bool {
    let name = i.callee().unwrap_or_default();
    name.starts_with("llvm.memcpy.p0.p0.i64") || name.starts_with("llvm.memmove.p0.p0.i64")
}

fn attach(copy: Value, members: &[Member]) {
    // SAFETY: a live call; every node is of its context.
    unsafe {
        let context = LLVMGetValueContext(copy.0);
        let number = |n: u64| LLVMValueAsMetadata(LLVMConstInt(LLVMInt64TypeInContext(context), n, 0));
        let name = |name: &str| LLVMMDStringInContext2(context, name.as_ptr().cast(), name.len());
        let entry = |m: &Member| [number(m.offset), number(m.size), name(m.kind.tbaa())];
        let mut all: Vec<LLVMMetadataRef> = members.iter().flat_map(entry).collect();
        let node = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, all.as_mut_ptr(), all.len()));
        let kind = LLVMGetMDKindIDInContext(context, NOTE.as_ptr(), NOTE.count_bytes() as u32);
        LLVMSetMetadata(copy.0, kind, node);
    }
}

/// The members of the only structure that at least two parameters of a function are pointers to, where it copies from one argument to another: the begin and end
/// of what is copied.
fn element(function: Value, copy: Value) -> Option<Vec<Member>> {
    if ![0, 1].into_iter().all(|side| is_argument(copy.operand(side))) {
        return None;
    }
    let pointers = parameters(function).into_iter().filter(|ty| ty.plain().is_some_and(|ty| ty.tag() == POINTER));
    let mut found = pointers.filter_map(Type::pointee).filter(|ty| ty.is_structure()).map(|ty| ty.members());
    let (first, second) = (found.next()??, found.next()??);
    (!first.is_empty() && first == second && found.all(|other| other.as_ref() == Some(&first))).then_some(first)
}

/// Whether a pointer is an argument, or leads beside what it points to. clang keeps arguments in variables.
fn is_argument(pointer: Value) -> bool {
    match pointer.op() {
        Some(Op::LLVMGetElementPtr) => is_argument(pointer.operand(0)),
        Some(Op::LLVMLoad) => {
            let of_argument = |user: &Value| user.is(Op::LLVMStore) && ir::is_argument(user.operand(0));
            pointer.operand(0).is(Op::LLVMAlloca) && pointer.operand(0).users().iter().any(of_argument)
        }
        _ => ir::is_argument(pointer),
    }
}

/// The members of the only type of this size, in bytes, that a function has pointers or references to among its parameters; none where one of them
/// is not known, or there is more than one such type.
fn pointed_to(function: Value, size: u64) -> Option<Vec<Member>> {
    let structures = parameters(function).into_iter().filter_map(Type::pointee);
    let mut found = structures.filter(|ty| ty.size() == size && ty.is_structure()).map(|ty| ty.members());
    let first = found.next()??;
    (first.len() > 1 && found.all(|other| other.as_ref() == Some(&first))).then_some(first)
}

/// The types of a function's result and parameters.
fn parameters(function: Value) -> Vec<Type> {
    // SAFETY: a live function; its subprogram is a node of its context, or null.
    let subprogram = unsafe {
        let node = LLVMGetSubprogram(function.0);
        if node.is_null() {
            return Vec::new();
        }
        LLVMMetadataAsValue(LLVMGetValueContext(function.0), node)
    };
    let types = operands(subprogram).get(TYPE_OF_SUBPROGRAM).copied();
    let list = types.and_then(|types| operands(types).last().map(|list| operands(*list)));
    list.unwrap_or_default().into_iter().filter_map(Type::of).collect()
}

/// Where a subprogram has its type: behind file, scope, name and linkage name.
const TYPE_OF_SUBPROGRAM: usize = 4;

/// A type of debug information.
#[derive(Clone, Copy)]
struct Type(LLVMValueRef);

impl Type {
    fn of(node: LLVMValueRef) -> Option<Type> {
        // SAFETY: asked of live metadata, or of null.
        let is_node = !node.is_null() && unsafe { !LLVMIsAMDNode(node).is_null() };
        is_node.then_some(Type(node))
    }

    fn node(self) -> LLVMMetadataRef {
        // SAFETY: a live node.
        unsafe { LLVMValueAsMetadata(self.0) }
    }

    /// The tag of a type, a member or a base class; 0 for another node, which may have none.
    fn tag(self) -> u16 {
        // SAFETY: a live node; those of types have a tag.
        unsafe {
            match LLVMGetMetadataKind(self.node()) {
                LLVMMetadataKind::LLVMDIBasicTypeMetadataKind
                | LLVMMetadataKind::LLVMDIDerivedTypeMetadataKind
                | LLVMMetadataKind::LLVMDICompositeTypeMetadataKind => LLVMGetDINodeTag(self.node()),
                _ => 0,
            }
        }
    }

    /// Bytes.
    fn size(self) -> u64 {
        // SAFETY: a live type.
        unsafe { LLVMDITypeGetSizeInBits(self.node()) / 8 }
    }

    fn name(self) -> String {
        let mut length = 0;
        // SAFETY: a live type, whose name lives as long.
        unsafe {
            let start = LLVMDITypeGetName(self.node(), &mut length);
            if start.is_null() {
                return String::new();
            }
            String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), length)).into_owned()
        }
    }

    /// What a pointer, an array, a member, a base class or another name is of: the first type behind its own file, scope and name.
    fn inside(self) -> Option<Type> {
        operands(self.0).into_iter().skip(3).find_map(Type::of)
    }

    /// The type without qualifiers and other names.
    fn plain(self) -> Option<Type> {
        let mut ty = self;
        for _ in 0..DEEPEST {
            match ty.tag() {
                TYPEDEF | CONST | VOLATILE => ty = ty.inside()?,
                _ => return Some(ty),
            }
        }
        None
    }

    fn pointee(self) -> Option<Type> {
        let pointer = self.plain()?;
        matches!(pointer.tag(), POINTER | REFERENCE | RVALUE_REFERENCE).then(|| pointer.inside()?.plain()).flatten()
    }

    fn is_structure(self) -> bool {
        matches!(self.tag(), CLASS | STRUCTURE)
    }

    fn members(self) -> Option<Vec<Member>> {
        let mut all = Vec::new();
        self.flatten(0, DEEPEST, &mut all)?;
        all.sort_by_key(|member: &Member| member.offset);
        // What lies at one place is no structure of scalars.
        let apart = all.windows(2).all(|pair| pair[0].offset + pair[0].size <= pair[1].offset);
        (apart && all.len() <= MOST).then_some(all)
    }

    /// Adds the scalars of a type that begins at an offset; none where there is a union, a bit field, or something else that has no one type.
    fn flatten(self, offset: u64, depth: usize, all: &mut Vec<Member>) -> Option<()> {
        let (ty, depth) = (self.plain()?, depth.checked_sub(1)?);
        let size = ty.size();
        let kind = match ty.tag() {
            BASE => FLOATS.into_iter().find(|(name, _)| *name == ty.name()).map_or(Kind::Integer, |(_, kind)| kind),
            ENUMERATION => Kind::Integer,
            POINTER | REFERENCE | RVALUE_REFERENCE => Kind::Pointer,
            CLASS | STRUCTURE => return ty.flatten_structure(offset, depth, all),
            UNION => return ty.flatten_union(offset, depth, all),
            POINTER_TO_MEMBER if size == 16 => {
                // Of a function: its address, and a number that is added to the object's.
                let word = |offset, kind| Member { offset, size: 8, kind };
                all.extend([word(offset, Kind::Pointer), word(offset + 8, Kind::Integer)]);
                return Some(());
            }
            POINTER_TO_MEMBER => Kind::Integer,
            ARRAY => {
                let element = ty.inside()?.plain()?;
                let stride = element.size();
                let count = size.checked_div(stride).filter(|count| *count <= MOST as u64)?;
                return (0..count).try_for_each(|i| element.flatten(offset + i * stride, depth, all));
            }
            _ => return None,
        };
        let known = matches!(size, 1 | 2 | 4 | 8) && (kind != Kind::Pointer || size == 8);
        (known && all.len() < MOST).then(|| all.push(Member { offset, size, kind }))
    }

    /// Adds the only member of a union that has scalars, as `std::optional` keeps its value beside an empty one.
    fn flatten_union(self, offset: u64, depth: usize, all: &mut Vec<Member>) -> Option<()> {
        let mut found: Vec<Vec<Member>> = Vec::new();
        for part in self.parts() {
            let mut scalars = Vec::new();
            let inside = part.inside()?.plain()?;
            inside.flatten(offset, depth, &mut scalars)?;
            if !scalars.is_empty() {
                found.push(scalars);
            }
        }
        match <[Vec<Member>; 1]>::try_from(found) {
            Ok([only]) if all.len() + only.len() <= MOST => {
                all.extend(only);
                Some(())
            }
            _ => None,
        }
    }

    fn parts(self) -> Vec<Type> {
        let lists = operands(self.0).into_iter().skip(3).map(operands);
        lists.flatten().filter_map(Type::of).filter(|node| node.is_part()).collect()
    }

    fn flatten_structure(self, offset: u64, depth: usize, all: &mut Vec<Member>) -> Option<()> {
        for part in self.parts() {
            // SAFETY: a live node of a member or a base class.
            let (bits, flags) = unsafe { (LLVMDITypeGetOffsetInBits(part.node()), LLVMDITypeGetFlags(part.node())) };
            if flags & LLVMDIFlagStaticMember != 0 {
                continue;
            }
            if flags & (LLVMDIFlagBitField | LLVMDIFlagVirtual) != 0 || !bits.is_multiple_of(8) {
                return None;
            }
            part.inside()?.flatten(offset + bits / 8, depth, all)?;
        }
        Some(())
    }

    /// Whether it is a member or a base class.
    fn is_part(self) -> bool {
        matches!(self.tag(), MEMBER | INHERITANCE)
    }
}

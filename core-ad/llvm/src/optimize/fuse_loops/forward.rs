//! Within an iteration: loads of what has just been stored become the stored value, and stores that are overwritten go.

use super::{Context, access};
use crate::analysis::affine;
use crate::analysis::counted_loop::Place;
use crate::analysis::inner_loop::Loop;
use crate::ir::{Op, Value};
use llvm_sys::core::LLVMReplaceAllUsesWith;

/// A store whose memory holds the stored value still.
struct Known {
    object: usize,
    place: Place,
    store: Value,
    /// Something may have read it.
    read: bool,
}

/// Rewrites a loop.
pub fn run(one: &Loop, context: &Context<'_>) {
    let mut known: Vec<Known> = Vec::new();
    for i in one.block.instructions() {
        match i.op() {
            Some(Op::LLVMLoad) => forward(i, one, context, &mut known),
            Some(Op::LLVMStore) => overwrite(i, one, context, &mut known),
            _ => {}
        }
    }
}

fn forward(load: Value, one: &Loop, context: &Context<'_>, known: &mut [Known]) {
    let pointer = load.operand(0);
    let place = context.place(pointer, one);
    let same = |k: &Known| {
        context.object(pointer) == Some(k.object)
            && place.as_ref() == Some(&k.place)
            && k.store.operand(0).ty() == load.ty()
    };
    if let Some(found) = known.iter().find(|k| same(k)) {
        // SAFETY: the stored value has the load's type and is defined before it.
        unsafe { LLVMReplaceAllUsesWith(load.0, found.store.operand(0).0) };
        load.erase();
        return;
    }
    for each in known.iter_mut().filter(|k| context.objects.underlying(pointer).contains(&k.object)) {
        each.read = true;
    }
}

fn overwrite(store: Value, one: &Loop, context: &Context<'_>, known: &mut Vec<Known>) {
    let Some((pointer, ty)) = access(store) else { return };
    let (object, place) = (context.object(pointer), context.place(pointer, one));
    let size = |ty| affine::size_of(ty, context.layout);
    known.retain(|old| {
        if !context.objects.underlying(pointer).contains(&old.object) {
            return true;
        }
        let old_ty = old.store.operand(0).ty();
        let distance = place.as_ref().and_then(|p| p.from(&old.place));
        if !old.read && distance == Some(0) && size(old_ty) == size(ty) {
            old.store.erase();
            return false;
        }
        distance.is_some_and(|d| d >= size(old_ty) || -d >= size(ty))
    });
    if let (Some(object), Some(place)) = (object, place) {
        known.push(Known { object, place, store, read: false });
    }
}

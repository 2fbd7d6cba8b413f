//! Fuzzes sealed files with any bytes: the result is `None`, or what was written. And any JSON under a right seal, as whoever can write to the
//! cache could leave it: read or refused, and what is read can be used without a panic.
#![no_main]

use compile_driver::cache;
use compile_driver::cache::request::Record;
use core_ad::manifest::{ArtifactRecord, Choice, Manifest, Specialization, Tuning};
use core_ad::protocol::Entry;
use core_ad::shapes;
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;

fuzz_target!(|bytes: &[u8]| {
    let plain: Option<serde_json::Value> = cache::from_sealed(bytes);
    if let Some(value) = plain {
        assert!(value.is_object(), "a seal around no object");
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let sealed = cache::sealed(text);
    let sealed = sealed.as_bytes();
    let _: Option<ArtifactRecord> = cache::from_sealed(sealed);
    let _: Option<Choice> = cache::from_sealed(sealed);
    let _: Option<Record> = cache::from_sealed(sealed);
    let _: Option<Specialization> = cache::from_sealed(sealed);
    let _: Option<Tuning> = cache::from_sealed(sealed);
    if let Some(manifest) = cache::from_sealed::<Manifest>(sealed) {
        use_plan(&manifest);
    }
});

fn use_plan(manifest: &Manifest) {
    let plan = &manifest.plan;
    if !plan.is_consistent() {
        return;
    }
    let extents = [3i64; 4];
    let given: Vec<&[i64]> = plan.inputs.iter().map(|&i| &extents[..plan.args[i].shape.len().min(4)]).collect();
    let _ = shapes::resolve(plan, &given, &BTreeMap::new());
    let _ = plan.slots(Entry::Vjp, plan.differentiable_mask()).count();
}

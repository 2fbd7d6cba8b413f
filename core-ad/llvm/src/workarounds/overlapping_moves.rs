//! Gives Enzyme an adjoint of `memmove` that is right where source and destination overlap.
//!
//! Enzyme has none of its own: it warns and takes that of `memcpy` (`getOrInsertDifferentialFloatMemmove` in its `Utils.cpp`), which goes through
//! the elements upwards. Where the destination lies below the source (`memmove(q, q + 1, ...)`, `std::vector::erase`) that adds to an
//! adjoint which the next element still reads:
//!
//! ```text
//! for i: d = dst[i]; dst[i] = 0; src[i] += d             ; dst[i + 1] is src[i]
//! ```
//!
//! Downwards it is right. Enzyme makes that function under a fixed name, `__enzyme_memcpyadd_doubleda8sa8` with the type and both alignments, and
//! uses one of this name that is there. So it is there: a version that chooses its direction.

use crate::ir::{self, Result, Value, texts};
use inkwell::module::Module;
use std::collections::BTreeSet;

/// Defines those that Enzyme may ask for.
///
/// # Errors
///
/// LLVM's own.
pub fn run(module: &Module<'_>) -> Result<()> {
    let is_move = |i: &Value| i.callee().is_some_and(|name| name.starts_with("llvm.memmove.p0.p0."));
    let moves: Vec<Value> = ir::all_instructions(module).into_iter().filter(is_move).collect();
    let mut wanted = BTreeSet::new();
    for i in &moves {
        // In the middle of a copy of mixed types Enzyme takes an alignment of 1.
        for to in [ir::stated_alignment(*i, 0), 0, 1] {
            for from in [ir::stated_alignment(*i, 1), 0, 1] {
                wanted.extend(["double", "float"].map(|ty| (ty, to, from)));
            }
        }
    }
    let text: String = wanted.iter().map(|(ty, to, from)| adjoint(ty, *to, *from)).collect();
    if !text.is_empty() {
        texts::link(module, &text, "adjoints of memmove")?;
    }
    Ok(())
}

/// The adjoint of a copy of `n` elements.
fn adjoint(ty: &str, to: u64, from: u64) -> String {
    let name = format!("__enzyme_memcpyadd_{ty}da{to}sa{from}");
    let (to, from) = (to.max(1), from.max(1));
    let element = |at: &str| {
        format!(
            "  %{at}.to = getelementptr inbounds {ty}, ptr %dst, i64 %{at}
  %{at}.d = load {ty}, ptr %{at}.to, align {to}
  store {ty} 0.0, ptr %{at}.to, align {to}
  %{at}.from = getelementptr inbounds {ty}, ptr %src, i64 %{at}
  %{at}.s = load {ty}, ptr %{at}.from, align {from}
  %{at}.sum = fadd {ty} %{at}.s, %{at}.d
  store {ty} %{at}.sum, ptr %{at}.from, align {from}
"
        )
    };
    format!(
        "define void @{name}(ptr captures(none) %dst, ptr captures(none) %src, i64 %num) alwaysinline nounwind memory(argmem: readwrite) {{
entry:
  %none = icmp eq i64 %num, 0
  br i1 %none, label %end, label %choose
choose:
  %below = icmp ult ptr %dst, %src
  br i1 %below, label %downwards, label %upwards
upwards:
  %i = phi i64 [ 0, %choose ], [ %i.next, %upwards ]
{}  %i.next = add nuw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %num
  br i1 %i.done, label %end, label %upwards
downwards:
  %above = phi i64 [ %num, %choose ], [ %j, %downwards ]
  %j = add i64 %above, -1
{}  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %end, label %downwards
end:
  ret void
}}
",
        element("i"),
        element("j")
    )
}

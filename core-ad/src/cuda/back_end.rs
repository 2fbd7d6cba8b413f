//! Rewrites Enzyme's output for a kernel for LLVM 15's GPU back end: mathematics from libdevice, atomics
//! that it can select, one for a warp where it can be ([`adders`]), and allocations from a pool.
//!
//! The pool is memory that the host hands to each launch. Its header says how large it is, how much was asked for, and what a thread does that
//! finds it full; a small kernel on the same stream writes the header before ([`RESET`]). Each thread of the launch notes the pool's address in
//! a word of shared memory, which all threads of a block write alike: so two launches on two streams, or two replays of a
//! CUDA graph, never share one.
//!
//! A thread that finds the pool full ends. The host reads afterwards that more was asked for than there is, drops the results, and launches
//! again with a larger pool. In the replay of a CUDA graph no host is there to read: then the thread stops the launch with an error. The
//! device's own heap is not used: it has 8 MB unless the process says otherwise before its first launch.

use super::adders;
use std::collections::HashSet;
use std::fmt::Write;

/// The node of the kernel that resets the pool.
const LAST_NODE: usize = 999_999_999;

/// The kernel that makes memory a pool: address, bytes, and 1 if a full pool is an error at once.
pub const RESET: &str = "ffgrad_reset";

/// The word in which a block keeps the pool's address.
pub const POOL: &str = "@ffgrad_pool";

/// Bytes of a pool's header: its size, how much was asked for with the header itself, whether a full pool is an error at once, and nothing.
pub const HEADER: usize = 32;

/// Stands before a barrier for what other threads write; see `device.rs`. It goes after differentiation.
pub const OTHERS: &str = "@ffgrad_other_threads";

/// Functions of the C library that libdevice has under `__nv_` and the same name.
const LIBDEVICE: [&str; 26] = [
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "exp2",
    "exp10", "expm1", "log", "log2", "log10", "log1p", "cbrt", "erf", "erfc", "pow", "atan2", "hypot",
];

/// The functions that allocate from the pool and free nothing, and the kernel that resets it.
fn allocator() -> String {
    format!(
        "
{POOL} = internal unnamed_addr addrspace(3) global ptr undef, align 8
define internal ptr @ffgrad_malloc(i64 %bytes) {{
  %header = load volatile ptr, ptr addrspace(3) {POOL}
  %none = icmp eq ptr %header, null
  br i1 %none, label %error, label %ask
ask:
  %padded = add i64 %bytes, 15
  %size = and i64 %padded, -16
  %room = load i64, ptr %header
  %taken = getelementptr i64, ptr %header, i64 1
  %old = atomicrmw add ptr %taken, i64 %size monotonic
  %end = add i64 %old, %size
  %fits = icmp ule i64 %end, %room
  br i1 %fits, label %pool, label %full
pool:
  %pointer = getelementptr i8, ptr %header, i64 %old
  ret ptr %pointer
full:
  %strict.at = getelementptr i64, ptr %header, i64 2
  %strict = load i64, ptr %strict.at
  %stops = icmp ne i64 %strict, 0
  br i1 %stops, label %error, label %leave
leave:
  call void asm sideeffect \"exit;\", \"\"()
  unreachable
error:
  call void asm sideeffect \"trap;\", \"\"()
  unreachable
}}
define internal void @ffgrad_free(ptr %pointer) {{
  ret void
}}
define void @{RESET}(ptr %pool, i64 %size, i64 %strict) {{
  store i64 %size, ptr %pool
  %taken = getelementptr i64, ptr %pool, i64 1
  store i64 {HEADER}, ptr %taken
  %strict.at = getelementptr i64, ptr %pool, i64 2
  store i64 %strict, ptr %strict.at
  ret void
}}
"
    )
}

/// Makes Enzyme's output fit for the back end: mathematics from libdevice, atomics that it can select, allocations
/// from the pool.
pub fn for_back_end(ir: &str) -> String {
    let allocates = ir.contains("@malloc(") || ir.contains("@free(");
    let mut text = String::with_capacity(ir.len() + 4096);
    let mut declared: HashSet<String> = HashSet::new();
    let mut warps = false;
    // Where nothing is allocated the pool's address is not used.
    let dropped = |l: &&str| {
        l.starts_with("!llvm.dbg.cu") || l.contains(OTHERS) || (l.contains(POOL) && (!allocates || l.starts_with('@')))
    };
    let mut adds = false;
    let lines = adders::functions(ir).flat_map(|body| body.lines().map(move |line| (line, body)));
    for (line, body) in lines.filter(|(line, _)| !dropped(line)) {
        let with_adder = adders::with_adder(line, body);
        adds |= with_adder.is_some();
        let line = with_adder.as_deref().unwrap_or(line);
        let mut line = with_libdevice(&without(&without_debug(line), " !invariant.group !"));
        if line.contains(" load atomic ") || line.contains(" store atomic ") {
            for order in [" seq_cst,", " acquire,", " release,"] {
                line = line.replace(order, " monotonic,");
            }
        }
        if line.contains("@llvm.nvvm.membar.cta()") && !line.starts_with("declare") {
            line = line.replace("@llvm.nvvm.membar.cta()", "@llvm.nvvm.bar.warp.sync(i32 -1)");
            warps = true;
        }
        if allocates {
            for name in ["malloc", "free"] {
                line = line.replace(&format!("@{name}("), &format!("@ffgrad_{name}("));
            }
        }
        if let Some(name) = line.strip_prefix("declare ").and_then(declared_name) {
            let ours = allocates && ["ffgrad_malloc", "ffgrad_free"].contains(&name);
            if ours || !declared.insert(name.to_owned()) {
                continue;
            }
        }
        if let Some(list) = line.strip_prefix("!nvvm.annotations = !{").filter(|_| allocates) {
            line = format!("!nvvm.annotations = !{{!{LAST_NODE}, {list}");
        }
        text.push_str(&line);
        text.push('\n');
    }
    if warps && !declared.contains("llvm.nvvm.bar.warp.sync") {
        text.push_str("declare void @llvm.nvvm.bar.warp.sync(i32) convergent nounwind\n");
    }
    if adds {
        let known = |l: &&str| l.strip_prefix("declare ").and_then(declared_name).is_some_and(|n| declared.contains(n));
        text.extend(adders::adders().lines().filter(|l| !known(l)).flat_map(|l| [l, "\n"]));
    }
    if allocates {
        text.push_str(&allocator());
        let _ = writeln!(text, "!{LAST_NODE} = !{{ptr @{RESET}, !\"kernel\", i32 1}}");
    }
    text
}

/// The name in a declaration, from behind its first word.
fn declared_name(declaration: &str) -> Option<&str> {
    Some(declaration.split_once('@')?.1.split_once('(')?.0)
}

/// A line without its debug location: with one, the GPU's code would be compiled for a debugger.
fn without_debug(line: &str) -> String {
    let line = without(line, " !dbg !");
    if line.contains("@llvm.dbg.") { String::new() } else { line }
}

/// A line without metadata of one kind. (That memory is invariant Enzyme claims of each load for itself, and LLVM takes it for
/// all loads by one address: see the worker's `claims.rs`.)
fn without(line: &str, kind: &str) -> String {
    let mut line = line.to_owned();
    while let Some(at) = line.find(kind) {
        let begin = at + kind.len();
        let digits = line[begin..].find(|c: char| !c.is_ascii_digit()).map_or(line.len(), |n| begin + n);
        let start = if line[..at].ends_with(',') { at - 1 } else { at };
        line.replace_range(start..digits, "");
    }
    line
}

/// Whether a launch of this PTX needs the pool.
pub fn needs_pool(ptx: &str) -> bool {
    ptx.contains(&format!(".entry {RESET}("))
}

/// Names of the C library and LLVM's intrinsics for the same, as libdevice has them.
fn with_libdevice(line: &str) -> String {
    if !line.contains('@') {
        return line.to_owned();
    }
    let mut line = line.to_owned();
    for name in LIBDEVICE {
        for (old, new) in [
            (format!("@{name}("), format!("@__nv_{name}(")),
            (format!("@{name}f("), format!("@__nv_{name}f(")),
            (format!("@llvm.{name}.f64("), format!("@__nv_{name}(")),
            (format!("@llvm.{name}.f32("), format!("@__nv_{name}f(")),
        ] {
            if line.contains(&old) {
                line = line.replace(&old, &new);
            }
        }
    }
    for (old, new) in [
        ("@fmod(", "@__nv_fmod("),
        ("@fmodf(", "@__nv_fmodf("),
        ("@llvm.powi.f64.i32(", "@__nv_powi("),
        ("@llvm.powi.f32.i32(", "@__nv_powif("),
    ] {
        line = line.replace(old, new);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_back_end_gets_libdevice_and_atomics_it_can_select() {
        let given = "declare double @sin(double)
declare double @llvm.sin.f64(double)
  %1 = call double @llvm.sin.f64(double %x)
  %2 = call float @expf(float %y)
  %3 = load atomic double, ptr %p seq_cst, align 8
  call void @llvm.nvvm.membar.cta()
  store volatile ptr %pool, ptr addrspace(3) @ffgrad_pool, align 8
  %4 = call double @llvm.sqrt.f64(double %x)
";
        let text = for_back_end(given);
        assert_eq!(text.matches("declare double @__nv_sin(double)").count(), 1, "{text}");
        assert!(text.contains("@__nv_expf(float %y)") && text.contains("ptr %p monotonic, align 8"));
        assert!(text.contains("call void @llvm.nvvm.bar.warp.sync(i32 -1)") && text.contains("@llvm.sqrt.f64"));
        assert!(!text.contains("ffgrad_pool"), "nothing is allocated");
        assert!(!for_back_end(&format!("declare void {OTHERS}()\n  call void {OTHERS}()\n")).contains(OTHERS));
    }

    #[test]
    fn allocations_of_a_derivative_come_from_the_pool() {
        let text = for_back_end(
            "declare noalias ptr @malloc(i64)\n  %p = call ptr @malloc(i64 %n)\n!nvvm.annotations = !{!1}\n",
        );
        assert!(
            text.contains("call ptr @ffgrad_malloc(i64 %n)") && text.contains("define internal ptr @ffgrad_malloc")
        );
        assert!(
            text.contains("!nvvm.annotations = !{!999999999, !1}") && !text.contains("declare noalias ptr @ffgrad")
        );
    }
}

//! A kernel for the GPU, as LLVM 15's textual IR: before the engine, the kernels around the user's function; after it,
//! what the GPU's back end wants.
//!
//! The engine differentiates functions, not kernels: the user's kernel loses that title, and each entry point becomes a
//! kernel of its own that asks for the derivative. Its parameters are the call plan's slots: pointers, and integers by
//! value; a floating-point scalar is a pointer too, so that it can have a shadow.
//!
//! LLVM 15 and not the worker's 22, because the Enzyme plugin that knows about atomics is built for 15; the two meet
//! in text only.

use crate::plan::{Part, Slot};
use crate::protocol::Entry;
use crate::{Arg, CallPlan, DType, Passing, Role};
use std::collections::HashSet;
use std::fmt::Write;

/// First number of the metadata nodes added here.
const FIRST_NODE: usize = 900_000_000;

/// The node of the kernel that resets the pool.
const LAST_NODE: usize = 999_999_999;

/// Functions of the C library that libdevice has under `__nv_` and the same name.
const LIBDEVICE: [&str; 26] = [
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "exp2",
    "exp10", "expm1", "log", "log2", "log10", "log1p", "cbrt", "erf", "erfc", "pow", "atan2", "hypot",
];

/// Where a derivative allocates on the GPU: a pool that the host hands to each launch, then the device's own heap.
const POOL: &str = "
@ffgrad_pool = addrspace(1) global [3 x i64] zeroinitializer
declare ptr @malloc(i64)
declare void @free(ptr)
define internal ptr @ffgrad_malloc(i64 %bytes) {
  %padded = add i64 %bytes, 15
  %size = and i64 %padded, -16
  %base = load i64, ptr addrspace(1) @ffgrad_pool
  %room = load i64, ptr addrspace(1) getelementptr ([3 x i64], ptr addrspace(1) @ffgrad_pool, i64 0, i64 1)
  %old = atomicrmw add ptr addrspace(1) getelementptr ([3 x i64], ptr addrspace(1) @ffgrad_pool, i64 0, i64 2), i64 %size monotonic
  %end = add i64 %old, %size
  %fits = icmp ule i64 %end, %room
  br i1 %fits, label %pool, label %heap
pool:
  %address = add i64 %base, %old
  %pointer = inttoptr i64 %address to ptr
  ret ptr %pointer
heap:
  %own = call ptr @malloc(i64 %bytes)
  ret ptr %own
}
define internal void @ffgrad_free(ptr %pointer) {
  %address = ptrtoint ptr %pointer to i64
  %base = load i64, ptr addrspace(1) @ffgrad_pool
  %room = load i64, ptr addrspace(1) getelementptr ([3 x i64], ptr addrspace(1) @ffgrad_pool, i64 0, i64 1)
  %offset = sub i64 %address, %base
  %pooled = icmp ult i64 %offset, %room
  br i1 %pooled, label %done, label %heap
heap:
  call void @free(ptr %pointer)
  ret void
done:
  ret void
}
define void @ffgrad_reset(i64 %base, i64 %size) {
  store i64 %base, ptr addrspace(1) @ffgrad_pool
  store i64 %size, ptr addrspace(1) getelementptr ([3 x i64], ptr addrspace(1) @ffgrad_pool, i64 0, i64 1)
  store i64 0, ptr addrspace(1) getelementptr ([3 x i64], ptr addrspace(1) @ffgrad_pool, i64 0, i64 2)
  ret void
}
";

/// Lines that go: which functions are kernels, and what another program might look for.
const DROPPED: [&str; 3] = ["!nvvm.annotations", "@llvm.used", "@llvm.compiler.used"];

/// What is to be made of a module.
pub struct Job<'a> {
    /// Symbol of the user's kernel or device function.
    pub symbol: &'a str,
    /// What its arguments mean.
    pub plan: &'a CallPlan,
    /// Inputs with a derivative.
    pub mask: u64,
    /// Arguments that the function writes and never reads.
    pub write_only: &'a [usize],
    /// The kernels wanted.
    pub entries: &'a [Entry],
    /// Bytes of dynamic shared memory.
    pub shared: i64,
}

/// Adds the entry points to clang's IR and calls for the engine to them.
pub fn with_entries(ir: &str, job: &Job<'_>) -> String {
    let barriers = ir.contains("call void @llvm.nvvm.barrier0") || ir.contains("call void @llvm.nvvm.membar.cta");
    let mut text = String::with_capacity(ir.len() + 4096);
    for line in ir.lines().filter(|l| !DROPPED.iter().any(|start| l.starts_with(start))) {
        let line = static_memory(line, job.shared);
        // The aliasing facts stand on the wrapper; inlined there, the function's body profits from them.
        let line =
            if line.starts_with("attributes #") { line.replace(" noinline", "").replace(" optnone", "") } else { line };
        // The entry points alone are for others.
        text.push_str(&line.replace("define dso_local ", "define internal "));
        text.push('\n');
    }
    text.push_str(&wrapper(job, barriers));
    for name in ["enzyme_dup", "enzyme_dupnoneed", "enzyme_const"] {
        let _ = writeln!(text, "@{name} = external global i32");
    }
    text.push_str("declare void @__enzyme_autodiff_ffgrad(...)\ndeclare void @__enzyme_fwddiff_ffgrad(...)\n");
    for entry in job.entries {
        text.push_str(&kernel(job, *entry));
    }
    text.push_str(&annotations(job.entries.iter().map(|e| e.symbol())));
    text
}

/// `extern __shared__` as an array of the launch's size: the engine does not end on one of unknown size.
///
/// And constant memory as constants, which no gradient flows into: what the source gives is all there is (constant
/// memory without a value is refused before).
fn static_memory(line: &str, bytes: i64) -> String {
    if line.starts_with('@') && line.contains(" addrspace(4) ") {
        return line.replace("externally_initialized ", "").replacen(" global ", " constant ", 1);
    }
    let dynamic = line.starts_with('@') && line.contains(" external ") && line.contains("addrspace(3) global [0 x ");
    if !dynamic {
        return line.to_owned();
    }
    let name = line.split(" = ").next().unwrap_or_default();
    format!("{name} = internal addrspace(3) global [{bytes} x i8] undef, align 16")
}

/// Marks functions as kernels.
fn annotations<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let (mut nodes, mut text) = (Vec::new(), String::new());
    for (i, name) in names.enumerate() {
        nodes.push(format!("!{}", FIRST_NODE + i));
        let _ = writeln!(text, "!{} = !{{ptr @{name}, !\"kernel\", i32 1}}", FIRST_NODE + i);
    }
    format!("!nvvm.annotations = !{{{}}}\n{text}", nodes.join(", "))
}

fn llvm_type(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "float",
        DType::F64 => "double",
        DType::Bool | DType::I8 | DType::U8 => "i8",
        DType::I16 | DType::U16 => "i16",
        DType::I32 | DType::U32 => "i32",
        DType::I64 | DType::U64 => "i64",
    }
}

/// Whether a kernel takes this argument as a plain value.
pub fn by_value(arg: &Arg) -> bool {
    arg.passing == Passing::Value && !arg.dtype.is_float()
}

fn passed(arg: &Arg) -> &'static str {
    if by_value(arg) { llvm_type(arg.dtype) } else { "ptr" }
}

/// The function that the engine differentiates: the user's, with scalars behind pointers.
fn wrapper(job: &Job<'_>, barriers: bool) -> String {
    let args = &job.plan.args;
    let parameter = |(i, arg): (usize, &Arg)| {
        // Between barriers other threads write to what this one writes to.
        let alone = !by_value(arg) && (!barriers || arg.role == Role::Input);
        format!("{}{} %a{i}", passed(arg), if alone { " noalias" } else { "" })
    };
    let parameters: Vec<String> = args.iter().enumerate().map(parameter).collect();
    let mut text = format!("define internal void @ffgrad.wrap({}) {{\n", parameters.join(", "));
    let mut values = Vec::new();
    for (i, arg) in args.iter().enumerate() {
        let ty = llvm_type(arg.dtype);
        match (arg.passing, arg.dtype) {
            (Passing::Pointer, _) => values.push(format!("ptr %a{i}")),
            (Passing::Value, DType::Bool) => {
                let _ = writeln!(text, "  %v{i} = icmp ne i8 %a{i}, 0");
                values.push(format!("i1 %v{i}"));
            }
            (Passing::Value, dtype) if dtype.is_float() => {
                let _ = writeln!(text, "  %v{i} = load {ty}, ptr %a{i}");
                values.push(format!("{ty} %v{i}"));
            }
            (Passing::Value, _) => values.push(format!("{ty} %a{i}")),
            // Fortran's, which no kernel has.
            (Passing::Descriptor | Passing::Absent, _) => {}
        }
    }
    let _ = write!(text, "  call void @{}({})\n  ret void\n}}\n", job.symbol, values.join(", "));
    text
}

/// One entry point.
fn kernel(job: &Job<'_>, entry: Entry) -> String {
    let plan = job.plan;
    let slots: Vec<Slot> = plan.slots(entry, job.mask).collect();
    let parameter = |(i, slot): (usize, &Slot)| {
        let ty = if slot.part == Part::Primal { passed(&plan.args[slot.arg]) } else { "ptr" };
        format!("{ty} %s{i}")
    };
    let parameters: Vec<String> = slots.iter().enumerate().map(parameter).collect();
    let mut text = format!("define void @{}({}) {{\n", entry.symbol(), parameters.join(", "));
    if entry == Entry::Primal {
        let _ = write!(text, "  call void @ffgrad.wrap({})\n  ret void\n}}\n", parameters.join(", "));
        return text;
    }
    let mut values = vec!["ptr @ffgrad.wrap".to_owned()];
    for (i, slot) in slots.iter().enumerate() {
        if slot.part == Part::Primal {
            let arg = &plan.args[slot.arg];
            let word = match (plan.has_shadow(slot.arg, job.mask), arg.role) {
                (false, _) => "enzyme_const",
                (true, Role::Output) if job.write_only.contains(&slot.arg) => "enzyme_dupnoneed",
                (true, _) => "enzyme_dup",
            };
            let _ = writeln!(text, "  %m{i} = load i32, ptr @{word}");
            values.push(format!("i32 %m{i}"));
        }
        values.push(parameters[i].clone());
    }
    let name = if entry == Entry::Jvp { "__enzyme_fwddiff_ffgrad" } else { "__enzyme_autodiff_ffgrad" };
    let _ = write!(text, "  call void (...) @{name}({})\n  ret void\n}}\n", values.join(", "));
    text
}

/// Makes the engine's output fit for the back end: mathematics from libdevice, atomics that it can select, allocations
/// from the pool.
pub fn for_back_end(ir: &str) -> String {
    let allocates = ir.contains("@malloc(") || ir.contains("@free(");
    let mut text = String::with_capacity(ir.len() + POOL.len());
    let mut declared: HashSet<String> = HashSet::new();
    let mut warps = false;
    for line in ir.lines().filter(|l| !l.starts_with("!llvm.dbg.cu")) {
        let mut line = with_libdevice(&without_debug(line));
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
        if let Some(name) = line.strip_prefix("declare ").and_then(|l| Some(l.split_once('@')?.1.split_once('(')?.0)) {
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
    if allocates {
        text.push_str(POOL);
        let _ = writeln!(text, "!{LAST_NODE} = !{{ptr @ffgrad_reset, !\"kernel\", i32 1}}");
    }
    text
}

/// A line without its debug location: with one, the GPU's code would be compiled for a debugger.
fn without_debug(line: &str) -> String {
    let mut line = line.to_owned();
    while let Some(at) = line.find(" !dbg !") {
        let digits = line[at + 7..].find(|c: char| !c.is_ascii_digit()).map_or(line.len(), |n| at + 7 + n);
        let start = if line[..at].ends_with(',') { at - 1 } else { at };
        line.replace_range(start..digits, "");
    }
    if line.contains("@llvm.dbg.") { String::new() } else { line }
}

/// Whether a launch of this PTX needs the pool.
pub fn needs_pool(ptx: &str) -> bool {
    ptx.contains(".entry ffgrad_reset(")
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
    use crate::signature::plan;
    use crate::signature::tests::prototype;
    use std::collections::BTreeMap;

    const IR: &str = "@dyn = external dso_local addrspace(3) global [0 x double], align 8
define dso_local void @k(ptr %x, double %a, ptr %y, i32 %n) #0 {
  call void @llvm.nvvm.barrier0()
  ret void
}
attributes #0 = { convergent noinline nounwind }
!nvvm.annotations = !{!25}
";

    fn text(entries: &[Entry]) -> String {
        let kernel = prototype("void k(const double* r:x, double a, double* w:y, int n)");
        let plan = plan(&kernel, Some("x[n], a -> y[n]"), &BTreeMap::new()).expect("a plan");
        with_entries(IR, &Job { symbol: "k", plan: &plan, mask: 3, write_only: &[2], entries, shared: 96 })
    }

    #[test]
    fn the_entry_points_are_the_kernels_and_the_users_is_none() {
        let text = text(&[Entry::Primal, Entry::Vjp]);
        assert!(text.contains("define void @ffgrad_primal(ptr %s0, ptr %s1, ptr %s2, i32 %s3)"), "{text}");
        assert!(
            text.contains("define void @ffgrad_vjp(ptr %s0, ptr %s1, ptr %s2, ptr %s3, ptr %s4, ptr %s5, i32 %s6)")
        );
        assert!(
            text.contains("call void (...) @__enzyme_autodiff_ffgrad(ptr @ffgrad.wrap, i32 %m0, ptr %s0, ptr %s1,")
        );
        assert!(text.contains("%m4 = load i32, ptr @enzyme_dupnoneed"), "the output is only written");
        assert!(text.contains("%m6 = load i32, ptr @enzyme_const"), "the size is an integer");
        assert_eq!(text.matches("!nvvm.annotations").count(), 1);
        assert!(!text.contains("noinline"));
    }

    #[test]
    fn between_barriers_only_what_is_never_written_is_without_alias() {
        assert!(text(&[Entry::Jvp]).contains("@ffgrad.wrap(ptr noalias %a0, ptr noalias %a1, ptr %a2, i32 %a3)"));
    }

    #[test]
    fn dynamic_shared_memory_gets_the_size_of_the_launch() {
        assert!(text(&[Entry::Vjp]).contains("@dyn = internal addrspace(3) global [96 x i8] undef"));
    }

    #[test]
    fn the_back_end_gets_libdevice_and_atomics_it_can_select() {
        let given = "declare double @sin(double)
declare double @llvm.sin.f64(double)
  %1 = call double @llvm.sin.f64(double %x)
  %2 = call float @expf(float %y)
  %3 = load atomic double, ptr %p seq_cst, align 8
  call void @llvm.nvvm.membar.cta()
  %4 = call double @llvm.sqrt.f64(double %x)
";
        let text = for_back_end(given);
        assert_eq!(text.matches("declare double @__nv_sin(double)").count(), 1, "{text}");
        assert!(text.contains("@__nv_expf(float %y)") && text.contains("ptr %p monotonic, align 8"));
        assert!(text.contains("call void @llvm.nvvm.bar.warp.sync(i32 -1)") && text.contains("@llvm.sqrt.f64"));
        assert!(!text.contains("ffgrad_pool"), "nothing is allocated");
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

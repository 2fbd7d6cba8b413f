//! Writes the textual IR that Enzyme gets for a GPU (LLVM 15): one kernel for each entry point, around the user's kernel.
//! `back_end.rs` prepares Enzyme's output for code generation.
//!
//! Enzyme differentiates functions, not kernels: the user's kernel loses that title, and each entry point becomes a
//! kernel of its own that asks for the derivative. Its parameters are the call plan's slots: pointers, and integers by
//! value; a floating-point scalar is a pointer too, so that it can have a shadow. After them comes the pool that
//! derivatives allocate from.
//!
//! A kernel over a batch is launched with as many grids along z as the batch has elements: each finds its element by its
//! block's index, and the user's code sees a grid of its own. A distance in bytes for each slot, 0 for what all share, follows
//! the pool. What is added to a shared shadow is then a sum over the batch, by the same atomics as within a grid.
//!
//! Before each barrier stands a call that may write to any memory ([`OTHERS`]): what the other threads write until then. Enzyme asks LLVM's alias
//! analysis whether a store before a barrier may change what a load has read, and that answers for one thread: `s[t]` never aliases
//! `s[t - 1]`. So it repeated such a load in the reverse pass, after the neighbour had overwritten the element. (`isLoadUncacheable` in
//! EnzymeLogic.cpp, over the instructions between two barriers; on the CPU the barrier itself is such a call.)
//!
//! LLVM 15 and not the worker's 22, because the Enzyme plugin that knows about atomics is built for 15; the two meet
//! in text only.

use super::back_end::{OTHERS, POOL};
use crate::plan::{Part, Slot};
use crate::protocol::Entry;
use crate::{Arg, CallPlan, DType, Passing, Role};
use std::fmt::Write;

/// First number of the metadata nodes added here.
const FIRST_NODE: usize = 900_000_000;

/// Lines that go: which functions are kernels, and what another program might look for.
const DROPPED: [&str; 3] = ["!nvvm.annotations", "@llvm.used", "@llvm.compiler.used"];

/// A barrier of the block, as clang writes it.
const BARRIER: &str = "call void @llvm.nvvm.barrier0";

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
    /// Blocks along z of one element's grid, for kernels over a batch.
    pub batched: Option<i64>,
}

/// Adds the entry points to clang's IR and calls for Enzyme to them.
pub fn with_entries(ir: &str, job: &Job<'_>) -> String {
    let barriers = ir.contains(BARRIER) || ir.contains("call void @llvm.nvvm.membar.cta");
    let mut text = String::with_capacity(ir.len() + 4096);
    for line in ir.lines().filter(|l| !DROPPED.iter().any(|start| l.starts_with(start))) {
        let line = static_memory(line, job.shared);
        // The aliasing facts stand on the wrapper; inlined there, the function's body profits from them.
        let line =
            if line.starts_with("attributes #") { line.replace(" noinline", "").replace(" optnone", "") } else { line };
        let line = if job.batched.is_some() { of_one_element(&line) } else { line };
        if line.contains(BARRIER) {
            let _ = writeln!(text, "  call void {OTHERS}()");
        }
        // The entry points alone are for others.
        text.push_str(&line.replace("define dso_local ", "define internal "));
        text.push('\n');
    }
    text.push_str(&wrapper(job, barriers));
    let _ = writeln!(text, "{POOL} = internal unnamed_addr addrspace(3) global ptr undef, align 8");
    if barriers {
        let _ = writeln!(text, "declare void {OTHERS}() nounwind \"enzyme_inactive\"");
    }
    if let Some(layers) = job.batched {
        text.push_str(&registers(&text, layers));
    }
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

/// `extern __shared__` as an array of the launch's size: Enzyme does not end on one of unknown size.
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

/// The function that Enzyme differentiates: the user's, with scalars behind pointers.
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

/// The registers that number the blocks of the grid along z, as one element of a batch sees them.
const OF_Z: [&str; 2] = ["ctaid", "nctaid"];

fn of_one_element(line: &str) -> String {
    let is_declaration = line.starts_with("declare");
    let mut line = line.to_owned();
    for register in OF_Z.iter().filter(|_| !is_declaration) {
        line = line.replace(&format!("@llvm.nvvm.read.ptx.sreg.{register}.z("), &format!("@ffgrad.{register}.z("));
    }
    line
}

/// The functions behind these names.
fn registers(module: &str, layers: i64) -> String {
    let mut text = String::new();
    let intrinsic = "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()";
    if !module.contains(intrinsic) {
        let _ = writeln!(text, "{intrinsic}");
    }
    let _ = write!(
        text,
        "define internal i32 @ffgrad.ctaid.z() {{\n  %z = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()\n  \
         %own = urem i32 %z, {layers}\n  ret i32 %own\n}}\n\
         define internal i32 @ffgrad.nctaid.z() {{\n  ret i32 {layers}\n}}\n"
    );
    text
}

/// One entry point: finds what its slots are, and calls what does the work.
fn kernel(job: &Job<'_>, entry: Entry) -> String {
    let slots: Vec<Slot> = job.plan.slots(entry, job.mask).collect();
    let types: Vec<&str> = slots.iter().map(|slot| slot_type(job, slot)).collect();
    let mut parameters: Vec<String> = types.iter().enumerate().map(|(i, ty)| format!("{ty} %s{i}")).collect();
    parameters.push("ptr %pool".to_owned());
    let mut body = format!("  store volatile ptr %pool, ptr addrspace(3) {POOL}, align 8\n");
    let mut given: Vec<String> = (0..slots.len()).map(|i| format!("%s{i}")).collect();
    if let Some(layers) = job.batched {
        parameters.extend((0..slots.len()).map(|i| format!("i64 %d{i}")));
        let _ = write!(
            body,
            "  %z = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()\n  %layer = udiv i32 %z, {layers}\n  \
             %element = zext i32 %layer to i64\n"
        );
        for i in (0..slots.len()).filter(|&i| types[i] == "ptr") {
            let _ =
                write!(body, "  %o{i} = mul i64 %element, %d{i}\n  %e{i} = getelementptr i8, ptr %s{i}, i64 %o{i}\n");
            given[i] = format!("%e{i}");
        }
    }
    let values: Vec<String> = types.iter().zip(&given).map(|(ty, value)| format!("{ty} {value}")).collect();
    let mut text = String::new();
    body.push_str(&match entry {
        Entry::Primal => format!("  call void @ffgrad.wrap({})\n", values.join(", ")),
        Entry::Hvp | Entry::Jvp2 => {
            let first = if entry == Entry::Hvp { Entry::Vjp } else { Entry::Jvp };
            text.push_str(&first_derivative(job, first));
            second(job, &slots, &values, first)
        }
        _ => first(job, entry, &slots, &values),
    });
    let _ = write!(text, "define void @{}({}) {{\n{body}  ret void\n}}\n", entry.symbol(), parameters.join(", "));
    text
}

fn slot_type(job: &Job<'_>, slot: &Slot) -> &'static str {
    if slot.part == Part::Primal { passed(&job.plan.args[slot.arg]) } else { "ptr" }
}

/// Enzyme's word for an argument.
fn activity(job: &Job<'_>, arg: usize) -> &'static str {
    match (job.plan.has_shadow(arg, job.mask), job.plan.args[arg].role) {
        (false, _) => "enzyme_const",
        (true, Role::Output) if job.write_only.contains(&arg) => "enzyme_dupnoneed",
        (true, _) => "enzyme_dup",
    }
}

/// Asks Enzyme for the reverse or the forward mode of the user's function.
fn first(job: &Job<'_>, entry: Entry, slots: &[Slot], given: &[String]) -> String {
    let (mut text, mut values) = (String::new(), vec!["ptr @ffgrad.wrap".to_owned()]);
    for (i, slot) in slots.iter().enumerate() {
        if slot.part == Part::Primal {
            let _ = writeln!(text, "  %m{i} = load i32, ptr @{}", activity(job, slot.arg));
            values.push(format!("i32 %m{i}"));
        }
        values.push(given[i].clone());
    }
    let name = if entry == Entry::Jvp { "__enzyme_fwddiff_ffgrad" } else { "__enzyme_autodiff_ffgrad" };
    let _ = writeln!(text, "  call void (...) @{name}({})", values.join(", "));
    text
}

fn derivative_name(entry: Entry) -> &'static str {
    if entry == Entry::Vjp { "ffgrad.gradient" } else { "ffgrad.tangent" }
}

/// A first derivative as a function of its own, which the forward mode can differentiate again.
fn first_derivative(job: &Job<'_>, entry: Entry) -> String {
    let slots: Vec<Slot> = job.plan.slots(entry, job.mask).collect();
    let parameters: Vec<String> =
        slots.iter().enumerate().map(|(i, slot)| format!("{} %s{i}", slot_type(job, slot))).collect();
    let body = first(job, entry, &slots, &parameters);
    format!("define internal void @{}({}) {{\n{body}  ret void\n}}\n", derivative_name(entry), parameters.join(", "))
}

/// Asks Enzyme for the derivative of a first derivative along the directions.
fn second(job: &Job<'_>, slots: &[Slot], given: &[String], of: Entry) -> String {
    let (mut text, mut values) = (String::new(), vec![format!("ptr @{}", derivative_name(of))]);
    for (i, slot) in slots.iter().enumerate() {
        if matches!(slot.part, Part::Primal | Part::Shadow) {
            let word = if job.plan.has_shadow(slot.arg, job.mask) { "enzyme_dup" } else { "enzyme_const" };
            let _ = writeln!(text, "  %m{i} = load i32, ptr @{word}");
            values.push(format!("i32 %m{i}"));
        }
        values.push(given[i].clone());
    }
    let _ = writeln!(text, "  call void (...) @__enzyme_fwddiff_ffgrad({})", values.join(", "));
    text
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
        text_of(entries, None)
    }

    fn text_of(entries: &[Entry], batched: Option<i64>) -> String {
        let kernel = prototype("void k(const double* r:x, double a, double* w:y, int n)");
        let plan = plan(&kernel, Some("x[n], a -> y[n]"), &BTreeMap::new()).expect("a plan");
        with_entries(IR, &Job { symbol: "k", plan: &plan, mask: 3, write_only: &[2], entries, shared: 96, batched })
    }

    #[test]
    fn the_entry_points_are_the_kernels_and_the_users_is_none() {
        let text = text(&[Entry::Primal, Entry::Vjp]);
        assert!(text.contains("define void @ffgrad_primal(ptr %s0, ptr %s1, ptr %s2, i32 %s3, ptr %pool)"), "{text}");
        assert!(text.contains(
            "define void @ffgrad_vjp(ptr %s0, ptr %s1, ptr %s2, ptr %s3, ptr %s4, ptr %s5, i32 %s6, ptr %pool)"
        ));
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
    fn second_derivatives_are_the_forward_mode_of_the_first() {
        let second = text(&[Entry::Hvp]);
        assert!(second.contains("define internal void @ffgrad.gradient(ptr %s0, ptr %s1, ptr %s2, ptr %s3, ptr %s4"));
        assert!(
            second
                .contains("@__enzyme_fwddiff_ffgrad(ptr @ffgrad.gradient, i32 %m0, ptr %s0, ptr %s1, i32 %m2, ptr %s2")
        );
        assert!(text(&[Entry::Jvp2]).contains("(ptr @ffgrad.tangent, i32 %m0, ptr %s0"));
    }

    #[test]
    fn each_element_of_a_batch_has_a_grid_of_its_own() {
        let ir = "define dso_local void @k() {\n  %1 = tail call i32 @llvm.nvvm.read.ptx.sreg.nctaid.z()\n";
        assert!(of_one_element(ir).contains("tail call i32 @ffgrad.nctaid.z()"));
        let text = text_of(&[Entry::Primal], Some(3));
        assert!(text.contains("ptr %pool, i64 %d0, i64 %d1, i64 %d2, i64 %d3)"), "{text}");
        assert!(text.contains("udiv i32 %z, 3") && text.contains("urem i32 %z, 3") && text.contains("ret i32 3"));
        assert!(text.contains("call void @ffgrad.wrap(ptr %e0, ptr %e1, ptr %e2, i32 %s3)"), "integers are shared");
    }
}

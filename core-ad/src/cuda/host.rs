//! Rewrites clang's textual IR for a GPU as textual IR for the CPU.
//!
//! Both are 64-bit and have the same data layout (CUDA promises that of host and device), so that little differs:
//!
//! - address spaces go: one memory holds everything;
//! - shared memory becomes a global with a shadow beside it, which the worker later makes one a thread;
//! - constant memory without a value in the source becomes undefined, so that using it is an error;
//! - kernels are called like other functions;
//! - what is particular to the GPU's code generation goes.
//!
//! The special registers (`threadIdx` and the others) and the two barriers stay, as intrinsics that Enzyme knows.

use super::{DYNAMIC, MOST_SHARED, SHARED, SHARED_SHADOW, UNSET_SECTION};
use crate::metadata::unescaped;
use std::collections::BTreeMap;

/// Intrinsics of the GPU that may stay: the worker gives them a meaning on the CPU.
const KNOWN: [&str; 3] = ["llvm.nvvm.read.ptx.sreg.", "llvm.nvvm.membar.gl", "llvm.nvvm.membar.cta"];

/// First number of the metadata nodes added here; far above what a front end uses.
const FIRST_NODE: usize = 900_000_000;

/// Something in a kernel that the CPU cannot do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What it is.
    pub construct: String,
    /// File and line of the first use, where the IR has it.
    pub place: Option<(String, u32)>,
}

/// Rewrites a module. `number` keeps the names of several sources apart.
///
/// # Errors
///
/// The first construct that only a GPU has.
pub fn from_device(ir: &str, number: usize) -> Result<String, Unsupported> {
    if let Some(found) = unsupported(ir) {
        return Err(found);
    }
    let (mut lines, mut renamed, mut nodes) = (Vec::new(), BTreeMap::new(), Vec::new());
    let mut dynamic = false;
    for line in ir.lines() {
        if line.starts_with("target datalayout") || line.starts_with("target triple") {
            continue;
        }
        match Global::parse(line) {
            Some(global) if global.space == 3 => {
                let node = FIRST_NODE + number * 10_000 + renamed.len();
                if global.is_dynamic() {
                    renamed.insert(global.name.to_owned(), format!("@{SHARED}{DYNAMIC}"));
                    if !std::mem::replace(&mut dynamic, true) {
                        define(&mut lines, &mut nodes, DYNAMIC, &format!("[{MOST_SHARED} x i8]"), "128", node);
                    }
                } else {
                    let name = format!("{number}.{}", renamed.len());
                    renamed.insert(global.name.to_owned(), format!("@{SHARED}{name}"));
                    define(&mut lines, &mut nodes, &name, &plain(global.ty), global.align.unwrap_or("16"), node);
                }
            }
            Some(global) if global.space == 4 && global.is_unset() => {
                let ty = plain(global.ty);
                lines.push(format!("{} = external global {ty}, section \"{UNSET_SECTION}\"", global.name));
            }
            // No kernel can write to it, and what the host writes is never seen.
            Some(global) if global.space == 4 => {
                let line = plain(line).replace("externally_initialized ", "");
                lines.push(line.replacen(" global ", " constant ", 1));
            }
            // Lists of what another program may look for.
            Some(global) if global.name == "@llvm.used" || global.name == "@llvm.compiler.used" => {}
            Some(_) => lines.push(plain(line).replace("externally_initialized ", "")),
            None => lines.push(plain(line)),
        }
    }
    let mut text = lines.join("\n");
    for (old, new) in &renamed {
        text = replace_name(&text, old, new);
    }
    text.push('\n');
    text.push_str(&nodes.join("\n"));
    text.push('\n');
    Ok(text)
}

/// Adds a variable of shared memory and its shadow.
fn define(lines: &mut Vec<String>, nodes: &mut Vec<String>, name: &str, ty: &str, align: &str, node: usize) {
    lines.push(format!("@{SHARED}{name} = weak global {ty} zeroinitializer, align {align}, !enzyme_shadow !{node}"));
    lines.push(format!("@{SHARED_SHADOW}{name} = weak global {ty} zeroinitializer, align {align}"));
    nodes.push(format!("!{node} = !{{ptr @{SHARED_SHADOW}{name}}}"));
}

/// A line of IR without what only a GPU's has.
fn plain(line: &str) -> String {
    let mut line = without_address_spaces(line).replace("addrspacecast", "bitcast").replace("ptx_kernel ", "");
    if line.starts_with("attributes #") {
        for key in [" \"target-cpu\"=\"", " \"target-features\"=\""] {
            while let Some(start) = line.find(key) {
                let rest = &line[start + key.len()..];
                let end = rest.find('"').map_or(line.len(), |i| start + key.len() + i + 1);
                line.replace_range(start..end, "");
            }
        }
    }
    line
}

/// Drops `addrspace(N)` everywhere, and the numbers in intrinsics' names (`llvm.memcpy.p0.p4.i64`).
fn without_address_spaces(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(" addrspace(") {
        out.push_str(&rest[..at]);
        rest = rest[at..].find(')').map_or("", |end| &rest[at + end + 1..]);
    }
    out.push_str(rest);
    if out.contains("@llvm.") {
        for space in 1..=5 {
            for end in [".", "("] {
                out = out.replace(&format!(".p{space}{end}"), &format!(".p0{end}"));
            }
        }
    }
    out
}

/// The definition or declaration of a global variable.
struct Global<'a> {
    name: &'a str,
    /// What stands before `global` or `constant`.
    head: &'a str,
    ty: &'a str,
    /// What follows the type.
    value: &'a str,
    space: u32,
    align: Option<&'a str>,
}

impl<'a> Global<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        if !line.starts_with('@') {
            return None;
        }
        let (name, definition) = line.split_once(" = ")?;
        let word = [" global ", " constant "].into_iter().filter_map(|w| Some((definition.find(w)?, w))).min()?;
        let (head, body) = (&definition[..word.0], &definition[word.0 + word.1.len()..]);
        let space = head.split_once("addrspace(").and_then(|(_, n)| n.split(')').next()?.parse().ok()).unwrap_or(0);
        let ty = &body[..type_length(body)];
        let align = body.rsplit_once(", align ").map(|(_, a)| a.split(',').next().unwrap_or(a).trim());
        Some(Global { name, head, ty, value: body[ty.len()..].trim_start(), space, align })
    }

    /// `extern __shared__ T name[]`.
    fn is_dynamic(&self) -> bool {
        self.head.split(' ').any(|word| word == "external")
    }

    /// Has no value that the source gives: CUDA zeroes such a variable, and the host fills it.
    fn is_unset(&self) -> bool {
        // A number's zero is one that the source gives, or none.
        ["undef", "zeroinitializer", "poison", "0,", "0.000000e+00,"].iter().any(|v| self.value.starts_with(v))
            || self.is_dynamic()
    }
}

/// Bytes of the type that a text starts with.
pub(super) fn type_length(text: &str) -> usize {
    let mut depth = 0i32;
    let mut quoted = false;
    for (i, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '[' | '{' | '<' | '(' => depth += 1,
            ']' | '}' | '>' | ')' => depth -= 1,
            ' ' | ',' if depth == 0 => return i,
            _ => {}
        }
    }
    text.len()
}

/// Replaces a global's name where it is not the beginning of a longer one.
fn replace_name(text: &str, old: &str, new: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let part_of_name = |c: char| c.is_ascii_alphanumeric() || "-$._".contains(c);
    while let Some(at) = rest.find(old) {
        let after = &rest[at + old.len()..];
        out.push_str(&rest[..at]);
        let longer = !old.ends_with('"') && after.starts_with(part_of_name);
        out.push_str(if longer { old } else { new });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The first construct for which there is no meaning on the CPU.
fn unsupported(ir: &str) -> Option<Unsupported> {
    for line in ir.lines() {
        let construct = if line.contains(" asm ") && line.contains("call ") {
            Some("inline PTX (`asm`)".to_owned())
        } else if let Some(at) = line.find("@llvm.nvvm.").filter(|_| line.contains("call ")) {
            let name = line[at + 1..].split('(').next().unwrap_or_default();
            let barrier = name.starts_with("llvm.nvvm.barrier");
            let known = KNOWN.iter().any(|k| name.starts_with(k));
            let what = if barrier { "a barrier other than __syncthreads() and __syncwarp()" } else { name };
            (!known).then(|| if barrier { what.to_owned() } else { format!("the GPU instruction `{what}`") })
        } else {
            None
        };
        if let Some(construct) = construct {
            return Some(Unsupported { construct, place: place(ir, line) });
        }
    }
    None
}

/// File and line of an instruction, from its debug location.
pub fn place(ir: &str, instruction: &str) -> Option<(String, u32)> {
    let id = instruction.split("!dbg ").nth(1)?.split([',', ' ']).next()?;
    let node = |id: &str| ir.lines().find_map(|l| l.strip_prefix(&format!("{id} = ")));
    let field = |text: &str, name: &str| {
        let value = text.split(&format!("{name}: ")).nth(1)?;
        Some(value.split([',', ')']).next().unwrap_or_default().to_owned())
    };
    let location = node(id)?;
    let line = field(location, "line")?.parse().ok()?;
    let mut scope = field(location, "scope")?;
    // Through blocks up to whatever names its file.
    for _ in 0..32 {
        let text = node(&scope)?;
        match field(text, "file") {
            Some(file) => {
                let file = node(&file)?;
                let (name, folder) = (field(file, "filename")?, field(file, "directory").unwrap_or_default());
                let (name, folder) = (name.trim_matches('"'), folder.trim_matches('"'));
                let path = if name.starts_with('/') || folder.is_empty() {
                    name.to_owned()
                } else {
                    format!("{folder}/{name}")
                };
                return Some((unescaped(&path), line));
            }
            None => scope = field(text, "scope")?,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = r#"target datalayout = "e-p6:32:32"
target triple = "nvptx64-nvidia-cuda"
@s = internal addrspace(3) global [64 x double] undef, align 8, !dbg !0
@s.1 = internal addrspace(3) global [4 x float] undef, align 4
@dyn = external dso_local addrspace(3) global [0 x double], align 8
@c = dso_local addrspace(4) externally_initialized global [2 x double] zeroinitializer, align 8
@t = internal addrspace(4) externally_initialized global [2 x double] [double 1.0, double 2.0], align 8
define dso_local ptx_kernel void @k(ptr noundef %x) #0 {
  %p = getelementptr [64 x double], ptr addrspacecast (ptr addrspace(3) @s to ptr), i64 0, i64 1, !dbg !5
  %q = load float, ptr addrspacecast (ptr addrspace(3) @s.1 to ptr)
  %d = load double, ptr addrspacecast (ptr addrspace(3) @dyn to ptr)
  call void @llvm.memcpy.p0.p4.i64(ptr %x, ptr addrspace(4) @t, i64 16, i1 false)
  ret void
}
attributes #0 = { convergent "target-cpu"="sm_80" "target-features"="+ptx81,+sm_80" }
"#;

    #[test]
    fn shared_memory_gets_a_shadow_and_every_address_space_goes() {
        let text = from_device(KERNEL, 0).expect("a module");
        assert!(!text.contains("addrspace") && !text.contains("nvptx") && !text.contains("ptx_kernel"), "{text}");
        assert!(
            text.contains("@enzyme_shared.0.0 = weak global [64 x double] zeroinitializer, align 8, !enzyme_shadow")
        );
        assert!(text.contains("@enzyme_shared_shadow.0.0 = weak global [64 x double]"));
        assert!(text.contains("bitcast (ptr @enzyme_shared.0.0 to ptr)"));
        assert!(text.contains("bitcast (ptr @enzyme_shared.0.1 to ptr)"), "a longer name is another name");
        assert!(text.contains("@enzyme_shared.dynamic = weak global [232448 x i8] zeroinitializer, align 128"));
        assert!(text.contains("@llvm.memcpy.p0.p0.i64"));
        assert!(text.contains("attributes #0 = { convergent }"));
    }

    #[test]
    fn constant_memory_keeps_a_value_from_the_source_and_loses_one_from_nowhere() {
        let text = from_device(KERNEL, 0).expect("a module");
        assert!(text.contains("@c = external global [2 x double]"));
        assert!(text.contains("@t = internal constant [2 x double] [double 1.0, double 2.0]"));
    }

    #[test]
    fn what_only_a_gpu_has_is_named_with_its_line() {
        let ir = r#"define void @k() !dbg !1 {
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 32), !dbg !2
  ret void
}
!1 = distinct !DISubprogram(name: "k", file: !3, line: 3)
!2 = !DILocation(line: 7, column: 3, scope: !4)
!3 = !DIFile(filename: "k.cu", directory: "/src")
!4 = distinct !DILexicalBlock(scope: !1)
"#;
        let error = from_device(ir, 0).expect_err("unsupported");
        assert_eq!(error.place, Some(("/src/k.cu".to_owned(), 7)));
        assert!(error.construct.contains("barrier"), "{}", error.construct);
        let asm = "  call void asm sideeffect \"trap;\", \"\"()";
        assert!(from_device(asm, 0).expect_err("unsupported").construct.contains("inline PTX"));
    }
}

//! What adds to memory that threads share: one atomic operation for the lanes of a warp that add to the same place.
//!
//! The cotangent of a number that all threads read is summed at one address. An H200 does one atomic addition to an address in
//! about 2 ns, so a million threads took 2.4 ms, 18 times their primal.

use std::fmt::Write;

/// What adds a number to memory, for each type: the lanes of a warp that add to the same place do it with one atomic operation of their
/// sum. All lanes that are active together see the same mask, so where it is full each of them reaches the shuffles.
pub fn adders() -> String {
    let mut text = String::from(
        "
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32) convergent
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) convergent
declare i1 @llvm.nvvm.vote.all.sync(i32, i1) convergent
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
define internal double @ffgrad_other_lane_double(double %value, i32 %lanes) convergent alwaysinline {
  %bits = bitcast double %value to i64
  %low = trunc i64 %bits to i32
  %shifted = lshr i64 %bits, 32
  %high = trunc i64 %shifted to i32
  %low.other = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %low, i32 %lanes, i32 31)
  %high.other = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %high, i32 %lanes, i32 31)
  %low.wide = zext i32 %low.other to i64
  %high.wide = zext i32 %high.other to i64
  %high.place = shl i64 %high.wide, 32
  %bits.other = or i64 %low.wide, %high.place
  %result = bitcast i64 %bits.other to double
  ret double %result
}
define internal float @ffgrad_other_lane_float(float %value, i32 %lanes) convergent alwaysinline {
  %bits = bitcast float %value to i32
  %other = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %bits, i32 %lanes, i32 31)
  %result = bitcast i32 %other to float
  ret float %result
}
",
    );
    for (ty, align) in [("double", 8), ("float", 4)] {
        let _ = write!(
            text,
            "define internal {ty} @ffgrad_add_{ty}(ptr %place, {ty} %value) convergent alwaysinline {{
  %mask = call i32 asm sideeffect \"activemask.b32 $0;\", \"=r\"() convergent nounwind
  %full = icmp eq i32 %mask, -1
  br i1 %full, label %warp, label %alone
warp:
  %address = ptrtoint ptr %place to i64
  %low = trunc i64 %address to i32
  %shifted = lshr i64 %address, 32
  %high = trunc i64 %shifted to i32
  %low.first = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %low, i32 0, i32 31)
  %high.first = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %high, i32 0, i32 31)
  %low.same = icmp eq i32 %low, %low.first
  %high.same = icmp eq i32 %high, %high.first
  %same = and i1 %low.same, %high.same
  %all = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %same)
  br i1 %all, label %sum, label %alone
sum:
"
        );
        let mut before = "%value".to_owned();
        for lanes in [16, 8, 4, 2, 1] {
            let _ = write!(
                text,
                "  %other.{lanes} = call {ty} @ffgrad_other_lane_{ty}({ty} {before}, i32 {lanes})
  %sum.{lanes} = fadd {ty} {before}, %other.{lanes}
"
            );
            before = format!("%sum.{lanes}");
        }
        let _ = write!(
            text,
            "  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %first = icmp eq i32 %lane, 0
  br i1 %first, label %add, label %done
add:
  %old.sum = atomicrmw fadd ptr %place, {ty} {before} monotonic, align {align}
  br label %done
alone:
  %old = atomicrmw fadd ptr %place, {ty} %value monotonic, align {align}
  br label %done
done:
  ret {ty} 0.0
}}
"
        );
    }
    text
}

/// The call of an adder for an atomic addition whose result nothing reads, which all of Enzyme's are. It has a result of the same name: unnamed
/// values are numbered in order.
pub fn with_adder(line: &str, body: &str) -> Option<String> {
    let (result, added) = line.split_once(" = atomicrmw fadd ptr ")?;
    let (place, value) = added.split_once(" monotonic")?.0.rsplit_once(", ")?;
    let ty = value.split(' ').next().filter(|ty| ["double", "float"].contains(ty))?;
    let is_generic = !place.starts_with("addrspace(");
    (is_generic && !is_read(result.trim_start(), body))
        .then(|| format!("{result} = call {ty} @ffgrad_add_{ty}(ptr {place}, {value})"))
}

fn is_read(result: &str, body: &str) -> bool {
    body.match_indices(result).map(|(at, _)| &body[at + result.len()..]).any(|after| {
        let continues = after.starts_with(|c: char| c.is_ascii_alphanumeric() || "._-$".contains(c));
        !continues && !after.starts_with(" = ")
    })
}

/// The text of each function, and of what stands between them.
pub fn functions(ir: &str) -> impl Iterator<Item = &str> {
    ir.split_inclusive("\n}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_addition_whose_result_is_read_stays() {
        let body = "  %1 = atomicrmw fadd ptr %p, double %v monotonic, align 8\n  %12 = fadd double %10, 1.0\n";
        let line = body.lines().next().unwrap();
        let call = "  %1 = call double @ffgrad_add_double(ptr %p, double %v)";
        assert_eq!(with_adder(line, body).as_deref(), Some(call));
        assert_eq!(with_adder(line, &format!("{body}  ret double %1\n")), None);
        let place = "getelementptr ([4 x float], ptr @g, i64 0, i64 1)";
        let float = format!("  %2 = atomicrmw fadd ptr {place}, float 1.0 monotonic, align 4");
        let found = with_adder(&float, &float).unwrap();
        assert_eq!(found, format!("  %2 = call float @ffgrad_add_float(ptr {place}, float 1.0)"));
        assert_eq!(with_adder("  %2 = atomicrmw fadd ptr addrspace(3) @s, float %v monotonic, align 4", ""), None);
    }

    #[test]
    fn functions_are_taken_one_by_one() {
        let parts: Vec<&str> = functions("@g\ndefine void @f() {\n}\ndefine void @h() {\n}\n!0\n").collect();
        assert_eq!(parts, ["@g\ndefine void @f() {\n}\n", "define void @h() {\n}\n", "!0\n"]);
        let text = adders();
        assert!(text.contains("define internal float @ffgrad_add_float(ptr %place, float %value)"));
    }
}

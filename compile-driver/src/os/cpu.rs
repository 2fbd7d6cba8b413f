//! Identifies the CPU that code is compiled for, and lists the features that this machine lacks.
//!
//! What the CPU is is part of every cache key: code for `native` must not reach a machine that lacks its instructions.

use core_ad::cpu::{self, NATIVE};
use once_cell::race::OnceBox;

/// Architecture and a digest of what the CPU offers, `x86_64-5f3a...`.
pub fn identity() -> &'static str {
    // Lock-free, as every value here that takes a while: a thread that computes it may be missing after a fork.
    static IDENTITY: OnceBox<String> = OnceBox::new();
    IDENTITY.get_or_init(|| {
        let digest = blake3::hash(&flags()).to_hex();
        Box::new(format!("{}-{}", std::env::consts::ARCH, &digest[..16]))
    })
}

/// The option `cpu` in a key and a manifest: this machine's identity, or the level.
pub fn target(option: &str) -> String {
    if option == NATIVE { identity().to_owned() } else { option.to_owned() }
}

/// Whether the option `cpu` can have this value here.
pub fn is_known(option: &str) -> bool {
    option == NATIVE || cfg!(target_arch = "x86_64") && cpu::features(option).is_some()
}

/// What code for this value of the option `cpu` may use, in LLVM's names.
pub fn required(option: &str) -> Vec<String> {
    let names = match cpu::features(option) {
        Some(level) => level,
        None => offered().iter().filter(|(_, here)| *here).map(|(name, _)| *name).collect(),
    };
    names.into_iter().map(str::to_owned).collect()
}

/// Which of these this machine does not have, as far as a program can find out.
pub fn lacking(features: &[String]) -> Vec<String> {
    let has = |feature: &&String| offered().iter().any(|(name, here)| *here && name == feature);
    features.iter().filter(|feature| !has(feature)).cloned().collect()
}

#[cfg(target_arch = "x86_64")]
macro_rules! detected {
    ($($name:literal $std:tt),* $(,)?) => { vec![$(($name, std::is_x86_feature_detected!($std))),*] };
}

/// What a compiler may use of its own accord, by LLVM's name, and whether it is here. What only a source that asks for it
/// uses (cryptography, transactions) is left out.
#[cfg(target_arch = "x86_64")]
fn offered() -> &'static [(&'static str, bool)] {
    static OFFERED: OnceBox<Vec<(&'static str, bool)>> = OnceBox::new();
    OFFERED.get_or_init(|| {
        let mut all = detected![
            "adx" "adx", "avx" "avx", "avx2" "avx2", "avx512bf16" "avx512bf16", "avx512bitalg" "avx512bitalg",
            "avx512bw" "avx512bw", "avx512cd" "avx512cd", "avx512dq" "avx512dq", "avx512f" "avx512f",
            "avx512fp16" "avx512fp16", "avx512ifma" "avx512ifma", "avx512vbmi" "avx512vbmi",
            "avx512vbmi2" "avx512vbmi2", "avx512vl" "avx512vl", "avx512vnni" "avx512vnni",
            "avx512vp2intersect" "avx512vp2intersect", "avx512vpopcntdq" "avx512vpopcntdq", "avxifma" "avxifma",
            "avxneconvert" "avxneconvert", "avxvnni" "avxvnni", "avxvnniint16" "avxvnniint16",
            "avxvnniint8" "avxvnniint8", "bmi" "bmi1", "bmi2" "bmi2", "cx16" "cmpxchg16b", "f16c" "f16c",
            "fma" "fma", "fxsr" "fxsr", "gfni" "gfni", "lzcnt" "lzcnt", "movbe" "movbe", "popcnt" "popcnt",
            "sse" "sse", "sse2" "sse2", "sse3" "sse3", "sse4.1" "sse4.1", "sse4.2" "sse4.2", "sse4a" "sse4a",
            "ssse3" "ssse3", "tbm" "tbm",
        ];
        // No x86-64 is without them.
        all.extend([("cx8", true), ("mmx", true)]);
        Box::new(all)
    })
}

/// Elsewhere only the same CPU is known to do: its identity stands for all it has.
#[cfg(not(target_arch = "x86_64"))]
fn offered() -> &'static [(&'static str, bool)] {
    static OFFERED: OnceBox<Vec<(&'static str, bool)>> = OnceBox::new();
    OFFERED.get_or_init(|| Box::new(vec![(identity(), true)]))
}

#[cfg(target_arch = "x86_64")]
fn flags() -> Vec<u8> {
    use std::arch::x86_64::__cpuid_count;
    // Leaf 1 EBX and EDX of leaf 7 subleaf 0 hold the core's number and microcode state; they are
    // left out, so that all cores of a machine agree.
    let leaf = |leaf, sub| __cpuid_count(leaf, sub);
    let (vendor, model, extended, more) = (leaf(0, 0), leaf(1, 0), leaf(7, 0), leaf(7, 1));
    let family_model = model.eax & !0xf;
    // Bit 27 of ECX (OSXSAVE) and the rest are feature flags.
    let words = [vendor.ebx, vendor.ecx, vendor.edx, family_model, model.ecx, extended.ebx, extended.ecx, more.eax];
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Apple's processors of one family have the same instructions.
#[cfg(all(not(target_arch = "x86_64"), target_os = "macos"))]
fn flags() -> Vec<u8> {
    let (mut family, mut size) = (0_u32, size_of::<u32>());
    // SAFETY: the name ends with zero, and there is room for the number.
    unsafe {
        libc::sysctlbyname(c"hw.cpufamily".as_ptr(), (&raw mut family).cast(), &raw mut size, std::ptr::null_mut(), 0)
    };
    family.to_le_bytes().to_vec()
}

#[cfg(all(not(target_arch = "x86_64"), not(target_os = "macos")))]
fn flags() -> Vec<u8> {
    // SAFETY: getauxval reads a table the kernel gave this process.
    let (a, b) = unsafe { (libc::getauxval(libc::AT_HWCAP), libc::getauxval(libc::AT_HWCAP2)) };
    [a.to_le_bytes(), b.to_le_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_is_stable_within_a_machine() {
        assert_eq!(flags(), flags());
        assert!(identity().starts_with(std::env::consts::ARCH));
    }

    #[test]
    fn this_machine_has_what_its_own_code_needs_and_names_what_it_lacks() {
        assert_eq!(lacking(&required(NATIVE)), Vec::<String>::new());
        let other = ["vector-drive".to_owned()];
        assert_eq!(lacking(&other), other);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn every_feature_of_every_level_can_be_looked_for() {
        for level in cpu::LEVELS {
            assert!(is_known(level), "{level}");
            let known = |feature: &String| offered().iter().any(|(name, _)| name == feature);
            assert!(required(level).iter().all(known), "{level}");
        }
        assert!(!is_known("x86-64-v9") && !is_known(""));
    }
}

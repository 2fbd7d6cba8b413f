//! The identity of this machine's CPU, as far as compiled code depends on it. It is part of every cache
//! key: code for `native` must not reach a machine that lacks its instructions.

use std::sync::OnceLock;

/// Architecture and a digest of what the CPU offers, `x86_64-5f3a...`.
pub fn identity() -> &'static str {
    static IDENTITY: OnceLock<String> = OnceLock::new();
    IDENTITY.get_or_init(|| {
        let digest = blake3::hash(&features()).to_hex();
        format!("{}-{}", std::env::consts::ARCH, &digest[..16])
    })
}

#[cfg(target_arch = "x86_64")]
fn features() -> Vec<u8> {
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

#[cfg(not(target_arch = "x86_64"))]
fn features() -> Vec<u8> {
    // SAFETY: getauxval reads a table the kernel gave this process.
    let (a, b) = unsafe { (libc::getauxval(libc::AT_HWCAP), libc::getauxval(libc::AT_HWCAP2)) };
    [a.to_le_bytes(), b.to_le_bytes()].concat()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_identity_is_stable_within_a_machine() {
        assert_eq!(super::features(), super::features());
        assert!(super::identity().starts_with(std::env::consts::ARCH));
    }
}

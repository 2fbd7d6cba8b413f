//! Registers the operators and their kernels.

use crate::api::{Api, Kernel, Registrar};
use crate::kernel;
use std::ffi::{CStr, c_int};
use std::ptr;

/// The version of LibTorch whose conventions for arguments this was written for: 2.10.
const WRITTEN_FOR: u64 = (2 << 56) | (10 << 48);

/// The kernels serve every backend: they report that foreign code runs on the CPU alone.
const BACKEND: &CStr = c"CompositeExplicitAutograd";

struct Definition {
    name: &'static CStr,
    schema: &'static CStr,
    kernel: Kernel,
}

const DEFINITIONS: [Definition; 5] = [
    Definition {
        name: c"primal",
        schema: c"primal(Tensor[] inputs, str spec, int batch, int expected) -> Tensor[]",
        kernel: kernel::primal,
    },
    Definition {
        name: c"vjp",
        schema: c"vjp(Tensor[] inputs, Tensor[] given, str spec, int batch, int mask, int cotangents) -> Tensor[]",
        kernel: kernel::vjp,
    },
    Definition {
        name: c"jvp",
        schema: c"jvp(Tensor[] inputs, Tensor[] along, str spec, int batch, int tangents) -> Tensor[]",
        kernel: kernel::jvp,
    },
    Definition {
        name: c"hvp",
        schema: c"hvp(Tensor[] inputs, Tensor[] given, Tensor[] along, str spec, int batch, int mask, int cotangents, int tangents) -> Tensor[]",
        kernel: kernel::hvp,
    },
    Definition {
        name: c"jvp2",
        schema: c"jvp2(Tensor[] inputs, Tensor[] along, Tensor[] directions, str spec, int batch, int tangents, int turning) -> Tensor[]",
        kernel: kernel::jvp2,
    },
];

/// Registers everything; returns whether PyTorch took it. The handles of the registrations are never freed: that would take them back.
pub fn register(api: &Api) -> bool {
    compile_driver::toolchain::add_worker_dir_beside(register as fn(&Api) -> bool as usize);
    let (mut fragment, mut backend): (*mut Registrar, *mut Registrar) = (ptr::null_mut(), ptr::null_mut());
    let (namespace, file) = (c"ffgrad".as_ptr(), c"torch-ext/src/operators.rs".as_ptr());
    // SAFETY: C strings, and room for the answers.
    let codes = unsafe {
        [
            (api.new_fragment)(namespace, file, line!(), &mut fragment),
            (api.new_impl)(namespace, BACKEND.as_ptr(), file, line!(), &mut backend),
        ]
    };
    if codes != [0, 0] {
        return refused("the namespace");
    }
    for definition in &DEFINITIONS {
        // SAFETY: live handles, C strings.
        let code = unsafe { define(api, fragment, definition) };
        // SAFETY: as above; the kernel keeps to the convention of boxed kernels.
        let code = code | unsafe { (api.implement)(backend, definition.name.as_ptr(), definition.kernel, WRITTEN_FOR) };
        if code != 0 {
            return refused(&definition.name.to_string_lossy());
        }
    }
    true
}

/// # Safety
///
/// `fragment` is a live handle.
unsafe fn define(api: &Api, fragment: *mut Registrar, definition: &Definition) -> c_int {
    match &api.tagged {
        // SAFETY: the array has as many tags as passed.
        Some((function, tags)) => unsafe {
            function(fragment, definition.schema.as_ptr(), tags.as_ptr(), tags.len() as i32)
        },
        // SAFETY: passed on from the caller.
        None => unsafe { (api.define)(fragment, definition.schema.as_ptr()) },
    }
}

fn refused(what: &str) -> bool {
    eprintln!("ffgrad: PyTorch does not take {what} of the operators ffgrad::*; it printed the reason above");
    false
}

//! Registers the operations and their CPU kernels.
//!
//! Operation names end in a version. Raise it with any change of inputs, outputs or attributes: a saved graph
//! keeps the old name, and a process that loads two versions of this library keeps them apart.

use crate::api::{Api, Compute, Create, OwnStatus, ShapeContext, Shapes, Status};
use crate::{api, kernel};
use std::ffi::CStr;

struct Definition {
    name: &'static CStr,
    inputs: &'static [&'static CStr],
    outputs: &'static [&'static CStr],
    attrs: &'static [&'static CStr],
    create: Create,
}

const DEFINITIONS: [Definition; 5] = [
    Definition {
        name: c"FfgradPrimalV1",
        inputs: &[c"inputs: Tin"],
        outputs: &[c"outputs: Tout"],
        attrs: &[
            c"Tin: list(type) >= 0",
            c"Tout: list(type) >= 1",
            c"spec: string",
            c"mask: int",
            c"expected: int = 0",
        ],
        create: kernel::create_primal,
    },
    Definition {
        name: c"FfgradVjpV1",
        inputs: &[c"inputs: Tin", c"given: Tcotangents"],
        outputs: &[c"gradients: Tout"],
        attrs: &[
            c"Tin: list(type) >= 1",
            c"Tcotangents: list(type) >= 0",
            c"Tout: list(type) >= 1",
            c"results: list(type)",
            c"spec: string",
            c"mask: int",
            c"cotangents: int",
        ],
        create: kernel::create_vjp,
    },
    Definition {
        name: c"FfgradJvpV1",
        inputs: &[c"inputs: Tin", c"given: Ttangents"],
        outputs: &[c"directional: Tout"],
        attrs: &[
            c"Tin: list(type) >= 1",
            c"Ttangents: list(type) >= 0",
            c"Tout: list(type) >= 1",
            c"results: list(type)",
            c"spec: string",
            c"mask: int",
            c"tangents: int",
        ],
        create: kernel::create_jvp,
    },
    Definition {
        name: c"FfgradHvpV1",
        inputs: &[c"inputs: Tin", c"given: Tcotangents", c"along: Ttangents"],
        outputs: &[c"gradients: Tout"],
        attrs: &[
            c"Tin: list(type) >= 1",
            c"Tcotangents: list(type) >= 0",
            c"Ttangents: list(type) >= 0",
            c"Tout: list(type) >= 1",
            c"results: list(type)",
            c"spec: string",
            c"mask: int",
            c"cotangents: int",
            c"tangents: int",
        ],
        create: kernel::create_hvp,
    },
    Definition {
        name: c"FfgradRefuseV1",
        inputs: &[c"inputs: Tin"],
        outputs: &[c"outputs: Tout"],
        attrs: &[c"Tin: list(type) >= 0", c"Tout: list(type) >= 1", c"message: string"],
        create: kernel::create_refusal,
    },
];

/// Shapes depend on the signature, which the C API does not let a shape function read: they are set in Python.
unsafe extern "C" fn unknown_shapes(context: *mut ShapeContext, status: *mut Status) {
    if let Some(api) = api::api() {
        // SAFETY: TensorFlow's own context and status.
        unsafe { (api.set_unknown_shape)(context, status) };
    }
}

/// Registers everything.
pub fn register(api: &Api) {
    compile_driver::toolchain::add_worker_dir_beside(register as fn(&Api) as usize);
    let compute: Compute = kernel::compute;
    let shapes: Shapes = unknown_shapes;
    for d in &DEFINITIONS {
        let status = OwnStatus::new(api);
        // SAFETY: the builder is live until `register_op` consumes it; all texts are C strings.
        unsafe {
            let builder = (api.new_op)(d.name.as_ptr());
            for input in d.inputs {
                (api.add_input)(builder, input.as_ptr());
            }
            for output in d.outputs {
                (api.add_output)(builder, output.as_ptr());
            }
            for attr in d.attrs {
                (api.add_attr)(builder, attr.as_ptr());
            }
            (api.set_shapes)(builder, shapes);
            (api.register_op)(builder, status.raw());
        }
        report(&status, d.name);
        let status = OwnStatus::new(api);
        // SAFETY: as above; the kernel's functions are for each other.
        unsafe {
            let builder =
                (api.new_kernel)(d.name.as_ptr(), c"CPU".as_ptr(), Some(d.create), compute, Some(kernel::delete));
            (api.register_kernel)(d.name.as_ptr(), builder, status.raw());
        }
        report(&status, d.name);
    }
}

fn report(status: &OwnStatus<'_>, name: &CStr) {
    if let Some(text) = status.error() {
        eprintln!("ffgrad: TensorFlow does not take the operation {}: {text}", name.to_string_lossy());
    }
}

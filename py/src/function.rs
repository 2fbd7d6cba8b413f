//! The Python class around [`compile_driver::Function`].

use crate::arrays::{self, Allocated, Few, Given};
use crate::errors;
use crate::handles::{Batch, Tape};
use crate::interrupt::detached;
use compile_driver::call::launch::Chooser;
use compile_driver::function::gpu::Elements;
use compile_driver::gpu::{driver::Target, memory::Fill};
use compile_driver::{Error, Input, Mode, Options, Spec, View, cache};
use core_ad::diagnostics::Diagnosis;
use core_ad::plan::Part;
use core_ad::protocol::Entry;
use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A foreign function, opened. `array_type` and `allocate` make results:
/// `allocate(shape, dtype_name)` is used where the type has no DLPack exchange table.
#[pyclass(frozen, module = "ffgrad._native")]
pub struct Function {
    pub(crate) inner: Arc<compile_driver::Function>,
    array_type: Py<PyAny>,
    allocate: Py<PyAny>,
    is_torch: bool,
    integer_outputs: bool,
    /// The manifest as a dict, once it was requested.
    parsed: PyOnceLock<Py<PyAny>>,
}

#[pymethods]
impl Function {
    #[new]
    #[pyo3(signature = (sources, function, signature, options, array_type, allocate, launch=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        sources: Vec<PathBuf>,
        function: String,
        signature: Option<String>,
        options: &str,
        array_type: Py<PyAny>,
        allocate: Py<PyAny>,
        launch: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let options = Options::read(options)
            .map_err(|text| errors::argument(py, &format!("options of enzyme(): {text}"), Some(&function)))?;
        let spec = Spec { sources, function, signature, options };
        let name = spec.function.clone();
        let chooser = launch.map(|callable| chooser(callable, name.clone()));
        let opened = detached(py, || compile_driver::Function::open_launched(spec, chooser))?;
        let inner = opened.map_err(|e| errors::to_python(py, &e, Some(&name)))?;
        let is_torch = array_type.bind(py).getattr("__module__").is_ok_and(|m| m.eq("torch").unwrap_or(false));
        let is_torch = is_torch && ffgrad_torch::NewTensor::available();
        let plan = &inner.manifest().plan;
        let integer_outputs = plan.outputs.iter().any(|&o| !plan.args[o].dtype.is_float());
        let parsed = PyOnceLock::new();
        Ok(Function { inner: Arc::new(inner), array_type, allocate, is_torch, integer_outputs, parsed })
    }

    /// The manifest as JSON: prototype, plan, tools, commands.
    fn manifest(&self) -> String {
        serde_json::to_string(self.inner.manifest()).unwrap_or_default()
    }

    /// The same as a dict, parsed at the first call; it is everybody's, and not to be changed.
    fn plan<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let parsed = || py.import("json")?.call_method1("loads", (self.manifest(),)).map(Bound::unbind);
        Ok(self.parsed.get_or_try_init(py, parsed)?.bind(py).clone())
    }

    /// Digests of source files: the manifest's where it has them, else of their content now. A pack that is a folder is
    /// identified by its index, which has the digests of all else; a folder of sources by the files in it that were read.
    fn source_digests(&self, files: Vec<PathBuf>) -> PyResult<Vec<String>> {
        let known = &self.inner.manifest().sources;
        let digest = |file: &PathBuf| {
            let absolute = std::path::absolute(file).unwrap_or_else(|_| file.clone());
            if let Some(own) = known.iter().find(|source| Path::new(&source.path) == absolute) {
                return Ok(own.digest.clone());
            }
            let index = file.join("pack.json");
            match file.is_dir() && !index.is_file() {
                true => Ok(cache::digest_of_sources(known, &absolute)),
                false => cache::digest_file(if file.is_dir() { &index } else { file }),
            }
        };
        files.iter().map(digest).collect::<Result<_, _>>().map_err(|e| PyOSError::new_err(e.to_string()))
    }

    /// Puts an entry point on a stream of a GPU; see `compile_driver::Function::launch_on_gpu`. A batch: how many elements, and
    /// the distance between them in bytes, for each slot.
    #[pyo3(signature = (entry, mask, target, shapes, slots, batch=None))]
    #[allow(clippy::too_many_arguments)]
    fn launch(
        &self,
        py: Python<'_>,
        entry: &str,
        mask: u64,
        target: (i32, u64, u64, u64),
        shapes: Vec<Vec<i64>>,
        slots: Vec<u64>,
        batch: Option<(i64, Vec<i64>)>,
    ) -> PyResult<Option<u64>> {
        let (device, stream, pool, pool_bytes) = target;
        let target = Target { device, stream, pool: (pool, pool_bytes) };
        let (entry, mut slots) = (entry_of(entry)?, slots);
        let outcome = detached(py, || {
            let shapes: Vec<&[i64]> = shapes.iter().map(Vec::as_slice).collect();
            let elements = batch.as_ref().map(|(count, distances)| Elements { count: *count, distances });
            self.inner.launch_on_gpu(entry, mask, target, &shapes, &mut slots, elements)
        })?;
        outcome.map_err(|e| errors::to_python(py, &e, Some(&self.inner.spec().function)))
    }

    /// Fills blocks of a GPU's memory in the order of a stream: address, where to copy from (0: zeros), bytes.
    fn fill(&self, py: Python<'_>, device: i32, stream: u64, blocks: Vec<(u64, u64, usize)>) -> PyResult<()> {
        let blocks: Vec<Fill> = blocks.into_iter().map(|(to, from, bytes)| Fill { to, from, bytes }).collect();
        // SAFETY: blocks that the caller has just allocated, and what it copies.
        detached(py, || unsafe { self.inner.fill_on_gpu(device, stream, &blocks) })?
            .map_err(|e| errors::to_python(py, &e, Some(&self.inner.spec().function)))
    }

    /// The slots of an entry point: index of the argument, and 0 for itself, 1 for its shadow, 2 for the direction in which it
    /// moves, 3 for how its shadow changes.
    fn slots(&self, entry: &str, mask: u64) -> PyResult<Vec<(usize, u8)>> {
        let slots = self.inner.manifest().plan.slots(entry_of(entry)?, mask);
        let number = |part| match part {
            Part::Primal => 0,
            Part::Shadow => 1,
            Part::Direction => 2,
            Part::ShadowChange => 3,
        };
        Ok(slots.map(|s| (s.arg, number(s.part))).collect())
    }

    /// The shape of every argument for the shapes of the inputs.
    fn shapes(&self, py: Python<'_>, inputs: Vec<Vec<i64>>) -> PyResult<Vec<Vec<i64>>> {
        let shapes: Vec<&[i64]> = inputs.iter().map(Vec::as_slice).collect();
        let spec = self.inner.spec();
        let resolved = core_ad::shapes::resolve(&self.inner.manifest().plan, &shapes, &spec.options.sizes);
        resolved.map(|r| r.shapes).map_err(|e| errors::to_python(py, &e.into(), Some(&spec.function)))
    }

    /// Lets the operators of this process find the function by this text.
    fn register(&self, spec: &str) {
        compile_driver::registry::insert(spec, self.inner.clone());
    }

    /// The PTX of a kernel's entry points, and ptxas's report of their resources; the file's folder has every stage. `batched`:
    /// over a batch, with so many blocks along z an element.
    #[pyo3(signature = (entries, mask, arch, batched=None))]
    fn ptx(
        &self,
        py: Python<'_>,
        entries: Vec<String>,
        mask: u64,
        arch: &str,
        batched: Option<i64>,
    ) -> PyResult<(String, Vec<String>, PathBuf)> {
        let entries = entries.iter().map(|name| entry_of(name)).collect::<PyResult<Vec<Entry>>>()?;
        let ptx = detached(py, || self.inner.ptx(&entries, mask, arch, batched))?;
        let ptx = ptx.map_err(|e| errors::to_python(py, &e, Some(&self.inner.spec().function)))?;
        Ok((ptx.text, ptx.needs, ptx.folder))
    }

    /// Calls on new paths that were verified, those that were not, and the seconds in these checks.
    fn path_checks(&self) -> (u64, u64, f64) {
        let checks = self.inner.path_checks();
        (checks.checked, checks.unchecked, checks.time.as_secs_f64())
    }

    /// What the last reverse sweep of a loop over steps did: numbers by name.
    fn checkpointing(&self) -> Option<BTreeMap<&'static str, f64>> {
        let last = self.inner.checkpointing()?;
        Some(BTreeMap::from([
            ("steps", last.steps as f64),
            ("snapshots", last.snapshots as f64),
            ("on_disk", last.on_disk as f64),
            ("disk_bytes", last.disk as f64),
            ("forward", last.advanced as f64),
            ("recomputed", last.recomputed() as f64),
            ("state_bytes", last.state as f64),
            ("peak_bytes", last.peak as f64),
            ("seconds", last.time.as_secs_f64()),
        ]))
    }

    /// Whether it is a CUDA kernel.
    #[getter]
    fn is_kernel(&self) -> bool {
        self.inner.is_kernel()
    }

    /// The inputs to differentiate by on a GPU, to have it by those in `mask`.
    fn mask_on_gpu(&self, entry: &str, mask: u64) -> PyResult<u64> {
        Ok(self.inner.mask_on_gpu(entry_of(entry)?, mask))
    }

    /// Bit i is set where input i can have a gradient.
    #[getter]
    fn differentiable(&self) -> u64 {
        self.inner.manifest().plan.differentiable_mask()
    }

    /// Whether any output is an integer or a truth value.
    #[getter]
    pub(crate) fn has_integer_outputs(&self) -> bool {
        self.integer_outputs
    }

    /// Names of the inputs, in the order in which calls take them.
    #[getter]
    fn inputs(&self) -> Vec<String> {
        self.names(&self.inner.manifest().plan.inputs)
    }

    /// Names of the outputs, in the order in which calls return them.
    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.names(&self.inner.manifest().plan.outputs)
    }

    /// The values of the function; `expected` is the mask of inputs whose gradient will be wanted.
    #[pyo3(signature = (inputs, expected, batch = None))]
    fn primal<'py>(
        &self,
        py: Python<'py>,
        inputs: Bound<'py, PyTuple>,
        expected: u64,
        batch: Option<&Batch>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        self.values(py, &inputs, expected, batch)?.into_objects(py, self.output_count())
    }

    /// Gradients of the inputs in `mask` for the given cotangents (`None`: zero).
    #[pyo3(signature = (inputs, cotangents, mask, batch = None))]
    pub(crate) fn vjp<'py>(
        &self,
        py: Python<'py>,
        inputs: Bound<'py, PyTuple>,
        cotangents: Bound<'py, PyTuple>,
        mask: u64,
        batch: Option<&Batch>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let mut given = Few::new();
        self.look_at_inputs(&inputs, &mut given)?;
        let mut shadows = Few::new();
        look_at_shadows(&cotangents, "cotangent", &mut shadows)?;
        let mut results = self.results(py);
        let outcome = detached(py, || {
            let inputs: Few<Input<'_>> = given.iter().filter_map(Given::input).collect();
            let cotangents: Few<Option<View<'_>>> = shadows.iter().map(Given::view).collect();
            match batch {
                None => self.inner.vjp(&inputs, &cotangents, mask, &mut results),
                Some(batch) => self.inner.vjp_over(&batch.borrowed(), &inputs, &cotangents, mask, &mut results),
            }
        })?;
        self.finish(py, outcome, results, self.inner.manifest().plan.inputs.len())
    }

    /// As `primal`, and a tape for the gradients of the inputs in `mask`, or `None` where there can be none.
    pub(crate) fn primal_taped<'py>(
        &self,
        py: Python<'py>,
        inputs: Bound<'py, PyTuple>,
        mask: u64,
    ) -> PyResult<(Bound<'py, PyTuple>, Option<Tape>)> {
        let mut given = Few::new();
        self.look_at_inputs(&inputs, &mut given)?;
        let mut results = self.results(py);
        let outcome = detached(py, || {
            let inputs: Few<Input<'_>> = given.iter().filter_map(Given::input).collect();
            self.inner.primal_taped(&inputs, mask, &mut results)
        })?;
        let (outcome, tape) = match outcome {
            Ok(tape) => (Ok(()), tape),
            Err(error) => (Err(error), None),
        };
        let outputs = self.finish(py, outcome, results, self.inner.manifest().plan.outputs.len())?;
        Ok((outputs, tape.map(|tape| Tape { mask: tape.mask(), inner: Mutex::new(Some(tape)) })))
    }

    /// As `vjp`, from the tape if it is still there; it is used up.
    pub(crate) fn vjp_taped<'py>(
        &self,
        py: Python<'py>,
        tape: &Tape,
        inputs: Bound<'py, PyTuple>,
        cotangents: Bound<'py, PyTuple>,
        mask: u64,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let mut given = Few::new();
        self.look_at_inputs(&inputs, &mut given)?;
        let mut shadows = Few::new();
        look_at_shadows(&cotangents, "cotangent", &mut shadows)?;
        let mut results = self.results(py);
        let kept = tape.inner.lock().unwrap_or_else(PoisonError::into_inner).take();
        let outcome = detached(py, || {
            let inputs: Few<Input<'_>> = given.iter().filter_map(Given::input).collect();
            let cotangents: Few<Option<View<'_>>> = shadows.iter().map(Given::view).collect();
            self.inner.vjp_taped(kept, tape.mask, &inputs, &cotangents, mask, &mut results)
        })?;
        self.finish(py, outcome, results, self.inner.manifest().plan.inputs.len())
    }

    /// How the gradients of the inputs in `mask` change along the tangents of the inputs.
    #[pyo3(signature = (inputs, cotangents, tangents, mask, batch = None))]
    fn hvp<'py>(
        &self,
        py: Python<'py>,
        inputs: Bound<'py, PyTuple>,
        cotangents: Bound<'py, PyTuple>,
        tangents: Bound<'py, PyTuple>,
        mask: u64,
        batch: Option<&Batch>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let mut given = Few::new();
        self.look_at_inputs(&inputs, &mut given)?;
        let mut shadows = Few::new();
        look_at_shadows(&cotangents, "cotangent", &mut shadows)?;
        let mut directions = Few::new();
        look_at_shadows(&tangents, "tangent", &mut directions)?;
        let mut results = self.results(py);
        let outcome = detached(py, || {
            let inputs: Few<Input<'_>> = given.iter().filter_map(Given::input).collect();
            let cotangents: Few<Option<View<'_>>> = shadows.iter().map(Given::view).collect();
            let tangents: Few<Option<View<'_>>> = directions.iter().map(Given::view).collect();
            match batch {
                None => self.inner.hvp(&inputs, &cotangents, &tangents, mask, &mut results),
                Some(batch) => {
                    self.inner.hvp_over(&batch.borrowed(), &inputs, &cotangents, &tangents, mask, &mut results)
                }
            }
        })?;
        self.finish(py, outcome, results, self.inner.manifest().plan.inputs.len())
    }

    /// Tangents of the outputs for the given tangents of the inputs (`None`: zero).
    #[pyo3(signature = (inputs, tangents, batch = None))]
    fn jvp<'py>(
        &self,
        py: Python<'py>,
        inputs: Bound<'py, PyTuple>,
        tangents: Bound<'py, PyTuple>,
        batch: Option<&Batch>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let mut given = Few::new();
        self.look_at_inputs(&inputs, &mut given)?;
        let mut shadows = Few::new();
        look_at_shadows(&tangents, "tangent", &mut shadows)?;
        let mut results = self.results(py);
        let outcome = detached(py, || {
            let inputs: Few<Input<'_>> = given.iter().filter_map(Given::input).collect();
            let tangents: Few<Option<View<'_>>> = shadows.iter().map(Given::view).collect();
            match batch {
                None => self.inner.jvp(&inputs, &tangents, &mut results),
                Some(batch) => self.inner.jvp_over(&batch.borrowed(), &inputs, &tangents, &mut results),
            }
        })?;
        self.finish(py, outcome, results, self.inner.manifest().plan.outputs.len())
    }
}

fn entry_of(name: &str) -> PyResult<Entry> {
    match name {
        "primal" => Ok(Entry::Primal),
        "vjp" => Ok(Entry::Vjp),
        "jvp" => Ok(Entry::Jvp),
        "hvp" => Ok(Entry::Hvp),
        "jvp2" => Ok(Entry::Jvp2),
        other => Err(PyTypeError::new_err(format!("there is no kernel `{other}`: primal, vjp, jvp, hvp and jvp2 are"))),
    }
}

/// Reads cotangents or tangents.
fn look_at_shadows<'py>(objects: &Bound<'py, PyTuple>, what: &str, seen: &mut Few<Given<'py>>) -> PyResult<()> {
    for (i, object) in objects.iter_borrowed().enumerate() {
        seen.push(Given::from_object(&object, &|| format!("{what} {i}"))?);
    }
    Ok(())
}

/// A Python callable as the chooser of launches: it takes the dimensions by name and returns seven numbers.
fn chooser(callable: Py<PyAny>, function: String) -> Chooser {
    Arc::new(move |dimensions: &BTreeMap<String, i64>| {
        Python::attach(|py| {
            let given = callable.call1(py, (dimensions.clone(),))?;
            let numbers: [i64; 7] = given.extract(py)?;
            let [a, b, c, d, e, f, shared] = numbers;
            Ok(([a, b, c], [d, e, f], shared))
        })
        .map_err(|error: PyErr| {
            let headline = format!("the launch of `{function}` could not be chosen: {error}");
            Error::Device(Box::new(Diagnosis::new("launch", &function, headline)))
        })
    })
}

impl Function {
    /// As `primal`; the only output by itself.
    pub(crate) fn call<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyTuple>,
        expected: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.values(py, inputs, expected, None)?.into_one_or_all(py, self.output_count())
    }

    fn values<'f, 'py>(
        &'f self,
        py: Python<'py>,
        inputs: &Bound<'py, PyTuple>,
        expected: u64,
        batch: Option<&Batch>,
    ) -> PyResult<Allocated<'f>> {
        let mut given = Few::new();
        self.look_at_inputs(inputs, &mut given)?;
        let mut results = self.results(py);
        let outcome = detached(py, || {
            let inputs: Few<Input<'_>> = given.iter().filter_map(Given::input).collect();
            match batch {
                None => self.inner.primal(&inputs, expected, &mut results),
                Some(batch) => self.inner.primal_over(&batch.borrowed(), &inputs, expected, &mut results),
            }
        })?;
        self.report(py, outcome)?;
        Ok(results)
    }

    /// Whether a call of the primal needs no build.
    pub(crate) fn has_primal(&self) -> bool {
        self.inner.has_primal()
    }

    /// Whether forward calls keep a tape.
    pub(crate) fn keeps_tapes(&self) -> bool {
        self.inner.spec().options.mode == Mode::Tape
    }

    pub(crate) fn output_count(&self) -> usize {
        self.inner.manifest().plan.outputs.len()
    }

    pub(crate) fn input_count(&self) -> usize {
        self.inner.manifest().plan.inputs.len()
    }

    fn names(&self, args: &[usize]) -> Vec<String> {
        let plan = &self.inner.manifest().plan;
        args.iter().map(|&i| plan.args[i].name.clone()).collect()
    }

    /// Reads the inputs of a call, into the caller's list, because such a list is large to return.
    fn look_at_inputs<'py>(&self, inputs: &Bound<'py, PyTuple>, given: &mut Few<Given<'py>>) -> PyResult<()> {
        let plan = &self.inner.manifest().plan;
        let name = |i: usize| {
            let arg = plan.inputs.get(i).map(|&a| plan.args[a].name.clone());
            arg.unwrap_or_else(|| format!("input {i}"))
        };
        for (i, object) in inputs.iter_borrowed().enumerate() {
            match Given::from_object(&object, &|| name(i))? {
                Given::Nothing => {
                    return Err(errors::to_python(inputs.py(), &arrays::no_array(&name(i), "None"), None));
                }
                seen => given.push(seen),
            }
        }
        Ok(())
    }

    fn results(&self, py: Python<'_>) -> Allocated<'_> {
        Allocated::new(self.array_type.bind(py), &self.allocate, self.is_torch)
    }

    fn finish<'py>(
        &self,
        py: Python<'py>,
        outcome: Result<(), Error>,
        results: Allocated<'_>,
        count: usize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        self.report(py, outcome)?;
        results.into_objects(py, count)
    }

    /// Gives the warnings of a call, and its error if it failed.
    fn report(&self, py: Python<'_>, outcome: Result<(), Error>) -> PyResult<()> {
        if self.inner.has_warnings() {
            for text in self.inner.take_warnings() {
                errors::warn(py, &text)?;
            }
        }
        outcome.map_err(|e| errors::to_python(py, &e, Some(&self.inner.spec().function)))
    }
}

//! The fast path of an eager call in PyTorch: plain tensors, at most a first reverse derivative.
//!
//! A Python class per operation (`ffgrad/_torch/eager.py`) ties these methods to autograd: [`Eager::forward`] is its `forward`,
//! [`Backward::apply`] what autograd calls. No Python code runs between the user's call and the foreign function. Whatever is
//! not plain (transforms, forward mode, tracers, subclasses of Tensor, a backward to be differentiated) is left to the operators.

use crate::function::Function;
use crate::handles::Tape;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyString, PyTuple, PyType};

/// What a call asks PyTorch, looked up once.
struct Torch {
    /// Types of tensors behind which nothing else stands.
    plain: [Py<PyType>; 2],
    tensor: Py<PyAny>,
    is_grad_enabled: Py<PyAny>,
    /// The level outside of all levels of forward mode.
    outside: Py<PyAny>,
    are_transforms_active: Py<PyAny>,
    count_modes: Py<PyAny>,
    is_mapped: Py<PyAny>,
    forward_ad: Py<PyAny>,
    is_profiled: Py<PyAny>,
    record: Py<PyAny>,
}

impl Torch {
    fn get(py: Python<'_>) -> PyResult<&'static Torch> {
        static TORCH: PyOnceLock<Torch> = PyOnceLock::new();
        TORCH.get_or_try_init(py, || {
            let (torch, c) = (py.import("torch")?, py.import("torch._C")?);
            let tensor = torch.getattr("Tensor")?;
            let parameter = torch.getattr("nn")?.getattr("Parameter")?;
            Ok(Torch {
                plain: [tensor.clone().cast_into::<PyType>()?.unbind(), parameter.cast_into::<PyType>()?.unbind()],
                tensor: tensor.unbind(),
                outside: (-1_i64).into_pyobject(py)?.into_any().unbind(),
                is_grad_enabled: c.getattr("is_grad_enabled")?.unbind(),
                are_transforms_active: c.getattr("_are_functorch_transforms_active")?.unbind(),
                count_modes: c.getattr("_len_torch_dispatch_stack")?.unbind(),
                is_mapped: c.getattr("_functorch")?.getattr("is_legacy_batchedtensor")?.unbind(),
                forward_ad: py.import("torch.autograd.forward_ad")?.into_any().unbind(),
                is_profiled: c.getattr("_autograd")?.getattr("_profiler_enabled")?.unbind(),
                record: py.import("torch.profiler")?.getattr("record_function")?.unbind(),
            })
        })
    }

    fn is_grad_enabled(&self, py: Python<'_>) -> PyResult<bool> {
        // The function of Python serves PyTorch without the stable ABI.
        match ffgrad_torch::is_grad_enabled() {
            Some(enabled) => Ok(enabled),
            None => self.is_grad_enabled.bind(py).call0()?.is_truthy(),
        }
    }

    /// Whether a transform or a tracer stands between calls and data.
    fn is_interposed(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.are_transforms_active.bind(py).call0()?.is_truthy()?
            || self.count_modes.bind(py).call0()?.is_truthy()?)
    }

    fn is_pushing_forward(&self, py: Python<'_>) -> PyResult<bool> {
        let level = self.forward_ad.bind(py).getattr(intern!(py, "_current_level"))?;
        // Small numbers are the same objects everywhere; where they are not, they are compared.
        Ok(!level.is(&self.outside) && level.ge(0)?)
    }

    /// Whether any is batched as `is_grads_batched=True` does it, which no transform shows.
    fn any_mapped(&self, values: &Bound<'_, PyTuple>) -> PyResult<bool> {
        let is_mapped = self.is_mapped.bind(values.py());
        for value in values.iter_borrowed() {
            if self.is_plain(&value) && is_mapped.call1((value,))?.is_truthy()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_plain(&self, value: &Bound<'_, PyAny>) -> bool {
        let ty = value.get_type_ptr();
        self.plain.iter().any(|known| known.as_ptr() == ty.cast())
    }

    fn is_tensor(&self, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.is_plain(value) || value.is_instance(self.tensor.bind(value.py()))?)
    }
}

/// An operation's calls and backward passes.
#[pyclass(frozen, module = "ffgrad._native")]
pub struct Eager {
    function: Py<Function>,
    /// What profilers call a call.
    row: Py<PyString>,
    /// The bound `apply` of the operation's `autograd.Function`.
    apply: PyOnceLock<Py<PyAny>>,
}

#[pymethods]
impl Eager {
    #[new]
    fn new(function: Py<Function>, row: Py<PyString>) -> Self {
        Eager { function, row, apply: PyOnceLock::new() }
    }

    /// Sets the `apply` of the `autograd.Function` whose `forward` this is.
    fn bind(&self, py: Python<'_>, apply: Py<PyAny>) {
        let _ = self.apply.set(py, apply);
    }

    /// Calls the function; `None` where the call is not plain.
    fn call<'py>(&self, py: Python<'py>, inputs: Bound<'py, PyTuple>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let torch = Torch::get(py)?;
        if torch.is_interposed(py)? || torch.is_pushing_forward(py)? {
            return Ok(None);
        }
        let mut watched = false;
        for input in inputs.iter_borrowed() {
            if torch.is_plain(&input) {
                watched = watched || input.getattr(intern!(py, "requires_grad"))?.is_truthy()?;
            } else if torch.is_tensor(&input)? {
                return Ok(None);
            }
        }
        let outputs = match self.apply.get(py) {
            Some(apply) if watched && torch.is_grad_enabled(py)? => apply.bind(py).call1(inputs.clone()),
            // A row of autograd's own there is only with a gradient.
            _ if torch.is_profiled.bind(py).call0()?.is_truthy()? => self.recorded(py, torch, &inputs),
            _ => self.function.get().call(py, &inputs, 0),
        };
        match outputs {
            // What has no memory of its own: only now is it worth asking why.
            Err(_) if torch.any_mapped(&inputs)? => Ok(None),
            outputs => outputs.map(Some),
        }
    }

    /// `forward` of the `autograd.Function`.
    #[pyo3(signature = (context, *inputs))]
    fn forward<'py>(
        &self,
        py: Python<'py>,
        context: &Bound<'py, PyAny>,
        inputs: Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let function = self.function.get();
        let expected = if function.has_primal() { 0 } else { wanted(context)? };
        let outputs = if function.keeps_tapes() {
            let (outputs, tape) = function.primal_taped(py, inputs.clone(), wanted(context)?)?;
            context.setattr(intern!(py, "tape"), tape)?;
            one_or_all(outputs)?
        } else {
            function.call(py, &inputs, expected)?
        };
        save(py, context, inputs)?;
        if function.output_count() > 1 {
            // A cotangent that is not requested is `None`, not zeros that would be computed with.
            context.setattr(intern!(py, "materialize_grads"), PyBool::new(py, false))?;
        }
        if function.has_integer_outputs() {
            mark_integers(py, context, &outputs)?;
        }
        Ok(outputs)
    }
}

impl Eager {
    /// A call that a profiler sees.
    fn recorded<'py>(
        &self,
        py: Python<'py>,
        torch: &Torch,
        inputs: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let row = torch.record.bind(py).call1((self.row.bind(py),))?;
        row.call_method0(intern!(py, "__enter__"))?;
        let outputs = self.function.get().call(py, inputs, 0);
        row.call_method1(intern!(py, "__exit__"), (py.None(), py.None(), py.None()))?;
        outputs
    }
}

/// Base of the class of backward nodes; see `eager.py`.
#[pyclass(frozen, subclass, module = "ffgrad._native")]
pub struct Backward;

#[pymethods]
impl Backward {
    /// The function that autograd calls: the gradients of the inputs, in their order.
    #[pyo3(signature = (*cotangents))]
    fn apply<'py>(
        slf: &Bound<'py, Self>,
        py: Python<'py>,
        cotangents: Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (torch, node) = (Torch::get(py)?, slf.as_any());
        let is_plain = |v: &Bound<'py, PyAny>| v.is_none() || torch.is_plain(v);
        let plain = cotangents.iter_borrowed().all(|v| is_plain(&v));
        if !plain || torch.is_grad_enabled(py)? || torch.is_interposed(py)? {
            return by_operators(node, &cotangents);
        }
        let eager = node.getattr(intern!(py, "_eager"))?;
        let function = eager.cast::<Eager>()?.get().function.get();
        let inputs = saved(py, node, function.input_count())?;
        let tape = if function.keeps_tapes() { Some(node.getattr(intern!(py, "tape"))?) } else { None };
        let gradients = match tape.as_ref().and_then(|tape| tape.cast::<Tape>().ok()) {
            Some(tape) => function.vjp_taped(py, tape.get(), inputs, cotangents.clone(), wanted(node)?),
            None => function.vjp(py, inputs, cotangents.clone(), wanted(node)?, None),
        };
        match gradients {
            Err(_) if torch.any_mapped(&cotangents)? => by_operators(node, &cotangents),
            gradients => Ok(gradients?.into_any()),
        }
    }
}

/// The backward pass of the operators, which is differentiable and can be mapped.
fn by_operators<'py>(node: &Bound<'py, PyAny>, cotangents: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    let py = node.py();
    let backward = node.getattr(intern!(py, "_forward_cls"))?.getattr(intern!(py, "backward"))?;
    let arguments: Vec<Bound<'py, PyAny>> = std::iter::once(node.clone()).chain(cotangents.iter()).collect();
    backward.call1(PyTuple::new(py, arguments)?)
}

/// Marks, for autograd, the outputs without a gradient.
fn mark_integers<'py>(py: Python<'py>, context: &Bound<'py, PyAny>, outputs: &Bound<'py, PyAny>) -> PyResult<()> {
    let all = match outputs.cast::<PyTuple>() {
        Ok(all) => all.clone(),
        Err(_) => PyTuple::new(py, [outputs])?,
    };
    let mut integers = Vec::new();
    for output in all.iter() {
        if !output.call_method0(intern!(py, "is_floating_point"))?.is_truthy()? {
            integers.push(output);
        }
    }
    context.setattr(intern!(py, "non_differentiable"), PyTuple::new(py, integers)?)
}

/// Mask of the inputs whose gradient is asked for.
fn wanted(context: &Bound<'_, PyAny>) -> PyResult<u64> {
    let needs = context.getattr(intern!(context.py(), "needs_input_grad"))?.cast_into::<PyTuple>()?;
    needs.iter_borrowed().enumerate().try_fold(0, |mask, (i, need)| Ok(mask | u64::from(need.is_truthy()?) << i))
}

fn one_or_all(outputs: Bound<'_, PyTuple>) -> PyResult<Bound<'_, PyAny>> {
    if outputs.len() == 1 { outputs.get_item(0) } else { Ok(outputs.into_any()) }
}

/// Keeps the inputs for the backward pass: tensors with torch's guard against changes, numbers beside them.
fn save<'py>(py: Python<'py>, context: &Bound<'py, PyAny>, inputs: Bound<'py, PyTuple>) -> PyResult<()> {
    let torch = Torch::get(py)?;
    let (to_save, none) = (intern!(py, "to_save"), py.None().into_bound(py));
    if inputs.iter_borrowed().all(|x| torch.is_plain(&x)) {
        return context.setattr(to_save, inputs);
    }
    let (mut tensors, mut numbers) = (Vec::new(), Vec::new());
    for input in inputs.iter() {
        if torch.is_tensor(&input)? {
            tensors.push(input);
            numbers.push(none.clone());
        } else {
            numbers.push(input);
        }
    }
    context.setattr(to_save, PyTuple::new(py, tensors)?)?;
    context.setattr(intern!(py, "numbers"), PyTuple::new(py, numbers)?)
}

/// The inputs that [`save`] kept.
fn saved<'py>(py: Python<'py>, context: &Bound<'py, PyAny>, count: usize) -> PyResult<Bound<'py, PyTuple>> {
    let tensors = context.getattr(intern!(py, "saved_tensors"))?.cast_into::<PyTuple>()?;
    if tensors.len() == count {
        return Ok(tensors);
    }
    let numbers = context.getattr(intern!(py, "numbers"))?.cast_into::<PyTuple>()?;
    let mut left = tensors.iter();
    let inputs = numbers.iter().map(|number| if number.is_none() { left.next().unwrap_or(number) } else { number });
    PyTuple::new(py, inputs.collect::<Vec<_>>())
}

//! `ffgrad check`: compares a function's derivatives with finite differences at random arguments.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;

use clap::Args;
use compile_driver::call::arguments::{Input, Results, View};
use compile_driver::function::Function;
use core_ad::DerivativeSet;
use core_ad::derivative_set::Order;
use core_ad::{CallPlan, DType};
use serde::Serialize;

use crate::Outcome;
use crate::points::{LARGEST_STEP, Points, Random, Values};
use crate::show::table;
use crate::source::Source;
use crate::wording;

/// Arguments of `check`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ffgrad check test.c f
  ffgrad check mv.c matvec -s 'A[m,n], x[n] -> y[m]' --dim m=3 --dim n=4 --trials 5
  ffgrad check table.c lookup -s 'x[n], k -> y[n]' --value k=2
  ffgrad check pipe.c flow -s 'length, friction -> return' --range length=1:50 --range friction=0.01:0.1

Prints for each input one number computed in three ways: by forward mode, by reverse mode and by central differences of the function.
Exits with 1 if they disagree, or if no input can be differentiated.

Numbers are normally distributed, with mean 0 and variance 1. That suits few physical quantities: a length is not negative. Give such an
input a range or a value.")]
pub struct Check {
    #[command(flatten)]
    pub source: Source,
    /// Value of a dimension (else 5)
    #[arg(long = "dim", value_name = "NAME=N", value_parser = crate::source::size)]
    dims: Vec<(String, i64)>,
    /// Value of an input, of every element of an array (integers: else 1)
    #[arg(long = "value", value_name = "NAME=X", value_parser = crate::points::value)]
    values: Vec<(String, f64)>,
    /// Range of an input: numbers are drawn between LO and HI, integers from LO to HI
    #[arg(long = "range", value_name = "NAME=LO:HI", value_parser = crate::points::range)]
    ranges: Vec<(String, [f64; 2])>,
    /// How many random points
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..))]
    trials: u64,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What one input's derivative is at one point.
#[derive(Debug, Serialize)]
struct Row {
    trial: u64,
    input: String,
    forward: f64,
    reverse: f64,
    differences: f64,
    error: f64,
    right: bool,
}

/// Results of a call, kept here.
#[derive(Default)]
struct Kept(BTreeMap<usize, (DType, usize, Vec<u64>)>);

impl Results for Kept {
    fn allocate(&mut self, position: usize, dtype: DType, shape: &[i64]) -> compile_driver::error::Result<*mut u8> {
        let count = usize::try_from(shape.iter().product::<i64>()).unwrap_or(0);
        let kept = (dtype, count, vec![0u64; (count * dtype.size()).div_ceil(8).max(1)]);
        self.0.insert(position, kept);
        let memory = self.0.get_mut(&position).map(|(_, _, words)| words.as_mut_ptr());
        Ok(memory.map_or(std::ptr::null_mut(), |m| m.cast()))
    }
}

impl Kept {
    fn numbers(&self, position: usize) -> Vec<f64> {
        let Some((dtype, count, words)) = self.0.get(&position) else { return Vec::new() };
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_ne_bytes()).collect();
        let elements = bytes.chunks_exact(dtype.size()).take(*count);
        let number = |b: &[u8]| match dtype {
            DType::F64 => b.try_into().map_or(f64::NAN, f64::from_ne_bytes),
            DType::F32 => b.try_into().map_or(f64::NAN, |b| f64::from(f32::from_ne_bytes(b))),
            _ => 0.0,
        };
        elements.map(number).collect()
    }
}

impl Check {
    /// Does it.
    pub fn run(self) -> Result<Outcome, Box<dyn Error>> {
        let function = Function::open(self.source.spec())?;
        let points = Points::new(self.dims, self.values, self.ranges, &function.manifest().plan)?;
        let mut random = Random::seeded(self.seed);
        let mut rows = Vec::new();
        for trial in 1..=self.trials {
            rows.extend(look(&function, &points, trial, &mut random)?);
        }
        let warnings = function.take_warnings();
        let success = rows.iter().all(|r| r.right) && !rows.is_empty();
        if self.json {
            let whole = serde_json::json!({ "rows": rows, "warnings": warnings, "right": success });
            return Ok(Outcome { text: format!("{}\n", serde_json::to_string_pretty(&whole)?), success });
        }
        Ok(Outcome { text: rendered(&rows, &warnings, success), success })
    }
}

/// Has a function's derivatives checked at a random point, as a first call would.
pub fn prove(
    function: &Function,
    wanted: DerivativeSet,
    points: &Points,
    random: &mut Random,
) -> Result<(), Box<dyn Error>> {
    let plan = &function.manifest().plan;
    let random_input = |&i: &usize, random: &mut Random| points.input(plan, i, random);
    let point: Vec<Values> = plan.inputs.iter().map(|i| random_input(i, random)).collect::<Result<_, _>>()?;
    let directions: Vec<Values> = plan.inputs.iter().map(|i| random_input(i, random)).collect::<Result<_, _>>()?;
    let inputs: Vec<Input<'_>> = point.iter().map(|v| Input::Array(v.view())).collect();
    let resolved = function.resolve(&inputs)?;
    let given = |(p, v): (usize, &'_ Values)| (wanted.mask >> p & 1 == 1).then(|| v.clone());
    let tangents: Vec<Option<Values>> = directions.iter().enumerate().map(given).collect();
    let tangents: Vec<Option<View<'_>>> = tangents.iter().map(|t| t.as_ref().map(Values::view)).collect();
    let weights: Vec<Option<Values>> = plan
        .outputs
        .iter()
        .map(|&o| {
            let (dtype, shape) = (plan.args[o].dtype, resolved.shapes[o].clone());
            let count = shape.iter().product::<i64>();
            dtype.is_float().then(|| Values::new(dtype, shape, (0..count).map(|_| random.normal()).collect()))
        })
        .collect();
    let cotangents: Vec<Option<View<'_>>> = weights.iter().map(|w| w.as_ref().map(Values::view)).collect();
    let (mask, mut kept) = (wanted.mask, Kept::default());
    match wanted.order {
        Order::First => function.vjp(&inputs, &cotangents, mask, &mut kept)?,
        Order::Second => function.hvp(&inputs, &cotangents, &tangents, mask, &mut kept)?,
        Order::Forward => function.jvp2(&inputs, &tangents, &tangents, &mut kept)?,
        Order::Taped => drop(function.primal_taped(&inputs, mask, &mut kept)?),
    }
    Ok(())
}

fn rendered(rows: &[Row], warnings: &[String], success: bool) -> String {
    let mut cells = vec![["TRIAL", "INPUT", "FORWARD", "REVERSE", "DIFFERENCES", "ERROR", ""].map(str::to_owned)];
    cells.extend(rows.iter().map(|r| {
        let number = |x: f64| format!("{x:.8e}");
        let verdict = if r.right { "right" } else { "WRONG" };
        let (forward, reverse, differences) = (number(r.forward), number(r.reverse), number(r.differences));
        [
            r.trial.to_string(),
            r.input.clone(),
            forward,
            reverse,
            differences,
            format!("{:.1e}", r.error),
            verdict.into(),
        ]
    }));
    let mut text = table(&cells);
    for warning in warnings {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "warning: {}", wording::of_command(warning));
    }
    text.push_str(match (rows.is_empty(), success) {
        (true, _) => "no input can be differentiated\n",
        (false, true) => "every derivative is right at these arguments\n",
        (false, false) => "a derivative disagrees with finite differences\n",
    });
    text
}

/// One random point: a row for each input that can be differentiated.
fn look(function: &Function, points: &Points, trial: u64, random: &mut Random) -> Result<Vec<Row>, Box<dyn Error>> {
    let plan = &function.manifest().plan;
    let point: Vec<Values> = plan.inputs.iter().map(|&i| points.input(plan, i, random)).collect::<Result<_, _>>()?;
    let primal = |at: &[Values]| -> Result<Kept, Box<dyn Error>> {
        let inputs: Vec<Input<'_>> = at.iter().map(|v| Input::Array(v.view())).collect();
        let mut kept = Kept::default();
        function.primal(&inputs, 0, &mut kept)?;
        Ok(kept)
    };
    let value = primal(&point)?;
    let weights: Vec<Option<Values>> = (0..plan.outputs.len())
        .map(|o| {
            let (dtype, count, _) = value.0.get(&o)?;
            let shape = vec![i64::try_from(*count).unwrap_or(0)];
            dtype.is_float().then(|| Values::new(*dtype, shape, (0..*count).map(|_| random.normal()).collect()))
        })
        .collect();
    let resolved = function.resolve(&point.iter().map(|v| Input::Array(v.view())).collect::<Vec<_>>())?;
    let weights: Vec<Option<Values>> = weights
        .into_iter()
        .zip(&plan.outputs)
        .map(|(w, &arg)| w.map(|w| w.shaped(resolved.shapes[arg].clone())))
        .collect();
    let weigh = |kept: &Kept| -> f64 {
        let sum = |(o, w): (usize, &Option<Values>)| w.as_ref().map_or(0.0, |w| dot(&w.numbers, &kept.numbers(o)));
        weights.iter().enumerate().map(sum).sum()
    };
    let inputs: Vec<Input<'_>> = point.iter().map(|v| Input::Array(v.view())).collect();
    let mask = plan.differentiable_mask();
    let mut gradients = Kept::default();
    let cotangents: Vec<Option<View<'_>>> = weights.iter().map(|w| w.as_ref().map(Values::view)).collect();
    if mask != 0 {
        function.vjp(&inputs, &cotangents, mask, &mut gradients)?;
    }
    let mut rows = Vec::new();
    for (p, start) in point.iter().enumerate().filter(|(p, _)| mask >> p & 1 == 1) {
        let size = points.spread(&plan.args[plan.inputs[p]]);
        let direction: Vec<f64> = start.numbers.iter().map(|_| size * random.normal()).collect();
        let tangent = Values::new(start.dtype, start.shape.clone(), direction.clone());
        let tangents: Vec<Option<View<'_>>> = (0..point.len()).map(|q| (q == p).then(|| tangent.view())).collect();
        let mut along = Kept::default();
        function.jvp(&inputs, &tangents, &mut along)?;
        let (forward, reverse) = (weigh(&along), dot(&direction, &gradients.numbers(p)));
        let shifted = |h: f64| -> Result<f64, Box<dyn Error>> {
            let mut at = point.clone();
            at[p] = start.moved(&direction, h);
            Ok(weigh(&primal(&at)?))
        };
        let modes = Modes { forward, reverse, size };
        rows.push(judged(plan, p, trial, &modes, start.dtype, &shifted)?);
    }
    Ok(rows)
}

/// A derivative along a direction by both modes, and how long the direction is.
struct Modes {
    forward: f64,
    reverse: f64,
    size: f64,
}

fn judged(
    plan: &CallPlan,
    p: usize,
    trial: u64,
    modes: &Modes,
    dtype: DType,
    shifted: &dyn Fn(f64) -> Result<f64, Box<dyn Error>>,
) -> Result<Row, Box<dyn Error>> {
    let &Modes { forward, reverse, size } = modes;
    let single = dtype == DType::F32 || plan.args.iter().any(|a| a.dtype == DType::F32);
    let (steps, identity, coarse) =
        if single { ([LARGEST_STEP, 3e-3], 3e-3, 5e-2) } else { ([1e-5, 1e-6], 1e-7, 1e-3) };
    let mut best = (f64::INFINITY, f64::NAN);
    for h in steps {
        let differences = (shifted(h)? - shifted(-h)?) / (2.0 * h);
        let gap = (differences - forward).abs();
        if gap < best.0 {
            best = (gap, differences);
        }
    }
    // Along a short direction (a narrow range) derivatives are small, and so is what counts as zero.
    let least = 1e-3 * size.min(1.0);
    let scale = forward.abs().max(reverse.abs()).max(best.1.abs()).max(least);
    let right = (forward - reverse).abs() <= identity * scale && best.0 <= coarse * scale;
    let error = (forward - reverse).abs().max(best.0) / scale;
    let input = plan.args[plan.inputs[p]].name.clone();
    Ok(Row { trial, input, forward, reverse, differences: best.1, error, right })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

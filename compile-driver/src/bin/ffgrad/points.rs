//! The random points of `ffgrad check` and `ffgrad export --check`: dimensions, values and ranges that the caller gives, else defaults.

use std::collections::{BTreeMap, BTreeSet};

use compile_driver::call::arguments::View;
use core_ad::{Arg, CallPlan, DType, Dim};

/// The largest step of finite differences, in units of the direction.
pub const LARGEST_STEP: f64 = 1e-2;
/// [`Random::normal`] is never larger.
const MOST: f64 = 6.0;

/// What the command line says of the points.
pub struct Points {
    dims: BTreeMap<String, i64>,
    given: BTreeMap<String, Given>,
}

/// Where an input's numbers come from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Given {
    Value(f64),
    Range(f64, f64),
}

/// `NAME=X`.
pub fn value(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=X")?;
    Ok((name.to_owned(), number(value)?))
}

/// `NAME=LO:HI`.
pub fn range(text: &str) -> Result<(String, [f64; 2]), String> {
    let (name, range) = text.split_once('=').ok_or("expected NAME=LO:HI")?;
    let (low, high) = range.split_once(':').ok_or("expected NAME=LO:HI")?;
    let (low, high) = (number(low)?, number(high)?);
    if low >= high {
        return Err(format!("{low} is not below {high}"));
    }
    Ok((name.to_owned(), [low, high]))
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(|| format!("`{text}` is not a number"))
}

impl Points {
    /// For the inputs of a plan.
    ///
    /// # Errors
    ///
    /// A dimension that no input has, a name that no input has or that has a value and a range, and an integer input with a value or range that has no integer.
    pub fn new(
        dims: Vec<(String, i64)>,
        values: Vec<(String, f64)>,
        ranges: Vec<(String, [f64; 2])>,
        plan: &CallPlan,
    ) -> Result<Self, String> {
        let values = values.into_iter().map(|(name, x)| (name, Given::Value(x)));
        let ranges = ranges.into_iter().map(|(name, [low, high])| (name, Given::Range(low, high)));
        let mut given = BTreeMap::new();
        for (name, entry) in values.chain(ranges) {
            let arg = named(plan, &name)?;
            if !arg.dtype.is_float() && !entry.has_integer() {
                return Err(format!("`{name}` is an integer: give it an integer, or a range that has one"));
            }
            if given.insert(arg.name.clone(), entry).is_some() {
                return Err(format!("`{name}` is given twice: give it one --value or one --range"));
            }
        }
        let known = symbols(plan);
        if let Some((name, _)) = dims.iter().find(|(name, _)| !known.contains(name.as_str())) {
            let all: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            return Err(match all.is_empty() {
                true => {
                    format!("`--dim {name}`: the inputs of `{}` have no dimension without a number", plan.signature)
                }
                false => format!("`--dim {name}`: the dimensions of the inputs are {}", all.join(", ")),
            });
        }
        Ok(Points { dims: dims.into_iter().collect(), given })
    }

    /// Random values for an input.
    ///
    /// # Errors
    ///
    /// A dimension that is negative or cannot be computed.
    pub fn input(&self, plan: &CallPlan, index: usize, random: &mut Random) -> Result<Values, String> {
        let arg = &plan.args[index];
        let shape: Vec<i64> = arg.shape.iter().map(|d| extent(d, &self.dims)).collect::<Result<_, _>>()?;
        let count = usize::try_from(shape.iter().product::<i64>())
            .map_err(|_| format!("`{}` would have a negative number of elements; set --dim", arg.spelled()))?;
        let given = self.given.get(&arg.name).copied();
        let numbers = (0..count).map(|_| draw(given, arg.dtype, self.spread(arg), random)).collect();
        Ok(Values::new(arg.dtype, shape, numbers))
    }

    /// The size of a direction along which a floating-point input is moved.
    pub fn spread(&self, arg: &Arg) -> f64 {
        match self.given.get(&arg.name) {
            Some(&Given::Value(x)) if x != 0.0 => x.abs(),
            Some(&Given::Range(low, high)) => (high - low) / 2.0,
            _ => 1.0,
        }
    }
}

impl Given {
    fn has_integer(self) -> bool {
        match self {
            Given::Value(x) => x.fract() == 0.0,
            Given::Range(low, high) => low.ceil() <= high.floor(),
        }
    }
}

/// The dimensions of the inputs that have names.
fn symbols(plan: &CallPlan) -> BTreeSet<&str> {
    fn add<'p>(dim: &'p Dim, found: &mut BTreeSet<&'p str>) {
        match dim {
            Dim::Int(_) => {}
            Dim::Sym(name) => {
                found.insert(name);
            }
            Dim::Add(a, b) | Dim::Sub(a, b) | Dim::Mul(a, b) | Dim::FloorDiv(a, b) => {
                add(a, found);
                add(b, found);
            }
        }
    }
    let mut found = BTreeSet::new();
    plan.inputs.iter().flat_map(|&i| &plan.args[i].shape).for_each(|dim| add(dim, &mut found));
    found
}

/// The input of a name.
fn named<'p>(plan: &'p CallPlan, name: &str) -> Result<&'p Arg, String> {
    let mut inputs = plan.inputs.iter().map(|&i| &plan.args[i]);
    inputs.clone().find(|arg| arg.name == name).ok_or_else(|| {
        let all: Vec<String> = inputs.by_ref().map(|arg| format!("`{}`", arg.name)).collect();
        format!("no input is called `{name}`: the inputs are {}", all.join(", "))
    })
}

/// A number. Finite differences step away from it, and stay inside the range.
fn draw(given: Option<Given>, dtype: DType, spread: f64, random: &mut Random) -> f64 {
    match given {
        Some(Given::Value(x)) => x,
        Some(Given::Range(low, high)) if dtype.is_float() => {
            let margin = LARGEST_STEP * MOST * spread;
            low + margin + random.unit() * (high - low - 2.0 * margin)
        }
        Some(Given::Range(low, high)) => {
            let (low, high) = (low.ceil(), high.floor());
            low + (random.unit() * (high - low + 1.0)).floor()
        }
        None if dtype.is_float() => random.normal(),
        None => 1.0,
    }
}

/// Values of an array, in double precision, with its shape.
#[derive(Clone)]
pub struct Values {
    pub dtype: DType,
    pub shape: Vec<i64>,
    pub numbers: Vec<f64>,
    bytes: Vec<u64>,
}

impl Values {
    /// Of a type and a shape.
    pub fn new(dtype: DType, shape: Vec<i64>, numbers: Vec<f64>) -> Self {
        let mut bytes = vec![0u64; (numbers.len() * dtype.size()).div_ceil(8).max(1)];
        let start = bytes.as_mut_ptr().cast::<u8>();
        for (i, &x) in numbers.iter().enumerate() {
            // SAFETY: the buffer was made for this many elements of this type.
            unsafe { put(start.add(i * dtype.size()), dtype, x) };
        }
        Values { dtype, shape, numbers, bytes }
    }

    /// The same with a shape of as many elements.
    pub fn shaped(self, shape: Vec<i64>) -> Self {
        Values { shape, ..self }
    }

    /// As a call takes them.
    pub fn view(&self) -> View<'_> {
        View { data: self.bytes.as_ptr().cast(), dtype: self.dtype, shape: &self.shape, strides: None }
    }

    /// The values at a step along a direction.
    pub fn moved(&self, direction: &[f64], step: f64) -> Self {
        let numbers = self.numbers.iter().zip(direction).map(|(x, d)| x + step * d).collect();
        Values::new(self.dtype, self.shape.clone(), numbers)
    }
}

/// # Safety
///
/// `place` has room for an element of the type.
unsafe fn put(place: *mut u8, dtype: DType, x: f64) {
    let bytes = match dtype {
        DType::F64 => x.to_ne_bytes().to_vec(),
        DType::F32 => (x as f32).to_ne_bytes().to_vec(),
        // Integers of every size, and truth values: the low bytes.
        other => (x as i64).to_le_bytes()[..other.size()].to_vec(),
    };
    // SAFETY: the caller's promise; the lengths are those of the type.
    unsafe { place.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
}

/// The value of a dimension; symbols without a given value are 5.
fn extent(dim: &Dim, dims: &BTreeMap<String, i64>) -> Result<i64, String> {
    let both = |a: &Dim, b: &Dim| Ok::<_, String>((extent(a, dims)?, extent(b, dims)?));
    let value = match dim {
        Dim::Int(n) => Some(*n),
        Dim::Sym(name) => Some(dims.get(name).copied().unwrap_or(5)),
        Dim::Add(a, b) => both(a, b).map(|(a, b)| a.checked_add(b))?,
        Dim::Sub(a, b) => both(a, b).map(|(a, b)| a.checked_sub(b))?,
        Dim::Mul(a, b) => both(a, b).map(|(a, b)| a.checked_mul(b))?,
        Dim::FloorDiv(a, b) => both(a, b).map(|(a, b)| if b == 0 { None } else { Some(a.div_euclid(b)) })?,
    };
    value.ok_or_else(|| "a dimension overflows or divides by zero; set --dim".to_owned())
}

/// Numbers that look normally distributed, from splitmix64.
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn seeded(seed: u64) -> Self {
        Random(seed)
    }

    /// Between 0 and 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Mean 0, variance 1, between -6 and 6.
    pub fn normal(&mut self) -> f64 {
        // Twelve uniform numbers: mean 6, variance 1.
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_are_computed_and_have_a_default() {
        let dims = BTreeMap::from([("m".to_owned(), 3)]);
        let sum = Dim::Add(Box::new(Dim::Sym("m".into())), Box::new(Dim::Sym("n".into())));
        assert_eq!(extent(&sum, &dims), Ok(8));
        let nothing = Dim::FloorDiv(Box::new(Dim::Int(1)), Box::new(Dim::Int(0)));
        assert!(extent(&nothing, &dims).is_err());
    }

    #[test]
    fn random_numbers_have_mean_zero_and_variance_one() {
        let mut random = Random(7);
        let all: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
        let mean = all.iter().sum::<f64>() / 20_000.0;
        let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.05 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }

    #[test]
    fn drawn_numbers_and_the_steps_of_differences_stay_inside_the_range() {
        let mut random = Random(3);
        let (low, high, spread) = (1e-9, 3e-9, 1e-9);
        for _ in 0..2000 {
            let x = draw(Some(Given::Range(low, high)), DType::F64, spread, &mut random);
            let step = LARGEST_STEP * spread * random.normal();
            assert!(x - step.abs() >= low && x + step.abs() <= high);
        }
    }

    #[test]
    fn integers_are_drawn_from_both_ends_of_a_range_on() {
        let mut random = Random(5);
        let drawn: std::collections::BTreeSet<i64> =
            (0..200).map(|_| draw(Some(Given::Range(1.5, 4.0)), DType::I32, 1.25, &mut random) as i64).collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [2, 3, 4]);
    }

    #[test]
    fn values_and_ranges_are_read() {
        assert_eq!(value("k=0.5"), Ok(("k".to_owned(), 0.5)));
        assert_eq!(range("k=-1:2e3"), Ok(("k".to_owned(), [-1.0, 2e3])));
        assert_eq!(range("k=2:1"), Err("2 is not below 1".to_owned()));
        assert_eq!(range("k=1"), Err("expected NAME=LO:HI".to_owned()));
        assert_eq!(value("k=inf"), Err("`inf` is not a number".to_owned()));
    }
}

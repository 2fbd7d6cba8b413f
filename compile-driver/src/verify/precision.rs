//! Compares the gradient of a function in single precision with that of the same source built in double precision.
//!
//! In single precision forward and reverse mode agree to about four digits where nothing is wrong and sums cancel; an error of that size
//! would not be seen. The double build tells rounding from errors, and tells the user where rounding has taken the digits.

use crate::call::arguments::Call;
use crate::error::Result;
use crate::load::artifact::Artifact;
use crate::verify::Probe;
use crate::verify::sample::{Numbers, Point, numbers, root_mean_square, words};
use core_ad::DType;

/// How far values may be apart, relative to their array, for both builds to be the same function.
const SAME: f64 = 1e-2;

/// How far a gradient may be off its own size, and the part of its array's size that is not its own.
const APART: f64 = 2e-2;
const FLOOR: f64 = 0.1;

/// A build at a point: its call, its derivative, and the values of every argument.
pub struct Build<'a> {
    /// Shapes and plan.
    pub call: &'a Call<'a>,
    /// The derivative.
    pub artifact: &'a Artifact,
    /// In the types of its own plan.
    pub point: &'a Point,
}

/// The values of a call in single precision as those of the double build: `double` has its buffers.
pub fn widened(single: &Call<'_>, point: &Point, double: &Call<'_>) -> Point {
    let plan = single.plan;
    let widen = |arg: usize| match plan.args[arg].dtype {
        DType::F32 if single.elements(arg) > 0 => {
            words(&numbers(&point[arg], DType::F32, single.elements(arg)), DType::F64)
        }
        DType::F32 => vec![0; double.bytes(arg).div_ceil(8).max(1)],
        _ => point[arg].clone(),
    };
    (0..plan.args.len()).map(widen).collect()
}

/// Whether both builds compute the same values but for rounding.
///
/// # Errors
///
/// What the foreign code throws.
pub fn are_one_function(single: &Build<'_>, double: &Build<'_>) -> Result<bool> {
    let values = |build: &Build<'_>| Probe::new(build.call, build.artifact, false, 1).primal(build.point);
    Ok(are_near(&values(single)?, &values(double)?))
}

/// What is wrong with the gradient in single precision; `None` where it is that of the double build, or that is another function.
///
/// # Errors
///
/// What the foreign code throws.
pub fn difference(single: &Build<'_>, double: &Build<'_>) -> Result<Option<String>> {
    if !are_one_function(single, double)? {
        return Ok(None);
    }
    let mut coarse = Probe::new(single.call, single.artifact, true, 1);
    let fine = Probe::new(double.call, double.artifact, false, 1);
    let cotangent: Numbers =
        coarse.random_cotangent().iter().map(|all| all.iter().map(|v| f64::from(*v as f32)).collect()).collect();
    let (given, expected) = (coarse.vjp(single.point, &cotangent)?, fine.vjp(double.point, &cotangent)?);
    let names = single.call.plan.args.iter().map(|arg| arg.name.as_str());
    Ok(names.zip(given.iter().zip(&expected)).find_map(|(name, (given, expected))| worst(name, given, expected)))
}

fn are_near(one: &Numbers, other: &Numbers) -> bool {
    one.iter().zip(other).all(|(a, b)| {
        let size = root_mean_square(b);
        a.iter().zip(b).all(|(a, b)| (a - b).abs() <= SAME * (size + b.abs()))
    })
}

/// The element that is furthest off, where any is too far.
fn worst(name: &str, given: &[f64], expected: &[f64]) -> Option<String> {
    let size = root_mean_square(expected);
    let error = |i: usize| (given[i] - expected[i]).abs() / (FLOOR * size + expected[i].abs());
    let worst = (0..given.len()).max_by(|a, b| error(*a).total_cmp(&error(*b)))?;
    let place = if given.len() > 1 { format!("{name}[{worst}]") } else { name.to_owned() };
    (error(worst) > APART).then(|| {
        format!(
            "the derivative in `{place}` is {:.6e} in single precision and {:.6e} where the same source is built in double precision",
            given[worst], expected[worst]
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_judged_by_its_own_size_and_its_array_s() {
        assert_eq!(worst("x", &[1.0, 100.0], &[1.1, 100.0]), None, "small beside its array");
        assert_eq!(worst("x", &[], &[]), None);
        let text = worst("x", &[1.0, 2.0], &[1.0, 2.1]).unwrap_or_default();
        assert!(text.contains("`x[1]` is 2.000000e0"), "{text}");
        assert!(worst("a", &[f64::NAN], &[1.0]).is_none(), "what is not finite is decided elsewhere");
    }

    #[test]
    fn builds_whose_values_differ_are_other_functions() {
        assert!(are_near(&vec![vec![1.0, 2.0]], &vec![vec![1.001, 2.0]]));
        assert!(!are_near(&vec![vec![1.0, 2.0]], &vec![vec![1.5, 2.0]]));
    }
}

//! Tests of shapes that fit, and of the errors for those that do not.

use super::{Resolved, ShapeError, batch, resolve};
use crate::{Arg, CallPlan, DType, Dim, Passing, Role};
use std::collections::BTreeMap;

fn dim(text: &str) -> Dim {
    // One operator at most, which is all these tests need.
    for (mark, node) in [("//", Dim::FloorDiv as fn(_, _) -> _), ("+", Dim::Add), ("-", Dim::Sub), ("*", Dim::Mul)] {
        if let Some((a, b)) = text.split_once(mark) {
            return node(Box::new(dim(a)), Box::new(dim(b)));
        }
    }
    text.parse().map_or_else(|_| Dim::Sym(text.to_owned()), Dim::Int)
}

fn arg(role: Role, dtype: DType, text: &str) -> Arg {
    let (name, dims) = text.trim_end_matches(']').split_once('[').unwrap_or((text, ""));
    let shape = dims.split(',').filter(|d| !d.is_empty()).map(dim).collect();
    let passing = if dims.is_empty() { Passing::Value } else { Passing::Pointer };
    Arg {
        name: name.to_owned(),
        role,
        dtype,
        passing,
        shape,
        constant: false,
        flat: false,
        column_major: false,
        batched: false,
        text: None,
    }
}

fn plan(args: Vec<Arg>) -> CallPlan {
    let having = |roles: &[Role]| (0..args.len()).filter(|&i| roles.contains(&args[i].role)).collect();
    let inputs = having(&[Role::Input, Role::InOut]);
    let outputs = having(&[Role::Output, Role::InOut, Role::Return]);
    CallPlan { args, inputs, outputs, drops_return: false, signature: "x[n], z[n] -> y[n]".into() }
}

/// Inputs, then outputs, then `int` sizes.
fn declared(inputs: &[&str], outputs: &[&str], sizes: &[&str]) -> CallPlan {
    let of = |role, dtype, texts: &[&str]| -> Vec<Arg> { texts.iter().map(|t| arg(role, dtype, t)).collect() };
    let mut args = of(Role::Input, DType::F64, inputs);
    args.extend(of(Role::Output, DType::F64, outputs));
    args.extend(of(Role::Size, DType::I32, sizes).into_iter().map(|a| Arg { passing: Passing::Value, ..a }));
    plan(args)
}

fn flat() -> CallPlan {
    let mut plan = declared(&["x[n]", "z[n]"], &["y[n]"], &["n[n]"]);
    plan.args[..3].iter_mut().for_each(|arg| arg.flat = true);
    plan
}

fn ok(plan: &CallPlan, inputs: &[&[i64]]) -> Resolved {
    resolve(plan, inputs, &BTreeMap::new()).unwrap()
}

fn refused(plan: &CallPlan, inputs: &[&[i64]]) -> ShapeError {
    resolve(plan, inputs, &BTreeMap::new()).unwrap_err()
}

#[test]
fn symbols_are_bound_by_inputs_and_give_outputs_and_sizes() {
    let plan = declared(&["A[m,n]", "x[n]", "dt"], &["y[m+1]", "r"], &["n[n]"]);
    let resolved = ok(&plan, &[&[4, 3], &[3], &[]]);
    assert_eq!(resolved.shapes, [vec![4, 3], vec![3], vec![], vec![5], vec![], vec![]]);
    assert_eq!(resolved.sizes, [0, 0, 0, 0, 0, 3]);
}

#[test]
fn expressions_are_inverted_whatever_the_order_of_the_inputs() {
    let plan = declared(&["a[m*n]", "b[2*n]", "c[9-k]"], &["y[n,m,k]"], &[]);
    assert_eq!(ok(&plan, &[&[12], &[6], &[4]]).shapes[3], [3, 4, 5]);
}

#[test]
fn empty_arrays_are_shapes_like_others() {
    assert_eq!(ok(&declared(&["x[n]"], &["y[2*n]"], &[]), &[&[0]]).shapes[1], [0]);
    assert_eq!(ok(&flat(), &[&[0, 4], &[0]]).sizes[3], 0);
}

#[test]
fn flat_arguments_take_any_shape_and_outputs_have_that_of_the_first() {
    let resolved = ok(&flat(), &[&[2, 3], &[6]]);
    assert_eq!(resolved.shapes, [vec![2, 3], vec![6], vec![2, 3], vec![]]);
    assert_eq!(resolved.sizes[3], 6);
}

#[test]
fn sizes_bind_symbols_and_contradict_shapes() {
    let plan = declared(&["x[n]"], &["y[k]"], &[]);
    let sizes = |n| BTreeMap::from([("k".to_owned(), 8), ("n".to_owned(), n)]);
    assert_eq!(resolve(&plan, &[&[3]], &sizes(3)).unwrap().shapes[1], [8]);
    insta::assert_snapshot!(resolve(&plan, &[&[3]], &sizes(2)).unwrap_err(), @"`n` is 2 in `sizes` but 3 in `x[n]` (dimension 0): correct one of them");
    insta::assert_snapshot!(refused(&plan, &[&[3]]), @r#"`k` of `y` needs `k`, which follows from no shape: give sizes={"k": ...}"#);
}

#[test]
fn a_contradiction_names_both_places() {
    let error = refused(&declared(&["x[n]", "A[m,n]"], &[], &[]), &[&[3], &[2, 4]]);
    insta::assert_snapshot!(error, @"`n` is 3 in `x[n]` (dimension 0) but 4 in `A[m,n]` (dimension 1): correct one of them");
    assert_eq!((&*error.argument, &*error.expected, &*error.got), ("A", "3", "4"));
}

#[test]
fn flat_inputs_of_different_sizes_need_a_signature() {
    insta::assert_snapshot!(refused(&flat(), &[&[2, 3], &[5]]), @r#"`z` has 5 elements but `x` has 6: without a signature all arrays have the same number of elements; give one such as "x[n], z[n] -> y[n]" with the real shapes"#);
}

#[test]
fn wrong_dimensions_and_ranks_are_named() {
    let plan = declared(&["x[n]", "e[4,n+1]"], &[], &[]);
    insta::assert_snapshot!(refused(&plan, &[&[3], &[5, 4]]), @"`e[4,n+1]` (dimension 0) is 5, expected 4");
    insta::assert_snapshot!(refused(&plan, &[&[3], &[4, 5]]), @"`e[4,n+1]` (dimension 1) is 5, expected `n+1` = 4, where `n` is 3 in `x[n]` (dimension 0)");
    insta::assert_snapshot!(refused(&plan, &[&[3], &[4]]), @"`e` has the shape [4]: expected 2 dimensions, `e[4,n+1]`");
    insta::assert_snapshot!(refused(&plan, &[&[3, 3], &[4, 4]]), @"`x` has the shape [3, 3]: expected 1 dimension, `x[n]`");
    insta::assert_snapshot!(refused(&plan, &[&[-3], &[4, -2]]), @"`x` has the shape [-3]: a dimension cannot be negative");
    insta::assert_snapshot!(refused(&plan, &[&[3]]), @"expected 2 inputs (`x`, `e`), got 1");
    insta::assert_snapshot!(refused(&declared(&["dt"], &[], &[]), &[&[1]]), @"`dt` has the shape [1]: it is a scalar, expected the shape []");
}

#[test]
fn equations_without_one_solution_are_refused() {
    insta::assert_snapshot!(refused(&declared(&["x[2*n]"], &[], &[]), &[&[5]]), @"`2*n` = 5 in `x[2*n]` has no one integer solution: correct the shape, or give the symbol in `sizes`");
    insta::assert_snapshot!(refused(&declared(&["x[n]", "z[n*m]"], &[], &[]), &[&[0], &[0]]), @"`n*m` = 0 in `z[n*m]` has no one integer solution, where `n` is 0 in `x[n]` (dimension 0): correct the shape, or give the symbol in `sizes`");
}

#[test]
fn outputs_cannot_be_negative_too_large_or_divided_by_zero() {
    insta::assert_snapshot!(refused(&declared(&["x[n]"], &["y[n-3]"], &[]), &[&[2]]), @"`n-3` of `y[n-3]` is -1, where `n` is 2 in `x[n]` (dimension 0): a dimension cannot be negative");
    insta::assert_snapshot!(refused(&declared(&["x[n]"], &["y[8//n]"], &[]), &[&[0]]), @"`8//n` of `y` divides by zero, where `n` is 0 in `x[n]` (dimension 0)");
    let huge = 1 << 40;
    insta::assert_snapshot!(refused(&declared(&["x[n]"], &["y[n*n]"], &[]), &[&[huge]]), @"`n*n` of `y` exceeds 64 bits, where `n` is 1099511627776 in `x[n]` (dimension 0)");
    insta::assert_snapshot!(refused(&declared(&["x[n]"], &["y[n,n]"], &[]), &[&[huge]]), @"`y` with the shape [1099511627776, 1099511627776] is larger than any memory: use smaller arrays");
}

#[test]
fn a_size_must_fit_its_integer() {
    let error = refused(&declared(&["x[n]"], &[], &["n[n]"]), &[&[1 << 31]]);
    insta::assert_snapshot!(error, @"`n` is 2147483648, which does not fit its type int32: use smaller arrays, or a wider integer in the source");
    assert_eq!(ok(&declared(&["x[n]"], &[], &["n[n]"]), &[&[(1 << 31) - 1]]).sizes[1], (1 << 31) - 1);
}

#[test]
fn division_rounds_towards_minus_infinity() {
    let plan = declared(&["x[n]"], &["y[9+n]"], &["q[n//4]"]);
    let mut plan = plan;
    plan.args[2].shape = vec![Dim::FloorDiv(Box::new(dim("1-n")), Box::new(Dim::Int(4)))];
    assert_eq!(ok(&plan, &[&[6]]).sizes[2], -2);
}

proptest::proptest! {
    #[test]
    fn resolving_any_shape_never_panics(a: i64, b: i64, k: i64) {
        let plan = declared(&["x[n]", "z[k*m]"], &["y[n//m]", "w[n-k]", "v[n+m]"], &["n[n]"]);
        let _ = resolve(&plan, &[&[a], &[b]], &BTreeMap::from([("k".to_owned(), k)]));
    }

    #[test]
    fn what_is_resolved_fits_into_memory(a in extent(), b in extent(), k in extent()) {
        let plan = declared(&["x[n]", "z[m]"], &["y[n*m]", "w[n*n-k]", "v[(n+m)*k*k]"], &["n[n]"]);
        if let Ok(resolved) = resolve(&plan, &[&[a], &[b]], &BTreeMap::from([("k".to_owned(), k)])) {
            for shape in &resolved.shapes {
                let bytes = shape.iter().try_fold(8i64, |all, &n| if n < 0 { None } else { all.checked_mul(n) });
                proptest::prop_assert!(bytes.is_some(), "{:?}", shape);
            }
        }
    }
}

/// Extents of every magnitude, negative ones among them.
fn extent() -> impl proptest::strategy::Strategy<Value = i64> {
    use proptest::prelude::*;
    prop_oneof![-2i64..10, (0u32..63).prop_map(|bits| 1i64 << bits), any::<i64>()]
}

#[test]
fn batch_dimensions_broadcast_as_in_numpy() {
    let mut plan = declared(&["x[n]", "w[n]", "t"], &["y[n]"], &[]);
    plan.args.iter_mut().for_each(|a| a.batched = true);
    let lead = |arg, shape: &[i64], batch: &[i64]| batch::lead(&plan, arg, shape, batch, true).unwrap();
    let leads = [lead(0, &[7, 5, 4, 3], &[7]), lead(1, &[1, 4, 3], &[7]), lead(2, &[7, 5, 1], &[7])];
    assert_eq!(leads.map(|l| (l.mapped, l.own)), [(1, 2), (1, 1), (1, 2)]);
    let shapes: [&[i64]; 3] = [&[7, 5, 4, 3], &[1, 4, 3], &[7, 5, 1]];
    assert_eq!(batch::broadcast(&plan, &shapes, &leads).unwrap(), [5, 4]);
    let short = batch::Lead { mapped: 0, own: 1 };
    let refused = batch::broadcast(&plan, &[&[0, 3], &[2, 3]], &[short, short]).unwrap_err();
    insta::assert_snapshot!(refused, @"the batch dimensions are [0] in `x[...,n]` but [2] in `w[...,n]`: they must be the same or 1, counted from the last");
    insta::assert_snapshot!(batch::lead(&plan, 0, &[4, 3], &[7], true).unwrap_err(), @"`x` has the shape [4, 3], but the batch is [7]: its shape must begin with these sizes, or with 1 in their place");
}

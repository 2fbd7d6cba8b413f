//! Tests of what signatures mean, and of the errors for those that are wrong.

use super::plan;
use crate::{Access, Arg, CallPlan, DType, Dim, Param, ParamType, Passing, Prototype};
use crate::{ReturnType, Role};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A prototype from a C declaration; pointers have their access: `double* r:x`.
pub(crate) fn prototype(declaration: &str) -> Prototype {
    let (head, params) = declaration.trim_end_matches(')').split_once('(').unwrap();
    let (returns, function) = head.split_once(' ').unwrap();
    Prototype {
        function: function.to_owned(),
        symbol: function.to_owned(),
        file: "mv.c".to_owned(),
        line: 3,
        returns: match (returns, dtype(returns)) {
            ("void", _) => ReturnType::Void,
            (_, Some(dtype)) => ReturnType::Value { dtype },
            _ => ReturnType::Unsupported { spelled: returns.to_owned() },
        },
        params: params.split(", ").map(param).collect(),
        fortran: None,
        adapter: None,
    }
}

fn param(text: &str) -> Param {
    let (spelled, name) = text.rsplit_once(' ').unwrap();
    let (access, name) = name.split_once(':').unwrap_or(("rw", name));
    let access = match access {
        "r" => Access::Read,
        "w" => Access::Write,
        "-" => Access::Unused,
        _ => Access::ReadWrite,
    };
    let base = spelled.trim_start_matches("const ").trim_end_matches('*').trim_end_matches("[]");
    let constant = spelled.starts_with("const");
    let ty = match (dtype(base), spelled.ends_with('*')) {
        (Some(dtype), true) => ParamType::Pointer { dtype, constant },
        (Some(dtype), false) => ParamType::Value { dtype },
        (None, _) => ParamType::Unsupported,
    };
    let access = matches!(ty, ParamType::Pointer { .. }).then_some(access);
    Param { name: name.to_owned(), ty, spelled: spelled.to_owned(), access, adapted: None }
}

fn dtype(name: &str) -> Option<DType> {
    match name {
        "double" => Some(DType::F64),
        "float" => Some(DType::F32),
        "int" => Some(DType::I32),
        "size_t" => Some(DType::U64),
        "bool" => Some(DType::Bool),
        _ => None,
    }
}

const NONE: [(&str, i64); 0] = [];

fn sizes<const N: usize>(sizes: [(&str, i64); N]) -> BTreeMap<String, i64> {
    sizes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn planned(declaration: &str, signature: &str) -> CallPlan {
    plan(&prototype(declaration), Some(signature), &sizes(NONE)).unwrap()
}

fn by_default(declaration: &str) -> CallPlan {
    plan(&prototype(declaration), None, &sizes(NONE)).unwrap()
}

fn refused(declaration: &str, signature: &str) -> String {
    plan(&prototype(declaration), Some(signature), &sizes(NONE)).unwrap_err().to_string()
}

fn in_doubt(declaration: &str) -> String {
    plan(&prototype(declaration), None, &sizes(NONE)).unwrap_err().to_string()
}

fn roles(plan: &CallPlan) -> Vec<Role> {
    plan.args.iter().map(|arg| arg.role).collect()
}

fn sym(name: &str) -> Vec<Dim> {
    vec![Dim::Sym(name.to_owned())]
}

const MATVEC: &str = "void matvec(const double* r:A, const double* r:x, int m, int n, double* w:y)";

#[test]
fn the_matrix_vector_product_of_the_design_is_planned() {
    let plan = planned(MATVEC, "A[m,n], x[n] -> y[m]");
    assert_eq!(roles(&plan), [Role::Input, Role::Input, Role::Size, Role::Size, Role::Output]);
    assert_eq!((plan.inputs, plan.outputs), (vec![0, 1], vec![4]));
    assert_eq!(plan.args[3].shape, sym("n"));
    assert_eq!((plan.args[3].passing, plan.args[0].passing), (Passing::Value, Passing::Pointer));
    assert!(!plan.drops_return && plan.args.iter().all(|arg| !arg.flat));
}

#[test]
fn names_stand_in_any_order_and_the_order_of_inputs_is_kept() {
    let plan = planned(MATVEC, "x[ n ],A[m , n]->y[m]");
    assert_eq!(plan.inputs, [1, 0]);
    assert_eq!(plan.signature, "x[n], A[m,n] -> y[m]");
}

#[test]
fn a_name_on_both_sides_is_updated_in_place() {
    let plan = planned("void step(double* rw:u, double dt, size_t n)", "u[n], dt -> u[n]");
    assert_eq!(roles(&plan), [Role::InOut, Role::Input, Role::Size]);
    assert_eq!((plan.inputs, plan.outputs), (vec![0, 1], vec![0]));
    assert_eq!((plan.args[1].passing, plan.args[1].shape.len()), (Passing::Value, 0));
}

#[test]
fn the_value_of_the_function_is_the_last_argument() {
    let plan = planned("double loss(const double* r:x, int n)", "x[n] -> return");
    let last = Arg { dtype: DType::F64, ..super::check::arg("return", Role::Return, DType::F64, Passing::Value) };
    assert_eq!(plan.args.last(), Some(&last));
    assert_eq!(plan.outputs, [2]);
    let dropped = planned("int f(double* r:x, double* w:y, int n)", "x[n] -> y[n]");
    assert!(dropped.drops_return && dropped.args.len() == 3);
}

#[test]
fn constants_scratch_and_sizes_are_planned() {
    let fem = prototype("void asm(double* r:x, double* r:e, double* w:K, double* rw:work, int n, int k)");
    let text = "x[3,n], const e[4,k] -> K[n,n]; work[8*n]";
    let plan = plan(&fem, Some(text), &sizes(NONE)).unwrap();
    assert!(plan.args[1].constant && !plan.args[0].constant);
    assert_eq!(plan.args[3].role, Role::Scratch);
    assert_eq!(plan.signature, text);
}

#[test]
fn integers_are_sizes_if_they_name_a_dimension_or_are_given_and_inputs_if_mentioned() {
    let f = prototype("double f(double* r:x, int n, int order, int steps, int* r:cap, int* r:idx)");
    let plan = plan(&f, Some("x[n,cap], order, idx -> return"), &sizes([("steps", 9)])).unwrap();
    let expected = [Role::Input, Role::Size, Role::Input, Role::Size, Role::Size, Role::Input, Role::Return];
    assert_eq!(roles(&plan), expected);
    assert_eq!((plan.args[4].passing, plan.args[4].shape.clone()), (Passing::Pointer, sym("cap")));
    assert!(plan.args[2].constant && plan.args[5].constant);
    assert_eq!((plan.args[5].passing, plan.args[5].shape.len()), (Passing::Pointer, 0));
}

#[test]
fn symbols_are_bound_through_expressions_of_one_unknown() {
    let declaration = "void f(double* r:x, double* r:z, double* w:y)";
    planned(declaration, "x[2*n+1], z[n*m] -> y[m]");
    assert!(refused(declaration, "x[n//2], z[n+m] -> y[m]").contains("follows from no input"));
}

#[test]
fn in_place_arguments_may_be_only_written() {
    let plan = planned("void bc(double* w:u, double a, int n)", "u[n], a -> u[n]");
    assert_eq!(plan.args[0].role, Role::InOut);
}

#[test]
fn the_classic_function_needs_no_signature() {
    let plan = by_default("void f(float* r:inp, size_t n, float* w:out)");
    assert_eq!(roles(&plan), [Role::Input, Role::Size, Role::Output]);
    assert!(plan.args[0].flat && plan.args[2].flat && !plan.args[1].flat);
    assert!(plan.args.iter().all(|arg| arg.shape == sym("n")));
    assert_eq!(plan.signature, "inp[n] -> out[n]");
}

#[test]
fn defaults_follow_the_access_of_each_pointer() {
    let plan = by_default("double f(const double* rw:x, double* rw:u, double* -:pad, double a, bool b)");
    assert_eq!(roles(&plan), [Role::Input, Role::InOut, Role::Input, Role::Input, Role::Input, Role::Return]);
    assert_eq!((plan.outputs, plan.inputs), (vec![1, 5], vec![0, 1, 2, 3, 4]));
    assert!(plan.args[4].constant && !plan.args[3].flat);
    assert_eq!(plan.signature, "x[n], u[n], pad[n], a, b -> u[n], return");
}

#[test]
fn every_integer_is_the_number_of_elements_by_default_unless_sizes_gives_it() {
    let f = prototype("double f(double* r:x, int order, int n)");
    let plan = plan(&f, None, &sizes([("order", 2)])).unwrap();
    let shapes: Vec<_> = plan.args[1..3].iter().map(|arg| arg.shape.clone()).collect();
    assert_eq!(shapes, [sym("order"), sym("n")]);
    assert_eq!(plan.args[0].shape, sym("n"));
}

#[test]
fn an_error_code_is_dropped_by_default() {
    let plan = by_default("int f(double* r:x, double* w:y)");
    assert!(plan.drops_return);
    assert_eq!(plan.outputs, [1]);
}

#[test]
fn all_problems_are_reported_at_once() {
    insta::assert_snapshot!(refused(MATVEC, "A[m,n], z[n], x[k], x[n], m[2] -> A[m,n], y, n, return; x[2]"), @r#"
    9 problems with the function's signature
      - `z` is no parameter of `matvec`: use the names of the prototype
      - `x` is mentioned twice left of `->`: mention it once
      - `return` is an output, but `matvec` returns `void`: name the pointers it writes to instead
      - `A` is to be written, but it is a `const double*`: name it only left of `->`
      - `x` is scratch and also an input or output: mention it on one side of `;`
      - `x` is to be written, but it is a `const double*`: name it only left of `->`
      - `m` has dimensions, but it is one `int` by value: write it without brackets
      - `m` is an input and a dimension, which could contradict each other: leave it out left of `->` (it follows from the shapes), or rename the dimension
      - `n` stands right of `->`, but it is passed by value, so that nothing can be written to it: move it left of `->`
      mv.c:3  |  void matvec(const double *A, const double *x, int m, int n, double *y)
      a signature to start from: "A[m,n], x[n] -> y[m]"
    "#);
}

#[test]
fn unmentioned_parameters_are_told_what_they_may_be() {
    insta::assert_snapshot!(refused("double f(double* r:x, double dt, int k, float* rw:w, Mesh* m)", "x[n] -> return"), @r#"
    4 problems with the function's signature
      - `dt` is never mentioned: name it left of `->`
      - `k` is never mentioned: use it as a dimension, name it left of `->`, or give sizes={"k": ...}
      - `w` is never mentioned: name it left of `->` (input), right of it (output) or after `;` (scratch)
      - `m` has the type `Mesh*`, which no tensor can be passed as: wrap the function in one that takes pointers to numbers, and numbers
      mv.c:3  |  double f(double *x, double dt, int k, float *w, Mesh *m)
    "#);
}

#[test]
fn a_syntax_error_points_at_its_place() {
    insta::assert_snapshot!(refused(MATVEC, "A[m n], x[n] - y[m]"), @r#"
    2 problems with the function's signature
      - expected `,`, `]` or one of `+ - * //`, found `n`
          A[m n], x[n] - y[m]
              ^
      - expected `[`, `,`, `->` or `;`, found `-`
          A[m n], x[n] - y[m]
                       ^
      mv.c:3  |  void matvec(const double *A, const double *x, int m, int n, double *y)
      a signature to start from: "A[m,n], x[n] -> y[m]"
    "#);
}

#[test]
fn a_matrix_with_rows_of_a_variable_length_has_both_sizes() {
    insta::assert_snapshot!(in_doubt("double total(int n, int m, const double[]* r:u)"), @r#"
    `n`, `m` are all integers, and it is not known what each of them counts: give a signature
      mv.c:3  |  double total(int n, int m, const double (*u)[])
      a signature to start from: "u[n,m] -> return"
    "#);
}

#[test]
fn inputs_and_outputs_must_agree_with_what_the_function_does() {
    let f = "void f(double* r:x, double* w:y, double* rw:u, double a)";
    insta::assert_snapshot!(refused(f, "y[n], const u[n] -> x[n], u[n,n], a; return[3]"), @r#"
    6 problems with the function's signature
      - `return` stands after `;`, but it is the value of `f`: move it right of `->`
      - `x` is an output, but `f` never writes to it: name it only left of `->`
      - `y` is an input, but `f` only writes to it: move it right of `->`
      - `u[n]` left of `->` is `u[n,n]` right of it: what is updated in place keeps its shape
      - `u` is updated in place, so that its result depends on it: leave out `const`
      - `a` stands right of `->`, but it is passed by value, so that nothing can be written to it: move it left of `->`
      mv.c:3  |  void f(double *x, double *y, double *u, double a)
      a signature to start from: "x[n], u[n], a -> y[n], u[n]"
    "#);
}

#[test]
fn dimensions_must_be_sensible() {
    let f = prototype("double f(double* r:x, double a, int n)");
    let error = plan(&f, Some("x[n,a], a, n -> return[n//0]"), &sizes([("nn", 3)])).unwrap_err();
    insta::assert_snapshot!(error, @r#"
    5 problems with the function's signature
      - `return` is a scalar and has no dimensions: write it without brackets (`return[...]` over a batch)
      - `n` is an input and a dimension, which could contradict each other: leave it out left of `->` (it follows from the shapes), or rename the dimension
      - `a` is a dimension of `x[n,a]`, but the parameter `a` is a `double`: choose another name for the dimension
      - `return[n//0]` divides by zero: correct it
      - `sizes` gives `nn`, which is neither a symbol of the signature nor an integer parameter (closest: `n`): correct it or leave it out
      mv.c:3  |  double f(double *x, double a, int n)
      a signature to start from: "x[n], a -> return"
    "#);
}

#[test]
fn the_dots_of_a_batch_are_kept_in_the_plan() {
    let plan = planned(MATVEC, "A[m,n], x[..., n] -> y[...,m]");
    assert_eq!(plan.signature, "A[m,n], x[...,n] -> y[...,m]");
    let batched: Vec<bool> = plan.args.iter().map(|a| a.batched).collect();
    assert_eq!(batched, [false, true, false, false, true]);
    assert_eq!(plan.args[1].shape, sym("n"));
}

#[test]
fn scalars_and_values_may_differ_from_element_to_element() {
    let plan = planned("double f(const double* r:x, double t, int n)", "x[n], t[...] -> return[...]");
    assert_eq!(plan.signature, "x[n], t[...] -> return[...]");
    assert!(plan.args[1].shape.is_empty() && plan.args[1].batched && plan.args[3].batched);
}

#[test]
fn dots_that_do_not_belong_together_are_explained() {
    let step = "void step(double* rw:u, double* r:x, double* w:y, double* rw:work, int n)";
    insta::assert_snapshot!(refused(step, "u[...,n], x[n] -> u[n], y[n]; work[...,n]"), @r#"
    3 problems with the function's signature
      - `work[...,n]` is scratch, and each element has its own: leave out `...`
      - `u[...,n]` left of `->` is `u[n]` right of it: what is updated in place keeps its shape
      - `step` is called for each element of the batch of `u[...,n]`, so that there are as many `y`: write `y[...,n]`
      mv.c:3  |  void step(double *u, double *x, double *y, double *work, int n)
      a signature to start from: "u[n], x[n], work[n] -> u[n], y[n], work[n]"
    "#);
    insta::assert_snapshot!(refused(MATVEC, "A[m,n], x[n] -> y[...,m]"), @r#"
    `y[...,m]` has batch dimensions, but no input has any: write `...` at the inputs that differ from element to element
      mv.c:3  |  void matvec(const double *A, const double *x, int m, int n, double *y)
      a signature to start from: "A[m,n], x[n] -> y[m]"
    "#);
    insta::assert_snapshot!(refused("double f(double* r:x, int n)", "x[...,n] -> return"), @r#"
    `f` is called for each element of the batch of `x[...,n]`, so that there are as many `return`: write `return[...]`
      mv.c:3  |  double f(double *x, int n)
      a signature to start from: "x[n] -> return"
    "#);
}

#[test]
fn a_signature_without_a_differentiable_output_is_refused() {
    insta::assert_snapshot!(refused("int f(double* r:x, int n)", "x[n] -> return"), @"
    no output of `f` is a floating-point number, so that it has no derivative: name one right of `->`
      mv.c:3  |  int f(double *x, int n)
    ");
    assert!(refused("int f(double* r:x, int n)", "x[n] ->").starts_with("there is nothing right"));
}

#[test]
fn doubts_about_the_defaults_are_reported_at_once() {
    insta::assert_snapshot!(in_doubt("int f(Mesh* m, double* w:y, double* -:p, int n)"), @"
    2 problems with the function's signature
      - `m` has the type `Mesh*`, which no tensor can be passed as: wrap the function in one that takes pointers to numbers, and numbers
      - `p` is never read or written, so its meaning is unclear: give a signature
      mv.c:3  |  int f(Mesh *m, double *y, double *p, int n)
    ");
    insta::assert_snapshot!(in_doubt("double f(double x, int k)"), @r#"
    the value of `k` follows from no input array: give a signature, and `sizes` for what does not follow from inputs
      mv.c:3  |  double f(double x, int k)
      a signature to start from: "x, k -> return"
    "#);
    insta::assert_snapshot!(in_doubt("void f(double a, double* w:y, int n)"), @r#"
    2 problems with the function's signature
      - the shape of the output `y` follows from no input array: give a signature, and `sizes` for what does not follow from inputs
      - the value of `n` follows from no input array: give a signature, and `sizes` for what does not follow from inputs
      mv.c:3  |  void f(double a, double *y, int n)
      a signature to start from: "a -> y[n]", with sizes={"n": ...}
    "#);
    insta::assert_snapshot!(in_doubt("Pair f(double* r:x, int n, int inc)"), @"
    2 problems with the function's signature
      - `f` returns a `Pair`, which no tensor can hold: wrap the function in one that returns a number, or stores its members through pointers (`double *result`)
      - `n`, `inc` are all integers, and it is not known what each of them counts: give a signature
      mv.c:3  |  Pair f(double *x, int n, int inc)
    ");
}

#[test]
fn only_signatures_that_fit_are_suggested() {
    for declaration in [MATVEC, "double f(double x, int k)", "void f(double a, double* w:y, int n)"] {
        let error = plan(&prototype(declaration), Some("oops"), &sizes(NONE)).unwrap_err();
        let suggestion = error.suggestion.unwrap();
        let bound = if suggestion.starts_with("a ->") { sizes([("n", 2)]) } else { sizes(NONE) };
        let again = plan(&prototype(declaration), Some(&suggestion), &bound).unwrap();
        assert_eq!(again.signature, suggestion);
    }
    let hopeless = plan(&prototype("void f(double* r:x)"), None, &sizes(NONE)).unwrap_err();
    assert_eq!(hopeless.suggestion, None);
}

#[test]
fn more_inputs_than_bits_in_a_mask_are_refused() {
    let scalars = |count: usize| {
        let params: Vec<String> = (0..count).map(|i| format!("double a{i}")).collect();
        format!("double f({})", params.join(", "))
    };
    assert_eq!(by_default(&scalars(64)).inputs.len(), 64);
    assert!(in_doubt(&scalars(65)).starts_with("there are 65 inputs"));
}

fn dims() -> impl Strategy<Value = String> {
    let leaf = prop_oneof!["[nmk]", "[0-9]"];
    leaf.prop_recursive(3, 8, 2, |inner| {
        (inner.clone(), prop_oneof![Just("+"), Just("-"), Just("*"), Just("//")], inner)
            .prop_map(|(a, mark, b)| format!("({a}) {mark} ( {b})"))
    })
}

proptest! {
    #[test]
    fn planning_any_text_never_panics(text in ".*") {
        let _ = plan(&prototype(MATVEC), Some(&text), &sizes(NONE));
    }

    #[test]
    fn the_normal_form_means_the_same_plan(
        shapes in prop::collection::vec(prop::collection::vec(dims(), 1..3), 5),
        order in Just([0, 1, 2, 3]).prop_shuffle(),
        constant: bool,
    ) {
        let f = prototype("double f(double* rw:a, double* rw:b, double s, double* rw:c, double* rw:w, int n)");
        let array = |name: &str, i: usize| format!("{name}[{}]", shapes[i].join(", "));
        let word = if constant { "const " } else { "" };
        let all = [array("a", 0), format!("{word}{}", array("b", 1)), format!("{word}s"), array("c", 2)];
        let left: Vec<&str> = order.iter().map(|&i: &usize| all[i].as_str()).collect();
        let text = format!("{} -> return, {} ; {}", left.join(","), array("c", 2), array("w", 3));
        let bound = sizes([("n", 3), ("m", 4), ("k", 5)]);
        // Literal divisions by zero and sizes of symbols that no shape has are refused.
        if let Ok(first) = plan(&f, Some(&text), &bound) {
            prop_assert_eq!(&plan(&f, Some(&first.signature), &bound).unwrap(), &first);
        }
    }
}

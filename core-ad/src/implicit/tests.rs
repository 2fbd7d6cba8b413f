//! Prototypes that fit, those that do not, and the program's calls.

use super::*;

fn param(name: &str, ty: ParamType, access: Option<Access>) -> Param {
    let spelled = match &ty {
        ParamType::Value { dtype } => c_name(*dtype).to_owned(),
        ParamType::Pointer { dtype, constant } => {
            format!("{}{} *", if *constant { "const " } else { "" }, c_name(*dtype))
        }
        ParamType::Unsupported => "struct S".to_owned(),
    };
    Param { name: name.to_owned(), ty, spelled, access, adapted: None }
}

fn number(name: &str) -> Param {
    param(name, ParamType::Value { dtype: DType::F64 }, None)
}

fn integer(name: &str) -> Param {
    param(name, ParamType::Value { dtype: DType::I32 }, None)
}

fn read(name: &str) -> Param {
    param(name, ParamType::Pointer { dtype: DType::F64, constant: true }, Some(Access::Read))
}

fn written(name: &str) -> Param {
    param(name, ParamType::Pointer { dtype: DType::F64, constant: false }, Some(Access::ReadWrite))
}

fn prototype(function: &str, returns: Option<DType>, params: Vec<Param>) -> Prototype {
    Prototype {
        function: function.to_owned(),
        symbol: function.to_owned(),
        file: "f.c".to_owned(),
        line: 1,
        returns: returns.map_or(ReturnType::Void, |dtype| ReturnType::Value { dtype }),
        params,
        fortran: None,
        adapter: None,
    }
}

fn rule(text: &str) -> Implicit {
    serde_json::from_str(text).expect("a rule")
}

fn of(text: &str, solver: Vec<Param>, residual: Vec<Param>) -> Result<String, String> {
    program(&rule(text), &prototype("solve", None, solver), &prototype("residual", None, residual), 0)
}

#[test]
fn parameters_are_matched_by_name_whatever_their_order() {
    let solver = vec![read("p"), integer("m"), written("x"), integer("n"), number("tolerance")];
    let residual = vec![written("r"), read("x"), read("p"), integer("n")];
    let text = of(r#"{"implicit": "residual"}"#, solver, residual).expect("fits");
    assert!(text.contains("ffgrad_said(r, x, b2, b3)"), "{text}");
    assert!(text.contains("long n = (long)(a3)"), "{text}");
    assert!(text.contains("ffgrad_given(a0, a1, x, a3, a4)"), "{text}");
}

#[test]
fn what_is_in_doubt_has_to_be_said() {
    let two = || vec![written("x"), written("y"), integer("n")];
    let both = || vec![read("x"), read("y"), integer("n"), written("r")];
    let text = of(r#"{"implicit": "residual"}"#, two(), both()).expect_err("ambiguous");
    assert_eq!(text, "any of `x`, `y` may be the unknown of `solve`: add unknown=\"...\"");
    assert!(of(r#"{"implicit": "residual", "unknown": "x"}"#, two(), both()).is_ok());
    let text = of(r#"{"implicit": "residual"}"#, vec![written("x")], vec![read("x"), written("r")]).expect_err("no n");
    assert_eq!(text, "`solve` has no integer that counts the unknowns: add size=NUMBER");
    assert!(of(r#"{"implicit": "residual", "size": 3}"#, vec![written("x")], vec![read("x"), written("r")]).is_ok());
}

#[test]
fn a_solver_that_returns_its_solution_has_one_unknown() {
    let solver = prototype("solve", Some(DType::F64), vec![number("p")]);
    let residual = prototype("residual", Some(DType::F64), vec![number("x"), number("p")]);
    let text = program(&rule(r#"{"implicit": "residual"}"#), &solver, &residual, 2).expect("fits");
    assert!(text.contains("double ffgrad_implicit_solver_2(double a0)"), "{text}");
    let minimum = program(&rule(r#"{"implicit": "residual", "kind": "minimum"}"#), &solver, &residual, 0);
    assert!(minimum.expect("fits").contains("__enzyme_autodiff_implicit_0"));
    let types = prototype("residual", Some(DType::F32), vec![number("x"), number("p")]);
    assert!(program(&rule(r#"{"implicit": "residual"}"#), &solver, &types, 0).is_err());
}

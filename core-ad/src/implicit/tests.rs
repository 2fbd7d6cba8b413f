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
    let made = program(&rule(text), &prototype("solve", None, solver), &prototype("residual", None, residual), 0);
    made.map(|program| program.text)
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
    let text = program(&rule(r#"{"implicit": "residual"}"#), &solver, &residual, 2).expect("fits").text;
    assert!(text.contains("double ffgrad_implicit_solver_2(double a0)"), "{text}");
    let minimum = program(&rule(r#"{"implicit": "residual", "kind": "minimum"}"#), &solver, &residual, 0);
    assert!(minimum.expect("fits").text.contains("__enzyme_autodiff_implicit_0"));
    let types = prototype("residual", Some(DType::F32), vec![number("x"), number("p")]);
    assert!(program(&rule(r#"{"implicit": "residual"}"#), &solver, &types, 0).is_err());
}

#[test]
fn one_number_says_nothing_of_several_unknowns() {
    let solver = prototype("solve", None, vec![written("x"), integer("n"), number("p")]);
    let residual = prototype("residual", Some(DType::F64), vec![read("x"), integer("n"), number("p")]);
    let refused = program(&rule(r#"{"implicit": "residual"}"#), &solver, &residual, 0).err();
    let wanted = "`residual` returns one number, and several unknowns need as many: write them to a further pointer, or \
                  add size=1 where there is one unknown";
    assert_eq!(refused.as_deref(), Some(wanted));
    assert!(program(&rule(r#"{"implicit": "residual", "size": 2}"#), &solver, &residual, 0).is_err());
    assert!(program(&rule(r#"{"implicit": "residual", "size": 1}"#), &solver, &residual, 0).is_ok());
    let least = r#"{"implicit": "residual", "kind": "minimum"}"#;
    assert!(program(&rule(least), &solver, &residual, 0).is_ok());
}

#[test]
fn the_calls_of_enzyme_have_prototypes_so_that_nothing_is_promoted() {
    let float = |name: &str| param(name, ParamType::Value { dtype: DType::F32 }, None);
    let solver = prototype("solve", Some(DType::F32), vec![float("p")]);
    let residual = prototype("residual", Some(DType::F32), vec![float("x"), float("p")]);
    let text = program(&rule(r#"{"implicit": "residual"}"#), &solver, &residual, 0).expect("fits").text;
    assert!(text.contains("int, float *, float *, int, float *, float *, int, long, int, float);"), "{text}");
    assert!(text.contains("1e-3, 0x1p-23);"), "{text}");
}

#[test]
fn a_tolerance_is_relative() {
    let (solver, residual) = (|| vec![written("x"), integer("n")], || vec![read("x"), integer("n"), written("r")]);
    let text = of(r#"{"implicit": "residual", "tolerance": 0.01}"#, solver(), residual()).expect("fits");
    assert!(text.contains("1e-2, 0x1p-52);"), "{text}");
    let refused = of(r#"{"implicit": "residual", "tolerance": 0.0}"#, solver(), residual()).expect_err("no tolerance");
    assert_eq!(refused, "the tolerance is 0: it is relative, above 0 and at most 1");
}

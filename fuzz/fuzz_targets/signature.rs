//! Fuzzes signatures with any text: the result is a plan or problems, never a panic; a plan's own spelling means the same plan.
#![no_main]

use core_ad::{Access, DType, Param, ParamType, Passing, Prototype, ReturnType, signature};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;

fn param(name: &str, ty: ParamType, access: Option<Access>) -> Param {
    Param { name: name.to_owned(), ty, spelled: "as declared".to_owned(), access, adapted: None }
}

fn pointer(name: &str, constant: bool, access: Access) -> Param {
    param(name, ParamType::Pointer { dtype: DType::F64, constant }, Some(access))
}

fn value(name: &str, dtype: DType) -> Param {
    param(name, ParamType::Value { dtype }, None)
}

/// A function with arrays, numbers and counts, and one that returns its value.
fn prototypes() -> [Prototype; 2] {
    let prototype = |returns, params| Prototype {
        function: "f".to_owned(),
        symbol: "f".to_owned(),
        file: "f.c".to_owned(),
        line: 1,
        returns,
        params,
        fortran: None,
        adapter: None,
    };
    let arrays = vec![
        pointer("x", true, Access::Read),
        value("n", DType::I32),
        pointer("y", false, Access::Write),
        pointer("w", false, Access::ReadWrite),
        value("t", DType::F64),
        value("m", DType::U64),
    ];
    let sum = vec![pointer("x", true, Access::Read), value("n", DType::I32)];
    [prototype(ReturnType::Void, arrays), prototype(ReturnType::Value { dtype: DType::F64 }, sum)]
}

fuzz_target!(|text: &str| {
    let sizes = BTreeMap::from([("k".to_owned(), 3)]);
    for prototype in &prototypes() {
        for sizes in [&BTreeMap::new(), &sizes] {
            match signature::plan(prototype, Some(text), sizes) {
                Ok(plan) => {
                    assert!(plan.args.iter().all(|a| !matches!(a.passing, Passing::Value) || a.shape.is_empty()));
                    let again = signature::plan(prototype, Some(&plan.signature), sizes);
                    assert_eq!(again.as_ref(), Ok(&plan), "the normal form `{}` means another plan", plan.signature);
                }
                Err(error) => {
                    assert!(!error.problems.is_empty());
                    for problem in &error.problems {
                        let lines: Vec<&str> = problem.lines().collect();
                        if let [.., line, caret] = lines[..]
                            && caret.trim() == "^"
                        {
                            assert!(caret.chars().count() <= line.chars().count() + 1, "{problem}");
                        }
                    }
                }
            }
        }
    }
});

//! Fuzzes dimensions with any extents and sizes: the result is possible shapes, or an error; never an overflow.
#![no_main]

use arbitrary::Arbitrary;
use core_ad::{Access, DType, Param, ParamType, Prototype, ReturnType, shapes, signature};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;

#[derive(Arbitrary, Debug)]
struct Call {
    x: String,
    y: String,
    w: String,
    shapes: [Vec<i64>; 2],
    k: Option<i64>,
}

fuzz_target!(|call: Call| {
    let pointer = |name: &str, access| Param {
        name: name.to_owned(),
        ty: ParamType::Pointer { dtype: DType::F64, constant: false },
        spelled: "double*".to_owned(),
        access: Some(access),
        adapted: None,
    };
    let count = |name: &str, dtype| Param {
        name: name.to_owned(),
        ty: ParamType::Value { dtype },
        spelled: "int".to_owned(),
        access: None,
        adapted: None,
    };
    let prototype = Prototype {
        function: "f".to_owned(),
        symbol: "f".to_owned(),
        file: "f.c".to_owned(),
        line: 1,
        returns: ReturnType::Void,
        params: vec![
            pointer("x", Access::Read),
            pointer("z", Access::Read),
            pointer("y", Access::Write),
            pointer("w", Access::ReadWrite),
            count("n", DType::I32),
            count("m", DType::U64),
        ],
        fortran: None,
        adapter: None,
    };
    let text = format!("x[{}], z[m] -> y[{}]; w[{}]", call.x, call.y, call.w);
    let sizes: BTreeMap<String, i64> = call.k.iter().map(|k| ("k".to_owned(), *k)).collect();
    let Ok(plan) = signature::plan(&prototype, Some(&text), &sizes) else { return };
    let mut given: Vec<&[i64]> = call.shapes.iter().map(Vec::as_slice).collect();
    given.truncate(plan.inputs.len());
    if let Ok(resolved) = shapes::resolve(&plan, &given, &sizes) {
        for (arg, shape) in plan.args.iter().zip(&resolved.shapes) {
            let elements = shape.iter().try_fold(1i64, |all, &n| if n < 0 { None } else { all.checked_mul(n) });
            let bytes = elements.and_then(|n| n.checked_mul(arg.dtype.size() as i64));
            assert!(bytes.is_some(), "`{}` has the shape {shape:?}", arg.name);
        }
    }
});

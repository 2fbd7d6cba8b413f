//! Tests of flang's symbol dump, from its text to a signature.

use super::*;
use crate::{CallPlan, Passing, Role, signature};
use std::collections::BTreeMap;

/// As flang 22 prints it, shortened.
const DUMP: &str = "Global scope: size=0 alignment=1 sourceRange=0 bytes
  m: Module
  plain (Subroutine): Subprogram (INTEGER(4) n,REAL(8) a,INTEGER(4) lda,REAL(8) b)
  march (Subroutine): Subprogram (INTEGER(4) n,INTEGER(4) nsteps,REAL(8) x,REAL(8) y)
  IntrinsicModules scope: size=0 alignment=1 sourceRange=0 bytes
    Module scope: __fortran_builtins size=96 alignment=8 sourceRange=5014 bytes
      Subprogram scope: hidden size=24 alignment=8 sourceRange=149 bytes
        hidden (Function): HostAssoc => hidden (Function): Subprogram result:REAL(8) hidden (REAL(8) x)
  Module scope: m size=16 alignment=8 sourceRange=100 bytes
    gain, PUBLIC size=8 offset=0: ObjectEntity type: REAL(8) init:2._8
    loss, PUBLIC (Function): Subprogram result:REAL(8) r (REAL(8) a,REAL(8) x,REAL(8) b)
    Subprogram scope: loss size=112 alignment=8 sourceRange=217 bytes
      a, INTENT(IN): ObjectEntity dummy type: REAL(8) shape: 1_8:3_8,1_8:*
      b, INTENT(IN), OPTIONAL size=8 offset=48: ObjectEntity dummy type: REAL(8)
      loss (Function): HostAssoc => loss, PUBLIC (Function): Subprogram result:REAL(8) r (REAL(8) a,REAL(8) x,REAL(8) b)
      r size=8 offset=56: ObjectEntity funcResult type: REAL(8)
      t, ALLOCATABLE size=48 offset=64: ObjectEntity type: REAL(8) shape: :
      x, INTENT(IN) size=48 offset=0: ObjectEntity dummy type: REAL(8) shape: :
    Subprogram scope: one size=160 alignment=8 sourceRange=312 bytes
      n, VALUE size=4 offset=48: ObjectEntity dummy type: INTEGER(4)
      one (Subroutine): HostAssoc => one, BIND(C), PUBLIC (Subroutine): Subprogram bindName:c_one (INTEGER(4) n,REAL(8) y)
      y, INTENT(OUT) size=48 offset=56: ObjectEntity dummy type: REAL(8) shape: 0_8:int(2_4*n-1_4,kind=8)
    total, PUBLIC (Function): Subprogram result:REAL(8) total (REAL(8) x)
    Subprogram scope: total size=16 alignment=8 sourceRange=44 bytes
      total size=8 offset=8: ObjectEntity funcResult type: REAL(8)
      x, INTENT(IN) size=8 offset=0: ObjectEntity dummy type: REAL(8)
  Subprogram scope: plain size=64 alignment=8 sourceRange=124 bytes
    a size=72 offset=8: ObjectEntity dummy type: REAL(8) shape: 1_8:int(lda,kind=8),1_8:*
    b: ObjectEntity dummy type: REAL(8) shape: 1_8:*
    lda size=4 offset=4: ObjectEntity dummy type: INTEGER(4)
    n size=4 offset=0: ObjectEntity dummy type: INTEGER(4)
    plain (Subroutine): HostAssoc => plain (Subroutine): Subprogram (INTEGER(4) n,REAL(8) a,INTEGER(4) lda,REAL(8) b)
  Subprogram scope: march size=64 alignment=8 sourceRange=124 bytes
    march (Subroutine): HostAssoc => march (Subroutine): Subprogram (INTEGER(4) n,INTEGER(4) nsteps,REAL(8) x,REAL(8) y)
    n size=4 offset=0: ObjectEntity dummy type: INTEGER(4)
    nsteps size=4 offset=4: ObjectEntity dummy type: INTEGER(4)
    x: ObjectEntity dummy type: REAL(8) shape: 1_8:int(n,kind=8)
    y: ObjectEntity dummy type: REAL(8) shape: 1_8:2_8,1_8:int(nsteps,kind=8)
    Subprogram scope: func size=16 alignment=8 sourceRange=45 bytes
      func size=8 offset=8: ObjectEntity funcResult type: REAL(8)
      x size=8 offset=0: ObjectEntity dummy type: REAL(8)
";

fn found(name: &str) -> Found {
    procedures(DUMP).into_iter().find(|f| f.name == name).unwrap()
}

/// The prototype of a procedure whose parameters are accessed as in `access`.
fn known(name: &str, access: &[Access]) -> Prototype {
    let found = found(name);
    let param = |access: &Access| Param {
        name: String::new(),
        ty: ParamType::Unsupported,
        spelled: String::new(),
        access: Some(*access),
        adapted: None,
    };
    let base = Prototype {
        function: found.path(),
        symbol: found.symbol.clone(),
        file: "m.f90".to_owned(),
        line: 7,
        returns: ReturnType::Void,
        params: access.iter().map(param).collect(),
        fortran: None,
        adapter: None,
    };
    prototype(base, &found).unwrap()
}

fn planned(name: &str, access: &[Access], text: Option<&str>) -> Result<CallPlan, String> {
    signature::plan(&known(name, access), text, &BTreeMap::new()).map_err(|e| e.to_string())
}

#[test]
fn procedures_have_their_paths_and_symbols_and_interfaces_are_none() {
    let all = procedures(DUMP);
    let names: Vec<(String, &str)> = all.iter().map(|f| (f.path(), f.symbol.as_str())).collect();
    let expected = [
        ("m::loss", "_QMmPloss"),
        ("m::one", "c_one"),
        ("m::total", "_QMmPtotal"),
        ("plain", "plain_"),
        ("march", "march_"),
    ];
    assert_eq!(names, expected.map(|(path, symbol)| (path.to_owned(), symbol)));
}

#[test]
fn a_procedure_is_found_by_path_name_and_symbol_in_any_case() {
    let all = procedures(DUMP);
    let defined = ["_QMmPloss", "c_one", "plain_"].map(str::to_owned);
    for (wanted, symbol) in
        [("M::Loss", "_QMmPloss"), ("LOSS", "_QMmPloss"), ("one", "c_one"), ("plain_", "plain_"), ("c_one", "c_one")]
    {
        assert_eq!(find(wanted, &all, &defined), Lookup::Found(symbol), "{wanted}");
    }
    let Lookup::Missing { closest } = find("m::los", &all, &defined) else { panic!("found") };
    assert_eq!(closest[0], "m::loss");
}

#[test]
fn bounds_become_dimensions() {
    let cases = [
        ("1_8:3_8", "3"),
        ("0_8:int(n-1_4,kind=8)", "n"),
        ("1_8:int(2_4*n+1_4,kind=8)", "2*n+1"),
        ("int(-n,kind=8):int(n,kind=8)", "2*n+1"),
        ("1_8:int(n*(n+1_4)/2_4,kind=8)", "n*(n+1)//2"),
        ("1_8:int(n**2_4,kind=8)", "n*n"),
        ("2_8:int(n,kind=8)", "n-1"),
        ("1_8:size(x,dim=2,kind=8)", "x_2"),
        ("1_8:int(int(size(x,dim=1,kind=8)*size(x,dim=2,kind=8),kind=4),kind=8)", "x_1*x_2"),
    ];
    for (bounds, dim) in cases {
        match super::bounds::extent(bounds) {
            Extent::Known(found) => assert_eq!(found.to_string(), dim, "{bounds}"),
            other => panic!("{bounds}: {other:?}"),
        }
    }
    assert_eq!(super::bounds::extent("1_8:*"), Extent::Open);
    assert!(matches!(super::bounds::extent("1_8:int(max(n,2_4),kind=8)"), Extent::Other(_)));
}

#[test]
fn an_integer_that_bounds_outputs_alone_comes_from_sizes_in_the_suggestion() {
    let prototype = known("march", &[Access::Read, Access::Read, Access::Read, Access::Write]);
    let error = signature::plan(&prototype, None, &BTreeMap::new()).unwrap_err();
    assert_eq!(error.suggestion.as_deref(), Some("x[n] -> y[2,nsteps]"));
    assert!(error.to_string().ends_with(r#"start from: "x[n] -> y[2,nsteps]", with sizes={"nsteps": ...}"#), "{error}");
    let sizes = BTreeMap::from([("nsteps".to_owned(), 5)]);
    let plan = signature::plan(&prototype, error.suggestion.as_deref(), &sizes).unwrap();
    assert_eq!(plan.signature, "x[n] -> y[2,nsteps]");
}

#[test]
fn a_function_is_planned_by_its_declarations() {
    let plan = planned("loss", &[Access::Read, Access::ReadWrite, Access::Read], None).unwrap();
    assert_eq!(plan.signature, "a[3,a_2], x[x_1] -> return");
    let passed: Vec<Passing> = plan.args.iter().map(|a| a.passing).collect();
    // The extent of the descriptor stands behind the value.
    let expected = [Passing::Pointer, Passing::Descriptor, Passing::Absent, Passing::Value, Passing::Value];
    assert_eq!(passed, expected);
    assert!(plan.args[0].column_major && !plan.args[1].column_major);
    assert_eq!((plan.args[4].name.as_str(), plan.args[4].role), ("x_1", Role::Size));
}

#[test]
fn intent_decides_and_without_it_the_use_does() {
    // `lda` follows from `a`; `n` counts the elements of `b`, the only vector.
    let plan = planned("plain", &[Access::Read, Access::Read, Access::Read, Access::ReadWrite], None).unwrap();
    assert_eq!(plan.signature, "a[lda,a_2], b[n] -> b[n]");
    let refusal = planned("plain", &[Access::Read, Access::Read, Access::Read, Access::Write], None).unwrap_err();
    assert!(refusal.contains("the shape of the output `b` follows from no declaration"), "{refusal}");
    let refusal = planned("one", &[Access::Read, Access::Write], None).unwrap_err();
    assert!(refusal.contains("sizes={\"n\": ...}"), "{refusal}");
}

#[test]
fn a_signature_is_completed_and_matched_in_any_case() {
    let plan = planned("loss", &[Access::Read; 3], Some("X, A[3,K], B -> R")).unwrap();
    assert_eq!(plan.signature, "x[x_1], a[3,k], b -> return");
    let refusal = planned("loss", &[Access::Read; 3], Some("x[n,m], a -> return")).unwrap_err();
    assert!(refusal.contains("`x` has 2 dimensions in the signature"), "{refusal}");
    assert!(refusal.contains("real(8) function m::loss(real(8), intent(in) :: a(3,*); "), "{refusal}");
}

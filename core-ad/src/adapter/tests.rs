//! Tests of the names that adapters understand, and of the text that they become.

use super::*;
use proptest::prelude::*;

const VECTOR: &str = "std::vector<double, std::allocator<double> >";

fn object(class: &str) -> Object {
    Object::of_class(class, false).unwrap()
}

fn param(name: &str, adapted: Adapted) -> Param {
    let ty = match &adapted {
        Adapted::Same { .. } => ParamType::Value { dtype: DType::I32 },
        _ => ParamType::Unsupported,
    };
    Param { name: name.to_owned(), ty, spelled: "as declared".to_owned(), access: None, adapted: Some(adapted) }
}

fn function(returns: ReturnType, params: Vec<Param>) -> Prototype {
    Prototype {
        function: "f".to_owned(),
        symbol: "f".to_owned(),
        file: "m.cpp".to_owned(),
        line: 1,
        returns,
        params,
        fortran: None,
        adapter: None,
    }
}

/// The lines of the adapter's body.
fn body(prototype: &Prototype, is_cpp: bool) -> String {
    let text = source(prototype, "f", "/m.cpp", is_cpp);
    text[text.find(SYMBOL).unwrap()..].trim_end().to_owned()
}

#[test]
fn classes_have_the_extents_that_their_names_say() {
    let extents = |class: &str| object(class).extents;
    assert_eq!(extents(VECTOR), [None]);
    assert_eq!(extents("std::__1::vector<float, std::__1::allocator<float> >"), [None]);
    assert_eq!(extents("std::array<double, 3ul>"), [Some(3)]);
    assert_eq!(extents("std::array<std::array<double, 3ul>, 2ul>"), [Some(2), Some(3)]);
    assert_eq!(extents("std::span<double const, 18446744073709551615ul>"), [None]);
    assert_eq!(extents("std::span<double, 4ul>"), [Some(4)]);
    assert_eq!(extents("Eigen::Matrix<double, -1, 1, 0, -1, 1>"), [None]);
    assert_eq!(extents("Eigen::Matrix<double, 1, -1, 1, 1, -1>"), [None]);
    assert_eq!(extents("Eigen::Matrix<double, -1, 3, 0, -1, 3>"), [None, Some(3)]);
    assert_eq!(extents("Eigen::Array<float, -1, -1, 1, -1, -1>"), [None, None]);
    assert_eq!(
        extents("Eigen::Ref<Eigen::Matrix<double, -1, -1, 0, -1, -1> const, 0, Eigen::OuterStride<-1> >"),
        [None, None]
    );
}

#[test]
fn containers_may_have_vectors_of_eigen() {
    let of = |eigen: &str| object(&format!("std::vector<{eigen}, std::allocator<{eigen} > >")).extents;
    assert_eq!(of("Eigen::Matrix<double, 3, 1, 0, 3, 1>"), [None, Some(3)]);
    assert_eq!(of("Eigen::Matrix<double, -1, 1, 0, -1, 1>"), [None, None]);
}

#[test]
fn views_of_constants_are_constant() {
    assert!(object("std::span<double const, 18446744073709551615ul>").constant);
    assert!(!object("std::span<double, 18446744073709551615ul>").constant);
    assert!(object("Eigen::Map<Eigen::Matrix<double, 3, 1, 0, 3, 1> const, 0, Eigen::Stride<0, 0> >").constant);
}

#[test]
fn classes_that_no_adapter_makes_are_none() {
    for class in [
        "Mesh",
        "std::vector<Mesh, std::allocator<Mesh> >",
        "std::array<std::vector<double, std::allocator<double> >, 2ul>",
        "std::complex<double>",
        "Eigen::Matrix<std::complex<double>, -1, -1, 0, -1, -1>",
        "Eigen::Map<Eigen::Matrix<double, -1, 1, 0, -1, 1>, 0, Eigen::InnerStride<2> >",
        "std::array<double, 0ul>",
        "Eigen::Matrix<double, -1, -1, 0, 4, 4>",
        "Eigen::Map<Eigen::Matrix<double, -1, 1, 0, -1, 1>, 16, Eigen::Stride<0, 0> >",
        "std::vector<Eigen::Matrix<double, 2, 2, 0, 2, 2>, std::allocator<Eigen::Matrix<double, 2, 2, 0, 2, 2> > >",
    ] {
        assert_eq!(Object::of_class(class, false), None, "{class}");
    }
}

#[test]
fn a_vector_is_copied_in_and_out_element_by_element() {
    let object = Object { by: By::Reference, ..object(VECTOR) };
    let given = Object { constant: true, ..object.clone() };
    let params = vec![
        param("x", Adapted::Object(given)),
        param("i", Adapted::Same { exact: "int".to_owned() }),
        param("y", Adapted::Object(object)),
    ];
    insta::assert_snapshot!(body(&function(ReturnType::Void, params), true), @r#"
    ffgrad_adapter(const double *x, long x_size, int i_, double *y, long y_size) {
      std::vector<double, std::allocator<double> > x_object(x_size);
      for (long i = 0; i < x_size; ++i) x_object[i] = x[i];
      std::vector<double, std::allocator<double> > y_object(y_size);
      for (long i = 0; i < y_size; ++i) y_object[i] = y[i];
      ::f(static_cast<std::vector<double, std::allocator<double> > const &>(x_object), i_, static_cast<std::vector<double, std::allocator<double> > &>(y_object));
      ffgrad_same((long)y_object.size() == y_size, "`y` has another size than the signature says");
      for (long i = 0; i < y_size; ++i) y[i] = y_object[i];
    }
    "#);
}

#[test]
fn a_matrix_has_the_indices_of_its_tensor() {
    let matrix = object("Eigen::Matrix<double, -1, -1, 0, -1, -1>");
    let view = object("Eigen::Ref<Eigen::Matrix<double, -1, 1, 0, -1, 1> const, 0, Eigen::InnerStride<1> >");
    let params = vec![param("v", Adapted::Object(Object { by: By::Reference, ..view }))];
    let returns = ReturnType::Object { object: Box::new(matrix) };
    insta::assert_snapshot!(body(&function(returns, params), true), @r#"
    ffgrad_adapter(const double *v, long v_size, double *result, long result_rows, long result_cols) {
      Eigen::Map<const Eigen::Matrix<double, -1, 1, 0, -1, 1>> v_memory(v, v_size);
      Eigen::Ref<Eigen::Matrix<double, -1, 1, 0, -1, 1> const, 0, Eigen::InnerStride<1> > v_object(v_memory);
      const Eigen::Matrix<double, -1, -1, 0, -1, -1> &value_ = ::f(static_cast<Eigen::Ref<Eigen::Matrix<double, -1, 1, 0, -1, 1> const, 0, Eigen::InnerStride<1> > &>(v_object));
      ffgrad_same(value_.rows() == result_rows, "the result has another size than the signature says");
      ffgrad_same(value_.cols() == result_cols, "the result has another size than the signature says");
      for (long i = 0; i < result_rows; ++i) for (long j = 0; j < result_cols; ++j) result[i * result_cols + j] = value_(i, j);
    }
    "#);
}

#[test]
fn rows_in_c_are_pointers_into_the_tensor() {
    let rows = Object {
        class: "double * *".to_owned(),
        kind: Kind::Rows,
        dtype: DType::F64,
        element: "double".to_owned(),
        extents: vec![None, None],
        constant: false,
        by: By::Value,
    };
    let returns = ReturnType::Value { dtype: DType::F64 };
    insta::assert_snapshot!(body(&function(returns, vec![param("a", Adapted::Object(rows))]), false), @r"
    ffgrad_adapter(double *a, long a_rows, long a_cols) {
      double **a_object = (double **)malloc(sizeof(void *) * a_rows);
      for (long i = 0; i < a_rows; ++i) a_object[i] = a + i * a_cols;
      const double value = f((double * *)a_object);
      free(a_object);
      return value;
    }
    ");
}

#[test]
fn nested_containers_are_made_with_all_their_sizes() {
    let nested = "std::vector<std::vector<double, std::allocator<double> >, std::allocator<std::vector<double, std::allocator<double> > > >";
    let given = Object { constant: true, by: By::Reference, ..object(nested) };
    let text = body(&function(ReturnType::Void, vec![param("a", Adapted::Object(given))]), true);
    assert!(text.contains("a_object(a_rows, std::vector<double, std::allocator<double> >(a_cols));"), "{text}");
    assert!(text.contains("a_object[i][j] = a[i * a_cols + j];"), "{text}");
}

fn member(name: &str, ty: ParamType, exact: &str) -> Param {
    let adapted = Some(Adapted::Same { exact: exact.to_owned() });
    Param { name: name.to_owned(), ty, spelled: exact.to_owned(), access: None, adapted }
}

/// `struct { double k; double *x; double w[2][3]; std::vector<double> v; }`
fn structure(constant: bool, by: By) -> Adapted {
    let kind = Kind::Container { levels: Vec::new() };
    let array = Object { class: String::new(), kind, extents: vec![Some(2), Some(3)], ..object(VECTOR) };
    let members = vec![
        member("k", ParamType::Value { dtype: DType::F64 }, "double"),
        member("x", ParamType::Pointer { dtype: DType::F64, constant: false }, "double *"),
        param("w", Adapted::Object(array)),
        param("v", Adapted::Object(object(VECTOR))),
    ];
    Adapted::Structure(Structure { class: "P".to_owned(), constant, by, members })
}

#[test]
fn members_of_a_structure_are_parameters() {
    let params = vec![param("p", structure(false, By::Reference))];
    insta::assert_snapshot!(body(&function(ReturnType::Void, params), true), @r#"
    ffgrad_adapter(double *p_k, double *p_x, double *p_w, double *p_v, long p_v_size) {
      P p_object;
      p_object.k = *p_k;
      p_object.x = p_x;
      for (long i = 0; i < 2; ++i) for (long j = 0; j < 3; ++j) p_object.w[i][j] = p_w[i * 3 + j];
      p_object.v = std::vector<double, std::allocator<double> >(p_v_size);
      for (long i = 0; i < p_v_size; ++i) p_object.v[i] = p_v[i];
      ::f(static_cast<P &>(p_object));
      *p_k = p_object.k;
      ffgrad_same(p_object.x == p_x, "`p.x` points elsewhere after the call");
      for (long i = 0; i < 2; ++i) for (long j = 0; j < 3; ++j) p_w[i * 3 + j] = p_object.w[i][j];
      ffgrad_same((long)p_object.v.size() == p_v_size, "`p.v` has another size than the signature says");
      for (long i = 0; i < p_v_size; ++i) p_v[i] = p_object.v[i];
    }
    "#);
}

#[test]
fn a_member_function_is_called_of_its_structure() {
    let params =
        vec![param("this", structure(true, By::Pointer)), member("n", ParamType::Value { dtype: DType::I32 }, "int")];
    let text = body(&function(ReturnType::Void, params), true);
    assert!(text.contains("  static_cast<P const *>(&this_object)->::f(n);"), "{text}");
    assert!(text.contains("(double this_k, double *this_x, const double *this_w,"), "{text}");
    assert!(!text.contains("ffgrad_same"), "{text}");
}

#[test]
fn the_parameters_are_those_of_the_text() {
    let params = vec![param("p", structure(false, By::Reference)), param("y", Adapted::Object(object(VECTOR)))];
    let found = function(ReturnType::Void, vec![member("_", ParamType::Value { dtype: DType::F64 }, "double"); 7]);
    let adapted = prototype(&function(ReturnType::Void, params), &found).unwrap();
    let names: Vec<&str> = adapted.params.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["p.k", "p.x", "p.w", "p.v", "p.v#size", "y", "y#size"]);
}

proptest! {
    #[test]
    fn any_text_is_read_as_a_class_without_panic(class in "[a-z:<>, 0-9()-]*") {
        let _ = Object::of_class(&format!("std::vector<{class}>"), false);
        let _ = Object::of_class(&class, true);
    }
}

/// The adapter that a source foretells.
fn foretold(text: &str, name: &str) -> Option<String> {
    let (prototype, callee) = foretold::prototype(text, name)?;
    Some(source(&prototype, &callee, "/m.cpp", true))
}

#[test]
fn plain_declarations_foretell_what_the_compiler_will_say() {
    let matrix = |rows, columns| format!("Eigen::Matrix<double, {rows}, {columns}, 0, {rows}, {columns}>");
    let reference =
        |class: &str| Adapted::Object(Object { by: By::Reference, ..Object::of_class(class, true).unwrap() });
    let same = |exact: &str| Adapted::Same { exact: exact.to_owned() };
    let value = ReturnType::Value { dtype: DType::F64 };
    let expected =
        |callee: &str, params: Vec<Param>| Some(source(&function(value.clone(), params), callee, "/m.cpp", true));
    let ridge = "// double ridge(int);\n#include <Eigen/Dense>\n#define F(x) \\\n double ridge(x) {}\n\
        using namespace Eigen; using M = MatrixXd;\nnamespace fit { struct S { int ridge(S s) { return 0; } };\n\
        inline double ridge(const M& x, Eigen::VectorXd const &y, const double lambda = 0.5) { return '{'; } }";
    let params = vec![
        param("x", reference(&matrix(-1, -1))),
        param("y", reference(&matrix(-1, 1))),
        param("lambda", same("double")),
    ];
    assert_eq!(foretold(ridge, "fit::ridge"), expected("fit::ridge", params.clone()));
    assert_eq!(foretold(ridge, "ridge"), expected("fit::ridge", params));
    let rows =
        "double f(const std::vector<std::array<double, 3>>& p, const double *w, size_t n) noexcept\n{ return 0; }";
    let nested =
        "std::vector<std::array<double, (unsigned long)3>, std::allocator<std::array<double, (unsigned long)3> > >";
    let params =
        vec![param("p", reference(nested)), param("w", same("const double *")), param("n", same("unsigned long"))];
    assert_eq!(foretold(rows, "f"), expected("f", params));
}

#[test]
fn what_is_not_plain_is_left_to_the_compiler() {
    let refused = [
        "double f(const double *x, int n) { return 0; }",
        "double f(const std::vector<double>& x);",
        "struct S { double a; }; double f(const S& s, const std::vector<double>& x) { return 0; }",
        "double f(const std::vector<double>& x) { return 0; } double f(std::vector<float> x) { return 0; }",
        "template <class T> double f(const std::vector<T>& x) { return 0; }",
        "struct S { double f(const std::vector<double>& x) { return 0; } };",
        "double S::f(const std::vector<double>& x) { return 0; }",
        "auto f(const std::vector<double>& x) -> double { return 0; }",
        "double f(const std::map<int, double>& x) { return 0; }",
        "double g(const std::vector<double>& x) { return f(x); }",
        "const char *t = R\"(a)\"; double f(const std::vector<double>& x) { return 0; }",
    ];
    for text in refused {
        assert_eq!(foretold(text, "f"), None, "{text}");
    }
    assert!(foretold("double f(const std::vector<double>& x) { return 0; }", "f").is_some());
    assert_eq!(foretold("double f(const std::vector<double>& x) { return 0; }", "f<double>"), None);
}

proptest! {
    #[test]
    fn any_text_is_read_to_its_end(text in ".{0,200}") {
        let _ = foretold(&text, "f");
    }

    #[test]
    fn any_tokens_are_read_to_their_end(parts in prop::collection::vec("[a-z]{1,3}|f|[(){}<>;,&*=#\"'/:]|const|using|namespace|double", 0..40)) {
        let _ = foretold(&parts.join(" "), "f");
        let _ = foretold(&parts.concat(), "f");
    }
}

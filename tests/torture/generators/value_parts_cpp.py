# ruff: noqa: E501 (the C++ text is what is long)
"""The parts of :mod:`value_parts` that need C++."""

from __future__ import annotations

from torture.generators.value_parts import Part, Writer, after_sort


def standard(w: Writer) -> Part:
    """An algorithm of C++'s standard library."""
    call = w.random.choice(
        [
            "std::sort(a, a + m);",
            "std::stable_sort(a, a + m);",
            "std::nth_element(a, a + m / 2, a + m);",
            "std::partial_sort(a, a + m / 2, a + m);",
            "std::make_heap(a, a + m); std::sort_heap(a, a + m);",
            "s += *std::max_element(a, a + m) * *std::min_element(a, a + m);",
            "{ std::vector<real> v(a, a + m); std::sort(v.begin(), v.end()); for (int i = 0; i < m; i++) a[i] = a[i] + v[i] * (real)0.5; }",
            "{ std::priority_queue<real> q; for (int i = 0; i < m; i++) { q.push(a[i]); if (q.size() > 3) q.pop(); } int i = 0; while (!q.empty()) { a[i++] = q.top(); q.pop(); } }",
            "{ std::vector<real> v; for (int i = 0; i < m; i++) { if (LESS((real)0.0, a[i])) v.push_back(a[i]); else if (!v.empty()) { s += v.back(); v.pop_back(); } } for (size_t i = 0; i < v.size(); i++) s += v[i] * v[i]; }",
            "{ std::vector<int> at(m); for (int i = 0; i < m; i++) at[i] = i; std::sort(at.begin(), at.end(), [=](int i, int j) { return LESS(a[i], a[j]); }); for (int i = 0; i < m; i++) s += a[at[i]] * (real)(i + 1); }",
            "{ real *mid = std::partition(a, a + m, [](const real &v) { return LESS(v, (real)0.1); }); for (real *p = a; p != mid; ++p) s += *p * *p; }",
        ]
    )
    return Part("std", "", f"{call} {after_sort(w)}", is_cpp=True)


def thrown(w: Writer) -> Part:
    """An exception that the function catches itself."""
    k = w.fresh()
    return Part(
        "caught",
        f"static __attribute__((noinline)) real checked{k}(real u) {{ if (LESS(u, {w.number(-0.5, 0.2)})) throw 1; return {w.smooth('u')} * u; }}",
        f"for (int i = 0; i < m; i++) {{ try {{ a[i] = checked{k}(a[i]); }} catch (int) {{ a[i] = a[i] * (real)0.5 + {w.number()}; }} s += a[i]; }}",
        is_cpp=True,
    )

// A small library of vectors with expression templates by CRTP, and a class template on the dimension.
#include <array>
#include <cmath>
#include <cstddef>

template <class E>
struct Expr {
  const E& self() const { return static_cast<const E&>(*this); }
};
template <std::size_t N>
struct Vec : Expr<Vec<N>> {
  std::array<double, N> data{};
  Vec() = default;
  template <class E>
  Vec(const Expr<E>& e) {
    for (std::size_t i = 0; i < N; ++i) data[i] = e.self()[i];
  }
  double operator[](std::size_t i) const { return data[i]; }
  double& operator[](std::size_t i) { return data[i]; }
};
template <class A, class B>
struct Sum : Expr<Sum<A, B>> {
  const A& a;
  const B& b;
  Sum(const A& l, const B& r) : a(l), b(r) {}
  double operator[](std::size_t i) const { return a[i] + b[i]; }
};
template <class A>
struct Scaled : Expr<Scaled<A>> {
  double s;
  const A& a;
  Scaled(double f, const A& e) : s(f), a(e) {}
  double operator[](std::size_t i) const { return s * a[i]; }
};
template <class A, class B>
Sum<A, B> operator+(const Expr<A>& a, const Expr<B>& b) {
  return {a.self(), b.self()};
}
template <class A>
Scaled<A> operator*(double s, const Expr<A>& a) {
  return {s, a.self()};
}

double orbit_action(const double* start, int steps) {
  Vec<2> r, v;
  for (std::size_t i = 0; i < 2; ++i) {
    r[i] = start[i];
    v[i] = start[2 + i];
  }
  double action = 0.0;
  for (int s = 0; s < steps; ++s) {
    const double distance2 = r[0] * r[0] + r[1] * r[1];
    const double pull = -1.0 / (distance2 * std::sqrt(distance2));
    v = v + 0.05 * (pull * r);
    r = r + 0.05 * v;
    action += 0.05 * (0.5 * (v[0] * v[0] + v[1] * v[1]) + 1.0 / std::sqrt(r[0] * r[0] + r[1] * r[1]));
  }
  return action;
}

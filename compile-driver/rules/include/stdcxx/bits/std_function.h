// Has libstdc++'s std::function keep what it calls on the heap, always.
//
// It keeps small closures in the function object itself: in a std::vector<std::function<..>> a number of one closure has the place of an address
// of another, and Enzyme knows one type for both. The members of a function object stay what they are, so it can be passed to compiled code.
#pragma GCC system_header
#include <type_traits>
#include <typeinfo>
#include <bits/stl_function.h>
#if __has_include(<bits/invoke.h>)
#include <bits/invoke.h>
#endif
#include <bits/refwrap.h>
#include <bits/functexcept.h>
#ifndef __ffgrad_std_function
#define __ffgrad_std_function
namespace std {
// In place of the trait that lets a closure stay in the function object.
template <typename _Closure>
struct __ffgrad_is_kept_inside {
  typedef false_type type;
};
}  // namespace std
#endif
#define is_trivially_copyable __ffgrad_is_kept_inside
#include_next <bits/std_function.h>
#undef is_trivially_copyable

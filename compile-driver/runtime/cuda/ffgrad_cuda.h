/* CUDA C++ as ffgrad compiles it: what a kernel may use, defined so that Enzyme can differentiate it.
 *
 * Included before every .cu file, for the GPU and for the CPU as a device, in place of NVIDIA's headers: no CUDA
 * installation is needed, and the same source means the same on both. clang itself knows __global__ and <<<>>>; here
 * are the built-in types, variables and functions.
 *
 * Rules that Enzyme lacks are given by definition: rsqrt is 1/sqrt, __expf is expf, __ldg reads, a warp shuffle is
 * an exchange through shared memory between two warp barriers. What is not here (inline PTX, textures, cooperative
 * groups, half precision) is a compile error at the user's line.
 *
 * FFGRAD_CPU_DEVICE is defined where the kernel is compiled for the CPU: threads run one after another there, so that
 * an atomic is a plain update and a fence nothing.
 */
#ifndef FFGRAD_CUDA_H
#define FFGRAD_CUDA_H

#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))

#define FFGRAD_DEVICE static __inline__ __attribute__((device, always_inline))

#include <stddef.h>

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef long clock_t;

/* math_constants.h */
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_PI_F 3.141592654f
#define CUDART_PIO2_F 1.570796327f
#define CUDART_PIO4_F 0.785398163f
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_SQRT_HALF_F 0.707106781f
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_PIO2 1.5707963267948966e+0
#define CUDART_PIO4 7.8539816339744828e-1
#define CUDART_SQRT_TWO 1.4142135623730951e+0
#define CUDART_SQRT_HALF 7.0710678118654757e-1

/* The C++ library's headers for device code name them; a kernel that calls them is refused. */
extern "C" {
__device__ void *malloc(size_t);
__device__ void free(void *);
}

/* --- vector types ---------------------------------------------------------------------------------------------- */

#define FFGRAD_VECTOR(type, name, align2, align4)                                                                      \
  struct name##1 { type x; };                                                                                          \
  struct __attribute__((aligned(align2))) name##2 { type x, y; };                                                      \
  struct name##3 { type x, y, z; };                                                                                    \
  struct __attribute__((aligned(align4))) name##4 { type x, y, z, w; };                                                \
  static __inline__ __attribute__((device, host)) name##1 make_##name##1(type x) { return {x}; }                       \
  static __inline__ __attribute__((device, host)) name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  static __inline__ __attribute__((device, host)) name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  static __inline__ __attribute__((device, host)) name##4 make_##name##4(type x, type y, type z, type w) {             \
    return {x, y, z, w};                                                                                               \
  }
FFGRAD_VECTOR(signed char, char, 2, 4)
FFGRAD_VECTOR(unsigned char, uchar, 2, 4)
FFGRAD_VECTOR(short, short, 4, 8)
FFGRAD_VECTOR(unsigned short, ushort, 4, 8)
FFGRAD_VECTOR(int, int, 8, 16)
FFGRAD_VECTOR(unsigned int, uint, 8, 16)
FFGRAD_VECTOR(long, long, 16, 16)
FFGRAD_VECTOR(unsigned long, ulong, 16, 16)
FFGRAD_VECTOR(long long, longlong, 16, 16)
FFGRAD_VECTOR(unsigned long long, ulonglong, 16, 16)
FFGRAD_VECTOR(float, float, 8, 16)
FFGRAD_VECTOR(double, double, 16, 16)
#undef FFGRAD_VECTOR

struct dim3 {
  unsigned x, y, z;
  __device__ __host__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  __device__ __host__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __device__ __host__ constexpr operator uint3() const { return uint3{x, y, z}; }
};

/* threadIdx, blockIdx, blockDim, gridDim, warpSize: clang's own header. */
#include <__clang_cuda_builtin_vars.h>

/* --- barriers and fences --------------------------------------------------------------------------------------- */

#ifdef FFGRAD_CPU_DEVICE
/* Enzyme repeats these two in the reverse sweep; afterwards the worker splits the thread loop at them. */
#define __syncthreads() __nvvm_membar_gl()
FFGRAD_DEVICE void __threadfence() {}
FFGRAD_DEVICE void __threadfence_system() {}
#else
FFGRAD_DEVICE void __threadfence() { __nvvm_membar_gl(); }
FFGRAD_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }
#endif
FFGRAD_DEVICE void __syncwarp(unsigned = 0xffffffffu) { __nvvm_membar_cta(); }
FFGRAD_DEVICE void __threadfence_block() {}

/* --- mathematics ----------------------------------------------------------------------------------------------- */

/* Functions of the C library by their own names, which Enzyme knows. */
#define FFGRAD_MATH1(name)                                                                                             \
  __device__ __attribute__((const)) double ffgrad_##name(double) __asm__(#name);                                       \
  __device__ __attribute__((const)) float ffgrad_##name##f(float) __asm__(#name "f");                                  \
  FFGRAD_DEVICE double name(double x) { return ffgrad_##name(x); }                                                     \
  FFGRAD_DEVICE float name(float x) { return ffgrad_##name##f(x); }                                                    \
  FFGRAD_DEVICE float name##f(float x) { return ffgrad_##name##f(x); }
#define FFGRAD_MATH2(name)                                                                                             \
  __device__ __attribute__((const)) double ffgrad_##name(double, double) __asm__(#name);                               \
  __device__ __attribute__((const)) float ffgrad_##name##f(float, float) __asm__(#name "f");                           \
  FFGRAD_DEVICE double name(double x, double y) { return ffgrad_##name(x, y); }                                        \
  FFGRAD_DEVICE float name(float x, float y) { return ffgrad_##name##f(x, y); }                                        \
  FFGRAD_DEVICE double name(double x, float y) { return ffgrad_##name(x, y); }                                         \
  FFGRAD_DEVICE double name(float x, double y) { return ffgrad_##name(x, y); }                                         \
  FFGRAD_DEVICE double name(double x, int y) { return ffgrad_##name(x, y); }                                           \
  FFGRAD_DEVICE float name(float x, int y) { return ffgrad_##name##f(x, y); }                                          \
  FFGRAD_DEVICE double name(int x, double y) { return ffgrad_##name(x, y); }                                           \
  FFGRAD_DEVICE float name(int x, float y) { return ffgrad_##name##f(x, y); }                                          \
  FFGRAD_DEVICE float name##f(float x, float y) { return ffgrad_##name##f(x, y); }
FFGRAD_MATH1(sin) FFGRAD_MATH1(cos) FFGRAD_MATH1(tan) FFGRAD_MATH1(asin) FFGRAD_MATH1(acos) FFGRAD_MATH1(atan)
FFGRAD_MATH1(sinh) FFGRAD_MATH1(cosh) FFGRAD_MATH1(tanh) FFGRAD_MATH1(asinh) FFGRAD_MATH1(acosh) FFGRAD_MATH1(atanh)
FFGRAD_MATH1(exp) FFGRAD_MATH1(exp2) FFGRAD_MATH1(expm1) FFGRAD_MATH1(log) FFGRAD_MATH1(log2) FFGRAD_MATH1(log10)
FFGRAD_MATH1(log1p) FFGRAD_MATH1(cbrt) FFGRAD_MATH1(erf) FFGRAD_MATH1(erfc)
FFGRAD_MATH2(pow) FFGRAD_MATH2(atan2) FFGRAD_MATH2(hypot) FFGRAD_MATH2(fmod)
#undef FFGRAD_MATH1
#undef FFGRAD_MATH2

/* Those that are instructions. */
#define FFGRAD_BUILTIN1(name)                                                                                          \
  FFGRAD_DEVICE double name(double x) { return __builtin_##name(x); }                                                  \
  FFGRAD_DEVICE float name(float x) { return __builtin_##name##f(x); }                                                 \
  FFGRAD_DEVICE float name##f(float x) { return __builtin_##name##f(x); }
#define FFGRAD_BUILTIN2(name)                                                                                          \
  FFGRAD_DEVICE double name(double x, double y) { return __builtin_##name(x, y); }                                     \
  FFGRAD_DEVICE float name(float x, float y) { return __builtin_##name##f(x, y); }                                     \
  FFGRAD_DEVICE float name##f(float x, float y) { return __builtin_##name##f(x, y); }
FFGRAD_BUILTIN1(sqrt) FFGRAD_BUILTIN1(fabs) FFGRAD_BUILTIN1(floor) FFGRAD_BUILTIN1(ceil) FFGRAD_BUILTIN1(trunc)
FFGRAD_BUILTIN1(round) FFGRAD_BUILTIN1(rint) FFGRAD_BUILTIN1(nearbyint)
FFGRAD_BUILTIN2(fmin) FFGRAD_BUILTIN2(fmax) FFGRAD_BUILTIN2(copysign)
#undef FFGRAD_BUILTIN1
#undef FFGRAD_BUILTIN2

FFGRAD_DEVICE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
FFGRAD_DEVICE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
FFGRAD_DEVICE float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
FFGRAD_DEVICE double fdim(double x, double y) { return x > y ? x - y : 0.0; }
FFGRAD_DEVICE float fdimf(float x, float y) { return x > y ? x - y : 0.0f; }
FFGRAD_DEVICE double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
FFGRAD_DEVICE float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
FFGRAD_DEVICE float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
FFGRAD_DEVICE double rcbrt(double x) { return 1.0 / cbrt(x); }
FFGRAD_DEVICE float rcbrtf(float x) { return 1.0f / cbrtf(x); }
FFGRAD_DEVICE double rhypot(double x, double y) { return 1.0 / __builtin_sqrt(x * x + y * y); }
FFGRAD_DEVICE float rhypotf(float x, float y) { return 1.0f / __builtin_sqrtf(x * x + y * y); }
FFGRAD_DEVICE double norm3d(double x, double y, double z) { return __builtin_sqrt(x * x + y * y + z * z); }
FFGRAD_DEVICE float norm3df(float x, float y, float z) { return __builtin_sqrtf(x * x + y * y + z * z); }
FFGRAD_DEVICE double rnorm3d(double x, double y, double z) { return 1.0 / __builtin_sqrt(x * x + y * y + z * z); }
FFGRAD_DEVICE float rnorm3df(float x, float y, float z) { return 1.0f / __builtin_sqrtf(x * x + y * y + z * z); }
FFGRAD_DEVICE double exp10(double x) { return exp(x * 2.302585092994045684); }
FFGRAD_DEVICE float exp10f(float x) { return expf(x * 2.302585093f); }
FFGRAD_DEVICE double sinpi(double x) { return sin(x * 3.141592653589793238); }
FFGRAD_DEVICE double cospi(double x) { return cos(x * 3.141592653589793238); }
FFGRAD_DEVICE float sinpif(float x) { return sinf(x * 3.14159265f); }
FFGRAD_DEVICE float cospif(float x) { return cosf(x * 3.14159265f); }
FFGRAD_DEVICE double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
FFGRAD_DEVICE float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
FFGRAD_DEVICE void sincos(double x, double *s, double *c) { *s = sin(x), *c = cos(x); }
FFGRAD_DEVICE void sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
FFGRAD_DEVICE void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
FFGRAD_DEVICE void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
FFGRAD_DEVICE int abs(int x) { return x < 0 ? -x : x; }
FFGRAD_DEVICE long abs(long x) { return x < 0 ? -x : x; }
FFGRAD_DEVICE long long abs(long long x) { return x < 0 ? -x : x; }
FFGRAD_DEVICE long long llabs(long long x) { return x < 0 ? -x : x; }
FFGRAD_DEVICE double abs(double x) { return __builtin_fabs(x); }
FFGRAD_DEVICE float abs(float x) { return __builtin_fabsf(x); }

#define FFGRAD_MINMAX(type)                                                                                            \
  FFGRAD_DEVICE type min(type x, type y) { return y < x ? y : x; }                                                     \
  FFGRAD_DEVICE type max(type x, type y) { return x < y ? y : x; }
FFGRAD_MINMAX(int) FFGRAD_MINMAX(unsigned) FFGRAD_MINMAX(long) FFGRAD_MINMAX(unsigned long)
FFGRAD_MINMAX(long long) FFGRAD_MINMAX(unsigned long long)
#undef FFGRAD_MINMAX
/* Of a number with and one without sign, as C compares them. */
#define FFGRAD_MIXED(type)                                                                                             \
  FFGRAD_DEVICE unsigned type min(type x, unsigned type y) { return min((unsigned type)x, y); }                        \
  FFGRAD_DEVICE unsigned type min(unsigned type x, type y) { return min(x, (unsigned type)y); }                        \
  FFGRAD_DEVICE unsigned type max(type x, unsigned type y) { return max((unsigned type)x, y); }                        \
  FFGRAD_DEVICE unsigned type max(unsigned type x, type y) { return max(x, (unsigned type)y); }
FFGRAD_MIXED(int) FFGRAD_MIXED(long) FFGRAD_MIXED(long long)
#undef FFGRAD_MIXED
FFGRAD_DEVICE float min(float x, float y) { return __builtin_fminf(x, y); }
FFGRAD_DEVICE float max(float x, float y) { return __builtin_fmaxf(x, y); }
FFGRAD_DEVICE double min(double x, double y) { return __builtin_fmin(x, y); }
FFGRAD_DEVICE double max(double x, double y) { return __builtin_fmax(x, y); }
FFGRAD_DEVICE double min(double x, float y) { return __builtin_fmin(x, y); }
FFGRAD_DEVICE double max(double x, float y) { return __builtin_fmax(x, y); }
FFGRAD_DEVICE double min(float x, double y) { return __builtin_fmin(x, y); }
FFGRAD_DEVICE double max(float x, double y) { return __builtin_fmax(x, y); }

#pragma push_macro("isnan")
#pragma push_macro("isinf")
#pragma push_macro("isfinite")
#pragma push_macro("signbit")
#undef isnan
#undef isinf
#undef isfinite
#undef signbit
#define FFGRAD_CLASS(type)                                                                                             \
  FFGRAD_DEVICE bool isnan(type x) { return __builtin_isnan(x); }                                                      \
  FFGRAD_DEVICE bool isinf(type x) { return __builtin_isinf(x); }                                                      \
  FFGRAD_DEVICE bool isfinite(type x) { return __builtin_isfinite(x); }                                                \
  FFGRAD_DEVICE bool signbit(type x) { return __builtin_signbit(x); }
FFGRAD_CLASS(float) FFGRAD_CLASS(double)
#undef FFGRAD_CLASS
#pragma pop_macro("isnan")
#pragma pop_macro("isinf")
#pragma pop_macro("isfinite")
#pragma pop_macro("signbit")

/* Fast intrinsics: the exact function. math="fast" lets the back end approximate. */
FFGRAD_DEVICE float __sinf(float x) { return sinf(x); }
FFGRAD_DEVICE float __cosf(float x) { return cosf(x); }
FFGRAD_DEVICE float __tanf(float x) { return tanf(x); }
FFGRAD_DEVICE float __expf(float x) { return expf(x); }
FFGRAD_DEVICE float __exp10f(float x) { return exp10f(x); }
FFGRAD_DEVICE float __logf(float x) { return logf(x); }
FFGRAD_DEVICE float __log2f(float x) { return log2f(x); }
FFGRAD_DEVICE float __log10f(float x) { return log10f(x); }
FFGRAD_DEVICE float __powf(float x, float y) { return powf(x, y); }
FFGRAD_DEVICE void __sincosf(float x, float *s, float *c) { sincosf(x, s, c); }
FFGRAD_DEVICE float __fdividef(float x, float y) { return x / y; }
FFGRAD_DEVICE float fdividef(float x, float y) { return x / y; }
FFGRAD_DEVICE float __frsqrt_rn(float x) { return rsqrtf(x); }
FFGRAD_DEVICE float __saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }
#define FFGRAD_ROUNDED(prefix, suffix, type, sqrt_, fma_)                                                              \
  FFGRAD_DEVICE type __##prefix##add_##suffix(type x, type y) { return x + y; }                                        \
  FFGRAD_DEVICE type __##prefix##sub_##suffix(type x, type y) { return x - y; }                                        \
  FFGRAD_DEVICE type __##prefix##mul_##suffix(type x, type y) { return x * y; }                                        \
  FFGRAD_DEVICE type __##prefix##div_##suffix(type x, type y) { return x / y; }                                        \
  FFGRAD_DEVICE type __##prefix##rcp_##suffix(type x) { return 1 / x; }                                                \
  FFGRAD_DEVICE type __##prefix##sqrt_##suffix(type x) { return sqrt_(x); }                                            \
  FFGRAD_DEVICE type fma_(type x, type y, type z) { return fma(x, y, z); }
FFGRAD_ROUNDED(f, rn, float, __builtin_sqrtf, __fmaf_rn)
FFGRAD_ROUNDED(d, rn, double, __builtin_sqrt, __fma_rn)
#undef FFGRAD_ROUNDED

/* --- bits ------------------------------------------------------------------------------------------------------ */

FFGRAD_DEVICE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
FFGRAD_DEVICE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
FFGRAD_DEVICE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
FFGRAD_DEVICE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
FFGRAD_DEVICE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
FFGRAD_DEVICE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
FFGRAD_DEVICE int __popc(unsigned x) { return __builtin_popcount(x); }
FFGRAD_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
FFGRAD_DEVICE int __clz(int x) { return x ? __builtin_clz(x) : 32; }
FFGRAD_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
FFGRAD_DEVICE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
FFGRAD_DEVICE unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((unsigned long long)x * y >> 32); }
FFGRAD_DEVICE int __mul24(int x, int y) { return x * y; }
FFGRAD_DEVICE unsigned __umul24(unsigned x, unsigned y) { return x * y; }
FFGRAD_DEVICE int __float2int_rn(float x) { return (int)__builtin_rintf(x); }
FFGRAD_DEVICE int __float2int_rd(float x) { return (int)__builtin_floorf(x); }
FFGRAD_DEVICE int __float2int_ru(float x) { return (int)__builtin_ceilf(x); }
FFGRAD_DEVICE int __float2int_rz(float x) { return (int)x; }
FFGRAD_DEVICE int __double2int_rd(double x) { return (int)__builtin_floor(x); }
FFGRAD_DEVICE int __double2int_rz(double x) { return (int)x; }
FFGRAD_DEVICE float __int2float_rn(int x) { return (float)x; }
FFGRAD_DEVICE double __int2double_rn(int x) { return (double)x; }
FFGRAD_DEVICE float __uint2float_rn(unsigned x) { return (float)x; }
FFGRAD_DEVICE double __uint2double_rn(unsigned x) { return (double)x; }
FFGRAD_DEVICE unsigned __float2uint_rn(float x) { return (unsigned)__builtin_rintf(x); }
FFGRAD_DEVICE unsigned __float2uint_rd(float x) { return (unsigned)__builtin_floorf(x); }
FFGRAD_DEVICE unsigned __float2uint_rz(float x) { return (unsigned)x; }
FFGRAD_DEVICE int __double2int_rn(double x) { return (int)__builtin_rint(x); }
FFGRAD_DEVICE int __double2int_ru(double x) { return (int)__builtin_ceil(x); }
FFGRAD_DEVICE float __double2float_rn(double x) { return (float)x; }
FFGRAD_DEVICE double __ll2double_rn(long long x) { return (double)x; }
FFGRAD_DEVICE long long __double2ll_rz(double x) { return (long long)x; }

/* --- what a kernel says or measures, which is no part of its result: nothing ------------------------------------- */

template <class... Values> FFGRAD_DEVICE int printf(const char *, Values...) { return 0; }
extern "C" __device__ __attribute__((always_inline)) inline void __assert_fail(const char *, const char *, unsigned,
                                                                               const char *) {}
FFGRAD_DEVICE clock_t clock() { return 0; }
FFGRAD_DEVICE long long clock64() { return 0; }

/* --- cached loads and stores ----------------------------------------------------------------------------------- */

template <class T> FFGRAD_DEVICE T __ldg(const T *p) { return *p; }
template <class T> FFGRAD_DEVICE T __ldca(const T *p) { return *p; }
template <class T> FFGRAD_DEVICE T __ldcg(const T *p) { return *p; }
template <class T> FFGRAD_DEVICE T __ldcs(const T *p) { return *p; }
template <class T> FFGRAD_DEVICE void __stcg(T *p, T v) { *p = v; }
template <class T> FFGRAD_DEVICE void __stcs(T *p, T v) { *p = v; }

/* --- atomics --------------------------------------------------------------------------------------------------- */

#ifdef FFGRAD_CPU_DEVICE
#define FFGRAD_ATOMIC(name, type, update, order)                                                                       \
  FFGRAD_DEVICE type name(type *p, type v) {                                                                           \
    type old = *p;                                                                                                     \
    *p = update;                                                                                                       \
    return old;                                                                                                        \
  }
#else
#define FFGRAD_ATOMIC(name, type, update, order)                                                                       \
  FFGRAD_DEVICE type name(type *p, type v) { return order; }
#endif
#define FFGRAD_ADD(type, builtin)                                                                                      \
  FFGRAD_ATOMIC(atomicAdd, type, old + v, builtin(p, v))                                                               \
  FFGRAD_DEVICE type atomicAdd_block(type *p, type v) { return atomicAdd(p, v); }                                      \
  FFGRAD_DEVICE type atomicAdd_system(type *p, type v) { return atomicAdd(p, v); }
#define FFGRAD_RELAXED_ADD(p, v) __atomic_fetch_add(p, v, __ATOMIC_RELAXED)
FFGRAD_ADD(float, __nvvm_atom_add_gen_f)
FFGRAD_ADD(double, __nvvm_atom_add_gen_d)
FFGRAD_ADD(int, FFGRAD_RELAXED_ADD)
FFGRAD_ADD(unsigned, FFGRAD_RELAXED_ADD)
FFGRAD_ADD(unsigned long long, FFGRAD_RELAXED_ADD)
#define FFGRAD_WIDER(name, type)                                                                                       \
  FFGRAD_DEVICE type name##_block(type *p, type v) { return name(p, v); }                                              \
  FFGRAD_DEVICE type name##_system(type *p, type v) { return name(p, v); }
#define FFGRAD_INTEGER(type)                                                                                           \
  FFGRAD_ATOMIC(atomicSub, type, old - v, __atomic_fetch_sub(p, v, __ATOMIC_RELAXED))                                  \
  FFGRAD_ATOMIC(atomicMin, type, v < old ? v : old, __atomic_fetch_min(p, v, __ATOMIC_RELAXED))                        \
  FFGRAD_ATOMIC(atomicMax, type, old < v ? v : old, __atomic_fetch_max(p, v, __ATOMIC_RELAXED))                        \
  FFGRAD_ATOMIC(atomicAnd, type, old & v, __atomic_fetch_and(p, v, __ATOMIC_RELAXED))                                  \
  FFGRAD_ATOMIC(atomicOr, type, old | v, __atomic_fetch_or(p, v, __ATOMIC_RELAXED))                                    \
  FFGRAD_ATOMIC(atomicXor, type, old ^ v, __atomic_fetch_xor(p, v, __ATOMIC_RELAXED))                                  \
  FFGRAD_ATOMIC(atomicExch, type, v, __atomic_exchange_n(p, v, __ATOMIC_RELAXED))                                      \
  FFGRAD_WIDER(atomicSub, type) FFGRAD_WIDER(atomicMin, type) FFGRAD_WIDER(atomicMax, type)                            \
  FFGRAD_WIDER(atomicAnd, type) FFGRAD_WIDER(atomicOr, type) FFGRAD_WIDER(atomicXor, type)                             \
  FFGRAD_WIDER(atomicExch, type)                                                                                       \
  FFGRAD_DEVICE type atomicCAS(type *p, type expected, type v) {                                                       \
    FFGRAD_SWAP                                                                                                        \
    return expected;                                                                                                   \
  }
#ifdef FFGRAD_CPU_DEVICE
#define FFGRAD_SWAP                                                                                                    \
  auto old = *p;                                                                                                       \
  if (old == expected) *p = v;                                                                                         \
  expected = old;
#else
#define FFGRAD_SWAP __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
FFGRAD_INTEGER(int) FFGRAD_INTEGER(unsigned) FFGRAD_INTEGER(unsigned long long)
/* Counting in a circle, up and down. */
#ifdef FFGRAD_CPU_DEVICE
#define FFGRAD_CIRCLE(name, next)                                                                                      \
  FFGRAD_DEVICE unsigned name(unsigned *p, unsigned v) {                                                               \
    unsigned old = *p;                                                                                                 \
    *p = next;                                                                                                         \
    return old;                                                                                                        \
  }
#else
#define FFGRAD_CIRCLE(name, next)                                                                                      \
  FFGRAD_DEVICE unsigned name(unsigned *p, unsigned v) {                                                               \
    for (unsigned old = *p;;) {                                                                                        \
      unsigned seen = atomicCAS(p, old, next);                                                                         \
      if (seen == old) return old;                                                                                     \
      old = seen;                                                                                                      \
    }                                                                                                                  \
  }
#endif
FFGRAD_CIRCLE(atomicInc, old >= v ? 0 : old + 1)
FFGRAD_CIRCLE(atomicDec, old == 0 || old > v ? v : old - 1)
#undef FFGRAD_CIRCLE
#undef FFGRAD_ATOMIC
#undef FFGRAD_ADD
#undef FFGRAD_RELAXED_ADD
#undef FFGRAD_INTEGER
#undef FFGRAD_WIDER
#undef FFGRAD_SWAP

/* --- warps ----------------------------------------------------------------------------------------------------- */

#define FFGRAD_FULL 0xffffffffu

FFGRAD_DEVICE int ffgrad_thread() {
  return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

/* The value that another lane of the warp holds. Every lane of the warp takes part. */
template <class T> FFGRAD_DEVICE T ffgrad_exchange(T v, int lane) {
  __shared__ T held[1024];
  int thread = ffgrad_thread();
  held[thread] = v;
  __syncwarp();
  T got = held[(thread & ~31) + lane];
  __syncwarp();
  return got;
}

template <class T> FFGRAD_DEVICE T __shfl_sync(unsigned, T v, int source, int width = 32) {
  int lane = ffgrad_thread() & 31;
  return ffgrad_exchange(v, (lane & ~(width - 1)) + (source & (width - 1)));
}
template <class T> FFGRAD_DEVICE T __shfl_up_sync(unsigned, T v, unsigned delta, int width = 32) {
  int lane = ffgrad_thread() & 31, from = lane - (int)delta;
  return ffgrad_exchange(v, from < (lane & ~(width - 1)) ? lane : from);
}
template <class T> FFGRAD_DEVICE T __shfl_down_sync(unsigned, T v, unsigned delta, int width = 32) {
  int lane = ffgrad_thread() & 31, from = lane + (int)delta;
  return ffgrad_exchange(v, from > (lane | (width - 1)) ? lane : from);
}
template <class T> FFGRAD_DEVICE T __shfl_xor_sync(unsigned, T v, int mask, int width = 32) {
  int lane = ffgrad_thread() & 31, from = lane ^ mask;
  return ffgrad_exchange(v, from > (lane | (width - 1)) ? lane : from);
}
FFGRAD_DEVICE unsigned __ballot_sync(unsigned, int predicate) {
  __shared__ int votes[1024];
  int thread = ffgrad_thread(), count = (int)(blockDim.x * blockDim.y * blockDim.z);
  votes[thread] = predicate != 0;
  __syncwarp();
  unsigned all = 0;
  for (int i = 0; i < 32 && (thread & ~31) + i < count; i++) all |= (unsigned)votes[(thread & ~31) + i] << i;
  __syncwarp();
  return all;
}
FFGRAD_DEVICE unsigned __activemask() { return FFGRAD_FULL; }
FFGRAD_DEVICE int __any_sync(unsigned mask, int predicate) { return (__ballot_sync(mask, predicate) & mask) != 0; }
FFGRAD_DEVICE int __all_sync(unsigned mask, int predicate) { return (~__ballot_sync(mask, predicate) & mask) == 0; }

/* --- the host's side of a .cu file, declared so that it compiles; ffgrad never runs it --------------------------- */

typedef enum cudaError { cudaSuccess = 0, cudaErrorUnknown = 999 } cudaError_t;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
extern "C" {
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr);
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream);
cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaMallocManaged(void **p, size_t bytes, unsigned flags = 1);
cudaError_t cudaFree(void *p);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void *p, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaEventDestroy(cudaEvent_t event);
}
template <class T> cudaError_t cudaMalloc(T **p, size_t bytes) { return cudaMalloc((void **)p, bytes); }
template <class T> cudaError_t cudaMallocManaged(T **p, size_t bytes) { return cudaMallocManaged((void **)p, bytes, 1); }
template <class T>
cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                               enum cudaMemcpyKind kind = cudaMemcpyHostToDevice);

#endif

/* Settings for Eigen, before its headers: products of matrices of any size take the path of small ones, which ffgrad/eigen.h has loops for; what it
 * does not replace uses caches of a common size, without asking the processor. */
#ifndef FFGRAD_EIGEN_SETTINGS
#define FFGRAD_EIGEN_SETTINGS
#if !defined(FFGRAD_EIGEN_KERNELS) && !defined(EIGEN_USE_BLAS) && !defined(EIGEN_USE_LAPACKE) && !defined(EIGEN_USE_MKL_ALL)
#if !defined(EIGEN_GEMM_TO_COEFFBASED_THRESHOLD)
/* Eigen compares: `sizes < THRESHOLD && depth > 0`, which is to hold always. */
#define EIGEN_GEMM_TO_COEFFBASED_THRESHOLD 20 || true || false
#endif
#if !defined(EIGEN_NO_CPUID)
#define EIGEN_NO_CPUID
#endif
#endif
#endif

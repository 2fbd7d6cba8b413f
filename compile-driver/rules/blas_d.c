/* BLAS and LAPACK in double precision, by its C and its Fortran names. The derivatives are in ffgrad/rules/blas.h and lapack.h.
 *
 * Source: the reference BLAS (netlib.org/blas) for what the names mean. Rows first in memory is columns first of the
 * transposed matrices.
 */
#define T double
#define B(name) ffgrad_d##name
#define C(name) ffgrad_cblas_d##name
#define E(name) ffgrad_LAPACKE_d##name
#define F(name) d##name##_
#include <ffgrad/rules/blas.h>
#include <ffgrad/rules/blas_names.h>
#include <ffgrad/rules/lapack.h>
#include <ffgrad/rules/lapack_eigen.h>
#include <ffgrad/rules/lapack_svd.h>
#include <ffgrad/rules/lapack_geev.h>

FFGRAD_LIBRARY(blas)
FFGRAD_REPLACES(daxpy_, ffgrad_daxpy_)
FFGRAD_REPLACES(cblas_daxpy, ffgrad_cblas_daxpy)
FFGRAD_REPLACES(ddot_, ffgrad_ddot_)
FFGRAD_REPLACES(cblas_ddot, ffgrad_cblas_ddot)
FFGRAD_REPLACES(dnrm2_, ffgrad_dnrm2_)
FFGRAD_REPLACES(cblas_dnrm2, ffgrad_cblas_dnrm2)
FFGRAD_REPLACES(dscal_, ffgrad_dscal_)
FFGRAD_REPLACES(cblas_dscal, ffgrad_cblas_dscal)
FFGRAD_REPLACES(dcopy_, ffgrad_dcopy_)
FFGRAD_REPLACES(cblas_dcopy, ffgrad_cblas_dcopy)
FFGRAD_REPLACES(dger_, ffgrad_dger_)
FFGRAD_REPLACES(cblas_dger, ffgrad_cblas_dger)
FFGRAD_REPLACES(dgemv_, ffgrad_dgemv_)
FFGRAD_REPLACES(cblas_dgemv, ffgrad_cblas_dgemv)
FFGRAD_REPLACES(dgemm_, ffgrad_dgemm_)
FFGRAD_REPLACES(cblas_dgemm, ffgrad_cblas_dgemm)
FFGRAD_REPLACES(dtrsm_, ffgrad_dtrsm_)
FFGRAD_REPLACES(cblas_dtrsm, ffgrad_cblas_dtrsm)
FFGRAD_REPLACES(dpotrf_, ffgrad_dpotrf_)
FFGRAD_REPLACES(dpotrs_, ffgrad_dpotrs_)
FFGRAD_REPLACES(dposv_, ffgrad_dposv_)
FFGRAD_REPLACES(dgetrf_, ffgrad_dgetrf_)
FFGRAD_REPLACES(dgetrs_, ffgrad_dgetrs_)
FFGRAD_REPLACES(dgesv_, ffgrad_dgesv_)
FFGRAD_REPLACES(dsyev_, ffgrad_dsyev_)
FFGRAD_REPLACES(dsyevd_, ffgrad_dsyevd_)
FFGRAD_REPLACES(dgels_, ffgrad_dgels_)
FFGRAD_REPLACES(dgesvd_, ffgrad_dgesvd_)
FFGRAD_REPLACES(dgesdd_, ffgrad_dgesdd_)
FFGRAD_REPLACES(dgeev_, ffgrad_dgeev_)
FFGRAD_REPLACES(LAPACKE_dpotrf, ffgrad_LAPACKE_dpotrf)
FFGRAD_REPLACES(LAPACKE_dpotrs, ffgrad_LAPACKE_dpotrs)
FFGRAD_REPLACES(LAPACKE_dposv, ffgrad_LAPACKE_dposv)
FFGRAD_REPLACES(LAPACKE_dgetrf, ffgrad_LAPACKE_dgetrf)
FFGRAD_REPLACES(LAPACKE_dgetrs, ffgrad_LAPACKE_dgetrs)
FFGRAD_REPLACES(LAPACKE_dgesv, ffgrad_LAPACKE_dgesv)
FFGRAD_REPLACES(LAPACKE_dsyev, ffgrad_LAPACKE_dsyev)
FFGRAD_REPLACES(LAPACKE_dsyevd, ffgrad_LAPACKE_dsyevd)
FFGRAD_REPLACES(LAPACKE_dgels, ffgrad_LAPACKE_dgels)
FFGRAD_REPLACES(LAPACKE_dgesvd, ffgrad_LAPACKE_dgesvd)
FFGRAD_REPLACES(LAPACKE_dgesdd, ffgrad_LAPACKE_dgesdd)
FFGRAD_REPLACES(LAPACKE_dgeev, ffgrad_LAPACKE_dgeev)

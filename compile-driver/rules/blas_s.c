/* BLAS and LAPACK in single precision, by its C and its Fortran names. The derivatives are in ffgrad/rules/blas.h and lapack.h.
 *
 * Source: the reference BLAS (netlib.org/blas) for what the names mean. Rows first in memory is columns first of the
 * transposed matrices.
 */
#define T float
#define B(name) ffgrad_s##name
#define C(name) ffgrad_cblas_s##name
#define E(name) ffgrad_LAPACKE_s##name
#define F(name) s##name##_
#include <ffgrad/rules/blas.h>
#include <ffgrad/rules/blas_names.h>
#include <ffgrad/rules/lapack.h>
#include <ffgrad/rules/lapack_eigen.h>
#include <ffgrad/rules/lapack_svd.h>
#include <ffgrad/rules/lapack_geev.h>

FFGRAD_LIBRARY(blas)
FFGRAD_REPLACES(saxpy_, ffgrad_saxpy_)
FFGRAD_REPLACES(cblas_saxpy, ffgrad_cblas_saxpy)
FFGRAD_REPLACES(sdot_, ffgrad_sdot_)
FFGRAD_REPLACES(cblas_sdot, ffgrad_cblas_sdot)
FFGRAD_REPLACES(snrm2_, ffgrad_snrm2_)
FFGRAD_REPLACES(cblas_snrm2, ffgrad_cblas_snrm2)
FFGRAD_REPLACES(sscal_, ffgrad_sscal_)
FFGRAD_REPLACES(cblas_sscal, ffgrad_cblas_sscal)
FFGRAD_REPLACES(scopy_, ffgrad_scopy_)
FFGRAD_REPLACES(cblas_scopy, ffgrad_cblas_scopy)
FFGRAD_REPLACES(sger_, ffgrad_sger_)
FFGRAD_REPLACES(cblas_sger, ffgrad_cblas_sger)
FFGRAD_REPLACES(sgemv_, ffgrad_sgemv_)
FFGRAD_REPLACES(cblas_sgemv, ffgrad_cblas_sgemv)
FFGRAD_REPLACES(sgemm_, ffgrad_sgemm_)
FFGRAD_REPLACES(cblas_sgemm, ffgrad_cblas_sgemm)
FFGRAD_REPLACES(strsm_, ffgrad_strsm_)
FFGRAD_REPLACES(cblas_strsm, ffgrad_cblas_strsm)
FFGRAD_REPLACES(spotrf_, ffgrad_spotrf_)
FFGRAD_REPLACES(spotrs_, ffgrad_spotrs_)
FFGRAD_REPLACES(sposv_, ffgrad_sposv_)
FFGRAD_REPLACES(sgetrf_, ffgrad_sgetrf_)
FFGRAD_REPLACES(sgetrs_, ffgrad_sgetrs_)
FFGRAD_REPLACES(sgesv_, ffgrad_sgesv_)
FFGRAD_REPLACES(ssyev_, ffgrad_ssyev_)
FFGRAD_REPLACES(ssyevd_, ffgrad_ssyevd_)
FFGRAD_REPLACES(sgels_, ffgrad_sgels_)
FFGRAD_REPLACES(sgesvd_, ffgrad_sgesvd_)
FFGRAD_REPLACES(sgesdd_, ffgrad_sgesdd_)
FFGRAD_REPLACES(sgeev_, ffgrad_sgeev_)
FFGRAD_REPLACES(LAPACKE_spotrf, ffgrad_LAPACKE_spotrf)
FFGRAD_REPLACES(LAPACKE_spotrs, ffgrad_LAPACKE_spotrs)
FFGRAD_REPLACES(LAPACKE_sposv, ffgrad_LAPACKE_sposv)
FFGRAD_REPLACES(LAPACKE_sgetrf, ffgrad_LAPACKE_sgetrf)
FFGRAD_REPLACES(LAPACKE_sgetrs, ffgrad_LAPACKE_sgetrs)
FFGRAD_REPLACES(LAPACKE_sgesv, ffgrad_LAPACKE_sgesv)
FFGRAD_REPLACES(LAPACKE_ssyev, ffgrad_LAPACKE_ssyev)
FFGRAD_REPLACES(LAPACKE_ssyevd, ffgrad_LAPACKE_ssyevd)
FFGRAD_REPLACES(LAPACKE_sgels, ffgrad_LAPACKE_sgels)
FFGRAD_REPLACES(LAPACKE_sgesvd, ffgrad_LAPACKE_sgesvd)
FFGRAD_REPLACES(LAPACKE_sgesdd, ffgrad_LAPACKE_sgesdd)
FFGRAD_REPLACES(LAPACKE_sgeev, ffgrad_LAPACKE_sgeev)

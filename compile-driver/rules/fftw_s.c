/* FFTW in single precision. The plans and their derivatives are in ffgrad/rules/fftw.h.
 *
 * Source: FFTW's reference manual, fftw.org, for what the names mean.
 */
#define T float
#define W(name) ffgrad_fftwf_##name
#define L(name) fftwf_##name
#include <ffgrad/rules/fftw.h>

FFGRAD_REPLACES(fftwf_plan_dft, ffgrad_fftwf_plan_dft)
FFGRAD_REPLACES(fftwf_plan_dft_1d, ffgrad_fftwf_plan_dft_1d)
FFGRAD_REPLACES(fftwf_plan_dft_2d, ffgrad_fftwf_plan_dft_2d)
FFGRAD_REPLACES(fftwf_plan_dft_3d, ffgrad_fftwf_plan_dft_3d)
FFGRAD_REPLACES(fftwf_plan_many_dft, ffgrad_fftwf_plan_many_dft)
FFGRAD_REPLACES(fftwf_plan_dft_r2c, ffgrad_fftwf_plan_dft_r2c)
FFGRAD_REPLACES(fftwf_plan_dft_r2c_1d, ffgrad_fftwf_plan_dft_r2c_1d)
FFGRAD_REPLACES(fftwf_plan_dft_r2c_2d, ffgrad_fftwf_plan_dft_r2c_2d)
FFGRAD_REPLACES(fftwf_plan_dft_r2c_3d, ffgrad_fftwf_plan_dft_r2c_3d)
FFGRAD_REPLACES(fftwf_plan_many_dft_r2c, ffgrad_fftwf_plan_many_dft_r2c)
FFGRAD_REPLACES(fftwf_plan_dft_c2r, ffgrad_fftwf_plan_dft_c2r)
FFGRAD_REPLACES(fftwf_plan_dft_c2r_1d, ffgrad_fftwf_plan_dft_c2r_1d)
FFGRAD_REPLACES(fftwf_plan_dft_c2r_2d, ffgrad_fftwf_plan_dft_c2r_2d)
FFGRAD_REPLACES(fftwf_plan_dft_c2r_3d, ffgrad_fftwf_plan_dft_c2r_3d)
FFGRAD_REPLACES(fftwf_plan_many_dft_c2r, ffgrad_fftwf_plan_many_dft_c2r)
FFGRAD_REPLACES(fftwf_plan_r2r, ffgrad_fftwf_plan_r2r)
FFGRAD_REPLACES(fftwf_plan_r2r_1d, ffgrad_fftwf_plan_r2r_1d)
FFGRAD_REPLACES(fftwf_plan_r2r_2d, ffgrad_fftwf_plan_r2r_2d)
FFGRAD_REPLACES(fftwf_plan_many_r2r, ffgrad_fftwf_plan_many_r2r)
FFGRAD_REPLACES(fftwf_execute, ffgrad_fftwf_execute)
FFGRAD_REPLACES(fftwf_execute_dft, ffgrad_fftwf_execute_dft)
FFGRAD_REPLACES(fftwf_execute_dft_r2c, ffgrad_fftwf_execute_dft_r2c)
FFGRAD_REPLACES(fftwf_execute_dft_c2r, ffgrad_fftwf_execute_dft_c2r)
FFGRAD_REPLACES(fftwf_execute_r2r, ffgrad_fftwf_execute_r2r)
FFGRAD_REPLACES(fftwf_destroy_plan, ffgrad_fftwf_destroy_plan)
FFGRAD_REPLACES(fftwf_malloc, ffgrad_fftwf_malloc)
FFGRAD_REPLACES(fftwf_alloc_real, ffgrad_fftwf_alloc_real)
FFGRAD_REPLACES(fftwf_alloc_complex, ffgrad_fftwf_alloc_complex)
FFGRAD_REPLACES(fftwf_free, ffgrad_fftwf_free)
FFGRAD_REPLACES(fftwf_cleanup, ffgrad_fftwf_cleanup)
FFGRAD_REPLACES(fftwf_init_threads, ffgrad_fftwf_init_threads)
FFGRAD_REPLACES(fftwf_plan_with_nthreads, ffgrad_fftwf_plan_with_nthreads)
FFGRAD_REPLACES(fftwf_cleanup_threads, ffgrad_fftwf_cleanup_threads)

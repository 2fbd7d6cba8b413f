/* FFTW in double precision. The plans and their derivatives are in ffgrad/rules/fftw.h.
 *
 * Source: FFTW's reference manual, fftw.org, for what the names mean.
 */
#define T double
#define W(name) ffgrad_fftw_##name
#define L(name) fftw_##name
#include <ffgrad/rules/fftw.h>

FFGRAD_REPLACES(fftw_plan_dft, ffgrad_fftw_plan_dft)
FFGRAD_REPLACES(fftw_plan_dft_1d, ffgrad_fftw_plan_dft_1d)
FFGRAD_REPLACES(fftw_plan_dft_2d, ffgrad_fftw_plan_dft_2d)
FFGRAD_REPLACES(fftw_plan_dft_3d, ffgrad_fftw_plan_dft_3d)
FFGRAD_REPLACES(fftw_plan_many_dft, ffgrad_fftw_plan_many_dft)
FFGRAD_REPLACES(fftw_plan_dft_r2c, ffgrad_fftw_plan_dft_r2c)
FFGRAD_REPLACES(fftw_plan_dft_r2c_1d, ffgrad_fftw_plan_dft_r2c_1d)
FFGRAD_REPLACES(fftw_plan_dft_r2c_2d, ffgrad_fftw_plan_dft_r2c_2d)
FFGRAD_REPLACES(fftw_plan_dft_r2c_3d, ffgrad_fftw_plan_dft_r2c_3d)
FFGRAD_REPLACES(fftw_plan_many_dft_r2c, ffgrad_fftw_plan_many_dft_r2c)
FFGRAD_REPLACES(fftw_plan_dft_c2r, ffgrad_fftw_plan_dft_c2r)
FFGRAD_REPLACES(fftw_plan_dft_c2r_1d, ffgrad_fftw_plan_dft_c2r_1d)
FFGRAD_REPLACES(fftw_plan_dft_c2r_2d, ffgrad_fftw_plan_dft_c2r_2d)
FFGRAD_REPLACES(fftw_plan_dft_c2r_3d, ffgrad_fftw_plan_dft_c2r_3d)
FFGRAD_REPLACES(fftw_plan_many_dft_c2r, ffgrad_fftw_plan_many_dft_c2r)
FFGRAD_REPLACES(fftw_plan_r2r, ffgrad_fftw_plan_r2r)
FFGRAD_REPLACES(fftw_plan_r2r_1d, ffgrad_fftw_plan_r2r_1d)
FFGRAD_REPLACES(fftw_plan_r2r_2d, ffgrad_fftw_plan_r2r_2d)
FFGRAD_REPLACES(fftw_plan_many_r2r, ffgrad_fftw_plan_many_r2r)
FFGRAD_REPLACES(fftw_execute, ffgrad_fftw_execute)
FFGRAD_REPLACES(fftw_execute_dft, ffgrad_fftw_execute_dft)
FFGRAD_REPLACES(fftw_execute_dft_r2c, ffgrad_fftw_execute_dft_r2c)
FFGRAD_REPLACES(fftw_execute_dft_c2r, ffgrad_fftw_execute_dft_c2r)
FFGRAD_REPLACES(fftw_execute_r2r, ffgrad_fftw_execute_r2r)
FFGRAD_REPLACES(fftw_destroy_plan, ffgrad_fftw_destroy_plan)
FFGRAD_REPLACES(fftw_malloc, ffgrad_fftw_malloc)
FFGRAD_REPLACES(fftw_alloc_real, ffgrad_fftw_alloc_real)
FFGRAD_REPLACES(fftw_alloc_complex, ffgrad_fftw_alloc_complex)
FFGRAD_REPLACES(fftw_free, ffgrad_fftw_free)
FFGRAD_REPLACES(fftw_cleanup, ffgrad_fftw_cleanup)
FFGRAD_REPLACES(fftw_init_threads, ffgrad_fftw_init_threads)
FFGRAD_REPLACES(fftw_plan_with_nthreads, ffgrad_fftw_plan_with_nthreads)
FFGRAD_REPLACES(fftw_cleanup_threads, ffgrad_fftw_cleanup_threads)

/* OpenMP's functions for a program that is compiled without OpenMP: one thread, as its specification says. So sources that include this header are
   compiled with and without -fopenmp; with it the runtime's own header is taken. */
#ifndef FFGRAD_OMP_H
#define FFGRAD_OMP_H

#include <sys/time.h>

#define FFGRAD_OMP static __inline __attribute__((unused))

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int held;
} omp_lock_t;
typedef struct {
  int held;
} omp_nest_lock_t;
typedef enum { omp_sched_static = 1, omp_sched_dynamic, omp_sched_guided, omp_sched_auto } omp_sched_t;
typedef enum {
  omp_proc_bind_false,
  omp_proc_bind_true,
  omp_proc_bind_master,
  omp_proc_bind_close,
  omp_proc_bind_spread
} omp_proc_bind_t;

FFGRAD_OMP void omp_set_num_threads(int threads) { (void)threads; }
FFGRAD_OMP int omp_get_num_threads(void) { return 1; }
FFGRAD_OMP int omp_get_max_threads(void) { return 1; }
FFGRAD_OMP int omp_get_thread_num(void) { return 0; }
FFGRAD_OMP int omp_get_num_procs(void) { return 1; }
FFGRAD_OMP int omp_in_parallel(void) { return 0; }
FFGRAD_OMP void omp_set_dynamic(int on) { (void)on; }
FFGRAD_OMP int omp_get_dynamic(void) { return 0; }
FFGRAD_OMP void omp_set_nested(int on) { (void)on; }
FFGRAD_OMP int omp_get_nested(void) { return 0; }
FFGRAD_OMP int omp_get_cancellation(void) { return 0; }
FFGRAD_OMP void omp_set_schedule(omp_sched_t kind, int chunk) { (void)kind, (void)chunk; }
FFGRAD_OMP void omp_get_schedule(omp_sched_t *kind, int *chunk) { *kind = omp_sched_static, *chunk = 0; }
FFGRAD_OMP int omp_get_thread_limit(void) { return 1; }
FFGRAD_OMP void omp_set_max_active_levels(int levels) { (void)levels; }
FFGRAD_OMP int omp_get_max_active_levels(void) { return 0; }
FFGRAD_OMP int omp_get_level(void) { return 0; }
FFGRAD_OMP int omp_get_ancestor_thread_num(int level) { return level == 0 ? 0 : -1; }
FFGRAD_OMP int omp_get_team_size(int level) { return level == 0 ? 1 : -1; }
FFGRAD_OMP int omp_get_active_level(void) { return 0; }
FFGRAD_OMP int omp_in_final(void) { return 1; }
FFGRAD_OMP omp_proc_bind_t omp_get_proc_bind(void) { return omp_proc_bind_false; }
FFGRAD_OMP void omp_set_default_device(int device) { (void)device; }
FFGRAD_OMP int omp_get_default_device(void) { return 0; }
FFGRAD_OMP int omp_get_num_devices(void) { return 0; }
FFGRAD_OMP int omp_get_num_teams(void) { return 1; }
FFGRAD_OMP int omp_get_team_num(void) { return 0; }
FFGRAD_OMP int omp_is_initial_device(void) { return 1; }
FFGRAD_OMP int omp_get_initial_device(void) { return 0; }
FFGRAD_OMP void omp_init_lock(omp_lock_t *lock) { lock->held = 0; }
FFGRAD_OMP void omp_destroy_lock(omp_lock_t *lock) { lock->held = 0; }
FFGRAD_OMP void omp_set_lock(omp_lock_t *lock) { lock->held = 1; }
FFGRAD_OMP void omp_unset_lock(omp_lock_t *lock) { lock->held = 0; }
FFGRAD_OMP int omp_test_lock(omp_lock_t *lock) { return lock->held ? 0 : (lock->held = 1); }
FFGRAD_OMP void omp_init_nest_lock(omp_nest_lock_t *lock) { lock->held = 0; }
FFGRAD_OMP void omp_destroy_nest_lock(omp_nest_lock_t *lock) { lock->held = 0; }
FFGRAD_OMP void omp_set_nest_lock(omp_nest_lock_t *lock) { lock->held++; }
FFGRAD_OMP void omp_unset_nest_lock(omp_nest_lock_t *lock) { lock->held--; }
FFGRAD_OMP int omp_test_nest_lock(omp_nest_lock_t *lock) { return ++lock->held; }
FFGRAD_OMP double omp_get_wtick(void) { return 1e-6; }
FFGRAD_OMP double omp_get_wtime(void) {
  struct timeval now;
  gettimeofday(&now, 0);
  return (double)now.tv_sec + 1e-6 * (double)now.tv_usec;
}

#ifdef __cplusplus
}
#endif

#undef FFGRAD_OMP
#endif

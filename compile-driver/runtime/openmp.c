/* OpenMP's runtime functions (`__kmpc_*`, which clang and flang call) in a form that Enzyme can differentiate.
 *
 * Compiled three times and linked in by the worker (core-ad/llvm/src/lowering/openmp/):
 *
 *   ONE   before differentiation: everything is done by one thread. For forward mode, second derivatives, and what
 *         cannot be reversed in parallel. Nothing of OpenMP is left afterwards.
 *   MANY  before differentiation, for reverse mode: sharing of work becomes arithmetic on a thread's number; the
 *         Enzyme sees plain loops. What is left of OpenMP is a fork, locks and barriers, which Enzyme reverses.
 *   TEAM  after differentiation: what those locks and barriers do.
 *
 * In place of OpenMP's global thread number, MANY has a code: the thread's number in its team, the size of the
 * team, and the number of the thread that forked it, in bits 10-19, 0-9 and 20-30.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef int32_t (*Routine)(int32_t, void *);
typedef struct {
  void *shareds;
  Routine routine;
} Task;

#define MOST_THREADS 1023
#define MOST_ROOTS 2048
#define SIZE(code) ((code) & 1023)
#define RANK(code) ((code) >> 10 & 1023)
#define ROOT(code) ((code) >> 20 & 2047)

#define INLINE __attribute__((always_inline))
#define IGNORED(name, ...) \
  INLINE void name(__VA_ARGS__) {}

#if defined(ONE) || defined(MANY)

/* In MANY: marks a construct whose reverse depends on the order in which threads met it. The worker then lets one
 * thread run the whole parallel region, and removes the mark. */
#ifdef MANY
extern void ffgrad_omp_one_thread_only(void);
extern int32_t ffgrad_omp_code(void);
extern int64_t ffgrad_omp_wanted(int32_t threads);
extern void __kmpc_critical(void *loc, int32_t code, void *lock);
extern void __kmpc_end_critical(void *loc, int32_t code, void *lock);
extern void __kmpc_barrier(void *loc, int32_t code);
/* Not locks but an order of entry: threads pass in the order of their numbers, in reverse mode in the opposite one. Enzyme
 * reverses `critical(a) .. end_critical(b)` to `critical(b) .. end_critical(a)`, which distinguishes the two. */
extern int32_t ffgrad_turn_forward[8], ffgrad_turn_reverse[8];
#else
#define ffgrad_omp_one_thread_only() ((void)0)
#define ffgrad_omp_code() 1
#endif

INLINE int32_t __kmpc_global_thread_num(void *loc) { return ffgrad_omp_code(); }

/* Static schedules. In: the bounds of the whole loop. Out: those of this thread's first piece, and the distance to
 * its next. */
#define STATIC(suffix, T, S)                                                                                        \
  INLINE void __kmpc_for_static_init_##suffix(void *loc, int32_t code, int32_t schedule, int32_t *last, T *low,     \
                                              T *high, S *stride, S step, S chunk) {                                \
    int32_t threads = SIZE(code), rank = RANK(code);                                                                \
    int nothing = step > 0 ? *high < *low : *low < *high;                                                           \
    int64_t count = nothing ? 0 : step > 0 ? (int64_t)(*high - *low) / step + 1 : (int64_t)(*low - *high) / -step + 1; \
    if (count == 0) {                                                                                               \
      *last = 0;                                                                                                    \
      *stride = step;                                                                                               \
      return;                                                                                                       \
    }                                                                                                               \
    if ((schedule & 0xffff) == 33) {                                                                                \
      int64_t piece = chunk < 1 ? 1 : chunk;                                                                        \
      int64_t pieces = (count - 1) / piece;                                                                         \
      *last = pieces % threads == rank;                                                                             \
      *stride = (S)(piece * step * threads);                                                                        \
      *low = (T)(*low + piece * step * rank);                                                                       \
      *high = (T)(*low + (piece - 1) * step);                                                                       \
      return;                                                                                                       \
    }                                                                                                               \
    int64_t share = count / threads, more = count % threads;                                                        \
    int64_t from = rank * share + (rank < more ? rank : more), mine = share + (rank < more);                        \
    *last = mine > 0 && from + mine == count;                                                                       \
    *stride = (S)(count * step);                                                                                    \
    *low = (T)(*low + from * step);                                                                                 \
    *high = (T)(*low + (mine - 1) * step);                                                                          \
  }
STATIC(4, int32_t, int32_t)
STATIC(4u, uint32_t, int32_t)
STATIC(8, int64_t, int64_t)
STATIC(8u, uint64_t, int64_t)
INLINE void __kmpc_for_static_fini(void *loc, int32_t code) {}

/* Dynamic, guided and runtime schedules: the order is unspecified, so pieces are dealt out round-robin, some eight
 * to a thread. The worker adds the first argument, memory of the thread's own. */
typedef struct {
  int64_t next, count, piece, hop, base, step;
} Dealt;

#define DYNAMIC(suffix, T, S)                                                                                       \
  INLINE void ffgrad_dispatch_init_##suffix(Dealt *d, void *loc, int32_t code, int32_t schedule, T low, T high,     \
                                            S step, S chunk) {                                                      \
    int64_t threads = SIZE(code), least = chunk < 1 ? 1 : chunk;                                                    \
    int nothing = step > 0 ? high < low : low < high;                                                               \
    int64_t count = nothing ? 0 : step > 0 ? (int64_t)(high - low) / step + 1 : (int64_t)(low - high) / -step + 1;  \
    int64_t fair = threads == 1 ? count : count / (8 * threads), piece = fair / least * least;                      \
    if (piece < least) piece = least;                                                                               \
    int kind = schedule & 0xffff;                                                                                   \
    if (kind >= 65 && kind <= 72) ffgrad_omp_one_thread_only();                                                     \
    *d = (Dealt){RANK(code) * piece, count, piece, piece * threads, (int64_t)low, step};                            \
  }                                                                                                                 \
  INLINE int32_t ffgrad_dispatch_next_##suffix(Dealt *d, void *loc, int32_t code, int32_t *last, T *low, T *high,   \
                                               S *stride) {                                                         \
    if (d->next >= d->count) return 0;                                                                              \
    int64_t end = d->next + d->piece < d->count ? d->next + d->piece : d->count;                                    \
    *last = end == d->count;                                                                                        \
    *low = (T)(d->base + d->next * d->step);                                                                        \
    *high = (T)(d->base + (end - 1) * d->step);                                                                     \
    *stride = (S)d->step;                                                                                           \
    d->next += d->hop;                                                                                              \
    return 1;                                                                                                       \
  }                                                                                                                 \
  IGNORED(__kmpc_dispatch_fini_##suffix, void *loc, int32_t code)
DYNAMIC(4, int32_t, int32_t)
DYNAMIC(4u, uint32_t, int32_t)
DYNAMIC(8, int64_t, int64_t)
DYNAMIC(8u, uint64_t, int64_t)
IGNORED(__kmpc_dispatch_deinit, void *loc, int32_t code)

INLINE int32_t __kmpc_single(void *loc, int32_t code) { return RANK(code) == 0; }
INLINE int32_t __kmpc_master(void *loc, int32_t code) { return RANK(code) == 0; }
INLINE int32_t __kmpc_masked(void *loc, int32_t code, int32_t filter) { return RANK(code) == filter; }
IGNORED(__kmpc_end_single, void *loc, int32_t code)
IGNORED(__kmpc_end_master, void *loc, int32_t code)
IGNORED(__kmpc_end_masked, void *loc, int32_t code)

#ifdef MANY
INLINE int32_t __kmpc_reduce_nowait(void *loc, int32_t code, int32_t count, size_t size, void *data,
                                    void (*combine)(void *, void *), void *lock) {
  __kmpc_critical(0, code, ffgrad_turn_forward);
  return 1;
}
INLINE void __kmpc_end_reduce_nowait(void *loc, int32_t code, void *lock) {
  __kmpc_end_critical(0, code, ffgrad_turn_reverse);
}
INLINE int32_t __kmpc_reduce(void *loc, int32_t code, int32_t count, size_t size, void *data,
                             void (*combine)(void *, void *), void *lock) {
  __kmpc_critical(0, code, ffgrad_turn_forward);
  return 1;
}
INLINE void __kmpc_end_reduce(void *loc, int32_t code, void *lock) {
  __kmpc_end_critical(0, code, ffgrad_turn_reverse);
  __kmpc_barrier(0, code);
}
INLINE void __kmpc_critical_with_hint(void *loc, int32_t code, void *lock, uint32_t hint) {
  __kmpc_critical(loc, code, lock);
}
INLINE void __kmpc_push_num_threads(void *loc, int32_t code, int32_t threads) { ffgrad_omp_wanted(threads); }
#else
#define REDUCE int32_t code, int32_t count, size_t size, void *data, void (*combine)(void *, void *), void *lock
INLINE int32_t __kmpc_reduce_nowait(void *loc, REDUCE) { return 1; }
INLINE int32_t __kmpc_reduce(void *loc, REDUCE) { return 1; }
IGNORED(__kmpc_end_reduce_nowait, void *loc, int32_t code, void *lock)
IGNORED(__kmpc_end_reduce, void *loc, int32_t code, void *lock)
IGNORED(__kmpc_critical, void *loc, int32_t code, void *lock)
IGNORED(__kmpc_critical_with_hint, void *loc, int32_t code, void *lock, uint32_t hint)
IGNORED(__kmpc_end_critical, void *loc, int32_t code, void *lock)
IGNORED(__kmpc_barrier, void *loc, int32_t code)
IGNORED(__kmpc_push_num_threads, void *loc, int32_t code, int32_t threads)
INLINE int32_t omp_get_thread_num(void) { return 0; }
INLINE int32_t omp_get_num_threads(void) { return 1; }
INLINE int32_t omp_get_max_threads(void) { return 1; }
INLINE int32_t omp_in_parallel(void) { return 0; }
INLINE int32_t omp_get_level(void) { return 0; }
IGNORED(omp_set_num_threads, int32_t threads)
#endif
IGNORED(__kmpc_push_proc_bind, void *loc, int32_t code, int32_t kind)
IGNORED(omp_set_dynamic, int32_t on)
IGNORED(omp_set_nested, int32_t on)
IGNORED(omp_set_max_active_levels, int32_t levels)
IGNORED(omp_set_schedule, int32_t kind, int32_t chunk)

/* One thread, or wrong. */
#define ALONE(name, ...) \
  INLINE void name(__VA_ARGS__) { ffgrad_omp_one_thread_only(); }
ALONE(__kmpc_serialized_parallel, void *loc, int32_t code)
ALONE(__kmpc_end_serialized_parallel, void *loc, int32_t code)
ALONE(__kmpc_ordered, void *loc, int32_t code)
ALONE(__kmpc_end_ordered, void *loc, int32_t code)
ALONE(__kmpc_flush, void *loc)
ALONE(__kmpc_copyprivate, void *loc, int32_t code, size_t size, void *data, void (*copy)(void *, void *), int32_t did)
ALONE(omp_init_lock, void *lock)
ALONE(omp_destroy_lock, void *lock)
ALONE(omp_set_lock, void *lock)
ALONE(omp_unset_lock, void *lock)
ALONE(omp_init_nest_lock, void *lock)
ALONE(omp_destroy_nest_lock, void *lock)
ALONE(omp_set_nest_lock, void *lock)
ALONE(omp_unset_nest_lock, void *lock)
INLINE int32_t omp_test_lock(void *lock) {
  ffgrad_omp_one_thread_only();
  return 1;
}
INLINE void *__kmpc_threadprivate_cached(void *loc, int32_t code, void *data, size_t size, void ***cache) {
  ffgrad_omp_one_thread_only();
  return data;
}

/* Tasks run where they are met. */
INLINE void *__kmpc_omp_task_alloc(void *loc, int32_t code, int32_t flags, size_t size, size_t shareds, Routine r) {
  ffgrad_omp_one_thread_only();
  size_t before = (size + 15) / 16 * 16;
  Task *task = malloc(before + shareds);
  task->shareds = (char *)task + before;
  task->routine = r;
  return task;
}
INLINE int32_t __kmpc_omp_task(void *loc, int32_t code, Task *task) {
  task->routine(code, task);
  return 0;
}
INLINE int32_t __kmpc_omp_task_with_deps(void *loc, int32_t code, Task *task, int32_t n, void *deps, int32_t m,
                                         void *more) {
  task->routine(code, task);
  return 0;
}
INLINE void __kmpc_taskloop(void *loc, int32_t code, Task *task, int32_t condition, uint64_t *low, uint64_t *high,
                            int64_t stride, int32_t nogroup, int32_t schedule, uint64_t grain, void *copy) {
  task->routine(code, task);
}
INLINE int32_t __kmpc_omp_taskwait(void *loc, int32_t code) { return 0; }
INLINE int32_t __kmpc_omp_taskyield(void *loc, int32_t code, int32_t end) { return 0; }
IGNORED(__kmpc_taskgroup, void *loc, int32_t code)
IGNORED(__kmpc_end_taskgroup, void *loc, int32_t code)
IGNORED(__kmpc_omp_task_begin_if0, void *loc, int32_t code, void *task)
IGNORED(__kmpc_omp_task_complete_if0, void *loc, int32_t code, void *task)

#endif

#ifdef TEAM
#include <sched.h>
#include <stdio.h>

extern int32_t __kmpc_global_thread_num(void *);
extern void __kmpc_push_num_threads(void *, int32_t, int32_t);
extern void __kmpc_barrier(void *, int32_t);
extern int32_t omp_get_max_threads(void), omp_get_num_threads(void), omp_get_thread_num(void);
extern int32_t omp_get_thread_limit(void), omp_in_parallel(void), omp_get_dynamic(void);

static struct {
  int32_t reserved, flags, more[2];
  const char *source;
} place = {0, 2, {0, 0}, ";unknown;unknown;0;0;;"};

/* Number of the thread that enters next, for each thread that forks teams. */
typedef struct {
  int32_t forward, reverse, padding[14];
} Turn;
static Turn turns[MOST_ROOTS];
int32_t ffgrad_turn_forward[8], ffgrad_turn_reverse[8];

static __thread int32_t wanted;

int64_t ffgrad_omp_wanted(int32_t threads) {
  wanted = threads;
  return 0;
}

/* The team that the next fork will have. */
int64_t ffgrad_omp_team(void) {
  int32_t threads = wanted > 0 ? wanted : omp_get_max_threads(), limit = omp_get_thread_limit();
  int32_t root = __kmpc_global_thread_num(&place);
  wanted = 0;
  if (threads > limit) threads = limit;
  if (threads > MOST_THREADS) threads = MOST_THREADS;
  if (threads < 1 || root >= MOST_ROOTS || omp_in_parallel() || omp_get_dynamic()) threads = 1;
  return (int64_t)root << 20 | threads;
}

int32_t ffgrad_omp_code(void) { return omp_get_thread_num() << 10 | omp_get_num_threads(); }

/* A fork has the team that the forward sweep had, whatever was set since. */
void ffgrad_omp_before_fork(int64_t team) {
  __kmpc_push_num_threads(&place, __kmpc_global_thread_num(&place), SIZE((int32_t)team));
}

static void await(int32_t *counter, int32_t value) {
  for (int i = 0; __atomic_load_n(counter, __ATOMIC_ACQUIRE) != value; i++) {
    if (i > 64) sched_yield();
  }
}

static void must_be_whole(int32_t code) {
  if (omp_get_num_threads() == SIZE(code)) return;
  fprintf(stderr, "ffgrad: OpenMP gave a team of %d threads instead of %d; a derivative cannot go on with it\n",
          omp_get_num_threads(), SIZE(code));
  abort();
}

void ffgrad_omp_lock(void *loc, int32_t code, int32_t *lock) {
  int32_t size = SIZE(code), rank = RANK(code);
  if (lock == ffgrad_turn_forward || lock == ffgrad_turn_reverse) {
    if (size == 1) return;
    must_be_whole(code);
    Turn *t = &turns[ROOT(code)];
    if (lock == ffgrad_turn_forward) await(&t->forward, rank);
    else await(&t->reverse, size - 1 - rank);
    return;
  }
  for (int i = 0; __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE); i++) {
    if (i > 64) sched_yield();
  }
}

void ffgrad_omp_unlock(void *loc, int32_t code, int32_t *lock) {
  int32_t size = SIZE(code), rank = RANK(code);
  /* The end of a forward section names the reverse one's lock, and vice versa. */
  Turn *t = &turns[ROOT(code)];
  if (lock == ffgrad_turn_reverse) {
    if (size > 1) __atomic_store_n(&t->forward, (rank + 1) % size, __ATOMIC_RELEASE);
  } else if (lock == ffgrad_turn_forward) {
    if (size > 1) __atomic_store_n(&t->reverse, (size - rank) % size, __ATOMIC_RELEASE);
  } else {
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
  }
}

void ffgrad_omp_barrier(void *loc, int32_t code) {
  if (SIZE(code) == 1) return;
  must_be_whole(code);
  __kmpc_barrier(&place, __kmpc_global_thread_num(&place));
}
#endif

/* Checkpointed loops: what derivatives of a loop call that stands in the user's function (core-ad/llvm/src/lowering/checkpoint/).
 *
 * The worker has made a function of one iteration. Its memory is known as regions: what the loop writes is its state, and what it only reads may have
 * been overwritten before the reverse sweep and is copied once. The forward sweep runs the steps and keeps some states; the reverse sweep
 * restores the newest one, runs forward to the step that is next, and differentiates that one. Afterwards all memory is as it was.
 *
 * The order is that of Griewank and Walther, "Algorithm 799: Revolve", ACM Transactions on Mathematical Software 26 (2000), as in
 * core-ad/src/checkpoint/, which proves it optimal and is its test. The number of steps that the worker found is a guess: with a wrong one the loop is
 * reversed as well, with more steps run again.
 *
 * Memory comes from malloc, which is bound to the tape arena. Where there is none left, the store to the null pointer ends the call, and the
 * driver reports what happened.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CONSTANT, READ, STATE };

typedef struct {
  char *base;
  int64_t bytes;
  int64_t kind;
  char *shadow; /* in derivatives; null, or the base itself, where there is none */
  int64_t is_merged; /* one of several allocations: the code does not show that every address leads into it */
} Region;

typedef struct {
  void (*step)(void *arguments);
  void (*derivative)(void *arguments, void **shadows);
  void *arguments;
  int64_t snapshots;
  int64_t steps; /* expected; negative where that is not known */
  int64_t region_count;
  Region *regions;
  int64_t pointer_count; /* pointers among the arguments, those to the regions first */
  char **pointers;
  int64_t *region_of; /* of each pointer */
  int64_t carried;    /* pointers that change from step to step */
  int64_t outgoing;   /* pointers that are used behind the loop */
  int64_t *control;   /* how the loop ended, 0 as long as it has not; then address and region of each such pointer */
} Loop;

typedef struct {
  int64_t steps;
  int64_t slots;
  int64_t held;    /* snapshots */
  int64_t *step;   /* before which step each of them is */
  char **snapshot;
  char *pending;   /* the state before the last step, or null */
  char *read;      /* what the loop only reads */
  int64_t forward; /* steps run so far */
  int64_t most;    /* snapshots held at once */
  double seconds;
} Saved;

/* In the place of the steps where a loop was stopped. */
enum { MIXED_BLOCKS = -1 };

/* Of the last reverse sweep: steps, snapshots, steps run forward, bytes of a state, bytes at peak, nanoseconds, and when it ended. */
static int64_t report[7];
static char report_lock;

static void report_copy(int64_t *to, const int64_t *from) {
  while (__atomic_test_and_set(&report_lock, __ATOMIC_ACQUIRE)) {
  }
  memcpy(to, from, sizeof report);
  __atomic_clear(&report_lock, __ATOMIC_RELEASE);
}

/* Steps are 0 before the first one. */
void ffgrad_checkpoint_report(int64_t *to) { report_copy(to, report); }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- the schedule ------------------------------------------------------------------------------------ */

/* (s + r)! / (s! r!), or the largest number. */
static uint64_t reversible(uint64_t snapshots, uint64_t runs) {
  uint64_t few = snapshots < runs ? snapshots : runs, many = snapshots < runs ? runs : snapshots;
  unsigned __int128 product = 1;
  for (uint64_t i = 1; i <= few; i++) {
    product = product * (many + i) / i;
    if (product > UINT64_MAX) return UINT64_MAX;
  }
  return (uint64_t)product;
}

/* How far to run from a snapshot before the next one is taken, with so many slots, its own among them. */
static int64_t distance(int64_t steps, int64_t snapshots) {
  if (snapshots <= 1) return steps - 1;
  uint64_t l = (uint64_t)steps, s = (uint64_t)snapshots, r = 0;
  while (l > reversible(s, r)) r++;
  if (r == 0) return 1;
  uint64_t third = reversible(s - 2, r - 1), longest = reversible(s, r - 1);
  uint64_t shortest = r < 2 ? 0 : reversible(s, r - 2), far;
  if (l <= longest || l - longest <= third) {
    far = shortest;
  } else if (l >= reversible(s, r) - (s < 3 ? 0 : reversible(s - 3, r))) {
    far = longest;
  } else {
    far = l - reversible(s - 1, r - 1) - third;
  }
  if (far < 1) return 1;
  return far > l - 1 ? steps - 1 : (int64_t)far;
}

/* As many snapshots as help. */
static int64_t useful(int64_t steps, int64_t snapshots) {
  if (steps - 1 < snapshots) snapshots = steps - 1;
  return snapshots < 1 ? 1 : snapshots;
}

/* --- states ------------------------------------------------------------------------------------------- */

static size_t bytes_of(const Loop *l, int64_t kind) {
  size_t sum = 0;
  for (int64_t i = 0; i < l->region_count; i++) {
    if (l->regions[i].kind == kind && l->regions[i].bytes > 0) sum += (size_t)l->regions[i].bytes;
  }
  return sum;
}

static char *copy(const Loop *l, int64_t kind) {
  char *to = malloc(bytes_of(l, kind) + 1), *at = to;
  *(volatile char *)to = 0;
  for (int64_t i = 0; i < l->region_count; i++) {
    const Region *r = &l->regions[i];
    if (r->kind != kind || r->bytes <= 0) continue;
    memcpy(at, r->base, (size_t)r->bytes);
    at += r->bytes;
  }
  return to;
}

/* Memory that has the content already is not touched: others may read it, or nobody may write to it. */
static void restore(const Loop *l, int64_t kind, const char *from) {
  for (int64_t i = 0; i < l->region_count; i++) {
    const Region *r = &l->regions[i];
    if (r->kind != kind || r->bytes <= 0) continue;
    if (kind == STATE || memcmp(r->base, from, (size_t)r->bytes) != 0) memcpy(r->base, from, (size_t)r->bytes);
    from += r->bytes;
  }
}

static void keep(const Loop *l, Saved *s, int64_t step) {
  s->step[s->held] = step;
  s->snapshot[s->held++] = copy(l, STATE);
  if (s->held > s->most) s->most = s->held;
}

static int ends(const Loop *l) { return l->control[0] != 0; }

/* --- the sweeps --------------------------------------------------------------------------------------- */

/* Behind the loop a pointer is its distance from the base of its region: so it has a shadow there. */
static void leave(Loop *l) {
  for (int64_t i = l->carried; i < l->carried + l->outgoing; i++) {
    char *pointer = (char *)l->control[1 + 2 * i];
    l->control[1 + 2 * i] = pointer ? pointer - l->regions[l->control[2 + 2 * i]].base : 0;
  }
}

/* Runs the loop and nothing else. */
void ffgrad_checkpoint_run(Loop *l) {
  do {
    l->step(l->arguments);
  } while (!ends(l));
  leave(l);
}

/* Where an address leads to another block than its region's, a snapshot would lack memory, and a shadow be elsewhere. */
static void compare(const Loop *l, const char *pointer, int64_t region) {
  const Region *r = &l->regions[region];
  if (!pointer || !r->is_merged) return;
  uintptr_t distance = (uintptr_t)pointer - (uintptr_t)r->base;
  if (r->base && distance <= (uintptr_t)r->bytes) return;
  /* For the driver: in this process by the report, in a child by what is printed (compile-driver/src/call/crash_guard.rs). */
  __atomic_store_n(&report[0], MIXED_BLOCKS, __ATOMIC_RELAXED);
  static const char text[] = "ffgrad: a checkpointed loop uses two blocks of one allocation";
  ssize_t written = write(2, text, sizeof text - 1);
  (void)written;
  *(volatile int *)0 = 1; /* The call ends here, as without memory. */
}

static void compare_all(const Loop *l) {
  for (int64_t i = 0; i < l->pointer_count; i++) compare(l, l->pointers[i], l->region_of[i]);
  for (int64_t i = 0; i < l->carried; i++) compare(l, (char *)l->control[1 + 2 * i], l->control[2 + 2 * i]);
}

/* Runs the loop and keeps what the reverse sweep needs. */
void *ffgrad_checkpoint_save(Loop *l) {
  double start = now();
  compare_all(l);
  int64_t expected = l->steps, wanted = l->snapshots < 1 ? 1 : l->snapshots, at = 0;
  Saved *s = calloc(1, sizeof *s);
  s->slots = expected > 0 ? useful(expected, wanted) : wanted;
  s->read = copy(l, READ);
  s->step = malloc(sizeof(int64_t) * (size_t)s->slots);
  s->snapshot = malloc(sizeof(char *) * (size_t)s->slots);
  for (int64_t next = 0;;) {
    if (at == next && s->held < s->slots) {
      int64_t left = expected - at;
      if (at == 0 || left > 1) keep(l, s, at);
      next = left > 1 ? at + distance(left, s->slots - s->held + 1) : -1;
    }
    if (expected > 1 && at == expected - 1) s->pending = copy(l, STATE);
    l->step(l->arguments);
    at++;
    if (ends(l)) break;
    if (s->pending) {
      free(s->pending);
      s->pending = NULL;
    }
  }
  leave(l);
  s->steps = at;
  s->forward = at - 1;
  /* Snapshots behind a wrong guess: a state before each step is before the loop's end. */
  int64_t slots = useful(at, wanted);
  if (slots > s->slots) {
    s->step = realloc(s->step, sizeof(int64_t) * (size_t)slots);
    s->snapshot = realloc(s->snapshot, sizeof(char *) * (size_t)slots);
    s->slots = slots;
  }
  s->seconds = now() - start;
  return s;
}

/* Where the derivative has no shadow for a region it gets one that is dropped. */
static char **complete_shadows(Loop *l) {
  char **own = calloc((size_t)l->region_count, sizeof(char *));
  for (int64_t i = 0; i < l->region_count; i++) {
    Region *r = &l->regions[i];
    if (r->shadow && r->shadow != r->base) continue;
    r->shadow = own[i] = calloc(1, (size_t)(r->bytes > 0 ? r->bytes : 1));
  }
  return own;
}

static void drop_shadows(Loop *l, char **own) {
  for (int64_t i = 0; i < l->region_count; i++) free(own[i]);
  free(own);
}

static char *shadow_of(const Loop *l, char *pointer, int64_t region) {
  const Region *r = &l->regions[region];
  if (!pointer) return NULL;
  return r->shadow + ((uintptr_t)pointer - (uintptr_t)r->base);
}

static void differentiate(Loop *l, void **shadows) {
  for (int64_t i = 0; i < l->carried; i++) {
    shadows[l->pointer_count + i] = shadow_of(l, (char *)l->control[1 + 2 * i], l->control[2 + 2 * i]);
  }
  l->derivative(l->arguments, shadows);
}

static void **shadows_of(const Loop *l) {
  void **shadows = malloc(sizeof(void *) * (size_t)(l->pointer_count + l->carried + 1));
  for (int64_t i = 0; i < l->pointer_count; i++) shadows[i] = shadow_of(l, l->pointers[i], l->region_of[i]);
  return shadows;
}

/* Runs the loop with tangents. */
void ffgrad_checkpoint_forward(Loop *l) {
  compare_all(l);
  char **own = complete_shadows(l);
  void **shadows = shadows_of(l);
  do {
    differentiate(l, shadows);
  } while (!ends(l));
  leave(l);
  free(shadows);
  drop_shadows(l, own);
}

/* Reverses the loop, and drops what was kept. */
void ffgrad_checkpoint_reverse(Loop *l, void *saved) {
  Saved *s = saved;
  double start = now();
  char **own = complete_shadows(l);
  void **shadows = shadows_of(l);
  char *after = copy(l, STATE), *read_after = copy(l, READ);
  restore(l, READ, s->read);
  int64_t left = s->steps, at = -1;
  if (s->pending) {
    restore(l, STATE, s->pending);
    free(s->pending);
    at = left - 1;
  }
  while (left > 0) {
    if (at < 0) {
      int64_t newest = s->held - 1;
      at = s->step[newest];
      restore(l, STATE, s->snapshot[newest]);
      if (at + 1 == left) {
        free(s->snapshot[newest]);
        s->held--;
      }
    }
    if (at + 1 == left) {
      differentiate(l, shadows);
      left = at;
      at = -1;
      continue;
    }
    int is_held = s->held > 0 && s->step[s->held - 1] == at;
    if (!is_held && s->held < s->slots) {
      keep(l, s, at);
      is_held = 1;
    }
    int64_t far = is_held ? distance(left - at, s->slots - s->held + 1) : left - at - 1;
    s->forward += far;
    for (at += far; far > 0; far--) l->step(l->arguments);
  }
  restore(l, STATE, after);
  restore(l, READ, read_after);
  drop_shadows(l, own);
  int64_t state = (int64_t)bytes_of(l, STATE), read = (int64_t)bytes_of(l, READ);
  int64_t nanoseconds = (int64_t)(1e9 * (s->seconds + now() - start));
  int64_t held = s->steps > 1 ? s->most + 2 : 1;
  int64_t peak = held * state + 2 * read;
  report_copy(report, (int64_t[7]){s->steps, s->most, s->forward, state, peak, nanoseconds, (int64_t)(1e9 * now())});
  free(shadows);
  free(after);
  free(read_after);
  free(s->read);
  free(s->step);
  free(s->snapshot);
  free(s);
}

/* FFTW in one precision: T is the type, W(x) our function for the library's L(x).
 *
 * A plan is ours: the arrays that it was made for, which Enzyme follows as any pointers, and the number of a description in a
 * table. fftw_execute calls one function, execute(number, in, out), which has the derivatives: transforms are linear, so
 * the tangent is the transform of the tangent and the adjoint the transposed transform of the adjoint. The library's
 * own plans are made on first use, always with FFTW_ESTIMATE, which reads and writes no array, and stay in the table.
 *
 * With complex numbers as pairs, the transposed transform is the one of opposite sign. That of r2c is c2r with the inner
 * frequencies halved, because c2r counts these twice; and that of c2r is r2c with them doubled. r2r: see weights().
 * An input that c2r would destroy is kept.
 *
 * Source: FFTW's reference manual, fftw.org, "What FFTW Really Computes" and "Advanced Interface" for the definitions;
 * the transposes follow from them.
 */
#include <ffgrad/derivatives.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { COMPLEX, TO_COMPLEX, TO_REAL, REAL };
enum { DIMENSIONS = 8, BACKWARD = 1, ESTIMATE = 1 << 6, UNALIGNED = 1 << 1, PRESERVE = 1 << 4 };

/* How elements lie in memory. Steps count elements: pairs where these are complex. */
typedef struct {
  int embed[DIMENSIONS], stride, distance, pairs;
} layout;
/* Only integers: equal descriptions have equal bytes. `how` is the sign, or the kind of an r2r transform by dimension. */
typedef struct {
  int kind, rank, many, n[DIMENSIONS], how[DIMENSIONS];
  layout in, out;
} description;
typedef struct entry {
  description of;
  int number;
  uintptr_t plans[2]; /* out of place, in place */
  struct entry *next;
} entry;
typedef struct {
  int number;
  T *in, *out;
} plan;

/* The library's own memory outlives a call, which the arena's does not. Plans and addresses of it are integers here, and
 * what it does not store is marked: otherwise the arena could not be used at all. */
#define KEPT_NOWHERE __attribute__((noescape))
#define NUMBERS T *KEPT_NOWHERE
#define SIZES const int *KEPT_NOWHERE
extern uintptr_t L(malloc)(size_t);
extern uintptr_t L(plan_many_dft)(int, SIZES, int, NUMBERS, SIZES, int, int, NUMBERS, SIZES, int, int, int, unsigned);
extern uintptr_t L(plan_many_dft_r2c)(int, SIZES, int, NUMBERS, SIZES, int, int, NUMBERS, SIZES, int, int, unsigned);
extern uintptr_t L(plan_many_dft_c2r)(int, SIZES, int, NUMBERS, SIZES, int, int, NUMBERS, SIZES, int, int, unsigned);
extern uintptr_t L(plan_many_r2r)(int, SIZES, int, NUMBERS, SIZES, int, int, NUMBERS, SIZES, int, int, SIZES, unsigned);
extern void L(execute_dft)(uintptr_t, NUMBERS, NUMBERS);
extern void L(execute_dft_r2c)(uintptr_t, NUMBERS, NUMBERS);
extern void L(execute_dft_c2r)(uintptr_t, NUMBERS, NUMBERS);
extern void L(execute_r2r)(uintptr_t, NUMBERS, NUMBERS);

/* The table. FFTW's planner is not for several threads at once. */
static uintptr_t table;
static char busy;
static void lock(void) {
  while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) {}
}
static void unlock(void) { __atomic_clear(&busy, __ATOMIC_RELEASE); }

/* The number of a description in the table. */
int W(describe)(const int *given) {
  lock();
  entry *first = (entry *)table, *found = first;
  while (found && memcmp(&found->of, given, sizeof(description))) found = found->next;
  if (!found) {
    found = (entry *)L(malloc)(sizeof(entry));
    memset(found, 0, sizeof(entry));
    memcpy(&found->of, given, sizeof(description));
    found->number = first ? first->number + 1 : 0;
    found->next = first;
    table = (uintptr_t)found;
  }
  unlock();
  return found->number;
}
int W(describe_fwd)(const int *given, const int *unused) { return W(describe)(given); }
void W(describe_rev)(const int *given, const int *unused) {}
FFGRAD_DERIVATIVES(W(describe), W(describe_fwd), W(describe_rev));

static entry *look_up(int number) {
  lock();
  entry *found = (entry *)table;
  while (found->number != number) found = found->next;
  unlock();
  return found;
}

static uintptr_t library_plan(entry *e, T *in, T *out) {
  const description *d = &e->of;
  unsigned flags = ESTIMATE | UNALIGNED;
  lock();
  uintptr_t *made = &e->plans[in == out];
  if (!*made && d->kind == COMPLEX)
    *made = L(plan_many_dft)(d->rank, d->n, d->many, in, d->in.embed, d->in.stride, d->in.distance, out, d->out.embed,
                             d->out.stride, d->out.distance, d->how[0], flags);
  if (!*made && d->kind == TO_COMPLEX)
    *made = L(plan_many_dft_r2c)(d->rank, d->n, d->many, in, d->in.embed, d->in.stride, d->in.distance, out, d->out.embed,
                                 d->out.stride, d->out.distance, flags);
  if (!*made && d->kind == TO_REAL)
    *made = L(plan_many_dft_c2r)(d->rank, d->n, d->many, in, d->in.embed, d->in.stride, d->in.distance, out, d->out.embed,
                                 d->out.stride, d->out.distance, flags);
  if (!*made && d->kind == REAL)
    *made = L(plan_many_r2r)(d->rank, d->n, d->many, in, d->in.embed, d->in.stride, d->in.distance, out, d->out.embed,
                             d->out.stride, d->out.distance, d->how, flags | PRESERVE);
  unlock();
  return *made;
}

/* Elements of one transform along the dimensions; `half` where the last one has only half the frequencies. */
static long count(const description *d, int half) {
  long all = 1;
  for (int i = 0; i < d->rank; i++) all *= half && i == d->rank - 1 ? d->n[i] / 2 + 1 : d->n[i];
  return all;
}
static int half_in(const description *d) { return d->kind == TO_REAL; }
static int half_out(const description *d) { return d->kind == TO_COMPLEX; }

/* Where in memory stands element i, counted over all transforms. */
static long place(const description *d, const layout *l, int half, long i) {
  long one = count(d, half), at = 0, step = 1, rest = i % one;
  for (int k = d->rank - 1; k >= 0; k--) {
    int n = half && k == d->rank - 1 ? d->n[k] / 2 + 1 : d->n[k];
    at += rest % n * step;
    rest /= n;
    step *= l->embed[k];
  }
  return at * l->stride + i / one * l->distance;
}
/* Consecutive elements from memory; back into it, added; and zeros there. */
static void gather(const description *d, const layout *l, int half, const T *from, T *to) {
  int w = 1 + l->pairs;
  for (long i = 0, all = count(d, half) * d->many; i < all; i++)
    for (int c = 0; c < w; c++) to[w * i + c] = from[w * place(d, l, half, i) + c];
}
static void scatter(const description *d, const layout *l, int half, const T *from, T *to) {
  int w = 1 + l->pairs;
  for (long i = 0, all = count(d, half) * d->many; i < all; i++)
    for (int c = 0; c < w; c++) to[w * place(d, l, half, i) + c] += from[w * i + c];
}
static void clear(const description *d, const layout *l, int half, T *to) {
  int w = 1 + l->pairs;
  for (long i = 0, all = count(d, half) * d->many; i < all; i++)
    for (int c = 0; c < w; c++) to[w * place(d, l, half, i) + c] = 0;
}
static T *room(const description *d, int half, int pairs) {
  return malloc((count(d, half) * d->many + 1) * (1 + pairs) * sizeof(T));
}

/* The layout of consecutive elements. */
static void consecutive(const description *d, layout *l, int half, int pairs) {
  memset(l, 0, sizeof(layout));
  for (int i = 0; i < d->rank; i++) l->embed[i] = half && i == d->rank - 1 ? d->n[i] / 2 + 1 : d->n[i];
  l->stride = 1;
  l->distance = (int)count(d, half);
  l->pairs = pairs;
}

static void library_execute(int number, T *in, T *out) {
  entry *e = look_up(number);
  uintptr_t made = library_plan(e, in, out);
  if (e->of.kind == COMPLEX) L(execute_dft)(made, in, out);
  if (e->of.kind == TO_COMPLEX) L(execute_dft_r2c)(made, in, out);
  if (e->of.kind == REAL) L(execute_r2r)(made, in, out);
  if (e->of.kind != TO_REAL) return;
  if (in == out) {
    L(execute_dft_c2r)(made, in, out);
    return;
  }
  T *copy;
  long last = place(&e->of, &e->of.in, 1, count(&e->of, 1) * e->of.many - 1);
  copy = malloc(2 * (last + 1) * sizeof(T));
  memcpy(copy, in, 2 * (last + 1) * sizeof(T));
  L(execute_dft_c2r)(made, copy, out);
  free(copy);
}

/* Factors of the transposed transform: on frequencies (at = 0) before the transform, on what it gives (at = 1) after it. */
static T weight(int kind, int n, long i, int at) {
  int inner = i != 0 && 2 * i != n;
  if (kind == 0) return at == 0 && inner ? 0.5 : 1;                                     /* R2HC */
  if (kind == 1) return at == 1 && inner ? 2 : 1;                                       /* HC2R */
  if (kind == 3) return i == 0 || i == n - 1 ? 1 : at ? 2 : 0.5;                        /* REDFT00 */
  if (kind == 4 || kind == 8) return at == 1 && i == (kind == 4 ? 0 : n - 1) ? 0.5 : 1; /* REDFT01, RODFT01 */
  if (kind == 5 || kind == 9) return at == 0 && i == (kind == 5 ? 0 : n - 1) ? 2 : 1;   /* REDFT10, RODFT10 */
  return 1;
}
static void weights(const description *d, T *x, int at) {
  for (long j = 0, all = count(d, 0) * d->many; j < all; j++) {
    long rest = j;
    for (int k = d->rank - 1; k >= 0; k--) {
      x[j] *= weight(d->how[k], d->n[k], rest % d->n[k], at);
      rest /= d->n[k];
    }
  }
}
static int transposed_kind(int kind) {
  static const int other[11] = {1, 0, 2, 3, 5, 4, 6, 7, 9, 8, 10};
  return other[kind];
}

/* Pairs of half the frequencies times a factor where the last dimension's is an inner one. */
static void scale_inner(const description *d, T *x, T factor) {
  int n = d->n[d->rank - 1], half = n / 2 + 1;
  for (long i = 0, all = count(d, 1) * d->many; i < all; i++) {
    long k = i % half;
    if (k != 0 && 2 * k != n) {
      x[2 * i] *= factor;
      x[2 * i + 1] *= factor;
    }
  }
}
/* Where the last dimension's frequency stands for itself, c2r takes the others for conjugate in pairs: makes them so. */
static void conjugate(const description *d, const T *from, T *to) {
  int n = d->n[d->rank - 1], half = n / 2 + 1;
  long one = count(d, 1);
  for (long i = 0, all = one * d->many; i < all; i++) {
    long k = i % half, rest = i % one / half, step = half, partner = i - i % one + k;
    to[2 * i] = from[2 * i];
    to[2 * i + 1] = from[2 * i + 1];
    if (k != 0 && 2 * k != n) continue;
    for (int dim = d->rank - 2; dim >= 0; dim--) {
      long f = rest % d->n[dim];
      partner += (f == 0 ? 0 : d->n[dim] - f) * step;
      rest /= d->n[dim];
      step *= d->n[dim];
    }
    to[2 * i] = (from[2 * i] + from[2 * partner]) / 2;
    to[2 * i + 1] = (from[2 * i + 1] - from[2 * partner + 1]) / 2;
  }
}

/* The transposed transform of consecutive elements; `x` is lost. */
static void transpose(int number, T *x, T *y) {
  const description *d = &look_up(number)->of;
  description back = *d;
  back.kind = d->kind == TO_COMPLEX ? TO_REAL : d->kind == TO_REAL ? TO_COMPLEX : d->kind;
  for (int k = 0; k < DIMENSIONS; k++)
    back.how[k] = k >= d->rank ? 0 : d->kind == REAL ? transposed_kind(d->how[k]) : -d->how[k];
  consecutive(d, &back.in, half_out(d), d->out.pairs);
  consecutive(d, &back.out, half_in(d), d->in.pairs);
  int other = W(describe)((const int *)&back);
  T *z = x;
  if (d->kind == REAL) weights(d, x, 0);
  if (d->kind == TO_COMPLEX) {
    z = room(d, 1, 1);
    scale_inner(d, x, (T)0.5);
    conjugate(d, x, z);
  }
  library_execute(other, z, y);
  if (d->kind == REAL) weights(d, y, 1);
  if (d->kind == TO_REAL) scale_inner(d, y, 2);
  if (z != x) free(z);
}

/* Three functions, of which each has the others as derivatives; Enzyme sees none of what they call. */

void W(run)(int number, T *in, T *out) { library_execute(number, in, out); }
void W(zero)(int number, T *out) {
  const description *d = &look_up(number)->of;
  clear(d, &d->out, half_out(d), out);
}
/* What `out` holds goes transposed to `in`, and is then zero; in place the two are one array. */
void W(pull)(int number, T *out, T *in, int same) {
  const description *d = &look_up(number)->of;
  T *x = room(d, half_out(d), d->out.pairs), *y = room(d, half_in(d), d->in.pairs);
  gather(d, &d->out, half_out(d), out, x);
  clear(d, &d->out, half_out(d), out);
  if (same) clear(d, &d->in, half_in(d), in);
  if (in) {
    transpose(number, x, y);
    scatter(d, &d->in, half_in(d), y, in);
  }
  free(x);
  free(y);
}

void W(run_fwd)(int number, T *in, T *din, T *out, T *dout) {
  W(run)(number, in, out);
  if (dout && din) W(run)(number, din, dout);
  if (dout && !din) W(zero)(number, dout);
}
void W(run_rev)(int number, T *in, T *din, T *out, T *dout) {
  if (dout) W(pull)(number, dout, din, in == out);
}
FFGRAD_DERIVATIVES(W(run), W(run_fwd), W(run_rev));

void W(zero_fwd)(int number, T *out, T *dout) {
  W(zero)(number, out);
  if (dout) W(zero)(number, dout);
}
void W(zero_rev)(int number, T *out, T *dout) {
  if (dout) W(zero)(number, dout);
}
FFGRAD_DERIVATIVES(W(zero), W(zero_fwd), W(zero_rev));

void W(pull_fwd)(int number, T *out, T *dout, T *in, T *din, int same) {
  W(pull)(number, out, in, same);
  if (dout) W(pull)(number, dout, din, same);
}
void W(pull_rev)(int number, T *out, T *dout, T *in, T *din, int same) {
  if (dout && din) W(run)(number, din, dout);
  if (dout && !din) W(zero)(number, dout);
}
FFGRAD_DERIVATIVES(W(pull), W(pull_fwd), W(pull_rev));

/* The library's names. */

static plan *make(int kind, int rank, const int *n, int many, T *in, const int *in_embed, int in_stride, int in_distance,
                  T *out, const int *out_embed, int out_stride, int out_distance, const int *how) {
  if (rank < 1 || rank > DIMENSIONS) return NULL;
  description d;
  memset(&d, 0, sizeof d);
  d.kind = kind;
  d.rank = rank;
  d.many = many;
  for (int i = 0; i < rank; i++) {
    d.n[i] = n[i];
    d.how[i] = kind == REAL ? how[i] : *how;
    d.in.embed[i] = in_embed ? in_embed[i] : n[i];
    d.out.embed[i] = out_embed ? out_embed[i] : n[i];
  }
  /* Half the frequencies; and the real numbers that share memory with these have room for as many. */
  int last = rank - 1, half = n[last] / 2 + 1;
  if (kind == TO_COMPLEX && !out_embed) d.out.embed[last] = half;
  if (kind == TO_COMPLEX && !in_embed && in == out) d.in.embed[last] = 2 * half;
  if (kind == TO_REAL && !in_embed) d.in.embed[last] = half;
  if (kind == TO_REAL && !out_embed && in == out) d.out.embed[last] = 2 * half;
  d.in.stride = in_stride;
  d.out.stride = out_stride;
  d.in.distance = in_distance;
  d.out.distance = out_distance;
  d.in.pairs = kind == COMPLEX || kind == TO_REAL;
  d.out.pairs = kind == COMPLEX || kind == TO_COMPLEX;
  plan *made = malloc(sizeof(plan));
  made->number = W(describe)((const int *)&d);
  made->in = in;
  made->out = out;
  return made;
}
static plan *single(int kind, int rank, const int *n, T *in, T *out, const int *how) {
  return make(kind, rank, n, 1, in, NULL, 1, 0, out, NULL, 1, 0, how);
}
static const int none = 0;

void *W(plan_dft)(int rank, const int *n, T *in, T *out, int sign, unsigned flags) {
  return single(COMPLEX, rank, n, in, out, &sign);
}
void *W(plan_dft_1d)(int n, T *in, T *out, int sign, unsigned flags) { return single(COMPLEX, 1, &n, in, out, &sign); }
void *W(plan_dft_2d)(int n0, int n1, T *in, T *out, int sign, unsigned flags) {
  return single(COMPLEX, 2, (int[]){n0, n1}, in, out, &sign);
}
void *W(plan_dft_3d)(int n0, int n1, int n2, T *in, T *out, int sign, unsigned flags) {
  return single(COMPLEX, 3, (int[]){n0, n1, n2}, in, out, &sign);
}
void *W(plan_many_dft)(int rank, const int *n, int many, T *in, const int *in_embed, int in_stride, int in_distance,
                       T *out, const int *out_embed, int out_stride, int out_distance, int sign, unsigned flags) {
  return make(COMPLEX, rank, n, many, in, in_embed, in_stride, in_distance, out, out_embed, out_stride, out_distance,
              &sign);
}
#define HALF(name, kind) \
  void *W(plan_dft_##name)(int rank, const int *n, T *in, T *out, unsigned flags) { \
    return single(kind, rank, n, in, out, &none); \
  } \
  void *W(plan_dft_##name##_1d)(int n, T *in, T *out, unsigned flags) { return single(kind, 1, &n, in, out, &none); } \
  void *W(plan_dft_##name##_2d)(int n0, int n1, T *in, T *out, unsigned flags) { \
    return single(kind, 2, (int[]){n0, n1}, in, out, &none); \
  } \
  void *W(plan_dft_##name##_3d)(int n0, int n1, int n2, T *in, T *out, unsigned flags) { \
    return single(kind, 3, (int[]){n0, n1, n2}, in, out, &none); \
  } \
  void *W(plan_many_dft_##name)(int rank, const int *n, int many, T *in, const int *in_embed, int in_stride, \
                                int in_distance, T *out, const int *out_embed, int out_stride, int out_distance, \
                                unsigned flags) { \
    return make(kind, rank, n, many, in, in_embed, in_stride, in_distance, out, out_embed, out_stride, out_distance, \
                &none); \
  } \
  void W(execute_dft_##name)(void *given, T *in, T *out) { W(run)(((plan *)given)->number, in, out); }
HALF(r2c, TO_COMPLEX)
HALF(c2r, TO_REAL)
void *W(plan_r2r)(int rank, const int *n, T *in, T *out, const int *how, unsigned flags) {
  return single(REAL, rank, n, in, out, how);
}
void *W(plan_r2r_1d)(int n, T *in, T *out, int how, unsigned flags) { return single(REAL, 1, &n, in, out, &how); }
void *W(plan_r2r_2d)(int n0, int n1, T *in, T *out, int how0, int how1, unsigned flags) {
  return single(REAL, 2, (int[]){n0, n1}, in, out, (int[]){how0, how1});
}
void *W(plan_many_r2r)(int rank, const int *n, int many, T *in, const int *in_embed, int in_stride, int in_distance,
                       T *out, const int *out_embed, int out_stride, int out_distance, const int *how, unsigned flags) {
  return make(REAL, rank, n, many, in, in_embed, in_stride, in_distance, out, out_embed, out_stride, out_distance, how);
}
void W(execute)(void *given) {
  plan *p = given;
  W(run)(p->number, p->in, p->out);
}
void W(execute_dft)(void *given, T *in, T *out) { W(run)(((plan *)given)->number, in, out); }
void W(execute_r2r)(void *given, T *in, T *out) { W(run)(((plan *)given)->number, in, out); }
void W(destroy_plan)(void *given) { free(given); }
void *W(malloc)(size_t bytes) { return malloc(bytes); }
T *W(alloc_real)(size_t n) { return malloc(n * sizeof(T)); }
T *W(alloc_complex)(size_t n) { return malloc(2 * n * sizeof(T)); }
void W(free)(void *memory) { free(memory); }
void W(cleanup)(void) {}
int W(init_threads)(void) { return 1; }
void W(plan_with_nthreads)(int n) {}
void W(cleanup_threads)(void) {}

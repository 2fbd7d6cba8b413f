/* The tape arena (runtime/arena.c) under sanitizers: blocks that never overlap, keep what is written to them, are aligned, and are all
 * freed, from one thread, from many, from the threads of parallel regions, and through tapes. */
#include "arena.c"
#include <pthread.h>
#include <stdio.h>

static __thread int32_t number; /* of a thread in its team */
int32_t omp_get_thread_num(void) { return number; }

static void must(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "broken: %s\n", what);
  abort();
}

static uint32_t draw(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

typedef struct {
  unsigned char *at;
  size_t size;
  unsigned char mark;
} Block;

static void write_to(Block *b, unsigned char mark) {
  b->mark = mark;
  memset(b->at, mark, b->size);
}

static void check(const Block *b, size_t size) {
  for (size_t i = 0; i < size; i++) must(b->at[i] == b->mark, "what was written is there");
}

static size_t size_of(uint64_t *state) { return draw(state) % ((size_t)1 << (draw(state) % 18)); }

static void take(Block *b, uint64_t *state) {
  b->size = size_of(state);
  switch (draw(state) % 3) {
  case 0: b->at = ffgrad_malloc(b->size); break;
  case 1: b->at = ffgrad_new(b->size); break;
  default:
    b->at = ffgrad_calloc(b->size, 1);
    for (size_t i = 0; i < b->size; i++) must(b->at[i] == 0, "calloc clears");
  }
  must(b->at != NULL && (uintptr_t)b->at % 16 == 0, "blocks are aligned to 16 bytes");
  write_to(b, (unsigned char)draw(state));
}

static void give(Block *b, uint64_t *state) {
  check(b, b->size);
  if (draw(state) % 2) ffgrad_free(b->at);
  else ffgrad_delete_sized(b->at, b->size);
  b->at = NULL;
}

static void resize(Block *b, uint64_t *state) {
  size_t old = b->size;
  b->size = size_of(state);
  b->at = ffgrad_realloc(b->at, b->size);
  must(b->at != NULL && (uintptr_t)b->at % 16 == 0, "grown blocks are aligned too");
  check(b, old < b->size ? old : b->size);
  write_to(b, (unsigned char)draw(state));
}

/* Many operations; some blocks are still held at the end. `args[0]` is the seed, `args[1]` how deep to nest. */
/* Aligned memory of C's is given back by `free`, and grows by `realloc`. */
static void aligned(void) {
  for (size_t alignment = 8; alignment <= 256; alignment *= 2) {
    void *at = NULL;
    must(ffgrad_posix_memalign(&at, alignment, 100) == 0 && (uintptr_t)at % alignment == 0, "blocks are as aligned as asked for");
    memset(at, 7, 100);
    must((at = ffgrad_realloc(at, 5000)) && ((char *)at)[99] == 7, "aligned blocks grow");
    ffgrad_free(at);
    ffgrad_free(ffgrad_aligned_alloc(alignment, 64));
  }
  void *none = NULL;
  must(ffgrad_posix_memalign(&none, 24, 8) == EINVAL && !none, "an alignment is a power of two");
}

static int32_t churn(void *const *args) {
  uint64_t state = (uintptr_t)args[0];
  Block blocks[64] = {{0}};
  for (int i = 0; i < 1500; i++) {
    Block *b = &blocks[draw(&state) % 64];
    if (!b->at) take(b, &state);
    else if (draw(&state) % 4 == 0) resize(b, &state);
    else give(b, &state);
  }
  must(ffgrad_calloc(SIZE_MAX / 2, 4) == NULL && ffgrad_malloc(SIZE_MAX - 8) == NULL, "absurd sizes are refused");
  ffgrad_free(NULL);
  aligned();
  if (args[1]) {
    void *const inner[2] = {(void *)(uintptr_t)(state >> 8), NULL};
    must(ffgrad_in_arena(churn, inner) == 0, "calls nest");
  }
  for (int i = 0; i < 64; i++) {
    if (blocks[i].at) check(&blocks[i], blocks[i].size);
  }
  return 0;
}

static void *calls(void *seed) {
  for (uintptr_t i = 0; i < 4; i++) {
    void *const args[2] = {(void *)((uintptr_t)seed + i), (void *)(i % 2)};
    must(ffgrad_in_arena(churn, args) == 0, "the status is the entry's");
  }
  return NULL;
}

static void threads(int count, void *(*run)(void *)) {
  pthread_t all[8];
  for (int i = 0; i < count; i++) pthread_create(&all[i], NULL, run, (void *)(uintptr_t)(i + 1));
  for (int i = 0; i < count; i++) pthread_join(all[i], NULL);
}

/* --- a team: what one thread allocated in the first region another frees in the second ---------------- */
#define TEAM 5
static const int64_t team = (int64_t)7 << 20 | TEAM;
static Block handed[TEAM][16];

static void region(int rank, int is_reverse) {
  uint64_t state = (uint64_t)rank * 77 + 5;
  void *outer = ffgrad_arena_join(team);
  for (int i = 0; i < 16; i++) {
    if (is_reverse) give(&handed[(rank + 1) % TEAM][i], &state);
    else take(&handed[rank][i], &state);
  }
  Block own = {0};
  take(&own, &state);
  give(&own, &state);
  ffgrad_arena_leave(outer);
}

static void *worker(void *given) {
  number = (int32_t)((uintptr_t)given & 255);
  region(number, (int)((uintptr_t)given >> 8));
  return NULL;
}

static void fork_team(int is_reverse) {
  ffgrad_arena_before_fork(team);
  pthread_t all[TEAM];
  for (int i = 1; i < TEAM; i++) {
    pthread_create(&all[i], NULL, worker, (void *)(uintptr_t)(i | is_reverse << 8));
  }
  region(0, is_reverse);
  for (int i = 1; i < TEAM; i++) pthread_join(all[i], NULL);
}

static int32_t parallel(void *const *args) {
  fork_team(0);
  for (int rank = 0; rank < TEAM; rank++) {
    for (int i = 0; i < 16; i++) check(&handed[rank][i], handed[rank][i].size);
  }
  if (args[0]) fork_team(1);
  return 0;
}

static void *teams(void *unused) {
  (void)unused;
  for (uintptr_t i = 0; i < 20; i++) {
    void *const args[1] = {(void *)(i % 3)};
    must(ffgrad_in_arena(parallel, args) == 0, "a call with regions");
  }
  return NULL;
}

/* --- tapes: written by one thread, read by another ----------------------------------------------------- */
static int32_t forward(void *const *args) {
  uint64_t state = 9;
  Block *kept = ffgrad_malloc(sizeof(Block) * 32);
  for (int i = 0; i < 32; i++) take(&kept[i], &state);
  ((void **)args)[0] = kept;
  return args[1] ? 1 : 0;
}

static int32_t reverse(void *const *args) {
  uint64_t state = 9;
  Block *kept = args[0];
  for (int i = 0; i < 32; i += 2) give(&kept[i], &state);
  return 0;
}

static void *read_tape(void *tape) {
  void *args[2] = {tape, NULL};
  must(ffgrad_from_tape(reverse, args, 0) == 0 && args[0] == tape, "the tape comes back");
  must(ffgrad_tape_bytes(tape) > 1000, "a tape knows its size");
  ffgrad_tape_drop(tape);
  return NULL;
}

static void *tapes(void *unused) {
  (void)unused;
  for (int i = 0; i < 12; i++) {
    void *args[2] = {NULL, NULL};
    must(ffgrad_onto_tape(forward, args, 0) == 0, "a tape is kept");
    pthread_t reader;
    /* Some are never read. */
    if (i % 3 == 0) ffgrad_tape_drop(args[0]);
    else if (pthread_create(&reader, NULL, read_tape, args[0]) == 0) pthread_join(reader, NULL);
  }
  void *args[2] = {NULL, (void *)1};
  must(ffgrad_onto_tape(forward, args, 0) == 1 && args[0] == NULL, "a failed forward sweep leaves no tape");
  return NULL;
}

int main(void) {
  /* Outside of calls memory comes from malloc, and may be freed inside. */
  void *outside = ffgrad_malloc(100);
  ffgrad_free(ffgrad_realloc(outside, 5000));
  calls((void *)1);
  threads(4, calls);
  threads(1, teams);
  threads(3, tapes);
  teams(NULL);
  tapes(NULL);
  /* Dropped tapes are kept for the next call, which is no leak. */
  for (Tape *t = idle; t; t = idle) {
    idle = t->next;
    drop(&t->arena);
    free(t);
  }
  puts("the arena keeps its promises");
  return 0;
}

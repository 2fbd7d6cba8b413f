/* The tape arena: where a derivative's allocations come from.
 *
 * Reverse mode allocates much and briefly: a cache for each loop, a shadow for each buffer of the user's.
 * From here an allocation is a few instructions, and all memory is released when the entry point returns,
 * to be reused by the next call. One arena a thread; nothing is shared, nothing locks. The threads of an OpenMP
 * region have arenas that belong to the call: what one of them allocated in the forward sweep another may read and
 * free in the reverse sweep, and the threads may be gone before the call is over.
 *
 * Linked into each derivative, where calls of malloc and its kin are bound to the functions below.
 * Memory asked for outside a call (by constructors of static objects) comes from malloc and stays.
 *
 * Blocks have size classes (steps of 16 bytes up to 1 KiB, then four steps an octave), so that what a loop
 * frees is reused in the next iteration. The last block of a chunk grows and shrinks in place.
 */
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KEEP ((size_t)1 << 30)   /* bytes a thread keeps between calls */
#define FIRST ((size_t)1 << 18)  /* first chunk */
#define STEPS 64                 /* classes in steps of 16 bytes */
#define CLASSES (STEPS + 1 + 4 * 40)
#define FROM_MALLOC ((uint32_t)1 << 31) /* class of blocks from malloc; the other bits: bytes from the true start */
#define OURS 0xf5a7c3d1u /* where malloc has the upper half of a block's size: that is never as large */

#define INLINE static inline __attribute__((always_inline))
#define COLD static __attribute__((noinline, cold))

/* Before every block; keeps blocks aligned to 16. */
typedef struct {
  size_t capacity;
  uint32_t class;
  uint32_t mark; /* OURS; other blocks come from libraries */
} Header;

typedef struct Chunk {
  struct Chunk *next;
  size_t size;
} Chunk;

#define MOST_ROOTS 2048   /* threads that fork teams */
#define MOST_THREADS 1023 /* of a team; both as in openmp.c */

typedef struct Arena {
  char *top, *end;
  Chunk *chunks; /* newest first */
  size_t total;  /* bytes in chunks */
  size_t wanted; /* size of the first chunk of the next call */
  size_t depth;  /* active calls on this thread */
  struct Arena **team; /* those of the threads of its parallel regions, by their numbers */
  int32_t members;     /* threads of the largest team so far */
  void *free[CLASSES];
} Arena;

static __thread Arena *own;
static __thread Arena *of_thread;       /* the thread's, also while a tape's is in its place */
static __thread int32_t short_of_memory; /* an allocation of the present call failed */

/* The C library's own registration of what runs when a thread ends: unlike pthread keys there is no limit to
 * how many may be made, and each derivative makes one a thread. */
extern int __cxa_thread_atexit_impl(void (*)(void *), void *, void *) __attribute__((weak));
extern void *__dso_handle;

static void drop_chunks(Arena *a) {
  for (Chunk *c = a->chunks; c;) {
    Chunk *next = c->next;
    free(c);
    c = next;
  }
  a->chunks = NULL;
  a->top = a->end = NULL;
  a->total = 0;
}

/* Takes all blocks back. Next time one chunk shall hold it all, if that is not too much to keep. */
static void settle_one(Arena *a, size_t keep) {
  if (!a->chunks) return;
  memset(a->free, 0, sizeof a->free);
  if (a->chunks->next || a->total > keep) {
    a->wanted = a->total < keep ? a->total : keep;
    drop_chunks(a);
  } else {
    a->top = (char *)(a->chunks + 1);
  }
}

static void settle(Arena *a, size_t keep) {
  settle_one(a, keep);
  for (int32_t i = 1; i < a->members; i++) {
    if (a->team[i]) settle_one(a->team[i], keep / 16);
  }
}

/* Gives everything back but the arena itself. */
static void drop(Arena *a) {
  drop_chunks(a);
  for (int32_t i = 1; i < a->members; i++) {
    if (a->team[i]) drop_chunks(a->team[i]);
    free(a->team[i]);
  }
  free(a->team);
  a->team = NULL;
  a->members = 0;
}

static size_t bytes_of(const Arena *a) {
  size_t bytes = sizeof *a + a->total;
  for (int32_t i = 1; i < a->members; i++) {
    if (a->team[i]) bytes += sizeof *a + a->team[i]->total;
  }
  return bytes;
}

static void thread_ends(void *arena) {
  drop(arena);
  free(arena);
  own = of_thread = NULL;
}

COLD void *no_memory(void) {
  short_of_memory = 1;
  return NULL;
}

/* A thread whose end cannot be observed has no arena. */
COLD Arena *first_call(void) {
  Arena *a = __cxa_thread_atexit_impl ? calloc(1, sizeof(Arena)) : NULL;
  if (a && __cxa_thread_atexit_impl(thread_ends, a, &__dso_handle) != 0) {
    free(a);
    a = NULL;
  }
  return own = of_thread = a;
}

INLINE Header *header(void *block) { return (Header *)block - 1; }

/* The class of a size, and what blocks of the class hold. */
INLINE uint32_t class_of(size_t size, size_t *capacity) {
  if (size <= 16 * STEPS) {
    uint32_t class = (uint32_t)((size + 15) / 16);
    if (class == 0) class = 1;
    *capacity = 16 * (size_t)class;
    return class;
  }
  int octave = 63 - __builtin_clzll(size - 1); /* 10 and more */
  int shift = octave - 2;
  size_t quarter = ((size - 1) >> shift) + 1; /* 5 to 8 */
  *capacity = quarter << shift;
  return (uint32_t)(STEPS + 1 + 4 * (octave - 10) + (int)quarter - 5);
}

COLD void *from_malloc(size_t size) {
  if (size > PTRDIFF_MAX) return NULL; /* as malloc, and the sum below shall not wrap */
  char *start = malloc(size + 2 * sizeof(Header));
  if (!start) return no_memory();
  Header *h = (Header *)start;
  *h = (Header){.capacity = size, .class = FROM_MALLOC, .mark = OURS};
  return h + 1;
}

/* A chunk with room for a block of the given capacity. */
COLD void *from_new_chunk(Arena *a, uint32_t class, size_t capacity) {
  size_t need = capacity + sizeof(Chunk) + sizeof(Header) + 64;
  if (need < capacity) return NULL;
  size_t size = a->total ? a->total : (a->wanted > FIRST ? a->wanted : FIRST);
  if (size < need) size = need;
  Chunk *c = malloc(size);
  if (!c && size > need) c = malloc(size = need);
  if (!c) return no_memory();
  *c = (Chunk){.next = a->chunks, .size = size};
  a->chunks = c;
  a->total += size;
  a->top = (char *)(c + 1);
  a->end = (char *)c + size;
  Header *h = (Header *)a->top;
  *h = (Header){.capacity = capacity, .class = class, .mark = OURS};
  a->top = (char *)(h + 1) + capacity;
  return h + 1;
}

INLINE void *allocate(size_t size) {
  Arena *a = own;
  if (__builtin_expect(!a || !a->depth || size >= (size_t)1 << 48, 0)) return from_malloc(size);
  size_t capacity;
  uint32_t class = class_of(size, &capacity);
  void *block = a->free[class];
  if (block) {
    a->free[class] = *(void **)block;
    return block;
  }
  if (__builtin_expect((size_t)(a->end - a->top) < capacity + sizeof(Header), 0)) return from_new_chunk(a, class, capacity);
  Header *h = (Header *)a->top;
  *h = (Header){.capacity = capacity, .class = class, .mark = OURS};
  a->top = (char *)(h + 1) + capacity;
  return h + 1;
}

INLINE void release(void *block) {
  if (!block) return;
  Header *h = header(block);
  if (__builtin_expect(h->mark != OURS || h->class >= FROM_MALLOC, 0)) {
    free(h->mark == OURS ? (char *)h - (h->class - FROM_MALLOC) : block);
    return;
  }
  Arena *a = own;
  if ((char *)block + h->capacity == a->top) {
    a->top = (char *)h;
    return;
  }
  *(void **)block = a->free[h->class];
  a->free[h->class] = block;
}

void *ffgrad_malloc(size_t size) { return allocate(size); }

void ffgrad_free(void *block) { release(block); }

void ffgrad_delete_sized(void *block, size_t size) {
  (void)size;
  release(block);
}

void *ffgrad_calloc(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
  void *block = allocate(bytes);
  return block ? memset(block, 0, bytes) : NULL;
}

void *ffgrad_realloc(void *block, size_t size) {
  if (!block) return allocate(size);
  Header *h = header(block);
  if (h->mark != OURS) return realloc(block, size);
  if (h->class < FROM_MALLOC) {
    if (size <= h->capacity) return block;
    Arena *a = own;
    size_t capacity;
    uint32_t class = class_of(size, &capacity);
    if ((char *)block + h->capacity == a->top && (size_t)(a->end - (char *)block) >= capacity) {
      *h = (Header){.capacity = capacity, .class = class, .mark = OURS};
      a->top = (char *)block + capacity;
      return block;
    }
  }
  void *grown = allocate(size);
  if (!grown) return NULL;
  memcpy(grown, block, h->capacity < size ? h->capacity : size);
  release(block);
  return grown;
}

/* Bytes that a block may hold: as many in a block's shadow, which was asked for with the same size. */
size_t ffgrad_block_size(void *block) {
  return header(block)->mark == OURS ? header(block)->capacity : malloc_usable_size(block);
}

/* operator new: throws where memory is short, through the library's own. */
extern void *library_new(size_t) __asm__("_Znwm") __attribute__((weak));

void *ffgrad_new(size_t size) {
  void *block = allocate(size);
  if (__builtin_expect(!block, 0) && library_new) library_new(size);
  return block;
}

void *ffgrad_new_nothrow(size_t size, const void *tag) {
  (void)tag;
  return allocate(size);
}

void ffgrad_delete_nothrow(void *block, const void *tag) {
  (void)tag;
  release(block);
}

/* Memory at a multiple of more than 16 bytes: from a larger block, behind a header of its own. */
void *ffgrad_new_aligned(size_t size, size_t alignment) {
  if (alignment <= 16 || size > PTRDIFF_MAX / 4) return ffgrad_new(size);
  size_t capacity;
  uint32_t class = class_of(size, &capacity);
  char *whole = ffgrad_new(capacity + alignment);
  if (!whole) return NULL;
  char *block = (char *)(((uintptr_t)whole + alignment - 1) & ~(uintptr_t)(alignment - 1));
  if (block == whole) return block;
  uint32_t padding = (uint32_t)(block - whole);
  if (header(whole)->class >= FROM_MALLOC) class = FROM_MALLOC + padding;
  *header(block) = (Header){.capacity = capacity, .class = class, .mark = OURS};
  return block;
}

void ffgrad_delete_aligned(void *block, size_t size, size_t alignment) {
  (void)size, (void)alignment;
  release(block);
}

/* C's functions for aligned memory, which `free` gives back as any other. */
int ffgrad_posix_memalign(void **to, size_t alignment, size_t size) {
  if (alignment < sizeof(void *) || (alignment & (alignment - 1)) || size > PTRDIFF_MAX / 4) return EINVAL;
  void *block = alignment <= 16 ? allocate(size) : ffgrad_new_aligned(size, alignment);
  if (!block) return ENOMEM;
  *to = block;
  return 0;
}

void *ffgrad_aligned_alloc(size_t alignment, size_t size) {
  void *block = NULL;
  return ffgrad_posix_memalign(&block, alignment < sizeof(void *) ? sizeof(void *) : alignment, size) ? NULL : block;
}

/* Runs an entry point; what it allocated and did not free is gone afterwards. */
int32_t ffgrad_in_arena(int32_t (*entry)(void *const *), void *const *args) {
  Arena *a = own ? own : first_call();
  if (!a) return entry(args);
  a->depth++;
  short_of_memory = 0;
  int32_t status = entry(args);
  if (--a->depth == 0) settle(a, KEEP);
  return status;
}

/* Makes the thread's arena usable again after an entry point crashed and did not return. Whether memory was short:
 * then its blocks are given back. Else the crash may have come from a stray write, and they are left alone. */
int32_t ffgrad_after_crash(void) {
  Arena *a = own = of_thread;
  if (!a) return short_of_memory;
  a->depth = 0;
  if (short_of_memory) {
    settle(a, 0);
  } else {
    a->chunks = NULL;
    a->top = a->end = NULL;
    a->total = 0;
    memset(a->free, 0, sizeof a->free);
  }
  return short_of_memory;
}

/* --- parallel regions --------------------------------------------------------------------------------
 *
 * The number of a team (openmp.c) identifies the thread that forked it, and so whose arena its threads share out.
 */
extern int32_t omp_get_thread_num(void);
static Arena *forking[MOST_ROOTS];

/* Before every fork, on the thread that forks. */
void ffgrad_arena_before_fork(int64_t team) {
  size_t root = (size_t)(team >> 20);
  if (root >= MOST_ROOTS) return;
  int32_t size = (int32_t)(team & MOST_THREADS);
  if (own && !own->team) own->team = calloc(MOST_THREADS, sizeof(Arena *));
  if (own && own->team && own->members < size) own->members = size;
  forking[root] = own;
}

/* At the start of a thread's part of a region; what it returns is given to `ffgrad_arena_leave`. The thread that forked
 * stays in its arena; without memory for another one a thread does with malloc. */
void *ffgrad_arena_join(int64_t team) {
  Arena *outer = own;
  size_t root = (size_t)(team >> 20);
  int32_t number = omp_get_thread_num();
  if (number == 0 || root >= MOST_ROOTS) return outer;
  Arena *fork = forking[root];
  own = NULL;
  if (fork && number < fork->members) {
    Arena **mine = &fork->team[number];
    if (!*mine) *mine = calloc(1, sizeof(Arena));
    own = *mine;
  }
  if (own) own->depth = 1;
  return outer;
}

/* At its end. */
void ffgrad_arena_leave(void *outer) { own = outer; }

/* --- static objects ----------------------------------------------------------------------------------
 *
 * What the first call constructs stays: it comes from malloc, until `ffgrad_arena_leave`.
 */
void *ffgrad_arena_pause(void) {
  Arena *outer = own;
  own = NULL;
  return outer;
}

/* --- tapes -------------------------------------------------------------------------------------------
 *
 * A tape is what the forward sweep keeps for the reverse sweep: an arena of its own, whatever thread either runs on.
 * Dropped tapes are kept for the next forward sweep, a few of them, so that a training loop allocates nothing.
 */
#define IDLE 4                      /* dropped tapes that are kept */
#define IDLE_KEEP ((size_t)1 << 28) /* bytes that each of them keeps */

typedef struct Tape {
  Arena arena;
  void *data; /* Enzyme's own record */
  struct Tape *next;
} Tape;

static Tape *idle;
static int idle_count;
static char idle_lock;

static void lock_idle(void) {
  while (__atomic_test_and_set(&idle_lock, __ATOMIC_ACQUIRE)) {
  }
}

static void unlock_idle(void) { __atomic_clear(&idle_lock, __ATOMIC_RELEASE); }

static Tape *take_tape(void) {
  lock_idle();
  Tape *t = idle;
  if (t) {
    idle = t->next;
    idle_count--;
  }
  unlock_idle();
  return t ? t : calloc(1, sizeof(Tape));
}

/* Gives a tape back, whether the reverse sweep has used it or not. */
void ffgrad_tape_drop(void *tape) {
  Tape *t = tape;
  if (!t) return;
  Arena *a = &t->arena;
  settle(a, IDLE_KEEP);
  lock_idle();
  if (idle_count < IDLE) {
    t->next = idle;
    idle = t;
    idle_count++;
    t = NULL;
  }
  unlock_idle();
  if (t) {
    drop(a);
    free(t);
  }
}

/* Bytes that a tape holds. */
size_t ffgrad_tape_bytes(void *tape) { return tape ? bytes_of(&((Tape *)tape)->arena) : 0; }

/* Runs an entry point with the tape's arena in place of the thread's. */
static int32_t run_on(Tape *t, int32_t (*entry)(void *const *), void *const *args) {
  Arena *outer = own;
  own = &t->arena;
  t->arena.depth = 1;
  short_of_memory = 0;
  int32_t status = entry(args);
  own = outer;
  return status;
}

/* Runs the forward sweep; leaves a tape in the slot. */
int32_t ffgrad_onto_tape(int32_t (*entry)(void *const *), void *const *args, size_t slot) {
  void **place = (void **)args + slot;
  *place = NULL;
  Tape *t = take_tape();
  if (!t) return 2;
  int32_t status = run_on(t, entry, args);
  t->data = *place;
  if (status != 0) {
    ffgrad_tape_drop(t);
    t = NULL;
  }
  *place = t;
  return status;
}

/* Runs the reverse sweep on the tape in the slot, which is then still to be dropped. */
int32_t ffgrad_from_tape(int32_t (*entry)(void *const *), void *const *args, size_t slot) {
  void **place = (void **)args + slot;
  Tape *t = *place;
  *place = t->data;
  int32_t status = run_on(t, entry, args);
  *place = t;
  return status;
}

/* Runs a CUDA kernel on the CPU: blocks one after another, the threads of a block as a loop.
 *
 * Linked into each entry point of such an artifact. `ffgrad_thread` is the entry point's work for one thread, made by
 * the worker. Without barriers the loop simply calls it. With barriers the worker has made a coroutine of it, cut at
 * each barrier: all threads of a block run up to their next barrier before any goes on behind it.
 *
 * A barrier of a warp only (`ffgrad_kind` is WARP) waits for the 32 threads of the warp. A thread that has ended counts
 * as having arrived, as on a GPU of today. Nothing here can wait for ever.
 */
#include <stdlib.h>

enum { BLOCK, WARP };

/* threadIdx, blockIdx, blockDim, gridDim; x, y, z each. The worker binds the kernel's own to them. */
__attribute__((weak)) _Thread_local unsigned ffgrad_index[12];
/* Which barrier the coroutine stopped at. */
__attribute__((weak)) _Thread_local int ffgrad_kind;

int ffgrad_thread(void *const *args);
typedef void *(*Resume)(void *buffer, _Bool unwind);
void *ffgrad_begin(void *buffer, void *const *args);
/* Zeroes the shadows of the block's shared memory. */
void ffgrad_clear_shared(long dynamic_bytes);

/* Called with the frames of coroutines; named so that the worker finds them. */
__attribute__((weak)) void *ffgrad_frame(size_t bytes) {
  void *frame = malloc(bytes);
  if (!frame) abort();
  return frame;
}
__attribute__((weak)) void ffgrad_free_frame(void *frame) { free(frame); }

static void place(const long *block, long thread) {
  ffgrad_index[0] = (unsigned)(thread % block[0]);
  ffgrad_index[1] = (unsigned)(thread / block[0] % block[1]);
  ffgrad_index[2] = (unsigned)(thread / block[0] / block[1]);
}

static void enter_block(const long *geometry, long block) {
  ffgrad_index[3] = (unsigned)(block % geometry[0]);
  ffgrad_index[4] = (unsigned)(block / geometry[0] % geometry[1]);
  ffgrad_index[5] = (unsigned)(block / geometry[0] / geometry[1]);
  ffgrad_clear_shared(geometry[6]);
}

static void enter_grid(const long *geometry) {
  for (int i = 0; i < 3; i++) {
    ffgrad_index[6 + i] = (unsigned)geometry[3 + i];
    ffgrad_index[9 + i] = (unsigned)geometry[i];
  }
}

/* geometry: the grid's extents, the block's extents, bytes of dynamic shared memory. */
int ffgrad_launch_plain(void *const *args, const long *geometry) {
  enter_grid(geometry);
  long blocks = geometry[0] * geometry[1] * geometry[2];
  for (long block = 0; block < blocks; block++) {
    enter_block(geometry, block);
    for (long z = 0; z < geometry[5]; z++)
      for (long y = 0; y < geometry[4]; y++)
        for (long x = 0; x < geometry[3]; x++) {
          ffgrad_index[0] = (unsigned)x, ffgrad_index[1] = (unsigned)y, ffgrad_index[2] = (unsigned)z;
          ffgrad_thread(args);
        }
  }
  return 0;
}

typedef struct {
  Resume next; /* NULL: the thread has ended */
  int kind;
  void *buffer; /* the coroutine's own */
} Thread;

static void resume(Thread *threads, const long *block, long thread) {
  Thread *t = threads + thread;
  place(block, thread);
  t->next = (Resume)t->next(&t->buffer, 0);
  t->kind = ffgrad_kind;
}

/* Resumes a warp until each of its threads has ended or stands at a barrier of the block. */
static void gather_warp(Thread *threads, const long *block, long first, long end) {
  for (int waiting = 1; waiting;) {
    waiting = 0;
    for (long i = first; i < end; i++)
      if (threads[i].next && threads[i].kind == WARP) {
        resume(threads, block, i);
        waiting = 1;
      }
  }
}

int ffgrad_launch_barriers(void *const *args, const long *geometry) {
  enter_grid(geometry);
  const long *block = geometry + 3;
  long blocks = geometry[0] * geometry[1] * geometry[2], count = block[0] * block[1] * block[2];
  Thread *threads = malloc((size_t)count * sizeof *threads);
  if (!threads) return 2;
  for (long b = 0; b < blocks; b++) {
    enter_block(geometry, b);
    for (long i = 0; i < count; i++) {
      place(block, i);
      threads[i].next = (Resume)ffgrad_begin(&threads[i].buffer, args);
      threads[i].kind = ffgrad_kind;
    }
    for (int live = 1; live;) {
      live = 0;
      for (long first = 0; first < count; first += 32)
        gather_warp(threads, block, first, first + 32 < count ? first + 32 : count);
      for (long i = 0; i < count; i++)
        if (threads[i].next) {
          resume(threads, block, i);
          live = 1;
        }
    }
  }
  free(threads);
  return 0;
}

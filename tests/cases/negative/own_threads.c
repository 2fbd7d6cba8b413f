// Starts a thread of its own: Enzyme cannot analyse pthread_create.
#include <pthread.h>

struct job {
  const double* x;
  double* y;
  int n;
};

static void* run(void* given) {
  struct job* job = given;
  for (int i = 0; i < job->n; i++) job->y[i] = job->x[i] * job->x[i];
  return 0;
}

void squares(const double* x, int n, double* y) {
  struct job job = {x, y, n};
  pthread_t thread;
  pthread_create(&thread, 0, run, &job);
  pthread_join(thread, 0);
}

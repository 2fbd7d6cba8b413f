/* Constants that hold each other's addresses, in a circle: the sentinel of a list. A clock's variable of each thread lies beside. */
#include <stdlib.h>
#include <sys/time.h>

struct node {
  struct node *left, *right;
  double value;
};

static struct node nil = {&nil, &nil, 0.0};

static double seconds(void) {
  static _Thread_local struct timeval start;
  static _Thread_local int started = 0;
  struct timeval now;
  if (!started) {
    started = 1;
    gettimeofday(&start, NULL);
  }
  gettimeofday(&now, NULL);
  return (double)(now.tv_sec - start.tv_sec);
}

static struct node *make(double value) {
  struct node *made = malloc(sizeof *made);
  made->left = made->right = &nil;
  made->value = value;
  return made;
}

void sums(const double *x, double *y, int n) {
  for (int i = 0; i < n && seconds() < 1e9; i++) {
    struct node *first = make(x[i]), *second = make(x[i] * x[i]);
    first->right = second;
    nil.left = &nil;
    y[i] = 0.0;
    for (struct node *p = first; p != &nil; p = p->right) y[i] += p->value * x[0];
    free(first);
    free(second);
  }
}

/* Lists of numbers and of structures that grow by realloc, with the test for a failure that C needs. */
#include <stdlib.h>

typedef struct {
  int capacity;
  double *items;
} numbers;

typedef struct {
  int index;
  double error, *values;
} region;

typedef struct {
  size_t count, capacity;
  region *items;
} heap;

static int grow(numbers *list, int capacity) {
  double *items = realloc(list->items, capacity * sizeof(double));
  if (items) {
    list->items = items;
    list->capacity = capacity;
  }
  return items != NULL;
}

static int resize(heap *h, size_t capacity) {
  h->capacity = capacity;
  h->items = (region *)realloc(h->items, sizeof(region) * capacity);
  return h->items == NULL;
}

static int push(heap *h, region item) {
  if (h->count >= h->capacity && resize(h, 2 * h->capacity + 1)) return 1;
  size_t place = h->count++;
  for (; place > 0 && h->items[(place - 1) / 2].error < item.error; place = (place - 1) / 2)
    h->items[place] = h->items[(place - 1) / 2];
  h->items[place] = item;
  return 0;
}

int grown_lists(const double *x, int n, double *y) {
  numbers *list = malloc(sizeof(numbers));
  list->capacity = 1;
  list->items = malloc(sizeof(double));
  heap queue = {0, 0, NULL};
  for (int i = 0; i < n; i++) {
    if (i >= list->capacity && !grow(list, 2 * list->capacity)) return 1;
    list->items[i] = x[i] * x[i];
  }
  for (int i = 0; i < n; i++) {
    region item = {i, (5 * i + 3) % 7 * x[0] * x[0], list->items + i};
    if (push(&queue, item)) return 1;
  }
  for (int i = 0; i < n; i++) {
    const region *item = queue.items + i;
    y[i] = item->error * x[item->index] + *item->values * (i + 1);
  }
  free(queue.items);
  free(list->items);
  free(list);
  return 0;
}

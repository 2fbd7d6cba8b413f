// A linked list on the heap: built, traversed, and freed again.
#include <stdlib.h>

struct node {
  double value;
  struct node* next;
};

double continued_fraction(const double* x, int n) {
  struct node* head = NULL;
  for (int i = 0; i < n; i++) {
    struct node* fresh = malloc(sizeof *fresh);
    fresh->value = x[i];
    fresh->next = head;
    head = fresh;
  }
  double fraction = 1.0;
  for (struct node* p = head; p; p = p->next) fraction = p->value + 1.0 / fraction;
  while (head) {
    struct node* next = head->next;
    free(head);
    head = next;
  }
  return fraction;
}

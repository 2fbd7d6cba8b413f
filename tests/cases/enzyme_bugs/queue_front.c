// A queue whose front is removed by memmove: source and destination overlap, the destination below.
// Enzyme's adjoint of memmove is that of memcpy, which adds to an adjoint that the next element still reads.
#include <string.h>

void queue_front(const double *x, int n, double *y) {
    double queue[32];
    int waiting = 0;
    for (int i = 0; i < n; i++) {
        queue[waiting++] = x[i] * x[i] + 1.0;
        if (i % 3 == 2) {
            // Taken from the front, and put back further behind, in the other direction.
            double first = queue[0];
            memmove(queue, queue + 1, (waiting - 1) * sizeof *queue);
            queue[waiting - 1] = first * x[i];
        } else if (waiting > 4) {
            memmove(queue + 2, queue, (waiting - 2) * sizeof *queue);
            queue[1] = queue[2] * queue[3];
        }
        y[i] = queue[0] * queue[waiting / 2] + queue[waiting - 1];
    }
}

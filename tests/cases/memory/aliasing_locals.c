// Pointers that move through local memory and alias: a ring buffer with a moving head.
double ring(const double* x, int n) {
  double buffer[4] = {0.0, 0.0, 0.0, 0.0}, *head = buffer, s = 0.0;
  for (int i = 0; i < n; i++) {
    *head = x[i] + 0.5 * *head;
    s += *head * buffer[(i + 1) % 4];
    if (++head == buffer + 4) head = buffer;
  }
  return s;
}

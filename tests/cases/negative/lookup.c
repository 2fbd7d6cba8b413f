// The body that missing_body.c lacks: given together, the two files work.
double lookup(const double* table, double x) {
  return table[0] + x * (table[1] + x * table[2]);
}

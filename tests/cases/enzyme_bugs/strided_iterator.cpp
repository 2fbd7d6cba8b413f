// Weighted sums of squares over an array of two dimensions by an iterator that moves its address by strides it reads. Where the array is shorter
// than the shape (broadcast), the iterator stays.
namespace {

struct Array {
  const double *data;
  long strides[2], backstrides[2];
};

struct Iterator {
  const Array *array;
  const double *at;
  long offset;

  void step(long dimension) {
    if (dimension >= offset) at += array->strides[dimension - offset];
  }
  void step_back(long dimension) {
    if (dimension >= offset) at -= array->strides[dimension - offset];
  }
  void reset(long dimension) {
    if (dimension >= offset) at -= array->backstrides[dimension - offset];
  }
};

struct Reducer {
  const long *shape;
  double start;
  Iterator iterator;

  double reduce(long dimension) {
    const long size = shape[dimension];
    double sum;
    if (dimension == 1) {
      sum = start;
      for (long i = 0; i < size; ++i, iterator.step(dimension)) sum += *iterator.at * *iterator.at;
      iterator.step_back(dimension);
    } else {
      sum = reduce(dimension + 1);
      for (long i = 1; i < size; ++i) {
        iterator.step(dimension);
        sum += (double)(i + 1) * reduce(dimension + 1);
      }
    }
    iterator.reset(dimension);
    return sum;
  }
};

} // namespace

extern "C" double strided_iterator(const double *x, int m, int n) {
  const long shape[2] = {m, n};
  const Array whole = {x, {n, 1}, {(long)(m - 1) * n, n - 1}}, row = {x, {1, 0}, {n - 1, 0}};
  Reducer all = {shape, 0.5, {&whole, x, 0}}, repeated = {shape, 0.25, {&row, x, 1}};
  return all.reduce(0) + repeated.reduce(0);
}

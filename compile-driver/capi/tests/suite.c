/* Tests of the C ABI, from C: right results, and an error, never a crash, for whatever a caller gets wrong.
 * c_programs.rs compiles this and runs it under AddressSanitizer and valgrind. The argument is the folder tests/cases. */

#include <ffgrad.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
#define CHECK(condition) \
  ((condition) ? (void)0 : (void)(failures++, fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition)))

/* The status of a call, its error printed if it is not the expected one, and freed. */
static void expect(int line, int32_t status, int32_t expected, ffgrad_error* error, const char* part) {
  const char* message = ffgrad_error_message(error);
  const char* details = ffgrad_error_details(error);
  int right = status == expected && (!part || strstr(message, part)) && (details[0] == '{') &&
              ((status == FFGRAD_OK) == (error == NULL));
  if (!right) {
    failures++;
    fprintf(stderr, "suite.c:%d: status %d, expected %d with \"%s\": %s %s\n", line, status, expected, part ? part : "",
            message, details);
  }
  ffgrad_error_free(error);
}
#define EXPECT(expected, part, call)                     \
  do {                                                   \
    ffgrad_error* error = (ffgrad_error*)(intptr_t)0x10; \
    int32_t status_ = (call);                            \
    expect(__LINE__, status_, expected, error, part);    \
  } while (0)

static const char* cases;

static ffgrad_function open_case(const char* file, const char* name, const char* signature) {
  char spec[4096];
  /* Debug information of a version that every valgrind can read: one that cannot gives up. */
  const char* form =
      "{\"sources\": [\"%s/%s\"], \"function\": \"%s\", \"signature\": %s, \"options\": {\"flags\": [\"-gdwarf-4\"]}}";
  snprintf(spec, sizeof spec, form, cases, file, name, signature);
  ffgrad_function f = 77;
  EXPECT(FFGRAD_OK, NULL, ffgrad_open(spec, &f, &error));
  return f;
}

static ffgrad_array array(void* data, int32_t ndim, const int64_t* shape) {
  ffgrad_array a = {data, FFGRAD_FLOAT64, ndim, shape, NULL};
  return a;
}
static const ffgrad_array none = {NULL, FFGRAD_NONE, 0, NULL, NULL};

/* y = A x for a 2 x 3 matrix */
static double A[6] = {1, 2, 3, 4, 5, 6}, x[3] = {1, -1, 2}, w[2] = {1, 10};
static const int64_t two_three[] = {2, 3}, three[] = {3}, two[] = {2}, four[] = {4};

static int is(const double* values, size_t count, ...) {
  __builtin_va_list list;
  __builtin_va_start(list, count);
  int same = 1;
  for (size_t i = 0; i < count; i++) same &= fabs(values[i] - __builtin_va_arg(list, double)) < 1e-12;
  __builtin_va_end(list);
  return same;
}

static void results_are_right(ffgrad_function f) {
  ffgrad_array in[] = {array(A, 2, two_three), array(x, 1, three)};
  ffgrad_shape shape;
  EXPECT(FFGRAD_OK, NULL, ffgrad_output_shapes(f, in, 2, &shape, 1, &error));
  CHECK(shape.dtype == FFGRAD_FLOAT64 && shape.ndim == 1 && shape.dims[0] == 2 && shape.dims[1] == 0);
  int64_t sizes[5];
  EXPECT(FFGRAD_OK, NULL, ffgrad_sizes(f, in, 2, sizes, 5, &error));
  CHECK(sizes[0] == 0 && sizes[1] == 0 && sizes[2] + sizes[3] == 5 && sizes[4] == 0);

  double y[2], dA[6], dx[3];
  ffgrad_array out = array(y, 1, two), cot = array(w, 1, two);
  EXPECT(FFGRAD_OK, NULL, ffgrad_call(f, in, 2, 3, &out, 1, &error));
  CHECK(is(y, 2, 5.0, 11.0));
  ffgrad_array gradients[] = {array(dA, 2, two_three), array(dx, 1, three)};
  EXPECT(FFGRAD_OK, NULL, ffgrad_vjp(f, in, 2, &cot, 1, gradients, 2, 0, &error));
  CHECK(is(dA, 6, 1.0, -1.0, 2.0, 10.0, -10.0, 20.0) && is(dx, 3, 41.0, 52.0, 63.0));
  EXPECT(FFGRAD_OK, NULL, ffgrad_vjp(f, in, 2, &cot, 1, gradients, 2, FFGRAD_ACCUMULATE, &error));
  CHECK(is(dA, 6, 2.0, -2.0, 4.0, 20.0, -20.0, 40.0) && is(dx, 3, 82.0, 104.0, 126.0));
  gradients[0] = none;
  EXPECT(FFGRAD_OK, NULL, ffgrad_vjp(f, in, 2, &none, 1, gradients, 2, 0, &error));
  CHECK(is(dx, 3, 0.0, 0.0, 0.0));

  double t[3] = {0, 1, 0};
  ffgrad_array tangents[] = {none, array(t, 1, three)};
  EXPECT(FFGRAD_OK, NULL, ffgrad_jvp(f, in, 2, tangents, 2, &out, 1, 0, &error));
  CHECK(is(y, 2, 2.0, 5.0));
  double h[6];
  ffgrad_array second[] = {array(h, 2, two_three), none};
  EXPECT(FFGRAD_OK, NULL, ffgrad_hvp(f, in, 2, &cot, 1, tangents, 2, second, 2, 0, &error));
  CHECK(is(h, 6, 0.0, 1.0, 0.0, 0.0, 10.0, 0.0));
  CHECK(is(A, 6, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0) && is(x, 3, 1.0, -1.0, 2.0) && is(w, 2, 1.0, 10.0));
}

static void gaps_and_overlaps_are_served(ffgrad_function f) {
  /* A as columns, x backwards, y with gaps. */
  double columns[6] = {1, 4, 2, 5, 3, 6}, backwards[3] = {2, -1, 1}, spread[4] = {-1, -1, -1, -1};
  int64_t by_column[] = {1, 2}, back[] = {-1}, gap[] = {2};
  ffgrad_array in[] = {array(columns, 2, two_three), array(backwards + 2, 1, three)};
  in[0].strides = by_column;
  in[1].strides = back;
  ffgrad_array out = array(spread, 1, two);
  out.strides = gap;
  ffgrad_copies before, after;
  ffgrad_copied(&before);
  EXPECT(FFGRAD_OK, NULL, ffgrad_call(f, in, 2, 0, &out, 1, &error));
  ffgrad_copied(&after);
  CHECK(is(spread, 4, 5.0, -1.0, 11.0, -1.0));
  CHECK(after.gathered - before.gathered == (6 + 3 + 2) * sizeof(double));

  /* The result over an input. */
  double shared[3] = {1, -1, 2};
  ffgrad_array over[] = {array(A, 2, two_three), array(shared, 1, three)}, onto = array(shared + 1, 1, two);
  EXPECT(FFGRAD_OK, NULL, ffgrad_call(f, over, 2, 0, &onto, 1, &error));
  CHECK(is(shared, 3, 1.0, 5.0, 11.0));
}

static void misuse_is_refused(ffgrad_function f) {
  double y[4] = {7, 7, 7, 7};
  ffgrad_array in[] = {array(A, 2, two_three), array(x, 1, three), array(x, 1, three)}, out = array(y, 1, two);
  ffgrad_array bad[] = {in[0], in[1]};
#define CALL_WITH(status, part)                                        \
  do {                                                                 \
    EXPECT(status, part, ffgrad_call(f, bad, 2, 0, &out, 1, &error));  \
    bad[0] = in[0], bad[1] = in[1];                                    \
  } while (0)

  EXPECT(FFGRAD_ERROR_MISUSE, "inputs are null", ffgrad_call(f, NULL, 2, 0, &out, 1, &error));
  EXPECT(FFGRAD_ERROR_MISUSE, "outputs are null", ffgrad_call(f, in, 2, 0, NULL, 1, &error));
  EXPECT(FFGRAD_ERROR_SIGNATURE, "takes 2 inputs, 3 were given", ffgrad_call(f, in, 3, 0, &out, 1, &error));
  EXPECT(FFGRAD_ERROR_SIGNATURE, "takes 2 inputs, 0 were given", ffgrad_call(f, NULL, 0, 0, &out, 1, &error));
  EXPECT(FFGRAD_ERROR_MISUSE, "1 result here, 0 were given", ffgrad_call(f, in, 2, 0, NULL, 0, &error));
  EXPECT(FFGRAD_ERROR_MISUSE, "no function has so many", ffgrad_call(f, in, (size_t)1 << 60, 0, &out, 1, &error));
  EXPECT(FFGRAD_ERROR_MISUSE, NULL, ffgrad_call(f, (ffgrad_array*)((char*)in + 1), 2, 0, &out, 1, &error));

  bad[1].data = NULL; CALL_WITH(FFGRAD_ERROR_MISUSE, "`x` has no data");
  bad[1].shape = NULL; CALL_WITH(FFGRAD_ERROR_MISUSE, "the shape of `x` is null");
  bad[1].ndim = -1; CALL_WITH(FFGRAD_ERROR_MISUSE, "`x` has -1 dimensions");
  bad[1].ndim = 1000000; CALL_WITH(FFGRAD_ERROR_MISUSE, "dimensions");
  bad[1].dtype = 55; CALL_WITH(FFGRAD_ERROR_MISUSE, "element type 55");
  bad[1].dtype = FFGRAD_NONE; CALL_WITH(FFGRAD_ERROR_MISUSE, "the input `x` is missing");
  bad[1].data = (char*)x + 1; CALL_WITH(FFGRAD_ERROR_MISUSE, "not aligned");
  bad[1].dtype = FFGRAD_FLOAT32; CALL_WITH(FFGRAD_ERROR_DTYPE, "`x` of `matvec` is `double*`");
  bad[1].dtype = FFGRAD_NUMBER_FLOAT; CALL_WITH(FFGRAD_ERROR_DTYPE, "`x` of `matvec` is `double*`");
  bad[1].shape = four; CALL_WITH(FFGRAD_ERROR_SHAPE, "`n` is 3 in `A[m,n]`");
  bad[1].ndim = 2, bad[1].shape = two_three; CALL_WITH(FFGRAD_ERROR_SHAPE, "expected 1 dimension");
  int64_t negative[] = {-3}, huge[] = {INT64_MAX, INT64_MAX};
  bad[1].shape = negative; CALL_WITH(FFGRAD_ERROR_SHAPE, "cannot be negative");
  bad[0].shape = huge; CALL_WITH(FFGRAD_ERROR_SHAPE, NULL);

  out.shape = three;
  EXPECT(FFGRAD_ERROR_SHAPE, "the memory for `y` of `matvec` has the wrong shape", ffgrad_call(f, in, 2, 0, &out, 1, &error));
  out.shape = two, out.dtype = FFGRAD_INT64;
  EXPECT(FFGRAD_ERROR_DTYPE, "the memory for `y` of `matvec` has the wrong", ffgrad_call(f, in, 2, 0, &out, 1, &error));
  out.dtype = FFGRAD_FLOAT64, out.data = NULL;
  EXPECT(FFGRAD_ERROR_MISUSE, "`y` has no data", ffgrad_call(f, in, 2, 0, &out, 1, &error));
  CHECK(is(y, 4, 7.0, 7.0, 7.0, 7.0));

  ffgrad_array cot = array(w, 1, two), gradients[] = {none, array(y, 1, three)};
  EXPECT(FFGRAD_ERROR_SIGNATURE, "has 1 cotangent, 2 were given", ffgrad_vjp(f, in, 2, in, 2, gradients, 2, 0, &error));
  EXPECT(FFGRAD_ERROR_MISUSE, "2 results here, 1 was given", ffgrad_vjp(f, in, 2, &cot, 1, gradients, 1, 0, &error));
  EXPECT(FFGRAD_ERROR_MISUSE, "unknown flags", ffgrad_vjp(f, in, 2, &cot, 1, gradients, 2, 64, &error));
  cot.shape = three;
  EXPECT(FFGRAD_ERROR_SIGNATURE, "the cotangent of `y`", ffgrad_vjp(f, in, 2, &cot, 1, gradients, 2, FFGRAD_ACCUMULATE, &error));
  CHECK(is(y, 4, 7.0, 7.0, 7.0, 7.0));
  EXPECT(FFGRAD_ERROR_MISUSE, "tangents are null", ffgrad_jvp(f, in, 2, NULL, 2, gradients, 1, 0, &error));
  EXPECT(FFGRAD_ERROR_SIGNATURE, "tangents", ffgrad_jvp(f, in, 2, gradients, 1, gradients, 1, 0, &error));

  ffgrad_shape shapes[1];
  EXPECT(FFGRAD_ERROR_MISUSE, "`outputs` is null", ffgrad_output_shapes(f, in, 2, NULL, 1, &error));
  EXPECT(FFGRAD_ERROR_MISUSE, "has 1 output, 9 were given", ffgrad_output_shapes(f, in, 2, shapes, 9, &error));
  EXPECT(FFGRAD_ERROR_MISUSE, "5 parameters, 1 was given", ffgrad_sizes(f, in, 2, (int64_t*)shapes, 1, &error));
  EXPECT(FFGRAD_ERROR_MISUSE, "`sizes` is null", ffgrad_sizes(f, in, 2, NULL, 5, &error));
  EXPECT(FFGRAD_ERROR_MISUSE, "`json` is null", ffgrad_describe(f, NULL, &error));
  CHECK(ffgrad_copied(NULL) == FFGRAD_ERROR_MISUSE);

  /* Nobody has to want the error. */
  CHECK(ffgrad_call(f, NULL, 2, 0, &out, 1, NULL) == FFGRAD_ERROR_MISUSE);
  CHECK(!strcmp(ffgrad_error_message(NULL), "") && !strcmp(ffgrad_error_details(NULL), "{}"));
  ffgrad_error_free(NULL);
  ffgrad_free_text(NULL);
}

static void opening_is_refused(void) {
  ffgrad_function f = 77;
  EXPECT(FFGRAD_ERROR_MISUSE, "`spec` is null", ffgrad_open(NULL, &f, &error));
  CHECK(f == 0);
  EXPECT(FFGRAD_ERROR_MISUSE, "`function` is null", ffgrad_open("{}", NULL, &error));
  EXPECT(FFGRAD_ERROR_MISUSE, "missing field `sources`", ffgrad_open("{}", &f, &error));
  EXPECT(FFGRAD_ERROR_MISUSE, "specification", ffgrad_open("no JSON", &f, &error));
  EXPECT(FFGRAD_ERROR_MISUSE, "UTF-8", ffgrad_open("\xff", &f, &error));
  EXPECT(FFGRAD_ERROR_MISUSE, "no `sources`", ffgrad_open("{\"sources\": [], \"function\": \"f\"}", &f, &error));
  EXPECT(FFGRAD_ERROR_MISUSE, "unknown field `flag`",
         ffgrad_open("{\"sources\": [\"a.c\"], \"function\": \"f\", \"options\": {\"flag\": 1}}", &f, &error));
  EXPECT(FFGRAD_ERROR_COMPILE, "there is no file", ffgrad_open("{\"sources\": [\"/no/such.c\"], \"function\": \"f\"}", &f, &error));
  char* deep = malloc(20001);
  memset(deep, '[', 20000), deep[20000] = 0;
  EXPECT(FFGRAD_ERROR_MISUSE, NULL, ffgrad_open(deep, &f, &error));
  free(deep);
  CHECK(f == 0);
}

static void scalars_have_gradients_and_numbers_are_constant(void) {
  ffgrad_function f = open_case("in_place/in_place_step.c", "step", "\"u[n], dt -> u[n]\"");
  double u[5] = {0, 0, 1, 0, 0}, dt = 0.25, after[5], du[5], ddt = 9, ones[5] = {1, 1, 1, 1, 1};
  int64_t five[] = {5};
  ffgrad_array in[] = {array(u, 1, five), array(&dt, 0, NULL)}, out = array(after, 1, five);
  EXPECT(FFGRAD_OK, NULL, ffgrad_call(f, in, 2, 0, &out, 1, &error));
  CHECK(is(u, 5, 0.0, 0.0, 1.0, 0.0, 0.0) && is(after, 5, 0.0, 0.25, 0.5625, 0.140625, 0.0));
  ffgrad_array cot = array(ones, 1, five), gradients[] = {array(du, 1, five), array(&ddt, 0, NULL)};
  EXPECT(FFGRAD_OK, NULL, ffgrad_vjp(f, in, 2, &cot, 1, gradients, 2, 0, &error));
  CHECK(fabs(ddt - (1.0 + (-2.0 + 0.5) + (0.5625 - 0.375))) < 1e-12);

  /* Truly in place: the result over the input. */
  out.data = u;
  in[1].dtype = FFGRAD_NUMBER_FLOAT;
  EXPECT(FFGRAD_OK, NULL, ffgrad_call(f, in, 2, 0, &out, 1, &error));
  CHECK(is(u, 5, 0.0, 0.25, 0.5625, 0.140625, 0.0));
  EXPECT(FFGRAD_OK, NULL, ffgrad_close(f, &error));
}

static void foreign_trouble_is_told(void) {
  ffgrad_function f = open_case("negative/throwing.cpp", "log_density", "\"x[n] -> y[n]\"");
  double bad[3] = {-1, 1, 2}, y[3];
  ffgrad_array in = array(bad, 1, three), out = array(y, 1, three);
  EXPECT(FFGRAD_ERROR_FOREIGN, "log_density: x[0] is negative", ffgrad_call(f, &in, 1, 0, &out, 1, &error));
  EXPECT(FFGRAD_OK, NULL, ffgrad_close(f, &error));
}

static void a_loop_over_steps_reports_its_reverse_sweep(void) {
  char spec[4096], *text = (char*)1;
  const char* form =
      "{\"sources\": [\"%s/in_place/in_place_step.c\"], \"function\": \"step\", \"signature\": \"u[n], dt -> u[n]\","
      " \"options\": {\"flags\": [\"-gdwarf-4\"], \"repeat\": \"t\", \"sizes\": {\"t\": 100}, \"snapshots\": 5}}";
  snprintf(spec, sizeof spec, form, cases);
  ffgrad_function f = 0;
  EXPECT(FFGRAD_OK, NULL, ffgrad_open(spec, &f, &error));
  EXPECT(FFGRAD_OK, NULL, ffgrad_checkpointing(f, &text, &error));
  CHECK(text == NULL);
  double u[4] = {1, 2, 3, 4}, dt = 0.01, v[4] = {1, 1, 1, 1}, gradient[4];
  ffgrad_array in[] = {array(u, 1, four), array(&dt, 0, NULL)}, out = array(v, 1, four);
  ffgrad_array wanted[] = {array(gradient, 1, four), none};
  EXPECT(FFGRAD_OK, NULL, ffgrad_vjp(f, in, 2, &out, 1, wanted, 2, 0, &error));
  EXPECT(FFGRAD_OK, NULL, ffgrad_checkpointing(f, &text, &error));
  CHECK(text && strstr(text, "\"forward\":316") && strstr(text, "\"steps\":100") && strstr(text, "\"snapshots\":5"));
  ffgrad_free_text(text);
  EXPECT(FFGRAD_OK, NULL, ffgrad_close(f, &error));
}

static void closed_handles_are_refused(ffgrad_function f) {
  EXPECT(FFGRAD_OK, NULL, ffgrad_close(f, &error));
  ffgrad_function wrong[] = {f, 0, f + 1, f + 1000000, UINT64_MAX};
  ffgrad_array in[] = {array(A, 2, two_three), array(x, 1, three)}, out = none;
  ffgrad_shape shape;
  char* text = (char*)1;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    EXPECT(FFGRAD_ERROR_MISUSE, "handle", ffgrad_close(wrong[i], &error));
    EXPECT(FFGRAD_ERROR_MISUSE, "handle", ffgrad_call(wrong[i], in, 2, 0, &out, 1, &error));
    EXPECT(FFGRAD_ERROR_MISUSE, "handle", ffgrad_vjp(wrong[i], in, 2, &out, 1, in, 2, 0, &error));
    EXPECT(FFGRAD_ERROR_MISUSE, "handle", ffgrad_output_shapes(wrong[i], in, 2, &shape, 1, &error));
    EXPECT(FFGRAD_ERROR_MISUSE, "handle", ffgrad_describe(wrong[i], &text, &error));
    CHECK(text == NULL);
    EXPECT(FFGRAD_ERROR_MISUSE, "handle", ffgrad_take_warnings(wrong[i], &text, &error));
    EXPECT(FFGRAD_ERROR_MISUSE, "handle", ffgrad_checkpointing(wrong[i], &text, &error));
  }
}

/* Programs that allocate, in blocks that end where the arrays end: a byte read or written beyond is seen by the sanitizer, and by
 * valgrind in the derivatives' own code too. */
static const struct {
  const char *file, *name, *signature;
  int shorter; /* elements that the output has less than the input; -1: it is a number */
} allocating[] = {
    {"memory/malloc_free.c", "standardise", "\"x[n] -> y[n]\"", 0},
    {"memory/memcpy_window.c", "moving_sum", "\"x[n] -> y[n-4]\"", 4},
    {"memory/linked_list.c", "continued_fraction", "\"x[n] -> return\"", -1},
    {"cpp/vector_push_back.cpp", "selected_energy", "\"x[n] -> return\"", -1},
};

static double* block(int64_t count, double first) {
  double* values = malloc((size_t)count * sizeof *values);
  for (int64_t i = 0; i < count; i++) values[i] = first + 0.37 * (double)(i % 5) + 0.11 * (double)i;
  return values;
}

static double dot(const double* a, const double* b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++) sum += a[i] * b[i];
  return sum;
}

static void allocating_functions_stay_in_their_memory(void) {
  for (size_t k = 0; k < sizeof allocating / sizeof *allocating; k++) {
    ffgrad_function f = open_case(allocating[k].file, allocating[k].name, allocating[k].signature);
    for (int64_t n = 7; n < 100; n += 31) {
      int is_number = allocating[k].shorter < 0;
      int64_t m = is_number ? 1 : n - allocating[k].shorter;
      double *point = block(n, 0.5), *t = block(n, -0.7), *u = block(n, 0.2), *v = block(m, 0.9);
      double *y = block(m, 0), *jt = block(m, 0), *jv = block(n, 0), *ht = block(n, 0), *hu = block(n, 0);
      ffgrad_array in = array(point, 1, &n), cot = array(v, !is_number, &m), out = array(y, !is_number, &m);
      ffgrad_array along = array(t, 1, &n), other = array(u, 1, &n), tangent = array(jt, !is_number, &m);
      ffgrad_array gradient = array(jv, 1, &n), second = array(ht, 1, &n), crossed = array(hu, 1, &n);
      EXPECT(FFGRAD_OK, NULL, ffgrad_call(f, &in, 1, 0, &out, 1, &error));
      EXPECT(FFGRAD_OK, NULL, ffgrad_vjp(f, &in, 1, &cot, 1, &gradient, 1, 0, &error));
      EXPECT(FFGRAD_OK, NULL, ffgrad_jvp(f, &in, 1, &along, 1, &tangent, 1, 0, &error));
      EXPECT(FFGRAD_OK, NULL, ffgrad_hvp(f, &in, 1, &cot, 1, &along, 1, &second, 1, 0, &error));
      EXPECT(FFGRAD_OK, NULL, ffgrad_hvp(f, &in, 1, &cot, 1, &other, 1, &crossed, 1, 0, &error));
      double by_reverse = dot(jv, t, n), by_forward = dot(v, jt, m), one_way = dot(u, ht, n), other_way = dot(t, hu, n);
      CHECK(fabs(by_reverse - by_forward) <= 1e-9 * (1 + fabs(by_forward)));
      CHECK(fabs(one_way - other_way) <= 1e-9 * (1 + fabs(other_way)));
      double* all[] = {point, t, u, v, y, jt, jv, ht, hu};
      for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    }
    EXPECT(FFGRAD_OK, NULL, ffgrad_close(f, &error));
  }
}

/* Two threads open, use and close the same function, and share another. */
static ffgrad_function common;

static void* one_thread(void* argument) {
  int* wrong = argument;
  ffgrad_function own = open_case("loops/matvec.c", "matvec", "\"A[m,n], x[n] -> y[m]\"");
  for (int i = 0; i < 200; i++) {
    double point[3] = {i, 1, 2}, y[2], dx[3] = {1, 1, 1};
    ffgrad_array in[] = {array(A, 2, two_three), array(point, 1, three)}, out = array(y, 1, two), cot = array(w, 1, two);
    ffgrad_array gradients[] = {none, array(dx, 1, three)};
    ffgrad_function f = i % 2 ? own : common;
    *wrong |= ffgrad_call(f, in, 2, 2, &out, 1, NULL) | !is(y, 2, i + 8.0, 4.0 * i + 17.0);
    *wrong |= ffgrad_vjp(f, in, 2, &cot, 1, gradients, 2, FFGRAD_ACCUMULATE, NULL) | !is(dx, 3, 42.0, 53.0, 64.0);
  }
  EXPECT(FFGRAD_OK, NULL, ffgrad_close(own, &error));
  return NULL;
}

static void two_threads_do_not_disturb_each_other(void) {
  common = open_case("loops/matvec.c", "matvec", "\"A[m,n], x[n] -> y[m]\"");
  pthread_t threads[2];
  int wrong[2] = {0, 0};
  for (int i = 0; i < 2; i++) CHECK(!pthread_create(&threads[i], NULL, one_thread, &wrong[i]));
  for (int i = 0; i < 2; i++) CHECK(!pthread_join(threads[i], NULL));
  CHECK(!wrong[0] && !wrong[1]);
  EXPECT(FFGRAD_OK, NULL, ffgrad_close(common, &error));
}

static int asked;
static int32_t stop(void) {
  asked++;
  return 1;
}
static int32_t go_on(void) {
  asked++;
  return 0;
}

static void a_build_ends_where_the_caller_wants_it(void) {
  char spec[4096];
  const char* form =
      "{\"sources\": [\"%s/loops/matvec.c\"], \"function\": \"matvec\", \"signature\": \"A[m,n], x[n] -> y[m]\", \"options\": "
      "{\"flags\": [\"-gdwarf-4\"], \"defines\": {\"NOT_BUILT_YET\": \"1\"}}}";
  snprintf(spec, sizeof spec, form, cases);
  ffgrad_function f = 77;
  ffgrad_on_interrupt(stop);
  EXPECT(FFGRAD_ERROR_INTERRUPTED, "interrupted", ffgrad_open(spec, &f, &error));
  CHECK(f == 0 && asked == 1);
  ffgrad_on_interrupt(go_on);
  EXPECT(FFGRAD_OK, NULL, ffgrad_open(spec, &f, &error));
  CHECK(asked > 1);
  /* In the middle of a call; the memory of the result is not read. */
  double y[2] = {7, 7}, dx[3];
  ffgrad_array in[] = {array(A, 2, two_three), array(x, 1, three)}, out = array(y, 1, two), cot = array(w, 1, two);
  ffgrad_array gradients[] = {none, array(dx, 1, three)};
  ffgrad_on_interrupt(stop);
  EXPECT(FFGRAD_ERROR_INTERRUPTED, NULL, ffgrad_call(f, in, 2, 0, &out, 1, &error));
  EXPECT(FFGRAD_ERROR_INTERRUPTED, NULL, ffgrad_vjp(f, in, 2, &cot, 1, gradients, 2, 0, &error));
  ffgrad_on_interrupt(NULL);
  asked = 0;
  results_are_right(f);
  CHECK(asked == 0);
  EXPECT(FFGRAD_OK, NULL, ffgrad_close(f, &error));
}

int main(int argc, char** argv) {
  cases = argc > 1 ? argv[1] : "tests/cases";
  CHECK(ffgrad_abi_version() == FFGRAD_ABI_VERSION && strlen(ffgrad_version()) > 0);
  opening_is_refused();
  ffgrad_function f = open_case("loops/matvec.c", "matvec", "\"A[m,n], x[n] -> y[m]\"");
  char* text = NULL;
  EXPECT(FFGRAD_OK, NULL, ffgrad_describe(f, &text, &error));
  CHECK(text && strstr(text, "\"signature\":\"A[m,n], x[n] -> y[m]\"") && strstr(text, "\"order\":\"row-major\""));
  ffgrad_free_text(text);
  results_are_right(f);
  EXPECT(FFGRAD_OK, NULL, ffgrad_take_warnings(f, &text, &error));
  CHECK(text == NULL);
  gaps_and_overlaps_are_served(f);
  misuse_is_refused(f);
  results_are_right(f);
  scalars_have_gradients_and_numbers_are_constant();
  foreign_trouble_is_told();
  a_build_ends_where_the_caller_wants_it();
  allocating_functions_stay_in_their_memory();
  two_threads_do_not_disturb_each_other();
  a_loop_over_steps_reports_its_reverse_sweep();
  closed_handles_are_refused(f);
  if (!failures) printf("the C ABI keeps its promises\n");
  return failures != 0;
}

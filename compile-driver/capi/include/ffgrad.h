/* ffgrad.h - gradients of C, C++ and Fortran functions, from C. Made from compile-driver/capi/src by its test `header`.
 *
 * A function is opened by ffgrad_open and used through its handle: ffgrad_call, ffgrad_vjp, ffgrad_jvp, ffgrad_hvp. Each
 * answers FFGRAD_OK or an FFGRAD_ERROR_...; the last argument, if it is not null, then receives an error to read and to
 * free. All may be called from any thread, also for the same function. See docs/reference/c-abi.md and examples/c/.
 */

#ifndef FFGRAD_H
#define FFGRAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Version of this ABI: what `ffgrad_abi_version` of a matching library returns.
#define FFGRAD_ABI_VERSION 1

// More dimensions than an array may have.
#define FFGRAD_MAX_DIMS 32

// No array: a zero cotangent or tangent, a result that is not wanted.
#define FFGRAD_NONE 0

// `float`
#define FFGRAD_FLOAT32 1

// `double`
#define FFGRAD_FLOAT64 2

// `int8_t`
#define FFGRAD_INT8 3

// `int16_t`
#define FFGRAD_INT16 4

// `int32_t`
#define FFGRAD_INT32 5

// `int64_t`
#define FFGRAD_INT64 6

// `uint8_t`
#define FFGRAD_UINT8 7

// `uint16_t`
#define FFGRAD_UINT16 8

// `uint32_t`
#define FFGRAD_UINT32 9

// `uint64_t`
#define FFGRAD_UINT64 10

// `bool`, one byte
#define FFGRAD_BOOL 11

// A number for a scalar parameter, given as a `double`; takes the parameter's type and is constant.
#define FFGRAD_NUMBER_FLOAT 101

// The same, given as an `int64_t`.
#define FFGRAD_NUMBER_INT 102

// The same, given as one byte, 0 or 1.
#define FFGRAD_NUMBER_BOOL 103

// All went well.
#define FFGRAD_OK 0

// The ABI was misused: a null pointer, a wrong count, a closed handle, text that is not JSON.
#define FFGRAD_ERROR_MISUSE 1

// A tool is missing or does not work.
#define FFGRAD_ERROR_TOOLCHAIN 2

// The source does not exist, compile or link, or has no such function.
#define FFGRAD_ERROR_COMPILE 3

// The signature does not fit the prototype, or the number of arrays does not fit the signature.
#define FFGRAD_ERROR_SIGNATURE 4

// Shapes contradict each other or the signature.
#define FFGRAD_ERROR_SHAPE 5

// An array has another element type than its parameter.
#define FFGRAD_ERROR_DTYPE 6

// An array is on a device that the function was not compiled for.
#define FFGRAD_ERROR_DEVICE 7

// Enzyme cannot differentiate the function, or its gradient was proven wrong.
#define FFGRAD_ERROR_DIFFERENTIATION 8

// The foreign function threw a C++ exception.
#define FFGRAD_ERROR_FOREIGN 9

// The cache folder cannot be used.
#define FFGRAD_ERROR_CACHE 10

// A defect of ffgrad itself; nothing was returned.
#define FFGRAD_ERROR_INTERNAL 11

// A pack is damaged, is for another machine, or lacks what is asked of it.
#define FFGRAD_ERROR_PACK 12

// The function of `ffgrad_on_interrupt` wanted the call to end. Nothing was returned, and the same call may be made again.
#define FFGRAD_ERROR_INTERRUPTED 13

// There is no memory for what a call works with.
#define FFGRAD_ERROR_MEMORY 14

// Results are added to the memory they go to; without it they replace what is there.
#define FFGRAD_ACCUMULATE 1

// A refusal. C holds it behind an opaque pointer.
typedef struct ffgrad_error ffgrad_error;

// An opened function; 0 is none.
typedef uint64_t ffgrad_function;

// Bytes copied by this process so far, by reason.
typedef struct ffgrad_copies {
  // Inputs that were not contiguous, and results for memory that is not.
  uint64_t gathered;
  // Arguments that the foreign code updates, and the arguments of checks.
  uint64_t in_place;
  // Cotangents and tangents that the derivative consumes.
  uint64_t cotangents;
} ffgrad_copies;

// An array of the caller's, borrowed for one call.
typedef struct ffgrad_array {
  // First element, aligned for its type; null where there are no elements. Inputs are never written to.
  void *data;
  // One of `FFGRAD_FLOAT32`...; `FFGRAD_NONE` stands for no array, and the rest is then ignored.
  int32_t dtype;
  // Number of dimensions; 0 for a scalar.
  int32_t ndim;
  // `ndim` dimensions; null where there are none.
  const int64_t *shape;
  // `ndim` distances between neighbours, in elements; null for a contiguous, row-major array.
  const int64_t *strides;
} ffgrad_array;

// The type and shape that a result will have.
typedef struct ffgrad_shape {
  // One of `FFGRAD_FLOAT32`...
  int32_t dtype;
  // Number of dimensions; 0 for a scalar.
  int32_t ndim;
  // The first `ndim` hold the dimensions, the others 0.
  int64_t dims[FFGRAD_MAX_DIMS];
} ffgrad_shape;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the ABI that this library has. A caller compares it with `FFGRAD_ABI_VERSION`.
uint32_t ffgrad_abi_version(void);

// ffgrad's version, for people. Lives as long as the library.
const char *ffgrad_version(void);

// Sets what is asked now and then while a call waits for a build: anything but 0 ends the call with
// `FFGRAD_ERROR_INTERRUPTED`, and the compilers that it has started. Null: nothing is asked, as at first.
//
// It is asked on the thread that made the call, must return (no exception, no `longjmp`), and must not call this library.
//
// # Safety
//
// `asked` may be called on every thread that calls this library, until another takes its place and all calls that
// were running then have ended.
void ffgrad_on_interrupt(int32_t (*asked)(void));

// Opens a function: from the cache, else by compiling.
//
// `spec` is a JSON object in UTF-8: `{"sources": ["mv.c"], "function": "matvec", "signature": "A[m,n], x[n] -> y[m]",
// "options": {}}`; the last two may be left out. `*function` becomes a handle, 0 on failure.
//
// # Safety
//
// `spec` is a C string; `function` can be written to; `error` is null or can be written to.
int32_t ffgrad_open(const char *spec, ffgrad_function *function, struct ffgrad_error **error);

// Closes a function. A call that is running ends first; the handle is never given again.
//
// # Safety
//
// `error` is null or can be written to.
int32_t ffgrad_close(ffgrad_function function, struct ffgrad_error **error);

// Describes a function: `*json` becomes a JSON object, to be freed with `ffgrad_free_text`.
//
// # Safety
//
// `json` can be written to; `error` is null or can be written to.
int32_t ffgrad_describe(ffgrad_function function, char **json, struct ffgrad_error **error);

// Takes the warnings that arose since the last call of this: `*json` becomes a JSON array of texts, to be freed
// with `ffgrad_free_text`, or null where there are none. Costs next to nothing then.
//
// # Safety
//
// As `ffgrad_describe`.
int32_t ffgrad_take_warnings(ffgrad_function function, char **json, struct ffgrad_error **error);

// What the last reverse sweep of a loop over steps, or of a checkpointed loop inside the function, did: `*json` becomes a JSON object with
// `steps`, `snapshots`, `on_disk`, `disk_bytes`, `forward`, `recomputed`, `state_bytes`, `peak_bytes` and `seconds`, to be
// freed with `ffgrad_free_text`, or null before the first one.
//
// # Safety
//
// As `ffgrad_describe`.
int32_t ffgrad_checkpointing(ffgrad_function function,
                             char **json,
                             struct ffgrad_error **error);

// Bytes copied by this process so far.
//
// # Safety
//
// `copies` can be written to.
int32_t ffgrad_copied(struct ffgrad_copies *copies);

// The message of an error: what happened, where, and what to do next. Lives as long as the error.
//
// # Safety
//
// `error` is null or from a function of this library, and not freed.
const char *ffgrad_error_message(const struct ffgrad_error *error);

// The same for programs: a JSON object with `kind`, `code` and, where they apply, `function`, `file`, `line`,
// `expected`, `found`, `hints`, `output`, `kept`, `argument`, `problems`, `prototype`, `suggestion`. Lives as long as the error.
//
// # Safety
//
// As `ffgrad_error_message`.
const char *ffgrad_error_details(const struct ffgrad_error *error);

// Frees an error; null is nothing.
//
// # Safety
//
// As `ffgrad_error_message`; the error is not used again.
void ffgrad_error_free(struct ffgrad_error *error);

// Frees a text that a function of this library gave; null is nothing.
//
// # Safety
//
// The text is not used again.
void ffgrad_free_text(char *text);

// The types and shapes that the outputs of a call with these inputs have; the data of the inputs is not read.
//
// # Safety
//
// `inputs` has `input_count` arrays, `outputs` room for `output_count` shapes; `error` is null or can be written to.
int32_t ffgrad_output_shapes(ffgrad_function function,
                             const struct ffgrad_array *inputs,
                             size_t input_count,
                             struct ffgrad_shape *outputs,
                             size_t output_count,
                             struct ffgrad_error **error);

// The values of the parameters that are sizes, in a call with these inputs: `sizes` has a place for each entry of the
// description's `parameters`; those that are no size get 0. The data of the inputs is not read.
//
// # Safety
//
// As `ffgrad_output_shapes`.
int32_t ffgrad_sizes(ffgrad_function function,
                     const struct ffgrad_array *inputs,
                     size_t input_count,
                     int64_t *sizes,
                     size_t size_count,
                     struct ffgrad_error **error);

// Computes the function: its values are written to `outputs`, in the order of the description's outputs.
// `FFGRAD_NONE` stands for an output that is not wanted.
//
// Bit i of `expected`: a gradient for input i will be requested; it is built and verified now, so that a
// function without one is refused before time is spent on it. 0 is always right.
//
// # Safety
//
// As `ffgrad_output_shapes`; the outputs have memory for the shapes that it returns.
int32_t ffgrad_call(ffgrad_function function,
                    const struct ffgrad_array *inputs,
                    size_t input_count,
                    uint64_t expected,
                    const struct ffgrad_array *outputs,
                    size_t output_count,
                    struct ffgrad_error **error);

// Vector-Jacobian product: the transposed Jacobian applied to the cotangents of the outputs. Gradients go to
// `gradients`, one place an input; they are written, or added with `FFGRAD_ACCUMULATE` in `flags`. `FFGRAD_NONE` among
// the cotangents is zero, among the gradients one that is not wanted. Nothing else is changed.
//
// # Safety
//
// As `ffgrad_call`; `cotangents` has an array an output, `gradients` one an input.
int32_t ffgrad_vjp(ffgrad_function function,
                   const struct ffgrad_array *inputs,
                   size_t input_count,
                   const struct ffgrad_array *cotangents,
                   size_t cotangent_count,
                   const struct ffgrad_array *gradients,
                   size_t gradient_count,
                   uint32_t flags,
                   struct ffgrad_error **error);

// Jacobian-vector product: the Jacobian applied to the tangents of the inputs. The outputs' tangents go to `results`,
// one place an output; they are written, or added with `FFGRAD_ACCUMULATE` in `flags`. `FFGRAD_NONE` among the tangents
// is zero, among the results one that is not wanted.
//
// # Safety
//
// As `ffgrad_call`; `tangents` has an array an input, `results` one an output.
int32_t ffgrad_jvp(ffgrad_function function,
                   const struct ffgrad_array *inputs,
                   size_t input_count,
                   const struct ffgrad_array *tangents,
                   size_t tangent_count,
                   const struct ffgrad_array *results,
                   size_t result_count,
                   uint32_t flags,
                   struct ffgrad_error **error);

// Hessian-vector product: the change of what `ffgrad_vjp` computes, with these cotangents held fixed, along the
// tangents of the inputs. Results go to `results`, one place an input, as in `ffgrad_vjp`.
//
// # Safety
//
// As `ffgrad_vjp`; `tangents` has an array an input.
int32_t ffgrad_hvp(ffgrad_function function,
                   const struct ffgrad_array *inputs,
                   size_t input_count,
                   const struct ffgrad_array *cotangents,
                   size_t cotangent_count,
                   const struct ffgrad_array *tangents,
                   size_t tangent_count,
                   const struct ffgrad_array *results,
                   size_t result_count,
                   uint32_t flags,
                   struct ffgrad_error **error);

// The types and shapes that the outputs of a call with these inputs have; the data of the inputs is not read.
//
// # Safety
//
// `inputs` has `input_count` arrays, `outputs` room for `output_count` shapes; `error` is null or can be written to.
int32_t ffgrad_output_shapes(ffgrad_function function,
                             const struct ffgrad_array *inputs,
                             size_t input_count,
                             struct ffgrad_shape *outputs,
                             size_t output_count,
                             struct ffgrad_error **error);

// The values of the parameters that are sizes, in a call with these inputs: `sizes` has a place for each entry of the
// description's `parameters`; those that are no size get 0. The data of the inputs is not read.
//
// # Safety
//
// As `ffgrad_output_shapes`.
int32_t ffgrad_sizes(ffgrad_function function,
                     const struct ffgrad_array *inputs,
                     size_t input_count,
                     int64_t *sizes,
                     size_t size_count,
                     struct ffgrad_error **error);

// Computes the function: its values are written to `outputs`, in the order of the description's outputs.
// `FFGRAD_NONE` stands for an output that is not wanted.
//
// Bit i of `expected`: a gradient for input i will be requested; it is built and verified now, so that a
// function without one is refused before time is spent on it. 0 is always right.
//
// # Safety
//
// As `ffgrad_output_shapes`; the outputs have memory for the shapes that it returns.
int32_t ffgrad_call(ffgrad_function function,
                    const struct ffgrad_array *inputs,
                    size_t input_count,
                    uint64_t expected,
                    const struct ffgrad_array *outputs,
                    size_t output_count,
                    struct ffgrad_error **error);

// Vector-Jacobian product: the transposed Jacobian applied to the cotangents of the outputs. Gradients go to
// `gradients`, one place an input; they are written, or added with `FFGRAD_ACCUMULATE` in `flags`. `FFGRAD_NONE` among
// the cotangents is zero, among the gradients one that is not wanted. Nothing else is changed.
//
// # Safety
//
// As `ffgrad_call`; `cotangents` has an array an output, `gradients` one an input.
int32_t ffgrad_vjp(ffgrad_function function,
                   const struct ffgrad_array *inputs,
                   size_t input_count,
                   const struct ffgrad_array *cotangents,
                   size_t cotangent_count,
                   const struct ffgrad_array *gradients,
                   size_t gradient_count,
                   uint32_t flags,
                   struct ffgrad_error **error);

// Jacobian-vector product: the Jacobian applied to the tangents of the inputs. The outputs' tangents go to `results`,
// one place an output; they are written, or added with `FFGRAD_ACCUMULATE` in `flags`. `FFGRAD_NONE` among the tangents
// is zero, among the results one that is not wanted.
//
// # Safety
//
// As `ffgrad_call`; `tangents` has an array an input, `results` one an output.
int32_t ffgrad_jvp(ffgrad_function function,
                   const struct ffgrad_array *inputs,
                   size_t input_count,
                   const struct ffgrad_array *tangents,
                   size_t tangent_count,
                   const struct ffgrad_array *results,
                   size_t result_count,
                   uint32_t flags,
                   struct ffgrad_error **error);

// Hessian-vector product: the change of what `ffgrad_vjp` computes, with these cotangents held fixed, along the
// tangents of the inputs. Results go to `results`, one place an input, as in `ffgrad_vjp`.
//
// # Safety
//
// As `ffgrad_vjp`; `tangents` has an array an input.
int32_t ffgrad_hvp(ffgrad_function function,
                   const struct ffgrad_array *inputs,
                   size_t input_count,
                   const struct ffgrad_array *cotangents,
                   size_t cotangent_count,
                   const struct ffgrad_array *tangents,
                   size_t tangent_count,
                   const struct ffgrad_array *results,
                   size_t result_count,
                   uint32_t flags,
                   struct ffgrad_error **error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FFGRAD_H */

"""Sources as applications have them: what only the host runs never stops a kernel, and what a kernel uses is never left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from ffgrad.errors import CompileError
from ffgrad.torch import enzyme
from torch.autograd import gradcheck

APPLICATION = r"""
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <iostream>
#include <thrust/device_vector.h>
#include <vector>
#include "helper_cuda.h"
#include "helper_timer.h"

#define BLOCK 16

struct double3 { double x, y, z; };
namespace setup {
struct Options { int device; cudaDeviceProp prop; bool verbose(int n) const { return n > device; } };
}
thrust::device_vector<float> everything;
static StopWatchInterface *timer = NULL;

__device__ inline double length(double3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

__global__ void unused(cudaTextureObject_t t, float *y) { y[0] = tex1D<float>(t, 0.5f); }

__global__ void norms(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(n > 0);
  if (i < min(n, gridDim.x * blockDim.x)) {
    double3 v = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
    y[i] = length(v);
    if (n < 0) printf("row %d\n", i);
  }
}

template <class T> void report(const std::vector<T> &values) {
  std::cout << "[" << values.size() << "]\n"; // }
  for (auto &v : values) undeclared(v);
}

int main(int argc, char **argv)
{
  cudaDeviceProp prop;
  checkCudaErrors(cudaGetDeviceProperties(&prop, findCudaDevice(argc, (const char **)argv)));
  cudaFuncSetCacheConfig(norms, cudaFuncCachePreferL1);
#ifdef TIMED
  if (argc > 1) {
#else
  if (argc > 2) {
#endif
    sdkCreateTimer(&timer);
  }
  double *x, *y;
  cudaMalloc(&x, 1 << 20);
  norms<<<1, BLOCK>>>(x, y, 16);
  report(std::vector<double>(3));
  thrust::sort(everything.begin(), everything.end());
  std::string text = R"(a brace: {)";
}
"""


def test_host_code_headers_and_other_kernels_of_an_application_do_not_matter(tmp_path: Path) -> None:
    """Neither headers that are not here, nor NVIDIA's API, nor a structure that the header has too."""
    source = tmp_path / "app.cu"
    source.write_text(APPLICATION)
    f = enzyme(source, "norms", "x[n,3] -> y[n]", grid="(n+15)//16", block=16)
    x = torch.randn(5, 3, dtype=torch.double, requires_grad=True)
    assert torch.allclose(f(x), x.norm(dim=1))
    f(x).sum().backward()
    assert torch.allclose(x.grad, x.detach() / x.detach().norm(dim=1, keepdim=True))
    assert gradcheck(f, (x,))


def test_an_error_in_a_header_of_the_source_is_the_hosts_too(tmp_path: Path) -> None:
    """What is left out may stand in any file but those of the system."""
    (tmp_path / "io.h").write_text("#pragma once\ninline void save(cudaArray_t a) { write(a); }\n#define SCALE 3\n")
    source = tmp_path / "k.cu"
    source.write_text('#include "io.h"\n__global__ void k(const double *x, double *y) { y[0] = SCALE * x[0]; }\n')
    y = enzyme(source, "k", "x[1] -> y[1]", grid=1, block=1)(torch.ones(1, dtype=torch.double))
    assert y.item() == 3


@pytest.mark.parametrize(
    ("code", "words", "line"),
    [
        # In the kernel itself.
        ("__global__ void k(const double *x, double *y) {\n  y[0] = x[0] + missing;\n}", "'missing'", 2),
        # In what it calls, also through others.
        (
            "__device__ double f(double x) {\n  return x * missing;\n}\n__device__ double g(double x) { return f(x); }\n"
            "__global__ void k(const double *x, double *y) { y[0] = g(x[0]); }",
            "'missing'",
            2,
        ),
        (
            "template <class T> __device__ T f(T x) {\n  return x * missing;\n}\n"
            "__global__ void k(const double *x, double *y) { y[0] = f(x[0]); }",
            "'missing'",
            2,
        ),
        (
            "struct V {\n  double x;\n};\n__device__ V operator+(V a, V b) {\n  return missing;\n}\n"
            "__global__ void k(const double *x, double *y) { y[0] = (V{x[0]} + V{x[1]}).x; }",
            "'missing'",
            5,
        ),
        # Another function of the same name would be called.
        (
            "__device__ double f(double x) { return x; }\n__device__ double f(float x, Missing m = 0) { return 2 * x; }\n"
            "__global__ void k(const double *x, double *y) { y[0] = f((float)x[0]); }",
            "'Missing'",
            2,
        ),
        # A variable that only the host could make.
        (
            "static const double scale = compute();\n"
            "__global__ void k(const double *x, double *y) { y[0] = scale * x[0]; }",
            "'scale'",
            2,
        ),
        # A specialisation, without which the general one would be taken.
        (
            "template <class T> struct S { static const int v = 1; };\n"
            "template <> struct S<double> { static const int v = 2; Missing m; };\n"
            "__global__ void k(const double *x, double *y) { y[0] = S<double>::v * x[0]; }",
            "'Missing'",
            2,
        ),
    ],
)
def test_what_the_kernel_uses_is_an_error_at_its_line(tmp_path: Path, code: str, words: str, line: int) -> None:
    """Leaving it out would change what the kernel computes, or make it fail somewhere else."""
    source = tmp_path / "k.cu"
    source.write_text(code + "\n")
    with pytest.raises(CompileError, match=re.escape(words)) as error:
        enzyme(source, "k", "x[2] -> y[1]", grid=1, block=1)
    assert error.value.line == line


def test_a_header_of_the_users_own_that_is_missing_is_an_error(tmp_path: Path) -> None:
    """It may define what a kernel depends on without naming it: a macro, for instance."""
    source = tmp_path / "k.cu"
    source.write_text('#include "config.h"\n__global__ void k(const double *x, double *y) { y[0] = x[0]; }\n')
    with pytest.raises(CompileError, match=re.escape("'config.h' file not found")) as error:
        enzyme(source, "k", "x[1] -> y[1]", grid=1, block=1)
    assert error.value.code == "missing-header"


def test_constants_and_counters_of_cuda_are_known(tmp_path: Path) -> None:
    """``math_constants.h``, and a counter that wraps."""
    source = tmp_path / "k.cu"
    source.write_text(
        """#include <math_constants.h>
        #include <time.h>
        extern "C" { void resize(cudaExtent size); }
        __global__ void k(const double *x, double *y, int n) {
          __shared__ unsigned count;
          if (threadIdx.x == 0) count = 0;
          __syncthreads();
          unsigned at = atomicInc(&count, 2);
          clock_t begin = clock();
          y[threadIdx.x] = CUDART_PI * x[threadIdx.x] * (at + 1) + (clock() - begin);
        }"""
    )
    y = enzyme(source, "k", "x[n] -> y[n]", grid=1, block="n")(torch.ones(5, dtype=torch.double))
    assert torch.allclose(y / torch.pi, torch.tensor([1.0, 2.0, 3.0, 1.0, 2.0], dtype=torch.double))

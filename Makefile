# One verb per chore, the same for a person and for CI. Each verb sets up what it needs and changes nothing that is set up.

SHELL := /bin/bash
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
PYTHON_BIN := .venv/bin

.PHONY: try docs env-docs gallery matrix release env-numpy tools-numpy env-release test-wheel notices demo-fortran help test-cuda bench-cuda gpu env env-tf env-jax tools build demo test test-rust test-torch test-numpy test-system test-fortran test-tf test-jax test-julia test-real lint fmt bench torture fuzz tsan \
	bench-tf bench-jax bench-julia bench-parallel wheel clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

try: ## the gradient of a C function in NumPy: no PyTorch, two minutes on a machine without anything
	@$(MAKE) $(if $(findstring jobserver,$(MAKEFLAGS)),,-j2) env-numpy tools-numpy
	@.venv-numpy/bin/python examples/quickstart_numpy.py

demo: build ## the gradient of a C function, and a C++ mixture model fitted to real data
	@$(PYTHON_BIN)/python examples/quickstart.py
	@MPLBACKEND=Agg $(PYTHON_BIN)/python examples/gmm/fit_wine.py

demo-fortran: build ## a Fortran 90 model calibrated from PyTorch, with a plot
	@"$$(. scripts/lib.sh && echo $$BIN)/ffgrad" toolchain install fortran >/dev/null
	@MPLBACKEND=Agg $(PYTHON_BIN)/python examples/fortran/calibrate.py

# The longest first; two at a time, because each mostly waits for one compiler process. A part's output appears when it ends.
PARTS := torch jax real numpy system julia tf rust fortran cuda

test: build env-tf env-jax ## every test, two parts at a time; goes on after a part that fails, and make names all that failed
	@rm -rf target/test-cache/shared
	@FFGRAD_TEST_CACHE=$(CURDIR)/target/test-cache/shared \
		$(MAKE) --jobs=2 --keep-going --output-sync=target $(addprefix part-,$(PARTS))

# Without the prerequisites of test-PART, which `test` has built: parts that wait for `build` would start after the short ones.
part-%:
	@scripts/test.sh $*

test-rust: tools ## the tests of the crates (ARGS="..." goes to cargo test)
	@scripts/test.sh rust $(ARGS)

test-torch: build ## the tests of the PyTorch front end (ARGS="..." goes to pytest)
	@scripts/test.sh torch $(ARGS)

test-numpy: build ## the tests of the NumPy front end (ARGS="..." goes to pytest)
	@scripts/test.sh numpy $(ARGS)

test-system: build ## cache, command line, processes, faults, documents (ARGS="..." goes to pytest)
	@scripts/test.sh system $(ARGS)

test-cuda: build ## CUDA kernels: PTX, and on a GPU where there is one (ARGS="..." goes to pytest)
	@scripts/test.sh cuda $(ARGS)

gpu: ## all that needs a GPU: tests, example, benchmark, with a report in benches/results (ARGS=pack: the kit for a machine without a compiler)
	@scripts/gpu.sh $(ARGS)

bench-cuda: build ## CUDA kernels: gradient over primal on a GPU (ARGS="--device cpu" on the CPU)
	@$(PYTHON_BIN)/python benches/cuda_kernels.py $(ARGS)

test-fortran: build ## Fortran programs in PyTorch, with flang 22 from Debian's packages (ARGS="..." goes to pytest)
	@scripts/test.sh fortran $(ARGS)

test-tf: env-tf tools ## the tests of the TensorFlow front end (ARGS="..." goes to pytest)
	@scripts/test.sh tf $(ARGS)

test-jax: env-jax tools ## the tests of the JAX front end (ARGS="..." goes to pytest)
	@scripts/test.sh jax $(ARGS)

test-julia: build ## the tests of FFGrad.jl, with Julia 1.5.3 from Debian's packages where there is none
	@scripts/test.sh julia $(ARGS)

test-real: build ## C++ programs that use Eigen, Boost, GSL, FFTW, xtensor, fmt, .. (ARGS="..." goes to pytest)
	@scripts/test.sh real $(ARGS)

torture: build ## faults, races, malformed inputs, generated programs (ARGS="--long" for hours of it)
	@$(PYTHON_BIN)/python tests/torture/run.py $(ARGS)

tsan: tools ## the driver's threads under ThreadSanitizer, with a nightly compiler and its rust-src
	@scripts/tsan.sh $(ARGS)

fuzz: ## fuzz targets for 60 s each, with a nightly compiler (ARGS="600 signature" for ten minutes of one)
	@scripts/fuzz.sh $(ARGS)

lint: build ## formatting, clippy, ruff, mypy
	@scripts/lint.sh

fmt: env ## format every source
	@cargo fmt --all
	@$(PYTHON_BIN)/ruff check --quiet --select I --fix .
	@$(PYTHON_BIN)/ruff format .

bench-tf: env-tf tools ## what a call costs in TensorFlow (part of bench)
	@.venv-tf/bin/python benches/tf_overhead.py $(ARGS)

bench-jax: env-jax tools ## what a call costs in JAX (part of bench)
	@scripts/bench_jax.sh $(ARGS)

bench: build ## the benchmark and the figures of the README (ARGS="--quick" for a rough one)
	@scripts/bench.sh $(ARGS)
	@$(PYTHON_BIN)/python benches/torch_paths.py $(filter --quick,$(ARGS))
	@$(PYTHON_BIN)/python benches/numpy_paths.py $(filter --quick,$(ARGS))
	@$(PYTHON_BIN)/python benches/tape.py
	@$(PYTHON_BIN)/python benches/checkpointing.py $(filter --quick,$(ARGS))
	@$(MAKE) bench-tf ARGS=
	@$(MAKE) bench-jax ARGS=
	@$(MAKE) bench-julia ARGS=
	@$(MAKE) bench-parallel ARGS=

bench-parallel: build ## how gradients of OpenMP and MPI programs scale, in C and Fortran (part of bench)
	@scripts/openmp.sh
	@$(PYTHON_BIN)/python benches/openmp.py $(ARGS)
	@scripts/bench_mpi.sh

bench-julia: tools ## the cost of a call from Julia, beside a raw ccall (part of bench)
	@"$$(scripts/julia.sh)" --startup-file=no --project=julia benches/julia_overhead.jl $(ARGS)

build: ## env and tools, side by side
	@$(MAKE) $(if $(findstring jobserver,$(MAKEFLAGS)),,-j2) env tools

env: ## the Python environment (about 6 GB, shared by all clones of a user) and .venv
	@scripts/env.sh

env-tf: ## the same for TensorFlow (about 1.6 GB) and .venv-tf
	@scripts/env.sh tf

env-jax: ## the same for JAX (about 0.6 GB) and .venv-jax
	@scripts/env.sh jax

env-numpy: ## NumPy alone, for `make try`, and .venv-numpy
	@scripts/env.sh numpy

matrix: wheel ## the wheel with the oldest and newest release of each framework, table in docs/reference/matrix.md (ARGS="numpy jax" for some)
	@.venv-release/bin/python scripts/matrix.py $(ARGS)

release: env-release tools ## sdist, wheel, C ABI, FFGrad.jl and checksums in target/release-VERSION, tried in clean environments
	@.venv-release/bin/python scripts/release.py

env-release: ## zig, maturin and what checks a wheel, and .venv-release
	@scripts/env.sh release

docs: env-docs ## the site, in target/docs, with the Rust crates; every warning and every broken link inside it is an error
	@scripts/docs.sh

gallery: build env-jax env-tf ## runs the examples and keeps their pictures in docs/gallery (ARGS="robot_arm" for some)
	@$(PYTHON_BIN)/python scripts/gallery.py $(ARGS)

env-docs: ## Sphinx and its theme, and .venv-docs
	@scripts/env.sh docs

notices: ## py/THIRD-PARTY.txt, the licences of what is linked in, from Cargo.lock
	@$(PYTHON_BIN)/python scripts/notices.py

tools-numpy: ## of what cargo builds only what `make try` needs
	@scripts/tools.sh numpy

tools: ## all that cargo builds, and the compilers it drives
	@scripts/tools.sh

wheel: env-release tools ## the Python package as a wheel for every Linux with glibc 2.28, in target/wheels
	@.venv-release/bin/python scripts/build_wheel.py

test-wheel: wheel ## the wheel in empty environments, one a Python that the machine has (ARGS="..." goes to pytest)
	@scripts/test.sh wheel $(ARGS)

clean: ## remove what was built here; shared environments, tools and caches stay
	rm -rf target .venv .venv-tf .venv-jax .venv-numpy .venv-release .venv-docs py/python/ffgrad/bin py/python/ffgrad/_native*.so examples/out .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

"""What each program of ``cases.toml`` beside this file computes, written again in NumPy; see ``../reference.py``."""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray


def saxpy_like(a: Array, x: Array, b: Array, y: Array) -> Array:
    return a * x + b * np.square(y)


def module_constants(length: Array, amplitude: Array) -> Array:
    series = np.polynomial.polynomial.polyval(amplitude, [1, 0, 1 / 16, 0, 11 / 3072])
    return 2 * 3.14159265358979 * np.sqrt(length / 9.81) * series


def assumed_shape(u: Array, w: Array) -> Array:
    v = u.copy()
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            v[i, j] = w @ [u[i, j], u[i - 1, j] + u[i + 1, j], u[i, j - 1] * u[i, j + 1]]
    return v


def bind_c(t: Array, amplitude: Array, rate: Array, squared: Array) -> Array:
    return (amplitude * np.exp(-rate * t)) ** (2 if squared else 1)


def array_functions(a: Array, x: Array, b: Array) -> Array:
    r = a @ x - b
    return 0.5 * r @ r + (r @ a) @ x / len(x) + np.linalg.norm(a) ** 2 + np.prod(1 + 0.1 * x) + b.max() - x.min()


def column_major(a: Array, angle: Array) -> Array:
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return np.vstack([rotation @ a[:2], a[2] ** 2 * np.arange(1, a.shape[1] + 1)])


def optional_arguments(x: Array, offset: Array) -> Array:
    return np.square(x) + offset


def array_result(x: Array) -> Array:
    y = x**3
    y[0] = x[0]
    weights = 0.5 ** np.maximum(0, np.subtract.outer(np.arange(len(x)), np.arange(len(x))))
    return np.tril(weights) @ y


def single_precision(x: Array, k: Array) -> Array:
    return (0.5 ** (k + 1) * x.astype(np.float64) ** 2).astype(np.float32)


def allocatable(x: Array) -> Array:
    a = 2 * x
    b = a[:2].sum()
    for _ in range(3):
        a = a + 8 * x * b
    return a * 4 * x


def matmul_transpose(a: Array, b: Array) -> Array:
    t = a @ b
    return t * t.sum() + t


def reductions(x: Array) -> Array:
    column, flat = x.sum(axis=0), x.ravel(order="F")
    return np.array(
        [
            x[x > 0].sum() + (x > 0).sum(),
            column @ np.roll(column, -1),
            column.max() * flat.min() + np.prod(1 + flat**2),
            (np.where(x > 0, x, -2 * x) ** 2).sum(),
        ]
    )


def sections(x: Array) -> Array:
    y = x[:, 1] * x[0, 1]
    y[0] += x[1] @ x[1]
    return y


def targets(x: Array) -> Array:
    t = x**2
    t[:2] *= 3
    return t @ x + t[:2].sum()


def recursion(x: Array) -> Array:
    if len(x) == 1:
        return np.sin(x[0])
    half = len(x) // 2
    return recursion(x[:half]) * recursion(x[half:]) + x[0]


def generic_interface(x: Array) -> Array:
    return np.sum(np.logaddexp(0, x) ** 3) + x[0] ** 2


def callback(a: Array, b: Array, p: Array) -> Array:
    x = np.linspace(a, b, 21)
    weights = np.array([1] + [4, 2] * 9 + [4, 1])
    return np.sum(weights * np.exp(-p * x) * np.cos(x)) * (b - a) / 60


def internal_procedure(x: Array) -> Array:
    return (x[0] + np.concatenate([[0], np.cumsum(x**2)[:-1]])) * x


def derived_type(m: Array, q: Array) -> Array:
    return m[0] * m[1] / np.sqrt(np.sum((q[:, 0] - q[:, 1]) ** 2) + 0.01)


def do_concurrent(x: Array) -> Array:
    padded = np.pad(x, 1)
    z = (padded[:-2] + padded[2:]) * x
    return np.where(z > 0, z**2, -z)


def complex_quotients(resistance: Array, reactance: Array) -> Array:
    admittance, fraction = 0j, 1 + 0.5j
    for r, x in zip(resistance, reactance, strict=True):
        admittance += 1 / (r + 1j * x)
        fraction = (r - 2j * x) / (fraction + 1j * r)
    return np.array([(1 / admittance).real / abs(admittance), abs(fraction) ** 2])


def complex_powers(x: Array, y: Array) -> Array:
    z = x + 1j * (y + 2)
    n = len(x)
    total = sum(np.sum(z ** float(k)) / (k * k + 1) for k in range(-2, n + 1)) + 0.1 * np.sum(z**n)
    return np.array([total.real, total.imag])


def complex_single(resistance: Array, reactance: Array) -> Array:
    feedback = resistance - 1j * reactance
    output = (2 + 0.5j) / (feedback + (1 + 0.25j) / feedback)
    return np.stack([output.real, output.imag]).astype(np.float32)


def checkpointed_orbits(place: Array, steps: Array) -> Array:
    z = place[0] + 1j * place[1]
    for _ in range(int(steps)):
        z = z / (1 + 0.1 * np.abs(z)) + 0.05 * np.exp(-z)
    return np.abs(z)


def complex_inside(r: Array, l: Array, omega: Array) -> Array:  # noqa: E741
    branch = r + 1j * omega * l
    return np.abs(1 / (1 / branch + 0.1 + 1j * omega) + np.conj(branch) ** 2) ** 2


def printing(x: Array) -> Array:
    return np.exp(0.3 * x) * np.arange(1, len(x) + 1)


def two_files(u: Array, rate: Array) -> Array:
    for _ in range(5):
        change = (u[:-2] - 2 * u[1:-1] + u[2:]) / 0.1**2
        u = np.concatenate([u[:1], u[1:-1] + rate * 1e-3 * change * u[1:-1], u[-1:]])
    return u


def legacy_column(c: Array, t: Array, u: Array, d: Array, rate: Array, nstep: int) -> Array:
    n = len(c)
    dx = 1 / n
    dt = 0.2 * dx
    table = np.array([0.0, 0.8, 1.1, 1.6, 4.0]), np.array([0.0, 0.05, 0.2, 0.5, 3.0])

    def advected(q: Array) -> Array:
        # All velocities are positive.
        face = np.concatenate([[u[0] * 0.9 * q[0]], 0.5 * (u[:-1] + u[1:]) * q[:-1], [u[-1] * q[-1]]])
        return q - dt / dx * np.diff(face)

    def diffused(q: Array, d: float) -> Array:
        r = d * dt / dx**2
        matrix = (1 + 2 * r) * np.eye(n) - r * np.eye(n, k=1) - r * np.eye(n, k=-1)
        matrix[0, 0] = matrix[-1, -1] = 1 + r
        return np.linalg.solve(matrix, q)

    def slope(y: Array) -> Array:
        k = rate * np.exp(6.0 * (1 - 1 / y[1]))
        return np.array([-k * y[0], 0.4 * k * y[0]])

    outlet = []
    for _ in range(nstep):
        c, t = diffused(advected(c), d), diffused(advected(t), 1.5 * d)
        y = np.array([c, t])
        k1 = slope(y)
        k2 = slope(y + dt / 2 * k1)
        k3 = slope(y + dt / 2 * k2)
        k4 = slope(y + dt * k3)
        c, t = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t = t - dt * np.interp(t, *table)
        outlet.append((c[-1], t[-1]))
    means = np.mean(outlet, axis=0)
    return np.array([*means, c.sum() * dx, np.sum(np.diff(t) ** 2) / dx])


def blas_ridge(a: Array, b: Array, lam: Array) -> tuple[Array, Array]:
    x = np.linalg.solve(a.T @ a + lam * np.eye(a.shape[1]), a.T @ b)
    r = a @ x - b
    return x, 0.5 * r @ r + lam * np.linalg.norm(x)


def lapack_implicit(y: Array, h: Array, nstep: int) -> Array:
    n = len(y)
    for _ in range(nstep):
        old = y.copy()
        for _ in range(3):
            r = -(y - old - h * (np.roll(y, -1) - y**3))
            y = y + np.linalg.solve(np.diag(1 + 3 * h * y**2) - h * np.roll(np.eye(n), 1, axis=1), r)
    return y


def openmp_map(x: Array) -> Array:
    return np.exp(-(x**2)) * np.sin(0.5 * np.arange(1, len(x) + 1) * x)


def openmp_reductions(x: Array) -> tuple[Array, Array, Array]:
    return np.sum(x**2), np.prod(1 + 0.1 * x), np.max(x * np.cos(x))


def openmp_array_reduction(x: Array, w: Array, m: int) -> Array:
    density = np.zeros(m)
    cell = (x * (m - 1)).astype(int)
    part = x * (m - 1) - cell
    np.add.at(density, cell, (1 - part) * w)
    np.add.at(density, cell + 1, part * w)
    return density


def openmp_first_last(x: Array) -> tuple[Array, Array]:
    table = np.array([1, x[-1], 3])
    t = x[0] * x[1] * x**2 + table[np.arange(1, len(x) + 1) % 3]
    return t * x, t[-1]


def openmp_schedules(x: Array) -> Array:
    total = np.sum(x**3) - 0.5 * np.sum(x[::-1][::2] ** 2)
    for i, v in enumerate(x):
        for _ in range(i + 1):
            v = v + 0.1 * np.sin(v)
        total += v
    return total


def openmp_atomic(q: Array, start: Array, end: Array, stiffness: Array) -> Array:
    pull = stiffness * (q[end - 1] - q[start - 1]) ** 3
    f = np.zeros_like(q)
    np.add.at(f, start - 1, pull)
    np.subtract.at(f, end - 1, pull)
    return f


def openmp_critical(x: Array) -> tuple[Array, Array]:
    return np.mean(x), np.std(x)


def openmp_time_loop(u: Array, dt: Array, steps: int) -> Array:
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += dt * (u[:-2] - 2 * u[1:-1] + u[2:]) * (1 + u[1:-1] ** 2)
        u[0], u[-1] = u[1], 0.9 * u[-2]
    return u


def openmp_collapse(a: Array, b: Array) -> Array:
    return np.tanh(a @ b)


def openmp_by_hand(x: Array) -> Array:
    return x / (1 + x**2)


def openmp_sections(x: Array) -> Array:
    return np.sum(x**2) * x + x[0] * x[-1]


def openmp_calls(c: Array, source: Array) -> Array:
    for _ in range(4):
        c = c + 0.1 * np.array([source - c[0], c[0] - c[1] * c[2], 0.5 * c[1] - c[2]])
    return c


def openmp_tasks(x: Array) -> Array:
    half = len(x) // 2
    return np.sum(np.sin(x[:half])) * np.sum(x[half:] ** 2)


def passed_internal(a: Array, b: Array, lo: Array, hi: Array) -> Array:
    x = lo + (hi - lo) / 8 * np.arange(9)
    weights = np.array([0.5] + [1.0] * 7 + [0.5]) * (hi - lo) / 8

    def curve(x: Array) -> Array:
        return np.exp(-a * x) * np.cos(b * x)

    return weights @ curve(x) - weights @ curve(x + a) / 2 + np.sum(x) / 100 * b


def machine_constants(x: Array) -> Array:
    return 0.5 * np.sqrt(1 + np.square(x))


def error_texts(x: Array) -> Array:
    return x * np.exp(-np.square(x))


def message_table(x: Array) -> Array:
    return np.exp(x) + np.exp(x / 2)


def misfit_callback(y0: Array, h: Array) -> Array:
    y = y0
    for step in range(4):
        y = y - h * np.square(y) * (1 + step * h)
    return y


def blas_from_source(a: Array, b: Array) -> Array:
    upper = np.triu(a)  # of the transpose: Fortran's columns are rows here
    x = np.linalg.solve(upper + np.triu(a, 1).T, b)
    turned = [np.cos(b[0]) * x[0] - np.sin(b[0]) * x[1], np.sin(b[0]) * x[0] + np.cos(b[0]) * x[1]]
    return np.array([*turned, *x[2:]])


def work_array(x: Array) -> Array:
    b = np.square(x)
    return x * b + np.tril(np.outer(x, x)) @ b


def cleared_rows(x: Array) -> Array:
    last, y = x[-1], []
    for number in x:
        y.append(last)
        last = number if number > 0 else last
    return np.array(y)


def hollerith_message(x: Array) -> Array:
    rate = 0.5 + 0.1 * x[0]
    return x * np.exp(-rate * x)


def status_sums(x: Array) -> Array:
    return np.cbrt(2 + x)


def output_as_variable(x: Array) -> Array:
    y = np.ones_like(x)
    for _ in range(60):
        y = y - (y + np.sin(y) - x) / (1 + np.cos(y))
    return y


def constructors(a: Array, b: Array, x: Array) -> Array:
    first = np.array([2 * a + b, a * b]) * np.array([np.sin(a), np.cos(b)])
    return np.concatenate([first, np.array([a, *x]) + np.array([b, *(np.square(x) * a)])])


def deferred_bindings(a: Array, b: Array, x: Array) -> Array:
    return (1 + a) * (a * np.square(x) + b)


def associate_block(x: Array) -> Array:
    t = x * x[0]
    return np.concatenate([[x[0] ** 2], (t * np.sin(t))[1:]])


def concurrent_mask(x: Array) -> Array:
    y = np.square(x) + x[::-1]
    return np.where(x > 0, y * x, y)


def pointer_arrays(x: Array) -> Array:
    w = 2 * x
    return np.sum(x[::2] ** 2) + np.sum(w) + w[::-1] @ x + np.square(w) @ x


def optional_results(a: Array, b: Array) -> Array:
    return np.square(a) * (1 + b)


def select_case(x: Array, k: Array) -> Array:
    y = np.select([k <= 0, (k == 1) | (k == 3), (k >= 4) & (k <= 7)], [x, np.square(x), np.sin(x)], 2 * x)
    return np.where(k > 3, y * x, y + x)


def elemental(x: Array, a: Array) -> Array:
    def soft(x: Array) -> Array:
        return np.log(1 + np.exp(a * x)) / a

    return soft(np.square(x)) * np.cos(x) + soft(x[::-1])


def recursive_function(x: Array) -> Array:
    first, second = x, x
    for _ in range(5):
        first, second = second, second + x * first
    return second


def negative_strides(x: Array) -> Array:
    y = x[::-1].copy()
    y[1:] *= x[:0:-1]
    y[::-2] *= x[::-2]
    y[:-1] = y[1:] + y[:-1]
    return y


def merge_where(x: Array) -> Array:
    t = np.where(x > 0, np.square(x), -x)
    y = np.select([t > 0.3, t > 0.1], [t * x, x + 1], np.sin(t))
    return np.where(x < 0, 2 * y, y)


def array_intrinsics(a: Array, x: Array) -> Array:
    n, m = a.shape
    b = a + x
    c = b.ravel(order="F")
    d = c.reshape(m, n)
    y = (b @ d) @ c[:n] + c[:m] @ d
    top = np.unravel_index(np.argmax(a.ravel(order="F")), (m, n))[::-1]
    y = y * x[np.argmin(x)] * a[top] + a.min(axis=1) + x.max() + a.sum(axis=1) * np.prod(x)
    shifted = np.concatenate([[0], y[:-1]])
    y = y + np.roll(y, -1) + shifted + np.linalg.norm(x) + x @ x * np.sum(x > 0) + np.sum(x[x > 0.1])
    return y + c[:n] + a.sum(axis=1)


def gotos(x: Array) -> Array:
    y = 0 * x[0]
    for i, v in enumerate(x, start=1):
        if v < 0:
            y = y + v * v
        elif v == 0:
            y = y + 1
        else:
            t = np.sqrt(v)
            y = [y + t, y * t, y + t * x[0]][i % 3]
    return y


def equivalence(x: Array) -> Array:
    w = np.concatenate([x[:3], np.square(x[:3])])
    w[1] *= 2
    return w * w[5]


def common_equivalence(x: Array) -> Array:
    return x[0] * np.sum(x) + x[1] ** 2 * np.sum(np.square(x)) + x[1] ** 2


def checkpointed_heat(start: Array, k: Array, steps: Array) -> tuple[Array, Array]:
    u, total = start, 0.0
    for _ in range(int(steps)):
        v = u.copy()
        v[1:-1] += 0.1 * k[1:-1] * (u[:-2] - 2 * u[1:-1] + u[2:]) + 0.05 * np.sin(u[1:-1])
        u = v
        total = total + u[1] ** 2
    return u, np.array(total)


def messages(level: Array, rate: Array, crest: Array) -> tuple[Array, Array]:
    # The message: "old weir: dry at " and one letter for each place up to the lowest.
    trouble = 17 + np.argmin(level) + 1 if level.min() < 0 else 0
    return rate * np.square(level - crest), np.array(trouble, dtype=np.int32)


def restarted_roots(c: Array) -> Array:
    def refine(c: Array, x: Array) -> tuple[Array, bool]:
        last = np.inf
        for i in range(30):
            f = c[0] + x * (c[1] + x * (c[2] + x * c[3]))
            d = c[1] + x * (2 * c[2] + x * 3 * c[3])
            if abs(d) < 1e-12:
                x = x + 0.5
                continue
            if abs(f) < 1e-13:
                return x, True
            if i >= 20 and abs(f) > last:
                return x, False
            last = abs(f)
            x = x - f / d
        return x, False

    roots = []
    for k in range(c.shape[1]):
        x = np.ones((), dtype=c.dtype)
        for tries in range(1, 6):
            x, done = refine(c[:, k], x)
            if done:
                break
            x = x - tries
        roots.append(x)
    return np.array(roots)


def running_means(x: Array) -> Array:
    n = len(x)

    def means(size: int, width: int, source: Array, target: Array) -> Array:
        windows = [np.sum(source[i : i + width]) / width for i in range(size - width + 1)]
        return np.concatenate([windows, target[len(windows) :]])

    w, v = x, x[::-1]
    w = means(n, 4, x, w)
    v = means(n - 3, 4, w, v)
    w = means(n - 6, 3, v, w)
    for _ in range(2):
        v = means(n - 8, 2, w, v)
        w = means(n - 9, 2, v, w)
    return w * v


def equivalenced_storage(x: Array) -> Array:
    return np.square(x) * (3 + 0.5 * np.arange(1, x.shape[-1] + 1))


def allocated_objects(x: Array) -> Array:
    stiffness = 2 + x[0]
    odd = stiffness * (x - 0.25)
    even = stiffness * 2 * x * 3 * x + 1.5
    first = np.arange(x.shape[-1]) % 2 == 0
    return np.where(first, odd, even) + np.square(x)


def interval_search(d: Array, v: Array, x: Array) -> Array:
    t = np.append(0, np.cumsum(d[1:]))
    k = np.clip(np.searchsorted(t, x, side="right") - 1, 0, len(t) - 2)
    s = (x - t[k]) / (t[k + 1] - t[k])
    return v[k] * (1 - s) + v[k + 1] * s * s


def numeric_inquiry(x: Array) -> Array:
    def erfc_scaled(z: float) -> float:
        # DLMF 7.9.3, the continued fraction, where the product overflows.
        if z < 20:
            return math.exp(z * z) * math.erfc(z)
        fraction = z
        for k in range(40, 0, -1):
            fraction = z + k / 2 / fraction
        return 1 / (math.sqrt(math.pi) * fraction)

    fraction, exponent = np.frexp(x)
    y = fraction * exponent + np.ldexp(fraction, 3) + x / 2
    y += [erfc_scaled(z) + erfc_scaled(30 * z) for z in x]
    y[1:] += fraction[1:] * 8 * x[0]
    return y


def copied_objects(x: Array) -> Array:
    first = x**2
    second = np.concatenate([3 * first[:1], first[1:]])
    conductivity = x[1] * x[0] + x[-1]
    others = np.concatenate([x[:1], x[:-1]])
    return 2 * (first * second + conductivity * x + x[0] * x[1] * others) + 14


def saved_tables(x: Array) -> Array:
    def scaled(x: Array) -> Array:
        i = np.arange(1, len(x) + 1)
        return x * (2 * np.sqrt(i) + np.sqrt(2 * i)) + np.sin(x) * np.sqrt(i)

    return (scaled(x) ** 2).sum() + scaled(x / 2)[0]


def chosen_solver(p: Array) -> Array:
    x = np.ones_like(p)
    for _ in range(40):
        x = x - (x - 0.4 * np.sin(x) - p) / (1 - 0.4 * np.cos(x))
    return x


def named_schemes(x: Array) -> Array:
    return x[0] * (1 - (x / (2 + x[1])) ** 2) ** 3 + x[0] / (1 + x)


def copied_shapes(x: Array) -> Array:
    polygon, circle = (x * x[0]) ** 2, 3 * x[0] * x**2
    return 3 * np.where(np.arange(1, len(x) + 1) % 2 == 0, circle, polygon)

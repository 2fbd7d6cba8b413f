"""What each program of ``cases.toml`` computes, written again in NumPy.

A reference takes the inputs positionally in ``.apply`` order and the ``sizes`` option as keywords; it returns one array, or a
tuple in the order of the signature's outputs. Where NumPy has another algorithm for the same number it is used, so that the two
do not share a mistake.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray


def classic(inp: Array) -> Array:
    return inp * np.sin(inp)


def default_two_inputs(x: Array, y: Array) -> Array:
    return x * y + x**2 - 0.5 * y


def default_in_place(u: Array) -> Array:
    return 3.2 * u * (1.0 - u)


def default_return(x: Array, lam: Array) -> Array:
    return np.sum((x - 1.0) ** 2) + lam * np.sum(x**2)


def nested_loops(x: Array) -> Array:
    return np.sin(x[:, None] - x[None, :]) @ (1.0 / (1.0 + np.arange(len(x))))


def while_agm(a: Array, b: Array) -> Array:
    for _ in range(10):
        a, b = 0.5 * (a + b), np.sqrt(a * b)
    return a


def do_while_series(x: Array) -> Array:
    return np.array([sum((-(v**2) / 4) ** k / math.factorial(k) ** 2 for k in range(25)) for v in x])


def goto_continue(a: Array) -> Array:
    x = np.full_like(a, 0.7)
    for k in range(6):
        for _ in range(7):
            x = x + 0.5 * 1.02**k * (np.cos(a * x) - x)
    return x


def recursion(x: Array) -> Array:
    if len(x) == 1:
        return np.sin(x[0])
    left, right = recursion(x[: len(x) // 2]), recursion(x[len(x) // 2 :])
    return left * right + 0.5 * (left + right)


def switch_kind(x: Array, kind: Array) -> Array:
    choices = [np.tanh(x), np.exp(-(x**2)), np.exp(-x), np.logaddexp(0.0, x), x]
    return np.choose(kind, choices)


def switch_labels(u: Array, kind: Array) -> Array:
    right = np.roll(u, -1)
    share = np.select([kind == 0, (kind == 2) | (kind == 5)], [0.5, 1.0], 0.0)
    return u**2 + share * (right - u) * right


def copied_results(x: Array) -> Array:
    w = x * np.roll(x, -1) + np.eye(6)[0]
    return x * w * w[0]


def repeated_lookup(x: Array, bias: Array) -> Array:
    return x**2 - np.eye(len(x))[0] * np.tanh(2.5 * bias)


def pair_updates(x: Array) -> Array:
    y, v = list(x), x[1]
    for i in range(len(x)):
        for j in range(len(x)):
            v = v * y[i] * y[j]
            y[0] = y[0] + v
    return np.prod([(1 + u * u) * (1 + u) for u in y[::2]]) * x


def skipped_break(y: Array) -> Array:
    y, scale = list(y), 1.5
    for i in range(0, len(y), 3):
        y[i] = np.sin(sum(y) * scale)
        if i > 3:
            break
        scale = np.tanh(scale + y[i])
    y[1] = y[1] * scale
    return np.array(y)


def rows_on_stack(x: Array) -> Array:
    rows = np.array(x)
    rows[len(x) // 2] = x[0]
    return np.sum(x * x) + np.sum(x**3 * rows)


def last_turn(x: Array, y: Array) -> Array:
    force = 0.4
    for _ in range(3, len(x), 2):
        force = 0.9 * force * force
    return np.array([force, *(x[1:5] * force), *y[5:]])


def last_break(x: Array) -> Array:
    y = list(x)
    for i in range(20, -1, -1):
        v = 0.5 * len(x)
        for j in range(30, -1 if i > 0 else 29, -1):
            y[0] = y[0] + 0.01 * (1.0 - v * v)
            v = v * np.sin(y[j % len(x)])
    return np.array(y)


def alike_branches(x: Array) -> Array:
    t, y = list(x[:5]), list(x)
    for i in range(len(x)):
        t[0] = t[0] * -0.5
        y[3] = y[3] * 0.7 + np.log(1.1 + t[i % 5] ** 2)
    return np.array(y)


def running(x: Array) -> Array:
    most, last, share, y = x[0], x[1], x[2], []
    for u in x:
        most = u if np.real(u) > np.real(most) else most
        last = u * u if np.real(u) > 0 else last
        share = share / 2.5
        y.append(most * x[0] + last + share * u)
    return np.array(y)


def delayed(x: Array) -> Array:
    before, now, share, older = x[0], 0.5, x[1] * x[2], x[2]
    for _ in range(0, len(x), 2):
        for j in range(len(x) - 1, -1, -3):
            share = share * 0.7
            older, before, now = before * x[j], now, np.sin(x[1] * np.log(1.1 + share * share))
    return before * x + share + now * now + older * older * x


def slots(x: Array) -> Array:
    q, k, y = [1, 2], 0, []
    for u in x:
        q[k] = q[1 - k] * u
        k = 1 - k if np.real(u) < 0 else k
        y.append(q[0] + q[1])
    return np.array(y)


def _stacked(x: Array, read: Callable[[list[Any]], Any]) -> Array:
    s, y = [1.0], []
    for u in x:
        if np.real(u) > 0 or len(s) < 2:
            s.append(u * s[-1] + 0.3)
        else:
            a = s.pop()
            s[-1] = np.sin(s[-1]) * a + u
        y.append(read(s))
    return np.array(y)


def stack(x: Array) -> Array:
    return _stacked(x, lambda s: s[-1])


def vector_stack(x: Array) -> Array:
    return _stacked(x, lambda s: s[-1] + s[len(s) // 2])


def ordered(x: Array) -> Array:
    return np.sin(x[np.argsort(np.real(x))]) * np.arange(1, len(x) + 1)


def around_median(x: Array) -> Array:
    return (x - x[np.argsort(np.real(x))[len(x) // 2]]) * x


def vector_intervals(x: Array) -> Array:
    def integral(v: Any) -> Any:
        def g(a: Any) -> Any:
            return np.sin(a * v) + a * a

        stack, total = [(0.0, 1.0 + v * v * 0.1)], 0.0
        while stack:
            a, b = stack.pop()
            m = 0.5 * (a + b)
            one = (b - a) * 0.5 * (g(a) + g(b))
            two = (b - a) * 0.25 * (g(a) + 2 * g(m) + g(b))
            if abs(np.real(one - two)) < 1e-2:
                total = total + two
            else:
                stack += [(a, m), (m, b)]
        return total

    return np.array([integral(v) for v in x])


def mixed_struct(e: Array, k: Array) -> Array:
    return np.sum(np.cos(np.outer(e, k)) * e[:, None], axis=1) + e * e


def mixed_table(e: Array) -> Array:
    w = np.cos(np.outer(e, [0.387, 0.873, 0.583, 0.904]))
    w = np.where(np.real(w) < 0, w * e[:, None], w)
    i = np.arange(len(e))
    return np.sum(w, axis=1) + w[i, i % 4] * e


def callback_parameter(x: Array) -> Array:
    def root(v: complex) -> complex:
        u = v * 0 + 1.0
        for _ in range(60):
            u = u - (u * u * u + u - 1.3 * v) / (3 * u * u + 1)
        return u

    return np.array([root(v) * v for v in x])


def static_work(x: Array) -> Array:
    w = list(np.sin(x))
    for i in range(1, len(w)):
        if np.real(w[i]) < np.real(w[i - 1]):
            w[i] = w[i] * w[i - 1] + 0.3
    s = sum(w)
    return x * 0.4 + np.array(w[::-1]) + s * s


def static_memo(x: Array) -> Array:
    v = np.cos(x * x) + x
    return v * v + 0.5 * v


def trailing_writes(x: Array) -> Array:
    n, a = len(x), 0.7
    t = [0.2 * x[i % n] for i in range(20)]
    for i in range(2, n + 1):
        a = np.tanh(a + a * t[i])
        t[i - 1] = 0.3 * a
    for i in range(n, 1, -1):
        a = np.sin(a * t[i] + 1.0)
        t[i + 1] = 0.5 * a
    for i in [*range(0, n, 2)] * 3:
        a = np.tanh(a + a * t[i])
    t = [u * a if i < n else u for i, u in enumerate(t)]
    return np.array(t[:n]) + np.array(t[1 : n + 1])


def leading_writes(x: Array) -> Array:
    n, b = len(x), 0.4
    t = [0.2 * x[i % n] for i in range(16)]
    for i in range(5):
        for k in reversed(range(n)):
            b = np.sin(b * b + x[k])
        t[i + 1] = np.tanh(t[i] * x[i] * 2.0 + b)
    for i in range(0, n, 3):
        t[i + 1] = t[i + 1] * 0.8
    y = [x[i] + t[i] * b for i in range(n)]
    for i in range(n - 1):
        for k in range(n):
            b = np.sin(b * b + x[k])
        y[i + 1] = np.tanh(y[i] * x[i] * b)
    return np.array(y)


def early_return(x: Array) -> Array:
    r2 = (x[:, None] - x[None, :])[np.tril_indices(len(x), -1)] ** 2
    tail = np.where(r2 < 4.0, (1.0 - 0.25 * r2) ** 3, 0.0)
    return np.sum(tail + np.where(r2 <= 1.0, (1.0 - r2) ** 2, 0.0))


def branches(x: Array, y: Array) -> Array:
    r = x - y
    huber = np.where(abs(r) < 1.0, 0.5 * r**2, abs(r) - 0.5)
    return np.where(r > 0, huber + np.minimum(x, 2.5 * y), np.maximum(x**2, y) - huber)


def function_pointer(x: Array) -> Array:
    functions = [np.square, lambda v: np.sin(2.0 * v), lambda v: v / (1.0 + v**2)]
    return np.array([functions[i % 3](v) for i, v in enumerate(x)])


def callback(p: Array, b: Array) -> Array:
    t = np.linspace(0.0, b, 17)
    weights = np.array([1.0] + [4.0, 2.0] * 7 + [4.0, 1.0]) * b / 48.0
    return np.array([weights @ np.exp(-p * t**2), weights @ np.cos(p * t)])


def struct_value(q: Array, p: Array) -> Array:
    w, x, y, z = q / np.linalg.norm(q)
    rotation = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return p @ rotation.T


def struct_pointer(x: Array, stiffness: Array, damping: Array) -> Array:
    kick = np.array([[1.0, 0.0], [-0.025 * stiffness, 1.0 - 0.025 * damping]])
    drift = np.array([[1.0, 0.05], [0.0, 1.0]])
    return x @ np.linalg.matrix_power(kick @ drift @ kick, 20).T


def struct_array(xy: Array) -> Array:
    return np.linalg.norm(np.diff(xy, axis=0), axis=1) @ (2.0 * np.arange(len(xy) - 1) + 1.0)


def malloc_free(x: Array) -> Array:
    return (x - x.mean()) / np.sqrt(x.var() + 1e-3) if x.size else x


def calloc_histogram(x: Array, bins: int) -> Array:
    centres = np.arange(bins) - 0.5 * (bins - 1)
    return np.exp(-((x[:, None] - centres) ** 2)).mean(axis=0)


def realloc_growing(x: Array) -> Array:
    return np.sum(np.cumsum(x) ** 2)


def linked_list(x: Array) -> Array:
    fraction = 1.0
    for value in x[::-1]:
        fraction = value + 1.0 / fraction
    return np.float64(fraction)


def aliasing_locals(x: Array) -> Array:
    y = np.zeros(len(x) + 4)
    for i, value in enumerate(x):
        y[i + 4] = value + 0.5 * y[i]
    return y[4:] @ y[1:-3]


def memcpy_window(x: Array) -> Array:
    carry = x[: len(x) - 4]
    for j in range(1, 5):
        carry = x[j : len(x) - 4 + j] + 0.5 * carry**2
    return carry


def memset_assembly(element: Array) -> Array:
    half = 0.5 * element**2
    return np.append(half, 0.0) + np.append(0.0, element - half)


def table_lookup(x: Array) -> Array:
    table = np.array([0.0, 0.8, 1.0, 0.3, -0.6, -1.1, -0.7, 0.2, 0.9, 1.2])
    k = x.astype(int)
    t = x - k
    basis = 0.5 * np.array([[0, 2, 0, 0], [-1, 0, 1, 0], [2, -5, 4, -1], [-1, 3, -3, 1]])
    points = np.stack([table[k - 1], table[k], table[k + 1], table[k + 2]])
    return np.sum(np.stack([t**0, t, t**2, t**3]) * (basis @ points), axis=0)


def static_quadrature(a: Array, b: Array) -> Array:
    node, weight = np.polynomial.legendre.leggauss(5)
    t = 0.5 * b[:, None] * (1.0 + node)
    return 0.5 * b * (np.exp(-a[:, None] * t**2) @ weight)


def std_vector(w: Array, x: Array) -> Array:
    return np.sum(np.tanh(w * x).sum(axis=1) ** 2)


def vector_range_copy(x: Array) -> Array:
    return x[1:] @ x[:-1]


def vector_push_back(x: Array) -> Array:
    return np.sum(x[x > 0.0] ** 3)


def template_softplus(x: Array, beta: Array) -> Array:
    return np.logaddexp(x.dtype.type(0), beta * x) / beta


def overload_double(x: Array) -> Array:
    return np.cos(x) @ x


def overload_float(x: Array) -> Array:
    return np.sum(np.sqrt(1.0 + x**2), dtype=np.float32)


def lambdas(amplitude: Array) -> Array:
    n = len(amplitude)
    t = np.linspace(0.0, 1.0, 13)
    signal = amplitude**2 @ np.sin(np.outer(np.arange(1, n + 1), t))
    values = signal * np.cos(0.5 * np.outer(np.arange(n), t))
    return (values[:, 1:] + values[:, :-1]).sum(axis=1) / 24.0


def std_array(p: Array) -> Array:
    return 0.5 * np.sum(np.linalg.norm(np.cross(p[1:-1] - p[:-2], p[2:] - p[:-2]), axis=1))


def virtual_methods(strain: Array, kind: Array, modulus: Array) -> Array:
    return np.where(kind == 1, 2.0 * modulus * np.expm1(strain), modulus * strain)


def virtual_single(r: Array, depth: Array, width: Array) -> Array:
    return depth * np.sum(np.expm1(-width * (r - 1.0)) ** 2)


def vec3_operators(r: Array) -> Array:
    i, j = np.triu_indices(len(r), 1)
    s6 = (0.5 + np.sum((r[i] - r[j]) ** 2, axis=1)) ** -3
    return np.sum(4.0 * (s6**2 - s6))


def stl_algorithms(x: Array, w: Array) -> Array:
    e = np.exp(0.3 * x)
    return np.cumsum(e) @ w + e.sum()


def unique_ptr(x: Array, gain: Array) -> Array:
    state = np.zeros(3)
    out = []
    for value in x:
        state = state + gain * (np.append(value, state[:2]) - state)
        out.append(state[2])
    return np.array(out)


def in_place_carried(u: Array, dt: Array) -> Array:
    out = u.copy()
    out[1:-1] += dt * np.diff(u, 2)
    return out


def in_place_step(u: Array, dt: Array) -> Array:
    for i in range(1, len(u) - 1):
        u[i] = (1.0 - 2.0 * dt) * u[i] + dt * (u[i - 1] + u[i + 1])
    return u


def in_place_time_loop(u: Array, nu: Array, steps: int) -> Array:
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            west, here, east = u[i - 1], u[i], u[i + 1]
            u[i] = here + 0.05 * (nu * (west - 2.0 * here + east) - 0.5 * here * (east - west))
    return u


def several_outputs(x: Array, y: Array) -> tuple[Array, Array, Array]:
    return np.outer(x, y**2), np.sum((x * y) ** 2), x * y


def output_and_return(x: Array) -> tuple[Array, Array]:
    return x / x.sum(), x.sum() ** 2


def log_sum_exp(x: Array) -> Array:
    return np.logaddexp.reduce(x)


def scalar_gradient(t: Array, amplitude: Array, decay: Array, omega: Array) -> Array:
    return np.real(amplitude * np.exp((1j * omega - decay) * t))


def scalar_order(omega: Array, t: Array, decay: Array, amplitude: Array) -> Array:
    return scalar_gradient(t, amplitude, decay, omega)


def scalars_only(spot: Array, strike: Array, rate: Array, sigma: Array, years: Array) -> Array:
    s = sigma * math.sqrt(years)
    d1 = (math.log(spot / strike) + (rate + 0.5 * sigma**2) * years) / s
    phi = [0.5 * (1.0 + math.erf(d / math.sqrt(2.0))) for d in (d1, d1 - s)]
    return spot * phi[0] - strike * math.exp(-rate * years) * phi[1]


def scratch(x: Array) -> Array:
    return np.array([np.polyval([1.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], v) + v**8 - v**7 for v in x])


def matvec(a: Array, x: Array) -> Array:
    return a @ x


def matmul_restrict(a: Array, b: Array) -> Array:
    return a @ b


def array_parameter(p: Array, metric: Array) -> Array:
    return np.sqrt(p**2 @ metric)


def differences(x: Array) -> Array:
    return x[1:] ** 2 - x[:-1]


def pooling(x: Array) -> tuple[Array, Array]:
    n = len(x) // 2
    return x[: 2 * n].reshape(n, 2).prod(axis=1), np.stack([x**2, 1.0 / x], axis=1).ravel()


def chebyshev(x: Array, k: int) -> Array:
    return np.cos(np.arccos(x)[:, None] * np.arange(k))


def csr_matvec(value: Array, column: Array, start: Array, x: Array, m: int) -> Array:
    dense = np.zeros((m, len(x)))
    rows = np.repeat(np.arange(m), np.diff(start))
    np.add.at(dense, (rows, column), value)
    return dense @ x


def gather(x: Array, index: Array) -> Array:
    return x[index] ** 2


def bool_mask(x: Array, mask: Array) -> Array:
    return np.sum(x[mask] ** 2)


def const_weights(w: Array, x: Array, target: Array) -> Array:
    return w @ (x - target) ** 2


def unused_input(x: Array, _y: Array) -> Array:
    return x @ x


def with_header(x: Array, alpha: Array) -> Array:
    r2 = (x[:, None] - x[None, :]) ** 2
    return np.exp(-alpha * np.log1p(0.5 * r2 / alpha))


def with_defines(q: Array) -> Array:
    return sum(q ** (k * k) / (1.0 + k) for k in range(1, 5))


def two_files_c(temperature: Array, energy: Array) -> Array:
    return np.exp(-energy / temperature) * temperature


def two_files_cpp(knots: Array, t: Array) -> Array:
    i = t.astype(int)
    u = t - i
    basis = np.stack([(1 - u) ** 2, 1 + 2 * u - 2 * u**2, u**2])
    return np.sum((0.5 * np.sum(basis * knots[i + np.arange(3)[:, None]], axis=0)) ** 2)


def math_functions(x: Array) -> Array:
    erf = np.array([math.erf(v) for v in x])
    return (
        x**1.7
        + np.exp(-x) * np.log(x)
        + np.tanh(x) * np.sqrt(x)
        + np.cbrt(x) * np.sin(x)
        - np.cos(x) * erf
        + np.abs(x - 9.0)
    )


def float32_dot(x: Array, y: Array) -> Array:
    return (x @ y) / np.sqrt((x @ x) * (y @ y))


def float32_gelu(x: Array, slope: Array) -> Array:
    cubic = x + np.float32(0.044715) * x**3
    return np.float32(0.5) * x * (1 + np.tanh(slope * cubic))


def mixed_precision(x: Array, y: Array, slope: Array, offset: Array) -> Array:
    return np.sum((y.astype(np.float64) - slope * x.astype(np.float64) - offset) ** 2)


def horner(c: Array, x: Array) -> Array:
    return np.vander(x, len(c), increasing=True) @ c


def cumulative_product(x: Array) -> Array:
    return np.cumprod(x)


def softmax(x: Array) -> Array:
    return np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)


def newton_kepler(mean_anomaly: Array, e: Array) -> Array:
    low, high = np.zeros_like(mean_anomaly), np.full_like(mean_anomaly, np.pi)
    for _ in range(60):
        middle = 0.5 * (low + high)
        above = middle - e * np.sin(middle) > mean_anomaly
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return 0.5 * (low + high)


def rk4_lotka(y0: Array, p: Array, h: Array, steps: int) -> Array:
    def slope(y: Array) -> Array:
        return np.array([(p[0] - p[1] * y[1]) * y[0], (p[2] * y[0] - p[3]) * y[1]])

    y, states = y0, []
    for _ in range(steps):
        k1 = slope(y)
        k2 = slope(y + 0.5 * h * k1)
        k3 = slope(y + 0.5 * h * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        states.append(y)
    return np.array(states)


def cholesky(s: Array, x: Array) -> Array:
    lower = np.tril(s)
    full = lower + lower.T - np.diag(np.diag(s))
    log_det = np.linalg.slogdet(full)[1]
    return -0.5 * (x @ np.linalg.solve(full, x) + log_det + len(x) * math.log(2.0 * math.pi))


def lu_solve(a: Array, b: Array) -> Array:
    return np.linalg.solve(a, b)


def nbody_energy(position: Array, velocity: Array, mass: Array) -> Array:
    i, j = np.tril_indices(len(mass), -1)
    distance = np.sqrt(1e-2 + np.sum((position[i] - position[j]) ** 2, axis=1))
    return 0.5 * mass @ np.sum(velocity**2, axis=1) - np.sum(mass[i] * mass[j] / distance)


def stencil2d(u: Array) -> Array:
    out = u.copy()
    inner = u[1:-1, 1:-1]
    around = u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1]
    out[1:-1, 1:-1] = around - 4.0 * inner + inner**3
    return out


def lstm_cell(x: Array, h: Array, c: Array, w: Array, b: Array) -> tuple[Array, Array]:
    gates = (w @ np.concatenate([x, h]) + b).reshape(4, len(h))
    take, forget, give = 1.0 / (1.0 + np.exp(-gates[:3]))
    c_next = forget * c + take * np.tanh(gates[3])
    return give * np.tanh(c_next), c_next


def complex_product(re: Array, im: Array) -> Array:
    z = np.zeros(len(re), dtype=complex)
    for _ in range(5):
        z = z**2 + (re + 1j * im)
    return np.abs(z) ** 2


def time_loop(u0: Array, r: Array, steps: int) -> Array:
    u = u0.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + r * u[1:-1] * np.diff(u, 2)
    return u


def swapped_buffers(u0: Array, r: Array, steps: int) -> Array:
    return np.arange(1, len(u0) + 1) @ time_loop(u0, r, steps) ** 2


def complex_division(omega: Array, resistance: Array, inductance: Array, capacitance: Array) -> Array:
    series = resistance + 1j * omega * inductance
    load = (1.0 + 0.3j * omega) / (0.2 + 1j * omega * capacitance)
    return np.abs(load / (series + load)) ** 2


def openmp_map(x: Array, rate: Array) -> tuple[Array, Array]:
    y = np.sin(rate * x) * x
    return y, np.exp(-x) * y[::-1]


def openmp_dynamic(x: Array) -> tuple[Array, Array, Array]:
    n = len(x)
    a = np.array([np.cos(v) * sum(v**k / math.factorial(k) for k in range(1, i + 2)) for i, v in enumerate(x)])
    b = np.where(np.arange(n) % 2 == 0, a * x[::-1], x - a)
    return a, b, b * np.roll(b, -1)


def openmp_reductions(x: Array) -> tuple[Array, ...]:
    v = x**2 + np.sin(x)
    return 0.5 + v.sum(), 1.5 * np.prod(1 + 0.1 * x), v.max(), v.min()


def openmp_array_reduction(x: Array, bins: int) -> Array:
    return np.exp(-8 * (x[:, None] - (np.arange(bins) + 0.5) / bins) ** 2).sum(axis=0)


def openmp_critical(x: Array, owner: Array, m: int) -> tuple[Array, Array]:
    e = x * np.sin(x)
    return e.sum(), np.bincount(owner, weights=e * x, minlength=m)


def openmp_best(x: Array, w: Array) -> Array:
    v = np.sin(x) * x
    return v.max() * w[np.argmax(v)]


def openmp_firstlast(x: Array) -> Array:
    n = len(x)
    table = np.array([x[1], 2.0, x[2]])
    last = table[np.arange(n) % 3] * x[0] * 0.5 * np.roll(x, -(n // 2))
    y = last * np.cos(last)
    y[0] += last[-1] ** 2
    return y


def openmp_phases(u: Array, dt: Array, steps: int) -> Array:
    for _ in range(steps):
        left, right = np.concatenate([[0.0], u]), np.concatenate([u, [0.0]])
        flux, mean = (right - left) * (1 + 0.1 * left * right), u.mean()
        u = u + dt * np.diff(flux) * mean
        u[0] += 0.01 * np.sin(mean)
    return u


def openmp_time_loop(u0: Array, rate: Array, steps: int) -> Array:
    u = u0
    for _ in range(steps):
        padded = np.pad(u, 1, mode="edge")
        u = u + rate * (padded[:-2] - 2 * u + padded[2:]) * (1 + u * u)
    return u


def openmp_called(x: Array, by: Array) -> Array:
    n = len(x)
    bent = [np.sin(x), x * np.sin(x / 2), x * (x / 2) * np.sin(x / 4)]
    y = np.choose(np.arange(n) % 3, bent) * by
    half = n // 2
    y[:half] += x[:half] * x[0]
    y[half : 2 * half] += x[:half] * x[1]
    return y + 0.5 * x * x


def openmp_sections(x: Array) -> Array:
    a, b, chain, y = np.sum(x * x), np.sum(np.sin(x)), 1.0, []
    for v in np.cos(x):
        chain = chain * 0.5 + v
        y.append(chain)
    y[0] += a * np.sum(x)
    y[1] += a * b
    return np.array(y)


def openmp_threads(x: Array) -> Array:
    return np.sum(x * np.exp(-x * x))


def openmp_vectors(x: Array) -> Array:
    return np.var(np.sin(x) + x)


def openmp_matvec(a: Array, x: Array, b: Array) -> tuple[Array, Array]:
    y = a @ x - b
    return np.linalg.norm(y), y


def blas_gemm(A: Array, B: Array, alpha: Array, beta: Array) -> Array:
    return (alpha + beta) * np.einsum("ik,jk->ij", A, B)


def blas_gemm_fortran(A: Array, B: Array) -> Array:
    a, b = A.T, B.T  # columns first in memory
    t = a @ b
    c = t.T @ a
    t = 0.5 * c @ b.T
    return (t.T @ t.T + 0.5 * c).T


def blas_gemv(A: Array, x: Array) -> Array:
    u = x
    for step in range(4):
        v = (A.T if step % 2 else A) @ u
        u = v / np.sqrt(np.sum(v * v))
    return np.sqrt(np.sum((0.5 * A @ u + 2.0 * u) ** 2))


def blas_level1(x: Array, y: Array, a: Array) -> tuple[Array, Array]:
    y = y.copy()
    y[4::-2] += a * x[::2]
    s = np.sum(x[4::-2] * y[::2])
    y *= s
    return y, np.sqrt(np.sum(y**2)) + np.sum(x**2)


def blas_ger(H: Array, s: Array, y: Array) -> Array:
    rho = 1.0 / np.sum(s * y)
    hy = H.T @ y
    return H + (1.0 + y @ hy * rho) * rho * np.outer(s, s) - rho * (np.outer(s, hy) + np.outer(hy, s))


def blas_trsm(A: Array, D: Array, B: Array, alpha: Array) -> Array:
    B = alpha * np.linalg.inv(np.tril(A)) @ B
    B = np.linalg.inv(np.triu(A, 1).T + np.eye(len(A))) @ B
    B = alpha * B @ np.linalg.inv(np.triu(D))
    # columns first: X op(L) = B for the transposed B; L is the lower triangle of A^T, the upper one of A
    return (B.T @ np.linalg.inv(np.tril(A.T).T)).T


def blas_single(X: Array, W: Array, b: Array) -> tuple[Array, Array]:
    y = np.tanh(X @ W + b)
    return y, np.mean(y**2)


def lapack_gesv(A: Array, B: Array) -> tuple[Array, Array]:
    matrix = (A**2 + np.eye(len(A))).T
    return np.linalg.solve(matrix, B.T).T, np.linalg.det(matrix) ** 2


def lapack_solve(K: Array, u: Array, dt: Array) -> Array:
    step = np.linalg.inv(np.eye(len(u)) + dt * K)
    return step @ step @ step @ u


def lapack_cholesky(S: Array, y: Array) -> Array:
    # columns first: the lower triangle there is the upper one here
    S = np.triu(S) + np.triu(S, 1).T
    return 0.5 * y @ np.linalg.solve(S, y) + 0.5 * np.linalg.slogdet(S)[1]


def lapack_single(S: Array, b: Array) -> tuple[Array, Array]:
    full = (np.tril(S) + np.tril(S, -1).T).astype(np.float64)
    factor = np.linalg.cholesky(full)
    return (np.tril(factor) + np.triu(S, 1)).astype(S.dtype), np.linalg.solve(full, b).astype(b.dtype)


def rule_lookup(x: Array) -> Array:
    return np.interp(x, np.arange(6), [0.0, 0.4, 1.1, 1.9, 3.2, 4.0]) * x


def rule_saving(x: Array, k: Array) -> Array:
    total = np.zeros(())
    for _ in range(3):
        x = k * x**2
        total = total + np.sum(x**2)
    return total


def rule_recursion(x: Array) -> Array:
    def level(x: Array, depth: int) -> Array:
        b = (1.1 * x + 0.1 * depth) ** 2
        return np.sum(b * x) + (level(b, depth - 1) if depth > 0 else 0.0)

    return level(x, 2) + level(x, 1)


def rule_root(t: Array, e: Array) -> Array:
    anomaly = t.copy()
    for _ in range(30):
        anomaly -= (anomaly - e * np.sin(anomaly) - t) / (1 - e * np.cos(anomaly))
    return np.stack([np.cos(anomaly) - e, np.sqrt(1 - e**2) * np.sin(anomaly)], axis=1)


def rule_sort(x: Array) -> tuple[Array, Array]:
    y = np.sort(x)
    return y, np.sum(np.abs(x[:, None] - x)) / (2 * len(x) * np.sum(x))


def rule_quadrature(x: Array, p: Array) -> Array:
    def area(x: Array, p: Array) -> Array:
        return np.sqrt(np.pi / p) / 2 * np.vectorize(math.erf)(np.sqrt(p) * x)

    return p * area(x, p) + area(np.ones(()), x)


def rule_bits(v: Array) -> Array:
    return v / np.linalg.norm(v)


def rule_single(x: Array, s: Array) -> Array:
    knots = np.array([0.5, 1.0, 2.0], dtype=x.dtype)
    return s * np.sum(knots * x) + np.tanh(s) * np.sum(x[:-1] * x[1:])


def rule_inactive(x: Array) -> Array:
    y = np.ones(())
    for _ in range(30):
        y = 0.5 * (y + np.mean(np.cos(x * y)))
    return y


def rule_namespaces(d: Array) -> Array:
    speed = np.ones_like(d)
    for _ in range(6):
        re = speed * d * 10.0
        speed = 0.5 * (speed + np.sqrt(d * re / (24.0 * np.where(re < 1.0, 1.0, 1.0 + 0.15 * re**0.687))))
    return speed


def rule_status(x: Array, y: Array) -> Array:
    return (x**2 + y**2) * np.angle(x + 1j * y)


def rule_eigen(k: Array) -> Array:
    return np.linalg.eigvalsh(np.diag(k + np.append(k[1:], 0.0)) - np.diag(k[1:], 1) - np.diag(k[1:], -1))[-1]


def special_gamma(x: Array, a: Array, b: Array) -> tuple[Array, Array]:
    lgamma, gamma = np.vectorize(math.lgamma), np.vectorize(math.gamma)
    volume = np.pi ** (3 * x) / gamma(3 * x + 1) + lgamma(-0.5 - x) + gamma(-x)
    beta = gamma(a) * gamma(b) / gamma(a + b)
    return volume, np.sum(np.log(x ** (a - 1) * (1 - x) ** (b - 1) / beta))


def special_complex(w: Array, r: Array, c: Array) -> Array:
    s = r * 0.3 + w * 1j
    h = (1.0 + s * c) / (s * s + r * s + 1.0)
    z = np.exp(-0.2 * s) * h + np.log(h + 2.0) + np.sqrt(s) / s ** (0.3 + 0.1j)
    return np.stack([z.real + np.abs(h), z.imag + np.angle(s)], axis=1)


def special_angles(x: Array, y: Array) -> Array:
    return np.tan(0.4 * x) + np.angle(x + 1j * y) * np.arctan(x / 1.5) + np.hypot(x, y) + np.mod(7 * x, 2.0 + y)


def chosen_array(u: Array, frame: Array) -> Array:
    here = np.concatenate([frame[:1], u[1:-1], frame[-1:]])
    left = np.concatenate([[frame[0]] * 2, u[1:-1]])
    return here**2 + 0.5 * left * here


def chosen_table(u: Array, own: Array) -> Array:
    table = np.array([1.5, -0.5, 2.0, 0.25])
    k = np.arange(len(u))
    read = np.where(own == 1, u, np.where(own == 2, u[0], table[k % 4]))
    return np.sum(read**2 * (k + 1)) + u.sum()

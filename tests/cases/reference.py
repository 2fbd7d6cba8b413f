"""What each program of ``cases.toml`` computes, written again in NumPy.

A reference takes the inputs positionally in ``.apply`` order and the ``sizes`` option as keywords; it returns one array, or a
tuple in the order of the signature's outputs. Where NumPy has another algorithm for the same number it is used, so that the two
do not share a mistake.
"""

from __future__ import annotations

import math

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


def kept_text(x: Array) -> Array:
    """The first record is erased; levels x and 2 x², weighted with x."""
    return np.sum(x[1:] ** 3 + 4.0 * x[1:] ** 5)


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


def repeat_heat(u: Array, k: Array, q: Array) -> tuple[Array, Array]:
    energies = []
    for row in q:
        v = u.copy()
        v[1:-1] += k[1:-1] * (u[:-2] - 2.0 * u[1:-1] + u[2:]) + 0.1 * np.sin(u[1:-1]) * row[1:-1]
        u = v
        energies.append((u**2).sum())
    return u, np.array(energies)


def checkpointed_wave(start: Array, speed: Array, steps: Array) -> tuple[Array, Array]:
    u, energy = start, 0.0
    for _ in range(int(steps)):
        v = u.copy()
        v[1:-1] += 0.1 * speed[1:-1] * (u[:-2] - 2.0 * u[1:-1] + u[2:] + 0.1 * np.sin(u[1:-1]))
        u = v
        energy = energy + u[len(u) // 2] ** 2
    return u, np.array(energy)


def checkpointed_cells(start: Array, rate: Array, steps: Array) -> Array:
    u, time = start, 0.0
    for _ in range(int(steps)):
        u = u + 0.1 * rate**2 * np.sin(np.roll(u, -1) - u)
        time = time + 0.1 * u[0]
    return u * time


def repeat_lengths(u: Array, dt: Array) -> Array:
    for one in dt:
        u = in_place_step(u, one)
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


def reduced_angles(x: Array, quarter: Array) -> Array:
    quotients = np.rint(x * x * 100 / quarter)
    rest = x * x * 100 - quotients * quarter
    return np.where(quotients % 2 == 1, np.cos(rest), np.sin(rest)) + rest * quarter


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


def large_tape(given: Array, rate: Array) -> Array:
    x = 0.02 * given[np.arange(256) % len(given)]

    def step(x: Array, s: Array) -> tuple[Array, Array]:
        sums = s + np.cumsum(np.square(x))
        return 0.5 * sums, sums[-1]

    total = rate
    for i in range(len(given)):
        if i != 1:
            x, last = step(x, 0.25 * rate * i)
            total = total + last
    if len(given) > 2:
        x, last = step(x, rate)
        total = total * last
    return np.array([total, *(x[16 * np.arange(1, len(given))] + rate)])


def linked_constants(x: Array) -> Array:
    return (x + x * x) * x[0]


def letter_case(x: Array) -> Array:
    return np.where(np.arange(x.shape[-1]) % 2 == 0, x / (1 + x), x * x)

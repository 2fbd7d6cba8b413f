"""NumPy references of the conformance table: OpenMP, BLAS and LAPACK, custom derivatives, special functions. Read with ``reference.py``."""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray


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


def _mirrored(a: Array, upper: bool) -> Array:
    half = np.triu(a, 1) if upper else np.tril(a, -1)
    return half + half.T + np.diag(np.diag(a))


def blas_symmetric(A: Array, B: Array, C: Array, D: Array, alpha: Array, beta: Array) -> tuple[Array, Array]:
    first, n = D[0], len(C)
    C = np.where(np.triu(np.ones((n, n))) > 0, alpha * A @ A.T + beta * C, C)
    C = np.where(np.tril(np.ones((n, n))) > 0, 0.5 * first.T @ first + C, C)
    # columns first: the lower triangle there is the upper one here
    C = np.where(np.triu(np.ones((n, n))) > 0, beta * (A @ B.T + B @ A.T) + alpha * C, C)
    last = alpha * _mirrored(C, True) @ first
    last = 0.25 * _mirrored(first, False) @ C + beta * last
    last = alpha * np.tril(C) @ last
    last = beta * ((np.triu(C, 1) + np.eye(n)).T @ last)
    return C, np.stack([first, last])


def blas_vectors(A: Array, W: Array, x: Array, y: Array, c: Array) -> tuple[Array, ...]:
    n = len(x)
    upper = np.triu(np.ones((n, n))) > 0
    A = np.where(upper, A + c * np.outer(x[::-1], x[::-1]), A)
    A = np.where(upper, A + 0.5 * (np.outer(x, y[::-1]) + np.outer(y[::-1], x)), A)
    y = c * _mirrored(A, True) @ x[::-1] + 0.5 * y
    x = np.triu(A).T @ x
    y = np.linalg.solve(np.triu(A).T, y[::-1])[::-1]
    x, y = c * x + 0.6 * y[::-1], (c * y[::-1] - 0.6 * x)[::-1]
    x, y = y[::-1], x[::-1]
    band = np.diag(W[:, 1]) + np.diag(W[1:, 0], -1) + np.diag(W[:-1, 2], 1)
    y = c * band @ x + 0.5 * y
    return A, x, y, np.sum(np.abs(y))


def blas_symmetric_single(X: Array, b: Array) -> tuple[Array, Array]:
    full = X.T.astype(np.float64) @ X.astype(np.float64) + np.eye(len(b))
    inverse = np.triu(np.linalg.inv(full))
    return (inverse.T @ b).astype(X.dtype), np.linalg.norm(inverse).astype(X.dtype)


def aligned_memory(x: Array, y: Array) -> Array:
    return np.triu(x @ x.T) @ y


def lapack_inverse(S: Array, A: Array, R: Array, b: Array) -> tuple[Array, ...]:
    # columns first: the upper triangle there is the lower one here
    inverse = np.linalg.inv(_mirrored(S, False))
    S = np.tril(inverse) + np.triu(S, 1)
    unit = np.triu(np.linalg.inv(np.triu(R, 1) + np.eye(len(R))), 1) + np.tril(R)
    return S, np.linalg.inv(A), unit, np.linalg.solve(np.tril(S), b)


def lapack_band(A: Array, b: Array, c: Array) -> tuple[Array, Array]:
    band = np.triu(np.tril(A, 2), -1)
    b = np.linalg.solve(band, b.T).T
    b[0] = np.linalg.solve(band.T, b[0])
    c = np.linalg.solve(np.triu(np.tril(A, 1), -1), c)
    above = np.diag(np.diag(A, 1), 1)
    definite = np.diag(4 + np.diag(A) ** 2) + above + above.T
    return b, np.linalg.solve(definite, np.linalg.solve(definite, c))


def lapack_norms(A: Array, X: Array, b: Array) -> tuple[Array, Array, Array]:
    M = A.T
    upper, lower = _mirrored(M, True), _mirrored(M, False)
    band = np.array([[M[2, 0], M[1, 1], M[0, 2]], [0, M[2, 1], M[1, 2]], [0, 0, M[2, 2]]])
    norms = [np.max(np.abs(M)), np.linalg.norm(M, 1), np.linalg.norm(M, np.inf), np.linalg.norm(M)]
    norms += [np.linalg.norm(upper, 1), np.linalg.norm(lower), np.linalg.norm(np.triu(M), np.inf)]
    norms += [np.linalg.norm(np.tril(M, -1) + np.eye(3)), np.linalg.norm(band, 1)]
    target = np.append(b, np.full(X.shape[1] - len(b), 0.5))
    fit = np.linalg.lstsq(X.T, target, rcond=None)[0]
    return np.linalg.solve(A, np.linalg.solve(M, b)), np.append(fit, np.zeros(X.shape[1] - len(b))), np.array(norms)


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


def locked_sum(x: Array) -> Array:
    return np.sum(np.array([0.5, 1.5, 2.5])[np.arange(len(x)) % 3] * np.sin(x))


def cached_tables(x: Array) -> Array:
    counts = [1 + i % 3 for i in range(len(x))]
    return np.array([sum(np.sin(np.cos((j + 0.5) / c) * v) for j in range(c)) for c, v in zip(counts, x, strict=True)])


def registered_classes(x: Array) -> Array:
    leaky = [v if v.real > 0 else 0.25 * v for v in x]
    return np.array([leaky[i] if i % 2 else v / (1 + v * v) for i, v in enumerate(x)]) * x[0]


def work_arrays(x: Array) -> Array:
    total = np.zeros_like(x)
    for _ in range(3):
        x = x + 0.25 * x * np.roll(x, -1)
        total = total + x
    return total


def recorded_evaluations(x: Array) -> Array:
    return np.cumsum(x * x) * x[0]


def static_local_table(x: Array) -> Array:
    result = 0.0
    for i, v in enumerate(x):
        k = i % 4
        result += sum(np.sin(v * (1 + j)) / (1 + j + k) for j in range(k + 1)) + v * v * 0.5 ** (i % 3)
    return result


def tasks_when_large(x: Array) -> Array:
    return np.sum(np.sin(x) * x / (1 + np.arange(len(x)) % 4))


def any_settings(x: Array) -> Array:
    result = []
    for i, u in enumerate(x):
        for _ in range(3 + i % 2):
            laws = [-x[i] * x[0] * u, -x[i] * u + x[0] * u * u, -(x[0] + x[1] * u + x[2] * u * u)]
            u = u + 0.01 * laws[i % 3] * (33 if i % 2 else 5)
        result.append(u)
    return np.array(result)


def memory_resources(price: Array, amount: Array) -> Array:
    return np.sum((price * amount) ** 2 * np.where(np.arange(len(price)) % 2, 25, 6))


def members_in_functions(rates: Array, energies: Array) -> Array:
    n = np.arange(len(rates))
    volume = 1 + energies * rates[0]
    block = 1 + rates[np.array([1, 2, 4, 5]) % len(rates)]
    conversion = rates * np.exp(-energies) * volume ** (1 + n % 2) / (1 + np.where(n % 3, 0, 0.3 * rates) * volume)
    return np.sum(conversion * volume * block[n % 4])


def parsed_powers(x: Array) -> Array:
    return 0.25 * x + 0.5 * x * x + x**3


def exponents(x: Array) -> Array:
    fraction, exponent = np.frexp(x)
    return 2 * fraction**2 * exponent + np.ldexp(x, exponent)


def series_tables(x: Array) -> Array:
    def terms(first: int) -> tuple[Array, Array]:
        i = np.arange(first, first + 64)
        factors = np.stack([i % 3, i % 4 - 1, 2 - i % 5], axis=1)
        return 1 / (i + 1), factors @ x + 0.3 * i

    (sines, a), (cosines, b) = terms(0), terms(5)
    longitude, latitude = (sines * np.sin(a)).sum(), (cosines * np.cos(b)).sum()
    weights = [[0.5, -0.25], [1, 2, 3, 4, 5], [0, 0, 1], [2]]
    distance = sum(
        weight * np.sin((i + 1) * x[0] + j * x[2]) for i, row in enumerate(weights) for j, weight in enumerate(row)
    )
    return np.stack([longitude, latitude * longitude, distance])


def model_series(time: Array) -> Array:
    models = [
        ([2, 3, 1, 0], [[0.5, -1.25, 2.0], [0.75, 0.1], [-0.3, 1.5]], [1, 2, 3], 0.01),
        ([1, 4, 2, 0], [[1.5, 0.25], [-0.5, 0.4, 2.2], [0.3, -1.0]], [2, 1, 4], 0.02),
    ]

    def position(
        t: Array, orders: list[int], amplitudes: list[list[float]], arguments: list[int], unit: float
    ) -> Array:
        terms = zip(arguments, amplitudes, strict=True)
        return unit * sum(np.polyval(a, t) * np.sin(k * t + orders[k - 1]) for k, a in terms)

    return np.stack([position(t, *models[i % 2]) for i, t in enumerate(time)])


def static_rule(x: Array) -> Array:
    t = (np.arange(12) + 0.5) / 12
    root = np.sqrt(x[:-1, None] + 1j * t)
    means = np.real(np.log(root + x[1:, None]) / root).mean(axis=1)
    return (means**2).sum()


def growing_table(x: Array, t: Array) -> Array:
    speed = np.array([0.5059, 0.5236, 0.2625, 0.2434, 0.4964])
    weights = np.array([2, 1, 1, 1, 1])
    return (weights * x[0::2] * np.cos(speed * t[:, None] - x[1::2])).sum(axis=1)


def softened_energy(x: Array, y: Array, charge: Array) -> Array:
    across, up = x[:, None] - x, y[:, None] - y
    same = np.eye(len(x), dtype=bool)
    distance = np.sqrt(np.where(same, 1e-6, across * across + up * up))
    return (np.outer(charge, charge) / distance).sum() + np.log(distance[~same]).sum()


def tagged_values(x: Array) -> Array:
    power = np.sqrt(x[0] * x[0] + 1)
    return 2.5 * x / (1 + (power * np.roll(x, -1)) ** 2)


def first_use_of_thread_local(x: Array) -> Array:
    degree = (3, 0, 9, 31, 0, 12)
    picks = ((0, 2), (3, 17), (5, -11), (2, 1), (3, 30), (5, -4))
    weights = (1.0, 0.5, 0.25, 0.8, 0.7, 0.3)
    scale = (x - 2.0) / 3.7
    rows = {}
    for mode, count in enumerate(degree):
        down, up = np.sin(scale * (mode + 1) + 0.1), np.cos(scale * (mode + 1) + 0.1)
        ratio = down * up
        for k in range(count):
            rows[mode, k] = (down, up)
            down, up = ratio * down - 0.1 * up, ratio * up + 0.1 * down
    total = 0.0
    for weight, (mode, k) in zip(weights, picks, strict=True):
        falling, rising = rows[mode, abs(k)]
        total = total + weight * scale * (-falling if k < 0 else falling + rising * scale)
    return total * scale


def old_standard(x: Array) -> Array:
    return np.where(np.real(x) < 0, 2 * x * x, 0.5 * x**3 + 0.25 * x)


def strided_iterator(x: Array) -> Array:
    rows = np.arange(1, len(x) + 1)
    return (rows * (0.5 + np.sum(x * x, axis=1))).sum() + (rows * (0.25 + np.sum(x[0] * x[0]))).sum()


def tagged_copies(x: Array) -> Array:
    stack = []
    for i in range(len(x) - 1):
        stack += [float(i + 2), x[i] * x[i + 1], x[i]]
    kept, out = list(stack), []
    for op in "*+/*+*+":
        b, a = stack.pop(), stack.pop()
        stack.append(a * b if op == "*" else a + b if op == "+" else np.exp(-a * a) / (2.0 + b))
        out.append(stack[-1])
    kept[0], kept[2] = kept[2], kept[0]
    label, n = list("abcdefghijkl") + [""] * 12, len(x)
    label[1 : 6 + n] = label[: 5 + n]
    label[: 3 + n] = label[2 : 5 + n]
    total = sum((ord(letter) - ord("a")) * x[i % n] for i, letter in enumerate(label[:12]))
    for value in kept[:1] + kept[2:]:
        total = 0.5 * total + value
    out = [*out[: len(x)], total]
    return np.array((out + stack[:1] * len(x))[: len(x)])


def expected_values(x: Array) -> Array:
    given = x[::-1] * x
    return np.array([a * v if a.real > 0.9 else v + i for i, (a, v) in enumerate(zip(x, given, strict=True))])

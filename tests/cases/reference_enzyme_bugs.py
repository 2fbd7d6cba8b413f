"""NumPy references of the conformance table: programs that Enzyme differentiates wrong by itself. Read with ``reference.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray
Term = Callable[[Any], Any]


def switch_labels(u: Array, kind: Array) -> Array:
    right = np.roll(u, -1)
    share = np.select([kind == 0, (kind == 2) | (kind == 5)], [0.5, 1.0], 0.0)
    return u**2 + share * (right - u) * right


def copied_results(x: Array) -> Array:
    w = x * np.roll(x, -1) + np.eye(6)[0]
    return x * w * w[0]


def backward_recurrence(x: Array, scale: Array) -> Array:
    j = [0.0, 1.0]
    for k in range(24, 0, -1):
        j.append(2 * k / x * j[-1] - j[-2])
    j = j[:0:-1]
    return scale * np.array(j[:4]) / (j[0] + 2 * sum(j[2::2]))


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


def last_iteration(x: Array, y: Array) -> Array:
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


def many_branches(x: Array) -> Array:
    s, t = 1.0, x[0]
    for i in list(range(12)) * len(x):
        if x[i % 5] * s > t + 0.1 * i:
            s, t = np.sin(s) + t, t * x[(i + 1) % 5]
        elif s < t:
            t = np.cos(t) * s
        else:
            s = s * np.exp(-t)
    return s + t


def early_break(x: Array, y: Array) -> tuple[Array, Array]:
    s, y = 1.0, list(y)
    for k in range(9):
        y = [number + 0.1 * s * k for number in y]
        if y[0] > 3.0:
            return np.array(y), 0.0 * s
        if y[1] > 2.5:
            return np.array(y), y[1] * s
        for i in range(32):
            above = x[i % 5] * s > 0.1 * i + 0.3
            s = np.sin(s) + x[(i + 1) % 5] if above else 0.5 * np.cos(s) + x[(i + 2) % 5]
    return np.array(y), s


def tree_and_vector(x: Array) -> Array:
    def index_of(wave: Array) -> Array:
        return np.sqrt(1 + 1.0 * wave / (wave + 2.0) + 0.5 * wave / (wave + 3.0))

    def size(number: Array) -> Array:
        return number if number > 0 else -number

    y = [index_of(size(number)) + index_of(size(x[0])) for number in x]
    links: list[tuple[int, Array]] = []
    for i, number in enumerate(x):
        links = [*links, (i, number * y[i])] if number > 0 else [(i, number - y[i]), *links]
    for place, (i, link) in enumerate(links):
        y[i] = y[i] + link * x[place] * x[0] / len(x)
    return np.array(y)


def list_positions(x: Array) -> Array:
    n = len(x)
    towns: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for i in range(n):
        towns[i].append(((i + 1) % n, i))
        towns[(i + 1) % n].append((i, i))
        towns[0].append((i, 0))
    y = [x[0] * 0.0 for _ in x]
    for i, stops in enumerate(towns):
        for town, road in stops:
            y[town] = y[town] + x[road] ** 3 + (1 + (7 * i + 3 * town) % 11) * x[road]
    return np.array(y)


def aligned_buffer(x: Array) -> Array:
    places = sorted(range(len(x)), key=lambda i: float(np.real(x[i] * x[i])))
    return sum(x[i] ** 3 / (1 + i) for i in places)


def flagged_ring(points: Array) -> Array:
    total = 0.0
    for i, (here, there) in enumerate(zip(points, np.roll(points, -1, axis=0), strict=True)):
        weight = 0.5 if np.real(here[0]) > np.real(there[0]) else 1.0
        total = total + weight * (here[0] * there[1] - there[0] * here[1]) * (1 + 0.1 * i)
    return total / 2


def shared_owners(stiffness: Array, thickness: Array) -> tuple[Array, Array]:
    materials: list[tuple[Array, Array]] = []
    soft = 0
    for i, (own, width) in enumerate(zip(stiffness, thickness, strict=True)):
        is_soft = i > 0 and np.real(own) < np.real(stiffness[i - 1])
        materials.append(materials[-1] if is_soft else (own, 0.5 * own * width))
        soft += is_soft
    heaviest = max(materials, key=lambda material: np.real(material[1]))
    of_all = [m[0] * width**2 + soft * heaviest[1] for m, width in zip(materials, thickness, strict=True)]
    energies = np.array(of_all)
    return np.sum(energies * np.arange(1, len(energies) + 1)), energies


def grown_spectrum(signal: Array) -> tuple[Array, Array]:
    n = len(signal)
    angles = 2 * np.pi * np.outer(np.arange(n), np.arange(n)) / n
    power = (np.cos(angles) @ signal) ** 2 + (np.sin(angles) @ signal) ** 2
    return np.arange(1, n + 1) @ power / np.sum(power), power


def union_nodes(points: Array, values: Array, places: Array) -> tuple[Array, Array]:
    squared = np.sum((places[:, None, :] - points[None, :, :]) ** 2, axis=2)
    nearest = np.argmin(np.real(squared), axis=1)
    at = values[nearest] / (1 + squared[np.arange(len(places)), nearest])
    return np.sum(at * np.arange(1, len(at) + 1)), at


def grown_lists(x: Array) -> Array:
    heap: list[int] = []
    rank = [(5 * i + 3) % 7 for i in range(len(x))]
    for i in range(len(x)):
        heap.append(i)
        place = i
        while place > 0 and rank[heap[(place - 1) // 2]] < rank[i]:
            heap[place] = heap[(place - 1) // 2]
            place = (place - 1) // 2
        heap[place] = i
    return np.array([rank[i] * x[0] ** 2 * x[i] + x[i] ** 2 * (k + 1) for k, i in enumerate(heap)])


def sorted_records(x: Array) -> Array:
    places = range(len(x))
    pairs = sorted(places, key=lambda i: float(np.real(x[i] * x[i])))
    triples = sorted(places, key=lambda i: (np.real(x[i]) > 0, -float(np.real(x[i] ** 3))))
    y = [
        (k + 1) * x[i] ** 4 + (i + 1) * x[j] ** 3 + j * x[j]
        for k, (i, j) in enumerate(zip(pairs, triples, strict=True))
    ]
    return np.array(y)


def cleared_records(x: Array) -> Array:
    value = [x[0] * 0.0 for _ in x]
    total = x[0] * 0.0
    for again in range(2):
        value = [v + number * number for v, number in zip(value, x, strict=True)]
        weights = [float(np.float32(i + 1) * (np.float32(1) / np.float32(1 + i + again))) for i in range(len(x))]
        total = total + sum(w * v * v for w, v in zip(weights, value, strict=True))
        value[len(x) // 2] = 0.0
    return total


def alike_branches(x: Array) -> Array:
    t, y = list(x[:5]), list(x)
    for i in range(len(x)):
        t[0] = t[0] * -0.5
        y[3] = y[3] * 0.7 + np.log(1.1 + t[i % 5] ** 2)
    return np.array(y)


def loop_carried(x: Array) -> Array:
    most, last, share, y = x[0], x[1], x[2], []
    for u in x:
        most = u if np.real(u) > np.real(most) else most
        last = u * u if np.real(u) > 0 else last
        share = share / 2.5
        y.append(most * x[0] + last + share * u)
    return np.array(y)


def lagged_phi(x: Array) -> Array:
    before, now, share, older = x[0], 0.5, x[1] * x[2], x[2]
    for _ in range(0, len(x), 2):
        for j in range(len(x) - 1, -1, -3):
            share = share * 0.7
            older, before, now = before * x[j], now, np.sin(x[1] * np.log(1.1 + share * share))
    return before * x + share + now * now + older * older * x


def jump_into_loop(x: Array) -> Array:
    s = 1.0
    for k, u in enumerate(x, start=-len(x) % 4):
        s = (s + u * u, s * u, s + 0.5 * u, s + u * s)[k % 4]
    return s * x


def series_by_pointer(x: Array) -> Array:
    tables = (
        ((1.5, 0.3, 0.7), (0.2, 1.1, 2.3)),
        ((0.4, 0.9, 1.9),),
        ((0.8, 0.1, 0.5), (0.6, 1.3, 2.9), (0.25, 0.45, 0.65)),
    )
    y = []
    for i, t in enumerate(x):
        table = tables[i % 3]
        value = sum(a * np.cos(b + c * t) for a, b, c in table)
        y.append(value * sum(-a * c * np.sin(b + c * t) for a, b, c in table))
    return np.array(y)


def loops_of_branches(x: Array) -> Array:
    n, s = len(x), 0.0
    p = [x[i % n] for i in range(64)]
    for r in range(4):
        at = 0
        for j in range(n):
            for i in range(j, n) if r % 2 else range(j + 1):
                if r % 2:
                    s = s + p[at] * x[i]
                else:
                    p[at] = p[at] + 0.1 * s * x[j]
                at += 1
    return s * np.array(p[:n])


def scratch_of_rows(x: Array) -> Array:
    n, y = len(x), np.zeros_like(x)
    for r in range(3):
        c, d = [1 / (4 + x[0] * r)], [x[0] / (4 + x[0] * r)]
        for i in range(1, n):
            c.append(1 / (4 + x[i] * x[i] - c[i - 1]))
            d.append((x[i] * (r + 1) - d[i - 1]) * c[i])
        for i in range(n - 2, -1, -1):
            d[i] = d[i] - c[i] * d[i + 1]
        y = y + np.array(d) ** 2
    return y


def large_locals(x: Array) -> Array:
    n, y = len(x), np.zeros_like(x)
    order = (7 * np.arange(5000) + 3) % n
    i, j = np.meshgrid(np.arange(80), np.arange(100), indexing="ij")
    grid = x[order[100 * i % 5000 + j % 50]] * (1 + j * 1e-2)

    def tail(depth: int) -> Any:
        own = x[np.arange(2048) % n] * (np.arange(2048) + depth) / 2048
        below = tail(depth - 1) if depth > 0 else 1.0
        return below * np.cos(own[100]) + own[2000 + depth] * own[n]

    i = np.arange(2000)
    for k in range(n):
        weights, values = (i % (k + 2)).astype(float), grid[i % 80, (i + k) % 100] * x[k]
        y[k] = 1e-3 * np.sum(weights[1:1999] * values[:1998] * values[2:]) + tail(k % 3)
    return y


def wide_counters(x: Array) -> Array:
    return np.cumsum(x * x[::-1] * np.arange(len(x)) ** 2) * x


def sums_of_nests(x: Array) -> Array:
    a, n, y = np.zeros((4, 4), dtype=x.dtype), len(x), []
    for e in range(n):
        next_rows = a.copy()
        for i in range(4):
            for j in range(4):
                next_rows[i, j] = 0.5 * next_rows[j, i] + x[e] * x[(e + i + 2 * j) % n]
        a = next_rows
        twice, total = np.sum(a * a.T), np.sum(a * np.roll(a, -1, axis=1).T)
        y.append(total + 0.1 * twice * total)
    return np.array(y)


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


def zeroed_members(x: Array) -> Array:
    return np.sum(x**2)


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


def status_outputs(x: Array) -> Array:
    def growth(x: Array) -> tuple[Array, Array]:
        total = 0.5 + 0.25 * x + 0.125 * x * x
        return total * np.sin(x), total * x

    a, b = growth(x)
    c, d = growth(x + a * a)
    return np.stack([a * c, b * d])


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


def chosen_array(u: Array, frame: Array) -> Array:
    here = np.concatenate([frame[:1], u[1:-1], frame[-1:]])
    left = np.concatenate([[frame[0]] * 2, u[1:-1]])
    return here**2 + 0.5 * left * here


def chosen_table(u: Array, own: Array) -> Array:
    table = np.array([1.5, -0.5, 2.0, 0.25])
    k = np.arange(len(u))
    read = np.where(own == 1, u, np.where(own == 2, u[0], table[k % 4]))
    return np.sum(read**2 * (k + 1)) + u.sum()


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


def parameters_by_pointer(rates: Array, x: Array) -> Array:
    value = rates[0]
    for depth in range(1, 6):
        value = 0.5 * value + 0.1 * rates[depth % len(rates)] * rates[1]
    return value + 1000.0 * x * x


def parameters_in_table(x: Array, kinds: Array) -> Array:
    functions = (lambda v: v, lambda v: v * v, lambda v: np.sin(v) * x[0])
    return np.array([functions[int(kind)](v) for v, kind in zip(x, kinds, strict=True)])


def records(x: Array) -> Array:
    kept: list[tuple[int, complex]] = []
    for i, v in enumerate(x):
        kept.insert(1 if i % 3 == 2 else len(kept), (i, v))
    kept.append(kept.pop(0))
    return np.array([v * v * v + i for i, v in kept])


def record_members(x: Array) -> Array:
    order = list(np.argsort(x.real**2))
    for i in range(0, len(x) - 1, 2):
        order[i], order[i + 1] = order[i + 1], order[i]
    energies = [0.5 * (2 + v) * v * v * 1.5 + (v if i % 2 == 0 else 0) + i for i, v in enumerate(x)]
    return np.array([energies[i] for i in order])


def linked_containers(x: Array) -> Array:
    kept = [*reversed([v for v in x if v.real <= 0]), *(v * v for v in x if v.real > 0)][1:]
    window: list[complex] = []
    sums: dict[int, complex] = {}
    for i, v in enumerate(kept):
        window = sorted([*window, v], key=lambda w: w.real)[-3:]
        sums[i % 3] = sums.get(i % 3, 0) + v * window[0] * window[-1]
    sums = {key: total for key, total in sums.items() if total.real >= 0}
    rest = sum(total * (key + 1) for key, total in sums.items()) + len(sums)
    return np.array([v * v + len(kept) for v in kept] + [rest] * (len(x) - len(kept)))


def sign_bits(x: Array) -> Array:
    left, right = x * x - 0.5, np.roll(x, -1) - 0.2
    return np.where(np.signbit(left.real) == np.signbit(right.real), left * right * 4, left + right / 8)


def reused_scratch(x: Array) -> Array:
    d: list[Any] = []
    for i, value in enumerate(x):
        d.append(3 + value * value - (value / d[-1] * x[i - 1] if i else 0))
    e = x / np.array(d)
    s = (x * 0.5 * np.arange(1, len(x) + 1)).sum() + (e * e).sum()
    d = []
    for value in x:
        d.append(2 + (value / d[-1] if d else value))
    e = e + x * np.array(d)
    return s + (e * e).sum()


def long_signs(x: Array) -> Array:
    left, right = x * x - 0.5, np.roll(x, -1) - 0.2
    value = np.where(np.signbit(left.real) != np.signbit(right.real), left * right, left + right)
    return value + 1 / np.sqrt(1 + value * value)


def address_loop(q: Array, x: Array) -> Array:
    s = x
    for value in q:
        s = np.sin(s) + value * s
    for value in q[::-1]:
        s = s + value * value * s
    return s


def interval_splits(x: Array, weight: Array) -> Array:
    # An interval is the index before its points, and their number.
    intervals = [(0, len(x) - 2)]
    total = x[0] * 0
    for _ in range(4):
        open_ones = [i for i, (_, points) in enumerate(intervals) if points]
        largest = max(open_ones, key=lambda i: float(weight[i].real))
        start, points = intervals[largest]
        half = points // 2 + 1
        intervals[largest : largest + 1] = [(start, half - 1), (start + half, points - half)]
        total = total + weight[largest] * x[start + half] ** 2
    return total


def merged_indices(x: Array) -> Array:
    order = np.argsort(x.real, kind="stable")
    sums: list[complex] = []
    for total in np.cumsum(x[order] ** 2):
        sums.insert(len(sums) // 2, total)
    return np.array(sums) * x[order]


def classes(x: Array) -> Array:
    def line(slope: complex, offset: complex) -> Term:
        return lambda at: slope * at + offset

    def power(exponent: int) -> Term:
        return lambda at: at**exponent

    def series(at: Any) -> Any:
        return np.sum(np.sin(x * at))

    def term(i: int) -> Term:
        if x[i].real < 0:
            return line(x[i], x[0])
        return power(i % 4) if x[i].real < 0.5 else series

    terms = [term(i) for i in range(len(x))]
    own = [2 * series(v) - 2 * (x[0] * x[-1] + v) for v in x]
    return np.array([o + sum(term(v) for term in terms) for o, v in zip(own, x, strict=True)])


def closures(x: Array) -> Array:
    y = []
    for start in x:
        v = start
        for i, factor in enumerate(x):
            if factor.real < 0:
                v = v * factor
            elif i % 2:
                v = v + factor * factor
            else:
                v = v - factor * x[0]
        y.append(v + np.cos(v) * x[0] * start)
    return np.array(y)


def list_sort(x: Array) -> Array:
    keys = np.array(sorted(np.sin(x), key=lambda key: key.real))
    y = keys * keys * np.arange(len(keys))
    y[0] += np.prod(keys + 2) * keys[0]
    return y


def shared_tables(x: Array) -> Array:
    nodes, weights = np.array([0.1, 0.5, 0.9, 1.4, 2.0]), np.array([0.2, 0.3, 0.1, 0.25, 0.15])
    gains = np.array([0.7, 0.4])

    def total(a: Array, b: Array, c: Any) -> Any:
        count = min(len(a), len(b))
        return np.sum(a[:count] * np.sin(b[:count] * c))

    closures = (lambda c: total(nodes, x, c), lambda c: total(x, nodes, c * c))
    rules = ((nodes, weights), (x, weights), (nodes, x))
    chosen = x if x[0].real > 0 else nodes
    return np.array(
        [
            closures[i % 2](v) + total(*rules[i % 3], x[0]) + total(chosen, x, v) + total(x, gains, v) * 1.5
            for i, v in enumerate(x)
        ]
    )


def named_rates(x: Array) -> Array:
    even = np.tanh(x) * (1 + 0.1 * x + 0.01 * x * x)
    odd = np.log(1 + x * x) * (0.5 + 0.25 * x)
    return 1.2 * np.sin(x * 0.3) + np.where(np.arange(len(x)) % 2 == 0, even, odd)


def nested_owners(x: Array) -> Array:
    def flat(rate: complex) -> Term:
        return lambda at: np.exp(-rate * at)

    def shifted(base: Term, shift: complex) -> Term:
        return lambda at: base(at) * (1 + shift * at)

    curve = flat(x[0])
    for i in range(1, len(x)):
        curve = shifted(curve, x[i])
        if i > 2:
            curve = flat(curve(x[i]))
    return np.array([curve(v) + v for v in x])


def resized_views(x: Array) -> Array:
    kept: list[int] = []
    copied: list[int] = []
    sums: list[complex] = []
    total = 0 * x[0]
    for i in range(len(x)):
        if x[i].real > 0:
            kept.append(i)
        copied += [0] * (len(kept) - len(copied))
        if kept:
            copied[len(kept) // 2] = kept[len(kept) // 2]
        total += sum(x[k] * x[i] for k in copied)
        sums.append(total)
    return np.array(sums)


def work_by_pointer(x: Array) -> Array:
    work = list(x * x + 0.5)
    for start in (1, 2):
        for i in range(start, len(work)):
            work[i] = work[i] * work[i - 1] + 0.3 * work[i]
    return np.array(work) + 0.001 * x


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


def queue_front(x: Array) -> Array:
    queue: list[Any] = []
    out = []
    for i, v in enumerate(x):
        queue.append(v * v + 1.0)
        if i % 3 == 2:
            first = queue.pop(0)
            queue.append(first * v)
        elif len(queue) > 4:
            queue[2:] = queue[: len(queue) - 2]
            queue[1] = queue[2] * queue[3]
        out.append(queue[0] * queue[len(queue) // 2] + queue[-1])
    return np.array(out)


def unused_ratio(x: Array) -> Array:
    depth, width = x.reshape(-1, 2).T
    return np.where(depth > 0, width**2 / np.where(depth > 0, depth, 1), depth * width)

"""The Markdown report of a measurement: tables, geometric means, and whether the aims are met."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

BASES = ("hand", "hand-fast", "hand-vec")
PEERS = ("eager", "compile", "jax")

Results = dict[str, Any]
Cell = Callable[[dict[str, Any]], float | None]


def markdown(results: Results) -> str:
    """Return the whole report."""
    parts = [_head(results)]
    suite = _group(results, "suite")
    names = _columns(suite)
    if suite:
        parts += [
            "## Gradient over the gradient by hand\n\nTime of the gradient over that of `hand-fast`, paired by rounds; lower is better.",
            _table(suite, names, lambda e: e.get("over_hand"), _ratio, first=("hand-fast, µs", _time_of("hand-fast"))),
            "### Geometric means\n\nOver the rows in which both columns are there and right.",
            _means(suite, names),
            "### The aims\n\n" + _bullets(_aims(suite)),
            "## Gradient over primal\n\nTime of the gradient over that of the column's own forward run (`raw`: plain C).",
            _table(suite, names, lambda e: e.get("over_primal"), _ratio),
            "## Times\n\nMedian time of one gradient, in µs.",
            _table(suite, names, lambda e: 1e6 * e["gradient"]["median"] if "gradient" in e else None, _micro),
            "Median time of one forward run, in µs.",
            _table(suite, names, lambda e: 1e6 * e["primal"]["median"] if "primal" in e else None, _micro, mark=False),
        ]
    if results.get("memory"):
        parts += [
            "## Peak memory\n\nResident memory of one gradient beyond what stood before, in MB.",
            _memory(results["memory"]),
        ]
    scaling = _group(results, "scaling")
    if scaling:
        parts += ["## Cost against size\n\nThe map in double precision: ns per element and gradient."]
        parts += [_table(scaling, _columns(scaling), _per_element(scaling), _micro)]
    if results.get("overhead"):
        parts += [
            "## One call at n = 16\n\nMedian, in µs, of x·sin(x) in single precision, through PyTorch.",
            _overhead(results["overhead"]),
        ]
    if results.get("startup"):
        parts += [
            "## From source to first gradient\n\n`test.c`, each time in a new process, beyond imports.",
            _startup(results["startup"]),
        ]
    parts += ["## Left out\n\n" + _bullets(_left_out(results)), "## Columns\n\n" + _bullets(_notes(results))]
    return "\n\n".join(part for part in parts if part) + "\n"


def geometric_mean(values: Iterable[float]) -> float | None:
    """Return the geometric mean, ``None`` of nothing."""
    logarithms = [math.log(v) for v in values]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else None


def mean_over(rows: Sequence[dict[str, Any]], column: str, base: str) -> tuple[float | None, int]:
    """Return the geometric mean of one column's time over another's, and over how many rows."""
    ratios = []
    for row in rows:
        pair = [_right(row, name) for name in (column, base)]
        if pair[0] and pair[1]:
            ratios.append(pair[0]["gradient"]["median"] / pair[1]["gradient"]["median"])
    return geometric_mean(ratios), len(ratios)


def _right(row: dict[str, Any], column: str) -> dict[str, Any] | None:
    entry = row["columns"].get(column)
    return entry if entry and "gradient" in entry and not entry.get("wrong") else None


def _group(results: Results, group: str) -> list[dict[str, Any]]:
    return [row for row in results["rows"] if row["group"] == group]


def _columns(rows: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row["columns"]))


def _head(results: Results) -> str:
    machine = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    lines = [
        f"# Benchmark, {machine['date']}",
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory']}; {machine['system']}; load {machine['load']} at the start. "
        f"Commit {machine['commit']}. {versions}.",
        f"`{results['command']}`, {results['seconds'] / 60:.0f} min. One thread everywhere. What rows and columns are: `benches/README.md`.",
    ]
    if machine["load"] > 0.5:
        lines.append("**The machine was not idle: take these numbers as rough.**")
    if results["quick"]:
        lines.append("**A quick run: few rounds; take these numbers as rough.**")
    return "\n\n".join(lines)


def _table(
    rows: Sequence[dict[str, Any]],
    names: Sequence[str],
    cell: Cell,
    show: Callable[[float], str],
    first: tuple[str, Callable[[dict[str, Any]], str]] | None = None,
    mark: bool = True,
) -> str:
    head = ["", *([first[0]] if first else []), *names]
    body = []
    for row in rows:
        cells = [row["name"], *([first[1](row)] if first else [])]
        for name in names:
            entry = row["columns"].get(name)
            value = cell({**entry, "row": row["name"]}) if entry else None
            text = "–" if value is None else show(value)
            cells.append(f"{text} (wrong)" if mark and entry and entry.get("wrong") else text)
        body.append(cells)
    return grid([head, *body])


def grid(lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, its columns padded so that it can be read as it is."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    text = []
    for number, line in enumerate(lines):
        padded = [
            cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        ]
        text.append("| " + " | ".join(padded) + " |")
        if number == 0:
            text.append("|" + "|".join("-" * (w + 1) + ("-" if i == 0 else ":") for i, w in enumerate(widths)) + "|")
    return "\n".join(text)


def _means(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> str:
    lines: list[list[str]] = [["gradient over", *names]]
    for base in BASES:
        cells = []
        for name in names:
            mean, count = mean_over(rows, name, base)
            cells.append("–" if mean is None else f"{_ratio(mean)} ({count})" if count < len(rows) else _ratio(mean))
        lines.append([base, *cells])
    primal = []
    for name in names:
        right = [entry for row in rows if (entry := _right(row, name)) and "over_primal" in entry]
        mean = geometric_mean(entry["over_primal"] for entry in right)
        primal.append("–" if mean is None else _ratio(mean))
    return grid([*lines, ["own primal", *primal]])


def _aims(rows: Sequence[dict[str, Any]]) -> list[str]:
    found = []
    for column, aim in (("ffgrad", 1.1), ("ffgrad-tuned", 1.0)):
        for base in BASES:
            mean, count = mean_over(rows, column, base)
            if mean is not None:
                found.append(
                    f"`{column}` over `{base}`, geometric mean of {count} rows: {_ratio(mean)} (aim: at most {aim})"
                )
    for peer in PEERS:
        slower = [(row["name"], r) for row in rows if (r := _over(row, "ffgrad", peer)) and r > 1.0]
        there = sum(_over(row, "ffgrad", peer) is not None for row in rows)
        if there:
            text = ", ".join(f"{name} ({_ratio(r)}×)" for name, r in slower) or "none"
            found.append(f"rows of {there} in which `ffgrad` is slower than `{peer}`: {text} (aim: none)")
    gmm = [(row["name"], r) for row in rows if row["name"].startswith("GMM") and (r := _over(row, "raw", "ffgrad"))]
    if gmm:
        found.append(
            "`raw` over `ffgrad`: " + ", ".join(f"{name} {_ratio(r)}" for name, r in gmm) + " (aim: at least 2)"
        )
    pair = [row for row in rows if row["name"].startswith("normalise")]
    if len(pair) == 2:
        small, large = pair
        names = [name for name in small["columns"] if _right(small, name) and _right(large, name)]
        growth = {
            n: large["columns"][n]["gradient"]["median"] / small["columns"][n]["gradient"]["median"] for n in names
        }
        text = ", ".join(f"{name} {_ratio(value)}" for name, value in growth.items())
        found.append(f"growth of the gradient from {small['name']} to 4n: {text} (linear: 4, quadratic: 16)")
    return found


def _over(row: dict[str, Any], column: str, base: str) -> float | None:
    one, other = _right(row, column), _right(row, base)
    return one["gradient"]["median"] / other["gradient"]["median"] if one and other else None


def _memory(entries: Sequence[dict[str, Any]]) -> str:
    rows = list(dict.fromkeys(e["name"] for e in entries))
    names = list(dict.fromkeys(e["column"] for e in entries))
    peaks = {(e["name"], e["column"]): e.get("peak") for e in entries}
    lines = [["", *names]]
    for row in rows:
        values = [peaks.get((row, name)) for name in names]
        lines.append([row, *("–" if v is None else f"{v / 1e6:.1f}" for v in values)])
    return grid(lines)


def _per_element(rows: Sequence[dict[str, Any]]) -> Cell:
    sizes = {row["name"]: float(row["name"].split()[1]) for row in rows}
    return lambda e: 1e9 * e["gradient"]["median"] / sizes[e["row"]] if "gradient" in e else None


def _overhead(overhead: dict[str, Any]) -> str:
    names = list(dict.fromkeys(name for cells in overhead["table"].values() for name in cells))
    lines = [["", *names]]
    for what, cells in overhead["table"].items():
        lines.append([what, *(f"{1e6 * cells[n]['median']:.2f}" if n in cells else "–" for n in names)])
    return grid(lines)


def _startup(startup: dict[str, Any]) -> str:
    lines = [["", "median, s", "least", "most"]]
    for name, value in startup.items():
        if "median" in value:
            lines.append([name, *(f"{v:.4f}" for v in (value["median"], min(value["values"]), max(value["values"])))])
    return grid(lines)


def _left_out(results: Results) -> list[str]:
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in results["rows"]:
        for column, reason in row["skipped"].items():
            reasons.setdefault((f"column `{column}`", reason), []).append(row["name"])
    found = [f"{what}: {reason} ({_some(rows)})" for (what, reason), rows in reasons.items()]
    found += [f"row {item['name']}: {item['reason']}" for item in results["skipped"]]
    for row in results["rows"]:
        wrong = [(name, e["error"]) for name, e in row["columns"].items() if e.get("wrong")]
        found += [
            f"{row['name']}, `{name}`: its gradient is wrong, by {error:.1e}; not in the means" for name, error in wrong
        ]
    for name, reason in (results.get("overhead") or {}).get("skipped", {}).items():
        found.append(f"one call, {name}: {reason}")
    for name, value in (results.get("startup") or {}).items():
        if "skipped" in value:
            found.append(f"first gradient, {name}: {value['skipped']}")
    for entry in results.get("memory") or []:
        if "reason" in entry:
            found.append(f"memory of {entry['name']}, `{entry['column']}`: {entry['reason']}")
    return found or ["nothing"]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} rows"


def _notes(results: Results) -> list[str]:
    notes: dict[str, dict[str, None]] = {}
    for row in results["rows"]:
        for name, entry in row["columns"].items():
            notes.setdefault(name, {})[entry["note"]] = None
    return [f"`{name}`: " + "; ".join(texts) for name, texts in notes.items()]


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _time_of(column: str) -> Callable[[dict[str, Any]], str]:
    def time(row: dict[str, Any]) -> str:
        entry = row["columns"].get(column)
        return _micro(1e6 * entry["gradient"]["median"]) if entry else "–"

    return time


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def _micro(value: float) -> str:
    return _ratio(value)

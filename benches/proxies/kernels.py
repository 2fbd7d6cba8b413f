"""The proxy kernels: sources, signatures, and inputs of any size; ``README.md`` says what each is like."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from harness.problem import rng  # noqa: E402

Arrays = dict[str, Any]


@dataclass(frozen=True)
class Kernel:
    """One kernel with its inputs.

    Attributes
    ----------
    name : str
        Its row in the table.
    source, function, signature : str
        What ``enzyme`` is given.
    parameters : str
        The C parameters by name, in order.
    inputs : dict
        In the order of the signature: arrays of doubles (with a gradient), arrays of integers, numbers.
    outputs : dict
        The shapes of the outputs; one that is an input too is updated in place.
    dims : dict
        The integers among the C parameters that no call takes.
    parallel : bool
        Whether it has an OpenMP version: the same source with ``-fopenmp``.
    independent : bool
        Whether it is a loop of independent iterations, whose gradient may need three times the primal's memory.
    """

    name: str
    source: str
    function: str
    signature: str
    parameters: str
    inputs: Arrays
    outputs: dict[str, tuple[int, ...]]
    dims: dict[str, int]
    parallel: bool = True
    independent: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """Return the source."""
        return HERE / self.source

    @property
    def active(self) -> list[str]:
        """Return the inputs with a gradient."""
        return [n for n, x in self.inputs.items() if isinstance(x, np.ndarray) and x.dtype == np.float64]

    @property
    def is_cuda(self) -> bool:
        """Return whether it runs on the CPU as a CUDA device."""
        return self.path.suffix == ".cu"


def all_kernels(small: bool = False) -> list[Kernel]:
    """Return every kernel; small ones for tests."""
    return [make(small) for make in (*SERIAL, *CUDA)]


def _nuclear_data(small: bool, draw: np.random.Generator) -> Arrays:
    nuclides, points, materials = (6, 40, 4) if small else (60, 4000, 12)
    grid = draw.uniform(0.1, 1.0, size=(nuclides, points, 6))
    edges = (np.arange(points) + draw.uniform(0.1, 0.9, size=(nuclides, points))) / points
    edges[:, 0], edges[:, -1] = 0.0, 1.0
    grid[:, :, 0] = edges
    counts = draw.integers(2, 1 + nuclides // 2, size=materials)
    nuclide = np.concatenate([draw.permutation(nuclides)[:n] for n in counts])
    first = np.concatenate([[0], np.cumsum(counts)])
    return {
        "grid": grid,
        "density": draw.uniform(0.1, 1.0, size=len(nuclide)),
        "nuclide": nuclide.astype(np.int32),
        "first": first.astype(np.int32),
    }


def by_search(small: bool) -> Kernel:
    """Cross-section lookups by binary search."""
    inputs = _nuclear_data(small, rng("lookups"))
    lookups = 60 if small else 50_000
    return Kernel(
        name="lookups, binary search",
        source="lookups.c",
        function="by_search",
        signature="grid[nuclides,points,6], density[entries], nuclide[entries], first[materials+1] -> total[lookups,5]",
        parameters="grid density nuclide first points materials lookups total",
        inputs=inputs,
        outputs={"total": (lookups, 5)},
        dims={"points": inputs["grid"].shape[1], "materials": len(inputs["first"]) - 1, "lookups": lookups},
        independent=True,
        options={"sizes": {"lookups": lookups}},
    )


def by_hash(small: bool) -> Kernel:
    """Cross-section lookups by a table of bins."""
    inputs = _nuclear_data(small, rng("lookups"))
    lookups, bins = (60, 20) if small else (50_000, 2000)
    edges = np.arange(bins) / bins
    energies = inputs["grid"][:, :, 0]
    inputs["bin"] = np.stack([np.searchsorted(e, edges, side="right") - 1 for e in energies]).astype(np.int32)
    return Kernel(
        name="lookups, hash",
        source="lookups.c",
        function="by_hash",
        signature="grid[nuclides,points,6], density[entries], nuclide[entries], first[materials+1], bin[nuclides,bins]"
        " -> total[lookups,5]",
        parameters="grid density nuclide first bin points materials bins lookups total",
        inputs=inputs,
        outputs={"total": (lookups, 5)},
        dims={
            "points": energies.shape[1],
            "materials": len(inputs["first"]) - 1,
            "bins": bins,
            "lookups": lookups,
        },
        independent=True,
        options={"sizes": {"lookups": lookups}},
    )


def multipole(small: bool) -> Kernel:
    """Cross sections from poles."""
    draw = rng("multipole")
    nuclides, windows, each, lookups = (2, 3, 3, 12) if small else (20, 50, 8, 4000)
    count = windows * each
    poles = draw.normal(scale=0.1, size=(nuclides, count, 8))
    poles[:, :, 0] = np.sqrt(0.01 + 0.98 * (np.arange(count) + draw.uniform(size=(nuclides, count))) / count)
    poles[:, :, 1] = -draw.uniform(0.001, 0.01, size=(nuclides, count))
    starts = np.arange(windows) * each
    ends = np.minimum(starts + draw.integers(each // 2 + 1, 2 * each, size=(nuclides, windows)), count)
    spans = np.stack([np.broadcast_to(starts, ends.shape), ends], axis=-1)
    return Kernel(
        name="multipole",
        source="multipole.c",
        function="multipole",
        signature="poles[nuclides,count,8], smooth[nuclides,windows,3], radius[nuclides,4], density[nuclides], width[nuclides],"
        " wave[nuclides,count], range[nuclides,windows,2] -> total[lookups,3]",
        parameters="poles smooth radius density width wave range nuclides count windows lookups total",
        inputs={
            "poles": poles,
            "smooth": draw.uniform(0.1, 1.0, size=(nuclides, windows, 3)),
            "radius": draw.uniform(0.5, 1.5, size=(nuclides, 4)),
            "density": draw.uniform(0.1, 1.0, size=nuclides),
            "width": draw.uniform(20.0, 60.0, size=nuclides),
            "wave": draw.integers(0, 4, size=(nuclides, count)).astype(np.int32),
            "range": np.ascontiguousarray(spans).astype(np.int32),
        },
        outputs={"total": (lookups, 3)},
        dims={"nuclides": nuclides, "count": count, "windows": windows, "lookups": lookups},
        independent=True,
        options={"sizes": {"lookups": lookups}},
    )


def _molecules(small: bool) -> Arrays:
    draw = rng("docking")
    poses, atoms, protein, kinds = (5, 4, 9, 3) if small else (10_000, 20, 50, 8)
    side = 4.0 if small else 10.0
    angles, shifts = draw.uniform(0, 6.28, size=(poses, 3)), draw.normal(scale=3.0, size=(poses, 3))
    force = draw.uniform(0.5, 1.5, size=(kinds, 4))
    force[:, 2] = draw.normal(size=kinds)
    return {
        "pose": np.concatenate([angles, shifts], axis=1),
        "ligand": draw.normal(scale=3.0, size=(atoms, 3)),
        "protein": draw.uniform(-side / 2, side / 2, size=(protein, 3)),
        "force": force,
        "of_ligand": draw.integers(0, kinds, size=atoms).astype(np.int32),
        "of_protein": draw.integers(0, kinds, size=protein).astype(np.int32),
    }


def docking(small: bool) -> Kernel:
    """Energies of poses of a molecule in a protein."""
    inputs = _molecules(small)
    poses, atoms, protein = (len(inputs[n]) for n in ("pose", "ligand", "protein"))
    return Kernel(
        name="docking",
        source="docking.c",
        function="docking",
        signature="pose[poses,6], ligand[small,3], protein[large,3], force[kinds,4], of_ligand[small], of_protein[large]"
        " -> energy[poses]",
        parameters="pose ligand protein force of_ligand of_protein poses small large energy",
        inputs=inputs,
        outputs={"energy": (poses,)},
        dims={"poses": poses, "small": atoms, "large": protein},
        independent=True,
    )


def _lattice(small: bool) -> tuple[np.random.Generator, tuple[int, int, int], Arrays]:
    draw = rng("boltzmann")
    shape = (3, 4, 5) if small else (24, 32, 32)
    model = np.array([1.1, 0.01, -0.02, 0.015])
    wall = (draw.uniform(size=shape) < 0.1).astype(np.int32)
    return draw, shape, {"model": model, "wall": wall}


def boltzmann(small: bool) -> Kernel:
    """Lattice Boltzmann, D3Q19."""
    draw, shape, rest = _lattice(small)
    steps = 3 if small else 10
    return Kernel(
        name="lattice Boltzmann",
        source="boltzmann.c",
        function="boltzmann",
        signature="start[nz,ny,nx,19], model[4], wall[nz,ny,nx], steps -> end[nz,ny,nx,19]",
        parameters="start model wall nz ny nx steps end",
        inputs={"start": draw.uniform(0.8, 1.2, size=(*shape, 19)) / 19, **rest, "steps": steps},
        outputs={"end": (*shape, 19)},
        dims=dict(zip(("nz", "ny", "nx"), shape, strict=True)),
    )


def hotspot(small: bool) -> Kernel:
    """Temperature of a chip."""
    draw = rng("hotspot")
    rows, cols, steps = (5, 6, 4) if small else (256, 256, 50)
    return Kernel(
        name="hotspot",
        source="hotspot.c",
        function="hotspot",
        signature="start[rows,cols], power[rows,cols], chip[6], steps -> end[rows,cols]",
        parameters="start power chip rows cols steps end",
        inputs={
            "start": draw.uniform(0.5, 1.5, size=(rows, cols)),
            "power": draw.uniform(0.5, 1.5, size=(rows, cols)),
            "chip": np.array([0.1, 1.0, 1.2, 0.5, 0.8, 0.1]),
            "steps": steps,
        },
        outputs={"end": (rows, cols)},
        dims={"rows": rows, "cols": cols},
    )


def relax(small: bool) -> Kernel:
    """Soft shortest paths in a graph."""
    draw = rng("relax")
    vertices, rounds = (12, 3) if small else (10_000, 10)
    degrees = draw.integers(1, 4 if small else 12, size=vertices)
    first = np.concatenate([[0], np.cumsum(degrees)])
    return Kernel(
        name="graph relaxation",
        source="graph.c",
        function="relax",
        signature="start[vertices], length[edges], from[edges], first[vertices+1], rounds -> distance[vertices]",
        parameters="start length from first vertices rounds distance",
        inputs={
            "start": draw.uniform(1.0, 3.0, size=vertices),
            "length": draw.uniform(0.5, 1.5, size=first[-1]),
            "from": draw.integers(0, vertices, size=first[-1]).astype(np.int32),
            "first": first.astype(np.int32),
            "rounds": rounds,
        },
        outputs={"distance": (vertices,)},
        dims={"vertices": vertices},
    )


def pathfinder(small: bool) -> Kernel:
    """The cheapest path down a grid."""
    rows, cols = (6, 7) if small else (400, 2500)
    return Kernel(
        name="pathfinder",
        source="graph.c",
        function="pathfinder",
        signature="cost[rows,cols] -> best[cols]",
        parameters="cost rows cols best",
        inputs={"cost": rng("pathfinder").uniform(size=(rows, cols))},
        outputs={"best": (cols,)},
        dims={"rows": rows, "cols": cols},
    )


def _mesh(side: int) -> Arrays:
    """Return a cube of hexahedra that is a little bent; its elements and nodes are in random order."""
    draw = rng("mesh")
    place = draw.permutation((side + 1) ** 3)
    at = np.stack(np.meshgrid(*[np.arange(side + 1)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    step = np.array([(side + 1) ** 2, side + 1, 1])
    lowest = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    offsets = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
    corner = place[((draw.permutation(lowest)[:, None] + offsets) * step).sum(-1)]
    position = np.empty((len(at), 3))
    position[place] = at + draw.uniform(-0.1, 0.1, size=at.shape)
    elements = len(corner)
    return {
        "position": position,
        "velocity": draw.normal(scale=0.1, size=position.shape),
        "energy": draw.uniform(0.5, 1.5, size=elements),
        "mass": draw.uniform(0.8, 1.2, size=elements),
        "gas": np.array([0.4, 1.5, 0.3, 0.1]),
        "corner": corner.astype(np.int32),
    }


def forces(small: bool) -> Kernel:
    """Elements alone."""
    inputs = _mesh(2 if small else 32)
    nodes, elements = len(inputs["position"]), len(inputs["energy"])
    return Kernel(
        name="hydrodynamics, elements",
        source="hydro.c",
        function="forces",
        signature="position[nodes,3], velocity[nodes,3], energy[elements], mass[elements], gas[4], corner[elements,8]"
        " -> force[nodes,3]",
        parameters="position velocity energy mass gas corner nodes elements force",
        inputs=inputs,
        outputs={"force": (nodes, 3)},
        dims={"nodes": nodes, "elements": elements},
        independent=True,
    )


def hydro(small: bool) -> Kernel:
    """Whole steps."""
    mesh = _mesh(2 if small else 16)
    corner = mesh.pop("corner")
    nodes, elements = len(mesh["position"]), len(mesh["energy"])
    touching = np.argsort(corner.reshape(-1), kind="stable")
    counts = np.bincount(corner.reshape(-1), minlength=nodes)
    weight = np.zeros(nodes)
    np.add.at(weight, corner, mesh["mass"][:, None] / 8)
    gas = mesh.pop("gas")
    return Kernel(
        name="hydrodynamics, steps",
        source="hydro.c",
        function="hydro",
        signature="position[nodes,3], velocity[nodes,3], energy[elements], mass[elements], weight[nodes], gas[4],"
        " corner[elements,8], first[nodes+1], touching[elements*8], steps, const dt"
        " -> position[nodes,3], velocity[nodes,3], energy[elements]",
        parameters="position velocity energy mass weight gas corner first touching nodes elements steps dt",
        inputs={
            **mesh,
            "weight": weight,
            "gas": gas,
            "corner": corner,
            "first": np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
            "touching": touching.astype(np.int32),
            "steps": 2 if small else 5,
            "dt": 0.01,
        },
        outputs={"position": (nodes, 3), "velocity": (nodes, 3), "energy": (elements,)},
        dims={"nodes": nodes, "elements": elements},
    )


def cuda_lookups(small: bool) -> Kernel:
    """The lookups, a thread for each."""
    draw = rng("lookups")
    inputs = _nuclear_data(small, draw)
    n = 60 if small else 20_000
    materials = len(inputs["first"]) - 1
    data = {
        "grid": inputs["grid"],
        "density": inputs["density"],
        "energies": draw.uniform(size=n),
        "nuclide": inputs["nuclide"],
        "first": inputs["first"],
        "material": draw.integers(0, materials, size=n).astype(np.int32),
    }
    return Kernel(
        name="lookups (CUDA)",
        source="lookups.cu",
        function="lookups",
        signature="grid[nuclides,points,6], density[entries], energies[n], nuclide[entries], first[materials+1], material[n]"
        " -> total[n,5]",
        parameters="",
        inputs=data,
        outputs={"total": (n, 5)},
        dims={},
        parallel=False,
        independent=True,
        options={"grid": "(n+127)//128", "block": 128},
    )


def cuda_boltzmann(small: bool) -> Kernel:
    """A step of the lattice, a thread for each cell."""
    draw, shape, rest = _lattice(small)
    return Kernel(
        name="lattice Boltzmann (CUDA)",
        source="boltzmann.cu",
        function="boltzmann",
        signature="f[19,nz,ny,nx], model[4], wall[nz,ny,nx] -> g[19,nz,ny,nx]",
        parameters="",
        inputs={"f": draw.uniform(0.8, 1.2, size=(19, *shape)) / 19, **rest},
        outputs={"g": (19, *shape)},
        dims={},
        parallel=False,
        independent=True,
        options={"grid": "(nz*ny*nx+127)//128", "block": 128},
    )


def cuda_docking(small: bool) -> Kernel:
    """The docking energies, a thread for each pose."""
    inputs = _molecules(small)
    inputs = {"poses": inputs.pop("pose"), **inputs}
    return Kernel(
        name="docking (CUDA)",
        source="docking.cu",
        function="docking",
        signature="poses[n,6], ligand[small,3], protein[large,3], force[kinds,4], of_ligand[small], of_protein[large]"
        " -> energy[n]",
        parameters="",
        inputs=inputs,
        outputs={"energy": (len(inputs["poses"]),)},
        dims={},
        parallel=False,
        independent=True,
        options={"grid": "(n+63)//64", "block": 64},
    )


SERIAL: tuple[Callable[[bool], Kernel], ...] = (
    hydro,
    forces,
    by_search,
    by_hash,
    multipole,
    docking,
    boltzmann,
    hotspot,
    relax,
    pathfinder,
)
CUDA: tuple[Callable[[bool], Kernel], ...] = (cuda_lookups, cuda_boltzmann, cuda_docking)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex decomposition: a concave mesh as convex pieces, by CoACD (Wei et al. 2022), an optional package.

    decompose(vertices, triangles, concavity=0.05) -> ConvexDecomposition
    decomposing(vertices, triangles, concavity=0.05)     the same as a generator, for those who have other things to do

Pieces collide as any hulls do: faster than a TriangleMesh and without its one-sided surface, but a little larger than
the mesh in its hollows and with seams that small things may feel.
"""

import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np

from . import coerce
from .convex_hull import convex_hull
from .errors import SceneError
from .mass import polyhedron
from .shapes import ConvexDecomposition, TriangleMesh

FINEST, COARSEST = 0.01, 1.0
KEPT = 64  # decompositions remembered: one takes seconds to minutes, and scenes are read again and again
PROGRAM = """
import sys
import coacd
import numpy as np
given = np.load(sys.argv[1])
coacd.set_log_level("error")
threshold, seed = given["settings"]
mesh = coacd.Mesh(given["vertices"], given["triangles"])
np.savez(sys.argv[2], *[points for points, _ in coacd.run_coacd(mesh, threshold=threshold, seed=int(seed))])
"""
"""Takes a mesh apart in a process of its own: where coacd does not know on, it ends the one it is in."""
PAUSE = 0.01  # [s] that one slice waits for the other process
SLIVER = 1e-9  # a piece with less of the mesh's box than this is none

_kept = {}
"""(vertices, triangles, concavity, seed) -> pieces, the oldest first."""


def decompose(vertices, triangles, concavity=0.05, seed=0):
    """Take a mesh apart into convex pieces.

    Args:
        vertices: (V, 3) [m].
        triangles: (T, 3) vertex numbers, counter-clockwise seen from outside.  An open or tangled surface is closed
            first, on a grid of 1/50 of its size.
        concavity: how deep hollows may be that a piece covers, relative to the mesh's size, 0.01 to 1.
        seed: of the search.  The same input and seed give the same pieces.

    Returns:
        ConvexDecomposition: collides as its pieces, weighs what the mesh weighs.

    Raises:
        SceneError: the package coacd is not installed, or the mesh holds nothing that could be taken apart.
    """
    slices = decomposing(vertices, triangles, concavity, seed)
    while True:
        try:
            next(slices)
        except StopIteration as end:
            return end.value


def decomposing(vertices, triangles, concavity=0.05, seed=0):
    """``decompose`` as a generator: each slice waits for hundredths of a second, and closing it ends the search."""
    vertices, triangles, concavity = coerce.array(vertices), coerce.indices(triangles), coerce.number(concavity)
    _check(vertices, triangles, concavity)
    triangles = TriangleMesh(vertices, triangles).wound
    key = (vertices.tobytes(), triangles.tobytes(), concavity, int(seed))
    if key not in _kept:
        _kept[key] = yield from _pieces(vertices, triangles, concavity, int(seed))
        while len(_kept) > KEPT:
            del _kept[next(iter(_kept))]
    return ConvexDecomposition(vertices, triangles, pieces=_kept[key])


def _check(vertices, triangles, concavity):
    """Refuses what coacd, which knows no errors, would break down on."""
    if not isinstance(vertices, np.ndarray) or vertices.ndim != 2 or vertices.shape[1] != 3:
        raise SceneError("a convex decomposition needs vertices of shape (V, 3)")
    if getattr(triangles, "dtype", None) != np.int32 or triangles.ndim != 2 or triangles.shape[1] != 3:
        raise SceneError("a convex decomposition needs triangles of shape (T, 3) that hold whole vertex numbers")
    if not len(triangles):
        raise SceneError("a mesh without triangles has no convex decomposition: add faces, or use a ConvexHull")
    if not np.isfinite(vertices).all():
        raise SceneError("a mesh with NaN or infinite vertices has no convex decomposition: mend them")
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise SceneError(f"triangles name vertices beyond the {len(vertices)} there are: use 0 to {len(vertices) - 1}")
    if not np.ptp(vertices[triangles].reshape(-1, 3), axis=0).max() > 0.0:
        raise SceneError("all triangles of the mesh lie in one place: give it a size")
    if not isinstance(concavity, float) or not FINEST <= concavity <= COARSEST:
        raise SceneError(f"concavity is {concavity!r}: it must be from {FINEST:g} to {COARSEST:g} of the mesh's size")


def _coacd():
    try:
        import coacd
    except ImportError as error:
        raise SceneError(
            "convex decomposition needs the package coacd, which is not installed: install it (pip install coacd), or "
            "choose the mesh itself or its convex hull"
        ) from error
    return coacd


def _pieces(vertices, triangles, concavity, seed):
    """Vertices (V, 3) of each piece, read-only; a generator."""
    _coacd()
    # Near one and around zero, whatever the mesh's own unit and place.
    middle, size = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0)), float(np.ptp(vertices, axis=0).max())
    given = {"vertices": (vertices - middle) / size, "triangles": triangles, "settings": [concavity, seed]}
    found = yield from _apart(given)
    pieces = [middle + size * points for points in found if _encloses(points)]
    if not pieces:
        raise SceneError("the mesh has no convex decomposition: it is too thin, so give it thickness or use a Box")
    for points in pieces:
        points.flags.writeable = False
    return tuple(pieces)


def _apart(given):
    """Run PROGRAM on arrays; returns the vertices (V, 3) of each piece.  A generator."""
    with tempfile.TemporaryDirectory(prefix="axion-pieces-") as name:
        task, answer, told = (Path(name) / own for own in ("task.npz", "answer.npz", "told.txt"))
        np.savez(task, **given)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(os.path.isdir, sys.path))}
        hidden = {"creationflags": subprocess.CREATE_NO_WINDOW} if sys.platform == "win32" else {}
        command = [sys.executable or "python", "-P", "-c", PROGRAM, str(task), str(answer)]
        try:
            with open(told, "w") as said:  # a pipe that nobody reads would stop it
                streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": said}
                done = subprocess.Popen(command, env=environment, **streams, **hidden)
        except OSError as error:
            raise SceneError(
                f"convex decomposition needs a Python of its own, which cannot be started ({error}): choose the mesh "
                "itself or its convex hull"
            ) from error
        yield from _wait_for(done)
        if done.returncode or not answer.exists():
            said = (told.read_text(errors="replace").strip().splitlines() or [f"status {done.returncode}"])[-1].strip()
            raise SceneError(
                f"the mesh has no convex decomposition, coacd broke down on it ({said}): merge vertices that lie in "
                "one place and give it thickness, or choose the mesh itself or its convex hull"
            )
        with np.load(answer, allow_pickle=False) as pieces:
            return [np.asarray(pieces[name], float) for name in pieces.files]


def _wait_for(process):
    """Wait for the end of a process in slices; it is ended where the generator is closed before."""
    try:
        while process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(PAUSE)
            yield
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _encloses(points):
    """Whether a piece, in units of the mesh's size, has a hull that is more than a sliver."""
    try:
        return polyhedron(points, convex_hull(points)).volume > SLIVER
    except SceneError:
        return False

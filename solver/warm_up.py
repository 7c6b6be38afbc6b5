# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles the kernels of a simulation before it begins: the solver's on threads of their own, beside newton's.

With an empty cache Warp compiles each module when it is first launched, one after the other, most of a minute long.
"""

import threading
from collections import deque
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import warp as wp

from .collision import Collider
from .model import build_model
from .scene import Body, Scene
from .shapes import Plane

DEPTH = 4
"""How deep in a solver's objects kernels are looked for."""
STEP = 1e-3
"""Seconds that a detection looks ahead to launch all its kernels."""


def warm_up(scene, solver, say=None):
    """Compile what is launched for a scene, where it is not in Warp's kernel cache.

    solver: ProximalSolver or SchurSolver, whose modules tell whether anything is missing.  say: called with one
    sentence whenever compiling goes on, while this function runs.  Raises RuntimeError where the compiler fails.
    """
    left = [module for module in kernel_modules(solver) if not is_compiled(module, solver.device)]
    if not left:
        return
    team = _Team(solver.device, left, say)
    if not solver.device.is_cpu:  # CUDA loads no module while another thread records a graph
        team.finish()
    try:
        _detect(scene, solver.device)
    finally:
        team.finish()


class _Team:
    """A thread that loads modules, which ``finish`` helps."""

    def __init__(self, device, modules, say):
        self.device, self.say = device, say
        self.waiting, self.count, self.ready, self.error = deque(modules), len(modules), 0, None
        self.detects, self.lock = True, threading.Lock()
        self._tell()
        self.thread = threading.Thread(target=self._work, name="axion compiler", daemon=True)
        self.thread.start()

    def finish(self):
        """Load what still waits; may be called twice.  Raises RuntimeError where that failed."""
        self.detects = False
        self._work()
        self.thread.join()
        if self.error is not None:
            raise RuntimeError(f"a kernel cannot be compiled: {self.error}") from self.error

    def _tell(self):
        if self.say is not None:
            more = ", collision detection" if self.detects else ""
            self.say(f"Compiling kernels, first run only: {self.ready} of {self.count} of the solver's{more}")

    def _work(self):
        while self._next():
            with self.lock:  # whoever listens hears one sentence at a time
                self.ready += 1
                self._tell()

    def _next(self):
        """Load one module.  False where none waits."""
        try:
            module = self.waiting.popleft()
        except IndexError:
            return False
        try:
            wp.force_load(self.device, [module])
        except Exception as error:  # noqa: BLE001  whoever calls finish raises it
            self.error = error
            self.waiting.clear()
        return True


def _detect(scene, device):
    """Find contacts between a few bodies of the shapes that ``scene`` has: newton's kernels depend on their kinds."""
    kinds = {type(part): part for body in scene.bodies for shape in body.shapes for part in shape.parts()}
    sample = Scene()
    for kind, shape in kinds.items():
        for copy in range(1 if kind is Plane else 2):
            motion = "static" if kind is Plane else "dynamic"
            sample.add(Body(f"{kind.__name__} {copy}", [shape], motion=motion, mass=1.0))
    count = len(sample.bodies)
    still, upright = np.zeros((count, 3)), np.tile([0.0, 0.0, 0.0, 1.0], (count, 1))
    Collider(build_model(sample, device, still)).collide(still, upright, still, still, STEP)


def kernel_modules(*things):
    """Warp modules of the kernels that objects of this package hold, ``things`` and what they are made of: a list."""
    found, seen, waiting = {}, set(), deque((thing, 0) for thing in things)
    while waiting:
        thing, depth = waiting.popleft()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, wp.Kernel):
            found[thing.module.name] = thing.module
        elif depth < DEPTH:
            waiting.extend((part, depth + 1) for part in _parts(thing))
    return list(found.values())


def _parts(thing):
    if isinstance(thing, tuple):
        return thing
    own = isinstance(thing, SimpleNamespace) or type(thing).__module__.startswith(f"{__package__}.")
    return list(vars(thing).values()) if own and hasattr(thing, "__dict__") else ()


def is_compiled(module, device):
    """Whether Warp's kernel cache holds a module as it is now."""
    block = 1 if device.is_cpu else module.options["block_dim"]
    return (Path(wp.config.kernel_cache_dir) / module.get_module_identifier(block)).is_dir()

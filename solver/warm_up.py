# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles the kernels of a simulation before it begins, on two threads.

With an empty cache Warp compiles each module when it is first launched, one after the other, most of a minute long.
Here one thread begins with the solver's modules.  The calling one finds contacts in a small scene, which compiles
newton's: those of its narrow phase come to be when they are launched, and are a third of the work.
"""

import itertools
import threading
from collections import deque
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import warp as wp

from . import (
    bounce_kernel,
    contact_frames,
    contact_geometry,
    convex_touch,
    impact,
    knock_on,
    least_depth,
    lost_contacts,
    predict,
    round_sides,
)  # fmt: skip
from .collision import Collider
from .constraints import springs
from .constraints.joints import joint_kernels
from .face_polygons import many_sided
from .linear.stiffness import stiffness_kernel
from .model import build_model
from .residual_kernels import JOINT_MODULE, residual_kernels
from .scene import Body, Scene
from .shapes import Box, Capsule, Cone, ConvexHull, Cylinder, Plane

ON_HOST = (
    predict.module, springs.module, contact_frames.module, impact.module, knock_on.module, bounce_kernel.module,
    convex_touch.module,
)  # fmt: skip
"""Modules whose kernels run on the CPU beside NumPy, whatever device a scene is solved on."""
TURNING = Box, Capsule, Cone, ConvexHull, Cylinder
"""Shapes that may hit with other places than were nearest at a step's start."""
ROUND = Capsule, Cone, Cylinder
"""Shapes with a round side, see round_contacts.py."""
DEPTH = 4
"""How deep in a solver's objects kernels are looked for."""
STEP = 1e-3
"""Seconds that a detection looks ahead to launch all its kernels."""


def warm_up(scene, solver, say=None):
    """Compile what is launched for a scene, where it is not in Warp's kernel cache.

    solver: ProximalSolver or SchurSolver, whose modules tell whether anything is missing.  say: called with one
    sentence whenever compiling goes on, while this function runs.  Raises RuntimeError where the compiler fails.
    """
    device, detection, left = solver.device, _of_contacts(scene), uncompiled(scene, solver)
    if not left:
        _load_all(scene, solver)
        return
    team = _Team(left, say)
    if device.is_cuda:  # it loads no module while another thread records a graph
        team.finish()
    try:
        collider = _sample(scene, device)
        detection += collider.prepare()
        team.load({module: device for module in detection if module in left or not is_compiled(module, device)})
        _detect(collider)
    finally:
        team.finish()
    _load_all(scene, solver)


def _load_all(scene, solver):
    """Load modules on a CUDA device before anything is recorded there: a first step may leave out many of them."""
    if solver.device.is_cuda:
        wp.force_load(solver.device, [module for module, device in launched(scene, solver).items() if device.is_cuda])


def order_sums(device, deterministic):
    """Let the judge's sums run in the same order every time, or in any, on a CUDA device.

    Solvers add up in teams, whose order is fixed.  On the CPU one thread adds up.  Returns the modules to load anew.
    """
    changed = []
    if not device.is_cuda:
        return changed
    mode = wp.DeterministicMode.RUN_TO_RUN if deterministic else wp.DeterministicMode.NOT_GUARANTEED
    for module in kernel_modules(residual_kernels()):
        if module.options["deterministic"] is not mode:
            module.options["deterministic"] = mode
            module.mark_modified()
            changed.append(module)
    return changed


def order_again(device, deterministic):
    """``order_sums`` of a simulation under way: another one may have asked for something else since its last frame."""
    if changed := order_sums(device, deterministic):
        wp.force_load(device, changed)


def uncompiled(scene, solver):
    """{module: device} of what Warp's kernel cache lacks for a scene, large ones first; newton's do not count."""
    work = launched(scene, solver)
    return {module: device for module, device in work.items() if not is_compiled(module, device)}


def launched(scene, solver):
    """{module: device} of all kernels that a scene launches, large ones first, but newton's."""
    device, host = solver.device, wp.get_device("cpu")
    of_joints = [wp.get_module(JOINT_MODULE), *kernel_modules(joint_kernels(), stiffness_kernel())]
    unused = [] if scene.joints else of_joints
    needed = [*_of_contacts(scene), *kernel_modules(residual_kernels(), solver)]
    rebounds = any(body.restitution > 0.0 for body in scene.bodies)
    still = any(body.motion == "static" and body.shapes for body in scene.bodies)
    touch = sum(len(body.shapes) > 0 for body in scene.bodies) > 1
    turn = touch and _has(scene, TURNING)
    needed_on_host = True, bool(scene.joints), touch, touch, touch and rebounds, touch and rebounds and still, turn
    on_host = {wp.get_module(name): host for name in itertools.compress(ON_HOST, needed_on_host)}
    return {module: device for module in needed if module not in unused} | on_host


def _of_contacts(scene):
    """Modules of the solver's own kernels that find contacts in a scene."""
    names = {contact_geometry.MODULE: True, round_sides.MODULE: _has(scene, ROUND) or _has_many_sided(scene)}
    names[least_depth.MODULE] = _has(scene, ConvexHull)
    names[lost_contacts.MODULE] = lost_contacts.may_lose(_solids(scene))
    return [wp.get_module(name) for name, needed in names.items() if needed]


def _has(scene, kinds):
    """Whether any shape of a scene is one of these kinds, or has a part that is."""
    return any(isinstance(part, kinds) for part in _solids(scene))


def _has_many_sided(scene):
    """Whether any shape has a face of many corners, see outlines.py."""
    return any(many_sided(part) for part in _solids(scene))


def _solids(scene):
    """All parts of all shapes of a scene."""
    return [part for body in scene.bodies for shape in body.shapes for part in shape.parts()]


class _Team:
    """A thread that loads modules, and whoever calls ``load`` or ``finish`` helps it."""

    def __init__(self, work, say):
        """work: the modules, and the device each is loaded for."""
        self.say, self.error, self.closed = say, None, False
        self.waiting, self.work, self.done = deque(work), dict(work), set()
        self.changed = threading.Condition()
        self._tell()
        self.thread = threading.Thread(target=self._work, name="axion compiler", daemon=True)
        self.thread.start()

    def load(self, work):
        """Load modules before all others, also new ones.  Returns when all are there; raises as ``finish``."""
        with self.changed:
            urgent = [module for module in work if module in self.waiting or module not in self.work]
            self.waiting = deque(urgent + [module for module in self.waiting if module not in urgent])
            self.work.update(work)
            self.changed.notify_all()
        while self._next(urgent):
            pass
        with self.changed:
            self.changed.wait_for(lambda: self.error is not None or self.done.issuperset(work))
        self._check()

    def finish(self):
        """Load what still waits; may be called again.  Raises RuntimeError where that failed."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()
        self._work()
        self.thread.join()
        self._check()

    def _check(self):
        if self.error is not None:
            raise RuntimeError(f"a kernel cannot be compiled: {self.error}") from self.error

    def _tell(self):
        if self.say is not None:
            self.say(f"Compiling kernels, first run only: {len(self.done)} of {len(self.work)}")

    def _work(self):
        while self._next():
            pass

    def _next(self, only=None):
        """Load one module, the next that comes.  False when none waits and none will come, or it is not in ``only``."""
        with self.changed:
            self.changed.wait_for(lambda: self.waiting or self.closed or only is not None)
            if not self.waiting or (only is not None and self.waiting[0] not in only):
                return False
            module = self.waiting.popleft()
        error = None
        try:
            wp.force_load(self.work[module], [module])
        except Exception as raised:  # noqa: BLE001  whoever waits raises it
            error = raised
        with self.changed:  # whoever listens hears one sentence at a time
            if error is None:
                self.done.add(module)
                self._tell()
            else:
                self.error, self.closed = error, True
                self.waiting.clear()
            self.changed.notify_all()
        return True


def _sample(scene, device):
    """A Collider of a few bodies of the shapes that ``scene`` has: newton's kernels depend on their kinds."""
    kinds = {type(part): part for part in _solids(scene)}
    sample = Scene()
    for kind, shape in kinds.items():
        for copy in range(1 if kind is Plane else 2):
            motion = "static" if kind is Plane else "dynamic"
            sample.add(Body(f"{kind.__name__} {copy}", [shape], motion=motion, mass=1.0))
    return Collider(build_model(sample, device, np.zeros((len(sample.bodies), 3))))


def _detect(collider):
    """Find contacts once, which loads what ``prepare`` did not name."""
    count = len(collider.model.body_size)
    still, upright = np.zeros((count, 3)), np.tile([0.0, 0.0, 0.0, 1.0], (count, 1))
    collider.collide(still, upright, still, still, STEP)


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

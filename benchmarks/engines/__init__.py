# SPDX-License-Identifier: GPL-3.0-or-later
"""The engines of the comparison: one file each, and the settings that each one runs with.

Every file offers

    version()                                                what ran, as text
    run(scene, frames, fps, watch, **settings)
        -> (position (F+1, B, 3) [m], orientation (F+1, B, 4))

of all bodies' frames in the scene's order, quaternions xyzw; ``watch``, a common.Watch, times each frame.  A run
that the watch ends has fewer frames.  What an engine's file cannot translate raises NotImplementedError.
"""

import importlib
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Engine:
    """A column of the comparison.

    Attributes:
        label: for the page.
        module: the file of this folder that runs it.
        settings: arguments of its ``run``.
        described: the settings in words.
        largest: number of dynamic bodies up to which it is run; dense solvers need minutes a frame above.
    """

    label: str
    module: str
    described: str
    settings: dict = field(default_factory=dict)
    largest: int = 1000

    def load(self):
        """The module with ``run`` and ``version``."""
        return importlib.import_module(f".{self.module}", __name__)


ENGINES = {
    "axion": Engine("Axion", "axion", "defaults (quality normal, automatic substeps), CPU, float64"),
    "bullet": Engine(
        "Bullet",
        "bullet",
        "Blender's defaults: 10 substeps, 10 iterations; no damping",
        {"substeps": 10, "iterations": 10},
    ),
    "bullet_high": Engine(
        "Bullet, high",
        "bullet",
        "60 substeps, 100 iterations; no damping",
        {"substeps": 60, "iterations": 100},
    ),
    "mujoco": Engine(
        "MuJoCo",
        "mujoco",
        "40 substeps, elliptic cones, implicitfast, contacts and loops as hard as they go (solref twice the step, "
        "solimp 0.99 to 0.999, impratio 10)",
        {"substeps": 40},
    ),
    "newton_xpbd": Engine(
        "Newton XPBD", "newton_solver", "10 substeps, 10 iterations", {"solver": "xpbd", "substeps": 10}
    ),
    "newton_vbd": Engine(
        "Newton VBD",
        "newton_solver",
        "20 substeps, 20 iterations, stiffness of contacts 1e8, of joints 1e9, contact history",
        {"solver": "vbd", "substeps": 20},
    ),
    "newton_steel": Engine(
        "Newton Steel",
        "newton_solver",
        "10 substeps, 50 iterations, warm start, no damping",
        {"solver": "steel", "substeps": 10},
    ),
    "newton_kamino": Engine(
        "Newton Kamino",
        "newton_solver",
        "PADMM, 2 substeps, tolerance 1e-4, 200 iterations, its own contacts, warm start",
        {"solver": "kamino", "substeps": 2},
        largest=30,
    ),
    "newton_kamino_dvi": Engine(
        "Newton Kamino DVI",
        "newton_solver",
        "DVI at its defaults, 10 substeps, its own contacts",
        {"solver": "kamino_dvi", "substeps": 10},
        largest=12,
    ),
    "newton_kamino_lox": Engine(
        "Newton Kamino LOX",
        "newton_solver",
        "LOX at its defaults, 10 substeps, its own contacts",
        {"solver": "kamino_lox", "substeps": 10},
        largest=30,
    ),
}
"""Name in the CSV -> Engine, in the order of the page's columns."""

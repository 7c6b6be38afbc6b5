# SPDX-License-Identifier: GPL-3.0-or-later
"""Axion's solver: rigid bodies, joints, contact and friction, without Blender.

SI units, radians, right-handed, Z up, quaternions xyzw, float64 NumPy at this boundary.  Importing this package starts
neither Warp nor newton: they are loaded by the first ``simulate``.

    from axion.solver import Body, Plane, Scene, Sphere, simulate

    scene = Scene()
    scene.add(Body("Ground", [Plane()], motion="static"))
    scene.add(Body("Ball", [Sphere(0.1)], position=(0, 0, 1)))
    trajectory = simulate(scene, frames=48, fps=24)
"""

import importlib
import sys
import types

from .config import SolverConfig
from .decomposition import decompose, decomposing
from .errors import SceneError
from .force_fields import ForceField
from .forces import ForceHistory, FrameForces
from .guide import guide
from .joint_types import JOINT_TYPES, JointType
from .loading import uncollected
from .materials import combine
from .scene import Axis, Body, Joint, MotionPath, Scene
from .shapes import Box, Capsule, Cone, ConvexDecomposition, ConvexHull, Cylinder, Plane, Sphere, TriangleMesh
from .trajectory import Checkpoint, CheckpointError, FrameResult, StepReport, Trajectory
from .validate import Problem, validate

__all__ = [
    "Scene",
    "Body",
    "MotionPath",
    "ForceField",
    "Joint",
    "Axis",
    "Box",
    "Sphere",
    "Capsule",
    "Cylinder",
    "Cone",
    "ConvexHull",
    "TriangleMesh",
    "ConvexDecomposition",
    "decompose",
    "decomposing",
    "guide",
    "Plane",
    "SolverConfig",
    "simulate",
    "starting_overlaps",
    "resolve",
    "FrameResult",
    "Checkpoint",
    "CheckpointError",
    "FrameForces",
    "ForceHistory",
    "Trajectory",
    "StepReport",
    "SceneError",
    "validate",
    "Problem",
    "JOINT_TYPES",
    "JointType",
    "combine",
    "reference",
]


def __getattr__(name):
    # simulate.py imports Warp and newton, so it is loaded when first asked for.
    if name in ("simulate", "resolve", "starting_overlaps"):
        with uncollected():
            return getattr(importlib.import_module(".simulate", __name__), name)
    if name == "reference":
        return importlib.import_module(".reference", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})


class _Package(types.ModuleType):
    """Keeps ``simulate`` the function: importing the module of that name would otherwise put that in its place."""

    def __setattr__(self, name, value):
        if name == "simulate" and isinstance(value, types.ModuleType):
            value = value.simulate
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package

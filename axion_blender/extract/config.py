# SPDX-License-Identifier: GPL-3.0-or-later
"""``Scene.axion`` -> solver.SolverConfig."""

from ...solver import SolverConfig
from .. import conventions


def solver_config(scene, device=None, quality=None):
    """The SolverConfig that a Blender scene asks for.

    device ("auto", "cpu", "cuda:0", ...) and quality ("preview", "normal", "final") replace the scene's where given.
    Raises ValueError for values that do not exist.
    """
    settings = scene.axion
    metres = conventions.metres_per_unit(scene.unit_settings.system, scene.unit_settings.scale_length)
    own_device = f"cuda:{settings.device_index}" if settings.device == "CUDA" else settings.device.lower()
    return SolverConfig(
        device=device or own_device,
        quality=(quality or settings.quality).lower(),
        tolerance=settings.tolerance * metres if settings.use_tolerance else None,
        substeps=settings.substeps or "auto",
        joint_damping=settings.joint_damping,
        record_forces=settings.record_forces or settings.use_keyed_speed or settings.use_keyed_forces,
        states_per_frame=settings.keys_per_frame,
    )

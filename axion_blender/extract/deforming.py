# SPDX-License-Identifier: GPL-3.0-or-later
"""Passive bodies whose mesh deforms (armatures, shape keys, modifiers): their vertices frame by frame."""

from dataclasses import replace

import numpy as np

from ...solver import MotionPath
from .. import conventions
from . import motion


def may_deform(item):
    """Whether a body is one whose collision shape could follow a deforming mesh."""
    own = item.axion
    held = motion.stands(item) or (own.kinematic and not motion.may_be_free(item))
    return held and own.collision_shape == "MESH"


def deformed(item, shape, metres, sampler):
    """(TriangleMesh that deforms, MotionPath or None) of an object, or None where its motion is rigid.

    shape: its TriangleMesh at the first frame.  The mesh is sampled at whole frames, in the frame of the body.
    """
    seen = sampler.deformation(item)
    if seen is None:
        return None
    matrices, numbers, vertices = seen
    poses, _ = conventions.decompose_many(matrices)
    back = np.swapaxes(conventions.rotation_matrix(poses.orientation[numbers]), 1, 2)
    local = np.einsum("sij,svj->svi", back, vertices - poses.position[numbers, None]) * metres
    moves = np.abs(matrices - matrices[0]).max() > motion.STILL * max(1.0, np.abs(matrices).max())
    path = MotionPath(sampler.times, poses.position * metres, poses.orientation) if moves else None
    return replace(shape, vertices=local[0], times=sampler.times[numbers], moving_vertices=local), path

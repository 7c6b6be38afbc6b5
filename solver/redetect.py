# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that only show at the end of a step.

The contacts found at the start of a step do not bound a body that turns by half a radian in it: other corners come
in.  So detection runs again at the end pose, and what overlaps there joins the problem.  (Measured on a pile of 64
tumbling boxes at 60 Hz: overlap 0.20 m without, 2 mm with.)
"""

from dataclasses import dataclass, replace

import numpy as np

from .problem import Contacts, world_impulses
from .reference.rows import start_gaps


@dataclass
class EndCheck:
    """What detection at the end pose found."""

    overlap: float  # deepest overlap there [m]
    unsolved: float  # the part of it that the step was not allowed to keep [m]
    assembly: object  # the Assembly with the missed contacts added, or None if none is missing


def check_end(assembly, solution, collider, frames, assembler, tolerance):
    """EndCheck of a solved step, or None where nothing moved far enough to overlap by ``tolerance`` [m] unseen.

    A contact point goes with its body: rolled on by ``way``, a rim of radius r has it way^2 / (2 r) above its lowest.
    """
    problem, n = assembly.problem, assembly.problem.bodies.dynamic_count
    model, order, h = collider.model, assembly.numbering.scene[:-1], problem.step
    size, radius = model.body_size[order], model.body_radius[order]
    u = solution.velocity[:-1]
    way = h * (np.linalg.norm(u[:, :3], axis=1) + radius * np.linalg.norm(u[:, 3:], axis=1))
    far = way**2 > 2.0 * size * tolerance
    if not np.any(far[:n]):
        return None
    position, orientation = np.empty((len(order), 3)), np.empty((len(order), 4))
    position[order], orientation[order] = solution.position[:-1], solution.orientation[:-1]
    if not (np.isfinite(position).all() and np.isfinite(orientation).all()):
        return None
    free = np.zeros(len(order), bool)
    free[order[:n]] = True
    found = collider.collide_again(*frames.to_body(position, orientation), free)
    overlap = float(max(0.0, -found.gap.min(initial=0.0)))
    start = start_gaps(problem)
    allowed = max(0.0, -float(start.min(initial=0.0)) - problem.push_out_speed * h)
    unsolved = max(0.0, overlap - allowed)
    index = np.nonzero(found.gap < -tolerance)[0]
    if not len(index):
        return EndCheck(overlap, unsolved, None)
    added = assembler.contacts(found, np.zeros((len(found), 3)), assembly.numbering)
    old = replace(problem.contacts, impulse=world_impulses(problem.contacts.normal, solution.contact_impulse))
    joined = Contacts(
        **{name: np.concatenate([getattr(old, name), getattr(added, name)[index]]) for name in old.__dataclass_fields__}
    )
    # Points and normals found at the end say nothing of the start: a pair's overlap there is that of its old contacts.
    joined.start_gap[len(old) :] = pair_overlap(problem, added, index)
    rows = replace(problem.joints, impulse=solution.joint_impulse)
    return EndCheck(overlap, unsolved, replace(assembly, problem=replace(problem, contacts=joined, joints=rows)))


def pair_overlap(problem, added, index):
    """(len(index),) deepest start gap (at most 0) among the problem's contacts of the same two bodies."""
    count = len(problem.bodies.mass)

    def key(contacts):
        low, high = np.minimum(contacts.body_a, contacts.body_b), np.maximum(contacts.body_a, contacts.body_b)
        return low.astype(np.int64) * count + high

    known, place = np.unique(key(problem.contacts), return_inverse=True)
    deepest = np.zeros(len(known) + 1)
    np.minimum.at(deepest, place, start_gaps(problem))
    wanted = key(added)[index]
    slot = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
    found = known[slot] == wanted if len(known) else np.zeros(len(wanted), bool)
    return np.where(found, deepest[slot], 0.0)

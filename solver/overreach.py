# SPDX-License-Identifier: GPL-3.0-or-later
"""Faces that turned in a step and pushed a body from where they are not.

In the gap at a step's end the normal has turned with the body whose face is touched.  The plane of that face is without
end: where a cam, a flipper or a tooth turns by much in a step, it reaches far beyond the face, and holds or throws what
the body itself no longer touches.  A follower hung half a metre above its cam, with a gap of zero.  Where detection at
the end finds more of a gap than the contact says, the step was too long for that.

Meshes may touch in one place and be held in another, where nothing is: the tips of two teeth have the line between them
for a normal, and pass on either side of it, while the next tooth drives the wheel.  So with meshes the gap that counts
is that found near the contact, whichever of the two turned.

Nor needs a face to turn where jointed bodies pass an edge or a corner: the plane of a contact there reaches on beyond
it, and threw carts into the air whose wheels were over a slot when a step began.  The limbs of a ragdoll on stairs pass
edges all the time: their steps are too long only where such pushes do some of the work that moves what hangs together.
"""

import numpy as np

from .flags import places, some
from .ordered import among, distinct
from .passing import scene_poses
from .plausible import PairOverlap, pair_number, speeds
from .reference.rotation import rotate
from .reference.rows import gaps, normals, parting_speeds
from .vectors import length

TURNS = 0.02, 0.05
BEYOND = 2.0  # of the tolerance, by which a contact may be farther off than it says,
SHARE = 0.01  # and of the smaller half extent,
PASSING = 0.1  # or this much of it where nothing turned,
WORK = 0.01  # if that takes or gives this much of the energy of motion
NEAR = 0.25  # of the smaller half extent: contacts at the end that are no farther from one tell of the same place


def overreached(assembly, solution, found, collider, frames, tolerance):
    """(n,) bool: bodies that faces which turned in a solved step pushed from where they are not; None: there are none.

    found: ContactSet at the end pose; tolerance: [m] by which gaps may be off.
    """
    problem, order, model = assembly.problem, assembly.numbering.scene, collider.model
    contacts, n, h = problem.contacts, problem.bodies.dynamic_count, problem.step
    if contacts.face is None or not len(contacts):
        return None
    turned = h * speeds(solution.velocity)[1]
    turns = turned > TURNS[0]
    jointed = np.append(assembly.island_jointed[assembly.island], np.zeros(len(turned) - n, bool))
    turns[:n] = (turned[:n] > TURNS[1]) & jointed[:n]
    if not some(jointed) and not some(turns):
        return None
    a, b = order[contacts.body_a], order[contacts.body_b]
    meshes = model.body_mesh[a] | model.body_mesh[b]
    turning = (contacts.face >= 0) & turns[contacts.face]
    apart = (contacts.start_gap > tolerance) & (jointed[contacts.body_a] | jointed[contacts.body_b])
    turning |= meshes & (apart | turns[contacts.body_a] | turns[contacts.body_b])
    index = places((turning | apart) & (solution.contact_impulse[:, 0] > 0.0))
    if not len(index):
        return None
    near, a, b, meshes = contacts.take(index), a[index], b[index], meshes[index]
    told = gaps(near, solution.position, solution.orientation)
    seen = PairOverlap(found.body_a, found.body_b, found.gap, len(order) - 1, most=np.inf).of(a, b)
    size = np.minimum(model.body_size[a], model.body_size[b])
    if meshes.any():
        at = places(meshes)
        seen[at] = _gap_near(near.take(at), solution, found, order, frames, NEAR * size[at])
    share = np.where(turning[index], SHARE, PASSING)
    far = seen > told + np.maximum(BEYOND * tolerance, share * size)
    passing = places(far & ~turning[index])
    if len(passing):
        far[passing] = _moves(assembly, solution, near.take(passing), solution.contact_impulse[index[passing], 0])
    if not far.any():
        return None
    out = np.zeros(n + 1, bool)
    for side in (near.body_a, near.body_b):
        out[np.minimum(side[far], n)] = True
    return out[:n]


def _moves(assembly, solution, contacts, impulse):
    """(C,) bool: Contacts, with the normal ``impulse`` (C,) [N s], that do much of the work on their island."""
    bodies, energy = assembly.problem.bodies, assembly.island_energy
    mean = 0.5 * (bodies.velocity + solution.velocity)
    rate = parting_speeds(contacts, mean, bodies.position, bodies.orientation)
    own = assembly.island[np.minimum(contacts.body_a, contacts.body_b)]
    work = np.bincount(own, np.abs(impulse * rate), len(energy))
    return (work > WORK * energy)[own]


def _gap_near(contacts, solution, found, order, frames, reach):
    """(C,) least gap of contacts found at the end pose between the same bodies, no farther than ``reach`` (C,) [m] from
    either point of each contact and facing the same way; inf where there is none.
    """
    position, orientation = solution.position, solution.orientation
    a, b = order[contacts.body_a], order[contacts.body_b]
    pairs = distinct(pair_number(a, b, len(order)))
    found = found.take(among(pair_number(found.body_a, found.body_b, len(order)), pairs))
    place, tilt = frames.to_body(*scene_poses(order[:-1], position, orientation))
    ends = [
        [x[body] + rotate(q[body], point) for body, point in ((one.body_a, one.point_a), (one.body_b, one.point_b))]
        for one, x, q in ((contacts, position, orientation), (found, place, tilt))
    ]
    forth = (a[:, None] == found.body_a) & (b[:, None] == found.body_b)
    back = (b[:, None] == found.body_a) & (a[:, None] == found.body_b)
    alike = normals(contacts, orientation) @ found.normal.T
    close = np.zeros_like(forth)
    for one in ends[0]:
        for other in ends[1]:
            close |= length(one[:, None] - other) <= reach[:, None]
    same = close & (forth & (alike > 0.0) | back & (alike < 0.0))
    return np.where(same, found.gap, np.inf).min(axis=1, initial=np.inf)

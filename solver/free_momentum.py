# SPDX-License-Identifier: GPL-3.0-or-later
"""What nothing holds keeps its angular momentum, whatever its bodies do to each other.

Impulses of a step act with levers of its start on two points that are apart by the gap there, and by more where a
contact only shows at the end pose; the ways that they push bodies are not those of the velocities the step ends with.
So pairs that hit each other in space lost a twelfth of their angular momentum in the median at 24 frames a second.

Only forces from outside turn a group as a whole.  Where those of a step are the same pull on all of its masses, they do
not, and the group turns on as one rigid body by what the solve left of its angular momentum: contacts, friction and
joints inside it do not feel that.  What would need more energy than there is is taken from the motion inside.  Where
much is left, the levers were wrong by as much: the step is done again in halves (flight_parts.py).  Not where something
rebounds: that parts by the law of impact, and keeps the way it goes.  Nor does a ball without friction spin with it.
"""

import numpy as np

from .components import connected_components
from .flags import places
from .rigid_groups import RigidGroups
from .topology import whole_groups
from .vectors import length

MUCH = 0.002  # of the momenta in a group, times their levers: less is made up for, more wants shorter steps
STEADY = 1e-6  # of these: forces that turn a group by more in a step are not the same pull on all masses


def keep_angular_momentum(velocity, assembly, solution, loose, gained, balls):
    """(n, 6) velocity at the step's end with the angular momentum of groups that nothing outside holds; (n,) how
    much of it the solve left, as a share of the momenta in the group times their levers; and (n,) bool, which of the
    bodies ``gained`` end with no more energy than there is now.

    loose: numbers (K,) of the loaded contacts inside such groups, at least one; gained: (n,) bool, bodies that the
    solve gave more energy than there is; balls: (n,) bool.
    """
    problem, (one, other) = assembly.problem, assembly.joint_links
    contacts, bodies, n = problem.contacts, problem.bodies, problem.bodies.dynamic_count
    a, b, linked = contacts.body_a[loose], contacts.body_b[loose], np.maximum(one, other) < n
    label = connected_components(n, np.append(a, one[linked]), np.append(b, other[linked]))
    ours = np.zeros(n, bool)
    ours[a] = True
    ours = places(whole_groups(label, ours))
    group = np.unique(label[ours], return_inverse=True)[1]
    spins, rough = ~balls, contacts.friction[loose] > 0.0
    for turned in (a[rough], b[rough], one[linked], other[linked]):
        spins[turned] = True
    spins = spins[ours]
    mass, inertia, free = bodies.mass[ours], bodies.inertia[ours] * spins[:, None], assembly.end_velocity[ours]
    start, end = bodies.velocity[ours], velocity[ours]
    first = RigidGroups(group, mass, inertia, bodies.position[ours], bodies.orientation[ours])
    last = RigidGroups(group, mass, inertia, solution.position[ours], solution.orientation[ours])
    flown = RigidGroups(group, mass, inertia, bodies.position[ours], bodies.free_orientation[ours])
    before, after, radius = first.momentum(start), last.momentum(end), np.sqrt(bodies.inertia[ours].max(axis=1) / mass)
    scale = first.total(mass * (length(first.beyond(start)[:, :3]) + radius * length(start[:, 3:])) * radius)
    left = length(before - after) / np.maximum(scale, 1e-300)
    known = (scale > 0.0) & (length(flown.momentum(free) - before) <= STEADY * scale)
    rigid, within = last.turning(before), last.beyond(end) - last.turning(after)
    most, has, turns = first.energy(start), last.energy(end), last.energy(rigid)
    # Of joints nobody knows here what energy they give.
    gained = gained & ~whole_groups(label, one[linked])
    most = np.where(first.any(gained[ours]), most, np.maximum(most, has))
    inner = np.maximum(last.energy(within), 1e-300)
    part = np.sqrt(np.minimum(np.maximum(most - turns, 0.0) / inner, 1.0))
    known &= turns <= most
    if contacts.rebound_speed is not None:
        sent = np.zeros(n, bool)
        sent[a[contacts.rebound_speed[loose] != 0.0]] = True
        known &= ~first.any(sent[ours])
    known, out, share = known[group], velocity.copy(), np.zeros(n)
    kept = end - last.beyond(end) + rigid + part[group, None] * within
    kept[~spins, 3:] = end[~spins, 3:]
    out[ours] = np.where(known[:, None], kept, end)
    share[ours] = np.where(known, left[group], 0.0)
    solved = np.zeros(n, bool)
    solved[ours] = known
    return out, share, solved & gained

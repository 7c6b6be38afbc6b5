# SPDX-License-Identifier: GPL-3.0-or-later
"""What the real velocities of a solved step bring together, and its contacts leave out.

Contacts are looked for with the velocities of the step's start.  A body that was struck may go much farther.  And what
moves along with another body has no contact with it, however near: where one of the two is stopped, or sent elsewhere,
the other may end on its far side, where detection at the end finds nothing, or pushes it on.  Links of a chain left
each other so, and a stone that fell a centimetre above a lid went through it.
"""

import numpy as np

from .flags import some
from .ghosts import met
from .ordered import among, distinct, union
from .passing import DEEP, THICK, scene_poses
from .plausible import pair_number, way_moved
from .vectors import length

AHEAD = 0.5  # of the step: detection looks ahead twice as far as bodies get


class Strays:
    """Bodies that went elsewhere than foreseen, by so much that two of them may have changed sides."""

    def __init__(self, model, order, bodies, velocity, step, bad):
        """order: (B,) scene number of each solver body; bodies: problem.Bodies at the start; velocity: (B, 6) of solver
        bodies over the step [m/s, rad/s]; bad: (n,) bool, dynamic bodies that are not to be looked at.
        """
        self._model, self._order, self._way = model, order, step * velocity
        self._gained = gained, turned = self._of_scene(step * (velocity - bodies.velocity[:-1]))
        gained[model.movable] -= step**2 * model.gravity  # foreseen, and the same for both that fall
        self.bodies = turned + length(gained) > THICK * model.body_size
        self._seen = np.ones(len(order), bool)
        self._seen[order[: len(bad)][bad]] = False
        self.bodies &= self._seen

    def _of_scene(self, way):
        """Ways (B, 3) of scene bodies and those (B,) that their farthest points turn [m], from (B, 6) of solver's."""
        own = np.empty((len(self._order), 6))
        own[self._order] = way
        return own[:, :3], self._model.body_radius * length(own[:, 3:])

    def may_close(self, a, b):
        """(P,) overlap of bodies a and b [m] up to which the shortest way apart is the way they came."""
        return THICK * (self._model.body_size[a] + self._model.body_size[b])

    def may_pass(self, a, b):
        """(P,) bool: scene bodies a and b (P,) that may have come past each other, though nothing was foreseen.

        For that they must have moved so far, seen from one of them, and not as foreseen.
        """
        far = (self.bodies[a] | self.bodies[b]) & self._seen[a] & self._seen[b]
        for way, turned in (self._gained, self._of_scene(self._way)):
            far &= length(way[a] - way[b]) + turned[a] + turned[b] > self.may_close(a, b)
        return far


def unforeseen(assembly, solution, collider, frames, way, free, bad, left_out):
    """(The ContactSet that the step's real velocities bring together and its contacts leave out, how far each may close
    (C,) [m] before it counts), or None.

    Of bodies that go more than twice as far as foreseen that is all they may meet and have no contact with; of others
    where two shapes without a contact may have changed sides.  Meshes have many places, of which a contact tells one.

    way: (B,) of each solver body in the step [m]; free: (B,) bool, scene bodies that move freely; bad, left_out: as in
    ``redetect.check_end``.
    """
    problem, order, model = assembly.problem, assembly.numbering.scene[:-1], collider.model
    h, bodies, count = problem.step, problem.bodies, len(order)
    end, fall = solution.velocity[:-1], model.pull * h**2
    far = way > 2.0 * way_moved(bodies.velocity[:-1], model.body_radius[order], h) + fall
    far[: len(bad)] &= ~bad
    strays = Strays(model, order, bodies, end, h, bad)
    if not some(far) and not some(strays.bodies):
        return None
    if some(bad):
        end = end.copy()
        end[: len(bad)][bad] = bodies.velocity[: len(bad)][bad]
    velocity, faster = np.empty((count, 6)), np.zeros(count, bool)
    velocity[order], faster[order] = end, far
    place, turn = frames.to_body(*scene_poses(order, bodies.position, bodies.orientation))
    known = union(distinct(assembly.pairs), left_out)

    def unheld(a, b):
        return (faster[a] | faster[b]) & ~among(pair_number(a, b, count), known)

    def may_pass(a, b):
        return strays.may_pass(a, b) & ~among(pair_number(a, b, count), left_out)

    motion, ahead = (velocity[:, :3], velocity[:, 3:]), h if some(far) else AHEAD * h
    watched = faster | strays.bodies
    found = collider.collide_faster(place, turn, *motion, ahead, free, lambda *p: unheld(*p) | may_pass(*p), watched)
    a, b = found.body_a, found.body_b
    new = unheld(a, b)
    past = may_pass(a, b) & ~new
    past &= model.body_mesh[a] | model.body_mesh[b] | ~among(found.pair, distinct(assembly.contacts.pair))
    some_new = new | past
    return (found.take(some_new), np.where(past, strays.may_close(a, b), 0.0)[some_new]) if some(some_new) else None


def met_on_the_way(contacts, assembly, solution, collider, frames, free):
    """(C,) bool: which of a ContactSet have bodies that are in each other somewhere on the way of a solved step: past
    an edge a contact reaches where nothing is.
    """
    pair, size = pair_number(contacts.body_a, contacts.body_b, len(free)), collider.model.body_size
    pairs = distinct(pair)
    deep = DEEP * float(np.minimum(size[contacts.body_a], size[contacts.body_b]).min())
    return among(pair, pairs[met(pairs, assembly, solution, collider, frames, free, -deep)])

# SPDX-License-Identifier: GPL-3.0-or-later
"""What contacts carried that only showed at the end of a step (see redetect.py), for the next step to start from.

They are not in the ContactSet that the next one is matched with.  On ground of many triangles, where contacts come and
go from step to step, a tenth of all impulse is theirs, and without it Newton begins far from where it ends.

Two hulls may touch at two places of which each detection finds one: there a stone tipped in each step, came down on the
other place at its end, and the step was solved again, for ever.  So what carried load joins the manifold of its pair,
which goes on while the pair hardly moves.
"""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from .flags import every, some
from .gliding import whole_impulses
from .manifold import carry, relative_place, turn_back
from .plausible import pair_number
from .problem import world_impulses
from .rotations import matrices
from .vectors import length

MOST = 4.0  # times what weight and fields give a body in a step: more is an impact


@dataclass
class LateForces:
    """K contacts that carried load.  Points in the Scene bodies' frames."""

    body_a: np.ndarray  # (K,) scene body
    body_b: np.ndarray  # (K,) scene body
    point_a: np.ndarray  # (K, 3) [m]
    point_b: np.ndarray  # (K, 3) [m]
    force: np.ndarray  # (K, 3) world, on body a [N]

    @classmethod
    def of(cls, assembly, solution, frames, told):
        """Those of a solved Assembly, or None; told: as ``late_contacts`` returns it."""
        contacts, (bodies, index) = assembly.problem.contacts, told
        if not len(index):
            return None
        points = [
            frames.outward(body, point[index])
            for body, point in zip(bodies, (contacts.point_a, contacts.point_b), strict=True)
        ]
        impulse = world_impulses(contacts.normal[index], solution.contact_impulse[index])
        whole = whole_impulses(assembly.problem, impulse, index)
        return cls(*bodies, *points, whole / assembly.problem.step)

    def laid_on(self, contacts, count):
        """(C, 3) world force on body a [N]: each on the nearest contact of the same two bodies; lost where they part.

        contacts: ContactSet; count: bodies of the scene.
        """
        old_pair, new_pair = (side.body_a.astype(np.int64) * count + side.body_b for side in (self, contacts))
        old, new = np.argsort(old_pair, kind="stable"), np.argsort(new_pair, kind="stable")
        mine = SimpleNamespace(pair=old_pair[old], point_a=self.point_a[old], point_b=self.point_b[old])
        others = SimpleNamespace(pair=new_pair[new], point_a=contacts.point_a[new], point_b=contacts.point_b[new])
        out = np.zeros((len(contacts), 3))
        out[new] = carry(self.force[old], mine, others, np.full(len(new), -1))
        return out


def with_late(contacts, late, found, pose, model):
    """The ContactSet ``contacts`` of a step, with ``late`` ones in its manifolds.

    Those of pairs of which one has several shapes or what touches is round do not persist: detection finds their
    corners anew.

    Args:
        contacts: ContactSet that the step began with.
        late: LateForces of the step.
        found: the Contacts that they are of.
        pose: (B, 3), (B, 4) of the Scene bodies' frames at the step's start.
        model: the CollisionModel.
    """
    a, b, whole, count = late.body_a, late.body_b, contacts.manifolds, len(pose[0])
    if not len(whole):
        return contacts
    single = np.bincount(model.shape_body, minlength=count) == 1
    known, mine = pair_number(whole.body_a, whole.body_b, count), pair_number(a, b, count)
    order = known.argsort(kind="stable")
    known = known.take(order)
    low, high = (known.searchsorted(mine, side) for side in ("left", "right"))
    is_round = (whole.margin_a > 0.0) | (whole.margin_b > 0.0)
    rounds = np.append(0, is_round.take(order).cumsum())
    joins = (high > low) & (rounds[low] == rounds[high]) & single[a] & single[b]
    joins &= (found.margin_a == 0.0) & (found.margin_b == 0.0)
    like = order.take(low, mode="clip")
    joins[joins] = whole.body_a[like[joins]] == a[joins]
    if not every(joins):
        contacts = contacts.without_lasting(a[~joins], b[~joins], count)
        whole = contacts.manifolds
    if not some(joins):
        return contacts
    more, rotation = whole.take(like[joins]), matrices(pose[1])
    more.point_a, more.point_b = late.point_a[joins], late.point_b[joins]
    more.normal = turn_back(rotation[b[joins]], found.normal[joins])
    more.place = relative_place(more, pose[0], rotation)
    return contacts.with_points(more)


def late_contacts(assembly, solution, part=None):
    """(scene bodies [(K,), (K,)], numbers (K,)) of late contacts that carried load; part: (B,) bool, scene bodies that
    take part, or None for all.
    """
    contacts, scene, count = assembly.problem.contacts, assembly.numbering.scene, len(assembly.contacts)
    index = count + np.flatnonzero(solution.contact_impulse[count:].any(axis=1))
    bodies = [scene[side[index]] for side in (contacts.body_a, contacts.body_b)]
    if part is not None:
        wide = np.append(part, False)
        own = wide[bodies[0]] | wide[bodies[1]]
        index, bodies = index[own], [body[own] for body in bodies]
    return _lasting(assembly, solution, bodies, index) if len(index) else (bodies, index)


def _lasting(assembly, solution, bodies, index):
    """(bodies, index) without impacts: more than what a few times the weight of either body gives in the step.

    A block that rocks lands on an edge that only shows at the step's end; its blow is no guess at what comes next.
    """
    problem, n = assembly.problem, assembly.problem.bodies.dynamic_count
    pull = problem.bodies.mass[:n] * np.linalg.norm(
        (assembly.end_velocity - problem.bodies.velocity[:n])[:, :3], axis=1
    )
    most = np.append(MOST * pull, np.zeros(len(problem.bodies.mass) - n))
    a, b = problem.contacts.body_a[index], problem.contacts.body_b[index]
    lasting = length(solution.contact_impulse[index]) <= np.maximum(most[a], most[b])
    return [body[lasting] for body in bodies], index[lasting]

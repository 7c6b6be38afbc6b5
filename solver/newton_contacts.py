# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid contacts of a newton.Contacts as contacts of a step, with the impulses their predecessors carried.

Newton's normal points from shape 0 to shape 1, so shape 1 lies on body a.  Friction and restitution of a pair are the
averages of its shapes', as in newton's other solvers.  Arrays are read as NumPy: nothing here imports newton.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from . import rotations
from .arrays import first_number, look
from .manifold import Manifolds, carry, match
from .reference.rotation import cross

GAP_FLOOR = 0.02  # of the smaller shape's radius: contacts nearer than that take part whatever the speed


@dataclass
class NewtonContacts:
    """C contacts in the solver frames of their bodies, sorted by shape pair; the world is the last body."""

    pair: np.ndarray  # (C,) int64
    body_a: np.ndarray  # (C,) int
    body_b: np.ndarray  # (C,) int
    point_a: np.ndarray  # (C, 3)
    point_b: np.ndarray  # (C, 3)
    margin_a: np.ndarray  # (C,)
    margin_b: np.ndarray  # (C,)
    normal: np.ndarray  # (C, 3) world, from b to a
    friction: np.ndarray  # (C,)
    restitution: np.ndarray  # (C,)
    size: np.ndarray  # (C,) radius of the smaller shape [m]
    number: np.ndarray  # (C,) in newton's buffer
    gap: np.ndarray  # (C,) at the poses last given to ``at`` [m]
    previous: np.ndarray  # (C,) the same contact in the step before, or -1

    def __len__(self):
        return len(self.pair)

    def take(self, index):
        """The contacts at ``index`` (numbers or bool)."""
        return NewtonContacts(*(getattr(self, f.name)[index] for f in fields(self)))

    def at(self, position, orientation):
        """The same contacts with their gaps at solver poses (B, 3), (B, 4)."""
        if not len(self):
            return self
        x_a = position[self.body_a] + rotations.rotate(orientation[self.body_a], self.point_a)
        x_b = position[self.body_b] + rotations.rotate(orientation[self.body_b], self.point_b)
        gap = np.einsum("ci,ci->c", self.normal, x_a - x_b) - self.margin_a - self.margin_b
        return replace(self, gap=gap)

    def near(self, orientation, velocity, acceleration, step):
        """(C,) bool: contacts that may close within ``step`` [s]; the others would only keep a body from swinging."""
        if not len(self):
            return np.zeros(0, bool)
        closing = np.zeros(len(self))
        for sign, body, point in ((1.0, self.body_a, self.point_a), (-1.0, self.body_b, self.point_b)):
            arm = rotations.rotate(orientation[body], point)
            speed = velocity[body, :3] + cross(velocity[body, 3:], arm)
            closing += sign * np.einsum("ci,ci->c", self.normal, speed)
        reach = 2.0 * step * np.abs(closing) + acceleration * step**2
        return self.gap <= np.maximum(GAP_FLOOR * self.size, reach)

    def manifolds(self):
        """The same as Manifolds, for matching."""
        none, axes = np.zeros((len(self), 3)), np.zeros((len(self), 3, 3))
        return Manifolds(
            self.pair, self.body_a, self.body_b, self.point_a, self.point_b, self.margin_a, self.margin_b, none,
            self.size, self.size, none, axes,
        )  # fmt: skip


class ContactReader:
    """Reads newton's contacts for one model, and remembers what the last ones carried."""

    def __init__(self, model, frames):
        """frames: BodyFrames of the model's bodies and, last, the world."""
        self._frames, world = frames, len(frames.mass) - 1
        body = model.shape_body.numpy() if model.shape_count else np.zeros(0, int)
        self._body = np.where(body < 0, world, body)
        names = ("shape_material_mu", "shape_material_restitution", "shape_collision_radius")
        values = (getattr(model, name).numpy().astype(float) if model.shape_count else np.zeros(0) for name in names)
        self._friction, self._restitution, self._radius = values
        self._old = None  # (NewtonContacts, (C, 3) world force on body a [N])

    def read(self, contacts, movable):
        """The NewtonContacts of a newton.Contacts (or None) between bodies of which one is ``movable`` (B,) bool.

        Raises:
            ValueError: the buffer was too small, or holds what SolverAxion cannot do.
        """
        most = 0 if contacts is None else contacts.rigid_contact_max
        count = first_number(contacts.rigid_contact_count) if most else 0
        if count > most:
            raise ValueError(
                f"newton found {count} contacts and its buffer holds {most}: raise rigid_contact_max, or some are lost"
            )
        if count and contacts.rigid_contact_surface_velocity is not None:
            raise ValueError("SolverAxion has no surface velocities: move the body instead of its surface")
        first, second = (
            look(getattr(contacts, f"rigid_contact_shape{k}"))[:count].astype(np.int64) if count else np.zeros(0, int)
            for k in (0, 1)
        )
        used = np.nonzero((first >= 0) & (second >= 0))[0]
        used = used[movable[self._body[first[used]]] | movable[self._body[second[used]]]]
        pair = first[used] * len(self._body) + second[used]
        order = np.argsort(pair, kind="stable")
        used, pair = used[order], pair[order]
        first, second = first[used], second[used]
        a, b = self._body[second], self._body[first]

        def values(name, width=None):
            if not count:
                return np.zeros((0,) if width is None else (0, width))
            return look(getattr(contacts, name))[:count][used].astype(float)

        normal = values("rigid_contact_normal", 3)
        normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-30)[:, None]
        return NewtonContacts(
            pair,
            a,
            b,
            self._frames.local(a, values("rigid_contact_point1", 3)),
            self._frames.local(b, values("rigid_contact_point0", 3)),
            values("rigid_contact_margin1"),
            values("rigid_contact_margin0"),
            normal,
            0.5 * (self._friction[first] + self._friction[second]),
            0.5 * (self._restitution[first] + self._restitution[second]),
            np.minimum(self._radius[first], self._radius[second]),
            used,
            np.zeros(len(used)),
            np.full(len(used), -1),
        )

    def matched(self, contacts):
        """The contacts with their predecessors in the step before, and the (C, 3) world forces [N] these carried."""
        if self._old is None or not len(self._old[0]) or not len(contacts):
            return contacts, np.zeros((len(contacts), 3))
        old, force = self._old
        new, old = contacts.manifolds(), old.manifolds()
        link = match(new, old)
        return replace(contacts, previous=link), carry(force, old, new, link)

    def remember(self, contacts, force):
        """``force``: (C, 3) world, on body a [N], over the step just made."""
        self._old = contacts, force

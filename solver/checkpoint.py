# SPDX-License-Identifier: GPL-3.0-or-later
"""All that a simulation carries from frame to frame, as plain arrays: a run resumed from them gives the same bits.

Carried are the State with the contacts and manifolds last accepted and what late ones carried, twists and forces of the
joints, which ropes are in a catch and which joints broke, the step counts that were learned, and the detector's origin
and capacities (places are handed to newton in single precision relative to that origin).  The state of frame 0 comes
along, so that the whole motion can be put together, and hashes of what the scene was (made_of.py).  Everything else is
made from the scene, or anew in each step; ``tests/test_checkpoint.py`` keeps the list of which attribute is what.
"""

from dataclasses import fields, is_dataclass

import numpy as np

from .contact_set import ContactSet
from .late_forces import LateForces
from .manifold import Manifolds
from .state import State
from .trajectory import START, Checkpoint, CheckpointError


def capture(frame, fps, stepper, substeps, start, made_of):
    """The Checkpoint of a Stepper and its Substeps after ``frame``; start: of ``start_arrays``; made_of: MadeOf.

    Arrays are copies.
    """
    arrays = dict(start) | made_of.arrays(stepper.state.time)
    _pack(stepper.state, "state", arrays)
    joints, collider = stepper.joints, stepper.collider
    number = {joint.name: k for k, joint in enumerate(joints.joints)}
    arrays["joints.angle"], arrays["joints.force"] = joints.angle.copy(), joints.force.copy()
    arrays["joints.alive"], arrays["joints.caught"] = joints.alive.copy(), joints.caught.copy()
    arrays["joints.broken"] = np.array([number[name] for name in joints.broken], np.int64)
    arrays["joints.broken_time"] = np.array(list(joints.broken.values()), float)
    arrays["stepper"] = np.array([stepper.deepest, stepper.failures], np.int64)
    arrays["stepper.crushed"] = stepper.crushed.copy()
    arrays["substeps"] = np.array([substeps.count, substeps.taken, substeps._quiet], np.int64)
    arrays["collider.capacity"] = np.array(collider.capacity(), np.int64)
    if collider.sunk is not None:
        arrays["collider.sunk"], arrays["collider.ways"] = collider.sunk.copy(), collider.ways.copy()
    if collider.origin is not None:
        arrays["collider.origin"] = np.array(collider.origin)
    arrays["arrays"] = np.array(len(arrays) + 1, np.int64)  # some are there at times only
    return Checkpoint(frame, fps, arrays)


def restore(checkpoint, stepper, substeps, made_of):
    """Put a Stepper that was just started, and its Substeps, where ``capture`` found them; made_of: MadeOf now.

    Raises CheckpointError where the checkpoint does not belong to such a scene, before anything is changed.
    """
    joints, collider, count = stepper.joints, stepper.collider, len(stepper.state.position)
    read = _Reader(checkpoint.arrays, count, len(stepper.model.shape_body))
    state = read.state()
    made_of.compare(lambda name, shape: read.array(name, "i", shape), state.time)
    for name, size in START.items():
        read.floats(f"start.{name}", (count, size))
    rows, number = len(joints.fixed), len(joints.joints)
    angle, force = read.floats("joints.angle", (rows,)), read.floats("joints.force", (rows,))
    caught, alive = read.floats("joints.caught", (rows,)), read.array("joints.alive", "b", (number,))
    broken = read.indices("joints.broken", (None,), number)
    broken_time = read.floats("joints.broken_time", broken.shape)
    deepest, failures = read.indices("stepper", (2,)).tolist()
    crushed = read.array("stepper.crushed", "b", (count,))
    learned = read.indices("substeps", (3,), 2**20).tolist()
    if not (learned[0] and learned[1]):
        raise CheckpointError("the checkpoint asks for no steps at all: begin at the start")
    capacity = read.indices("collider.capacity", (3,), 2**31).tolist()
    origin = read.floats("collider.origin", (3,)) if "collider.origin" in checkpoint.arrays else None
    sunk, ways, shapes = None, None, len(stepper.model.shape_body)
    if "collider.sunk" in checkpoint.arrays:
        sunk = read.indices("collider.sunk", (None,), shapes**2).astype(np.int64)
        ways = read.floats("collider.ways", (len(sunk), 3))
    read.all_there()
    stepper.state = state
    stepper.deepest, stepper.failures, stepper.crushed = deepest, failures, crushed
    joints.angle, joints.force, joints.caught, joints.alive = angle, force, caught, alive
    joints.broken = {joints.joints[k].name: float(time) for k, time in zip(broken, broken_time, strict=True)}
    substeps.count, substeps.taken, substeps._quiet = learned
    collider.recall(state.contacts, origin, capacity, sunk, ways)


def start_arrays(result):
    """What a checkpoint says of the FrameResult that the motion began with."""
    return {f"start.{name}": np.array(getattr(result, name)) for name in START}


def starts_of(checkpoint):
    """The same of the run that ``checkpoint`` goes on with."""
    return {name: values for name, values in checkpoint.arrays.items() if name.startswith("start.")}


def _pack(value, prefix, arrays):
    """Fields of a dataclass as arrays, those that are dataclasses themselves below their name; None is left out."""
    for item in fields(value):
        content = getattr(value, item.name)
        if is_dataclass(content):
            _pack(content, f"{prefix}.{item.name}", arrays)
        elif content is not None:
            arrays[f"{prefix}.{item.name}"] = np.array(content)


class _Reader:
    """Takes arrays out of a checkpoint.  Nothing is believed: it may come from a file that anybody wrote."""

    def __init__(self, arrays, bodies, shapes):
        self.arrays, self.bodies, self.shapes = arrays, bodies, shapes

    def array(self, name, kinds, shape):
        """A copy of the array ``name``; ``shape``: None stands for any length."""
        found = self.arrays.get(name)
        if found is None:
            raise CheckpointError(f"the checkpoint lacks {name}: it was written by another version; begin at the start")
        found = np.array(found)
        fits = len(found.shape) == len(shape) and all(
            w is None or w == n for w, n in zip(shape, found.shape, strict=True)
        )
        if found.dtype.kind not in kinds or not fits:
            wanted = "x".join("n" if size is None else str(size) for size in shape) or "one"
            raise CheckpointError(
                f"{name} of the checkpoint has {'x'.join(map(str, found.shape)) or 'one'} values of type {found.dtype},"
                f" where the scene needs {wanted}: it belongs to another scene; begin at the start"
            )
        return found

    def all_there(self):
        """Whether as many arrays are there as were written."""
        count = int(self.indices("arrays", ()))
        if count != len(self.arrays):
            raise CheckpointError(
                f"the checkpoint holds {len(self.arrays)} arrays where {count} were written: it is damaged; begin"
                " at the start"
            )

    def floats(self, name, shape):
        """Real numbers."""
        return self.array(name, "f", shape)

    def indices(self, name, shape, below=2**62, least=0):
        """Whole numbers from ``least`` to below ``below``."""
        found = self.array(name, "i", shape)
        if found.size and (found.min() < least or found.max() >= below):
            raise CheckpointError(f"{name} of the checkpoint counts beyond {below}: it belongs to another scene")
        return found

    def state(self):
        count = self.bodies
        state = State(
            float(self.floats("state.time", ())),
            self.floats("state.position", (count, 3)),
            self.floats("state.orientation", (count, 4)),
            self.floats("state.velocity", (count, 6)),
            self.floats("state.eps", (count,)),
            self.floats("state.swept", (count,)),
        )
        if not all(np.isfinite(values).all() for values in (state.time, state.position, state.orientation)):
            raise CheckpointError("the checkpoint holds a pose that is not finite: begin at the start")
        for item in fields(State):  # the others are numbers a body, which may not be there yet
            name = f"state.{item.name}"
            if item.default is None and name in self.arrays:
                kind = "b" if item.name in ("locked", "ruled") else "f"
                setattr(state, item.name, self.array(name, kind, (count, *OF_BODY.get(item.name, ()))))
        if "state.contacts.pair" in self.arrays:
            state.contacts = self.contacts()
        state.contact_force = self.floats("state.contact_force", (0 if state.contacts is None else None, 3))
        if state.contacts is not None and len(state.contact_force) != len(state.contacts):
            raise CheckpointError("the checkpoint has other contacts than contact forces: begin at the start")
        if "state.late.force" in self.arrays:
            state.late = LateForces(**self._fields(LateForces, "state.late"))
        return state

    def contacts(self):
        """The ContactSet last accepted, with its manifolds."""
        whole = Manifolds(**self._fields(Manifolds, "state.contacts.manifolds"))
        own = self._fields(ContactSet, "state.contacts", manifolds=whole)
        if own["source"].size and own["source"].max() >= len(whole):
            raise CheckpointError("the checkpoint has contacts without a manifold: begin at the start")
        return ContactSet(**own)

    def _fields(self, cls, prefix, **made):
        """Fields of a dataclass of columns of equal length."""
        for item in fields(cls):
            if item.name in made:
                continue
            name = f"{prefix}.{item.name}"
            if item.name in LEAST or np.asarray(self.arrays.get(name)).dtype.kind == "i":
                made[item.name] = self.indices(name, (None,), self._limit(item.name), LEAST.get(item.name, -1))
            else:
                made[item.name] = self.array(name, "f", (None, *TRAILING.get(item.name, ())))
        lengths = {len(made[item.name]) for item in fields(cls) if item.name != "manifolds"}
        if len(lengths) > 1:
            raise CheckpointError(f"{prefix} of the checkpoint has columns of different length: begin at the start")
        return made

    def _limit(self, name):
        """What the whole numbers of a column stay below."""
        if name == "pair":
            return max(self.shapes, 1) ** 2
        return 2**31 if name in ("previous", "source") else self.bodies


OF_BODY = {"owed": (2,), "glide": (13,), "still": (8,), "proof": (10,)}
"""Fields of State that hold more than one number a body."""
LEAST = {"body_a": 0, "body_b": 0, "face": -1, "pair": 0, "previous": -1, "source": 0}
"""Columns of whole numbers, and their least value; others may count bodies, with -1 for none."""
TRAILING = {
    **dict.fromkeys(("point_a", "point_b", "normal", "force", "face_normal", "place", "shift", "drift"), (3,)),
    "tilt": (3, 3),
}
"""Columns of vectors and matrices; all others hold one number each."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""What contacts and joints carried, frame by frame: ``SolverConfig(record_forces=True)`` has it recorded.

A frame's force is its impulse over the frame divided by the frame's time: the mean that changed the motion, however
many steps the frame was cut into.  So a blow of 1 N s shows as 24 N at 24 frames a second.  World frame, SI units.
"""

from dataclasses import dataclass, fields

import numpy as np

CONTACT = {
    "contact_body": (2,),
    "contact_point": (3,),
    "contact_normal": (3,),
    "contact_force": (3,),
    "contact_gap": (),
}
JOINT = {
    "joint_anchor": (2, 3),
    "joint_frame": (2, 4),
    "joint_force": (3,),
    "joint_torque": (3,),
    "joint_error": (),
    "joint_error_angle": (),
}
"""Arrays by name, and the shape of one contact's or one joint's entry."""


@dataclass
class FrameForces:
    """One frame's C contacts (those that pushed or overlap) and J joints (all, in the scene's order).  World frame.

    Attributes:
        joint_names: (J) of the joints.
        contact_body: (C, 2) int, numbers of the bodies a and b in the scene's order.
        contact_point: (C, 3) half way between both bodies' points, where the contact was last seen in the frame [m].
        contact_normal: (C, 3) unit, from b to a, there.
        contact_force: (C, 3) on a; b gets the opposite [N].
        contact_gap: (C,) there [m]; negative: penetration.
        joint_anchor: (J, 2, 3) the joint's place as bodies a and b carry it, at the frame's end [m].
        joint_frame: (J, 2, 4) its orientation as bodies a and b carry it, xyzw; B's turn in A is the joint's angle.
        joint_force: (J, 3) on body b at its anchor; a gets the opposite [N].  Limits, springs and drives included.
        joint_torque: (J, 3) on body b, about its anchor [N m].
        joint_error: (J,) worst over the frame's steps, as StepReport counts it [m].
        joint_error_angle: (J,) likewise [rad].
    """

    joint_names: list[str]
    contact_body: np.ndarray
    contact_point: np.ndarray
    contact_normal: np.ndarray
    contact_force: np.ndarray
    contact_gap: np.ndarray
    joint_anchor: np.ndarray
    joint_frame: np.ndarray
    joint_force: np.ndarray
    joint_torque: np.ndarray
    joint_error: np.ndarray
    joint_error_angle: np.ndarray

    def arrays(self):
        """{name: array} of all fields but the names."""
        return {name: getattr(self, name) for name in (*CONTACT, *JOINT)}


@dataclass
class ForceHistory:
    """The FrameForces of F frames in few arrays.

    Attributes:
        joint_names: (J) in the scene's order.
        contact_offset: (F+1,) int; the contacts of frame i + 1 are entries contact_offset[i] to contact_offset[i + 1].
        contact_body ... contact_gap: as in FrameForces, of all frames one after the other.
        joint_anchor ... joint_error_angle: as in FrameForces, (F, J, ...).
    """

    joint_names: list[str]
    contact_offset: np.ndarray
    contact_body: np.ndarray
    contact_point: np.ndarray
    contact_normal: np.ndarray
    contact_force: np.ndarray
    contact_gap: np.ndarray
    joint_anchor: np.ndarray
    joint_frame: np.ndarray
    joint_force: np.ndarray
    joint_torque: np.ndarray
    joint_error: np.ndarray
    joint_error_angle: np.ndarray

    @classmethod
    def of(cls, frames):
        """The history made of FrameForces, one a frame and all of one scene."""
        joint_names = list(frames[0].joint_names) if frames else []
        count = [len(frame.contact_gap) for frame in frames]
        arrays = {}
        for name, shape in CONTACT.items():
            kind = int if name == "contact_body" else float
            arrays[name] = np.concatenate([np.zeros((0, *shape), kind), *(getattr(frame, name) for frame in frames)])
        for name, shape in JOINT.items():
            stacked = np.array([getattr(frame, name) for frame in frames], float)
            arrays[name] = stacked.reshape(len(frames), len(joint_names), *shape)
        return cls(joint_names, np.concatenate([[0], np.cumsum(count, dtype=int)]).astype(int), **arrays)

    def __len__(self):
        return len(self.contact_offset) - 1

    def frame(self, number):
        """The FrameForces of frame ``number``, counted from 1.  Raises IndexError."""
        if not 1 <= number <= len(self):
            raise IndexError(f"frame {number} is not among the {len(self)} frames with forces")
        first, end = self.contact_offset[number - 1 : number + 1]
        contacts = {name: getattr(self, name)[first:end] for name in CONTACT}
        return FrameForces(self.joint_names, **contacts, **{name: getattr(self, name)[number - 1] for name in JOINT})

    def tree(self):
        """All of it as a dict of lists and arrays, for an archive."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_tree(cls, tree, bodies):
        """What ``tree`` gave, for a scene of ``bodies`` bodies.  Raises ValueError where the arrays do not fit."""
        history = cls(**tree)
        offset, joints = history.contact_offset, len(history.joint_names)
        if offset.ndim != 1 or offset.dtype.kind != "i" or not len(offset) or offset[0] or (np.diff(offset) < 0).any():
            raise ValueError("contact_offset must be whole numbers that rise from 0")
        for names, leading in ((CONTACT, (int(offset[-1]),)), (JOINT, (len(history), joints))):
            for name, shape in names.items():
                found = getattr(history, name)
                if found.shape != (*leading, *shape) or found.dtype.kind not in "if":
                    raise ValueError(f"{name} has shape {found.shape}, not {(*leading, *shape)}")
        body = history.contact_body
        if body.dtype.kind != "i" or (len(body) and (body.min() < 0 or body.max() >= bodies)):
            raise ValueError(f"contact_body must be numbers of the {bodies} bodies")
        return history

# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact points from the frames of the scene's bodies to those of the solver, one contact after another."""

import warp as wp

from .host import MANY, HostKernel, HostTable
from .predict import turned
from .problem import frozen


@wp.struct
class FrameTable:
    """The bodies of the scene."""

    center: wp.array(dtype=wp.vec3d)  # of mass, in the body's frame
    principal: wp.array(dtype=wp.quatd)  # the solver's axes in the body's frame
    number: wp.array(dtype=wp.int32)  # of the solver's body


@wp.struct
class PlaceTable:
    """Contacts.  In: as the scene numbers and sees them; out: as the solver does."""

    count: wp.array(dtype=wp.int32)
    a: wp.array(dtype=wp.int32)
    b: wp.array(dtype=wp.int32)
    face: wp.array(dtype=wp.int32)
    point_a: wp.array(dtype=wp.vec3d)
    point_b: wp.array(dtype=wp.vec3d)
    face_normal: wp.array(dtype=wp.vec3d)
    a_out: wp.array(dtype=wp.int32)
    b_out: wp.array(dtype=wp.int32)
    face_out: wp.array(dtype=wp.int32)
    point_a_out: wp.array(dtype=wp.vec3d)
    point_b_out: wp.array(dtype=wp.vec3d)
    face_normal_out: wp.array(dtype=wp.vec3d)


module = "axion_contact_frames"
kernel = wp.kernel(module=module, enable_backward=False)


@wp.func(module=module)
def inverse(q: wp.quatd):
    """The inverse of a unit quaternion."""
    return wp.quatd(-q[0], -q[1], -q[2], q[3])


@kernel
def into_solver_frames(places: PlaceTable, frames: FrameTable):
    """One thread: the table's contacts as the solver numbers bodies and in its frames."""
    for c in range(places.count[0]):
        a = places.a[c]
        b = places.b[c]
        face = places.face[c]
        places.a_out[c] = frames.number[a]
        places.b_out[c] = frames.number[b]
        places.point_a_out[c] = turned(inverse(frames.principal[a]), places.point_a[c] - frames.center[a])
        places.point_b_out[c] = turned(inverse(frames.principal[b]), places.point_b[c] - frames.center[b])
        places.face_out[c] = -1
        places.face_normal_out[c] = places.face_normal[c]
        if face >= 0:
            places.face_out[c] = frames.number[face]
            places.face_normal_out[c] = turned(inverse(frames.principal[face]), places.face_normal[c])


class ContactFrames:
    """Where the contacts of one scene lie in the frames of the solver's bodies."""

    def __init__(self, frames):
        """frames: BodyFrames of the B bodies."""
        self._frames, self._places = HostTable(FrameTable), HostTable(PlaceTable, MANY, count=1)
        self._kernel = HostKernel(into_solver_frames, self._places, self._frames, alone=True)
        self._bodies = self._frames.reserve(len(frames.mass))
        count = len(frames.mass)
        self._bodies.center[:count], self._bodies.principal[:count] = frames.center, frames.principal

    def turned(self, bodies, points, face, face_normal, number):
        """What Contacts say of bodies and their points, for C contacts.

        Args:
            bodies: (body_a (C,), body_b (C,)) in the scene.
            points: (point_a (C, 3), point_b (C, 3)) in the frames of those [m].
            face: (C,) scene body whose face is touched, or -1; face_normal: (C, 3) in its frame.
            number: (B + 1,) the solver's number of each body.

        Returns:
            body_a, body_b, face (C,) int32 as the solver numbers them, point_a, point_b, face_normal (C, 3) in its
            frames.
        """
        count, v = len(face), self._places.reserve(len(face))
        v.count[0] = count
        self._bodies.number[: len(number) - 1] = number[:-1]
        v.a[:count], v.b[:count] = bodies
        v.point_a[:count], v.point_b[:count] = points
        v.face[:count], v.face_normal[:count] = face, face_normal
        self._kernel.run()
        bodies = (frozen(values[:count].copy()) for values in (v.a_out, v.b_out))  # who touches whom is asked for often
        out = v.face_out, v.point_a_out, v.point_b_out, v.face_normal_out
        return *bodies, *(values[:count].copy() for values in out)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies whose free motion bounces within a step: single ones that hit what stands still off their centre of mass, or
what keyframes move straight on, evenly or evenly faster.

Balls and other central impacts stay with ``impact.py``: their levers are those of the step's start.
"""

from dataclasses import dataclass

import numpy as np

from .bounce_kernel import FlyingBodies, FlyingContacts, bounce_bodies
from .contact_faces import face_table, triangle_normals
from .contact_geometry import ALIKE
from .flags import every, places, some
from .host import HostKernel, HostTable
from .point_velocity import at_places
from .reference.bounce import Planes
from .reference.impact import approach
from .reference.knock_on import central, reflections
from .rotations import conjugate, rotate
from .shapes import TriangleMesh

APART = np.sqrt(2.0 * (1.0 - ALIKE))  # length of the difference of two such normals


class FirmFaces:
    """The flat faces of a scene's bodies that do not deform, the triangles of meshes among them."""

    def __init__(self, bodies, frames):
        """bodies: of the scene; frames: BodyFrames."""
        self._bodies, self._frames, self._known = bodies, frames, {}
        deforms = [any(getattr(shape, "times", None) is not None for shape in body.shapes) for body in bodies]
        self.firm = np.array([not each for each in deforms] + [False], bool)  # the world has no faces

    def touched(self, body, orientation, normal, known):
        """(C,) bool: whether scene bodies (C,) that lie turned by ``orientation`` (C, 4) are firm and have a face with
        the outward ``normal`` (C, 3), or need none because of ``known`` (C,) bool.
        """
        out, normal = self.firm[body], rotate(conjugate(orientation), normal)
        for k in np.flatnonzero(out & ~known):
            faces = self._of(int(body[k]))
            low, high = np.searchsorted(faces[:, 0], normal[k, 0] + np.array([-APART, APART]))  # meshes have many
            out[k] = (faces[low:high] @ normal[k]).max(initial=-1.0) > ALIKE
        return out

    def _of(self, body):
        """(F, 3) normals in the frame of the solver, by rising x; outward, of triangles to both sides."""
        if body not in self._known:
            self._known[body] = self._faces(body)
        return self._known[body]

    def _faces(self, body):
        found, back = [np.zeros((0, 3))], conjugate(self._frames.principal[body])
        for shape in self._bodies[body].shapes:
            if isinstance(shape, TriangleMesh):
                normals = triangle_normals(shape.vertices, shape.triangles)
                normals = np.concatenate([normals, -normals])
            else:
                normals = face_table([shape], np.eye(3)[None]).normal
            found.append(rotate(back, rotate(shape.orientation, normals)))
        faces = np.concatenate(found)
        return faces[np.argsort(faces[:, 0])]


@dataclass
class Bounces:
    """What impacts within the step did to bodies in free motion."""

    flown: np.ndarray  # (n,) bool: bodies that had some
    led: np.ndarray  # (n,) bool: of these those that hit what moves, or belts
    change: np.ndarray  # (n, 6) of their velocity
    impulse: np.ndarray  # (C, 3) world impulses on body a [N s]
    position: np.ndarray  # (n, 3) of those at the step's end [m]
    velocity: np.ndarray  # (n, 6) likewise

    def free_contacts(self, contacts, hits):
        """Take the rebounds that ``flown`` bodies have done off their contacts and ``hits`` (C,), in place."""
        own = moving_first(contacts)[0]
        done = np.append(self.flown, False)[np.minimum(own, len(self.flown))]
        contacts.rebound_gap[done] = contacts.rebound_speed[done] = 0.0
        hits[done] = False

    def ways(self, bodies, solution, radius):
        """(K,) numbers of those that ``flown``, and how far any point of each went [m]: a velocity tells half of it.

        bodies: problem.Bodies; solution: of its StepProblem; radius: (n,) around their origins [m].
        """
        k = np.flatnonzero(self.flown)
        cosine = np.einsum("ki,ki->k", bodies.orientation[k], solution.orientation[k])
        turned = 2.0 * np.sqrt(np.maximum(0.0, 1.0 - cosine**2))  # the chord of radius one
        return k, np.linalg.norm(solution.position[k] - bodies.position[k], axis=1) + radius[k] * turned

    def set_free_motion(self, bodies, end_velocity):
        """Put the end of their flight into problem.Bodies and the free velocity (n, 6) at the step's end, in place."""
        end_velocity[self.flown] = self.velocity[self.flown]
        bodies.free_velocity[: len(self.flown)][self.flown] = self.velocity[self.flown]
        bodies.free_position[: len(self.flown)][self.flown] = self.position[self.flown]


def candidates(problem, bounces, scene, faces, jointed, known):
    """Dynamic bodies that may bounce by themselves: only against what does not turn, and off their centre of mass.

    That is its faces, and edges where it is known that they are hit: else neither point stays where two of them cross.

    bounces: (C,) bool, contacts that rebound when each is taken alone; scene: (B,) numbers of the bodies there;
    faces: FirmFaces; jointed: (B,) bool, bodies with joints; known: (C,) bool, see ContactSet, and (B,) bool, scene
    bodies that are led or stand.
    """
    contacts, bodies, n, (first, leads) = problem.contacts, problem.bodies, problem.bodies.dynamic_count, known
    own, other = moving_first(contacts)
    out = np.where((contacts.body_a == own)[:, None], contacts.normal, -contacts.normal)
    good, hits = ~jointed[:n], np.zeros(n, bool)
    hits[own[bounces]] = True
    among = other < n
    good[own[among]] = good[other[among]] = False
    asked = (good & hits)[np.minimum(own, n - 1)] & ~among
    if not some(asked):
        return np.zeros(0, int)
    plane = asked & (bodies.straight(problem.step) & leads[scene])[other]
    if contacts.surface_drift is not None:
        plane &= contacts.surface_drift == 0.0
    may = places(plane)
    plane[may] = faces.touched(scene[other[may]], bodies.orientation[other[may]], out[may], first[may])
    if contacts.face is not None:
        plane &= contacts.face != own
    good[own[asked & ~plane]] = False
    if (good & hits).any():
        off_centre = np.bincount(own[~central(reflections(problem))], minlength=n)[:n] > 0
        good &= off_centre
    return np.flatnonzero(good & hits)


def moving_first(contacts):
    """Bodies (C,) and (C,) of contacts, the first of which moves: those that do not come last."""
    return np.minimum(contacts.body_a, contacts.body_b), np.maximum(contacts.body_a, contacts.body_b)


class Flights:
    """Free motion with impacts, for the bodies of one scene."""

    def __init__(self, bodies, frames, hand_over):
        """bodies: of the scene; frames: BodyFrames; hand_over: HandOver."""
        self._faces, self._frames, self._hand_over = FirmFaces(bodies, frames), frames, hand_over
        self._bodies, self._contacts = HostTable(FlyingBodies, count=1, setting=2), HostTable(FlyingContacts)
        self._kernel = HostKernel(bounce_bodies, self._bodies, self._contacts)

    def run(self, problem, flying, end_velocity, told, limits):
        """Bounces of the bodies that have some; None where there are none.

        Their contacts' rebounds and the first of ``told`` are cleared, and bodies.free_orientation changes, in place.

        Args:
            problem: StepProblem with free motion, and rebounds of contacts each by itself.
            flying: Links, Numbering, acceleration (3,) or (n, 3) [m/s^2], State at the step's start, dampings of the
                scene's bodies [1/s].
            end_velocity: (n, 6) free velocity at the step's end, without impacts.
            told: (C,) bool, contacts that free motion closes; (C,) bool, those known to be touched first.
            limits: approach [m/s] that rests, as half of what free motion gathers in the step does; gap [m] that
                touches.
        """
        links, number, acceleration, state, damping, turn_damping = flying
        contacts, bodies, n = problem.contacts, problem.bodies, problem.bodies.dynamic_count
        jointed = np.zeros(len(bodies.mass), bool)
        jointed[links.a] = jointed[links.b] = True
        rebounds = contacts.rebound_speed != 0.0
        hits, first = told
        known = first, np.append(~self._hand_over.holding.free(state.time), True)
        found = candidates(problem, rebounds, number.scene, self._faces, jointed, known)
        if not len(found):
            return None
        slowest, close = limits
        own = moving_first(contacts)[0]
        part = np.flatnonzero(np.isin(own, found))
        part = part[np.argsort(own[part], kind="stable")]
        velocity, gain, even = self._surfaces(problem, contacts.take(part), (state, number), close)
        if not every(even):
            found = np.setdiff1d(found, own[part[~even]])
            stays = np.isin(own[part], found)
            part, velocity, gain = part[stays], velocity[stays], gain[stays]
            if not len(found):
                return None
        side, planes = planes_of(contacts.take(part), bodies, (velocity, gain))
        pull = side[:, 0] * approach(bodies, contacts, end_velocity)[1][part]
        pull -= problem.step * np.einsum("ci,ci->c", planes.normal, gain)
        slowest, acceleration = np.maximum(slowest, 0.5 * np.abs(pull)), np.broadcast_to(acceleration, (n, 3))
        k, count, size = number.scene[found], len(found), len(part)
        v, w = self._bodies.reserve(count + 1), self._contacts.reserve(size)
        v.count[0], v.setting[:] = count, (problem.step, close)
        v.first[: count + 1] = np.append(np.searchsorted(own[part], found), size)
        v.mass[:count], v.inertia[:count], v.acceleration[:count] = (
            self._frames.mass[k], self._frames.inertia[k], acceleration[found],
        )  # fmt: skip
        v.damping[:count], v.turn_damping[:count] = damping[k], turn_damping[k]
        v.x[:count], v.q[:count], v.u[:count] = (
            bodies.position[found],
            bodies.orientation[found],
            bodies.velocity[found],
        )
        for name, values in vars(planes).items():
            getattr(w, name)[:size] = values
        w.slowest[:size] = slowest
        self._kernel.run()
        flown = v.flown[:count] > 0
        if not flown.any():
            return None
        out = Bounces(*np.zeros((2, n), bool), *(np.zeros(at) for at in ((n, 6), (len(contacts), 3), (n, 3), (n, 6))))
        bounced = found[flown]
        out.flown[bounced] = True
        moves = planes.velocity.any(axis=1) | planes.gain.any(axis=1)
        out.led[own[part[moves & w.impulse[:size].any(axis=1)]]] = True
        out.led &= out.flown
        out.change[bounced], out.position[bounced] = v.change[:count][flown], v.x[:count][flown]
        out.velocity[bounced], bodies.free_orientation[bounced] = v.u[:count][flown], v.q[:count][flown]
        out.impulse[part] = np.where(out.flown[own[part], None], side * w.impulse[:size], 0.0)
        out.free_contacts(contacts, hits)
        return out

    def _surfaces(self, problem, touches, now, noise):
        """(velocity (C, 3) at the step's start [m/s], acceleration (C, 3) [m/s^2]) of the surfaces that bodies touch,
        and (C,) bool: those that go on so to the end of the step.

        touches: Contacts of a StepProblem with what does not move freely; now: State and Numbering; noise: [m] of the
        way, by which others may be off.
        """
        bodies, (own, other), (state, number) = problem.bodies, moving_first(touches), now
        (velocity, gain), even = np.zeros((2, len(own), 3)), np.ones(len(own), bool)
        moves = places(bodies.velocity[other].any(axis=1))
        if len(moves):
            near = np.zeros(len(bodies.mass), bool)
            near[other[moves]] = True
            until, turns = state.time + problem.step, bodies.free_orientation
            last = self._hand_over.led(until, state, number, bodies.velocity, turns, near)
            place = np.where((touches.body_a == other)[:, None], touches.point_a, touches.point_b)[moves]
            times = bodies.velocity_at_start(), bodies.velocity, last
            first, mean, last = (at_places(bodies, speed, other[moves], place) for speed in times)
            velocity[moves], gain[moves] = first, 2.0 / problem.step * (mean - first)
            even[moves] = problem.step * np.abs(first + last - 2.0 * mean).max(axis=1) <= noise
        if touches.surface_velocity is not None:
            runs = np.where((touches.body_a == own)[:, None], -touches.surface_velocity, touches.surface_velocity)
            velocity += runs - touches.normal * np.einsum("ci,ci->c", touches.normal, runs)[:, None]
        return velocity, gain, even


def planes_of(contacts, bodies, surfaces):
    """(1 where body a moves, -1 elsewhere (C, 1); Planes) of contacts with what does not move freely.

    surfaces: their velocities (C, 3) at the step's start [m/s] and accelerations (C, 3) [m/s^2].
    """
    body, other = moving_first(contacts)
    first = contacts.body_a == body
    side = np.where(first, 1.0, -1.0)[:, None]
    own, far = (np.where(c[:, None], contacts.point_a, contacts.point_b) for c in (first, ~first))
    normal = side * contacts.normal
    on_plane = bodies.position[other] + rotate(bodies.orientation[other], far)
    near, beyond = (np.where(c, contacts.margin_a, contacts.margin_b) for c in (first, ~first))
    height = np.einsum("ci,ci->c", normal, on_plane) + beyond
    return side, Planes(own, near, normal, height, contacts.friction, contacts.restitution, *surfaces)

# SPDX-License-Identifier: GPL-3.0-or-later
"""From a scene, its state and its contacts to a StepProblem: who moves, what is prescribed, what touches what."""

from contextlib import contextmanager

import numpy as np

from . import rotations
from .assembled import Assembly, Inert
from .bounces import Flights
from .contact_frames import ContactFrames
from .copies import replace
from .falling import fall_by_middle, falling, in_groups
from .flags import equal, places, some
from .flat_shapes import flat_bodies
from .force_fields import ForceTable
from .foresight import Foresight, without_parting
from .gliding import by_middle, carried, take_middle
from .hand_over import HandOver, Holding
from .hanging import hangs, lever_inertia
from .jumps import spread
from .manifold import NOISE
from .materials import COEFFICIENTS, Materials
from .mean_turn import take_mean_turns
from .missed_hits import foreseen
from .numbering import Links, Numbering
from .outline import Outlines
from .overlaps import overlapping, without_friction
from .predict import FreeMotion
from .problem import Bodies, Contacts, JointRows, StepProblem, frozen, joined
from .reference.free_motion import reach
from .riders import Riding
from .rims_that_roll import Rims
from .round_cores import RoundCores
from .spinning import fast_spins
from .topology import build_topology
from .twists import expect_turns
from .vectors import length, moved

NO_ROWS = JointRows.empty()
_NONE = {"start_gap": np.zeros(0), "gap_noise": np.zeros(0)}
NO_CONTACTS = replace(Contacts.empty(), face=np.zeros(0, np.int32), face_normal=np.zeros((0, 3)), **_NONE)
HELD = 0.5  # of the tolerance at rest: gaps and overlaps within it stay as they are, or mending them is what moves
LIGHT = 0.01  # of what free motion changes in a step: a contact that changes less carries no load


class Assembler:
    """Builds the StepProblem of each step of one scene.

    What only depends on who moves and which joints hold is kept until that changes.
    """

    force_fields = None
    asleep = None  # (B,) bool: bodies that rest in this step (rest.py), or None where nothing does
    carried = None  # parts.Carried: bodies that have done this step already, or None
    flights = None  # bounces.Flights of a scene: its bodies bounce in free motion
    until = frame = None  # when the step ends that this one is a part of [s], see jumps.py; how long a frame is [s]
    hangs = None  # (B + 1,) bool: scene bodies that contacts may pull outward (hanging.py), or None
    rims = riding = None  # Rims and Riding of the bodies, or None where there are none
    cores = RoundCores()
    flat = 0  # (B + 1,) int of flat_shapes.py; 0: nobody asks
    spinning = None  # (B,) bool: bodies that turn with what joints do to them (spinning.py), or None

    def __init__(self, scene, frames, joints, config):
        self.scene, bodies = scene, scene.bodies
        self.outlines, self.rims = Outlines(bodies, frames), Rims.of(bodies, frames)
        self.riding, self.cores = Riding.of(bodies, bool(scene.joints)), RoundCores.of(bodies, frames)
        self.set_out(frames, joints, Holding.of(bodies))
        self.hand_over = HandOver(bodies, frames, self.holding)
        self.force_fields = ForceTable(scene, frames) if scene.fields else None
        damping = np.array([(body.linear_damping, body.angular_damping) for body in bodies], float).reshape(-1, 2)
        self.linear_damping, self.angular_damping = damping.T.copy()
        rules = scene.friction_combine, scene.restitution_combine
        self.materials = Materials(rules, *([getattr(body, name) for body in bodies] for name in COEFFICIENTS))
        surface = np.array([body.surface_velocity for body in bodies], float).reshape(-1, 3)
        self.surface_velocity = rotations.rotate(rotations.conjugate(frames.principal), surface)  # in solver axes
        self._surfaces_run = bool(surface.any())
        self.flat = flat_bodies(bodies, bool(scene.joints) or self._surfaces_run)
        self.hangs, self.flights = hangs(bodies), Flights(bodies, frames, self.hand_over)
        self.slow, self.noise = config.tolerances()  # noise: [m] way that residuals may lead in a step
        moving = [b.motion == "kinematic" or bool(b.motion == "dynamic" and b.path) for b in bodies]
        self._moving = places(np.array(moving, bool))

    def set_out(self, frames, joints, holding):
        """Take over BodyFrames, the table of joints and Holding; nothing is known of any step yet."""
        self.frames, self.joints, self.holding = frames, joints, holding
        self._motion, self._places, self._foresight = FreeMotion(), ContactFrames(frames), Foresight()
        self._numbering = self._inert = self._linking = self._joined = (None, None, None)  # what it is of comes first

    def free(self, time):
        """(B,) bool: which bodies move freely in a step that starts at ``time`` [s]."""
        return self.holding.free(time)

    @property
    def prescribes(self):
        """Whether any body of the scene has a path."""
        return len(self._moving) > 0

    @contextmanager
    def sleeping(self, asleep):
        """Put steps together with the bodies ``asleep`` (B,) bool left as they are."""
        before, self.asleep = self.asleep, asleep
        try:
            yield
        finally:
            self.asleep = before

    def numbering(self, time):
        """Who is to be solved in a step that starts at ``time`` [s]: bodies that move freely, do not rest and are not
        carried.
        """
        free = self.free(time)
        if self.asleep is not None:
            free = free & ~self.asleep
        if self.carried is not None:
            free = free & ~self.carried.mask
        key = free.tobytes()
        if self._numbering[0] != key:
            self._numbering = key, Numbering.of(free)
        return self._numbering[1]

    def prescribed(self, state, time):
        """Solver poses of all bodies at ``time``, where prescribed ones are: (B, 3), (B, 4)."""
        position, orientation = state.position.copy(), state.orientation.copy()
        held = self._held(state)
        place, turn = self.hand_over.plans(held, state.time, time, state.glide)
        position[held] = place + rotations.rotate(turn, self.frames.center[held])
        orientation[held] = rotations.multiply(turn, self.frames.principal[held])
        if self.carried is not None:
            bodies, place, turn = self.carried.pose(time)
            position[bodies], orientation[bodies] = place, turn
        return position, orientation

    def _held(self, state):
        """Numbers of the bodies that keyframes move in a step from a State."""
        return self._moving[~self.free(state.time)[self._moving]]

    def prescribed_velocity(self, state, step):
        """(B, 6) velocity of each body: its own, or for prescribed ones the mean over the coming step; read only."""
        if not len(self._moving) and self.carried is None:
            return state.velocity
        return self._mean_velocity(state, step, *self.prescribed(state, state.time + step))

    def _mean_velocity(self, state, step, position, orientation):
        """The same, where the step leads to the prescribed poses given."""
        velocity, held = state.velocity.copy(), self._held(state)
        velocity[held, :3] = (position[held] - state.position[held]) / step
        turn = rotations.multiply(orientation[held], rotations.conjugate(state.orientation[held]))
        velocity[held, 3:] = rotations.logarithm(turn) / step
        if self.carried is not None:
            velocity[self.carried.mask] = self.carried.velocity[self.carried.mask]
        return velocity

    def build(
        self, state, step, contacts, impulses, missed=None, row_force=None, pressed=None, curved=None, struck=None,
        turning=None,
    ):  # fmt: skip
        """The Assembly of one step.

        contacts: ContactSet found at the state; impulses: (C, 3) world start impulses on body a [N s]; missed: more
        Contacts, numbered as in this step, that follow those; row_force: (rows of the table,) [N, N m] to start from
        instead of the last step's; pressed: (C,) bool, which contacts carry load, or None to guess: those that carried
        some before, those that free motion closes, and new ones that touch; curved: (n,) int, as in
        ``gliding.by_middle``, None: bodies that curves carried in the last steps; struck: (C,) bool, which hit at the
        end of the step though free motion misses, or None; turning: TurningNormals, or None.
        """
        number = self.numbering(state.time)
        links = self._links(number, step)
        curved = carried(state, number) if curved is None else curved
        bodies, end_velocity, acceleration = self._bodies(state, step, number)
        touches = self.contacts(contacts, impulses, number, bodies.free_orientation)
        touches = touches if missed is None else joined(touches, missed)
        problem = StepProblem(step, bodies, touches, NO_ROWS)
        n, bodies.midpoint, bodies.riders, bounces = number.dynamic_count, number.loose, links.riders, None
        if len(touches):
            flying, known = (links, number, acceleration, state), (pressed, struck)
            pressed, bounces = self._rebound(problem, contacts, end_velocity, known, flying)
            self.cores.put(problem, contacts, self.noise, links)
        else:
            touches.rebound_gap, touches.rebound_speed, pressed = np.zeros(0), np.zeros(0), np.zeros(0, bool)
        loads, may, seen = (pressed, self.joints.passed(step)), None, None
        if len(touches) or some(loads[1]):
            bodies.midpoint, may, seen = by_middle(problem, contacts, links, loads, self.noise, curved, None, turning)
        self._take_mean_velocity(bodies, end_velocity, bodies.midpoint[:n], step)
        falls = falling(problem, links, pressed, bodies.midpoint, end_velocity, self.noise, bounces)
        fall_by_middle(bodies, end_velocity, falls, step)
        if bounces is not None:
            bounces.set_free_motion(bodies, end_velocity)
        if may is not None:
            take_middle(problem, contacts, may, (curved, turning), links, self.noise)
        if self.spinning is not None:
            bodies.spin = fast_spins(bodies, self.spinning[number.scene[:n]])
        bodies.lever_inertia = lever_inertia(problem, self.hangs, number)
        problem.joints, row_number, rate, end = self._rows(state, bodies, step, links, row_force)
        take_mean_turns(bodies, problem.joints, end_velocity, step)
        topology = build_topology(problem)
        if len(problem.joints) and touches.gap_noise is not None:  # led along a wall it is a little off: no squeeze
            of_joints = topology.contact_order[topology.jointed[topology.contact_island]]
            touches.gap_noise[of_joints] = HELD * self.slow
        return Assembly(
            problem, number, contacts, row_number, rate, end_velocity, topology.body_island, topology.jointed,
            topology.looped, (links.a, links.b), pressed, struck, bounces, curved, self._rigid(links), end, falls, seen,
            turning,
        )  # fmt: skip

    def _rebound(self, problem, contacts, end_velocity, known, flying):
        """Fill in, in place, where rebounds end, and where bodies do that bounce in free motion.

        known: ``pressed`` and ``struck`` of ``build``; flying: Links, Numbering, acceleration, State.  Returns
        ``pressed`` (C,) bool of ``build``, guessed if None, and Bounces or None.
        """
        touches, step, (pressed, struck) = problem.contacts, problem.step, known
        if pressed is not None and not some(touches.restitution):  # nobody asks what hits, and nothing rebounds
            touches.rebound_gap, touches.rebound_speed = np.zeros(len(touches)), np.zeros(len(touches))
            if touches.surface_drift is not None:
                touches.rebound_speed = touches.rebound_speed - touches.surface_drift
            return pressed, None
        leads, slowest = (self.hand_over, flying[1], flying[3]), 2.0 * self.noise / step
        told, unknown = foreseen(problem, struck, end_velocity, len(contacts))
        rebounds = self._foresight.rebounds(told, end_velocity, slowest, self.noise, leads)
        (touches.rebound_gap, touches.rebound_speed, hits), bounces = rebounds, None
        touches.impulse = without_parting(problem, hits, end_velocity, slowest, self.noise)
        touches.rebound_gap[unknown] = 0.0
        if self.flights is not None and some(touches.rebound_speed != 0.0):
            flying = *flying, self.linear_damping, self.angular_damping
            first = np.append(contacts.first, np.zeros(len(touches) - len(contacts), np.int32)) > 0
            bounces = self.flights.run(problem, flying, end_velocity, (hits, first), (slowest, self.noise))
        if touches.surface_drift is not None:
            touches.rebound_speed = touches.rebound_speed - touches.surface_drift
        if pressed is None:
            new = (contacts.previous < 0) & (contacts.gap <= self.noise)
            pressed = hits | new | self._loads(problem, touches.impulse, end_velocity, flying[0])
        return pressed, bounces

    def _rows(self, state, bodies, step, links, force):
        """(JointRows, their numbers in the table, rates of targets, EndLaw or None), those that move somebody."""
        a, b, of_joint = links.a, links.b, links.loose
        if len(a) and bodies.midpoint.flags.writeable:  # contacts hold some; rows of one joint have the same bodies
            of_joint = np.zeros(len(of_joint))
            of_joint[links.joint] = np.maximum(bodies.midpoint.take(a), bodies.midpoint.take(b))
        rows, row_number, rate, end = self.joints.rows(state.time + step, step, of_joint, force)
        if not len(rows):
            return rows, row_number, rate, end
        rows.body_a, rows.body_b = a, b
        if links.take is not None:  # a joint whose body is still held takes no part
            rows, row_number, rate = rows.take(links.take), row_number[links.take], rate[links.take]
            end = None if end is None else end.take(links.take)
        if self.until is not None and state.time + step < self.until:
            spread(rows, rate, np.isin(row_number, self.joints.leaps), bodies, step, self.until - state.time)
        expect_turns(rows, bodies, step)
        return rows, row_number, rate, end

    def _rigid(self, links):
        """JointRows of ``Assembly.rigid``, or None."""
        rows = self.joints.rigid_rows()
        if rows is None or links.take is not None:
            return None
        if self._joined[0] is not rows or self._joined[1] is not links:
            self._joined = rows, links, replace(rows, body_a=links.a, body_b=links.b)
        return self._joined[2]

    def wrongly_pressed(self, assembly, solution, others=False):
        """(C,) bool: which contacts carry load in the solution, and with ``others`` those that were thought to; None
        where the integrator was chosen by the same ones.

        What a contact or a limit that was passed holds goes by backward Euler; what nothing holds keeps its energy.
        """
        if not len(solution.contact_impulse):
            return None
        problem, n = assembly.problem, len(assembly.end_velocity)
        links = self._links(assembly.numbering, problem.step)
        loaded = self._loads(problem, solution.contact_impulse, assembly.end_velocity, links)
        loaded = loaded | assembly.pressed if others else loaded
        if equal(loaded, assembly.pressed):
            return None
        loads, seen = (loaded, self.joints.passed(problem.step)), (assembly.curved, assembly.glance, assembly.turning)
        middle = by_middle(problem, assembly.contacts, links, loads, self.noise, *seen)[0]
        if not equal(middle > 0.0, problem.bodies.midpoint > 0.0):
            return loaded
        falls = falling(problem, links, loaded, middle, assembly.end_velocity, self.noise, assembly.bounces)
        return None if falls is assembly.falls or equal(in_groups(falls, n), in_groups(assembly.falls, n)) else loaded

    def _loads(self, problem, impulse, end_velocity, links):
        """(C,) bool: which contacts of a StepProblem carry load, for ``impulse`` (C, 3) [N s].

        What moves nothing farther in a step than residuals may, nor by LIGHT of what free motion changes, is none for
        what hangs on joints: two balls that swing side by side push each other by rounding, and lost a tenth of their
        energy in a swing as if one held the other.  end_velocity: (n, 6) free velocity at the step's end.
        """
        if not len(links.a):
            return moved(impulse)
        contacts, bodies, n = problem.contacts, problem.bodies, len(end_velocity)
        sides, (gain, jointed) = (contacts.body_a, contacts.body_b), np.zeros((2, len(bodies.mass)))
        jointed[links.a] = jointed[links.b] = 1.0
        gain[:n] = jointed[:n] * length(end_velocity[:, :3] - bodies.velocity[:n, :3])
        weight, gain = sum(1.0 / bodies.mass[side] for side in sides), np.maximum(*(gain[side] for side in sides))
        return length(impulse) * weight > np.minimum(self.noise / problem.step, LIGHT * gain)

    def _links(self, number, step):
        """The Links of the joints that hold now, in a step of this length [s]."""
        springs = self.joints.springs_of(step)
        key = number, self.joints.alive.tobytes(), springs.tobytes()
        if self._linking[0] != key:
            known = springs, self.joints.limits, self.flat, self.rims, self.riding, self.joints.gives
            self._linking = key, Links.of(self.joints.fixed, self.joints.alive, number, *known)
        return self._linking[1]

    def acceleration(self, bodies):
        """(3,), or (n, 3) one for each of ``bodies`` (n,): acceleration of free motion [m/s^2]."""
        return np.asarray(self.scene.gravity, float)

    def _bodies(self, state, step, number):
        """Bodies with free motion by backward Euler, free velocity (n, 6) at the step's end, and the acceleration."""
        n, order = number.dynamic_count, number.scene
        acceleration, inert = self.acceleration(order[:n]), self._inertness(step, number)
        if self.force_fields is not None:
            pushed, braked = self.force_fields.on(order[:n], state, step, acceleration, self.linear_damping)
            acceleration, inert = acceleration + pushed, self._inert_of(step, number, braked)
        position, orientation, velocity, end_position, end_orientation, flow = self._motion.run(
            (state.position, state.orientation), state.velocity, order, inert.moments, acceleration,
            inert.reach, inert.decay, inert.turn_decay, step,
        )  # fmt: skip
        if len(self._moving) or self.carried is not None:
            planned, fixed = self.prescribed(state, state.time + step), order[n:-1]
            end_position[n:-1], end_orientation[n:-1] = planned[0][fixed], planned[1][fixed]
            velocity[n:-1] = flow[n:-1] = self._mean_velocity(state, step, *planned)[fixed]
        bodies = Bodies(
            n, inert.mass, inert.inertia, position, orientation, velocity, end_position, end_orientation, flow,
            number.loose, start_velocity=self.hand_over.led(state.time, state, number, velocity, orientation),
        )  # fmt: skip
        return bodies, flow[:n].copy(), acceleration

    def _inertness(self, step, number):
        """The Inert of steps without force fields."""
        if self._inert[0] != (step, number):
            self._inert = (step, number), self._inert_of(step, number, 0.0)
        return self._inert[1]

    def _inert_of(self, step, number, braked):
        """The Inert of a step in which fields brake by ``braked`` (n,) more [1/s]."""
        n, order, free = number.dynamic_count, number.scene, number.scene[: number.dynamic_count]
        mass, inertia = np.full(len(order), np.inf), np.full((len(order), 3), np.inf)
        damping, turn_damping = self.linear_damping[free] + braked, self.angular_damping[free]
        acts = reach(damping, step)
        # Damping acts on what impulses do in the step as it acts on gravity: as if the body were that much heavier.
        mass[:n] = self.frames.mass[free] / (acts / step)
        inertia[:n] = self.frames.inertia[free] / (reach(turn_damping, step)[:, None] / step)
        columns = mass, inertia, self.frames.inertia[free], acts, np.exp(-damping * step), np.exp(-turn_damping * step)
        return Inert(*(frozen(values) for values in columns))

    @staticmethod
    def _take_mean_velocity(bodies, end_velocity, midpoint, step):
        """The unknown is the velocity that carries the pose: the mean (u+ + a u-) / (1 + a), a = midpoint (n,)."""
        if not some(midpoint):
            return
        n, share = bodies.dynamic_count, midpoint[:, None]
        flow = (end_velocity[:, :3] + share * bodies.velocity[:n, :3]) / (1.0 + share)
        bodies.free_velocity[:n, :3] = flow
        bodies.free_position[:n] = bodies.position[:n] + step * flow

    def contacts(self, contacts, impulses, number, orientation, start_gap=None, at_start=True):
        """A ContactSet as solver Contacts.

        impulses: (C, 3) world start impulses on body a [N s]; orientation: of the solver bodies at the step's end;
        start_gap: (C,) gap at its start [m], or None: that of contacts; at_start: whether it is one of that at all.
        """
        a, b = contacts.body_a, contacts.body_b
        if not len(a):
            return Contacts(**vars(NO_CONTACTS))
        point_a, point_b, drift = contacts.point_a, contacts.point_b, None
        if contacts.deforms.max() >= 0:
            on_a = (contacts.deforms == a)[:, None]
            point_a = point_a + np.where(on_a, contacts.shift, 0.0)
            point_b = point_b + np.where(on_a, 0.0, contacts.shift)
            drift = np.where(on_a, contacts.drift, -contacts.drift)
        body_a, body_b, face, point_a, point_b, face_normal = self._places.turned(
            (a, b), (point_a, point_b), contacts.face, contacts.face_normal, number.solver
        )
        friction, restitution = self.materials.of(a, b)
        size, gap = contacts.manifolds.size.take(contacts.source), contacts.gap if start_gap is None else start_gap
        inside = overlapping(gap, size, self.noise)
        if at_start and some(inside):
            grip = self._moving[number.solver[self._moving] >= number.dynamic_count]
            friction = without_friction(friction, inside, (a, b), grip, self.joints.fixed)
        return Contacts(
            body_a, body_b, point_a, point_b, contacts.margin_a, contacts.margin_b, contacts.normal, friction,
            restitution, impulses, gap,
            face=face, face_normal=face_normal,
            surface_velocity=self._surface_velocity(a, b, orientation, number, drift),
            surface_drift=None if drift is None else np.einsum("ci,ci->c", contacts.normal, drift),
            gap_noise=np.minimum(NOISE * size, HELD * self.slow),
        )  # fmt: skip

    def _surface_velocity(self, a, b, orientation, number, drift):
        """(C, 3) world velocity of the surface of bodies a relative to that of b, beyond their motion; or None."""
        if not self._surfaces_run:
            return drift
        world = rotations.rotate(orientation[number.solver[:-1]], self.surface_velocity)
        return world[a] - world[b] + (0.0 if drift is None else drift)

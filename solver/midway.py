# SPDX-License-Identifier: GPL-3.0-or-later
"""What joints lack at the end of a step they push along the directions of its middle, as they did on the way.

The velocity phase finds the impulse p that joints lack for J+ u+ = 0.  Along J+, the directions of the end pose, it
projects the velocity, and a projection takes: of a wheel that spins freely on an arm which turns by t in a step, the
part sin(t / 2) of that impulse went from the spin.  The axle pushes all along the way, and so

    M (u+ - u-) = Jm^T (2 p' + p)        J+ u+ = 0        p': of the position phase; Jm: mean of both ends

As J- u- = 0, that reads the same with both ends exchanged: nothing is lost step after step, whatever the joints hang
on.  And a moment along the mean of directions square to an axle leaves the spin about it as it was, to rounding.

The phase is solved with M^-1 (Jm - J+)^T p more of free velocity, until p is what it finds, to what the phase
tolerates: each solve leaves a part as large as what directions turn by, and what the last one does the judge
sees.  This is for what keyframes or drives lead, and has no energy that could be kept instead (kept_energy.py); for
rows that hold both ways, where joints alone hold, go by mid-step, and fitted where the step started: else what they
lack is an impact, which takes its energy.  Not for what flies: a force with the levers of mid-step turns a group, in
its pose at the end, by a part of itself.

What pulls of joints swing faster than a step follows, light links under a load or whirled round, this would drive, as
nothing is taken: such islands end along J+.  So does a step in which rows that hold come to have done much work,
(2 p' + p) Jm (u- + u+) / 2, which else goes up and down a little within a swing.
"""

import numpy as np

from .assembled import pressed_islands
from .components import anchored
from .constraints.breaking import impulse_share
from .copies import replace
from .energy import kinetic_energies
from .fitting import misfits
from .flags import every, places, some
from .problem import Coordinate
from .reference.rotation import dot, world_inertia
from .reference.rows import jacobians, mean_jacobians
from .row_work import leading
from .topology import groups_with
from .vectors import length

ROUNDS = 5  # solves, of which where bodies turn by half a radian each leaves a tenth
CLOSE = 1e-6  # of the speed of an island, its spin at the radius of gyration, to which a push is found
SHRINKS = 0.5  # of what the round before changed, at most; where bodies turn farther no round would be the last
FOLLOWED = 1.0  # (omega h)^2 of what pulls of joints swing, at most
LEAST = 1e-9  # [m] of a lever or line
BEYOND = 0.1  # of the most kinetic energy that an island had of late, what joints may give it in all
FADES = 2.0  # [s] in which that most is forgotten


def led_midway(assembly, solution, judged, late, known):
    """(islands,) bool: those that keyframes or drives lead, which joints alone hold to what does not move freely, in
    mid-step, and that fitted their joints at the start.

    judged: the JudgedStep; late: StepProblem and StepSolution of the velocity phase; known: (n,) bool, State.ruled;
    at most how fast joints that hold may part where it was not [m/s, rad/s]; and [m or rad] that is no way in a step.
    """
    ruled, most, near = known
    problem, island, ours = assembly.problem, assembly.island, assembly.island_jointed & judged.driven
    if assembly.rigid is None and len(rows := late[0].joints) and not every(judged.driven):
        drives = leading(assembly, solution, near, late)[1]
        ours[island[np.minimum(rows.body_a, rows.body_b)[drives]]] = True
    if not some(ours):
        return ours
    n, count = problem.bodies.dynamic_count, len(ours)
    ours &= groups_with(island, anchored((problem.joints.body_a, problem.joints.body_b), n), count)
    ours &= ~groups_with(island, problem.bodies.midpoint[:n] < 1.0, count)
    ours &= ~pressed_islands(assembly, solution)
    if some(unknown := ours & groups_with(island, ~ruled, count)):
        ours &= ~misfits(assembly, unknown, most)
    if some(ours):
        ours &= ~groups_with(island, _swing(assembly, solution) > FOLLOWED, count)
    return ours


def _swing(assembly, solution):
    """(n,) (omega h)^2 of bodies that the pull of joints swings: about their middles, with masses that go along with
    their anchors, or, where a distance holds them, as on a string.
    """
    problem, h = assembly.problem, assembly.problem.step
    rows, bodies = problem.joints, problem.bodies
    mass, pull = bodies.mass, h * np.abs(impulse_share(problem) * solution.joint_impulse)
    which = places((rows.coordinate == Coordinate.LINEAR) | (rows.coordinate == Coordinate.DISTANCE))
    rows, pull, out = rows.take(which), pull[which], np.zeros(len(mass))
    along = 1.0 / (1.0 / mass[rows.body_a] + 1.0 / mass[rows.body_b])  # of the two masses that an anchor moves apart
    for body, anchor in ((rows.body_a, rows.anchor_a), (rows.body_b, rows.anchor_b)):
        square = np.einsum("ri,ri->r", anchor, anchor)
        across = np.einsum("ri,ri->r", square[:, None] - anchor**2, 1.0 / bodies.inertia[body])
        # 1 / across is the least moment of inertia square to the lever, in parts of that of a body that turns so
        np.add.at(out, body, pull * across / np.maximum(np.sqrt(square) * (1.0 + across * along), LEAST))
    line = places(rows.coordinate == Coordinate.DISTANCE)
    far = pull[line] / np.maximum(np.abs(rows.offset[line]), LEAST)
    for body in (rows.body_a[line], rows.body_b[line]):
        np.add.at(out, body, far / mass[body])
    return out[: bodies.dynamic_count]


def push_midway(assembly, solution, late, solve, ours, known):
    """(StepProblem, StepSolution) of the velocity phase with what joints lack pushed along the way's directions, and
    (n, 2) as State.owed of the islands that are, or would be but for the work.

    late: both as solved with those of the end; solve(problem, done) -> StepSolution, done: (n,) bool, bodies that need
    no solution; ours: (islands,) bool, islands that may be pushed so; known: (n, 2) State.owed before, and (n,) how
    far a push may be from what was found [m/s].
    """
    owed, aim = known
    island, count, h = assembly.island, len(ours), assembly.problem.step
    push = _Push(assembly, late, ours)
    found, goes = push.solved(late, solve, aim) if len(push.which) else (late, np.zeros(count, bool))
    if not some(goes):
        push.count(late[1])
        return *late, np.zeros_like(owed)
    before, most = (np.bincount(island, values, count) for values in owed.T)
    energies = kinetic_energies(late[0].bodies, late[0].bodies.orientation[push.own], found[1].velocity[push.own])
    most = np.maximum(np.bincount(island, energies, count), np.exp(-h / FADES) * most)
    given = push.work(assembly, solution, found[1], push.middle) - before
    good = goes & (given <= BEYOND * most)
    if some(goes & ~good):
        given = np.where(good, given, push.work(assembly, solution, late[1], push.end) - before)
    waits = np.stack([np.minimum(-given, BEYOND * most), most], axis=1) / np.bincount(island, minlength=count)[:, None]
    problem, result = push.merged(late, found, good)
    push.count(result)
    result.midway = np.zeros(len(late[0].joints), bool)
    result.midway[push.which] = good[push.island]
    return problem, result, np.where(goes[island][:, None], waits[island], 0.0)


class _Push:
    """What rows that hold push in mid-step beyond what they do along the directions of the end."""

    def __init__(self, assembly, late, ours):
        """late, ours: as in ``push_midway``."""
        (problem, result), self._island, self._ours = late, assembly.island, ours
        rows, bodies, start = problem.joints, problem.bodies, assembly.problem.bodies
        n = bodies.dynamic_count
        self.own, self._bodies, self._of_row = slice(n), bodies, self._islands(rows)
        gives = np.zeros(len(rows), bool) if problem.gives is None else problem.gives
        self.which = places((_hold(rows) | gives) & ours[self._of_row] & (result.joint_impulse != 0.0))
        self._rows, self.island = rows.take(self.which), self._of_row[self.which]
        self._rate = np.where(gives, 0.0, rows.target_velocity)[self.which]  # energy of strain is none of what leads
        end = bodies.position, bodies.orientation
        self._poses = (start.position, start.orientation), end
        self.end, self.middle = jacobians(self._rows, *end), mean_jacobians(self._rows, *self._poses)
        self._inverse = np.linalg.inv(world_inertia(bodies.orientation[:n], bodies.inertia[:n]))
        self._gyration = bodies.gyration()
        self._newton = self._linear = 0

    def solved(self, late, solve, aim):
        """((StepProblem, StepSolution), (islands,) bool: those for which it is another one, and found to ``aim``).

        The free velocities are those that the impulses found ask for, so that the judge sees what the last solve left.
        """
        change, going, good = np.full(len(self._ours), np.inf), self._ours, self._ours
        shift, found = np.zeros((self._bodies.dynamic_count, 6)), late
        least = CLOSE * self._fastest(late[1].velocity[self.own])
        for number in range(ROUNDS):
            pushed = self._pushed(found[1].joint_impulse)
            before, change = change, self._fastest(pushed - shift)
            going = going & (change > least)
            if number == 0:
                good = going
            good = good & ~(going & (change > SHRINKS * before))
            going = going & good
            if not some(going):
                break
            own = going[self._island]
            shift[own] = pushed[own]
            free = self._bodies.free_velocity.copy()
            free[self.own] += shift
            problem = replace(late[0], bodies=replace(self._bodies, free_velocity=free))
            result = solve(problem, ~own)
            found = self.merged(found, (problem, result), going)
            self._newton += result.newton_iterations
            self._linear += result.linear_iterations
        pushed = self._pushed(found[1].joint_impulse)
        good = good & ~groups_with(self._island, self._speeds(pushed - shift) > aim, len(good))
        free = late[0].bodies.free_velocity.copy()
        free[self.own] += pushed
        return (replace(late[0], bodies=replace(self._bodies, free_velocity=free)), found[1]), good

    def count(self, result):
        """Add the iterations of the solves of ``solved`` to those of a StepSolution."""
        result.newton_iterations += self._newton
        result.linear_iterations += self._linear

    def merged(self, first, second, islands):
        """The phase ``first``, of ``islands`` (islands,) bool as in ``second``."""
        own = islands[self._island]
        free, velocity = first[0].bodies.free_velocity.copy(), first[1].velocity.copy()
        free[self.own][own] = second[0].bodies.free_velocity[self.own][own]
        velocity[self.own][own] = second[1].velocity[self.own][own]
        impulse = np.where(islands[self._of_row], second[1].joint_impulse, first[1].joint_impulse)
        problem = replace(first[0], bodies=replace(first[0].bodies, free_velocity=free))
        return problem, replace(first[1], velocity=velocity, joint_impulse=impulse)

    def work(self, assembly, solution, result, along):
        """(islands,) work [J] of rows that hold by the mean velocity of both ends; result: of the velocity phase, whose
        impulses were ``along`` (J_a, J_b).
        """
        problem, rows = assembly.problem, assembly.problem.joints
        velocity = 0.5 * (problem.bodies.velocity_at_start() + result.velocity)
        which = places(_hold(rows) & self._ours[self._islands(rows)])
        rows = rows.take(which)
        rate = np.where(rows.beta == 1.0, assembly.row_rate[which], rows.target_velocity)
        early = rows, mean_jacobians(rows, *self._poses), (impulse_share(problem) * solution.joint_impulse)[which], rate
        late = self._rows, along, result.joint_impulse[self.which], self._rate
        out = np.zeros(len(self._ours))
        for rows, (j_a, j_b), impulse, rate in (early, late):
            work = impulse * (dot(j_a, velocity[rows.body_a]) + dot(j_b, velocity[rows.body_b]) - rate)
            out += np.bincount(self._islands(rows), work, len(out))
        return out

    def _pushed(self, impulse):
        """(n, 6) velocity that bodies get by impulses (R,) along the way's directions beyond that along the end's."""
        push = np.zeros((len(self._bodies.mass), 6))
        for body, middle, end in zip((self._rows.body_a, self._rows.body_b), self.middle, self.end, strict=True):
            np.add.at(push, body, (middle - end) * impulse[self.which, None])
        push = push[self.own]
        turned = np.einsum("nij,nj->ni", self._inverse, push[:, 3:])
        return np.hstack([push[:, :3] / self._bodies.mass[self.own, None], turned])

    def _fastest(self, velocity):
        """(islands,) largest speed [m/s] in velocities (n, 6)."""
        out = np.zeros(len(self._ours))
        np.maximum.at(out, self._island, self._speeds(velocity))
        return out

    def _speeds(self, velocity):
        """(n,) speeds [m/s] in velocities (n, 6)."""
        return length(velocity[:, :3]) + self._gyration * length(velocity[:, 3:])

    def _islands(self, rows):
        """(R,) island of each of JointRows."""
        return self._island[np.minimum(rows.body_a, rows.body_b)]


def _hold(rows):
    """(R,) bool: JointRows that hold both ways, or lead with any force."""
    return (rows.compliance == 0.0) & np.isinf(rows.lower) & np.isinf(rows.upper)

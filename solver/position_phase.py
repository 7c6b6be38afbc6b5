# SPDX-License-Identifier: GPL-3.0-or-later
"""The position phase: the end pose of a step, and the contacts that only show there.

Where detection at the end pose finds what the start did not show, the step is put together anew: islands merge.  So it
is where contacts carry load otherwise than thought, because load chooses the integrator: what a contact holds goes by
backward Euler to the end of the step; what nothing holds takes its joints' directions in mid-step and keeps its energy.
"""

import numpy as np

from .arrays import usual_room
from .assemble import HELD
from .constraints.breaking import row_forces
from .copies import replace
from .crests import crests
from .curves import COARSE, KINK, MOST, bends, curves, pose_at
from .eased import SHARES, eased
from .effort import Effort, adds_up, hanging
from .energy_limit import LONGEST_STEP
from .facets import Surfaces
from .far_contacts import better, contradicting
from .flags import some
from .ghosts import NO_PAIRS, met_without, of_pairs, suspects
from .gliding import whole_impulses
from .handed_eps import start_eps
from .kept_solves import keep, unchanged
from .leaning import leaning
from .missed_hits import missed_hits
from .ordered import union, without
from .overreach import overreached
from .passing import HALVED, LAST, scene_poses
from .problem import joined, world_impulses
from .proximal import SolveOptions
from .redetect import check_end, of_others, unchecked
from .reference.rows import normals, start_gaps
from .residuals import Judge
from .second_hits import hit_again
from .solved import Solved
from .straight_carriers import carried_at, carry
from .topology import whole_groups
from .tumbled import tumbled_off
from .turned_over import turned_over
from .turning_normals import at_end_pose, turning_normals
from .velocity_phase import moves

SLOW = 0.5  # [m/s] below it an island is held to the tight tolerance
CALM = 0.1  # [m/s] below it Gauss-Seidel only stirs what rests
AIM = 0.95  # of the loose tolerance: detection and poses in single precision take the rest
REPEATS = 4  # solves with contacts that only showed at the end pose
GHOSTS = 3  # solves without contacts that pushed what never meets
TURNED = 2  # solves with normals that turn
CHANGES = 2  # solves with the integrator of other loads; one that comes and goes with it then counts as there


class PositionPhase:
    """Solves the position phase of steps of one scene."""

    looks = True  # at the end of a step; not where who asks hands over all contacts, and impulses of each are to come

    def __init__(self, assembler, collider, frames, joints, solver, tolerances, bodies=()):
        """tolerances: (slow, fast) [m], as SolverConfig.tolerances gives them; bodies: the scene's, if it has some."""
        self.assembler, self.collider, self.frames = assembler, collider, frames
        self.joints, self.solver = joints, solver
        self.slow, self.fast = tolerances
        self.judge, self.surfaces = Judge(solver.device), Surfaces(bodies)
        self.effort = Effort(tolerances, (AIM, 1.0 - HELD, solver.resting), (SLOW, CALM))
        if collider.model.may_touch:
            solver.problem.usual = self.judge.usual = usual_room(int(np.isfinite(frames.mass).sum()))

    def solve(self, assembly, state, last):
        """The Solved step: repeated with contacts that only show at the end pose, where load is not as thought, and
        without contacts that pushed what never meets (ghosts.py).

        last: one of passing.py.  Contacts found at the end of a wrong way are wrong themselves: unless it is the last
        resort, islands that missed get none, and a solve most of which missed is given back at once.
        """
        options, tolerance = self.options(assembly, state)
        solved = Solved(assembly, *self._solve(assembly, options, tolerance, last), tolerance, NO_PAIRS)
        solved = self._repeat(solved, state, last)
        if last and self.looks:
            solved = self._without_far(solved, state, last)
        if solved.seen:
            solved = self._along_curves(solved, state, last)
        solved = self._with_turning_normals(solved, state, last)
        leans, too_far = leaning(solved.assembly, solved.solution, self.fast) or (None, None)
        solved = replace(solved.too_long_for(too_far), leans=leans)
        if solved.seen:
            where = self.collider, self.frames, self.fast
            far = overreached(solved.assembly, solved.solution, solved.check.found, *where)
            solved = self._without_ghosts(solved.too_long_for(far), state, last)
        if solved.assembly.turning is None:
            return solved
        return replace(solved, assembly=at_end_pose(solved.assembly, solved.solution))

    def _repeat(self, solved, state, last):
        """The Solved step with more contacts or other loads, as long as it asks for them."""
        for repeat in range(REPEATS + 1):
            assembly, solution = solved.assembly, solved.solution
            bad = ~(solved.statistics.residual <= self.fast) & (last == HALVED)
            if some(bad) and 2 * np.count_nonzero(bad) >= len(bad):
                return replace(solved, check=unchecked(len(assembly.numbering.scene) - 1))
            self.collider.deform(state.time, assembly.problem.step, at_end=True)
            before = None if solved.done is None else (solved.check, solved.done)
            judged = AIM * self.fast, last, bad, solved.left_out, before
            check = check_end(assembly, solution, self.collider, self.frames, self.assembler, *judged)
            if last == LAST and check is not None and solved.check is not None:
                check = check.after(solved.check)
            solved = replace(solved, check=check)
            missed = None if check is None else of_others(check.missed, bad)
            again = None if last else hit_again(assembly, solution, missed, bad)
            if again is not None:  # their step is halved anyway
                solved = solved.too_long_for(again)
                missed = of_others(missed, whole_groups(assembly.island, solved.too_long))
            pressed = self.assembler.wrongly_pressed(assembly, solution, others=repeat >= CHANGES)
            struck = missed_hits(assembly, solution, self.fast)
            if repeat == REPEATS or (missed is None and pressed is None and struck is None):
                return solved
            anew = self.again(assembly, solution, missed, pressed, state, struck=struck)
            solved = self._anew(solved, anew, state, last)

    def _along_curves(self, solved, state, last):
        """The Solved step with bodies that are carried along a curve by mid-step; those that turn too far are told."""
        solved = self._over_crests(solved, state, last)
        assembly, solution, n = solved.assembly, solved.solution, solved.assembly.problem.bodies.dynamic_count
        found = bends(assembly, solution, solved.on_ground, self.fast, self.collider.model.body_radius)
        if found is None:
            return solved
        order, (smooth, too_long, bent) = assembly.numbering.scene, np.zeros((3, n), bool)

        def look(part, share):
            moved = np.zeros(len(order) - 1, bool)
            moved[order[part.body]] = True
            there = scene_poses(order[:-1], *pose_at(share, part, assembly.problem.bodies, solution))
            return self.collider.collide_again(*self.frames.to_body(*there), moved, None, moved)

        (curve, kink, fine), far = curves(found, look, order), found.turn() > MOST
        kink &= found.ball & ~found.moves & ~far & (found.other >= n)
        kink &= ~assembly.island_jointed[assembly.island[found.body]]
        bent[found.body[~far & ~found.moves]] = True
        short = found.moves & (found.turn() <= COARSE)
        cut = curve & far | found.moves | ~curve & ~kink & (assembly.problem.step > KINK)
        too_long[found.body[~short & cut]] = True
        curve = (curve & ~found.moves | kink) & ~far
        smooth[found.body[curve]] = True
        smooth[found.body[~curve]] = False  # what meets a kink, too, takes its share by law
        smooth &= ~too_long & ~whole_groups(assembly.island, ~(solved.statistics.residual <= self.fast))
        kinks = found.take(np.zeros(0, int))
        for _ in range(2):  # once more without those that miss
            if not some(smooth):
                break
            trial = self._by_middle(solved, smooth, state, last)
            missed = whole_groups(assembly.island, smooth & ~(trial.statistics.residual <= self.fast))
            if not some(missed):
                solved, kinks = trial, found.take(kink & smooth[found.body])
                solved.fine = smooth & (np.bincount(found.body[~fine], minlength=n) == 0)
                break
            too_long |= missed & smooth
            smooth &= ~missed
        bent, kinks = whole_groups(assembly.island, bent), kinks.largest() if len(kinks.body) else None
        bent |= False if solved.bent is None else solved.bent
        return replace(solved, bent=bent, kinks=kinks).too_long_for(too_long)

    def _over_crests(self, solved, state, last):
        """The Solved step with balls that go over a crest along its chord, where that can be solved."""
        where = self.collider, self.frames, solved.check.found
        assembly, ours, free = solved.assembly, solved.on_ground, self.assembler.free(state.time)
        found = crests(assembly, solved.solution, ours, *where, self.fast, free)
        if found is None:
            return solved
        if some(found.body):
            trial = self._by_middle(replace(solved, assembly=found.assembly), found.body, state, last)
            if not some(found.body & ~(trial.statistics.residual <= self.fast)):
                solved = replace(trial, bent=whole_groups(trial.assembly.island, found.body))
        return solved.too_long_for(found.too_long)

    def _by_middle(self, solved, smooth, state, last):
        """The Solved step with bodies ``smooth`` (n,) bool along curves, and what joints hold to them, by mid-step."""
        assembly = solved.assembly
        modes = np.where(smooth, 2, np.where(whole_groups(assembly.island, smooth), 1, 0))
        modes = modes if assembly.curved is None else np.maximum(modes, assembly.curved)
        again = self.again(assembly, solved.solution, None, None, state, modes)
        return self._repeat(self._anew(solved, again, state, last, smooth), state, last)

    def _with_turning_normals(self, solved, state, last):
        """The Solved step with contacts of what is round on both sides by mid-step, where that can be solved."""
        where = self.assembler, self.collider, self.frames
        for _ in range(TURNED):
            found = turning_normals(solved, *where, (self.slow, self.fast))
            if found is None or found.told_by(solved.assembly.turning):
                break
            again = self.again(solved.assembly, solved.solution, None, None, state, turning=found)
            changed = found.go_by_middle(again.problem)
            if not some(changed):
                break
            trial = self._repeat(self._anew(solved, again, state, last, changed), state, last)
            if some(changed & ~(trial.statistics.residual <= trial.tolerance)):
                break
            solved = trial
        return solved

    def _anew(self, solved, assembly, state, last, changed=None):
        """The Solved step of another ``assembly``, whose islands that are as before keep what they have.

        changed: (n,) bool, bodies whose islands are not.
        """
        statistics = solved.statistics
        options, tolerance = self.options(assembly, state, statistics.swept)
        done = unchanged(solved.assembly, assembly) & (statistics.residual <= tolerance)
        if changed is not None:
            done &= ~whole_groups(assembly.island, changed)
        options = replace(options, start=solved.solution.velocity[: len(tolerance)], done=done)
        solution, statistics, solves = self._solve(assembly, options, tolerance, last)
        keep(done, solved.assembly.problem, solved.solution, solved.statistics, solution, statistics)
        return replace(
            solved, assembly=assembly, solution=solution, statistics=statistics, solves=solved.solves + solves,
            tolerance=tolerance, done=done,
        )  # fmt: skip

    def _without_ghosts(self, first, state, last):
        """The Solved step without contacts that pushed bodies which do not meet, or ``first`` where all of them do.

        It tells what met and tumbled off.
        """
        best, solves, real, free, flown = first, first.solves, NO_PAIRS, first.check.free, {}
        halved = None if last or first.too_long is None else whole_groups(first.assembly.island, first.too_long)
        where = self.collider, self.frames, AIM * self.fast
        for _ in range(GHOSTS):
            pairs = without(union(best.left_out, suspects(best, first, real, flown, halved, *where)), real)
            if np.array_equal(pairs, best.left_out):
                break
            trial = self._without(first, pairs, state, last)
            meet = met_without(pairs, trial, free, flown, *where)
            if not some(meet):
                seen, trial = trial.solution, self._repeat(trial, state, last)
                if some(missed := ~(trial.statistics.residual <= np.maximum(first.statistics.residual, self.fast))):
                    best = best if last else best.too_long_for(missed)  # what pushed it is wrong all the same
                    break
                if trial.solution is not seen:
                    meet = met_without(pairs, trial, free, flown, *where)
            solves += trial.solves - first.solves
            real = union(real, pairs[meet])
            if not some(meet):
                best = trial
        return tumbled_off(replace(best, solves=solves), real, self.collider.model, AIM * self.fast, last)

    def _without(self, solved, pairs, state, last):
        """The Solved step without contacts between ``pairs`` (P,) of scene bodies."""
        return self._leaving_out(of_pairs(pairs, solved.assembly), replace(solved, left_out=pairs), state, last)

    def _without_far(self, solved, state, last):
        """The Solved step, what misses in it without contacts from afar, where all holds then: see far_contacts.py."""
        missed = ~(solved.statistics.residual <= solved.tolerance) & (solved.tolerance < self.fast)
        afar = contradicting(solved, missed, self.slow)
        if afar is None:
            return solved
        trial = self._repeat(self._leaving_out(afar, solved, state, last), state, HALVED)
        return better(trial, solved, missed)

    def _leaving_out(self, out, solved, state, last):
        """The Solved step without contacts ``out`` (C,) bool."""
        solved, changed = solved.leaving(out)
        again = self.again(solved.assembly, solved.solution, None, None, state)
        return self._anew(solved, again, state, last, changed)

    def _solve(self, assembly, options, tolerance, last):
        """(StepSolution, SolveStatistics, number of solves) of the problem of an Assembly.

        tolerance: (n,) [m] that the island of each body is held to.

        As the ``last`` resort islands that missed are tried without the impulses they start from: those of before a
        blow may lead far off.  Where contacts push bodies apart that joints hold in each other, impulses grow without
        end: islands that still miss are asked for as much of it as can leave, and at last for none, so that all else
        holds; the judge says that they missed.
        """
        problem = assembly.problem
        solution, statistics = self._solved(assembly, problem, options)
        statistics.held, solves, slow = np.zeros(len(tolerance), bool), 1, tolerance < self.fast
        if some(slow & (statistics.residual > options.tolerance)):
            solution, statistics, solves = self._held(assembly, options, slow, solution, statistics)
            statistics.held &= statistics.residual <= tolerance
        missed = ~(statistics.residual <= self.fast)
        if options.done is not None:
            missed &= ~options.done
        if not last or not some(missed):
            return solution, statistics, solves
        contacts, pushed = problem.contacts, np.zeros(len(problem.bodies.mass), bool)
        options = replace(options, start=None, sweeps=np.minimum(options.sweeps, 1))
        if contacts.impulse.any():
            cold = replace(contacts, impulse=np.zeros_like(contacts.impulse))
            without = replace(problem, contacts=cold)
            solution, statistics = self._instead(assembly, without, options, missed, solution, statistics)
            missed, solves = missed & ~(statistics.residual <= self.fast), solves + 1
        deep = np.flatnonzero(start_gaps(problem) < -self.fast)
        pushed[contacts.body_a[deep]] = pushed[contacts.body_b[deep]] = True
        missed &= whole_groups(assembly.island, pushed[: len(missed)])
        if not some(missed):
            return solution, statistics, solves
        jointed = assembly.island_jointed[assembly.island]
        for share in SHARES:
            tried = missed & jointed if share else missed  # what keyframes jam would be shot out of it
            trial = eased(problem, tried, share, self.fast) if some(tried) else None
            if trial is not None:
                solution, statistics = self._instead(assembly, trial, options, tried, solution, statistics)
                missed, solves = missed & ~(statistics.residual <= self.fast), solves + 1
            if not some(missed):
                break
        return solution, statistics, solves

    def _held(self, assembly, options, slow, before, earlier):
        """(StepSolution, SolveStatistics, number of solves): ``before``, ``earlier``, but of ``slow`` (n,) islands that
        did not come as near as they aim at with the overlap they start with held as it is, where that ends better.

        Friction locks a cup in another one: no force whatever pushes overlap out of such a wedge, and those that try to
        grow from step to step, until rounding moves both.  Only what a step of fast motion may leave is held.
        """
        problem, contacts = assembly.problem, assembly.problem.contacts
        stuck = slow & (earlier.residual > options.tolerance)
        if options.done is not None:
            stuck &= ~options.done
        if contacts.gap_noise is None or not len(contacts):
            return before, earlier, 1
        gap, deep = start_gaps(problem), np.zeros(len(problem.bodies.mass), bool)
        taken = moves(contacts, stuck, len(deep)) & (gap < -contacts.gap_noise) & (gap >= -self.fast)
        deep[contacts.body_a[taken]] = deep[contacts.body_b[taken]] = True
        stuck &= whole_groups(assembly.island, deep[: len(stuck)])
        if not some(stuck):
            return before, earlier, 1
        held = replace(contacts, gap_noise=np.where(taken, -gap, contacts.gap_noise))
        solution, statistics = self._instead(assembly, replace(problem, contacts=held), options, stuck, before, earlier)
        statistics.held = stuck & (statistics.residual < earlier.residual)
        return solution, statistics, 2

    def _solved(self, assembly, problem, options):
        """(StepSolution, SolveStatistics); islands with bodies that impulses turned over have missed by any length."""
        solution, statistics = self.solver.solve(problem, options)
        turned = turned_over(assembly, solution)
        if some(turned):
            statistics.residual[whole_groups(assembly.island, turned)] = np.inf
        return solution, statistics

    def _instead(self, assembly, problem, options, missed, before, earlier):
        """(StepSolution, SolveStatistics): ``before``, ``earlier``, but of ``problem`` for the bodies ``missed`` (n,)
        where that ends better.
        """
        solution, statistics = self._solved(assembly, problem, replace(options, done=~missed))
        worse = ~(missed & (statistics.residual < earlier.residual))
        statistics.held = np.zeros(len(missed), bool)
        keep(worse, problem, before, earlier, solution, statistics)
        return solution, statistics

    def again(self, assembly, solution, missed, pressed, state, curved=None, struck=None, turning=None):
        """The step put together anew, with more contacts, other loads, or bodies ``curved`` or contacts ``struck`` as
        in ``Assembler.build``; impulses found so far to start from.
        """
        contacts, problem, joints = assembly.contacts, assembly.problem, self.joints
        count = len(contacts)
        impulse = whole_impulses(problem, world_impulses(problem.contacts.normal, solution.contact_impulse))
        carried = replace(problem.contacts, impulse=impulse)
        earlier = carried.take(np.arange(count, len(carried))) if len(carried) > count else None
        if earlier is not None and earlier.glides is not None:
            earlier.normal = normals(earlier, problem.bodies.orientation)
        pressed = assembly.pressed if pressed is None else pressed
        struck = assembly.struck if struck is None else struck
        if missed is not None:
            pressed = np.append(pressed, np.ones(len(missed), bool))
            struck = None if struck is None else np.append(struck, np.zeros(len(missed), bool))
            earlier = missed if earlier is None else joined(earlier, missed)
        force = joints.force.copy()
        force[assembly.row_number] = row_forces(assembly, solution)
        curved = assembly.curved if curved is None else curved
        turning = assembly.turning if turning is None else turning
        known = earlier, force, pressed, curved, struck, turning
        return self.assembler.build(state, problem.step, contacts, carried.impulse[:count], *known)

    def options(self, assembly, state, swept=None):
        """SolveOptions, and the tolerance (n,) each body's island is held to.

        swept: (n,) sweeps of Gauss-Seidel in the last solve; default: in the last step.  Where it took some, Newton had
        trouble, and will again: they come first.
        """
        bodies = assembly.problem.bodies
        carried = carried_at(assembly, bodies.velocity_at_start(), self.fast) if carry(assembly.problem) else None
        tolerance, aim, sweeps = self.effort.of(bodies, assembly.island, assembly.island_jointed, carried)
        if (exact := adds_up(assembly.problem)) is not None:
            aim[whole_groups(assembly.island, exact)] *= self.solver.spinning
        if some(assembly.island_jointed):
            hangs, slow = hanging(assembly), tolerance < self.fast
            aim[hangs & slow] *= self.solver.hanging
            if assembly.problem.step < LONGEST_STEP:  # lengths left are speeds, the larger the shorter
                rigid = hangs & ~slow & ~assembly.stores[assembly.island]
                aim[rigid] *= assembly.problem.step / LONGEST_STEP
            if some(assembly.island_looped):
                aim[hangs & ~slow & assembly.island_looped[assembly.island]] *= self.solver.branching
        eps = start_eps(state, assembly, (sweeps, carried), self.solver.eps_at_rest, self.fast)
        if swept is None:
            swept = state.swept[assembly.numbering.scene[: len(aim)]]
        return SolveOptions(aim, eps, np.where(swept > 0, 2 * sweeps, sweeps)), tolerance

# SPDX-License-Identifier: GPL-3.0-or-later
"""What joints alone hold keeps its energy, however far it turns in a step.

Mid-step keeps the energy of the way, and the velocity phase takes from it what does not fit the joints at the end
pose: little where bodies turn little, but step after step.  Two links of 0.2 m let go from horizontal lost a third of
their energy in 5 s at 24 frames a second.  Joints that only hold do no such thing:

    E+ = E- + sum m a.(x+ - x-) + W        E: kinetic energy, a: acceleration of free motion, W: see row_work.py

What is off is owed, and paid at once where the group moves, by scaling what of its motion momenta leave free
(kept_momentum.py): joints hold a scaled velocity as well as the one they had.  Where little of its energy is such
motion, or rows do work, it waits for a thousandth: near rest what comes late changes when a group turns back, and work
is told by a few places of the way.  Elsewhere a thousandth that waited came back in one step, as a gain just before a
blow.  A group is what joints hold and contacts press together: what is only near something keeps its energy as well.
No force does that: those that are recorded are of the solves.  Where a limit is reached a group may end with less, and
never with more.  So it is where such groups hit each other and all of the speed is given back, without friction: the
law of impact is asked for at the speeds of free motion, and weight and joints act until the hit and after it; a cradle
gained or lost up to 0.4 % a blow.  Not where other contacts press, what a group hangs on moves, or a drive or stiff
damper leads it: those take or give energy themselves; see midway.py.
"""

import numpy as np

from .assembled import pressed_islands
from .components import anchored, connected_components, joint_groups
from .copies import replace
from .energies import Shares, balance_of_step
from .energy import kinetic_energies
from .fitting import misfits, work_in_noise
from .flags import places, some
from .joint_damping import group_motion
from .kept_momentum import by_momenta
from .reference.rows import coordinate_rates, coordinates
from .row_work import leading, work_at_end, work_of_strain, work_of_way
from .topology import groups_with, whole_groups
from .vectors import moved

LEAST = 1e-9  # of the most energy that a group has had of late, which is rounding
HIGH = 0.25  # of that most, below which what moves beside its momenta waits, and only a
SLIGHT = 0.05  # share of what there is goes or comes in a step: near rest it would be half of the speed
WAITS = 1e-3  # of that most, which may be owed there, and anywhere by what rows do work in
STRAYS = 1e-2  # of that most, by which one step may be off; beyond, it is too long
FADES = 2.0  # [s] in which that most is forgotten
MOST = 2.0  # times the speed it had, within which a group's motion is scaled: what is farther off has another cause


def keep_energy(velocity, assembly, solution, judged, late, known, decay, near):
    """(n, 6) velocity at the step's end with the energy of groups that joints alone hold, (n, 2) as State.owed, (n,)
    bool, bodies of those for which the step is too long, None: of none; and (n,) what ``_lacks`` tells of them.

    Args:
        velocity: (n, 6) that the joints hold [m/s, rad/s].
        assembly, solution: Assembly of the step, and its StepSolution.
        judged: the JudgedStep.
        late: StepProblem and StepSolution of the velocity phase.
        known: (n,) bool, bodies within tolerance; (n,) bool, State.ruled of each, and (n, 2) State.owed; and at most
            how fast joints that hold may part at the start where it was not ruled [m/s, rad/s]: faster is an impact,
            which takes its energy.
        decay: what joint damping leaves of the motion of a group, as in ``damp_joints``.
        near: [m or rad] to a limit, which nearer holds as a joint does.
    """
    sound, ruled, before, slow = known
    assembly, driven = _pressed_together(assembly, solution, late, judged.driven)
    island, bodies, n = assembly.island, assembly.problem.bodies, assembly.problem.bodies.dynamic_count
    ours = assembly.island_jointed & ~driven
    if not some(ours):
        return velocity, np.zeros((n, 2)), None, None
    keeps, takes = _conservative(assembly, solution, near, ours)
    keeps[island[~sound]] = False
    noise = np.zeros(len(keeps))
    if some(unknown := keeps & groups_with(island, ~ruled, len(keeps))):
        keeps &= ~misfits(assembly, unknown, slow)
        noise = np.where(unknown, work_in_noise(assembly, judged), 0.0)
    if not some(keeps | takes):
        return velocity, np.zeros((n, 2)), None, None
    work = _work(assembly, (solution, judged), late, (keeps, takes), near)
    pose, count = (solution.position, solution.orientation), len(ours)
    velocity, reference, apart = by_momenta(velocity, assembly, solution, keeps | takes, keeps & (decay == 1.0))
    outer = np.zeros(count)
    if decay < 1.0:
        motion = group_motion(velocity, bodies, assembly.joint_links, pose)[0]
        outer = np.bincount(island, kinetic_energies(bodies, pose[1][:n], motion), count)
    groups = {
        "island": island, "known": before, "keeps": keeps, "takes": takes, "stores": assembly.stores,
        "work": work[0], "late": work[1], "outer": outer, "apart": apart, "noise": noise,
        "still": 0.5 * slow**2 * np.bincount(island, bodies.mass[:n], count),
    }  # fmt: skip
    shares = Shares(decay**2, np.exp(-assembly.problem.step / FADES), LEAST, HIGH, SLIGHT, STRAYS, WAITS)
    start = assembly.problem, assembly.end_velocity
    due, has, ours, strays, waits = balance_of_step(*start, pose, velocity, groups, shares)
    # A drive that stops takes what energy it likes.
    if some(lack := strays & (has < due)) and some(led := misfits(assembly, lack, slow, firm=False)):
        keeps &= ~led
        due, has, ours, strays, waits = balance_of_step(*start, pose, velocity, groups, shares)
    strays = _strays(assembly, solution, strays & ~assembly.stores)
    if not some(ours):
        return velocity, waits, strays, _lacks(assembly, waits, strays, np.zeros(count))
    factor = np.sqrt(np.maximum(due - apart, 0.0) / np.maximum(has - apart, 1e-300))
    lost = np.where(keeps & ours & (factor >= MOST), due - has, 0.0)
    ours &= factor < MOST
    if some(far := ours & (factor <= 1.0 / MOST)):
        far &= assembly.stores  # a spring has it: what is too much is owed
        own = (far & keeps)[island]
        waits[own, 0] = ((due - has) / np.bincount(island, minlength=count))[island[own]]
        ours &= ~far
    kept = np.where(ours[island][:, None], reference + factor[island][:, None] * (velocity - reference), velocity)
    return kept, waits, strays, _lacks(assembly, waits, strays, lost)


def _pressed_together(assembly, solution, late, driven):
    """The Assembly with islands of what joints hold and what contacts press together, and which of them are ``driven``
    (islands,) bool: what is near something and does not touch it keeps its energy as well.
    """
    phases = ((assembly.problem.contacts, solution), (late[0].contacts, late[1]))
    pushes = [(contacts, moved(result.contact_impulse)) for contacts, result in phases]
    idle = places(~pushes[0][1])
    if not len(idle) or not some(assembly.island_jointed):
        return assembly, driven
    rows, n, old = assembly.problem.joints, assembly.problem.bodies.dynamic_count, assembly.island
    ends = [(contacts.body_a[push], contacts.body_b[push]) for contacts, push in pushes]
    a, b = (np.concatenate(side) for side in zip((rows.body_a, rows.body_b), *ends, strict=True))
    both = np.maximum(a, b) < n
    island = connected_components(n, a[both], b[both])
    count = int(island.max()) + 1
    members = np.minimum(rows.body_a, rows.body_b)
    looped, driven = (groups_with(island, flags[old], count) for flags in (assembly.island_looped, driven))
    jointed = groups_with(island, members, count)
    return replace(assembly, island=island, island_jointed=jointed, island_looped=looped & jointed), driven


def _strays(assembly, solution, strays):
    """(n,) bool: bodies of the islands ``strays`` (islands,) bool that joints alone hold; None: of none.

    Light links whip round as what hangs on them comes to the end of its reach: within a step that is an impact, and
    takes energy that no speed can tell where it goes.
    """
    if not some(strays):
        return None
    strays = strays & ~pressed_islands(assembly, solution)
    return strays[assembly.island] if some(strays) else None


def _lacks(assembly, waits, strays, lost):
    """(n,) [m/s] by how much what ``strays`` (n,) bool is too slow or too fast as a whole, where more of its energy
    than a step may be off by is not there; None: nowhere.

    waits: (n, 2) State.owed; lost: (islands,) [J] that nothing gives back.
    """
    if strays is None:
        return None
    island, mass = assembly.island, assembly.problem.bodies.mass[: len(strays)]
    owed, peak, whole = (np.bincount(island, values, len(lost)) for values in (*waits.T, mass))
    off = np.abs(owed + lost)
    speed = np.sqrt(2.0 * np.where(off > STRAYS * peak, off, 0.0) / whole)[island]
    return np.where(strays, speed, 0.0) if some(speed) else None


def _locks(assembly):
    """(R,) bool: rows that hold their coordinates, limits among them, and what gives way too little to vibrate."""
    return (assembly.problem.joints.beta == 1.0) & (assembly.row_rate == 0.0)


def _holds(assembly, solution, locks, near):
    """(R,) bool: the rows ``locks`` (R,) that hold their coordinates where they are, limits that had been reached."""
    problem, rows = assembly.problem, assembly.problem.joints
    both = np.isinf(rows.lower) & np.isinf(rows.upper)
    limits = places(locks & ~both & (solution.joint_impulse != 0.0))
    holds = locks & both
    if len(limits):
        ours, start = rows.take(limits), problem.bodies
        off = coordinates(ours, start.position, start.orientation) - ours.target
        gives = (ours.compliance > 0.0) & (off > 0.0)  # what ropes give way by is no slack
        speed = coordinate_rates(ours, start.velocity, start.position, start.orientation)
        off[gives] = speed[gives] = 0.0
        holds[limits] = np.maximum(np.abs(off), problem.step * np.abs(speed)) <= near
    return holds


def _conservative(assembly, solution, near, ours):
    """(islands,) bool twice: those of ``ours`` (islands,) bool whose rows and contacts neither take nor give energy,
    and those that at most take it.
    """
    problem, n = assembly.problem, assembly.problem.bodies.dynamic_count
    keeps = ours & ~groups_with(assembly.island, problem.bodies.midpoint[:n] < 1.0, len(assembly.island_jointed))
    if len(problem.contacts) and some(touched := moved(solution.contact_impulse)):
        contacts = problem.contacts
        keeps[assembly.island[np.minimum(contacts.body_a, contacts.body_b)[touched]]] = False
        keeps |= ours & _elastic(assembly, touched)
    takes = keeps.copy()
    if assembly.rigid is None and some(keeps):  # else all rows hold, or nobody asks
        _of_rows(assembly, solution, near, (keeps, takes))
    return keeps, takes


def _elastic(assembly, touched):
    """(islands,) bool: those in which something rebounds, and nothing that touches takes energy: no friction, and all
    that came with.  Of bodies that joints hold to what does not move freely alone: of others momenta would change.

    touched: (C,) bool, contacts that carry load.
    """
    contacts, island, n = assembly.problem.contacts, assembly.island, assembly.problem.bodies.dynamic_count
    out = np.zeros(len(assembly.island_jointed), bool)
    if contacts.rebound_speed is None or not some(hits := touched & (contacts.rebound_speed != 0.0)):
        return out
    own = island[np.minimum(contacts.body_a, contacts.body_b)]
    out[own[hits]] = True
    takes = (contacts.restitution < 1.0) | (contacts.friction > 0.0)
    if contacts.surface_drift is not None:
        takes |= contacts.surface_drift != 0.0
    out[own[touched & takes]] = False
    if some(out):
        label = joint_groups(assembly.joint_links, n)[:n]
        out[island[~whole_groups(label, anchored(assembly.joint_links, n))]] = False
    return out


def _of_rows(assembly, solution, near, islands):
    """Take from ``islands``, as ``_conservative`` gives them, those that a row gives or takes energy nobody counts."""
    rows, carries, locks = assembly.problem.joints, solution.joint_impulse != 0.0, _locks(assembly)
    counts = _holds(assembly, solution, locks, near) | assembly.works
    for out, acts in zip(islands, (carries & ~counts, carries & ~counts & ~locks), strict=True):
        if some(acts):
            out[assembly.island[np.minimum(rows.body_a, rows.body_b)[acts]]] = False


def _work(assembly, early, late, islands, near):
    """(2, islands) work of joint rows in both phases [J], of the islands named.

    early: StepSolution and JudgedStep; late, near: as in ``keep_energy``; islands: those that keep and those that at
    most take energy, (islands,) bool twice: those that a drive leads are left out, in place.
    """
    island, out = assembly.island, np.zeros((2, len(islands[0])))
    if assembly.rigid is not None:
        return out
    rows = assembly.problem.joints
    of_row, named = island[np.minimum(rows.body_a, rows.body_b)], islands[0] | islands[1]
    acts = early[0].joint_impulse != 0.0
    acts[assembly.springs] = True  # a rope may have come slack in the step
    which = places(assembly.works & acts & named[of_row])
    if len(which):
        out[0] = np.bincount(of_row[which], work_of_way(assembly, *early, which), len(named))
    firm = assembly.firm[named[of_row[assembly.firm]]]
    if len(firm):
        out[0] += np.bincount(of_row[firm], work_of_strain(assembly, early[1], firm, near), len(named))
    rows = late[0].joints
    of_late = island[np.minimum(rows.body_a, rows.body_b)]
    which, work = work_at_end(*late, named[of_late])
    if len(which):
        out[1] = np.bincount(of_late[which], work, len(named))
    for numbers, of in zip(leading(assembly, early[0], near, late), (of_row, of_late), strict=True):
        for each in islands:
            each[of[numbers]] = False
    return out

# SPDX-License-Identifier: GPL-3.0-or-later
"""What joints ask of their rows in a step: ``reference/row_laws.py``, row by row, in a kernel on the host."""

from types import SimpleNamespace

import numpy as np
import warp as wp

from ..host import HostKernel, HostTable
from ..problem import JointRows
from ..reference.row_laws import ASKED, RESOLVED, Law
from .braking import slower
from .limits import passed, stand
from .springs import EndLaw, module, spring_law, spring_weights, turns_far

OFFSET, BETA, TARGET, FLOW, COMPLIANCE, LOWER, UPPER, IMPULSE, CENTRE, RATE, CONSTANT, STIFFNESS, DAMPING, DECAY = (
    wp.constant(slot) for slot in range(len(ASKED))
)
TURNS, GIVES, PULLS, BRAKES, FROM_BELOW, FROM_ABOVE, BOUNDED, FLOWS, FOLLOWS, WEIGHS = (
    wp.constant(int(law)) for law in Law
)
VIBRATES = wp.constant(wp.float64(RESOLVED))
TWO_PI = wp.constant(wp.float64(2.0 * np.pi))
INFINITE, FORCED = wp.constant(wp.float64(np.inf)), wp.constant(wp.float64(np.nan))
kernel = wp.kernel(module=module, enable_backward=False)


@wp.struct
class LawTable:
    """Rows of joints, their laws, and where a step starts."""

    count: wp.array(dtype=wp.int32)
    step: wp.array(dtype=wp.float64)  # [s]
    midpoint: wp.array(dtype=wp.float64)  # (joints,) 0 to 1: position impulses count (1 + midpoint) times
    joint: wp.array(dtype=wp.int32)
    law: wp.array(dtype=wp.int32)  # see Law
    offset: wp.array(dtype=wp.float64)  # [m]
    beta: wp.array(dtype=wp.float64)
    centre: wp.array(dtype=wp.float64)  # [rad] to which limits fade
    lower: wp.array(dtype=wp.float64)  # bounds of rows that are not BOUNDED
    upper: wp.array(dtype=wp.float64)
    softness: wp.array(dtype=wp.float64)  # [m/N, rad/(N m)] of what GIVES; [1/kg, 1/(kg m^2)] of what WEIGHS
    stiffness: wp.array(dtype=wp.float64)  # [N/m, N m] of what PULLS, and of what GIVES and is damped
    damping: wp.array(dtype=wp.float64)  # [N s/m, N m s]
    most: wp.array(dtype=wp.float64)  # [N, N m] force of what is BOUNDED
    target: wp.array(dtype=wp.float64)  # [m, rad] where the step ends
    rate: wp.array(dtype=wp.float64)  # [m/s, rad/s] of the target, or the velocity asked for
    mean: wp.array(dtype=wp.float64)  # of the velocity asked for over the step
    place: wp.array(dtype=wp.float64)  # coordinates where the step starts, twists within a turn where they do not fade
    speed: wp.array(dtype=wp.float64)
    mobility: wp.array(dtype=wp.float64)  # J M^-1 J^T: at least 1 / m of what the row moves
    angle: wp.array(dtype=wp.float64)  # [rad] near which turns are counted
    fades: wp.array(dtype=wp.int32)  # 1: it does where the step starts (reference/rows.py)
    force: wp.array(dtype=wp.float64)  # [N, N m] to start from
    asked: wp.array2d(dtype=wp.float64)  # out, (len(ASKED), rows)
    beyond: wp.array(dtype=wp.int32)  # out, (joints,) 1: beyond a limit


@wp.func(module=module)
def counted(table: LawTable, r: int):
    """Coordinate of row r where the step starts, with its turns."""
    place = table.place[r]
    if (table.law[r] & TURNS) == 0 or table.fades[r] != 0:
        return place
    return place + TWO_PI * wp.rint((table.angle[r] - place) / TWO_PI)


@wp.func(module=module)
def pull(table: LawTable, r: int, off: wp.float64, most: wp.float64, h: wp.float64, share: wp.float64):
    """Springs and dampers; off: coordinate off its target where the step starts, most: the largest impulse."""
    zero = wp.float64(0.0)
    one = wp.float64(1.0)
    stiffness = table.stiffness[r]
    damping = table.damping[r]
    speed = table.speed[r]
    mobility = table.mobility[r]
    wanted = table.rate[r]
    drift = zero
    along = table.mean[r]
    if (table.law[r] & FOLLOWS) != 0:
        drift = wanted
        along = wanted
    found = spring_weights(stiffness, damping, mobility, h, share)
    part = found.way_damper
    beta, compliance = spring_law(stiffness, part * damping, h, share, found.way_spring)
    push = along * damping - drift * h * stiffness * (one - found.way_spring) - (one - part) * damping * speed
    flow = push * h * compliance / share
    if (table.law[r] & TURNS) != 0 and table.fades[r] == 0:
        if turns_far(beta, flow, compliance, off, speed, mobility, most, h):
            flow -= beta * off / h
            beta = zero
    table.asked[BETA, r] = beta
    table.asked[FLOW, r] = flow
    table.asked[COMPLIANCE, r] = compliance
    table.asked[RATE, r] = FORCED
    if share > one and damping > zero:
        late = found.end_damper
        rest = stiffness * (one - found.end_spring) * (off + h * drift)
        table.asked[CONSTANT, r] = h * (rest + damping * ((one - late) * (speed - wanted) - late * wanted))
        table.asked[STIFFNESS, r] = h * stiffness * found.end_spring
        table.asked[DAMPING, r] = h * damping * late
        table.asked[DECAY, r] = h * damping * mobility


@wp.func(module=module)
def give(table: LawTable, r: int, off: wp.float64, h: wp.float64, share: wp.float64):
    """What gives way; off: as in ``pull``."""
    soft = table.softness[r]
    vibrates = h * h * table.mobility[r] <= VIBRATES * soft
    if vibrates and table.damping[r] > wp.float64(0.0):
        pull(table, r, off, INFINITE, h, share)
    elif vibrates:
        one = wp.float64(1.0)
        beta, compliance = spring_law(one / soft, wp.float64(0.0), h, share, one / share)
        table.asked[BETA, r] = beta
        table.asked[COMPLIANCE, r] = compliance
        table.asked[RATE, r] = FORCED
    else:
        table.asked[COMPLIANCE, r] = share * soft / (h * h)
        table.asked[RATE, r] = wp.float64(0.0)


@kernel
def ask(table: LawTable):
    """What the step asks of each row."""
    r = wp.tid()
    if r >= table.count[0]:
        return
    zero = wp.float64(0.0)
    law = table.law[r]
    h = table.step[0]
    share = wp.float64(1.0) + table.midpoint[table.joint[r]]
    place = counted(table, r)
    target = table.target[r]
    rate = table.rate[r]
    lower = table.lower[r]
    upper = table.upper[r]
    most = INFINITE
    if (law & BOUNDED) != 0:
        most = table.most[r] * h / share
        lower = -most
        upper = most
    table.asked[BETA, r] = table.beta[r]
    table.asked[COMPLIANCE, r] = zero
    table.asked[FLOW, r] = wp.where((law & FLOWS) != 0, table.mean[r], zero)
    table.asked[RATE, r] = rate
    table.asked[CONSTANT, r] = zero
    table.asked[STIFFNESS, r] = zero
    table.asked[DAMPING, r] = zero
    table.asked[DECAY, r] = zero
    if (law & GIVES) != 0:
        give(table, r, place - target, h, share)
    if (law & PULLS) != 0:
        pull(table, r, place - target, most, h, share)
    if (law & WEIGHS) != 0:
        table.asked[FLOW, r] = table.speed[r]
        table.asked[COMPLIANCE, r] = table.softness[r]
        table.asked[RATE, r] = FORCED
    if (law & BRAKES) != 0:
        brake = table.most[r] * table.mobility[r]
        way, speed = slower(target, rate, place, brake, h)
        if speed > zero:
            target -= wp.copysign(wp.float64(0.5) * speed * speed / brake, way)
        table.asked[RATE, r] = rate + wp.copysign(speed, way)
    centre = target
    if table.beta[r] == zero:
        centre = FORCED
    if (law & (FROM_BELOW | FROM_ABOVE)) != 0:
        centre = table.centre[r]
        target = stand(target, place, (law & FROM_BELOW) != 0, h)
    angle = zero
    if (law & TURNS) != 0:
        angle = table.angle[r]
    table.asked[OFFSET, r] = table.offset[r] + angle
    table.asked[TARGET, r] = target - angle
    table.asked[CENTRE, r] = centre - angle
    table.asked[LOWER, r] = lower
    table.asked[UPPER, r] = upper
    table.asked[IMPULSE, r] = wp.min(wp.max(table.force[r] * h / share, lower), upper)


@kernel
def look_beyond(table: LawTable):
    """Which joints lie beyond a limit, in ``beyond``, which is zero before."""
    r = wp.tid()
    if r >= table.count[0]:
        return
    law = table.law[r]
    if (law & (FROM_BELOW | FROM_ABOVE)) == 0:
        return
    if passed(table.target[r], counted(table, r), (law & FROM_BELOW) != 0, table.step[0]):
        table.beyond[table.joint[r]] = 1


class Asker:
    """Rows of the joints of one scene, as their table has them."""

    def __init__(self, rows, law, joints):
        """rows: JointRows, whose bounds, targets, beta and offset are those of the law; law: (R,) Law; joints: number.

        ``columns``: the LawTable as NumPy, (R,) each; whoever knows where a step starts writes it there.
        """
        count = len(rows)
        lengths = {"count": 1, "step": 1, "midpoint": joints, "beyond": joints}
        table = HostTable(LawTable, **lengths, asked=(len(ASKED), count))
        views = vars(table.reserve(count))
        self._asked, self._damped = views.pop("asked"), bool((law & Law.PULLS).any())
        v = self.columns = SimpleNamespace(**{name: view[: lengths.get(name, count)] for name, view in views.items()})
        v.count[0], v.law[:] = count, law
        for name in ("joint", "offset", "centre", "beta", "target", "lower", "upper"):
            getattr(v, name)[:] = getattr(rows, name)
        self._ask, self._look = HostKernel(ask, table), HostKernel(look_beyond, table)

    def ask(self, base, number, step, midpoint, force):
        """(JointRows, rate (N,), EndLaw or None where nothing is damped) of a step of so many seconds.

        base: JointRows of the rows ``number`` (N,), of which all that no step changes is taken; midpoint: (joints,);
        force: (R,) to start from [N, N m].
        """
        v = self.columns
        v.step[0], v.midpoint[:], v.force[:] = step, midpoint, force
        self._ask.run()
        found = self._asked.take(number, 1)
        rows = JointRows(**vars(base) | dict(zip(ASKED[:RATE], found, strict=False)))
        return rows, found[RATE], EndLaw(*found[RATE + 1 :]) if self._damped or v.damping.any() else None

    def passed(self, step):
        """(joints,) bool: those with a row beyond a limit, from where a step of so many seconds brings them back."""
        self.columns.step[0], self.columns.beyond[:] = step, 0
        self._look.run()
        return self.columns.beyond > 0

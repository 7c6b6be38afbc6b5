# SPDX-License-Identifier: GPL-3.0-or-later
"""Where convex shapes touch first in the coming step: with the places and the normal of that moment.

Detection tells which places are nearest at the step's start.  At 24 frames a second others hit: a box at 6 m/s that
turns hits with another edge, a tumbling cylinder with another place of its rim, and left some m/s off.  Balls and
capsules that meet each other, boxes, hulls or meshes are in ``round_impacts.py``.
"""

from dataclasses import dataclass

import numpy as np

from .convex_touch import FlightArrays, follow_pairs
from .copies import replace
from .cores import core_table
from .flags import numbers, places, some
from .host import HostKernel, HostTable
from .manifold import along_runs
from .ordered import run_lengths, segments
from .shapes import Box, ConvexHull
from .touch_features import meeting_places
from .touch_time import Side
from .touching import Touching, halves, twice
from .vectors import inner, length

AS_IT_IS = 1e-3  # of the smaller half extent: what is nearer at the start of a step meets as it is
STRAIGHT = 5e-3  # of it: way past each other until they meet that does not matter
TOLD = 1e-3  # of it: so near a contact is to the place where shapes touch, at that time
LIKE = 1.0 - 1e-4  # cosine of its normal and theirs: 0.8 degrees
COLUMNS = {name: name for name in ("shape", "center", "heart", "pull", "radius")}  # of FlightArrays: those of Side
COLUMNS |= {"q": "turn", "v": "linear", "w": "angular"}


class ConvexImpacts:
    """First touches of the shapes of one CollisionModel."""

    def __init__(self, model):
        self._model = model
        self.cores = core_table(model.shapes, model.shape_position, model.shape_rotation)
        self._convex = np.diff(self.cores.views.first[: len(model.shapes) + 1]) > 0
        self._plane = self.cores.views.plane[: len(model.shapes)] == 1
        self._edges = np.array([isinstance(shape, (Box, ConvexHull)) for shape in model.shapes], bool)
        self._flights = HostTable(FlightArrays, count=1, step=1)
        self._kernel = HostKernel(follow_pairs, self._flights, self.cores)

    def change(self, found, flight, jointed=None):
        """The ContactSet ``found``, what touches first in the step as it does then; flight: FreeFlight.

        What would have stopped the two before, or along another normal, is left out; what comes past each other has the
        places and the normal of the step's end, where joints hold one of them.  ``jointed``: straight_flight.Held; of
        what they turn aside contacts stay as they are, for it does not fly freely.
        """
        runs = self._runs(found, jointed)
        if runs is None:
            return found
        sides = Side.of(self._model, np.concatenate([runs.first, runs.second]), flight, flight.pull)
        sides.reach[~np.isfinite(sides.reach)] = 0.0
        near = places(self._may_meet(found, runs, sides, flight.step))
        if not len(near):
            return found
        runs, sides = runs.take(near), sides.take(twice(near, len(runs.start)))
        sides.pull = flight.unheld[self._model.shape_body[sides.shape]]
        touch, apart, how = self._fly(runs, sides, flight.step)
        hit = how == 1
        told = places(hit if jointed is None else hit | self._passed_by(found, runs, touch, how, flight, jointed.body))
        if not len(told):
            return found
        return self._tell(found, runs.take(told), touch.take(told), apart[told], hit[told])

    def _passed_by(self, found, runs, touch, how, flight, jointed):
        """(N,) bool: what free flight leads past each other, though contacts of the step's start would stop it.

        Not what others stop: that goes elsewhere; and of those that joints hold, ``jointed`` (B,) bool, alone: of
        single bodies ghosts.py tells, but for the last millimetre.  how: (N,) of FlightArrays.touches.
        """
        body = self._model.shape_body
        first, second = body[runs.first], body[runs.second]
        out, past = np.zeros(len(how), bool), places((how == 2) & (jointed[first] | jointed[second]))
        if not len(past):
            return out
        near = runs.take(past)
        run, offset = along_runs(near.count)
        contact = near.start[run] + offset
        gap = touch.take(past).of_contacts(found.take(contact), run, near.sign[run])[0]
        past = past[np.logical_or.reduceat(gap < -TOLD * near.size[run], np.cumsum(near.count) - near.count)]
        if not len(past):
            return out
        run, offset = along_runs(runs.count[past])
        hits = places(how == 1)
        stopped = flight.stopped(found, runs.start[past][run] + offset, (first[hits], second[hits]), self._model)
        out[past] = ~(stopped[first[past]] | stopped[second[past]])
        return out

    def _runs(self, found, jointed):
        """Runs of contacts of two convex shapes that are apart, of bodies that fly freely or stand, or None."""
        model = self._model
        if not len(found):
            return None
        start, pair = segments(found.pair)
        b, a = np.divmod(pair, len(model.shapes))
        gap = np.minimum.reduceat(found.gap, start)
        size = np.minimum(model.shape_size.take(a), model.shape_size.take(b))
        good = self._convex.take(a) & self._convex.take(b) & (gap > AS_IT_IS * size)
        if jointed is not None:
            body, aside = model.shape_body, jointed.aside
            good &= ~(aside.take(body.take(a)) | aside.take(body.take(b)))
        if not some(good):
            return None
        count = run_lengths(start, len(found))
        good = places(good & ~self._as_round(a, b, count))
        start, count, a, b, gap, size = (each.take(good) for each in (start, count, a, b, gap, size))
        above = self._plane.take(a)
        first, second = np.where(above, b, a), np.where(above, a, b)
        sign = np.where(model.shape_body.take(first) == found.body_a.take(start), 1.0, -1.0)
        return Runs(start, count, first, second, sign, gap, size) if len(start) else None

    def _as_round(self, a, b, count):
        """(N,) bool: pairs that ``round_impacts`` is for, or that have one normal for good, as a ball and a plane."""
        is_round = self._model.shape_rounding > 0.0
        if not some(is_round):
            return is_round.take(a)
        known = is_round | self._edges
        one = (is_round[a] & known[b]) | (is_round[b] & known[a])
        return ((count == 1) & one) | (self._plane[a] & is_round[b]) | (self._plane[b] & is_round[a])

    def _may_meet(self, found, runs, sides, step):
        """(N,) bool: what may touch in the step, and not where it is nearest at its start."""
        linear, pull, rim = halves(sides.linear), halves(sides.pull), halves(sides.rim())
        drift = linear[0] - linear[1] + 0.5 * step * (pull[0] - pull[1])
        normal = runs.sign[:, None] * found.normal[runs.start]
        closing = inner(drift, normal)
        rims = rim[0] + rim[1]
        way = step * (length(drift) + rims)
        aside = np.sqrt(np.maximum(inner(drift, drift) - closing * closing, 0.0)) + rims
        time = np.minimum(step, runs.gap / np.maximum(rims - closing, 1e-300))  # that it takes at least
        turning_plane = self._plane[runs.second] & halves(sides.angular)[1].any(axis=1)
        return (way > runs.gap) & (time * aside > STRAIGHT * runs.size) & ~turning_plane

    def _fly(self, runs, sides, step):
        """Run the kernel: the Touching, how far apart the shapes are then (N,) [m], (N,) FlightArrays.touches."""
        count = len(runs.start)
        v = self._flights.reserve(2 * count)
        v.count[0], v.step[0] = count, step
        order = np.arange(2 * count).reshape(2, -1).T.ravel()  # the kernel takes both sides of a pair, then the next
        for name, column in COLUMNS.items():
            getattr(v, name)[: 2 * count] = getattr(sides, column).take(order, 0)
        v.rim[: 2 * count] = sides.rim().take(order)
        v.size[: 2 * count] = runs.size.repeat(2)
        self._kernel.run()
        one, other = slice(0, 2 * count, 2), slice(1, 2 * count, 2)
        points = np.concatenate([v.point[one], v.point[other]])
        touching = Touching(self._model, sides, v.time[one].copy(), points, v.normal[one].copy())
        return touching, v.apart[one].copy(), v.touches[one].copy()

    def _tell(self, found, hits, touch, apart, first):
        """``found`` with the N Touches of Runs ``hits``, of those of which it has none; apart: (N,) [m] then; first:
        (N,) bool, those that do touch.
        """
        run, offset = along_runs(hits.count)
        contact, begin = hits.start[run] + offset, np.cumsum(hits.count) - hits.count
        gap, aside, normal = touch.of_contacts(found.take(contact), run, hits.sign[run])
        on_face = touch.faces[0] >= 0
        close, like = TOLD * hits.size[run], inner(normal, touch.normal[run]) > LIKE
        told = like & (np.abs(gap - apart[run]) < close) & (on_face[run] | (aside < close))
        told = np.logical_or.reduceat(told, begin)
        keep = np.ones(len(found), bool)
        keep[contact] = (gap > -close) | ~told[run]
        if not told.all():
            new = places(~told)
            room = hits.count[new]
            of, touch = meeting_places(self.cores.views, touch.take(new), hits.size[new], room)
            columns = touch.columns(hits.sign[new][of], hits.size[new][of])
            columns["first"][~first[new][of]] = 0
            front = np.searchsorted(of, np.arange(len(new)))
            good = np.logical_and.reduceat(columns["gap"] > 0.0, front)
            lowest = contact[np.lexsort((gap, run))]  # they give way first
            put = places(good[of])
            place = lowest[begin[new[of[put]]] + put - front[of[put]]]
            renewed = np.isin(run, new[good])
            keep[contact[renewed]] = (like & (gap > -close))[renewed]
            keep[place] = True
            changed = {name: getattr(found, name).copy() for name in columns}
            for name, column in columns.items():
                changed[name][place] = column[put]
            found = replace(found, **changed)
        return found if keep.all() else found.take(keep)


@dataclass
class Runs:
    """N runs of contacts, each of two shapes; planes are among the second ones."""

    start: np.ndarray  # (N,) number of the first contact
    count: np.ndarray  # (N,)
    first: np.ndarray  # (N,) shapes
    second: np.ndarray  # (N,)
    sign: np.ndarray  # (N,) 1 where the first shape is on side a, -1 elsewhere
    gap: np.ndarray  # (N,) the smallest [m]
    size: np.ndarray  # (N,) of the smaller shape [m]

    def take(self, index):
        """Those at ``index``."""
        index = numbers(index)
        return Runs(*(each.take(index) for each in vars(self).values()))

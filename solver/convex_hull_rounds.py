# SPDX-License-Identifier: GPL-3.0-or-later
"""The convex hull of many points, which takes in many of them at a time: quickhull in rounds.

Each round takes the farthest point of every face and adds those that do not meddle with each other, so it ends with
what adding them one after the other would give.  Proof: a point that sees neither a face nor the one beyond its edge
does not see a face that is raised on that edge, because its normal is a positive sum of theirs.
"""

import numpy as np

FAR = 0.5
"""Part of the height of the farthest point from which others are taken in with it: what lies lower may be noise of a
flat face, which those that are farther swallow."""
SHUFFLE = 2654435761  # spreads numbers over 2**32: the golden ratio of it
PIECE = 2_000_000  # heights of points above faces that are held in memory at a time


class Rounds:
    """The growing hull.  Dead faces keep their place until they are many.

    points: (N, 3) of extent one around zero.  tetrahedron: numbers of four of them, wound so that the fourth lies below
    the first three.  flatness: height above a face below which a point belongs to it.
    """

    def __init__(self, points, tetrahedron, flatness):
        self.points, self.flatness = points, flatness
        a, b, c, d = tetrahedron
        self.faces = np.array([[a, b, c], [b, a, d], [c, b, d], [a, c, d]])
        self.neighbours = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])  # across (corner k, corner k + 1)
        self.alive = np.ones(4, bool)
        self.normals, self.offsets = self._planes(self.faces)
        self.owner = np.full(len(points), -1)  # the face above which a point lies the farthest, -1: above none
        self.height = np.zeros(len(points))
        everyone = np.arange(len(points))
        self._assign(everyone, np.zeros(len(points), int), np.zeros(1, int), np.full(1, 4), np.arange(4))

    def grow(self):
        """Takes in points until none lies outside: a generator that yields after each round, returns the triangles."""
        eyes = self._farthest()
        while len(eyes):
            self._add(eyes, *self._apart(eyes, *self._visible(eyes)))
            self._forget_dead()
            yield
            eyes = self._farthest()
        return self.faces[self.alive].astype(np.int32)

    def _farthest(self):
        """Points to try next: of each face the farthest, of equal ones the first, in a shuffled order."""
        outside = np.flatnonzero(self.owner >= 0)
        if not len(outside):
            return outside
        owner, height = self.owner[outside], self.height[outside]
        most = np.zeros(len(self.faces))
        np.maximum.at(most, owner, height)
        top = outside[(height == most[owner]) & (height >= FAR * height.max())]
        _, first = np.unique(self.owner[top], return_index=True)
        eyes = top[first]
        # In an order that follows the surface each would wait for the one before.
        return eyes[np.argsort(eyes * SHUFFLE % 2**32, kind="stable")]

    def _visible(self, eyes):
        """(eye's number in ``eyes``, face) of all that each eye sees: connected patches; the pairs ascend."""
        count = len(self.faces)
        frontier = np.arange(len(eyes)) * count + self.owner[eyes]
        found = tested = np.sort(frontier)
        while len(frontier):
            who, face = np.divmod(frontier, count)
            ahead = np.unique(np.repeat(who * count, 3) + self.neighbours[face].ravel())
            ahead = ahead[~_is_in(ahead, tested)]
            tested = np.sort(np.concatenate([tested, ahead]))
            who, face = np.divmod(ahead, count)
            above = np.einsum("ni,ni->n", self.normals[face], self.points[eyes[who]]) - self.offsets[face]
            frontier = ahead[above > self.flatness]
            found = np.concatenate([found, frontier])
        return np.divmod(np.sort(found), count)

    def _apart(self, eyes, who, face):
        """What those eyes see, and the edges around it, that do not meddle with eyes before them.

        Returns (eyes, faces) of the pairs seen, and (eyes, faces within, first corners there, 0 to 2) of the edges.
        """
        count = len(self.faces)
        beyond = self.neighbours[face]
        rim, corner = np.nonzero(~_is_in((who[:, None] * count + beyond).ravel(), who * count + face).reshape(-1, 3))
        first_seen = np.full(count, len(eyes))
        np.minimum.at(first_seen, face, who)
        first = first_seen.copy()
        np.minimum.at(first, beyond[rim, corner], who[rim])
        good = np.ones(len(eyes), bool)
        good[who[first[face] < who]] = False
        good[who[rim][first_seen[beyond[rim, corner]] < who[rim]]] = False
        seen, around = good[who], good[who[rim]]
        return (who[seen], face[seen]), (who[rim][around], face[rim][around], corner[around])

    def _add(self, eyes, seen, around):
        """Puts faces from the edges around what each eye sees to that eye in the place of what it sees."""
        who, inner, corner = around
        order = np.argsort(who, kind="stable")
        who, inner, corner = who[order], inner[order], corner[order]
        start, end = self.faces[inner, corner], self.faces[inner, (corner + 1) % 3]
        beyond = self.neighbours[inner, corner]
        raised = np.stack([start, end, eyes[who]], axis=1)
        number = len(self.faces) + np.arange(len(raised))
        size = len(self.points)
        leaving, arriving = np.argsort(who * size + start, kind="stable"), np.argsort(who * size + end, kind="stable")
        following, preceding = np.empty(len(raised), int), np.empty(len(raised), int)
        following[arriving], preceding[leaving] = number[leaving], number[arriving]
        there = self.faces[beyond]
        across = np.argmax((there == end[:, None]) & (np.roll(there, -1, axis=1) == start[:, None]), axis=1)
        self.neighbours[beyond, across] = number
        normals, offsets = self._planes(raised)
        self.faces, self.normals = np.concatenate([self.faces, raised]), np.concatenate([self.normals, normals])
        self.offsets = np.concatenate([self.offsets, offsets])
        self.neighbours = np.concatenate([self.neighbours, np.stack([beyond, following, preceding], axis=1)])
        self.alive = np.concatenate([self.alive, np.ones(len(raised), bool)])
        self.alive[seen[1]] = False
        taker = np.full(len(self.faces), -1)
        taker[seen[1]] = seen[0]
        outside = np.flatnonzero(self.owner >= 0)
        whose = taker[self.owner[outside]]
        orphans, whose = outside[whose >= 0], whose[whose >= 0]
        self.owner[eyes[np.unique(who)]] = -1
        left = self.owner[orphans] >= 0
        counts = np.bincount(who, minlength=len(eyes))
        self._assign(orphans[left], whose[left], np.cumsum(counts) - counts, counts, number)

    def _assign(self, points, whose, first, counts, faces):
        """Gives each point to the face it lies farthest above, of faces[first[w] : first[w] + counts[w]] for its w."""
        widths = counts[whose]
        ends = np.cumsum(widths)
        piece = ends // PIECE
        for cut in np.split(np.arange(len(points)), np.flatnonzero(np.diff(piece)) + 1):
            if not len(cut):
                continue
            width = widths[cut]
            begin = np.cumsum(width) - width
            row = np.repeat(np.arange(len(cut)), width)
            face = faces[np.arange(len(row)) - begin[row] + first[whose[cut]][row]]
            above = np.einsum("ni,ni->n", self.normals[face], self.points[points[cut]][row]) - self.offsets[face]
            most = np.maximum.reduceat(above, begin)
            best = np.full(len(cut), len(above))
            top = np.flatnonzero(above == most[row])
            np.minimum.at(best, row[top], top)
            outside = most > self.flatness
            self.owner[points[cut]] = np.where(outside, face[best], -1)
            self.height[points[cut]] = most

    def _planes(self, faces):
        """Outward normals (T, 3) and offsets (T,); a face without area sees nothing and stays."""
        tips = self.points[faces]
        normals = np.cross(tips[:, 1] - tips[:, 0], tips[:, 2] - tips[:, 0])
        lengths = np.linalg.norm(normals, axis=1, keepdims=True)
        normals = np.where(lengths > 1e-18, normals / np.maximum(lengths, 1e-18), 0.0)
        return normals, np.einsum("ti,ti->t", normals, tips.mean(axis=1))

    def _forget_dead(self):
        """Numbers the living faces anew once two thirds are dead."""
        if 3 * self.alive.sum() > len(self.alive):
            return
        number = np.cumsum(self.alive) - 1
        self.faces, self.normals, self.offsets = (v[self.alive] for v in (self.faces, self.normals, self.offsets))
        self.neighbours = number[self.neighbours[self.alive]]
        self.owner = np.where(self.owner >= 0, number[self.owner], -1)
        self.alive = np.ones(len(self.faces), bool)


def _is_in(values, ascending):
    """Whether each of ``values`` is in ``ascending``."""
    place = np.searchsorted(ascending, values)
    return ascending[np.minimum(place, len(ascending) - 1)] == values

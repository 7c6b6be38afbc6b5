# SPDX-License-Identifier: GPL-3.0-or-later
"""Which side of an open mesh counts for another shape: that on which its middle lies."""

import numpy as np

from .closest_points import closest_points
from .manifold import gaps_of, turn, turn_back
from .mesh_features import features

TELLS_NO_SIDE = (
    0.1  # times the smallest half extent: nearer to a sheet, the place that stands for another tells no side
)


class Sides:
    """{pair of shapes: answer} of ``faces_middle``, kept through a step: what sinks in does not change sides."""

    def __init__(self):
        self.known, self.before, self.start = {}, None, None

    def begin(self, accepted, position, rotation):
        """Forget all but ``accepted``, the ContactSet of the step before, or None, and the poses (B, 3), (B, 3, 3) from
        which a step starts: what only comes near at its end was on its side then.
        """
        self.known.clear()
        self.before, self.start = accepted, (position, rotation)


def faces_middle(model, shape, other, position, rotation, sides):
    """Whether normals of mesh shapes (K,) point to the side on which the middle of shape ``other`` (K,) lies.

    That of the place nearest to that middle: what leans over a ridge is before it, though below the slope beyond.  What
    is open itself has no middle: its place nearest to the first shape's middle stands for it, and where that touches,
    the side on which the contacts of the step before were.  sides: Sides, to which answers are added.
    """
    table, shapes = model.meshes, len(model.shape_body)
    ahead = table.closed[table.shape_mesh[shape]]
    opened = np.flatnonzero(~ahead)
    if not len(opened):
        return ahead
    pair, of_pair = np.unique(shape[opened] * np.int64(shapes) + other[opened], return_inverse=True)
    new = np.array([key for key in pair.tolist() if key not in sides.known], np.int64)
    if len(new):
        before = _before(model, *np.divmod(new, shapes), *(sides.start or (position, rotation)), sides.before)
        sides.known.update(zip(new.tolist(), before.tolist(), strict=True))
    ahead[opened] = np.array([sides.known[key] for key in pair.tolist()], bool)[of_pair.reshape(-1)]
    return ahead


def _before(model, shape, other, position, rotation, contacts):
    """``faces_middle`` of pairs that are not known."""
    table = model.meshes
    middle = within(model, shape, center(model, other, position, rotation), position, rotation)
    sheet = np.flatnonzero((table.shape_mesh[other] >= 0) & table.sheet[table.shape_mesh[other]])
    if len(sheet):
        one, two, body = shape[sheet], other[sheet], model.shape_body[other[sheet]]
        own = within(model, two, center(model, one, position, rotation), position, rotation)
        place = closest_points(model, two, own, np.full(len(two), np.inf))[2]
        place = model.shape_position[two] + turn(model.shape_rotation[two], place)
        middle[sheet] = within(model, one, position[body] + turn(rotation[body], place), position, rotation)
    height = _height(model, shape, middle)
    near = TELLS_NO_SIDE * np.minimum(model.shape_size[shape], model.shape_size[other])
    for k in sheet[np.abs(height[sheet]) < near[sheet]]:
        height[k] = _remembered(model, shape[k], other[k], position, rotation, contacts, near[k]) or height[k]
    holds = table.shell[table.shape_mesh[shape]] & (model.shape_radius[other] > model.shape_radius[shape])
    return (height >= 0.0) | holds  # what is larger than a shell is not inside it, though its middle may be


def _height(model, shape, point):
    """(K,) how far points (K, 3) in the frames of mesh shapes (K,) are before the surface [m]."""
    face, weight, place, _ = closest_points(model, shape, point, np.full(len(shape), np.inf))
    normal = model.meshes.normal[features(model.meshes, model.meshes.shape_mesh[shape], face, weight)]
    return np.einsum("ki,ki->k", normal, point - place)


def _remembered(model, shape, other, position, rotation, contacts, near):
    """Sum over the contacts of two shapes in a ContactSet, or None, of the cosines between their normals and the
    surface's of mesh ``shape``, both outward; 0 without any.  Only those whose gap by now is less than ``near`` [m]
    either way tell: what is far ahead looks at the surface from the side, and what fell on was far ahead before.
    """
    if contacts is None:
        return 0.0
    number = np.int64(min(shape, other)) * len(model.shape_body) + max(shape, other)
    found = np.flatnonzero(contacts.pair == number)
    gap = gaps_of(contacts.manifolds.take(contacts.source[found]), position, rotation)
    found = found[np.abs(gap) < near]
    if not len(found):
        return 0.0
    outward = contacts.manifolds.normal[contacts.source[found]]  # in the frame of the lower shape's body
    own, lower = model.shape_body[shape], model.shape_body[min(shape, other)]
    point = contacts.point_b[found]
    if shape > other:
        point, outward = contacts.point_a[found], -outward @ rotation[lower].T @ rotation[own]
    shapes, frame = np.full(len(found), shape), model.shape_rotation[shape]
    face, weight, _, _ = closest_points(
        model, shapes, (point - model.shape_position[shape]) @ frame, np.full(len(found), np.inf)
    )
    normal = model.meshes.normal[features(model.meshes, model.meshes.shape_mesh[shapes], face, weight)]
    return float(np.einsum("ki,ki->", normal, outward @ frame))


def center(model, shape, position, rotation):
    """(K, 3) where the centres of shapes (K,) are."""
    body = model.shape_body[shape]
    return position[body] + turn(rotation[body], model.shape_center[shape])


def within(model, shape, point, position, rotation):
    """Points (K, 3) in the frames of shapes (K,)."""
    body = model.shape_body[shape]
    local = turn_back(rotation[body], point - position[body]) - model.shape_position[shape]
    return turn_back(model.shape_rotation[shape], local)

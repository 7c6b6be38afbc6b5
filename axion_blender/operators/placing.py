# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a new joint stands and how its axes lie."""

import mathutils

PIVOTS = (
    ("CENTER", "Center", "Midway between the origins of the two bodies"),
    ("ACTIVE", "Active", "At the origin of the active body"),
    ("SELECTED", "Selected", "At the origin of the other body"),
    ("CURSOR", "3D Cursor", "At the 3D cursor"),
    ("FACE", "Active Face", "In the middle of the active face of the active object"),
)
"""The first three are Blender's own."""
ORIENTATIONS = (
    ("LOCATION", "As Location", "The cursor's axes at the 3D cursor, the face's at the active face, else the world's"),
    ("GLOBAL", "Global", "The axes of the world"),
    ("ACTIVE", "Active", "The axes of the active body"),
    ("CURSOR", "3D Cursor", "The axes of the 3D cursor"),
    ("FACE", "Active Face", "Z along the normal of the active face, X along its longest edge"),
    ("LINE", "Between Bodies", "X from the first body to the second, Z as far up as it goes"),
)


class NoPlaceError(ValueError):
    """There is no such place; the sentence says why and what to do."""


def place(context, pivot, orientation, first, second):
    """(location Vector, rotation Quaternion) in the world for a joint of ``first`` (or None: the world) and ``second``.

    pivot, orientation: identifiers of PIVOTS and ORIENTATIONS.  Raises NoPlaceError.
    """
    if orientation == "LOCATION":
        orientation = pivot if pivot in ("CURSOR", "FACE") else "GLOBAL"
    return _location(context, pivot, first, second), _rotation(context, orientation, first, second)


def _location(context, pivot, first, second):
    if pivot == "CURSOR":
        return context.scene.cursor.matrix.to_translation()
    if pivot == "FACE":
        return _face(context.active_object)[0]
    here = second.matrix_world.to_translation()
    if first is None or pivot == "ACTIVE":
        return here
    there = first.matrix_world.to_translation()
    return there if pivot == "SELECTED" else (there + here) / 2


def _rotation(context, orientation, first, second):
    if orientation == "ACTIVE":
        return second.matrix_world.to_quaternion()
    if orientation == "CURSOR":
        return context.scene.cursor.matrix.to_quaternion()
    if orientation == "FACE":
        return _face(context.active_object)[1]
    if orientation == "LINE":
        return _line(first, second)
    return mathutils.Quaternion()


def _line(first, second):
    if first is None:
        raise NoPlaceError(
            f"{second.name} is alone, and a line needs two bodies: select two, or choose another orientation"
        )
    along = second.matrix_world.to_translation() - first.matrix_world.to_translation()
    if along.length == 0.0:
        raise NoPlaceError(
            f"{first.name} and {second.name} have their origins in one place, so no line joins them: "
            "choose another orientation"
        )
    return along.to_track_quat("X", "Z")


def _face(item):
    """(middle, rotation) of the active face of an object, in the world."""
    mesh = item.data if item is not None and item.type == "MESH" else None
    if mesh is None:
        name = "The selection" if item is None else item.name
        raise NoPlaceError(f"{name} has no faces: make a mesh active, or choose another place and orientation")
    index = mesh.polygons.active
    if not 0 <= index < len(mesh.polygons):
        raise NoPlaceError(f"{item.name} has no active face: click one in Edit Mode first")
    face, matrix = mesh.polygons[index], item.matrix_world
    corners = [matrix @ mesh.vertices[number].co for number in face.vertices]
    normal = (matrix.to_3x3().inverted_safe().transposed() @ face.normal).normalized()
    edges = [after - before for before, after in zip(corners, [*corners[1:], corners[0]], strict=True)]
    along = max(edges, key=lambda edge: edge.length)
    along = (along - along.dot(normal) * normal).normalized()
    if normal.length == 0.0 or along.length == 0.0:
        raise NoPlaceError(f"{item.name} has an active face without area: click another in Edit Mode first")
    axes = mathutils.Matrix((along, normal.cross(along), normal)).transposed()
    return matrix @ face.center, axes.to_quaternion()

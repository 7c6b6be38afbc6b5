# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes and measures that the tests of contacts share.  Lengths in metres."""

import numpy as np
from axion.solver import Capsule, ConvexHull, Scene, TriangleMesh
from axion.solver.collision import Collider
from axion.solver.model import build_model
from axion.solver.rotations import rotate
from scenes import turned

CUBE = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
LYING = (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))


def set_up(*bodies, gravity=(0.0, 0.0, -9.81)):
    """A scene's collider and the poses of its bodies at the start."""
    scene = Scene(gravity=gravity)
    for body in bodies:
        scene.add(body)
    pose = [body.start() for body in scene.bodies]
    return Collider(build_model(scene)), np.array([p for p, _ in pose]), np.array([q for _, q in pose])


def detect(collider, position, orientation, linear=None, angular=None, step=1.0 / 60.0):
    still = np.zeros_like(position)
    linear, angular = still if linear is None else linear, still if angular is None else angular
    return collider.collide(position, orientation, linear, angular, step)


def gaps(contacts, position, orientation):
    """The definition of the gap, from the local points alone."""
    x_a = position[contacts.body_a] + rotate(orientation[contacts.body_a], contacts.point_a)
    x_b = position[contacts.body_b] + rotate(orientation[contacts.body_b], contacts.point_b)
    return np.sum(contacts.normal * (x_a - x_b), axis=1) - contacts.margin_a - contacts.margin_b


def upward(contacts, body):
    """The push on ``body``: the normal where it is body a, else the opposite."""
    return np.where((contacts.body_a == body)[:, None], contacts.normal, -contacts.normal)


def support(contacts, position, orientation, body):
    """How far inside the contacts' polygon, seen from above, the body's origin lies (negative: it tips over)."""
    own = contacts.body_a == body
    point = np.where(own[:, None], contacts.point_a, contacts.point_b)
    place = rotate(np.tile(orientation[body], (len(contacts), 1)), point)[:, :2]
    angle = np.linspace(0.0, 2.0 * np.pi, 72, endpoint=False)
    return np.min(np.max(np.c_[np.cos(angle), np.sin(angle)] @ place.T, axis=1))


def torus(big=1.0, small=0.3, around=24, across=12):
    u, v = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    p, q = 2.0 * np.pi * u / around, 2.0 * np.pi * v / across
    ring = big + small * np.cos(q)
    vertices = np.stack([ring * np.cos(p), ring * np.sin(p), small * np.sin(q)], axis=-1).reshape(-1, 3)
    a, b = u * across + v, (u + 1) % around * across + v
    c, d = (u + 1) % around * across + (v + 1) % across, u * across + (v + 1) % across
    return TriangleMesh(vertices, np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3))


def funnel(sides):
    """A cone of 45 degrees about Z, open at both ends, of slender triangles from 0.05 to 1.5 m above its tip."""
    angle, k = 2.0 * np.pi * np.arange(sides) / sides, np.arange(sides)
    ring, after = np.stack([np.cos(angle), np.sin(angle), np.ones(sides)], axis=1), (k + 1) % sides
    triangles = [np.stack(each, axis=1) for each in ((k, after, after + sides), (k, after + sides, k + sides))]
    return TriangleMesh(np.concatenate([0.05 * ring, 1.5 * ring]), np.concatenate(triangles))


def grid(count=8, size=4.0, height=None):
    """An open floor of triangles: flat in z = 0, or of the ``height`` [m] that a function of x and y says."""
    x, y = np.meshgrid(*[np.linspace(-size, size, count + 1)] * 2, indexing="ij")
    i, j = np.meshgrid(*[np.arange(count)] * 2, indexing="ij")
    a, b = i * (count + 1) + j, (i + 1) * (count + 1) + j
    triangles = np.stack([a, b, b + 1, a, b + 1, a + 1], axis=-1).reshape(-1, 3)
    z = 0.0 * x if height is None else height(x, y)
    return TriangleMesh(np.stack([x, y, z], axis=-1).reshape(-1, 3), triangles)


def strip(profile, half=0.3):
    """An open sheet over a polygon (N, 2) of x and z, seen from above."""
    x, z = np.transpose(profile)
    vertices = np.concatenate([np.c_[x, np.full(len(x), side), z] for side in (-half, half)])
    k, n = np.arange(len(x) - 1), len(x)
    return TriangleMesh(vertices, np.concatenate([np.c_[k, k + 1, n + k + 1], np.c_[k, n + k + 1, n + k]]))


def bowl(radius, rings=6, around=16, thickness=0.1):
    """A closed half shell below z = 0, open side up: concave.  ``radius`` of the inside."""
    polar = 0.5 * np.pi * np.arange(1, rings + 1) / rings  # from the pole up to the rim
    inside = radius * np.stack([np.sin(polar), -np.cos(polar)], axis=1)
    profile = np.concatenate([inside, (1.0 + thickness / radius) * inside[::-1]])
    turn = 2.0 * np.pi * np.arange(around) / around
    circles = np.stack([np.outer(profile[:, 0], f(turn)) for f in (np.cos, np.sin)], axis=-1)
    heights = np.repeat(profile[:, 1], around)
    poles = [(0.0, 0.0, -radius), (0.0, 0.0, -radius - thickness)]
    vertices = np.concatenate([np.c_[circles.reshape(-1, 2), heights], poles])
    k = np.arange(around)
    n, last, pole = (k + 1) % around, (2 * rings - 1) * around, 2 * rings * around
    triangles = [
        np.stack([np.full(around, pole), k, n], axis=1),
        np.stack([last + n, last + k, 0 * k + pole + 1], axis=1),
    ]
    for start in around * np.arange(2 * rings - 1):
        a, b, c, d = start + k, start + n, start + around + n, start + around + k
        triangles += [np.stack([a, d, c], axis=1), np.stack([a, c, b], axis=1)]
    return TriangleMesh(vertices, np.concatenate(triangles))


def rock(count, seed=0, size=0.2):
    """A convex hull of ``count`` points on an ellipsoid of half axes 1.3, 1 and 0.8 times ``size``."""
    points = np.random.default_rng(seed).normal(size=(count, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    return ConvexHull(size * points * (1.3, 1.0, 0.8))


def prism(outline, caps, half_height):
    """A solid between two copies of an outline (N, 2), counter-clockwise, whose inside the triangles ``caps`` cover."""
    n, k = len(outline), np.arange(len(outline))
    after, caps = (k + 1) % n, np.asarray(caps)
    vertices = np.concatenate([np.c_[outline, np.full(n, z)] for z in (-half_height, half_height)])
    sides = np.stack([k, after, n + after], axis=1), np.stack([k, n + after, n + k], axis=1)
    return TriangleMesh(vertices, np.concatenate([caps[:, ::-1], n + caps, *sides]))


def ell(size=0.2):
    """A closed L of three cubes of edge ``size`` in x-z, middle near the origin: concave, with coplanar triangles."""
    outline = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    vertices = np.array([(x, y, z) for y in (0.0, 1.0) for x, z in outline]) - (0.8, 0.5, 0.8)
    front = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    back = [(6, 8, 7), (6, 9, 8), (6, 10, 9), (6, 11, 10)]
    turns = [(i, (i + 1) % 6) for i in range(6)]
    sides = [triangle for i, j in turns for triangle in ((i, 6 + i, 6 + j), (i, 6 + j, j))]
    return TriangleMesh(size * vertices, front + back + sides)


def tray(half=1.0, rim=0.1, floor=0.1, height=0.3):
    """An open box, concave: ``half`` wide each way inside, its floor's top at z = 0, ``floor`` thick."""
    inner, outer = half, half + rim
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    levels = [(outer, -floor), (outer, height), (inner, height), (inner, 0.0)]
    vertices = np.array([(x * wide, y * wide, z) for wide, z in levels for x, y in corners])
    triangles = [(0, 2, 1), (0, 3, 2), (12, 13, 14), (12, 14, 15)]
    for level in range(3):
        for k in range(4):
            a, b = 4 * level + k, 4 * level + (k + 1) % 4
            triangles += [(a, b, b + 4), (a, b + 4, a + 4)]
    return TriangleMesh(vertices, np.array(triangles))


BAR, WIDE, LONG = 0.006, 0.015, 0.025  # [m] of a link: radius of its bars, and half extents of their middle lines


def link_of_capsules():
    """Shapes of a link of a chain in the x-y plane: four bars, of which those along Y are the longer ones."""
    sides = [Capsule(BAR, LONG, position=(x, 0, 0), orientation=turned("x", 0.5 * np.pi)) for x in (WIDE, -WIDE)]
    ends = [Capsule(BAR, WIDE, position=(0, y, 0), orientation=turned("y", 0.5 * np.pi)) for y in (LONG, -LONG)]
    return sides + ends

# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed loops of bars and hinges whose motion is known: Bricard's mechanism, N four-bars in a row, a door."""

import numpy as np
from axion.solver import Body, Box, Joint, Scene
from scenes import turned

ACROSS = turned("x", -0.5 * np.pi)  # a hinge turns about its local Z: laid along the world's Y
ALONG = {"x": turned("y", 0.5 * np.pi), "y": ACROSS, "z": turned("z", 0.0)}  # joint frames whose Z is a world axis
THIN = 0.05
ROD = np.eye(3) / 12.0  # of a thin rod of 1 m and 1 kg, for motion in a plane
BRICARD_CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)


def bar(scene, name, start, end, mass=1.0, half=THIN, **options):
    """A straight bar, its local X along the way from ``start`` to ``end``; both lie along one world axis."""
    along = np.asarray(end, float) - start
    axis = int(np.argmax(np.abs(along)))
    size = np.full(3, half)
    size[axis] = 0.5 * np.abs(along[axis])
    middle = 0.5 * (np.asarray(start, float) + end)
    return scene.add(Body(name, [Box(size)], position=middle, mass=mass, collision_mask=0, **options))


def bricard():
    """Bricard's mechanism (IFToMM benchmark A04): five rods of 1 m and 1 kg along the edges of a cube, six hinges.

    Gruebler counts no freedom, and it has one.  Gravity along -y, from rest.
    """
    scene = Scene(gravity=(0, -9.81, 0))
    for k in range(5):
        bar(scene, f"Rod {k + 1}", BRICARD_CORNERS[k], BRICARD_CORNERS[k + 1])
    names = [None, *(f"Rod {k + 1}" for k in range(5)), None]
    for k, axis in enumerate("yzxyzx"):
        scene.add(Joint(f"Hinge {k + 1}", "hinge", names[k], names[k + 1], BRICARD_CORNERS[k], ALONG[axis]))
    return scene


def many_four_bars(windows, speed=1.0):
    """IFToMM benchmark A02: ``windows`` square windows of links of 1 m and 1 kg side by side, the top moving along +x.

    The uprights stand on pivots 1 m apart and turn together by phi from +x: one freedom,
    phi'' = -k cos phi with k = g ((N + 1) / 2 + N) / ((N + 1) / 3 + N) for thin links.
    """
    scene = Scene()
    for i in range(windows + 1):
        motion = {"linear_velocity": (0.5 * speed, 0, 0), "angular_velocity": (0, speed, 0)}
        bar(scene, f"Upright {i}", (i, 0, 0), (i, 0, 1), inertia=ROD, **motion)
    for i in range(windows):
        bar(scene, f"Top {i}", (i, 0, 1), (i + 1, 0, 1), inertia=ROD, linear_velocity=(speed, 0, 0))
    for i in range(windows + 1):
        scene.add(Joint(f"Foot {i}", "hinge", None, f"Upright {i}", (i, 0, 0), ACROSS))
    for i in range(windows):
        for name, end in (("Left", i), ("Right", i + 1)):
            scene.add(Joint(f"{name} {i}", "hinge", f"Upright {end}", f"Top {i}", (end, 0, 1), ACROSS))
    return scene


def three_hinge_door(speed=1.0, hinges=3):
    """A door of 20 kg, 0.8 x 2 m, on three hinges of one vertical axis: ten rows more than independent ones."""
    scene = Scene()
    scene.add(
        Body("Door", [Box((0.4, 0.02, 1.0))], position=(0.4, 0, 1.0), mass=20.0, linear_velocity=(0, 0.4 * speed, 0),
             angular_velocity=(0, 0, speed))
    )  # fmt: skip
    for k in range(hinges):
        scene.add(Joint(f"Hinge {k + 1}", "hinge", None, "Door", (0, 0, 0.3 + 1.4 * k / (hinges - 1))))
    return scene

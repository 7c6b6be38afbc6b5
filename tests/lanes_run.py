# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints a digest of a bake of contacts, joints, ropes, limits and what spins; "each": with a thread for each item."""

import hashlib
import sys

import numpy as np
import warp as wp
from axion.solver import Body, Box, Joint, Plane, Scene, SolverConfig, Sphere, lanes, proximal, simulate


@wp.func
def not_alone() -> int:
    return 0


def scene():
    """Islands of all kinds, numbered across each other: bodies that fall, stacks, a chain, a rope, hinges, a top."""
    scene = Scene()
    scene.add(Body("Floor", [Plane()], motion="static"))
    for k in range(6):
        for tower in range(3):
            place = (0.6 * tower, 0.02 * (k % 2), 0.2 + 0.41 * k)
            scene.add(Body(f"Box {tower} {k}", [Box((0.2, 0.2, 0.2))], position=place, restitution=0.3 * tower))
        scene.add(Body(f"Ball {k}", [Sphere(0.1)], position=(4.0 + 0.3 * k, 0.0, 0.9), angular_velocity=(0, k, 0)))
        scene.add(Body(f"Free {k}", [Sphere(0.1)], position=(0.0, 3.0 + k, 9.0)))
        if k:
            place = (3.85 + 0.3 * k, 0.0, 0.9)
            kind = ("ball", "hinge", "distance")[k % 3]
            ends = (3.7 + 0.3 * k, 0.0, 0.9), (4.0 + 0.3 * k, 0.0, 0.9)
            more = {"anchors": ends} if kind == "distance" else {}
            scene.add(Joint(f"Link {k}", kind, f"Ball {k - 1}", f"Ball {k}", position=place, **more))
    scene.add(Joint("Hook", "ball", None, "Ball 0", position=(4.0, 0.0, 0.9)))
    scene.add(Body("Top", [Box((0.3, 0.3, 0.05))], position=(0, -3.0, 1.0), angular_velocity=(1.0, 0.0, 40.0)))
    scene.add(Joint("Pin", "ball", None, "Top", position=(0, -3.0, 0.5)))
    return scene


if __name__ == "__main__":
    wp.config.quiet = True
    if "each" in sys.argv:
        lanes.alone = not_alone
        proximal.threads = lambda device, room: room
    digest = hashlib.sha256()
    for frame in simulate(scene(), 16, config=SolverConfig(device="cpu")).position:
        digest.update(np.ascontiguousarray(frame).tobytes())
    print("digest", digest.hexdigest())

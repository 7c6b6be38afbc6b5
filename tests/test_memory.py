# SPDX-License-Identifier: GPL-3.0-or-later
"""A run leaves no memory behind: in one Blender session a scene is baked over and over."""

import gc
import weakref

import numpy as np
import pytest
import warp as wp
from axion.solver import Body, Scene, SolverConfig, simulate
from axion.solver.arrays import host_view, zeros
from axion.solver.mathx.real import real_types
from contact_scenes import torus
from scenes import chain, ground, pile


def rings():
    """Two rings of triangles fall on the ground."""
    scene = Scene()
    ground(scene)
    for k in range(2):
        scene.add(Body(f"Ring {k}", [torus(0.3, 0.1)], position=(0.1 * k, 0.0, 0.15 + 0.25 * k)))
    return scene


SCENES = {"pile": lambda: pile(2), "chain": lambda: chain(5), "rings": rings}


def arrays_left():
    """How many Warp arrays there are, once Python has let go of what nobody uses."""
    gc.collect()
    return sum(isinstance(thing, wp.array) for thing in gc.get_objects())


@pytest.mark.parametrize(("scene", "method"), [*((scene, "proximal") for scene in SCENES), ("pile", "schur")])
def test_a_run_leaves_no_arrays_behind(scene, method):
    # They were kept with their NumPy views, which own them: a circle that Python's garbage collector cannot see.
    left = []
    for runs in (2, 2):  # the first of all may keep what others find
        for _ in range(runs):
            simulate(SCENES[scene](), 3, config=SolverConfig(device="cpu", method=method))
        left.append(arrays_left())
    assert left[0] == left[1], left


@pytest.mark.parametrize("scene", SCENES)
def test_all_is_gone_as_soon_as_a_run_ends(scene):
    """Not only when Python next looks for circles, which in an idle Blender it does not."""
    frames = []

    def ran():
        made = SCENES[scene]()
        simulate(made, 3, config=SolverConfig(device="cpu"), on_frame=frames.append)
        return weakref.ref(made.bodies[-1])

    ran()
    gc.collect()
    gc.disable()
    try:
        known = {id(thing) for thing in gc.get_objects() if isinstance(thing, wp.array)}
        body = ran()
        more = [thing for thing in gc.get_objects() if isinstance(thing, wp.array) and id(thing) not in known]
    finally:
        gc.enable()
    assert not more and body() is None and len(frames) == 6


@pytest.mark.parametrize("dtype", [wp.int32, wp.bool, wp.uint64, wp.vec2i, real_types(wp.float64).mat66, wp.quatd])
@pytest.mark.parametrize("shape", [5, (3, 4)])
def test_host_view_and_array_share_their_memory(dtype, shape):
    made = zeros(shape, dtype, "cpu")
    # Another array over the same memory stands for one that somebody else allocated.
    other = wp.array(ptr=made.ptr, shape=made.shape, dtype=dtype, device="cpu")
    for array in (made, other):
        view = host_view(array)
        view[:] = np.arange(view.size).reshape(view.shape) % 2
        assert view is host_view(array) and view.ctypes.data == made.ptr
        assert np.array_equal(array.numpy(), view) and view.any()
    gone = weakref.ref(other)
    del array, view, other
    assert gone() is None

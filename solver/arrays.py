# SPDX-License-Identifier: GPL-3.0-or-later
"""Device-side layout of one step: Warp structs of arrays, sized by capacity so one recorded graph serves many steps.

Letters follow the glossary in ``step.py``.  Kernels launch over the capacity and stop at the counts; see lanes.py.

A state, what is measured of it and what impulses make of it are float64 on any device: gaps and joints are what is left
of metres, and impulses on a light body under a heavy one leave a ten-thousandth of themselves, whichever way their
normals point.  What conjugate gradients read, where the bytes are, is of the real type: linear/matrix.py.
"""

import ctypes

import numpy as np
import warp as wp

from . import mirror
from .mathx.real import real_types

vec6 = real_types(wp.float64).vec6

# Slots of the ``counts`` array.
DYNAMIC, CONTACTS, ROWS, PAIRS, ISLANDS, BODIES, PARTS, CONSTRAINED = range(8)
# Slots of the ``flags`` array: one per graph loop, non-zero while an island still wants another round.
OUTER, INNER, SWEEP = range(3)
MOST_NEWTON, MOST_LINEAR = range(3, 5)  # and the work of the island that took most

# Slots of the ``settings`` array (reals): arguments that change from step to step cannot be recorded by value.
STEP, PUSH_OUT = range(2)


@wp.struct
class BodyArrays:
    """Where bodies are, what free motion makes of them and what Newton does, and what is around each."""

    island: wp.array(dtype=wp.int32)
    inverse_mass: wp.array(dtype=wp.float64)
    mass: wp.array(dtype=wp.float64)
    extent: wp.array(dtype=wp.float64)
    principal: wp.array(dtype=wp.vec3d)  # moments of inertia
    inertia: wp.array(dtype=wp.mat33d)  # world, at the free orientation
    inverse_inertia: wp.array(dtype=wp.mat33d)
    midpoint: wp.array(dtype=wp.float64)
    spin: wp.array(dtype=wp.vec3d)  # angular momentum of bodies that answer joints while they turn; 0 of others
    x0: wp.array(dtype=wp.vec3d)
    q0: wp.array(dtype=wp.quatd)
    x_free: wp.array(dtype=wp.vec3d)
    q_free: wp.array(dtype=wp.quatd)
    x: wp.array(dtype=wp.vec3d)
    q: wp.array(dtype=wp.quatd)
    u_free: wp.array(dtype=vec6)
    arc: wp.array(dtype=vec6)  # of u, what is beyond the mean of the velocities at both ends (arcs.py)
    steady: wp.array(dtype=wp.float64)  # how much of that is taken: 1, or less where joints pull too hard
    pulled: wp.array(dtype=wp.vec3d)  # the impulse of its joints of which it is
    u: wp.array(dtype=vec6)
    u_centre: wp.array(dtype=vec6)
    u_best: wp.array(dtype=vec6)
    led: wp.array(dtype=vec6)  # u the last round ended with, and what it changed (secant.py)
    way: wp.array(dtype=vec6)
    stiffness: wp.array(dtype=wp.mat33d)
    r: wp.array(dtype=vec6)  # -g, see linear/gradient.py
    d: wp.array(dtype=vec6)
    contact_start: wp.array(dtype=wp.int32)
    contact_index: wp.array(dtype=wp.int32)
    row_start: wp.array(dtype=wp.int32)
    row_index: wp.array(dtype=wp.int32)
    neighbour_start: wp.array(dtype=wp.int32)
    neighbour_body: wp.array(dtype=wp.int32)
    neighbour_pair: wp.array(dtype=wp.int32)  # k: block k; -k-1: block k transposed


@wp.struct
class ContactArrays:
    """Contacts, sorted by island and pair."""

    island: wp.array(dtype=wp.int32)
    tied: wp.array(dtype=wp.int32)  # 1: joints tie the two bodies to each other
    a: wp.array(dtype=wp.int32)
    b: wp.array(dtype=wp.int32)
    point_a: wp.array(dtype=wp.vec3d)
    point_b: wp.array(dtype=wp.vec3d)
    margin_a: wp.array(dtype=wp.float64)
    margin_b: wp.array(dtype=wp.float64)
    n: wp.array(dtype=wp.vec3d)
    face: wp.array(dtype=wp.int32)  # body whose face is touched: the gap's normal turns with it; -1: it stays
    face_normal: wp.array(dtype=wp.vec3d)  # in that body's frame
    start_gap: wp.array(dtype=wp.float64)
    mu: wp.array(dtype=wp.float64)
    surface_velocity: wp.array(dtype=wp.vec3d)  # world, of a relative to b
    gap_noise: wp.array(dtype=wp.float64)
    rebound_gap: wp.array(dtype=wp.float64)
    rebound_speed: wp.array(dtype=wp.float64)
    glides: wp.array(dtype=wp.int32)  # Contacts.lever_kind
    rim_axis: wp.array(dtype=wp.vec3d)  # where that is 3
    rim_arm: wp.array(dtype=wp.vec3d)
    core_reach: wp.array(dtype=wp.float64)
    core_axis_a: wp.array(dtype=wp.vec3d)  # where that is not 0
    core_axis_b: wp.array(dtype=wp.vec3d)
    loaded: wp.array(dtype=wp.int32)  # velocity phase: 1 where the position phase found an impulse
    start_impulse: wp.array(dtype=wp.vec3d)
    arm_a: wp.array(dtype=wp.vec3d)
    arm_b: wp.array(dtype=wp.vec3d)
    allowed: wp.array(dtype=wp.float64)  # gap at which the contact acts: overlap that may stay (negative), or a rebound
    spared: wp.array(dtype=wp.float64)  # the same of what is left out (passing_by.py)
    w: wp.array(dtype=wp.float64)
    w_normal: wp.array(dtype=wp.float64)
    w_tangent: wp.array(dtype=wp.float64)
    phi: wp.array(dtype=wp.float64)
    v: wp.array(dtype=wp.vec3d)
    dv: wp.array(dtype=wp.vec3d)
    p: wp.array(dtype=wp.vec3d)
    p_centre: wp.array(dtype=wp.vec3d)
    p_best: wp.array(dtype=wp.vec3d)
    radius: wp.array(dtype=wp.float64)
    dual: wp.array(dtype=wp.vec2d)
    shift: wp.array(dtype=wp.float64)  # [m/s] mu |v_t|, added to the gap velocity in the cone law
    slid: wp.array(dtype=wp.float64)  # [m/s] change of mu |v_t| in the last round
    bias: wp.array(dtype=wp.vec3d)  # Gauss-Seidel and velocity phase: v = J u + bias
    force: wp.array(dtype=wp.vec3d)
    curvature: wp.array(dtype=wp.mat33d)


@wp.struct
class RowArrays:
    """Joint rows."""

    island: wp.array(dtype=wp.int32)
    a: wp.array(dtype=wp.int32)
    b: wp.array(dtype=wp.int32)
    coordinate: wp.array(dtype=wp.int32)
    anchor_a: wp.array(dtype=wp.vec3d)
    anchor_b: wp.array(dtype=wp.vec3d)
    axis_a: wp.array(dtype=wp.vec3d)
    axis_b: wp.array(dtype=wp.vec3d)
    reference: wp.array(dtype=wp.quatd)
    offset: wp.array(dtype=wp.float64)
    centre: wp.array(dtype=wp.float64)
    beta: wp.array(dtype=wp.float64)
    target: wp.array(dtype=wp.float64)
    target_velocity: wp.array(dtype=wp.float64)
    compliance: wp.array(dtype=wp.float64)
    lower: wp.array(dtype=wp.float64)
    upper: wp.array(dtype=wp.float64)
    start_impulse: wp.array(dtype=wp.float64)
    group: wp.array(dtype=wp.int32)  # on the first of a joint's LINEAR rows: how many follow on, itself included
    welded: wp.array(dtype=wp.int32)  # 1: its joint lets neither body turn against the other
    share: wp.array(dtype=wp.float64)  # root of the number of rows whose norm the judge takes
    jac_a: wp.array(dtype=vec6)
    jac_b: wp.array(dtype=vec6)
    drawn: wp.array(dtype=wp.float64)  # of p, that of a DISTANCE of which BodyArrays.arc is
    along: wp.array(dtype=wp.vec3d)  # direction of the force p on b, in the round that p is of
    w: wp.array(dtype=wp.float64)
    v: wp.array(dtype=wp.float64)
    dv: wp.array(dtype=wp.float64)
    bias: wp.array(dtype=wp.float64)
    p: wp.array(dtype=wp.float64)
    p_centre: wp.array(dtype=wp.float64)
    p_best: wp.array(dtype=wp.float64)
    curvature: wp.array(dtype=wp.float64)
    turning: wp.array(dtype=wp.float64)  # stiffness of a DISTANCE that pulls, across its direction [kg]; else 0


@wp.struct
class PairArrays:
    """Pairs of bodies that touch or that a joint has, sorted by island."""

    island: wp.array(dtype=wp.int32)
    i: wp.array(dtype=wp.int32)
    j: wp.array(dtype=wp.int32)
    contact_start: wp.array(dtype=wp.int32)  # contacts are sorted by pair
    contact_end: wp.array(dtype=wp.int32)
    row_start: wp.array(dtype=wp.int32)
    row_index: wp.array(dtype=wp.int32)


@wp.struct
class IslandArrays:
    """Control state of each island: what Newton, its inner solvers and the line search need to know."""

    direct: wp.array(dtype=wp.int32)  # 1: block LDL^T, 0: conjugate gradients
    failed: wp.array(dtype=wp.int32)  # 1: the direct factorisation met a pivot that is not positive
    constrained: wp.array(dtype=wp.int32)  # 1: has a contact or a joint row
    constrained_index: wp.array(dtype=wp.int32)  # numbers of those that have, in their order
    jointed: wp.array(dtype=wp.int32)
    looped: wp.array(dtype=wp.int32)  # 1: its joints close a loop
    led: wp.array(dtype=wp.int32)  # 1: a joint ties it to what keyframes move
    sweeps_allowed: wp.array(dtype=wp.int32)  # SolveOptions.sweeps, the largest of its bodies
    contact_start: wp.array(dtype=wp.int32)  # contacts are sorted by island
    row_start: wp.array(dtype=wp.int32)
    row_index: wp.array(dtype=wp.int32)
    body_start: wp.array(dtype=wp.int32)
    body_index: wp.array(dtype=wp.int32)
    run_start: wp.array(dtype=wp.int32)
    pair_start: wp.array(dtype=wp.int32)  # pairs are sorted by island
    colours: wp.array(dtype=wp.int32)  # how many its runs have; 0: none were asked for yet
    outer_active: wp.array(dtype=wp.int32)
    inner_active: wp.array(dtype=wp.int32)
    direct_active: wp.array(dtype=wp.int32)
    sweep_active: wp.array(dtype=wp.int32)
    sweeps_off: wp.array(dtype=wp.int32)  # 1: rounds go without them, see ``outer_check``
    rebuild: wp.array(dtype=wp.int32)  # 1: take the velocities from the impulses
    assumed: wp.array(dtype=wp.int32)  # 1: this Newton step takes contacts and rows to go on as in the centre
    assumes: wp.array(dtype=wp.int32)  # 1: each round begins with a step that assumes: there is nothing to push apart
    law: wp.array(dtype=wp.int32)  # 1: cone (new contacts at first, and where 0 cycles), 0: disc of lagged radius
    unload: wp.array(dtype=wp.int32)  # 1: the next centre has no impulses of normals and joints; 2: see squeezes.py
    free: wp.array(dtype=wp.int32)  # what free motion does; 2: it is the answer (unhindered.py), 4: see passing_by.py
    squeezed: wp.array(dtype=wp.int32)  # what was unloaded and would do, if nothing else does; 0: there is none such
    trouble: wp.array(dtype=wp.int32)
    convex: wp.array(dtype=wp.int32)  # 1: only the positive part of the stiffness of joints
    soften: wp.array(dtype=wp.int32)  # 1: that part alone after all, because the whole made H indefinite
    restore: wp.array(dtype=wp.int32)
    mixes: wp.array(dtype=wp.int32)  # how often it has been; negative: not in this round (secant.py)
    keep: wp.array(dtype=wp.int32)
    stale: wp.array(dtype=wp.int32)  # rounds since the best iterate
    outer_count: wp.array(dtype=wp.int32)
    inner_count: wp.array(dtype=wp.int32)
    newton_count: wp.array(dtype=wp.int32)
    linear_count: wp.array(dtype=wp.int32)
    search_round: wp.array(dtype=wp.int32)
    reached: wp.array(dtype=wp.int32)  # 1: the Newton step just taken ends at the root, there is nothing to check
    sweep_count: wp.array(dtype=wp.int32)
    sweep_left: wp.array(dtype=wp.int32)
    tolerance: wp.array(dtype=wp.float64)  # [m/s]: metres over the step
    slip_share: wp.array(dtype=wp.float64)  # how much of the change of slip the next round on cones takes over
    eps: wp.array(dtype=wp.float64)
    eps_joint: wp.array(dtype=wp.float64)
    damping: wp.array(dtype=wp.float64)  # of the step from the last good iterate, in masses
    gradient: wp.array(dtype=wp.float64)
    gradient0: wp.array(dtype=wp.float64)
    alpha: wp.array(dtype=wp.float64)
    slope0: wp.array(dtype=wp.float64)
    slope_base: wp.array(dtype=wp.float64)
    bend_base: wp.array(dtype=wp.float64)
    residual_normal: wp.array(dtype=wp.float64)
    residual_tangent: wp.array(dtype=wp.float64)
    residual_joint: wp.array(dtype=wp.float64)
    missed: wp.array(dtype=wp.float64)  # [m/s] by how much what was left out should have counted (passing_by.py)
    pull: wp.array(dtype=wp.float64)  # [m/s] residual that the proximal term of contacts leaves
    previous: wp.array(dtype=wp.float64)
    best: wp.array(dtype=wp.float64)


def usual_room(bodies):
    """Sizes that a heap of so many moving bodies takes: with this room from the start nothing grows, and no graph is
    recorded anew, while it falls together.
    """
    return {"contacts": 6 * bodies, "pairs": 3 * bodies, "islands": bodies}


def zeros(shape, dtype, device):
    """A zeroed Warp array.  On the CPU its memory is NumPy's, so that ``host_view`` may be kept with it."""
    if not wp.get_device(device).is_cpu:
        return wp.zeros(shape, dtype=dtype, device=device)
    shape = shape if isinstance(shape, tuple) else (shape,)
    scalar, item = getattr(dtype, "_wp_scalar_type_", dtype), getattr(dtype, "_shape_", ())
    view = np.zeros((*shape, *item), wp.dtype_to_numpy(scalar))
    # By its address: what it finds out about an array takes Warp twice the time, for hundreds of them a bake.
    array = wp.array(ptr=view.__array_interface__["data"][0], dtype=dtype, shape=shape, device=device)
    array.axion_host_view = view  # which keeps the memory
    return array


def allocate(struct, fields, size, device):
    """An instance of ``struct`` whose array members hold ``fields[name]`` (default ``size``) zeroed elements.

    A shape instead of a number makes an array of more dimensions.
    """
    instance = struct()
    for name, member in struct.vars.items():
        shape = fields.get(name, size)
        shape = shape if isinstance(shape, tuple) else max(shape, 1)
        setattr(instance, name, zeros(shape, member.type.dtype, device))
    return instance


def of_arrays(struct, **arrays):
    """An instance of ``struct`` that holds these Warp arrays."""
    instance = struct()
    for name, array in arrays.items():
        setattr(instance, name, array)
    return instance


def host_view(array):
    """The NumPy array that shares the memory of a Warp array on the CPU; kept, because making it costs 20 us.

    Of an array that ``zeros`` did not make it must not outlive that: ``array.numpy()`` would own the array, and be kept
    with it for ever, because Python does not look for such circles through NumPy.
    """
    view = getattr(array, "axion_host_view", None)
    if view is None:
        view = array.numpy()
        if view.flags.c_contiguous and view.size:
            memory = (ctypes.c_char * view.nbytes).from_address(array.ptr)
            view = array.axion_host_view = np.frombuffer(memory, view.dtype).reshape(view.shape)
    return view


def upload(destination, values):
    """Copy ``values`` (n, ...) into the first n elements of a Warp array; the rest is left as it is."""
    count = len(values)
    if not count:
        return
    view = getattr(destination, "axion_host_view", None)
    if view is None and destination.device.is_cpu:
        view = host_view(destination)
    if view is not None:
        view[:count] = values
        return
    staging(destination)[:count] = values
    send(destination, count)


def staging(array):
    """The NumPy array in which the host prepares what ``send`` hands to a Warp array; on the CPU its own memory.

    Ask for it anew before every ``send``.
    """
    return host_view(array) if array.device.is_cpu else mirror.to_write(array)


def send(array, count):
    """Hand the first ``count`` elements of ``staging(array)`` to the Warp array; nobody waits for it."""
    if not array.device.is_cpu:
        mirror.send(array, count)


def fetch(*wanted):
    """NumPy arrays of the first ``count`` elements, or of a table's columns, of each (array, count) on one device.

    To be read before any of them changes.  A CUDA device is waited for once, however many there are.
    """
    first = wanted[0][0]
    near = getattr(first, "axion_host_view", None) is not None or first.device.is_cpu
    views = [host_view(array) for array, _ in wanted] if near else mirror.fetch(wanted)
    pairs = zip(views, wanted, strict=True)
    return [view[:count] if array.ndim == 1 else view[:, :count] for view, (array, count) in pairs]


def look(source):
    """A Warp array as NumPy, to be read before it changes: on the CPU its very memory."""
    view = getattr(source, "axion_host_view", None)
    if view is not None:
        return view
    return host_view(source) if source.device.is_cpu else mirror.fetch(((source, source.size),))[0]


def download(source, count):
    """The first ``count`` elements of a Warp array as float64 or int NumPy of its own."""
    return download_all((source, count))[0]


def download_all(*wanted):
    """``download`` of each (array, count), with one wait for the device."""
    return [values.astype(np.float64) if values.dtype.char == "f" else values.copy() for values in fetch(*wanted)]


def first_number(source):
    """The first element of a Warp array of integers."""
    return int(look(source)[0])

# SPDX-License-Identifier: GPL-3.0-or-later
"""When two convex shapes in free flight touch first within a step, and where: pair by pair, on the host.

A shape is the hull of discs about one axis (points for boxes and hulls, two rims for a cylinder), and what is nearer to
that than a radius; see ``cores.py``.  The nearest places of two of them are found by Gilbert, Johnson and Keerthi's
method (1988) on their Minkowski difference, a point whose distance to the origin is known to be within LEAST of the
true one when it stops; the time by Newton's method on that distance, which halves where it went too far.
"""

import warp as wp

from .mathx.real import real_types
from .mathx.rotation import rotation_functions
from .predict import turned

exponential = rotation_functions(real_types(wp.float64)).exponential
mat43 = wp.types.matrix(shape=(4, 3), dtype=wp.float64)
zero, one, half = wp.constant(wp.float64(0.0)), wp.constant(wp.float64(1.0)), wp.constant(wp.float64(0.5))

LEAST = wp.constant(wp.float64(1e-12))  # of the pair's size: what a distance may still be too long by
CLOSE = wp.constant(
    wp.float64(5e-4)
)  # of the pair's size: as near shapes touch, and not so near that rounding turns normals
GRAZING = wp.constant(wp.float64(1e-2))  # share of its speed with which one comes nearer that but passes
AHEAD = wp.constant(wp.float64(2.0))  # times the surely free time: one that turns may have met and parted beyond
INSIDE = wp.constant(wp.float64(1e-10))  # share of each corner from which on a tetrahedron is taken to hold a place
MOST_PLACES = wp.constant(64)  # of the Minkowski difference; round rims take some 30
MOST_TIMES = wp.constant(512)
"""Looks at one pair in a step.  Each goes a share of the way that is left, the smaller the faster the two turn.
Of 5652 pairs in eleven scenes half took up to 10, six of 100 more than 40, and none more than 511."""


@wp.struct
class CoreArrays:
    """The cores of S shapes in their bodies' frames."""

    first: wp.array(dtype=wp.int32)  # (S + 1,) where each one's discs begin
    middle: wp.array(dtype=wp.vec3d)  # of the discs
    disc: wp.array(dtype=wp.float64)  # radius of each, square to the axis
    axis: wp.array(dtype=wp.vec3d)  # of each shape
    plane: wp.array(dtype=wp.int32)  # 1: a half-space below its disc's middle


@wp.struct
class FlightArrays:
    """Pairs of flying shapes: one element is side a of a pair, the next side b; planes are on side b."""

    count: wp.array(dtype=wp.int32)  # pairs
    step: wp.array(dtype=wp.float64)  # [s]
    shape: wp.array(dtype=wp.int32)
    center: wp.array(dtype=wp.vec3d)  # of mass, in the body's frame
    heart: wp.array(dtype=wp.vec3d)  # and in the world
    q: wp.array(dtype=wp.quatd)
    v: wp.array(dtype=wp.vec3d)
    w: wp.array(dtype=wp.vec3d)
    pull: wp.array(dtype=wp.vec3d)  # acceleration
    radius: wp.array(dtype=wp.float64)  # around the core
    rim: wp.array(dtype=wp.float64)  # speed that turning gives the farthest place [m/s]
    size: wp.array(dtype=wp.float64)  # of the smaller shape of the pair, at both its sides
    point: wp.array(dtype=wp.vec3d)  # out: of the core, in the body's frame
    normal: wp.array(dtype=wp.vec3d)  # out: world, from b to a; of the pair at side a, as all that follows
    time: wp.array(dtype=wp.float64)  # out
    apart: wp.array(dtype=wp.float64)  # out: distance then
    touches: wp.array(dtype=wp.int32)  # out: 1 where they do within the step; 2 where they are apart at its end


module = "axion_touch"
wp.get_module(module).options["max_unroll"] = 1  # unrolled, NVRTC takes three times as long for it
kernel = wp.kernel(module=module, enable_backward=False)


@wp.func(module=module)
def farthest(cores: CoreArrays, shape: int, direction: wp.vec3d):
    """The place of a core that is farthest along ``direction``, both in the body's frame."""
    axis = cores.axis[shape]
    across = direction - wp.dot(direction, axis) * axis
    length = wp.length(across)
    best = cores.first[shape]
    most = wp.float64(-wp.inf)
    for k in range(cores.first[shape], cores.first[shape + 1]):
        reach = wp.dot(direction, cores.middle[k]) + cores.disc[k] * length
        if reach > most:
            most = reach
            best = k
    place = cores.middle[best]
    if length > zero:
        place = place + (cores.disc[best] / length) * across
    return place


@wp.func(module=module)
def shared(w: mat43, shares: wp.vec4d):
    """The place with ``shares`` of the rows."""
    return shares[0] * w[0] + shares[1] * w[1] + shares[2] * w[2] + shares[3] * w[3]


@wp.func(module=module)
def nearer(w: mat43, this: wp.vec4d, other: wp.vec4d):
    """Of two places, the one that is nearer to the origin."""
    a = shared(w, this)
    b = shared(w, other)
    if wp.dot(a, a) <= wp.dot(b, b):
        return this
    return other


@wp.func(module=module)
def on_segment(w: mat43, i: int, j: int):
    """Shares (4,) in the place between two rows that is nearest to the origin."""
    way = w[j] - w[i]
    square = wp.dot(way, way)
    share = zero
    if square > zero:
        share = wp.clamp(-wp.dot(w[i], way) / square, zero, one)
    out = wp.vec4d()
    out[i] = one - share
    out[j] = share
    return out


@wp.func(module=module)
def on_triangle(w: mat43, i: int, j: int, k: int):
    """Shares (4,) in the place of a triangle that is nearest to the origin: of all its sides and its plane the best.

    To tell by signs which of them it is fails where the triangle is slender.
    """
    best = on_segment(w, i, j)
    side = int(0)
    while side < 2:  # no for: that would be unrolled, which takes the compiler seconds
        other = wp.where(side == 0, j, i)
        best = nearer(w, best, on_segment(w, k, other))
        side += 1
    normal = wp.cross(w[j] - w[i], w[k] - w[i])
    square = wp.dot(normal, normal)
    if square > zero:
        s_i = wp.dot(normal, wp.cross(w[j], w[k])) / square
        s_j = wp.dot(normal, wp.cross(w[k], w[i])) / square
        s_k = one - s_i - s_j
        if s_i > zero and s_j > zero and s_k > zero:
            inner = wp.vec4d()
            inner[i] = s_i
            inner[j] = s_j
            inner[k] = s_k
            best = nearer(w, inner, best)
    return best


@wp.func(module=module)
def on_simplex(w: mat43, count: int):
    """Shares (4,) of ``count`` places in the one nearest to the origin; all above 0 where it is inside of four."""
    if count == 1:
        return wp.vec4d(one, zero, zero, zero)
    if count == 2:
        return on_segment(w, 0, 1)
    volume = wp.dot(wp.cross(w[1] - w[0], w[2] - w[0]), w[3] - w[0])
    if count == 4 and volume != zero:
        inside = wp.vec4d(
            wp.dot(wp.cross(w[1], w[2]), w[3]), -wp.dot(wp.cross(w[2], w[3]), w[0]),
            wp.dot(wp.cross(w[3], w[0]), w[1]), -wp.dot(wp.cross(w[0], w[1]), w[2]),
        ) / volume  # fmt: skip
        if wp.min(wp.min(inside[0], inside[1]), wp.min(inside[2], inside[3])) > INSIDE:
            return inside
    best = wp.vec4d(one, zero, zero, zero)
    face = wp.where(count == 3, 3, 0)
    while face < 4:
        best = nearer(w, on_triangle(w, (face + 1) % 4, (face + 2) % 4, (face + 3) % 4), best)
        face += 1
    return best


@wp.func(module=module)
def nearest(
    cores: CoreArrays, a: int, b: int, origin_a: wp.vec3d, q_a: wp.quatd, origin_b: wp.vec3d, q_b: wp.quatd,
    size: wp.float64,
):  # fmt: skip
    """(place of core a, place of core b, in their bodies' frames, way from b to a): 0 where the cores overlap."""
    back_a = wp.quat_inverse(q_a)
    back_b = wp.quat_inverse(q_b)
    if cores.plane[b] == 1:
        up = turned(q_b, cores.axis[b])
        point = farthest(cores, a, turned(back_a, -up))
        place = origin_a + turned(q_a, point)
        height = wp.dot(up, place - origin_b - turned(q_b, cores.middle[cores.first[b]]))
        way = wp.max(height, zero) * up
        return point, turned(back_b, place - way - origin_b), way
    w = mat43()
    on_a = mat43()
    on_b = mat43()
    on_a[0] = cores.middle[cores.first[a]]
    on_b[0] = cores.middle[cores.first[b]]
    w[0] = origin_a + turned(q_a, on_a[0]) - origin_b - turned(q_b, on_b[0])
    shares = wp.vec4d(one, zero, zero, zero)
    count = int(1)
    way = w[0]
    rounds = int(0)
    going = bool(True)
    while going and rounds < MOST_PLACES:
        rounds += 1
        length = wp.length(way)
        if length <= LEAST * size:
            way = wp.vec3d()
            going = False
        if going:
            p_a = farthest(cores, a, turned(back_a, -way))
            p_b = farthest(cores, b, turned(back_b, way))
            new = origin_a + turned(q_a, p_a) - origin_b - turned(q_b, p_b)
            going = length - wp.dot(way, new) / length > LEAST * size
            w[count] = new
            on_a[count] = p_a
            on_b[count] = p_b
        if going:
            found = on_simplex(w, count + 1)
            inside = found[0] > zero and found[1] > zero and found[2] > zero and found[3] > zero
            better = shared(w, found)
            if inside:
                way = wp.vec3d()
                going = False
            elif wp.dot(better, better) < length * length:
                way = better
                kept = int(0)
                for k in range(count + 1):
                    if found[k] > zero:
                        w[kept] = w[k]
                        on_a[kept] = on_a[k]
                        on_b[kept] = on_b[k]
                        shares[kept] = found[k]
                        kept += 1
                for k in range(kept, 4):
                    shares[k] = zero
                count = kept
            else:  # what is left is rounding
                going = False
    place_a = wp.vec3d()
    place_b = wp.vec3d()
    for k in range(count):
        place_a = place_a + shares[k] * on_a[k]
        place_b = place_b + shares[k] * on_b[k]
    return place_a, place_b, way


@wp.func(module=module)
def velocity(f: FlightArrays, side: int, q: wp.quatd, point: wp.vec3d, time: wp.float64):
    """Of a point of the body, after ``time``."""
    return f.v[side] + time * f.pull[side] + wp.cross(f.w[side], turned(q, point - f.center[side]))


@kernel
def follow_pairs(f: FlightArrays, cores: CoreArrays):
    """Fill in what is marked ``out``."""
    pair = wp.tid()
    if pair >= f.count[0]:
        return
    i = 2 * pair
    j = i + 1
    step = f.step[0]
    size = f.size[i]
    around = f.radius[i] + f.radius[j]
    low = zero
    high = step
    time = zero
    f.touches[i] = 0
    rounds = int(0)
    going = bool(True)
    while going and rounds < MOST_TIMES:
        rounds += 1
        q_a = exponential(time * f.w[i]) * f.q[i]
        q_b = exponential(time * f.w[j]) * f.q[j]
        heart_a = f.heart[i] + time * (f.v[i] + half * time * f.pull[i])
        heart_b = f.heart[j] + time * (f.v[j] + half * time * f.pull[j])
        origin_a = heart_a - turned(q_a, f.center[i])
        origin_b = heart_b - turned(q_b, f.center[j])
        p_a, p_b, way = nearest(cores, f.shape[i], f.shape[j], origin_a, q_a, origin_b, q_b, size)
        length = wp.length(way)
        apart = length - around
        if length <= zero or apart < -CLOSE * size:
            high = time
            time = half * (low + high)
            going = time > low and time < high
        else:
            normal = way / length
            past = velocity(f, i, q_a, p_a, time) - velocity(f, j, q_b, p_b, time)
            closing = -wp.dot(normal, past)
            near = apart <= CLOSE * size
            if near or time >= step:
                going = False
                f.point[i] = p_a
                f.point[j] = p_b
                f.normal[i] = normal
                f.time[i] = time
                f.apart[i] = apart
                if not near:
                    f.touches[i] = 2
                elif time > zero and closing > GRAZING * wp.length(past):
                    f.touches[i] = 1
            else:
                low = time
                # No two places come nearer by more than this, which is why a pair that closes slowly is not passed by.
                fastest = wp.length(f.v[i] - f.v[j] + time * (f.pull[i] - f.pull[j])) + f.rim[i] + f.rim[j]
                fastest += step * wp.length(f.pull[i] - f.pull[j])
                gain = apart / fastest
                if closing > GRAZING * fastest:
                    gain = wp.min(apart / closing, AHEAD * apart / fastest)
                if low + gain < high:
                    time = low + gain
                elif high >= step:
                    time = step
                else:
                    time = half * (low + high)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Active bodies and their animation -> who moves them when: held throughout, let go, taken back, guided."""

import itertools

import bpy
import numpy as np

from ...solver import MotionPath, guide
from .. import conventions
from ..report import listed
from .motion import SAMPLES_PER_FRAME

EARLY = 0.05
"""Part of a sample interval before a release at which the path gets one more sample, see ``_with_end_slope``."""

QUICK = 0.5
"""Speed in m/s, shortly before a release where the animation rests, from which a throw may be meant."""
RESTS = 0.1
"""Part of that speed below which it counts as rest."""

LEAP = 8.0
"""Times the longest of the sample intervals before it in its frame, beyond which the last one before a release is a
jump and no motion: in curves with a key at each frame, easing that is as steep as Blender has it comes to 6."""
SPIN = 1.0
"""Speed in rad/s of such a jump from which a spin may come of it."""

FADED = 1e-6
"""Influence of a constraint that does nothing any more."""


def intervals(held):
    """[(first sample, first one free again)] of the runs of True in ``held`` (S,); at the end the latter is S."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], held, [False]]).astype(int)))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]


def held_path(item, metres, sampler, held):
    """(MotionPath, held (K, 2) [s] or None) of a body whose ``kinematic`` samples are ``held`` (S,), some True.

    Raises SceneError where it is no rigid motion while the body is held.
    """
    runs = intervals(held)
    count = len(sampler.times)
    chosen = np.zeros(count, bool)
    for first, last in runs:
        chosen[first : min(last + 1, count)] = True
    path = sampler.path(item, metres, chosen, still=True)
    number = np.cumsum(chosen) - 1
    for first, last in reversed(runs):
        if last < count and last - first >= 2:
            path = _with_end_slope(path, int(number[last]))
    beyond = 2.0 * sampler.times[-1] + 1.0  # a body that is not let go within the bake
    times = np.array([(sampler.times[a], sampler.times[b] if b < count else beyond) for a, b in runs])
    return path, None if runs[0][0] == 0 and len(runs) == 1 else times


def go_on(item, sampler, held):
    """Let what a constraint carries keep its way up to the release where the constraint is switched off in that frame.

    With its Influence keyed to 0 at the frame of the release the object is already back where its own channels put it:
    a jump, that is no motion of the hand.  Known by its cause and not by its size, so it holds at every scale: a frame
    before the release the influence was on and steady, and at the release it is off.  Keys lie at whole frames, so
    whatever is between is how Blender blends the two.  An influence that fades for longer moves the object as it says.

    Changes the samples of the object.  Returns the numbers of those at such releases.
    """
    if item.name_full not in sampler.tracks:
        return []
    track = sampler.tracks[item.name_full][1]
    matrices, reins, done = track.matrices, np.array(track.reins), []
    for _, last in intervals(held):
        if last == len(held) or not reins.size:
            continue
        kept = _last_carried(reins, last)
        start = max(kept - 2, 0)
        seen = np.array(matrices[start : kept + 1])
        if kept in (last, start) or not conventions.is_solid(seen).all():
            continue
        poses, _ = conventions.decompose_many(seen)
        path = MotionPath(sampler.times[start : kept + 1], poses.position, poses.orientation)
        speed, before = (np.array(path.velocity(path.times[at])) for at in (-1, 1))
        for number in range(kept + 1, last + 1):  # as fast as at ``kept``, and as fast as it changes there
            time = sampler.times[number] - sampler.times[kept]
            tick = path.times[-1] - path.times[-2]
            moved, turned = time * speed + 0.5 * time * (time + tick) / tick * (speed - before)
            turn = conventions.rotation_matrix(conventions.rotation_of_vector(turned))
            matrices[number] = seen[-1].copy()
            matrices[number][:3, :3] = turn @ seen[-1][:3, :3]
            matrices[number][:3, 3] += moved
        done.append(last)
    return done


def _last_carried(reins, last):
    """The last sample before a release at ``last`` at which all that is off there was still on, or ``last`` itself."""
    base = max(last - SAMPLES_PER_FRAME, 0)
    off = (reins[base] > FADED) & (reins[last] <= FADED)
    steady = np.isclose(reins[:, off], reins[base, off]).all(axis=1)
    if not off.any() or not steady[max(base - 1, 0)]:
        return last
    return base + int(np.argmin(steady[base : last + 1])) - 1


def leaps(item, metres, sampler, held):
    """Sentences on releases of a body where its animation jumps, so that the jump becomes its speed."""
    if item.name_full not in sampler.tracks:
        return []
    matrices, found = np.array(sampler.tracks[item.name_full][1].matrices), []
    tick = sampler.times[1] - sampler.times[0]
    for first, last in intervals(held):
        seen = matrices[max(first, last - SAMPLES_PER_FRAME) : last + 1]
        if last == len(held) or last - first < 2 or not conventions.is_solid(seen).all():
            continue
        poses, _ = conventions.decompose_many(seen)
        path = MotionPath(tick * np.arange(len(seen)), poses.position, poses.orientation)
        ways = metres * np.linalg.norm(np.diff(path.position, axis=0), axis=1)
        for gone, least, unit in ((ways, QUICK, "m"), (path.turns(), SPIN, "rad")):
            if gone[-1] > max(LEAP * gone[:-1].max(), least * tick):
                found.append(
                    f"{item.name} is let go at frame {sampler.frames[last]:g}, at which its animation jumps by "
                    f"{gone[-1]:.2g} {unit}, so it flies off at {gone[-1] / tick:.2g} {unit}/s: key the jump a frame "
                    "later, or Animated off a frame earlier"
                )
                break
    return found


def dropped(item, metres, sampler, held, switched=()):
    """Sentences on releases of a body where its animation has just come to rest, so that it is dropped, not thrown.

    Eased keys come to rest at the last one, and Blender's own rigid bodies, which heed the switch a frame earlier and
    take the mean velocity of the frame before, throw a body there all the same.  switched: samples of releases after
    which the object is elsewhere, as ``go_on`` tells.
    """
    if item.name_full not in sampler.tracks:
        return []
    track = sampler.tracks[item.name_full][1]
    place = metres * np.array(track.matrices)[:, :3, 3]
    step, found, reins = SAMPLES_PER_FRAME, [], np.array(track.reins)
    tick = sampler.times[1] - sampler.times[0]

    def velocity(first, last):
        return (place[last] - place[first]) / ((last - first) * tick)

    for first, last in intervals(held):
        if last - first < step or last + step >= len(place):
            continue
        starts = range(last - step, max(first, last - 2 * step) - 1, -step)
        before = max(np.linalg.norm(velocity(start, start + step)) for start in starts)
        slope = 1.5 * velocity(last - 1, last) - 0.5 * velocity(last - 2, last - 1)
        after = velocity(last, last + step) if last not in switched else slope
        if before > QUICK and max(np.linalg.norm(slope), np.linalg.norm(after)) < RESTS * before:
            when = f"{sampler.frames[last]:g}"
            told = (
                f"where its animation has come to rest from {before:.2g} m/s, so it drops: to throw it, key Animated "
                "off where it still moves (eased keys rest at the last one)"
            )
            slipped = _slipped(item, reins, max(first, last - 2 * step), last)
            if slipped:
                told = (
                    f"but {listed(slipped, 3)}, which carried it, let go of it before, so it drops from where its own "
                    f"keys have it: key Influence to 0 at frame {when} or later"
                )
            found.append(f"{item.name} is let go at frame {when}, {told}")
    return found


def _slipped(item, reins, start, last):
    """Names of constraints that act at sample ``start`` and are off at ``last`` and in the interval before it."""
    if not reins.size:
        return []
    off = (reins[start] > FADED) & (reins[last - 1 : last + 1] <= FADED).all(axis=0)
    return [item.constraints[number].name for number in np.flatnonzero(off)]


def _with_end_slope(path, at):
    """The path with one more sample just before sample ``at``, so that it ends in the slope of the curve.

    Between samples a path is straight, so at its end it has the velocity of half an interval before.
    """
    times = path.times[at - 1 : at + 1]
    linear, angular = (
        1.5 * now - 0.5 * before for now, before in zip(path.velocity(times[1]), path.velocity(times[0]), strict=True)
    )
    early = EARLY * (times[1] - times[0])
    place = path.position[at] - early * linear
    back = conventions.rotation_matrix(conventions.rotation_of_vector(-early * angular))
    turn = conventions.quaternion(back @ conventions.rotation_matrix(path.orientation[at]))
    return MotionPath(
        np.insert(path.times, at, times[1] - early),
        np.insert(path.position, at, place, axis=0),
        np.insert(path.orientation, at, turn, axis=0),
    )


def add_guide(scene, made, item, metres, sampler):
    """Give solver Body ``made`` of an object the guide that its properties describe.  scene: solver.Scene."""
    own = item.axion
    limits = (own.guide_max_force, own.guide_max_torque) if own.use_guide_limit else (np.inf, np.inf)
    path = sampler.path(item, metres, still=True)
    springs = own.guide_stiffness, own.guide_damping, own.guide_angular_stiffness, own.guide_angular_damping
    guide(scene, made, path, *springs, *limits, name=_free_name(scene, f"Guide of {made.name}"))


def _free_name(scene, wanted):
    """``wanted``, or with a number behind it where a body of ``scene`` or any object, perhaps a joint, is called so."""
    taken = {body.name for body in scene.bodies} | {item.name_full for item in bpy.data.objects}
    names = itertools.chain([wanted], (f"{wanted} {number}" for number in itertools.count(2)))
    return next(name for name in names if name not in taken)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that hang on contacts: links of a chain, rings, hooks.

Contacts push at the levers r and along the normals of a step's start.  What pulls a body outward, f . r > 0 summed over
what presses on it, holds its turn like a spring, of the geometric stiffness

    k = (r . f) 1 - (r f^T + f r^T) / 2        f: normal force at r, both in the body's axes; summed over its contacts

and levers of the start make that spring explicit: a step h grows any swing of which h^2 k / I is above 4, by a factor
of up to that.  A link of 0.1 kg above 5 kg reaches 100 at 24 frames a second: chains at rest began to shake by
themselves, at 9 rad/s after five frames, and never stopped.  Joints have their levers at the end of the step, and
Newton their stiffness (linear/stiffness.py).  Here the stiffness of the load that the last step left is taken along in
the step, by Newmark's method,

    (I + beta h^2 k) (w+ - w-) = J^T p

which is stable at any step for beta of 1/4 and more, and neither damps nor drives.  What a step can follow stays
as it was: only what h^2 k has above I counts.  Energies are those of I alone.
"""

import numpy as np

from .flags import places, some
from .gliding import whole_impulses
from .rotations import conjugate, rotate
from .shapes import TriangleMesh
from .vectors import inner

BETA = 0.5  # twice what is needed: the load may double in a step, and links that share a contact turn it together


def hangs(bodies):
    """(B + 1,) bool: scene bodies, and the world, that contacts can pull outward; None: no body.

    Not those of one convex shape: it lies behind what pushes it.
    """
    may = [body.motion != "static" and _is_concave(body) for body in bodies]
    return np.append(may, False) if any(may) else None


def _is_concave(body):
    parts = [part for shape in body.shapes for part in shape.parts()]
    return len(parts) > 1 or any(isinstance(part, TriangleMesh) for part in parts)


def lever_inertia(problem, hangs, number):
    """(B, 3) ``Bodies.lever_inertia`` of a StepProblem whose start impulses are those of the last step [kg m^2]; None
    where nothing hangs so stiffly.

    hangs: (B + 1,) bool as from ``hangs``, or None; number: Numbering.
    """
    if hangs is None or not len(problem.contacts):
        return None
    may = hangs[number.scene]
    touches, bodies, n, h = problem.contacts, problem.bodies, problem.bodies.dynamic_count, problem.step
    index = places(may.take(touches.body_a) | may.take(touches.body_b))
    if not len(index):
        return None
    normal, moment = touches.normal[index], np.zeros((len(bodies.mass), 3))
    load = inner(normal, whole_impulses(problem, touches.impulse[index], index))
    force = (np.maximum(load, 0.0) / h)[:, None] * normal
    for body, point, sign in ((touches.body_a, touches.point_a, 1.0), (touches.body_b, touches.point_b, -1.0)):
        body = body[index]
        np.add.at(moment, body, point[index] * rotate(conjugate(bodies.orientation[body]), sign * force))
    pull = moment[:n].sum(axis=1)
    out = may[:n] & (pull > 0.0)
    if bodies.spin is not None:
        out &= ~bodies.spin[:n].any(axis=1)  # they turn freely with what they have (spinning.py)
    if not some(out):
        return None
    # Of k the diagonal: of a lever aslant to the axes that is half of it, as much as BETA has to spare.
    excess = np.where(out[:, None], h * h * (pull[:, None] - moment[:n]) - bodies.inertia[:n], 0.0)
    if not some(excess > 0.0):
        return None
    added = np.zeros_like(moment)
    added[:n] = BETA * np.maximum(excess, 0.0)
    return added

# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds all that is wrong with a scene.  Nothing is repaired: each problem names object, value, limit and cure."""

from collections import Counter

from .checker import Checker, Problem
from .errors import SceneError, shown
from .force_fields import ForceField
from .materials import COMBINE
from .scene import Body, Joint, Scene
from .validate_bodies import check_body
from .validate_fields import check_field
from .validate_joints import check_joint

__all__ = ["Problem", "raise_if_invalid", "validate"]

MOST_GRAVITY = 1e9
"""Gravity [m/s^2] beyond this moves what lies by the rounding of its weight."""


def validate(scene):
    """Every problem of the scene, in its order; an empty list when it can be simulated."""
    problems = []
    scene_says = Checker("Scene", problems)
    if not isinstance(scene, Scene):
        scene_says.problem(f"it is {shown(scene)}: give a Scene")
        return problems
    scene_says.vector("gravity", scene.gravity, 3, most=MOST_GRAVITY, unit="m/s^2")
    scene_says.choice("friction_combine", scene.friction_combine, COMBINE)
    scene_says.choice("restitution_combine", scene.restitution_combine, COMBINE)
    kinds = (("body", scene.bodies, Body), ("joint", scene.joints, Joint), ("field", scene.fields, ForceField))
    for kind, things, cls in kinds:
        if not isinstance(things, list):
            plural = {"body": "bodies", "joint": "joints", "field": "fields"}[kind]
            scene_says.problem(f"its {plural} are {shown(things)}: give a list")
            return problems
        for thing in things:
            if not isinstance(thing, cls):
                scene_says.problem(
                    f"the list of bodies, joints or fields holds {shown(thing)}, which is no {cls.__name__}"
                )
        names = Counter(str(thing.name) for thing in things if isinstance(thing, cls))
        for name, count in names.items():
            if count > 1:
                Checker(name, problems).problem(f"{count} things share this {kind} name: give each its own")
    bodies = {body.name: body for body in scene.bodies if isinstance(body, Body) and isinstance(body.name, str)}
    for number, body in enumerate(scene.bodies, 1):
        if isinstance(body, Body):
            check_body(Checker(_called(body, "body", number), problems), body)
    for number, joint in enumerate(scene.joints, 1):
        if isinstance(joint, Joint):
            check_joint(Checker(_called(joint, "joint", number), problems), joint, bodies)
    for number, field in enumerate(scene.fields, 1):
        if isinstance(field, ForceField):
            check_field(Checker(_called(field, "field", number), problems), field, bodies)
    return problems


def _called(thing, kind, number):
    """What messages call a body, joint or field of the scene: by its number where its name says nothing."""
    nameless = isinstance(thing.name, str) and not thing.name
    return f"{kind} number {number}" if nameless else thing.name


def raise_if_invalid(scene):
    """Raises SceneError with the first problem as its message and all of them in ``problems``."""
    problems = validate(scene)
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise SceneError(f"{problems[0]}{more}", problems)

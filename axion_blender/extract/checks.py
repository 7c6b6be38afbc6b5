# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be said about a scene before anything is evaluated: who takes part, and what cannot be carried."""

import math
from contextlib import contextmanager

import bpy

from ...solver import Problem, SceneError
from .. import compat
from . import motion

LAST_FRAME = 1048574
"""Blender's MAXFRAME; its first frame is the negative of it.  Beyond, it plays the frame at the end."""
PLACES = "location", "rotation", "scale", "delta_"
"""How the data paths of an object's place begin."""


class Problems:
    """Collects problems: ``found`` is a list of solver.Problem."""

    def __init__(self):
        self.found = []

    @contextmanager
    def of(self, item):
        """Turns a SceneError about ``item`` into a problem, and goes on."""
        try:
            yield
        except SceneError as error:
            name, separator, message = str(error).partition(": ")
            self.add(*((name, message) if separator else (item.name, str(error))))

    def add(self, name, message):
        """Adds one problem of the object of that name, which may be a body and a joint, once."""
        problem = Problem(name, message)
        if problem not in self.found:
            self.found.append(problem)

    def stop(self, warnings=()):
        """Raises SceneError where there are problems: the first as its message, all in ``problems``.

        warnings: sentences for whoever catches it.
        """
        if self.found:
            more = f" (and {len(self.found) - 1} more)" if len(self.found) > 1 else ""
            raise SceneError(f"{self.found[0]}{more}", self.found, warnings)


def frame_range(scene):
    """(first, last) frame of the bake."""
    settings = scene.axion
    if settings.use_frame_range:
        return settings.frame_start, settings.frame_end
    return scene.frame_start, scene.frame_end


def animated_gravity(scene):
    """[(property, words that follow the scene's name)] of what is animated of its gravity and not followed."""
    names = sorted(compat.played_paths(scene) & {"gravity", "use_gravity"})
    return [(name, f"animates {name}, which is read at the first frame only") for name in names]


def compound_parts(view_layer):
    """[(object whose shape belongs to another body, that body's object)]; of compounds in compounds the outermost."""
    layer, found = set(view_layer.objects), []
    for item in view_layer.objects:
        owner = item
        while owner.axion.enabled and _is_compound(owner.parent, layer):
            owner = owner.parent
        if owner != item:
            found.append((item, owner))
    return found


def _is_compound(item, layer):
    return item is not None and item in layer and item.axion.enabled and item.axion.collision_shape == "COMPOUND"


def check(scene, view_layer, items, problems, warnings):
    """Looks at the bodies ``items`` of a scene; adds to ``problems`` and ``warnings``."""
    if scene.library is not None:
        problems.add(scene.name, f"the scene is linked from {scene.library.filepath}: open that file to bake it")
        return
    first, last = frame_range(scene)
    if last <= first:
        problems.add(scene.name, f"the frame range {first} to {last} holds no frame to simulate: end it later")
    if min(first, last) < -LAST_FRAME or max(first, last) > LAST_FRAME:
        problems.add(
            scene.name,
            f"the frame range {first} to {last} leaves Blender's own, {-LAST_FRAME} to {LAST_FRAME}: move it there",
        )
    for owner, name in ((scene.render, "fps"), (scene.render, "fps_base"), (scene.axion, "time_scale")):
        value = getattr(owner, name)
        if not (math.isfinite(value) and value > 0.0):
            problems.add(scene.name, f"its {name} is {value:g}: give a finite number above 0")
    old, new = scene.render.frame_map_old, scene.render.frame_map_new
    if old != new:  # keys would play at other frames than those they were solved for
        problems.add(
            scene.name,
            f"its Time Stretching plays {old} frames in the time of {new}, so keys would not play as they are solved: "
            "set Old and New to the same number, and use Axion's Speed for slow motion",
        )
    if bpy.app.autoexec_fail:  # Blender draws it as a banner, which nobody sees in the background
        warnings.append(
            f"{scene.name}: Blender was not allowed to run the Python in this file, so what it moves stands still "
            f"({bpy.app.autoexec_fail_message}): start it with --enable-autoexec, or allow execution when it asks"
        )
    instanced = _instance_warnings(view_layer)
    warnings += instanced
    native = scene.rigidbody_world
    has_native = native is not None and native.collection is not None and len(native.collection.all_objects) > 0
    if not items and has_native:
        problems.add(
            scene.name,
            "the scene has no Axion bodies but rigid bodies of Blender's own: convert them (Convert Rigid Bodies in "
            "the sidebar, --convert-native on the command line)",
        )
    elif not items and instanced:
        problems.add(
            scene.name,
            "the scene has no Axion bodies but those that are instanced, and only real objects are simulated: make the "
            "instances real (Object > Apply > Make Instances Real)",
        )
    elif not items:
        problems.add(scene.name, "the scene has no Axion bodies: select objects and add them (Object > Axion)")
    for item in items:
        if not motion.stands(item) and not item.is_editable:
            problems.add(
                item.name, "it is linked from another file, so it cannot hold keys: make a library override of it"
            )
        _check_leaders(item, problems)
        if not motion.stands(item) and _grows(item, first, last):
            warnings.append(f"{item.name} has an animated scale: its shape stays as large as at the first frame")
    for item in view_layer.objects:
        warnings += _unplayed(item) + _driven_by_bodies(item)
    for item in scene.objects:
        if item.is_missing:
            library = item.library.filepath if item.library is not None else "another file"
            warnings.append(f"{item.name} was not found in {library}: what it was takes no part")
    for part, parent in compound_parts(view_layer):
        if compat.is_animated(part) or len(part.constraints):
            warnings.append(f"{part.name} is a part of {parent.name}: it stays where it is in it at the first frame")
    layer = set(view_layer.objects)
    for item in scene.objects:
        if (item.axion.enabled or item.axion_joint.enabled) and item not in layer:
            warnings.append(f"{item.name} lies in a collection that is excluded from the view layer: it takes no part")
    if has_native and native.enabled:
        warnings.append(f"{scene.name} also runs Blender's own rigid body world: switch it off, or convert it to Axion")


def _grows(item, first, last):
    """Whether keys change the scale of an object in a range of frames, or a driver may."""
    if any(driver.data_path == "scale" for driver in compat.drivers_of(item)):
        return True
    return any(change[0] == "scale" for change in motion.changes_of_scale(item, first, last))


def _unplayed(item):
    """Sentences on curves of settings that cannot be keyed in Blender; a script may make them all the same."""
    found = []
    for path in sorted(compat.played_paths(item)) if item.animation_data is not None else ():
        group, _, name = path.partition(".")
        if group in ("axion", "axion_joint") and getattr(item, group).enabled:
            owner = getattr(item, group)
            prop = owner.bl_rna.properties.get(name)
            if prop is not None and not prop.is_animatable:
                value = getattr(owner, name)
                stays = f", it stays {value:g}" if isinstance(value, float) else ""
                found.append(
                    f"{item.name} has an F-curve of {path}, which neither Blender nor Axion follows{stays}: "
                    "only Animated and the targets of motors can be keyed"
                )
    return found


def _driven_by_bodies(item):
    """Sentences on drivers of what the bake reads of an object, and of what it follows, that read simulated bodies."""
    found = []
    for owner, curve in _drivers_that_count(item):
        targets = (target.id for variable in curve.driver.variables for target in variable.targets)
        bodies = (at for at in targets if isinstance(at, bpy.types.Object) and motion.may_be_free(at))
        leader = next(bodies, None)
        if leader is not None:
            found.append(
                f"{owner.name}: a driver of its {curve.data_path} reads {leader.name}, which the simulation moves: the "
                f"bake takes what it gives where {leader.name} stands without it; join the two instead"
            )
    return found


def _drivers_that_count(item):
    """(object, F-curve) of each driver of what the bake reads of an object, and of the place of what it follows."""
    if not (item.axion.enabled or item.axion_joint.enabled or (item.field is not None and item.field.type != "NONE")):
        return
    settings = "axion.kinematic", "axion_joint.", "field."
    if item.axion.enabled and not motion.stands(item) and not motion.follows_animation(item):  # the simulation's place
        yield from ((item, curve) for curve in compat.drivers_of(item) if curve.data_path.startswith(settings))
        return
    for owner in (item, *motion.leaders(item)):
        read = (*PLACES, *settings) if owner == item else PLACES
        yield from ((owner, curve) for curve in compat.drivers_of(owner) if curve.data_path.startswith(read))
        keys = getattr(owner.data, "shape_keys", None)
        shaping = compat.drivers_of(keys) if keys is not None else ()
        yield from ((owner, curve) for curve in shaping if curve.data_path.startswith("key_blocks"))


def _instance_warnings(view_layer):
    """Sentences on the instances of bodies, one a collection: like Blender's own, they are shown and not simulated."""
    shows, found = {}, []
    for item in view_layer.objects:
        if item.instance_type == "COLLECTION" and item.instance_collection is not None:
            shows.setdefault(item.instance_collection, []).append(item.name)
        elif item.instance_type in ("VERTS", "FACES"):
            inside = next((child for child in item.children if child.axion.enabled), None)
            if inside is not None:
                found.append(f"{item.name} instances the body {inside.name} on its {item.instance_type.lower()}")
    for collection, names in shows.items():
        inside = next((item for item in _instanced(collection) if item.axion.enabled), None)
        if inside is not None:
            who = names[0] if len(names) == 1 else f"{names[0]} (and {len(names) - 1} more like it)"
            found.append(f"{who} instances collection {collection.name} with the body {inside.name}")
    cure = "to let each move or collide, make them real (Object > Apply > Make Instances Real)"
    return [f"{who}: instances are shown but take no part, only real objects do; {cure}" for who in found]


def _instanced(collection, seen=None):
    """Objects of a collection and of the collections that it instances."""
    seen = seen or set()
    if collection.name_full in seen:
        return
    seen.add(collection.name_full)
    for item in collection.all_objects:
        yield item
        if item.instance_type == "COLLECTION" and item.instance_collection is not None:
            yield from _instanced(item.instance_collection, seen)


def _check_leaders(item, problems):
    """A body that stands or follows its animation must not follow one that the simulation moves."""
    if not motion.stands(item) and not motion.follows_animation(item):
        return
    for leader in motion.leaders(item):
        if motion.may_be_free(leader):
            problems.add(
                item.name,
                f"it follows {leader.name}, which the simulation moves: make it active and join the two, "
                f"or make it a part of {leader.name} with the shape Compound Parent",
            )
            return

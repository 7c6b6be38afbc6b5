# SPDX-License-Identifier: GPL-3.0-or-later
"""A Blender scene -> solver.Scene, with what the writers and the report need to find the way back.

Lengths are Blender units times the scene's unit scale, as its panels show them, and so are gravity, velocities and
masses (times the cube).  So the unit scale alone never changes the motion in Blender units, but it does change what a
tolerance in metres means.  Forces, stiffnesses, compliances and densities are SI as they stand.
"""

from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass

import bpy

from ...solver import ConvexHull, Scene, SceneError, validate
from .. import conventions
from ..showing import shown
from ..slices import run_through
from . import bodies, checks, deforming, fields, geometry, hand_over, holding, joints, motion, reshaping
from .convex_meshes import keep_rooms
from .meshes import Cook

READ, PLAYED = 0.4, 0.8
"""Parts of the work done when the bodies are read, and when the frames are played."""
POSES = 256
"""World matrices taken apart at a time."""


@dataclass
class Extraction:
    """What was read.

    Attributes:
        scene: solver.Scene; each body's frame is its object's world matrix without scale, at ``frame_start``.
        bodies: body name -> object name, in the scene's order (they differ only for linked objects).
        simulated: names of the bodies that the simulation moves: the objects that get keys.
        frame_start, frame_end: the simulation starts at the one and takes ``frames`` frames to the other.
        fps: frames per second of simulated time: the scene's frame rate over the simulation's speed.
        scale_length: metres per Blender unit.
        warnings: sentences that name an object.
    """

    scene: Scene
    bodies: dict
    simulated: tuple
    frame_start: int
    frame_end: int
    fps: float
    scale_length: float
    warnings: list

    @property
    def frames(self):
        """Frames to simulate after the first."""
        return self.frame_end - self.frame_start

    def objects(self, scene):
        """{body name: Object} of the simulated bodies in Blender scene ``scene``."""
        found = {item.name_full: item for item in scene.objects}
        return {name: found[name] for name in self.simulated}


def extract_scene(context_or_scene, depsgraph=None):
    """Read the Axion bodies and joints of a Blender scene.  Main thread only.

    context_or_scene: a Context, or a Scene (its first view layer, or the current one where it is the current scene).
    depsgraph: of that view layer.  Plays the frame range where something moves by itself, and returns to the current
    frame.  Baked keys of an earlier bake are read like any others: take them back first.

    Returns:
        Extraction.

    Raises:
        SceneError: one sentence that names the object; ``problems`` holds all that was found.
    """
    return run_through(extraction_slices(context_or_scene, depsgraph))


def extraction_slices(context_or_scene, depsgraph=None, say=lambda line: None):
    """``extract_scene`` as a generator: yields the part done, 0 to 1, and returns the Extraction.

    say: called with what takes long, a line.

    Between two slices the scene stands at some frame of the range: nobody may edit it; what plays the animation may
    change its frame.  Closing puts it back.
    """
    scene, view_layer = _layer(context_or_scene)
    depsgraph = depsgraph or _depsgraph(scene, view_layer)
    now = scene.frame_current, scene.frame_subframe
    with ExitStack() as restored:
        restored.callback(_go_back, scene, *now)
        wanted = [item for item in view_layer.objects if item.axion.enabled or item.axion_joint.enabled]
        restored.enter_context(shown(view_layer, wanted))
        restored.enter_context(geometry.prepared([i for i in view_layer.objects if i.axion.enabled], view_layer))
        return (yield from _at_its_frame(scene, _Reader(scene, view_layer, depsgraph, say).read()))


def _at_its_frame(scene, slices):
    """The same generator, each slice of which finds the scene at the frame at which the one before left it."""
    while True:
        try:
            done = next(slices)
        except StopIteration as end:
            return end.value
        now = scene.frame_current, scene.frame_subframe
        yield done
        _go_back(scene, *now)


def _grow_hulls(bodies):
    """Find the faces of all hulls in slices; those that have none are the business of ``validate``."""
    hulls = {id(shape): shape for made in bodies for shape in made.shapes if isinstance(shape, ConvexHull)}
    for shape in hulls.values():
        yield 1.0
        with suppress(SceneError):
            for _ in shape.growing():
                yield 1.0


def _go_back(scene, frame, subframe):
    if (scene.frame_current, scene.frame_subframe) != (frame, subframe):  # a viewport draws all anew after a frame_set
        scene.frame_set(frame, subframe=subframe)


def _layer(context_or_scene):
    if isinstance(context_or_scene, bpy.types.Scene):
        scene = context_or_scene
        current = bpy.context.scene == scene
        return scene, bpy.context.view_layer if current else scene.view_layers[0]
    return context_or_scene.scene, context_or_scene.view_layer


def _depsgraph(scene, view_layer):
    if bpy.context.view_layer == view_layer:
        return bpy.context.evaluated_depsgraph_get()
    if view_layer.depsgraph is None:
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    return view_layer.depsgraph


class _Reader:
    """One extraction.  What is wrong is collected in ``problems``, so that an artist sees everything at once."""

    def __init__(self, scene, view_layer, depsgraph, say):
        self.scene, self.view_layer, self.depsgraph = scene, view_layer, depsgraph
        self.settings = scene.axion
        self.metres = conventions.metres_per_unit(scene.unit_settings.system, scene.unit_settings.scale_length)
        self.first, self.last = checks.frame_range(scene)
        self.fps = scene.render.fps / scene.render.fps_base / self.settings.time_scale
        self.problems, self.warnings, self.cook = checks.Problems(), [], Cook(depsgraph, self.metres, say)
        self.meshes = {}  # of bodies that collide as solids: {name: their shapes as they are}
        self.parts = checks.compound_parts(view_layer)
        lent = {part.name_full for part, _ in self.parts}
        self.items = [item for item in view_layer.objects if item.axion.enabled and item.name_full not in lent]
        self.joints = [item for item in view_layer.objects if item.axion_joint.enabled]

    def read(self):
        yield 0.0
        checks.check(self.scene, self.view_layer, self.items, self.problems, self.warnings)
        self.problems.stop(self.warnings)  # before what takes long, such as taking meshes apart
        self.warnings += reshaping.warnings(self.items)
        yield 0.0
        for item in self.joints:
            item.update_tag()  # Blender does not copy add-on properties to evaluated objects when they are set
        reshaped = reshaping.go_to(self.scene, self.view_layer, self.first)
        yield 0.0
        self.warnings += yield from self._deforming(reshaped)
        sampler = motion.Sampler(self.scene, self.depsgraph, self.first, self.last, self.fps, reshaped)
        starts = yield from self._read_bodies(sampler)
        ends = self._read_joints(sampler)
        winds = fields.effectors(self.scene, self.view_layer)
        fields.watch(winds, sampler)
        self.problems.stop(self.warnings)
        for part in sampler.play():
            yield READ + (PLAYED - READ) * part
        if sampler.plays:  # what is read from here on is that of the first frame, not of the last
            self.scene.frame_set(self.first)
        result = self._new_scene()
        for number, (item, pose, shapes) in enumerate(starts):
            yield PLAYED + (1.0 - PLAYED) * number / len(starts)
            with self.problems.of(item):
                result.add(self._body(item, pose, shapes, sampler))
        keep_rooms(result.bodies, self.meshes)
        yield 1.0
        found = {item.name_full: item for item, _, _ in starts}
        for made in list(result.bodies):
            item = found[made.name]
            if made.motion == "dynamic" and item.axion.use_guide:
                with self.problems.of(item):
                    hand_over.add_guide(result, made, item, self.metres, sampler)
        names = self._names()
        for item, start in ends:
            with self.problems.of(item):
                result.add(joints.joint(item, names, start, sampler, self.metres))
        reader = fields.FieldReader(self.scene, sampler, self.metres, {made.name: made for made in result.bodies})
        for item in winds:
            made = reader.field(item, self.warnings)
            if made is not None:
                result.add(made)
        yield 1.0
        if self.problems.found:  # what hangs on a body that could not be read is no problem of its own
            read = {made.name for made in result.bodies} | {None}
            result.joints = [made for made in result.joints if {made.body_a, made.body_b} <= read]
        yield from _grow_hulls(result.bodies)
        self.problems.found += validate(result)
        self.problems.stop(self.warnings)
        return Extraction(
            scene=result,
            bodies={item.name_full: item.name for item in self.items},
            simulated=tuple(made.name for made in result.bodies if made.motion == "dynamic"),
            frame_start=self.first,
            frame_end=self.last,
            fps=self.fps,
            scale_length=self.metres,
            warnings=self.warnings,
        )

    def _deforming(self, reshaped):
        """``reshaping.deforming`` for what moves freely and has one of the names ``reshaped``."""
        shaped = [*((item, item) for item in self.items), *self.parts]
        free = [
            part
            for part, owner in shaped
            if part.name_full in reshaped
            and motion.shows_deforming(part)
            and motion.may_be_free(owner)
            and not motion.may_be_held(owner)  # refused, as its motion would not be rigid
        ]
        return reshaping.deforming(self.scene, self.depsgraph, free, self.first, self.last)

    def _read_bodies(self, sampler):
        """[(object, Pose, shapes)] at the first frame, in slices; tells the sampler what to watch."""
        children = {}
        for part, parent in self.parts:
            children.setdefault(parent.name_full, []).append(part)
        starts = []
        for number, item in enumerate(self.items):
            yield READ * number / len(self.items)
            if number % POSES == 0:
                poses = bodies.world_poses(self.items[number : number + POSES], self.depsgraph)
            with self.problems.of(item):
                pose = poses[number % POSES] or bodies.world_pose(item, self.depsgraph)
                own = item, children.get(item.name_full, ()), pose, self.cook
                with closing(bodies.take_apart(*own)) as slices:
                    for _ in slices:
                        yield READ * number / len(self.items)
                shapes = bodies.shapes_of(*own)
                starts.append((item, pose, shapes))
                if self.settings.output == "KEYFRAMES" and motion.may_be_free(item):
                    holding.check(item, self.depsgraph, self.first, self.last, self.warnings)
                if motion.stands(item) or motion.follows_animation(item):
                    sampler.watch(item, keep_vertices=deforming.may_deform(item))
        self.warnings += self.cook.notes
        return starts

    def _read_joints(self, sampler):
        """[(object, joints.Start)] at the first frame; tells the sampler what to watch."""
        starts = []
        for item in self.joints:
            with self.problems.of(item):
                starts.append((item, joints.start(item, self.depsgraph)))
                joints.watch(item, sampler)
        return starts

    def _names(self):
        """{object's full name: name of the body it belongs to}."""
        names = {item.name_full: item.name_full for item in self.items}
        return names | {part.name_full: parent.name_full for part, parent in self.parts}

    def _new_scene(self):
        self.warnings += [f"{self.scene.name} {words}" for _, words in checks.animated_gravity(self.scene)]
        pull = self.settings.gravity_factor * self.metres if self.scene.use_gravity else 0.0
        return Scene(
            gravity=[pull * component for component in self.scene.gravity],
            friction_combine=self.settings.friction_combine.lower(),
            restitution_combine=self.settings.restitution_combine.lower(),
        )

    def _body(self, item, pose, shapes, sampler):
        """The solver.Body of an object; what ties it to its animation stands in ``hand_over``."""
        held = None
        bent = deforming.deformed(item, shapes[0], self.metres, sampler) if deforming.may_deform(item) else None
        if bent is not None:
            kind, path, shapes = "static", bent[1], [bent[0]]
        elif motion.stands(item):
            kind, path = "static", sampler.path(item, self.metres)
        else:
            kind, path, held = self._active(item, sampler)
        if kind == "static" and path is not None:
            kind = "kinematic"
        if path is not None:
            self.warnings += motion.whirls(item, path)
        solids = [self.cook.solids.of(shape) for shape in shapes]
        if any(solid is not shape for solid, shape in zip(solids, shapes, strict=True)):
            self.meshes[item.name_full] = shapes
        made = bodies.body(item, item.name_full, pose, solids, kind, path, self.metres, self.warnings)
        made.held, made.blend_time = held, item.axion.blend_frames / self.fps
        return made

    def _active(self, item, sampler):
        """(motion, path, held) of an active body: free, held on its animation throughout, or held at times."""
        held = sampler.held(item) if motion.may_be_held(item) else None
        if held is None or not held.any():
            return "dynamic", None, None
        if held.all():
            return "static", sampler.path(item, self.metres), None
        switched = hand_over.go_on(item, sampler, held)
        leaps = hand_over.leaps(item, self.metres, sampler, held)
        self.warnings += leaps or hand_over.dropped(item, self.metres, sampler, held, switched)
        return "dynamic", *hand_over.held_path(item, self.metres, sampler, held)

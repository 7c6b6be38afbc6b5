# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene files: dataclasses to the plain tree of ``archive``, and back.  Fields at their default are left out."""

from dataclasses import MISSING, fields

from . import archive
from .force_fields import ForceField
from .scene import Axis, Body, Joint, MotionPath, Scene
from .shapes import SHAPES

VERSION = 1
CLASSES = {cls.__name__: cls for cls in (Scene, Body, MotionPath, Joint, Axis, ForceField)} | SHAPES


def save(scene, path):
    """Writes a Scene to exactly ``path``.  Shapes and paths shared by bodies are stored once."""
    archive.write(path, "scene", VERSION, _Writer().tree(scene))


def load(path):
    """Reads a Scene; SceneError where the file holds none."""
    return archive.read(path, "scene", VERSION, lambda tree: _Reader(tree).scene())


class _Writer:
    def __init__(self):
        self.objects, self.numbers, self.kept = [], {}, []

    def tree(self, scene):
        root = self._encode(scene)
        return {"objects": self.objects, "root": root}

    def _encode(self, value):
        if type(value).__name__ in CLASSES and isinstance(value, CLASSES[type(value).__name__]):
            if id(value) not in self.numbers:
                entry = {"class": type(value).__name__, "fields": {}}
                for item in fields(value):
                    content = getattr(value, item.name)
                    if item.default is MISSING or content is not item.default:
                        entry["fields"][item.name] = self._encode(content)
                self.numbers[id(value)] = len(self.objects)
                self.kept.append(value)
                self.objects.append(entry)
            return {"object": self.numbers[id(value)]}
        if isinstance(value, (list, tuple)):
            return [self._encode(entry) for entry in value]
        if isinstance(value, dict):
            return {"entries": {key: self._encode(entry) for key, entry in value.items()}}
        return value


class _Reader:
    def __init__(self, tree):
        self.objects, self.root = [], tree["root"]
        for entry in tree["objects"]:
            content = {name: self._decode(value) for name, value in entry["fields"].items()}
            self.objects.append(CLASSES[entry["class"]](**content))

    def scene(self):
        scene = self._decode(self.root)
        if not isinstance(scene, Scene):
            raise TypeError("its root is no Scene")
        return scene

    def _decode(self, value):
        if isinstance(value, list):
            return [self._decode(entry) for entry in value]
        if not isinstance(value, dict):
            return value
        if "object" in value:
            return self.objects[value["object"]]
        return {key: self._decode(entry) for key, entry in value["entries"].items()}

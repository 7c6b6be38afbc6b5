# SPDX-License-Identifier: GPL-3.0-or-later
"""What tells objects of one mesh apart to their materials, as the Pass Index, and whether their points show it."""

from ..report import listed
from . import records

MOST = 256
"""Looks beyond those of meshes and materials: two thousand take 46 ms a frame to play, one takes 0.2."""
TINT = "Object Color"
"""What instances have of whatever makes them, and not of what they show."""
INFO = {"Color": TINT, "Object Index": "pass_index"}
"""Outputs of the node Object Info -> what they read of the object."""
LOST = {TINT, *records.VALUES}
"""What a material reads of an object and points have not."""


class Variants:
    """Looks at objects one by one, and says in the end which of them may share a prototype."""

    def __init__(self):
        self._reads, self._bases, self._keys, self._items, self._told = {}, [], [], [], []
        self._share = False

    def add(self, item, base):
        """Note an object; base: what tells its look but for its variant, one of a kind where nobody may share it."""
        names = self._names(item)
        told = {name: _value(item, name) for name in names - LOST}
        self._bases.append(base)
        self._keys.append((base, item.pass_index, *told.items()))
        self._items.append(item)
        self._told.append((names, told))

    def keys(self):
        """What tells the prototypes of the objects apart, a list."""
        self._share = len(set(self._keys)) - len(set(self._bases)) > MOST
        return self._bases if self._share else self._keys

    def warnings(self, shown):
        """Sentences on bodies that look otherwise as points.  shown: objects that show the points."""
        found, first, lost, names = [], {}, [], set()
        for item, base, (_, told) in zip(self._items, self._bases, self._told, strict=True):
            if self._share and first.setdefault(base, told) != told:
                lost.append(item.name)
                names.update(told)
        if lost:
            found.append(
                f"{listed(lost, 3)} {_is(lost)} shown like others of the same mesh: the materials read "
                f"{', '.join(sorted(names))} of the object, and points have no more than {MOST} such looks: let fewer "
                "bodies differ, or choose the output Keyframes"
            )
        shades = {item.color[:] for item in shown}
        tinted = [item.name for item in self._reading({TINT}) if {item.color[:]} != shades]
        if tinted and shown:
            found.append(
                f"{listed(tinted, 3)} {_is(tinted)} shown in the Object Color of {shown[0].name}, as Blender gives to "
                "instances that of what makes them: let the materials read a custom property (Attribute, type Object), "
                "or choose the output Keyframes"
            )
        lost = [item.name for item in self._reading({*records.VALUES})]
        if lost:
            found.append(
                f"{listed(lost, 3)} {_is(lost)} shown without the speeds and forces that the materials read, as points "
                "have none: choose the output Keyframes"
            )
        return found

    def _reading(self, names):
        """Objects whose materials read one of these properties of them."""
        return [item for item, (read, _) in zip(self._items, self._told, strict=True) if read & names]

    def _names(self, item):
        """What the materials of an object read of it, a frozenset."""
        materials = [slot.material for slot in item.material_slots if slot.material is not None]
        found = frozenset()
        for material in materials:
            if material.session_uid not in self._reads:
                self._reads[material.session_uid] = frozenset(_read_by(material.node_tree, set()))
            found |= self._reads[material.session_uid]
        return found


def _is(names):
    return "is" if len(names) == 1 else "are"


def _read_by(tree, seen):
    """Properties of the object that a node tree of a material reads, a set."""
    found = set()
    if tree is None or tree.session_uid in seen:
        return found
    seen.add(tree.session_uid)
    for node in tree.nodes:
        if node.type == "OBJECT_INFO":
            found |= {name for output, name in INFO.items() if node.outputs[output].is_linked}
        elif node.type == "ATTRIBUTE" and node.attribute_type == "OBJECT":
            found.add(node.attribute_name.removeprefix('["').removesuffix('"]'))
        elif node.type == "GROUP":
            found |= _read_by(node.node_tree, seen)
    return found


def _value(item, name):
    """A property of an object, by the name that a material gives it, as something to compare."""
    value = item.get(name)
    if value is None:
        try:
            value = item.path_resolve(name)
        except ValueError:
            return None
    return str(value[:]) if hasattr(value, "__len__") else str(value)

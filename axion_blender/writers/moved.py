# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked bodies that somebody moved: at the start of a bake that is their new place, as with Blender's own rigid bodies.

Blender leaves an animated object where it is put until the frame changes, or changes its keys where Auto Keying is on.
Both show on the object: its values differ from its keys, or its first keys from those that the bake wrote.
"""

import json
from dataclasses import dataclass, field

from .. import compat
from . import curves, records, rotation_modes

NEAR = 1e-6
"""Change of a value, relative to the larger of it and 1, that nobody made: single precision."""


@dataclass
class Moves:
    """What was found; nothing is changed before one of the functions is called.

    Attributes:
        warnings: sentences on bodies that were moved where it has no effect.
    """

    warnings: list = field(default_factory=list)
    _values: list = field(default_factory=list)  # (object, path, values) that were set by hand
    _stands: dict = field(default_factory=dict)  # session_uid -> what says where an object without keys stands
    _records: dict = field(default_factory=dict)  # session_uid -> (record, record with the new place), both JSON

    def adopt(self, scene):
        """Let the bakes below begin at the new places.  Objects whose record has changed since keep theirs."""
        self._exchange(scene, 0, 1)

    def take_back(self, scene):
        """Undo ``adopt``."""
        self._exchange(scene, 1, 0)

    def put_back(self):
        """Set the values again that a change of the frame took away."""
        for item, path, values in self._values:
            setattr(item, path, values)

    def watch(self, items):
        """Remember where objects stand that are about to be simulated, for ``since``."""
        self._stands = {item.session_uid: _stand(item) for item in items}

    def since(self, scene, first, items):
        """Sentences on objects of ``watch`` that were moved while they were simulated."""
        held = [(item.session_uid, path, values) for item, path, values in self._values]
        now = [(item.session_uid, path, values) for item, path, values in find(scene, first)._values]
        again = {moved[0] for moved in now if moved not in held}
        found = []
        for item in items:
            uid = item.session_uid
            if records.is_baked(item):
                if uid in again:
                    found.append(
                        f"{item.name} was moved while it was baked, and its new keys put it back: move it at frame "
                        f"{first} and bake again"
                    )
            elif uid in self._stands and _stand(item) != self._stands[uid]:
                found.append(
                    f"{item.name} was moved while it was baked, and its motion goes on from where it is now: bake again"
                )
        return found

    def _exchange(self, scene, old, new):
        for item in scene.objects:
            texts = self._records.get(item.session_uid)
            if texts is not None and item.get(records.RECORD) == texts[old]:
                item[records.RECORD] = texts[new]


def find(scene, first):
    """Moves of a scene's baked objects, seen from a bake that begins at frame ``first``.

    Call it before ``keyframes.suspend``.  Raises SceneError where an object's record of its bake is broken.
    """
    found = Moves()
    baked = [item for item in scene.objects if records.is_baked(item)]
    records.check(baked)
    for item in baked:
        bag = compat.channelbag(item)
        # Blender evaluates nothing that is hidden: it stands where it was when it was seen last.
        if (item.animation_data is None or _plays_alone(item.animation_data)) and item.visible_get():
            _look(item, bag, scene.frame_current + scene.frame_subframe, first, found)
    return found


def _look(item, bag, now, first, found):
    """Add to ``found`` how one object was moved."""
    record, places = json.loads(item[records.RECORD]), {}
    for path in ("location", records.rotation_path(record["baked_mode"])):
        keyed = _baked_curves(item, bag, path)
        free = not keyed and path not in compat.played_paths(item)  # somebody deleted the keys
        if not (keyed or free) or (path != "location" and item.rotation_mode != record["baked_mode"]):
            continue
        values = list(getattr(item, path))
        plays = {i: curve.evaluate(now) for i, curve in keyed.items()}
        by_hand = _differ(values, _recorded(record, path) if free else plays)
        if by_hand:
            found._values.append((item, path, values))
        if by_hand and now == first:
            places[path] = {i: values[i] for i in by_hand}
        elif by_hand:
            found.warnings.append(
                f"{item.name} was moved at frame {now:g}, but the bake begins at frame {first}: move it there to let it"
                " start from another place"
            )
        elif record.get("start", {}).get("frame") == first:  # records of earlier versions have none
            values = {i: curve.evaluate(first) for i, curve in keyed.items()}
            edited = _differ(values, _written(record, path, keyed))
            places[path] = {i: values[i] for i in edited}
    places = {path: values for path, values in places.items() if values}
    if bag is not None and any(curves.aside(bag, path, i) for path, values in places.items() for i in values):
        found.warnings.append(
            f"{item.name} was moved, but keys of its own below the bake say where it starts: clear the bake and change "
            "those"
        )
    elif places:
        found._records[item.session_uid] = item[records.RECORD], json.dumps(_with_places(item, record, places))


def _stand(item):
    """What says where an object and its parents stand, of those that nothing animates."""
    found = []
    while item is not None:
        if not compat.is_animated(item):
            found += [tuple(getattr(item, path)) for path in ("location", "delta_location", *records.ROTATIONS)]
            found += [item.rotation_mode, item.scale[:]]
        parent = item.parent
        if parent is not None:
            found += [parent.session_uid, *map(tuple, item.matrix_parent_inverse)]
        item = parent
    return found


def _plays_alone(data):
    """Whether the action alone says where an object is."""
    if not (data.use_nla and len(data.nla_tracks)):
        return True
    solo = data.use_tweak_mode or any(track.is_solo for track in data.nla_tracks)
    return not solo and data.action_blend_type == "REPLACE" and data.action_influence == 1.0


def _baked_curves(item, bag, path):
    """{index: baked curve that plays} at a path; none where a driver has the last word, or there are none."""
    if bag is None:
        return {}
    if any(driver.data_path == path and not driver.mute for driver in compat.drivers_of(item)):
        return {}
    return {
        curve.array_index: curve
        for curve in bag.fcurves
        if curve.data_path == path and _is_baked(curve) and not (curve.mute or curve.group.mute)
    }


def _is_baked(curve):
    return curve.group is not None and curve.group.name == curves.GROUP


def _differ(values, others):
    """Indices at which values (a list or {index: value}) differ from others ({index: value})."""
    return [i for i, other in others.items() if abs(values[i] - other) > NEAR * max(1.0, abs(other))]


def _written(record, path, keyed):
    """{index: value} that the bake wrote at its start, of the curves that still have a key there."""
    start = record["start"]
    first = {i for i, curve in keyed.items() if curve.keyframe_points[0].co[0] == start["frame"]}
    return {i: value for i, value in enumerate(start["values"].get(path, ())) if i in first}


def _recorded(record, path):
    """{index: value} of where an object stood before the bake."""
    values = record["location"] if path == "location" else record["rotation"].get(path, ())
    return dict(enumerate(values))


def _with_places(item, record, places):
    """The record of an object that stands elsewhere below its bake; places: {path: {index: value}}."""
    record = {**record, "location": list(record["location"]), "rotation": dict(record["rotation"])}
    for path, values in places.items():
        if path == "location":
            record["location"] = [values.get(i, value) for i, value in enumerate(record["location"])]
            continue
        mode = record["rotation_mode"]
        own, turned = records.rotation_path(mode), [values.get(i, v) for i, v in enumerate(getattr(item, path))]
        record["rotation"][path] = turned
        if mode != record["baked_mode"]:
            turn = rotation_modes.quaternion(turned, record["baked_mode"])
            record["rotation"][own] = rotation_modes.values(turn, mode, record["rotation"][own])
    return record

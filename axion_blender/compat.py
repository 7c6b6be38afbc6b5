# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between the Blenders from 4.5 to 5.2.  Guards ask for a capability, never for a version."""


def channelbag(owner):
    """The channels of ``owner`` (an ID) in its action's slot, or None where it has no action, slot or channels."""
    animation = owner.animation_data
    return None if animation is None else _bag(animation.action, animation.action_slot)


def strip_channelbag(strip):
    """The channels that an NLA strip plays, or None."""
    return _bag(strip.action, strip.action_slot)


class Slots:
    """Finds the channels of owners that share an action, where Blender goes through all of its slots for each of them.

    owners: IDs, best in the order in which they got their slots.  Good as long as nothing changes, as in one function.
    """

    def __init__(self, owners):
        self._bags, self._wanted = {}, set()
        for owner in owners:
            if owner.animation_data is not None:
                self._wanted.add(owner.animation_data.action_slot_handle)

    def bag(self, user):
        """The channels of ``user``, an AnimData of an owner, in its action's slot, or None."""
        if user.action is None:
            return None
        for layer in user.action.layers:
            for strip in layer.strips:
                bag = self._of(strip).get(user.action_slot_handle)
                if bag is not None:
                    return bag
        return None

    def _of(self, strip):
        """{handle: channels} of a strip, from the first that is wanted to the last."""
        key = strip.as_pointer()
        if key not in self._bags:
            handles = [0] * len(strip.channelbags)
            strip.channelbags.foreach_get("slot_handle", handles)
            places = [place for place, handle in enumerate(handles) if handle in self._wanted]
            part = slice(places[0], places[-1] + 1) if places else slice(0, 0)
            self._bags[key] = dict(zip(handles[part], strip.channelbags[part], strict=True))
        return self._bags[key]


def channelbags(owner, slots=None):
    """The channels that animate ``owner`` (an ID): of its action, then of the NLA strips that are not muted, a list.

    slots: Slots, where many owners are asked.
    """
    animation = owner.animation_data
    if animation is None:
        return []
    found = [_bag(animation.action, animation.action_slot) if slots is None else slots.bag(animation)]
    for track in animation.nla_tracks:
        found += [_bag(strip.action, strip.action_slot) for strip in track.strips if not (track.mute or strip.mute)]
    return [bag for k, bag in enumerate(found) if bag is not None and bag not in found[:k]]


def _bag(action, slot):
    if action is None or slot is None:
        return None
    for layer in action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(slot)
            if bag is not None:
                return bag
    return None


def curves_of(owner):
    """F-curves that animate ``owner`` (an ID) by its action, a list."""
    bag = channelbag(owner)
    return [] if bag is None else list(bag.fcurves)


def drivers_of(owner):
    """F-curves of the drivers on ``owner`` (an ID), a list."""
    return [] if owner.animation_data is None else list(owner.animation_data.drivers)


def animated_paths(owner):
    """Data paths of ``owner`` (an ID) that its action or a driver animates, a set."""
    return {curve.data_path for curve in curves_of(owner) + drivers_of(owner)}


def played_paths(owner):
    """``animated_paths``, with those that NLA strips animate which are not muted."""
    return {curve.data_path for bag in channelbags(owner) for curve in bag.fcurves} | animated_paths(owner)


def is_animated(owner):
    """Whether an action, an NLA track or a driver may change a property of ``owner`` (an ID)."""
    animation = owner.animation_data
    if animation is None:
        return False
    return animation.action is not None or len(animation.nla_tracks) > 0 or len(animation.drivers) > 0


def copies_curve_modifiers(bag):
    """Whether ``copy_curve`` copies the modifiers of a curve into channelbag ``bag``, too."""
    return hasattr(bag.fcurves, "new_from_fcurve")


def copy_curve(bag, curve, data_path, index=0):
    """A copy of F-curve ``curve`` in channelbag ``bag`` that animates ``data_path`` instead; replaces one there.

    Keys keep their handles and interpolation.  Returns the new curve.
    """
    old = bag.fcurves.find(data_path, index=index)
    if old is not None:
        bag.fcurves.remove(old)
    if copies_curve_modifiers(bag):
        return bag.fcurves.new_from_fcurve(curve, data_path=data_path)
    made = bag.fcurves.new(data_path, index=index)
    made.extrapolation = curve.extrapolation
    made.keyframe_points.add(len(curve.keyframe_points))
    for new, key in zip(made.keyframe_points, curve.keyframe_points, strict=True):
        for name in ("co", "interpolation", "easing", "amplitude", "period", "back"):
            setattr(new, name, getattr(key, name))
        new.handle_left_type, new.handle_right_type = key.handle_left_type, key.handle_right_type
        new.handle_left, new.handle_right = key.handle_left, key.handle_right
    made.update()
    return made


def node_inputs(modifier):
    """Values that a Geometry Nodes modifier hands to its node group, a list."""
    kept = getattr(modifier, "properties", None)
    if kept is None:
        return [value for _, value in modifier.items()]
    sockets = [getattr(kept.inputs, prop.identifier) for prop in kept.inputs.bl_rna.properties]
    return [socket.value for socket in sockets if hasattr(socket, "value")]

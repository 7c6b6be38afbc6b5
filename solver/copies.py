# SPDX-License-Identifier: GPL-3.0-or-later
"""Changed copies of tables, for what runs in every step: ``dataclasses.replace`` goes through ``__init__``."""


def replace(instance, **changes):
    """A copy of an instance of a dataclass with ``changes``, in a third of the time of ``dataclasses.replace``.

    What was found of the old one and cached with it is not taken along.  TypeError: a name is no field.
    """
    kind = type(instance)
    values, names = instance.__dict__ | changes, kind.__dataclass_fields__
    if len(values) != len(names):
        if strange := changes.keys() - names.keys():
            raise TypeError(f"a {kind.__name__} has no {', '.join(sorted(strange))}: its fields are {', '.join(names)}")
        values = {name: values[name] for name in names}
    copy = object.__new__(kind)
    copy.__dict__ = values
    return copy

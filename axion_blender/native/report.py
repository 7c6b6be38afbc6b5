# SPDX-License-Identifier: GPL-3.0-or-later
"""What a conversion says of itself: each native property of each object, carried or not.  Knows no Blender."""

from dataclasses import dataclass, field

CARRIED, CHANGED, LOST, NEEDLESS = "CARRIED", "CHANGED", "LOST", "NEEDLESS"
"""The same in Axion; something near it, as a sentence says; nothing like it; without effect, or not needed."""


@dataclass(frozen=True)
class Note:
    """A sentence about one property: its name, CHANGED or LOST, and the sentence, which names the object."""

    name: str
    status: str
    sentence: str


@dataclass
class Entry:
    """One object, or the scene's world.

    Attributes:
        name: of the object or the scene.
        kind: "BODY", "JOINT" or "WORLD".
        carried, needless: names of native properties.
        notes: Notes on the others, and on what else Blender's own simulation looks at.
    """

    name: str
    kind: str
    carried: list = field(default_factory=list)
    needless: list = field(default_factory=list)
    notes: list = field(default_factory=list)

    def changed(self, name, sentence):
        """Note that a property was carried as something near it.  sentence: its end, after the object's name."""
        self.notes.append(Note(name, CHANGED, f"{self.name} {sentence}"))

    def lost(self, name, sentence):
        """Note that a property has nothing like it in Axion.  sentence: its end, after the object's name."""
        self.notes.append(Note(name, LOST, f"{self.name} {sentence}"))

    def noted(self, name):
        """Whether there is a note on a property."""
        return any(note.name == name for note in self.notes)

    def close(self, properties, known):
        """Account for every native property that has no note.

        properties: all that Blender has; known: those that the conversion looks at.  One that a later Blender brought
        is reported as lost.
        """
        self.needless = [name for name in self.needless if not self.noted(name)]
        for name in properties:
            if self.noted(name) or name in self.needless:
                continue
            if name in known:
                self.carried.append(name)
            else:
                self.lost(name, f"has {name}, which is new in this Blender: Axion does not know it")

    def plain(self):
        """The entry as a dict of plain values."""
        notes = [{"property": note.name, "status": note.status, "sentence": note.sentence} for note in self.notes]
        return {"name": self.name, "kind": self.kind, "carried": [*self.carried], "needless": [*self.needless]} | {
            "notes": notes
        }


@dataclass
class Conversion:
    """What was converted.

    Attributes:
        bodies, joints: numbers of objects that take part now.
        entries: an Entry for each object that was looked at, and one for the world.
        reason: why nothing was converted, a sentence; else "".
    """

    bodies: int = 0
    joints: int = 0
    entries: list = field(default_factory=list)
    reason: str = ""

    def entry(self, name, kind):
        """A new Entry."""
        self.entries.append(Entry(name, kind))
        return self.entries[-1]

    @property
    def notes(self):
        """All sentences about what was not carried as it stood."""
        return [note.sentence for entry in self.entries for note in entry.notes]

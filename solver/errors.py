# SPDX-License-Identifier: GPL-3.0-or-later
"""SceneError: what is wrong with a scene, said so that an artist can mend it."""


class SceneError(ValueError):
    """A scene that cannot be simulated, or a file that holds none.

    The message is one sentence that names the object, the value, the limit and the cure.

    Attributes:
        problems: every ``validate.Problem`` found, the message's first; empty when only one thing was looked at.
        warnings: sentences on what else was seen until then.
    """

    def __init__(self, message, problems=(), warnings=()):
        super().__init__(message)
        self.problems, self.warnings = list(problems), list(warnings)


LONGEST = 80
"""Characters of a value that a message quotes."""


def one_line(text):
    """The text without line breaks."""
    return " ".join(text.split())


def shown(value):
    """A value as a message quotes it: on one line, and of a long one the beginning."""
    text = one_line(repr(value))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"

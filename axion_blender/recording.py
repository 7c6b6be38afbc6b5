# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake recorded of contacts and joints, as bytes that a .blend keeps.  Knows no Blender, runs no foreign code.

Single precision, compressed: at most 42 bytes a contact and frame, and 88 a joint and frame.
"""

import io
import json
import zipfile
import zlib
from dataclasses import dataclass

import numpy as np

from ..solver import ForceHistory, SceneError

FORMAT = 1
ARROW = 0.25
HALF = ("contact_normal",)  # unit vectors: half precision shows them well


@dataclass
class Recording:
    """Forces of a bake.  World frame, SI units: see solver.FrameForces.

    Attributes:
        history: ForceHistory.
        bodies: names in the order of the history's body numbers.
        first_frame: Blender's number of the frame that the motion begins at; the first with forces is the next.
        tolerance: error [m] of a joint or contact above which it is shown as bad.
        metres: metres per Blender unit at the bake.
    """

    history: ForceHistory
    bodies: list[str]
    first_frame: int
    tolerance: float
    metres: float
    _scales: tuple | None = None

    def frame(self, frame):
        """FrameForces of Blender's frame ``frame``, or None outside the bake and at its first frame."""
        number = frame - self.first_frame
        return self.history.frame(number) if 1 <= number <= len(self.history) else None

    def arrow_scales(self):
        """(contacts, joints): metres of arrow per newton that suit the bake; 0 where nothing was carried.

        A strong force of each kind has an arrow a quarter as long as things stand apart.
        """
        if self._scales is None:
            history = self.history
            places = np.concatenate([history.contact_point, history.joint_anchor[:, :, 1].reshape(-1, 3)])
            places = places[np.isfinite(places).all(axis=1)].astype(float)
            spread = np.sqrt(np.sum(np.var(places, axis=0))) if len(places) else 0.0
            length = ARROW * (spread if spread > 0.0 else 1.0)
            strong = [_strong(force.reshape(-1, 3)) for force in (history.contact_force, history.joint_force)]
            self._scales = tuple(length / force if force > 0.0 else 0.0 for force in strong)
        return self._scales


def _strong(force):
    """Norm [N] that one force (N, 3) in ten exceeds."""
    norm = np.linalg.norm(force.astype(float), axis=1)
    norm = norm[np.isfinite(norm) & (norm > 0.0)]
    return float(np.percentile(norm, 90.0)) if len(norm) else 0.0


def pack(recording):
    """Bytes of a Recording."""
    arrays = recording.history.tree()
    header = {
        "format": FORMAT,
        "bodies": list(recording.bodies),
        "joints": arrays.pop("joint_names"),
        "first_frame": recording.first_frame,
        "tolerance": recording.tolerance,
        "metres": recording.metres,
    }
    small = {}
    for name, values in arrays.items():
        kind = np.int32 if values.dtype.kind == "i" else np.float16 if name in HALF else np.float32
        small[name] = values.astype(kind)
    file = io.BytesIO()
    np.savez_compressed(file, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **small)
    return file.getvalue()


def unpack(data):
    """The Recording in bytes that ``pack`` made.  Raises SceneError where they are damaged or from a later version."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            header = json.loads(stored["header"].tobytes())
            if header["format"] != FORMAT:
                raise SceneError(f"the recorded forces are of format {header['format']}, not {FORMAT}: bake again")
            arrays = {name: stored[name] for name in stored.files if name != "header"}
        bodies = [str(name) for name in header["bodies"]]
        tree = {"joint_names": [str(name) for name in header["joints"]], **arrays}
        history = ForceHistory.from_tree(tree, len(bodies))
        numbers = int(header["first_frame"]), float(header["tolerance"]), float(header["metres"])
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, IndexError, ValueError, TypeError) as error:
        raise SceneError(f"the recorded forces are damaged ({error}): bake again") from error
    return Recording(history, bodies, *numbers)

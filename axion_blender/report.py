# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake says of itself: a line a frame, a summary, and the whole report as JSON.  Knows no Blender.

Lengths in metres, angles in radians, times in seconds, unless a text says millimetres.
"""

import csv
import dataclasses
import io
import json
import math

FORMAT = 1
MOST_PAIRS = 3  # of bodies inside each other that a report names
FEW = 3
"""Broken joints that have a line each."""


def progress_line(report, frame, last):
    """One line on one frame.  report: StepReport; frame, last: numbers on Blender's time line."""
    missed = "" if report.converged else "  missed the tolerance" + _culprits(report.worst_bodies, report.worst_joints)
    if report.overlapping_bodies:
        missed += f"  {_and(report.overlapping_bodies[:2])} overlap by {_millimetres(report.overlap)}"
    if report.contradictory_joints:
        missed += f"  {_contradiction(report.contradictory_joints)}"
    if report.crushed_bodies:
        missed += f"  {_crush(report.crushed_bodies, report.crushing_bodies)}"
    return (
        f"frame {frame}/{last}  penetration {_millimetres(report.penetration)}"
        f"  joints {_millimetres(report.joint_error)}  contacts {report.contacts}  {report.wall_time:.2f} s{missed}"
    )


def summary(reports, frame_start, broken_joints=None):
    """The worst of all frames, as plain values.  reports: StepReports; frame numbers are Blender's."""

    def worst(name):
        report = max(reports, key=lambda r: _badness(getattr(r, name)), default=None)
        value, frame = (0.0, frame_start) if report is None else (getattr(report, name), frame_start + report.frame)
        return {f"worst_{name}": value, f"worst_{name}_frame": frame}

    def names(field):
        """Of the frames that missed, each once, in order of appearance."""
        found = [name for report in reports if not report.converged for name in getattr(report, field)]
        return list(dict.fromkeys(found))

    missed = [frame_start + report.frame for report in reports if not report.converged]
    return {
        "frames": len(reports),
        "frame_start": frame_start,
        **worst("penetration"),
        **worst("joint_error"),
        **worst("joint_error_angle"),
        **worst("residual"),
        **worst("velocity_residual"),
        **worst("overlap"),
        **_overlapping(reports),
        "missed": len(missed),
        "missed_frames": missed,
        "worst_bodies": names("worst_bodies")[:8],
        "worst_joints": names("worst_joints")[:8],
        "contradictory_joints": names("contradictory_joints"),
        "crushed_bodies": names("crushed_bodies")[:8],
        "crushing_bodies": names("crushing_bodies")[:8],
        "broken_joints": dict(broken_joints or {}),
        "wall_time": math.fsum(report.wall_time for report in reports),
    }


def summary_lines(result):
    """A summary in sentences, for the console and the panel."""
    lines = [
        f"Worst penetration {_millimetres(result['worst_penetration'])} (frame {result['worst_penetration_frame']})",
        f"Worst joint error {_millimetres(result['worst_joint_error'])} (frame {result['worst_joint_error_frame']}),"
        f" {_degrees(result['worst_joint_error_angle'])}",
        f"{result['frames']} frames in {result['wall_time']:.1f} s",
    ]
    missed = result["missed_frames"]
    if missed:
        listed = ", ".join(map(str, missed[:8])) + (", ..." if len(missed) > 8 else "")
        noun = "frame" if len(missed) == 1 else "frames"
        blamed = result["worst_bodies"], result.get("worst_joints", ())
        lines.append(f"{len(missed)} {noun} missed the tolerance: {listed}{_culprits(*blamed)}")
        if result.get("contradictory_joints"):  # absent from bakes of earlier versions
            lines.append(_contradiction(result["contradictory_joints"]))
        if result.get("crushed_bodies"):
            lines.append(_crush(result["crushed_bodies"], result.get("crushing_bodies", ())))
    elif not result.get("overlapping_bodies"):  # absent from bakes of earlier versions
        lines.append("Every frame kept the tolerance")
    else:
        got = "were placed" if _placed(result) else "came to be"
        lines.append(f"Every frame kept the tolerance but for bodies that {got} inside each other")
    if result.get("overlapping_bodies"):
        lines += _overlaps(result)
    return lines + _broken(result["broken_joints"])


def document(trajectory, frame_start, fps, **more):
    """The whole report: summary, every field of every frame's StepReport with its Blender frame, and ``more``."""
    frames = [{**dataclasses.asdict(r), "blender_frame": frame_start + r.frame} for r in trajectory.reports]
    result = summary(trajectory.reports, frame_start, trajectory.broken_joints)
    return {"format": FORMAT, "summary": result, "frame_start": frame_start, "fps": fps, **more, "frames": frames}


def of_frame(document, frame):
    """The entry of Blender's frame ``frame`` in a document, or None."""
    return next((entry for entry in document["frames"] if entry["blender_frame"] == frame), None)


def is_document(tree):
    """Whether ``tree`` is a document such as ``document`` makes: it may have been edited since."""
    if not isinstance(tree, dict) or not isinstance(tree.get("summary"), dict):
        return False
    frames = tree.get("frames")
    return isinstance(frames, list) and all(_is_entry(entry) for entry in frames)


def is_summary(tree):
    """Whether ``tree`` is a summary that ``summary_lines`` can read: it may have been edited, or be an old one."""
    try:
        return tree["missed"] >= 0 and bool(summary_lines(tree))
    except (KeyError, TypeError, ValueError, AttributeError):
        return False


def _is_entry(entry):
    if not isinstance(entry, dict) or not isinstance(entry.get("converged"), bool):
        return False
    lists = (
        "worst_bodies", "worst_joints", "contradictory_joints", "overlapping_bodies", "crushed_bodies",
        "crushing_bodies",
    )  # fmt: skip
    if not isinstance(entry.get("worst_bodies"), list) or type(entry.get("blender_frame")) is not int:
        return False
    if not all(isinstance(name, str) for key in lists for name in entry.get(key, ())):
        return False
    numbers = (value for key, value in entry.items() if key not in lists)
    return all(value is None or isinstance(value, int | float) for value in numbers)


def guilty(entry):
    """(bodies, joints) that a frame's entry blames, worst first, each once."""
    joints = [*entry.get("worst_joints", ()), *entry.get("contradictory_joints", ())]
    bodies = [*entry["worst_bodies"], *entry.get("crushed_bodies", ()), *entry.get("overlapping_bodies", ())]
    return list(dict.fromkeys(bodies)), list(dict.fromkeys(joints))


def bad_runs(document):
    """[(first, last, worst frame, names)] of neighbouring frames that missed the tolerance and blame the same."""
    runs = []
    for entry in (entry for entry in document["frames"] if not entry["converged"]):
        frame, names = entry["blender_frame"], [name for part in guilty(entry) for name in part]
        badness = _badness(math.nan if entry.get("residual") is None else entry["residual"])
        if runs and runs[-1][1] == frame - 1 and set(runs[-1][3]) & set(names):
            first, _, worst, known, most = runs[-1]
            worst, most = (frame, badness) if badness > most else (worst, most)
            runs[-1] = (first, frame, worst, list(dict.fromkeys([*known, *names])), most)
        else:
            runs.append((frame, frame, frame, names, badness))
    return [run[:4] for run in runs]


def to_csv(document):
    """The frames of a document as CSV: a line a frame, a column a field; names in one column are parted by "; "."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    fields = list(document["frames"][0]) if document["frames"] else ["frame"]
    fields = ["blender_frame", *(name for name in fields if name != "blender_frame")]
    writer.writerow(fields)
    for entry in document["frames"]:
        writer.writerow("; ".join(v) if isinstance(v, list) else v for v in (entry.get(name) for name in fields))
    return file.getvalue()


def to_json(tree, indent=None):
    """JSON that every reader accepts: NaN and infinity, which JSON lacks, become null."""
    return json.dumps(_plain(tree), indent=indent, allow_nan=False, ensure_ascii=False)


def _plain(value):
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _badness(value):
    return math.inf if math.isnan(value) else value


def _millimetres(metres):
    return "unknown" if metres is None else f"{1e3 * metres:.4f} mm"  # None: NaN or infinite, from JSON


def _degrees(angle):
    return "unknown" if angle is None else f"{math.degrees(angle):.4f}\N{DEGREE SIGN}"


def _culprits(bodies, joints):
    if not bodies and not joints:
        return ""
    parts = [", ".join(bodies[:3])] if bodies else []
    parts += [f"joints {', '.join(joints[:3])}"] if joints else []
    return f" (worst: {'; '.join(parts)})"


def _and(names):
    return " and ".join(names)


def _overlapping(reports):
    """Names of the bodies that stood inside each other when that was worst, in pairs, and those of them that already
    did when the simulation began and in every frame since.
    """
    if not reports:
        return {"overlapping_bodies": [], "placed_bodies": []}
    worst = max(range(len(reports)), key=lambda number: reports[number].overlap)
    names = list(reports[worst].overlapping_bodies)
    since = [pair for pair in _pairs(names) if all(_tells(report, pair) for report in reports[: worst + 1])]
    return {"overlapping_bodies": names, "placed_bodies": [name for pair in since for name in pair]}


def _pairs(names):
    return list(zip(names[::2], names[1::2], strict=True))


def _tells(report, pair):
    """Whether a frame's report names a pair of bodies inside each other, or as many deeper ones as it names."""
    told = [set(each) for each in _pairs(report.overlapping_bodies)]
    return set(pair) in told or (report.frame > 1 and len(told) == MOST_PAIRS)


def _overlaps(result):
    """Sentences on the pairs of bodies that stood inside each other when that was worst."""
    first, depth, lines = result["worst_overlap_frame"] - 1, f"{_millimetres(result['worst_overlap'])} deep", []
    for number, pair in enumerate(_pairs(result["overlapping_bodies"])):
        deep = f"at most {depth}" if number else depth
        when, cure = f"at frame {first}", "move them apart, or let them not collide"
        if pair not in _placed(result):
            when = f"between the frames {first} and {first + 1}"
            cure = "move them apart if they are let go there; else take more Substeps Per Frame or a higher Quality"
        elif first != result.get("frame_start", first):
            when = f"from frame {result['frame_start']} on"
        lines.append(f"{_and(pair)} are inside each other {when}, {deep}: {cure}")
    return lines


def _placed(result):
    """Pairs of bodies, of those told, that were inside each other when the simulation began."""
    names, first = result["overlapping_bodies"], result["worst_overlap_frame"] - 1
    if first == result.get("frame_start", first):  # bakes of earlier versions do not say where they began
        return _pairs(names)
    return _pairs(result.get("placed_bodies", ()))


def _broken(joints):
    """Sentences on joints that broke, {name: time}: on each of a few, one on many."""
    found = sorted(joints.items(), key=lambda entry: entry[1])
    if len(found) <= FEW:
        return [f"Joint {name} broke after {time:.3f} s" for name, time in found]
    told = [f"{name} after {time:.3f} s" for name, time in found]
    return [f"{len(told)} joints broke, first {told[0]}, last {told[-1]}; the report exported as .json has the rest"]


def _crush(bodies, pressing):
    where = f" between {', '.join(pressing)}: move these farther apart, or lower their friction" if pressing else ""
    return f"No room for {', '.join(bodies)}{where}"


def _contradiction(joints):
    if len(joints) == 1:
        return f"Joint {joints[0]} contradicts its own drive or limits, or what its bodies touch"
    return f"Joints that contradict each other: {listed(joints, 8)}"


def listed(names, most):
    """The first ``most`` names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"

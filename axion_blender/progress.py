# SPDX-License-Identifier: GPL-3.0-or-later
"""What a running job says of itself, in words: for panel and status bar.  Knows no Blender."""

import math

from .job import Phase


def status(job, waits=""):
    """What the job is at, one line.  waits: what the keys of a solved one wait for, a sentence, or empty."""
    if job.phase is Phase.SOLVED:
        return waits or "Writing keyframes"
    if job.cancelling:
        return "Stopping after this frame" if job.pace.solved else "Stopping once the solver has started"
    if job.said:
        return job.said
    if job.phase is Phase.READY:
        return "Reading the scene"
    return f"Frame {job.first_frame + job.solved} of {job.first_frame + job.frames}"


def details(job):
    """Lines below the bar: time left, the worst residual so far, frames that missed; empty before the first frame."""
    if not job.reports:
        return []
    lines = []
    if job.phase is Phase.GATHERED and not job.cancelling:
        lines.append(f"{duration(job.time_left)} left")
    worst = f"{1e3 * job.worst_residual:.4f} mm" if math.isfinite(job.worst_residual) else "unknown"
    lines.append(f"Worst residual {worst}")
    if job.missed:
        lines.append(f"{job.missed} {'frame' if job.missed == 1 else 'frames'} missed the tolerance")
    return lines


def duration(seconds):
    """Seconds as a person says them: 8 s, 2 min 5 s, 1 h 3 min."""
    whole = math.ceil(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"

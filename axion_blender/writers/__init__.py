# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a trajectory goes: one file an output.  keyframes.py is the one of today; a new output is a new file beside it."""

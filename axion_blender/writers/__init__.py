# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a trajectory goes.  keyframes.py is the output of today; a new one is a new file beside it."""

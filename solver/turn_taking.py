# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulations in several threads of one process take turns, frame by frame.

Warp records graphs and loads modules for the whole process: what one thread launches while another records ends up in
the other's graph.  So one thread computes at a time.  While ``on_frame`` runs nobody is kept waiting, so it may itself
simulate, or wait for a thread that does.
"""

import threading

ONE_AT_A_TIME = threading.RLock()
"""Held while a simulation starts, steps through a frame, or ends; whoever holds it may take it again."""

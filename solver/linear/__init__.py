# SPDX-License-Identifier: GPL-3.0-or-later
"""The Newton system: assembly, conjugate gradients, block factorisation."""

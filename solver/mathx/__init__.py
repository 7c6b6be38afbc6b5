# SPDX-License-Identifier: GPL-3.0-or-later
"""Warp types and functions the kernels share."""

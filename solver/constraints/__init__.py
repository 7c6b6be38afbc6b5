# SPDX-License-Identifier: GPL-3.0-or-later
"""Constraint families: what joints, contacts and friction ask of the bodies."""

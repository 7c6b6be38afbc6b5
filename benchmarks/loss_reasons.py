# SPDX-License-Identifier: GPL-3.0-or-later
"""Why Axion misses a bound on its time or its growth, or is slower than an engine that is as accurate, row by row.

Words only: the numbers beside them come from the results.  ``tests/test_bench_page.py`` asks for a reason wherever the
committed results show a loss.
"""

HOST = (
    "A step is a sequence of small stages that Python starts, and with few bodies starting them takes longer than "
    "computing them; MuJoCo runs its whole step in compiled code."
)
CHAIN = (
    "Every step is solved until each joint meets the tolerance, with a factorisation per Newton iteration; the bound "
    "asks for the time of a few factorisations and next to nothing around them."
)
BOXES = (
    "Bullet iterates a fixed number of times and leaves the boxes in each other; Axion goes on until no box penetrates "
    "by more than the tolerance, and looks for contacts again where boxes move far in a step."
)
REASONS = {
    "heavy_1000": HOST,
    "heavy_10000": HOST,
    "chain": CHAIN,
    "chain_1mm": CHAIN,
    "arch_stands": HOST,
    "stack_30": HOST,
    "cards": HOST,
    "pile_125": BOXES,
    "pile_125_preview": BOXES,
    "pile_1000_preview": (
        "The fast impacts of a thousand boxes need several solves a frame, also at the tolerance of a preview."
    ),
    "pile_1000": (
        "The fast impacts of a thousand boxes need several solves a frame, each until every contact holds; an engine "
        "with a fixed number of iterations stops earlier and leaves the rest as penetration."
    ),
    "ragdolls_10": (
        "Limits, joints and contacts of all ragdolls are solved together to the tolerance, with smaller steps while "
        "the limbs are fast."
    ),
    "incline_26": HOST,
    "incline_27_5": HOST,
    "stack_10": HOST,
    "four_bar": HOST,
    "bounce": HOST,
    "free_spin": HOST,
    "dominoes": (
        "Plates strike each other in nearly every frame, and each strike is solved with smaller steps until its "
        "contacts hold."
    ),
    "boxes_awake": (
        "The larger the heap, the more layers it has, and the more rounds of conjugate gradients it takes until each "
        "of them knows of all above it. Heaps of as many boxes in five layers tell how the work grows by itself."
    ),
    "boxes_falling": (
        "The larger the heap, the more layers it has and the farther they fall before they meet: in the largest one a "
        "quarter of the boxes strike so fast that their step is solved in halves. Heaps of as many boxes in five "
        "layers tell how the work grows by itself."
    ),
}
"""Row or series -> the reason in words."""

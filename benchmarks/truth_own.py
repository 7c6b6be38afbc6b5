# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of problems that only Axion can be asked: published mechanisms, friction problems, closed forms of joints.

make bench-truth                       with all else
python benchmarks/truth_own.py         runs the tests that measure them: results/truth_own.csv, then docs/accuracy.md
python benchmarks/truth_own.py FILE    that test file alone; the lines of the others stay as they are

The tests hold each figure to its bound; nothing is written when one of them fails.
"""

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import accuracy_page
from truth_table import Own, read_own, write_own

ROOT = Path(__file__).resolve().parent.parent
FILES = {
    "tests/truth/test_siconos.py": "Friction problems published with Siconos",
    "tests/truth/test_squeezer_motion.py": "Andrews' squeezer (IVP Test Set)",
    "tests/truth/test_closed_loops.py": "Closed loops",
    "tests/truth/test_flyball.py": "Flyball governor (IFToMM A05)",
    "tests/truth/test_kamino.py": "Against newton's Kamino with ever smaller steps",
    "tests/truth/test_rocking_block.py": "Rocking block with a fine tolerance",
    "tests/truth/test_newton_suites.py": "Newton's own suites: how much of their tightest bound is used",
    "tests/physics/test_joints_in_single.py": "Joints in single precision, as on CUDA",
    "tests/physics/test_rest_in_single.py": "What rests in single precision, as on CUDA",
    "tests/physics/test_slopes.py": "Boxes on slopes",
    "tests/physics/test_swinging.py": "Pendulums",
    "tests/physics/test_kept_energy.py": "Linkages that turn far in a frame",
    "tests/physics/test_driven_arms.py": "What hangs on arms that keyframes or motors turn",
    "tests/physics/test_turning_together.py": "Jointed bodies that turn together",
    "tests/physics/test_first_steps.py": "Springs in the first frames of a bake",
    "tests/physics/test_branching_mechanisms.py": "Mechanisms where they could branch",
    "tests/physics/test_mechanisms_energy.py": "Dampers, friction and springs in mechanisms",
    "tests/physics/test_joints_apart.py": "Joints that are apart at the start",
    "tests/physics/test_spinning.py": "Free rotation and tops",
    "tests/physics/test_leaning.py": "Coins that lean",
    "tests/physics/test_wobbling.py": "Discs that wobble on their rim (Euler's disc)",
    "tests/physics/test_rolling.py": "Rolling and sliding",
    "tests/physics/test_rocking.py": "What rocks on what is round, and round bodies",
    "tests/physics/test_riders.py": "Marbles in bowls that move, and balls on such domes",
    "tests/physics/test_rolling_fast.py": "Tins and pills that roll fast",
    "tests/physics/test_cones.py": "Cones and what rolls round its tip",
    "tests/physics/test_tins.py": "Tins, cones and discs near their tipping limit",
    "tests/physics/test_prisms.py": "Prisms of many sides near their tipping limit",
    "tests/physics/test_round_sides.py": "Cylinders, cones and wheels",
    "tests/physics/test_tipping.py": "Ladders and sticks on ice",
    "tests/physics/test_line_contacts.py": "Heaps of logs, pencils that roll and a rain of barrels",
    "tests/physics/test_rubble.py": "Heaps of stones and a broken wall",
    "tests/physics/test_rough_heaps.py": "Bins of rough pieces",
    "tests/physics/test_given_up.py": "What cannot be solved",
    "tests/physics/test_kerbs.py": "Wheels over kerbs",
    "tests/physics/test_slots.py": "Carts over slots",
    "tests/physics/test_carts_on_steps.py": "Carts on to a step",
    "tests/physics/test_surface_velocity.py": "Running surfaces",
    "tests/physics/test_carousels.py": "Riders on what goes round",
    "tests/physics/test_link_chains.py": "Chains of links that only touch",
    "tests/physics/test_links.py": "What moves along together, and is stopped",
    "tests/physics/test_hand_over.py": "Animated bodies",
    "tests/physics/test_keyed_strikes.py": "Strikes of keyed bodies that stop",
    "tests/physics/test_lifts.py": "Lifts that throw and plates that shake",
    "tests/physics/test_carried_straight.py": "What moves on floors that move",
    "tests/physics/test_carried_bounces.py": "Bounces on what moves straight on, and on belts",
    "tests/physics/test_shaken_floors.py": "Balls on lifts that get faster and on shaken tables",
    "tests/physics/test_driven_wheels.py": "Wheels that motors drive with all they have",
    "tests/physics/test_depths_told.py": "Depths of convex pairs that detection tells",
    "tests/physics/test_overreach.py": "Cams, gears and flippers",
    "tests/physics/test_gears.py": "Gears with long teeth",
    "tests/physics/test_overlapping_starts.py": "Bodies that start inside each other",
    "tests/physics/test_meshes_apart.py": "Concave meshes that start inside each other",
    "tests/physics/test_rebound.py": "Rebound",
    "tests/physics/test_hits_in_flight.py": "Hits in flight",
    "tests/physics/test_flight_without_rebound.py": "Hits in flight without a rebound",
    "tests/physics/test_fits.py": "Fits: shafts, drawers and doors with little or no clearance",
    "tests/physics/test_grippers.py": "Grippers",
    "tests/physics/test_jointed_slides.py": "Jointed bodies that slide",
    "tests/physics/test_turning_strikes.py": "Bats, hammers and rods that strike as they turn",
    "tests/physics/test_blows.py": "Blows that are over within a frame",
    "tests/physics/test_jointed_hits.py": "Rebound of jointed bodies",
    "tests/physics/test_hits_on_cloth.py": "Hits of what lies on cloth",
    "tests/physics/test_smooth_balls.py": "Smooth balls",
    "tests/physics/test_second_hits.py": "Second hits in a frame",
    "tests/physics/test_joint_axes.py": "Every law of an axis on all six axes",
    "tests/physics/test_joint_laws.py": "Springs, drives, friction of joints",
    "tests/physics/test_joint_friction_stops.py": "What friction of joints stops, and motors start, within a frame",
    "tests/physics/test_joint_limits.py": "Limits and breaking",
    "tests/physics/test_angular_limits.py": "Several angular limits at once",
    "tests/physics/test_half_turns.py": "Joints of several free axes that swing past half a turn",
    "tests/physics/test_soft_joints.py": "Compliance and damping",
    "tests/physics/test_compliance.py": "Compliance on the ground, on mounts and of ropes",
    "tests/physics/test_catches.py": "Ropes that catch",
    "tests/physics/test_springs_and_dampers.py": "Springs beside dampers of other joints",
    "tests/physics/test_weak_dampers.py": "Stiff springs with weak dampers",
    "tests/physics/test_springs_standing.py": "What stands on springs",
    "tests/physics/test_landings.py": "Landings on what is sprung",
    "tests/physics/test_damping.py": "Damping as a rate",
    "tests/physics/test_joint_motion.py": "Joints in motion",
    "tests/physics/test_joint_momentum.py": "Momentum of jointed pairs",
    "tests/physics/test_glued_flight.py": "Glued pieces in flight",
}
"""Test file -> heading of its figures, in the order of the page."""


def measure(file):
    """The Owns of one test file.

    Raises:
        SystemExit: a test failed, or none told a figure.
    """
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures.csv"
        environment = {**os.environ, "AXION_FIGURES": str(figures)}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{file} fails, nothing was written:\n{done.stdout[-3000:]}")
        if not figures.exists():
            raise SystemExit(f"{file} passes and prints no figure: nothing was written")
        with figures.open(newline="", encoding="utf-8") as lines:
            found = {tuple(line[:2]): Own(file, *line) for line in csv.reader(lines)}
    return list(found.values())


def measure_all(files):
    """Measure the test files, write the file and the page."""
    for file in files:
        fresh = measure(file)
        kept = [own for own in read_own() if own.file != file and own.file in FILES]
        write_own(sorted([*kept, *fresh], key=lambda own: list(FILES).index(own.file)))
        print(f"{file}: {len(fresh)} figures", flush=True)
    accuracy_page.main()


if __name__ == "__main__":
    measure_all(sys.argv[1:] or FILES)

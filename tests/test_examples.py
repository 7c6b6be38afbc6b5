# SPDX-License-Identifier: GPL-3.0-or-later
"""Every example runs: it builds its scene, and the scene that is committed is the one that it builds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("bpy", reason="examples are scenes for Blender")
ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("[0-9][0-9]_*.py"))
SIZE_LIMIT = 300_000

# The examples import axion like any user would; this gives them the checkout, installed or not.
BOOTSTRAP = f"""
import os, runpy, sys
sys.path.insert(0, {str(ROOT / "tests")!r})
import conftest
sys.argv = sys.argv[1:]
"""
RUN = BOOTSTRAP + 'runpy.run_path(sys.argv[0], run_name="__main__")'

# Prints what makes up a scene, as it is built and as it was committed.
COMPARE = (
    BOOTSTRAP
    + """
import json
import axion, bpy

def describe():
    scene = bpy.context.scene
    found = {"frames": [scene.frame_start, scene.frame_end, scene.render.fps], "camera": scene.camera.name}
    for item in scene.objects:
        body, joint = item.axion, item.axion_joint
        found[item.name] = {
            "place": [round(value, 4) for row in item.matrix_world for value in row],
            "vertices": len(item.data.vertices) if item.type == "MESH" else 0,
            "materials": [slot.material.name for slot in item.material_slots],
            "body": [body.enabled, body.type, body.collision_shape, round(body.mass, 4), round(body.friction, 4)],
            "joint": [joint.enabled, joint.type, *(o.name if o else None for o in (joint.object1, joint.object2))],
        }
    return found

axion.register()
runpy.run_path(sys.argv[0])["build_scene"]()
bpy.context.view_layer.update()
built = describe()
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
print("\\n" + json.dumps([built, describe()]), flush=True)
os._exit(0)
"""
)


def run(code, example, *arguments):
    """Run Python code on an example as a program of its own; returns what it printed."""
    command = [sys.executable, "-c", code, str(example), *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_committed_scene_is_small(example):
    assert example.with_suffix(".blend").stat().st_size < SIZE_LIMIT


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_committed_scene_is_the_one_the_example_builds(example):
    built, committed = json.loads(run(COMPARE, example, example.with_suffix(".blend")).splitlines()[-1])
    assert built.keys() == committed.keys()
    for name, described in built.items():
        assert committed[name] == described, f"{name}: run {example.name} to write the scene again"


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_leaves_what_it_promises(example, tmp_path):
    printed = run(RUN, example, "--output", tmp_path, "--frames", "4", "--no-picture")
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert [entry["frame"] for entry in report["frames"]] == [1, 2, 3]
    assert (tmp_path / "demo.blend").stat().st_size > 0
    for word in ("worst penetration", "worst joint error", "missed the tolerance"):
        assert word in printed

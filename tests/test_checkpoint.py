# SPDX-License-Identifier: GPL-3.0-or-later
"""A run resumed from a checkpoint gives the same bits as one that was never interrupted."""

import io

import numpy as np
import pytest
import table_scenes
from axion.solver import (
    Axis,
    Body,
    Box,
    Checkpoint,
    CheckpointError,
    ForceField,
    FrameResult,
    Joint,
    MotionPath,
    Scene,
    SolverConfig,
    Sphere,
    TriangleMesh,
    guide,
    rotations,
    simulate,
)
from axion.solver.step import Stepper
from axion.solver.substeps import Substeps
from contact_scenes import ell, grid, rock
from scenes import chain, ground, pile
from test_determinism import crowd

CPU = SolverConfig(device="cpu")


def struck_wall():
    """A heavy ball flies into a wall of bricks: steps are halved, contacts come and go."""
    scene = Scene()
    ground(scene)
    scene.add(Body("Ball", [Sphere(0.3)], position=(-0.9, 0.02, 0.4), linear_velocity=(12, 0, 1), mass=50.0))
    for row in range(3):
        for column in range(3):
            place = (0, (column - 1) * 0.51 + 0.1 * (row % 2), 0.15 + 0.3 * row)
            scene.add(Body(f"Brick {row}.{column}", [Box((0.15, 0.25, 0.15))], position=place, mass=2.0))
    return scene


def meshes():
    """L-shaped meshes fall on a mesh floor and on each other."""
    scene = Scene()
    scene.add(Body("Floor", [grid()], motion="static"))
    for i in range(3):
        scene.add(Body(f"Ell {i}", [ell()], position=(0.05 * i, 0.02 * i, 0.25 + 0.35 * i)))
    return scene


def rolling():
    """Balls and hulls on waves of triangles: what contacts carry that show at a step's end goes on to the next."""
    scene = Scene()
    scene.add(Body("Ground", [grid(32, 2.0, lambda x, y: 0.1 * np.sin(3.0 * x) * np.cos(2.0 * y))], motion="static"))
    for k in range(3):
        speed = {"linear_velocity": (1.0, 0.3 * k, 0.0), "angular_velocity": (0.0, 5.0, 1.0)}
        scene.add(Body(f"Rock {k}", [rock(20, k)], position=(-1.0, 0.6 * k - 0.6, 0.4), **speed))
        scene.add(Body(f"Ball {k}", [Sphere(0.1)], position=(0.0, 0.5 * k - 0.5, 0.25), **speed))
    return scene


def driven():
    """A platform on a path pushes boxes, one body is let go from its path, a motor follows an animated angle."""
    scene, times = Scene(), np.arange(31) / 24.0
    ground(scene)
    still = np.tile([0.0, 0.0, 0.0, 1.0], (31, 1))
    sway = np.stack([0.4 * np.sin(4.0 * times), 0.0 * times, 0.1 + 0.0 * times], axis=1)
    table = Body("Table", [Box((0.5, 0.5, 0.1))], motion="kinematic", path=MotionPath(times, sway, still))
    scene.add(table)
    for i in range(3):
        scene.add(Body(f"Box {i}", [Box((0.1, 0.1, 0.1))], position=(0.05 * i, 0, 0.31 + 0.22 * i)))
    fling = np.stack([2.0 * times, 1.5 + 0.0 * times, 1.0 + times], axis=1)[:9]
    scene.add(Body("Flung", [Sphere(0.1)], path=MotionPath(times[:9], fling, still[:9])))
    scene.add(Body("Arm", [Box((0.3, 0.05, 0.05))], position=(0.3, -1.5, 0.3), mass=2.0))
    turn = Axis(drive="position", stiffness=200.0, damping=5.0, target=(times, np.sin(3.0 * times)))
    scene.add(Joint("Motor", "hinge", None, "Arm", (0, -1.5, 0.3), axes={"rz": turn}))
    return scene


def wheel():
    """A fast top on a table and a wheel that turns many times about its hinge: twists are counted, spin asks steps."""
    scene = Scene()
    ground(scene)
    scene.add(Body("Wheel", [Box((0.3, 0.3, 0.03))], position=(0, 0, 1.5), angular_velocity=(0, 0, 40.0)))
    spring = Axis(lower=-1000.0, upper=1000.0, stiffness=0.1, friction=0.2)
    scene.add(Joint("Axle", "hinge", None, "Wheel", (0, 0, 1.5), axes={"rz": spring}))
    lean = (0.0998334166468, 0.0, 0.0, 0.995004165278)
    lean = np.array(lean) / np.linalg.norm(lean)
    top = Body("Top", [Box((0.1, 0.1, 0.02))], position=(2, 0, 0.3), orientation=lean, angular_velocity=(0, 0, 60.0))
    scene.add(top)
    return scene


def held():
    """A box on a floor that deforms, blown by wind, taken back in a glide and let go; another guided along a path."""
    t = np.linspace(0.0, 1.0, 25)
    path = MotionPath(t, np.column_stack([t, 0 * t, 0.6 + t]), np.tile([0, 0, 0, 1.0], (25, 1)))
    corners = np.array([(-3, -3, 0), (3, -3, 0), (3, 3, 0), (-3, 3, 0)], float)
    waves = [corners + [0, 0, 0.3 * time] for time in t]
    floor = TriangleMesh(corners, [(0, 1, 2), (0, 2, 3)], times=t, moving_vertices=waves)
    scene = Scene()
    scene.add(Body("Floor", [floor], motion="static"))
    scene.add(Body("Box", [Box((0.2, 0.2, 0.2))], position=(0, 0, 0.2), path=path, held=[(0.3, 0.6)], blend_time=0.25))
    follower = scene.add(Body("Follower", [Sphere(0.2)], position=(0.0, 1.0, 0.6)))
    guide(scene, follower, MotionPath(t, path.position + [0, 1, 0], path.orientation), 200.0, 20.0)
    sideways = rotations.exponential(np.array([0.0, 0.5 * np.pi, 0.0]))
    scene.add(ForceField("Wind", "wind", ((0.0, 1.0), (0.0, 9.0)), flow=0.5, orientation=sideways))
    return scene


SCENES = {
    "chain": (lambda: chain(8, end_mass_ratio=50.0, sideways=True), 20),
    "wall": (struck_wall, 20),
    "ragdoll": (lambda: table_scenes.ragdolls(1), 22),
    "breaking": (crowd, 14),
    "meshes": (meshes, 14),
    "rolling": (rolling, 18),
    "driven": (driven, 26),
    "wheel": (wheel, 14),
    "held": (held, 20),
}


def through_file(checkpoint):
    """The checkpoint as a file that knows nothing but arrays gives it back."""
    stored = io.BytesIO()
    np.savez(stored, **checkpoint.arrays)
    with np.load(io.BytesIO(stored.getvalue()), allow_pickle=False) as found:
        return Checkpoint(checkpoint.frame, checkpoint.fps, {name: found[name] for name in found.files})


def run(scene, frames, config=CPU, **options):
    """(Trajectory, {frame: Checkpoint as a file gives it back})."""
    checkpoints = {}

    def keep(result):
        checkpoints[result.frame] = through_file(result.checkpoint())

    return simulate(scene, frames, config=config, on_frame=keep, **options), checkpoints


def assert_same(resumed, whole, first):
    """Every number of the motion and of the reports from frame ``first`` on is the same, but for the time it took."""
    for name in ("times", "position", "orientation", "linear_velocity", "angular_velocity"):
        assert np.array_equal(getattr(resumed, name), getattr(whole, name)[first:]), f"{name} from frame {first}"
    for report in (*resumed.reports, *whole.reports):
        report.wall_time = 0.0
    assert resumed.reports == whole.reports[first:]
    assert list(resumed.broken_joints.items()) == list(whole.broken_joints.items())


@pytest.mark.parametrize("name", SCENES)
def test_a_resumed_run_has_the_same_bits(name):
    make, frames = SCENES[name]
    whole, checkpoints = run(make(), frames)
    assert name == "chain" or max(report.contacts for report in whole.reports) > 0
    assert name != "breaking" or whole.broken_joints
    first = frames // 3
    assert name != "rolling" or "state.late.force" in checkpoints[first].arrays
    resumed, again = run(make(), frames, resume=checkpoints[first])
    assert_same(resumed, whole, first)
    for key, values in checkpoints[frames].arrays.items():
        assert np.array_equal(values, again[frames].arrays[key]), key


def test_the_schur_method_and_single_precision_resume_as_well():
    for options in ({"precision": "float32"}, {"method": "schur", "substeps": 2}):
        config = SolverConfig(device="cpu", **options)
        whole, checkpoints = run(pile(2), 9, config)
        assert_same(run(pile(2), 9, config, resume=checkpoints[6])[0], whole, 6)


def test_a_run_may_be_resumed_again_and_again_and_at_its_last_frame():
    whole, checkpoints = run(pile(2), 4)
    for first in range(1, 4):
        part, found = run(pile(2), first + 1, resume=checkpoints[first])
        checkpoints[first + 1] = found[first + 1]
        assert np.array_equal(part.position, whole.position[first : first + 2])
    nothing = simulate(pile(2), 4, config=CPU, resume=checkpoints[4])
    assert nothing.reports == [] and np.array_equal(nothing.position[0], whole.position[4])


def test_frames_are_numbered_on():
    _, checkpoints = run(pile(1), 4)
    seen = []
    note = lambda result: seen.append((result.frame, result.time))  # noqa: E731
    trajectory = simulate(pile(1), 6, config=CPU, resume=checkpoints[4], on_frame=note)
    assert seen == [(5, 5 / 24.0), (6, 6 / 24.0)]
    assert [report.frame for report in trajectory.reports] == [5, 6]


def test_a_checkpoint_is_asked_for_in_time():
    kept = []
    simulate(pile(1), 2, config=CPU, on_frame=kept.append)
    with pytest.raises(RuntimeError, match="frame 1 is over"):
        kept[0].checkpoint()
    with pytest.raises(RuntimeError, match="no running simulation"):
        FrameResult(1, 0.0, *[np.zeros((1, 3))] * 4, None).checkpoint()


@pytest.mark.parametrize(("frames", "fps"), [(3, 24.0), (9, 25.0)])
def test_a_checkpoint_of_another_time_line_is_refused(frames, fps):
    _, checkpoints = run(pile(1), 4)
    with pytest.raises(ValueError, match="frame 4 at 24 frames per second"):
        simulate(pile(1), frames, fps, CPU, resume=checkpoints[4])


def test_a_checkpoint_of_another_scene_is_refused():
    _, checkpoints = run(pile(3), 4)
    for scene in (pile(2), chain(3), Scene()):
        with pytest.raises(ValueError, match="belongs to another scene"):
            simulate(scene, 9, config=CPU, resume=checkpoints[4])


def test_a_checkpoint_that_lacks_anything_is_refused_before_a_step():
    _, checkpoints = run(pile(3), 6)
    good = checkpoints[6]
    assert {"state.way", "state.owed", "state.proof", "collider.origin"} <= good.arrays.keys()
    for name in good.arrays:
        arrays = {key: values for key, values in good.arrays.items() if key != name}
        with pytest.raises(CheckpointError, match=r"the checkpoint (lacks|holds|has)"):
            simulate(pile(3), 7, config=CPU, resume=Checkpoint(6, 24.0, arrays))
    arrays = good.arrays | {"state.owed": np.zeros((4, 5))}
    with pytest.raises(CheckpointError, match="state.owed of the checkpoint has 4x5 values"):
        simulate(pile(3), 7, config=CPU, resume=Checkpoint(6, 24.0, arrays))


def spoil(values, random):
    """The array with another type, another length, or values that point anywhere."""
    kind = random.integers(4)
    if kind == 0:
        return values.astype("U8")
    if kind == 1:
        return np.concatenate([np.atleast_1d(values)] * 2)
    if kind == 2:
        return np.atleast_1d(values)[:0]
    return np.full_like(values, 2**30 if values.dtype.kind in "iu" else np.nan if values.dtype.kind == "f" else 0)


def test_a_spoilt_checkpoint_is_refused_or_gives_numbers_but_never_crashes():
    # What passes the tests of type, shape and range can only be wrong numbers: those are what a checkpoint is made of.
    _, checkpoints = run(pile(4), 12)
    good, random, refused = checkpoints[12], np.random.default_rng(0), 0
    for name in good.arrays:
        for change in ("spoil", "drop"):
            arrays = dict(good.arrays)
            if change == "drop":
                del arrays[name]
            else:
                arrays[name] = spoil(arrays[name], random)
            try:
                simulate(pile(4), 12, config=CPU, resume=Checkpoint(12, 24.0, arrays))
            except ValueError as error:
                assert "checkpoint" in str(error)
                refused += 1
    assert refused > 1.5 * len(good.arrays)


CARRIED = {
    "Stepper": "state deepest failures crushed",
    "State": "time position orientation velocity eps swept contacts contact_force locked late way ruled owed left along"
    " beyond glide still proof",
    "Collider": "accepted _origin _contact_capacity _triangle_capacity sunk ways",
    "JointTable": "angle force alive broken caught",
    "Substeps": "count taken _quiet",
}
"""What checkpoint.py saves."""
MADE = {
    "Stepper": "assembler collider glue frames joints solver model position_phase fast joint_damping recorder rest"
    " longest records carried straight without_room",
    "Collider": "model _pipeline _state _stage _contacts _graphs _sides _stuck _near _impacts jointed pieces alive"
    " tolerance released turning _looked_at",
    "JointTable": "joints _asks _joint _places _position _orientation fixed start _frames _observer _closing"
    " _strength _breakable _standing _around _cascade _asker _law _pulled _giving _arriving _driven _soft limits _gains"
    " leaps gives springs _swinging ropes least whole catches",
    "Substeps": "fixed multiple",
    "Assembler": "scene frames joints release linear_damping angular_damping materials surface_velocity slow rims cores"
    " riding noise flat _moving holding hand_over force_fields outlines _motion _foresight _places _numbering _linking"
    " _inert asleep carried _surfaces_run _joined flights hangs spinning until frame",
    "PositionPhase": "assembler collider frames joints solver slow fast judge surfaces effort",
    "Gyroscopes": "frames joints ball _known",
    "ProximalSolver": "device problem _ropes _contact _joint _motion _momentum _stiffness _assembly _cg"
    " _gradient_kernel _search _sweep _squeezes _arcs _unhindered _passing _mix _control _limits resting stirring"
    " eps_at_rest hanging branching spinning _eps_joint _graphs _loaded _recorded",
    "DeviceProblem": "device real capacity generation topology factor _factor_generation _factored _into order counts"
    " _eliminator usual _laid launched"
    " flags settings cg_reduction cg_most direct bodies contacts rows pairs matrix islands plan figures _kernels"
    " _grouped _welded width teams team_room blocks runs",
}
"""What is made from the scene, or anew in each step before it is read."""


def test_every_attribute_is_carried_or_made_anew():
    """Whoever adds an attribute decides which it is: what is carried belongs into solver/checkpoint.py."""
    found = {}

    def look(stepper, step):
        things = stepper, stepper.state, stepper.collider, stepper.joints, stepper.assembler, stepper.position_phase
        for thing in (*things, stepper.solver, stepper.solver.problem):
            found[type(thing).__name__] = set(vars(thing))
        return advance(stepper, step)

    advance = Stepper.advance
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stepper, "advance", look)
        simulate(crowd(), 2, config=CPU)
    found["Substeps"] = set(vars(Substeps()))
    for name, attributes in found.items():
        known = {*CARRIED.get(name, "").split(), *MADE.get(name, "").split()}
        assert attributes <= known, f"{name} has new attributes: {attributes - known}"

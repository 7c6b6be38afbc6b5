# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's own verification and friction suites, run on SolverAxion: their scenes, their laws, their thresholds.

Nothing of them is copied.  ``newton.tests`` has them as functions test_x(test, device, solver_fn, ...); each that a
solver of rigid bodies can run is run here on the CPU, with the parameters newton gives to its exact solvers.
"""

import unittest
from types import SimpleNamespace

import newton
import newton.tests.test_physics_verification as verification
import newton.tests.test_rigid_friction_ramp as friction
import numpy as np
import pytest
import warp as wp
from axion.solver.newton_solver import SolverAxion
from figures import figure

COULOMB = friction._SOLVERS["xpbd"]  # what newton asks of solvers with a Coulomb cone

NOT_APPLICABLE = {
    # It writes MuJoCo's geom_solref (springs of soft contacts) and steps with contacts=None: MuJoCo detects its own.
    "test_restitution_mujoco": "rigid contacts have no solref; restitution 0 and 1 are in test_restitution_sweep",
}
"""Functions of newton's suites that say nothing about this solver, and why."""
# test_fourbar_linkage(use_loop_joint=False) is left out: its loop is closed by a row of mujoco:equality_constraint_*,
# which SolverMuJoCo alone reads; use_loop_joint=True is the same mechanism closed by a joint.


class Witness(unittest.TestCase):
    """Asserts as unittest does, and remembers how much of the tightest bound was used up."""

    used, compared = 0.0, 0

    def tell(self, share):
        """That ``share`` of a bound was used; none of it may be, where rounding leaves nothing."""
        self.used, self.compared = max(self.used, share), self.compared + 1

    def assertLess(self, a, b, msg=None):
        """As in unittest."""
        self.tell(abs(a) / abs(b))
        super().assertLess(a, b, msg)

    def assertAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        """As in unittest."""
        self.tell(abs(first - second) / delta)
        super().assertAlmostEqual(first, second, places, msg, delta)


class Limit(float):
    """A threshold of the friction suites, which compare by themselves: it tells a witness how much of it was used."""

    def __new__(cls, value, witness):
        """A float like any other, but for its comparisons."""
        limit = super().__new__(cls, value)
        limit.witness = witness
        return limit

    def _below(self, other):
        self.witness.tell(other / self)

    def __lt__(self, other):
        """Asked by ``other > limit``."""
        self._below(other)
        return float(self) < other

    def __le__(self, other):
        """Asked by ``other >= limit``."""
        self._below(other)
        return float(self) <= other

    def __gt__(self, other):
        """Asked by ``other < limit``, of the least that something has to slide."""
        self.witness.tell(self / other if other > 0.0 else np.inf)
        return float(self) > other

    __hash__ = float.__hash__


def with_mujoco_members(model):
    """A plain SolverAxion that bears the members of SolverMuJoCo without which no loop test gets to its first step.

    All four read use_mujoco_cpu and then the MuJoCo model that it names.  There they soften or stiffen closures
    (eq_solref: ours are rigid, nobody reads it), ask for a closure's anchor on the child (eq_data), and set gravity,
    which is that of the newton model here.
    """
    solver = SolverAxion(model)
    loops = np.flatnonzero(model.joint_articulation.numpy() < 0)
    anchor = model.joint_X_c.numpy()[loops, :3]
    solver.use_mujoco_cpu = True
    solver.mj_model = SimpleNamespace(
        eq_solref=np.zeros((len(loops), 2)),
        eq_data=np.hstack([np.zeros((len(loops), 3)), anchor]),
        opt=SimpleNamespace(gravity=model.gravity.numpy().reshape(-1, 3)[0]),  # the array itself, on the CPU
    )
    return solver


def started_from_joints(model):
    """The same for tests that write their start to joint_q and joint_qd alone, which are MuJoCo's state but not ours.

    The bodies are brought there before the first step; every step is that of SolverAxion.
    """
    solver = with_mujoco_members(model)

    def first_step(state_in, *arguments):
        del solver.step
        newton.eval_fk(model, state_in.joint_q, state_in.joint_qd, state_in)
        solver.step(state_in, *arguments)

    solver.step = first_step
    return solver


def case(function, solver=SolverAxion, name=None, slow=False, **arguments):
    """One pytest parameter: a function of newton's suites with the arguments newton passes to it."""
    marks = [pytest.mark.slow] if slow else []
    return pytest.param(function, solver, arguments, id=name or function.__name__, marks=marks)


CASES = [
    case(verification.test_free_fall),
    case(verification.test_projectile_motion, uses_generalized_coords=False),
    case(verification.test_projectile_motion, name="test_projectile_motion_joint_qd", uses_generalized_coords=True),
    case(verification.test_momentum_conservation, uses_generalized_coords=False),
    case(verification.test_torque_free_precession),
    case(verification.test_joint_actuation),
    case(verification.test_pendulum_period, slow=True, uses_generalized_coords=True),
    case(verification.test_energy_conservation, slow=True, uses_generalized_coords=False),
    case(verification.test_restitution),
    case(
        verification.test_restitution,
        name="test_restitution_sweep",
        shapes=("sphere", "box"),
        restitution_values=(0.0, 0.25, 0.5, 0.75, 1.0),
        simulation_dts=(1e-2, 1e-3),
        contact_gaps=(0.0, 0.01),
    ),
    case(verification.test_fourbar_linkage, with_mujoco_members, slow=True, use_loop_joint=True),
    case(verification.test_revolute_loop_joint, started_from_joints, slow=True),
    case(verification.test_ball_loop_joint, started_from_joints),
    case(verification.test_fixed_loop_joint, with_mujoco_members),
    case(
        friction.test_friction_ramp,
        slow=True,
        mus=COULOMB["mus"],
        angles_deg=COULOMB["angles_deg"],
        thresholds=COULOMB["thresholds"],
    ),
    case(
        friction.test_friction_stopping_distance,
        slow=True,
        rel_tol=COULOMB["stopping_distance_rel_tol"],
        rest_speed_max=COULOMB["stopping_distance_rest_speed_max"],
    ),
]


@pytest.mark.parametrize(("function", "solver", "arguments"), CASES)
def test_newton_suite(function, solver, arguments, request):
    witness = Witness()
    function(witness, wp.get_device("cpu"), solver, **watched(arguments, witness))
    assert witness.compared > 0, "nothing was compared with a bound"
    figure(request.node.callspec.id, "of newton's tightest bound", 100.0 * witness.used, 100, "%")


def watched(arguments, witness):
    """The arguments of a friction suite with Limits for thresholds; those of others as they are."""
    limits = {name: Limit(arguments[name], witness) for name in ("rel_tol", "rest_speed_max") if name in arguments}
    if "thresholds" in arguments:
        asked = arguments["thresholds"]
        names = "v_rest", "eps_pos", "min_slide"
        limits["thresholds"] = asked._replace(**{name: Limit(getattr(asked, name), witness) for name in names})
    return arguments | limits


def test_no_function_of_the_suites_is_forgotten():
    there = {name for module in (verification, friction) for name in vars(module) if name.startswith("test_")}
    run = {parameter.values[0].__name__ for parameter in CASES}
    assert run | set(NOT_APPLICABLE) == there
    assert not run & set(NOT_APPLICABLE)

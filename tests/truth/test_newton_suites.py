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

COULOMB = friction._SOLVERS["xpbd"]  # what newton asks of solvers with a Coulomb cone

NOT_APPLICABLE = {
    "test_restitution_mujoco": (
        "it sets the stiffness and damping of MuJoCo's soft contacts (solref) and lets MuJoCo detect them; our contact "
        "is rigid, and restitution is a coefficient: test_restitution has that"
    ),
}
"""Functions of newton's suites that say nothing about this solver, and why.

test_fourbar_linkage(use_loop_joint=False) is left out as well: its loop is closed by a MuJoCo equality, a custom
attribute that no other solver reads; use_loop_joint=True is the same mechanism closed by a joint.
"""


class Witness(unittest.TestCase):
    """Asserts as unittest does, and remembers how much of the tightest bound was used up."""

    used = 0.0

    def assertLess(self, a, b, msg=None):
        """As in unittest."""
        self.used = max(self.used, abs(a) / abs(b))
        super().assertLess(a, b, msg)

    def assertAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        """As in unittest."""
        self.used = max(self.used, abs(first - second) / delta)
        super().assertAlmostEqual(first, second, places, msg, delta)


class LoopSolver(SolverAxion):
    """SolverAxion with those members of SolverMuJoCo that the loop tests reach for.

    They soften or stiffen MuJoCo's closures (eq_solref: ours are rigid), read the closure's anchor on the child
    (eq_data), and set gravity in MuJoCo's model.  MuJoCo's state is joint_q and joint_qd, and some of these tests write
    their start there alone, so the bodies are brought to it before the first step.
    """

    use_mujoco_cpu = True

    def __init__(self, model):
        super().__init__(model)
        loops = np.flatnonzero(model.joint_articulation.numpy() < 0)
        anchor = model.joint_X_c.numpy()[loops, :3]
        self.mj_model = SimpleNamespace(
            eq_solref=np.zeros((len(loops), 2)),
            eq_data=np.hstack([np.zeros((len(loops), 3)), anchor]),
            opt=SimpleNamespace(gravity=model.gravity.numpy().reshape(-1, 3)[0].copy()),
        )
        self._started = False

    def step(self, state_in, state_out, control, contacts, dt):
        """SolverAxion.step, after the start has been brought over."""
        if not self._started:
            self._started = True
            self.model.set_gravity(tuple(self.mj_model.opt.gravity))
            newton.eval_fk(self.model, state_in.joint_q, state_in.joint_qd, state_in)
        super().step(state_in, state_out, control, contacts, dt)


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
    case(verification.test_fourbar_linkage, LoopSolver, slow=True, use_loop_joint=True),
    case(verification.test_revolute_loop_joint, LoopSolver, slow=True),
    case(verification.test_ball_loop_joint, LoopSolver),
    case(verification.test_fixed_loop_joint, LoopSolver),
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
    function(witness, wp.get_device("cpu"), solver, **arguments)
    if witness.used:  # the friction suites compare by themselves
        print(f"{request.node.callspec.id}: {100.0 * witness.used:.3g} % of newton's bound")


def test_no_function_of_the_suites_is_forgotten():
    there = {name for module in (verification, friction) for name in vars(module) if name.startswith("test_")}
    run = {parameter.values[0].__name__ for parameter in CASES}
    assert run | set(NOT_APPLICABLE) == there
    assert not run & set(NOT_APPLICABLE)

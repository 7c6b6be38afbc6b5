# SPDX-License-Identifier: GPL-3.0-or-later
"""Andrews' squeezing mechanism (IVP Test Set "andrews", Mazzia and Magherini 2008): seven planar bodies, ten pins.

Accelerations and loop forces at the start, and the motion to t = 0.03 s, against the published numbers.  No gravity.
"""

import numpy as np
from axion.solver.reference.gauss import least_constraint_acceleration
from axion.solver.reference.multipliers import constraint_force, constraint_multipliers
from figures import figure

MASS = np.array([0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498])
INERTIA = np.array([2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5])
A, B, C = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), np.array([0.014, 0.072])
STIFFNESS, REST_LENGTH, MOTOR = 4530.0, 0.07785, 0.033
d, da, e, ea, rr, ra, ss, sa, sb, sc, sd = (
    0.028,
    0.0115,
    0.02,
    0.01421,
    0.007,
    0.00092,
    0.035,
    0.01874,
    0.01043,
    0.018,
    0.02,
)
ta, tb, u, ua, ub, zf, zt, fa = 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421

# beta, Theta, gamma, Phi, delta, Omega, epsilon
START = np.array([-0.0617138900142764496, 0.0, 0.45527981916307038, 0.222668390165885885, 0.48736497954384255,
                  -0.222668390165885885, 1.230547444549821])  # fmt: skip
END = np.array([15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
                0.5347301163226948, 1.048080741042263])  # fmt: skip


def along(angle):
    return np.array([np.cos(angle), np.sin(angle)])


def across(angle):
    return np.array([np.sin(angle), -np.cos(angle)])


def body_angles(q):
    """Turn of each of the seven bodies, from the seven published angles."""
    beta, theta, gamma, phi, delta, omega, epsilon = q
    return np.array([beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon])


def published_angles(turn):
    beta, beta_theta, gamma, phi_delta, delta, omega_epsilon, epsilon = turn
    return np.array([beta, beta_theta - beta, gamma, phi_delta - delta, delta, omega_epsilon - epsilon, epsilon])


def places(q):
    """Pins by name, and centres of mass (7, 2), of the closed mechanism."""
    beta, theta, gamma, phi, delta, omega, epsilon = q
    F, G, H = rr * along(beta), A + zt * along(delta), A + u * across(epsilon)
    pins = {"O": np.zeros(2), "F": F, "E": F - d * along(beta + theta), "B": B, "G": G, "A": A, "H": H}
    pins["D"] = B + sd * along(gamma) + sc * across(gamma)
    centres = [ra * along(beta), F - da * along(beta + theta), B + sa * across(gamma) + sb * along(gamma),
               G + (e - ea) * across(phi + delta), A + ta * along(delta) - tb * across(delta),
               H + (zf - fa) * along(omega + epsilon), A + ua * across(epsilon) - ub * along(epsilon)]  # fmt: skip
    return pins, np.array(centres)


def rotated(turn, local):
    cosine, sine = np.cos(turn), np.sin(turn)
    return np.array([cosine * local[0] - sine * local[1], sine * local[0] + cosine * local[1]])


PINS = [(None, 0, "O"), (0, 1, "F"), (1, 2, "E"), (None, 2, "B"), (1, 3, "E"), (3, 4, "G"), (None, 4, "A"),
        (1, 5, "E"), (5, 6, "H"), (None, 6, "A")]  # fmt: skip


class Squeezer:
    """Maximal coordinates: x, y, turn of each body (21), two rows for each of the ten pins (20)."""

    def __init__(self):
        pins, centres = places(START)
        turn = body_angles(START)
        self.state = np.column_stack([centres, turn]).ravel()
        self.ground = [pins[name] for _, _, name in PINS]
        self.local = [
            {body: rotated(-turn[body], pins[name] - centres[body]) for body in pair if body is not None}
            for *pair, name in PINS
        ]
        self.spring_local = rotated(-turn[2], pins["D"] - centres[2])
        self.M = np.diag(np.column_stack([MASS, MASS, INERTIA]).ravel())

    def force(self, state):
        x, force = state.reshape(7, 3), np.zeros((7, 3))
        lever = rotated(x[2, 2], self.spring_local)
        stretch = x[2, :2] + lever - C
        length = np.linalg.norm(stretch)
        pull = -STIFFNESS * (length - REST_LENGTH) / length * stretch
        force[0, 2] = MOTOR
        force[2] = [*pull, lever[0] * pull[1] - lever[1] * pull[0]]
        return force.ravel()

    def constraints(self, state, speed):
        """C, J and J' q' of the ten pins: point of the second body minus that of the first."""
        x, v = state.reshape(7, 3), speed.reshape(7, 3)
        value, J, bias = np.zeros((10, 2)), np.zeros((10, 2, 7, 3)), np.zeros((10, 2))
        for k, (first, second, _) in enumerate(PINS):
            value[k] = 0.0 if first is not None else -self.ground[k]
            for body, sign in ((first, -1.0), (second, 1.0)):
                if body is None:
                    continue
                lever = rotated(x[body, 2], self.local[k][body])
                value[k] += sign * (x[body, :2] + lever)
                J[k, :, body, :2] = sign * np.eye(2)
                J[k, :, body, 2] = sign * np.array([-lever[1], lever[0]])
                bias[k] -= sign * v[body, 2] ** 2 * lever
        return value.ravel(), J.reshape(20, 21), bias.ravel()


def test_published_geometry_closes():
    # The loops meet in E and the constraints hold, to the digits of the published angles.
    pins, _ = places(START)
    _, _, gamma, phi, delta, omega, epsilon = START
    loops = [B + ss * across(gamma), pins["G"] + e * across(phi + delta), pins["H"] + zf * along(omega + epsilon)]
    apart = np.abs(np.array(loops) - pins["E"]).max()
    assert figure("squeezer, reference", "loops apart in E", apart, 1e-15, "m") < 1e-15
    squeezer = Squeezer()
    apart = np.abs(squeezer.constraints(squeezer.state, np.zeros(21))[0]).max()
    assert figure("squeezer, reference", "pins apart at the start", apart, 1e-15, "m") < 1e-15


def check_start(acceleration, way):
    turn = acceleration.reshape(7, 3)[:, 2]
    published = np.array([14222.4439199541, -10666.8329399656])
    off = np.abs(np.array([turn[0], turn[1] - turn[0]]) / published - 1.0).max()
    assert figure(f"squeezer, reference by {way}", "first acceleration off, relative", off, 1e-9) < 1e-9


def test_start_by_gauss():
    squeezer = Squeezer()
    free = np.linalg.solve(squeezer.M, squeezer.force(squeezer.state))
    _, J, bias = squeezer.constraints(squeezer.state, np.zeros(21))
    check_start(least_constraint_acceleration(squeezer.M, free, J, -bias), "Gauss")


def test_start_by_multipliers():
    # The published multipliers of the three loops through E are its pins' forces on bodies 3, 4 and 6; those of the
    # last two are zero.
    squeezer = Squeezer()
    C, J, bias = squeezer.constraints(squeezer.state, np.zeros(21))
    assert np.linalg.matrix_rank(J) == 20
    W, Q = np.linalg.inv(squeezer.M), squeezer.force(squeezer.state)
    lam = constraint_multipliers(J, W, Q, bias, C, np.zeros(20), 0.0, 0.0)
    check_start(W @ (Q + constraint_force(J, lam)), "multipliers")
    off = np.abs(lam[4:6] / [98.5668703962411, -6.12268834425567] - 1.0).max()
    assert figure("squeezer, reference by multipliers", "loop forces off, relative", off, 1e-9) < 1e-9
    idle = np.abs(lam[[8, 9, 14, 15]]).max()
    assert figure("squeezer, reference by multipliers", "forces that are zero", idle, 1e-9, "N") < 1e-9


def test_motion_to_the_published_end():
    # Multipliers with drift feedback and classical Runge-Kutta: body 1 turns by 15.8 rad on the way.
    squeezer = Squeezer()
    W = np.linalg.inv(squeezer.M)
    rate = 1e3

    def derivative(state):
        x, v = state[:21], state[21:]
        C, J, bias = squeezer.constraints(x, v)
        Q = squeezer.force(x)
        lam = constraint_multipliers(J, W, Q, bias, C, J @ v, rate**2, 2 * rate)
        return np.concatenate([v, W @ (Q + constraint_force(J, lam))])

    steps = 1000
    h = 0.03 / steps
    state = np.concatenate([squeezer.state, np.zeros(21)])
    for _ in range(steps):
        k1 = derivative(state)
        k2 = derivative(state + h / 2 * k1)
        k3 = derivative(state + h / 2 * k2)
        k4 = derivative(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    error = np.abs(published_angles(state[:21].reshape(7, 3)[:, 2]) - END).max()
    assert figure("squeezer, reference", "worst angle at 0.03 s off the published one", error, 1e-6, "rad") < 1e-6
    apart = np.abs(squeezer.constraints(state[:21], state[21:])[0]).max()
    assert figure("squeezer, reference", "pins apart at 0.03 s", apart, 1e-9, "m") < 1e-9

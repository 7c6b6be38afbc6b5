# SPDX-License-Identifier: GPL-3.0-or-later
"""Every joint coordinate and contact gap: its value where it is known by hand, its Jacobian by central differences."""

import numpy as np
import pytest
from axion.solver.problem import Contacts, Coordinate, JointRows, tangents
from axion.solver.reference.rotation import conjugate, exponential, halfway, multiply, rotate
from axion.solver.reference.rows import (
    OVER,
    SWUNG,
    contact_jacobians,
    coordinates,
    gaps,
    jacobians,
    mean_jacobians,
    surface_slip,
    with_start_levers,
)

IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])


def unit(rng, *shape):
    v = rng.normal(size=shape)
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def random_rows(kind, count=8, bodies=4, seed=0):
    rng = np.random.default_rng(seed)
    rows = JointRows.of(count)
    rows.coordinate[:] = kind
    rows.body_a = rng.integers(0, bodies, count)
    rows.body_b = (rows.body_a + 1 + rng.integers(0, bodies - 1, count)) % bodies
    rows.anchor_a, rows.anchor_b = rng.normal(size=(2, count, 3))
    rows.axis_a, rows.axis_b = unit(rng, 2, count, 3)
    rows.reference = unit(rng, count, 4)
    rows.offset = rng.normal(size=count)
    return rows, rng.normal(size=(bodies, 3)), unit(rng, bodies, 4)


def moved(position, orientation, body, axis, amount):
    """The bodies after one of them moved by ``amount`` along one of its six velocity components."""
    position, orientation = position.copy(), orientation.copy()
    direction = amount * np.eye(3)[axis % 3]
    if axis < 3:
        position[body] += direction
    else:
        orientation[body] = multiply(exponential(direction), orientation[body])
    return position, orientation


def central_differences(function, position, orientation, step=1e-6):
    """d function / d velocity of each body: (bodies, 6, rows)."""
    pose = position, orientation
    return np.array(
        [
            [
                (function(*moved(*pose, body, axis, step)) - function(*moved(*pose, body, axis, -step))) / (2 * step)
                for axis in range(6)
            ]
            for body in range(len(position))
        ]
    )


def scattered(bodies, body_a, body_b, j_a, j_b):
    """The same layout from the two halves of each row."""
    dense = np.zeros((bodies, 6, len(body_a)))
    every = np.arange(len(body_a))
    dense[body_a, :, every] += j_a
    dense[body_b, :, every] += j_b
    return dense


@pytest.mark.parametrize("kind", list(Coordinate))
@pytest.mark.parametrize("seed", range(3))
def test_joint_jacobian_is_the_derivative_of_the_coordinate(kind, seed):
    rows, position, orientation = random_rows(kind, seed=seed)
    near = coordinates(rows, position, orientation) + rows.offset  # no branch cut between the two differences
    expected = central_differences(lambda x, q: coordinates(rows, x, q, near), position, orientation)
    got = scattered(len(position), rows.body_a, rows.body_b, *jacobians(rows, position, orientation))
    assert np.abs(got - expected).max() < 1e-7


@pytest.mark.parametrize("kind", list(Coordinate))
def test_impulse_of_a_joint_row_leaves_the_total_momentum(kind):
    # J^T p must carry no net force and no net torque about the origin: internal forces change no total momentum.
    rows, position, orientation = random_rows(kind)
    j_a, j_b = jacobians(rows, position, orientation)
    torque = j_a[:, 3:] + np.cross(position[rows.body_a], j_a[:, :3])
    torque += j_b[:, 3:] + np.cross(position[rows.body_b], j_b[:, :3])
    assert np.abs(j_a[:, :3] + j_b[:, :3]).max() < 1e-15
    assert np.abs(torque).max() < 1e-13


def far_away(orientation, position, seed):
    """Another pose (B, 3), (B, 4) of all bodies, up to 2 rad and some metres off."""
    rng = np.random.default_rng(seed)
    turn = unit(rng, len(position), 3) * rng.uniform(0.1, 2.0, (len(position), 1))
    return position + rng.normal(size=position.shape), multiply(exponential(turn), orientation)


@pytest.mark.parametrize("kind", [Coordinate.LINEAR, Coordinate.DOT, Coordinate.DISTANCE])
@pytest.mark.parametrize("seed", range(3))
def test_mid_step_directions_measure_the_whole_way(kind, seed):
    # J s = c(q+) - c(q-) exactly, s = (x+ - x-, 2 tan(phi / 2) k): where c stays the impulse does no work.
    rows, *start = random_rows(kind, seed=seed)
    end = far_away(start[1], start[0], seed + 100)
    turn = multiply(end[1], conjugate(start[1]))
    s = np.hstack([end[0] - start[0], 2.0 * turn[:, :3] / turn[:, 3:]])
    j_a, j_b = mean_jacobians(rows, start, end)
    done = np.einsum("ri,ri->r", j_a, s[rows.body_a]) + np.einsum("ri,ri->r", j_b, s[rows.body_b])
    change = coordinates(rows, *end) - coordinates(rows, *start)
    assert np.abs(change).max() > 0.1
    assert np.abs(done - change).max() < 1e-13 * (1.0 + np.abs(s).max()) ** 2
    # Directions at the pose half way do not.
    middle = jacobians(rows, 0.5 * (start[0] + end[0]), halfway(start[1], end[1]))
    off = sum(np.einsum("ri,ri->r", j, s[body]) for j, body in zip(middle, (rows.body_a, rows.body_b), strict=True))
    assert np.abs(off - change).max() > 1e-3


@pytest.mark.parametrize("kind", list(Coordinate))
def test_mid_step_directions_keep_momentum_and_become_those_of_the_pose(kind):
    rows, *start = random_rows(kind)
    for mean, own in zip(mean_jacobians(rows, start, start), jacobians(rows, *start), strict=True):
        np.testing.assert_allclose(mean, own, atol=1e-14)
    end = far_away(start[1], start[0], 5)
    j_a, j_b = mean_jacobians(rows, start, end)
    middle = 0.5 * (start[0] + end[0])
    torque = j_a[:, 3:] + np.cross(middle[rows.body_a], j_a[:, :3])
    torque += j_b[:, 3:] + np.cross(middle[rows.body_b], j_b[:, :3])
    assert np.abs(j_a[:, :3] + j_b[:, :3]).max() < 1e-15
    assert np.abs(torque).max() < 1e-13


@pytest.mark.parametrize("kind", list(Coordinate))
def test_mid_step_is_half_at_the_levers_of_the_start_and_half_at_those_of_the_end(kind):
    rows, *start = random_rows(kind)
    end = far_away(start[1], start[0], 6)
    mean, everyone = mean_jacobians(rows, start, end), np.ones(len(start[0]), bool)
    early = with_start_levers(rows, start, end, mean, everyone)
    late = with_start_levers(rows, end, start, mean, everyone)
    for whole, first, second in zip(mean, early, late, strict=True):
        np.testing.assert_allclose(first + second, 2.0 * whole, atol=1e-13)
        np.testing.assert_array_equal(first[:, :3], whole[:, :3])
    for unmoved, whole in zip(with_start_levers(rows, start, end, mean, ~everyone), mean, strict=True):
        np.testing.assert_array_equal(unmoved, whole)


def test_linear_is_measured_along_axes_of_body_a():
    # a turned by 90 degrees about z: its x axis is the world's y axis, along which b's anchor lies 3 m away.
    rows = JointRows.of(1)
    rows.body_b[:] = 1
    rows.axis_a[:] = (1, 0, 0)
    rows.anchor_b[:] = (0, 0.5, 0)
    rows.offset[:] = 1.0
    orientation = np.array([exponential(np.array([0, 0, np.pi / 2])), IDENTITY])
    assert coordinates(rows, np.array([[0, 0, 0], [7, 2.5, 0]]), orientation) == pytest.approx([2.0], abs=1e-14)


@pytest.mark.parametrize("turns", [-1.7, -0.4, 0.0, 0.3, 0.9, 2.6])
def test_twist_is_the_angle_about_the_axis_and_unwraps_around_near(turns):
    # b turned about a's axis k by an angle beyond its reference; the quaternion alone knows it modulo one turn.
    rng = np.random.default_rng(1)
    rows, position, orientation = random_rows(Coordinate.TWIST, count=1, bodies=2)
    rows.body_a[:], rows.body_b[:] = 0, 1
    angle = 2 * np.pi * turns
    orientation[1] = multiply(multiply(orientation[0], exponential(angle * rows.axis_a[0])), rows.reference[0])
    near = np.array([angle + rng.uniform(-3, 3)])
    assert coordinates(rows, position, orientation, near) + rows.offset == pytest.approx([angle], abs=1e-12)
    rows.offset[:] = angle - 0.5
    assert coordinates(rows, position, orientation) == pytest.approx([0.5], abs=1e-12)
    assert coordinates(rows, position, -orientation) == pytest.approx([0.5], abs=1e-12)


def test_twist_ignores_swing():
    # A rotation by swing (axis across k) after a twist about k: the twist angle is that of the decomposition.
    rows, position, orientation = random_rows(Coordinate.TWIST, count=1, bodies=2)
    rows.body_a[:], rows.body_b[:], rows.offset[:] = 0, 1, 0
    k = rows.axis_a[0]
    across = np.cross(k, [1.0, 0, 0])
    across /= np.linalg.norm(across)
    turned = multiply(exponential(0.8 * across), exponential(1.1 * k))
    orientation[1] = multiply(multiply(orientation[0], turned), rows.reference[0])
    assert coordinates(rows, position, orientation) == pytest.approx([1.1], abs=1e-12)


def turned_over(seed=0):
    """Rows of a TWIST each, between two bodies of their own that swing by 115 degrees to half a turn, of any angle."""
    rng = np.random.default_rng(seed)
    r = np.array([0.0, 1e-4, 0.05, OVER - 0.01, OVER + 0.01, 0.33, 0.45, SWUNG - 0.01, 0.53])
    count = len(r)
    rows, position, orientation = random_rows(Coordinate.TWIST, count, 2 * count, seed)
    rows.body_a, rows.body_b = np.arange(count), np.arange(count, 2 * count)
    half, k = rng.uniform(-np.pi, np.pi, count), rows.axis_a
    across = np.cross(k, unit(rng, count, 3))
    across *= np.sqrt((1.0 - r**2) / np.sum(across**2, axis=1))[:, None]
    turned = np.hstack([(r * np.sin(half))[:, None] * k + across, (r * np.cos(half))[:, None]])
    orientation[count:] = multiply(multiply(orientation[:count], turned), rows.reference)
    rows.offset = 2.0 * half + rng.uniform(-2.0, 2.0, count)
    rows.centre = rng.uniform(-6.0, 6.0, count)
    return rows, position, orientation, r


@pytest.mark.parametrize("seed", range(3))
def test_jacobian_of_a_twist_that_fades_is_the_derivative_of_its_coordinate_and_bounded(seed):
    rows, position, orientation, r = turned_over(seed)
    expected = central_differences(lambda x, q: coordinates(rows, x, q), position, orientation)
    j_a, j_b = jacobians(rows, position, orientation)
    got = scattered(len(position), rows.body_a, rows.body_b, j_a, j_b)
    assert np.abs(got - expected)[:, :, r > 0.0].max() < 1e-7  # where r is 0 turns, and with them the sign, are any
    np.testing.assert_array_equal(j_a, -j_b)
    size, angle = np.linalg.norm(j_b, axis=1), rows.take(np.arange(len(r)))
    angle.centre[:] = np.nan
    assert (size < 2.2 + 2.3 * np.abs(coordinates(angle, position, orientation) - rows.centre)).all()
    assert size[r < OVER] == pytest.approx(1.0, abs=0.02)  # so that what is held there is held at half a turn, too


def test_a_twist_that_fades_is_continuous_and_turns_change_its_sign_alone():
    rows, position, orientation, r = turned_over(5)
    here = coordinates(rows, position, orientation) - rows.centre
    turned = rows.take(np.arange(len(r)))
    turned.offset, turned.centre = rows.offset + 2.0 * np.pi, rows.centre - 2.0 * np.pi
    there = coordinates(turned, position, orientation) - turned.centre
    gone = (r < OVER) & (r > 0.0)
    assert there[gone] == pytest.approx(-here[gone], abs=1e-12)
    assert np.abs(here[r == 0.0]).max() < 1e-12
    angle = turned_over(5)[0]
    angle.centre[:] = np.nan
    free = coordinates(angle, position, orientation)
    assert here[r > SWUNG] + rows.centre[r > SWUNG] == pytest.approx(free[r > SWUNG], abs=1e-12)


def test_rows_that_ask_for_a_speed_end_with_that_about_the_axis_of_a():
    rows, position, orientation, r = turned_over(2)
    rows.centre[:] = np.nan
    j_b = jacobians(rows, position, orientation)[1][:, 3:]
    axis = rotate(orientation[rows.body_a], rows.axis_a)
    assert j_b[r < OVER] == pytest.approx(axis[r < OVER], abs=1e-12)
    assert np.sum(j_b * axis, axis=1) == pytest.approx(np.ones(len(r)), abs=1e-12)
    assert np.linalg.norm(j_b, axis=1).max() < 2.5


@pytest.mark.parametrize("seed", range(3))
def test_mid_step_follows_a_twist_that_fades_to_its_end(seed):
    # J s nears c(q+) - c(q-) with the cube of the way, on whichever side of half a turn the offset lies.
    rows, position, orientation, r = turned_over(seed)
    count, off, angle = len(r), [], rows.take(np.arange(len(r)))
    way, angle.centre[:] = unit(np.random.default_rng(seed), count, 3), np.nan
    near = coordinates(angle, position, orientation) + rows.offset
    for size in (0.02, 0.01):
        start = orientation.copy()
        start[count:] = multiply(exponential(-size * way), orientation[count:])
        j_b = mean_jacobians(rows, (position, start), (position, orientation))[1]
        change = coordinates(rows, position, orientation) - coordinates(rows, position, start, near)
        off.append(np.abs(np.sum(j_b[:, 3:] * size * way, axis=1) - change))
    clear = r > 0.1  # nearer to r = 0 the angle itself is not that near its end
    assert off[0][clear].max() < 1e-3 and off[1][clear].max() < 0.2 * off[0][clear].max()


def test_jacobian_of_a_vanished_distance_is_zero_not_nan():
    rows = JointRows.of(1)
    rows.coordinate[:] = Coordinate.DISTANCE
    rows.body_b[:] = 1
    j_a, j_b = jacobians(rows, np.zeros((2, 3)), np.tile(IDENTITY, (2, 1)))
    assert not j_a.any()
    assert not j_b.any()


def random_contacts(seed=0, count=6, bodies=4):
    rng = np.random.default_rng(seed)
    contacts = Contacts.empty()
    contacts.body_a = rng.integers(0, bodies, count)
    contacts.body_b = (contacts.body_a + 1 + rng.integers(0, bodies - 1, count)) % bodies
    contacts.point_a, contacts.point_b = rng.normal(size=(2, count, 3))
    contacts.margin_a, contacts.margin_b = rng.uniform(0, 0.2, (2, count))
    contacts.normal = unit(rng, count, 3)
    return contacts, rng.normal(size=(bodies, 3)), unit(rng, bodies, 4)


def test_gap_of_two_spheres_and_its_sign():
    # Two spheres of radius 1 and 0.5 whose centres are 2 m apart: 0.5 m between them; n points from b to a.
    contacts, _, orientation = random_contacts(count=1, bodies=2)
    contacts.body_a, contacts.body_b = np.array([1]), np.array([0])
    contacts.point_a[:], contacts.point_b[:] = 0, 0
    contacts.margin_a[:], contacts.margin_b[:] = 1.0, 0.5
    contacts.normal = np.array([[0, 0, 1.0]])
    assert gaps(contacts, np.array([[0, 0, 0], [0, 0, 2.0]]), orientation) == pytest.approx([0.5])
    assert gaps(contacts, np.array([[0, 0, 0], [0, 0, 1.2]]), orientation) == pytest.approx([-0.3])


def test_contact_jacobian_is_the_velocity_of_the_surface_points():
    # Surface points move with their bodies: differentiate e . (y_a - y_b) with both points fixed in the bodies.
    contacts, position, orientation = random_contacts()
    contacts.margin_a[:], contacts.margin_b[:] = 0, 0
    axes = np.stack([contacts.normal, *tangents(contacts.normal)], axis=1)

    def separation(x, q):
        y_a = x[contacts.body_a] + rotate(q[contacts.body_a], contacts.point_a)
        y_b = x[contacts.body_b] + rotate(q[contacts.body_b], contacts.point_b)
        return np.einsum("cki,ci->ck", axes, y_a - y_b)

    j_a, j_b = contact_jacobians(contacts, position, orientation)
    for k in range(3):
        expected = central_differences(lambda x, q, k=k: separation(x, q)[:, k], position, orientation)
        got = scattered(len(position), contacts.body_a, contacts.body_b, j_a[:, k], j_b[:, k])
        assert np.abs(got - expected).max() < 1e-7
    assert gaps(contacts, position, orientation) == pytest.approx(separation(position, orientation)[:, 0])


def test_contact_levers_end_on_the_surfaces():
    # A rolling sphere of radius r (point at its centre, margin r) has no surface velocity where it touches: v = w x r.
    contacts, _, _ = random_contacts(count=1, bodies=2)
    contacts.body_a, contacts.body_b = np.array([0]), np.array([1])
    contacts.point_a[:] = 0
    contacts.margin_a[:], contacts.normal = 0.3, np.array([[0, 0, 1.0]])
    j_a, _ = contact_jacobians(contacts, np.zeros((2, 3)), np.tile(IDENTITY, (2, 1)))
    rolling = np.array([2.0 * 0.3, 0, 0, 0, 2.0, 0])  # v_x = w_y r
    assert np.abs(j_a[0] @ rolling).max() < 1e-15


def test_surface_slip_is_the_tangential_part():
    contacts, _, _ = random_contacts(2)
    assert not surface_slip(contacts).any()
    contacts.surface_velocity = np.random.default_rng(3).normal(size=(len(contacts), 3))
    t1, t2 = tangents(contacts.normal)
    slip = surface_slip(contacts)
    along = np.sum(contacts.normal * contacts.surface_velocity, axis=1)[:, None] * contacts.normal
    assert slip[:, :1] * t1 + slip[:, 1:] * t2 == pytest.approx(contacts.surface_velocity - along, abs=1e-14)

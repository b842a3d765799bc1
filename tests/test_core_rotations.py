"""Rotations against SciPy, an independent implementation, and against the algebra they must obey."""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from motionbook import rotations as rot

ORDERS = ["".join(p) for p in itertools.permutations("XYZ")]


def oracle(q):
    return Rotation.from_quat(np.asarray(q).reshape(-1, 4), scalar_first=True)


def as_wxyz(rotation, shape=(-1,)):
    return rotation.as_quat(scalar_first=True).reshape(*shape, 4)


def awkward(rng):
    """Random turns, and the ones where formulas break: none, tiny, right, half and nearly half turns."""
    axes = rng.standard_normal((20, 3))
    axes = np.concatenate([np.eye(3), -np.eye(3), axes / np.linalg.norm(axes, axis=-1, keepdims=True)])
    angles = [0.0, 1e-9, 1e-4, np.pi / 2, np.pi - 1e-7, np.pi]
    turns = np.concatenate([as_wxyz(Rotation.from_rotvec(axes * angle)) for angle in angles])
    return np.concatenate([rot.random_rotations((200,), rng), turns])


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def test_multiply_applies_its_second_argument_first(rng):
    a, b = rot.random_rotations((2, 50), rng)
    assert rot.angle_between(rot.multiply(a, b), as_wxyz(oracle(a) * oracle(b))).max() < 1e-12


def test_multiply_broadcasts_leading_axes(rng):
    a, b = rot.random_rotations((4, 1, 3), rng), rot.random_rotations((5, 3), rng)
    product = rot.multiply(a, b)
    assert product.shape == (4, 5, 3, 4)
    assert np.allclose(product[2, 4, 1], rot.multiply(a[2, 0, 1], b[4, 1]))


def test_rotate_turns_column_vectors_as_scipy_does(rng):
    q = awkward(rng)
    v = rng.standard_normal((len(q), 3))
    assert np.abs(rot.rotate(q, v) - oracle(q).apply(v)).max() < 1e-14 * 20


def test_inverse_undoes(rng):
    q = awkward(rng)
    assert rot.angle_between(rot.multiply(q, rot.inverse(q)), rot.identity((len(q),))).max() < 1e-12


def test_matrices_agree_with_scipy_and_return_to_the_same_rotation(rng):
    q = awkward(rng)
    matrices = rot.to_matrix(q)
    assert np.abs(matrices - oracle(q).as_matrix()).max() < 1e-14
    back = rot.from_matrix(matrices)
    assert rot.angle_between(back, q).max() < 1e-12
    assert (back[:, 0] >= 0).all()


def test_rotation_vectors_agree_with_scipy(rng):
    q = awkward(rng)
    vectors = rot.to_rotation_vector(q)
    half_turn = np.abs(np.linalg.norm(vectors, axis=-1) - np.pi) < 1e-6  # where v and -v are the same rotation
    assert np.abs(vectors - oracle(q).as_rotvec())[~half_turn].max() < 1e-12
    assert rot.angle_between(rot.from_rotation_vector(vectors), q).max() < 1e-12
    small = rng.standard_normal((50, 3)) * 1e-10
    assert np.abs(rot.to_rotation_vector(rot.from_rotation_vector(small)) - small).max() < 1e-25


def test_from_axis_angle_agrees_with_scipy(rng):
    axis = rng.standard_normal((30, 3))
    axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
    angle = rng.uniform(-6, 6, 30)
    assert (
        rot.angle_between(rot.from_axis_angle(axis, angle), as_wxyz(Rotation.from_rotvec(axis * angle[:, None]))).max()
        < 1e-12
    )


@pytest.mark.parametrize("order", [*ORDERS, "ZXZ", "XYX", "ZX", "Y"])
def test_euler_angles_are_intrinsic_in_the_order_listed(order, rng):
    angles = rng.uniform(-np.pi, np.pi, (40, len(order)))
    expected = Rotation.from_euler(order, angles)  # capitals are intrinsic in SciPy
    assert rot.angle_between(rot.from_euler(angles, order), as_wxyz(expected)).max() < 1e-12
    assert rot.angle_between(rot.from_euler(angles, order.lower()), as_wxyz(expected)).max() < 1e-12


@pytest.mark.parametrize("order", ORDERS)
def test_euler_angles_return_the_rotation_even_at_gimbal_lock(order, rng):
    angles = rng.uniform(-np.pi, np.pi, (60, 3))
    angles[:20, 1] = np.pi / 2
    angles[20:40, 1] = -np.pi / 2
    q = np.concatenate([rot.from_euler(angles, order), awkward(rng)])
    back = rot.from_euler(rot.to_euler(q, order), order)
    assert rot.angle_between(back, q).max() < 1e-9
    plain = rot.to_euler(q[40:60], order)
    assert np.abs(plain - oracle(q[40:60]).as_euler(order)).max() < 1e-9


def test_euler_orders_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match=r"one of X, Y, Z per angle, got 'ZYX' for angles \(5, 2\)"):
        rot.from_euler(np.zeros((5, 2)), "ZYX")
    with pytest.raises(ValueError, match="X, Y, Z"):
        rot.from_euler(np.zeros((5, 3)), "ABC")
    with pytest.raises(ValueError, match="permutation of XYZ, got 'ZXZ'"):
        rot.to_euler(rot.identity((2,)), "ZXZ")


def test_slerp_agrees_with_scipy_and_takes_the_shorter_arc(rng):
    a, b = rot.random_rotations((2, 30), rng)
    for t in (0.0, 0.3, 1.0):
        expected = np.stack(
            [
                as_wxyz(Slerp([0, 1], Rotation.concatenate([oracle(p), oracle(q)]))([t]))[0]
                for p, q in zip(a, b, strict=True)
            ]
        )
        assert rot.angle_between(rot.slerp(a, b, t), expected).max() < 1e-12
        assert rot.angle_between(rot.slerp(a, -b, t), expected).max() < 1e-12


def test_slerp_of_nearly_equal_rotations_keeps_its_digits(rng):
    a = rot.random_rotations((20,), rng)
    step = rot.from_rotation_vector(rng.standard_normal((20, 3)) * 1e-9)
    middle = rot.slerp(a, rot.multiply(a, step), 0.5)
    half = rot.to_rotation_vector(rot.multiply(rot.inverse(a), middle))
    assert np.abs(half - 0.5 * rot.to_rotation_vector(step)).max() < 1e-15
    assert rot.angle_between(rot.slerp(a, a, 0.7), a).max() < 1e-15


def test_angle_between_ignores_the_sign_and_sees_tiny_turns(rng):
    a = rot.random_rotations((40,), rng)
    for angle in (1e-10, 1e-4, 1.0, np.pi):
        axis = rng.standard_normal((40, 3))
        axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
        b = rot.multiply(a, rot.from_axis_angle(axis, np.full(40, angle)))
        assert np.abs(rot.angle_between(a, b) - angle).max() < 1e-14
        assert np.abs(rot.angle_between(a, -b) - angle).max() < 1e-14


def test_between_takes_one_direction_to_the_other(rng):
    u, v = rng.standard_normal((2, 60, 3))
    v[:10] = u[:10]
    v[10:20] = -3 * u[10:20]
    v[20:30] = -u[20:30] + 1e-9 * rng.standard_normal((10, 3))
    v[30:40] = -u[30:40] + 1e-5 * rng.standard_normal((10, 3))
    q = rot.between(u, v)
    wanted = v / np.linalg.norm(v, axis=-1, keepdims=True)
    got = rot.rotate(q, u) / np.linalg.norm(u, axis=-1, keepdims=True)
    assert np.abs(got - wanted).max() < 1e-7
    assert np.abs((got - wanted)[30:]).max() < 1e-10
    angle = np.arccos(np.clip((u * v).sum(-1) / np.linalg.norm(u, axis=-1) / np.linalg.norm(v, axis=-1), -1, 1))
    assert np.abs(rot.angle_between(q, rot.identity((60,))) - angle)[40:].max() < 1e-7  # the smallest such turn
    with pytest.raises(ValueError, match="zero vector"):
        rot.between([0.0, 0, 0], [1.0, 0, 0])


def test_unroll_makes_neighbours_agree_without_changing_rotations(rng):
    t = np.linspace(0, 8 * np.pi, 200)
    q = rot.from_axis_angle(np.array([0, 0, 1.0]), np.stack([t, -t], axis=-1))
    flipped = q * np.where(rng.random((200, 2)) < 0.5, -1.0, 1.0)[..., None]
    for axis, array in ((0, flipped), (1, np.swapaxes(flipped, 0, 1))):
        smooth = np.moveaxis(rot.unroll(array, axis=axis), axis, 0)
        assert ((smooth[1:] * smooth[:-1]).sum(-1) > 0).all()
        assert rot.angle_between(smooth, q).max() < 1e-12
    assert rot.unroll(flipped[:1]).shape == (1, 2, 4)


def test_swing_and_twist_multiply_to_the_rotation(rng):
    q = awkward(rng)
    axis = np.array([0.6, 0.0, 0.8])
    swing, twist = rot.swing_twist(q, axis)
    assert rot.angle_between(rot.multiply(swing, twist), q).max() < 1e-12
    assert np.abs(np.cross(twist[:, 1:], axis)).max() < 1e-12
    assert np.abs(swing[:, 1:] @ axis).max() < 1e-7


def test_six_numbers_are_the_first_two_columns(rng):
    q = awkward(rng)
    six, matrices = rot.to_6d(q), oracle(q).as_matrix()
    assert np.abs(six[:, :3] - matrices[:, :, 0]).max() < 1e-14
    assert np.abs(six[:, 3:] - matrices[:, :, 1]).max() < 1e-14
    assert rot.angle_between(rot.from_6d(six), q).max() < 1e-12
    stretched = six * np.repeat(rng.uniform(0.1, 5, (len(six), 2)), 3, axis=-1)
    assert rot.angle_between(rot.from_6d(stretched), q).max() < 1e-12
    with pytest.raises(ValueError, match="1 pairs of columns"):
        rot.from_6d([[1.0, 0, 0, 2, 0, 0], [1, 0, 0, 0, 1, 0]])


def test_random_rotations_are_uniform_and_follow_their_generator():
    a = rot.random_rotations((20000,), np.random.default_rng(3))
    assert np.array_equal(a, rot.random_rotations((20000,), np.random.default_rng(3)))
    turned = rot.rotate(a, [1.0, 0, 0])
    assert np.abs(turned.mean(0)).max() < 0.02
    assert np.abs((turned**2).mean(0) - 1 / 3).max() < 0.01
    # the angle of a uniform rotation has mean pi/2 + 2/pi
    assert abs(rot.angle_between(a, rot.identity((20000,))).mean() - (np.pi / 2 + 2 / np.pi)) < 0.02


def test_nothing_is_renormalised_silently():
    assert np.allclose(rot.multiply([2.0, 0, 0, 0], [3.0, 0, 0, 0]), [6, 0, 0, 0])
    assert np.allclose(rot.normalize([3.0, 0, 4, 0]), [0.6, 0, 0.8, 0])
    with pytest.raises(ValueError, match="zero quaternion"):
        rot.normalize([[1.0, 0, 0, 0], [0, 0, 0, 0]])


@pytest.mark.parametrize(
    "matrix", [np.diag([1, 1, -1.0]), np.diag([-1, -1, -1.0]), 1.1 * np.eye(3), np.full((3, 3), np.nan)]
)
def test_from_matrix_refuses_what_is_no_rotation(matrix):
    good = rot.to_matrix(rot.random_rotations((4,), np.random.default_rng(0)))
    with pytest.raises(ValueError, match="1 of 5 matrices are not rotations"):
        rot.from_matrix(np.concatenate([good, matrix[None]]))

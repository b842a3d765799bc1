"""Rotations as unit quaternions, scalar first (wxyz), acting on column vectors.

Every function takes any number of leading axes, (..., 4) or (..., 3), and returns float64. ``multiply(a, b)`` is the
rotation that does b first and then a. Angles are radians. Euler angles are intrinsic: the order "ZYX" means
R = Rz Ry Rx, the order in which BVH lists its channels. Nothing is renormalised silently.
"""

import numpy as np

AXES = {"X": 0, "Y": 1, "Z": 2}


def identity(shape: tuple[int, ...] = ()) -> np.ndarray:
    """The rotation that does nothing, (*shape, 4)."""
    q = np.zeros((*shape, 4))
    q[..., 0] = 1.0
    return q


def normalize(q) -> np.ndarray:
    """Quaternions (..., 4) scaled to unit length; a zero quaternion raises ValueError."""
    q = np.asarray(q, dtype=np.float64)
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    if (length == 0).any():
        raise ValueError("normalize: a zero quaternion has no direction")
    return q / length


def multiply(a, b) -> np.ndarray:
    """The product a b, (..., 4): b is applied first."""
    aw, ax, ay, az = np.moveaxis(np.asarray(a, dtype=np.float64), -1, 0)
    bw, bx, by, bz = np.moveaxis(np.asarray(b, dtype=np.float64), -1, 0)
    out = np.empty((*np.broadcast_shapes(aw.shape, bw.shape), 4))
    out[..., 0] = aw * bw - ax * bx - ay * by - az * bz
    out[..., 1] = aw * bx + ax * bw + ay * bz - az * by
    out[..., 2] = aw * by - ax * bz + ay * bw + az * bx
    out[..., 3] = aw * bz + ax * by - ay * bx + az * bw
    return out


def inverse(q) -> np.ndarray:
    """The inverse rotation (..., 4): the conjugate of a unit quaternion."""
    return np.asarray(q, dtype=np.float64) * np.array([1.0, -1.0, -1.0, -1.0])


def rotate(q, v) -> np.ndarray:
    """Vectors v (..., 3) turned by q (..., 4)."""
    q, v = np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64)
    w, u = q[..., :1], q[..., 1:]
    t = 2.0 * _cross(u, v)
    return v + w * t + _cross(u, t)


def _cross(a, b):
    # numpy.cross spends most of its time on axis bookkeeping for arrays of this shape
    return np.stack(
        [
            a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1],
            a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2],
            a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0],
        ],
        axis=-1,
    )


def to_matrix(q) -> np.ndarray:
    """Rotation matrices (..., 3, 3); columns are the turned axes."""
    w, x, y, z = np.moveaxis(np.asarray(q, dtype=np.float64), -1, 0)
    m = np.empty((*w.shape, 3, 3))
    m[..., 0, 0], m[..., 0, 1], m[..., 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    m[..., 1, 0], m[..., 1, 1], m[..., 1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    m[..., 2, 0], m[..., 2, 1], m[..., 2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    return m


def from_matrix(m) -> np.ndarray:
    """Unit quaternions (..., 4) with w >= 0 from rotation matrices (..., 3, 3).

    The largest of the four components is found first (Shepperd 1978), which stays accurate at half turns.

    Raises
    ------
    ValueError
        For mirrored, scaled or not finite matrices, which are no rotations (a tolerance of 1e-3 forgives rounding).
    """
    m = np.asarray(m, dtype=np.float64)
    d0, d1, d2 = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    squares = np.stack([1 + d0 + d1 + d2, 1 + d0 - d1 - d2, 1 - d0 + d1 - d2, 1 - d0 - d1 + d2], axis=-1)
    yz, zx, xy = (m[..., 2, 1] - m[..., 1, 2]), (m[..., 0, 2] - m[..., 2, 0]), (m[..., 1, 0] - m[..., 0, 1])
    sxy, szx, syz = (m[..., 0, 1] + m[..., 1, 0]), (m[..., 0, 2] + m[..., 2, 0]), (m[..., 1, 2] + m[..., 2, 1])
    rows = np.stack(
        [
            np.stack([squares[..., 0], yz, zx, xy], axis=-1),
            np.stack([yz, squares[..., 1], sxy, szx], axis=-1),
            np.stack([zx, sxy, squares[..., 2], syz], axis=-1),
            np.stack([xy, szx, syz, squares[..., 3]], axis=-1),
        ],
        axis=-2,
    )
    best = np.argmax(squares, axis=-1)
    row = np.take_along_axis(rows, best[..., None, None], axis=-2)[..., 0, :]
    # the row is 4 q_i q, so its squared length is four times the square that was largest
    largest = np.take_along_axis(squares, best[..., None], axis=-1)[..., 0]
    wrong = ~(np.abs(np.einsum("...i,...i->...", row, row) - 4.0 * largest) < 4e-3)
    if wrong.any():
        raise ValueError(f"from_matrix: {int(wrong.sum())} of {wrong.size} matrices are not rotations")
    q = normalize(row)
    return np.where(q[..., :1] < 0, -q, q)


def from_axis_angle(axis, angle) -> np.ndarray:
    """Turn by ``angle`` (...) about the unit ``axis`` (..., 3)."""
    axis, half = np.asarray(axis, dtype=np.float64), 0.5 * np.asarray(angle, dtype=np.float64)[..., None]
    return _stack_wv(np.cos(half), np.sin(half) * axis)


def _stack_wv(w, v):
    shape = np.broadcast_shapes(w.shape[:-1], v.shape[:-1])
    return np.concatenate([np.broadcast_to(w, (*shape, 1)), np.broadcast_to(v, (*shape, 3))], axis=-1)


def from_rotation_vector(v) -> np.ndarray:
    """Quaternion of the turn by |v| radians about v (..., 3); exact to first order at zero."""
    v = np.asarray(v, dtype=np.float64)
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    # sinc keeps sin(a/2)/a smooth at a = 0
    return _stack_wv(np.cos(0.5 * angle), 0.5 * np.sinc(0.5 * angle / np.pi) * v)


def to_rotation_vector(q) -> np.ndarray:
    """Rotation vector (..., 3) of the shorter of the two turns that q stands for."""
    q = np.asarray(q, dtype=np.float64)
    q = np.where(q[..., :1] < 0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, q[..., :1])
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.where(sine > 1e-12, angle / sine, 2.0)
    return scale * q[..., 1:]


def from_euler(angles, order: str) -> np.ndarray:
    """Quaternions (..., 4) from intrinsic Euler angles (..., n) in radians, listed as in ``order`` (e.g. "ZYX").

    ``order`` names one axis per angle; any sequence of X, Y and Z will do, and three different ones are the fast case.
    """
    angles = np.asarray(angles, dtype=np.float64)
    order = order.upper()
    if not order or set(order) - set(AXES) or angles.shape[-1:] != (len(order),):
        raise ValueError(f"from_euler: expected one of X, Y, Z per angle, got {order!r} for angles {angles.shape}")
    half = np.moveaxis(0.5 * angles, -1, 0)
    c, s = np.cos(half), np.sin(half)
    out = np.empty((*angles.shape[:-1], 4))
    if sorted(order) == ["X", "Y", "Z"]:
        i, j, k = (1 + AXES[letter] for letter in order)
        sign = 1.0 if (j - i) % 3 == 1 else -1.0
        cc, ss, cs, sc = c[0] * c[1], s[0] * s[1], c[0] * s[1], s[0] * c[1]
        out[..., 0] = cc * c[2] - sign * ss * s[2]
        out[..., i] = sc * c[2] + sign * cs * s[2]
        out[..., j] = cs * c[2] - sign * sc * s[2]
        out[..., k] = cc * s[2] + sign * ss * c[2]
        return out
    out[...] = identity()
    for letter, cosine, sine in zip(order, c, s, strict=True):
        turn = np.zeros_like(out)
        turn[..., 0], turn[..., 1 + AXES[letter]] = cosine, sine
        out = multiply(out, turn)
    return out


def to_euler(q, order: str) -> np.ndarray:
    """Intrinsic Euler angles (..., 3) in radians for three different axes, listed as in ``order``.

    The first angle is read off, taken out, and the other two are read from what remains, so that the angles put
    together give back the rotation to rounding even at gimbal lock, where the first angle is free.
    """
    i, j, k = (AXES[letter] for letter in check_order(order))
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    w, *v = np.ascontiguousarray(np.moveaxis(np.asarray(q, dtype=np.float64), -1, 0))

    def across(a, b):  # element (a, b) of the matrix
        turn = w * v[3 - a - b]
        return 2 * (v[a] * v[b] - turn) if (b - a) % 3 == 1 else 2 * (v[a] * v[b] + turn)

    jk, kk = across(j, k), 1 - 2 * (v[i] * v[i] + v[j] * v[j])
    first = np.arctan2(-sign * jk, kk)
    c, s = np.cos(first), sign * np.sin(first)
    second = np.arctan2(sign * across(i, k), -s * jk + c * kk)
    jj = 1 - 2 * (v[i] * v[i] + v[k] * v[k])
    third = np.arctan2(sign * (c * across(j, i) + s * across(k, i)), c * jj + s * across(k, j))
    return np.stack([first, second, third], axis=-1)


def check_order(order: str) -> str:
    """The order in capitals; ValueError unless it names each of X, Y and Z once."""
    order = order.upper()
    if sorted(order) != ["X", "Y", "Z"]:
        raise ValueError(f"order: expected a permutation of XYZ, got {order!r}")
    return order


def slerp(a, b, t) -> np.ndarray:
    """Constant-speed interpolation from a to b (..., 4) at t (...), along the shorter arc."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    t = np.asarray(t, dtype=np.float64)[..., None]
    dot = np.einsum("...i,...i->...", a, b)[..., None]
    b = np.where(dot < 0, -b, b)
    angle = 2.0 * np.arctan2(np.linalg.norm(b - a, axis=-1), np.linalg.norm(b + a, axis=-1))[..., None]
    # sin((1-t) x) / sin(x) written with sinc stays exact as x goes to 0
    wide = np.sinc(angle / np.pi)
    return normalize((1 - t) * np.sinc((1 - t) * angle / np.pi) / wide * a + t * np.sinc(t * angle / np.pi) / wide * b)


def between(u, v) -> np.ndarray:
    """The smallest rotation that takes the direction of u to the direction of v, both (..., 3).

    Opposite directions leave the axis open; one at right angles to u is taken, so the result is always a half turn.
    """
    u, v = np.asarray(u, dtype=np.float64), np.asarray(v, dtype=np.float64)
    lengths = np.linalg.norm(u, axis=-1), np.linalg.norm(v, axis=-1)
    if (lengths[0] == 0).any() or (lengths[1] == 0).any():
        raise ValueError("between: a zero vector has no direction")
    u, v = np.broadcast_arrays(u / lengths[0][..., None], v / lengths[1][..., None])
    # |u + v| / 2 is the cosine of half the angle, and keeps its digits where 1 + u.v loses them
    twice_cosine = np.linalg.norm(u + v, axis=-1, keepdims=True)
    opposite = twice_cosine < 1e-7
    q = np.concatenate([0.5 * twice_cosine, _cross(u, v) / np.where(opposite, 1.0, twice_cosine)], axis=-1)
    if opposite.any():
        smallest = np.eye(3)[np.argmin(np.abs(u), axis=-1)]
        q = np.where(opposite, np.concatenate([np.zeros_like(u[..., :1]), _cross(u, smallest)], axis=-1), q)
    return normalize(q)


def angle_between(a, b) -> np.ndarray:
    """Angle in radians of the turn from a to b (...); q and -q are the same rotation."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    # acos of the dot product reads small turns as zero; the two chords do not
    minus, plus = np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)
    return 4.0 * np.arctan2(np.minimum(minus, plus), np.maximum(minus, plus))


def unroll(q, axis: int = 0) -> np.ndarray:
    """The same rotations with signs chosen so that neighbours along ``axis`` agree (dot >= 0)."""
    q = np.moveaxis(np.asarray(q, dtype=np.float64), axis, 0)
    flips = np.einsum("t...i,t...i->t...", q[1:], q[:-1]) < 0
    sign = np.where(np.cumsum(flips, axis=0) % 2 == 1, -1.0, 1.0)
    return np.moveaxis(np.concatenate([q[:1], q[1:] * sign[..., None]]), 0, axis)


def swing_twist(q, axis) -> tuple[np.ndarray, np.ndarray]:
    """Split q = swing * twist, the twist about the unit ``axis`` (3,), the swing about an axis at right angles."""
    q, axis = np.asarray(q, dtype=np.float64), np.asarray(axis, dtype=np.float64)
    along = np.einsum("...i,...i->...", q[..., 1:], axis)[..., None] * axis
    twist = np.concatenate([q[..., :1], along], axis=-1)
    length = np.linalg.norm(twist, axis=-1, keepdims=True)
    twist = np.where(length > 1e-12, twist / np.where(length > 1e-12, length, 1.0), identity())
    return multiply(q, inverse(twist)), twist


def to_6d(q) -> np.ndarray:
    """The first two columns of the matrix, (..., 6), each column in a row of three (Zhou et al. 2019)."""
    m = to_matrix(q)
    return np.concatenate([m[..., :, 0], m[..., :, 1]], axis=-1)


def from_6d(d) -> np.ndarray:
    """Quaternions from two columns (..., 6) by Gram-Schmidt; ValueError when two are zero, parallel or not finite."""
    d = np.asarray(d, dtype=np.float64)
    first = np.linalg.norm(d[..., :3], axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        a = d[..., :3] / first
        b = d[..., 3:] - np.einsum("...i,...i->...", a, d[..., 3:])[..., None] * a
        second = np.linalg.norm(b, axis=-1, keepdims=True)
        b = b / second
    flat = ~((first > 0) & (second > 1e-12 * np.linalg.norm(d[..., 3:], axis=-1, keepdims=True)))
    if flat.any():
        raise ValueError(f"from_6d: {int(flat.sum())} pairs of columns are zero, parallel or not finite")
    return from_matrix(np.stack([a, b, _cross(a, b)], axis=-1))


def random_rotations(shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Uniformly distributed rotations (*shape, 4)."""
    return normalize(rng.standard_normal((*shape, 4)))

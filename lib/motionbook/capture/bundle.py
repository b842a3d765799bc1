"""Bundle adjustment: cameras and points moved together until they agree with what was seen.

Unknown are every camera's place and turn (but the first's, which holds the world), on wish its lens, and either the
place of a rigid board at every moment or every point by itself. What is minimised is the distance in pixels between
where the points should be seen and where they were (Triggs et al. 2000), with a loss that large errors pull on less.
The Jacobian is exact and sparse: one observation knows one camera and one board or point.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.capture.cameras import Camera
from motionbook.capture.lens import distort, slopes
from motionbook.checks import check_shape

LENS_NAMES = ("fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2", "k3")
LOSSES = ("linear", "soft_l1", "huber", "cauchy")


class Bundle(NamedTuple):
    """The outcome of a bundle adjustment.

    Attributes
    ----------
    cameras : tuple of Camera
    points : (frames, corners, 3)
        World places; NaN where they took no part.
    rotations, translations : (frames, 4), (frames, 3) or None
        The rigid board's poses, board to world; None for free points.
    residuals : (cameras, frames, corners, 2)
        Should be minus was seen, pixels; NaN where nothing was used.
    rmse, rmse_before : float
        Root of the mean squared distance in pixels over the observations used, after and before.
    evaluations : int
    converged : bool
    """

    cameras: tuple[Camera, ...]
    points: np.ndarray
    rotations: np.ndarray | None
    translations: np.ndarray | None
    residuals: np.ndarray
    rmse: float
    rmse_before: float
    evaluations: int
    converged: bool


def bundle_adjust(
    cameras: Sequence[Camera],
    seen,
    *,
    places=None,
    board=None,
    poses=None,
    free: Sequence[str] = (),
    loss: str = "linear",
    scale: float = 1.0,
    max_evaluations: int = 100,
) -> Bundle:
    """Adjust cameras, and points or board poses, to what was seen.

    Parameters
    ----------
    cameras : sequence of Camera
        Where to start; the first one's place is kept.
    seen : (cameras, frames, corners, 2)
        Pixels, NaN where nothing was seen.
    places : (frames, corners, 3), optional
        World places to start from: every point is free. Points seen by fewer than two cameras take no part. The
        scale is then free too and has to be tied to something known afterwards.
    board, poses : (corners, 3), ((frames, 4), (frames, 3)), optional
        Instead of ``places``: a rigid board and its pose (board to world) at every moment, NaN where unknown.
    free : sequence of str
        Which of fx fy cx cy k1 k2 p1 p2 k3 may change, in every camera; none by default.
    loss, scale : str, float
        linear, soft_l1, huber or cauchy, of an observation's distance; unless the loss is linear, distances beyond
        ``scale`` pixels count less.

    Raises
    ------
    ValueError
        When both or neither of ``places`` and ``board`` are given, a name is unknown, or nothing is left to adjust.
    """
    from scipy.optimize import least_squares

    seen = check_shape(seen, f"{len(cameras)} frames corners 2", "seen")
    if (places is None) == (board is None):
        raise ValueError("give either places (free points) or board and poses (a rigid board)")
    unknown = [name for name in free if name not in LENS_NAMES]
    if unknown:
        raise ValueError(f"free: expected names of {' '.join(LENS_NAMES)}, got {' '.join(unknown)}")
    if loss not in LOSSES:
        raise ValueError(f"loss: expected one of {', '.join(LOSSES)}, got {loss!r}")
    problem = _Problem(cameras, seen, places, board, poses, tuple(free))
    start = problem.start()
    before = problem.residuals(start)
    solved = least_squares(
        problem.residuals, start, problem.jacobian, method="trf", x_scale="jac",
        loss=_loss(loss), f_scale=scale, tr_solver="lsmr", tr_options={"atol": 1e-12, "btol": 1e-12},
        ftol=1e-9, xtol=1e-9, gtol=1e-9, max_nfev=max_evaluations,
    )  # fmt: skip
    return problem.outcome(solved, before)


def _loss(name):
    """A loss of both coordinates of an observation together, as least_squares takes it.

    The second derivative is given as zero, which makes every step one of reweighted least squares. With the true one,
    scipy scales observations in the tail to nothing and creeps: Huber and Cauchy then did not converge in 100 steps.
    """
    if name == "linear":
        return name
    value, slope = {
        "soft_l1": (lambda z: 2 * (np.sqrt(1 + z) - 1), lambda z: 1 / np.sqrt(1 + z)),
        "huber": (
            lambda z: np.where(z <= 1, z, 2 * np.sqrt(z) - 1),
            lambda z: np.where(z <= 1, 1.0, 1 / np.sqrt(np.maximum(z, 1))),
        ),
        "cauchy": (np.log1p, lambda z: 1 / (1 + z)),
    }[name]

    def rho(squares):
        z = np.repeat(squares.reshape(-1, 2).sum(axis=1), 2)
        return np.stack([value(z) / 2, slope(z), np.zeros_like(z)])

    return rho


class _Problem:
    """Residuals and their derivatives over all observations at once."""

    def __init__(self, cameras, seen, places, board, poses, free):
        self.cameras, self.free, self.rigid = cameras, [LENS_NAMES.index(name) for name in free], board is not None
        self.shape = seen.shape
        valid = np.isfinite(seen).all(axis=-1)
        if self.rigid:
            self.board = check_shape(board, f"{seen.shape[2]} 3", "board")
            self.rotations = check_shape(poses[0], f"{seen.shape[1]} 4", "poses")
            self.translations = check_shape(poses[1], f"{seen.shape[1]} 3", "poses")
            known = np.isfinite(self.rotations).all(axis=-1) & np.isfinite(self.translations).all(axis=-1)
            valid &= known[None, :, None]
        else:
            self.places = check_shape(places, f"{seen.shape[1]} {seen.shape[2]} 3", "places")
            valid &= np.isfinite(self.places).all(axis=-1) & (valid.sum(axis=0) >= 2)
        self.camera, self.frame, self.corner = np.nonzero(valid)
        if not len(self.camera):
            raise ValueError("seen: no observation is left to adjust: no point has a place to start from")
        self.seen = seen[valid]
        block = self.frame if self.rigid else self.frame * seen.shape[2] + self.corner
        self.blocks, self.block = np.unique(block, return_inverse=True)
        self.per_block = 6 if self.rigid else 3
        self.lens = np.array([_lens(camera) for camera in cameras])
        self.turn = np.stack([rot.to_matrix(camera.rotation) for camera in cameras])
        self.shift = np.stack([camera.translation for camera in cameras])
        # unknowns: cameras' turns and shifts (not the first's), then free lens values, then boards or points
        self.lens_at = 6 * (len(cameras) - 1)
        self.blocks_at = self.lens_at + len(self.free) * len(cameras)

    def start(self):
        parts = [np.concatenate([np.zeros(3), shift]) for shift in self.shift[1:]]
        parts.append(self.lens[:, self.free].ravel())
        if self.rigid:
            parts.append(
                np.concatenate([np.zeros((len(self.blocks), 3)), self.translations[self.blocks]], axis=1).ravel()
            )
        else:
            parts.append(self.places.reshape(-1, 3)[self.blocks].ravel())
        return np.concatenate(parts)

    def unpack(self, x):
        motion = np.concatenate([np.zeros((1, 6)), x[: self.lens_at].reshape(-1, 6)])
        motion[0, 3:] = self.shift[0]
        lens = self.lens.copy()
        lens[:, self.free] = x[self.lens_at : self.blocks_at].reshape(len(self.cameras), -1)
        return motion, lens, x[self.blocks_at :].reshape(-1, self.per_block)

    def world(self, blocks):
        """World points of the observations, and the board's arm from its origin to them (rigid boards)."""
        if not self.rigid:
            return blocks[self.block], None
        turn = rot.to_matrix(rot.multiply(rot.from_rotation_vector(blocks[:, :3]), self.rotations[self.blocks]))
        arm = np.einsum("nij,nj->ni", turn[self.block], self.board[self.corner])
        return arm + blocks[self.block, 3:], arm

    def residuals(self, x):
        motion, lens, blocks = self.unpack(x)
        turn = rot.to_matrix(rot.from_rotation_vector(motion[:, :3])) @ self.turn
        world, _ = self.world(blocks)
        view = np.einsum("nij,nj->ni", turn[self.camera], world) + motion[self.camera, 3:]
        return (_pixels(lens[self.camera], view[:, :2] / view[:, 2:]) - self.seen).ravel()

    def jacobian(self, x):
        from scipy.sparse import csr_array

        motion, lens, blocks = self.unpack(x)
        turn = rot.to_matrix(rot.from_rotation_vector(motion[:, :3])) @ self.turn
        world, arm = self.world(blocks)
        spun = np.einsum("nij,nj->ni", turn[self.camera], world)
        view = spun + motion[self.camera, 3:]
        flat = view[:, :2] / view[:, 2:]
        by_flat, by_lens = _pixel_derivatives(lens[self.camera], flat)
        divide = np.zeros((len(view), 2, 3))
        divide[:, 0, 0] = divide[:, 1, 1] = 1 / view[:, 2]
        divide[:, :, 2] = -flat / view[:, 2:]
        by_view = by_flat @ divide
        n = len(view)
        by_turn = by_view @ (-_cross_matrix(spun)) @ _left_jacobian(motion[:, :3])[self.camera]
        rows, columns, values = [], [], []

        def add(derivative, first):
            """Derivatives (n, 2, k) whose unknowns begin at ``first`` (n,); negative: not an unknown."""
            width = derivative.shape[2]
            row = np.broadcast_to((2 * np.arange(n)[:, None] + np.arange(2))[:, :, None], derivative.shape)
            column = np.broadcast_to((first[:, None] + np.arange(width))[:, None, :], derivative.shape)
            keep = np.broadcast_to((first >= 0)[:, None, None], derivative.shape)
            rows.append(row[keep])
            columns.append(column[keep])
            values.append(derivative[keep])

        add(np.concatenate([by_turn, by_view], axis=2), np.where(self.camera > 0, 6 * (self.camera - 1), -1))
        if self.free:
            add(by_lens[:, :, self.free], self.lens_at + len(self.free) * self.camera)
        by_world = by_view @ turn[self.camera]
        if self.rigid:
            spin = by_world @ (-_cross_matrix(arm)) @ _left_jacobian(blocks[:, :3])[self.block]
            by_world = np.concatenate([spin, by_world], axis=2)
        add(by_world, self.blocks_at + self.per_block * self.block)
        where = (np.concatenate(rows), np.concatenate(columns))
        return csr_array((np.concatenate(values), where), shape=(2 * n, len(x)))

    def outcome(self, solved, before) -> Bundle:
        motion, lens, blocks = self.unpack(solved.x)
        cameras = []
        for camera, move, values in zip(self.cameras, motion, lens, strict=True):
            fx, fy, cx, cy = values[:4]
            cameras.append(
                Camera(
                    np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]]),
                    values[4:],
                    rot.normalize(rot.multiply(rot.from_rotation_vector(move[:3]), camera.rotation)),
                    move[3:],
                    camera.size,
                    camera.name,
                )
            )
        points = np.full((*self.shape[1:3], 3), np.nan)
        rotations = translations = None
        if self.rigid:
            rotations, translations = np.full((self.shape[1], 4), np.nan), np.full((self.shape[1], 3), np.nan)
            rotations[self.blocks] = rot.normalize(
                rot.multiply(rot.from_rotation_vector(blocks[:, :3]), self.rotations[self.blocks])
            )
            translations[self.blocks] = blocks[:, 3:]
            points[self.blocks] = rot.rotate(rotations[self.blocks, None], self.board) + translations[self.blocks, None]
        else:
            points.reshape(-1, 3)[self.blocks] = blocks
        left = self.residuals(solved.x).reshape(-1, 2)
        residuals = np.full(self.shape, np.nan)
        residuals[self.camera, self.frame, self.corner] = left
        rmse = [float(np.sqrt((r.reshape(-1, 2) ** 2).sum(axis=1).mean())) for r in (left, before)]
        return Bundle(
            tuple(cameras), points, rotations, translations, residuals, *rmse, int(solved.nfev), solved.status > 0
        )


def _lens(camera):
    k = camera.intrinsics
    return np.concatenate([[k[0, 0], k[1, 1], k[0, 2], k[1, 2]], camera.distortion])


def _pixels(lens, flat):
    fx, fy, cx, cy = lens.T[:4]
    u, v = distort(lens.T[4:], flat[:, 0], flat[:, 1])
    return np.stack([fx * u + cx, fy * v + cy], axis=-1)


def _pixel_derivatives(lens, flat):
    """Derivatives of pixels by the flat image place (n, 2, 2) and by the nine lens values (n, 2, 9)."""
    focal = lens[:, :2]
    x, y = flat.T
    xx, xy, yy = slopes(lens.T[4:], x, y)
    by_flat = np.stack([xx, xy, xy, yy], axis=-1).reshape(-1, 2, 2) * focal[:, :, None]
    by_lens = np.zeros((len(x), 2, 9))
    bent = np.stack(distort(lens.T[4:], x, y), axis=-1)
    by_lens[:, 0, 0], by_lens[:, 1, 1] = bent.T
    by_lens[:, 0, 2] = by_lens[:, 1, 3] = 1
    square = x * x + y * y
    for column, power in ((4, square), (5, square**2), (8, square**3)):
        by_lens[:, :, column] = focal * flat * power[:, None]
    by_lens[:, 0, 6], by_lens[:, 1, 6] = focal[:, 0] * 2 * x * y, focal[:, 1] * (square + 2 * y * y)
    by_lens[:, 0, 7], by_lens[:, 1, 7] = focal[:, 0] * (square + 2 * x * x), focal[:, 1] * 2 * x * y
    return by_flat, by_lens


def _cross_matrix(v):
    matrix = np.zeros((*v.shape[:-1], 3, 3))
    matrix[..., 0, 1], matrix[..., 0, 2], matrix[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    return matrix - np.swapaxes(matrix, -1, -2)


def _left_jacobian(v):
    """How a change of the rotation vector v (..., 3) turns what exp(v) has turned already."""
    angle = np.linalg.norm(v, axis=-1)[..., None, None]
    cross = _cross_matrix(v)
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    first = np.where(small, 0.5 - angle**2 / 24, (1 - np.cos(safe)) / safe**2)
    second = np.where(small, 1 / 6 - angle**2 / 120, (safe - np.sin(safe)) / safe**3)
    return np.eye(3) + first * cross + second * cross @ cross

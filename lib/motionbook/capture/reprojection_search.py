"""The search behind synchronisation by reprojection: triangulation of shifted tracks, error curves, refinement."""

from collections.abc import Sequence

import numpy as np

from motionbook import rotations as rot
from motionbook.capture.alignment import GAP, sample, smoothed
from motionbook.capture.cameras import Camera, normalised
from motionbook.capture.lags import vertex


def ideal(cameras: Sequence[Camera], tracks) -> list[np.ndarray]:
    """Pixels freed of lens distortion, so that the search need not do it in every step."""
    return [
        normalised(camera, track) * camera.intrinsics[[0, 1], [0, 1]] + camera.intrinsics[:2, 2]
        for camera, track in zip(cameras, tracks, strict=True)
    ]


class Solver:
    """Unweighted linear triangulation of ideal pixels, by sums over cameras so that one camera can be exchanged.

    Unweighted and without rejection on purpose: dropping the camera that disagrees would hide that it is late.
    """

    def __init__(self, cameras: Sequence[Camera]):
        self.cameras = cameras
        self.turns = [rot.to_matrix(camera.rotation) for camera in cameras]

    def part(self, c: int, pixels: np.ndarray):
        """What camera c gives to the normal equations of points seen at ``pixels`` (..., 2): (10, ...)."""
        camera, turn = self.cameras[c], self.turns[c]
        seen = np.isfinite(pixels).all(axis=-1)
        out = np.zeros((10, *seen.shape))
        for axis in (0, 1):
            focal, centre, shift = camera.intrinsics[axis, axis], camera.intrinsics[axis, 2], camera.translation
            u = np.where(seen, pixels[..., axis] - centre, 0.0)
            x, y, z = ((u * turn[2, k] - focal * turn[axis, k]) * seen for k in range(3))
            right = (focal * shift[axis] - u * shift[2]) * seen
            for k, term in enumerate((x * x, x * y, x * z, y * y, y * z, z * z, x * right, y * right, z * right)):
                out[k] += term
        out[9] = seen
        return out

    def errors(self, parts, pictures) -> np.ndarray:
        """Distances (cameras, ...) in pixels to the points put back; NaN where unseen or seen by one camera only."""
        a, b, c, d, e, f, x, y, z, count = np.sum(parts, axis=0)
        i00, i01, i02 = d * f - e * e, c * e - b * f, b * e - c * d
        i11, i12, i22 = a * f - c * c, b * c - a * e, a * d - b * b
        determinant = a * i00 + b * i01 + c * i02
        good = (count >= 2) & (determinant > 1e-13 * np.maximum(a + d + f, 1e-300) ** 3)
        scale = 1 / np.where(good, determinant, np.nan)
        places = (
            (i00 * x + i01 * y + i02 * z) * scale,
            (i01 * x + i11 * y + i12 * z) * scale,
            (i02 * x + i12 * y + i22 * z) * scale,
        )
        out = np.empty((len(self.cameras), *determinant.shape))
        for k, (camera, turn, seen) in enumerate(zip(self.cameras, self.turns, pictures, strict=True)):
            u, v, depth = (
                turn[i, 0] * places[0] + turn[i, 1] * places[1] + turn[i, 2] * places[2] + camera.translation[i]
                for i in range(3)
            )
            depth = np.where(depth > 1e-6, depth, np.nan)
            (fx, _, cx), (_, fy, cy), _ = camera.intrinsics
            out[k] = np.hypot(fx * u / depth + cx - seen[..., 0], fy * v / depth + cy - seen[..., 1])
        return out

    def __call__(self, pictures) -> np.ndarray:
        """Distances in pixels of everything seen, solved from scratch; see ``errors``."""
        return self.errors([self.part(c, pixels) for c, pixels in enumerate(pictures)], pictures)


class Curve:
    """Mean error of one camera's shifts with the others held, and what follows from it."""

    def __init__(self, errors, shifts, at):
        # errors: (shifts, moments, observations summed) as sums and counts per moment
        sums, counts = errors
        total = np.where(counts.sum(axis=1) > 0, sums.sum(axis=1) / np.maximum(counts.sum(axis=1), 1), np.nan)
        self.error = float(total[at])
        middle = np.nanmedian(total)
        self.depth = middle - total
        self.tied, self.spread, self.neighbours = 0, np.inf, ""
        if not 0 < at < len(total) - 1 or not np.isfinite(total[at - 1 : at + 2]).all():
            return
        blocks = np.array_split(np.arange(sums.shape[1]), min(10, sums.shape[1]))
        block_sums = np.stack([sums[:, b].sum(axis=1) for b in blocks])
        block_counts = np.stack([counts[:, b].sum(axis=1) for b in blocks])
        places, near = [], []
        for b in range(len(blocks)):
            left = (block_sums.sum(axis=0) - block_sums[b]) / np.maximum(block_counts.sum(axis=0) - block_counts[b], 1)
            # on squares the valley is a parabola
            places.append(vertex(*(left[at - 1 : at + 2] ** 2)))
            near.append([left[at - 1] - left[at], left[at + 1] - left[at]])
        n = len(blocks)
        self.spread = float(np.sqrt((n - 1) / n * np.sum((places - np.mean(places)) ** 2)))
        near = np.array(near)
        rise = np.array([total[at - 1], total[at + 1]]) - total[at]
        scatter = np.sqrt((n - 1) / n * ((near - near.mean(axis=0)) ** 2).sum(axis=0))
        closest = int(np.argmin(rise))
        if rise[closest] < 2 * scatter[closest]:
            self.tied = (-1, 1)[closest]
        self.neighbours = f"{rise[0]:+.3f} (-1), {rise[1]:+.3f} (+1), scatter {scatter.max():.3f}"


class Search:
    """The tracks, the moments that are compared, and the cameras' pictures at every whole-frame shift."""

    def __init__(self, cameras, tracks, clocks, base, max_shift, max_moments):
        self.cameras, self.tracks, self.clocks, self.base = cameras, tracks, clocks, base
        self.fps, self.reach = base.fps, int(max_shift)
        start, stop = max(c[0] for c in clocks), min(c[-1] for c in clocks)
        ticks = np.arange(np.ceil(start * self.fps - 1e-6), np.floor(stop * self.fps + 1e-6) + 1)
        if len(ticks) < 8:
            raise ValueError(f"the cameras share {max(len(ticks), 0)} frames at the start given; expected at least 8")
        keep = np.unique(np.linspace(0, len(ticks) - 1, min(len(ticks), max_moments)).round().astype(int))
        self.at = ticks[keep] / self.fps
        self.range = np.arange(-self.reach, self.reach + 1)
        self.solver, self.parts = Solver(cameras), {}
        gaps = GAP / base.rates
        self.pictures = [
            np.stack([sample(track, clock, self.at + k / self.fps, gap) for k in self.range])
            for track, clock, gap in zip(tracks, clocks, gaps, strict=True)
        ]
        self.inside = [
            np.stack(
                [(self.at + k / self.fps >= c[0] - 1e-9) & (self.at + k / self.fps <= c[-1] + 1e-9) for k in self.range]
            )
            for c in clocks
        ]

    def _sums(self, shifts, step: int = 1):
        """Error sums and counts (moments,) and the moments inside every camera, of every ``step``-th moment."""
        places = np.asarray(shifts) + self.reach
        pictures = [p[k, ::step] for p, k in zip(self.pictures, places, strict=True)]
        parts = []
        for c, k in enumerate(places):
            if (c, k, step) not in self.parts:
                self.parts[c, k, step] = self.solver.part(c, pictures[c])
            parts.append(self.parts[c, k, step])
        errors = self.solver.errors(parts, pictures)
        known = np.isfinite(errors)
        inside = np.all([i[k, ::step] for i, k in zip(self.inside, places, strict=True)], axis=0)
        return np.where(known, errors, 0.0).sum(axis=(0, 2)), known.sum(axis=(0, 2)), inside

    def whole_frames(self):
        """Shifts (cameras,) int, and a row per move with what it gained."""
        shifts, rows = np.zeros(len(self.cameras), dtype=int), []
        # everywhere on some of the moments, then nearby on all of them
        few = max(len(self.at) // 120, 1)
        for step, near in ((few, 2 * self.reach), (1, 2)) if few > 1 else ((1, 2 * self.reach),):
            shifts = self._descend(shifts, rows, step, near)
        return shifts, rows

    def _descend(self, shifts, rows, step, near):
        count = len(self.cameras)
        for _ in range(4 * count):
            now_sums, now_counts, now_inside = self._sums(shifts, step)
            best = None
            for c in range(count):
                for k in self.range:
                    if k == shifts[c] or abs(k - shifts[c]) > near:
                        continue
                    trial = shifts.copy()
                    trial[c] = k
                    sums, counts, inside = self._sums(trial, step)
                    shared = now_inside & inside & (counts > 0) & (now_counts > 0)
                    if shared.sum() < max(8, len(shared) // 4):
                        continue
                    gain, scatter = gain_of(now_sums[shared], now_counts[shared], sums[shared], counts[shared])
                    if best is None or gain > best[0]:
                        best = gain, scatter, c, int(k)
            if best is None or best[0] <= max(2 * best[1], 1e-9):
                break
            gain, scatter, c, k = best
            rows.append(
                {
                    "camera": self.cameras[c].name,
                    "moved to [frames]": k,
                    "gain [px]": gain,
                    "standard error [px]": scatter,
                    "mean before [px]": float(now_sums.sum() / max(now_counts.sum(), 1)),
                }
            )
            shifts = shifts.copy()
            shifts[c] = k
            # only differences matter: keep the cameras in the middle of what is searched
            middle = int(np.round(np.median(shifts)))
            if np.abs(shifts - middle).max() <= self.reach:
                shifts -= middle
        return shifts

    def curve(self, camera, shifts):
        """How the error changes when one camera moves from where it is, over the moments inside all."""
        all_sums, all_counts = [], []
        for k in self.range:
            trial = np.array(shifts)
            trial[camera] = k
            sums, counts, inside = self._sums(trial)
            all_sums.append(np.where(inside, sums, 0.0))
            all_counts.append(np.where(inside, counts, 0))
        counts = np.array(all_counts)
        thin = counts.sum(axis=1) < 0.25 * counts.sum(axis=1).max()
        counts[thin] = 0
        # the same moments for the neighbours that are compared, so that no easy moment drops out on one side only
        at = int(shifts[camera] + self.reach)
        near = slice(max(at - 1, 0), at + 2)
        common = (counts[near] > 0).all(axis=0)
        sums = np.array(all_sums)
        sums[near], counts[near] = sums[near] * common, counts[near] * common
        return Curve((sums, counts), self.range, at)

    def refine(self, late, first, rounds):
        """`fraction`, gone on with from its bounds while it ends there."""
        for _ in range(rounds):
            start = late
            late, spread = self.fraction(start, first)
            if np.abs(late - start).max() * self.fps < 1.2:
                break
        return late, spread

    def fraction(self, late, first):
        """Offsets (cameras,) in seconds beside the base's, all together with the reference held, and their errors.

        The standard errors are those of an estimate whose gradients are independent between stretches of a
        second: H^-1 (sum of g g^T over stretches) H^-1 with the Hessian H and gradients g of the mean error. Detector
        errors that last longer make them too small: by 1.7 for simulated performers at 2 px, half of it slow.
        """
        from scipy.optimize import minimize

        smooth = [smoothed(t, r) for t, r in zip(self.tracks, self.base.rates, strict=True)]
        gaps = GAP / self.base.rates
        margin, unknown = 1.5 / self.fps, np.full(len(late), np.nan)
        good = np.ones(len(self.at), dtype=bool)
        for clock, off in zip(self.clocks, late, strict=True):
            good &= (self.at + off - margin >= clock[0]) & (self.at + off + margin <= clock[-1])
        at = self.at[good]
        fixed = [
            np.all([np.isfinite(sample(t, c, at + off + s, g)) for s in (-margin, 0.0, margin)], axis=0)
            for t, c, off, g in zip(smooth, self.clocks, late, gaps, strict=True)
        ]
        seen = np.all(fixed, axis=-1).sum(axis=0)
        if len(at) < 8 or not ((seen >= 2).sum(axis=0) >= 4).any():
            return late, unknown
        cache = {}

        def picture(c, seconds):
            if c not in cache or cache[c][0] != seconds:
                values = np.where(fixed[c], sample(smooth[c], self.clocks[c], at + seconds, gaps[c]), np.nan)
                cache[c] = seconds, values, self.solver.part(c, values)
            return cache[c][1:]

        free = [c for c in range(len(self.cameras)) if c != first]

        def costs(frames):
            seconds = late.copy()
            seconds[free] += np.asarray(frames) / self.fps
            both = [picture(c, s) for c, s in enumerate(seconds)]
            errors = self.solver.errors([part for _, part in both], [values for values, _ in both])
            known = np.isfinite(errors)
            return np.where(known, errors, 0.0).sum(axis=(0, 2)) / max(known.sum(), 1)

        found = minimize(
            lambda frames: costs(frames).sum(),
            np.zeros(len(free)),
            method="Powell",
            bounds=[(-1.49, 1.49)] * len(free),
            options={"xtol": 2e-3, "ftol": 1e-6, "maxfev": 150 * len(free)},
        )
        best = np.atleast_1d(found.x)
        out, spread = late.copy(), np.zeros(len(late))
        out[free] += best / self.fps
        spread[free] = self._errors_of(costs, np.clip(best, -1.24, 1.24), len(at)) / self.fps
        return out, spread

    def _errors_of(self, costs, best, moments):
        """Standard errors (free,) in frames of the minimum ``best`` of costs summed over moments."""
        n, h = len(best), 0.25
        steps = h * np.eye(n)
        plus, minus = ([costs(best + sign * step) for step in steps] for sign in (1, -1))
        middle = costs(best).sum()
        hessian = np.empty((n, n))
        for i in range(n):
            hessian[i, i] = (plus[i].sum() - 2 * middle + minus[i].sum()) / h**2
            for j in range(i):
                both = costs(best + steps[i] + steps[j]).sum() + costs(best - steps[i] - steps[j]).sum()
                apart = costs(best + steps[i] - steps[j]).sum() + costs(best - steps[i] + steps[j]).sum()
                hessian[i, j] = hessian[j, i] = (both - apart) / (4 * h**2)
        seconds = (self.at[-1] - self.at[0]) * moments / len(self.at)
        stretches = np.array_split(np.arange(moments), int(np.clip(seconds, 6, max(moments // 2, 6))))
        gradients = (np.array(plus) - np.array(minus)).T / (2 * h)
        blocks = np.array([gradients[s].sum(axis=0) for s in stretches])
        blocks = blocks - blocks.mean(axis=0)
        if np.linalg.eigvalsh(hessian).min() <= 0:
            return np.full(n, np.inf)
        inverse = np.linalg.inv(hessian)
        return np.sqrt(np.diag(inverse @ (blocks.T @ blocks) @ inverse))


def gain_of(sums_before, counts_before, sums_after, counts_after):
    """Fall of the mean error and its standard error over at most 10 blocks of time (jackknife)."""
    total = sums_before.sum() / counts_before.sum() - sums_after.sum() / counts_after.sum()
    blocks = np.array_split(np.arange(len(sums_before)), min(10, len(sums_before)))
    left = []
    for block in blocks:
        keep = np.ones(len(sums_before), dtype=bool)
        keep[block] = False
        before = sums_before[keep].sum() / max(counts_before[keep].sum(), 1)
        left.append(before - sums_after[keep].sum() / max(counts_after[keep].sum(), 1))
    n = len(blocks)
    return float(total), float(np.sqrt((n - 1) / n * np.sum((left - np.mean(left)) ** 2)))

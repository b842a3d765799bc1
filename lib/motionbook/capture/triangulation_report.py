"""What triangulation did, as tables: per landmark and per camera, nothing lost without a count."""

from collections.abc import Sequence

import numpy as np

from motionbook.capture.cameras import Camera, camera_centre
from motionbook.capture.swaps import exchange_sides
from motionbook.capture.triangulation import Observed, Reason, Triangulation

# A camera that contradicts the others in more than this share of what it saw is wrong as a whole.
_CONTRADICTS = 0.5


def keypoint_table(result: Triangulation, names: Sequence[str], cameras: Sequence[Camera]):
    """One row per landmark and a last row "all".

    Columns: ``solved [%]``; ``error [px]`` and ``error [mm]``, the mean reprojection error and its width at the
    landmark's mean distance from the cameras; ``cameras``, mean number used; ``excluded <camera> [%]``, the share of
    what that camera saw that was rejected; one count per `Reason` that occurs, of frames without a place.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    ValueError
        When the names or cameras are not those of the result.
    """
    import pandas as pd

    frames, count = _check(result, names, cameras)
    reason, observed = result.reason.reshape(frames, count), result.observed.reshape(len(cameras), frames, count)
    solved = reason == Reason.SOLVED
    error, positions = result.error.reshape(frames, count), result.positions.reshape(frames, count, 3)
    spread = _millimetres_per_pixel(positions, cameras)

    def columns(pick):
        """Sums over frames (points,), or over everything with ``pick`` = sum."""
        total = pick(np.full(count, frames))
        won = pick(solved.sum(axis=0))
        seen, rejected = pick(_counts(observed, usable=True)), pick(_counts(observed, usable=False))
        row = {
            "solved [%]": 100 * won / total,
            "error [px]": _share(pick(np.where(solved, error, 0.0).sum(axis=0)), won),
            "error [mm]": _share(pick(np.where(solved, error * spread, 0.0).sum(axis=0)), won),
            "cameras": _share(pick(np.where(solved, result.cameras_used.reshape(frames, count), 0).sum(axis=0)), won),
        }
        for c, camera in enumerate(cameras):
            row[f"excluded {camera.name} [%]"] = 100 * _share(rejected[c], seen[c])
        for code in Reason:
            if code != Reason.SOLVED and (reason == code).any():
                row[_words(code)] = pick((reason == code).sum(axis=0))
        return row

    table = pd.DataFrame(columns(lambda values: values), index=list(names))
    table.loc["all"] = pd.Series(columns(lambda values: np.sum(values, axis=-1)))
    return table.rename_axis("landmark")


def camera_table(result: Triangulation, cameras: Sequence[Camera]):
    """One row per camera.

    Columns: ``not seen [%]``, ``low confidence [%]``, ``outside lens [%]`` of all points; ``excluded [%]`` of what was
    usable; ``error [px]``, mean of the pictures used, and ``error of excluded [px]``, median; ``swapped [%]``, frames
    in which some part's sides were exchanged (when looked for); ``verdict``: "dead" when nothing was usable,
    "contradicts the others" when most of it was rejected, else "ok".

    Returns
    -------
    pandas.DataFrame
    """
    import pandas as pd

    rows = {}
    for c, camera in enumerate(cameras):
        observed, error = result.observed[c].ravel(), result.camera_errors[c].ravel()
        count = np.bincount(observed, minlength=len(Observed))
        usable = count[Observed.USED] + count[Observed.REJECTED]
        excluded = _share(count[Observed.REJECTED], usable)
        far = error[(observed == Observed.REJECTED) & np.isfinite(error)]
        row = {
            "not seen [%]": 100 * count[Observed.NOT_SEEN] / observed.size,
            "low confidence [%]": 100 * count[Observed.LOW_CONFIDENCE] / observed.size,
            "outside lens [%]": 100 * count[Observed.OUTSIDE_LENS] / observed.size,
            "excluded [%]": 100 * excluded,
            "error [px]": _mean(error[(observed == Observed.USED) & np.isfinite(error)]),
            "error of excluded [px]": float(np.median(far)) if len(far) else np.nan,
        }
        if result.swaps is not None:
            row["swapped [%]"] = 100 * _mean(result.swaps.swapped[c].any(axis=-1))
        row["verdict"] = "dead" if not usable else "contradicts the others" if excluded > _CONTRADICTS else "ok"
        rows[camera.name] = row
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("camera")


def swap_table(result: Triangulation, cameras: Sequence[Camera]):
    """One row per run of frames in which sides were exchanged back, or in which it is unclear in which half.

    Columns: ``camera`` ("?" where unclear), ``part``, ``start``, ``stop`` (frames, half-open), ``gain [px]``, the mean
    fall of the reprojection error, ``repaired``.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    ValueError
        When exchanged sides were not looked for.
    """
    import pandas as pd

    swaps = result.swaps
    if swaps is None:
        raise ValueError("result: exchanged sides were not looked for; give triangulate the argument sides")
    rows = []
    for k, part in enumerate(swaps.parts):
        flags = [(camera.name, swaps.swapped[c, :, k], True) for c, camera in enumerate(cameras)]
        for name, flag, repaired in [*flags, ("?", swaps.unclear[:, k], False)]:
            edges = np.flatnonzero(np.diff(np.concatenate([[0], flag.astype(int), [0]]))).reshape(-1, 2)
            for start, stop in edges:
                gain = float(swaps.gain[start:stop, k].mean())
                rows.append((name, part, int(start), int(stop), gain, repaired))
    return pd.DataFrame(rows, columns=["camera", "part", "start", "stop", "gain [px]", "repaired"])


def repaired_pixels(points: np.ndarray, result: Triangulation) -> np.ndarray:
    """The pixels (cameras, frames, points, 2) that were triangulated: with exchanged sides put right."""
    return points if result.swaps is None else exchange_sides(np.asarray(points), result.swaps)


def _check(result, names, cameras):
    count = result.reason.shape[-1] if result.reason.ndim else 0
    if len(names) != count:
        raise ValueError(f"names: expected {count}, one per point of the result, got {len(names)}")
    if len(cameras) != len(result.observed):
        raise ValueError(f"cameras: expected the {len(result.observed)} of the result, got {len(cameras)}")
    return result.reason.size // max(count, 1), count


def _counts(observed, usable: bool) -> np.ndarray:
    """Pictures (cameras, points) that were usable, or that were rejected."""
    return ((observed >= Observed.REJECTED) if usable else (observed == Observed.REJECTED)).sum(axis=1)


def _millimetres_per_pixel(positions, cameras) -> np.ndarray:
    """Width (frames, points) of a pixel at a place, mean over the cameras; NaN where there is no place."""
    total = np.zeros(positions.shape[:-1])
    for camera in cameras:
        off = positions - camera_centre(camera)
        total += np.sqrt(np.einsum("...i,...i", off, off)) / (0.5 * np.trace(camera.intrinsics[:2, :2]))
    return 1000.0 * total / len(cameras)


def _share(part, whole):
    """part / whole, NaN where whole is 0."""
    whole = np.asarray(whole, dtype=np.float64)
    return np.asarray(part) / np.where(whole > 0, whole, np.nan)


def _mean(values) -> float:
    return float(np.mean(values)) if len(values) else np.nan


def _words(code: Reason) -> str:
    return code.name.lower().replace("_", " ")

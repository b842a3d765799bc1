"""Does a system move as people do: Fréchet motion distance, diversity, density and coverage of whole sets of motions.

Errors ask whether a motion is the recorded one. These measures ask whether a system's motions, all together, are spread
as recorded ones are, and work where there is no recording to compare with. A motion is described by 27 features
(``FEATURES``) which do not depend on place and heading; they are logarithms and close to normal, and are divided by the
standard deviation of the real motions.

* ``frechet_motion_distance``: squared Fréchet distance of the normal distributions fitted to both sets (Dowson and
  Landau 1982; Heusel et al. 2017 for images).
* ``diversity``: mean distance between two motions of a set.
* ``density`` and ``coverage``: how many neighbourhoods of real motions a made one lies in, relative to k, and the share
  of real motions with a made one in their neighbourhood of the k nearest (Naeem et al. 2020).

All three depend on the number of motions; the Fréchet distance of two samples of n from one distribution of d features
is about d (d + 5) / (2 n) for large n, not 0 (27 features, 400 motions: 1.1). Hence ``distribution_table`` compares
sets of one size only, and puts beside every system what real motions score against other real motions.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from motionbook.clip import Clip
from motionbook.inbetweening.baselines import LocalPose
from motionbook.inbetweening.scoring import Predictor, world
from motionbook.inbetweening.windows import CENTIMETRES, CONTEXT, FPS, Windows
from motionbook.kinematics import forward_kinematics
from motionbook.skeletons import LAFAN1

PARTS = {
    "hips": ("Hips",),
    "trunk": ("Spine", "Spine1", "Spine2", "Neck", "Head"),
    "left arm": ("LeftShoulder", "LeftArm", "LeftForeArm", "LeftHand"),
    "right arm": ("RightShoulder", "RightArm", "RightForeArm", "RightHand"),
    "left leg": ("LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToe"),
    "right leg": ("RightUpLeg", "RightLeg", "RightFoot", "RightToe"),
}
_KINDS = ("speed", "acceleration", "excursion", "unevenness")
_BANDS = ((0.0, 1.0), (1.0, 3.0), (3.0, 6.0), (6.0, 15.0))  # Hz
FEATURES = (
    *(f"{kind}, {part}" for kind in _KINDS for part in PARTS),
    *(f"power {low:g}-{high:g} Hz" for low, high in _BANDS[1:]),
)
NEIGHBOURS = 5
MEASURES = ("frechet", "diversity", "density", "coverage")
# no capture knows a speed better than this: m/s, m/s^2, m
_FLOORS = (1e-3, 1e-2, 1e-3)


class Motions(NamedTuple):
    """Features (motions, 27) of a set of motions and whose they are, (motions,) strings."""

    features: np.ndarray
    people: np.ndarray


def motion_features(places, fps: float = FPS) -> np.ndarray:
    """The 27 numbers that describe each motion, (motions, 27).

    Parameters
    ----------
    places : (motions, frames, 22, 3)
        World places of LAFAN1's joints in metres; at least 8 frames.
    fps : float

    Returns
    -------
    (motions, 27)
        In the order of ``FEATURES``. By part of the body (all but the hips' own motion is taken relative to the hips,
        so that a step does not count six times): natural logarithms of the root mean square speed and acceleration and
        of the excursion, the largest distance from the straight line between first and last place at even pace; and
        how uneven the speed is, its standard deviation over its mean. Then logarithms of the power of joint velocities
        in three bands over that below 1 Hz.
    """
    places = np.asarray(places, dtype=np.float64)
    if places.ndim != 4 or places.shape[2:] != (len(LAFAN1), 3) or places.shape[1] < 8:
        raise ValueError(f"places: expected (motions, 8 or more frames, 22, 3), got {places.shape}")
    moved = places.copy()
    moved[:, :, 1:] -= places[:, :, :1]
    velocity = np.diff(moved, axis=1) * fps
    speed = np.linalg.norm(velocity, axis=-1)
    acceleration = np.linalg.norm(np.diff(velocity, axis=1) * fps, axis=-1)
    t = np.linspace(0.0, 1.0, places.shape[1])[:, None, None]
    line = moved[:, :1] + t * (moved[:, -1:] - moved[:, :1])
    away = np.linalg.norm(moved - line, axis=-1).max(axis=1)
    columns = {kind: [] for kind in _KINDS}
    for names in PARTS.values():
        joints = [LAFAN1.index(name) for name in names]
        columns["speed"].append(_log(_rms(speed[:, :, joints]), _FLOORS[0]))
        columns["acceleration"].append(_log(_rms(acceleration[:, :, joints]), _FLOORS[1]))
        columns["excursion"].append(_log(away[:, joints].max(axis=1), _FLOORS[2]))
        mean = speed[:, :, joints].mean(axis=2)
        columns["unevenness"].append(mean.std(axis=1) / (mean.mean(axis=1) + _FLOORS[0]))
    window = np.hanning(velocity.shape[1] + 2)[1:-1, None, None]
    power = (np.abs(np.fft.rfft(velocity * window, axis=1)) ** 2).mean(axis=(2, 3)) / velocity.shape[1] ** 2
    frequency = np.fft.rfftfreq(velocity.shape[1], 1 / fps)
    bands = [_band(power, frequency, *band) for band in _BANDS]
    shares = [np.log(band / bands[0]) for band in bands[1:]]
    return np.stack([*(c for kind in _KINDS for c in columns[kind]), *shares], axis=1)


def window_motions(
    windows: Windows, transition: int, predictor: Predictor | None, people: Sequence[str] | None = None
) -> Motions:
    """Gaps of windows with two frames on either side, as a system fills them or (None) as they were recorded.

    With the frames before and after, so that a system's seams count: their speed and acceleration are part of it.
    """
    gap, around = slice(CONTEXT, CONTEXT + transition), slice(CONTEXT - 2, CONTEXT + transition + 2)
    if windows.rotations.shape[1] < CONTEXT + transition + 2:
        raise ValueError(f"windows: expected {CONTEXT + transition + 2} frames or more for a gap of {transition}")
    root, rotations = windows.root_positions.copy(), windows.rotations.copy()
    if predictor is not None:
        root[:, gap], rotations[:, gap] = predictor(windows, transition)
    placed = world(windows, LocalPose(root[:, around], rotations[:, around])).positions / CENTIMETRES
    people = [str(c) for c in windows.clips] if people is None else list(people)
    return Motions(motion_features(placed), np.asarray(people))


def clip_motions(clips: Sequence[Clip], frames: int = 60, people: Sequence[str] | None = None) -> Motions:
    """Pieces of clips of so many frames, side by side; a rest at the end is left out."""
    features, owners = [], []
    for number, clip in enumerate(clips):
        places = forward_kinematics(clip).positions
        count = len(places) // frames
        if count:
            features.append(
                motion_features(places[: count * frames].reshape(count, frames, *places.shape[1:]), clip.fps)
            )
            owners += [str(number) if people is None else people[number]] * count
    if not features:
        raise ValueError(f"clips: none is as long as a piece of {frames} frames")
    return Motions(np.concatenate(features), np.asarray(owners))


def frechet_motion_distance(real, generated) -> float:
    """Squared Fréchet distance of two normal distributions fitted to features (n, d) and (m, d).

    |m_1 - m_2|^2 + tr(S_1 + S_2 - 2 (S_1^1/2 S_2 S_1^1/2)^1/2), in the features' own units, float64. The roots are
    taken of symmetric matrices by their eigenvalues, where rounding below zero is zero: no imaginary part appears.
    """
    real, generated = (np.asarray(x, dtype=np.float64) for x in (real, generated))
    for name, x in (("real", real), ("generated", generated)):
        if x.ndim != 2 or len(x) < 2 or x.shape[1] != real.shape[1]:
            raise ValueError(f"{name}: expected (two or more motions, {real.shape[-1]} features), got {x.shape}")
    first, second = (np.atleast_2d(np.cov(x, rowvar=False)) for x in (real, generated))
    powers, axes = np.linalg.eigh(first)
    root = (axes * np.sqrt(np.maximum(powers, 0.0))) @ axes.T
    inner = root @ second @ root
    cross = np.sqrt(np.maximum(np.linalg.eigvalsh(0.5 * (inner + inner.T)), 0.0)).sum()
    shift = ((real.mean(axis=0) - generated.mean(axis=0)) ** 2).sum()
    return float(max(shift + np.trace(first) + np.trace(second) - 2.0 * cross, 0.0))


def diversity(features) -> float:
    """Mean distance between two different motions of a set (n, d)."""
    features = np.asarray(features, dtype=np.float64)
    if len(features) < 2:
        raise ValueError(f"diversity: expected two motions or more, got {len(features)}")
    return float(_distances(features, features).sum() / (len(features) * (len(features) - 1)))


def density_and_coverage(real, generated, k: int = NEIGHBOURS) -> tuple[float, float]:
    """Density and coverage of generated (m, d) by the neighbourhoods of the k nearest of real (n, d) motions."""
    real, generated = (np.asarray(x, dtype=np.float64) for x in (real, generated))
    if not 1 <= k < len(real):
        raise ValueError(f"k: expected 1 to {len(real) - 1} neighbours among {len(real)} real motions, got {k}")
    # the motion itself is its own nearest
    radius = np.sort(_distances(real, real), axis=1)[:, k]
    apart = _distances(real, generated)
    return float((apart <= radius[:, None]).sum(axis=0).mean() / k), float((apart.min(axis=1) <= radius).mean())


def distribution_table(
    real: Motions,
    systems: Mapping[str, Motions],
    *,
    by: str = "person",
    k: int = NEIGHBOURS,
    draws: int = 200,
    seed: int = 0,
):
    """Every measure of every system against real motions, sets of one size, with intervals.

    Each draw puts half of the people (or motions) on one side. A system's motions of that half are compared with the
    real motions of the other half, so that no system gains from having been given the keys of the very motions that
    it is compared with; the row "GT" does the same with real motions, which is the best that can be expected.

    Parameters
    ----------
    real : Motions
    systems : mapping of name to Motions
        Every system's motions stand for the real ones one by one, or are at least of the same people.
    by : "person" or "motion"
        What is divided in halves. Motions of one person are alike: halves of motions make all distances smaller and
        the intervals too narrow.
    k, draws, seed

    Returns
    -------
    pandas.DataFrame
        A row per system, "GT" first: every measure (mean over draws) with low and high (95 % of draws; halves drawn
        without replacement vary about as much as the whole would from one group of people to another), n_motions and
        n_people. Diversity is that of the system's half.
    """
    import pandas as pd

    if by not in ("person", "motion"):
        raise ValueError(f'by: expected "person" or "motion", got {by!r}')
    if "GT" in systems:
        raise ValueError('systems: "GT" is the row of the real motions themselves')
    mean, std = real.features.mean(axis=0), np.maximum(real.features.std(axis=0), 1e-6)
    everything = {"GT": real, **systems}
    scaled = {name: (m.features - mean) / std for name, m in everything.items()}
    units = {
        name: np.asarray(m.people) if by == "person" else np.arange(len(m.people)) for name, m in everything.items()
    }
    names = np.unique(units["GT"])
    if len(names) < 2:
        raise ValueError(f"real: expected two or more of what is divided in halves ({by}), got {len(names)}")
    rng, found = np.random.default_rng(seed), {name: [] for name in everything}
    for _ in range(draws):
        half = rng.permutation(names)[: len(names) // 2]
        reference = scaled["GT"][~np.isin(units["GT"], half)]
        for name, features in scaled.items():
            made = features[np.isin(units[name], half)]
            if len(made) < 2 or len(reference) <= k:
                raise ValueError(f"{name}: a half holds {len(made)} motions against {len(reference)}; give more")
            # one size for both: the Fréchet distance grows as sets shrink
            n = min(len(made), len(reference))
            made, other = (x[rng.permutation(len(x))[:n]] for x in (made, reference))
            scores = frechet_motion_distance(other, made), diversity(made), *density_and_coverage(other, made, k)
            found[name].append(scores)
    rows = []
    for name, scores in found.items():
        scores = np.array(scores)
        low, high = np.percentile(scores, [2.5, 97.5], axis=0)
        cells = zip(MEASURES, scores.mean(axis=0), low, high, strict=True)
        row = {f"{m}{end}": v for m, *values in cells for end, v in zip(("", "_low", "_high"), values, strict=True)}
        people = everything[name].people
        rows.append({"system": name, **row, "n_motions": len(people), "n_people": len(np.unique(people))})
    table = pd.DataFrame(rows).set_index("system")
    table.attrs = {"by": by, "k": k, "draws": draws, "features": len(FEATURES)}
    return table


def _distances(a, b) -> np.ndarray:
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2.0 * a @ b.T
    if a is b:
        np.fill_diagonal(squares, 0.0)
    return np.sqrt(np.maximum(squares, 0.0))


def _rms(values) -> np.ndarray:
    return np.sqrt((values**2).mean(axis=(1, 2)))


def _log(values, floor: float) -> np.ndarray:
    return 0.5 * np.log(values**2 + floor**2)


def _band(power, frequency, low: float, high: float) -> np.ndarray:
    inside = (frequency >= low) & ((frequency < high) | (high == _BANDS[-1][1]))
    return power[:, inside].sum(axis=1) + 1e-8

"""How visible a seam is, how far clips pass from their key poses, and what repairs do to the motion elsewhere."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.inbetweening.correction import gaussian_smoothed, repair_between_keys, two_steps

NEAR = 3  # frames to either side of a seam that a kernel of 7 reaches from it
REPAIRS = (
    "as made",
    "shifted (step 1)",
    "published",
    "published, previous tendency",
    "Gaussian, 7 frames",
    "between key poses",
    "recorded",
)


def jumps(clip: Clip, seams: Sequence[int]) -> np.ndarray:
    """How much each joint's step changes at each seam, |(v[j] - v[j-1]) - (v[j+1] - v[j])|, in degrees.

    Parameters
    ----------
    clip : Clip
    seams : frames
        Each with a frame before and after it.

    Returns
    -------
    (seams, joints)
        Steps are rotation vectors from one frame to the next in the joint's own frame.
    """
    at = np.asarray(seams, dtype=int)
    if at.size and not (at.min() >= 1 and at.max() <= len(clip) - 2):
        raise ValueError(f"seams: expected frames 1 to {len(clip) - 2}, got {at.min()} to {at.max()}")
    q = clip.rotations
    into, out = (rot.to_rotation_vector(rot.multiply(rot.inverse(q[at - a]), q[at + 1 - a])) for a in (1, 0))
    return np.rad2deg(np.linalg.norm(into - out, axis=-1))


def root_jumps(clip: Clip, seams: Sequence[int]) -> np.ndarray:
    """The same for the root's place, (seams,), in centimetres."""
    at, p = np.asarray(seams, dtype=int), clip.root_positions
    return 100.0 * np.linalg.norm((p[at] - p[at - 1]) - (p[at + 1] - p[at]), axis=-1)


def key_misses(made: Sequence[Clip], recorded: Sequence[Clip], keys: Sequence[int]):
    """How far clips pass from the key poses.

    Returns
    -------
    pandas.DataFrame
        One row per clip and key: clip, frame, median_degrees and max_degrees over the joints, root_cm.
    """
    import pandas as pd

    rows = []
    for number, (a, b) in enumerate(zip(made, recorded, strict=True)):
        for key in (int(k) for k in keys if k < len(a)):
            angles = np.rad2deg(rot.angle_between(a.rotations[key], b.rotations[key]))
            cm = 100.0 * np.linalg.norm(a.root_positions[key] - b.root_positions[key])
            rows.append((number, key, float(np.median(angles)), float(angles.max()), float(cm)))
    return pd.DataFrame(rows, columns=["clip", "frame", "median_degrees", "max_degrees", "root_cm"])


def displaced(clip: Clip, junctions: Sequence[int], degrees: float, centimetres: float, seed=0) -> Clip:
    """Recorded motion with known jumps: from junction to junction joints turned and the root moved by a constant.

    Parameters
    ----------
    junctions : increasing frames
    degrees, centimetres : float
        Standard deviation about each axis of each joint's own frame, and along each axis of the root's place.
    seed : int, sequence of int or numpy Generator
    """
    rng = np.random.default_rng(seed)
    places, rotations = clip.root_positions.copy(), clip.rotations.copy()
    for a, b in zip(junctions, [*list(junctions)[1:], len(clip)], strict=True):
        turn = rot.from_rotation_vector(np.deg2rad(degrees) * rng.standard_normal((len(clip.skeleton), 3)))
        rotations[a:b] = rot.multiply(rotations[a:b], turn)
        places[a:b] += 0.01 * centimetres * rng.standard_normal(3)
    return replace(clip, root_positions=places, rotations=rot.normalize(rotations))


def repairs(clip: Clip, recorded: Clip, junctions: Sequence[int], keys: Sequence[int]) -> dict[str, Clip]:
    """A clip made of segments under every repair of ``REPAIRS``, with the recording at the end.

    Parameters
    ----------
    clip : Clip
        Uncorrected, as ``autoregression.fill_segments`` or ``displaced`` gives it.
    recorded : Clip
        At least as long; its key poses are put in by the repair between key poses.
    junctions, keys : frames
        First frames of the segments, and key poses (the last frame of the context first).
    """
    shifted, published = two_steps(clip, junctions)
    _, previous = two_steps(clip, junctions, tendency="previous")
    versions = (
        clip,
        shifted,
        published,
        previous,
        gaussian_smoothed(clip),
        repair_between_keys(clip, recorded, keys),
        recorded[: len(clip)],
    )
    return dict(zip(REPAIRS, versions, strict=True))


def repair_table(clips: Sequence[Clip], recorded: Sequence[Clip], junctions: Sequence[int], keys: Sequence[int]):
    """What each repair does to seams, key poses and the rest of the motion.

    Parameters
    ----------
    clips, recorded, junctions, keys
        As for ``repairs``, a clip each.

    Returns
    -------
    pandas.DataFrame
        A row for each of ``REPAIRS``, all medians over joints, seams (or keys, or frames) and clips:

        jump_deg, jump_cm
            At the junctions, of rotations and of the root, see ``jumps``.
        jump_around_deg
            The largest jump at a junction or within one frame of it: where a jump was merely moved to.
        key_deg, key_max_deg, key_cm
            How far key poses inside the clip (the context's excepted) are missed; the second is the largest of all.
        lurch_deg
            The largest step from one frame to the next within 3 frames of a junction: a jump spread over a few frames
            is still a lurch.
        detail_kept
            Mean change of step, as of ``jumps``, more than 3 frames from every junction, as a share of the clip's as
            made: what is left of the fast, small part of the motion.
        step_change_deg
            Change of the step from frame to frame, more than 3 frames from every junction, against the clip as made:
            how much of the motion away from the seams has become another motion.
        drift_cm
            How far the root is from its place as made in the last frame.
        n_clips, n_seams
    """
    import pandas as pd

    found = {name: [] for name in REPAIRS}
    inner = [int(k) for k in list(keys)[1:]]
    for clip, truth in zip(clips, recorded, strict=True):
        for name, version in repairs(clip, truth, junctions, keys).items():
            around = np.max([jumps(version, np.asarray(junctions) + k) for k in (-1, 0, 1)], axis=0)
            found[name].append(
                {
                    "jump_deg": jumps(version, junctions).ravel(),
                    "jump_cm": root_jumps(version, junctions),
                    "jump_around_deg": around.ravel(),
                    **_key_errors(version, truth, [k for k in inner if k < len(version)]),
                    "lurch_deg": _lurches(version, junctions).ravel(),
                    "detail_kept": _detail(version, junctions) / _detail(clip, junctions),
                    "step_change_deg": _step_changes(clip, version, junctions).ravel(),
                    "drift_cm": 100.0 * np.linalg.norm(version.root_positions[-1:] - clip.root_positions[-1:], axis=-1),
                }
            )
    rows = {}
    for name, parts in found.items():
        columns: dict[str, Callable] = dict.fromkeys(parts[0], np.median)
        columns["key_max_deg"] = np.max
        rows[name] = {
            column: float(measure(np.concatenate([part[column] for part in parts])))
            for column, measure in columns.items()
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "repair"
    table.loc["recorded", ["detail_kept", "step_change_deg", "drift_cm"]] = (
        np.nan
    )  # another motion, not a repair of this one
    return table.assign(n_clips=len(clips), n_seams=len(clips) * len(junctions))


def _key_errors(made: Clip, recorded: Clip, keys: Sequence[int]) -> dict[str, np.ndarray]:
    angles = np.rad2deg(rot.angle_between(made.rotations[keys], recorded.rotations[keys])).ravel()
    cm = 100.0 * np.linalg.norm(made.root_positions[keys] - recorded.root_positions[keys], axis=-1)
    return {"key_deg": angles, "key_max_deg": angles, "key_cm": cm}


def _lurches(clip: Clip, junctions: Sequence[int]) -> np.ndarray:
    """Largest step (junctions, joints) in degrees within ``NEAR`` frames of each junction."""
    angles = np.rad2deg(rot.angle_between(clip.rotations[1:], clip.rotations[:-1]))
    near = np.clip(np.asarray(junctions)[:, None] + np.arange(-NEAR, NEAR + 1) - 1, 0, len(angles) - 1)
    return angles[near].max(axis=1)


def _away(frames: np.ndarray, junctions: Sequence[int]) -> np.ndarray:
    return frames[np.abs(frames[:, None] - np.asarray(junctions)).min(axis=1) > NEAR]


def _detail(clip: Clip, junctions: Sequence[int]) -> np.ndarray:
    return jumps(clip, _away(np.arange(1, len(clip) - 1), junctions)).mean(keepdims=True).ravel()


def _step_changes(before: Clip, after: Clip, junctions: Sequence[int]) -> np.ndarray:
    """Degrees (frames, joints) between the steps of two clips, away from the junctions."""
    at = _away(np.arange(1, len(before)), junctions)
    steps = [
        rot.to_rotation_vector(rot.multiply(rot.inverse(c.rotations[at - 1]), c.rotations[at])) for c in (before, after)
    ]
    return np.rad2deg(np.linalg.norm(steps[1] - steps[0], axis=-1))

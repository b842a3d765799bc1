"""Clips that a reader's own systems made: checked against the ground truth, put beside the others, and scored.

The folder has one folder of BVH per system, with the clip names of chapter 3's list. It lies outside the results, which
a chapter clears when it runs again.

A score is that of the benchmark on the gaps between key poses: windows of ten frames of context, 45 to fill and a
target, one after each key pose, with the same L2P, L2Q and NPSS.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from motionbook import rotations as rot
from motionbook.bvh import read_bvh
from motionbook.clip import Clip
from motionbook.inbetweening.autoregression import KEY_DISTANCE
from motionbook.inbetweening.baselines import LocalPose
from motionbook.inbetweening.generator import JUDGED, SYSTEMS
from motionbook.inbetweening.scoring import Predictor, position_moments, position_statistics, score_windows
from motionbook.inbetweening.windows import CENTIMETRES, CONTEXT, STATISTICS, Windows, make_windows

# Header rates such as 0.033333 are rounded
_RATE_TOLERANCE = 1e-3


def find_systems(folder: str | Path, names) -> dict[str, list[Path]]:
    """The BVH files of each system below a folder, by system, each holding every clip.

    Parameters
    ----------
    folder : path
        With ``<system>/<clip>.bvh``.
    names : iterable of str
        The clips of chapter 3; every system needs all of them, or people would compare systems on different motions.

    Raises
    ------
    FileNotFoundError, NotADirectoryError
        No such folder.
    ValueError
        No system in it, one named as a system of the book, or clips that are missing or unknown.
    """
    folder, names = Path(folder), sorted(names)
    if not folder.exists():
        raise FileNotFoundError(f"systems: {folder} does not exist; name a folder with one folder of BVH per system")
    if not folder.is_dir():
        raise NotADirectoryError(f"systems: expected a folder with one folder of BVH per system, got the file {folder}")
    if not names:
        raise ValueError("systems: there are no clips to stand beside; give recordings long enough for them")
    found = {}
    for place in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        files = sorted(path for path in place.iterdir() if path.suffix.lower() == ".bvh")
        if not files:
            continue
        if place.name in (*SYSTEMS, *JUDGED):
            known = ", ".join((*SYSTEMS, *JUDGED))
            raise ValueError(f"systems: {place.name} is a system of the book ({known}); rename the folder")
        there = {path.stem for path in files}
        if lacking := [name for name in names if name not in there]:
            raise ValueError(f"{place.name}: {len(lacking)} of {len(names)} clips are missing: {_few(lacking)}")
        if unknown := sorted(there - set(names)):
            raise ValueError(f"{place.name}: no clip of chapter 3 is named {_few(unknown)}; there are {_few(names)}")
        found[place.name] = files
    if not found:
        raise ValueError(f"systems: {folder} holds no folder with .bvh files; expected <system>/<clip>.bvh")
    return found


def read_systems(folder: str | Path, truth: Mapping[str, Clip]) -> dict[str, dict[str, Clip]]:
    """The clips of a reader's systems, checked: system to clip name to Clip; errors as for ``take_systems``."""
    made = {}
    for system, files in find_systems(folder, truth).items():
        made[system] = {}
        for path in files:
            clip = read_bvh(path)
            _check(f"{system}/{path.name}", clip, truth[path.stem])
            made[system][path.stem] = clip
    return made


def take_systems(folder: str | Path, truth: Mapping[str, Clip], target: str | Path) -> dict[str, dict[str, Clip]]:
    """Check every clip of a reader's systems and copy its file to ``<target>/<system>/<clip>.bvh``.

    Nothing is copied when one of them is refused.

    Parameters
    ----------
    folder : path
        See ``find_systems``.
    truth : mapping of clip name to Clip
        The ground truth; each clip needs its frames, frame rate, joints and, within a factor of two, its size.
    target : path

    Returns
    -------
    dict
        System to clip name to Clip.

    Raises
    ------
    ValueError
        With the file and what differs. Files that are no BVH raise BvhError, a ValueError.
    """
    found = find_systems(folder, truth)
    made = read_systems(folder, truth)
    for system, files in found.items():
        place = Path(target) / system
        place.mkdir(parents=True, exist_ok=True)
        for path in files:
            shutil.copyfile(path, place / f"{path.stem}.bvh")
    return made


def score_systems(
    folder: str | Path,
    truth: Mapping[str, Clip],
    std: np.ndarray | None = None,
    *,
    beside: Mapping[str, Mapping[str, Clip]] | None = None,
):
    """Read a folder of generated BVH per system and score it against the ground truth: one more row per system.

    Parameters
    ----------
    folder : path
        See ``find_systems``.
    truth : mapping of clip name to Clip
    std : (joints, 3), optional
        See ``score_clips``.
    beside : mapping of system to mapping of clip name to Clip, optional
        Systems whose rows come first, such as chapter 3's own.

    Returns
    -------
    pandas.DataFrame
        See ``score_clips``.
    """
    return score_clips(truth, {**(beside or {}), **read_systems(folder, truth)}, std)


def score_clips(
    truth: Mapping[str, Clip],
    systems: Mapping[str, Mapping[str, Clip]],
    std: np.ndarray | None = None,
    *,
    every: int = KEY_DISTANCE,
):
    """L2P, L2Q and NPSS of whole clips at their key-framed transitions.

    Parameters
    ----------
    truth : mapping of clip name to Clip
        On the LaFAN1 skeleton at 30 fps, key poses as in ``autoregression.key_frames``.
    systems : mapping of system to mapping of clip name to Clip
        Every system has all clips, with frame i standing for frame i of the ground truth.
    std : (joints, 3), optional
        Scale of L2P in centimetres, from the training people of a fold as in the tables of the benchmark. Without it
        the ground-truth clips give their own, which ``attrs["note"]`` says.
    every : int

    Returns
    -------
    pandas.DataFrame
        A row per system: L2P@45, L2Q@45, NPSS@45, n_windows, n_clips.

    Notes
    -----
    Windows start at 0, 45, 90 and so on, so that frames 10 .. 54 of each are scored: in all but the first, a key pose
    and the 44 frames after it. Root places and rotations of a system stand on the ground truth's bones, as everywhere
    in the benchmark. The frames after the last target inside the clip are not scored.
    """
    import pandas as pd

    names = list(truth)
    for system, clips in systems.items():
        if lacking := [name for name in names if name not in clips]:
            raise ValueError(f"{system}: {len(lacking)} of {len(names)} clips are missing: {_few(lacking)}")
    recorded = [truth[name] for name in names]
    windows = make_windows(recorded, CONTEXT + every + 1, every)
    if not len(windows):
        raise ValueError(f"truth: no clip has the {CONTEXT + every + 1} frames of one transition")
    note = "L2P in standard deviations of the training people"
    if std is None:
        _, std = position_statistics([position_moments(make_windows(recorded, *STATISTICS))])
        note = "L2P in standard deviations of the ground-truth clips themselves"
    predictors = {s: clip_predictor(recorded, [clips[name] for name in names]) for s, clips in systems.items()}
    rows = {}
    for (system, length), scores in score_windows(windows, std, (every,), predictors).items():
        power = scores.npss_power.sum()
        rows[system] = {
            f"L2P@{length}": float(scores.l2p.mean()),
            f"L2Q@{length}": float(scores.l2q.mean()),
            f"NPSS@{length}": float(scores.npss_distance.sum() / power) if power > 0 else float("nan"),
            "n_windows": len(windows),
            "n_clips": len(set(windows.clips.tolist())),
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name, table.attrs["note"] = "system", note
    return table


def clip_predictor(truth: Sequence[Clip], made: Sequence[Clip]) -> Predictor:
    """A predictor that answers with the frames of clips that exist already.

    Parameters
    ----------
    truth : sequence of Clip
        What the windows are cut from.
    made : sequence of Clip
        Of the same frames, in the same order and place.

    Returns
    -------
    function of (windows, transition)
        For windows cut from ``truth`` by ``windows.make_windows``: the made clips' frames, moved and turned as the
        window was.
    """
    for number, (a, b) in enumerate(zip(truth, made, strict=True)):
        if len(a) != len(b):
            raise ValueError(f"clip {number}: expected {len(a)} frames, one for each of the ground truth, got {len(b)}")

    def predict(windows: Windows, transition: int) -> LocalPose:
        root, rotations = [], []
        for number, (clip, start) in enumerate(zip(windows.clips, windows.starts, strict=True)):
            last = start + CONTEXT - 1
            placed = truth[clip]
            turn = rot.multiply(windows.rotations[number, CONTEXT - 1, 0], rot.inverse(placed.rotations[last, 0]))
            moved = windows.root_positions[number, CONTEXT - 1] - rot.rotate(
                turn, placed.root_positions[last] * CENTIMETRES
            )
            gap = slice(last + 1, last + 1 + transition)
            q = made[clip].rotations[gap].copy()
            q[:, 0] = rot.multiply(turn, q[:, 0])
            rotations.append(q)
            root.append(rot.rotate(turn, made[clip].root_positions[gap] * CENTIMETRES) + moved)
        return LocalPose(np.stack(root), np.stack(rotations))

    return predict


def _check(name: str, clip: Clip, truth: Clip) -> None:
    """Refuse a clip that does not stand for the same frames of the same body."""
    if clip.skeleton.names != truth.skeleton.names or clip.skeleton.parents != truth.skeleton.parents:
        lacking = [joint for joint in truth.skeleton.names if joint not in clip.skeleton.names]
        unknown = [joint for joint in clip.skeleton.names if joint not in truth.skeleton.names]
        parts = [f"without {_few(lacking)}"] if lacking else []
        parts += [f"with {_few(unknown)}"] if unknown else []
        raise ValueError(
            f"{name}: expected the {len(truth.skeleton)} joints of the ground truth in their order, got "
            f"{len(clip.skeleton)} {' and '.join(parts) or 'in another order'}"
        )
    if len(clip) != len(truth):
        raise ValueError(f"{name}: expected {len(truth)} frames, one for each of the ground truth, got {len(clip)}")
    if abs(clip.fps / truth.fps - 1) > _RATE_TOLERANCE:
        raise ValueError(f"{name}: expected {truth.fps:g} frames per second, got {clip.fps:g}")
    size, expected = (np.linalg.norm(c.skeleton.offsets[1:], axis=1).sum() for c in (clip, truth))
    if not 0.5 < size / expected < 2.0:
        raise ValueError(
            f"{name}: its bones add up to {size:.3g} m, the ground truth's to {expected:.3g} m; mind the unit"
        )


def _few(names, most: int = 4) -> str:
    names = list(names)
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")

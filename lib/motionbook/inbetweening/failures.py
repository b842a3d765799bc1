"""Where each system fails: its worst windows, the joints and frames that make them so, and maps of joint by frame."""

from collections.abc import Mapping, Sequence

import numpy as np

from motionbook import rotations as rot
from motionbook.inbetweening.baselines import LocalPose
from motionbook.inbetweening.scoring import Predictor, world
from motionbook.inbetweening.windows import CONTEXT, Windows

# How the error of a joint is measured: where it is in the world, or how it is turned against its parent. The first
# is what L2P sees, and a turned hip moves the whole leg; the second says which joint is at fault.
ERRORS = ("cm", "degrees")


def joint_errors(windows: Windows, length: int, predictor: Predictor, error: str = "cm") -> np.ndarray:
    """Error of every joint in every predicted frame, (windows, length, joints); see ``ERRORS``."""
    if error not in ERRORS:
        raise ValueError(f"error: expected one of {', '.join(ERRORS)}, got {error!r}")
    gap = slice(CONTEXT, CONTEXT + length)
    truth = LocalPose(windows.root_positions[:, gap], windows.rotations[:, gap])
    guess = LocalPose(*predictor(windows, length))
    if error == "degrees":
        return np.rad2deg(rot.angle_between(truth.rotations, guess.rotations))
    return np.linalg.norm(world(windows, truth).positions - world(windows, guess).positions, axis=-1)


def error_maps(
    windows: Windows, length: int, systems: Mapping[str, Predictor], error: str = "cm"
) -> dict[str, np.ndarray]:
    """Mean error over windows by frame and joint, (length, joints), of every system."""
    return {name: joint_errors(windows, length, p, error).mean(axis=0) for name, p in systems.items()}


def failures(
    windows: Windows,
    std: np.ndarray,
    length: int,
    systems: Mapping[str, Predictor],
    *,
    names: Sequence[str] | None = None,
    worst: int = 5,
):
    """The worst windows of every system by L2P, with what is wrong in them.

    Parameters
    ----------
    windows : Windows
    std : (joints, 3)
        Scale of L2P.
    length : int
    systems : mapping of name to predictor
    names : sequence of str, optional
        Of the clips that the windows were cut from, by ``windows.clips``.
    worst : int
        Rows per system.

    Returns
    -------
    pandas.DataFrame
        Columns system, rank, clip, start, l2p, share (of the system's whole error that falls on this window),
        frame (of the gap, from 1, with the largest error), joints (the three furthest off in that frame with
        centimetres) and turned (the joint whose own rotation is furthest off, with degrees).
    """
    import pandas as pd

    joints = windows.skeleton.names
    gap = slice(CONTEXT, CONTEXT + length)
    truth = world(windows, LocalPose(windows.root_positions[:, gap], windows.rotations[:, gap])).positions
    rows = []
    for system, predictor in systems.items():
        guess = LocalPose(*predictor(windows, length))
        away = truth - world(windows, guess).positions
        by_frame = np.linalg.norm((away / std).reshape(*away.shape[:2], -1), axis=-1)
        scores = by_frame.mean(axis=1)
        for rank, which in enumerate(np.argsort(-scores, kind="stable")[:worst], start=1):
            frame = int(by_frame[which].argmax())
            cm = np.linalg.norm(away[which, frame], axis=-1)
            furthest = np.argsort(-cm, kind="stable")[:3]
            angles = np.rad2deg(
                rot.angle_between(windows.rotations[which, CONTEXT + frame], guess.rotations[which, frame])
            )
            turned = int(angles.argmax())
            clip = int(windows.clips[which])
            rows.append(
                (
                    system,
                    rank,
                    clip if names is None else names[clip],
                    int(windows.starts[which]),
                    float(scores[which]),
                    float(scores[which] / max(scores.sum(), np.finfo(float).tiny)),
                    frame + 1,
                    ", ".join(f"{joints[j]} {cm[j]:.1f} cm" for j in furthest),
                    f"{joints[turned]} {angles[turned]:.0f} degrees",
                )
            )
    columns = ["system", "rank", "clip", "start", "l2p", "share", "frame", "joints", "turned"]
    return pd.DataFrame(rows, columns=columns)

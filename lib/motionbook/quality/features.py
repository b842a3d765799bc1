"""The seven features of 4DHumanQA (section VI-A): how a generated performance departs from its reference.

Where the paper leaves a choice, the docstrings state the one taken. Meshes are compared frame by frame as both are
played, over the shorter of the two; ``frame_step`` thins only the comparisons of surfaces.
"""

from typing import NamedTuple

import numpy as np

from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics
from motionbook.quality.body import MeshSequence
from motionbook.smoothness import log_dimensionless

FEATURES = ("F1", "F2", "F3", "F4", "F5", "F6", "F7")
TITLES = {
    "F1": "Chamfer distance",
    "F2": "Hausdorff distance",
    "F3": "Foot Contact",
    "F4": "Global translation",
    "F5": "Velocity",
    "F6": "Motion smoothness",
    "F7": "Mean per-joint position error",
}
CONTACT_HEIGHT = 0.04  # metres of a foot joint above its lowest place in the reference
STILL = 0.01  # metres; a joint whose whole path is shorter has no smoothness


class Performance(NamedTuple):
    """A person's motion as a surface and as joints, at the same frame rate."""

    mesh: MeshSequence
    clip: Clip


class Prepared(NamedTuple):
    """What every comparison with one reference needs of its surface: search trees by frame, and its speed."""

    trees: dict
    speed: float


def prepare(reference: Performance, frame_step: int = 1) -> Prepared:
    """The reference's part of the surface features, worth keeping when many performances are compared with it."""
    from scipy.spatial import cKDTree

    vertices = reference.mesh.vertices
    trees = {frame: cKDTree(vertices[frame]) for frame in range(0, len(vertices), frame_step)}
    return Prepared(trees, surface_speed(reference.mesh, frame_step))


def features(
    reference: Performance, generated: Performance, *, frame_step: int = 1, prepared: Prepared | None = None
) -> dict[str, float]:
    """F1 to F7 of a generated performance against its reference.

    Parameters
    ----------
    reference, generated : Performance
    frame_step : int
        Every how many frames surfaces are compared.
    prepared : Prepared, optional
        ``prepare(reference, frame_step)``; computed here when left out.

    Returns
    -------
    dict
        F1 Chamfer distance, m^2 (Eq. 13). F2 Hausdorff distance, m (Eq. 14). F3 foot contact, m/s + m: difference of
        sliding speed while the reference's foot is down plus difference of the lowest foot's height (Eq. 15 as printed
        equals F4). F4 root displacement, m (Eq. 16). F5 difference of surface speed over duration, m/s per s (Eq. 17).
        F6 difference of log dimensionless jerk, positive when the generated motion is jerkier (Eq. 18-19). F7 mean
        per-joint position error, m (Eq. 20).

    Raises
    ------
    ValueError
        When rates differ, or fewer than four frames are common.
    """
    if not np.isclose(reference.clip.fps, generated.clip.fps):
        raise ValueError(f"fps: reference has {reference.clip.fps}, generated {generated.clip.fps}; resample one")
    frames = min(len(reference.clip), len(generated.clip))
    if frames < 4:
        raise ValueError(f"expected at least 4 common frames, got {frames}")
    a = forward_kinematics(reference.clip).positions
    g = forward_kinematics(generated.clip).positions
    prepared = prepare(reference, frame_step) if prepared is None else prepared
    chamfer, hausdorff = surface_distances(reference.mesh, generated.mesh, prepared.trees)
    return {
        "F1": chamfer,
        "F2": hausdorff,
        "F3": foot_contact_difference(a[:frames], g[:frames], reference.clip),
        "F4": float(np.linalg.norm(g[:frames, 0] - a[:frames, 0], axis=-1).mean()),
        "F5": abs(prepared.speed - surface_speed(generated.mesh, frame_step)),
        "F6": smoothness_difference(a, g, reference.clip.fps),
        "F7": float(np.linalg.norm(g[:frames] - a[:frames], axis=-1).mean()),
    }


def surface_distances(a: MeshSequence, g: MeshSequence, trees: dict) -> tuple[float, float]:
    """Mean Chamfer distance (m^2: mean squared nearest distance, both ways added) and Hausdorff distance (m).

    Parameters
    ----------
    a, g : MeshSequence
    trees : dict of frame -> scipy.spatial.cKDTree
        Of ``a``, for the frames to compare; those beyond the shorter sequence are left out.
    """
    from scipy.spatial import cKDTree

    chamfer, hausdorff = [], []
    for frame, tree in trees.items():
        if frame < min(len(a), len(g)):
            there = cKDTree(g.vertices[frame]).query(a.vertices[frame])[0]
            back = tree.query(g.vertices[frame])[0]
            chamfer.append(np.mean(there**2) + np.mean(back**2))
            hausdorff.append(max(there.max(), back.max()))
    return float(np.mean(chamfer)), float(np.mean(hausdorff))


def surface_speed(mesh: MeshSequence, frame_step: int = 1) -> float:
    """Mean nearest distance from a frame's vertices to the next frame's, over the sequence's duration (Eq. 17)."""
    from scipy.spatial import cKDTree

    steps = [
        cKDTree(mesh.vertices[frame + 1]).query(mesh.vertices[frame])[0].mean()
        for frame in range(0, len(mesh) - 1, frame_step)
    ]
    return float(np.mean(steps) / ((len(mesh) - 1) / mesh.fps))


def foot_contact_difference(a: np.ndarray, g: np.ndarray, clip: Clip) -> float:
    """F3 from joint places (frames, joints, 3): sliding while the reference stands, plus height over the floor."""
    feet = [j for j, name in enumerate(clip.skeleton.names) if name.endswith(("Foot", "Toe", "ToeBase"))]
    if not feet:
        raise ValueError(f"no joint named as a foot or toe among {', '.join(clip.skeleton.names)}")
    a, g = a[:, feet], g[:, feet]
    down = (a[..., 1] - a[..., 1].min(0) < CONTACT_HEIGHT)[1:]
    speed = [np.linalg.norm(np.diff(x[..., [0, 2]], axis=0), axis=-1) * clip.fps for x in (a, g)]
    slide = np.abs(speed[1] - speed[0])[down].mean() if down.any() else 0.0
    height = np.abs(g[..., 1].min(1) - a[..., 1].min(1)).mean()
    return float(slide + height)


def log_dimensionless_jerk(places: np.ndarray, fps: float) -> np.ndarray:
    """LDLJ (joints,) of paths (frames, joints, 3); NaN for joints whose path is shorter than a centimetre."""
    step = 1.0 / fps
    length = np.linalg.norm(np.diff(places, axis=0), axis=-1).sum(0)
    jerk = np.diff(places, n=3, axis=0) / step**3
    duration = (len(places) - 1) * step
    integral = duration * np.square(jerk).sum(-1).mean(0)
    return log_dimensionless(integral, length, duration, STILL)


def smoothness_difference(a: np.ndarray, g: np.ndarray, fps: float) -> float:
    """F6: mean over joints that move in both of LDLJ(reference) - LDLJ(generated); 0 when none moves."""
    difference = log_dimensionless_jerk(a, fps) - log_dimensionless_jerk(g, fps)
    moving = np.isfinite(difference)
    return float(difference[moving].mean()) if moving.any() else 0.0

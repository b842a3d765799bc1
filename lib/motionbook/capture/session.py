"""A recording session of the embedded performers, from their motion to BVH takes and the errors made on the way."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionbook.bvh import write_bvh
from motionbook.capture.assembly import Assembly, assemble, bone_lengths, fill_gaps, low_pass, with_virtual_points
from motionbook.capture.cameras import Camera, semicircle
from motionbook.capture.landmarks import Landmarks, Observations, observe, true_landmarks
from motionbook.capture.triangulation import Triangulation, triangulate
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics

# What a StayStill camera's lens may look like after calibration; assumed, the paper prints no calibration.
LENS = (-0.02, 0.01, 0.0003, -0.0002, 0.0)
LIMBS = tuple(f"{part}.{side}" for part in ("upper_arm", "forearm", "thigh", "shin", "foot") for side in "LR")


class Take(NamedTuple):
    """Everything between a performer and a clip.

    ``truth`` are the performer's own landmarks, ``raw`` the triangulated ones, ``smooth`` those with short gaps filled
    and filtered, ``assembly`` the clip made of them; ``unsolved`` counts points (landmark x frame) that were left
    unknown after filling.
    """

    truth: Landmarks
    seen: Observations
    triangulation: Triangulation
    raw: Landmarks
    smooth: Landmarks
    assembly: Assembly
    unsolved: int


def record(clip: Clip, cameras: Sequence[Camera], seed, *, noise: float = 2.0, drop_share: float = 0.03) -> Take:
    """Film a clip (on LaFAN1 joints), detect, triangulate, fill, filter and assemble.

    Parameters
    ----------
    clip : Clip
    cameras : sequence of Camera
    seed : int, sequence of int or numpy Generator
        Of the simulated detector.
    noise, drop_share : float
        As in `motionbook.capture.landmarks.observe`.
    """
    truth = true_landmarks(clip)
    seen = observe(truth, cameras, np.random.default_rng(seed), noise=noise, drop_share=drop_share)
    solved = triangulate(cameras, seen.pixels, seen.confidence)
    confidence = np.where(solved.cameras_used >= 2, seen.confidence.mean(axis=0), 0.0)
    raw = Landmarks(seen.names, solved.positions, confidence, seen.fps)
    filled = fill_gaps(solved.positions, seen.fps)
    smooth = Landmarks(seen.names, low_pass(filled.points, seen.fps), confidence, seen.fps)
    return Take(truth, seen, solved, raw, smooth, assemble(smooth), int(filled.left.sum()))


def errors(take: Take) -> dict[str, float]:
    """How far a take is from the performer, in the chapter's columns.

    ``reprojection [px]`` mean over points of the distance in the pictures; ``MPJPE raw / filtered [mm]`` mean error of
    the landmarks before and after filtering, ``MPJPE clip [mm]`` of the clip's joints against the same points of the
    truth; ``bone spread [mm]`` standard deviation over time of a limb bone's triangulated length, mean over limbs
    (the clip's own bones have none); ``bone error [mm]`` mean distance of the clip's limb bones from the true length;
    ``lost [%]`` observations without detection.
    """
    truth = take.truth.positions
    raw, smooth = (np.nanmean(np.linalg.norm(t.positions - truth, axis=-1)) for t in (take.raw, take.smooth))
    measured, true = bone_lengths(take.raw), bone_lengths(take.truth)
    kept = bone_lengths(take.smooth)
    clip = take.assembly.clip
    points = with_virtual_points(take.truth)
    places = forward_kinematics(clip).positions
    wanted = np.stack([points[_JOINT_POINTS[name]] for name in clip.skeleton.names], axis=1)
    return {
        "frames": len(clip),
        "reprojection [px]": float(np.nanmean(take.triangulation.error)),
        "lost [%]": 100 * float(np.isnan(take.seen.pixels[..., 0]).mean()),
        "cameras per point": float(take.triangulation.cameras_used.mean()),
        "unsolved points": take.unsolved,
        "MPJPE raw [mm]": 1000 * float(raw),
        "MPJPE filtered [mm]": 1000 * float(smooth),
        "MPJPE clip [mm]": 1000 * float(np.linalg.norm(places - wanted, axis=-1).mean()),
        "bone spread [mm]": 1000 * float(np.mean([np.nanstd(measured[bone]) for bone in LIMBS])),
        "bone error [mm]": 1000
        * float(np.mean([abs(np.nanmedian(kept[bone]) - np.median(true[bone])) for bone in LIMBS])),
    }


_JOINT_POINTS = {
    "pelvis": "hips_center",
    "spine": "hips_center",
    "spine.001": "trunk_center",
    "neck": "neck_center",
    "face": "head_center",
}
for _side, _ending in (("left", ".L"), ("right", ".R")):
    _JOINT_POINTS |= {
        f"shoulder{_ending}": "neck_center",
        f"upper_arm{_ending}": f"{_side}_shoulder",
        f"forearm{_ending}": f"{_side}_elbow",
        f"pelvis{_ending}": "hips_center",
        f"thigh{_ending}": f"{_side}_hip",
        f"shin{_ending}": f"{_side}_knee",
        f"foot{_ending}": f"{_side}_ankle",
    }


def film_performer(subject: int, seconds: float, seed: int, cameras: int = 4) -> tuple[Clip, Take]:
    """An embedded performer's idle motion and its take by ``cameras`` cameras on Figure 1's semicircle."""
    from motionbook.synthesis.performers import idle, make_performer

    clip = idle(make_performer(subject, seed), seconds)
    return clip, record(clip, semicircle(cameras, distortion=LENS), [seed, subject, cameras])


def write_take(folder: str | Path, subject: int, clip: Clip) -> Path:
    """Write ``clips/<subject>_idle.bvh`` under a folder, as chapter 2 reads it."""
    return write_bvh(clip, Path(folder) / "clips" / f"{subject:02d}_idle.bvh")


def write_takes(folder: str | Path, subjects: int, seconds: float, seed: int) -> list[Path]:
    """Film the first ``subjects`` performers with four cameras and write their takes."""
    return [
        write_take(folder, subject, film_performer(subject, seconds, seed)[1].assembly.clip)
        for subject in range(subjects)
    ]

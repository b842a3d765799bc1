"""A recording session of the embedded performers, from their motion to BVH takes and the errors made on the way."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionbook.bvh import write_bvh
from motionbook.capture.assembly import Assembly, assemble, bone_lengths, with_virtual_points
from motionbook.capture.bones import rigid_bones
from motionbook.capture.cameras import Camera, semicircle
from motionbook.capture.export import write_c3d_csv, write_freemocap, write_gaps, write_trc
from motionbook.capture.landmarks import REALISTIC, Landmarks, Observations, Simulated, simulate, true_landmarks
from motionbook.capture.postprocess import Cleaned, Settings, clean
from motionbook.capture.swaps import side_pairs
from motionbook.capture.triangulation import Reason, Triangulation, triangulate
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics

# What a StayStill camera's lens may look like after calibration; assumed, the paper prints no calibration.
LENS = (-0.02, 0.01, 0.0003, -0.0002, 0.0)
LIMBS = tuple(f"{part}.{side}" for part in ("upper_arm", "forearm", "thigh", "shin", "foot") for side in "LR")


class Solved(NamedTuple):
    """From points in pictures to a clip.

    ``raw`` are the triangulated landmarks, ``cleaned`` those with short gaps closed and filtered, with the record of
    it, ``rigid`` those with constant bones, ``assembly`` the clip made of them.
    """

    triangulation: Triangulation
    raw: Landmarks
    cleaned: Cleaned
    rigid: Landmarks
    assembly: Assembly


class Take(NamedTuple):
    """Everything between a performer and a clip.

    ``truth`` are the performer's own landmarks, ``simulated`` what was done to them in the pictures, ``seen`` what the
    cameras deliver, ``solved`` what was made of it.
    """

    truth: Landmarks
    simulated: Simulated
    seen: Observations
    solved: Solved

    @property
    def triangulation(self) -> Triangulation:
        """Of the landmarks."""
        return self.solved.triangulation

    @property
    def raw(self) -> Landmarks:
        """Landmarks as triangulated."""
        return self.solved.raw

    @property
    def smooth(self) -> Landmarks:
        """Landmarks after gaps were closed and noise filtered."""
        return self.solved.cleaned.landmarks

    @property
    def assembly(self) -> Assembly:
        """The clip and how well it fits."""
        return self.solved.assembly

    @property
    def unsolved(self) -> int:
        """Points (landmark x frame) that were left unknown after gaps were closed."""
        return int(self.solved.cleaned.left.sum())


def solve(cameras: Sequence[Camera], seen: Observations, settings: Settings | str = "motionbook") -> Solved:
    """Triangulate, put exchanged sides right, close gaps, filter, hold the bones and make a clip.

    Parameters
    ----------
    cameras : sequence of Camera
        Calibrated, in the order of the observations.
    seen : Observations
        Synchronised, with MediaPipe's names.
    settings : Settings or str
        Of `motionbook.capture.postprocess.clean`.
    """
    solved = triangulate(cameras, seen.pixels, seen.confidence, sides=side_pairs(seen.names))
    used = np.where(solved.reason == Reason.SOLVED, np.nanmean(seen.confidence, axis=0), 0.0)
    raw = Landmarks(seen.names, solved.positions, used, seen.fps, ("triangulated",))
    cleaned = clean(raw, settings, solved.reason)
    with warnings.catch_warnings():
        # what has no length or direction is counted in the take (Assembly.bridged and known), and tabled
        warnings.simplefilter("ignore", UserWarning)
        rigid = rigid_bones(cleaned.landmarks).landmarks
        return Solved(solved, raw, cleaned, rigid, assemble(rigid, unseen="rest"))


def record(
    clip: Clip, cameras: Sequence[Camera], seed, *, solve_with: Sequence[Camera] | None = None, **errors
) -> Take:
    """Film a clip (on LaFAN1 joints), detect its landmarks, and solve them.

    Parameters
    ----------
    clip : Clip
    cameras : sequence of Camera
        That film.
    seed : int, sequence of int or numpy Generator
        Of the simulated detector.
    solve_with : sequence of Camera, optional
        What is believed of the cameras, such as their calibration; the filming cameras when not given.
    **errors
        Of the detector, as in `motionbook.capture.landmarks.simulate`, 2 pixels of noise and 3 % lost when not given;
        `REALISTIC` adds occlusion, exchanged sides and outliers.
    """
    truth = true_landmarks(clip)
    made = simulate(truth, cameras, np.random.default_rng(seed), **errors)
    return Take(truth, made, made.observations, solve(solve_with or cameras, made.observations))


def errors(take: Take) -> dict[str, float]:
    """How far a take is from the performer, in the chapter's columns.

    ``reprojection [px]`` mean over points of the distance in the pictures; ``MPJPE raw / filtered [mm]`` mean error of
    the landmarks before and after filtering, over those that are known, ``MPJPE clip [mm]`` of the clip's joints
    against the same points of the truth; ``bone spread [mm]`` standard deviation over time of a limb bone's
    triangulated length, mean over limbs (the clip's own bones have none); ``bone error [mm]`` mean distance of the
    clip's limb bones from the true length; ``lost [%]`` observations without detection; ``unsolved points`` unknown
    after gaps were closed, landmark x frame; ``bridged`` bone directions, bone x frame, taken from other frames.
    """
    clip = take.assembly.clip
    points = with_virtual_points(take.truth)
    places = forward_kinematics(clip).positions
    wanted = np.stack([points[_JOINT_POINTS[name]] for name in clip.skeleton.names], axis=1)
    true, kept = bone_lengths(take.truth), bone_lengths(take.solved.rigid)
    return {
        "frames": len(clip),
        "reprojection [px]": float(np.nanmean(take.triangulation.error)),
        "lost [%]": 100 * float(np.isnan(take.seen.pixels[..., 0]).mean()),
        "cameras per point": float(take.triangulation.cameras_used.mean()),
        "unsolved points": take.unsolved,
        "bridged": int(take.assembly.bridged),
        "MPJPE raw [mm]": mpjpe(take.raw, take.truth),
        "MPJPE filtered [mm]": mpjpe(take.smooth, take.truth),
        "MPJPE clip [mm]": 1000 * float(np.linalg.norm(places - wanted, axis=-1).mean()),
        "bone spread [mm]": bone_spread(take.raw),
        "bone error [mm]": 1000
        * float(np.mean([abs(np.nanmedian(kept[bone]) - np.median(true[bone])) for bone in LIMBS])),
    }


def mpjpe(found: Landmarks, truth: Landmarks) -> float:
    """Mean distance in millimetres of the known landmarks from the true ones."""
    return 1000 * float(np.nanmean(np.linalg.norm(found.positions - truth.positions, axis=-1)))


def bone_spread(found: Landmarks) -> float:
    """Standard deviation over time of a limb bone's length, mean over the limbs, millimetres."""
    lengths = bone_lengths(found)
    return 1000 * float(np.mean([np.nanstd(lengths[bone]) for bone in LIMBS if np.isfinite(lengths[bone]).any()]))


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


def embedded_idle(subject: int, seconds: float, seed: int) -> Clip:
    """An embedded performer's idle motion."""
    from motionbook.synthesis.performers import idle, make_performer

    return idle(make_performer(subject, seed), seconds)


def film_performer(
    subject: int, seconds: float, seed: int, cameras: int = 4, *, solve_with: Sequence[Camera] | None = None
) -> tuple[Clip, Take]:
    """An embedded performer's idle motion and its take by ``cameras`` cameras on Figure 1's semicircle.

    The detector errs as `REALISTIC` says; the cameras are known exactly unless ``solve_with`` says what is believed.
    """
    clip = embedded_idle(subject, seconds, seed)
    room = semicircle(cameras, distortion=LENS)
    return clip, record(clip, room, [seed, subject, cameras], solve_with=solve_with, **REALISTIC)


def write_take(folder: str | Path, subject: int, clip: Clip) -> Path:
    """Write ``clips/<subject>_idle.bvh`` under a folder, as chapter 2 reads it."""
    return write_bvh(clip, Path(folder) / "clips" / f"{subject:02d}_idle.bvh")


def write_takes(folder: str | Path, subjects: int, seconds: float, seed: int) -> list[Path]:
    """Film the first ``subjects`` performers with four cameras and write their takes."""
    return [
        write_take(folder, subject, film_performer(subject, seconds, seed)[1].assembly.clip)
        for subject in range(subjects)
    ]


def export(folder: str | Path, name: str, solved: Solved) -> list[Path]:
    """Write a take for other programs: TRC, the CSV of C3D programs, FreeMoCap's arrays, BVH, and the list of gaps."""
    folder = Path(folder)
    points = replace(solved.rigid, confidence=solved.cleaned.landmarks.confidence)
    return [
        write_trc(folder / f"{name}.trc", points),
        write_c3d_csv(folder / f"{name}.csv", points),
        *write_freemocap(folder / "freemocap", points, name=name),
        write_bvh(solved.assembly.clip, folder / f"{name}.bvh"),
        write_gaps(folder / f"{name}_gaps.csv", solved.cleaned.gaps),
    ]

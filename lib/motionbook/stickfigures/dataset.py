"""From source motions to labelled clips of frames: reading, splits, quality flags, and one file per clip.

Source motions are .npz files in the published keys under ``<group>/<slug>_s<seed>.npz``. Splits are by seed, so that
no motion is in two of them and every prompt can be in all three.

Source: Dancing Stick Figures, section 3 and Tables 1 and 2.
"""

import io
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionbook.checks import check_finite, check_shape
from motionbook.clip import Clip
from motionbook.files import files_below, write_whole
from motionbook.kinematics import forward_kinematics
from motionbook.skeletons import CSKEL27
from motionbook.stickfigures.camera import CANVAS, FigureMotion, View, figure_motion, project
from motionbook.stickfigures.figure import scale_bones
from motionbook.stickfigures.parameters import ClipParameters, clip_parameters
from motionbook.stickfigures.renderer import Rendering, quantise_depth, render, visible_joints
from motionbook.synthesis.prompts import GROUPS, find_prompt

FPS, CLIP_FRAMES, WINDOW = 20.0, 120, 64
SPLITS = {"train": range(8), "val": range(8, 9), "test": range(9, 10)}
FROZEN, LEVITATION = 0.02, 1.6  # m/s, m
_FEET = tuple(CSKEL27.index(side + bone) for side in ("Left", "Right") for bone in ("Foot", "ToeBase"))


@dataclass(frozen=True, eq=False)
class SourceMotion:
    """A motion before body and camera: world places (frames, 27, 3) of CSKEL27 in metres, Y up, and its names.

    ``clip_id`` decides body and cameras; ``seed`` is None where the file's name gives none.
    """

    clip_id: str
    group: str
    text: str
    seed: int | None
    positions: np.ndarray
    fps: float


class Prepared(NamedTuple):
    """A motion as it is drawn: figure frame and root track, scaled joints (frames, 27, 3), parameters, flags."""

    figure: FigureMotion
    joints: np.ndarray
    parameters: ClipParameters
    flags: str


class Sample(NamedTuple):
    """One view of one motion: its frames and the view they were seen from."""

    rendering: Rendering
    view: View


def find_motions(folder: str | Path) -> list[Path]:
    """The source motions below a folder, by name; an empty list where there are none.

    A .npz counts when it holds ``posed_joints`` of 27 joints.
    """
    return [path for path in files_below(Path(folder)) if path.suffix == ".npz" and _is_motion(path)]


def _is_motion(path):
    if not zipfile.is_zipfile(path):
        return False
    with np.load(path, allow_pickle=False) as stored:
        return "posed_joints" in stored.files and stored["posed_joints"].shape[1:] == (27, 3)


def read_motion(path: str | Path) -> SourceMotion:
    """Read one source motion (.npz).

    The group is the folder's name where that is one of the six, else the group of the prompt stored in the file, else
    "other". The seed is the number after ``_s`` at the end of the name.

    Raises
    ------
    ValueError
        When keys are missing or places are not finite or not (frames, 27, 3).
    """
    path = Path(path)
    with np.load(path, allow_pickle=False) as stored:
        missing = [key for key in ("posed_joints", "fps", "text") if key not in stored.files]
        if missing:
            raise ValueError(f"{path}: expected the keys of a source motion, {', '.join(missing)} missing")
        positions = check_shape(stored["posed_joints"], "frames 27 3", f"{path}: posed_joints")
        fps, text = float(stored["fps"]), str(stored["text"])
    check_finite(positions, f"{path}: posed_joints")
    prompt = find_prompt(text)
    group = path.parent.name if path.parent.name in GROUPS else prompt.group if prompt else "other"
    seed = re.search(r"_s(\d+)$", path.stem)
    return SourceMotion(f"{group}/{path.stem}", group, text, int(seed[1]) if seed else None, positions, fps)


def motion_of_clip(clip: Clip, clip_id: str, text: str, seed: int | None = None) -> SourceMotion:
    """A CSKEL27 clip as a source motion; the group is the part of ``clip_id`` before the slash."""
    if clip.skeleton.names != CSKEL27.names:
        raise ValueError(f"clip: expected the 27 joints of CSKEL27, got {len(clip.skeleton)}; retarget it first")
    positions = forward_kinematics(clip).positions
    return SourceMotion(clip_id, clip_id.split("/")[0], text, seed, positions, clip.fps)


def split_of(seed: int | None) -> str:
    """train for seeds 0 to 7, val for 8, test for 9; "" where there is no such seed."""
    return next((name for name, seeds in SPLITS.items() if seed in seeds), "")


def prepare(motion: SourceMotion) -> Prepared:
    """Turn a motion into its figure frame, draw its parameters, scale the bones, and flag its quality."""
    figure = figure_motion(motion.positions, motion.fps)
    parameters = clip_parameters(motion.clip_id)
    joints = scale_bones(figure.joints, parameters.body.bone_scale)
    return Prepared(figure, joints, parameters, quality_flags(motion, figure))


def quality_flags(motion: SourceMotion, figure: FigureMotion | None = None) -> str:
    """Flags of a motion, comma between: "levitation" (hips above 1.6 m), "frozen" (mean joint speed below 0.02 m/s).

    Heights count from the lowest foot joint of the first frame; speeds are those of the horizontally centred joints
    before bones are scaled.
    """
    figure = figure or figure_motion(motion.positions, motion.fps)
    flags = []
    height = figure.root_positions[:, 1] + figure.joints[0, 0, 1] - figure.joints[0, _FEET, 1].min()
    if height.max() > LEVITATION:
        flags.append("levitation")
    if mean_joint_speed(figure.joints, motion.fps) < FROZEN:
        flags.append("frozen")
    return ",".join(flags)


def mean_joint_speed(joints, fps: float) -> float:
    """Mean speed over joints and frames, m/s."""
    if len(joints) < 2:
        return 0.0
    return float(np.linalg.norm(np.diff(joints, axis=0), axis=-1).mean() * fps)


def draw(
    motion: SourceMotion, prepared: Prepared, view: int, *, size: int = 64, frames: int | None = None, geometry=False
) -> Sample:
    """Render the first ``frames`` of a motion (all when None) from its view 0, 1 or 2."""
    if frames is not None and len(motion.positions) < frames:
        raise ValueError(f"{motion.clip_id}: expected at least {frames} frames, got {len(motion.positions)}")
    camera = prepared.parameters.views[view]
    drawn = render(prepared.joints[:frames], prepared.parameters.body, camera, size, geometry=geometry)
    return Sample(drawn, camera)


def labels(motion: SourceMotion, prepared: Prepared, view: int, sample: Sample) -> dict[str, np.ndarray]:
    """Arrays of one clip under the published column names: frames, joints, root track, camera, body, names.

    joint_xy is in shares of the picture's side, so it holds at every size.
    """
    rendering, camera, body = sample.rendering, sample.view, prepared.parameters.body
    n = len(rendering.color)
    projected = project(prepared.joints[:n], camera, body.px_per_m)
    figure = prepared.figure
    arrays = {
        "clip_id": np.str_(f"{motion.clip_id}/c{view}"),
        "split": np.str_(split_of(motion.seed)),
        "group": np.str_(motion.group),
        "text": np.str_(motion.text),
        "seed": np.int32(-1 if motion.seed is None else motion.seed),
        "fps": np.int32(round(motion.fps)),
        "qa_flags": np.str_(prepared.flags),
        "cam_yaw": np.float32(camera.yaw),
        "cam_pitch": np.float32(camera.pitch),
        "cam_center": np.array(camera.centre, np.float32),
        "px_per_m": np.float32(body.px_per_m),
        "stroke": np.float32(body.stroke),
        "bone_scale": np.array([body.bone_scale.get(name, 1.0) for name in CSKEL27.names], np.float32),
        "joint_xyz": prepared.joints[:n].astype(np.float32),
        "joint_xy": (projected.points / CANVAS).astype(np.float32),
        "joint_depth": projected.depths.astype(np.float32),
        "joint_visible": visible_joints(rendering.seg),
        "root_pos": figure.root_positions[:n].astype(np.float32),
        "root_vel": figure.root_velocities[:n].astype(np.float32),
        "root_heading": figure.root_headings[:n].astype(np.float32),
        "color": rendering.color,
        "seg": rendering.seg,
    }
    if rendering.depth is not None:
        arrays |= {"depth": quantise_depth(rendering.depth), "normal": rendering.normal}
    return arrays


def write_sample(folder: str | Path, arrays: dict[str, np.ndarray]) -> Path:
    """Write one clip as ``<group>__<slug>_s<seed>__c<view>.npz``, the same bytes for the same arrays."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return write_whole(Path(folder) / (str(arrays["clip_id"]).replace("/", "__") + ".npz"), buffer.getvalue())


def split_table(motions: Iterable[SourceMotion], views: int, frames: int):
    """Table 2: prompts, motions, videos and frames per split, and the sum; motions without a split only in the sum."""
    import pandas as pd

    motions = list(motions)
    rows = {}
    for row, split in (("Train", "train"), ("Validation", "val"), ("Test", "test"), ("All", None)):
        chosen = [m for m in motions if split is None or split_of(m.seed) == split]
        videos = len(chosen) * views
        rows[row] = [len({m.text for m in chosen}), len(chosen), videos, videos * frames]
    return pd.DataFrame.from_dict(rows, orient="index", columns=["Prompts", "Motions", "Videos", "Frames"])

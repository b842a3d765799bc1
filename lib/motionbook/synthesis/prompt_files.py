"""Prompt motions on disk, in the keys, types and folders of the published source motions."""

import io
from pathlib import Path

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.files import write_whole
from motionbook.kinematics import forward_kinematics
from motionbook.skeletons import CSKEL27
from motionbook.synthesis.prompt_motions import perform
from motionbook.synthesis.prompts import Prompt

# The order of foot_contacts, told from three published motions: a flag is on where this joint rests
CONTACT_JOINTS = ("LeftFoot", "LeftToeBase", "RightFoot", "RightToeBase")
_REST_SPEED = 0.4  # m/s
_REST_HEIGHT = {"Foot": 0.12, "ToeBase": 0.05}  # metres over the floor


def write_motion(path: str | Path, clip: Clip, text: str) -> Path:
    """Write a CSKEL27 clip as a source motion (.npz): places, rotation matrices, root, contacts, heading, prompt."""
    if clip.skeleton.names != CSKEL27.names:
        raise ValueError(f"clip: expected the 27 joints of CSKEL27, got {len(clip.skeleton)}; retarget it first")
    pose = forward_kinematics(clip)
    turned = rot.to_matrix(pose.rotations)
    forward = turned[:, 0, :, 2]
    arrays = {
        "posed_joints": pose.positions.astype(np.float32),
        "local_rot_mats": rot.to_matrix(clip.rotations).astype(np.float32),
        "global_rot_mats": turned.astype(np.float32),
        "root_positions": clip.root_positions.astype(np.float32),
        "smooth_root_pos": clip.root_positions.astype(np.float32),  # the published ones are not smoothed either
        "foot_contacts": _contacts(pose.positions, clip.fps),
        "global_root_heading": forward[:, [2, 0]].astype(np.float32),
        "fps": np.int64(round(clip.fps)),
        "text": np.str_(text),
    }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return write_whole(path, buffer.getvalue())


def write_prompt_motions(folder: str | Path, prompts: tuple[Prompt, ...], seeds) -> list[Path]:
    """Perform prompts and write ``<group>/<slug>_s<seed>.npz``; return the paths."""
    return [
        write_motion(
            Path(folder) / prompt.group / f"{prompt.slug}_s{seed}.npz", perform(prompt.text, seed), prompt.text
        )
        for prompt in prompts
        for seed in seeds
    ]


def _contacts(positions, fps):
    flags = []
    for name in CONTACT_JOINTS:
        place = positions[:, CSKEL27.index(name)]
        speed = np.linalg.norm(np.gradient(place, 1 / fps, axis=0), axis=-1)
        height = _REST_HEIGHT[name.removeprefix("Left").removeprefix("Right")]
        flags.append((speed < _REST_SPEED) & (place[:, 1] < height))
    return np.stack(flags, axis=-1)

"""Edits are rigid motions that put a clip where they say."""

import numpy as np
import pytest

from motionbook import rotations as rot
from motionbook.cleaning.editing import (
    centre_first_frame,
    face_forward,
    heading,
    put_on_floor,
    shift,
    sole_heights,
    turn,
)
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics, local_rotations
from motionbook.skeletons import CSKEL27, FREEMOCAP, LAFAN1, t_pose


def standing(skeleton, frames=3):
    local = local_rotations(skeleton.parents, t_pose(skeleton))
    return Clip(skeleton, np.tile([0.4, 0.9, -0.3], (frames, 1)), np.tile(local, (frames, 1, 1)), 30.0)


@pytest.mark.parametrize("skeleton", [LAFAN1, FREEMOCAP, CSKEL27], ids=["lafan1", "freemocap", "cskel27"])
def test_heading_is_zero_at_plus_z_and_a_quarter_at_plus_x(skeleton):
    clip = standing(skeleton)
    np.testing.assert_allclose(heading(clip), 0.0, atol=1e-9)
    np.testing.assert_allclose(heading(turn(clip, 0.5 * np.pi)), 0.5 * np.pi, atol=1e-9)
    nose = forward_kinematics(turn(clip, 0.5 * np.pi)).rotations[:, 0]
    forward = rot.rotate(nose, rot.rotate(rot.inverse(t_pose(skeleton)[0]), [0.0, 0, 1]))
    np.testing.assert_allclose(forward, np.tile([1.0, 0, 0], (3, 1)), atol=1e-9)


def test_centred_and_forward_in_the_first_frame_only():
    clip = turn(standing(LAFAN1), 2.0)
    clip = Clip(LAFAN1, clip.root_positions + np.arange(3)[:, None] * [0.1, 0, 0.2], clip.rotations, 30.0)
    result = centre_first_frame(face_forward(clip))
    assert heading(result)[0] == pytest.approx(0, abs=1e-9)
    feet = forward_kinematics(result).positions[0, [LAFAN1.index("LeftFoot"), LAFAN1.index("RightFoot")]].mean(axis=0)
    np.testing.assert_allclose(feet[[0, 2]], 0, atol=1e-9)
    a, b = forward_kinematics(clip).positions, forward_kinematics(result).positions
    np.testing.assert_allclose(b[..., 1], a[..., 1], atol=1e-12)  # heights are kept
    np.testing.assert_allclose(np.linalg.norm(a[2] - a[0], axis=-1), np.linalg.norm(b[2] - b[0], axis=-1), atol=1e-12)


@pytest.mark.parametrize("skeleton", [LAFAN1, FREEMOCAP], ids=["lafan1", "freemocap"])
def test_lower_foot_comes_to_the_floor(skeleton):
    clip = standing(skeleton, 40)
    heights = np.where(np.arange(40) < 8, -0.05, 0.0)  # a fifth of the frames sunk by noise
    sunk = Clip(skeleton, clip.root_positions + heights[:, None] * [0, 1.0, 0], clip.rotations, 30.0)
    soles = sole_heights(put_on_floor(shift(sunk, [0, 3.0, 0])))
    np.testing.assert_allclose(soles[8:], 0.0, atol=1e-6)
    np.testing.assert_allclose(soles[:8], -0.05, atol=1e-6)

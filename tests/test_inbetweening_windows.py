"""Windows: their number, their place and heading, and what is refused at the door."""

import json
from dataclasses import replace

import numpy as np
import pytest

from motionbook import rotations as rot
from motionbook.bvh import read_bvh
from motionbook.clip import Clip, Skeleton
from motionbook.inbetweening.windows import CONTEXT, face_forward, make_windows, window_starts
from motionbook.skeletons import LAFAN1


def random_clip(frames: int, seed: int, skeleton: Skeleton = LAFAN1) -> Clip:
    """Smooth random motion of all joints with a heading that changes."""
    rng = np.random.default_rng(seed)
    steps = rot.from_rotation_vector(0.05 * rng.standard_normal((frames, len(skeleton), 3)).cumsum(axis=0))
    steps[:, 0] = rot.multiply(rot.random_rotations((1,), rng), steps[:, 0])
    return Clip(skeleton, 0.02 * rng.standard_normal((frames, 3)).cumsum(axis=0), steps, 30.0)


@pytest.mark.parametrize(
    ("frames", "length", "offset", "count", "strict_count"),
    [
        (3945, 65, 40, 98, 97),
        (185, 65, 40, 4, 3),
        (65, 65, 40, 1, 0),
        (64, 65, 40, 0, 0),
        (30, 65, 40, 0, 0),
        (71, 41, 1, 31, 30),
    ],
)
def test_convention_window_counts(frames, length, offset, count, strict_count):
    """3945 frames: counted with Qin et al.'s evaluator and with LaFAN1's. Short clips give none, never a ragged one."""
    starts = window_starts(frames, length, offset)
    assert len(starts) == count
    assert all(s % offset == 0 and s + length <= frames for s in starts)
    assert len(window_starts(frames, length, offset, strict=True)) == strict_count
    assert list(window_starts(150, 65, 40, start=35)) == [35, 75]


def test_windows_are_the_clip_turned_and_moved():
    """World places of a window differ from the clip's by one rigid motion about the vertical."""
    from motionbook.inbetweening.baselines import LocalPose
    from motionbook.inbetweening.evaluation import world
    from motionbook.kinematics import forward_kinematics

    clip = random_clip(140, 0)
    windows = make_windows([random_clip(30, 1), clip], 65, 40)
    assert list(windows.clips) == [1, 1] and list(windows.starts) == [0, 40]
    places = world(windows, LocalPose(windows.root_positions, windows.rotations)).positions
    for start, ours in zip(windows.starts, places, strict=True):
        theirs = 100.0 * forward_kinematics(clip[start : start + 65]).positions
        assert np.allclose(ours[..., 1], theirs[..., 1], atol=1e-9)
        ours, theirs = ours[..., [0, 2]].reshape(-1, 2), theirs[..., [0, 2]].reshape(-1, 2)
        a, b = (p[1:] - p[0] for p in (ours, theirs))
        turn = np.linalg.lstsq(b, a, rcond=None)[0]
        assert np.linalg.det(turn) == pytest.approx(1.0)
        assert np.allclose(turn @ turn.T, np.eye(2), atol=1e-9) and np.allclose(b @ turn, a, atol=1e-9)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_convention_heading_and_origin(count):
    """Frame 9 heads along +X for every number of windows; three is where a cross product once took the wrong axis."""
    clips = [random_clip(65, seed) for seed in range(count)]
    for centre in ("mean", "start"):
        windows = make_windows(clips, centre=centre)
        forward = rot.rotate(windows.rotations[:, CONTEXT - 1, 0], [0.0, 1.0, 0.0])
        assert np.allclose(forward[:, 2], 0.0, atol=1e-12) and (forward[:, 0] > 0).all()
        root = windows.root_positions
        middle = root.mean(axis=1) if centre == "mean" else root[:, CONTEXT - 1]
        assert np.allclose(middle[:, [0, 2]], 0.0, atol=1e-9)
        assert np.allclose(root[:, :, 1], [100 * c.root_positions[:, 1] for c in clips])


def test_centring_agrees_with_reference(shared_data):
    """Root places of Qin et al.'s centring, frames 0, 9 and 40 of four windows, both centrings."""
    folder = shared_data / "inbetweening"
    clip = read_bvh(folder / "synthetic_clip.bvh", metres_per_unit=0.01, up="file")
    expected = json.loads((folder / "units.json").read_text())["centring_synth"]
    for centre in ("start", "mean"):
        root = make_windows([clip], 65, 40, centre=centre).root_positions[:, [0, 9, 40]]
        assert np.abs(root - expected[f"{centre}_root_pos_frame_0_9_40"]).max() < 1e-6


def test_face_forward_leaves_its_arguments_alone():
    """The caller's arrays are not written to."""
    clip = random_clip(20, 5)
    root, turns = clip.root_positions[None].copy(), clip.rotations[None, :, 0].copy()
    face_forward(root, turns)
    assert (root[0] == clip.root_positions).all() and (turns[0] == clip.rotations[:, 0]).all()
    with pytest.raises(ValueError, match="mean"):
        face_forward(root, turns, centre="middle")


def test_wrong_clips_are_refused():
    """Another skeleton, mirrored axes, moving bones and another rate each raise with a way out."""
    clip = random_clip(70, 2)
    other = Skeleton(tuple(n.lower() for n in LAFAN1.names), LAFAN1.parents, LAFAN1.offsets)
    with pytest.raises(ValueError, match=r"clip 1: .*retarget"):
        make_windows([clip, replace(clip, skeleton=other)])
    mirrored = Skeleton(LAFAN1.names, LAFAN1.parents, LAFAN1.offsets * [1, -1, -1])
    with pytest.raises(ValueError, match="backward"):
        make_windows([replace(clip, skeleton=mirrored)])
    with pytest.raises(ValueError, match="constant_bones"):
        make_windows([replace(clip, translations=np.broadcast_to(LAFAN1.offsets, (70, 22, 3)))])
    with pytest.raises(ValueError, match="30 frames per second, got 24"):
        make_windows([replace(clip, fps=24.0)])
    assert len(make_windows([replace(clip, fps=1 / 0.033333)])) == 1
    with pytest.raises(ValueError, match="context"):
        make_windows([clip], 9, 1)
    assert len(make_windows([])) == 0

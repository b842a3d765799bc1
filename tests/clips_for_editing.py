"""Motions that the tests of editing share: random ones on the book's skeletons, and pieces of the real files."""

import warnings
from pathlib import Path

import numpy as np

from motionbook import read_bvh
from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.kinematics import local_rotations
from motionbook.skeletons import t_pose

# LaFAN1's own files, FreeMoCap's rig with places per frame, CMU, Mixamo with fingers, Xsens, a Z-up file in inches
REAL = (
    "bvh/lafan1/dance1_subject2.bvh",
    "bvh/lafan1/walk1_subject1.bvh",
    "bvh/real/05_freemocap_blender_rig.bvh",
    "bvh/real/10_cmu_cgspeed_01_01.bvh",
    "bvh/real/12_mixamo_colon_names.bvh",
    "bvh/real/20_xsens_mvn_tpose.bvh",
    "bvh/real/31_no_end_sites_inches_zup.bvh",
    "reactidle/acted/004_acted.bvh",
    "reactidle/genuine/007_genuine.bvh",
)


def moving(skeleton, frames=60, seed=0, fps=30.0, translations=False) -> Clip:
    """A person who sways, turns and bends every joint smoothly, somewhere in the room and facing somewhere."""
    rng = np.random.default_rng(seed)
    seconds = np.arange(frames)[:, None] / fps
    joints = len(skeleton)
    pace, phase = rng.uniform(0.3, 1.2, (2, joints * 3))
    bend = 0.35 * np.sin(2 * np.pi * (pace * seconds + phase)).reshape(frames, joints, 3)
    local = rot.multiply(local_rotations(skeleton.parents, t_pose(skeleton)), rot.from_rotation_vector(bend))
    heading = rot.from_axis_angle(np.array([0.0, 1.0, 0.0]), rng.uniform(-np.pi, np.pi) + 0.8 * seconds[:, 0])
    local[:, 0] = rot.multiply(heading, local[:, 0])
    root = rng.normal(size=3) + [0, 1.0, 0] + seconds * [0.4, 0.0, -0.3]
    places = None
    if translations:
        places = skeleton.offsets + 0.01 * np.sin(2 * np.pi * (0.5 * seconds + phase)).reshape(frames, joints, 3)
    return Clip(skeleton, root, local, fps, places)


def real(folder: Path, name: str, frames: int = 150) -> Clip:
    """The first frames of a file; what the reader says about it is tested elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_bvh(folder / name)[:frames]


def assert_same(a: Clip, b: Clip, tolerance: float = 1e-9) -> None:
    """Equal skeleton, root path, rotations (q and -q alike), translations and rate."""
    assert a.skeleton.names == b.skeleton.names and a.skeleton.parents == b.skeleton.parents
    assert [j for j, _ in a.skeleton.end_offsets] == [j for j, _ in b.skeleton.end_offsets]
    pairs = [(a.skeleton.offsets, b.skeleton.offsets), (a.root_positions, b.root_positions)]
    pairs += [(x[1], y[1]) for x, y in zip(a.skeleton.end_offsets, b.skeleton.end_offsets, strict=True)]
    assert (a.translations is None) == (b.translations is None)
    if a.translations is not None:
        pairs.append((a.translations, b.translations))
    for x, y in pairs:
        np.testing.assert_allclose(x, y, rtol=0, atol=tolerance)
    assert rot.angle_between(a.rotations, b.rotations).max() < tolerance
    assert a.fps == b.fps

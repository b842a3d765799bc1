"""A clip as a NumPy archive, which ``numpy.load`` opens anywhere without this package and without pickle.

Keys, all lengths in metres, Y up, quaternions wxyz:

=================  ==================  ==================================================================
key                shape, type         meaning
=================  ==================  ==================================================================
format             () text             "motionbook clip 1"
names              (joints,) text      joint names, the root first
parents            (joints,) int       index of each joint's parent, -1 for the root
offsets            (joints, 3)         rest place of each joint in its parent's frame
end_joints         (ends,) int         joint each end site hangs on
end_offsets        (ends, 3)           its place in that joint's frame
fps                () float            frames per second
root_positions     (frames, 3)         world place of the root
rotations          (frames, joints, 4) parent-relative rotations, the root's in the world
translations       (frames, joints, 3) only where a source stores them: places that stand for the offsets
positions          (frames, joints, 3) only with ``world=True``: world places
world_rotations    (frames, joints, 4) only with ``world=True``
=================  ==================  ==================================================================
"""

from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from motionbook.clip import Clip, Skeleton
from motionbook.files import write_whole
from motionbook.kinematics import forward_kinematics

FORMAT = "motionbook clip 1"
_NEEDED = (
    "names",
    "parents",
    "offsets",
    "end_joints",
    "end_offsets",
    "fps",
    "root_positions",
    "rotations",
)


def write_npz(clip: Clip, path, *, world: bool = False) -> Path:
    """Write a clip with the keys of this module; equal clips give equal bytes.

    Parameters
    ----------
    clip : Clip
    path : path
        Ending in .npz.
    world : bool
        Also world places and rotations, for readers that have no kinematics.
    """
    if Path(path).suffix.lower() != ".npz":
        raise ValueError(f"path: expected a name ending in .npz, got {Path(path).name}")
    skeleton = clip.skeleton
    arrays = {
        "format": np.array(FORMAT),
        "names": np.array(skeleton.names),
        "parents": np.array(skeleton.parents, dtype=np.int64),
        "offsets": skeleton.offsets,
        "end_joints": np.array([joint for joint, _ in skeleton.end_offsets], dtype=np.int64),
        "end_offsets": np.array([offset for _, offset in skeleton.end_offsets], dtype=np.float64).reshape(-1, 3),
        "fps": np.array(clip.fps),
        "root_positions": clip.root_positions,
        "rotations": clip.rotations,
    }
    if clip.translations is not None:
        arrays["translations"] = clip.translations
    if world:
        arrays["positions"], arrays["world_rotations"] = map(np.ascontiguousarray, forward_kinematics(clip))
    return write_whole(path, lambda temporary: np.savez(temporary, **arrays))


def read_npz(path) -> Clip:
    """The clip that ``write_npz`` wrote, equal in every bit.

    Raises
    ------
    ValueError
        When the file is no archive of this kind or lacks a key.
    """
    path = Path(path)
    try:
        # opened here, because numpy leaves a file that is no archive open
        with open(path, "rb") as file:
            archive = np.load(file, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                raise ValueError("it holds one array")
            found = {key: archive[key] for key in archive.files}
    except (ValueError, EOFError, BadZipFile) as error:
        raise ValueError(f"{path.name}: not a NumPy archive: {error}") from None
    kind = str(found.get("format", "no format"))
    if kind != FORMAT:
        raise ValueError(f"{path.name}: expected an archive whose format is {FORMAT!r}, got {kind!r}")
    if missing := [key for key in _NEEDED if key not in found]:
        raise ValueError(f"{path.name}: the archive lacks {', '.join(missing)}")
    ends = zip(found["end_joints"].tolist(), map(tuple, found["end_offsets"].tolist()), strict=True)
    skeleton = Skeleton(tuple(found["names"].tolist()), tuple(found["parents"].tolist()), found["offsets"], tuple(ends))
    return Clip(skeleton, found["root_positions"], found["rotations"], float(found["fps"]), found.get("translations"))

"""Windows of motion for in-betweening: cut from clips, centred, turned to face +X, in centimetres.

This module is the door of the package. Clips come in metres, Y up, facing anywhere; inside the package the formulas of
the published evaluators (Harvey et al. 2020; Qin et al. 2022) run on centimetres with the last context frame heading
along +X. A window holds the context (its first ``CONTEXT`` frames), the transition to be filled and the target after
it: for a transition of T frames the frames 10 .. 9 + T are predicted and frame 10 + T is the target.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip, Skeleton
from motionbook.skeletons import LAFAN1

CONTEXT = 10
LENGTHS = (5, 15, 30, 45)
# (length, offset) in frames: of the windows that are scored, and of those that give the scale of L2P
BENCHMARK = (65, 40)
STATISTICS = (50, 20)
FPS = 30.0
CENTIMETRES = 100.0
_FORWARD = np.array([0.0, 1.0, 0.0])  # of a LaFAN1 root, in its own frame


@dataclass(frozen=True, eq=False)
class Windows:
    """Equally long pieces of motion.

    Attributes
    ----------
    skeleton : Skeleton
        Names and parents of all windows; bone lengths differ between people, see ``offsets``.
    root_positions : (windows, frames, 3) array
        Centimetres.
    rotations : (windows, frames, joints, 4) array
        Parent-relative, wxyz.
    offsets : (windows, joints, 3) array
        Bones of each window's own person, centimetres.
    clips : (windows,) array of int
        Which of the clips a window was cut from.
    starts : (windows,) array of int
        First frame of the window in its clip.
    """

    skeleton: Skeleton
    root_positions: np.ndarray
    rotations: np.ndarray
    offsets: np.ndarray
    clips: np.ndarray
    starts: np.ndarray

    def __len__(self):
        return len(self.rotations)

    def __getitem__(self, which) -> "Windows":
        """The windows of a slice, an index array or a mask."""
        parts = ("root_positions", "rotations", "offsets", "clips", "starts")
        return replace(self, **{name: getattr(self, name)[which] for name in parts})


def window_starts(frames: int, length: int, offset: int, start: int = 0, strict: bool = False) -> np.ndarray:
    """First frames of the windows of a clip; empty when the clip is shorter than a window.

    Parameters
    ----------
    frames, length, offset : int
        Frames of the clip, of a window, and between two window starts.
    start : int
        First frame of the first window.
    strict : bool
        LaFAN1's own evaluator asks for one frame beyond the window (start + length < frames) and so finds one window
        fewer when the last one would end with the clip; its 2232 test windows are counted that way. Qin et al.,
        and StayStill after them, take that window (False).
    """
    if length < 1 or offset < 1 or start < 0:
        raise ValueError(f"windows: expected length >= 1, offset >= 1, start >= 0, got {length}, {offset}, {start}")
    return np.arange(start, frames - length + (0 if strict else 1), offset)


def make_windows(
    clips: Sequence[Clip],
    length: int = BENCHMARK[0],
    offset: int = BENCHMARK[1],
    *,
    start: int = 0,
    strict: bool = False,
    centre: str = "mean",
    fps: float = FPS,
) -> Windows:
    """Cut clips into windows in the package's convention: centimetres, frame 9 heading along +X.

    Parameters
    ----------
    clips : sequence of Clip
        On the LaFAN1 skeleton (bone lengths may differ), metres, at ``fps``. A clip shorter than a window gives none.
    length, offset, start, strict
        See ``window_starts``; 65/40 is the benchmark, 50/20 the statistics of L2P.
    centre : "mean" or "start"
        What becomes the origin of x and z: the window's mean root place (metrics), or the root at frame 9 (models).
    fps : float
        The rate the transition lengths are meant at; a clip more than 1 % off is refused, not resampled.

    Returns
    -------
    Windows
        In the order of the clips, then of their starts.

    Notes
    -----
    Height is left as it is. The heading is that of the root's +Y axis at frame 9, its vertical part dropped.
    """
    clips = list(clips)
    for index, clip in enumerate(clips):
        _check_clip(clip, index, fps)
    if length < CONTEXT:
        raise ValueError(f"length: a window holds at least the {CONTEXT} context frames, got {length}")
    starts = [window_starts(len(clip), length, offset, start, strict) for clip in clips]
    owner = np.repeat(np.arange(len(clips)), [len(s) for s in starts])
    joints = len(LAFAN1)
    root, rotations = np.empty((len(owner), length, 3)), np.empty((len(owner), length, joints, 4))
    offsets = np.empty((len(owner), joints, 3))
    filled = 0
    for clip, firsts in zip(clips, starts, strict=True):
        frames = firsts[:, None] + np.arange(length)
        here = slice(filled, filled + len(firsts))
        root[here], rotations[here] = clip.root_positions[frames], clip.rotations[frames]
        offsets[here] = clip.skeleton.offsets
        filled += len(firsts)
    root, turned = face_forward(root * CENTIMETRES, rotations[:, :, 0], centre=centre)
    rotations[:, :, 0] = turned
    skeleton = clips[0].skeleton if clips else LAFAN1
    firsts = np.concatenate([np.zeros(0, int), *starts])
    return Windows(skeleton, root, rotations, offsets * CENTIMETRES, owner, firsts)


def face_forward(root_positions, root_rotations, frame: int = CONTEXT - 1, centre: str = "mean"):
    """Move windows to the origin and turn them about the vertical so that one frame heads along +X.

    Parameters
    ----------
    root_positions : (windows, frames, 3)
    root_rotations : (windows, frames, 4)
    frame : int
        The frame whose heading counts; with ``centre="start"`` also the one that becomes the origin.
    centre : "mean" or "start"

    Returns
    -------
    (windows, frames, 3), (windows, frames, 4)
        New root places and rotations; every other joint keeps its parent-relative rotation.
    """
    if centre not in ("mean", "start"):
        raise ValueError(f'centre: expected "mean" or "start", got {centre!r}')
    root, rotations = np.array(root_positions, dtype=np.float64), np.asarray(root_rotations, dtype=np.float64)
    origin = root.mean(axis=1, keepdims=True) if centre == "mean" else root[:, frame : frame + 1].copy()
    root[..., [0, 2]] -= origin[..., [0, 2]]
    turn = heading_turn(rotations[:, frame])[:, None]
    return rot.rotate(turn, root), rot.multiply(turn, rotations)


def heading_turn(root_rotations) -> np.ndarray:
    """The turn about +Y (..., 4) that makes roots with these rotations (..., 4) head along +X."""
    heading = rot.rotate(root_rotations, _FORWARD)
    # turning by this angle takes (x, z) to (|heading|, 0)
    return rot.from_axis_angle([0.0, 1.0, 0.0], np.arctan2(heading[..., 2], heading[..., 0]))


def _check_clip(clip: Clip, index: int, fps: float) -> None:
    """Refuse what would give wrong numbers without a word: another skeleton, moving bones, another rate."""
    if clip.skeleton.names != LAFAN1.names:
        raise ValueError(
            f"clip {index}: in-betweening works on LaFAN1's {len(LAFAN1)} joints, got {len(clip.skeleton)} joints "
            f"({', '.join(clip.skeleton.names[:4])} ...); call motionbook.cleaning.retarget(clip, skeletons.LAFAN1)"
        )
    if clip.skeleton.offsets[clip.skeleton.index("LeftUpLeg"), 2] < 0:
        raise ValueError(
            f"clip {index}: its local axes are turned by 180 degrees about x (StayStill's export), so its root's +Y "
            "points backward; read it through motionbook.data.layouts.open_dataset, which turns them"
        )
    if clip.translations is not None:
        raise ValueError(
            f"clip {index}: bones that change length would be copied from the truth into every prediction; "
            "call motionbook.kinematics.constant_bones(clip) first"
        )
    if abs(clip.fps / fps - 1.0) > 0.01:
        raise ValueError(f"clip {index}: expected {fps:g} frames per second, got {clip.fps:g}; resample it first")

"""The two value types of motion: a Skeleton and a Clip. Frozen, checked once when made, no behaviour beyond slicing."""

from dataclasses import dataclass, replace

import numpy as np

from motionbook.checks import check_finite, check_shape, check_unit


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A tree of joints.

    Attributes
    ----------
    names : tuple of str
        One per joint, unique.
    parents : tuple of int
        Index of the parent, -1 for the root, which comes first; parents always precede their children.
    offsets : (joints, 3) array
        Rest place of each joint in its parent's frame, metres. The root's is kept but not used by kinematics.
    end_offsets : tuple of (joint index, (x, y, z))
        End sites in the order a file lists them; a joint may have none, one or several.
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    offsets: np.ndarray
    end_offsets: tuple[tuple[int, tuple[float, float, float]], ...] = ()

    def __post_init__(self):
        names, parents = tuple(self.names), tuple(int(p) for p in self.parents)
        offsets = check_shape(self.offsets, f"{len(names)} 3", "offsets").copy()
        check_finite(offsets, "offsets")
        if len(parents) != len(names):
            raise ValueError(f"parents: expected one per joint ({len(names)}), got {len(parents)}")
        if not names or parents[0] != -1 or any(not 0 <= p < j for j, p in enumerate(parents[1:], start=1)):
            raise ValueError(f"parents: expected -1 first and every parent before its child, got {parents}")
        if len(set(names)) != len(names):
            twice = sorted({n for n in names if names.count(n) > 1})
            raise ValueError(f"names: expected unique joint names, got {', '.join(twice)} more than once")
        if unnamed := [name for name in names if not isinstance(name, str)]:
            raise ValueError(f"names: expected text, got {unnamed[0]!r}")
        offsets.flags.writeable = False
        ends = tuple((int(j), tuple(float(x) for x in offset)) for j, offset in self.end_offsets)
        for joint, offset in ends:
            if not 0 <= joint < len(names):
                raise ValueError(f"end_offsets: expected joints 0 to {len(names) - 1}, got {joint}")
            check_finite(check_shape(offset, "3", "end_offsets"), "end_offsets")
        for field, value in (("names", names), ("parents", parents), ("offsets", offsets), ("end_offsets", ends)):
            object.__setattr__(self, field, value)

    def __len__(self):
        return len(self.names)

    def __repr__(self):
        return f"Skeleton({len(self)} joints, root {self.names[0]!r})"

    def index(self, name: str) -> int:
        """Index of a joint; KeyError lists the names there are."""
        try:
            return self.names.index(name)
        except ValueError:
            raise KeyError(f"no joint {name!r}; this skeleton has {', '.join(self.names)}") from None


@dataclass(frozen=True, eq=False)
class Clip:
    """A motion, complete: skeleton, root path, parent-relative rotations and frame rate.

    Attributes
    ----------
    skeleton : Skeleton
    root_positions : (frames, 3) array
        World place of the root, metres, Y up.
    rotations : (frames, joints, 4) array
        Unit quaternions wxyz, each in its parent's frame; the root's in the world.
    fps : float
    translations : (frames, joints, 3) array or None
        Parent-relative joint places per frame, metres, for sources that store them (FreeMoCap's rig); the root's row
        is not used. None means that the skeleton's offsets hold in every frame.
    """

    skeleton: Skeleton
    root_positions: np.ndarray
    rotations: np.ndarray
    fps: float
    translations: np.ndarray | None = None

    def __post_init__(self):
        joints = len(self.skeleton)
        rotations = check_shape(self.rotations, f"frames {joints} 4", "rotations")
        root = check_shape(self.root_positions, f"{len(rotations)} 3", "root_positions")
        check_finite(rotations, "rotations")
        check_finite(root, "root_positions")
        check_unit(rotations, "rotations")
        fps = float(self.fps)
        if not (np.isfinite(fps) and fps > 0):
            raise ValueError(f"fps: expected a positive number of frames per second, got {self.fps}")
        values = {"rotations": rotations, "root_positions": root, "fps": fps}
        if self.translations is not None:
            values["translations"] = check_shape(self.translations, f"{len(rotations)} {joints} 3", "translations")
            check_finite(values["translations"], "translations")
        for field, value in values.items():
            object.__setattr__(self, field, value)

    def __len__(self):
        return len(self.rotations)

    def __repr__(self):
        own = ", bones of their own in every frame" if self.translations is not None else ""
        return f"Clip({len(self)} frames, {len(self.skeleton)} joints, {self.fps:g} fps, {self.duration:.2f} s{own})"

    def __getitem__(self, frames: slice) -> "Clip":
        if not isinstance(frames, slice):
            raise TypeError(f"a clip is cut with a slice such as clip[10:20], got {frames!r}")
        step = 1 if frames.step is None else frames.step
        if step < 1:
            raise ValueError(f"a clip runs forward: expected a step of 1 or more, got {step}")
        moved = None if self.translations is None else self.translations[frames]
        return replace(
            self,
            root_positions=self.root_positions[frames],
            rotations=self.rotations[frames],
            fps=self.fps / step,
            translations=moved,
        )

    @property
    def duration(self) -> float:
        """Seconds, frames / fps."""
        return len(self) / self.fps

"""World places and rotations of a clip as CSV, for spreadsheets, R and pandas.

Wide: a row per frame, columns ``frame,time_s`` and for every joint ``<joint>_x_m,_y_m,_z_m,_qw,_qx,_qy,_qz``. Long: a
row per frame and joint, columns ``frame,time_s,joint,x_m,y_m,z_m,qw,qx,qy,qz``. Places are metres in the world, Y up;
rotations are world quaternions without unit, scalar first; seconds count from the first frame.
"""

import csv
import io
from pathlib import Path

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.files import write_whole
from motionbook.kinematics import forward_kinematics

LAYOUTS = ("wide", "long")
_VALUES = ("x_m", "y_m", "z_m", "qw", "qx", "qy", "qz")
_NUMBERS = "%.6f,%.6f,%.6f,%.9f,%.9f,%.9f,%.9f"  # micrometres, and turns of as little


def write_csv(clip: Clip, path, *, layout: str = "wide") -> Path:
    """Write world places and rotations of every joint; equal clips give equal bytes.

    Parameters
    ----------
    clip : Clip
    path : path
    layout : "wide" or "long"
        A row per frame, or per frame and joint.
    """
    if layout not in LAYOUTS:
        raise ValueError(f"layout: expected wide or long, got {layout!r}")
    pose = forward_kinematics(clip)
    turned = rot.unroll(pose.rotations) if len(clip) else pose.rotations
    # adding zero takes the sign off a negative zero
    numbers = np.concatenate([np.round(pose.positions, 6), np.round(turned, 9)], axis=-1) + 0.0
    times = [f"{frame / clip.fps:.6f}" for frame in range(len(clip))]
    names = clip.skeleton.names
    if layout == "wide":
        columns = ["frame", "time_s", *(f"{name}_{value}" for name in names for value in _VALUES)]
        row = ",".join([_NUMBERS] * len(names)) + "\n"
        rows = (
            f"{frame},{times[frame]}," + row % tuple(values.ravel().tolist()) for frame, values in enumerate(numbers)
        )
    else:
        columns = ["frame", "time_s", "joint", *_VALUES]
        block = "".join(f"%s,{_cell(name).replace('%', '%%')},{_NUMBERS}\n" for name in names)
        rows = (
            block % tuple(cell for line in values.tolist() for cell in (f"{frame},{times[frame]}", *line))
            for frame, values in enumerate(numbers)
        )

    def write(temporary: Path) -> None:
        with open(temporary, "w", encoding="utf-8", newline="\n") as file:
            file.write(",".join(map(_cell, columns)) + "\n")
            file.writelines(rows)

    return write_whole(path, write)


def _cell(text: str) -> str:
    """The text as one cell, quoted where it must be."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow([text])
    return out.getvalue()

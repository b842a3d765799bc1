"""One row per file: which rig it was taken for, how well it retargets, and what stays at rest."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from motionbook.bvh import read_bvh
from motionbook.cleaning.retarget_report import retarget_report
from motionbook.cleaning.retargeting import retarget
from motionbook.clip import Skeleton
from motionbook.skeletons import LAFAN1

FEW_FRAMES = 5
COLUMNS = (
    "file",
    "rig",
    "standing_pose",
    "frames",
    "bones",
    "worst_bone",
    "worst_deg",
    "at_rest",
    "scale",
    "slide_before",
    "slide_after",
    "sole_before_m",
    "sole_after_m",
    "note",
)


def retarget_survey(paths: Iterable, skeleton: Skeleton = LAFAN1, read: Mapping | None = None, **options):
    """Retarget files and tell how it went.

    Parameters
    ----------
    paths : iterable of path
        BVH files.
    skeleton : Skeleton
        The target.
    read : mapping, optional
        Options of ``read_bvh``.
    **options
        Of `motionbook.cleaning.retarget`.

    Returns
    -------
    DataFrame
        `COLUMNS`. The worst bone is the one whose median angle is largest. A file that cannot be read or retargeted
        has the reason in ``note``, as has one of fewer than `FEW_FRAMES` frames, whose medians say little.
    """
    import pandas as pd

    shared = {key: value for key, value in options.items() if key in ("keep_size", "rest", "names", "scale")}
    rows = []
    for path in map(Path, paths):
        row = dict.fromkeys(COLUMNS, np.nan) | {"file": path.name, "note": "", "at_rest": ""}
        rows.append(row)
        try:
            clip = read_bvh(path, **(read or {}))
            row["frames"] = len(clip)
            result = retarget(clip, skeleton, **options)
        except ValueError as error:
            row["note"] = str(error)
            continue
        report = retarget_report(clip, result, **shared)
        bones = report.bones[report.bones.kind == "bone"]
        worst = bones.loc[bones.median_deg.idxmax()]
        row |= {
            "rig": report.rig,
            "standing_pose": report.rest.split(" of ")[0],
            "bones": len(bones),
            "worst_bone": worst.bone,
            "worst_deg": worst.median_deg,
            "at_rest": ", ".join(report.at_rest),
            "scale": report.scale,
            "slide_before": report.slide[0],
            "slide_after": report.slide[1],
            "sole_before_m": report.soles[0],
            "sole_after_m": report.soles[1],
            "note": f"only {len(clip)} frames" if len(clip) < FEW_FRAMES else "",
        }
    return pd.DataFrame(rows, columns=list(COLUMNS))

"""Cleaning: from raw takes to a data set (chapter 2)."""

from motionbook.cleaning.cut_points import suggest_cuts
from motionbook.cleaning.dataset import build_dataset
from motionbook.cleaning.faults import cut_faults, find_faults
from motionbook.cleaning.joining import concatenate
from motionbook.cleaning.mirroring import mirror
from motionbook.cleaning.retargeting import retarget
from motionbook.cleaning.segmentation import read_labels, segment
from motionbook.cleaning.takes_folder import write_takes

__all__ = [
    "build_dataset",
    "concatenate",
    "cut_faults",
    "find_faults",
    "mirror",
    "read_labels",
    "retarget",
    "segment",
    "suggest_cuts",
    "write_takes",
]

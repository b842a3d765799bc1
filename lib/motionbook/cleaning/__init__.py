"""Cleaning: from raw takes to a data set (chapter 2)."""

from motionbook.cleaning.dataset import build_dataset
from motionbook.cleaning.faults import cut_faults, find_faults
from motionbook.cleaning.retargeting import retarget

__all__ = ["build_dataset", "cut_faults", "find_faults", "retarget"]

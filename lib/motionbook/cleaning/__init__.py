"""Cleaning: from raw takes to a data set (chapter 2)."""

from motionbook.cleaning.retargeting import retarget

__all__ = ["retarget"]

"""Motionbook: lifelike human motion, captured, cleaned, generated and judged.

The names here are the ones the chapters and other programs rely on; everything heavier than numpy is imported inside
the functions that need it.
"""

from motionbook.bvh import BvhError, read_bvh, read_bvh_report, write_bvh
from motionbook.clip import Clip, Skeleton
from motionbook.kinematics import forward_kinematics

__version__ = "0.1.0"

__all__ = ["BvhError", "Clip", "Skeleton", "forward_kinematics", "read_bvh", "read_bvh_report", "write_bvh"]

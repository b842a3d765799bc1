"""BVH files: read into a Clip in metres, Y up, and written in LaFAN1's form or in that of another file."""

from motionbook.bvh.header import BvhError
from motionbook.bvh.read import BvhReport, read_bvh, read_bvh_report
from motionbook.bvh.write import write_bvh

__all__ = ["BvhError", "BvhReport", "read_bvh", "read_bvh_report", "write_bvh"]

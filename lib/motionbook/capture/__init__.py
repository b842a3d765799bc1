"""Capture: from cameras to a skeleton (chapter 1)."""

from motionbook.capture.assembly import assemble, bone_lengths, fill_gaps, low_pass
from motionbook.capture.calibration import Calibration, calibrate
from motionbook.capture.camera_files import read_cameras, write_cameras
from motionbook.capture.cameras import Camera, camera_centre, look_at, project, semicircle
from motionbook.capture.landmarks import LANDMARKS, Landmarks, Observations, observe, true_landmarks
from motionbook.capture.swaps import side_pairs
from motionbook.capture.triangulation import Observed, Reason, Triangulation, triangulate

__all__ = [
    "LANDMARKS",
    "Calibration",
    "Camera",
    "Landmarks",
    "Observations",
    "Observed",
    "Reason",
    "Triangulation",
    "assemble",
    "bone_lengths",
    "calibrate",
    "camera_centre",
    "fill_gaps",
    "look_at",
    "low_pass",
    "observe",
    "project",
    "read_cameras",
    "semicircle",
    "side_pairs",
    "triangulate",
    "true_landmarks",
    "write_cameras",
]

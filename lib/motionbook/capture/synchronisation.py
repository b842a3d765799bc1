"""Synchronisation of cameras: every way to find offsets and rates, and `apply`, which moves the observations.

By hand and by timestamps (`motionbook.capture.clocks`), by a clap or a flash (`.cues`), by motion (`.motion_lags`) and,
once the cameras are calibrated, by the reprojection error (`.reprojection_lags`); all give a `Synchronisation`.
"""

from motionbook.capture.alignment import Aligned, apply, sample
from motionbook.capture.clocks import Synchronisation, by_hand, by_timestamps, exact_rate, frame_times, summary
from motionbook.capture.cues import by_clap, by_flash, find_flashes
from motionbook.capture.footage import equalise, extract_sound, list_frames, read_wav, scan_video
from motionbook.capture.lags import Drift, fit_drift
from motionbook.capture.motion_lags import by_motion, motion_drift, motion_energy
from motionbook.capture.reprojection_lags import by_reprojection, reprojection_drift, shift_errors

__all__ = [
    "Aligned",
    "Drift",
    "Synchronisation",
    "apply",
    "by_clap",
    "by_flash",
    "by_hand",
    "by_motion",
    "by_reprojection",
    "by_timestamps",
    "equalise",
    "exact_rate",
    "extract_sound",
    "find_flashes",
    "fit_drift",
    "frame_times",
    "list_frames",
    "motion_drift",
    "motion_energy",
    "read_wav",
    "reprojection_drift",
    "sample",
    "scan_video",
    "shift_errors",
    "summary",
]

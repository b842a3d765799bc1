"""Clips for other programs: npz for Python, CSV for tables, glTF for viewers and game engines."""

from motionbook.export.csv import write_csv
from motionbook.export.gltf import Skin, skin_body, write_gltf
from motionbook.export.npz import read_npz, write_npz

__all__ = ["Skin", "read_npz", "skin_body", "write_csv", "write_gltf", "write_npz"]

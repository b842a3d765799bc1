"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real inputs and reference values; tests that use it are skipped where it is absent."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("MOTIONBOOK_TEST_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"real test data is not at {folder}; set MOTIONBOOK_TEST_DATA to a copy of it")
    return folder

"""Puts ``data_manifests/`` into the wheel as ``motionbook/_manifests``; everything else is in pyproject.toml."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent


class BuildWithManifests(build_py):
    """The usual build plus a copy of the manifests, so that an installed library finds them without its checkout."""

    def run(self) -> None:
        """Build, then copy; an editable installation reads the checkout."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib) / "motionbook" / "_manifests"
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(ROOT / "data_manifests", target)


setup(cmdclass={"build_py": BuildWithManifests})

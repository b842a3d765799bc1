"""environment.yml, pyproject.toml, constraints.txt and the Makefile say the same about what is installed."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def conda() -> list:
    return yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]


def constraints() -> dict[str, Version]:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line and line[0] != "#"]
    return {name: Version(version) for name, version in (line.split("==") for line in lines)}


def test_conda_python_is_one_the_project_supports(project, conda):
    supported = SpecifierSet(project["requires-python"])
    python = next(line for line in conda if isinstance(line, str) and line.startswith("python="))
    assert f"{python.removeprefix('python=')}.0" in supported
    assert all(f"3.{minor}.0" in supported for minor in (11, 12, 13)) and "3.14.0" not in supported


def test_every_requirement_is_pinned_within_its_range(project):
    pins = constraints()
    extras = project["optional-dependencies"]
    for text in [*project["dependencies"], *(line for lines in extras.values() for line in lines)]:
        requirement = Requirement(text)
        assert canonicalize_name(requirement.name) in pins, f"{requirement.name} is not in constraints.txt"
        assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)], prereleases=True), text


def test_conda_pip_part_installs_the_package_with_all_extras(project, conda):
    pip = next(line for line in conda if isinstance(line, dict))["pip"]
    extras = set(re.search(r"\[(.*)\]", pip[-1]).group(1).split(","))
    # mediapipe itself comes without its own requirements, by a second command that no requirements file can hold
    assert extras == set(project["optional-dependencies"]) - {"mediapipe"}
    makefile = (ROOT / "Makefile").read_text()
    assert set(re.search(r"^EXTRAS := (.*)$", makefile, re.MULTILINE).group(1).split(",")) == extras
    assert pip[0].split() == ["--constraint", "constraints.txt"]


def test_conda_pip_part_installs(conda, tmp_path):
    pip = next(line for line in conda if isinstance(line, dict))["pip"]
    requirements = ROOT / ".environment-pip.txt"  # pip reads the paths in it relative to itself, as conda does
    requirements.write_text("\n".join(pip) + "\n")
    try:
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "-r", str(requirements)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    finally:
        requirements.unlink()
    if "Could not find a version" in done.stderr and "setuptools" in done.stderr:
        pytest.skip("no package index can be reached from here")
    assert done.returncode == 0, done.stderr

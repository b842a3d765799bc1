"""jsPsych for the page: fetched once by npm at the pinned version and checksum, then kept."""

import json
import os
from pathlib import Path

from motionbook import nodejs
from motionbook.files import sha256, write_whole

ASSETS = Path(__file__).resolve().parent / "assets"
BUNDLE = "dist/index.browser.min.js"


def cache_folder() -> Path:
    """Where npm installs: ``$XDG_CACHE_HOME/motionbook/study`` or ``~/.cache/motionbook/study``."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "motionbook" / "study"


def jspsych(folder: Path | None = None) -> tuple[str, dict]:
    """Source text of jsPsych's browser bundle, and its ``version``, ``integrity`` (npm's, pinned) and ``sha256``.

    Raises
    ------
    RuntimeError
        When there is no node, or npm fails, with what it said; without a network the first build cannot be made.
    """
    modules = nodejs.install(ASSETS, folder or cache_folder())
    lock = json.loads((ASSETS / "package-lock.json").read_text(encoding="utf-8"))["packages"]["node_modules/jspsych"]
    path = modules / "jspsych" / BUNDLE
    facts = {"version": lock["version"], "integrity": lock["integrity"], "sha256": sha256(path)}
    # the map it points to is not shipped
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("//# sourceMap")]
    return "\n".join(lines) + "\n", facts


def write_notices(path: Path, facts: dict) -> Path:
    """The licences of what the page contains, with the versions, beside it."""
    head = f"jsPsych {facts['version']} (npm {facts['integrity']})\n\n"
    return write_whole(path, head + (ASSETS / "NOTICES.txt").read_text(encoding="utf-8"))

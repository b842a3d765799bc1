"""Write constraints.txt: everything the project needs, with all extras, at the versions installed here.

Run it in an environment in which the tests have just passed: ``python tools/pin_constraints.py``.
"""

import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
HEAD = "# Exact versions this book was built and tested with (Python 3.11, Linux); floors are in pyproject.toml.\n"


def closure(requirements: list[str]) -> dict[str, str]:
    """Name and installed version of every distribution that the requirements lead to."""
    pending, seen, versions = [Requirement(text) for text in requirements], set(), {}
    while pending:
        requirement = pending.pop()
        name, extras = canonicalize_name(requirement.name), tuple(sorted(requirement.extras))
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        distribution = metadata.distribution(requirement.name)
        # a local label such as +cpu names a build of the same version
        versions[name] = distribution.version.split("+")[0]
        for text in distribution.requires or []:
            needed = Requirement(text)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras or ("",)):
                pending.append(needed)
    return versions


def main() -> None:
    """Write the file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    versions = closure([*project["dependencies"], *(text for lines in extras for text in lines)])
    lines = [f"{name}=={version}\n" for name, version in sorted(versions.items())]
    (ROOT / "constraints.txt").write_text(HEAD + "".join(lines))
    print(f"{len(lines)} versions")


if __name__ == "__main__":
    main()

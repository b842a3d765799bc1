"""A module imports only from its own line of the layout and the lines above it, and nothing heavy at import."""

import ast
from pathlib import Path

import pytest

LIBRARY = Path(__file__).resolve().parents[1] / "lib" / "motionbook"
LINES = (
    "core",
    "synthesis",
    "data",
    "capture",
    "cleaning",
    "inbetweening",
    "stickfigures",
    "perception",
    "quality",
    "report",
    "top",
)
TOP = {"pipeline.py", "cli.py", "clip_commands.py", "clip_files.py", "clip_work.py", "study_commands.py"}
HEAVY = {
    "scipy",
    "pandas",
    "numba",
    "torch",
    "matplotlib",
    "sklearn",
    "skimage",
    "cv2",
    "papermill",
    "jupytext",
    "pooch",
}


# modules of compiled loops and of networks, which others import inside their functions
KERNELS = {
    "motionbook.raster",
    "motionbook.stickfigures.raster",
    "motionbook.inbetweening.attention",
    "motionbook.inbetweening.checkpoints",
    "motionbook.inbetweening.delta",
    "motionbook.inbetweening.delta_training",
    "motionbook.inbetweening.flow",
    "motionbook.inbetweening.flow_training",
    "motionbook.inbetweening.perceptron",
    "motionbook.inbetweening.quaternion_tensors",
    "motionbook.inbetweening.losses",
    "motionbook.inbetweening.motion_tensors",
    "motionbook.inbetweening.networks",
    "motionbook.inbetweening.training",
    "motionbook.inbetweening.training_batches",
    "motionbook.inbetweening.training_devices",
    "motionbook.inbetweening.two_stage",
    "motionbook.inbetweening.two_stage_training",
}


def line_of(parts: tuple[str, ...]) -> int:
    if parts[0] in LINES:
        return LINES.index(parts[0])
    return LINES.index("top" if f"{parts[0].removesuffix('.py')}.py" in TOP else "core")


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


@pytest.mark.parametrize("path", sorted(LIBRARY.rglob("*.py")), ids=lambda p: p.relative_to(LIBRARY).as_posix())
def test_module(path):
    own = line_of(path.relative_to(LIBRARY).parts)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [name for node in ast.walk(tree) for name in imported(node)]
    upward = [name for name in names if name.startswith("motionbook.") and line_of(tuple(name.split(".")[1:])) > own]
    assert not upward, f"{path.name} is above {upward} in the layout"
    at_import = [name for node in tree.body for name in imported(node)]
    module = ".".join(("motionbook", *path.relative_to(LIBRARY).with_suffix("").parts))
    heavy = []
    if module not in KERNELS:
        heavy = [n for n in at_import if n in KERNELS or n.rpartition(".")[0] in KERNELS]
        heavy += [name for name in at_import if name.split(".")[0] in HEAVY]
    assert not heavy, f"{path.name} imports {heavy} when it is imported; move that into the functions that use it"

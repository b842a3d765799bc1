"""A tiny set of executed notebooks and results, made without a kernel, for the tests of the rendered book."""

import base64
import io
import json
import os
from pathlib import Path
from unittest import mock

import nbformat
import numpy as np

from motionbook import Clip, write_bvh
from motionbook import rotations as rot
from motionbook.kinematics import local_rotations, world_pose
from motionbook.report.players import player
from motionbook.report.provenance import CHAPTERS
from motionbook.skeletons import LAFAN1, t_pose

TITLE = "Chapter {} of the test"


def waving_clip(frames: int = 40, skeleton=LAFAN1, fps: float = 30.0, phase: float = 0.0) -> Clip:
    """A person who stands with arms down and waves the left one; joints are turned about world axes."""
    world = np.repeat(t_pose(skeleton)[None], frames, axis=0)
    swing = np.sin(np.arange(frames) / fps * 4.0 + phase)

    def turn(name, axis, angle):
        moved = [skeleton.index(name)]
        for joint, parent in enumerate(skeleton.parents):
            if parent in moved:
                moved.append(joint)
        world[:, moved] = rot.multiply(rot.from_axis_angle(np.array(axis, float), angle)[:, None], world[:, moved])

    turn("LeftArm", [0, 0, 1], -0.9 + 0.5 * swing)
    turn("RightArm", [0, 0, 1], np.full(frames, 1.25))
    local = local_rotations(skeleton.parents, world)
    low = world_pose(skeleton, np.zeros((frames, 3)), local).positions[..., 1].min()
    return Clip(skeleton, np.tile([0.0, 0.02 - low, 0.0], (frames, 1)), local, fps)


def a_picture() -> str:
    """Base64 of a PNG with a line in it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3, 2))
    figure.add_subplot().plot([0, 1, 4])
    drawn = io.BytesIO()
    figure.savefig(drawn, metadata={"Software": None})
    return base64.b64encode(drawn.getvalue()).decode()


def executed_notebook(chapter: str, out: Path) -> nbformat.NotebookNode:
    """What papermill leaves: injected parameters with paths of the machine, a figure, a player, mathematics."""
    number = int(chapter[:2])
    with mock.patch.dict(os.environ, {"MOTIONBOOK_STATIC": "1"}):
        shown = player([("GT", waving_clip()), ("SLERP", waving_clip(phase=0.5))])._repr_mimebundle_()
    v4 = nbformat.v4
    following = f"{CHAPTERS[number % 6]}.ipynb"
    cells = [
        v4.new_markdown_cell(f"# {TITLE.format(number)}\n\nAn error $e = \\sqrt{{x^2}}$; next: [there]({following})."),
        v4.new_code_cell('budget: str = "smoke"\nout: str = "../results"', metadata={"tags": ["parameters"]}),
        v4.new_code_cell(
            f'# Parameters\nbudget = "smoke"\nout = "{out}"',
            metadata={"tags": ["injected-parameters"], "papermill": {"duration": 0.1}},
        ),
        v4.new_code_cell(
            "print(run.folder)", outputs=[v4.new_output("stream", name="stdout", text=f"{out}/{chapter}\n")]
        ),
        v4.new_code_cell(
            "plot()",
            metadata={"mystnb": {"figure": {"name": f"fig-test-{number}", "caption": "A line that bends."}}},
            outputs=[v4.new_output("display_data", data={"image/png": a_picture(), "text/plain": "<Figure>"})],
        ),
        v4.new_code_cell("player", outputs=[v4.new_output("execute_result", data=shown, execution_count=4)]),
    ]
    for i, cell in enumerate(cells):
        cell.id = f"{chapter}-{i}".replace("_", "-")
        if cell.cell_type == "code":
            cell.execution_count = i
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, "papermill": {"input_path": str(out)}}
    return v4.new_notebook(cells=cells, metadata=metadata)


def make_results(out: Path, chapters=CHAPTERS) -> Path:
    """A results folder as the runner leaves it, small and by hand."""
    (out / "executed").mkdir(parents=True)
    (out / "runs").mkdir()
    for system, phase in (("GT", 0.0), ("SLERP", 0.5)):
        path = out / "03_inbetweening" / "clips" / system / "00_idle.bvh"
        path.parent.mkdir(parents=True)
        write_bvh(waving_clip(phase=phase), path)
    for chapter in chapters:
        nbformat.write(executed_notebook(chapter, out), out / "executed" / f"{chapter}.ipynb")
        run = {
            "chapter": chapter, "budget": "smoke", "data": "", "data_label": "made by a test (synthetic)", "seed": 0,
            "device": "cpu", "parameters": {}, "made_here": [], "seconds": 1.5, "version": "0", "commit": "abc",
            "library_sha256": "1" * 64, "python": "3.11.0", "packages": {"numpy": "2.0"},
            "inputs": [
                {"chapter": "01_capture", "pattern": "clips/*|*", "made_here": True, "sha256": "2" * 64, "files": {}}
            ],
            "artefacts": [{"path": f"{chapter}/tables/t.csv", "sha256": "3" * 64, "kind": "table"}],
        }  # fmt: skip
        (out / "runs" / f"{chapter}.json").write_text(json.dumps(run))
    return out

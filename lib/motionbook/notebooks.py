"""Notebooks as text: the .py source that is reviewed and the .ipynb that Colab and papermill open, kept identical."""

import json
from pathlib import Path

from motionbook.files import write_whole

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebooks_folder() -> Path:
    """The ``notebooks/`` of the checkout that holds this library; FileNotFoundError says what to do without one."""
    folder = Path(__file__).resolve().parents[2] / "notebooks"
    if not any(folder.glob("[0-9][0-9]_*.ipynb")):
        raise FileNotFoundError(
            f"no chapter notebooks in {folder}; run from a checkout installed with `pip install -e .`, "
            "or name their folder with --notebooks"
        )
    return folder


def render_ipynb(source: Path) -> str:
    """The text of the .ipynb for a py:percent file: no outputs, cell ids by number, always the same bytes."""
    import jupytext

    notebook = jupytext.read(source, fmt="py:percent")
    cells = []
    for number, cell in enumerate(notebook.cells):
        fields = {
            "cell_type": cell.cell_type,
            "id": f"{source.stem}-{number:02d}".replace("_", "-"),
            "metadata": {key: cell.metadata[key] for key in sorted(cell.metadata)},
            "source": cell.source.splitlines(keepends=True),
        }
        if cell.cell_type == "code":
            fields |= {"execution_count": None, "outputs": []}
        cells.append(dict(sorted(fields.items())))
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    document = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def sync_notebooks(folder: Path, *, check: bool = False) -> list[Path]:
    """Write the .ipynb of every numbered .py in a folder; with ``check`` only return those that differ.

    Returns
    -------
    list of Path
        The .ipynb files that were written, or that differ from their source.
    """
    differing = []
    for source in sorted(folder.glob("[0-9][0-9]_*.py")):
        target, text = source.with_suffix(".ipynb"), render_ipynb(source)
        if not target.is_file() or target.read_text(encoding="utf-8") != text:
            differing.append(target)
            if not check:
                write_whole(target, text)
    return differing


def code_of(notebook: Path) -> str:
    """All code of an .ipynb as one string; what decides whether a chapter has changed."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "\n\0".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")

"""The loader of the published numbers: printed digits survive, faults in the files are named, a wheel carries them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from motionbook.data import locations
from motionbook.data.published import load_published, published_item, read_number

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    ("text", "value", "half_unit", "bound"),
    [
        ("0.900", 0.9, 0.0005, ""),
        (".063", 0.063, 0.0005, ""),
        ("-7.2", -7.2, 0.05, ""),
        ("482,400", 482400, 0.5, ""),
        ("77.74%", 77.74, 0.005, ""),
        ("1.89e-4", 1.89e-4, 0.5e-6, ""),
        ("<0.001*", 0.001, 0.0005, "below"),
        ("> 99.99%", 99.99, 0.005, "above"),
        ("15:31", 931, 1, ""),
        ("5:58:31", 21511, 1, ""),
    ],
)
def test_printed_numbers_keep_their_last_place(text, value, half_unit, bound):
    number = read_number(text)
    assert number.value == value
    assert number.half_unit == pytest.approx(half_unit, rel=1e-12)
    assert number.bound == bound


@pytest.mark.parametrize("text", ["", "F1", "yes", "0 1 3", "128 x 128", "1.2.3", "39.9M", "12:3"])
def test_words_are_no_numbers(text):
    assert read_number(text) is None


def test_printed_zeros_and_trailing_text_survive():
    cells = published_item("staystill_table1").cells
    assert cells["0-velocity", "L2P@5"].printed == "0.900"
    assert cells["0-velocity", "L2P@5"].half_unit == pytest.approx(0.0005)
    size = published_item("stickfigures_table1").cells["mini", "Size"]
    assert (size.value, size.printed, size.unit) == (0.79, "0.79 GB", "GB")
    extra = published_item("stickfigures_text_corruption").cells
    assert (extra["real", "CPE"].source, extra["real", "TVR"].source) == ("repository", "paper")


def test_an_unknown_id_is_answered_with_that_papers_ids():
    with pytest.raises(KeyError, match=r"no published item 'staystill_table7'.*staystill_table6"):
        published_item("staystill_table7")


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("staystill.yaml", "staystill_fig8:", "staystill_fig9:", "no entry for staystill_fig8"),
        ("index.yaml", "  - {id: staystill_fig8, kind", "  # {id: gone, kind", "not in index.yaml: staystill_fig8"),
        ("index.yaml", "id: staystill_fig8", "id: staystill_fig7", "staystill_fig7 is listed twice"),
        ("index.yaml", "id: staystill_fig8, kind: figure", "id: staystill_fig8, kind: photo", "kind 'photo'"),
        ("staystill.yaml", "GT: [1179.36, 15.71, ", "GT: [1179.36, ", "row 'GT': expected 4 values, got 3"),
        ("staystill.yaml", "reference: [GT, NOISE]", "reference: [GT, NOISY]", "no row or column 'NOISY'"),
        ("quality4d.yaml", "row: w4", "row: w8", "quality4d_text_weights: no row or column 'w8'"),
        ("staystill.yaml", "better: {Elo: higher", "bettre: {Elo: higher", "unknown keys bettre"),
        ("stickfigures.yaml", "extra_arm: [null, .0583", "extra_arm: [.26, .0583", "stands under rows and repository"),
    ],
)  # fmt: skip
def test_a_fault_in_the_files_is_named(tmp_path, file, old, new, message):
    folder = shutil.copytree(locations.manifests_folder() / "published", tmp_path / "published")
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        load_published(folder)


def test_without_manifests_both_places_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(locations, "_PACKAGE", tmp_path / "lib" / "motionbook")
    with pytest.raises(FileNotFoundError, match=r"data_manifests or .*_manifests"):
        locations.manifests_folder()
    # a stranger's folder of the same name does not count
    (tmp_path / "data_manifests").mkdir()
    with pytest.raises(FileNotFoundError):
        locations.manifests_folder()


def test_a_built_package_carries_the_manifests(tmp_path):
    pytest.importorskip("setuptools")
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "data_manifests", source / "data_manifests")
    shutil.copytree(ROOT / "lib", source / "lib", ignore=ignore)
    build = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(tmp_path / "built")]
    subprocess.run(build, cwd=source, check=True, capture_output=True, timeout=120)
    shutil.rmtree(source)
    code = (
        "from motionbook.data import locations, published;"
        "print(locations.manifests_folder(), len(published.load_published()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "built")},
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.split() == [str(tmp_path / "built" / "motionbook" / "_manifests"), str(len(load_published()))]

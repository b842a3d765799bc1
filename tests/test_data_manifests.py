"""The manifests the project ships, and the errors for those it would refuse."""

import hashlib

import pytest

from motionbook.data.catalogue import find_manifest, list_manifests
from motionbook.data.manifests import CHAPTERS, load_manifest
from motionbook.data.published import published_item

GOOD = """id: good
title: Good
kind: motion
citation: somebody, 2026
licence: MIT
homepage: https://example.org
chapters: [02_cleaning]
by_hand: Ask.
sources:
  - kind: https
    files:
      - {path: a/b.bvh, url: "https://example.org/b.bvh"}
"""


def write(tmp_path, text, name="good.yaml"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_all_data_sets_and_weights_of_the_book_have_a_manifest():
    ids = {manifest.id for manifest in list_manifests()}
    assert ids == {
        "staystill",
        "reactidle",
        "lafan1",
        "stickfigures",
        "stickfigures_baselines",
        "quality4d",
        "smpl",
        "t5_small",
        "i3d",
        "lpips",
        "mediapipe_models",
    }


def test_every_manifest_is_complete():
    for manifest in list_manifests():
        assert manifest.known_problems, f"{manifest.id}: no data set is without problems worth knowing"
        assert len(manifest.by_hand) > 20 and manifest.citation and manifest.licence
        assert set(manifest.chapters) <= set(CHAPTERS)


def test_where_data_come_from():
    sources = {m.id: m.sources for m in list_manifests()}
    assert sources["staystill"][0].kind == "zenodo" and sources["staystill"][0].record == "18741736"
    react = sources["reactidle"][0]
    assert (react.repo, react.commit) == ("Enekoassets/ReActIdle", "90b0ac78b205001edf170f65ff372448ccd0f1c7")
    assert {s.repo for s in sources["stickfigures"]} == {"sprited/dancing-stick-figures"}
    assert {s.repo_type for s in sources["stickfigures"]} == {"dataset"}
    assert find_manifest("quality4d").manual and find_manifest("smpl").manual
    assert {m.id: m.licence for m in list_manifests()}["lafan1"] == "CC BY-NC-ND 4.0"


def test_a_checksum_is_there_only_with_its_origin():
    for manifest in list_manifests():
        for source in manifest.sources:
            has = any(file.sha256 or file.md5 or file.sha256_prefix for file in source.files)
            assert has == bool(source.checksums_from), manifest.id


def test_reactidle_states_checksums_of_22_clips_and_none_of_the_larger_ones(shared_data):
    manifest = find_manifest("reactidle")
    stated = {f.path: f.sha256 for f in manifest.sources[0].files if f.path.endswith(".bvh")}
    lines = (shared_data / "reactidle" / "SHA256SUMS").read_text().split("\n")
    computed = {name: value for value, name in (line.split() for line in lines if line)}
    assert {path: value for path, value in stated.items() if value} == computed and len(computed) == 22
    assert [path for path, value in stated.items() if not value] == [
        "acted/000_acted.bvh",
        "acted/015_acted.bvh",
        "acted/016_acted.bvh",
    ]
    for file in manifest.sources[0].files:
        place = shared_data / "reactidle" / file.path
        if file.sha256 and place.is_file():
            assert hashlib.sha256(place.read_bytes()).hexdigest() == file.sha256
            assert place.stat().st_size == file.size


def test_reactidle_says_how_its_rate_and_root_are_read():
    manifest = find_manifest("reactidle")
    assert manifest.reading["fps"] == 30 and manifest.reading["positions"] == "add_root"
    assert "24 fps read as 30 fps (assumed)" in manifest.reading["label"]
    problems = " ".join(problem for _, problem in manifest.known_problems)
    assert "exporter" in problems or "default scene rate" in problems
    assert "relative to the root's OFFSET" in problems and "Scale" in problems


def test_staystills_counts_are_those_of_the_papers_table():
    manifest = find_manifest("staystill")
    cells = published_item("staystill_table3").cells
    totals = {row: {c: cell.value for (r, c), cell in cells.items() if r == row} for row, _ in cells}
    printed = {value for row in totals.values() for value in row.values()}
    assert {275_751, 181_846, 187_741, 1534, 50} <= printed
    counts = manifest.expected_files
    assert sum(n for pattern, n in counts.items() if "lafan" in pattern) == manifest.stated["clips"] == 1534 + 50 + 50
    assert manifest.stated["frames"] == 275_751 + 181_846 + 187_741 == 645_338
    assert manifest.expected_frames["**/lafan/actions/*.bvh"] == 275_751


def test_a_good_manifest_is_read(tmp_path):
    manifest = load_manifest(write(tmp_path, GOOD))
    assert manifest.sources[0].files[0].url == "https://example.org/b.bvh"
    assert not manifest.manual and manifest.parts == () and manifest.expected_files == {}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("licence: MIT", "", r"good.yaml: licence: expected a value, got nothing; add the field"),
        ("licence: MIT", "lisence: MIT", r"good.yaml: licence: expected a value"),
        ("by_hand", "colour: red\nby_hand", r"colour: expected only the fields .*chapters.*, got an unknown field"),
        ("kind: motion", "kind: film", r"kind: expected one of motion, video, ratings, weights, got 'film'"),
        ("title: Good", "title: 2026", r"title: expected text, got 2026 \(int\); correct it, with quotation marks"),
        ("[02_cleaning]", "[07_more]", r"chapters: expected names out of 01_capture.*got '07_more'"),
        ("[02_cleaning]", "02_cleaning", r"chapters: expected a list, got '02_cleaning'"),
        ("https://example.org\n", "example.org\n", r"homepage: expected an https:// address, got 'example.org'"),
        ("kind: https", "kind: ftp", r"sources\[0\].kind: expected one of zenodo, github"),
        ("kind: https", "kind: zenodo", r"sources\[0\].record: expected a value, got nothing"),
        ("    files:", "    commit: abc\n    files:", r"sources\[0\].commit: expected only the fields kind, files"),
        (', url: "https://example.org/b.bvh"', "", r"sources\[0\].files\[0\].url: expected a value, got nothing"),
        (
            "b.bvh, url",
            "b.bvh, size: 0, url",
            r"files\[0\].size: expected a positive number of bytes, got 0; leave it out",
        ),
        ("b.bvh, url", "b.bvh, size: big, url", r"files\[0\].size: expected a whole number of bytes, got 'big'"),
        (
            "b.bvh, url",
            'b.bvh, sha256: "12ab", url',
            r"files\[0\].sha256: expected 64 lower-case hex digits.*leave it out",
        ),
        ("b.bvh, url", "b.bvh, md5: unknown, url", r"files\[0\].md5: expected 32 lower-case hex digits"),
        ("a/b.bvh", "../b.bvh", r"sources.files.path: expected a relative path .* got \.\./b.bvh"),
        ("a/b.bvh", "/b.bvh", r"sources.files.path: expected a relative path"),
        ("id: good", "id: other", r"id: expected 'good', the name of the file, got other; rename one of the two"),
        ("id: good", "id: Good!", r"id: expected lower-case letters, digits and _, got 'Good!'"),
        (
            "title: Good",
            "title: Good\ntitle: Better",
            r"good.yaml, line 3: not valid YAML: 'title' stands more than once",
        ),
        ("title: Good", "title: 'Good", r"good.yaml, line \d+: not valid YAML"),
        (
            "by_hand",
            "expected_files: {'*.bvh': 1.634}\nby_hand",
            r"expected_files.\*.bvh: expected a whole number, got 1.634",
        ),
        (
            "by_hand",
            "known_problems: [{file: a, what: b}]\nby_hand",
            r"known_problems\[0\].what: expected only the fields",
        ),
        ("by_hand", "known_problems: [bad]\nby_hand", r"known_problems\[0\]: expected a mapping of fields, got 'bad'"),
    ],
)
def test_what_is_wrong_is_said_with_file_field_and_way_out(tmp_path, old, new, words):
    assert GOOD.count(old) >= 1
    with pytest.raises(ValueError, match=words):
        load_manifest(write(tmp_path, GOOD.replace(old, new, 1)))


def test_a_checksum_without_its_origin_is_refused(tmp_path):
    digest = "0" * 64
    text = GOOD.replace("b.bvh, url", f'b.bvh, sha256: "{digest}", url')
    with pytest.raises(
        ValueError, match=r"checksums_from: expected where the checksums come from, got checksums without"
    ):
        load_manifest(write(tmp_path, text))
    load_manifest(write(tmp_path, text.replace("    files:", "    checksums_from: computed\n    files:")))
    with pytest.raises(ValueError, match=r"got it without any checksum"):
        load_manifest(write(tmp_path, GOOD.replace("    files:", "    checksums_from: computed\n    files:")))


def test_a_short_commit_is_refused(tmp_path):
    text = GOOD.replace("kind: https", "kind: github\n    repo: a/b\n    commit: 90b0ac7")
    with pytest.raises(ValueError, match=r"commit: expected the commit's 40 hex digits, got '90b0ac7'"):
        load_manifest(write(tmp_path, text))


def test_what_is_no_mapping_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"good.yaml: expected fields such as 'id: good', got list"):
        load_manifest(write(tmp_path, "- a\n- b\n"))

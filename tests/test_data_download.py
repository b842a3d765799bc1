"""Fetching and verifying whole data sets, against a local mirror of the sources."""

import hashlib
import json
import zipfile
from io import BytesIO

import pytest
from faulty_server import Page, faulty_server

from motionbook.data.catalogue import RECORDS, catalogue, data_home
from motionbook.data.download import fetch, verify
from motionbook.data.layouts import open_dataset
from motionbook.data.remote import wanted

COMMIT = "90b0ac78b205001edf170f65ff372448ccd0f1c7"
REPO = "Some/Motions"
HEAD = """
id: things
title: Things
kind: motion
citation: nobody, 2026
licence: MIT
homepage: https://example.org
chapters: [02_cleaning]
by_hand: Copy them from the shelf.
"""
BVH = b"HIERARCHY\nROOT a\n{\n}\nMOTION\nFrames: 7\nFrame Time: 0.033333\n"


def sha(body, kind="sha256"):
    return hashlib.new(kind, body).hexdigest()


def blob(body):
    return hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()


def zipped(members):
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, body in members.items():
            file.writestr(zipfile.ZipInfo(name), body)
    return buffer.getvalue()


@pytest.fixture
def mirror(tmp_path):
    """A server, a folder of manifests, a data folder, and the calls that use them."""
    with faulty_server() as server:

        class Mirror:
            url, pages, requests = server.url, server.pages, server.requests
            folder = tmp_path / "data"

            def manifest(self, text):
                (tmp_path / "manifests").mkdir(exist_ok=True)
                (tmp_path / "manifests" / "things.yaml").write_text(HEAD + text)

            def serve(self, address, body, **page):
                server.pages["/" + address] = Page(body, **page)

            def fetch(self, **options):
                quiet = {"progress": False, "wait": 0.0, "tries": 2}
                arguments = {"manifests": tmp_path / "manifests", "base_url": server.url, **quiet, **options}
                return fetch("things", self.folder, **arguments)

            def verify(self):
                return verify("things", self.folder, manifests=tmp_path / "manifests")

            def states(self):
                return {row.path: row.state for row in self.verify().rows}

            def records(self):
                return json.loads((self.folder / RECORDS).read_text())

            def asked(self):
                return [path for _, path, _ in server.requests]

        yield Mirror()


def https(mirror, body, **known):
    mirror.serve("files.example.org/a/motion.bvh", body)
    lines = "".join(f", {name}: {value!r}" for name, value in known.items())
    origin = "checksums_from: computed" if any(name != "size" for name in known) else ""
    mirror.manifest(f"""
sources:
  - kind: https
    {origin}
    files:
      - {{path: x/motion.bvh, url: "https://files.example.org/a/motion.bvh?dl=1"{lines}}}
""")


def test_a_checksum_of_the_manifest_is_met(mirror):
    https(mirror, BVH, sha256=sha(BVH), size=len(BVH))
    report = mirror.fetch()
    assert [(f.path, f.action, f.checked) for f in report.files] == [("x/motion.bvh", "fetched", "manifest")]
    assert report.notes == ()
    assert (mirror.folder / "x/motion.bvh").read_bytes() == BVH
    assert mirror.asked() == ["/files.example.org/a/motion.bvh?dl=1"]
    assert sorted(p.name for p in mirror.folder.iterdir()) == [RECORDS, "x"]
    assert [p.name for p in (mirror.folder / "x").iterdir()] == ["motion.bvh"]
    assert mirror.states() == {"x/motion.bvh": "ok"}


@pytest.mark.parametrize("kind", ["sha256", "md5", "sha256_prefix"])
def test_a_wrong_checksum_keeps_nothing(mirror, kind):
    wrong = sha(b"other", "md5" if kind == "md5" else "sha256")[: 8 if kind == "sha256_prefix" else 64]
    https(mirror, BVH, **{kind: wrong})
    with pytest.raises(ValueError, match=rf"x/motion.bvh: expected {kind} {wrong} \(by the manifest\), got") as caught:
        mirror.fetch()
    assert "files.example.org/a/motion.bvh" in str(caught.value)
    assert [p for p in mirror.folder.rglob("*") if p.is_file()] == []
    assert len(mirror.requests) == 1, "a whole file that is wrong is not asked for again"


def test_a_wrong_file_does_not_take_the_place_of_an_older_one(mirror):
    https(mirror, BVH, sha256=sha(b"other"))
    (mirror.folder / "x").mkdir(parents=True)
    (mirror.folder / "x/motion.bvh").write_bytes(b"mine")
    with pytest.raises(ValueError, match=r"expected sha256"):
        mirror.fetch()
    assert (mirror.folder / "x/motion.bvh").read_bytes() == b"mine"


def test_a_wrong_half_kept_from_before_is_thrown_away_and_all_of_it_fetched(mirror):
    body = BVH + bytes(200_000)
    https(mirror, body, sha256=sha(body))
    part = mirror.folder / ".partial/x/motion.bvh.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"y" * 1000)
    url = mirror.url + "/files.example.org/a/motion.bvh?dl=1"
    (part.parent / "motion.bvh.part.json").write_text(json.dumps({"url": url, "version": '"v1"'}))
    mirror.fetch()
    assert [asked for _, _, asked in mirror.requests] == ["bytes=1000-", ""]
    assert mirror.states() == {"x/motion.bvh": "ok"}


def test_what_is_there_and_right_is_not_fetched_again(mirror):
    https(mirror, BVH, sha256=sha(BVH))
    mirror.fetch()
    mirror.requests.clear()
    assert [f.action for f in mirror.fetch().files] == ["kept"]
    assert mirror.requests == []


def test_what_was_changed_is_found_and_replaced(mirror):
    https(mirror, BVH, sha256=sha(BVH))
    mirror.fetch()
    (mirror.folder / "x/motion.bvh").write_bytes(BVH + b" ")
    report = mirror.verify()
    assert not report.ok and report.rows[0].state == "changed" and sha(BVH) in report.rows[0].detail
    assert [f.action for f in mirror.fetch().files] == ["replaced"]
    assert mirror.verify().ok
    (mirror.folder / "x/motion.bvh").unlink()
    assert mirror.states() == {"x/motion.bvh": "missing"}


def test_without_any_checksum_the_first_download_is_recorded_said_and_kept_to(mirror):
    https(mirror, BVH)
    report = mirror.fetch()
    assert report.files[0].checked == "first download"
    assert len(report.notes) == 1 and sha(BVH) in report.notes[0] and "no checksum was known" in report.notes[0]
    assert mirror.records()["files"]["x/motion.bvh"]["sha256"] == sha(BVH)
    assert mirror.states() == {"x/motion.bvh": "recorded"}
    mirror.serve("files.example.org/a/motion.bvh", b"another file", etag='"v2"')
    (mirror.folder / "x/motion.bvh").unlink()
    with pytest.raises(
        ValueError, match=rf"expected sha256 {sha(BVH)} \(by the first download\), got {sha(b'another file')}"
    ):
        mirror.fetch()
    assert mirror.states() == {"x/motion.bvh": "missing"}


def test_the_first_digits_of_a_checksum_are_completed_by_the_first_download(mirror):
    https(mirror, BVH, sha256_prefix=sha(BVH)[:8])
    mirror.fetch()
    assert mirror.states() == {"x/motion.bvh": "ok"}
    records = mirror.records()
    assert records["files"]["x/motion.bvh"]["sha256"] == sha(BVH)
    records["files"]["x/motion.bvh"]["sha256"] = sha(b"another file with the same first digits")
    (mirror.folder / RECORDS).write_text(json.dumps(records))
    assert mirror.states() == {"x/motion.bvh": "changed"}


def test_patterns_do_not_cross_folders():
    assert wanted("acted/a.bvh", ("genuine/*.bvh", "acted/*.bvh"))
    for path in ("acted/csv/a.bvh", "acted/a.bvh/b", "acted", "a.bvh", "acted/a.BVH"):
        assert not wanted(path, ("acted/*.bvh",))


def test_a_file_nobody_fetched_here_is_unchecked(mirror):
    https(mirror, BVH)
    (mirror.folder / "x").mkdir(parents=True)
    (mirror.folder / "x/motion.bvh").write_bytes(BVH)
    report = mirror.verify()
    assert report.rows == (("x/motion.bvh", "unchecked", "no checksum is known"),) and report.ok


def zenodo(mirror, files, **changes):
    entries = [
        {
            "key": name,
            "size": len(body),
            "checksum": "md5:" + sha(body, "md5"),
            "links": {"self": f"https://zenodo.org/f/{name}"},
        }
        | changes
        for name, body in files.items()
    ]
    mirror.serve(
        "zenodo.org/api/records/123", json.dumps({"id": 123, "files": entries}).encode(), type="application/json"
    )
    for name, body in files.items():
        mirror.serve(f"zenodo.org/f/{name}", body)
    mirror.manifest("""
sources:
  - {kind: zenodo, record: "123", unpack: true}
expected_files:
  "**/idle/*.bvh": 2
expected_frames:
  "**/idle/*.bvh": 14
""")


ARCHIVE = zipped({"lafan/idle/00_idle.bvh": BVH, "lafan/idle/01_idle.bvh": BVH})


def test_zenodo_files_are_held_against_the_records_own_checksums_and_unpacked(mirror):
    zenodo(mirror, {"dataset.zip": ARCHIVE, "README.md": b"read me"})
    report = mirror.fetch()
    assert {f.path: (f.action, f.checked) for f in report.files} == {
        "README.md": ("fetched", "record"),
        "lafan/idle/00_idle.bvh": ("unpacked", "in dataset.zip"),
        "lafan/idle/01_idle.bvh": ("unpacked", "in dataset.zip"),
    }
    assert not (mirror.folder / "dataset.zip").exists(), "its files are there one by one"
    verified = mirror.verify()
    assert verified.ok and {row.path: row.state for row in verified.rows} == {
        "README.md": "ok",
        "lafan/idle/00_idle.bvh": "ok",
        "lafan/idle/01_idle.bvh": "ok",
        "**/idle/*.bvh": "ok",
    }
    mirror.requests.clear()
    assert {f.action for f in mirror.fetch().files} == {"kept"}
    assert mirror.asked() == ["/zenodo.org/api/records/123"]


def test_a_lost_or_changed_piece_of_an_archive_is_found_and_brought_back(mirror):
    zenodo(mirror, {"dataset.zip": ARCHIVE})
    mirror.fetch()
    (mirror.folder / "lafan/idle/01_idle.bvh").unlink()
    (mirror.folder / "lafan/idle/00_idle.bvh").write_bytes(BVH.replace(b"7", b"8"))
    rows = mirror.verify().rows
    assert [row.state for row in rows] == ["changed", "missing", "count", "count"]
    assert [row.detail for row in rows[2:]] == ["1 files, expected 2", "8 frames, expected 14"]
    mirror.fetch()
    assert mirror.verify().ok


def test_a_file_that_differs_from_the_zenodo_record_is_refused(mirror):
    zenodo(mirror, {"dataset.zip": ARCHIVE})
    mirror.serve("zenodo.org/f/dataset.zip", ARCHIVE[:-1] + b"x")
    with pytest.raises(ValueError, match=r"expected md5 .* \(by the record"):
        mirror.fetch()
    mirror.serve("zenodo.org/f/dataset.zip", ARCHIVE + b"x")
    with pytest.raises(ValueError, match=r"expected .* bytes, the server announces"):
        mirror.fetch()
    assert not mirror.verify().ok


@pytest.mark.parametrize("name", ["../evil.zip", "/etc/evil.zip"])
def test_a_record_that_names_a_place_outside_is_refused(mirror, name, tmp_path):
    zenodo(mirror, {"dataset.zip": ARCHIVE}, key=name)
    with pytest.raises(ValueError, match=r"leads out of"):
        mirror.fetch()
    assert not (tmp_path / "evil.zip").exists()


def test_a_link_in_the_folder_that_leads_out_is_not_followed(mirror, tmp_path):
    https(mirror, BVH, sha256=sha(BVH))
    (tmp_path / "outside").mkdir()
    mirror.folder.mkdir()
    (mirror.folder / "x").symlink_to(tmp_path / "outside")
    with pytest.raises(ValueError, match=r"'x/motion.bvh' leads out of .* by a link"):
        mirror.fetch()
    assert list((tmp_path / "outside").iterdir()) == []


def test_an_archive_that_leads_out_is_refused_and_nothing_recorded(mirror, tmp_path):
    zenodo(mirror, {"dataset.zip": zipped({"good.bvh": BVH, "../evil.bvh": BVH})})
    with pytest.raises(ValueError, match=r"leads out of the target folder"):
        mirror.fetch()
    assert not (tmp_path / "evil.bvh").exists() and not (mirror.folder / "good.bvh").exists()
    assert not (mirror.folder / RECORDS).exists()


@pytest.mark.parametrize(
    ("page", "error", "words"),
    [
        (Page(b"{}", type="application/json"), ValueError, "does not list its files"),
        (Page(b'{"files": [{"key": "a"}]}', type="application/json"), ValueError, "does not list its files"),
        (Page(b'{"files": []}', type="application/json"), ValueError, "holds no file"),
        (Page(b"{", type="application/json"), ValueError, "expected JSON"),
        (Page(b"<html>busy</html>", type="text/html"), ValueError, "web page"),
        (Page(statuses=[503] * 9), RuntimeError, "503"),
        (Page(statuses=[404] * 9), RuntimeError, "404"),
    ],
)
def test_a_zenodo_record_that_cannot_be_read_is_one_clear_error(mirror, page, error, words):
    zenodo(mirror, {"dataset.zip": ARCHIVE})
    mirror.pages["/zenodo.org/api/records/123"] = page
    with pytest.raises(error, match=words) as caught:
        mirror.fetch()
    assert "zenodo.org/api/records/123" in str(caught.value)


def github(mirror, files, listed=None, known="", extra="", more=""):
    tree = [{"path": "src", "type": "tree", "sha": "0" * 40}]
    tree += [{"path": n, "type": "blob", "size": len(b), "sha": blob(b)} for n, b in (listed or files).items()]
    url = f"api.github.com/repos/{REPO}/git/trees/{COMMIT}"
    mirror.serve(url, json.dumps({"tree": tree, "truncated": False}).encode(), type="application/json")
    for name, body in files.items():
        mirror.serve(f"raw.githubusercontent.com/{REPO}/{COMMIT}/{name}", body)
    mirror.manifest(f"""
sources:
  - kind: github
    repo: {REPO}
    commit: {COMMIT}
    {extra}
    files:
      - {{path: acted/000.bvh}}
{known}
{more}""")
    return "/" + url


FILES = {"acted/000.bvh": BVH, "acted/005.bvh": BVH + b"5", "acted/csv/000.bvh": b"no", "src/a.py": b"no"}


def test_github_files_the_manifest_does_not_name_are_found_in_the_commits_list(mirror):
    github(mirror, FILES, extra='also: ["acted/*.bvh"]')
    report = mirror.fetch()
    assert [(f.path, f.checked) for f in report.files] == [("acted/000.bvh", "record"), ("acted/005.bvh", "record")]
    assert report.notes == ()
    assert mirror.states() == {"acted/000.bvh": "ok", "acted/005.bvh": "ok"}


def test_a_file_that_is_not_the_commits_is_refused(mirror):
    github(mirror, {**FILES, "acted/000.bvh": BVH + b"!"}, listed={**FILES, "acted/000.bvh": BVH + b"?"})
    with pytest.raises(ValueError, match=r"acted/000.bvh: expected git .* \(by the record"):
        mirror.fetch()


def test_without_the_list_the_named_files_are_fetched_and_the_rest_is_said_to_be_unknown(mirror):
    url = github(mirror, FILES, extra='also: ["acted/*.bvh"]')
    mirror.pages[url] = Page(statuses=[403] * 9)
    report = mirror.fetch()
    assert [(f.path, f.checked) for f in report.files] == [("acted/000.bvh", "first download")]
    assert "of acted/*.bvh there may be more" in report.notes[0]
    # with the list again, what was taken on trust is held against git's own id
    del mirror.pages[url]
    github(mirror, FILES, extra='also: ["acted/*.bvh"]')
    assert [(f.path, f.action, f.checked) for f in mirror.fetch().files] == [
        ("acted/000.bvh", "kept", "record"),
        ("acted/005.bvh", "fetched", "record"),
    ]


def test_the_list_is_not_asked_for_when_the_manifest_knows_all_checksums(mirror):
    github(mirror, FILES)
    text = f"""
sources:
  - kind: github
    repo: {REPO}
    commit: {COMMIT}
    checksums_from: computed
    files: [{{path: acted/000.bvh, sha256: "{sha(BVH)}"}}]
"""
    mirror.manifest(text)
    mirror.fetch()
    assert mirror.asked() == [f"/raw.githubusercontent.com/{REPO}/{COMMIT}/acted/000.bvh"]


def test_lfs_files_come_from_where_github_keeps_them(mirror):
    mirror.serve(f"media.githubusercontent.com/media/{REPO}/{COMMIT}/data/all.zip", ARCHIVE)
    mirror.manifest(f"""
sources:
  - kind: github
    repo: {REPO}
    commit: {COMMIT}
    lfs: true
    unpack: true
    checksums_from: the pointer
    files: [{{path: data/all.zip, sha256: "{sha(ARCHIVE)}", size: {len(ARCHIVE)}}}]
""")
    assert [f.path for f in mirror.fetch().files] == ["lafan/idle/00_idle.bvh", "lafan/idle/01_idle.bvh"]
    assert mirror.verify().ok


def test_one_lost_file_does_not_keep_the_others_away(mirror):
    known = "      - {path: acted/001.bvh}\n      - {path: acted/005.bvh}"
    github(mirror, FILES, listed={**FILES, "acted/001.bvh": b"lost"}, known=known)
    with pytest.raises(RuntimeError, match=r"acted/001.bvh: the server answered 404"):
        mirror.fetch()
    assert mirror.states() == {"acted/000.bvh": "ok", "acted/001.bvh": "missing", "acted/005.bvh": "ok"}


def test_lost_files_apart_from_each_other_do_not_end_the_fetch(mirror):
    files = {f"acted/00{i}.bvh": BVH for i in range(0, 6, 2)}
    known = "".join(f"      - {{path: acted/00{i}.bvh}}\n" for i in range(1, 6))
    github(mirror, files, listed={f"acted/00{i}.bvh": BVH for i in range(6)}, known=known)
    with pytest.raises(RuntimeError, match=r"3 files could not be fetched, 3 are in"):
        mirror.fetch()
    assert [state for state in mirror.states().values()] == ["ok", "missing"] * 3


def test_two_lost_files_in_a_row_end_the_fetch_and_are_listed(mirror):
    known = "".join(f"      - {{path: acted/00{i}.bvh}}\n" for i in range(1, 6))
    github(mirror, FILES, listed={f"acted/00{i}.bvh": BVH for i in range(6)}, known=known)
    with pytest.raises(RuntimeError, match=r"2 files could not be fetched, 1 are in .*\n.*001.bvh.*\n.*002.bvh"):
        mirror.fetch()


def test_a_fetch_that_was_stopped_goes_on_from_there(mirror):
    body = BVH + bytes(range(256)) * 2000
    https(mirror, body, sha256=sha(body))
    page = mirror.pages["/files.example.org/a/motion.bvh"]
    page.cut, page.cuts, page.ranges = 6 << 14, 99, False
    with pytest.raises(RuntimeError, match=r"the same call continues from there"):
        mirror.fetch()
    assert not (mirror.folder / "x/motion.bvh").exists()
    page.cut, page.ranges = 0, True
    mirror.requests.clear()
    mirror.fetch()
    assert [asked for _, _, asked in mirror.requests] == [f"bytes={6 << 14}-"]
    assert mirror.verify().ok and not (mirror.folder / ".partial").exists()


def test_data_fetched_by_hand_say_how(mirror):
    mirror.manifest("sources:\n  - {kind: manual, url: https://example.org}\n")
    with pytest.raises(ValueError, match=r"Things is not fetched for you .MIT.. Copy them from the shelf"):
        mirror.fetch()
    with pytest.raises(FileNotFoundError, match=r"Copy them from the shelf"):
        mirror.verify()


def test_verify_without_a_folder_gives_the_command(mirror):
    https(mirror, BVH)
    with pytest.raises(FileNotFoundError, match=r"motionbook data fetch things"):
        mirror.verify()


def test_a_folder_of_another_data_set_or_a_damaged_record_is_refused(mirror):
    https(mirror, BVH)
    mirror.folder.mkdir()
    empty = {"id": "others", "files": {}, "archives": {}, "revisions": {}}
    (mirror.folder / RECORDS).write_text(json.dumps(empty))
    with pytest.raises(ValueError, match=r"holds the data set 'others', not 'things'"):
        mirror.fetch()
    (mirror.folder / RECORDS).write_text("[]")
    with pytest.raises(ValueError, match=r"not a record of checksums; move it away"):
        mirror.verify()


def test_an_unknown_data_set_lists_those_there_are():
    with pytest.raises(KeyError, match=r"no data set 'reactidl'; there are .*reactidle.*staystill"):
        fetch("reactidl")


def test_the_data_folder_is_the_readers_choice(monkeypatch, tmp_path):
    monkeypatch.setenv("MOTIONBOOK_DATA", str(tmp_path))
    assert data_home() == tmp_path
    (tmp_path / "reactidle").mkdir()
    (tmp_path / "reactidle" / "x").touch()
    rows = {row.id: row for row in catalogue()}
    assert rows["reactidle"].here == str(tmp_path / "reactidle") and rows["staystill"].here == ""
    assert rows["smpl"].access == "by hand" and rows["lafan1"].licence == "CC BY-NC-ND 4.0"
    monkeypatch.delenv("MOTIONBOOK_DATA")
    assert data_home().name == "motionbook"


def test_the_real_reactidle_from_a_mirror_to_an_open_data_set(shared_data, tmp_path):
    there = ("genuine/000_genuine.bvh", "genuine/002_genuine.bvh", "genuine/003_genuine.bvh", "LICENSE.txt")
    repo = f"Enekoassets/ReActIdle/{COMMIT}"
    with faulty_server() as server:
        bodies = {name: (shared_data / "reactidle" / name).read_bytes() for name in there}
        tree = [{"path": n, "type": "blob", "size": len(b), "sha": blob(b)} for n, b in bodies.items()]
        listed = json.dumps({"tree": tree}).encode()
        server.pages[f"/api.github.com/repos/Enekoassets/ReActIdle/git/trees/{COMMIT}"] = Page(listed, type="text/json")
        for name, body in bodies.items():
            server.pages[f"/raw.githubusercontent.com/{repo}/{name}"] = Page(body, cut=len(body) // 2)
        report = fetch("reactidle", tmp_path, base_url=server.url, progress=False, wait=0.0)
    assert {f.path: f.checked for f in report.files} == {
        "LICENSE.txt": "record",
        **{name: "manifest" for name in there[:3]},
    }
    assert "acted/000_acted.bvh is not in Enekoassets/ReActIdle at 90b0ac78b205" in report.notes
    verified = verify("reactidle", tmp_path)
    states = {row.path: row.state for row in verified.rows}
    assert not verified.ok and all(states[name] == "ok" for name in there)
    assert states["acted/001_acted.bvh"] == "missing" and states["genuine/*.bvh"] == "count"
    details = [row.detail for row in verified.rows if row.path == "genuine/*.bvh"]
    assert details == ["3 files, expected 10", f"{2202 + 1519 + 918:,} frames, expected 27,273"]
    dataset = open_dataset(tmp_path)
    assert dataset.label.startswith("ReActIdle, real, MIT") and dataset.subjects == ("000", "002", "003")

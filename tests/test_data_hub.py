"""Files from the Hugging Face hub, with its real client against a local stand-in for the hub."""

import hashlib
import json

import numpy as np
import pytest
from faulty_server import Page, faulty_server

from motionbook.data.catalogue import RECORDS
from motionbook.data.download import fetch, verify
from motionbook.data.hub import hub_arguments
from motionbook.data.manifests import Source

pytest.importorskip("huggingface_hub", reason="the hub's client comes with the extra [video]")

COMMIT, NEWER = "a" * 40, "b" * 40
REPO = "sprited/figures"
LARGE = np.random.default_rng(3).bytes(200_000)
FILES = {
    "mini/train-00000.parquet": LARGE,
    "mini/val-00000.parquet": b"small",
    "frames/x.parquet": b"no",
    "README.md": b"no",
}
MANIFEST = """
id: figures
title: Figures
kind: video
citation: nobody, 2026
licence: CC0-1.0
homepage: https://example.org
chapters: [04_stickfigures]
by_hand: Ask for them.
sources:
  - {{kind: huggingface, repo: {repo}, repo_type: dataset, part: mini, select: ["mini/*.parquet"]{more}}}
  - {{kind: huggingface, repo: {repo}, repo_type: dataset, part: frames, select: ["frames/*.parquet"]}}
"""


def sha(body):
    return hashlib.sha256(body).hexdigest()


class Hub:
    """A hub with one data set of two commits."""

    def __init__(self, server, folder, monkeypatch):
        self.server, self.home = server, folder
        self.folder = folder / "data"
        monkeypatch.setenv("HF_HOME", str(folder / "hf"))
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder / "hf"))
        self.commit(COMMIT, FILES)
        self.newest(COMMIT)
        self.manifest()

    def manifest(self, more=""):
        (self.home / "figures.yaml").write_text(MANIFEST.format(repo=REPO, more=more))

    def commit(self, commit, files, claims=None):
        siblings = []
        for name, body in files.items():
            entry = {"rfilename": name, "size": len(body)}
            claimed = (claims or {}).get(name, body)
            if len(body) > 1000:
                entry["blobId"] = "0" * 40
                entry["lfs"] = {"sha256": sha(claimed), "size": len(body), "pointerSize": 130}
            else:
                entry["blobId"] = hashlib.sha1(b"blob %d\0" % len(claimed) + claimed).hexdigest()
            siblings.append(entry)
            self.server.pages[f"/huggingface.co/datasets/{REPO}/resolve/{commit}/{name}"] = Page(
                body, etag=f'"{sha(body)}"', headers={"X-Repo-Commit": commit}
            )
        about = {
            "id": REPO,
            "sha": commit,
            "siblings": siblings,
            "private": False,
            "tags": [],
            "downloads": 0,
            "likes": 0,
        }
        page = Page(json.dumps(about).encode(), type="application/json")
        self.server.pages[f"/huggingface.co/api/datasets/{REPO}/revision/{commit}"] = page
        return page

    def newest(self, commit):
        pages = self.server.pages
        pages[f"/huggingface.co/api/datasets/{REPO}"] = pages[f"/huggingface.co/api/datasets/{REPO}/revision/{commit}"]

    def fetch(self, **options):
        arguments = {"manifests": self.home, "base_url": self.server.url, "progress": False, **options}
        return fetch("figures", self.folder, **arguments)

    def verify(self):
        return verify("figures", self.folder, manifests=self.home)


@pytest.fixture
def hub(tmp_path, monkeypatch):
    with faulty_server() as server:
        yield Hub(server, tmp_path, monkeypatch)


def test_files_of_the_first_part_arrive_checked_and_the_commit_is_recorded(hub):
    report = hub.fetch()
    assert [(f.path, f.action, f.checked) for f in report.files] == [
        ("mini/train-00000.parquet", "fetched", "record"),
        ("mini/val-00000.parquet", "fetched", "record"),
    ]
    assert (hub.folder / "mini/train-00000.parquet").read_bytes() == LARGE
    assert COMMIT in report.notes[0] and "no commit was pinned" in report.notes[0]
    assert json.loads((hub.folder / RECORDS).read_text())["revisions"] == {REPO: COMMIT}
    assert hub.verify().ok and len(hub.verify().rows) == 2


def test_a_later_fetch_keeps_to_the_recorded_commit(hub):
    hub.fetch()
    hub.commit(NEWER, {**FILES, "mini/val-00000.parquet": b"other"})
    hub.newest(NEWER)
    hub.server.requests.clear()
    report = hub.fetch()
    assert {f.action for f in report.files} == {"kept"} and report.notes == ()
    assert {path.partition("?")[0] for _, path, _ in hub.server.requests} == {
        f"/huggingface.co/api/datasets/{REPO}/revision/{COMMIT}"
    }


def test_a_pinned_revision_is_fetched_whatever_is_newest(hub):
    hub.commit(NEWER, {**FILES, "mini/val-00000.parquet": b"other"})
    hub.newest(NEWER)
    hub.manifest(f", revision: {COMMIT}")
    report = hub.fetch()
    assert report.notes == () and (hub.folder / "mini/val-00000.parquet").read_bytes() == b"small"


def test_another_part_is_asked_for_by_name(hub):
    assert [f.path for f in hub.fetch(parts=("frames",)).files] == ["frames/x.parquet"]
    with pytest.raises(KeyError, match=r"no part 'large'; there are mini, frames"):
        hub.fetch(parts=("large",))


def test_a_changed_file_is_found_and_fetched_anew_though_the_client_thinks_it_has_it(hub):
    hub.fetch()
    (hub.folder / "mini/val-00000.parquet").write_bytes(b"smalL")
    assert [row.state for row in hub.verify().rows] == ["ok", "changed"]
    assert [f.action for f in hub.fetch().files] == ["kept", "replaced"]
    assert hub.verify().ok


@pytest.mark.parametrize("name", ["mini/train-00000.parquet", "mini/val-00000.parquet"])
def test_a_file_that_differs_from_the_hubs_record_is_refused_and_removed(hub, name):
    hub.commit(COMMIT, FILES, claims={name: b"what it should be"})
    hub.newest(COMMIT)
    with pytest.raises(ValueError, match=rf"{name}: expected (sha256|git) .* \(by the record\), got"):
        hub.fetch()
    assert not (hub.folder / name).exists()


def test_a_file_that_differs_from_the_manifest_is_refused(hub):
    files = f', checksums_from: authors, files: [{{path: mini/val-00000.parquet, sha256: "{sha(b"other")}"}}]'
    hub.manifest(files)
    with pytest.raises(ValueError, match=rf"expected sha256 {sha(b'other')} \(by the manifest\)"):
        hub.fetch()


def test_a_broken_transfer_is_tried_again_by_the_client(hub):
    name = f"/huggingface.co/datasets/{REPO}/resolve/{COMMIT}/mini/train-00000.parquet"
    hub.server.pages[name].cut = 100_000
    hub.fetch()
    assert (hub.folder / "mini/train-00000.parquet").read_bytes() == LARGE
    assert [(command, path) for command, path, _ in hub.server.requests].count(("GET", name)) == 2


def test_a_hub_that_does_not_know_the_data_set_is_one_clear_error(hub):
    del hub.server.pages[f"/huggingface.co/api/datasets/{REPO}"]
    with pytest.raises(RuntimeError, match=rf"{REPO} .dataset. could not be fetched from the Hugging Face hub: .*404"):
        hub.fetch()


def test_a_commit_without_the_files_is_one_clear_error(hub):
    hub.commit(COMMIT, {"README.md": b"moved"})
    hub.newest(COMMIT)
    with pytest.raises(ValueError, match=r"has no mini/\*\.parquet; see 'by hand'"):
        hub.fetch()


def test_a_name_that_leads_out_is_refused(hub, tmp_path):
    hub.manifest(", files: [{path: mini/val-00000.parquet}]")
    hub.commit(COMMIT, {**FILES, "mini/../../evil.parquet": b"evil"})
    hub.newest(COMMIT)
    hub.fetch()
    assert not (tmp_path / "evil.parquet").exists()


def test_nobodys_login_is_sent_and_the_mirror_is_used(tmp_path, monkeypatch):
    source = Source("huggingface", repo=REPO, repo_type="dataset", select=("mini/*",))
    arguments = hub_arguments(source, tmp_path, COMMIT, "http://mirror/")
    assert arguments == {
        "repo_id": REPO,
        "repo_type": "dataset",
        "revision": COMMIT,
        "local_dir": str(tmp_path),
        "endpoint": "http://mirror/huggingface.co",
        "token": False,
    }
    assert hub_arguments(source, tmp_path, COMMIT)["endpoint"] is None

"""One file over HTTP against a server that breaks in the usual ways."""

import errno
import json
import shutil

import numpy as np
import pytest
from faulty_server import Page, faulty_server

from motionbook.data.transfer import download_file

BODY = np.random.default_rng(7).bytes(300_000)
CUT = 6 << 14  # a whole number of chunks: what arrives of a chunk that breaks off is lost
QUIET = {"progress": False, "wait": 0.0, "tries": 3, "timeout": 5.0}


@pytest.fixture
def server():
    with faulty_server() as running:
        yield running


@pytest.fixture
def fetch(server, tmp_path):
    """Download /file to tmp_path/file with whatever the page does."""

    def go(page: Page, **options):
        server.pages["/file"] = page
        return download_file(server.url + "/file", tmp_path / "file", **{**QUIET, **options})

    return go


def ranges(server):
    return [asked for _, _, asked in server.requests]


def test_a_whole_file_arrives_and_leaves_nothing_else(fetch, tmp_path):
    assert fetch(Page(BODY), size=len(BODY)) is False
    assert (tmp_path / "file").read_bytes() == BODY
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_cut_connection_is_continued_where_it_broke(fetch, server, tmp_path):
    fetch(Page(BODY, cut=CUT, cuts=2))
    assert (tmp_path / "file").read_bytes() == BODY
    starts = [int(asked[6:-1] or 0) if asked else 0 for asked in ranges(server)]
    assert starts == [0, CUT, 2 * CUT]


def test_a_later_call_continues_what_an_earlier_one_kept(fetch, server, tmp_path):
    with pytest.raises(RuntimeError, match=rf"stopped 3 times in a row, {CUT:,} bytes are kept in .*file\.part"):
        # the server gives no byte more than the first 100,000: every new try ends at once
        fetch(Page(BODY[:CUT], length=300_000, ranges=False, cut=0))
    assert not (tmp_path / "file").exists()
    kept = (tmp_path / "file.part").stat().st_size
    assert kept == CUT
    assert fetch(Page(BODY)) is True
    assert ranges(server)[-1] == f"bytes={kept}-"
    assert (tmp_path / "file").read_bytes() == BODY


def test_a_changed_file_is_never_joined_to_the_old_half(fetch, tmp_path):
    with pytest.raises(RuntimeError):
        fetch(Page(BODY, cut=CUT, cuts=9, ranges=False))
    other = BODY[::-1]
    fetch(Page(other, etag='"v2"'))
    assert (tmp_path / "file").read_bytes() == other


def test_a_server_that_ignores_if_range_is_seen_through(fetch, tmp_path):
    with pytest.raises(RuntimeError):
        fetch(Page(BODY, cut=CUT, cuts=9, ranges=False))
    other = BODY[::-1]
    fetch(Page(other, etag='"v2"', ignore_if_range=True))
    assert (tmp_path / "file").read_bytes() == other


@pytest.mark.parametrize("checked", [False, True])
def test_without_a_version_only_a_checksum_allows_continuing(fetch, server, tmp_path, checked):
    with pytest.raises(RuntimeError):
        fetch(Page(BODY, etag="", cut=CUT, cuts=9, ranges=False), checked=checked)
    fetch(Page(BODY, etag=""), checked=checked)
    assert ranges(server)[-1] == (f"bytes={CUT}-" if checked else "")
    assert (tmp_path / "file").read_bytes() == BODY


def test_the_part_of_another_address_is_not_used(fetch, server, tmp_path):
    (tmp_path / "file.part").write_bytes(b"x" * 50)
    (tmp_path / "file.part.json").write_text(json.dumps({"url": "http://elsewhere/file", "version": '"v1"'}))
    fetch(Page(BODY), checked=True)
    assert ranges(server) == [""]
    assert (tmp_path / "file").read_bytes() == BODY


def test_a_server_without_ranges_sends_the_whole_file_again(fetch, server, tmp_path):
    fetch(Page(BODY, ranges=False, cut=CUT))
    assert (tmp_path / "file").read_bytes() == BODY
    assert ranges(server) == ["", f"bytes={CUT}-"]


def test_the_rest_is_asked_for_only_of_the_same_version(fetch, server, tmp_path):
    fetch(Page(BODY, cut=CUT))
    assert server.conditions == ["", '"v1"']


def test_a_weak_etag_is_no_version_but_a_date_is(fetch, server, tmp_path):
    date = "Mon, 02 Nov 2026 10:00:00 GMT"
    fetch(Page(BODY, etag='W/"v1"', modified=date, cut=CUT))
    assert ranges(server) == ["", f"bytes={CUT}-"] and server.conditions == ["", date]
    assert (tmp_path / "file").read_bytes() == BODY


def test_a_transfer_that_advances_may_break_more_often_than_it_is_tried(fetch, server, tmp_path):
    fetch(Page(BODY, cut=2 << 14, cuts=8), tries=2)
    assert (tmp_path / "file").read_bytes() == BODY and len(server.requests) == 9


def test_a_part_longer_than_the_file_is_thrown_away(fetch, server, tmp_path):
    (tmp_path / "file.part").write_bytes(b"x" * 400_000)
    (tmp_path / "file.part.json").write_text(json.dumps({"url": server.url + "/file", "version": '"v1"'}))
    fetch(Page(BODY))
    assert (tmp_path / "file").read_bytes() == BODY


def test_a_part_that_was_whole_already_is_taken(fetch, server, tmp_path):
    (tmp_path / "file.part").write_bytes(BODY)
    (tmp_path / "file.part.json").write_text(json.dumps({"url": server.url + "/file", "version": '"v1"'}))
    fetch(Page(BODY))
    assert (tmp_path / "file").read_bytes() == BODY
    assert ranges(server) == ["bytes=300000-"]


@pytest.mark.parametrize("status", [500, 502, 503, 429])
def test_passing_errors_are_tried_again(fetch, server, tmp_path, status):
    fetch(Page(BODY, statuses=[status, status], headers={"Retry-After": "0"}))
    assert (tmp_path / "file").read_bytes() == BODY
    assert len(server.requests) == 3


def test_passing_errors_that_stay_are_given_up(fetch, server):
    with pytest.raises(RuntimeError, match=r"stopped 3 times in a row, 0 bytes .* 503"):
        fetch(Page(BODY, statuses=[503] * 9))
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "words"), [(404, "not there"), (403, "refuses"), (401, "login"), (410, "withdrawn")]
)
def test_final_errors_are_not_tried_again_and_say_what_to_do(fetch, server, tmp_path, status, words):
    with pytest.raises(RuntimeError, match=f"{status}.*{words}"):
        fetch(Page(BODY, statuses=[status] * 9))
    assert len(server.requests) == 1
    assert list(tmp_path.iterdir()) == []


def test_redirects_are_followed(fetch, server, tmp_path):
    server.pages["/real"] = Page(BODY)
    fetch(Page(redirect="/real"))
    assert (tmp_path / "file").read_bytes() == BODY


def test_redirects_in_a_circle_end(fetch):
    with pytest.raises(RuntimeError, match=r"in circles"):
        fetch(Page(redirect="/file"))


def test_nobody_listening_is_one_clear_error(tmp_path):
    with faulty_server() as gone:
        url = gone.url
    with pytest.raises(RuntimeError, match=r"stopped 2 times in a row.*[Rr]efused") as caught:
        download_file(url + "/file", tmp_path / "file", **{**QUIET, "tries": 2})
    assert "object at 0x" not in str(caught.value)


def test_a_web_page_in_place_of_the_file_is_refused(fetch, tmp_path):
    with pytest.raises(ValueError, match=r"web page came in place of the file"):
        fetch(Page(b"<!DOCTYPE html><html>sign in</html>", type="text/html; charset=utf-8"))
    with pytest.raises(ValueError, match=r"web page came in place of the file"):
        fetch(Page(b"please sign in", type="text/html"))
    with pytest.raises(ValueError, match=r"web page came in place of the file"):
        fetch(Page(b"\n <HTML><body>quota</body></html>"))
    assert not (tmp_path / "file").exists()


def test_a_git_lfs_pointer_in_place_of_the_file_is_refused(fetch):
    with pytest.raises(ValueError, match=r"Git LFS pointer"):
        fetch(Page(b"version https://git-lfs.github.com/spec/v1\noid sha256:ea91\nsize 144051503\n"))


def test_a_length_other_than_the_known_one_is_refused_before_anything_is_read(fetch, tmp_path):
    with pytest.raises(ValueError, match=r"expected 1,000 bytes, the server announces 300,000"):
        fetch(Page(BODY), size=1000)
    assert not (tmp_path / "file").exists()


def test_a_length_announced_too_long_is_a_cut_connection(fetch, tmp_path):
    with pytest.raises(RuntimeError, match=r"stopped 3 times in a row"):
        fetch(Page(BODY, length=400_000, ranges=False))
    assert not (tmp_path / "file").exists()


def test_a_length_announced_too_short_is_found_when_the_size_is_known(fetch, tmp_path):
    with pytest.raises(ValueError, match=r"expected 300,000 bytes, the server announces 200,000"):
        fetch(Page(BODY, length=200_000), size=300_000)
    assert not (tmp_path / "file").exists()


def test_a_full_disk_is_found_before_the_transfer(fetch, monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 5, 1000))
    with pytest.raises(OSError, match=r"300,000 bytes are to come and 1,000 are free") as caught:
        fetch(Page(BODY))
    assert caught.value.errno == errno.ENOSPC
    assert not (tmp_path / "file").exists()


def test_an_old_file_stays_until_the_new_one_is_whole(fetch, tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(RuntimeError):
        fetch(Page(BODY, cut=10, cuts=99, ranges=False))
    assert (tmp_path / "file").read_bytes() == b"old"


def test_progress_counts_every_byte_once(server, tmp_path, monkeypatch):
    import tqdm

    bars = []

    class Watched(tqdm.tqdm):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            bars.append(self)

    monkeypatch.setattr(tqdm, "tqdm", Watched)
    server.pages["/file"] = Page(BODY, cut=CUT)
    download_file(server.url + "/file", tmp_path / "file", wait=0.0)
    assert [(bar.n, bar.total, bar.desc) for bar in bars] == [(len(BODY), len(BODY), "file")]

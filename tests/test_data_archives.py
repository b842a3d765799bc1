"""Archives that try to write elsewhere, or everything at once, are refused and leave nothing behind."""

import io
import os
import stat
import struct
import tarfile
import zipfile

import pytest

from motionbook.data.archives import unpack

GOOD = {"freemocap/idle/00_idle.bvh": b"HIERARCHY\n" * 50, "lafan/idle/00_idle.bvh": b"MOTION\n", "leer/ä b.txt": b""}


def make_zip(path, members, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def make_tar(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as file:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return path


def tree(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def target(tmp_path):
    folder = tmp_path / "deep" / "target"
    folder.mkdir(parents=True)
    (folder / "mine.txt").write_text("stays")
    return folder


@pytest.fixture
def refused(tmp_path, target):
    """Unpack and expect a refusal that names archive and member and changes nothing anywhere."""

    def go(archive, words, **limits):
        before = tree(tmp_path)
        with pytest.raises(ValueError, match=words) as caught:
            unpack(archive, target, **limits)
        assert str(archive) in str(caught.value)
        assert tree(tmp_path) == before
        assert [p.name for p in target.iterdir()] == ["mine.txt"], "no empty folders or scratch folders stay"

    return go


@pytest.mark.parametrize(
    ("maker", "name", "options"),
    [
        (make_zip, "a.zip", {}),
        (make_zip, "stored.zip", {"compression": zipfile.ZIP_STORED}),
        (make_tar, "a.tar.gz", {}),
        (make_tar, "a.tar", {"mode": "w"}),
        (make_tar, "a.tar.xz", {"mode": "w:xz"}),
        (make_tar, "a.tar.bz2", {"mode": "w:bz2"}),
    ],
)
def test_good_archives_are_unpacked(tmp_path, target, maker, name, options):
    names = unpack(maker(tmp_path / name, GOOD, **options), target)
    assert names == sorted(GOOD)
    assert tree(target) == {**GOOD, "mine.txt": b"stays"}


def test_an_existing_file_is_replaced_and_others_stay(tmp_path, target):
    (target / "freemocap" / "idle").mkdir(parents=True)
    (target / "freemocap" / "idle" / "00_idle.bvh").write_bytes(b"old")
    (target / "freemocap" / "idle" / "notes.txt").write_bytes(b"mine")
    unpack(make_zip(tmp_path / "a.zip", GOOD), target)
    assert tree(target) == {**GOOD, "mine.txt": b"stays", "freemocap/idle/notes.txt": b"mine"}


def test_a_tar_that_ends_in_a_zip_is_a_tar(tmp_path, target):
    inner = make_zip(tmp_path / "inner.zip", {"wrong.txt": b"wrong"}).read_bytes()
    unpack(make_tar(tmp_path / "a.tar", {"inner.zip": inner}, mode="w"), target)
    assert set(tree(target)) == {"inner.zip", "mine.txt"}


@pytest.mark.parametrize(
    "name",
    ["../evil.txt", "a/../../evil.txt", "/etc/evil.txt", "..\\evil.txt", "C:\\evil.txt", "\\\\host\\evil.txt", ".."],
)
@pytest.mark.parametrize(("maker", "ending"), [(make_zip, "zip"), (make_tar, "tar.gz")])
def test_paths_that_lead_out_are_refused(tmp_path, refused, maker, ending, name):
    refused(maker(tmp_path / f"a.{ending}", {"good.txt": b"good", name: b"evil"}), "leads out of the target folder")


def test_symbolic_links_in_a_zip_are_refused(tmp_path, refused):
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("good.txt", "good")
        link = zipfile.ZipInfo("link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(link, "/etc")
        file.writestr("link/evil.txt", "evil")
    refused(archive, "link: is a symbolic link")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (tarfile.SYMTYPE, "symbolic link"),
        (tarfile.LNKTYPE, "hard link"),
        (tarfile.CHRTYPE, "device"),
        (tarfile.BLKTYPE, "device"),
        (tarfile.FIFOTYPE, "special file"),
    ],
)
def test_links_and_devices_in_a_tar_are_refused(tmp_path, refused, kind, words):
    archive = tmp_path / "a.tar"
    with tarfile.open(archive, "w") as file:
        file.addfile(tarfile.TarInfo("good.txt"), io.BytesIO())
        odd = tarfile.TarInfo("odd")
        odd.type, odd.linkname = kind, "/etc/passwd"
        file.addfile(odd)
    refused(archive, f"odd: is a .*{words}")


def test_a_link_of_the_readers_own_that_leads_out_is_not_followed(tmp_path, target):
    outside = tmp_path / "outside"
    outside.mkdir()
    os.symlink(outside, target / "freemocap")
    with pytest.raises(ValueError, match=r"a link in .* leads out of it"):
        unpack(make_zip(tmp_path / "a.zip", {"freemocap/x.bvh": b"x"}), target)
    assert list(outside.iterdir()) == []


def test_a_bomb_is_refused_by_its_table_of_contents(tmp_path, refused):
    archive = make_zip(tmp_path / "bomb.zip", {"zeros": bytes(20_000_000)})
    assert archive.stat().st_size < 50_000
    refused(archive, "unpacks to 20,000,000 bytes, over the limit of 1,000,000", max_bytes=1_000_000)
    tar = make_tar(tmp_path / "bomb.tar.xz", {"zeros": bytes(20_000_000)}, mode="w:xz")
    refused(tar, "over the limit", max_bytes=1_000_000)


def test_a_bomb_that_lies_about_its_size_is_stopped_while_writing(tmp_path, refused):
    archive = make_zip(tmp_path / "liar.zip", {"zeros": bytes(5_000_000)})
    content = bytearray(archive.read_bytes())
    true, said = struct.pack("<L", 5_000_000), struct.pack("<L", 100)
    assert content.count(true) == 2  # the member's own head and the table of contents
    archive.write_bytes(bytes(content.replace(true, said)))
    refused(archive, "damaged archive|more than it declares", max_bytes=1_000_000)


def test_too_many_members_are_refused(tmp_path, refused):
    many = {f"{i}.txt": b"" for i in range(101)}
    refused(make_zip(tmp_path / "a.zip", many), "more than 100 members", max_files=100)
    refused(make_tar(tmp_path / "a.tar", many, mode="w"), "more than 100 members", max_files=100)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_one_name_twice_is_refused_also_when_only_the_case_differs(tmp_path, refused):
    refused(make_zip(tmp_path / "a.zip", {"Idle/A.bvh": b"1", "idle/a.bvh": b"2"}), "two members with one name")
    archive = tmp_path / "b.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a.bvh", "1")
        file.writestr("./a.bvh", "2")
    refused(archive, "two members with one name")
    refused(make_tar(tmp_path / "a.tar", {"a": b"1", "a/b": b"2"}, mode="w"), "both a file and a folder")


@pytest.mark.parametrize("keep", [0.3, 0.9])
def test_half_an_archive_is_one_clear_error(tmp_path, refused, keep):
    noise = {f"{i}": os.urandom(40_000) for i in range(5)}
    for archive in (make_zip(tmp_path / "a.zip", noise), make_tar(tmp_path / "a.tar.gz", noise)):
        archive.write_bytes(archive.read_bytes()[: int(archive.stat().st_size * keep)])
        refused(archive, "damaged archive|neither")


def test_damage_inside_is_found(tmp_path, refused):
    archive = make_zip(tmp_path / "a.zip", {"a": os.urandom(40_000)}, compression=zipfile.ZIP_STORED)
    content = bytearray(archive.read_bytes())
    content[20_000] ^= 1
    archive.write_bytes(bytes(content))
    refused(archive, "damaged archive: .*CRC")


def test_an_encrypted_member_is_one_clear_error(tmp_path, refused):
    archive = make_zip(tmp_path / "a.zip", {"a": b"secret"})
    content = bytearray(archive.read_bytes())
    content[6] |= 1  # the flag in the member's own head
    content[content.index(b"PK\x01\x02") + 8] |= 1  # and in the table of contents
    archive.write_bytes(bytes(content))
    refused(archive, "a: is encrypted")


def test_what_is_no_archive_is_said_to_be_none(tmp_path, refused):
    (tmp_path / "a.zip").write_bytes(b"<html>sign in</html>")
    refused(tmp_path / "a.zip", "expected a zip or tar archive")


def test_finder_clutter_is_left_out(tmp_path, target):
    unpack(make_zip(tmp_path / "a.zip", {"a.bvh": b"1", "__MACOSX/._a.bvh": b"2", "x/.DS_Store": b"3"}), target)
    assert set(tree(target)) == {"a.bvh", "mine.txt"}

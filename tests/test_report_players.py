"""The motion player: what stands in the page is the motion, and the page's script is not a way in for a label."""

import json
import re

import numpy as np
import pytest
from book_fixture import waving_clip

from motionbook import Clip, forward_kinematics
from motionbook import rotations as rot
from motionbook.report import players, web
from motionbook.report.players import clips_of, player
from motionbook.skeletons import FREEMOCAP, LAFAN1


@pytest.fixture
def static(monkeypatch):
    monkeypatch.setenv("MOTIONBOOK_STATIC", "1")


def moving_clip(skeleton, frames=7, seed=3, translations=False):
    rng = np.random.default_rng(seed)
    moved = skeleton.offsets + 0.01 * rng.standard_normal((frames, len(skeleton), 3)) if translations else None
    turns = rot.from_rotation_vector(0.4 * rng.standard_normal((frames, len(skeleton), 3)))
    return Clip(skeleton, rng.standard_normal((frames, 3)), turns, 30.0, moved)


@pytest.mark.parametrize(("skeleton", "translations"), [(LAFAN1, False), (FREEMOCAP, True)])
def test_page_holds_the_same_poses(static, skeleton, translations):
    """Fault seen: root and first joint's translation swapped, rotations packed as xyzw."""
    clips = [("GT", moving_clip(skeleton, translations=translations)), ("other", moving_clip(skeleton, seed=4))]
    page = player(clips).to_html()
    for (label, clip), (label_back, back) in zip(clips, clips_of(page), strict=True):
        assert label_back == label and back.fps == clip.fps and back.skeleton.names == clip.skeleton.names
        expected, found = forward_kinematics(clip), forward_kinematics(back)
        np.testing.assert_allclose(found.positions, expected.positions, atol=2e-6)
        assert rot.angle_between(found.rotations, expected.rotations).max() < 1e-5


def test_equal_clips_give_equal_bytes(static):
    one = player([("GT", waving_clip())], caption="A.")
    again = player([("GT", waving_clip())], caption="A.")
    assert one.to_html() == again.to_html()
    other = player([("GT", waving_clip(phase=0.001))], caption="A.")
    identity = re.compile(r'id="(skel-[0-9a-f-]+)"')
    assert identity.search(one.to_html()).group(1) != identity.search(other.to_html()).group(1)


def test_labels_and_captions_cannot_leave_their_place(static):
    nasty = '</script><img src=x onerror="alert(1)">'
    page = player([(nasty, waving_clip(5))], caption=nasty).to_html()
    assert page.count("</script>") == 1 and "<img src=x" not in page
    assert clips_of(page)[0][0] == nasty


def test_step_keeps_the_duration(static):
    clip = waving_clip(41)
    ((_, back),) = clips_of(player([("GT", clip)], step=4).to_html())
    assert len(back) == 11 and back.fps == 7.5
    np.testing.assert_allclose(back.root_positions, clip.root_positions[::4], atol=1e-6)


def test_notebook_gets_a_frame_with_the_script(tmp_path, monkeypatch):
    monkeypatch.delenv("MOTIONBOOK_STATIC", raising=False)
    script = tmp_path / "skelplayer.js"
    script.write_text('console.log("</script>")')
    monkeypatch.setattr(web, "bundle_places", lambda: [tmp_path / "none.js", script])
    shown = player([("GT", waving_clip(5))], caption="A & B")._repr_mimebundle_()
    assert shown["text/html"].startswith("<iframe") and "&lt;\\/script&gt;" in shown["text/html"]
    assert shown["text/html"].count("</script>") == 0  # all of the page is escaped in the attribute
    assert shown["text/html"].endswith("<p>A &amp; B</p>")


def test_without_the_script_a_notebook_shows_the_picture_and_says_how_to_get_more(monkeypatch):
    monkeypatch.delenv("MOTIONBOOK_STATIC", raising=False)
    monkeypatch.setattr(web, "bundle_places", list)
    shown = player([("GT", waving_clip(5))])._repr_mimebundle_()
    assert "python -m motionbook.report.web" in shown["text/html"] and "skel-poster" in shown["text/html"]
    assert shown["image/png"].startswith("iVBOR")


def test_in_the_book_nothing_is_said_about_scripts(static):
    assert "motionbook.report.web" not in player([("GT", waving_clip(5))])._repr_mimebundle_()["text/html"]


def test_people_are_turned_to_the_front(static):
    """A clip that faces +X is shown from its front: its hips' left is the stage's +X after the turn."""
    clip = waving_clip(3)
    quarter = rot.from_axis_angle([0.0, 1.0, 0.0], np.pi / 2)
    turned = clip.rotations.copy()
    turned[:, 0] = rot.multiply(quarter, turned[:, 0])
    aside = Clip(clip.skeleton, clip.root_positions, turned, clip.fps)
    entries = player([("a", clip), ("b", aside)]).data["clips"]
    assert entries[0]["turn"] == pytest.approx(0.0, abs=1e-3) and entries[1]["turn"] == pytest.approx(
        np.pi / 2, abs=1e-3
    )


def test_noise_in_the_first_frame_turns_nobody(static):
    clip = waving_clip(3)
    noisy = clip.rotations.copy()
    noisy[0, 0] = rot.multiply(rot.from_axis_angle([0.0, 1.0, 0.0], 0.2), noisy[0, 0])
    entries = player([("GT", clip), ("NOISE", Clip(clip.skeleton, clip.root_positions, noisy, clip.fps))]).data["clips"]
    assert entries[0]["turn"] == entries[1]["turn"]


def test_marked_frames_keep_their_time(static):
    """Frames are counted before step is taken; a frame that is not there is refused."""
    clip = waving_clip(41)
    marked = player([("GT", clip)], marks=[9, 30, 9], step=3)
    assert marked.data["marks"] == {"label": "key pose", "seconds": [0.3, 1.0]}
    assert "marks" not in player([("GT", clip)]).data
    with pytest.raises(ValueError, match="marks: expected frames 0 to 40, got 9 to 41"):
        player([("GT", clip)], marks=[9, 41])


@pytest.mark.parametrize(
    ("clips", "step", "message"),
    [([], 1, "at least one"), ([("a", "b.bvh")], 1, "not a Clip"), ([("a", waving_clip(3))], 0, "step")],
)
def test_wrong_calls_are_refused(clips, step, message):
    with pytest.raises(ValueError, match=message):
        player(clips, step=step)


def test_body_moves_with_the_joints(static):
    entry = player([("GT", waving_clip(3))]).data["clips"][0]
    joints = {cone[0] for cone in entry["cones"]}
    assert {LAFAN1.index(name) for name in ("LeftForeArm", "RightLeg", "Head", "LeftHand", "RightToe")} <= joints
    assert all(len(cone) == 9 and min(cone[-2:]) > 0 for cone in entry["cones"])
    json.dumps(entry, allow_nan=False)


def test_live_scene_has_every_joint_and_track(recwarn):
    pythreejs = pytest.importorskip("pythreejs")
    box = players.live_scene(waving_clip(4))
    view, action = box.children
    assert isinstance(view, pythreejs.Renderer)
    assert len(action.clip.tracks) == len(LAFAN1) + 1
    box.close()

"""Prompts, performances, the files of the data set, and the clips of systems as stick figures."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from motionbook.bvh import write_bvh
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics, local_rotations
from motionbook.skeletons import CSKEL27, LAFAN1, t_pose
from motionbook.stickfigures import building, dataset, stress, systems
from motionbook.stickfigures.palette_check import check_frame, palette_table
from motionbook.stickfigures.parameters import VIEWS
from motionbook.synthesis.prompt_files import write_motion, write_prompt_motions
from motionbook.synthesis.prompt_motions import PERFORMANCES, perform
from motionbook.synthesis.prompts import GROUPS, find_prompt, listed_prompts, released_prompts, slug

WALK = "A person walks in a circle."


def test_prompt_counts_are_the_published_ones():
    listed = Counter(prompt.group for prompt in listed_prompts())
    assert listed == {"dance": 34, "gesture": 30, "locomotion": 21, "transitions": 15, "idle": 10, "sport": 33}
    released = Counter(prompt.group for prompt in released_prompts())
    assert released == {"dance": 33, "gesture": 29, "locomotion": 21, "transitions": 13, "idle": 10, "sport": 28}
    assert len(listed_prompts()) == 143 and len(released_prompts()) == 134
    assert len({prompt.slug for prompt in listed_prompts()}) == 143 and set(listed) == set(GROUPS)


def test_slugs_are_the_published_file_names():
    assert slug(WALK) == "a_person_walks_in_a_circle"
    long = "A person dances energetically, waving arms and stepping side to side."
    assert slug(long) == "a_person_dances_energetically_waving_arms_and_stepping_side_" and len(slug(long)) == 60
    assert find_prompt(long).group == "dance" and find_prompt("A person moonwalks.") is None


def test_every_group_has_two_performances():
    assert Counter(find_prompt(text).group for text in PERFORMANCES) == dict.fromkeys(GROUPS, 2)
    assert not any(find_prompt(text).excluded for text in PERFORMANCES)


@pytest.mark.parametrize("text", PERFORMANCES)
def test_performances_are_bodies_on_a_floor(text):
    clips = [perform(text, seed) for seed in (0, 1)]
    places = [forward_kinematics(clip).positions for clip in clips]
    for clip, place in zip(clips, places, strict=True):
        assert (len(clip), clip.fps) == (120, 20.0)
        assert -0.02 < place[..., 1].min() < 0.06 and place[..., 1].max() < 2.4
        assert np.linalg.norm(np.diff(place, axis=0), axis=-1).max() * clip.fps < 8.0  # m/s; no joint jumps
    assert np.abs(places[0] - places[1]).max() > 0.01  # seeds differ
    np.testing.assert_array_equal(places[0], forward_kinematics(perform(text, 0)).positions)


def test_planted_feet_stay_put():
    for text in (
        "A person does squats.",
        "A person waves hello with the right hand.",
        "A person sits down on a chair.",
    ):
        feet = forward_kinematics(perform(text, 3)).positions[:, [CSKEL27.index(s + "Foot") for s in ("Left", "Right")]]
        assert np.linalg.norm(feet - feet[0], axis=-1).max() < 1e-3, text


def test_circle_closes_and_turn_is_half_a_circle():
    turned = dataset.prepare(dataset.motion_of_clip(perform("A person turns around 180 degrees.", 0), "x/y", ""))
    headings = np.unwrap(np.arctan2(*turned.figure.root_headings.T[::-1]))
    assert abs(headings[-1] - headings[0]) == pytest.approx(np.pi, abs=0.02)


def test_motions_survive_the_published_file_format(tmp_path):
    paths = write_prompt_motions(tmp_path, (find_prompt(WALK),), (0, 9))
    assert [p.relative_to(tmp_path).as_posix() for p in paths] == [
        f"locomotion/a_person_walks_in_a_circle_s{seed}.npz" for seed in (0, 9)
    ]
    assert dataset.find_motions(tmp_path) == sorted(paths)
    motion = dataset.read_motion(paths[1])
    assert (motion.clip_id, motion.group, motion.seed) == ("locomotion/a_person_walks_in_a_circle_s9", "locomotion", 9)
    assert (motion.text, motion.fps, dataset.split_of(motion.seed)) == (WALK, 20.0, "test")
    truth = forward_kinematics(perform(WALK, 9)).positions
    np.testing.assert_allclose(motion.positions, truth, atol=1e-6)
    first = paths[1].read_bytes()
    write_prompt_motions(tmp_path, (find_prompt(WALK),), (9,))
    assert paths[1].read_bytes() == first


def test_written_motions_have_the_keys_and_meanings_of_published_ones(tmp_path, shared_data):
    published = np.load(shared_data / "stickfigures" / "motions" / "walks_in_a_circle.npz")
    ours = np.load(write_motion(tmp_path / "a_s0.npz", perform(WALK, 0), WALK))
    assert set(ours.files) == set(published.files)
    for key in ours.files:
        if key != "text":
            assert (ours[key].shape, ours[key].dtype) == (published[key].shape, published[key].dtype), key
    for stored in (ours, published):
        # heading is (forward z, forward x) of the hips, and contact flags sit on feet that rest, left before right
        forward = stored["global_rot_mats"][:, 0, :, 2]
        angle = np.arctan2(forward[:, 0], forward[:, 2])
        stated = np.arctan2(stored["global_root_heading"][:, 1], stored["global_root_heading"][:, 0])
        assert np.abs((angle - stated + np.pi) % (2 * np.pi) - np.pi).max() < 0.1
        for column, joint in ((0, "LeftFoot"), (2, "RightFoot")):
            place = stored["posed_joints"][:, CSKEL27.index(joint)].astype(float)
            speed = np.linalg.norm(np.gradient(place, 0.05, axis=0), axis=-1)
            on = stored["foot_contacts"][:, column]
            assert 0.1 < on.mean() < 0.9 and speed[on].mean() < 0.2 * speed[~on].mean()


def test_quality_flags_agree_with_the_reference_rule(shared_data):
    expected = {  # flag and mean joint speed in m/s
        "a_person_stands_and_looks_around_s0": ("frozen", 0.0198),
        "dance00": ("", 0.694),
        "does_jumping_jacks": ("", 0.352),
        "walks_in_a_circle": ("", 0.895),
        "jumps_up_and_down_with_arms_rai": ("", 0.403),
    }
    for name, (flags, speed) in expected.items():
        motion = dataset.read_motion(shared_data / "stickfigures" / "motions" / f"{name}.npz")
        prepared = dataset.prepare(motion)
        assert prepared.flags == flags, name
        digits = 4 if speed < 0.1 else 3
        assert round(dataset.mean_joint_speed(prepared.figure.joints, 20.0), digits) == speed, name


def test_a_jump_above_the_limit_is_flagged_levitation():
    clip = perform("A person does squats.", 0)
    lifted = clip.root_positions + np.linspace(0, 0.8, 120)[:, None] * [0, 1, 0]
    motion = dataset.motion_of_clip(Clip(CSKEL27, lifted, clip.rotations, 20.0), "sport/x", "")
    assert dataset.quality_flags(motion) == "levitation"


def test_splits_are_disjoint_by_seed():
    assert [dataset.split_of(seed) for seed in (0, 7, 8, 9, 10, None)] == ["train", "train", "val", "test", "", ""]
    base = dataset.motion_of_clip(perform(WALK, 0), "locomotion/a", "a")
    motions = [replace(base, seed=seed, text=text) for text in "abcd" for seed in range(10)]
    table = dataset.split_table(motions, views=3, frames=120)
    # the published table for four prompts instead of 134
    assert table.loc["Train"].tolist() == [4, 32, 96, 11_520] and table.loc["Validation"].tolist() == [4, 4, 12, 1_440]
    assert table.loc["All"].tolist() == [4, 40, 120, 14_400]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stickfigures")
    sources = building.source_motions("", folder / "motions", prompts=2, seeds=(0, 9), limit=4)
    return folder, sources, building.build(sources.motions, folder / "frames", frames=64, size=64)


def test_built_clips_are_written_with_labels_that_fit_the_frames(built):
    folder, sources, result = built
    assert len(result.clips) == VIEWS * len(sources.motions) == 12 and not sources.given
    row = result.clips.iloc[4]
    stored = np.load(folder / "frames" / row.path)
    assert str(stored["clip_id"]) == row.clip_id and str(stored["split"]) == row.split
    assert stored["color"].shape == (64, 64, 64, 4) and stored["seg"].shape == (64, 64, 64)
    # projected joints of a visible forearm lie on pixels of its colour or next to them
    elbow, wrist = (CSKEL27.index(name) for name in ("LeftForeArm", "LeftHand"))
    middle = (stored["joint_xy"][:, elbow] + stored["joint_xy"][:, wrist]) / 2 * 64
    for frame in range(0, 64, 9):
        x, y = middle[frame].astype(int)
        near = stored["seg"][frame, y - 1 : y + 2, x - 1 : x + 2]
        assert (near > 0).any(), frame


def test_building_twice_gives_the_same_bytes(built):
    folder, sources, _ = built
    again = building.build(sources.motions[:1], folder / "again", frames=64, size=64)
    for name in again.clips.path:
        assert (folder / "again" / name).read_bytes() == (folder / "frames" / name).read_bytes()


def test_a_readers_motions_replace_the_performances(built, tmp_path):
    folder, _, _ = built
    given = building.source_motions(str(folder / "motions"), tmp_path, prompts=2, seeds=(0,), limit=3)
    assert given.given and len(given.motions) == 3 and given.label.startswith("3 of 4 source motions of the reader")
    (tmp_path / "walk.bvh").write_text("HIERARCHY\n")
    assert not building.source_motions(str(tmp_path), tmp_path / "m", prompts=1, seeds=(0,), limit=3).given


def test_held_out_motions_are_those_of_seeds_8_and_9(built):
    _, sources, _ = built
    assert [clip.motion.seed for clip in stress.held_out(sources.motions, seed=0)] == [9, 9]
    train = [motion for motion in sources.motions if motion.seed == 0]
    assert len(stress.held_out(train, seed=0)) == len(train)


def test_palette_counts_of_a_frame_known_by_hand():
    color, seg = np.zeros((4, 4, 4), np.uint8), np.zeros((4, 4), np.uint8)
    left, right = CSKEL27.index("LeftForeArm") + 1, CSKEL27.index("RightForeArm") + 1
    color[0], seg[0] = (232, 64, 48, 255), left  # four right
    color[1], seg[1] = (40, 110, 230, 255), right
    color[1, 0, :3] = (232, 64, 48)  # one of the right arm has the left arm's colour
    color[2, :2], seg[2, :2] = (120, 0, 120, 255), left  # two without a palette colour
    color[3, :1], seg[3, :2] = (232, 64, 48, 90), left  # two outside the gate
    table = palette_table(check_frame(color, seg)).value
    assert table["foreground assigned"] == pytest.approx(80) and table["accuracy among assigned"] == pytest.approx(87.5)
    assert table["segmentation outside the alpha gate"] == pytest.approx(100 * 2 / 12)
    # left arm: 4 right of 4 + 1 + 2; right arm: 3 right of 4; the other seven classes are empty
    assert table["macro IoU"] == pytest.approx(100 * (4 / 7 + 3 / 4) / 9)


def test_systems_share_body_and_camera_and_differ_in_motion(tmp_path):
    frames = 110
    pose = local_rotations(LAFAN1.parents, np.repeat(t_pose(LAFAN1)[None], frames, axis=0))
    root = np.repeat([[0.0, 0.95, 0.0]], frames, axis=0)
    still = Clip(LAFAN1, root, pose, 30.0)
    shaken = pose + np.random.default_rng(0).normal(0, 0.05, pose.shape)
    moving = Clip(LAFAN1, root, shaken / np.linalg.norm(shaken, axis=-1, keepdims=True), 30.0)
    for system, clip in (("NOISE", moving), ("GT", still), ("SLERP", still)):
        write_bvh(clip, tmp_path / "clips" / system / "00_idle.bvh")
    table = systems.measure(tmp_path)
    assert table.system.tolist() == ["GT", "SLERP", "NOISE"] and (table["clip"] == "00_idle").all()
    scores = table.set_index("system")
    assert scores.centroid_speed["GT"] == scores.angle_jerk["GT"] == 0 and scores.angle_jerk["NOISE"] > 0.05
    assert scores.loc["GT"].equals(scores.loc["SLERP"])
    with pytest.raises(ValueError, match="at least 64 frames"):
        systems.draw_clip(write_bvh(still[:90], tmp_path / "short.bvh"))

"""The renderer against the published reference frames, and against shapes with known pictures."""

import math

import numpy as np
import pytest

from motionbook.skeletons import CSKEL27
from motionbook.stickfigures import Body, View, clip_parameters, figure_motion, render, scale_bones
from motionbook.stickfigures.camera import project
from motionbook.stickfigures.figure import PALETTE, PARTS, select
from motionbook.stickfigures.renderer import halve, quantise_depth, visible_joints

# Drawn with CPython's random by the authors' builder: pixels per metre, stroke, yaw and pitch in degrees, centres.
PARAMETERS = {
    "dance/dance00": (
        (55.07, 4.0),
        (-90.295108, 183.342215, -130.223992),
        (-0.895416, 1.865378, 4.909402),
        ((63.958269, 65.674491), (65.822008, 64.403985), (66.659607, 66.144220)),
    ),
    "sport/does_jumping_jacks": (
        (53.82, 3.5),
        (-150.065790, 95.481304, 96.662165),
        (-0.420784, 8.874159, 3.715134),
        ((62.440642, 68.949141), (66.912488, 65.633045), (66.572306, 66.057613)),
    ),
    "locomotion/walks_in_a_circle": (
        (52.79, 3.0),
        (90.123182, 3.529558, 44.629644),
        (0.553706, 9.360717, 3.778937),
        ((65.856866, 63.710928), (62.607538, 64.869655), (66.113816, 63.762951)),
    ),
    "idle/a_person_stands_and_looks_around_s0": (
        (57.62, 3.0),
        (45.462072, -86.323908, -48.804211),
        (2.447619, -2.740222, -1.503792),
        ((66.892220, 63.095838), (62.451242, 66.743420), (62.739186, 68.441627)),
    ),
    "dance/a_person_does_the_twist_s8": (
        (50.55, 4.5),
        (-25.184412, 154.670195, 46.396166),
        (1.745566, 8.354108, 1.541216),
        ((62.411260, 67.164582), (66.694982, 68.340408), (65.601144, 66.202543)),
    ),
}
GOLDEN = {"dance/dance00": "dance__dance00_c0", "sport/does_jumping_jacks": "sport__does_jumping_jacks_c0"}


@pytest.fixture(scope="module", params=GOLDEN)
def reference(request, shared_data):
    """(clip id, source motion, reference arrays) of a clip rendered by the authors' code."""
    folder = shared_data / "stickfigures"
    motion = np.load(folder / "motions" / f"{request.param.split('/')[1]}.npz")
    return request.param, motion, np.load(folder / "golden" / f"{GOLDEN[request.param]}.npz")


def prepared(clip_id, motion):
    parameters = clip_parameters(clip_id)
    figure = figure_motion(motion["posed_joints"], 20.0)
    return parameters, figure, scale_bones(figure.joints, parameters.body.bone_scale)


@pytest.mark.parametrize("clip_id", PARAMETERS)
def test_parameters_equal_published_draws(clip_id):
    # seen to fail when pitch is drawn before yaw
    (px_per_m, stroke), yaws, pitches, centres = PARAMETERS[clip_id]
    parameters = clip_parameters(clip_id)
    assert (parameters.body.px_per_m, parameters.body.stroke) == (px_per_m, stroke)
    assert [math.degrees(v.yaw) for v in parameters.views] == pytest.approx(yaws, abs=1e-6)
    assert [math.degrees(v.pitch) for v in parameters.views] == pytest.approx(pitches, abs=1e-6)
    assert np.array([v.centre for v in parameters.views]) == pytest.approx(np.array(centres), abs=1e-6)


def test_bone_scales_equal_published_draws():
    scales = clip_parameters("dance/dance00").body.bone_scale
    left = dict(zip(("ForeArm", "Hand", "Leg", "Foot"), (0.982, 0.952, 1.05, 1.05), strict=True))
    right = dict(zip(("ForeArm", "Hand", "Leg", "Foot"), (1.046, 1.08, 0.946, 1.057), strict=True))
    trunk = {"Spine": 0.971, "Spine1": 0.988, "Spine2": 1.047, "Spine3": 0.993, "Neck": 1.025, "Head": 0.977}
    expected = {f"Left{k}": v for k, v in left.items()} | {f"Right{k}": v for k, v in right.items()} | trunk
    assert scales == expected


def test_figure_frame_scaling_and_projection_equal_reference_labels(reference):
    clip_id, motion, golden = reference
    parameters, figure, joints = prepared(clip_id, motion)
    projected = project(joints, parameters.views[0], parameters.body.px_per_m)
    for ours, name in (
        (joints, "joint_xyz"),
        (projected.points / 128, "joint_xy"),
        (projected.depths, "joint_depth"),
        (figure.root_positions, "root_pos"),
        (figure.root_velocities, "root_vel"),
    ):
        np.testing.assert_array_equal(ours.astype(np.float32), golden[name], err_msg=name)
    np.testing.assert_allclose(figure.root_headings, golden["root_heading"], atol=1e-6)


def test_colour_and_segments_are_bit_identical_to_reference(reference):
    # seen to fail with a float64 depth buffer, and with a palm a tenth narrower
    clip_id, motion, golden = reference
    parameters, _, joints = prepared(clip_id, motion)
    drawn = render(joints[::20], parameters.body, parameters.views[0], geometry=True)
    np.testing.assert_array_equal(drawn.color, golden["color"])
    np.testing.assert_array_equal(drawn.seg, golden["seg"])
    small = render(joints[::20], parameters.body, parameters.views[0], 64)
    np.testing.assert_array_equal(small.color, golden["color64"])
    np.testing.assert_array_equal(small.seg, golden["seg"][:, 1::2, 1::2])
    # float32 means of 16 samples may be summed in another order: one step of 65,536, rarely
    steps = np.abs(quantise_depth(drawn.depth).astype(int) - golden["depth"])
    assert steps.max() <= 1 and (steps > 0).mean() < 1e-4
    steps = np.abs(drawn.normal.astype(int) - golden["normal"])
    assert steps.max() <= 3 and (steps > 0).mean() < 1e-4


def test_visible_joints_equal_reference(reference):
    clip_id, motion, golden = reference
    parameters, _, joints = prepared(clip_id, motion)
    seen = visible_joints(render(joints, parameters.body, parameters.views[0]).seg)
    np.testing.assert_array_equal(seen, golden["vis"])
    unseen = [CSKEL27.index(name) for name in ("Hips", "LeftHandThumb1", "RightHandThumb1")]
    assert not seen[:, unseen].any()


def rest_pose():
    joints = np.zeros((1, 27, 3))
    for joint, parent in enumerate(CSKEL27.parents[1:], start=1):
        joints[0, joint] = joints[0, parent] + CSKEL27.offsets[joint]
    return joints


def colours_seen(color, side):
    """Palette names of full pixels in the left or right half of the picture."""
    half = color[:, :64] if side == "left" else color[:, 64:]
    opaque = half[half[..., 3] == 255][:, :3]
    return {name for name, rgb in PALETTE.items() if (opaque == rgb).all(axis=1).any()}


def test_front_view_shows_the_left_arm_on_the_right():
    color = render(rest_pose(), Body(), View(centre=(64.0, 66.0))).color[0]
    assert {"arm_L", "fore_L"} <= colours_seen(color, "right") and not {"arm_R", "fore_R"} & colours_seen(
        color, "right"
    )
    back = render(rest_pose(), Body(), View(yaw=np.pi)).color[0]
    assert {"arm_R", "fore_R"} <= colours_seen(back, "right")


def test_yaw_quarter_turn_faces_the_right_edge():
    points = project(rest_pose(), View(yaw=np.pi / 2), 54.0).points[0]
    assert points[CSKEL27.index("LeftToeBase"), 0] > points[CSKEL27.index("LeftFoot"), 0] + 5


def test_positive_pitch_looks_from_below():
    up = project(np.array([0.0, 1.0, 0.0]), View(pitch=0.1), 54.0)
    assert up.depths == pytest.approx(-np.sin(0.1))
    near = project(np.array([0.0, 0.0, 1.0]), View(pitch=0.1), 54.0)
    assert near.points[1] < 66  # nearer things move up in the picture


def test_head_is_a_sphere_of_known_area_depth_and_normals():
    body, joints = Body(px_per_m=100.0), np.zeros((1, 27, 3))
    drawn = render(joints, body, View(centre=(64.0, 64.0)), geometry=True, parts=select(["Head"]))
    radius = 0.125 * 100
    assert drawn.color[0, ..., 3].sum() / 255 == pytest.approx(np.pi * radius**2, rel=0.01)
    y, x = np.mgrid[:128, :128] + 0.5
    distance = np.hypot(x - 64, y - 64)
    inside = distance < radius - 1.5
    truth = np.sqrt(np.maximum(radius**2 - distance**2, 0)) / 100
    assert np.abs(drawn.depth[0] - truth)[inside].max() < 0.004  # mean over a pixel of a curved surface
    normal = drawn.normal[0] / 255 * 2 - 1
    expected = np.stack([x - 64, 64 - y, np.sqrt(np.maximum(radius**2 - distance**2, 0))], axis=-1) / radius
    assert np.abs(normal - expected)[inside].max() < 0.06
    assert (drawn.seg[0][drawn.color[0, ..., 3] > 0] == CSKEL27.index("Head") + 1).all()


def test_nearer_bone_hides_the_farther_one():
    joints = np.zeros((1, 27, 3))
    arm = {side: [CSKEL27.index(side + b) for b in ("Arm", "ForeArm")] for side in ("Left", "Right")}
    joints[0, arm["Left"]] = [[-0.3, 0, 0.2], [0.3, 0, 0.2]]
    joints[0, arm["Right"]] = [[0, -0.3, -0.2], [0, 0.3, -0.2]]
    parts = select(["LeftForeArm", "RightForeArm"])
    for yaw, nearest in ((0.0, "arm_L"), (np.pi, "arm_R")):
        crossing = render(joints, Body(), View(yaw=yaw, centre=(64.0, 64.0)), parts=parts).color[0, 64, 64]
        assert tuple(crossing) == (*PALETTE[nearest], 255)


def test_halving_is_the_mean_of_premultiplied_colour():
    rng = np.random.default_rng(0)
    color = rng.integers(0, 256, (2, 8, 8, 4)).astype(np.uint8)
    color[0, :4, :4] = 0
    color[1, 2, 2, 3] = 0
    small = halve(color)
    for frame, y, x in np.ndindex(2, 4, 4):
        block = color[frame, 2 * y : 2 * y + 2, 2 * x : 2 * x + 2].reshape(4, 4).astype(float)
        alpha = block[:, 3].sum() / 4
        rgb = (block[:, :3] * block[:, 3:]).sum(axis=0) / 4 / alpha if alpha > 0 else np.zeros(3)
        assert np.abs(small[frame, y, x] - [*rgb, alpha]).max() <= 0.5 + 1e-3


def test_stable_mode_does_not_depend_on_rounding_of_joints(shared_data):
    """Bones share end caps at equal depth; in the reference mode rounding decides their colour, in this one not."""
    motion = np.load(shared_data / "stickfigures" / "motions" / "dance00.npz")
    parameters, _, joints = prepared("dance/dance00", motion)
    joints = joints[::6]
    noisy = joints + np.random.default_rng(1).normal(0, 1e-8, joints.shape)
    changed = {}
    for mode in ("reference", "stable"):
        frames = [render(j, parameters.body, parameters.views[0], mode=mode).color for j in (joints, noisy)]
        changed[mode] = int((frames[0] != frames[1]).any(axis=-1).sum())
    assert changed["reference"] > 100 and changed["stable"] < changed["reference"] / 50


def test_scaled_bones_keep_directions_and_get_their_lengths():
    rng = np.random.default_rng(2)
    joints = rng.normal(size=(5, 27, 3))
    scales = {"LeftForeArm": 1.08, "LeftHand": 0.92, "Spine1": 1.05}
    scaled = scale_bones(joints, scales)
    parents = np.array(CSKEL27.parents[1:])
    old, new = (j[:, 1:] - j[:, parents] for j in (joints, scaled))
    factors = np.array([scales.get(name, 1.0) for name in CSKEL27.names[1:]])
    np.testing.assert_allclose(new, old * factors[:, None], atol=1e-12)
    np.testing.assert_array_equal(scaled[:, 0], joints[:, 0])


def test_horizontal_travel_is_removed_and_vertical_kept():
    joints = np.repeat(rest_pose(), 4, axis=0)
    travel = np.array([[0, 0, 0], [0.3, 0.1, 0.2], [0.6, 0.0, 0.4], [0.9, -0.1, 0.6]])
    moved = figure_motion(joints + travel[:, None], 20.0).joints
    np.testing.assert_allclose(moved - joints, np.repeat((travel * [0, 1, 0])[:, None], 27, axis=1), atol=1e-12)


def test_parts_are_23_bones_and_a_head():
    assert len(PARTS) == 24 and [p.joint for p in PARTS[:-1]] == sorted({p.joint for p in PARTS[:-1]})
    assert PARTS[-1].shape == "head" and sum(p.colour == "ink" for p in PARTS) == 12


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"size": 32}, "size"),
        ({"mode": "fast"}, "mode"),
        ({"size": 64, "geometry": True}, "128"),
        ({"joints": np.zeros((2, 22, 3))}, r"\(2, 22, 3\)"),
        ({"joints": np.full((1, 27, 3), np.nan)}, "finite"),
    ],
)
def test_wrong_arguments_are_refused_in_words(arguments, words):
    given = {"joints": rest_pose(), "body": Body(), "camera": View(), **arguments}
    with pytest.raises(ValueError, match=words):
        render(**given)

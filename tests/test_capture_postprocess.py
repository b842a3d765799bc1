"""Gaps, filters, bones and floor: limits hold, reasons are kept, cutoffs are what they say, nothing is invented."""

from dataclasses import replace

import numpy as np
import pytest

from motionbook import rotations as rot
from motionbook.capture import LANDMARKS, Landmarks, assemble, look_at, low_pass, semicircle, true_landmarks
from motionbook.capture.bones import LIMBS, SEGMENTS, rigid_bones, with_virtual_points
from motionbook.capture.export import read_trc
from motionbook.capture.filters import drop_islands, drop_jumps, fill_gaps, hampel, reached_cutoff
from motionbook.capture.ground import check_upright, find_contradictions, find_ground, level, turn_up
from motionbook.capture.postprocess import SETTINGS, Settings, clean, list_gaps
from motionbook.capture.triangulation import Reason
from motionbook.kinematics import forward_kinematics
from motionbook.synthesis.performers import action, idle, make_performer


@pytest.fixture(scope="module")
def truth():
    return true_landmarks(idle(make_performer(5, 1), 8.0))


def marks(positions, fps=30.0, names=None):
    names = names or tuple(f"p{i}" for i in range(positions.shape[1]))
    return Landmarks(names, positions, np.ones(positions.shape[:2]), fps)


def gain(filtered, frequency, fps):
    """Amplitude at a frequency relative to a unit sine, by projection on sine and cosine away from the ends."""
    t = np.arange(len(filtered)) / fps
    inside = slice(len(t) // 5, -len(t) // 5)
    waves = np.stack([np.sin(2 * np.pi * frequency * t), np.cos(2 * np.pi * frequency * t)], axis=1)[inside]
    return np.linalg.norm(np.linalg.lstsq(waves, filtered[inside], rcond=None)[0])


# --- filters -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nominal", "fps", "order", "reached"),
    [(7.0, 30.0, 4, 6.5), (6.0, 30.0, 2, 5.04), (6.0, 60.0, 2, 4.87)],
)
def test_what_running_twice_does_to_a_cutoff(nominal, fps, order, reached):
    """Closed form against the figures measured on the peers, and against SciPy's filter run both ways."""
    from scipy.signal import butter, filtfilt

    found = reached_cutoff(nominal, fps, order)
    assert found == pytest.approx(reached, abs=0.02 if order == 4 else 0.005)
    wave = np.sin(2 * np.pi * found * np.arange(6000) / fps)
    twice = filtfilt(*butter(order, nominal / (fps / 2)), wave)
    assert gain(twice, found, fps) == pytest.approx(np.sqrt(0.5), abs=1e-3)
    wave = np.sin(2 * np.pi * nominal * np.arange(6000) / fps)
    assert gain(filtfilt(*butter(order, nominal / (fps / 2)), wave), nominal, fps) == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("fps", [29.97, 30.0, 60.0])
@pytest.mark.parametrize("order", [2, 4])
def test_our_cutoff_is_the_one_of_the_result(fps, order):
    """Without the correction the gain at 6 Hz is 0.5: a filter of double strength."""
    for frequency in (6.0, 3.0, 9.0):
        wave = np.sin(2 * np.pi * frequency * np.arange(6000) / fps)
        out = low_pass(wave[:, None], fps, cutoff=6.0, order=order)[:, 0]
        warped = np.tan(np.pi * frequency / fps) / np.tan(np.pi * 6.0 / fps)
        # a Butterworth gain squared, with the -3 dB point put back to 6 Hz
        expected = 1.0 / (1.0 + (np.sqrt(2.0) - 1.0) * warped ** (2 * order))
        assert gain(out, frequency, fps) == pytest.approx(expected, abs=2e-3)


def test_points_cannot_be_filtered_twice(truth):
    once = clean(truth)
    assert any(step.startswith("low-pass 7 Hz") for step in once.landmarks.steps) and once.cutoff == 7.0
    with pytest.raises(ValueError, match=r"already filtered \(low-pass 7 Hz"):
        clean(once.landmarks, "pose2sim")
    again = clean(once.landmarks, Settings(cutoff=None, hampel_window=None))
    np.testing.assert_array_equal(again.landmarks.positions, once.landmarks.positions)


def test_pose2sims_settings_give_its_filtered_file(shared_data):
    """The peer's own result from its own raw points: spikes, order 2 run twice, cutoff not corrected."""
    folder = shared_data / "capture" / "pose2sim_demo"
    raw = read_trc(folder / "pose2sim_body25b_0-99.trc").landmarks
    with pytest.warns(UserWarning, match="says 100 frames, holds 99"):
        peer = read_trc(folder / "pose2sim_body25b_0-99_filt_butterworth.trc").landmarks
    ours = clean(replace(raw, positions=raw.positions[:99], confidence=raw.confidence[:99]), "pose2sim")
    apart = np.linalg.norm(ours.landmarks.positions - peer.positions, axis=-1)
    assert apart.max() < 2e-6  # both files are rounded to micrometres
    assert ours.cutoff == pytest.approx(4.87, abs=0.005)
    other = clean(replace(raw, positions=raw.positions[:99], confidence=raw.confidence[:99]), "freemocap")
    assert np.median(np.linalg.norm(other.landmarks.positions - peer.positions, axis=-1)) > 1e-3


def test_filter_works_between_gaps_and_keeps_them(truth):
    broken = truth.positions.copy()
    broken[60:150, 25] = np.nan
    shifted = broken.copy()
    shifted[150:, 25] += 5.0
    a, b = (clean(replace(truth, positions=p)).landmarks.positions for p in (broken, shifted))
    np.testing.assert_array_equal(a[:60, 25], b[:60, 25])  # what comes after a gap reaches nothing before it
    assert np.isnan(a[60:150, 25]).all() and np.isfinite(a[:, 24]).all()


def test_hampel_takes_spikes_and_leaves_motion():
    t = np.arange(200) / 30.0
    wave = np.sin(2 * np.pi * 0.5 * t)
    spiked = wave.copy()
    spiked[[40, 41, 120]] += [0.8, -0.9, 1.5]
    out, where = hampel(spiked[:, None], 7, 3.0)
    assert set(np.flatnonzero(where[:, 0])) >= {40, 41, 120}
    assert np.abs(out[:, 0] - wave).max() < 0.15 < np.abs(spiked - wave).max()
    spiked[60] = np.nan
    out, _ = hampel(spiked[:, None], 7, 3.0)
    assert np.isnan(out[60, 0]) and np.isfinite(np.delete(out[:, 0], 60)).all()
    with pytest.raises(ValueError, match="odd number"):
        hampel(wave, 6)


def test_jumps_and_islands_go_with_their_reason():
    line = np.repeat(np.linspace([0, 0, 0], [1, 1, 1], 100)[:, None], 2, axis=1)
    thrown = line.copy()
    thrown[50, 0] += [0.0, 0.06, 0.0]
    out, gone = drop_jumps(thrown, 7, 0.04)
    assert gone.sum() == 1 and gone[50, 0] and np.isnan(out[50, 0]).all()
    thrown[10:20, 1] = np.nan
    thrown[24:40, 1] = np.nan  # leaves four frames between two gaps
    out, gone = drop_islands(thrown, 30.0, 10 / 30)
    assert gone[:, 1].sum() == 4 and gone[20:24, 1].all() and not gone[:, 0].any()
    result = clean(marks(thrown), "anipose")
    assert [(g.name, g.start, g.stop, g.reason, g.filled) for g in result.gaps] == [
        ("p0", 50, 51, "jump over 0.04 m", True),
        ("p1", 10, 20, "not given", True),
        ("p1", 24, 40, "not given", False),
    ]
    np.testing.assert_allclose(result.landmarks.positions[50, 0], line[50, 0], atol=1e-9)
    (gap,) = [g for g in clean(marks(thrown), "pose2sim").gaps if g.name == "p1"]
    assert (gap.start, gap.stop, gap.filled) == (10, 40, False) and gap.reason == "not given"


# --- gaps --------------------------------------------------------------------------------------------------------


def test_no_gap_is_filled_with_a_mean():
    """Each coordinate of a filled frame lies between its own two neighbours; one mean of x, y, z does not."""
    rng = np.random.default_rng(0)
    points = np.cumsum(rng.standard_normal((200, 4, 3)), axis=0) + np.array([100.0, 0.0, -100.0])
    broken = points.copy()
    for point, start, length in ((0, 20, 5), (1, 50, 12), (2, 0, 8), (3, 190, 10), (1, 100, 13), (0, 90, 60)):
        broken[start : start + length, point] = np.nan
    for name, settings in {**SETTINGS, "cubic": Settings(gap_method="cubic")}.items():
        only_fill = replace(settings, hampel_window=None, cutoff=None, min_island_frames=None, jump_window=None)
        result = clean(marks(broken), only_fill)
        out = result.landmarks.positions
        for frame, point in np.argwhere(result.filled):
            before = np.flatnonzero(~np.isnan(broken[:frame, point, 0]))[-1]
            after = frame + np.flatnonzero(~np.isnan(broken[frame:, point, 0]))[0]
            edges = broken[[before, after], point]
            assert (out[frame, point] >= edges.min(axis=0) - 1e-9).all(), name
            assert (out[frame, point] <= edges.max(axis=0) + 1e-9).all(), name
        assert np.isnan(out[result.left]).all() and result.left[90:150, 0].all(), name
        assert result.left[:8, 2].all() and result.left[190:, 3].all(), name  # ends have one neighbour
        assert (result.landmarks.confidence[result.left] == 0).all()


def test_what_was_filled_is_as_sure_as_its_less_sure_edge():
    points = np.repeat(np.linspace([0, 0, 0], [1, 1, 1], 40)[:, None], 2, axis=1)
    sure = np.full((40, 2), 0.9)
    sure[9, 0], sure[13, 0] = 0.4, 0.7
    points[10:13, 0] = points[:5, 1] = np.nan
    result = clean(Landmarks(("a", "b"), points, sure, 30.0), Settings(hampel_window=None, cutoff=None))
    assert result.landmarks.confidence[10:13, 0].tolist() == [0.4] * 3
    assert (result.landmarks.confidence[:5, 1] == 0).all() and (result.landmarks.confidence[5:, 1] == 0.9).all()


def test_unseen_legs_stay_unseen_and_are_reported(truth):
    """A seated person: knees to toes are never seen, and no filter makes them up."""
    legs = [i for i, n in enumerate(LANDMARKS) if n.endswith(("knee", "ankle", "heel", "foot_index"))]
    seated = truth.positions.copy()
    seated[:, legs] = np.nan
    why = np.full(seated.shape[:2], int(Reason.SOLVED), dtype=np.int8)
    why[:, legs] = Reason.NOT_SEEN
    result = clean(replace(truth, positions=seated), reasons=why)
    assert np.isnan(result.landmarks.positions[:, legs]).all()
    assert {gap.name for gap in result.gaps} == {LANDMARKS[i] for i in legs}
    assert {(gap.start, gap.stop, gap.reason, gap.filled) for gap in result.gaps} == {(0, 240, "not seen", False)}
    with pytest.raises(ValueError, match=r"nothing is known of 'thigh\.L'"):
        assemble(result.landmarks)
    with pytest.warns(UserWarning, match=r"thigh\.L, shin\.L, foot\.L.* are never known and stay straight"):
        made = assemble(result.landmarks, unseen="rest")
    joint = made.clip.skeleton.index("shin.L")
    assert not made.known[:, joint].any() and made.known[:, made.clip.skeleton.index("forearm.R")].all()
    assert np.isnan(made.residual[:, joint]).all()
    assert rot.angle_between(made.clip.rotations[:, joint], rot.identity()).max() < 1e-12


def test_a_gap_keeps_why_it_was_missing():
    missing = np.zeros((60, 2), dtype=bool)
    missing[10:15, 0] = missing[30:50, 0] = missing[0:3, 1] = True
    why = np.full(missing.shape, "", dtype=object)
    why[10:15, 0] = ["few cameras"] * 3 + ["error too large"] * 2
    why[30:50, 0] = "error too large"
    filled = missing.copy()
    filled[30:50] = filled[:, 1] = False
    gaps = list_gaps(("a", "b"), missing, filled, 30.0, why)
    assert [(g.name, g.start, g.stop, g.reason, g.filled) for g in gaps] == [
        ("a", 10, 15, "few cameras", True),
        ("a", 30, 50, "error too large", False),
        ("b", 0, 3, "not given", False),
    ]
    assert gaps[0].seconds == pytest.approx(5 / 30)
    with pytest.raises(ValueError, match="reasons: expected one per frame and point"):
        list_gaps(("a", "b"), missing, filled, 30.0, why[:5])


def test_a_gap_limit_is_a_number_of_seconds(truth):
    for limit in (np.inf, np.nan, -1.0):
        with pytest.raises(ValueError, match="finite limit"):
            fill_gaps(truth.positions, 30.0, limit)
    with pytest.raises(ValueError, match="a mean or the last value is no motion"):
        fill_gaps(truth.positions, 30.0, 0.2, method="mean")
    with pytest.raises(KeyError, match="there are motionbook, pose2sim, freemocap, anipose"):
        clean(truth, "blender")


def test_gap_limits_of_the_peers():
    points = np.repeat(np.linspace([0, 0, 0], [1, 1, 1], 200)[:, None], 3, axis=1)
    for point, length in enumerate((10, 19, 20)):
        points[100 : 100 + length, point] = np.nan
    filled = {name: clean(marks(points, 60.0), name).filled.any(axis=0).tolist() for name in ("pose2sim", "freemocap")}
    assert filled == {"pose2sim": [True, True, False], "freemocap": [True, False, False]}


# --- bones -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def noisy(truth):
    rng = np.random.default_rng(1)
    return replace(truth, positions=truth.positions + 0.01 * rng.standard_normal(truth.positions.shape))


@pytest.mark.parametrize(("share", "trunk"), [(True, False), (False, False), (False, True)])
def test_rigid_bones_have_one_length(noisy, share, trunk):
    result = rigid_bones(noisy, share=share, trunk=trunk)
    before, after = with_virtual_points(noisy), with_virtual_points(result.landmarks)
    assert result.unmeasured == () and set(result.lengths) == set(SEGMENTS if trunk else LIMBS)
    for child in LIMBS:
        bone = after[child] - after[SEGMENTS[child]]
        raw = before[child] - before[SEGMENTS[child]]
        length = np.linalg.norm(bone, axis=-1)
        np.testing.assert_allclose(length, np.median(np.linalg.norm(raw, axis=-1)), atol=1e-9, err_msg=child)
        turn = np.einsum("ti,ti->t", bone, raw) / length / np.linalg.norm(raw, axis=-1)
        if not share:
            assert turn.min() > 1 - 1e-9, child  # directions are the measured ones
    assert result.landmarks.steps[-1] == "rigid bones"


def test_sharing_a_length_error_takes_noise_away_where_pushing_it_outwards_adds_some(truth, noisy):
    limbs = [LANDMARKS.index(f"{s}_{p}") for s in ("left", "right") for p in ("elbow", "wrist", "knee", "ankle")]

    def error(landmarks):
        return np.linalg.norm(landmarks.positions - truth.positions, axis=-1)[:, limbs].mean()

    shared, pushed = (error(rigid_bones(noisy, share=share).landmarks) for share in (True, False))
    assert shared < 0.9 * error(noisy) < error(noisy) < pushed
    assert np.nanmax(rigid_bones(truth).moved) < 1e-6  # what is rigid already stays


def test_a_lifted_shoulder_is_no_broken_bone():
    """Arms stretched overhead bring the shoulders nearer together; holding that distance moves them by centimetres."""
    landmarks = true_landmarks(action(make_performer(1, 0), "st_arm"))
    assert np.nanmax(rigid_bones(landmarks).moved) < 1e-6
    assert np.nanmax(rigid_bones(landmarks, share=False, trunk=True).moved) > 0.02


def test_a_segment_of_nothing_or_of_no_length_divides_by_nothing(truth):
    broken = truth.positions.copy()
    broken[:, LANDMARKS.index("left_wrist")] = np.nan  # never seen
    broken[:, LANDMARKS.index("right_heel")] = broken[:, LANDMARKS.index("right_ankle")]  # one place
    broken[10:20, LANDMARKS.index("right_knee")] = np.nan
    with pytest.warns(UserWarning, match="no frame gives a length for left_wrist, .*right_heel"):
        result = rigid_bones(replace(truth, positions=broken))
    assert set(result.unmeasured) == {"left_wrist", "left_pinky", "left_index", "left_thumb", "right_heel"}
    made_up = np.isfinite(result.landmarks.positions) & np.isnan(broken)
    assert not made_up.any()
    lost = np.isnan(result.landmarks.positions) & np.isfinite(broken)
    assert not lost.any()
    once = truth.positions.copy()
    once[5, LANDMARKS.index("left_elbow")] = once[5, LANDMARKS.index("left_wrist")]  # in one frame
    for share in (True, False):
        assert np.isfinite(rigid_bones(replace(truth, positions=once), share=share).landmarks.positions).all()


# --- floor -------------------------------------------------------------------------------------------------------


def test_up_is_turned_without_a_mirror():
    rng = np.random.default_rng(2)
    points = rng.standard_normal((50, 3))
    frame = np.eye(3)
    for up, axis in (("x", 0), ("y", 1), ("z", 2)):
        for sign, name in ((1, up), (-1, f"-{up}")):
            turned = turn_up(frame, name)
            assert np.linalg.det(turned) == pytest.approx(1.0)
            np.testing.assert_allclose(turn_up(points, name)[:, 1], sign * points[:, axis])
    np.testing.assert_allclose(turn_up([1.0, 2.0, 3.0], "z"), [2, 3, 1])  # as the peer turns its world
    with pytest.raises(ValueError, match="up: expected one of"):
        turn_up(points, "up")


def test_a_person_who_lies_because_the_board_stood_is_refused_with_the_axis(truth):
    check_upright(truth)
    lying = replace(truth, positions=truth.positions[..., [2, 0, 1]])  # Z up
    with pytest.raises(ValueError, match="0 % of the frames, expected 95 % or more; it is along z in 100 %"):
        check_upright(lying)
    check_upright(replace(lying, positions=turn_up(lying.positions, "z")))


def test_floor_of_a_walk_is_found_with_its_tilt():
    """Feet that come to rest over more than a metre, on a floor tilted by 4 degrees and lifted by 0.3 m."""
    rng = np.random.default_rng(3)
    truth = true_landmarks(idle(make_performer(5, 1), 4.0))
    takes = []
    for _ in range(12):
        turn = rot.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.array(rng.uniform(-np.pi, np.pi)))
        takes.append(rot.rotate(turn, truth.positions) + rng.uniform(-1.5, 1.5, 3) * (1, 0, 1))
        if takes[-1][0, 0, 0] > 0.6:  # a foot held still in the air, only at one end of the room
            takes[-1][:, [29, 31], 1] += 0.12
    flat = replace(truth, positions=np.concatenate(takes), confidence=np.ones((12 * len(truth.positions), 33)))
    tilt = rot.from_axis_angle(np.array([0.6, 0.0, 0.8]), np.array(np.deg2rad(4.0)))
    placed = replace(flat, positions=rot.rotate(tilt, flat.positions) + np.array([0.0, 0.3, 0.0]))
    ground = find_ground(placed)
    assert np.rad2deg(ground.tilt) == pytest.approx(4.0, abs=0.3) and ground.residual < 0.03
    assert np.rad2deg(np.arccos(ground.normal @ rot.rotate(tilt, [0.0, 1.0, 0.0]))) < 0.3
    levelled, turn, shift = level(placed, ground)
    np.testing.assert_allclose(rot.rotate(turn, placed.positions) + shift, levelled.positions)
    heights = levelled.positions[..., 1]
    assert abs(np.rad2deg(find_ground(levelled).tilt)) < 0.2 and np.abs(find_ground(levelled).height) < 0.02
    assert heights[:, LANDMARKS.index("nose")].min() > 1.2


def test_one_stance_says_nothing_about_tilt(truth):
    ground = find_ground(truth)
    assert np.isnan(ground.tilt) and ground.normal.tolist() == [0, 1, 0] and ground.contacts > 100
    assert -0.05 < ground.height < 0.08
    with pytest.raises(ValueError, match="no foot point stands still"):
        find_ground(replace(truth, positions=truth.positions + np.arange(240)[:, None, None]))


def test_contradictions_are_told(truth):
    cameras = semicircle(4)
    assert find_contradictions(truth, cameras) == ()
    (scale,) = find_contradictions(replace(truth, positions=1000 * truth.positions))
    assert "in millimetres it would fit" in scale
    buried = look_at((0.0, -0.9, 3.0), (0.0, -0.9, 0.0), focal=1000, size=(1920, 1080), name="cam9")
    (under,) = find_contradictions(truth, (*cameras, buried))
    assert under.startswith("cam9: stands 0.9") and "mirrored" in under
    away = look_at((0.0, 1.4, 3.0), (0.0, 1.4, 9.0), focal=1000, size=(1920, 1080), name="cam8")
    assert "person is behind it" in find_contradictions(truth, (away,))[0]
    upside = find_contradictions(replace(truth, positions=truth.positions * [1, -1, -1]), cameras)
    assert len(upside) == 1 and "along -y in 100 %" in upside[0]


# --- rotations ---------------------------------------------------------------------------------------------------


def test_twist_choices_change_the_roll_and_nothing_else():
    landmarks = true_landmarks(action(make_performer(3, 2), "l_wat"))
    none, hinge, heel = (assemble(landmarks, **o) for o in ({}, {"twist": "hinge"}, {"foot": "heel"}))
    for other in (hinge, heel):
        a, b = (forward_kinematics(made.clip).positions for made in (none, other))
        np.testing.assert_allclose(a, b, atol=1e-9)
    skeleton = none.clip.skeleton
    changed = {
        name: rot.angle_between(forward_kinematics(none.clip).rotations, forward_kinematics(made.clip).rotations)
        .max(axis=0)
        .round(6)
        for name, made in (("hinge", hinge), ("heel", heel))
    }
    assert {skeleton.names[j] for j in np.flatnonzero(changed["heel"])} == {"foot.L", "foot.R"}
    assert {skeleton.names[j].split(".")[0] for j in np.flatnonzero(changed["hinge"])} >= {"upper_arm", "forearm"}


def test_hinge_twist_finds_the_elbow_axis():
    """A bent arm turned about its upper bone by a known angle: the upper arm's frame turns by that angle."""
    still = true_landmarks(idle(make_performer(2, 3), 1.0))
    place = np.repeat(still.positions[:1], 31, axis=0)
    shoulder = place[0, 11]
    along = np.array([1.0, 0.0, 0.0])
    angles = np.linspace(-0.6, 0.6, 31)
    place[:, 13] = shoulder + 0.3 * along
    forward = np.stack([np.zeros(31), np.sin(angles), np.cos(angles)], axis=-1)  # forearm at right angles, ahead
    for i, reach in ((15, 0.25), (17, 0.33), (19, 0.34), (21, 0.3)):
        place[:, i] = place[:, 13] + reach * forward
    made = assemble(replace(still, positions=place, confidence=np.ones((31, 33))), twist="hinge")
    world = forward_kinematics(made.clip).rotations[:, made.clip.skeleton.index("upper_arm.L")]
    ahead = rot.rotate(world, [0.0, 0.0, 1.0])  # in the T-pose a bent elbow leads the forearm forward
    np.testing.assert_allclose(ahead, forward, atol=1e-6)
    plain = assemble(replace(still, positions=place, confidence=np.ones((31, 33))))
    stiff = forward_kinematics(plain.clip).rotations[:, plain.clip.skeleton.index("upper_arm.L")]
    assert rot.angle_between(stiff, stiff[:1]).max() < 1e-6


def test_a_straight_limb_keeps_the_hinge_it_had():
    still = true_landmarks(idle(make_performer(2, 3), 1.0))
    place = np.repeat(still.positions[:1], 40, axis=0)
    rng = np.random.default_rng(4)
    bend = np.where(np.arange(40) < 20, 0.5, 0.0)  # then straight
    hip = place[0, 23]
    place[:, 25] = hip + np.array([0.0, -0.43, 0.0])
    place[:, 27] = place[:, 25] + 0.42 * np.stack([0 * bend, -np.cos(bend), -np.sin(bend)], axis=-1)
    place[20:, 27, [0, 2]] += 0.003 * rng.standard_normal((20, 2))  # noise would turn the axis anywhere
    made = assemble(replace(still, positions=place, confidence=np.ones((40, 33))), twist="hinge")
    thigh = forward_kinematics(made.clip).rotations[:, made.clip.skeleton.index("thigh.L")]
    assert rot.angle_between(thigh, thigh[:1]).max() < 0.02


def test_foot_by_heel_and_toe_rolls_with_the_sole():
    """The sole's edge lifted: ankle and toe stay, the heel goes inwards, and the foot must roll."""
    still = true_landmarks(idle(make_performer(2, 3), 1.0))
    place = still.positions.copy()
    heel = LANDMARKS.index("left_heel")
    level_roll = _foot_up(assemble(still, foot="heel"))
    place[:, heel] += [0.02, 0.0, 0.0]
    rolled = _foot_up(assemble(replace(still, positions=place), foot="heel"))
    ignored = _foot_up(assemble(replace(still, positions=place)))
    plain = _foot_up(assemble(still))
    np.testing.assert_allclose(plain, ignored, atol=1e-12)
    assert np.rad2deg(np.arccos(np.clip((level_roll * rolled).sum(-1), -1, 1))).min() > 5
    # both ways of placing a standing foot agree to within the few degrees between instep and sole
    assert (level_roll[:, 1] > 0.85).all() and (plain[:, 1] > 0.85).all()


def _foot_up(made):
    joint = made.clip.skeleton.index("foot.L")
    return rot.rotate(forward_kinematics(made.clip).rotations[:, joint], [0.0, 1.0, 0.0])


def test_options_are_checked(truth):
    with pytest.raises(ValueError, match="twist: expected 'none' or 'hinge', got 'elbow'"):
        assemble(truth, twist="elbow")

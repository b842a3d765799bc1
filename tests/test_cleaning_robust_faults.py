"""The robust rule: each kind of fault where it was put, at every frame rate, and clean motion left alone."""

import numpy as np
import pytest

from motionbook import read_bvh
from motionbook import rotations as rot
from motionbook.cleaning import find_faults
from motionbook.cleaning import motion_signals as signals
from motionbook.cleaning.fault_experiment import fault_experiment, precision_table, recall_table
from motionbook.cleaning.fault_records import runs
from motionbook.cleaning.injection import KINDS, break_clip, faulty_frames, inject
from motionbook.cleaning.robust_faults import LIMITS, Movement, find_robust_faults
from motionbook.clip import Clip, Skeleton
from motionbook.resampling import resample
from motionbook.skeletons import FREEMOCAP, LAFAN1
from motionbook.synthesis.performers import idle, make_performer, to_freemocap


@pytest.fixture(scope="module")
def waiting():
    """Half a minute of somebody who waits, on LaFAN1's rig; nothing in it is a fault."""
    return idle(make_performer(12, 5), 30.0)


def gliding(frames=300, fps=30.0, skeleton=LAFAN1):
    return Clip(skeleton, np.zeros((frames, 3)), rot.identity((frames, len(skeleton))), fps)


def minimum_jerk(movement: Movement, fps: float, before=1.0, after=1.0):
    """Places (3, 1, frames) of a minimum-jerk movement along x between two rests."""
    seconds = np.arange(0, before + movement.seconds + after, 1 / fps)
    s = np.clip((seconds - before) / movement.seconds, 0, 1)
    return np.stack([movement.metres * (10 * s**3 - 15 * s**4 + 6 * s**5), 0 * s, 0 * s])[:, None]


def test_limits_are_those_of_a_minimum_jerk_movement():
    """The closed forms 1.875 A/T, 60 A/T^3 and sqrt(720) A/T^3 against the movement itself, finely sampled."""
    for movement in (LIMITS.trunk, LIMITS.leg, Movement(1.0, 2.0)):
        fps, x = 20000.0, minimum_jerk(movement, 20000.0, 0.0, 0.0)[0, 0]
        third = np.diff(x, 3) * fps**3
        assert np.diff(x).max() * fps == pytest.approx(movement.speed, rel=1e-4)
        assert np.median(np.abs(third[:20])) == pytest.approx(movement.jerk, rel=0.05)
        assert np.sqrt(np.mean(third**2)) == pytest.approx(movement.rms_jerk, rel=0.01)


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
def test_the_granted_movement_is_granted_and_one_twice_as_quick_is_not(fps):
    """A root that moves as the trunk may, 0.5 m in 0.45 s, is no fault at any rate; in half the time it is.

    Only speed and jerk are asked: both feet slide along with the root.
    """
    for seconds, fine in ((0.47, True), (0.225, False)):
        path = minimum_jerk(Movement(0.5, seconds), fps, 3.0, 3.0)[:, 0].T + np.array([0.0, 0.9, 0.0])
        clip = Clip(LAFAN1, path, rot.identity((len(path), 22)), fps)
        kinds = {f.kind for f in find_robust_faults(clip).faults} - {"slide"}
        assert (not kinds) == fine, (kinds, seconds)


def test_speed_and_jerk_have_units():
    """A parabola of 3 m/s^2 and a cubic of 5 m/s^3, whose derivatives are known, at several rates."""
    for fps in (24.0, 30.0, 60.0, 120.0):
        t = np.arange(0, 2, 1 / fps)
        path = np.stack([1.5 * t**2, 0 * t, 0 * t])[:, None]
        at = np.argmin(np.abs(t - 1.0))
        middle = t[at] - 0.5 * signals.lag(fps) / fps
        assert signals.speeds(path, fps)[0, at] == pytest.approx(3 * middle)
        path = np.stack([0 * t, 5 / 6 * t**3, 0 * t])[:, None]
        np.testing.assert_allclose(signals.jerks(path, fps)[0, 20:30], 5.0, rtol=1e-6)


def test_clean_motion_is_kept_whole_on_both_rigs(waiting):
    for clip in (waiting, to_freemocap(waiting)):
        faults = find_faults(clip)
        assert faults.faults == () and faults.kept == ((0, len(clip)),)
        assert find_faults(clip, method="published").removed > 0.05 * len(clip)


# kind, size, and which signals may say so; sizes well above the limits, so that any place will do
TELLING = [
    ("spike", 0.06, {"jerk", "jitter"}),
    ("bump", 0.10, {"blip", "jerk"}),
    ("jitter", 0.02, {"jitter"}),
    ("teleport", 0.10, {"speed", "jerk", "slide"}),
    ("step", 0.10, {"speed", "jerk", "slide"}),
    ("drift", 0.40, {"slide"}),
    ("held", 2.0, {"held"}),
    ("filled", 2.0, {"held"}),
    ("swap", 0.5, {"swap", "twist", "jerk"}),
    ("bone", 0.12, {"bone"}),
    ("twist", 180.0, {"twist"}),
]


@pytest.mark.parametrize("kind, size, signs", TELLING, ids=[row[0] for row in TELLING])
@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0])
def test_a_fault_is_found_where_it_is_at_every_rate(waiting, kind, size, signs, fps):
    """The same half minute at three rates; the fault starts at 12 s and what is found stays within 0.5 s of it."""
    clip = resample(waiting, fps)
    broken, event = inject(clip, kind, size, round(12 * fps), np.random.default_rng(3))
    faults = find_faults(broken).faults
    assert faults, kind
    assert {f.kind for f in faults} & signs, {f.kind for f in faults}
    assert min(f.start for f in faults) >= event.start - 0.5 * fps
    assert max(f.stop for f in faults) <= event.stop + 0.5 * fps
    covered = np.zeros(len(clip), dtype=bool)
    for fault in faults:
        covered[fault.start : fault.stop] = True
    assert covered[event.start : event.stop].all()


@pytest.mark.parametrize("fps", [24.0, 60.0, 120.0])
def test_a_short_hold_is_granted_and_a_longer_one_is_not(waiting, fps):
    """0.45 s and 0.9 s on either side of the limit of 0.6 s; frames would tell them apart at one rate only."""
    clip = resample(waiting, fps)
    for seconds, found in ((0.45, False), (0.9, True)):
        broken, _ = inject(clip, "filled", seconds, round(12 * fps), np.random.default_rng(3))
        assert any(f.kind == "held" for f in find_faults(broken).faults) == found, seconds


def test_a_swap_of_two_seconds_is_removed_whole(waiting):
    """Only its ends jump; the pair of swaps tells what lies between."""
    broken, event = inject(waiting, "swap", 2.0, 300, np.random.default_rng(3))
    swaps = [f for f in find_faults(broken).faults if f.kind == "swap"]
    assert len(swaps) == 1 and swaps[0].start <= event.start and swaps[0].stop >= event.stop


def test_a_dropped_frame_is_found():
    clip = idle(make_performer(3, 1), 6.0)
    root, turns = clip.root_positions.copy(), clip.rotations.copy()
    root[90], turns[90] = 0.0, [1.0, 0, 0, 0]
    found = find_faults(Clip(clip.skeleton, root, turns, clip.fps)).faults
    assert [(f.start, f.stop) for f in found if f.kind == "dropout"] == [(85, 96)]


def test_a_still_clip_and_short_clips_have_no_faults():
    for frames in (0, 1, 2, 3, 5, 300):
        assert find_faults(gliding(frames)).faults == ()
    assert find_faults(gliding(0)).kept == () and find_faults(gliding(5)).kept == ((0, 5),)


def test_a_skeleton_without_telling_names_is_searched_too():
    """Limbs, feet and pairs are not known then; speed, jerk and the rest still are."""
    chain = Skeleton(("a", "b", "c"), (-1, 0, 1), [[0, 0, 0], [0, 0.4, 0], [0, 0.3, 0]])
    clip = gliding(300, skeleton=chain)
    turns = clip.rotations.copy()
    turns[150, 0] = rot.from_axis_angle([1.0, 0, 0], 0.5)
    found = find_faults(Clip(chain, clip.root_positions, turns, 30.0)).faults
    assert found and all(143 <= f.start and f.stop <= 158 for f in found)


def test_limits_rise_with_a_recording_that_is_noisy_throughout(waiting):
    """Noise in all frames is not a fault of one of them; the same noise in 0.6 s is."""
    rng = np.random.default_rng(0)
    noise = rot.from_rotation_vector(0.02 * rng.standard_normal((*waiting.rotations.shape[:2], 3)))
    noisy = Clip(waiting.skeleton, waiting.root_positions, rot.multiply(waiting.rotations, noise), waiting.fps)
    assert find_faults(noisy).removed < 0.1 * len(noisy)
    turns = waiting.rotations.copy()
    turns[400:418] = noisy.rotations[400:418]
    some = find_faults(Clip(waiting.skeleton, waiting.root_positions, turns, waiting.fps)).faults
    assert some and all(380 <= f.start and f.stop <= 440 for f in some)


@pytest.mark.parametrize("kind", list(KINDS))
def test_an_injected_fault_changes_its_frames_only(waiting, kind):
    """Outside [start, stop) nothing changes, but for the place of a body that jumped or slid for good."""
    clip = to_freemocap(waiting)
    broken, event = inject(clip, kind, KINDS[kind].sizes[1], 200, np.random.default_rng(1))
    changed = (np.abs(broken.rotations - clip.rotations) > 1e-12).any(axis=(1, 2))
    if broken.translations is not None:
        before = clip.skeleton.offsets if clip.translations is None else clip.translations
        changed |= (np.abs(broken.translations - before) > 1e-12).any(axis=(1, 2))
    root = (broken.root_positions != clip.root_positions).any(axis=1)
    if kind in ("step", "drift"):
        root[event.stop :] = False
    span = np.flatnonzero(changed | root)
    assert len(span) and span[0] == event.start == 200 and span[-1] < event.stop
    assert event.stop - event.start <= KINDS[kind].seconds * clip.fps


def test_sizes_are_what_they_say():
    """A spike of 6 cm moves the end of its bone by 6 cm, a stretched bone is 6 cm longer at its peak."""
    clip = gliding(300, skeleton=FREEMOCAP)
    points = signals.body_points(FREEMOCAP)
    for seed in range(6):
        broken, event = inject(clip, "spike", 0.06, 100, np.random.default_rng(seed))
        moved = np.linalg.norm(signals.bone_paths(signals.point_places(broken, points), points), axis=0)
        still = np.linalg.norm(signals.bone_paths(signals.point_places(clip, points), points), axis=0)
        np.testing.assert_allclose(moved[1:], still[1:], atol=1e-12)  # no bone changes
        steps = signals.bone_paths(signals.point_places(broken, points), points)
        gone = np.linalg.norm(steps[:, :, event.start] - steps[:, :, 0], axis=0)
        assert np.isclose(gone[1:], 0.06, atol=1e-9).any()
    broken, event = inject(clip, "bone", 0.06, 100, np.random.default_rng(0))
    longer = np.linalg.norm(broken.translations, axis=-1) - np.linalg.norm(FREEMOCAP.offsets, axis=-1)
    assert longer.max() == pytest.approx(0.06, rel=0.02)


def test_places_follow_from_the_seed_and_avoid_what_they_should(waiting):
    avoid = np.zeros(len(waiting), dtype=bool)
    avoid[100:600] = True
    one, events = break_clip(waiting, "spike", np.random.default_rng(4), every_seconds=5.0, avoid=avoid)
    other, again = break_clip(waiting, "spike", np.random.default_rng(4), every_seconds=5.0, avoid=avoid)
    assert events == again and len(events) >= 2
    np.testing.assert_array_equal(one.rotations, other.rotations)
    assert not (faulty_frames(events, len(waiting)) & avoid).any()
    with pytest.raises(KeyError, match="there are spike, bump"):
        inject(waiting, "ghost", 1.0, 10, np.random.default_rng(0))
    with pytest.raises(ValueError, match="after it, got 899 of 900"):
        inject(waiting, "spike", 0.1, 899, np.random.default_rng(0))


def test_tables_count_what_a_known_rule_does(waiting):
    """A rule that calls frames 0 to 99 bad whatever it sees: precision and losses are then known."""
    from motionbook.cleaning.fault_records import Fault, Faults

    def blind(clip):
        return Faults((Fault(0, 100, "", 0, 1.0, 1.0),), ((100, len(clip)),), len(clip))

    scores = fault_experiment([waiting], 2, kinds=("spike", "step"), rules={"blind": blind}, every_seconds=6.0)
    assert scores[scores["kind"] == "spike"]["events"].sum() == 5
    table = precision_table(scores)
    assert (
        table.loc[["spike", "step"], ("events found", "blind")] == 0
    ).all()  # no fault is put where a rule cuts already
    assert (table.loc[["spike", "step"], ("stretches right", "blind")] == 0).all()
    assert table.loc["none", ("good frames lost", "blind")] == pytest.approx(100 * 100 / len(waiting))
    assert (table.loc[["spike", "step"], ("removed frames faulty", "blind")] == 0).all()
    assert recall_table(scores).loc[("all", ""), "blind: found [%]"] == 0

    def all_seeing(clip):
        return Faults((Fault(0, len(clip), "", 0, 1.0, 1.0),), (), len(clip))

    # where nothing may be put there is no event, so the rule that sees all is asked of what another one left
    scores = fault_experiment([waiting], 2, kinds=("teleport",), rules={"none": find_faults}, every_seconds=6.0)
    assert scores["events"].sum() == 5 and scores["faulty"].sum() == 5 * 12
    assert fault_experiment([waiting], 2, kinds=("step",), rules={"all": all_seeing})["size"].notna().sum() == 0


def test_more_is_found_and_less_is_lost_than_by_the_published_rule(waiting):
    """People and places that the limits were not tuned on."""
    scores = fault_experiment([waiting, to_freemocap(idle(make_performer(13, 5), 30.0))], 7, every_seconds=6.0)
    table = precision_table(scores)
    assert table.loc["all", ("events found", "robust")] > 75 > table.loc["all", ("events found", "published")]
    assert table.loc["all", ("stretches right", "robust")] > 95 > table.loc["all", ("stretches right", "published")]
    assert table.loc["none", ("good frames lost", "robust")] == 0 < table.loc["none", ("good frames lost", "published")]


def test_real_clips_lose_less_and_what_is_held_was_interpolated(shared_data):
    """ReActIdle: filled gaps turn by the same angle in every frame, to a thousandth, which no measured joint does."""
    removed = total = 0
    for name in ("acted/010_acted", "acted/008_acted", "genuine/007_genuine"):
        clip = read_bvh(shared_data / "reactidle" / f"{name}.bvh", positions="add_root", fps=30.0)
        faults = find_faults(clip)
        assert faults.removed < find_faults(clip, method="published").removed
        removed, total = removed + faults.removed, total + len(clip)
        for fault in (f for f in faults.faults if f.kind == "held" and f.joint == "forearm.R"):
            inside = clip.rotations[fault.start + 8 : fault.stop - 8, clip.skeleton.index(fault.joint)]
            steps = rot.angle_between(inside[1:], inside[:-1])
            assert np.ptp(steps) < 0.02 * steps.mean()
            assert steps.mean() > 1e-4
    assert removed < 0.04 * total


def test_figures_show_what_is_removed(waiting):
    """The strips below the curve are the removed runs in seconds, and every kind has a bar of either rule."""
    import matplotlib.pyplot as plt

    from motionbook.report.fault_figures import removal_figure, scores_figure

    broken, event = inject(waiting, "teleport", 0.3, 300, np.random.default_rng(0))
    faults = find_faults(broken)
    figure = removal_figure(broken, "a clip")
    above, below = figure.axes
    assert len(above.lines) == 2 and "a clip" in (above.get_title(), above.get_title(loc="left"))
    spans = [path.get_extents().intervalx for path in below.collections[2].get_paths()]
    removed = [(start / 30, stop / 30) for start, stop in runs(faults.removed_mask())]
    np.testing.assert_allclose(spans, removed)
    assert removed[0][0] < event.start / 30 and removed[0][1] > event.stop / 30
    scores = fault_experiment([waiting], 1, kinds=("spike", "twist"), every_seconds=8.0)
    bars = scores_figure(precision_table(scores)).axes
    assert [label.get_text() for label in bars[0].get_yticklabels()] == ["spike", "twist", "all kinds"]
    assert all(len(axis.patches) == 6 for axis in bars)
    plt.close("all")

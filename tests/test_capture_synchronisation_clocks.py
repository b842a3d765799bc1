"""Clocks, unequal counts and resampling to a common clock, on made clocks and on real webcams' timestamps."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from motionbook.capture import Observations
from motionbook.capture.synchronisation import (
    apply,
    by_hand,
    by_timestamps,
    equalise,
    exact_rate,
    fit_drift,
    frame_times,
    sample,
    summary,
)


def curve(t):
    """A smooth path of two points in a picture, (moments, 2 points, 2), pixels."""
    x = np.stack([400 + 90 * np.sin(2.1 * t), 300 + 40 * np.cos(3.3 * t)], axis=-1)
    return np.stack([x, x[:, ::-1] + 20 * np.sin(t)[:, None]], axis=1)


def test_rates_are_the_fractions_meant():
    assert exact_rate(29.97) == exact_rate("29.97") == exact_rate("30000/1001") == Fraction(30000, 1001)
    assert exact_rate(23.976) == Fraction(24000, 1001) and exact_rate(59.94) == Fraction(60000, 1001)
    assert (
        exact_rate(30) == exact_rate(30.0) == 30
        and exact_rate(25) == 25
        and exact_rate(119.88) == Fraction(120000, 1001)
    )
    assert exact_rate(31.09) == Fraction(3109, 100) and float(exact_rate(29.83)) == 29.83
    assert exact_rate(30.02) == Fraction(3002, 100) and exact_rate(29.985) not in (30, Fraction(30000, 1001))
    for bad in (0, -30, "fast", float("nan"), float("inf"), "1/0"):
        with pytest.raises(ValueError, match="rate: expected"):
            exact_rate(bad)


def test_by_hand_takes_the_clapperboards_frame_or_time():
    frames = by_hand(30.0, frames=[31, 45, 12, 31])
    np.testing.assert_allclose(frames.offsets, np.array([0, 14, -19, 0]) / 30)
    np.testing.assert_allclose(frames.frames_late, [0, 14, -19, 0])
    mixed = by_hand((30.0, 60.0), frames=[30, 90], names=["left", "right"])
    np.testing.assert_allclose(mixed.offsets, [0, 0.5])
    assert by_hand(30.0, seconds=[1.0, 1.25]).offsets.tolist() == [0, 0.25]
    rows = summary(mixed)
    assert rows[1]["camera"] == "right" and rows[1]["late [frames]"] == 30 and np.isnan(rows[1]["margin"])
    for wrong in ({}, {"frames": [1], "seconds": [1]}, {"frames": [[1, 2]]}, {"frames": []}):
        with pytest.raises(ValueError, match="by_hand: expected"):
            by_hand(30.0, **wrong)
    with pytest.raises(ValueError, match="not finite"):
        by_hand(30.0, frames=[0, np.nan])
    with pytest.raises(ValueError, match="fps"):
        by_hand(0.0, frames=[0, 1])
    with pytest.raises(ValueError, match="different camera names"):
        by_hand(30.0, frames=[0, 1], names=["a", "a"])


def test_whole_frames_are_copied_bit_for_bit():
    rng = np.random.default_rng(0)
    tracks = [rng.random((n, 3, 2)) for n in (50, 48, 53)]
    weights = [rng.uniform(0.1, 1, t.shape[:2]) for t in tracks]
    late = [0, 3, -2]
    aligned = apply(by_hand(30.0, frames=late), tracks, weights, names=("a", "b", "c"))
    # shared: common frames 2 (the third camera starts there) to 44 (the second ends at 47 - 3)
    np.testing.assert_allclose(aligned.times * 30, np.arange(2, 45))
    for c, shift in enumerate(late):
        np.testing.assert_array_equal(aligned.observations.pixels[c], tracks[c][2 + shift : 45 + shift])
        np.testing.assert_array_equal(aligned.observations.confidence[c], weights[c][2 + shift : 45 + shift])
    assert [row["frames"] for row in aligned.report] == ["copied"] * 3
    assert [row["cut at start"] for row in aligned.report] == [2, 5, 0]
    assert [row["cut at end"] for row in aligned.report] == [5, 0, 10]
    assert aligned.observations.names == ("a", "b", "c") and aligned.observations.fps == 30


def test_any_span_leaves_nan_where_a_camera_did_not_record():
    tracks = [np.ones((10, 1, 2)), np.ones((10, 1, 2))]
    aligned = apply(by_hand(10.0, frames=[0, 4]), tracks, span="any")
    np.testing.assert_allclose(aligned.times * 10, np.arange(-4, 10))
    seen = np.isfinite(aligned.observations.pixels[:, :, 0, 0])
    assert seen[0].tolist() == [False] * 4 + [True] * 10 and seen[1].tolist() == [True] * 10 + [False] * 4
    assert (aligned.observations.confidence == seen[..., None]).all()
    assert [row["moments without a frame"] for row in aligned.report] == [4, 4]


def test_half_frames_and_other_rates_are_interpolated_to_a_tenth_of_a_pixel():
    """Linear interpolation is off by 0.4 px here, the nearest frame by 3."""
    offsets, rates = np.array([0.0, 0.0167, -0.3011]), np.array([30.0, 30000 / 1001, 25.0])
    synchronisation = replace(by_hand(rates, seconds=offsets), rates=rates)
    tracks = [curve(np.arange(200 + 7 * c) / r - o) for c, (o, r) in enumerate(zip(offsets, rates, strict=True))]
    aligned = apply(synchronisation, tracks)
    truth = curve(aligned.times)
    assert np.abs(aligned.observations.pixels[0] - truth).max() < 1e-9
    assert np.abs(aligned.observations.pixels - truth).max() < 0.1
    assert [row["frames"] for row in aligned.report] == ["copied", "interpolated", "interpolated"]
    doubled = apply(synchronisation, tracks, fps=60.0)
    assert doubled.observations.fps == 60 and np.abs(doubled.observations.pixels - curve(doubled.times)).max() < 0.1


def test_ten_minutes_of_2997_read_as_30_drift_apart_unless_the_rate_is_kept():
    """0.6 s or 18 frames after ten minutes."""
    truth = 30000 / 1001
    tracks = [curve(np.arange(18000) / 30.0), curve(np.arange(17982) / truth)]
    wrong = apply(by_hand(30.0, frames=[0, 0]), tracks).observations.pixels
    right = apply(by_hand((30.0, truth), frames=[0, 0]), tracks).observations.pixels
    assert np.abs(wrong[1, -100:] - wrong[0, -100:]).max() > 50
    assert np.abs(right[1] - right[0]).max() < 0.1


def test_unseen_points_stay_unseen_and_do_not_spread():
    track = curve(np.arange(60) / 30.0)
    track[20, 0] = np.nan
    other = curve(np.arange(60) / 30.0 - 0.5 / 30)
    weights = np.ones((60, 2))
    weights[20, 0] = 0
    aligned = apply(by_hand(30.0, frames=[0, 0.5]), [track, track], [weights, weights])
    lost = np.isnan(aligned.observations.pixels[..., 0])
    assert np.argwhere(lost[0]).tolist() == [[20, 0]]
    # half a frame late: the moments before and after the unseen frame lie between it and a neighbour
    assert np.argwhere(lost[1]).tolist() == [[19, 0], [20, 0]]
    assert (aligned.observations.confidence[lost] == 0).all()
    near = apply(by_hand(30.0, frames=[0, 0.5]), [track, other]).observations.pixels
    assert np.nanmax(np.abs(near[1] - near[0])) < 0.1


def test_observations_pass_through_with_their_names():
    seen = Observations(("a", "b"), np.random.default_rng(1).random((2, 9, 2, 2)), np.full((2, 9, 2), 0.7), 50.0)
    aligned = apply(by_hand(50.0, frames=[0, 0]), seen)
    assert aligned.observations.names == ("a", "b")
    np.testing.assert_array_equal(aligned.observations.pixels, seen.pixels)


def test_apply_refuses_what_does_not_fit():
    two = by_hand(30.0, frames=[0, 1])
    track = np.ones((10, 3, 2))
    with pytest.raises(ValueError, match="never recorded at the same time"):
        apply(by_hand(30.0, frames=[0, 50]), [track, track])
    with pytest.raises(ValueError, match="pixels: expected one array for each of 2 cameras, got 3"):
        apply(two, [track] * 3)
    with pytest.raises(ValueError, match="cam02: pixels: expected 3 points as in cam01, got 4"):
        apply(two, [track, np.ones((10, 4, 2))])
    with pytest.raises(ValueError, match="cam02: pixels: expected \\(frames, points, 2\\)"):
        apply(two, [track, np.ones((10, 3, 3))])
    with pytest.raises(ValueError, match="cam02: confidence: expected \\(10, 3\\)"):
        apply(two, [track, track], [np.ones((10, 3)), np.ones((9, 3))])
    with pytest.raises(ValueError, match="confidence: expected one array for each"):
        apply(two, [track, track], [np.ones((10, 3))])
    with pytest.raises(ValueError, match="span"):
        apply(two, [track, track], span="all")
    with pytest.raises(ValueError, match="rates: expected positive"):
        replace(two, rates=[30.0, 0.0])
    with pytest.raises(ValueError, match="offsets: expected one number per camera"):
        replace(two, offsets=[0.0])


def test_sample_matches_a_cubic_and_refuses_gaps():
    times = np.array([0.0, 0.1, 0.2, 0.3, 0.7, 0.8, 0.9])
    values = 3 * times**2 - times
    at = np.array([-0.01, 0.0, 0.13, 0.25, 0.5, 0.75, 0.9, 0.91])
    read = sample(values, times, at, 0.15)
    np.testing.assert_array_equal(np.isnan(read), [True, False, False, False, True, False, False, True])
    np.testing.assert_allclose(read[2], 3 * 0.13**2 - 0.13, atol=1e-12)
    assert np.isnan(sample(np.array([1.0]), np.array([0.0]), np.array([0.0, 0.1]), 1.0)).tolist() == [False, True]


def real_clocks(shared_data):
    file = shared_data / "capture" / "camera_timestamps_4cam.csv"
    index, camera, time = np.loadtxt(file, delimiter=",", skiprows=1).T
    return [time[camera == c] for c in range(4)], [index[camera == c].astype(int) for c in range(4)]


def test_real_webcams_clock_rates_and_dropped_frames(shared_data):
    """The recorder's own frame numbers say which frames are missing: 0, 5, 0 and 1 of them."""
    clocks, numbers = real_clocks(shared_data)
    expected = json.loads((shared_data / "capture" / "expected.json").read_text())["camera_timestamps_4cam.csv"]
    found = by_timestamps(clocks)
    for c, row in enumerate(found.evidence):
        assert row["frames"] == expected[str(c)]["frames"]
        assert row["mean fps"] == pytest.approx(expected[str(c)]["mean_fps"], abs=1e-6)
        assert row["longest interval [ms]"] == pytest.approx(expected[str(c)]["max_dt_ms"], abs=1e-3)
        assert row["dropped frames"] == (np.diff(numbers[c]) - 1).sum()
    assert [row["dropped frames"] for row in found.evidence] == [0, 5, 0, 1]
    # all four run at 30 frames a second; the mean rates of 29.42 to 29.99 are dropped frames
    assert np.abs(found.rates / 30.0 - 1).max() < 0.001
    assert np.abs(found.offsets).max() < 0.02


def test_headers_that_contradict_the_timestamps_are_said(shared_data):
    clocks, _ = real_clocks(shared_data)
    with pytest.warns(UserWarning, match="cam02: the header says 30 fps, its timestamps 29.425 \\(5 dropped frames\\)"):
        found = by_timestamps(clocks, stated_fps=30.0)
    assert [doubt.split(":")[0] for doubt in found.doubts] == ["cam02", "cam04"]
    with pytest.warns(UserWarning, match="cam01: the header says 24 fps"):
        by_timestamps(clocks, stated_fps=24.0)


def test_observations_on_real_clocks_meet_on_the_common_one(shared_data):
    """Frame numbers alone put the cameras 5 frames apart in 9 s; the timestamps put every frame where it was taken."""
    clocks, _ = real_clocks(shared_data)
    tracks = [curve(stamps - clocks[0][0]) for stamps in clocks]
    found = by_timestamps(clocks)
    aligned = apply(found, tracks)
    # the common clock is 0 near the first camera's first frame, whose jitter is left in its own time
    truth = curve(aligned.times - frame_times(found, 0, 269)[0])
    off = np.abs(aligned.observations.pixels - truth)
    assert np.nanmax(off) < 0.5
    assert np.isnan(off).mean() < 0.01
    counted = apply(by_hand(30.0, frames=[0, 0, 0, 0]), tracks).observations.pixels
    assert np.abs(counted[1, -5:] - counted[0, -5:]).max() > 20
    assert [row["frames given"] for row in aligned.report] == [269, 264, 269, 268]


def test_made_clocks_with_jitter_and_drops_are_recovered():
    rng = np.random.default_rng(2)
    for rate, drops in ((30000 / 1001, 7), (59.94, 0), (25.0, 20)):
        slots = np.delete(np.arange(900), rng.choice(np.arange(1, 899), drops, replace=False))
        stamps = 1e5 + slots / rate + 0.002 * rng.standard_normal(len(slots))
        row = by_timestamps([stamps, stamps + 0.01]).evidence[0]
        assert row["dropped frames"] == drops
        assert len(row["dropped after frames"]) <= drops
        assert abs(row["clock fps"] / rate - 1) < 2e-5


def test_a_dropped_frame_leaves_a_hole_unless_it_may_be_bridged():
    stamps = np.delete(np.arange(60) / 30.0, 30)
    found = by_timestamps([stamps, np.arange(60) / 30.0])
    tracks = [curve(stamps), curve(np.arange(60) / 30.0)]
    held = apply(found, tracks)
    assert np.argwhere(np.isnan(held.observations.pixels[0, :, 0, 0])).ravel().tolist() == [30]
    assert [row["moments without a frame"] for row in held.report] == [1, 0]
    bridged = apply(found, tracks, max_gap=0.1).observations.pixels
    assert np.isfinite(bridged).all() and np.abs(bridged[0, 30] - curve(np.array([1.0]))[0]).max() < 0.5


def test_timestamps_that_are_none_are_refused():
    good = np.arange(10) / 30.0
    with pytest.raises(ValueError, match=r"cam02: times: expected every frame later .* frame 4"):
        by_timestamps([good, np.array([0, 1, 2, 3, 3, 4, 5.0])])
    with pytest.raises(ValueError, match="cam02: times: expected at least 3"):
        by_timestamps([good, np.array([0.0, 1.0])])
    with pytest.raises(ValueError, match="cam01: times: 1 values are not finite"):
        by_timestamps([np.array([0, np.nan, 2.0]), good])
    with pytest.raises(ValueError, match="cam01: 9 frames but 10 timestamps"):
        apply(by_timestamps([good, good]), [np.ones((9, 1, 2)), np.ones((10, 1, 2))])


def test_unequal_counts_are_listed_and_cut_as_told():
    tracks = [np.arange(10.0)[:, None], np.arange(7.0)[:, None], np.arange(9.0)[:, None]]
    with pytest.raises(ValueError, match=r"unequal numbers of frames \(cam01 10, cam02 7, cam03 9\).*trim_end"):
        equalise(tracks)
    end, start = equalise(tracks, "trim_end"), equalise(tracks, "trim_start")
    assert end.tracks[:, 0, 0].tolist() == [0, 0, 0] and start.tracks[:, 0, 0].tolist() == [3, 0, 2]
    assert [row["cut at end"] for row in end.report] == [3, 0, 2]
    assert [row["cut at start"] for row in start.report] == [3, 0, 2]
    padded = equalise(tracks, "pad")
    assert np.isnan(padded.tracks[1, 7:]).all() and [row["added at end"] for row in padded.report] == [0, 3, 1]
    shifted = equalise(tracks, "trim_end", shifts=[2, 0, 1])
    assert shifted.tracks[:, 0, 0].tolist() == [2, 0, 1] and shifted.tracks.shape == (3, 7, 1)
    early = equalise(tracks, "trim_end", shifts=[0, -2, 0])
    assert early.tracks[:, 0, 0].tolist() == [2, 0, 2] and [row["cut at start"] for row in early.report] == [2, 0, 2]
    assert equalise([tracks[0]] * 2).tracks.shape == (2, 10, 1)
    for wrong, message in (
        ({"how": "guess"}, "how: expected"),
        ({"how": "pad", "shifts": [0.5, 0, 0]}, "whole number"),
        ({"how": "trim_end", "shifts": [0, 7, 0]}, "no frame is left"),
    ):
        with pytest.raises(ValueError, match=message):
            equalise(tracks, **wrong)


def test_drift_is_told_from_noise_and_from_a_jump():
    rng = np.random.default_rng(3)
    t = np.linspace(5, 595, 20)
    noise = 0.002 * rng.standard_normal((20, 4))
    steady = 0.1 + noise[:, 0]
    drifting = 0.2 + 1e-3 * t + noise[:, 1]
    jumping = np.where(t < 300, 0.0, 0.1) + noise[:, 2]
    few = np.where(np.arange(20) < 2, 0.0, np.nan)
    found = fit_drift(t, np.stack([steady, drifting, jumping, few], axis=1), 30.0, ("a", "b", "c", "d"))
    assert found.drifting.tolist() == [False, True, False, False]
    assert found.jumping.tolist() == [False, False, True, False]
    assert abs(found.slopes[1] - 1e-3) < 3 * found.slope_errors[1] < 2e-5
    assert "b: drifts by +" in found.report[1] and "jumps by +3.0 frames near 300" in found.report[2]
    assert "too few" in found.report[3] and "no drift" in found.report[0]

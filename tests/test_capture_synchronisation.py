"""Synchronisation by motion and by reprojection: against clocks known by construction, and on a real recording."""

import warnings

import numpy as np
import pytest
from synchronisation_scene import film

from motionbook.capture import Observations, camera_centre, read_cameras, triangulate
from motionbook.capture.lags import correlate
from motionbook.capture.synchronisation import (
    apply,
    by_hand,
    by_motion,
    by_reprojection,
    by_timestamps,
    frame_times,
    motion_drift,
    motion_energy,
    reprojection_drift,
    shift_errors,
)
from motionbook.synthesis.performers import idle, make_performer

OFFSETS = np.array([0.0, 0.217, -0.4, 0.1134])  # 6.5, -12 and 3.4 frames at 30 fps
SECONDS = (19, 20, 18.5, 20)


@pytest.fixture(scope="module")
def take():
    """An idling performer before four cameras that started at different times and stopped at others."""
    return film(idle(make_performer(0, 0), 24), OFFSETS, [30.0] * 4, SECONDS, 1)


def test_correlation_is_numpys_over_the_samples_both_know():
    """Several channels are pooled: one coefficient over all, each channel about its own mean."""
    rng = np.random.default_rng(4)
    a, b = 5 + rng.standard_normal((70, 3)), rng.standard_normal((55, 3)) + np.arange(55)[:, None] / 20
    a[rng.random(a.shape) < 0.2], b[rng.random(b.shape) < 0.2] = np.nan, np.nan
    found = correlate(a, b, 60, 8)
    for lag in (-40, -7, 0, 1, 33):
        frames = np.arange(max(0, -lag), min(70, 55 - lag))
        parts = []
        for x, y in zip(a[frames].T, b[frames + lag].T, strict=True):
            both = np.isfinite(x) & np.isfinite(y)
            parts.append(np.cov(x[both], y[both], bias=True) * both.sum())
        pooled = np.sum(parts, axis=0)
        assert found[60 + lag] == pytest.approx(pooled[0, 1] / np.sqrt(pooled[0, 0] * pooled[1, 1]), abs=1e-9)
    assert np.isnan(found[[0, -1]]).all()


def test_motion_energy_is_the_speed_in_pixels_per_second():
    t = np.arange(60) / 30.0
    track = np.stack([400 + 90 * t, 200 - 120 * t], axis=-1)[:, None]
    inner = slice(10, 50)
    np.testing.assert_allclose(motion_energy(track, 30.0)[inner], 150, rtol=1e-9)
    np.testing.assert_allclose(motion_energy(track, 30.0, "vertical")[inner], -120, rtol=1e-9)
    two = np.concatenate([track, np.full_like(track, 7.0)], axis=1)
    np.testing.assert_allclose(motion_energy(two, 30.0, "total")[inner], 150 / np.sqrt(2), rtol=1e-9)
    np.testing.assert_allclose(motion_energy(track[::2], 15.0)[inner.start // 2 : 25], 150, rtol=1e-9)
    with pytest.raises(ValueError, match="signal"):
        motion_energy(track, 30.0, "speed")


def test_motion_places_cameras_within_a_fifth_of_a_frame(take):
    """2 px noise, 3 % lost; integer lags would be half a frame off for the second camera, a wrong sign 13 frames."""
    _, pixels, confidence = take
    found = by_motion(pixels, confidence, fps=30.0)
    assert np.abs((found.offsets - OFFSETS) * 30).max() < 0.2
    assert (found.score[1:] > 0.8).all() and (found.margin[1:] > 0.5).all() and not found.doubts
    assert len({len(track) for track in pixels}) > 1
    other = by_motion(pixels, confidence, fps=30.0, reference=2)
    np.testing.assert_allclose(other.offsets, found.offsets - found.offsets[2], atol=1e-9)


@pytest.mark.filterwarnings("ignore:by_motion")
@pytest.mark.parametrize("signal", ["energy", "total"])
def test_energies_agree_with_the_vertical_velocity(take, signal):
    _, pixels, confidence = take
    assert np.abs((by_motion(pixels, confidence, fps=30.0, signal=signal).offsets - OFFSETS) * 30).max() < 0.5


def test_reprojection_places_cameras_within_a_tenth_of_a_frame_by_itself(take):
    cameras, pixels, confidence = take
    found = by_reprojection(cameras, pixels, confidence, fps=30.0, max_shift=15)
    assert np.abs((found.offsets - OFFSETS) * 30).max() < 0.1
    assert (found.spread[1:] * 30 < 0.1).all() and found.offsets[0] == 0
    with pytest.warns(UserWarning, match="cam02: a frame earlier fits as well"):  # it is 6.51 frames late
        whole = by_reprojection(cameras, pixels, confidence, fps=30.0, max_shift=15, precision="frame")
    late = whole.frames_late
    np.testing.assert_allclose(late, np.round(late), atol=1e-9)
    assert np.abs(late - OFFSETS * 30).max() <= 1


def test_reprojection_refines_motion_and_the_performer_meets_in_space(take):
    """Before: 10 cm apart in time; after: as good as cameras that never were apart."""
    cameras, pixels, confidence = take
    start = by_motion(pixels, confidence, fps=30.0, names=[camera.name for camera in cameras])
    found = by_reprojection(cameras, pixels, confidence, fps=30.0, start=start, max_shift=3)
    assert np.abs((found.offsets - OFFSETS) * 30).max() < 0.1
    error = {}
    for name, clocks in (("none", by_hand(30.0, frames=np.zeros(4))), ("found", found)):
        seen = apply(clocks, pixels, confidence).observations
        error[name] = np.nanmean(triangulate(cameras, seen.pixels, seen.confidence).error)
    assert error["found"] < 2.1 < error["none"]


def test_without_noise_reprojection_is_exact_to_a_hundredth_of_a_frame():
    cameras, pixels, confidence = film(
        idle(make_performer(2, 0), 14), OFFSETS, [30.0] * 4, (10, 9, 11, 10), 1, noise=0.0
    )
    found = by_reprojection(cameras, pixels, confidence, fps=30.0, max_shift=15)
    assert np.abs((found.offsets - OFFSETS) * 30).max() < 0.01


def test_synchronous_cameras_stay_where_they_are():
    cameras, pixels, confidence = film(idle(make_performer(3, 0), 14), np.zeros(4), [30.0] * 4, [10.0] * 4, 2)
    found = by_reprojection(cameras, pixels, confidence, fps=30.0, precision="frame")
    assert found.frames_late.tolist() == [0, 0, 0, 0]
    assert not [row for row in found.evidence if "moved to [frames]" in row]


@pytest.fixture(scope="module")
def drifting():
    """29.97 beside 30 fps, and a crystal 300 ppm fast, over 70 s."""
    rates = np.array([30.0, 30000 / 1001, 30.0 * (1 + 300e-6), 30.0])
    offsets = np.array([0.0, 0.1, -0.05, 0.02])
    return film(idle(make_performer(0, 0), 75), offsets, rates, (70, 70, 69, 70), 3), offsets, rates


def test_reprojection_in_windows_finds_the_clocks_that_drift(drifting):
    (cameras, pixels, confidence), offsets, rates = drifting
    whole = by_reprojection(cameras, pixels, confidence, fps=30.0)
    drift, found = reprojection_drift(cameras, pixels, confidence, synchronisation=whole, count=7)
    assert drift.drifting.tolist() == [False, True, True, False] and not drift.jumping.any()
    assert np.abs(found.rates / rates - 1).max() < 60e-6
    assert np.abs((found.offsets - offsets) * 30).max() < 0.1
    assert "cam02: drifts by -" in drift.report[1] and "cam04: no drift seen" in drift.report[3]
    seen = apply(found, pixels, confidence).observations
    assert np.nanmean(triangulate(cameras, seen.pixels[:, -300:], seen.confidence[:, -300:]).error) < 2.1


def test_stated_rates_need_no_search(drifting):
    (cameras, pixels, confidence), offsets, rates = drifting
    found = by_reprojection(cameras, pixels, confidence, fps=rates)
    assert np.abs((found.offsets - offsets) * 30).max() < 0.1
    np.testing.assert_array_equal(found.rates, rates)
    drift, _ = reprojection_drift(cameras, pixels, confidence, synchronisation=found, count=5)
    assert not drift.drifting.any()


def test_motion_in_windows_sees_2997_beside_30(drifting):
    (_, pixels, confidence), _, rates = drifting
    drift = motion_drift(pixels, confidence, fps=30.0, count=7)
    assert drift.drifting[1] and abs(drift.slopes[1] - (rates[1] / 30 - 1)) < 4 * drift.slope_errors[1]
    assert not motion_drift(pixels, confidence, fps=rates, count=7).drifting.any()


def test_frames_lost_half_way_are_a_jump_not_a_drift(take):
    _, pixels, confidence = film(idle(make_performer(0, 0), 64), np.zeros(4), [30.0] * 4, [60.0] * 4, 6)
    pixels[2], confidence[2] = np.delete(pixels[2], slice(900, 906), 0), np.delete(confidence[2], slice(900, 906), 0)
    drift = motion_drift(pixels, confidence, fps=30.0, count=8)
    assert drift.jumping.tolist() == [False, False, True, False] and "jumps by -" in drift.report[2]


def test_someone_who_stands_still_is_a_doubt_not_an_answer():
    rng = np.random.default_rng(7)
    still = 500 + 2 * rng.standard_normal((3, 200, 10, 2))
    with pytest.warns(UserWarning, match="by_motion: cam02"):
        found = by_motion(still, fps=30.0)
    assert found.doubts
    cameras, pixels, _ = film(idle(make_performer(0, 0), 14), np.zeros(4), [30.0] * 4, [10.0] * 4, 2)
    frozen = [np.repeat(p[:1], len(p), axis=0) + 2 * rng.standard_normal(p.shape) for p in pixels]
    with pytest.warns(UserWarning, match="too little motion|fits"):
        by_reprojection(cameras, frozen, fps=30.0)


def test_offsets_beyond_the_search_are_said(take):
    cameras, pixels, confidence = take
    with pytest.warns(UserWarning, match="search further|fits"):
        by_reprojection(cameras, pixels, confidence, fps=30.0, max_shift=4, precision="frame")


def test_doors_name_what_is_wrong(take):
    cameras, pixels, confidence = take
    with pytest.raises(ValueError, match="fps: expected the frame rate"):
        by_motion(pixels, confidence)
    with pytest.raises(ValueError, match="pixels: expected one array for each of 4 cameras, got 3"):
        by_reprojection(cameras, pixels[:3], confidence[:3], fps=30.0)
    with pytest.raises(ValueError, match=r"cam02: confidence: expected"):
        by_motion(pixels, [confidence[0], confidence[1][:-1], *confidence[2:]], fps=30.0)
    with pytest.raises(ValueError, match="cam03: no point is seen with a confidence"):
        by_motion(pixels, [*confidence[:2], 0 * confidence[2], confidence[3]], fps=30.0)
    with pytest.raises(ValueError, match="precision"):
        by_reprojection(cameras, pixels, confidence, fps=30.0, precision="exact")
    with pytest.raises(ValueError, match="at least 2"):
        by_reprojection(cameras[:1], pixels[:1], confidence[:1], fps=30.0)
    with pytest.raises(ValueError, match="start: expected the cameras cam01"):
        by_reprojection(cameras, pixels, confidence, fps=30.0, start=by_hand(30.0, frames=[0] * 4, names="abcd"))
    with pytest.raises(ValueError, match="share 0 frames"):
        by_reprojection(cameras, pixels, confidence, fps=30.0, start=by_hand(30.0, frames=[0, 9000, 0, 0]))
    with pytest.raises(KeyError, match="expected 0 to 3"):
        by_motion(pixels, confidence, fps=30.0, reference=9)


DETECTORS = {"mediapipe": ("mediapipe33_heavy_2d.npz", "xyv"), "openpose": ("openpose_body25b_2d.npz", "xyc")}


def recording(shared_data, detector):
    """Pose2Sim's demo: cameras, pixels and confidence (0 where x = 0, which OpenPose writes for unseen)."""
    folder = shared_data / "capture" / "pose2sim_demo"
    file, key = DETECTORS[detector]
    with np.load(folder / file) as arrays:
        seen, names = arrays[key].astype(float), tuple(str(name) for name in arrays["names"])
    confidence = np.where((seen[..., 0] == 0) | ~np.isfinite(seen[..., 2]), 0.0, seen[..., 2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the file's lens and sizes are doubtful, which its own tests hold
        cameras = read_cameras(folder / "Calib_qualisys.toml")
    return cameras, Observations(names, seen[..., :2], confidence, 60.0)


@pytest.mark.filterwarnings("ignore:by_reprojection")
@pytest.mark.parametrize("detector", DETECTORS)
def test_real_recording_cam03_is_two_frames_late(shared_data, detector):
    """Found from nothing: no start, no camera named; the others are left where they are."""
    cameras, seen = recording(shared_data, detector)
    whole = by_reprojection(cameras, seen, precision="frame")
    assert whole.frames_late.tolist() == [0, 0, 2, 0]
    moves = [row for row in whole.evidence if "moved to [frames]" in row]
    assert [(row["camera"], row["moved to [frames]"]) for row in moves] == [(cameras[2].name, 2)]
    # to a fraction, beside the middle of the other cameras, which themselves differ by half a frame
    late = by_reprojection(cameras, seen).frames_late
    assert abs(late[2] - np.median(np.delete(late, 2)) - 2) < 0.3
    # which side of 0 is late: read two frames on, the camera agrees with the rest
    moved = apply(whole, seen).observations
    np.testing.assert_array_equal(
        moved.pixels[2][moved.confidence[2] > 0], seen.pixels[2, 2:][seen.confidence[2, 2:] > 0]
    )


@pytest.mark.parametrize("detector", DETECTORS)
def test_real_recording_says_where_it_is_unsure(shared_data, detector):
    cameras, seen = recording(shared_data, detector)
    with pytest.warns(UserWarning, match="it lies between two frames"):
        by_reprojection(cameras, seen, precision="frame")


@pytest.mark.parametrize("detector, before, after", [("mediapipe", 12.96, 12.17), ("openpose", 13.61, 12.91)])
def test_real_recording_mean_errors_are_the_published_ones(shared_data, detector, before, after):
    """The mean falls from ... to ... at +2; the median over observations is misled and prefers +3."""
    cameras, seen = recording(shared_data, detector)
    rows = shift_errors(cameras, seen.pixels, seen.confidence, camera=2, shifts=range(-3, 7))
    mean = {row["shift [frames]"]: row["mean [px]"] for row in rows}
    median = {row["shift [frames]"]: row["median [px]"] for row in rows}
    assert mean[0] == pytest.approx(before, abs=0.02) and mean[2] == pytest.approx(after, abs=0.02)
    assert min(mean, key=mean.get) == 2
    assert min(median, key=median.get) == 3


@pytest.mark.parametrize("detector", DETECTORS)
def test_real_recording_misleads_motion_energy(shared_data, detector):
    """Motion energy puts cam03 within a frame of cam01, on the other side; it admits that it does not know."""
    cameras, seen = recording(shared_data, detector)
    with pytest.warns(UserWarning, match="refine with by_reprojection"):
        found = by_motion(seen, signal="energy", names=[camera.name for camera in cameras])
    assert -1 < found.frames_late[2] < 0.5
    assert any(doubt.startswith(cameras[2].name) for doubt in found.doubts)


@pytest.mark.filterwarnings("ignore:by_reprojection")
def test_real_recording_with_more_frames_lost(shared_data):
    """The same with cam01's first five frames cut away, so that counts differ and the reference is early."""
    cameras, seen = recording(shared_data, "mediapipe")
    pixels, confidence = list(seen.pixels), list(seen.confidence)
    pixels[0], confidence[0] = pixels[0][5:], confidence[0][5:]
    late = by_reprojection(cameras, pixels, confidence, fps=60.0).frames_late
    whole = by_reprojection(cameras, seen).frames_late
    np.testing.assert_allclose(late, np.add(whole, [0, 5, 5, 5]), atol=0.35)


def test_mirrored_or_exchanged_cameras_do_not_pass_for_a_shift(take):
    """With two cameras' files exchanged no shift helps: the error stays tens of pixels and is in the result."""
    cameras, pixels, confidence = take
    assert np.linalg.norm(camera_centre(cameras[0]) - camera_centre(cameras[3])) > 1
    swapped = [pixels[3], pixels[1], pixels[2], pixels[0]]
    trusted = [confidence[3], confidence[1], confidence[2], confidence[0]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = by_reprojection(cameras, swapped, trusted, fps=30.0, precision="frame")
    assert found.score.min() > 15


def test_timestamps_are_refined_and_their_drift_taken_out():
    """Clocks measured by a computer whose own time of camera 2 is 50 ms off and runs 400 ppm fast."""
    truth = [np.delete(np.arange(1800), [300, 301, 900]) / 30.0, np.arange(1800) / 30.0 + 0.013, np.arange(1790) / 30.0]
    clip = idle(make_performer(0, 0), 64)
    cameras, pixels, confidence = film(clip, np.array([0, -0.013, 0]), [30.0] * 3, [60.0, 60.0, 1790 / 30], 8)
    pixels[0], confidence[0] = np.delete(pixels[0], [300, 301, 900], 0), np.delete(confidence[0], [300, 301, 900], 0)
    measured = [truth[0], truth[1] * (1 + 400e-6) + 0.05, truth[2]]
    start = by_timestamps(measured, names=[camera.name for camera in cameras])
    whole = by_reprojection(cameras, pixels, confidence, fps=30.0, start=start)
    drift, found = reprojection_drift(cameras, pixels, confidence, synchronisation=whole)
    assert drift.drifting.tolist() == [False, True, False]
    off = [np.abs(frame_times(found, c, len(clock)) - clock).max() * 30 for c, clock in enumerate(truth)]
    assert max(off) < 0.15
    seen = apply(found, pixels, confidence)
    assert seen.report[0]["moments without a frame"] == 3
    assert np.nanmean(triangulate(cameras, seen.observations.pixels, seen.observations.confidence).error) < 2.1

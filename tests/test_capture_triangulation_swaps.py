"""Left and right exchanged: found in the right camera, part and frames, put right, or said to be undecidable."""

import numpy as np
import pytest

from motionbook.capture import LANDMARKS, Reason, project, semicircle, side_pairs, triangulate, true_landmarks
from motionbook.capture.landmarks import REALISTIC, simulate
from motionbook.capture.session import LENS
from motionbook.capture.swaps import find_mirrored, find_turned
from motionbook.capture.triangulation_report import camera_table, keypoint_table, repaired_pixels, swap_table
from motionbook.synthesis.performers import idle, make_performer

CAMERAS = semicircle(4, distortion=LENS)
SIDES = side_pairs(LANDMARKS)
PARTNER = np.arange(33)
for _part in SIDES.values():
    for _left, _right in _part:
        PARTNER[[_left, _right]] = _right, _left


@pytest.fixture(scope="module")
def truth():
    return true_landmarks(idle(make_performer(1, 0), 6.0)).positions


def film(truth, seed=0, cameras=CAMERAS):
    rng = np.random.default_rng(seed)
    pixels = np.stack([project(camera, truth) for camera in cameras])
    pixels += 2.0 * rng.standard_normal(pixels.shape)
    wild = rng.random(pixels.shape[:-1]) < 0.03
    pixels[wild] += rng.uniform(-200.0, 200.0, (int(wild.sum()), 2))
    pixels[rng.random(pixels.shape[:-1]) < 0.05] = np.nan
    return pixels


def mpjpe(result, truth):
    return 1000 * np.nanmean(np.linalg.norm(result.positions - truth, axis=-1))


def test_pairs_are_found_in_the_names_of_the_detectors():
    assert {part: len(pairs) for part, pairs in SIDES.items()} == {"face": 5, "arms": 6, "legs": 5}
    assert (23, 24) in SIDES["legs"] and (31, 32) in SIDES["legs"] and (19, 20) in SIDES["arms"]
    assert (9, 10) in SIDES["face"]  # mouth_left
    assert side_pairs(["Nose", "LEye", "REye", "LBigToe", "RBigToe", "LHip", "Lumbar"]) == {
        "face": ((1, 2),),
        "legs": ((3, 4),),
    }
    assert side_pairs(["l_wrist", "r_wrist", "leftKnee", "rightKnee"]) == {"arms": ((0, 1),), "legs": ((2, 3),)}


def test_nothing_is_exchanged_without_cause(truth):
    swaps = triangulate(CAMERAS, film(truth), sides=SIDES).swaps
    assert not swaps.swapped.any() and not swaps.unclear.any() and (swaps.gain == 0).all()


def test_one_camera_exchanged_is_found_and_put_right(truth):
    """The whole body in camera 2, frames 50 to 89, and the legs alone in camera 4, frames 120 to 139."""
    clean = film(truth)
    pixels = clean.copy()
    pixels[1, 50:90] = clean[1, 50:90][:, PARTNER]
    legs = [i for pair in SIDES["legs"] for i in pair]
    pixels[3, 120:140][:, legs] = clean[3, 120:140][:, PARTNER[legs]]
    result = triangulate(CAMERAS, pixels, sides=SIDES)
    parts = list(result.swaps.parts)
    expected = np.zeros_like(result.swaps.swapped)
    expected[1, 50:90] = True
    expected[3, 120:140, parts.index("legs")] = True
    assert result.swaps.swapped[expected].mean() > 0.98 and not result.swaps.swapped[~expected].any()
    assert not result.swaps.unclear.any()
    camera, frame, part = np.nonzero(expected & result.swaps.swapped)
    for c, f, k in zip(camera, frame, part, strict=True):
        sided = [i for pair in SIDES[parts[k]] for i in pair]
        np.testing.assert_array_equal(repaired_pixels(pixels, result)[c, f, sided], clean[c, f, sided])
    best = mpjpe(triangulate(CAMERAS, clean), truth)
    assert mpjpe(result, truth) < 1.02 * best < mpjpe(triangulate(CAMERAS, pixels, max_error=None), truth)
    table = swap_table(result, CAMERAS)
    assert {(r.camera, r.part) for r in table.itertuples()} == {
        *(("cam02", part) for part in parts),
        ("cam04", "legs"),
    }
    assert table["repaired"].all() and (table["gain [px]"] > 3).all()
    assert camera_table(result, CAMERAS)["swapped [%]"].round(1).tolist() == [0.0, 22.2, 0.0, 11.1]


def test_what_was_put_right_is_solved_as_if_never_exchanged(truth):
    """Pixels, their confidence and what is below the limit all change places; leaving one behind shows here."""
    clean = film(truth)
    confidence = np.random.default_rng(1).uniform(0.2, 1.0, clean.shape[:-1])
    pixels, weight = clean.copy(), confidence.copy()
    pixels[2, 30:60], weight[2, 30:60] = clean[2, 30:60][:, PARTNER], confidence[2, 30:60][:, PARTNER]
    options = {"min_confidence": 0.3, "max_error": 12.0}
    result = triangulate(CAMERAS, pixels, weight, sides=SIDES, **options)
    right = result.swaps.swapped[2, 30:60].all(axis=-1)
    assert right.mean() > 0.9
    never = triangulate(CAMERAS, clean, confidence, **options)
    np.testing.assert_array_equal(result.positions[30:60][right], never.positions[30:60][right])
    np.testing.assert_array_equal(result.observed[:, 30:60][:, right], never.observed[:, 30:60][:, right])


def test_exchanged_camera_is_left_out_when_sides_are_not_looked_for(truth):
    pixels = film(truth)
    pixels[1, 50:90] = pixels[1, 50:90][:, PARTNER]
    result = triangulate(CAMERAS, pixels)
    hips = result.observed[1, 50:90, 23:25]
    assert (hips == 3).mean() > 0.8 and result.swaps is None  # rejected
    assert mpjpe(result, truth) < 2 * mpjpe(triangulate(CAMERAS, film(truth)), truth)


def test_half_of_the_cameras_exchanged_is_undecidable_and_said(truth):
    pixels = film(truth)
    pixels[:2, 60:80] = pixels[:2, 60:80][:, :, PARTNER]
    result = triangulate(CAMERAS, pixels, sides=SIDES)
    arms = result.swaps.parts.index("arms")
    assert result.swaps.unclear[60:80, arms].mean() > 0.9
    assert result.swaps.swapped.sum() <= 1  # a face seen by three cameras has a majority
    assert not result.swaps.unclear[:60].any() and not result.swaps.unclear[80:].any()
    sided = [i for pair in SIDES["arms"] for i in pair]
    unclear = result.swaps.unclear[:, arms]
    assert (result.reason[unclear][:, sided] == Reason.SIDES_UNCLEAR).mean() > 0.98
    assert np.isnan(result.positions[unclear][:, sided]).all()
    table = swap_table(result, CAMERAS)
    assert set(table["camera"][~table["repaired"]]) == {"?"} and table["repaired"].sum() <= 1
    assert keypoint_table(result, LANDMARKS, CAMERAS).loc["all", "sides unclear"] > 0


def test_with_two_cameras_an_exchange_is_undecidable(truth):
    pixels = film(truth)[:2]
    pixels[0, 30:50] = pixels[0, 30:50][:, PARTNER]
    swaps = triangulate(CAMERAS[:2], pixels, sides=SIDES).swaps
    assert swaps.unclear[30:50].any(axis=1).mean() > 0.9 and not swaps.swapped.any()
    assert not swaps.unclear[:30].any() and not swaps.unclear[50:].any()


def test_sides_exchanged_in_every_camera_contradict_the_front(truth):
    pixels = film(truth)
    pixels[:, 40:60] = pixels[:, 40:60][:, :, PARTNER]
    result = triangulate(CAMERAS, pixels, sides=SIDES)
    assert not result.swaps.swapped.any() and not result.swaps.unclear.any()
    turned = find_turned(result.positions, LANDMARKS)
    assert turned[40:60].mean() > 0.95 and not turned[:40].any() and not turned[60:].any()
    assert not find_turned(np.full((3, 33, 3), np.nan), LANDMARKS).any()
    with pytest.raises(ValueError, match="hips or shoulders"):
        find_turned(np.zeros((3, 1, 3)), ["nose"])


def test_a_mirrored_video_is_found(truth):
    """A webcam's picture: x runs from the other edge and the detector calls the mirrored left side right."""
    pixels = film(truth)
    confidence = np.isfinite(pixels[..., 0]).astype(float)
    assert not find_mirrored(CAMERAS, pixels, confidence, SIDES).any()
    for camera in (0, 2):
        mirrored, seen = pixels.copy(), confidence.copy()
        mirrored[camera] = pixels[camera][:, PARTNER] * [-1, 1] + [1920, 0]
        seen[camera] = confidence[camera][:, PARTNER]
        assert np.flatnonzero(find_mirrored(CAMERAS, mirrored, seen, SIDES)).tolist() == [camera]
    with pytest.raises(ValueError, match="at least 3"):
        find_mirrored(CAMERAS[:2], pixels[:2], confidence[:2], SIDES)


def test_exchanges_of_the_simulated_detector_are_all_found_or_called_unclear():
    """A detector that hides, loses and exchanges points (5 % of its pictures) of arms and legs."""
    landmarks = true_landmarks(idle(make_performer(0, 0), 30.0))
    done = simulate(landmarks, CAMERAS, np.random.default_rng(3), **{**REALISTIC, "swap_share": 0.05})
    seen = done.observations
    result = triangulate(CAMERAS, seen.pixels, seen.confidence, sides=SIDES)
    found = np.zeros_like(done.swapped)
    for k, pairs in enumerate(result.swaps.pairs):
        for left, right in pairs:
            found[:, :, [left, right]] = result.swaps.swapped[:, :, [k]]
    clear = ~result.swaps.unclear_points
    assert done.swapped.sum() > 1000 and not (found & ~done.swapped).any()
    assert (found & done.swapped)[:, clear].sum() > 0.99 * done.swapped[:, clear].sum()
    without = triangulate(CAMERAS, seen.pixels, seen.confidence)
    assert mpjpe(result, landmarks.positions) < 0.8 * mpjpe(without, landmarks.positions)

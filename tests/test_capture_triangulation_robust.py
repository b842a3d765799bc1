"""Rejection of cameras: the embedded figure, a plain loop as reference, dead and misplaced cameras, the limit."""

from itertools import combinations

import numpy as np
import pytest

from motionbook.capture import Observed, Reason, project, semicircle, triangulate, true_landmarks
from motionbook.capture.session import LENS
from motionbook.synthesis.performers import idle, make_performer

CAMERAS = semicircle(4, distortion=LENS)


@pytest.fixture(scope="module")
def truth():
    return true_landmarks(idle(make_performer(0, 0), 10.0)).positions


def film(truth, rng, *, cameras=CAMERAS, noise=2.0, outliers=0.05, lost=0.10):
    """Pixels of every camera: noise per axis, outliers uniform within 200 px, drop-outs NaN."""
    pixels = np.stack([project(camera, truth) for camera in cameras])
    pixels += noise * rng.standard_normal(pixels.shape)
    wild = rng.random(pixels.shape[:-1]) < outliers
    pixels[wild] += rng.uniform(-200.0, 200.0, (int(wild.sum()), 2))
    pixels[rng.random(pixels.shape[:-1]) < lost] = np.nan
    return pixels


def millimetres(result, truth):
    return 1000 * np.linalg.norm(result.positions - truth, axis=-1)


def test_error_on_the_embedded_data_is_at_most_half_of_plain_dlts_and_below_15_mm(truth):
    """Over all points seen by two or more cameras; the unsolved count as plain DLT's error. Measured: 10 of 40 mm."""
    pixels = film(truth, np.random.default_rng(0))
    twice = np.isfinite(pixels[..., 0]).sum(axis=0) >= 2
    plain = millimetres(triangulate(CAMERAS, pixels, max_error=None), truth)
    result = triangulate(CAMERAS, pixels)
    ours = millimetres(result, truth)
    unsolved = np.isnan(ours) & twice
    assert (result.reason[unsolved] == Reason.ERROR_TOO_LARGE).all() and 0 < unsolved.mean() < 0.01
    counted = np.where(unsolved, plain, ours)[twice].mean()
    assert counted <= 0.5 * plain[twice].mean() and counted < 15
    peer = triangulate(CAMERAS, pixels, max_error=15.0, rule="mean", method="homogeneous")
    error = millimetres(peer, truth)
    assert counted <= np.where(np.isnan(error), plain, error)[twice].mean()
    np.testing.assert_array_equal(result.reason == Reason.SOLVED, np.isfinite(ours))


@pytest.mark.parametrize(("rule", "method"), [("each", "normal"), ("mean", "homogeneous"), ("each", "homogeneous")])
def test_agrees_with_a_loop_over_points_and_subsets(rule, method):
    """The same rules written plainly; five cameras, so that one, two and three of them are left out somewhere."""
    rng = np.random.default_rng(3)
    cameras = semicircle(5)
    places = rng.uniform((-0.5, 0.2, -0.3), (0.5, 1.7, 0.3), (150, 3))
    pixels = film(places, rng, cameras=cameras, outliers=0.3)
    weight = rng.uniform(0.5, 1.0, pixels.shape[:-1])
    result = triangulate(cameras, pixels, weight, max_error=12.0, rule=rule, method=method)
    sizes = set()
    for n in range(len(places)):
        place, used = plain_loop(cameras, pixels[:, n], weight[:, n], 12.0, rule, method)
        if place is None:
            assert np.isnan(result.positions[n]).all()
            continue
        np.testing.assert_allclose(result.positions[n], place, atol=1e-7)
        assert set(np.flatnonzero(result.observed[:, n] == Observed.USED)) == set(used)
        sizes.add(np.isfinite(pixels[:, n, 0]).sum() - len(used))
    assert sizes == {0, 1, 2, 3}


def plain_loop(cameras, pixels, weight, limit, rule, method):
    """A point's place and cameras; for each size from all cameras down, the best subset that meets the rule."""
    matrices = [camera.intrinsics @ np.c_[_matrix(camera), camera.translation] for camera in cameras]
    seen = [c for c in range(len(cameras)) if np.isfinite(pixels[c, 0])]
    for size in range(len(seen), 1, -1):
        found = []
        for kept in combinations(seen, size):
            rows = []
            for c in kept:
                for axis in (0, 1):
                    rows.append(weight[c] * (matrices[c][axis] - pixels[c, axis] * matrices[c][2]))
            rows = np.array(rows)
            if method == "normal":
                place = np.linalg.lstsq(rows[:, :3], -rows[:, 3], rcond=None)[0]
            else:
                vector = np.linalg.svd(rows)[2][-1]
                place = vector[:3] / vector[3]
            errors = [np.linalg.norm(project(cameras[c], place) - pixels[c]) for c in kept]
            if (max(errors) if rule == "each" else np.mean(errors)) <= limit:
                found.append((np.mean(errors), place, kept))
        if found:
            return min(found, key=lambda item: item[0])[1:]
    return None, ()


def _matrix(camera):
    from motionbook import rotations as rot

    return rot.to_matrix(camera.rotation)


def test_a_dead_camera_costs_its_own_pictures_only(truth):
    """Without detections nothing is rejected; frozen on one place, the camera is rejected all but always."""
    pixels = film(truth, np.random.default_rng(1), outliers=0.0, lost=0.0)
    three = triangulate(CAMERAS[:3], pixels[:3])
    for dead in (np.full_like(pixels[3], np.nan), np.broadcast_to([400.0, 300.0], pixels[3].shape)):
        without = triangulate(CAMERAS, np.concatenate([pixels[:3], dead[None]]))
        assert (without.reason == Reason.SOLVED).all()
        lost = without.observed[3] != Observed.USED
        assert lost.mean() > 0.995
        np.testing.assert_allclose(without.positions[lost], three.positions[lost], atol=1e-9)


def test_a_camera_that_was_moved_is_left_out_and_does_not_raise_the_limit(truth):
    pixels = film(truth, np.random.default_rng(2), outliers=0.0)
    pixels[1] += [150.0, -60.0]
    result = triangulate(CAMERAS, pixels)
    assert result.max_error < 20
    thrice = np.isfinite(pixels[[0, 2, 3], ..., 0]).all(axis=0)
    assert (result.observed[1][thrice & np.isfinite(pixels[1, ..., 0])] == Observed.REJECTED).mean() > 0.95
    assert np.nanmean(millimetres(result, truth)[thrice]) < 9


def test_two_cameras_that_contradict_each_other_give_no_place(truth):
    pixels = film(truth, np.random.default_rng(4), outliers=0.0, lost=0.0)[:2]
    pixels[1, 20:40] += [0.0, 90.0]
    result = triangulate(CAMERAS[:2], pixels)
    assert (result.reason[20:40] == Reason.ERROR_TOO_LARGE).all() and np.isnan(result.positions[20:40]).all()
    result.reason[20:40] = Reason.SOLVED
    assert (result.reason == Reason.SOLVED).all()


def test_unseen_legs_stay_unknown(truth):
    """A seated person: the legs of half of the take are in no picture, or in one. No mean, no line is put there."""
    pixels = film(truth, np.random.default_rng(5), outliers=0.0)
    pixels[:, 100:250, 25:33] = np.nan
    pixels[0, 100:150, 25:33] = [700.0, 900.0]
    result = triangulate(CAMERAS, pixels)
    assert (result.reason[100:150, 25:33] == Reason.TOO_FEW_CAMERAS).all()
    assert (result.reason[150:250, 25:33] == Reason.NOT_SEEN).all()
    assert np.isnan(result.positions[100:250, 25:33]).all() and np.isnan(result.error[100:250, 25:33]).all()


def test_a_landmark_never_seen_divides_by_nothing(truth):
    """All-NaN columns and all-NaN cameras pass without a warning (warnings are errors here)."""
    pixels = film(truth, np.random.default_rng(6))
    pixels[:, :, 7] = np.nan
    for options in ({}, {"refine": True}, {"method": "homogeneous"}, {"max_error": None}):
        result = triangulate(CAMERAS, pixels[:, :50], **options)
        assert (result.reason[:, 7] == Reason.NOT_SEEN).all()
        assert np.isfinite(result.positions[result.reason == Reason.SOLVED]).all()
    empty = triangulate(CAMERAS, np.full((4, 5, 33, 2), np.nan))
    assert (empty.reason == Reason.NOT_SEEN).all()


def test_the_limit_follows_the_recording(truth):
    """Six times the ordinary error within 8 to 60 px, whatever part of the landmarks the sample meets."""
    limits = [
        triangulate(CAMERAS, film(truth, np.random.default_rng(7), noise=noise)).max_error for noise in (0.1, 4.0, 40.0)
    ]
    assert limits[0] == 8 and 15 < limits[1] < 30 and limits[2] == 60
    assert triangulate(CAMERAS, film(truth, np.random.default_rng(7)), max_error=None).max_error == np.inf


def test_the_limit_looks_at_all_landmarks():
    """A step through the points that is a multiple of their number would see the first, which alone is exact."""
    rng = np.random.default_rng(9)
    places = rng.uniform((-0.5, 0.2, -0.3), (0.5, 1.7, 0.3), (4000, 3, 3))
    pixels = film(places, rng, noise=0.0, outliers=0.0, lost=0.0)
    pixels[:, :, 1:] += 4.0 * rng.standard_normal(pixels[:, :, 1:].shape)
    assert triangulate(CAMERAS, pixels).max_error > 10


@pytest.mark.parametrize("count", [2, 3, 6, 8])
def test_more_cameras_stand_more(count, truth):
    """Two of six and more may be wrong about the same point; with two cameras nothing can be rejected."""
    cameras = semicircle(count, distortion=LENS)
    pixels = film(truth[:60], np.random.default_rng(8), cameras=cameras, outliers=0.0, lost=0.0)
    pixels[: max(count - 4, 0), 10:20] += [80.0, 120.0]
    result = triangulate(cameras, pixels)
    assert (result.reason == Reason.SOLVED).all()
    if count > 4:
        assert (result.cameras_used[10:20] == 4).mean() > 0.99
    assert np.mean(millimetres(result, truth[:60])) < {2: 30, 3: 12, 6: 9, 8: 9}[count]

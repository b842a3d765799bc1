"""The simulated detector: each of its errors is there in the amount that was asked for, and nothing else is."""

import numpy as np
import pytest

from motionbook.capture import LANDMARKS, Landmarks, Observations, observe, project, semicircle, true_landmarks
from motionbook.capture.landmarks import REALISTIC, simulate
from motionbook.capture.occlusion import hidden, segment_distance
from motionbook.synthesis.performers import idle, make_performer

CAMERAS = semicircle(4)
RIGHT_OF = np.array(
    [LANDMARKS.index(n.replace("left", "right")) if "left" in n else i for i, n in enumerate(LANDMARKS)]
)


@pytest.fixture(scope="module")
def truth():
    return true_landmarks(idle(make_performer(2, 3), 12.0))


def exact(truth):
    return np.stack([project(camera, truth.positions) for camera in CAMERAS])


def plain(truth, seed=0, **errors):
    return simulate(truth, CAMERAS, np.random.default_rng(seed), **({"noise": 0.0, "drop_share": 0.0} | errors))


def test_distance_of_two_straight_pieces_against_a_search():
    """A clamp forgotten at an end, or parallel pieces, change this by centimetres."""
    rng = np.random.default_rng(0)
    p, q, a, b = rng.uniform(-1, 1, (4, 40, 3))
    q[0] = p[0] + 2 * (b[0] - a[0])  # parallel
    b[1] = a[1]  # a point
    s = np.linspace(0, 1, 401)
    first = p[:, None] + s[:, None] * (q - p)[:, None]
    second = a[:, None] + s[:, None] * (b - a)[:, None]
    apart = np.linalg.norm(first[:, :, None] - second[:, None], axis=-1).min(axis=(1, 2))
    np.testing.assert_allclose(segment_distance(p, q, a, b), apart, atol=0.006)
    assert (segment_distance(p, q, a, b) <= apart + 1e-9).all()


def test_body_hides_what_is_behind_it():
    """A person who faces camera-forward at the origin: the far ear, and a hand behind the back, are hidden."""
    place = true_landmarks(idle(make_performer(2, 3), 1.0)).positions[:1].copy()
    front, side = semicircle(3)[1], semicircle(3, spread=np.pi)[0]  # the side camera stands at -X, the person's right
    behind = LANDMARKS.index("left_wrist")
    place[0, behind] = 0.5 * (place[0, 23] + place[0, 24]) + [0.0, 0.1, -0.25]
    seen_front, seen_side = (dict(zip(LANDMARKS, hidden(LANDMARKS, place, c)[0], strict=True)) for c in (front, side))
    assert seen_front["left_wrist"] and not seen_front["nose"] and not seen_front["right_knee"]
    assert seen_side["left_ear"] and not seen_side["right_ear"] and seen_side["left_elbow"]
    place[0, behind] = np.nan
    assert not hidden(LANDMARKS, place, front)[0, behind]


def test_hidden_limbs_are_less_sure_and_wider_spread_while_the_face_stays_sure(truth):
    result = plain(truth, noise=2.0, occlusion=True)
    off = np.abs(result.observations.pixels - exact(truth))
    wrist = [LANDMARKS.index(f"{side}_{part}") for side in ("left", "right") for part in ("wrist", "elbow", "pinky")]
    gone = result.hidden[:, :, wrist]
    assert 0.05 < gone.mean() < 0.6
    confidence = result.observations.confidence
    assert confidence[:, :, wrist][gone].mean() < 0.5 < 0.8 < confidence[:, :, wrist][~gone].mean()
    assert off[:, :, wrist][gone].mean() > 2.5 * off[:, :, wrist][~gone].mean()
    ear = [LANDMARKS.index(f"{side}_ear") for side in ("left", "right")]
    far = result.hidden[:, :, ear]
    assert far.any() and confidence[:, :, ear][far].mean() > 0.8


def test_swaps_exchange_left_and_right_and_nothing_else(truth):
    result = plain(truth, swap_share=0.05)
    mask, pixels, places = result.swapped, result.observations.pixels, exact(truth)
    left = [i for i, name in enumerate(LANDMARKS) if name.startswith("left") and mask[:, :, i].any()]
    assert len(left) == 11 and 0.02 < mask[:, :, left].mean() < 0.1  # shoulders to feet; face points stay
    for i in left:
        now = mask[:, :, i]
        np.testing.assert_allclose(pixels[:, :, i][now], places[:, :, RIGHT_OF[i]][now], atol=1e-9)
        np.testing.assert_allclose(pixels[:, :, RIGHT_OF[i]][now], places[:, :, i][now], atol=1e-9)
    np.testing.assert_allclose(pixels[~mask], places[~mask], atol=1e-9)
    sides = mask[:, :, left].mean(axis=(1, 2))
    assert sides[[0, 3]].mean() > 2 * sides[[1, 2]].mean()  # the outer cameras see the person from the side


def test_outliers_are_uniform_and_as_many_as_asked(truth):
    result = plain(truth, outlier_share=0.05)
    off = result.observations.pixels - exact(truth)
    assert result.outliers.mean() == pytest.approx(0.05, abs=0.005)
    thrown = off[result.outliers & ~result.lost]
    assert np.abs(thrown).max() <= 200 and thrown.std() == pytest.approx(200 / np.sqrt(3), rel=0.05)
    assert np.abs(off[~result.outliers]).max() < 1e-9


def test_each_camera_may_have_its_own_numbers(truth):
    result = plain(truth, noise=[1.0, 2.0, 4.0, 0.0], drop_share=[0.0, 0.1, 0.3, 1.0])
    off = result.observations.pixels - exact(truth)
    np.testing.assert_allclose(np.nanstd(off[:3], axis=(1, 2, 3)), [1, 2, 4], rtol=0.1)
    assert result.lost.mean(axis=(1, 2)) == pytest.approx([0, 0.1, 0.3, 1.0], abs=0.03)
    assert (result.observations.confidence[3] == 0).all()  # a dead camera
    for wrong in ([1.0, 2.0], 1.5, -0.1):
        with pytest.raises(ValueError, match="drop_share"):
            plain(truth, drop_share=wrong)


def test_embedded_default_is_repeatable_and_says_where_it_comes_from(truth):
    a, b, c = (observe(truth, CAMERAS, np.random.default_rng(s), **REALISTIC) for s in (1, 1, 2))
    np.testing.assert_array_equal(a.pixels, b.pixels)
    assert not np.array_equal(a.pixels, c.pixels)
    assert a.sizes == ((1920, 1080),) * 4 and a.cameras == ("cam01", "cam02", "cam03", "cam04")
    assert a.source == "simulated detector" and a.fps == truth.fps


def test_options_that_are_off_change_nothing(truth):
    """The random numbers of the old errors come first, so results made without the new ones stay."""
    with_swaps = simulate(truth, CAMERAS, np.random.default_rng(5), swap_share=0.02)
    without = simulate(truth, CAMERAS, np.random.default_rng(5))
    same = ~with_swaps.swapped
    np.testing.assert_array_equal(with_swaps.observations.pixels[same], without.observations.pixels[same])


def test_observations_keep_sizes_and_names_and_refuse_wrong_counts(truth):
    with pytest.raises(ValueError, match=r"sizes: expected one per camera \(2\), got 1"):
        Observations(("a",), np.zeros((2, 1, 1, 2)), np.ones((2, 1, 1)), 30.0, sizes=((10, 10),))
    with pytest.raises(ValueError, match="left and right are known of MediaPipe's 33"):
        few = Landmarks(("a",), np.zeros((5, 1, 3)), np.ones((5, 1)), 30.0)
        simulate(few, CAMERAS, np.random.default_rng(0), swap_share=0.5)

"""Drawing: depths and outlines against closed forms and brute force, sides where a viewer expects them."""

import warnings

import numpy as np
import pytest
from book_fixture import waving_clip

import motionbook
from motionbook import Clip, Skeleton, drawing
from motionbook import rotations as rot
from motionbook.raster import rounded_cones
from motionbook.report.figures import contact_sheet
from motionbook.report.study_figures import bodies_figure, scatter_figure
from motionbook.report.theme import OTHER_COLOURS, SYSTEM_COLOURS, system_colour
from motionbook.skeletons import CSKEL27, FREEMOCAP, LAFAN1


def one_cone(start, end, radii, size=(90, 90)):
    return rounded_cones(
        np.array([start], float), np.array([end], float), np.array([radii], float), np.array([7]), *size
    )


def test_sphere_depth_is_its_equation():
    depth, normals, owner = one_cone((40, 50, 5), (40, 50, 5), (20, 20))
    rows, columns = np.mgrid[:90, :90] + 0.5
    under = 20.0**2 - (columns - 40) ** 2 - (rows - 50) ** 2
    assert ((under > 0) == np.isfinite(depth)).all()
    inside = under > 0
    np.testing.assert_allclose(depth[inside], 5 + np.sqrt(under[inside]), rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(normals[inside], axis=-1), 1, atol=1e-5)
    assert set(np.unique(owner)) == {-1, 7}


@pytest.mark.parametrize(
    ("start", "end", "radii"),
    [
        ((20, 30, 0), (70, 60, 25), (14, 6)),  # leaning towards the viewer and tapering
        ((45, 45, 0), (45.5, 45, 60), (12, 12)),  # nearly along the line of sight
        ((40, 40, -10), (50, 40, 30), (5, 16)),  # the far sphere is larger
        ((20, 45, 0), (70, 45, 0), (10, 10)),  # across
    ],
)
def test_rounded_cone_is_the_union_of_its_spheres(start, end, radii):
    """Against 4,000 spheres drawn one by one; fault seen: the wrong root of the quadratic."""
    depth, _, _ = one_cone(start, end, radii)
    rows, columns = np.mgrid[:90, :90] + 0.5
    expected = np.full((90, 90), -np.inf)
    for s in np.linspace(0, 1, 4000):
        x, y, z = np.array(start) + s * (np.array(end) - start)
        under = (radii[0] + s * (radii[1] - radii[0])) ** 2 - (columns - x) ** 2 - (rows - y) ** 2
        expected = np.maximum(expected, np.where(under > 0, z + np.sqrt(np.maximum(under, 0)), -np.inf))
    both = np.isfinite(depth) & np.isfinite(expected)
    assert (np.isfinite(depth) != np.isfinite(expected)).mean() < 2e-3
    np.testing.assert_allclose(depth[both], expected[both], atol=2e-2)


def test_nearer_figure_hides_the_farther():
    starts, ends = np.array([[45, 45, 0], [45, 45, 30.0]]), np.array([[45, 45, 0], [45, 45, 30.0]])
    for order in ([0, 1], [1, 0]):
        owner = rounded_cones(starts[order], ends[order], np.full((2, 2), 10.0), np.array([0, 1])[order], 90, 90)[2]
        assert owner[45, 45] == 1


def test_left_hand_is_on_the_viewers_right_from_the_front():
    clip = waving_clip(1)
    starts, ends = drawing.pose(clip)
    view = drawing.fit_view(np.stack([starts, ends]), (160, 200), azimuth=0.0)
    body = drawing.body_of(clip.skeleton)
    hand = body.joints == LAFAN1.index("LeftHand")
    blue, red = np.array([0, 0, 1.0]), np.array([1.0, 0, 0])
    picture = drawing.draw(
        [
            drawing.Figure(starts[0][~hand], ends[0][~hand], body.radii[~hand], blue),
            drawing.Figure(starts[0][hand], ends[0][hand], body.radii[hand], red),
        ],
        view,
    ).astype(int)
    reddish = (picture[..., 0] > picture[..., 2] + 60).nonzero()
    assert len(reddish[1]) > 10 and reddish[1].mean() > 100


@pytest.mark.parametrize("angle", [0.0, 0.7, -2.5])
def test_facing_follows_the_root(angle):
    clip = waving_clip(2)
    turned = clip.rotations.copy()
    turned[:, 0] = rot.multiply(rot.from_axis_angle([0.0, 1.0, 0.0], angle), turned[:, 0])
    assert drawing.facing(Clip(LAFAN1, clip.root_positions, turned, 30.0)) == pytest.approx(angle, abs=1e-3)


@pytest.mark.parametrize("skeleton", [LAFAN1, FREEMOCAP, CSKEL27])
def test_every_named_skeleton_gets_a_person(skeleton):
    body = drawing.body_of(skeleton)
    clip = Clip(skeleton, np.zeros((1, 3)), rot.identity((1, len(skeleton))), 30.0)
    starts, ends = drawing.pose(clip, body)
    lengths = np.linalg.norm(ends - starts, axis=-1)
    assert 25 <= len(body.joints) <= 45 and lengths.max() < 0.6 and np.isfinite(lengths).all()
    assert 0.01 < body.radii.min() and body.radii.max() < 0.13


def test_a_skeleton_that_is_no_person_gets_its_bones():
    skeleton = Skeleton(("a", "b", "c"), (-1, 0, 1), np.array([[0, 0, 0], [0, 0.5, 0], [0, 0, 0.1]]))
    body = drawing.body_of(skeleton)
    np.testing.assert_allclose(body.ends, skeleton.offsets[1:])
    assert body.joints.tolist() == [0, 1]


def test_shadow_lies_on_the_floor_below_the_person():
    """Without a person the floor is brighter where the shadow was; fault seen: the light map's rows upside down."""
    clip = waving_clip(1)
    starts, ends = drawing.pose(clip)
    body = drawing.body_of(clip.skeleton)
    view = drawing.fit_view(np.stack([starts, ends]), (200, 260), elevation=0.35)
    picture = drawing.draw([drawing.Figure(starts[0], ends[0], body.radii, np.array([0, 0, 1.0]))], view).astype(int)
    grey = (abs(picture[..., 0] - picture[..., 2]) < 12) & (picture.mean(axis=-1) < 225)
    rows = grey.nonzero()[0]
    assert len(rows) > 80 and np.median(rows) > 0.7 * 260


def test_a_step_of_whole_metres_changes_nothing():
    """Light, shadows and grid move with the person; fault seen: the map of what stands above a place mirrored in z."""
    clip = waving_clip(1)
    body = drawing.body_of(clip.skeleton)
    pictures = []
    for step in (np.zeros(3), np.array([2.0, 0.0, 3.0])):
        starts, ends = (places + step for places in drawing.pose(clip, body))
        view = drawing.fit_view(np.stack([starts, ends]), (160, 200), azimuth=0.6, elevation=0.5)
        figure = drawing.Figure(starts[0], ends[0], body.radii, np.array([0.1, 0.4, 0.7]))
        pictures.append(drawing.draw([figure], view).astype(int))
    assert abs(pictures[0] - pictures[1]).max() <= 2


def test_pictures_repeat():
    clip = waving_clip(9)
    one, again = (drawing.draw_clip(clip, [0, 8], size=(60, 80)) for _ in range(2))
    assert (one == again).all() and (one[0] != one[1]).any()
    assert one.shape == (2, 80, 60, 3) and one.dtype == np.uint8


def test_contact_sheet_has_a_picture_per_frame():
    figure = contact_sheet([("GT", waving_clip(9), [0, 4, 8]), ("SLERP", waving_clip(9), [0, 8])], height=0.8)
    assert len(figure.axes) == 5
    with pytest.raises(ValueError, match="at least one"):
        contact_sheet([])


def test_a_label_that_names_a_system_has_its_colour():
    assert system_colour("SLERP-Q, fold 2") == SYSTEM_COLOURS["SLERP-Q"] != system_colour("SLERP")
    assert system_colour("GTX") in OTHER_COLOURS


def _seen_by(kind: str, rgb: np.ndarray) -> np.ndarray:
    """Linear RGB as a dichromat sees it (matrices of Machado, Oliveira and Fernandes 2009, severity 1)."""
    rows = {
        "normal": "1 0 0  0 1 0  0 0 1",
        "protanopia": "0.152286 1.052583 -0.204868  0.114503 0.786281 0.099216  -0.003882 -0.048116 1.051998",
        "deuteranopia": "0.367322 0.860646 -0.227968  0.280085 0.672501 0.047413  -0.011820 0.042940 0.968881",
        "tritanopia": "1.255528 -0.076749 -0.178779  -0.078411 0.930809 0.147602  0.004733 0.691367 0.303900",
    }
    return np.clip(rgb @ np.array(rows[kind].split(), float).reshape(3, 3).T, 0, 1)


def _lab(linear: np.ndarray) -> np.ndarray:
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x = linear @ to_xyz.T / np.array([0.9505, 1.0, 1.089])
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


@pytest.mark.parametrize("kind", ["normal", "protanopia", "deuteranopia", "tritanopia"])
def test_systems_can_be_told_apart(kind):
    """CIE76 difference of every pair above 15 (2.3 is just noticeable)."""
    colours = np.array([drawing.rgb(colour) for colour in SYSTEM_COLOURS.values()]) ** 2.2
    lab = _lab(_seen_by(kind, colours))
    apart = np.linalg.norm(lab[:, None] - lab[None], axis=-1)[np.triu_indices(len(lab), 1)]
    assert apart.min() > 15


@pytest.mark.parametrize("page", ["#ffffff", "#121212"])
def test_systems_show_on_white_and_on_black(page):
    """WCAG contrast of graphics; 2 for the lightest on white, which never carries text there."""

    def luminance(colour):
        c = drawing.rgb(colour)
        linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    for colour in SYSTEM_COLOURS.values():
        high, low = sorted((luminance(colour), luminance(page)), reverse=True)
        assert (high + 0.05) / (low + 0.05) > 2.0


def test_real_rigs_are_drawn(shared_data):
    """Files of many exporters: whatever their names and rest pose, a finite body; most of them a whole person."""
    people = 0
    files = sorted((shared_data / "bvh" / "real").glob("*.bvh"))
    for path in files:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what these files' headers get wrong is the reader's matter
            clip = motionbook.read_bvh(path)[:1]
        body = drawing.body_of(clip.skeleton, clip.translations)
        starts, ends = drawing.pose(clip, body)
        assert np.isfinite(starts).all() and np.isfinite(ends).all() and (body.radii > 0).all(), path.name
        people += len({tuple(radii) for radii in body.radii.round(4)}) > 15 and body.radii.max() > 0.07
    assert people >= 0.6 * len(files)


def test_every_point_of_a_scatter_is_shown_and_those_at_the_edge_are_counted():
    predicted, scores = np.array([-9.0, 2.0, 3.0, 7.5, 12.0]), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    axes = scatter_figure(predicted, scores, ["a", "a", "b", "b", "b"]).axes[0]
    low, high = axes.get_ylim()
    places = np.concatenate([line.get_ydata() for line in axes.lines if line.get_marker() in "ov^"])
    assert len(places) == 5 and places.min() >= low and places.max() <= high
    assert {text.get_text() for text in axes.texts} == {"1 below, to -9.0", "2 above, to 12.0"}


def test_bodies_are_shown_where_and_when_they_are_furthest_off():
    corners = np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.0, 1.5, 0.0], [0.0, 0.0, 0.3]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    reference = np.repeat(corners[None], 4, axis=0)
    moved = reference.copy()
    moved[2, 2, 0] += 0.12
    figure = bodies_figure(reference, [("x", moved), ("y", moved)], faces, fps=10.0)
    assert [axes.get_xlabel() for axes in figure.axes if axes.get_xlabel()] == ["12.0 cm\nat 0.2 s"] * 2

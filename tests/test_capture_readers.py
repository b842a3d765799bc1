"""Files of other programs: what they hold is read with names and sizes, what they lack is asked for, by name."""

import json

import numpy as np
import pytest

from motionbook.capture import LANDMARKS, project, semicircle, true_landmarks
from motionbook.capture.people import choose_person
from motionbook.capture.readers import (
    BODY_25,
    BODY_25B,
    COCO_17,
    HALPE_26,
    rate_of,
    read_arrays,
    read_freemocap_2d,
    read_freemocap_3d,
    read_pose_folders,
    read_timestamps,
)
from motionbook.synthesis.performers import idle, make_performer


def person(xyc):
    return {"person_id": [-1], "pose_keypoints_2d": np.where(np.isfinite(xyc), xyc, 0.0).round(3).ravel().tolist()}


def write_frames(folder, people, first=0, name="cam_{:012d}_keypoints.json"):
    folder.mkdir(parents=True, exist_ok=True)
    for frame, found in enumerate(people, start=first):
        (folder / name.format(frame)).write_text(json.dumps({"version": 1.3, "people": [person(p) for p in found]}))
    return folder


def test_keypoint_orders_have_the_joints_where_the_detectors_put_them(shared_data):
    with np.load(shared_data / "capture" / "pose2sim_demo" / "openpose_body25b_2d.npz") as arrays:
        assert tuple(arrays["names"]) == BODY_25B
    assert (len(COCO_17), len(HALPE_26), len(BODY_25), len(BODY_25B)) == (17, 26, 25, 25)
    assert COCO_17[11:] == ("LHip", "RHip", "LKnee", "RKnee", "LAnkle", "RAnkle")
    assert (HALPE_26[17], HALPE_26[19], HALPE_26[20], HALPE_26[25]) == ("Head", "Hip", "LBigToe", "RHeel")
    assert (BODY_25[1], BODY_25[8], BODY_25[4], BODY_25[24]) == ("Neck", "MidHip", "RWrist", "RHeel")
    for names in (COCO_17, HALPE_26, BODY_25, BODY_25B):
        assert len(set(names)) == len(names)


def test_real_detections_written_as_json_come_back(shared_data, tmp_path):
    """The Pose2Sim recording through OpenPose's files: four cameras, 100 frames, 25 keypoints, 4 % missing."""
    source = shared_data / "capture" / "pose2sim_demo" / "openpose_body25b_2d.npz"
    arrays = read_arrays(source)
    assert arrays.names == BODY_25B and arrays.fps == 60 and arrays.cameras[0] == "cam_01" and arrays.sizes is None
    with np.load(source) as file:
        seen = file["xyc"].astype(float)
    for camera in range(4):
        write_frames(tmp_path / f"cam_{camera + 1:02d}_json", [[frame] for frame in seen[camera]])
    read = read_pose_folders(tmp_path, model="BODY_25B", fps=60.0)
    assert read.cameras == arrays.cameras and read.pixels.shape == (4, 100, 25, 2)
    np.testing.assert_allclose(read.pixels, arrays.pixels, atol=5e-4 + 1e-9)
    np.testing.assert_allclose(read.confidence, arrays.confidence, atol=5e-4 + 1e-9)
    assert np.isnan(arrays.pixels[..., 0]).mean() == pytest.approx(0.044, abs=0.002)


def test_mediapipe_array_keeps_its_sizes(shared_data):
    read = read_arrays(shared_data / "capture" / "pose2sim_demo" / "mediapipe33_heavy_2d.npz")
    assert read.names == LANDMARKS and read.sizes == ((1080, 1920), (1080, 1920), (1088, 1920), (1088, 1920))
    assert read.source == "mediapipe33_heavy_2d" and np.isfinite(read.pixels).all()
    assert read_arrays(shared_data / "capture" / "pose2sim_demo" / "mediapipe33_heavy_2d.npz", fps=59.94).fps == 59.94


def test_frames_are_counted_by_name_and_missing_ones_are_unknown(tmp_path):
    rng = np.random.default_rng(0)
    seen = np.concatenate([rng.uniform(100, 900, (6, 17, 2)), rng.uniform(0.4, 1, (6, 17, 1))], axis=-1)
    a = write_frames(tmp_path / "a", [[p] for p in seen], first=10, name="take3_{:05d}.json")
    b = write_frames(tmp_path / "b", [[p] for p in seen[:3]], first=14, name="x.{:d}.json")
    (a / "take3_00012.json").unlink()
    read = read_pose_folders([a, b], model="COCO_17", fps=29.97, sizes=[(1920, 1080), (1280, 720)])
    assert read.pixels.shape == (2, 7, 17, 2) and read.fps == 29.97 and read.sizes == ((1920, 1080), (1280, 720))
    np.testing.assert_allclose(read.pixels[0, 0], seen[0, :, :2], atol=1e-3)
    assert np.isnan(read.pixels[0, [2, 6]]).all() and np.isnan(read.pixels[1, :4]).all()
    np.testing.assert_allclose(read.pixels[1, 4], seen[0, :, :2], atol=1e-3)
    assert (read.confidence[0, 2] == 0).all()


@pytest.fixture(scope="module")
def crowd():
    """Two performers a metre and a half apart in four cameras: people[camera][frame] in an order that changes."""
    rng = np.random.default_rng(1)
    cameras = semicircle(4)
    places = [true_landmarks(idle(make_performer(s, 4), 1.0)).positions for s in (0, 1)]
    places[1] = places[1] + np.array([1.2, 0.0, -0.9])
    people, truth = [], np.empty((4, 30, 33, 3))
    for index, camera in enumerate(cameras):
        frames = []
        for frame in range(30):
            found = [np.column_stack([project(camera, p[frame]), np.full(33, 0.8)]) for p in places]
            found[index % 2][:, 2] = 0.95  # every other camera is surer of the other person
            truth[index, frame] = found[0]
            frames.append([found[i] for i in rng.permutation(2)])
        people.append(frames)
    return cameras, people, truth


def test_one_person_is_followed_through_a_changing_order(crowd):
    _, people, _ = crowd
    chosen = choose_person(people, 33, "track")
    step = np.linalg.norm(np.diff(chosen[..., :2], axis=1), axis=-1)
    assert step.max() < 60  # a person moves on; the other one is hundreds of pixels away
    first = choose_person(people, 33, 0)
    assert np.linalg.norm(np.diff(first[..., :2], axis=1), axis=-1).max() > 200


def test_cameras_agree_on_one_person_where_each_alone_would_not(crowd):
    cameras, people, _ = crowd
    both = [np.stack([np.stack(f) for f in camera]) for camera in people]
    agreed = choose_person(people, 33, "agree", cameras)
    alone = choose_person(people, 33, "track")
    who = [_identity(crowd, chosen) for chosen in (agreed, alone)]
    assert len(set(who[0])) == 1 and len(set(who[1])) == 2  # the surest of each camera are two people
    assert len(both) == 4
    with pytest.raises(ValueError, match=r"person='agree' needs one per folder \(4\), got none"):
        choose_person(people, 33, "agree")


def _identity(crowd, chosen):
    """Whom each camera chose in all of its frames: 0, 1, or -1 for a mixture."""
    found = []
    for camera in range(4):
        same = np.abs(chosen[camera] - crowd[2][camera]).max(axis=(1, 2)) < 1e-9
        found.append(0 if same.all() else 1 if not same.any() else -1)
    return found


def test_a_picture_with_nobody_leaves_its_camera_out(crowd):
    cameras, people, _ = crowd
    gone = [[[] if (c, f) in ((0, 3), (2, 4)) else found for f, found in enumerate(people[c])] for c in range(4)]
    chosen = choose_person(gone, 33, "agree", cameras)
    assert np.isnan(chosen[0, 3]).all() and np.isnan(chosen[2, 4]).all()
    assert len(set(_identity(crowd, np.where(np.isnan(chosen), crowd[2], chosen)))) <= 2
    assert np.isfinite(np.delete(chosen, [3, 4], axis=1)).all()


def test_a_camera_that_sees_only_somebody_else_is_left_out_and_comes_back(crowd):
    """In frames 10 to 14 the person followed is hidden from the first camera, and the bystander is not."""
    cameras, people, truth = crowd
    start = choose_person(people, 33, "agree", cameras)
    who = _identity(crowd, start)[0]
    mine = [
        [np.abs(p - truth[0, f]).max() < 1e-9 if who == 0 else np.abs(p - truth[0, f]).max() > 1 for p in found]
        for f, found in enumerate(people[0])
    ]
    hidden = [list(camera) for camera in people]
    for frame in range(10, 15):
        hidden[0][frame] = [p for p, is_mine in zip(people[0][frame], mine[frame], strict=True) if not is_mine]
    chosen = choose_person(hidden, 33, "agree", cameras)
    assert np.isnan(chosen[0, 10:15]).all()
    rest = np.ones(30, dtype=bool)
    rest[10:15] = False
    np.testing.assert_array_equal(chosen[:, rest], start[:, rest])
    np.testing.assert_array_equal(chosen[1:, 10:15], start[1:, 10:15])


def test_tallest_and_most_confident(crowd):
    _, people, _ = crowd
    tall = choose_person(people, 33, "largest")
    heights = [np.ptp(p[:, 1]) for p in people[1][7]]
    assert np.ptp(tall[1, 7, :, 1]) == max(heights)
    assert (choose_person(people, 33, "confident")[..., 2] == 0.95).all()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", r"not a JSON file"),
        ('{"persons": []}', r"people: expected a list, got keys persons"),
        ('{"people": [{}]}', r"people\[0\]\.pose_keypoints_2d: expected x, y, confidence per keypoint, found nothing"),
        (
            json.dumps({"people": [{"pose_keypoints_2d": [1.0] * 78}]}),
            r"people\[0\]\.pose_keypoints_2d: expected 3 x 17 numbers, got 78; 26 keypoints fit model=HALPE_26",
        ),
        (
            json.dumps({"people": [{"pose_keypoints_2d": ["a"] * 51}]}),
            r"people\[0\]\.pose_keypoints_2d: expected numbers",
        ),
    ],
)
def test_a_broken_json_file_is_named_with_its_field(tmp_path, content, words):
    folder = tmp_path / "cam1"
    folder.mkdir()
    (folder / "cam1_000007.json").write_text(content)
    with pytest.raises(ValueError, match=rf"cam1_000007\.json: {words}"):
        read_pose_folders([folder], model="COCO_17", fps=30.0)


def test_folders_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere: expected a camera's folder of JSON files, found no folder"):
        read_pose_folders([tmp_path / "nowhere"], model="COCO_17", fps=30.0)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="empty: expected JSON files, found none"):
        read_pose_folders(tmp_path, model="COCO_17", fps=30.0)
    (tmp_path / "empty" / "pose.json").write_text("{}")
    with pytest.raises(ValueError, match=r"pose\.json: expected a frame number"):
        read_pose_folders(tmp_path, model="COCO_17", fps=30.0)
    (tmp_path / "empty" / "pose.json").unlink()
    for name in ("a_1.json", "b_01.json"):
        (tmp_path / "empty" / name).write_text('{"people": []}')
    with pytest.raises(ValueError, match=r"b_01\.json: frame 1 is in a_1\.json as well"):
        read_pose_folders(tmp_path, model="COCO_17", fps=30.0)
    with pytest.raises(ValueError, match="model: expected COCO_17, HALPE_26"):
        read_pose_folders(tmp_path, model="BODY", fps=30.0)
    with pytest.raises(ValueError, match="fps: expected"):
        read_pose_folders(tmp_path, model="COCO_17", fps=float("nan"))
    with pytest.raises(ValueError, match="person: expected 'track', 'agree'"):
        choose_person([[]], 17, "first")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"xyc": None}, r"expected an array 'xyc' or 'xyv', found names, fps"),
        ({"xyc": np.zeros((2, 5, 3))}, r"xyc: expected \(cameras, frames, points, 3\), got \(2, 5, 3\)"),
        ({"names": None}, r"names: expected one name per point, found no such field"),
        ({"names": np.array(["a"])}, r"names: expected one per point \(2\), got 1"),
        ({"fps": None}, r"fps: the file does not say; pass fps="),
        ({"sizes_wh": np.zeros((3, 2))}, r"sizes_wh: expected one per camera \(1\), got 3"),
    ],
)
def test_a_broken_npz_is_named_with_its_field(tmp_path, change, words):
    arrays = {"xyc": np.ones((1, 4, 2, 3)), "names": np.array(["a", "b"]), "fps": 30.0} | change
    np.savez(tmp_path / "take.npz", **{key: value for key, value in arrays.items() if value is not None})
    with pytest.raises(ValueError, match=rf"take\.npz: {words}"):
        read_arrays(tmp_path / "take.npz")


def test_freemocap_pixels_with_and_without_a_third_number(tmp_path):
    rng = np.random.default_rng(2)
    array = rng.uniform(0, 1000, (3, 8, 553, 3))
    array[..., 2] = rng.uniform(-500, 500, array.shape[:3])  # a depth
    array[1, 4] = np.nan
    folder = tmp_path / "session" / "output_data" / "raw_data"
    folder.mkdir(parents=True)
    name = "mediapipe_2dData_numCams_numFrames_numTrackedPoints_pixelXY.npy"
    np.save(folder / name, array)
    read = read_freemocap_2d(tmp_path / "session", fps=29.97)
    assert read.names == LANDMARKS and read.pixels.shape == (3, 8, 33, 2) and read.fps == 29.97
    np.testing.assert_array_equal(read.pixels[0], array[0, :, :33, :2])
    assert np.isnan(read.pixels[1, 4]).all() and (read.confidence[1, 4] == 0).all() and (read.confidence[0] == 1).all()
    with pytest.raises(ValueError, match=rf"{name}: third number: expected a confidence of 0 to 1, got -"):
        read_freemocap_2d(folder / name, fps=30, third="confidence")
    np.save(folder / name, array[..., :2])
    np.testing.assert_array_equal(read_freemocap_2d(folder / name, fps=30).pixels, read.pixels)
    (folder / name).rename(folder / "mediaPipe2dData_numCams_numFrames_numTrackedPoints_pixelXY.npy")  # older
    assert read_freemocap_2d(tmp_path, fps=30).pixels.shape == (3, 8, 33, 2)
    np.save(folder / name, array[:, :, :20])
    with pytest.raises(ValueError, match=r"33 or more points, 2 or 3\), got \(3, 8, 20, 3\)"):
        read_freemocap_2d(folder / name, fps=30)
    with pytest.raises(ValueError, match=r"expected one file like mediapipe_2dData_\.\.\._pixelXY\.npy, found .*, "):
        read_freemocap_2d(tmp_path, fps=30)


def test_freemocap_points_are_millimetres_with_z_up_until_told_otherwise(tmp_path):
    array = np.zeros((5, 553, 3))
    array[:, 0] = [100.0, 200.0, 1700.0]
    array[2, 5] = np.nan
    path = tmp_path / "mediapipe_skeleton_3d.npy"
    np.save(path, array)
    with pytest.raises(ValueError, match=r"mediapipe_skeleton_3d\.npy: fps: this file does not say its rate"):
        read_freemocap_3d(path)
    read = read_freemocap_3d(path, fps=30)
    np.testing.assert_allclose(read.positions[0, 0], [0.2, 1.7, 0.1])
    assert np.isnan(read.positions[2, 5]).all() and read.confidence[2, 5] == 0 and read.positions.shape == (5, 33, 3)
    plain = read_freemocap_3d(path, fps=30, up="y", metres_per_unit=1.0)
    np.testing.assert_allclose(plain.positions[0, 0], [100, 200, 1700])


def test_freemocap_tidy_csv_gives_the_true_rate(tmp_path):
    rows = ["frame,timestamp,model,keypoint,x,y,z,reprojection_error"]
    for frame in range(40):
        for name in ("nose", "left_hip"):
            if (frame, name) != (7, "nose") and frame not in (11, 12):
                rows.append(f"{frame},{frame / 29.97!r},mediapipe.body,{name},{frame},2,3,0.5")
        rows.append(f"{frame},{frame / 29.97!r},mediapipe.face,face_0001,1,2,3,0.5")
    path = tmp_path / "take_by_frame.csv"
    path.write_text("\n".join(rows))
    read = read_freemocap_3d(path, up="y", metres_per_unit=1.0)
    assert read.names == ("nose", "left_hip") and read.fps == pytest.approx(29.97, rel=1e-9)
    assert np.isnan(read.positions[7, 0]).all() and read.positions[7, 1].tolist() == [7, 2, 3]
    assert len(read.positions) == 40 and np.isnan(read.positions[11:13]).all() and read.positions[13, 0, 0] == 13
    path.write_text("\n".join([*rows, rows[1]]))
    with pytest.raises(ValueError, match="keypoint 'nose' stands twice in frame 0"):
        read_freemocap_3d(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"expected columns such as nose_x, .*; found a, b"):
        read_freemocap_3d(path)
    path.write_text("nose_x,nose_y\n1,2\n")
    with pytest.raises(ValueError, match="found no nose_z"):
        read_freemocap_3d(path, fps=30)


def test_real_clocks_are_not_30(shared_data):
    stamps = read_timestamps(shared_data / "capture" / "camera_timestamps_4cam.csv")
    facts = json.loads((shared_data / "capture" / "expected.json").read_text())["camera_timestamps_4cam.csv"]
    assert set(stamps) == set(facts)
    for camera, times in stamps.items():
        assert len(times) == facts[camera]["frames"]
        assert rate_of(times) == pytest.approx(facts[camera]["mean_fps"], rel=1e-9)
    with pytest.raises(ValueError, match="rising time stamps"):
        rate_of([0.0, 1.0, 0.5])

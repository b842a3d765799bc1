"""Export to npz, CSV and glTF, each read back by something that is not the code that wrote it."""

import json
import os
import shutil
import subprocess
import warnings
from pathlib import Path

import gltf_reader
import numpy as np
import pandas as pd
import pytest

from motionbook import Clip, Skeleton, drawing, forward_kinematics, read_bvh
from motionbook import rotations as rot
from motionbook.export import Skin, read_npz, skin_body, write_csv, write_gltf, write_npz
from motionbook.export.cones import cone_mesh
from motionbook.skeletons import CSKEL27, FREEMOCAP, LAFAN1
from motionbook.synthesis.performers import idle, make_performer


@pytest.fixture(scope="module")
def person():
    return idle(make_performer(1, 0), 2.0)


def moving_bones(frames=6):
    rng = np.random.default_rng(3)
    places = np.tile(FREEMOCAP.offsets, (frames, 1, 1))
    places[:, 13] += 0.01 * rng.standard_normal((frames, 3))
    turns = rot.from_rotation_vector(0.4 * rng.standard_normal((frames, 19, 3)))
    return Clip(FREEMOCAP, rng.standard_normal((frames, 3)), turns, 24.0, places)


def chain():
    skeleton = Skeleton(("a b", 'c,"d"', "ü%s"), (-1, 0, 1), np.array([[0, 0, 0], [0, 0.5, 0], [0.3, 0, 0]]))
    rng = np.random.default_rng(0)
    return Clip(skeleton, rng.standard_normal((5, 3)), rot.random_rotations((5, 3), rng), 29.97)


def ball(frames=1):
    return Clip(Skeleton(("point",), (-1,), np.zeros((1, 3))), np.ones((frames, 3)), rot.identity((frames, 1)), 30.0)


@pytest.fixture(params=["person", "moving bones", "chain", "ball"])
def clip(request, person):
    return {"person": person, "moving bones": moving_bones(), "chain": chain(), "ball": ball()}[request.param]


# ---------------------------------------------------------------------------------------------------------------- npz


def test_npz_gives_back_the_clip_in_every_bit_and_equal_bytes(clip, tmp_path):
    path = write_npz(clip, tmp_path / "a.npz")
    again = read_npz(path)
    assert again.skeleton.names == clip.skeleton.names and again.skeleton.parents == clip.skeleton.parents
    assert again.skeleton.end_offsets == clip.skeleton.end_offsets and again.fps == clip.fps
    for field in ("root_positions", "rotations"):
        assert np.array_equal(getattr(again, field), getattr(clip, field))
    assert np.array_equal(again.skeleton.offsets, clip.skeleton.offsets)
    assert (again.translations is None) == (clip.translations is None)
    assert clip.translations is None or np.array_equal(again.translations, clip.translations)
    assert write_npz(again, tmp_path / "b.npz").read_bytes() == path.read_bytes()


def test_npz_opens_without_pickle_and_its_world_is_that_of_kinematics(person, tmp_path):
    with np.load(write_npz(person, tmp_path / "a.npz", world=True), allow_pickle=False) as archive:
        assert str(archive["format"]) == "motionbook clip 1"
        assert archive["names"][0] == "Hips" and archive["parents"][0] == -1
        pose = forward_kinematics(person)
        assert np.array_equal(archive["positions"], pose.positions)
        assert np.array_equal(archive["world_rotations"], pose.rotations)
    assert np.array_equal(read_npz(tmp_path / "a.npz").rotations, person.rotations)


def test_npz_files_of_another_kind_are_refused(person, tmp_path):
    with pytest.raises(ValueError, match=r"expected a name ending in .npz, got a.dat"):
        write_npz(person, tmp_path / "a.dat")
    path = write_npz(person, tmp_path / "a.npz")
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(tmp_path / "other.npz", x=1)
    np.savez(tmp_path / "less.npz", **{k: v for k, v in arrays.items() if k != "rotations"})
    (tmp_path / "text.npz").write_text("no archive")
    (tmp_path / "cut.npz").write_bytes(path.read_bytes()[:200])
    (tmp_path / "none.npz").write_bytes(b"")
    with open(tmp_path / "single.npz", "wb") as file:
        np.save(file, np.ones(3))
    for name, words in (
        ("other", "expected an archive whose format is 'motionbook clip 1', got 'no format'"),
        ("less", "the archive lacks rotations"),
        ("text", "not a NumPy archive"),
        ("cut", "not a NumPy archive"),
        ("none", "not a NumPy archive"),
        ("single", "not a NumPy archive: it holds one array"),
    ):
        with pytest.raises(ValueError, match=f"{name}.npz: {words}"):
            read_npz(tmp_path / f"{name}.npz")


# ---------------------------------------------------------------------------------------------------------------- CSV


def test_csv_wide_and_long_hold_the_world_in_the_units_of_their_header(clip, tmp_path):
    pose = forward_kinematics(clip)
    wide = pd.read_csv(write_csv(clip, tmp_path / "wide.csv"))
    long = pd.read_csv(write_csv(clip, tmp_path / "long.csv", layout="long"))
    assert list(long.columns) == "frame time_s joint x_m y_m z_m qw qx qy qz".split()
    assert len(wide) == len(clip) and len(long) == len(clip) * len(clip.skeleton)
    assert wide.shape[1] == 2 + 7 * len(clip.skeleton)
    for table in (wide, long):
        assert np.allclose(table["time_s"], table["frame"] / clip.fps, atol=1e-6)
    for joint, name in enumerate(clip.skeleton.names):
        rows = long[long["joint"] == name]
        for places, turns in (
            (wide[[f"{name}_{axis}_m" for axis in "xyz"]], wide[[f"{name}_q{part}" for part in "wxyz"]]),
            (rows[["x_m", "y_m", "z_m"]], rows[["qw", "qx", "qy", "qz"]]),
        ):
            assert np.abs(places.to_numpy() - pose.positions[:, joint]).max() <= 0.51e-6
            assert rot.angle_between(turns.to_numpy(), pose.rotations[:, joint]).max() < 4e-9
    text = (tmp_path / "wide.csv").read_text(encoding="utf-8")
    assert "-0.000000," not in text and "\r" not in text


def test_csv_layouts_have_names(person, tmp_path):
    with pytest.raises(ValueError, match="layout: expected wide or long, got 'tall'"):
        write_csv(person, tmp_path / "a.csv", layout="tall")


# --------------------------------------------------------------------------------------------------------------- glTF


@pytest.mark.parametrize("suffix", ["glb", "gltf"])
def test_gltf_nodes_stand_where_kinematics_puts_the_joints(clip, suffix, tmp_path):
    document, array = gltf_reader.load(write_gltf(clip, tmp_path / f"a.{suffix}"))
    joints = document["skins"][0]["joints"]
    assert [document["nodes"][joint]["name"] for joint in joints] == list(clip.skeleton.names)
    pose = forward_kinematics(clip)
    for frame in (None, *range(len(clip))):
        world = gltf_reader.worlds(document, array, frame)
        for joint in joints:
            assert np.abs(world[joint][:3, 3] - pose.positions[frame or 0, joint]).max() < 1e-5
            assert np.abs(world[joint][:3, :3] - rot.to_matrix(pose.rotations[frame or 0, joint])).max() < 1e-5
    animation = document["animations"][0]
    (times,) = {sampler["input"] for sampler in animation["samplers"]}
    assert np.allclose(array(times), np.arange(len(clip)) / clip.fps, atol=1e-6)
    assert animation["extras"] == {"fps": clip.fps, "frames": len(clip)}
    for channel in animation["channels"]:
        if channel["target"]["path"] == "rotation":
            turns = array(animation["samplers"][channel["sampler"]]["output"])
            assert ((turns[1:] * turns[:-1]).sum(-1) >= 0).all()


def test_gltf_body_moves_as_the_drawn_one(person, tmp_path):
    document, array = gltf_reader.load(write_gltf(person, tmp_path / "a.glb"))
    body = drawing.body_of(person.skeleton)
    starts, ends = drawing.pose(person, body)
    for frame in (0, 17, len(person) - 1):
        cones = gltf_reader.skinned(document, array, frame).reshape(len(body.joints), -1, 3)
        half = cones.shape[1] // 2
        for points, middles, radii in ((cones[:, :half], starts, 0), (cones[:, half:], ends, 1)):
            distance = np.linalg.norm(points - middles[frame][:, None], axis=-1)
            assert np.abs(distance - body.radii[:, radii, None]).max() < 1e-5


def test_gltf_rest_pose_is_bound_without_moving_the_surface(person, tmp_path):
    skin = skin_body(person.skeleton)
    standing = Clip(
        person.skeleton,
        skin.rest_positions[None, 0],
        _local(person.skeleton, skin.rest_rotations)[None],
        30.0,
    )
    document, array = gltf_reader.load(write_gltf(standing, tmp_path / "a.glb", skin=skin))
    assert np.abs(gltf_reader.skinned(document, array) - skin.vertices).max() < 1e-6
    assert 1.6 < np.ptp(skin.vertices[:, 1]) < 1.9


def _local(skeleton, world):
    parents = np.array(skeleton.parents)
    out = world.copy()
    out[1:] = rot.multiply(rot.inverse(world[parents[1:]]), world[1:])
    return out


def test_gltf_takes_a_surface_with_mixed_weights(person, tmp_path):
    rng = np.random.default_rng(0)
    base = skin_body(person.skeleton)
    weights = np.zeros_like(base.weights)
    for row in weights:
        row[rng.choice(22, 3, replace=False)] = rng.dirichlet([1, 1, 1])
    skin = base._replace(weights=weights, normals=None)
    document, array = gltf_reader.load(write_gltf(person, tmp_path / "a.glb", skin=skin))
    pose = forward_kinematics(person)
    rest, turned = (rot.to_matrix(q) for q in (skin.rest_rotations, pose.rotations[30]))
    wanted = np.zeros_like(skin.vertices)
    for joint in range(22):
        local = (skin.vertices - skin.rest_positions[joint]) @ rest[joint]
        wanted += weights[:, joint, None] * (local @ turned[joint].T + pose.positions[30, joint])
    assert np.abs(gltf_reader.skinned(document, array, 30) - wanted).max() < 1e-5
    normals = array(document["meshes"][0]["primitives"][0]["attributes"]["NORMAL"])
    assert (np.einsum("vi,vi->v", normals, base.normals) > 0.9).mean() > 0.95


def test_gltf_without_a_body_is_the_skeleton_alone(person, tmp_path):
    document, _ = gltf_reader.load(write_gltf(person, tmp_path / "a.gltf", body=False))
    assert "meshes" not in document and len(document["nodes"]) == 22
    ends = [node["name"] for node in document["nodes"] if "end_sites" in node.get("extras", {})]
    assert ends == ["LeftToe", "RightToe", "Head", "LeftHand", "RightHand"]


def test_gltf_refuses_what_it_cannot_hold(person, tmp_path):
    with pytest.raises(ValueError, match=r"ending in .glb or .gltf, got a.obj"):
        write_gltf(person, tmp_path / "a.obj")
    with pytest.raises(ValueError, match="expected at least one frame"):
        write_gltf(person[:0], tmp_path / "a.glb")
    with pytest.raises(ValueError, match=r"skin.weights: expected \(vertices, 22\)"):
        write_gltf(person, tmp_path / "a.glb", skin=skin_body(CSKEL27))
    assert list(tmp_path.iterdir()) == []


def test_cones_are_closed_and_face_outwards():
    starts, ends = np.array([[0, 0, 0], [1, 1, 1], [0, 0, 0.0]]), np.array([[0, 0, -1], [1, 1, 1], [1, 2, 3.0]])
    vertices, normals, faces = cone_mesh(starts, ends, [[0.2, 0.1], [0.3, 0.3], [0.05, 0.1]])
    points = vertices.reshape(-1, 3)
    for cone in range(3):
        a, b, c = (points[faces[cone][:, corner]] for corner in range(3))
        volume = np.einsum("fi,fi->", a - starts[cone], np.cross(b - a, c - a)) / 6
        assert volume > 0
        edges = np.sort(np.concatenate([faces[cone][:, [0, 1]], faces[cone][:, [1, 2]], faces[cone][:, [2, 0]]]))
        assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
        assert (np.einsum("fi,fi->f", np.cross(b - a, c - a), normals.reshape(-1, 3)[faces[cone][:, 0]]) > -1e-12).all()
    ball_volume = 4 / 3 * np.pi * 0.3**3
    a, b, c = (points[faces[1][:, corner]] - 1 for corner in range(3))
    assert np.einsum("fi,fi->", a, np.cross(b, c)) / 6 == pytest.approx(ball_volume, rel=0.15)


# ------------------------------------------------------------------------------------------------- Khronos' validator

VALIDATE = """
const fs = require('fs'), validator = require(process.argv[1]);
(async () => {
  const reports = [];
  for (const file of process.argv.slice(2))
    reports.push((await validator.validateBytes(new Uint8Array(fs.readFileSync(file)))).issues);
  console.log(JSON.stringify(reports));
})();
"""


@pytest.fixture(scope="module")
def validate():
    """Runs the npm package gltf-validator: from MOTIONBOOK_GLTF_VALIDATOR, or where node finds it."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    package = os.environ.get("MOTIONBOOK_GLTF_VALIDATOR", "gltf-validator")
    found = subprocess.run(["node", "-e", "require(process.argv[1])", package], capture_output=True, text=True)
    if found.returncode:
        pytest.skip(
            "the npm package gltf-validator is not here; install it anywhere and set MOTIONBOOK_GLTF_VALIDATOR to "
            "its folder, .../node_modules/gltf-validator"
        )

    def run(*paths):
        done = subprocess.run(["node", "-e", VALIDATE, package, *map(str, paths)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def test_khronos_validator_finds_nothing(validate, person, tmp_path):
    surface = skin_body(person.skeleton)
    mixed = Skin(*surface[:2], np.full_like(surface.weights, 1 / 22), *surface[3:5])
    paths = [
        write_gltf(clip, tmp_path / f"{number}.{suffix}", **options)
        for number, (clip, options) in enumerate(
            [(person, {}), (moving_bones(), {}), (chain(), {}), (ball(), {}), (person, {"body": False}),
             (person, {"skin": mixed})]
        )
        for suffix in ("glb", "gltf")
    ]  # fmt: skip
    for path, issues in zip(paths, validate(*paths), strict=True):
        assert issues["messages"] == [], path.name


def test_khronos_validator_would_find_a_fault(validate, person, tmp_path):
    path = write_gltf(person, tmp_path / "a.gltf")
    document = json.loads(path.read_text())
    document["accessors"][0]["max"] = [5.0]
    path.write_text(json.dumps(document))
    (issues,) = validate(path)
    assert issues["numErrors"] == 1


def test_khronos_validator_finds_nothing_in_real_files(validate, shared_data, tmp_path):
    paths = []
    for source in sorted((shared_data / "bvh/real").glob("*.bvh")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if source.name.startswith("30_") else "error")
            clip = read_bvh(source)
        paths.append(write_gltf(clip, tmp_path / f"{source.stem}.glb"))
        document, array = gltf_reader.load(Path(paths[-1]))
        world = gltf_reader.worlds(document, array, len(clip) - 1)
        places = np.stack([world[joint][:3, 3] for joint in document["skins"][0]["joints"]])
        assert np.abs(places - forward_kinematics(clip).positions[-1]).max() < 1e-5
        assert [node["name"] for node in document["nodes"]] == [*clip.skeleton.names, "body"]
    for path, issues in zip(paths, validate(*paths), strict=True):
        assert issues["messages"] == [], path.name


def test_lafan1_default_is_a_person():
    assert len(skin_body(LAFAN1).faces) == 144 * len(drawing.body_of(LAFAN1).joints)

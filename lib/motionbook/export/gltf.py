"""A clip as glTF 2.0: a named skeleton, one animation, and a skinned body that any viewer shows.

Metres, Y up, quaternions xyzw and seconds, as the standard has them. Every joint is a node of its own name with the
pose of the first frame; the animation turns every joint and moves the root, and other joints only where the source
stores places for them. End sites stand in the ``extras`` of their node, the frame rate in those of the animation.
"""

import base64
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.checks import check_shape
from motionbook.clip import Clip, Skeleton
from motionbook.drawing import body_of, rgb
from motionbook.export.cones import cone_mesh
from motionbook.files import write_whole
from motionbook.kinematics import local_rotations, world_pose
from motionbook.rigs import find_rig, standing_pose

_BYTE, _SHORT, _INT, _FLOAT = 5121, 5123, 5125, 5126
_VERTICES, _FACES = 34962, 34963
_INFLUENCES = 4


class Skin(NamedTuple):
    """A surface bound to a skeleton, at rest.

    Attributes
    ----------
    vertices : (vertices, 3)
        Metres, in the rest pose.
    faces : (faces, 3) int
        Counter-clockwise from outside.
    weights : (vertices, joints)
        Adding to one; the four largest of a vertex are kept.
    rest_positions, rest_rotations : (joints, 3), (joints, 4)
        World pose of the joints in which the vertices are given.
    normals : (vertices, 3), optional
    """

    vertices: np.ndarray
    faces: np.ndarray
    weights: np.ndarray
    rest_positions: np.ndarray
    rest_rotations: np.ndarray
    normals: np.ndarray | None = None


def skin_body(skeleton: Skeleton, root=(0.0, 0.0, 0.0)) -> Skin:
    """The rounded limbs the book draws (`motionbook.drawing.body_of`), each bound to its joint alone.

    Parameters
    ----------
    skeleton : Skeleton
    root : (3,)
        Place of the root at rest. People rest standing straight, other skeletons as their offsets have them.
    """
    try:
        turns = standing_pose(skeleton, find_rig(skeleton))
    except ValueError:
        turns = rot.identity((len(skeleton),))
    rest = world_pose(skeleton, np.asarray(root, dtype=np.float64), local_rotations(skeleton.parents, turns))
    joints, starts, ends, radii = body_of(skeleton)
    if not len(joints):  # no bone has a length: a ball marks the root
        joints, starts, ends, radii = np.array([0]), np.zeros((1, 3)), np.zeros((1, 3)), np.full((1, 2), 0.03)
    places = [rest.positions[joints] + rot.rotate(rest.rotations[joints], points) for points in (starts, ends)]
    vertices, normals, faces = cone_mesh(*places, radii)
    weights = np.zeros((*vertices.shape[:2], len(skeleton)))
    weights[np.arange(len(joints)), :, joints] = 1.0
    flat = (vertices.reshape(-1, 3), faces.reshape(-1, 3), weights.reshape(-1, len(skeleton)))
    return Skin(*flat, *rest, normals.reshape(-1, 3))


def write_gltf(clip: Clip, path, *, skin: Skin | None = None, body: bool = True, colour: str = "#7f9ac4") -> Path:
    """Write a clip as .glb (one binary file) or .gltf (one JSON file, its numbers inside).

    Parameters
    ----------
    clip : Clip
    path : path
        The suffix chooses the form.
    skin : Skin, optional
        A surface to show; anything with a Skin's fields will do (`motionbook.quality.body.Surface`). The rounded limbs
        of ``skin_body`` when left out.
    body : bool
        False writes the bare skeleton with its animation.
    colour : str
        Of the surface, "#rrggbb".

    Raises
    ------
    ValueError
        For another suffix, a clip without frames, or a skin of another skeleton.
    """
    path = Path(path)
    if path.suffix.lower() not in (".glb", ".gltf"):
        raise ValueError(f"path: expected a name ending in .glb or .gltf, got {path.name}")
    if not len(clip):
        raise ValueError("clip: expected at least one frame, got none")
    if body and skin is None:
        skeleton = clip.skeleton
        if clip.translations is not None:
            middle = np.median(clip.translations, axis=0)
            skeleton = Skeleton(skeleton.names, skeleton.parents, middle, skeleton.end_offsets)
        skin = skin_body(skeleton, clip.root_positions[0])
    file = _File()
    nodes = _nodes(clip)
    document = {
        "asset": {"version": "2.0", "generator": "motionbook"},
        "scene": 0,
        "scenes": [{"name": path.stem, "nodes": [0]}],
        "nodes": nodes,
        "animations": [_animation(file, clip, path.stem)],
    }
    if body:
        document.update(_skinned(file, clip.skeleton, skin, rgb(colour)))
        document["scenes"][0]["nodes"].append(len(nodes))
        nodes.append({"name": "body", "mesh": 0, "skin": 0})
    document["accessors"], document["bufferViews"] = file.accessors, file.views
    data = file.bytes()
    if path.suffix.lower() == ".gltf":
        uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
        document["buffers"] = [{"byteLength": len(data), "uri": uri}]
        return write_whole(path, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    document["buffers"] = [{"byteLength": len(data)}]
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    chunks = b"".join(
        np.array([len(chunk), kind], "<u4").tobytes() + chunk
        for chunk, kind in ((_padded(text, b" "), 0x4E4F534A), (data, 0x004E4942))
    )
    return write_whole(path, b"glTF" + np.array([2, 12 + len(chunks)], "<u4").tobytes() + chunks)


class _File:
    """The buffer of a file that grows by one accessor after the other."""

    def __init__(self):
        self.accessors, self.views, self.parts, self.size = [], [], [], 0

    def add(self, values: np.ndarray, kind: str, component: int, *, target: int | None = None, bounds=False) -> int:
        """Index of a new accessor that holds the rows of ``values``."""
        types = {_BYTE: "<u1", _SHORT: "<u2", _INT: "<u4", _FLOAT: "<f4"}
        stored = np.ascontiguousarray(values, dtype=types[component])
        data = _padded(stored.tobytes(), b"\0")
        view = {"buffer": 0, "byteOffset": self.size, "byteLength": stored.nbytes}
        accessor = {"bufferView": len(self.views), "componentType": component, "count": len(stored), "type": kind}
        if target is not None:
            view["target"] = target
        if bounds:
            columns = stored.reshape(len(stored), -1)
            accessor["min"], accessor["max"] = columns.min(0).tolist(), columns.max(0).tolist()
        self.views.append(view)
        self.accessors.append(accessor)
        self.parts.append(data)
        self.size += len(data)
        return len(self.accessors) - 1

    def bytes(self) -> bytes:
        return b"".join(self.parts)


def _padded(data: bytes, filler: bytes) -> bytes:
    return data + filler * (-len(data) % 4)


def _places(clip: Clip) -> np.ndarray:
    """Parent-relative places (joints, 3) in the first frame."""
    places = clip.skeleton.offsets.copy() if clip.translations is None else clip.translations[0].copy()
    places[0] = clip.root_positions[0]
    return places


def _nodes(clip: Clip) -> list[dict]:
    skeleton = clip.skeleton
    nodes = []
    for name, place, turn in zip(skeleton.names, _places(clip), clip.rotations[0], strict=True):
        nodes.append({"name": name, "translation": place.tolist(), "rotation": np.roll(turn, -1).tolist()})
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0:
            nodes[parent].setdefault("children", []).append(joint)
    for joint, offset in skeleton.end_offsets:
        nodes[joint].setdefault("extras", {"end_sites": []})["end_sites"].append(list(offset))
    return nodes


def _animation(file: _File, clip: Clip, name: str) -> dict:
    times = file.add(np.arange(len(clip)) / clip.fps, "SCALAR", _FLOAT, bounds=True)
    samplers, channels = [], []

    def move(joint: int, what: str, values: np.ndarray, kind: str) -> None:
        samplers.append({"input": times, "output": file.add(values, kind, _FLOAT), "interpolation": "LINEAR"})
        channels.append({"sampler": len(samplers) - 1, "target": {"node": joint, "path": what}})

    move(0, "translation", clip.root_positions, "VEC3")
    # Neighbours on the same side, because some viewers mix the numbers without looking for the shorter way.
    turned = np.roll(rot.unroll(clip.rotations), -1, axis=-1)
    for joint in range(len(clip.skeleton)):
        move(joint, "rotation", turned[:, joint], "VEC4")
        if joint and clip.translations is not None and np.ptp(clip.translations[:, joint], axis=0).any():
            move(joint, "translation", clip.translations[:, joint], "VEC3")
    return {"name": name, "samplers": samplers, "channels": channels, "extras": {"fps": clip.fps, "frames": len(clip)}}


def _skinned(file: _File, skeleton: Skeleton, skin: Skin, colour: np.ndarray) -> dict:
    """Mesh, material and skin of a surface."""
    joints = len(skeleton)
    weights = check_shape(skin.weights, f"vertices {joints}", "skin.weights")
    vertices = check_shape(skin.vertices, f"{len(weights)} 3", "skin.vertices")
    positions = check_shape(skin.rest_positions, f"{joints} 3", "skin.rest_positions")
    matrices = rot.to_matrix(check_shape(skin.rest_rotations, f"{joints} 4", "skin.rest_rotations"))
    faces = np.asarray(skin.faces)
    normals = getattr(skin, "normals", None)
    normals = (
        _normals(vertices, faces) if normals is None else check_shape(normals, f"{len(vertices)} 3", "skin.normals")
    )
    bind = np.zeros((joints, 4, 4))
    bind[:, :3, :3] = matrices.swapaxes(1, 2)
    bind[:, :3, 3] = -np.einsum("jba,jb->ja", matrices, positions)
    bind[:, 3, 3] = 1.0
    some = np.argsort(-weights, axis=1, kind="stable")[:, :_INFLUENCES]
    shares = np.take_along_axis(weights, some, axis=1)
    shares = shares / shares.sum(axis=1, keepdims=True)
    some, shares = (np.pad(a, ((0, 0), (0, _INFLUENCES - a.shape[1]))) for a in (np.where(shares > 0, some, 0), shares))
    attributes = {
        "POSITION": file.add(vertices, "VEC3", _FLOAT, target=_VERTICES, bounds=True),
        "NORMAL": file.add(normals, "VEC3", _FLOAT, target=_VERTICES),
        "JOINTS_0": file.add(some, "VEC4", _BYTE if joints <= 256 else _SHORT, target=_VERTICES),
        "WEIGHTS_0": file.add(shares, "VEC4", _FLOAT, target=_VERTICES),
    }
    indices = file.add(faces.reshape(-1), "SCALAR", _SHORT if len(vertices) < 65535 else _INT, target=_FACES)
    linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
    surface = {"baseColorFactor": [*linear.round(6).tolist(), 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.75}
    matrices_at = file.add(bind.swapaxes(1, 2).reshape(joints, 16), "MAT4", _FLOAT)  # columns first
    return {
        "meshes": [{"name": "body", "primitives": [{"attributes": attributes, "indices": indices, "material": 0}]}],
        "materials": [{"name": "body", "pbrMetallicRoughness": surface}],
        "skins": [{"inverseBindMatrices": matrices_at, "skeleton": 0, "joints": list(range(joints))}],
    }


def _normals(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Unit normals (vertices, 3), the mean of the faces around weighted by their areas."""
    a, b, c = (vertices[faces[:, corner]] for corner in range(3))
    out = np.zeros_like(vertices)
    for corner in range(3):
        np.add.at(out, faces[:, corner], np.cross(b - a, c - a))
    length = np.linalg.norm(out, axis=-1, keepdims=True)
    return np.where(length > 0, out / np.where(length > 0, length, 1.0), [0.0, 1.0, 0.0])

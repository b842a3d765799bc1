"""A reader of glTF files for the tests, made from the standard's text alone: matrices, no code of the library."""

import base64
import json
import struct

import numpy as np

_TYPES = {5121: "u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_SHAPES = {"SCALAR": (), "VEC3": (3,), "VEC4": (4,), "MAT4": (4, 4)}


def load(path):
    """Document and function from accessor index to array."""
    data = path.read_bytes()
    if path.suffix == ".glb":
        magic, version, length = struct.unpack("<4sII", data[:12])
        assert magic == b"glTF" and version == 2 and length == len(data)
        size, kind = struct.unpack("<II", data[12:20])
        assert kind == 0x4E4F534A
        document = json.loads(data[20 : 20 + size])
        size2, kind = struct.unpack("<II", data[20 + size : 28 + size])
        assert kind == 0x004E4942 and 28 + size + size2 == length
        buffer = data[28 + size :]
    else:
        document = json.loads(data)
        buffer = base64.b64decode(document["buffers"][0]["uri"].partition("base64,")[2], validate=True)
    assert document["buffers"][0]["byteLength"] == len(buffer)

    def array(index):
        accessor = document["accessors"][index]
        view = document["bufferViews"][accessor["bufferView"]]
        shape = _SHAPES[accessor["type"]]
        count = accessor["count"] * int(np.prod(shape, dtype=int))
        values = np.frombuffer(buffer, _TYPES[accessor["componentType"]], count, view["byteOffset"])
        return values.reshape(accessor["count"], *shape)

    return document, array


def _matrix(translation, rotation):
    x, y, z, w = np.asarray(rotation, dtype=np.float64)
    out = np.eye(4)
    out[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    out[:3, 3] = translation
    return out


def worlds(document, array, frame=None):
    """Node -> world matrix at a keyframe, or as the nodes themselves stand."""
    nodes = [dict(node) for node in document["nodes"]]
    animation = document["animations"][0]
    for channel in animation["channels"] if frame is not None else ():
        sampler = animation["samplers"][channel["sampler"]]
        target = channel["target"]
        nodes[target["node"]][target["path"]] = array(sampler["output"])[frame]
    found = {}

    def walk(index, above):
        node = nodes[index]
        found[index] = above @ _matrix(node.get("translation", (0, 0, 0)), node.get("rotation", (0, 0, 0, 1)))
        for child in node.get("children", ()):
            walk(child, found[index])

    for index in document["scenes"][document["scene"]]["nodes"]:
        walk(index, np.eye(4))
    return found


def skinned(document, array, frame=None):
    """World places (vertices, 3) of the mesh."""
    attributes = document["meshes"][0]["primitives"][0]["attributes"]
    skin = document["skins"][0]
    bind = array(skin["inverseBindMatrices"]).astype(np.float64).swapaxes(1, 2)
    world = worlds(document, array, frame)
    moves = np.stack([world[joint] for joint in skin["joints"]]) @ bind
    vertices = array(attributes["POSITION"]).astype(np.float64)
    joints, weights = array(attributes["JOINTS_0"]), array(attributes["WEIGHTS_0"]).astype(np.float64)
    blended = np.einsum("vk,vkij->vij", weights, moves[joints])
    return np.einsum("vij,vj->vi", blended[:, :3, :3], vertices) + blended[:, :3, 3]

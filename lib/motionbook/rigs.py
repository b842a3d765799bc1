"""Which joint of a skeleton is which part of a body, found from names, and the straight pose the skeleton stands in.

Rigs name the same joint differently (``LeftUpLeg``, ``thigh.L``, ``LeftHip``, ``lfemur``) and the same name means
different joints (``LeftShoulder`` is the collar bone in Mixamo and LaFAN1, the upper arm in Xsens and CMU files with
collars). Names are therefore read in the light of the others on the same side; spine and neck are the joints that
lie between.
"""

import re
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Skeleton
from motionbook.kinematics import local_rotations, world_pose
from motionbook.skeletons import LAFAN1, is_staystill, t_pose

SIDES = ("left", "right")
LIMBS = ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")

# Words of a joint name once side, separators and digits at the end are gone, most telling first.
_WORDS = {
    "toe": ("toebase", "toe", "toes", "ltoes", "ball", "footindex"),
    "foot": ("ankle", "foot", "talus"),
    "shin": ("shin", "leg", "knee", "lowerleg", "loleg", "tibia", "calf"),
    "thigh": ("thigh", "upleg", "upperleg", "upleg", "hip", "femur"),
    "hand": ("wrist", "hand"),
    "forearm": ("forearm", "elbow", "lowerarm", "loarm", "radius"),
    "upper_arm": ("upperarm", "uparm", "arm", "shoulder", "shldr", "humerus"),
    "clavicle": ("clavicle", "collar", "shoulder"),
}
_HIPS = ("hips", "pelvis", "hip")
_HEAD = ("head", "face")


class Rig(NamedTuple):
    """Joint indices by body part.

    ``limbs`` maps (side, part) to a joint, with only the parts the skeleton has; ``spine`` runs from above the hips to
    the joint both arms hang on, ``neck`` from there to below the head; ``head`` is None in a headless rig.
    """

    hips: int
    spine: tuple[int, ...]
    neck: tuple[int, ...]
    head: int | None
    limbs: dict[tuple[str, str], int]


def find_rig(skeleton: Skeleton) -> Rig:
    """The body parts of a humanoid skeleton from its joint names.

    Raises
    ------
    ValueError
        When hips, thighs, shins, feet, upper arms or forearms cannot be told from the names; it lists what was not
        found and the names there are.
    """
    words = [_side_and_word(name) for name in _without_prefix(skeleton.names)]
    limbs = {}
    for side in SIDES:
        here = {}
        for joint, (joint_side, word) in enumerate(words):
            if joint_side == side:
                here.setdefault(word, joint)
        limbs.update({(side, part): joint for part, joint in _limbs_of_one_side(here).items()})
    middle = {}
    for joint, (side, word) in enumerate(words):
        if side is None:
            middle.setdefault(word, joint)
    hips = next((middle[w] for w in _HIPS if w in middle), None)
    required = [(s, p) for s in SIDES for p in ("thigh", "shin", "foot", "upper_arm", "forearm")]
    missing = [f"{side} {part}" for side, part in required if (side, part) not in limbs]
    if hips is None or missing:
        missing = (["hips"] if hips is None else []) + missing
        raise ValueError(
            f"skeleton: expected a humanoid whose joint names say the part, found no {', '.join(missing)} among "
            f"{', '.join(skeleton.names)}; rename its joints to LaFAN1's names"
        )
    shoulders = [limbs.get((side, "clavicle"), limbs[side, "upper_arm"]) for side in SIDES]
    left, right = (_ancestors(skeleton, joint) for joint in shoulders)
    shared = set(left) & set(right)
    chest = next(joint for joint in left if joint in shared)
    below = {hips, *_ancestors(skeleton, hips)}
    spine = tuple(joint for joint in reversed((chest, *_ancestors(skeleton, chest))) if joint not in below)
    neck, head = _neck_and_head(skeleton, words, chest, middle)
    return Rig(hips, spine, neck, head, limbs)


def _without_prefix(names):
    names = [name.rsplit(":", 1)[-1] for name in names]
    prefix = re.match(r"^(.+?_)(?=Hips|Pelvis)", names[0], re.IGNORECASE)
    start = prefix.group(1) if prefix and sum(n.startswith(prefix.group(1)) for n in names) > 10 else ""
    return [name.removeprefix(start) for name in names]


def _side_and_word(name: str) -> tuple[str | None, str]:
    """("left" | "right" | None, lower-case word without side, separators and trailing digits)."""
    if name.startswith("__"):
        return None, name.lower()
    patterns = (
        ("left", r"^left[-_ ]?", r"[._-]l(eft)?$", r"^l[_.-]|^L(?=[A-Z][a-z])"),
        ("right", r"^right[-_ ]?", r"[._-]r(ight)?$", r"^r[_.-]|^R(?=[A-Z][a-z])"),
    )
    for side, long, after, short in patterns:
        for pattern, flags in ((long, re.IGNORECASE), (after, re.IGNORECASE), (short, 0)):
            if re.search(pattern, name, flags):
                return side, _word(re.sub(pattern, "", name, flags=flags))
    whole = _word(name)
    for part in _WORDS.values():
        for word in part:
            if whole in (f"l{word}", f"r{word}"):
                return ("left" if whole[0] == "l" else "right"), word
    return None, whole


def _word(text: str) -> str:
    return re.sub(r"[^a-z]", "", re.sub(r"\d+$", "", text.lower().strip("#")))


def _limbs_of_one_side(here: dict[str, int]) -> dict[str, int]:
    found = {}
    for part, names in _WORDS.items():
        for word in names:
            if word in here and here[word] not in found.values():
                found[part] = here[word]
                break
    if "toe" not in found and "ankle" in here and "foot" in here:
        found["toe"] = here["foot"]
    return found


def _neck_and_head(skeleton, words, chest, middle):
    head = next((middle[w] for w in _HEAD if w in middle), None)
    if head is not None and chest in _ancestors(skeleton, head):
        above = _ancestors(skeleton, head)
        return tuple(reversed(above[: above.index(chest)])), head
    necks = [j for j, (side, word) in enumerate(words) if side is None and word.endswith("neck")]
    return tuple(j for j in necks if chest in _ancestors(skeleton, j)), None


def _ancestors(skeleton: Skeleton, joint: int) -> list[int]:
    """Parents of a joint, nearest first."""
    found = []
    while skeleton.parents[joint] >= 0:
        joint = skeleton.parents[joint]
        found.append(joint)
    return found


def standing_pose(skeleton: Skeleton, rig: Rig) -> np.ndarray:
    """World rotations (joints, 4) in which the skeleton stands straight, Y up, facing +Z.

    LaFAN1's joints have a table (`motionbook.skeletons.t_pose`), which also serves StayStill's files, whose local
    frames are turned by 180 degrees about their bones. Every other rig is taken to stand in its rest pose, turned to
    face +Z where it does not.

    Raises
    ------
    ValueError
        When the rest pose is no standing person, e.g. all bones along one axis.
    """
    if skeleton.names == LAFAN1.names:
        pose = t_pose(skeleton)
        if is_staystill(skeleton):
            pose = rot.multiply(pose, np.array([0.0, 1.0, 0.0, 0.0]))  # a half turn about the bone, local x
        if _stands(skeleton, rig, pose):
            return pose
    rest = rot.identity((len(skeleton),))
    up, left = _up_and_left(skeleton, rig, rest)
    frame = np.stack([left, up, np.cross(left, up)])
    # A rest pose that leans a little is how the rig stands; only whole quarter turns are axes to be undone.
    turn = rot.from_matrix(_nearest_quarter_turn(frame))
    pose = rot.multiply(turn, rest)
    if not _stands(skeleton, rig, pose):
        raise ValueError(
            "skeleton: its rest pose (all rotations zero) is not a standing person, so bone directions cannot be "
            "matched; pass rest=, the world rotations (joints, 4) in which it stands straight and faces +Z"
        )
    return pose


def _nearest_quarter_turn(frame: np.ndarray) -> np.ndarray:
    rows = np.zeros((3, 3))
    for i in (1, 0):
        free = [k for k in range(3) if not rows[:, k].any()]
        k = max(free, key=lambda k: abs(frame[i, k]))
        rows[i, k] = np.sign(frame[i, k])
    rows[2] = np.cross(rows[0], rows[1])
    return rows


def _places(skeleton: Skeleton, pose: np.ndarray) -> np.ndarray:
    return world_pose(skeleton, np.zeros(3), local_rotations(skeleton.parents, pose)).positions


def _up_and_left(skeleton, rig, pose):
    places = _places(skeleton, pose)
    feet = 0.5 * (places[rig.limbs["left", "foot"]] + places[rig.limbs["right", "foot"]])
    shoulders = 0.5 * (places[rig.limbs["left", "upper_arm"]] + places[rig.limbs["right", "upper_arm"]])
    up = shoulders - feet
    left = places[rig.limbs["left", "upper_arm"]] - places[rig.limbs["right", "upper_arm"]]
    if np.linalg.norm(up) < 1e-9 or np.linalg.norm(left) < 1e-9:
        return np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])
    up = up / np.linalg.norm(up)
    left = left - (left @ up) * up
    return up, left / max(np.linalg.norm(left), 1e-9)


def _stands(skeleton, rig, pose) -> bool:
    """Trunk up, thighs and shins down, each within 45 degrees, and left on the left."""
    places = _places(skeleton, pose)
    vertical = []
    for side in SIDES:
        hip, knee, ankle = (places[rig.limbs[side, part]] for part in ("thigh", "shin", "foot"))
        vertical += [hip - knee, knee - ankle, places[rig.limbs[side, "upper_arm"]] - hip]
    steep = all(v[1] > np.sqrt(0.5) * np.linalg.norm(v) for v in vertical)
    sides = all(places[rig.limbs["left", p]][0] > places[rig.limbs["right", p]][0] for p in ("thigh", "upper_arm"))
    return bool(steep and sides)


def standing_places(skeleton: Skeleton, pose: np.ndarray) -> np.ndarray:
    """World places (joints, 3) of the standing pose, the root at the origin, metres."""
    return _places(skeleton, pose)

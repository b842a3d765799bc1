"""Which joint of a skeleton is which part of a body, found from names, and the straight pose the skeleton stands in.

Rigs name the same joint differently (``LeftUpLeg``, ``thigh.L``, ``LeftHip``, ``lfemur``) and the same name means
different joints (``LeftShoulder`` is the collar bone in Mixamo and LaFAN1, the upper arm in Xsens and CMU files with
collars). Names are therefore read in the light of the others on the same side; spine and neck are the joints that
lie between.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Skeleton
from motionbook.kinematics import local_rotations, world_pose
from motionbook.rig_names import LIMBS, SIDES, check_name_map, match_known_rig, without_prefix
from motionbook.skeletons import LAFAN1, is_staystill, t_pose

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
_LEG = ("thigh", "shin", "foot", "toe")


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


class RigFinding(NamedTuple):
    """A rig and how it was found: its name, why each part is the joint it is, and the parts there are none of."""

    rig: Rig
    name: str
    reasons: dict[tuple, str]
    missing: tuple[str, ...]


def find_rig(skeleton: Skeleton, names: Mapping[str, str] | None = None, *, armless: bool = False) -> Rig:
    """The body parts of a humanoid skeleton from its joint names.

    Parameters
    ----------
    skeleton : Skeleton
    names : mapping, optional
        Joint of this skeleton to joint of LaFAN1; overrides what the names would say.
    armless : bool
        Take a skeleton without arms, too; its ``limbs`` then lack them.

    Raises
    ------
    ValueError
        When hips, thighs, shins, feet, upper arms or forearms cannot be told from the names; it lists what was not
        found and the names there are.
    """
    return explain_rig(skeleton, names, armless=armless).rig


def find_legs(skeleton: Skeleton) -> dict[tuple[str, str], int]:
    """Joints of (side, part) for thighs, shins, feet and toes, whatever the rest of the body is.

    Bodies without arms and bodies that hang from a headset have them, too.

    Raises
    ------
    ValueError
        When thighs, shins or feet cannot be told from the names.
    """
    known, parts = match_known_rig(skeleton)
    parts = parts if known else _parts_by_words(skeleton)[0]
    legs = {(s, p): parts[s, p] for s in SIDES for p in _LEG if (s, p) in parts}
    _check_names(skeleton, [f"{s} {p}" for s in SIDES for p in _LEG[:3] if (s, p) not in legs])
    return legs


def explain_rig(skeleton: Skeleton, names: Mapping[str, str] | None = None, *, armless: bool = False) -> RigFinding:
    """As `find_rig`, with the reasons.

    A rig of `motionbook.rig_names.KNOWN_RIGS` whose joints are all there is taken as it stands; any other skeleton is
    read word by word. Spine and neck are always the joints that lie between.
    """
    known, parts = match_known_rig(skeleton)
    guessed, middle = _parts_by_words(skeleton)
    reasons = {part: f"named so in {known.name}" for part in parts} if known else {}
    if known is None:
        parts = guessed
        reasons = {part: "by the words of its name" for part in parts}
    else:  # hands and toes that the kind of rig calls otherwise
        for side in SIDES:
            for part, before in (("hand", "forearm"), ("toe", "foot")):
                joint = guessed.get((side, part))
                free = joint is not None and (side, part) not in parts and joint not in parts.values()
                if free and parts.get((side, before)) in _ancestors(skeleton, joint):
                    parts[side, part] = joint
                    reasons[side, part] = "by the words of its name"
    given = check_name_map(skeleton, names) if names else {}
    for part, joints in given.items():
        if part not in (("spine",), ("neck",)):
            for other in [p for p, joint in parts.items() if joint == joints[0]]:
                del parts[other]
            parts[part] = joints[0]
            reasons[part] = "given"
    thighs = [parts.get((side, "thigh")) for side in SIDES]
    if ("hips",) not in parts and None not in thighs and 0 not in thighs:
        left, right = (_ancestors(skeleton, joint) for joint in thighs)
        parts["hips",] = next(joint for joint in left if joint in set(right))
        reasons["hips",] = "carries both thighs"
    limbs = {part: joint for part, joint in parts.items() if len(part) == 2}
    _check_required(skeleton, parts, limbs, armless)
    hips, head = parts["hips",], parts.get(("head",))
    spine, neck, head, why = _trunk(skeleton, hips, head, limbs, middle)
    for chain in ("spine", "neck"):
        if (chain,) in given:
            spine, neck = (given["spine",], neck) if chain == "spine" else (spine, given["neck",])
            why = {**why, chain: "given"}
    reasons.update({(chain,): why[chain] for chain in ("spine", "neck") if chain in why})
    if head is not None:
        reasons.setdefault(("head",), "by the words of its name")
    missing = [f"{side} {limb}" for side in SIDES for limb in LIMBS if (side, limb) not in limbs]
    missing += [n for n, there in (("spine", spine), ("neck", neck), ("head", head is not None)) if not there]
    title = "given names" if given else known.name if known else "names read word by word"
    return RigFinding(Rig(hips, spine, neck, head, limbs), title, reasons, tuple(missing))


def _parts_by_words(skeleton: Skeleton) -> tuple[dict, dict]:
    """Part to joint as the words of the names say, and word to joint of what lies in the middle."""
    words = [_side_and_word(name) for name in without_prefix(skeleton.names)]
    parts, middle = {}, {}
    for joint, (side, word) in enumerate(words):
        if side is None:
            middle.setdefault(word, joint)
    hips = next((middle[w] for w in _HIPS if w in middle), None)
    if hips is not None:
        parts["hips",] = hips
    head = next((middle[w] for w in _HEAD if w in middle), None)
    if head is not None:
        parts["head",] = head
    for side in SIDES:
        here = {}
        for joint, (joint_side, word) in enumerate(words):
            if joint_side == side:
                here.setdefault(word, joint)
        parts.update({(side, part): joint for part, joint in _limbs_of_one_side(here).items()})
    middle["necks"] = [j for j, (side, word) in enumerate(words) if side is None and word.endswith("neck")]
    return parts, middle


def _check_names(skeleton, missing: list[str]):
    if missing:
        raise ValueError(
            f"skeleton: expected a humanoid whose joint names say the part, found no {', '.join(missing)} among "
            f"{', '.join(skeleton.names)}; rename its joints to LaFAN1's names, or say in names= "
            "which joint is which of LaFAN1's"
        )


def _check_required(skeleton, parts, limbs, armless: bool):
    legs = [(s, p) for s in SIDES for p in _LEG[:3]]
    arms = [(s, p) for s in SIDES for p in ("upper_arm", "forearm")]
    needed = legs + ([] if armless and not any(part in limbs for part in arms) else arms)
    missing = (["hips"] if ("hips",) not in parts else []) + [f"{s} {p}" for s, p in needed if (s, p) not in limbs]
    _check_names(skeleton, missing)
    head = parts.get(("head",))
    if head is not None and head in _ancestors(skeleton, parts["hips",]):
        raise ValueError(
            f"skeleton: the body hangs down from {skeleton.names[head]}, expected a root at the hips; call "
            "motionbook.rerooting.rooted_at_hips first"
        )


def _trunk(skeleton, hips, head, limbs, middle):
    """Spine, neck, head and the reasons for the first two."""
    below = {hips, *_ancestors(skeleton, hips)}
    if ("left", "upper_arm") in limbs:
        shoulders = [limbs.get((side, "clavicle"), limbs[side, "upper_arm"]) for side in SIDES]
        left, right = (_ancestors(skeleton, joint) for joint in shoulders)
        shared = set(left) & set(right)
        chest = next(joint for joint in left if joint in shared)
        why = {"spine": "from the hips to where both arms hang", "neck": "from there to the head"}
    else:
        start = middle["necks"][0] if middle["necks"] else head
        if start is None:
            return (), (), None, {}
        chest = skeleton.parents[start]
        why = {"spine": "from the hips to the neck", "neck": "by the words of its name"}
    spine = tuple(joint for joint in reversed((chest, *_ancestors(skeleton, chest))) if joint not in below)
    if head is not None and chest in _ancestors(skeleton, head):
        above = _ancestors(skeleton, head)
        neck = tuple(reversed(above[: above.index(chest)]))
    else:
        head, neck = None, tuple(j for j in middle["necks"] if chest in _ancestors(skeleton, j))
    if not spine and len(neck) > 1:  # arms, legs and neck all hang on one joint in the middle of the body
        spine, neck = neck[:-1], neck[-1:]
        why["spine"] = "from the hips to the neck"
    return spine, neck, head, why


def _side_and_word(name: str) -> tuple[str | None, str]:
    """("left" | "right" | None, lower-case word without side, separators and trailing digits)."""
    if name.startswith("__"):
        return None, name.lower()
    patterns = (
        ("left", r"^left[-_ ]?", r"[._-]l(eft)?$", r"^[lL][_. -]|^L(?=[A-Z][a-z])"),
        ("right", r"^right[-_ ]?", r"[._-]r(ight)?$", r"^[rR][_. -]|^R(?=[A-Z][a-z])"),
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
        if stands(skeleton, rig, pose):
            return pose
    rest = rot.identity((len(skeleton),))
    up, left = _up_and_left(skeleton, rig, rest)
    frame = np.stack([left, up, np.cross(left, up)])
    # A rest pose that leans a little is how the rig stands; only whole quarter turns are axes to be undone.
    turn = rot.from_matrix(_nearest_quarter_turn(frame))
    pose = rot.multiply(turn, rest)
    if not stands(skeleton, rig, pose):
        raise ValueError(
            "skeleton: its rest pose (all rotations zero) is not a standing person, so bone directions cannot be "
            "matched; give a clip to motionbook.cleaning.rest_pose.standing_from_motion, or pass rest=, the world "
            "rotations (joints, 4) in which it stands straight and faces +Z"
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
    if ("left", "upper_arm") in rig.limbs:
        arms = [places[rig.limbs[side, "upper_arm"]] for side in SIDES]
        top, left = 0.5 * (arms[0] + arms[1]), arms[0] - arms[1]
    else:
        top = places[(*rig.neck, rig.head, *rig.spine[-1:], rig.hips)[0]]
        left = places[rig.limbs["left", "thigh"]] - places[rig.limbs["right", "thigh"]]
    up = top - feet
    if np.linalg.norm(up) < 1e-9 or np.linalg.norm(left) < 1e-9:
        return np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])
    up = up / np.linalg.norm(up)
    left = left - (left @ up) * up
    return up, left / max(np.linalg.norm(left), 1e-9)


def stands(skeleton, rig, pose) -> bool:
    """Trunk up, thighs and shins down, each within 45 degrees, and left on the left."""
    places = _places(skeleton, pose)
    vertical = []
    for side in SIDES:
        hip, knee, ankle = (places[rig.limbs[side, part]] for part in ("thigh", "shin", "foot"))
        vertical += [hip - knee, knee - ankle]
        if (side, "upper_arm") in rig.limbs:
            vertical.append(places[rig.limbs[side, "upper_arm"]] - hip)
    steep = all(v[1] > np.sqrt(0.5) * np.linalg.norm(v) for v in vertical)
    pairs = [p for p in ("thigh", "upper_arm") if ("left", p) in rig.limbs]
    sides = all(places[rig.limbs["left", p]][0] > places[rig.limbs["right", p]][0] for p in pairs)
    return bool(steep and sides)


def standing_places(skeleton: Skeleton, pose: np.ndarray) -> np.ndarray:
    """World places (joints, 3) of the standing pose, the root at the origin, metres."""
    return _places(skeleton, pose)

"""Joint names of the rigs one meets, and name maps of a reader's own: their joint to the joint of LaFAN1.

A rig is recognised when all its compulsory joints are there, whatever its file puts before or after the names
(``mixamorig:Hips``, ``Character1_Hips``, ``TORSO#``); among rigs that share their names the one with more of its
telltale joints is taken.
"""

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from motionbook.clip import Skeleton
from motionbook.csv_rows import csv_rows
from motionbook.skeletons import LAFAN1

SIDES = ("left", "right")
LIMBS = ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")


class KnownRig(NamedTuple):
    """Names of one kind of rig.

    ``limbs`` are the names of `LIMBS` in that order, with ``*`` where the side is written, a question mark after a
    joint that may be lacking and ``-`` for one there never is; ``telltale`` are joints that this kind alone has.
    """

    name: str
    sides: tuple[str, str]
    hips: str
    head: str
    limbs: str
    telltale: tuple[str, ...] = ()

    def joints(self) -> tuple[dict, set]:
        """Part to name, for ("hips",), ("head",) and (side, limb), and the parts that may be lacking."""
        names, optional = {}, set()
        entries = [(("hips",), self.hips), (("head",), self.head)]
        for side, mark in zip(SIDES, self.sides, strict=True):
            entries += [((side, limb), n.replace("*", mark)) for limb, n in zip(LIMBS, self.limbs.split(), strict=True)]
        for part, name in entries:
            if name == "-":
                continue
            names[part] = name.removesuffix("?")
            if name.endswith("?"):
                optional.add(part)
        return names, optional


_LONG, _SHORT, _UNDER = ("Left", "Right"), ("l", "r"), ("_L", "_R")
_HUMANIK = "*Shoulder *Arm *ForeArm *Hand? *UpLeg *Leg *Foot *ToeBase?"
_JOINTS = "*Collar? *Shoulder *Elbow *Wrist? *Hip *Knee *Ankle"
KNOWN_RIGS = (
    KnownRig("LaFAN1", _LONG, "Hips", "Head", "*Shoulder *Arm *ForeArm *Hand *UpLeg *Leg *Foot *Toe"),
    KnownRig(
        "FreeMoCap",
        (".L", ".R"),
        "pelvis",
        "face?",
        "shoulder* upper_arm* forearm* hand*? thigh* shin* foot* -",
    ),
    KnownRig("HumanIK (MotionBuilder, Vicon)", _LONG, "Hips", "Head", _HUMANIK),
    KnownRig("Mixamo", _LONG, "Hips", "Head", _HUMANIK, ("HeadTop_End", "LeftToe_End")),
    KnownRig("Rokoko", _LONG, "Hips", "Head", _HUMANIK, ("LeftInHandIndex", "RightInHandIndex", "LeftInHandRing")),
    KnownRig("CMU (MotionBuilder names)", _LONG, "Hips", "Head", _HUMANIK, ("LHipJoint", "RHipJoint", "LowerBack")),
    KnownRig("ARDY core", _LONG, "Hips", "Head", _HUMANIK, ("LeftHandEnd", "RightHandEnd")),
    KnownRig("joint names (collar to ankle)", _LONG, "Hips", "Head", f"{_JOINTS} *Toe?"),
    KnownRig("joint names (collar to ankle)", _LONG, "Hips", "Head", f"{_JOINTS} *Toes"),
    KnownRig("Xsens", _LONG, "Hips", "Head", f"{_JOINTS} *Toe?", ("Chest3", "Chest4")),
    KnownRig(
        "CMU (3ds Max names)", _LONG, "Hips", "Head", f"{_JOINTS} *Toe?", ("LHipJoint", "RHipJoint", "LeftFinger0")
    ),
    KnownRig(
        "Bandai-Namco",
        _UNDER,
        "Hips",
        "Head",
        "Shoulder* UpperArm* LowerArm* Hand* UpperLeg* LowerLeg* Foot* Toes*",
    ),
    KnownRig("MakeHuman", _UNDER, "Hips", "Head", "Clavicle* UpArm* LoArm* Hand* UpLeg* LoLeg* Foot* Toe*"),
    KnownRig("SMPL", ("L_", "R_"), "Pelvis", "Head?", f"{_JOINTS} *Foot?"),
    KnownRig(
        "SMPL (long names)",
        ("left_", "right_"),
        "pelvis",
        "head",
        "*collar *shoulder *elbow *wrist *hip *knee *ankle *foot",
    ),
    KnownRig(
        "MediaPipe points",
        ("left_", "right_"),
        "hips_center",
        "head_center?",
        "- *shoulder *elbow *wrist *hip *knee *ankle *foot_index?",
    ),
    KnownRig("OpenNI", ("LEFT_", "RIGHT_"), "TORSO", "HEAD", "- *SHOULDER *ELBOW *HAND *HIP *KNEE *FOOT -"),
    KnownRig(
        "SlimeVR",
        ("Left-", "Right-"),
        "Hip",
        "Head",
        "*Shoulder? *Upper-Arm? *Lower-Arm? *Hand? *Hip *Knee *Ankle *Foot",
    ),
    KnownRig("ASF", _SHORT, "pelvis", "head?", "*clavicle *humerus *radius *hand? *femur *tibia *foot *toes?"),
    KnownRig("Poser", _SHORT, "hip", "head?", "*collar *shldr *forearm *hand *thigh *shin *foot -"),
)


def without_prefix(names) -> list[str]:
    """Joint names without what a file puts before all of them and without a ``#``.

    That is ``mixamorig:``, ``Armature|``, ``Character1_``, ``Bip01 `` (3ds Max) or ``J_Bip_`` (VRM).
    """
    names = [re.split(r"[:|]", name)[-1] for name in names]
    for name in names:
        prefix = re.match(r"^(.+?[_ ])(?=(C_)?(Hips|Pelvis)#?$)", name, re.IGNORECASE)
        if prefix and sum(n.startswith(prefix.group(1)) for n in names) > 10:
            names = [n.removeprefix(prefix.group(1)) for n in names]
            break
    return [name.removeprefix("C_").rstrip("#") for name in names]


def match_known_rig(skeleton: Skeleton) -> tuple[KnownRig | None, dict]:
    """The known rig whose joints the skeleton has, and its parts as joint indices; (None, {}) when none fits."""
    here = {}
    for joint, name in enumerate(without_prefix(skeleton.names)):
        here.setdefault(name.lower(), joint)
    best, found, most = None, {}, (-1, -1)
    for rig in KNOWN_RIGS:
        names, optional = rig.joints()
        parts = {part: here[name.lower()] for part, name in names.items() if name.lower() in here}
        if set(names) - set(parts) - optional:
            continue
        told = sum(name.lower() in here for name in rig.telltale)
        if rig.name == "Mixamo" and any(name.lower().startswith("mixamorig") for name in skeleton.names):
            told += 1
        if rig.telltale and not told:
            continue
        if (told, len(parts)) > most:
            best, found, most = rig, parts, (told, len(parts))
    return best, found


_LAFAN1_PARTS = {"Hips": ("hips",), "Neck": ("neck",), "Head": ("head",)}
_LAFAN1_PARTS |= {name: ("spine",) for name in ("Spine", "Spine1", "Spine2")}
_LAFAN1_PARTS |= {
    side.capitalize() + name: (side, limb)
    for side in SIDES
    for name, limb in zip(("Shoulder", "Arm", "ForeArm", "Hand", "UpLeg", "Leg", "Foot", "Toe"), LIMBS, strict=True)
}


def check_name_map(skeleton: Skeleton, names: Mapping[str, str]) -> dict[tuple, tuple[int, ...]]:
    """A reader's name map as part to joint indices.

    Parameters
    ----------
    skeleton : Skeleton
    names : mapping
        Joint of the skeleton to joint of LaFAN1 ("Hips", "LeftUpLeg" ...). Joints left out are not touched.

    Raises
    ------
    ValueError
        Names every joint that the skeleton or LaFAN1 does not have, with the nearest that it has, and every joint of
        LaFAN1 that was given twice.
    """
    problems, parts, taken = [], {}, {}
    for theirs, ours in names.items():
        if theirs not in skeleton.names:
            problems.append(_unknown(theirs, skeleton.names, "the clip"))
        if ours not in _LAFAN1_PARTS:
            problems.append(_unknown(ours, LAFAN1.names, "LaFAN1"))
        elif ours in taken:
            problems.append(f"{taken[ours]!r} and {theirs!r} are both said to be {ours}")
        taken[ours] = theirs
        if theirs in skeleton.names and ours in _LAFAN1_PARTS:
            parts.setdefault(_LAFAN1_PARTS[ours], []).append(skeleton.names.index(theirs))
    if problems:
        raise ValueError(f"names: {'; '.join(problems)}")
    return {part: tuple(sorted(joints)) for part, joints in parts.items()}


def _unknown(name, names, owner) -> str:
    lower = {n.lower(): n for n in names}
    near = difflib.get_close_matches(str(name).lower(), lower, n=1, cutoff=0.5)
    return f"{owner} has no joint {name!r}" + (f", the nearest is {lower[near[0]]!r}" if near else "")


def read_name_map(path) -> dict[str, str]:
    """A name map from a CSV file (their joint, LaFAN1 joint; a heading is skipped) or a YAML file (``theirs: LaFAN1``).

    Raises
    ------
    ValueError
        With the file, and for CSV the line, of what is not a pair of names or of a joint given twice.
    """
    path = Path(path)
    if path.suffix.lower() in (".yaml", ".yml"):
        import yaml

        names = yaml.safe_load(path.read_text(encoding="utf-8"))
        if not isinstance(names, dict) or not all(isinstance(n, str) for pair in names.items() for n in pair):
            raise ValueError(f"{path.name}: expected lines of the form 'their joint: LaFAN1 joint'")
        return names
    names = {}
    rows = csv_rows(path)
    for number, row in rows[1:] if rows and "lafan" in rows[0][1][-1].lower() else rows:
        if len(row) != 2 or not all(row):
            raise ValueError(f"{path.name}, line {number}: expected a joint and its LaFAN1 joint, got {row}")
        if row[0] in names:
            raise ValueError(f"{path.name}, line {number}: joint {row[0]!r} is given twice")
        names[row[0]] = row[1]
    return names

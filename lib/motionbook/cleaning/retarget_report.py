"""What a retargeting did, in numbers: which joint became which, bone directions, twists, feet, what stayed at rest."""

from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.cleaning.agreement import bone_vectors, direction_errors, foot_slide, limb_twists, planted
from motionbook.cleaning.retargeting import Plan, joint_sources, plan_retarget
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics
from motionbook.rigs import SIDES, Rig, explain_rig

_BENT = np.deg2rad(20.0)
_WORDS = {
    "bone": "points where its bone points",
    "turn": "takes its turn from standing straight",
    "chain": "its share of the chain",
    "follows": "turns with it, there is no joint of its own",
}


class RetargetReport(NamedTuple):
    """What was measured.

    Attributes
    ----------
    rig, rest : str
        The rig the source was taken for, and where its standing pose is from.
    joints : DataFrame
        One row per joint of the target: joint, source, how, why (the reason for the source joint).
    bones : DataFrame
        One row per bone that both bodies have: bone, kind, median and 95 % angle in degrees between its two
        directions. "trunk" runs from between the hips to the base of the neck. "hips" is the line between the two hip
        joints; it stands for the bones from the pelvis to either, which no two rigs begin at the same place of the
        body, as "trunk" stands for those from the pelvis to the spine and from the spine to neck and shoulders. Of
        kind "line" are pieces of the spine at equal shares of its length: the joints there are not the same ones, so
        they bend with the whole.
    bends : DataFrame
        One row per knee and elbow: hinge, bent_share (of frames, by 20 degrees or more), plane_deg (median angle
        between the planes the two limbs bend in), hinge_deg (median angle from that plane's normal to the axis
        the target's own joint bends about), twist_q95_deg (turn of the lower limb about its own bone), and for knees
        forward_share (of the bent frames in which the knee points forwards).
    at_rest, missing : tuple of str
        Joints of the target nothing drives; parts the source lacks.
    scale : float
        Factor of the root's path.
    slide : tuple of float
        Mean speed of planted ankles before and after, leg lengths per second; NaN when no foot is ever planted.
    soles : tuple of float
        Median height in metres of the lower sole over the floor before and after.
    text : str
        All of it in words.
    """

    rig: str
    rest: str
    joints: object
    bones: object
    bends: object
    at_rest: tuple[str, ...]
    missing: tuple[str, ...]
    scale: float
    slide: tuple[float, float]
    soles: tuple[float, float]
    text: str


def retarget_report(source: Clip, result: Clip, **options) -> RetargetReport:
    """Compare a clip with what `motionbook.cleaning.retarget` made of it.

    Parameters
    ----------
    source, result : Clip
        Of equally many frames.
    **options
        ``keep_size``, ``rest``, ``names``, ``scale`` as they were given to `retarget`.
    """
    import pandas as pd

    if len(source) != len(result):
        raise ValueError(f"result: expected the {len(source)} frames of the source, got {len(result)}")
    plan = plan_retarget(source, result.skeleton, **options)
    clip, rig = plan.clip, plan.source.rig
    joints, at_rest = _joint_rows(plan)
    errors = direction_errors(clip, result, rig) | _line_errors(clip, result, plan)
    bones = pd.DataFrame(
        [
            (name, "line" if name.startswith("spine") else "bone", *np.rad2deg([np.median(e), np.quantile(e, 0.95)]))
            for name, e in errors.items()
        ],
        columns=["bone", "kind", "median_deg", "q95_deg"],
    )
    contacts = planted(clip, rig=rig)
    slide = foot_slide(clip, contacts, rig), foot_slide(result, contacts)
    soles = _sole_height(clip, rig), _sole_height(result, plan.target.rig)
    bends = pd.DataFrame(_bend_rows(clip, result, plan))
    report = RetargetReport(
        plan.finding.name,
        plan.rest,
        pd.DataFrame(joints, columns=["joint", "source", "how", "why"]),
        bones,
        bends,
        at_rest,
        plan.finding.missing,
        plan.scale,
        slide,
        soles,
        "",
    )
    return report._replace(text=_text(report, clip, plan))


def _joint_rows(plan: Plan) -> tuple[list, tuple[str, ...]]:
    target, names = plan.target, plan.clip.skeleton.names
    sources = joint_sources(plan.source, target)
    part_of = {joint: part for part, joint in plan.source.rig.limbs.items()} | {plan.source.rig.hips: ("hips",)}
    if plan.source.rig.head is not None:
        part_of[plan.source.rig.head] = ("head",)
    rows, at_rest = [], []
    for joint, name in enumerate(target.skeleton.names):
        if joint not in sources:
            at_rest.append(name)
            rows.append((name, "", "at rest", "the source has no such part"))
            continue
        how, theirs = sources[joint]
        chain = ("spine",) if joint in target.rig.spine else ("neck",)
        why = plan.finding.reasons.get(chain if how == "chain" else part_of[theirs[0]], "")
        words = _WORDS[how]
        if plan.source.pelvis != "joint" and (how == "chain" or joint == target.rig.hips) and chain == ("spine",):
            words = "read off the lines between hips, arms and neck; no joint carries them"
        rows.append((name, ", ".join(names[j] for j in theirs), words, why))
    return rows, tuple(at_rest)


def _line_errors(clip: Clip, result: Clip, plan: Plan) -> dict[str, np.ndarray]:
    """Angles (frames,) of lines between joints that no single bone spans: the hips, and hips to head without a neck."""
    lines = []
    for c, rig in ((clip, plan.source.rig), (result, plan.target.rig)):
        places = forward_kinematics(c).positions
        left, right = (places[:, rig.limbs[side, "thigh"]] for side in SIDES)
        lines.append({"hips": left - right})
        if rig.head is not None and not (plan.source.rig.neck and plan.target.rig.neck):
            lines[-1]["hips to head"] = places[:, rig.head] - 0.5 * (left + right)
        if min(len(plan.source.rig.spine), len(plan.target.rig.spine)) > 1 and plan.source.rig.neck:
            shares = _shares(plan.target)
            lines[-1] |= {f"spine {a:.0%} to {b:.0%}": v for (a, b), v in _chords(places, rig, shares).items()}
    return {name: _angle(lines[0][name], lines[1][name]) for name in lines[0] if name in lines[1]}


def _shares(body) -> np.ndarray:
    """Where along its length, 0 to 1, the joints of the spine and the base of the neck are."""
    lengths = np.linalg.norm(np.diff(body.places[[*body.rig.spine, body.rig.neck[0]]], axis=0), axis=-1)
    return np.concatenate([[0.0], np.cumsum(lengths) / lengths.sum()])


def _chords(places, rig: Rig, shares) -> dict:
    """Vectors (frames, 3) between the places at these shares of the way along the spine."""
    points = places[:, [*rig.spine, rig.neck[0]]]
    lengths = np.linalg.norm(np.diff(points, axis=1), axis=-1).mean(axis=0)
    at = np.concatenate([[0.0], np.cumsum(lengths) / lengths.sum()])
    found = []
    for share in shares:
        k = int(np.clip(np.searchsorted(at, share) - 1, 0, len(at) - 2))
        weight = np.clip((share - at[k]) / max(at[k + 1] - at[k], 1e-9), 0.0, 1.0)
        found.append((1 - weight) * points[:, k] + weight * points[:, k + 1])
    return {(shares[i], shares[i + 1]): found[i + 1] - found[i] for i in range(len(shares) - 1)}


def _sole_height(clip: Clip, rig: Rig) -> float:
    places = forward_kinematics(clip).positions[..., 1]
    vectors = bone_vectors(clip, rig)
    tips = []
    for side in SIDES:
        foot = rig.limbs[side, "foot"]
        tips.append(places[:, foot] + (vectors[f"{side} foot"][:, 1] if f"{side} foot" in vectors else 0.0))
    return float(np.median(np.minimum(*tips)))


def _angle(u, v) -> np.ndarray:
    u, v = (x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12) for x in (u, v))
    return 2 * np.arctan2(np.linalg.norm(u - v, axis=-1), np.linalg.norm(u + v, axis=-1))


def _bend_rows(clip: Clip, result: Clip, plan: Plan) -> list[dict]:
    theirs, ours = bone_vectors(clip, plan.source.rig), bone_vectors(result, plan.target.rig)
    twists = limb_twists(result, plan.target.rig)
    places, turned = forward_kinematics(result)
    left, right = (places[:, plan.target.rig.limbs[side, "thigh"]] for side in SIDES)
    rows = []
    for side in SIDES:
        for hinge, upper, lower in (("elbow", "upper_arm", "forearm"), ("knee", "thigh", "shin")):
            pair = [f"{side} {upper}", f"{side} {lower}"]
            if any(name not in vectors for name in pair for vectors in (theirs, ours)):
                continue
            bent = (_angle(theirs[pair[0]], theirs[pair[1]]) > _BENT) & (_angle(ours[pair[0]], ours[pair[1]]) > _BENT)
            normals = [np.cross(v[pair[0]], v[pair[1]]) for v in (theirs, ours)]
            row = {"hinge": f"{side} {hinge}", "bent_share": float(bent.mean()), "plane_deg": np.nan}
            if bent.any():
                row["plane_deg"] = float(np.rad2deg(np.median(_angle(*normals)[bent])))
            row["hinge_deg"] = np.nan
            if bent.any():
                joint = plan.target.rig.limbs[side, upper]
                standing = np.array([1.0, 0, 0] if hinge == "knee" else [0, -1.0 if side == "left" else 1.0, 0])
                axis = rot.rotate(rot.multiply(turned[:, joint], rot.inverse(plan.target.pose[joint])), standing)
                row["hinge_deg"] = float(np.rad2deg(np.median(_angle(axis, normals[1])[bent])))
            twist = twists.get(f"{side} {lower}")
            row["twist_q95_deg"] = np.nan if twist is None else float(np.rad2deg(np.quantile(twist, 0.95)))
            row["forward_share"] = np.nan
            if hinge == "knee" and bent.any():
                row["forward_share"] = float((np.sum(normals[1] * (left - right), axis=-1)[bent] > 0).mean())
            rows.append(row)
    return rows


def _text(report: RetargetReport, clip: Clip, plan: Plan) -> str:
    bones = report.bones[report.bones.kind == "bone"]
    worst = bones.loc[bones.median_deg.idxmax()]
    lines = [
        f"rig: {report.rig}, {len(clip.skeleton)} joints; lacks {', '.join(report.missing) or 'nothing'}",
        f"standing pose: {report.rest}",
        f"bones compared: {len(bones)}, worst in the median {worst.bone} by {worst.median_deg:.2f} degrees",
        f"left at rest: {', '.join(report.at_rest) or 'nothing'}",
        f"scale of the path: {report.scale:.3f}",
        "slide of planted ankles: "
        + (
            "no foot is planted"
            if np.isnan(report.slide[0])
            else f"{report.slide[0]:.4f} before, {report.slide[1]:.4f} after, leg lengths per second"
        ),
        f"lower sole over the floor: {report.soles[0]:.3f} m before, {report.soles[1]:.3f} m after",
    ]
    for row in report.joints.itertuples():
        lines.append(f"  {row.joint:15s} <- {row.source or '-':35s} {row.how}" + (f" ({row.why})" if row.why else ""))
    return "\n".join(lines)


def rig_text(skeleton, names=None) -> str:
    """Which rig a skeleton was taken for, which joint for which part and why, and what is missing, in words."""
    found = explain_rig(skeleton, names, armless=True)
    rig = found.rig
    rows = [(("hips",), (rig.hips,)), (("spine",), rig.spine), (("neck",), rig.neck)]
    rows += [(("head",), () if rig.head is None else (rig.head,))]
    rows += [(part, (joint,)) for part, joint in rig.limbs.items()]
    lines = [f"{found.name}; missing: {', '.join(found.missing) or 'nothing'}"]
    for part, joints in rows:
        if joints:
            named = ", ".join(skeleton.names[j] for j in joints)
            lines.append(f"  {' '.join(part):16s} {named:35s} {found.reasons.get(part, '')}")
    return "\n".join(lines)

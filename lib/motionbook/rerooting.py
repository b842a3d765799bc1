"""Skeletons that hang from the head (virtual reality: the headset is the root), turned to stand on their hips."""

from itertools import pairwise

import numpy as np

from motionbook.clip import Clip, Skeleton
from motionbook.kinematics import forward_kinematics, local_rotations
from motionbook.rig_names import match_known_rig, without_prefix


def hangs_from_head(skeleton: Skeleton) -> bool:
    """Whether the hips are below the head in the tree."""
    return _path(skeleton) is not None


def rooted_at_hips(clip: Clip) -> Clip:
    """The same motion with the hips as the root; joints keep their names and their places in the world.

    A bone between head and hips is carried by its upper end in such a file and by its lower end afterwards: each
    joint of the trunk takes the rotation of the joint above it. The hips keep their own rotation, for the legs, and
    what the joint above them carried hangs on a new joint of no length at the same place, named ``<hips>_up``.

    Raises
    ------
    ValueError
        When the skeleton does not hang from its head, or stores joint places per frame.
    """
    skeleton, path = clip.skeleton, _path(clip.skeleton)
    if path is None:
        raise ValueError("rooted_at_hips: expected a skeleton whose hips hang below its head; others need no change")
    if clip.translations is not None:
        raise ValueError("rooted_at_hips: the joints move in their parents; call constant_bones(clip) first")
    places, turned = forward_kinematics(clip)
    hips, *above = path  # from the hips up to the old root
    below = dict(zip(above, path, strict=False))
    names, parents, offsets = [skeleton.names[hips], f"{skeleton.names[hips]}_up"], [-1, 0], [np.zeros(3)] * 2
    world, new, carried = [hips, above[0]], {hips: 0}, {above[0]: 1}  # rotations; old joint or bone to new joint
    for joint, carrier in pairwise(above):
        names.append(skeleton.names[joint])
        parents.append(len(names) - 2)
        offsets.append(-skeleton.offsets[below[joint]])
        world.append(carrier)
        new[joint] = carried[carrier] = len(names) - 1
    ends = [(len(names) - 1, tuple(-skeleton.offsets[below[above[-1]]]))]
    for joint, parent in enumerate(skeleton.parents):
        if joint in path:
            continue
        if parent == hips:
            new_parent, offset = 0, skeleton.offsets[joint]
        elif parent in path:  # hangs on a bone of the trunk: measured from that bone's lower end
            new_parent, offset = carried[parent], skeleton.offsets[joint] - skeleton.offsets[below[parent]]
        else:
            new_parent, offset = new[parent], skeleton.offsets[joint]
        names.append(skeleton.names[joint])
        parents.append(new_parent)
        offsets.append(offset)
        world.append(joint)
        new[joint] = len(names) - 1
    ends += [(new[joint], offset) for joint, offset in skeleton.end_offsets if joint in new and joint not in above]
    rooted = Skeleton(tuple(names), tuple(parents), np.array(offsets), tuple(ends))
    return Clip(rooted, places[:, hips], local_rotations(rooted.parents, turned[:, world]), clip.fps)


def _path(skeleton: Skeleton) -> list[int] | None:
    """Joints from the hips up to the root, when the head is among them."""
    _, parts = match_known_rig(skeleton)
    hips = parts.get(("hips",))
    if hips is None:
        words = [name.lower() for name in without_prefix(skeleton.names)]
        hips = next((words.index(word) for word in ("hips", "pelvis", "hip") if word in words), None)
    if hips is None:
        return None
    path = [hips]
    while skeleton.parents[path[-1]] >= 0:
        path.append(skeleton.parents[path[-1]])
    named = [without_prefix(skeleton.names)[joint].lower() for joint in path[1:]]
    return path if any(name in ("head", "neck", "hmd") for name in named) else None

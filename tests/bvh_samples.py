"""A small BVH file to bend, and what two equal clips share."""

import numpy as np

from motionbook import forward_kinematics
from motionbook import rotations as rot

BODY = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Head
  {
    OFFSET 0 80 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    End Site
    {
      OFFSET 0 10 0
    }
  }
  JOINT Foot
  {
    OFFSET 0 -90 0
    CHANNELS 3 Zrotation Yrotation Xrotation
  }
}
MOTION
Frames: 2
Frame Time: 0.033333
0 90 0 0 0 0 10 20 30 0 0 0
5 90 0 0 0 0 10 20 30 0 0 0
"""
"""A head at 170 and a foot at 0; the words of the error tests count on its line numbers."""


def same_motion(a, b, places=1e-12, turns=1e-12):
    assert a.skeleton.names == b.skeleton.names and a.skeleton.parents == b.skeleton.parents
    ends, other = ([(joint, np.array(offset)) for joint, offset in c.skeleton.end_offsets] for c in (a, b))
    assert len(ends) == len(other)
    assert all(i == j and np.abs(x - y).max() <= places for (i, x), (j, y) in zip(ends, other, strict=True))
    p, q = forward_kinematics(a), forward_kinematics(b)
    assert np.abs(p.positions - q.positions).max() <= places
    assert rot.angle_between(p.rotations, q.rotations).max() <= turns


def mended(*changes, text=BODY):
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text

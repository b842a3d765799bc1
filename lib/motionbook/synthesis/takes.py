"""Takes that may be kept: no joint beyond its range, and no take of a person much like another."""

from collections.abc import Callable

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.synthesis.anatomy import beyond_limits

ARM_JOINTS = ("LeftArm", "LeftForeArm", "RightArm", "RightForeArm")
# A draw below the first is taken at once; where none is, as for some people's glances at the watch, the least alike of
# all draws is, if it keeps the promise of the second.
MOST_ALIKE = 0.85
PROMISED = 0.9
_DRAWS = 200


def arm_correlations(a: Clip, b: Clip) -> dict[str, float]:
    """How alike two motions of one person are, per arm joint: the largest Pearson correlation of a component.

    The rotation vector of each arm joint, three components over time, is stretched to a common length; component by
    component the two are correlated at lag 0.
    """
    out = {}
    for name in ARM_JOINTS:
        joint = a.skeleton.index(name)
        u, v = (_stretched(rot.to_rotation_vector(c.rotations[:, joint])) for c in (a, b))
        u, v = ((x - x.mean(0)) / np.maximum(x.std(0), 1e-9) for x in (u, v))
        out[name] = float((u * v).mean(0).max())
    return out


def kept_take(draw: Callable[[int, int], Clip], take: int) -> Clip:
    """A take in which every joint stays within its range and that is not like the takes before it.

    What is drawn almost always keeps to the ranges of `anatomy.LIMITS`; chance brings a shoulder a few degrees beyond
    in about one clip of a thousand, and that one is drawn again.

    Parameters
    ----------
    draw : function of (take, attempt)
        Makes a motion; another attempt makes another one.
    take : int
        From 0. All takes before it are made as well, so that the result depends on nothing but the number.

    Raises
    ------
    ValueError
        For a negative take.
    RuntimeError
        When 200 draws in a row leave a range or correlate above `PROMISED` with an earlier take in an arm joint.
    """
    if take < 0:
        raise ValueError(f"take: expected 0 or more, got {take}")
    kept: list[Clip] = []
    for number in range(take + 1):
        least, chosen = np.inf, None
        for attempt in range(_DRAWS):
            clip = draw(number, attempt)
            alike = max((max(arm_correlations(clip, other).values()) for other in kept), default=-1.0)
            if alike < least and not beyond_limits(clip):
                least, chosen = alike, clip
            if least <= MOST_ALIKE:
                break
        if chosen is None or least > PROMISED:
            raise RuntimeError(
                f"take {number}: {_DRAWS} draws were all beyond a joint's range or too much like an earlier take; "
                "ask for fewer takes"
            )
        kept.append(chosen)
    return kept[-1]


def _stretched(values, length: int = 200) -> np.ndarray:
    at = np.linspace(0.0, len(values) - 1.0, length)
    return np.stack([np.interp(at, np.arange(len(values)), column) for column in values.T], axis=-1)

"""One person out of several: detections of every frame and camera, and whose they are.

A detector lists the people it sees in no fixed order, and bystanders come and go. Within one camera a person is
followed by nearness; across calibrated cameras, the detections of one person are those whose rays meet.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np

from motionbook.capture.cameras import Camera
from motionbook.capture.triangulation import triangulate

PERSONS = ("track", "agree", "confident", "largest")
_MANY = 4  # people per picture that are tried in combination, the most confident ones
_SURE = 0.3  # keypoints less confident than this do not vote
_LEFT_OUT = 20.0  # pixels that leaving out a camera must be worth; a bystander costs hundreds


def choose_person(people, points: int, person: str | int = "track", cameras: Sequence[Camera] | None = None):
    """Keypoints (cameras, frames, points, 3) of one person, NaN where nobody was seen.

    Parameters
    ----------
    people : sequence (cameras) of sequence (frames) of list of (points, 3)
        Everybody a picture holds: x, y, confidence, NaN where a keypoint was not detected.
    points : int
    person : str or int
        "track": in each camera, the one nearest to where the person was before, starting with the most confident;
        "agree": across cameras, the combination whose rays meet and that is near to the frame before; a camera that
        sees only somebody else is left out of a frame. "confident": the
        highest mean confidence of each picture; "largest": the tallest of each picture; a number: that place in the
        list.
    cameras : sequence of Camera
        For "agree".

    Raises
    ------
    ValueError
        For another way of choosing, or "agree" without as many cameras as there are lists.
    """
    if not (person in PERSONS or (isinstance(person, int) and person >= 0)):
        raise ValueError(f"person: expected {', '.join(map(repr, PERSONS))} or a number from 0, got {person!r}")
    chosen = np.full((len(people), max(map(len, people), default=0), points, 3), np.nan)
    if person == "agree":
        if cameras is None or len(cameras) != len(people):
            given = "none" if cameras is None else len(cameras)
            raise ValueError(f"cameras: person='agree' needs one per folder ({len(people)}), got {given}")
        return _agree(people, chosen, cameras)
    for camera, frames in enumerate(people):
        before = None
        for frame, there in enumerate(frames):
            found = _alone(there, person, before)
            if found is not None:
                chosen[camera, frame] = before = found
    return chosen


def _alone(there, person, before):
    if isinstance(person, int):
        return there[person] if person < len(there) else None
    if not there:
        return None
    if person == "largest":
        return max(there, key=lambda p: np.ptp(p[np.isfinite(p[:, 1]), 1]))
    if person == "track" and before is not None:
        apart = [_apart(p, before) for p in there]
        if np.isfinite(apart).any():
            return there[int(np.nanargmin(apart))]
    return max(there, key=_confidence)


def _agree(people, chosen, cameras):
    before = None
    for frame in range(chosen.shape[1]):
        there = [sorted(frames[frame], key=_confidence, reverse=True)[:_MANY] for frames in people]
        seeing = [c for c, found in enumerate(there) if found]
        if not seeing:
            continue
        several = max(len(there[c]) for c in seeing) > 1 and len(seeing) > 1
        nobody = (None,) if several else ()
        ways = list(product(*((*range(len(there[c])), *nobody) for c in seeing)))
        ways = [picks for picks in ways if sum(pick is not None for pick in picks) >= min(2, len(seeing))]
        stacked = np.full((len(people), len(ways), *chosen.shape[2:]), np.nan)
        for way, picks in enumerate(ways):
            for c, pick in zip(seeing, picks, strict=True):
                if pick is not None:
                    stacked[c, way] = there[c][pick]
        best = _best(stacked, seeing, cameras, before) if len(ways) > 1 else 0
        chosen[:, frame] = stacked[:, best]
        seen = np.isfinite(chosen[:, frame, :, 0]).any(axis=1)
        before = chosen[:, frame] if before is None else np.where(seen[:, None, None], chosen[:, frame], before)
    return chosen


def _best(stacked, seeing, cameras, before) -> int:
    """Index of the combination (cameras, combinations, points, 3) that is one person, the one followed so far.

    Three things in pixels are added up: how badly the rays meet, how far everybody has moved since the frame before,
    and a fixed price for every camera that is left out.
    """
    cost = _LEFT_OUT * (~np.isfinite(stacked[seeing][..., 0]).any(axis=2)).sum(axis=0)
    if before is not None:
        for way in range(len(cost)):
            moves = [_apart(stacked[c, way], before[c]) for c in seeing]
            moves = [move for move in moves if np.isfinite(move)]
            cost[way] += np.mean(moves) if moves else 0.0
    if len(seeing) < 2:
        return int(cost.argmin())
    confidence = np.nan_to_num(stacked[..., 2])
    # every camera as it is: a combination of two people must not look well by leaving one of them out
    errors = triangulate(
        [cameras[c] for c in seeing], stacked[seeing][..., :2], confidence[seeing], min_confidence=_SURE, max_error=None
    ).error
    known = np.isfinite(errors)
    if not known.any():
        return int(cost.argmin())
    mean = np.where(known, errors, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return int(np.where(known.any(axis=1), cost + mean, np.inf).argmin())


def _confidence(keypoints) -> float:
    return float(np.nan_to_num(keypoints[:, 2]).mean())


def _apart(a, b) -> float:
    """Mean distance in pixels of the keypoints both have."""
    both = np.isfinite(a[:, 0]) & np.isfinite(b[:, 0])
    return float(np.linalg.norm(a[both, :2] - b[both, :2], axis=1).mean()) if both.any() else np.nan

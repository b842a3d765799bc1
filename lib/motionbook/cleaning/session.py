"""A session of an embedded performer in one recording, with the actions in it known to the frame.

Studios record sessions and cut them afterwards. Here a performer stands, does one action after the other with rests in
between, and the plan says when each began and ended, so that cutting can be measured.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from motionbook.cleaning.cut_points import Suggestion
from motionbook.cleaning.label_tables import Take
from motionbook.clip import Clip
from motionbook.synthesis.action_plans import PLANS, Cue
from motionbook.synthesis.actions import ACTIONS, find_row
from motionbook.synthesis.body import Score, render
from motionbook.synthesis.performer import FPS, Performer, random_stream
from motionbook.synthesis.plans import current_arm, draw_rest, shift_weight, standing


class CutCounts(NamedTuple):
    """How many cuts were to be found, suggested and right; ``matched`` numbers the right ones among the suggested."""

    true: int
    suggested: int
    found: int
    matched: tuple[int, ...]

    @property
    def recall(self) -> float:
        """Share of the true cuts that were found; NaN without any."""
        return self.found / self.true if self.true else float("nan")

    @property
    def precision(self) -> float:
        """Share of the suggested cuts that were right; NaN without any."""
        return self.found / self.suggested if self.suggested else float("nan")


class Session(NamedTuple):
    """A recording and what is in it.

    Attributes
    ----------
    name : str
        ``<subject>_session``, which says who moves.
    clip : Clip
        30 fps, LaFAN1's joints.
    takes : tuple of Take
        One per action, from the first planned movement to the end of the last one.
    """

    name: str
    clip: Clip
    takes: tuple[Take, ...]


def embedded_session(
    performer: Performer,
    labels: Sequence[str] = ACTIONS,
    seed: int = 0,
    *,
    rest_seconds: tuple[float, float] = (2.0, 5.0),
    shifts: float = 0.5,
) -> Session:
    """One recording in which a person does the actions in turn and stands between them.

    Parameters
    ----------
    performer : Performer
    labels : sequence of str
        Actions, as in `motionbook.synthesis.performers.ACTIONS`; repeated where a take is.
    seed : int
        Of what is drawn: rests, ways of doing an action, sway.
    rest_seconds : (low, high)
        Seconds between two actions, drawn evenly.
    shifts : float
        Share of the rests in which the person shifts weight once: movement that is no action.
    """
    rng = random_stream(performer.seed, performer.subject, "session", seed)
    pair = draw_rest(performer, rng, linked=False)
    score = standing(performer, 1.0, rng, pair)
    time, spans = rng.uniform(*rest_seconds), []
    for label in labels:
        row = find_row(label)
        seconds = max(2.5, row.frames / row.clips / FPS * float(np.exp(rng.normal(0.0, 0.15))))
        # planned on a page of its own: some plans begin with a stance that is taken at second 0
        page = Score(seconds, score.first_weight, (current_arm(score, 0), current_arm(score, 1)))
        PLANS[row.code](performer, page, rng, row, Cue(0.7, 0.8 * seconds, performer.handed))
        start, stop = _appended(score, page, time)
        spans.append((row.code, start, stop))
        rest = rng.uniform(*rest_seconds)
        if rng.random() < shifts and rest > 2.5:
            shift_weight(score, stop + 0.5, rng.uniform(1.0, 1.6), float(np.clip(rng.normal(0.0, 0.4), -0.8, 0.8)))
        time = stop + rest
    clip = render(performer, replace(score, seconds=time), rng)
    name = f"{performer.subject:02d}_session"
    takes = [
        Take(name, round(start * FPS), min(round(stop * FPS) + 1, len(clip)), label, f"{performer.subject:02d}")
        for label, start, stop in spans
    ]
    return Session(name, clip, tuple(takes))


def cuts_found(takes: Sequence[Take], suggestion: Suggestion, fps: float, within: float = 0.5) -> CutCounts:
    """Compare suggested cuts with the beginnings and ends of takes, each counted once, nearest pairs first.

    ``within`` is the largest distance in seconds.
    """
    truth = np.array([frame for take in takes for frame in (take.start, take.stop)]) / fps
    said = np.array([cut.seconds for cut in suggestion.cuts])
    apart = np.abs(truth[:, None] - said[None])
    taken, matched = set(), set()
    for i, j in zip(*np.unravel_index(np.argsort(apart, axis=None, kind="stable"), apart.shape), strict=True):
        if apart[i, j] > within:
            break
        if i not in taken and j not in matched:
            taken.add(int(i))
            matched.add(int(j))
    return CutCounts(len(truth), len(said), len(taken), tuple(sorted(matched)))


def _tracks(score: Score) -> tuple[list, ...]:
    return (score.weight, score.gaze, score.trunk, *score.arms, score.steps, score.rolls)


def _appended(score: Score, page: Score, time: float) -> tuple[float, float]:
    """Add the keys of a page to a score so that the first movement starts at ``time``; its start and the last's end."""
    keys = [key for track in _tracks(page) for key in track]
    shift = time - min(key.start for key in keys)
    for track, added in zip(_tracks(score), _tracks(page), strict=True):
        track += [key._replace(start=key.start + shift) for key in added]
    return time, max(key.start + key.duration for key in keys) + shift

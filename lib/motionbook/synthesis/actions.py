"""The 19 rows of StayStill's table of idle actions, each with a lead-in, the action and a return.

People do an action in different ways: with either hand, here or there, once or twice. The ways are drawn per take;
a take that came out too much like an earlier one of the same person is drawn again.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from motionbook.clip import Clip
from motionbook.synthesis.action_plans import PLANS, Cue
from motionbook.synthesis.body import render
from motionbook.synthesis.performer import FPS, Performer, random_stream
from motionbook.synthesis.plans import draw_rest, standing
from motionbook.synthesis.takes import kept_take


class ActionRow(NamedTuple):
    """A row of Table 3: file-name code, the paper's words, and its frames and clips (mean length = frames / clips)."""

    code: str
    words: str
    frames: int
    clips: int


# In the table's order; codes in the manner of the one that is published, lb_lef, as `data.names` reads them.
ACTION_ROWS = (
    ActionRow("l_up", "look up/sky", 27943, 98),
    ActionRow("l_aro", "look around", 20338, 92),
    ActionRow("l_dow", "look down/floor", 17817, 85),
    ActionRow("l_sho", "look shoes", 15623, 75),
    ActionRow("l_wat", "check watch", 11332, 92),
    ActionRow("l_pho", "check phone", 21237, 89),
    ActionRow("sc_hea", "scratch head", 13199, 92),
    ActionRow("sc_arm", "scratch arm", 13750, 93),
    ActionRow("sc_leg", "scratch leg", 11510, 77),
    ActionRow("sc_bac", "scratch back", 10900, 66),
    ActionRow("t_fac", "touch face/chin", 14852, 93),
    ActionRow("st_arm", "stretch arms", 14473, 80),
    ActionRow("st_bac", "stretch back", 12300, 71),
    ActionRow("sc_eye", "rub eyes", 15430, 97),
    ActionRow("yaw", "yawn", 13766, 95),
    ActionRow("lb_lef", "look back (left)", 10253, 69),
    ActionRow("lb_rig", "look back (right)", 10571, 75),
    ActionRow("wei_lr", "balance l/r", 11100, 48),
    ActionRow("wei_rl", "balance r/l", 9357, 47),
)
ACTIONS = tuple(row.code for row in ACTION_ROWS)


def action(performer: Performer, label: str, take: int = 0) -> Clip:
    """The person performing one of the 19 actions.

    Parameters
    ----------
    performer : Performer
    label : str
        One of `ACTIONS`, or the words of Table 3.
    take : int
        Takes are different ways of doing it: none is much like an earlier one (`takes.kept_take`).

    Returns
    -------
    Clip
        30 fps, LaFAN1's joints; its length varies around the mean of its row.

    Raises
    ------
    KeyError
        For an unknown label, listing those there are.
    """
    row = find_row(label)
    return kept_take(lambda number, attempt: _draw(performer, row, number, attempt), take)


def find_row(label: str) -> ActionRow:
    """The row of Table 3 with this code or these words; KeyError lists the codes."""
    for row in ACTION_ROWS:
        if label in (row.code, row.words):
            return row
    raise KeyError(f"no action {label!r}; there are {', '.join(f'{r.code} ({r.words})' for r in ACTION_ROWS)}")


def _draw(performer: Performer, row: ActionRow, take: int, attempt: int) -> Clip:
    rng = random_stream(performer.seed, performer.subject, "action", row.code, take, attempt)
    mean = row.frames / row.clips / FPS
    seconds = max(2.8, mean * float(np.exp(np.clip(rng.normal(0.0, 0.2), -0.45, 0.45))) / np.sqrt(performer.tempo))
    rest = ("hang", "hang") if rng.random() < 0.6 else draw_rest(performer, rng, linked=False)
    score = standing(performer, seconds, rng, rest)
    lead, tail = rng.uniform(0.06, 0.26) * seconds, rng.uniform(0.05, 0.16) * seconds
    # asked to do it again, people mostly take the other hand
    first = random_stream(performer.seed, performer.subject, "hand", row.code).random() < 0.7
    hand = performer.handed if first == (take % 2 == 0) else 1 - performer.handed
    if rng.random() < 0.1:
        hand = 1 - hand
    PLANS[row.code](performer, score, rng, row, Cue(lead, seconds - lead - tail, hand))
    # nobody is cut off with an arm in the air
    ends = [key.start + key.duration for key in (*score.arms[0], *score.arms[1], *score.gaze, *score.trunk)]
    return render(performer, replace(score, seconds=max(seconds, *ends)), rng)

"""Embedded performers: people made from a seed who stand idle, use a phone and act, and the files they are kept in.

One door to what the other modules of this package make: `performer` (who they are), `idle`, `phone` and `actions`
(what they do), `freemocap_rig` and `dataset` (how it is stored).
"""

from motionbook.synthesis.actions import ACTION_ROWS, ACTIONS, action
from motionbook.synthesis.dataset import write_dataset
from motionbook.synthesis.freemocap_rig import to_freemocap
from motionbook.synthesis.idle import idle
from motionbook.synthesis.performer import Performer, make_performer
from motionbook.synthesis.phone import phone

__all__ = [
    "ACTIONS",
    "ACTION_ROWS",
    "Performer",
    "action",
    "idle",
    "make_performer",
    "phone",
    "to_freemocap",
    "write_dataset",
]

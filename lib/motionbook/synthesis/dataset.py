"""The embedded performers written to disk in the folders and names of the StayStill data set."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from motionbook.bvh.write import write_bvh
from motionbook.clip import Clip
from motionbook.files import write_whole
from motionbook.synthesis.actions import ACTION_ROWS, ACTIONS, action
from motionbook.synthesis.freemocap_rig import to_freemocap
from motionbook.synthesis.idle import idle
from motionbook.synthesis.performer import make_performer
from motionbook.synthesis.phone import phone

RIGS = ("freemocap", "lafan")
# written beside the clips as dataset.json, so that nobody who finds them takes them for people
ABOUT = MappingProxyType(
    {
        "name": "embedded",
        "label": "embedded performers (synthetic)",
        "kind": "synthetic",
        "licence": "MIT",
        "fps_note": "30 frames per second by construction",
    }
)


def write_dataset(
    folder: str | Path,
    subjects: int | Iterable[int],
    idle_seconds: float,
    phone_seconds: float,
    takes: int | str,
    seed: int,
    rigs: Iterable[str] = RIGS,
) -> tuple[Path, ...]:
    """Write idle, phone and action clips of several people.

    Layout: ``<rig>/actions/<subject>_<label>_<take>.bvh``, ``<rig>/idle/<subject>_idle.bvh`` and
    ``<rig>/phone/<subject>_phone.bvh``; subjects have two digits from 00, takes count from 1, labels are
    `actions.ACTIONS`. Files have LaFAN1's form: centimetres, Y up, ZYX rotation channels, 30 fps. Equal arguments give
    equal bytes, and what a file holds does not depend on who else is written. ``dataset.json`` says that all of it is
    synthetic.

    Parameters
    ----------
    folder : path
    subjects : int or iterable of int
        How many people, or their numbers.
    idle_seconds, phone_seconds : float
        Length of each person's idle and phone clip; 0 writes none.
    takes : int or "published"
        Of each of the 19 actions by every person; 0 writes none. "published": as many clips of each action in all as
        Table 3 counts, see `takes_of`.
    seed : int
    rigs : iterable of "freemocap", "lafan"

    Returns
    -------
    tuple of Path
        The BVH files, in the order written.

    Raises
    ------
    ValueError
        For an unknown rig.
    """
    rigs = tuple(rigs)
    unknown = set(rigs) - set(RIGS)
    if unknown or not rigs:
        raise ValueError(f"rigs: expected some of {', '.join(RIGS)}, got {', '.join(sorted(unknown)) or 'none'}")
    numbers = tuple(range(subjects) if isinstance(subjects, int) else subjects)
    write_whole(Path(folder) / "dataset.json", json.dumps(dict(ABOUT), indent=1) + "\n")
    written = []
    for place, number in enumerate(numbers):
        own = takes_of(place, len(numbers)) if takes == "published" else takes
        for name, clip in motions_of(number, idle_seconds, phone_seconds, own, seed):
            for rig in rigs:
                on_rig = to_freemocap(clip) if rig == "freemocap" else clip
                written.append(write_bvh(on_rig, Path(folder) / rig / f"{name}.bvh"))
    return tuple(written)


def takes_of(place: int, people: int) -> dict[str, int]:
    """How often the person at ``place`` of ``people`` does each action so that all together give Table 3's clips.

    Who does one take more than the others goes round from action to action.
    """
    more, takes = 0, {}
    for row in ACTION_ROWS:
        each, rest = divmod(row.clips, people)
        takes[row.code] = each + ((place - more) % people < rest)
        more += rest
    return takes


def motions_of(
    subject: int, idle_seconds: float, phone_seconds: float, takes: int | Mapping[str, int], seed: int
) -> Iterable[tuple[str, Clip]]:
    """Name below the rig's folder, without suffix, and clip of everything one person does, one after the other.

    ``takes`` are of every action, or by label.
    """
    performer = make_performer(subject, seed)
    if idle_seconds > 0:
        yield f"idle/{subject:02d}_idle", idle(performer, idle_seconds)
    if phone_seconds > 0:
        yield f"phone/{subject:02d}_phone", phone(performer, phone_seconds)
    for label in ACTIONS:
        for take in range(takes if isinstance(takes, int) else takes.get(label, 0)):
            yield f"actions/{subject:02d}_{label}_{take + 1}", action(performer, label, take)

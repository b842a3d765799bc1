"""Who moves in a file, read off its name.

StayStill documents two orders, ``<subject>_<label>[_<take>]`` and ``<label>[_<take>]_<subject>``, and cutting faulty
ranges adds ``_<slice>`` at the end of either. Taking the text after the last underscore (or before the first) for the
person, as the published tools do, makes the slice a person and lets one person into training and test. The rule here:

1. The label is found first, among the known ones (the 19 actions, ``idle`` and ``phone``); else it is the words between
   the numbers.
2. What stands before the label is the subject; the numbers after it are take and slice. ``idle`` and ``phone`` have no
   takes: their first number is a slice.
3. When nothing stands before the label, the numbers after it are, in this order, take, subject and slice. One number
   is the subject. Of two, the second is the slice for ``idle`` and ``phone``, and for actions when the first has two or
   more digits and the second one (subjects are written with two digits, takes with one); else they are take and
   subject.
4. Subjects that are numbers are written with two digits, so ``7`` and ``07`` are one person.
"""

import re
from typing import NamedTuple

ACTION_LABELS = (
    "l_up l_aro l_dow l_sho l_wat l_pho sc_hea sc_arm sc_leg sc_bac t_fac st_arm st_bac sc_eye yaw lb_lef lb_rig "
    "wei_lr wei_rl"
).split()
GROUPS = ("idle", "phone", "actions")
_KNOWN = sorted((label.split("_") for label in (*ACTION_LABELS, "idle", "phone")), key=len, reverse=True)


class ClipName(NamedTuple):
    """What a file name says; "" for what it does not. ``piece`` is the number that cutting added."""

    subject: str
    label: str
    take: str = ""
    piece: str = ""


def group_of(label: str) -> str:
    """The subset a label belongs to: idle, phone, actions, or "motion" for labels that are not StayStill's."""
    if label in ("idle", "phone"):
        return label
    return "actions" if label in ACTION_LABELS else "motion"


def staystill_name(stem: str, *, known_only: bool = False) -> ClipName | None:
    """Subject, label, take and slice of a StayStill file name, in either order; None when it does not have that form.

    Parameters
    ----------
    stem : str
        The file name without ``.bvh``.
    known_only : bool
        Whether only StayStill's own labels count; else any words do.

    Examples
    --------
    >>> [staystill_name(stem).subject for stem in ("00_lb_lef_1", "lb_lef_1_00", "idle_07_2")]
    ['00', '00', '07']
    """
    words = stem.split("_")
    if not all(words):
        return None
    lowered = [word.lower() for word in words]
    for label in _KNOWN:
        for start in range(len(words) - len(label) + 1):
            if lowered[start : start + len(label)] == label:
                return _assign("_".join(label), words[:start], words[start + len(label) :])
    if known_only:
        return None
    free = re.fullmatch(
        r"(?P<before>\d+_)?(?P<label>[A-Za-z][A-Za-z-]*(?:_[A-Za-z][A-Za-z-]*)*)(?P<after>(?:_\d+)*)", stem
    )
    if not free:
        return None
    before = [free["before"][:-1]] if free["before"] else []
    return _assign(free["label"].lower(), before, free["after"].split("_")[1:])


def lafan1_name(stem: str) -> ClipName | None:
    """Subject, theme and take of a LaFAN1 file name such as ``walk1_subject1``; None when it is none."""
    found = re.fullmatch(r"([A-Za-z]+)(\d+)_(subject\d+)(?:_(\d+))?", stem)
    return ClipName(found[3], found[1], found[2], found[4] or "") if found else None


def reactidle_name(stem: str) -> ClipName | None:
    """Subject and recording of a ReActIdle file name such as ``007_acted``; the label is ``acted`` or ``genuine``."""
    found = re.fullmatch(r"(\d+)_(acted|genuine)(?:_(\d+))?", stem)
    return ClipName(found[1], found[2], "", found[3] or "") if found else None


def worded_name(stem: str) -> ClipName | None:
    """Subject of a name that says so in words: ``walk_subject3``, ``P07-reach``; None when it does not."""
    found = re.search(
        r"(?i)(?:^|[_\-. ])(?:subject|subj|sub|person|actor|participant|p|s)[_-]?(\d+)(?=$|[_\-. ])", stem
    )
    if not found:
        return None
    label = (stem[: found.start()] + "_" + stem[found.end() :]).strip("_-. ")
    return ClipName(_subject(found[1]), label or "motion")


def two_number_name(stem: str) -> ClipName | None:
    """Person and trial of a name that is two numbers, such as ``05_12``; None when it is not."""
    found = re.fullmatch(r"(\d+)_(\d+)", stem)
    return ClipName(_subject(found[1]), "motion", found[2]) if found else None


def _assign(label: str, before: list[str], after: list[str]) -> ClipName | None:
    takes = label not in ("idle", "phone")
    if before:
        if not all(word.isdigit() for word in after) or len(after) > 2:
            return None
        take, piece = ([*after, "", ""] if takes or len(after) == 2 else ["", *after, ""])[:2]
        return ClipName(_subject("_".join(before)), label, take, piece)
    if not after or len(after) > 3 or sum(not word.isdigit() for word in after) > 1:
        return None
    if len(after) == 3:
        take, subject, piece = after
    elif len(after) == 1:
        take, subject, piece = "", after[0], ""
    elif not after[1].isdigit():
        take, subject, piece = after[0], after[1], ""
    elif not takes or not after[0].isdigit() or (len(after[0]) > 1 and len(after[1]) == 1):
        take, subject, piece = "", after[0], after[1]
    else:
        take, subject, piece = after[0], after[1], ""
    if not all(word.isdigit() for word in (take, piece) if word):
        return None
    return ClipName(_subject(subject), label, take, piece)


def _subject(word: str) -> str:
    return f"{int(word):02d}" if word.isdigit() else word

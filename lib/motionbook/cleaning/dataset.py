"""The data set of chapter 2: takes in, cleaned clips on two skeletons out, in StayStill's layout with a listing.

Every take is read, searched for faults and cut, put on the floor, over the origin and facing forward, and retargeted
to LaFAN1's skeleton. ``dataset.json`` lists the clips with where each came from and which of its frames were kept,
first to last; ``cuts.csv`` says why each of the others is gone. A take that cannot be read or retargeted is listed with
the reason.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from motionbook.bvh import write_bvh
from motionbook.cleaning.agreement import direction_errors, foot_slide, planted
from motionbook.cleaning.annotations import RangeError, annotation_key, unused_annotations
from motionbook.cleaning.clip_quality import clip_quality
from motionbook.cleaning.editing import centre_first_frame, face_forward, put_on_floor, rescale
from motionbook.cleaning.faults import Faults, cut_rows, find_faults, join_faults, listed_faults, write_cuts
from motionbook.cleaning.retargeting import retarget
from motionbook.cleaning.takes import SEARCHED_GROUPS, take_name
from motionbook.clip import Clip
from motionbook.data.layouts import LISTING, ClipFile, load_clip
from motionbook.data.splits import Fold, restrict, subject_folds
from motionbook.files import sha256, write_whole
from motionbook.parallel import map_jobs
from motionbook.resampling import resample
from motionbook.skeletons import FREEMOCAP, LAFAN1

FPS = 30.0
CUTS = "cuts.csv"
RULES = {
    "robust": "motion beyond what a waiting person can do, 1/6 s either side, runs of 2 s",
    "published": "joint speed with a z-score above 5, 1/3 s either side, runs of 2 s",
}


class Built(NamedTuple):
    """What was written.

    Attributes
    ----------
    folder : Path
    listing : dict
        The content of ``dataset.json``.
    takes : list of dict
        One per take that was read: clip (its file), subject, group, label, frames and fps as read, frames that the
        published and the robust rule remove, frames removed in all and listed by hand, number of pieces, the median
        direction error of the worst bone and the foot slide before and after retargeting, and ``quality`` as recorded
        (`motionbook.cleaning.clip_quality.ClipQuality` as a dict).
    skipped : list of dict
        ``path`` and ``reason`` of takes that could not be used.
    notes : tuple of str
        Annotated clips that no take is.
    """

    folder: Path
    listing: dict
    takes: list[dict]
    skipped: list[dict]
    notes: tuple[str, ...] = ()


def build_dataset(
    takes: Sequence[ClipFile],
    folder: str | Path,
    *,
    about: Mapping[str, str],
    folds: Iterable[Fold] | None = None,
    seed: int = 0,
    root: str | Path | None = None,
    method: str = "robust",
    annotations: Mapping | None = None,
    factors: Mapping[str, float] | None = None,
    jobs: int | None = None,
) -> Built:
    """Clean takes and write them as a data set.

    Parameters
    ----------
    takes : sequence of ClipFile
        As `motionbook.data.layouts.open_dataset` or `motionbook.cleaning.embedded.embedded_takes` list them.
    folder : path
        Gets ``lafan/``, ``freemocap/`` (takes on that rig), ``dataset.json`` and ``cuts.csv``; clips of an earlier run
        are removed.
    about : mapping
        ``name``, ``label``, ``kind``, ``licence`` and ``fps_note``, written into the listing.
    folds : iterable of Fold, optional
        As `motionbook.data.splits` gives them; five folds over the people are drawn when left out.
    seed : int
        Of the folds.
    root : path, optional
        Folder that sources are named relative to.
    method : str
        Of `motionbook.cleaning.find_faults`: "robust" or "published".
    annotations : mapping, optional
        Ranges to remove, as `motionbook.cleaning.faults.read_annotations` returns them.
    factors : mapping, optional
        Corrections of the size by path (`wrong_sizes` finds them); the listing says which clips were corrected.
    jobs : int, optional
        Processes; see `motionbook.parallel.map_jobs`.

    Raises
    ------
    ValueError
        For another method, and when no take could be used, with the first reasons.
    RangeError
        For an annotated range that its take does not have, with its place in the file.
    """
    if method not in RULES:
        raise ValueError(f"method: expected one of {', '.join(RULES)}, got {method!r}")
    folder = Path(folder)
    for old in (*folder.glob("lafan/**/*.bvh"), *folder.glob("freemocap/**/*.bvh")):
        old.unlink()
    jobs_in = [
        {
            **{name: getattr(take, name) for name in ("path", "subject", "group", "label", "take", "piece", "rig")},
            "read": dict(take.read),
            "stem": stem,
            "ranges": [span for key in _keys(take) for span in (annotations or {}).get(key, ())],
            "factor": float((factors or {}).get(str(take.path), 1.0)),
        }
        for take, stem in zip(takes, _stems(takes), strict=True)
    ]
    clean = partial(_clean, folder=folder, root=None if root is None else Path(root), method=method)
    results = map_jobs(clean, jobs_in, jobs=jobs, describe="cleaning")
    entries = sorted((entry for r in results for entry in r["entries"]), key=lambda entry: entry["path"])
    skipped = [r["skipped"] for r in results if r["skipped"]]
    if not entries:
        reasons = "; ".join(f"{s['path']}: {s['reason']}" for s in skipped[:3]) or "there are none"
        raise ValueError(f"takes: expected at least one that can be cleaned, got {len(takes)}: {reasons}")
    fold_list, fold_notes = _folds(sorted({entry["subject"] for entry in entries}), folds, seed)
    listing = {
        **{name: str(about[name]) for name in ("name", "label", "kind", "licence", "fps_note")},
        "rule": RULES[method],
        "clips": entries,
        "folds": fold_list,
        "folds_note": "; ".join(fold_notes),
        "skipped": skipped,
    }
    write_whole(folder / LISTING, json.dumps(listing, indent=1) + "\n")
    write_cuts(folder / CUTS, [row for r in results for row in r["cuts"]])
    unused = unused_annotations(annotations or {}, (key for take in takes for key in _keys(take)))
    notes = tuple(f"no take for the annotated clip {name}" for name in unused)
    return Built(folder, listing, [r["row"] for r in results if r["row"]], skipped, notes)


def clean_take(clip: Clip, *, fps: float = FPS) -> Clip:
    """A take on the floor, over the origin and facing forward in its first frame, at ``fps`` frames per second."""
    if abs(clip.fps - fps) > 1e-6:
        clip = resample(clip, fps)
    return centre_first_frame(face_forward(put_on_floor(clip)))


def find_take_faults(clip: Clip, group: str, ranges: Sequence[tuple[int, int]] = (), method: str = "robust") -> Faults:
    """Faults of a take: automatic ones where a person only waits, and the ranges listed by hand (inclusive)."""
    nothing = Faults((), ((0, len(clip)),), len(clip))
    faults = find_faults(clip, method=method) if group in SEARCHED_GROUPS else nothing
    return join_faults(faults, listed_faults(clip, ranges), clip.fps) if ranges else faults


def _clean(job: dict, *, folder: Path, root: Path | None, method: str) -> dict:
    """Clean one take and write its pieces; plain values in and out, so that it runs in another process."""
    path = Path(job["path"])
    name = take_name(path, root)
    result = {"entries": [], "skipped": None, "row": None, "cuts": []}
    fields = {key: job[key] for key in ("subject", "group", "label", "take", "piece", "rig")}
    try:
        clip = load_clip(ClipFile(path=path, read=MappingProxyType(job["read"]), **fields))
        if len(clip) < 2:
            raise ValueError(f"{name}: expected at least 2 frames, got {len(clip)}")
        clip = rescale(clip, job["factor"]) if job["factor"] != 1.0 else clip
        faults = find_take_faults(clip, job["group"], job["ranges"], method)
        rigs = {"lafan": retarget(clip, LAFAN1)}
    except RangeError:  # the reader's table is wrong, not the take
        raise
    except (ValueError, KeyError) as error:
        # str() of a KeyError quotes its text
        return {**result, "skipped": {"path": name, "reason": str(error.args[0] if error.args else error)}}
    if clip.skeleton.names == FREEMOCAP.names:
        rigs["freemocap"] = clip
    result["cuts"] = cut_rows(job["stem"], faults)
    fingerprint = sha256(path)
    for rig, moving in rigs.items():
        for number, (start, stop) in enumerate(faults.kept, start=1):
            piece = clean_take(moving[start:stop])
            stem = job["stem"] + (f"_{number}" if len(faults.kept) > 1 else "")
            target = f"{rig}/{job['group']}/{stem}.bvh"
            write_bvh(piece, folder / target)
            result["entries"].append(
                {
                    "path": target,
                    "subject": job["subject"],
                    "group": job["group"],
                    "label": job["label"],
                    "frames": len(piece),
                    "fps": piece.fps,
                    "source": name,
                    "source_sha256": fingerprint,
                    "source_frames": len(clip),
                    "source_fps": clip.fps,
                    "first": start,
                    "last": stop - 1,
                    **({"factor": job["factor"]} if job["factor"] != 1.0 else {}),
                }
            )
    removed = {rule: find_take_faults(clip, job["group"], (), rule).removed for rule in RULES}
    worst = max(direction_errors(clip, rigs["lafan"]).values(), key=np.median)
    contacts = planted(clip)
    result["row"] = {
        "clip": name,
        "subject": job["subject"],
        "group": job["group"],
        "label": job["label"],
        "frames": len(clip),
        "fps": clip.fps,
        "published_removed": removed["published"],
        "robust_removed": removed["robust"],
        "removed": faults.removed,
        "listed": sum(last - first + 1 for first, last in job["ranges"]),
        "pieces": len(faults.kept),
        "direction_error_deg": float(np.rad2deg(np.median(worst))),
        "slide_source": foot_slide(clip, contacts),
        "slide_result": foot_slide(rigs["lafan"], contacts),
        "quality": clip_quality(clip)._asdict(),
    }
    return result


def _keys(take: ClipFile) -> tuple[tuple[str, str], ...]:
    """What an annotation may call a take: by its file, or by who does what in it."""
    words = "_".join(part for part in (take.subject, take.label, take.take, take.piece) if part)
    return tuple(dict.fromkeys((annotation_key(take.path.name), annotation_key(words))))


def _stems(takes: Sequence[ClipFile]) -> list[str]:
    """File names without suffix: <subject>_<label>[_<take>], made unique in the order of the takes."""
    used: dict[tuple[str, str], int] = {}
    stems = []
    for take in takes:
        number = take.take or ("1" if take.group == "actions" else "")
        words = [re.sub(r"[^A-Za-z0-9.-]+", "-", word) for word in (take.subject, take.label)]
        stem = "_".join([words[0], words[1].replace("-", "_") if take.group == "actions" else words[1], number]).strip(
            "_"
        )
        count = used[take.group, stem] = used.get((take.group, stem), 0) + 1
        stems.append(stem if count == 1 else f"{stem}_take{count}")
    return stems


def _folds(subjects: Sequence[str], folds: Iterable[Fold] | None, seed: int) -> tuple[list[dict], tuple[str, ...]]:
    """The given folds with the people who are there, else drawn ones; and sentences on what they are."""
    if folds is not None:
        kept, notes = restrict([Fold(*fold) for fold in folds], subjects)
        if kept:
            return [_as_lists(fold) for fold in kept], notes
    if len(subjects) >= 3:
        drawn = subject_folds(subjects, seed=seed)
        return [_as_lists(fold) for fold in drawn], (f"{len(drawn)} folds by person over {len(subjects)} people",)
    # too few people to keep them apart: said, not hidden
    pairs = [(s, [other for other in subjects if other != s] or [s]) for s in subjects]
    note = "one person only, who is in training and in test" if len(subjects) == 1 else "two people, none validates"
    return [{"train": train, "validation": [], "test": [s]} for s, train in pairs], (note,)


def _as_lists(fold: Fold) -> dict[str, list[str]]:
    return {name: list(people) for name, people in fold._asdict().items()}

"""What ``motionbook clip`` does to one file: describe it, convert it, clean it, put it on another skeleton.

Every function takes a `motionbook.clip_files.Source` first and plain values, so that it runs in another process.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from motionbook import __version__
from motionbook.clip import Clip
from motionbook.clip_files import Outcome, Source, check_free, read_clip
from motionbook.files import sha256, write_whole


def describe(source: Source, reading: dict) -> Outcome:
    """A row about a file: size, rate, and what the reader took for unit, up axis and rule of the root."""
    from motionbook.rig_names import match_known_rig
    from motionbook.rigs import find_rig

    clip, report = read_clip(source.path, reading)
    known, _ = match_known_rig(clip.skeleton)
    try:
        rig = known.name if known else (find_rig(clip.skeleton, armless=True) and "by words")
    except ValueError:
        rig = "none"
    row = {
        "file": str(source.path),
        "frames": len(clip),
        "joints": len(clip.skeleton),
        "end_sites": len(clip.skeleton.end_offsets),
        "fps": clip.fps,
        "seconds": clip.duration,
        "rig": rig,
        "moving_bones": clip.translations is not None,
    }
    if report is not None:
        row |= {
            "frame_time": report.header.frame_time,
            "channels": report.header.width,
            "metres_per_unit": report.metres_per_unit,
            "unit": report.unit,
            "up": report.up,
            "positions": report.positions,
            "body_height_m": report.body_height,
        }
    doubts = _rate_doubt(clip, reading)
    row["notes"] = [*([] if report is None else report.notes), *doubts]
    return Outcome(str(source.path), "done", notes=doubts, row=row)


def _rate_doubt(clip: Clip, reading: dict) -> tuple[str, ...]:
    """Words on a frame rate that is the exporter's rather than the cameras'."""
    from motionbook.skeletons import FREEMOCAP

    if reading.get("fps") is None and clip.skeleton.names == FREEMOCAP.names and abs(clip.fps - 24.0) < 0.01:
        return ("FreeMoCap's exporter says 24 frames per second whatever the cameras did; --read-fps gives the rate",)
    return ()


def convert(source: Source, target: Path, options: dict) -> Outcome:
    """Read, cut to frames, mirror, resample, and write in the form that the target's ending says."""
    check_free([target], options["overwrite"])
    clip, report = read_clip(source.path, options["reading"])
    clip = _frames(clip, options["first"], options["last"])
    if options["mirror"]:
        from motionbook.cleaning.mirroring import mirror
        from motionbook.cleaning.rest_pose import standing

        clip = mirror(clip, rest=standing(clip).pose)
    clip = _at_rate(clip, options["fps"])
    _write(clip, target, report, options)
    return Outcome(str(source.path), "done", written=(str(target),))


def _frames(clip: Clip, first: int | None, last: int | None) -> Clip:
    """Frames first to last, both kept, counted from 0."""
    start, stop = first or 0, len(clip) if last is None else last + 1
    if not 0 <= start < stop <= len(clip):
        raise ValueError(f"--from, --until: expected 0 <= from <= until <= {len(clip) - 1}, got {start} to {stop - 1}")
    return clip[start:stop]


def _at_rate(clip: Clip, fps: float | None) -> Clip:
    if fps is None or fps == clip.fps:
        return clip
    from motionbook.resampling import resample

    return resample(clip, fps)


def _write(clip: Clip, target: Path, report, options: dict) -> None:
    suffix = target.suffix.lower()
    if suffix == ".bvh":
        from motionbook.bvh import write_bvh

        like = options.get("like")
        if like == "source":
            like = report  # None for an archive, which has no form of its own
        how = {} if like is not None else {"metres_per_unit": options.get("unit", 0.01), "up": options.get("up", "Y")}
        write_bvh(clip, target, like=like, decimals=options.get("decimals", 6), **how)
        return
    from motionbook import export

    if suffix == ".npz":
        export.write_npz(clip, target, world=options.get("world", False))
    elif suffix == ".csv":
        export.write_csv(clip, target, layout=options.get("layout", "wide"))
    else:
        export.write_gltf(clip, target)


def find_sizes(sources: Sequence[Source], reading: dict) -> dict[str, tuple[float, str]]:
    """Path -> (factor that corrects its size, what is odd about it); files that cannot be read are left out."""
    from motionbook.cleaning.faults import clip_key
    from motionbook.cleaning.scale_faults import head_height, scale_faults

    clips, people = {}, {}
    for source in sources:
        path = str(source.path)
        try:
            clip = read_clip(source.path, reading)[0]
            clip = clip[:: 1 + len(clip) // 200]  # bones need no more, and many long takes stay in memory
            head_height(clip)
        except (ValueError, KeyError, OSError):
            continue
        clips[path] = clip
        try:
            people[path] = clip_key(source.path.stem)[0]
        except ValueError:
            people[path] = ""
    rows = scale_faults(clips, people).itertuples() if clips else ()
    return {row.clip: (float(row.factor), row.verdict) for row in rows}


def clean(source: Source, target: Path, options: dict, ranges: tuple, size: tuple[float, str]) -> Outcome:
    """Cut out faults, centre and face forward each piece, and write the pieces with where they come from.

    ``size`` is what `find_sizes` says of the file.
    """
    from motionbook.cleaning.editing import centring, facing, flooring, follow, place, rescale
    from motionbook.cleaning.faults import apply_ranges, cut_rows, find_faults, join_faults

    clip, report = read_clip(source.path, options["reading"])
    if len(clip) < 2:
        raise ValueError(f"expected at least 2 frames, got {len(clip)}")
    factor = size[0] if options["sizes"] == "correct" else 1.0
    if factor != 1.0:
        clip = rescale(clip, factor)
    faults, _ = apply_ranges(clip, ranges, options["listed"], min_seconds=options["min_seconds"])
    if options["method"] != "none" and options["listed"] != "extract":
        found = find_faults(clip, method=options["method"], min_seconds=options["min_seconds"])
        listed = faults.faults if options["listed"] == "cut" else ()
        faults = join_faults(found, faults._replace(faults=listed), clip.fps, options["min_seconds"])
    if not faults.kept:
        raise ValueError(_nothing_kept(faults, options))
    targets = [
        target.with_name(f"{target.stem}_{number}{target.suffix}") if len(faults.kept) > 1 else target
        for number in range(1, len(faults.kept) + 1)
    ]
    abouts = [path.with_suffix(".json") for path in targets]
    check_free([*targets, *abouts], options["overwrite"])
    removed = [
        {"from": row["From frame"], "to": row["To frame"], "source": row["Source"], "kind": row["Kind"],
         "joint": row["Joint"]}
        for row in cut_rows(source.path.stem, faults)
    ]  # fmt: skip
    about = {"source": str(source.path), "source_sha256": sha256(source.path), "source_frames": len(clip),
             "source_fps": clip.fps, "method": options["method"], "listed_ranges": [list(r) for r in ranges],
             "listed": options["listed"], "removed": removed, "motionbook": __version__}  # fmt: skip
    if options["sizes"] != "leave":
        about |= {"size_verdict": size[1], "size_factor": factor}
    measures = [m for m, wanted in ((flooring, options["floor"]), (facing, options["face"])) if wanted]
    measures += [centring] if options["centre"] else []
    if measures and options.get("like") == "source" and report and not {0, 1, 2} <= set(report.header.channels[0]):
        raise ValueError(
            "its form has no position channels, so it cannot say where the body was put; --units cm writes a form that "
            "has them"
        )
    for (start, stop), path, note in zip(faults.kept, targets, abouts, strict=True):
        piece = _at_rate(clip[start:stop], options["fps"])
        placed = None
        for measure in measures:
            step = measure(piece)
            piece, placed = place(piece, step), step if placed is None else follow(placed, step)
        _write(piece, path, report, options)
        written = about | {"frames": len(piece), "fps": piece.fps, "kept": {"from": start, "to": stop - 1}}
        if placed is not None:
            written["placed"] = {"rotation_wxyz": _plain(placed.rotation), "translation_m": _plain(placed.translation)}
        write_whole(note, json.dumps(written, indent=1, ensure_ascii=False) + "\n")
    row = {"removed": faults.removed, "frames": len(clip), "pieces": len(targets)}
    odd = (f"{size[1]}; " + (f"scaled by {factor:.4g}" if factor != 1.0 else "left as it is"),) if size[1] else ()
    notes = (*odd, *_rate_doubt(clip, options["reading"]))
    return Outcome(str(source.path), "done", written=tuple(map(str, targets)), notes=notes, row=row)


def _nothing_kept(faults, options: dict) -> str:
    """Why no frame of a clip is left, and what a reader can do."""
    frames: dict[str, int] = {}
    for fault in faults.faults:
        what = fault.kind if fault.kind != "listed" else fault.source
        frames[what] = frames.get(what, 0) + fault.stop - fault.start
    said = ", ".join(f"{what} {count}" for what, count in sorted(frames.items(), key=lambda item: -item[1]))
    words = f"no run of {options['min_seconds']:g} s is left of {faults.frames} frames (faulty: {said})"
    if options["method"] == "none" or options["listed"] == "extract":
        return f"{words}; --min-seconds asks for less"
    return f"{words}; the rules are for people who wait: --method none for other motion, or --min-seconds for less"


def _plain(values: np.ndarray) -> list[float]:
    return np.asarray(values, dtype=np.float64).tolist()


def retarget(source: Source, target: Path, options: dict) -> Outcome:
    """Put the motion on another skeleton and write it with a report of how well that went."""
    from motionbook.cleaning.retarget_report import retarget_report
    from motionbook.cleaning.retargeting import retarget as put_on
    from motionbook.skeletons import LAFAN1

    note = target.with_suffix(".json")
    check_free([target, note], options["overwrite"])
    clip, _ = read_clip(source.path, options["reading"])
    skeleton, like = LAFAN1, None
    if options["skeleton"]:
        model, like = read_clip(Path(options["skeleton"]), {})
        skeleton = model.skeleton
    how = {"keep_size": options["keep_size"], "names": options["names"], "scale": options["scale"]}
    result = put_on(clip, skeleton, on_floor=options["floor"], **how)
    found = retarget_report(clip, result, **how)
    _write(_at_rate(result, options["fps"]), target, None, {**options, "like": like})
    bones = [{key: _number(value) for key, value in row.items()} for row in found.bones.to_dict("records")]
    worst = max((bone for bone in bones if bone["kind"] == "bone"), key=lambda bone: bone["median_deg"])
    numbers = {
        "worst_bone": worst["bone"],
        "worst_bone_median_deg": worst["median_deg"],
        "slide_before": _number(found.slide[0]),
        "slide_after": _number(found.slide[1]),
        "at_rest": list(found.at_rest),
    }
    about = {
        "source": str(source.path),
        "source_sha256": sha256(source.path),
        "source_frames": len(clip),
        "source_fps": clip.fps,
        "skeleton": str(options["skeleton"] or "LAFAN1"),
        "rig": found.rig,
        "standing_pose": found.rest,
        "missing": list(found.missing),
        "path_scale": found.scale,
        **numbers,
        "bones": bones,
        "text": found.text.splitlines(),
        "motionbook": __version__,
    }
    write_whole(note, json.dumps(about, indent=1, ensure_ascii=False) + "\n")
    notes = _rate_doubt(clip, options["reading"])
    return Outcome(str(source.path), "done", written=(str(target),), notes=notes, row=numbers)


def _number(value):
    """The value, None for NaN, which JSON has not."""
    return None if isinstance(value, float) and np.isnan(value) else value

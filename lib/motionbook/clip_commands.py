"""``motionbook clip``: look at motion files, convert, clean and retarget them, many at a time.

Exit code 0: something was done and nothing failed. 1: a file failed, or nothing was done. 2: called wrongly. Files
that are skipped, such as results that exist already, do not count as failures.
"""

import argparse
import csv
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from motionbook.clip_files import Outcome, find_sources, plan_targets, run_over

FORMS = ("bvh", "npz", "csv", "gltf", "glb")
UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254}
UPS = ("Y", "Z", "-Y", "-Z")
_INFO = ("file", "frames", "joints", "fps", "seconds", "rig", "unit", "up", "positions", "body_height_m")

_MORE = {
    "convert": "npz, csv and glTF are in metres, Y up; results that exist are skipped.",
    "clean": "Each piece gets a .json beside it: source, frames kept, what was removed and why, how it was moved.",
    "retarget": "Each result gets a .json beside it: bone directions, foot slide, and what stays at rest.",
}


def add_actions(actions) -> None:
    """Add info, convert, clean and retarget to the actions of ``motionbook clip``."""
    info = _action(actions, "info", "frames, rate, unit, up axis, rig and repairs of every file", info_command)
    how = info.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print a JSON list, with the reader's notes")
    how.add_argument("--csv", action="store_true", help="print CSV")

    convert = _action(actions, "convert", "write as bvh, npz, csv, gltf or glb", convert_command)
    _add_output(convert, "default: beside each input, where the ending differs")
    convert.add_argument("--to", choices=FORMS, required=True, help="form of the results")
    convert.add_argument("--from", dest="first", type=_whole, metavar="FRAME", help="first frame kept, counted from 0")
    convert.add_argument("--until", dest="last", type=_whole, metavar="FRAME", help="last frame kept")
    convert.add_argument("--mirror", action="store_true", help="exchange left and right")
    _add_bvh(convert, "none: LaFAN1's form in centimetres")
    convert.add_argument("--world", action="store_true", help="npz: also world places and rotations")
    convert.add_argument("--layout", choices=("wide", "long"), default="wide", help="csv: a row per frame, or joint")

    clean = _action(actions, "clean", "cut out faults, stand over the origin, face forward", clean_command)
    _add_output(clean, "required", required=True)
    clean.add_argument("--to", choices=FORMS, default="bvh", help="form of the results (default: bvh)")
    clean.add_argument(
        "--method",
        choices=("robust", "published", "none"),
        default="robust",
        help="how faults are found: our robust rule (default), StayStill's, or only those listed",
    )
    clean.add_argument(
        "--annotations", type=Path, metavar="CSV", help="ranges listed by hand: Animation name,From frame,To frame"
    )
    clean.add_argument(
        "--listed",
        choices=("cut", "keep", "extract"),
        default="cut",
        help="what becomes of them: cut out (default), kept, or nothing else kept",
    )
    clean.add_argument("--min-seconds", type=_at_least_zero, default=2.0, help="shortest piece kept (default: 2)")
    clean.add_argument(
        "--sizes",
        choices=("leave", "report", "correct"),
        default="leave",
        help="adults of impossible size, from a wrong calibration: left (default), named, or corrected",
    )
    clean.add_argument("--floor", action="store_true", help="put the lower foot at height 0")
    clean.add_argument("--no-centre", dest="centre", action="store_false", help="leave pieces where they are")
    clean.add_argument("--no-face", dest="face", action="store_false", help="leave pieces facing where they do")
    _add_bvh(clean, "source, each input's own form")

    put = _action(actions, "retarget", "put the motion on LaFAN1's skeleton or another", retarget_command)
    _add_output(put, "required", required=True)
    put.add_argument("--to", choices=FORMS, default="bvh", help="form of the results (default: bvh)")
    put.add_argument("--skeleton", metavar="FILE", help="a motion file with the skeleton wanted (default: LaFAN1's)")
    put.add_argument("--keep-size", action="store_true", help="stretch the skeleton to the person")
    put.add_argument("--names", type=Path, metavar="FILE", help="CSV or YAML: joint of the inputs, joint of LaFAN1")
    put.add_argument("--scale", default="legs", type=_scale, help="of the path: legs (default), hips or a number")
    put.add_argument("--floor", action="store_true", help="put the lower foot at height 0")
    put.add_argument("--decimals", type=_decimals, default=6, metavar="N", help="of bvh numbers (default: 6)")


def _action(actions, name: str, words: str, command) -> argparse.ArgumentParser:
    more = f" {_MORE[name]}" if name in _MORE else ""
    parser = actions.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.{more}")
    parser.add_argument(
        "inputs", nargs="+", metavar="INPUT", help="files, folders, or quoted patterns such as 'takes/**/*.bvh'"
    )
    parser.add_argument("--jobs", type=_positive_whole, default=1, metavar="N", help="processes (default: 1)")
    reading = parser.add_argument_group("how bvh inputs are read")
    reading.add_argument("--read-units", type=_unit, metavar="UNIT", help="m, cm, mm, inch or metres per unit")
    reading.add_argument("--read-up", choices=UPS, help="default: guessed from the poses")
    reading.add_argument("--read-positions", choices=("replace", "add_root", "add"), help="default: guessed")
    reading.add_argument("--read-fps", type=_positive, metavar="FPS", help="the true rate, where a file says another")
    reading.add_argument("--strict", action="store_true", help="refuse files whose row count or names are wrong")
    parser.set_defaults(command=command)
    return parser


def _add_output(parser, default: str, required: bool = False) -> None:
    parser.add_argument(
        "--out",
        required=required,
        metavar="DIR",
        help=f"folder, or a template with {{stem}}, {{folder}}, {{ext}}, {{name}} ({default})",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace results that exist; never an input")
    parser.add_argument("--fps", type=_positive, metavar="FPS", help="resample to this rate")


def _add_bvh(parser, default: str) -> None:
    bvh = parser.add_argument_group("bvh results")
    bvh.add_argument(
        "--like", metavar="FILE", help=f"'source' or a file whose names, orders, unit and axes are kept ({default})"
    )
    bvh.add_argument("--units", type=_unit, metavar="UNIT", help="m, cm, mm, inch or metres per unit (default: cm)")
    bvh.add_argument("--up", choices=UPS, help="up axis (default: Y)")
    bvh.add_argument("--decimals", type=_decimals, default=6, metavar="N", help="a number, 'like' or 'exact'")


def info_command(options) -> int:
    """Print what the reader finds in every file."""
    from motionbook import clip_work

    sources, others = find_sources(options.inputs)
    outcomes = others + run_over(
        clip_work.describe, [(source, _reading(options)) for source in sources], options.jobs, "reading"
    )
    rows = [outcome.row for outcome in outcomes if outcome.state == "done"]
    if options.json:
        lines = [_as_json(outcome) for outcome in outcomes]
        print(json.dumps(lines, indent=1, ensure_ascii=False))
    elif options.csv:
        print(_as_csv(rows), end="")
    elif rows:
        print(_as_text(rows))
    return _finish(outcomes, "read")


def convert_command(options) -> int:
    """Write every input in another form."""
    from motionbook import clip_work

    _check_bvh_options(options)
    done = {"first": options.first, "last": options.last, "mirror": options.mirror, "fps": options.fps}
    done |= {"world": options.world, "layout": options.layout, **_writing(options)}
    return _run(options, clip_work.convert, done, "converting")


def clean_command(options) -> int:
    """Cut out faults and write the pieces with their provenance."""
    from motionbook import clip_work
    from motionbook.cleaning.annotations import annotation_key, read_annotations, unused_annotations

    if options.like is None and options.units is None and options.up is None and options.to == "bvh":
        options.like = "source"
    _check_bvh_options(options)
    listed = read_annotations(options.annotations) if options.annotations else {}
    done = {"method": options.method, "listed": options.listed, "min_seconds": options.min_seconds}
    done |= {"floor": options.floor, "centre": options.centre, "face": options.face, "fps": options.fps}
    done["sizes"], sizes, used = options.sizes, {}, set()
    if options.sizes != "leave":
        sizes = clip_work.find_sizes(find_sources(options.inputs)[0], _reading(options))

    def extra(source):
        key = annotation_key(source.path.name)
        used.add(key)
        return tuple(listed.get(key, ())), sizes.get(str(source.path), (1.0, ""))

    code = _run(options, clip_work.clean, {**done, **_writing(options)}, "cleaning", extra)
    for name in unused_annotations(listed, used):
        print(f"note: no input for the annotated clip {name}", file=sys.stderr)
    return code


def retarget_command(options) -> int:
    """Put every input on another skeleton."""
    from motionbook import clip_work
    from motionbook.rig_names import read_name_map

    names = read_name_map(options.names) if options.names else None
    done = {"skeleton": options.skeleton, "keep_size": options.keep_size, "names": names, "scale": options.scale}
    done |= {"floor": options.floor, "fps": options.fps, "decimals": options.decimals}
    done |= {"reading": _reading(options), "overwrite": options.overwrite}
    return _run(options, clip_work.retarget, done, "retargeting")


def _run(options, work, values: dict, words: str, extra=None) -> int:
    sources, others = find_sources(options.inputs)
    kept = [getattr(options, name, None) for name in ("like", "skeleton", "annotations", "names")]
    kept = [path for path in kept if path and path != "source"]
    pairs, blocked = plan_targets(sources, options.out, f".{options.to}", kept=kept, pieces=extra is not None)
    items = [(source, target, values, *(() if extra is None else extra(source))) for source, target in pairs]
    return _finish([*others, *blocked, *run_over(work, items, options.jobs, words)], "written")


def _finish(outcomes: Sequence[Outcome], word: str) -> int:
    """Say what became of the files, on standard error what did not go well; the exit code."""
    done = [outcome for outcome in outcomes if outcome.state == "done"]
    skipped, failed = ([o for o in outcomes if o.state == state] for state in ("skipped", "failed"))
    for outcome in done:
        for path in outcome.written:
            print(path)
        for note in outcome.notes:
            print(f"note: {outcome.path}: {note}", file=sys.stderr)
    for outcome in (*skipped, *failed):
        print(f"{outcome.state}: {outcome.path}: {outcome.words}", file=sys.stderr)
    files = sum(len(outcome.written) for outcome in done)
    pieces = f" as {files} files" if files > len(done) else ""
    print(f"{len(done)} {word}{pieces}, {len(skipped)} skipped, {len(failed)} failed", file=sys.stderr)
    return 0 if done and not failed else 1


def _reading(options) -> dict:
    given = {
        "metres_per_unit": options.read_units,
        "up": options.read_up,
        "positions": options.read_positions,
        "fps": options.read_fps,
        "strict": options.strict or None,
    }
    return {name: value for name, value in given.items() if value is not None}


def _writing(options) -> dict:
    values = {"reading": _reading(options), "overwrite": options.overwrite, "decimals": options.decimals}
    given = {"like": options.like, "unit": options.units, "up": options.up}
    return values | {name: value for name, value in given.items() if value is not None}


def _check_bvh_options(options) -> None:
    given = [name for name in ("like", "units", "up") if getattr(options, name) is not None]
    if given and options.to != "bvh":
        raise ValueError(f"--{given[0]}: only bvh results have it; npz, csv and glTF are in metres, Y up")
    if options.like is not None and len(given) > 1:
        raise ValueError(f"--{given[1]}: --like keeps that of the file; leave one of the two out")


def _as_json(outcome: Outcome) -> dict:
    if outcome.state == "done":
        return outcome.row
    return {"file": outcome.path, outcome.state: outcome.words}


def _as_csv(rows: Sequence[dict]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    table = csv.DictWriter(out, columns, lineterminator="\n", restval="")
    table.writeheader()
    table.writerows({**row, "notes": "; ".join(row["notes"])} for row in rows)
    return out.getvalue()


def _as_text(rows: Sequence[dict]) -> str:
    def cell(row, name):
        value = row.get(name, "")
        return f"{value:.5g}" if isinstance(value, float) else str(value)

    table = [[name.replace("_", " ") for name in _INFO], *([cell(row, name) for name in _INFO] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in table)


def _number(text: str, what: str, good) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not (good(value) and value < float("inf")):
        raise argparse.ArgumentTypeError(f"expected {what}, got {text!r}")
    return value


def _positive(text: str) -> float:
    return _number(text, "a positive number", lambda value: value > 0)


def _at_least_zero(text: str) -> float:
    return _number(text, "a number of 0 or more", lambda value: value >= 0)


def _whole(text: str) -> int:
    return int(_number(text, "a whole number of 0 or more", lambda value: value >= 0 and value == int(value)))


def _positive_whole(text: str) -> int:
    return int(_number(text, "a whole number of 1 or more", lambda value: value >= 1 and value == int(value)))


def _unit(text: str) -> float:
    return UNITS[text] if text in UNITS else _number(text, "m, cm, mm, inch or metres per unit", lambda v: v > 0)


def _scale(text: str) -> str | float:
    return text if text in ("legs", "hips") else _number(text, "legs, hips or a positive number", lambda v: v > 0)


def _decimals(text: str) -> int | str:
    return text if text in ("like", "exact") else _whole(text)

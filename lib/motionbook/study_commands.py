"""``motionbook study``: build a study page, look at its plan, receive answers, merge them."""

import argparse
import re
from pathlib import Path

from motionbook.perception import study


def add_study(commands) -> None:
    """Add the group ``study`` to the command line's subparsers."""
    group = commands.add_parser("study", help="perceptual studies: build the page, check its plan, receive, merge")
    actions = group.add_subparsers(required=True, metavar="action")
    build = actions.add_parser(
        "build",
        help="plan, films and page from a folder of clips",
        description="DIR holds <system>/<clip>.bvh for pairs, as chapter 3 writes them; reference/<source>.bvh and "
        "<distortion>/<strength>/<source>.bvh for dsis; .mp4 or .webm in their place are shown as they are.",
    )
    _plan_options(build)
    build.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the study")
    build.add_argument("--title", default="Motion study")
    build.add_argument("--contact", default="", metavar="TEXT", help="address for questions, shown in the consent")
    build.add_argument("--consent", action="append", default=[], type=_consent, metavar="LANG=FILE",
                       help="own consent text, as approved by your ethics committee")  # fmt: skip
    build.add_argument("--consent-version", default="1", metavar="TEXT", help="stored with every answer")
    build.add_argument("--minutes", type=int, default=10, help="how long it takes, in the consent")
    build.add_argument("--languages", nargs="+", default=["en", "es", "eu"], choices=["en", "es", "eu"])
    build.add_argument("--endpoint", default="", metavar="URL", help="where answers are sent; download only without it")
    build.add_argument("--reserve", action="store_true", help="ask the endpoint for a place in the plan")
    build.add_argument("--resume", choices=["resume", "ask", "block"], default="resume", help="after a reload")
    build.add_argument(
        "--least-watched", type=float, default=1.0, metavar="SHARE", help="of the films, before an answer"
    )
    build.add_argument("--replays", type=int, metavar="N", help="at most, before an answer (default: any number)")
    build.add_argument("--age", choices=["band", "years"], default="band")
    build.add_argument("--size", type=_size, default=(692, 540), metavar="WxH", help="of one film (default: 692x540)")
    build.add_argument("--fps", type=float, default=30.0)
    build.add_argument("--seconds", type=float, metavar="S", help="cut clips that are longer")
    build.add_argument("--formats", nargs="+", choices=["webm", "mp4"], default=["webm", "mp4"])
    build.add_argument("--pictures", action=argparse.BooleanOptionalAction, help="also write the films' frames as "
                       "JPEGs, for browsers that can play neither format (default: unless --single-file)")  # fmt: skip
    build.add_argument("--single-file", action="store_true", help="films inside the page: for a demonstration")
    build.add_argument("--jobs", type=int, metavar="N", help="processes that draw films")
    build.set_defaults(command=_build)

    plan = actions.add_parser("plan", help="how even a plan is, before any film is drawn")
    plan.add_argument("study", nargs="?", type=Path, help="a plan.json or the folder of a built study")
    _plan_options(plan, required=False)
    plan.set_defaults(command=_plan)

    stimuli = actions.add_parser("stimuli", help="distorted clips for a dsis study, from a folder of BVH files")
    stimuli.add_argument("--clips", type=Path, required=True, metavar="DIR", help="<source>.bvh on the LaFAN1 skeleton")
    stimuli.add_argument("--out", type=Path, required=True, metavar="DIR")
    stimuli.add_argument("--training", nargs="*", default=[], metavar="SOURCE", help="sources kept for the training")
    stimuli.add_argument("--seed", type=int, default=0)
    stimuli.set_defaults(command=_stimuli)

    receive = actions.add_parser("receive", help="take answers of the page and keep them in a folder")
    receive.add_argument(
        "--folder", type=Path, required=True, metavar="DIR", help="answers go here; plan*.json lie here"
    )
    receive.add_argument("--plan", nargs="+", type=Path, default=[], metavar="FILE", help="plans that lie elsewhere")
    receive.add_argument("--site", type=Path, metavar="DIR", help="a built study to show at the same address")
    receive.add_argument("--port", type=int, default=8765)
    receive.add_argument("--host", default="127.0.0.1", help="0.0.0.0 lets other machines in (default: this one only)")
    receive.set_defaults(command=_receive)

    merge = actions.add_parser("merge", help="one table from exports and received answers of one plan")
    merge.add_argument("files", nargs="+", type=Path, help=".csv and .json of the page, .jsonl of the receiver")
    merge.add_argument("--out", type=Path, required=True, metavar="CSV")
    merge.add_argument("--plan", type=Path, metavar="FILE", help="compare every answer with its trial")
    merge.set_defaults(command=_merge)


def _plan_options(parser, required: bool = True) -> None:
    parser.add_argument("--clips", type=Path, required=required, metavar="DIR")
    parser.add_argument("--design", choices=["pairs", "dsis"], default="pairs")
    parser.add_argument("--participants", type=int, default=60, metavar="N", help="places in the plan (default: 60)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--trials", type=int, metavar="N", help="scored per person (default: 16; dsis: all)")
    parser.add_argument("--checks", type=int, default=2, metavar="N", help="attention checks per person (default: 2)")
    parser.add_argument("--training", type=int, metavar="N", help="trials before, not counted (pairs: 1, dsis: 5)")
    parser.add_argument("--practice", type=int, default=3, metavar="N", help="dsis: rated, not counted (default: 3)")
    parser.add_argument("--systems", nargs="+", metavar="NAME", help="pairs: only these")
    parser.add_argument(
        "--calibration", nargs="+", type=_pair, metavar="LEFT:RIGHT", help="pairs: the fixed first pairs"
    )
    parser.add_argument("--between", default="", metavar="REGEX", help="dsis: bracket the group in a source's name")


def _plan_of(options) -> dict:
    return {
        "people": options.participants,
        "seed": options.seed,
        "scored": options.trials,
        "checks": options.checks,
        "training": options.training,
        "practice": options.practice,
        "systems": options.systems,
        "calibration": options.calibration,
        "between": options.between,
    }


def _pair(text: str) -> tuple[str, str]:
    left, colon, right = text.partition(":")
    if not (left and colon and right):
        raise argparse.ArgumentTypeError(f"expected LEFT:RIGHT, got {text!r}")
    return left, right


def _consent(text: str) -> tuple[str, Path]:
    language, equals, path = text.partition("=")
    if not equals or language not in ("en", "es", "eu"):
        raise argparse.ArgumentTypeError(f"expected en=FILE, es=FILE or eu=FILE, got {text!r}")
    return language, Path(path)


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)x(\d+)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"expected WxH such as 692x540, got {text!r}")
    return int(found[1]), int(found[2])


def _build(options) -> int:
    settings = study.PageSettings(
        title=options.title,
        contact=options.contact,
        consent_version=options.consent_version,
        consent={language: path.read_text(encoding="utf-8") for language, path in options.consent},
        minutes=options.minutes,
        languages=tuple(options.languages),
        endpoint=options.endpoint,
        reserve=options.reserve,
        resume=options.resume,
        least_watched=options.least_watched,
        replays=options.replays,
        age=options.age,
    )
    look = study.Look(size=options.size, fps=options.fps, seconds=options.seconds, formats=tuple(options.formats))
    built = study.build_study(
        options.clips,
        options.out,
        options.design,
        look=look,
        settings=settings,
        single=options.single_file,
        pictures=options.pictures,
        jobs=options.jobs,
        **_plan_of(options),
    )
    print(study.balance_text(built.plan))
    places = len(built.plan["people"])
    print(f"\n{_sizes(built)}")
    print(f"{built.page}: open it, or put the folder on a web server")
    print(f"give each person an address of their own, from ?slot=0 to ?slot={places - 1}; without it chance chooses")
    if waiting := [study.UNCHECKED[name] for name in options.languages if name in study.UNCHECKED]:
        print(f"no native speaker has checked the page's {' and '.join(waiting)} yet: have it read before people come")
    if not options.consent:
        print("the consent text is a general one: have your ethics committee approve yours and give it with --consent")
    return 0


def _sizes(built: study.Study) -> str:
    """How many bytes the films of a study and their single pictures take."""
    folder = built.page.parent / "videos"
    films = {name for film in built.films.values() for name in film["files"].values()}
    pictures = {film["pictures"] for film in built.films.values() if "pictures" in film}
    in_films, in_pictures = (sum((folder / name).stat().st_size for name in part) for part in (films, pictures))
    said = f"{len(built.films)} films, {in_films / 1e6:.1f} MB"
    if not pictures:
        return f"{said}; a browser that can play none of their formats cannot take part (--pictures)"
    return f"{said}; and as pictures, for browsers that can play none of their formats, {in_pictures / 1e6:.1f} MB"


def _plan(options) -> int:
    if (options.study is None) == (options.clips is None):
        raise ValueError("expected either a plan (or the folder of a study) or --clips DIR")
    if options.study is not None:
        plan = study.read_plan(options.study)
    else:
        plan, _ = study.make_plan(options.clips, options.design, **_plan_of(options))
    print(study.balance_text(plan))
    return 0


def _stimuli(options) -> int:
    from motionbook.bvh import read_bvh, write_bvh
    from motionbook.quality import STRENGTHS, distort

    sources = sorted(options.clips.glob("*.bvh"))
    unknown = set(options.training) - {path.stem for path in sources}
    if not sources or unknown:
        raise ValueError(f"{options.clips}: no {', '.join(sorted(unknown)) or 'BVH file'} there")
    count = 0
    for path in sources:
        clip = read_bvh(path)
        folder = options.out / "training" if path.stem in options.training else options.out
        (options.out / "reference").mkdir(parents=True, exist_ok=True)
        write_bvh(clip, options.out / "reference" / path.name)
        for kind in STRENGTHS:
            for level in range(1, 6):
                target = folder / kind / str(level) / path.name
                target.parent.mkdir(parents=True, exist_ok=True)
                write_bvh(distort(clip, kind, level, options.seed + level).clip, target)
                count += 1
    print(f"{count} distorted clips of {len(sources)} sources: {options.out}")
    return 0


def _receive(options) -> int:
    server = study.make_server(
        options.folder, port=options.port, host=options.host, plans=options.plan, site=options.site
    )
    host, port = server.server_address[:2]
    for key, inbox in server.RequestHandlerClass.inboxes.items():
        print(f"plan {key[:16]}: {len(inbox)} messages so far, in {inbox.path}", flush=True)
    print(f"listening at http://{host}:{port}/ (stop with Ctrl-C)", flush=True)
    with server:
        server.serve_forever()
    return 0


def _merge(options) -> int:
    plan = study.read_plan(options.plan) if options.plan else None
    made = study.merge_exports(options.files, options.out, plan=plan)
    print(f"{made.path}: {made.rows} answers; {made.people} people took part; {made.repeated} answers came twice")
    for words, names in (
        ("withdrew, left out", made.withdrawn),
        ("did not finish", made.unfinished),
        ("failed an attention check", made.failed_check),
    ):
        if names:
            print(f"{words}: {', '.join(names)}")
    for place in made.torn:
        print(f"{place}: cut short when the receiver stopped and never acknowledged: left out; the page sends it again")
    return 0

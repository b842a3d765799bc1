"""Motion shown in the page: an interactive player that needs no server, no kernel and no network.

The player's data and a picture of it stand in the page itself. In the rendered book one script of the page
(``_static/skelplayer.js``, made by ``motionbook.report.web``) turns every player into a 3-D view; in a live notebook
the same script travels inside the output. Where there is no script, the picture stays.
"""

import base64
import html
import io
import json
import os
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionbook import drawing
from motionbook import rotations as rot
from motionbook.checks import check_finite, check_shape
from motionbook.clip import Clip, Skeleton
from motionbook.kinematics import forward_kinematics
from motionbook.report.theme import system_colour

_ID_SPACE = uuid.uuid5(uuid.NAMESPACE_URL, "motionbook/skel-player")


class Player:
    """What ``player`` returns; a notebook shows it as HTML, anything that takes pictures only as a film strip."""

    def __init__(self, data: dict, clips: list[tuple[str, Clip]], caption: str):
        self.data = data
        self.clips = clips
        self.caption = caption
        self._poster: bytes | None = None

    @property
    def poster(self) -> bytes:
        """PNG with a row of moments per clip."""
        if self._poster is None:
            self._poster = film_strip(self.clips)
        return self._poster

    def to_html(self) -> str:
        """The player as the book's pages hold it: data and poster, started by the page's own script."""
        text = json.dumps(self.data, separators=(",", ":"), sort_keys=True).replace("<", "\\u003c")
        picture = base64.b64encode(self.poster).decode()
        names = ", ".join(label for label, _ in self.clips)
        identity = uuid.uuid5(_ID_SPACE, text + picture + self.caption)
        caption = f'<p class="skel-caption">{html.escape(self.caption)}</p>' if self.caption else ""
        return (
            f'<div class="skel-player" id="skel-{identity}">'
            f'<img class="skel-poster" alt="Moments of the motion: {html.escape(names)}" '
            f'src="data:image/png;base64,{picture}"/>'
            f'<script type="application/json">{text}</script>{caption}</div>'
        )

    def to_frame(self, script: str) -> str:
        """The player in a frame of its own with the script inside, for a live notebook."""
        script = script.replace("</script", "<\\/script")
        page = (
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Motion player</title></head>'
            f'<body class="skel-alone">{self.to_html()}<script>{script}</script>'
            "</body></html>"
        )
        caption = f"<p>{html.escape(self.caption)}</p>" if self.caption else ""
        return (
            f'<iframe title="Motion player" sandbox="allow-scripts" style="width:100%;height:480px;border:0" '
            f'srcdoc="{html.escape(page, quote=True)}"></iframe>{caption}'
        )

    def _repr_mimebundle_(self, include=None, exclude=None):
        script = None if os.environ.get("MOTIONBOOK_STATIC") == "1" else find_bundle()
        if script is not None:
            page = self.to_frame(script.read_text(encoding="utf-8"))
        else:
            page = self.to_html()
            if os.environ.get("MOTIONBOOK_STATIC") != "1":
                page += (
                    "<p>This is the still form of the player. <code>python -m motionbook.report.web</code> makes the "
                    "3-D one (once, with a network); then run this cell again.</p>"
                )
        return {
            "text/plain": f"Motion player: {', '.join(label for label, _ in self.clips)}",
            "text/html": page,
            "image/png": base64.b64encode(self.poster).decode(),
        }


class Prop(NamedTuple):
    """A thing that stands still beside the people, made of straight rods.

    ``rods`` (rods, 2, 3) are the rods' ends in metres, in the world of the player's first clip; ``colour`` is a hex
    colour, ``radius`` half of a rod's thickness.
    """

    rods: np.ndarray
    colour: str = "#56626f"
    radius: float = 0.008


def player(
    clips: list[tuple[str, Clip]],
    *,
    caption: str = "",
    step: int = 1,
    autoplay: bool = False,
    props: Sequence[Prop] = (),
    marks: Sequence[int] = (),
    marks_label: str = "key pose",
) -> Player:
    """People side by side who move in step, to play, scrub and look at from all sides.

    Parameters
    ----------
    clips : list of (label, Clip)
        From left to right. A label that names a system ("GT", "SLERP-Q", ...) gives its colour.
    caption : str
        One or two sentences below the player.
    step : int
        Store every ``step``-th frame; the player interpolates between stored frames. A frame of a LaFAN1 clip takes
        about half a kilobyte of page.
    autoplay : bool
        Start when it comes into view, except for readers who asked their system for less motion.
    props : sequence of Prop
        Things in the world of the first clip, such as cameras; the view takes them in. The still picture has none.
    marks : sequence of int
        Frames of the first clip (counted before ``step``) that are marked on the scrub bar, such as key poses; Page Up
        and Page Down go from one to the next.
    marks_label : str
        What a marked frame is.

    Returns
    -------
    Player
    """
    if not clips:
        raise ValueError("player: expected at least one (label, clip), got none")
    if step < 1:
        raise ValueError(f"step: expected at least 1, got {step}")
    for label, clip in clips:
        if not isinstance(clip, Clip) or not len(clip):
            raise ValueError(f"player: {label!r} is not a Clip with frames, got {type(clip).__name__}")
    kept = [(str(label), clip if step == 1 else _every(clip, step)) for label, clip in clips]
    turns = [drawing.facing(clip) for _, clip in kept]
    # systems that start from one pose share one direction, so that noise in the first frame does not turn a clip
    turns = [turns[0] if abs(_wrap(turn - turns[0])) < 0.6 else turn for turn in turns]
    entries = [_entry(label, clip, i, turn) for i, ((label, clip), turn) in enumerate(zip(kept, turns, strict=True))]
    lowest = min(entry["bounds"][1] for entry in entries)
    floor = 0.0 if -0.1 <= lowest <= 0.2 else round(lowest, 3)
    data = {"version": 1, "autoplay": bool(autoplay), "floor": floor, "clips": entries}
    if len(marks):
        data["marks"] = {"label": str(marks_label), "seconds": _mark_times(marks, clips[0][1])}
    if props:
        data["props"] = [_prop(prop) for prop in props]
    return Player(data, kept, caption)


def _mark_times(marks: Sequence[int], clip: Clip) -> list[float]:
    frames = sorted({int(mark) for mark in marks})
    if frames[0] < 0 or frames[-1] >= len(clip):
        raise ValueError(f"marks: expected frames 0 to {len(clip) - 1}, got {frames[0]} to {frames[-1]}")
    return [round(frame / clip.fps, 6) for frame in frames]


def _prop(prop: Prop) -> dict:
    rods = check_shape(prop.rods, "rods 2 3", "prop: rods").reshape(-1, 6)
    check_finite(rods, "prop: rods")
    if not len(rods):
        raise ValueError("prop: expected at least one rod, got none")
    return {
        "colour": prop.colour,
        "rods": [[*(round(float(x), 4) + 0.0 for x in rod), prop.radius, prop.radius] for rod in rods],
    }


def _every(clip: Clip, step: int) -> Clip:
    moved = None if clip.translations is None else clip.translations[::step]
    return Clip(clip.skeleton, clip.root_positions[::step], clip.rotations[::step], clip.fps / step, moved)


def _wrap(angle: float) -> float:
    return (angle + np.pi) % (2 * np.pi) - np.pi


def _entry(label: str, clip: Clip, index: int, turn: float) -> dict:
    body = drawing.body_of(clip.skeleton, clip.translations)
    places = forward_kinematics(clip).positions
    centre = places[:, 0, [0, 2]].mean(axis=0)
    turned = rot.rotate(rot.from_axis_angle([0.0, 1.0, 0.0], -turn), places - [centre[0], 0.0, centre[1]])
    low, high, reach = turned.min(axis=(0, 1)), turned.max(axis=(0, 1)), np.array([0.1, 0.0, 0.1])
    cones = np.concatenate([body.starts, body.ends, body.radii], axis=1)
    entry = {
        "label": label,
        "colour": system_colour(label, index),
        "fps": clip.fps,
        "frames": len(clip),
        "names": list(clip.skeleton.names),
        "parents": list(clip.skeleton.parents),
        "offsets": [float(f"{x:.6g}") for x in clip.skeleton.offsets.ravel()],
        "cones": [
            [int(joint), *(round(float(x), 4) + 0.0 for x in cone)]
            for joint, cone in zip(body.joints, cones, strict=True)
        ],
        "centre": [round(float(x), 4) for x in centre],
        "turn": round(turn, 4),
        # low x, low y, low z, high x, high y, high z around the turned and centred joints, with room for the body
        "bounds": [round(float(x), 3) for x in (*low - reach, *high + reach)],
        "root": _pack(clip.root_positions),
        "rotations": _pack(clip.rotations),
    }
    if clip.translations is not None:
        entry["translations"] = _pack(clip.translations)
    return entry


def _pack(array: np.ndarray) -> str:
    """float32, little-endian, base64; -0.0 becomes 0.0 so that equal poses have equal bytes."""
    return base64.b64encode((np.asarray(array) + 0.0).astype("<f4").tobytes()).decode()


def clips_of(page: str) -> list[tuple[str, Clip]]:
    """The (label, Clip) pairs that the first player in a piece of HTML holds, to the precision of float32."""
    start = page.index('<script type="application/json">') + len('<script type="application/json">')
    data = json.loads(page[start : page.index("</script>", start)])
    clips = []
    for entry in data["clips"]:
        shape = (entry["frames"], len(entry["parents"]))
        skeleton = Skeleton(
            tuple(entry["names"]), tuple(entry["parents"]), np.reshape(entry["offsets"], (len(entry["parents"]), 3))
        )
        moved = _unpack(entry["translations"], (*shape, 3)) if "translations" in entry else None
        clip = Clip(
            skeleton,
            _unpack(entry["root"], (shape[0], 3)),
            rot.normalize(_unpack(entry["rotations"], (*shape, 4))),
            entry["fps"],
            moved,
        )
        clips.append((entry["label"], clip))
    return clips


def _unpack(text: str, shape: tuple[int, ...]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<f4").reshape(shape).astype(np.float64)


def film_strip(clips: list[tuple[str, Clip]], moments: int = 6) -> bytes:
    """PNG with one row per clip and ``moments`` pictures evenly spaced in time."""
    import matplotlib.pyplot as plt
    from PIL import Image

    from motionbook.report.figures import contact_sheet

    rows = [
        (label, clip, np.unique(np.linspace(0, len(clip) - 1, moments).round().astype(int))) for label, clip in clips
    ]
    with plt.rc_context({"font.family": "DejaVu Sans"}):
        figure = contact_sheet(rows, height=1.75 if len(rows) < 3 else 1.35)
        drawn = io.BytesIO()
        figure.savefig(drawn, dpi=110, metadata={"Software": None})
    # a palette of 128 colours is a third of the size, and nobody sees the difference in a shaded grey or blue
    small = Image.open(drawn).convert("RGB").quantize(128, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    packed = io.BytesIO()
    small.save(packed, format="PNG", optimize=True)
    return packed.getvalue()


def find_bundle() -> Path | None:
    """The player's script where ``motionbook.report.web`` put it; None when it was not made."""
    from motionbook.report import web

    return next((path for path in web.bundle_places() if path.is_file()), None)


def live_scene(clip: Clip, *, width: int = 640, height: int = 420):
    """A pythreejs scene of one clip, for a live notebook that wants to add its own objects to it.

    Returns
    -------
    ipywidgets.VBox
        The view and, below it, the play, pause and stop buttons of the clip. ``box.children[0].scene`` is the scene,
        in which ``add`` takes any pythreejs object. Needs a running kernel; the book's pages use ``player``.
    """
    import ipywidgets
    import pythreejs as three

    colour = system_colour("", 0)
    body = drawing.body_of(clip.skeleton, clip.translations)
    joints = [
        three.Object3D(name=f"joint{i}", position=tuple(map(float, offset)))
        for i, offset in enumerate(clip.skeleton.offsets)
    ]
    for joint, start, end, radii in zip(body.joints, body.starts, body.ends, body.radii, strict=True):
        joints[joint].add(_pin(three, start, end, radii, colour))
    for joint, parent in enumerate(clip.skeleton.parents[1:], start=1):
        joints[parent].add(joints[joint])
    times = (np.arange(len(clip)) / clip.fps).astype(np.float32)
    xyzw = np.roll(clip.rotations, -1, axis=-1).astype(np.float32)
    tracks = [
        three.QuaternionKeyframeTrack(f"joint{i}.quaternion", times=times, values=xyzw[:, i].copy())
        for i in range(len(joints))
    ]
    tracks.append(
        three.VectorKeyframeTrack("joint0.position", times=times, values=clip.root_positions.astype(np.float32))
    )
    if clip.translations is not None:
        places = clip.translations.astype(np.float32)
        tracks += [
            three.VectorKeyframeTrack(f"joint{i}.position", times=times, values=places[:, i].copy())
            for i in range(1, len(joints))
        ]
    middle = clip.root_positions.mean(axis=0) * [1.0, 0.0, 1.0]
    # the orbit turns about the scene's origin, so the people are moved there
    people = three.Group(children=[joints[0]], position=tuple(map(float, -middle - [0.0, 0.9, 0.0])))
    floor = three.GridHelper(6, 12, colorCenterLine="#9aa3ad", colorGrid="#d5dae0", position=(0.0, -0.9, 0.0))
    scene = three.Scene(
        children=[people, floor, three.AmbientLight(intensity=0.6), three.DirectionalLight(position=(3, 5, 4))],
        background=None,
    )
    camera = three.PerspectiveCamera(fov=28, aspect=width / height, position=(1.8, 0.7, 4.2))
    view = three.Renderer(
        scene=scene, camera=camera, controls=[three.OrbitControls(camera)], width=width, height=height, antialias=True
    )
    mixer = three.AnimationMixer(scene)
    action = three.AnimationAction(
        mixer, three.AnimationClip("motion", duration=float(times[-1]), tracks=tracks), scene
    )
    return ipywidgets.VBox([view, action])


def _pin(three, start, end, radii, colour):
    """A tapered cylinder between two points; pythreejs' three.js has no capsule."""
    along = np.asarray(end) - start
    length = float(np.linalg.norm(along))
    turn = rot.between(np.array([0.0, 1.0, 0.0]), along) if length > 1e-9 else rot.identity()
    shape = three.CylinderGeometry(float(radii[1]), float(radii[0]), max(length, 1e-3), 18)
    pin = three.Mesh(shape, three.MeshStandardMaterial(color=colour, roughness=0.6))
    pin.position = tuple(map(float, 0.5 * (np.asarray(start) + end)))
    pin.quaternion = tuple(map(float, np.roll(turn, -1)))
    for place, radius in ((start, radii[0]), (end, radii[1])):
        ball = three.Mesh(three.SphereGeometry(float(radius), 18, 12), pin.material)
        local = rot.rotate(rot.inverse(turn), np.asarray(place) - pin.position)
        ball.position = tuple(map(float, local))
        pin.add(ball)
    return pin

"""The text of a BVH file up to its first row of numbers: skeleton, channels, frame count and frame time.

The grammar is read by words, not by lines, so that indentation, tabs, blank lines, letter case and the place of the
braces do not matter. A joint's name is the rest of its line ("Bip01 Neck", "mixamorig:Hips").
"""

import itertools
import re
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

LARGEST = 1e9
"""No body has numbers beyond this in any unit, and kinematics would lose its digits with them."""

POSITION, ROTATION = 0, 3
"""A channel is POSITION + axis or ROTATION + axis, the axis being 0, 1, 2 for x, y, z."""

_WORD = re.compile(r"[{}]|[^\s{}]+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_CHANNEL = re.compile(r"([xyz])(pos|rot)\w*", re.IGNORECASE)
_MOTION = re.compile(rb"^[ \t]*MOTION(?=\s|$)", re.IGNORECASE | re.MULTILINE)
_FRAMES = re.compile(rb"\s*frames[ \t]*:?[ \t]*([^\r\n]*)", re.IGNORECASE)
_LONGEST_HIERARCHY = 1 << 22  # bytes looked at for a skeleton in a file that has no MOTION line
_FRAME_TIME = re.compile(rb"\s*frame[ \t]*time[ \t]*:?[ \t]*([^\r\n]*)", re.IGNORECASE)

# Tried in this order before any other whole rate: rates that cameras, trackers and exporters are set to.
_COMMON_RATES = (30, 60, 120, 24, 25, 50, 100, 48, 72, 75, 90, 144, 150, 180, 200, 240, 250, 300, 480, 500, 1000)
_BROADCAST_RATES = tuple(rate * 1000 / 1001 for rate in (24, 30, 48, 60, 120, 240))


class BvhError(ValueError):
    """A file that cannot be read as one BVH motion; the message names file, line, cause and way out."""


class EndSite(NamedTuple):
    """An end site: the joint it hangs on, its OFFSET in file units, and what stood after the word End."""

    joint: int
    offset: tuple[float, float, float]
    label: str


class Header(NamedTuple):
    """What stands before the rows of numbers, in file units and axes."""

    names: tuple[str, ...]
    lines: tuple[int, ...]
    """Line of each joint's name."""
    parents: tuple[int, ...]
    offsets: tuple[tuple[float, float, float], ...]
    ends: tuple[EndSite, ...]
    channels: tuple[tuple[int, ...], ...]
    frames: int
    frames_line: int
    frame_time: str
    """As it is written: its digits say how exactly it is meant."""
    frame_time_line: int
    body_start: int
    """Byte at which the rows begin."""

    @property
    def width(self) -> int:
        """Numbers per row."""
        return sum(map(len, self.channels))

    @property
    def columns(self) -> list[tuple[int, tuple[int, ...]]]:
        """Per joint, its first column and its channels."""
        starts = itertools.accumulate(map(len, self.channels), initial=0)
        return list(zip(starts, self.channels, strict=False))


def bvh_error(name: str, line: int, problem: str) -> BvhError:
    """The one kind of error this reader raises, naming file and line."""
    return BvhError(f"{name}, line {line}: {problem}")


def line_of(data: bytes, position: int) -> int:
    """Line number, from 1, of a byte."""
    return data.count(b"\n", 0, position) + 1


def is_number(text: str) -> bool:
    """Whether the text is a plain decimal number, with or without exponent."""
    return _NUMBER.fullmatch(text) is not None


def not_a_number(text: str) -> str:
    """What is wrong with a word that stands where a number should."""
    if re.fullmatch(r"[+-]?\d*,\d*([eE][+-]?\d+)?", text):
        return f"{text!r} has a decimal comma; write a point (export under an English locale)"
    if re.fullmatch(r"[+-]?(nan|inf|infinity|\d*\.?#\w+)", text, re.IGNORECASE):
        return f"{text!r} is not a finite number; fill or cut the gap where the motion was made"
    return f"expected a number, got {text!r}"


def parse_header(data: bytes, name: str) -> Header:
    """Skeleton, channels and frame numbers of a BVH file held in memory.

    Parameters
    ----------
    data : bytes
        The whole file, lines ended by LF or CRLF.
    name : str
        What error messages call the file.

    Raises
    ------
    BvhError
        Naming the line.
    """
    first = re.match(rb"\s*(\S{0,40})", data)
    if first.group(1).upper() != b"HIERARCHY":
        got = repr(_text(first.group(1))) if first.group(1) else "an empty file"
        raise bvh_error(name, line_of(data, first.start(1)), f"expected HIERARCHY, got {got}; is this a BVH file?")
    motion = _MOTION.search(data, first.end(1))
    text = _text(data[first.end(1) : motion.start() if motion else first.end(1) + _LONGEST_HIERARCHY])
    words = _Words(text, line_of(data, first.end(1)), name)
    tree = _parse_tree(words)
    if motion is None:
        raise bvh_error(name, words.line, "the file ends without a MOTION section; export it with its motion")
    frames = _after(data, motion.end(), _FRAMES, "Frames: <count>", name)
    count = _text(frames.group(1)).strip()
    if not re.fullmatch(r"\d+", count):
        raise bvh_error(name, line_of(data, frames.start(1)), f"Frames: expected a whole number, got {count!r}")
    frame_time = _after(data, frames.end(), _FRAME_TIME, "Frame Time: <seconds>", name)
    seconds = _text(frame_time.group(1)).strip()
    if not is_number(seconds):
        raise bvh_error(name, line_of(data, frame_time.start(1)), f"Frame Time: {not_a_number(seconds)}")
    lines = [line_of(data, found.start(1)) for found in (frames, frame_time)]
    return Header(*tree, int(count), lines[0], seconds, lines[1], frame_time.end())


def frame_rate(frame_time: str) -> float | None:
    """Frames per second that the text of a frame time stands for, None when it is not positive.

    A frame time is printed with few digits: 0.033333 means 30 fps, not 30.0003. The rate is taken to be the common
    one, else the nearest whole one, else the broadcast one (n x 1000/1001), whose frame time rounds or truncates to
    the printed digits or differs by less than one part in a million (single precision); otherwise it is 1 / time.
    A single digit ("0.03") says too little and is taken as it stands.
    """
    try:
        number = Decimal(frame_time)
    except InvalidOperation:
        return None
    seconds = float(number)
    if not (0 < seconds < float("inf")):
        return None
    unit = 10.0 ** number.as_tuple().exponent if len(number.normalize().as_tuple().digits) > 1 else 0.0
    for rate in (*_COMMON_RATES, max(1, round(1 / seconds)), *_BROADCAST_RATES):
        off = 1 / rate - seconds
        if -0.5 * unit <= off < unit or abs(off) <= 1e-6 * seconds:
            return float(rate)
    return 1 / seconds


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _after(data: bytes, start: int, pattern: re.Pattern, wanted: str, name: str) -> re.Match:
    found = pattern.match(data, start)
    if found is None:
        place = re.compile(rb"\s*([^\r\n]{0,60})").match(data, start)
        got = _text(place.group(1)).strip()
        what = f"got {got!r}" if got else "the file ends"
        raise bvh_error(name, line_of(data, place.start(1)), f"expected {wanted!r}, {what}")
    return found


class _Word(NamedTuple):
    text: str
    line: int
    start: int
    end: int


class _Words:
    """The words of the hierarchy, one after the other, each with its line."""

    def __init__(self, text: str, first_line: int, name: str):
        self.lines = text.split("\n")
        self.first_line, self.name = first_line, name
        self.words = [
            _Word(found.group(), number, found.start(), found.end())
            for number, line in enumerate(self.lines)
            for found in _WORD.finditer(line)
        ]
        self.at = 0

    @property
    def line(self) -> int:
        """Line of the word read last."""
        return self.first_line + (self.words[self.at - 1].line if self.at else 0)

    def error(self, problem: str) -> BvhError:
        return bvh_error(self.name, self.line, problem)

    def more(self) -> bool:
        return self.at < len(self.words)

    def next(self, wanted: str) -> str:
        if not self.more():
            raise self.error(f"the file ends where {wanted} is expected")
        self.at += 1
        return self.words[self.at - 1].text

    def rest_of_line(self) -> str:
        """The words up to the end of the line or an opening brace, with the blanks between them."""
        line, start = self.words[self.at - 1].line, self.at
        while self.more() and self.words[self.at].line == line and self.words[self.at].text not in "{}":
            self.at += 1
        if self.at == start:
            return ""
        return self.lines[line][self.words[start].start : self.words[self.at - 1].end]

    def numbers(self, count: int, what: str) -> tuple[float, ...]:
        out = []
        for _ in range(count):
            word = self.next(f"a number of {what}")
            if not is_number(word):
                raise self.error(f"{what}: {not_a_number(word)}")
            out.append(float(word))
            if abs(out[-1]) > LARGEST:
                raise self.error(f"{what}: {word!r} is too large a number")
        return tuple(out)


def _parse_tree(words: _Words):
    names, lines, parents, offsets, channels, ends = [], [], [], [], [], []
    stack: list[int | EndSite] = []  # a joint's index, or an end site that waits for its OFFSET
    while True:
        keyword = words.next("a closing brace" if stack else "ROOT")
        word = keyword.upper()
        if word in ("ROOT", "JOINT"):
            if (word == "ROOT") != (not stack):
                raise words.error(
                    f"{keyword} {'inside' if stack else 'outside'} a joint; the one ROOT holds all JOINTs"
                )
            if stack and isinstance(stack[-1], EndSite):
                raise words.error("a JOINT inside an End Site")
            lines.append(words.line)
            names.append(words.rest_of_line())
            if not names[-1]:
                raise words.error(f"{keyword} without a name")
            parents.append(stack[-1] if stack else -1)
            offsets.append(None)
            channels.append(())
            _open_brace(words, names[-1])
            stack.append(len(names) - 1)
        elif not stack:
            raise words.error(f"expected ROOT, got {keyword!r}")
        elif word in ("END", "ENDSITE", "END_SITE"):
            if isinstance(stack[-1], EndSite):
                raise words.error("an End Site inside an End Site")
            label = words.rest_of_line() or "Site"
            _open_brace(words, "End Site")
            stack.append(EndSite(stack[-1], (), label))
        elif word == "OFFSET":
            offset = words.numbers(3, "OFFSET")
            if isinstance(stack[-1], EndSite):
                stack[-1] = stack[-1]._replace(offset=offset)
            else:
                offsets[stack[-1]] = offset
        elif word == "CHANNELS":
            if isinstance(stack[-1], EndSite):
                raise words.error("CHANNELS inside an End Site; make it a JOINT or drop them")
            channels[stack[-1]] = _parse_channels(words, names[stack[-1]])
        elif word == "}":
            closed = stack.pop()
            if isinstance(closed, EndSite):
                ends.append(closed)
            missing = closed.offset == () if isinstance(closed, EndSite) else offsets[closed] is None
            if missing:
                what = "an End Site" if isinstance(closed, EndSite) else f"joint {names[closed]}"
                raise words.error(f"{what} closes without its OFFSET")
            if not stack:
                break
        else:
            raise words.error(f"expected OFFSET, CHANNELS, JOINT, End Site or a brace, got {keyword!r}")
    if words.more():
        left = words.words[words.at :]
        words.at += 1
        if left[0].text.upper() == "ROOT":
            roots = 1 + sum(word.text.upper() == "ROOT" for word in left)
            raise words.error(f"{roots} ROOT blocks; one clip holds one figure, split the file by figure")
        raise words.error(f"expected MOTION after the skeleton, got {left[0].text!r}")
    return tuple(names), tuple(lines), tuple(parents), tuple(offsets), tuple(ends), tuple(channels)


def _open_brace(words: _Words, what: str) -> None:
    word = words.next(f"the opening brace of {what}")
    if word != "{":
        raise words.error(f"expected the opening brace of {what}, got {word!r}")


def _parse_channels(words: _Words, joint: str) -> tuple[int, ...]:
    count = words.next("the number of CHANNELS")
    if not re.fullmatch(r"\d", count):
        raise words.error(f"CHANNELS of {joint}: expected their number (0 to 6), got {count!r}")
    out = []
    for _ in range(int(count)):
        word = words.next(f"one of {count} channels of {joint}")
        found = _CHANNEL.fullmatch(word)
        if found is None:
            raise words.error(f"CHANNELS of {joint}: expected {count} such as Xposition or Zrotation, got {word!r}")
        kind = POSITION if found.group(2).lower() == "pos" else ROTATION
        out.append(kind + "xyz".index(found.group(1).lower()))
    positions = [channel for channel in out if channel < ROTATION]
    if len(set(positions)) < len(positions) or len(out) - len(positions) > 3:
        raise words.error(f"CHANNELS of {joint}: at most one position per axis and three rotations can be read")
    return tuple(out)

"""A small receiver for the answers of the study page, on the standard library: append-only, and strict.

It takes answers of plans it knows, whose every value is well-formed and whose trial is the plan's, and writes them to
``answers_<plan>.jsonl``, on the disk before it says so. Sent twice, they are kept once. Nothing else is stored: no
address, no browser name. For use within a laboratory or behind a web server that speaks HTTPS.
"""

import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from motionbook.perception.study.balance import read_plan
from motionbook.perception.study.records import PERSON, is_person, problem

LARGEST = 1 << 20
RESERVED = 7200.0  # seconds that a place in the plan is kept for somebody who has not answered yet
_TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css",
          ".webm": "video/webm", ".mp4": "video/mp4", ".txt": "text/plain; charset=utf-8"}  # fmt: skip


class Inbox:
    """The answers of one plan on disk."""

    def __init__(self, folder: Path, plan: dict):
        self.plan = plan
        self.path = folder / f"answers_{plan['hash'][:16]}.jsonl"
        self._lock, self._known, self._places, self._people = threading.Lock(), {}, {}, {}
        folder.mkdir(parents=True, exist_ok=True)
        self._take_up()

    def _take_up(self) -> None:
        """Read what is there; a line that a crash left unfinished was never acknowledged and is set aside.

        One that lacks only its end is whole, and may have lost it to an editor: it gets it back.
        """
        if not self.path.is_file():
            return
        content = self.path.read_bytes()
        *lines, rest = content.split(b"\n")
        if rest and self._is_message(rest):
            with open(self.path, "ab") as file:
                file.write(b"\n")
            lines.append(rest)
        elif rest:
            with open(self.path.with_suffix(".torn"), "ab") as file:
                file.write(rest + b"\n")
            with open(self.path, "r+b") as file:
                file.truncate(len(content) - len(rest))
        # by bytes: texts may hold other characters that str.splitlines splits at
        for number, line in enumerate(lines, start=1):
            try:
                message = json.loads(line.decode())
                self._keep(message["id"], message)
            except (ValueError, KeyError, TypeError):
                raise ValueError(f"{self.path}, line {number}: not a message; the file was changed") from None

    def _is_message(self, line: bytes) -> bool:
        try:
            return self._reason(json.loads(line.decode())) is None
        except ValueError:
            return False

    def _keep(self, name: str, message: dict) -> None:
        self._known[name] = message
        row = message.get("row")
        if row:
            self._people[row[PERSON[self.plan["design"]]]] = int(row["slot"])

    def __len__(self):
        return len(self._known)

    def take(self, messages) -> tuple[list[str], list[dict]]:
        """Ids now on the disk, and what is refused as ``{"id", "reason"}``."""
        stored, refused = [], []
        with self._lock:
            new = []
            for message in messages:
                name = message.get("id") if isinstance(message, dict) else None
                reason = self._reason(message)
                if reason:
                    refused.append({"id": name if isinstance(name, str) else None, "reason": reason})
                    continue
                if name not in self._known:
                    new.append(message)
                    self._keep(name, message)
                stored.append(name)
            if new:
                self._append(new)
        return stored, refused

    def _append(self, messages) -> None:
        text = "".join(json.dumps(message, ensure_ascii=False, sort_keys=True) + "\n" for message in messages)
        before = self.path.stat().st_size if self.path.is_file() else 0
        try:
            with open(self.path, "ab") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            # half a line must not stand before what comes next
            if self.path.is_file():
                os.truncate(self.path, before)
            for message in messages:
                self._known.pop(message["id"], None)
            raise

    def _reason(self, message) -> str | None:
        if not isinstance(message, dict) or not isinstance(message.get("id"), str):
            return "expected a message with an id"
        known = self._known.get(message["id"])
        if message.get("type") == "withdraw":
            name = message.get("participant")
            right = set(message) == {"id", "type", "participant"} and message["id"] == f"{name}-withdraw"
            return None if right and is_person(name) else "expected id, type and participant"
        if message.get("type") != "answer" or set(message) != {"id", "type", "row"}:
            return "expected id, type and row"
        reason = problem(message["row"], self.plan)
        if reason:
            return reason
        if message["id"] != message["row"]["answerID"]:
            return "id and answerID differ"
        return None if known is None or known == message else "another answer has this id"

    def place(self, participant: str, gender: str = "") -> int:
        """The place in the plan for a person: the one fewest people have, counting those of the last two hours.

        Among equally empty places, one whose group has fewest people of this gender (a factor between people stays
        balanced within genders).
        """
        with self._lock:
            now = time.monotonic()
            if participant in self._places:
                return self._places[participant][0]
            waiting = [slot for name, (slot, when, _) in self._places.items()
                       if name not in self._people and now - when < RESERVED]  # fmt: skip
            taken = [*self._people.values(), *waiting]
            groups = [person["group"] for person in self.plan["people"]]
            alike = [groups[slot] for slot, _, told in self._places.values() if told == gender]
            rank = [(taken.count(slot), alike.count(group), slot) for slot, group in enumerate(groups)]
            slot = min(rank)[2]
            self._places[participant] = (slot, now, gender)
            return slot


def make_server(
    folder: str | Path, *, port: int = 8765, host: str = "127.0.0.1", plans=(), site: str | Path | None = None
) -> ThreadingHTTPServer:
    """A server that is ready to ``serve_forever``; port 0 takes a free one.

    Parameters
    ----------
    folder : path
        Where answers go. Plans are looked for there (``plan*.json``) when none are given.
    port, host : address to listen at; "0.0.0.0" lets other machines in.
    plans : sequence of path
        Plan files, or folders of built studies.
    site : folder, optional
        A built study to show as well, so that one command runs a study in a laboratory.
    """
    folder = Path(folder)
    wanted = [Path(path) for path in plans] + ([Path(site)] if site else [])
    wanted = wanted or sorted(folder.glob("plan*.json"))
    if not wanted:
        raise ValueError(f"{folder}: no plan*.json there; copy the plan.json of the study into it, or give --plan")
    inboxes = {}
    for path in wanted:
        plan = read_plan(path)
        inboxes.setdefault(plan["hash"], Inbox(folder, plan))
    handler = type("Handler", (_Handler,), {"inboxes": inboxes, "site": Path(site).resolve() if site else None})
    return _Server((host, port), handler)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # a whole class that answers at once is to be heard; five, the default, may wait and the others are turned away
    request_queue_size = 128


class _Handler(BaseHTTPRequestHandler):
    inboxes: dict
    site: Path | None
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "motionbook", ""
    timeout = 30

    def log_message(self, *arguments):
        """Keep no log: it would hold network addresses."""

    def _reply(self, status: int, content: dict | bytes, kind: str = "application/json", **more) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        headers = {"Content-Type": kind, "Content-Length": str(len(body)), "Access-Control-Allow-Origin": "*"}
        for name, value in {
            **headers,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            **more,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_OPTIONS(self):
        """Leave for pages of other origins to send."""
        allowed = {"Access-Control-Allow-Methods": "GET, POST, OPTIONS", "Access-Control-Allow-Headers": "Content-Type"}
        self._reply(
            204, b"", **allowed, **{"Access-Control-Max-Age": "600", "Access-Control-Allow-Private-Network": "true"}
        )

    def do_POST(self):
        """Answers in, acknowledgement out."""
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            length = -1
        if not 0 < length <= LARGEST:
            self.close_connection = True
            return self._reply(413 if length > LARGEST else 411, {"error": f"expected 1 to {LARGEST} bytes"})
        body = self.rfile.read(length)
        if len(body) < length:
            self.close_connection = True  # the sender has gone; it will send again
            return None
        try:
            sent = json.loads(body)
            plan, messages = sent["plan"], sent["messages"]
            if not isinstance(messages, list) or not isinstance(plan, str):
                raise TypeError
        except (ValueError, KeyError, TypeError, RecursionError):
            return self._reply(400, {"error": 'expected JSON {"plan": ..., "messages": [...]}'})
        inbox = self.inboxes.get(plan)
        if inbox is None:
            return self._reply(404, {"error": "an unknown plan"})
        try:
            stored, refused = inbox.take(messages)
        except OSError as error:
            return self._reply(507, {"error": f"not stored: {error.strerror}"})
        return self._reply(422 if refused else 200, {"stored": stored, "refused": refused})

    def do_GET(self):
        """A place in the plan, how much there is, or a file of the page."""
        address = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(address.query).items()}
        inbox = self.inboxes.get(asked.get("plan", ""))
        if "plan" in asked and asked.get("slot"):
            if inbox is None:
                return self._reply(404, {"error": "an unknown plan"})
            return self._reply(200, {"slot": inbox.place(asked["slot"][:40], asked.get("gender", "")[:20])})
        if self.site is None or address.path == "/status":
            return self._reply(200, {key[:16]: len(inbox) for key, inbox in self.inboxes.items()})
        return self._file(unquote(address.path))

    do_HEAD = do_GET

    def _file(self, name: str) -> None:
        if "\0" in name:
            return self._reply(404, {"error": "not found"})
        path = (self.site / name.lstrip("/")).resolve()
        path = path / "index.html" if path.is_dir() else path
        if not path.is_relative_to(self.site) or not path.is_file():
            return self._reply(404, {"error": "not found"})
        content, kind = path.read_bytes(), _TYPES.get(path.suffix, "application/octet-stream")
        # Safari plays no film from a server that cannot send a part of it
        wanted = self.headers.get("Range", "")
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        if wanted.startswith("bytes=") and first.isdecimal() and int(first) < len(content):
            end = min(int(last), len(content) - 1) if last.isdecimal() else len(content) - 1
            part = f"bytes {first}-{end}/{len(content)}"
            more = {"Accept-Ranges": "bytes", "Content-Range": part}
            return self._reply(206, content[int(first) : end + 1], kind, **more)
        return self._reply(200, content, kind, **{"Accept-Ranges": "bytes"})

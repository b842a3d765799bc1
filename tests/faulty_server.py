"""A web server on this machine that breaks in the ways real ones do, told so per path."""

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Page:
    """One path of the server and how it misbehaves.

    ``cut``: bytes after which each of the first ``cuts`` answers ends with the connection. ``ranges``: whether Range is
    understood. ``statuses``: answers given before the content. ``length``: a wrong Content-Length. ``redirect``: where
    to go. ``ignore_if_range``: whether the rest is sent whatever version was asked for.
    """

    body: bytes = b""
    type: str = "application/octet-stream"
    ranges: bool = True
    etag: str = '"v1"'
    modified: str = ""
    cut: int = 0
    cuts: int = 1
    statuses: list[int] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None
    redirect: str = ""
    ignore_if_range: bool = False


class FaultyServer:
    """Pages by path, the requests received (method, path, Range) with their If-Range, and the address."""

    def __init__(self):
        self.pages: dict[str, Page] = {}
        self.requests: list[tuple[str, str, str]] = []
        self.conditions: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                outer.answer(self)

            do_HEAD = do_GET

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *arguments: None  # clients that hang up are part of the play
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def answer(self, handler):
        path = handler.path.partition("?")[0]
        asked = handler.headers.get("Range", "")
        self.requests.append((handler.command, handler.path, asked))
        self.conditions.append(handler.headers.get("If-Range", ""))
        page = self.pages.get(path)
        if page is None:
            return self.send(handler, 404, b"no such page", {"Content-Type": "text/plain"})
        if page.redirect:
            return self.send(handler, 302, b"", {"Location": page.redirect})
        if page.statuses:
            return self.send(handler, page.statuses.pop(0), b"not now", {"Content-Type": "text/plain", **page.headers})
        headers = {"Content-Type": page.type, **page.headers}
        if page.etag:
            headers["ETag"] = page.etag
        if page.modified:
            headers["Last-Modified"] = page.modified
        body, status = page.body, 200
        condition = handler.headers.get("If-Range", "")
        same = page.ignore_if_range or not condition or condition in (page.etag, page.modified)
        if asked and page.ranges and same:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= len(body):
                return self.send(handler, 416, b"", {"Content-Range": f"bytes */{len(body)}"})
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
            body, status = body[start:], 206
        length = len(body) if page.length is None else page.length
        if page.cut and page.cuts > 0 and handler.command == "GET":
            page.cuts -= 1
            body = body[: page.cut]
        return self.send(handler, status, body, headers, length)

    @staticmethod
    def send(handler, status, body, headers, length=None):
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        length = len(body) if length is None else length
        handler.send_header("Content-Length", str(length))
        if length != len(body):
            handler.send_header("Connection", "close")
            handler.close_connection = True
        handler.end_headers()
        if handler.command != "HEAD":
            try:
                handler.wfile.write(body)
                handler.wfile.flush()
            except ConnectionError:
                pass  # the client has seen enough


@contextmanager
def faulty_server():
    """A running FaultyServer, stopped at the end."""
    server = FaultyServer()
    thread = threading.Thread(target=server.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.server.shutdown()
        server.server.server_close()
        thread.join()

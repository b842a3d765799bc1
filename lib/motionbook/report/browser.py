"""Headless Chromium for checks of the rendered book, spoken to over two pipes.

Only what those checks need: open a page with the network off, ask it things, take pictures of it, and a log of every
request, console line and error. Works where processes can inherit file descriptors (Linux, macOS).
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --use-angle=swiftshader --enable-unsafe-swiftshader --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync --disable-extensions --mute-audio "
    "--disable-dev-shm-usage --hide-scrollbars --allow-file-access-from-files=false --remote-debugging-pipe"
).split()


def find_chromium() -> str | None:
    """Path of a Chromium: ``$MOTIONBOOK_CHROMIUM`` or the first of ``NAMES`` on the PATH; None when there is none."""
    named = os.environ.get("MOTIONBOOK_CHROMIUM")
    return named if named else next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One Chromium process with one page, closed at the end of a ``with`` block.

    Its network is off, but for the hosts named in ``reach``.

    Attributes
    ----------
    requests : list of str
        Addresses asked for since ``open`` was last called; data: and blob: addresses are left out.
    failures : list of str
        Requests that failed, with the reason.
    messages : list of str
        Console lines of level warning and error, uncaught exceptions and the browser's own complaints.
    """

    def __init__(
        self,
        *,
        size: tuple[int, int] = (1280, 900),
        dark: bool = False,
        reduced_motion: bool = False,
        reach: tuple[str, ...] = (),
    ):
        path = find_chromium()
        if path is None:
            raise FileNotFoundError(f"no Chromium: none of {', '.join(NAMES)} is on the PATH")
        self.size, self.dark, self.reduced_motion, self.reach = size, dark, reduced_motion, reach
        self.requests, self.failures, self.messages = [], [], []
        self._addresses, self._answers, self._number, self._rest = {}, {}, 0, b""
        self._profile = tempfile.TemporaryDirectory(prefix="motionbook-chromium-", ignore_cleanup_errors=True)
        self._start(path)

    def _start(self, path: str) -> None:
        read_there, self._write = os.pipe()
        self._read, write_there = os.pipe()
        # Chromium reads commands from descriptor 3 and answers on 4; high copies keep the two from being trodden on
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 40) for fd in (read_there, write_there)]
        for fd in (read_there, write_there):
            os.close(fd)
        rules = ", ".join(["MAP * ~NOTFOUND", *(f"EXCLUDE {host}" for host in self.reach)])
        command = [path, *_FLAGS, f"--user-data-dir={self._profile.name}", f"--host-resolver-rules={rules}"]
        command += [f"--window-size={self.size[0]},{self.size[1]}", "about:blank"]
        shell = 'exec 3<&"$0" 4>&"$1"; shift 1; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, *map(str, high), *command],
            pass_fds=high,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for fd in high:
            os.close(fd)
        self._session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        media = [
            {"name": "prefers-color-scheme", "value": "dark" if self.dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if self.reduced_motion else "no-preference"},
        ]
        self.call("Emulation.setEmulatedMedia", features=media)
        self.resize(*self.size)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self) -> None:
        """End the process and remove its profile."""
        if self._process.poll() is None:
            try:
                self._session = None
                self.call("Browser.close", limit=5)
                self._process.wait(5)
            except (RuntimeError, OSError, subprocess.TimeoutExpired):
                self._process.kill()
                self._process.wait()
        for fd in (self._read, self._write):
            os.close(fd)
        self._profile.cleanup()

    def resize(self, width: int, height: int) -> None:
        """Set the size of the page in CSS pixels; below 600 wide it calls itself a phone's."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def call(self, method: str, *, limit: float = 60.0, **parameters) -> dict:
        """One command of the DevTools protocol; RuntimeError with its answer when it fails or takes too long."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + limit
        while self._number not in self._answers:
            self._pump(end, method)
        answer = self._answers.pop(self._number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error'].get('message', answer['error'])}")
        return answer.get("result", {})

    def _pump(self, end: float, doing: str) -> None:
        ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            raise RuntimeError(f"Chromium did not answer in time to {doing}")
        chunk = os.read(self._read, 1 << 20)
        if not chunk:
            raise RuntimeError(f"Chromium ended during {doing} (exit status {self._process.poll()})")
        *whole, self._rest = (self._rest + chunk).split(b"\0")
        for text in whole:
            self._take(json.loads(text))

    def _take(self, message: dict) -> None:
        if "id" in message:
            self._answers[message["id"]] = message
            return
        method, facts = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            address = facts["request"]["url"]
            self._addresses[facts["requestId"]] = address
            if not address.startswith(("data:", "blob:", "about:")):
                self.requests.append(address)
        elif method == "Network.loadingFailed" and not facts.get("canceled"):
            address = self._addresses.get(facts["requestId"], "?")
            self.failures.append(f"{address[:200]}: {facts.get('errorText')}")
        elif method == "Network.responseReceived" and facts["response"]["status"] >= 400:
            self.failures.append(f"{facts['response']['url'][:200]}: status {facts['response']['status']}")
        elif method == "Runtime.consoleAPICalled" and facts["type"] in ("error", "warning", "assert"):
            words = [str(a.get("value", a.get("description", ""))) for a in facts["args"]]
            self.messages.append(f"{facts['type']}: {' '.join(words)}")
        elif method == "Runtime.exceptionThrown":
            details = facts["exceptionDetails"]
            said = details.get("exception", {}).get("description") or details.get("text", "")
            self.messages.append(f"exception: {said}")
        elif method == "Log.entryAdded" and facts["entry"]["level"] in ("error", "warning"):
            self.messages.append(f"{facts['entry']['level']}: {facts['entry']['text']}")

    def open(self, address: str | Path, limit: float = 60.0) -> None:
        """Open a page or file and wait until it says that it has loaded; the logs start anew."""
        if isinstance(address, Path):
            address = address.resolve().as_uri()
        self.requests, self.failures, self.messages = [], [], []
        said = self.call("Page.navigate", url=address)
        if said.get("errorText"):
            raise RuntimeError(f"{address}: {said['errorText']}")
        # the address is compared so that the page before this one is not taken for it
        bare = address.split("#")[0]
        self.wait(
            f"document.readyState === 'complete' && location.href.split('#')[0] === {json.dumps(bare)}", limit=limit
        )

    def evaluate(self, expression: str):
        """Value of a JavaScript expression; a promise is waited for. RuntimeError when it throws."""
        said = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in said:
            details = said["exceptionDetails"]
            raise RuntimeError(f"{expression[:120]}: {details.get('exception', {}).get('description', details)}")
        return said["result"].get("value")

    def wait(self, expression: str, *, limit: float = 60.0):
        """Ask until an expression is true; its value. RuntimeError says what was waited for."""
        end = time.monotonic() + limit
        while not (value := self.evaluate(expression)):
            if time.monotonic() > end:
                raise RuntimeError(f"waited {limit:.0f} s in vain for: {expression}")
            time.sleep(0.05)
        return value

    def press(self, key: str, code: int) -> None:
        """Press and release one key where the focus is; ``code`` is its Windows virtual key code."""
        for kind in ("keyDown", "keyUp"):
            text = {"text": key} if len(key) == 1 and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **text)

    def drag(self, start: tuple[float, float], end: tuple[float, float], steps: int = 6) -> None:
        """Drag the mouse from one place of the window to another, in CSS pixels."""
        held = {"button": "left", "buttons": 1}
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=start[0], y=start[1], clickCount=1, **held)
        for i in range(1, steps + 1):
            x, y = (a + (b - a) * i / steps for a, b in zip(start, end, strict=True))
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, **held)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=end[0], y=end[1], clickCount=1, button="left")

    def picture(self, selector: str | None = None, *, whole: bool = False) -> bytes:
        """PNG of the window, of the first element that a CSS selector finds, or of the whole page.

        An element that fits into the window is taken as it stands there, scrolled to if need be: beyond the window
        Chromium lays the page out anew for the picture, in which what WebGL has drawn may be lost.
        """
        parameters = {}
        if selector:
            box = self.evaluate(
                f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
                "const inside = (r) => r.left >= 0 && r.top >= 0 && r.right <= innerWidth && r.bottom <= innerHeight;"
                "if (!inside(e.getBoundingClientRect())) e.scrollIntoView({block: 'center', behavior: 'instant'});"
                "const r = e.getBoundingClientRect(), beyond = !inside(r);"
                "return {x: r.x + scrollX, y: r.y + scrollY, width: r.width, height: r.height, beyond}; })()"
            )
            parameters = {"captureBeyondViewport": box.pop("beyond"), "clip": {**box, "scale": 1}}
        elif whole:
            # a window as tall as the page: what is drawn only while in sight is in sight then
            width, height = self.evaluate("[innerWidth, document.scrollingElement.scrollHeight]")
            before = self.evaluate("innerHeight")
            self.resize(width, height)
            self.evaluate("new Promise((done) => setTimeout(done, 1500))")
        png = base64.b64decode(self.call("Page.captureScreenshot", format="png", **parameters)["data"])
        if whole:
            self.resize(width, before)
        return png

"""One file over HTTP, resumed where it broke off.

What arrives is kept in ``<target>.part`` with a note of the version it belongs to, so a second try continues and never
joins the halves of two versions. The target appears only when the whole file is there; checksums are the caller's.
"""

import errno
import json
import shutil
import time
from pathlib import Path
from urllib.parse import urlsplit

from motionbook import __version__
from motionbook.files import write_whole

_CHUNK = 1 << 14  # a broken connection loses at most this much of what had arrived
_PASSING = {408, 425, 429, 500, 502, 503, 504}  # a later try may be answered
_LONGEST_WAIT = 60.0
_WAYS = {
    401: "the file needs a login; see 'by hand' in its manifest",
    403: "the server refuses; it may limit the number of requests or need a login, try later or fetch it by hand",
    404: "the file is not there (any more); see 'by hand' in its manifest",
    410: "the file was withdrawn; see 'by hand' in its manifest",
}


class _Broken(Exception):
    """The transfer stopped early and may be tried again."""

    def __init__(self, reason: str, wait: float | None = None):
        super().__init__(reason)
        self.wait = wait


def download_file(
    url: str,
    target: str | Path,
    *,
    size: int | None = None,
    checked: bool = False,
    tries: int = 5,
    wait: float = 1.0,
    timeout: float = 60.0,
    progress: bool = True,
) -> bool:
    """Download ``url`` to ``target``; True when an earlier, broken download was continued.

    Parameters
    ----------
    url : str
    target : path
        Its folder is made when missing. A file of that name is replaced at the end.
    size : int, optional
        Bytes the file has; another announced or received length is an error.
    checked : bool
        Whether the caller will compare a checksum. Without one, a part left by an earlier call is continued only when
        the server names the version of the file.
    tries : int
        How often in a row the transfer may stop without any new byte before it is given up.
    wait : float
        Seconds before the first new try, doubled each time; a server's Retry-After counts instead, up to a minute.
    timeout : float
        Seconds without any byte after which a connection counts as broken.

    Raises
    ------
    ValueError
        When what the server sends is not the file: a web page, a Git LFS pointer, another length.
    RuntimeError
        When the server refuses or the transfer kept stopping: URL, reason, bytes kept and what to do.
    """
    import requests
    from tqdm import tqdm

    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    note = target.with_name(target.name + ".part.json")
    kept = _kept_version(note, url)
    if part.exists() and (kept is None or not (kept or checked)):
        part.unlink()
    continued = part.exists() and part.stat().st_size > 0
    failures, furthest = 0, _length(part)
    with (
        requests.Session() as session,
        tqdm(
            total=size, initial=furthest, unit="B", unit_scale=True, desc=target.name, disable=not progress, leave=False
        ) as bar,
    ):
        session.headers.update({"User-Agent": f"motionbook/{__version__}", "Accept-Encoding": "identity"})
        while True:
            try:
                _attempt(session, url, target, part, note, size, timeout, bar)
                break
            except (_Broken, requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as e:
                failures = 0 if _length(part) > furthest else failures + 1
                furthest = max(furthest, _length(part))
                if failures >= tries:
                    raise RuntimeError(
                        f"{url}: stopped {failures} times in a row, {furthest:,} bytes are kept in {part}: "
                        f"{_reason(e)}; the same call continues from there"
                    ) from None
                own = getattr(e, "wait", None)
                time.sleep(min(wait * 2 ** max(failures - 1, 0) if own is None else own, _LONGEST_WAIT))
            except requests.TooManyRedirects:
                raise RuntimeError(f"{url}: redirected in circles; try later or fetch the file by hand") from None
            except requests.RequestException as error:
                raise RuntimeError(f"{url}: {_reason(error)}") from None
    part.replace(target)
    note.unlink(missing_ok=True)
    return continued


def _attempt(session, url, target, part, note, size, timeout, bar) -> None:
    """One request; returns when the part is whole, raises _Broken when it is not and a new try makes sense."""
    have = _length(part)
    if size is not None and have == size:
        return
    if size is not None and have > size:
        have = _start_anew(part, note)
    version = _kept_version(note, url)
    headers = {"Range": f"bytes={have}-"} if have else {}
    if have and version:
        headers["If-Range"] = version
    with session.get(url, headers=headers, stream=True, timeout=(min(timeout, 20.0), timeout)) as answer:
        if urlsplit(url).scheme == "https" and urlsplit(answer.url).scheme != "https":
            raise RuntimeError(f"{url}: redirected to an unprotected address, {answer.url}; fetch the file by hand")
        if answer.status_code == 416:
            if _total(answer) == have:
                return
            _start_anew(part, note)
            raise _Broken("the server does not have the rest of the part kept here; starting anew")
        if answer.status_code in _PASSING:
            raise _Broken(f"the server answered {answer.status_code} {answer.reason}", _retry_after(answer))
        if answer.status_code >= 400:
            way = _WAYS.get(answer.status_code, "see 'by hand' in the manifest")
            raise RuntimeError(f"{url}: the server answered {answer.status_code} {answer.reason}; {way}")
        start, total = _where(answer, have)
        if answer.status_code == 206 and version and _validator(answer) not in ("", version):
            _start_anew(part, note)
            raise _Broken("the file changed at its source during the transfer; starting anew")
        if start != have:
            # no Range support, or another version of the file: what is here does not belong to what comes
            have = _start_anew(part, note)
            if start:
                raise _Broken(f"the server sent bytes from {start:,} where {have:,} were asked for")
        _check_announced(answer, url, target, total, size)
        if total is not None:
            bar.total = total
            _check_space(part, total - have)
        write_whole(note, json.dumps({"url": url, "version": _validator(answer)}) + "\n")
        bar.n = have
        bar.refresh()
        _receive(answer, url, part, have, total if size is None else size, bar)
    if total is not None and _length(part) < total:
        raise _Broken(f"the connection ended after {_length(part):,} of {total:,} bytes")
    if size is not None and _length(part) < size:
        raise _Broken(f"the connection ended after {_length(part):,} of {size:,} bytes")


def _receive(answer, url: str, part: Path, have: int, most: int | None, bar) -> None:
    with open(part, "ab") as file:
        for chunk in answer.iter_content(_CHUNK):
            if not have and file.tell() == 0:
                _check_first_bytes(chunk, url)
            if most is not None and file.tell() + len(chunk) > most:
                file.close()
                part.unlink()
                raise ValueError(
                    f"{url}: more than the expected {most:,} bytes came; the file has changed at its source"
                )
            file.write(chunk)
            bar.update(len(chunk))


def _check_announced(answer, url: str, target: Path, total: int | None, size: int | None) -> None:
    kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind == "text/html" and target.suffix.lower() not in (".html", ".htm"):
        raise ValueError(_WEB_PAGE.format(url=url))
    if size is not None and total is not None and total != size:
        raise ValueError(
            f"{url}: expected {size:,} bytes, the server announces {total:,}; the file has changed at its source, "
            "look for a newer version of this project or fetch the file by hand"
        )


_WEB_PAGE = (
    "{url}: a web page came in place of the file (a login, a quota or a network's sign-in page); open the address in a "
    "browser to see it, then try again or fetch the file by hand"
)


def _check_first_bytes(chunk: bytes, url: str) -> None:
    start = chunk[:64].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        raise ValueError(_WEB_PAGE.format(url=url))
    if start.startswith(b"version https://git-lfs.github.com/spec"):
        raise ValueError(f"{url}: a Git LFS pointer came in place of the file; its quota may be used up, try later")


def _check_space(part: Path, more: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if more > free:
        raise OSError(
            errno.ENOSPC, f"{more:,} bytes are to come and {free:,} are free; choose another folder", str(part)
        )


def _where(answer, have: int) -> tuple[int, int | None]:
    """First byte that this answer brings, and the length of the whole file if it is announced."""
    if answer.status_code != 206:
        # of a compressed answer the length is that of the compressed bytes
        length = "" if answer.headers.get("Content-Encoding") else answer.headers.get("Content-Length", "")
        return 0, int(length) if length.isdigit() else None
    first = answer.headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
    return (int(first) if first.isdigit() else have), _total(answer)


def _total(answer) -> int | None:
    total = answer.headers.get("Content-Range", "").rpartition("/")[2]
    return int(total) if total.isdigit() else None


def _validator(answer) -> str:
    """What names this version of the file in If-Range: a strong ETag, else the date, else nothing."""
    tag = answer.headers.get("ETag", "")
    return tag if tag.startswith('"') else answer.headers.get("Last-Modified", "")


def _kept_version(note: Path, url: str) -> str | None:
    """Version that the part kept here belongs to, "" when the server named none; None when it is not this URL's."""
    try:
        kept = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(kept, dict) or kept.get("url") != url:
        return None
    return str(kept.get("version") or "")


def _retry_after(answer) -> float | None:
    seconds = answer.headers.get("Retry-After", "")
    return float(seconds) if seconds.isdigit() else None


def _start_anew(part: Path, note: Path) -> int:
    part.unlink(missing_ok=True)
    note.unlink(missing_ok=True)
    return 0


def _length(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _reason(error: Exception) -> str:
    """The innermost words of a requests error, without its object addresses."""
    cause = error
    while cause.args and isinstance(cause.args[-1], Exception):
        cause = cause.args[-1]
    words = str(getattr(cause, "reason", None) or cause)
    return words.rpartition(": ")[2] if "object at 0x" in words else words

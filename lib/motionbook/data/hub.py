"""Files from the Hugging Face hub, at a pinned commit and checked against the hub's own record."""

from pathlib import Path
from typing import NamedTuple

from motionbook.data.manifests import Source
from motionbook.data.remote import Check, failing_check, inside, manifest_checks, mirrored, wanted


class HubFile(NamedTuple):
    """One fetched file: its path, its checksums, and whether it was there already ("kept") or not ("fetched")."""

    path: str
    checks: tuple[Check, ...]
    action: str


def hub_arguments(source: Source, folder: Path, revision: str, base_url: str | None = None) -> dict:
    """Keywords that ``huggingface_hub.hf_hub_download`` gets for every file of a source.

    Nobody's login is sent: all sources are public, and a mirror has no business with it.
    """
    return {
        "repo_id": source.repo,
        "repo_type": source.repo_type,
        "revision": revision,
        "local_dir": str(folder),
        "endpoint": endpoint(base_url),
        "token": False,
    }


def endpoint(base_url: str | None) -> str | None:
    """The hub's address on a mirror; None for the hub itself (or ``$HF_ENDPOINT``)."""
    return mirrored("https://huggingface.co", base_url) if base_url else None


def fetch_hub(
    source: Source, folder: Path, revision: str | None, *, base_url: str | None = None, progress: bool = True
) -> tuple[str, list[HubFile]]:
    """Download the files of a hub source that match its patterns.

    Parameters
    ----------
    source : Source
    folder : path
    revision : str or None
        Commit to fetch; None takes the newest and the caller records it.

    Returns
    -------
    tuple
        The commit that was fetched, and its files.

    Raises
    ------
    ModuleNotFoundError
        Without huggingface_hub: which extra brings it.
    RuntimeError
        When the hub cannot be reached or does not know the repository or commit.
    ValueError
        When no file matches, or a file does not have the checksum of the record or the manifest.
    """
    try:
        import huggingface_hub
        from huggingface_hub.utils import disable_progress_bars, enable_progress_bars
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"{source.repo} lies on the Hugging Face hub; install its client with: pip install 'motionbook[video]'"
        ) from None
    api = huggingface_hub.HfApi(endpoint=endpoint(base_url), token=False)
    try:
        about = api.repo_info(
            source.repo, repo_type=source.repo_type, revision=revision, files_metadata=True, timeout=60
        )
    except Exception as error:  # its client's network errors share no base class that is public
        raise _refusal(source, revision, error) from error
    commit = about.sha
    entries = {entry.rfilename: entry for entry in about.siblings or []}
    known = {file.path: file for file in source.files}
    missing = [path for path in known if path not in entries]
    chosen = [path for path in sorted(entries) if path in known or wanted(path, source.select)]
    if missing or not chosen:
        there = f"{source.repo} at {commit[:12]}"
        raise ValueError(
            f"{there} has no {', '.join(missing) or ' or '.join(source.select)}; see 'by hand' in its manifest"
        )
    arguments = hub_arguments(source, folder, commit, base_url)
    fetched = []
    if not progress:
        disable_progress_bars()
    try:
        for path in chosen:
            checks = manifest_checks(known[path]) if path in known else ()
            checks += _record_checks(entries[path])
            fetched.append(HubFile(path, checks, _fetch_one(huggingface_hub, source, folder, path, checks, arguments)))
    finally:
        if not progress:
            enable_progress_bars()
    return commit, fetched


def _fetch_one(huggingface_hub, source, folder: Path, path: str, checks, arguments: dict) -> str:
    place = inside(folder, path)
    if place.is_file() and checks and failing_check(place, checks) is None:
        return "kept"
    there = place.is_file()
    for force in (False, True):
        try:
            # the client takes a file for whole that it once fetched, even if it has changed since
            huggingface_hub.hf_hub_download(filename=path, force_download=force or there, **arguments)
        except Exception as error:
            raise _refusal(source, arguments["revision"], error) from error
        failed = failing_check(place, checks)
        if failed is None:
            return "replaced" if there else "fetched"
    check, found = failed
    place.unlink()
    raise ValueError(
        f"{source.repo}/{path}: expected {check.algorithm} {check.value} (by the {check.origin}), got {found}; the "
        "file was removed, try again or see 'by hand' in its manifest"
    )


def _record_checks(entry) -> tuple[Check, ...]:
    """The hub keeps the SHA-256 of large files and git's blob id of small ones."""
    if entry.lfs is not None:
        return (Check("sha256", entry.lfs.sha256, "record"),)
    return (Check("git", entry.blob_id, "record"),) if entry.blob_id else ()


def _refusal(source: Source, revision: str | None, error: Exception) -> RuntimeError:
    words = str(error).strip().splitlines()
    return RuntimeError(
        f"{source.repo} ({source.repo_type}{f' at {revision[:12]}' if revision else ''}) could not be fetched from the "
        f"Hugging Face hub: {type(error).__name__}: {words[0] if words else ''}; try again (what is there is kept) or "
        "see 'by hand' in its manifest"
    )

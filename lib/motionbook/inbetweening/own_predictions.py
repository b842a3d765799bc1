"""A reader's system that answers window by window, scored in the benchmark's tables without running it here.

``write_questions`` leaves one file per fold with what a system may see: context, target pose and bones of every test
window. The reader's program answers with one file per fold, and ``score_predictions`` turns them into rows like those
of ``evaluation.evaluate_folds``.
"""

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from motionbook.inbetweening.baselines import LocalPose
from motionbook.inbetweening.scoring import score_windows
from motionbook.inbetweening.windows import CONTEXT, LENGTHS

QUESTION, ANSWER = "fold{}_windows.npz", "fold{}_predictions.npz"


def write_questions(folder: str | Path, folds: Sequence, lengths: Sequence[int] = LENGTHS) -> list[Path]:
    """Write ``fold<n>_windows.npz`` for every fold of ``evaluation.fold_windows``; nothing of the gaps is in them.

    Each file has, for W windows in the order in which they are scored: ``context_root`` (W, 10, 3) and
    ``context_rotations`` (W, 10, 22, 4) in centimetres and wxyz, the last frame heading along +X; ``target_root_<T>``
    (W, 3) and ``target_rotations_<T>`` (W, 22, 4) for each length T; ``offsets`` (W, 22, 3) and ``parents`` (22,).
    """
    written = []
    for fold in folds:
        windows = fold.windows
        arrays = {
            "context_root": windows.root_positions[:, :CONTEXT],
            "context_rotations": windows.rotations[:, :CONTEXT],
            "offsets": windows.offsets,
            "parents": np.array(windows.skeleton.parents),
        }
        for length in lengths:
            arrays[f"target_root_{length}"] = windows.root_positions[:, CONTEXT + length]
            arrays[f"target_rotations_{length}"] = windows.rotations[:, CONTEXT + length]
        path = Path(folder) / QUESTION.format(fold.number)
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, **arrays)
        written.append(path)
    return written


def score_predictions(folder: str | Path, folds: Sequence, system: str, lengths: Sequence[int] = LENGTHS):
    """Score a reader's answers, one ``fold<n>_predictions.npz`` per fold.

    Parameters
    ----------
    folder : path
        Each file holds ``root_<T>`` (W, T, 3) in centimetres and ``rotations_<T>`` (W, T, 22, 4) for every length T,
        parent-relative, in the windows' own place and heading and in their order.
    folds : sequence of FoldWindows
        From ``evaluation.fold_windows``, the ones that ``write_questions`` was given.
    system : str
        Name of the row.
    lengths : transition lengths in frames

    Returns
    -------
    pandas.DataFrame
        Rows as ``evaluation.evaluate_folds`` gives them; ``pandas.concat`` with those and ``evaluation.summarise``
        make the table with one more row.

    Raises
    ------
    FileNotFoundError, ValueError
        With the file, the array, and what was expected of it.
    """
    import pandas as pd

    rows = []
    for fold in folds:
        path = Path(folder) / ANSWER.format(fold.number)
        answers = _read(path, len(fold.windows), len(fold.windows.skeleton), lengths)
        scores = _score(fold, answers, system, lengths)
        subjects = " ".join(sorted(set(fold.subjects)))
        for length in lengths:
            s = scores[system, length]
            values = (s.l2p.mean(), s.l2q.mean(), s.npss_distance.sum() / s.npss_power.sum())
            for metric, value in zip(("L2P", "L2Q", "NPSS"), values, strict=True):
                rows.append((fold.number, system, length, metric, float(value), len(fold.windows), subjects))
    columns = ["fold", "system", "length", "metric", "value", "n_windows", "subjects"]
    return pd.DataFrame(rows, columns=columns)


def _score(fold, answers: dict, system: str, lengths: Sequence[int]):
    # windows are scored in parts that say which clip and frame they come from, and so does each answer
    places = zip(fold.windows.clips.tolist(), fold.windows.starts.tolist(), strict=True)
    number = {place: i for i, place in enumerate(places)}

    def predict(windows, transition: int) -> LocalPose:
        which = [number[place] for place in zip(windows.clips.tolist(), windows.starts.tolist(), strict=True)]
        root, rotations = answers[transition]
        return LocalPose(root[which], rotations[which])

    return score_windows(fold.windows, fold.std, lengths, {system: predict})


def _read(path: Path, windows: int, joints: int, lengths: Sequence[int]) -> dict[int, tuple]:
    if not path.is_file():
        raise FileNotFoundError(f"{path}: expected the answers to {QUESTION.format('<n>')}, one file for each fold")
    answers = {}
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path.name}: expected an .npz as numpy.savez writes it; this file is none")
    with np.load(path, allow_pickle=False) as file:
        for length in lengths:
            arrays = []
            for name, shape in (
                (f"root_{length}", (windows, length, 3)),
                (f"rotations_{length}", (windows, length, joints, 4)),
            ):
                if name not in file:
                    raise ValueError(f"{path.name}: expected an array {name}, got {', '.join(sorted(file)) or 'none'}")
                try:
                    array = np.asarray(file[name], dtype=np.float64)
                except ValueError as error:
                    raise ValueError(f"{path.name}: {name}: expected numbers, {error}") from None
                if array.shape != shape:
                    raise ValueError(f"{path.name}: {name}: expected shape {shape}, got {array.shape}")
                if not np.isfinite(array).all():
                    bad = int(np.argwhere(~np.isfinite(array))[0][0])
                    raise ValueError(f"{path.name}: {name}: window {bad} holds a number that is not finite")
                arrays.append(array)
            norms = np.linalg.norm(arrays[1], axis=-1)
            if not np.allclose(norms, 1.0, atol=1e-3):
                worst = float(norms.ravel()[np.abs(norms - 1).argmax()])
                raise ValueError(
                    f"{path.name}: rotations_{length}: expected unit quaternions (w, x, y, z), got one of length "
                    f"{worst:.3g}"
                )
            answers[length] = (arrays[0], arrays[1] / norms[..., None])
    return answers

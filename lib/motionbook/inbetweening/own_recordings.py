"""The benchmark on any folder of BVH: one call that reads, puts everything on one skeleton and rate, and scores."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from motionbook.inbetweening.baselines import BASELINES
from motionbook.inbetweening.evaluation import evaluate_folds, published_table, summarise
from motionbook.inbetweening.recordings import Recording
from motionbook.inbetweening.windows import FPS, LENGTHS


def open_folder(folder: str | Path, *, subject_pattern: str | None = None):
    """Recordings on the LaFAN1 skeleton at 30 fps from a folder of BVH, as far as they can be used.

    Parameters
    ----------
    folder : path
        Any layout of ``motionbook.data.layouts.open_dataset``. Other skeletons are retargeted, other frame rates
        resampled, bones that change length held at their mean; nothing is cut out and nothing is smoothed, which is
        what chapter 2 is for.
    subject_pattern : str, optional
        Regular expression with a group ``subject``, for names that do not tell people apart.

    Returns
    -------
    dataset, recordings, skipped
        The ``DataSet``, a tuple of ``Recording``, and a tuple of "file: reason" for those that cannot be used.
    """
    from motionbook.cleaning.retargeting import retarget
    from motionbook.data.layouts import load_clip, open_dataset
    from motionbook.kinematics import constant_bones
    from motionbook.resampling import resample
    from motionbook.skeletons import LAFAN1

    dataset = open_dataset(folder, subject_pattern=subject_pattern)
    recordings, skipped = [], []
    for file in dataset.clips:
        try:
            clip = load_clip(file)
            if clip.skeleton.names != LAFAN1.names:
                clip = retarget(clip, LAFAN1)
            clip = constant_bones(clip) if clip.translations is not None else clip
            clip = resample(clip, FPS) if abs(clip.fps / FPS - 1.0) > 0.01 else clip
        except (ValueError, KeyError) as error:
            skipped.append(f"{file.path.name}: {error.args[0] if error.args else error}")
            continue
        recordings.append(Recording(clip, file.subject, file.group, file.path.stem))
    if not recordings:
        raise ValueError(f"{folder}: none of {len(dataset.clips)} files can be used; {'; '.join(skipped[:3])}")
    return dataset, tuple(recordings), tuple(skipped)


def evaluate_folder(
    folder: str | Path,
    *,
    subset: str | None = None,
    folds: Sequence[Mapping] | None = None,
    lengths: Sequence[int] = LENGTHS,
    systems: Mapping = BASELINES,
    subject_pattern: str | None = None,
    seed: int = 0,
):
    """The benchmark's table on a folder of BVH.

    Parameters
    ----------
    folder, subject_pattern
        See ``open_folder``.
    subset : str, optional
        The group to score; without it all clips together.
    folds : sequence of mappings, optional
        With "train" and "test"; without them those that the data set brings or five drawn over its people.
    lengths, systems
        See ``evaluation.evaluate_folds``; a reader's own predictor is one more entry of ``systems``.
    seed : int
        Of the folds.

    Returns
    -------
    pandas.DataFrame
        As ``evaluation.published_table``; ``attrs["note"]`` says what was read, changed and left out.
    """
    from motionbook.data.splits import dataset_folds

    dataset, recordings, skipped = open_folder(folder, subject_pattern=subject_pattern)
    if subset is None:
        subset, groups = "all", sorted({r.group for r in recordings})
        recordings = tuple(r._replace(group="all") for r in recordings)
    else:
        groups = [subset]
    notes = [f"{dataset.label}: {len(recordings)} clips ({', '.join(groups)})", dataset.fps_note]
    if folds is None:
        drawn, words = dataset_folds(dataset, seed=seed)
        folds = [fold._asdict() for fold in drawn]
        notes += words
    if skipped:
        notes.append(f"left out: {'; '.join(skipped[:5])}" + (f" and {len(skipped) - 5} more" if skipped[5:] else ""))
    table = published_table(summarise(evaluate_folds(recordings, subset, folds, lengths, systems)))
    table.attrs["note"] = " ".join(f"{note.rstrip('.')}." for note in notes if note)
    return table

"""Every distorted performance of a set of sources, and its features."""

from functools import partial

from motionbook.clip import Clip
from motionbook.parallel import map_jobs
from motionbook.quality.body import make_surface, move_surface
from motionbook.quality.distortion import STRENGTHS, distort
from motionbook.quality.features import FEATURES, Performance, features, prepare


def features_of_source(named_clip: tuple[str, Clip], *, vertices: int, frame_step: int, seed: int) -> list[tuple]:
    """Rows (stimulus, source, distortion, strength, F1..F7) of the 30 distortions of one named clip."""
    name, clip = named_clip
    surface = make_surface(clip.skeleton, vertices)
    reference = Performance(move_surface(surface, clip), clip)
    prepared = prepare(reference, frame_step)
    rows = []
    for kind in STRENGTHS:
        for level in range(1, 6):
            distorted = distort(clip, kind, level, seed + level).clip
            generated = Performance(move_surface(surface, distorted), distorted)
            values = features(reference, generated, frame_step=frame_step, prepared=prepared)
            rows.append((f"{name}_{kind}_{level}", name, kind, level, *(values[f] for f in FEATURES)))
    return rows


def feature_table(sources: dict[str, Clip], *, vertices: int, frame_step: int, seed: int = 0):
    """Features of all distortions of all sources, one row per stimulus, as a data frame indexed by ``stimulus``.

    Parameters
    ----------
    sources : dict of name -> Clip
    vertices : int
        Of each person's surface.
    frame_step : int
        Every how many frames surfaces are compared.
    seed : int
    """
    import pandas as pd

    make = partial(features_of_source, vertices=vertices, frame_step=frame_step, seed=seed)
    rows = [row for part in map_jobs(make, sources.items(), describe="sources") for row in part]
    return pd.DataFrame(rows, columns=["stimulus", "source", "distortion", "strength", *FEATURES]).set_index("stimulus")

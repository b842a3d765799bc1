"""How far a ranking hangs on what a tie and a clear preference are taken to be worth."""

import numpy as np

from motionbook.perception.sandwich import sandwich
from motionbook.perception.scales import FIVE, Scale

# worth of a clear preference in slight ones, and of a tie (to either side) in slight preferences
CLEAR = (1.0, 1.5, 2.0, 3.0, 4.0)
TIES = (0.0, 0.25, 0.5, 1.0)


def weight_sensitivity(responses, scale: Scale = FIVE, *, clear=CLEAR, ties=TIES, pseudo: float = 0.0):
    """Elo scores under other weights: the growth from grade to grade varied with the tie as it is, and the tie alone.

    With growth g, grade k weighs g^(k - 1) times a slight preference; the published weights are growth 2 and a tie of
    half a slight preference. A common factor of all weights changes nothing.

    Returns
    -------
    pandas.DataFrame
        ``varied`` ("growth" or "tie"), ``value``, ``system``, ``elo``, ``sd`` (sandwich over people), ``own`` (the
        study's own weights), long form. Nothing but the study's own row when its scale has a single grade and no tie.
    """
    import pandas as pd

    weights = scale.weights
    slight = weights.get(1, 1.0) or 1.0
    tie = weights.get(0)
    sizes = [size for size in weights if size > 0]
    growth = (weights[max(sizes)] / slight) ** (1 / (max(sizes) - 1)) if max(sizes) > 1 else 1.0
    trials = []
    if max(sizes) > 1:
        for value in sorted({*clear, growth}):
            changed = {size: slight * value ** (size - 1) for size in sizes}
            trials.append(("growth", value, value == growth, changed | ({} if tie is None else {0: tie})))
    if tie is not None:
        for value in sorted({*ties, tie / slight}):
            trials.append(("tie", value, value == tie / slight, weights | {0: value * slight}))
    if not trials:
        trials = [("none", np.nan, True, weights)]
    frames = []
    for varied, value, own, changed in trials:
        frame = sandwich(responses, weights=changed, pseudo=pseudo).frame().reset_index()
        frames.append(frame.assign(varied=varied, value=value, own=own))
    return pd.concat(frames, ignore_index=True)[["varied", "value", "system", "elo", "sd", "own"]]

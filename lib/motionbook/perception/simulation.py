"""What simulated raters are told: a latent quality for every clip, from what was measured on its video.

An assumption, not a finding: a viewer is taken to dislike motion whose pace or smoothness departs from the ground
truth's, in either direction and in proportion (on a log scale). Rankings that come out of it show that the analysis
works; they say nothing about people.
"""

import numpy as np

# diagnostic -> units of the rater's noise per factor of e between a clip and the ground truth
WEIGHTS = {"angle_speed": 0.2, "angle_jerk": 0.4, "centroid_accel": 0.2}


def latent_quality(diagnostics, *, reference: str = "GT"):
    """Latent quality (clips, systems), 0 for the reference and below for all that departs from it.

    Parameters
    ----------
    diagnostics : data frame
        One row per clip and system with the columns ``clip``, ``system`` and those of ``WEIGHTS``.
    reference : str
        The system that counts as the recorded person.

    Raises
    ------
    ValueError
        When a column, the reference or a clip of some system is missing.
    """
    missing = [name for name in ("clip", "system", *WEIGHTS) if name not in diagnostics]
    if missing:
        raise ValueError(f"diagnostics: no column {', '.join(missing)}; it has {', '.join(diagnostics.columns)}")
    total = 0.0
    for name, weight in WEIGHTS.items():
        table = diagnostics.pivot(index="clip", columns="system", values=name)
        if reference not in table or table.isna().any(axis=None):
            raise ValueError(f"diagnostics: every clip needs a {name} for {reference} and every other system")
        # a floor keeps a frozen clip's zero finite: a hundredth of the reference is as still as a viewer can tell
        floor = 0.01 * table[reference].clip(lower=1e-9)
        ratio = table.clip(lower=floor, axis=0).div(table[reference].clip(lower=1e-9), axis=0)
        total = total - weight * np.abs(np.log(ratio))
    return total

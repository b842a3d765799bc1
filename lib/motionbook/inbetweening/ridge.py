"""Ridge regression to the residual over the geodesic: the least that a system which learns should beat.

Each of the 69 numbers of the residual is predicted from what the same number did before the gap and where it must get
to: seven inputs, a few half sines over time, one linear map per number and transition length. It is fitted on windows
divided by how much the person moves in them, and without a constant: half the motion gives half the residual, and a
person who stands still is not moved. How strongly large weights are punished is chosen on the validation people.

What did not work as well on nine people's recorded idle motion: inputs of the whole body for every number (the gain
over SLERP in L2P falls from 40, 27, 25 and 25 % to 35, 21, 18 and 18 %), and with them the pose, a constant and windows
that are not divided by their motion (to 19, 11, 10 and 12 %, for the liveliest people decide).
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from motionbook.inbetweening import residual as res
from motionbook.inbetweening.baselines import LocalPose
from motionbook.inbetweening.recordings import Recording
from motionbook.inbetweening.windows import Windows

PENALTIES = 10.0 ** np.arange(-6, 1.5, 0.5)
OFFSET = 4  # frames between training windows
_SMALLEST = 1e-6  # scale of an input that never varies


class Examples(NamedTuple):
    """Windows as a regression sees them, divided by their motion size.

    Inputs (groups, windows, inputs) and outputs (groups, windows, waves); a group is fitted on its own.
    """

    inputs: np.ndarray
    outputs: np.ndarray


class LinearMaps(NamedTuple):
    """What ridge regression found for one transition length.

    Attributes
    ----------
    weights : (groups, inputs, waves)
    penalty : float
    """

    weights: np.ndarray
    penalty: float


def ridge_learner(
    penalties: Sequence[float] = PENALTIES, offset: int = OFFSET, whole_body: bool = False
) -> Callable[..., Callable]:
    """A learner for ``evaluation``; the maps of a transition length are fitted when it is first asked for.

    Parameters
    ----------
    penalties : sequence of float
        To choose from, per window and unit of input. Without validation people the middle one is taken.
    offset : int
        Frames between training windows.
    whole_body : bool
        Let every number of the residual see the motion of all 69.
    """

    def learner(train: Sequence[Recording], validation: Sequence[Recording] = (), *, seed: int = 0):
        @cache
        def fitted(transition: int) -> LinearMaps:
            parts = (res.training_windows(r, transition, offset) for r in (train, validation))
            known, checked = (examples(w, transition, whole_body) for w in parts)
            return fit(known, checked, penalties)

        def predict(windows: Windows, transition: int) -> LocalPose:
            inputs = inputs_of(windows, transition, whole_body)
            return pose_of(windows, transition, inputs @ fitted(transition).weights)

        return predict

    return learner


def examples(windows: Windows, transition: int, whole_body: bool = False) -> Examples:
    """Inputs and outputs of windows whose gap is known."""
    waves = res.time_waves(transition).T @ res.residual(windows, transition)
    outputs = np.moveaxis(waves / res.motion_size(windows, transition)[:, None, None], 2, 0)
    if whole_body:
        outputs = np.moveaxis(outputs, 0, 1).reshape(1, len(windows), res.SIZE * outputs.shape[2])
    return Examples(inputs_of(windows, transition, whole_body), outputs)


def inputs_of(windows: Windows, transition: int, whole_body: bool = False) -> np.ndarray:
    """Motion features over motion size: (69, windows, 7), or (1, windows, 483) of the whole body."""
    inputs = res.motion_features(windows, transition) / res.motion_size(windows, transition)[:, None]
    return inputs[None] if whole_body else np.moveaxis(inputs.reshape(len(windows), 7, res.SIZE), 2, 0)


def pose_of(windows: Windows, transition: int, outputs) -> LocalPose:
    """The frames that outputs (groups, windows, waves) stand for."""
    if len(outputs) == 1:
        waves = outputs[0].reshape(len(windows), res.SIZE, outputs.shape[2] // res.SIZE)
    else:
        waves = np.moveaxis(outputs, 0, 1)
    waves = waves * res.motion_size(windows, transition)[:, None, None]
    return res.apply_residual(windows, transition, res.time_waves(transition) @ np.swapaxes(waves, 1, 2))


def fit(known: Examples, checked: Examples, penalties: Sequence[float] = PENALTIES) -> LinearMaps:
    """Least squares with the penalty that gives the smallest mean length of error on ``checked``.

    Raises
    ------
    ValueError
        Without a training window.
    """
    count = known.inputs.shape[1]
    if not count:
        raise ValueError("ridge: no training clip is long enough for this transition; give longer recordings")
    penalties = np.sort(penalties)
    scale = np.maximum(np.sqrt((known.inputs**2).mean(axis=1, keepdims=True)), _SMALLEST)
    x = known.inputs / scale
    transposed = np.swapaxes(x, 1, 2)
    # all penalties share one decomposition of the inputs
    powers, axes = np.linalg.eigh(transposed @ x)
    powers, along = np.maximum(powers, 0.0)[..., None], np.swapaxes(axes, 1, 2) @ (transposed @ known.outputs)

    def weights(penalty: float) -> np.ndarray:
        return axes @ (along / (powers + penalty * count)) / np.swapaxes(scale, 1, 2)

    best = penalties[len(penalties) // 2]
    if checked.inputs.shape[1]:
        left = (checked.outputs - checked.inputs @ weights(p) for p in penalties)
        best = penalties[int(np.argmin([np.sqrt((e**2).sum(axis=(0, 2))).mean() for e in left]))]
    return LinearMaps(weights(best), float(best))

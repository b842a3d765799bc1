"""L2P, L2Q and NPSS as the published evaluators compute them, in float64.

All three look at the predicted frames only and compare world places and world rotations. The rotations are taken with
w >= 0 in the window's first frame (not the first predicted one, which would change L2Q by 34 to 240 %) and then with
signs continuous in time, for the truth and for the prediction on its own (``continuous_signs``).

Sources: Harvey et al. 2020 (L2P, L2Q); Gopalakrishnan et al. 2019 (NPSS); Qin et al. 2022 for what their code does.
"""

from typing import NamedTuple

import numpy as np

SPECTRA = ("real part", "power", "one-sided")


class NpssTerms(NamedTuple):
    """Per window (windows,): the power-weighted distances between the spectra, and the power they are weighted by."""

    distance: np.ndarray
    power: np.ndarray


def l2p(truth, prediction, std, *, per_window: bool = False):
    """Mean length of the error of all joint places together, each coordinate in units of its standard deviation.

    Parameters
    ----------
    truth, prediction : (windows, frames, joints, 3)
        World places of the predicted frames, in the unit of ``std``. Only differences count, so the mean that a
        z-score subtracts does not appear.
    std : (joints, 3)
        Of the training data, see ``evaluation.position_statistics``.
    per_window : bool
        Return (windows,) instead of their mean.
    """
    error = (np.asarray(truth) - prediction) / std
    scores = _lengths(error).mean(axis=-1)
    return scores if per_window else float(scores.mean())


def l2q(truth, prediction, *, aligned: bool = False, per_window: bool = False):
    """Mean length of the difference of all world quaternions together (the seed paper also calls it L2R).

    Parameters
    ----------
    truth, prediction : (windows, frames, joints, 4)
        World rotations of the predicted frames with signs from ``continuous_signs``.
    aligned : bool
        Give each predicted quaternion the sign of the true one first. Published numbers do not: truth and prediction
        get their signs separately, and where these differ a small error counts as nearly 2. An extra, not comparable.
    per_window : bool
        Return (windows,) instead of their mean.
    """
    truth, prediction = np.asarray(truth), np.asarray(prediction)
    if aligned:
        prediction = np.where(_dot(truth, prediction)[..., None] < 0, -prediction, prediction)
    scores = _lengths(truth - prediction).mean(axis=-1)
    return scores if per_window else float(scores.mean())


def npss(truth, prediction, *, spectrum: str = "real part", per_window: bool = False):
    """Normalised power spectrum similarity: the distance between spectra over time, weighted by the truth's power.

    Parameters
    ----------
    truth, prediction : (windows, frames, joints, 4)
        As for ``l2q``.
    spectrum : one of ``SPECTRA``
        See ``npss_terms``.
    per_window : bool
        Return each window's share (windows,); the shares add up to the NPSS.

    Notes
    -----
    The weights are global: the NPSS of a set is not the mean of the NPSS of its windows.
    """
    terms = npss_terms(truth, prediction, spectrum)
    shares = terms.distance / terms.power.sum()
    return shares if per_window else float(shares.sum())


def npss_terms(truth, prediction, spectrum: str = "real part") -> NpssTerms:
    """Numerator and denominator of the NPSS by window, so that large sets can be added up in parts.

    Parameters
    ----------
    truth, prediction : (windows, frames, joints, 4)
    spectrum : one of ``SPECTRA``
        "real part": the "power" of the published code, the squared REAL part of the Fourier transform over all
        frequencies. Kept as the default, since no other number is comparable. "power": the squared modulus, about twice
        the value on real data. "one-sided": the squared modulus of the frequencies up to the middle, each once, much
        smaller: the far end of the full spectrum, where a distance counts most, repeats the near one.

    Notes
    -----
    A spectrum whose sum is below 1e-8 counts as zero. In float32 that guard turns rounding into distance, hence
    float64.
    """
    return spectral_distance(*(normalised_spectrum(q, spectrum) for q in (truth, prediction)))


class Spectrum(NamedTuple):
    """Spectra of all quaternion components over time, components first.

    Attributes
    ----------
    shares : (frequencies, 4, joints, windows)
        Of the total, at the frequencies from zero to the middle.
    total : (4, joints, windows)
    steps : tuple of int
        Which of the frequencies held follow each other along the whole spectrum.
    """

    shares: np.ndarray
    total: np.ndarray
    steps: tuple[int, ...]


def normalised_spectrum(rotations, spectrum: str = "real part") -> Spectrum:
    """What ``npss_terms`` needs of one side, so that a truth is transformed once for many predictions."""
    if spectrum not in SPECTRA:
        raise KeyError(f"no spectrum {spectrum!r}; there are {', '.join(SPECTRA)}")
    frames = np.shape(rotations)[1]
    power = _power(rotations, frames, squared_modulus=spectrum != "real part")
    # frequency k stands for frames - k as well, so only the first half is held
    steps = range(len(power)) if spectrum == "one-sided" else [min(k, frames - k) for k in range(frames)]
    total = np.tensordot(np.bincount(steps).astype(float), power, 1)
    power *= _reciprocal(total)
    return Spectrum(power, total, tuple(steps))


def spectral_distance(truth: Spectrum, prediction: Spectrum) -> NpssTerms:
    """``npss_terms`` of two spectra of the same kind."""
    difference = prediction.shares - truth.shares
    running, distance = np.zeros_like(truth.total), np.zeros_like(truth.total)
    for step in truth.steps:  # a cumulative sum with whole arrays in each step
        running += difference[step]
        distance += np.abs(running)
    return NpssTerms((distance * truth.total).sum(axis=(0, 1)), truth.total.sum(axis=(0, 1)))


def continuous_signs(rotations, before=None) -> np.ndarray:
    """The same rotations with signs that do not jump from frame to frame.

    Parameters
    ----------
    rotations : (windows, frames, joints, 4)
    before : (windows, joints, 4), optional
        The frame before the first, already with its sign. Without it the first frame gets w >= 0.
    """
    q = np.asarray(rotations)
    flips = np.empty(q.shape[:-1], dtype=bool)
    flips[:, 0] = q[:, 0, :, 0] < 0 if before is None else _dot(q[:, 0], before) < 0
    flips[:, 1:] = _dot(q[:, 1:], q[:, :-1]) < 0
    signs = np.where(np.logical_xor.accumulate(flips, axis=1), -1.0, 1.0)
    return q * signs[..., None]


def _dot(a, b):
    # four products of whole arrays: several times faster than a sum over an axis of four
    return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + a[..., 2] * b[..., 2] + a[..., 3] * b[..., 3]


def _lengths(error):
    """Euclidean length over joints and coordinates together, (windows, frames)."""
    return np.sqrt(np.einsum("wfjc,wfjc->wf", error, error))


def _power(rotations, frames: int, squared_modulus: bool):
    """Squared real part (or modulus) of the Fourier transform over time, (frequencies up to the middle, 4, joints,
    windows)."""
    # the real part is a product with cosines, the imaginary one with sines
    steps = 2 * np.pi / frames * (np.outer(np.arange(frames // 2 + 1), np.arange(frames)) % frames)
    q = np.moveaxis(np.asarray(rotations, dtype=np.float64), (-1, -2), (0, 1))
    flat = np.ascontiguousarray(q).reshape(-1, frames).T
    real = np.cos(steps) @ flat
    power = real * real
    if squared_modulus:
        power += (np.sin(steps) @ flat) ** 2
    return power.reshape(-1, *q.shape[:-1])


def _reciprocal(total):
    usable = total >= 1e-8
    return np.where(usable, 1.0 / np.where(usable, total, 1.0), 0.0)

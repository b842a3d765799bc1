"""How smooth a movement is: the log dimensionless jerk, whatever way its derivatives were taken."""

import numpy as np


def log_dimensionless(jerk_integral, length, duration: float, shortest: float) -> np.ndarray:
    """LDLJ (...): -ln(T^5 / L^2 integral of squared jerk); higher is smoother.

    Hogan and Sternad (2009) make jerk free of units with the duration T and the length L of the movement;
    Balasubramanian et al. (2012) take the logarithm. A minimum-jerk movement from rest to rest has -ln 720.

    Parameters
    ----------
    jerk_integral : (...) array
        Squared jerk integrated over time, m^2/s^5.
    length : (...) array
        Of the path, metres.
    duration : float
        Seconds.
    shortest : float
        Metres; NaN for paths that are no longer, whose jerk is noise about a rest.
    """
    jerk_integral, length = np.asarray(jerk_integral), np.asarray(length)
    moving = (length > shortest) & (jerk_integral > 0)
    inside = np.where(moving, jerk_integral, 1.0), np.where(moving, length, 1.0)
    return np.where(moving, -np.log(duration**5 * inside[0] / inside[1] ** 2), np.nan)

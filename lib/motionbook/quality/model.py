"""4DHumanQA's measure: a linear model from the seven features to the mean opinion score (section VI-C)."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from motionbook.files import write_whole


@dataclass(frozen=True)
class QualityModel:
    """M = intercept + sum of weights x (features - means) / scales, on the study's scale of 1 to 5.

    The paper's Eq. 21 has no intercept and its printed weights do not reach the scale on features in metres; the
    intercept and the standardisation are ours and are kept in the model. ``ridge`` is what ``fit`` was given.
    """

    names: tuple[str, ...]
    weights: tuple[float, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    intercept: float
    ridge: float = 0.0

    def predict(self, values) -> np.ndarray:
        """Predicted scores (stimuli,) of a data frame or (stimuli, features) array in the order of ``names``."""
        values = np.asarray(values[list(self.names)] if hasattr(values, "columns") else values, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(self.names):
            raise ValueError(f"values: expected (stimuli, {len(self.names)}), got {values.shape}")
        return self.intercept + (values - self.means) / self.scales @ np.array(self.weights)

    def save(self, path: str | Path) -> Path:
        """Write as JSON."""
        return write_whole(path, json.dumps(asdict(self), indent=1) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> "QualityModel":
        """Read what ``save`` wrote."""
        fields = json.loads(Path(path).read_text())
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()})


# The chapter's penalty: a small constant, not tuned on any scores.
RIDGE = 0.01


def fit(values, scores, *, ridge: float = 0.0) -> QualityModel:
    """Least squares with an intercept on standardised features.

    Parameters
    ----------
    values : data frame (stimuli, features)
    scores : (stimuli,)
        Mean opinion scores.
    ridge : float
        Penalty on the mean squared error per squared weight. The default, 0, is ordinary least squares, as in the
        paper. F4 and F7 nearly coincide, so few sources leave their difference free to take any weight; a small
        penalty such as ``RIDGE`` keeps predictions for other sources within the scale.

    Raises
    ------
    ValueError
        Too few stimuli, or a negative ridge.
    """
    x, y = values.to_numpy(dtype=np.float64), np.asarray(scores, dtype=np.float64)
    if len(x) != len(y) or len(x) <= x.shape[1]:
        raise ValueError(f"expected more stimuli than features and a score for each, got {x.shape} and {y.shape}")
    if not ridge >= 0:
        raise ValueError(f"ridge: expected 0 or more, got {ridge}")
    means, scales = x.mean(0), x.std(0)
    scales = np.where(scales > 0, scales, 1.0)
    design, target = (x - means) / scales, y - y.mean()
    if ridge:  # the penalty as further rows, one a feature
        design = np.vstack([design, np.sqrt(ridge * len(x)) * np.eye(x.shape[1])])
        target = np.concatenate([target, np.zeros(x.shape[1])])
    # of equally good solutions the smallest is taken
    weights = np.linalg.lstsq(design, target, rcond=1e-10)[0]
    # the last digits depend on how many threads the sums were split over
    weights = weights.round(9)
    return QualityModel(
        tuple(values.columns),
        *(tuple(map(float, part)) for part in (weights, means, scales)),
        float(y.mean()),
        float(ridge),
    )


def judge(predicted, scores) -> dict[str, float]:
    """MSE, PLCC and SROCC with their p-values (Table III of the paper)."""
    from scipy import stats

    predicted, scores = np.asarray(predicted, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    linear, ranked = stats.pearsonr(predicted, scores), stats.spearmanr(predicted, scores)
    return {
        "Mean squared error": float(np.mean((predicted - scores) ** 2)),
        "PLCC": float(linear.statistic),
        "PLCC p-value": float(linear.pvalue),
        "SROCC": float(ranked.statistic),
        "SROCC p-value": float(ranked.pvalue),
    }

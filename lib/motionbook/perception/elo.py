"""Bradley-Terry strengths on the Elo scale from graded pairwise answers, with a bootstrap over people.

StayStill, section 4.3.3: a tie gives one win to either side, a slight preference two, a clear one four; strengths are
fitted by maximum likelihood and put on a scale of base 10, 400 points, mean 1000 over the systems.
"""

import numpy as np

SCALE = 400.0 / np.log(10.0)
CENTRE = 1000.0
WEIGHTS = {0: 1.0, 1: 2.0, 2: 4.0}


def systems_of(answers) -> list[str]:
    """The systems compared, sorted; ValueError when columns or answers are missing or a choice is none of the five."""
    if missing := [name for name in ("userID", "left", "right", "choice") if name not in answers]:
        raise ValueError(f"responses: no column {', '.join(missing)}; it has {', '.join(map(str, answers.columns))}")
    if not len(answers):
        raise ValueError("responses: expected scored answers, got none; see the flow of perception.exclude")
    if not answers.choice.isin([-2, -1, 0, 1, 2]).all():
        wrong = answers.choice[~answers.choice.isin([-2, -1, 0, 1, 2])].iloc[0]
        raise ValueError(f"responses: choice must be -2, -1, 0, 1 or 2, got {wrong}")
    return sorted(set(answers.left) | set(answers.right))


def wins_by_user(answers, systems: list[str]) -> tuple[list[str], np.ndarray]:
    """Users, sorted, and their weighted wins (users, systems, systems): row over column.

    Raises
    ------
    ValueError
        When a pair sets a system against itself.
    """
    users = sorted(answers.userID.unique())
    place = {name: i for i, name in enumerate(systems)}
    user = np.searchsorted(users, answers.userID.to_numpy())
    left, right = answers.left.map(place).to_numpy(), answers.right.map(place).to_numpy()
    if (left == right).any():
        raise ValueError(f"{int((left == right).sum())} answers compare a system with itself; a pair needs two systems")
    choice = answers.choice.to_numpy().astype(int)
    weight = np.array([WEIGHTS[0], WEIGHTS[1], WEIGHTS[2]])[np.abs(choice)]
    wins = np.zeros((len(users), len(systems), len(systems)))
    for_left, for_right = choice <= 0, choice >= 0
    np.add.at(wins, (user[for_left], left[for_left], right[for_left]), weight[for_left])
    np.add.at(wins, (user[for_right], right[for_right], left[for_right]), weight[for_right])
    return users, wins


def is_connected(wins) -> np.ndarray:
    """Whether every system beats every other directly or through others (...); without that no maximum exists."""
    reach = (np.asarray(wins) > 0) | np.eye(np.shape(wins)[-1], dtype=bool)
    for _ in range(int(np.ceil(np.log2(max(reach.shape[-1], 2))))):
        reach = np.matmul(reach.astype(np.float64), reach.astype(np.float64)) > 0
    return reach.all(axis=(-1, -2))


def elo_from_wins(wins, *, tolerance: float = 1e-12, steps: int = 100) -> np.ndarray:
    """Elo scores (..., systems) of weighted win matrices (..., systems, systems), all matrices at once by Newton steps.

    Matrices whose systems are not connected give NaN.

    Raises
    ------
    RuntimeError
        When the steps do not settle, with their number and the last change.
    """
    wins = np.asarray(wins, dtype=np.float64)
    count = wins.shape[-1]
    connected = is_connected(wins)
    # a stand-in keeps the batch rectangular; its result is thrown away below
    safe = np.where(connected[..., None, None], wins, 1.0 - np.eye(count))
    total = safe + np.swapaxes(safe, -1, -2)
    strength = np.zeros(wins.shape[:-1])
    diagonal = np.arange(count)
    for _ in range(steps):
        expected = 1.0 / (1.0 + np.exp(strength[..., None, :] - strength[..., :, None]))
        gradient = (safe - total * expected).sum(-1)
        curvature = total * expected * (1.0 - expected)
        hessian = -curvature
        hessian[..., diagonal, diagonal] += curvature.sum(-1)
        # the likelihood does not fix the mean; a constant matrix pins it without touching differences
        change = np.linalg.solve(hessian + 1.0 / count, gradient[..., None])[..., 0]
        # far from the maximum a full step overshoots, two logits is the most that is safe
        change = np.clip(change, -2.0, 2.0)
        strength += change
        if np.abs(change).max(initial=0.0) < tolerance:
            break
    else:
        raise RuntimeError(f"elo_from_wins: {steps} Newton steps, last change {np.abs(change).max():.3g} logits")
    strength -= strength.mean(-1, keepdims=True)
    return np.where(connected[..., None], CENTRE + SCALE * strength, np.nan)


def win_rate_from_wins(wins) -> np.ndarray:
    """Share of its weighted comparisons that a system wins (..., systems), ties split."""
    won, lost = np.asarray(wins).sum(-1), np.asarray(wins).sum(-2)
    with np.errstate(invalid="ignore"):
        return won / (won + lost)


def fit_elo(responses):
    """Elo and win rate of every system.

    Parameters
    ----------
    responses : data frame
        Scored answers (``exclude(...).answers``): userID, left, right, choice.

    Returns
    -------
    pandas.DataFrame
        By system, best first: ``appearances``, ``elo``, ``win_rate``.

    Raises
    ------
    ValueError
        When the answers do not connect all systems: some never lose, or never meet the others.
    """
    import pandas as pd

    systems = systems_of(responses)
    wins = wins_by_user(responses, systems)[1].sum(0)
    if not is_connected(wins):
        raise ValueError(
            f"the answers do not connect {', '.join(systems)}: some of them never win, never lose or never meet the "
            "rest, so no scores exist; collect more answers or leave those systems out"
        )
    shown = pd.concat([responses.left, responses.right]).value_counts()
    frame = pd.DataFrame(
        {
            "appearances": [int(shown[name]) for name in systems],
            "elo": elo_from_wins(wins),
            "win_rate": win_rate_from_wins(wins),
        },
        index=pd.Index(systems, name="system"),
    )
    return frame.sort_values("elo", ascending=False)


def bootstrap_elo(responses, n: int = 10_000, seed: int = 0, *, user_counts=None):
    """Elo scores and win rates of n resamples of people, each with all of that person's answers.

    Parameters
    ----------
    responses : data frame
        As for ``fit_elo``.
    n, seed : int
    user_counts : (n, users) array, optional
        How often each user (sorted) was drawn, in place of drawing them here.

    Returns
    -------
    (elo, win_rate) : two data frames (n rows, one column per system)
        NaN in resamples whose answers do not connect all systems.
    """
    import pandas as pd

    systems = systems_of(responses)
    users, wins = wins_by_user(responses, systems)
    if user_counts is None:
        user_counts = np.random.default_rng(seed).multinomial(len(users), np.full(len(users), 1 / len(users)), size=n)
    counts = np.asarray(user_counts, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[1] != len(users):
        raise ValueError(f"user_counts: expected (n, {len(users)}), one column per user, got {counts.shape}")
    resampled = (counts @ wins.reshape(len(users), -1)).reshape(len(counts), len(systems), len(systems))
    elo, rate = elo_from_wins(resampled), win_rate_from_wins(resampled)
    return pd.DataFrame(elo, columns=systems), pd.DataFrame(rate, columns=systems)


def pair_differences(elo, resampled):
    """Elo difference of every pair of systems with its 95 % bootstrap interval.

    Parameters
    ----------
    elo : series by system
    resampled : data frame
        Elo scores of resamples from ``bootstrap_elo``.

    Returns
    -------
    pandas.DataFrame
        By pair "A - B": ``difference``, ``low``, ``high``, ``significant`` (zero lies outside).
    """
    import pandas as pd

    rows = {}
    for i, a in enumerate(elo.index):
        for b in elo.index[i + 1 :]:
            low, high = np.nanpercentile(resampled[a] - resampled[b], [2.5, 97.5])
            rows[f"{a} - {b}"] = (elo[a] - elo[b], low, high, bool(low > 0 or high < 0))
    return pd.DataFrame.from_dict(rows, orient="index", columns=["difference", "low", "high", "significant"])

"""Whether answers determine all scores: systems that never lose, never win or never meet the others have none.

A maximum of the Bradley-Terry likelihood exists when, along wins, every system leads to every other (Ford 1957). Where
it does not, the way out is to ask for more answers, to leave systems out, or to add a small pseudo-count to either side
of every pair that was shown, which is a choice of the analyst's and has to be reported as one.
"""

import numpy as np

from motionbook.perception.votes import WEIGHTS, shown_pairs, total_wins, votes_of


def is_connected(wins) -> np.ndarray:
    """Whether every system beats every other directly or through others (...); without that no maximum exists."""
    wins = np.asarray(wins)
    count = wins.shape[-1]
    reach = ((wins > 0) | np.eye(count, dtype=bool)).reshape(-1, count, count)
    connected = reach.all(axis=(-1, -2))
    open_ones = np.flatnonzero(~connected)
    for _ in range(int(np.ceil(np.log2(max(count, 2))))):
        if not len(open_ones):
            break
        step = reach[open_ones].astype(np.float32)
        reach[open_ones] = np.matmul(step, step) > 0
        connected[open_ones] = reach[open_ones].all(axis=(-1, -2))
        open_ones = open_ones[~connected[open_ones]]
    return connected.reshape(wins.shape[:-2])[()]


def groups_of(wins) -> np.ndarray:
    """Number of the group of each system (systems,): in a group everyone leads to everyone along wins."""
    from scipy.sparse import csgraph, csr_matrix

    links = csr_matrix(np.asarray(wins) > 0)
    return csgraph.connected_components(links, directed=True, connection="strong")[1]


def connectivity(responses, weights=WEIGHTS):
    """How each system is tied to the others.

    Returns
    -------
    pandas.DataFrame
        By system: ``answers``, ``opponents`` met, ``beaten`` and ``lost_to`` (how many of them, ties counting as both),
        ``group`` (systems of one group can be compared with each other) and ``problem``, empty when there is none.
    """
    import pandas as pd

    votes = votes_of(responses, weights)
    wins, shown = total_wins(votes, weights), shown_pairs(votes)
    shown = shown + shown.T
    groups = groups_of(wins)
    together = _weak_groups(shown)
    problems = []
    for i in range(len(votes.systems)):
        if (groups == groups[i]).all():
            problem = ""
        elif not (together == together[i]).all():
            problem = "never meets, even through others, " + _names(votes.systems, together != together[i])
        elif (groups == groups[i]).sum() == 1 and not wins[:, i].any():
            problem = "never loses"
        elif (groups == groups[i]).sum() == 1 and not wins[i].any():
            problem = "never wins"
        else:
            ours, theirs = groups == groups[i], groups != groups[i]
            lost, won = wins[np.ix_(theirs, ours)].any(), wins[np.ix_(ours, theirs)].any()
            side = "never loses to" if won and not lost else "never beats" if lost and not won else "stands between"
            problem = f"with {_names(votes.systems, ours, i)} {side} the others" if ours.sum() > 1 else f"{side} others"
        problems.append(problem)
    frame = {
        "answers": shown.sum(1),
        "opponents": (shown > 0).sum(1),
        "beaten": (wins > 0).sum(1),
        "lost_to": (wins > 0).sum(0),
        "group": groups + 1,
        "problem": problems,
    }
    return pd.DataFrame(frame, index=pd.Index(votes.systems, name="system"))


def require_connected(responses, wins, weights=WEIGHTS) -> None:
    """Raise a ValueError that names the systems without a score and the ways out, unless all have one."""
    if is_connected(wins):
        return
    table = connectivity(responses, weights)
    named = "; ".join(f"{name} {problem}" for name, problem in table.problem.items() if problem)
    raise ValueError(
        f"the answers do not connect {', '.join(table.index)} ({named}), so no scores exist: collect more answers, "
        "leave those systems out, or give pseudo=0.5 to add half a win to either side of every pair that was shown"
    )


def pseudo_wins(shown, pseudo: float) -> np.ndarray:
    """What a pseudo-count adds (systems, systems): as much to either side of every pair that was shown, else 0."""
    if pseudo < 0:
        raise ValueError(f"pseudo: expected 0 or more wins per pair shown, got {pseudo}")
    shown = np.asarray(shown)
    return float(pseudo) * ((shown + shown.T) > 0)


def _weak_groups(shown) -> np.ndarray:
    from scipy.sparse import csgraph, csr_matrix

    return csgraph.connected_components(csr_matrix(shown > 0), directed=False)[1]


def _names(systems, chosen, without=None) -> str:
    return ", ".join(name for i, name in enumerate(systems) if chosen[i] and i != without)

"""What chapter 05 reads and hands on: diagnostics of the rendered clips in, tables of answers and scores out."""

import math
from collections.abc import Callable
from pathlib import Path

from motionbook.files import write_csv


def make_diagnostics(budget: str, seed: int) -> Callable[[Path], object]:
    """Stand-in for chapter 04's table: renders small clips of every system and measures them, into a given folder."""

    def make(folder: Path):
        from motionbook.stickfigures import systems

        clips = folder.parent / "03_inbetweening"
        systems.make_clips(budget, seed)(clips)
        frame = systems.measure(clips)
        return write_csv(folder / "tables" / "systems_motion.csv", frame)

    return make


def elo_table(elo, resampled, rates):
    """StayStill's Table 2: ``Elo``, ``Std Elo``, ``W/R`` and ``Std W/R`` (both in percent) by system."""
    import pandas as pd

    return pd.DataFrame(
        {
            "Elo": elo.elo,
            "Std Elo": resampled.std(ddof=1)[elo.index],
            "W/R": 100 * elo.win_rate,
            "Std W/R": 100 * rates.std(ddof=1)[elo.index],
            "appearances": elo.appearances,
        }
    ).rename_axis("System")


# the order of StayStill's Table 2, so that pairs are named as published whatever the ranking
SYSTEM_ORDER = ("GT", "NN", "SLERP-Q", "SLERP", "NOISE")


def significance_table(elo, resampled):
    """Every pair of systems: Elo difference, 95 % interval, ``significant`` (yes or no) and the two-sided bootstrap p.

    With B resamples p cannot fall below 2 / (B + 1).
    """
    from motionbook.perception.elo import pair_differences

    known = [name for name in SYSTEM_ORDER if name in elo.index]
    table = pair_differences(elo.elo[known + [name for name in elo.index if name not in known]], resampled)
    for pair in table.index:
        a, b = pair.split(" - ")
        difference = (resampled[a] - resampled[b]).dropna()
        crossing = min((difference <= 0).sum(), (difference >= 0).sum())
        table.loc[pair, "p"] = min(1.0, 2 * (crossing + 1) / (len(difference) + 1))
    table["significant"] = table.significant.map({True: "yes", False: "no"})
    return table.rename_axis("pair")


def study_facts(answers, scored, clips: int, seconds: float, resamples: int):
    """Numbers of the study's design and people, by the names of StayStill's text (sections 4.3.1 to 4.3.3).

    Shares are of scored answers, as the paper's are. What the answers do not tell (age, say) is left out.
    """
    import pandas as pd

    from motionbook.perception.elo import CENTRE, SCALE, WEIGHTS, systems_of
    from motionbook.perception.responses import ATTENTION

    systems = systems_of(scored)
    shown = pd.concat([scored.left, scored.right]).value_counts()
    checks = (answers.left == ATTENTION).groupby(answers.userID).sum()
    facts = {
        "participants": scored.userID.nunique(),
        "evaluated pairs": len(scored),
        **{f"appearances of {name}": int(shown[name]) for name in systems},
        "pairs shown": int(answers.groupby("userID").size().median()),
        "calibration pairs": int((answers.responseCount < 2).groupby(answers.userID).sum().median()),
        "attention checks": int(checks.median()),
        "response options": int(answers.choice.nunique()),
        "clip length": seconds,
        "videos per system": clips,
        "videos": clips * len(systems),
        **{f"weight of a {name}": WEIGHTS[size] for size, name in enumerate(("tie", "slight preference"))},
        "weight of a clear preference": WEIGHTS[2],
        "Elo scale": round(SCALE * math.log(10), 9),
        "initial Elo": CENTRE,
        "bootstrap iterations": resamples,
    }
    words = {"eu": "Basque", "es": "Spanish", "en": "English"}
    for column in ("gender", "language"):
        if column in scored:
            for name, share in scored[column].value_counts(normalize=True).items():
                facts[words.get(name, name)] = f"{100 * share:.2f}%"
    if "age" in scored:
        ages = pd.to_numeric(scored.drop_duplicates("userID").age, errors="coerce").dropna()
        facts |= {"mean age": ages.mean(), "standard deviation of age": ages.std(ddof=1), "median age": ages.median()}
    return pd.DataFrame({"value": facts})


def source_names(diagnostics, count: int) -> list[str]:
    """Names of the first ``count`` ground-truth clips, the sources whose distorted copies are rated.

    Raises
    ------
    ValueError
        When there are fewer than two: the study needs one for each half of the people.
    """
    names = sorted(diagnostics["clip"][diagnostics["system"] == "GT"].unique())[:count]
    if len(names) < 2:
        raise ValueError(
            f"expected at least two ground-truth ten-second clips to distort, got {len(names)}; give data with more or "
            "longer recordings, or run chapters 01 to 04 alone (--only 01 02 03 04)"
        )
    return names

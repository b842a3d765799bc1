# %% [markdown]
# # Perceptual analysis: who looks most natural?
#
# After this chapter you can turn the answers of a pairwise study into Elo scores with honest intervals (StayStill,
# section 4.3), turn the ratings of an impairment study into mean opinion scores (4DHumanQA, section V), and put your
# own answers through the same tables: give a CSV in the columns of StayStill's own export as `responses`.
#
# **Without real answers the people here are simulated.** What they prefer follows from a stated formula on measured
# diagnostics of the rendered clips, so the ranking below tests the analysis and says nothing about real viewers. Every
# table and figure repeats this.

# %% tags=["hide-cell"]
import importlib.util
import subprocess
import sys

if "google.colab" in sys.modules and importlib.util.find_spec("motionbook") is None:
    source = "motionbook[book,capture,video,body] @ git+https://github.com/motionbook/motionbook"
    subprocess.check_call([sys.executable, "-m", "pip", "install", "--quiet", source])

# %% tags=["parameters"]
budget: str = "smoke"
data: str = ""
out: str = "../results"
seed: int = 0
device: str = "cpu"
responses: str = ""

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from motionbook import budgets, perception, report
from motionbook.perception import inputs, simulation
from motionbook.synthesis import raters

report.use_theme()
run = report.start_chapter(
    "05_perception", out=out, budget=budget, data=data, seed=seed, device=device, responses=responses
)
sizes = budgets.sizes(budget, "05_perception")

# %% [markdown]
# ## The clips and what was measured on them
#
# Chapter 04 rendered the ten-second clips that chapter 03 made with each system, and measured pace and smoothness on
# the video. Those diagnostics are all that the simulated raters of the pairwise study see. For each diagnostic $d$, a clip
# loses quality in proportion to how far it lies from the ground truth of the same clip, in either direction:
#
# $$q = -\sum_d w_d \left| \ln \frac{d}{d_\mathrm{GT}} \right|$$
#
# in units of the raters' noise, where a ratio below 0.01 counts as 0.01. The weights $w_d$ are an assumption, printed
# below: the speed and the jerk of the limbs' angles, and the acceleration of the figure's centre.

# %%
folder = report.take_inputs(
    run, "04_stickfigures", "tables/systems_motion.csv", make=inputs.make_diagnostics(budget, seed)
)
diagnostics = pd.read_csv(folder / "tables" / "systems_motion.csv")
# the clips' label, not the chapter's: when chapter 03 had none to hand on, chapter 04 made some
origin = report.inherited_label(
    run, "04_stickfigures", otherwise="embedded performers (synthetic), made here", item="systems_motion"
)
quality = simulation.latent_quality(diagnostics)
print("weights: " + ", ".join(f"{name} {weight:g}" for name, weight in simulation.WEIGHTS.items()))
report.show_table(
    quality.round(2),
    note=report.sentences(
        "latent quality q given to the simulated raters, in units of their noise", f"clips: {origin}"
    ),
)

# %% [markdown]
# ## The pairwise study
#
# 118 people, each with 20 pairs: two for calibration, two attention checks, sixteen that count. Five answers, from a
# clear preference for the left to a clear preference for the right. The exclusions below are the published ones, in the
# published order.

# %%
if responses:
    answers = perception.read_responses(responses)
    report.note_data(run, [responses], root=Path(responses).parent)
    run.data_label = f"answers of {Path(responses).name} on clips from {origin}"
else:
    answers = raters.pairwise_study(quality, sizes["participants"], seed)
    run.data_label = f"simulated raters (no person answered) of clips from {origin}"
report.save_csv(run, "responses.csv", answers)
scored, flow = perception.exclude(answers)
report.save_table(run, "responses_flow", flow)
report.show_table(flow, note=report.sentences(run.data_label))

# %%
facts = inputs.study_facts(answers, scored, diagnostics["clip"].nunique(), 10, sizes["resamples"])
report.save_table(run, "staystill_text_study", facts)
report.show_table(facts, "staystill_text_study", note=report.sentences(run.data_label))

# %% [markdown]
# ## Elo scores and win rates
#
# A Bradley-Terry model is fitted by maximum likelihood to weighted wins: a tie counts one for either side, a slight
# preference two, a clear one four. The chance that A beats B is
#
# $$P(A \text{ beats } B) = \frac{1}{1 + 10^{-(\mathrm{Elo}_A - \mathrm{Elo}_B)/400}}$$
#
# with the mean of all systems at 1000. The uncertainty comes from 10,000 resamples of people, each with all of their
# answers, because a person's answers are not independent of each other.

# %%
elo = perception.fit_elo(scored)
resampled, rates = perception.bootstrap_elo(scored, n=sizes["resamples"], seed=seed)
table2 = inputs.elo_table(elo, resampled, rates)
note = "NN is absent: no network has made clips yet" if "NN" not in table2.index else ""
report.save_table(run, "staystill_table2", table2, note=note)
report.show_table(table2, "staystill_table2", note=report.sentences(run.data_label, note))

# %%
assert abs(elo.elo.mean() - 1000) < 1e-6
report.save_csv(run, "elo.csv", elo.reset_index())
pairs = inputs.significance_table(elo, resampled)
note = "Elo differences with 95 % intervals over people; p: two-sided bootstrap, not adjusted for the number of pairs"
report.save_table(run, "staystill_text_significance", pairs, note=note)
report.show_table(pairs, "staystill_text_significance", note=report.sentences(note, run.data_label))

# %% mystnb={"figure": {"name": "fig-elo", "caption": "Elo scores with one bootstrap standard deviation over people (after StayStill, Figure 8). The raters are simulated unless a file of answers was given."}}
figure = report.elo_figure(elo.elo, resampled.std(ddof=1))
report.save_figure(run, "staystill_fig8", figure, caption="Elo scores with bootstrap standard deviations")
plt.show()

# %% [markdown]
# ## The rating study
#
# For chapter 06, the ground-truth clips are distorted in six ways at five strengths, and each distorted clip is rated
# beside its original from 1 (imperceptible) to 5 (very annoying). Half of the people see one half of the sources, half
# the other.
#
# The scores are simulated from the strength alone: a logistic curve of it for each distortion, one shift for each source,
# and a bias and an inconsistency for each person. **How visible a distortion is on its clip plays no part.** A path
# stretched to twice its length is as annoying to these raters on somebody who stands, where it can hardly be seen, as on
# somebody who walks; people would not agree. The curves below are therefore curves of strength, an assumption drawn.

# %%
sources = inputs.source_names(diagnostics, budgets.sizes(budget, "06_quality")["sources"])
ratings = raters.rating_study(sources, sizes["raters"], seed)
scores = perception.mos(ratings)
report.save_csv(run, "ratings.csv", ratings)
report.save_csv(run, "mos.csv", scores.reset_index())
assert len(scores) == 30 * len(sources)

# %% mystnb={"figure": {"name": "fig-opinion", "caption": "Simulated opinion scores by distortion and strength: share of each answer, with the mean opinion score and its 95 % interval (after 4DHumanQA, Figure 5; post hoc marks are not drawn)."}}
figure = report.opinion_figure(ratings)
report.save_figure(
    run,
    "quality4d_fig5",
    figure,
    caption="Opinion scores by distortion and strength",
    data=f"simulated raters (no person rated) of distorted clips from {origin}",
)
plt.show()

# %% [markdown]
# ## What to take from this
#
# Half the work of a user study is deciding who counts and how uncertain the ranking is. Both are here as functions:
# `perception.exclude`, `perception.fit_elo`, `perception.bootstrap_elo`. The next chapter uses the opinion scores to
# [learn a quality measure](06_quality.ipynb).

# %%
_ = report.finish_chapter(run)

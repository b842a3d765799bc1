# %% [markdown]
# # Perceptual analysis: who looks most natural?
#
# After this chapter you can run a study of your own clips in a browser, turn the answers into a ranking that says no more
# than they do (StayStill, section 4.3), analyse ratings with a mixed analysis of variance (4DHumanQA, section V), and
# audit a printed table of such analyses. Your own answers and ratings go through the same tables.
#
# **Without real answers the people here are simulated**, in three ways that are kept apart: raters of this book's clips,
# who prefer by a stated formula on measured diagnostics; answers drawn from the scores StayStill printed; and a panel
# drawn from a psychometric model in 4DHumanQA's design. They test the analysis and say nothing about real viewers. Every
# table and figure says which it shows.

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
ratings: str = ""
columns: str = ""
scale: str = ""
rating_scale: str = ""
factors: str = ""
preview: bool = False

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display

from motionbook import budgets, perception, report
from motionbook.perception import effects, inputs, own_data, recovery, simulation, study
from motionbook.report import study_demo
from motionbook.report.study_pages import study_page_figure
from motionbook.report.study_preview import StudyPreview
from motionbook.synthesis import raters, rating_panel

report.use_theme()
given = dict(responses=responses, ratings=ratings, columns=columns, scale=scale, rating_scale=rating_scale)
run = report.start_chapter(
    "05_perception", out=out, budget=budget, data=data, seed=seed, device=device, factors=factors, **given
)
sizes = budgets.sizes(budget, "05_perception")

# %% [markdown]
# ## A study that anyone can run
#
# The clips are those that [chapter 03](03_inbetweening.ipynb) made with each system. Which pairs does who see? Pairs are
# dealt in rounds, each of them once before any comes again; the clip is the one that this person, then this pair, has
# seen least; the side that was left less often goes left. The plan is made before anybody takes part, for all places at
# once, and one command writes the page: one folder that a web server, or none, can show.
#
# ```console
# motionbook study build --clips results/03_inbetweening/clips --design pairs --participants 118 --out my-study
# motionbook study receive --folder answers --site my-study    # optional: a receiver for the answers
# motionbook study merge answers/*.jsonl --out responses.csv
# motionbook reproduce --only 05 -p responses=responses.csv
# ```

# %%
made = report.take_inputs(run, "03_inbetweening", "clips/*/*.bvh", make=inputs.make_clips(budget, seed))
clips = made / "clips"
origin = report.inherited_label(run, "03_inbetweening", otherwise="embedded performers (synthetic), made here")
plan, _ = study.make_plan(clips, "pairs", people=sizes["participants"], seed=seed)
even = study.balance(plan)
note = f"plan {plan['hash'][:12]} for {len(plan['people'])} people; clips: {origin}"
report.save_table(run, "study_balance_pairs", even["pairs"], note=note, data="a plan; nobody has answered")
display(report.show_table(even["pairs"], note=report.sentences("How often each pair would be shown", note)))
report.show_table(even["systems"], note=report.sentences("How often each system would stand on either side", note))

# %%
shown = even["pairs"].shown
assert shown.max() - shown.min() <= 1, "every pair equally often, to one"
assert (even["systems"].left - even["systems"].right).abs().max() <= len(plan["systems"])
places = even["places"]
print(f"each pair {shown.min()} to {shown.max()} times; one person meets a clip at most", end=" ")
print(f"{places['most of one clip'].max()} times; attention checks from trial {places['first check'].min()} on")

# %% [markdown]
# ### The pages
#
# Both designs, with films cut short here so that the chapter stays quick. In the preference study (StayStill's Figure 7)
# the five answers run from a clear preference for the left to a clear one for the right; in the rating study
# (4DHumanQA's Figure 4) the reference is on the left and the distorted clip on the right. Number keys choose, Enter
# confirms. After a reload the study goes on where it was. The pages speak English, Spanish and Basque; **the Spanish and
# Basque texts have yet to be checked by native speakers**, so have them read before people come.

# %%
demo, look = run.folder / "study", study_demo.demo_look(sizes["demo_seconds"], sizes["demo_fps"])
pairs_demo = study_demo.demo_pairs(clips, demo / "pairs", count=sizes["demo_clips"], look=look, seed=seed)
sources = sorted((clips / "GT").glob("*.bvh"))[: max(2, sizes["demo_clips"])]
kinds, levels = sizes["demo_distortions"], sizes["demo_levels"]
rating_demo = study_demo.demo_ratings(sources, demo / "dsis", kinds=kinds, levels=levels, look=look, seed=seed)
for name, built in (("pairs", pairs_demo), ("dsis", rating_demo)):
    print(f"{name}: {len(built.study.films)} films" if built.study else f"{name}: not built, {built.problem}")

# %% mystnb={"figure": {"name": "fig-page-pairs", "caption": "A page of the preference study (after StayStill, Figure 7): two systems' films of one clip, shown at their last frame."}}
if pairs_demo.study:
    page = study_page_figure(pairs_demo.study.page.parent)
    caption = "Page of the preference study"
    report.save_figure(run, "staystill_fig7", page.figure, caption=caption, note=page.source, data=f"clips: {origin}")
    plt.show()

# %% mystnb={"figure": {"name": "fig-page-rating", "caption": "A page of the rating study (after 4DHumanQA, Figure 4): the reference on the left and the same clip, distorted, on the right. The body is the book's own, not the paper's scans."}}
if rating_demo.study:
    place = study_demo.strongest_trial(rating_demo.study.plan)
    page = study_page_figure(rating_demo.study.page.parent, place=place)
    caption = "Page of the rating study"
    report.save_figure(run, "quality4d_fig4", page.figure, caption=caption, note=page.source, data=f"clips: {origin}")
    plt.show()

# %% [markdown]
# To try the preference study here, in JupyterLab, set the parameter `preview` (`-p preview=True`): its trials appear
# below as widgets, and `trial.responses()` has your answers in the columns that the chapter reads. The real page with
# consent, languages, timing and resume is `results/05_perception/study/pairs/page/index.html`.

# %%
if preview and pairs_demo.study:
    trial = StudyPreview(pairs_demo.study.page.parent)
    display(trial)

# %% [markdown]
# ## What the simulated raters see
#
# Chapter 04 drew the clips and measured pace and smoothness on the video. Those diagnostics are all that the simulated
# raters of the pairwise study see. For each diagnostic $d$, a clip loses quality in proportion to how far it lies from
# the ground truth of the same clip, in either direction:
#
# $$q = -\sum_d w_d \left| \ln \frac{d}{d_\mathrm{GT}} \right|$$
#
# in units of the raters' noise, where a ratio below 0.01 counts as 0.01. The weights $w_d$ are an assumption, printed
# below: the speed and the jerk of the limbs' angles, and the acceleration of the figure's centre.

# %%
folder = report.take_inputs(run, "04_stickfigures", "tables/systems_motion.csv", make=inputs.make_diagnostics(made))
diagnostics = pd.read_csv(folder / "tables" / "systems_motion.csv")
# the clips' label, not the chapter's: when chapter 03 had none to hand on, chapter 04 made some
origin = report.inherited_label(
    run, "04_stickfigures", otherwise="embedded performers (synthetic), made here", item="systems_motion"
)
quality = simulation.latent_quality(diagnostics)
print("weights: " + ", ".join(f"{name} {weight:g}" for name, weight in simulation.WEIGHTS.items()))
note = report.sentences("latent quality q given to the simulated raters, in units of their noise", f"clips: {origin}")
report.show_table(quality.round(2), note=note)

# %% [markdown]
# ## Answers, and who counts
#
# 118 people, each with 20 pairs: two for calibration, two attention checks, sixteen that count. StayStill's published
# spreadsheet is read where it has been fetched (`motionbook data fetch staystill`), your own answers where you give them
# (`responses`; `columns` and `scale` say what they call things). The exclusions are the published ones, in the published
# order; answers without attention checks or a count of trials are all used.

# %%
names, rating_names = own_data.column_names(columns)
found = Path(responses) if responses else inputs.published_answers()
answer_scale = own_data.answer_scale(scale if responses else "")
if found:
    answers = perception.read_responses(found, columns=names if responses else None, scale=answer_scale)
    report.note_data(run, [found], root=found.parent)
    run.data_label = f"answers of {found.name}" + ("" if responses else ", StayStill's published spreadsheet")
else:
    answers = raters.pairwise_study(quality, sizes["participants"], seed)
    run.data_label = f"simulated raters (no person answered) of clips from {origin}"
report.save_csv(run, "responses.csv", answers)
signed = own_data.signed_scale(answer_scale)
ranking = perception.ranking_report(answers, scale=signed, resamples=sizes["resamples"], seed=seed)
report.save_table(run, "responses_flow", ranking.flow)
report.show_table(ranking.flow, note=report.sentences(run.data_label))

# %%
scored = own_data.scored_answers(answers, answer_scale)
seconds, shown = None if responses else 10, inputs.clip_count(scored)
facts = inputs.study_facts(answers, scored, shown, seconds, sizes["resamples"], answer_scale.weights)
report.save_table(run, "staystill_text_study", facts)
display(report.show_table(facts, "staystill_text_study", note=report.sentences(run.data_label)))
note = report.sentences("shares of people; those above are of answers, as printed", run.data_label)
report.save_table(run, "study_people", inputs.named_people(ranking.people), note=note)
report.show_table(inputs.named_people(ranking.people), note=note)

# %% [markdown]
# ## Elo scores and win rates
#
# A Bradley-Terry model is fitted by maximum likelihood to weighted wins: a tie counts one for either side, a slight
# preference two, a clear one four. The chance that A beats B is
#
# $$P(A \text{ beats } B) = \frac{1}{1 + 10^{-(\mathrm{Elo}_A - \mathrm{Elo}_B)/400}}$$
#
# with the mean of all systems at 1000. A maximum exists only when every system beats every other, directly or through
# others; the check below says so, and names who is cut off. The uncertainty comes from 10,000 resamples of people, each
# with all of their answers, because a person's answers are not independent of each other.

# %%
report.show_table(ranking.connectivity, note=report.sentences("one group: all scores are determined", run.data_label))

# %%
table2 = inputs.elo_table(ranking.scores)
absent = [name for name in inputs.SYSTEM_ORDER if name not in table2.index]
note = f"not among the systems here: {', '.join(absent)}" if absent else ""
report.save_table(run, "staystill_table2", table2, note=note)
assert abs(ranking.scores.elo.mean() - 1000) < 1e-6
report.save_csv(run, "elo.csv", ranking.scores.reset_index()[["system", "appearances", "elo", "win_rate"]])
report.show_table(table2, "staystill_table2", note=report.sentences(run.data_label, note))

# %% mystnb={"figure": {"name": "fig-elo", "caption": "Elo scores with 95 % intervals over the distribution of their resamples (after StayStill, Figure 8); systems that share a letter are not told apart. Grey: published, of 118 real people. The raters are simulated unless a file of answers was given."}}
published = report.published_frame("staystill_table2")
figure = report.ranking_figure(ranking.scores, ranking.resampled, published)
report.save_figure(run, "staystill_fig8", figure, caption="Elo scores with bootstrap distributions")
plt.show()

# %% [markdown]
# ## Which systems are told apart?
#
# The paper calls a difference significant when its own 95 % interval leaves out zero. With ten pairs, as in the
# paper, one such verdict in a study without any difference is no surprise, so Holm's correction is applied too, and systems are put in *classes*:
# sets of which no two are told apart. A rank is then an interval. With $B$ resamples p cannot fall below $2 / (B + 1)$;
# 10,000 resamples without a crossing support p = 0.0002 and not the printed "< 1e-4".

# %%
pairs = inputs.significance_table(ranking.pairs)
note = "bootstrap p over people, two-sided; apart: after Holm's correction for all pairs"
report.save_table(run, "staystill_text_significance", pairs, note=note)
assert (pairs["p Holm"] >= pairs["p"]).all()
report.show_table(pairs, "staystill_text_significance", note=report.sentences(note, run.data_label))

# %% [markdown]
# ### Does the spread hang on how it is found?
#
# Four answers to "what would vary if the study were repeated": people, clips, both, or every answer by itself. For each
# the bootstrap stands beside the sandwich estimator, which needs no resampling; over people they have to agree. Where
# both people and clips are drawn, the bootstrap multiplies two counts and overstates the spread of answers that occur
# once per person and clip; there the sandwich is the better one.

# %%
report.save_table(run, "elo_spreads", ranking.spreads, note="standard deviation of Elo scores")
ratio = ranking.spreads["user, bootstrap"] / ranking.spreads["user, sandwich"]
print(f"bootstrap over sandwich, over people: {ratio.min():.3f} to {ratio.max():.3f}")
assert found or ratio.between(0.85, 1.15).all()
report.show_table(ranking.spreads, note=report.sentences("standard deviation of Elo scores", run.data_label))

# %% [markdown]
# ### Other models of the same answers
#
# The weights 1, 2, 4 are a choice. A cumulative-logit model of the five answers needs none: two thresholds say where "no
# preference" and "slight" end, and one term how far answers lean to the left. Davidson's model uses left, tie and right
# only. *Weighted, with side* is the published fit with a term for the side.

# %%
models, terms = inputs.flat_names(ranking.ordinal), inputs.flat_names(ranking.terms).rename(columns={"value": "logits"})
report.save_table(run, "elo_models", models)
report.save_table(run, "elo_terms", terms, note="positive left_bias: answers lean to the left")
display(report.show_table(models, note=report.sentences("scores by model", run.data_label)))
words = "sd is of the logits, elo the same in Elo points", "positive left_bias: to the left"
note = report.sentences(*words, run.data_label)
report.show_table(terms, note=note)

# %% mystnb={"figure": {"name": "fig-position", "caption": "Left against right: how often each grade of preference was given to either side, and the pull to the left that each model finds. Simulated raters unless a file of answers was given."}}
figure = report.position_figure(ranking.answers_by_side, ranking.terms)
report.save_figure(run, "elo_position", figure, caption="Left against right")
plt.show()

# %% mystnb={"figure": {"name": "fig-weights", "caption": "Elo scores under other weights, with one standard deviation over people: growth from grade to grade, and the worth of a tie. The order may hold while distances do not. Simulated raters unless a file of answers was given."}}
figure = report.sensitivity_figure(ranking.weights)
report.save_figure(run, "elo_weights", figure, caption="Elo scores under other weights")
plt.show()

# %% [markdown]
# ### Does one number per system suffice?
#
# Bradley-Terry says that A's chance against C follows from A against B and B against C. The table compares each pair's
# share of weighted wins with what the scores imply; the test allows for the weights and for people who answered many
# times, which the plain deviance does not.

# %%
report.save_table(run, "elo_fit", ranking.residuals)
note = report.sentences("a z beyond 3 is a pair the model misses", run.data_label)
display(report.show_table(ranking.residuals, note=note))
report.show_table(ranking.fit, note=report.sentences("goodness of fit", run.data_label))

# %% [markdown]
# ## Simulate and recover
#
# Does the analysis find what was put in? 118 people answer here by the five-level model with **the scores of StayStill's
# Table 2 as the truth**. The ordinal fit has to find those scores. The weighted fit does not, and cannot: a clear
# preference that counts as four wins stretches differences, so its limit for ever more people lies further out. Elo
# scores from weighted wins are thus comparable with each other and not with those of one win per game.

# %%
truth = published.Elo
recovery_label = "answers simulated from StayStill's Table 2 (no person answered)"
simulated = perception.simulated_study(truth, sizes["participants"], seed)
again = perception.ranking_report(simulated, resamples=2000, seed=seed)
recovered = inputs.recovered_table(truth, again)
report.save_table(run, "elo_recovered", recovered, note="118 people answer by the ordinal model", data=recovery_label)
assert ((recovered.ordinal - recovered["simulated from"]).abs() < 4 * recovered["ordinal sd"]).all()
assert ((recovered.weighted - recovered["weighted limit"]).abs() < 4 * recovered["weighted sd"]).all()
stretch = np.ptp(recovered["weighted limit"]) / np.ptp(truth)
print(f"weights stretch the distance from the best to the worst system by {100 * (stretch - 1):.0f} %")
report.show_table(recovered, note=report.sentences(recovery_label))

# %% [markdown]
# One study proves little. How often do 95 % intervals hold the truth in many?

# %%
coverage = recovery.recovery(truth, studies=sizes["recoveries"], seed=seed)
note = f"{sizes['recoveries']} simulated studies of 118 people; sandwich intervals"
report.save_table(run, "elo_coverage", coverage, note=note, data=recovery_label)
means = coverage[["ordinal_coverage", "weighted_coverage", "weighted_coverage_simulated"]].mean()
assert means[:2].between(0.90, 0.99).all() and means.iloc[2] < 0.9
print(f"mean coverage: ordinal {means.iloc[0]:.3f}, weighted of its own limit {means.iloc[1]:.3f},", end=" ")
print(f"weighted of the simulating scores {means.iloc[2]:.3f}")
report.show_table(coverage.T, by_row=True, note=report.sentences(note, recovery_label))

# %% [markdown]
# ### A small study, and a system that never loses
#
# With fifteen people the fit is as exact as with a hundred; only its intervals are wide. What can go wrong is a system
# that nobody ever ranked below another: it has no maximum-likelihood score. Such a system is named instead of dropped,
# with the ways out. A pseudo-count is one; it is a choice, and its size decides where the system ends up.

# %%
few = perception.exclude(inputs.few_and_unbeaten(simulated, "GT", 15)).answers
try:
    perception.fit_elo(few)
except ValueError as error:
    print(error)
sizes_tried = {f"pseudo-count {pseudo:g}": perception.fit_elo(few, pseudo=pseudo).elo for pseudo in (0.1, 0.5, 2)}
note = report.sentences("Elo scores of 15 people to whom GT never loses", recovery_label)
report.show_table(pd.DataFrame(sizes_tried), note=note)

# %% [markdown]
# ## How many people?
#
# Before a study: from the models, how many people tell two neighbours of five evenly spaced systems apart, with a power
# of 80 % and ten comparisons? After a pilot: from its own spread, how many each pair needs. *Detectable* is the
# difference that the study at hand finds with that power.

# %% mystnb={"figure": {"name": "fig-planner", "caption": "People needed to tell two neighbouring systems apart (80 % power, ten comparisons), by the difference of their scores; the dashed line marks 118 people. Closed form of the models, no answers used."}}
plans = perception.plan_curve(np.geomspace(15, 120, 10), comparisons=10)
figure = report.planner_figure(plans, marked=118)
report.save_figure(run, "study_planner", figure, caption="People needed", data="closed form of the two models")
plt.show()

# %%
report.save_table(run, "study_raters_needed", ranking.planner)
report.show_table(
    ranking.planner, note=report.sentences("people needed for each pair's own difference", run.data_label)
)

# %% [markdown]
# ## The rating study
#
# 4DHumanQA's design whole: 48 people, six distortions at five strengths, two identities and two outfits within each
# person, motion and gender between people, and a test set apart. The panel is drawn from a psychometric model with two
# people who answer at random, one who reads the scale the wrong way round and one who stops half way. With `ratings` your
# own table takes its place (`columns`, `rating_scale`, and `factors` for the analysis of variance).
#
# The scale's direction travels with the scores: here 1 is *imperceptible* and 5 *very annoying*, the reverse of the
# impairment scale of the ITU, and tables of both directions are never mixed.

# %%
if ratings:
    panel = perception.read_ratings(ratings, columns=rating_names, scale=rating_scale or None)
    report.note_data(run, [ratings], root=Path(ratings).parent)
    rating_label = f"ratings of {Path(ratings).name}"
else:
    panel = rating_panel.impairment_study(sizes["raters"], seed, careless=2, inverted=1)
    rating_label = "simulated panel in 4DHumanQA's design (no person rated)"
everybody = perception.read_ratings(panel)
train = everybody[everybody.split == "train"] if "split" in everybody else everybody
design = own_data.rating_design(train, factors)
rated = perception.rating_report(train, **design)
people = perception.participants_table(everybody)
report.save_table(run, "quality4d_text_participants", people, data=rating_label)
report.show_table(people, "quality4d_text_participants", note=report.sentences(rating_label))

# %% [markdown]
# ### Opinion scores and who gave them
#
# The mean opinion score of a stimulus, with intervals by Student's t and by the normal, stands beside three ways of
# treating people: BT.500 leaves out those who are often far off in both directions; P.913 takes everybody's bias away;
# P.910's model estimates bias and inconsistency of each person together with the scores.

# %%
report.save_table(run, "rating_scores", rated.scores, data=rating_label)
summary = rated.scores.drop(columns="n").describe().loc[["mean", "min", "max"]]
display(report.show_table(summary, note=report.sentences("opinion scores of all stimuli in short", rating_label)))
odd = rated.raters[rated.raters.rejected | rated.raters.inverted | rated.raters.unrelated]
report.save_table(run, "rating_raters", rated.raters, data=rating_label)
columns_shown = ["scores", "ratio", "rejected", "bias", "inconsistency", "with_others", "inverted", "unrelated"]
report.show_table(
    odd[columns_shown], note=report.sentences("people whom any of the checks would have looked at", rating_label)
)

# %% [markdown]
# No check finds everybody. BT.500 asks only whether somebody is far off in *both* directions, so a person who turned the
# scale round may pass, and so may one who answers at random; the correlation with all others shows both.

# %% mystnb={"figure": {"name": "fig-raters", "caption": "Bias and inconsistency of every rater (left) and correlation with all others (right). Simulated panel with two careless people and one who reads the scale the wrong way round, unless ratings were given."}}
figure = report.raters_figure(rated.raters)
report.save_figure(run, "rating_people", figure, caption="Who rated how", data=rating_label)
plt.show()

# %%
report.save_table(run, "rating_facts", rated.facts, data=rating_label)
caught = rated.raters.groupby(["rejected", "inverted", "unrelated"]).size().rename("people").reset_index()
print(caught.to_string(index=False))
report.show_table(rated.facts, note=report.sentences(rating_label))

# %% [markdown]
# ### How far do people agree?
#
# Intraclass correlations for one rater and for the mean of all (k), and Krippendorff's alpha, for each half of the people
# that shares stimuli. Correlations from few stimuli say little: the paper's PLCC of 0.917 on a test set of ten has the
# 95 % interval below.

# %%
agreement = inputs.flat_names(rated.agreement).rename(columns={"value": "agreement"})
report.save_table(run, "rating_agreement", agreement, data=rating_label)
low, high = perception.pearson_interval(0.917, 10)
assert (round(low, 2), round(high, 2)) == (0.68, 0.98)
print(f"a correlation of 0.917 from 10 stimuli: {low:.2f} to {high:.2f}")
report.show_table(agreement, note=report.sentences("the number before the colon is the panel's", rating_label))

# %% mystnb={"figure": {"name": "fig-opinion", "caption": "Opinion scores by distortion and strength: share of each answer, mean opinion score with its 95 % interval over people, and Tukey's HSD between strengths (after 4DHumanQA, Figure 5). Simulated panel unless ratings were given."}}
if own_data.is_published_design(design):
    figure = report.strength_figure(train, rated.comparisons, titles=effects.DISTORTIONS)
    caption = "Opinion scores by distortion and strength, with Tukey HSD"
    report.save_figure(run, "quality4d_fig5", figure, caption=caption, data=rating_label)
    plt.show()

# %% [markdown]
# ### Comparisons within people
#
# Everybody rates all strengths, so the error of a difference between two strengths is that of the differences *within*
# people. Tukey's test on the long table treats every score as another person's: it counts people many times over and
# throws their pairing away, and its p can err in either direction.

# %%
compared, note = inputs.flat_names(rated.comparisons), "differences within people, Tukey"
if own_data.is_published_design(design):
    unpaired = inputs.unpaired_comparisons(train).rename("p as if unpaired")
    compared, note = rated.comparisons.join(unpaired).xs((4, 5), level=("a", "b")), "strength 4 against 5"
    compared = compared[["difference", "se", "df", "p_adjusted", "p as if unpaired"]]
if len(compared):
    report.save_table(run, "rating_comparisons", compared, note=note, data=rating_label)
    display(report.show_table(compared, note=report.sentences(note, rating_label)))

# %% [markdown]
# ## Analysis of variance
#
# One mixed analysis for each distortion: identity, clothing and strength within people, motion and gender between them,
# groups of unequal size, sums of squares of type III. Degrees of freedom are corrected by Greenhouse and Geisser wherever
# sphericity is a question (F*); the paper corrects the main effect of strength alone, though its crossings share the
# error term. With six analyses of 31 effects each, about nine of 186 come out below 0.05 by chance, so Holm's and the
# false-discovery-rate p are given too. People who lack a cell are left out and named in the facts above.

# %%
if design.get("within") or design.get("between"):
    own = own_data.is_published_design(design)
    keep = perception.published_rows().index if own else ()
    effects_table = perception.table1(rated.anovas, keep=keep)
    item = "quality4d_table1" if own else "rating_effects"
    tests, below = effects_table.attrs["tests"], int((effects_table["p-value"] < 0.05).sum())
    note = f"{below} of {tests} effects below 0.05; {int((effects_table['p Holm'] < 0.05).sum())} after Holm"
    report.save_table(run, item, effects_table, note=note, data=rating_label)
    display(report.show_table(effects_table, item if own else None, note=report.sentences(note, rating_label)))

# %% [markdown]
# ### Can the printed rows be right?
#
# F and its degrees of freedom determine p and partial eta squared. A printed number stands for all values that round to
# it; a row is *impossible* when no F and degrees of freedom that it can stand for give its p, its effect size, or the
# error degrees of freedom that all rows of a design share; *copied* when it repeats an earlier row of another distortion
# to the last digit.

# %%
printed = perception.published_rows()
audit = perception.audit_anova_rows(printed)
verdicts = audit.verdict.value_counts()
assert verdicts.to_dict() == {"consistent": 27, "impossible": 6, "copied": 2}
print(audit.attrs["rule"])
print(f"error degrees of freedom: {audit.attrs['error_df']:g}; " + ", ".join(f"{n} {v}" for v, n in verdicts.items()))
label = "numbers printed in 4DHumanQA's Table I"
report.save_table(run, "anova_audit", audit.drop(columns=["eta_low", "eta_high"]), data=label)
note = report.sentences('"is": the largest that the printed F and degrees of freedom allow', label)
report.show_table(inputs.audit_words(audit), note=note)

# %% [markdown]
# And the rows that were left uncorrected although another row of the same error term is corrected: with its epsilon, the
# crossing of strength and gender for motion smoothness is not significant.

# %%
sphericity = perception.audit_sphericity(printed)
report.save_table(run, "anova_audit_sphericity", sphericity, data=label)
assert round(sphericity.p_corrected["Motion smoothness: Strength × Gender"], 3) == 0.062
report.show_table(sphericity, note=report.sentences("p with the epsilon of its stratum", label))

# %% [markdown]
# ## The pilot
#
# Five people rate every strength of every distortion of one source; Friedman's test asks whether strengths differ at
# all, and Durbin and Conover's comparisons which. The published degrees of freedom of foot contact, 6, mean seven
# strengths where the supplement lists eight; the simulated pilot has eight.

# %%
pilot_label = "simulated pilot of five people (no person rated)"
pilot = rating_panel.pilot_study(5, seed)
tests, conover = perception.pilot_table(pilot)
report.save_table(run, "quality4d_text_pilot", tests, data=pilot_label)
report.save_table(run, "pilot_comparisons", conover, data=pilot_label)
below = conover.groupby("distortion").p_adjusted.agg(lambda p: f"{(p < 0.05).sum()} of {len(p)}")
print("pairs of strengths told apart: " + ", ".join(f"{kind} {count}" for kind, count in below.items()))
report.show_table(tests, "quality4d_text_pilot", note=report.sentences(pilot_label))

# %% mystnb={"figure": {"name": "fig-pilot", "caption": "Answers of a simulated pilot of five people at every strength (after 4DHumanQA, Figure 6): boxes span the middle half, bars are medians, dots grow with the number of answers."}}
figure = report.pilot_figure(pilot, tests)
report.save_figure(run, "quality4d_fig6", figure, caption="Answers of the pilot", data=pilot_label)
plt.show()

# %% [markdown]
# ## Opinion scores for chapter 06
#
# Chapter 06 distorts the ground-truth clips in six ways at five strengths and learns to predict opinion scores of them.
# Those scores are simulated from the strength alone: a logistic curve of it for each distortion, one shift for each
# source, and a bias and an inconsistency for each person. **How visible a distortion is on its clip plays no part.** A
# path stretched to twice its length is as annoying to these raters on somebody who stands, where it can hardly be seen,
# as on somebody who walks; people would not agree.

# %%
names = inputs.source_names(diagnostics, budgets.sizes(budget, "06_quality")["sources"])
rows = raters.rating_study(names, sizes["raters"], seed)
scores = perception.mos(rows)
report.save_csv(run, "ratings.csv", rows)
report.save_csv(run, "mos.csv", scores.reset_index())
assert len(scores) == 30 * len(names)
print(f"{len(rows)} simulated scores of {len(scores)} distorted clips from {origin}")

# %% [markdown]
# ## Bring your own
#
# Any table with one answer a row will do. `columns` says what yours are called, `scale` what the answers mean: nothing
# for -2 to 2, a number of options (`3`, `7`), a slider (`0..100`), or the words from left to right (`left,same,right`).
#
# ```console
# motionbook reproduce --only 05 -p responses=pairs.csv -p "columns=userID=rater choice=answer" -p scale=7
# motionbook reproduce --only 05 -p ratings=scores.csv -p "columns=score=points" -p "rating_scale=0..100, best 100" \
#     -p "factors=within=system between=group compare=system"
# ```
#
# A name with blanks stands in quotes: `-p 'columns=userID="Rater ID"'`.
#
# ## What to take from this
#
# Half the work of a user study is deciding who counts and how uncertain the ranking is; both are here as functions,
# `perception.ranking_report` and `perception.rating_report`. The next chapter uses the opinion scores to
# [learn a quality measure](06_quality.ipynb).

# %%
_ = report.finish_chapter(run)

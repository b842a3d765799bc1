# %% [markdown]
# # In-betweening: filling the frames between two poses
#
# After this chapter you can run the in-betweening benchmark of StayStill (sections 4.1 and 4.2) on any motion on the
# LaFAN1 skeleton, say how many windows and people stand behind a cell of its tables, and make the ten-second clips that
# people compare in the perceptual study.
#
# A system sees ten frames of context and one target pose, 5, 15, 30 or 45 frames later, and fills the gap. Three
# baselines need no training: hold the last pose (0-velocity), interpolate every joint at constant speed (SLERP), or with
# ease-in and ease-out (SLERP-Q).

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
systems: str = ""  # a folder with one folder of BVH per system of your own

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display

from motionbook import budgets, report
from motionbook.inbetweening import baselines, evaluation, generator, inputs, naturalness, own_systems, recordings
from motionbook.inbetweening.windows import LENGTHS
from motionbook.report import inbetweening_figures as figures

report.use_theme()
run = report.start_chapter(
    "03_inbetweening", out=out, budget=budget, data=data, seed=seed, device=device, systems=systems
)
sizes = budgets.sizes(budget, "03_inbetweening")

# %% [markdown]
# ## Whose motion
#
# The data set comes from [chapter 02](02_cleaning.ipynb): cleaned clips on the LaFAN1 skeleton with the people they
# belong to, and folds that keep every person on one side. On embedded performers the budget says how many folds and
# subsets are scored; on real people all folds and all of its subsets are, because each fold tests others.

# %%
make = inputs.make_dataset(budget, seed)
folder = report.take_inputs(run, "02_cleaning", "dataset/dataset.json", make=make)
if not run.made_here:
    folder = report.take_inputs(run, "02_cleaning", "dataset/lafan/**/*.bvh", make=make)
dataset = recordings.read_recordings(folder / "dataset")
about, real = dataset.about, dataset.about["kind"] == "real"
subsets = inputs.choose_subsets([r.group for r in dataset.recordings], sizes["subsets"], real)
folds = dataset.folds if real else dataset.folds[: sizes["folds"]]
run.data_label = about["label"]
people = sorted({r.subject for r in dataset.recordings})
frames = sum(len(r.clip) for r in dataset.recordings)
print(f"{about['label']}: {len(dataset.recordings)} clips, {len(people)} people, {frames} frames; {about['fps_note']}")

# %% [markdown]
# ### Do the embedded performers move like people who wait?
#
# Procedural idle motion is beside recorded idle motion here: how fast joints move, how often a person is as good as
# still, how the motion spreads over frequencies, and how far two baselines miss at each gap. A benchmark on performers
# who are much calmer or livelier than people would be worth little, so each ratio should lie between one half and two.
# The performers are taken as they are generated, without the jitter of simulated cameras.

# %%
recorded = [r.clip for r in dataset.recordings if real and r.group == "idle"]
performers = inputs.embedded_idle(max(6, len(people)), seed)
likeness = naturalness.compare_idle(performers, recorded or None)
words = report.sentences("embedded performers (synthetic) beside recorded people", likeness.attrs["note"])
report.save_table(run, "inbetweening_naturalness", likeness, note=words, data=words)
print(f"{likeness['within factor 2'].sum()} of {len(likeness)} statistics within a factor of two")
report.show_table(likeness, note=words, by_row=True)

# %% [markdown]
# ## One window
#
# Windows are 65 frames long and start every 40 frames; the four gaps are cut from the same starts. A clip that is
# shorter than a window gives none. The figure shows how a longer clip is filled piece by piece: the frames just made
# become the next context. Interpolation uses only the last of them; a network uses all ten.

# %% mystnb={"figure": {"name": "fig-autoregression", "caption": "Two steps of autoregressive generation on a window of this data (after StayStill, Figure 4). Ten frames of context and a target pose 45 frames later are given; SLERP stands where the paper has its network."}}
tested = list(dict.fromkeys(s for fold in folds for s in fold["test"]))
judged = recordings.select(dataset.recordings, subsets[0], tested)
window, transition = inputs.lively_window(judged)
figure = figures.autoregression_figure(window, baselines.slerp, "SLERP", transition)
report.save_figure(run, "staystill_fig4", figure, caption="Two steps of autoregressive generation")
plt.show()

# %% [markdown]
# ## The benchmark
#
# L2P is the length of the error of all joint places, each coordinate in units of its standard deviation over the
# training people of the fold. L2Q (the text of the paper calls it L2R) is the length of the difference of all world
# quaternions. NPSS compares the spectra of those quaternions over time. All three are zero for the truth; smaller is
# better. Every cell is the mean over folds.

# %%
summaries = {s: evaluation.evaluate(dataset.recordings, s, folds) for s in subsets}
for subset, summary in summaries.items():
    item, table = inputs.table_item(subset), evaluation.published_table(summary)
    note = inputs.table_note(summary, about)
    report.save_table(run, item, table, note=note)
    display(report.show_table(table.filter(like="@"), item if subset in inputs.TABLES else None, note=note))

# %% [markdown]
# Is holding still the worst choice at every length, and do errors grow with the gap? The lines below say so for each
# subset. No network has been trained here: where a table names one, its numbers are the paper's.
#
# Two things to know about the published numbers. In Table 5 the SLERP-Q cells at 5 frames are larger than those of
# 0-velocity and larger than the triangle inequality allows from the other rows, so no correct run gave them. And every
# published table weights NPSS by the squared *real part* of the Fourier transform; that is kept here, since no other
# number could be compared.

# %%
for subset, table in zip(subsets, map(evaluation.published_table, summaries.values()), strict=True):
    places = table[[f"L2P@{n}" for n in LENGTHS]]
    worst = (places.loc["0-velocity"] > places.drop("0-velocity")).all(axis=None)
    growing = (places.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)
    print(f"{subset}: 0-velocity has the largest L2P at every length: {'yes' if worst else 'no'}")
    print(f"{subset}: every L2P grows with the gap: {'yes' if growing else 'no'}")
    assert (worst and growing) or about["name"] != "embedded", "on the embedded performers this holds"

# %% [markdown]
# ### Spread and counts
#
# What stands behind each cell: the standard deviation over folds, and how many windows, different people and folds.

# %%
counts = pd.concat(summaries, names=["subset"]).droplevel(1).reset_index().set_index("subset")
_ = report.save_table(run, "inbetweening_counts", counts, note=about["fps_note"])
for subset, summary in summaries.items():
    note = report.sentences(f"standard deviation over {summary.n_folds.max()} folds, subset {subset}", run.data_label)
    display(report.show_table(evaluation.published_table(summary, value="spread").filter(like="@"), note=note))

# %%
for subset, rows in counts.groupby(level=0, sort=False):
    print(f"{subset}: {rows.n_windows.max()} windows, {rows.n_subjects.max()} people, {rows.n_folds.max()} folds")

# %% [markdown]
# ## Where in the gap?
#
# Interpolation knows both ends and errs in the middle; easing differs from constant speed where the curve bends.

# %% mystnb={"figure": {"name": "fig-error-over-time", "caption": "Position error by frame of the gap, mean over all test windows, in standard deviations of the training people."}}
curves = evaluation.error_curves(evaluation.fold_windows(dataset.recordings, subsets[0], folds))
figure = figures.error_over_time_figure(curves)
caption = f"Position error by frame of the gap, subset {subsets[0]}"
report.save_figure(run, "inbetweening_error_over_time", figure, caption=caption)
plt.show()

# %% [markdown]
# ## Clips for people to judge
#
# Ten seconds each, from people of the test sets, evenly spaced: the ground truth (GT), both interpolations through the
# same key poses (frame 9, then every 45 frames from 55), and a lower anchor, the ground truth with noise on every joint
# (NOISE). The paper gives no size for its noise; here it is an assumption, two degrees about each axis in every frame.
# Frame i of every file is frame i of the ground truth. The clips of the network (NN) are missing until one is trained.
#
# Clips that your own system made come in through the parameter `systems`: a folder with one folder of BVH files per
# system, named as in the list below. They are checked against the ground truth and stand beside the others from here on.

# %%
spans = generator.choose_spans(judged, sizes["clips_per_system"])
made = generator.write_clips(spans, run.folder / "clips", seed=seed)
if systems:
    truth = {name: versions["GT"] for name, versions in made.items()}
    own = own_systems.take_systems(systems, truth, run.folder / "clips")
    report.note_data(run, [p for files in own_systems.find_systems(systems, truth).values() for p in files], systems)
    made = {name: {**versions, **{s: own[s][name] for s in own}} for name, versions in made.items()}
for path in sorted((run.folder / "clips").rglob("*.bvh")):
    report.record_artefact(run, path)
listing = inputs.clip_listing(spans)
report.save_table(run, "inbetweening_clips", listing, note=f"NOISE: {generator.NOISE_DEGREES} degrees (assumed)")
short = "" if made else f"; no recording has the {generator.key_frames(300)[-1] + 1} frames that one needs"
names = ", ".join(next(iter(made.values()), generator.SYSTEMS))
report.show_table(
    listing.reset_index().rename(columns={"start": "first frame", "start_seconds": "start [s]"}),
    note=report.sentences(f"{len(made)} clips of each of {names}{short}", run.data_label),
)

# %%
keys = generator.key_frames(300)[:-1]
for versions in made.values():
    truth = versions["GT"].rotations[keys]
    assert all(np.array_equal(versions[s].rotations[keys], truth) for s in ("SLERP", "SLERP-Q"))
facts = report.save_table(run, "staystill_text_generator", inputs.generator_facts(len(folds)))

# %%
caption = report.sentences("the liveliest clip by every system", run.data_label)
versions = list(made[inputs.liveliest(made)].items()) if made else [("GT", judged[0].clip)]
report.player(versions, caption=caption)

# %% [markdown]
# ## What to take from this
#
# A number in a table of in-betweening errors depends on the windows, on whose standard deviation it is divided by, and on
# conventions such as the sign of a quaternion. With those fixed, plain interpolation is hard to beat on short gaps of
# quiet motion, which does not mean that people like it: that is the question of the
# [study of chapter 05](05_perception.ipynb).

# %%
_ = report.finish_chapter(run)

# %% [markdown]
# # Stick figures: motion as video that can be diagnosed
#
# After this chapter you can turn any motion into labelled frames, bit for bit as the published data set does (Dancing
# Stick Figures), read a figure's build and movement back from nothing but its pixels, and say which of these readings
# notices which kind of damage.
#
# A stick figure has eight limb colours and ink for the rest. Because the colours say which limb a pixel belongs to, a
# generated video can be scored without labels: are all limbs there and in one piece (TVR), do they touch what they
# should (LIE), are there foreign colours (CPE), how does the figure move.

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

# %%
import matplotlib.pyplot as plt
import numpy as np

from motionbook import budgets, report
from motionbook.report import frames_figures as figures
from motionbook.stickfigures import building, dataset, inputs, stress, systems
from motionbook.stickfigures.palette_check import palette_table

report.use_theme()
run = report.start_chapter("04_stickfigures", out=out, budget=budget, data=data, seed=seed, device=device)
sizes = budgets.sizes(budget, "04_stickfigures")

# %% [markdown]
# ## Source motions
#
# The data set has one motion per prompt and seed: six seconds, 27 joints, 20 frames per second. The published motions
# come from a text-to-motion model. If `data` is a folder of such files, they are used; a folder of anything else (BVH
# belongs to chapters 02 and 03) leaves the embedded ones: simple procedural performances of a dozen prompts, two of
# each group. Body, stroke and cameras are drawn from the clip's name alone, in the published order.

# %%
sources = building.source_motions(
    data, run.folder / "motions", prompts=sizes["prompts"], seeds=sizes["seeds"], limit=sizes["motions"]
)
run.data_label = sources.label
report.note_data(run, sources.paths)
frames = inputs.window(sources.motions, sizes["frames"])
built = building.build(sources.motions, run.folder / "frames", frames=frames, size=sizes["size"])
report.save_csv(run, "frames/index.csv", built.clips)
print(f"{sources.label}: {len(built.clips)} videos of {frames} frames at {sizes['size']} px")

# %% [markdown]
# Splits are by seed: 0 to 7 train, 8 validates, 9 tests. Every prompt can be in all three, no motion is in two.

# %%
table2 = dataset.split_table(sources.motions, views=3, frames=frames)
note = report.sentences(f"{frames} frames of 120 per video", sources.label)
report.save_table(run, "stickfigures_table2", table2, note=note)
report.show_table(table2, "stickfigures_table2", note=note)

# %%
assert table2.loc["All", "Videos"] == len(built.clips) == 3 * len(sources.motions)
assert table2.loc["All", "Frames"] == frames * len(built.clips)

# %% [markdown]
# What the set looks like in numbers. Prompt counts are those of the published list; everything measured is of the
# motions at hand.

# %%
facts = inputs.dataset_facts(sources, built.clips, frames)
report.save_table(run, "stickfigures_text_dataset", facts, note=note)
report.show_table(facts, "stickfigures_text_dataset", note=note)

# %% mystnb={"figure": {"name": "fig-prompts", "caption": "One video of each group as drawn for this run: eight frames at equal distances, view 0. Red and orange are the figure's left arm, blue its right; purple and pink its left leg, green its right."}}
figure = figures.strip_figure(inputs.group_strips(built.clips, run.folder / "frames", moments=8))
report.save_figure(run, "stickfigures_samples", figure, caption="One video of each group")
plt.show()

# %% [markdown]
# ## What is stored with a frame
#
# A z-buffer of capsules with 16 samples per pixel gives colour, depth, normals and the part that owns each pixel;
# joints are known in space and in the picture. Equal depths at shared joints are decided by rounding, exactly as in the
# published renderer, so its frames come out bit for bit.

# %% mystnb={"figure": {"name": "fig-stored", "caption": "One motion as it is stored (after Dancing Stick Figures, Figure 3): three views and five moments above; colour, parts, depth, normals and projected joints of one frame below."}}
motion = inputs.liveliest(sources.motions)
stored = inputs.stored_views(motion)
figure = figures.stored_figure(*stored, f"{motion.text} (frame {inputs.STORED_FRAME})")
report.save_figure(run, "stickfigures_fig3", figure, caption="One motion as it is stored")
plt.show()

# %% [markdown]
# How far can colour alone be trusted to name a part? One frame of every video, nearest palette colour against the
# segmentation.

# %%
palette = palette_table(built.palette)
note = report.sentences(
    f"{len(built.clips)} frames at {sizes['size']} px, percent where the paper says so", sources.label
)
report.save_table(run, "stickfigures_text_palette", palette, note=note)
report.show_table(palette, "stickfigures_text_palette", note=note)

# %%
assert palette.value["accuracy among assigned"] > 95

# %% [markdown]
# ## Damage to the build
#
# Five changes of the figure, each rendered again from the same motions: colours of the upper arms swapped, colours of
# all limbs swapped, a longer forearm, a missing hand, a third arm. A structural reading that is worth its name reacts
# to the first and the last. It is blind to the other three by design: it reads topology, neither proportions nor
# left and right.

# %%
clips = stress.held_out(sources.motions, seed)
structural = stress.structural_table(clips, sizes["stress_frames"])
note = report.sentences(f"{structural.frames.iloc[0]} frames of {len(clips)} motions at 128 px", sources.label)
report.save_table(run, "stickfigures_text_corruption", structural, note=note)
report.show_table(structural.drop(columns="frames"), "stickfigures_text_corruption", note=note)

# %%
real = structural.loc["real"]
assert structural.LIE["swap_LR_partial"] > real.LIE + 0.1 and structural.TVR["extra_arm"] > real.TVR + 0.03
assert np.all(np.abs(structural.loc[["swap_LR_full", "stretch_bone", "delete_hand"], "LIE"] - real.LIE) < 0.03)

# %% [markdown]
# ## Damage to time
#
# The same windows of 64 frames with their order changed. Freezing silences every motion signal, shuffling raises all,
# a loop of eight frames shifts them; reversal changes none, because none has a direction. The paper's second reading,
# the Fréchet video distance, needs a pretrained network and is not computed here.

# %%
temporal = stress.temporal_table(clips, seed)
note = report.sentences(f"{len(clips)} windows of 64 frames at 64 px", sources.label)
report.save_table(run, "stickfigures_text_temporal", temporal, note=note)
report.show_table(temporal.drop(columns="windows"), "stickfigures_text_temporal", note=note)

# %% mystnb={"figure": {"name": "fig-temporal", "caption": "Motion signals of windows with their order of frames changed, beside the published ones in grey (after Dancing Stick Figures, Figure 5a; FVD is not computed)."}}
published = report.published_frame("stickfigures_text_temporal")
figure = figures.stress_figure(temporal, published)
report.save_figure(run, "stickfigures_fig5", figure, caption="Motion signals under temporal damage", note="without FVD")
plt.show()

# %%
signals = temporal[["Speed", "Acceleration", "Jerk"]]
assert (signals.loc["freeze"] == 0).all() and (signals.loc["shuffle"] > 1.5 * signals.loc["real"]).all()
assert np.allclose(signals.loc["reverse"], signals.loc["real"], atol=5e-4)

# %% [markdown]
# ## The systems of chapter 03 as stick figures
#
# The ten-second clips of [chapter 03](03_inbetweening.ipynb) go through the same renderer: retargeted to this skeleton,
# resampled from 30 to 20 frames per second, first 64 frames, one body and camera per clip for all systems. What differs
# between the rows is motion alone. [Chapter 05](05_perception.ipynb) reads this table.

# %%
folder = report.take_inputs(run, "03_inbetweening", "clips/*/*.bvh", make=systems.make_clips(budget, seed))
label = report.inherited_label(run, "03_inbetweening", otherwise="embedded performers (synthetic), made here")
measured = systems.measure(folder)
report.save_table(run, "systems_motion", measured.set_index("clip"), note="first 64 frames, view 0, 64 px", data=label)
means = measured.groupby("system", sort=False).mean(numeric_only=True)
report.show_table(
    figures.readable_diagnostics(means), note=report.sentences(f"means over {len(measured) // len(means)} clips", label)
)

# %% mystnb={"figure": {"name": "fig-systems", "caption": "The liveliest 3.2 seconds of one clip by every system of chapter 03, as stick figures: seven moments, each with five frames laid over each other, and the mean change of every pixel from one frame to the next."}}
figure = figures.systems_figure(folder)
report.save_figure(run, "stickfigures_systems", figure, caption="One clip by every system", data=label)
plt.show()

# %%
if {"GT", "NOISE"} <= set(means.index):
    ratio = means.angle_jerk["NOISE"] / means.angle_jerk["GT"]
    print(f"noise makes the angles {ratio:.1f} times as jerky as the ground truth")
    assert ratio > 2 or not label.startswith("embedded"), "of the embedded performers, who stand, this holds"

# %% [markdown]
# ## What to take from this
#
# `stickfigures.score(frames)` needs frames with alpha and nothing else, so it can be put on any video of this figure.
# Its structural rates are not zero on real frames (limbs hide each other) and mean something only beside those of real
# frames at the same size; its motion signals cannot tell a motion from its reverse.

# %%
_ = report.finish_chapter(run)

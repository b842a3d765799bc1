# %% [markdown]
# # Cleaning: from raw takes to a benchmark data set
#
# After this chapter you can turn a folder of captured takes, your own included, into a data set: faults cut out, every
# clip at the origin, on the skeleton that in-betweening works on, and divided into folds that keep people apart. It
# rebuilds sections 3.1.3 to 3.2.4 of StayStill and its Tables 3 and 4.

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
annotations: str = ""  # CSV of ranges to remove: Animation name,From frame,To frame

# %%
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
from IPython.display import display

from motionbook import budgets, read_bvh, report
from motionbook.capture import session
from motionbook.cleaning import build_dataset, dataset, embedded, faults, retarget, summary
from motionbook.report import cleaning_figures as figures
from motionbook.skeletons import FREEMOCAP

report.use_theme()
run = report.start_chapter(
    "02_cleaning", out=out, budget=budget, data=data, seed=seed, device=device, annotations=annotations
)
sizes = budgets.sizes(budget, "02_cleaning")

# %% [markdown]
# ## The takes
#
# Without other data, [chapter 01](01_capture.ipynb)'s filmed takes come first and the same performers' motion, straight
# from the generator, fills the data set: idle, idle with a phone and the 19 actions of Table 3. A folder of BVH files
# given as `data` replaces all of it.

# %%
opened = dataset.open_takes(data)
if opened:
    report.note_data(run, [take.path for take in opened.takes])
else:
    if data:
        print(f"{data} holds no BVH file; the embedded performers are used")
    size = budgets.sizes(budget, "01_capture")
    make = partial(session.write_takes, subjects=size["subjects"], seconds=size["seconds"], seed=seed)
    captured = report.take_inputs(run, "01_capture", "clips/*.bvh", make=make) / "clips"
    takes = embedded.embedded_takes(run.folder / "generated", sizes, seed, captured)
    filmed = f"{len(embedded.captured_takes(captured))} idle takes were filmed in chapter 01"
    opened = dataset.Opened(takes, embedded.ABOUT, None, (filmed,), run.out)
takes, about, folds, notes, root = opened
run.data_label = about["label"]
print(f"{about['label']}: {len(takes)} takes, {len({t.subject for t in takes})} people; {about['fps_note']}")
print(*notes, sep="\n")

# %% [markdown]
# ## Cleaning
#
# Each take is searched for faults and cut, put on the floor, moved so that the person stands at the origin in the first
# frame and faces forward, and retargeted to LaFAN1's 22 joints. What cannot be used is listed with its reason.

# %%
listed = None
if annotations:
    report.note_data(run, [annotations], root=Path(annotations).parent)
    listed = faults.read_annotations(annotations)
built = build_dataset(takes, run.folder / "dataset", about=about, folds=folds, seed=seed, root=root, annotations=listed)
for skip in built.skipped:
    print(f"skipped {skip['path']}: {skip['reason']}")
clips = [entry for entry in built.listing["clips"] if entry["path"].startswith("lafan/")]
note = report.sentences(about["label"], about["fps_note"])
print(
    f"{len(clips)} clips of {len(built.takes)} takes, {sum(c['frames'] for c in clips)} frames, {len(built.skipped)} skipped"
)

# %% [markdown]
# ### Faults
#
# The published rule takes the speed of every joint as a z-score within its clip: a frame is bad where one exceeds 5, and
# so are ten frames on either side; of the rest, runs of 60 frames and more are kept. It is relative. In a clip in which
# somebody hardly moves, shifting the weight is an outlier. The rule used here asks for motion that no waiting person
# makes: bones faster or jerkier than a quick movement, limbs that change sides or spin, feet that both slide.

# %%
removed = summary.fault_table(built.takes)
by_hand = "The last column also counts the ranges listed by hand." if annotations else ""
report.save_table(run, "cleaning_faults", removed, note=note)
display(
    report.show_table(
        figures.clip_names(removed),
        note=f"{note} Percent of frames that each rule removes, in takes where a person waits. {by_hand}".strip(),
    )
)
if len(removed) and not annotations:
    assert removed.loc["all", "robust rule [%]"] < removed.loc["all", "published rule [%]"]

# %% [markdown]
# ### Two skeletons
#
# Retargeting reads every body part's rotation against the pose in which its rig stands straight, and writes it into the
# other rig. Bones then point where they pointed, whatever pose either rig was drawn in. The path of the hips is scaled
# with the legs, and each ankle goes where the scaled source has it: a foot must not slide more than it did.

# %%
kept = summary.retarget_table(built.takes)
report.save_table(run, "cleaning_retargeting", kept, note=note)
display(
    report.show_table(
        figures.clip_names(kept),
        note=f"{note} Slide: speed of planted ankles, in percent of the leg's length per second.",
    )
)
if about["name"] in ("embedded", "reactidle", "lafan1", "staystill"):
    assert kept["worst bone [deg]"].max() < 5
assert not (kept["slide after [%/s]"] > 1.02 * kept["slide before [%/s]"] + 0.01).any()

# %% mystnb={"figure": {"name": "fig-two-skeletons", "caption": "One frame on FreeMoCap's skeleton (a) and on LaFAN1's (b), from the front and from the person's left (after StayStill, Figure 2). The person's left side is orange."}}
shown = figures.paired_clip(built.listing["clips"])
pair = [(label, read_bvh(built.folder / path, metres_per_unit=0.01, positions="replace")) for label, path in shown]
if len(pair) == 1:  # data on LaFAN1's rig alone
    pair.insert(0, ("FreeMoCap", retarget(pair[0][1], FREEMOCAP)))
frame = figures.telling_frame(pair[-1][1])
figure = figures.two_skeletons_figure(pair[0][1], pair[-1][1], frame, (pair[0][0], pair[-1][0]))
report.save_figure(run, "staystill_fig2", figure, caption=f"One frame on two skeletons, {about['label']}")
plt.show()

# %%
report.player(
    [(label, clip[:600]) for label, clip in pair],
    caption=report.sentences(f"the clip {shown[-1][1]} on both rigs", about["label"]),
)

# %% [markdown]
# ## What the data set holds
#
# Table 3 of the paper, for this data. Like the paper, it counts takes as recorded; what is left after faults were cut
# stands beside.

# %%
table3 = summary.motion_table(built.takes)
table3["Frames kept"] = summary.motion_table(clips)["Frames"].reindex(table3.index).fillna(0).astype(int)
report.save_table(run, "staystill_table3", table3, note=note)
report.show_table(table3, "staystill_table3", note=note)

# %%
numbers = summary.dataset_numbers(built.takes, built.listing["folds"])
report.save_table(run, "staystill_text_dataset", numbers, note=note)
display(report.show_table(numbers, "staystill_text_dataset", note=note))
whole = table3.loc[[name for name in table3.index if not name.startswith("Action: ")]]
assert whole["Frames"].sum() == sum(take["frames"] for take in built.takes)

# %% [markdown]
# ### The classes at a glance
#
# The frame of each class that is furthest from the pose the clip begins with.

# %% mystnb={"figure": {"name": "fig-classes", "caption": "Example frames of the classes of this data set, drawn with capsules (after StayStill, Figure 3)."}}
examples = []
for words, entry in figures.example_clips(clips, summary.motion_row, table3.index):
    clip = read_bvh(built.folder / entry["path"], metres_per_unit=0.01, positions="replace")
    examples.append((words.removeprefix("Action: "), clip, figures.telling_frame(clip)))
figure = figures.classes_figure(examples)
report.save_figure(run, "staystill_fig3", figure, caption=f"Example frames of the classes, {about['label']}")
plt.show()

# %% [markdown]
# ## Folds
#
# A test is fair when nobody in it was seen in training, so people are divided, never clips. Table 4 of the paper gives
# five such divisions of its 50 people (its third fold tests a subject 50 who does not exist); this data's are below, with
# their balance.

# %%
fold_list = built.listing["folds"]
table4 = summary.fold_table(fold_list)
report.save_table(run, "staystill_table4", table4, note=f"{note} {report.sentences(built.listing['folds_note'])}")
display(report.show_table(table4, "staystill_table4", note=note))
balance = summary.fold_balance(fold_list, clips)
report.save_table(run, "cleaning_folds", balance, note=note)
report.show_table(balance, note=note)

# %%
assert balance["disjoint"].all() or len({c["subject"] for c in clips}) == 1
for path in sorted(built.folder.rglob("*")):
    if path.suffix in (".bvh", ".json"):
        report.record_artefact(run, path)
_ = report.finish_chapter(run)

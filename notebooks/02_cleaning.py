# %% [markdown]
# # Cleaning: from raw takes to a benchmark data set
#
# After this chapter you can turn recordings, your own included, into a data set: sessions cut into labelled takes,
# faults cut out, every clip at the origin, on the skeleton that in-betweening works on, and divided into folds that keep
# people apart. It rebuilds sections 3.1.3 to 3.2.4 of StayStill, its Tables 3 and 4 and its Figures 2 and 3.

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
labels: str = ""  # CSV of the takes in the recordings of `data`: clip,from,to,label
annotations: str = ""  # CSV of ranges to remove: Animation name,From frame,To frame
rule: str = "robust"  # which faults are cut: "robust" or "published"
correct_sizes: bool = False  # scale takes whose size no adult has

# %%
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import display

from motionbook import budgets, export, read_bvh, report, write_bvh
from motionbook.capture import session
from motionbook.data.layouts import bvh_files, load_clip
from motionbook.data.splits import published_folds
from motionbook.report import cleaning_figures as figures
from motionbook.report import fault_figures, segmentation_figures
from motionbook.skeletons import FREEMOCAP, LAFAN1
from motionbook.synthesis.performers import idle, make_performer, to_freemocap

report.use_theme()

# %% tags=["hide-input"]
from motionbook.cleaning import (
    build_dataset,
    cut_points,
    embedded,
    faults,
    kept_by_edits,
    label_tables,
    published_counts,
    retarget,
    segmentation,
    summary,
    takes_folder,
)
from motionbook.cleaning import fault_experiment as experiment
from motionbook.cleaning import motion_statistics as motion
from motionbook.cleaning import takes as taking
from motionbook.cleaning.dataset import clean_take
from motionbook.cleaning.retarget_report import retarget_report
from motionbook.cleaning.retarget_survey import retarget_survey
from motionbook.cleaning.session import cuts_found, embedded_session

# %%
taking.check_parameters(data, labels, annotations, rule, correct_sizes)
run = report.start_chapter(
    "02_cleaning",
    out=out,
    budget=budget,
    data=data,
    seed=seed,
    device=device,
    labels=labels,
    annotations=annotations,
    rule=rule,
    correct_sizes=correct_sizes,
)
sizes = budgets.sizes(budget, "02_cleaning")

# %% [markdown]
# ## The takes
#
# Without other data, [chapter 01](01_capture.ipynb)'s filmed takes come first and the same performers' motion, straight
# from the generator, fills the data set: idle, idle with a phone and the 19 actions of Table 3. A folder of BVH files
# given as `data` replaces all of it. When they are recordings of whole sessions, a table given as `labels` says what is
# in them, and they are cut first.

# %%
folder = Path(data) if data else None
if data and labels:
    report.note_data(run, [labels], root=Path(labels).parent)
    cut = takes_folder.write_takes(folder, labels, run.folder / "takes", replace=True)
    folder = cut.folder
opened = taking.open_takes(folder) if folder else None
if opened:
    report.note_data(run, bvh_files(Path(data)) if labels else [take.path for take in opened.takes])
elif data:
    print(f"{data} holds no BVH file; the embedded performers are used")

# %%
if not opened:
    size = budgets.sizes(budget, "01_capture")
    make = partial(session.write_takes, subjects=size["subjects"], seconds=size["seconds"], seed=seed)
    captured = report.take_inputs(run, "01_capture", "clips/*.bvh", make=make) / "clips"
    made = embedded.embedded_takes(run.folder / "generated", sizes, seed, captured)
    filmed = f"{len(embedded.captured_takes(captured))} idle takes were filmed in chapter 01"
    opened = taking.Opened(made, embedded.ABOUT, None, (filmed,), run.out)
takes, about, folds, notes, root = opened
run.data_label = about["label"]
synthetic = embedded.ABOUT["label"]
note = report.sentences(about["label"], about["fps_note"])
print(f"{about['label']}: {len(takes)} takes, {len({t.subject for t in takes})} people; {about['fps_note']}")
print(*notes, sep="\n")

# %% [markdown]
# ## Editing
#
# A clip is cut, joined, moved, turned, mirrored, brought to other units, axes and frame rates many times before it is
# part of a data set. Which of these lose something? Each is done and undone on one take, and every joint compared with
# where it was.

# %%
first = taking.first_usable(takes)
edits = kept_by_edits.edits_table(load_clip(first)[:1200])
report.save_table(run, "cleaning_edits", edits, note=note)
report.show_table(edits, note=f"{note} Exact: every joint of every frame within 1e-9 m.")

# %% [markdown]
# Only other frame rates lose anything, and only at times that the two rates do not share: there a frame lies on the
# shortest arc between its neighbours. All else comes back to the last digit but a few.

# %%
possible = edits.dropna()  # what a rig does not allow has no number
whole = [name for name in possible.index if not name.endswith(", all")]
assert possible.loc[whole, "exact"].all()

# %% [markdown]
# ## Segmentation
#
# A session is recorded in one piece and cut afterwards, by a table with a row per take. Where the cuts might be, the
# motion itself suggests: somebody who does one thing after another stands between them. An embedded performer does the
# 19 actions in one recording, so that every true cut is known.

# %%
recording = embedded_session(make_performer(0, seed), seed=seed)
suggestion = cut_points.suggest_cuts(recording.clip)
counts = cuts_found(recording.takes, suggestion, recording.clip.fps)
rows = {"takes": len(recording.takes), "cuts to find": counts.true, "suggested": counts.suggested}
rows |= {"within 0.5 s": counts.found, "found [%]": 100 * counts.recall, "right [%]": 100 * counts.precision}
cuts = pd.DataFrame({"value": pd.Series(rows, dtype=object)})
report.save_table(run, "cleaning_cuts", cuts, data=synthetic)
display(report.show_table(cuts, note=f"{synthetic}; {recording.clip.duration:.0f} s."))
assert counts.recall > 0.5 and counts.precision > 0.5

# %% mystnb={"figure": {"name": "fig-session", "caption": "Motion energy of a session in which one performer does all actions, the cuts suggested from it, fainter where they are less sure, and the true takes as bands."}}
figure = segmentation_figures.motion_energy_figure(suggestion, recording.clip.fps, recording.takes)
report.save_figure(run, "cleaning_session", figure, caption="Motion energy and cuts of a session", data=synthetic)
plt.show()

# %% [markdown]
# The suggestions are a start, not the answer: a quiet action is missed, one that begins slowly is cut late, a shift of
# the weight is taken for one. Written as a table they are corrected by hand and cut under the published names, or refused: everything
# that is wrong with a table is told at once, by line.

# %%
folder, name = run.folder / "session", recording.name
write_bvh(recording.clip, folder / f"{name}.bvh")
label_tables.write_labels(folder / "labels.csv", recording.takes)
cut = takes_folder.write_takes(
    folder / f"{name}.bvh",
    folder / "labels.csv",
    folder / "takes",
    read=embedded.OWN_FILES,
    prepare=clean_take,
    about=embedded.ABOUT,
    replace=True,
)
print(len(cut.listing["clips"]), "takes:", ", ".join(entry["path"] for entry in cut.listing["clips"][:4]), "...")

# %%
bad = ["clip,from,to,label", f"{name},60,200,look up/sky", f"{name},150,300,l_aro", f"{name},900,700,yaw"]
bad += [f"{name},4000,99999,l_wat", f"{name},1000,1100,scratch nose", "01_sesion,0,90,l_up"]
(folder / "bad_labels.csv").write_text("\n".join(bad) + "\n")
try:
    segmentation.segment({name: recording.clip}, folder / "bad_labels.csv")
except segmentation.LabelError as error:
    problems = error.problems
for line, text in problems:
    print(f"line {line}: {text}")
assert [problem.line for problem in problems] == [3, 4, 5, 6, 7]

# %% [markdown]
# ## Faults
#
# Each take is searched for faults and cut, put on the floor, moved so that the person stands at the origin in the first
# frame and faces forward, and retargeted to LaFAN1's 22 joints. What cannot be used is listed with its reason. First the
# one fault that no look at the motion shows: a wrong size.

# %%
checked, factors = taking.wrong_sizes(takes, root)
odd = checked[checked["verdict"] != ""].set_index("clip")
print(f"{len(checked)} takes on the captured rig measured, {len(odd)} of a size to doubt")
if len(odd):
    report.save_table(run, "cleaning_sizes", odd, note=note)
    display(report.show_table(odd[["subject", "head_height_m", "stature_m", "verdict", "factor"]], note=note))
    print("corrected" if correct_sizes else "left as they are; correct_sizes=True scales them by the factor")

# %%
listed = None
if annotations:
    report.note_data(run, [annotations], root=Path(annotations).parent)
    listed = faults.read_annotations(annotations)
about_run = {"about": about, "folds": folds, "seed": seed, "root": root, "method": rule, "annotations": listed}
built = build_dataset(takes, run.folder / "dataset", factors=factors if correct_sizes else None, **about_run)
for words in built.notes:
    print(words)
for skip in built.skipped:
    print(f"skipped {skip['path']}: {skip['reason']}")
clips = [entry for entry in built.listing["clips"] if entry["path"].startswith("lafan/")]
frames = sum(c["frames"] for c in clips)
print(f"{len(clips)} clips of {len(built.takes)} takes, {frames} frames, {len(built.skipped)} skipped")

# %% [markdown]
# ### What two rules remove
#
# The published rule takes the speed of every joint as a z-score within its clip: a frame is bad where one exceeds 5, and
# so are ten frames on either side; of the rest, runs of 60 frames and more are kept. It is relative. In a clip in which
# somebody hardly moves, shifting the weight is an outlier. Of ReActIdle, real people who wait, it removes every eighth
# frame. The robust rule asks for motion that no waiting person makes: bones faster or jerkier than a quick movement,
# limbs that change sides or spin, bones that change their length, feet that both slide.

# %%
removed = summary.fault_table(built.takes)
report.save_table(run, "cleaning_faults", removed, note=note)
words = "Percent of frames, in takes where a person waits; cut here: by the rule chosen and by hand."
display(report.show_table(figures.clip_names(removed), note=f"{note} {words}"))
if len(removed):
    assert removed.loc["all", "robust rule [%]"] < removed.loc["all", "published rule [%]"]
if about["name"] == "reactidle":
    lost = removed["published rule [%]"]
    assert lost["all"] > 10 and lost.min() > 5 and lost.max() < 30

# %% mystnb={"figure": {"name": "fig-removed", "caption": "The take that loses most frames to the published rule: speed of its two fastest joints, and what each rule removes, dark where a frame is called bad and light where the rest is too short to keep."}}
waiting = [take for take in built.takes if take["group"] in taking.SEARCHED_GROUPS]
if waiting:
    most = max(waiting, key=lambda take: take["published_removed"])["clip"]
    most_lost = load_clip(taking.find_take(takes, most, root))
else:
    most, most_lost = "an embedded performer (synthetic)", to_freemocap(idle(make_performer(0, seed), 60.0))
figure = fault_figures.removal_figure(most_lost, most.rsplit("/", 1)[-1])
report.save_figure(
    run, "cleaning_removed", figure, caption="What two fault rules remove", data=None if waiting else synthetic
)
plt.show()

# %% [markdown]
# ### Which rule is right?
#
# On a recording nobody knows. So faults are put into takes where no rule finds any: joints that jump, jitter, drift, are
# held or filled in, swap sides, spin, and bones that grow, at times and sizes drawn from a seed. A rule is good that
# finds them and flags little else.

# %%
longest = sorted(waiting, key=lambda take: -take["frames"])[: sizes["fault_clips"]]
untouched = [load_clip(taking.find_take(takes, take["clip"], root)) for take in longest]
untouched = untouched or [to_freemocap(idle(make_performer(i, seed), 60.0)) for i in range(sizes["fault_clips"])]
scores = experiment.fault_experiment(untouched, seed)
scored = experiment.precision_table(scores)
scored_on = about["label"] if waiting else synthetic
report.save_table(run, "cleaning_fault_sizes", experiment.recall_table(scores), data=scored_on)
flat = scored.set_axis([f"{method}: {what}" for what, method in scored.columns], axis=1)
_ = report.save_table(run, "cleaning_fault_scores", flat, data=scored_on, note=f"{len(untouched)} takes, faults put in")

# %% mystnb={"figure": {"name": "fig-fault-scores", "caption": "Faults put into takes: how many each rule finds, how many of its flags are faults, and how many good frames go with them."}}
figure = fault_figures.scores_figure(scored)
report.save_figure(run, "cleaning_fault_scores", figure, caption=f"Faults found, {scored_on}", data=scored_on)
plt.show()

# %%
both = scored.loc["all"].unstack().rename_axis("of all faults put in [%]")
display(report.show_table(both, note=f"{scored_on}: {len(untouched)} takes, faults put in by seed {seed}."))
if synthetic == scored_on or about["name"] == "reactidle":
    assert both.loc["events found", "robust"] > both.loc["events found", "published"]
    assert both.loc["stretches right", "robust"] > both.loc["stretches right", "published"]
    assert both.loc["good frames lost", "robust"] < both.loc["good frames lost", "published"]

# %% [markdown]
# ### How good the takes are
#
# Four numbers say whether a take is fit for use: how fast planted feet slide, how smoothly hands, feet and head move
# (log dimensionless jerk; higher is smoother), how often a limb is inside another, and whether bones change.

# %%
quality = summary.quality_summary(built.takes)
per_take = pd.DataFrame([{"clip": take["clip"], **take["quality"]} for take in built.takes]).set_index("clip")
report.save_table(run, "cleaning_clip_quality", per_take, note=note)
report.save_table(run, "cleaning_quality", quality, note=note)
told = quality.loc[:, (quality != "").any()]
report.show_table(figures.clip_names(told), note=f"{note} As recorded, before anything was cut.")

# %% [markdown]
# ## Two skeletons
#
# Retargeting reads every body part's rotation against the pose in which its rig stands straight, and writes it into the
# other rig. Bones then point where they pointed, whatever pose either rig was drawn in. The path of the hips is scaled
# with the legs, and each ankle goes where the scaled source has it: a foot must not slide more than it did.

# %% mystnb={"figure": {"name": "fig-two-skeletons", "caption": "One frame on FreeMoCap's skeleton (a) and on LaFAN1's (b), from the front and from the person's left (after StayStill, Figure 2). The person's left side is orange."}}
shown = figures.paired_clip(built.listing["clips"])
pair = [(words, read_bvh(built.folder / path, metres_per_unit=0.01, positions="replace")) for words, path in shown]
if len(pair) == 1:  # data on LaFAN1's rig alone
    pair.insert(0, ("FreeMoCap", retarget(pair[0][1], FREEMOCAP)))
frame = figures.telling_frame(pair[-1][1])
figure = figures.two_skeletons_figure(pair[0][1], pair[-1][1], frame, (pair[0][0], pair[-1][0]))
report.save_figure(run, "staystill_fig2", figure, caption=f"One frame on two skeletons, {about['label']}")
plt.show()

# %%
report.player(
    [(words, clip[:600]) for words, clip in pair],
    caption=report.sentences(f"the clip {shown[-1][1]} on both rigs", about["label"]),
)

# %% [markdown]
# Every retargeting can account for itself: what drives each joint and why, how far each bone's direction is off, what
# stays at rest.

# %%
source = load_clip(first)
account = retarget_report(source, retarget(source, LAFAN1))
print(*account.text.splitlines()[:7], sep="\n")
report.show_table(account.joints.set_index("joint"), note=f"{first.path.name}. {note}")

# %%
columns = ["rig", "frames", "bones", "worst_bone", "worst_deg", "at_rest", "slide_before", "slide_after", "note"]
one_each = taking.one_per_rig(takes)
survey = retarget_survey([take.path for take in one_each], read=one_each[0].read).set_index("file")
report.save_table(run, "cleaning_rigs", survey, note=note)
report.show_table(survey[columns], note=f"{note} One file of every rig that is there.")

# %%
kept = summary.retarget_table(built.takes)
report.save_table(run, "cleaning_retargeting", kept, note=note)
words = "Slide: speed of planted ankles, in percent of the leg's length per second."
display(report.show_table(figures.clip_names(kept), note=f"{note} {words}"))
if about["name"] in ("embedded", "reactidle", "lafan1", "staystill"):
    assert kept["worst bone [deg]"].max() < 5
assert not (kept["slide after [%/s]"] > 1.02 * kept["slide before [%/s]"] + 0.01).any()

# %% [markdown]
# ## What the data set holds
#
# Table 3 of the paper, for this data. Like the paper, it counts takes as recorded; what is left after faults were cut
# stands beside.

# %%
table3 = summary.motion_table(built.takes)
table3["Frames kept"] = summary.motion_table(clips)["Frames"].reindex(table3.index).fillna(0).astype(int)
report.save_table(run, "staystill_table3", table3, note=note)
display(report.show_table(table3, "staystill_table3", note=note))
parts = table3.loc[[name for name in table3.index if not name.startswith("Action: ")]]
assert parts["Frames"].sum() == sum(take["frames"] for take in built.takes)
if about["name"] == "staystill":
    check = published_counts.published_check(table3)
    report.save_table(run, "cleaning_table3_check", check.set_index("row"), note=note)
    print(*(published_counts.differences(check) or ["every row and total is as printed"]), sep="\n")

# %%
numbers = summary.dataset_numbers(built.takes, built.listing["folds"])
report.save_table(run, "staystill_text_dataset", numbers, note=note)
report.show_table(numbers, "staystill_text_dataset", note=note)

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
# ### What idle motion is
#
# Somebody who waits seems to do nothing. Measured on one skeleton: how fast the joints move, how much of the time all of
# them are still, how far each part of the body turns within four seconds, and at which frequencies the energy is. Takes
# that chapter 1 filmed have a row of their own, because their joints tremble by what its simulated cameras are off, more
# than a person who waits moves them.

# %%
apart = [{**clip, "label": summary.FILMED} if embedded.is_filmed(clip) else clip for clip in clips]
measured = motion.dataset_statistics(motion.listed_files(built.folder, apart))
if len(measured) < len(clips):
    print(f"{len(clips) - len(measured)} clips of less than 2 s are left out")
classes = motion.class_statistics(measured, summary.motion_rows)
classes = classes.loc[summary.motion_order(classes.index)]
report.save_table(run, "cleaning_motion", classes, note=note)
parts = classes.loc[[name for name in classes.index if not name.startswith("Action: ")]]
words = (
    "Speed: mean of the joints, median and (fast) 95 % of the frames. Still: below 2 cm/s. Moves: rises over 10 cm/s."
)
report.show_table(parts.T, note=f"{note} {words}", by_row=True)

# %% mystnb={"figure": {"name": "fig-motion", "caption": "How each class moves: speed, time in which the whole body is still, range of motion by part of the body within four seconds, and energy by frequency."}}
figure = figures.statistics_figure(classes, (*summary.TOTALS, summary.FILMED))
report.save_figure(run, "cleaning_motion", figure, caption=f"How each class moves, {about['label']}")
plt.show()

# %% [markdown]
# Idle motion is not the absence of motion. Somebody who waits is slower than in an action and still for longer, a quarter
# of the time, but begins to move a dozen times a minute: weight goes from leg to leg, the head turns, and most of the
# energy is below 1 Hz. Holding a phone takes half of the motion out of the arms and more, and leaves most of it to the
# legs. An action moves its own part of the body; of all of them scratching an arm or a leg has much that is fast, about
# a tenth of its energy or more over 3 Hz.

# %%
slow = classes["under 1 Hz [%]"] + classes["1 to 3 Hz [%]"]
if about["name"] == "embedded" and set(summary.TOTALS) <= set(classes.index):
    waits, phones, acts = (classes.loc[name] for name in (summary.TOTALS[1], summary.TOTALS[2], summary.TOTALS[0]))
    assert phones["speed [cm/s]"] < waits["speed [cm/s]"] < acts["speed [cm/s]"]
    assert phones["still [%]"] > waits["still [%]"] > acts["still [%]"]
    assert phones["arms [deg]"] < waits["arms [deg]"] < acts["arms [deg]"]
    assert min(waits["under 1 Hz [%]"], phones["under 1 Hz [%]"]) > 50 and waits["moves [1/min]"] > 10
    assert phones["arms [deg]"] < 0.55 * waits["arms [deg]"] and phones["legs [deg]"] > 0.55 * waits["legs [deg]"]
    assert slow[["Action: scratch arm", "Action: scratch leg"]].max() < 92
if about["name"] in ("embedded", "reactidle"):
    assert slow.reindex([*summary.TOTALS]).dropna().min() > 85

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
if about["name"] == "staystill":
    differ = published_counts.folds_differ(fold_list, published_folds()[0])
    print(f"folds that are not the published ones: {differ or 'none'}")
report.show_table(table4, "staystill_table4", note=note)

# %%
balance = summary.fold_balance(fold_list, clips)
report.save_table(run, "cleaning_folds", balance, note=note)
display(report.show_table(balance.T, note=note, by_row=True))
assert balance["disjoint"].all() or len({c["subject"] for c in clips}) == 1

# %% mystnb={"figure": {"name": "fig-folds", "caption": "Minutes of motion and people in the training, validation and test set of each fold."}}
figure = figures.balance_figure(balance)
report.save_figure(run, "cleaning_folds", figure, caption=f"Balance of the folds, {about['label']}")
plt.show()

# %% [markdown]
# ## Out of the book
#
# The clips are BVH, as the chapters after this one read them. For other programs a clip is written as npz, CSV or glTF,
# which plays with a body in any glTF viewer. All of it works on folders of files, too, without the book:
#
# ```console
# motionbook clip info "takes/**/*.bvh"
# motionbook clip clean takes --out clean --sizes correct
# motionbook clip retarget clean --out lafan
# motionbook clip convert lafan --to glb --out models
# ```

# %%
exported = run.folder / "export"
for write, suffix in ((export.write_npz, "npz"), (export.write_csv, "csv"), (export.write_gltf, "glb")):
    path = write(pair[-1][1][:300], exported / f"{Path(shown[-1][1]).stem}.{suffix}")
    report.record_artefact(run, path)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")

# %%
for folder in (built.folder, run.folder / "session"):
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".bvh", ".json", ".csv"):
            report.record_artefact(run, path)
_ = report.finish_chapter(run)

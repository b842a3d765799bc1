# %% [markdown]
# # Capture: from four cameras to a skeleton
#
# After this chapter you can follow a motion from cameras to a skeleton file and say how large the error of every step
# is. It rebuilds section 3.1.1 of StayStill: four cameras on a semicircle, a pose detector on every picture,
# triangulation, and a rig with constant bones.
#
# Nobody has to be filmed for it. The embedded performers stand in front of simulated cameras, so the truth is known and
# every error can be measured against it.

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
import pandas as pd
from motionbook import budgets, report
from motionbook.capture import semicircle, session
from motionbook.report import capture_figures as figures
from motionbook.skeletons import LAFAN1

report.use_theme()
run = report.start_chapter("01_capture", out=out, budget=budget, data=data, seed=seed, device=device)
sizes = budgets.sizes(budget, "01_capture")
run.data_label = "embedded performers (synthetic)"
if data:
    print(f"{data} is not used here: this chapter reads no 2-D points or videos yet and films the embedded performers")

# %% [markdown]
# ## The room
#
# Four cameras stand on an arc in front of the person, at the height of the chest, 1920 x 1080 pixels and 30 pictures a
# second. The paper prints their distances only in a drawing; here the arc has a radius of 3 m and spans 135 degrees. A
# camera is a pinhole with lens distortion: a point $X$ goes to $x = R X + t$, is divided by its depth, bent by the lens
# and scaled by the focal length.
#
# The detector is simulated. It reports the 33 landmarks of MediaPipe Pose, 2 pixels off on average per axis (half of that
# drifts, half flickers), with a confidence that falls when it errs more, and loses 3 % of them for a fifth of a second
# at a time.

# %%
performer, take = session.film_performer(0, sizes["seconds"], seed)
cameras = semicircle(4, distortion=session.LENS)
print(f"{len(take.seen.names)} landmarks, {len(performer)} frames, {len(cameras)} cameras")

# %% mystnb={"figure": {"name": "fig-cameras", "caption": "Left: plan of the recording area with four cameras on a semicircle (after StayStill, Figure 1). Right: what the detector reports on each camera's picture of one frame, cut to the person; dark points are sure, light ones are not, and some are lost."}}
figure = figures.camera_figure(cameras, take, len(performer) // 2)
report.save_figure(
    run, "staystill_fig1", figure, caption="Plan of the recording area and the four pictures of one frame"
)
plt.show()

# %% [markdown]
# ## From pictures to points
#
# A camera that sees a point says that it lies on a ray. Two rays and more are combined by confidence-weighted linear
# triangulation: each picture gives two linear equations in the point's place, weighted with the detector's confidence,
# and all points of all frames are solved at once. What fewer than two cameras see stays unknown.
#
# Then gaps of up to 0.4 s are closed by straight lines, and a Butterworth filter, run forwards and backwards so that
# nothing is delayed, takes out what is faster than 7 Hz. Running twice would lower that limit to 6.5 Hz; the filter is
# designed for it.

# %% mystnb={"figure": {"name": "fig-steps", "caption": "The right wrist's height and its error: as triangulated and after closing gaps and filtering."}}
figure = figures.steps_figure(take)
report.save_figure(run, "capture_steps", figure, caption="One landmark through the steps of capture")
plt.show()

# %% [markdown]
# ## From points to a skeleton
#
# Bones get their median length and keep it. Pelvis, chest and neck see two directions each and take a full rotation from
# them; every other bone sees one and takes the smallest turn from where its parent would carry it.
#
# How far off is the result? Per person:

# %%
takes = {0: take}
for subject in range(1, sizes["subjects"]):
    takes[subject] = session.film_performer(subject, sizes["seconds"], seed)[1]
measured = pd.DataFrame({f"{subject:02d}": session.errors(t) for subject, t in takes.items()}).T
measured.index.name = "subject"
mpjpe = "MPJPE: mean distance of landmarks, or of the clip's joints, from the performer's own"
note = report.sentences(run.data_label, mpjpe)
report.save_table(run, "capture_errors", measured, note=note)
report.show_table(figures.by_person(measured), note=note, by_row=True)

# %% [markdown]
# Filtering helps, and so does the skeleton: averaging a bone's length over the whole take uses what no single frame
# knows.

# %%
means = measured.mean()
assert (
    means["MPJPE clip [mm]"] < means["MPJPE raw [mm]"] < 15 and means["MPJPE filtered [mm]"] < means["MPJPE raw [mm]"]
)
assert means["reprojection [px]"] < 3 and means["bone error [mm]"] < means["bone spread [mm]"]
print(f"{means['MPJPE raw [mm]']:.1f} mm triangulated, {means['MPJPE clip [mm]']:.1f} mm in the clip")

# %% [markdown]
# ### How many cameras?

# %%
by_count = {}
for count in sizes["cameras"]:
    filmed = takes if count == 4 else {s: session.film_performer(s, sizes["seconds"], seed, count)[1] for s in takes}
    by_count[count] = pd.DataFrame([session.errors(t) for t in filmed.values()]).mean()
cameras_table = pd.DataFrame(by_count).T.rename_axis("cameras").drop(columns="frames")
note = report.sentences(run.data_label, f"mean over {len(takes)} people; budget {budget}")
report.save_table(run, "capture_cameras", cameras_table, note=note)
report.show_table(cameras_table.T.rename_axis("cameras"), note=note, by_row=True)

# %% [markdown]
# ## The performer and the capture
#
# The player shows them side by side; its button *Lay the people over each other* puts them on one place. Look at the
# hands, which have the longest way from the root.

# %%
report.player(
    [("performer", performer), ("captured", take.assembly.clip)], caption=report.sentences("Subject 00", run.data_label)
)

# %% [markdown]
# ## What the set-up is
#
# The published rig has 63 bones, 40 of them fingers; ours is what the authors' files hold, 19 body joints without
# fingers, hands and heels.

# %%
clips = {subject: t.assembly.clip for subject, t in takes.items()}
setup = {
    "cameras": len(cameras),
    "frame rate": clips[0].fps,
    "image height": cameras[0].size[1],
    "image width": cameras[0].size[0],
    "FreeMoCap joints in a file": len(clips[0].skeleton),
    "LaFAN1 bones": len(LAFAN1),
}
setup = pd.DataFrame({"value": pd.Series(setup)})
report.save_table(run, "staystill_text_capture", setup, note="simulated cameras and performers")
report.show_table(setup, "staystill_text_capture", note="Simulated cameras and performers.")

# %% [markdown]
# ## Handing over
#
# The takes go to [chapter 02](02_cleaning.ipynb) as BVH files.

# %%
for subject, clip in clips.items():
    path = session.write_take(run.folder, subject, clip)
    report.record_artefact(run, path)
    print(path.relative_to(run.out), len(clip), "frames")

# %% tags=["hide-cell"]
assert all(np.isfinite(clip.root_positions).all() and clip.fps == 30.0 for clip in clips.values())
_ = report.finish_chapter(run)
